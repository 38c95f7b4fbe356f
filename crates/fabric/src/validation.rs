//! Validation of a restored partition: could a run of its plan have saved it? Every index into
//! [`Rows`](crate::rows::Rows) or a [`Slab`](crate::slab::Slab) is checked here, before anything
//! runs.
//!
//! Each component has a `validate` function, next to what it saves. They share the limits of the
//! plan ([`Bounds`]) and the known routes ([`RemainingRoutes`]).

use netloom_encoding::{Invalid, Validity, ensure, ensure_below, ensure_equal};
use netloom_engine::LATEST;
use netloom_packet::Packet;
use netloom_routing::Lookup;
use netloom_topology::Peer;
use netloom_units::{NicId, Port, Sc, Sl, SwitchId, Tick};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::parcel::Flags;
use crate::plan::FabricPlan;
use crate::simulation::rows;

/// The maximum count in a saved state. No run comes near, and no sum of them overflows.
const MOST: u64 = 1 << 52;

/// Checks numbers one by one.
pub(crate) fn ensure_each(place: &str, expected: &[u32], found: &[u32]) -> Validity {
    ensure_equal(place, expected.len(), found.len())?;
    for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
        ensure(expected == found, || {
            Invalid::new(format_args!("{place}, number {at}"), expected, found)
        })?;
    }
    Ok(())
}

/// The lanes of a NIC's packets to its switch, from the lane of their channel.
#[derive(Clone, Copy)]
pub(crate) struct NicLanes {
    pub(crate) data: fn(u8) -> u8,
    pub(crate) answer: fn(u8) -> u8,
}

/// The limits that follow from the plan.
pub(crate) struct Bounds<'a> {
    pub(crate) plan: &'a FabricPlan,
    pub(crate) lanes: NicLanes,
    /// Every tick before this one has been run.
    pub(crate) now: Tick,
    /// Flits of the largest packet.
    pub(crate) largest: u16,
    rows: Vec<(usize, Sl)>,
    /// Destinations of connections, by source, row and flow.
    connections: FxHashMap<(NicId, u8, u8), NicId>,
}

impl<'a> Bounds<'a> {
    pub(crate) fn new(plan: &'a FabricPlan, now: Tick, lanes: NicLanes) -> Self {
        let rows = rows(plan);
        let row_of = |class: u8| rows.iter().position(|&(at, _)| at == usize::from(class));
        let end = |connection: &crate::ConnectionPlan| {
            let row = row_of(connection.class)?;
            let key = (connection.source, row as u8, connection.flow);
            Some((key, connection.destination))
        };
        Bounds {
            now,
            largest: plan.largest_packet(),
            connections: plan.connections.iter().filter_map(end).collect(),
            rows,
            plan,
            lanes,
        }
    }

    /// Checks a future time or [`Tick::NEVER`].
    pub(crate) fn time(&self, place: &str, at: Tick) -> Validity {
        ensure(at <= LATEST || at == Tick::NEVER, || {
            let expected = format!("a time up to {} or never", LATEST.0);
            Invalid::new(place, expected, at.0)
        })
    }

    /// Checks a past time.
    pub(crate) fn past(&self, place: &str, at: Tick) -> Validity {
        ensure(at <= self.now, || {
            Invalid::new(place, format_args!("a time up to {}", self.now.0), at.0)
        })
    }

    /// Checks a counter of a run.
    pub(crate) fn count(&self, place: &str, n: u64) -> Validity {
        ensure_below(place, n, MOST)
    }

    /// Checks the length of a packet.
    pub(crate) fn flits(&self, place: &str, flits: u16) -> Validity {
        ensure((1..=self.largest).contains(&flits), || {
            let expected = format!("a length from 1 to {} flits", self.largest);
            Invalid::new(place, expected, flits)
        })
    }

    /// Checks a NIC of the fabric.
    pub(crate) fn nic(&self, place: &str, nic: NicId) -> Validity {
        ensure_below(place, nic.0, self.plan.topology.n_nics())
    }

    /// Checks a lane of links.
    pub(crate) fn lane(&self, place: &str, vl: u8) -> Validity {
        ensure_below(place, vl, self.plan.n_vls)
    }

    /// Checks a row of the recorder and its service level.
    pub(crate) fn row(&self, place: &str, row: u8, sl: Sl) -> Validity {
        let own = self.rows.get(usize::from(row)).map(|&(_, sl)| sl);
        ensure(own == Some(sl), || {
            let expected = format!("one of {} rows and its service level", self.rows.len());
            Invalid::new(
                place,
                expected,
                format_args!("row {row} with level {}", sl.0),
            )
        })
    }

    /// Checks a message, or the rest of one, that is cut into packets.
    pub(crate) fn message(&self, place: &str, sl: Sl, bytes: u32) -> Validity {
        let largest = self.plan.segmentation.of(sl).largest_packet(bytes);
        ensure(largest <= u64::from(self.largest), || {
            let expected = format!("packets of at most {} flits", self.largest);
            Invalid::new(place, expected, format_args!("a packet of {largest} flits"))
        })
    }

    /// Checks the channel of a flow, unless switches change channels.
    pub(crate) fn channel(
        &self,
        place: &str,
        sc: Sc,
        sl: Sl,
        source: NicId,
        destination: NicId,
    ) -> Validity {
        ensure_equal(
            place,
            self.plan.channels.choose(sl, source, destination),
            sc,
        )
    }

    /// Checks the destination of a flow that belongs to a connection.
    pub(crate) fn connection(
        &self,
        place: &str,
        source: NicId,
        row: u8,
        flow: u8,
        destination: NicId,
    ) -> Validity {
        match self.connections.get(&(source, row, flow)) {
            Some(&end) => ensure_equal(place, end, destination),
            None => Ok(()),
        }
    }

    /// Checks a packet at any position. `flags` distinguishes data and acknowledgements.
    pub(crate) fn packet(&self, packet: &Packet, flags: Flags) -> Validity {
        let Packet {
            source,
            destination,
            class,
            sl,
            flits,
            flow,
            ..
        } = *packet;
        self.nic("source", source)?;
        self.nic("destination", destination)?;
        self.row("class", class, sl)?;
        self.flits("length", flits)?;
        self.past("creation", packet.generation)?;
        self.past("injection", packet.injection)?;
        self.time("arrival", packet.arrival)?;
        ensure(packet.arrival != Tick::NEVER, || {
            Invalid::new("arrival", "a time", "never")
        })?;
        let flit = self.plan.segmentation.flit.0.max(1);
        let of_bytes = u64::from(packet.bytes).div_ceil(flit).max(1);
        ensure_equal("flits of its bytes", u64::from(flits), of_bytes)?;
        let (from, to) = match flags.has(Flags::ACKNOWLEDGEMENT) {
            true => {
                let size = self.plan.endpoints.acknowledgement;
                ensure_equal("length of an acknowledgement", size, Some(flits))?;
                self.flits(
                    "acknowledged flits",
                    packet.index.min(u32::from(u16::MAX)) as u16,
                )?;
                (destination, source)
            }
            false => {
                self.connection(
                    "destination of a connection",
                    source,
                    class,
                    flow,
                    destination,
                )?;
                (source, destination)
            }
        };
        if self.plan.channels.own.is_none() {
            self.channel("channel", packet.label.sc(), sl, from, to)?;
        }
        Ok(())
    }
}

/// A packet that comes into a switch: its port, lane, channel and destination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Coming {
    pub(crate) switch: SwitchId,
    pub(crate) port: Port,
    pub(crate) vl: u8,
    pub(crate) sc: Sc,
    pub(crate) destination: NicId,
}

/// The paths that packets may still take. All of them lead over cables, on existing lanes, to the
/// NIC of the destination.
pub(crate) struct RemainingRoutes<'a> {
    plan: &'a FabricPlan,
    known: FxHashSet<Coming>,
    coming: Vec<Coming>,
    hops: Vec<netloom_routing::Hop>,
}

impl<'a> RemainingRoutes<'a> {
    /// Creates the set without any known path.
    pub(crate) fn new(plan: &'a FabricPlan) -> Self {
        RemainingRoutes {
            plan,
            known: FxHashSet::default(),
            coming: Vec::new(),
            hops: Vec::new(),
        }
    }

    /// Follows a packet that leaves a NIC on a lane.
    pub(crate) fn leave_nic(&mut self, nic: NicId, vl: u8, sc: Sc, destination: NicId) -> Validity {
        let (switch, port) = self.plan.topology.attachment(nic);
        self.arrive(Coming {
            switch,
            port,
            vl,
            sc,
            destination,
        })
    }

    /// Follows a packet that leaves a switch by a port on a lane.
    pub(crate) fn leave(&mut self, from: Coming) -> Validity {
        self.follow(from)?;
        self.look()
    }

    /// Follows a packet that comes into a switch.
    pub(crate) fn arrive(&mut self, coming: Coming) -> Validity {
        self.coming.push(coming);
        self.look()
    }

    /// Checks that the other end of a port is the destination of a packet or a switch on its path.
    fn follow(&mut self, leaving: Coming) -> Validity {
        let Coming {
            switch,
            port,
            vl,
            destination,
            ..
        } = leaving;
        let topology = &self.plan.topology;
        ensure_below("lane of a route", vl, self.plan.n_vls)?;
        ensure_below("port of a route", port.0, topology.n_ports(switch))?;
        match topology.peer(switch, port) {
            Peer::Nic(nic) => ensure_equal("end of a route", destination, nic),
            Peer::Switch(switch, port) => {
                self.coming.push(Coming {
                    switch,
                    port,
                    ..leaving
                });
                Ok(())
            }
            Peer::Unused => Err(Invalid::new(
                "port of a route",
                "a port with a cable",
                format_args!("port {} of {switch}", port.0),
            )),
        }
    }

    fn look(&mut self) -> Validity {
        let plan = self.plan;
        let is_tiled = plan.switch.tiled().is_some();
        let per_level = plan.lanes_per_level();
        while let Some(coming) = self.coming.pop() {
            ensure_below("lane of a route", coming.vl, plan.n_vls)?;
            if !self.known.insert(coming) {
                continue;
            }
            let Coming {
                switch,
                port,
                vl,
                sc,
                destination,
            } = coming;
            let is_from_nic = matches!(plan.topology.peer(switch, port), Peer::Nic(_));
            let lane = match is_tiled {
                true if is_from_nic => 0,
                true => vl,
                false if per_level == plan.n_vls => 0,
                false => vl / per_level,
            };
            ensure_below("routing lane", lane, plan.forwarding.lanes().max(1))?;
            let mut hops = std::mem::take(&mut self.hops);
            hops.clear();
            let lookup = Lookup::any(switch, port, lane, destination);
            plan.forwarding.choices(&lookup, &mut hops);
            ensure(!hops.is_empty(), || {
                let found = format!("none from {switch} to {destination}");
                Invalid::new("route", "a path to the destination", found)
            })?;
            for hop in &hops {
                let (sc, level) = match is_tiled {
                    true => (sc, 0),
                    false => plan.channels.at_switch(switch, port, hop.port, sc),
                };
                let step = if is_tiled { 1 } else { u32::from(per_level) };
                let vl = u32::from(level) + u32::from(hop.lane) * step;
                self.follow(Coming {
                    switch,
                    port: hop.port,
                    vl: u8::try_from(vl).unwrap_or(u8::MAX),
                    sc,
                    destination,
                })?;
            }
            self.hops = hops;
        }
        Ok(())
    }
}

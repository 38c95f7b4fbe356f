//! Validation of restored crossbar switches: could a run have saved them?
//!
//! The validation follows packets through the lists and events that refer to them. It derives
//! buffers, credits and counters from the positions of the packets, and compares them with the
//! saved state.

use netloom_encoding::{Invalid, Validity, ensure, ensure_below, ensure_equal};
use netloom_units::{NicId, Port, Tick};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::endpoint::Created;
use crate::fabric::Fabric;
use crate::link::flow::Flow;
use crate::link::room::{Limits, RoomBounds};
use crate::slab::Claims;
use crate::switch::crossbar::event::Event;
use crate::switch::crossbar::mask::Set;
use crate::switch::crossbar::shape::Shape;
use crate::switch::crossbar::{Crossbars, Stored};
use crate::switch::{NIL, PeerRecord};
use crate::validation::{Bounds, Coming, RemainingRoutes};

/// The state derived from the positions of packets, by port record and then by lane.
struct Found {
    n_vls: usize,
    /// Space taken in the buffer of a record.
    space: Vec<u32>,
    /// Space taken in the input buffer of a port, including the link to it.
    input: Vec<u32>,
    /// Flits routed to an output and not granted.
    committed: Vec<u32>,
    /// Flits that have arrived at an input and not started to leave.
    occupancy: Vec<u32>,
    /// Packets on the crossbar to an output.
    crossing: Vec<u32>,
    /// Events with releases of a record, credits of a port and of a NIC.
    drains: Vec<u32>,
    credits: Vec<u32>,
    nic_credits: Vec<u32>,
    /// The number of these credits, by class.
    credit_units: FxHashMap<(u32, u16), u32>,
    nic_credit_units: FxHashMap<(u32, u16), u32>,
    /// Headers by time and port.
    headers: FxHashSet<(Tick, u32)>,
}

impl Found {
    fn new(n_records: usize, n_nics: usize, n_vls: usize) -> Self {
        let each = || vec![0; n_records];
        let lanes = || vec![0; n_records * n_vls];
        Found {
            n_vls,
            space: lanes(),
            input: lanes(),
            committed: each(),
            occupancy: each(),
            crossing: each(),
            drains: each(),
            credits: each(),
            nic_credits: vec![0; n_nics],
            credit_units: FxHashMap::default(),
            nic_credit_units: FxHashMap::default(),
            headers: FxHashSet::default(),
        }
    }

    fn lane(&self, record: u32, vl: u8) -> usize {
        record as usize * self.n_vls + usize::from(vl)
    }

    fn take_space(&mut self, record: u32, vl: u8, units: u16) {
        let at = self.lane(record, vl);
        self.space[at] += u32::from(units);
    }

    fn take_input(&mut self, port: u32, vl: u8, units: u16) {
        let at = self.lane(port, vl);
        self.input[at] += u32::from(units);
    }
}

/// Validates that a set of bits has only members below a bound.
fn bits_below(place: &str, set: u32, bound: usize) -> Validity {
    ensure(u64::from(set) >> bound == 0, || {
        Invalid::new(
            place,
            format_args!("members below {bound}"),
            format_args!("{set:#b}"),
        )
    })
}

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Validates the state of the switches and all pending events.
    pub(super) fn validate_switches(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        pending: &[(Tick, Event)],
    ) -> Validity {
        let switches = &self.switches;
        let n_records = switches.ports.len();
        let n_nics = self.endpoints.nics.len();
        let mut found = Found::new(n_records, n_nics, switches.n_vls);
        let mut packets = Claims::new(&switches.packets, "packet");
        ensure(switches.feeds.len() <= switches.packets.n_slots(), || {
            let expected = format!("at most {}", switches.packets.n_slots());
            Invalid::new("feeds of packets", expected, switches.feeds.len())
        })?;
        for feed in &switches.feeds {
            feed.validate(bounds, bounds.plan.links.len())?;
        }
        for (at, event) in pending {
            self.validate_event(bounds, routes, &mut packets, &mut found, *at, *event)
                .map_err(|why| why.within(format_args!("event {event:?}")))?;
        }
        for record in 0..n_records as u32 {
            let place = || {
                let port = &switches.ports[record];
                format!("{}, port {}", switches.states[port.switch].id, port.number)
            };
            self.validate_inputs(bounds, routes, &mut packets, &mut found, record)
                .map_err(|why| why.within(format_args!("input queues of {}", place())))?;
            self.validate_outputs(bounds, routes, &mut packets, &mut found, record)
                .map_err(|why| why.within(format_args!("output queues of {}", place())))?;
        }
        packets.finish()?;
        for record in 0..n_records as u32 {
            self.validate_port(bounds, &found, record).map_err(|why| {
                let port = &switches.ports[record];
                let id = switches.states[port.switch].id;
                why.within(format_args!("{id}, port {}", port.number))
            })?;
        }
        for nic in 0..n_nics as u32 {
            self.validate_nic_credit(bounds, &found, nic)
                .map_err(|why| why.within(self.endpoints.nics[nic].id))?;
        }
        for switch in 0..switches.states.len() as u32 {
            self.validate_switch(switch)
                .map_err(|why| why.within(switches.states[switch].id))?;
        }
        if let Some(view) = &switches.adaptive_view {
            let sent = |at: usize, class: u16| {
                let port = &switches.ports[at as u32];
                (port.credit.used(class), port.flits, port.packets)
            };
            view.validate(bounds, &found.committed, self.n_classes(), sent)?;
        }
        match &switches.marks {
            Some(marks) => marks.validate(&found.occupancy),
            None => Ok(()),
        }
    }

    /// Returns the number of classes of credits.
    fn n_classes(&self) -> usize {
        match self.switches.credits_per_queue {
            true => self.switches.n_queues,
            false => self.switches.n_vls,
        }
    }

    /// Returns the number of records of a switch.
    fn n_records(&self, switch: u32) -> usize {
        let states = &self.switches.states;
        let next = switch + 1;
        let end = match (next as usize) < states.len() {
            true => states[next].base,
            false => self.switches.ports.len() as u32,
        };
        (end - states[switch].base) as usize
    }

    fn record(&self, place: &str, record: u32) -> Validity {
        ensure_below(place, record, self.switches.ports.len() as u64)
    }

    fn switch(&self, switch: u32) -> Validity {
        ensure_below("switch", switch, self.switches.states.len() as u64)
    }

    fn nic(&self, nic: u32) -> Validity {
        ensure_below(
            "NIC of the partition",
            nic,
            self.endpoints.nics.len() as u64,
        )
    }

    /// Validates that a record is a port with a cable.
    fn cabled(&self, record: u32) -> Validity {
        self.record("port", record)?;
        let port = &self.switches.ports[record];
        let n_ports = self.switches.states[port.switch].n_ports;
        ensure(
            port.number < n_ports && port.peer != PeerRecord::Nobody,
            || Invalid::new("port", "a port with a cable", record),
        )
    }

    /// Validates a packet that this switch has routed: it leaves by a port with a cable, on an
    /// existing lane.
    fn validate_routed(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        switch: u32,
        stored: &Stored,
    ) -> Validity {
        bounds.packet(&stored.packet, stored.flags)?;
        bounds.lane("lane of a packet", stored.packet.vl)?;
        bounds.lane("lane of a route", stored.vl)?;
        let state = &self.switches.states[switch];
        ensure_below("output of a packet", stored.output, state.n_ports)?;
        routes.leave(Coming {
            switch: state.id,
            port: Port(stored.output),
            vl: stored.vl,
            sc: stored.packet.label.sc(),
            destination: stored.packet.destination,
        })
    }

    /// Counts the space of a packet at an input, or in the buffer of a central link.
    fn count_input(&self, found: &mut Found, record: u32, stored: &Stored) -> Validity {
        let owner = self.owner(record);
        let port = &self.switches.ports[owner];
        let state = &self.switches.states[port.switch];
        let flits = stored.packet.flits;
        let output = state.base + u32::from(stored.output);
        found.committed[output as usize] += u32::from(flits);
        if port.number < state.n_ports {
            let units = if S::ring(port.ring_in) == 0 { flits } else { 1 };
            found.take_input(owner, stored.packet.vl, units);
            found.occupancy[owner as usize] += u32::from(flits);
            return Ok(());
        }
        found.take_space(owner, stored.vl, flits);
        if S::ring(self.switches.ports[output].ring_out) != 0 {
            found.take_space(output, stored.vl, 1);
        }
        Ok(())
    }

    /// Validates the feed of a packet in the centre, or on its way there.
    fn validate_feed(&self, id: u32, record: u32, stored: &Stored) -> Validity {
        let port = &self.switches.ports[self.owner(record)];
        if port.number < self.switches.states[port.switch].n_ports {
            return Ok(());
        }
        let feed = self.switches.feeds.get(id as usize);
        ensure(
            feed.is_some_and(|feed| feed.is_of(stored.packet.flits)),
            || {
                Invalid::new(
                    "packet in the centre",
                    "a feed of its flits",
                    format_args!("{feed:?}"),
                )
            },
        )
    }

    /// Returns the output to whose buffer a record writes.
    fn written_by(&self, writer: u32) -> Option<u16> {
        let port = &self.switches.ports[writer];
        let state = &self.switches.states[port.switch];
        let of_centre = || {
            let output = port.number.checked_sub(state.n_ports + state.n_central)?;
            (S::IS_HIERARCHICAL && output < state.n_ports).then_some(output)
        };
        match port.number < state.n_ports {
            true => Some(port.number),
            false => of_centre(),
        }
    }

    fn validate_event(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        packets: &mut Claims<'_, Stored>,
        found: &mut Found,
        at: Tick,
        event: Event,
    ) -> Validity {
        let switches = &self.switches;
        match event {
            Event::Head {
                vl,
                flits,
                port,
                packet,
                destination,
            } => {
                self.cabled(port)?;
                let stored = packets.take(packet)?;
                bounds.packet(&stored.packet, stored.flags)?;
                bounds.lane("lane", vl)?;
                let own = (
                    stored.packet.vl,
                    stored.packet.flits,
                    stored.packet.destination,
                );
                ensure_equal("header of a packet", own, (vl, flits, NicId(destination)))?;
                ensure(found.headers.insert((at, port)), || {
                    Invalid::new("headers at an input", "one at a time", "two")
                })?;
                let input = &switches.ports[port];
                let units = if S::ring(input.ring_in) == 0 {
                    flits
                } else {
                    1
                };
                found.take_input(port, vl, units);
                routes.arrive(Coming {
                    switch: switches.states[input.switch].id,
                    port: Port(input.number),
                    vl,
                    sc: stored.packet.label.sc(),
                    destination: NicId(destination),
                })
            }
            Event::Output {
                vl,
                flits,
                port,
                packet,
            } => {
                self.record("port", port)?;
                let stored = packets.take(packet)?;
                let writer = &switches.ports[port];
                self.validate_routed(bounds, routes, writer.switch, stored)?;
                ensure_equal("packet", (stored.vl, stored.packet.flits), (vl, flits))?;
                ensure_equal("output", Some(stored.output), self.written_by(port))?;
                let output = switches.states[writer.switch].base + u32::from(stored.output);
                found.crossing[output as usize] += 1;
                let ring = S::ring(switches.ports[output].ring_out);
                found.take_space(output, vl, if ring == 0 { flits } else { 1 });
                Ok(())
            }
            Event::Join { port, packet } => {
                self.record("port", port)?;
                let record = &switches.ports[port];
                let state = &switches.states[record.switch];
                let n_inputs = state.n_ports + state.n_central;
                ensure(S::IS_HIERARCHICAL && record.number < n_inputs, || {
                    Invalid::new("port", "an input or a central link", port)
                })?;
                let stored = packets.take(packet)?;
                self.validate_routed(bounds, routes, record.switch, stored)?;
                self.validate_feed(packet, port, stored)?;
                self.count_input(found, port, stored)
            }
            Event::Deliver { nic, packet } => {
                self.nic(nic)?;
                let stored = packets.take(packet)?;
                bounds.packet(&stored.packet, stored.flags)?;
                let (own, to) = (self.endpoints.nics[nic].id, stored.packet.destination);
                ensure_equal("destination", own, to)
            }
            Event::Credit {
                pace,
                class,
                units,
                port,
                lag,
            } => {
                self.cabled(port)?;
                self.validate_units(
                    bounds,
                    (pace, 2),
                    (class, self.n_classes()),
                    units,
                    (at, lag),
                )?;
                found.credits[port as usize] += 1;
                *found.credit_units.entry((port, class)).or_default() += u32::from(units);
                Ok(())
            }
            Event::NicCredit {
                pace,
                class,
                units,
                nic,
                lag,
            } => {
                self.nic(nic)?;
                self.validate_units(
                    bounds,
                    (pace, 2),
                    (class, self.n_classes()),
                    units,
                    (at, lag),
                )?;
                found.nic_credits[nic as usize] += 1;
                *found.nic_credit_units.entry((nic, class)).or_default() += u32::from(units);
                Ok(())
            }
            Event::Drain {
                vl,
                units,
                pace,
                phase,
                port,
                lag,
            } => {
                self.record("port", port)?;
                // From the centre, and over each link.
                let paces = 1 + bounds.plan.links.len();
                let is_central = self.is_central(port);
                let most = if is_central { paces } else { 0 };
                let class = (u16::from(vl), switches.n_vls);
                self.validate_units(bounds, (pace, most), class, units, (at, lag))?;
                ensure_below(
                    "flits before a release",
                    phase,
                    u32::from(bounds.largest) + 1,
                )?;
                found.drains[port as usize] += 1;
                found.take_space(port, vl, units);
                Ok(())
            }
            Event::Counted { vl, flits, port } => {
                ensure(S::Flow::IS_PAUSE, || {
                    Invalid::new("event", "credits", "PAUSE")
                })?;
                bounds.lane("lane", vl)?;
                bounds.flits("length", flits)?;
                self.cabled(port)
            }
            Event::NicCounted { vl, flits, nic } => {
                ensure(S::Flow::IS_PAUSE, || {
                    Invalid::new("event", "credits", "PAUSE")
                })?;
                bounds.lane("lane", vl)?;
                bounds.flits("length", flits)?;
                self.nic(nic)
            }
            Event::ReleaseBoth { input, output } => {
                self.record("input", input)?;
                self.record("output", output)
            }
            Event::ReleaseInput { port } | Event::ReleaseOutput { port } | Event::Room { port } => {
                self.record("port", port)
            }
            Event::Link { port } => self.record("port", port),
            Event::Again { switch } | Event::Announce { switch } => self.switch(switch),
            Event::Announced {
                output,
                port,
                flits,
            } => {
                self.cabled(port)?;
                ensure_below("flits", flits, 1u64 << 28)?;
                ensure_below("output", output, bounds.plan.topology.radix())
            }
            Event::Arrival {
                class,
                sl,
                flow,
                nic,
                destination,
                bytes,
            } => {
                self.nic(nic)?;
                let created = Created {
                    class,
                    sl,
                    flow,
                    destination: NicId(destination),
                    bytes,
                };
                self.endpoints
                    .validate_created(bounds, routes, nic, &created)
            }
            Event::NicLink { nic } | Event::Begin { nic } => self.nic(nic),
            Event::Grown {
                slot,
                nic,
                destination,
            } => {
                self.nic(nic)?;
                ensure(self.endpoints.flows.is_some(), || {
                    Invalid::new("event", "no flows", "one")
                })?;
                bounds.nic("destination", NicId(destination))?;
                ensure_below("channel", slot, self.endpoints.n_slots as u64)
            }
        }
    }

    /// Validates freed units: number, class, pace and start.
    fn validate_units(
        &self,
        bounds: &Bounds<'_>,
        (pace, last): (u8, usize),
        (class, n_classes): (u16, usize),
        units: u16,
        (at, lag): (Tick, u32),
    ) -> Validity {
        ensure_below("pace", pace, last as u64 + 1)?;
        ensure_below("class", class, n_classes as u64)?;
        bounds.flits("units", units)?;
        ensure_below("ticks since the first", lag, at.0 + 1)
    }

    fn is_central(&self, record: u32) -> bool {
        let port = &self.switches.ports[record];
        S::IS_HIERARCHICAL && port.number >= self.switches.states[port.switch].n_ports
    }

    /// Validates that packets wait at the record and in the queue of their lane, output and
    /// destination.
    fn validate_inputs(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        packets: &mut Claims<'_, Stored>,
        found: &mut Found,
        record: u32,
    ) -> Validity {
        let switches = &self.switches;
        let port = &switches.ports[record];
        let (switch, number) = (port.switch, port.number);
        let state = &switches.states[switch];
        let n_queues = switches.n_queues;
        ensure(port.ready.is_below(n_queues), || {
            Invalid::new(
                "queues with a packet",
                format_args!("below {n_queues}"),
                "more",
            )
        })?;
        let owner = self.owner(record);
        let owner_number = switches.ports[owner].number;
        let is_central = owner_number >= state.n_ports;
        let is_input = owner_number < state.n_ports + state.n_central;
        for q in 0..n_queues {
            let queue = &switches.input_queues[record * n_queues as u32 + q as u32];
            ensure_equal("queue with a packet", port.ready.has(q), queue.head != NIL)?;
            packets.list(
                (queue.head, queue.tail),
                |stored| stored.next,
                |id, stored| {
                    ensure(is_input, || {
                        Invalid::new("packet", "an input", "another record")
                    })?;
                    self.validate_routed(bounds, routes, switch, stored)?;
                    let lane = if is_central {
                        stored.vl
                    } else {
                        stored.packet.vl
                    };
                    let (output, to) = (stored.output, stored.packet.destination);
                    ensure_equal("queue of a packet", switches.queue(lane, output, to), q)?;
                    ensure_equal("input of a packet", self.asking(owner, lane), record)?;
                    self.validate_feed(id, record, stored)?;
                    self.count_input(found, record, stored)
                },
            )?;
            if queue.head == NIL {
                continue;
            }
            let first = &switches.packets[queue.head];
            let crossing = self.crossbar_output(switch, number, first.output);
            let known = (queue.flits, queue.output, queue.vl);
            let first_of = (first.packet.flits, crossing, first.vl);
            ensure_equal("first packet of a queue", first_of, known)?;
            if !S::HAS_OUTPUT_BUFFER {
                let output = state.base + u32::from(first.output);
                let class = self.class_ahead(output, first.vl, &first.packet);
                ensure_equal("class of a first packet", class, queue.class)?;
            }
        }
        Ok(())
    }

    fn validate_outputs(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        packets: &mut Claims<'_, Stored>,
        found: &mut Found,
        record: u32,
    ) -> Validity {
        let switches = &self.switches;
        let port = &switches.ports[record];
        let n_ports = switches.states[port.switch].n_ports;
        bits_below("lanes with a packet", port.present, switches.n_vls)?;
        bits_below("lanes without room", port.short, switches.n_vls)?;
        let ring = S::ring(port.ring_out);
        for vl in 0..switches.n_vls as u8 {
            let queue = &switches.output_queues[record * switches.n_vls as u32 + u32::from(vl)];
            let is_present = port.present >> vl & 1 == 1;
            ensure_equal("lane with a packet", is_present, queue.head != NIL)?;
            packets.list(
                (queue.head, queue.tail),
                |stored| stored.next,
                |_, stored| {
                    self.validate_routed(bounds, routes, port.switch, stored)?;
                    let is_output = S::HAS_OUTPUT_BUFFER && port.number < n_ports;
                    ensure(is_output, || {
                        Invalid::new("packet", "an output", "another record")
                    })?;
                    let own = (stored.output, stored.vl);
                    ensure_equal("output of a packet", (port.number, vl), own)?;
                    let flits = stored.packet.flits;
                    found.take_space(record, vl, if ring == 0 { flits } else { 1 });
                    Ok(())
                },
            )?;
            if queue.head == NIL {
                continue;
            }
            let first = &switches.packets[queue.head].packet;
            ensure_equal("first packet of a queue", first.flits, queue.flits)?;
            if S::Flow::MAY_LOOK_AHEAD {
                let class = self.class_ahead(record, vl, first);
                ensure_equal("class of a first packet", class, queue.class)?;
            }
        }
        Ok(())
    }

    fn validate_port(&self, bounds: &Bounds<'_>, found: &Found, record: u32) -> Validity {
        let switches = &self.switches;
        let port = &switches.ports[record];
        let at = record as usize;
        let n_records = self.n_records(port.switch);
        ensure(port.waiters.is_below(n_records), || {
            Invalid::new("waiting inputs", format_args!("below {n_records}"), "more")
        })?;
        ensure_below("next input", port.next_input, n_records as u64 + 1)?;
        ensure_below("next output", port.next_output, n_records as u64 + 1)?;
        ensure_below("next queue", port.next_queue, switches.n_queues as u64)?;
        for time in [
            port.input_until,
            port.output_until,
            port.link_until,
            port.last_header,
            port.link_wake,
            port.room_wake,
        ] {
            bounds.time("time of a port", time)?;
        }
        bounds.count("flits sent", port.flits)?;
        ensure_below("residence", port.input_residence, 1u64 << 62)?;
        ensure_below("packets sent", port.packets, port.flits + 1)?;
        ensure_below("choices", port.choices, u64::from(port.packets) + 1)?;
        ensure_equal(
            "packets on the crossbar",
            found.crossing[at],
            u32::from(port.crossing),
        )?;
        ensure_equal(
            "space that is freed by events",
            found.drains[at],
            u32::from(port.drains),
        )?;
        let is_remote = matches!(port.receiver, PeerRecord::Remote(..));
        let coming = if is_remote { 0 } else { found.credits[at] };
        ensure_equal(
            "credits that return by events",
            coming,
            u32::from(port.credits_coming),
        )?;

        let space = RoomBounds {
            n_classes: switches.n_vls,
            paces: &switches.wires[u32::from(port.wire_out)].drain,
            limits: self.limits_of(record),
            now: bounds.now,
        };
        port.space
            .validate(&space)
            .map_err(|why| why.within("output buffer"))?;
        for vl in 0..switches.n_vls {
            if let Some(used) = port.space.outstanding(vl as u16) {
                let taken = found.space[at * switches.n_vls + vl];
                ensure_equal("space taken in the output buffer", taken, used)?;
            }
        }
        let limits = switches.input_buffer.of(S::ring(port.ring_out));
        let credit = self.credit_bounds(bounds, limits, port.credit_paces(&switches.wires));
        port.credit
            .validate(&credit)
            .map_err(|why| why.within("credits"))?;
        let units = |class: u16| {
            found
                .credit_units
                .get(&(record, class))
                .copied()
                .unwrap_or(0)
        };
        // Records that are not ports have no link.
        let is_port = port.number < switches.states[port.switch].n_ports;
        let taken = match port.receiver {
            PeerRecord::Port(next) if is_port => Some(next),
            _ => None,
        };
        self.validate_credits(found, &port.credit, units, taken, is_remote)
    }

    fn credit_bounds<'b>(
        &self,
        bounds: &Bounds<'_>,
        limits: &'b Limits,
        paces: &'b crate::link::ramp::Paces,
    ) -> RoomBounds<'b> {
        RoomBounds {
            n_classes: self.n_classes(),
            paces,
            limits,
            now: bounds.now,
        }
    }

    /// Validates the credits of a sender: those taken are in the buffer at the other end, or on
    /// their way there or back. For another partition only those on their way back are known.
    fn validate_credits(
        &self,
        found: &Found,
        credit: &S::Flow,
        units: impl Fn(u16) -> u32,
        receiver: Option<u32>,
        is_remote: bool,
    ) -> Validity {
        for class in 0..self.n_classes() as u16 {
            let Some(used) = credit.outstanding(class) else {
                continue;
            };
            let back = units(class);
            if is_remote || self.switches.credits_per_queue {
                ensure(back <= used, || {
                    let expected = format!("at least the {back} on their way back");
                    Invalid::new("credits taken", expected, used)
                })?;
                continue;
            }
            let there = receiver.map_or(0, |next| {
                found.input[next as usize * found.n_vls + usize::from(class)]
            });
            ensure_equal("credits taken", there + back, used)?;
        }
        Ok(())
    }

    fn validate_nic_credit(&self, bounds: &Bounds<'_>, found: &Found, nic: u32) -> Validity {
        let switches = &self.switches;
        let state = &self.endpoints.nics[nic];
        let coming = found.nic_credits[nic as usize];
        ensure_equal(
            "credits that return by events",
            coming,
            u32::from(state.credits_coming),
        )?;
        let paces = &switches.wires[u32::from(state.wire)].credits;
        let credit = self.credit_bounds(bounds, &switches.input_buffer.flits, paces);
        state
            .credit
            .validate(&credit)
            .map_err(|why| why.within("credits"))?;
        let units = |class: u16| {
            found
                .nic_credit_units
                .get(&(nic, class))
                .copied()
                .unwrap_or(0)
        };
        self.validate_credits(found, &state.credit, units, Some(state.port), false)
    }

    fn validate_switch(&self, switch: u32) -> Validity {
        let state = &self.switches.states[switch];
        let n_records = self.n_records(switch);
        ensure_equal("switch that decides in a past tick", false, state.is_marked)?;
        for set in [state.woken, state.sending, state.losers] {
            ensure(set.is_below(n_records), || {
                Invalid::new("set of ports", format_args!("below {n_records}"), "more")
            })?;
        }
        let first = state.base as usize;
        let arriving = &self.switches.arriving.as_slice();
        let arriving = arriving.get(first..first + n_records).unwrap_or_default();
        ensure(arriving.iter().flatten().all(|&id| id == NIL), || {
            Invalid::new("packets that arrived in a past tick", "none", "some")
        })
    }
}

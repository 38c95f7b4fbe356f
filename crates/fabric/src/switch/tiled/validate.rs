//! Validation of restored tiled switches: could a run have saved them?
//!
//! The validation follows packets through the lists and events that refer to them. It derives
//! buffers, stashes and counters from the positions of the packets, and compares them with the
//! saved state.

use netloom_encoding::{Invalid, Validity, ensure, ensure_below, ensure_equal};
use netloom_units::{NicId, Port, Tick};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::StashUse;
use crate::endpoint::Created;
use crate::fabric::Fabric;
use crate::parcel::Flags;
use crate::slab::Claims;
use crate::switch::tiled::event::Event;
use crate::switch::tiled::record::{Fifo, Record};
use crate::switch::tiled::stash::pages;
use crate::switch::tiled::{Due, TiledPort, Tiles, members};
use crate::switch::{NIL, PeerRecord};
use crate::validation::{Bounds, Coming, RemainingRoutes, ensure_each};

/// The state derived from the positions of packets.
struct Found {
    /// By port and virtual channel: space taken in its output buffer, and in its input buffer
    /// including the link to it.
    output: Vec<u32>,
    input: Vec<u32>,
    /// By NIC and channel: credits on their way back.
    nic_credits: Vec<u32>,
    credits: Vec<u32>,
    /// By port.
    occupancy: Vec<u32>,
    committed: Vec<u32>,
    stash: Vec<u32>,
    /// By switch and column: space in stashes that is reserved.
    promised: Vec<u32>,
    row_used: Vec<u32>,
    column_used: Vec<u32>,
    /// Packets whose copy is not yet located, by end port and sequence number at the source.
    located: FxHashSet<(u32, u32)>,
    /// When copies that are no longer tracked are deleted.
    deleted: FxHashMap<u32, Tick>,
    headers: FxHashSet<(Tick, u32)>,
    n_copies: u64,
}

/// Where a record waits in front of a block.
#[derive(Clone, Copy)]
enum At {
    Row { input: u32, column: u32, at: u32 },
    Column { port: u32, row: u32 },
}

fn bits_below(place: &str, set: u64, bound: u32) -> Validity {
    ensure(bound >= 64 || set >> bound == 0, || {
        Invalid::new(
            place,
            format_args!("members below {bound}"),
            format_args!("{set:#b}"),
        )
    })
}

/// Validates a list and the cached data of its first record.
fn list<'a>(
    packets: &mut Claims<'a, Record>,
    fifo: &Fifo,
    mut look: impl FnMut(&'a Record) -> Validity,
) -> Validity {
    let tail = if fifo.head == NIL { NIL } else { fifo.tail() };
    packets.list(
        (fifo.head, tail),
        |record| record.next,
        |id, record| {
            if id == fifo.head {
                let own = (record.packet.flits, record.vc);
                ensure_equal("first packet of a list", own, (fifo.flits, fifo.vc))?;
            }
            look(record)
        },
    )
}

impl Fabric<Tiles> {
    /// Validates the state of the switches and all pending events.
    pub(super) fn validate_switches(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        pending: &[(Tick, Event)],
    ) -> Validity {
        let tiles = &self.switches;
        let (n_ports, n_switches) = (tiles.ports.len(), tiles.states.len());
        let (lanes, columns) = (
            tiles.geometry.lanes as usize,
            tiles.geometry.columns as usize,
        );
        let n_nics = self.endpoints.nics.len();
        let mut found = Found {
            output: vec![0; n_ports * lanes],
            input: vec![0; n_ports * lanes],
            nic_credits: vec![0; n_nics * lanes],
            credits: vec![0; n_ports * lanes],
            occupancy: vec![0; n_ports],
            committed: vec![0; n_ports],
            stash: vec![0; n_ports],
            promised: vec![0; n_switches * columns],
            row_used: vec![0; tiles.row_used.len()],
            column_used: vec![0; tiles.column_used.len()],
            located: FxHashSet::default(),
            deleted: FxHashMap::default(),
            headers: FxHashSet::default(),
            n_copies: 0,
        };
        let mut packets = Claims::new(&tiles.packets, "packet");
        for (at, event) in pending {
            self.validate_event(bounds, routes, &mut packets, &mut found, *at, *event)
                .map_err(|why| why.within(format_args!("event {event:?}")))?;
        }
        for (&(port, sequence), entry) in &tiles.tracked {
            self.port(port)?;
            ensure(self.keeps_copies() && tiles.ports[port].is_end(), || {
                Invalid::new(
                    "tracked packet",
                    "a packet of an end port that keeps copies",
                    port,
                )
            })?;
            bounds.past("copy of a packet", entry.since())?;
            let is_coming = found.located.contains(&(port, sequence));
            if entry.copy() == NIL {
                continue;
            }
            ensure(!is_coming, || {
                Invalid::new("copy of a packet", "one", "two")
            })?;
            let copy = packets.take(entry.copy())?;
            self.validate_copy(bounds, routes, &mut found, port, copy)?;
            ensure_equal("number of a copy", sequence, copy.packet.sequence)?;
        }
        // A copy that is sent again exists until then.
        let tracked = tiles.tracked.values().map(|entry| entry.copy());
        let tracked: FxHashSet<u32> = tracked.filter(|&copy| copy != NIL).collect();
        for (at, event) in pending {
            if let Event::Retransmit { port, packet, .. } = *event {
                let is_there = match found.deleted.get(&packet) {
                    Some(deleted) => at <= deleted,
                    None => tracked.contains(&packet),
                };
                // Any deletion from now on comes later.
                let soon = bounds.now + tiles.cycles(tiles.stages.side_band);
                let is_there = is_there && *at <= soon;
                ensure(is_there, || {
                    let place = format!("event {event:?}");
                    Invalid::new(place, "a copy in a stash", packet)
                })?;
                let copy = &tiles.packets[packet];
                ensure_equal("stash of a copy", u32::from(copy.output), self.number(port))?;
            }
        }
        for port in 0..n_ports as u32 {
            let place = || {
                let state = &tiles.ports[port];
                format!("{}, port {}", tiles.states[state.switch].id, state.number)
            };
            self.validate_lists(bounds, routes, &mut packets, &mut found, port)
                .map_err(|why| why.within(place()))?;
        }
        packets.finish()?;
        for port in 0..n_ports as u32 {
            let place = || {
                let state = &tiles.ports[port];
                format!("{}, port {}", tiles.states[state.switch].id, state.number)
            };
            self.validate_port(bounds, &found, port)
                .map_err(|why| why.within(place()))?;
        }
        for switch in 0..n_switches as u32 {
            self.validate_switch(&found, switch)
                .map_err(|why| why.within(tiles.states[switch].id))?;
        }
        let of = |used: &[u16]| used.iter().copied().map(u32::from).collect::<Vec<_>>();
        ensure_each(
            "flits in row buffers",
            &found.row_used,
            &of(tiles.row_used.as_slice()),
        )?;
        let columns = of(tiles.column_used.as_slice());
        ensure_each("flits in column buffers", &found.column_used, &columns)?;
        let is_within = |used: &[u32], most: u16| used.iter().all(|&used| used <= u32::from(most));
        ensure(
            is_within(&found.row_used, tiles.row_buffer)
                && is_within(&found.column_used, tiles.column_buffer),
            || {
                Invalid::new(
                    "buffers in front of tiles",
                    "no more than they hold",
                    "more",
                )
            },
        )?;
        let times = tiles.tiles.iter().map(|tile| tile.wake);
        let times = times.chain(tiles.tile_inputs.iter().map(|input| input.until));
        for time in times.chain(tiles.tile_outputs.iter().map(|output| output.until)) {
            bounds.time("time of a tile", time)?;
        }
        let pointers = tiles.tile_inputs.iter();
        let pointers = pointers.flat_map(|at| [at.next_output, at.next_channel, at.next_stash]);
        for pointer in pointers.chain(tiles.tile_outputs.iter().map(|at| at.next_input)) {
            ensure_below("pointer of a tile", pointer, 64u8)?;
        }
        for (at, nic) in self.endpoints.nics.iter().enumerate() {
            let shares = &tiles.input_shares[u32::from(nic.wire)];
            nic.credit
                .validate(shares, lanes)
                .map_err(|why| why.within(nic.id))?;
            for vc in 0..lanes {
                let there = found.input[nic.port as usize * lanes + vc];
                let back = found.nic_credits[at * lanes + vc];
                ensure_equal("credits of a NIC", there + back, nic.credit.used(vc))?;
            }
            ensure_equal(
                "credits of a NIC that return by events",
                0,
                nic.credits_coming,
            )?;
        }
        if self.keeps_copies() {
            let copies = self.shared.protocol.stashed - self.shared.protocol.deleted;
            ensure_equal("copies of packets", copies, found.n_copies)?;
        }
        match &tiles.announcing {
            Some(announcing) => announcing.validate(),
            None => Ok(()),
        }
    }

    fn keeps_copies(&self) -> bool {
        matches!(self.switches.stash_use, Some(StashUse::Reliability { .. }))
    }

    fn port(&self, port: u32) -> Validity {
        ensure_below("port", port, self.switches.ports.len() as u64)
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

    /// Returns the number of a port on its switch.
    fn number(&self, port: u32) -> u32 {
        u32::from(self.switches.ports[port].number)
    }

    /// Returns the first port of the switch of a port.
    fn base(&self, port: u32) -> u32 {
        port - self.number(port)
    }

    /// Validates a packet that its switch has routed and that is not a copy.
    fn validate_routed(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        found: &mut Found,
        port: u32,
        record: &Record,
    ) -> Validity {
        bounds.packet(&record.packet, record.flags)?;
        ensure(!record.flags.has(Flags::COPY), || {
            Invalid::new("packet", "no copy", "one")
        })?;
        ensure_below(
            "output of a packet",
            record.output,
            self.switches.geometry.ports,
        )?;
        let output = self.base(port) + u32::from(record.output);
        found.committed[output as usize] += u32::from(record.packet.flits);
        bounds.lane("lane of a route", record.vc)?;
        routes.leave(Coming {
            switch: self.switches.states[self.switches.ports[port].switch].id,
            port: Port(u16::from(record.output)),
            vl: record.vc,
            sc: record.packet.label.sc(),
            destination: record.packet.destination,
        })
    }

    /// Validates a copy of a packet that came in by an end port of the same switch.
    fn validate_stashed(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        found: &mut Found,
        port: u32,
        copy: &Record,
    ) -> Validity {
        bounds.packet(&copy.packet, copy.flags)?;
        ensure(copy.flags.has(Flags::COPY) && copy.is_data(), || {
            Invalid::new("packet in a stash", "a copy", "another")
        })?;
        ensure_below("port of a copy", copy.vc, self.switches.geometry.ports)?;
        let origin = self.base(port) + u32::from(copy.vc);
        let state = &self.switches.ports[origin];
        ensure(state.is_end(), || {
            Invalid::new("port of a copy", "a port of an endpoint", copy.vc)
        })?;
        found.n_copies += 1;
        routes.arrive(Coming {
            switch: self.switches.states[state.switch].id,
            port: Port(u16::from(copy.vc)),
            vl: 0,
            sc: copy.packet.label.sc(),
            destination: copy.packet.destination,
        })
    }

    /// Validates a copy in a stash, whose end port is `origin`.
    fn validate_copy(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        found: &mut Found,
        origin: u32,
        copy: &Record,
    ) -> Validity {
        self.validate_stashed(bounds, routes, found, origin, copy)?;
        ensure_equal("port of a copy", self.number(origin), u32::from(copy.vc))?;
        ensure_below("stash of a copy", copy.output, self.switches.geometry.ports)?;
        let stash = self.base(origin) + u32::from(copy.output);
        found.stash[stash as usize] += pages(copy.packet.flits);
        Ok(())
    }

    /// Validates a record in front of a tile or a multiplexer, or on its way there, on a channel.
    fn validate_inside(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        found: &mut Found,
        (at, channel): (At, u32),
        record: &Record,
    ) -> Validity {
        let geometry = &self.switches.geometry;
        let is_aside = channel == geometry.store();
        let port = match at {
            At::Row { input, .. } => input,
            At::Column { port, .. } => port,
        };
        match is_aside && self.keeps_copies() {
            true => self.validate_stashed(bounds, routes, found, port, record)?,
            false => self.validate_routed(bounds, routes, found, port, record)?,
        }
        let flits = u32::from(record.packet.flits);
        let column = match at {
            At::Row { input, column, at } => {
                let tile_input = geometry.tile_input(input, column);
                found.row_used[geometry.row_space(tile_input, at, channel) as usize] += flits;
                column
            }
            At::Column { port, row } => {
                let tile_output = geometry.tile_output(port, row);
                found.column_used[(tile_output * geometry.channels + channel) as usize] += flits;
                geometry.column(self.number(port))
            }
        };
        let output = u32::from(record.output);
        if is_aside {
            let switch = self.switches.ports[port].switch;
            found.promised[(switch * geometry.columns + column) as usize] +=
                pages(record.packet.flits);
            return ensure(self.switches.stash_use.is_some(), || {
                Invalid::new("channel", "one of packets", "that to stashes")
            });
        }
        match at {
            At::Row { at, .. } => {
                ensure_equal(
                    "tile of a packet",
                    geometry.tile_place(output),
                    (column, at),
                )?;
            }
            At::Column { port, .. } => {
                ensure_equal("output of a packet", output, self.number(port))?;
            }
        }
        let is_own = channel == u32::from(record.vc) || channel == geometry.retrieve();
        ensure(is_own, || {
            Invalid::new("channel of a packet", record.vc, channel)
        })
    }

    /// Counts the space in the output buffer of a packet on its way to a link.
    fn count_output(&self, found: &mut Found, port: u32, record: &Record) -> Validity {
        ensure_equal(
            "output of a packet",
            self.number(port),
            u32::from(record.output),
        )?;
        let at = port * self.switches.geometry.lanes + u32::from(record.vc);
        found.output[at as usize] += u32::from(record.packet.flits);
        Ok(())
    }

    fn validate_event(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        packets: &mut Claims<'_, Record>,
        found: &mut Found,
        at: Tick,
        event: Event,
    ) -> Validity {
        let tiles = &self.switches;
        let geometry = &tiles.geometry;
        let vc_below = |vc: u8| ensure_below("virtual channel", vc, geometry.lanes);
        match event {
            Event::Head { port, packet } => {
                self.port(port)?;
                let record = packets.take(packet)?;
                bounds.packet(&record.packet, record.flags)?;
                ensure(!record.flags.has(Flags::COPY), || {
                    Invalid::new("packet", "no copy", "one")
                })?;
                let input = &tiles.ports[port];
                ensure(input.peer != PeerRecord::Nobody, || {
                    Invalid::new("port", "a port with a cable", port)
                })?;
                vc_below(record.packet.vl)?;
                ensure(found.headers.insert((at, port)), || {
                    Invalid::new("headers at an input", "one at a time", "two")
                })?;
                let place = port * geometry.lanes + u32::from(record.packet.vl);
                found.input[place as usize] += u32::from(record.packet.flits);
                routes.arrive(Coming {
                    switch: tiles.states[input.switch].id,
                    port: Port(u16::from(input.number)),
                    vl: record.packet.vl,
                    sc: record.packet.label.sc(),
                    destination: record.packet.destination,
                })
            }
            Event::Row {
                channel,
                output,
                port,
                packet,
            } => {
                self.port(port)?;
                ensure_below("channel", channel, geometry.channels)?;
                ensure_below("output", output, geometry.ports)?;
                let (column, first) = geometry.tile_place(u32::from(output));
                let is_aside = u32::from(channel) == geometry.store();
                ensure_equal(
                    "first output of a column",
                    0,
                    if is_aside { first } else { 0 },
                )?;
                let at = At::Row {
                    input: port,
                    column,
                    at: first,
                };
                let record = packets.take(packet)?;
                self.validate_inside(bounds, routes, found, (at, u32::from(channel)), record)
            }
            Event::Column {
                channel,
                row,
                port,
                packet,
            } => {
                self.port(port)?;
                ensure_below("channel", channel, geometry.channels)?;
                ensure_below("row", row, geometry.rows)?;
                let at = At::Column {
                    port,
                    row: u32::from(row),
                };
                let record = packets.take(packet)?;
                self.validate_inside(bounds, routes, found, (at, u32::from(channel)), record)
            }
            Event::Output { port, packet } => {
                self.port(port)?;
                let record = packets.take(packet)?;
                self.validate_routed(bounds, routes, found, port, record)?;
                self.count_output(found, port, record)
            }
            Event::Stashed { port, packet } => {
                self.port(port)?;
                ensure_equal(
                    "use of stashes",
                    Some(StashUse::Congestion),
                    tiles.stash_use,
                )?;
                let record = packets.take(packet)?;
                found.stash[port as usize] += pages(record.packet.flits);
                self.validate_routed(bounds, routes, found, port, record)
            }
            Event::Located { port, packet } => {
                self.port(port)?;
                let copy = packets.take(packet)?;
                self.validate_copy(bounds, routes, found, port, copy)?;
                let key = (port, copy.packet.sequence);
                let entry = tiles.tracked.get(&key);
                let is_awaited = entry.is_some_and(|entry| entry.copy() == NIL);
                ensure(is_awaited && found.located.insert(key), || {
                    Invalid::new("located copy", "a packet that awaits it", "none")
                })
            }
            Event::Delete { port, packet } => {
                self.port(port)?;
                let copy = packets.take(packet)?;
                ensure_below("port of a copy", copy.vc, geometry.ports)?;
                let origin = self.base(port) + u32::from(copy.vc);
                self.validate_copy(bounds, routes, found, origin, copy)?;
                ensure_equal("stash of a copy", u32::from(copy.output), self.number(port))?;
                found.deleted.insert(packet, at);
                Ok(())
            }
            Event::Retransmit { port, packet, .. } => {
                self.port(port)?;
                ensure_below("copy", packet, tiles.packets.n_slots() as u64)
            }
            Event::Timeout { port, .. }
            | Event::Bus { port }
            | Event::Multiplexer { port }
            | Event::StashMultiplexer { port }
            | Event::Link { port } => self.port(port),
            Event::Credit { vc, flits, port } => {
                self.port(port)?;
                vc_below(vc)?;
                bounds.flits("length", flits)?;
                found.credits[(port * geometry.lanes + u32::from(vc)) as usize] += u32::from(flits);
                Ok(())
            }
            Event::NicCredit { vc, flits, nic } => {
                self.nic(nic)?;
                vc_below(vc)?;
                bounds.flits("length", flits)?;
                found.nic_credits[(nic * geometry.lanes + u32::from(vc)) as usize] +=
                    u32::from(flits);
                Ok(())
            }
            Event::Tile { tile, switch } => {
                self.switch(switch)?;
                ensure_below("tile", tile, geometry.rows * geometry.columns)
            }
            Event::Edge { switch } | Event::Announce { switch } => self.switch(switch),
            Event::Announced {
                output,
                port,
                flits,
            } => {
                self.port(port)?;
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
            Event::Deliver { nic, packet } => {
                self.nic(nic)?;
                let record = packets.take(packet)?;
                bounds.packet(&record.packet, record.flags)?;
                ensure(!record.flags.has(Flags::COPY), || {
                    Invalid::new("packet", "no copy", "one")
                })?;
                let (own, to) = (self.endpoints.nics[nic].id, record.packet.destination);
                ensure_equal("destination", own, to)
            }
        }
    }

    /// Validates the lists of a port, of its tile inputs and of its tile outputs.
    fn validate_lists(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        packets: &mut Claims<'_, Record>,
        found: &mut Found,
        port: u32,
    ) -> Validity {
        let tiles = &self.switches;
        let geometry = &tiles.geometry;
        let state = &tiles.ports[port];
        let mut ready = 0;
        for vc in 0..geometry.lanes {
            let fifo = &tiles.input_queues[port * geometry.lanes + vc];
            ready |= u32::from(!fifo.is_empty()) << vc;
            list(packets, fifo, |record| {
                self.validate_routed(bounds, routes, found, port, record)?;
                ensure_equal("channel of a packet", vc, u32::from(record.packet.vl))?;
                let flits = u32::from(record.packet.flits);
                found.occupancy[port as usize] += flits;
                found.input[(port * geometry.lanes + vc) as usize] += flits;
                Ok(())
            })?;
        }
        let fifo = &tiles.retrievals[port];
        ready |= u32::from(!fifo.is_empty()) << geometry.lanes;
        list(packets, fifo, |record| {
            self.validate_routed(bounds, routes, found, port, record)?;
            match tiles.stash_use {
                Some(StashUse::Congestion) => {
                    found.stash[port as usize] += pages(record.packet.flits);
                    Ok(())
                }
                Some(StashUse::Reliability { .. }) => {
                    ensure_below("port of a packet", record.packet.vl, geometry.ports)
                }
                None => Err(Invalid::new("packets from stashes", "none", "some")),
            }
        })?;
        ensure_equal("inputs with a packet", ready, state.ready)?;
        let mut present = 0;
        for vc in 0..geometry.lanes {
            let fifo = &tiles.output_queues[port * geometry.lanes + vc];
            present |= u32::from(!fifo.is_empty()) << vc;
            list(packets, fifo, |record| {
                self.validate_routed(bounds, routes, found, port, record)?;
                ensure_equal("channel of a packet", vc, u32::from(record.vc))?;
                self.count_output(found, port, record)
            })?;
        }
        ensure_equal(
            "channels with a packet for the link",
            present,
            state.present,
        )?;
        for column in 0..geometry.columns {
            let tile_input = geometry.tile_input(port, column);
            let mut requests = 0;
            for (at, channel) in
                (0..geometry.outputs).flat_map(|at| (0..geometry.channels).map(move |c| (at, c)))
            {
                let fifo = &tiles.row_queues[geometry.row_queue(tile_input, at, channel)];
                requests |= u64::from(!fifo.is_empty()) << (channel * geometry.outputs + at);
                let is_aside = channel == geometry.store();
                ensure(fifo.is_empty() || !is_aside || at == 0, || {
                    Invalid::new("queue to stashes", "the first of its tile", at)
                })?;
                let place = At::Row {
                    input: port,
                    column,
                    at,
                };
                list(packets, fifo, |record| {
                    self.validate_inside(bounds, routes, found, (place, channel), record)
                })?;
            }
            let own = tiles.tile_inputs[tile_input].requests;
            ensure_equal("requests of a tile input", requests, own)?;
            let row = geometry.row(self.number(port));
            let tile = state.switch * geometry.rows * geometry.columns + row * geometry.columns;
            let input = self.number(port) - row * geometry.inputs;
            let is_waiting = tiles.tiles[tile + column].waiting >> input & 1 == 1;
            ensure_equal("tile input with a packet", requests != 0, is_waiting)?;
        }
        let mut columns = 0u64;
        for (row, channel) in
            (0..geometry.rows).flat_map(|row| (0..geometry.channels).map(move |c| (row, c)))
        {
            let at = geometry.tile_output(port, row) * geometry.channels + channel;
            let fifo = &tiles.column_queues[at];
            columns |= u64::from(!fifo.is_empty()) << (row * geometry.channels + channel);
            let place = At::Column { port, row };
            list(packets, fifo, |record| {
                self.validate_inside(bounds, routes, found, (place, channel), record)
            })?;
        }
        ensure_equal("column queues with a packet", columns, state.columns)
    }

    fn validate_port(&self, bounds: &Bounds<'_>, found: &Found, port: u32) -> Validity {
        let tiles = &self.switches;
        let geometry = &tiles.geometry;
        let (state, at) = (&tiles.ports[port], port as usize);
        let lanes = geometry.lanes as usize;
        ensure_equal("header of a past tick", NIL, state.arriving)?;
        for time in [
            state.bus_until,
            state.multiplexer_until,
            state.multiplexer_wake,
            state.link_until,
            state.link_wake,
            state.stash_until,
        ] {
            bounds.time("time of a port", time)?;
        }
        for pointer in [
            state.next_channel,
            state.next_stash_column,
            state.next_row,
            state.next_column,
            state.next_lane,
        ] {
            ensure_below("pointer of a port", pointer, 64u8)?;
        }
        for count in [state.flits, state.packets, state.choices] {
            bounds.count("counts of a port", count)?;
        }
        ensure_below("residence", state.input_residence, 1u64 << 62)?;
        ensure_below("residence", state.output_residence, 1u64 << 62)?;
        bits_below("waiting rows", state.rows_blocked, geometry.rows)?;
        ensure_equal("flits at an input", found.occupancy[at], state.occupancy)?;
        ensure_equal("flits for an output", found.committed[at], state.committed)?;
        ensure_equal("flits in a stash", found.stash[at], state.stash_used)?;
        ensure(state.stash_used <= state.stash_capacity, || {
            let expected = format!("at most {} flits", state.stash_capacity);
            Invalid::new("stash", expected, state.stash_used)
        })?;
        let shares = &tiles.output_shares[u32::from(state.wire)];
        state.space.validate(shares, lanes)?;
        let mut held = vec![0; lanes];
        for sent in &state.held {
            let (vc, flits) = sent.validate(bounds)?;
            ensure_below("channel of sent flits", vc, geometry.lanes)?;
            held[usize::from(vc)] += u32::from(flits);
        }
        for (vc, held) in held.iter().enumerate() {
            let there = found.output[at * lanes + vc];
            ensure_equal(
                "flits in the output buffer",
                there + held,
                state.space.used(vc),
            )?;
        }
        self.validate_credit(found, state, port)
    }

    /// Validates that the credits taken by an output are at the other end, or on their way there or
    /// back. For another partition only those on their way back are known.
    fn validate_credit(&self, found: &Found, state: &TiledPort, port: u32) -> Validity {
        let lanes = self.switches.geometry.lanes as usize;
        let shares = &self.switches.input_shares[u32::from(state.wire)];
        state
            .credit
            .validate(shares, lanes)
            .map_err(|why| why.within("credits"))?;
        for vc in 0..lanes {
            let (back, used) = (
                found.credits[port as usize * lanes + vc],
                state.credit.used(vc),
            );
            let there = match state.peer {
                PeerRecord::Port(next) => found.input[next as usize * lanes + vc],
                PeerRecord::Remote(..) if back <= used => continue,
                _ => 0,
            };
            ensure_equal("credits taken", there + back, used)?;
        }
        Ok(())
    }

    fn validate_switch(&self, found: &Found, switch: u32) -> Validity {
        let tiles = &self.switches;
        let geometry = &tiles.geometry;
        let state = &tiles.states[switch];
        let Due {
            headers,
            buses,
            tiles: due_tiles,
            multiplexers,
            stashes,
            links,
        } = state.due;
        ensure_equal("headers of a past tick", 0, headers)?;
        for ports in [buses, multiplexers, stashes, links, state.blocked] {
            bits_below("due ports", ports, geometry.ports)?;
        }
        let n_tiles = geometry.rows * geometry.columns;
        bits_below("due tiles", due_tiles, n_tiles)?;
        for tile in 0..n_tiles {
            let waiting = u64::from(tiles.tiles[switch * n_tiles + tile].waiting);
            bits_below("inputs of a tile", waiting, geometry.inputs)?;
        }
        let is_over = !state.is_marked
            && !state.has_messages
            && state.returning.is_empty()
            && state.leaving.is_empty()
            && state.expired.is_empty()
            && state.retrieved.is_empty();
        ensure(is_over, || {
            Invalid::new("pending work of a past tick", "nothing", "something")
        })?;
        let first = (switch * geometry.columns) as usize;
        let promised = &found.promised[first..first + geometry.columns as usize];
        ensure_each("space reserved in stashes", promised, &state.promised)?;
        for (column, &promised) in (0..).zip(state.promised.iter()) {
            let outputs = switch * geometry.ports + column * geometry.outputs;
            let free = members((1u64 << geometry.outputs) - 1)
                .map(|at| &tiles.ports[outputs + at])
                .map(|port| port.stash_capacity - port.stash_used);
            let free: u32 = free.sum();
            ensure(promised <= free, || {
                let expected = format!("at most {free} reserved flits");
                Invalid::new("stashes of a column", expected, promised)
            })?;
        }
        Ok(())
    }
}

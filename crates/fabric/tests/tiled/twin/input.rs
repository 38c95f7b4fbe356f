//! A port's input: headers are received and routed, and the row bus carries one packet at a time to
//! the row buffers.

use netloom_fabric::{CrossbarStart, Retransmission, RowSpace, StashUse};
use netloom_routing::{Lookup, Occasion, Occupancy, QueueView};
use netloom_topology::Peer;
use netloom_units::{NicId, Port, SwitchId};

use super::Twin;
use super::packet::{Flit, Reading};
use super::pool::first_from;
use super::switch::{Entry, From, OnBus, Output, Switch};

/// The view of a routing at a switch.
struct View<'a> {
    switches: &'a [Switch],
    here: &'a Switch,
    /// One cycle.
    period: u64,
    now: u64,
    /// Flits of the packet being routed.
    flits: u32,
}

impl QueueView for View<'_> {
    fn queued(&self, output: Port) -> u32 {
        waiting(&self.here.outputs[output.index()])
    }

    /// Returns the latest sample that can have arrived over the cable by now.
    fn announced(&self, cable: Port, output: Port) -> u32 {
        let Peer::Switch(other, _) = self.here.peers[cable.index()] else {
            panic!("a cable to a switch");
        };
        let delay = self.period + self.here.outputs[cable.index()].link.delay;
        let samples = &self.switches[other.index()].outputs[output.index()].samples;
        let known = samples
            .iter()
            .rev()
            .find(|(when, _)| when + delay <= self.now);
        known.map_or(0, |&(_, flits)| flits)
    }

    fn is_blocked(&self, output: Port, lane: u8) -> bool {
        let output = &self.here.outputs[output.index()];
        let pool = output.peer_buffer.as_ref();
        let has_room = pool.is_none_or(|pool| pool.fits(usize::from(lane), self.flits));
        output.link_end > self.now || !has_room
    }

    fn occupancy(&self, output: Port, lane: u8) -> Occupancy {
        let pool = self.here.outputs[output.index()].peer_buffer.as_ref();
        let pool = pool.expect("a link between switches");
        pool.occupancy(usize::from(lane))
    }
}

/// Returns what waits for an output, here and at the other end of its link.
fn waiting(output: &Output) -> u32 {
    let in_transit = (2 * output.link.delay).div_ceil(output.link.flit) as u32;
    let beyond = output.peer_buffer.as_ref().map_or(0, |pool| pool.in_use());
    output.committed + beyond.saturating_sub(in_transit)
}

/// How the head of a channel would cross the bus.
struct BusTarget {
    voq: Option<(usize, usize)>,
    store: Option<usize>,
}

impl Twin<'_> {
    /// Handles the flit that is completely received now, if there is one.
    pub(crate) fn receive(&mut self, s: usize, p: usize) {
        let now = self.now;
        let (period, before) = (self.period(), self.tiled.stages.before_bus);
        let link = self.switches[s].outputs[p].link;
        let input = &mut self.switches[s].inputs[p];
        let Some(&(when, flit, vc)) = input.wire.front() else {
            return;
        };
        assert!(when >= now, "a flit is received on time");
        if when > now {
            return;
        }
        input.wire.pop_front();
        input.flits[vc].push_back(flit);
        let n = self.packets[flit.packet].flits;
        if flit.is_header() {
            let mut first = now.next_multiple_of(period) + before * period;
            if self.tiled.start == CrossbarStart::Stored {
                let slower = u64::from(n - 1) * (link.flit - period);
                first = first.max((now + slower).next_multiple_of(period));
            }
            self.packets[flit.packet].tail = now + u64::from(n - 1) * link.flit;
            assert!(
                input.headers.back().is_none_or(|&(last, ..)| last < first),
                "headers of one input are routed one after the other"
            );
            input.headers.push_back((first, flit.packet, vc));
        }
        if let Peer::Switch(up, port) = self.switches[s].peers[p] {
            self.acknowledge_on_link((up.index(), port.index()), flit, vc, link.delay);
        }
        self.check_input(s, p);
    }

    /// Tells a switch at link level that a flit has arrived, or that all of a packet has.
    pub(crate) fn acknowledge_on_link(
        &mut self,
        (s, q): (usize, usize),
        flit: Flit,
        vc: usize,
        delay: u64,
    ) {
        let flits = self.packets[flit.packet].flits;
        let freed = match self.tiled.retransmission {
            Retransmission::PerFlit => 1,
            Retransmission::Packet if flit.k + 1 == flits => flits,
            Retransmission::Packet | Retransmission::Nothing => return,
        };
        let output = &mut self.switches[s].outputs[q];
        output.acknowledged.push_back((self.now + delay, vc, freed));
    }

    fn check_input(&self, s: usize, p: usize) {
        let input = &self.switches[s].inputs[p];
        let present: usize = input.flits.iter().map(|fifo| fifo.len()).sum();
        let sizes = &self.tiled.ports[self.switches[s].classes[p]].input;
        assert!(
            present <= sizes.total() as usize,
            "the input buffer of port {p} of switch {s} does not overflow"
        );
    }

    /// Routes the headers whose first edge is now.
    pub(crate) fn route_headers(&mut self, s: usize) {
        for p in 0..self.shape.ports() {
            let input = &mut self.switches[s].inputs[p];
            let Some(&(first, id, vc)) = input.headers.front() else {
                continue;
            };
            assert!(first >= self.now, "a header is routed on time");
            if first > self.now {
                continue;
            }
            input.headers.pop_front();
            let n = self.packets[id].flits;
            if self.spoil(s, p, id) {
                let dropped = (vc, Reading::new(id, n));
                self.switches[s].inputs[p].dropping.push(dropped);
                self.return_credit(s, p, vc, n);
                continue;
            }
            let lane = if self.switches[s].is_end(p) {
                0
            } else {
                vc as u8
            };
            self.route(s, p, lane, id);
            let input = &mut self.switches[s].inputs[p];
            input.heads[vc].push_back(id);
            input.occupancy += n;
        }
    }

    /// Draws errors for a header; returns whether the packet is lost. An end port loses nothing,
    /// since it has not stored its copy yet.
    fn spoil(&mut self, s: usize, p: usize, id: usize) -> bool {
        let faults = self.tiled.faults;
        if faults.are_off() {
            return false;
        }
        let hop = self.packets[id].hops;
        let is_lost = !self.switches[s].is_end(p) && self.fails(id, hop, 1, faults.lose);
        self.counts.lost += u64::from(is_lost);
        self.corrupt(id);
        is_lost
    }

    /// Draws whether the switch damages a packet that it routes.
    pub(crate) fn corrupt(&mut self, id: usize) {
        let (hop, chance) = (self.packets[id].hops, self.tiled.faults.corrupt);
        self.packets[id].is_corrupt |= self.fails(id, hop, 0, chance);
    }

    /// Records what waits for the outputs that a switch announces, on each edge on which it does.
    pub(crate) fn sample(&mut self, s: usize) {
        let forwarding = &self.plan.forwarding;
        let Some(every) = forwarding.announced_every() else {
            return;
        };
        if !self
            .now
            .is_multiple_of(u64::from(every.get()) * self.period())
        {
            return;
        }
        let announcements = forwarding.announcements(SwitchId(s as u32));
        for port in announcements
            .into_iter()
            .flat_map(|announcements| announcements.outputs)
        {
            let output = &mut self.switches[s].outputs[port.index()];
            let flits = waiting(output);
            output.samples.push((self.now, flits));
        }
    }

    /// Selects the output and its channel.
    pub(crate) fn route(&mut self, s: usize, from: usize, lane: u8, id: usize) {
        let view = View {
            switches: &self.switches,
            here: &self.switches[s],
            period: self.plan.switch.period(),
            now: self.now,
            flits: self.packets[id].flits,
        };
        let packet = &mut self.packets[id];
        let lookup = Lookup {
            at: SwitchId(s as u32),
            from: Port(from as u16),
            lane,
            destination: NicId(packet.destination),
            occasion: Occasion {
                source: NicId(packet.source),
                sequence: packet.sequence,
                hop: packet.hops,
            },
        };
        let mut word = u8::from(packet.detour);
        let forwarding = &self.plan.forwarding;
        let hop = forwarding.route_seeing(&lookup, &mut word, &view);
        packet.detour = word != 0;
        packet.hops += 1;
        packet.is_injected = matches!(self.switches[s].peers[from], Peer::Nic(_));
        packet.output = hop.port.index();
        let to = self.switches[s].peers[packet.output];
        packet.output_vc = match to {
            Peer::Switch(..) => usize::from(hop.lane),
            Peer::Nic(nic) => {
                assert_eq!(nic.0, packet.destination, "a packet reaches its NIC");
                0
            }
            Peer::Unused => panic!("a packet routed to an unused port"),
        };
        self.switches[s].outputs[packet.output].committed += packet.flits;
    }

    /// Returns the credit of a packet whose header leaves the input now. The sender has it one
    /// cycle and one propagation delay later.
    fn return_credit(&mut self, s: usize, p: usize, vc: usize, n: u32) {
        let known = self.now + self.period() + self.switches[s].outputs[p].link.delay;
        match self.switches[s].peers[p] {
            Peer::Switch(up, port) => {
                let output = &mut self.switches[up.index()].outputs[port.index()];
                output.credits.push_back((known, vc, n));
            }
            Peer::Nic(nic) => {
                assert!(vc < 2, "a NIC has two channels");
                self.nics[nic.index()].credits.push_back((known, vc, n));
            }
            Peer::Unused => unreachable!("nothing comes in by an unused port"),
        }
    }

    /// Returns the column for a packet to be stored: among those with unreserved space in their
    /// stashes and space in front of their tile, the one with the most unreserved space.
    fn stash_column(&self, s: usize, p: usize, n: u32) -> Option<usize> {
        let (shape, switch) = (self.shape, &self.switches[s]);
        let free = |c: usize| {
            let ports = c * shape.outputs..(c + 1) * shape.outputs;
            let room: u32 = ports.map(|q| switch.stashes[q].free()).sum();
            room.checked_sub(switch.promised[c])
                .expect("no more is promised than there is")
        };
        let free_row = |c: usize| {
            let used = switch.rows[shape.at_row(p, c)].used[0][shape.store()];
            self.tiled.row_buffer - used
        };
        let fitting: Vec<usize> = (0..shape.columns)
            .filter(|&c| free(c) >= n.next_multiple_of(2) && free_row(c) >= n)
            .collect();
        let most = fitting.iter().map(|&c| free(c)).max()?;
        let best: Vec<usize> = fitting.into_iter().filter(|&c| free(c) == most).collect();
        first_from(switch.inputs[p].next_stash_column, &best)
    }

    fn row_has_room(&self, s: usize, p: usize, q: usize, vc: usize, n: u32) -> bool {
        let row = &self.switches[s].rows[self.shape.at_row(p, self.shape.column(q))];
        let used = match self.tiled.row_space {
            RowSpace::Shared => row.used.iter().map(|used| used[vc]).sum(),
            RowSpace::PerOutput => row.used[q % self.shape.outputs][vc],
        };
        used + n <= self.tiled.row_buffer
    }

    pub(crate) fn is_congested(&self, s: usize, p: usize) -> bool {
        let switch = &self.switches[s];
        let marks_above = self.plan.marks_above[switch.classes[p]];
        marks_above.is_some_and(|flits| switch.inputs[p].occupancy > flits)
    }

    /// Returns how the head of an input channel may advance, if it may.
    fn bus_target(&self, s: usize, p: usize, vc: usize) -> Option<BusTarget> {
        let switch = &self.switches[s];
        let id = *switch.inputs[p].heads[vc].front()?;
        let packet = &self.packets[id];
        let (q, w, n) = (packet.output, packet.output_vc, packet.flits);
        let has_room = self.row_has_room(s, p, q, w, n);
        let along = |store| BusTarget {
            voq: Some((q, w)),
            store,
        };
        match self.tiled.stash {
            Some(StashUse::Reliability { .. }) if packet.is_data() && switch.is_end(p) => {
                let column = self.stash_column(s, p, n)?;
                has_room.then(|| along(Some(column)))
            }
            Some(StashUse::Congestion)
                if !has_room && packet.is_data() && switch.is_end(q) && self.is_congested(s, p) =>
            {
                let column = self.stash_column(s, p, n)?;
                Some(BusTarget {
                    voq: None,
                    store: Some(column),
                })
            }
            _ => has_room.then(|| along(None)),
        }
    }

    /// Grants the row bus of an input.
    pub(crate) fn row_bus(&mut self, s: usize, p: usize) {
        if self.switches[s].inputs[p].bus.is_some() {
            return;
        }
        let shape = self.shape;
        let mut targets: Vec<Option<BusTarget>> = (0..shape.n_vls)
            .map(|vc| self.bus_target(s, p, vc))
            .collect();
        let mut candidates: Vec<usize> = (0..shape.n_vls)
            .filter(|&vc| targets[vc].is_some())
            .collect();
        let retrieved = self.switches[s].stashes[p].retrieval.front().copied();
        if let Some(id) = retrieved {
            let packet = &self.packets[id];
            if self.row_has_room(s, p, packet.output, shape.retrieve(), packet.flits) {
                candidates.push(shape.n_vls);
            }
        }
        let Some(winner) = first_from(self.switches[s].inputs[p].next, &candidates) else {
            return;
        };
        self.switches[s].inputs[p].next = (winner + 1) % (shape.n_vls + 1);
        if winner == shape.n_vls {
            self.grant_retrieval(s, p);
        } else {
            let target = targets[winner].take().expect("a candidate");
            self.grant_bus(s, p, winner, target);
        }
    }

    fn grant_bus(&mut self, s: usize, p: usize, vc: usize, target: BusTarget) {
        let is_marking = self.is_congested(s, p);
        let (shape, deadline) = (self.shape, self.deadline());
        let switch = &mut self.switches[s];
        let id = switch.inputs[p].heads[vc].pop_front().expect("a head");
        let n = self.packets[id].flits;
        self.packets[id].tail += self.tiled.stages.row_bus * self.plan.switch.period();
        // The copy is of the packet as its NIC sent it: it is made before the header is marked.
        let is_copy = target.voq.is_some() && target.store.is_some();
        let stored = if is_copy { self.copy(id) } else { id };
        if is_marking && self.packets[id].is_data() {
            self.packets[id].is_marked = true;
            self.counts.marks += 1;
        }
        let switch = &mut self.switches[s];
        if let Some((q, w)) = target.voq {
            switch.rows[shape.at_row(p, shape.column(q))].used[q % shape.outputs][w] += n;
        }
        if let Some(column) = target.store {
            switch.rows[shape.at_row(p, column)].used[0][shape.store()] += n;
            switch.inputs[p].next_stash_column = (column + 1) % shape.columns;
            switch.promised[column] += n.next_multiple_of(2);
            self.counts.stashed += 1;
        }
        let input = &mut switch.inputs[p];
        input.occupancy -= n;
        input.bus = Some(OnBus {
            reading: Reading::new(id, n),
            from: From::Channel(vc),
            voq: target.voq,
            store: target.store.map(|column| (column, stored)),
        });
        if is_copy {
            let entry = Entry {
                location: None,
                verdict: None,
                attempt: 0,
                deadline,
            };
            let old = input.tracked.insert(self.packets[id].sequence, entry);
            assert!(old.is_none(), "a packet is tracked once");
        }
        self.return_credit(s, p, vc, n);
    }

    fn grant_retrieval(&mut self, s: usize, p: usize) {
        let shape = self.shape;
        let switch = &mut self.switches[s];
        let id = switch.stashes[p].retrieval.pop_front().expect("a head");
        // A copy is complete when it is sent again.
        let is_moving = self.tiled.stash == Some(StashUse::Congestion);
        let tail = &mut self.packets[id].tail;
        *tail = if is_moving { *tail } else { 0 };
        *tail += self.tiled.stages.row_bus * self.plan.switch.period();
        let packet = self.packets[id];
        let (q, n) = (packet.output, packet.flits);
        switch.rows[shape.at_row(p, shape.column(q))].used[q % shape.outputs][shape.retrieve()] +=
            n;
        switch.inputs[p].bus = Some(OnBus {
            reading: Reading::new(id, n),
            from: From::Retrieval,
            voq: Some((q, shape.retrieve())),
            store: None,
        });
        match self.tiled.stash {
            Some(StashUse::Congestion) => {
                switch.stashes[p].freed += n.next_multiple_of(2);
                self.counts.retrieved += 1;
            }
            _ => self.attempt_begins(s, id),
        }
    }

    /// Moves one flit on every busy row bus.
    pub(crate) fn move_on_buses(&mut self, s: usize) {
        let (shape, now, period) = (self.shape, self.now, self.period());
        let there = now + self.tiled.stages.row_bus * period;
        let is_moving = self.tiled.stash == Some(StashUse::Congestion);
        for p in 0..shape.ports() {
            let switch = &mut self.switches[s];
            let input = &mut switch.inputs[p];
            for (vc, reading) in &mut input.dropping {
                let mut next = *reading;
                let (flit, _) = next.next();
                // A missing flit is dropped when it arrives.
                if let Some(at) = input.flits[*vc].iter().position(|&f| f == flit) {
                    *reading = next;
                    input.flits[*vc].remove(at);
                } else {
                    assert_eq!(self.tiled.start, CrossbarStart::AtOnce);
                }
            }
            input.dropping.retain(|(_, r)| r.k < r.flits);
            let Some(bus) = &mut input.bus else {
                continue;
            };
            let from = match bus.from {
                From::Channel(vc) => Some(&mut input.flits[vc]),
                From::Retrieval if is_moving => Some(&mut switch.stashes[p].flits),
                // A copy stays where it is until it is deleted.
                From::Retrieval => None,
            };
            if let Some(from) = from {
                // A lost packet of the channel may be before it.
                let of = |flit: &&Flit| flit.packet == bus.reading.packet;
                if bus.reading.waits(from.iter().find(of), self.tiled.start) {
                    continue;
                }
                let at = from
                    .iter()
                    .position(|flit| flit.packet == bus.reading.packet);
                from.remove(at.expect("a flit"));
            }
            let (flit, is_last) = bus.reading.next();
            if let Some((q, vc)) = bus.voq {
                let place = Some((q % shape.outputs, vc));
                let column = shape.column(q);
                switch.to_rows.push_back((there, (p, column, place, flit)));
            }
            if let Some((column, packet)) = bus.store {
                let copied = Flit { packet, k: flit.k };
                switch.to_rows.push_back((there, (p, column, None, copied)));
            }
            if is_last {
                input.bus = None;
            }
        }
    }
}

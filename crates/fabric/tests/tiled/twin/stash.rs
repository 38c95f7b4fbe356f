//! Stashes: stashed packets, copies kept for end ports, and the side band between them.

use netloom_fabric::StashUse;
use netloom_random::{Purpose, Stream};
use netloom_topology::Peer;

use super::Twin;
use super::packet::{Kind, Reading};
use super::pool::first_from;
use super::switch::{Copy, Message, Passing, due};

impl Twin<'_> {
    /// Whether an error of a kind affects a packet.
    pub(crate) fn fails(&self, id: usize, hop: u8, kind: u32, chance: f64) -> bool {
        let packet = &self.packets[id];
        let occasion = [
            packet.source,
            packet.sequence,
            u32::from(hop) | packet.attempt << 8,
            kind,
        ];
        let draw = Stream::new(self.tiled.faults.seed, Purpose::Fault).draw(occasion);
        draw.unit(0) < chance
    }

    /// Returns a copy of a packet as its NIC sent it.
    pub(crate) fn copy(&mut self, id: usize) -> usize {
        let mut copy = self.packets[id];
        copy.is_marked = false;
        copy.is_corrupt = false;
        copy.detour = false;
        copy.hops = 0;
        self.packets.push(copy);
        self.packets.len() - 1
    }

    fn tell(&mut self, s: usize, message: Message) {
        let there = self.now + self.tiled.stages.side_band * self.period();
        self.switches[s].side_band.push_back((there, message));
    }

    /// Grants the S-multiplexer of a port.
    pub(crate) fn store_multiplexer(&mut self, s: usize, j: usize) {
        let (shape, switch) = (self.shape, &self.switches[s]);
        let stash = &switch.stashes[j];
        if stash.storing.is_some() {
            return;
        }
        let head = |r: usize| {
            let column = &switch.columns[shape.at_column(j, r)];
            let flit = column.fifos[shape.store()].front()?;
            assert!(flit.is_header(), "a free multiplexer is between packets");
            Some(flit.packet)
        };
        let takes = |id: usize| self.packets[id].flits.next_multiple_of(2);
        let candidates: Vec<usize> = (0..shape.rows)
            .filter(|&r| head(r).is_some_and(|id| takes(id) <= stash.free()))
            .collect();
        let Some(r) = first_from(stash.next_row, &candidates) else {
            return;
        };
        let id = head(r).expect("a candidate");
        let (taken, packet) = (takes(id), self.packets[id]);
        self.packets[id].tail += self.tiled.stages.multiplexer * self.plan.switch.period();
        let switch = &mut self.switches[s];
        switch.columns[shape.at_column(j, r)].used[shape.store()] -= packet.flits;
        let stash = &mut switch.stashes[j];
        stash.next_row = (r + 1) % shape.rows;
        stash.used += taken;
        switch.promised[shape.column(j)] -= taken;
        let stash = &mut switch.stashes[j];
        stash.storing = Some(Passing {
            reading: Reading::new(id, packet.flits),
            row: r,
            vc: shape.store(),
            output_vc: 0,
        });
        if let Some(StashUse::Reliability { .. }) = self.tiled.stash {
            let copy = Copy {
                packet: id,
                present: 0,
            };
            let old = stash.copies.insert((packet.source, packet.sequence), copy);
            assert!(old.is_none(), "a packet is stored once");
        }
    }

    /// Moves one flit through every busy S-multiplexer.
    pub(crate) fn move_into_stashes(&mut self, s: usize) {
        let (shape, period) = (self.shape, self.period());
        let there = self.now + self.tiled.stages.multiplexer * period;
        let switch = &mut self.switches[s];
        for j in 0..shape.ports() {
            if let Some(storing) = &mut switch.stashes[j].storing {
                let column = &mut switch.columns[shape.at_column(j, storing.row)];
                let front = column.fifos[storing.vc].front();
                if storing.reading.waits(front, self.tiled.start) {
                    continue;
                }
                let (flit, is_last) = storing.reading.next();
                let read = column.fifos[storing.vc].pop_front();
                assert_eq!(read, Some(flit), "an S-multiplexer does not run dry");
                switch.to_stashes.push_back((there, (j, flit)));
                if is_last {
                    switch.stashes[j].storing = None;
                }
            }
        }
    }

    /// Handles flits that come out of the S-multiplexers now.
    pub(crate) fn fill_stashes(&mut self, s: usize) {
        while let Some((j, flit)) = due(&mut self.switches[s].to_stashes, self.now) {
            let packet = self.packets[flit.packet];
            let stash = &mut self.switches[s].stashes[j];
            let is_stored = match self.tiled.stash {
                Some(StashUse::Congestion) => {
                    stash.flits.push_back(flit);
                    if flit.is_header() {
                        stash.retrieval.push_back(flit.packet);
                    }
                    false
                }
                _ => {
                    let key = (packet.source, packet.sequence);
                    let copy = stash.copies.get_mut(&key).expect("room was taken");
                    copy.present += 1;
                    copy.present == packet.flits
                }
            };
            let copies: u32 = stash.copies.values().map(|copy| copy.present).sum();
            assert!(
                stash.flits.len() as u32 + copies <= stash.capacity,
                "a stash does not overflow"
            );
            if is_stored {
                let (_, origin) = self.origin_of(packet.source);
                let (sequence, port) = (packet.sequence, j);
                let message = Message::Location {
                    origin,
                    sequence,
                    port,
                };
                self.tell(s, message);
            }
        }
    }

    /// Returns the switch and port of a NIC.
    fn origin_of(&self, nic: u32) -> (usize, usize) {
        let (switch, port) = self.plan.topology.attachment(netloom_units::NicId(nic));
        (switch.index(), port.index())
    }

    fn nic_at(&self, s: usize, p: usize) -> u32 {
        match self.switches[s].peers[p] {
            Peer::Nic(nic) => nic.0,
            _ => unreachable!("an end port"),
        }
    }

    /// Handles messages of the side band that arrive now, and entries that have timed out. Copies
    /// are sent again in the order of ports and packets, and before any is deleted.
    pub(crate) fn side_band(&mut self, s: usize) {
        let (mut again, mut deleted) = (vec![], vec![]);
        while let Some(message) = due(&mut self.switches[s].side_band, self.now) {
            match message {
                Message::Location {
                    origin,
                    sequence,
                    port,
                } => self.located(s, origin, sequence, port),
                Message::Delete { port, key } => deleted.push((port, key)),
                Message::Retransmit {
                    port,
                    key,
                    origin,
                    attempt,
                } => again.push((port, key, origin, attempt)),
            }
        }
        if self.timeout.is_some() {
            self.time_out(s);
        }
        again.sort_unstable();
        for (port, key, origin, attempt) in again {
            self.retransmit(s, port, key, origin, attempt);
        }
        for (port, key) in deleted {
            self.delete(s, port, key);
        }
    }

    fn delete(&mut self, s: usize, port: usize, key: (u32, u32)) {
        let stash = &mut self.switches[s].stashes[port];
        let copy = stash.copies.remove(&key).expect("a copy is deleted once");
        let n = self.packets[copy.packet].flits;
        assert_eq!(copy.present, n, "a copy is deleted when it is whole");
        stash.used -= n.next_multiple_of(2);
        self.counts.deletions += 1;
    }

    fn located(&mut self, s: usize, origin: usize, sequence: u32, port: usize) {
        let entry = self.switches[s].inputs[origin].tracked.get_mut(&sequence);
        let entry = entry.expect("a copy is located while it is tracked");
        assert!(entry.location.is_none(), "a copy is located once");
        entry.location = Some(port);
        match entry.verdict.take() {
            Some(true) => self.release(s, origin, sequence),
            Some(false) => self.send_again(s, origin, sequence),
            None => {}
        }
    }

    /// Allows the deletion of the copy of an acknowledged packet.
    fn release(&mut self, s: usize, origin: usize, sequence: u32) {
        let key = (self.nic_at(s, origin), sequence);
        let tracked = &mut self.switches[s].inputs[origin].tracked;
        let entry = tracked.remove(&sequence).expect("an entry");
        let port = entry.location.expect("a location");
        self.tell(s, Message::Delete { port, key });
    }

    fn send_again(&mut self, s: usize, origin: usize, sequence: u32) {
        let key = (self.nic_at(s, origin), sequence);
        let tracked = &mut self.switches[s].inputs[origin].tracked;
        let entry = tracked.get_mut(&sequence).expect("an entry");
        entry.attempt += 1;
        // Nothing is timed until this attempt is granted the bus.
        entry.deadline = None;
        let attempt = entry.attempt;
        let port = entry.location.expect("a location");
        let message = Message::Retransmit {
            port,
            key,
            origin,
            attempt,
        };
        self.tell(s, message);
    }

    /// Adds a copy of the copy to the retrieval FIFO, routed as its first switch routes packets
    /// from its NIC.
    fn retransmit(&mut self, s: usize, port: usize, key: (u32, u32), origin: usize, attempt: u32) {
        let copy = self.switches[s].stashes[port].copies[&key];
        let id = self.copy(copy.packet);
        self.packets[id].attempt = attempt;
        self.counts.retransmissions += 1;
        self.corrupt(id);
        self.route(s, origin, 0, id);
        self.switches[s].stashes[port].retrieval.push_back(id);
    }

    /// Starts the timeout of an attempt that is granted the bus of its stash port.
    pub(crate) fn attempt_begins(&mut self, s: usize, id: usize) {
        let packet = self.packets[id];
        let (_, origin) = self.origin_of(packet.source);
        let deadline = self.deadline();
        let tracked = &mut self.switches[s].inputs[origin].tracked;
        if let Some(entry) = tracked.get_mut(&packet.sequence)
            && entry.attempt == packet.attempt
        {
            entry.deadline = deadline;
        }
    }

    /// Returns the edge at which an attempt that starts now times out.
    pub(crate) fn deadline(&self) -> Option<u64> {
        let timeout = self.timeout?;
        Some((self.now + timeout).next_multiple_of(self.period()))
    }

    /// Sends entries that have timed out again, or lets them wait once more while their copy is not
    /// located.
    fn time_out(&mut self, s: usize) {
        let (now, again) = (self.now, self.deadline());
        for p in 0..self.shape.ports() {
            let tracked = &mut self.switches[s].inputs[p].tracked;
            let mut late = vec![];
            for (&sequence, entry) in tracked {
                if entry.deadline == Some(now) {
                    entry.deadline = again;
                    if entry.location.is_some() {
                        late.push(sequence);
                    }
                }
            }
            for sequence in late {
                self.counts.timeouts += 1;
                self.send_again(s, p, sequence);
            }
        }
    }

    /// Lets an end port check an acknowledgement for its NIC that was just granted the link.
    pub(crate) fn look_at_acknowledgement(&mut self, s: usize, q: usize, id: usize) {
        let is_tracking = matches!(self.tiled.stash, Some(StashUse::Reliability { .. }));
        let packet = self.packets[id];
        let Kind::Acknowledgement {
            of, is_positive, ..
        } = packet.kind
        else {
            return;
        };
        if !is_tracking || !self.switches[s].is_end(q) || packet.is_corrupt {
            return;
        }
        let tracked = &mut self.switches[s].inputs[q].tracked;
        let Some(entry) = tracked.get_mut(&of) else {
            self.packets[id].is_void = true;
            return;
        };
        self.packets[id].is_void = !is_positive;
        if entry.verdict == Some(true) {
            self.packets[id].is_void = true;
        } else if entry.location.is_none() {
            self.counts.early_verdicts += 1;
            entry.verdict = Some(is_positive);
        } else if is_positive {
            self.release(s, q, of);
        } else {
            self.send_again(s, q, of);
        }
    }
}

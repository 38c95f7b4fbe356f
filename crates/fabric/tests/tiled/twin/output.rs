//! A port's output: the multiplexer of the rows, the output buffer and the link.

use netloom_fabric::Retransmission;
use netloom_topology::Peer;

use super::Twin;
use super::packet::Reading;
use super::pool::first_from;
use super::switch::{Passing, Sending, due};

impl Twin<'_> {
    /// Handles flits that come out of the tiles now.
    pub(crate) fn fill_columns(&mut self, s: usize) {
        let (shape, now, limit) = (self.shape, self.now, self.tiled.column_buffer);
        let switch = &mut self.switches[s];
        while let Some((q, r, vc, flit)) = due(&mut switch.to_columns, now) {
            let fifo = &mut switch.columns[shape.at_column(q, r)].fifos[vc];
            fifo.push_back(flit);
            assert!(
                fifo.len() <= limit as usize,
                "column buffers do not overflow"
            );
        }
    }

    /// Handles flits that come out of the multiplexers now.
    pub(crate) fn fill_outputs(&mut self, s: usize) {
        let now = self.now;
        let switch = &mut self.switches[s];
        while let Some((q, vc, flit)) = due(&mut switch.to_outputs, now) {
            let output = &mut switch.outputs[q];
            output.flits[vc].push_back(flit);
            output.present[vc] += 1;
            assert!(
                output.present[vc] <= output.pool.used(vc),
                "what is in an output buffer has room there"
            );
            let present: u32 = output.present.iter().sum();
            assert!(
                present <= output.pool.capacity(),
                "output buffers do not overflow"
            );
            if flit.is_header() {
                output.heads[vc].push_back(flit.packet);
            }
        }
    }

    /// Grants the multiplexer of an output.
    pub(crate) fn multiplexer(&mut self, s: usize, q: usize) {
        let (shape, switch) = (self.shape, &self.switches[s]);
        if switch.outputs[q].passing.is_some() {
            return;
        }
        let mut candidates = vec![];
        for r in 0..shape.rows {
            for vc in (0..shape.vcs()).filter(|&vc| vc != shape.store()) {
                let column = &switch.columns[shape.at_column(q, r)];
                if let Some(flit) = column.fifos[vc].front() {
                    assert!(flit.is_header(), "a free multiplexer is between packets");
                    let (output_vc, n) = self.leaving_on(flit.packet, vc);
                    if switch.outputs[q].pool.fits(output_vc, n) {
                        candidates.push(r * shape.vcs() + vc);
                    }
                }
            }
        }
        let head = |at: usize| {
            let column = &switch.columns[shape.at_column(q, at / shape.vcs())];
            column.fifos[at % shape.vcs()][0].packet
        };
        let candidates = self.first_of(candidates, head);
        let Some(winner) = first_from(switch.outputs[q].next_row_vc, &candidates) else {
            return;
        };
        let (r, vc) = (winner / shape.vcs(), winner % shape.vcs());
        let front = switch.columns[shape.at_column(q, r)].fifos[vc].front();
        let id = front.expect("a candidate").packet;
        let (output_vc, n) = self.leaving_on(id, vc);
        self.feed_link(s, q, id);
        let switch = &mut self.switches[s];
        switch.columns[shape.at_column(q, r)].used[vc] -= n;
        let output = &mut switch.outputs[q];
        output.next_row_vc = (winner + 1) % (shape.rows * shape.vcs());
        output.pool.take(output_vc, n);
        output.passing = Some(Passing {
            reading: Reading::new(id, n),
            row: r,
            vc,
            output_vc,
        });
    }

    /// Returns when the link of an output may start a packet whose multiplexer is granted now. A
    /// flit comes up to a cycle later than it would without edges; the slower of two links sets the
    /// pace.
    fn feed_link(&mut self, s: usize, q: usize, id: usize) {
        let (now, period, stages) = (self.now, self.period(), self.tiled.stages);
        let packet = &mut self.packets[id];
        packet.tail += stages.multiplexer * period;
        let header = now + stages.multiplexer * period;
        let rest = u64::from(packet.flits - 1);
        packet.is_fed_at = header;
        if packet.tail > header + rest * period {
            let latest = packet.tail + period - 1;
            let sent = rest * self.switches[s].outputs[q].link.flit + stages.output * period;
            let from = latest.saturating_sub(sent).next_multiple_of(period);
            packet.is_fed_at = from.max(header);
        }
    }

    /// Returns the channel of the link on which a packet in a column buffer leaves, and its flits.
    fn leaving_on(&self, id: usize, vc: usize) -> (usize, u32) {
        let packet = &self.packets[id];
        let output_vc = if vc < self.shape.n_vls {
            vc
        } else {
            packet.output_vc
        };
        (output_vc, packet.flits)
    }

    /// Moves one flit through every busy multiplexer.
    pub(crate) fn move_through_multiplexers(&mut self, s: usize) {
        let (shape, period) = (self.shape, self.period());
        let there = self.now + self.tiled.stages.multiplexer * period;
        let switch = &mut self.switches[s];
        for q in 0..shape.ports() {
            if let Some(passing) = &mut switch.outputs[q].passing {
                let column = &mut switch.columns[shape.at_column(q, passing.row)];
                let front = column.fifos[passing.vc].front();
                if passing.reading.waits(front, self.tiled.start) {
                    continue;
                }
                let (flit, is_last) = passing.reading.next();
                let read = column.fifos[passing.vc].pop_front();
                assert_eq!(read, Some(flit), "a multiplexer does not run dry");
                let place = (q, passing.output_vc, flit);
                switch.to_outputs.push_back((there, place));
                if is_last {
                    switch.outputs[q].passing = None;
                }
            }
        }
    }

    /// Grants the link of an output.
    pub(crate) fn link(&mut self, s: usize, q: usize) {
        let (now, period) = (self.now, self.period());
        let stage = self.tiled.stages.output * period;
        let output = &self.switches[s].outputs[q];
        if now + stage + period <= output.link_end {
            return;
        }
        let has_room = |vc: usize, id: usize| {
            let peer_buffer = output.peer_buffer.as_ref();
            peer_buffer.is_none_or(|pool| pool.fits(vc, self.packets[id].flits))
        };
        let candidates: Vec<usize> = (0..self.shape.n_vls)
            .filter(|&vc| {
                let may_go = |&id: &usize| self.packets[id].is_fed_at <= now && has_room(vc, id);
                output.heads[vc].front().is_some_and(may_go)
            })
            .collect();
        let candidates = self.first_of(candidates, |vc| output.heads[vc][0]);
        let Some(vc) = first_from(output.next_vc, &candidates) else {
            return;
        };
        let id = self.switches[s].outputs[q].heads[vc]
            .pop_front()
            .expect("a candidate");
        let n = self.packets[id].flits;
        let failures = self.failures(id);
        let output = &mut self.switches[s].outputs[q];
        let again = u64::from(n) * output.link.flit + 2 * output.link.delay;
        let start = (now + stage).max(output.link_end) + failures * again;
        output.next_vc = (vc + 1) % self.shape.n_vls;
        output.committed -= n;
        output.link_end = start + u64::from(n) * output.link.flit;
        if let Some(pool) = &mut output.peer_buffer {
            pool.take(vc, n);
        }
        output.sending.push_back(Sending {
            reading: Reading::new(id, n),
            vc,
            start,
        });
        self.counts.hops += 1;
        self.look_at_acknowledgement(s, q, id);
    }

    /// Returns how often a packet is damaged on the link that it was just granted.
    fn failures(&self, id: usize) -> u64 {
        let chance = self.tiled.faults.link;
        if chance == 0.0 {
            return 0;
        }
        let hop = self.packets[id].hops;
        let fails = |&k: &u32| self.fails(id, hop, 2 + k, chance);
        (0u32..).take_while(fails).count() as u64
    }

    /// Puts the flits whose time has come on the link.
    pub(crate) fn send(&mut self, s: usize, q: usize) {
        let now = self.now;
        let output = &mut self.switches[s].outputs[q];
        let link = output.link;
        let Some(sending) = output.sending.front_mut() else {
            return;
        };
        let when = sending.start + u64::from(sending.reading.k) * link.flit;
        assert!(when >= now, "a flit is sent on time");
        if when > now {
            return;
        }
        let vc = sending.vc;
        let (flit, is_last) = sending.reading.next();
        let read = output.flits[vc].pop_front();
        assert_eq!(read, Some(flit), "a link does not run dry");
        if is_last {
            output.sending.pop_front();
        }
        let there = now + link.flit + link.delay;
        if self.tiled.retransmission == Retransmission::Nothing {
            output.acknowledged.push_back((now + link.flit, vc, 1));
        }
        match self.switches[s].peers[q] {
            Peer::Switch(to, port) => {
                let input = &mut self.switches[to.index()].inputs[port.index()];
                input.wire.push_back((there, flit, vc));
            }
            Peer::Nic(nic) => self.nics[nic.index()].wire.push_back((there, flit)),
            Peer::Unused => unreachable!("a link leads somewhere"),
        }
    }

    /// Handles credits and link-level acknowledgements that arrive now.
    pub(crate) fn learn(&mut self, s: usize, q: usize) {
        let now = self.now;
        let output = &mut self.switches[s].outputs[q];
        while let Some(&(when, vc, n)) = output.credits.front() {
            assert!(when >= now, "a credit is noticed on time");
            if when > now {
                break;
            }
            output.credits.pop_front();
            let pool = output.peer_buffer.as_mut().expect("a switch behind");
            pool.give(vc, n);
        }
        while let Some(&(when, vc, n)) = output.acknowledged.front() {
            assert!(when >= now, "an acknowledgement is noticed on time");
            if when > now {
                break;
            }
            output.acknowledged.pop_front();
            output.pool.give(vc, n);
            output.present[vc] -= n;
        }
    }
}

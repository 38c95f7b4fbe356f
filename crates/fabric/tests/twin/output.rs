//! Scheduling of links after output buffers.

use netloom_arbitration::{Head, View};

use super::Twin;
use super::state::{Occurrence, Sender, assert_holds};

impl Twin<'_> {
    pub(super) fn buffered(&mut self, s: usize, p: usize, vl: u8) {
        let state = &mut self.ports[s][p];
        state.in_output[usize::from(vl)] += 1;
        let sizes = &self.plan.switch.crossbar().output_buffer;
        assert_holds(sizes, &state.in_output, "an output");
    }

    pub(super) fn join_output(&mut self, s: usize, p: usize, vl: u8, id: usize, from_centre: bool) {
        self.packets[id].joined_output = (self.now, from_centre);
        let queue = &mut self.ports[s][p].out_queues[usize::from(vl)];
        queue.push_back(id);
        // At the same tick a packet of the own MPort precedes one from the centre.
        for at in (1..queue.len()).rev() {
            let key = |at: usize| self.packets[queue[at]].joined_output;
            if key(at) < key(at - 1) {
                queue.swap(at, at - 1);
            }
        }
    }

    /// Whether a packet in an output buffer could start now without its link running dry.
    fn is_in_time(&self, s: usize, p: usize, id: usize) -> bool {
        let switch = self.plan.switch.crossbar();
        let earliest = self.now + switch.pipeline.output * switch.period;
        let (flit, _) = self.flit_of(s, p);
        let packet = &self.packets[id];
        let passed = &self.passed[&id];
        let crossbar = switch.pipeline.crossbar * switch.period;
        (0..packet.flits).all(|k| passed[k as usize] + crossbar <= earliest + k * flit)
    }

    /// Announces every packet to the arbiter of its output once, on the first edge on which it
    /// could be scheduled if the link were free. Packets from the own MPort precede those from the
    /// centre.
    fn announce(&mut self, s: usize, p: usize) {
        let mut news = vec![];
        for (vl, queue) in self.ports[s][p].out_queues.iter().enumerate() {
            for &id in queue {
                if !self.packets[id].is_announced && self.is_in_time(s, p, id) {
                    news.push((self.packets[id].joined_output, vl as u8, id));
                }
            }
        }
        news.sort();
        for (_, vl, id) in news {
            self.packets[id].is_announced = true;
            let head = self.head(id, vl);
            self.arbiters[s][p].arrived(vl, &head);
        }
    }

    pub(super) fn schedule(&mut self, s: usize) {
        let switch = self.plan.switch.crossbar();
        let (period, cycles) = (switch.period, switch.pipeline);
        for p in 0..self.ports[s].len() {
            self.announce(s, p);
            if self.ports[s][p].far.link_until >= self.now + (cycles.output + 1) * period {
                continue;
            }
            let sender = Sender::Switch(s, p);
            let mut heads = Box::new([Head::default(); 32]);
            let mut eligible = 0u32;
            for vl in 0..usize::from(self.plan.n_vls) {
                let Some(&id) = self.ports[s][p].out_queues[vl].front() else {
                    continue;
                };
                let packet = &self.packets[id];
                if self.is_in_time(s, p, id)
                    && self.may_send(sender, packet.next_class, vl as u8, packet.flits)
                {
                    eligible |= 1 << vl;
                    heads[vl] = self.head(id, vl as u8);
                }
            }
            if eligible == 0 {
                continue;
            }
            let Some(grant) = self.arbiters[s][p].choose(&View {
                eligible,
                heads: &heads,
            }) else {
                continue;
            };
            self.arbiters[s][p].commit(grant);
            let vl = grant.queue;
            let queue = &mut self.ports[s][p].out_queues[usize::from(vl)];
            let id = queue.pop_front().expect("a packet");
            let (flits, class) = (self.packets[id].flits, self.packets[id].next_class);
            self.take_credits(sender, class, flits);
            let earliest = self.now + cycles.output * period;
            let start = self.ports[s][p].far.link_until.max(earliest);
            self.transmit(sender, id, start);
            let (flit, _) = self.flit_of(s, p);
            let slots = self.is_slotted(s, p, true);
            for k in 0..flits {
                let gone = start + (k + 1) * flit;
                self.at(gone, Occurrence::LeftOutput(s, p, vl));
                if !slots || k + 1 == flits {
                    self.at(gone, Occurrence::Space(s, p, vl));
                }
            }
        }
    }
}

//! Allocation in a switch with buffers at inputs only: the arbiter of an output's link chooses the
//! lane, then inputs take turns.

use netloom_arbitration::{Grant, Head, View};
use netloom_fabric::Allocation;

use super::Twin;
use super::state::{Sender, turn};

/// A queue whose head could cross now.
#[derive(Clone, Copy)]
struct Asking {
    queue: usize,
    id: usize,
    output: usize,
    vl: u8,
}

impl Twin<'_> {
    fn may_cross_and_go(&self, s: usize, p: usize, queue: usize) -> Option<Asking> {
        let id = self.joined(s, p, queue)?;
        let packet = &self.packets[id];
        let (output, vl) = (packet.output, packet.next_vl);
        let is_free = self.ports[s][output].output_until <= self.now;
        let sender = Sender::Switch(s, output);
        (is_free && self.may_send(sender, packet.next_class, vl, packet.flits)).then_some(Asking {
            queue,
            id,
            output,
            vl,
        })
    }

    pub(super) fn allocate_input_queued(&mut self, s: usize) {
        assert!(!self.plan.forwarding.bubble(), "nothing guards rings here");
        // All that could cross, each input's in the order of its pointer.
        let mut asking: Vec<Vec<Asking>> = (0..self.ports[s].len())
            .map(|p| {
                if self.ports[s][p].crossbar_inputs[0].until > self.now {
                    return vec![];
                }
                let queues = self.queues_in_turn(s, p, 0).into_iter();
                queues
                    .filter_map(|q| self.may_cross_and_go(s, p, q))
                    .collect()
            })
            .collect();
        match self.plan.switch.crossbar().allocation {
            Allocation::Separable => {
                for own in &mut asking {
                    own.truncate(1);
                }
                for o in 0..asking.len() {
                    if let Some((p, asked, grant)) = self.chosen(s, o, &asking) {
                        self.ports[s][o].next_input = p + 1;
                        self.arbiters[s][o].commit(grant);
                        self.cross_and_go(s, p, asked);
                    }
                }
            }
            Allocation::Islip { iterations } => self.islip_of_lanes(s, asking, iterations),
        }
    }

    /// Returns the lane that the arbiter of an output chooses, and the first input that requests
    /// it.
    fn chosen(&self, s: usize, o: usize, asking: &[Vec<Asking>]) -> Option<(usize, Asking, Grant)> {
        let first = self.ports[s][o].next_input;
        let mut heads = Box::new([Head::default(); 32]);
        let mut eligible = 0u32;
        let mut candidates = vec![None; 32];
        for vl in 0..self.plan.n_vls {
            let of = |p: usize| {
                let mut own = asking[p].iter();
                own.find(|a| a.output == o && a.vl == vl)
                    .map(|&asked| (p, asked))
            };
            let candidate = (0..asking.len())
                .filter_map(of)
                .min_by_key(|&(p, _)| turn(p, first));
            if let Some((_, asked)) = candidate {
                eligible |= 1 << vl;
                heads[usize::from(vl)] = self.head(asked.id, vl);
                candidates[usize::from(vl)] = candidate;
            }
        }
        if eligible == 0 {
            return None;
        }
        let grant = self.arbiters[s][o].choose(&View {
            eligible,
            heads: &heads,
        })?;
        let (p, asked) = candidates[usize::from(grant.queue)].expect("a lane that asks");
        Some((p, asked, grant))
    }

    fn islip_of_lanes(&mut self, s: usize, mut asking: Vec<Vec<Asking>>, iterations: u8) {
        let n = asking.len();
        let mut matched = vec![];
        let mut is_taken = vec![false; n];
        for round in 0..iterations {
            let mut grants: Vec<Vec<(usize, Asking, Grant)>> = vec![vec![]; n];
            for o in (0..n).filter(|&o| !is_taken[o]) {
                if let Some((p, asked, grant)) = self.chosen(s, o, &asking) {
                    grants[p].push((o, asked, grant));
                }
            }
            for p in 0..n {
                let first = self.ports[s][p].crossbar_inputs[0].next_output;
                let accepted = grants[p].iter().min_by_key(|(o, ..)| turn(*o, first));
                let Some(&(o, asked, grant)) = accepted else {
                    continue;
                };
                is_taken[o] = true;
                asking[p].clear();
                self.arbiters[s][o].commit(grant);
                matched.push((p, asked));
                if round == 0 {
                    self.ports[s][p].crossbar_inputs[0].next_output = o + 1;
                    self.ports[s][o].next_input = p + 1;
                }
            }
        }
        for (p, asked) in matched {
            self.cross_and_go(s, p, asked);
        }
    }

    /// Sends a packet to its link; credits at the other end are taken at once.
    fn cross_and_go(&mut self, s: usize, p: usize, asked: Asking) {
        let switch = self.plan.switch.crossbar();
        let cycles = switch.pipeline;
        let stages = (cycles.allocation + cycles.crossbar + cycles.output) * switch.period;
        let pace = self.input_pace(s, p, asked.output);
        let packet = self.packets[asked.id];
        let until = self.now + pace.occupancy(packet.flits);
        let id = self.dequeue(s, p, asked.queue, until);
        assert_eq!(id, asked.id);
        self.ports[s][asked.output].output_until = until;
        self.packet_hops += 1;
        self.uncommit(s, asked.output, packet.flits);
        let sender = Sender::Switch(s, asked.output);
        self.take_credits(sender, packet.next_class, packet.flits);
        let passes = self.passes(pace, id, self.at_input(s, p, id));
        self.leave_input(s, p, id, &passes);
        self.transmit(sender, id, self.now + stages);
    }
}

//! Who crosses a switch with buffers at inputs and outputs.

use netloom_fabric::{Allocation, Pace};
use netloom_units::{Port, SwitchId};

use super::Twin;
use super::state::{Occurrence, room, turn};

impl Twin<'_> {
    /// Whether the output buffer of a packet has room for it.
    pub(super) fn fits_output(&self, s: usize, p: usize, id: usize) -> bool {
        let packet = &self.packets[id];
        let sizes = &self.plan.switch.crossbar().output_buffer;
        let used = &self.ports[s][packet.output].space_used;
        let vl = usize::from(packet.next_vl);
        if self.is_slotted(s, packet.output, true) {
            let f = &self.plan.forwarding;
            let at = SwitchId(s as u32);
            let (i, o) = (Port(p as u16), Port(packet.output as u16));
            let goes_on = f.ring_of_input(at, i) == f.ring_of_output(at, o);
            room(&sizes.slots(&self.plan.largest), used, vl) >= if goes_on { 1 } else { 2 }
        } else {
            u64::from(room(sizes, used, vl)) >= packet.flits
        }
    }

    /// Whether the first packet of a queue could cross now, and where to.
    fn may_cross(&self, s: usize, p: usize, queue: usize) -> Option<usize> {
        let id = self.joined(s, p, queue)?;
        let output = self.packets[id].output;
        let is_free = self.ports[s][output].output_until <= self.now;
        (is_free && self.fits_output(s, p, id)).then_some(output)
    }

    pub(super) fn allocate(&mut self, s: usize) {
        match self.plan.switch.crossbar().allocation {
            Allocation::Separable => self.separable(s),
            Allocation::Islip { iterations } => self.islip(s, iterations),
        }
    }

    fn separable(&mut self, s: usize) {
        let n = self.ports[s].len();
        let mut requests: Vec<Vec<(usize, usize)>> = vec![vec![]; n];
        for p in 0..n {
            if self.ports[s][p].input_until > self.now {
                continue;
            }
            let asked = self
                .queues_in_turn(s, p)
                .find_map(|q| self.may_cross(s, p, q).map(|output| (q, output)));
            if let Some((q, output)) = asked {
                requests[output].push((p, q));
            }
        }
        for (output, asking) in requests.into_iter().enumerate() {
            let first = self.ports[s][output].next_input;
            if let Some((p, q)) = asking.into_iter().min_by_key(|(p, _)| turn(*p, first)) {
                self.ports[s][output].next_input = p + 1;
                self.cross(s, p, q, output);
            }
        }
    }

    fn islip(&mut self, s: usize, iterations: u8) {
        let n = self.ports[s].len();
        let wants: Vec<Vec<usize>> = (0..n)
            .map(|p| {
                if self.ports[s][p].input_until > self.now {
                    return vec![];
                }
                (0..self.ports[s][p].queues.len())
                    .filter_map(|q| self.may_cross(s, p, q))
                    .collect()
            })
            .collect();
        let mut input_of = vec![None; n];
        let mut output_of = vec![None; n];
        for round in 0..iterations {
            let mut grants: Vec<Vec<usize>> = vec![vec![]; n];
            for o in 0..n {
                if input_of[o].is_none() {
                    let asking =
                        (0..n).filter(|&p| output_of[p].is_none() && wants[p].contains(&o));
                    if let Some(p) = asking.min_by_key(|&p| turn(p, self.ports[s][o].next_input)) {
                        grants[p].push(o);
                    }
                }
            }
            for p in 0..n {
                let first = self.ports[s][p].next_output;
                if let Some(&o) = grants[p].iter().min_by_key(|&&o| turn(o, first)) {
                    input_of[o] = Some(p);
                    output_of[p] = Some(o);
                    if round == 0 {
                        self.ports[s][p].next_output = o + 1;
                        self.ports[s][o].next_input = p + 1;
                    }
                }
            }
        }
        for p in 0..n {
            if let Some(o) = output_of[p] {
                let q = self
                    .queues_in_turn(s, p)
                    .find(|&q| self.may_cross(s, p, q) == Some(o));
                self.cross(s, p, q.expect("a queue"), o);
            }
        }
    }

    fn cross(&mut self, s: usize, p: usize, q: usize, output: usize) {
        let pace = self.plan.switch.crossbar().crossbar_pace();
        let id = self.ports[s][p].queues[q].front().copied();
        let until = self.now + pace.occupancy(self.packets[id.expect("a packet")].flits);
        let id = self.dequeue(s, p, q, until);
        self.ports[s][output].output_until = until;
        self.packet_hops += 1;
        self.take_output(s, id);
        self.leave_input(s, p, id, pace);
        self.enter_output(s, id, pace, false);
    }

    /// Room in the output buffer is taken for a packet granted now.
    pub(super) fn take_output(&mut self, s: usize, id: usize) {
        let packet = self.packets[id];
        self.uncommit(s, packet.output, packet.flits);
        let units = if self.is_slotted(s, packet.output, true) {
            1
        } else {
            packet.flits as u32
        };
        self.ports[s][packet.output].space_used[usize::from(packet.next_vl)] += units;
    }

    /// A packet granted now comes into its output buffer, and joins its queue on the first edge from which its
    /// link would find every flit in time.
    pub(super) fn enter_output(&mut self, s: usize, id: usize, pace: Pace, from_centre: bool) {
        let switch = self.plan.switch.crossbar();
        let (period, cycles) = (switch.period, switch.pipeline);
        let buffered = self.now + (cycles.allocation + cycles.crossbar) * period;
        let packet = &mut self.packets[id];
        packet.buffered = buffered;
        packet.pace = Some(pace);
        packet.is_announced = false;
        let (flits, output, vl) = (packet.flits, packet.output, packet.next_vl);
        let (flit, _) = self.flit_of(s, output);
        let mut joined = buffered;
        for k in 0..flits {
            let there = buffered + pace.time_of(k);
            self.at(there, Occurrence::Buffered(s, output, vl));
            while there > joined + cycles.output * period + k * flit {
                joined += period;
            }
        }
        self.at(joined, Occurrence::Joined(s, output, vl, id, from_centre));
    }
}

//! Allocation in a switch with buffers at inputs and outputs.

use netloom_fabric::{Allocation, CrossbarStart, Pace};
use netloom_units::{Port, SwitchId};

use super::Twin;
use super::state::{Occurrence, room, turn};

impl Twin<'_> {
    /// Whether the output buffer of a packet has space for it.
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

    /// Returns the output of the first packet of a queue, if it could cross now.
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
        for (number, p, crossbar_input) in self.free_crossbar_inputs(s) {
            let mut queues = self.queues_in_turn(s, p, crossbar_input).into_iter();
            let asked = queues.find_map(|q| self.may_cross(s, p, q).map(|output| (q, output)));
            if let Some((q, output)) = asked {
                requests[output].push((number, q));
            }
        }
        for (output, asking) in requests.into_iter().enumerate() {
            let first = self.ports[s][output].next_input;
            let winner = asking.into_iter().min_by_key(|(n, _)| turn(*n, first));
            if let Some((number, q)) = winner {
                self.ports[s][output].next_input = number + 1;
                self.cross(s, number / self.n_crossbar_inputs(), q, output);
            }
        }
    }

    fn islip(&mut self, s: usize, iterations: u8) {
        let (n, n_crossbar_inputs) = (self.ports[s].len(), self.n_crossbar_inputs());
        let n_inputs = n * n_crossbar_inputs;
        let mut wants: Vec<Vec<usize>> = vec![vec![]; n_inputs];
        for (number, p, crossbar_input) in self.free_crossbar_inputs(s) {
            let queues = self.queues_in_turn(s, p, crossbar_input).into_iter();
            wants[number] = queues.filter_map(|q| self.may_cross(s, p, q)).collect();
        }
        let mut input_of = vec![None; n];
        let mut output_of = vec![None; n_inputs];
        for round in 0..iterations {
            let mut grants: Vec<Vec<usize>> = vec![vec![]; n_inputs];
            for o in 0..n {
                if input_of[o].is_none() {
                    let asking =
                        (0..n_inputs).filter(|&p| output_of[p].is_none() && wants[p].contains(&o));
                    if let Some(p) = asking.min_by_key(|&p| turn(p, self.ports[s][o].next_input)) {
                        grants[p].push(o);
                    }
                }
            }
            for p in 0..n_inputs {
                let (input, crossbar_input) = (p / n_crossbar_inputs, p % n_crossbar_inputs);
                let first = self.ports[s][input].crossbar_inputs[crossbar_input].next_output;
                if let Some(&o) = grants[p].iter().min_by_key(|&&o| turn(o, first)) {
                    input_of[o] = Some(p);
                    output_of[p] = Some(o);
                    if round == 0 {
                        self.ports[s][input].crossbar_inputs[crossbar_input].next_output = o + 1;
                        self.ports[s][o].next_input = p + 1;
                    }
                }
            }
        }
        for number in 0..n_inputs {
            if let Some(o) = output_of[number] {
                let (p, crossbar_input) = (number / n_crossbar_inputs, number % n_crossbar_inputs);
                let mut queues = self.queues_in_turn(s, p, crossbar_input).into_iter();
                let q = queues.find(|&q| self.may_cross(s, p, q) == Some(o));
                self.cross(s, p, q.expect("a queue"), o);
            }
        }
    }

    fn cross(&mut self, s: usize, p: usize, q: usize, output: usize) {
        let pace = self.plan.switch.crossbar().crossbar_pace();
        let id = *self.ports[s][p].queues[q].front().expect("a packet");
        let passes = self.passes(pace, id, self.at_input(s, p, id));
        let until = self.held_until(pace, &passes);
        self.dequeue(s, p, q, until);
        self.ports[s][output].output_until = until;
        self.packet_hops += 1;
        self.take_output(s, id);
        self.leave_input(s, p, id, &passes);
        self.enter_output(s, id, passes, false);
    }

    /// Takes space in the output buffer for a packet granted now.
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

    /// Returns when the flits of a packet come into its input buffer.
    pub(super) fn at_input(&self, s: usize, p: usize, id: usize) -> Vec<u64> {
        let (flit, _) = self.flit_of(s, p);
        let packet = &self.packets[id];
        (0..packet.flits)
            .map(|k| packet.received + k * flit)
            .collect()
    }

    /// Returns when the flits of a packet granted now leave the buffer that they enter at these
    /// times: at the pace of the crossbar until a flit is missing, and from then on as they come.
    pub(super) fn passes(&self, pace: Pace, id: usize, comes: Vec<u64>) -> Vec<u64> {
        let switch = self.plan.switch.crossbar();
        let begin = self.now + switch.pipeline.allocation * switch.period;
        let mut has_caught_up = false;
        let mut passes = vec![];
        for (k, &there) in comes.iter().enumerate() {
            let asked_for = begin + pace.time_of(k as u64);
            has_caught_up |= there > asked_for;
            passes.push(if has_caught_up { there } else { asked_for });
        }
        assert_eq!(passes.len() as u64, self.packets[id].flits);
        if switch.start == CrossbarStart::Stored {
            assert!(!has_caught_up, "a flit is there when it is read");
        }
        passes
    }

    /// Returns when the crossbar ports of a packet granted now are free again. The last flit
    /// occupies them for its own time, and the next packet passes its allocation first.
    pub(super) fn held_until(&self, pace: Pace, passes: &[u64]) -> u64 {
        let switch = self.plan.switch.crossbar();
        let period = switch.period;
        let last = passes.last().expect("a flit").div_ceil(period) * period;
        let whole = self.now + pace.occupancy(passes.len() as u64);
        let begin = switch.pipeline.allocation * period;
        whole.max(last + pace.occupancy(1) - begin)
    }

    /// Moves a packet granted now into its output buffer. It joins its queue on the first edge from
    /// which its link would find every flit in time.
    pub(super) fn enter_output(
        &mut self,
        s: usize,
        id: usize,
        passes: Vec<u64>,
        from_centre: bool,
    ) {
        let switch = self.plan.switch.crossbar();
        let (period, cycles) = (switch.period, switch.pipeline);
        let buffered = self.now + (cycles.allocation + cycles.crossbar) * period;
        let packet = &mut self.packets[id];
        packet.buffered = buffered;
        packet.is_announced = false;
        let (flits, output, vl) = (packet.flits, packet.output, packet.next_vl);
        let (flit, _) = self.flit_of(s, output);
        let mut joined = buffered;
        for k in 0..flits {
            let there = passes[k as usize] + cycles.crossbar * period;
            self.at(there, Occurrence::Buffered(s, output, vl));
            while there > joined + cycles.output * period + k * flit {
                joined += period;
            }
        }
        self.at(joined, Occurrence::Joined(s, output, vl, id, from_centre));
        self.passed.insert(id, passes);
    }
}

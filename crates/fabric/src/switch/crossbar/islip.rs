//! iSLIP (McKeown, IEEE/ACM ToN 1999): iterated request, grant and accept with round-robin pointers
//! that move only past accepted grants of the first round.

use netloom_engine::Outbox;
use netloom_units::Tick;

use crate::fabric::Fabric;
use crate::plan::Allocation;
use crate::switch::crossbar::Crossbars;
use crate::switch::crossbar::mask::{Ports, Set};
use crate::switch::crossbar::shape::Shape;

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Runs all rounds of one edge.
    pub(super) fn allocate_islip(
        &mut self,
        switch: u32,
        woken: S::Ports,
        iterations: u8,
        now: Tick,
        out: &mut Outbox<Self>,
    ) {
        let base = self.switches.states[switch].base;
        let mut free_outputs = S::Ports::default();
        let mut asking = S::Ports::default();
        let is_lone = woken.only().is_some();
        for input in woken.iter() {
            let outputs = match self.switches.allocation {
                Allocation::Separable => self.ask_once(switch, input, now, out),
                Allocation::Islip { .. } => self.ask_for_all(switch, input, now, out),
            };
            if outputs.is_empty() {
                continue;
            }
            if let (true, Some(output)) = (is_lone, outputs.only()) {
                self.match_lone(now, switch, input, output, out);
                return;
            }
            asking.set(input);
            self.switches.requests.by_input[input] = outputs;
            self.switches.requests.matched[input] = None;
            for output in outputs.iter() {
                free_outputs.set(output);
                self.switches.requests.by_output[output].set(input);
            }
        }
        let mut free_inputs = asking;
        for round in 0..iterations {
            let accepted = self.islip_round(base, &mut free_inputs, &mut free_outputs, round == 0);
            if !accepted {
                break;
            }
        }
        for input in asking.iter() {
            for output in self.switches.requests.by_input[input].iter() {
                self.switches.requests.by_output[output].clear(input);
            }
            let Some(output) = self.switches.requests.matched[input].map(usize::from) else {
                self.try_again(switch, input, now, out);
                continue;
            };
            let lane = match S::HAS_OUTPUT_BUFFER {
                true => 0,
                false => self.commit_lane(base, output),
            };
            let queue = self.switches.requests.candidates[self.candidate(input, output, lane)];
            self.grant(now, switch, input, usize::from(queue), output, true, out);
        }
    }

    /// Matches a single request of one input for one output without rounds, if the output's arbiter
    /// accepts it.
    #[inline(always)]
    fn match_lone(
        &mut self,
        now: Tick,
        switch: u32,
        input: usize,
        output: usize,
        out: &mut Outbox<Self>,
    ) {
        let base = self.switches.states[switch].base;
        let sent = match S::HAS_OUTPUT_BUFFER {
            true => Some(0),
            false => self.send_lane(base, input, output),
        };
        let Some(lane) = sent else {
            self.try_again(switch, input, now, out);
            return;
        };
        self.switches.ports[base + input as u32].next_output = output as u16 + 1;
        self.switches.ports[base + output as u32].next_input = input as u16 + 1;
        let queue = self.switches.requests.candidates[self.candidate(input, output, lane)];
        self.grant(now, switch, input, usize::from(queue), output, true, out);
    }

    /// Returns the index of the queue with which an input requests an output on a lane. Lanes are
    /// separate only if an arbiter chooses among them, which requires that there is no output
    /// buffer.
    #[inline]
    pub(super) fn candidate(&self, input: usize, output: usize, lane: u8) -> usize {
        let requests = &self.switches.requests;
        (input * requests.radix + output) * requests.n_lanes + usize::from(lane)
    }

    #[inline]
    fn lane_that_asks(vl: u8) -> u8 {
        if S::HAS_OUTPUT_BUFFER { 0 } else { vl }
    }

    /// Separable: an input requests with one queue.
    fn ask_once(
        &mut self,
        switch: u32,
        input: usize,
        now: Tick,
        out: &mut Outbox<Self>,
    ) -> S::Ports {
        let mut outputs = S::Ports::default();
        if let Some((queue, output)) = self.request(switch, input, now, out) {
            let base = self.switches.states[switch].base;
            let lane = Self::lane_that_asks(self.head_of(base, input, queue).vl);
            outputs.set(output);
            self.switches.requests.lanes[input * self.switches.requests.radix + output] = 1 << lane;
            let at = self.candidate(input, output, lane);
            self.switches.requests.candidates[at] = queue as u16;
        }
        outputs
    }

    /// iSLIP: every queue that could cross requests; of those for one output and lane, the next
    /// one.
    fn ask_for_all(
        &mut self,
        switch: u32,
        input: usize,
        now: Tick,
        out: &mut Outbox<Self>,
    ) -> S::Ports {
        let base = self.switches.states[switch].base;
        let mut outputs = S::Ports::default();
        let port = &self.switches.ports[base + input as u32];
        if port.input_until > now {
            return outputs;
        }
        let mut turn = port.ready.turn(usize::from(port.next_queue));
        while let Some(queue) = self.switches.ports[base + input as u32]
            .ready
            .next_in(&mut turn)
        {
            let head = self.head_of(base, input, queue);
            let output = usize::from(head.output);
            let pair = input * self.switches.requests.radix + output;
            let lane = Self::lane_that_asks(head.vl);
            if outputs.has(output) && self.switches.requests.lanes[pair] >> lane & 1 == 1 {
                continue;
            }
            if !self.may_cross(switch, input, head, now, out) {
                continue;
            }
            if !outputs.has(output) {
                outputs.set(output);
                self.switches.requests.lanes[pair] = 0;
            }
            self.switches.requests.lanes[pair] |= 1 << lane;
            let at = self.candidate(input, output, lane);
            self.switches.requests.candidates[at] = queue as u16;
        }
        outputs
    }

    /// Runs one round; returns whether any grant was accepted.
    fn islip_round(
        &mut self,
        base: u32,
        free_inputs: &mut S::Ports,
        free_outputs: &mut S::Ports,
        is_first: bool,
    ) -> bool {
        // Grant: each free output picks one requesting input, round robin. `granted[i]` collects
        // them.
        let mut granted_inputs = S::Ports::default();
        let outputs = *free_outputs;
        for output in outputs.iter() {
            let Some(winner) = self.islip_grant(base, output) else {
                free_outputs.clear(output);
                continue;
            };
            // Accept: of the outputs that grant it, an input takes the first in its own round
            // robin.
            let turn = |o: usize, next: u16| {
                (o + S::Ports::CAPACITY - usize::from(next)) % S::Ports::CAPACITY
            };
            let next = self.switches.ports[base + winner as u32].next_output;
            let better = !granted_inputs.has(winner)
                || turn(output, next)
                    < turn(usize::from(self.switches.requests.queue[winner]), next);
            if better {
                granted_inputs.set(winner);
                self.switches.requests.queue[winner] = output as u16;
            }
        }
        for input in granted_inputs.iter() {
            let output = usize::from(self.switches.requests.queue[input]);
            self.switches.requests.matched[input] = Some(output as u16);
            free_inputs.clear(input);
            free_outputs.clear(output);
            if is_first {
                self.switches.ports[base + input as u32].next_output = output as u16 + 1;
                self.switches.ports[base + output as u32].next_input = input as u16 + 1;
            }
        }
        !granted_inputs.is_empty()
    }

    /// Returns the input that a free output grants: the first requesting one from its pointer on.
    /// If packets cross directly onto the link, the output's arbiter has chosen the lane before.
    #[inline]
    fn islip_grant(&mut self, base: u32, output: usize) -> Option<usize> {
        let mut asking = S::Ports::default();
        for input in self.switches.requests.by_output[output].iter() {
            if self.switches.requests.matched[input].is_none() {
                asking.set(input);
            }
        }
        if !S::HAS_OUTPUT_BUFFER {
            return self.choose_lane(base, output, asking);
        }
        let first = usize::from(self.switches.ports[base + output as u32].next_input);
        asking.next_from(first)
    }
}

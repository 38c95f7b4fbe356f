//! iSLIP (McKeown, IEEE/ACM ToN 1999): iterated request, grant and accept with round-robin pointers
//! that move only past accepted grants of the first round.

use netloom_arbitration::Arbiter;
use netloom_engine::{EventQueue, Outbox};
use netloom_units::Tick;

use crate::event::Event;
use crate::fabric::Fabric;
use crate::mask::Mask;
use crate::shape::Shape;

impl<A: Arbiter, S: Shape, const W: usize, const R: usize> Fabric<A, S, W, R> {
    /// All rounds of one edge. Every queue of an input asks for its output.
    pub(super) fn allocate_islip<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        woken: Mask<W>,
        iterations: u8,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        let base = self.switches[switch].base;
        let mut free_outputs = Mask::<W>::default();
        let mut asking = Mask::<W>::default();
        for input in woken.iter() {
            let port = &self.ports[base + input as u32];
            if port.input_until > now {
                continue;
            }
            let mut outputs = Mask::<W>::default();
            for queue in port.ready.iter() {
                let head = self.head_of(base, input, queue);
                if self.may_cross(switch, input, head, now, out) {
                    outputs.set(usize::from(head.output));
                }
            }
            if !outputs.is_empty() {
                asking.set(input);
                self.requests.by_input[input] = outputs;
                self.requests.matched[input] = None;
                for output in outputs.iter() {
                    free_outputs.set(output);
                    self.requests.by_output[output].set(input);
                }
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
            for output in self.requests.by_input[input].iter() {
                self.requests.by_output[output].clear(input);
            }
            match self.requests.matched[input] {
                Some(output) => {
                    let queue = self.queue_for(switch, input, usize::from(output), now, out);
                    self.grant(now, switch, input, queue, usize::from(output), true, out);
                }
                None => self.try_again(switch, input, now, out),
            }
        }
    }

    /// One round; whether any grant was accepted.
    pub(super) fn islip_round(
        &mut self,
        base: u32,
        free_inputs: &mut Mask<W>,
        free_outputs: &mut Mask<W>,
        is_first: bool,
    ) -> bool {
        // Grant: each free output picks one asking input, round robin. `granted[i]` collects them.
        let mut granted_inputs = Mask::<W>::default();
        let outputs = *free_outputs;
        for output in outputs.iter() {
            let Some(winner) = self.islip_grant(base, output) else {
                free_outputs.clear(output);
                continue;
            };
            // Accept: of the outputs that grant it, an input takes the first in its own round robin.
            let turn = |o: usize, next: u16| {
                (o + Mask::<W>::CAPACITY - usize::from(next)) % Mask::<W>::CAPACITY
            };
            let next = self.ports[base + winner as u32].next_output;
            let better = !granted_inputs.has(winner)
                || turn(output, next) < turn(usize::from(self.requests.queue[winner]), next);
            if better {
                granted_inputs.set(winner);
                self.requests.queue[winner] = output as u16;
            }
        }
        for input in granted_inputs.iter() {
            let output = usize::from(self.requests.queue[input]);
            self.requests.matched[input] = Some(output as u16);
            free_inputs.clear(input);
            free_outputs.clear(output);
            if is_first {
                self.ports[base + input as u32].next_output = output as u16 + 1;
                self.ports[base + output as u32].next_input = input as u16 + 1;
            }
        }
        !granted_inputs.is_empty()
    }

    /// The input to which a free output grants itself: the first of those that ask, from its pointer on;
    /// where a packet crosses onto the link, the output's arbiter has chosen the lane before.
    #[inline]
    fn islip_grant(&mut self, base: u32, output: usize) -> Option<usize> {
        let mut asking = Mask::<W>::default();
        for input in self.requests.by_output[output].iter() {
            if self.requests.matched[input].is_none() {
                asking.set(input);
            }
        }
        if !S::HAS_OUTPUT_BUFFER {
            return self.choose_lane(base, output, asking);
        }
        let first = usize::from(self.ports[base + output as u32].next_input);
        asking.next_from(first)
    }

    /// The queue of an input that goes to an output, round robin among those that could cross.
    fn queue_for<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        input: usize,
        output: usize,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) -> usize {
        let base = self.switches[switch].base;
        let port = &self.ports[base + input as u32];
        for queue in port.ready.iter_from(usize::from(port.next_queue)) {
            let head = self.head_of(base, input, queue);
            if usize::from(head.output) == output && self.may_cross(switch, input, head, now, out) {
                return queue;
            }
        }
        unreachable!("a matched input has a queue for its output")
    }
}

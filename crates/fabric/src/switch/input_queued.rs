//! An input-queued switch: no memory at outputs, so a packet crosses when the link behind its output takes
//! it, and the output's arbiter decides over all inputs.
//!
//! Requests are (input, lane) at an output. The arbiter chooses the lane, round robin over inputs the
//! packet; which inputs and outputs are matched is iSLIP's or the separable allocator's business, as with
//! output buffers.

use netloom_arbitration::{Arbiter, Head, View};
use netloom_engine::{EventQueue, Outbox};
use netloom_units::{Tick, Vl};

use crate::event::Event;
use crate::fabric::Fabric;
use crate::flow::Flow;
use crate::mask::Mask;
use crate::plan::Allocation;
use crate::port::{InputQueue, Peer};
use crate::shape::Shape;

impl<A: Arbiter, S: Shape, const W: usize, const R: usize> Fabric<A, S, W, R> {
    /// Whether the link behind a free output takes a packet now; if not, its input waits for it.
    #[inline]
    pub(super) fn link_takes<Q: EventQueue<Event>>(
        &mut self,
        port: u32,
        input: usize,
        head: InputQueue,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) -> bool {
        let output = &self.ports[port];
        if S::NIC_IS_SINK && matches!(output.receiver, Peer::Nic(_)) {
            return true;
        }
        let (need, limits) = (u32::from(head.flits), &self.input_buffer.flits);
        let paces = &self.stages.crossbar;
        if output.credit.has(head.class, need, now, limits, || paces) {
            return true;
        }
        let when = output.credit.when(head.class, need, now, paces, limits);
        self.ports[port].waiters.set(input);
        if let Some(when) = when {
            self.wake_for_room(port, when, now, out);
        }
        false
    }

    /// All matches of one edge.
    pub(super) fn allocate_input_queued<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        woken: Mask<W>,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        let base = self.switches[switch].base;
        let mut asking = Mask::<W>::default();
        let mut wanted = Mask::<W>::default();
        for input in woken.iter() {
            let outputs = match self.allocation {
                Allocation::Separable => self.ask_once(switch, input, now, out),
                Allocation::Islip { .. } => self.ask_for_all(switch, input, now, out),
            };
            if outputs.is_empty() {
                continue;
            }
            asking.set(input);
            self.requests.by_input[input] = outputs;
            self.requests.matched[input] = None;
            for output in outputs.iter() {
                wanted.set(output);
                self.requests.by_output[output].set(input);
            }
        }
        let (mut free_inputs, mut free_outputs) = (asking, wanted);
        let rounds = match self.allocation {
            Allocation::Separable => 1,
            Allocation::Islip { iterations } => iterations,
        };
        for round in 0..rounds {
            if !self.islip_round(base, &mut free_inputs, &mut free_outputs, round == 0) {
                break;
            }
        }
        for input in asking.iter() {
            for output in self.requests.by_input[input].iter() {
                self.requests.by_output[output].clear(input);
            }
            match self.requests.matched[input] {
                Some(output) => self.cross(switch, input, usize::from(output), now, out),
                None => self.try_again(switch, input, now, out),
            }
        }
    }

    /// The packet that an arbiter and the matching have agreed on crosses.
    fn cross<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        input: usize,
        output: usize,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        let base = self.switches[switch].base;
        let port = &mut self.ports[base + output as u32];
        let grant = self.requests.grants[output].expect("a matched output has chosen");
        port.arbiter.commit(grant);
        let has_choice = u32::from(self.requests.had_choice[output]);
        port.choices += has_choice;
        self.counters.choices += u64::from(has_choice);
        let queue = self.requests.candidates[self.candidate(input, output, grant.queue)];
        self.grant(now, switch, input, usize::from(queue), output, true, out);
    }

    #[inline]
    fn candidate(&self, input: usize, output: usize, lane: u8) -> usize {
        (input * self.requests.radix + output) * self.n_vls + usize::from(lane)
    }

    /// Separable: an input asks with one queue.
    fn ask_once<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        input: usize,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) -> Mask<W> {
        let mut outputs = Mask::<W>::default();
        if let Some((queue, output)) = self.request(switch, input, now, out) {
            let base = self.switches[switch].base;
            let lane = self.head_of(base, input, queue).vl;
            outputs.set(output);
            self.requests.lanes[input * self.requests.radix + output] = 1 << lane;
            let at = self.candidate(input, output, lane);
            self.requests.candidates[at] = queue as u16;
        }
        outputs
    }

    /// iSLIP: every queue that could cross asks; of those to one output on one lane, the next one.
    fn ask_for_all<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        input: usize,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) -> Mask<W> {
        let base = self.switches[switch].base;
        let mut outputs = Mask::<W>::default();
        let port = &self.ports[base + input as u32];
        if port.input_until > now {
            return outputs;
        }
        for queue in port.ready.iter_from(usize::from(port.next_queue)) {
            let head = self.head_of(base, input, queue);
            let output = usize::from(head.output);
            let pair = input * self.requests.radix + output;
            let lane = 1u32 << head.vl;
            if outputs.has(output) && self.requests.lanes[pair] & lane != 0 {
                continue;
            }
            if !self.may_cross(switch, input, head, now, out) {
                continue;
            }
            if !outputs.has(output) {
                outputs.set(output);
                self.requests.lanes[pair] = 0;
            }
            self.requests.lanes[pair] |= lane;
            let at = self.candidate(input, output, head.vl);
            self.requests.candidates[at] = queue as u16;
        }
        outputs
    }

    /// The arbiter of an output chooses among the lanes that inputs ask with; the input is the first of
    /// that lane from the output's pointer on.
    pub(super) fn choose_lane(
        &mut self,
        base: u32,
        output: usize,
        asking: Mask<W>,
    ) -> Option<usize> {
        let first = usize::from(self.ports[base + output as u32].next_input);
        let mut eligible = 0u32;
        let mut inputs = [0u16; 32];
        for input in asking.iter_from(first) {
            let mut lanes = self.requests.lanes[input * self.requests.radix + output] & !eligible;
            eligible |= lanes;
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                inputs[lane] = input as u16;
                let queue = self.requests.candidates[self.candidate(input, output, lane as u8)];
                let head = self.head_of(base, input, usize::from(queue));
                let packet = &self.packets[head.head].packet;
                self.heads[lane] = Head {
                    born: packet.generation,
                    bytes: packet.bytes,
                    sl: packet.sl,
                    vl: Vl(lane as u8),
                };
            }
        }
        if eligible == 0 {
            return None;
        }
        let port = &mut self.ports[base + output as u32];
        let grant = port.arbiter.choose(&View {
            eligible,
            heads: &self.heads,
        });
        self.requests.grants[output] = grant;
        self.requests.had_choice[output] = eligible & (eligible - 1) != 0;
        grant.map(|grant| usize::from(inputs[usize::from(grant.queue) % 32]))
    }
}

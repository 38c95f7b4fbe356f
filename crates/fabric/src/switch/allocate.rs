//! Which inputs may cross to which outputs, decided once per clock edge.

use netloom_arbitration::Arbiter;
use netloom_engine::{EventQueue, Outbox};
use netloom_units::Tick;

use crate::event::Event;
use crate::fabric::Fabric;
use crate::mask::Mask;
use crate::plan::Allocation;
use crate::port::InputQueue;

impl<A: Arbiter, const W: usize, const R: usize> Fabric<A, W, R> {
    /// All decisions of a switch on one edge. Allocation and output scheduling do not see each other's
    /// effects, which come at least one cycle later.
    #[inline]
    pub(crate) fn decide_switch<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        let state = &mut self.switches[switch];
        state.is_marked = false;
        let woken = std::mem::take(&mut state.woken);
        let sending = std::mem::take(&mut state.sending);
        if !woken.is_empty() {
            match self.allocation {
                Allocation::Separable => self.allocate_separable(switch, woken, now, out),
                Allocation::Islip { iterations } => {
                    self.allocate_islip(switch, woken, iterations, now, out);
                }
            }
        }
        let base = self.switches[switch].base;
        for output in sending.iter() {
            self.schedule_link(now, base + output as u32, out);
        }
    }

    /// Each input asks with one queue, round robin; each output takes one input, round robin. Pointers
    /// move past the winner, and only then; losers try again on the next edge.
    #[inline]
    fn allocate_separable<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        woken: Mask<W>,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        let base = self.switches[switch].base;
        if let Some(input) = woken.only() {
            if let Some((queue, output)) = self.request(base, input, now, out) {
                self.grant(now, switch, input, queue, output, out);
            }
            return;
        }
        let mut wanted = Mask::<W>::default();
        for input in woken.iter() {
            if let Some((queue, output)) = self.request(base, input, now, out) {
                wanted.set(output);
                self.requests.by_output[output].set(input);
                self.requests.queue[input] = queue as u16;
            }
        }
        for output in wanted.iter() {
            let mut inputs = std::mem::take(&mut self.requests.by_output[output]);
            let first = usize::from(self.ports[base + output as u32].next_input);
            let winner = inputs
                .next_from(first)
                .expect("an output is wanted by somebody");
            inputs.clear(winner);
            for loser in inputs.iter() {
                self.lose(switch, loser, output, now, out);
            }
            let queue = usize::from(self.requests.queue[winner]);
            self.grant(now, switch, winner, queue, output, out);
        }
    }

    /// An input that lost looks again on the next edge. With a single queue it would only find the
    /// output busy, so it waits for that instead.
    #[inline]
    fn lose<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        input: usize,
        output: usize,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        let base = self.switches[switch].base;
        if self.ports[base + input as u32].ready.only().is_some() {
            self.ports[base + output as u32].waiters.set(input);
        } else {
            self.try_again(switch, input, now, out);
        }
    }

    /// An input looks again on the next edge.
    #[inline]
    pub(super) fn try_again<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        input: usize,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        let state = &mut self.switches[switch];
        state.losers.set(input);
        if !state.again {
            state.again = true;
            out.at(now + self.stages.clock.period, Event::Again { switch });
        }
    }

    /// The queue with which an input asks, and for which output. Every queue that is passed over
    /// registers to be woken by what it waits for.
    #[inline(always)]
    fn request<Q: EventQueue<Event>>(
        &mut self,
        base: u32,
        input: usize,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) -> Option<(usize, usize)> {
        let port = &self.ports[base + input as u32];
        if port.input_until > now {
            return None;
        }
        if let Some(queue) = port.ready.only() {
            let head =
                self.input_queues[(base + input as u32) * self.n_queues as u32 + queue as u32];
            return self
                .may_cross(base, input, head, now, out)
                .then_some((queue, usize::from(head.output)));
        }
        for queue in port.ready.iter_from(usize::from(port.next_queue)) {
            let head =
                self.input_queues[(base + input as u32) * self.n_queues as u32 + queue as u32];
            if self.may_cross(base, input, head, now, out) {
                return Some((queue, usize::from(head.output)));
            }
        }
        None
    }

    /// Whether the packet at the head of a queue could be granted now; if not, its input is registered
    /// with the output that it waits for.
    #[inline(always)]
    pub(super) fn may_cross<Q: EventQueue<Event>>(
        &mut self,
        base: u32,
        input: usize,
        head: InputQueue,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) -> bool {
        let port = base + u32::from(head.output);
        let output = &mut self.ports[port];
        if output.output_until > now {
            output.waiters.set(input);
            if !output.output_watched {
                output.output_watched = true;
                out.at(output.output_until, Event::ReleaseOutput { port });
            }
            return false;
        }
        // Entering a guarded ring needs two free slots, moving on in it one: a bubble always remains.
        let ring = output.ring_out;
        let need = match ring {
            0 => u32::from(head.flits),
            _ if ring == self.ports[base + input as u32].ring_in => 1,
            _ => 2,
        };
        let output = &mut self.ports[port];
        let limits = self.output_buffer.of(ring);
        let pace = || self.wires[u32::from(output.wire_out)].drain;
        if output.space.has(head.vl, need, now, limits, pace) {
            return true;
        }
        let pace = pace();
        output.waiters.set(input);
        match output.space.when(head.vl, need, now, pace, limits) {
            Some(when) => self.wake_for_room(port, when, now, out),
            None => {
                output.short |= 1 << head.vl;
                output.short_need = output.short_need.min(need);
            }
        }
        false
    }

    /// Waiters for room in an output are woken at a time known to bring enough for one of them.
    #[inline]
    pub(super) fn wake_for_room<Q: EventQueue<Event>>(
        &mut self,
        port: u32,
        when: Tick,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        let when = self.stages.clock.edge_at_or_after(when.max(now + 1));
        let output = &mut self.ports[port];
        if when < output.room_wake {
            output.room_wake = when;
            out.at(when, Event::Room { port });
        }
    }
}

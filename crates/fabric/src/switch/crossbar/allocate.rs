//! Allocation of crossbar inputs to outputs, once per clock edge.

use netloom_engine::Outbox;
use netloom_units::Tick;

use crate::fabric::Fabric;
use crate::link::flow::Flow;
use crate::plan::Allocation;
use crate::switch::crossbar::Crossbars;
use crate::switch::crossbar::event::Event;
use crate::switch::crossbar::mask::{Ports, Set};
use crate::switch::crossbar::port::InputQueue;
use crate::switch::crossbar::shape::Shape;

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Runs all decisions of a switch on one edge. Allocation and output scheduling do not see each
    /// other's effects, which come at least one cycle later.
    #[inline]
    pub(crate) fn decide_switch(&mut self, switch: u32, now: Tick, out: &mut Outbox<Self>) {
        if !S::IS_PLAIN && self.switches.adaptive_view.is_some() {
            // The switch is still marked, so inputs woken here are handled below.
            self.route_headers(now, switch, out);
        }
        let state = &mut self.switches.states[switch];
        state.is_marked = false;
        let woken = std::mem::take(&mut state.woken);
        let sending = std::mem::take(&mut state.sending);
        if !woken.is_empty() {
            match self.switches.allocation {
                Allocation::Separable if S::HAS_OUTPUT_BUFFER => {
                    self.allocate_separable(switch, woken, now, out);
                }
                // If the output's arbiter takes part: one round, in which an input requests with
                // one queue.
                Allocation::Separable => self.allocate_islip(switch, woken, 1, now, out),
                Allocation::Islip { iterations } => {
                    self.allocate_islip(switch, woken, iterations, now, out);
                }
            }
        }
        let base = self.switches.states[switch].base;
        for output in sending.iter() {
            if S::IS_HIERARCHICAL {
                self.take_in_arrivals(now, base + output as u32, out);
            }
            self.schedule_link(now, base + output as u32, out);
        }
    }

    /// Allocates in one round: each input requests with one queue and each output grants one input,
    /// both round robin. Pointers move past the winner only; losers try again on the next edge.
    #[inline]
    fn allocate_separable(
        &mut self,
        switch: u32,
        woken: S::Ports,
        now: Tick,
        out: &mut Outbox<Self>,
    ) {
        let base = self.switches.states[switch].base;
        if let Some(input) = woken.only() {
            if let Some((queue, output)) = self.request(switch, input, now, out) {
                self.grant(now, switch, input, queue, output, true, out);
            }
            return;
        }
        let mut wanted = S::Ports::default();
        for input in woken.iter() {
            if let Some((queue, output)) = self.request(switch, input, now, out) {
                wanted.set(output);
                self.switches.requests.by_output[output].set(input);
                self.switches.requests.queue[input] = queue as u16;
            }
        }
        for output in wanted.iter() {
            let mut inputs = std::mem::take(&mut self.switches.requests.by_output[output]);
            let first = usize::from(self.switches.ports[base + output as u32].next_input);
            let winner = inputs
                .next_from(first)
                .expect("a requested output has an input");
            let queue = usize::from(self.switches.requests.queue[winner]);
            let mut may_fuse = true;
            if S::IS_HIERARCHICAL {
                let head = self.head_of(base, winner, queue);
                if !self.still_fits(switch, winner, head, now) {
                    // Its space went to an earlier grant of this edge.
                    for input in inputs.iter() {
                        self.try_again(switch, input, now, out);
                    }
                    continue;
                }
                let state = &self.switches.states[switch];
                let writer = usize::from(state.n_ports + state.n_central) + output;
                may_fuse = output >= usize::from(state.n_ports) || !wanted.has(writer);
            }
            inputs.clear(winner);
            for loser in inputs.iter() {
                self.lose(switch, loser, output, now, out);
            }
            self.grant(now, switch, winner, queue, output, may_fuse, out);
        }
    }

    /// Retries an input that lost on the next edge. With a single queue it would only find the
    /// output busy, so it waits for the output instead.
    #[inline]
    fn lose(
        &mut self,
        switch: u32,
        input: usize,
        output: usize,
        now: Tick,
        out: &mut Outbox<Self>,
    ) {
        let base = self.switches.states[switch].base;
        if self.switches.ports[base + input as u32]
            .ready
            .only()
            .is_some()
        {
            self.switches.ports[base + output as u32].waiters.set(input);
        } else {
            self.try_again(switch, input, now, out);
        }
    }

    /// Retries an input on the next edge.
    #[inline]
    pub(super) fn try_again(
        &mut self,
        switch: u32,
        input: usize,
        now: Tick,
        out: &mut Outbox<Self>,
    ) {
        let state = &mut self.switches.states[switch];
        state.losers.set(input);
        if !state.again {
            state.again = true;
            out.at(
                now + self.switches.stages.clock.period,
                Event::Again { switch },
            );
        }
    }

    /// Returns the queue with which an input requests, and the requested output. Every queue that
    /// is skipped registers its wake-up.
    #[inline(always)]
    pub(super) fn request(
        &mut self,
        switch: u32,
        input: usize,
        now: Tick,
        out: &mut Outbox<Self>,
    ) -> Option<(usize, usize)> {
        let base = self.switches.states[switch].base;
        let port = &self.switches.ports[base + input as u32];
        if port.input_until > now {
            return None;
        }
        if let Some(queue) = port.ready.only() {
            let head = self.head_of(base, input, queue);
            return self
                .may_cross(switch, input, head, now, out)
                .then_some((queue, usize::from(head.output)));
        }
        let mut turn = port.ready.turn(usize::from(port.next_queue));
        while let Some(queue) = self.switches.ports[base + input as u32]
            .ready
            .next_in(&mut turn)
        {
            let head = self.head_of(base, input, queue);
            if self.may_cross(switch, input, head, now, out) {
                return Some((queue, usize::from(head.output)));
            }
        }
        None
    }

    /// Returns the head of a queue.
    #[inline(always)]
    pub(super) fn head_of(&self, base: u32, input: usize, queue: usize) -> InputQueue {
        self.switches.input_queues
            [(base + input as u32) * self.switches.n_queues as u32 + queue as u32]
    }

    /// Whether the packet at the head of a queue could be granted now. If not, its input is
    /// registered with the output that it waits for.
    #[inline(always)]
    pub(super) fn may_cross(
        &mut self,
        switch: u32,
        input: usize,
        head: InputQueue,
        now: Tick,
        out: &mut Outbox<Self>,
    ) -> bool {
        let base = self.switches.states[switch].base;
        let port = base + u32::from(head.output);
        let output = &mut self.switches.ports[port];
        if output.output_until > now {
            output.waiters.set(input);
            if !output.output_watched {
                output.output_watched = true;
                out.at(output.output_until, Event::ReleaseOutput { port });
            }
            return false;
        }
        if !S::HAS_OUTPUT_BUFFER {
            return self.link_takes(port, input, head, now, out);
        }
        if S::IS_HIERARCHICAL {
            return self.has_room_in_hierarchy(switch, input, head, now, out);
        }
        // Entering a guarded ring needs two free slots, continuing in it one, so that a bubble
        // always remains.
        let need = match S::ring(output.ring_out) {
            0 => u32::from(head.flits),
            ring => self.slots_for(base + input as u32, ring),
        };
        self.has_room(port, input, head.vl, need, now, out)
    }

    /// Returns the slots that a packet from an input needs at a guarded ring: two to enter, one to
    /// continue.
    #[inline(always)]
    pub(super) fn slots_for(&self, input: u32, ring: u8) -> u32 {
        if ring == self.switches.ports[input].ring_in {
            1
        } else {
            2
        }
    }

    /// Whether the buffer of a record has space for a lane. If not, an input waits for it.
    #[inline(always)]
    pub(super) fn has_room(
        &mut self,
        record: u32,
        input: usize,
        vl: u8,
        need: u32,
        now: Tick,
        out: &mut Outbox<Self>,
    ) -> bool {
        let output = &self.switches.ports[record];
        let limits = self.limits_of(record);
        let paces = || &self.switches.wires[u32::from(output.wire_out)].drain;
        if output.space.has(u16::from(vl), need, now, limits, paces) {
            return true;
        }
        let when = output.space.when(u16::from(vl), need, now, paces(), limits);
        let output = &mut self.switches.ports[record];
        output.waiters.set(input);
        match when {
            Some(when) => self.wake_for_room(record, when, now, out),
            None => {
                output.short |= 1 << vl;
                output.short_need = output.short_need.min(need);
            }
        }
        false
    }

    /// Wakes the inputs that wait for space in an output when there is enough for one of them.
    #[inline]
    pub(super) fn wake_for_room(
        &mut self,
        port: u32,
        when: Tick,
        now: Tick,
        out: &mut Outbox<Self>,
    ) {
        let when = self.switches.stages.edge::<S>(when.max(now + 1));
        let output = &mut self.switches.ports[port];
        if when < output.room_wake {
            output.room_wake = when;
            out.at(when, Event::Room { port });
        }
    }
}

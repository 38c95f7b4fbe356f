//! Input-queued switches: outputs have no memory, so a packet crosses when the link of its output
//! accepts it, and the output's arbiter decides over all inputs.
//!
//! Requests are (input, lane) at an output. The arbiter chooses the lane, and round robin over
//! inputs the packet; inputs and outputs are matched in `islip.rs`. The separable allocator is one
//! round of it in which an input requests with a single queue.

use netloom_arbitration::{Arbiter, View};
use netloom_engine::Outbox;
use netloom_units::Tick;

use crate::fabric::Fabric;
use crate::link::flow::Flow;
use crate::switch::crossbar::mask::Set;
use crate::switch::crossbar::port::InputQueue;
use crate::switch::crossbar::shape::Shape;
use crate::switch::crossbar::{Crossbars, head};

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Whether the link of a free output accepts a packet now. If not, its input waits for it.
    #[inline]
    pub(super) fn link_takes(
        &mut self,
        port: u32,
        input: usize,
        head: InputQueue,
        now: Tick,
        out: &mut Outbox<Self>,
    ) -> bool {
        let output = &self.switches.ports[port];
        if S::is_sink(output.receiver) {
            return true;
        }
        let (need, limits) = (u32::from(head.flits), &self.switches.input_buffer.flits);
        let paces = output.credit_paces(&self.switches.wires);
        if output.credit.has(head.class, need, now, limits, || paces) {
            return true;
        }
        let when = output.credit.when(head.class, need, now, paces, limits);
        self.switches.ports[port].waiters.set(input);
        if let Some(when) = when {
            self.wake_for_room(port, when, now, out);
        }
        false
    }

    /// Lets the arbiter of an output choose among the requested lanes. The input is the first of
    /// that lane from the output's pointer on.
    pub(super) fn choose_lane(
        &mut self,
        base: u32,
        output: usize,
        asking: S::Ports,
    ) -> Option<usize> {
        let first = usize::from(self.switches.ports[base + output as u32].next_input);
        let mut eligible = 0u32;
        let mut inputs = [0u16; 32];
        let mut turn = asking.turn(first);
        while let Some(input) = asking.next_in(&mut turn) {
            let mut lanes = self.switches.requests.lanes
                [input * self.switches.requests.radix + output]
                & !eligible;
            eligible |= lanes;
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                inputs[lane] = input as u16;
                let queue =
                    self.switches.requests.candidates[self.candidate(input, output, lane as u8)];
                let first = self.head_of(base, input, usize::from(queue));
                self.switches.heads[lane] =
                    head(&self.switches.packets[first.head].packet, lane as u8);
            }
        }
        if eligible == 0 {
            return None;
        }
        let port = &mut self.switches.ports[base + output as u32];
        let grant = port.arbiter.choose(&View {
            eligible,
            heads: &self.switches.heads,
        });
        self.switches.requests.grants[output] = grant;
        self.switches.requests.had_choice[output] = eligible & (eligible - 1) != 0;
        grant.map(|grant| usize::from(inputs[usize::from(grant.queue) % 32]))
    }

    /// Lets the arbiter choose among the lanes of one input and sends the packet; returns its lane.
    #[inline(always)]
    pub(super) fn send_lane(&mut self, base: u32, input: usize, output: usize) -> Option<u8> {
        let requests = &self.switches.requests;
        let lanes = requests.lanes[input * requests.radix + output];
        if lanes.is_power_of_two() {
            let lane = lanes.trailing_zeros() as u8;
            let queue = requests.candidates[self.candidate(input, output, lane)];
            let first = self.head_of(base, input, usize::from(queue)).head;
            let head = head(&self.switches.packets[first].packet, lane);
            let port = &mut self.switches.ports[base + output as u32];
            let is_sent = port
                .arbiter
                .send_alone(lane, &head, &mut self.switches.heads);
            return is_sent.then_some(lane);
        }
        let mut asking = S::Ports::default();
        asking.set(input);
        self.choose_lane(base, output, asking)?;
        Some(self.commit_lane(base, output))
    }

    /// Commits the packet on which the arbiter of an output and the matching agree; returns its
    /// lane.
    pub(super) fn commit_lane(&mut self, base: u32, output: usize) -> u8 {
        let grant = self.switches.requests.grants[output].expect("a matched output has chosen");
        let port = &mut self.switches.ports[base + output as u32];
        port.arbiter.commit(grant);
        let has_choice = u32::from(self.switches.requests.had_choice[output]);
        port.choices += has_choice;
        self.shared.counters.choices += u64::from(has_choice);
        grant.queue
    }
}

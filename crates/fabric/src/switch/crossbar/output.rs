//! Output side: the scheduler chooses a lane, the packet leaves on the link.

use netloom_arbitration::{Arbiter, View};
use netloom_engine::Outbox;
use netloom_units::{Clock, Port, Tick, Vl};

use crate::fabric::Fabric;
use crate::link::flow::Flow;
use crate::link::ramp::Ramp;
use crate::parcel::Flags;
use crate::switch::crossbar::event::Event;
use crate::switch::crossbar::mask::Set;
use crate::switch::crossbar::shape::Shape;
use crate::switch::crossbar::transfer::Credits;
use crate::switch::crossbar::wire::ramp;
use crate::switch::crossbar::{Crossbars, head};
use crate::switch::{NIL, PeerRecord};
use crate::trace::Stage;

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Handles a packet in an output buffer that can be scheduled.
    pub(crate) fn output_arrives(
        &mut self,
        now: Tick,
        port: u32,
        id: u32,
        vl: u8,
        flits: u16,
        out: &mut Outbox<Self>,
    ) {
        if S::IS_HIERARCHICAL {
            // Two writers may bring a packet in the same tick; the decision orders them.
            let (switch, number) = (
                self.switches.ports[port].switch,
                self.switches.ports[port].number,
            );
            let state = &self.switches.states[switch];
            let (writer, output) = match number.checked_sub(state.n_ports + state.n_central) {
                Some(output) => (1, output),
                None => (0, number),
            };
            self.switches.arriving[state.base + u32::from(output)][writer] = id;
            self.look_at_output(state.base + u32::from(output), out);
            return;
        }
        self.take_in(port, id, vl, flits);
        self.link_wakes(now, port, out);
    }

    /// Adds the packets that writers have brought in this tick to their queues, the local one's
    /// first.
    pub(super) fn take_in_arrivals(&mut self, now: Tick, port: u32, out: &mut Outbox<Self>) {
        let arrived = std::mem::replace(&mut self.switches.arriving[port], [NIL; 2]);
        for id in arrived.into_iter().filter(|&id| id != NIL) {
            let stored = &self.switches.packets[id];
            let (vl, flits) = (stored.vl, stored.packet.flits);
            self.take_in(port, id, vl, flits);
        }
        if self.switches.ports[port].link_until.0 >= now.0 + self.switches.stages.ahead {
            self.watch_link(now, port, out);
        }
    }

    /// Adds a packet to the queue of its lane at an output.
    #[inline(always)]
    fn take_in(&mut self, port: u32, id: u32, vl: u8, flits: u16) {
        let head = head(&self.switches.packets[id].packet, vl);
        let output = &mut self.switches.ports[port];
        if !self.switches.packets[id].flags.has(Flags::ANNOUNCED) {
            output.arbiter.arrived(vl, &head);
        }
        output.crossing -= 1;
        let queue =
            &mut self.switches.output_queues[port * self.switches.n_vls as u32 + u32::from(vl)];
        if queue.head == NIL {
            queue.head = id;
            queue.tail = id;
            queue.flits = flits;
            output.present |= 1 << vl;
            self.look_at_first(port, vl);
        } else {
            let last = std::mem::replace(&mut queue.tail, id);
            self.switches.packets[last].next = id;
        }
    }

    /// Updates the class of the first packet of a queue, if it is not the lane.
    #[inline(always)]
    fn look_at_first(&mut self, port: u32, vl: u8) {
        if S::Flow::MAY_LOOK_AHEAD {
            let at = port * self.switches.n_vls as u32 + u32::from(vl);
            let first = self.switches.output_queues[at].head;
            let class = self.class_ahead(port, vl, &self.switches.packets[first].packet);
            self.switches.output_queues[at].class = class;
        }
    }

    /// Checks an output with packets on this edge if its link is available, otherwise when it will
    /// be.
    #[inline]
    pub(crate) fn link_wakes(&mut self, now: Tick, port: u32, out: &mut Outbox<Self>) {
        let output = &mut self.switches.ports[port];
        if output.link_wake <= now {
            output.link_wake = Tick::NEVER;
        }
        if output.present == 0 {
            return;
        }
        if output.link_until.0 < now.0 + self.switches.stages.ahead {
            self.look_at_output(port, out);
        } else {
            self.watch_link(now, port, out);
        }
    }

    /// Marks an output to be checked on this edge.
    #[inline]
    fn look_at_output(&mut self, port: u32, out: &mut Outbox<Self>) {
        let output = &self.switches.ports[port];
        let (switch, number) = (output.switch, output.number);
        self.switches.states[switch]
            .sending
            .set(usize::from(number));
        self.mark_switch(switch, out);
    }

    /// Schedules a check of the output on the first edge on which its link is available.
    #[inline]
    fn watch_link(&mut self, now: Tick, port: u32, out: &mut Outbox<Self>) {
        let output = &mut self.switches.ports[port];
        let free = Tick(
            output
                .link_until
                .0
                .saturating_sub(self.switches.stages.output),
        );
        // A scheduler takes one packet per edge, even if its link could take more.
        let when = self
            .switches
            .stages
            .clock
            .edge_at_or_before(free)
            .max(now + self.switches.stages.clock.period);
        if when < output.link_wake {
            output.link_wake = when;
            out.at(when, Event::Link { port });
        }
    }

    /// Handles credits that return over a link, the first of them at `from`.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    pub(crate) fn credits_arrive(
        &mut self,
        now: Tick,
        port: u32,
        class: u16,
        units: u16,
        pace: u8,
        from: Tick,
        out: &mut Outbox<Self>,
    ) {
        let output = &mut self.switches.ports[port];
        let ramp = {
            let paces = || output.credit_paces(&self.switches.wires);
            ramp::<S>(from, units, class, pace, paces)
        };
        if !matches!(output.receiver, PeerRecord::Remote(..)) {
            output.credits_coming -= 1;
        }
        let held = output.credit.release(ramp, now);
        assert!(held, "credits of a link come back one packet after another");
        if !S::HAS_OUTPUT_BUFFER {
            self.wake_waiters(port, out);
            return;
        }
        if output.present != 0 && output.link_until.0 < now.0 + self.switches.stages.ahead {
            self.look_at_output(port, out);
        }
    }

    /// Schedules the link of an output: the arbiter takes one of the lanes whose first packet fits
    /// into the buffer at the other end.
    #[inline]
    pub(super) fn schedule_link(&mut self, now: Tick, port: u32, out: &mut Outbox<Self>) {
        let output = &mut self.switches.ports[port];
        if output.present == 0 || output.link_until.0 >= now.0 + self.switches.stages.ahead {
            return;
        }
        let ring = S::ring(output.ring_out);
        let paces = output.credit_paces(&self.switches.wires);
        let is_sink = S::is_sink(output.receiver);
        let limits = self.switches.input_buffer.of(ring);
        let first = port * self.switches.n_vls as u32;
        let mut eligible = 0u32;
        let mut wake = Tick::NEVER;
        let mut lanes = output.present;
        while lanes != 0 {
            let vl = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let queue = &self.switches.output_queues[first + vl as u32];
            let need = if ring == 0 { u32::from(queue.flits) } else { 1 };
            let class = if S::Flow::MAY_LOOK_AHEAD {
                queue.class
            } else {
                vl as u16
            };
            if is_sink || output.credit.has(class, need, now, limits, || paces) {
                self.switches.heads[vl] = head(&self.switches.packets[queue.head].packet, vl as u8);
                eligible |= 1 << vl;
            } else if let Some(when) = output.credit.when(class, need, now, paces, limits) {
                wake = wake.min(when);
            }
        }
        let chosen = match eligible {
            0 => None,
            _ => output.arbiter.send(&View {
                eligible,
                heads: &self.switches.heads,
            }),
        };
        let Some(vl) = chosen else {
            if wake != Tick::NEVER {
                let when = self.switches.stages.edge::<S>(wake.max(now + 1));
                if when < output.link_wake {
                    output.link_wake = when;
                    out.at(when, Event::Link { port });
                }
            }
            return;
        };
        let has_choice = u32::from(eligible & (eligible - 1) != 0);
        output.choices += has_choice;
        self.shared.counters.choices += u64::from(has_choice);
        let queue = &mut self.switches.output_queues[first + u32::from(vl)];
        let (id, flits) = (queue.head, queue.flits);
        let class = if S::Flow::MAY_LOOK_AHEAD {
            queue.class
        } else {
            u16::from(vl)
        };
        let next = std::mem::replace(&mut self.switches.packets[id].next, NIL);
        queue.head = next;
        if next == NIL {
            queue.tail = NIL;
            output.present &= !(1 << vl);
        } else {
            queue.flits = self.switches.packets[next].packet.flits;
            self.look_at_first(port, vl);
        }
        let output = &self.switches.ports[port];
        let start = output.link_until.max(now + self.switches.stages.output);
        let more = output.present != 0;
        self.transmit(now, port, id, vl, class, flits, start, out);
        if more {
            self.watch_link(now, port, out);
        }
    }

    /// Sends a packet on a link from `start` on; all consequences are computed now.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub(super) fn transmit(
        &mut self,
        now: Tick,
        port: u32,
        id: u32,
        vl: u8,
        class: u16,
        flits: u16,
        start: Tick,
        out: &mut Outbox<Self>,
    ) {
        let output = &mut self.switches.ports[port];
        let wire = &self.switches.wires[u32::from(output.wire_out)];
        let packet = &mut self.switches.packets[id].packet;
        let end = start + wire.on_wire::<S>(flits);
        output.link_until = end;

        // Space at the other end is taken, space in the output buffer is freed.
        let (charge, freed) = if S::ring(output.ring_out) == 0 {
            (flits, start + wire.flit::<S>())
        } else {
            (1, end)
        };
        if !S::is_sink(output.receiver) {
            output.credit.take(class, charge);
        }
        output.flits += u64::from(flits);
        output.packets += 1;
        if S::HAS_OUTPUT_BUFFER {
            let ramp = Ramp {
                end,
                count: charge,
                class: u16::from(vl),
                phase: 0,
                pace: 0,
            };
            let residence = wire.output_residence::<S>(flits, packet.arrival, start);
            output.output_residence = output.output_residence.wrapping_add(residence);
            if !output.free(ramp, now) {
                Self::drain_later(self.switches.stages.clock, port, ramp, freed, out);
            }
        }
        packet.vl = vl;
        packet.arrival = start + wire.head;
        let is_counted = matches!(
            output.receiver,
            PeerRecord::Port(_) | PeerRecord::Remote(..)
        );
        if S::Flow::IS_PAUSE && is_counted {
            let clock = self.switches.stages.clock;
            let known = start + wire.head + self.switches.stages.pause + wire.delay;
            let when = clock.edge_at_or_after(known);
            out.at(when, Event::Counted { vl, flits, port });
        }
        let destination = packet.destination.0;
        match output.receiver {
            PeerRecord::Port(next) => {
                let when = wire.allocatable::<S>(
                    start,
                    flits,
                    &self.switches.stages,
                    &mut output.last_header,
                );
                out.at(
                    when,
                    Event::Head {
                        vl,
                        flits,
                        port: next,
                        packet: id,
                        destination,
                    },
                );
            }
            PeerRecord::Nic(nic) => {
                out.at(end + wire.delay, Event::Deliver { nic, packet: id });
                if !S::NIC_IS_SINK {
                    // The NIC takes flits as they arrive; their credits return.
                    let taken = self.switches.stages.nic_credit_cycles * wire.flit::<S>();
                    let credits = Credits {
                        class,
                        units: flits,
                        pace: 0,
                        start: start + wire.head + taken + wire.delay,
                    };
                    let (wires, stages) = (&self.switches.wires, &self.switches.stages);
                    Self::credits_for_port(now, port, output, credits, wires, stages, out);
                }
            }
            PeerRecord::Remote(partition, next) => {
                let when = wire.allocatable::<S>(
                    start,
                    flits,
                    &self.switches.stages,
                    &mut output.last_header,
                );
                let event = Event::Head {
                    vl,
                    flits,
                    port: next,
                    packet: NIL,
                    destination,
                };
                self.shared.counters.emigrated += 1;
                let parcel = self.switches.packets[id].parcel();
                out.send(partition, when, event, parcel);
            }
            // tidy: allow the name of a variant
            PeerRecord::Nobody => unreachable!("routing never leads to an unused port"),
        }
        let (short, is_remote) = (
            output.short,
            matches!(output.receiver, PeerRecord::Remote(..)),
        );
        if self.is_watching() {
            let packet = self.switches.packets[id].packet;
            let (switch, number) = (self.switch_id(port), Port(self.switches.ports[port].number));
            self.shared.note(
                &packet,
                start,
                Stage::Sent {
                    switch,
                    output: number,
                    vl: Vl(vl),
                },
            );
        }
        if is_remote {
            self.switches.packets.remove(id);
        }
        if S::HAS_OUTPUT_BUFFER && short != 0 {
            self.promise_room(now, port, short, out);
        }
    }

    /// Schedules an event that frees space from `freed` on.
    #[cold]
    pub(super) fn drain_later(
        clock: Clock,
        port: u32,
        ramp: Ramp,
        freed: Tick,
        out: &mut Outbox<Self>,
    ) {
        let when = clock.edge_at_or_after(freed);
        let lag = (when - freed) as u32;
        out.at(
            when,
            Event::Drain {
                vl: ramp.class as u8,
                units: ramp.count,
                pace: ramp.pace,
                phase: ramp.phase,
                port,
                lag,
            },
        );
    }

    /// Wakes inputs that wait for space when it comes.
    #[cold]
    pub(super) fn promise_room(
        &mut self,
        now: Tick,
        port: u32,
        short: u32,
        out: &mut Outbox<Self>,
    ) {
        let output = &self.switches.ports[port];
        let paces = &self.switches.wires[u32::from(output.wire_out)].drain;
        let (need, limits) = (output.short_need, self.limits_of(port));
        let mut lanes = short;
        let mut wake = None::<Tick>;
        while lanes != 0 {
            let vl = lanes.trailing_zeros() as u8;
            lanes &= lanes - 1;
            if let Some(when) = output.space.when(u16::from(vl), need, now, paces, limits) {
                wake = Some(wake.map_or(when, |w| w.min(when)));
            }
        }
        if let Some(when) = wake {
            self.wake_for_room(port, when, now, out);
        }
    }
}

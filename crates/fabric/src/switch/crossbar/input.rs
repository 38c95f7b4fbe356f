//! Input side: headers join queues, inputs are woken.

use netloom_engine::Outbox;
use netloom_routing::{Lookup, Occasion};
use netloom_units::{NicId, Port, Tick};

use crate::fabric::Fabric;
use crate::link::flow::Flow;
use crate::link::ramp::Ramp;
use crate::parcel::Flags;
use crate::switch::NIL;
use crate::switch::crossbar::Crossbars;
use crate::switch::crossbar::event::Event;
use crate::switch::crossbar::mask::{Ports, Set};
use crate::switch::crossbar::shape::Shape;

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Handles a header that has passed the input and routing stages.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    pub(crate) fn header_arrives(
        &mut self,
        now: Tick,
        port: u32,
        id: u32,
        vl: u8,
        flits: u16,
        destination: NicId,
        out: &mut Outbox<Self>,
    ) {
        if S::MAY_MARK
            && let Some(marks) = &mut self.switches.marks
        {
            marks.enter(port, flits);
        }
        if !S::IS_PLAIN && self.switches.adaptive_view.is_some() {
            self.await_routing(port, id, out);
            return;
        }
        let input = &self.switches.ports[port];
        let (switch, number) = (input.switch, Port(input.number));
        let at = self.switches.states[switch].id;
        let lane = self.switches.routing_lane(vl);
        let stored = &mut self.switches.packets[id];
        let packet = &mut stored.packet;
        let hop = self.shared.forwarding.route(&Lookup {
            at,
            from: number,
            lane,
            destination,
            occasion: Occasion {
                source: packet.source,
                sequence: packet.sequence,
                hop: packet.hops,
            },
        });
        packet.hops = packet.hops.wrapping_add(1);
        let channels = &self.shared.channels;
        stored.vl = if S::IS_PLAIN {
            channels.everywhere(packet.label.sc())
        } else {
            let level = channels.pass(at, number, hop.port, &mut packet.label);
            level + hop.lane * self.switches.lanes_per_level
        };
        stored.output = hop.port.0;
        self.header_routed(now, port, id, vl, flits, out);
    }

    /// Adds a packet with known output and lane to its queue.
    #[inline(always)]
    pub(super) fn header_routed(
        &mut self,
        now: Tick,
        port: u32,
        id: u32,
        vl: u8,
        flits: u16,
        out: &mut Outbox<Self>,
    ) {
        let stored = &mut self.switches.packets[id];
        stored.next = NIL;
        stored.flags.set(Flags::ANNOUNCED, false);
        let (output, out_vl, destination) = (stored.output, stored.vl, stored.packet.destination);
        if self.switches.is_large {
            self.ask_for_crossing(port, output);
        }
        if self.is_watching() {
            let packet = self.switches.packets[id].packet;
            let input = Port(self.switches.ports[port].number);
            let exit = (Port(output), out_vl);
            self.note_header(now, &packet, (self.switch_id(port), input), exit);
        }
        if S::IS_HIERARCHICAL {
            let input = &self.switches.ports[port];
            let is_central = self.crossbar_output(input.switch, input.number, output) != output;
            let (received, wire) = (
                self.switches.packets[id].packet.arrival,
                u32::from(input.wire),
            );
            let when =
                self.switches.wires[wire].fed(received, flits, is_central, &self.switches.stages);
            if when > now {
                out.at(when, Event::Join { port, packet: id });
                return;
            }
        }
        let q = self.switches.queue(vl, output, destination);
        let port = self.asking(port, vl);
        self.join(now, port, id, q, output, out_vl, flits, out);
    }

    /// Adds a packet that had to wait for its feed, or that has crossed to the centre, to its
    /// queue.
    pub(crate) fn packet_joins(&mut self, now: Tick, port: u32, id: u32, out: &mut Outbox<Self>) {
        let input = &self.switches.ports[port];
        let stored = &self.switches.packets[id];
        let (output, vl, flits) = (stored.output, stored.vl, stored.packet.flits);
        let lane = if input.number >= self.switches.states[input.switch].n_ports {
            vl
        } else {
            stored.packet.vl
        };
        let q = self.switches.queue(lane, output, stored.packet.destination);
        let port = self.asking(port, lane);
        self.join(now, port, id, q, output, vl, flits, out);
    }

    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn join(
        &mut self,
        now: Tick,
        port: u32,
        id: u32,
        q: usize,
        output: u16,
        vl: u8,
        flits: u16,
        out: &mut Outbox<Self>,
    ) {
        let input = &self.switches.ports[port];
        let (switch, number) = (input.switch, input.number);
        let queue =
            &mut self.switches.input_queues[port * self.switches.n_queues as u32 + q as u32];
        if queue.head != NIL {
            let last = std::mem::replace(&mut queue.tail, id);
            self.switches.packets[last].next = id;
            return;
        }
        let class = if S::HAS_OUTPUT_BUFFER {
            0
        } else {
            let base = self.switches.states[switch].base;
            self.class_ahead(
                base + u32::from(output),
                vl,
                &self.switches.packets[id].packet,
            )
        };
        let crossing = self.crossbar_output(switch, number, output);
        let queue =
            &mut self.switches.input_queues[port * self.switches.n_queues as u32 + q as u32];
        queue.head = id;
        queue.tail = id;
        queue.flits = flits;
        queue.output = crossing;
        if !S::HAS_OUTPUT_BUFFER {
            queue.class = class;
        }
        queue.vl = vl;
        let input = &mut self.switches.ports[port];
        input.ready.set(q);
        if input.input_until > now {
            if !input.input_watched {
                input.input_watched = true;
                out.at(input.input_until, Event::ReleaseInput { port });
            }
            return;
        }
        self.switches.states[switch].woken.set(usize::from(number));
        self.mark_switch(switch, out);
    }

    /// Handles the release of an input by the crossbar.
    #[inline]
    pub(crate) fn input_released(&mut self, port: u32, out: &mut Outbox<Self>) {
        let input = &mut self.switches.ports[port];
        input.input_watched = false;
        if !input.ready.is_empty() {
            let (switch, number) = (input.switch, input.number);
            self.switches.states[switch].woken.set(usize::from(number));
            self.mark_switch(switch, out);
        }
    }

    /// Handles the release of an output by the crossbar.
    #[inline]
    pub(crate) fn output_released(&mut self, port: u32, out: &mut Outbox<Self>) {
        self.switches.ports[port].output_watched = false;
        self.wake_waiters(port, out);
    }

    /// Handles the time at which space may have been freed in an output buffer.
    pub(crate) fn room_wakes(&mut self, now: Tick, port: u32, out: &mut Outbox<Self>) {
        let output = &mut self.switches.ports[port];
        if output.room_wake <= now {
            output.room_wake = Tick::NEVER;
        }
        self.wake_waiters(port, out);
    }

    /// Wakes the inputs that wait for an output. Those that still cannot proceed register again.
    #[inline]
    pub(super) fn wake_waiters(&mut self, port: u32, out: &mut Outbox<Self>) {
        let output = &mut self.switches.ports[port];
        if output.short != 0 {
            output.short = 0;
            output.short_need = u32::MAX;
        }
        let waiters = std::mem::take(&mut output.waiters);
        if !waiters.is_empty() {
            let switch = output.switch;
            self.switches.states[switch].woken.union(waiters);
            self.mark_switch(switch, out);
        }
    }

    /// Wakes the inputs that lost an allocation.
    pub(crate) fn losers_return(&mut self, switch: u32, out: &mut Outbox<Self>) {
        let state = &mut self.switches.states[switch];
        state.again = false;
        let losers = std::mem::take(&mut state.losers);
        state.woken.union(losers);
        self.mark_switch(switch, out);
    }

    /// Handles the start of a release that was not foreseen.
    pub(crate) fn drain_begins(
        &mut self,
        now: Tick,
        port: u32,
        (vl, units): (u8, u16),
        (pace, phase): (u8, u16),
        from: Tick,
        out: &mut Outbox<Self>,
    ) {
        let output = &mut self.switches.ports[port];
        output.drains -= 1;
        let paces = &self.switches.wires[u32::from(output.wire_out)].drain;
        let ramp = Ramp::after(from, units, u16::from(vl), pace, phase, paces);
        let held = output.space.release(ramp, now);
        assert!(held, "earlier ramps are over when a later one starts");
        // Together with what other lanes free, there may be enough before the time announced to a
        // waiter.
        let is_awaited = match S::INPUT_PER_LANE {
            true => !output.waiters.is_empty(),
            false => output.short != 0,
        };
        if is_awaited {
            self.wake_waiters(port, out);
        }
    }
}

//! Grants: packets cross the switch.

use netloom_arbitration::Arbiter;
use netloom_engine::Outbox;
use netloom_units::{Clock, Port, Tick};

use crate::fabric::Fabric;
use crate::link::flow::{Flow, foresee};
use crate::link::ramp::{Paces, Ramp};
use crate::parcel::{Flags, Parcel};
use crate::plan::Allocation;
use crate::rows::Rows;
use crate::switch::crossbar::adaptive_view::may_give_early;
use crate::switch::crossbar::cut_through::CutThrough;
use crate::switch::crossbar::event::Event;
use crate::switch::crossbar::mask::Set;
use crate::switch::crossbar::port::CrossbarPort;
use crate::switch::crossbar::shape::Shape;
use crate::switch::crossbar::wire::{Passage, Stages, Wire, ramp};
use crate::switch::crossbar::{Crossbars, head};
use crate::switch::{NIL, PeerRecord};
use crate::trace::Stage;

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Sends the first packet of a queue to a crossbar output, starting now. `may_fuse` is set if
    /// nothing else is granted to the same output buffer on this edge.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    pub(super) fn grant(
        &mut self,
        now: Tick,
        switch: u32,
        input: usize,
        q: usize,
        output: usize,
        may_fuse: bool,
        out: &mut Outbox<Self>,
    ) {
        let base = self.switches.states[switch].base;
        let ip = base + input as u32;
        let passage = self.passage(switch, output);

        // Advance the queue.
        let queue = &mut self.switches.input_queues[ip * self.switches.n_queues as u32 + q as u32];
        let id = queue.head;
        let (flits, vl, class) = (queue.flits, queue.vl, queue.class);
        let stored = &mut self.switches.packets[id];
        let next = std::mem::replace(&mut stored.next, NIL);
        let real_output = if S::IS_HIERARCHICAL {
            stored.output
        } else {
            output as u16
        };
        let in_port = &mut self.switches.ports[ip];
        if next == NIL {
            queue.head = NIL;
            queue.tail = NIL;
            in_port.ready.clear(q);
        } else {
            let successor = &self.switches.packets[next];
            queue.head = next;
            queue.flits = successor.packet.flits;
            queue.output = successor.output;
            queue.vl = successor.vl;
            if S::IS_HIERARCHICAL || !S::HAS_OUTPUT_BUFFER {
                self.look_at_head(switch, input, q);
            }
        }

        let transfer = Transfer {
            switch,
            input,
            q,
            output,
            id,
            flits,
            vl,
            class,
            real_output,
            passage,
            may_fuse,
        };
        // Most packets never wait for their feed, so the common path does not handle cut-through.
        match self.cut_through(now, ip, id, passage, flits) {
            None => self.cross(now, transfer, None, out),
            // Half of the packets through a centre wait.
            Some(cut_through) if S::IS_HIERARCHICAL => {
                self.cross(now, transfer, Some(&cut_through), out);
            }
            Some(cut_through) => self.cross_as_it_comes(now, transfer, &cut_through, out),
        }
    }

    /// Does the same as [`Self::cross`] for a packet that waits for its feed.
    #[inline(never)]
    fn cross_as_it_comes(
        &mut self,
        now: Tick,
        transfer: Transfer,
        cut_through: &CutThrough,
        out: &mut Outbox<Self>,
    ) {
        self.cross(now, transfer, Some(cut_through), out);
    }

    /// Transfers a packet that has left its queue.
    #[inline(always)]
    fn cross(
        &mut self,
        now: Tick,
        transfer: Transfer,
        cut_through: Option<&CutThrough>,
        out: &mut Outbox<Self>,
    ) {
        let Transfer {
            switch,
            input,
            q,
            output,
            id,
            flits,
            vl,
            class,
            real_output,
            passage,
            may_fuse,
        } = transfer;
        let base = self.switches.states[switch].base;
        let (ip, op) = (base + input as u32, base + output as u32);
        // The crossbar occupies the input, and the input buffer drains at its pace.
        let until = match cut_through {
            Some(cut_through) => self.held_until(cut_through, now, passage),
            None => now + self.switches.stages.crossing_of::<S>(passage, flits).0,
        };
        let in_port = &mut self.switches.ports[ip];
        in_port.input_until = until;
        in_port.next_queue = if q + 1 < self.switches.n_queues {
            q as u16 + 1
        } else {
            0
        };
        let more = !in_port.ready.is_empty();
        in_port.input_watched = more;
        if passage == Passage::FromCentre {
            let buffered = now + self.switches.stages.allocation_to_output;
            self.switches.packets[id].packet.arrival = buffered;
            self.leave_centre(now, ip, vl, flits, cut_through, out);
        } else {
            self.drain_input(now, ip, id, q, passage, cut_through, out);
        }

        if !S::IS_PLAIN
            && let Some(view) = &mut self.switches.adaptive_view
            && passage != Passage::ToCentre
        {
            view.committed[base + u32::from(real_output)] -= u32::from(flits);
        }

        // It occupies the output too, and the output buffer fills at its pace.
        let out_port = &mut self.switches.ports[op];
        out_port.output_until = until;
        if self.switches.allocation == Allocation::Separable {
            out_port.next_input = input as u16 + 1;
        }
        let waited_for = !out_port.waiters.is_empty();
        out_port.output_watched = waited_for;
        match (more, waited_for) {
            (false, false) => {}
            (true, false) => out.at(until, Event::ReleaseInput { port: ip }),
            (false, true) => out.at(until, Event::ReleaseOutput { port: op }),
            (true, true) => out.at(
                until,
                Event::ReleaseBoth {
                    input: ip,
                    output: op,
                },
            ),
        }
        if !S::HAS_OUTPUT_BUFFER {
            // Without an obstacle, the link starts when the first flit has crossed.
            let stages = &self.switches.stages;
            let wire = &self.switches.wires[u32::from(out_port.wire_out)];
            let start = now + wire.to_output::<S>(flits, stages) + stages.output;
            debug_assert!(
                out_port.link_until <= start,
                "a free output has a free link"
            );
            if self.is_watching() {
                self.note_transfer(id, switch, usize::from(real_output), now, start);
            }
            self.transmit(now, op, id, vl, class, flits, start, out);
            return;
        }
        if passage == Passage::ToCentre {
            self.enter_centre(now, base, op, id, cut_through, out);
            return;
        }
        self.fill_output(now, switch, op, id, passage, cut_through, may_fuse, out);
    }

    /// Drains an input buffer at the pace of the crossbar: the credits of the packet return.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn drain_input(
        &mut self,
        now: Tick,
        ip: u32,
        id: u32,
        q: usize,
        passage: Passage,
        cut_through: Option<&CutThrough>,
        out: &mut Outbox<Self>,
    ) {
        let stages = &self.switches.stages;
        let in_port = &mut self.switches.ports[ip];
        let stored = &mut self.switches.packets[id];
        let (flits, came_by) = (stored.packet.flits, stored.packet.vl);
        // From here on, `arrival` is that in the output buffer.
        let buffered = now + stages.allocation_to_output;
        let arrival = std::mem::replace(&mut stored.packet.arrival, buffered);
        let wire = in_port.wire;
        let in_wire = &self.switches.wires[u32::from(wire)];
        let own = cut_through.map_or(flits, |cut_through| cut_through.own);
        let (peer, ring_in) = (in_port.peer, S::ring(in_port.ring_in));
        let residence = in_wire.input_residence::<S>(flits, own, arrival, now, stages, passage);
        let owner = self.owner(ip);
        self.switches.ports[owner].input_residence += residence;
        let (stages, in_wire) = (&self.switches.stages, &self.switches.wires[u32::from(wire)]);
        let delay = stages.credit + in_wire.delay;
        let begin = now + stages.allocation;
        let last_flit = || match cut_through {
            Some(cut_through) => cut_through.last(stages, &self.switches.wires) - begin,
            None => stages.crossing_of::<S>(passage, flits).1,
        };
        let mut start = now + delay;
        let mut units = flits;
        // If whole packets count, the last flit returns them.
        let is_whole = ring_in != 0 || S::Flow::IS_PAUSE;
        if is_whole {
            start += last_flit();
        }
        if ring_in != 0 {
            units = 1;
        }
        let class = if S::Flow::MAY_LOOK_AHEAD && self.switches.credits_per_queue {
            q as u16
        } else {
            u16::from(came_by)
        };
        let credits = Credits {
            class,
            units,
            pace: passage as u8,
            start,
        };
        match cut_through {
            Some(cut_through) if !is_whole => {
                let delay = delay - stages.allocation;
                for piece in cut_through.pieces(stages, &self.switches.wires, passage) {
                    let credits = Credits {
                        units: piece.flits,
                        pace: piece.pace,
                        start: piece.start + delay,
                        ..credits
                    };
                    if piece.flits != 0 {
                        self.return_credits(now, peer, credits, wire, out);
                    }
                }
            }
            _ => self.return_credits(now, peer, credits, wire, out),
        }
        if S::IS_HIERARCHICAL && passage == Passage::ToCentre {
            self.remember_feed(now, arrival, wire, id, own);
        }
        if S::MAY_MARK
            && let Some(marks) = &mut self.switches.marks
        {
            let stored = &mut self.switches.packets[id];
            let is_congested = marks.leave(owner, wire, flits);
            if is_congested && !stored.flags.has(Flags::ACKNOWLEDGEMENT) {
                stored.flags.set(Flags::MARKED, true);
                self.shared.protocol.marked += 1;
            }
        }
        self.shared.counters.packet_hops += 1;
        self.shared.counters.flit_hops += u64::from(flits);
    }

    /// Transfers a packet into the buffer of its output, written by `writer`.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn fill_output(
        &mut self,
        now: Tick,
        switch: u32,
        writer: u32,
        id: u32,
        passage: Passage,
        cut_through: Option<&CutThrough>,
        may_fuse: bool,
        out: &mut Outbox<Self>,
    ) {
        let stored = &self.switches.packets[id];
        let (flits, vl, real_output) = (stored.packet.flits, stored.vl, stored.output);
        let head = head(&stored.packet, vl);
        let op = if S::IS_HIERARCHICAL {
            self.switches.states[switch].base + u32::from(real_output)
        } else {
            writer
        };
        let out_port = &mut self.switches.ports[op];
        let ring = S::ring(out_port.ring_out);
        let charge = if ring == 0 { flits } else { 1 };
        if passage == Passage::Local || ring == 0 {
            out_port.space.take(u16::from(vl), charge);
            let used = out_port.space.used(u16::from(vl)) as u16;
            out_port.output_peak = out_port.output_peak.max(used);
        }
        let out_wire = &self.switches.wires[u32::from(out_port.wire_out)];
        let mut to_output = out_wire.to_output::<S>(flits, &self.switches.stages);
        if passage == Passage::FromCentre {
            let central = out_wire.central(flits);
            to_output = central.to_output;
            let residence = out_port.output_residence;
            out_port.output_residence = residence.wrapping_add_signed(central.slip_out);
        }
        let mut eligible = now + to_output;
        if let Some(cut_through) = cut_through {
            let (stages, wires) = (&self.switches.stages, &self.switches.wires);
            let late = cut_through.lateness(stages, wires, passage);
            let residence = out_port.output_residence;
            out_port.output_residence = residence.wrapping_add_signed(-late);
            let own = match passage {
                Passage::FromCentre => out_wire.central(cut_through.own).to_output,
                _ => out_wire.to_output::<S>(cut_through.own, stages),
            };
            let ready = cut_through.ready(stages, wires, out_wire.flit);
            let crossbar = stages.allocation_to_output - stages.allocation;
            let ready = Tick((ready.0 + crossbar).saturating_sub(stages.output));
            eligible = (now + own).max(stages.clock.edge_at_or_after(ready));
        }

        // If nothing can intervene, the link is granted together with the crossbar. No other packet
        // is in the output buffer or on the way to it, the link will be free, and the credits are
        // reserved.
        let class = if S::Flow::MAY_LOOK_AHEAD {
            self.class_ahead(op, vl, &self.switches.packets[id].packet)
        } else {
            u16::from(vl)
        };
        let out_port = &mut self.switches.ports[op];
        let limits = self.switches.input_buffer.of(ring);
        let paces = || out_port.credit_paces(&self.switches.wires);
        if out_port.present == 0
            && out_port.crossing == 0
            // With two writers, a later grant of the other one must not arrive earlier.
            && (!S::IS_HIERARCHICAL
                || (may_fuse
                    && self.switches.stages.may_fuse
                    && eligible <= now + self.switches.stages.allocation_to_output))
            // A lane may be stopped while its packet crosses.
            && !S::Flow::IS_PAUSE
            && (S::IS_PLAIN || may_give_early::<S>(self.switches.adaptive_view.as_deref(), op, now))
            && out_port.link_until.0 < eligible.0 + self.switches.stages.ahead
            && (S::is_sink(out_port.receiver)
                || out_port
                    .credit
                    .has(class, u32::from(charge), now, limits, paces))
        {
            out_port.arbiter.arrived(vl, &head);
            self.switches.packets[id].flags.set(Flags::ANNOUNCED, true);
            if out_port
                .arbiter
                .send_alone(vl, &head, &mut self.switches.heads)
            {
                self.shared.counters.fused += 1;
                let start = out_port
                    .link_until
                    .max(eligible + self.switches.stages.output);
                let before = (out_port.link_until, out_port.output_residence);
                if self.is_watching() {
                    self.note_transfer(id, switch, usize::from(real_output), now, eligible);
                }
                self.transmit(now, op, id, vl, class, flits, start, out);
                if !S::IS_PLAIN {
                    self.switches
                        .given_early(op, eligible, before, (class, charge), flits);
                }
                return;
            }
        }
        out_port.crossing += 1;
        if self.is_watching() {
            self.note_transfer(id, switch, usize::from(real_output), now, eligible);
        }
        out.at(
            eligible,
            Event::Output {
                vl,
                flits,
                port: writer,
                packet: id,
            },
        );
    }

    /// Updates the cached data of the packet that is now first in a queue: its crossbar output, and
    /// its class there.
    #[inline]
    fn look_at_head(&mut self, switch: u32, input: usize, q: usize) {
        let base = self.switches.states[switch].base;
        let at = (base + input as u32) * self.switches.n_queues as u32 + q as u32;
        let head = self.switches.input_queues[at];
        let crossing = self.crossbar_output(switch, input as u16, head.output);
        let class = if S::HAS_OUTPUT_BUFFER {
            0
        } else {
            let packet = &self.switches.packets[head.head].packet;
            self.class_ahead(base + u32::from(head.output), head.vl, packet)
        };
        let queue = &mut self.switches.input_queues[at];
        (queue.output, queue.class) = (crossing, class);
    }

    /// Transfers a packet to the central buffer of a link.
    fn enter_centre(
        &mut self,
        now: Tick,
        base: u32,
        link: u32,
        id: u32,
        cut_through: Option<&CutThrough>,
        out: &mut Outbox<Self>,
    ) {
        let stored = &self.switches.packets[id];
        let (vl, flits, output) = (u16::from(stored.vl), stored.packet.flits, stored.output);
        self.switches.ports[link].space.take(vl, flits);
        let output = &mut self.switches.ports[base + u32::from(output)];
        if S::ring(output.ring_out) != 0 {
            output.space.take(vl, 1);
        }
        let stages = &self.switches.stages;
        let mut when = now + stages.allocation_to_output + stages.in_centre[u32::from(flits)];
        if let (Some(later), Some(cut_through)) = (stages.tail_to_centre, cut_through) {
            when = self.tail_in_centre(cut_through) + later;
        }
        out.at(
            when,
            Event::Join {
                port: link,
                packet: id,
            },
        );
    }

    /// Returns the first edge with the last flit of a packet in its central buffer. Not inlined,
    /// since few switches wait for it.
    /// switches wait for it.
    #[cold]
    #[inline(never)]
    fn tail_in_centre(&self, cut_through: &CutThrough) -> Tick {
        let stages = &self.switches.stages;
        let crossbar = stages.allocation_to_output - stages.allocation;
        let tail = cut_through.last(stages, &self.switches.wires) + crossbar;
        stages.clock.edge_at_or_after(tail)
    }

    /// Records the stages of a transfer, if the packet is followed.
    #[cold]
    fn note_transfer(
        &mut self,
        id: u32,
        switch: u32,
        output: usize,
        granted: Tick,
        buffered: Tick,
    ) {
        let packet = self.switches.packets[id].packet;
        let (switch, output) = (self.switches.states[switch].id, Port(output as u16));
        self.shared
            .note(&packet, granted, Stage::Granted { switch, output });
        self.shared
            .note(&packet, buffered, Stage::Buffered { switch, output });
    }

    /// Returns credits over a link of a class.
    #[inline(always)]
    fn return_credits(
        &mut self,
        now: Tick,
        peer: PeerRecord,
        credits: Credits,
        wire: u8,
        out: &mut Outbox<Self>,
    ) {
        match peer {
            PeerRecord::Port(port) => {
                let sender = &mut self.switches.ports[port];
                let (wires, stages) = (&self.switches.wires, &self.switches.stages);
                Self::credits_for_port(now, port, sender, credits, wires, stages, out);
            }
            PeerRecord::Remote(partition, port) => {
                let (when, event) = credits.arriving::<S>(port, &self.switches.stages);
                out.send(partition, when, event, Parcel::default());
            }
            PeerRecord::Nic(nic) => {
                let may = S::MAY_FORESEE && !self.has_duties();
                let wire = &self.switches.wires[u32::from(wire)];
                let sender = &mut self.endpoints.nics[nic];
                let ramp = || credits.ramp::<S>(&wire.credits);
                let (coming, may) = (&mut sender.credits_coming, may && sender.present == 0);
                if foresee(&mut sender.credit, coming, may, ramp, now) {
                    return;
                }
                let Credits {
                    class,
                    units,
                    pace,
                    start,
                } = credits;
                let when = Clock::new(wire.flit::<S>()).edge_at_or_after(start);
                let lag = (when - start) as u32;
                out.at(
                    when,
                    Event::NicCredit {
                        pace,
                        class,
                        units,
                        nic,
                        lag,
                    },
                );
            }
            // tidy: allow the name of a variant
            PeerRecord::Nobody => unreachable!("every packet has a sender"),
        }
    }

    /// Returns credits to a port of this partition.
    ///
    /// Their arrival time is known now. If nothing waits at the port, they are registered at once
    /// as a ramp in the future, so that no event is needed. Otherwise they arrive by an event, and
    /// so do all later ones.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub(super) fn credits_for_port(
        now: Tick,
        port: u32,
        sender: &mut CrossbarPort<S::Layout>,
        credits: Credits,
        wires: &Rows<Wire>,
        stages: &Stages,
        out: &mut Outbox<Self>,
    ) {
        let is_waited_for = if S::HAS_OUTPUT_BUFFER {
            sender.present != 0
        } else {
            !sender.waiters.is_empty()
        };
        let paces = sender.credit_paces(wires);
        let (coming, may) = (&mut sender.credits_coming, S::MAY_FORESEE && !is_waited_for);
        let ramp = || credits.ramp::<S>(paces);
        if !foresee(&mut sender.credit, coming, may, ramp, now) {
            let (when, event) = credits.arriving::<S>(port, stages);
            out.at(when, event);
        }
    }
}

/// The data of a packet when it is granted.
#[derive(Clone, Copy)]
struct Transfer {
    switch: u32,
    input: usize,
    q: usize,
    /// The output of the crossbar, and that of the switch. They differ if the packet crosses to the
    /// centre.
    output: usize,
    real_output: u16,
    id: u32,
    flits: u16,
    vl: u8,
    class: u16,
    passage: Passage,
    may_fuse: bool,
}

/// Returning credits of one packet, from `start` on at the other end.
#[derive(Clone, Copy)]
pub(super) struct Credits {
    pub(super) class: u16,
    pub(super) units: u16,
    pub(super) pace: u8,
    pub(super) start: Tick,
}

impl Credits {
    /// Returns the ramp of their arrival at the sender.
    #[inline(always)]
    fn ramp<S: Shape>(self, paces: &Paces) -> Ramp {
        ramp::<S>(self.start, self.units, self.class, self.pace, || paces)
    }

    /// Returns the event of their arrival at a port, on the first edge at which they can be used.
    #[inline(always)]
    fn arriving<S: Shape>(self, port: u32, stages: &Stages) -> (Tick, Event) {
        let Credits {
            class,
            units,
            pace,
            start,
        } = self;
        let when = stages.edge::<S>(start);
        let lag = (when - start) as u32;
        let event = Event::Credit {
            pace,
            class,
            units,
            port,
            lag,
        };
        (when, event)
    }
}

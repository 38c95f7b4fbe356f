//! A grant: the packet crosses the switch.

use netloom_arbitration::{Arbiter, Head, View};
use netloom_engine::{EventQueue, Outbox};
use netloom_packet::Packet;
use netloom_units::{Clock, Port, Tick, Vl};

use crate::event::Event;
use crate::fabric::Fabric;
use crate::plan::Allocation;
use crate::port::{NIL, Peer};
use crate::trace::Stage;

impl<A: Arbiter, const W: usize, const R: usize> Fabric<A, W, R> {
    /// The first packet of a queue crosses to its output, starting now.
    #[inline]
    pub(super) fn grant<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        switch: u32,
        input: usize,
        q: usize,
        output: usize,
        out: &mut Outbox<Self, Q>,
    ) {
        let base = self.switches[switch].base;
        let (ip, op) = (base + input as u32, base + output as u32);

        // The queue moves on.
        let queue = &mut self.input_queues[ip * self.n_queues as u32 + q as u32];
        let id = queue.head;
        let (flits, vl) = (queue.flits, queue.vl);
        let stored = &mut self.packets[id];
        let next = std::mem::replace(&mut stored.next, NIL);
        let came_by = stored.packet.vl;
        // From here on "arrival" is that in the output buffer.
        let buffered = now + self.stages.allocation_to_output;
        let arrival = std::mem::replace(&mut stored.packet.arrival, buffered);
        let head = Head {
            born: stored.packet.generation,
            bytes: stored.packet.bytes,
            sl: stored.packet.sl,
            vl: Vl(vl),
        };
        let in_port = &mut self.ports[ip];
        if next == NIL {
            queue.head = NIL;
            queue.tail = NIL;
            in_port.ready.clear(q);
        } else {
            let behind = &self.packets[next];
            queue.head = next;
            queue.flits = behind.packet.flits;
            queue.output = behind.output;
            queue.vl = behind.vl;
        }

        // The crossbar holds the input, and the input buffer drains at its pace.
        let (crossing, last_flit) = self.stages.crossing[u32::from(flits)];
        let until = now + crossing;
        in_port.input_until = until;
        in_port.next_queue = if q + 1 < self.n_queues {
            q as u16 + 1
        } else {
            0
        };
        let more = !in_port.ready.is_empty();
        in_port.input_watched = more;
        let in_wire = &self.wires[u32::from(in_port.wire)];
        in_port.input_residence += in_wire.input_residence(flits, arrival, now, &self.stages);
        let (peer, ring_in) = (in_port.peer, in_port.ring_in);
        let mut start = now + self.stages.credit + in_wire.delay;
        let mut units = flits;
        if ring_in != 0 {
            start += last_flit;
            units = 1;
        }
        Self::return_credits(
            self.stages.clock,
            peer,
            came_by,
            units,
            start,
            in_wire.flit,
            out,
        );
        self.counters.packet_hops += 1;
        self.counters.flit_hops += u64::from(flits);

        // It holds the output too, and the output buffer fills at its pace.
        let out_port = &mut self.ports[op];
        out_port.output_until = until;
        if self.allocation == Allocation::Separable {
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
        let charge = if out_port.ring_out == 0 { flits } else { 1 };
        out_port.space.take(vl, charge);
        out_port.output_peak = out_port.output_peak.max(out_port.space.used(vl) as u16);
        let eligible = now
            + self.wires[u32::from(out_port.wire_out)]
                .length(flits)
                .to_output;

        // Where nothing can come between, the link is given together with the crossbar: nobody else is
        // in the output buffer or on the way to it, the link will be free, and the credits are held.
        let limits = self.input_buffer.of(out_port.ring_out);
        let pace = || out_port.credit_pace(&self.wires, &self.stages);
        if out_port.present == 0
            && out_port.crossing == 0
            && out_port.link_until.0 < eligible.0 + self.stages.ahead
            && out_port
                .credit
                .has(vl, u32::from(charge), now, limits, pace)
        {
            out_port.arbiter.arrived(vl, &head);
            self.packets[id].is_announced = true;
            self.heads[usize::from(vl) % 32] = head;
            let view = View {
                eligible: 1 << vl,
                heads: &self.heads,
            };
            if let Some(grant) = out_port.arbiter.choose(&view) {
                out_port.arbiter.commit(grant);
                self.counters.fused += 1;
                let start = out_port.link_until.max(eligible + self.stages.output);
                if self.watch.is_some() {
                    self.note_transfer(id, switch, output, now, eligible);
                }
                self.transmit(now, op, id, vl, flits, start, out);
                return;
            }
        }
        out_port.crossing += 1;
        if self.watch.is_some() {
            self.note_transfer(id, switch, output, now, eligible);
        }
        out.at(
            eligible,
            Event::Output {
                vl,
                flits,
                port: op,
                packet: id,
            },
        );
    }

    /// Writes the stages of a transfer down, if the packet is followed.
    #[cold]
    fn note_transfer(
        &mut self,
        id: u32,
        switch: u32,
        output: usize,
        granted: Tick,
        buffered: Tick,
    ) {
        let packet = self.packets[id].packet;
        let (switch, output) = (self.switches[switch].id, Port(output as u16));
        self.note(&packet, granted, |_| Stage::Granted { switch, output });
        self.note(&packet, buffered, |_| Stage::Buffered { switch, output });
    }

    /// Credits travel back over a link, from `start` on at the other end.
    #[inline]
    fn return_credits<Q: EventQueue<Event>>(
        clock: Clock,
        peer: Peer,
        vl: u8,
        units: u16,
        start: Tick,
        nic_period: u64,
        out: &mut Outbox<Self, Q>,
    ) {
        match peer {
            Peer::Port(port) => {
                let when = clock.edge_at_or_after(start);
                out.at(
                    when,
                    Event::Credit {
                        vl,
                        units,
                        port,
                        lag: (when - start) as u32,
                    },
                );
            }
            Peer::Remote(partition, port) => {
                let when = clock.edge_at_or_after(start);
                let event = Event::Credit {
                    vl,
                    units,
                    port,
                    lag: (when - start) as u32,
                };
                out.send(partition, when, event, Packet::default());
            }
            Peer::Nic(nic) => {
                let when = Clock {
                    period: nic_period,
                    phase: 0,
                }
                .edge_at_or_after(start);
                out.at(
                    when,
                    Event::NicCredit {
                        vl,
                        units,
                        nic,
                        lag: (when - start) as u32,
                    },
                );
            }
            Peer::Nobody => unreachable!("a packet came from somewhere"),
        }
    }
}

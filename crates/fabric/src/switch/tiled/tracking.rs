//! End-to-end reliability in the first switch: a copy of every data packet stays in a stash until
//! the packet has been acknowledged (section IV-A of the paper, and the retransmission that it
//! omits).
//!
//! An end port tracks the packets that came in by it. The side band reports where their copies are,
//! and acknowledgements on their way to its endpoint report what became of them. Either may come
//! first.

use crate::StashUse;
use netloom_encoding::Encoded;
use netloom_engine::Outbox;
use netloom_units::Tick;

use crate::fabric::Fabric;
use crate::parcel::Flags;
use crate::switch::NIL;
use crate::switch::tiled::Tiles;
use crate::switch::tiled::event::Event;
use crate::switch::tiled::record::Record;

/// The state of a packet in transit.
#[derive(Clone, Copy, Debug, Encoded)]
pub(crate) struct Entry {
    /// Its copy, once its location is known; otherwise [`NIL`].
    copy: u32,
    verdict: Verdict,
    /// When its copy was made.
    since: Tick,
    /// Number of retransmissions, modulo 256.
    attempt: u8,
}

impl Entry {
    /// Returns its copy, or [`NIL`] if the location is not known.
    pub(super) fn copy(&self) -> u32 {
        self.copy
    }

    /// Returns when the copy was made.
    pub(super) fn since(&self) -> Tick {
        self.since
    }
}

/// The content of an acknowledgement that came before the location of the copy was known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encoded)]
enum Verdict {
    None,
    Arrived,
    Damaged,
}

impl Fabric<Tiles> {
    /// Creates the copy of a packet that starts to leave the input of an end port, and starts
    /// tracking the packet.
    #[inline(never)]
    pub(super) fn copy_for_stash(
        &mut self,
        now: Tick,
        port: u32,
        id: u32,
        out: &mut Outbox<Self>,
    ) -> u32 {
        let original = self.switches.packets[id];
        let entry = Entry {
            copy: NIL,
            verdict: Verdict::None,
            since: now,
            attempt: original.attempt,
        };
        let sequence = original.packet.sequence;
        self.switches.tracked.insert((port, sequence), entry);
        self.await_answer(now, port, sequence, original.attempt, out);
        self.shared.protocol.stashed += 1;
        let mut packet = original.packet;
        packet.label.set_word(0);
        let copy = Record {
            vc: self.switches.ports[port].number,
            packet,
            flags: original
                .flags
                .with(Flags::MARKED, false)
                .with(Flags::CORRUPT, false)
                .with(Flags::COPY, true),
            ..original
        };
        self.switches.packets.insert(copy)
    }

    /// Schedules a retransmission in case no answer arrives.
    fn await_answer(
        &mut self,
        now: Tick,
        port: u32,
        sequence: u32,
        attempt: u8,
        out: &mut Outbox<Self>,
    ) {
        if let Some(StashUse::Reliability {
            timeout: Some(timeout),
        }) = self.switches.stash_use
        {
            let when = self.switches.clock.edge_at_or_after(now + timeout);
            let event = Event::Timeout {
                attempt,
                port,
                sequence,
            };
            out.at(when, event);
        }
    }

    /// Side band: records the location of a copy.
    pub(crate) fn copy_located(&mut self, now: Tick, port: u32, copy: u32, out: &mut Outbox<Self>) {
        let sequence = self.switches.packets[copy].packet.sequence;
        let entry = self.switches.tracked.get_mut(&(port, sequence));
        let entry = entry.expect("a packet is tracked until its copy is deleted");
        entry.copy = copy;
        match std::mem::replace(&mut entry.verdict, Verdict::None) {
            Verdict::None => {}
            Verdict::Arrived => self.delete_copy(now, port, sequence, out),
            Verdict::Damaged => self.retransmit(now, port, sequence, out),
        }
    }

    /// Handles an acknowledgement that starts on its last link, to the endpoint whose packet it
    /// acknowledges.
    pub(super) fn acknowledgement_passes(
        &mut self,
        now: Tick,
        port: u32,
        id: u32,
        out: &mut Outbox<Self>,
    ) {
        let Some(StashUse::Reliability { .. }) = self.switches.stash_use else {
            return;
        };
        let flags = self.switches.packets[id].flags;
        if flags.has(Flags::CORRUPT) {
            return;
        }
        let sequence = self.switches.packets[id].packet.message;
        let is_negative = flags.has(Flags::NEGATIVE);
        let Some(entry) = self.switches.tracked.get_mut(&(port, sequence)) else {
            self.switches.packets[id].flags.set(Flags::VOID, true);
            return;
        };
        let has_arrived = entry.verdict == Verdict::Arrived;
        if is_negative || has_arrived {
            self.switches.packets[id].flags.set(Flags::VOID, true);
        }
        if entry.copy == NIL {
            if !has_arrived {
                entry.verdict = match is_negative {
                    true => Verdict::Damaged,
                    false => Verdict::Arrived,
                };
            }
            self.shared.protocol.early_acknowledgements += 1;
        } else if is_negative {
            self.retransmit(now, port, sequence, out);
        } else {
            self.delete_copy(now, port, sequence, out);
        }
    }

    /// Deletes the copy of a packet that has arrived.
    fn delete_copy(&mut self, now: Tick, port: u32, sequence: u32, out: &mut Outbox<Self>) {
        let entry = self.switches.tracked.remove(&(port, sequence));
        let Entry { copy, since, .. } = entry.expect("a copy is deleted once");
        self.shared.protocol.copy_time.record(now - since);
        let at = self.stash_port(port, copy);
        let when = now + self.switches.cycles(self.switches.stages.side_band);
        let event = Event::Delete {
            port: at,
            packet: copy,
        };
        out.at(when, event);
    }

    /// Returns the port whose stash holds a copy of a packet that came in by a port of the same
    /// switch.
    fn stash_port(&self, port: u32, copy: u32) -> u32 {
        port - u32::from(self.switches.ports[port].number)
            + u32::from(self.switches.packets[copy].output)
    }

    /// Side band: deletes a copy. A copy that is sent again in the same tick is read before.
    pub(crate) fn copy_deleted(&mut self, port: u32, copy: u32, out: &mut Outbox<Self>) {
        let switch = self.switches.ports[port].switch;
        self.switches.states[switch].leaving.push((port, copy));
        self.tell_switch(switch, out);
    }

    /// Removes copies from their stashes.
    pub(super) fn delete_copies(&mut self, switch: u32) {
        let mut leaving = std::mem::take(&mut self.switches.states[switch].leaving);
        for (port, copy) in leaving.drain(..) {
            let record = self.switches.packets.remove(copy);
            debug_assert!(record.flags.has(Flags::COPY), "a stash holds copies");
            self.shared.protocol.deleted += 1;
            self.free_stash(port, record.packet.flits);
        }
        self.switches.states[switch].leaving = leaving;
    }

    /// Sends a packet again, by a message on the side band to the port that has its copy.
    fn retransmit(&mut self, now: Tick, port: u32, sequence: u32, out: &mut Outbox<Self>) {
        let entry = self.switches.tracked.get_mut(&(port, sequence));
        let entry = entry.expect("a packet is tracked until its copy is deleted");
        entry.attempt = entry.attempt.wrapping_add(1);
        let (attempt, copy) = (entry.attempt, entry.copy);
        let at = self.stash_port(port, copy);
        let when = now + self.switches.cycles(self.switches.stages.side_band);
        let event = Event::Retransmit {
            attempt,
            port: at,
            packet: copy,
        };
        out.at(when, event);
    }

    /// Side band: sends a copy again. There may be several in one tick, so they are sorted first.
    pub(crate) fn copy_sent_again(
        &mut self,
        port: u32,
        copy: u32,
        attempt: u8,
        out: &mut Outbox<Self>,
    ) {
        let switch = self.switches.ports[port].switch;
        self.switches.states[switch]
            .returning
            .push((port, copy, attempt));
        self.tell_switch(switch, out);
    }

    /// Adds copies of copies to the packets that continue from their stashes, and returns the set
    /// of buses to be checked. They are routed as if they had just come from their endpoint.
    #[cold]
    pub(super) fn take_in_retransmissions(&mut self, now: Tick, switch: u32) -> u64 {
        let mut returning = std::mem::take(&mut self.switches.states[switch].returning);
        returning.sort_unstable_by_key(|&(port, copy, attempt)| {
            let packet = &self.switches.packets[copy].packet;
            (port, packet.source, packet.sequence, attempt)
        });
        let mut buses = 0;
        for (port, copy, attempt) in returning.drain(..) {
            let flags = self.switches.packets[copy].flags.with(Flags::COPY, false);
            let again = Record {
                flags,
                attempt,
                ..self.switches.packets[copy]
            };
            let id = self.switches.packets.insert(again);
            self.shared.protocol.retransmitted += 1;
            self.switches.packets[id].packet.hops = 0;
            // All of it is there.
            self.switches.packets[id].packet.arrival = Tick::ZERO;
            // The previous lane is not needed until the next link, but the input port is.
            self.switches.packets[id].packet.vl = again.vc;
            let base = port - u32::from(self.switches.ports[port].number);
            let origin = base + u32::from(again.vc);
            self.may_corrupt(id);
            self.route(now, origin, id, 0);
            if self.switches.retrievals[port].push(id, &mut self.switches.packets) {
                let state = &mut self.switches.ports[port];
                state.ready |= 1 << self.switches.geometry.lanes;
                buses |= 1 << state.number;
            }
        }
        self.switches.states[switch].returning = returning;
        buses
    }

    /// Handles a copy that is sent again and was granted the bus: from now on an answer is awaited.
    pub(super) fn attempt_begins(&mut self, now: Tick, port: u32, id: u32, out: &mut Outbox<Self>) {
        let record = self.switches.packets[id];
        let base = port - u32::from(self.switches.ports[port].number);
        let origin = base + u32::from(record.packet.vl);
        let sequence = record.packet.sequence;
        let entry = self.switches.tracked.get(&(origin, sequence));
        if entry.is_some_and(|entry| entry.attempt == record.attempt) {
            self.await_answer(now, origin, sequence, record.attempt, out);
        }
    }

    /// Handles a timeout after all other messages of the tick.
    pub(crate) fn timeout(
        &mut self,
        port: u32,
        sequence: u32,
        attempt: u8,
        out: &mut Outbox<Self>,
    ) {
        let switch = self.switches.ports[port].switch;
        self.switches.states[switch]
            .expired
            .push((port, sequence, attempt));
        self.tell_switch(switch, out);
    }

    /// Sends packets again whose answers have timed out.
    #[cold]
    pub(super) fn send_expired(&mut self, now: Tick, switch: u32, out: &mut Outbox<Self>) {
        let mut expired = std::mem::take(&mut self.switches.states[switch].expired);
        expired.sort_unstable();
        for (port, sequence, attempt) in expired.drain(..) {
            let Some(entry) = self.switches.tracked.get(&(port, sequence)) else {
                continue;
            };
            if entry.attempt != attempt || entry.verdict != Verdict::None {
                continue;
            }
            self.shared.protocol.timeouts += 1;
            if entry.copy == NIL {
                self.await_answer(now, port, sequence, attempt, out);
            } else {
                self.retransmit(now, port, sequence, out);
            }
        }
        self.switches.states[switch].expired = expired;
    }
}

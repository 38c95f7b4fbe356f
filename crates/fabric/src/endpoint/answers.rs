//! Acknowledgements: if endpoints acknowledge, every data packet is answered, and answers precede
//! data.

use std::collections::VecDeque;

use netloom_encoding::{Encoded, Invalid};
use netloom_engine::Outbox;
use netloom_packet::{Label, Packet};
use netloom_units::{NicId, Sc, Sl, Tick};

use crate::fabric::Fabric;
use crate::parcel::{Flags, Parcel};
use crate::rows::Rows;
use crate::switch::Switches;
use crate::validation::Bounds;

/// An acknowledgement to be sent.
#[derive(Clone, Copy, Debug, Encoded)]
pub(crate) struct Answer {
    destination: NicId,
    /// The packet that it acknowledges.
    sequence: u32,
    flits: u16,
    row: u8,
    sl: u8,
    /// The original channel of that packet.
    sc: Sc,
    is_marked: bool,
    is_negative: bool,
    created: Tick,
    /// When that packet left its NIC.
    sent: Tick,
}

impl Answer {
    /// Validates an acknowledgement that waits at a NIC, and returns its channel and destination.
    pub(crate) fn validate(&self, bounds: &Bounds<'_>, nic: NicId) -> Result<(Sc, NicId), Invalid> {
        let (sl, destination) = (Sl(self.sl), self.destination);
        bounds.nic("destination of an acknowledgement", destination)?;
        bounds.row("row of an acknowledgement", self.row, sl)?;
        bounds.flits("acknowledged length", self.flits)?;
        bounds.past("answer", self.created)?;
        bounds.past("send time of an acknowledged packet", self.sent)?;
        bounds.channel(
            "channel of an acknowledgement",
            self.sc,
            sl,
            destination,
            nic,
        )?;
        Ok((self.sc, destination))
    }
}

/// The acknowledgements that wait at the NICs of a partition.
pub(crate) type Answers = Rows<VecDeque<Answer>>;

impl<S: Switches> Fabric<S> {
    /// Whether a NIC has acknowledgements to send.
    #[inline]
    pub(super) fn has_answers(&self, nic: u32) -> bool {
        self.endpoints.acknowledgement.is_some() && !self.endpoints.answers[nic].is_empty()
    }

    /// Queues the acknowledgement of a data packet that has arrived.
    pub(super) fn owe_answer(&mut self, now: Tick, nic: u32, parcel: &Parcel) {
        let packet = &parcel.packet;
        let (channels, sc) = (&self.shared.channels, packet.label.sc());
        let sc = channels.began(sc, packet.sl, packet.source, packet.destination);
        self.endpoints.answers[nic].push_back(Answer {
            destination: packet.source,
            sequence: packet.sequence,
            flits: packet.flits,
            row: packet.class,
            sl: packet.sl.0,
            sc,
            is_marked: parcel.flags.has(Flags::MARKED),
            is_negative: parcel.flags.has(Flags::CORRUPT),
            created: now,
            sent: packet.injection,
        });
    }

    /// Sends the first acknowledgement of a NIC if it fits; nothing else is sent before it.
    pub(super) fn send_answer(&mut self, now: Tick, nic: u32, out: &mut Outbox<Self>) {
        let endpoints = &mut self.endpoints;
        let flits = endpoints
            .acknowledgement
            .expect("endpoints that acknowledge have a size for it");
        let Some(&answer) = endpoints.answers[nic].front() else {
            return;
        };
        let state = &endpoints.nics[nic];
        let data_lane = self.shared.channels.at_nic(state.id, answer.sc);
        let vl = S::answer_lane(data_lane);
        let candidate = state.candidate(answer.destination, vl);
        let class = self.switches.class_at_first(&self.shared, candidate);
        let may_send = self
            .switches
            .may_send(&state.credit, state.wire, class, flits, now);
        if let Err(when) = may_send {
            if let Some(flows) = &mut endpoints.flows {
                flows.block(nic);
            }
            self.look_for_room(nic, when, now, out);
            return;
        }
        endpoints.answers[nic].pop_front();
        let packet = Packet {
            generation: answer.created,
            injection: answer.sent,
            arrival: now,
            source: state.id,
            destination: answer.destination,
            sequence: state.sequence,
            message: answer.sequence,
            index: u32::from(answer.flits),
            bytes: u32::from(flits) * self.shared.segmentation.flit.0 as u32,
            flits,
            class: answer.row,
            sl: Sl(answer.sl),
            vl,
            hops: 0,
            flow: 0,
            label: Label::new(answer.sc, true),
        };
        let parcel = Parcel {
            packet,
            flags: Flags::default()
                .with(Flags::ACKNOWLEDGEMENT, true)
                .with(Flags::MARKED, answer.is_marked)
                .with(Flags::NEGATIVE, answer.is_negative),
            attempt: 0,
        };
        self.launch(now, nic, parcel, class, out);
        if self.has_answers(nic) {
            let free = self.endpoints.nics[nic].link_until;
            self.look_at_nic(nic, free, out);
        }
    }

    /// Passes an acknowledgement to its flow, which may then send more.
    pub(super) fn answer_arrives(
        &mut self,
        now: Tick,
        nic: u32,
        parcel: &Parcel,
        out: &mut Outbox<Self>,
    ) {
        if parcel.flags.has(Flags::CORRUPT) {
            self.shared.protocol.discarded += 1;
            return;
        }
        self.shared.counters.deliver(&parcel.packet, now);
        if parcel.flags.has(Flags::VOID) {
            return;
        }
        self.shared.protocol.acknowledgements += 1;
        if self.endpoints.flows.is_some() {
            self.flow_acknowledged(now, nic, parcel, out);
        }
    }
}

//! Acknowledgements: every data packet is answered, and answers precede data.

use super::Twin;
use super::state::{Answer, Kind, Packet, Sender};

impl Twin<'_> {
    /// Queues the acknowledgement of a data packet that has arrived, if endpoints acknowledge.
    pub(super) fn owe_answer(&mut self, nic: usize, packet: Packet) {
        if self.plan.endpoints.acknowledgement.is_none() {
            return;
        }
        let began = self.channel(packet.sl, packet.source, nic as u32);
        self.nics[nic].answers.push_back(Answer {
            to: packet.source,
            born: self.now,
            sc: began,
            sl: packet.sl,
            row: packet.row,
            kind: Kind::Acknowledgement {
                of: packet.sequence,
                flits: packet.flits as u32,
                is_marked: packet.is_marked,
            },
        });
    }

    /// Sends the first answer of a NIC if there is space for it. Returns whether there is an
    /// answer, since nothing is sent before it.
    pub(super) fn answer(&mut self, nic: usize) -> bool {
        let Some(&answer) = self.nics[nic].answers.front() else {
            return false;
        };
        let flits = self.plan.endpoints.acknowledgement.expect("its flits");
        let mut packet = Packet {
            source: nic as u32,
            sequence: self.nics[nic].sequence,
            destination: answer.to,
            generation: answer.born,
            bytes: u32::from(flits) * self.plan.segmentation.flit.0 as u32,
            flits: u64::from(flits),
            sl: answer.sl,
            row: answer.row,
            sc: answer.sc,
            next_vl: self
                .plan
                .channels
                .at_nic(netloom_units::NicId(nic as u32), answer.sc),
            kind: answer.kind,
            ..Packet::default()
        };
        let sender = Sender::Nic(nic);
        packet.next_class = self.class_ahead(sender, &packet, packet.next_vl);
        if self.may_send(sender, packet.next_class, packet.next_vl, packet.flits) {
            self.nics[nic].answers.pop_front();
            self.counts.answers += 1;
            self.launch(nic, packet);
        }
        true
    }
}

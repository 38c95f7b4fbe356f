//! Programs: ranks that send, receive and wait, one step after another.

use netloom_packet::Op;
use netloom_units::NicId;

use super::Twin;
use super::state::Packet;

impl Twin<'_> {
    /// A data packet has arrived, and with it perhaps the rest of its message.
    pub(super) fn complete(&mut self, nic: usize, packet: Packet) {
        let state = &mut self.nics[nic];
        let key = (packet.source, packet.row, packet.message);
        let (arrived, all) = state.arriving.entry(key).or_default();
        *arrived += 1;
        if packet.is_last {
            *all = Some(packet.index + 1);
        }
        if *all == Some(*arrived) {
            state.arriving.remove(&key);
            state.complete.insert(key);
        }
    }

    /// Every program of a NIC goes on as far as it can.
    pub(super) fn run_programs(&mut self, nic: usize) {
        let plan = self.plan;
        for (class, of_class) in plan.classes.iter().enumerate() {
            let Some(program) = of_class.source.program() else {
                continue;
            };
            let row = self.row_of(class);
            while let Some(op) = program.op(NicId(nic as u32), self.nics[nic].steps[class]) {
                match op {
                    Op::Send { to, bytes } => {
                        self.counts.program_sends += 1;
                        self.create(nic, class, to.0, bytes);
                    }
                    Op::Receive { from, message } => {
                        if !self.nics[nic].complete.remove(&(from.0, row, message)) {
                            break;
                        }
                    }
                }
                self.nics[nic].steps[class] += 1;
            }
        }
    }
}

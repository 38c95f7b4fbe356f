//! Programs: ranks that send, receive and wait, step by step.

use netloom_packet::Op;
use netloom_units::NicId;

use super::Twin;
use super::state::Packet;

impl Twin<'_> {
    /// Handles a data packet that has arrived and may complete its message.
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

    /// Runs every program of a NIC as far as it can.
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
                        let step = self.nics[nic].steps[class];
                        let cycles = program.computes_before(NicId(nic as u32), step);
                        if cycles > 0 && self.is_computing(nic, class, cycles) {
                            break;
                        }
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

    /// Whether the rank of a class still computes before its next step. Computing starts with the
    /// first call and ends on an edge of the NIC.
    fn is_computing(&mut self, nic: usize, class: usize, cycles: u64) -> bool {
        let flit = self.plan.nic_link(NicId(nic as u32)).flit;
        let now = self.now;
        let begun = *self.nics[nic].computes_since[class].get_or_insert(now);
        let is_done = now >= begun + cycles * flit && now.is_multiple_of(flit);
        if is_done {
            self.nics[nic].computes_since[class] = None;
            self.counts.computations += 1;
        }
        !is_done
    }
}

//! Programs: ranks that send, receive and wait, one step after another.

use netloom_packet::Op;
use netloom_units::Tick;

use crate::model::TiledFabric;
use crate::nic::Created;

impl TiledFabric {
    /// The programs of a NIC go on as far as they can.
    pub(super) fn run_programs(&mut self, now: Tick, nic: u32) {
        self.nics[nic].runs_program = false;
        let id = self.nics[nic].id;
        for class in 0..self.classes.len() {
            let plan = &self.classes[class];
            let source = plan.source.clone();
            let Some(program) = source.program() else {
                continue;
            };
            let sl = plan.sl.0;
            while let Some(op) = program.op(id, self.nics[nic].steps[class]) {
                match op {
                    Op::Send { to, bytes } => {
                        let created = Created {
                            class: class as u8,
                            sl,
                            flow: 0,
                            destination: to,
                            bytes,
                        };
                        self.enqueue(now, nic, created);
                    }
                    Op::Receive { from, message } => {
                        if !self.arrived.remove(&(id, from, message)) {
                            break;
                        }
                    }
                }
                self.nics[nic].steps[class] += 1;
            }
        }
    }
}

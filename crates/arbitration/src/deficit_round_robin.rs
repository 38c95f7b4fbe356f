//! Deficit round robin (Shreedhar and Varghese, "Efficient fair queueing using deficit round
//! robin", SIGCOMM 1995), over virtual lanes.
//!
//! Every lane has a quantum of bytes. At its turn it may send its quantum and the rest of its last
//! turn, as long as its head fits. If the head does not fit, the lane keeps the rest. A lane with
//! nothing to send loses it.
//!
//! Interpretation: the paper keeps a list of the active queues, and appends a queue that becomes
//! active. Here the lanes take turns in the order of `quanta`, and lanes with nothing to send are
//! skipped. Whether a lane has something to send is decided when a packet must be chosen. Both give
//! the same shares. The paper's bound on work per packet holds with quanta of at least one packet;
//! smaller ones are allowed too.

use netloom_catalog::{Described, params};
use netloom_units::Vl;

use crate::head::vl_bit;
use crate::policy::lane_faults;
use crate::quantum_walk::{Leftover, QuantumWalk, Turn};
use crate::{Arbiter, Fault, Grant, MANAGEMENT_VL, MAX_QUANTUM, Policy, PortContext, Speaks, View};

params! {
    /// Lanes in turn, each with a quantum of bytes and a deficit.
    #[derive(Clone, Debug)]
    pub struct DeficitRoundRobin {
        /// The lanes in order: [lane, bytes] pairs, each lane once. Other lanes are never sent.
        pub quanta: Vec<(u8, u32)>,
    }
    check |drr, section| {
        let mut seen = 0;
        for &(vl, bytes) in &drr.quanta {
            let mistake = if vl > 14 {
                Some(format!("{} is not a data lane; data lanes are VL0 to VL14", Vl(vl)))
            } else if seen & vl_bit(Vl(vl)) != 0 {
                Some(format!("{} is listed twice", Vl(vl)))
            } else if bytes == 0 || bytes > MAX_QUANTUM {
                Some(format!("expected a quantum of 1 to {MAX_QUANTUM} bytes, found {bytes}"))
            } else {
                None
            };
            seen |= 1 << (vl % 32);
            if let Some(message) = mistake {
                let place = section.place_of("quanta");
                section.notes.error("E0102", place, message);
            }
        }
    }
}

impl Described for DeficitRoundRobin {
    const NAME: &'static str = "deficit-round-robin";
    const SUMMARY: &'static str =
        "Lanes in turn, each with a quantum of bytes; the unused rest of a turn is kept.";
    const PAPER: Option<&'static str> = Some(
        "Shreedhar and Varghese, Efficient fair queueing using deficit round robin, SIGCOMM 1995",
    );
    const EXAMPLE: &'static str = "quanta = [[0, 8192], [1, 4096], [2, 4096]]";
}

impl Policy for DeficitRoundRobin {
    fn build(&self) -> Box<dyn Arbiter> {
        let turn = |&(class, quantum): &(u8, u32)| Turn { class, quantum };
        Box::new(DeficitRoundRobinArbiter {
            walk: QuantumWalk::new(self.quanta.iter().map(turn), Leftover::Retained),
            vls: self.data_vls(),
        })
    }

    fn faults(&self, context: &PortContext) -> Vec<Fault> {
        lane_faults("quanta", self.data_vls(), context)
    }

    fn speaks(&self) -> Speaks {
        Speaks::Vls
    }

    fn sendable_vls(&self) -> u32 {
        self.data_vls() | vl_bit(MANAGEMENT_VL)
    }

    /// True for every lane of the list.
    fn serves_everyone(&self) -> bool {
        true
    }
}

impl DeficitRoundRobin {
    fn data_vls(&self) -> u32 {
        let live = self.quanta.iter().filter(|(_, bytes)| *bytes > 0);
        live.fold(0, |vls, (vl, _)| vls | vl_bit(Vl(*vl)))
    }
}

/// A grant carries the result of the walk; that of management has no active lanes.
struct DeficitRoundRobinArbiter {
    walk: QuantumWalk,
    vls: u32,
}

impl Arbiter for DeficitRoundRobinArbiter {
    /// Returns `None` if only lanes outside the list are eligible.
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        if let Some(queue) = view.management() {
            return Some(Grant::of_management(queue));
        }
        let size = |vl: u8| {
            let queue = view.oldest_of(Vl(vl)).unwrap_or(0);
            view.heads[usize::from(queue)].bytes.max(1)
        };
        let (vl, [active, steps, bytes]) = self.walk.choose(view.vls() & self.vls, size)?;
        Some(Grant {
            queue: view.oldest_of(Vl(vl))?,
            registers: [active, steps, bytes, 0, 0, 0],
        })
    }

    fn commit(&mut self, grant: Grant) {
        let [active, steps, bytes, ..] = grant.registers;
        if active != 0 {
            self.walk.commit([active, steps, bytes]);
        }
    }

    fn save(&self, out: &mut Vec<u64>) {
        self.walk.save(out);
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        self.walk.restore(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_must_exist_and_used_ones_must_be_named() {
        let policy = DeficitRoundRobin {
            quanta: vec![(0, 64), (4, 64)],
        };
        let context = PortContext {
            data_vls: 4,
            used_vls: 0b11 | 1 << 15,
            ..PortContext::default()
        };
        let faults = policy.faults(&context);
        let messages: Vec<&str> = faults.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "VL1 carries traffic but is not in `quanta`: it would never send",
                "VL4 does not exist: the port has 4 data lanes",
            ]
        );
    }
}

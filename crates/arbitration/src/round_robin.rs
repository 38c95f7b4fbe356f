//! Round robin over the queues of an output.
//!
//! The pointer starts at queue 0 and moves past the winner only when the packet is sent. Shares are
//! equal in packets, not in bytes.

use netloom_catalog::{Described, params};

use crate::{Arbiter, Fault, Grant, Policy, PortContext, Speaks, View, take_word};

params! {
    /// Every queue in turn.
    #[derive(Clone, Debug)]
    pub struct RoundRobin {}
}

impl Described for RoundRobin {
    const NAME: &'static str = "round-robin";
    const SUMMARY: &'static str = "The queues that can send take turns, one packet each.";
    const EXAMPLE: &'static str = "";
}

impl Policy for RoundRobin {
    fn build(&self) -> Box<dyn Arbiter> {
        Box::new(RoundRobinArbiter { pointer: 0 })
    }
    fn faults(&self, _context: &PortContext) -> Vec<Fault> {
        vec![]
    }
    fn speaks(&self) -> Speaks {
        Speaks::Queues
    }
    fn serves_everyone(&self) -> bool {
        true
    }
}

/// The registers are `[pointer, …]`: the queue to examine first.
struct RoundRobinArbiter {
    pointer: u32,
}

impl Arbiter for RoundRobinArbiter {
    #[inline]
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        if view.eligible == 0 {
            return None;
        }
        if let Some(queue) = view.management() {
            return Some(Grant {
                queue,
                registers: [self.pointer, 0, 0, 0, 0, 0],
            });
        }
        let from_pointer = view.eligible & (u32::MAX << self.pointer);
        let asked = if from_pointer == 0 {
            view.eligible
        } else {
            from_pointer
        };
        let queue = asked.trailing_zeros();
        Some(Grant {
            queue: queue as u8,
            registers: [(queue + 1) % 32, 0, 0, 0, 0, 0],
        })
    }

    #[inline]
    fn commit(&mut self, grant: Grant) {
        self.pointer = grant.registers[0];
    }

    fn save(&self, out: &mut Vec<u64>) {
        out.push(self.pointer.into());
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        self.pointer = take_word(from).filter(|queue| *queue < 32)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Head, MANAGEMENT_VL};
    use netloom_units::Vl;

    #[test]
    fn g000_2_the_pointer_starts_at_zero_and_moves_past_the_winner_on_a_commit_only() {
        let mut heads = [Head::default(); 32];
        heads[31].vl = Vl(3);
        let mut arbiter = RoundRobin {}.build();
        let mut sent = vec![];
        for eligible in [0b1011, 0b1011, 0b1011, 0b1011, 1 << 31, 1 | 1 << 31] {
            let view = View {
                eligible,
                heads: &heads,
            };
            // A choice without a commit changes nothing.
            arbiter.choose(&view);
            let grant = arbiter.choose(&view).unwrap();
            sent.push(grant.queue);
            arbiter.commit(grant);
        }
        assert_eq!(sent, [0, 1, 3, 0, 31, 0]);
    }

    #[test]
    fn management_does_not_move_the_pointer() {
        let mut heads = [Head::default(); 32];
        heads[5].vl = MANAGEMENT_VL;
        let mut arbiter = RoundRobin {}.build();
        let mut sent = vec![];
        for eligible in [0b111, 0b10_0111, 0b111] {
            let view = View {
                eligible,
                heads: &heads,
            };
            let grant = arbiter.choose(&view).unwrap();
            sent.push(grant.queue);
            arbiter.commit(grant);
        }
        assert_eq!(sent, [0, 5, 1]);
    }
}

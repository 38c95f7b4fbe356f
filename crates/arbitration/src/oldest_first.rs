//! Sends the packet that was generated first, whatever its queue.
//!
//! This is global age order at one output, which an unbounded FIFO over the whole fabric would
//! approach. It keeps no state. Real switches do not carry the generation time, so this is a
//! reference rather than hardware.

use netloom_catalog::{Described, params};

use crate::{Arbiter, Fault, Grant, Policy, PortContext, Speaks, View};

params! {
    /// Oldest packet first.
    #[derive(Clone, Debug)]
    pub struct OldestFirst {}
}

impl Described for OldestFirst {
    const NAME: &'static str = "oldest-first";
    const SUMMARY: &'static str =
        "The packet that was generated first; on a tie, the lowest queue.";
    const EXAMPLE: &'static str = "";
}

impl Policy for OldestFirst {
    fn build(&self) -> Box<dyn Arbiter> {
        Box::new(OldestFirstArbiter)
    }
    fn faults(&self, _context: &PortContext) -> Vec<Fault> {
        vec![]
    }
    fn speaks(&self) -> Speaks {
        Speaks::Queues
    }
    /// Only finitely many packets are older than a given one.
    fn serves_everyone(&self) -> bool {
        true
    }
}

struct OldestFirstArbiter;

impl Arbiter for OldestFirstArbiter {
    #[inline]
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        let queue = view.management().or_else(|| view.oldest())?;
        Some(Grant {
            queue,
            registers: [0; 6],
        })
    }

    #[inline]
    fn commit(&mut self, _grant: Grant) {}

    fn save(&self, _out: &mut Vec<u64>) {}

    fn restore(&mut self, _from: &mut &[u64]) -> Option<()> {
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Head, MANAGEMENT_VL};
    use netloom_units::Tick;

    #[test]
    fn the_oldest_wins_ties_go_to_the_lowest_queue_and_management_before_all() {
        let mut heads = [Head::default(); 32];
        for (queue, born) in [(0, 9), (3, 7), (8, 7), (30, 100)] {
            heads[queue].born = Tick(born);
        }
        let winner = |heads: &[Head; 32]| {
            let view = View {
                eligible: 1 | 1 << 3 | 1 << 8 | 1 << 30,
                heads,
            };
            OldestFirst {}.build().choose(&view).unwrap().queue
        };
        assert_eq!(winner(&heads), 3);
        heads[30].vl = MANAGEMENT_VL;
        assert_eq!(winner(&heads), 30);
    }
}

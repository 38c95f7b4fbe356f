//! Lottery scheduling: a lane wins with probability proportional to its tickets.

use netloom::arbitration::{Arbiter, Fault, Grant, Policy, PortContext, Speaks, View, take_word};
use netloom::catalog::{Described, params};

params! {
    /// Tickets for every lane.
    #[derive(Clone, Debug)]
    pub struct Lottery {
        /// Tickets of lane 0, 1, and so on; lanes beyond the list have one.
        pub tickets: Vec<u32>,
    }
}

impl Described for Lottery {
    const NAME: &'static str = "lottery";
    const SUMMARY: &'static str = "Draws the winning lane in proportion to its tickets.";
    const PAPER: Option<&'static str> = Some("Waldspurger and Weihl, OSDI 1994");
    const EXAMPLE: &'static str = "tickets = [4, 2, 1, 1]";
}

impl Policy for Lottery {
    fn build(&self) -> Box<dyn Arbiter> {
        Box::new(Drum {
            tickets: self.tickets.clone(),
            state: 0x9E37_79B9,
        })
    }

    fn speaks(&self) -> Speaks {
        Speaks::Vls
    }

    fn serves_everyone(&self) -> bool {
        true
    }

    fn faults(&self, _context: &PortContext) -> Vec<Fault> {
        Vec::new()
    }
}

/// The arbiter of one output. Its register is the state of a small generator, so a draw depends
/// only on what this output has sent.
struct Drum {
    tickets: Vec<u32>,
    state: u32,
}

impl Arbiter for Drum {
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        let lanes = (0..32u8).filter(|queue| view.eligible >> queue & 1 == 1);
        let tickets = |queue: u8| {
            let lane = usize::from(view.heads[usize::from(queue)].vl.0);
            u64::from(self.tickets.get(lane).copied().unwrap_or(1).max(1))
        };
        let total: u64 = lanes.clone().map(tickets).sum();
        let state = self
            .state
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        let mut drawn = (u64::from(state) * total) >> 32;
        for queue in lanes {
            if drawn < tickets(queue) {
                return Some(Grant {
                    queue,
                    registers: [state, 0, 0, 0, 0, 0],
                });
            }
            drawn -= tickets(queue);
        }
        None
    }

    fn commit(&mut self, grant: Grant) {
        self.state = grant.registers[0];
    }

    fn save(&self, out: &mut Vec<u64>) {
        out.push(self.state.into());
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        self.state = take_word(from)?;
        Some(())
    }
}

//! The assignment of ranks to the NICs of their job.

use netloom_catalog::choice;
use netloom_random::{Purpose, Stream, permutation};

use super::Placed;

choice! {
    /// How the ranks of a job are assigned to its NICs.
    pub enum Mapping {
        /// Rank r on the r-th NIC: neighbours in the numbering are neighbours in the fabric.
        InOrder = "in-order",
        /// At random over all NICs of the job, including those without a rank, as on a fragmented
        /// machine.
        Random = "random",
    }
}

impl Placed {
    /// Assigns the ranks to NICs of the job by the mapping; each class has its own draw.
    pub fn mapped(mut self, mapping: Mapping, seed: u64, class: u8) -> Placed {
        if mapping == Mapping::Random {
            let mut drawn_from = vec![false; self.ranks.len()];
            for nic in &self.job {
                drawn_from[nic.index()] = true;
            }
            self.drawn_from = Some(drawn_from);
            let stream = Stream::new(seed, Purpose::Mapping);
            let order = permutation(&stream, u32::from(class), self.job.len() as u32);
            self.job = order.iter().map(|&at| self.job[at as usize]).collect();
            self.seat();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use netloom_packet::{Op, Program};
    use netloom_units::NicId;

    use super::super::{Builder, Rank};
    use super::*;

    /// Every rank sends to the next; on ten of the NICs 5 to 24.
    fn ring() -> Placed {
        let mut builder = Builder::new(10);
        for rank in 0..10 {
            builder.send(Rank(rank), Rank((rank + 1) % 10), 8);
            builder.receive(Rank((rank + 1) % 10), Rank(rank));
        }
        let nics: Vec<NicId> = (5..25).map(NicId).collect();
        builder.repeat(1).unwrap().place(&nics, 30)
    }

    #[test]
    fn a_draw_puts_every_rank_on_a_nic_of_its_own() {
        let nics = |seed, class| ring().mapped(Mapping::Random, seed, class).nics().to_vec();
        let drawn = nics(1, 0);
        let apart: BTreeSet<u32> = drawn.iter().map(|nic| nic.0).collect();
        assert_eq!(apart.len(), 10);
        assert!(apart.iter().all(|nic| (5..25).contains(nic)));
        // NICs beyond the tenth are as likely as the others.
        assert!(apart.iter().any(|nic| *nic >= 15));
        assert_eq!(drawn, nics(1, 0));
        assert_ne!(drawn, nics(2, 0));
        assert_ne!(drawn, nics(1, 1));
    }

    #[test]
    fn messages_go_where_the_ranks_are() {
        let placed = ring().mapped(Mapping::Random, 3, 0);
        for (rank, nic) in placed.nics().iter().enumerate() {
            let to = placed.nics()[(rank + 1) % 10];
            let sends = (0..2).filter_map(|step| placed.op(*nic, step));
            assert!(sends.into_iter().any(|op| op == Op::Send { to, bytes: 8 }));
        }
        let with_a_rank = (0..30).filter(|nic| placed.op(NicId(*nic), 0).is_some());
        assert_eq!(with_a_rank.count(), 10);
        // Another seed may put a rank on any NIC of the job.
        let may_run = (0..30).filter(|nic| placed.may_run_on(NicId(*nic)));
        assert!(may_run.eq(5..25));
    }

    #[test]
    fn in_order_is_as_placed() {
        let placed = ring().mapped(Mapping::InOrder, 3, 0);
        assert_eq!(placed.nics(), ring().nics());
    }
}

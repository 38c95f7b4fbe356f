//! Builds programs, and matches every receive with its send.

use std::fmt;

use super::{Packed, Programs, RECEIVE, Rank};

/// Steps of ranks, for one round.
#[derive(Debug)]
pub struct Builder {
    steps: Vec<Vec<Packed>>,
}

/// Messages from one rank to another whose sends and receives differ in number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unmatched {
    pub from: Rank,
    pub to: Rank,
    /// The number of sends.
    pub sent: u32,
    /// The number of receives.
    pub received: u32,
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unmatched {
            from,
            to,
            sent,
            received,
        } = self;
        write!(
            f,
            "{from} sends {sent} messages to {to}, which receives {received}"
        )
    }
}

/// Why steps are not a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Misfit {
    /// Receives without their sends, or sends without their receives, in the order of their ranks.
    Unmatched(Vec<Unmatched>),
    /// A rank has more steps than can be counted.
    TooLong {
        /// The rank with the most steps.
        rank: Rank,
        /// The number of steps over all rounds.
        steps: u64,
    },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Unmatched(pairs) => {
                let pairs: Vec<String> = pairs.iter().map(Unmatched::to_string).collect();
                f.write_str(&pairs.join("; "))
            }
            Misfit::TooLong { rank, steps } => {
                write!(f, "{rank} has {steps} steps, more than can be counted")
            }
        }
    }
}

impl Builder {
    /// Creates ranks without steps.
    ///
    /// # Panics
    /// For more than 2^31 ranks.
    pub fn new(n_ranks: u32) -> Builder {
        assert!(n_ranks <= RECEIVE, "a step has 31 bits for a rank");
        Builder {
            steps: vec![vec![]; n_ranks as usize],
        }
    }

    /// Returns the number of ranks.
    pub fn n_ranks(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Adds a message of a rank to another one.
    ///
    /// # Panics
    /// If there is no such rank, or it is the same.
    pub fn send(&mut self, rank: Rank, to: Rank, bytes: u32) {
        self.push(rank, to, 0, bytes);
    }

    /// Makes a rank wait for its next message from another one.
    ///
    /// # Panics
    /// If there is no such rank, or it is the same.
    pub fn receive(&mut self, rank: Rank, from: Rank) {
        // The number of the message is known when all steps are.
        self.push(rank, from, RECEIVE, 0);
    }

    fn push(&mut self, rank: Rank, peer: Rank, kind: u32, value: u32) {
        assert!(rank != peer, "{rank} has no messages for itself");
        assert!(peer.index() < self.steps.len(), "{peer} exists");
        self.steps[rank.index()].push(Packed {
            peer: peer.0 | kind,
            value,
        });
    }

    /// Returns the programs that repeat these steps `rounds` times.
    ///
    /// Every receive takes the message that was sent to it by that rank in the same order: the k-th
    /// receive of a pair takes the k-th send, as in MPI for one communicator and tag.
    pub fn repeat(mut self, rounds: u32) -> Result<Programs, Misfit> {
        let ranks = || (0..).map(Rank).zip(&self.steps);
        let (rank, longest) = ranks()
            .map(|(rank, steps)| (rank, steps.len() as u64))
            .max_by_key(|&(_, n)| n)
            .unwrap_or((Rank(0), 0));
        let in_all: u64 = self.steps.iter().map(|steps| steps.len() as u64).sum();
        let steps = longest * u64::from(rounds);
        if steps.max(in_all) >= u64::from(u32::MAX) {
            return Err(Misfit::TooLong {
                rank,
                steps: steps.max(in_all),
            });
        }
        let mut sends = vec![];
        // (from, to), then the number to match, in the order of the steps: both lists are sorted by
        // pair alone.
        let mut sent: Vec<((Rank, Rank), u32)> = vec![];
        let mut received: Vec<((Rank, Rank), usize)> = vec![];
        for (rank, steps) in ranks() {
            let mut number = 0;
            for (at, step) in steps.iter().enumerate() {
                match step.is_receive() {
                    true => received.push(((step.peer(), rank), at)),
                    false => {
                        sent.push(((rank, step.peer()), number));
                        number += 1;
                    }
                }
            }
            sends.push(number);
        }
        sent.sort_by_key(|&(pair, _)| pair);
        received.sort_by_key(|&(pair, _)| pair);
        let unmatched = unmatched(&sent, &received);
        if !unmatched.is_empty() {
            return Err(Misfit::Unmatched(unmatched));
        }
        for (&(_, number), &((_, to), at)) in sent.iter().zip(&received) {
            self.steps[to.index()][at].value = number;
        }
        let mut starts = vec![0];
        for steps in &self.steps {
            starts.push(starts[starts.len() - 1] + steps.len() as u32);
        }
        Ok(Programs {
            starts,
            steps: self.steps.concat(),
            sends,
            rounds,
        })
    }
}

/// Returns the pairs that occur more often in one list than in the other. Both are sorted by pair.
fn unmatched<A, B>(sent: &[((Rank, Rank), A)], received: &[((Rank, Rank), B)]) -> Vec<Unmatched> {
    let (mut sent, mut received) = (sent, received);
    let mut unmatched = vec![];
    while let Some(pair) = first_of(sent).into_iter().chain(first_of(received)).min() {
        let n_sent = sent.partition_point(|(other, _)| *other <= pair);
        let n_received = received.partition_point(|(other, _)| *other <= pair);
        if n_sent != n_received {
            unmatched.push(Unmatched {
                from: pair.0,
                to: pair.1,
                sent: n_sent as u32,
                received: n_received as u32,
            });
        }
        (sent, received) = (&sent[n_sent..], &received[n_received..]);
    }
    unmatched
}

fn first_of<T>(list: &[((Rank, Rank), T)]) -> Option<(Rank, Rank)> {
    list.first().map(|(pair, _)| *pair)
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::*;

    #[test]
    fn the_kth_receive_of_a_pair_takes_its_kth_send() {
        let mut builder = Builder::new(3);
        // Rank 0 sends to 1, 2, 1: numbers 0, 1, 2.
        for (to, bytes) in [(1, 10), (2, 20), (1, 30)] {
            builder.send(Rank(0), Rank(to), bytes);
        }
        builder.receive(Rank(1), Rank(0));
        builder.receive(Rank(1), Rank(0));
        builder.receive(Rank(2), Rank(0));
        let programs = builder.repeat(1).unwrap();
        let numbers = |rank| -> Vec<u32> {
            let steps = programs.steps(Rank(rank));
            steps
                .map(|step| match step {
                    Step::Receive { message, .. } => message,
                    Step::Send { .. } => panic!("{step:?}"),
                })
                .collect()
        };
        assert_eq!(numbers(1), [0, 2]);
        assert_eq!(numbers(2), [1]);
    }

    #[test]
    fn what_is_not_matched_is_reported_by_its_ranks() {
        let mut builder = Builder::new(4);
        builder.send(Rank(0), Rank(1), 1);
        builder.send(Rank(0), Rank(1), 1);
        builder.receive(Rank(1), Rank(0));
        builder.receive(Rank(0), Rank(3));
        builder.send(Rank(2), Rank(3), 1);
        builder.receive(Rank(3), Rank(2));
        let misfit = builder.repeat(1).unwrap_err();
        assert_eq!(
            misfit.to_string(),
            "rank 0 sends 2 messages to rank 1, which receives 1; \
             rank 3 sends 0 messages to rank 0, which receives 1"
        );
    }

    #[test]
    fn steps_beyond_counting_are_refused() {
        let mut builder = Builder::new(2);
        builder.send(Rank(1), Rank(0), 1);
        builder.receive(Rank(0), Rank(1));
        builder.send(Rank(1), Rank(0), 1);
        builder.receive(Rank(0), Rank(1));
        let misfit = builder.repeat(1 << 31).unwrap_err();
        assert!(
            matches!(misfit, Misfit::TooLong { steps, .. } if steps == 1 << 32),
            "{misfit}"
        );
    }

    #[test]
    #[should_panic(expected = "rank 1 has no messages for itself")]
    fn a_rank_has_no_messages_for_itself() {
        Builder::new(2).send(Rank(1), Rank(1), 1);
    }
}

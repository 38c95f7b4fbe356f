//! Runs programs without a fabric: every message takes a given time.
//!
//! It is the reference for programs on NICs, and measures the length of the chains of dependent
//! messages.

use std::fmt;

use super::{Programs, Rank, Step};

/// A message whose time is requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    pub from: Rank,
    pub to: Rank,
    /// Bytes of payload.
    pub bytes: u32,
}

/// The result of running programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Played {
    /// When every step of every rank was done; a send is done when it is handed over.
    pub done: Vec<Vec<u64>>,
    /// When the last step of all was done.
    pub end: u64,
}

/// A rank that waits for a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    pub rank: Rank,
    /// The index of its step.
    pub step: u32,
    /// The sender of the message.
    pub from: Rank,
    /// The number of the message among those of the sender.
    pub message: u32,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wait {
            rank,
            step,
            from,
            message,
        } = self;
        write!(
            f,
            "{rank} waits at step {step} for message {message} of {from}"
        )
    }
}

/// Ranks that wait for each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// Each waits for the next, the last one for the first.
    pub circle: Vec<Wait>,
    /// The number of all waiting ranks, including those in the cycle.
    pub n_waiting: usize,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let circle: Vec<String> = self.circle.iter().map(Wait::to_string).collect();
        write!(
            f,
            "{} ranks wait forever: {}",
            self.n_waiting,
            circle.join("; ")
        )
    }
}

/// Runs programs from time 0; `time` returns the duration of a message.
pub fn play(programs: &Programs, time: impl Fn(Sent) -> u64) -> Result<Played, Deadlock> {
    let n = programs.n_ranks() as usize;
    let mut done: Vec<Vec<u64>> = vec![vec![]; n];
    // By sender: when each of its messages arrives.
    let mut arrivals: Vec<Vec<u64>> = vec![vec![]; n];
    let mut waits: Vec<Option<Wait>> = vec![None; n];
    let mut ready: Vec<Rank> = (0..programs.n_ranks()).map(Rank).rev().collect();
    while let Some(rank) = ready.pop() {
        let own = rank.index();
        let mut now = done[own].last().copied().unwrap_or(0);
        waits[own] = None;
        for number in done[own].len() as u32.. {
            match programs.step(rank, number) {
                None => break,
                Some(Step::Send { to, bytes }) => {
                    let from = rank;
                    arrivals[own].push(now + time(Sent { from, to, bytes }));
                    let is_awaited = |wait: Wait| {
                        wait.from == rank && arrivals[own].len() == wait.message as usize + 1
                    };
                    if waits[to.index()].is_some_and(is_awaited) {
                        ready.push(to);
                    }
                }
                Some(Step::Receive { from, message }) => {
                    let Some(arrival) = arrivals[from.index()].get(message as usize) else {
                        waits[own] = Some(Wait {
                            rank,
                            step: number,
                            from,
                            message,
                        });
                        break;
                    };
                    now = now.max(*arrival);
                }
            }
            done[own].push(now);
        }
    }
    match circle(&waits) {
        Some(deadlock) => Err(deadlock),
        None => {
            let ends = done.iter().filter_map(|times| times.last());
            let end = ends.copied().max().unwrap_or(0);
            Ok(Played { done, end })
        }
    }
}

/// Returns the cycle that is reached from the first waiting rank. There is one: every awaited
/// message has a step that sends it, and its rank can only have missed it by waiting itself.
fn circle(waits: &[Option<Wait>]) -> Option<Deadlock> {
    let mut path: Vec<Wait> = vec![];
    let mut next = *waits.iter().flatten().next()?;
    let start = loop {
        match path.iter().position(|wait| wait.rank == next.rank) {
            Some(start) => break start,
            None => path.push(next),
        }
        next = waits[next.from.index()].expect("every receive has its send");
    };
    Some(Deadlock {
        circle: path.split_off(start),
        n_waiting: waits.iter().flatten().count(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Builder;
    use super::*;

    #[test]
    fn steps_are_done_when_their_messages_have_come() {
        // 0 ──10──► 1 ──100──► 2, and 0 ──1──► 2 directly, for which 2 waits last.
        let mut builder = Builder::new(3);
        builder.send(Rank(0), Rank(1), 10);
        builder.send(Rank(0), Rank(2), 1);
        builder.receive(Rank(1), Rank(0));
        builder.send(Rank(1), Rank(2), 100);
        builder.receive(Rank(2), Rank(1));
        builder.receive(Rank(2), Rank(0));
        let programs = builder.repeat(1).unwrap();
        let played = play(&programs, |sent| u64::from(sent.bytes)).unwrap();
        assert_eq!(
            played.done,
            [vec![0, 0], vec![10, 10], vec![110, 110]],
            "an early message is available"
        );
        assert_eq!(played.end, 110);
    }

    #[test]
    fn ranks_that_wait_for_each_other_are_reported() {
        let mut builder = Builder::new(4);
        // 1 and 2 receive before they send; 0 waits for 1, and 3 is not affected.
        builder.receive(Rank(0), Rank(1));
        builder.receive(Rank(1), Rank(2));
        builder.receive(Rank(2), Rank(1));
        builder.send(Rank(1), Rank(0), 8);
        builder.send(Rank(1), Rank(2), 8);
        builder.send(Rank(2), Rank(1), 8);
        builder.send(Rank(3), Rank(0), 8);
        builder.receive(Rank(0), Rank(3));
        let deadlock = play(&builder.repeat(1).unwrap(), |_| 1).unwrap_err();
        assert_eq!(
            deadlock.to_string(),
            "3 ranks wait forever: rank 1 waits at step 0 for message 0 of rank 2; \
             rank 2 waits at step 0 for message 1 of rank 1"
        );
    }
}

//! Programs of ranks: the sends and receives of each rank of a job, in order.
//!
//! ```text
//!   Builder: send(rank, to, bytes), receive(rank, from)   collectives.rs, chunked.rs, halo.rs
//!        │ the k-th receive of a pair takes the k-th send of that pair
//!        ▼
//!   Programs: one round of steps, repeated   ──►  player.rs: runs them without a fabric
//!        │ rank r runs on the r-th NIC of the job, or on a random one (mapping.rs)
//!        ▼
//!   Placed: the interface to NICs (netloom_packet::Program)
//! ```
//!
//! A send never waits. A rank computes between a receive and its next send if the class defines
//! this (`computing.rs`), and otherwise takes no time. A rank that posts all receives and all sends
//! of a phase, and then waits for all of them, is equivalent to one that sends everything and then
//! receives in order. Early messages are already available, and the phase ends with the last
//! message in either case.

mod builder;
mod chunked;
mod collectives;
mod computing;
mod halo;
mod mapping;
mod player;

pub use builder::{Builder, Misfit, Unmatched};
pub use chunked::{
    all_to_all_chunks, binomial_broadcast, chain_broadcast, doubling_all_gather,
    halving_doubling_all_reduce, halving_reduce_scatter, ring_all_gather, ring_reduce_scatter,
};
pub use collectives::{all_reduce, all_to_all, barrier, ring_all_reduce};
pub use computing::{ComputeLaw, Computing};
pub use halo::Halo;
pub use mapping::Mapping;
pub use player::{Deadlock, Played, Sent, Wait, play};

use std::fmt;
use std::ops::Range;

use netloom_packet::{Arrival, Cursor, Op, Program, Source, Volume};
use netloom_units::NicId;

/// A rank of a job, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rank(pub u32);

impl Rank {
    /// Returns its index in arrays.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}", self.0)
    }
}

/// One step of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Sends a message; the rank continues.
    Send {
        to: Rank,
        /// Bytes of payload.
        bytes: u32,
    },
    /// Waits until a message has arrived.
    Receive {
        from: Rank,
        /// Its number among all messages that `from` sends, from 0.
        message: u32,
    },
}

/// The bit of [`Packed::peer`] that distinguishes a receive from a send.
const RECEIVE: u32 = 1 << 31;

/// A step in 8 bytes: the other rank with [`RECEIVE`], then bytes of a send or the number of the
/// message.
#[derive(Clone, Copy, Debug)]
struct Packed {
    peer: u32,
    value: u32,
}

impl Packed {
    fn is_receive(self) -> bool {
        self.peer & RECEIVE != 0
    }

    fn peer(self) -> Rank {
        Rank(self.peer & !RECEIVE)
    }
}

/// The steps of all ranks of a job. A [`Builder`] makes it, so every receive has its send and every
/// send is received.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The steps of rank `r` are at `starts[r]` to `starts[r + 1]`.
    starts: Vec<u32>,
    /// Steps of one round.
    steps: Vec<Packed>,
    /// Messages that each rank sends in a round.
    sends: Vec<u32>,
    rounds: u32,
}

impl Programs {
    /// Returns the number of ranks.
    pub fn n_ranks(&self) -> u32 {
        self.sends.len() as u32
    }

    /// Returns the number of repetitions.
    pub fn n_rounds(&self) -> u32 {
        self.rounds
    }

    fn round(&self, rank: Rank) -> &[Packed] {
        let at = rank.index();
        &self.steps[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Returns a step of a rank, or `None` after its last.
    pub fn step(&self, rank: Rank, step: u32) -> Option<Step> {
        let round = self.round(rank);
        let n = round.len() as u32;
        if n == 0 || step / n >= self.rounds {
            return None;
        }
        let (number, packed) = (step / n, round[(step % n) as usize]);
        let peer = packed.peer();
        Some(match packed.is_receive() {
            true => Step::Receive {
                from: peer,
                message: packed.value + number * self.sends[peer.index()],
            },
            false => Step::Send {
                to: peer,
                bytes: packed.value,
            },
        })
    }

    /// Returns all steps of a rank.
    pub fn steps(&self, rank: Rank) -> impl Iterator<Item = Step> {
        (0..).map_while(move |step| self.step(rank, step))
    }

    /// Returns the number of messages of all ranks.
    pub fn n_messages(&self) -> u64 {
        let round: u64 = self.sends.iter().map(|&sends| u64::from(sends)).sum();
        round.saturating_mul(u64::from(self.rounds))
    }

    /// Returns the sum over all messages of a function of their bytes, such as the bytes
    /// themselves, or packets.
    pub fn sum(&self, of_bytes: impl Fn(u32) -> u64) -> u64 {
        let sends = self.steps.iter().filter(|packed| !packed.is_receive());
        let round = sends.fold(0, |sum: u64, packed| {
            sum.saturating_add(of_bytes(packed.value))
        });
        round.saturating_mul(u64::from(self.rounds))
    }

    /// Places the programs on the NICs of a job: rank `r` on the `r`-th of them. There may be more
    /// NICs than ranks.
    ///
    /// # Panics
    /// If there are fewer NICs than ranks, or one beyond `n_nics`.
    pub fn place(self, nics: &[NicId], n_nics: u32) -> Placed {
        assert!(nics.len() >= self.sends.len(), "every rank has a NIC");
        let mut placed = Placed {
            programs: self,
            job: nics.to_vec(),
            drawn_from: None,
            ranks: vec![None; n_nics as usize],
            computing: None,
            compute_ranks: None,
            volume: None,
            shares_nics: false,
        };
        placed.seat();
        placed
    }
}

/// The programs of a job on its NICs.
#[derive(Clone, Debug)]
pub struct Placed {
    programs: Programs,
    /// The NICs of the job: those of the ranks, then those without one.
    job: Vec<NicId>,
    /// By NIC: whether a draw can give it a rank, if NICs are drawn.
    drawn_from: Option<Vec<bool>>,
    /// By NIC.
    ranks: Vec<Option<Rank>>,
    /// The computing times of the ranks, if they compute.
    computing: Option<Box<Computing>>,
    /// The ranks that compute; all if it is `None`.
    compute_ranks: Option<Range<u32>>,
    volume: Option<Volume>,
    shares_nics: bool,
}

impl Placed {
    /// Returns the programs themselves.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// Returns the NIC of every rank.
    pub fn nics(&self) -> &[NicId] {
        &self.job[..self.programs.sends.len()]
    }

    /// Makes ranks compute between a receive and the next send.
    pub fn computing(self, computing: Computing) -> Placed {
        Placed {
            computing: Some(Box::new(computing)),
            ..self
        }
    }

    /// Lets only these ranks compute.
    pub(crate) fn only_computing(self, ranks: Range<u32>) -> Placed {
        Placed {
            compute_ranks: Some(ranks),
            ..self
        }
    }

    /// Sets the data that benchmarks count.
    pub fn counted(self, volume: Volume) -> Placed {
        Placed {
            volume: Some(volume),
            ..self
        }
    }

    /// Allows other programs on its NICs.
    pub fn sharing(self) -> Placed {
        Placed {
            shares_nics: true,
            ..self
        }
    }

    /// Assigns every rank to its NIC of the job.
    fn seat(&mut self) {
        self.ranks.fill(None);
        for (rank, nic) in (0..self.programs.n_ranks()).map(Rank).zip(&self.job) {
            self.ranks[nic.index()] = Some(rank);
        }
    }

    fn may_compute(&self, rank: Rank) -> bool {
        let ranks = self.compute_ranks.as_ref();
        ranks.is_none_or(|ranks| ranks.contains(&rank.0))
    }

    /// Returns whether this step of a rank is the first send after a receive.
    fn begins_anew(&self, rank: Rank, step: u32) -> bool {
        let is_send = |step| matches!(self.programs.step(rank, step), Some(Step::Send { .. }));
        step > 0 && is_send(step) && !is_send(step - 1)
    }
}

impl Program for Placed {
    fn op(&self, nic: NicId, step: u32) -> Option<Op> {
        let rank = self.ranks[nic.index()]?;
        Some(match self.programs.step(rank, step)? {
            Step::Send { to, bytes } => Op::Send {
                to: self.job[to.index()],
                bytes,
            },
            Step::Receive { from, message } => Op::Receive {
                from: self.job[from.index()],
                message,
            },
        })
    }

    fn rank(&self, nic: NicId) -> Option<u32> {
        self.ranks[nic.index()].map(|rank| rank.0)
    }

    fn computes_before(&self, nic: NicId, step: u32) -> u64 {
        match (&self.computing, self.ranks[nic.index()]) {
            (Some(computing), Some(rank))
                if self.may_compute(rank) && self.begins_anew(rank, step) =>
            {
                computing.cycles(rank, step)
            }
            _ => 0,
        }
    }

    fn sum(&self, of_bytes: &dyn Fn(u32) -> u64) -> u64 {
        self.programs.sum(of_bytes)
    }

    fn volume(&self) -> Option<Volume> {
        self.volume
    }

    fn shares_nics(&self) -> bool {
        self.shares_nics
    }

    fn may_run_on(&self, nic: NicId) -> bool {
        match &self.drawn_from {
            Some(is_drawn_from) => is_drawn_from[nic.index()],
            None => self.ranks[nic.index()].is_some(),
        }
    }
}

impl Source for Placed {
    /// Returns nothing: messages come from the programs.
    fn next(&self, _nic: NicId, _cursor: &mut Cursor) -> Option<Arrival> {
        None
    }

    fn program(&self) -> Option<&dyn Program> {
        Some(self)
    }

    fn messages(&self) -> Option<u64> {
        Some(self.programs.n_messages())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rank 0 sends to 1 and waits for its answer, twice.
    fn ping_pong() -> Programs {
        let mut builder = Builder::new(2);
        builder.send(Rank(0), Rank(1), 64);
        builder.receive(Rank(1), Rank(0));
        builder.send(Rank(1), Rank(0), 8);
        builder.receive(Rank(0), Rank(1));
        builder.repeat(2).unwrap()
    }

    #[test]
    fn rounds_repeat_and_messages_go_on_counting() {
        let programs = ping_pong();
        let send = |to, bytes| Step::Send { to, bytes };
        let receive = |from, message| Step::Receive { from, message };
        let own: Vec<Step> = programs.steps(Rank(0)).collect();
        let (a, b) = (Rank(0), Rank(1));
        assert_eq!(
            own,
            [send(b, 64), receive(b, 0), send(b, 64), receive(b, 1)]
        );
        let other: Vec<Step> = programs.steps(b).collect();
        assert_eq!(
            other,
            [receive(a, 0), send(a, 8), receive(a, 1), send(a, 8)]
        );
        assert_eq!(programs.n_messages(), 4);
        assert_eq!(programs.sum(u64::from), 2 * (64 + 8));
        assert_eq!(std::mem::size_of::<Packed>(), 8);
    }

    #[test]
    fn ranks_run_on_the_nics_of_the_job_in_order() {
        let placed = ping_pong().place(&[NicId(3), NicId(5), NicId(6)], 8);
        assert_eq!(placed.nics(), [NicId(3), NicId(5)]);
        let program = placed.program().expect("a program");
        assert_eq!(placed.messages(), Some(4));
        let ranks = [3, 5, 6].map(|nic| program.rank(NicId(nic)));
        assert_eq!(ranks, [Some(0), Some(1), None]);
        let to = NicId(5);
        assert_eq!(program.op(NicId(3), 0), Some(Op::Send { to, bytes: 64 }));
        let from = NicId(3);
        assert_eq!(
            program.op(NicId(5), 2),
            Some(Op::Receive { from, message: 1 })
        );
        assert_eq!(program.op(NicId(5), 4), None);
        for nic in [0, 6, 7] {
            assert_eq!(program.op(NicId(nic), 0), None);
        }
        assert_eq!(placed.next(NicId(3), &mut Cursor::default()), None);
    }
}

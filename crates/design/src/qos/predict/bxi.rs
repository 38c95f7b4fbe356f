//! Shares of BXI without deficits: a head that is longer than the rest of the quantum waits for the
//! next visit, and the rest is lost.
//!
//! The amount that a visit sends depends on the head it finds. The previous visit left that head
//! because it did not fit, so large heads are more frequent than in the law. The heads at the
//! beginning of the visits of a class form a Markov chain over its sizes and its entries in table
//! order. Other classes do not affect it.
//!
//! ```text
//! ahead[r]    packets that are sent from r flits on, with a new head          renewal recursion over r
//! left[r][h]  the probability that h is then the head that does not fit
//! visit(Q, h) = 1 + ahead[Q - h], and the next head is drawn from left[Q - h]       if h <= Q
//!             = 0, and the head stays h                                             otherwise
//! ```
//!
//! `ahead` and `left` depend on the sizes alone, so they are computed once per class for any
//! quanta.

use netloom_arbitration::{N_SLS, QuantumTable};
use netloom_units::{Bytes, Sl};

use super::gcd;
use super::{Laws, SizeLaw, parts};

/// Rests of more than this number of largest packets are not tabulated. The remaining head then
/// hardly depends on the beginning of the visit, and packets come at their mean rate.
const LONG: u64 = 128;

/// Maximum of rounds until the distribution of the heads is accepted.
const MOST_ROUNDS: usize = 10_000;

/// The amounts that visits of one class send, for any quanta up to a maximum.
#[derive(Clone, Debug)]
pub struct BxiVisits {
    mean_bytes: f64,
    mean_steps: f64,
    /// Flits per step of the tables below: all sizes are multiples of it.
    step: u64,
    /// Sizes in steps, ascending, with their probabilities.
    sizes: Vec<(u64, f64)>,
    ahead: Vec<f64>,
    /// One row of heads per rest.
    left: Vec<f64>,
}

impl BxiVisits {
    /// Computes the tables of a class, for quanta of up to `largest_quantum` flits. The time is
    /// proportional to the largest quantum (up to 128 packets of it) and to the square of the
    /// number of sizes.
    ///
    /// # Panics
    ///
    /// If a flit has no bytes.
    pub fn new(law: &SizeLaw, flit: Bytes, largest_quantum: u32) -> BxiVisits {
        let mut flits: Vec<(u64, f64)> = vec![];
        for &(bytes, p) in law.sizes() {
            let size = Bytes(bytes.into()).in_flits(flit);
            match flits.last_mut() {
                Some(last) if last.0 == size => last.1 += p,
                _ => flits.push((size, p)),
            }
        }
        let step = flits.iter().fold(0, |step, &(size, _)| gcd(step, size));
        let sizes: Vec<(u64, f64)> = flits.iter().map(|&(s, p)| (s / step, p)).collect();
        let largest = sizes.last().map_or(1, |&(s, _)| s);
        let n_rests = (u64::from(largest_quantum) / step).min(LONG * largest) + 1;
        let mut visits = BxiVisits {
            mean_bytes: law.mean(),
            mean_steps: sizes.iter().map(|&(s, p)| s as f64 * p).sum(),
            step,
            ahead: Vec::with_capacity(n_rests as usize),
            left: Vec::with_capacity(n_rests as usize * sizes.len()),
            sizes,
        };
        for rest in 0..n_rests {
            visits.add_rest(rest);
        }
        visits
    }

    fn add_rest(&mut self, rest: u64) {
        let n = self.sizes.len();
        let mut ahead = 0.0;
        let mut row = vec![0.0; n];
        for (at, &(size, p)) in self.sizes.iter().enumerate() {
            // With a rest of 0 this is any packet: the turn is over, and the new head is drawn from
            // the law.
            if size > rest {
                row[at] += p;
                continue;
            }
            let after = (rest - size) as usize;
            ahead += p * (1.0 + self.ahead[after]);
            for (to, from) in row.iter_mut().zip(&self.left[after * n..][..n]) {
                *to += p * from;
            }
        }
        self.ahead.push(ahead);
        self.left.extend(row);
    }

    /// Returns the packets that are sent from a rest on, and the heads left behind.
    fn ahead_of(&self, rest: u64) -> (f64, &[f64]) {
        let n = self.sizes.len();
        let at = rest.min(self.ahead.len() as u64 - 1);
        let beyond = (rest - at) as f64 / self.mean_steps;
        let row = &self.left[at as usize * n..][..n];
        (self.ahead[at as usize] + beyond, row)
    }

    /// Returns the expected bytes per lap of the table, from the quanta of the entries of the class
    /// in table order, in flits. The result is 0 if a packet is longer than every quantum: it
    /// blocks the class.
    ///
    /// Quanta above the largest tabulated one send the surplus at the mean rate.
    pub fn bytes_per_lap(&self, quanta: &[u32]) -> f64 {
        let steps: Vec<u64> = quanta.iter().map(|&q| u64::from(q) / self.step).collect();
        let largest = self.sizes.last().map_or(0, |&(size, _)| size);
        if steps.iter().all(|&quantum| quantum < largest) {
            return 0.0;
        }
        // Equal entries count as one: a lap has several visits of it.
        let is_level = steps.iter().all(|&quantum| quantum == steps[0]);
        let round = if is_level { &steps[..1] } else { &steps[..] };
        let mut heads: Vec<f64> = self.sizes.iter().map(|&(_, p)| p).collect();
        let mut next = vec![0.0; heads.len()];
        let mut packets = 0.0;
        for _ in 0..MOST_ROUNDS {
            let before = heads.clone();
            packets = 0.0;
            for &quantum in round {
                packets += self.visit(quantum, &heads, &mut next);
                std::mem::swap(&mut heads, &mut next);
            }
            let moved: f64 = heads.iter().zip(&before).map(|(a, b)| (a - b).abs()).sum();
            if moved < 1e-9 {
                break;
            }
        }
        // Every packet drawn is sent once, so the packets sent have the mean size.
        packets * self.mean_bytes * (steps.len() / round.len()) as f64
    }

    /// Simulates one visit from these heads. Returns the expected packets, and fills the heads at
    /// the next beginning.
    fn visit(&self, quantum: u64, heads: &[f64], next: &mut [f64]) -> f64 {
        next.fill(0.0);
        let mut packets = 0.0;
        for (at, (&(size, _), &p)) in self.sizes.iter().zip(heads).enumerate() {
            if size > quantum {
                next[at] += p;
                continue;
            }
            let (ahead, left) = self.ahead_of(quantum - size);
            packets += p * (1.0 + ahead);
            for (to, from) in next.iter_mut().zip(left) {
                *to += p * from;
            }
        }
        packets
    }
}

/// Returns the share of each class under a BXI table without deficits. The share is 0 if a packet
/// of the class is longer than all of its quanta.
///
/// # Panics
///
/// If a flit has no bytes.
pub fn bxi_shares(table: &QuantumTable, flit: Bytes, laws: &Laws) -> [f64; N_SLS] {
    let bytes = std::array::from_fn(|class| {
        let own = table.entries().iter().filter(|e| e.sl == Sl(class as u8));
        let quanta: Vec<u32> = own
            .map(|e| table.quantum(e))
            .filter(|&quantum| quantum > 0)
            .collect();
        match (&laws[class], quanta.iter().max()) {
            (Some(law), Some(&largest)) => {
                BxiVisits::new(law, flit, largest).bytes_per_lap(&quanta)
            }
            _ => 0.0,
        }
    });
    parts(bytes)
}

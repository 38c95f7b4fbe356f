//! Counter-based random numbers, keyed by purpose and occasion.
//!
//! A draw is a function of the seed, the purpose and four words that name the occasion, such as the
//! hop
//! of a packet or the message of a NIC. It does not depend on earlier draws. So results are equal
//! for
//! any number of partitions, and enabling a statistic changes no result. The generator is
//! Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//!
//! This crate depends on no other crate of netloom. Start with [`Stream::draw`].

mod philox;

pub use philox::{Draw, Stream};

/// The purpose of a draw. Draws of different purposes are independent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Purpose {
    /// When a NIC creates its next message, its destination and its size.
    Arrival = 1,
    /// Further draws for the same message.
    Message = 2,
    /// The first arrival of a periodic source.
    Phase = 3,
    /// Which of several ports a packet takes.
    Routing = 4,
    /// Which NICs take part and which pairs communicate, for the whole run.
    Placement = 5,
    /// How a random topology is wired.
    Topology = 6,
    /// Which of several service channels a flow takes.
    Channel = 7,
    /// Errors of packets.
    Fault = 8,
    /// Which NIC a rank of a job runs on.
    Mapping = 9,
    /// How long a rank computes.
    Compute = 10,
    /// Which cables are missing.
    Failure = 11,
    /// Which experts a token chooses.
    Experts = 12,
}

/// Returns an exponential variate with mean one from a uniform number in [0, 1).
///
/// The logarithm is computed in software, since C libraries differ in the last bit.
#[inline]
pub fn exponential(uniform: f64) -> f64 {
    -libm::log(1.0 - uniform) + 0.0
}

/// Returns a random permutation of `0..n` (Fisher and Yates), determined by the stream and the
/// occasion.
pub fn permutation(stream: &Stream, occasion: u32, n: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n).collect();
    for i in (1..n).rev() {
        let j = stream.draw([occasion, i, 0, 0]).below(0, i + 1);
        order.swap(i as usize, j as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_has_mean_one() {
        let stream = Stream::new(7, Purpose::Arrival);
        let n = 100_000u32;
        let sum: f64 = (0..n)
            .map(|i| exponential(stream.draw([i, 0, 0, 0]).unit(0)))
            .sum();
        assert!((sum / f64::from(n) - 1.0).abs() < 0.02);
    }

    #[test]
    fn a_permutation_holds_everything_once() {
        let mut order = permutation(&Stream::new(1, Purpose::Placement), 3, 1000);
        assert_ne!(order[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..1000));
    }
}

//! Random numbers keyed by what they are for.
//!
//! A draw is a function of (seed, purpose, four words that name the occasion): the hop of a packet, the
//! message of a NIC. It never depends on how many draws came before, so results are the same for any
//! split into partitions, and turning a statistic on changes nothing. The generator is Philox4x32-10
//! (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).

mod philox;

pub use philox::{Draw, Stream};

/// What a draw is for. Two purposes never share random numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Purpose {
    /// When a NIC creates its next message, to whom, and how large.
    Arrival = 1,
    /// More about the same message, where one draw does not suffice.
    Message = 2,
    /// The first arrival of a periodic source.
    Phase = 3,
    /// Which of several ports a packet takes.
    Routing = 4,
    /// Which NICs take part, which pairs talk: fixed for the whole run.
    Placement = 5,
    /// How a random topology is wired.
    Topology = 6,
    /// Which of several service channels a flow takes.
    Channel = 7,
    /// What goes wrong with a packet.
    Fault = 8,
    /// Which NIC a rank of a job runs on.
    Mapping = 9,
    /// How long a rank computes.
    Compute = 10,
    /// Which cables are missing.
    Failure = 11,
}

/// An exponential variate with mean one, from a uniform number in [0, 1).
///
/// The logarithm is computed in software: the C library's differs between platforms in its last bit.
#[inline]
pub fn exponential(uniform: f64) -> f64 {
    -libm::log(1.0 - uniform) + 0.0
}

/// A random order of `0..n`, the same for the same stream and occasion (Fisher and Yates).
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

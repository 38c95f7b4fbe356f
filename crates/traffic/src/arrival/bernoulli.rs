//! One trial per cycle or per message slot.

use netloom_catalog::{Described, choice, params};
use netloom_packet::Cursor;
use netloom_random::{Draw, exponential};
use netloom_units::NicId;

use super::{ArrivalProcess, FRACTION_BITS, Gaps};
use crate::Context;

choice! {
    /// The duration of one trial of [`Bernoulli`].
    pub enum Slot {
        /// One cycle.
        Cycle = "cycle",
        /// The mean number of flits per message, in whole cycles.
        Message = "message",
    }
}

params! {
    /// In every slot a message is created with the same probability, so gaps are geometric.
    ///
    /// With `slot = "message"` and messages of one size, a NIC at load 1 sends without a gap. At
    /// any load, no message waits for another of its class unless the fabric delays it.
    #[derive(Clone, Debug)]
    pub struct Bernoulli {
        /// The duration of one trial.
        pub slot: Slot = Slot::Cycle,
    }
}

impl Described for Bernoulli {
    const NAME: &'static str = "bernoulli";
    const SUMMARY: &'static str =
        "At most one message per cycle (or message slot), each with the same probability.";
    const PAPER: Option<&'static str> =
        Some("Dally and Towles, Principles and Practices of Interconnection Networks, 2004, 24.2");
    const EXAMPLE: &'static str = "";
}

/// Maximum of mean cycles between two messages: three hours at 5 ns per cycle.
const LONGEST_GAP: f64 = (1u64 << 41) as f64;

impl ArrivalProcess for Bernoulli {
    fn prepare(&self, mean_gap_cycles: f64, context: &Context<'_>) -> Box<dyn Gaps> {
        let slot = match self.slot {
            Slot::Cycle => 1.0,
            Slot::Message => context.mean_flits.floor().max(1.0),
        };
        let probability = (slot / mean_gap_cycles).min(1.0);
        // -ln(1 - p): infinite at p = 1, where no trial ever fails, and p itself where 1 - p would
        // round.
        let rate = match probability {
            p if p < 1e-8 => p,
            p => exponential(p),
        };
        Box::new(Trials {
            slot: slot as u64,
            // Gaps longer than any run are shortened to fit in the cursor.
            per_failure: (1.0 / rate).min(LONGEST_GAP / slot),
        })
    }
}

/// The number of failures before a success is the floor of an exponential variate over -ln(1 - p):
/// the probability of at least k failures is then exactly (1 - p)^k.
struct Trials {
    slot: u64,
    per_failure: f64,
}

impl Gaps for Trials {
    #[inline]
    fn next(&self, _nic: NicId, cursor: &mut Cursor, draw: Draw) -> u64 {
        // The cursor holds the first trial that has not been made.
        // A signed conversion is one instruction, an unsigned one is ten.
        let failures = (exponential(draw.unit(0)) * self.per_failure) as i64 as u64;
        let passed = failures.saturating_mul(self.slot);
        let cycle = (cursor.time >> FRACTION_BITS).saturating_add(passed);
        // Beyond the range of the cursor there are no messages.
        let next = cycle
            .saturating_add(self.slot)
            .min(u64::MAX >> FRACTION_BITS);
        cursor.time = next << FRACTION_BITS;
        cycle
    }
}

#[cfg(test)]
mod tests {
    use netloom_random::{Purpose, Stream};

    use super::*;

    fn gaps(slot: Slot, mean_gap: f64, mean_flits: f64) -> Box<dyn Gaps> {
        let context = Context {
            groups: &crate::NO_GROUPS,
            n_nics: 2,
            seed: 1,
            class: 0,
            sources: &[],
            destinations: None,
            mean_flits,
            cycles: &|_| 0,
        };
        Bernoulli { slot }.prepare(mean_gap, &context)
    }

    fn cycles(gaps: &dyn Gaps, n: u32) -> Vec<u64> {
        let stream = Stream::new(11, Purpose::Arrival);
        let mut cursor = Cursor::default();
        (0..n)
            .map(|number| gaps.next(NicId(0), &mut cursor, stream.draw([0, 0, number, 0])))
            .collect()
    }

    #[test]
    fn gaps_are_geometric() {
        for mean_gap in [1.25, 4.0, 10.0] {
            let p = 1.0 / mean_gap;
            let cycles = cycles(&*gaps(Slot::Cycle, mean_gap, 1.0), 100_001);
            let mut seen = [0.0; 21];
            for pair in cycles.windows(2) {
                seen[((pair[1] - pair[0]).min(21) - 1) as usize] += 1.0;
            }
            // Classes with fewer than ten expected gaps are merged with the tail.
            let mut chi_square = 0.0;
            let (mut tail_seen, mut tail_expected) = (0.0, 0.0);
            for (k, &n) in seen.iter().enumerate() {
                let reached = 100_000.0 * (1.0f64 - p).powi(k as i32);
                let expected = if k == 20 { reached } else { reached * p };
                if expected < 10.0 {
                    tail_seen += n;
                    tail_expected += expected;
                } else {
                    chi_square += (n - expected).powi(2) / expected;
                }
            }
            if tail_expected > 0.0 {
                chi_square += (tail_seen - tail_expected).powi(2) / f64::max(tail_expected, 1.0);
            }
            // 99.9 % of a chi-square variate with 20 degrees of freedom are below 45.3.
            assert!(chi_square < 45.3, "mean gap {mean_gap}: {chi_square}");
        }
    }

    #[test]
    fn a_full_link_has_a_message_in_every_slot() {
        assert_eq!(cycles(&*gaps(Slot::Cycle, 1.0, 1.0), 4), [0, 1, 2, 3]);
        assert_eq!(cycles(&*gaps(Slot::Message, 8.0, 8.0), 4), [0, 8, 16, 24]);
    }

    #[test]
    fn slots_are_never_shared() {
        let cycles = cycles(&*gaps(Slot::Message, 10.0, 8.0), 10_000);
        assert!(cycles.iter().all(|cycle| cycle % 8 == 0));
        assert!(cycles.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

//! Constant bit rate.

use netloom_catalog::{Described, choice, params};
use netloom_packet::Cursor;
use netloom_random::{Draw, Purpose, Stream};
use netloom_units::NicId;

use super::{ArrivalProcess, CYCLE, FRACTION_BITS, Gaps};
use crate::Context;

choice! {
    /// The time of the first message of a [`Constant`] source.
    pub enum Phase {
        /// At random in the first gap, separately for each NIC.
        Random = "random",
        /// At the start, for all NICs at once.
        Zero = "zero",
    }
}

params! {
    /// Messages at equal distances (constant bit rate).
    #[derive(Clone, Debug)]
    pub struct Constant {
        /// The time of the first message.
        pub phase: Phase = Phase::Random,
    }
}

impl Described for Constant {
    const NAME: &'static str = "constant";
    const SUMMARY: &'static str = "Constant bit rate: equal gaps, each NIC with its own phase.";
    const EXAMPLE: &'static str = "";
}

/// Bits of the gap below the fraction that a cursor keeps: no drift in any run.
const FINE_BITS: u32 = 32;

impl ArrivalProcess for Constant {
    fn prepare(&self, mean_gap_cycles: f64, context: &Context<'_>) -> Box<dyn Gaps> {
        Box::new(Beats::new(mean_gap_cycles, self.phase, context))
    }
}

/// Instants at equal distances, without drift.
pub(super) struct Beats {
    /// In fractions of a cycle, with [`FINE_BITS`] more.
    gap: u128,
    /// In fractions of a cycle.
    largest_phase: f64,
    class: u8,
    stream: Stream,
}

impl Beats {
    pub(super) fn new(gap_cycles: f64, phase: Phase, context: &Context<'_>) -> Beats {
        let gap = gap_cycles * CYCLE;
        Beats {
            gap: (gap * (1u64 << FINE_BITS) as f64) as u128,
            largest_phase: match phase {
                Phase::Random => gap,
                Phase::Zero => 0.0,
            },
            class: context.class,
            stream: Stream::new(context.seed, Purpose::Phase),
        }
    }

    /// Returns the fractions of a cycle from the first beat to beat `number`.
    fn since_first(&self, number: u32) -> u64 {
        let fine = self.gap.saturating_mul(u128::from(number));
        u64::try_from(fine >> FINE_BITS).unwrap_or(u64::MAX)
    }

    /// Returns the time of beat `number`, in fractions of a cycle; `last` is that of the beat
    /// before.
    #[inline]
    pub(super) fn next(&self, nic: NicId, last: u64, number: u32) -> u64 {
        match number {
            0 => {
                let draw = self.stream.draw([nic.0, u32::from(self.class), 0, 0]);
                (draw.unit(0) * self.largest_phase) as u64
            }
            n => last.saturating_add(self.since_first(n) - self.since_first(n - 1)),
        }
    }
}

impl Gaps for Beats {
    fn next(&self, nic: NicId, cursor: &mut Cursor, _draw: Draw) -> u64 {
        cursor.time = Beats::next(self, nic, cursor.time, cursor.number);
        cursor.time >> FRACTION_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_gap_does_not_drift() {
        // Class VI of paper 000: 32 flits at 0.23 flits per cycle, every 139.13 cycles.
        let context = Context {
            groups: &crate::NO_GROUPS,
            n_nics: 2,
            seed: 1,
            class: 0,
            sources: &[],
            destinations: None,
            mean_flits: 32.0,
            cycles: &|_| 0,
        };
        let zero = Constant { phase: Phase::Zero };
        let gaps = zero.prepare(32.0 / 0.23, &context);
        let mut cursor = Cursor::default();
        for number in 0..1_000_000 {
            cursor.number = number;
            let cycle = gaps.next(NicId(0), &mut cursor, Draw([0; 4]));
            let exact = f64::from(number) * 32.0 / 0.23;
            assert!((cycle as f64 - exact).abs() < 1.001, "{cycle} for {exact}");
        }
        let random = Constant {
            phase: Phase::Random,
        };
        let gaps = random.prepare(32.0 / 0.23, &context);
        let first = |nic| gaps.next(NicId(nic), &mut Cursor::default(), Draw([0; 4]));
        assert!((0..1000).all(|nic| first(nic) < 140));
        let mean = (0..1000).map(first).sum::<u64>() as f64 / 1000.0;
        assert!((mean - 69.0).abs() < 6.0, "{mean}");
    }
}

//! Punctuality of a source with constant rate: delay and jitter relative to its inter-arrival time.
//!
//! ```text
//! delay    0 ─ 1/32 ─ 1/16 ─ 1/8 ─── 1/4 ───── 1/2 ──────── 3/4 ──────── 1 ── later     × inter-arrival time
//! jitter  -1 ─┬─┬─┬─┬─┬─┬─┬─ 0 ─┬─┬─┬─┬─┬─┬─┬─ 1 ── above                  16 bins of 1/8
//! ```
//!
//! The jitter of a packet is the gap to the packet before it at the receiver, minus the
//! inter-arrival time. A gap is never negative, so jitter is never below -1 inter-arrival time.
//! Sources may also be measured by a shared time; a slow source can then be below -1 as well.

use netloom_encoding::{Encoded, State};

/// Deadlines as fractions of the inter-arrival time (numerator, denominator), the earliest first.
pub const DEADLINES: [(u32, u32); 7] = [(1, 32), (1, 16), (1, 8), (1, 4), (1, 2), (3, 4), (1, 1)];

/// Bins of jitter from -1 to +1 inter-arrival time.
pub const JITTER_BINS: usize = 16;

/// Maximum time that sources may share, in ticks. Its eighths over any denominator fit into 128
/// bits.
pub const LONGEST_SHARED: u64 = (1 << 60) - 1;

/// The exact time between two packets of a source, in ticks: a fraction, so that nothing drifts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InterArrival {
    pub num: u64,
    pub den: u64,
}

impl InterArrival {
    /// Creates an inter-arrival time of `num / den` ticks.
    ///
    /// # Panics
    /// If it is zero, or the denominator is zero or above 2^60.
    pub fn new(num: u64, den: u64) -> InterArrival {
        assert!(num > 0 && den > 0, "packets of a source are apart");
        assert!(
            den <= 1 << 60,
            "eight gaps over a denominator fit into 128 bits"
        );
        InterArrival { num, den }
    }

    /// Returns a fraction of it, rounded down. Whole ticks are at most this if and only if they are
    /// at most the fraction.
    fn part(self, (num, den): (u32, u32)) -> u64 {
        let part =
            u128::from(self.num) * u128::from(num) / (u128::from(self.den) * u128::from(den));
        u64::try_from(part).unwrap_or(u64::MAX)
    }

    pub fn whole_ticks(self) -> u64 {
        self.part((1, 1))
    }

    /// Converts to a float, for printing and statistics only.
    pub fn as_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

/// Returns the bin of jitter of a gap, with all times over the same denominator: `gap` minus `own`,
/// in eighths of `unit`. Below -1 or above +1, it is [`JITTER_BINS`].
#[inline]
fn bin(gap: u128, own: u128, unit: u128) -> usize {
    // Jitter plus one, which is the gap if a source is measured by its own time.
    let Some(above) = (gap + unit).checked_sub(own) else {
        return JITTER_BINS;
    };
    let above = above * 8;
    let eighths = match (u64::try_from(above), u64::try_from(unit)) {
        (Ok(above), Ok(unit)) => u128::from(above / unit),
        _ => above / unit,
    };
    // The last bin is closed: +1 itself is inside.
    if above == unit * JITTER_BINS as u128 {
        JITTER_BINS - 1
    } else {
        eighths.min(JITTER_BINS as u128) as usize
    }
}

/// Counts of punctuality: integers only, so that sums do not depend on their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Encoded)]
pub struct Punctuality {
    /// Packets by delay: up to each of the [`DEADLINES`] but later than the previous one. The last
    /// entry counts packets later than all deadlines.
    pub delays: [u64; DEADLINES.len() + 1],
    /// Gaps by jitter. The last entry counts those outside -1 to +1 inter-arrival time.
    pub jitter: [u64; JITTER_BINS + 1],
    /// Sum of all delays in ticks.
    pub delay_sum: u64,
    /// Maximum delay in ticks.
    pub delay_max: u64,
    /// Sum of all gaps in ticks.
    pub gap_sum: u64,
}

impl Punctuality {
    pub fn packets(&self) -> u64 {
        self.delays.iter().sum()
    }

    /// Returns the number of gaps between packets.
    pub fn gaps(&self) -> u64 {
        self.jitter.iter().sum()
    }

    /// Returns the number of packets within each of the [`DEADLINES`].
    pub fn in_time(&self) -> [u64; DEADLINES.len()] {
        let mut sum = 0;
        std::array::from_fn(|at| {
            sum += self.delays[at];
            sum
        })
    }

    /// Adds the counts of another one.
    pub fn merge(&mut self, other: &Punctuality) {
        let add =
            |sums: &mut [u64], more: &[u64]| sums.iter_mut().zip(more).for_each(|(a, b)| *a += b);
        add(&mut self.delays, &other.delays);
        add(&mut self.jitter, &other.jitter);
        self.delay_sum += other.delay_sum;
        self.delay_max = self.delay_max.max(other.delay_max);
        self.gap_sum += other.gap_sum;
    }
}

#[derive(Clone, Debug, State)]
pub struct PunctualityMeter {
    #[state(constant)]
    inter_arrival: InterArrival,
    /// Unit of deadlines and jitter bins, over the denominator of the inter-arrival time.
    #[state(constant)]
    unit: u128,
    /// The deadlines in whole ticks.
    #[state(constant)]
    limits: [u64; DEADLINES.len()],
    /// Arrival of the last packet.
    last: Option<u64>,
    counted: Punctuality,
}

impl PunctualityMeter {
    /// Creates a meter that measures by `by` ticks, or by the inter-arrival time if `None`.
    ///
    /// # Panics
    /// If `by` is zero or above [`LONGEST_SHARED`].
    pub fn new(inter_arrival: InterArrival, by: Option<u64>) -> PunctualityMeter {
        let (unit, measure) = match by {
            None => (u128::from(inter_arrival.num), inter_arrival),
            Some(ticks) => {
                assert!(
                    ticks <= LONGEST_SHARED,
                    "a time that eighths can be made of"
                );
                let unit = u128::from(ticks) * u128::from(inter_arrival.den);
                (unit, InterArrival::new(ticks, 1))
            }
        };
        PunctualityMeter {
            inter_arrival,
            unit,
            limits: DEADLINES.map(|part| measure.part(part)),
            last: None,
            counted: Punctuality::default(),
        }
    }

    /// Whether these counts are possible at a tick: no packet came later, and no count is near its
    /// limit.
    pub fn is_sound(&self, now: u64) -> bool {
        let counted = &self.counted;
        let sums = [counted.delay_sum, counted.delay_max, counted.gap_sum];
        let mut counts = counted.delays.iter().chain(&counted.jitter).chain(&sums);
        self.last.is_none_or(|last| last <= now) && counts.all(|&count| count < 1 << 52)
    }

    /// Records a packet that came at tick `now`, `delay` ticks after its creation.
    #[inline]
    pub fn record(&mut self, now: u64, delay: u64) {
        let counted = &mut self.counted;
        let missed = self.limits.iter().filter(|limit| delay > **limit).count();
        counted.delays[missed] += 1;
        counted.delay_sum += delay;
        counted.delay_max = counted.delay_max.max(delay);
        if let Some(last) = self.last {
            let gap = now - last;
            let InterArrival { num, den } = self.inter_arrival;
            let over_den = u128::from(gap) * u128::from(den);
            counted.jitter[bin(over_den, u128::from(num), self.unit)] += 1;
            counted.gap_sum += gap;
        }
        self.last = Some(now);
    }

    /// Returns the counts and resets them. The last packet is remembered, so that no gap is lost.
    pub fn take(&mut self) -> Punctuality {
        std::mem::take(&mut self.counted)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn delays_by_hand() {
        // 64 ticks between packets: deadlines at 2, 4, 8, 16, 32, 48 and 64, each inclusive.
        let mut meter = PunctualityMeter::new(InterArrival::new(64, 1), None);
        for delay in [0, 2, 3, 4, 8, 9, 32, 33, 48, 64, 65, 1000] {
            meter.record(0, delay);
        }
        let counted = meter.take();
        assert_eq!(counted.delays, [2, 2, 1, 1, 1, 2, 1, 2]);
        assert_eq!(counted.in_time(), [2, 4, 5, 6, 7, 9, 10]);
        assert_eq!((counted.packets(), counted.delay_max), (12, 1000));
        assert_eq!(counted.delay_sum, 1268);
        assert_eq!(meter.take(), Punctuality::default());
    }

    #[test]
    fn jitter_by_hand() {
        let mut meter = PunctualityMeter::new(InterArrival::new(80, 1), None);
        let mut now = 7;
        meter.record(now, 1);
        // Jitter -80, -71, -70, -1, 0, 9, 10, 79, 80 and 81 of 80 ticks, in bins of 10.
        for gap in [0, 9, 10, 79, 80, 89, 90, 159, 160, 161] {
            now += gap;
            meter.record(now, 1);
        }
        let counted = meter.take();
        let mut expected = [0; 17];
        for (bin, n) in [(0, 2), (1, 1), (7, 1), (8, 2), (9, 1), (15, 2), (16, 1)] {
            expected[bin] = n;
        }
        assert_eq!(counted.jitter, expected);
        assert_eq!((counted.gaps(), counted.gap_sum), (10, now - 7));
        // The packet before a `take` still begins a gap.
        meter.record(now + 80, 1);
        assert_eq!(meter.take().jitter[8], 1);
    }

    #[test]
    fn a_shared_time_by_hand() {
        // Packets 80 ticks apart, measured by 40: deadlines at 1, 2, 5, 10, 20, 30 and 40.
        let mut meter = PunctualityMeter::new(InterArrival::new(80, 1), Some(40));
        let mut now = 7;
        meter.record(now, 1);
        // Jitter -80, -41, -40, -35, 0, 39, 40 and 41 in bins of 5.
        for gap in [0, 39, 40, 45, 80, 119, 120, 121] {
            now += gap;
            meter.record(now, 31);
        }
        let counted = meter.take();
        assert_eq!(counted.in_time(), [1, 1, 1, 1, 1, 1, 9]);
        let mut expected = [0; 17];
        for (bin, n) in [(0, 1), (1, 1), (8, 1), (15, 2), (16, 3)] {
            expected[bin] = n;
        }
        assert_eq!(counted.jitter, expected);
    }

    proptest! {
        /// Compared with the definition, in exact fractions.
        #[test]
        fn bins_and_limits_are_exact(num in 1u64..=u64::MAX, den in 1u64..1 << 40, x: u64) {
            let inter_arrival = InterArrival::new(num, den);
            let meter = PunctualityMeter::new(inter_arrival, None);
            for ((n, d), limit) in DEADLINES.into_iter().zip(meter.limits) {
                let is_in_time = u128::from(x) * u128::from(d) * u128::from(den) <= u128::from(num) * u128::from(n);
                // A limit beyond 64 bits is never exceeded.
                prop_assert_eq!(x <= limit, is_in_time);
            }
            let gap = u128::from(x) * u128::from(den);
            let bin = bin(gap, u128::from(num), u128::from(num)) as u128;
            let scaled = u128::from(x) * u128::from(den) * 8;
            let edge = |bin: u128| bin * u128::from(num);
            if bin == 16 {
                prop_assert!(scaled > edge(16));
            } else {
                prop_assert!(edge(bin) <= scaled);
                prop_assert!(scaled < edge(bin + 1) || (bin == 15 && scaled == edge(16)));
            }
        }

        /// Measuring by a shared time equal to the inter-arrival time changes nothing.
        #[test]
        fn the_own_time_as_a_shared_one(
            ticks in 1u64..1 << 40,
            den in 1u64..1 << 20,
            records in prop::collection::vec((0u64..1 << 42, 0u64..1 << 42), 0..9),
        ) {
            let own = InterArrival::new(ticks * den, den);
            let mut meters = [None, Some(ticks)].map(|by| PunctualityMeter::new(own, by));
            let counted = meters.each_mut().map(|meter| {
                let mut now = 0;
                for &(gap, delay) in &records {
                    now += gap;
                    meter.record(now, delay);
                }
                meter.take()
            });
            prop_assert_eq!(counted[0], counted[1]);
        }
    }
}

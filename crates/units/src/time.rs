//! Durations as written in a file, and their conversion to the ticks of a run.

use std::fmt;

use crate::{Ratio, Tick};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Time {
    picos: Ratio,
}

impl Time {
    pub const ZERO: Time = Time { picos: Ratio::ZERO };

    /// Creates a duration from picoseconds.
    pub fn from_picos(picos: Ratio) -> Self {
        Time { picos }
    }

    /// Creates a duration from whole nanoseconds.
    pub fn from_nanos(nanos: u64) -> Self {
        Time {
            picos: Ratio::whole(nanos) * Ratio::whole(1000),
        }
    }

    /// Returns the exact number of picoseconds.
    pub fn picos(self) -> Ratio {
        self.picos
    }

    /// Returns nanoseconds, for printing and statistics only.
    pub fn as_nanos(self) -> f64 {
        self.picos.as_f64() / 1e3
    }

    /// Whether this is a duration of zero.
    pub fn is_zero(self) -> bool {
        self.picos.is_zero()
    }
}

impl std::ops::Mul<u64> for Time {
    type Output = Time;
    fn mul(self, n: u64) -> Time {
        Time {
            picos: self.picos * Ratio::whole(n),
        }
    }
}

impl std::ops::Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time {
            picos: self.picos + other.picos,
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            (1_000_000_000_000u128, "s"),
            (1_000_000_000, "ms"),
            (1_000_000, "us"),
            (1_000, "ns"),
            (1, "ps"),
        ];
        let (num, den) = (self.picos.num(), self.picos.den());
        for (size, name) in units {
            if num >= size * den || size == 1 {
                return write!(f, "{} {name}", crate::parse::decimal(num, den * size));
            }
        }
        unreachable!("the last unit always fits")
    }
}

/// Formats nanoseconds with three digits and a suitable unit.
pub fn short_time(nanos: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "us")];
    let suits = units.into_iter().find(|(size, _)| nanos >= *size);
    let (size, unit) = suits.unwrap_or((1.0, "ns"));
    let value = nanos / size;
    let digits = match value {
        v if v < 10.0 => 2,
        v if v < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}

/// The length of a tick, and the conversion of times to ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timebase {
    tick: Time,
}

/// The longest duration in ticks. It keeps the wheels short and 64 bits ample.
const LONGEST: u64 = 1 << 20;

impl Timebase {
    /// Creates a timebase with ticks of this length.
    ///
    /// # Panics
    /// If the length is zero.
    pub fn new(tick: Time) -> Self {
        assert!(!tick.is_zero(), "a tick of no length");
        Timebase { tick }
    }

    /// Chooses the longest tick that divides every duration. If that tick would be absurdly short,
    /// chooses the longest tick of the form `shortest / n` that keeps every relative error below
    /// 1e-4.
    ///
    /// Durations of zero are ignored. Without any other duration, the tick is a nanosecond.
    pub fn for_durations(durations: &[Time]) -> Self {
        let some: Vec<Time> = durations.iter().copied().filter(|d| !d.is_zero()).collect();
        let Some(&shortest) = some.iter().min() else {
            return Timebase {
                tick: Time::from_nanos(1),
            };
        };
        let longest = *some.iter().max().expect("not empty");
        let exact = some.iter().fold(some[0].picos, |g, d| g.gcd(d.picos));
        if (longest.picos / exact).ceil()
            <= LONGEST.max((longest.picos / shortest.picos).ceil() * 64)
        {
            return Timebase {
                tick: Time { picos: exact },
            };
        }
        let acceptable = |n: u64| {
            let base = Timebase {
                tick: Time {
                    picos: shortest.picos / Ratio::whole(n),
                },
            };
            some.iter().all(|&d| base.error(d) < 1e-4)
        };
        let n = (1..=10_000).find(|&n| acceptable(n)).unwrap_or(10_000);
        Timebase {
            tick: Time {
                picos: shortest.picos / Ratio::whole(n),
            },
        }
    }

    pub fn tick(self) -> Time {
        self.tick
    }

    /// Returns the nearest whole number of ticks, but at least one for a duration other than zero.
    pub fn ticks(self, duration: Time) -> u64 {
        let n = (duration.picos / self.tick.picos).round();
        if duration.is_zero() { 0 } else { n.max(1) }
    }

    /// Returns the relative error of [`Timebase::ticks`] for a duration; zero if it is exact.
    pub fn error(self, duration: Time) -> f64 {
        if duration.is_zero() {
            return 0.0;
        }
        let exact = duration.picos / self.tick.picos;
        if exact.den() == 1 {
            return 0.0;
        }
        (self.ticks(duration) as f64 - exact.as_f64()).abs() / exact.as_f64()
    }

    /// Returns the exact duration of a number of ticks.
    pub fn time(self, ticks: u64) -> Time {
        self.tick * ticks
    }

    /// Converts ticks to nanoseconds, for printing and statistics.
    pub fn nanos(self, ticks: f64) -> f64 {
        ticks * self.tick.as_nanos()
    }

    /// Returns the first tick at or after a time of the run.
    pub fn tick_at(self, time: Time) -> Tick {
        Tick((time.picos / self.tick.picos).ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, Rate};

    fn ps(num: u128, den: u128) -> Time {
        Time::from_picos(Ratio::new(num, den))
    }

    #[test]
    fn a_single_clock_fabric_has_its_flit_as_tick() {
        let flit = Rate(100_000_000_000).time_for(Bytes(64));
        let base = Timebase::for_durations(&[flit, flit * 20, flit * 3]);
        assert_eq!(base.tick(), ps(5120, 1));
        assert_eq!(base.ticks(flit * 20), 20);
    }

    #[test]
    fn thirteen_to_ten_clocks_share_a_thirteenth() {
        let channel = Time::from_nanos(1);
        let core = ps(10_000, 13);
        let base = Timebase::for_durations(&[channel, core]);
        assert_eq!(base.tick(), ps(1000, 13));
        assert_eq!((base.ticks(channel), base.ticks(core)), (13, 10));
        assert_eq!(base.error(core), 0.0);
    }

    #[test]
    fn twelve_lanes_of_infiniband_are_exact() {
        // Paper 004 at 12x: 8 bits at 30 Gb/s = 0.2667 ns, with a 20 ns delay.
        let byte = Rate(30_000_000_000).time_for(Bytes(1));
        let base = Timebase::for_durations(&[byte, Time::from_nanos(20)]);
        assert_eq!(base.error(byte), 0.0);
        assert_eq!(base.ticks(byte) * 75, base.ticks(Time::from_nanos(20)));
    }

    #[test]
    fn incommensurable_times_get_a_tick_with_a_stated_error() {
        let odd = ps(5120, 1);
        let prime = ps(100_000_007, 9973);
        let base = Timebase::for_durations(&[odd, prime]);
        assert!(base.error(odd) < 1e-4 && base.error(prime) < 1e-4);
        assert!(base.ticks(odd) <= 10_000);
    }
}

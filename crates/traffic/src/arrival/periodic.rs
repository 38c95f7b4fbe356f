//! Bursts at equal distances.

use netloom_catalog::{Described, choice, params};
use netloom_packet::Cursor;
use netloom_random::Draw;
use netloom_units::{NicId, Time};

use super::constant::Beats;
use super::{ArrivalProcess, FRACTION_BITS, Gaps, Phase};
use crate::Context;

choice! {
    /// The senders of the messages of a burst.
    pub enum Per {
        /// Every source sends this number.
        Source = "source",
        /// All sources together send this number, divided evenly; the first ones send the rest.
        Class = "class",
    }
}

params! {
    /// A burst in every `period`: a number of messages at the same instant, each with a destination
    /// of its own draw. Its load follows from period, messages and sizes, so the class has no
    /// `load`.
    ///
    /// Paper 003 has bursts of 8 MiB from half of the nodes to one. With messages of 32 KiB, 256
    /// per class are 8 MiB in total, and 256 per source are 8 MiB from each.
    #[derive(Clone, Debug)]
    pub struct Periodic {
        /// Time from one burst to the next.
        pub period: Time,
        /// Messages per burst.
        pub messages: u32 = 1,
        /// Whether `messages` counts per source ("source") or for all sources of the class together
        /// ("class").
        pub per: Per = Per::Source,
        /// Time of the first burst: at the start for all NICs, or at random in the first period.
        pub phase: Phase = Phase::Zero,
    }
    check |it, section| {
        if it.messages == 0 {
            let place = section.place_of("messages");
            let message = "a burst needs at least one message";
            section.notes.error("E0603", place, message).help("use at least messages = 1");
        }
        if it.period.is_zero() {
            let place = section.place_of("period");
            let help = "use a time like period = \"1 ms\"";
            section.notes.error("E0603", place, "the period is zero").help(help);
        }
    }
}

impl Described for Periodic {
    const NAME: &'static str = "periodic";
    const SUMMARY: &'static str =
        "A burst of messages every period, from each source or from all together.";
    const EXAMPLE: &'static str = "period = \"1 us\"\nphase = \"random\"";
}

/// The rate of messages, if an arrival process defines it instead of the load of its class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pace {
    /// Time from one burst to the next.
    pub period: Time,
    /// Messages per burst.
    pub messages: u32,
    /// The senders.
    pub per: Per,
}

impl Pace {
    /// Returns the cycles from one burst to the next. Fractions of a cycle are rounded to a
    /// thousandth, so bursts drift by at most a cycle per thousand bursts.
    fn cycles(&self, cycles: &dyn Fn(Time) -> u64) -> f64 {
        // Times of an experiment end well beyond a minute.
        let n = match self.period <= Time::from_nanos(50_000_000) {
            true => 1000,
            false => 1,
        };
        (cycles(self.period * n) as f64 / n as f64).max(1.0)
    }

    /// Returns the messages that the source at an index below `n` sends per burst.
    fn messages_at(&self, place: usize, n: usize) -> u32 {
        let n = u32::try_from(n).expect("no more sources than NIC ids");
        match self.per {
            Per::Source => self.messages,
            Per::Class => self.messages / n + u32::from((place as u32) < self.messages % n),
        }
    }

    /// Returns the mean load of a source among `n`, for messages of `mean_flits` flits on average.
    pub fn load(&self, mean_flits: f64, n: usize, cycles: &dyn Fn(Time) -> u64) -> f64 {
        let per_source = match self.per {
            Per::Source => f64::from(self.messages),
            Per::Class => f64::from(self.messages) / n.max(1) as f64,
        };
        per_source * mean_flits / self.cycles(cycles)
    }
}

impl ArrivalProcess for Periodic {
    fn prepare(&self, _mean_gap_cycles: f64, context: &Context<'_>) -> Box<dyn Gaps> {
        let pace = Pace {
            period: self.period,
            messages: self.messages,
            per: self.per,
        };
        let mut messages = vec![0; context.n_nics as usize];
        for (place, source) in context.sources.iter().enumerate() {
            messages[source.index()] = pace.messages_at(place, context.sources.len());
        }
        Box::new(PeriodicBursts {
            beats: Beats::new(pace.cycles(context.cycles), self.phase, context),
            messages,
        })
    }

    fn pace(&self) -> Option<Pace> {
        Some(Pace {
            period: self.period,
            messages: self.messages,
            per: self.per,
        })
    }
}

struct PeriodicBursts {
    beats: Beats,
    /// Messages per burst, by NIC.
    messages: Vec<u32>,
}

impl Gaps for PeriodicBursts {
    fn next(&self, nic: NicId, cursor: &mut Cursor, _draw: Draw) -> u64 {
        match self.messages[nic.index()] {
            0 => u64::MAX,
            of_burst => {
                if cursor.number.is_multiple_of(of_burst) {
                    cursor.time = self.beats.next(nic, cursor.time, cursor.number / of_burst);
                }
                cursor.time >> FRACTION_BITS
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cycles of the first messages of some NICs; one cycle is 1.28 ns, as in paper
    /// 003.
    fn cycles(bursts: &Periodic, n_sources: u32, nic: u32, n: u32) -> Vec<u64> {
        let sources: Vec<NicId> = (0..n_sources).map(NicId).collect();
        let context = Context {
            groups: &crate::NO_GROUPS,
            n_nics: n_sources,
            seed: 1,
            class: 0,
            sources: &sources,
            destinations: None,
            mean_flits: 512.0,
            cycles: &|time| (time.as_nanos() / 1.28).ceil() as u64,
        };
        let gaps = bursts.prepare(0.0, &context);
        let mut cursor = Cursor::default();
        (0..n)
            .map(|number| {
                cursor.number = number;
                gaps.next(NicId(nic), &mut cursor, Draw([0; 4]))
            })
            .collect()
    }

    fn every_ms(messages: u32, per: Per) -> Periodic {
        Periodic {
            period: Time::from_nanos(1_000_000),
            messages,
            per,
            phase: Phase::Zero,
        }
    }

    #[test]
    fn x003_14_a_burst_is_of_the_class_or_of_each_source() {
        // 1 ms is 781,250 flits of 64 bytes at 50 bytes per ns.
        let total = every_ms(256, Per::Class);
        assert_eq!(cycles(&total, 256, 255, 3), [0, 781_250, 1_562_500]);
        let each = every_ms(256, Per::Source);
        let mut of_one = cycles(&each, 256, 255, 257);
        assert_eq!(of_one.pop(), Some(781_250));
        assert!(of_one.into_iter().all(|cycle| cycle == 0));
        // 32 KiB are 512 flits.
        let at = |time: Time| (time.as_nanos() / 1.28).ceil() as u64;
        let load = |bursts: &Periodic| bursts.pace().unwrap().load(512.0, 256, &at);
        assert!((load(&total) - 512.0 / 781_250.0).abs() < 1e-12);
        assert!((load(&each) - 256.0 * 512.0 / 781_250.0).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_divided_evenly_goes_to_the_first() {
        let some = every_ms(5, Per::Class);
        assert_eq!(cycles(&some, 3, 1, 3), [0, 0, 781_250]);
        assert_eq!(cycles(&some, 3, 2, 3), [0, 781_250, 1_562_500]);
        assert_eq!(cycles(&every_ms(2, Per::Class), 3, 2, 1), [u64::MAX]);
    }

    #[test]
    fn an_odd_period_does_not_drift() {
        let odd = Periodic {
            period: Time::from_nanos(1_001),
            ..every_ms(1, Per::Source)
        };
        let last = *cycles(&odd, 2, 0, 100_000).last().unwrap();
        let exact = 99_999.0 * 1001.0 / 1.28;
        assert!((last as f64 - exact).abs() < 101.0, "{last} for {exact}");
    }
}

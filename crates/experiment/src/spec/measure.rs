//! `[measure]`: length, number and precision of runs.

use netloom_catalog::{FromToml, Notes, Section, Shape, Value, params};
use netloom_units::{Ratio, Time};

/// Limit on the length of a run; keeps ticks far below 64 bits.
const LONGEST_SECONDS: u64 = 100;

/// Limit on the number of runs.
pub const MOST_RUNS: u32 = 1_000_000;

/// The largest whole number in a TOML file.
pub const LAST_SEED: u64 = i64::MAX as u64;

params! {
    /// Length, number and precision of runs.
    #[derive(Clone, Debug)]
    pub struct MeasureSpec {
        /// Seed of all random choices. The same seed gives identical results.
        pub seed: u64 = 1,
        /// Number of runs. Their seeds count up from `seed`.
        pub repeat: u32 = 1,
        /// The part to discard at the start: "auto" (found by MSER-5; none if all traffic is jobs
        /// and lists of messages), a time, or the epochs until a number of packets is delivered
        /// ("10000 packets").
        pub warmup: Warmup = Warmup::Auto,
        /// Simulated time of a run.
        pub length: Time = Time::from_nanos(200_000),
        /// Number of parts of a run. At the end of each, rules are evaluated and a point is
        /// added to the time series.
        pub epochs: u32 = 200,
        /// How long a packet may wait at an input before netloom searches for a deadlock.
        pub patience: Time = Time::from_nanos(100_000),
        /// Relative half width of the 95 % interval of the mean message latency at which a run
        /// counts as converged.
        pub interval: f64 = 0.05,
        /// Whether to measure the longest wait at an output and how often arbiters had a choice,
        /// which takes time. The default is true if the tables are those of a `[plan]`.
        pub waits: Option<bool> = None,
    }
    check |it, section| {
        let longest = Time::from_nanos(1_000_000_000) * LONGEST_SECONDS;
        let shortest = Time::from_picos(Ratio::whole(1000));
        for (key, time) in [("length", it.length), ("patience", it.patience)] {
            if time < shortest || time > longest {
                let message = format!("expected 1 ns to 100 s for `{key}`, found {time}");
                wrong(section, key, message, "set a time from 1 ns to 100 s");
            }
        }
        if let Warmup::Until(time) = it.warmup && time >= it.length {
            let place = section.place_of("length");
            let warmup = section.place_of("warmup");
            section
                .notes
                .error("E0702", warmup, format!("the warm-up of {time} leaves nothing to measure"))
                .also(place, format!("the run ends at {}", it.length))
                .help("set a longer `length` or a shorter `warmup`");
        }
        if !(1..=MOST_RUNS).contains(&it.repeat) {
            let message = format!("expected 1 to 1000000 runs, found {}", it.repeat);
            wrong(section, "repeat", message, "set `repeat` to 1 to 1000000");
        } else if it.seed > LAST_SEED - u64::from(it.repeat - 1) {
            // A file cannot hold a larger number, so the last of these seeds could not be run
            // alone.
            let message = format!("the seeds from {} on exceed {LAST_SEED}", it.seed);
            wrong(section, "seed", message, "set a smaller seed");
        }
        if !(1..=1_000_000).contains(&it.epochs) {
            let message = format!("expected 1 to 1000000 epochs, found {}", it.epochs);
            wrong(section, "epochs", message, "set `epochs` to 1 to 1000000");
        }
        if !(it.interval > 0.0 && it.interval < 1.0) {
            let message = format!("expected a width between 0 and 1, found {}", it.interval);
            wrong(section, "interval", message, "set a fraction such as 0.05");
        }
    }
}

fn wrong(section: &mut Section<'_>, key: &str, message: String, help: &str) {
    let place = section.place_of(key);
    section.notes.error("E0701", place, message).help(help);
}

/// The part to discard at the start of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Warmup {
    /// Found by MSER-5.
    Auto,
    /// Everything before this.
    Until(Time),
    /// The epochs until this number of packets is delivered.
    Packets(u64),
}

/// Parses the number in "10000 packets".
fn packets_of(text: &str) -> Option<u64> {
    text.strip_suffix("packets")?.trim_end().parse().ok()
}

impl FromToml for Warmup {
    fn shape() -> Shape {
        Shape::Either(vec![
            Shape::OneOf(vec!["auto"]),
            Time::shape(),
            Shape::Quantity("number of packets"),
        ])
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        match value.as_text() {
            Some("auto") => Some(Warmup::Auto),
            Some(text) if packets_of(text).is_some() => packets_of(text).map(Warmup::Packets),
            _ => Time::read(value, notes).map(Warmup::Until),
        }
    }

    fn write(&self) -> String {
        match self {
            Warmup::Auto => "\"auto\"".to_owned(),
            Warmup::Until(time) => time.write(),
            Warmup::Packets(n) => format!("\"{n} packets\""),
        }
    }
}

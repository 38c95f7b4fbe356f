//! `[measure]`: how long, how often, how exactly.

use netloom_catalog::{FromToml, Notes, Section, Shape, Value, params};
use netloom_units::{Ratio, Time};

/// The longest run: nobody waits for more, and ticks stay far from the end of 64 bits.
const LONGEST_SECONDS: u64 = 100;

/// More seeds tell nobody more.
pub const MOST_RUNS: u32 = 1_000_000;

/// The largest whole number of a TOML file.
pub const LAST_SEED: u64 = i64::MAX as u64;

params! {
    /// How long, how often, how exactly.
    #[derive(Clone, Debug)]
    pub struct MeasureSpec {
        /// Seed of everything random; the same seed gives the same bytes.
        pub seed: u64 = 1,
        /// Number of runs, with seeds counted up from the first.
        pub repeat: u32 = 1,
        /// What is discarded at the start: "auto" (MSER-5; nothing where all traffic is jobs and lists of messages), a
        /// time, or the epochs until a number of packets is delivered ("10000 packets").
        pub warmup: Warmup = Warmup::Auto,
        /// Simulated time of a run.
        pub length: Time = Time::from_nanos(200_000),
        /// Parts of a run at whose ends rules are evaluated and series get a point.
        pub epochs: u32 = 200,
        /// How long a packet may wait at an input before a deadlock is looked for.
        pub patience: Time = Time::from_nanos(100_000),
        /// Relative half width of the 95 % interval of mean message latency that counts as converged.
        pub interval: f64 = 0.05,
        /// Whether to measure the longest wait at an output and how often arbiters had a choice (costs time); left out, where
        /// the tables are those of a `[plan]`.
        pub waits: Option<bool> = None,
    }
    check |it, section| {
        let longest = Time::from_nanos(1_000_000_000) * LONGEST_SECONDS;
        let shortest = Time::from_picos(Ratio::whole(1000));
        for (key, time) in [("length", it.length), ("patience", it.patience)] {
            if time < shortest || time > longest {
                wrong(section, key, format!("`{key}` of {time}"), "write 1 ns to 100 s");
            }
        }
        if let Warmup::Until(time) = it.warmup && time >= it.length {
            let place = section.place_of("length");
            let warmup = section.place_of("warmup");
            section
                .notes
                .error("E0702", warmup, format!("the warm-up of {time} leaves nothing to measure"))
                .also(place, format!("the run ends at {}", it.length))
                .help("give a longer `length` or a shorter `warmup`");
        }
        if !(1..=MOST_RUNS).contains(&it.repeat) {
            let message = match it.repeat {
                0 => "no run at all".to_owned(),
                n => format!("{n} runs"),
            };
            wrong(section, "repeat", message, "write 1 to 1000000");
        } else if it.seed > LAST_SEED - u64::from(it.repeat - 1) {
            // A file holds no larger number, so nobody could ask for the last of them alone.
            let message = format!("seeds from {} to beyond {LAST_SEED}", it.seed);
            wrong(section, "seed", message, "write a smaller seed");
        }
        if !(1..=1_000_000).contains(&it.epochs) {
            wrong(section, "epochs", format!("{} epochs", it.epochs), "write 1 to 1000000");
        }
        if !(it.interval > 0.0 && it.interval < 1.0) {
            wrong(section, "interval", format!("a relative width of {}", it.interval), "write a fraction like 0.05");
        }
    }
}

fn wrong(section: &mut Section<'_>, key: &str, message: String, help: &str) {
    let place = section.place_of(key);
    section.notes.error("E0701", place, message).help(help);
}

/// What is discarded at the start of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Warmup {
    /// Found by MSER-5.
    Auto,
    /// Everything before this.
    Until(Time),
    /// The epochs until so many packets are delivered (spec 5.5).
    Packets(u64),
}

/// The number of "10000 packets".
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

//! Combines the findings of all fabrics for a claim about each.

use super::scenarios::{Packet, Setting};
use crate::{Finding, Measured, Shown};

/// The finding for one fabric.
pub(super) struct Part {
    /// Whether it is accepted.
    pub(super) holds: Shown,
    /// The measured value, as text.
    pub(super) words: String,
    /// The measured numbers; the name of the fabric is added to theirs.
    pub(super) numbers: Vec<(String, f64)>,
}

impl Part {
    /// Creates a part with a single number.
    pub(super) fn of(holds: impl Into<Shown>, words: String, name: &str, number: f64) -> Part {
        Part {
            holds: holds.into(),
            words,
            numbers: vec![(name.to_owned(), number)],
        }
    }
}

/// Combines irregular / hypercube / mesh, in the order of the paper: holds if all hold, not run if
/// one was not run.
pub(super) fn on_all(packet: Packet, of: impl Fn(&'static Setting) -> Option<Part>) -> Finding {
    let mut holds = Shown::Yes;
    let (mut words, mut numbers) = (vec![], vec![]);
    for setting in Setting::of(packet) {
        let Some(part) = of(setting) else {
            return Finding::not_run(format!(
                "too little was run on the {}, {} B",
                setting.name(),
                packet.bytes()
            ));
        };
        holds = holds & part.holds;
        words.push(part.words);
        let named = |(name, number)| (format!("{name}_{}", setting.name()), number);
        numbers.extend(part.numbers.into_iter().map(named));
    }
    Finding {
        numbers,
        ..Finding::checked(holds, words.join(" / "))
    }
}

/// Returns the mean of one value per seed.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    Measured::over(values).map(|measured| measured.mean)
}

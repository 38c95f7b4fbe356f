//! A claim about every fabric, put together from what each of them gave.

use super::scenarios::{Packet, Setting};
use crate::{Finding, Measured, Shown};

/// What one fabric gave.
pub(super) struct Part {
    /// Whether it is accepted.
    pub(super) holds: Shown,
    /// As a person is told.
    pub(super) words: String,
    /// The same as numbers; the name of the fabric is added.
    pub(super) numbers: Vec<(String, f64)>,
}

impl Part {
    /// A single number.
    pub(super) fn of(holds: impl Into<Shown>, words: String, name: &str, number: f64) -> Part {
        Part {
            holds: holds.into(),
            words,
            numbers: vec![(name.to_owned(), number)],
        }
    }
}

/// Irregular / hypercube / mesh, as the paper has its tables: holds if each does; not run if one was not.
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

/// The mean of one value per seed.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    Measured::over(values).map(|measured| measured.mean)
}

//! The kinds of claims of papers, and findings about them.

use serde::Serialize;

use crate::Shown;

/// How precisely a claim can be checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Tier {
    /// Exact: arithmetic without tolerance.
    E,
    /// Quantitative, within a band.
    Q,
    /// An order or a shape.
    O,
}

impl Tier {
    /// Returns its letter.
    pub fn word(self) -> &'static str {
        match self {
            Tier::E => "E",
            Tier::Q => "Q",
            Tier::O => "O",
        }
    }
}

/// The source of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The paper claims it about its runs, and describes them.
    Paper,
    /// The paper prints no value or band; it is computed here.
    Arithmetic,
    /// The paper ran traces or programs that are not public; synthetic ones replace them.
    MadeUp,
    /// A check that is not in the paper.
    Ours,
}

impl Basis {
    /// Returns its name in tables.
    pub fn word(self) -> &'static str {
        match self {
            Basis::Paper => "paper",
            Basis::Arithmetic => "our arithmetic",
            Basis::MadeUp => "made-up load",
            Basis::Ours => "our check",
        }
    }
}

/// Whether a claim holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The measured value is accepted, or the whole interval over seeds confirms the order.
    Holds,
    /// An order: the means confirm it, but their interval over seeds includes the opposite.
    Undecided,
    /// The results contradict it: the means have the opposite order, or are outside the band.
    Misses,
    /// The required runs are missing, or not implemented.
    NotRun,
}

impl Verdict {
    /// Returns its name in tables.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Undecided => "undecided",
            Verdict::Misses => "misses",
            Verdict::NotRun => "not-run",
        }
    }
}

/// The result of checking a claim.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// Whether the claim holds.
    pub verdict: Verdict,
    /// What was measured, in words, or why nothing was measured.
    pub measured: String,
    /// The measured numbers by name.
    pub numbers: Vec<(String, f64)>,
}

impl Finding {
    /// Creates the finding of a checked claim.
    pub fn checked(shown: impl Into<Shown>, measured: impl Into<String>) -> Finding {
        Finding {
            verdict: match shown.into() {
                Shown::Yes => Verdict::Holds,
                Shown::Unsure => Verdict::Undecided,
                Shown::No => Verdict::Misses,
            },
            measured: measured.into(),
            numbers: vec![],
        }
    }

    /// Creates the finding of a claim that could not be checked, with the reason.
    pub fn not_run(why: impl Into<String>) -> Finding {
        Finding {
            verdict: Verdict::NotRun,
            measured: why.into(),
            numbers: vec![],
        }
    }

    /// Adds a number.
    pub fn number(mut self, name: impl Into<String>, value: f64) -> Finding {
        self.numbers.push((name.into(), value));
        self
    }
}

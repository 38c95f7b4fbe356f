//! A claim of a paper, and what was found about it.

use serde::Serialize;

use crate::{Results, Shown};

/// How exactly a claim can be checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Tier {
    /// Exact: arithmetic, no tolerance.
    E,
    /// Quantitative, within a band.
    Q,
    /// An order or a shape.
    O,
}

impl Tier {
    /// The letter for it.
    pub fn word(self) -> &'static str {
        match self {
            Tier::E => "E",
            Tier::Q => "Q",
            Tier::O => "O",
        }
    }
}

/// Whose word a claim is, where it is not simply the paper's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The paper says it of what it ran, and what it ran is described.
    Paper,
    /// The value or the band is our own arithmetic: the paper prints none.
    Arithmetic,
    /// The paper ran traces or programs that are not public; ours are made up.
    MadeUp,
    /// Not the paper's at all: a check that we add.
    Ours,
}

impl Basis {
    /// As a table has it.
    pub fn word(self) -> &'static str {
        match self {
            Basis::Paper => "paper",
            Basis::Arithmetic => "our arithmetic",
            Basis::MadeUp => "made-up load",
            Basis::Ours => "our check",
        }
    }
}

/// What a paper says, and how it is checked.
#[derive(Clone, Copy)]
pub struct Claim {
    /// Its id, such as `C000-1`.
    pub id: &'static str,
    /// Which part of it, where it is checked in parts; otherwise empty.
    pub part: &'static str,
    /// How exactly it can be checked.
    pub tier: Tier,
    /// What is claimed.
    pub statement: &'static str,
    /// The paper's own value; `-` where it prints none.
    pub paper: &'static str,
    /// What is accepted.
    pub band: &'static str,
    /// Whose word it is.
    pub basis: Basis,
    /// The readings (X and G ids) that the measured value depends on.
    pub readings: &'static [&'static str],
    /// Looks at the results.
    pub judge: fn(&Results) -> Finding,
}

/// Whether a claim was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The measured value is accepted, or the order is shown by the whole interval over seeds.
    Holds,
    /// An order: the means are as the paper says, but their interval over seeds also holds the opposite.
    Undecided,
    /// It is contradicted: the means are the other way round, or outside the band.
    Misses,
    /// What it takes was not run, or does not exist here yet.
    NotRun,
}

impl Verdict {
    /// The word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Undecided => "undecided",
            Verdict::Misses => "misses",
            Verdict::NotRun => "not-run",
        }
    }
}

/// What was found about a claim.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// Whether it was met.
    pub verdict: Verdict,
    /// What was measured, in words; or why nothing was.
    pub measured: String,
    /// The same as numbers, each with its name.
    pub numbers: Vec<(String, f64)>,
}

impl Finding {
    /// A claim that was checked.
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

    /// A claim that could not be checked; what is known of it all the same, and why.
    pub fn not_run(why: impl Into<String>) -> Finding {
        Finding {
            verdict: Verdict::NotRun,
            measured: why.into(),
            numbers: vec![],
        }
    }

    /// The same with a number.
    pub fn number(mut self, name: impl Into<String>, value: f64) -> Finding {
        self.numbers.push((name.into(), value));
        self
    }
}

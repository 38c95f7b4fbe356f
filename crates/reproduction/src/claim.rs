//! The kinds of claims of papers, and findings about them.

use serde::Serialize;

use crate::Truth;

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

/// Whether a claim holds, or why this is not judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The measured value is accepted, or the whole interval over seeds confirms the order.
    Holds,
    /// An order: the means confirm it, but their interval over seeds includes the opposite.
    Undecided,
    /// The results contradict it: the means have the opposite order, or are outside the band.
    Misses,
    /// A parameter was chosen so that it holds, so it is evidence of nothing.
    Calibrated,
    /// Tests check it for every input, and no run is needed.
    Law,
    /// The size has no runs that decide it: another machine, other loads, or a single seed.
    NotJudged,
    /// Required runs are missing.
    NotRun,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Verdict; 7] = [
        Verdict::Holds,
        Verdict::Undecided,
        Verdict::Misses,
        Verdict::Calibrated,
        Verdict::Law,
        Verdict::NotJudged,
        Verdict::NotRun,
    ];

    /// Returns its name in tables.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Undecided => "undecided",
            Verdict::Misses => "misses",
            Verdict::Calibrated => "calibrated",
            Verdict::Law => "law",
            Verdict::NotJudged => "not judged",
            Verdict::NotRun => "not run",
        }
    }

    /// Whether results decided it, so that it is counted.
    pub fn is_judged(self) -> bool {
        matches!(self, Verdict::Holds | Verdict::Undecided | Verdict::Misses)
    }

    /// Whether there is a measured value.
    pub fn is_measured(self) -> bool {
        self.is_judged() || self == Verdict::Calibrated
    }
}

impl From<Truth> for Verdict {
    fn from(truth: Truth) -> Verdict {
        match truth {
            Truth::Yes => Verdict::Holds,
            Truth::Unsure => Verdict::Undecided,
            Truth::No => Verdict::Misses,
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
    /// The distance from the printed numbers: `+3 %`.
    pub error: Option<String>,
    /// The verdict of the check before the claim was restated.
    pub was: Option<Verdict>,
    /// Of a calibrated claim: the verdict of its check.
    pub check: Option<Verdict>,
}

impl Finding {
    fn new(verdict: Verdict, measured: String) -> Finding {
        Finding {
            verdict,
            measured,
            numbers: vec![],
            error: None,
            was: None,
            check: None,
        }
    }

    /// Creates the finding of a checked claim.
    pub fn checked(truth: impl Into<Truth>, measured: impl Into<String>) -> Finding {
        Finding::new(truth.into().into(), measured.into())
    }

    /// Creates the finding of a claim without verdict, with the reason.
    pub fn without(verdict: Verdict, why: impl Into<String>) -> Finding {
        Finding::new(verdict, why.into())
    }
}

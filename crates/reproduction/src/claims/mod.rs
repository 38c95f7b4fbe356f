//! Claims as data: `claims.toml` of a paper, and the engine that judges them.
//!
//! ```text
//!  claims.toml ─► file.rs ─► Claim: texts, and formulas ── judge(results) ─► Finding
//!                  check.rs       formula.rs        evaluation.rs
//!                                                   sources.rs     columns, documents, tables
//!                                                   functions.rs   over seeds, lists, numbers
//!                                                   quantities/    computed in Rust
//!                                                   tables.rs      CSV for figures
//! ```

mod check;
mod evaluation;
mod file;
mod formula;
mod functions;
mod quantities;
mod sources;
mod tables;
mod value;

use std::sync::Arc;

pub use file::ClaimsFile;
pub(crate) use tables::LineTable;

use crate::order::TOO_FEW;
use crate::{Basis, Finding, Results, Tier, Truth, Verdict};
use evaluation::{Context, Definition, Evaluation, Turns};
use formula::{Formula, Loop, Template};
pub(crate) use quantities::{knee, saturation};
pub(crate) use value::{Missing, Value};

/// A claim, and how it is checked.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Id, such as `C000-1`.
    pub id: String,
    /// Its part, if it is checked in parts; otherwise empty.
    pub part: String,
    /// How precisely it can be checked.
    pub tier: Tier,
    pub statement: String,
    /// The paper's value; `-` if it prints none.
    pub paper: String,
    /// The accepted values.
    pub band: String,
    pub basis: Basis,
    /// Ids of the readings that the measured value depends on.
    pub readings: Vec<String>,
    /// The sentence of the paper that it checks; empty for our own claims.
    pub quote: String,
    /// The sentence about the baseline and the parameter that was chosen by it; otherwise empty.
    pub calibrated: String,
    /// The cause of a miss in a few words.
    pub why: String,
    /// The accepted values before it was restated.
    pub was: Option<String>,
    /// The id of the figure that shows it; empty if there is none.
    pub figure: String,
    pub(crate) judge: Judge,
}

/// How a claim is judged.
#[derive(Clone, Debug)]
pub(crate) enum Judge {
    /// Never by runs: these tests check it.
    Law(String),
    Formulas(Box<Formulas>),
}

/// The formulas of a claim.
#[derive(Clone, Debug)]
pub(crate) struct Formulas {
    holds: Formula,
    /// Whether it takes at least two seeds.
    is_ordered: bool,
    measured: Template,
    numbers: Vec<Number>,
    /// Relative distances from printed numbers, or a text.
    error: Option<Formula>,
    /// Whether it held before it was restated.
    was: Option<Formula>,
    /// The quantities of the file, shared by all claims.
    file: Arc<Vec<Definition>>,
    /// The parameters and quantities of the claim.
    names: Vec<Definition>,
}

/// A measured number, or one for each turn of its loops.
#[derive(Clone, Debug)]
struct Number {
    name: Template,
    /// Whether it is left out if it is missing.
    is_optional: bool,
    value: Formula,
    loops: Vec<Loop>,
}

impl Claim {
    /// Checks the results.
    pub fn judge(&self, results: &Results) -> Finding {
        let own = match &self.judge {
            Judge::Law(tests) => return Finding::without(Verdict::Law, tests),
            Judge::Formulas(own) => own,
        };
        let evaluation = Evaluation::new(results, &own.file, &own.names);
        let mut finding = own.judge(&evaluation).unwrap_or_else(|missing| {
            let verdict = match evaluation.lacks_runs() {
                true => Verdict::NotRun,
                false => Verdict::NotJudged,
            };
            Finding::without(verdict, missing.words())
        });
        if !self.calibrated.is_empty() && finding.verdict.is_judged() {
            finding.check = Some(finding.verdict);
            finding.verdict = Verdict::Calibrated;
        }
        finding
    }
}

impl Formulas {
    fn judge<'a>(&'a self, evaluation: &Evaluation<'a>) -> Result<Finding, Missing> {
        let context = Context::of_claim();
        let truth: Truth = evaluation.value(&self.holds, &context)?.truth()?;
        // Before other formulas, which use functions over seeds too.
        let fewest = evaluation.fewest();
        let mut finding = Finding::checked(truth, evaluation.text(&self.measured, &context)?);
        for number in &self.numbers {
            evaluation.each(&number.loops, &context, Turns::All, &mut |inner| {
                let name = evaluation.text(&number.name, inner)?;
                match evaluation.value(&number.value, inner) {
                    Ok(value) => finding.numbers.push((name, value.number()?)),
                    Err(Missing::Because(_)) if number.is_optional => {}
                    Err(missing) => return Err(missing),
                }
                Ok(())
            })?;
        }
        if let Some(error) = &self.error {
            finding.error = match evaluation.value(error, &context) {
                Ok(Value::Text(text)) => Some(text),
                Ok(value) => percents(value)?,
                Err(Missing::Because(_)) => None,
                Err(missing) => return Err(missing),
            };
        }
        if let Some(was) = &self.was {
            finding.was = Some(match evaluation.value(was, &context) {
                Ok(value) => value.truth()?.into(),
                Err(Missing::Because(_)) => Verdict::NotJudged,
                Err(missing) => return Err(missing),
            });
        }
        if self.is_ordered && fewest.is_some_and(|n| n < 2) {
            finding.verdict = Verdict::NotJudged;
            finding.was = finding.was.map(|_| Verdict::NotJudged);
            finding.measured = format!("{}; {TOO_FEW}", finding.measured);
        }
        Ok(finding)
    }
}

/// Returns a fraction as a percentage, and the least and the greatest of several.
fn percents(value: Value) -> Result<Option<String>, Missing> {
    let all = match value {
        Value::Number(one) => vec![one],
        value => value.numbers()?,
    };
    let least = all.iter().copied().reduce(f64::min);
    let most = all.iter().copied().reduce(f64::max);
    let Some((least, most)) = least.zip(most) else {
        return Ok(None);
    };
    let percent = |fraction: f64| {
        let percent = 100.0 * fraction;
        match percent.abs() < 0.05 {
            true => "0".to_owned(),
            false if percent.abs() < 9.95 => format!("{percent:+.1}"),
            false => format!("{percent:+.0}"),
        }
    };
    let (least, most) = (percent(least), percent(most));
    Ok(Some(match least == most {
        true => format!("{least} %"),
        false => format!("{least} to {most} %"),
    }))
}

#[cfg(test)]
pub(crate) mod tests;

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
use crate::{Basis, Finding, Results, Shown, Tier, Verdict};
use evaluation::{Context, Definition, Evaluation, Turns};
use formula::{Formula, Loop, Template};
pub(crate) use quantities::saturation;
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
    pub(crate) judge: Judge,
}

/// How a claim is judged.
#[derive(Clone, Debug)]
pub(crate) enum Judge {
    /// Never, for this reason.
    Never(String),
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
        match &self.judge {
            Judge::Never(why) => Finding::not_run(why),
            Judge::Formulas(own) => {
                let evaluation = Evaluation::new(results, &own.file, &own.names);
                let found = own.judge(&evaluation);
                found.unwrap_or_else(|missing| Finding::not_run(missing.words()))
            }
        }
    }
}

impl Formulas {
    fn judge<'a>(&'a self, evaluation: &Evaluation<'a>) -> Result<Finding, Missing> {
        let context = Context::of_claim();
        let shown: Shown = evaluation.value(&self.holds, &context)?.truth()?;
        // Before other formulas, which use functions over seeds too.
        let fewest = evaluation.fewest();
        let mut finding = Finding::checked(shown, evaluation.text(&self.measured, &context)?);
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
        if self.is_ordered && fewest.is_some_and(|n| n < 2) {
            finding.verdict = Verdict::NotRun;
            finding.measured = format!("{}; {TOO_FEW}", finding.measured);
        }
        Ok(finding)
    }
}

#[cfg(test)]
pub(crate) mod tests;

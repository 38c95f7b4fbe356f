//! Tables for figures: lines over loops and runs, with a formula for each column.

use std::sync::Arc;

use netloom_results::quoted;

use super::evaluation::{Context, Definition, Evaluation, Turns};
use super::formula::{Formula, Loop};
use super::value::Missing;
use crate::Results;

/// A table, written as CSV.
#[derive(Clone, Debug)]
pub(crate) struct LineTable {
    /// The name of the file, without extension.
    pub(crate) name: String,
    /// Loops outside of runs.
    pub(super) loops: Vec<Loop>,
    /// The series whose runs have lines, and the load; otherwise lines are not by run.
    pub(super) runs: Option<Formula>,
    pub(super) load: Option<Formula>,
    /// The largest number of runs with lines.
    pub(super) seeds: usize,
    /// Loops within a run.
    pub(super) each: Vec<Loop>,
    pub(super) columns: Vec<(String, Formula)>,
    pub(super) file: Arc<Vec<Definition>>,
}

impl LineTable {
    /// Returns the table. Lines of which a loop has no results are omitted; a column without a
    /// value is empty.
    pub(crate) fn csv(&self, results: &Results) -> String {
        let evaluation = Evaluation::new(results, &self.file, &[]);
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let mut text = format!("{}\n", names.join(","));
        let context = Context::default();
        let done = evaluation.each(&self.loops, &context, Turns::Known, &mut |outer| {
            let Some(runs) = &self.runs else {
                return self.lines(&evaluation, outer, &mut text);
            };
            let n = self.n_runs(&evaluation, runs, outer)?;
            for seed in 0..n.min(self.seeds) {
                self.lines(&evaluation, &outer.at_seed(seed), &mut text)?;
            }
            Ok(())
        });
        debug_assert!(done.is_ok(), "{done:?}");
        text
    }

    /// Returns the number of runs; none if they are missing.
    fn n_runs<'a>(
        &'a self,
        evaluation: &Evaluation<'a>,
        runs: &'a Formula,
        context: &Context<'a>,
    ) -> Result<usize, Missing> {
        let load = self.load.as_ref();
        let load = load.map(|own| evaluation.value(own, context)?.number());
        let series = evaluation.value(runs, context)?;
        match evaluation.runs(series.as_text()?, load.transpose()?, Some(0)) {
            Ok(runs) => Ok(runs.len()),
            Err(Missing::Because(_)) => Ok(0),
            Err(missing) => Err(missing),
        }
    }

    fn lines<'a>(
        &'a self,
        evaluation: &Evaluation<'a>,
        context: &Context<'a>,
        text: &mut String,
    ) -> Result<(), Missing> {
        evaluation.each(&self.each, context, Turns::Known, &mut |inner| {
            let mut cells = vec![];
            for (_, column) in &self.columns {
                match evaluation.value(column, inner) {
                    Ok(value) => cells.push(quoted(value.words())),
                    Err(Missing::Mistake(message)) => return Err(Missing::Mistake(message)),
                    Err(_) => cells.push(String::new()),
                }
            }
            text.push_str(&cells.join(","));
            text.push('\n');
            Ok(())
        })
    }
}

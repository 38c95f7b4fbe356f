//! `netloom plan FILE`: plans tables for the classes of a `[plan]` section.

use std::path::Path;

use netloom_design::plan::{self, PlanError};
use netloom_experiment::Kinds;
use netloom_experiment::spec::{OpenedFile, read_plan};

use super::super::Exit;
use super::super::load::{Overrides, named_by, open};
use super::super::output::Output;
use super::super::table::width;
use super::PlanFormat;

pub(super) fn run(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    format: PlanFormat,
    output: &Output,
) -> anyhow::Result<Exit> {
    let OpenedFile {
        document,
        mut notes,
        ..
    } = open(kinds, file, overrides)?;
    let request = if notes.has_errors() {
        None
    } else {
        read_plan(&document, &named_by(file), &mut notes)
    };
    if !notes.is_empty() {
        output.notes(&netloom_experiment::render(&document, &notes, output.color));
    }
    let Some(request) = request.filter(|_| !notes.has_errors()) else {
        return Ok(Exit::Invalid);
    };
    match plan::plan(&request) {
        Ok(plan) => {
            let shortfalls = plan.shortfalls();
            for (_, words) in &shortfalls {
                output.say(&format!("less exact than requested: {words}"));
            }
            output.data(&match format {
                PlanFormat::Human => plan.text(width()),
                PlanFormat::Json => serde_json::to_string_pretty(&plan)?,
                PlanFormat::Toml => plan.to_toml(),
            })?;
            let bottleneck = &plan.request.cautions.bottleneck;
            if let Some(why) = bottleneck {
                output.insist(&format!("warning[W0907]: {why}\n"));
            }
            Ok(if shortfalls.is_empty() && bottleneck.is_none() {
                Exit::Done
            } else {
                Exit::NotConverged
            })
        }
        Err(error) => {
            refuse(&error, format, output)?;
            Ok(Exit::Invalid)
        }
    }
}

fn refuse(error: &PlanError, format: PlanFormat, output: &Output) -> anyhow::Result<()> {
    output.error(&error.text());
    // The search for the classes takes longer than the refusal.
    let conflict = error.conflict();
    output.error(&conflict.text());
    match (format, &error.nearest) {
        (PlanFormat::Json, _) => {
            output.data(&serde_json::to_string_pretty(&error.explained(&conflict))?)
        }
        (PlanFormat::Human, Some(nearest)) => {
            let heading = "the nearest tables, which do not meet the requirements:\n";
            output.text(&format!("{heading}{}", nearest.text(width())))
        }
        // A section that does not meet the requirements is not written.
        _ => Ok(()),
    }
}

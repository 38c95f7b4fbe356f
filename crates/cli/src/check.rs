//! `netloom check`: all mistakes of a file, and facts that need no simulation.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use netloom_catalog::{Document, Notes};
use netloom_experiment::shared_run::SharedRun;
use netloom_experiment::spec::{bytes_in_words, seconds_in_words};
use netloom_experiment::{Kinds, TooManyRanks};
use netloom_study::{Axis, Checked, Division, Study};
use serde::Serialize;

use super::load::{self, Overrides, Purpose, at_least_one};
use super::note_lines::NoteLine;
use super::output::Output;
use super::shared_run::{self, SharedRunLine};
use super::slow_notice::SlowNotice;
use super::table::{Table, prefixed, width};
use super::{Exit, Format, interrupt};

/// Time for checking points of a study, beyond one point per value of each axis.
const BUDGET: Duration = Duration::from_secs(10);

#[derive(Args)]
pub(crate) struct Check {
    /// Experiments and studies.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Format of stdout.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Print how N ranks of an MPI job would share a run: parts, cut cables, memory, efficiency.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    ranks: Option<usize>,
    /// Prove freedom from deadlock, however long it takes; by default a large fabric without a
    /// known theorem is "not proved".
    #[arg(long)]
    proof: bool,
    #[command(flatten)]
    overrides: Overrides,
}

/// The facts and notes of one file, as JSON.
#[derive(Serialize)]
struct Verdict<'a> {
    file: String,
    /// `ok`, `can deadlock` or `has mistakes`.
    verdict: &'static str,
    exit_code: u8,
    notes: Vec<NoteLine>,
    facts: Vec<Fact<'a>>,
    /// With `--ranks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_run: Option<SharedRunLine>,
}

#[derive(Serialize)]
struct Fact<'a> {
    word: &'a str,
    fact: &'a str,
}

impl Check {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let mut worst = Exit::Done;
        for file in &self.files {
            let exit = match self.file(kinds, file, output) {
                Ok(exit) => exit,
                Err(error) => {
                    output.error(&format!("{error:#}"));
                    Exit::Failed
                }
            };
            worst = worse(worst, exit);
        }
        Ok(worst)
    }

    fn file(&self, kinds: &Kinds, file: &Path, output: &Output) -> anyhow::Result<Exit> {
        let overrides = Overrides {
            ranks: self.ranks.unwrap_or(1),
            ..self.overrides.clone()
        };
        let purpose = match self.proof {
            true => Purpose::Proof,
            false => Purpose::Check,
        };
        let opened = load::open_study(kinds, file, &overrides, purpose)?;
        let checking = format!("checking {}", file.display());
        let notice = SlowNotice::new(checking.clone(), output.quiet);
        if !opened.has_study {
            let step = |step: &str| notice.update(format!("{checking}: {step}"));
            let loaded = load::load_quietly(kinds, file, &overrides, purpose, Some(&step))?;
            drop(notice);
            let exit = load::exit_of(&loaded);
            let shared = match shared_run::of(&loaded, self.ranks, overrides.threads_of_a_run()) {
                Ok(shared) => shared,
                Err(why) => {
                    output.error(&format!("{}: {why}", file.display()));
                    return Ok(Exit::Usage);
                }
            };
            let noted = (&loaded.document, &loaded.notes);
            self.print(file, exit, noted, &loaded.facts, shared, output)?;
            return Ok(exit);
        }
        let Some(study) = opened.study else {
            drop(notice);
            let noted = (&opened.document, &opened.notes);
            self.print(file, Exit::Invalid, noted, &[], None, output)?;
            return Ok(Exit::Invalid);
        };
        let checked = study.check(BUDGET, &mut |done, of| {
            notice.update(format!("checked {done} of {of} points"));
            interrupt::control()
        });
        drop(notice);
        if checked.interrupted {
            return Ok(Exit::Interrupted);
        }
        let mut notes = opened.notes;
        notes.extend(checked.notes.clone());
        let exit = load::exit_with(&notes, !notes.has_errors());
        let threads = overrides.threads_of_a_run();
        let shared = self
            .ranks
            .and_then(|ranks| shared_point(&study, ranks, threads));
        let shared = match shared {
            Some(Err(why)) => {
                output.error(&format!("{}: {why}", file.display()));
                return Ok(Exit::Usage);
            }
            Some(Ok(shared)) => shared,
            None => None,
        };
        let noted = (&checked.document, &notes);
        let facts = facts(&study, &checked);
        self.print(file, exit, noted, &facts, shared, output)?;
        Ok(exit)
    }

    fn print(
        &self,
        file: &Path,
        exit: Exit,
        (document, notes): (&Document, &Notes),
        facts: &[(String, String)],
        shared: Option<SharedRun>,
        output: &Output,
    ) -> anyhow::Result<()> {
        let mut facts = facts.to_vec();
        facts.extend(shared.iter().flat_map(shared_run::facts));
        let is_json = self.format == Format::Json;
        if !is_json {
            load::tell(document, notes, output);
        }
        let verdict = match exit {
            Exit::Done => "ok",
            Exit::Fault => "can deadlock",
            _ => "has mistakes",
        };
        if is_json {
            let notes = notes.clone().sorted();
            let verdict = Verdict {
                file: file.display().to_string(),
                verdict,
                exit_code: exit as u8,
                notes: notes
                    .iter()
                    .map(|note| NoteLine::of(note, document))
                    .collect(),
                facts: facts
                    .iter()
                    .map(|(word, fact)| Fact { word, fact })
                    .collect(),
                shared_run: shared.as_ref().map(SharedRunLine::of),
            };
            // One line per file.
            return output.data(&serde_json::to_string(&verdict)?);
        }
        // Facts would scroll the errors out of view.
        let mut table = Table::words();
        let shown = facts.iter().filter(|_| exit == Exit::Done);
        shown.for_each(|(word, fact)| table.line([word, fact]));
        output.outcome(&format!(
            "{}: {verdict}\n{}",
            file.display(),
            table.text(width())
        ))
    }
}

/// Returns how ranks share the first point of a study, which is like most others.
fn shared_point(
    study: &Study,
    ranks: usize,
    threads: usize,
) -> Option<Result<Option<SharedRun>, TooManyRanks>> {
    let point = study.points().next()?;
    let division = Division {
        ranks,
        threads,
        ..Division::default()
    };
    let loaded = study.load_divided(&point, study.seeds.first, &division);
    Some(shared_run::of(&loaded, Some(ranks), threads))
}

/// Returns the facts of a study: size, rules, common facts of its points, cost.
fn facts(study: &Study, checked: &Checked) -> Vec<(String, String)> {
    let mut facts = vec![("study", size(study))];
    facts.extend(rules(study).map(|sentence| ("rules", sentence)));
    if checked.n_checked < checked.n_points {
        let among = match checked.has_every_value {
            true => "covering every value of every axis",
            false => "not covering every value of every axis",
        };
        let (done, all) = (checked.n_checked, checked.n_points);
        let sentence = format!("{done} of {all} points, {among}");
        facts.push(("checked", sentence));
    }
    let mut facts: Vec<(String, String)> = facts
        .into_iter()
        .map(|(word, fact)| (word.to_owned(), fact))
        .collect();
    facts.extend(checked.facts.iter().cloned());
    if let Some(cost) = &checked.cost {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let at_most = if study.is_adaptive() {
            "at most"
        } else {
            "about"
        };
        let sentence = format!(
            "{at_most} {} packet-hops in all, about {} on {}, at most {} of memory per run",
            prefixed(cost.packet_hops),
            seconds_in_words(cost.cpu_seconds / cores as f64),
            counted(cores as u64, "core"),
            bytes_in_words(cost.largest_memory_bytes),
        );
        facts.push(("cost".to_owned(), sentence));
    }
    facts
}

/// `39 points x 5 seeds = 195 runs (2 axes: variant 3, traffic.load 13)`.
fn size(study: &Study) -> String {
    let points = counted(study.n_points(), "point");
    let seeds = counted(u64::from(study.seeds.repeat), "seed");
    let runs = counted(study.most_runs(), "run");
    let whole = match study.is_adaptive() {
        true => format!("{points} x {seeds}, at most {runs} by the rules"),
        false => format!("{points} x {seeds} = {runs}"),
    };
    let axis = |axis: &Axis| format!("{} {}", axis.columns.join(" + "), axis.values.len());
    let axes: Vec<String> = study.axes.iter().map(axis).collect();
    match axes.len() {
        0 => format!("{whole} (no axes)"),
        1 => format!("{whole} (1 axis: {})", axes[0]),
        n => format!("{whole} ({n} axes: {})", axes.join(", ")),
    }
}

/// Returns the rules that add or skip runs.
fn rules(study: &Study) -> Option<String> {
    let mut parts = vec![];
    if let (Some(axis), Some(rising)) = (study.walked, study.rising()) {
        let path = &study.axes[axis].columns[0];
        match rising.stop_after {
            Some(0) => parts.push(format!("{path} stops at the first saturated value")),
            Some(n) => parts.push(format!(
                "{path} stops {} after the first saturated one",
                counted(u64::from(n), "value")
            )),
            None => {}
        }
        if rising.fineness > 1 {
            let n = rising.fineness;
            parts.push(format!(
                "{path} is refined to 1/{n} of a step at saturation"
            ));
        }
    }
    if let Some(interval) = study.seeds.interval {
        let (percent, most) = (interval * 100.0, study.seeds.most);
        parts.push(format!(
            "seeds are added until the interval of mean latency is within {percent} %, at most \
             {most}"
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn counted(n: u64, one: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    }
}

/// Returns the worse exit code of two files: unreadable, then wrong usage, mistakes and deadlocks,
/// in the order of how little of the file was checked.
fn worse(a: Exit, b: Exit) -> Exit {
    let order = [Exit::Failed, Exit::Usage, Exit::Invalid, Exit::Fault];
    order
        .into_iter()
        .find(|exit| [a, b].contains(exit))
        .unwrap_or(Exit::Done)
}

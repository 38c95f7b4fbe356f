//! `netloom study status` and `netloom study watch`: the progress of a study, wherever its
//! processes run.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use netloom_experiment::Kinds;
use netloom_results::RunId;
use netloom_study::Study;
use netloom_study::running::{Entry, Planned, Recorded, StudyFolder, at_work, entries, planned};

use super::super::output::printable;
use super::super::progress::{pace, span};
use super::super::table::{Table, maybe_nanos, width};
use super::super::{Exit, Format, program};
use super::{Output, interrupt, opened};

/// Number of recent runs in the output.
const LAST: usize = 8;

/// `netloom study status`.
#[derive(Args)]
pub(crate) struct StatusCommand {
    /// Folder of the study.
    folder: PathBuf,
    /// Format of stdout.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

impl StatusCommand {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let (folder, study) = opened(kinds, StudyFolder::open(&self.folder)?)?;
        let recorded = Recorded::read(&folder)?;
        let state = State::new(&study, &folder, &recorded)?;
        match self.format {
            Format::Human => output.text(&state.for_people(&study))?,
            Format::Json => output.data(&state.for_machines(&study)?)?,
        }
        Ok(Exit::Done)
    }
}

/// `netloom study watch`.
#[derive(Args)]
#[command(
    after_help = "It only reads the folder, so it works over ssh and for arrays of jobs. It exits \
        when the study is complete, or on Ctrl-C."
)]
pub(crate) struct WatchCommand {
    /// Folder of the study.
    folder: PathBuf,
    /// Seconds between updates.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = super::at_least_one)]
    every: usize,
}

impl WatchCommand {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        interrupt::listen()?;
        let (folder, study) = opened(kinds, StudyFolder::open(&self.folder)?)?;
        let mut recorded = Recorded::default();
        let is_terminal = std::io::stdout().is_terminal();
        loop {
            recorded.update(&folder)?;
            let state = State::new(&study, &folder, &recorded)?;
            if is_terminal {
                // Cursor home, the text, then clear what the last update left below it.
                let mut stdout = std::io::stdout();
                let text = state.for_people(&study);
                let text = printable(&text, false).replace('\n', "\u{1b}[K\n");
                write!(stdout, "\u{1b}[H\u{1b}[2J{text}\u{1b}[J")?;
                stdout.flush()?;
            } else {
                output.piece(&state.line())?;
            }
            if state.planned.missing.is_empty() {
                return Ok(Exit::Done);
            }
            for _ in 0..self.every * 10 {
                if interrupt::is_asked() {
                    return Ok(Exit::Interrupted);
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

/// A run that a journal lists as started.
struct Running {
    point: String,
    seed: u64,
    since: f64,
    host: String,
}

/// The progress of a study.
struct State {
    folder: PathBuf,
    planned: Planned,
    done: usize,
    at_most: usize,
    running: Vec<Running>,
    /// Cells of the most recent runs, newest first.
    last: Vec<[String; 6]>,
    failed: Vec<String>,
    invalid: Vec<(String, String)>,
    /// Whether a process is running the study.
    is_at_work: bool,
    /// Runs per second over the last minutes, by all processes.
    rate: f64,
}

impl State {
    fn new(study: &Study, folder: &StudyFolder, recorded: &Recorded) -> anyhow::Result<State> {
        let planned = planned(study, recorded);
        let missing: u64 = planned.missing.iter().map(|missing| missing.at_most).sum();
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64();
        let mut running: BTreeMap<RunId, Running> = BTreeMap::new();
        let mut ends: Vec<f64> = vec![];
        let living = at_work(folder.path())?;
        let is_at_work = !living.is_empty();
        for entry in living {
            match entry {
                Entry::Started {
                    time: since,
                    run,
                    point,
                    seed,
                    host,
                    ..
                } => {
                    let own = Running {
                        point,
                        seed,
                        since,
                        host,
                    };
                    running.insert(run, own);
                }
                Entry::Finished { time, run, .. } => {
                    running.remove(&run);
                    ends.push(time);
                }
                _ => {}
            }
        }
        let (mut last, mut failed): (Vec<[String; 6]>, Vec<String>) = (vec![], vec![]);
        for entry in entries(folder.path())? {
            match entry {
                Entry::Finished {
                    point,
                    seed,
                    status,
                    seconds,
                    delivered_load,
                    latency_p99_ns,
                    ..
                } => {
                    last.push([
                        point,
                        seed.to_string(),
                        status.word().to_owned(),
                        format!("{delivered_load:.3}"),
                        maybe_nanos(latency_p99_ns),
                        format!("{seconds:.1} s"),
                    ]);
                }
                Entry::Failed { point, .. } if !failed.contains(&point) => failed.push(point),
                Entry::Process { .. }
                | Entry::Started { .. }
                | Entry::Failed { .. }
                | Entry::Unit { .. }
                | Entry::End { .. } => {}
            }
        }
        let mut running: Vec<Running> = running.into_values().collect();
        running.sort_by(|a, b| a.since.total_cmp(&b.since));
        let done = planned.runs.len();
        let recent = ends.iter().filter(|end| now - **end < 120.0).count();
        let first = ends.first().copied().unwrap_or(now);
        let span = (now - first).clamp(1.0, 120.0);
        Ok(State {
            folder: folder.path().to_owned(),
            done,
            at_most: done + usize::try_from(missing)?,
            planned,
            running,
            last: last.into_iter().rev().take(LAST).collect(),
            failed,
            invalid: recorded.invalid.clone(),
            is_at_work,
            rate: recent as f64 / span,
        })
    }

    fn is_complete(&self) -> bool {
        self.planned.missing.is_empty()
    }

    /// Done, total, rate and remaining time.
    fn line(&self) -> String {
        let (done, of) = (self.done, self.at_most);
        let mut text = format!("{done} of {of} runs");
        if self.is_complete() {
            text.push_str(", complete");
            return text;
        }
        if !self.is_at_work {
            text.push_str("; no process is running it");
            return text;
        }
        text.push_str(&format!(
            ", {} running, {} units left",
            self.running.len(),
            self.planned.missing.len()
        ));
        if self.rate > 0.0 {
            let left = Duration::from_secs_f64((of - done) as f64 / self.rate);
            text.push_str(&format!(", {}, {} left", pace(self.rate), span(left)));
        }
        text
    }

    fn for_people(&self, study: &Study) -> String {
        let mut text = format!("{}: {}\n", study.name, self.line());
        let statuses = self.planned.by_status.iter();
        let statuses: Vec<String> = statuses.map(|(word, n)| format!("{n} {word}")).collect();
        if !statuses.is_empty() {
            text.push_str(&format!("  {}\n", statuses.join(", ")));
        }
        for point in &self.failed {
            text.push_str(&format!("  failed: {point}\n"));
        }
        for (file, reason) in &self.invalid {
            text.push_str(&format!(
                "  invalid, to be run again: runs/{file} ({reason})\n"
            ));
        }
        if !self.is_complete() && !self.is_at_work {
            let here = self.folder.display();
            let program = program();
            text.push_str(&format!("  resume with: {program} run {here}\n"));
        }
        if !self.is_complete() && !self.running.is_empty() {
            let mut table = Table::words();
            table.line(["running", "seed", "host"]);
            for run in &self.running {
                let cells = [run.point.clone(), run.seed.to_string(), run.host.clone()];
                table.line(cells);
            }
            text.push_str(&format!("\n{}", table.text(width())));
        }
        if !self.last.is_empty() {
            let mut table = Table::numbers();
            table.line(["last finished", "seed", "", "delivered", "p99", "time"]);
            self.last.iter().for_each(|cells| table.line(cells.clone()));
            text.push_str(&format!("\n{}", table.text(width())));
        }
        text
    }

    fn for_machines(&self, study: &Study) -> anyhow::Result<String> {
        let next = self.planned.missing.iter().map(|missing| {
            serde_json::json!({
                "unit": missing.unit,
                "point": study.label(&missing.next.point),
                "seed": missing.next.seed,
                "runs_at_most": missing.at_most,
            })
        });
        let document = serde_json::json!({
            "name": study.name,
            "study_id": study.id(),
            "runs_done": self.done,
            "runs_at_most": self.at_most,
            "complete": self.is_complete(),
            "statuses": self.planned.by_status,
            "missing": next.collect::<Vec<_>>(),
            "failed": self.failed,
            "invalid": self.invalid,
            "at_work": self.is_at_work,
            "runs_per_second": self.rate,
        });
        Ok(serde_json::to_string_pretty(&document)?)
    }
}

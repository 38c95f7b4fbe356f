//! `netloom reproduce`: run a paper again and see which of its claims hold.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use netloom_reproduction::{
    Failure, PAPERS, Paper, Size, Table, Variation, figures, paper, runs_csv,
};
use netloom_results::RESULTS_VERSION;
use netloom_results::store::{FolderLock, Incoming, table_file};

use super::load::at_least_one;
use super::output::Output;
use super::progress::Style;
use super::reproduced_studies::{Executed, Studies};
use super::{Exit, Format, interrupt};

/// The file by which a folder is known to be ours; it is written last.
const LAST: &str = "claims.json";

#[derive(Args)]
#[command(after_help = "Examples:
  netloom reproduce 000
  netloom reproduce 000 --size paper -o 000.out
  netloom reproduce 000 --vary random-dest,uniform-cl
  netloom reproduce 000 --size paper --scenario S000-3,S000-4 -o 000.out
  netloom reproduce 004 --vary strict-entries,no-header
  netloom reproduce 003 --size paper --vary voq --vary-only -o 003.out

With -o DIR every run is stored as it ends, in DIR/SIZE/SCENARIO and under another reading in \
DIR/SIZE-READING/SCENARIO: folders of studies, which resume, status, report and plot take as well. \
The same command resumes where one was stopped or killed, and runs nothing twice; other sizes, \
seeds and readings may share the folder. \
With --scenario a part is run; claims are judged with it and with all that the folder holds, \
each part with the seeds that it was run with.")]
pub(crate) struct Reproduce {
    /// Number of the paper.
    #[arg(value_parser = PossibleValuesParser::new(PAPERS.iter().map(|paper| paper.id)))]
    paper: String,
    /// How much is run: tiny (only that it runs), ci (minutes), paper (what the paper ran).
    #[arg(long, default_value = "ci", value_name = "SIZE")]
    #[arg(value_parser = PossibleValuesParser::new(Size::ALL.map(Size::word)))]
    size: String,
    /// Seeds of each point; otherwise as many as the size has.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    seeds: Option<u32>,
    /// Judge the claims again under other readings, by name; `all` for every one.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    vary: Vec<String>,
    /// Run only the readings of --vary; claims under our own are judged by what the folder holds.
    #[arg(long, requires = "vary")]
    vary_only: bool,
    /// Run only these scenarios, by their ids; left out, all of them.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    scenario: Vec<String>,
    /// Where runs, claims and measured points go; nowhere without it. Runs that are there are not run again.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write into the folder even if it holds other files. Runs of a study that has changed are run again.
    #[arg(long)]
    overwrite: bool,
    /// Runs at the same time; otherwise as many as there are cores. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    threads: Option<usize>,
    /// What is printed on stdout.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// How progress is shown on stderr.
    #[arg(long, value_enum, default_value_t = Style::Auto, value_name = "HOW")]
    progress: Style,
}

impl Reproduce {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        let paper = paper(&self.paper).context("clap knows the papers")?;
        let known = Size::ALL.into_iter().find(|size| size.word() == self.size);
        let size = known.context("clap knows the sizes")?;
        let variations = self.variations(paper)?;
        self.refuse_unknown(paper, size)?;
        // Until the end: two at once would not see each other's runs.
        let _lock = match &self.output {
            Some(folder) => Some(self.take(folder)?),
            None => None,
        };
        interrupt::listen()?;
        interrupt::fabric_runs();
        let began = Instant::now();
        let effort = paper.plan.effort(size);
        let seeds = self.seeds.unwrap_or(effort.seeds);
        output.say(&format!(
            "paper {}: {}; size {}, {seeds} seeds, {}",
            paper.id, paper.title, self.size, effort.length
        ));
        for variation in &variations {
            output.say(&format!("under {}: {}", variation.name, variation.words));
        }
        let executed = match self.studies(paper, size, &variations, output)? {
            Ok(executed) => executed,
            Err(failure) => return Ok(failed(&failure, output)),
        };
        let (results, varied) = executed
            .results
            .split_first()
            .context("the runs under our readings come first")?;
        let mut table = Table::new(paper, results);
        let mut files = vec![("runs.csv".to_owned(), runs_csv(results))];
        let named = |(name, text)| (format!("{name}.csv"), text);
        let tables = (paper.tables)(results);
        let figures = figures(paper, &tables);
        files.extend(tables.into_iter().map(named));
        for (variation, results) in variations.iter().zip(varied) {
            table.vary(variation, results);
            let named = |(name, text)| (format!("{name}-{}.csv", variation.name), text);
            files.extend((paper.tables)(results).into_iter().map(named));
        }
        let progress = &executed.progress;
        let is_interrupted = interrupt::is_asked() && progress.done < progress.of;
        let mut text = table.to_text();
        if is_interrupted {
            let missing = progress.of - progress.done;
            text.push_str(&format!("\ninterrupted: {missing} runs are missing\n"));
        }
        let seconds = began.elapsed().as_secs_f64();
        if let Some(folder) = &self.output {
            let manifest = self.manifest(paper, seeds, results.outcomes.len(), seconds);
            files.push(("claims.txt".to_owned(), text.clone()));
            files.push(("claims.md".to_owned(), table.to_markdown()));
            if !figures.is_empty() {
                let page = super::reproduced_page::page(paper, &text, &figures);
                files.push(("figures.html".to_owned(), page));
                files.extend(super::reproduced_page::pictures(&figures));
            }
            files.push(("manifest.json".to_owned(), manifest));
            files.push((LAST.to_owned(), table.to_json()));
            write(folder, files, is_interrupted)?;
        }
        match self.format {
            Format::Human => output.data(&text)?,
            Format::Json => output.data(&table.to_json())?,
        }
        let ran = progress.done - progress.found;
        let found = match progress.found {
            0 => String::new(),
            found => format!(", {found} were there"),
        };
        output.say(&format!("{ran} runs in {seconds:.0} s{found}"));
        if is_interrupted {
            let missing = progress.of - progress.done;
            let further = match &self.output {
                Some(_) => "the same command goes on from here",
                None => "nothing is kept without -o DIR",
            };
            output.say(&format!(
                "interrupted: {missing} runs are missing, and the claims that need them are not-run; {further}"
            ));
            return Ok(Exit::Interrupted);
        }
        Ok(Exit::Done)
    }

    /// Runs what the folders of a paper's studies lack.
    fn studies(
        &self,
        paper: &Paper,
        size: Size,
        variations: &[&'static Variation],
        output: &Output,
    ) -> anyhow::Result<Result<Executed, Failure>> {
        let passing = std::env::temp_dir().join(format!("netloom-paper-{}", std::process::id()));
        if self.output.is_none() {
            // It must be new, since it is removed at the end.
            std::fs::create_dir(&passing)
                .with_context(|| format!("cannot make {}", passing.display()))?;
        }
        let studies = Studies {
            plan: paper.plan,
            size,
            seeds: self.seeds,
            scenarios: &self.scenario,
            vary_only: self.vary_only,
            folder: self.output.as_deref().unwrap_or(&passing),
            is_kept: self.output.is_some(),
            overwrite: self.overwrite,
            threads: self.threads(),
            progress: self.progress,
        };
        let executed = studies.run(variations, output);
        if self.output.is_none() {
            let _ = std::fs::remove_dir_all(&passing);
        }
        executed
    }

    fn threads(&self) -> NonZeroUsize {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.and_then(NonZeroUsize::new).unwrap_or(cores)
    }

    /// Scenarios that a paper does not have, or not at this size.
    fn refuse_unknown(&self, paper: &Paper, size: Size) -> anyhow::Result<()> {
        let known = paper.scenarios(size);
        match self.scenario.iter().find(|id| !known.contains(id)) {
            Some(id) => bail!(
                "paper {} has no scenario `{id}` at size {}; write of {}",
                paper.id,
                self.size,
                known.join(", ")
            ),
            None => Ok(()),
        }
    }

    fn variations(&self, paper: &Paper) -> anyhow::Result<Vec<&'static Variation>> {
        if self.vary.iter().any(|name| name == "all") {
            return Ok(paper.variations().iter().collect());
        }
        let known: Vec<&str> = paper.variations().iter().map(|v| v.name.as_str()).collect();
        let find = |name: &String| {
            let found = paper.variations().iter().find(|v| v.name == *name);
            found.with_context(|| {
                let known = known.join(", ");
                format!(
                    "paper {} has no variation `{name}`; write all, or of {known}",
                    paper.id
                )
            })
        };
        self.vary.iter().map(find).collect()
    }

    /// Takes a folder for us, and tries that it can be written. One with something else in it is refused; one that was
    /// left before its claims were written is ours.
    fn take(&self, folder: &Path) -> anyhow::Result<FolderLock> {
        let lock = FolderLock::alone(folder)?;
        let is_taken = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        let holds = |name: &str| folder.join(name).exists();
        let other = ["study.json", "results.json"]
            .into_iter()
            .find(|name| holds(name));
        if let Some(other) = other {
            bail!(
                "{} holds files that are no claims, such as {other}; give another folder with -o DIR",
                folder.display()
            );
        }
        let has_studies = Size::ALL.iter().any(|size| holds(size.word()));
        if is_taken && !self.overwrite && !holds(LAST) && !has_studies {
            bail!(
                "{} holds files that are no claims; give another folder with -o DIR, or write beside them with \
                 --overwrite",
                folder.display()
            );
        }
        let cannot = || format!("cannot write {}", folder.display());
        netloom_results::store::make_folder(lock.target()).with_context(cannot)?;
        // Now, not after hours: it leaves nothing.
        Incoming::begin(lock.target()).with_context(cannot)?;
        Ok(lock)
    }

    /// Where, how and how fast: what differs between machines.
    fn manifest(&self, paper: &Paper, seeds: u32, runs: usize, seconds: f64) -> String {
        let manifest = serde_json::json!({
            "netloom": env!("CARGO_PKG_VERSION"),
            "git": option_env!("NETLOOM_GIT"),
            "results_version": RESULTS_VERSION,
            "paper": paper.id,
            "size": self.size,
            "seeds": seeds,
            "runs": runs,
            "command_line": std::env::args().collect::<Vec<_>>(),
            "wall_seconds": seconds,
        });
        format!("{manifest:#}\n")
    }
}

/// Says why there are no results.
fn failed(failure: &Failure, output: &Output) -> Exit {
    match failure {
        Failure::Mistakes(messages) => {
            output.insist(messages);
            Exit::Invalid
        }
        Failure::Deadlock(_) => {
            output.error(&failure.to_string());
            Exit::Fault
        }
        Failure::System(_) => {
            output.error(&failure.to_string());
            Exit::Failed
        }
    }
}

/// Puts all files into the folder at once. Tables of a reproduction that was interrupted are called partial, and those of
/// the other kind leave.
fn write(folder: &Path, files: Vec<(String, String)>, is_interrupted: bool) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", folder.display());
    let mut incoming = Incoming::begin(folder).with_context(cannot)?;
    let mut leaves = vec![];
    for (name, text) in files {
        let (name, other) = match name.strip_suffix(".csv") {
            Some(table) => {
                let file = |is_partial| table_file(table, "csv", is_partial);
                (file(is_interrupted), Some(file(!is_interrupted)))
            }
            None => (name, None),
        };
        let written = incoming.write(&name, text.as_bytes());
        written.with_context(cannot)?;
        leaves.extend(other);
    }
    incoming.finish(leaves).with_context(cannot)
}

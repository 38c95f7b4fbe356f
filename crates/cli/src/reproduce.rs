//! `netloom reproduce`: repeats the experiments of a paper and judges its claims.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use netloom_reproduction::{
    Failure, Paper, Results, Size, Table, Variation, figures, paper, paper_ids, runs_csv,
};
use netloom_results::RESULTS_VERSION;
use netloom_results::store::{FolderLock, Incoming, table_file};

use super::load::at_least_one;
use super::output::Output;
use super::progress::Style;
use super::reproduced_studies::{Executed, Studies};
use super::table::{self, width};
use super::{Exit, Format, interrupt};

/// The file that identifies the folder of a reproduction; it is written last.
const LAST: &str = "claims.json";

/// The width of tables in files.
const FILES: usize = 100;

#[derive(Args)]
#[command(after_help = "Examples:
  netloom reproduce 000
  netloom reproduce 000 --size paper -o 000.out
  netloom reproduce 000 --vary random-dest,uniform-cl
  netloom reproduce 000 --size paper --scenario S000-3,S000-4 -o 000.out
  netloom reproduce 004 --vary strict-entries,no-header
  netloom reproduce 003 --size paper --vary per-vl --vary-only -o 003.out
  netloom reproduce --list
  netloom reproduce my-paper -o my-paper.out

With -o DIR each run is stored when it ends: in DIR/SIZE/SCENARIO, or in DIR/SIZE-READING/SCENARIO \
under another reading. These are folders of studies, which run, study status, report and plot also \
take. After an interruption, the same command resumes and repeats no run. Other sizes, seeds and \
readings may share the folder. With --scenario only some scenarios run. Claims are judged with all \
runs in the folder, each scenario with the seeds that it was run with; claims that these runs \
cannot decide are not printed.")]
pub(crate) struct Reproduce {
    /// Number of a paper, or a folder with paper.toml, claims.toml and studies.
    #[arg(required_unless_present = "list")]
    paper: Option<String>,
    /// List the papers; with a folder, those in it.
    #[arg(long)]
    list: bool,
    /// Extent of the runs: tiny (a smoke test), ci (minutes), paper (the runs of the paper)
    /// [default: ci, or the size that there is].
    #[arg(long, value_name = "SIZE")]
    #[arg(value_parser = PossibleValuesParser::new(Size::ALL.map(Size::word)))]
    size: Option<String>,
    /// Number of seeds per point [default: set by the size].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    seeds: Option<u32>,
    /// Also judge the claims under these other readings; `all` for every reading.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    vary: Vec<String>,
    /// Run only the readings of --vary; claims under netloom's own reading are judged by the runs
    /// in the folder.
    #[arg(long, requires = "vary")]
    vary_only: bool,
    /// Run only the scenarios with these ids [default: all scenarios].
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    scenario: Vec<String>,
    /// Store runs, claims and measured points in this folder; stored runs are not repeated.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write to the folder even if it holds other files, and repeat the runs of studies that have
    /// changed.
    #[arg(long)]
    overwrite: bool,
    /// Number of parallel runs [default: all cores]; does not affect results.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    threads: Option<usize>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// How to show progress on stderr.
    #[arg(long, value_enum, default_value_t = Style::Auto, value_name = "HOW")]
    progress: Style,
}

impl Reproduce {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        let name = self.paper.as_deref();
        if self.list {
            return self.list(name.map(Path::new), output);
        }
        let name = name.context("clap requires a paper")?;
        if let Some(paper) = paper(name) {
            return self.reproduce(paper, output);
        }
        if !Path::new(name).is_dir() {
            let known: Vec<&str> = paper_ids().collect();
            let known = known.join(", ");
            bail!("expected the number of a paper ({known}) or a folder, found `{name}`");
        }
        match Paper::read(Path::new(name)) {
            Ok(paper) => self.reproduce(&paper, output),
            Err(mistakes) => {
                output.insist(&mistakes);
                Ok(Exit::Invalid)
            }
        }
    }

    /// Prints the papers of the program, or those in a folder.
    fn list(&self, folder: Option<&Path>, output: &Output) -> anyhow::Result<Exit> {
        let mut found = vec![];
        let mut all = vec![];
        match folder {
            None => all.extend(
                paper_ids()
                    .filter_map(paper)
                    .map(|paper| (paper.id.clone(), paper)),
            ),
            Some(folder) => {
                for path in folders(folder)? {
                    match Paper::read(&path) {
                        Ok(paper) => found.push((path.display().to_string(), paper)),
                        Err(mistakes) => {
                            output.insist(&mistakes);
                            return Ok(Exit::Invalid);
                        }
                    }
                }
                all.extend(found.iter().map(|(path, paper)| (path.clone(), paper)));
            }
        }
        let sizes = |paper: &Paper| -> Vec<&str> {
            paper.plan.sizes().into_iter().map(Size::word).collect()
        };
        if let Format::Json = self.format {
            let line = |(name, paper): &(String, &Paper)| {
                let (title, claims) = (&paper.title, paper.claims.len());
                serde_json::json!({
                    "paper": name, "title": title, "claims": claims, "sizes": sizes(paper),
                })
            };
            let lines: Vec<serde_json::Value> = all.iter().map(line).collect();
            output.data(&format!("{:#}\n", serde_json::Value::Array(lines)))?;
            return Ok(Exit::Done);
        }
        let mut table = table::Table::words();
        table.line(["paper", "claims", "sizes", "title"].map(str::to_owned));
        for (name, paper) in &all {
            let (claims, title) = (paper.claims.len().to_string(), paper.title.clone());
            table.line([name.clone(), claims, sizes(paper).join(", "), title]);
        }
        output.data(&table.text(width()))?;
        Ok(Exit::Done)
    }

    /// Returns the size that is asked for, or that a paper has.
    fn size_of(&self, paper: &Paper) -> anyhow::Result<Size> {
        let sizes = paper.plan.sizes();
        let found = match &self.size {
            Some(word) => sizes.iter().find(|size| size.word() == word),
            None => sizes
                .iter()
                .find(|size| **size == Size::Ci)
                .or(sizes.first()),
        };
        found.copied().with_context(|| {
            let known: Vec<&str> = sizes.iter().map(|size| size.word()).collect();
            let (known, asked) = (known.join(", "), self.size.as_deref().unwrap_or("ci"));
            format!(
                "paper {} has no size {asked}; expected one of {known}",
                paper.id
            )
        })
    }

    fn reproduce(&self, paper: &Paper, output: &Output) -> anyhow::Result<Exit> {
        let size = self.size_of(paper)?;
        let variations = self.variations(paper)?;
        self.refuse_unknown(paper, size)?;
        // Held until the end: two processes at the same time would not see each other's runs.
        let _lock = match &self.output {
            Some(folder) => Some(self.take(folder)?),
            None => None,
        };
        interrupt::listen()?;
        interrupt::fabric_runs();
        let began = Instant::now();
        let effort = paper.plan.effort(size);
        let seeds = self.seeds.unwrap_or(effort.seeds);
        let plural = if seeds == 1 { "" } else { "s" };
        output.say(&format!(
            "paper {}: {}; size {}, {seeds} seed{plural}, {}",
            paper.id,
            paper.title,
            size.word(),
            effort.length
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
            .context("the runs under netloom's own reading come first")?;
        let mut table = Table::new(paper, results);
        let mut files = vec![("runs.csv".to_owned(), runs_csv(results))];
        let named = |(name, text): (String, String)| (format!("{name}.csv"), text);
        let tables = paper.tables(results);
        let figures = figures(paper, &tables, size);
        files.extend(tables.into_iter().map(named));
        for (variation, results) in variations.iter().zip(varied) {
            table.vary(variation, results);
            let named =
                |(name, text): (String, String)| (format!("{name}-{}.csv", variation.name), text);
            files.extend(paper.tables(results).into_iter().map(named));
        }
        let progress = &executed.progress;
        let is_interrupted = interrupt::is_asked() && progress.done < progress.of;
        let (mut text, mut printed) = (table.to_text(Some(FILES)), self.printed(&table));
        if is_interrupted {
            let missing = progress.of - progress.done;
            let note = format!("\ninterrupted: {missing} runs are missing\n");
            text.push_str(&note);
            printed.push_str(&note);
        }
        let seconds = began.elapsed().as_secs_f64();
        if let Some(folder) = &self.output {
            let manifest = self.manifest(paper, size, seeds, results.outcomes.len(), seconds);
            let facts = facts(
                size,
                results,
                is_interrupted.then(|| progress.of - progress.done),
            );
            let line = |fact: &String| match fact.starts_with('`') {
                true => format!("{fact}\n\n"),
                false => format!("{}\n\n", table::wrapped(fact, FILES)),
            };
            let head: String = facts.iter().map(line).collect();
            let (id, title, claims) = (&paper.id, &paper.title, table.to_markdown());
            let lines = format!("# Paper {id} ({title}): what was measured\n\n{head}{claims}");
            files.push(("claims.txt".to_owned(), text.clone()));
            files.push(("claims.md".to_owned(), lines));
            let page = super::reproduced_page::page(&table, &facts, &figures);
            files.push(("figures.html".to_owned(), page));
            files.extend(super::reproduced_page::pictures(&figures));
            files.push(("manifest.json".to_owned(), manifest));
            files.push((LAST.to_owned(), table.to_json()));
            write(folder, files, is_interrupted)?;
        }
        match self.format {
            Format::Human => output.text(&printed)?,
            Format::Json => output.data(&table.to_json())?,
        }
        let ran = progress.done - progress.found;
        let found = match progress.found {
            0 => String::new(),
            found => format!(", {found} already done"),
        };
        output.say(&format!("{ran} runs in {seconds:.0} s{found}"));
        if is_interrupted {
            let missing = progress.of - progress.done;
            let further = match &self.output {
                Some(_) => "run the same command to resume",
                None => "use -o DIR to keep runs",
            };
            output.say(&format!(
                "interrupted: {missing} runs are missing, so claims that need them are not run; \
                 {further}"
            ));
            return Ok(Exit::Interrupted);
        }
        Ok(Exit::Done)
    }

    /// Runs what is missing in the folders of the studies of a paper.
    fn studies(
        &self,
        paper: &Paper,
        size: Size,
        variations: &[&Variation],
        output: &Output,
    ) -> anyhow::Result<Result<Executed, Failure>> {
        let passing = std::env::temp_dir().join(format!("netloom-paper-{}", std::process::id()));
        if self.output.is_none() {
            // It must be new, since it is removed at the end.
            std::fs::create_dir(&passing)
                .with_context(|| format!("cannot create {}", passing.display()))?;
        }
        let studies = Studies {
            plan: &paper.plan,
            size,
            seeds: self.seeds,
            scenarios: &self.scenario,
            vary_only: self.vary_only,
            folder: self.output.as_deref().unwrap_or(&passing),
            is_stored: self.output.is_some(),
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

    /// Returns the claims as text. With `--scenario`, omits those that the runs cannot decide.
    fn printed(&self, table: &Table<'_>) -> String {
        if self.scenario.is_empty() {
            return table.to_text(table::width());
        }
        let mut decided = table.clone();
        decided.rows.retain(|row| {
            let under = row.under.iter().map(|under| under.judged.verdict);
            std::iter::once(row.ours.verdict)
                .chain(under)
                .any(|verdict| verdict.is_measured())
        });
        let mut text = decided.to_text(table::width());
        let omitted = table.rows.len() - decided.rows.len();
        if omitted > 0 {
            text.push_str(&format!(
                "\n  claims not printed, since these runs cannot decide them: {omitted}\n"
            ));
        }
        text
    }

    /// Refuses scenarios that a paper does not have at this size.
    fn refuse_unknown(&self, paper: &Paper, size: Size) -> anyhow::Result<()> {
        let known = paper.scenarios(size);
        match self.scenario.iter().find(|id| !known.contains(id)) {
            Some(id) => bail!(
                "paper {} has no scenario `{id}` at size {}; expected one of {}",
                paper.id,
                size.word(),
                known.join(", ")
            ),
            None => Ok(()),
        }
    }

    fn variations<'p>(&self, paper: &'p Paper) -> anyhow::Result<Vec<&'p Variation>> {
        if self.vary.iter().any(|name| name == "all") {
            return Ok(paper.variations().iter().collect());
        }
        let known: Vec<&str> = paper.variations().iter().map(|v| v.name.as_str()).collect();
        let find = |name: &String| {
            let found = paper.variations().iter().find(|v| v.name == *name);
            found.with_context(|| {
                let known = known.join(", ");
                format!(
                    "paper {} has no reading `{name}`; expected all, or one of {known}",
                    paper.id
                )
            })
        };
        self.vary.iter().map(find).collect()
    }

    /// Locks a folder and checks that it is writable. Refuses a folder with other files, but
    /// accepts a reproduction that ended before its claims were written.
    fn take(&self, folder: &Path) -> anyhow::Result<FolderLock> {
        let lock = FolderLock::alone(folder)?;
        let is_taken = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        let holds = |name: &str| folder.join(name).exists();
        let other = ["study.json", "results.json"]
            .into_iter()
            .find(|name| holds(name));
        if let Some(other) = other {
            bail!(
                "{} is not the folder of a reproduction: it holds {other}; use another folder with \
                 -o DIR",
                folder.display()
            );
        }
        let has_studies = Size::ALL.iter().any(|size| holds(size.word()));
        if is_taken && !self.overwrite && !holds(LAST) && !has_studies {
            bail!(
                "{} is not the folder of a reproduction; use another folder with -o DIR, or add to \
                 this one with --overwrite",
                folder.display()
            );
        }
        let cannot = || format!("cannot write {}", folder.display());
        netloom_results::store::make_folder(lock.target()).with_context(cannot)?;
        // Fails now instead of after hours of runs, and leaves no files.
        Incoming::begin(lock.target()).with_context(cannot)?;
        Ok(lock)
    }

    /// Returns the manifest: the version, the command and the time, which differ between machines.
    fn manifest(&self, paper: &Paper, size: Size, seeds: u32, runs: usize, seconds: f64) -> String {
        let manifest = serde_json::json!({
            "netloom": env!("CARGO_PKG_VERSION"),
            "git": option_env!("NETLOOM_GIT"),
            "results_version": RESULTS_VERSION,
            "paper": paper.id,
            "size": size.word(),
            "seeds": seeds,
            "runs": runs,
            "command_line": std::env::args().collect::<Vec<_>>(),
            "wall_seconds": seconds,
        });
        format!("{manifest:#}\n")
    }
}

/// Returns a folder with claims, or those of its folders that have claims.
fn folders(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if folder.join("claims.toml").is_file() {
        return Ok(vec![folder.to_owned()]);
    }
    let cannot = || format!("cannot read {}", folder.display());
    let mut found = vec![];
    for entry in std::fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.join("claims.toml").is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns how the runs can be repeated: command, version, size and seeds, as sentences.
fn facts(size: Size, results: &Results, n_missing: Option<u64>) -> Vec<String> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let version = concat!("netloom ", env!("NETLOOM_VERSION"));
    let mut facts = vec![
        format!("`netloom {}`", command.join(" ")),
        format!("{version}, results version {RESULTS_VERSION}."),
        format!("Size {}: {}.", size.word(), seeds_of(results)),
    ];
    if let Some(n) = n_missing {
        facts.push(format!("Interrupted: {n} runs are missing."));
    }
    if size != Size::Paper {
        let note = "These are not the runs of the paper: machines or runs are smaller. Figures do \
                    not show the paper's numbers.";
        facts.push(note.to_owned());
    }
    facts
}

/// Returns the number of runs, and the seeds of each scenario.
fn seeds_of(results: &Results) -> String {
    let mut scenarios: Vec<(&str, Vec<u64>)> = vec![];
    for outcome in &results.outcomes {
        let (scenario, seed) = (outcome.run.scenario(), outcome.run.seed);
        match scenarios.iter_mut().find(|(own, _)| *own == scenario) {
            Some((_, seeds)) if !seeds.contains(&seed) => seeds.push(seed),
            Some(_) => {}
            None => scenarios.push((scenario, vec![seed])),
        }
    }
    let each = scenarios.iter().map(|(scenario, seeds)| {
        let n = seeds.len();
        let plural = if n == 1 { "" } else { "s" };
        format!("{scenario} {n} seed{plural}")
    });
    let each: Vec<String> = each.collect();
    format!("{} runs; {}", results.outcomes.len(), each.join(", "))
}

/// Prints why there are no results.
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

/// Writes all files to the folder at once. Partial tables of an interrupted reproduction replace
/// complete ones, and vice versa.
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

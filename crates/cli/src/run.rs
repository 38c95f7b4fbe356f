//! `netloom run`: simulate an experiment or study, print and store the results.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use netloom_design::plan::Plan;
use netloom_experiment::Kinds;
use netloom_experiment::runner::{self, Checkpoints, MOST_CSV_LINES, RunOptions};
use netloom_results::store::{CheckpointFolder, RunFolder};
use netloom_results::{
    ConnectionsSummary, Document, JobSummary, ProtocolSummary, Provenance, RankWait, Run, Status,
    Stopwatch, Summary, Verdict, WaitSummary, Waits,
};
use netloom_study::running::StudyFolder;
use netloom_study::{OpenedStudy, Study};

use super::checkpoint::{self, CheckpointWriter};
use super::job::Job;
use super::load::{self, Overrides, Purpose};
use super::output::Output;
use super::plan_comparison;
use super::progress::{ProgressDisplay, Style};
use super::shard::{Part, Shard};
use super::study;
use super::table::{Table, marked, maybe_nanos, nanos, painted, prefixed, title, width};
use super::{Exit, Format, interrupt, machine, program};

#[derive(Args)]
#[command(
    after_help = "A file with [study] describes many runs. Their results go to one folder, and all \
        cores are used. A run that is done is not repeated: the same command resumes a study, and \
        several processes may share a folder.

Examples:
  netloom run fat-tree.toml
  netloom run fat-tree.toml --set traffic.load=0.8 -o loaded.out
  netloom run fat-tree.toml --format json | jq .total.latency_p99_ns
  netloom run fat-tree.toml --checkpoint-every 10min
  netloom run study.toml
  netloom run study.toml --shard 3/8 -o study.out
  netloom run study.out
  mpirun -np 4 netloom run large.toml --mpi"
)]
pub(crate) struct RunCommand {
    /// Experiment, study, or the folder of a study to resume.
    file: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
    /// Folder for the results [default: NAME.out].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace all results in the folder.
    #[arg(long)]
    overwrite: bool,
    /// Format of stdout.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// How to show progress on stderr.
    #[arg(long, value_enum, default_value_t = Style::Auto, value_name = "HOW")]
    progress: Style,
    /// Run one part of a study: `3/8`, or `auto` to use the job index of Slurm, PBS, LSF, MPI,
    /// Kubernetes or GNU parallel.
    #[arg(long, value_name = "I/N", value_parser = Part::from_argument)]
    shard: Option<Part>,
    /// Divide each run among the processes of this MPI job (mpirun, srun); does not affect results.
    #[arg(long)]
    mpi: bool,
    /// Save the state of a single run at this interval (`90s`, `10min`, `2h`) and when it is
    /// interrupted; the same command resumes from it.
    #[arg(long, value_name = "TIME", value_parser = checkpoint::wall_time)]
    checkpoint_every: Option<Duration>,
    /// Write all tables as CSV. Without it, a run writes those of at most 100,000 lines, and a
    /// study only results and points.
    #[arg(long)]
    csv: bool,
    /// Use the reference implementation (slow); does not affect results.
    #[arg(long)]
    reference: bool,
}

impl RunCommand {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        interrupt::listen()?;
        if self.csv && self.shard.is_some() {
            output.error("--csv cannot be used with --shard; use `netloom study merge --csv`");
            return Ok(Exit::Usage);
        }
        if self.file.is_dir() {
            return self.resume(kinds, output);
        }
        let job = match Job::join(self.mpi, output) {
            Ok(job) => job,
            Err(exit) => return Ok(exit),
        };
        let silent = Output::silent();
        let output = if job.leads() { output } else { &silent };
        let overrides = Overrides {
            ranks: job.size(),
            ranks_here: job.size_here(),
            ..self.overrides.clone()
        };
        let opened = load::open_study(kinds, &self.file, &overrides, Purpose::Run);
        // A file may exist on one machine and not on another.
        if !job.all(opened.is_ok()) {
            opened?;
            return Ok(Exit::Failed);
        }
        let opened = opened?;
        if opened.has_study {
            return self.study(opened, &job, output);
        }
        if self.shard.is_some() {
            output.error("--shard divides a study, but this file has no [study]");
            return Ok(Exit::Usage);
        }
        let loaded = load::load_file(kinds, &self.file, &overrides, Purpose::Run, output)?;
        for (word, fact) in &loaded.facts {
            output.detail(&format!("  {word:<10} {fact}"));
        }
        let exit = load::exit_of(&loaded);
        let is_loaded = job.all(loaded.experiment.is_some());
        let Some(mut experiment) = loaded.experiment.filter(|_| is_loaded) else {
            return Ok(exit);
        };
        let path = match &self.output {
            Some(path) => path.clone(),
            None => study::folder_named(&experiment.name),
        };
        let open = || RunFolder::open(&path, &runner::run_id(&experiment), self.overwrite);
        let folder = job.leads().then(open).transpose();
        if !job.all(folder.is_ok()) {
            folder?;
            return Ok(Exit::Failed);
        }
        let (every, overwrite) = (self.checkpoint_every, self.overwrite);
        let writer = CheckpointWriter::open(every, overwrite, &path, &mut experiment, &job, output);
        if !job.all(writer.is_ok()) {
            writer?;
            return Ok(Exit::Failed);
        }
        let mut writer = writer?;
        if let Err(exit) = job.has_work_for_all(&experiment, output) {
            return Ok(exit);
        }

        let stopwatch = Stopwatch::start();
        let mut display = ProgressDisplay::new(self.progress, output.quiet);
        let options = RunOptions {
            threads: self.overrides.threads_of_a_run(),
            reference: self.reference,
            tables: true,
        };
        interrupt::fabric_runs();
        let checkpoints = writer.as_mut().map(|writer| writer as &mut dyn Checkpoints);
        let mut control = |progress: &runner::Progress| {
            display.update(progress);
            interrupt::control()
        };
        let ranks = job.ranks();
        let result =
            runner::run_with_checkpoints(&experiment, &options, ranks, checkpoints, &mut control);
        display.finish();
        let checkpoints_path = CheckpointFolder::path_for(&path);
        let mut result = result.map_err(|why| checkpoint::refused(&why, &checkpoints_path))?;
        let Ok(Some(folder)) = folder else {
            // The first process reports the outcome. Slurm takes any other exit code for a lost
            // rank.
            return Ok(Exit::Done);
        };
        let provenance = Provenance {
            threads: options.threads,
            timing: stopwatch.timing(),
            ..machine::provenance()
        };
        let most_csv_lines = if self.csv { usize::MAX } else { MOST_CSV_LINES };
        let stored = result.store(folder, &experiment, &provenance, most_csv_lines);

        result.document.timing = Some(provenance.timing);
        match self.format {
            Format::Human => {
                let is_coloured = output.is_data_coloured;
                let plan = experiment.plan.as_deref();
                output.outcome(&for_people(&result.document, plan, is_coloured))?;
            }
            Format::Json => output.data(&serde_json::to_string_pretty(&result.document)?)?,
        }
        say_without_csv(&stored?, output);
        let status = result.document.status();
        let has_checkpoint = writer.is_some();
        if status == Status::Interrupted {
            let then = match has_checkpoint {
                true => "Run the same command to resume from the checkpoint.",
                false => "The same command starts again from the beginning.",
            };
            output.say(&format!(
                "Interrupted. Partial results are in the tables named \"partial\". {then}"
            ));
        } else if let Some(writer) = writer {
            writer.remove();
        }
        let is_silent = |run: &&Run| run.counters.injected_packets == 0;
        if let Some(run) = result.document.runs().find(is_silent) {
            output.say(&format!(
                "warning: nothing was sent with seed {}: no message was generated before the end \
                 of the run",
                run.seed
            ));
        }
        let here = path.display();
        let is_over = |run: &&Run| {
            let mut classes = run.classes.iter().map(|class| class.summary.verdict);
            run.counters.injected_packets > 0 && classes.all(|class| class == Verdict::Idle)
        };
        if let Some(run) = result.document.runs().find(is_over) {
            output.say(&format!(
                "warning: nothing was sent or received after the warm-up of {} with seed {}; set a \
                 shorter warm-up",
                nanos(run.warmup_ns),
                run.seed
            ));
        }
        let program = program();
        output.say(&format!("results in {here}; next: {program} report {here}"));
        if let Some(why) = &result.not_built {
            output.error(&format!("{why}; the results cover the seeds before it"));
            return Ok(Exit::Invalid);
        }
        Ok(Exit::of(status))
    }

    /// Returns the overrides of the command line.
    pub(super) fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// Runs a study.
    fn study(&self, opened: OpenedStudy, job: &Job, output: &Output) -> anyhow::Result<Exit> {
        if !job.all(opened.study.is_some()) {
            load::tell(&opened.document, &opened.notes, output);
            return Ok(Exit::Invalid);
        }
        let Some(study) = opened.study else {
            return Ok(Exit::Invalid);
        };
        if self.reference {
            output.error("--reference works with single runs only");
            return Ok(Exit::Usage);
        }
        if self.checkpoint_every.is_some() {
            output.error(
                "--checkpoint-every works with single runs only; a study resumes after the last \
                 finished run",
            );
            return Ok(Exit::Usage);
        }
        load::tell(&opened.document, &opened.notes, output);
        // Only the first process opens the folder; the others learn the outcome.
        let begin = || self.begin(&study, job, output);
        let begun = job.leads().then(begin).transpose();
        if !job.all(!matches!(begun, Err(_) | Ok(Some(Err(_))))) {
            return Ok(match begun? {
                Some(Err(exit)) => exit,
                // The first process reports the error.
                _ => Exit::Done,
            });
        }
        let running = study::Running {
            study: &study,
            job,
            threads: self.overrides.threads,
            partitions: self.overrides.partitions,
            format: self.format,
            progress: self.progress,
            csv: self.csv,
        };
        match begun? {
            Some(Ok((folder, shard))) => running.run(&folder, shard, output),
            _ => Ok(running.follow()),
        }
    }

    /// Runs what the study of a folder lacks.
    fn resume(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let overrides = &self.overrides;
        let fixed = [
            (self.output.is_some(), "--output"),
            (self.overwrite, "--overwrite"),
            (self.mpi, "--mpi"),
            (self.checkpoint_every.is_some(), "--checkpoint-every"),
            (self.reference, "--reference"),
            (!overrides.sets.is_empty(), "--set"),
            (overrides.seed.is_some(), "--seed"),
            (overrides.length.is_some(), "--until"),
        ];
        if let Some((_, option)) = fixed.iter().find(|(is_given, _)| *is_given) {
            output.error(&format!(
                "{option} cannot be used with the folder of a study; pass its file instead"
            ));
            return Ok(Exit::Usage);
        }
        let shard = match self.shard.map(|part| part.shard(false)) {
            Some(Err(why)) => {
                output.error(&why);
                return Ok(Exit::Usage);
            }
            Some(Ok(shard)) => Some(shard),
            None => None,
        };
        let (folder, study) = study::joined(kinds, &self.file)?;
        let running = study::Running {
            study: &study,
            job: &Job::alone(),
            threads: overrides.threads,
            partitions: overrides.partitions,
            format: self.format,
            progress: self.progress,
            csv: self.csv,
        };
        running.run(&folder, shard, output)
    }

    /// Opens the folder of a study and selects the shard of this process, or returns the exit code.
    fn begin(
        &self,
        study: &Study,
        job: &Job,
        output: &Output,
    ) -> anyhow::Result<Result<(StudyFolder, Option<Shard>), Exit>> {
        let shard = match self.shard.map(|part| part.shard(job.ranks().is_some())) {
            Some(Err(why)) => {
                output.error(&why);
                return Ok(Err(Exit::Usage));
            }
            Some(Ok(shard)) => Some(shard),
            None => None,
        };
        let path = match &self.output {
            Some(path) => path.clone(),
            None => study::folder_of(study),
        };
        // One shard reports for all.
        let is_new = !path.join("study.json").exists();
        if is_new
            && shard.is_none_or(|shard| shard.index == 1)
            && let Some(exit) = study::mistakes(study, output)
        {
            return Ok(Err(exit));
        }
        let folder = StudyFolder::begin(&path, study, self.overwrite)?;
        Ok(Ok((folder, shard)))
    }
}

/// Prints which tables have too many lines for CSV.
fn say_without_csv(tables: &[&str], output: &Output) {
    if !tables.is_empty() {
        output.say(&format!(
            "skipped CSV for tables of more than {} lines: {} (`--csv` writes them)",
            netloom_text::number::count(MOST_CSV_LINES as u64),
            tables.join(", ")
        ));
    }
}

/// Returns the table that a run prints at its end.
fn for_people(document: &Document, plan: Option<&Plan>, is_coloured: bool) -> String {
    let run = &document.run;
    let status = document.status();
    let mut text = format!(
        "{}: {}  (seed {}, run {})\n",
        document.name,
        painted(status.word(), status.verdict(), is_coloured),
        run.seed,
        document.run_id
    );
    let warmup = match run.warmup_found {
        // Jobs and lists have no warm-up unless the file sets one.
        true if run.warmup_ns == 0.0 && run.jobs.len() == run.classes.len() => {
            "no warm-up".to_owned()
        }
        true => format!("after a warm-up of {}", nanos(run.warmup_ns)),
        false if run.warmup_ns > 0.0 => {
            format!(
                "no steady state found, first {} discarded",
                nanos(run.warmup_ns)
            )
        }
        false => "no steady state found, nothing discarded".to_owned(),
    };
    text.push_str(&format!(
        "  simulated {}, {warmup}\n\n",
        nanos(run.length_ns)
    ));
    text.push_str(&classes(run, is_coloured));
    text.push_str(&collectives(run));
    let is_unfinished = |run: &&Run| run.jobs.iter().any(|job| !job.finished);
    let mut unfinished_runs = document.runs().filter(is_unfinished);
    if let Some(first) = unfinished_runs.next() {
        if first.seed != run.seed {
            text.push_str(&format!("  unfinished with seed {}:\n", first.seed));
        }
        for job in first.jobs.iter().filter(|job| !job.finished) {
            text.push_str(&unfinished(job));
        }
        let more = unfinished_runs.count();
        if more > 0 {
            text.push_str(&format!("  also unfinished with {more} more seeds\n"));
        }
    }
    if run.latency_order.len() > 1 {
        let order = run.latency_order.join(" < ");
        text.push_str(&format!("  by mean latency: {order}\n"));
    }
    text.push('\n');
    text.push_str(&links(run));
    if let Some(plan) = plan {
        text.push_str(&format!("\n{}", plan_comparison::table(plan, run)));
    }
    if let Some(summary) = &run.connections {
        text.push_str(&format!("\n{}", connections(summary)));
    }
    if let Some(protocol) = &run.protocol {
        text.push_str(&protocol_lines(protocol));
    }
    if let Some(measured) = &run.waits {
        text.push_str(&format!("\n{}", waits(measured)));
    }
    if let Some(deadlock) = &run.deadlock {
        let (time, packets) = (nanos(deadlock.time_ns), deadlock.in_flight_packets);
        text.push_str(&format!(
            "\n  deadlock at {time} with {packets} packets in the fabric"
        ));
        match deadlock.cycle.len() {
            0 => text.push_str(": nothing moves, but no cycle of waits was found\n"),
            n => text.push_str(&format!(": a cycle of {n} buffers\n")),
        }
        for wait in &deadlock.cycle {
            text.push_str(&format!("    {wait} waits for\n"));
        }
        if let Some(first) = deadlock.cycle.first() {
            text.push_str(&format!("    {first}\n"));
        }
    }
    if let Some(over) = &document.over_seeds {
        let mut table = Table::numbers();
        table.line(["", "", "latency"]);
        table.line([
            format!("over {} seeds", over.seeds.len()).as_str(),
            &title("delivered_load"),
            &title("latency_mean_ns"),
            &title("latency_p99_ns"),
        ]);
        for estimate in over.classes.iter().chain([&over.total]) {
            let name = if estimate.class.is_empty() {
                "total"
            } else {
                &estimate.class
            };
            let load = estimate.delivered_load.map_or("-".to_owned(), |load| {
                format!("{:.4} ±{:.4}", load.mean, load.half_width)
            });
            let time = |value: Option<netloom_results::Estimate>| {
                value.map_or("-".to_owned(), |time| {
                    format!("{} ±{}", nanos(time.mean), nanos(time.half_width))
                })
            };
            let (mean, p99) = (
                time(estimate.latency_mean_ns),
                time(estimate.latency_p99_ns),
            );
            table.line([name.to_owned(), load, mean, p99]);
        }
        text.push_str(&format!("\n{}", table.text(width())));
    }
    let timing = document.timing.unwrap_or_default();
    let hops: u64 = document.runs().map(|run| run.counters.packet_hops).sum();
    let rate = prefixed(hops as f64 / timing.wall_seconds.max(1e-9));
    text.push_str(&format!(
        "\n  {} packet-hops in {:.2} s ({rate} per second), digest {}\n",
        prefixed(hops as f64),
        timing.wall_seconds,
        run.digest
    ));
    text
}

/// Returns the progress of an unfinished job or list, and which ranks wait for which.
fn unfinished(job: &JobSummary) -> String {
    /// Waits that are printed.
    const MOST_SHOWN: usize = 5;
    let (done, of) = (job.delivered_messages, job.messages);
    let mut text = format!("  {}: {done} of {of} messages delivered", job.class);
    if let Some(ranks) = job.ranks {
        text.push_str(&format!(", {} of {ranks} ranks wait", job.waiting.len()));
    }
    text.push('\n');
    for wait in job.waiting.iter().take(MOST_SHOWN) {
        let RankWait { rank, waits_for } = wait;
        text.push_str(&format!("    rank {rank} waits for rank {waits_for}\n"));
    }
    if let Some(more @ 1..) = job.waiting.len().checked_sub(MOST_SHOWN) {
        text.push_str(&format!("    and {more} more (`jobs` in results.json)\n"));
    }
    text
}

fn classes(run: &Run, is_coloured: bool) -> String {
    let ends = !run.jobs.is_empty();
    let mut table = Table::numbers().left([7 + usize::from(ends)]);
    table.line(["", "", "", "latency"]);
    let head = [
        "class".to_owned(),
        title("offered_load"),
        title("delivered_load"),
        title("latency_mean_ns"),
        "±95%".to_owned(),
        title("latency_p99_ns"),
        title("latency_max_ns"),
    ];
    let completion = ends.then(|| title("completion_time_ns"));
    table.line(head.into_iter().chain(completion).chain([String::new()]));
    let mut line = |name: &str, summary: &Summary| {
        let mut cells = vec![
            name.to_owned(),
            format!("{:.3}", summary.offered_load),
            format!("{:.3}", summary.delivered_load),
            maybe_nanos(summary.latency_mean_ns),
            maybe_nanos(summary.latency_half_width_ns),
            maybe_nanos(summary.latency_p99_ns),
            maybe_nanos(summary.latency_max_ns),
        ];
        cells.extend(ends.then(|| maybe_nanos(summary.completion_time_ns)));
        cells.push(marked(summary.verdict, is_coloured));
        table.line(cells);
    };
    run.classes
        .iter()
        .for_each(|class| line(&class.class, &class.summary));
    if run.classes.len() > 1 {
        line("total", &run.total);
    }
    table.text(width())
}

/// Returns the bandwidths and the slowest ranks of the programs that finished, or an empty text.
fn collectives(run: &Run) -> String {
    let mut table = Table::numbers().left([3]);
    let [head, below] = ["bandwidth", "slowest rank"];
    table.line(["", head, "", below]);
    table.line(["job", "algorithm", "bus", ""]);
    let mut has_any = false;
    for class in &run.classes {
        let own = &class.summary;
        let (Some(rank), Some(imbalance)) = (own.slowest_rank, own.rank_imbalance) else {
            continue;
        };
        has_any = true;
        let bandwidth = |value: Option<f64>| match value {
            Some(value) => format!("{value:.2} GB/s"),
            None => "-".to_owned(),
        };
        table.line([
            class.class.clone(),
            bandwidth(own.algorithm_bandwidth),
            bandwidth(own.bus_bandwidth),
            format!("{rank}, {imbalance:.3} of the mean time"),
        ]);
    }
    match has_any {
        true => format!("\n{}", table.text(width())),
        false => String::new(),
    }
}

/// Returns the punctuality of each service level and of its best and worst connection.
fn connections(summary: &ConnectionsSummary) -> String {
    let mut table = Table::numbers();
    table.line([
        "in time (of the gap)",
        "connections",
        "packets",
        "1/32",
        "1/8",
        "1/2",
        "3/4",
        "1",
        "jitter within 1/8",
    ]);
    for line in &summary.punctuality {
        let name = match line.connection {
            Some(number) => format!("  {} #{number}", line.scope),
            None => line.class.clone(),
        };
        let percent = |share: Option<f64>| match share {
            Some(share) => format!("{:.2} %", 100.0 * share),
            None => "-".to_owned(),
        };
        let close = line.jitter_m1.zip(line.jitter_p0).map(|(a, b)| a + b);
        table.line([
            name,
            line.connections.to_string(),
            line.packets.to_string(),
            percent(line.in_time_1_32),
            percent(line.in_time_1_8),
            percent(line.in_time_1_2),
            percent(line.in_time_3_4),
            percent(line.in_time_1),
            percent(close),
        ]);
    }
    let mut text = table.text(width());
    if summary.enough_packets == Some(false) {
        text.push_str(&format!(
            "  too short: the slowest connection has received {} packets\n",
            summary.packets_least
        ));
    }
    text
}

fn links(run: &Run) -> String {
    let links = &run.links;
    let mut table = Table::numbers();
    table.line(["links", "number", "mean use", "max use", "busiest"]);
    for (name, group) in [
        ("injection", &links.injection),
        ("fabric", &links.fabric),
        ("delivery", &links.delivery),
    ] {
        if group.links > 0 {
            table.line([
                name.to_owned(),
                group.links.to_string(),
                format!("{:.3}", group.utilisation_mean),
                format!("{:.3}", group.utilisation_max),
                group.busiest.clone().unwrap_or_default(),
            ]);
        }
    }
    table.text(width())
}

/// Returns lines about congestion control, stashes and errors, if there were any.
fn protocol_lines(protocol: &ProtocolSummary) -> String {
    let mut text = String::new();
    if protocol.marked_packets > 0 {
        text.push_str(&format!(
            "\n  congestion: {} marks by switches, {} cuts of windows\n",
            prefixed(protocol.marked_packets as f64),
            prefixed(protocol.window_cuts as f64)
        ));
    }
    if protocol.stashed_packets > 0 {
        text.push_str(&format!(
            "\n  stashes: {} packets stored, at most {} flits in one switch at a time",
            prefixed(protocol.stashed_packets as f64),
            prefixed(protocol.stash_peak_flits as f64)
        ));
        if let Some(mean) = protocol.copy_time_mean_ns {
            text.push_str(&format!(", copies kept for {} on average", nanos(mean)));
        }
        text.push('\n');
    }
    let errors = [
        ("damaged", protocol.corrupted_packets),
        ("lost", protocol.lost_packets),
        ("repeated by links", protocol.link_repeats),
        ("resent from stashes", protocol.retransmitted_packets),
        ("received twice", protocol.duplicate_packets),
    ];
    let errors: Vec<String> = errors
        .into_iter()
        .filter(|(_, n)| *n > 0)
        .map(|(what, n)| format!("{} {what}", prefixed(n as f64)))
        .collect();
    if !errors.is_empty() {
        text.push_str(&format!("\n  faults: {}\n", errors.join(", ")));
    }
    text
}

/// Returns the longest waits, and how often arbiters had a choice.
///
/// A wait has a lower and an upper bound: a packet in flight may have been sent before the wait
/// began.
fn waits(waits: &Waits) -> String {
    let mut table = Table::numbers();
    table.line([
        "longest wait",
        "at least",
        "at most",
        "time",
        "choices",
        "contested",
    ]);
    for (place, waits) in waits.places() {
        let mut line = |name: String, summary: &WaitSummary| {
            let (least, most) = (summary.wait_at_least_ns, summary.wait_at_most_ns);
            table.line([
                name,
                format!("{} B", summary.wait_at_least_bytes),
                format!("{} B", summary.wait_at_most_bytes),
                format!("{} to {}", nanos(least), nanos(most)),
                prefixed(summary.choices as f64),
                prefixed(summary.contested_choices as f64),
            ]);
        };
        let by = waits.by.word().to_uppercase();
        for class in &waits.classes {
            line(format!("{place} {by}{}", class.number), &class.summary);
        }
        if waits.classes.len() != 1 {
            line(format!("{place} all"), &waits.total);
        }
    }
    table.text(width())
}

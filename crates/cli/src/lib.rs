//! The command line of netloom: the tree of what a person types, and how a command ends.

mod bench;
mod check;
mod checkpoint;
mod compare;
mod completions;
mod emit;
mod emulate;
mod explain;
mod export;
mod import;
mod init;
mod interrupt;
mod job;
mod kept;
mod lint;
mod list;
mod load;
mod machine;
#[cfg(feature = "mpi")]
mod mpi_ranks;
mod note_lines;
mod output;
mod patience;
mod picture;
mod plan;
mod planned_tables;
mod plot;
mod progress;
mod report;
mod reproduce;
mod reproduced_page;
mod reproduced_studies;
mod results_lock;
mod route;
mod run;
mod schema;
mod shard;
mod shared_run;
mod site_files;
mod site_routes;
mod study;
mod table;
mod topo;
mod trace;
mod usage;
mod verify;

use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::{Parser, Subcommand, ValueEnum};

pub use netloom_experiment::Kinds;
use netloom_results::Status;
use output::Output;

/// Simulates, plans and proves quality of service on lossless HPC and AI fabrics.
#[derive(Parser)]
#[command(name = "netloom", version = env!("NETLOOM_VERSION"), max_term_width = 100)]
#[command(after_help = "First steps:
  netloom init --template fat-tree demo      write a commented experiment
  netloom check demo/fat-tree.toml           find every mistake, prove it free of deadlock
  netloom run demo/fat-tree.toml             simulate it

Exit codes: netloom explain exit-codes")]
struct Netloom {
    #[command(subcommand)]
    command: Command,
    /// Say only what is wrong: no progress, no table after a run or a check.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say more.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Colours in messages; NO_COLOR and CLICOLOR_FORCE are honoured.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    /// On a terminal.
    Auto,
    /// In any case.
    Always,
    /// Nowhere.
    Never,
}

/// How data is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for people.
    #[value(alias = "text")]
    Human,
    /// JSON for machines.
    Json,
}

#[derive(Subcommand)]
enum Command {
    /// Write a commented experiment to start from.
    Init(init::Init),
    /// Find every mistake in experiments and prove them free of deadlock; runs nothing.
    Check(check::Check),
    /// Simulate an experiment and store its results.
    Run(run::RunCommand),
    /// How far a study has come.
    Status(study::Status),
    /// Run what a study lacks.
    Resume(study::Resume),
    /// Put the runs of a study together as tables.
    Merge(study::Merge),
    /// Look on while a study runs, wherever it runs.
    Watch(study::Watch),
    /// Write a script that runs a study in shards, for Slurm, GNU parallel or Kubernetes, or one run over ranks.
    #[command(subcommand)]
    Emit(emit::Emit),
    /// Run a paper again and see which of its claims hold.
    Reproduce(reproduce::Reproduce),
    /// Write one HTML file about folders of results: verdict, figures, tables; works offline and on paper.
    Report(report::Report),
    /// Compare two folders of results over their common seeds; fail if a limit is broken.
    Compare(compare::Compare),
    /// Draw the figures of folders of results, for papers: SVG, PDF, PNG, PGFPlots, CSV.
    Plot(plot::Plot),
    /// List what can be named in an experiment.
    List(list::List),
    /// Explain a kind, a key, a column of results, an error code, or `exit-codes`.
    Explain(explain::Explain),
    /// Look at the fabric of an experiment.
    #[command(subcommand)]
    Topo(topo::Topo),
    /// Look at the paths of an experiment.
    #[command(subcommand)]
    Route(route::Route),
    /// Plan quality of service without simulating: tables for what classes need, or which connections a
    /// fabric can guarantee.
    Plan(plan::Plan),
    /// Make an experiment of a real site, from what its tools print.
    #[command(subcommand)]
    Import(import::Import),
    /// Write plans and fabrics as files of other programs: OpenSM, ibsim, Omni-Path, SONiC, dcb, tc.
    #[command(subcommand)]
    Export(export::Export),
    /// Find what is wrong with opensm.conf: what OpenSM will really do, and the cure.
    Lint(lint::Lint),
    /// Compare what the ports of a real fabric hold with a plan, port by port.
    Verify(verify::Verify),
    /// Let a real OpenSM configure an emulated subnet, and keep what it programmed.
    Emulate(emulate::Emulate),
    /// Follow one packet, stage by stage.
    Trace(trace::Trace),
    /// Print the JSON Schema of experiments, for editors.
    Schema(schema::Schema),
    /// Measure the speed of this machine on fixed fabrics.
    Bench(bench::Bench),
    /// Print completions for a shell.
    Completions(completions::Completions),
}

/// How a command ends. The meanings are promises: `netloom explain exit-codes`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done; a saturated fabric is a result like any other, and marked.
    Done = 0,
    /// Something outside the experiment failed.
    Failed = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// The experiment has mistakes.
    Invalid = 3,
    /// The fabric is at fault: a deadlock proved or met, a law broken, a guarantee it cannot give.
    Fault = 4,
    /// Stored, but a job is unfinished, or the numbers are too short to tell, not stationary, or less exact than asked.
    NotConverged = 5,
    /// What is compared is beyond a limit that was given.
    BeyondLimit = 6,
    /// Stopped by the user.
    Interrupted = 130,
}

impl Exit {
    /// How a command ends that ran something.
    pub(crate) fn of(status: Status) -> Exit {
        match (status, status.verdict()) {
            (_, Some(verdict)) if verdict.is_result() => Exit::Done,
            (_, Some(_)) => Exit::NotConverged,
            (Status::Interrupted, _) => Exit::Interrupted,
            _ => Exit::Fault,
        }
    }
}

/// Runs the command of this process, with these kinds: the whole of `netloom`, for a program that brings its own.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     netloom_cli::main(netloom_cli::Kinds::default())
/// }
/// ```
pub fn main(kinds: Kinds) -> ExitCode {
    let netloom =
        Netloom::try_parse().unwrap_or_else(|error| usage::with_fitting_tips(error).exit());
    remember_program();
    interrupt::report_broken_laws();
    let output = Output::new(netloom.quiet, netloom.verbose, netloom.color);
    if let Err(twice) = kinds.check() {
        output.error(&twice.to_string());
        return ExitCode::from(Exit::Failed as u8);
    }
    let end = match &netloom.command {
        Command::Init(command) => command.run(&output),
        Command::Check(command) => command.run(&kinds, &output),
        Command::Run(command) => command.run(&kinds, &output),
        Command::Status(command) => command.run(&kinds, &output),
        Command::Resume(command) => command.run(&kinds, &output),
        Command::Merge(command) => command.run(&kinds, &output),
        Command::Watch(command) => command.run(&kinds, &output),
        Command::Emit(command) => command.run(&kinds, &output),
        Command::Reproduce(command) => command.run(&output),
        Command::Report(command) => command.run(&output),
        Command::Compare(command) => command.run(&output),
        Command::Plot(command) => command.run(&output),
        Command::List(command) => command.run(&kinds, &output),
        Command::Explain(command) => command.run(&kinds, &output),
        Command::Topo(command) => command.run(&kinds, &output),
        Command::Route(command) => command.run(&kinds, &output),
        Command::Plan(command) => command.run(&kinds, &output),
        Command::Import(command) => command.run(&output),
        Command::Export(command) => command.run(&kinds, &output),
        Command::Lint(command) => command.run(&output),
        Command::Verify(command) => command.run(&kinds, &output),
        Command::Emulate(command) => command.run(&output),
        Command::Trace(command) => command.run(&kinds, &output),
        Command::Schema(command) => command.run(&kinds, &output),
        Command::Bench(command) => command.run(&output),
        Command::Completions(command) => command.run(&output),
    };
    let exit = end.unwrap_or_else(|error| {
        // Whoever closed our output has seen enough; that is no failure.
        if output::is_broken_pipe(&error) {
            return Exit::Done;
        }
        output.error(&format!("{error:#}"));
        Exit::Failed
    });
    ExitCode::from(exit as u8)
}

/// What this program is called, for scripts and for hints at what to type next: `netloom`, or what a program with
/// kinds of its own is called.
fn program() -> &'static str {
    PROGRAM.get().map_or("netloom", String::as_str)
}

static PROGRAM: OnceLock<String> = OnceLock::new();

fn remember_program() {
    let file = std::env::current_exe().ok();
    let name = file.as_deref().and_then(Path::file_name);
    if let Some(name) = name.and_then(|name| name.to_str()) {
        let name = name
            .strip_suffix(std::env::consts::EXE_SUFFIX)
            .unwrap_or(name);
        PROGRAM.get_or_init(|| name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_tree_is_sound() {
        super::Netloom::command().debug_assert();
    }
}

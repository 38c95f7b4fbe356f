//! The command line of netloom: the tree of commands, and their exit codes.
//!
//! Each command is a file or folder of its own. Commands parse arguments, call the library and
//! print.

mod advice;
mod bench;
mod check;
mod checkpoint;
mod compare;
mod completions;
mod emit;
mod explain;
mod explained_device;
mod explained_setting;
mod init;
mod interrupt;
mod job;
mod load;
mod machine;
mod man;
#[cfg(feature = "mpi")]
mod mpi_ranks;
mod note_lines;
mod output;
mod picture;
mod plan;
mod plan_comparison;
mod planned_tables;
mod plot;
mod progress;
mod report;
mod reproduce;
mod reproduced_page;
mod reproduced_studies;
mod results_lock;
mod run;
mod schema;
mod shard;
mod shared_run;
mod show;
mod site;
mod slow_notice;
mod study;
mod table;
mod trace;
mod usage;

use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

use advice::advised;
use clap::{Parser, Subcommand, ValueEnum};

pub use netloom_experiment::Kinds;
use netloom_results::store::ReadError;
use netloom_results::{Status, Stopped};
use netloom_study::running::MergeError;
use output::Output;

/// Simulates, plans and proves quality of service on lossless HPC and AI fabrics.
#[derive(Parser)]
#[command(name = "netloom", version = env!("NETLOOM_VERSION"), max_term_width = 100)]
#[command(after_help = "First steps:
  netloom init --template fat-tree demo    # write a commented experiment
  netloom check demo/fat-tree.toml         # report mistakes and deadlocks
  netloom run demo/fat-tree.toml           # simulate it

Exit codes: netloom explain exit-codes")]
struct Netloom {
    #[command(subcommand)]
    command: Command,
    /// Print errors only.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Print more detail.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Use colors in messages; NO_COLOR and CLICOLOR_FORCE are respected.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

/// Format of what a command prints.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text and tables.
    #[value(alias = "text")]
    Human,
    /// JSON.
    Json,
}

#[derive(Subcommand)]
enum Command {
    /// Write a commented experiment to start from.
    Init(init::Init),
    /// Report all mistakes in experiments and prove them free of deadlock, without simulating.
    Check(check::Check),
    /// Simulate an experiment or study, or resume it, and store the results.
    Run(run::RunCommand),
    /// Write an HTML report about one or more folders of results.
    Report(report::Report),
    /// Compare two folders of results over their common seeds.
    Compare(compare::Compare),
    /// Draw figures of results for papers: SVG, PDF, PNG, PGFPlots, CSV.
    Plot(plot::Plot),
    /// Plan arbitration tables for what classes need, or the admission of connections.
    Plan(plan::Plan),
    /// Follow one packet through the fabric, stage by stage.
    Trace(trace::Trace),
    /// Show the fabric of an experiment, its paths, and a proof that it cannot deadlock.
    #[command(subcommand)]
    Show(show::Show),
    /// Explain a kind, key, column, word or error code; without a name, list all kinds.
    Explain(explain::Explain),
    /// Read, configure and verify a real fabric: OpenSM, ibsim, SONiC, dcb.
    #[command(subcommand)]
    Site(site::Site),
    /// Watch and merge studies, and write job scripts for them.
    #[command(subcommand)]
    Study(study::StudyCommand),
    /// Rerun a paper and judge its claims.
    Reproduce(reproduce::Reproduce),
    /// Measure the speed of this machine on fixed fabrics.
    Bench(bench::Bench),
    /// Print the JSON Schema of experiments, for editors.
    Schema(schema::Schema),
    /// Print completions for a shell.
    Completions(completions::Completions),
    /// Print or write the manual pages.
    Man(man::Man),
}

/// Exit codes. `netloom explain exit-codes` documents them; they are stable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done. Saturation is a result.
    Done = 0,
    /// A file, folder or program failed.
    Failed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The experiment has mistakes.
    Invalid = 3,
    /// A deadlock was proved or met, an invariant was broken, or a connection was refused.
    Fault = 4,
    /// Results are stored, but a job is unfinished or the numbers are not reliable.
    NotConverged = 5,
    /// A comparison exceeds a limit.
    BeyondLimit = 6,
    /// Stopped by the user.
    Interrupted = 130,
}

impl Exit {
    /// Returns the exit code of a command that simulated something.
    pub(crate) fn of(status: Status) -> Exit {
        match (status, status.verdict()) {
            (_, Some(verdict)) if verdict.is_result() => Exit::Done,
            (_, Some(_)) => Exit::NotConverged,
            (Status::Interrupted, _) => Exit::Interrupted,
            _ => Exit::Fault,
        }
    }
}

/// Runs `netloom` with these kinds, for programs that add their own.
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
        Command::Report(command) => command.run(&output),
        Command::Compare(command) => command.run(&output),
        Command::Plot(command) => command.run(&output),
        Command::Plan(command) => command.run(&kinds, &output),
        Command::Trace(command) => command.run(&kinds, &output),
        Command::Show(command) => command.run(&kinds, &output),
        Command::Explain(command) => command.run(&kinds, &output),
        Command::Site(command) => command.run(&kinds, &output),
        Command::Study(command) => command.run(&kinds, &output),
        Command::Reproduce(command) => command.run(&output),
        Command::Bench(command) => command.run(&output),
        Command::Schema(command) => command.run(&kinds, &output),
        Command::Completions(command) => command.run(&output),
        Command::Man(command) => command.run(&output),
    };
    let exit = end.unwrap_or_else(|error| {
        // A closed stdout, as in `netloom ... | head`, is not an error.
        if output::is_broken_pipe(&error) {
            return Exit::Done;
        }
        if is_stopped(&error) {
            output.say(INTERRUPTED);
            return Exit::Interrupted;
        }
        let last = error.chain().last().expect("an error has a text");
        output.error(&advised(last, format!("{error:#}")));
        Exit::Failed
    });
    ExitCode::from(exit as u8)
}

/// What a command says that was stopped before it had a result.
const INTERRUPTED: &str = "Interrupted before there was a result";

/// Returns whether a command failed because the user stopped it.
fn is_stopped(error: &anyhow::Error) -> bool {
    error.is::<Stopped>()
        || matches!(error.downcast_ref(), Some(MergeError::Stopped(_)))
        || matches!(error.downcast_ref(), Some(ReadError::Stopped(_)))
}

/// Returns the name of this program, for scripts and hints: `netloom`, or that of a program with
/// its own kinds.
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

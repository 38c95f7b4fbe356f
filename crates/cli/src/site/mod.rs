//! `netloom site`: a real fabric, from its files and back to them.

mod emulate;
mod export;
pub(crate) mod files;
mod import;
mod lint;
mod lint_env;
mod plan_classes;
mod verify;

use clap::Subcommand;
use netloom_experiment::Kinds;

use crate::Exit;
use crate::output::Output;

#[derive(Subcommand)]
pub(crate) enum Site {
    /// Turn the output of a site's InfiniBand tools into an experiment.
    Import(import::Import),
    /// Write a plan or fabric for another program: OpenSM, ibsim, Omni-Path, SONiC, dcb, tc.
    #[command(subcommand)]
    Export(export::Export),
    /// Find mistakes in the configuration of a subnet manager, or of communication libraries.
    #[command(subcommand)]
    Lint(lint::Lint),
    /// Compare the tables in a fabric's ports with a plan.
    Verify(verify::Verify),
    /// Run a real OpenSM on an emulated subnet and keep what it programmed (Linux only).
    Emulate(emulate::Emulate),
}

impl Site {
    pub(crate) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        match self {
            Site::Import(command) => command.run(output),
            Site::Export(command) => command.run(kinds, output),
            Site::Lint(command) => command.run(kinds, output),
            Site::Verify(command) => command.run(kinds, output),
            Site::Emulate(command) => command.run(output),
        }
    }
}

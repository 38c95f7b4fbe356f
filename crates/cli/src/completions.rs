//! `netloom completions`: completions for shells.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::output::Output;
use super::{Exit, Netloom, program};

#[derive(Args)]
pub(crate) struct Completions {
    /// Shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Netloom::command(), program(), &mut script);
        output.data(&String::from_utf8(script)?)?;
        Ok(Exit::Done)
    }
}

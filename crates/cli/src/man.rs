//! `netloom man`: manual pages, generated from the tree of commands.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, CommandFactory};

use super::output::Output;
use super::{Exit, Netloom};

#[derive(Args)]
#[command(after_help = "Examples:
  netloom man | man -l -
  netloom man -o /usr/local/share/man/man1")]
pub(crate) struct Man {
    /// Write the pages of all commands to DIR instead of the main page to stdout.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        let command = Netloom::command();
        match &self.output {
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(command).render(&mut page)?;
                output.bytes(&page)?;
            }
            Some(folder) => {
                std::fs::create_dir_all(folder)
                    .and_then(|()| clap_mangen::generate_to(command, folder))
                    .with_context(|| format!("cannot write to {}", folder.display()))?;
                output.say(&format!("wrote manual pages to {}", folder.display()));
            }
        }
        Ok(Exit::Done)
    }
}

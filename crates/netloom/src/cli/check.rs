//! `netloom check`: every mistake, and what is known without running.

use std::path::PathBuf;

use clap::Args;

use super::Exit;
use super::load::{self, Overrides};
use super::output::Output;
use super::table::Columns;

#[derive(Args)]
pub(crate) struct Check {
    /// Experiments.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
}

impl Check {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        let mut worst = Exit::Done;
        for file in &self.files {
            let loaded = match load::load_file(file, &self.overrides, output) {
                Ok(loaded) => loaded,
                Err(error) => {
                    output.error(&format!("{error:#}"));
                    worst = Exit::Failed;
                    continue;
                }
            };
            let exit = load::exit_of(&loaded);
            let verdict = match exit {
                Exit::Done => "ok",
                Exit::Fault => "can deadlock",
                _ => "has mistakes",
            };
            if !output.quiet {
                let mut facts = Columns::words();
                loaded
                    .facts
                    .iter()
                    .for_each(|(word, fact)| facts.line([word, fact]));
                output.data(&format!("{}: {verdict}\n{}", file.display(), facts.print()))?;
            }
            worst = worse(worst, exit);
        }
        Ok(worst)
    }
}

/// The end of a check of two files: what could not be read at all is worst, then mistakes, then
/// deadlocks, because less of such a file was looked at.
fn worse(a: Exit, b: Exit) -> Exit {
    let order = [Exit::Failed, Exit::Invalid, Exit::Fault];
    order
        .into_iter()
        .find(|exit| [a, b].contains(exit))
        .unwrap_or(Exit::Done)
}

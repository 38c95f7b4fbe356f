//! `netloom schema`: the JSON Schema of experiments, for editors.

use clap::Args;
use netloom_experiment::Kinds;

use super::Exit;
use super::output::Output;

#[derive(Args)]
pub(crate) struct Schema {}

impl Schema {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        output.data(&netloom_experiment::spec::schema(kinds))?;
        Ok(Exit::Done)
    }
}

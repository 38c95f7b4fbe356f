//! `netloom show`: the fabric of an experiment and its paths.

mod fabric;
mod picture;
mod routes;
mod site_routes;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use netloom_experiment::{Experiment, Kinds};

use crate::Exit;
use crate::load::{self, Purpose, Values};
use crate::output::Output;

pub(crate) use routes::nic;

#[derive(Subcommand)]
pub(crate) enum Show {
    /// Print every switch and the peer of each of its ports.
    Switches(Of),
    /// Print counts, radix, diameter, oversubscription and bisection.
    Stats(Of),
    /// Print the fabric in the format that `kind = "graph"` reads.
    Graph(Of),
    /// Draw the fabric (SVG, PNG, PDF).
    Picture(picture::Picture),
    /// Print the path between two NICs, switch by switch.
    Path(routes::Path),
    /// Prove the routing free of deadlock, or print a cycle; check every route of a real site.
    Routing(Of),
}

/// The experiment that is shown.
#[derive(Args)]
pub(crate) struct Of {
    /// The experiment.
    file: PathBuf,
    #[command(flatten)]
    values: Values,
}

impl Of {
    /// Loads the experiment; a routing that can deadlock is shown like any other.
    fn load(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Result<Experiment, Exit>> {
        let overrides = self.values.overrides(true);
        load::experiment(kinds, &self.file, &overrides, Purpose::Look, output)
    }
}

impl Show {
    pub(crate) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        match self {
            Show::Switches(of) => fabric::switches(of, kinds, output),
            Show::Stats(of) => fabric::stats(of, kinds, output),
            Show::Graph(of) => fabric::graph(of, kinds, output),
            Show::Picture(command) => command.run(kinds, output),
            Show::Path(command) => command.run(kinds, output),
            Show::Routing(of) => routes::check(of, kinds, output),
        }
    }
}

//! `netloom topo`: the fabric itself.

mod draw;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use netloom_experiment::{Experiment, Kinds};
use netloom_topology::{Peer, graph, measures};

use super::Exit;
use super::load::{self, Overrides, Purpose};
use super::output::Output;
use super::table::Columns;

#[derive(Subcommand)]
pub(crate) enum Topo {
    /// Every switch with what its ports are cabled to.
    Show(Of),
    /// Counts, radix, diameter, oversubscription by level and bisection.
    Stats(Of),
    /// The fabric as the plain text that `kind = "graph"` reads.
    Export(Of),
    /// A picture of the fabric, as SVG.
    Draw(draw::Draw),
}

#[derive(Args)]
pub(crate) struct Of {
    /// The experiment.
    file: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
}

impl Topo {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let of = match self {
            Topo::Show(of) | Topo::Stats(of) | Topo::Export(of) => of,
            Topo::Draw(draw) => return draw.run(kinds, output),
        };
        // Whether it can deadlock is another question.
        let overrides = Overrides {
            force: true,
            ..of.overrides.clone()
        };
        let loaded = load::load_file(kinds, &of.file, &overrides, Purpose::Look, output)?;
        let exit = load::exit_of(&loaded);
        let (Some(experiment), facts) = (loaded.experiment, loaded.facts) else {
            return Ok(exit);
        };
        let text = match self {
            Topo::Show(_) => show(&experiment),
            Topo::Stats(_) => stats(&experiment, &facts),
            _ => graph::write(&experiment.fabric.topology),
        };
        output.data(&text)?;
        Ok(Exit::Done)
    }
}

fn show(experiment: &Experiment) -> String {
    let topology = &experiment.fabric.topology;
    let mut text = format!("{}\n", topology.structure().words());
    for switch in topology.switches() {
        let port = |port| {
            let peer = match topology.peer(switch, port) {
                Peer::Switch(other, there) => {
                    format!("{}:{}", topology.switch_name(other), there.0)
                }
                Peer::Nic(nic) => topology.nic_name(nic),
                Peer::Unused => "-".to_owned(),
            };
            format!("{}={peer}", port.0)
        };
        let ports: Vec<String> = topology.ports(switch).map(port).collect();
        text.push_str(&format!(
            "{}  {}\n",
            topology.switch_name(switch),
            ports.join(" ")
        ));
    }
    text
}

/// Facts of `check` that are about the cables alone.
const OF_CABLES: [&str; 3] = ["failures", "levels", "bisection"];

fn stats(experiment: &Experiment, facts: &[(String, String)]) -> String {
    let topology = &experiment.fabric.topology;
    let measures = measures(topology);
    let mut table = Columns::words();
    table.line(["structure".to_owned(), topology.structure().words()]);
    table.line(["nics".to_owned(), measures.nics.to_string()]);
    table.line(["switches".to_owned(), measures.switches.to_string()]);
    table.line(["cables".to_owned(), measures.cables.to_string()]);
    table.line(["radix".to_owned(), measures.radix.to_string()]);
    table.line(["unused ports".to_owned(), measures.unused_ports.to_string()]);
    let diameter = format!("{} cables ({})", measures.diameter, measures.diameter_by);
    table.line(["diameter".to_owned(), diameter]);
    for (word, fact) in facts
        .iter()
        .filter(|(word, _)| OF_CABLES.contains(&word.as_str()))
    {
        table.line([word, fact]);
    }
    if let Ok(mean) = netloom_routing::paths::mean_switches(topology, &experiment.fabric.forwarding)
    {
        let how = if mean.is_sample { "a sample of " } else { "" };
        let text = format!("{:.4} switches ({how}{} pairs)", mean.switches, mean.pairs);
        table.line(["mean path".to_owned(), text]);
    }
    table.print()
}

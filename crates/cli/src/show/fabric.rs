//! `netloom show switches`, `stats` and `graph`: the fabric itself.

use netloom_experiment::{Experiment, Kinds};
use netloom_topology::{Peer, graph as graph_text, measures};

use super::Of;
use crate::Exit;
use crate::load::{self, Purpose};
use crate::output::Output;
use crate::table::{Table, width};

pub(super) fn switches(of: &Of, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
    let experiment = match of.load(kinds, output)? {
        Ok(experiment) => experiment,
        Err(exit) => return Ok(exit),
    };
    output.data(&cabling(&experiment))?;
    Ok(Exit::Done)
}

pub(super) fn graph(of: &Of, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
    let experiment = match of.load(kinds, output)? {
        Ok(experiment) => experiment,
        Err(exit) => return Ok(exit),
    };
    output.data(&graph_text::write(&experiment.fabric.topology))?;
    Ok(Exit::Done)
}

pub(super) fn stats(of: &Of, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
    let overrides = of.values.overrides(true);
    let loaded = load::load_file(kinds, &of.file, &overrides, Purpose::Look, output)?;
    let exit = load::exit_of(&loaded);
    let (Some(experiment), facts) = (loaded.experiment, loaded.facts) else {
        return Ok(exit);
    };
    output.data(&measured(&experiment, &facts))?;
    Ok(Exit::Done)
}

fn cabling(experiment: &Experiment) -> String {
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

fn measured(experiment: &Experiment, facts: &[(String, String)]) -> String {
    let topology = &experiment.fabric.topology;
    let measures = measures(topology);
    let mut table = Table::words();
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
    table.text(width())
}

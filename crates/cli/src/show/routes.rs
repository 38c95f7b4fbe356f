//! `netloom show path` and `netloom show routing`: the paths through a fabric.

use anyhow::anyhow;
use clap::Args;
use netloom_experiment::{Experiment, Kinds};
use netloom_routing::deadlock::{self, Verdict};
use netloom_routing::paths;
use netloom_topology::{Peer, Topology};
use netloom_units::NicId;

use super::{Of, site_routes};
use crate::Exit;
use crate::output::Output;
use crate::table::{Table, width};

#[derive(Args)]
pub(crate) struct Path {
    #[command(flatten)]
    of: Of,
    /// Source NIC, by name or number.
    #[arg(long, value_name = "NIC")]
    from: String,
    /// Destination NIC, by name or number.
    #[arg(long, value_name = "NIC")]
    to: String,
    /// Number of the packet at its NIC, for routings that draw paths at random.
    #[arg(long, default_value_t = 0, value_name = "N")]
    sequence: u32,
}

impl Path {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        match self.of.load(kinds, output)? {
            Ok(experiment) => self.print(&experiment, output),
            Err(exit) => Ok(exit),
        }
    }

    fn print(&self, experiment: &Experiment, output: &Output) -> anyhow::Result<Exit> {
        let topology = &experiment.fabric.topology;
        let (from, to) = (nic(topology, &self.from)?, nic(topology, &self.to)?);
        let forwarding = &experiment.fabric.forwarding;
        let steps = paths::path(topology, forwarding, from, to, self.sequence)
            .map_err(|error| anyhow!(error))?;
        let mut table = Table::words();
        table.line(["switch", "input", "output", "lane", "next"]);
        for step in &steps {
            let next = match topology.peer(step.switch, step.output) {
                Peer::Switch(switch, _) => topology.switch_name(switch),
                Peer::Nic(nic) => topology.nic_name(nic),
                Peer::Unused => "-".to_owned(),
            };
            table.line([
                topology.switch_name(step.switch),
                step.input.0.to_string(),
                step.output.0.to_string(),
                step.lane.to_string(),
                next,
            ]);
        }
        let random = if forwarding.needs_occasion() {
            format!(", drawn for packet {} of the NIC", self.sequence)
        } else {
            String::new()
        };
        let (from, to) = (topology.nic_name(from), topology.nic_name(to));
        output.data(&format!(
            "{from} to {to}: {} switches{random}\n{}",
            steps.len(),
            table.text(width())
        ))?;
        Ok(Exit::Done)
    }
}

/// Proves that a routing cannot deadlock, or prints a cycle of channels that wait for each other.
pub(super) fn check(of: &Of, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
    // Every route of a real site with its own tables is followed, even if some are broken.
    let overrides = of.values.overrides(true);
    if let Some(site) = site_routes::of_file(kinds, &of.file, &overrides, output)? {
        return match site {
            Ok(site) => site_routes::check(&site, output),
            Err(exit) => Ok(exit),
        };
    }
    match of.load(kinds, output)? {
        Ok(experiment) => prove(&experiment, output),
        Err(exit) => Ok(exit),
    }
}

/// Finds a NIC by name (`n12`) or number (`12`).
pub(crate) fn nic(topology: &Topology, wanted: &str) -> anyhow::Result<NicId> {
    let n = topology.n_nics();
    let by_name = || {
        topology
            .nics()
            .find(|&nic| topology.nic_name(nic) == wanted)
    };
    match wanted.parse::<u32>() {
        Ok(number) if number < n => Ok(NicId(number)),
        Ok(number) => Err(anyhow!("there is no NIC {number}; expected 0 to {}", n - 1)),
        Err(_) => by_name().ok_or_else(|| anyhow!("there is no NIC named \"{wanted}\"")),
    }
}

fn prove(experiment: &Experiment, output: &Output) -> anyhow::Result<Exit> {
    let topology = &experiment.fabric.topology;
    let centre = experiment.fabric.switch.centre();
    match deadlock::check_with(topology, &experiment.fabric.forwarding, centre) {
        verdict @ (Verdict::Free { .. } | Verdict::Unknown { .. }) => {
            output.data(&format!("{verdict}\n"))?;
            Ok(Exit::Done)
        }
        Verdict::Cycle(channels) => {
            let mut text = format!("can deadlock: a cycle of {} channels\n", channels.len());
            for channel in &channels {
                let through = channel.through.map_or_else(String::new, |queue| {
                    format!(
                        " (through MPort {}, central link {})",
                        queue.mport, queue.link
                    )
                });
                text.push_str(&format!(
                    "  {}:{} lane {} -> {} waits for{through}\n",
                    topology.switch_name(channel.switch),
                    channel.port.0,
                    channel.lane,
                    topology.switch_name(channel.to)
                ));
            }
            text.push_str("  the first\n");
            output.data(&text)?;
            Ok(Exit::Fault)
        }
    }
}

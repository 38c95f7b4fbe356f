//! `netloom route`: the paths through a fabric.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use netloom_experiment::{Experiment, Kinds};
use netloom_routing::deadlock::{self, Verdict};
use netloom_routing::paths;
use netloom_topology::{Peer, Topology};
use netloom_units::NicId;

use super::Exit;
use super::load::{self, Overrides, Purpose};
use super::output::Output;
use super::site_routes;
use super::table::Columns;

#[derive(Subcommand)]
pub(crate) enum Route {
    /// The way from one NIC to another, switch by switch.
    Show(Show),
    /// A proof that packets cannot wait for each other in a circle, or such a circle.
    Check(Check),
}

#[derive(Args)]
pub(crate) struct Show {
    /// The experiment.
    file: PathBuf,
    /// The NIC that sends, by name or number.
    #[arg(long, value_name = "NIC")]
    from: String,
    /// The NIC that receives.
    #[arg(long, value_name = "NIC")]
    to: String,
    /// Number of the packet at its NIC, where ways are drawn at random.
    #[arg(long, default_value_t = 0, value_name = "N")]
    sequence: u32,
    #[command(flatten)]
    overrides: Overrides,
}

#[derive(Args)]
pub(crate) struct Check {
    /// The experiment.
    file: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
}

impl Route {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let (file, overrides) = match self {
            Route::Show(show) => (&show.file, &show.overrides),
            Route::Check(check) => (&check.file, &check.overrides),
        };
        // Of a real site with tables of its own every route is followed, also where the site is broken.
        if let Route::Check(_) = self
            && let Some(site) = site_routes::of_file(kinds, file, overrides, output)?
        {
            return match site {
                Ok(site) => site_routes::check(&site, output),
                Err(exit) => Ok(exit),
            };
        }
        // The proof is what `route check` is about, not what stops it.
        let overrides = Overrides {
            force: true,
            ..overrides.clone()
        };
        let experiment = match load::experiment(kinds, file, &overrides, Purpose::Look, output)? {
            Ok(experiment) => experiment,
            Err(exit) => return Ok(exit),
        };
        match self {
            Route::Show(command) => show(command, &experiment, output),
            Route::Check(_) => check(&experiment, output),
        }
    }
}

/// A NIC by name (`n12`) or number (`12`).
pub(super) fn nic(topology: &Topology, wanted: &str) -> anyhow::Result<NicId> {
    let n = topology.n_nics();
    let by_name = || {
        topology
            .nics()
            .find(|&nic| topology.nic_name(nic) == wanted)
    };
    match wanted.parse::<u32>() {
        Ok(number) if number < n => Ok(NicId(number)),
        Ok(number) => Err(anyhow!(
            "there is no NIC {number}; they count from 0 to {}",
            n - 1
        )),
        Err(_) => by_name().ok_or_else(|| anyhow!("there is no NIC called \"{wanted}\"")),
    }
}

fn show(command: &Show, experiment: &Experiment, output: &Output) -> anyhow::Result<Exit> {
    let topology = &experiment.fabric.topology;
    let (from, to) = (nic(topology, &command.from)?, nic(topology, &command.to)?);
    let forwarding = &experiment.fabric.forwarding;
    let steps = paths::path(topology, forwarding, from, to, command.sequence)
        .map_err(|error| anyhow!(error))?;
    let mut table = Columns::words();
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
        format!(", as packet {} of its NIC draws it", command.sequence)
    } else {
        String::new()
    };
    let (from, to) = (topology.nic_name(from), topology.nic_name(to));
    output.data(&format!(
        "{from} to {to}: {} switches{random}\n{}",
        steps.len(),
        table.print()
    ))?;
    Ok(Exit::Done)
}

fn check(experiment: &Experiment, output: &Output) -> anyhow::Result<Exit> {
    let topology = &experiment.fabric.topology;
    let centre = experiment.fabric.switch.centre();
    match deadlock::check_with(topology, &experiment.fabric.forwarding, centre) {
        verdict @ Verdict::Free { .. } => {
            output.data(&format!("{verdict}\n"))?;
            Ok(Exit::Done)
        }
        Verdict::Cycle(channels) => {
            let mut text = format!("can deadlock: a circle of {} channels\n", channels.len());
            for channel in &channels {
                let through = channel.through.map_or_else(String::new, |queue| {
                    format!(
                        " (by way of MPort {}, central link {})",
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

//! `netloom export roots`: the switches at the top of a tree.

use anyhow::bail;
use clap::Args;
use netloom_experiment::spec::Wiring;
use netloom_infiniband::Guid;
use netloom_infiniband::opensm::export::guid_list;
use netloom_topology::{Peer, Topology};
use netloom_units::SwitchId;

use super::{OneFile, matches, subnet};

#[derive(Args)]
#[command(after_help = "Examples:
  netloom export roots site/site.toml -o root_guid.conf
  netloom export roots site/site.toml --root 'spine*' -o root_guid.conf

Without --root the roots are the switches that are farthest from every host. Without roots, OpenSM's updn guesses them, \
and where it cannot it routes by minhop instead, which may deadlock.")]
pub(crate) struct Roots {
    #[command(flatten)]
    pub(super) file: OneFile,
    /// A root by name, in which * stands for anything, or by GUID; may be repeated.
    #[arg(long, value_name = "SWITCH")]
    root: Vec<String>,
}

impl Roots {
    pub(super) fn text(&self, wiring: &Wiring) -> anyhow::Result<String> {
        let topology = &wiring.topology;
        let site = subnet(topology)?;
        let guid = |switch: SwitchId| site.subnet.nodes[site.switches[switch.index()].index()].guid;
        if self.root.is_empty() {
            return Ok(guid_list(farthest(topology)?.into_iter().map(guid)));
        }
        let mut roots: Vec<Guid> = vec![];
        for pattern in &self.root {
            let is_it = |switch: &SwitchId| {
                matches(pattern, &topology.switch_name(*switch))
                    || guid(*switch).to_string() == *pattern
            };
            let found: Vec<Guid> = topology.switches().filter(is_it).map(guid).collect();
            if found.is_empty() {
                bail!("no switch is called `{pattern}`");
            }
            roots.extend(
                found
                    .into_iter()
                    .filter(|root| !roots.contains(root))
                    .collect::<Vec<_>>(),
            );
        }
        Ok(guid_list(roots))
    }
}

/// The switches that are farthest from every host.
fn farthest(topology: &Topology) -> anyhow::Result<Vec<SwitchId>> {
    let mut levels: Vec<Option<u32>> = vec![None; topology.n_switches() as usize];
    let has_hosts = |switch: &SwitchId| {
        let mut ports = topology.ports(*switch);
        ports.any(|port| matches!(topology.peer(*switch, port), Peer::Nic(_)))
    };
    let mut edge: Vec<SwitchId> = topology.switches().filter(has_hosts).collect();
    let mut level = 0;
    while !edge.is_empty() {
        let mut next = vec![];
        for switch in edge.drain(..) {
            if levels[switch.index()].is_none() {
                levels[switch.index()] = Some(level);
                next.extend(topology.ports(switch).filter_map(|port| {
                    match topology.peer(switch, port) {
                        Peer::Switch(there, _) if levels[there.index()].is_none() => Some(there),
                        _ => None,
                    }
                }));
            }
        }
        edge = next;
        level += 1;
    }
    let top = levels.iter().flatten().max().copied().unwrap_or(0);
    if top == 0 {
        bail!(
            "hosts hang on every switch, so none is farther from them than others: name the roots with --root"
        );
    }
    let is_top = |switch: &SwitchId| levels[switch.index()] == Some(top);
    Ok(topology.switches().filter(is_top).collect())
}

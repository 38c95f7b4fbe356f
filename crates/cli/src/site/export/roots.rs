//! `netloom site export roots`: the switches at the top of a tree.

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
  netloom site export roots site/site.toml -o root_guid.conf
  netloom site export roots site/site.toml --root 'spine*' -o root_guid.conf

By default, the roots are the switches farthest from all hosts. Without a roots file, OpenSM's \
updn guesses them. If that fails, it routes by minhop, which can deadlock.")]
pub(crate) struct Roots {
    #[command(flatten)]
    pub(super) file: OneFile,
    /// Root by name (* matches any text) or GUID; may be repeated.
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
                bail!("no switch is named `{pattern}`");
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

/// Returns the switches farthest from all hosts.
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
            "every switch has hosts, so no switch is a root by distance; name the roots with --root"
        );
    }
    let is_top = |switch: &SwitchId| levels[switch.index()] == Some(top);
    Ok(topology.switches().filter(is_top).collect())
}

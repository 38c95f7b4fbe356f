//! `netloom export policy`: service levels of paths, by the GUIDs of hosts.
//!
//! Hosts are written by GUID because OpenSM looks in vain for a name with a space, and says nothing.

use std::collections::BTreeSet;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum};
use netloom_design::plan::Plan;
use netloom_experiment::spec::Wiring;
use netloom_infiniband::opensm::export::{PathEnd, PolicyGroup, qos_policy};
use netloom_infiniband::{Guid, NodeId, Site};

use super::super::output::Output;
use super::{OneFile, host_list, matches, subnet};

#[derive(Args)]
#[command(after_help = "Examples:
  netloom export policy plan.toml --group 'storage=io*' -o qos-policy.conf
  netloom export policy plan.toml --group 'storage=node[000-003,17]' -o qos-policy.conf
  netloom export policy plan.toml --group storage=io1,io2 --group control=0x9803... --others compute --end destination

A group is a class of [plan], or a service level by its number, and the hosts whose paths get its level: names, \
in which * stands for anything and [000-003,17] for numbers, or GUIDs of nodes or ports. A name may leave out the \
device behind the host's name (node000 for \"node000 mlx5_0\"). The first group that fits a path counts. OpenSM reads \
the file if opensm.conf has `qos TRUE` and `qos_policy_file FILE`; programs get the level if they ask for paths.")]
pub(crate) struct PolicyFile {
    #[command(flatten)]
    pub(super) file: OneFile,
    /// A class or service level, and its hosts; may be repeated.
    #[arg(long, required = true, value_name = "CLASS=HOST,…")]
    group: Vec<String>,
    /// The class or service level of all other paths; without it, the one whose lane unplanned traffic takes, or 0.
    #[arg(long, value_name = "CLASS")]
    others: Option<String>,
    /// Which end of a path must be one of the hosts.
    #[arg(long, value_enum, default_value_t = End::Either)]
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum End {
    /// Paths that start there.
    Source,
    /// Paths that lead there.
    Destination,
    /// Both.
    Either,
}

impl PolicyFile {
    pub(super) fn text(&self, wiring: &Wiring, output: &Output) -> anyhow::Result<String> {
        let site = subnet(&wiring.topology)?;
        let end = match self.end {
            End::Source => PathEnd::Source,
            End::Destination => PathEnd::Destination,
            End::Either => PathEnd::Either,
        };
        let hosts_of_site = hosts(&site)?;
        let mut groups: Vec<PolicyGroup> = vec![];
        for group in &self.group {
            let (class, list) = group
                .split_once('=')
                .with_context(|| format!("`{group}`: write a class, = and its hosts"))?;
            let ports = ports_of(&hosts_of_site, list)?;
            for before in &groups {
                let both = ports
                    .iter()
                    .filter(|port| before.ports.contains(port))
                    .count();
                if both > 0 {
                    output.say(&format!(
                        "{both} ports are in `{}` and `{class}`: the first counts",
                        before.name
                    ));
                }
            }
            groups.push(PolicyGroup {
                name: class.to_owned(),
                ports,
                sl: level(class, wiring)?,
                end,
            });
        }
        let others = match &self.others {
            Some(class) => level(class, wiring)?,
            None => usual(wiring),
        };
        Ok(qos_policy(&groups, others))
    }
}

/// A port that is a NIC.
struct Host {
    port: Guid,
    /// Its own GUID and that of its node, as text.
    guids: [String; 2],
    /// What it is called: as in `topo show`, by its node's description, and by the first word of that.
    names: Vec<String>,
}

fn hosts(site: &Site) -> anyhow::Result<Vec<Host>> {
    let host = |(name, (node, number)): (String, &(NodeId, u8))| {
        let node = &site.subnet.nodes[node.index()];
        let port = node.ports[usize::from(*number)].guid;
        let port =
            port.with_context(|| format!("the listing has no GUID of the port of {name}"))?;
        let first_word = node.description.split_whitespace().next();
        let mut names = vec![name, node.description.clone()];
        names.extend(first_word.map(str::to_owned));
        names.dedup();
        Ok(Host {
            port,
            guids: [port, node.guid].map(|guid| guid.to_string()),
            names,
        })
    };
    site.nic_names()
        .into_iter()
        .zip(&site.nics)
        .map(host)
        .collect()
}

/// The GUIDs of the ports that a list of names, patterns and GUIDs stands for, each once.
fn ports_of(hosts: &[Host], list: &str) -> anyhow::Result<Vec<Guid>> {
    let (mut ports, mut seen, mut unknown) = (vec![], BTreeSet::new(), vec![]);
    for pattern in host_list::expanded(list)? {
        let is_it = |host: &&Host| {
            host.guids.contains(&pattern) || host.names.iter().any(|name| matches(&pattern, name))
        };
        let mut found = hosts.iter().filter(is_it).map(|host| host.port).peekable();
        if found.peek().is_none() {
            unknown.push(format!("`{pattern}`"));
            continue;
        }
        ports.extend(found.filter(|port| seen.insert(*port)));
    }
    if unknown.is_empty() {
        return Ok(ports);
    }
    let more = match unknown.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    unknown.truncate(SHOWN);
    bail!(
        "no host is called {}{more}: names are as in `netloom topo show`, * stands for anything, and [0-3,7] for numbers",
        unknown.join(", ")
    )
}

/// Names that a message has.
const SHOWN: usize = 8;

/// The service level of a class of the plan, or a number.
fn level(class: &str, wiring: &Wiring) -> anyhow::Result<u8> {
    let planned = wiring.planned.iter().flat_map(|plan| &plan.classes);
    if let Some(own) = planned.clone().find(|own| own.name == class) {
        return Ok(own.sl.0);
    }
    match class.parse::<u8>() {
        Ok(sl @ 0..=15) => Ok(sl),
        Ok(sl) => Err(anyhow!("service levels are 0 to 15, not {sl}")),
        Err(_) => {
            let names: Vec<&str> = planned.map(|own| own.name.as_str()).collect();
            let known = match names.is_empty() {
                true => "the file plans none".to_owned(),
                false => format!("there are {}", names.join(", ")),
            };
            Err(anyhow!(
                "there is no class `{class}` in the plan ({known}); a service level is a number, 0 to 15"
            ))
        }
    }
}

/// The level that does least harm to the others.
fn usual(wiring: &Wiring) -> u8 {
    let harmless = wiring.planned.as_ref().and_then(Plan::harmless);
    harmless.map_or(0, |class| class.sl.0)
}

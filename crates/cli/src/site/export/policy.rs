//! `netloom site export policy`: service levels of paths, by the GUIDs of hosts.
//!
//! Hosts are written by GUID, because OpenSM silently ignores names with a space.

use std::collections::BTreeSet;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum};
use netloom_design::plan::Plan;
use netloom_experiment::spec::Wiring;
use netloom_infiniband::opensm::export::{PathEnd, PolicyGroup, qos_policy};
use netloom_infiniband::{Guid, NodeId, Site};

use super::{OneFile, host_list, matches, subnet};
use crate::output::Output;

#[derive(Args)]
#[command(after_help = "Examples:
  netloom site export policy plan.toml --group 'storage=io*' -o policy.conf
  netloom site export policy plan.toml --group 'storage=node[000-003,17]'
  netloom site export policy plan.toml --group storage=io1,io2 \\
      --group control=0x9803... --others compute --end destination

A group is a class of [plan] or a service level, and the hosts whose paths get that level. Hosts \
are names, with * for any text and [000-003,17] for numbers, or GUIDs of nodes or ports. The \
device after a host name can be omitted (node000 for \"node000 mlx5_0\"). The first group that \
matches a path applies. OpenSM reads the file if opensm.conf has `qos TRUE` and `qos_policy_file \
FILE`. Programs get the level if they query path records.")]
pub(crate) struct PolicyFile {
    #[command(flatten)]
    pub(super) file: OneFile,
    /// Class or service level with its hosts; may be repeated.
    #[arg(long, required = true, value_name = "CLASS=HOST,…")]
    group: Vec<String>,
    /// Class or service level of all other paths [default: that of unplanned traffic, or 0].
    #[arg(long, value_name = "CLASS")]
    others: Option<String>,
    /// End of a path that must be one of the hosts.
    #[arg(long, value_enum, default_value_t = End::Either)]
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum End {
    /// Paths from the hosts.
    Source,
    /// Paths to the hosts.
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
                .with_context(|| format!("expected CLASS=HOST,…, found `{group}`"))?;
            let ports = ports_of(&hosts_of_site, list)?;
            for before in &groups {
                let both = ports
                    .iter()
                    .filter(|port| before.ports.contains(port))
                    .count();
                if both > 0 {
                    let ports = match both {
                        1 => "1 port is".to_owned(),
                        _ => format!("{both} ports are"),
                    };
                    output.say(&format!(
                        "{ports} in both `{}` and `{class}`; the first applies",
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
    /// Its name in `show switches`, its node's description, and the first word of that.
    names: Vec<String>,
}

fn hosts(site: &Site) -> anyhow::Result<Vec<Host>> {
    let host = |(name, (node, number)): (String, &(NodeId, u8))| {
        let node = &site.subnet.nodes[node.index()];
        let port = node.ports[usize::from(*number)].guid;
        let port = port.with_context(|| format!("the listing has no port GUID for {name}"))?;
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

/// Returns the GUIDs of the ports that match a list of names, patterns and GUIDs, each once.
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
    let more = match unknown.len().saturating_sub(MOST_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    unknown.truncate(MOST_SHOWN);
    bail!(
        "no host is named {}{more}; `netloom show switches` lists names, * matches any text, \
         [0-3,7] numbers",
        unknown.join(", ")
    )
}

/// Number of names in a message.
const MOST_SHOWN: usize = 8;

/// Returns the service level of a class of the plan, or of a number.
fn level(class: &str, wiring: &Wiring) -> anyhow::Result<u8> {
    let planned = wiring.planned.iter().flat_map(|plan| &plan.classes);
    if let Some(own) = planned.clone().find(|own| own.name == class) {
        return Ok(own.sl.0);
    }
    match class.parse::<u8>() {
        Ok(sl @ 0..=15) => Ok(sl),
        Ok(sl) => Err(anyhow!("expected a service level from 0 to 15, found {sl}")),
        Err(_) => {
            let names: Vec<&str> = planned.map(|own| own.name.as_str()).collect();
            let known = match names.is_empty() {
                true => "the file plans no classes".to_owned(),
                false => format!("the plan has {}", names.join(", ")),
            };
            Err(anyhow!(
                "expected a class of the plan or a service level from 0 to 15, found `{class}` \
                 ({known})"
            ))
        }
    }
}

/// Returns the level whose lane delays the others least.
fn usual(wiring: &Wiring) -> u8 {
    let harmless = wiring.planned.as_ref().and_then(Plan::harmless);
    harmless.map_or(0, |class| class.sl.0)
}

//! `netloom export policy`: service levels of paths, by the GUIDs of hosts.
//!
//! Hosts are written by GUID because OpenSM looks in vain for a name with a space, and says nothing.

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum};
use netloom_experiment::spec::Wiring;
use netloom_infiniband::opensm::export::{PathEnd, PolicyGroup, qos_policy};
use netloom_design::plan::Plan;
use netloom_infiniband::{Guid, Site};

use super::super::output::Output;
use super::{OneFile, matches, subnet};

#[derive(Args)]
#[command(after_help = "Examples:
  netloom export policy plan.toml --group 'storage=io*' -o qos-policy.conf
  netloom export policy plan.toml --group storage=io1,io2 --group control=0x9803... --others compute --end destination

A group is a class of [plan], or a service level by its number, and the hosts whose paths get its level: names,
in which * stands for anything, or GUIDs of nodes or ports. The first group that fits a path counts. OpenSM reads
the file if opensm.conf has `qos TRUE` and `qos_policy_file FILE`; programs get the level if they ask for paths.")]
pub(crate) struct PolicyFile {
    #[command(flatten)]
    pub(super) file: OneFile,
    /// A class or service level, and its hosts; may be repeated.
    #[arg(long, required = true, value_name = "CLASS=HOST,…")]
    group: Vec<String>,
    /// The class or service level of all other paths; without it, that of the largest share without a deadline, or 0.
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
        let mut groups: Vec<PolicyGroup> = vec![];
        for group in &self.group {
            let (class, hosts) = group
                .split_once('=')
                .with_context(|| format!("`{group}`: write a class, = and its hosts"))?;
            let mut ports = vec![];
            for pattern in hosts.split(',') {
                let found = ports_of(&site, pattern)?;
                ports.extend(
                    found
                        .into_iter()
                        .filter(|port| !ports.contains(port))
                        .collect::<Vec<_>>(),
                );
            }
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

/// The GUIDs of the ports that a name, a pattern or a GUID stands for.
fn ports_of(site: &Site, pattern: &str) -> anyhow::Result<Vec<Guid>> {
    let pattern = pattern.trim();
    let mut found = vec![];
    for (name, (node, number)) in site.nic_names().iter().zip(&site.nics) {
        let node = &site.subnet.nodes[node.index()];
        let guid = node.ports[usize::from(*number)].guid;
        let guid =
            guid.with_context(|| format!("the listing has no GUID of the port of {name}"))?;
        let is_guid = [node.guid, guid]
            .iter()
            .any(|guid| guid.to_string() == pattern);
        if is_guid || matches(pattern, name) || matches(pattern, &node.description) {
            found.push(guid);
        }
    }
    match found.is_empty() {
        true => bail!(
            "no host is called `{pattern}`: names are as in `netloom topo show`, and * stands for anything"
        ),
        false => Ok(found),
    }
}

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

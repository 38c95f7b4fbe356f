//! `netloom site export`: plans and fabrics as files of other programs.

mod env;
mod host_list;
mod policy;
mod roots;
mod torus;

use std::borrow::Cow;
use std::path::PathBuf;

use anyhow::{anyhow, bail};
use clap::{Args, Subcommand};
use netloom_design::plan;
use netloom_experiment::Kinds;
use netloom_infiniband::opensm::export::{ibsim_net, opensm_conf};
use netloom_infiniband::other_targets::{
    Queues, TrafficClass, dcb_commands, opafm_qos_groups, sonic_config_db, tc_ets_command,
};
use netloom_infiniband::{Programmed, Site, as_subnet, writing};
use netloom_routing::{Forwarding, NotLinear, linear_table};
use netloom_topology::Topology;
use netloom_units::Port;

use crate::load::{self, Overrides, Values};
use crate::output::Output;
use crate::site::files::put;
use crate::site::plan_classes;
use crate::{Exit, planned_tables};

#[derive(Subcommand)]
pub(crate) enum Export {
    /// Write the lines of opensm.conf that set the tables of a plan.
    Opensm(OneFile),
    /// Write qos-policy.conf of OpenSM: the service level of each path, by the GUIDs of hosts.
    Policy(policy::PolicyFile),
    /// Write the root switches of a tree (root_guid.conf), for `opensm -R updn -a FILE` or `-R
    /// ftree`.
    Roots(roots::Roots),
    /// Write the shape of a torus or mesh (torus-2QoS.conf), for `opensm -R torus-2QoS`.
    Torus(torus::Torus),
    /// Write the routes of an experiment on a real site, for `opensm -R file -U FILE`.
    Routes(OneFile),
    /// Write any fabric as an InfiniBand subnet, for ibsim and `netloom site emulate`.
    Ibsim(OneFile),
    /// Write the QoS groups of a plan for the Omni-Path fabric manager (opafm.xml).
    Opafm(OneFile),
    /// Write the classes of a plan for SONiC switches (config_db.json), by `dscp`.
    Sonic(Ethernet),
    /// Write the classes of a plan as `dcb` commands (ETS, PFC, and priorities by `dscp`).
    Dcb(Ethernet),
    /// Write the classes of a plan as a `tc` command (qdisc ets).
    Tc(Ethernet),
    /// Write the settings of communication libraries for the classes of a plan, by `carries`.
    Env(env::EnvFile),
}

#[derive(Args)]
pub(crate) struct OneFile {
    /// The experiment.
    file: PathBuf,
    /// Write to FILE instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    values: Values,
    /// Write the file even if the routing can deadlock.
    #[arg(long)]
    force: bool,
}

#[derive(Args)]
pub(crate) struct Ethernet {
    #[command(flatten)]
    file: OneFile,
    /// Port of the switch, or network device of the host; may be repeated.
    #[arg(long, required = true, value_name = "NAME")]
    port: Vec<String>,
    /// Class without PFC, by name; may be repeated.
    #[arg(long, value_name = "CLASS")]
    lossy: Vec<String>,
}

impl OneFile {
    fn overrides(&self) -> Overrides {
        self.values.overrides(self.force)
    }
}

impl Export {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let one = match self {
            Export::Opensm(one) | Export::Routes(one) | Export::Ibsim(one) | Export::Opafm(one) => {
                one
            }
            Export::Policy(more) => &more.file,
            Export::Roots(more) => &more.file,
            Export::Torus(more) => &more.file,
            Export::Env(more) => &more.file,
            Export::Sonic(more) | Export::Dcb(more) | Export::Tc(more) => &more.file,
        };
        let text = match self {
            Export::Opensm(one) => {
                let found = planned_tables::of_file(kinds, &one.file, &one.overrides(), output)?;
                let Some((tables, _)) = found else {
                    return Ok(Exit::Invalid);
                };
                Some(opensm_conf(&tables)?)
            }
            Export::Policy(more) => wired(kinds, &more.file, output)?
                .map(|wiring| more.text(&wiring, output))
                .transpose()?,
            Export::Roots(more) => wired(kinds, &more.file, output)?
                .map(|wiring| more.text(&wiring))
                .transpose()?,
            Export::Torus(more) => wired(kinds, &more.file, output)?
                .map(|wiring| more.text(&wiring))
                .transpose()?,
            Export::Routes(one) => wired(kinds, one, output)?
                .map(|wiring| {
                    let site = Site::of(&wiring.topology).ok_or_else(|| {
                        anyhow!(
                            "expected a real site (topology.kind = \"infiniband\"), found a \
                            generated fabric"
                        )
                    })?;
                    routes(&wiring.topology, &wiring.forwarding, site)
                })
                .transpose()?,
            Export::Ibsim(one) => wired(kinds, one, output)?
                .map(|wiring| anyhow::Ok(ibsim_net(&subnet(&wiring.topology)?.subnet)))
                .transpose()?,
            Export::Opafm(one) => match classes(kinds, one, &[], output)? {
                Some(classes) => Some(opafm_qos_groups(&classes)?),
                None => None,
            },
            Export::Sonic(more) => match queues(kinds, more, output)? {
                Some(queues) => Some(sonic_config_db(&more.port, &queues)?),
                None => None,
            },
            Export::Dcb(more) => match queues(kinds, more, output)? {
                Some(queues) => {
                    let lacking = queues.without_dscp();
                    if !lacking.is_empty() {
                        output.say(&format!(
                            "classes without `dscp`, selected by priority only: {}",
                            lacking.join(", ")
                        ));
                    }
                    Some(each(&more.port, |port| {
                        Ok(dcb_commands(port, &queues)?.join("\n"))
                    })?)
                }
                None => None,
            },
            Export::Env(more) => more.text(kinds, output)?,
            Export::Tc(more) => match queues(kinds, more, output)? {
                Some(queues) => Some(each(&more.port, |port| {
                    Ok(tc_ets_command(port, &queues, MTU)?)
                })?),
                None => None,
            },
        };
        let Some(text) = text else {
            return Ok(Exit::Invalid);
        };
        match &one.output {
            None => output.data(&text)?,
            Some(path) => {
                put(path, &text)?;
                output.say(&format!("wrote {}", path.display()));
            }
        }
        Ok(Exit::Done)
    }
}

/// Largest Ethernet frame, for the quanta of a qdisc.
const MTU: u32 = 1514;

/// Joins a text for each port.
fn each(ports: &[String], of: impl Fn(&str) -> anyhow::Result<String>) -> anyhow::Result<String> {
    let texts: Vec<String> = ports
        .iter()
        .map(|port| of(port))
        .collect::<anyhow::Result<_>>()?;
    Ok(texts.join("\n"))
}

fn wired(
    kinds: &Kinds,
    one: &OneFile,
    output: &Output,
) -> anyhow::Result<Option<netloom_experiment::spec::Wiring>> {
    Ok(load::load_wiring(kinds, &one.file, &one.overrides(), output)?.wiring)
}

/// Returns the real site of a fabric, or makes one. GUIDs are the same in all exported files.
fn subnet(topology: &Topology) -> anyhow::Result<Cow<'_, Site>> {
    if let Some(site) = Site::of(topology) {
        return Ok(Cow::Borrowed(site));
    }
    let (speed, width) = ("HDR".parse(), "4x".parse());
    let (Ok(speed), Ok(width)) = (speed, width) else {
        unreachable!("a speed and a width of the standard");
    };
    let made = as_subnet(topology, speed, width).map_err(|why| anyhow!(why))?;
    Ok(Cow::Owned(Site::new(made, Programmed::default())))
}

/// Whether a name matches a pattern, in which `*` matches any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Returns the forwarding tables of a site, by the routing of the experiment.
fn routes(topology: &Topology, forwarding: &Forwarding, site: &Site) -> anyhow::Result<String> {
    if forwarding.needs_occasion() || forwarding.is_adaptive() || forwarding.lanes() > 1 {
        bail!(
            "expected a routing with one path per address, found several; use up-down or shortest"
        );
    }
    let mut programmed = Programmed::default();
    for id in &site.switches {
        let node = &site.subnet.nodes[id.index()];
        let table = programmed.forwarding.entry(node.guid).or_default();
        for lid in node.ports[0].lids() {
            table.set(lid, Some(0));
        }
    }
    for (nic, (owner, number)) in topology.nics().zip(&site.nics) {
        let port = site.subnet.nodes[owner.index()].ports[usize::from(*number)];
        let outputs = linear_table(forwarding, topology, nic).map_err(|why| {
            let (NotLinear::SeveralWays(at) | NotLinear::ChangesLanes(at)) = why;
            anyhow!(
                "the path to {} at {} depends on the source, which forwarding tables cannot \
                 express; use routing.kind = \"shortest\"",
                topology.nic_name(nic),
                topology.switch_name(at)
            )
        })?;
        for (id, output) in site.switches.iter().zip(outputs) {
            let guid = site.subnet.nodes[id.index()].guid;
            let table = programmed.forwarding.entry(guid).or_default();
            for lid in port.lids() {
                table.set(lid, output.and_then(|Port(out)| u8::try_from(out).ok()));
            }
        }
    }
    Ok(writing::forwarding(&site.subnet, &programmed))
}

/// Returns the Ethernet queues of a plan, and prints the queue of unclassified packets.
fn queues(kinds: &Kinds, more: &Ethernet, output: &Output) -> anyhow::Result<Option<Queues>> {
    let Some(classes) = classes(kinds, &more.file, &more.lossy, output)? else {
        return Ok(None);
    };
    let n_planned = classes.len();
    let queues = Queues::of(classes)?;
    let others = queues.others();
    let whose = match queues.n_classes() > n_planned {
        true => "a lossy queue with 1 % of the link".to_owned(),
        false => format!("shared with {}", others.name),
    };
    output.say(&format!(
        "unclassified packets: queue {}, {whose}",
        others.number
    ));
    Ok(Some(queues))
}

/// Returns the classes of a plan with their shares; classes of the high table have strict priority.
fn classes(
    kinds: &Kinds,
    one: &OneFile,
    lossy: &[String],
    output: &Output,
) -> anyhow::Result<Option<Vec<TrafficClass>>> {
    let found = plan_classes::plan_of(kinds, &one.file, &one.overrides(), lossy, output)?;
    let Some((planned, _)) = found else {
        return Ok(None);
    };
    // Weights that keep a slowdown exceed the share that the plan assumes.
    let is_raised = |own: &plan::PlannedClass| own.is_trusted && own.table != "high";
    let has_raised = planned.classes.iter().any(is_raised);
    let class = |(own, class): (&plan::PlannedClass, &plan::Class)| TrafficClass {
        name: class.name.clone(),
        share: (own.table != "high").then_some(match has_raised {
            true => own.share_if_all_send,
            false => own.share_given,
        }),
        is_lossless: !lossy.contains(&class.name),
        has_deadline: own.deadline.is_some(),
        number: own.sl.0,
        dscps: class.dscps.clone(),
    };
    Ok(Some(
        planned
            .classes
            .iter()
            .zip(&planned.request.classes)
            .map(class)
            .collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_anything() {
        assert!(matches("io1", "io1") && !matches("io1", "io10"));
        assert!(matches("io*", "io10") && matches("*mlx5_0", "io1 mlx5_0"));
        assert!(matches("io*mlx*0", "io1 mlx5_0") && !matches("io*mlx*1", "io1 mlx5_0"));
        assert!(
            !matches("a*a", "a"),
            "the same letter does not stand for both ends"
        );
    }
}

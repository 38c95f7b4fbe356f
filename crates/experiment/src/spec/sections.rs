//! The sections of a file and the concepts in them.
//!
//! Lists, the manual, explanations and the schema use them.

use netloom_catalog::{FromToml, KindInfo, Param, Params, Shape, info};
use netloom_traffic::Class;

use crate::Kinds;

use super::{
    connection_classes, connections, failures, flow_control, link, measure, nic, qos, switch,
};

/// One section of a file.
pub struct SectionInfo {
    /// Path (`switch.pipeline`): empty for the top of the file, `*` for any name.
    pub path: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Keys, without those of the section's kind.
    pub params: Vec<Param>,
    /// Whether the section is a list of tables (`[[traffic]]`).
    pub is_list: bool,
    /// The concept whose kinds this section takes, if any.
    pub concept: Option<&'static str>,
}

/// A concept with several kinds, for example `topology`.
pub struct Concept {
    /// Name in messages.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Path of the section or key in a file.
    pub path: &'static str,
    /// Kinds of the concept.
    pub kinds: Vec<KindInfo>,
}

/// Returns all concepts with their kinds, including those that a program adds.
pub fn concepts(kinds: &Kinds) -> Vec<Concept> {
    let concept = |name, about, path, kinds| Concept {
        name,
        about,
        path,
        kinds,
    };
    vec![
        concept(
            "topology",
            "The switches and cables of the fabric.",
            "topology",
            info(&kinds.topologies),
        ),
        concept(
            "routing",
            "How packets are routed.",
            "routing",
            info(&kinds.routings),
        ),
        concept(
            "flow control",
            "How a sender knows the free space at the other end of its link.",
            "link.flow-control",
            info(flow_control::FLOW_CONTROLS),
        ),
        concept(
            "switch",
            "The architecture of a switch.",
            "switch",
            info(switch::SWITCHES),
        ),
        concept(
            "queue scheme",
            "How an input of a switch is divided into queues.",
            "switch.queues",
            info(switch::QUEUES),
        ),
        concept(
            "allocator",
            "Which packets cross a switch next.",
            "switch.allocator",
            info(switch::ALLOCATORS),
        ),
        concept(
            "stash",
            "The use of port buffers that short links leave idle.",
            "switch.stash",
            info(switch::STASHES),
        ),
        concept(
            "congestion control",
            "How a NIC slows down when switches are congested.",
            "nic.congestion-control",
            info(&kinds.congestion_controls),
        ),
        concept(
            "NIC queueing",
            "Where messages wait at a NIC.",
            "nic.queues",
            info(nic::NIC_QUEUES),
        ),
        concept(
            "arbiter",
            "Which packet is sent next on a link.",
            "qos.arbiter",
            info(&kinds.arbiters),
        ),
        concept(
            "pattern",
            "The destinations of messages.",
            "traffic.pattern",
            info(&kinds.traffic.patterns),
        ),
        concept(
            "arrival process",
            "When messages are created.",
            "traffic.arrival",
            info(&kinds.traffic.arrivals),
        ),
        concept(
            "message size",
            "The sizes of messages.",
            "traffic.size",
            info(&kinds.traffic.sizes),
        ),
        concept(
            "workload",
            "Workloads that define all of their messages.",
            "traffic.workload",
            info(&kinds.traffic.workloads),
        ),
    ]
}

/// Returns every section of a file, in the order of a resolved file.
pub fn sections() -> Vec<SectionInfo> {
    let mut sections = of_the_fabric();
    sections.extend(of_the_traffic());
    sections.extend(super::study::sections_of_a_study());
    sections
}

fn section(path: &'static str, about: &'static str, params: Vec<Param>) -> SectionInfo {
    SectionInfo {
        path,
        about,
        params,
        is_list: false,
        concept: None,
    }
}

fn of_a_kind(path: &'static str, about: &'static str, concept: &'static str) -> SectionInfo {
    SectionInfo {
        concept: Some(concept),
        ..section(path, about, vec![])
    }
}

fn list(path: &'static str, about: &'static str, params: Vec<Param>) -> SectionInfo {
    SectionInfo {
        is_list: true,
        ..section(path, about, params)
    }
}

/// Returns the sections of switches, links, NICs and routing, and the keys at the top.
fn of_the_fabric() -> Vec<SectionInfo> {
    vec![
        section("", "Keys at the top level of the file.", top()),
        of_a_kind(
            "topology",
            "The switches and cables of the fabric.",
            "topology",
        ),
        list(
            "failure",
            "A missing cable or switch, or missing cables drawn at random. Set one of these keys.",
            failures::params(),
        ),
        section(
            "failure.links",
            "Missing cables of one level of a fat tree, drawn with the seed of the run.",
            failures::DrawnLinks::params(),
        ),
        section(
            "link",
            "Rate, delay and packet sizes of links.",
            link::params(),
        ),
        section(
            "link.class.*",
            "Values for one class of links, by its name in the topology (`host`, …).",
            link::LinkClass::params(),
        ),
        of_a_kind("switch", "The architecture of a switch.", "switch"),
        section(
            "switch.pipeline",
            "Latencies of the stages of a switch, in clock cycles. Tiled switches have other \
             stages.",
            stages(),
        ),
        section(
            "switch.input-buffer",
            "The input buffer of a port as a pool shared by all lanes, or as one part per queue.",
            switch::Buffer::table_params(),
        ),
        section(
            "switch.output-buffer",
            "The output buffer of a port as a pool shared by all lanes.",
            switch::Pool::params(),
        ),
        section(
            "switch.central-buffer",
            "The central buffer of an MPort as a pool shared by all lanes.",
            switch::Pool::params(),
        ),
        section(
            "switch.faults",
            "Injected faults in a tiled switch.",
            switch::Errors::params(),
        ),
        section("nic", "Queues and protocols of NICs.", nic::params()),
        section(
            "nic.receive",
            "How a NIC handles arriving packets.",
            nic::Receive::params(),
        ),
        of_a_kind(
            "routing",
            "How packets are routed. The default depends on the topology.",
            "routing",
        ),
    ]
}

/// Returns the sections of service levels, traffic and measurement.
fn of_the_traffic() -> Vec<SectionInfo> {
    vec![
        section(
            "qos",
            "Virtual lanes, the maps from service levels to lanes, and arbitration.",
            qos::params(),
        ),
        list(
            "qos.sl2vl-exception",
            "A row of the SL2VL table for one (switch, input, output) only.",
            qos::Sl2VlException::params(),
        ),
        list(
            "qos.sc2vl-exception",
            "A row of the SC2VL table for one switch, or for one of its outputs.",
            qos::Sc2VlException::params(),
        ),
        list(
            "qos.sc2sc-exception",
            "A row of the SC2SC table for one switch, one of its inputs or outputs, or a pair of \
             them.",
            qos::Sc2ScException::params(),
        ),
        section(
            "plan",
            "What the classes need at every port. The tables follow from it, unless `qos.arbiter` \
             is set.",
            netloom_design::plan::Request::params()[0].clone(),
        ),
        list(
            "plan.class",
            "What one class needs.",
            netloom_design::plan::Request::params()[1].clone(),
        ),
        list(
            "plan.device",
            "The entries and lanes that ports of one kind of device support. For a real site, they \
             are in PortInfo.",
            netloom_design::plan::Request::params()[2].clone(),
        ),
        section(
            "connections",
            "Constant-rate connections that are admitted before they send. The tables of all ports \
             follow from them.",
            connections::ConnectionsSpec::params(),
        ),
        list(
            "connections.class",
            "A class of drawn connections. The default is the four classes of paper 004 by \
             bandwidth (up to 64 kbps, 1.55 Mbps, 64 Mbps and 300 Mbps).",
            connection_classes::ClassSpec::params(),
        ),
        section(
            "groups",
            "Named parts of the fabric that share no NIC, for use in sets of NICs. Example: \
             `victims = \"rest\"`.",
            vec![],
        ),
        section(
            "groups.*",
            "The NICs of a group: `\"random 48\"` (48 of the remaining NICs, drawn), `\"next 48\"` \
             (the first 48 of the remaining NICs), `\"rest\"` (all remaining NICs), or a set of \
             NICs.",
            vec![],
        ),
        list("traffic", "A class of traffic.", Class::params()),
        section(
            "measure",
            "Length, number and precision of runs.",
            measure::MeasureSpec::params(),
        ),
    ]
}

fn top() -> Vec<Param> {
    let param = |name: &str, about: &str, shape, default: Option<&str>| Param {
        name: name.to_owned(),
        about: about.to_owned(),
        shape,
        default: default.map(str::to_owned),
    };
    vec![
        param(
            "netloom",
            "The version of the file format.",
            Shape::Integer(1, 1),
            None,
        ),
        param(
            "name",
            "The name of the experiment in results. The default is the name of the file.",
            String::shape(),
            Some(""),
        ),
        param(
            "about",
            "A description of the experiment.",
            String::shape(),
            Some(""),
        ),
        param(
            "extends",
            "A base file. Tables are merged with those of this file, and lists are replaced.",
            String::shape(),
            Some(""),
        ),
    ]
}

/// Returns the stages of all switches: those of crossbars, then those of tiled switches only.
fn stages() -> Vec<Param> {
    let (crossbars, tiles) = (switch::Stages::params(), switch::Cycles::params());
    let is_in = |list: &[Param], param: &Param| list.iter().any(|other| other.name == param.name);
    let of_crossbars = crossbars.iter().map(|param| match is_in(&tiles, param) {
        true => param.clone(),
        false => Param {
            about: format!("{} Not in tiled switches.", param.about),
            ..param.clone()
        },
    });
    let own = tiles.iter().filter(|param| !is_in(&crossbars, param));
    let of_tiles = own.map(|param| Param {
        about: format!("Tiled switches only: {}", param.about),
        ..param.clone()
    });
    of_crossbars.chain(of_tiles).collect()
}

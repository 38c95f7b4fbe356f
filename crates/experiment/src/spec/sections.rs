//! The sections of a file and the concepts in them, for lists, manuals, explanations and the schema.

use netloom_catalog::{FromToml, KindInfo, Param, Params, Shape, info};
use netloom_traffic::Class;

use crate::Kinds;

use super::{
    connection_classes, connections, failures, flow_control, link, measure, nic, qos, switch,
};

/// One section of a file.
pub struct SectionInfo {
    /// Its path (`switch.pipeline`); empty for the top of the file, `*` where any name stands.
    pub path: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Its keys; a section that is of a kind has those of the kind besides.
    pub params: Vec<Param>,
    /// Whether it is a list of tables (`[[traffic]]`).
    pub is_list: bool,
    /// The concept whose kinds this section takes, if it is of a kind.
    pub concept: Option<&'static str>,
}

/// Something that comes in kinds.
pub struct Concept {
    /// What it is called in messages.
    pub name: &'static str,
    /// What it decides.
    pub about: &'static str,
    /// Where it stands in a file.
    pub path: &'static str,
    /// Its kinds.
    pub kinds: Vec<KindInfo>,
}

/// Everything that comes in kinds, with those that a program has.
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
            "Which switches and cables.",
            "topology",
            info(&kinds.topologies),
        ),
        concept(
            "routing",
            "Which way a packet takes.",
            "routing",
            info(&kinds.routings),
        ),
        concept(
            "flow control",
            "How a sender knows that there is room at the other end of its link.",
            "link.flow-control",
            info(flow_control::FLOW_CONTROLS),
        ),
        concept(
            "switch",
            "How a switch is built.",
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
            "Who may cross a switch next.",
            "switch.allocator",
            info(switch::ALLOCATORS),
        ),
        concept(
            "stash",
            "What port buffers that short links leave unused are used for.",
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
            "Who is next on a link.",
            "qos.arbiter",
            info(&kinds.arbiters),
        ),
        concept(
            "pattern",
            "To whom messages go.",
            "traffic.pattern",
            info(&kinds.traffic.patterns),
        ),
        concept(
            "arrival process",
            "When messages come.",
            "traffic.arrival",
            info(&kinds.traffic.arrivals),
        ),
        concept(
            "message size",
            "How large messages are.",
            "traffic.size",
            info(&kinds.traffic.sizes),
        ),
        concept(
            "workload",
            "Workloads that say everything about their messages.",
            "traffic.workload",
            info(&kinds.traffic.workloads),
        ),
    ]
}

/// Every section of a file, in the order of a resolved one.
pub fn sections() -> Vec<SectionInfo> {
    let section = |path, about, params| SectionInfo {
        path,
        about,
        params,
        is_list: false,
        concept: None,
    };
    let of_a_kind = |path, about, concept| SectionInfo {
        path,
        about,
        params: vec![],
        is_list: false,
        concept: Some(concept),
    };
    let list = |path, about, params| SectionInfo {
        path,
        about,
        params,
        is_list: true,
        concept: None,
    };
    let mut sections = vec![
        section("", "The file itself.", top()),
        of_a_kind("topology", "Which switches and cables.", "topology"),
        list(
            "failure",
            "A cable or switch that is missing, or cables drawn at random: one of these keys.",
            failures::params(),
        ),
        section(
            "failure.links",
            "Missing cables of a level of a fat tree, drawn by the seed of the run.",
            failures::DrawnLinks::params(),
        ),
        section(
            "link",
            "How fast, how far, in which pieces.",
            link::params(),
        ),
        section(
            "link.class.*",
            "What differs for one class of links; its name is one of the topology's (`host`, …).",
            link::LinkClass::params(),
        ),
        of_a_kind("switch", "How a switch is built.", "switch"),
        section(
            "switch.pipeline",
            "Latencies of the stages of a switch, in cycles of its clock; tiled switches have stages of their own.",
            stages(),
        ),
        section(
            "switch.input-buffer",
            "The input buffer of a port as one pool that all lanes share, or with a part for each queue.",
            switch::Buffer::table_params(),
        ),
        section(
            "switch.output-buffer",
            "The output buffer of a port as one pool that all lanes share.",
            switch::Pool::params(),
        ),
        section(
            "switch.central-buffer",
            "The central buffer of an MPort as one pool that all lanes share.",
            switch::Pool::params(),
        ),
        section(
            "switch.faults",
            "Errors on purpose in a tiled switch.",
            switch::Errors::params(),
        ),
        section(
            "nic",
            "Where messages wait before they are sent, and what endpoints do beyond that.",
            nic::params(),
        ),
        section(
            "nic.receive",
            "What a NIC does with packets that arrive.",
            nic::Receive::params(),
        ),
        of_a_kind(
            "routing",
            "Which way a packet takes; left out, what suits the topology.",
            "routing",
        ),
        section(
            "qos",
            "Lanes, who takes which, and who is next on a link.",
            qos::params(),
        ),
        list(
            "qos.sl2vl-exception",
            "A row of the SL2VL table that holds for one (switch, input, output) only.",
            qos::Sl2VlException::params(),
        ),
        list(
            "qos.sc2vl-exception",
            "A row of the SC2VL table that holds for one switch, or for one of its outputs.",
            qos::Sc2VlException::params(),
        ),
        list(
            "qos.sc2sc-exception",
            "A row of the SC2SC table that holds for one switch, or for one of its inputs or outputs, or for a pair of them.",
            qos::Sc2ScException::params(),
        ),
        section(
            "plan",
            "What the classes need of every port; the tables follow, unless `qos.arbiter` is written.",
            netloom_design::plan::Request::params()[0].clone(),
        ),
        list(
            "plan.class",
            "What one class needs.",
            netloom_design::plan::Request::params()[1].clone(),
        ),
        list(
            "plan.device",
            "What the ports of one kind of device have room for. PortInfo of a real site says it of the site's own.",
            netloom_design::plan::Request::params()[2].clone(),
        ),
        section(
            "connections",
            "Connections of a constant rate that are admitted before they send; the tables of all ports follow from them.",
            connections::ConnectionsSpec::params(),
        ),
        list(
            "connections.class",
            "Connections that are drawn alike; left out, the four classes of paper 004 by bandwidth (up to 64 kbps, 1.55 Mbps, \
             64 Mbps and 300 Mbps).",
            connection_classes::ClassSpec::params(),
        ),
        section(
            "groups",
            "Parts of the fabric that have no NIC in common, to be named in sets of NICs; for example \
             `victims = \"rest\"`.",
            vec![],
        ),
        section(
            "groups.*",
            "The NICs of a group: `\"random 48\"` (so many of those left, drawn), `\"next 48\"` (the first that are \
             left), `\"rest\"` (all that are left), or a set of NICs.",
            vec![],
        ),
        list("traffic", "A class of traffic.", Class::params()),
        section(
            "measure",
            "How long, how often, how exactly.",
            measure::MeasureSpec::params(),
        ),
    ];
    sections.extend(super::study::sections_of_a_study());
    sections
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
            "The format of the file.",
            Shape::Integer(1, 1),
            None,
        ),
        param(
            "name",
            "What results call the experiment; left out, the name of the file.",
            String::shape(),
            Some(""),
        ),
        param(
            "about",
            "What the experiment is about.",
            String::shape(),
            Some(""),
        ),
        param(
            "extends",
            "A file over which this one is put: tables are merged, lists replaced.",
            String::shape(),
            Some(""),
        ),
    ]
}

/// The stages of all switches: those of crossbars, then those that only tiled switches have.
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
        about: format!("Tiled switches: {}", param.about),
        ..param.clone()
    });
    of_crossbars.chain(of_tiles).collect()
}

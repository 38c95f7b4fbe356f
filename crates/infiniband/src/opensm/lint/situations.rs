//! The situations that a file applies to: kinds of ports, the lanes they use, and their table
//! sizes.

use std::collections::BTreeMap;

use netloom_arbitration::Entry;
use netloom_catalog::Place;

use crate::opensm::keys::{QosKey, QosSet, key_name};
use crate::opensm::lists::read_lanes;
use crate::opensm::programming::{folded_map, lanes_of_code, written_entries};
use crate::opensm::{Effective, Origin, PortCapabilities, PortKind, operational_lanes};
use crate::{PortName, SlToVl};

use super::{Fabric, Subject};

/// Ports for which the file has the same effect.
#[derive(Clone, Debug)]
pub(super) struct Situation<'a> {
    /// The settings that apply to them.
    pub(super) effective: Effective<'a>,
    pub(super) sets: Vec<QosSet>,
    /// Number of data lanes that they will use.
    pub(super) lanes: u8,
    /// The ports of the fabric, if known.
    pub(super) ports: Option<Ports>,
}

/// Ports of a fabric with the same capabilities.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    pub(super) n: usize,
    /// The name of the first port.
    pub(super) example: String,
    pub(super) low_cap: u8,
    pub(super) high_cap: u8,
}

impl Situation<'_> {
    /// Returns the low table that the ports will hold.
    pub(super) fn low(&self) -> Vec<Entry> {
        let cap = self.ports.as_ref().map(|ports| ports.low_cap);
        written_entries(self.effective.low.0, cap, self.lanes)
    }

    /// Returns the high table that the ports will hold.
    pub(super) fn high(&self) -> Vec<Entry> {
        let cap = self.ports.as_ref().map(|ports| ports.high_cap);
        written_entries(self.effective.high.0, cap, self.lanes)
    }

    /// Returns the lanes of service levels that the ports will hold.
    pub(super) fn sl_to_vl(&self) -> SlToVl {
        folded_map(read_lanes(self.effective.sl2vl.0), self.lanes)
    }

    /// Returns `16 switch ports (such as leaf1, port 3)`, or the kinds alone.
    pub(super) fn words(&self) -> String {
        let kinds = super::words::kinds(&self.sets);
        match &self.ports {
            Some(ports) => format!("{} {kinds} (such as {})", ports.n, ports.example),
            None => kinds,
        }
    }
}

/// Returns the lists of both tables with their keys and origins.
pub(super) fn tables_of<'a>(effective: &Effective<'a>) -> [(QosKey, &'a str, Origin<'a>); 2] {
    [
        (QosKey::VlarbHigh, effective.high.0, effective.high.1),
        (QosKey::VlarbLow, effective.low.0, effective.low.1),
    ]
}

/// Returns the place for a note about a value: its line, or else the line that turns QoS on.
pub(super) fn place_of(subject: &Subject<'_>, origin: Origin<'_>) -> Place {
    match origin {
        Origin::Line(setting, _) => setting.key_place,
        Origin::OpenSm => qos_place(subject),
    }
}

/// Returns the place of the line that turns QoS on.
pub(super) fn qos_place(subject: &Subject<'_>) -> Place {
    let setting = subject.conf.last("qos");
    setting.map_or(
        Place {
            source: subject.conf.source,
            start: 0,
            end: 0,
        },
        |setting| setting.key_place,
    )
}

/// Returns all situations, combining kinds of ports with the same one.
pub(super) fn situations<'a>(subject: &Subject<'a>) -> Vec<Situation<'a>> {
    let mut found: Vec<Situation<'a>> = vec![];
    if !subject.conf.is_qos_on() {
        return found;
    }
    for set in sets_in_use(subject) {
        let effective = Effective::of(subject.conf, set);
        for (lanes, ports) in ports_of(subject, set) {
            let same = found.iter_mut().find(|other| {
                other.ports.is_none()
                    && ports.is_none()
                    && other.lanes == lanes
                    && is_same(&other.effective, &effective)
            });
            match same {
                Some(other) => other.sets.push(set),
                None => found.push(Situation {
                    effective,
                    sets: vec![set],
                    lanes,
                    ports,
                }),
            }
        }
    }
    found
}

fn is_same(one: &Effective<'_>, other: &Effective<'_>) -> bool {
    one.high_limit == other.high_limit
        && one.high == other.high
        && one.low == other.low
        && one.sl2vl == other.sl2vl
}

/// Returns the kinds of ports of the fabric. Without a fabric, these are hosts, switches, and kinds
/// with their own keys.
pub(super) fn sets_in_use(subject: &Subject<'_>) -> Vec<QosSet> {
    let is_used = |set: &QosSet| match (&subject.fabric, set) {
        (Some(fabric), set) => kinds_of(fabric).contains(set),
        (None, QosSet::ChannelAdapter | QosSet::SwitchExternal) => true,
        (None, set) => has_own_keys(subject, *set),
    };
    QosSet::OF_PORTS.into_iter().filter(is_used).collect()
}

/// Returns whether the file has keys for this kind of port alone.
pub(super) fn has_own_keys(subject: &Subject<'_>, set: QosSet) -> bool {
    let lists = [QosKey::VlarbHigh, QosKey::VlarbLow, QosKey::Sl2Vl];
    let has = |key: &QosKey| subject.conf.text(&key_name(set, *key)).is_some();
    let limit = subject.conf.last(&key_name(set, QosKey::HighLimit));
    lists.iter().any(has) || limit.is_some_and(|setting| setting.number() as i32 >= 0)
}

fn kinds_of(fabric: &Fabric<'_>) -> Vec<QosSet> {
    ports(fabric)
        .filter_map(|(_, _, kind)| kind.set())
        .collect()
}

/// Returns every port of a fabric with its node and kind.
pub(super) fn ports<'a>(
    fabric: &Fabric<'a>,
) -> impl Iterator<Item = (PortName, &'a crate::Node, PortKind)> {
    fabric.subnet.nodes.iter().flat_map(|node| {
        let first = u8::from(!node.kind.is_switch());
        (first..node.ports.len() as u8).map(move |port| {
            let name = PortName {
                node: node.guid,
                port,
            };
            (name, node, PortKind::of(node.kind, port))
        })
    })
}

/// Returns lanes and table sizes of the ports of a kind. If none are known, the file alone decides.
fn ports_of(subject: &Subject<'_>, set: QosSet) -> Vec<(u8, Option<Ports>)> {
    let code = subject.conf.max_op_vls();
    let mut found: BTreeMap<(u8, u8, u8), Ports> = BTreeMap::new();
    if let Some(fabric) = &subject.fabric {
        let of_kind = ports(fabric).filter(|(_, _, kind)| kind.set() == Some(set));
        for (name, node, kind) in of_kind {
            let Some(port) = capabilities(fabric, node, name) else {
                continue;
            };
            if port.neighbor_lanes.is_none() && kind == PortKind::SwitchExternal {
                continue;
            }
            let lanes = operational_lanes(code, kind, &port);
            let key = (lanes, port.low_cap, port.high_cap);
            let ports = found.entry(key).or_insert_with(|| Ports {
                n: 0,
                example: format!("{}, port {}", node.description, name.port),
                low_cap: port.low_cap,
                high_cap: port.high_cap,
            });
            ports.n += 1;
        }
    }
    match found.is_empty() {
        true => vec![(lanes_of_code(code), None)],
        false => found
            .into_iter()
            .map(|((lanes, _, _), ports)| (lanes, Some(ports)))
            .collect(),
    }
}

/// Returns the capabilities of a port, if known.
pub(super) fn capabilities(
    fabric: &Fabric<'_>,
    node: &crate::Node,
    name: PortName,
) -> Option<PortCapabilities> {
    let cable = node.ports.get(usize::from(name.port))?.cable;
    let neighbor = cable.map(|cable| {
        let there = PortName {
            node: fabric.subnet.nodes[cable.node.index()].guid,
            port: cable.port,
        };
        fabric.lanes.get(&there).copied().unwrap_or_default()
    });
    PortCapabilities::of(fabric.lanes.get(&name)?, neighbor.as_ref())
}

//! Predicts what OpenSM will program into a port.
//!
//! ```text
//! the list of the kind of port ─► 64 entries ─► cut at the port's cap ─► lanes folded by OperVLs ─► the port
//!                                                 (cap 64: at 32)          (first sweep: the old ones)
//! ```
//!
//! Not covered: `use_optimized_slvl` (off by default), and routing engines that make their own
//! SL-to-VL maps (torus-2QoS).

use netloom_arbitration::Entry;
use netloom_units::Vl;

use crate::{DROPPED, NodeKind, PortLanes, SlToVl, VlArbitration};

use super::conf::Conf;
use super::effective::Effective;
use super::keys::QosSet;
use super::lists::{read_entries, read_lanes};

/// Number of entries per message to a port.
const BLOCK: u8 = 32;

/// The kinds of ports that OpenSM distinguishes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PortKind {
    /// A port of a channel adapter.
    ChannelAdapter,
    /// An external port of a switch, with or without a cable.
    SwitchExternal,
    /// The management port of a switch, with lanes and tables.
    EnhancedPort0,
    /// The management port of a switch, without lanes and tables.
    BasePort0,
    /// A port of a router.
    Router,
}

impl PortKind {
    /// Returns the kind of a port of a node.
    pub fn of(node: NodeKind, port: u8) -> PortKind {
        match (node, port) {
            (NodeKind::ChannelAdapter, _) => PortKind::ChannelAdapter,
            (NodeKind::Router, _) => PortKind::Router,
            (
                NodeKind::Switch {
                    enhanced_port_0: true,
                },
                0,
            ) => PortKind::EnhancedPort0,
            (
                NodeKind::Switch {
                    enhanced_port_0: false,
                },
                0,
            ) => PortKind::BasePort0,
            (NodeKind::Switch { .. }, _) => PortKind::SwitchExternal,
        }
    }

    /// Returns the key set for this kind of port. A base port 0 has none.
    pub fn set(self) -> Option<QosSet> {
        match self {
            PortKind::ChannelAdapter => Some(QosSet::ChannelAdapter),
            PortKind::SwitchExternal => Some(QosSet::SwitchExternal),
            PortKind::EnhancedPort0 => Some(QosSet::SwitchPort0),
            PortKind::BasePort0 => None,
            PortKind::Router => Some(QosSet::Router),
        }
    }
}

/// The capabilities of a port, and its lanes before OpenSM programs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortCapabilities {
    /// Number of data lanes: 1, 2, 4, 8 or 15.
    pub lanes: u8,
    /// Number of data lanes of the port at the other end of the cable; `None` without a cable.
    pub neighbor_lanes: Option<u8>,
    /// Number of data lanes in use before the sweep.
    pub operational_before: u8,
    /// Capacity of the low table, in entries.
    pub low_cap: u8,
    /// Capacity of the high table, in entries.
    pub high_cap: u8,
}

impl PortCapabilities {
    /// Builds the capabilities from PortInfo of both ends of a cable. Returns `None` if lanes or
    /// capacities are unknown.
    pub fn of(port: &PortLanes, neighbor: Option<&PortLanes>) -> Option<PortCapabilities> {
        let lanes = port.cap?;
        Some(PortCapabilities {
            lanes,
            neighbor_lanes: neighbor.map(|lanes_there| lanes_there.cap.unwrap_or(lanes)),
            operational_before: port.operational.unwrap_or(lanes),
            low_cap: port.low_cap?,
            high_cap: port.high_cap?,
        })
    }
}

/// The sweep of OpenSM that wrote the tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sweep {
    /// The first sweep as master: tables of switches are folded by the OperVLs that their ports had
    /// before.
    First,
    /// Any later heavy sweep, such as after SIGHUP.
    Later,
}

/// The contents of a port after a sweep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Number of data lanes in use.
    pub operational: u8,
    /// Number of data lanes that the tables were folded to.
    pub folded_to: u8,
    pub high_limit: u8,
    /// Both tables, filled up to the capacities of the port with entries of weight 0.
    pub arbitration: VlArbitration,
    /// Lanes by service level, for packets from the node itself; at an external port, for all
    /// packets.
    pub sl_to_vl: SlToVl,
    /// Lanes by service level, for packets from outside to an enhanced port 0.
    pub sl_to_vl_from_outside: Option<SlToVl>,
}

/// Returns what OpenSM programs into a port. Returns `None` if OpenSM does not touch the port,
/// because QoS is off or the port has no tables or no link.
pub fn program(
    conf: &Conf,
    kind: PortKind,
    port: &PortCapabilities,
    sweep: Sweep,
) -> Option<Program> {
    let has_link = port.neighbor_lanes.is_some() || kind == PortKind::EnhancedPort0;
    let set = kind.set().filter(|_| conf.is_qos_on() && has_link)?;
    let effective = Effective::of(conf, set);
    let operational = operational_lanes(conf.max_op_vls(), kind, port);
    let folded_to = match (kind, sweep) {
        (PortKind::SwitchExternal | PortKind::EnhancedPort0, Sweep::First) => {
            port.operational_before
        }
        _ => operational,
    };
    let map = |list: &str| folded_map(read_lanes(list), folded_to);
    let outside = Effective::of(conf, QosSet::SwitchExternal).sl2vl.0;
    Some(Program {
        operational,
        folded_to,
        high_limit: effective.high_limit.0,
        arbitration: VlArbitration {
            low_cap: port.low_cap,
            high_cap: port.high_cap,
            low: table(effective.low.0, port.low_cap, folded_to),
            high: table(effective.high.0, port.high_cap, folded_to),
        },
        sl_to_vl: map(effective.sl2vl.0),
        sl_to_vl_from_outside: (kind == PortKind::EnhancedPort0).then(|| map(outside)),
    })
}

/// Returns the number of data lanes that a port uses after a sweep, for a value of `max_op_vls`.
pub fn operational_lanes(max_op_vls: u8, kind: PortKind, port: &PortCapabilities) -> u8 {
    let possible = match (kind, port.neighbor_lanes) {
        (PortKind::EnhancedPort0 | PortKind::BasePort0, _) => port.operational_before,
        (_, Some(neighbor)) => port.lanes.min(neighbor),
        // OpenSM does not touch ports without a link.
        (_, None) => return port.operational_before,
    };
    possible.min(lanes_of_code(max_op_vls))
}

/// Returns the number of data lanes for a code of OperVLs. Larger codes have no effect.
pub(super) fn lanes_of_code(code: u8) -> u8 {
    match code {
        0 | 1 => 1,
        2 => 2,
        3 => 4,
        4 => 8,
        _ => 15,
    }
}

/// Returns the smallest code of OperVLs with at least this many data lanes.
pub(super) fn code_of_lanes(lanes: u8) -> u8 {
    match lanes {
        0 | 1 => 1,
        2 => 2,
        3..=4 => 3,
        5..=8 => 4,
        _ => 5,
    }
}

/// Folds a lane as OpenSM does for a port with `lanes` lanes: it keeps the lowest bits of the
/// number.
pub(super) fn folded(vl: Vl, lanes: u8) -> Vl {
    let mask = match lanes {
        15 => 15,
        lanes => lanes.saturating_sub(1),
    };
    Vl(vl.0 & mask)
}

pub(super) fn folded_map(map: SlToVl, lanes: u8) -> SlToVl {
    SlToVl(map.0.map(|vl| match vl == DROPPED {
        true => vl,
        false => folded(vl, lanes),
    }))
}

/// Returns the table that a port will hold.
fn table(list: &str, cap: u8, lanes: u8) -> Vec<Entry> {
    let nothing = Entry {
        vl: Vl(0),
        weight: 0,
    };
    let mut entries = written_entries(list, Some(cap), lanes);
    entries.resize(usize::from(cap), nothing);
    entries
}

/// Returns the entries of a list that reach a port, with folded lanes. Without a capacity, returns
/// all.
pub(super) fn written_entries(list: &str, cap: Option<u8>, lanes: u8) -> Vec<Entry> {
    let mut entries = read_entries(list);
    if let Some(cap) = cap {
        entries.truncate(usize::from(entries_written(cap)));
    }
    for entry in &mut entries {
        entry.vl = folded(entry.vl, lanes);
    }
    entries
}

/// Returns how many entries of a list OpenSM writes into a table with capacity `cap`.
///
/// OpenSM writes blocks of 32, with `cap modulo 32` as the length of the second: 0 if the cap is
/// 64.
pub(super) fn entries_written(cap: u8) -> u8 {
    match cap > BLOCK {
        true => BLOCK + cap % BLOCK,
        false => cap,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: PortCapabilities = PortCapabilities {
        lanes: 8,
        neighbor_lanes: Some(8),
        operational_before: 8,
        low_cap: 8,
        high_cap: 8,
    };

    fn low(text: &str, kind: PortKind, port: PortCapabilities, sweep: Sweep) -> Vec<(u8, u8)> {
        let conf = Conf::read(&format!("qos TRUE\n{text}"), 0);
        let program = program(&conf, kind, &port, sweep).expect("QoS is on");
        let entries = program.arbitration.low.iter();
        entries.map(|e| (e.vl.0, e.weight)).collect()
    }

    #[test]
    fn off_and_base_ports_program_nothing() {
        let off = Conf::read("qos FALSE\nqos_vlarb_low 0:1\n", 0);
        let on = Conf::read("qos TRUE\n", 0);
        assert_eq!(
            program(&off, PortKind::ChannelAdapter, &PORT, Sweep::First),
            None
        );
        assert_eq!(program(&on, PortKind::BasePort0, &PORT, Sweep::First), None);
    }

    #[test]
    fn lists_are_cut_at_the_cap_and_filled_with_nothing() {
        let port = PortCapabilities { low_cap: 2, ..PORT };
        let text = "qos_vlarb_low 1:10,2:20,3:30\n";
        let kind = PortKind::ChannelAdapter;
        assert_eq!(low(text, kind, port, Sweep::First), [(1, 10), (2, 20)]);
        let port = PortCapabilities { low_cap: 4, ..PORT };
        let expected = [(1, 10), (2, 20), (3, 30), (0, 0)];
        assert_eq!(low(text, kind, port, Sweep::First), expected);
    }

    #[test]
    fn a_cap_of_64_loses_the_second_half() {
        let list: Vec<String> = (0..64).map(|n| format!("{}:{}", n % 8, n + 1)).collect();
        let text = format!("qos_vlarb_low {}\n", list.join(","));
        for (cap, written) in [(32, 32), (63, 63), (64, 32)] {
            let port = PortCapabilities {
                low_cap: cap,
                ..PORT
            };
            let table = low(&text, PortKind::ChannelAdapter, port, Sweep::Later);
            assert_eq!(table.len(), usize::from(cap));
            let n = table.iter().filter(|(_, weight)| *weight > 0).count();
            assert_eq!(n, written, "cap {cap}");
        }
    }

    #[test]
    fn the_first_sweep_folds_switch_ports_by_what_they_used_before() {
        let port = PortCapabilities {
            operational_before: 1,
            low_cap: 3,
            ..PORT
        };
        let text = "max_op_vls 3\nqos_vlarb_low 1:10,2:20,7:30\n";
        let at = |kind, sweep| low(text, kind, port, sweep);
        let settled = [(1, 10), (2, 20), (3, 30)];
        assert_eq!(
            at(PortKind::SwitchExternal, Sweep::First),
            [(0, 10), (0, 20), (0, 30)]
        );
        assert_eq!(at(PortKind::SwitchExternal, Sweep::Later), settled);
        assert_eq!(at(PortKind::ChannelAdapter, Sweep::First), settled);
    }

    #[test]
    fn the_lane_that_drops_is_never_folded() {
        let conf = Conf::read("qos TRUE\nmax_op_vls 2\nqos_sl2vl 0,1,2,3,15\n", 0);
        let program = program(&conf, PortKind::ChannelAdapter, &PORT, Sweep::First).unwrap();
        assert_eq!(program.operational, 2);
        let first: Vec<u8> = program.sl_to_vl.0[..5].iter().map(|vl| vl.0).collect();
        assert_eq!(first, [0, 1, 0, 1, 15]);
    }
}

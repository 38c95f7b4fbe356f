//! Compares the tables of a plan with the tables in the ports.
//!
//! A table is as planned if it has the same entries in the same order. A rotated table differs,
//! since it serves lanes at other times. Trailing entries of weight 0 are ignored, since a device
//! returns its full table. Ports without tables (base port 0) or without a cable are counted but
//! not compared. A limit is compared only if PortInfo was read. ibsim always returns 0, so a
//! comparison with ibsim can skip limits.

use std::fmt;

use netloom_arbitration::Entry;

use crate::{PortName, Programmed, SlToVl, Subnet};

use super::keys::QosSet;
use super::programming::PortKind;
use super::tables::{PortTables, Tables};

/// Options of the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// Whether limits always read as 0, as in ibsim.
    pub limits_read_as_zero: bool,
}

/// The part of a port that differs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Part {
    /// The low table.
    Low,
    /// The high table.
    High,
    /// The limit of the high table.
    HighLimit,
    /// Lanes for packets from this input.
    SlToVl(u8),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Low => write!(f, "low table"),
            Part::High => write!(f, "high table"),
            Part::HighLimit => write!(f, "limit of the high table"),
            Part::SlToVl(input) => write!(f, "lanes of service levels from port {input}"),
        }
    }
}

/// A difference between plan and port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    pub port: PortName,
    /// The description of its node.
    pub description: String,
    pub part: Part,
    /// The planned value, in the form of opensm.conf.
    pub planned: String,
    /// The value in the port, and a likely reason for the difference, if any.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} port {} ({}): {}: planned {}, found {}",
            self.port.node, self.port.port, self.description, self.part, self.planned, self.found
        )
    }
}

/// The result of a comparison.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Verified {
    /// The differences, in the order of the subnet.
    pub differences: Vec<Difference>,
    /// Ports with at least one comparison.
    pub ports_compared: usize,
    /// Ports whose tables and lanes are all as planned.
    pub ports_identical: usize,
    /// Number of tables, limits and rows of lanes that were compared.
    pub tables_compared: usize,
    /// Ports without tables.
    pub ports_without_tables: usize,
    /// Ports without a cable.
    pub ports_without_cable: usize,
    /// Ports without any data.
    pub ports_unread: usize,
    /// Compared ports whose limit was not read or is unreliable.
    pub limits_unread: usize,
}

/// Compares the planned tables with what was read, port by port.
pub fn verify(tables: &Tables, subnet: &Subnet, programmed: &Programmed, rules: Rules) -> Verified {
    let mut verified = Verified::default();
    for node in &subnet.nodes {
        let first = u8::from(!node.kind.is_switch());
        for number in first..node.ports.len() as u8 {
            let port = PortName {
                node: node.guid,
                port: number,
            };
            let kind = PortKind::of(node.kind, number);
            let has_cable = node.ports[usize::from(number)].cable.is_some();
            match kind.set() {
                None => verified.ports_without_tables += 1,
                Some(_) if !has_cable && kind != PortKind::EnhancedPort0 => {
                    verified.ports_without_cable += 1;
                }
                Some(set) => {
                    let outside = match kind {
                        PortKind::EnhancedPort0 => tables.of(QosSet::SwitchExternal),
                        _ => tables.of(set),
                    };
                    let planned = Planned {
                        tables: tables.of(set),
                        from_outside: &outside.sl_to_vl,
                    };
                    compare(
                        &planned,
                        port,
                        &node.description,
                        programmed,
                        rules,
                        &mut verified,
                    );
                }
            }
        }
    }
    verified
}

/// The planned contents of a port.
struct Planned<'a> {
    tables: &'a PortTables,
    /// Lanes for packets from other ports.
    from_outside: &'a SlToVl,
}

fn compare(
    planned: &Planned<'_>,
    port: PortName,
    description: &str,
    programmed: &Programmed,
    rules: Rules,
    verified: &mut Verified,
) {
    let mut found: Vec<(Part, String, String)> = vec![];
    let mut n = 0;
    if let Some(there) = programmed.arbitration.get(&port) {
        n += 2;
        let both = [
            (Part::Low, &planned.tables.low, &there.low, there.low_cap),
            (
                Part::High,
                &planned.tables.high,
                &there.high,
                there.high_cap,
            ),
        ];
        for (part, plan, there, cap) in both {
            if let Some((planned, there)) = table_difference(plan, there, cap) {
                found.push((part, planned, there));
            }
        }
        let limit = programmed
            .lanes
            .get(&port)
            .and_then(|lanes| lanes.high_limit);
        match limit.filter(|_| !rules.limits_read_as_zero) {
            None => verified.limits_unread += 1,
            Some(limit) => {
                n += 1;
                let planned = planned.tables.high_limit;
                if limit != planned {
                    found.push((Part::HighLimit, planned.to_string(), limit.to_string()));
                }
            }
        }
    }
    let rows = programmed.sl_to_vl.range((port, 0)..=(port, u8::MAX));
    for ((_, input), there) in rows {
        n += 1;
        let expected = match input {
            0 => &planned.tables.sl_to_vl,
            _ => planned.from_outside,
        };
        if there != expected {
            found.push((Part::SlToVl(*input), map_text(expected), map_text(there)));
        }
    }
    if n == 0 {
        verified.ports_unread += 1;
        return;
    }
    verified.tables_compared += n;
    verified.ports_compared += 1;
    verified.ports_identical += usize::from(found.is_empty());
    let differences = found.into_iter().map(|(part, planned, found)| Difference {
        port,
        description: description.to_owned(),
        part,
        planned,
        found,
    });
    verified.differences.extend(differences);
}

/// Returns the planned and the found table, if they differ.
fn table_difference(plan: &[Entry], there: &[Entry], cap: u8) -> Option<(String, String)> {
    let (plan, there) = (trimmed(plan), trimmed(there));
    if plan == there {
        return None;
    }
    let mut found = table_text(there);
    if plan.len() > usize::from(cap) && plan.starts_with(there) {
        found = format!("{found} (the table holds at most {cap})");
    } else if is_rotated(plan, there) {
        found = format!("{found} (the same entries, rotated)");
    } else if plan.len() > 32 && cap == 64 && plan.starts_with(there) {
        found = format!("{found} (OpenSM writes only 32 entries into a table of 64)");
    }
    Some((table_text(plan), found))
}

/// Returns a table without its trailing entries of weight 0.
fn trimmed(entries: &[Entry]) -> &[Entry] {
    let last = entries.iter().rposition(|entry| entry.weight > 0);
    &entries[..last.map_or(0, |last| last + 1)]
}

fn is_rotated(plan: &[Entry], there: &[Entry]) -> bool {
    let is_from = |start: usize| {
        let rotated = plan[start..].iter().chain(&plan[..start]);
        rotated.eq(there)
    };
    plan.len() == there.len() && (1..plan.len()).any(is_from)
}

fn table_text(entries: &[Entry]) -> String {
    let list: Vec<String> = entries
        .iter()
        .map(|entry| format!("{}:{}", entry.vl.0, entry.weight))
        .collect();
    match list.is_empty() {
        true => "no entries".to_owned(),
        false => list.join(","),
    }
}

fn map_text(map: &SlToVl) -> String {
    map.0.map(|vl| vl.0.to_string()).join(",")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use netloom_units::Vl;

    use super::*;
    use crate::{Cable, Guid, Node, NodeId, NodeKind, PortLanes, SubnetPort, VlArbitration};

    fn entry(vl: u8, weight: u8) -> Entry {
        Entry { vl: Vl(vl), weight }
    }

    fn planned() -> Tables {
        Tables::everywhere(
            3,
            PortTables {
                low: vec![entry(0, 64), entry(1, 128)],
                high: vec![],
                high_limit: 4,
                sl_to_vl: SlToVl(std::array::from_fn(|sl| Vl(sl as u8 % 2))),
            },
        )
    }

    const HOST: PortName = PortName {
        node: Guid(0x10),
        port: 1,
    };

    /// One host at a switch of two ports with a base port 0.
    fn subnet() -> Subnet {
        let port = |node: Option<u32>| SubnetPort {
            cable: node.map(|node| Cable {
                node: NodeId(node),
                port: 1,
                width: None,
                speed: None,
            }),
            ..SubnetPort::default()
        };
        let node = |kind, guid, ports| Node {
            kind,
            guid: Guid(guid),
            system_guid: None,
            device: None,
            description: "node".to_owned(),
            ports,
        };
        let switch = NodeKind::Switch {
            enhanced_port_0: false,
        };
        Subnet {
            nodes: vec![
                node(
                    NodeKind::ChannelAdapter,
                    0x10,
                    vec![port(None), port(Some(1))],
                ),
                node(switch, 0x20, vec![port(None), port(Some(0)), port(None)]),
            ],
        }
    }

    fn read(low: Vec<Entry>, cap: u8) -> Programmed {
        let arbitration = VlArbitration {
            low_cap: cap,
            high_cap: cap,
            low,
            high: vec![entry(0, 0); usize::from(cap)],
        };
        let lanes = PortLanes {
            high_limit: Some(4),
            ..PortLanes::default()
        };
        Programmed {
            arbitration: BTreeMap::from([(HOST, arbitration)]),
            lanes: BTreeMap::from([(HOST, lanes)]),
            sl_to_vl: BTreeMap::from([((HOST, 0), planned().common.sl_to_vl)]),
            ..Programmed::default()
        }
    }

    fn check(programmed: &Programmed) -> Verified {
        verify(&planned(), &subnet(), programmed, Rules::default())
    }

    #[test]
    fn entries_of_weight_0_at_the_end_are_no_difference() {
        let low = vec![entry(0, 64), entry(1, 128), entry(0, 0), entry(0, 0)];
        let verified = check(&read(low, 4));
        assert_eq!(verified.differences, []);
        assert_eq!((verified.ports_compared, verified.ports_identical), (1, 1));
        assert_eq!(verified.tables_compared, 4);
        assert_eq!(verified.ports_without_tables, 1);
        assert_eq!(verified.ports_without_cable, 1);
        assert_eq!(verified.ports_unread, 1);
    }

    #[test]
    fn another_order_is_a_difference() {
        let verified = check(&read(vec![entry(1, 128), entry(0, 64)], 2));
        let text = verified.differences[0].to_string();
        let expected = "0x0000000000000010 port 1 (node): low table: planned 0:64,1:128, found \
            1:128,0:64 (the same \
                        entries, rotated)";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_a_port_has_no_room_for_is_a_difference() {
        let verified = check(&read(vec![entry(0, 64)], 1));
        assert_eq!(
            verified.differences[0].found,
            "0:64 (the table holds at most 1)"
        );
    }

    #[test]
    fn a_limit_is_compared_where_it_was_read_and_can_be_trusted() {
        let mut programmed = read(vec![entry(0, 64), entry(1, 128)], 8);
        let limit = |programmed: &mut Programmed, limit| {
            programmed.lanes.get_mut(&HOST).unwrap().high_limit = limit;
        };
        limit(&mut programmed, Some(0));
        assert_eq!(check(&programmed).differences[0].part, Part::HighLimit);
        let rules = Rules {
            limits_read_as_zero: true,
        };
        let verified = verify(&planned(), &subnet(), &programmed, rules);
        assert_eq!((verified.differences.len(), verified.limits_unread), (0, 1));
        limit(&mut programmed, None);
        let verified = check(&programmed);
        assert_eq!((verified.differences.len(), verified.limits_unread), (0, 1));
    }
}

//! Tables as bytes for checksums. The text form of a large subnet would take hundreds of megabytes.

use netloom_arbitration::Entry;

use crate::{PortName, Programmed};

/// Returns the bytes of forwarding, lanes, arbitration and path levels. Each is empty if nothing is
/// known. Equal tables give equal bytes and different tables different bytes, since every list is
/// preceded by its length.
pub fn checksummed(programmed: &Programmed) -> [Vec<u8>; 4] {
    let mut forwarding = vec![];
    for (switch, table) in &programmed.forwarding {
        forwarding.extend(switch.0.to_le_bytes());
        list(&mut forwarding, table.raw());
    }
    let mut lanes = vec![];
    for ((port, input), map) in &programmed.sl_to_vl {
        name(&mut lanes, port);
        lanes.push(*input);
        lanes.extend(map.0.map(|vl| vl.0));
    }
    let mut arbitration = vec![];
    for (port, tables) in &programmed.arbitration {
        name(&mut arbitration, port);
        arbitration.extend([tables.low_cap, tables.high_cap]);
        for entries in [&tables.low, &tables.high] {
            let pair = |entry: &Entry| [entry.vl.0, entry.weight];
            let pairs: Vec<u8> = entries.iter().flat_map(pair).collect();
            list(&mut arbitration, &pairs);
        }
    }
    let mut levels = vec![];
    for (source, lid, level) in programmed.path_levels.iter() {
        levels.extend(source.0.to_le_bytes());
        levels.extend(lid.0.to_le_bytes());
        levels.push(level.0);
    }
    [forwarding, lanes, arbitration, levels]
}

fn name(bytes: &mut Vec<u8>, port: &PortName) {
    bytes.extend(port.node.0.to_le_bytes());
    bytes.push(port.port);
}

fn list(bytes: &mut Vec<u8>, own: &[u8]) {
    bytes.extend((own.len() as u32).to_le_bytes());
    bytes.extend(own);
}

#[cfg(test)]
mod tests {
    use netloom_units::{Sl, Vl};

    use super::*;
    use crate::{ForwardingTable, Guid, Lid, SlToVl, VlArbitration};

    #[test]
    fn every_change_of_a_table_changes_its_bytes_and_no_others() {
        let mut known = Programmed::default();
        assert!(checksummed(&known).iter().all(Vec::is_empty));
        let port = PortName {
            node: Guid(7),
            port: 3,
        };
        let mut table = ForwardingTable::default();
        table.set(Lid(4), Some(2));
        known.forwarding.insert(Guid(7), table);
        known.sl_to_vl.insert((port, 1), SlToVl([Vl(1); 16]));
        let low = Entry {
            vl: Vl(1),
            weight: 64,
        };
        let tables = VlArbitration {
            low_cap: 8,
            high_cap: 8,
            low: vec![low],
            high: vec![],
        };
        known.arbitration.insert(port, tables);
        known.path_levels.set(Guid(7), Lid(4), Sl(2));
        let usual = checksummed(&known);
        type Change = fn(&mut Programmed, PortName);
        let changes: [Change; 4] = [
            |p, _| p.forwarding.get_mut(&Guid(7)).unwrap().set(Lid(4), Some(3)),
            |p, port| p.sl_to_vl.get_mut(&(port, 1)).unwrap().0[9] = Vl(2),
            // The entry moves from one table to the other.
            |p, port| {
                let tables = p.arbitration.get_mut(&port).unwrap();
                std::mem::swap(&mut tables.low, &mut tables.high);
            },
            |p, _| p.path_levels.set(Guid(7), Lid(4), Sl(3)),
        ];
        for (changed, change) in changes.into_iter().enumerate() {
            let mut other = known.clone();
            change(&mut other, port);
            for (at, (now, before)) in checksummed(&other).iter().zip(&usual).enumerate() {
                assert_eq!(now == before, at != changed, "{at} after change {changed}");
            }
        }
    }
}

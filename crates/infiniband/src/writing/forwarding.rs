//! `opensm-lfts.dump`.

use std::fmt::Write as _;

use super::{TO_TEXT, kind_name};
use crate::{ForwardingTable, Guid, Lid, Programmed, Subnet, SubnetIndex};

/// Writes the forwarding tables of the switches of a subnet, by GUID. A switch without an address
/// is written with `Lid 0`.
pub fn forwarding(subnet: &Subnet, programmed: &Programmed) -> String {
    let index = SubnetIndex::of(subnet);
    let top = top(subnet);
    let mut text = String::new();
    for (guid, table) in &programmed.forwarding {
        one(&mut text, subnet, &index, *guid, table, top).expect(TO_TEXT);
    }
    text
}

/// Returns the last address of the subnet.
fn top(subnet: &Subnet) -> u16 {
    let ports = subnet.nodes.iter().flat_map(|node| &node.ports);
    let lids = ports.filter_map(|port| port.lids().last());
    lids.map(|lid| lid.0).max().unwrap_or(0)
}

fn one(
    text: &mut String,
    subnet: &Subnet,
    index: &SubnetIndex,
    guid: Guid,
    table: &ForwardingTable,
    top: u16,
) -> std::fmt::Result {
    let Some(node) = index.node(guid) else {
        return Ok(());
    };
    let node = &subnet.nodes[node.index()];
    let lid = node.ports[0].lid.map_or(0, |lid| lid.0);
    writeln!(
        text,
        "Unicast lids [0-{top}] of switch Lid {lid} guid {guid} ('{}'):",
        node.description
    )?;
    for (lid, output) in table.entries() {
        write!(text, "0x{:04x} {output:03} # ", lid.0)?;
        destination(text, subnet, index, lid)?;
    }
    writeln!(text, "{top} lids dumped")
}

fn destination(
    text: &mut String,
    subnet: &Subnet,
    index: &SubnetIndex,
    lid: Lid,
) -> std::fmt::Result {
    let Some((node, port)) = index.address(lid) else {
        return writeln!(text, "unknown node and type");
    };
    let node = &subnet.nodes[node.index()];
    let guid = node.ports[usize::from(port)].guid.unwrap_or(node.guid);
    let (kind, description) = (kind_name(node.kind), &node.description);
    writeln!(text, "{kind} portguid {guid}: '{description}'")
}

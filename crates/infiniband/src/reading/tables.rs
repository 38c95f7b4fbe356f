//! Collects the forwarding tables of one text, for all dialects.

use std::collections::HashMap;

use super::mistakes::{Mistakes, Span};
use super::scanner::{Line, first_line};
use crate::{ForwardingTable, Guid, Lid, Programmed, Subnet, SubnetIndex};

/// The tables of one text.
pub(super) struct Tables<'s> {
    subnet: &'s Subnet,
    index: SubnetIndex,
    tables: Vec<(Guid, ForwardingTable)>,
    /// The index of each switch in `tables`.
    known: HashMap<Guid, usize>,
    /// Whether any switch has an output, by address.
    reached: Vec<bool>,
    current: Option<Current>,
}

/// The table whose rows are being read.
struct Current {
    at: usize,
    n_ports: u64,
    /// Whether the text already had this switch.
    is_again: bool,
}

impl<'s> Tables<'s> {
    pub(super) fn of(subnet: &'s Subnet) -> Self {
        Tables {
            subnet,
            index: SubnetIndex::of(subnet),
            tables: vec![],
            known: HashMap::new(),
            reached: vec![false; usize::from(Lid::LAST_UNICAST.0) + 1],
            current: None,
        }
    }

    /// Starts the table of a switch. The rows that follow belong to it.
    pub(super) fn switch(&mut self, guid: Guid, span: Span, mistakes: &mut Mistakes<'_>) {
        self.current = None;
        let node = self.index.node(guid);
        let node = node.map(|node| &self.subnet.nodes[node.index()]);
        let Some(node) = node.filter(|node| node.kind.is_switch()) else {
            let message = format!("no switch of the subnet has GUID {guid}");
            let note = mistakes.warning("E1120", span, message);
            note.map(|note| note.help("check that both files are of the same subnet"));
            return;
        };
        let before = self.known.get(&guid).copied();
        let at = before.unwrap_or(self.tables.len());
        if before.is_none() {
            self.tables.push((guid, ForwardingTable::default()));
            self.known.insert(guid, at);
        }
        self.current = Some(Current {
            at,
            n_ports: node.ports.len() as u64 - 1,
            is_again: before.is_some(),
        });
    }

    /// Adds one row.
    pub(super) fn entry(
        &mut self,
        lid: u64,
        output: Option<u64>,
        line: Line<'_>,
        mistakes: &mut Mistakes<'_>,
    ) {
        let Some(current) = &self.current else { return };
        if lid == 0 || lid > u64::from(Lid::LAST_UNICAST.0) {
            let message = format!("{lid:#x} is not a unicast address");
            let note = mistakes.error("E1103", line.span(), message);
            note.map(|note| note.help("use LIDs from 1 to 0xbfff"));
            return;
        }
        if let Some(output) = output.filter(|output| *output > current.n_ports) {
            let message = format!(
                "no output {output} on this switch, which has ports 0 to {}",
                current.n_ports
            );
            let note = mistakes.error("E1121", line.span(), message);
            note.map(|note| note.help("check that both files are of the same subnet"));
            return;
        }
        let (lid, output) = (Lid(lid as u16), output.map(|output| output as u8));
        let table = &mut self.tables[current.at].1;
        if let Some(before) = table.output(lid)
            && Some(before) != output
        {
            let message = format!("{lid} already has output {before}");
            let note = mistakes.error("E1122", line.span(), message);
            let help = match current.is_again {
                true => "remove one of the two tables of this switch",
                false => "remove one of the two lines",
            };
            note.map(|note| note.help(help));
            return;
        }
        table.set(lid, output);
        self.reached[usize::from(lid.0)] |= output.is_some();
    }

    /// Stores the tables, and reports addresses that no switch reaches.
    pub(super) fn finish(
        self,
        programmed: &mut Programmed,
        hint: &str,
        text: &str,
        mistakes: &mut Mistakes<'_>,
    ) {
        if self.tables.is_empty() {
            if !mistakes.any() {
                let note = mistakes.error("E1113", first_line(text), "no table in this file");
                note.map(|note| note.help("run OpenSM with -D 0x43 to dump its tables"));
            }
            return;
        }
        let nodes = self.subnet.nodes.iter();
        let lids = nodes.flat_map(|node| node.ports.iter().flat_map(|port| port.lids()));
        let missing: Vec<Lid> = lids
            .filter(|lid| !self.reached[usize::from(lid.0)])
            .collect();
        if let Some(first) = missing.first() {
            let message = match missing.len() {
                1 => format!("{first} has no output at any switch"),
                n => format!("{n} LIDs have no output at any switch, such as {first}"),
            };
            let note = mistakes.warning("E1125", first_line(text), message);
            note.map(|note| note.help(hint));
        }
        programmed.forwarding.extend(self.tables);
    }
}

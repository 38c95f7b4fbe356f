//! Computes the cost of a plan for a device, and its sizes.

use netloom_arbitration::WEIGHT_UNIT;
use netloom_units::Bytes;

use super::lanes::Grouping;
use super::request::{Kind, Request};
use super::tables::Tables;
use crate::cost::buffers::credit_buffer;
use crate::cost::registers::{Device, dtable_counters, words};

/// Bits of an entry of an InfiniBand table: a lane (4) and a weight (8).
const IB_ENTRY: u64 = 12;

/// Returns the value of one unit of weight.
pub(super) fn unit(request: &Request) -> Bytes {
    match request.ports.arbiter {
        Kind::InfiniBand | Kind::DTable => Bytes(WEIGHT_UNIT.into()),
        Kind::BxiTable | Kind::BxiDeficit => {
            Bytes(request.ports.flit.0 * u64::from(request.turn()))
        }
    }
}

/// Returns facts about the plan: a word and a sentence each.
pub(super) fn facts(request: &Request, lanes: &Grouping, tables: &Tables) -> Vec<(String, String)> {
    let unit = unit(request);
    let used: usize = tables
        .lists()
        .iter()
        .map(|(_, entries)| entries.len())
        .sum();
    let units = tables.lists().into_iter().flat_map(|(_, entries)| entries);
    let frame: u64 = units.map(|(_, weight)| u64::from(weight)).sum::<u64>() * unit.0;
    let turn = super::rounded(request.ports.rate.time_for(Bytes(frame)));
    let fact = |word: &str, text: String| (word.to_owned(), text);
    vec![
        fact(
            "entries",
            format!("{used} used of {} per table", request.capacity()),
        ),
        fact("turn", format!("{} or {turn} per turn", Bytes(frame))),
        fact("cost", cost(request, tables)),
        fact("buffers", buffers(request, lanes)),
    ]
}

/// Returns the buffer that the lanes of an input need to keep the link busy.
fn buffers(request: &Request, lanes: &Grouping) -> String {
    let ports = &request.ports;
    let lane = |group: &Vec<usize>| {
        let sizes = group
            .iter()
            .map(|&class| request.classes[class].sizes.largest());
        credit_buffer(ports.delay, ports.rate, sizes.max().unwrap_or(Bytes(0))).0
    };
    let port: u64 = lanes.groups.iter().map(lane).sum();
    format!(
        "at least {} per input for its {} lanes ({} in {} ports): per lane, what the link sends in \
         the round trip of a credit (cable delay {}), plus one packet",
        Bytes(port),
        lanes.groups.len(),
        Bytes(port * u64::from(ports.ports)),
        ports.ports,
        super::rounded(ports.delay)
    )
}

fn cost(request: &Request, tables: &Tables) -> String {
    let (n_ports, n_entries) = (u64::from(request.ports.ports), request.capacity() as u64);
    match tables {
        Tables::InfiniBand { .. } => {
            let port = 2 * n_entries * IB_ENTRY;
            format!(
                "{} of tables per port, {} in {n_ports} ports",
                words(port),
                words(port * n_ports)
            )
        }
        Tables::Deficit(_) => {
            let counters = dtable_counters(request.classes.len() as u64, n_ports);
            format!(
                "{} deficit counters and {} accumulators of 8 bits in {n_ports} ports; in \
                 InfiniBand storage they take entries of the low table",
                counters.deficits, counters.accumulators
            )
        }
        Tables::Quantum { keeps_deficits, .. } => {
            let device = Device::new(n_ports, n_entries, *keeps_deficits);
            format!(
                "{} in a device of {n_ports} ports: a table of {} bits, {} bits of registers per \
                 port",
                words(device.bits()),
                device.table_bits(),
                device.port_bits()
            )
        }
    }
}

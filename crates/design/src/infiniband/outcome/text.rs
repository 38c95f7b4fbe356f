//! The result of an admission as text.

use std::cmp::Reverse;
use std::fmt;

use netloom_arbitration::{Entry, MAX_ENTRIES, NO_LIMIT};
use netloom_text::number::{decimals, nanos};
use netloom_text::{Table, labelled, page, within, wrapped};
use netloom_topology::Egress;
use netloom_units::{Sl, Time, Vl};

use super::Outcome;
use crate::infiniband::csv::Listed;
use crate::infiniband::slots::N_SLS;
use crate::infiniband::{BEST_EFFORT_SL, CHALLENGED_SL, Limit, Network, PortReport, Refusal};
use crate::qos::wait::ASSUMPTION;

/// Most ports to show in text.
const MOST_PORTS: usize = 10;

impl Outcome {
    /// Formats the result for people, with the tables of these outputs, in lines of at most this
    /// width.
    pub fn text(&self, ports: &[Egress], width: Option<usize>) -> String {
        within(&text(self, ports, width), width)
    }
}

/// The result for people, without tables.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&[], None))
    }
}

fn text(outcome: &Outcome, ports: &[Egress], width: Option<usize>) -> String {
    let mut text = summary(outcome);
    if !outcome.refused.is_empty() {
        text.push_str(&format!("\nrefused\n{}", refusals(outcome, width)));
    }
    text.push_str(&fullest(outcome, width));
    text.push_str(&warnings(&outcome.network, width));
    if has_deadlines(outcome) {
        text.push_str(&deadlines(&outcome.network, width));
    }
    if !ports.is_empty() {
        text.push_str(&format!("\nSL2VL  {}\n", lanes(outcome)));
    }
    for &port in ports {
        text.push_str(&tables(&outcome.network, port, width));
    }
    text
}

fn summary(outcome: &Outcome) -> String {
    let (accepted, refused) = (outcome.accepted.len(), outcome.refused.len());
    let of = |accepted: &[Listed]| {
        let bits = accepted
            .iter()
            .map(|l| u128::from(l.connection.bandwidth.0));
        bits.sum::<u128>() as f64 / 1e9
    };
    format!(
        "{accepted} of {} accepted ({} Gbit/s), {refused} refused\n",
        plural(accepted + refused, "connection"),
        decimals(of(&outcome.accepted), 3),
    )
}

/// Formats the map from service levels to lanes, with the traffic of each.
fn lanes(outcome: &Outcome) -> String {
    let row = outcome.sl2vl();
    let mut levels: Vec<(usize, &str)> = outcome
        .classes()
        .iter()
        .map(|class| {
            let what = match class.has_deadline {
                true => "with deadlines",
                false => "connections",
            };
            (class.service_level().index(), what)
        })
        .collect();
    levels.sort_unstable();
    levels.dedup();
    levels.push((BEST_EFFORT_SL.index(), "best effort"));
    levels.push((CHALLENGED_SL.index(), "challenged"));
    let level = |(sl, what): (usize, &str)| format!("SL{sl} on VL{} ({what})", row[sl]);
    let levels: Vec<String> = levels.into_iter().map(level).collect();
    levels.join(", ")
}

/// Formats a number of things: `1 connection`, `2 connections`.
fn plural(n: usize, one: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{n} {one}{ending}")
}

fn refusals(outcome: &Outcome, width: Option<usize>) -> String {
    let topology = outcome.network.topology();
    let has_deadlines = has_deadlines(outcome);
    let mut table = Table::words();
    let mut head = vec!["line", "from", "to", "bandwidth", "sl"];
    head.extend(has_deadlines.then_some("deadline"));
    head.extend(["port", "needed", "free", "why"]);
    table.line(head);
    for (listed, refusal) in &outcome.refused {
        let c = &listed.connection;
        let mut line = vec![
            listed.line.to_string(),
            topology.nic_name(c.source),
            topology.nic_name(c.destination),
            c.bandwidth.to_string(),
            c.class().service_level().0.to_string(),
        ];
        let deadline = c
            .deadline
            .map_or("-".to_owned(), |time| nanos(time.as_nanos()));
        line.extend(has_deadlines.then_some(deadline));
        line.extend([
            refusal.port.name(topology),
            refusal.needed.0.to_string(),
            refusal.free.0.to_string(),
            why(refusal, outcome.network.settings().lanes.of(c.class())),
        ]);
        table.line(line);
    }
    table.text(width)
}

/// Returns the reason for the refusal of a connection that would use lane `own`.
fn why(refusal: &Refusal, own: Vl) -> String {
    match &refusal.limit {
        Limit::Slots { reservable } => {
            let most = (1000.0 * reservable.share()).round() / 10.0;
            format!("connections may use at most {most} % of a link")
        }
        Limit::Entries => format!("too few of the {MAX_ENTRIES} table entries are free"),
        Limit::Deadline(late) => {
            let (vl, wait) = (late.vl, nanos(late.wait.as_nanos()));
            let budget = nanos(late.budget.as_nanos());
            let whose = if vl == own {
                String::new()
            } else {
                " of an earlier connection".to_owned()
            };
            format!("{vl} would wait up to {wait}; the part of the deadline{whose} is {budget}")
        }
    }
}

fn has_deadlines(outcome: &Outcome) -> bool {
    let mut asked = outcome.asked();
    asked.any(|listed| listed.connection.deadline.is_some())
}

/// Returns the longest wait of the lanes with deadlines at a port.
fn longest_wait(network: &Network, port: Egress) -> Option<Time> {
    let levels = (0..N_SLS).map(Sl);
    levels.filter_map(|sl| network.wait(port, sl)).max()
}

fn fullest(outcome: &Outcome, width: Option<usize>) -> String {
    let network = &outcome.network;
    let reports = network.reports();
    let n_ports = reports.len();
    let mut used: Vec<PortReport> = reports
        .into_iter()
        .filter(|r| r.n_connections > 0)
        .collect();
    // A stable sort: ports with equal shares keep the order of the fabric.
    used.sort_by_key(|report| Reverse(report.reserved));
    let shown = used.len().min(MOST_PORTS);
    let mut text = format!("\n{} of {} in use", used.len(), plural(n_ports, "port"));
    if used.is_empty() {
        return text + "\n";
    }
    text.push_str(&match shown < used.len() {
        true => format!("; the {shown} fullest:\n"),
        false => ":\n".to_owned(),
    });
    let has_deadlines = has_deadlines(outcome);
    let mut table = Table::numbers();
    let mut head = vec![
        "port",
        "link",
        "connections",
        "slots",
        "share",
        "low entries",
    ];
    if has_deadlines {
        head.extend(["high entries", "longest wait"]);
    }
    table.line(head);
    for report in &used[..shown] {
        let mut line = vec![
            report.port.name(network.topology()),
            report.rate.to_string(),
            report.n_connections.to_string(),
            report.reserved.0.to_string(),
            format!("{:.1} %", 100.0 * report.utilisation()),
            report.n_entries.to_string(),
        ];
        if has_deadlines {
            let wait = longest_wait(network, report.port);
            line.push(report.n_high_entries.to_string());
            line.push(wait.map_or("-".to_owned(), |wait| nanos(wait.as_nanos())));
        }
        table.line(line);
    }
    text + &table.text(width)
}

/// Formats warnings about tables that cannot serve all accepted connections.
fn warnings(network: &Network, width: Option<usize>) -> String {
    let packets = network.settings().packets;
    let surely_high = packets.surely_high();
    let high = |r: &PortReport| r.with_deadline.iter().map(|slots| slots.0).sum::<u64>();
    let too_long = ports(network, |r| {
        r.has_virtual_entries.then_some(r.n_entries as u64)
    });
    let too_much = ports(network, |r| {
        Some(high(r)).filter(|&slots| slots > surely_high.0)
    });
    let mut text = String::new();
    if let Some((n, list)) = too_long {
        text.push_str(&format!(
            "\nwarning: the low tables of {n} need more than the {MAX_ENTRIES} entries that \
             hardware has: {list}. With --mode strict-entries, such connections are refused.\n"
        ));
    }
    if let Some((n, list)) = too_much {
        text.push_str(&format!(
            "\nwarning: with a high-priority limit of {} and packets of {}, the high table is \
             guaranteed only {} of a frame, but {n} reserve more for deadlines: {list}. Use a \
             larger limit, or 255.\n",
            packets.limit, packets.largest, surely_high
        ));
    }
    wrapped(&text, page(width))
}

/// Returns the number of ports that need a warning, and a list of the first ones.
fn ports(
    network: &Network,
    number: impl Fn(&PortReport) -> Option<u64>,
) -> Option<(String, String)> {
    let reports = network.reports();
    let named = |r: &PortReport| {
        Some(format!(
            "{} ({})",
            r.port.name(network.topology()),
            number(r)?
        ))
    };
    let names: Vec<String> = reports.iter().filter_map(named).collect();
    let rest = names.len().saturating_sub(MOST_PORTS);
    let mut list = names[..names.len() - rest].join(", ");
    if rest > 0 {
        list.push_str(&format!(" and {rest} more"));
    }
    (!names.is_empty()).then(|| (plural(names.len(), "port"), list))
}

fn deadlines(network: &Network, width: Option<usize>) -> String {
    let packets = network.settings().packets;
    let limit = match packets.limit {
        NO_LIMIT => "no high-priority limit".to_owned(),
        limit => format!("a high-priority limit of {limit} x 4096 bytes"),
    };
    wrapped(
        &format!(
            "\nDeadlines are divided evenly over the outputs of a path. Each part bounds the wait \
             of the lane at its output, with packets of up to {} and {limit}. Bounds assume \
             {ASSUMPTION}. Transmission, cables and switches add to the wait.",
            packets.largest
        ),
        page(width),
    )
}

fn tables(network: &Network, port: Egress, width: Option<usize>) -> String {
    let table = network.table(port);
    let limit = network.settings().packets.limit;
    let name = port.name(network.topology());
    let mut text = format!("\ntables of {name}, high-priority limit {limit}\n");
    for (half, entries) in [("high", table.high_entries()), ("low", table.entries())] {
        let runs = entries.chunk_by(|a, b| a == b).map(run);
        let runs = runs.collect::<Vec<_>>().join(", ");
        let runs = if runs.is_empty() {
            "empty".to_owned()
        } else {
            runs
        };
        text.push_str(&labelled(half, 5, &runs, width));
    }
    text
}

/// Formats consecutive equal entries: `VL3 255 x7`.
fn run(entries: &[Option<Entry>]) -> String {
    let one = match entries[0] {
        Some(Entry { vl, weight }) => format!("{vl} {weight}"),
        None => "free".to_owned(),
    };
    match entries.len() {
        1 => one,
        n => format!("{one} x{n}"),
    }
}

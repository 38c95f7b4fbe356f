//! The result of an admission as JSON.

use netloom_arbitration::Entry;
use netloom_units::{Sl, Time, Vl};
use serde::{Serialize, Serializer};

use super::Outcome;
use crate::infiniband::csv::Listed;
use crate::infiniband::{Limit, Network, PortReport, Refusal};

/// Rates are in bits per second.
#[derive(Serialize)]
struct Document {
    /// The lane of service level 0, 1, 2, ….
    sl2vl: Vec<u8>,
    accepted: Vec<AcceptedLine>,
    refused: Vec<RefusedLine>,
    ports: Vec<PortLine>,
}

#[derive(Serialize)]
struct Asked {
    line: u32,
    source: String,
    destination: String,
    bandwidth: u64,
    sl: u8,
    vl: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline_ns: Option<f64>,
}

#[derive(Serialize)]
struct AcceptedLine {
    #[serde(flatten)]
    asked: Asked,
    /// Per output of the path; a faster link needs fewer slots.
    slots: Vec<u64>,
    path: Vec<String>,
}

#[derive(Serialize)]
struct RefusedLine {
    #[serde(flatten)]
    asked: Asked,
    port: String,
    needed: u64,
    free: u64,
    limit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    late: Option<LateLine>,
}

/// The lane that would wait too long.
#[derive(Serialize)]
struct LateLine {
    vl: u8,
    wait_ns: f64,
    budget_ns: f64,
}

#[derive(Serialize)]
struct PortLine {
    port: String,
    rate: u64,
    connections: u32,
    reserved: u64,
    share: f64,
    entries: usize,
    high_entries: usize,
    /// Whether the low table is too long for hardware.
    is_virtual: bool,
    /// Pairs of lane and weight, in the form of `qos.arbiter`.
    high: Vec<(u8, u8)>,
    low: Vec<(u8, u8)>,
    limit: u8,
    /// The longest waits of lanes with deadlines.
    waits: Vec<WaitLine>,
}

#[derive(Serialize)]
struct WaitLine {
    vl: u8,
    wait_ns: f64,
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let network = &self.network;
        let accepted = self.accepted.iter().map(|l| accepted(network, l));
        let refused = self.refused.iter().map(|(l, r)| refused(network, l, r));
        let ports = network.reports().into_iter().map(|r| port(network, &r));
        let document = Document {
            sl2vl: self.sl2vl(),
            accepted: accepted.collect(),
            refused: refused.collect(),
            ports: ports.collect(),
        };
        document.serialize(serializer)
    }
}

fn asked(network: &Network, listed: &Listed) -> Asked {
    let (topology, c) = (network.topology(), &listed.connection);
    Asked {
        line: listed.line,
        source: topology.nic_name(c.source),
        destination: topology.nic_name(c.destination),
        bandwidth: c.bandwidth.0,
        sl: c.class().service_level().0,
        vl: network.settings().lanes.of(c.class()).0,
        deadline_ns: c.deadline.map(Time::as_nanos),
    }
}

fn accepted(network: &Network, listed: &Listed) -> AcceptedLine {
    let c = &listed.connection;
    let path = network.path(c.source, c.destination);
    AcceptedLine {
        asked: asked(network, listed),
        slots: path
            .iter()
            .map(|&port| network.slots(port, c.bandwidth).0)
            .collect(),
        path: path
            .iter()
            .map(|port| port.name(network.topology()))
            .collect(),
    }
}

fn refused(network: &Network, listed: &Listed, refusal: &Refusal) -> RefusedLine {
    let (limit, late) = match &refusal.limit {
        Limit::Slots { .. } => ("slots", None),
        Limit::Entries => ("entries", None),
        Limit::Deadline(late) => ("deadline", Some(late)),
    };
    RefusedLine {
        asked: asked(network, listed),
        port: refusal.port.name(network.topology()),
        needed: refusal.needed.0,
        free: refusal.free.0,
        limit,
        late: late.map(|late| LateLine {
            vl: late.vl.0,
            wait_ns: late.wait.as_nanos(),
            budget_ns: late.budget.as_nanos(),
        }),
    }
}

fn port(network: &Network, report: &PortReport) -> PortLine {
    let table = network.table(report.port);
    let lanes = network.settings().lanes;
    // A free index is an entry of weight 0, which an arbiter skips.
    let pair = |entry: &Option<Entry>| {
        entry.map_or((lanes.best_effort.0, 0), |entry| (entry.vl.0, entry.weight))
    };
    let wait = |(sl, vl): (Sl, Vl)| {
        let wait = network.wait(report.port, sl)?;
        Some(WaitLine {
            vl: vl.0,
            wait_ns: wait.as_nanos(),
        })
    };
    PortLine {
        port: report.port.name(network.topology()),
        rate: report.rate.0,
        connections: report.n_connections,
        reserved: report.reserved.0,
        share: report.utilisation(),
        entries: report.n_entries,
        high_entries: report.n_high_entries,
        is_virtual: report.has_virtual_entries,
        high: table.high_entries().iter().map(pair).collect(),
        low: table.entries().iter().map(pair).collect(),
        limit: network.settings().packets.limit,
        waits: (0..)
            .map(Sl)
            .zip(lanes.deadlines)
            .filter_map(wait)
            .collect(),
    }
}

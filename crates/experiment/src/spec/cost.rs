//! Estimates the cost of a run.

use std::collections::BTreeMap;

use netloom_fabric::{Architecture, FlowControl, NicQueues, QueueMap, SwitchPlan, Tiled};
use netloom_routing::{Forwarding, paths};
use netloom_topology::Topology;
use netloom_traffic::{Class, GroupMembers, Per, Workload};
use netloom_units::NicId;

use super::diagnostics::{Diagnostics, grouped};
use super::lanes::LaneMap;
use super::machine::Machine;
use super::memory::{Holdings, whole_bytes};
use super::reseed::Workloads;
use super::timing::Timing;
use crate::Measure;

/// Bytes of state below which a run has one partition.
const ONE_PARTITION: u64 = 8 << 20;
/// Bytes of state per partition above that. Smaller partitions fit a nearer cache but exchange
/// more.
const PER_PARTITION: u64 = 8 << 20;

/// Number of pairs of NICs sampled for the mean number of hops.
const PAIRS: u64 = 4096;
/// Number of destinations among them if each one takes long.
const FEW: u64 = 16;

/// Bytes of a port with its credits, arbiter and counters.
const PORT: u64 = 320;
/// Bytes of a queue of packets: its ends and its length.
const QUEUE: u64 = 16;

/// Estimates the bytes of state.
pub(crate) fn state_bytes(
    topology: &Topology,
    machine: &Machine,
    lanes: &LaneMap,
    n_classes: usize,
) -> u64 {
    let switch = &machine.switch;
    if let Some(tiled) = switch.tiled() {
        return tiled_bytes(topology, tiled, lanes, n_classes);
    }
    let vls = u64::from(lanes.n_vls);
    let n_nics = u64::from(topology.n_nics());
    let map = queue_map(machine, topology, lanes);
    let queues = u64::from(map.n_queues());
    let counters = match &machine.flow_control {
        FlowControl::Credits => 0,
        // Used and returning credits of each queue at the other end.
        FlowControl::QueueCredits => queues * 8,
        FlowControl::Pfc(_) | FlowControl::Pause(_) => vls * 8,
    };
    // Queues of inputs and outputs; packets in flight.
    let port = PORT + queues * QUEUE + vls * 20 + counters;
    let n_ports = topology.n_ports_in_all() as u64;
    let central = switch.centre().map_or(0, |centre| {
        let of_switch = |at| u64::from(centre.n_links(topology.n_ports(at)));
        let links: u64 = topology.switches().map(of_switch).sum();
        // Every output has a second writer, and every link a buffer with one queue per lane.
        n_ports * PORT + links * (PORT + vls * (QUEUE + 20))
    });
    let classes = n_classes as u64;
    let nic = 180 + classes * 60 + vls * 36;
    let voqs = match machine.endpoints.queues {
        NicQueues::PerChannel | NicQueues::SendQueues => 0,
        NicQueues::PerDestination => classes * (n_nics + u64::from(map.per_lane)) * QUEUE,
    };
    n_ports * port + central + n_nics * (nic + voqs)
}

/// Returns the queues of an input of a crossbar switch.
fn queue_map(machine: &Machine, topology: &Topology, lanes: &LaneMap) -> QueueMap {
    let scheme = machine.switch.crossbar().queues;
    QueueMap::new(scheme, lanes.n_vls, topology.radix(), topology.n_nics())
}

/// Estimates the bytes of state of tiled switches and their endpoints: ports with two pools, and
/// queues before and after tiles.
fn tiled_bytes(topology: &Topology, tiled: &Tiled, lanes: &LaneMap, n_classes: usize) -> u64 {
    let channels = u64::from(lanes.n_vls) + 2;
    let n_ports = u64::from(tiled.rows) * u64::from(tiled.inputs);
    let at_rows = u64::from(tiled.columns) * (32 + 2 * channels) + n_ports * channels * 12;
    let at_columns = u64::from(tiled.rows) * (16 + 14 * channels);
    let port = 500 + u64::from(lanes.n_vls) * 24 + at_rows + at_columns;
    let nic = 400 + 60 * n_classes as u64;
    u64::from(topology.n_switches()) * n_ports * port + u64::from(topology.n_nics()) * nic
}

/// Returns the default number of partitions of a fabric. `threads` are those of all ranks.
pub(crate) fn partitions(state: u64, threads: usize) -> usize {
    if state < ONE_PARTITION {
        return 1;
    }
    let n = state.div_ceil(PER_PARTITION);
    usize::try_from(n).unwrap_or(usize::MAX).max(threads)
}

/// Returns the load of a class as a mean over all NICs.
pub(crate) fn load_over_all(class: &Class, n_nics: u32, groups: &GroupMembers) -> Option<f64> {
    let Workload::Drawn(law) = &class.workload else {
        return None;
    };
    let sources = law.sources.members(n_nics, groups).ok()?;
    Some(law.load * sources.len() as f64 / f64::from(n_nics))
}

/// The load of all classes together.
#[derive(Clone, Copy, Default)]
pub(crate) struct Offered {
    pub(crate) n_classes: usize,
    /// Mean fraction of a NIC's link.
    pub(crate) load: f64,
    /// Packets per cycle of a NIC, in total.
    pub(crate) packets: f64,
    /// Time of a packet-hop relative to a small flat switch at a low load.
    pub(crate) weight: f64,
    /// Packets of programs, in total.
    pub(crate) packets_at_all: u64,
}

/// Returns the load of the classes of `[[traffic]]`.
pub(crate) fn offered(workloads: &Workloads, groups: &GroupMembers) -> Offered {
    let mut offered = Offered {
        n_classes: workloads.classes.len(),
        ..Offered::default()
    };
    for class in &workloads.classes {
        let Workload::Drawn(law) = &class.workload else {
            continue;
        };
        let own = load_over_all(class, workloads.n_nics, groups).unwrap_or(0.0);
        let flits = own * f64::from(workloads.n_nics);
        let largest = law.size.largest();
        let segmentation = workloads.segmentation.of(class.sl);
        let mean_flits = law.size.mean_flits(&segmentation);
        let per_message = match segmentation.mtu {
            // Exact for messages of one size. For several sizes, a message has at most one packet
            // more than its bytes fill.
            Some(mtu) => {
                let most = u64::from(largest).div_ceil(mtu.0).max(1) as f64;
                let filled = mean_flits * segmentation.flit.0 as f64 / mtu.0 as f64;
                most.min(1.0 + filled)
            }
            None => 1.0,
        };
        offered.packets += flits / mean_flits * per_message;
        offered.load += own;
    }
    offered
}

impl Offered {
    /// Adds the effect of the machine: endpoints of tiled switches acknowledge every packet.
    pub(crate) fn through(&mut self, machine: &Machine, topology: &Topology, lanes: &LaneMap) {
        self.weight = weight(machine, topology, lanes, self.load);
        if machine.endpoints.acknowledgement.is_some() {
            self.packets *= 2.0;
            self.packets_at_all = self.packets_at_all.saturating_mul(2);
        }
    }
}

/// Returns the time of a packet-hop relative to a small flat switch with credits at a low load.
/// Measured ratios are within a factor of two.
fn weight(machine: &Machine, topology: &Topology, lanes: &LaneMap, load: f64) -> f64 {
    let SwitchPlan::Crossbar(plan) = &machine.switch else {
        // Four stages with buffers, at any load.
        return 4.0;
    };
    let is_plain = plan.architecture == Architecture::Cioq
        && matches!(machine.flow_control, FlowControl::Credits);
    let kind = if is_plain { 1.0 } else { 1.5 };
    // More candidates and more waiting packets cause more unsuccessful requests.
    let queues = queue_map(machine, topology, lanes).n_queues();
    let choice = 1.0 + (f64::from(topology.radix()) / 64.0).min(1.0) + f64::from(queues) / 512.0;
    let crowd = 1.0 + ((load - 0.5) / 0.4).clamp(0.0, 1.0);
    kind * choice * crowd
}

/// Returns the peak number of messages that wait at NICs: those of a burst, and those beyond the
/// rate of a link.
pub(crate) fn waiting(
    workloads: &Workloads,
    groups: &GroupMembers,
    timing: &Timing,
    measure: &Measure,
) -> f64 {
    let (mut messages, mut load, mut per_flit) = (0.0, 0.0, 0.0);
    for class in &workloads.classes {
        let Workload::Drawn(law) = &class.workload else {
            continue;
        };
        let Ok(sources) = law.sources.members(workloads.n_nics, groups) else {
            continue;
        };
        let n = sources.len() as f64;
        if let Some(pace) = law.arrival.pace() {
            let per_source = f64::from(pace.messages);
            messages += match pace.per {
                Per::Source => per_source * n,
                Per::Class => per_source,
            };
        }
        let mean_flits = law.size.mean_flits(&workloads.segmentation.of(class.sl));
        load += law.load * n;
        per_flit += law.load * n / mean_flits.max(1.0);
    }
    let n_nics = f64::from(workloads.n_nics);
    let excess = (load / n_nics - 1.0).max(0.0) / (load / n_nics).max(1.0);
    let cycles = measure.length.0 as f64 / timing.cycle as f64;
    messages + per_flit * excess * cycles
}

/// Returns the bytes of the tables of all seeds, including those needed to write them.
pub(crate) fn table_bytes(
    topology: &Topology,
    levels: &[BTreeMap<u8, u32>],
    measure: &Measure,
) -> f64 {
    let rows = levels.iter().map(BTreeMap::len).sum::<usize>() as f64;
    let epochs = measure.length.0 as f64 / measure.epoch as f64;
    let links = topology.n_ports_in_all() as f64 + f64::from(topology.n_nics());
    let hosts = f64::from(topology.n_nics()) * rows;
    let of_a_seed = links * LINK_LINE + (hosts + epochs * rows) * SHORT_LINE;
    of_a_seed * f64::from(measure.repeat)
}

/// Measured bytes of a line of `links`, and of a table with half its columns: as columns, CSV and
/// Parquet.
const LINK_LINE: f64 = 450.0;
const SHORT_LINE: f64 = 200.0;

/// The estimated cost of one run of an experiment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// Packets times the switches they cross. Listed messages of a file or workload are not
    /// counted. Programs are counted completely.
    pub packet_hops: f64,
    /// Bytes of the fabric that the simulation reads and writes constantly.
    pub state_bytes: u64,
    /// Bytes of the whole process, with waiting messages and the tables of all seeds. Measured
    /// values are within a factor of two. A saturated fabric needs more the longer it runs.
    pub memory_bytes: u64,
    /// The part of `memory_bytes` that the processes of a run divide. Each process has all of the
    /// rest.
    pub divided_bytes: u64,
    /// Time of a packet-hop relative to a small flat switch at a low load.
    pub weight: f64,
}

impl Cost {
    /// Returns the bytes that each of `ranks` processes has in addition to its part of
    /// [`Cost::divided_bytes`].
    pub fn whole_bytes(&self, ranks: usize) -> u64 {
        whole_bytes(self.memory_bytes, self.divided_bytes, ranks)
    }

    /// Returns the processor time, from the time of a packet-hop for this amount of state.
    pub fn cpu_seconds(&self) -> f64 {
        let fits = |(most, _): &&(u64, f64)| self.state_bytes <= *most;
        let nanos = NANOS_PER_HOP
            .iter()
            .find(fits)
            .map_or(0.0, |(_, nanos)| *nanos);
        self.packet_hops * self.weight * nanos * 1e-9
    }
}

/// Time of a packet-hop of weight 1 by the bytes of state, measured in a release build on one core
/// of 2023. State beyond the caches is slower. `netloom bench` measures a machine.
const NANOS_PER_HOP: &[(u64, f64)] = &[(4 << 20, 220.0), (64 << 20, 300.0), (u64::MAX, 450.0)];

/// States the cost.
pub(crate) fn fact(
    topology: &Topology,
    forwarding: &Forwarding,
    offered: &Offered,
    timing: &Timing,
    measure: &Measure,
    holdings: Holdings,
    diagnostics: &mut Diagnostics<'_>,
) -> Cost {
    let state = holdings.state;
    let cycles = measure.length.0 as f64 / timing.cycle as f64;
    let packets = offered.packets * cycles + offered.packets_at_all as f64;
    let load = offered.load;
    let hops = packets * mean_hops(topology, forwarding);
    let runs = match measure.repeat {
        1 => String::new(),
        n => format!(" in each of {n} runs"),
    };
    let classes = match offered.n_classes {
        1 => "1 class".to_owned(),
        n => format!("{n} classes"),
    };
    let nanos = timing.timebase.nanos(measure.length.0 as f64);
    let sentence = format!(
        "{classes}, {load:.3} of a NIC's link on average, for {:.3} us",
        nanos / 1e3
    );
    diagnostics.fact("traffic", sentence);
    let cost = Cost {
        packet_hops: hops,
        state_bytes: state,
        memory_bytes: holdings.bytes(),
        divided_bytes: holdings.divided_bytes(),
        weight: offered.weight,
    };
    let seconds = cost.cpu_seconds() * f64::from(measure.repeat);
    diagnostics.fact(
        "cost",
        format!(
            "about {} packet-hops{runs}, {} on one core, {} of memory",
            grouped(round_to_two_digits(hops)),
            seconds_in_words(seconds),
            bytes_in_words(cost.memory_bytes)
        ),
    );
    cost
}

/// Formats a time with the precision of an estimate.
pub fn seconds_in_words(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second".to_owned(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s if s < 360_000.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// Formats an amount of memory with the precision of an estimate.
pub fn bytes_in_words(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e9 => format!("{:.0} MB", (b / 1e6).max(1.0)),
        b if b < 1e11 => format!("{:.1} GB", b / 1e9),
        b => format!("{:.0} GB", b / 1e9),
    }
}

fn round_to_two_digits(x: f64) -> u64 {
    if x < 100.0 {
        return x.round() as u64;
    }
    let scale = 10f64.powi(x.log10().floor() as i32 - 1);
    ((x / scale).round() * scale) as u64
}

/// Returns the mean number of switches on the path between two NICs, from a sample of pairs.
fn mean_hops(topology: &Topology, forwarding: &Forwarding) -> f64 {
    let n = u64::from(topology.n_nics());
    let all = n * (n - 1);
    let step = all.div_ceil(PAIRS) | 1;
    let mut sum = 0;
    let mut count = 0;
    let mut add = |from: u64, to: u64| {
        if let Ok(path) = paths::path(
            topology,
            forwarding,
            NicId(from as u32),
            NicId(to as u32),
            0,
        ) {
            sum += path.len();
            count += 1;
        }
    };
    if forwarding.is_slow_to_turn() {
        let some = |of: u64| (0..of).map(move |i| i * n / of);
        for to in some(FEW) {
            some(PAIRS / FEW)
                .filter(|from| *from != to)
                .for_each(|from| add(from, to));
        }
    } else {
        for pair in (0..all).step_by(step as usize) {
            let (from, other) = (pair / (n - 1), pair % (n - 1));
            add(from, other + u64::from(other >= from));
        }
    }
    if count == 0 {
        0.0
    } else {
        sum as f64 / f64::from(count)
    }
}

//! Plans tiled switches and their endpoints from `switch.kind = "tiled"` and `[nic]`.

use netloom_catalog::{FromToml, Resolved};
use netloom_fabric::{
    EndpointPlan, Faults, FlowControl, Link, LinkTiming, NicQueues, PortBuffers, Sizes, StashUse,
    SwitchPlan, Tiled,
};
use netloom_units::{Bytes, Ratio, Time};

use super::diagnostics::Diagnostics;
use super::link::LinkSpec;
use super::machine::{Around, Machine};
use super::nic::NicSpec;
use super::reading::resolve_default;
use super::switch::{LEAST_BUFFER, StashKind, SwitchSpec, TiledSpec};
use super::timing::Timing;
use crate::check;

/// Flits of an end port reserved for acknowledgements.
const ANSWERS: u32 = 4;

/// Returns the default core clock of a tiled switch for links of this flit time.
pub(crate) fn core_clock(flit: Time) -> Time {
    Time::from_picos(flit.picos() * Ratio::new(10, 13))
}

/// The default port buffer is a multiple of these bytes.
const BUFFER_STEP: u64 = 1000;
/// Maximum flits of a port buffer.
const MOST_FLITS: u64 = u16::MAX as u64;

/// What a class of links needs of the buffers at its ends.
#[derive(Clone, Copy)]
struct Needs {
    /// Number of data channels.
    n_lanes: u32,
    /// Flits with which one channel fills the link: two packets, and what is sent during two
    /// delays.
    round_trip: u32,
}

impl Needs {
    fn new(n_lanes: u32, link: LinkTiming, largest: u32) -> Needs {
        let delays = (2 * link.delay).div_ceil(link.flit).min(MOST_FLITS) as u32;
        Needs {
            n_lanes: n_lanes.max(1),
            round_trip: delays + 2 * largest,
        }
    }

    /// Returns the flits of a buffer that a channel may use by default. The other channels together
    /// leave it a round trip, or an equal part if the buffer holds less.
    fn most(self, normal: u32) -> u32 {
        match self.n_lanes - 1 {
            0 => normal,
            others => {
                let part = normal / self.n_lanes;
                part.max(normal.saturating_sub(self.round_trip) / others)
            }
        }
    }
}

/// Returns the default buffer of a port: for each channel of a link a round trip, in the part that
/// the stash leaves.
fn usual_buffer(spec: &TiledSpec, classes: &[(Needs, f64)], largest: u32, flit: u64) -> Bytes {
    let reserve = u32::from(spec.lane_reserve) * largest;
    let need = |&(needs, share): &(Needs, f64)| {
        let flits = needs.n_lanes * needs.round_trip.max(reserve) + ANSWERS;
        (f64::from(flits) / (1.0 - share)) as u64
    };
    let flits = classes.iter().map(need).max().unwrap_or(0).min(MOST_FLITS);
    let bytes = (flits * flit).next_multiple_of(BUFFER_STEP);
    Bytes(bytes.max(LEAST_BUFFER.0).min(MOST_FLITS * flit))
}

/// Returns the flits of a buffer that each channel may use: its share, and at least its reserve.
fn most_of(spec: &TiledSpec, normal: u32, needs: Needs, reserve: &[u32]) -> Box<[u32]> {
    let most = match spec.lane_most {
        Some(share) => (share * f64::from(normal)) as u32,
        None => needs.most(normal),
    };
    reserve.iter().map(|&least| most.max(least)).collect()
}

/// Plans tiled switches and their endpoints.
pub(crate) fn machine(
    switch: &SwitchSpec,
    spec: &TiledSpec,
    (link, nic): (&LinkSpec, &NicSpec),
    around: &Around<'_>,
    resolved: &mut Resolved,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Machine> {
    let (timing, lanes, topology) = (around.timing, around.lanes, around.topology);
    let flit = link.segmentation.flit.0;
    let largest = u32::from(lanes.largest.iter().copied().max().unwrap_or(1).max(1));
    let n_ports = spec.ports.unwrap_or(topology.radix());
    let acknowledges = nic.acknowledge.unwrap_or(true);
    // Acknowledgements have their own channel on the links of endpoints.
    let n_vls = lanes.n_vls.max(1 + u8::from(acknowledges));
    let mut is_good = check::tiled::shape(spec, n_ports, topology.radix(), n_vls, diagnostics);
    is_good &= check::tiled::lanes(around, diagnostics);
    is_good &= check::tiled::core(timing, diagnostics);
    is_good &= check::flow_control::fits(switch, link.flow_control, around.forwarding, diagnostics);
    is_good &= check::tiled::meaningless(diagnostics);
    is_good &= check::tiled::protocol(spec, nic, diagnostics);
    is_good &= check::nic::answered(nic, diagnostics);
    is_good &= check::nic::arbitrated(nic, around.has_nic_arbiter, diagnostics);
    let host = Link {
        flit: timing.links[0].flit,
        largest,
    };
    is_good &= check::nic::control(nic, host, diagnostics);
    let needs = |class: usize| {
        let lanes = lanes_on(&timing.names[class], around);
        Needs::new(lanes.count_ones(), timing.links[class], largest)
    };
    let share = |class: usize| share_of(spec, &timing.names[class]);
    let classes: Vec<_> = (0..timing.names.len())
        .map(|class| (needs(class), share(class)))
        .collect();
    let usual = usual_buffer(spec, &classes, largest, flit);
    let at = 4 + usize::from(spec.ports.is_some());
    resolve_default(resolved, &["switch"], at, "port-buffer", usual.write());
    let buffer = spec.port_buffer.unwrap_or(usual).0 / flit;
    let of_class = |(name, &(needs, share)): (&String, &(Needs, f64))| {
        let parts = Parts::new(share, buffer);
        let reserve = reserve(spec, name, (largest, n_vls, acknowledges), around);
        is_good &=
            check::tiled::buffer(name, parts.normal, reserve.iter().sum(), flit, diagnostics);
        (parts.port(spec, needs, reserve), parts.marks_above(nic))
    };
    let (ports, marks_above): (Vec<_>, Vec<_>) =
        timing.names.iter().zip(&classes).map(of_class).unzip();
    let stash = stash(spec, timing);
    is_good &= check::tiled::stash(stash, &ports, largest, diagnostics);
    if !is_good {
        return None;
    }
    check::tiled::shared(&ports, timing, (largest, usual), diagnostics);
    check::tiled::idle_fact(buffer, around, diagnostics);
    if stash.is_some() {
        check::tiled::stash_fact(&ports, around, flit, diagnostics);
    }
    // NICs with their own arbiter have a queue (or a ring of flows) per level to choose from.
    let queues = match around.has_nic_arbiter {
        true => NicQueues::PerChannel,
        false => NicQueues::SendQueues,
    };
    let tiled = Tiled {
        period: timing.period,
        rows: spec.rows,
        columns: spec.columns,
        inputs: n_ports / spec.rows,
        outputs: n_ports / spec.columns,
        row_buffer: u32::from(spec.row_packets) * largest,
        row_space: spec.row_space,
        column_buffer: u32::from(spec.column_packets) * largest,
        stages: spec.stages,
        retransmission: spec.retransmission,
        start: spec.start,
        priority: spec.priority,
        ports,
        stash,
        faults: Faults {
            seed: around.seed,
            ..spec.faults
        },
    };
    Some(Machine {
        switch: SwitchPlan::Tiled(Box::new(tiled)),
        flow_control: FlowControl::Credits,
        endpoints: EndpointPlan {
            buffer: check::nic::buffer(nic, queues, lanes, flit, diagnostics)?,
            ..nic.endpoints(queues, acknowledges, host)
        },
        marks_above,
        n_vls,
    })
}

/// The flits of a port buffer, and their two parts.
struct Parts {
    /// For packets on their way.
    normal: u32,
    stashed: u64,
}

impl Parts {
    /// Divides the buffer of a port by the share of the stash.
    fn new(share: f64, all: u64) -> Parts {
        let stashed = (share * all as f64).round() as u64;
        Parts {
            normal: (all - stashed.min(all)) as u32,
            stashed,
        }
    }

    fn port(&self, spec: &TiledSpec, needs: Needs, reserve: Box<[u32]>) -> PortBuffers {
        let sizes = Sizes::Pool {
            capacity: self.normal.max(reserve.iter().sum()),
            max: most_of(spec, self.normal, needs, &reserve),
            min: reserve,
        };
        PortBuffers {
            input: sizes.clone(),
            output: sizes,
            stash: (2.0 * self.stashed as f64 * spec.stash.capacity) as u32,
        }
    }

    /// Returns the flits above which inputs mark packets.
    fn marks_above(&self, nic: &NicSpec) -> Option<u32> {
        Some((nic.marks_above()? * f64::from(self.normal)) as u32)
    }
}

/// Returns the share of the stash in the buffers of a class of links.
fn share_of(spec: &TiledSpec, class: &str) -> f64 {
    match class {
        "host" => spec.stash.shares[0],
        "local" => spec.stash.shares[1],
        _ => spec.stash.shares[2],
    }
}

/// Returns the data channels of a class of links, one bit each.
fn lanes_on(class: &str, around: &Around<'_>) -> u32 {
    around
        .forwarding
        .map_or(0, |forwarding| forwarding.lanes_on(class))
}

/// Returns the reserved flits of each channel: some packets for each one that this class of links
/// carries, and a few acknowledgements on theirs.
fn reserve(
    spec: &TiledSpec,
    class: &str,
    (largest, n_vls, acknowledges): (u32, u8, bool),
    around: &Around<'_>,
) -> Box<[u32]> {
    let used = lanes_on(class, around);
    let mut reserve: Box<[u32]> = (0..n_vls)
        .map(|lane| u32::from(spec.lane_reserve) * largest * (used >> lane & 1))
        .collect();
    if class == "host" && acknowledges {
        reserve[1] = ANSWERS;
    }
    reserve
}

/// Returns the use of the stash.
fn stash(spec: &TiledSpec, timing: &Timing) -> Option<StashUse> {
    match spec.stash.usage {
        StashKind::None | StashKind::Unused => None,
        StashKind::Congestion => Some(StashUse::Congestion),
        StashKind::Reliability { timeout } => Some(StashUse::Reliability {
            timeout: (!spec.faults.are_off()).then(|| timing.timebase.tick_at(timeout).0),
        }),
    }
}

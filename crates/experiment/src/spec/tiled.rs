//! Plans tiled switches and their endpoints from `switch.kind = "tiled"` and `[nic]`.

use netloom_fabric::{
    EndpointPlan, Faults, FlowControl, Link, MarkBase, NicQueues, PortBuffers, Sizes, StashUse,
    SwitchPlan, Tiled,
};
use netloom_units::{Ratio, Time};

use super::desk::Desk;
use super::link::LinkSpec;
use super::machine::{Around, Machine};
use super::nic::NicSpec;
use super::switch::{StashKind, SwitchSpec, TiledSpec};
use super::timing::Timing;
use crate::check;

/// Flits of an end port reserved for acknowledgements.
const ANSWERS: u32 = 4;

/// Returns the default core clock of a tiled switch for links of this flit time.
pub(crate) fn core_clock(flit: Time) -> Time {
    Time::from_picos(flit.picos() * Ratio::new(10, 13))
}

/// Returns the flits of a buffer that each channel may use: its share, and at least its reserve.
fn most_of(spec: &TiledSpec, normal: u32, reserve: &[u32]) -> Box<[u32]> {
    let most = (spec.lane_most * f64::from(normal)) as u32;
    reserve.iter().map(|&least| most.max(least)).collect()
}

/// Plans tiled switches and their endpoints.
pub(crate) fn machine(
    switch: &SwitchSpec,
    spec: &TiledSpec,
    link: &LinkSpec,
    nic: &NicSpec,
    around: &Around<'_>,
    desk: &mut Desk<'_>,
) -> Option<Machine> {
    let (timing, lanes, topology) = (around.timing, around.lanes, around.topology);
    let flit = link.segmentation.flit.0;
    let largest = u32::from(lanes.largest.iter().copied().max().unwrap_or(1).max(1));
    let n_ports = spec.ports.unwrap_or(topology.radix());
    let acknowledges = nic.acknowledge.unwrap_or(true);
    // Acknowledgements have their own channel on the links of endpoints.
    let n_vls = lanes.n_vls.max(1 + u8::from(acknowledges));
    let mut is_good = check::tiled::shape(spec, n_ports, topology.radix(), n_vls, desk);
    is_good &= check::tiled::lanes(around, desk);
    is_good &= check::tiled::core(timing, desk);
    is_good &= check::flow_control::fits(switch, link.flow_control, around.way, desk);
    is_good &= check::tiled::meaningless(desk);
    is_good &= check::tiled::protocol(spec, nic, desk);
    is_good &= check::nic::answered(nic, desk);
    is_good &= check::nic::arbitrated(nic, around.has_nic_arbiter, desk);
    let host = Link {
        flit: timing.links[0].flit,
        largest,
    };
    is_good &= check::nic::control(nic, host, desk);
    let buffer = spec.port_buffer.0 / flit;
    let of_class = |name: &String| {
        let parts = Parts::of(spec, name, buffer);
        let reserve = reserve(spec, name, (largest, n_vls, acknowledges), around);
        is_good &= check::tiled::buffer(name, parts.normal, reserve.iter().sum(), flit, desk);
        (parts.port(spec, reserve), parts.marks_above(nic))
    };
    let (ports, marks_above): (Vec<_>, Vec<_>) = timing.names.iter().map(of_class).unzip();
    let stash = stash(spec, timing);
    is_good &= check::tiled::stash(stash, &ports, largest, desk);
    if !is_good {
        return None;
    }
    check::tiled::reserve_fact(&ports, timing, largest, desk);
    check::tiled::idle_fact(buffer, around, desk);
    if stash.is_some() {
        check::tiled::stash_fact(&ports, around, flit, desk);
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
        stash_select: spec.stash.select,
        faults: Faults {
            seed: around.seed,
            ..spec.faults
        },
    };
    Some(Machine {
        switch: SwitchPlan::Tiled(Box::new(tiled)),
        flow_control: FlowControl::Credits,
        endpoints: EndpointPlan {
            buffer: check::nic::buffer(nic, queues, lanes, flit, desk)?,
            ..nic.endpoints(queues, acknowledges, host)
        },
        marks_above,
        n_vls,
    })
}

/// The flits of a port buffer, and their two parts.
struct Parts {
    all: u64,
    /// For packets on their way.
    normal: u32,
    stashed: u64,
}

impl Parts {
    /// Divides the buffer of the ports of a class of links.
    fn of(spec: &TiledSpec, class: &str, all: u64) -> Parts {
        let share = match class {
            "host" => spec.stash.shares[0],
            "local" => spec.stash.shares[1],
            _ => spec.stash.shares[2],
        };
        let stashed = (share * all as f64).round() as u64;
        Parts {
            all,
            normal: (all - stashed.min(all)) as u32,
            stashed,
        }
    }

    fn port(&self, spec: &TiledSpec, reserve: Box<[u32]>) -> PortBuffers {
        let sizes = Sizes::Pool {
            capacity: self.normal.max(reserve.iter().sum()),
            max: most_of(spec, self.normal, &reserve),
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
        let marking = nic.marking()?;
        let base = match marking.of {
            MarkBase::Normal => f64::from(self.normal),
            MarkBase::Full => self.all as f64,
        };
        Some((marking.above * base) as u32)
    }
}

/// Returns the reserved flits of each channel: some packets for each one that this class of links
/// carries, and a few acknowledgements on theirs.
fn reserve(
    spec: &TiledSpec,
    class: &str,
    (largest, n_vls, acknowledges): (u32, u8, bool),
    around: &Around<'_>,
) -> Box<[u32]> {
    let used = around.way.map_or(0, |way| way.lanes_on(class));
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

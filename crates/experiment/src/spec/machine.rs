//! Plans switches, flow control and NICs from `[switch]`, `link.flow-control` and `[nic]`, with the
//! checks across them.

use netloom_arbitration::Policy;
use netloom_catalog::Resolved;
use netloom_fabric::{
    Architecture, CrossbarPlan, EndpointPlan, FlowControl, Hierarchy, Link, NicQueues, QueueMap,
    Sizes, SwitchPlan,
};
use netloom_routing::Forwarding;
use netloom_topology::Topology;

use super::buffers::{BufferAt, sizes};
use super::diagnostics::Diagnostics;
use super::flow_control::FlowControlSpec;
use super::lanes::LaneMap;
use super::link::LinkSpec;
use super::nic::NicSpec;
use super::switch::{ArchitectureSpec, SwitchSpec};
use super::timing::Timing;
use crate::check;

/// The switches, links and NICs of a fabric.
pub(crate) struct Machine {
    pub(crate) switch: SwitchPlan,
    pub(crate) flow_control: FlowControl,
    pub(crate) endpoints: EndpointPlan,
    /// Flits above which inputs mark packets, by link class.
    pub(crate) marks_above: Vec<Option<u32>>,
    /// Lanes of every link, including those beyond service levels and routing.
    pub(crate) n_vls: u8,
}

/// The known properties of the fabric when its machines are planned.
pub(crate) struct Around<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) forwarding: Option<&'a Forwarding>,
    pub(crate) timing: &'a Timing,
    pub(crate) lanes: &'a LaneMap,
    pub(crate) seed: u64,
    /// Whether NICs have their own arbiter.
    pub(crate) has_nic_arbiter: bool,
    /// The arbiter of the switches, if the file sets it.
    pub(crate) policy: Option<&'a dyn Policy>,
}

/// Plans the machines.
pub(crate) fn machine(
    switch: &SwitchSpec,
    link: &LinkSpec,
    nic: &NicSpec,
    around: &Around<'_>,
    resolved: &mut Resolved,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Machine> {
    if around.lanes.has_management()
        && !check::management::machine(switch, link.flow_control, diagnostics)
    {
        return None;
    }
    if let ArchitectureSpec::Tiled(spec) = &switch.architecture {
        return super::tiled::machine(switch, spec, (link, nic), around, resolved, diagnostics);
    }
    let (timing, lanes, topology) = (around.timing, around.lanes, around.topology);
    let flit = link.segmentation.flit.0;
    let map = QueueMap::new(
        switch.queues,
        lanes.n_vls,
        topology.radix(),
        topology.n_nics(),
    );
    let largest = u32::from(lanes.largest.iter().copied().max().unwrap_or(1).max(1));
    let host = Link {
        flit: timing.links[0].flit,
        largest,
    };
    let mut is_good = check::queues::count(switch.queues, &map, around, diagnostics);
    is_good &= check::queues::one_queue(switch, link.flow_control, around, diagnostics);
    is_good &= check::flow_control::fits(switch, link.flow_control, around.forwarding, diagnostics);
    is_good &= check::input_ports::fit(switch, link.flow_control, around, diagnostics);
    is_good &= check::nic::per_destination(nic.queues, around.forwarding, diagnostics);
    is_good &= check::nic::answered(nic, diagnostics);
    is_good &= check::nic::one_kind_of_queues(nic, diagnostics);
    is_good &= check::nic::control(nic, host, diagnostics);
    let plan = crossbar(switch, link, &map, around, &mut is_good, diagnostics)?;
    check::queues::fact(switch.queues, &plan, (&map, flit), around, diagnostics);
    let needs_parts = link.flow_control == FlowControlSpec::QueueCredits
        || nic.queues == NicQueues::PerDestination;
    if needs_parts {
        is_good &=
            check::queues::one_packet(&plan, &map, link.flow_control, lanes, flit, diagnostics);
    }
    let flow_control = flow_control(link, &plan, &map, is_good, around, diagnostics);
    if let Some(forwarding) = around.forwarding.filter(|_| !switch.is_input_queued()) {
        check::deadlock::bubble(forwarding, &plan, lanes, flit, diagnostics);
    }
    let flow_control = flow_control?;
    let nic_buffer = check::nic::buffer(nic, nic.queues, lanes, flit, diagnostics)?;
    let buffer = f64::from(plan.input_buffer.total());
    let marks_above = nic.marks_above().map(|share| (share * buffer) as u32);
    let marks_above = vec![marks_above; timing.links.len()];
    is_good.then_some(Machine {
        switch: SwitchPlan::Crossbar(Box::new(plan)),
        flow_control,
        endpoints: EndpointPlan {
            buffer: nic_buffer,
            ..nic.endpoints(nic.queues, nic.acknowledges(), host)
        },
        marks_above,
        n_vls: lanes.n_vls,
    })
}

/// Plans crossbar switches. `is_good` becomes false if an error does not prevent further checks.
fn crossbar(
    switch: &SwitchSpec,
    link: &LinkSpec,
    map: &QueueMap,
    around: &Around<'_>,
    is_good: &mut bool,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<CrossbarPlan> {
    let (timing, lanes) = (around.timing, around.lanes);
    let flit = link.segmentation.flit.0;
    let input = BufferAt {
        buffer: &switch.input_buffer,
        path: "switch.input-buffer",
        parts: 1,
        per_lane: Some(map.per_lane),
        counts_lanes: link.flow_control != FlowControlSpec::QueueCredits,
    };
    let input = sizes(&input, flit, lanes, diagnostics);
    let output = match &switch.architecture {
        ArchitectureSpec::InputQueued => {
            *is_good &= check::input_queued::fits(switch, around, diagnostics);
            Some(Sizes::Static(vec![0; lanes.largest.len()].into()))
        }
        _ => {
            let output = BufferAt {
                buffer: &switch.output_buffer,
                path: "switch.output-buffer",
                parts: 1,
                per_lane: None,
                counts_lanes: true,
            };
            sizes(&output, flit, lanes, diagnostics)
        }
    };
    let architecture = architecture(switch, flit, around, is_good, diagnostics);
    if let Some(forwarding) = around.forwarding {
        *is_good &= check::adaptive::fits(link.flow_control, map, forwarding, diagnostics);
    }
    let speedup = match switch.is_input_queued() {
        true => check::input_queued::pace(timing, diagnostics),
        false => {
            check::speedup::effect(switch.speedup, lanes, timing, diagnostics);
            Some(switch.speedup)
        }
    };
    *is_good &= speedup.is_some();
    let (input, output, architecture) = (input?, output?, architecture?);
    Some(CrossbarPlan {
        queue_flits: match &input {
            Sizes::Static(sizes) => sizes.iter().map(|size| size / map.per_lane).collect(),
            Sizes::Pool { .. } => [].into(),
        },
        architecture,
        period: timing.period,
        pipeline: switch.pipeline,
        speedup: speedup.unwrap_or((1, 1)),
        start: switch.start,
        input_ports: switch.input_ports,
        queues: switch.queues,
        allocation: switch.allocation,
        input_buffer: input,
        output_buffer: output,
    })
}

/// Plans the blocks between inputs and outputs.
fn architecture(
    switch: &SwitchSpec,
    flit: u64,
    around: &Around<'_>,
    is_good: &mut bool,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Architecture> {
    let spec = match &switch.architecture {
        ArchitectureSpec::Cioq => return Some(Architecture::Cioq),
        ArchitectureSpec::InputQueued => return Some(Architecture::InputQueued),
        ArchitectureSpec::Tiled(_) => unreachable!("planned by tiled.rs"),
        ArchitectureSpec::Hierarchical(spec) => spec,
    };
    *is_good &= check::hierarchical::stages(switch, diagnostics);
    let central = BufferAt {
        buffer: &spec.central_buffer,
        path: "switch.central-buffer",
        parts: u64::from(spec.centre.links_per_mport),
        per_lane: None,
        counts_lanes: true,
    };
    check::hierarchical::fact(spec, around.topology, diagnostics);
    Some(Architecture::Hierarchical(Hierarchy {
        centre: spec.centre,
        mport_speedup: spec.mport_speedup,
        central_speedup: spec.central_speedup,
        central_buffer: sizes(&central, flit, around.lanes, diagnostics)?,
        start: spec.start,
    }))
}

/// Plans the flow control and checks that the buffers suit it.
fn flow_control(
    link: &LinkSpec,
    plan: &CrossbarPlan,
    map: &QueueMap,
    is_good: bool,
    around: &Around<'_>,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<FlowControl> {
    let (timing, lanes) = (around.timing, around.lanes);
    let flit = link.segmentation.flit.0;
    match link.flow_control {
        FlowControlSpec::Credits => {
            check::buffers::round_trip(plan, None, timing, lanes, flit, diagnostics);
            Some(FlowControl::Credits)
        }
        FlowControlSpec::QueueCredits => {
            if is_good {
                check::buffers::round_trip(plan, Some(map), timing, lanes, flit, diagnostics);
            }
            Some(FlowControl::QueueCredits)
        }
        FlowControlSpec::Pfc { xoff, xon } => {
            check::pfc::thresholds((xoff, xon), plan, timing, lanes, flit, diagnostics)
                .map(FlowControl::Pfc)
        }
        FlowControlSpec::Pause { xoff, xon } => {
            check::pause::thresholds((xoff, xon), plan, timing, lanes, flit, diagnostics)
                .map(FlowControl::Pause)
        }
    }
}

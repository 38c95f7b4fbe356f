//! When things happen on and behind a link: the arithmetic of one packet's timing.
//!
//! A link sends flit `k` of a packet in `[S + k f, S + (k+1) f)` and it is wholly received at
//! `S + (k+1) f + delay`. Every later stage is a constant number of cycles after that or a decision on a
//! clock edge. A stage that is faster than its feed waits until it cannot run dry: the waits depend only
//! on the packet's length and are tabulated here by trying every flit.

use netloom_packet::Rows;
use netloom_units::{Clock, Tick};

use crate::plan::{FabricPlan, LinkTiming};
use crate::ramp::Pace;

/// One link class as its users see it.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// One flit on the wire.
    pub(crate) flit: u64,
    /// Propagation.
    pub(crate) delay: u64,
    /// From the start of sending to the header wholly received.
    pub(crate) head: u64,
    /// What depends on a packet's length.
    lengths: Rows<Length>,
    /// The pace at which this link drains an output buffer.
    pub(crate) drain: Pace,
}

/// What the length of a packet decides on a link class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Length {
    /// How long the header waits at an input so that the crossbar does not run dry.
    behind_input: u64,
    /// From the grant to the instant at which the output scheduler may send it over this link.
    pub(crate) to_output: u64,
    /// How much longer its flits stay between this link and the crossbar, in all, than if both ran at
    /// one pace (flits times ticks).
    slip: i64,
    /// Ticks on the wire.
    pub(crate) on_wire: u64,
}

/// Constants of the switch stages, in ticks.
#[derive(Clone, Debug)]
pub(crate) struct Stages {
    /// The switch clock.
    pub(crate) clock: Clock,
    /// From the header received (on an edge) to the allocation.
    pub(crate) before_allocation: u64,
    /// From the grant to the first flit leaving the input buffer.
    pub(crate) allocation: u64,
    /// From the grant to the credit of the first flit leaving for the other end.
    pub(crate) credit: u64,
    /// From the grant to the first flit in the output buffer.
    pub(crate) allocation_to_output: u64,
    /// From a flit leaving a NIC's receiver to its credit: in flit times of its link.
    pub(crate) nic_credit_cycles: u64,
    /// From the scheduler's decision to the first flit on the link.
    pub(crate) output: u64,
    /// How long before a link falls free its next packet may be chosen, less one tick.
    pub(crate) ahead: u64,
    /// By length: ticks that a transfer holds its crossbar ports, and from its first flit to its last.
    pub(crate) crossing: Rows<(u64, u64)>,
    /// The pace of the crossbar.
    pub(crate) crossbar: Pace,
}

impl Stages {
    pub(crate) fn new(plan: &FabricPlan) -> Self {
        let switch = &plan.switch;
        let (p, cycles) = (switch.period, switch.pipeline);
        let crossbar = switch.crossbar_pace();
        let lengths = 0..=u64::from(plan.largest_packet());
        Stages {
            clock: Clock::new(p),
            before_allocation: (cycles.input + cycles.routing) * p,
            allocation: cycles.allocation * p,
            credit: (cycles.allocation + 1 + cycles.credit) * p,
            allocation_to_output: (cycles.allocation + cycles.crossbar) * p,
            nic_credit_cycles: cycles.credit,
            output: cycles.output * p,
            ahead: (cycles.output + 1) * p,
            crossing: lengths
                .map(|flits| {
                    (
                        crossbar.occupancy(flits),
                        crossbar.time_of(flits.saturating_sub(1)),
                    )
                })
                .collect::<Vec<_>>()
                .into(),
            crossbar,
        }
    }
}

impl Wire {
    pub(crate) fn new(plan: &FabricPlan, link: LinkTiming, stages: &Stages) -> Self {
        let switch = &plan.switch;
        let (p, cycles) = (switch.period, switch.pipeline);
        let crossbar = stages.crossbar;
        let length = |flits: u64| {
            // Flit k is there k flit times after the first and leaves time_of(k) after the grant took effect.
            let behind = (0..flits)
                .map(|k| (k * link.flit).saturating_sub(crossbar.time_of(k)))
                .max();
            // Flit k enters the output buffer time_of(k) after the first and leaves k flit times after the start.
            let before = (0..flits)
                .map(|k| crossbar.time_of(k).saturating_sub(k * link.flit))
                .max();
            let before = before
                .unwrap_or(0)
                .saturating_sub(stages.output)
                .div_ceil(p)
                * p;
            let signed = |n: u64| i64::try_from(n).expect("a residence below 2^63");
            Length {
                behind_input: behind.unwrap_or(0).saturating_sub(stages.allocation),
                to_output: (cycles.allocation + cycles.crossbar) * p + before,
                slip: (0..flits)
                    .map(|k| signed(crossbar.time_of(k)) - signed(k * link.flit))
                    .sum(),
                on_wire: flits * link.flit,
            }
        };
        Wire {
            flit: link.flit,
            delay: link.delay,
            head: link.flit + link.delay,
            lengths: (0..=u64::from(plan.largest_packet()))
                .map(length)
                .collect::<Vec<_>>()
                .into(),
            drain: Pace::one_per(link.flit),
        }
    }

    /// What a length decides.
    #[inline]
    pub(crate) fn length(&self, flits: u16) -> &Length {
        &self.lengths[u32::from(flits)]
    }

    /// Flits times ticks that a packet spends in an input buffer behind this link, from its header's
    /// arrival to the grant.
    #[inline]
    pub(crate) fn input_residence(
        &self,
        flits: u16,
        arrival: Tick,
        granted: Tick,
        stages: &Stages,
    ) -> u64 {
        let header = (granted - arrival) + stages.allocation + stages.clock.period;
        (u64::from(flits) * header).wrapping_add_signed(self.length(flits).slip)
    }

    /// Flits times ticks that a packet spends in an output buffer before this link.
    #[inline]
    pub(crate) fn output_residence(&self, flits: u16, arrival: Tick, start: Tick) -> u64 {
        let header = (start - arrival) + self.flit;
        (u64::from(flits) * header).wrapping_add_signed(-self.length(flits).slip)
    }

    /// When a packet sent from `start` on may be allocated at the switch behind this link. `last` is the
    /// same for the packet before it: an input takes in one header per cycle, which matters only where a
    /// link is faster than the clock of the switch behind it.
    #[inline(always)]
    pub(crate) fn allocatable(
        &self,
        start: Tick,
        flits: u16,
        stages: &Stages,
        last: &mut Tick,
    ) -> Tick {
        let received = start + self.head;
        let wait = self.length(flits).behind_input;
        if stages.clock.period == 1 {
            return received + stages.before_allocation.max(wait);
        }
        self.allocatable_on_edges(received, wait, stages, last)
    }

    #[inline(never)]
    fn allocatable_on_edges(
        &self,
        received: Tick,
        wait: u64,
        stages: &Stages,
        last: &mut Tick,
    ) -> Tick {
        let mut when = stages.clock.edge_at_or_after(received) + stages.before_allocation;
        if wait != 0 {
            when = when.max(stages.clock.edge_at_or_after(received + wait));
        }
        if self.flit < stages.clock.period {
            when = when.max(*last + stages.clock.period);
            *last = when;
        }
        when
    }
}

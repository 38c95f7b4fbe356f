//! The timing of a packet on a link and after it.
//!
//! A link sends flit `k` of a packet in `[S + k f, S + (k+1) f)`, and the flit is received
//! completely at `S + (k+1) f + delay`. Every later stage is a constant number of cycles or a
//! decision on a clock edge. Quantities that depend on a packet's length are tabulated here by
//! trying every flit: how long a link waits so as not to run dry, and how long a crossbar must wait
//! so as never to catch up with its feed. With `stored` start a crossbar waits that long; with
//! `at-once` start it may catch up (`cut_through.rs`).

use crate::rows::Rows;
use netloom_units::{Clock, Tick};

use crate::link::ramp::{Pace, Paces, Ramp};
use crate::plan::{Architecture, CentralStart, FabricPlan, LinkTiming};
use crate::switch::crossbar::cut_through::Lead;
use crate::switch::crossbar::shape::Shape;

/// Index of the paces at which a buffer is emptied. The first is its own crossbar, then the
/// crossbar to the centre (if any). The paces of the incoming links follow, for a crossbar that has
/// caught up.
pub(crate) const TO_CENTRE: u8 = 1;
pub(crate) const FROM_LINK: u8 = 2;

/// The timing of a link class.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// One flit on the wire.
    pub(crate) flit: u64,
    /// Propagation.
    pub(crate) delay: u64,
    /// From the start of sending to the completely received header.
    pub(crate) head: u64,
    /// Quantities by packet length.
    lengths: Rows<Length>,
    /// The same for packets through the centre of a hierarchical switch.
    central: Rows<CentralLength>,
    /// Lateness of flits over this link for a crossbar: to an output, and to the centre.
    lead: [Lead; 2],
    /// The same for the central crossbar, if the flits went directly to its buffer.
    pub(crate) lead_through_centre: Lead,
    /// The pace at which this link drains an output buffer.
    pub(crate) drain: Paces,
    /// The paces at which the input buffer of this link is emptied.
    pub(crate) credits: Paces,
}

/// Quantities by packet length on a link class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Length {
    /// Wait of the header at an input so that the crossbar does not run dry, unless it starts at
    /// once.
    input_wait: u64,
    /// Time after the header at which the crossbar must start so as never to catch up.
    lead: u64,
    /// From the grant to the time at which the output scheduler may send it over this link.
    pub(crate) to_output: u64,
    /// Total extra time of its flits between this link and the crossbar, compared with equal paces
    /// (flits times ticks).
    slip: i64,
    /// Ticks on the wire.
    pub(crate) on_wire: u64,
}

/// Quantities by packet length on a link class of a hierarchical switch, in addition to [`Length`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct CentralLength {
    /// Wait of the header at an input so that its crossbar output does not run dry: to its own
    /// MPort, and to the centre.
    input_wait: [u64; 2],
    /// From the grant of the central crossbar to the time at which the output scheduler may send
    /// it.
    pub(crate) to_output: u64,
    /// [`Length::lead`] of a crossbar towards a central link.
    lead: u64,
    /// [`Length::slip`] towards a central link.
    slip_in: i64,
    /// Total extra time of its flits in an output buffer, compared with the local writer.
    pub(crate) slip_out: i64,
}

/// The crossbar port that a transfer takes, which determines the pace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Passage {
    /// From an input to an output buffer.
    Local = 0,
    /// From an input to a central buffer.
    ToCentre = 1,
    /// From a central buffer to an output buffer.
    FromCentre = 2,
}

/// Constants of the switch stages, in ticks.
#[derive(Clone, Debug)]
pub(crate) struct Stages {
    pub(crate) clock: Clock,
    /// From the received header (on an edge) to the allocation.
    pub(crate) before_allocation: u64,
    /// From the grant to the first flit leaving the input buffer.
    pub(crate) allocation: u64,
    /// From the grant to the credit of the first flit leaving for the other end.
    pub(crate) credit: u64,
    /// From a packet counted by its receiver to PAUSE leaving for the other end.
    pub(crate) pause: u64,
    /// From the grant to the first flit in the output buffer.
    pub(crate) allocation_to_output: u64,
    /// From a flit leaving a NIC's receiver to its credit, in flit times of its link.
    pub(crate) nic_credit_cycles: u64,
    /// From the scheduler's decision to the first flit on the link.
    pub(crate) output: u64,
    /// How long before a link becomes free its next packet may be chosen, minus one tick.
    pub(crate) ahead: u64,
    /// By length: ticks that a transfer occupies its crossbar ports, and from its first flit to its
    /// last.
    pub(crate) crossing: Rows<(u64, u64)>,
    /// The same to and from the centre.
    pub(crate) central_crossing: [Rows<(u64, u64)>; 2],
    /// By length: from the header in a central buffer to the allocation of the central crossbar.
    pub(crate) in_centre: Rows<u64>,
    /// If whole packets are required there: from the last flit in a central buffer to that
    /// allocation.
    pub(crate) tail_to_centre: Option<u64>,
    /// The paces of the crossbar, to the centre and from there.
    paces: [Pace; 3],
    /// The paces at which a central buffer is emptied.
    pub(crate) centre: Paces,
    /// By passage and length: the sum of the times at which its flits pass, from the first on.
    times: [Rows<u64>; 3],
    /// Lateness of flits from the crossbar to the centre for the central one.
    pub(crate) lead_in_centre: Lead,
    /// Whether a crossbar may start before the whole packet is there.
    starts_at_once: bool,
    /// Whether a link may be granted together with the crossbar: nothing granted later may
    /// overtake.
    pub(crate) may_fuse: bool,
}

impl Stages {
    pub(crate) fn new(plan: &FabricPlan) -> Self {
        let switch = plan.switch.crossbar();
        let (p, cycles) = (switch.period, switch.pipeline);
        let crossbar = switch.crossbar_pace();
        let (to_centre, from_centre) = central_paces(plan).unwrap_or((crossbar, crossbar));
        let lengths = || 0..=u64::from(plan.largest_packet());
        let crossing = |pace: Pace| -> Rows<(u64, u64)> {
            let of = |flits: u64| {
                let last = flits.saturating_sub(1);
                (pace.occupancy(flits), pace.time_of(last))
            };
            lengths().map(of).collect::<Vec<_>>().into()
        };
        let starts_at_once = switch.starts_at_once();
        let awaits_tail = matches!(
            &switch.architecture,
            Architecture::Hierarchical(centre) if centre.start == CentralStart::Packet
        );
        let in_centre = |flits: u64| {
            if awaits_tail {
                let tail = to_centre.time_of(flits.saturating_sub(1));
                return tail.next_multiple_of(p) + cycles.input * p;
            }
            if starts_at_once {
                return cycles.input * p;
            }
            let wait = (0..flits)
                .map(|k| to_centre.time_of(k).saturating_sub(from_centre.time_of(k)))
                .max()
                .unwrap_or(0);
            let wait = wait.saturating_sub(cycles.allocation * p);
            (cycles.input * p).max(wait.div_ceil(p) * p)
        };
        let times = |pace: Pace| -> Rows<u64> {
            let mut sum = 0;
            let until = |flits: u64| {
                if flits > 0 {
                    sum += pace.time_of(flits - 1);
                }
                sum
            };
            lengths().map(until).collect::<Vec<_>>().into()
        };
        let mut out_of_centre = vec![from_centre, to_centre];
        out_of_centre.extend(plan.links.iter().map(|link| Pace::one_per(link.flit)));
        // With two writers to an output buffer, a later grant must not become eligible earlier.
        let fastest = plan.links.iter().map(|link| link.flit).min().unwrap_or(1);
        let keeps_up = |pace: Pace| {
            (0..=u64::from(plan.largest_packet())).all(|k| pace.time_of(k) <= k * fastest)
        };
        Stages {
            clock: Clock::new(p),
            before_allocation: (cycles.input + cycles.routing) * p,
            allocation: cycles.allocation * p,
            credit: (cycles.allocation + 1 + cycles.credit) * p,
            pause: cycles.credit * p,
            allocation_to_output: (cycles.allocation + cycles.crossbar) * p,
            nic_credit_cycles: cycles.credit,
            output: cycles.output * p,
            ahead: (cycles.output + 1) * p,
            crossing: crossing(crossbar),
            central_crossing: [crossing(to_centre), crossing(from_centre)],
            in_centre: lengths().map(in_centre).collect::<Vec<_>>().into(),
            paces: [crossbar, to_centre, from_centre],
            centre: Paces::new(&out_of_centre),
            times: [times(crossbar), times(to_centre), times(from_centre)],
            lead_in_centre: Lead::new(plan.largest_packet(), from_centre, |k| to_centre.time_of(k)),
            tail_to_centre: awaits_tail.then_some(cycles.input * p),
            starts_at_once,
            may_fuse: !matches!(
                plan.switch.crossbar().architecture,
                Architecture::Hierarchical(_)
            ) || (keeps_up(crossbar) && keeps_up(from_centre)),
        }
    }

    /// Returns the pace of the crossbar to the centre.
    pub(crate) fn to_centre(&self) -> Pace {
        self.paces[Passage::ToCentre as usize]
    }

    /// By length: returns the sum of the times at which the flits of a packet pass, from the first
    /// on.
    pub(crate) fn times_of(&self, passage: Passage) -> &Rows<u64> {
        &self.times[passage as usize]
    }

    /// Returns the first edge at or after a time.
    #[inline(always)]
    pub(crate) fn edge<S: Shape>(&self, at: Tick) -> Tick {
        if S::ONE_TICK {
            at
        } else {
            self.clock.edge_at_or_after(at)
        }
    }

    /// Returns the ticks that a transfer occupies its crossbar ports, and from its first flit to
    /// its last.
    #[inline(always)]
    pub(crate) fn crossing_of<S: Shape>(&self, passage: Passage, flits: u16) -> (u64, u64) {
        if S::ONE_PACE {
            let flit = if S::ONE_TICK { 1 } else { self.clock.period };
            let flits = u64::from(flits);
            return (flits * flit, flits.saturating_sub(1) * flit);
        }
        match passage {
            Passage::Local => self.crossing[u32::from(flits)],
            other => self.central_crossing[other as usize - 1][u32::from(flits)],
        }
    }
}

/// Returns the paces to and from the centre of a hierarchical switch.
fn central_paces(plan: &FabricPlan) -> Option<(Pace, Pace)> {
    let Architecture::Hierarchical(hierarchy) = &plan.switch.crossbar().architecture else {
        return None;
    };
    let pace = |(num, den): (u32, u32)| Pace {
        period: plan.switch.period(),
        num,
        den,
    };
    Some((
        pace(hierarchy.mport_speedup),
        pace(hierarchy.central_speedup),
    ))
}

impl Wire {
    pub(crate) fn new(plan: &FabricPlan, link: LinkTiming, stages: &Stages) -> Self {
        let switch = plan.switch.crossbar();
        let (p, cycles) = (switch.period, switch.pipeline);
        let [crossbar, to_centre, from_centre] = stages.paces;
        let longest = plan.largest_packet();
        let (own, comes) = (Pace::one_per(link.flit), |k: u64| k * link.flit);
        // Flit k is there k flit times after the first and leaves time_of(k) after the grant took
        // effect.
        let wait = |flits: u64, pace: Pace| {
            if stages.starts_at_once {
                return 0;
            }
            let latest = (0..flits)
                .map(|k| (k * link.flit).saturating_sub(pace.time_of(k)))
                .max();
            latest.unwrap_or(0).saturating_sub(stages.allocation)
        };
        // Flit k enters the output buffer time_of(k) after the first and leaves k flit times after
        // the start.
        let to_output = |flits: u64, pace: Pace| {
            let before = (0..flits)
                .map(|k| pace.time_of(k).saturating_sub(k * link.flit))
                .max();
            let before = before.unwrap_or(0).saturating_sub(stages.output);
            (cycles.allocation + cycles.crossbar) * p + before.div_ceil(p) * p
        };
        let slip = |flits: u64, pace: Pace| -> i64 {
            let signed = |n: u64| i64::try_from(n).expect("a residence below 2^63");
            (0..flits)
                .map(|k| signed(pace.time_of(k)) - signed(k * link.flit))
                .sum()
        };
        let lead = [crossbar, to_centre].map(|pace| Lead::new(longest, pace, comes));
        // In a hierarchical switch the rest of the wait follows once the header has been routed.
        let shared = |flits: u64| wait(flits, crossbar).min(wait(flits, to_centre));
        let length = |flits: u64| Length {
            input_wait: shared(flits),
            lead: lead[0].of(flits as u16),
            to_output: to_output(flits, crossbar),
            slip: slip(flits, crossbar),
            on_wire: flits * link.flit,
        };
        let central = |flits: u64| CentralLength {
            input_wait: [wait(flits, crossbar), wait(flits, to_centre)],
            to_output: to_output(flits, from_centre),
            lead: lead[1].of(flits as u16),
            slip_in: slip(flits, to_centre),
            slip_out: slip(flits, crossbar) - slip(flits, from_centre),
        };
        let n_central = match plan.switch.crossbar().architecture {
            Architecture::Hierarchical(_) => u64::from(plan.largest_packet()) + 1,
            _ => 0,
        };
        Wire {
            flit: link.flit,
            delay: link.delay,
            head: link.flit + link.delay,
            lengths: (0..=u64::from(plan.largest_packet()))
                .map(length)
                .collect::<Vec<_>>()
                .into(),
            central: (0..n_central).map(central).collect::<Vec<_>>().into(),
            lead,
            lead_through_centre: Lead::new(longest, from_centre, comes),
            drain: Paces::new(&[own]),
            credits: Paces::new(&[crossbar, to_centre, own]),
        }
    }

    /// Returns the substitute for a link after a crossbar that leads to a central buffer.
    pub(crate) fn of_centre(stages: &Stages) -> Self {
        Wire {
            flit: 1,
            delay: 0,
            head: 0,
            lengths: vec![].into(),
            central: vec![].into(),
            lead: Default::default(),
            lead_through_centre: Lead::default(),
            drain: stages.centre.clone(),
            credits: stages.centre.clone(),
        }
    }

    /// Returns the quantities for packets of a length through the centre.
    #[inline]
    pub(crate) fn central(&self, flits: u16) -> &CentralLength {
        &self.central[u32::from(flits)]
    }

    /// Returns when a header received at `received` may be allocated in a hierarchical switch, as
    /// far as its feed is concerned.
    #[inline]
    pub(crate) fn fed(
        &self,
        received: Tick,
        flits: u16,
        is_central: bool,
        stages: &Stages,
    ) -> Tick {
        let wait = self.central(flits).input_wait[usize::from(is_central)];
        stages.clock.edge_at_or_after(received + wait)
    }

    /// Returns the time after its header at which the crossbar must start a packet so as never to
    /// catch up.
    #[inline(always)]
    pub(crate) fn lead(&self, flits: u16, passage: Passage) -> u64 {
        match passage {
            Passage::Local => self.length(flits).lead,
            _ => self.central(flits).lead,
        }
    }

    /// Returns the lateness by flit, as the maximum over all flits before it and itself.
    pub(crate) fn leads(&self, passage: Passage) -> &Lead {
        &self.lead[usize::from(passage != Passage::Local)]
    }

    /// Returns the quantities for a length.
    #[inline]
    fn length(&self, flits: u16) -> &Length {
        &self.lengths[u32::from(flits)]
    }

    /// Returns one flit on the wire.
    #[inline(always)]
    pub(crate) fn flit<S: Shape>(&self) -> u64 {
        if S::ONE_TICK { 1 } else { self.flit }
    }

    /// Returns the ticks of a packet on the wire.
    #[inline(always)]
    pub(crate) fn on_wire<S: Shape>(&self, flits: u16) -> u64 {
        if S::ONE_PACE {
            u64::from(flits) * self.flit::<S>()
        } else {
            self.length(flits).on_wire
        }
    }

    /// Returns the time from the grant to when the output scheduler may send a packet over this
    /// link.
    #[inline(always)]
    pub(crate) fn to_output<S: Shape>(&self, flits: u16, stages: &Stages) -> u64 {
        if S::ONE_PACE {
            stages.allocation_to_output
        } else {
            self.length(flits).to_output
        }
    }

    /// Returns the flits times ticks that a packet spends in an input buffer after this link, from
    /// its header's arrival to the grant. `own` of them pass at the pace of the crossbar, the
    /// others as they arrive.
    #[inline]
    pub(crate) fn input_residence<S: Shape>(
        &self,
        flits: u16,
        own: u16,
        arrival: Tick,
        granted: Tick,
        stages: &Stages,
        passage: Passage,
    ) -> u64 {
        let waited = (granted - arrival) + stages.allocation;
        if S::ONE_PACE {
            return u64::from(flits) * (waited + self.flit::<S>());
        }
        let slip = match passage {
            Passage::Local => self.length(own).slip,
            Passage::ToCentre => self.central(own).slip_in,
            Passage::FromCentre => return 0,
        };
        let passing = u64::from(flits) * stages.clock.period;
        (u64::from(own) * waited + passing).wrapping_add_signed(slip)
    }

    /// Returns the flits times ticks that a packet spends in an output buffer before this link.
    #[inline]
    pub(crate) fn output_residence<S: Shape>(&self, flits: u16, arrival: Tick, start: Tick) -> u64 {
        let header = (start - arrival) + self.flit::<S>();
        if S::ONE_PACE {
            return u64::from(flits) * header;
        }
        (u64::from(flits) * header).wrapping_add_signed(-self.length(flits).slip)
    }

    /// Returns when a packet sent from `start` on may be allocated at the switch after this link.
    /// `last` is that time for the previous packet. An input takes one header per cycle, which
    /// matters only if a link is faster than the clock of the switch.
    #[inline(always)]
    pub(crate) fn allocatable<S: Shape>(
        &self,
        start: Tick,
        flits: u16,
        stages: &Stages,
        last: &mut Tick,
    ) -> Tick {
        let received = start + self.head;
        if S::ONE_PACE {
            return stages.edge::<S>(received) + stages.before_allocation;
        }
        let wait = self.length(flits).input_wait;
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

/// Returns a release of a class from `from` on. The paces are evaluated only if there are several.
#[inline(always)]
pub(crate) fn ramp<'a, S: Shape>(
    from: Tick,
    units: u16,
    class: u16,
    pace: u8,
    paces: impl FnOnce() -> &'a Paces,
) -> Ramp {
    if S::ONE_TICK {
        Ramp {
            end: Tick(from.0 + u64::from(units) - 1),
            count: units,
            class,
            phase: 0,
            pace,
        }
    } else {
        Ramp::new(from, units, class, pace, paces())
    }
}

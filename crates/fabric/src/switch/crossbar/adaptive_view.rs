//! Queue lengths that switches provide: output queues for adaptive routing, input queues for
//! marking.
//!
//! An adaptive routing decides when the switch decides. Headers that arrive on one edge are routed
//! before anything is granted, in order of their inputs, and each sees the choices of those before
//! it.

use std::borrow::Cow;

use netloom_encoding::{Encoded, Invalid, State, Validity, ensure, ensure_below, ensure_equal};
use netloom_engine::Outbox;
use netloom_units::{Port, Tick};

use crate::fabric::Fabric;
use crate::link::flow::Flow;
use crate::link::ramp::Ramp;
use crate::plan::FabricPlan;
use crate::recorder::PortUse;
use crate::rows::Rows;
use crate::switch::announcing::Announcing;
use crate::switch::crossbar::Crossbars;
use crate::switch::crossbar::shape::Shape;
use crate::switch::{Exit, Header, Switches};
use crate::validation::{Bounds, ensure_each};

/// The view for an adaptive routing.
#[derive(State)]
pub(super) struct AdaptiveView {
    /// By port: flits routed to an output but not yet granted the path into its buffer.
    #[state(records)]
    pub(super) committed: Rows<u32>,
    /// By switch: inputs with a header to be routed in this tick, and the header.
    #[state(records)]
    headers: Rows<Vec<(u16, u32)>>,
    /// By link class: flits that a round trip keeps in transit without waiting.
    #[state(constant)]
    round_trips: Vec<u32>,
    /// By port: the link that was last granted together with the crossbar.
    #[state(records)]
    early: Rows<Early>,
    /// Announcements between switches.
    #[state(part)]
    pub(super) announcing: Option<Announcing>,
}

/// A link granted together with the crossbar, before its scheduler would have granted it. Until
/// then the grant is not visible.
#[derive(Clone, Copy, Debug, Default, Encoded)]
struct Early {
    /// The edge on which the scheduler would have granted it.
    edge: Tick,
    /// End of the previous use of the link.
    link_until: Tick,
    /// Flits times ticks that the packet spends in the output buffer.
    residence: u64,
    /// Credits that it takes, and their class; zero if a NIC accepts every packet.
    credits: u16,
    class: u16,
    /// Zero if no link was ever granted early.
    flits: u16,
}

impl AdaptiveView {
    /// Creates the view for switches and ports; `None` if the routing is not adaptive.
    pub(super) fn new(
        plan: &FabricPlan,
        n_switches: usize,
        n_ports: usize,
        announcing: Option<Announcing>,
    ) -> Option<Box<Self>> {
        let links = plan.links.iter();
        plan.forwarding.is_adaptive().then(|| {
            Box::new(AdaptiveView {
                committed: vec![0; n_ports].into(),
                headers: vec![Vec::new(); n_switches].into(),
                round_trips: links
                    .map(|link| (2 * link.delay).div_ceil(link.flit) as u32)
                    .collect(),
                early: vec![Early::default(); n_ports].into(),
                announcing,
            })
        })
    }

    /// Validates the view. `committed` holds the flits committed to each port. `credit` returns the
    /// credits counted for a class, of which there are `n_classes`, and the flits and packets sent.
    /// No header waits from a past tick.
    pub(super) fn validate(
        &self,
        bounds: &Bounds<'_>,
        committed: &[u32],
        n_classes: usize,
        port: impl Fn(usize, u16) -> (u32, u64, u32),
    ) -> Validity {
        ensure(self.headers.iter().all(Vec::is_empty), || {
            Invalid::new("headers to be routed", "none", "some")
        })?;
        ensure_each(
            "flits committed to outputs",
            committed,
            self.committed.as_slice(),
        )?;
        for (at, early) in self.early.iter().enumerate() {
            if early.flits == 0 {
                ensure_equal("credits of a link that was not granted", 0, early.credits)?;
                continue;
            }
            bounds.flits("packet that was sent early", early.flits)?;
            bounds.time("edge of a packet that was sent early", early.edge)?;
            bounds.time("link of a packet that was sent early", early.link_until)?;
            ensure_below(
                "class of a packet that was sent early",
                early.class,
                n_classes as u64,
            )?;
            let (used, flits, packets) = port(at, early.class);
            let is_seen = early.edge < bounds.now;
            let fits = u32::from(early.credits) <= used && u64::from(early.flits) <= flits;
            ensure(is_seen || (fits && packets > 0), || {
                let found = format!("{} flits", early.flits);
                Invalid::new(
                    "packet that was sent early",
                    "a packet that was sent",
                    found,
                )
            })?;
        }
        match &self.announcing {
            Some(announcing) => announcing.validate(),
            None => Ok(()),
        }
    }

    /// Returns the early grant of an output's link, if it is not visible in a tick. Switches read
    /// the view before they grant anything on an edge.
    #[inline]
    fn unseen(&self, output: u32, now: Tick) -> Option<&Early> {
        let early = &self.early[output];
        (early.edge >= now && early.flits != 0).then_some(early)
    }
}

/// Whether the link of an output may be granted together with the crossbar. An adaptive routing has
/// read the view on this edge, and the state before one early grant is remembered.
#[inline(always)]
pub(super) fn may_give_early<S: Shape>(
    view: Option<&AdaptiveView>,
    output: u32,
    now: Tick,
) -> bool {
    let Some(view) = view else {
        return true;
    };
    // A copy of the credits of many queues, or of many ramps, would cost more than it saves.
    !S::Flow::MAY_LOOK_AHEAD && !S::INPUT_PER_LANE && view.unseen(output, now + 1).is_none()
}

/// Inputs that mark packets when they are congested.
#[derive(State)]
pub(super) struct Marks {
    /// By link class: an input with more flits than this is congested.
    #[state(constant)]
    above: Vec<u32>,
    /// By port: flits of packets that have arrived and not yet started to leave the input buffer.
    #[state(records)]
    occupancy: Rows<u32>,
}

impl Marks {
    /// Creates the state for `n_ports` ports; `None` if no input ever marks.
    pub(super) fn new(plan: &FabricPlan, n_ports: usize) -> Option<Box<Self>> {
        let marks = plan.marks_above.iter().any(Option::is_some);
        marks.then(|| {
            let above = (0..plan.links.len() as u8).map(|class| plan.marks_above(class));
            Box::new(Marks {
                above: above.map(|above| above.unwrap_or(u32::MAX)).collect(),
                occupancy: vec![0; n_ports].into(),
            })
        })
    }

    /// Validates the flits waiting at each input.
    pub(super) fn validate(&self, occupancy: &[u32]) -> Validity {
        ensure_each(
            "flits at marking inputs",
            occupancy,
            self.occupancy.as_slice(),
        )
    }

    /// Records the arrival of a header at an input.
    pub(super) fn enter(&mut self, port: u32, flits: u16) {
        self.occupancy[port] += u32::from(flits);
    }

    /// Records that a packet starts to leave an input. Returns whether the input is congested.
    pub(super) fn leave(&mut self, port: u32, wire: u8, flits: u16) -> bool {
        let occupancy = &mut self.occupancy[port];
        let is_congested = *occupancy > self.above[usize::from(wire)];
        *occupancy -= u32::from(flits);
        is_congested
    }
}

impl<S: Shape> Crossbars<S> {
    /// Returns the flits that wait for an output: inside the switch, in its buffer, and beyond as
    /// far as credits show. Flits and credits that are merely in transit on the link are not
    /// counted.
    pub(super) fn queued(&self, output: u32, now: Tick) -> u32 {
        let Some(view) = &self.adaptive_view else {
            return 0;
        };
        let port = &self.ports[output];
        let wire = u32::from(port.wire_out);
        let inside = match S::HAS_OUTPUT_BUFFER {
            true => port.space.in_use(now, &self.wires[wire].drain),
            false => 0,
        };
        let is_sink = S::is_sink(port.receiver);
        let beyond = match is_sink {
            true => 0,
            false => {
                let early = view.unseen(output, now).map_or(0, |early| early.credits);
                port.credit.in_use(now, port.credit_paces(&self.wires)) - u32::from(early)
            }
        };
        let round_trip = view.round_trips[wire as usize];
        view.committed[output] + inside + beyond.saturating_sub(round_trip)
    }

    /// Records a link that was granted before its scheduler would have done so, which is hidden
    /// from an adaptive routing until then. `before` contains the end of the link's use and the
    /// residence in the output buffer before the grant.
    pub(super) fn given_early(
        &mut self,
        output: u32,
        edge: Tick,
        before: (Tick, u64),
        (class, charge): (u16, u16),
        flits: u16,
    ) {
        let Some(view) = &mut self.adaptive_view else {
            return;
        };
        let port = &self.ports[output];
        view.early[output] = Early {
            edge,
            link_until: before.0,
            residence: port.output_residence.wrapping_sub(before.1),
            credits: if S::is_sink(port.receiver) { 0 } else { charge },
            class,
            flits,
        };
    }

    /// Returns the end of the use of an output's link, and its credits, as visible in a tick.
    pub(super) fn seen(&self, output: u32, now: Tick) -> (Tick, Cow<'_, S::Flow>) {
        let port = &self.ports[output];
        let view = self.adaptive_view.as_ref();
        let Some(early) = view.and_then(|view| view.unseen(output, now)) else {
            return (port.link_until, Cow::Borrowed(&port.credit));
        };
        // In the copy, its credits are already returned.
        let mut credit = port.credit.clone();
        let back = Ramp {
            end: now,
            count: early.credits,
            class: early.class,
            ..Ramp::default()
        };
        credit.release(back, now);
        (early.link_until, Cow::Owned(credit))
    }

    /// Returns the counts of an output before a tick.
    pub(super) fn use_of(&self, output: u32, now: Tick) -> PortUse {
        let mut usage = self.ports[output].usage();
        let view = self.adaptive_view.as_ref();
        if let Some(early) = view.and_then(|view| view.unseen(output, now)) {
            usage.flits -= u64::from(early.flits);
            usage.packets -= 1;
            usage.output_residence = usage.output_residence.wrapping_sub(early.residence);
        }
        usage
    }
}

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Returns the output of an exit.
    pub(super) fn output_of(&self, exit: Exit) -> u32 {
        exit.header.base + u32::from(exit.output.0)
    }

    /// Returns the lane of the link on which a packet would leave.
    pub(super) fn class_of(&self, exit: Exit) -> u16 {
        let channels = &self.shared.channels;
        let (at, from) = (exit.header.at, exit.header.from);
        let (_, level) = channels.at_switch(at, from, exit.output, exit.sc);
        u16::from(level + exit.lane * self.switches.lanes_per_level)
    }

    /// Stores a header that has arrived, since an adaptive routing routes it when the switch
    /// decides.
    #[cold]
    #[inline(never)]
    pub(super) fn await_routing(&mut self, port: u32, id: u32, out: &mut Outbox<Self>) {
        let input = &self.switches.ports[port];
        let (switch, number) = (input.switch, input.number);
        if let Some(view) = &mut self.switches.adaptive_view {
            view.headers[switch].push((number, id));
        }
        self.mark_switch(switch, out);
    }

    /// Routes the headers that have arrived at a switch in this tick.
    #[cold]
    #[inline(never)]
    pub(super) fn route_headers(&mut self, now: Tick, switch: u32, out: &mut Outbox<Self>) {
        let announces = Switches::announcing(&self.switches).is_some();
        if announces {
            self.announce(now, switch, out);
        }
        let Some(view) = &mut self.switches.adaptive_view else {
            return;
        };
        let mut headers = std::mem::take(&mut view.headers[switch]);
        headers.sort_unstable();
        let base = self.switches.states[switch].base;
        for &(number, id) in &headers {
            self.route_by_queues(now, base, Port(number), id);
            let stored = &self.switches.packets[id];
            let (vl, flits) = (stored.packet.vl, stored.packet.flits);
            self.header_routed(now, base + u32::from(number), id, vl, flits, out);
        }
        if announces && !headers.is_empty() {
            self.await_announcement(now, switch, out);
        }
        headers.clear();
        if let Some(view) = &mut self.switches.adaptive_view {
            view.headers[switch] = headers;
        }
    }

    /// Selects the output and lane of a packet by the queues of outputs.
    fn route_by_queues(&mut self, now: Tick, base: u32, from: Port, id: u32) {
        let at = self.switch_id(base + u32::from(from.0));
        let packet = self.switches.packets[id].packet;
        let header = Header {
            at,
            base,
            from,
            lane: self.switches.routing_lane(packet.vl),
        };
        let (hop, word) = self.hop_by_queues(now, header, &packet);
        let stored = &mut self.switches.packets[id];
        stored.packet.label.set_word(word);
        stored.packet.hops = stored.packet.hops.wrapping_add(1);
        let label = &mut stored.packet.label;
        let level = self.shared.channels.pass(at, from, hop.port, label);
        stored.vl = level + hop.lane * self.switches.lanes_per_level;
        stored.output = hop.port.0;
        let flits = u32::from(stored.packet.flits);
        if let Some(view) = &mut self.switches.adaptive_view {
            view.committed[base + u32::from(hop.port.0)] += flits;
        }
    }
}

//! Where a transfer goes in a hierarchical switch.
//!
//! Ports are grouped in MPorts. A packet for an output of its own group crosses the group's crossbar; any
//! other crosses to a central link of its group, waits in the link's central buffer, and crosses the
//! central crossbar. A central link is an output of the first crossbar and an input of the second, so it is
//! a record like a port, after the switch's ports; so is the central writer of each output buffer, which
//! works beside the local one.

use netloom_arbitration::Arbiter;
use netloom_engine::{EventQueue, Outbox};
use netloom_routing::deadlock::Centre;
use netloom_units::{Port, Tick};

use crate::fabric::Fabric;
use crate::link::ramp::Ramp;
use crate::link::room::Limits;
use crate::switch::crossbar::Crossbars;
use crate::switch::crossbar::event::Event;
use crate::switch::crossbar::port::InputQueue;
use crate::switch::crossbar::shape::Shape;
use crate::switch::crossbar::wire::Passage;

/// Records of a switch with so many ports: ports, and where it has a centre central links and central writers.
pub(crate) fn n_records(centre: Option<Centre>, n_ports: u16) -> u32 {
    centre.map_or(u32::from(n_ports), |centre| {
        2 * u32::from(n_ports) + u32::from(centre.n_links(n_ports))
    })
}

impl<A: Arbiter, S: Shape, const W: usize, const R: usize> Fabric<Crossbars<A, S, W, R>> {
    /// The crossbar output that a packet takes from an input record towards an output port.
    #[inline(always)]
    pub(super) fn crossbar_output(&self, switch: u32, input: u16, output: u16) -> u16 {
        if !S::IS_HIERARCHICAL {
            return output;
        }
        let state = &self.switches.states[switch];
        if input >= state.n_ports {
            return state.n_ports + state.n_central + output;
        }
        let centre = self
            .switches
            .centre
            .expect("a hierarchical switch has a centre");
        match centre.link(Port(input), Port(output)) {
            Some(link) => state.n_ports + link,
            None => output,
        }
    }

    /// What a crossbar output is.
    #[inline(always)]
    pub(crate) fn passage(&self, switch: u32, record: usize) -> Passage {
        if !S::IS_HIERARCHICAL {
            return Passage::Local;
        }
        let state = &self.switches.states[switch];
        let (n_ports, n_central) = (usize::from(state.n_ports), usize::from(state.n_central));
        if record < n_ports {
            Passage::Local
        } else if record < n_ports + n_central {
            Passage::ToCentre
        } else {
            Passage::FromCentre
        }
    }

    /// How much the buffer behind a record holds.
    #[inline(always)]
    pub(super) fn limits_of(&self, record: u32) -> &Limits {
        let port = &self.switches.ports[record];
        if S::IS_HIERARCHICAL && port.number >= self.switches.states[port.switch].n_ports {
            return &self.switches.central_buffer;
        }
        self.switches.output_buffer.of(port.ring_out)
    }

    /// Which room a packet needs before it may cross in a hierarchical switch: pairs of record and amount.
    /// A packet for a guarded ring takes its slot before it enters the centre, so the centre never waits
    /// for a ring.
    fn needs(&self, switch: u32, input: usize, head: InputQueue) -> [Option<(u32, u32)>; 2] {
        let base = self.switches.states[switch].base;
        let output = base + u32::from(self.switches.packets[head.head].output);
        let ring = self.switches.ports[output].ring_out;
        let flits = u32::from(head.flits);
        let slots = || self.slots_for(base + input as u32, ring);
        let crossing = base + u32::from(head.output);
        match self.passage(switch, usize::from(head.output)) {
            Passage::Local if ring == 0 => [Some((output, flits)), None],
            Passage::Local => [Some((output, slots())), None],
            Passage::ToCentre if ring == 0 => [Some((crossing, flits)), None],
            Passage::ToCentre => [Some((crossing, flits)), Some((output, slots()))],
            Passage::FromCentre if ring == 0 => [Some((output, flits)), None],
            Passage::FromCentre => [None, None],
        }
    }

    /// Whether there is room for a packet; if not, its input waits for it.
    pub(super) fn has_room_in_hierarchy<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        input: usize,
        head: InputQueue,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) -> bool {
        for (record, need) in self.needs(switch, input, head).into_iter().flatten() {
            if !self.has_room(record, input, head.vl, need, now, out) {
                return false;
            }
        }
        true
    }

    /// Whether there is still room after the earlier grants of an edge.
    pub(super) fn still_fits(
        &self,
        switch: u32,
        input: usize,
        head: InputQueue,
        now: Tick,
    ) -> bool {
        let needs = self.needs(switch, input, head);
        needs.into_iter().flatten().all(|(record, need)| {
            let port = &self.switches.ports[record];
            let paces = || &self.switches.wires[u32::from(port.wire_out)].drain;
            let limits = self.limits_of(record);
            port.space.has(u16::from(head.vl), need, now, limits, paces)
        })
    }

    /// A packet has left a central buffer, flit by flit from `freed` on.
    pub(super) fn leave_centre<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        record: u32,
        vl: u8,
        flits: u16,
        out: &mut Outbox<Self, Q>,
    ) {
        let freed = now + self.switches.stages.credit;
        let ramp = Ramp::new(freed, flits, u16::from(vl), 0, &self.switches.stages.centre);
        let owner = &mut self.switches.ports[record];
        let short = owner.short;
        if !owner.free(ramp, now) {
            Self::drain_later(self.switches.stages.clock, record, ramp, freed, out);
        }
        if short != 0 {
            self.promise_room(now, record, short, out);
        }
    }
}

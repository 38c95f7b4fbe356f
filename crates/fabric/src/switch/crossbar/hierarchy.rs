//! Transfers in a hierarchical switch.
//!
//! Ports are grouped in MPorts. A packet for an output of its own group crosses the group's
//! crossbar. Any other packet crosses to a central link of its group, waits in the link's central
//! buffer, and crosses the central crossbar. A central link is an output of the first crossbar and
//! an input of the second, so it has a record like a port, after the ports of the switch. So has
//! the central writer of each output buffer, which works in addition to the local one.

use netloom_engine::Outbox;
use netloom_routing::deadlock::Centre;
use netloom_units::{Port, Tick};

use crate::fabric::Fabric;
use crate::link::flow::Flow;
use crate::link::ramp::Ramp;
use crate::link::room::Limits;
use crate::plan::{FabricPlan, InputPorts};
use crate::switch::crossbar::Crossbars;
use crate::switch::crossbar::cut_through::CutThrough;
use crate::switch::crossbar::mask::Set;
use crate::switch::crossbar::port::InputQueue;
use crate::switch::crossbar::shape::Shape;
use crate::switch::crossbar::wire::Passage;

/// Returns the number of records of a switch with `n_ports` ports: the ports; with a centre,
/// central links and central writers; if lanes cross independently, the lanes of ports and central
/// links.
pub(crate) fn n_records(plan: &FabricPlan, n_ports: u16) -> u32 {
    let n_links = plan
        .switch
        .centre()
        .map_or(0, |centre| centre.n_links(n_ports));
    let n_inputs = u32::from(n_ports) + u32::from(n_links);
    first_lane(plan.switch.centre(), n_ports) + n_inputs * lanes_apart(plan)
}

/// Returns the first record of a lane.
pub(super) fn first_lane(centre: Option<Centre>, n_ports: u16) -> u32 {
    centre.map_or(u32::from(n_ports), |centre| {
        2 * u32::from(n_ports) + u32::from(centre.n_links(n_ports))
    })
}

/// Returns the lanes of an input with separate connections to the crossbar; zero if there is one
/// connection.
pub(super) fn lanes_apart(plan: &FabricPlan) -> u32 {
    match plan.switch.crossbar().input_ports {
        InputPorts::One => 0,
        InputPorts::PerLane => u32::from(plan.n_vls),
    }
}

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Returns the crossbar output that a packet takes from an input record towards an output port.
    #[inline(always)]
    pub(super) fn crossbar_output(&self, switch: u32, input: u16, output: u16) -> u16 {
        if !S::IS_HIERARCHICAL {
            return output;
        }
        let state = &self.switches.states[switch];
        let input = self.owner_number(switch, input);
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

    /// Returns the number of the port or central link to which an input record belongs.
    #[inline(always)]
    pub(super) fn owner_number(&self, switch: u32, input: u16) -> u16 {
        let state = &self.switches.states[switch];
        if S::INPUT_PER_LANE && input >= state.first_lane {
            (input - state.first_lane) / self.switches.n_vls as u16
        } else {
            input
        }
    }

    /// Returns the record of the port or central link to which an input record belongs.
    #[inline(always)]
    pub(super) fn owner(&self, record: u32) -> u32 {
        if !S::INPUT_PER_LANE {
            return record;
        }
        let port = &self.switches.ports[record];
        let number = self.owner_number(port.switch, port.number);
        self.switches.states[port.switch].base + u32::from(number)
    }

    /// Returns the record that requests the crossbar for packets at a port or central link on a
    /// lane.
    #[inline(always)]
    pub(super) fn asking(&self, record: u32, lane: u8) -> u32 {
        if !S::INPUT_PER_LANE {
            return record;
        }
        let port = &self.switches.ports[record];
        let state = &self.switches.states[port.switch];
        let lanes = self.switches.n_vls as u32;
        state.base + u32::from(state.first_lane) + u32::from(port.number) * lanes + u32::from(lane)
    }

    /// Returns the kind of a crossbar output.
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

    /// Returns the limits of the buffer of a record.
    #[inline(always)]
    pub(super) fn limits_of(&self, record: u32) -> &Limits {
        let port = &self.switches.ports[record];
        if S::IS_HIERARCHICAL && port.number >= self.switches.states[port.switch].n_ports {
            return &self.switches.central_buffer;
        }
        self.switches.output_buffer.of(S::ring(port.ring_out))
    }

    /// Returns the space that a packet needs before it may cross in a hierarchical switch: pairs of
    /// record and amount. A packet for a guarded ring takes its slot before it enters the centre,
    /// so the centre never waits for a ring.
    fn needs(&self, switch: u32, input: usize, head: InputQueue) -> [Option<(u32, u32)>; 2] {
        let base = self.switches.states[switch].base;
        let output = base + u32::from(self.switches.packets[head.head].output);
        let ring = S::ring(self.switches.ports[output].ring_out);
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

    /// Whether there is space for a packet. If not, its input waits for it.
    pub(super) fn has_room_in_hierarchy(
        &mut self,
        switch: u32,
        input: usize,
        head: InputQueue,
        now: Tick,
        out: &mut Outbox<Self>,
    ) -> bool {
        for (record, need) in self.needs(switch, input, head).into_iter().flatten() {
            if !self.has_room(record, input, head.vl, need, now, out) {
                return false;
            }
        }
        true
    }

    /// Whether there is still space after the earlier grants of an edge.
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

    /// Records that a packet leaves a central buffer, flit by flit from `freed` on.
    pub(super) fn leave_centre(
        &mut self,
        now: Tick,
        record: u32,
        vl: u8,
        flits: u16,
        cut_through: Option<&CutThrough>,
        out: &mut Outbox<Self>,
    ) {
        let record = self.owner(record);
        let stages = &self.switches.stages;
        let class = u16::from(vl);
        let short = self.switches.ports[record].short;
        match cut_through {
            None => {
                let freed = now + stages.credit;
                let ramp = Ramp::new(freed, flits, class, 0, &stages.centre);
                self.free_centre(now, record, ramp, freed, out);
            }
            Some(cut_through) => {
                let later = stages.credit - stages.allocation;
                for piece in cut_through.pieces(stages, &self.switches.wires, Passage::FromCentre) {
                    if piece.flits != 0 {
                        let freed = piece.start + later;
                        let ramp = piece.ramp(freed, class, &self.switches.stages.centre);
                        self.free_centre(now, record, ramp, freed, out);
                    }
                }
            }
        }
        if S::INPUT_PER_LANE {
            // Together with what other lanes free, there may be enough before the time announced to
            // a waiter.
            if !self.switches.ports[record].waiters.is_empty() {
                self.wake_for_room(record, now + 1, now, out);
            }
        } else if short != 0 {
            self.promise_room(now, record, short, out);
        }
    }

    /// Frees space in a central buffer from `freed` on.
    fn free_centre(
        &mut self,
        now: Tick,
        record: u32,
        ramp: Ramp,
        freed: Tick,
        out: &mut Outbox<Self>,
    ) {
        if !self.switches.ports[record].free(ramp, now) {
            Self::drain_later(self.switches.stages.clock, record, ramp, freed, out);
        }
    }
}

//! Construction of the partitions of a fabric from a plan.

use netloom_topology::{Egress, Peer};
use netloom_units::{Port, SwitchId};

use crate::endpoint::Endpoints;
use crate::fabric::Fabric;
use crate::link::flow::Flow;
use crate::link::room::{Limits, Sizes};
use crate::plan::{Allocation, Architecture, FabricPlan, FlowControl};
use crate::port_arbiter::MakeArbiter;
use crate::rows::Rows;
use crate::shared::Shared;
use crate::simulation::{Atlas, Options};
use crate::slab::Slab;
use crate::switch::announcing::Announcing;
use crate::switch::crossbar::adaptive_view::{AdaptiveView, Marks};
use crate::switch::crossbar::ahead::Beyond;
use crate::switch::crossbar::hierarchy::{first_lane, lanes_apart};
use crate::switch::crossbar::mask::Set;
use crate::switch::crossbar::port::{CrossbarPort, InputQueue, OutputQueue, Place};
use crate::switch::crossbar::prefetch;
use crate::switch::crossbar::shape::{Layout, Shape};
use crate::switch::crossbar::wire::{Stages, Wire};
use crate::switch::crossbar::{Buffer, Crossbars, Requests, Switch, n_records};
use crate::switch::{NIL, PeerRecord};

/// The switches of a partition under construction: their ports, and the other ends if senders look
/// ahead.
struct Made<L: Layout> {
    switches: Vec<Switch<L::Ports>>,
    ports: Vec<CrossbarPort<L>>,
    beyond: Vec<Beyond>,
}

impl<L: Layout> Made<L> {
    /// Adds a switch with its ports and, with a centre, its other records.
    fn add(
        &mut self,
        plan: &FabricPlan,
        atlas: &Atlas,
        partition: u16,
        id: SwitchId,
        central_wire: u8,
        arbiter: &MakeArbiter<'_>,
    ) {
        let (topology, centre) = (&plan.topology, plan.switch.centre());
        let n_queues = plan.queue_map().n_queues() as usize;
        let n_ports = topology.n_ports(id);
        let index = self.switches.len() as u32;
        self.switches.push(Switch {
            id,
            base: self.ports.len() as u32,
            n_ports,
            n_central: centre.map_or(0, |centre| centre.n_links(n_ports)),
            first_lane: first_lane(centre, n_ports) as u16,
            is_marked: false,
            again: false,
            woken: L::Ports::default(),
            sending: L::Ports::default(),
            losers: L::Ports::default(),
        });
        for port in (0..n_ports).map(Port) {
            let ring = |id: u8| if plan.forwarding.bubble() { id } else { 0 };
            let place = Place {
                peer: atlas.peer(topology, partition, id, port),
                switch: index,
                number: port.0,
                wire: topology.link_class(id, port),
                ring_out: ring(plan.forwarding.ring_of_output(id, port)),
                ring_in: ring(plan.forwarding.ring_of_input(id, port)),
            };
            let flow = L::Flow::new(plan, place.wire);
            let arbiter = arbiter(Egress::Switch(id, port));
            let space = L::Space::new(plan, place.wire);
            self.ports
                .push(CrossbarPort::new(place, arbiter, flow, space, n_queues));
            if plan.flow_control == FlowControl::QueueCredits {
                let (switch, port, is_switch) = match topology.peer(id, port) {
                    Peer::Switch(switch, port) => (switch, port, true),
                    _ => (id, port, false),
                };
                self.beyond.push(Beyond {
                    switch,
                    port,
                    is_switch,
                });
            }
        }
        let base = self.ports.len() - usize::from(n_ports);
        let (first_lane, lanes) = (first_lane(centre, n_ports), lanes_apart(plan));
        for number in u32::from(n_ports)..n_records(plan, n_ports) {
            // The lane of a port follows from its port.
            let owner = number
                .checked_sub(first_lane)
                .map(|lane| lane / lanes)
                .filter(|&owner| owner < u32::from(n_ports))
                .map(|owner| &self.ports[base + owner as usize]);
            let place = Place {
                peer: owner.map_or(PeerRecord::Nobody, |owner| owner.peer),
                switch: index,
                number: number as u16,
                wire: owner.map_or(central_wire, |owner| owner.wire),
                ring_out: 0,
                ring_in: owner.map_or(0, |owner| owner.ring_in),
            };
            // The arbiter of a record without a link is never called.
            let idle = arbiter(Egress::Switch(id, Port(0)));
            let (flow, space) = (L::Flow::new(plan, 0), L::Space::new(plan, 0));
            self.ports
                .push(CrossbarPort::new(place, idle, flow, space, n_queues));
        }
    }
}

/// Builds one partition of a plan.
pub(crate) fn partition<S: Shape>(
    plan: &FabricPlan,
    atlas: &Atlas,
    number: u16,
    arbiter: &MakeArbiter<'_>,
    options: Options,
) -> Fabric<Crossbars<S>> {
    let topology = &plan.topology;
    let switch_ids = atlas.switches(number);
    let centre = plan.switch.centre();
    let radix = n_records(plan, topology.radix()) as usize;
    let n_vls = usize::from(plan.n_vls);
    let queue_map = plan.queue_map();
    let n_queues = queue_map.n_queues() as usize;
    assert!(
        radix <= S::Ports::CAPACITY && n_queues <= S::Queues::CAPACITY,
        "sets wide enough"
    );
    let stages = Stages::new(plan);
    let links = plan.links.iter();
    let mut wires: Vec<Wire> = links.map(|&link| Wire::new(plan, link, &stages)).collect();
    let central_wire = wires.len() as u8;
    wires.push(Wire::of_centre(&stages));

    let looks_ahead = plan.flow_control == FlowControl::QueueCredits;
    // This is most of the memory of a large fabric; a growing vector would copy it repeatedly.
    let records = |&id: &SwitchId| n_records(plan, topology.n_ports(id)) as usize;
    let mut made = Made::<S::Layout> {
        switches: Vec::with_capacity(switch_ids.len()),
        ports: Vec::with_capacity(switch_ids.iter().map(records).sum()),
        beyond: Vec::new(),
    };
    for &id in switch_ids {
        made.add(plan, atlas, number, id, central_wire, arbiter);
    }
    let Made {
        switches,
        ports,
        beyond,
    } = made;

    let buffer = |sizes: &Sizes| Buffer {
        flits: Limits::new(sizes),
        slots: Limits::new(&sizes.slots(&plan.largest)),
    };

    let mut input_buffer = buffer(&plan.switch.crossbar().input_buffer);
    if looks_ahead {
        input_buffer.flits =
            Limits::of_queues(&plan.switch.crossbar().queue_flits, queue_map.per_lane);
    }
    let central_buffer = match &plan.switch.crossbar().architecture {
        Architecture::Hierarchical(hierarchy) => Limits::new(&hierarchy.central_buffer),
        _ => Limits::new(&plan.switch.crossbar().output_buffer),
    };
    let asking_lanes = match plan.switch.crossbar().allocation {
        _ if !S::HAS_OUTPUT_BUFFER => n_vls,
        Allocation::Islip { .. } => 1,
        Allocation::Separable => 0,
    };

    let announcing = Announcing::new(plan, switch_ids, &|id| {
        (
            atlas.port(id, Port(0)).1,
            n_records(plan, topology.n_ports(id)),
        )
    });
    let switches = Crossbars {
        adaptive_view: AdaptiveView::new(plan, switches.len(), ports.len(), announcing),
        marks: Marks::new(plan, ports.len()),
        is_large: ports.len() > prefetch::MOST_IN_CACHE,
        lanes_per_level: plan.lanes_per_level(),
        n_vls,
        n_queues,
        queue_map,
        input_buffer,
        output_buffer: buffer(&plan.switch.crossbar().output_buffer),
        central_buffer,
        credits_per_queue: looks_ahead,
        beyond: beyond.into(),
        centre,
        allocation: plan.switch.crossbar().allocation,
        input_queues: vec![InputQueue::default(); ports.len() * n_queues].into(),
        output_queues: vec![OutputQueue::default(); ports.len() * n_vls].into(),
        arriving: match S::IS_HIERARCHICAL {
            true => vec![[NIL; 2]; ports.len()].into(),
            false => Rows::default(),
        },
        feeds: Vec::new(),
        requests: Requests::new(radix, asking_lanes),
        packets: Slab::default(),
        heads: Box::default(),
        stages,
        wires: wires.into(),
        states: switches.into(),
        ports: ports.into(),
    };
    Fabric {
        shared: Shared::new(plan, options),
        endpoints: Endpoints::new(plan, atlas, number, arbiter, &|class| {
            S::Flow::new(plan, class)
        }),
        switches,
    }
}

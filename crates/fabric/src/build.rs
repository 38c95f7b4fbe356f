//! From a plan to the partitions of a fabric.

use std::collections::BTreeSet;

use netloom_arbitration::Arbiter;
use netloom_packet::{Cursor, N_SCS, Rows, Slab};
use netloom_topology::{Egress, Peer as Wired};
use netloom_units::{NicId, Port as PortNumber, Sc, Sl, SwitchId, Tick};
use rustc_hash::FxHashMap;

use crate::connections::Meters;
use crate::event::Event;
use crate::fabric::{Buffer, Fabric};
use crate::flow::Flow;
use crate::mask::Mask;
use crate::nic::{Admittance, Nic, NicQueue};
use crate::plan::{Allocation, Architecture, FabricPlan, FlowControl, NicQueues};
use crate::port::{InputQueue, NIL, OutputQueue, Peer, Place, Port};
use crate::recorder::{Counters, Row};
use crate::room::Limits;
use crate::shape::Shape;
use crate::switch::{Beyond, Requests, Switch, n_records};
use crate::trace::Watch;
use crate::wire::{Stages, Wire};

/// Makes the arbiter of an output.
pub(crate) type MakeArbiter<'a, A> = dyn Fn(Egress) -> A + 'a;

/// Where everything of the fabric is: partition and index inside it.
pub(crate) struct Atlas {
    /// Partition and index of the first port of each switch.
    first_port: Vec<(u16, u32)>,
    /// Switches of each partition, in order.
    switches: Vec<Vec<SwitchId>>,
    /// NICs of each partition, in order.
    nics: Vec<Vec<NicId>>,
    /// Index of each NIC in its partition.
    nic_index: Vec<u32>,
}

impl Atlas {
    pub(crate) fn new(plan: &FabricPlan) -> Self {
        let n = plan.n_partitions();
        let topology = &plan.topology;
        let centre = plan.switch.architecture.centre();
        let mut next_port = vec![0u32; n];
        let mut switches = vec![Vec::new(); n];
        let first_port = (0..topology.n_switches())
            .map(|s| {
                let partition = plan.partitions[s as usize];
                let p = usize::from(partition);
                switches[p].push(SwitchId(s));
                let first = next_port[p];
                next_port[p] += n_records(centre, topology.n_ports(SwitchId(s)));
                (partition, first)
            })
            .collect();
        let mut nics: Vec<Vec<NicId>> = vec![Vec::new(); n];
        let nic_index = (0..topology.n_nics())
            .map(|nic| {
                let (switch, _) = topology.attachment(NicId(nic));
                let here = &mut nics[usize::from(plan.partitions[switch.index()])];
                here.push(NicId(nic));
                here.len() as u32 - 1
            })
            .collect();
        Atlas {
            first_port,
            switches,
            nics,
            nic_index,
        }
    }

    fn port(&self, switch: SwitchId, port: PortNumber) -> (u16, u32) {
        let (partition, first) = self.first_port[switch.index()];
        (partition, first + u32::from(port.0))
    }

    /// The switch and number of a port of a partition.
    pub(crate) fn name_of_port(&self, partition: u16, port: u32) -> (SwitchId, PortNumber) {
        let here = &self.switches[usize::from(partition)];
        let at = here.partition_point(|s| self.first_port[s.index()].1 <= port) - 1;
        (
            here[at],
            PortNumber((port - self.first_port[here[at].index()].1) as u16),
        )
    }
}

/// The least number of ticks between a cause in one partition and its effect in another.
pub(crate) fn lookahead(plan: &FabricPlan) -> u64 {
    let topology = &plan.topology;
    let pipeline = plan.switch.pipeline;
    let credit = (pipeline.allocation + 1 + pipeline.credit) * plan.switch.period;
    let mut least = u64::MAX;
    for switch in (0..topology.n_switches()).map(SwitchId) {
        for port in (0..topology.n_ports(switch)).map(PortNumber) {
            if let Wired::Switch(other, _) = topology.peer(switch, port)
                && plan.partitions[switch.index()] != plan.partitions[other.index()]
            {
                let link = plan.links[usize::from(topology.link_class(switch, port))];
                least = least.min(link.delay + link.flit.min(credit));
            }
        }
    }
    least
}

/// The rows of the recorder: (class, service level) for every level a class may use.
pub fn rows(plan: &FabricPlan) -> Vec<(usize, netloom_units::Sl)> {
    plan.classes
        .iter()
        .enumerate()
        .flat_map(|(at, class)| class.sls.iter().map(move |&sl| (at, sl)))
        .collect()
}

/// Whether two classes have a service level in common, and so a queue at every NIC that has both.
fn classes_share_a_level(plan: &FabricPlan) -> bool {
    let mut seen = BTreeSet::new();
    !rows(plan).iter().all(|&(_, sl)| seen.insert(sl))
}

/// One partition of a plan.
pub(crate) fn partition<A: Arbiter, S: Shape, const W: usize, const R: usize>(
    plan: &FabricPlan,
    atlas: &Atlas,
    number: u16,
    arbiter: &MakeArbiter<'_, A>,
    watch: Option<Watch>,
) -> Fabric<A, S, W, R> {
    let topology = &plan.topology;
    let (switch_ids, nic_ids) = (
        &atlas.switches[usize::from(number)],
        &atlas.nics[usize::from(number)],
    );
    let centre = plan.switch.architecture.centre();
    let radix = n_records(centre, topology.radix()) as usize;
    let n_vls = usize::from(plan.n_vls);
    let queue_map = plan.queue_map();
    let n_queues = queue_map.n_queues() as usize;
    assert!(
        radix <= Mask::<W>::CAPACITY && n_queues <= Mask::<R>::CAPACITY,
        "masks wide enough"
    );
    let stages = Stages::new(plan);
    let links = plan.links.iter();
    let mut wires: Vec<Wire> = links.map(|&link| Wire::new(plan, link, &stages)).collect();
    let central_wire = wires.len() as u8;
    wires.push(Wire::of_centre(&stages));

    let mut switches = Vec::with_capacity(switch_ids.len());
    let mut ports: Vec<Port<A, S::Flow, W, R>> = Vec::new();
    let mut beyond = Vec::new();
    let looks_ahead = plan.flow_control == FlowControl::QueueCredits;
    for (index, &id) in switch_ids.iter().enumerate() {
        let n_ports = topology.n_ports(id);
        switches.push(Switch {
            id,
            base: ports.len() as u32,
            n_ports,
            n_central: centre.map_or(0, |centre| centre.n_links(n_ports)),
            is_marked: false,
            again: false,
            woken: Mask::default(),
            sending: Mask::default(),
            losers: Mask::default(),
        });
        for port in (0..n_ports).map(PortNumber) {
            let peer = match topology.peer(id, port) {
                Wired::Unused => Peer::Nobody,
                Wired::Nic(nic) => Peer::Nic(atlas.nic_index[nic.index()]),
                Wired::Switch(switch, port) => match atlas.port(switch, port) {
                    (partition, port) if partition == number => Peer::Port(port),
                    (partition, port) => Peer::Remote(partition, port),
                },
            };
            let ring = |id: u8| if plan.forwarding.bubble() { id } else { 0 };
            let place = Place {
                peer,
                switch: index as u32,
                number: port.0,
                wire: topology.link_class(id, port),
                ring_out: ring(plan.forwarding.ring_of_output(id, port)),
                ring_in: ring(plan.forwarding.ring_of_input(id, port)),
            };
            let flow = S::Flow::new(plan, place.wire);
            ports.push(Port::new(place, arbiter(Egress::Switch(id, port)), flow));
            if looks_ahead {
                beyond.push(match topology.peer(id, port) {
                    Wired::Switch(switch, port) => Beyond {
                        switch,
                        port,
                        is_switch: true,
                    },
                    _ => Beyond {
                        switch: id,
                        port,
                        is_switch: false,
                    },
                });
            }
        }
        for number in u32::from(n_ports)..n_records(centre, n_ports) {
            let place = Place {
                peer: Peer::Nobody,
                switch: index as u32,
                number: number as u16,
                wire: central_wire,
                ring_out: 0,
                ring_in: 0,
            };
            // Nobody asks the arbiter of a record without a link.
            let idle = arbiter(Egress::Switch(id, PortNumber(0)));
            ports.push(Port::new(place, idle, S::Flow::new(plan, 0)));
        }
    }

    let sls = plan.classes.iter().flat_map(|class| &class.sls).copied();
    let used: Vec<(Sc, Sl)> = plan.channels.of_levels(sls).into_iter().collect();
    let mut slot_of = [0u8; N_SCS];
    used.iter()
        .enumerate()
        .for_each(|(slot, (sc, _))| slot_of[sc.index()] = slot as u8);
    let n_slots = used.len().max(1);
    let mut row_of = vec![[0u8; 16]; plan.classes.len()];
    for (row, (class, sl)) in rows(plan).into_iter().enumerate() {
        row_of[class][usize::from(sl.0 & 15)] = row as u8;
    }
    let n_rows = rows(plan).len();
    assert!(
        n_rows <= 256,
        "a row of (class, service level) has a number of 8 bits"
    );
    let nics: Vec<Nic<A, S::Flow>> = nic_ids
        .iter()
        .map(|&id| {
            let (switch, port) = topology.attachment(id);
            Nic {
                id,
                port: atlas.port(switch, port).1,
                present: 0,
                link_until: Tick::ZERO,
                credit: S::Flow::new(plan, topology.link_class(switch, port)),
                arbiter: arbiter(Egress::Nic(id)),
                link_wake: Tick::NEVER,
                last_header: Tick::ZERO,
                sequence: 0,
                messages: 0,
                wire: topology.link_class(switch, port),
                is_marked: false,
            }
        })
        .collect();
    let nic_queues = (0..nics.len() * n_slots)
        .map(|at| {
            let (sc, sl) = used.get(at % n_slots).copied().unwrap_or_default();
            NicQueue {
                head: NIL,
                tail: NIL,
                payload: 0,
                bytes: 0,
                flits: 0,
                vl: plan.channels.at_nic(sc),
                sl: sl.0,
                sc: sc.0,
            }
        })
        .collect::<Vec<_>>()
        .into();
    let keeps_order = plan.forwarding.keeps_order();
    let counts_order = plan.count_reordering || (keeps_order && cfg!(debug_assertions));
    let buffer = |sizes: &crate::room::Sizes| Buffer {
        flits: Limits::new(sizes),
        slots: Limits::new(&sizes.slots(&plan.largest)),
    };

    let mut input_buffer = buffer(&plan.switch.input_buffer);
    if looks_ahead {
        input_buffer.flits = Limits::of_queues(&plan.switch.queue_flits, queue_map.per_lane);
    }
    let admittance = (plan.nic_queues == NicQueues::PerDestination).then(|| {
        Admittance::new(
            nics.len() * n_slots,
            topology.n_nics(),
            queue_map.per_lane,
            &plan.switch.queue_flits,
        )
    });
    let central_buffer = match &plan.switch.architecture {
        Architecture::Hierarchical(hierarchy) => Limits::new(&hierarchy.central_buffer),
        _ => Limits::new(&plan.switch.output_buffer),
    };
    let asking_lanes = match plan.switch.allocation {
        _ if !S::HAS_OUTPUT_BUFFER => n_vls,
        Allocation::Islip { .. } => 1,
        Allocation::Separable => 0,
    };

    Fabric {
        forwarding: plan.forwarding.clone(),
        channels: plan.channels.clone(),
        lanes_per_level: plan.lanes_per_level(),
        n_vls,
        n_queues,
        queue_map,
        input_buffer,
        output_buffer: buffer(&plan.switch.output_buffer),
        central_buffer,
        credits_per_queue: looks_ahead,
        beyond: beyond.into(),
        arriving: match S::IS_HIERARCHICAL {
            true => vec![[NIL; 2]; ports.len()].into(),
            false => Rows::default(),
        },
        centre,
        admittance,
        allocation: plan.switch.allocation,
        segmentation: plan.segmentation,
        classes: plan.classes.clone(),
        row_of,
        slot_of,
        keeps_order,
        input_queues: vec![InputQueue::default(); ports.len() * n_queues].into(),
        output_queues: vec![OutputQueue::default(); ports.len() * n_vls].into(),
        requests: Requests::new(radix, asking_lanes),
        cursors: vec![Cursor::default(); nics.len() * plan.classes.len()],
        created: classes_share_a_level(plan).then(|| vec![Vec::new(); nics.len()]),
        messages: Slab::default(),
        last_latency: vec![None; nics.len() * n_rows],
        nic_flits: vec![0; nics.len() * n_rows],
        partial: FxHashMap::default(),
        last_sequence: counts_order.then(FxHashMap::default),
        packets: Slab::default(),
        heads: Box::default(),
        meters: Meters::new(plan, number),
        rows: vec![Row::default(); n_rows],
        counters: Counters::default(),
        watch,
        steps: Vec::new(),
        stages,
        wires: wires.into(),
        switches: switches.into(),
        ports: ports.into(),
        nics: nics.into(),
        nic_queues,
        n_slots,
    }
}

impl<A: Arbiter, S: Shape, const W: usize, const R: usize> Fabric<A, S, W, R> {
    /// The first message of every NIC and class.
    pub(crate) fn first_arrivals(&mut self, mut each: impl FnMut(Tick, Event)) {
        for nic in 0..self.nics.len() as u32 {
            for class in 0..self.classes.len() as u8 {
                if let Some((when, event)) = self.next_arrival(nic, class) {
                    each(when, event);
                }
            }
        }
    }
}

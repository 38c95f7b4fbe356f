//! The reference implementation of crossbar switches: flit by flit and cycle by cycle.
//!
//! It shares only pure code that is tested elsewhere with the model (routing, arbiters, workloads).
//! Every flit is a separate occurrence, every component checks all its queues on every clock edge,
//! and buffers are counted flit by flit with their limits asserted.
//!
//! - `state`: packets, ports, central links, NICs
//! - `link`: a packet on a link, and the sender's view of the other end
//! - `pause`: priority flow control
//! - `input`: a header is received, routed and queued
//! - `adaptive_view`: the view of adaptive routings, and marking at inputs
//! - `cioq`, `input_queued`, `hierarchical`: allocation
//! - `output`: scheduling of links after output buffers
//! - `nic`: arrivals, VOQs and injection
//! - `flows`: flows that take turns within their windows
//! - `answers`: acknowledgements
//! - `program`: ranks that send and receive

#![allow(clippy::needless_range_loop)] // Ports are numbers here, as in the papers.
#![allow(dead_code)] // Each test file uses its part.

mod adaptive_view;
mod answers;
mod cioq;
mod flows;
mod hierarchical;
mod input;
mod input_queued;
mod link;
mod nic;
mod output;
mod pause;
mod program;
mod state;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use netloom_arbitration::{Arbiter, Head};
use netloom_fabric::{Architecture, FabricPlan, InputPorts, NicQueues, QueueScheme};
use netloom_metrics::{Delivery, Digest};
use netloom_packet::Cursor;
use netloom_topology::{Egress, Peer};
use netloom_units::{NicId, Port, Sc, Sl, SwitchId, Tick, Vl};

use flows::Flows;
use state::{
    CentralLink, CrossbarInput, Far, Injection, NicState, Occurrence, Packet, PortState, Sender,
};

/// Counts of events so far, other than packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) answers: u64,
    /// Once for each congested input.
    pub(crate) marks: u64,
    pub(crate) cuts: u64,
    pub(crate) parked: u64,
    /// Headers routed by queue lengths, and how many of them take another path than with empty
    /// queues.
    pub(crate) seeing: u64,
    pub(crate) diverted: u64,
    pub(crate) announced: u64,
    /// Messages that programs sent.
    pub(crate) program_sends: u64,
    /// How often a rank computed before it sent.
    pub(crate) computations: u64,
}

pub(crate) struct Twin<'a> {
    plan: &'a FabricPlan,
    /// The queues of a NIC: service channels and their levels.
    slots: Vec<(Sc, Sl)>,
    now: u64,
    agenda: BTreeMap<u64, Vec<Occurrence>>,
    packets: Vec<Packet>,
    ports: Vec<Vec<PortState>>,
    /// Of every switch, by MPort and link.
    links: Vec<Vec<CentralLink>>,
    arbiters: Vec<Vec<Box<dyn Arbiter>>>,
    nics: Vec<NicState>,
    nic_arbiters: Vec<Box<dyn Arbiter>>,
    /// By switch: inputs and headers that have passed their stages at this tick.
    headers: Vec<Vec<(usize, usize)>>,
    /// By switch: whether a check of its announced outputs is pending.
    is_awaited: Vec<bool>,
    pub(crate) counts: Counts,
    /// Inputs whose buffers were written, and senders whose counts changed, at this tick.
    written: BTreeSet<(usize, usize)>,
    changed: BTreeSet<Sender>,
    pub(crate) digest: Digest,
    pub(crate) delivered: u64,
    pub(crate) delivered_flits: u64,
    pub(crate) injected: u64,
    pub(crate) packet_hops: u64,
    /// By packet: when its flits left, or enter, the buffer of the crossbar that it crossed last.
    passed: BTreeMap<usize, Vec<u64>>,
    /// Every delivery in the order of its tick.
    pub(crate) deliveries: Vec<Delivery>,
}

impl<'a> Twin<'a> {
    pub(crate) fn new(plan: &'a FabricPlan) -> Self {
        let t = &plan.topology;
        let vls = usize::from(plan.n_vls);
        let far = || Far {
            counted: vec![0; vls],
            is_stopped: vec![false; vls],
            ..Far::default()
        };
        let sls = plan.classes.iter().map(|class| class.sl);
        let mut slots: Vec<(Sc, Sl)> = plan.channels.of_levels(sls).into_iter().collect();
        if plan.endpoints.queues == NicQueues::SendQueues {
            slots.truncate(1);
        }
        let n_rows = netloom_fabric::rows(plan).len();
        let of_switch = |s: u32| usize::from(t.n_ports(SwitchId(s)));
        let mut twin = Twin {
            plan,
            slots: slots.clone(),
            now: 0,
            agenda: BTreeMap::new(),
            packets: vec![],
            ports: vec![],
            links: vec![],
            arbiters: (0..t.n_switches())
                .map(|s| {
                    let output = |port| Egress::Switch(SwitchId(s), Port(port as u16));
                    (0..of_switch(s))
                        .map(|port| plan.policy_of(output(port)).build())
                        .collect()
                })
                .collect(),
            nics: vec![],
            nic_arbiters: (0..t.n_nics())
                .map(|nic| plan.policy_of(Egress::Nic(NicId(nic))).build())
                .collect(),
            headers: vec![vec![]; t.n_switches() as usize],
            is_awaited: vec![false; t.n_switches() as usize],
            counts: Counts::default(),
            written: BTreeSet::new(),
            changed: BTreeSet::new(),
            digest: Digest::default(),
            delivered: 0,
            delivered_flits: 0,
            injected: 0,
            packet_hops: 0,
            passed: BTreeMap::new(),
            deliveries: vec![],
        };
        let (n_queues, n_crossbar_inputs) = (twin.n_queues(), twin.n_crossbar_inputs());
        let port = || PortState {
            queues: vec![VecDeque::new(); n_queues],
            crossbar_inputs: vec![CrossbarInput::default(); n_crossbar_inputs],
            whole: vec![0; vls],
            space_used: vec![0; vls],
            in_output: vec![0; vls],
            out_queues: vec![VecDeque::new(); vls],
            far: far(),
            ..PortState::default()
        };
        let link = || CentralLink {
            crossbar_inputs: vec![CrossbarInput::default(); n_crossbar_inputs],
            queues: vec![VecDeque::new(); vls],
            space_used: vec![0; vls],
            in_buffer: vec![0; vls],
            ..CentralLink::default()
        };
        for s in 0..t.n_switches() {
            let n = of_switch(s);
            twin.ports.push((0..n).map(|_| port()).collect());
            let n_links = match &plan.switch.crossbar().architecture {
                Architecture::Hierarchical(h) => {
                    n.div_ceil(usize::from(h.centre.ports_per_mport))
                        * usize::from(h.centre.links_per_mport)
                }
                _ => 0,
            };
            twin.links.push((0..n_links).map(|_| link()).collect());
        }
        for nic in 0..t.n_nics() as usize {
            let injection = || (0..n_queues).map(|_| Injection::default()).collect();
            twin.nics.push(NicState {
                queues: vec![VecDeque::new(); slots.len()],
                voqs: vec![BTreeMap::new(); slots.len()],
                injection: slots.iter().map(|_| injection()).collect(),
                next_injection: vec![0; slots.len()],
                answers: VecDeque::new(),
                flows: Flows::new(slots.len()),
                steps: vec![0; plan.classes.len()],
                computes_since: vec![None; plan.classes.len()],
                numbers: vec![0; n_rows],
                arriving: BTreeMap::new(),
                complete: BTreeSet::new(),
                far: far(),
                sequence: 0,
                cursors: vec![Cursor::default(); plan.classes.len()],
                next: vec![None; plan.classes.len()],
            });
            for class in 0..plan.classes.len() {
                twin.draw_next(nic, class);
            }
        }
        twin
    }

    pub(crate) fn run_until(&mut self, end: u64) {
        while self.now < end {
            for occurrence in self.agenda.remove(&self.now).unwrap_or_default() {
                self.happen(occurrence);
            }
            self.check_inputs();
            self.pause();
            for nic in 0..self.nics.len() {
                self.run_programs(nic);
                self.arrivals(nic);
                self.join_rings(nic);
            }
            if self.now.is_multiple_of(self.plan.switch.period()) {
                for switch in 0..self.ports.len() {
                    self.route_headers(switch);
                    match self.plan.switch.crossbar().architecture {
                        Architecture::Cioq => self.allocate(switch),
                        Architecture::InputQueued => self.allocate_input_queued(switch),
                        _ => self.allocate_hierarchical(switch),
                    }
                    self.schedule(switch);
                }
            }
            for nic in 0..self.nics.len() {
                let flit = self.plan.nic_link(NicId(nic as u32)).flit;
                if self.now.is_multiple_of(flit) {
                    self.inject(nic);
                }
            }
            self.now += 1;
        }
    }

    pub(crate) fn acknowledges(&self) -> bool {
        self.plan.endpoints.acknowledgement.is_some()
    }

    /// Whether nothing is in transit or waiting, and all buffers are empty.
    pub(crate) fn is_idle(&self) -> bool {
        let far = |far: &Far| {
            far.credit_used.values().all(|&n| n == 0) && far.counted.iter().all(|&n| n == 0)
        };
        let empty = |queues: &[VecDeque<usize>]| queues.iter().all(VecDeque::is_empty);
        let none = |counts: &[u32]| counts.iter().all(|&n| n == 0);
        let port = |p: &PortState| {
            empty(&p.queues)
                && empty(&p.out_queues)
                && none(&p.space_used)
                && none(&p.in_output)
                && none(&p.whole)
                && p.in_buffer.values().all(|&n| n == 0)
                && p.occupancy == 0
                && p.committed == 0
                && far(&p.far)
        };
        let link = |l: &CentralLink| empty(&l.queues) && none(&l.space_used) && none(&l.in_buffer);
        let nic = |n: &NicState| {
            n.queues.iter().all(VecDeque::is_empty)
                && n.voqs
                    .iter()
                    .flat_map(BTreeMap::values)
                    .all(VecDeque::is_empty)
                && n.injection
                    .iter()
                    .flatten()
                    .all(|i| i.packets.is_empty() && i.active.is_empty() && i.used == 0)
                && n.answers.is_empty()
                && n.flows.is_idle()
                && n.arriving.is_empty()
                && far(&n.far)
        };
        self.agenda.is_empty()
            && self.injected == self.delivered
            && self.ports.iter().flatten().all(port)
            && self.links.iter().flatten().all(link)
            && self.nics.iter().all(nic)
    }

    fn at(&mut self, when: u64, occurrence: Occurrence) {
        assert!(when > self.now, "effects are later than causes");
        self.agenda.entry(when).or_default().push(occurrence);
    }

    fn happen(&mut self, occurrence: Occurrence) {
        match occurrence {
            Occurrence::Received(s, p, id, k, class) => self.received(s, p, id, k, class),
            Occurrence::ReceivedByNic(nic, id, k) => self.received_by_nic(nic, id, k),
            Occurrence::LeftInput(s, p, class) => {
                state::take_off(&mut self.ports[s][p].in_buffer, class, 1);
            }
            Occurrence::Credit(sender, class) => {
                state::take_off(&mut self.far_mut(sender).credit_used, class, 1);
            }
            Occurrence::Counted(sender, vl, change) => {
                self.far_mut(sender).counted[usize::from(vl)] += change;
                self.changed.insert(sender);
            }
            Occurrence::PacketLeft(s, p, vl, flits) => {
                self.ports[s][p].whole[usize::from(vl)] -= flits;
            }
            Occurrence::InCentre(s, link, vl, id, k) => self.in_centre(s, link, vl, id, k),
            Occurrence::LeftCentre(s, link, vl) => {
                self.links[s][link].in_buffer[usize::from(vl)] -= 1;
            }
            Occurrence::CentreSpace(s, link, vl) => {
                self.links[s][link].space_used[usize::from(vl)] -= 1;
            }
            Occurrence::Buffered(s, p, vl) => self.buffered(s, p, vl),
            Occurrence::Joined(s, p, vl, id, from_centre) => {
                self.join_output(s, p, vl, id, from_centre);
            }
            Occurrence::LeftOutput(s, p, vl) => self.ports[s][p].in_output[usize::from(vl)] -= 1,
            Occurrence::Space(s, p, vl) => self.ports[s][p].space_used[usize::from(vl)] -= 1,
            Occurrence::Head(s, p, id) => self.head_is_here(s, p, id),
            Occurrence::Announced(s, p, output, flits) => {
                self.ports[s][p].heard.insert(output, flits);
            }
        }
    }

    fn peer(&self, s: usize, p: usize) -> Peer {
        self.plan.topology.peer(SwitchId(s as u32), Port(p as u16))
    }

    /// Returns one flit on the link of a port, and its delay.
    fn flit_of(&self, s: usize, p: usize) -> (u64, u64) {
        let class = self
            .plan
            .topology
            .link_class(SwitchId(s as u32), Port(p as u16));
        let link = self.plan.links[usize::from(class)];
        (link.flit, link.delay)
    }

    fn is_slotted(&self, s: usize, p: usize, outgoing: bool) -> bool {
        let f = &self.plan.forwarding;
        let (at, port) = (SwitchId(s as u32), Port(p as u16));
        f.bubble()
            && (if outgoing {
                f.ring_of_output(at, port)
            } else {
                f.ring_of_input(at, port)
            }) != 0
    }

    /// Returns the queues of a lane, and whether lanes are separate.
    fn scheme(&self) -> (usize, bool) {
        let t = &self.plan.topology;
        match self.plan.switch.crossbar().queues {
            QueueScheme::OneQueue => (1, false),
            QueueScheme::PerVl => (1, true),
            QueueScheme::VoqSwitch => (usize::from(t.radix()), true),
            QueueScheme::VoqNet => (t.n_nics() as usize, true),
            QueueScheme::Dbbm { queues } | QueueScheme::Obqa { queues } => {
                (usize::from(queues), true)
            }
        }
    }

    /// Returns the connections of an input to its crossbar.
    fn n_crossbar_inputs(&self) -> usize {
        match self.plan.switch.crossbar().input_ports {
            InputPorts::One => 1,
            InputPorts::PerLane => usize::from(self.plan.n_vls),
        }
    }

    /// Returns the connection of a queue.
    fn crossbar_input_of(&self, queue: usize) -> usize {
        let (per_vl, _) = self.scheme();
        queue / per_vl % self.n_crossbar_inputs()
    }

    fn n_queues(&self) -> usize {
        match self.scheme() {
            (n, true) => n * usize::from(self.plan.n_vls),
            (n, false) => n,
        }
    }

    /// Returns the queue of an input for a packet of a lane that goes to an output and a
    /// destination.
    fn queue_of(&self, vl: u8, output: usize, destination: u32) -> usize {
        let (per_vl, by_lane) = self.scheme();
        let residue = match self.plan.switch.crossbar().queues {
            QueueScheme::OneQueue | QueueScheme::PerVl => 0,
            QueueScheme::VoqSwitch => output,
            QueueScheme::VoqNet => destination as usize,
            QueueScheme::Dbbm { queues } => destination as usize % usize::from(queues),
            QueueScheme::Obqa { queues } => output % usize::from(queues),
        };
        let lane = if by_lane { usize::from(vl) } else { 0 };
        lane * per_vl + residue
    }

    fn head(&self, id: usize, vl: u8) -> Head {
        let packet = &self.packets[id];
        Head {
            born: Tick(packet.generation),
            bytes: packet.bytes,
            sl: Sl(packet.sl),
            vl: Vl(vl),
        }
    }
}

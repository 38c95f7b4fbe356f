//! The slow twin: the same switch, flit by flit and cycle by cycle.
//!
//! It shares with the model what is pure and tested elsewhere (routing, arbiters, workloads) and nothing
//! else. Every flit is an occurrence of its own, every component looks at all its queues on every clock
//! edge, and buffers are counted flit by flit with their limits asserted.

#![allow(clippy::needless_range_loop)] // Ports are numbers here, as in the papers.

use std::collections::{BTreeMap, VecDeque};

use netloom_arbitration::{Arbiter, Head, View};
use netloom_fabric::{Allocation, FabricPlan, QueueScheme, Sizes};
use netloom_metrics::{Delivery, Digest};
use netloom_packet::Cursor;
use netloom_routing::Occasion;
use netloom_topology::Egress;
use netloom_topology::Peer;
use netloom_units::{NicId, Port, Sc, Sl, SwitchId, Tick, Vl};

#[derive(Clone, Copy, Default)]
struct Packet {
    source: u32,
    sequence: u32,
    destination: u32,
    generation: u64,
    bytes: u32,
    flits: u64,
    sl: u8,
    sc: Sc,
    vl: u8,
    hops: u8,
    /// At its present input: when the header was received and may be allocated, where it goes, on which
    /// lane.
    received: u64,
    allocatable: u64,
    output: usize,
    next_vl: u8,
    /// At its present output: when the header was there, and whether the arbiter has been told.
    buffered: u64,
    is_announced: bool,
}

/// Something that happens to a single flit (or slot).
#[derive(Clone, Copy)]
enum Occurrence {
    /// Flit `k` of a packet is wholly received at (switch, port) on a lane. By the time of its last flit
    /// the header may be two switches further on another lane.
    Received(usize, usize, usize, u64, u8),
    /// The same at a NIC.
    ReceivedByNic(usize, usize, u64),
    /// A flit has left the input buffer of (switch, port, lane).
    LeftInput(usize, usize, u8),
    /// A credit is back at (switch, port, lane).
    Credit(usize, usize, u8),
    NicCredit(usize, u8),
    /// Room has come free in the output buffer of (switch, port, lane).
    Space(usize, usize, u8),
    /// A header joins its output queue.
    Buffered(usize, usize, usize),
}

#[derive(Default)]
struct PortState {
    queues: Vec<VecDeque<usize>>,
    last_header: Option<u64>,
    input_until: u64,
    next_queue: usize,
    next_output: usize,
    in_buffer: Vec<u32>,
    output_until: u64,
    next_input: usize,
    space_used: Vec<u32>,
    out_queues: Vec<VecDeque<usize>>,
    credit_used: Vec<u32>,
    link_until: u64,
}

struct NicState {
    queues: Vec<VecDeque<(u64, u32, u32, u32)>>,
    credit_used: Vec<u32>,
    link_until: u64,
    sequence: u32,
    cursors: Vec<Cursor>,
    next: Vec<Option<(u64, u32, u32)>>,
}

pub(crate) struct Twin<'a> {
    plan: &'a FabricPlan,
    /// The queues of a NIC: service channels and their levels.
    slots: Vec<(Sc, Sl)>,
    now: u64,
    agenda: BTreeMap<u64, Vec<Occurrence>>,
    packets: Vec<Packet>,
    ports: Vec<Vec<PortState>>,
    arbiters: Vec<Vec<Box<dyn Arbiter>>>,
    nics: Vec<NicState>,
    nic_arbiters: Vec<Box<dyn Arbiter>>,
    pub(crate) digest: Digest,
    pub(crate) delivered: u64,
    pub(crate) injected: u64,
    pub(crate) packet_hops: u64,
}

fn room(sizes: &Sizes, used: &[u32], vl: usize) -> u32 {
    match sizes {
        Sizes::Static(sizes) => sizes[vl].checked_sub(used[vl]).expect("no overflow"),
        Sizes::Pool { capacity, min, max } => {
            let kept: u32 = (0..used.len())
                .map(|l| {
                    if l == vl {
                        used[l]
                    } else {
                        used[l].max(min[l])
                    }
                })
                .sum();
            (capacity.checked_sub(kept).expect("no overflow")).min(max[vl].saturating_sub(used[vl]))
        }
    }
}

impl<'a> Twin<'a> {
    pub(crate) fn new(plan: &'a FabricPlan) -> Self {
        let t = &plan.topology;
        let vls = usize::from(plan.n_vls);
        let n_queues = match plan.switch.queues {
            QueueScheme::PerVl => vls,
            QueueScheme::VoqSwitch => vls * usize::from(t.radix()),
            _ => unimplemented!("the twin of this queue scheme"),
        };
        let port = || PortState {
            queues: vec![VecDeque::new(); n_queues],
            in_buffer: vec![0; vls],
            space_used: vec![0; vls],
            out_queues: vec![VecDeque::new(); vls],
            credit_used: vec![0; vls],
            ..PortState::default()
        };
        let sls = plan.classes.iter().map(|class| class.sl);
        let slots: Vec<(Sc, Sl)> = plan.channels.of_levels(sls).into_iter().collect();
        let of_switch = |s: u32| usize::from(t.n_ports(SwitchId(s)));
        let mut twin = Twin {
            plan,
            slots: slots.clone(),
            now: 0,
            agenda: BTreeMap::new(),
            packets: vec![],
            ports: (0..t.n_switches())
                .map(|s| (0..of_switch(s)).map(|_| port()).collect())
                .collect(),
            arbiters: (0..t.n_switches())
                .map(|s| {
                    let output = |port| Egress::Switch(SwitchId(s), Port(port as u16));
                    (0..of_switch(s))
                        .map(|port| plan.policy_of(output(port)).build())
                        .collect()
                })
                .collect(),
            nics: (0..t.n_nics())
                .map(|_| NicState {
                    queues: vec![VecDeque::new(); slots.len()],
                    credit_used: vec![0; vls],
                    link_until: 0,
                    sequence: 0,
                    cursors: vec![Cursor::default(); plan.classes.len()],
                    next: vec![None; plan.classes.len()],
                })
                .collect(),
            nic_arbiters: (0..t.n_nics())
                .map(|nic| plan.policy_of(Egress::Nic(NicId(nic))).build())
                .collect(),
            digest: Digest::default(),
            delivered: 0,
            injected: 0,
            packet_hops: 0,
        };
        for nic in 0..twin.nics.len() {
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
            for nic in 0..self.nics.len() {
                self.arrivals(nic);
            }
            if self.now.is_multiple_of(self.plan.switch.period) {
                for switch in 0..self.ports.len() {
                    self.allocate(switch);
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

    fn at(&mut self, when: u64, occurrence: Occurrence) {
        assert!(when > self.now, "effects are later than causes");
        self.agenda.entry(when).or_default().push(occurrence);
    }

    fn draw_next(&mut self, nic: usize, class: usize) {
        let state = &mut self.nics[nic];
        let arrival = self.plan.classes[class]
            .source
            .next(NicId(nic as u32), &mut state.cursors[class]);
        let flit = self.plan.nic_link(NicId(nic as u32)).flit;
        state.next[class] = arrival.map(|a| (a.cycle * flit, a.destination.0, a.bytes));
    }

    fn arrivals(&mut self, nic: usize) {
        for class in 0..self.plan.classes.len() {
            while let Some((when, destination, bytes)) = self.nics[nic].next[class] {
                if when > self.now {
                    break;
                }
                let sl = self.plan.classes[class].sl;
                let (from, to) = (NicId(nic as u32), NicId(destination));
                let sc = self.plan.channels.choose(sl, from, to);
                let slot = self.slots.iter().position(|&(known, _)| known == sc);
                let queue = &mut self.nics[nic].queues[slot.expect("a queue per channel")];
                queue.push_back((self.now, destination, bytes, 0));
                self.draw_next(nic, class);
            }
        }
    }

    fn happen(&mut self, occurrence: Occurrence) {
        match occurrence {
            Occurrence::Received(s, p, id, k, vl) => {
                let packet = &mut self.packets[id];
                let vl = usize::from(vl);
                let state = &mut self.ports[s][p];
                state.in_buffer[vl] += 1;
                let most = self.plan.switch.input_buffer.most(vl);
                assert!(
                    state.in_buffer[vl] <= most,
                    "no buffer overflow at an input"
                );
                if k == 0 {
                    packet.received = self.now;
                    let lanes = self.plan.lanes_per_level();
                    let lane = if self.plan.forwarding.lanes() > 1 {
                        packet.vl / lanes
                    } else {
                        0
                    };
                    let occasion = Occasion {
                        source: NicId(packet.source),
                        sequence: packet.sequence,
                        hop: packet.hops,
                    };
                    let (at, from) = (SwitchId(s as u32), Port(p as u16));
                    let hop = self.plan.forwarding.route(
                        at,
                        from,
                        lane,
                        NicId(packet.destination),
                        occasion,
                    );
                    packet.hops += 1;
                    packet.output = usize::from(hop.port.0);
                    packet.next_vl = self.plan.channels.at_switch(at, from, hop.port, packet.sc)
                        + hop.lane * lanes;
                    let queue = match self.plan.switch.queues {
                        QueueScheme::PerVl => vl,
                        QueueScheme::VoqSwitch => {
                            vl * usize::from(self.plan.topology.radix()) + packet.output
                        }
                        _ => unimplemented!("the twin of this queue scheme"),
                    };
                    state.queues[queue].push_back(id);
                    self.packets[id].allocatable = self.allocatable(s, p, id);
                }
            }
            Occurrence::ReceivedByNic(nic, id, k) => {
                let packet = self.packets[id];
                assert_eq!(packet.destination as usize, nic);
                if k + 1 == packet.flits {
                    self.delivered += 1;
                    self.digest.add(&Delivery {
                        source: packet.source,
                        sequence: packet.sequence,
                        destination: packet.destination,
                        generation: packet.generation,
                        tail: self.now,
                        flits: packet.flits as u16,
                        sl: packet.sl,
                    });
                }
            }
            Occurrence::LeftInput(s, p, vl) => self.ports[s][p].in_buffer[usize::from(vl)] -= 1,
            Occurrence::Credit(s, p, vl) => self.ports[s][p].credit_used[usize::from(vl)] -= 1,
            Occurrence::NicCredit(nic, vl) => self.nics[nic].credit_used[usize::from(vl)] -= 1,
            Occurrence::Space(s, p, vl) => self.ports[s][p].space_used[usize::from(vl)] -= 1,
            Occurrence::Buffered(s, p, id) => {
                let vl = usize::from(self.packets[id].next_vl);
                self.ports[s][p].out_queues[vl].push_back(id);
            }
        }
    }

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

    /// The first edge on which the header of a packet has passed the input and routing stages, one header
    /// per cycle, and the crossbar, starting from it, would find every flit in time.
    fn allocatable(&mut self, s: usize, p: usize, id: usize) -> u64 {
        let switch = &self.plan.switch;
        let packet = &self.packets[id];
        let cycles = switch.pipeline;
        let (flit, _) = self.flit_of(s, p);
        let pace = switch.crossbar_pace();
        let mut edge = packet.received.div_ceil(switch.period) * switch.period
            + (cycles.input + cycles.routing) * switch.period;
        while (0..packet.flits).any(|k| {
            packet.received + k * flit > edge + cycles.allocation * switch.period + pace.time_of(k)
        }) {
            edge += switch.period;
        }
        if let Some(last) = self.ports[s][p].last_header {
            edge = edge.max(last + switch.period);
        }
        self.ports[s][p].last_header = Some(edge);
        edge
    }

    /// Whether the first packet of a queue could cross now.
    fn may_cross(&self, s: usize, p: usize, queue: usize) -> Option<usize> {
        let id = *self.ports[s][p].queues[queue].front()?;
        let packet = &self.packets[id];
        let output = &self.ports[s][packet.output];
        if packet.allocatable > self.now || output.output_until > self.now {
            return None;
        }
        let sizes = &self.plan.switch.output_buffer;
        let vl = usize::from(packet.next_vl);
        let fits = if self.is_slotted(s, packet.output, true) {
            let f = &self.plan.forwarding;
            let (at, i, o) = (
                SwitchId(s as u32),
                Port(p as u16),
                Port(packet.output as u16),
            );
            let goes_on = f.ring_of_input(at, i) == f.ring_of_output(at, o);
            room(&sizes.slots(&self.plan.largest), &output.space_used, vl)
                >= if goes_on { 1 } else { 2 }
        } else {
            u64::from(room(sizes, &output.space_used, vl)) >= packet.flits
        };
        fits.then_some(packet.output)
    }

    fn allocate(&mut self, s: usize) {
        match self.plan.switch.allocation {
            Allocation::Separable => self.separable(s),
            Allocation::Islip { iterations } => self.islip(s, iterations),
        }
    }

    fn separable(&mut self, s: usize) {
        let n = self.ports[s].len();
        let mut requests: Vec<Vec<(usize, usize)>> = vec![vec![]; n];
        for p in 0..n {
            if self.ports[s][p].input_until > self.now {
                continue;
            }
            let queues = self.ports[s][p].queues.len();
            let first = self.ports[s][p].next_queue;
            let asked = (0..queues)
                .map(|k| (first + k) % queues)
                .find_map(|q| self.may_cross(s, p, q).map(|output| (q, output)));
            if let Some((q, output)) = asked {
                requests[output].push((p, q));
            }
        }
        for (output, asking) in requests.into_iter().enumerate() {
            let first = self.ports[s][output].next_input;
            if let Some((p, q)) = asking
                .into_iter()
                .min_by_key(|(p, _)| (*p + 10_000 - first) % 10_000)
            {
                self.ports[s][output].next_input = p + 1;
                self.cross(s, p, q, output);
            }
        }
    }

    fn islip(&mut self, s: usize, iterations: u8) {
        let n = self.ports[s].len();
        let turn = |x: usize, first: usize| (x + 10_000 - first) % 10_000;
        let wants: Vec<Vec<usize>> = (0..n)
            .map(|p| {
                if self.ports[s][p].input_until > self.now {
                    return vec![];
                }
                (0..self.ports[s][p].queues.len())
                    .filter_map(|q| self.may_cross(s, p, q))
                    .collect()
            })
            .collect();
        let mut input_of = vec![None; n];
        let mut output_of = vec![None; n];
        for round in 0..iterations {
            let mut grants: Vec<Vec<usize>> = vec![vec![]; n];
            for o in 0..n {
                if input_of[o].is_none() {
                    let asking =
                        (0..n).filter(|&p| output_of[p].is_none() && wants[p].contains(&o));
                    if let Some(p) = asking.min_by_key(|&p| turn(p, self.ports[s][o].next_input)) {
                        grants[p].push(o);
                    }
                }
            }
            for p in 0..n {
                let first = self.ports[s][p].next_output;
                if let Some(&o) = grants[p].iter().min_by_key(|&&o| turn(o, first)) {
                    input_of[o] = Some(p);
                    output_of[p] = Some(o);
                    if round == 0 {
                        self.ports[s][p].next_output = o + 1;
                        self.ports[s][o].next_input = p + 1;
                    }
                }
            }
        }
        for p in 0..n {
            if let Some(o) = output_of[p] {
                let queues = self.ports[s][p].queues.len();
                let first = self.ports[s][p].next_queue;
                let q = (0..queues)
                    .map(|k| (first + k) % queues)
                    .find(|&q| self.may_cross(s, p, q) == Some(o));
                self.cross(s, p, q.expect("a queue"), o);
            }
        }
    }

    fn cross(&mut self, s: usize, p: usize, q: usize, output: usize) {
        let switch = &self.plan.switch;
        let (period, cycles, pace) = (switch.period, switch.pipeline, switch.crossbar_pace());
        let id = self.ports[s][p].queues[q].pop_front().expect("a packet");
        let packet = self.packets[id];
        let (vl, next_vl) = (packet.vl, packet.next_vl);
        let until = self.now + pace.occupancy(packet.flits);
        let n_queues = self.ports[s][p].queues.len();
        self.ports[s][p].input_until = until;
        self.ports[s][p].next_queue = (q + 1) % n_queues;
        self.ports[s][output].output_until = until;
        self.packet_hops += 1;
        let out_slots = self.is_slotted(s, output, true);
        self.ports[s][output].space_used[usize::from(next_vl)] +=
            if out_slots { 1 } else { packet.flits as u32 };
        let (_, delay) = self.flit_of(s, p);
        let in_slots = self.is_slotted(s, p, false);
        for k in 0..packet.flits {
            let left = self.now + cycles.allocation * period + pace.time_of(k) + period;
            self.at(left, Occurrence::LeftInput(s, p, vl));
            if !in_slots || k + 1 == packet.flits {
                let back = left + cycles.credit * period + delay;
                match self.plan.topology.peer(SwitchId(s as u32), Port(p as u16)) {
                    Peer::Switch(up, port) => {
                        self.at(
                            back,
                            Occurrence::Credit(up.index(), usize::from(port.0), vl),
                        );
                    }
                    Peer::Nic(nic) => self.at(back, Occurrence::NicCredit(nic.index(), vl)),
                    Peer::Unused => unreachable!(),
                }
            }
        }
        let buffered = self.now + (cycles.allocation + cycles.crossbar) * period;
        self.packets[id].buffered = buffered;
        self.packets[id].is_announced = false;
        self.at(buffered, Occurrence::Buffered(s, output, id));
    }

    /// Whether a packet in an output buffer could start now without its link running dry.
    fn is_in_time(&self, s: usize, p: usize, id: usize) -> bool {
        let switch = &self.plan.switch;
        let earliest = self.now + switch.pipeline.output * switch.period;
        let pace = switch.crossbar_pace();
        let (flit, _) = self.flit_of(s, p);
        let packet = &self.packets[id];
        (0..packet.flits).all(|k| packet.buffered + pace.time_of(k) <= earliest + k * flit)
    }

    /// The arbiter of an output is told once of every packet, on the first edge on which the packet could
    /// be scheduled if the link were free.
    fn announce(&mut self, s: usize, p: usize) {
        for vl in 0..usize::from(self.plan.n_vls) {
            for at in 0..self.ports[s][p].out_queues[vl].len() {
                let id = self.ports[s][p].out_queues[vl][at];
                if self.packets[id].is_announced || !self.is_in_time(s, p, id) {
                    continue;
                }
                self.packets[id].is_announced = true;
                let packet = &self.packets[id];
                let head = Head {
                    born: Tick(packet.generation),
                    bytes: packet.bytes,
                    sl: Sl(packet.sl),
                    vl: Vl(vl as u8),
                };
                self.arbiters[s][p].arrived(vl as u8, &head);
            }
        }
    }

    fn schedule(&mut self, s: usize) {
        let switch = &self.plan.switch;
        let (period, cycles) = (switch.period, switch.pipeline);
        for p in 0..self.ports[s].len() {
            self.announce(s, p);
            if self.ports[s][p].link_until >= self.now + (cycles.output + 1) * period {
                continue;
            }
            let (flit, delay) = self.flit_of(s, p);
            let slots = self.is_slotted(s, p, true);
            let earliest = self.now + cycles.output * period;
            let mut heads = Box::new([Head::default(); 32]);
            let mut eligible = 0u32;
            for vl in 0..usize::from(self.plan.n_vls) {
                let Some(&id) = self.ports[s][p].out_queues[vl].front() else {
                    continue;
                };
                let in_time = self.is_in_time(s, p, id);
                let packet = &self.packets[id];
                let used = &self.ports[s][p].credit_used;
                let sizes = &self.plan.switch.input_buffer;
                let fits = if slots {
                    room(&sizes.slots(&self.plan.largest), used, vl) >= 1
                } else {
                    u64::from(room(sizes, used, vl)) >= packet.flits
                };
                if in_time && fits {
                    eligible |= 1 << vl;
                    heads[vl] = Head {
                        born: Tick(packet.generation),
                        bytes: packet.bytes,
                        sl: Sl(packet.sl),
                        vl: Vl(vl as u8),
                    };
                }
            }
            if eligible == 0 {
                continue;
            }
            let Some(grant) = self.arbiters[s][p].choose(&View {
                eligible,
                heads: &heads,
            }) else {
                continue;
            };
            self.arbiters[s][p].commit(grant);
            let vl = grant.queue;
            let state = &mut self.ports[s][p];
            let id = state.out_queues[usize::from(vl)]
                .pop_front()
                .expect("a packet");
            let packet = &mut self.packets[id];
            packet.vl = vl;
            let flits = packet.flits;
            state.credit_used[usize::from(vl)] += if slots { 1 } else { flits as u32 };
            let start = state.link_until.max(earliest);
            state.link_until = start + flits * flit;
            for k in 0..flits {
                let gone = start + (k + 1) * flit;
                if !slots || k + 1 == flits {
                    self.at(gone, Occurrence::Space(s, p, vl));
                }
                match self.plan.topology.peer(SwitchId(s as u32), Port(p as u16)) {
                    Peer::Switch(next, port) => {
                        self.at(
                            gone + delay,
                            Occurrence::Received(next.index(), usize::from(port.0), id, k, vl),
                        );
                    }
                    Peer::Nic(nic) => {
                        self.at(gone + delay, Occurrence::ReceivedByNic(nic.index(), id, k));
                        self.at(
                            gone + delay + cycles.credit * flit + delay,
                            Occurrence::Credit(s, p, vl),
                        );
                    }
                    Peer::Unused => unreachable!(),
                }
            }
        }
    }

    fn inject(&mut self, nic: usize) {
        if self.nics[nic].link_until > self.now {
            return;
        }
        let plan = self.plan;
        let mut heads = Box::new([Head::default(); 32]);
        let mut eligible = 0u32;
        for (slot, &(sc, sl)) in self.slots.iter().enumerate() {
            let Some(&(born, _, left, _)) = self.nics[nic].queues[slot].front() else {
                continue;
            };
            let cut = plan.segmentation.of(sl).cut(left);
            let vl = plan.channels.at_nic(sc);
            if room(
                &plan.switch.input_buffer,
                &self.nics[nic].credit_used,
                usize::from(vl),
            ) >= u32::from(cut.flits)
            {
                eligible |= 1 << slot;
                heads[slot] = Head {
                    born: Tick(born),
                    bytes: cut.bytes,
                    sl,
                    vl: Vl(vl),
                };
            }
        }
        if eligible == 0 {
            return;
        }
        let Some(grant) = self.nic_arbiters[nic].choose(&View {
            eligible,
            heads: &heads,
        }) else {
            return;
        };
        self.nic_arbiters[nic].commit(grant);
        let slot = usize::from(grant.queue);
        let (sc, sl) = self.slots[slot];
        let state = &mut self.nics[nic];
        let message = state.queues[slot].front_mut().expect("a message");
        let cut = plan.segmentation.of(sl).cut(message.2);
        message.2 -= cut.payload;
        let (generation, destination, left, _) = *message;
        if left == 0 {
            state.queues[slot].pop_front();
        }
        let vl = plan.channels.at_nic(sc);
        let flits = u64::from(cut.flits);
        let link = plan.nic_link(NicId(nic as u32));
        state.credit_used[usize::from(vl)] += flits as u32;
        state.link_until = self.now + flits * link.flit;
        let packet = Packet {
            source: nic as u32,
            sequence: state.sequence,
            destination,
            generation,
            bytes: cut.bytes,
            flits,
            sl: sl.0,
            sc,
            vl,
            ..Packet::default()
        };
        state.sequence += 1;
        self.injected += 1;
        let id = self.packets.len();
        self.packets.push(packet);
        let (switch, port) = plan.topology.attachment(NicId(nic as u32));
        for k in 0..flits {
            let when = self.now + (k + 1) * link.flit + link.delay;
            self.at(
                when,
                Occurrence::Received(switch.index(), usize::from(port.0), id, k, vl),
            );
        }
    }
}

//! A header is received, routed and queued.

use netloom_fabric::{Architecture, CrossbarStart, Pace};
use netloom_routing::{Lookup, Occasion};
use netloom_units::{NicId, Port, SwitchId};

use super::Twin;
use super::adaptive_view::AdaptiveView;
use super::state::{Class, Occurrence, Packet, Sender};

impl Twin<'_> {
    pub(super) fn received(&mut self, s: usize, p: usize, id: usize, k: u64, class: Class) {
        *self.ports[s][p].in_buffer.entry(class).or_default() += 1;
        self.written.insert((s, p));
        if k > 0 {
            return;
        }
        assert_eq!(
            self.packets[id].class, class,
            "the header is where it is counted"
        );
        self.packets[id].received = self.now;
        if self.plan.flow_control.stops_senders() {
            let Packet { vl, flits, .. } = self.packets[id];
            self.ports[s][p].whole[usize::from(vl)] += flits as u32;
        }
        let head = self.head_edge(s, p, id);
        if head > self.now {
            self.at(head, Occurrence::Head(s, p, id));
        } else {
            self.head_is_here(s, p, id);
        }
        if !self.plan.forwarding.is_adaptive() {
            self.route(s, p, id);
            self.packets[id].allocatable = self.allocatable(s, p, id);
        }
    }

    /// Adds a packet with known output and lane to its queue.
    pub(super) fn route(&mut self, s: usize, p: usize, id: usize) {
        let mut packet = self.packets[id];
        let (at, from) = (SwitchId(s as u32), Port(p as u16));
        let lookup = Lookup {
            at,
            from,
            lane: self.routing_lane(packet.vl),
            destination: NicId(packet.destination),
            occasion: Occasion {
                source: NicId(packet.source),
                sequence: packet.sequence,
                hop: packet.hops,
            },
        };
        let mut word = packet.word;
        let sc = packet.sc;
        let view = AdaptiveView {
            twin: self,
            s,
            from,
            sc,
            flits: packet.flits as u32,
        };
        let f = &self.plan.forwarding;
        let hop = f.route_seeing(&lookup, &mut word, &view);
        if f.is_adaptive() {
            let blind = &netloom_routing::EmptyQueues;
            let mut unseen = packet.word;
            let other = f.route_seeing(&lookup, &mut unseen, blind);
            self.counts.seeing += 1;
            self.counts.diverted += u64::from(other != hop);
        }
        packet.word = word;
        packet.hops += 1;
        packet.output = usize::from(hop.port.0);
        let (onward, level) = self.plan.channels.at_switch(at, from, hop.port, packet.sc);
        packet.sc = onward;
        packet.next_vl = level + hop.lane * self.plan.lanes_per_level();
        let onwards = Sender::Switch(s, packet.output);
        packet.next_class = self.class_ahead(onwards, &packet, packet.next_vl);
        let queue = self.queue_of(packet.vl, packet.output, packet.destination);
        if let Class::Queue(predicted) = packet.class {
            assert_eq!(predicted as usize, queue, "the queue that was looked ahead");
        }
        let state = &mut self.ports[s][p];
        state.queues[queue].push_back(id);
        self.packets[id] = packet;
    }

    /// Returns the pace at which a packet leaves its input buffer.
    pub(super) fn input_pace(&self, s: usize, p: usize, output: usize) -> Pace {
        match &self.plan.switch.crossbar().architecture {
            Architecture::Hierarchical(h) if !self.is_local(p, output) => {
                self.pace(h.mport_speedup)
            }
            Architecture::InputQueued => {
                let (flit, _) = self.flit_of(s, output);
                let pace = self.plan.switch.crossbar().crossbar_pace();
                assert_eq!(
                    pace.period * u64::from(pace.den),
                    flit * u64::from(pace.num),
                    "the crossbar keeps the pace of the links"
                );
                pace
            }
            _ => self.plan.switch.crossbar().crossbar_pace(),
        }
    }

    /// Returns the first edge on which the header of a packet has passed the input and routing
    /// stages, one header per cycle, and the crossbar, starting from it, would find every flit in
    /// time, unless it starts at once.
    fn allocatable(&mut self, s: usize, p: usize, id: usize) -> u64 {
        let pace = self.input_pace(s, p, self.packets[id].output);
        let mut edge = self.fed(s, p, id, pace);
        if let Some(last) = self.ports[s][p].last_header {
            edge = edge.max(last + self.plan.switch.period());
        }
        self.ports[s][p].last_header = Some(edge);
        edge
    }

    /// Returns the same as far as stages and feed are concerned, at one pace of the crossbar.
    pub(super) fn fed(&self, s: usize, p: usize, id: usize, pace: Pace) -> u64 {
        let switch = self.plan.switch.crossbar();
        let packet = &self.packets[id];
        let cycles = switch.pipeline;
        let (flit, _) = self.flit_of(s, p);
        let mut edge = packet.received.div_ceil(switch.period) * switch.period
            + (cycles.input + cycles.routing) * switch.period;
        if switch.start == CrossbarStart::AtOnce && switch.architecture != Architecture::InputQueued
        {
            return edge;
        }
        while (0..packet.flits).any(|k| {
            packet.received + k * flit > edge + cycles.allocation * switch.period + pace.time_of(k)
        }) {
            edge += switch.period;
        }
        edge
    }

    /// Returns the edge on which a header has passed its stages: if paces differ, with the one that
    /// releases it earliest.
    fn head_edge(&mut self, s: usize, p: usize, id: usize) -> u64 {
        let mut paces = vec![self.plan.switch.crossbar().crossbar_pace()];
        if let Architecture::Hierarchical(h) = &self.plan.switch.crossbar().architecture {
            paces.push(self.pace(h.mport_speedup));
        }
        let edges = paces.into_iter().map(|pace| self.fed(s, p, id, pace));
        let mut edge = edges.min().expect("a pace");
        if let Some(last) = self.ports[s][p].last_head {
            edge = edge.max(last + self.plan.switch.period());
        }
        self.ports[s][p].last_head = Some(edge);
        edge
    }

    /// Returns the first packet of a queue, if it has passed the stages of its input.
    pub(super) fn joined(&self, s: usize, p: usize, queue: usize) -> Option<usize> {
        let id = *self.ports[s][p].queues[queue].front()?;
        (self.packets[id].allocatable <= self.now).then_some(id)
    }

    /// Returns the queues of an input connection in the order of its pointer.
    pub(super) fn queues_in_turn(&self, s: usize, p: usize, crossbar_input: usize) -> Vec<usize> {
        let n = self.ports[s][p].queues.len();
        let first = self.ports[s][p].crossbar_inputs[crossbar_input].next_queue;
        (0..n)
            .map(|k| (first + k) % n)
            .filter(|&queue| self.crossbar_input_of(queue) == crossbar_input)
            .collect()
    }

    /// Returns the free input connections of all inputs: each with its number, its input and its
    /// own number there.
    pub(super) fn free_crossbar_inputs(&self, s: usize) -> Vec<(usize, usize, usize)> {
        let n_crossbar_inputs = self.n_crossbar_inputs();
        let all = (0..self.ports[s].len() * n_crossbar_inputs)
            .map(|n| (n, n / n_crossbar_inputs, n % n_crossbar_inputs));
        all.filter(|&(_, p, crossbar_input)| {
            self.ports[s][p].crossbar_inputs[crossbar_input].until <= self.now
        })
        .collect()
    }

    /// Takes a granted packet from its queue; its input is occupied.
    pub(super) fn dequeue(&mut self, s: usize, p: usize, q: usize, until: u64) -> usize {
        let crossbar_input = self.crossbar_input_of(q);
        let state = &mut self.ports[s][p];
        let id = state.queues[q].pop_front().expect("a packet");
        state.crossbar_inputs[crossbar_input].until = until;
        state.crossbar_inputs[crossbar_input].next_queue = (q + 1) % state.queues.len();
        self.mark(s, p, id);
        id
    }
}

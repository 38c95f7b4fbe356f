//! A header is received, routed and queued.

use netloom_fabric::{Architecture, FlowControl, Pace};
use netloom_routing::Occasion;
use netloom_units::{NicId, Port, SwitchId};

use super::Twin;
use super::state::{Class, Sender};

impl Twin<'_> {
    pub(super) fn received(&mut self, s: usize, p: usize, id: usize, k: u64, class: Class) {
        *self.ports[s][p].in_buffer.entry(class).or_default() += 1;
        self.written.insert((s, p));
        if k > 0 {
            return;
        }
        let mut packet = self.packets[id];
        assert_eq!(packet.class, class, "the header is where it is counted");
        packet.received = self.now;
        let occasion = Occasion {
            source: NicId(packet.source),
            sequence: packet.sequence,
            hop: packet.hops,
        };
        let (at, from) = (SwitchId(s as u32), Port(p as u16));
        let (lane, to) = (self.routing_lane(packet.vl), NicId(packet.destination));
        let hop = self.plan.forwarding.route(at, from, lane, to, occasion);
        packet.hops += 1;
        packet.output = usize::from(hop.port.0);
        packet.next_vl = self.plan.channels.at_switch(at, from, hop.port, packet.sc)
            + hop.lane * self.plan.lanes_per_level();
        let onwards = Sender::Switch(s, packet.output);
        packet.next_class = self.class_ahead(onwards, &packet, packet.next_vl);
        let queue = self.queue_of(packet.vl, packet.output, packet.destination);
        if let Class::Queue(predicted) = class {
            assert_eq!(predicted as usize, queue, "the queue that was looked ahead");
        }
        let state = &mut self.ports[s][p];
        state.queues[queue].push_back(id);
        if let FlowControl::Pfc(_) = self.plan.flow_control {
            state.whole[usize::from(packet.vl)] += packet.flits as u32;
        }
        self.packets[id] = packet;
        self.packets[id].allocatable = self.allocatable(s, p, id);
    }

    /// The pace at which a packet leaves its input buffer.
    pub(super) fn input_pace(&self, s: usize, p: usize, output: usize) -> Pace {
        match &self.plan.switch.architecture {
            Architecture::Hierarchical(h) if !self.is_local(p, output) => {
                self.pace(h.mport_speedup)
            }
            Architecture::InputQueued => {
                let (flit, _) = self.flit_of(s, output);
                let pace = self.plan.switch.crossbar_pace();
                assert_eq!(
                    pace.period * u64::from(pace.den),
                    flit * u64::from(pace.num),
                    "the crossbar keeps the pace of the links"
                );
                pace
            }
            _ => self.plan.switch.crossbar_pace(),
        }
    }

    /// The first edge on which the header of a packet has passed the input and routing stages, one header
    /// per cycle, and the crossbar, starting from it, would find every flit in time.
    fn allocatable(&mut self, s: usize, p: usize, id: usize) -> u64 {
        let switch = &self.plan.switch;
        let packet = &self.packets[id];
        let cycles = switch.pipeline;
        let (flit, _) = self.flit_of(s, p);
        let pace = self.input_pace(s, p, packet.output);
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

    /// The first packet of a queue, if it has passed the stages of its input.
    pub(super) fn joined(&self, s: usize, p: usize, queue: usize) -> Option<usize> {
        let id = *self.ports[s][p].queues[queue].front()?;
        (self.packets[id].allocatable <= self.now).then_some(id)
    }

    /// The queues of an input in the order of its pointer.
    pub(super) fn queues_in_turn(&self, s: usize, p: usize) -> impl Iterator<Item = usize> + use<> {
        let n = self.ports[s][p].queues.len();
        let first = self.ports[s][p].next_queue;
        (0..n).map(move |k| (first + k) % n)
    }

    /// Takes a granted packet from its queue; its input is held.
    pub(super) fn dequeue(&mut self, s: usize, p: usize, q: usize, until: u64) -> usize {
        let state = &mut self.ports[s][p];
        let id = state.queues[q].pop_front().expect("a packet");
        state.input_until = until;
        state.next_queue = (q + 1) % state.queues.len();
        id
    }
}

//! The view of adaptive routings, and marking at inputs.
//!
//! An adaptive routing decides on the edge on which its header has passed the stages of its input,
//! before anything is granted. Headers of one edge are routed in order of their inputs.

use netloom_fabric::FlowControl;
use netloom_routing::{Occupancy, QueueView};
use netloom_topology::Peer;
use netloom_units::{Port, Sc, SwitchId};

use super::Twin;
use super::state::{Class, Kind, Occurrence, Sender};

/// The view of a routing at a switch.
pub(super) struct AdaptiveView<'a> {
    pub(super) twin: &'a Twin<'a>,
    pub(super) s: usize,
    /// The input and the service channel of the packet being routed.
    pub(super) from: Port,
    pub(super) sc: Sc,
    /// Its flits.
    pub(super) flits: u32,
}

impl AdaptiveView<'_> {
    /// Returns the lane of the link on which the packet would leave.
    fn vl(&self, output: Port, lane: u8) -> u8 {
        let plan = self.twin.plan;
        let at = SwitchId(self.s as u32);
        let (_, level) = plan.channels.at_switch(at, self.from, output, self.sc);
        level + lane * plan.lanes_per_level()
    }

    /// Returns the queues of a lane after an output that have separate credits, and the flits of
    /// each.
    fn queues(&self, vl: u8) -> Vec<(Class, u32)> {
        let (per_vl, is_per_vl) = self.twin.scheme();
        let first = if is_per_vl {
            usize::from(vl) * per_vl
        } else {
            0
        };
        let queues = (first..first + per_vl).map(|q| q as u32);
        let class = |q| (Class::Queue(q), self.twin.queue_limit(q));
        queues.map(class).collect()
    }
}

impl QueueView for AdaptiveView<'_> {
    fn queued(&self, output: Port) -> u32 {
        self.twin.waiting(self.s, output.index())
    }

    fn announced(&self, cable: Port, output: Port) -> u32 {
        let heard = &self.twin.ports[self.s][cable.index()].heard;
        heard.get(&output.index()).copied().unwrap_or(0)
    }

    /// Only PAUSE stops a lane.
    fn is_stopped(&self, output: Port, lane: u8) -> bool {
        if !self.twin.plan.flow_control.stops_senders() {
            return false;
        }
        let vl = self.vl(output, lane);
        self.twin.ports[self.s][output.index()].far.is_stopped[usize::from(vl)]
    }

    fn is_blocked(&self, output: Port, lane: u8) -> bool {
        let far = &self.twin.ports[self.s][output.index()].far;
        let vl = self.vl(output, lane);
        let sender = Sender::Switch(self.s, output.index());
        let has_room = match self.twin.plan.flow_control {
            FlowControl::QueueCredits => {
                let free =
                    |(class, limit)| limit - far.credit_used.get(&class).copied().unwrap_or(0);
                let free: u32 = self.queues(vl).into_iter().map(free).sum();
                free >= self.flits
            }
            _ => self
                .twin
                .may_send(sender, Class::Lane(vl), vl, u64::from(self.flits)),
        };
        far.link_until > self.twin.now || !has_room
    }

    fn occupancy(&self, output: Port, lane: u8) -> Occupancy {
        let far = &self.twin.ports[self.s][output.index()].far;
        let vl = self.vl(output, lane);
        let sizes = &self.twin.plan.switch.crossbar().input_buffer;
        let in_use = |class: &Class| far.credit_used.get(class).copied().unwrap_or(0);
        let most = sizes.most(usize::from(vl));
        let (used, most) = match self.twin.plan.flow_control {
            FlowControl::Pfc(_) => (far.counted[usize::from(vl)] as u32, most),
            FlowControl::Pause(_) => (far.counted.iter().sum::<i64>() as u32, sizes.total()),
            FlowControl::QueueCredits => {
                let queues = self.queues(vl);
                let used = queues.iter().map(|(class, _)| in_use(class)).sum();
                (used, queues.iter().map(|(_, limit)| limit).sum())
            }
            _ => (in_use(&Class::Lane(vl)), most),
        };
        Occupancy { used, most }
    }
}

impl Twin<'_> {
    /// Handles a header that has passed the stages of its input.
    pub(super) fn head_is_here(&mut self, s: usize, p: usize, id: usize) {
        self.ports[s][p].occupancy += self.packets[id].flits as u32;
        if self.plan.forwarding.is_adaptive() {
            self.headers[s].push((p, id));
        }
    }

    /// Returns what waits for an output, here and, as far as its sender knows, at the other end of
    /// its link.
    fn waiting(&self, s: usize, output: usize) -> u32 {
        let state = &self.ports[s][output];
        let inside = state.committed + state.space_used.iter().sum::<u32>();
        let receiver = self.receiver(Sender::Switch(s, output));
        if receiver == Peer::Unused || self.takes_all(receiver) {
            return inside;
        }
        let there = match self.plan.flow_control {
            FlowControl::Pfc(_) | FlowControl::Pause(_) => {
                state.far.counted.iter().sum::<i64>() as u32
            }
            _ => state.far.credit_used.values().sum(),
        };
        let (flit, delay) = self.flit_of(s, output);
        let in_transit = (2 * delay).div_ceil(flit) as u32;
        inside + there.saturating_sub(in_transit)
    }

    /// Records that the crossbar into an output buffer (or to a link without one) is granted.
    pub(super) fn uncommit(&mut self, s: usize, output: usize, flits: u64) {
        if self.plan.forwarding.is_adaptive() {
            let state = &mut self.ports[s][output];
            let left = state.committed.checked_sub(flits as u32);
            state.committed = left.expect("a granted packet was routed");
        }
    }

    /// Routes the headers of this edge, and records queue lengths if needed.
    pub(super) fn route_headers(&mut self, s: usize) {
        if !self.plan.forwarding.is_adaptive() {
            return;
        }
        self.announce_queues(s);
        let mut headers = std::mem::take(&mut self.headers[s]);
        headers.sort_unstable();
        for &(p, id) in &headers {
            self.route(s, p, id);
            let output = self.packets[id].output;
            self.ports[s][output].committed += self.packets[id].flits as u32;
            // Its path may be the slower one.
            let pace = self.input_pace(s, p, output);
            self.packets[id].allocatable = self.fed(s, p, id, pace).max(self.now);
        }
        let announcements = self.plan.forwarding.announcements(SwitchId(s as u32));
        let outputs = announcements.map_or(vec![], |announcements| announcements.outputs);
        if !headers.is_empty() && outputs.iter().any(|o| self.waiting(s, o.index()) != 0) {
            self.is_awaited[s] = true;
        }
    }

    /// Announces the queue lengths of the outputs of a switch that have changed, on the edges for
    /// it, if a check is pending.
    fn announce_queues(&mut self, s: usize) {
        let f = &self.plan.forwarding;
        let switch = self.plan.switch.crossbar();
        let (period, cycles) = (switch.period, switch.pipeline);
        let Some(every) = f.announced_every() else {
            return;
        };
        let is_time = self.now.is_multiple_of(u64::from(every.get()) * period);
        let Some(announcements) = f.announcements(SwitchId(s as u32)) else {
            return;
        };
        if !is_time || !self.is_awaited[s] {
            return;
        }
        self.is_awaited[s] = false;
        for output in announcements.outputs {
            let flits = self.waiting(s, output.index());
            self.is_awaited[s] |= flits != 0;
            if std::mem::replace(&mut self.ports[s][output.index()].announced, flits) == flits {
                continue;
            }
            self.counts.announced += 1;
            for cable in &announcements.cables {
                let Peer::Switch(other, port) = self.peer(s, cable.index()) else {
                    panic!("a cable to a switch");
                };
                let (_, delay) = self.flit_of(s, cable.index());
                let stage = (cycles.allocation + 1 + cycles.credit) * period;
                let there = self.now + (stage + delay).div_ceil(period) * period;
                let (other, port) = (other.index(), port.index());
                self.at(
                    there,
                    Occurrence::Announced(other, port, output.index(), flits),
                );
            }
        }
    }

    /// Marks a packet that is granted the way out of its input, if the input is congested.
    pub(super) fn mark(&mut self, s: usize, p: usize, id: usize) {
        let class = self
            .plan
            .topology
            .link_class(SwitchId(s as u32), Port(p as u16));
        let packet = &mut self.packets[id];
        let state = &mut self.ports[s][p];
        let above = self.plan.marks_above.get(usize::from(class));
        let is_congested = above.is_some_and(|above| above.is_some_and(|n| state.occupancy > n));
        if is_congested && packet.kind == Kind::Data {
            packet.is_marked = true;
            self.counts.marks += 1;
        }
        let left = state.occupancy.checked_sub(packet.flits as u32);
        state.occupancy = left.expect("a granted packet was counted");
    }
}

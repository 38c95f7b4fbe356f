//! A packet on a link, and the sender's view of the other end.

use netloom_fabric::{Architecture, FlowControl};
use netloom_routing::{Lookup, Occasion};
use netloom_topology::Peer;
use netloom_units::{NicId, Port, SwitchId};

use super::Twin;
use super::state::{Class, Far, Occurrence, Packet, Sender, room};

impl Twin<'_> {
    pub(super) fn far(&self, sender: Sender) -> &Far {
        match sender {
            Sender::Switch(s, p) => &self.ports[s][p].far,
            Sender::Nic(nic) => &self.nics[nic].far,
        }
    }

    pub(super) fn far_mut(&mut self, sender: Sender) -> &mut Far {
        match sender {
            Sender::Switch(s, p) => &mut self.ports[s][p].far,
            Sender::Nic(nic) => &mut self.nics[nic].far,
        }
    }

    /// Returns the other end of a link.
    pub(super) fn receiver(&self, sender: Sender) -> Peer {
        match sender {
            Sender::Switch(s, p) => self.peer(s, p),
            Sender::Nic(nic) => {
                let (switch, port) = self.plan.topology.attachment(NicId(nic as u32));
                Peer::Switch(switch, port)
            }
        }
    }

    /// Returns the sender of an input.
    pub(super) fn sender_to(&self, s: usize, p: usize) -> Sender {
        match self.peer(s, p) {
            Peer::Switch(up, port) => Sender::Switch(up.index(), usize::from(port.0)),
            Peer::Nic(nic) => Sender::Nic(nic.index()),
            Peer::Unused => unreachable!(),
        }
    }

    /// Returns the lane that a routing sees.
    pub(super) fn routing_lane(&self, vl: u8) -> u8 {
        if self.plan.forwarding.lanes() > 1 {
            vl / self.plan.lanes_per_level()
        } else {
            0
        }
    }

    /// Returns the class of a packet that a sender sends on a lane, looking ahead if that is a
    /// queue. `packet.hops` is the number of switches that it has passed by then.
    pub(super) fn class_ahead(&self, sender: Sender, packet: &Packet, vl: u8) -> Class {
        let Peer::Switch(at, from) = self.receiver(sender) else {
            return Class::Lane(vl);
        };
        if self.plan.flow_control == FlowControl::QueueCredits {
            Class::Queue(self.queue_ahead(at, from, packet, vl) as u32)
        } else {
            Class::Lane(vl)
        }
    }

    /// Returns the queue that a packet will join at an input.
    pub(super) fn queue_ahead(&self, at: SwitchId, from: Port, packet: &Packet, vl: u8) -> usize {
        let hop = self.plan.forwarding.route(&Lookup {
            at,
            from,
            lane: self.routing_lane(vl),
            destination: NicId(packet.destination),
            occasion: Occasion {
                source: NicId(packet.source),
                sequence: packet.sequence,
                hop: packet.hops,
            },
        });
        self.queue_of(vl, usize::from(hop.port.0), packet.destination)
    }

    fn sends_slots(&self, sender: Sender) -> bool {
        matches!(sender, Sender::Switch(s, p) if self.is_slotted(s, p, true))
    }

    /// Whether a whole packet of this class may be sent now.
    pub(super) fn may_send(&self, sender: Sender, class: Class, vl: u8, flits: u64) -> bool {
        let far = self.far(sender);
        if self.plan.flow_control.stops_senders() {
            return !far.is_stopped[usize::from(vl)];
        }
        if self.takes_all(self.receiver(sender)) {
            return true;
        }
        match class {
            Class::Lane(lane) => {
                let used: Vec<u32> = (0..self.plan.n_vls)
                    .map(|vl| far.credit_used.get(&Class::Lane(vl)).copied().unwrap_or(0))
                    .collect();
                let sizes = &self.plan.switch.crossbar().input_buffer;
                let at = usize::from(lane);
                if self.sends_slots(sender) {
                    room(&sizes.slots(&self.plan.largest), &used, at) >= 1
                } else {
                    u64::from(room(sizes, &used, at)) >= flits
                }
            }
            Class::Queue(queue) => {
                assert!(!self.sends_slots(sender), "rings are guarded lane by lane");
                let used = far.credit_used.get(&class).copied().unwrap_or(0);
                let free = self.queue_limit(queue).checked_sub(used);
                u64::from(free.expect("no overflow")) >= flits
            }
        }
    }

    /// Whether the receiver accepts every packet: a NIC has no queues to hold credits for, so it
    /// does if credits are per queue.
    pub(super) fn takes_all(&self, receiver: Peer) -> bool {
        let needs_no_credits = self.plan.flow_control == FlowControl::QueueCredits
            || self.plan.switch.crossbar().architecture == Architecture::InputQueued;
        matches!(receiver, Peer::Nic(_)) && needs_no_credits
    }

    /// Returns the flits of one queue.
    pub(super) fn queue_limit(&self, queue: u32) -> u32 {
        let (per_vl, _) = self.scheme();
        self.plan.switch.crossbar().queue_flits[queue as usize / per_vl]
    }

    /// Takes the credits of a whole packet.
    pub(super) fn take_credits(&mut self, sender: Sender, class: Class, flits: u64) {
        if self.plan.flow_control.stops_senders() {
            return;
        }
        let units = if self.sends_slots(sender) {
            1
        } else {
            flits as u32
        };
        *self.far_mut(sender).credit_used.entry(class).or_default() += units;
    }

    /// Puts a packet on a link, its first flit at `start`.
    pub(super) fn transmit(&mut self, sender: Sender, id: usize, start: u64) {
        let (flit, delay) = match sender {
            Sender::Switch(s, p) => self.flit_of(s, p),
            Sender::Nic(nic) => {
                let link = self.plan.nic_link(NicId(nic as u32));
                (link.flit, link.delay)
            }
        };
        let cycles = self.plan.switch.crossbar().pipeline;
        let is_pfc = self.plan.flow_control.stops_senders();
        let packet = &mut self.packets[id];
        packet.vl = packet.next_vl;
        packet.class = packet.next_class;
        let (flits, class, vl) = (packet.flits, packet.class, packet.vl);
        let far = self.far_mut(sender);
        assert!(far.link_until <= start, "one packet after another");
        far.link_until = start + flits * flit;
        let receiver = self.receiver(sender);
        for k in 0..flits {
            let there = start + (k + 1) * flit + delay;
            match receiver {
                Peer::Switch(s, p) => {
                    let (s, p) = (s.index(), usize::from(p.0));
                    self.at(there, Occurrence::Received(s, p, id, k, class));
                }
                Peer::Nic(nic) => {
                    self.at(there, Occurrence::ReceivedByNic(nic.index(), id, k));
                    if !is_pfc {
                        let back = there + cycles.credit * flit + delay;
                        self.at(back, Occurrence::Credit(sender, class));
                    }
                }
                Peer::Unused => unreachable!(),
            }
        }
        if is_pfc && matches!(receiver, Peer::Switch(..)) {
            let header = start + flit + delay;
            self.learn(sender, header, delay, vl, flits as i64);
        }
    }

    /// Returns the credits of a packet granted now, whose flits leave its input buffer at these
    /// times.
    pub(super) fn leave_input(&mut self, s: usize, p: usize, id: usize, passes: &[u64]) {
        let switch = self.plan.switch.crossbar();
        let (period, cycles) = (switch.period, switch.pipeline);
        let is_pfc = self.plan.flow_control.stops_senders();
        let (flits, class, vl) = {
            let packet = &self.packets[id];
            (packet.flits, packet.class, packet.vl)
        };
        let (flit, delay) = self.flit_of(s, p);
        let in_slots = self.is_slotted(s, p, false);
        let sender = self.sender_to(s, p);
        for k in 0..flits {
            let read = passes[k as usize];
            assert!(
                self.packets[id].received + k * flit <= read,
                "a flit is there when it is read"
            );
            let left = read + period;
            self.at(left, Occurrence::LeftInput(s, p, class));
            let is_last = k + 1 == flits;
            if is_pfc {
                if is_last {
                    self.at(left, Occurrence::PacketLeft(s, p, vl, flits as u32));
                    self.learn(sender, left, delay, vl, -(flits as i64));
                }
            } else if !in_slots || is_last {
                let back = left + cycles.credit * period + delay;
                self.at(back, Occurrence::Credit(sender, class));
            }
        }
    }
}

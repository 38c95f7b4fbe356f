//! Looking one hop ahead: the queue that a packet will join at the other end of a link.

use netloom_packet::Packet;
use netloom_routing::{Lookup, Occasion};
use netloom_units::{NicId, Port, SwitchId};

use crate::fabric::Fabric;
use crate::link::flow::Flow;
use crate::shared::Shared;
use crate::switch::crossbar::Crossbars;
use crate::switch::crossbar::shape::Shape;

/// The input at the other end of a port's link; absent at a NIC, which accepts every packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Beyond {
    pub(crate) switch: SwitchId,
    pub(crate) port: Port,
    pub(crate) is_switch: bool,
}

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Returns the class of a packet after an output: its lane, or the queue that it will join
    /// there.
    #[inline]
    pub(crate) fn class_ahead(&self, port: u32, vl: u8, packet: &Packet) -> u16 {
        if !S::Flow::MAY_LOOK_AHEAD || !self.switches.credits_per_queue {
            return u16::from(vl);
        }
        let beyond = self.switches.beyond[port];
        if !beyond.is_switch {
            return 0;
        }
        let occasion = Occasion {
            source: packet.source,
            sequence: packet.sequence,
            hop: packet.hops,
        };
        let (switch, port) = (beyond.switch, beyond.port);
        let queue =
            self.switches
                .queue_at(&self.shared, switch, port, vl, packet.destination, occasion);
        queue as u16
    }
}

impl<S: Shape> Crossbars<S> {
    /// Returns the queue that a packet joins at an input of a switch.
    pub(super) fn queue_at(
        &self,
        shared: &Shared,
        switch: SwitchId,
        port: Port,
        vl: u8,
        destination: NicId,
        occasion: Occasion,
    ) -> u32 {
        let output = if self.queue_map.looks_at_output() {
            let lookup = Lookup {
                at: switch,
                from: port,
                lane: self.routing_lane(vl),
                destination,
                occasion,
            };
            shared.forwarding.route(&lookup).port.0
        } else {
            0
        };
        self.queue_map.queue(vl, output, destination)
    }
}

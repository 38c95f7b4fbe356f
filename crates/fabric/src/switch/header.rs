//! The header stage of switches with adaptive routing: the view of the routing, and its call.

use netloom_packet::Packet;
use netloom_routing::{Hop, Lookup, Occasion, Occupancy, QueueView};
use netloom_units::{Port, Sc, SwitchId, Tick, Vl};

use crate::fabric::Fabric;
use crate::switch::Switches;
use crate::trace::Stage;

/// A header at an input of a switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) at: SwitchId,
    /// The first port of the switch.
    pub(crate) base: u32,
    pub(crate) from: Port,
    /// The routing's lane of arrival.
    pub(crate) lane: u8,
}

/// An output and lane by which a packet could leave a switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub(crate) header: Header,
    pub(crate) sc: Sc,
    pub(crate) output: Port,
    /// The routing's lane.
    pub(crate) lane: u8,
}

/// The view of a switch for one header: its own outputs, and announcements of others.
struct Outputs<'a, S: Switches> {
    fabric: &'a Fabric<S>,
    header: Header,
    sc: Sc,
    flits: u16,
    now: Tick,
}

impl<S: Switches> Outputs<'_, S> {
    /// Returns the exit at an output on a lane.
    fn exit(&self, output: Port, lane: u8) -> Exit {
        Exit {
            header: self.header,
            sc: self.sc,
            output,
            lane,
        }
    }
}

impl<S: Switches> QueueView for Outputs<'_, S> {
    #[inline(always)]
    fn queued(&self, output: Port) -> u32 {
        let output = self.header.base + u32::from(output.0);
        self.fabric.switches.queued(output, self.now)
    }

    /// Not inlined, since few routings use it.
    #[cold]
    #[inline(never)]
    fn announced(&self, cable: Port, output: Port) -> u32 {
        let announcing = self.fabric.switches.announcing();
        let cable = self.header.base + u32::from(cable.0);
        announcing.map_or(0, |all| all.heard(cable, output))
    }

    fn is_stopped(&self, output: Port, lane: u8) -> bool {
        S::is_stopped(self.fabric, self.exit(output, lane))
    }

    /// Not inlined, like the next one, since few routings use it.
    #[cold]
    #[inline(never)]
    fn is_blocked(&self, output: Port, lane: u8) -> bool {
        S::is_blocked(self.fabric, self.exit(output, lane), self.flits, self.now)
    }

    #[cold]
    #[inline(never)]
    fn occupancy(&self, output: Port, lane: u8) -> Occupancy {
        S::occupancy(self.fabric, self.exit(output, lane), self.now)
    }
}

impl<S: Switches> Fabric<S> {
    /// Returns the hop of a packet by the queues of outputs, and its new routing word.
    #[inline(always)]
    pub(crate) fn hop_by_queues(&self, now: Tick, header: Header, packet: &Packet) -> (Hop, u8) {
        let lookup = Lookup {
            at: header.at,
            from: header.from,
            lane: header.lane,
            destination: packet.destination,
            occasion: Occasion {
                source: packet.source,
                sequence: packet.sequence,
                hop: packet.hops,
            },
        };
        let mut word = packet.label.word();
        let view = Outputs {
            fabric: self,
            header,
            sc: packet.label.sc(),
            flits: packet.flits,
            now,
        };
        let forwarding = &self.shared.forwarding;
        (forwarding.route_seeing(&lookup, &mut word, &view), word)
    }

    /// Records that a header was received and routed, if its packet is followed.
    #[cold]
    pub(crate) fn note_header(
        &mut self,
        now: Tick,
        packet: &Packet,
        (switch, input): (SwitchId, Port),
        (output, vl): (Port, u8),
    ) {
        let received = Stage::Received { switch, input };
        self.shared.note(packet, packet.arrival, received);
        let routed = Stage::Routed {
            switch,
            output,
            vl: Vl(vl),
        };
        self.shared.note(packet, now, routed);
    }
}

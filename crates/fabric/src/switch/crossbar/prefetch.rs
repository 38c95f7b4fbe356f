//! Prefetching for events: a large fabric waits for memory, so the accesses of many events are
//! overlapped.
//!
//! The lines of a port are those of [`CrossbarPort`](super::port::CrossbarPort): 0 is its input
//! side, 1 its output side, 2 the space in its buffer, 3 the space at the other end, 4 arbiter and
//! counters.

use crate::fabric::Fabric;
use crate::switch::PeerRecord;
use crate::switch::crossbar::Crossbars;
use crate::switch::crossbar::event::Event;
use crate::switch::crossbar::shape::Shape;

/// Number of ports, at five lines each, that fit into the nearest caches together with everything
/// else. Tests always prefetch, so that every access of it is checked.
pub(super) const MOST_IN_CACHE: usize = if cfg!(debug_assertions) { 0 } else { 1000 };

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Prefetches the state that an event touches first.
    #[inline(always)]
    pub(super) fn ask_for(&self, event: Event) {
        let (switches, endpoints) = (&self.switches, &self.endpoints);
        let port_lines = |port: u32, lines: [usize; 2]| {
            for line in lines {
                switches.ports.prefetch(port, line);
            }
        };
        let nic_lines = |nic: u32| {
            for line in 0..3 {
                endpoints.nics.prefetch(nic, line);
            }
        };
        match event {
            Event::Head {
                vl, port, packet, ..
            } => {
                switches.ports.prefetch(port, 0);
                switches.packets.prefetch(packet);
                let first = port * switches.n_queues as u32;
                switches.input_queues.prefetch(first + u32::from(vl), 0);
            }
            Event::Output { port, packet, .. } => {
                port_lines(port, [1, 4]);
                switches.packets.prefetch(packet);
            }
            Event::Credit { port, .. } => port_lines(port, [1, 3]),
            Event::ReleaseInput { port } => switches.ports.prefetch(port, 0),
            Event::ReleaseOutput { port } | Event::Link { port } => {
                switches.ports.prefetch(port, 1);
            }
            Event::ReleaseBoth { input, output } => {
                switches.ports.prefetch(input, 0);
                switches.ports.prefetch(output, 1);
            }
            Event::Deliver { nic, packet } => {
                switches.packets.prefetch(packet);
                endpoints.nics.prefetch(nic, 0);
            }
            Event::Arrival { nic, .. } => {
                nic_lines(nic);
                endpoints.queues.prefetch(nic * endpoints.n_slots as u32, 0);
            }
            Event::NicCredit { nic, .. } | Event::NicLink { nic } => nic_lines(nic),
            _ => {}
        }
    }

    /// Prefetches the state that a packet touches when it crosses: its output, and the sender that
    /// gets its credits.
    #[inline(always)]
    pub(super) fn ask_for_crossing(&self, input: u32, output: u16) {
        let switches = &self.switches;
        let port = &switches.ports[input];
        let asked = switches.states[port.switch].base + u32::from(output);
        for line in 1..5 {
            switches.ports.prefetch(asked, line);
        }
        match port.peer {
            PeerRecord::Port(sender) => {
                switches.ports.prefetch(sender, 1);
                switches.ports.prefetch(sender, 3);
            }
            PeerRecord::Nic(nic) => {
                self.endpoints.nics.prefetch(nic, 0);
                self.endpoints.nics.prefetch(nic, 1);
            }
            PeerRecord::Remote(..) | PeerRecord::Nobody => {}
        }
    }
}

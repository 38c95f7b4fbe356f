//! Waits between buffers, for the detection of deadlock.
//!
//! Inside a switch, a packet at an input waits for its output, whatever buffer between the two
//! holds it. A packet in an output buffer waits for the input at the other end of the link. A cycle
//! of such waits never ends.

use crate::Waiting;
use netloom_units::{Port, SwitchId, Tick, Vl};

use crate::fabric::Fabric;
use crate::switch::NIL;
use crate::switch::PeerRecord;
use crate::switch::tiled::Tiles;
use crate::switch::tiled::record::Fifo;

impl Fabric<Tiles> {
    /// Adds all waits of this partition. `wait_limit` is how long a packet must have waited at an
    /// input before the search starts; returns `false` if none has.
    pub(crate) fn waits(
        &self,
        now: Tick,
        wait_limit: u64,
        edges: &mut Vec<(u64, u64)>,
        remote: &dyn Fn(u16, u32) -> (SwitchId, Port),
    ) -> bool {
        let mut is_stalled = false;
        let lanes = self.switches.geometry.lanes;
        for (at, port) in self.switches.ports.iter().enumerate() {
            let at = at as u32;
            let switch = self.switches.states[port.switch].id;
            let here = |number: u8, is_output: bool, vc: u8| Waiting {
                switch,
                port: Port(u16::from(number)),
                is_output,
                vl: Vl(vc),
                towards: 0,
            };
            for vc in 0..lanes {
                let from = here(port.number, false, vc as u8).key();
                let mut wait = |queue: &Fifo| {
                    if queue.head != NIL {
                        let record = &self.switches.packets[queue.head];
                        edges.push((from, here(record.output, true, record.vc).key()));
                    }
                };
                let queue = &self.switches.input_queues[at * lanes + vc];
                wait(queue);
                if queue.head != NIL && port.bus_until <= now {
                    let since = self.switches.packets[queue.head].packet.arrival;
                    is_stalled |= now.saturating_since(since.max(port.bus_until)) > wait_limit;
                }
            }
            if port.link_until > now {
                continue;
            }
            let next = match port.peer {
                PeerRecord::Port(next) => {
                    let next = &self.switches.ports[next];
                    let number = Port(u16::from(next.number));
                    (self.switches.states[next.switch].id, number)
                }
                PeerRecord::Remote(partition, next) => remote(partition, next),
                PeerRecord::Nic(_) | PeerRecord::Nobody => continue,
            };
            for vc in 0..lanes {
                if !self.switches.output_queues[at * lanes + vc].is_empty() {
                    let there = Waiting {
                        switch: next.0,
                        port: next.1,
                        is_output: false,
                        vl: Vl(vc as u8),
                        towards: 0,
                    };
                    edges.push((here(port.number, true, vc as u8).key(), there.key()));
                }
            }
        }
        is_stalled
    }
}

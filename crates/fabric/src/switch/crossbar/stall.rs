//! Waits between buffers, for the detection of deadlock.
//!
//! A packet at the head of an input queue waits for space in an output buffer. A packet at the head
//! of an output queue waits for credits, that is, for the queues of the input buffer at the other
//! end. A cycle of such waits never ends.

use netloom_units::{Port, SwitchId, Tick, Vl};

use crate::fabric::Fabric;
use crate::simulation::Waiting;
use crate::switch::crossbar::Crossbars;
use crate::switch::crossbar::mask::Set;
use crate::switch::crossbar::shape::Shape;
use crate::switch::crossbar::wire::Passage;
use crate::switch::{NIL, PeerRecord};

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Adds all waits of this partition as pairs of keys. `wait_limit` is how long a packet must
    /// have waited at an input before the search starts; returns `false` if none has.
    pub(crate) fn waits(
        &self,
        now: Tick,
        wait_limit: u64,
        edges: &mut Vec<(u64, u64)>,
        remote: &dyn Fn(u16, u32) -> (SwitchId, Port),
    ) -> bool {
        let mut is_stalled = false;
        for (at, port) in self.switches.ports.iter().enumerate() {
            let here = |is_output: bool, vl: u8, towards: u16| Waiting {
                switch: self.switches.states[port.switch].id,
                port: Port(self.owner_number(port.switch, port.number)),
                is_output,
                vl: Vl(vl),
                towards,
            };
            let base = self.switches.states[port.switch].base;
            let mut turn = port.ready.turn(0);
            while let Some(q) = port.ready.next_in(&mut turn) {
                let queue = &self.switches.input_queues[(at * self.switches.n_queues + q) as u32];
                let first = &self.switches.packets[queue.head];
                let waited = now.saturating_since(first.packet.arrival.max(port.input_until));
                is_stalled |= waited > wait_limit;
                let crossing = base + u32::from(queue.output);
                if self.switches.ports[crossing].output_until > now {
                    continue;
                }
                let from = self.queue_waits(here(false, 0, 0), q as u32).key();
                if !S::HAS_OUTPUT_BUFFER {
                    let class = self.switches.credits_per_queue.then_some(queue.class);
                    self.waits_beyond(crossing, queue.vl, class, from, edges, remote);
                    continue;
                }
                let target = match self.passage(port.switch, usize::from(queue.output)) {
                    Passage::ToCentre => Waiting {
                        port: Port(queue.output),
                        ..here(false, queue.vl, 0)
                    },
                    _ => Waiting {
                        port: Port(first.output),
                        ..here(true, queue.vl, 0)
                    },
                };
                edges.push((from, target.key()));
            }
            if port.link_until > now {
                continue;
            }
            for vl in 0..self.switches.n_vls as u8 {
                let queue = &self.switches.output_queues
                    [(at * self.switches.n_vls + usize::from(vl)) as u32];
                if queue.head == NIL {
                    continue;
                }
                let class = self.switches.credits_per_queue.then_some(queue.class);
                let from = here(true, vl, 0).key();
                self.waits_beyond(at as u32, vl, class, from, edges, remote);
            }
        }
        is_stalled
    }

    /// Returns a queue of an input as one end of a wait.
    fn queue_waits(&self, input: Waiting, queue: u32) -> Waiting {
        Waiting {
            vl: Vl(self.switches.queue_map.lane_of(queue)),
            towards: (queue % self.switches.queue_map.per_lane) as u16,
            ..input
        }
    }

    /// Adds a wait for space at the other end of a port's link: for one queue of that input, or for
    /// any of a lane.
    fn waits_beyond(
        &self,
        port: u32,
        vl: u8,
        class: Option<u16>,
        from: u64,
        edges: &mut Vec<(u64, u64)>,
        remote: &dyn Fn(u16, u32) -> (SwitchId, Port),
    ) {
        let (switch, number) = match self.switches.ports[port].peer {
            PeerRecord::Port(next) => {
                (self.switch_id(next), Port(self.switches.ports[next].number))
            }
            PeerRecord::Remote(partition, next) => remote(partition, next),
            PeerRecord::Nic(_) | PeerRecord::Nobody => return,
        };
        let input = Waiting {
            switch,
            port: number,
            is_output: false,
            vl: Vl(0),
            towards: 0,
        };
        let first = self.switches.queue_map.first_of_lane(vl);
        let queues = match class {
            Some(queue) => u32::from(queue)..u32::from(queue) + 1,
            None => first..first + self.switches.queue_map.per_lane,
        };
        edges.extend(queues.map(|queue| (from, self.queue_waits(input, queue).key())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_wait() {
        let wait = Waiting {
            switch: SwitchId(12_287),
            port: Port(127),
            is_output: true,
            vl: Vl(15),
            towards: 511,
        };
        assert_eq!(Waiting::from_key(wait.key()), wait);
    }
}

//! What switches tell their neighbours of their queues, where a routing asks for it (UGAL-G).
//!
//! At edges a fixed number of cycles apart a switch looks at the outputs that it announces and tells those whose
//! queues have changed; each neighbour knows as late as it would know of a credit. Announcements travel beside the
//! packets and take nothing of their links. A switch for whose announced outputs nothing waits does not look: a queue
//! can only grow by a packet that is routed, and that makes it look again.

use netloom_engine::{EventQueue, Outbox};
use netloom_packet::Rows;
use netloom_routing::Forwarding;
use netloom_units::{Port as PortNumber, SwitchId, Tick};

use crate::event::Event;
use crate::model::TiledFabric;
use crate::record::Parcel;
use crate::switch::{Peer, members};

/// What the switches of a partition tell and have been told.
#[derive(Clone, Debug)]
pub(crate) struct Announcing {
    /// Ticks between two looks.
    period: u64,
    tellers: Rows<Teller>,
    /// By port: what was last told of it as an output.
    told: Rows<u32>,
    /// By port and output of the switch at the other end: what was last heard of it.
    heard: Rows<u32>,
}

/// What a switch tells to whom, one bit per port.
#[derive(Clone, Copy, Debug, Default)]
struct Teller {
    outputs: u64,
    cables: u64,
    /// A look is awaited, and it is now.
    is_awaited: bool,
    is_due: bool,
}

fn set_of(ports: &[PortNumber]) -> u64 {
    ports.iter().fold(0, |set, port| set | 1 << port.0)
}

impl Announcing {
    /// What switches of so many ports tell; `None` if the routing asks for nothing.
    pub(crate) fn new(
        forwarding: &Forwarding,
        switches: &[SwitchId],
        n_ports: u32,
        cycle: u64,
    ) -> Option<Self> {
        let every = forwarding.announced_every()?;
        let tellers = switches.iter().map(|&id| {
            let told = forwarding.announcements(id);
            told.map_or(Teller::default(), |told| Teller {
                outputs: set_of(&told.outputs),
                cables: set_of(&told.cables),
                ..Teller::default()
            })
        });
        let n = switches.len() * n_ports as usize;
        Some(Announcing {
            period: u64::from(every.get()) * cycle,
            tellers: tellers.collect::<Vec<_>>().into(),
            told: vec![0; n].into(),
            heard: vec![0; n * n_ports as usize].into(),
        })
    }

    /// What was last heard of an output over a cable.
    #[inline]
    pub(super) fn heard(&self, cable: u32, output: PortNumber, n_ports: u32) -> u32 {
        self.heard[cable * n_ports + u32::from(output.0)]
    }
}

impl TiledFabric {
    /// It is time to look.
    pub(crate) fn announcement_due<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        if let Some(announcing) = &mut self.announcing {
            announcing.tellers[switch].is_due = true;
            self.tell_switch(switch, out);
        }
    }

    /// A neighbour has told something.
    pub(crate) fn announcement_heard(&mut self, port: u32, output: u8, flits: u32) {
        let n_ports = self.geometry.ports;
        if let Some(announcing) = &mut self.announcing {
            announcing.heard[port * n_ports + u32::from(output)] = flits;
        }
    }

    /// Tells the neighbours of a switch what has changed since it last told them, if it is time.
    #[cold]
    #[inline(never)]
    pub(super) fn announce<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        switch: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let Some(mut announcing) = self.announcing.take_if(|all| all.tellers[switch].is_due) else {
            return;
        };
        let base = switch * self.geometry.ports;
        let teller = announcing.tellers[switch];
        announcing.tellers[switch] = Teller {
            is_awaited: false,
            is_due: false,
            ..teller
        };
        for output in members(teller.outputs) {
            let flits = self.queued(base + output);
            if std::mem::replace(&mut announcing.told[base + output], flits) == flits {
                continue;
            }
            let output = output as u8;
            for cable in members(teller.cables) {
                let cable = &self.ports[base + cable];
                let when = now + self.wires[u32::from(cable.wire)].credit;
                let event = |port| Event::Announced {
                    output,
                    port,
                    flits,
                };
                match cable.peer {
                    Peer::Port(port) => out.at(when, event(port)),
                    Peer::Remote(partition, port) => {
                        out.send(partition, when, event(port), Parcel::default());
                    }
                    Peer::Nic(_) | Peer::Nobody => unreachable!("a cable to a switch"),
                }
            }
        }
        let is_waited_for = |output| announcing.told[base + output] != 0;
        let goes_on = members(teller.outputs).any(is_waited_for);
        self.announcing = Some(announcing);
        if goes_on {
            self.look_at_announced(now, switch, out);
        }
    }

    /// A packet has been routed: a switch that had nothing waiting for its announced outputs did not look at them, and
    /// now has to.
    #[cold]
    #[inline(never)]
    pub(super) fn await_announcement<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        switch: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let base = switch * self.geometry.ports;
        let Some(announcing) = &self.announcing else {
            return;
        };
        let teller = announcing.tellers[switch];
        let is_waited_for = |output| self.queued(base + output) != 0;
        if !teller.is_awaited && members(teller.outputs).any(is_waited_for) {
            self.look_at_announced(now, switch, out);
        }
    }

    /// Looks at the next edge of those on which switches announce.
    fn look_at_announced<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        switch: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        if let Some(announcing) = &mut self.announcing {
            announcing.tellers[switch].is_awaited = true;
            let next = now.0 / announcing.period + 1;
            out.at(Tick(next * announcing.period), Event::Announce { switch });
        }
    }
}

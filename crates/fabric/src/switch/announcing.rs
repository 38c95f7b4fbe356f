//! Announcements of queue lengths to neighbours, for routings that need them (UGAL-G).
//!
//! At edges a fixed number of cycles apart, a switch checks the outputs that it announces and sends
//! those whose queues have changed. Neighbours receive them with the delay of a credit.
//! Announcements use no bandwidth of the links. A switch whose announced outputs have empty queues
//! stops checking until it routes a header again, since with credits a queue can only grow by a
//! routed packet. With PAUSE, the count of a receiver may be known later than that; it is announced
//! with the next header.

use netloom_encoding::{Invalid, State, Validity, ensure, ensure_below};
use netloom_engine::Outbox;
use netloom_units::{Port, SwitchId, Tick};

use crate::fabric::Fabric;
use crate::parcel::Parcel;
use crate::plan::FabricPlan;
use crate::rows::Rows;
use crate::switch::{Events, PeerRecord, Switches};

/// The announcements sent and received by the switches of a partition.
#[derive(Clone, Debug, State)]
pub(crate) struct Announcing {
    /// Ticks between two checks.
    #[state(constant)]
    period: u64,
    #[state(part)]
    tellers: Rows<Teller>,
    /// By port: the last announcement of it as an output.
    #[state(records)]
    announced: Rows<u32>,
    /// By port and output of the switch at the other end: the last announcement received.
    #[state(records)]
    heard: Rows<u32>,
    /// Ports of the largest switch.
    #[state(constant)]
    radix: u32,
}

/// The announced outputs of a switch and the receivers: port records of the partition.
#[derive(Clone, Debug, Default, State)]
struct Teller {
    /// With their numbers on the switch.
    #[state(constant)]
    outputs: Box<[(u16, u32)]>,
    #[state(constant)]
    cables: Box<[u32]>,
    /// Whether a check is pending and due now.
    is_awaited: bool,
    is_due: bool,
}

impl Announcing {
    /// Creates the state for announcements, if the routing needs them. `records` returns the first
    /// port record of a switch and the number of its records.
    pub(crate) fn new(
        plan: &FabricPlan,
        switches: &[SwitchId],
        records: &dyn Fn(SwitchId) -> (u32, u32),
    ) -> Option<Self> {
        let every = plan.forwarding.announced_every()?;
        let teller = |id: SwitchId| {
            let announcements = plan.forwarding.announcements(id)?;
            let first = records(id).0;
            let record = |port: &Port| first + u32::from(port.0);
            Some(Teller {
                outputs: announcements
                    .outputs
                    .iter()
                    .map(|p| (p.0, record(p)))
                    .collect(),
                cables: announcements.cables.iter().map(record).collect(),
                ..Teller::default()
            })
        };
        let tellers = switches.iter().map(|&id| teller(id).unwrap_or_default());
        let n: u32 = switches.iter().map(|&id| records(id).1).sum();
        let radix = u32::from(plan.topology.radix());
        Some(Announcing {
            period: u64::from(every.get()) * plan.switch.period(),
            tellers: tellers.collect::<Vec<_>>().into(),
            announced: vec![0; n as usize].into(),
            heard: vec![0; (n * radix) as usize].into(),
            radix,
        })
    }

    /// Validates that no past announcement is due and that queues are not longer than a buffer
    /// could be.
    pub(crate) fn validate(&self) -> Validity {
        ensure(self.tellers.iter().all(|teller| !teller.is_due), || {
            Invalid::new("announcements", "none due", "one")
        })?;
        for &flits in self.announced.iter().chain(&self.heard) {
            ensure_below("flits announced", flits, 1u64 << 28)?;
        }
        Ok(())
    }

    /// Returns the last announcement of an output over a cable.
    #[inline]
    pub(crate) fn heard(&self, cable: u32, output: Port) -> u32 {
        self.heard[cable * self.radix + u32::from(output.0)]
    }
}

impl<S: Switches> Fabric<S> {
    /// Handles the time of a check.
    pub(crate) fn announcement_due(&mut self, switch: u32, out: &mut Outbox<Self>) {
        if let Some(announcing) = self.switches.announcing_mut() {
            announcing.tellers[switch].is_due = true;
            S::wake(self, switch, out);
        }
    }

    /// Handles an announcement from a neighbour.
    pub(crate) fn announcement_heard(&mut self, port: u32, output: u16, flits: u32) {
        if let Some(announcing) = self.switches.announcing_mut() {
            let at = port * announcing.radix + u32::from(output);
            announcing.heard[at] = flits;
        }
    }

    /// Announces the changes since the last announcement to the neighbours of a switch, if it is
    /// time.
    #[cold]
    #[inline(never)]
    pub(crate) fn announce(&mut self, now: Tick, switch: u32, out: &mut Outbox<Self>) {
        let Some(announcing) = self.switches.announcing_mut() else {
            return;
        };
        let teller = &mut announcing.tellers[switch];
        if !teller.is_due {
            return;
        }
        (teller.is_awaited, teller.is_due) = (false, false);
        let teller = teller.clone();
        let mut is_waited_for = false;
        for &(output, record) in &teller.outputs {
            let flits = self.switches.queued(record, now);
            is_waited_for |= flits != 0;
            let Some(announcing) = self.switches.announcing_mut() else {
                return;
            };
            if std::mem::replace(&mut announcing.announced[record], flits) == flits {
                continue;
            }
            for &cable in &teller.cables {
                let (peer, delay) = self.switches.cable(cable);
                let event = |port| S::Event::announced(port, output, flits);
                match peer {
                    PeerRecord::Port(port) => out.at(now + delay, event(port)),
                    PeerRecord::Remote(partition, port) => {
                        out.send(partition, now + delay, event(port), Parcel::default());
                    }
                    // tidy: allow the name of a variant
                    PeerRecord::Nic(_) | PeerRecord::Nobody => unreachable!("a cable to a switch"),
                }
            }
        }
        if is_waited_for {
            self.look_at_announced(now, switch, out);
        }
    }

    /// Schedules a check after a packet has been routed, if the switch had stopped checking because
    /// nothing waited for its announced outputs.
    #[cold]
    #[inline(never)]
    pub(crate) fn await_announcement(&mut self, now: Tick, switch: u32, out: &mut Outbox<Self>) {
        let Some(announcing) = self.switches.announcing() else {
            return;
        };
        let teller = &announcing.tellers[switch];
        let is_waited_for = |&(_, record): &(u16, u32)| self.switches.queued(record, now) != 0;
        if !teller.is_awaited && teller.outputs.iter().any(is_waited_for) {
            self.look_at_announced(now, switch, out);
        }
    }

    /// Schedules a check on the next edge on which switches announce.
    fn look_at_announced(&mut self, now: Tick, switch: u32, out: &mut Outbox<Self>) {
        if let Some(announcing) = self.switches.announcing_mut() {
            announcing.tellers[switch].is_awaited = true;
            let next = now.0 / announcing.period + 1;
            let when = Tick(next * announcing.period);
            out.at(when, S::Event::announce(switch));
        }
    }
}

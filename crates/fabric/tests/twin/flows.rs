//! Flows: the packets of a NIC for a destination on a channel, which take turns within windows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use netloom_fabric::{Cuts, NicQueues, Window};
use netloom_units::{NicId, Sc};

use super::Twin;
use super::state::{Kind, Message, Packet, Ready};

/// A flow by its destination and the queue of its channel.
pub(super) type Key = (u32, usize);

#[derive(Default)]
struct Flow {
    messages: VecDeque<Message>,
    /// Flits that were sent and not acknowledged.
    in_flight: u32,
    /// The part of the window lost by cuts and not regained, in 1/65536 flit, as of `changed`.
    missing: u64,
    changed: u64,
    /// Packets from this number on were sent after the last cut.
    sent_since: u32,
    is_parked: bool,
}

/// 1 flit of a window.
const ONE: u64 = 65_536;

impl Flow {
    /// Returns the current window, growth included.
    fn window(&self, limit: Window, now: u64) -> u64 {
        let grown = (now / limit.step - self.changed / limit.step) * ONE;
        u64::from(limit.most) * ONE - self.missing.saturating_sub(grown)
    }

    fn cut(&mut self, limit: Window, now: u64) {
        let (num, den) = limit.cut;
        let cut = self.window(limit, now) * u64::from(num) / u64::from(den);
        let window = cut.max(u64::from(limit.least) * ONE);
        self.missing = u64::from(limit.most) * ONE - window;
        self.changed = now;
    }
}

/// The flows of a NIC.
pub(super) struct Flows {
    of: BTreeMap<Key, Flow>,
    /// By queue: flows with packets to send that are not held back, in turn.
    rings: Vec<VecDeque<Key>>,
    /// Flows that join their rings at this tick.
    joining: BTreeSet<Key>,
}

impl Flows {
    pub(super) fn new(n_slots: usize) -> Self {
        Flows {
            of: BTreeMap::new(),
            rings: vec![VecDeque::new(); n_slots],
            joining: BTreeSet::new(),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        let idle = |flow: &Flow| flow.messages.is_empty() && flow.in_flight == 0;
        self.of.values().all(idle) && self.rings.iter().all(VecDeque::is_empty)
    }
}

impl Twin<'_> {
    pub(super) fn has_flows(&self) -> bool {
        let endpoints = &self.plan.endpoints;
        endpoints.control.is_some() || endpoints.queues == NicQueues::SendQueues
    }

    fn window_of_plan(&self) -> Option<Window> {
        let control = self.plan.endpoints.control.as_ref()?;
        Some(control.window().expect("the built-in window"))
    }

    /// Returns the queue of a NIC for a channel.
    pub(super) fn slot_of(&self, sc: Sc) -> usize {
        if self.plan.endpoints.queues == NicQueues::SendQueues {
            return 0;
        }
        let slot = self.slots.iter().position(|&(known, _)| known == sc);
        slot.expect("a queue per channel")
    }

    /// Adds a message to its flow.
    pub(super) fn join_flow(&mut self, nic: usize, message: Message) {
        let key = (message.destination, self.slot_of(message.sc));
        let flows = &mut self.nics[nic].flows;
        let flow = flows.of.entry(key).or_default();
        if flow.messages.is_empty() {
            assert!(!flow.is_parked, "a flow without messages is not held back");
            flows.joining.insert(key);
        }
        flow.messages.push_back(message);
    }

    /// Returns the next packet of a flow.
    fn next_of_flow(&self, nic: usize, key: Key) -> Ready {
        let flow = &self.nics[nic].flows.of[&key];
        let mut message = *flow.messages.front().expect("something to send");
        message.cut(self.plan)
    }

    /// Whether the window of a flow admits its next packet.
    fn is_admitted(&self, nic: usize, key: Key) -> bool {
        let Some(limit) = self.window_of_plan() else {
            return true;
        };
        let flow = &self.nics[nic].flows.of[&key];
        let flits = u32::from(self.next_of_flow(nic, key).flits);
        u64::from(flow.in_flight + flits) * ONE <= flow.window(limit, self.now)
    }

    /// Returns a parked flow to its ring if its window admits its next packet.
    fn unpark(&mut self, nic: usize, key: Key) {
        if self.nics[nic].flows.of[&key].is_parked && self.is_admitted(nic, key) {
            let flows = &mut self.nics[nic].flows;
            flows.of.get_mut(&key).expect("a flow").is_parked = false;
            flows.joining.insert(key);
        }
    }

    /// Handles an acknowledgement at the NIC that sent the packet.
    pub(super) fn acknowledged(&mut self, nic: usize, answer: Packet) {
        let Kind::Acknowledgement {
            of,
            flits,
            is_marked,
        } = answer.kind
        else {
            unreachable!("an acknowledgement");
        };
        if !self.has_flows() {
            return;
        }
        let began = self.channel(answer.sl, nic as u32, answer.source);
        let key = (answer.source, self.slot_of(began));
        let (now, limit) = (self.now, self.window_of_plan());
        let next = self.nics[nic].sequence;
        let flow = self.nics[nic].flows.of.get_mut(&key);
        let flow = flow.expect("an acknowledged packet was sent");
        let left = flow.in_flight.checked_sub(flits);
        flow.in_flight = left.expect("a packet is acknowledged once");
        if let Some(limit) = limit {
            let is_news = limit.cuts == Cuts::EveryMark || of >= flow.sent_since;
            if is_marked && is_news {
                flow.cut(limit, now);
                flow.sent_since = next;
                self.counts.cuts += 1;
            }
        }
        self.unpark(nic, key);
    }

    /// Grows windows, and adds flows that have new messages, or may send again, to their rings.
    pub(super) fn join_rings(&mut self, nic: usize) {
        if !self.has_flows() {
            return;
        }
        let flit = self.plan.nic_link(NicId(nic as u32)).flit;
        if self.now.is_multiple_of(flit) {
            let flows = self.nics[nic].flows.of.iter();
            let parked = flows.filter(|(_, flow)| flow.is_parked);
            let parked: Vec<Key> = parked.map(|(&key, _)| key).collect();
            for key in parked {
                self.unpark(nic, key);
            }
        }
        let flows = &mut self.nics[nic].flows;
        for key in std::mem::take(&mut flows.joining) {
            flows.rings[key.1].push_back(key);
        }
    }

    /// Returns the packet of the flow whose turn it is on a queue, and parks flows before it that
    /// may not send.
    pub(super) fn first_admitted(&mut self, nic: usize, slot: usize) -> Option<Ready> {
        loop {
            let &key = self.nics[nic].flows.rings[slot].front()?;
            if self.is_admitted(nic, key) {
                return Some(self.next_of_flow(nic, key));
            }
            let flows = &mut self.nics[nic].flows;
            flows.rings[slot].pop_front();
            flows.of.get_mut(&key).expect("a flow").is_parked = true;
            self.counts.parked += 1;
        }
    }

    /// Sends the packet of the flow whose turn it is on a queue.
    pub(super) fn take_from_flow(&mut self, nic: usize, slot: usize) {
        let plan = self.plan;
        let flows = &mut self.nics[nic].flows;
        let key = flows.rings[slot].pop_front().expect("a flow");
        let flow = flows.of.get_mut(&key).expect("a flow");
        let message = flow.messages.front_mut().expect("something to send");
        let ready = message.cut(plan);
        if ready.is_last {
            flow.messages.pop_front();
        }
        if plan.endpoints.acknowledgement.is_some() {
            flow.in_flight += u32::from(ready.flits);
        }
        if !flow.messages.is_empty() {
            flows.rings[slot].push_back(key);
        }
    }
}

//! Flows: a send queue per destination, held back by a congestion control.
//!
//! Flows with packets to send are in the ring of their channel and take turns packet by packet. A
//! flow that its control holds back leaves the ring until an acknowledgement or time lets it
//! continue.

use std::sync::Arc;

use netloom_arbitration::Head;
use netloom_encoding::{Encoded, Invalid, State, Validity, ensure, ensure_below, ensure_equal};
use netloom_engine::Outbox;
use netloom_packet::{Cut, Label, Packet};
use netloom_units::{Clock, NicId, Sc, Sl, Tick, Vl};
use rustc_hash::FxHashMap;

use crate::endpoint::Message;
use crate::endpoint::control::{Control, Echo, FlowState, Window};
use crate::fabric::Fabric;
use crate::parcel::{Flags, Parcel};
use crate::rows::Rows;
use crate::slab::{Claims, Slab};
use crate::switch::{Events, NIL, Switches};
use crate::validation::Bounds;

/// The state of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encoded)]
enum Standing {
    Idle,
    /// In its ring, or about to join it.
    Active,
    /// Held back by its control.
    Parked,
}

/// The packets from one NIC to another on one channel: the send queue and the state of the control.
#[derive(Clone, Copy, Debug, Encoded)]
struct Flow {
    destination: NicId,
    slot: u8,
    standing: Standing,
    head: u32,
    tail: u32,
    /// The next flow of the ring.
    next: u32,
    /// Flits not yet acknowledged.
    in_flight: u32,
    state: FlowState,
    /// When the flow is checked again even without an acknowledgement.
    wake: Tick,
}

/// Destination and channel of a flow in one word, for hashing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Encoded)]
struct Key(u64);

impl Key {
    #[inline(always)]
    fn new(destination: NicId, slot: u8) -> Self {
        Key(u64::from(destination.0) << 8 | u64::from(slot))
    }
}

/// The flows of a NIC.
#[derive(Debug, Default, State)]
struct Sender {
    by_destination: FxHashMap<Key, u32>,
    /// Flows that became active in this tick.
    activated: Vec<u32>,
    /// First and last flow of the ring of each channel.
    #[state(records)]
    rings: Box<[(u32, u32)]>,
    /// Whether nothing was sent for lack of space at the first switch, and none has been freed
    /// since.
    is_blocked: bool,
}

/// The next packet of a flow: the cut from its message, and its path at the first switch.
#[derive(Clone, Copy, Debug, Default)]
struct Offer {
    cut: Cut,
    vl: u8,
    class: u16,
}

/// The control of all flows; the built-in one is called directly.
#[derive(Debug)]
enum Controller {
    Free,
    Window(Window),
    Own(Arc<dyn Control>),
}

/// The flows of all NICs of a partition.
#[derive(Debug, State)]
pub(crate) struct Flows {
    #[state(constant)]
    controller: Controller,
    flows: Slab<Flow>,
    #[state(part)]
    senders: Rows<Sender>,
    /// The next packet of each channel of the deciding NIC.
    #[state(constant)]
    offers: Box<[Offer; 32]>,
}

impl Flows {
    /// Validates that a flow belongs to one NIC, waits in at most one ring, and has its own
    /// messages. `messages` are those of the partition. `own` receives each message with its NIC
    /// and channel. A NIC has `n_slots` channels.
    pub(crate) fn validate(
        &self,
        bounds: &Bounds<'_>,
        n_slots: usize,
        messages: &mut Claims<'_, Message>,
        mut own: impl FnMut(u32, usize, &Message) -> Validity,
    ) -> Validity {
        let mut flows = Claims::new(&self.flows, "flow");
        let mut owner = vec![NIL; self.flows.n_slots()];
        let (mut n_active, mut n_in_rings) = (0, 0);
        for (nic, sender) in (0..).zip(&self.senders) {
            ensure_equal("flows that became active", 0, sender.activated.len())?;
            for (key, &at) in &sender.by_destination {
                let flow = flows.take(at)?;
                owner[at as usize] = nic;
                n_active += u32::from(flow.standing == Standing::Active);
                ensure_equal("flow", *key, Key::new(flow.destination, flow.slot))?;
                bounds.nic("destination of a flow", flow.destination)?;
                ensure_below("channel of a flow", flow.slot, n_slots as u64)?;
                bounds.time("next check of a flow", flow.wake)?;
                ensure_below("flits in flight of a flow", flow.in_flight, 1u64 << 31)?;
                let is_sound = match &self.controller {
                    Controller::Window(window) => window.is_sound(&flow.state, bounds.now),
                    Controller::Free | Controller::Own(_) => true,
                };
                ensure(is_sound, || {
                    let found = format!("{:?}", flow.state);
                    Invalid::new("flow", "a window of its control", found)
                })?;
                let is_empty = flow.standing == Standing::Idle;
                ensure_equal("flow without messages", is_empty, flow.head == NIL)?;
                if is_empty {
                    continue;
                }
                messages.list(
                    (flow.head, flow.tail),
                    |message| message.next,
                    |_, message| {
                        let destination = message.destination;
                        ensure_equal("message of a flow", flow.destination, destination)?;
                        own(nic, usize::from(flow.slot), message)
                    },
                )?;
            }
        }
        flows.finish()?;
        for (nic, sender) in (0..).zip(&self.senders) {
            for (slot, &(first, last)) in sender.rings.iter().enumerate() {
                let mut at = first;
                while at != NIL {
                    // Each is in one ring once.
                    let own = owner.get_mut(at as usize);
                    let own = own.map(|own| std::mem::replace(own, NIL));
                    ensure(own == Some(nic), || {
                        Invalid::new("ring of flows", "a flow of the NIC that appears once", at)
                    })?;
                    let flow = &self.flows[at];
                    ensure_equal("channel of a ring", slot, usize::from(flow.slot))?;
                    ensure_equal("flow in a ring", Standing::Active, flow.standing)?;
                    n_in_rings += 1;
                    if flow.next == NIL {
                        ensure_equal("end of a ring", last, at)?;
                    }
                    at = flow.next;
                }
            }
        }
        ensure_equal("flows in rings", n_active, n_in_rings)
    }

    pub(crate) fn new(control: Option<&Arc<dyn Control>>, n_nics: usize, n_slots: usize) -> Self {
        let controller = match control {
            None => Controller::Free,
            Some(control) => match control.window() {
                Some(window) => Controller::Window(window),
                None => Controller::Own(control.clone()),
            },
        };
        let sender = || Sender {
            rings: vec![(NIL, NIL); n_slots].into(),
            ..Sender::default()
        };
        Flows {
            controller,
            flows: Slab::default(),
            senders: (0..n_nics).map(|_| sender()).collect::<Vec<_>>().into(),
            offers: Box::default(),
        }
    }

    /// Records that a NIC waits for space at the first switch.
    pub(super) fn block(&mut self, nic: u32) {
        self.senders[nic].is_blocked = true;
    }

    /// Records that space has been freed. Returns whether the NIC waited for it.
    pub(super) fn unblock(&mut self, nic: u32) -> bool {
        std::mem::replace(&mut self.senders[nic].is_blocked, false)
    }

    fn start(&self, now: Tick) -> FlowState {
        match &self.controller {
            Controller::Free => FlowState::default(),
            Controller::Window(window) => window.start(now),
            Controller::Own(control) => control.start(now),
        }
    }

    fn is_fresh(&self, flow: &Flow, now: Tick) -> bool {
        match &self.controller {
            Controller::Free => true,
            Controller::Window(window) => window.is_fresh(&flow.state, now),
            Controller::Own(control) => control.is_fresh(&flow.state, now),
        }
    }

    /// Whether a flow may send its next packet of this many flits now; otherwise when, if nothing
    /// is acknowledged before.
    #[inline(always)]
    fn admits(&self, at: u32, flits: impl FnOnce(&Flow) -> u16, now: Tick) -> Result<(), Tick> {
        let flow = &self.flows[at];
        let (state, in_flight) = (&flow.state, flow.in_flight);
        match &self.controller {
            Controller::Free => Ok(()),
            Controller::Window(window) => window.admits(state, in_flight, flits(flow), now),
            Controller::Own(control) => control.admits(state, in_flight, flits(flow), now),
        }
    }

    fn acknowledged(&mut self, at: u32, echo: Echo, now: Tick) -> bool {
        let state = &mut self.flows[at].state;
        match &self.controller {
            Controller::Free => false,
            Controller::Window(window) => window.acknowledged(state, echo, now),
            Controller::Own(control) => control.acknowledged(state, echo, now),
        }
    }

    fn sent(&mut self, at: u32, flits: u16, now: Tick) {
        if let Controller::Own(control) = &self.controller {
            control.sent(&mut self.flows[at].state, flits, now);
        }
    }

    /// Appends a flow to the ring of its channel, which is returned.
    fn append(&mut self, nic: u32, at: u32) -> usize {
        let flow = &mut self.flows[at];
        flow.next = NIL;
        let slot = usize::from(flow.slot);
        let ring = &mut self.senders[nic].rings[slot];
        if ring.0 == NIL {
            *ring = (at, at);
        } else {
            let last = std::mem::replace(&mut ring.1, at);
            self.flows[last].next = at;
        }
        slot
    }

    /// Removes the first flow of a ring.
    fn take_first(&mut self, nic: u32, slot: usize) {
        let ring = &mut self.senders[nic].rings[slot];
        ring.0 = self.flows[ring.0].next;
    }

    /// Drops a flow with nothing in flight and an initial state.
    fn forget(&mut self, now: Tick, nic: u32, at: u32) {
        let flow = &self.flows[at];
        if flow.standing == Standing::Idle && flow.in_flight == 0 && self.is_fresh(flow, now) {
            let key = Key::new(flow.destination, flow.slot);
            self.senders[nic].by_destination.remove(&key);
            self.flows.remove(at);
        }
    }
}

impl<S: Switches> Fabric<S> {
    #[inline]
    fn flows(&mut self) -> &mut Flows {
        self.endpoints.flows.as_mut().expect("endpoints with flows")
    }

    /// Adds a message to its flow.
    pub(super) fn join_flow(&mut self, now: Tick, nic: u32, slot: usize, id: u32) {
        let endpoints = &mut self.endpoints;
        let flows = endpoints.flows.as_mut().expect("endpoints with flows");
        let destination = endpoints.messages[id].destination;
        let key = Key::new(destination, slot as u8);
        let at = match flows.senders[nic].by_destination.get(&key) {
            Some(&at) => at,
            None => {
                let fresh = Flow {
                    destination,
                    slot: slot as u8,
                    standing: Standing::Idle,
                    head: NIL,
                    tail: NIL,
                    next: NIL,
                    in_flight: 0,
                    state: flows.start(now),
                    wake: Tick::NEVER,
                };
                let at = flows.flows.insert(fresh);
                flows.senders[nic].by_destination.insert(key, at);
                at
            }
        };
        let flow = &mut flows.flows[at];
        if flow.head == NIL {
            (flow.head, flow.tail) = (id, id);
        } else {
            let last = std::mem::replace(&mut flow.tail, id);
            endpoints.messages[last].next = id;
        }
        if flow.standing == Standing::Idle {
            flow.standing = Standing::Active;
            flows.senders[nic].activated.push(at);
        }
    }

    /// Wakes a parked flow, unless an acknowledgement was earlier.
    pub(crate) fn flow_wakes(
        &mut self,
        nic: u32,
        destination: NicId,
        slot: u8,
        out: &mut Outbox<Self>,
    ) {
        let flows = self.flows();
        let sender = &mut flows.senders[nic];
        if let Some(&at) = sender.by_destination.get(&Key::new(destination, slot)) {
            let flow = &mut flows.flows[at];
            flow.wake = Tick::NEVER;
            if flow.standing == Standing::Parked {
                sender.activated.push(at);
                self.mark_nic(nic, out);
            }
        }
    }

    /// Adds flows that may send again, or have new messages, to their rings in order of
    /// destination.
    #[inline]
    pub(super) fn join_rings(&mut self, now: Tick, nic: u32, out: &mut Outbox<Self>) {
        let Some(flows) = &mut self.endpoints.flows else {
            return;
        };
        if flows.senders[nic].activated.is_empty() {
            return;
        }
        let mut activated = std::mem::take(&mut flows.senders[nic].activated);
        activated.sort_unstable_by_key(|&at| {
            let flow = &flows.flows[at];
            (flow.destination, flow.slot)
        });
        activated.dedup();
        for at in activated.drain(..) {
            if self.flows().flows[at].standing == Standing::Parked {
                if let Err(when) = self.flow_admits(now, at) {
                    self.park(now, nic, at, when, out);
                    continue;
                }
                self.flows().flows[at].standing = Standing::Active;
            }
            let slot = self.flows().append(nic, at);
            self.endpoints.nics[nic].present |= 1 << slot;
        }
        self.flows().senders[nic].activated = activated;
    }

    /// Whether the control of a flow admits its next packet; otherwise when it will.
    #[inline(always)]
    fn flow_admits(&self, now: Tick, at: u32) -> Result<(), Tick> {
        let flows = self.endpoints.flows.as_ref().expect("endpoints with flows");
        let next = |flow: &Flow| {
            let message = &self.endpoints.messages[flow.head];
            let segmentation = self.shared.segmentation.of(Sl(message.sl));
            segmentation.cut(message.left).flits
        };
        flows.admits(at, next, now)
    }

    /// Removes a flow from its ring until its control admits it.
    fn park(&mut self, now: Tick, nic: u32, at: u32, when: Tick, out: &mut Outbox<Self>) {
        let period = self.switches.nic_cycle(self.endpoints.nics[nic].wire);
        let flow = &mut self.flows().flows[at];
        flow.standing = Standing::Parked;
        if when == Tick::NEVER {
            return;
        }
        // A control may return a time in the past; it is then called again one tick later.
        let when = Clock::new(period).edge_at_or_after(when.max(now + 1));
        if when < flow.wake {
            flow.wake = when;
            out.at(when, S::Event::grown(nic, flow.destination, flow.slot));
        }
    }

    /// Returns the first flow of a ring that its control admits, and parks those before it.
    #[inline(always)]
    fn first_admitted(
        &mut self,
        now: Tick,
        nic: u32,
        slot: usize,
        out: &mut Outbox<Self>,
    ) -> Option<u32> {
        loop {
            let at = self.flows().senders[nic].rings[slot].0;
            if at == NIL {
                self.endpoints.nics[nic].present &= !(1 << slot);
                return None;
            }
            match self.flow_admits(now, at) {
                Ok(()) => return Some(at),
                Err(when) => {
                    self.flows().take_first(nic, slot);
                    self.park(now, nic, at, when, out);
                }
            }
        }
    }

    /// Sends a packet of a NIC with flows: each channel offers its next flow, and the arbiter
    /// chooses.
    pub(super) fn decide_flows(&mut self, nic: u32, now: Tick, out: &mut Outbox<Self>) {
        if !self.endpoints.has_arbiter {
            if let Some(at) = self.first_admitted(now, nic, 0, out)
                && let Some(offer) = self.offer(now, nic, at, out)
            {
                self.inject_from_flow(now, nic, 0, offer, out);
            }
            return;
        }
        let mut eligible = 0u32;
        let mut slots = self.endpoints.nics[nic].present;
        while slots != 0 {
            let slot = slots.trailing_zeros() as usize;
            slots &= slots - 1;
            let Some(at) = self.first_admitted(now, nic, slot, out) else {
                continue;
            };
            let Some(offer) = self.offer(now, nic, at, out) else {
                continue;
            };
            let head = self.flows().flows[at].head;
            let message = &self.endpoints.messages[head];
            let (born, sl) = (message.generation, Sl(message.sl));
            self.endpoints.heads[slot % 32] = Head {
                born,
                bytes: offer.cut.bytes,
                sl,
                vl: Vl(offer.vl),
            };
            self.flows().offers[slot % 32] = offer;
            eligible |= 1 << slot;
        }
        // A NIC without space has already scheduled its next check.
        if let Some(slot) = self.choose_slot(nic, eligible, Tick::NEVER, now, out) {
            let offer = self.flows().offers[slot % 32];
            self.inject_from_flow(now, nic, slot, offer, out);
        }
    }

    /// Returns the next packet of a flow, if it fits into the first switch. Otherwise the NIC waits
    /// for space.
    #[inline(always)]
    fn offer(&mut self, now: Tick, nic: u32, at: u32, out: &mut Outbox<Self>) -> Option<Offer> {
        let endpoints = &mut self.endpoints;
        let flows = endpoints.flows.as_mut().expect("endpoints with flows");
        let flow = &flows.flows[at];
        let message = &endpoints.messages[flow.head];
        let segmentation = self.shared.segmentation.of(Sl(message.sl));
        let cut = segmentation.cut(message.left);
        let state = &endpoints.nics[nic];
        // Flows of one ring may be of several channels.
        let vl = S::data_lane(self.shared.channels.at_nic(state.id, Sc(message.sc)));
        let class = if S::MAY_LOOK_AHEAD {
            let candidate = state.candidate(flow.destination, vl);
            self.switches.class_at_first(&self.shared, candidate)
        } else {
            u16::from(vl)
        };
        let may_send = self
            .switches
            .may_send(&state.credit, state.wire, class, cut.flits, now);
        match may_send {
            Ok(()) => Some(Offer { cut, vl, class }),
            Err(when) => {
                flows.block(nic);
                self.look_for_room(nic, when, now, out);
                None
            }
        }
    }

    /// Sends the next packet of the first flow of a ring.
    #[inline(always)]
    fn inject_from_flow(
        &mut self,
        now: Tick,
        nic: u32,
        slot: usize,
        Offer { cut, vl, class }: Offer,
        out: &mut Outbox<Self>,
    ) {
        let endpoints = &mut self.endpoints;
        let flows = endpoints.flows.as_mut().expect("endpoints with flows");
        let at = flows.senders[nic].rings[slot].0;
        flows.take_first(nic, slot);
        let flow = &mut flows.flows[at];
        let head = flow.head;
        let message = &mut endpoints.messages[head];
        message.left -= cut.payload;
        let is_last = message.left == 0;
        let state = &mut endpoints.nics[nic];
        if message.index == 0 && endpoints.numbers.is_none() {
            message.number = state.next_message();
        }
        let packet = Packet {
            generation: message.generation,
            injection: now,
            arrival: now,
            source: state.id,
            destination: flow.destination,
            sequence: state.sequence,
            message: message.number,
            index: message.index,
            bytes: cut.bytes,
            flits: cut.flits,
            class: message.row,
            sl: Sl(message.sl),
            vl,
            hops: 0,
            flow: message.flow,
            label: Label::new(Sc(message.sc), is_last),
        };
        message.index += 1;
        if is_last {
            flow.head = message.next;
            endpoints.messages.remove(head);
        }
        if endpoints.acknowledgement.is_some() {
            flow.in_flight += u32::from(cut.flits);
        }
        let is_empty = flow.head == NIL;
        flows.sent(at, cut.flits, now);
        if is_empty {
            let flow = &mut flows.flows[at];
            flow.tail = NIL;
            flow.standing = Standing::Idle;
            flows.forget(now, nic, at);
            if flows.senders[nic].rings[slot].0 == NIL {
                state.present &= !(1 << slot);
            }
        } else {
            flows.append(nic, at);
        }
        self.launch_data(now, nic, packet, class, out);
    }

    /// Records the acknowledgement of a packet of a flow.
    pub(super) fn flow_acknowledged(
        &mut self,
        now: Tick,
        nic: u32,
        parcel: &Parcel,
        out: &mut Outbox<Self>,
    ) {
        let packet = &parcel.packet;
        let endpoints = &mut self.endpoints;
        // The acknowledgement started with the channel of the flow.
        let (channels, sc) = (&self.shared.channels, packet.label.sc());
        let sc = channels.began(sc, packet.sl, packet.destination, packet.source);
        let slot = endpoints.slot_of[sc.index()];
        let flows = endpoints.flows.as_mut().expect("endpoints with flows");
        let sender = &flows.senders[nic];
        let Some(&at) = sender.by_destination.get(&Key::new(packet.source, slot)) else {
            unreachable!("a flow exists until all its packets are acknowledged");
        };
        flows.flows[at].in_flight -= packet.index;
        let is_marked = parcel.flags.has(Flags::MARKED);
        let echo = Echo {
            is_marked,
            flits: packet.index as u16,
            round_trip: now - packet.injection,
            sequence: packet.message,
            next: endpoints.nics[nic].sequence,
        };
        let is_cut = flows.acknowledged(at, echo, now);
        self.shared.protocol.cuts += u64::from(is_cut);
        let sender = &mut flows.senders[nic];
        match flows.flows[at].standing {
            Standing::Parked => sender.activated.push(at),
            Standing::Idle => flows.forget(now, nic, at),
            // After a cut, the flow may have to pass its turn to the next one, although it waited
            // for space at the switch.
            Standing::Active if is_marked && sender.is_blocked => self.mark_nic(nic, out),
            Standing::Active => {}
        }
    }

    /// Whether flows of a NIC may have become able to send in this tick.
    pub(super) fn has_activated_flows(&self, nic: u32) -> bool {
        let flows = self.endpoints.flows.as_ref();
        flows.is_some_and(|flows| !flows.senders[nic].activated.is_empty())
    }
}

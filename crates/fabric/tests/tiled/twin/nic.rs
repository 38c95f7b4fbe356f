//! NICs: messages wait in flows, packets are sent within windows, and received packets are
//! acknowledged.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use netloom_fabric::{Cuts, FabricPlan, LinkTiming, Tiled, Window};
use netloom_metrics::Delivery;
use netloom_packet::{Arrival, Cursor};
use netloom_units::{NicId, Sl};

use super::Twin;
use super::packet::{Flit, Kind, Packet, Reading};
use super::pool::Pool;
use super::switch::Sending;

/// A message of which `left` bytes have not been sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    born: u64,
    sl: u8,
    row: u8,
    left: u32,
}

/// All packets of a NIC for one destination.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) messages: VecDeque<Message>,
    pub(crate) in_flight: u32,
    /// In 1/65536 flit, as of the last change.
    window: u64,
    changed: u64,
    /// Packets from this number on were sent after the last cut.
    sent_since: u32,
    pub(crate) is_parked: bool,
}

/// 1 flit of a window.
const ONE: u64 = 65_536;

impl Flow {
    pub(crate) fn new(limit: Option<Window>) -> Self {
        Flow {
            messages: VecDeque::new(),
            in_flight: 0,
            window: limit.map_or(0, |w| u64::from(w.most) * ONE),
            changed: 0,
            sent_since: 0,
            is_parked: false,
        }
    }

    /// Returns the current window, growth included.
    pub(crate) fn window(&self, limit: Window, now: u64) -> u64 {
        let grown = now / limit.step - self.changed / limit.step;
        (self.window + grown * ONE).min(u64::from(limit.most) * ONE)
    }

    pub(crate) fn cut(&mut self, limit: Window, now: u64) {
        let (num, den) = limit.cut;
        let cut = self.window(limit, now) * u64::from(num) / u64::from(den);
        self.window = cut.max(u64::from(limit.least) * ONE);
        self.changed = now;
    }
}

/// An acknowledgement that waits to be sent.
#[derive(Clone, Copy, Debug)]
struct Reply {
    to: u32,
    sl: u8,
    row: u8,
    generation: u64,
    kind: Kind,
}

pub(crate) struct Nic {
    pub(crate) link: LinkTiming,
    /// The switch and port that it is cabled to.
    at: (usize, usize),
    pub(crate) wire: VecDeque<(u64, Flit)>,
    pub(crate) credits: VecDeque<(u64, usize, u32)>,
    pub(crate) peer_buffer: Pool,
    pub(crate) sending: Option<Sending>,
    link_until: u64,
    /// Progress of the packet on the link.
    receiving: Option<Flit>,
    replies: VecDeque<Reply>,
    pub(crate) flows: BTreeMap<u32, Flow>,
    ring: VecDeque<u32>,
    /// Flows that become active at this tick.
    activated: BTreeSet<u32>,
    sequence: u32,
    cursors: Vec<Cursor>,
    pub(crate) next: Vec<Option<Arrival>>,
    pub(crate) delivered: BTreeSet<(u32, u32)>,
}

impl Nic {
    pub(crate) fn new(plan: &FabricPlan, tiled: &Tiled, id: NicId) -> Self {
        let (switch, port) = plan.topology.attachment(id);
        let class = usize::from(plan.topology.link_class(switch, port));
        let mut nic = Nic {
            link: plan.links[class],
            at: (switch.index(), port.index()),
            wire: VecDeque::new(),
            credits: VecDeque::new(),
            peer_buffer: Pool::new(&tiled.ports[class].input, usize::from(plan.n_vls)),
            sending: None,
            link_until: 0,
            receiving: None,
            replies: VecDeque::new(),
            flows: BTreeMap::new(),
            ring: VecDeque::new(),
            activated: BTreeSet::new(),
            sequence: 0,
            cursors: vec![Cursor::default(); plan.classes.len()],
            next: vec![None; plan.classes.len()],
            delivered: BTreeSet::new(),
        };
        for class in 0..plan.classes.len() {
            nic.draw(plan, id, class);
        }
        nic
    }

    fn draw(&mut self, plan: &FabricPlan, id: NicId, class: usize) {
        let source = &plan.classes[class].source;
        assert!(source.program().is_none(), "this reference has no programs");
        self.next[class] = source.next(id, &mut self.cursors[class]);
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.next.iter().all(Option::is_none)
            && self.wire.is_empty()
            && self.credits.is_empty()
            && self.sending.is_none()
            && self.receiving.is_none()
            && self.replies.is_empty()
            && self.ring.is_empty()
            && self.peer_buffer.in_use() == 0
            && self
                .flows
                .values()
                .all(|flow| flow.messages.is_empty() && !flow.is_parked)
    }
}

impl Twin<'_> {
    /// Handles credits and flits that arrive now.
    pub(crate) fn nic_receives(&mut self, nic: usize) {
        let now = self.now;
        let state = &mut self.nics[nic];
        while let Some(&(when, vc, n)) = state.credits.front() {
            assert!(when >= now, "a credit is noticed on time");
            if when > now {
                break;
            }
            state.credits.pop_front();
            state.peer_buffer.give(vc, n);
        }
        let Some(&(when, flit)) = state.wire.front() else {
            return;
        };
        assert!(when >= now, "a flit is received on time");
        if when > now {
            return;
        }
        state.wire.pop_front();
        let before = state.receiving.replace(flit);
        assert_eq!(
            before.map_or(0, |last| last.k + 1),
            flit.k,
            "flits arrive in order"
        );
        assert!(before.is_none_or(|last| last.packet == flit.packet));
        let packet = self.packets[flit.packet];
        let is_last = flit.k + 1 == packet.flits;
        if is_last {
            state.receiving = None;
        }
        let (at, delay) = (state.at, state.link.delay);
        self.acknowledge_on_link(at, flit, 0, delay);
        if is_last {
            self.arrived(nic, packet);
        }
    }

    /// Handles a packet that is completely received.
    fn arrived(&mut self, nic: usize, packet: Packet) {
        assert_eq!(packet.destination as usize, nic, "it reaches its NIC");
        match packet.kind {
            Kind::Data => self.data_arrived(nic, packet),
            Kind::Acknowledgement { .. } if packet.is_corrupt => self.counts.discarded += 1,
            Kind::Acknowledgement { .. } => {
                self.counts.acknowledgements += 1;
                self.deliver(packet);
                if !packet.is_void {
                    self.acknowledged(nic, packet);
                }
            }
        }
    }

    fn data_arrived(&mut self, nic: usize, packet: Packet) {
        let key = (packet.source, packet.sequence);
        if packet.is_corrupt {
            self.counts.rejected += 1;
        } else if self.nics[nic].delivered.insert(key) {
            self.counts.delivered += 1;
            self.deliver(packet);
        } else {
            self.counts.duplicates += 1;
        }
        if self.plan.endpoints.acknowledgement.is_some() {
            self.nics[nic].replies.push_back(Reply {
                to: packet.source,
                sl: packet.sl,
                row: packet.row,
                generation: self.now,
                kind: Kind::Acknowledgement {
                    of: packet.sequence,
                    flits: packet.flits,
                    is_positive: !packet.is_corrupt,
                    is_marked: packet.is_marked,
                },
            });
        }
    }

    fn deliver(&mut self, packet: Packet) {
        let delivery = Delivery {
            source: packet.source,
            sequence: packet.sequence,
            destination: packet.destination,
            generation: packet.generation,
            tail: self.now,
            flits: packet.flits as u16,
            sl: packet.sl,
            row: packet.row,
        };
        self.digest.add(&delivery);
        self.deliveries.push((delivery, packet.is_data()));
    }

    /// Handles a positive acknowledgement that counts.
    fn acknowledged(&mut self, nic: usize, packet: Packet) {
        let Kind::Acknowledgement {
            of,
            flits,
            is_positive,
            is_marked,
        } = packet.kind
        else {
            unreachable!("an acknowledgement");
        };
        if !is_positive {
            return;
        }
        let now = self.now;
        let Some(limit) = self.window_of_plan() else {
            return;
        };
        let next = self.nics[nic].sequence;
        let flow = self.nics[nic].flows.get_mut(&packet.source);
        let flow = flow.expect("an acknowledged packet was sent");
        let is_news = limit.cuts == Cuts::EveryMark || of >= flow.sent_since;
        if is_marked && is_news {
            flow.cut(limit, now);
            flow.sent_since = next;
            self.counts.cuts += 1;
        }
        let left = flow.in_flight.checked_sub(flits);
        flow.in_flight = left.expect("a packet is acknowledged once");
        self.unpark(nic, packet.source);
    }

    /// Returns the flits of the next packet of a flow.
    fn next_flits(&self, flow: &Flow) -> u32 {
        let message = flow.messages.front().expect("something to send");
        u32::from(
            self.plan
                .segmentation
                .of(Sl(message.sl))
                .cut(message.left)
                .flits,
        )
    }

    fn fits_window(&self, flow: &Flow) -> bool {
        let Some(limit) = self.window_of_plan() else {
            return true;
        };
        let wanted = u64::from(flow.in_flight + self.next_flits(flow)) * ONE;
        wanted <= flow.window(limit, self.now)
    }

    /// Returns a parked flow to its ring if its next packet fits its window.
    fn unpark(&mut self, nic: usize, destination: u32) {
        let flow = &self.nics[nic].flows[&destination];
        if flow.is_parked && self.fits_window(flow) {
            let state = &mut self.nics[nic];
            let flow = state.flows.get_mut(&destination).expect("a flow");
            flow.is_parked = false;
            state.activated.insert(destination);
        }
    }

    /// Runs the independent actions of a NIC: messages are created, windows grow, a packet is sent.
    pub(crate) fn nic_acts(&mut self, nic: usize) {
        let is_edge = self.now.is_multiple_of(self.nics[nic].link.flit);
        if is_edge {
            self.create_messages(nic);
            let flows = self.nics[nic].flows.iter();
            let parked: Vec<u32> = flows
                .filter(|(_, f)| f.is_parked)
                .map(|(&d, _)| d)
                .collect();
            for destination in parked {
                self.unpark(nic, destination);
            }
        }
        let state = &mut self.nics[nic];
        let activated = std::mem::take(&mut state.activated);
        state.ring.extend(activated);
        if is_edge && state.link_until <= self.now {
            self.decide(nic);
        }
        self.put_on_link(nic);
    }

    fn create_messages(&mut self, nic: usize) {
        let limit = self.window_of_plan();
        for class in 0..self.plan.classes.len() {
            while let Some(arrival) = self.nics[nic].next[class] {
                let when = arrival.cycle * self.nics[nic].link.flit;
                assert!(when >= self.now, "messages are created on time");
                if when > self.now {
                    break;
                }
                let state = &mut self.nics[nic];
                let destination = arrival.destination.0;
                let flow = state
                    .flows
                    .entry(destination)
                    .or_insert_with(|| Flow::new(limit));
                if flow.messages.is_empty() {
                    state.activated.insert(destination);
                }
                let sl = arrival.sl.unwrap_or(self.plan.classes[class].sl.0);
                let row = netloom_fabric::rows(self.plan)
                    .iter()
                    .position(|row| *row == (class, Sl(sl)));
                flow.messages.push_back(Message {
                    born: when,
                    sl,
                    row: row.expect("a row per class and level") as u8,
                    left: arrival.bytes,
                });
                state.draw(self.plan, NicId(nic as u32), class);
                self.counts.messages += 1;
            }
        }
    }

    /// Sends an acknowledgement or a packet of the flow whose turn it is.
    fn decide(&mut self, nic: usize) {
        if let Some(&reply) = self.nics[nic].replies.front() {
            let n = self.plan.endpoints.acknowledgement;
            let n = u32::from(n.expect("acknowledgements"));
            if self.nics[nic].peer_buffer.fits(1, n) {
                self.nics[nic].replies.pop_front();
                self.counts.injected_acknowledgements += 1;
                let (level, kind) = ((reply.sl, reply.row), reply.kind);
                self.inject(nic, reply.to, reply.generation, level, n, kind);
            }
            return;
        }
        while let Some(&destination) = self.nics[nic].ring.front() {
            let flow = &self.nics[nic].flows[&destination];
            let n = self.next_flits(flow);
            if !self.fits_window(flow) {
                let state = &mut self.nics[nic];
                state.ring.pop_front();
                state.flows.get_mut(&destination).expect("a flow").is_parked = true;
                self.counts.parked += 1;
                continue;
            }
            if !self.nics[nic].peer_buffer.fits(0, n) {
                return;
            }
            let state = &mut self.nics[nic];
            state.ring.pop_front();
            let flow = state.flows.get_mut(&destination).expect("a flow");
            let message = flow.messages.front_mut().expect("something to send");
            let (born, sl, row) = (message.born, message.sl, message.row);
            message.left -= self.plan.segmentation.of(Sl(sl)).cut(message.left).payload;
            if message.left == 0 {
                flow.messages.pop_front();
            }
            flow.in_flight += n;
            if !flow.messages.is_empty() {
                state.ring.push_back(destination);
            }
            self.counts.injected_data += 1;
            self.inject(nic, destination, born, (sl, row), n, Kind::Data);
            return;
        }
    }

    /// Puts a packet of a service level and row on the link.
    fn inject(
        &mut self,
        nic: usize,
        to: u32,
        generation: u64,
        (sl, row): (u8, u8),
        n: u32,
        kind: Kind,
    ) {
        let state = &mut self.nics[nic];
        // Acknowledgements have a separate channel to the first switch.
        let vc = usize::from(kind != Kind::Data);
        state.peer_buffer.take(vc, n);
        assert!(state.sending.is_none(), "one packet after another");
        state.link_until = self.now + u64::from(n) * state.link.flit;
        state.sending = Some(Sending {
            reading: Reading::new(self.packets.len(), n),
            vc,
            start: self.now,
        });
        self.packets.push(Packet {
            source: nic as u32,
            sequence: state.sequence,
            destination: to,
            generation,
            sl,
            row,
            flits: n,
            kind,
            hops: 0,
            detour: false,
            is_marked: false,
            is_corrupt: false,
            attempt: 0,
            output: 0,
            output_vc: 0,
            is_injected: true,
            is_void: false,
            tail: 0,
            is_fed_at: 0,
        });
        state.sequence += 1;
    }

    /// Puts the flit whose time has come on the link.
    fn put_on_link(&mut self, nic: usize) {
        let state = &mut self.nics[nic];
        let Some(sending) = &mut state.sending else {
            return;
        };
        let when = sending.start + u64::from(sending.reading.k) * state.link.flit;
        assert!(when >= self.now, "a flit is sent on time");
        if when > self.now {
            return;
        }
        let there = self.now + state.link.flit + state.link.delay;
        let (vc, (flit, is_last)) = (sending.vc, sending.reading.next());
        if is_last {
            state.sending = None;
        }
        let (s, p) = state.at;
        self.switches[s].inputs[p].wire.push_back((there, flit, vc));
    }
}

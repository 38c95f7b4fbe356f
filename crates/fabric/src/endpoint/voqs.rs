//! Virtual output queues of NICs (VOQs, also called VOQs): one unbounded queue per
//! destination, followed by injection queues like those of a switch input. A congested destination
//! then does not delay others at the source.
//!
//! A message is stored whole in the VOQ of its destination. Whenever the link of the NIC is free,
//! the injection queues are filled: the destinations with messages for a queue take turns, a packet
//! each, while the next packet fits. The injection queues whose first packet may be sent also take
//! turns. The arbiter of the NIC selects the service channel, as without VOQs.

use netloom_arbitration::Head;
use netloom_encoding::{Encoded, Invalid, State, Validity, ensure, ensure_below, ensure_equal};
use netloom_engine::Outbox;
use netloom_packet::{Label, Packet};
use netloom_units::{NicId, Sc, Sl, Tick, Vl};

use crate::endpoint::Message;
use crate::fabric::Fabric;
use crate::queue_scheme::QueueMap;
use crate::slab::{Claims, Slab};
use crate::switch::{NIL, Switches};
use crate::validation::Bounds;

/// The messages of a (NIC, channel) for one destination.
#[derive(Clone, Copy, Debug, Encoded)]
struct Waiting {
    head: u32,
    tail: u32,
    /// The next destination of the same injection queue.
    next: u32,
}

/// An injection queue: packets already cut, and the destinations that fill it.
#[derive(Clone, Copy, Debug, Encoded)]
struct Injection {
    head: u32,
    tail: u32,
    flits: u32,
    /// Destinations with messages for this queue, in turn.
    first: u32,
    last: u32,
    /// Whether the queue is checked when queues are filled.
    is_stale: bool,
}

/// A packet cut from its message and waiting to be sent.
#[derive(Clone, Copy, Debug, Encoded)]
struct Cut {
    generation: Tick,
    destination: NicId,
    message: u32,
    index: u32,
    bytes: u32,
    next: u32,
    flits: u16,
    row: u8,
    flow: u8,
    is_last: bool,
}

/// Per (NIC, channel).
#[derive(Clone, Debug, Default, State)]
struct Channel {
    /// Waiting messages and packets.
    waiting: u32,
    /// Round robin over injection queues.
    pointer: u32,
    /// Injection queues with a packet, as bits.
    #[state(records)]
    filled: Box<[u64]>,
    /// Injection queues to be filled.
    stale: Vec<u32>,
}

/// The queues of all NICs of a partition.
#[derive(Clone, Debug, State)]
pub(crate) struct Voqs {
    #[state(constant)]
    n_destinations: u32,
    /// The queues of a switch input, and whether each has its own credits.
    #[state(constant)]
    map: QueueMap,
    #[state(constant)]
    credits_per_queue: bool,
    /// Injection queues of a channel.
    #[state(constant)]
    n_queues: u32,
    /// Flits of an injection queue, by lane.
    #[state(constant)]
    sizes: Box<[u32]>,
    #[state(records)]
    waiting: Vec<Waiting>,
    #[state(records)]
    injection: Vec<Injection>,
    #[state(part)]
    channels: Vec<Channel>,
    cuts: Slab<Cut>,
}

impl Voqs {
    pub(crate) fn new(
        n_channels: usize,
        n_destinations: u32,
        map: QueueMap,
        credits_per_queue: bool,
        sizes: &[u32],
    ) -> Self {
        let n_queues = map.per_lane;
        let empty = Waiting {
            head: NIL,
            tail: NIL,
            next: NIL,
        };
        let injection = Injection {
            head: NIL,
            tail: NIL,
            flits: 0,
            first: NIL,
            last: NIL,
            is_stale: false,
        };
        let channel = Channel {
            filled: vec![0; n_queues.div_ceil(64) as usize].into(),
            ..Channel::default()
        };
        Voqs {
            n_destinations,
            map,
            credits_per_queue,
            n_queues,
            sizes: sizes.into(),
            waiting: vec![empty; n_channels * n_destinations as usize],
            injection: vec![injection; n_channels * n_queues as usize],
            channels: vec![channel; n_channels],
            cuts: Slab::default(),
        }
    }

    /// Validates that a message waits for one destination, a cut packet is in one injection queue,
    /// and a destination takes turns in one queue. `own` receives each message with its NIC and
    /// channel, `own_cut` row, flow and destination of each packet. `present` tells whether a
    /// channel has something to send.
    pub(crate) fn validate(
        &self,
        bounds: &Bounds<'_>,
        n_slots: usize,
        messages: &mut Claims<'_, Message>,
        mut own: impl FnMut(u32, usize, &Message) -> Validity,
        mut own_cut: impl FnMut(u32, usize, (u8, u8, NicId)) -> Validity,
        present: impl Fn(u32, usize) -> bool,
    ) -> Validity {
        let mut cuts = Claims::new(&self.cuts, "cut packet");
        let (n_destinations, n_queues) = (self.n_destinations as usize, self.n_queues as usize);
        for (at, channel) in self.channels.iter().enumerate() {
            let (nic, slot) = ((at / n_slots) as u32, at % n_slots);
            let waiting = &self.waiting[at * n_destinations..][..n_destinations];
            let injection = &self.injection[at * n_queues..][..n_queues];
            let mut n_waiting = 0u32;
            for (destination, waiting) in (0..).zip(waiting) {
                messages.list(
                    (waiting.head, waiting.tail),
                    |message| message.next,
                    |_, message| {
                        n_waiting += 1;
                        let destination = NicId(destination);
                        ensure_equal("waiting message", destination, message.destination)?;
                        own(nic, slot, message)
                    },
                )?;
            }
            let mut has_turn = vec![false; n_destinations];
            for (queue, injection) in injection.iter().enumerate() {
                let mut flits = 0u64;
                cuts.list(
                    (injection.head, injection.tail),
                    |cut| cut.next,
                    |_, cut| {
                        n_waiting += 1;
                        flits += u64::from(cut.flits);
                        own_cut(nic, slot, (cut.row, cut.flow, cut.destination))?;
                        bounds.flits("length of a cut packet", cut.flits)?;
                        bounds.past("creation time of a cut packet", cut.generation)
                    },
                )?;
                ensure_equal(
                    "flits of an injection queue",
                    flits,
                    u64::from(injection.flits),
                )?;
                let is_filled = channel.filled[queue / 64] >> (queue % 64) & 1 == 1;
                ensure_equal(
                    "injection queue with packets",
                    is_filled,
                    injection.head != NIL,
                )?;
                let n_stale = channel.stale.iter().filter(|&&own| own as usize == queue);
                let is_stale = usize::from(injection.is_stale);
                ensure_equal("injection queue to be filled", is_stale, n_stale.count())?;
                let (mut next, mut last) = (injection.first, injection.last);
                while next != NIL {
                    let seen = has_turn.get_mut(next as usize);
                    let is_new = seen.is_some_and(|seen| !std::mem::replace(seen, true));
                    ensure(is_new && waiting[next as usize].head != NIL, || {
                        let expected = "a destination with messages that appears once";
                        Invalid::new("turns of an injection queue", expected, next)
                    })?;
                    last = next;
                    next = waiting[next as usize].next;
                }
                ensure_equal("end of the turns", last, injection.last)?;
            }
            let n_filled: u32 = channel.filled.iter().map(|word| word.count_ones()).sum();
            let is_filled = injection.iter().filter(|queue| queue.head != NIL);
            ensure_equal(
                "filled injection queues",
                is_filled.count(),
                n_filled as usize,
            )?;
            ensure(
                channel.stale.iter().all(|&queue| queue < self.n_queues),
                || {
                    Invalid::new(
                        "injection queue to be filled",
                        "an existing queue",
                        "another",
                    )
                },
            )?;
            let is_waiting = waiting.iter().map(|waiting| waiting.head != NIL);
            ensure(is_waiting.eq(has_turn), || {
                let expected = "a turn for each destination with messages";
                Invalid::new("admittance queues", expected, "none")
            })?;
            ensure_below(
                "round-robin pointer of a NIC",
                channel.pointer,
                self.n_queues.max(1),
            )?;
            ensure_equal("waiting messages and packets", n_waiting, channel.waiting)?;
            ensure_equal("NIC with messages", present(nic, slot), n_waiting > 0)?;
        }
        cuts.finish()
    }

    /// Marks an injection queue to be checked when queues are filled.
    fn mark_stale(&mut self, channel: usize, queue: u32) {
        let injection = &mut self.injection[channel * self.n_queues as usize + queue as usize];
        if !injection.is_stale {
            injection.is_stale = true;
            self.channels[channel].stale.push(queue);
        }
    }

    /// Adds a destination to the turns of an injection queue.
    fn join(&mut self, channel: usize, queue: u32, destination: u32) {
        let base = channel * self.n_destinations as usize;
        let injection = &mut self.injection[channel * self.n_queues as usize + queue as usize];
        match std::mem::replace(&mut injection.last, destination) {
            NIL => injection.first = destination,
            last => self.waiting[base + last as usize].next = destination,
        }
        self.waiting[base + destination as usize].next = NIL;
    }

    /// Returns the class of an injection queue's packets at the first switch.
    fn class(&self, vl: u8, queue: u32) -> u16 {
        if self.credits_per_queue {
            self.map.first_of_lane(vl) as u16 + queue as u16
        } else {
            u16::from(vl)
        }
    }

    /// Finds the first injection queue with a packet that satisfies a test, in turn from the
    /// pointer on.
    fn find(&self, channel: usize, mut may_send: impl FnMut(u32) -> bool) -> Option<u32> {
        let state = &self.channels[channel];
        let words = state.filled.len() as u32;
        let (word, bit) = (state.pointer / 64, state.pointer % 64);
        for step in 0..=words {
            let at = (word + step) % words;
            let mut bits = state.filled[at as usize];
            if step == 0 {
                bits &= u64::MAX << bit;
            } else if step == words {
                bits &= !(u64::MAX << bit);
            }
            while bits != 0 {
                let queue = at * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                if may_send(queue) {
                    return Some(queue);
                }
            }
        }
        None
    }
}

impl<S: Switches> Fabric<S> {
    /// Adds a message to the queue of its destination.
    pub(super) fn admit(&mut self, nic: u32, slot: usize, destination: NicId, message: u32) {
        let channel = nic as usize * self.endpoints.n_slots + slot;
        self.endpoints.nics[nic].present |= 1 << slot;
        let queue = self.injection_queue(nic, slot, destination);
        let voqs = self
            .endpoints
            .voqs
            .as_mut()
            .expect("queues per destination");
        voqs.channels[channel].waiting += 1;
        let at = channel * voqs.n_destinations as usize + destination.index();
        let waiting = &mut voqs.waiting[at];
        let last = std::mem::replace(&mut waiting.tail, message);
        if waiting.head == NIL {
            waiting.head = message;
            voqs.join(channel, queue, destination.0);
            voqs.mark_stale(channel, queue);
        } else {
            self.endpoints.messages[last].next = message;
        }
    }

    /// Returns the injection queue of a destination: the queue of its packets at the first switch.
    fn injection_queue(&self, nic: u32, slot: usize, destination: NicId) -> u32 {
        let endpoints = &self.endpoints;
        let state = &endpoints.nics[nic];
        let vl = endpoints.queues[nic * endpoints.n_slots as u32 + slot as u32].vl;
        let candidate = state.candidate(destination, vl);
        let voqs = endpoints.voqs.as_ref().expect("queues per destination");
        self.switches.queue_at_first(&self.shared, candidate) % voqs.n_queues
    }

    /// Fills the injection queues that may have space, with destinations in turn.
    fn fill(&mut self, nic: u32, slot: usize) {
        let channel = nic as usize * self.endpoints.n_slots + slot;
        let shape = self.endpoints.queues[nic * self.endpoints.n_slots as u32 + slot as u32];
        let segmentation = self.shared.segmentation.of(Sl(shape.sl));
        let voqs = self
            .endpoints
            .voqs
            .as_mut()
            .expect("queues per destination");
        let size = voqs.sizes[usize::from(shape.vl)];
        while let Some(queue) = voqs.channels[channel].stale.pop() {
            let at = channel * voqs.n_queues as usize + queue as usize;
            voqs.injection[at].is_stale = false;
            loop {
                let destination = voqs.injection[at].first;
                if destination == NIL {
                    break;
                }
                let from = channel * voqs.n_destinations as usize + destination as usize;
                let waiting = voqs.waiting[from];
                let message = &mut self.endpoints.messages[waiting.head];
                let cut = segmentation.cut(message.left);
                if voqs.injection[at].flits + u32::from(cut.flits) > size {
                    break;
                }
                if message.index == 0 && self.endpoints.numbers.is_none() {
                    message.number = self.endpoints.nics[nic].next_message();
                }
                message.left -= cut.payload;
                let is_last = message.left == 0;
                let packet = voqs.cuts.insert(Cut {
                    generation: message.generation,
                    destination: message.destination,
                    message: message.number,
                    index: message.index,
                    bytes: cut.bytes,
                    next: NIL,
                    flits: cut.flits,
                    row: message.row,
                    flow: message.flow,
                    is_last,
                });
                message.index += 1;
                if is_last {
                    let next = message.next;
                    self.endpoints.messages.remove(waiting.head);
                    voqs.waiting[from].head = next;
                } else {
                    voqs.channels[channel].waiting += 1;
                }
                let injection = &mut voqs.injection[at];
                injection.flits += u32::from(cut.flits);
                match std::mem::replace(&mut injection.tail, packet) {
                    NIL => injection.head = packet,
                    last => voqs.cuts[last].next = packet,
                }
                voqs.channels[channel].filled[queue as usize / 64] |= 1 << (queue % 64);
                // The destination leaves the turns, or goes to their end.
                injection.first = waiting.next;
                if injection.first == NIL {
                    injection.last = NIL;
                }
                if voqs.waiting[from].head == NIL {
                    voqs.waiting[from].tail = NIL;
                } else {
                    voqs.join(channel, queue, destination);
                }
            }
        }
    }

    /// Decides for a NIC with injection queues.
    pub(super) fn decide_admitted(&mut self, nic: u32, now: Tick, out: &mut Outbox<Self>) {
        let mut eligible = 0u32;
        let mut wake = Tick::NEVER;
        let mut found = [0u32; 32];
        let mut slots = self.endpoints.nics[nic].present;
        while slots != 0 {
            let slot = slots.trailing_zeros() as usize;
            slots &= slots - 1;
            self.fill(nic, slot);
            let channel = nic as usize * self.endpoints.n_slots + slot;
            let shape = self.endpoints.queues[nic * self.endpoints.n_slots as u32 + slot as u32];
            let voqs = self
                .endpoints
                .voqs
                .as_ref()
                .expect("queues per destination");
            let state = &self.endpoints.nics[nic];
            let first = |queue: u32| {
                let at = channel * voqs.n_queues as usize + queue as usize;
                voqs.cuts[voqs.injection[at].head]
            };
            let queue = voqs.find(channel, |queue| {
                let (class, flits) = (voqs.class(shape.vl, queue), first(queue).flits);
                let may_send = self
                    .switches
                    .may_send(&state.credit, state.wire, class, flits, now);
                if let Err(when) = may_send {
                    wake = wake.min(when);
                }
                may_send.is_ok()
            });
            if let Some(queue) = queue {
                let cut = first(queue);
                found[slot] = queue;
                eligible |= 1 << slot;
                self.endpoints.heads[slot] = Head {
                    born: cut.generation,
                    bytes: cut.bytes,
                    sl: Sl(shape.sl),
                    vl: Vl(shape.vl),
                };
            }
        }
        if let Some(slot) = self.choose_slot(nic, eligible, wake, now, out) {
            self.send_admitted(now, nic, slot, found[slot % 32], out);
        }
    }

    /// Sends the first packet of an injection queue.
    fn send_admitted(
        &mut self,
        now: Tick,
        nic: u32,
        slot: usize,
        queue: u32,
        out: &mut Outbox<Self>,
    ) {
        let channel = nic as usize * self.endpoints.n_slots + slot;
        let shape = self.endpoints.queues[nic * self.endpoints.n_slots as u32 + slot as u32];
        let voqs = self
            .endpoints
            .voqs
            .as_mut()
            .expect("queues per destination");
        let class = voqs.class(shape.vl, queue);
        let at = channel * voqs.n_queues as usize + queue as usize;
        let injection = &mut voqs.injection[at];
        let cut = voqs.cuts.remove(injection.head);
        injection.head = cut.next;
        injection.flits -= u32::from(cut.flits);
        if cut.next == NIL {
            injection.tail = NIL;
            voqs.channels[channel].filled[queue as usize / 64] &= !(1 << (queue % 64));
        }
        if injection.first != NIL {
            voqs.mark_stale(channel, queue);
        }
        let state = &mut voqs.channels[channel];
        state.pointer = (queue + 1) % voqs.n_queues;
        state.waiting -= 1;
        let nic_state = &mut self.endpoints.nics[nic];
        if state.waiting == 0 {
            nic_state.present &= !(1 << slot);
        }
        let packet = Packet {
            generation: cut.generation,
            injection: now,
            arrival: now,
            source: nic_state.id,
            destination: cut.destination,
            sequence: nic_state.sequence,
            message: cut.message,
            index: cut.index,
            bytes: cut.bytes,
            flits: cut.flits,
            class: cut.row,
            sl: Sl(shape.sl),
            vl: shape.vl,
            hops: 0,
            label: Label::new(Sc(shape.sc), cut.is_last),
            flow: cut.flow,
        };
        self.launch_data(now, nic, packet, class, out);
    }

    /// Returns the number of cut packets that have not left their NICs.
    pub(crate) fn packets_at_nics(&self) -> u64 {
        self.endpoints
            .voqs
            .as_ref()
            .map_or(0, |a| a.cuts.len() as u64)
    }
}

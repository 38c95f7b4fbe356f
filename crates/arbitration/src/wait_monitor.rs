//! A monitor of an arbiter: measures the waits of classes, and how often there is a choice at all.
//!
//! The planner bounds the wait of a class at one output, from "its packet is at the head of the
//! queue and all credits are held" to its first flit, as the bytes that the link sends meanwhile
//! (`netloom_design::qos`). A [`WaitMonitor`] wraps an arbiter, sees its views and grants, and
//! measures that wait to within one packet:
//!
//! ```text
//!            grant of X                     head of c appears
//! ───────────────┴──────────┬───────────────────┴───┬──────────┬──────────┬───────────► bytes sent
//!                      X starts                  Y starts   Z starts   c starts
//! views with c:                                     ●          ●          ●
//!                            └──── in flight ──────┘└────── granted ──────┘
//! ```
//!
//! - **granted**: packets of others that were chosen while a head of the class was eligible. The
//!   link sends all of them after the head appeared, so the wait is never shorter: `at_least`.
//! - **in flight**: the packet that was granted before. An arbiter is called only when the link is
//!   free, so it cannot observe when during that packet the head appeared, or whether it appeared
//!   long after. With all of that packet the wait is never longer: `at_most`. It is a packet of the
//!   class itself if the head was queued after it, otherwise one of another class. The bounds of
//!   the planner count both, so `at_most` never exceeds them.
//!
//! A class that is not eligible in a view (its queue is empty, or credits are missing) restarts
//! from zero. Queues of one class are one FIFO, so a class waits while any of them is eligible. The
//! latency of the scheduler itself (from its decision to the first flit) is not counted. A wait
//! that has not ended counts up to now, so starvation is visible.
//!
//! Maxima and counts cover all outputs that share a [`WaitRecord`], from the start of a run: a
//! warm-up makes no wait longer than the bound, and maxima are compared with the bound. They do not
//! depend on the order of commits, so they do not depend on threads.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::head::queues;
use crate::{
    Arbiter, Fault, Grant, Head, MANAGEMENT_VL, N_QUEUES, N_SLS, Policy, PortContext, Speaks,
    TwoTable, View, take_word,
};

/// The classes that wait: service levels or lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitsBy {
    /// A service level. Management (VL15) belongs to none.
    Sl,
    /// A virtual lane.
    Vl,
}

impl WaitsBy {
    /// Returns the number of the class of a head.
    #[inline]
    fn class(self, head: &Head) -> usize {
        match self {
            WaitsBy::Vl => head.vl.index() % N_QUEUES,
            WaitsBy::Sl if head.vl == MANAGEMENT_VL => N_SLS,
            WaitsBy::Sl => head.sl.index() % N_SLS,
        }
    }

    /// Returns the number of classes; by service level, management is not counted.
    fn n_classes(self) -> usize {
        match self {
            WaitsBy::Vl => N_QUEUES,
            WaitsBy::Sl => N_SLS,
        }
    }
}

/// The observations of all arbiters of one policy.
#[derive(Debug)]
pub struct WaitRecord {
    by: WaitsBy,
    classes: [Class; N_QUEUES],
}

#[derive(Debug, Default)]
struct Class {
    choices: AtomicU64,
    contested: AtomicU64,
    at_least: AtomicU64,
    at_most: AtomicU64,
}

impl Class {
    fn all(&self) -> [&AtomicU64; 4] {
        [
            &self.choices,
            &self.contested,
            &self.at_least,
            &self.at_most,
        ]
    }

    fn wait(&self, wait: Waiting) {
        let at_most = wait.in_flight + wait.granted;
        for (longest, wait) in [(&self.at_least, wait.granted), (&self.at_most, at_most)] {
            // Most waits are short, and a load is cheaper than a store.
            if wait > longest.load(Relaxed) {
                longest.fetch_max(wait, Relaxed);
            }
        }
    }
}

/// The longest wait of a class over all outputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LongestWait {
    /// The service level or lane.
    pub class: u8,
    /// Choices that it won: packets sent.
    pub choices: u64,
    /// Of those, choices with more than one eligible queue.
    pub contested: u64,
    /// A lower bound of the longest wait, in bytes that the link sends.
    pub at_least: u64,
    /// An upper bound, in bytes that the link sends.
    pub at_most: u64,
}

impl WaitRecord {
    fn new(by: WaitsBy) -> WaitRecord {
        WaitRecord {
            by,
            classes: std::array::from_fn(|_| Class::default()),
        }
    }

    pub fn by(&self) -> WaitsBy {
        self.by
    }

    /// Returns the number of choices, one for every packet sent, and how many of them had more than
    /// one eligible queue.
    pub fn choices(&self) -> (u64, u64) {
        let sum = |of: fn(&Class) -> &AtomicU64| {
            let all = self.classes.iter().map(|class| of(class).load(Relaxed));
            all.sum()
        };
        (sum(|class| &class.choices), sum(|class| &class.contested))
    }

    /// Returns the observations as plain numbers, for records of other processes.
    pub fn numbers(&self) -> Vec<u64> {
        let of = |class: &Class| class.all().map(|number| number.load(Relaxed));
        self.classes.iter().flat_map(of).collect()
    }

    /// Adds the observations of other processes ([`numbers`](Self::numbers)).
    pub fn add(&self, numbers: &[u64]) {
        for (class, more) in self.classes.iter().zip(numbers.chunks_exact(4)) {
            let [choices, contested, at_least, at_most] = class.all();
            choices.fetch_add(more[0], Relaxed);
            contested.fetch_add(more[1], Relaxed);
            at_least.fetch_max(more[2], Relaxed);
            at_most.fetch_max(more[3], Relaxed);
        }
    }

    /// Returns every class that sent a packet or waited.
    pub fn longest(&self) -> Vec<LongestWait> {
        let numbered = self.classes.iter().enumerate().take(self.by.n_classes());
        let all = numbered.map(|(class, seen)| LongestWait {
            class: class as u8,
            choices: seen.choices.load(Relaxed),
            contested: seen.contested.load(Relaxed),
            at_least: seen.at_least.load(Relaxed),
            at_most: seen.at_most.load(Relaxed),
        });
        all.filter(|wait| wait.choices > 0 || wait.at_most > 0)
            .collect()
    }
}

/// A policy whose arbiters have wait monitors. They choose the same as the policy's own arbiters.
pub struct Monitored {
    policy: Arc<dyn Policy>,
    /// Lets the arbiters of all ports share their tables here too.
    table: Option<TwoTable>,
    record: Arc<WaitRecord>,
}

impl Monitored {
    /// Wraps a policy so that its arbiters have wait monitors. Waits are measured per class of the
    /// policy. If it distinguishes only queues, `queues_stand_for` gives their meaning at this
    /// port.
    pub fn new(policy: Arc<dyn Policy>, queues_stand_for: WaitsBy) -> Monitored {
        let by = match policy.speaks() {
            Speaks::Queues => queues_stand_for,
            Speaks::Vls => WaitsBy::Vl,
            Speaks::Sls => WaitsBy::Sl,
        };
        Monitored::sharing(policy, Arc::new(WaitRecord::new(by)))
    }

    /// Returns the same with the record of others: outputs of one position whose policies have the
    /// same classes.
    pub fn sharing(policy: Arc<dyn Policy>, record: Arc<WaitRecord>) -> Monitored {
        Monitored {
            table: policy.two_table(),
            policy,
            record,
        }
    }

    /// Returns the shared record of all wait monitors.
    pub fn record(&self) -> Arc<WaitRecord> {
        self.record.clone()
    }
}

impl Policy for Monitored {
    fn build(&self) -> Box<dyn Arbiter> {
        let record = self.record.clone();
        match &self.table {
            Some(table) => Box::new(WaitMonitor::new(table.clone(), record)),
            None => Box::new(WaitMonitor::new(self.policy.build(), record)),
        }
    }

    // No specialised arbiter has a wait monitor, so a policy without them has no overhead.
    fn two_table(&self) -> Option<TwoTable> {
        None
    }

    fn faults(&self, context: &PortContext) -> Vec<Fault> {
        self.policy.faults(context)
    }

    fn speaks(&self) -> Speaks {
        self.policy.speaks()
    }

    fn sendable_vls(&self) -> u32 {
        self.policy.sendable_vls()
    }

    fn sendable_sls(&self) -> u32 {
        self.policy.sendable_sls()
    }

    fn serves_everyone(&self) -> bool {
        self.policy.serves_everyone()
    }
}

/// An arbiter with its observed choices.
pub struct WaitMonitor<A> {
    arbiter: A,
    record: Arc<WaitRecord>,
    /// Classes that were not eligible in some view since the last commit.
    absent: Cell<u32>,
    /// The last view answered, as far as the commit needs it.
    answered: Cell<Answered>,
    /// Bytes of the packet granted last.
    in_flight: u32,
    /// Classes whose head was eligible in every view since the wait began.
    waiting: u32,
    /// By class, up to the highest class seen.
    waits: Vec<Waiting>,
}

#[derive(Clone, Copy, Default)]
struct Answered {
    /// Classes with an eligible head.
    classes: u32,
    /// The class and length of the chosen packet.
    class: u8,
    bytes: u32,
    is_contested: bool,
}

/// A wait that has not ended, in bytes.
#[derive(Clone, Copy, Default)]
struct Waiting {
    in_flight: u64,
    granted: u64,
}

impl<A> WaitMonitor<A> {
    fn new(arbiter: A, record: Arc<WaitRecord>) -> Self {
        WaitMonitor {
            arbiter,
            record,
            absent: Cell::new(0),
            answered: Cell::default(),
            in_flight: 0,
            waiting: 0,
            waits: vec![],
        }
    }

    fn sent(&mut self) {
        let seen = self.answered.get();
        let n_classes = (u32::BITS - seen.classes.leading_zeros()) as usize;
        if self.waits.len() < n_classes {
            self.waits.resize(n_classes, Waiting::default());
        }
        // Waits that began after the last commit: they may have begun with its packet.
        self.waiting &= !self.absent.replace(0);
        for class in queues(seen.classes & !self.waiting) {
            self.waits[class] = Waiting {
                in_flight: self.in_flight.into(),
                granted: 0,
            };
        }
        // One of them ends, and the others continue.
        self.waiting = seen.classes & !(1 << seen.class);
        for class in queues(self.waiting) {
            self.waits[class].granted += u64::from(seen.bytes);
        }
        self.in_flight = seen.bytes;
        for class in queues(seen.classes) {
            self.record.classes[class].wait(self.waits[class]);
        }
        let winner = &self.record.classes[usize::from(seen.class)];
        winner.choices.fetch_add(1, Relaxed);
        winner
            .contested
            .fetch_add(seen.is_contested.into(), Relaxed);
    }
}

impl<A: Arbiter> Arbiter for WaitMonitor<A> {
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        let grant = self.arbiter.choose(view);
        let by = self.record.by;
        let classes = queues(view.eligible).fold(0, |classes, queue| {
            classes | 1 << by.class(&view.heads[queue])
        });
        self.absent.set(self.absent.get() | !classes);
        if let Some(grant) = grant {
            let head = &view.heads[usize::from(grant.queue)];
            self.answered.set(Answered {
                classes,
                class: by.class(head) as u8,
                bytes: head.bytes,
                is_contested: view.eligible.count_ones() > 1,
            });
        }
        grant
    }

    fn commit(&mut self, grant: Grant) {
        self.arbiter.commit(grant);
        self.sent();
    }

    fn arrived(&mut self, queue: u8, head: &Head) {
        self.arbiter.arrived(queue, head);
    }

    /// Saves the waits that have not ended; the observations of all monitors are in their record.
    fn save(&self, out: &mut Vec<u64>) {
        self.arbiter.save(out);
        out.extend([self.absent.get(), self.in_flight, self.waiting].map(u64::from));
        out.push(self.waits.len() as u64);
        out.extend(
            self.waits
                .iter()
                .flat_map(|wait| [wait.in_flight, wait.granted]),
        );
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        self.arbiter.restore(from)?;
        self.absent.set(take_word(from)?);
        self.in_flight = take_word(from)?;
        self.waiting = take_word(from)?;
        let n = take_word::<usize>(from).filter(|n| *n <= N_QUEUES)?;
        let words = from.split_off(..2 * n)?.as_chunks().0.iter();
        let wait = |&[in_flight, granted]: &[u64; 2]| Waiting { in_flight, granted };
        self.waits = words.map(wait).collect();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RoundRobin, StrictPriority, VlOrder};
    use netloom_units::{Sl, Tick, Vl};

    /// Returns heads of queue, class (both its level and its lane) and bytes.
    fn heads(of: &[(usize, u8, u32)]) -> (u32, [Head; N_QUEUES]) {
        let mut heads = [Head::default(); N_QUEUES];
        let mut eligible = 0;
        for &(queue, class, bytes) in of {
            heads[queue] = Head {
                born: Tick(0),
                bytes,
                sl: Sl(class),
                vl: Vl(class),
            };
            eligible |= 1 << queue;
        }
        (eligible, heads)
    }

    /// A port with a wait monitor that takes the lowest eligible queue.
    struct Port {
        arbiter: Box<dyn Arbiter>,
        record: Arc<WaitRecord>,
    }

    fn strict() -> Port {
        let order = VlOrder::default();
        let policy = Monitored::new(Arc::new(StrictPriority { order }), WaitsBy::Sl);
        Port {
            arbiter: policy.build(),
            record: policy.record(),
        }
    }

    impl Port {
        fn send(&mut self, of: &[(usize, u8, u32)]) -> u8 {
            let (eligible, heads) = heads(of);
            let view = View {
                eligible,
                heads: &heads,
            };
            let grant = self.arbiter.choose(&view).expect("a packet");
            self.arbiter.commit(grant);
            grant.queue
        }

        /// Returns the lower and the upper bound.
        fn longest(&self, class: u8) -> (u64, u64) {
            let all = self.record.longest();
            let found = all.iter().find(|wait| wait.class == class);
            found.map_or((0, 0), |wait| (wait.at_least, wait.at_most))
        }
    }

    /// Returns the lane that goes first under the default order, and one that goes after it.
    fn first_and_last() -> (u8, u8) {
        let mut port = strict();
        match port.send(&[(0, 0, 64), (1, 1, 64)]) {
            0 => (0, 1),
            _ => (1, 0),
        }
    }

    #[test]
    fn a_wait_is_what_others_send_and_the_packet_before() {
        let (high, low) = first_and_last();
        let (high, low) = ((usize::from(high), high), (usize::from(low), low));
        let packet = |(queue, class): (usize, u8), bytes| (queue, class, bytes);
        let mut port = strict();
        // The low lane is present from the second view on; 1000 bytes may have been in flight then.
        port.send(&[packet(high, 1000)]);
        port.send(&[packet(high, 300), packet(low, 64)]);
        port.send(&[packet(high, 200), packet(low, 64)]);
        // It counts before it has ended.
        assert_eq!(port.longest(low.1), (500, 1500));
        port.send(&[packet(low, 64)]);
        assert_eq!(port.longest(low.1), (500, 1500));
        // The next one waits for an own packet of 64 bytes.
        port.send(&[packet(high, 1440), packet(low, 64)]);
        port.send(&[packet(low, 64)]);
        assert_eq!(port.longest(low.1), (1440, 1504));
        // The high lane waited only for the packet before.
        assert_eq!(port.longest(high.1), (0, 1000));
        assert_eq!(port.record.choices(), (6, 3));
        let mut won: Vec<_> = port.record.longest();
        won.sort_by_key(|wait| wait.class != high.1);
        let won = won.iter().map(|wait| (wait.choices, wait.contested));
        assert_eq!(won.collect::<Vec<_>>(), [(4, 3), (2, 0)]);
    }

    #[test]
    fn a_class_without_credits_starts_again() {
        let (high, low) = first_and_last();
        let mut port = strict();
        let high = |bytes| (usize::from(high), high, bytes);
        let low = |bytes| (usize::from(low), low, bytes);
        port.send(&[high(100), low(64)]);
        port.send(&[high(100)]);
        port.send(&[high(100), low(64)]);
        port.send(&[low(64)]);
        // It was present in the first view, absent in the second, and waited for the third.
        assert_eq!(port.longest(low(0).1), (100, 200));
    }

    #[test]
    fn queues_of_one_class_wait_as_one() {
        // Lanes by queue, as at a NIC where two levels share a lane.
        let mut port = strict();
        let (high, low) = first_and_last();
        port.send(&[(0, high, 10), (1, low, 7), (2, low, 9)]);
        port.send(&[(0, high, 20), (1, low, 7)]);
        port.send(&[(0, high, 40), (2, low, 9)]);
        port.send(&[(2, low, 9)]);
        assert_eq!(port.longest(low), (70, 70));
    }

    #[test]
    fn a_view_that_nobody_answers_ends_a_wait() {
        /// Sends queue 0 only.
        struct OnlyFirst;
        impl Arbiter for OnlyFirst {
            fn choose(&self, view: &View<'_>) -> Option<Grant> {
                (view.eligible & 1 == 1).then(|| Grant::of_management(0))
            }
            fn commit(&mut self, _grant: Grant) {}
            fn save(&self, _out: &mut Vec<u64>) {}
            fn restore(&mut self, _from: &mut &[u64]) -> Option<()> {
                Some(())
            }
        }
        let record = Arc::new(WaitRecord::new(WaitsBy::Vl));
        let mut port = Port {
            arbiter: Box::new(WaitMonitor::new(OnlyFirst, record.clone())),
            record,
        };
        port.send(&[(0, 0, 100), (1, 1, 64)]);
        // Lane 1 now has no credits, and lane 2 is never served.
        let (eligible, heads) = heads(&[(2, 2, 64)]);
        let view = View {
            eligible,
            heads: &heads,
        };
        assert!(port.arbiter.choose(&view).is_none());
        port.send(&[(0, 0, 50), (1, 1, 64)]);
        assert_eq!(port.longest(1), (100, 150));
    }

    #[test]
    fn waits_are_distinguished_as_the_policy_does() {
        let by = |policy: Arc<dyn Policy>, queues| Monitored::new(policy, queues).record().by();
        let order = VlOrder::default();
        assert_eq!(
            by(Arc::new(StrictPriority { order }), WaitsBy::Sl),
            WaitsBy::Vl
        );
        assert_eq!(by(Arc::new(RoundRobin {}), WaitsBy::Sl), WaitsBy::Sl);
        assert_eq!(by(Arc::new(RoundRobin {}), WaitsBy::Vl), WaitsBy::Vl);
        // Management has no level.
        let head = Head {
            vl: MANAGEMENT_VL,
            ..Head::default()
        };
        assert_eq!(WaitsBy::Sl.class(&head), N_SLS);
    }
}

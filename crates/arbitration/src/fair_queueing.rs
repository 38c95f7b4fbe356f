//! Fair queueing by finish tags: SCFQ and WFQ, over service levels.
//!
//! ```text
//! packet joins a queue ─► finish = max(virtual time, finish of the one before in its class)
//!                                  + bytes / weight                       kept with the packet
//! decision             ─► the eligible head with the least finish; the lowest queue on a tie
//! packet is sent       ─► virtual time moves: SCFQ to its finish tag; WFQ as the fluid system would
//! ```
//!
//! **SCFQ** (Golestani, "A self-clocked fair queueing scheme for broadband applications", INFOCOM
//! 1994): the virtual time is the finish tag of the packet sent last. It never decreases: a packet
//! that waited for credits while later tags were sent leaves it unchanged.
//!
//! **WFQ** (Demers, Keshav and Shenker, SIGCOMM 1989; as packetised GPS, Parekh and Gallager 1993):
//! the virtual time is that of a fluid system which serves all classes with work at once, by
//! weight. It advances by bytes / (weights of the classes with work there). Approximations:
//!
//! - Time is counted in bytes sent, because arbiters have no clock. An idle link changes nothing
//!   (the fluid system is idle as well). While credits are missing, the fluid system waits too.
//! - The virtual time advances by a whole packet when that packet begins, so a packet that arrives
//!   meanwhile gets a tag that is up to one packet late.
//! - The tags are whole numbers: bytes * 2^24 / weight, rounded down. They suffice for 2^40 bytes
//!   per unit of weight.
//!
//! A NIC does not announce its packets ([`Arbiter::arrived`]). An unannounced packet counts as
//! arriving directly after its predecessor, if it is eligible at the next decision. Otherwise it
//! arrives at the first decision that finds it eligible. In the fluid system its class then has
//! work while it is eligible. Such queues of one class are one FIFO: the oldest head has the
//! tag of the class.
//!
//! A service level without a weight has weight 1, so every packet can be sent.

use std::collections::VecDeque;

use netloom_catalog::{Described, Section, params};

use crate::head::queues;
use crate::{
    Arbiter, Fault, Grant, Head, MANAGEMENT_VL, N_QUEUES, N_SLS, Policy, PortContext, SlEntry,
    Speaks, View, take_word,
};

params! {
    /// Self-clocked fair queueing.
    #[derive(Clone, Debug)]
    pub struct Scfq {
        /// [service level, weight] pairs, each service level once, weights from 1. Other levels
        /// have weight 1.
        pub weights: Vec<SlEntry> = vec![],
    }
    check |scfq, section| {
        check_weights(&scfq.weights, section);
    }
}

params! {
    /// Weighted fair queueing.
    #[derive(Clone, Debug)]
    pub struct Wfq {
        /// [service level, weight] pairs, each service level once, weights from 1. Other levels
        /// have weight 1.
        pub weights: Vec<SlEntry> = vec![],
    }
    check |wfq, section| {
        check_weights(&wfq.weights, section);
    }
}

fn check_weights(weights: &[SlEntry], section: &mut Section<'_>) {
    let mut seen = 0u32;
    for entry in weights {
        let message = if entry.sl.index() >= N_SLS {
            format!(
                "{} is not a service level; service levels are SL0 to SL15",
                entry.sl
            )
        } else if seen >> entry.sl.0 & 1 == 1 {
            format!("{} is listed twice", entry.sl)
        } else if entry.weight == 0 {
            format!("{} has weight 0; use at least 1", entry.sl)
        } else {
            seen |= 1 << entry.sl.0;
            continue;
        };
        let place = section.place_of("weights");
        section.notes.error("E0102", place, message);
    }
}

impl Described for Scfq {
    const NAME: &'static str = "scfq";
    const SUMMARY: &'static str =
        "Self-clocked fair queueing: the smallest finish tag first, shares by weight in bytes.";
    const PAPER: Option<&'static str> = Some(
        "Golestani, A self-clocked fair queueing scheme for broadband applications, INFOCOM 1994",
    );
    const EXAMPLE: &'static str = "weights = [[0, 4], [1, 2], [2, 1]]";
}

impl Described for Wfq {
    const NAME: &'static str = "wfq";
    const SUMMARY: &'static str =
        "Weighted fair queueing: packets in the order in which a fluid system would finish them.";
    const PAPER: Option<&'static str> =
        Some("Parekh and Gallager, A generalized processor sharing approach to flow control, 1993");
    const EXAMPLE: &'static str = "weights = [[0, 4], [1, 2], [2, 1]]";
}

impl Policy for Scfq {
    fn build(&self) -> Box<dyn Arbiter> {
        Box::new(TagArbiter::new(&self.weights, Clock::SelfClocked))
    }
    fn faults(&self, _context: &PortContext) -> Vec<Fault> {
        vec![]
    }
    fn speaks(&self) -> Speaks {
        Speaks::Sls
    }
    fn tags_arrivals(&self) -> bool {
        true
    }
    fn serves_everyone(&self) -> bool {
        true
    }
}

impl Policy for Wfq {
    fn build(&self) -> Box<dyn Arbiter> {
        Box::new(TagArbiter::new(&self.weights, Clock::Fluid))
    }
    fn faults(&self, _context: &PortContext) -> Vec<Fault> {
        vec![]
    }
    fn speaks(&self) -> Speaks {
        Speaks::Sls
    }
    fn tags_arrivals(&self) -> bool {
        true
    }
    fn serves_everyone(&self) -> bool {
        true
    }
}

/// The rule that advances the virtual time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Clock {
    SelfClocked,
    Fluid,
}

/// Fractional bits per byte of weight 1.
const FRACTION: u32 = 24;

/// The arrival of a head that was not announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Came {
    /// At this virtual time.
    At(u64),
    /// Directly after a packet of this service level.
    After(u8),
}

/// A grant carries `[unannounced, classes, finish (low, high), bytes, winner]`: the eligible queues
/// whose heads were not announced, and the service levels of those heads, one bit each; the finish
/// tag and the length of the packet; its service level plus one, or 0 for management.
struct TagArbiter {
    clock: Clock,
    weights: [u32; N_SLS],
    now: u64,
    /// The last finish tag of each class.
    last: [u64; N_SLS],
    /// The tags of the announced packets of each queue.
    tags: [VecDeque<u64>; N_QUEUES],
    /// The arrival of the unannounced head of each queue, once a decision has seen it.
    came: [Option<Came>; N_QUEUES],
}

impl TagArbiter {
    fn new(weights: &[SlEntry], clock: Clock) -> TagArbiter {
        let mut by_sl = [1; N_SLS];
        for entry in weights {
            by_sl[entry.sl.index() % N_SLS] = u32::from(entry.weight).max(1);
        }
        TagArbiter {
            clock,
            weights: by_sl,
            now: 0,
            last: [0; N_SLS],
            tags: Default::default(),
            came: [None; N_QUEUES],
        }
    }

    /// Returns the finish tag of a packet that begins at a virtual time.
    fn finish(&self, begin: u64, head: &Head) -> u64 {
        let weight = u64::from(self.weights[head.sl.index() % N_SLS]);
        begin + (u64::from(head.bytes.max(1)) << FRACTION) / weight
    }

    /// Returns the finish tag of the head of a queue.
    fn tag(&self, queue: usize, head: &Head) -> u64 {
        if let Some(&tag) = self.tags[queue].front() {
            return tag;
        }
        let came = match self.came[queue] {
            Some(Came::After(sl)) if sl == head.sl.0 => 0,
            Some(Came::At(time)) => time,
            _ => self.now,
        };
        self.finish(came.max(self.last[head.sl.index() % N_SLS]), head)
    }

    /// Advances the fluid system by `bytes` bytes; the classes of `classes` always have work.
    fn flow(&mut self, bytes: u32, classes: u32) {
        let mut left = u128::from(bytes) << FRACTION;
        loop {
            let mut weights = 0;
            let mut next: Option<u64> = None;
            for sl in 0..N_SLS {
                if classes >> sl & 1 == 1 {
                    weights += u128::from(self.weights[sl]);
                } else if self.last[sl] > self.now {
                    weights += u128::from(self.weights[sl]);
                    next = Some(next.map_or(self.last[sl], |least| least.min(self.last[sl])));
                }
            }
            if weights == 0 {
                return;
            }
            // Until the next class has no more work.
            let Some((time, work)) = next
                .map(|time| (time, u128::from(time - self.now) * weights))
                .filter(|&(_, work)| work <= left)
            else {
                self.now += (left / weights) as u64;
                return;
            };
            self.now = time;
            left -= work;
        }
    }
}

impl Arbiter for TagArbiter {
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        if let Some(queue) = view.management() {
            return Some(Grant::of_management(queue));
        }
        let (mut unannounced, mut classes) = (0, 0);
        let mut oldest = [None; N_SLS];
        let mut least: Option<(u64, usize)> = None;
        let mut consider = |queue: usize| {
            let tag = self.tag(queue, &view.heads[queue]);
            if least.is_none_or(|other| (tag, queue) < other) {
                least = Some((tag, queue));
            }
        };
        for queue in queues(view.eligible) {
            if !self.tags[queue].is_empty() {
                consider(queue);
                continue;
            }
            let head = &view.heads[queue];
            let class = head.sl.index() % N_SLS;
            unannounced |= 1 << queue;
            classes |= 1 << class;
            if oldest[class].is_none_or(|(born, _)| head.born < born) {
                oldest[class] = Some((head.born, queue));
            }
        }
        for (_, queue) in oldest.into_iter().flatten() {
            consider(queue);
        }
        let (finish, queue) = least?;
        let head = &view.heads[queue];
        Some(Grant {
            queue: queue as u8,
            registers: [
                unannounced,
                classes,
                finish as u32,
                (finish >> 32) as u32,
                head.bytes,
                u32::from(head.sl.0) + 1,
            ],
        })
    }

    fn commit(&mut self, grant: Grant) {
        let [unannounced, classes, low, high, bytes, winner] = grant.registers;
        let Some(sl) = winner.checked_sub(1) else {
            return;
        };
        let finish = u64::from(low) | u64::from(high) << 32;
        for (queue, came) in self.came.iter_mut().enumerate() {
            *came = match *came {
                _ if unannounced >> queue & 1 == 0 => match *came {
                    // It was not queued after another packet, or it waits for credits.
                    Some(Came::After(_)) => None,
                    other => other,
                },
                None => Some(Came::At(self.now)),
                known => known,
            };
        }
        let queue = usize::from(grant.queue);
        if self.tags[queue].pop_front().is_none() {
            let last = &mut self.last[sl as usize % N_SLS];
            *last = finish.max(*last);
            self.came[queue] = Some(Came::After(sl as u8));
        }
        match self.clock {
            Clock::SelfClocked => self.now = self.now.max(finish),
            Clock::Fluid => self.flow(bytes, classes),
        }
    }

    fn arrived(&mut self, queue: u8, head: &Head) {
        if head.vl == MANAGEMENT_VL {
            return;
        }
        let class = head.sl.index() % N_SLS;
        let tag = self.finish(self.now.max(self.last[class]), head);
        self.last[class] = tag;
        self.tags[usize::from(queue)].push_back(tag);
    }

    fn save(&self, out: &mut Vec<u64>) {
        out.push(self.now);
        out.extend(self.last);
        for tags in &self.tags {
            out.push(tags.len() as u64);
            out.extend(tags);
        }
        for came in self.came {
            out.extend(match came {
                None => [0, 0],
                Some(Came::At(time)) => [1, time],
                Some(Came::After(sl)) => [2, sl.into()],
            });
        }
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        self.now = take_word(from)?;
        for last in &mut self.last {
            *last = take_word(from)?;
        }
        for tags in &mut self.tags {
            let n: usize = take_word(from)?;
            *tags = from.split_off(..n)?.iter().copied().collect();
        }
        for came in &mut self.came {
            *came = match take_word::<u64>(from)? {
                0 => take_word::<u64>(from).map(|_| None)?,
                1 => Some(Came::At(take_word(from)?)),
                2 => Some(Came::After(take_word(from)?)),
                _ => return None,
            };
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_units::Sl;

    fn arbiter(clock: Clock, weights: &[u16]) -> TagArbiter {
        let entry = |(sl, &weight): (u8, &u16)| SlEntry { sl: Sl(sl), weight };
        let weights: Vec<SlEntry> = (0..).zip(weights).map(entry).collect();
        TagArbiter::new(&weights, clock)
    }

    fn head(sl: u8, bytes: u32) -> Head {
        Head {
            sl: Sl(sl),
            bytes,
            ..Head::default()
        }
    }

    /// Announces packets as (service level, bytes), all at once, and sends them all.
    fn order(clock: Clock, weights: &[u16], packets: &[(u8, u32)]) -> Vec<u8> {
        let mut arbiter = arbiter(clock, weights);
        let mut queues: [VecDeque<Head>; N_QUEUES] = Default::default();
        for &(sl, bytes) in packets {
            arbiter.arrived(sl, &head(sl, bytes));
            queues[usize::from(sl)].push_back(head(sl, bytes));
        }
        let mut sent = vec![];
        loop {
            let mut heads = [Head::default(); N_QUEUES];
            let mut eligible = 0;
            for (at, queue) in queues.iter().enumerate() {
                if let Some(head) = queue.front() {
                    heads[at] = *head;
                    eligible |= 1 << at;
                }
            }
            let heads = &heads;
            let Some(grant) = arbiter.choose(&View { eligible, heads }) else {
                return sent;
            };
            arbiter.commit(grant);
            queues[usize::from(grant.queue)].pop_front();
            sent.push(grant.queue);
        }
    }

    #[test]
    fn packets_that_come_together_leave_by_finish_tag() {
        // Weight 2: tags 50, 100, 150, 200. Weight 1: tags 100, 200; the lower queue on a tie.
        let packets = [(0, 100), (0, 100), (0, 100), (0, 100), (1, 100), (1, 100)];
        for clock in [Clock::SelfClocked, Clock::Fluid] {
            assert_eq!(order(clock, &[2, 1], &packets), [0, 0, 1, 0, 0, 1]);
            // Short packets of SL1 finish before the long one of SL0.
            let packets = [(0, 400), (1, 100), (1, 100), (1, 100), (1, 100), (1, 100)];
            assert_eq!(order(clock, &[1, 1], &packets), [1, 1, 1, 0, 1, 1]);
        }
    }

    const UNIT: u64 = 1 << FRACTION;

    #[test]
    fn the_self_clock_is_the_tag_of_the_packet_in_service() {
        let mut arbiter = arbiter(Clock::SelfClocked, &[1, 1]);
        let heads = [head(0, 300); N_QUEUES];
        arbiter.arrived(0, &heads[0]);
        let grant = arbiter.choose(&View {
            eligible: 1,
            heads: &heads,
        });
        arbiter.commit(grant.unwrap());
        assert_eq!(arbiter.now, 300 * UNIT);
        // A class that arrives now begins at the clock, not at 0.
        arbiter.arrived(1, &head(1, 100));
        assert_eq!(arbiter.tags[1], [400 * UNIT]);
    }

    #[test]
    fn the_fluid_clock_moves_with_the_weights_that_have_work() {
        let mut arbiter = arbiter(Clock::Fluid, &[1, 3]);
        arbiter.arrived(0, &head(0, 100));
        arbiter.arrived(1, &head(1, 60));
        // Both until SL1 has no more work: virtual time 20 after 20 * 4 = 80 bytes; then SL0 alone.
        arbiter.flow(40, 0);
        assert_eq!(arbiter.now, 10 * UNIT);
        arbiter.flow(50, 0);
        assert_eq!(arbiter.now, 30 * UNIT);
        arbiter.flow(70, 0);
        assert_eq!(arbiter.now, 100 * UNIT);
        // Everything is sent: time stops.
        arbiter.flow(1000, 0);
        assert_eq!(arbiter.now, 100 * UNIT);
    }

    #[test]
    fn what_is_not_announced_keeps_its_first_tag_while_it_waits() {
        for clock in [Clock::SelfClocked, Clock::Fluid] {
            // SL1 has a hundredth of the weight of SL0, and a packet a hundredth as long.
            let mut arbiter = arbiter(clock, &[100, 1]);
            let mut heads = [head(0, 6400); N_QUEUES];
            let mut sent = vec![];
            for round in 0..8 {
                // SL1 arrives in the third round.
                heads[1] = head(1, 64);
                let eligible = if round < 2 { 1 } else { 3 };
                let grant = arbiter
                    .choose(&View {
                        eligible,
                        heads: &heads,
                    })
                    .unwrap();
                arbiter.commit(grant);
                sent.push(grant.queue);
            }
            assert_eq!(sent[..2], [0, 0]);
            assert!(sent[2..5].contains(&1), "{clock:?}: {sent:?}");
        }
    }
}

//! Weighted round robin: classes take turns, each with a number of packets or bytes.
//!
//! In Katevenis, Sidiropoulos and Courcoubetis, "Weighted round-robin cell multiplexing in a
//! general-purpose ATM switch chip" (1991), packets are cells of one length, and a class sends up
//! to its weight in packets per turn. With packets of several lengths, the shares are then weight
//! times mean length. With `unit = "bytes"` a turn lasts while less than the weight was sent, so
//! the last packet may exceed it. The rest or excess is dropped, so shares are rounded up to
//! packets, as with the tables of InfiniBand. For exact shares of bytes use `deficit-round-robin`.
//!
//! A turn also ends when its class has nothing to send, which is decided when a packet must be
//! chosen. All packets of a turn are sent consecutively. Queues of one lane are one FIFO: the
//! oldest head goes first. Queues of one service level take turns among themselves.

use netloom_catalog::{Described, choice, params};
use netloom_units::Vl;

use crate::head::vl_bit;
use crate::policy::lane_faults;
use crate::service_levels::SlRoundRobin;
use crate::{
    Arbiter, Fault, Grant, MANAGEMENT_VL, N_SLS, Policy, PortContext, Speaks, View, take_word,
};

choice! {
    /// The classes that take turns.
    pub enum TurnsOf {
        /// Virtual lanes.
        Vls = "vl",
        /// Service levels.
        Sls = "sl",
    }
}

choice! {
    /// The unit of a weight.
    pub enum WeightUnit {
        /// Packets.
        Packets = "packets",
        /// Bytes.
        Bytes = "bytes",
    }
}

params! {
    /// Lanes or service levels in turn, by weight.
    #[derive(Clone, Debug)]
    pub struct WeightedRoundRobin {
        /// The classes in order: [lane or service level, weight] pairs, each once, weights from 1.
        /// Other classes are never sent.
        pub weights: Vec<(u8, u32)>,
        /// Whether lanes ("vl") or service levels ("sl") take turns.
        pub by: TurnsOf = TurnsOf::Vls,
        /// Whether a weight counts packets or bytes.
        pub unit: WeightUnit = WeightUnit::Packets,
    }
    check |wrr, section| {
        let (most, word) = match wrr.by {
            TurnsOf::Vls => (14, "data lane"),
            TurnsOf::Sls => (N_SLS as u8 - 1, "service level"),
        };
        for (at, &(class, weight)) in wrr.weights.iter().enumerate() {
            let is_twice = wrr.weights[..at].iter().any(|&(other, _)| other == class);
            let message = if class > most {
                format!("{class} is not a {word}; use 0 to {most}")
            } else if is_twice {
                format!("{word} {class} is listed twice")
            } else if weight == 0 {
                format!("{word} {class} has weight 0; use at least 1, or remove it")
            } else {
                continue;
            };
            let place = section.place_of("weights");
            section.notes.error("E0102", place, message);
        }
    }
}

impl Described for WeightedRoundRobin {
    const NAME: &'static str = "weighted-round-robin";
    const SUMMARY: &'static str =
        "Lanes or service levels in turn, each with a number of packets or bytes.";
    const PAPER: Option<&'static str> = Some(
        "Katevenis, Sidiropoulos and Courcoubetis, Weighted round-robin cell multiplexing, 1991",
    );
    const EXAMPLE: &'static str = "weights = [[0, 4], [1, 2], [2, 1]]";
}

impl Policy for WeightedRoundRobin {
    fn build(&self) -> Box<dyn Arbiter> {
        let live = self.weights.iter().filter(|(_, weight)| *weight > 0);
        let turns: Vec<(u8, u32)> = live.copied().collect();
        Box::new(WeightedRoundRobinArbiter {
            at: turns.len().saturating_sub(1),
            turns,
            by: self.by,
            unit: self.unit,
            counter: 0,
            round_robin: SlRoundRobin::default(),
        })
    }

    fn faults(&self, context: &PortContext) -> Vec<Fault> {
        match self.by {
            TurnsOf::Vls => lane_faults("weights", self.classes(), context),
            TurnsOf::Sls if self.classes() == 0 => vec![Fault::error(
                "weights",
                "no service level has a weight, so nothing would ever be sent".into(),
                "add pairs of [service level, weight], as in weights = [[0, 4], [1, 2]]".into(),
            )],
            TurnsOf::Sls => vec![],
        }
    }

    fn speaks(&self) -> Speaks {
        match self.by {
            TurnsOf::Vls => Speaks::Vls,
            TurnsOf::Sls => Speaks::Sls,
        }
    }

    fn sendable_vls(&self) -> u32 {
        match self.by {
            TurnsOf::Vls => self.classes() | vl_bit(MANAGEMENT_VL),
            TurnsOf::Sls => u32::MAX,
        }
    }

    fn sendable_sls(&self) -> u32 {
        match self.by {
            TurnsOf::Vls => u32::MAX,
            TurnsOf::Sls => self.classes(),
        }
    }

    /// True for every class of the list.
    fn serves_everyone(&self) -> bool {
        true
    }
}

impl WeightedRoundRobin {
    fn classes(&self) -> u32 {
        let live = self.weights.iter().filter(|(_, weight)| *weight > 0);
        live.fold(0, |classes, (class, _)| classes | 1 << (class % 32))
    }
}

/// A grant carries `[at, counter, is_data, …]`: the turn and what it may still send, which
/// management leaves unchanged.
struct WeightedRoundRobinArbiter {
    turns: Vec<(u8, u32)>,
    by: TurnsOf,
    unit: WeightUnit,
    at: usize,
    counter: u32,
    /// Among the queues of a service level.
    round_robin: SlRoundRobin,
}

impl Arbiter for WeightedRoundRobinArbiter {
    /// Returns `None` if only classes outside the list are eligible.
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        if let Some(queue) = view.management() {
            return Some(Grant::of_management(queue));
        }
        let levels = (self.by == TurnsOf::Sls).then(|| self.round_robin.heads(view));
        let active = levels
            .as_ref()
            .map_or_else(|| view.vls(), |heads| heads.sls);
        let is_active = |at: &usize| active >> self.turns[*at].0 & 1 == 1;
        let n = self.turns.len();
        let goes_on = self.counter > 0 && is_active(&self.at);
        let (at, counter) = if goes_on {
            (self.at, self.counter)
        } else {
            let at = (1..=n).map(|step| (self.at + step) % n).find(is_active)?;
            (at, self.turns[at].1)
        };
        let class = self.turns[at].0;
        let queue = match &levels {
            Some(heads) => heads.queue[usize::from(class)],
            None => view.oldest_of(Vl(class))?,
        };
        let cost = match self.unit {
            WeightUnit::Packets => 1,
            WeightUnit::Bytes => view.heads[usize::from(queue)].bytes.max(1),
        };
        Some(Grant {
            queue,
            registers: [at as u32, counter.saturating_sub(cost), 1, 0, 0, 0],
        })
    }

    fn commit(&mut self, grant: Grant) {
        let [at, counter, is_data, ..] = grant.registers;
        if is_data == 0 {
            return;
        }
        (self.at, self.counter) = (at as usize, counter);
        if self.by == TurnsOf::Sls {
            let sl = usize::from(self.turns[self.at].0);
            self.round_robin.sent(sl, grant.queue);
        }
    }

    fn save(&self, out: &mut Vec<u64>) {
        out.extend([self.at as u64, self.counter.into()]);
        self.round_robin.save(out);
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        let n = self.turns.len().max(1);
        self.at = take_word(from).filter(|at| *at < n)?;
        self.counter = take_word(from)?;
        self.round_robin.restore(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Head;
    use netloom_units::Sl;

    /// Returns what leaves while all three classes have packets of these lengths.
    fn leaves(by: TurnsOf, unit: WeightUnit, weights: [u32; 3], bytes: [u32; 3]) -> Vec<u8> {
        let weights = (0..).zip(weights).collect();
        let mut arbiter = WeightedRoundRobin { weights, by, unit }.build();
        let mut heads = [Head::default(); 32];
        for (class, bytes) in (0..).zip(bytes) {
            let head = &mut heads[usize::from(class)];
            head.bytes = bytes;
            match by {
                TurnsOf::Vls => head.vl = Vl(class),
                TurnsOf::Sls => head.sl = Sl(class),
            }
        }
        let mut sent = vec![];
        for _ in 0..10 {
            let view = View {
                eligible: 0b111,
                heads: &heads,
            };
            let grant = arbiter.choose(&view).unwrap();
            arbiter.commit(grant);
            sent.push(grant.queue);
        }
        sent
    }

    #[test]
    fn a_turn_is_a_number_of_packets_or_bytes() {
        for by in [TurnsOf::Vls, TurnsOf::Sls] {
            assert_eq!(
                leaves(by, WeightUnit::Packets, [3, 1, 2], [9000, 64, 1]),
                [0, 0, 0, 1, 2, 2, 0, 0, 0, 1]
            );
            // 100 bytes: one packet of 100, two of 99 (the second exceeds it), three of 40.
            assert_eq!(
                leaves(by, WeightUnit::Bytes, [100, 100, 100], [100, 99, 40]),
                [0, 1, 1, 2, 2, 2, 0, 1, 1, 2]
            );
        }
    }

    #[test]
    fn a_turn_ends_with_nothing_to_send() {
        let mut arbiter = WeightedRoundRobin {
            weights: vec![(0, 5), (1, 1)],
            by: TurnsOf::Vls,
            unit: WeightUnit::Packets,
        }
        .build();
        let mut heads = [Head::default(); 32];
        heads[1].vl = Vl(1);
        let mut sent = vec![];
        for eligible in [3, 3, 2, 3, 3, 3, 3, 3, 3] {
            let heads = &heads;
            let grant = arbiter.choose(&View { eligible, heads }).unwrap();
            arbiter.commit(grant);
            sent.push(grant.queue);
        }
        assert_eq!(sent, [0, 0, 1, 0, 0, 0, 0, 0, 1]);
    }
}

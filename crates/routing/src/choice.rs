//! Choice among equivalent paths, with one mechanism for all routings.
//!
//! A routing numbers its candidates and returns the hop of each. The choice is a function of the
//! packet, the switch and what the switch sees. It does not depend on earlier choices; round robin
//! is not offered, since it needs a counter per switch. Draws are keyed by the packet and its hop
//! ([`Occasion`]), so the packets of a tick choose independently of their order.

use crate::{Hop, Lookup, Occasion, QueueView};
use netloom_catalog::choice;
use netloom_random::{Draw, Purpose, Stream};

choice! {
    /// How a switch chooses among equivalent outputs.
    pub enum Choice {
        /// By a hash of source and destination: MurmurHash3 with a salt per switch, modulo the
        /// outputs, as in the simulator of HPCC (Y. Li et al., SIGCOMM 2019). Packets of a pair of
        /// NICs keep their path and order.
        Hash = "hash",
        /// A random output for every packet and hop (A. Dixit et al., "On the impact of packet
        /// spraying in data center networks", INFOCOM 2013).
        Spray = "spray",
        /// The output with the fewest waiting flits. A stopped output comes last; ties are broken
        /// at random (C. Gomez et al., "Deterministic versus adaptive routing in fat-trees", CAC
        /// 2007).
        Least = "least",
        /// The better of two different random outputs, or the first if they are equal (M.
        /// Mitzenmacher, "The power of two choices in randomized load balancing", IEEE TPDS 12,
        /// 2001).
        LeastOf2 = "least-of-2",
    }
}

impl Choice {
    /// Whether the choice depends on queues.
    pub fn is_adaptive(self) -> bool {
        matches!(self, Choice::Least | Choice::LeastOf2)
    }

    /// Whether all packets from one NIC to another take the same choice.
    pub fn keeps_order(self) -> bool {
        self == Choice::Hash
    }
}

/// Purpose of the draw of a salt: the last word of its key (0 to 5 belong to trees, grids and
/// groups).
const DRAW_OF_SALT: u32 = 6;

/// Purpose of a draw for a packet: that of a random ascent, so that spraying takes the same paths.
const DRAW_OF_HOP: u32 = 0;

/// A choice prepared for the switches of a fabric.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    choice: Choice,
    /// Queues are compared in units of this many flits.
    granularity: u32,
    /// By switch. With one salt for all, switches that receive the same flows by a hash would all
    /// choose equally, and the second tier of a tree would use few of its links.
    salts: Vec<u32>,
    stream: Stream,
}

impl Chooser {
    /// Creates a chooser. `granularity` is at least 1.
    pub(crate) fn new(choice: Choice, granularity: u32, n_switches: u32, seed: u64) -> Self {
        assert!(granularity > 0, "queues are compared in units of flits");
        let stream = Stream::new(seed, Purpose::Routing);
        let salted = if choice == Choice::Hash {
            n_switches
        } else {
            0
        };
        let salt = |switch| stream.draw([switch, 0, 0, DRAW_OF_SALT]).0[0];
        Chooser {
            choice,
            granularity,
            salts: (0..salted).map(salt).collect(),
            stream,
        }
    }

    /// Chooses one of `n` candidates; `n` is at least 1.
    #[inline]
    pub(crate) fn choose<V: QueueView>(
        &self,
        lookup: &Lookup,
        n: u32,
        hop: impl Fn(u32) -> Hop,
        view: &V,
    ) -> Hop {
        if n == 1 {
            return hop(0);
        }
        let occasion = lookup.occasion;
        let nth = match self.choice {
            Choice::Hash => {
                let key = [occasion.source.0, lookup.destination.0];
                murmur3(&key, self.salts[lookup.at.index()]) % n
            }
            Choice::Spray => self.draw(occasion).below(0, n),
            Choice::Least => self.least(n, |i| self.cost(hop(i), view), occasion),
            Choice::LeastOf2 => {
                let draw = self.draw(occasion);
                let (first, second) = (draw.below(0, n), draw.below(1, n - 1));
                let second = second + u32::from(second >= first);
                match self.cost(hop(second), view) < self.cost(hop(first), view) {
                    true => second,
                    false => first,
                }
            }
        };
        hop(nth)
    }

    /// Returns the cost of a hop: first whether its output is stopped, then the flits that wait for
    /// it.
    #[inline]
    fn cost<V: QueueView>(&self, hop: Hop, view: &V) -> u64 {
        let is_stopped = view.is_stopped(hop.port, hop.lane);
        u64::from(is_stopped) << 32 | u64::from(view.queued(hop.port) / self.granularity)
    }

    /// Returns the candidate with the least cost; ties are broken by a draw.
    #[inline]
    fn least(&self, n: u32, cost: impl Fn(u32) -> u64, occasion: Occasion) -> u32 {
        let (mut least, mut first, mut ties) = (u64::MAX, 0, 0);
        for i in 0..n {
            let cost = cost(i);
            if cost < least {
                (least, first, ties) = (cost, i, 1);
            } else {
                ties += u32::from(cost == least);
            }
        }
        if ties == 1 {
            return first;
        }
        let skipped = self.draw(occasion).below(0, ties);
        let mut alike = (first..n).filter(|&i| cost(i) == least);
        alike
            .nth(skipped as usize)
            .expect("as many as were counted")
    }

    #[inline]
    fn draw(&self, occasion: Occasion) -> Draw {
        let hop = u32::from(occasion.hop);
        let key = [occasion.source.0, occasion.sequence, hop, DRAW_OF_HOP];
        self.stream.draw(key)
    }
}

/// MurmurHash3 (32 bits, x86) of whole words (A. Appleby, public domain).
#[inline]
fn murmur3(words: &[u32], seed: u32) -> u32 {
    let mut hash = seed;
    for word in words {
        let mixed = word.wrapping_mul(0xCC9E_2D51).rotate_left(15);
        hash ^= mixed.wrapping_mul(0x1B87_3593);
        hash = hash
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xE654_6B64);
    }
    hash ^= 4 * words.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EmptyQueues;
    use netloom_units::{NicId, Port, SwitchId};

    /// The flits that wait at each output, and the stopped outputs.
    struct Outputs<'a>(&'a [u32], &'a [u16]);

    impl QueueView for Outputs<'_> {
        fn queued(&self, output: Port) -> u32 {
            self.0[output.index()]
        }

        fn announced(&self, _: Port, _: Port) -> u32 {
            0
        }

        fn is_stopped(&self, output: Port, lane: u8) -> bool {
            lane == 2 && self.1.contains(&output.0)
        }
    }

    fn hop(i: u32) -> Hop {
        Hop {
            port: Port(i as u16),
            lane: 2,
        }
    }

    fn lookup(at: u32, source: u32, destination: u32, sequence: u32) -> Lookup {
        let occasion = Occasion {
            source: NicId(source),
            sequence,
            hop: 0,
        };
        Lookup::any(SwitchId(at), Port(0), 0, NicId(destination)).with(occasion)
    }

    /// Returns how often each output is taken by 8,000 packets.
    fn taken(choice: Choice, granularity: u32, view: &Outputs<'_>) -> Vec<u32> {
        let chooser = Chooser::new(choice, granularity, 1, 5);
        let n = view.0.len();
        let mut taken = vec![0; n];
        for sequence in 0..8000 {
            let hop = chooser.choose(&lookup(0, 3, 9, sequence), n as u32, hop, view);
            taken[hop.port.index()] += 1;
        }
        taken
    }

    /// Published test vectors of MurmurHash3.
    #[test]
    fn known_answers_of_murmur3() {
        assert_eq!(murmur3(&[u32::from_le_bytes(*b"test")], 0), 0xBA6B_D213);
        assert_eq!(murmur3(&[1, 2, 0x0004_0003], 0), 0xCAA0_D353);
        assert_eq!(murmur3(&[1, 2, 0x0004_0003], 1), 0x31F6_59CE);
    }

    /// Two switches choose independently of each other, because their salts differ.
    #[test]
    fn switches_do_not_polarise() {
        let chooser = Chooser::new(Choice::Hash, 1, 64, 7);
        let choose = |switch, flow: u32| {
            let lookup = lookup(switch, flow % 64, flow / 64, 0);
            chooser.choose(&lookup, 8, hop, &EmptyQueues)
        };
        for (a, b) in [(0, 1), (0, 63), (17, 40)] {
            let agree = (0..4000).filter(|&flow| choose(a, flow) == choose(b, flow));
            let share = agree.count() as f64 / 4000.0;
            assert!((share - 0.125).abs() < 0.02, "{share}");
        }
        assert!((0..4000).all(|flow| choose(5, flow) == choose(5, flow)));
    }

    /// Flows on the fullest of the links, averaged over 2,000 draws, against the balls-in-bins
    /// value.
    #[test]
    fn hashed_flows_collide_as_balls_in_bins() {
        let chooser = Chooser::new(Choice::Hash, 1, 2000, 7);
        for (flows, links, expected) in [(8, 8, 2.6), (32, 32, 3.5), (256, 32, 14.4)] {
            let mut sum = 0;
            for switch in 0..2000 {
                let mut on = vec![0; links as usize];
                for flow in 0..flows {
                    let lookup = lookup(switch, flow, flow + 300, 0);
                    let hop = chooser.choose(&lookup, links, hop, &EmptyQueues);
                    on[hop.port.index()] += 1;
                }
                sum += on.iter().max().unwrap();
            }
            let mean = f64::from(sum) / 2000.0;
            assert!((mean - expected).abs() < 0.1, "{flows} on {links}: {mean}");
        }
    }

    #[test]
    fn spraying_is_balanced_and_looks_at_nothing() {
        let taken = taken(Choice::Spray, 1, &Outputs(&[0, 900, 0, 0], &[0, 3]));
        assert!(taken.iter().all(|n| (1880..2120).contains(n)), "{taken:?}");
    }

    #[test]
    fn least_takes_the_shortest_queue() {
        let least = |queued: &[u32], stopped: &[u16], granularity| {
            taken(Choice::Least, granularity, &Outputs(queued, stopped))
        };
        assert_eq!(least(&[5, 4, 9, 6], &[], 1), [0, 8000, 0, 0]);
        // A stopped output is worse than any queue, unless all are stopped.
        assert_eq!(least(&[5, 0, u32::MAX, 6], &[0, 1, 3], 1), [0, 0, 8000, 0]);
        assert_eq!(least(&[5, 4, 9, 6], &[0, 1, 2, 3], 1), [0, 8000, 0, 0]);
        // Ties are broken at random, and a coarser granularity creates more ties.
        for (queued, granularity) in [([4, 7, 4, 8], 1), ([5, 8, 7, 12], 4)] {
            let taken = least(&queued, &[], granularity);
            assert_eq!((taken[1], taken[3]), (0, 0), "{taken:?}");
            assert!((3820..4180).contains(&taken[0]), "{taken:?}");
        }
    }

    /// The best of four outputs is among two in half of all draws; the worst is never taken.
    #[test]
    fn least_of_2_compares_two_different_outputs() {
        let queued = [1, 2, 3, 4];
        let found = taken(Choice::LeastOf2, 1, &Outputs(&queued, &[]));
        let expected = [4000, 2667, 1333, 0];
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.abs_diff(expected) < 180, "{found} {expected}");
        }
        assert_eq!(found[3], 0);
        assert_eq!(
            taken(Choice::LeastOf2, 1, &Outputs(&[9, 1], &[])),
            [0, 8000]
        );
        assert_eq!(
            taken(Choice::LeastOf2, 1, &Outputs(&[9, 1], &[1])),
            [8000, 0]
        );
        // On a tie, the first output drawn is taken.
        let equal = taken(Choice::LeastOf2, 8, &Outputs(&queued, &[]));
        assert_eq!(equal, taken(Choice::Spray, 1, &Outputs(&queued, &[])));
    }
}

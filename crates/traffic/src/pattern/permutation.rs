//! A random permutation, or several.

use netloom_catalog::{Described, params};
use netloom_random::{Draw, Purpose, Stream, permutation};
use netloom_units::NicId;

use super::{Destinations, Pattern, Table, n_sources};
use crate::Context;

/// Maximum number of connections of a source: bits 24 to 31 of an occasion hold the connection,
/// and `u32::MAX` is the occasion of groups.
const MOST_CONNECTIONS: i64 = 255;

params! {
    /// Each source has one destination for the whole run, and each destination one source; no
    /// source sends to itself. Every class draws its own permutation.
    ///
    /// With `connections = n` each source has `n` connections, and each is one of `n` independent
    /// permutations, so several may have the same destination. The messages of a source use its
    /// connections in turn. The first connection is that of `connections = 1`.
    #[derive(Clone, Debug)]
    pub struct Permutation {
        /// Connections of each source.
        pub connections: u32 = 1,
    }
    check |it, section| {
        if !(1..=MOST_CONNECTIONS).contains(&i64::from(it.connections)) {
            let place = section.place_of("connections");
            let text = format!("expected 1 to {MOST_CONNECTIONS}, found {}", it.connections);
            section.notes.error("E0603", place, text);
        }
    }
}

impl Described for Permutation {
    const NAME: &'static str = "permutation";
    const SUMMARY: &'static str =
        "Random permutations of the sources without fixed points, kept for the whole run.";
    const EXAMPLE: &'static str = "connections = 4";
}

/// A permutation has no fixed point with probability 1/e: this number of failures never occurs.
const MOST_ATTEMPTS: u32 = 1 << 16;

impl Pattern for Permutation {
    fn prepare(&self, context: &Context<'_>) -> Result<Box<dyn Destinations>, String> {
        context.refuse_destinations(Self::NAME)?;
        let n = n_sources(context);
        if n < 2 {
            return Err(format!(
                "pattern \"permutation\" needs at least 2 sources, but the class has {n}"
            ));
        }
        let stream = Stream::new(context.seed, Purpose::Placement);
        // Redrawing until there is no fixed point makes all such permutations equally likely.
        let of_connection = |connection: u32| {
            let occasion = connection << 24 | u32::from(context.class) << 16;
            let order = (0..MOST_ATTEMPTS)
                .map(|attempt| permutation(&stream, occasion | attempt, n))
                .find(|order| (0..n).all(|i| order[i as usize] != i))
                .expect("one of many permutations has no fixed point");
            Table::among_sources(context, |i| order[i as usize])
        };
        if self.connections == 1 {
            return Ok(of_connection(0));
        }
        Ok(Box::new(InTurn {
            connections: (0..self.connections).map(of_connection).collect(),
        }))
    }
}

/// Several connections per source, which messages use in turn.
struct InTurn {
    connections: Vec<Box<dyn Destinations>>,
}

impl Destinations for InTurn {
    fn destination(&self, nic: NicId, number: u32, cycle: u64, draw: Draw) -> Option<NicId> {
        let own = &self.connections[number as usize % self.connections.len()];
        own.destination(nic, number, cycle, draw)
    }

    fn is_fixed(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::testing::{is_bijection, nics};
    use super::*;

    fn draw(n: u32, seed: u64, class: u8) -> Vec<u32> {
        draw_of(1, 0, n, seed, class)
    }

    /// Returns the destinations of message `number` of every NIC.
    fn draw_of(connections: u32, number: u32, n: u32, seed: u64, class: u8) -> Vec<u32> {
        let context = Context {
            n_nics: n,
            groups: &crate::NO_GROUPS,
            seed,
            class,
            sources: &nics(n),
            destinations: None,
            mean_flits: 1.0,
            cycles: &|_| 0,
        };
        let table = Permutation { connections }.prepare(&context).unwrap();
        assert_eq!(table.is_fixed(), connections == 1);
        let drawn = Draw([number; 4]);
        let to = |nic| table.destination(NicId(nic), number, 0, drawn).unwrap().0;
        (0..n).map(to).collect()
    }

    proptest! {
        #[test]
        fn nobody_has_itself(n in 2u32..200, seed: u64, class: u8) {
            let map = draw(n, seed, class);
            prop_assert!(is_bijection(&map));
            prop_assert!((0..n).all(|nic| map[nic as usize] != nic));
        }

        #[test]
        fn messages_use_the_connections_in_turn(
            n in 2u32..100, k in 2u32..9, number in 0u32..1_000_000, seed: u64, class: u8,
        ) {
            let map = draw_of(k, number, n, seed, class);
            prop_assert!(is_bijection(&map));
            prop_assert!((0..n).all(|nic| map[nic as usize] != nic));
            prop_assert_eq!(&map, &draw_of(k, number % k, n, seed, class));
            prop_assert_eq!(&map, &draw_of(k, number % k + k, n, seed, class));
            // More connections keep those that there are; the first is that of one connection.
            let fewer = draw_of(k - 1, k - 2, n, seed, class);
            prop_assert_eq!(draw_of(k, k - 2, n, seed, class), fewer);
            prop_assert_eq!(draw_of(k, 0, n, seed, class), draw(n, seed, class));
        }
    }

    /// The connections of a source are independent.
    #[test]
    fn connections_differ() {
        let (mut shared, runs) = (0, 200);
        for seed in 0..runs {
            let maps: Vec<Vec<u32>> = (0..4).map(|i| draw_of(4, i, 64, seed, 1)).collect();
            for nic in 0..64 {
                let to: std::collections::BTreeSet<u32> = maps.iter().map(|map| map[nic]).collect();
                shared += u32::from(to.len() < 4);
            }
        }
        let share = f64::from(shared) / (64.0 * runs as f64);
        // By hand: 1 - 62/63 x 61/63 x 60/63.
        assert!((share - 0.0925).abs() < 0.01, "{share}");
    }

    #[test]
    fn all_nine_derangements_of_four_are_as_likely() {
        let mut seen = BTreeMap::new();
        for seed in 0..9_000 {
            *seen.entry(draw(4, seed, 0)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 9);
        assert!(seen.values().all(|n| (850..1150).contains(n)), "{seen:?}");
    }

    #[test]
    fn classes_have_their_own() {
        assert_ne!(draw(64, 1, 0), draw(64, 1, 1));
    }
}

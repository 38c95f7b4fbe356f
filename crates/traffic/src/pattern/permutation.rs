//! A random permutation.

use netloom_catalog::{Described, params};
use netloom_random::{Purpose, Stream, permutation};

use super::{Destinations, Pattern, Table, n_sources};
use crate::Context;

params! {
    /// Each source has one destination for the whole run, and each destination one source; no
    /// source sends to itself. Every class draws its own permutation.
    #[derive(Clone, Debug)]
    pub struct Permutation {}
}

impl Described for Permutation {
    const NAME: &'static str = "permutation";
    const SUMMARY: &'static str =
        "A random permutation of the sources without fixed points, kept for the whole run.";
    const EXAMPLE: &'static str = "";
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
        let order = (0..MOST_ATTEMPTS)
            .map(|attempt| permutation(&stream, u32::from(context.class) << 16 | attempt, n))
            .find(|order| (0..n).all(|i| order[i as usize] != i))
            .expect("one of many permutations has no fixed point");
        Ok(Table::among_sources(context, |i| order[i as usize]))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use netloom_random::Draw;
    use netloom_units::NicId;
    use proptest::prelude::*;

    use super::super::testing::{is_bijection, nics};
    use super::*;

    fn draw(n: u32, seed: u64, class: u8) -> Vec<u32> {
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
        let table = Permutation {}.prepare(&context).unwrap();
        let to = |nic| table.destination(NicId(nic), 0, 0, Draw([0; 4])).unwrap().0;
        (0..n).map(to).collect()
    }

    proptest! {
        #[test]
        fn nobody_has_itself(n in 2u32..200, seed: u64, class: u8) {
            let map = draw(n, seed, class);
            prop_assert!(is_bijection(&map));
            prop_assert!((0..n).all(|nic| map[nic as usize] != nic));
        }
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

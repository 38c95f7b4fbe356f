//! The entries of one arbitration table, as slots are reserved and released.
//!
//! A lane's slots fill its entries in the order of opening: the last entry is filled up to 255,
//! then a free index becomes a new entry. A release takes slots back in reverse order. So at every
//! moment all entries of a lane but its last opened are full, and the slots of a lane determine its
//! number of entries. It does not matter which connection filled which entry.

use netloom_arbitration::{Entry, MAX_ENTRIES, TableError, VlArbitrationTable};
use netloom_units::{Sl, Vl};

use super::slots::{ENTRY_SLOTS, N_SLS, Slots};

/// Which free index becomes a new entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Placement {
    /// The first free index.
    #[default]
    FirstFree,
    /// The index that minimises the largest distance between two entries of the lane, as DTables
    /// do. Ties are broken by the next largest distance, and so on, then by the first index. Lanes
    /// with several entries then wait less.
    Spread,
}

/// The entries of one table, high or low.
///
/// Invariants: of the entries of a service level, all but the last opened have weight 255, and none
/// has weight 0; the weights of a service level add up to its slots.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Entries {
    /// By index; `None` is free. The last is never free.
    entries: Vec<Option<Entry>>,
    /// The indices of the entries of each service level, in the order of opening.
    opened: [Vec<usize>; N_SLS as usize],
    n_entries: usize,
    by_sl: [Slots; N_SLS as usize],
}

impl Entries {
    /// Returns a table with fixed entries that belong to no connection.
    pub(super) fn with_fixed(fixed: Vec<Entry>) -> Entries {
        Entries {
            n_entries: fixed.len(),
            entries: fixed.into_iter().map(Some).collect(),
            ..Entries::default()
        }
    }

    /// Returns the entries by index; `None` is free.
    pub(super) fn by_index(&self) -> &[Option<Entry>] {
        &self.entries
    }

    /// Returns the number of used entries.
    pub(super) fn n_entries(&self) -> usize {
        self.n_entries
    }

    /// Returns the slots of each service level.
    pub(super) fn by_sl(&self) -> [Slots; N_SLS as usize] {
        self.by_sl
    }

    /// Returns the additional slots that a service level can have in the 64 entries of a real
    /// table.
    pub(super) fn free(&self, sl: Sl) -> Slots {
        let unopened = MAX_ENTRIES.saturating_sub(self.n_entries) as u64 * ENTRY_SLOTS;
        let mine = self.opened[sl.index()].len() as u64 * ENTRY_SLOTS;
        Slots(unopened + mine - self.by_sl[sl.index()].0)
    }

    /// Adds slots to a service level, on its lane.
    pub(super) fn reserve(&mut self, (sl, vl): (Sl, Vl), slots: Slots, placement: Placement) {
        self.by_sl[sl.index()].0 += slots.0;
        let mut left = slots.0;
        if let Some(&last) = self.opened[sl.index()].last() {
            let entry = self.entries[last]
                .as_mut()
                .expect("an opened entry is there");
            let more = left.min(ENTRY_SLOTS - u64::from(entry.weight));
            entry.weight += more as u8;
            left -= more;
        }
        while left > 0 {
            let weight = left.min(ENTRY_SLOTS);
            let at = self.free_index(sl, placement);
            self.entries[at] = Some(Entry {
                vl,
                weight: weight as u8,
            });
            self.opened[sl.index()].push(at);
            self.n_entries += 1;
            left -= weight;
        }
    }

    /// Returns the index of a new entry; extends the table if none is free.
    fn free_index(&mut self, sl: Sl, placement: Placement) -> usize {
        let within = match placement {
            Placement::FirstFree => self.entries.len(),
            Placement::Spread => self.entries.len().max(MAX_ENTRIES),
        };
        let is_free = |&at: &usize| self.entries.get(at).is_none_or(Option::is_none);
        let mut free = (0..within).filter(is_free);
        let own = &self.opened[sl.index()];
        let chosen = match placement {
            Placement::FirstFree => free.next(),
            Placement::Spread => free.min_by_key(|&at| distances(own, at)),
        };
        let at = chosen.unwrap_or(self.entries.len());
        if at >= self.entries.len() {
            self.entries.resize(at + 1, None);
        }
        at
    }

    /// Takes slots of a service level back, from the entry opened last.
    ///
    /// # Panics
    /// If the level has fewer slots.
    pub(super) fn release(&mut self, sl: Sl, slots: Slots) {
        assert!(
            slots <= self.by_sl[sl.index()],
            "only reserved slots of {sl} are released"
        );
        self.by_sl[sl.index()].0 -= slots.0;
        let mut left = slots.0;
        while left > 0 {
            let opened = &mut self.opened[sl.index()];
            let last = *opened.last().expect("reserved slots are in entries");
            let entry = self.entries[last]
                .as_mut()
                .expect("an opened entry is there");
            let less = left.min(u64::from(entry.weight));
            entry.weight -= less as u8;
            left -= less;
            if entry.weight == 0 {
                opened.pop();
                self.entries[last] = None;
                self.n_entries -= 1;
            }
        }
        while self.entries.last().is_some_and(Option::is_none) {
            self.entries.pop();
        }
    }

    /// Returns the table as written to a port, or an error if it has more than 64 entries.
    ///
    /// A free index between others becomes an entry of weight 0 of the lane `skipped`, so entries
    /// keep their index. Free indices are omitted only if entries beyond the 64th are used.
    pub(super) fn table(&self, skipped: Vl) -> Result<VlArbitrationTable, TableError> {
        VlArbitrationTable::new(self.written(skipped))
    }

    /// Returns the same with the virtual entries, which no real port has.
    pub(super) fn simulated_table(&self, skipped: Vl) -> Result<VlArbitrationTable, TableError> {
        VlArbitrationTable::with_virtual_entries(self.written(skipped))
    }

    fn written(&self, skipped: Vl) -> Vec<Entry> {
        let is_too_long = self.n_entries > MAX_ENTRIES;
        let keeps_places = self.entries.len() <= MAX_ENTRIES || is_too_long;
        let skipped = Entry {
            vl: skipped,
            weight: 0,
        };
        let entries = self.entries.iter();
        if keeps_places {
            entries.map(|entry| entry.unwrap_or(skipped)).collect()
        } else {
            entries.flatten().copied().collect()
        }
    }
}

/// Returns the distances around the table between neighbours among the entries of a lane and one
/// more, largest first.
fn distances(own: &[usize], more: usize) -> Vec<usize> {
    // Virtual entries have no position in a real table.
    let own = own.iter().copied().filter(|&at| at < MAX_ENTRIES);
    let mut places: Vec<usize> = own.chain([more]).collect();
    places.sort_unstable();
    let around = places[0] + MAX_ENTRIES - places[places.len() - 1];
    let between = places.windows(2).map(|pair| pair[1] - pair[0]);
    let mut distances: Vec<usize> = between.chain([around]).collect();
    distances.sort_unstable_by_key(|&distance| std::cmp::Reverse(distance));
    distances
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SL: Sl = Sl(3);
    const VL: Vl = Vl(7);

    fn places(entries: &Entries, vl: Vl) -> Vec<usize> {
        let all = entries.by_index().iter().enumerate();
        let own = all.filter(|(_, entry)| entry.is_some_and(|e| e.vl == vl));
        own.map(|(at, _)| at).collect()
    }

    #[test]
    fn g004_13_spread_entries_halve_the_largest_distance() {
        let mut entries = Entries::default();
        for n in [1, 2, 4, 8] {
            let more = Slots((n - entries.opened[SL.index()].len() as u64) * 255);
            entries.reserve((SL, VL), more, Placement::Spread);
            let own = places(&entries, VL);
            let expected: Vec<usize> = (0..n as usize).map(|i| i * 64 / n as usize).collect();
            assert_eq!(own, expected);
        }
        // Another lane finds its own best positions among the rest.
        entries.reserve((Sl(0), Vl(4)), Slots(256), Placement::Spread);
        assert_eq!(places(&entries, Vl(4)), [1, 33]);
    }

    #[test]
    fn g004_13_first_free_entries_stand_together() {
        let mut entries = Entries::default();
        entries.reserve((SL, VL), Slots(3 * 255), Placement::FirstFree);
        assert_eq!(places(&entries, VL), [0, 1, 2]);
    }

    #[test]
    fn a_full_table_grows_under_either_placement() {
        for placement in [Placement::FirstFree, Placement::Spread] {
            let mut entries = Entries::default();
            entries.reserve((SL, VL), Slots(64 * 255), placement);
            entries.reserve((Sl(0), Vl(4)), Slots(1), placement);
            assert_eq!(places(&entries, Vl(4)), [64]);
            assert!(entries.table(VL).is_err());
        }
    }

    proptest! {
        #[test]
        fn no_other_free_index_would_be_nearer(
            others in proptest::collection::vec((0u8..3, 1u64..1_500), 0..8), n in 1u64..8,
        ) {
            let mut entries = Entries::default();
            for (sl, slots) in others {
                entries.reserve((Sl(sl), Vl(4 + sl)), Slots(slots), Placement::Spread);
            }
            entries.reserve((SL, VL), Slots((n - 1) * 255), Placement::Spread);
            let before = places(&entries, VL);
            let is_free = |at: &usize| entries.by_index().get(*at).is_none_or(Option::is_none);
            let free: Vec<usize> = (0..64).filter(is_free).collect();
            prop_assume!(!free.is_empty());
            entries.reserve((SL, VL), Slots(255), Placement::Spread);
            let after = places(&entries, VL);
            let chosen = *after.iter().find(|at| !before.contains(at)).unwrap();
            // Measures the largest distance by stepping around the ring one index at a time.
            let walked = |with: usize| {
                let is_own = |at: usize| at % 64 == with || before.contains(&(at % 64));
                (0..64).filter(|&at| is_own(at)).map(|at| {
                    (1..=64).find(|step| is_own(at + step)).unwrap()
                }).max().unwrap()
            };
            let least = free.iter().map(|&at| walked(at)).min().unwrap();
            prop_assert_eq!(walked(chosen), least);
        }
    }
}

//! Assigns the slots of a table to classes.
//!
//! A class with distance `d` has the slots `o, o + d, o + 2d, …`. If distances are powers of two
//! and the shortest is placed first, the first free slot always begins a free series, as long as
//! the classes need no more slots than there are. For this reason the method of paper 000 requires
//! powers of two.

use std::fmt;

/// The wanted positions of a class's entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// An entry at every d-th slot; d is a power of two that divides the number of slots.
    Distance(usize),
    /// This number of entries, spread as evenly as possible.
    Entries(usize),
}

impl Spacing {
    /// Returns the number of entries in a table of `n_slots`, or an error in the wish.
    pub fn entries(self, n_slots: usize) -> Result<usize, PlacementError> {
        match self {
            Spacing::Distance(d)
                if n_slots > 0 && d.is_power_of_two() && n_slots.is_multiple_of(d) =>
            {
                Ok(n_slots / d)
            }
            Spacing::Distance(d) => Err(PlacementError::BadDistance(d, n_slots)),
            Spacing::Entries(n) if (1..=n_slots).contains(&n) => Ok(n),
            Spacing::Entries(n) => Err(PlacementError::BadEntries(n, n_slots)),
        }
    }

    /// Returns the exact distance, if there is one.
    fn distance(self, n_slots: usize) -> Option<usize> {
        match self {
            Spacing::Distance(d) => Some(d),
            Spacing::Entries(n) => {
                let d = n_slots.checked_div(n)?;
                (d.is_power_of_two() && d * n == n_slots).then_some(d)
            }
        }
    }
}

/// The treatment of a class whose slots are not free.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Misfit {
    /// Refuse the table.
    #[default]
    Refuse,
    /// Use the nearest free slots, and note the resulting distance.
    BestEffort,
}

/// Why a class does not have the slots that it requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlacementError {
    /// The distance is not a power of two or does not divide the number of slots: both numbers.
    BadDistance(usize, usize),
    /// There are more entries than slots, or none: both numbers.
    BadEntries(usize, usize),
    /// No free series of slots fits: entries wanted, slots free.
    NoSeries(usize, usize),
    /// Every slot is taken by classes with shorter distances.
    Full,
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            PlacementError::BadDistance(d, n) => write!(
                f,
                "distance {d} does not fit; use a power of two that divides the {n} slots"
            ),
            PlacementError::BadEntries(e, n) => {
                write!(f, "a class cannot have {e} entries; use 1 to {n}")
            }
            PlacementError::NoSeries(wanted, free) => write!(
                f,
                "{wanted} evenly spaced entries do not fit into the {free} free slots; lengthen \
                 the distance of this class or of a more frequent one"
            ),
            PlacementError::Full => write!(
                f,
                "classes with shorter distances take all slots; lengthen one of the distances"
            ),
        }
    }
}

/// The positions of the classes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// The class of each slot; `None` is an unused slot.
    pub slots: Vec<Option<usize>>,
    /// Classes that were not placed as requested, and why.
    pub misfits: Vec<(usize, PlacementError)>,
}

impl Placement {
    /// Returns the slots of a class, ascending.
    pub fn of(&self, class: usize) -> Vec<usize> {
        let slots = self.slots.iter().enumerate();
        let mine = slots.filter(|&(_, &owner)| owner == Some(class));
        mine.map(|(slot, _)| slot).collect()
    }

    /// Returns the largest number of slots from one entry of a class to the next, around the end of
    /// the table. For a class with one entry it is the length of the table.
    pub fn distance(&self, class: usize) -> Option<usize> {
        let mine = self.of(class);
        let first = *mine.first()?;
        let next = mine
            .iter()
            .skip(1)
            .copied()
            .chain([first + self.slots.len()]);
        mine.iter().zip(next).map(|(a, b)| b - a).max()
    }
}

/// Places every class, the most frequent first; classes of equal frequency in the order of the
/// list. Returns all errors that prevent a table, each with its class.
pub fn place(
    n_slots: usize,
    wishes: &[Spacing],
    misfit: Misfit,
) -> Result<Placement, Vec<(usize, PlacementError)>> {
    let mut errors = vec![];
    let mut order = vec![];
    for (class, wish) in wishes.iter().enumerate() {
        match wish.entries(n_slots) {
            Ok(entries) => order.push((class, entries, wish.distance(n_slots))),
            Err(error) => errors.push((class, error)),
        }
    }
    // Exact series first; uneven wishes use the remaining slots.
    order.sort_by_key(|&(_, entries, distance)| (distance.is_none(), n_slots - entries));
    let mut placement = Placement {
        slots: vec![None; n_slots],
        misfits: vec![],
    };
    for (class, entries, distance) in order {
        let slots = &mut placement.slots;
        let free = slots.iter().filter(|owner| owner.is_none()).count();
        if distance.is_some_and(|d| take_series(slots, class, d)) {
            continue;
        }
        if free == 0 {
            errors.push((class, PlacementError::Full));
            continue;
        }
        let wanted_evenly = distance.is_some();
        let reason = PlacementError::NoSeries(entries, free);
        if misfit == Misfit::Refuse && (wanted_evenly || free < entries) {
            errors.push((class, reason));
            continue;
        }
        take_nearest(slots, class, entries.min(free));
        if wanted_evenly || free < entries {
            placement.misfits.push((class, reason));
        }
    }
    if errors.is_empty() {
        Ok(placement)
    } else {
        errors.sort_by_key(|&(class, _)| class);
        Err(errors)
    }
}

/// Takes the first free series of distance `d`, if there is one.
fn take_series(slots: &mut [Option<usize>], class: usize, d: usize) -> bool {
    let is_free = |o: &usize| slots.iter().skip(*o).step_by(d).all(Option::is_none);
    let Some(offset) = (0..d).find(is_free) else {
        return false;
    };
    let series = slots.iter_mut().skip(offset).step_by(d);
    series.for_each(|slot| *slot = Some(class));
    true
}

/// Takes `n` free slots, each the free one nearest to an evenly spaced ideal (the later on a tie).
fn take_nearest(slots: &mut [Option<usize>], class: usize, n: usize) {
    let n_slots = slots.len();
    let first = slots.iter().position(Option::is_none).unwrap_or(0);
    for i in 0..n {
        let ideal = (first + i * n_slots / n) % n_slots;
        let away = |slot: usize| {
            let ahead = (slot + n_slots - ideal) % n_slots;
            (ahead.min(n_slots - ahead), n_slots - ahead)
        };
        let free = (0..n_slots).filter(|&slot| slots[slot].is_none());
        let Some(slot) = free.min_by_key(|&slot| away(slot)) else {
            return;
        };
        slots[slot] = Some(class);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Spacing::{Distance, Entries};

    #[test]
    fn v000_9_placement() {
        let distances = [2, 4, 8, 16, 32, 64, 64].map(Distance);
        let placement = place(64, &distances, Misfit::Refuse).unwrap();
        for (slot, &class) in placement.slots.iter().enumerate() {
            let expected = match slot {
                s if s % 2 == 0 => 0,
                s if s % 4 == 1 => 1,
                s if s % 8 == 3 => 2,
                s if s % 16 == 7 => 3,
                s if s % 32 == 15 => 4,
                31 => 5,
                _ => 6,
            };
            assert_eq!(class, Some(expected), "slot {slot}");
        }
        for (class, wish) in distances.into_iter().enumerate() {
            assert_eq!(placement.distance(class).map(Distance), Some(wish));
        }
    }

    #[test]
    fn the_order_of_the_list_does_not_matter_for_fitting() {
        let placement = place(8, &[Distance(8), Distance(2), Distance(4)], Misfit::Refuse).unwrap();
        let expected = [1, 2, 1, 0, 1, 2, 1].map(Some);
        assert_eq!(placement.slots[..7], expected);
        assert_eq!(placement.slots[7], None);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_all_reasons() {
        let wishes = [Distance(3), Distance(2), Distance(2), Distance(4)];
        assert_eq!(
            place(8, &wishes, Misfit::Refuse),
            Err(vec![
                (0, PlacementError::BadDistance(3, 8)),
                (3, PlacementError::Full)
            ])
        );
        let wishes = [Entries(0), Distance(2), Entries(5)];
        assert_eq!(
            place(8, &wishes, Misfit::Refuse),
            Err(vec![
                (0, PlacementError::BadEntries(0, 8)),
                (2, PlacementError::NoSeries(5, 4))
            ])
        );
    }

    #[test]
    fn best_effort_takes_the_nearest_free_slots_and_says_so() {
        let wishes = [Distance(2), Entries(3), Distance(4)];
        let placement = place(8, &wishes, Misfit::BestEffort).unwrap();
        assert_eq!(placement.misfits, [(1, PlacementError::NoSeries(3, 2))]);
        assert_eq!(placement.of(1).len(), 2);
        // An uneven wish that gets its number of slots is not a misfit.
        let placement = place(8, &[Entries(3), Entries(3)], Misfit::Refuse).unwrap();
        assert!(placement.misfits.is_empty());
        assert_eq!(placement.of(0).len() + placement.of(1).len(), 6);
        assert_eq!(placement.distance(0), Some(3));
    }
}

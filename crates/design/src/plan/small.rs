//! Searches all tables of a few entries.
//!
//! ```text
//!  orders of entries ──► least weights ──► no order keeps the deadlines? then no table does
//!                    └─► totals of the streams whose shares are near enough, the smallest first
//!                          └─► each order, each division of the totals over its entries, as long as budgets allow
//! ```
//!
//! The entries of a stream may differ in weight. The search uses a lower bound for what an entry
//! adds to a wait, so no table that could keep a deadline is skipped. Tables found are judged like
//! any other.

use super::compose::{Composition, Search, Slot};

/// Entries of the tables that are searched completely.
pub(super) const SMALL: usize = 6;

/// Maximum of streams whose totals are all examined.
const MOST_STREAMS: usize = 3;

/// Maximum of totals, divisions and tables examined.
const MOST_STEPS: u64 = 3_000_000;

/// The cost of a judged table, in steps.
const JUDGED: u64 = 50;

/// Maximum of different weights of an entry.
const MOST_UNITS: usize = 512;

/// The result of the search among small tables.
pub(super) struct Found {
    /// The best table, if any keeps all deadlines.
    pub(super) best: Option<Composition>,
    /// Whether no table of the given capacity is better: none keeps more deadlines, or the shares
    /// within the tolerance.
    pub(super) is_complete: bool,
}

/// Returns the best table of at most [`SMALL`] entries that keeps all deadlines.
pub(super) fn search(search: &Search<'_>) -> Found {
    let n = search.parts.len();
    let longest = search.capacity.min(SMALL);
    let is_all = search.capacity <= SMALL;
    let has_fixed = search.parts.iter().any(|part| part.entries.is_some());
    if has_fixed || n > longest {
        return Found {
            best: None,
            is_complete: false,
        };
    }
    let orders = orders(n, longest);
    let mut best = None;
    if search.has_deadlines() {
        best = lightest(search, &orders);
        if best.is_none() || !search.effort.is_left() {
            return Found {
                best,
                is_complete: is_all && search.effort.is_left(),
            };
        }
    }
    let Some(division) = Division::new(search, longest) else {
        return Found {
            best,
            is_complete: false,
        };
    };
    let (found, is_complete) = division.best(&orders);
    Found {
        best: super::compose::better(best, found, search.tolerance),
        is_complete: is_complete && is_all,
    }
}

/// Returns the table of least weights that keeps all deadlines with the best shares. Waits grow
/// with the weights of others, so if there is none, no table of these orders keeps them.
fn lightest(search: &Search<'_>, orders: &[Vec<usize>]) -> Option<Composition> {
    let slot = |&stream: &usize| Slot {
        stream,
        weight: search.parts[stream].supply.least,
    };
    let mut best: Option<Composition> = None;
    for order in orders {
        if !search.effort.is_left() {
            break;
        }
        let table = search.judged(order.iter().map(slot).collect());
        let is_better = best.as_ref().is_none_or(|best| table.error < best.error);
        if table.overrun <= 1.0 && is_better {
            best = Some(table);
        }
    }
    best
}

/// Returns the orders of a limited number of entries in which every stream has one, the shortest
/// first. Of orders that are rotations of each other, one is returned.
fn orders(n: usize, longest: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![];
    for length in n..=longest {
        let mut order = vec![0; length];
        loop {
            let has_all = (0..n).all(|stream| order.contains(&stream));
            let is_first =
                || (1..length).all(|by| order[by..].iter().chain(&order[..by]).ge(&order));
            if has_all && is_first() {
                orders.push(order.clone());
            }
            // The first entry is of the first stream: an order can be rotated to begin there.
            let Some(at) = (1..length).rfind(|&at| order[at] + 1 < n) else {
                break;
            };
            order[at] += 1;
            order[at + 1..].fill(0);
        }
    }
    orders
}

/// The amounts that entries of a stream can send, in grains.
struct Units {
    /// The weight that sends each number of units, if one does.
    weights: Vec<Option<u32>>,
    least: usize,
    most: usize,
    grain: f64,
}

/// The division of totals over entries.
struct Division<'a> {
    search: &'a Search<'a>,
    units: Vec<Units>,
    /// Bytes that others may send between two entries of each stream; infinite without a deadline.
    room: Vec<f64>,
    /// The part of these bytes that an entry of a stream takes from another, by its units.
    cost: Vec<Vec<Vec<f64>>>,
    /// Maximum of entries per stream.
    most_entries: usize,
    steps: std::cell::Cell<u64>,
}

impl<'a> Division<'a> {
    /// Returns `None` if there are too many streams, or one sends no whole number of grains.
    fn new(search: &'a Search<'a>, longest: usize) -> Option<Division<'a>> {
        let n = search.parts.len();
        if n > MOST_STREAMS {
            return None;
        }
        let units: Option<Vec<Units>> = search.parts.iter().map(units).collect();
        let units = units?;
        let mut division = Division {
            search,
            room: vec![f64::INFINITY; n],
            cost: vec![vec![vec![]; n]; n],
            units,
            most_entries: longest + 1 - n,
            steps: std::cell::Cell::new(0),
        };
        for (own, part) in search.parts.iter().enumerate() {
            let Some(budget) = part.budget else {
                continue;
            };
            let least = |stream: usize| Slot {
                stream,
                weight: search.parts[stream].supply.least,
            };
            let wait = |slots: &[Slot]| (search.waits)(slots)[own];
            division.room[own] = budget - wait(&[least(own)]);
            for other in (0..n).filter(|&other| other != own) {
                // The cost of a second entry: what only the first entry of a stream adds is not
                // counted.
                let first = wait(&[least(own), least(other)]);
                let cost = |weight: &Option<u32>| match weight {
                    None => f64::INFINITY,
                    &Some(weight) => {
                        let second = Slot {
                            stream: other,
                            weight,
                        };
                        wait(&[least(own), least(other), second]) - first
                    }
                };
                let weights = &division.units[other].weights;
                division.cost[own][other] = weights.iter().map(cost).collect();
            }
        }
        Some(division)
    }

    /// Returns the table with the best shares that keeps all deadlines, and whether all that keep
    /// the shares were examined.
    fn best(&self, orders: &[Vec<usize>]) -> (Option<Composition>, bool) {
        let orders: Vec<Order> = orders.iter().map(|order| self.order(order)).collect();
        let (mut from, mut to) = (-1.0, self.search.tolerance);
        let mut is_complete = false;
        while from < 1.0 {
            let mut totals = self.totals(from, to);
            if to <= self.search.tolerance {
                // Small totals wait least.
                totals.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
            } else {
                totals.sort_by(|a, b| a.error.total_cmp(&b.error));
            }
            for totals in &totals {
                for order in &orders {
                    if let Some(found) = self.divided(totals, order) {
                        return (Some(found), is_complete);
                    }
                    if self.is_over() {
                        return (None, is_complete);
                    }
                }
            }
            if self.is_over() {
                break;
            }
            is_complete = true;
            (from, to) = (to, to * 2.0);
        }
        (None, is_complete)
    }

    fn is_over(&self) -> bool {
        self.steps.get() >= MOST_STEPS || !self.search.effort.is_left()
    }

    fn step(&self, n: u64) {
        self.steps.set(self.steps.get() + n);
    }

    fn order(&self, streams: &[usize]) -> Order {
        let n = self.units.len();
        let mut counts = vec![0; n];
        let mut gaps = vec![vec![0; streams.len()]; n];
        for own in 0..n {
            counts[own] = streams.iter().filter(|&&stream| stream == own).count();
            let mut gap = 0;
            for (at, &stream) in streams.iter().enumerate() {
                gaps[own][at] = gap % counts[own];
                gap += usize::from(stream == own);
            }
        }
        Order {
            streams: streams.to_vec(),
            counts,
            gaps,
        }
    }

    /// Returns all totals whose largest error is above `from` and at most `to`.
    fn totals(&self, from: f64, to: f64) -> Vec<Totals> {
        let mut found = vec![];
        let mut totals = vec![0; self.units.len()];
        self.add_totals(0, &mut totals, (from, to), &mut found);
        found
    }

    fn add_totals(
        &self,
        stream: usize,
        totals: &mut Vec<usize>,
        (from, to): (f64, f64),
        found: &mut Vec<Totals>,
    ) {
        let share = |stream: usize| self.search.parts[stream].share;
        if stream == self.units.len() {
            self.step(1);
            let sent = |stream: usize| totals[stream] as f64 * self.units[stream].grain;
            let bytes: f64 = (0..totals.len()).map(sent).sum();
            let error = |stream| (sent(stream) / bytes / share(stream) - 1.0).abs();
            let error = (0..totals.len()).map(error).fold(0.0, f64::max);
            if error > from && error <= to {
                found.push(Totals {
                    units: totals.clone(),
                    bytes,
                    error,
                });
            }
            return;
        }
        let own = &self.units[stream];
        let (mut least, mut most) = (own.least, own.most * self.most_entries);
        if stream > 0 && to < 1.0 {
            // The total of the first stream determines the range of this one.
            let first = totals[0] as f64 * self.units[0].grain / share(0);
            let even = first * share(stream) / own.grain;
            least = least.max((even * (1.0 - to) / (1.0 + to) - 1e-6).ceil() as usize);
            most = most.min((even * (1.0 + to) / (1.0 - to) + 1e-6).floor() as usize);
        }
        for total in least..=most {
            totals[stream] = total;
            if self.is_over() || self.is_too_much(&totals[..=stream]) {
                break;
            }
            self.add_totals(stream + 1, totals, (from, to), found);
        }
    }

    /// Returns whether streams send more than fits in all gaps of another.
    fn is_too_much(&self, totals: &[usize]) -> bool {
        (0..self.units.len()).any(|own| {
            let others = totals.iter().enumerate().filter(|(other, _)| *other != own);
            let sent = others.map(|(other, &units)| units as f64 * self.units[other].grain);
            sent.sum::<f64>() > self.room[own] * self.most_entries as f64 + 1e-6
        })
    }

    /// Returns a table of this order with these totals that keeps all deadlines.
    fn divided(&self, totals: &Totals, order: &Order) -> Option<Composition> {
        self.step(1);
        let fits = |stream: usize| {
            let (own, count) = (&self.units[stream], order.counts[stream]);
            (own.least * count..=own.most * count).contains(&totals.units[stream])
        };
        if !(0..self.units.len()).all(fits) {
            return None;
        }
        let n = self.units.len();
        let mut dividing = Dividing {
            left: totals.units.clone(),
            entries: order.counts.clone(),
            used: vec![vec![0.0; order.streams.len()]; n],
            units: vec![0; order.streams.len()],
        };
        // The cost of the lightest entries is added at once.
        for (at, &stream) in order.streams.iter().enumerate() {
            let least = self.units[stream].least;
            self.take(order, at, least, 1.0, &mut dividing);
        }
        self.divide(0, order, &mut dividing)
    }

    /// Adds the units of an entry to all gaps that contain it.
    fn take(&self, order: &Order, at: usize, units: usize, sign: f64, dividing: &mut Dividing) {
        let stream = order.streams[at];
        for own in 0..self.units.len() {
            if own != stream && self.room[own].is_finite() {
                let cost = self.cost[own][stream][units];
                dividing.used[own][order.gaps[own][at]] += sign * cost;
            }
        }
    }

    fn has_room(&self, order: &Order, at: usize, dividing: &Dividing) -> bool {
        (0..self.units.len()).all(|own| {
            dividing.used[own][order.gaps[own][at]] <= self.room[own] * (1.0 + 1e-12) + 1e-6
        })
    }

    fn divide(&self, at: usize, order: &Order, dividing: &mut Dividing) -> Option<Composition> {
        if at == order.streams.len() {
            self.step(JUDGED);
            let slot = |(&stream, &units): (&usize, &usize)| {
                let weight = self.units[stream].weights[units];
                weight.map(|weight| Slot { stream, weight })
            };
            let slots: Option<Vec<Slot>> = order
                .streams
                .iter()
                .zip(&dividing.units)
                .map(slot)
                .collect();
            let table = self.search.judged(slots?);
            return table.is_feasible().then_some(table);
        }
        let stream = order.streams[at];
        let own = &self.units[stream];
        let (left, entries) = (dividing.left[stream], dividing.entries[stream]);
        let rest = entries - 1;
        let least = left.saturating_sub(rest * own.most).max(own.least);
        let most = left.saturating_sub(rest * own.least).min(own.most);
        let even = left / entries;
        let mut choices: Vec<usize> = (least..=most)
            .filter(|&units| own.weights[units].is_some())
            .collect();
        choices.sort_by_key(|&units| units.abs_diff(even));
        self.take(order, at, own.least, -1.0, dividing);
        for units in choices {
            self.step(1);
            if self.is_over() {
                break;
            }
            self.take(order, at, units, 1.0, dividing);
            if self.has_room(order, at, dividing) {
                dividing.units[at] = units;
                dividing.left[stream] -= units;
                dividing.entries[stream] -= 1;
                if let Some(found) = self.divide(at + 1, order, dividing) {
                    return Some(found);
                }
                dividing.left[stream] += units;
                dividing.entries[stream] += 1;
            }
            self.take(order, at, units, -1.0, dividing);
        }
        self.take(order, at, own.least, 1.0, dividing);
        None
    }
}

/// An order of entries.
struct Order {
    streams: Vec<usize>,
    /// Entries of each stream.
    counts: Vec<usize>,
    /// For each stream, the gap between its entries that contains each entry.
    gaps: Vec<Vec<usize>>,
}

/// The units that streams send per lap.
struct Totals {
    units: Vec<usize>,
    bytes: f64,
    error: f64,
}

/// Totals while they are divided over the entries of an order.
struct Dividing {
    /// Units of each stream that have no entry yet.
    left: Vec<usize>,
    /// Entries of each stream that have no units yet.
    entries: Vec<usize>,
    /// The cost added to each gap of each stream; entries without units count as their lightest.
    used: Vec<Vec<f64>>,
    units: Vec<usize>,
}

fn units(part: &super::compose::Part) -> Option<Units> {
    let grain = part.supply.grain?;
    let levels = part.supply.levels()?;
    let units = |weight: u32| ((part.supply.sent)(weight) / grain).round() as usize;
    let most = units(*levels.last()?);
    if levels.len() > MOST_UNITS || most > MOST_UNITS {
        return None;
    }
    let mut weights = vec![None; most + 1];
    for &weight in &levels {
        weights[units(weight)] = Some(weight);
    }
    Some(Units {
        weights,
        least: units(levels[0]),
        most,
        grain,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_counted_once() {
        assert_eq!(orders(2, 3), [vec![0, 1], vec![0, 0, 1], vec![0, 1, 1]]);
        // Necklaces of six beads in three colours, all used.
        let six = orders(3, 6).into_iter().filter(|order| order.len() == 6);
        assert_eq!(six.count(), 91);
    }
}

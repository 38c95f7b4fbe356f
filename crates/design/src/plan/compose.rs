//! Composes one table from shares: how many entries each stream has, their weights, and their
//! order.
//!
//! A table is a frame that the arbiter repeats. Stream i sends `sent(w)` bytes whenever an entry of
//! weight w is visited. This amount depends on the rounding of the arbiter, so each kind has its
//! own [`Supply`]. In a frame of G bytes, a stream with share φ must get φ·G. Small frames give
//! short waits and coarse shares. So frames are tried from the smallest up, and the first that
//! keeps every share and every deadline is taken. Within a frame, a stream has as few entries as
//! hold its weight. As long as a deadline is missed, the search adds the entry that helps most.
//!
//! If no frame suffices, tables of a few entries are searched exactly ([`super::small`]), and the
//! nearest tables of each length are improved entry by entry ([`super::nearby`]).
//!
//! A longer table can do everything that a shorter one can, and the search preserves this: the
//! tables it examines for a short length are the first it examines for a longer one. The capacity
//! only ends the search. It must not affect other decisions, such as how far shares may err or how
//! many tables are examined.

use std::cell::Cell;

use super::{nearby, small};

/// What one visit of an entry sends.
pub(super) struct Supply {
    /// The smallest weight that sends anything useful.
    pub(super) least: u32,
    /// The largest weight of an entry.
    pub(super) most: u32,
    /// Bytes per visit by weight, never decreasing.
    pub(super) sent: Box<dyn Fn(u32) -> f64>,
    /// The number of bytes of which every visit sends a whole multiple, if there is one: a packet
    /// if all have the same size, a unit of weight if deficits keep shares exact.
    pub(super) grain: Option<f64>,
}

impl Supply {
    /// Returns the smallest weight whose visits come nearest to a number of bytes.
    ///
    /// An entry of weight w lets packets of any size send (w - 1) units and a packet. Of the
    /// weights that send the same amount, the smallest makes others wait least. The largest is the
    /// cost of whole packets ([`Supply::heaviest`]).
    fn weight_for(&self, bytes: f64) -> u32 {
        let (mut low, mut high) = (self.least, self.most);
        while low < high {
            let middle = low + (high - low) / 2;
            if (self.sent)(middle) >= bytes {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let above = (self.sent)(low);
        if low > self.least && bytes - (self.sent)(low - 1) < above - bytes {
            return self.lightest(low - 1);
        }
        low
    }

    /// Returns the smallest weight that sends the same as this one.
    fn lightest(&self, weight: u32) -> u32 {
        let sent = (self.sent)(weight);
        let (mut low, mut high) = (self.least.min(weight), weight);
        while low < high {
            let middle = low + (high - low) / 2;
            match (self.sent)(middle) >= sent {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        low
    }

    /// Returns the largest weight that sends the same as this one. It is the cost of whole packets,
    /// so packets smaller than planned do not gain by rounding.
    pub(super) fn heaviest(&self, weight: u32) -> u32 {
        let sent = (self.sent)(weight);
        let mut weight = weight;
        while weight < self.most && (self.sent)(weight + 1) == sent {
            weight += 1;
        }
        weight
    }

    /// Returns the weights that send different amounts, the smallest for each; `None` if there are
    /// too many to examine.
    pub(super) fn levels(&self) -> Option<Vec<u32>> {
        if self.most - self.least > MOST_LEVELS {
            return None;
        }
        let mut levels = vec![];
        let mut last = f64::NEG_INFINITY;
        for weight in self.least..=self.most {
            let sent = (self.sent)(weight);
            if sent > last {
                levels.push(weight);
                last = sent;
            }
        }
        Some(levels)
    }
}

/// Maximum of weights of an entry that are all examined.
const MOST_LEVELS: u32 = 4096;

/// One stream of the table.
pub(super) struct Part {
    /// Its share of what this table sends; all sum to 1.
    pub(super) share: f64,
    /// Bytes of its mean packet.
    pub(super) mean: f64,
    /// Bytes that the link may send while it waits, if it has a deadline.
    pub(super) budget: Option<f64>,
    /// The number of its entries, if it is fixed.
    pub(super) entries: Option<usize>,
    /// Whether it has a slowdown, so that its entries must send much and those of others little.
    pub(super) has_slowdown: bool,
    pub(super) supply: Supply,
}

impl Part {
    /// Returns the largest number of entries that can share `bytes` per frame.
    fn most_entries(&self, bytes: f64) -> usize {
        let least = (self.supply.sent)(self.supply.least);
        // Shares are met within a tolerance, so a target slightly below a packet counts as one.
        ((bytes * 1.001 / least) as usize).max(1)
    }
}

/// One entry: its stream and its weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot {
    pub(super) stream: usize,
    pub(super) weight: u32,
}

/// A composed table and its distance from the request.
#[derive(Clone, Debug)]
pub(super) struct Composition {
    pub(super) slots: Vec<Slot>,
    /// The largest relative error of a share.
    pub(super) error: f64,
    /// The longest wait as a part of its budget; at most 1 if all deadlines are kept.
    pub(super) overrun: f64,
    /// The largest slowdown as a part of the one allowed; at most 1 if all are kept, 0 if there are
    /// none.
    pub(super) strain: f64,
    /// Whether no table of this size keeps more: all were examined, or an inequality excludes them.
    pub(super) is_proved: bool,
}

impl Composition {
    /// Returns the order of preference: deadlines, slowdowns, then shares, as far as they can be
    /// kept.
    pub(super) fn rank(&self, tolerance: f64) -> (f64, f64, f64) {
        let (overrun, strain) = (self.overrun.max(1.0), self.strain.max(1.0));
        (overrun, strain, self.error.max(tolerance))
    }

    /// Returns whether all deadlines and slowdowns are kept.
    pub(super) fn is_feasible(&self) -> bool {
        self.overrun <= 1.0 && self.strain <= 1.0
    }

    pub(super) fn is_met(&self, tolerance: f64) -> bool {
        self.is_feasible() && self.error <= tolerance + 1e-12
    }
}

/// Returns the better of two, the first if they are equal.
pub(super) fn better(
    a: Option<Composition>,
    b: Option<Composition>,
    tolerance: f64,
) -> Option<Composition> {
    match (a, b) {
        (Some(a), Some(b)) if b.rank(tolerance) < a.rank(tolerance) => Some(b),
        (a, b) => a.or(b),
    }
}

/// The remaining effort, in entries of tables examined. It ends searches that have no end of their
/// own.
#[derive(Debug)]
pub(super) struct Effort(Cell<u64>);

impl Effort {
    pub(super) fn new(entries: u64) -> Effort {
        Effort(Cell::new(entries))
    }

    /// Returns whether any effort is left.
    pub(super) fn is_left(&self) -> bool {
        self.0.get() > 0
    }

    pub(super) fn left(&self) -> u64 {
        self.0.get()
    }

    pub(super) fn spend(&self, entries: usize) {
        self.0.set(self.0.get().saturating_sub(entries as u64));
    }
}

/// Maximum of tables examined per length in a pass: the command must stay interactive. Each length
/// has its own count, so long tables do not shorten the search among short ones.
const MOST_JUDGEMENTS: usize = 500;

/// A frame with the fewest entries that hold its weights.
struct Candidate {
    frame: f64,
    entries: Vec<usize>,
    error: f64,
}

/// One pass over the frames, with the same error allowed in all of them.
struct Pass {
    /// The largest error of a share.
    near: f64,
    /// The best table so far.
    found: Option<Composition>,
    /// The number of tables of each length that were examined.
    judged: Vec<usize>,
    /// The best table of each length.
    by_length: Vec<Option<Composition>>,
}

impl Pass {
    fn new(near: f64, capacity: usize) -> Pass {
        Pass {
            near,
            found: None,
            judged: vec![0; capacity + 1],
            by_length: vec![None; capacity + 1],
        }
    }
}

/// The search for one table.
pub(super) struct Search<'a> {
    pub(super) parts: &'a [Part],
    /// Entries of the table.
    pub(super) capacity: usize,
    /// The largest relative error of a share.
    pub(super) tolerance: f64,
    /// The longest wait of each stream under a table, in bytes; infinite without a bound.
    pub(super) waits: &'a dyn Fn(&[Slot]) -> Vec<f64>,
    /// The largest slowdown under a table as a part of the one allowed; 0 if there are none.
    pub(super) strain: &'a dyn Fn(&[Slot]) -> f64,
    pub(super) effort: &'a Effort,
}

impl Search<'_> {
    /// Returns the first frame that keeps everything, otherwise the nearest. Returns `None` if the
    /// table cannot hold one entry for each stream.
    ///
    /// Deadlines come before shares: if no table keeps both, shares may err by as much as needed.
    /// If no table keeps the deadlines, the result is the least late of those that keep the shares
    /// best.
    pub(super) fn run(&self) -> Option<Composition> {
        let found = self.search()?;
        Some(self.heavier(found))
    }

    fn search(&self) -> Option<Composition> {
        let has_deadlines = self.has_deadlines();
        // If deadlines are excluded, only the shares can still be met.
        let is_hopeless = has_deadlines && (self.has_hopeless_pair() || self.is_too_dense());
        let mut exact = Pass::new(self.tolerance, self.capacity);
        let mut candidates: Vec<Candidate> = vec![];
        for candidate in self.candidates() {
            if candidate.error <= self.tolerance {
                if is_hopeless {
                    let nearest = self.judge(candidate.frame, &candidate.entries);
                    return Some(proved(nearest));
                }
                if self.tries(&candidate, &mut exact) {
                    return exact.found;
                }
            }
            candidates.push(candidate);
        }
        let least = candidates.iter().map(|c| c.error).min_by(f64::total_cmp)?;
        let near = least.max(self.tolerance);
        let nearest = || {
            let nearest = candidates.iter().find(|c| c.error <= near)?;
            Some(self.judge(nearest.frame, &nearest.entries))
        };
        if is_hopeless {
            return nearest().map(proved);
        }
        let has_slowdowns = self.parts.iter().any(|part| part.has_slowdown);
        let any = match has_deadlines || has_slowdowns {
            true => self.pass(&candidates, f64::INFINITY),
            false => Pass::new(near, self.capacity),
        };
        let small = small::search(self);
        let mut best = better(exact.found.clone(), any.found, self.tolerance);
        if !has_deadlines {
            best = better(best, nearest(), self.tolerance);
        }
        best = better(best, small.best, self.tolerance);
        if !small.is_complete && best.as_ref().is_none_or(|b| !b.is_met(self.tolerance)) {
            for length in 0..=self.capacity {
                let starts = [&exact.by_length, &any.by_length];
                for start in starts.iter().filter_map(|starts| starts[length].as_ref()) {
                    best = better(best, nearby::improved(self, start), self.tolerance);
                }
            }
        }
        let is_proved = small.is_complete;
        if best.as_ref().is_some_and(|best| best.overrun <= 1.0) {
            return best.map(|best| Composition { is_proved, ..best });
        }
        // No table keeps the deadlines, so there is no reason to miss the shares as well.
        if least > self.tolerance {
            exact = self.pass(&candidates, near);
        }
        let nearest = exact.found.or_else(nearest);
        nearest.map(|nearest| Composition {
            is_proved,
            ..nearest
        })
    }

    pub(super) fn has_deadlines(&self) -> bool {
        self.parts.iter().any(|part| part.budget.is_some())
    }

    /// Returns the same with entries as heavy as the cost of whole packets, stream by stream,
    /// unless a deadline suffers.
    fn heavier(&self, found: Composition) -> Composition {
        let mut best = found;
        for stream in 0..self.parts.len() {
            let heavy = |slot: &Slot| match slot.stream == stream {
                true => Slot {
                    weight: self.parts[stream].supply.heaviest(slot.weight),
                    ..*slot
                },
                false => *slot,
            };
            let heavier = self.judged(best.slots.iter().map(heavy).collect());
            let is_as_good = heavier.overrun <= best.overrun.max(1.0);
            if is_as_good && heavier.strain <= best.strain.max(1.0) {
                best = Composition {
                    is_proved: best.is_proved,
                    ..heavier
                };
            }
        }
        best
    }

    /// Returns whether the streams with deadlines alone need more than the link.
    ///
    /// Between two entries of stream i, others send at most C bytes: its budget less its wait when
    /// alone. One of its own entries sends at least s bytes. A lap with n of its entries has at
    /// most n·C bytes of others and at least n·s of its own, so its part of the lap is at least s /
    /// (s + C). The parts of all streams sum to 1.
    fn is_too_dense(&self) -> bool {
        let part = |(stream, part): (usize, &Part)| {
            let budget = part.budget?;
            let alone = Slot {
                stream,
                weight: part.supply.least,
            };
            let others = budget - (self.waits)(&[alone])[stream];
            let own = (part.supply.sent)(part.supply.least);
            Some(own / (own + others.max(0.0)))
        };
        let parts = self.parts.iter().enumerate().filter_map(part);
        parts.sum::<f64>() > 1.0 + 1e-9
    }

    /// Returns every frame that fits the table, from the smallest.
    fn candidates(&self) -> impl Iterator<Item = Candidate> {
        self.frames().into_iter().map_while(|frame| {
            if !self.effort.is_left() {
                return None;
            }
            self.effort.spend(self.parts.len());
            let entries = self.fewest_entries(frame)?;
            let error = || self.error(&self.slots(frame, &entries));
            let fits = entries.iter().sum::<usize>() <= self.capacity;
            fits.then(error).map(|error| Candidate {
                frame,
                error,
                entries,
            })
        })
    }

    /// Tries every frame whose shares err by at most `near`, until everything is kept.
    fn pass(&self, candidates: &[Candidate], near: f64) -> Pass {
        let mut pass = Pass::new(near, self.capacity);
        for candidate in candidates.iter().filter(|c| c.error <= near) {
            if self.tries(candidate, &mut pass) {
                break;
            }
        }
        pass
    }

    /// Tries a candidate with the entries that its deadlines need. Returns whether everything is
    /// kept.
    fn tries(&self, candidate: &Candidate, pass: &mut Pass) -> bool {
        let &Candidate { frame, .. } = candidate;
        if !self.can_be_in_time(frame) || !self.effort.is_left() {
            return false;
        }
        let entries = candidate.entries.clone();
        let Some(here) = self.counted(frame, &entries, pass) else {
            return false;
        };
        let here = self.with_additions(frame, entries, here, pass);
        let is_met = here.is_feasible() && here.error <= self.tolerance;
        let rank = |c: &Composition| (c.overrun.max(1.0), c.strain.max(1.0), c.error);
        let is_best = |found: &Option<Composition>| {
            let found = found.as_ref();
            found.is_none_or(|found| rank(&here) < rank(found))
        };
        let of_length = &mut pass.by_length[here.slots.len()];
        if is_best(of_length) {
            *of_length = Some(here.clone());
        }
        if is_best(&pass.found) {
            pass.found = Some(here);
        }
        is_met
    }

    /// Judges a table, unless enough of its length were judged.
    fn counted(&self, frame: f64, entries: &[usize], pass: &mut Pass) -> Option<Composition> {
        let judged = &mut pass.judged[entries.iter().sum::<usize>()];
        *judged += 1;
        (*judged <= MOST_JUDGEMENTS).then(|| self.judge(frame, entries))
    }

    /// Returns whether a stream cannot be in time even with the least that one other stream must
    /// send.
    fn has_hopeless_pair(&self) -> bool {
        let least = |stream: usize| Slot {
            stream,
            weight: self.parts[stream].supply.least,
        };
        let is_late = |own: usize, other: usize| {
            let slots = [least(own), least(other)];
            let slots = if own == other {
                &slots[..1]
            } else {
                &slots[..]
            };
            let wait = (self.waits)(slots)[own];
            self.parts[own].budget.is_some_and(|budget| wait > budget)
        };
        let n = self.parts.len();
        (0..n)
            .any(|own| self.parts[own].budget.is_some() && (0..n).any(|other| is_late(own, other)))
    }

    /// Adds entries while a deadline is missed. One entry alone may not help where one more of
    /// every stream does, so the search continues for that many entries without success.
    fn with_additions(
        &self,
        frame: f64,
        mut entries: Vec<usize>,
        mut best: Composition,
        pass: &mut Pass,
    ) -> Composition {
        let mut in_vain = 0;
        while best.overrun > 1.0 && in_vain <= self.parts.len() {
            let Some((stream, there)) = self.best_addition(frame, &entries, pass) else {
                break;
            };
            entries[stream] += 1;
            in_vain += 1;
            if there.overrun < best.overrun {
                best = there;
                in_vain = 0;
            }
        }
        best
    }

    /// Returns the frames to try, in bytes: those in which some stream has whole packets, thinned
    /// out if they are closer than 0.4 %.
    fn frames(&self) -> Vec<f64> {
        let smallest = |part: &Part| (part.supply.sent)(part.supply.least) / part.share;
        // Below the largest of these, some stream has more than its share; a table too short for
        // all shares may have to begin there.
        let least = self
            .parts
            .iter()
            .map(smallest)
            .fold(f64::INFINITY, f64::min);
        let largest = |part: &Part| (part.supply.sent)(part.supply.most) / part.share;
        let most = self.parts.iter().map(largest).fold(0.0, f64::max) * self.capacity as f64;
        let all_send = self.parts.iter().map(smallest).fold(0.0, f64::max);
        let most = most.min(all_send * MOST_GROWTH);
        let mut frames = vec![least];
        for part in self.parts {
            let packet = part.mean / part.share;
            let first = (least / packet).ceil().max(1.0);
            let multiples = (0..MOST_FRAMES).map(|i| (first + i as f64) * packet);
            frames.extend(multiples.take_while(|&frame| frame <= most));
        }
        frames.sort_by(f64::total_cmp);
        let mut last = 0.0;
        frames.retain(|&frame| {
            let is_new = frame > last * 1.004;
            if is_new {
                last = frame;
            }
            is_new
        });
        frames
    }

    fn fewest_entries(&self, frame: f64) -> Option<Vec<usize>> {
        let entries = |part: &Part| {
            let bytes = part.share * frame;
            let needed = (bytes / (part.supply.sent)(part.supply.most) * 0.999).ceil() as usize;
            match part.entries {
                Some(fixed) => (needed <= fixed).then_some(fixed),
                None => Some(needed.max(1)),
            }
        };
        self.parts.iter().map(entries).collect()
    }

    /// Returns whether deadlines could be kept in this frame: the longest gap is at least the mean
    /// one.
    fn can_be_in_time(&self, frame: f64) -> bool {
        self.parts.iter().all(|part| {
            let own = part.share * frame;
            let gap = (frame - own) / part.most_entries(own) as f64;
            part.budget.is_none_or(|budget| gap <= budget)
        })
    }

    /// Adds the entry that shortens the worst overrun most; among equals, of the stream whose
    /// entries are heaviest.
    fn best_addition(
        &self,
        frame: f64,
        entries: &[usize],
        pass: &mut Pass,
    ) -> Option<(usize, Composition)> {
        if entries.iter().sum::<usize>() >= self.capacity {
            return None;
        }
        let mut best: Option<(usize, Composition)> = None;
        let weight = |stream: usize| self.parts[stream].share / entries[stream] as f64;
        let mut streams: Vec<usize> = (0..self.parts.len()).collect();
        streams.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
        for stream in streams {
            let part = &self.parts[stream];
            let has_room = entries[stream] < part.most_entries(part.share * frame);
            if part.entries.is_some() || !has_room {
                continue;
            }
            let mut more = entries.to_vec();
            more[stream] += 1;
            let there = self.counted(frame, &more, pass)?;
            // An entry that spoils the shares does not count.
            if there.error > pass.near {
                continue;
            }
            if best.as_ref().is_none_or(|(_, b)| there.overrun < b.overrun) {
                best = Some((stream, there));
            }
        }
        best
    }

    fn judge(&self, frame: f64, entries: &[usize]) -> Composition {
        self.judged(self.slots(frame, entries))
    }

    pub(super) fn judged(&self, mut slots: Vec<Slot>) -> Composition {
        self.effort.spend(slots.len());
        // Weights that send the same guarantee the more the heavier they are.
        for slot in &mut slots {
            let part = &self.parts[slot.stream];
            if part.has_slowdown {
                slot.weight = part.supply.heaviest(slot.weight);
            }
        }
        let waits = (self.waits)(&slots);
        let overrun = |(part, wait): (&Part, &f64)| part.budget.map_or(0.0, |budget| wait / budget);
        let overruns = self.parts.iter().zip(&waits).map(overrun);
        Composition {
            error: self.error(&slots),
            overrun: overruns.fold(0.0, f64::max),
            strain: (self.strain)(&slots),
            is_proved: false,
            slots,
        }
    }

    /// Returns the largest relative error of a share.
    fn error(&self, slots: &[Slot]) -> f64 {
        let mut sent = vec![0.0; self.parts.len()];
        for slot in slots {
            sent[slot.stream] += (self.parts[slot.stream].supply.sent)(slot.weight);
        }
        let all: f64 = sent.iter().sum();
        let error = |(part, sent): (&Part, &f64)| (sent / all / part.share - 1.0).abs();
        self.parts.iter().zip(&sent).map(error).fold(0.0, f64::max)
    }

    /// Returns the entries in order. Entry j of n is due in the middle of the j-th n-th part of the
    /// frame, which spreads every stream evenly. For powers of two this is the order of a ruler, as
    /// in the papers.
    fn slots(&self, frame: f64, entries: &[usize]) -> Vec<Slot> {
        let mut due = vec![];
        for (stream, (part, &n)) in self.parts.iter().zip(entries).enumerate() {
            let each = part.share * frame / n as f64;
            let mut sent = 0.0;
            for j in 0..n {
                let wanted = each * (j + 1) as f64 - sent;
                let weight = part.supply.weight_for(wanted);
                sent += (part.supply.sent)(weight);
                due.push(((2 * j + 1) as f64 / (2 * n) as f64, Slot { stream, weight }));
            }
        }
        // A stable sort: streams that are due together keep their order.
        due.sort_by(|a, b| a.0.total_cmp(&b.0));
        due.into_iter().map(|(_, slot)| slot).collect()
    }
}

fn proved(composition: Composition) -> Composition {
    Composition {
        is_proved: true,
        ..composition
    }
}

/// Maximum of frames per stream.
const MOST_FRAMES: usize = 20_000;

/// Maximum ratio of a frame to the smallest one in which every stream sends: at that size the
/// rounding of a packet is below 0.5 %.
const MOST_GROWTH: f64 = 256.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns entries that send whole packets of one size, weights in packets.
    fn packets(share: f64, size: f64, budget: Option<f64>) -> Part {
        Part {
            share,
            mean: size,
            budget,
            entries: None,
            has_slowdown: false,
            supply: Supply {
                least: 1,
                most: 4,
                sent: Box::new(move |weight| f64::from(weight) * size),
                grain: Some(size),
            },
        }
    }

    /// Returns the longest run of others between two entries of each stream, in bytes of 100 per
    /// unit.
    fn gaps(slots: &[Slot], n: usize) -> Vec<f64> {
        let gap = |stream: usize| {
            let twice = slots.iter().chain(slots);
            let runs = twice.fold((0u32, 0u32), |(run, longest), slot| {
                if slot.stream == stream {
                    (0, longest)
                } else {
                    (run + slot.weight, longest.max(run + slot.weight))
                }
            });
            f64::from(runs.1) * 100.0
        };
        (0..n).map(gap).collect()
    }

    fn search(parts: &[Part], capacity: usize) -> Option<Composition> {
        let waits = |slots: &[Slot]| gaps(slots, parts.len());
        let search = Search {
            parts,
            capacity,
            tolerance: 0.01,
            waits: &waits,
            strain: &|_| 0.0,
            effort: &Effort::new(u64::MAX),
        };
        search.run()
    }

    #[test]
    fn whole_packets_give_exact_shares_in_the_smallest_frame() {
        let parts = [0.5, 0.3, 0.15, 0.05].map(|share| packets(share, 100.0, None));
        let found = search(&parts, 8).unwrap();
        assert!(found.error < 1e-9);
        let total: u32 = found.slots.iter().map(|slot| slot.weight).sum();
        assert_eq!((total, found.slots.len()), (20, 7));
    }

    #[test]
    fn what_does_not_fit_comes_as_near_as_it_can() {
        let parts = [0.5, 0.3, 0.15, 0.05].map(|share| packets(share, 100.0, None));
        // Four entries of at most four packets: no stream can have ten times another.
        let found = search(&parts, 4).unwrap();
        assert_eq!(found.slots.len(), 4);
        assert!(found.error > 0.01);
        assert!(search(&parts, 3).is_none());
    }

    #[test]
    fn a_deadline_spreads_entries() {
        let shares = [0.5, 0.5];
        let loose = shares.map(|share| packets(share, 100.0, None));
        assert_eq!(search(&loose, 8).unwrap().slots.len(), 2);
        // With 3 : 1 in packets of 100 and waits of at most two packets, the large one is split.
        let parts = [packets(0.75, 100.0, None), packets(0.25, 50.0, Some(200.0))];
        let found = search(&parts, 8).unwrap();
        assert!(found.overrun <= 1.0, "{found:?}");
        assert!(found.error <= 0.01);
        let impossible = [packets(0.75, 100.0, None), packets(0.25, 50.0, Some(50.0))];
        let found = search(&impossible, 8).unwrap();
        assert!(found.overrun > 1.0);
    }

    #[test]
    fn powers_of_two_are_ordered_like_a_ruler() {
        let parts = [4, 2, 1].map(|n| Part {
            entries: Some(n),
            ..packets(1.0 / 3.0, 100.0, None)
        });
        let search = Search {
            parts: &parts,
            capacity: 7,
            tolerance: 0.01,
            waits: &|_| vec![0.0; 3],
            strain: &|_| 0.0,
            effort: &Effort::new(u64::MAX),
        };
        let order: Vec<usize> = search
            .slots(1200.0, &[4, 2, 1])
            .iter()
            .map(|slot| slot.stream)
            .collect();
        assert_eq!(order, [0, 1, 0, 2, 0, 1, 0]);
    }
}

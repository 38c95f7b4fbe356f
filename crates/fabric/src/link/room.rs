//! Buffer space as seen by the sender: credits for the next hop, or space in an output buffer.
//!
//! A counter holds the flits in use plus known releases (ramps). Space is exact to the flit at any
//! time without an event per flit, and a sender without enough space can compute when there will be
//! enough. All flits freed by a port pass one point (a link, a crossbar port), so its ramps are
//! consecutive. Two are kept, the current and the next one.

use netloom_encoding::{Invalid, State, Validity, ensure};
use netloom_routing::Occupancy;
use netloom_units::Tick;

use crate::link::ramp::{Paces, Ramp};

/// Division of a buffer among the lanes, in flits (or slots, see [`Sizes::slots`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// Every lane has its own part.
    Static(Box<[u32]>),
    /// One pool: each lane has a guaranteed minimum and may not exceed a maximum.
    Pool {
        /// The whole buffer.
        capacity: u32,
        /// Minimum of each lane.
        min: Box<[u32]>,
        /// Maximum of each lane.
        max: Box<[u32]>,
    },
}

impl Sizes {
    /// Returns the buffer in slots of each lane's largest packet, for ports on guarded rings. A
    /// packet takes a whole slot regardless of its size, so that free space is not fragmented.
    ///
    /// Only the guaranteed space of a lane counts.
    pub fn slots(&self, largest: &[u16]) -> Sizes {
        let guaranteed = match self {
            Sizes::Static(sizes) => sizes,
            Sizes::Pool { min, .. } => min,
        };
        Sizes::Static(
            guaranteed
                .iter()
                .zip(largest)
                .map(|(&size, &flits)| size / u32::from(flits.max(1)))
                .collect(),
        )
    }

    /// Returns the maximum of a lane.
    pub fn most(&self, vl: usize) -> u32 {
        match self {
            Sizes::Static(sizes) => sizes[vl],
            Sizes::Pool { capacity, min, max } => {
                let others: u32 = min
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at != vl)
                    .map(|(_, m)| m)
                    .sum();
                max[vl].min(capacity - others)
            }
        }
    }

    /// Returns the size of the whole buffer.
    pub fn total(&self) -> u32 {
        match self {
            Sizes::Static(sizes) => sizes.iter().sum(),
            Sizes::Pool { capacity, .. } => *capacity,
        }
    }
}

/// Maximum number of lanes of a link: 15 for data and one for management.
pub(crate) const MOST_LANES: usize = 16;

/// [`Sizes`] as the counters use them: one entry per possible lane, so that no lookup can fail.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    n_vls: usize,
    is_pool: bool,
    capacity: u32,
    /// Classes of a lane: one, or its queues if each has its own counter.
    per_lane: u32,
    /// Without a pool: the part of each lane. With a pool: its minimum.
    min: [u32; MOST_LANES],
    max: [u32; MOST_LANES],
    /// What a lane may use regardless of the others.
    sure: [u32; MOST_LANES],
}

impl Limits {
    pub(crate) fn new(sizes: &Sizes) -> Self {
        let fill = |values: &[u32]| std::array::from_fn(|vl| values.get(vl).copied().unwrap_or(0));
        match sizes {
            Sizes::Static(parts) => Limits {
                n_vls: parts.len(),
                is_pool: false,
                capacity: 0,
                per_lane: 1,
                min: fill(parts),
                max: fill(parts),
                sure: fill(parts),
            },
            Sizes::Pool { capacity, min, max } => Limits {
                n_vls: min.len(),
                is_pool: true,
                capacity: *capacity,
                per_lane: 1,
                min: fill(min),
                max: fill(max),
                sure: fill(min),
            },
        }
    }

    /// Returns what is left for a lane, given the use of all lanes.
    #[inline(always)]
    pub(crate) fn left(&self, lane: usize, used: impl Fn(usize) -> u32) -> u32 {
        let mine = used(lane);
        if !self.is_pool {
            return self.min[lane] - mine;
        }
        let mut allocated = mine;
        for other in (0..self.n_vls).filter(|other| *other != lane) {
            allocated += used(other).max(self.min[other]);
        }
        (self.capacity - allocated).min(self.max[lane].saturating_sub(mine))
    }

    /// Whether classes may use this much at the same time.
    pub(crate) fn allow(&self, used: &[u32]) -> bool {
        if self.is_pool {
            let lanes = used.iter().take(self.n_vls).zip(&self.min);
            let allocated: u64 = lanes.map(|(&used, &min)| u64::from(used.max(min))).sum();
            return allocated <= u64::from(self.capacity);
        }
        let lane = |class: usize| class / self.per_lane.max(1) as usize % MOST_LANES;
        used.iter()
            .enumerate()
            .all(|(class, &used)| used <= self.min[lane(class)])
    }

    /// Returns the maximum of the classes of a lane.
    pub(crate) fn most(&self, lane: usize) -> u32 {
        if !self.is_pool {
            return self.min[lane] * self.per_lane;
        }
        let allocated: u32 = self.min.iter().sum();
        self.max[lane].min(self.capacity - (allocated - self.min[lane]))
    }

    /// Returns the limits of `per_lane` queues per lane; `flits` is the size of a queue, by lane.
    pub(crate) fn of_queues(flits: &[u32], per_lane: u32) -> Self {
        Limits {
            per_lane,
            ..Limits::new(&Sizes::Static(flits.into()))
        }
    }
}

/// The flits in use by each class of a buffer.
pub(crate) trait Used {
    /// Creates counters for this many classes, all zero.
    fn new(n_classes: usize) -> Self;
    /// Returns the lane of a class.
    fn lane(class: u16, limits: &Limits) -> usize;
    fn of(&self, class: u16) -> u16;
    fn of_mut(&mut self, class: u16) -> &mut u16;
    fn all(&self) -> &[u16];
}

/// A class is a lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes([u16; MOST_LANES]);

impl State for Lanes {
    fn save(&self, out: &mut Vec<u8>) {
        netloom_encoding::save_records(&self.0, out);
    }

    fn restore(&mut self, from: &mut &[u8]) -> Option<()> {
        netloom_encoding::restore_records(&mut self.0, from)
    }
}

impl Used for Lanes {
    fn new(_: usize) -> Self {
        Lanes::default()
    }

    #[inline]
    fn lane(class: u16, _: &Limits) -> usize {
        usize::from(class) % MOST_LANES
    }

    #[inline]
    fn of(&self, class: u16) -> u16 {
        self.0[usize::from(class) % MOST_LANES]
    }

    #[inline]
    fn of_mut(&mut self, class: u16) -> &mut u16 {
        &mut self.0[usize::from(class) % MOST_LANES]
    }

    #[inline(always)]
    fn all(&self) -> &[u16] {
        &self.0
    }
}

/// A class is a queue of the queue scheme.
#[derive(Clone, Debug)]
pub(crate) struct Queues(Box<[u16]>);

impl State for Queues {
    fn save(&self, out: &mut Vec<u8>) {
        netloom_encoding::save_records(&self.0, out);
    }

    fn restore(&mut self, from: &mut &[u8]) -> Option<()> {
        netloom_encoding::restore_records(&mut self.0, from)
    }
}

impl Used for Queues {
    fn new(n_classes: usize) -> Self {
        Queues(vec![0; n_classes].into())
    }

    #[inline]
    fn lane(class: u16, limits: &Limits) -> usize {
        (u32::from(class) / limits.per_lane) as usize % MOST_LANES
    }

    #[inline]
    fn of(&self, class: u16) -> u16 {
        self.0[usize::from(class)]
    }

    #[inline]
    fn of_mut(&mut self, class: u16) -> &mut u16 {
        &mut self.0[usize::from(class)]
    }

    #[inline]
    fn all(&self) -> &[u16] {
        &self.0
    }
}

/// Bounds for validating a restored room.
pub(crate) struct RoomBounds<'a> {
    pub(crate) n_classes: usize,
    pub(crate) paces: &'a Paces,
    pub(crate) limits: &'a Limits,
    pub(crate) now: Tick,
}

impl RoomBounds<'_> {
    /// Adds the current use of a class.
    pub(crate) fn class(
        &self,
        class: u16,
        settled: u32,
        ramps: &[Ramp],
        used: &mut Vec<u32>,
    ) -> Validity {
        let of_class = |ramp: &&Ramp| ramp.count != 0 && ramp.class == class;
        let own = || ramps.iter().filter(of_class);
        let coming: u32 = own().map(|ramp| u32::from(ramp.count)).sum();
        let is_class = settled == 0 || usize::from(class) < self.n_classes;
        ensure(is_class && coming <= settled, || {
            let expected = format!(
                "at least {coming} flits in use, of {} classes",
                self.n_classes
            );
            Invalid::new("room", expected, format_args!("{settled} of class {class}"))
        })?;
        let passed = |ramp: &Ramp| ramp.passed(self.now, self.paces).min(u32::from(ramp.count));
        used.push(settled - own().map(passed).sum::<u32>());
        Ok(())
    }

    /// Validates that classes may use this much.
    pub(crate) fn allow(&self, used: &[u32]) -> Validity {
        ensure(self.limits.allow(used), || {
            Invalid::new(
                "room",
                "no more in use than the buffer holds",
                format_args!("{used:?}"),
            )
        })
    }
}

/// Returns the use of a class that no ramp frees.
pub(crate) fn outstanding(class: u16, used: u32, ramps: &[Ramp]) -> u32 {
    let own = ramps.iter().filter(|ramp| ramp.class == class);
    used - own.map(|ramp| u32::from(ramp.count)).sum::<u32>()
}

/// A sender's view of one buffer: one cache line, if classes are lanes.
#[derive(Clone, Debug, State)]
#[repr(align(64))]
pub(crate) struct Room<U = Lanes> {
    /// Flits in use by each class, not reduced by what the current ramps have freed.
    #[state(part)]
    used: U,
    ramps: [Ramp; 2],
}

const _: () = assert!(size_of::<Room>() == 64);

impl Default for Room {
    fn default() -> Self {
        Room::new(MOST_LANES)
    }
}

impl<U: Used> Room<U> {
    pub(crate) fn new(n_classes: usize) -> Self {
        Room {
            used: U::new(n_classes),
            ramps: [Ramp::default(); 2],
        }
    }

    /// Validates that usage covers all known releases and does not exceed the buffer.
    pub(crate) fn validate(&self, at: &RoomBounds<'_>) -> Validity {
        for ramp in &self.ramps {
            ramp.validate(at.n_classes, at.paces)?;
        }
        let all = self.used.all();
        let mut used = Vec::with_capacity(all.len());
        for class in 0..all.len() as u16 {
            at.class(class, self.used(class), &self.ramps, &mut used)?;
        }
        at.allow(&used)
    }

    /// Returns the flits in use by a class without a known release.
    pub(crate) fn outstanding(&self, class: u16) -> u32 {
        outstanding(class, self.used(class), &self.ramps)
    }

    /// Returns the flits in use by a class, reservations included, as far as settled.
    #[inline]
    pub(crate) fn used(&self, class: u16) -> u32 {
        u32::from(self.used.of(class))
    }

    #[inline]
    fn used_at(&self, class: u16, now: Tick, paces: &Paces) -> u32 {
        let mut used = self.used(class);
        for ramp in &self.ramps {
            if ramp.count != 0 && ramp.class == class {
                used -= ramp.passed(now, paces);
            }
        }
        used
    }

    /// Returns the flits in use by all classes now.
    #[inline(always)]
    pub(crate) fn in_use(&self, now: Tick, paces: &Paces) -> u32 {
        let settled: u32 = self.used.all().iter().copied().map(u32::from).sum();
        // An absent ramp has ended long ago, and nothing of it has passed.
        let [first, second] = &self.ramps;
        settled - first.passed(now, paces) - second.passed(now, paces)
    }

    /// Returns how much a class may still send.
    #[inline(never)]
    pub(crate) fn available(&self, class: u16, now: Tick, paces: &Paces, limits: &Limits) -> u32 {
        let lane = U::lane(class, limits);
        limits.left(lane, |other| {
            // A pool has lanes and no other classes.
            let class = if other == lane { class } else { other as u16 };
            self.used_at(class, now, paces)
        })
    }

    /// Returns how much all classes of a lane may still send.
    pub(crate) fn room_of(&self, lane: u16, now: Tick, paces: &Paces, limits: &Limits) -> u32 {
        let classes = self.classes_of(lane, limits);
        classes
            .map(|class| self.available(class, now, paces, limits))
            .sum()
    }

    /// Returns what all classes of a lane use, and their maximum.
    pub(crate) fn occupancy_of(
        &self,
        lane: u16,
        now: Tick,
        paces: &Paces,
        limits: &Limits,
    ) -> Occupancy {
        let classes = self.classes_of(lane, limits);
        Occupancy {
            used: classes.map(|class| self.used_at(class, now, paces)).sum(),
            most: limits.most(usize::from(lane)).max(1),
        }
    }

    /// Returns the queues of a lane, or the lane itself. Lanes that share one queue are that queue.
    fn classes_of(&self, lane: u16, limits: &Limits) -> impl Iterator<Item = u16> + use<U> {
        let per_lane = limits.per_lane as u16;
        let lanes = self.used.all().len() as u16 / per_lane;
        let first = lane % lanes * per_lane;
        first..first + per_lane
    }

    /// Whether a class may send this much now. The paces are evaluated only if ramps matter.
    #[inline(always)]
    pub(crate) fn has<'a>(
        &self,
        class: u16,
        need: u32,
        now: Tick,
        limits: &Limits,
        paces: impl FnOnce() -> &'a Paces,
    ) -> bool {
        // The settled value often suffices: ramps can only add to it.
        self.used(class) + need <= limits.sure[U::lane(class, limits)]
            || self.available(class, now, paces(), limits) >= need
    }

    /// Takes space for a packet that is about to be sent.
    #[inline]
    pub(crate) fn take(&mut self, class: u16, amount: u16) {
        *self.used.of_mut(class) += amount;
    }

    /// Registers a release. `false` if both ramps are in use: the caller then retries when this one
    /// starts, by which time the earlier ones are over.
    #[inline(always)]
    pub(crate) fn release(&mut self, ramp: Ramp, now: Tick) -> bool {
        let [first, second] = self.ramps;
        if ramp.end <= now {
            return self.release_at_once(ramp, now);
        }
        // An empty ramp has ended long ago.
        if first.end <= now {
            self.settle(first);
            if second.count == 0 {
                self.ramps[0] = ramp;
            } else if second.end > now {
                self.ramps = [second, ramp];
            } else {
                self.settle(second);
                self.ramps = [ramp, Ramp::default()];
            }
            return true;
        }
        if second.count == 0 {
            self.ramps[1] = ramp;
            return true;
        }
        false
    }

    /// Registers space that is already free.
    #[inline(never)]
    fn release_at_once(&mut self, ramp: Ramp, now: Tick) -> bool {
        while self.ramps[0].count != 0 && self.ramps[0].end <= now {
            self.settle(self.ramps[0]);
            self.ramps[0] = std::mem::take(&mut self.ramps[1]);
        }
        self.settle(ramp);
        true
    }

    #[inline]
    fn settle(&mut self, ramp: Ramp) {
        let used = self.used.of_mut(ramp.class);
        debug_assert!(
            *used >= ramp.count,
            "credit conservation: more credits returned than taken"
        );
        *used -= ramp.count;
    }

    /// Returns the first time from now on at which a class may send `need`, as far as known ramps
    /// show.
    pub(crate) fn when(
        &self,
        class: u16,
        need: u32,
        now: Tick,
        paces: &Paces,
        limits: &Limits,
    ) -> Option<Tick> {
        // Space only grows along the ramps, so the decisive flit can be found by a search.
        for ramp in self.ramps.iter().filter(|r| r.count != 0) {
            let start = ramp.start(paces);
            let at = |k: u64| now.max(start + ramp.time_of(k, paces));
            let enough = |k: u64| self.available(class, at(k), paces, limits) >= need;
            if !enough(u64::from(ramp.count) - 1) {
                continue;
            }
            let (mut low, mut high) = (0, u64::from(ramp.count) - 1);
            while low < high {
                let middle = (low + high) / 2;
                if enough(middle) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            return Some(at(low));
        }
        None
    }

    /// Whether nothing is in use after all known releases, as in a drained fabric.
    pub(crate) fn is_idle(&self) -> bool {
        (0..self.used.all().len()).all(|class| {
            let coming: u16 = self
                .ramps
                .iter()
                .filter(|r| usize::from(r.class) == class)
                .map(|r| r.count)
                .sum();
            self.used.of(class as u16) == coming
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::ramp::Pace;
    use proptest::prelude::*;

    /// Reference implementation: a list with an entry for every flit that is freed.
    struct FlitLoop {
        taken: Vec<u32>,
        freed: Vec<(u64, usize)>,
    }

    impl FlitLoop {
        fn used(&self, vl: usize, now: u64) -> u32 {
            let free = self
                .freed
                .iter()
                .filter(|(at, lane)| *at <= now && *lane == vl)
                .count();
            self.taken[vl] - u32::try_from(free).unwrap()
        }

        fn available(&self, vl: usize, now: u64, sizes: &Sizes) -> u32 {
            match sizes {
                Sizes::Static(sizes) => sizes[vl] - self.used(vl, now),
                Sizes::Pool { capacity, min, max } => {
                    let allocated: u32 = (0..min.len())
                        .map(|lane| {
                            if lane == vl {
                                self.used(lane, now)
                            } else {
                                self.used(lane, now).max(min[lane])
                            }
                        })
                        .sum();
                    (capacity - allocated).min(max[vl].saturating_sub(self.used(vl, now)))
                }
            }
        }
    }

    proptest! {
        /// After random sends and releases, the ramps agree with the loop over flits.
        #[test]
        fn ramps_equal_a_flit_loop(
            pool in any::<bool>(),
            period in 1u64..4, num in 1u32..4, den in 1u32..3,
            steps in proptest::collection::vec((0usize..3, 1u16..12, 0u64..30, 0u64..12), 1..40),
        ) {
            let pace = Pace { period, num, den };
            let paces = Paces::new(&[pace]);
            let sizes = if pool {
                Sizes::Pool { capacity: 40, min: Box::new([6, 6, 6]), max: Box::new([25, 25, 25]) }
            } else {
                Sizes::Static(Box::new([14, 14, 14]))
            };
            let limits = Limits::new(&sizes);
            let mut room: Room = Room::default();
            let mut twin = FlitLoop { taken: vec![0; 3], freed: vec![] };
            let (mut now, mut free_from) = (0u64, 0u64);
            for (vl, flits, wait, lead) in steps {
                now += wait;
                let lane = u16::try_from(vl).unwrap();
                for v in 0..3u16 {
                    let exact = twin.available(usize::from(v), now, &sizes);
                    prop_assert_eq!(room.available(v, Tick(now), &paces, &limits), exact);
                    for need in [exact, exact + 1] {
                        prop_assert_eq!(room.has(v, need, Tick(now), &limits, || &paces), need <= exact);
                    }
                }
                let need = u32::from(flits);
                if !room.has(lane, need, Tick(now), &limits, || &paces) {
                    let known = twin.freed.iter().map(|f| f.0).max().unwrap_or(0);
                    let first = (now..=known.max(now)).find(|&t| twin.available(vl, t, &sizes) >= need);
                    prop_assert_eq!(room.when(lane, need, Tick(now), &paces, &limits).map(|t| t.0), first);
                    continue;
                }
                room.take(lane, flits);
                twin.taken[vl] += need;
                let start = free_from.max(now + 1 + lead);
                let ramp = Ramp::new(Tick(start), flits, lane, 0, &paces);
                if !room.release(ramp, Tick(now)) {
                    // No ramp is free: retry at its start, as the caller does by an event.
                    now = start;
                    prop_assert!(room.release(ramp, Tick(now)));
                }
                (0..u64::from(flits)).for_each(|k| twin.freed.push((start + pace.time_of(k), vl)));
                free_from = start + pace.occupancy(u64::from(flits));
            }
        }
    }
}

//! Buffer space if several lanes are freed at the same time: ramps for each lane.
//!
//! [`Room`](crate::link::room::Room) keeps two ramps, because everything that it counts passes one
//! point. If every lane has its own exit, only the flits of one lane are freed one after another.

use netloom_encoding::{State, Validity, ensure_equal};
use netloom_units::Tick;

use crate::link::ramp::{Paces, Ramp};
use netloom_routing::Occupancy;

use crate::link::room::{Limits, MOST_LANES, RoomBounds, outstanding};

/// A sender's view of one buffer.
#[derive(Clone, Debug, State)]
pub(crate) struct LaneRoom {
    /// Flits in use by each lane, not reduced by what its current ramps have freed.
    used: [u16; MOST_LANES],
    /// By lane: the current ramp and the next.
    ramps: Box<[[Ramp; 2]; MOST_LANES]>,
}

impl Default for LaneRoom {
    fn default() -> Self {
        LaneRoom {
            used: [0; MOST_LANES],
            ramps: Box::new([[Ramp::default(); 2]; MOST_LANES]),
        }
    }
}

impl LaneRoom {
    /// Validates that usage covers all known releases and does not exceed the buffer.
    pub(crate) fn validate(&self, at: &RoomBounds<'_>) -> Validity {
        let mut used = Vec::with_capacity(MOST_LANES);
        for (lane, ramps) in (0..).zip(self.ramps.iter()) {
            for ramp in ramps {
                ramp.validate(at.n_classes, at.paces)?;
                ensure_equal(
                    "lane of a buffer",
                    if ramp.count == 0 { 0 } else { lane },
                    ramp.class,
                )?;
            }
            at.class(lane, self.used(lane), ramps, &mut used)?;
        }
        at.allow(&used)
    }

    /// Returns the flits in use by a lane without a known release.
    pub(crate) fn outstanding(&self, lane: u16) -> u32 {
        outstanding(lane, self.used(lane), &self.ramps[usize::from(lane)])
    }

    /// Returns the flits in use by a lane, reservations included, as far as settled.
    pub(crate) fn used(&self, lane: u16) -> u32 {
        u32::from(self.used[usize::from(lane)])
    }

    fn used_at(&self, lane: usize, now: Tick, paces: &Paces) -> u32 {
        let ramps = self.ramps[lane].iter().filter(|ramp| ramp.count != 0);
        u32::from(self.used[lane]) - ramps.map(|ramp| ramp.passed(now, paces)).sum::<u32>()
    }

    /// Returns the flits in use by all lanes now.
    pub(crate) fn in_use(&self, now: Tick, paces: &Paces) -> u32 {
        let lanes = 0..MOST_LANES;
        lanes.map(|lane| self.used_at(lane, now, paces)).sum()
    }

    /// Returns how much a lane may still send.
    pub(crate) fn available(&self, lane: u16, now: Tick, paces: &Paces, limits: &Limits) -> u32 {
        limits.left(usize::from(lane), |lane| self.used_at(lane, now, paces))
    }

    /// Returns the same for a routing.
    pub(crate) fn room_of(&self, lane: u16, now: Tick, paces: &Paces, limits: &Limits) -> u32 {
        self.available(lane, now, paces, limits)
    }

    /// Returns what a lane uses, and its maximum.
    pub(crate) fn occupancy_of(
        &self,
        lane: u16,
        now: Tick,
        paces: &Paces,
        limits: &Limits,
    ) -> Occupancy {
        Occupancy {
            used: self.used_at(usize::from(lane), now, paces),
            most: limits.most(usize::from(lane)).max(1),
        }
    }

    /// Whether a lane may send this much now.
    pub(crate) fn has<'a>(
        &self,
        lane: u16,
        need: u32,
        now: Tick,
        limits: &Limits,
        paces: impl FnOnce() -> &'a Paces,
    ) -> bool {
        self.available(lane, now, paces(), limits) >= need
    }

    /// Takes space for a packet that is about to be sent.
    pub(crate) fn take(&mut self, lane: u16, amount: u16) {
        self.used[usize::from(lane)] += amount;
    }

    /// Registers a release. `false` if both ramps of its lane are in use.
    pub(crate) fn release(&mut self, ramp: Ramp, now: Tick) -> bool {
        let lane = usize::from(ramp.class);
        let (used, ramps) = (&mut self.used[lane], &mut self.ramps[lane]);
        while ramps[0].count != 0 && ramps[0].end <= now {
            *used -= ramps[0].count;
            ramps[0] = std::mem::take(&mut ramps[1]);
        }
        if ramp.end <= now {
            *used -= ramp.count;
        } else if ramps[0].count == 0 {
            ramps[0] = ramp;
        } else if ramps[1].count == 0 {
            ramps[1] = ramp;
        } else {
            return false;
        }
        true
    }

    /// Returns the first time from now on at which a lane may send `need`, as far as known ramps
    /// show.
    pub(crate) fn when(
        &self,
        lane: u16,
        need: u32,
        now: Tick,
        paces: &Paces,
        limits: &Limits,
    ) -> Option<Tick> {
        let enough = |at: u64| self.available(lane, Tick(at), paces, limits) >= need;
        let ramps = self.ramps.iter().flatten().filter(|ramp| ramp.count != 0);
        let last = ramps.map(|ramp| ramp.end).max()?.max(now);
        if !enough(last.0) {
            return None;
        }
        // Space only grows with time.
        let (mut low, mut high) = (now.0, last.0);
        while low < high {
            let middle = low + (high - low) / 2;
            if enough(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(Tick(low))
    }

    /// Whether nothing is in use after all known releases.
    pub(crate) fn is_idle(&self) -> bool {
        let coming = |ramps: &[Ramp; 2]| ramps[0].count + ramps[1].count;
        let lanes = self.used.iter().zip(self.ramps.iter());
        lanes
            .into_iter()
            .all(|(used, ramps)| *used == coming(ramps))
    }
}

//! Room where several lanes of a buffer come free at the same time: ramps for each lane.
//!
//! [`Room`](crate::link::room::Room) keeps two ramps, because everything that it counts passes one place. Where every
//! lane has a way out of its own, only what belongs to one lane comes free one after another.

use netloom_encoding::{Validity, ensure_equal};
use netloom_units::Tick;

use crate::link::ramp::{Paces, Ramp};
use netloom_routing::Occupancy;

use crate::link::room::{Limits, MOST_LANES, RoomBounds, outstanding};

/// What a sender knows of one buffer.
#[derive(Clone, Debug)]
pub(crate) struct LaneRoom {
    /// In use by each lane, what has come free since its ramps began not yet taken off.
    used: [u16; MOST_LANES],
    /// By lane: the running ramp and the next.
    ramps: Box<[[Ramp; 2]; MOST_LANES]>,
}

netloom_encoding::state!(LaneRoom {
    changes: [used, ramps]
});

impl Default for LaneRoom {
    fn default() -> Self {
        LaneRoom {
            used: [0; MOST_LANES],
            ramps: Box::new([[Ramp::default(); 2]; MOST_LANES]),
        }
    }
}

impl LaneRoom {
    /// What is in use is not less than what is known to come free, and not more than there is.
    pub(crate) fn validate(&self, at: &RoomBounds<'_>) -> Validity {
        let mut used = Vec::with_capacity(MOST_LANES);
        for (lane, ramps) in (0..).zip(self.ramps.iter()) {
            for ramp in ramps {
                ramp.validate(at.n_classes, at.paces)?;
                ensure_equal(
                    "lane of room",
                    if ramp.count == 0 { 0 } else { lane },
                    ramp.class,
                )?;
            }
            at.class(lane, self.used(lane), ramps, &mut used)?;
        }
        at.allow(&used)
    }

    /// In use by a lane, and not known to come free.
    pub(crate) fn outstanding(&self, lane: u16) -> u32 {
        outstanding(lane, self.used(lane), &self.ramps[usize::from(lane)])
    }

    /// In use by a lane, reservations included, as far as it is settled.
    pub(crate) fn used(&self, lane: u16) -> u32 {
        u32::from(self.used[usize::from(lane)])
    }

    fn used_at(&self, lane: usize, now: Tick, paces: &Paces) -> u32 {
        let ramps = self.ramps[lane].iter().filter(|ramp| ramp.count != 0);
        u32::from(self.used[lane]) - ramps.map(|ramp| ramp.passed(now, paces)).sum::<u32>()
    }

    /// In use by all lanes now.
    pub(crate) fn in_use(&self, now: Tick, paces: &Paces) -> u32 {
        let lanes = 0..MOST_LANES;
        lanes.map(|lane| self.used_at(lane, now, paces)).sum()
    }

    /// How much a lane may still send.
    pub(crate) fn available(&self, lane: u16, now: Tick, paces: &Paces, limits: &Limits) -> u32 {
        limits.left(usize::from(lane), |lane| self.used_at(lane, now, paces))
    }

    /// The same, as a routing asks for it.
    pub(crate) fn room_of(&self, lane: u16, now: Tick, paces: &Paces, limits: &Limits) -> u32 {
        self.available(lane, now, paces, limits)
    }

    /// What a lane has in use, and the most it can have.
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

    /// Whether a lane may send so much now.
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

    /// Takes room for a packet that is about to be sent.
    pub(crate) fn take(&mut self, lane: u16, amount: u16) {
        self.used[usize::from(lane)] += amount;
    }

    /// Room is coming free. `false` if both places of its lane are taken.
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

    /// The first time from now on at which a lane may send `need`, as far as known ramps tell.
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
        // Room only grows with time.
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

    /// Whether nothing is in use once everything known has come free.
    pub(crate) fn is_idle(&self) -> bool {
        let coming = |ramps: &[Ramp; 2]| ramps[0].count + ramps[1].count;
        let lanes = self.used.iter().zip(self.ramps.iter());
        lanes
            .into_iter()
            .all(|(used, ramps)| *used == coming(ramps))
    }
}

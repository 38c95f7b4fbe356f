//! Priority flow control (IEEE 802.1Qbb) as seen by the sender. PAUSE of a whole link (IEEE 802.3x,
//! Annex 31B) is the same with one class for all lanes.
//!
//! The receiver counts a whole packet of a lane when its header has arrived, and removes it when
//! its tail has left the input buffer, so the count never falls below the actual flits. Above XOFF
//! it stops the lane, and at or below XON it restarts it. PAUSE travels over the link like a credit
//! and takes no data bandwidth. Both changes thus arrive here after the same delay, and the sender
//! can keep the state of the lane. A packet that has started is finished.
//!
//! Changes of one tick commute: the state of a lane is evaluated after all of them.

use netloom_encoding::{Invalid, State, Validity, ensure};
use netloom_routing::Occupancy;
use netloom_units::Tick;

use crate::link::room::{MOST_LANES, RoomBounds, Sizes};
use crate::plan::Thresholds;

/// The lanes of one link.
#[derive(Clone, Debug, State)]
#[repr(align(64))]
pub(crate) struct Pause {
    /// Signed: the changes of a tick come in any order.
    counted: [i32; MOST_LANES],
    /// Lanes that were stopped after all changes before `at`.
    stopped: u32,
    /// Lanes that changed at `at`.
    touched: u32,
    at: Tick,
    /// Mask of a class: all bits if lanes are separate, none if they are counted and stopped
    /// together.
    #[state(constant)]
    lanes: u16,
    #[state(constant)]
    xoff: [u16; MOST_LANES],
    #[state(constant)]
    xon: [u16; MOST_LANES],
    #[state(constant)]
    capacity: [u16; MOST_LANES],
}

impl Pause {
    /// Creates the state for separate lanes.
    pub(crate) fn of_lanes(thresholds: &[Thresholds], buffer: &Sizes) -> Self {
        Pause::new(thresholds, &|lane| buffer.most(lane), MOST_LANES as u16 - 1)
    }

    /// Creates the state for all lanes together, in the whole buffer.
    pub(crate) fn of_link(thresholds: Thresholds, buffer: &Sizes) -> Self {
        Pause::new(&[thresholds], &|_| buffer.total(), 0)
    }

    fn new(thresholds: &[Thresholds], most: &dyn Fn(usize) -> u32, lanes: u16) -> Self {
        let clamp = |flits: u32| u16::try_from(flits).unwrap_or(u16::MAX);
        let fill = |of: &dyn Fn(usize) -> u32| {
            std::array::from_fn(|vl| {
                if vl < thresholds.len() {
                    clamp(of(vl))
                } else {
                    0
                }
            })
        };
        Pause {
            counted: [0; MOST_LANES],
            stopped: 0,
            touched: 0,
            at: Tick::ZERO,
            lanes,
            xoff: fill(&|vl| thresholds[vl].xoff),
            xon: fill(&|vl| thresholds[vl].xon),
            capacity: fill(most),
        }
    }

    /// Validates that the count of every lane fits into its buffer.
    pub(crate) fn validate(&self, at: &RoomBounds<'_>) -> Validity {
        ensure(self.at <= at.now, || {
            Invalid::new(
                "last change of a count",
                format_args!("a time up to {}", at.now.0),
                self.at.0,
            )
        })?;
        let lanes = self.stopped | self.touched;
        ensure(lanes >> MOST_LANES == 0, || {
            Invalid::new("stopped lanes", "16 bits", lanes)
        })?;
        for (counted, capacity) in self.counted.iter().zip(&self.capacity) {
            ensure((0..=i32::from(*capacity)).contains(counted), || {
                let expected = format!("0 to {capacity} flits");
                Invalid::new("count of a lane", expected, counted)
            })?;
        }
        Ok(())
    }

    /// Returns the counter of a class.
    #[inline(always)]
    fn lane(&self, class: u16) -> usize {
        usize::from(class & self.lanes) % MOST_LANES
    }

    #[inline]
    fn judge(&self, lane: usize) -> bool {
        match self.counted[lane] {
            counted if counted > i32::from(self.xoff[lane]) => true,
            counted if counted <= i32::from(self.xon[lane]) => false,
            _ => self.stopped >> lane & 1 == 1,
        }
    }

    /// Whether packets of a lane may not start.
    #[inline]
    pub(crate) fn is_stopped(&self, class: u16) -> bool {
        let lane = self.lane(class);
        if self.touched >> lane & 1 == 1 {
            self.judge(lane)
        } else {
            self.stopped >> lane & 1 == 1
        }
    }

    /// Evaluates the changes of an earlier tick before new ones arrive.
    fn settle(&mut self, now: Tick) {
        if self.at >= now {
            return;
        }
        self.at = now;
        while self.touched != 0 {
            let lane = self.touched.trailing_zeros() as usize;
            self.touched &= self.touched - 1;
            let is_stopped = u32::from(self.judge(lane));
            self.stopped = self.stopped & !(1 << lane) | is_stopped << lane;
        }
    }

    pub(crate) fn add(&mut self, class: u16, flits: u16, now: Tick) {
        self.settle(now);
        let lane = self.lane(class);
        self.counted[lane] += i32::from(flits);
        assert!(
            self.counted[lane] <= i32::from(self.capacity[lane]),
            "a lossless input never overflows: {} flits of lane {lane} in a buffer of {}",
            self.counted[lane],
            self.capacity[lane]
        );
        self.touched |= 1 << lane;
    }

    pub(crate) fn take_off(&mut self, class: u16, flits: u16, now: Tick) {
        self.settle(now);
        let lane = self.lane(class);
        self.counted[lane] -= i32::from(flits);
        self.touched |= 1 << lane;
    }

    /// Returns the flits that the receiver has counted, on all lanes.
    pub(crate) fn counted(&self) -> u32 {
        self.counted.iter().sum::<i32>().max(0) as u32
    }

    /// Returns what the receiver has counted on a lane, and its maximum.
    pub(crate) fn occupancy_of(&self, class: u16) -> Occupancy {
        let lane = self.lane(class);
        Occupancy {
            used: self.counted[lane].max(0) as u32,
            most: u32::from(self.capacity[lane]).max(1),
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.counted == [0; MOST_LANES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lane(xoff: u32, xon: u32) -> Pause {
        Pause::of_lanes(
            &[Thresholds { xoff, xon }],
            &Sizes::Static(Box::new([1000])),
        )
    }

    #[test]
    fn g003_2_a_lane_stops_above_xoff_and_goes_on_at_xon() {
        let mut pause = lane(440, 296);
        pause.add(0, 440, Tick(1));
        assert!(!pause.is_stopped(0), "at the threshold it still runs");
        pause.add(0, 1, Tick(2));
        assert!(pause.is_stopped(0));
        pause.take_off(0, 144, Tick(3));
        assert!(pause.is_stopped(0), "297 flits are above XON");
        pause.take_off(0, 1, Tick(4));
        assert!(!pause.is_stopped(0));
    }

    proptest! {
        /// Changes of one tick in any order: only their sum counts.
        #[test]
        fn changes_of_a_tick_commute(
            ticks in proptest::collection::vec(proptest::collection::vec(1u16..60, 1..5), 1..30),
            xoff in 20u32..120, gap in 0u32..40,
        ) {
            let (mut forth, mut back) = (lane(xoff, xoff.saturating_sub(gap)), lane(xoff, xoff.saturating_sub(gap)));
            let (mut count, mut is_stopped) = (0u32, false);
            for (now, sizes) in ticks.iter().enumerate() {
                let now = Tick(now as u64 + 1);
                // Every second change removes flits, as far as there are any.
                let mut changes: Vec<i32> = vec![];
                let mut left = count;
                for (at, &size) in sizes.iter().enumerate() {
                    if at % 2 == 1 && left >= u32::from(size) {
                        left -= u32::from(size);
                        changes.push(-i32::from(size));
                    } else if count + 60 * 5 < 1000 {
                        changes.push(i32::from(size));
                    }
                }
                count = count.saturating_add_signed(changes.iter().sum());
                is_stopped = count > xoff || (is_stopped && count > xoff.saturating_sub(gap));
                for (pause, order) in [(&mut forth, false), (&mut back, true)] {
                    let mut changes = changes.clone();
                    if order {
                        // Removing first is always possible, since only earlier flits leave.
                        changes.sort_unstable();
                    }
                    for change in changes {
                        match u16::try_from(change) {
                            Ok(flits) => pause.add(0, flits, now),
                            Err(_) => pause.take_off(0, change.unsigned_abs() as u16, now),
                        }
                    }
                    prop_assert_eq!(pause.is_stopped(0), is_stopped);
                }
            }
        }
    }
}

//! Flits that an output has sent and still keeps, in case the link damages them.
//!
//! The space of an output buffer is counted in flits. To free it flit by flit without an event for
//! each, sent flits are a ramp, which is evaluated when a packet requests space.

use netloom_encoding::{Encoded, Invalid, ensure_below};
use netloom_units::Tick;

use crate::Retransmission;
use crate::link::pool::{Pool, Shares};
use crate::switch::tiled::TiledPort;
use crate::switch::tiled::wire::Wire;
use crate::validation::Bounds;

/// Flits of a packet that are still kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encoded)]
pub(crate) struct Held {
    /// When the first of them is freed.
    first: Tick,
    /// Ticks from one to the next; 0 if all are freed simultaneously.
    step: u64,
    flits: u16,
    vc: u8,
}

impl Held {
    /// Creates the record of a packet whose first flit is on the wire from `start` on.
    pub(crate) fn new(rule: Retransmission, wire: &Wire, start: Tick, vc: u8, flits: u16) -> Self {
        let (sent, step) = match rule.is_by_flit() {
            true => (wire.flit, wire.flit),
            false => (wire.occupancy(flits), 0),
        };
        Held {
            first: start + (sent + rule.delays() * wire.delay),
            step,
            flits,
            vc,
        }
    }

    /// Validates the record, and returns its channel and flits.
    pub(super) fn validate(&self, bounds: &Bounds<'_>) -> Result<(u8, u16), Invalid> {
        bounds.flits("sent flits", self.flits)?;
        bounds.time("sent flits", self.first)?;
        ensure_below("time between flits", self.step, 1u64 << 40)?;
        Ok((self.vc, self.flits))
    }

    /// Returns when this many flits, at least one, are free.
    #[inline]
    fn when(&self, flits: u16) -> Tick {
        self.first + u64::from(flits - 1) * self.step
    }

    /// Returns the number of free flits.
    #[inline]
    fn free(&self, now: Tick) -> u16 {
        if self.first > now {
            return 0;
        }
        let since = now - self.first;
        match since >= u64::from(self.flits - 1) * self.step {
            true => self.flits,
            false => (since / self.step) as u16 + 1,
        }
    }

    /// Returns the sum of the ticks in which the flits keep their space, from the arrival of the
    /// packet on.
    pub(crate) fn residence(&self, arrival: Tick) -> u64 {
        let flits = u64::from(self.flits);
        flits * (self.first - arrival) + self.step * (flits * (flits - 1) / 2)
    }
}

impl TiledPort {
    /// Returns the space that has been freed by now.
    #[inline]
    pub(crate) fn settle(&mut self, now: Tick, shares: &Shares) {
        while let Some(held) = self.held.front_mut()
            && held.first <= now
        {
            let free = held.free(now);
            self.space.give(held.vc, free, shares);
            if free < held.flits {
                held.first += u64::from(free) * held.step;
                held.flits -= free;
                break;
            }
            self.held.pop_front();
        }
    }

    /// Returns when sent flits leave enough space that the condition holds; `None` if it is not
    /// enough.
    pub(crate) fn when_free(
        &self,
        shares: &Shares,
        mut is_enough: impl FnMut(&Pool) -> bool,
    ) -> Option<Tick> {
        let mut before = self.space.clone();
        for held in &self.held {
            let with = |flits: u16| {
                let mut space = before.clone();
                space.give(held.vc, flits, shares);
                space
            };
            let all = with(held.flits);
            if is_enough(&all) {
                let step = if held.step == 0 { held.flits } else { 1 };
                let mut fewer = (step..held.flits).step_by(usize::from(step));
                let flits = fewer.find(|&flits| is_enough(&with(flits)));
                return Some(held.when(flits.unwrap_or(held.flits)));
            }
            before = all;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::tiled::edges::Edges;
    use crate::{CrossbarStart, LinkTiming};

    fn held(rule: Retransmission) -> Held {
        let link = LinkTiming {
            flit: 10,
            delay: 100,
        };
        let wire = Wire::new(link, Edges::new(10), 2, CrossbarStart::AtOnce);
        Held::new(rule, &wire, Tick(1000), 0, 4)
    }

    /// Four flits are sent at 1010, 1020, 1030 and 1040.
    #[test]
    fn flits_come_free_when_they_are_acknowledged() {
        let times = [1009, 1010, 1039, 1040, 1209, 1210, 1239, 1240];
        let free = |rule| times.map(|now| held(rule).free(Tick(now)));
        assert_eq!(free(Retransmission::Packet), [0, 0, 0, 0, 0, 0, 0, 4]);
        assert_eq!(free(Retransmission::PerFlit), [0, 0, 0, 0, 0, 1, 3, 4]);
        assert_eq!(free(Retransmission::Nothing), [0, 1, 3, 4, 4, 4, 4, 4]);
    }

    #[test]
    fn residence_is_the_sum_over_flits() {
        let residence = |rule| held(rule).residence(Tick(900));
        assert_eq!(residence(Retransmission::Packet), 4 * 340);
        assert_eq!(residence(Retransmission::PerFlit), 310 + 320 + 330 + 340);
        assert_eq!(residence(Retransmission::Nothing), 110 + 120 + 130 + 140);
    }
}

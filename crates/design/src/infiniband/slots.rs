//! Slots: bandwidth as a share of a fixed frame, and times from the paper.
//!
//! A frame is what a table of 64 entries of weight 255 sends in one round. It is the reference of
//! all weights; the network never waits for its end.

use std::fmt;

use netloom_arbitration::{MAX_ENTRIES, WEIGHT_UNIT};
use netloom_units::{Bytes, Rate, Sl};

/// The largest weight of an entry, in slots.
pub const ENTRY_SLOTS: u64 = 255;

/// A number of slots: 64 bytes each, one unit of weight of a table entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Slots(pub u64);

/// The whole frame: 64 entries of 255 slots.
pub const FRAME: Slots = Slots(MAX_ENTRIES as u64 * ENTRY_SLOTS);

/// The default share of best effort at a port: 20 % of the frame.
pub const BEST_EFFORT: Slots = Slots(FRAME.0 / 5);

impl Slots {
    /// Returns this share of the frame: at least one slot, and at most all but one.
    pub fn of_frame(share: f64) -> Slots {
        let slots = (share * FRAME.0 as f64).round() as u64;
        Slots(slots.clamp(1, FRAME.0 - 1))
    }

    /// Returns the bytes that they carry in one frame.
    pub fn bytes(self) -> Bytes {
        Bytes(self.0 * u64::from(WEIGHT_UNIT))
    }

    /// Returns the number of entries that they fill, the last one perhaps in part.
    pub fn entries(self) -> usize {
        self.0.div_ceil(ENTRY_SLOTS) as usize
    }

    /// Returns their share of the frame, for printing and statistics only.
    pub fn share(self) -> f64 {
        self.0 as f64 / FRAME.0 as f64
    }
}

impl fmt::Display for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} slot{plural}", self.0)
    }
}

/// Returns the slots that a bandwidth needs on a link: its share of the frame, rounded up.
///
/// A bandwidth above the link's gives more slots than the frame has; admission refuses it.
///
/// # Panics
/// If the link's rate is zero.
pub fn slots_for(bandwidth: Rate, link: Rate) -> Slots {
    let slots = (u128::from(bandwidth.0) * u128::from(FRAME.0)).div_ceil(u128::from(link.0));
    Slots(u64::try_from(slots).unwrap_or(u64::MAX))
}

/// Service levels of connections: very low, low, high and very high bandwidth.
pub const N_SLS: u8 = 4;

/// The largest bandwidth of service levels 0, 1 and 2; larger ones belong to 3.
pub const LARGEST: [Rate; 3] = [Rate(64_000), Rate(1_550_000), Rate(64_000_000)];

/// Returns the service level of a connection by its mean bandwidth.
pub fn classify(bandwidth: Rate) -> Sl {
    Sl(LARGEST.iter().filter(|&&most| bandwidth > most).count() as u8)
}

#[cfg(test)]
mod tests {
    use netloom_units::Time;
    use proptest::prelude::*;

    use super::*;

    const X1: Rate = Rate(2_500_000_000);
    const X4: Rate = Rate(10_000_000_000);
    const X12: Rate = Rate(30_000_000_000);
    const ASKED: [Rate; 5] = [
        Rate(8_000),
        Rate(64_000),
        Rate(1_550_000),
        Rate(64_000_000),
        Rate(300_000_000),
    ];

    /// The second formula of the paper, over the time of a frame: `ceil(B * T_frame / 512)`.
    fn slots_by_frame_time(bandwidth: Rate, link: Rate) -> Slots {
        const PICOS_PER_SECOND: u128 = 1_000_000_000_000;
        let bits_of_slot = u128::from(WEIGHT_UNIT) * 8;
        let frame = link.time_for(FRAME.bytes()).picos();
        let slots = (u128::from(bandwidth.0) * frame.num())
            .div_ceil(frame.den() * PICOS_PER_SECOND * bits_of_slot);
        Slots(u64::try_from(slots).unwrap_or(u64::MAX))
    }

    fn slots(link: Rate) -> [u64; 5] {
        ASKED.map(|bandwidth| slots_for(bandwidth, link).0)
    }

    #[test]
    fn v004_1_the_frame() {
        assert_eq!(FRAME, Slots(16_320));
        assert_eq!(FRAME.bytes(), Bytes(1_044_480));
        assert_eq!(FRAME.bytes().0 * 8, 8_355_840);
        assert_eq!(BEST_EFFORT, Slots(3_264));
    }

    #[test]
    fn v004_2_the_time_of_a_frame() {
        let nanos = [X1, X4, X12].map(|link| link.time_for(FRAME.bytes()).picos());
        let expected = [3_342_336, 835_584, 278_528].map(|n| Time::from_nanos(n).picos());
        assert_eq!(nanos, expected);
    }

    #[test]
    fn v004_4_slots_at_1x() {
        assert_eq!(slots(X1), [1, 1, 11, 418, 1959]);
    }

    #[test]
    fn v004_5_slots_at_4x() {
        assert_eq!(slots(X4), [1, 1, 3, 105, 490]);
    }

    #[test]
    fn v004_6_slots_at_12x() {
        assert_eq!(slots(X12), [1, 1, 1, 35, 164]);
    }

    #[test]
    fn v004_7_both_formulas_agree() {
        for link in [X1, X4, X12] {
            for bandwidth in ASKED {
                let by_time = slots_by_frame_time(bandwidth, link);
                assert_eq!(slots_for(bandwidth, link), by_time);
            }
        }
    }

    proptest! {
        #[test]
        fn both_formulas_agree_for_all_bandwidths(bandwidth: u64, link in 1u64..) {
            let (bandwidth, link) = (Rate(bandwidth), Rate(link));
            prop_assert_eq!(slots_for(bandwidth, link), slots_by_frame_time(bandwidth, link));
        }
    }

    #[test]
    fn a_whole_link_is_a_whole_frame() {
        assert_eq!(slots_for(X4, X4), FRAME);
        assert_eq!(slots_for(Rate(X4.0 + 1), X4), Slots(16_321));
        assert_eq!(slots_for(Rate(u64::MAX), Rate(1)), Slots(u64::MAX));
    }

    #[test]
    fn v004_11_edges_of_the_service_levels() {
        let edges = [64_000, 64_001, 1_550_000, 1_550_001, 64_000_000, 64_000_001];
        let sls = edges.map(|bits| classify(Rate(bits)).0);
        assert_eq!(sls, [0, 1, 1, 2, 2, 3]);
    }
}

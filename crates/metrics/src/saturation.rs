//! Whether a fabric carries what it is offered.

use std::fmt;

/// Offered and accepted load of a measured interval, and the verdict that follows from them.
///
/// Saturation is a result, not an error: it comes with its two numbers as evidence. Both are in the
/// same unit, for example flits per cycle and NIC, or plain flits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Saturation {
    /// What the sources generated.
    pub offered: f64,
    /// What the destinations received.
    pub accepted: f64,
}

impl Saturation {
    /// A fabric that accepts less than this share of the offered load is saturated (rule 0.4 of the
    /// reproduction). The missing 2 % allow for packets under way at both ends of the interval.
    pub const LEAST_ACCEPTED: f64 = 0.98;

    /// Accepted over offered, or `None` if nothing was offered.
    pub fn accepted_share(&self) -> Option<f64> {
        (self.offered > 0.0).then(|| self.accepted / self.offered)
    }

    /// Whether the queues grow. Nothing offered saturates nothing.
    pub fn is_saturated(&self) -> bool {
        self.accepted_share()
            .is_some_and(|share| share < Self::LEAST_ACCEPTED)
    }
}

/// The verdict with its evidence: `saturated: 0.61 accepted of 0.7 offered (87.1 %, limit 98 %)`.
impl fmt::Display for Saturation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(share) = self.accepted_share() else {
            return f.write_str("not saturated: nothing offered");
        };
        let verdict = if self.is_saturated() {
            "saturated"
        } else {
            "not saturated"
        };
        write!(
            f,
            "{verdict}: {} accepted of {} offered ({:.1} %, limit {} %)",
            self.accepted,
            self.offered,
            100.0 * share,
            100.0 * Self::LEAST_ACCEPTED
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(offered: f64, accepted: f64, is_saturated: bool, words: &str) {
        let saturation = Saturation { offered, accepted };
        assert_eq!(saturation.is_saturated(), is_saturated);
        assert_eq!(saturation.to_string(), words);
    }

    #[test]
    fn the_limit_itself_is_not_saturated() {
        check(
            0.5,
            0.49,
            false,
            "not saturated: 0.49 accepted of 0.5 offered (98.0 %, limit 98 %)",
        );
        check(
            1000.0,
            979.0,
            true,
            "saturated: 979 accepted of 1000 offered (97.9 %, limit 98 %)",
        );
    }

    #[test]
    fn more_accepted_than_offered_drains_old_queues() {
        check(
            0.5,
            0.6,
            false,
            "not saturated: 0.6 accepted of 0.5 offered (120.0 %, limit 98 %)",
        );
    }

    #[test]
    fn nothing_offered_saturates_nothing() {
        check(0.0, 0.0, false, "not saturated: nothing offered");
    }
}

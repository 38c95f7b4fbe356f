//! Fairness of shares.

/// Returns Jain's fairness index: 1 if all shares are equal, `1/n` if one of `n` has everything.
///
/// It is `(sum of x)^2 / (n * sum of x^2)` (R. Jain, D. Chiu, W. Hawe, "A quantitative measure of
/// fairness and discrimination for resource allocation", DEC-TR-301, 1984). `None` without shares,
/// if all are zero, or if one is negative or not finite.
pub fn jain(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0u64, 0.0, 0.0);
    for value in values {
        if !value.is_finite() || value < 0.0 {
            return None;
        }
        n += 1;
        sum += value;
        squares += value * value;
    }
    (squares > 0.0).then(|| sum * sum / (n as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_shares_are_fair() {
        assert_eq!(jain([3.0; 8]), Some(1.0));
    }

    #[test]
    fn one_who_takes_everything_is_not() {
        assert_eq!(jain([5.0, 0.0, 0.0, 0.0]), Some(0.25));
    }

    #[test]
    fn three_shares_by_hand() {
        // (1 + 2 + 3)^2 = 36, over 3 * (1 + 4 + 9) = 42.
        assert_eq!(jain([1.0, 2.0, 3.0]), Some(36.0 / 42.0));
    }

    #[test]
    fn nothing_shared_has_no_fairness() {
        assert_eq!(jain([]), None);
        assert_eq!(jain([0.0, 0.0]), None);
        assert_eq!(jain([1.0, -1.0]), None);
        assert_eq!(jain([1.0, f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn it_lies_between_one_nth_and_one(
            values in proptest::collection::vec(0.001f64..1e6, 1..50),
            factor in 0.001f64..1000.0,
        ) {
            let index = jain(values.iter().copied()).unwrap();
            prop_assert!(index >= 1.0 / values.len() as f64 - 1e-12 && index <= 1.0 + 1e-12);
            let scaled = jain(values.iter().map(|value| value * factor)).unwrap();
            prop_assert!((index - scaled).abs() < 1e-9, "the unit does not matter");
        }
    }
}

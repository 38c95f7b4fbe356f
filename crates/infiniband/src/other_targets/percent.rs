//! Converts shares to whole percents.

/// Returns whole percents of shares, with a sum of 100 and at least 1 each; `None` for more than
/// 100 shares.
///
/// Returns an empty list for no shares.
pub fn whole_percents(shares: &[f64]) -> Option<Vec<u8>> {
    if shares.len() > 100 {
        return None;
    }
    let sum: f64 = shares.iter().sum();
    let exact: Vec<f64> = shares.iter().map(|share| share / sum * 100.0).collect();
    let mut whole: Vec<u8> = exact.iter().map(|part| (*part as u8).max(1)).collect();
    let total = |whole: &[u8]| whole.iter().map(|part| u32::from(*part)).sum::<u32>();
    // The excess is taken from the largest, the last one of a tie.
    while total(&whole) > 100 {
        let largest = whole.iter_mut().max_by_key(|part| **part)?;
        *largest -= 1;
    }
    let mut order: Vec<usize> = (0..shares.len()).collect();
    // Remainders that differ only by rounding errors are ties.
    let rest = |n: usize| ((exact[n] - exact[n].floor()) * 1e9).round() as u64;
    order.sort_by_key(|&n| (std::cmp::Reverse(rest(n)), n));
    for &n in order.iter().cycle() {
        if total(&whole) >= 100 {
            break;
        }
        whole[n] += 1;
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::whole_percents;

    #[test]
    fn the_sum_is_100_and_nobody_has_nothing() {
        let cases: [(&[f64], &[u8]); 7] = [
            (&[4.0, 1.0, 1.0], &[67, 17, 16]),
            (&[1.0, 1.0, 1.0], &[34, 33, 33]),
            (&[0.5, 0.25, 0.25], &[50, 25, 25]),
            (&[2.0, 1.0], &[67, 33]),
            (&[0.999, 0.001], &[99, 1]),
            (&[1.0], &[100]),
            (&[], &[]),
        ];
        for (shares, expected) in cases {
            assert_eq!(
                whole_percents(shares).as_deref(),
                Some(expected),
                "{shares:?}"
            );
        }
        let many = whole_percents(&[1.0; 100]).unwrap();
        assert!(many.iter().all(|part| *part == 1));
        assert_eq!(whole_percents(&[1.0; 101]), None);
    }
}

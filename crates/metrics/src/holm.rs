//! Multiple comparisons.

/// Returns which of several differences are significant if together they are to be wrong in at most
/// `level` of cases, given the probability of each by chance (S. Holm, "A simple sequentially
/// rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979). Independence is
/// not required.
///
/// The least probable difference is compared with `level / n`, the next with `level / (n - 1)` and
/// so on, up to the first that is not below its bound.
pub fn holm(by_chance: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..by_chance.len()).collect();
    order.sort_by(|&a, &b| by_chance[a].total_cmp(&by_chance[b]));
    let mut is_real = vec![false; by_chance.len()];
    for (rank, &at) in order.iter().enumerate() {
        if by_chance[at] > level / (by_chance.len() - rank) as f64 {
            break;
        }
        is_real[at] = true;
    }
    is_real
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_by_step() {
        // Bounds 0.0125, 0.01667, 0.025, 0.05: the third is above its own, so the fourth is not
        // tested.
        let by_chance = [0.026, 0.01, 0.03, 0.016];
        assert_eq!(holm(&by_chance, 0.05), [false, true, false, true]);
        assert_eq!(holm(&[0.04], 0.05), [true]);
        assert_eq!(holm(&[0.04, 0.04], 0.05), [false, false]);
        assert_eq!(holm(&[0.02, 0.04], 0.05), [true, true]);
        assert!(holm(&[], 0.05).is_empty());
    }
}

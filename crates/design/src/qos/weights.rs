//! Splits a total weight into whole numbers that approximate the wanted shares.

use netloom_units::Ratio;

/// The limits of the split, per class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The number of entries of the class.
    pub n_entries: u32,
    /// The minimum of an entry: the largest message of the class, in credits.
    pub least: u32,
    /// The maximum of an entry: the capacity of the registers, less a deficit that may be added.
    pub most: u32,
}

/// The parts of one total: `round(share * total)` each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    /// The total that was split; the sum of the parts may differ slightly.
    pub total: u64,
    pub parts: Vec<u64>,
    /// The sum of the parts: the denominator of the shares given.
    pub sum: u64,
    /// The largest relative error of a share.
    pub error: Ratio,
}

/// Returns the relative error of a share.
pub fn relative_error(given: Ratio, wanted: Ratio) -> Ratio {
    let (a, b) = (given.num() * wanted.den(), wanted.num() * given.den());
    Ratio::new(a.abs_diff(b), given.den() * wanted.num())
}

/// Splits a total by shares.
pub fn split(total: u64, shares: &[Ratio]) -> Split {
    let part = |&share: &Ratio| (share * Ratio::whole(total)).round();
    let parts: Vec<u64> = shares.iter().map(part).collect();
    let sum = parts.iter().sum::<u64>();
    let errors = parts.iter().zip(shares).map(|(&part, &share)| {
        // A total of zero has the largest possible error.
        if sum == 0 {
            return Ratio::whole(1);
        }
        relative_error(Ratio::new(part.into(), sum.into()), share)
    });
    let error = errors.max().unwrap_or(Ratio::ZERO);
    Split {
        total,
        parts,
        sum,
        error,
    }
}

/// Returns the weights of the entries of one class: ceiling and floor of the mean, the larger ones
/// first.
pub fn entry_weights(part: u64, n_entries: u32) -> Vec<u64> {
    let (floor, larger) = (part / u64::from(n_entries), part % u64::from(n_entries));
    let entry = |i| floor + u64::from(i < larger);
    (0..u64::from(n_entries)).map(entry).collect()
}

/// Returns the classes whose entries would be smaller than their largest message.
pub fn too_light(split: &Split, bounds: &[Bounds]) -> Vec<usize> {
    let light = |(part, b): (&u64, &Bounds)| part / u64::from(b.n_entries) < u64::from(b.least);
    which(split, bounds, light)
}

/// Returns the classes whose entries would not fit in the registers.
pub fn too_heavy(split: &Split, bounds: &[Bounds]) -> Vec<usize> {
    let heavy =
        |(part, b): (&u64, &Bounds)| part.div_ceil(u64::from(b.n_entries)) > u64::from(b.most);
    which(split, bounds, heavy)
}

fn which(split: &Split, bounds: &[Bounds], is: impl Fn((&u64, &Bounds)) -> bool) -> Vec<usize> {
    let classes = split.parts.iter().zip(bounds).enumerate();
    classes
        .filter_map(|(class, pair)| is(pair).then_some(class))
        .collect()
}

/// A search without result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotFound {
    /// The split with the smallest error of those that fitted, if any did.
    pub nearest: Option<Split>,
    /// The first split that did not fit in the registers; no larger total can.
    pub overflow: Split,
}

/// Returns the first total from `from` upwards whose largest relative error is below `tolerance`
/// and whose entries hold a message. There is at least one share and all are above zero, so the
/// search ends at the registers.
pub fn search(
    from: u64,
    shares: &[Ratio],
    bounds: &[Bounds],
    tolerance: Ratio,
) -> Result<Split, Box<NotFound>> {
    assert!(!shares.is_empty() && shares.iter().all(|share| !share.is_zero()));
    let mut nearest: Option<Split> = None;
    let mut total = from.max(1);
    loop {
        let split = split(total, shares);
        total += 1;
        // Parts only grow with the total, so no later one fits either.
        if !too_heavy(&split, bounds).is_empty() {
            let overflow = split;
            return Err(Box::new(NotFound { nearest, overflow }));
        }
        if !too_light(&split, bounds).is_empty() {
            continue;
        }
        if split.error < tolerance {
            return Ok(split);
        }
        if nearest.as_ref().is_none_or(|n| split.error < n.error) {
            nearest = Some(split);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r(num: u128, den: u128) -> Ratio {
        Ratio::new(num, den)
    }

    #[test]
    fn larger_entries_come_first_and_nothing_is_lost() {
        assert_eq!(entry_weights(375, 4), [94, 94, 94, 93]);
        assert_eq!(entry_weights(43, 2), [22, 21]);
        assert_eq!(entry_weights(39, 1), [39]);
        assert_eq!(entry_weights(2, 4), [1, 1, 0, 0]);
    }

    #[test]
    fn errors_are_relative_to_the_wish() {
        assert_eq!(relative_error(r(1, 2), r(1, 4)), r(1, 1));
        assert_eq!(relative_error(r(1, 4), r(1, 2)), r(1, 2));
        assert_eq!(relative_error(r(1, 3), r(1, 3)), Ratio::ZERO);
    }

    #[test]
    fn a_search_that_meets_the_registers_returns_its_nearest() {
        let bounds = [1, 1].map(|least| Bounds {
            n_entries: 1,
            least,
            most: 3,
        });
        let shares = [r(9, 20), r(11, 20)];
        let nearest = search(1, &shares, &bounds, r(1, 100)).unwrap_err().nearest;
        // 2+2 and 2+3 both err by 1/9: the first is chosen.
        assert_eq!(nearest.map(|s| (s.total, s.error)), Some((2, r(1, 9))));
        let narrow = bounds.map(|b| Bounds { most: 0, ..b });
        let none = search(2, &shares, &narrow, r(1, 100)).unwrap_err();
        assert_eq!((none.nearest, none.overflow.total), (None, 2));
    }
}

//! Exact decimals: three times 0.1 is 0.3, not 0.30000000000000004.

/// A decimal number: digits and the number of decimal places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decimal {
    units: i128,
    places: u32,
}

/// Enough decimal places for loads, sizes and times; products of two such numbers still fit.
const MOST_PLACES: u32 = 15;
const LARGEST: f64 = 1e15;

impl Decimal {
    /// Returns the shortest decimal that parses to this number, if its size is in range.
    pub(crate) fn of(x: f64) -> Option<Decimal> {
        if !x.is_finite() || x.abs() > LARGEST {
            return None;
        }
        let text = format!("{x}");
        let places = text
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        let places = u32::try_from(places).ok().filter(|n| *n <= MOST_PLACES)?;
        let units = text.replace('.', "").parse().ok()?;
        Some(Decimal { units, places })
    }

    /// Returns the nearest float, as parsed from a file with these digits.
    pub(crate) fn to_f64(self) -> f64 {
        format!("{}e-{}", self.units, self.places)
            .parse()
            .expect("digits with an exponent are a float")
    }

    /// Returns both numbers as integers with the same number of decimal places.
    fn aligned(self, other: Decimal) -> (i128, i128, u32) {
        let places = self.places.max(other.places);
        let scaled = |d: Decimal| d.units * 10i128.pow(places - d.places);
        (scaled(self), scaled(other), places)
    }

    pub(crate) fn plus(self, other: Decimal) -> Decimal {
        let (a, b, places) = self.aligned(other);
        Decimal {
            units: a + b,
            places,
        }
    }

    pub(crate) fn times(self, n: u64) -> Decimal {
        Decimal {
            units: self.units * i128::from(n),
            places: self.places,
        }
    }

    /// Returns the number of steps towards `to` that do not pass it; `None` if the step has the
    /// wrong sign or is zero.
    pub(crate) fn steps_to(self, to: Decimal, step: Decimal) -> Option<u64> {
        let (from, to, places) = self.aligned(to);
        let distance = Decimal {
            units: to - from,
            places,
        };
        if distance.units == 0 {
            return Some(0);
        }
        let (distance, step, _) = distance.aligned(step);
        let leads_there = step != 0 && (step > 0) == (distance > 0);
        leads_there
            .then(|| u64::try_from(distance / step).ok())
            .flatten()
    }

    /// Returns this number divided by `part`, if the result is a positive integer.
    pub(crate) fn over(self, part: Decimal) -> Option<u64> {
        let (whole, part, _) = self.aligned(part);
        let is_whole = part > 0 && whole > 0 && whole % part == 0;
        is_whole.then(|| u64::try_from(whole / part).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn d(x: f64) -> Decimal {
        Decimal::of(x).unwrap()
    }

    #[test]
    fn tenths_add_up_to_what_a_file_would_say() {
        let tenth = d(0.1);
        let sums: Vec<f64> = (1..=10).map(|n| tenth.times(n).to_f64()).collect();
        assert_eq!(sums, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]);
        assert_eq!(d(0.7).plus(d(0.1)).to_f64(), 0.8);
        assert_eq!(d(0.1).steps_to(d(1.0), d(0.1)), Some(9));
        assert_eq!(d(1.0).steps_to(d(0.1), d(-0.3)), Some(3));
        assert_eq!(d(0.1).steps_to(d(1.0), d(-0.1)), None);
        assert_eq!(d(0.1).steps_to(d(1.0), d(0.0)), None);
        assert_eq!(d(0.1).over(d(0.025)), Some(4));
        assert_eq!(d(0.1).over(d(0.03)), None);
        assert_eq!(Decimal::of(1e300), None);
        assert_eq!(Decimal::of(f64::NAN), None);
    }

    proptest! {
        #[test]
        fn a_decimal_reads_back(units in -1_000_000_000_000i64..1_000_000_000_000, places in 0i32..12) {
            let x: f64 = format!("{units}e-{places}").parse().unwrap();
            prop_assert_eq!(d(x).to_f64(), x);
        }

        #[test]
        fn steps_never_pass_the_end(from in -500i64..500, to in -500i64..500, step in 1i64..50) {
            let hundredth = |n: i64| d(format!("{n}e-2").parse().unwrap());
            let step = if to < from { -step } else { step };
            let n = hundredth(from).steps_to(hundredth(to), hundredth(step)).unwrap();
            let last = from + step * i64::try_from(n).unwrap();
            prop_assert!((to - last).abs() < step.abs());
            prop_assert!((last <= to) == (from <= to) || last == to);
        }
    }
}

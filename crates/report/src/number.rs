//! Numbers for people: three digits that matter, and one unit per column.

/// A unit of time for a column of latencies in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct TimeUnit {
    /// Its sign.
    pub(crate) sign: &'static str,
    /// How many nanoseconds it has.
    pub(crate) ns: f64,
}

const UNITS: [TimeUnit; 4] = [
    TimeUnit {
        sign: "ns",
        ns: 1.0,
    },
    TimeUnit {
        sign: "µs",
        ns: 1e3,
    },
    TimeUnit {
        sign: "ms",
        ns: 1e6,
    },
    TimeUnit { sign: "s", ns: 1e9 },
];

/// The unit in which the middle one of some latencies is easy to read.
pub(crate) fn time_unit(latencies_ns: impl IntoIterator<Item = f64>) -> TimeUnit {
    let mut sorted: Vec<f64> = latencies_ns.into_iter().filter(|x| x.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let fits = |unit: &&TimeUnit| middle >= 1.5 * unit.ns;
    UNITS.iter().rev().find(fits).copied().unwrap_or(UNITS[0])
}

/// A latency with the unit that suits it alone.
pub(crate) fn latency(ns: f64) -> String {
    let unit = time_unit([ns]);
    format!("{} {}", short(ns / unit.ns), unit.sign)
}

/// Three digits that matter; whole numbers whole, with commas between thousands.
pub(crate) fn short(x: f64) -> String {
    if !x.is_finite() {
        return "–".into();
    }
    let size = x.abs();
    if size >= 99.95 {
        return grouped(x.round());
    }
    if size == 0.0 {
        return "0".into();
    }
    if size < 1e-4 {
        return format!("{x:.1e}");
    }
    // Rounded first: 9.996 has two digits before the point.
    let before_point = significant(size, 3).log10().floor() as i32 + 1;
    let digits = usize::try_from(3 - before_point).unwrap_or(0).min(5);
    format!("{x:.digits$}")
}

/// A count, with commas between thousands.
pub(crate) fn count(n: u64) -> String {
    grouped(n as f64)
}

/// A fraction with as many digits as a load has.
pub(crate) fn load(x: f64) -> String {
    format!("{x:.3}")
}

/// A value of an axis, as short as it can be told apart.
pub(crate) fn plain(x: f64) -> String {
    let rounded = significant(x, 6);
    format!("{rounded}")
}

/// The nearest number with so many significant digits: what a figure needs, and half of the text.
pub(crate) fn significant(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits.saturating_sub(1))
        .parse()
        .unwrap_or(x)
}

fn grouped(x: f64) -> String {
    let digits = format!("{:.0}", x.abs());
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if x < 0.0 { format!("-{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (0.012345, "0.0123"),
            (0.99999, "1.00"),
            (9.996, "10.0"),
            (12.345, "12.3"),
            (99.96, "100"),
            (1234.5, "1,235"),
            (1_234_567.0, "1,234,567"),
            (-4321.0, "-4,321"),
            (f64::NAN, "–"),
        ];
        for (x, expected) in cases {
            assert_eq!(short(x), expected, "{x}");
        }
    }

    #[test]
    fn a_column_has_one_unit() {
        assert_eq!(time_unit([900.0, 1000.0, 1400.0]).sign, "ns");
        assert_eq!(time_unit([900.0, 3000.0, 5e6]).sign, "µs");
        assert_eq!(latency(2_500_000.0), "2.50 ms");
        assert_eq!(time_unit([]).sign, "ns");
    }

    #[test]
    fn embedded_numbers_keep_six_digits() {
        assert_eq!(significant(0.123_456_789, 6), 0.123_457);
        assert_eq!(significant(f64::INFINITY, 6), f64::INFINITY);
        assert_eq!(plain(0.1 + 0.2), "0.3");
    }
}

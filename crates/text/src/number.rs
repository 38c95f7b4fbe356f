//! Formats numbers: three significant digits, and one unit per column.
//!
//! A page groups thousands and keeps trailing zeros ([`short`]), a figure omits them ([`rounded`]),
//! and a terminal shows at most two decimal places ([`three_digits`]).

/// A unit for times in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimeUnit {
    pub sign: &'static str,
    /// Symbol in ASCII.
    pub ascii: &'static str,
    /// Length in nanoseconds.
    pub ns: f64,
}

const fn unit(sign: &'static str, ascii: &'static str, ns: f64) -> TimeUnit {
    TimeUnit { sign, ascii, ns }
}

const UNITS: [TimeUnit; 4] = [
    unit("ns", "ns", 1.0),
    unit("µs", "us", 1e3),
    unit("ms", "ms", 1e6),
    unit("s", "s", 1e9),
];

impl TimeUnit {
    /// Returns the longest unit in which a time is at least `n`; nanoseconds if there is none.
    fn with_at_least(n: f64, time_ns: f64) -> TimeUnit {
        let fits = |unit: &&TimeUnit| time_ns >= n * unit.ns;
        UNITS.iter().rev().find(fits).copied().unwrap_or(UNITS[0])
    }

    /// Returns the unit in which a time is a number from 1 to 1000.
    pub fn of(time_ns: f64) -> TimeUnit {
        TimeUnit::with_at_least(1.0, time_ns)
    }

    /// Returns the unit that suits the median of some times.
    pub fn of_column(times_ns: impl IntoIterator<Item = f64>) -> TimeUnit {
        let mut sorted: Vec<f64> = times_ns.into_iter().filter(|x| x.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        TimeUnit::with_at_least(1.5, middle)
    }
}

/// Formats a duration for a terminal: `812 ns`, `1.31 us`.
pub fn nanos(nanos: f64) -> String {
    let unit = TimeUnit::of(nanos.abs());
    format!("{} {}", three_digits(nanos / unit.ns), unit.ascii)
}

/// Formats a duration that may be missing.
pub fn maybe_nanos(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), nanos)
}

/// Formats a number with a suitable prefix: `18.4 M`.
pub fn prefixed(x: f64) -> String {
    let (value, prefix) = match x {
        n if n < 1e4 => (x, ""),
        n if n < 1e6 => (x / 1e3, " k"),
        n if n < 1e9 => (x / 1e6, " M"),
        _ => (x / 1e9, " G"),
    };
    format!("{}{prefix}", three_digits(value))
}

/// Formats a fraction as per cent, with at least two significant digits.
pub fn percent(part: f64) -> String {
    let percent = 100.0 * part;
    let decimals = match percent.abs() {
        0.0 => 1,
        n if n >= 100.0 => 0,
        n if n >= 1.0 => 1,
        n if n >= 0.1 => 2,
        n if n >= 0.01 => 3,
        _ => 4,
    };
    format!("{percent:.decimals$} %")
}

/// Formats a fraction as per cent, with its sign.
pub fn signed_percent(part: f64) -> String {
    let sign = if part > 0.0 { "+" } else { "" };
    format!("{sign}{}", percent(part))
}

/// Formats a latency in the unit that suits it.
pub fn latency(ns: f64) -> String {
    let unit = TimeUnit::of_column([ns]);
    format!("{} {}", short(ns / unit.ns), unit.sign)
}

/// Formats a number with three significant digits and commas between thousands; whole numbers stay
/// whole.
pub fn short(x: f64) -> String {
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
    let digits = usize::try_from(places(size)).unwrap_or(0).min(5);
    format!("{x:.digits$}")
}

/// Formats a number with three significant digits, without trailing zeros: `0.5`, `12.3`, `1230`.
pub fn rounded(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    match usize::try_from(places(x.abs())) {
        Ok(digits) => decimals(x, digits.min(12)),
        Err(_) => {
            let unit = 10f64.powi(-places(x.abs()));
            format!("{}", (x / unit).round() * unit)
        }
    }
}

/// Formats a number with about three digits and at most two decimal places; whole numbers stay
/// whole.
pub fn three_digits(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e6 {
        return format!("{x:.0}");
    }
    match x.abs() {
        n if n < 10.0 => format!("{x:.2}"),
        n if n < 100.0 => format!("{x:.1}"),
        _ => format!("{x:.0}"),
    }
}

/// Formats a number with at most `most` decimal places, without trailing zeros.
pub fn decimals(x: f64, most: usize) -> String {
    let text = format!("{x:.most$}");
    let text = match most {
        0 => &text,
        _ => text.trim_end_matches('0').trim_end_matches('.'),
    };
    if text == "-0" { "0" } else { text }.to_owned()
}

/// Returns the number of decimal places for three significant digits; negative for large numbers.
fn places(size: f64) -> i32 {
    // Round first: 9.996 has two digits before the point.
    2 - significant(size, 3).log10().floor() as i32
}

/// Formats a count with commas between thousands.
pub fn count(n: u64) -> String {
    grouped(n as f64)
}

/// Formats a fraction with the digits of a load.
pub fn load(x: f64) -> String {
    format!("{x:.3}")
}

/// Formats a value of an axis with as few digits as keep it distinct.
pub fn plain(x: f64) -> String {
    format!("{}", significant(x, 6))
}

/// Rounds to a number of significant digits, which halves the text of a figure.
pub fn significant(x: f64, digits: usize) -> f64 {
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
    fn figures_show_three_digits_and_no_zeros() {
        let shown = [0.123_456, 12.345, 1234.5, 0.5, 100.0, 0.0, 9.996, 999.6].map(rounded);
        assert_eq!(
            shown,
            ["0.123", "12.3", "1230", "0.5", "100", "0", "10", "1000"]
        );
        let few = [(1.0, 2), (-0.001, 2), (2.345_6, 2), (120.0, 0)];
        assert_eq!(
            few.map(|(x, most)| decimals(x, most)),
            ["1", "0", "2.35", "120"]
        );
    }

    #[test]
    fn terminals_show_two_places_at_most() {
        let shown = [812.4, 200.0, 1.312, 18.4, 0.001].map(three_digits);
        assert_eq!(shown, ["812", "200", "1.31", "18.4", "0.00"]);
    }

    #[test]
    fn numbers_get_their_unit() {
        assert_eq!(nanos(812.4), "812 ns");
        assert_eq!(nanos(200_000.0), "200 us");
        assert_eq!(nanos(1312.0), "1.31 us");
        assert_eq!(prefixed(18_400_000.0), "18.4 M");
        assert_eq!(prefixed(12.0), "12");
    }

    #[test]
    fn small_parts_keep_their_digits() {
        assert_eq!(percent(0.123), "12.3 %");
        assert_eq!(percent(0.000_123), "0.012 %");
        assert_eq!(percent(2.5), "250 %");
        assert_eq!(signed_percent(-0.05), "-5.0 %");
        assert_eq!(signed_percent(0.05), "+5.0 %");
        assert_eq!(signed_percent(0.0), "0.0 %");
    }

    #[test]
    fn a_column_has_one_unit() {
        assert_eq!(TimeUnit::of_column([900.0, 1000.0, 1400.0]).sign, "ns");
        assert_eq!(TimeUnit::of_column([900.0, 3000.0, 5e6]).sign, "µs");
        assert_eq!(latency(2_500_000.0), "2.50 ms");
        assert_eq!(TimeUnit::of_column([]).sign, "ns");
        let units = [0.4, 999.0, 1e3, 2.5e5, 7e6, 3e10].map(|ns| TimeUnit::of(ns).sign);
        assert_eq!(units, ["ns", "ns", "µs", "µs", "ms", "s"]);
    }

    #[test]
    fn embedded_numbers_keep_six_digits() {
        assert_eq!(significant(0.123_456_789, 6), 0.123_457);
        assert_eq!(significant(f64::INFINITY, 6), f64::INFINITY);
        assert_eq!(plain(0.1 + 0.2), "0.3");
    }
}

//! Round numbers on axes, and their formatting.

use netloom_results::view::number::decimals;

use crate::model::{Axis, Scale};

/// Returns the round numbers at which an axis is labelled.
pub fn ticks(axis: &Axis, at_most: usize) -> Vec<f64> {
    match &axis.scale {
        Scale::Linear => linear_ticks(axis.low, axis.high, at_most),
        Scale::Log => log_ticks(axis.low, axis.high, at_most),
        Scale::Category(names) => (0..names.len()).map(|n| n as f64).collect(),
    }
}

/// Returns the minor grid between [`ticks`]: multiples between powers of ten, or half steps.
pub fn minor_ticks(axis: &Axis, at_most: usize) -> Vec<f64> {
    let major = ticks(axis, at_most);
    let is_minor = |x: &f64| {
        let same = |m: &f64| (m - x).abs() <= 1e-9 * x.abs().max(1e-300);
        *x >= axis.low * (1.0 - 1e-9) && *x <= axis.high * (1.0 + 1e-9) && !major.iter().any(same)
    };
    match &axis.scale {
        Scale::Linear => {
            let Some(step) = major.get(1).map(|second| second - major[0]) else {
                return vec![];
            };
            let halves = major.iter().map(|tick| tick + step / 2.0);
            let before = major[0] - step / 2.0;
            [before]
                .into_iter()
                .chain(halves)
                .filter(is_minor)
                .collect()
        }
        Scale::Log if decades(axis.low, axis.high).len() <= 7 => decades(axis.low, axis.high)
            .into_iter()
            .flat_map(|decade| (1..10).map(move |n| times_ten_to(f64::from(n), decade)))
            .filter(is_minor)
            .collect(),
        Scale::Log | Scale::Category(_) => vec![],
    }
}

/// Formats a number on an axis with as few digits as keep it distinct, far from one as a power of
/// ten.
pub fn tick_text(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs();
    if (0.999e-3..1e6).contains(&magnitude) {
        // Ticks are round, so ten decimal places remove only rounding errors.
        return decimals(value, 10);
    }
    let exponent = magnitude.log10().floor();
    let lead = value / 10f64.powf(exponent);
    let power = superscript(exponent as i32);
    if (lead - 1.0).abs() < 1e-6 {
        format!("10{power}")
    } else {
        format!("{}·10{power}", tick_text((lead * 1e6).round() / 1e6))
    }
}

/// Returns round ends that enclose values, for a linear axis.
pub(crate) fn round_ends(low: f64, high: f64) -> (f64, f64) {
    let high = if high > low {
        high
    } else {
        low + low.abs().max(1.0) * 0.1
    };
    let step = round_step((high - low) / 5.0);
    (
        (low / step + 1e-9).floor() * step,
        (high / step - 1e-9).ceil() * step,
    )
}

/// Returns round ends that enclose values, for a logarithmic axis: 1, 2 or 5 times a power of ten.
pub(crate) fn round_log_ends(low: f64, high: f64) -> (f64, f64) {
    let round = |x: f64, up: bool| {
        let decade = x.log10().floor() as i32;
        let mut rounds = [decade - 1, decade, decade + 1]
            .into_iter()
            .flat_map(|decade| [1.0, 2.0, 5.0].map(|n| times_ten_to(n, decade)));
        let rounds: Vec<f64> = rounds.by_ref().collect();
        match up {
            true => rounds.iter().copied().find(|r| *r >= x * (1.0 - 1e-9)),
            false => rounds.iter().copied().rfind(|r| *r <= x * (1.0 + 1e-9)),
        }
        .unwrap_or(x)
    };
    (round(low, false), round(high.max(low * 1.5), true))
}

fn linear_ticks(low: f64, high: f64, at_most: usize) -> Vec<f64> {
    let at_most = at_most.max(2);
    let mut step = round_step((high - low) / at_most as f64);
    loop {
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        if last - first < at_most as i64 {
            return (first..=last).map(|n| n as f64 * step).collect();
        }
        step = round_step(step * 1.1);
    }
}

/// Returns the smallest of 1, 2 and 5 times a power of ten that is at least `step`.
fn round_step(step: f64) -> f64 {
    let decade = 10f64.powf(step.log10().floor());
    let lead = step / decade;
    let rounds = [1.0, 2.0, 5.0, 10.0];
    let found = rounds
        .into_iter()
        .find(|round| lead <= round * (1.0 + 1e-9));
    found.unwrap_or(10.0) * decade
}

fn log_ticks(low: f64, high: f64, at_most: usize) -> Vec<f64> {
    let at_most = at_most.max(2);
    let within = |x: &f64| *x >= low * (1.0 - 1e-9) && *x <= high * (1.0 + 1e-9);
    let decades = decades(low, high);
    let of = |leads: &[f64], every: usize| -> Vec<f64> {
        let decades = decades.iter().filter(|d| d.rem_euclid(every as i32) == 0);
        let all = decades.flat_map(|&decade| leads.iter().map(move |&n| times_ten_to(n, decade)));
        all.filter(within).collect()
    };
    // At least two numbers are needed to show the scale: within about a decade, use even steps.
    let says = |ticks: &Vec<f64>| ticks.len() >= 2 && ticks.len() <= at_most;
    let fine = [of(&[1.0, 2.0, 5.0], 1), of(&[1.0, 3.0], 1)];
    let coarse = (1..=decades.len().max(1)).map(|every| of(&[1.0], every));
    let even = (2..=at_most.max(4)).rev().map(|n| {
        let ticks = linear_ticks(low, high, n);
        ticks.into_iter().filter(|tick| *tick > 0.0).collect()
    });
    let mut all = fine.into_iter().chain(coarse).chain(even);
    let found = all.find(|ticks: &Vec<f64>| says(ticks));
    found.unwrap_or_else(|| vec![low, high])
}

fn decades(low: f64, high: f64) -> Vec<i32> {
    // The range of 64-bit floats; zero and infinity have no exponent.
    let exponent = |value: f64| value.clamp(-330.0, 330.0).floor() as i32;
    (exponent(low.log10() - 1e-9)..=exponent(high.log10() + 1e-9)).collect()
}

/// Exact for the decades of axes, unlike a product of 0.1.
fn times_ten_to(lead: f64, decade: i32) -> f64 {
    match decade {
        0.. => lead * 10f64.powi(decade),
        _ => lead / 10f64.powi(-decade),
    }
}

fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let text = exponent.to_string();
    text.chars()
        .map(|c| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: Scale, low: f64, high: f64, at_most: usize) -> String {
        let axis = Axis {
            label: String::new(),
            unit: String::new(),
            scale,
            low,
            high,
        };
        let texts: Vec<String> = ticks(&axis, at_most).into_iter().map(tick_text).collect();
        texts.join(" ")
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(texts(Scale::Linear, 0.0, 1.0, 6), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(texts(Scale::Linear, 0.0, 1.0, 4), "0 0.5 1");
        assert_eq!(texts(Scale::Linear, 0.0, 12.0, 6), "0 5 10");
        assert_eq!(texts(Scale::Linear, -3.0, 3.0, 5), "-2 0 2");
        assert_eq!(texts(Scale::Log, 0.5, 50.0, 7), "0.5 1 2 5 10 20 50");
        assert_eq!(texts(Scale::Log, 0.5, 50.0, 4), "1 3 10 30");
        assert_eq!(texts(Scale::Log, 1e-6, 1.0, 4), "10⁻⁶ 10⁻⁴ 0.01 1");
        assert_eq!(
            texts(Scale::Log, 1e-6, 1.0, 7),
            "10⁻⁶ 10⁻⁵ 10⁻⁴ 0.001 0.01 0.1 1"
        );
        assert_eq!(tick_text(2e6), "2·10⁶");
    }

    #[test]
    fn a_short_logarithmic_axis_has_two_numbers_at_least() {
        assert_eq!(texts(Scale::Log, 1.0, 5.0, 4), "1 2 5");
        assert_eq!(texts(Scale::Log, 0.5, 5.0, 2), "1 3");
        assert_eq!(texts(Scale::Log, 2.0, 20.0, 2), "3 10");
        for (low, high) in [
            (2.0, 5.0),
            (3.5, 9.5),
            (0.2, 20.0),
            (5.0, 500.0),
            (4.1, 4.9),
        ] {
            for at_most in 2..8 {
                let texts = texts(Scale::Log, low, high, at_most);
                assert!(texts.contains(' '), "{low} to {high}, {at_most}: {texts}");
            }
        }
    }

    #[test]
    fn ends_are_round_and_enclose() {
        assert_eq!(round_ends(0.0, 0.97), (0.0, 1.0));
        assert_eq!(round_ends(0.0, 11.3), (0.0, 15.0));
        assert_eq!(round_ends(3.0, 3.0).0, 3.0);
        assert_eq!(round_log_ends(0.31, 42.0), (0.2, 50.0));
        assert_eq!(round_log_ends(1.0, 1.0), (1.0, 2.0));
    }
}

//! C004-1 to C004-5: the number of admitted connections.

use super::scenarios::{FOUR, LinkRate, ONE, Packet, Setting, TWELVE};
use crate::{Finding, Measured, Point, Results};

/// Returns the number of established connections, over seeds.
pub(super) fn established(point: &Point<'_>) -> Option<Measured> {
    Measured::over(&all_established(point)?)
}

/// Returns the number of established connections, by seed.
pub(super) fn all_established(point: &Point<'_>) -> Option<Vec<f64>> {
    let of = |run: &&netloom_results::Run| Some(run.connections.as_ref()?.established as f64);
    point.runs.iter().map(of).collect()
}

/// Selects a series of admissions of a setting.
type OfSetting = fn(&Setting) -> &'static str;

/// Admitted connections of a target that exceeds the capacity, compared with the paper for the
/// three fabrics.
pub(super) struct Accepted {
    pub(super) packet: Packet,
    pub(super) rate: &'static LinkRate,
    pub(super) series: OfSetting,
    /// Printed numbers, in the order of the fabrics.
    pub(super) printed: [f64; 3],
    /// Accepted deviation, as a fraction of the printed number.
    pub(super) tolerance: f64,
    /// Accepted difference between fabrics, as a fraction of the smallest number.
    pub(super) spread: Option<f64>,
}

impl Accepted {
    pub(super) fn judge(&self, results: &Results) -> Finding {
        let mut means = vec![];
        let mut words = vec![];
        let mut holds = true;
        for (setting, printed) in Setting::of(self.packet).zip(self.printed) {
            let series = results.series((self.series)(setting));
            let most = f64::from(self.rate.most());
            let Some(measured) = series.at(most).and_then(established) else {
                return Finding::not_run(format!("no admission on the {}", setting.name()));
            };
            holds &= (measured.mean - printed).abs() <= self.tolerance * printed;
            words.push(measured.words(0, ""));
            means.push((setting.name(), measured.mean));
        }
        let least = means.iter().map(|m| m.1).fold(f64::INFINITY, f64::min);
        let largest = means.iter().map(|m| m.1).fold(0.0, f64::max);
        if let Some(spread) = self.spread {
            holds &= largest <= (1.0 + spread) * least;
            words.push(format!("{:.1} % apart", 100.0 * (largest / least - 1.0)));
        }
        let named = |finding: Finding, (name, mean): &(&str, f64)| {
            finding.number(format!("established_{name}"), *mean)
        };
        let counts = words[..3].join(" / ");
        let words = std::iter::once(counts).chain(words[3..].iter().cloned());
        let finding = Finding::checked(holds, words.collect::<Vec<_>>().join(", "));
        means.iter().fold(finding, named)
    }
}

/// Targets that must be established completely up to a limit, and within 15 % above it.
pub(super) struct Targets {
    pub(super) rate: &'static LinkRate,
    pub(super) series: OfSetting,
    /// Largest target that must be established completely.
    pub(super) exact: u32,
    /// Largest target of which at least 85 % must be established.
    pub(super) near: u32,
}

impl Targets {
    pub(super) fn judge(&self, results: &Results) -> Finding {
        let (mut n_points, mut n_whole) = (0u32, 0u32);
        let mut least = (f64::INFINITY, String::new());
        let mut holds = true;
        for setting in &super::scenarios::SETTINGS {
            let series = results.series((self.series)(setting));
            for &target in self.rate.targets.iter().filter(|&&t| t <= self.near) {
                let Some(all) = series.at(f64::from(target)).and_then(all_established) else {
                    return Finding::not_run(format!(
                        "no admission of {target} on the {}",
                        setting.name()
                    ));
                };
                // The fewest of all seeds, not the average.
                let fewest = all.into_iter().fold(f64::INFINITY, f64::min);
                let share = fewest / f64::from(target);
                let needed = if target <= self.exact { 1.0 } else { 0.85 };
                holds &= share >= needed;
                n_points += 1;
                n_whole += u32::from(share >= 1.0);
                if share < least.0 {
                    let place = format!("{target} on the {}", setting.name());
                    least = (share, place);
                }
            }
        }
        let mut words = format!("{n_whole} of {n_points} whole in every seed");
        if least.0 < 1.0 {
            words.push_str(&format!("; least {:.1} % of {}", 100.0 * least.0, least.1));
        }
        Finding::checked(holds, words)
            .number("whole", f64::from(n_whole))
            .number("points", f64::from(n_points))
            .number("least_share", least.0)
    }
}

/// 1x: all of 2048.
pub(super) const AT_1X: Targets = Targets {
    rate: &ONE,
    series: |setting| setting.admitted,
    exact: 2048,
    near: 2048,
};
/// 4x: all of 9000, nearly all of 10,500.
pub(super) const AT_4X: Targets = Targets {
    rate: &FOUR,
    series: |setting| setting.admitted_4x,
    exact: 9000,
    near: 10_500,
};
/// 12x: nearly all of 30,000.
pub(super) const AT_12X: Targets = Targets {
    rate: &TWELVE,
    series: |setting| setting.admitted_12x,
    exact: 0,
    near: 30_000,
};

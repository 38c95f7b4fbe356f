//! C002-1 to C002-4: uniform traffic with copies in stashes (Figure 5).

use super::scenarios::{S002_1, Scenario, UNIFORM};
use super::series::told;
use super::switches::Switch::{self, Baseline, Full, Half, Quarter};
use crate::order::{mean, ordered};
use crate::{Finding, Results};

/// The class of all traffic.
pub(super) const CLASS: &str = "uniform";

/// Results for one load, by seed.
pub(super) struct Point {
    pub(super) load: f64,
    pub(super) offered: Vec<f64>,
    pub(super) accepted: Vec<f64>,
    pub(super) latency_ns: Vec<f64>,
    /// Lifetime of a copy: the round trip. `None` without copies.
    pub(super) round_trip_ns: Option<Vec<f64>>,
}

impl Point {
    /// Whether the network carries the offered load: at least 98 % of it are accepted.
    fn is_carried(&self) -> bool {
        mean(&self.accepted) >= 0.98 * mean(&self.offered)
    }
}

/// Returns the results of a switch at all loads, ascending.
pub(super) fn curve(
    results: &Results,
    scenario: &Scenario,
    switch: Switch,
) -> Result<Vec<Point>, String> {
    let name = scenario.series(switch);
    let series = results.series(name);
    let point = |point: &crate::Point<'_>| {
        let runs = &point.runs;
        let round_trips = runs
            .iter()
            .map(|run| run.protocol.as_ref()?.copy_time_mean_ns);
        Some(Point {
            load: point.load,
            offered: point.values(CLASS, |own| Some(own.offered_load))?,
            accepted: point.values(CLASS, |own| Some(own.delivered_load))?,
            latency_ns: point.values(CLASS, |own| own.latency_mean_ns)?,
            round_trip_ns: round_trips.collect(),
        })
    };
    let points: Option<Vec<Point>> = series.all().iter().map(point).collect();
    points
        .filter(|points| !points.is_empty())
        .ok_or_else(|| format!("no results of {name}"))
}

/// Returns the maximum accepted load, by seed; an error if no load saturates.
fn saturation(results: &Results, scenario: &Scenario, switch: Switch) -> Result<Vec<f64>, String> {
    let points = curve(results, scenario, switch)?;
    let name = scenario.series(switch);
    if points.iter().all(Point::is_carried) {
        return Err(format!("{name} does not saturate"));
    }
    let n_seeds = points[0].accepted.len();
    let most = |seed: usize| {
        let accepted = points.iter().filter_map(|point| point.accepted.get(seed));
        accepted.copied().fold(0.0, f64::max)
    };
    Ok((0..n_seeds).map(most).collect())
}

/// Returns the largest carried load among multiples of a twentieth: within the last hundredths,
/// queues still grow during the measurement.
fn below_saturation(points: &[Point]) -> Result<&Point, String> {
    let is_twentieth = |load: f64| ((load * 20.0).round() - load * 20.0).abs() < 1e-9;
    let mut points = points.iter().filter(|point| is_twentieth(point.load));
    let last = points.rfind(|point| point.is_carried());
    last.ok_or_else(|| "saturated at every load that was run".to_owned())
}

/// The switches that are equal according to the paper.
const ALIKE: [Switch; 3] = [Baseline, Full, Half];

fn levels(results: &Results) -> Result<Vec<(Switch, f64)>, String> {
    let level = |switch| Ok((switch, mean(&saturation(results, &S002_1, switch)?)));
    ALIKE.into_iter().map(level).collect()
}

fn told_levels(levels: &[(Switch, f64)], holds: bool) -> Finding {
    let words = |(switch, level): &(Switch, f64)| format!("{} {level:.3}", switch.word());
    let words: Vec<String> = levels.iter().map(words).collect();
    let mut finding = Finding::checked(holds, words.join(", "));
    for (switch, level) in levels {
        finding = finding.number(format!("accepted {}", switch.word()), *level);
    }
    finding
}

/// C002-1: the maximum accepted load.
pub(super) fn about_90(results: &Results) -> Finding {
    told(levels(results).map(|levels| {
        let holds = levels
            .iter()
            .all(|(_, level)| (0.85..=0.95).contains(level));
        told_levels(&levels, holds)
    }))
}

/// C002-1: within two points of each other.
pub(super) fn alike(results: &Results) -> Finding {
    told(levels(results).map(|levels| {
        let ends = |end: fn(f64, f64) -> f64| levels.iter().map(|own| own.1).reduce(end);
        let range = ends(f64::max).zip(ends(f64::min));
        let holds = range.is_some_and(|(most, least)| most - least <= 0.02 + 1e-9);
        told_levels(&levels, holds)
    }))
}

/// C002-2: a quarter of the stash saturates early.
pub(super) fn early(results: &Results) -> Finding {
    told(saturation(results, &S002_1, Quarter).map(|accepted| {
        let level = mean(&accepted);
        let words = format!("{level:.3}");
        Finding::checked((0.72..=0.82).contains(&level), words).number("accepted", level)
    }))
}

/// C002-2: the load predicted by Little's law with the round trip measured just below saturation.
pub(super) fn as_little_says(results: &Results) -> Finding {
    let scenario = Scenario::either(results, UNIFORM);
    let judge = || {
        let level = mean(&saturation(results, scenario, Quarter)?);
        let points = curve(results, scenario, Quarter)?;
        let below = below_saturation(&points)?;
        let round_trips = below.round_trip_ns.as_ref().ok_or("no round trips")?;
        let round_trip = mean(round_trips);
        let expected = scenario.machine.little(Quarter.capacity(), round_trip);
        let words = format!(
            "{level:.3} against {expected:.3} for {:.2} us at load {} on {}",
            round_trip / 1000.0,
            below.load,
            scenario.machine.network
        );
        let holds = (level / expected - 1.0).abs() <= 0.08;
        Ok(Finding::checked(holds, words)
            .number("accepted", level)
            .number("expected", expected)
            .number("round_trip_us", round_trip / 1000.0))
    };
    told(judge())
}

/// C002-3: latency just below saturation.
pub(super) fn latency_below_saturation(results: &Results) -> Finding {
    let judge = || {
        let points = curve(results, &S002_1, Baseline)?;
        let below = below_saturation(&points)?;
        let latency = mean(&below.latency_ns) / 1000.0;
        let words = format!("{latency:.2} us at load {}", below.load);
        let holds = (0.65..=1.0).contains(&latency);
        Ok(Finding::checked(holds, words).number("latency_us", latency))
    };
    told(judge())
}

/// C002-4: latencies up to a load of 0.85 are those of the baseline.
pub(super) fn costs_nothing(results: &Results, switch: Switch) -> Finding {
    let scenario = Scenario::either(results, UNIFORM);
    let judge = || {
        let baseline = curve(results, scenario, Baseline)?;
        let own = curve(results, scenario, switch)?;
        let mut worst: Option<(f64, f64)> = None;
        let mut n_seeds = usize::MAX;
        for point in own.iter().filter(|point| point.load <= 0.85) {
            let same = baseline.iter().find(|other| other.load == point.load);
            let same = same.ok_or("loads that the baseline lacks")?;
            n_seeds = n_seeds.min(point.latency_ns.len());
            let both = point.latency_ns.iter().zip(&same.latency_ns);
            let each: Vec<f64> = both.map(|(own, other)| own / other - 1.0).collect();
            let more = mean(&each);
            if worst.is_none_or(|(_, least)| more.abs() > least.abs()) {
                worst = Some((point.load, more));
            }
        }
        let (load, more) = worst.ok_or("no load up to 0.85")?;
        let words = format!(
            "at most {:+.1} %, at load {load} on {}",
            100.0 * more,
            scenario.machine.network
        );
        Ok(ordered(n_seeds, more.abs() < 0.05, words).number("most", more))
    };
    told(judge())
}

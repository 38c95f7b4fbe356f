//! C001-1 to C001-7: the saturation loads of schemes.

use super::scenarios::{S001_1, S001_2, SMALL_1, STEP, Scenario};
use super::schemes::Scheme::{self, Dbbm, Obqa, OneQueue, VoqNet, VoqSw};
use crate::{Finding, Measured, Point, Results};

/// The fraction of the offered load that must be delivered below saturation.
const DELIVERED: f64 = 0.98;

/// Returns the saturation loads of a scheme by seed, or why there are none.
pub(super) fn saturation(
    results: &Results,
    scenario: &Scenario,
    scheme: Scheme,
) -> Result<Vec<f64>, String> {
    let name = scenario.series(scheme).unwrap_or("of that scheme");
    let nothing = || format!("no results of {name}");
    let series = results.series(name);
    let points = series.all();
    let n_seeds = points.first().ok_or_else(nothing)?.runs.len();
    let knee = |seed: usize| knee(points, seed).map_err(|why| format!("{name}: {why}"));
    (0..n_seeds).map(knee).collect()
}

/// Returns the largest load of which enough is delivered, if the next load is near.
fn knee(points: &[Point<'_>], seed: usize) -> Result<f64, String> {
    let carries = |point: &Point<'_>| {
        let total = &point.runs[seed].total;
        total.offered_load > 0.0 && total.delivered_load >= DELIVERED * total.offered_load
    };
    let last = points.iter().rposition(carries);
    let Some(last) = last else {
        return Err("saturated at every load that was run".to_owned());
    };
    let load = points[last].load;
    match points.get(last + 1) {
        Some(next) if next.load - load < f64::from(STEP) / 100.0 + 1e-9 => Ok(load),
        Some(next) => Err(format!(
            "saturates between {load} and {}, where too few loads were run",
            next.load
        )),
        None if load >= 1.0 => Ok(load),
        None => Err(format!("does not saturate by {load}")),
    }
}

/// Saturation loads of two schemes and their differences, seed by seed: equal seeds offer the same
/// traffic to both.
struct Pair {
    one: Measured,
    other: Measured,
    difference: Measured,
}

fn pair(
    results: &Results,
    scenario: &Scenario,
    one: Scheme,
    other: Scheme,
) -> Result<Pair, String> {
    let (one, other) = (
        saturation(results, scenario, one)?,
        saturation(results, scenario, other)?,
    );
    let difference: Vec<f64> = one.iter().zip(&other).map(|(a, b)| a - b).collect();
    let over = |values: &[f64]| Measured::over(values).ok_or("no seeds".to_owned());
    Ok(Pair {
        one: over(&one)?,
        other: over(&other)?,
        difference: over(&difference)?,
    })
}

/// Returns the finding, or one that explains why there is none.
fn told(finding: Result<Finding, String>) -> Finding {
    finding.unwrap_or_else(Finding::not_run)
}

/// Compares two schemes on a network of the paper: `one - other` within bounds, in fractions of a
/// link.
fn within(
    results: &Results,
    scenario: &Scenario,
    one: Scheme,
    other: Scheme,
    (least, most): (f64, f64),
) -> Finding {
    told(pair(results, scenario, one, other).map(|pair| {
        // Loads are hundredths; a mean over seeds on the border counts.
        let difference = pair.difference.mean;
        let holds = difference >= least - 1e-9 && difference <= most + 1e-9;
        let words = format!(
            "{:.3} against {:.3}: {:+.1} points",
            pair.one.mean,
            pair.other.mean,
            100.0 * difference
        );
        Finding::checked(holds, words)
            .number("saturation", pair.one.mean)
            .number("saturation_of_the_other", pair.other.mean)
            .number("difference", difference)
    }))
}

/// C001-1: OBQA-4 as VOQsw or VOQnet.
pub(super) fn obqa_4_is_as_good(results: &Results, other: Scheme) -> Finding {
    within(results, &S001_1, Obqa(4), other, (-0.03, 0.03))
}

/// C001-2.
pub(super) fn obqa_2_is_below(results: &Results) -> Finding {
    within(results, &S001_1, Obqa(2), VoqSw, (-0.18, -0.06))
}

/// C001-3: OBQA-2 above DBBM-4.
pub(super) fn obqa_2_is_above(results: &Results) -> Finding {
    let scenario = Scenario::either(results, [&S001_1, &SMALL_1]);
    told(pair(results, scenario, Obqa(2), Dbbm(4)).map(|pair| {
        if pair.difference.half_width.is_none() {
            return Finding::not_run("an order takes at least two seeds");
        }
        let words = format!(
            "{:.3} against {:.3} on the {}",
            pair.one.mean, pair.other.mean, scenario.network
        );
        Finding::checked(pair.difference.exceeds(0.0), words)
            .number("obqa_2", pair.one.mean)
            .number("dbbm_4", pair.other.mean)
    }))
}

/// C001-3 and C001-7: the gain of DBBM over one queue is less than half of that of OBQA-4.
fn gains_little(results: &Results, scenario: &Scenario, dbbm: Scheme) -> Finding {
    let found = pair(results, scenario, dbbm, OneQueue)
        .and_then(|dbbm| Ok((dbbm, pair(results, scenario, Obqa(4), OneQueue)?)));
    told(found.map(|(dbbm, obqa)| {
        if dbbm.difference.half_width.is_none() {
            return Finding::not_run("an order takes at least two seeds");
        }
        let words = format!(
            "{:+.1} points over 1Q ({:.3}), OBQA-4 {:+.1}, on the {}",
            100.0 * dbbm.difference.mean,
            dbbm.other.mean,
            100.0 * obqa.difference.mean,
            scenario.network
        );
        // Twice as much is still less.
        let holds = obqa.difference.is_above(2.0, dbbm.difference);
        Finding::checked(holds, words)
            .number("one_queue", dbbm.other.mean)
            .number("dbbm_gain", dbbm.difference.mean)
            .number("obqa_4_gain", obqa.difference.mean)
    }))
}

/// C001-3: DBBM-4 near 1Q.
pub(super) fn dbbm_4_is_near_one_queue(results: &Results) -> Finding {
    let scenario = Scenario::either(results, [&S001_1, &SMALL_1]);
    gains_little(results, scenario, Dbbm(4))
}

/// C001-4: OBQA-4 over 1Q, relative to 1Q.
pub(super) fn obqa_4_over_one_queue(results: &Results) -> Finding {
    told(pair(results, &S001_1, Obqa(4), OneQueue).map(|pair| {
        let gain = pair.difference.mean / pair.other.mean;
        let words = format!(
            "{:+.1} %: {:.3} against {:.3}",
            100.0 * gain,
            pair.one.mean,
            pair.other.mean
        );
        Finding::checked((0.20..=0.45).contains(&gain), words)
            .number("obqa_4", pair.one.mean)
            .number("one_queue", pair.other.mean)
            .number("gain", gain)
    }))
}

/// C001-5: OBQA-8 as VOQsw-32.
pub(super) fn obqa_8_is_as_good(results: &Results) -> Finding {
    within(results, &S001_2, Obqa(8), VoqSw, (-0.03, 0.03))
}

/// C001-5: OBQA-8 a little below VOQnet.
pub(super) fn obqa_8_is_near_voqnet(results: &Results) -> Finding {
    within(results, &S001_2, Obqa(8), VoqNet, (-0.05, 0.05))
}

/// C001-6.
pub(super) fn obqa_4_is_below(results: &Results) -> Finding {
    within(results, &S001_2, Obqa(4), VoqSw, (-0.09, -0.02))
}

/// C001-7.
pub(super) fn dbbm_gains_little(results: &Results, dbbm: Scheme) -> Finding {
    gains_little(results, &S001_2, dbbm)
}

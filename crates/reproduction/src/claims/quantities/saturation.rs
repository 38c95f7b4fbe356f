//! The saturation load of a series: by its latency, or by what is delivered.

use super::{Call, Quantity};
use crate::claims::{Missing, Value};
use crate::{Point, Results};

/// The fraction of the offered load that must be delivered below saturation.
const DELIVERED: f64 = 0.98;

/// Maximum step between loads for determining a saturation load.
const STEP: f64 = 0.02;

/// The largest load at which latency counts as that of an empty fabric.
const EMPTY: f64 = 0.1;

/// `saturation(series)`: the largest load of which 98 % are delivered.
pub(super) const SATURATION: Quantity = Quantity {
    name: "saturation",
    parameters: &["series"],
    by_seed: true,
    of: |call| of_points(call, largest_delivered),
};

/// `knee(series, times)`: the load at which the mean latency of messages reaches a multiple of that
/// at the lowest load.
pub(super) const KNEE: Quantity = Quantity {
    name: "knee",
    parameters: &["series", "times"],
    by_seed: true,
    of: |call| {
        let times = call.number(1)?;
        of_points(call, |points, seed| latency_reaches(times, points, seed))
    },
};

type Load = Result<f64, String>;

fn of_points(
    call: &Call<'_, '_>,
    of: impl Fn(&[Point<'_>], usize) -> Load,
) -> Result<Value, Missing> {
    let name = call.text(0)?;
    let series = call.results.series(name);
    let points = series.all();
    if points.is_empty() {
        call.evaluation.lacks(name, |_| true);
        return Err(Missing::because(nothing(name)));
    }
    for point in points {
        call.run(name, Some(point.load))?;
    }
    let load = of(points, call.seed.unwrap_or(0));
    load.map(Value::Number)
        .map_err(|why| Missing::because(format!("{name}: {why}")))
}

/// Returns the saturation loads of a series by seed, or why they cannot be determined.
pub(crate) fn saturation(results: &Results, name: &str) -> Result<Vec<f64>, String> {
    by_seed(results, name, largest_delivered)
}

/// Returns the loads by seed at which the latency of a series reaches a multiple of that at the
/// lowest load, or why they cannot be determined.
pub(crate) fn knee(results: &Results, name: &str, times: f64) -> Result<Vec<f64>, String> {
    by_seed(results, name, |points, seed| {
        latency_reaches(times, points, seed)
    })
}

fn by_seed(
    results: &Results,
    name: &str,
    of: impl Fn(&[Point<'_>], usize) -> Load,
) -> Result<Vec<f64>, String> {
    let series = results.series(name);
    let points = series.all();
    let n_seeds = points.iter().map(|point| point.runs.len()).min();
    let n_seeds = n_seeds.ok_or_else(|| nothing(name))?;
    let of = |seed: usize| of(points, seed).map_err(|why| format!("{name}: {why}"));
    (0..n_seeds).map(of).collect()
}

fn nothing(name: &str) -> String {
    format!("no results of {name}")
}

/// Returns the largest load of which enough is delivered, if the next load is near.
fn largest_delivered(points: &[Point<'_>], seed: usize) -> Load {
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
        Some(next) if next.load - load < STEP + 1e-9 => Ok(load),
        Some(next) => Err(format!(
            "saturates between {load} and {}, where too few loads were run",
            next.load
        )),
        None if load >= 1.0 => Ok(load),
        None => Err(format!("does not saturate by {load}")),
    }
}

/// Returns the load at which the mean latency first reaches a multiple of that at the lowest load,
/// interpolated between two loads that are near each other.
fn latency_reaches(times: f64, points: &[Point<'_>], seed: usize) -> Load {
    let latency = |point: &Point<'_>| point.runs[seed].total.latency_mean_ns;
    let lowest = points.first().filter(|point| point.load <= EMPTY + 1e-9);
    let lowest = lowest.and_then(latency);
    let Some(limit) = lowest.map(|lowest| times * lowest) else {
        return Err(format!("no latency at load {EMPTY} or below"));
    };
    // Beyond saturation nothing may arrive.
    let is_reached = |point: &Point<'_>| latency(point).is_none_or(|ns| ns >= limit);
    let Some(at) = points.iter().position(is_reached) else {
        let last = points.last().map_or(0.0, |point| point.load);
        let low = || format!("latency stays below {times} times the lowest up to {last}");
        return (last >= 1.0).then_some(last).ok_or_else(low);
    };
    let Some(before) = at.checked_sub(1).map(|at| &points[at]) else {
        return Err("latency is high at every load that was run".to_owned());
    };
    let (from, to) = (before.load, points[at].load);
    if to - from >= STEP + 1e-9 {
        return Err(format!(
            "latency rises between {from} and {to}, where too few loads were run"
        ));
    }
    let (low, high) = (latency(before), latency(&points[at]));
    let part = low
        .zip(high)
        .map_or(0.0, |(low, high)| (limit - low) / (high - low));
    Ok(from + part * (to - from))
}

//! The saturation load of a series: the largest load of which enough is delivered.

use super::Quantity;
use crate::claims::{Missing, Value};
use crate::{Point, Results};

/// The fraction of the offered load that must be delivered below saturation.
const DELIVERED: f64 = 0.98;

/// Maximum step between loads for determining a saturation load.
const STEP: f64 = 0.02;

pub(super) const SATURATION: Quantity = Quantity {
    name: "saturation",
    parameters: &["series"],
    by_seed: true,
    of: |call| {
        let name = call.text(0)?;
        let series = call.results.series(name);
        let points = series.all();
        if points.is_empty() {
            return Err(Missing::because(nothing(name)));
        }
        for point in points {
            call.run(name, Some(point.load))?;
        }
        let load = knee(points, call.seed.unwrap_or(0));
        load.map(Value::Number)
            .map_err(|why| Missing::because(format!("{name}: {why}")))
    },
};

/// Returns the saturation loads of a series by seed, or why they cannot be determined.
pub(crate) fn saturation(results: &Results, name: &str) -> Result<Vec<f64>, String> {
    let series = results.series(name);
    let points = series.all();
    let n_seeds = points.iter().map(|point| point.runs.len()).min();
    let n_seeds = n_seeds.ok_or_else(|| nothing(name))?;
    let knee = |seed: usize| knee(points, seed).map_err(|why| format!("{name}: {why}"));
    (0..n_seeds).map(knee).collect()
}

fn nothing(name: &str) -> String {
    format!("no results of {name}")
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
        Some(next) if next.load - load < STEP + 1e-9 => Ok(load),
        Some(next) => Err(format!(
            "saturates between {load} and {}, where too few loads were run",
            next.load
        )),
        None if load >= 1.0 => Ok(load),
        None => Err(format!("does not saturate by {load}")),
    }
}

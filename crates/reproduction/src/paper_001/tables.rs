//! The data of the figures.

use netloom_results::{Cell, Column, Csv};

use crate::claims::{knee, saturation};
use crate::{Measured, Outcome, Point, Results, points_csv};

/// Returns all tables by name.
pub(super) fn tables(results: &Results) -> Vec<(&'static str, String)> {
    vec![
        ("points", points_csv(results)),
        ("saturation", saturations(results)),
        ("efficiency", efficiency_over_time(results)),
        ("hot-spot", costs(results)),
    ]
}

/// Returns the series of some scenarios, in the order of the runs.
fn series_of<'a>(results: &'a Results, scenarios: &[&str]) -> Vec<&'a str> {
    let is_own = |name: &&str| scenarios.contains(&name.split(' ').next().unwrap_or_default());
    results.names().into_iter().filter(is_own).collect()
}

/// The columns of `saturation.csv`.
const SATURATION: &[Column] = &[
    Column::new("series", "", "Scenario, network and scheme."),
    Column::new("seeds", "", "Number of runs in the means."),
    Column::new(
        "saturation",
        "fraction",
        "Largest load of which 98 % are delivered; empty if it cannot be determined.",
    ),
    Column::new(
        "saturation_half_width",
        "fraction",
        "Half width of the 95 % interval over seeds.",
    ),
    Column::new(
        "knee",
        "fraction",
        "Load at which mean latency is 10 times that at load 0.1; empty if it cannot be determined.",
    ),
    Column::new(
        "knee_half_width",
        "fraction",
        "Half width of the 95 % interval over seeds.",
    ),
    Column::new(
        "latency_growth",
        "",
        "Mean latency at the next lower load divided by that at load 0.1: a cross-check, below 3 \
         in a steady state.",
    ),
    Column::new("why_not", "", "Why it cannot be determined."),
];

/// Returns the saturation loads of all schemes.
fn saturations(results: &Results) -> String {
    let mut csv = Csv::new(&[SATURATION]);
    for name in series_of(results, &["S001-1", "S001-2"]) {
        let series = results.series(name);
        let found = saturation(results, name);
        let why_not = found.as_ref().err().cloned().unwrap_or_default();
        let load = found.ok().and_then(|loads| Measured::over(&loads));
        let knee = knee(results, name, 10.0).ok();
        let knee = knee.and_then(|loads| Measured::over(&loads));
        let is_below = |point: &&Point<'_>| load.is_some_and(|load| point.load <= load.mean);
        let below = series.points.iter().rfind(is_below);
        let latency = |point: &Point<'_>| Some(point.latency("uniform")?.mean);
        let growth = below.and_then(|point| Some(latency(point)? / latency(series.at(0.1)?)?));
        csv.line([
            name.to_owned(),
            series.points[0].runs.len().to_string(),
            load.map(|load| load.mean).cell(),
            load.and_then(|load| load.half_width).cell(),
            knee.map(|load| load.mean).cell(),
            knee.and_then(|load| load.half_width).cell(),
            growth.cell(),
            why_not,
        ]);
    }
    csv.finish()
}

/// The end of a bin in microseconds, and the load delivered in it as a fraction of all links to
/// nodes.
type Bin = (f64, f64);

/// Returns the efficiency of a run over time.
fn efficiency(outcome: &Outcome) -> Option<Vec<Bin>> {
    let table = outcome.table("series")?;
    let (time, delivered) = (table.column("time_ns")?, table.column("delivered_load")?);
    let mut bins: Vec<Bin> = vec![];
    for line in 0..table.len() {
        let (end, part) = (time.number(line)? / 1000.0, delivered.number(line)?);
        match bins.last_mut() {
            // Add up the classes of one bin.
            Some((own, sum)) if *own == end => *sum += part,
            _ => bins.push((end, part)),
        }
    }
    Some(bins)
}

/// Returns the efficiency of a series over time, by seed.
fn efficiencies(results: &Results, name: &str) -> Vec<Vec<Bin>> {
    let own = results.outcomes.iter().filter(|o| o.run.series == name);
    own.filter_map(efficiency).collect()
}

/// Returns when a hot spot begins and ends in the runs of a series, in microseconds.
fn hot_spot(name: &str) -> Option<(f64, f64)> {
    match name.split_once(' ')? {
        ("S001-3", network) if network.starts_with("64 nodes") => Some((100.0, 150.0)),
        ("S001-3" | "S001-4", _) => Some((250.0, 300.0)),
        _ => None,
    }
}

/// The columns of `efficiency.csv`.
const EFFICIENCY: &[Column] = &[
    Column::new("series", "", "Scenario, network and scheme."),
    Column::new("time_us", "us", "End of the bin."),
    Column::new("seeds", "", "Number of runs in the means."),
    Column::new(
        "efficiency",
        "fraction",
        "Load delivered in the bin, as a fraction of the links to all nodes.",
    ),
    Column::new(
        "efficiency_active",
        "fraction",
        "Load delivered in the bin, as a fraction of the links of sources that create messages in \
         the bin.",
    ),
];

/// Returns the efficiency over time.
fn efficiency_over_time(results: &Results) -> String {
    let mut csv = Csv::new(&[EFFICIENCY]);
    for name in series_of(results, &["S001-3", "S001-4", "S001-5", "S001-6"]) {
        let by_seed = efficiencies(results, name);
        let Some(first) = by_seed.first() else {
            continue;
        };
        for (bin, &(end, _)) in first.iter().enumerate() {
            let parts: Vec<f64> = by_seed.iter().filter_map(|c| Some(c.get(bin)?.1)).collect();
            let mean = Measured::over(&parts).map(|m| m.mean);
            // A quarter of the sources sends only during the hot spot.
            let active = match hot_spot(name) {
                Some((from, until)) if end <= from || end > until => 0.75,
                _ => 1.0,
            };
            csv.line([
                name.to_owned(),
                end.cell(),
                parts.len().to_string(),
                mean.cell(),
                mean.map(|mean| mean / active).cell(),
            ]);
        }
    }
    csv.finish()
}

/// The columns of `hot-spot.csv`.
const HOT_SPOT: &[Column] = &[
    Column::new("series", "", "Scenario, network and scheme."),
    Column::new("seeds", "", "Number of runs in the means."),
    Column::new(
        "before",
        "fraction",
        "Load delivered in the 50 us before the hot spot, as a fraction of the links to all nodes.",
    ),
    Column::new(
        "during",
        "fraction",
        "Load delivered during the hot spot, except for its first 20 us.",
    ),
    Column::new("drop", "fraction", "Lost fraction of the load."),
    Column::new(
        "drop_half_width",
        "fraction",
        "Half width of the 95 % interval over seeds.",
    ),
];

/// Returns the loss of every scheme to a hot spot.
fn costs(results: &Results) -> String {
    let mut csv = Csv::new(&[HOT_SPOT]);
    for name in series_of(results, &["S001-3", "S001-4"]) {
        let by_seed = efficiencies(results, name);
        let costs: Option<Vec<[f64; 3]>> = by_seed.iter().map(|bins| cost(name, bins)).collect();
        let Some(costs) = costs else { continue };
        let is_whole = !results.series(name).all().is_empty();
        let over = |column: usize| {
            let values: Vec<f64> = costs.iter().map(|cost| cost[column]).collect();
            Measured::over(&values).filter(|_| is_whole)
        };
        let [Some(before), Some(during), Some(drop)] = [over(0), over(1), over(2)] else {
            continue;
        };
        csv.line([
            name.to_owned(),
            costs.len().to_string(),
            before.mean.cell(),
            during.mean.cell(),
            drop.mean.cell(),
            drop.half_width.cell(),
        ]);
    }
    csv.finish()
}

/// Returns the efficiency before and during a hot spot, and the lost fraction.
fn cost(name: &str, bins: &[Bin]) -> Option<[f64; 3]> {
    let (from, until) = hot_spot(name)?;
    let before = mean_between(bins, from - 50.0, from)?;
    let during = mean_between(bins, from + 20.0, until)?;
    Some([before, during, 1.0 - during / before])
}

/// Returns the mean of the bins between two times.
fn mean_between(bins: &[Bin], from: f64, until: f64) -> Option<f64> {
    let (from, until) = (from + 1e-6, until + 1e-6);
    let inside = bins.iter().filter(|(end, _)| *end > from && *end <= until);
    let parts: Vec<f64> = inside.map(|(_, part)| *part).collect();
    (!parts.is_empty()).then(|| parts.iter().sum::<f64>() / parts.len() as f64)
}

//! The data of the figures.

use netloom_results::{Cell, Column, Csv};

use super::course::{cost, efficiency};
use super::saturation::saturation;
use super::scenarios::{
    Course, S001_1, S001_2, S001_3, S001_4, S001_5, S001_6, SMALL_1, SMALL_3, SMALL_5, Scenario,
};
use crate::{Measured, Point, Results, points_csv};

/// Returns all tables by name.
pub(super) fn tables(results: &Results) -> Vec<(&'static str, String)> {
    vec![
        ("points", points_csv(results)),
        ("saturation", saturations(results)),
        ("efficiency", courses(results)),
        ("hot-spot", costs(results)),
    ]
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
    for scenario in [&S001_1, &S001_2, &SMALL_1] {
        for case in scenario.cases {
            let series = results.series(case.series);
            let Some(first) = series.points.first() else {
                continue;
            };
            let found = saturation(results, scenario, case.scheme);
            let why_not = found.as_ref().err().cloned().unwrap_or_default();
            let load = found.ok().and_then(|loads| Measured::over(&loads));
            let is_below = |point: &&Point<'_>| load.is_some_and(|load| point.load <= load.mean);
            let below = series.points.iter().rfind(is_below);
            let latency = |point: &Point<'_>| Some(point.latency("uniform")?.mean);
            let growth = below.and_then(|point| Some(latency(point)? / latency(series.at(0.1)?)?));
            csv.line([
                case.series.to_owned(),
                first.runs.len().to_string(),
                load.map(|load| load.mean).cell(),
                load.and_then(|load| load.half_width).cell(),
                growth.cell(),
                why_not,
            ]);
        }
    }
    csv.finish()
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
fn courses(results: &Results) -> String {
    let mut csv = Csv::new(&[EFFICIENCY]);
    let scenarios: [&Scenario; 6] = [&S001_3, &S001_4, &S001_5, &S001_6, &SMALL_3, &SMALL_5];
    for scenario in scenarios {
        for case in scenario.cases {
            let own = results
                .outcomes
                .iter()
                .filter(|o| o.run.series == case.series);
            let courses: Vec<_> = own.filter_map(efficiency).collect();
            let Some(first) = courses.first() else {
                continue;
            };
            for (bin, &(end, _)) in first.iter().enumerate() {
                let parts: Vec<f64> = courses.iter().filter_map(|c| Some(c.get(bin)?.1)).collect();
                let mean = Measured::over(&parts).map(|m| m.mean);
                // A quarter of the sources sends only during the hot spot.
                let active = match scenario.course {
                    Course::HotSpot(m) if end <= f64::from(m.from) => 0.75,
                    Course::HotSpot(m) if end > f64::from(m.until) => 0.75,
                    _ => 1.0,
                };
                csv.line([
                    case.series.to_owned(),
                    end.cell(),
                    parts.len().to_string(),
                    mean.cell(),
                    mean.map(|mean| mean / active).cell(),
                ]);
            }
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
    for scenario in [&S001_3, &S001_4, &SMALL_3] {
        for case in scenario.cases {
            let Some(found) = cost(results, scenario, case.scheme) else {
                continue;
            };
            let [before, during, drop] = found.map(|values| Measured::over(&values));
            let mean = |measured: Option<Measured>| measured.map(|m| m.mean).cell();
            csv.line([
                case.series.to_owned(),
                results.series(case.series).points[0].runs.len().to_string(),
                mean(before),
                mean(during),
                mean(drop),
                drop.and_then(|m| m.half_width).cell(),
            ]);
        }
    }
    csv.finish()
}

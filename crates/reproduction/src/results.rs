//! The results of runs, by series, load and class.

use netloom_results::{Frame, Summary};

use crate::Run;

/// One run and its numbers.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub run: Run,
    pub result: netloom_results::Run,
    /// The tables that claims need.
    pub tables: Vec<(String, Frame)>,
}

impl Outcome {
    /// Returns the table with this name, if it was read.
    pub fn table(&self, name: &str) -> Option<&Frame> {
        let found = self.tables.iter().find(|(own, _)| own == name);
        found.map(|(_, frame)| frame)
    }
}

/// All outcomes, in the order of the runs.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// The outcomes; fewer than runs after an interruption.
    pub outcomes: Vec<Outcome>,
    /// Series and load of every missing run; claims about them are not judged.
    pub lacking: Vec<(String, f64)>,
}

impl Results {
    /// Returns the runs of a series, by load.
    pub fn series(&self, name: &str) -> Series<'_> {
        let mut points: Vec<Point<'_>> = vec![];
        for outcome in self.outcomes.iter().filter(|o| o.run.series == name) {
            match points
                .iter_mut()
                .find(|point| point.load == outcome.run.load)
            {
                Some(point) => point.runs.push(&outcome.result),
                None => points.push(Point {
                    load: outcome.run.load,
                    runs: vec![&outcome.result],
                }),
            }
        }
        points.sort_by(|a, b| a.load.total_cmp(&b.load));
        let lacking = self.lacking.iter().filter(|(series, _)| series == name);
        Series {
            points,
            lacking: lacking.map(|(_, load)| *load).collect(),
        }
    }

    /// Returns the names of all series, in the order of the runs.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = vec![];
        for outcome in &self.outcomes {
            if !names.contains(&outcome.run.series.as_str()) {
                names.push(&outcome.run.series);
            }
        }
        names
    }
}

/// A variant of a scenario over its loads.
#[derive(Clone, Debug)]
pub struct Series<'a> {
    /// Points in ascending order of load; some may lack seeds.
    pub points: Vec<Point<'a>>,
    /// Loads with missing runs.
    lacking: Vec<f64>,
}

impl<'a> Series<'a> {
    /// Returns the point at a load, if it has all its seeds.
    pub fn at(&self, load: f64) -> Option<&Point<'a>> {
        let is_whole = !self.lacking.contains(&load);
        let is_it = |point: &&Point<'a>| is_whole && point.load == load;
        self.points.iter().find(is_it)
    }

    /// Returns all points from a load upwards; empty if a run is missing.
    pub fn all_from(&self, load: f64) -> &[Point<'a>] {
        if self.lacking.iter().any(|&own| own >= load) {
            return &[];
        }
        let first = self.points.partition_point(|point| point.load < load);
        &self.points[first..]
    }

    /// Returns all points; empty if a run is missing.
    pub fn all(&self) -> &[Point<'a>] {
        self.all_from(f64::NEG_INFINITY)
    }
}

/// A load with its seeds.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// Total offered load.
    pub load: f64,
    /// One run per seed.
    pub runs: Vec<&'a netloom_results::Run>,
}

impl Point<'_> {
    /// Returns one value per seed for a class; `None` if a seed has no value.
    pub fn values(&self, class: &str, value: impl Fn(&Summary) -> Option<f64>) -> Option<Vec<f64>> {
        let of = |run: &&netloom_results::Run| {
            let class = run.classes.iter().find(|c| c.class == class)?;
            value(&class.summary)
        };
        self.runs.iter().map(of).collect()
    }

    /// Returns the mean message latency of a class in nanoseconds.
    pub fn latency(&self, class: &str) -> Option<Measured> {
        Measured::over(&self.values(class, |summary| summary.latency_mean_ns)?)
    }

    /// Returns the delivered load of a class divided by the load its workload created in the same
    /// time.
    pub fn share(&self, class: &str) -> Option<Measured> {
        let share = |summary: &Summary| {
            (summary.offered_load > 0.0).then(|| summary.delivered_load / summary.offered_load)
        };
        Measured::over(&self.values(class, share)?)
    }
}

/// A mean over seeds with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured {
    pub mean: f64,
    /// Half width of the interval; `None` for a single seed.
    pub half_width: Option<f64>,
}

impl Measured {
    /// Computes the mean of one value per seed; `None` if there are no values.
    pub fn over(values: &[f64]) -> Option<Measured> {
        match values {
            [] => None,
            [one] => Some(Measured {
                mean: *one,
                half_width: None,
            }),
            _ => netloom_metrics::over_seeds(values).map(|interval| Measured {
                mean: interval.mean,
                half_width: Some(interval.half_width),
            }),
        }
    }

    /// Returns both ends of the interval, or the mean twice if there is no interval.
    pub fn ends(self) -> (f64, f64) {
        let half_width = self.half_width.unwrap_or(0.0);
        (self.mean - half_width, self.mean + half_width)
    }

    /// Formats it with a unit and a number of decimals: `780.4 ±3.1 ns`.
    pub fn words(self, decimals: usize, unit: &str) -> String {
        let mean = format!("{:.decimals$}", self.mean);
        let width = self
            .half_width
            .map_or(String::new(), |width| format!(" ±{width:.decimals$}"));
        let blank = if unit.is_empty() { "" } else { " " };
        format!("{mean}{width}{blank}{unit}")
    }
}

/// Returns a synthetic result with these classes.
#[cfg(test)]
pub(crate) fn made_up(
    seed: u64,
    classes: Vec<netloom_results::ClassSummary>,
) -> netloom_results::Run {
    use netloom_results::{CountersSummary, LinkGroup, LinksSummary, Status, Window};
    netloom_results::Run {
        seed,
        status: Status::Ok,
        digest: String::new(),
        counters: CountersSummary::default(),
        warmup_ns: 0.0,
        warmup_found: true,
        length_ns: 1.0,
        total: Summary::default(),
        classes,
        sls: vec![],
        latency_order: vec![],
        rows: vec![],
        fairness_window: Window::AfterWarmup,
        links: LinksSummary {
            window: Window::AfterWarmup,
            injection: LinkGroup::default(),
            fabric: LinkGroup::default(),
            delivery: LinkGroup::default(),
            input_buffer_mean_flits: 0.0,
            input_buffer_fullest_mean_flits: 0.0,
            output_buffer_mean_flits: 0.0,
            output_buffer_peak_flits: 0,
            choice_share: None,
        },
        jobs: vec![],
        connections: None,
        waits: None,
        protocol: None,
        deadlock: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_of_what_lacks_a_run() {
        let outcome = |load, seed| Outcome {
            run: Run {
                series: "s".to_owned(),
                load,
                seed,
            },
            result: made_up(seed, vec![]),
            tables: vec![],
        };
        let results = Results {
            outcomes: vec![outcome(0.1, 1), outcome(0.2, 1), outcome(0.3, 1)],
            lacking: vec![("s".to_owned(), 0.2), ("t".to_owned(), 0.1)],
        };
        let series = results.series("s");
        assert_eq!(series.points.len(), 3);
        assert!(series.at(0.1).is_some() && series.at(0.2).is_none());
        let from = |load| series.all_from(load).iter().map(|point| point.load);
        assert_eq!(from(0.3).collect::<Vec<_>>(), [0.3]);
        assert_eq!((from(0.2).count(), series.all().len()), (0, 0));
    }

    #[test]
    fn seeds_give_an_interval_and_one_seed_gives_none() {
        assert_eq!(Measured::over(&[]), None);
        assert_eq!(Measured::over(&[3.0]).unwrap().words(1, "ns"), "3.0 ns");
        // Standard error 1, t for one degree of freedom 12.706.
        assert_eq!(
            Measured::over(&[10.0, 12.0]).unwrap().words(1, "ns"),
            "11.0 ±12.7 ns"
        );
    }
}

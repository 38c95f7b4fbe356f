//! Statistics over several seeds.

use netloom_results::{Estimate, OverSeeds, Run, SeedsEstimate, Status, Summary};

/// Returns intervals over the seeds of these runs; `None` for a single run. Interrupted and
/// deadlocked runs are not part of the sample.
pub(super) fn over_seeds(runs: &[Run]) -> Option<OverSeeds> {
    if runs.len() < 2 {
        return None;
    }
    let finished: Vec<&Run> = runs
        .iter()
        .filter(|run| run.status < Status::Interrupted)
        .collect();
    let classes = (0..runs[0].classes.len()).map(|at| {
        let name = &runs[0].classes[at].class;
        estimate(name, finished.iter().map(|run| &run.classes[at].summary))
    });
    Some(OverSeeds {
        seeds: finished.iter().map(|run| run.seed).collect(),
        status: Status::of_seeds(runs.iter().map(|run| run.status)),
        total: estimate("", finished.iter().map(|run| &run.total)),
        classes: classes.collect(),
    })
}

fn estimate<'a>(class: &str, runs: impl Iterator<Item = &'a Summary> + Clone) -> SeedsEstimate {
    let over = |value: fn(&Summary) -> Option<f64>| {
        // A seed without a value prevents a mean.
        let values: Option<Vec<f64>> = runs.clone().map(value).collect();
        let interval = netloom_metrics::over_seeds(&values?)?;
        Some(Estimate {
            mean: interval.mean,
            half_width: interval.half_width,
        })
    };
    SeedsEstimate {
        class: class.to_owned(),
        delivered_load: over(|summary| Some(summary.delivered_load)),
        latency_mean_ns: over(|summary| summary.latency_mean_ns),
        latency_p99_ns: over(|summary| summary.latency_p99_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_seeds_by_hand() {
        let summary = |mean| Summary {
            latency_mean_ns: Some(mean),
            ..Summary::default()
        };
        let runs = [summary(10.0), summary(12.0)];
        let both = estimate("bulk", runs.iter());
        let latency = both.latency_mean_ns.unwrap();
        // Standard error 1, t for one degree of freedom 12.706.
        assert_eq!(latency.mean, 11.0);
        assert!((latency.half_width - 12.706).abs() < 0.001);
        assert_eq!(both.latency_p99_ns, None);
    }
}

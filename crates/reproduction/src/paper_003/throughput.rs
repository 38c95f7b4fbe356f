//! The load that each host injects per service level (Figures 11, 14 and 17), one sample per host.

use netloom_results::Frame;

use super::arbiters::Arbiter;
use super::scenarios::{CLASSES, FAIR, STEP, Scenario, TWO_POWERS, not_there};
use crate::order::{is_above, mean, ordered};
use crate::{Finding, Outcome, Results, Shown};

/// The table with a line for each host and class.
pub(super) const HOSTS: &str = "hosts";

/// A box of a box plot, in percent of a host's link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Quartiles {
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
}

impl Quartiles {
    /// Computes the quartiles of one sample per host, with linear interpolation.
    pub(super) fn of(mut samples: Vec<f64>) -> Option<Quartiles> {
        samples.sort_by(f64::total_cmp);
        let last = samples.len().checked_sub(1)?;
        let at = |share: f64| {
            let place = share * last as f64;
            let below = place.floor() as usize;
            let above = samples[(below + 1).min(last)];
            samples[below] + (place - below as f64) * (above - samples[below])
        };
        Some(Quartiles {
            low: at(0.25),
            median: at(0.5),
            high: at(0.75),
        })
    }

    /// Returns the interquartile range.
    pub(super) fn range(self) -> f64 {
        self.high - self.low
    }
}

/// Returns the load of a class that each host injected, in percent of its link.
pub(super) fn samples(hosts: &Frame, class: &str) -> Option<Vec<f64>> {
    let (classes, loads) = (hosts.column("class")?, hosts.column("injected_load")?);
    let own = (0..hosts.len()).filter(|&line| classes.text(line) == Some(class));
    own.map(|line| loads.number(line).map(|load| 100.0 * load))
        .collect()
}

/// Returns the boxes of a run, by class.
pub(super) fn boxes(outcome: &Outcome) -> Option<[Quartiles; 5]> {
    let hosts = outcome.table(HOSTS)?;
    let all: Option<Vec<Quartiles>> = CLASSES
        .iter()
        .map(|class| Quartiles::of(samples(hosts, class)?))
        .collect();
    all?.try_into().ok()
}

/// A value for each class and seed.
type BySeed = [Vec<f64>; 5];

fn by_seed(
    results: &Results,
    scenario: &Scenario,
    arbiter: Arbiter,
    value: impl Fn(Quartiles) -> f64,
) -> Option<BySeed> {
    let outcomes = scenario.outcomes(results, arbiter)?;
    let boxes: Option<Vec<[Quartiles; 5]>> = outcomes.into_iter().map(boxes).collect();
    let boxes = boxes?;
    Some(std::array::from_fn(|class| {
        boxes.iter().map(|all| value(all[class])).collect()
    }))
}

/// Returns the median for each class and seed.
pub(super) fn medians(results: &Results, scenario: &Scenario, arbiter: Arbiter) -> Option<BySeed> {
    by_seed(results, scenario, arbiter, |quartiles| quartiles.median)
}

fn words(medians: &BySeed) -> String {
    let each: Vec<String> = medians
        .iter()
        .map(|values| format!("{:.2}", mean(values)))
        .collect();
    format!("{} %", each.join(", "))
}

fn with_medians(mut finding: Finding, name: &str, medians: &BySeed) -> Finding {
    for (class, values) in CLASSES.iter().zip(medians) {
        let class = class.to_lowercase();
        finding = finding.number(format!("{class}_{name}_percent"), mean(values));
    }
    finding
}

/// Whether every class with an expected value is within a point of it.
fn is_near(medians: &BySeed, expected: &[Option<f64>; 5]) -> bool {
    let mut both = medians.iter().zip(expected);
    both.all(|(values, expected)| expected.is_none_or(|own| (mean(values) - own).abs() <= 1.0))
}

/// Whether a class is below all others.
fn is_least(medians: &BySeed, class: usize) -> Shown {
    let others = (0..5).filter(|&other| other != class);
    let others = others.map(|other| &medians[other]);
    Shown::all(others.map(|other| is_above(other, 1.0, &medians[class])))
}

/// C003-1.
pub(super) fn fair_with_deficits(results: &Results) -> Finding {
    let Some(medians) = medians(results, &FAIR, Arbiter::Deficits) else {
        return not_there(&FAIR, Arbiter::Deficits);
    };
    let holds = is_near(&medians, &[Some(20.0); 5]);
    with_medians(Finding::checked(holds, words(&medians)), "median", &medians)
}

/// C003-2.
pub(super) fn fair_round_robin(results: &Results) -> Finding {
    let Some(medians) = medians(results, &FAIR, Arbiter::RoundRobin) else {
        return not_there(&FAIR, Arbiter::RoundRobin);
    };
    let finding = ordered(medians[0].len(), is_least(&medians, 0), words(&medians));
    with_medians(finding, "median", &medians)
}

/// C003-3, the loss.
pub(super) fn fair_basic_loss(results: &Results) -> Finding {
    let Some(medians) = medians(results, &FAIR, Arbiter::Basic) else {
        return not_there(&FAIR, Arbiter::Basic);
    };
    let holds = is_least(&medians, 4) & Shown::from(mean(&medians[4]) < 20.0);
    let finding = ordered(medians[0].len(), holds, words(&medians));
    with_medians(finding, "median", &medians)
}

/// C003-3, the spread: the interquartile range over hosts, mean of the five levels.
pub(super) fn fair_tuning_spread(results: &Results) -> Finding {
    let range = |arbiter| {
        let ranges = by_seed(results, &FAIR, arbiter, Quartiles::range)?;
        let seeds = 0..ranges[0].len();
        let mean_of = |seed: usize| ranges.iter().map(|class| class[seed]).sum::<f64>() / 5.0;
        Some((seeds.map(mean_of).collect::<Vec<f64>>(), ranges))
    };
    let sl4 = |arbiter| Some(mean(&medians(results, &FAIR, arbiter)?[4]));
    let (Some((plain, _)), Some(plain_sl4)) = (range(Arbiter::Basic), sl4(Arbiter::Basic)) else {
        return not_there(&FAIR, Arbiter::Basic);
    };
    let (Some((tuned, _)), Some(tuned_sl4)) =
        (range(Arbiter::BasicTuned), sl4(Arbiter::BasicTuned))
    else {
        return not_there(&FAIR, Arbiter::BasicTuned);
    };
    let words = format!(
        "IQR {:.3} to {:.3} points, SL4 {plain_sl4:.2} to {tuned_sl4:.2} %",
        mean(&plain),
        mean(&tuned)
    );
    ordered(plain.len(), is_above(&tuned, 1.0, &plain), words)
        .number("iqr_plain_points", mean(&plain))
        .number("iqr_tuned_points", mean(&tuned))
        .number("sl4_plain_percent", plain_sl4)
        .number("sl4_tuned_percent", tuned_sl4)
}

/// C003-5.
pub(super) fn step_round_robin(results: &Results) -> Finding {
    let Some(medians) = medians(results, &STEP, Arbiter::RoundRobin) else {
        return not_there(&STEP, Arbiter::RoundRobin);
    };
    let modest = [None, None, Some(21.0), Some(15.0), Some(8.0)];
    let holds = is_near(&medians, &modest) && mean(&medians[0]) < STEP.target(0);
    with_medians(Finding::checked(holds, words(&medians)), "median", &medians)
}

/// Returns the mean distance of the medians from the targets of a table, seed by seed.
fn errors(results: &Results, scenario: &Scenario, arbiter: Arbiter) -> Option<Vec<f64>> {
    let medians = medians(results, scenario, arbiter)?;
    let error = |seed: usize| {
        let of =
            |(class, values): (usize, &Vec<f64>)| (values[seed] - scenario.target(class)).abs();
        medians.iter().enumerate().map(of).sum::<f64>() / 5.0
    };
    Some((0..medians[0].len()).map(error).collect())
}

/// C003-6.
pub(super) fn step_accuracy(results: &Results) -> Finding {
    let [round_robin, basic, deficits] = [Arbiter::RoundRobin, Arbiter::Basic, Arbiter::Deficits]
        .map(|own| errors(results, &STEP, own));
    let (Some(round_robin), Some(basic), Some(deficits)) = (round_robin, basic, deficits) else {
        return Finding::not_run("needs S003-2 under RR, basic and deficits");
    };
    let holds = is_above(&round_robin, 1.0, &basic) & is_above(&basic, 1.0, &deficits);
    let words = format!(
        "RR {:.2}, basic {:.2}, deficits {:.2} points",
        mean(&round_robin),
        mean(&basic),
        mean(&deficits)
    );
    ordered(basic.len(), holds, words)
        .number("rr_error_points", mean(&round_robin))
        .number("basic_error_points", mean(&basic))
        .number("deficits_error_points", mean(&deficits))
}

/// C003-8, shares under round robin: those of water filling.
pub(super) fn two_powers_round_robin(results: &Results) -> Finding {
    near(results, Arbiter::RoundRobin, TWO_POWERS.oracle)
}

/// C003-8, shares with deficits.
pub(super) fn two_powers_with_deficits(results: &Results) -> Finding {
    let targets = std::array::from_fn(|class| TWO_POWERS.target(class));
    near(results, Arbiter::Deficits, targets)
}

fn near(results: &Results, arbiter: Arbiter, expected: [f64; 5]) -> Finding {
    let Some(medians) = medians(results, &TWO_POWERS, arbiter) else {
        return not_there(&TWO_POWERS, arbiter);
    };
    let holds = is_near(&medians, &expected.map(Some));
    with_medians(Finding::checked(holds, words(&medians)), "median", &medians)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_samples() {
        let quartiles = Quartiles::of(vec![4.0, 1.0, 3.0, 2.0, 5.0]).unwrap();
        assert_eq!(
            (quartiles.low, quartiles.median, quartiles.high),
            (2.0, 3.0, 4.0)
        );
        let four = Quartiles::of(vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((four.low, four.median, four.range()), (1.75, 2.5, 1.5));
        assert_eq!(Quartiles::of(vec![7.0]).unwrap().range(), 0.0);
        assert!(Quartiles::of(vec![]).is_none());
    }
}

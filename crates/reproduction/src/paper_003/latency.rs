//! Packet latency from generation (Figures 12, 15 and 18).

use netloom_results::Summary;

use super::arbiters::Arbiter;
use super::scenarios::{CLASSES, FAIR, STEP, Scenario, TWO_POWERS, not_there};
use crate::order::{is_above, mean, ordered};
use crate::{Finding, Results, Shown};

/// A latency for each class and seed, in nanoseconds.
type BySeed = [Vec<f64>; 5];

fn by_seed(
    results: &Results,
    scenario: &Scenario,
    arbiter: Arbiter,
    value: impl Fn(&Summary) -> Option<f64>,
) -> Option<BySeed> {
    let outcomes = scenario.outcomes(results, arbiter)?;
    let of = |class: &str| -> Option<Vec<f64>> {
        let values = outcomes.iter().map(|outcome| {
            let mut classes = outcome.result.classes.iter();
            value(&classes.find(|own| own.class == class)?.summary)
        });
        values.collect()
    };
    let all: Option<Vec<Vec<f64>>> = CLASSES.iter().map(|class| of(class)).collect();
    all?.try_into().ok()
}

fn means(results: &Results, scenario: &Scenario, arbiter: Arbiter) -> Option<BySeed> {
    by_seed(results, scenario, arbiter, |s| s.packet_latency_mean_ns)
}

fn words(latencies: &BySeed) -> String {
    let each: Vec<String> = latencies
        .iter()
        .map(|values| format!("{:.2}", mean(values) / 1000.0))
        .collect();
    format!("{} us", each.join(", "))
}

fn with_latencies(mut finding: Finding, name: &str, latencies: &BySeed) -> Finding {
    for (class, values) in CLASSES.iter().zip(latencies) {
        let class = class.to_lowercase();
        finding = finding.number(format!("{class}_{name}_ns"), mean(values));
    }
    finding
}

/// Whether the latency of a class exceeds `factor` times that of every other class.
fn is_worst(latencies: &BySeed, class: usize, factor: f64) -> Shown {
    let others = (0..5).filter(|&other| other != class);
    Shown::all(others.map(|other| is_above(&latencies[class], factor, &latencies[other])))
}

/// Returns the largest mean divided by the smallest, seed by seed.
fn spreads(latencies: &BySeed) -> Vec<f64> {
    let spread = |seed: usize| {
        let all = latencies.iter().map(|class| class[seed]);
        let (least, most) = all.fold((f64::INFINITY, 0.0f64), |(least, most), own| {
            (least.min(own), most.max(own))
        });
        most / least
    };
    (0..latencies[0].len()).map(spread).collect()
}

fn worst(
    results: &Results,
    scenario: &Scenario,
    arbiter: Arbiter,
    class: usize,
    factor: f64,
) -> Finding {
    let Some(latencies) = means(results, scenario, arbiter) else {
        return not_there(scenario, arbiter);
    };
    let holds = is_worst(&latencies, class, factor);
    let finding = ordered(latencies[0].len(), holds, words(&latencies));
    with_latencies(finding, "mean", &latencies)
}

/// C003-4, round robin.
pub(super) fn fair_round_robin(results: &Results) -> Finding {
    worst(results, &FAIR, Arbiter::RoundRobin, 0, 1.0)
}

/// C003-4, basic.
pub(super) fn fair_basic(results: &Results) -> Finding {
    worst(results, &FAIR, Arbiter::Basic, 4, 1.0)
}

/// C003-4, tuning removes the spike of SL4.
pub(super) fn fair_basic_tuned(results: &Results) -> Finding {
    let sl4 = |arbiter| means(results, &FAIR, arbiter).map(|all| all[4].clone());
    let (Some(plain), Some(tuned)) = (sl4(Arbiter::Basic), sl4(Arbiter::BasicTuned)) else {
        return not_there(&FAIR, Arbiter::BasicTuned);
    };
    let words = format!(
        "SL4 {:.2} to {:.2} us",
        mean(&plain) / 1000.0,
        mean(&tuned) / 1000.0
    );
    ordered(plain.len(), is_above(&plain, 1.0, &tuned), words)
        .number("sl4_plain_mean_ns", mean(&plain))
        .number("sl4_tuned_mean_ns", mean(&tuned))
}

/// C003-4, deficits order latencies by packet size.
pub(super) fn fair_deficits(results: &Results) -> Finding {
    let Some(latencies) = means(results, &FAIR, Arbiter::Deficits) else {
        return not_there(&FAIR, Arbiter::Deficits);
    };
    let pairs = latencies.windows(2);
    let holds = Shown::all(pairs.map(|pair| is_above(&pair[1], 1.0, &pair[0])));
    let finding = ordered(latencies[0].len(), holds, words(&latencies));
    with_latencies(finding, "mean", &latencies)
}

/// C003-4, tuning with deficits lowers SL0 to SL2, at the 99 % quantile by a larger part.
pub(super) fn fair_deficits_tuned(results: &Results) -> Finding {
    let of = |arbiter| {
        let mean = means(results, &FAIR, arbiter)?;
        let p99 = by_seed(results, &FAIR, arbiter, |s| s.packet_latency_p99_ns)?;
        Some((mean, p99))
    };
    let (Some(plain), Some(tuned)) = (of(Arbiter::Deficits), of(Arbiter::DeficitsTuned)) else {
        return not_there(&FAIR, Arbiter::DeficitsTuned);
    };
    // Remaining fraction of a latency, seed by seed.
    let left = |tuned: &[f64], plain: &[f64]| -> Vec<f64> {
        tuned.iter().zip(plain).map(|(t, p)| t / p).collect()
    };
    let mut holds = Shown::Yes;
    let mut words = vec![];
    let mut numbers = vec![];
    for class in 0..3 {
        let at_mean = left(&tuned.0[class], &plain.0[class]);
        let at_p99 = left(&tuned.1[class], &plain.1[class]);
        let all = vec![1.0; at_mean.len()];
        holds = holds & is_above(&all, 1.0, &at_mean) & is_above(&at_mean, 1.0, &at_p99);
        let [mean, p99] = [&at_mean, &at_p99].map(|left| 100.0 * (mean(left) - 1.0));
        words.push(format!("SL{class} {mean:+.1} / {p99:+.1}"));
        numbers.push((format!("sl{class}_mean_change_percent"), mean));
        numbers.push((format!("sl{class}_p99_change_percent"), p99));
    }
    let words = format!("{} % (mean / p99)", words.join(", "));
    let finding = ordered(plain.0[0].len(), holds, words);
    let add = |finding: Finding, (name, value)| finding.number(name, value);
    numbers.into_iter().fold(finding, add)
}

/// C003-7, round robin.
pub(super) fn step_round_robin(results: &Results) -> Finding {
    worst(results, &STEP, Arbiter::RoundRobin, 0, 1.0)
}

/// C003-7, the spread between service levels.
pub(super) fn step_spread(results: &Results) -> Finding {
    let of = |arbiter| means(results, &STEP, arbiter).map(|all| spreads(&all));
    let (Some(basic), Some(deficits)) = (of(Arbiter::Basic), of(Arbiter::Deficits)) else {
        return not_there(&STEP, Arbiter::Deficits);
    };
    let drop = mean(&basic) / mean(&deficits);
    let words = format!(
        "{:.1} to {:.1}: {drop:.1} times less",
        mean(&basic),
        mean(&deficits)
    );
    ordered(basic.len(), is_above(&basic, 5.0, &deficits), words)
        .number("basic_max_over_min", mean(&basic))
        .number("deficits_max_over_min", mean(&deficits))
        .number("drop", drop)
}

/// C003-8, similar latencies with deficits.
pub(super) fn two_powers_spread(results: &Results) -> Finding {
    let Some(latencies) = means(results, &TWO_POWERS, Arbiter::Deficits) else {
        return not_there(&TWO_POWERS, Arbiter::Deficits);
    };
    let spreads = spreads(&latencies);
    let three = vec![3.0; spreads.len()];
    let words = format!("{:.2} ({})", mean(&spreads), words(&latencies));
    let finding = ordered(spreads.len(), is_above(&three, 1.0, &spreads), words);
    with_latencies(finding, "mean", &latencies).number("max_over_min", mean(&spreads))
}

/// C003-8, SL0 under round robin.
pub(super) fn two_powers_round_robin(results: &Results) -> Finding {
    worst(results, &TWO_POWERS, Arbiter::RoundRobin, 0, 10.0)
}

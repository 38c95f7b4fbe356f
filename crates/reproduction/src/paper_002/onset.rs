//! C002-8 to C002-11 and C002-14: effects of the onset of aggressors on victims (Figures 7 and 8).

use super::scenarios::{
    ALONE, Course, Moments, ONSET, S002_4, SERIES, STASHES, Scenario, WITHOUT_ECN,
};
use super::series::{told, whole};
use super::switches::Switch::{self, Baseline, Full, Half};
use crate::order::{is_above, mean, ordered};
use crate::{Finding, Outcome, Results};

pub(super) const VICTIM: &str = "victim";
/// The class of aggressors of the observed hot spot.
const WATCHED: &str = "watched";
/// The switch of that hot spot.
const WATCHED_SWITCH: &str = "s0";

/// A microsecond of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Bin {
    /// End of the bin.
    pub(super) end_us: f64,
    /// Mean latency of the victims' packets received in it.
    pub(super) latency_ns: f64,
    /// Load received by victims, as a fraction of their links.
    pub(super) accepted: f64,
    /// Load sent by the aggressors of the observed hot spot, in flits per cycle.
    pub(super) watched: f64,
    /// Occupancy of the stashes of its switch at the end of the bin.
    pub(super) held_flits: f64,
}

/// Converts a time, which is a multiple of 1/13 ns, to microseconds.
fn micros(time_ns: f64) -> f64 {
    time_ns.round() / 1000.0
}

/// Returns the course of a run.
pub(super) fn course(scenario: &Scenario, outcome: &Outcome) -> Option<Vec<Bin>> {
    let table = outcome.table(SERIES)?;
    let (class, time) = (table.column("class")?, table.column("time_ns")?);
    let (latency, sent) = (
        table.column("latency_mean_ns")?,
        table.column("injected_load")?,
    );
    let delivered = table.column("delivered_load")?;
    let mut bins: Vec<Bin> = vec![];
    for line in 0..table.len() {
        let end_us = micros(time.number(line)?);
        if bins.last().is_none_or(|bin| bin.end_us < end_us) {
            bins.push(Bin {
                end_us,
                latency_ns: 0.0,
                accepted: 0.0,
                watched: 0.0,
                held_flits: 0.0,
            });
        }
        let bin = bins.iter_mut().rfind(|bin| bin.end_us == end_us)?;
        match class.text(line)? {
            VICTIM => {
                bin.latency_ns = latency.number(line).unwrap_or(0.0);
                let load = delivered.number(line)?;
                bin.accepted = scenario.machine.of(scenario.victims, load);
            }
            WATCHED => bin.watched = scenario.machine.of(1, sent.number(line)?),
            _ => {}
        }
    }
    if let Some(table) = outcome.table(STASHES) {
        let (switch, time) = (table.column("switch")?, table.column("time_ns")?);
        let held = table.column("held_flits")?;
        for line in 0..table.len() {
            if switch.text(line)? != WATCHED_SWITCH {
                continue;
            }
            let end_us = micros(time.number(line)?);
            let mut own = bins.iter_mut();
            if let Some(bin) = own.find(|bin| (bin.end_us - end_us).abs() < 1e-6) {
                bin.held_flits = held.number(line)?;
            }
        }
    }
    Some(bins)
}

fn courses(results: &Results, scenario: &Scenario, series: &str) -> Result<Vec<Vec<Bin>>, String> {
    let all = whole(results, series)?;
    let courses: Option<Vec<_>> = all.into_iter().map(|one| course(scenario, one)).collect();
    courses.ok_or_else(|| format!("no course of {series}"))
}

/// Returns the bins that end after one time and not after another.
fn between(bins: &[Bin], from: f64, until: f64) -> impl Iterator<Item = &Bin> {
    let is_inside = move |bin: &&Bin| bin.end_us > from + 1e-6 && bin.end_us <= until + 1e-6;
    bins.iter().filter(is_inside)
}

/// Returns the mean over bins; an error if there are none.
fn mean_of(
    bins: &[Bin],
    (from, until): (f64, f64),
    of: impl Fn(&Bin) -> f64,
) -> Result<f64, String> {
    let values: Vec<f64> = between(bins, from, until).map(of).collect();
    if values.is_empty() {
        return Err(format!("nothing between {from} and {until} us"));
    }
    Ok(mean(&values))
}

/// The effect on the victims of a run.
struct Effect {
    /// Mean latency in the 10 us before the onset.
    before: f64,
    /// The largest mean latency of a microsecond after it.
    peak: f64,
    /// Time of the peak.
    peak_us: f64,
    /// Area above the mean from before, in ns times us.
    area: f64,
    /// First time after the peak at which it is again within 10 % of the mean from before.
    back_us: Option<f64>,
}

fn moments(scenario: &Scenario) -> Result<(f64, f64), String> {
    match scenario.course {
        Course::Onset(Moments { onset, end }) => Ok((f64::from(onset), f64::from(end))),
        _ => Err("no aggressors".to_owned()),
    }
}

fn effect(scenario: &Scenario, bins: &[Bin]) -> Result<Effect, String> {
    let (onset, end) = moments(scenario)?;
    let before = mean_of(bins, (onset - 10.0, onset), |bin| bin.latency_ns)?;
    let after = || between(bins, onset, end);
    let peak = after().max_by(|a, b| a.latency_ns.total_cmp(&b.latency_ns));
    let peak = peak.ok_or_else(|| format!("nothing after {onset} us"))?;
    let back = after().find(|bin| bin.end_us > peak.end_us && bin.latency_ns <= 1.1 * before);
    Ok(Effect {
        before,
        peak: peak.latency_ns,
        peak_us: peak.end_us,
        area: after().map(|bin| bin.latency_ns - before).sum(),
        back_us: back.map(|bin| bin.end_us),
    })
}

fn effects(results: &Results, scenario: &Scenario, series: &str) -> Result<Vec<Effect>, String> {
    let courses = courses(results, scenario, series)?;
    courses.iter().map(|bins| effect(scenario, bins)).collect()
}

/// The order of the paper, the strongest effect first.
const ORDER: [Switch; 3] = [Baseline, Half, Full];

/// Checks that the values of all three switches have the order of the paper.
fn order(
    scenario: &Scenario,
    all: [Vec<f64>; 3],
    name: &str,
    words: impl Fn(f64) -> String,
) -> Finding {
    let [baseline, half, full] = &all;
    let holds = is_above(baseline, 1.0, half) & is_above(half, 1.0, full);
    let told = ORDER.iter().zip(&all);
    let told = told.map(|(switch, own)| format!("{} {}", switch.word(), words(mean(own))));
    let told: Vec<String> = told.collect();
    let text = format!("{} on {}", told.join(", "), scenario.machine.network);
    let mut finding = ordered(baseline.len(), holds, text);
    for (switch, own) in ORDER.iter().zip(&all) {
        finding = finding.number(format!("{name} {}", switch.word()), mean(own));
    }
    finding
}

fn of_each(each: impl Fn(Switch) -> Result<Vec<f64>, String>) -> Result<[Vec<f64>; 3], String> {
    let [baseline, half, full] = ORDER;
    Ok([each(baseline)?, each(half)?, each(full)?])
}

/// C002-8: the largest mean latency of a microsecond.
pub(super) fn peaks(results: &Results) -> Finding {
    let scenario = Scenario::either(results, ONSET);
    told(
        of_each(|switch| {
            let effects = effects(results, scenario, scenario.series(switch))?;
            Ok(effects.iter().map(|effect| effect.peak).collect())
        })
        .map(|all| order(scenario, all, "peak_ns", |ns| format!("{ns:.0} ns"))),
    )
}

/// C002-8: the area above the mean from before.
pub(super) fn areas(results: &Results) -> Finding {
    let scenario = Scenario::either(results, ONSET);
    told(
        of_each(|switch| {
            let effects = effects(results, scenario, scenario.series(switch))?;
            Ok(effects.iter().map(|effect| effect.area).collect())
        })
        .map(|all| {
            order(scenario, all, "area_ns_us", |area| {
                format!("{area:.0} ns us")
            })
        }),
    )
}

/// C002-9: when the baseline is back to normal.
pub(super) fn back_to_normal(results: &Results) -> Finding {
    let judge = || {
        let effects = effects(results, &S002_4, S002_4.series(Baseline))?;
        let before = mean(&effects.iter().map(|own| own.before).collect::<Vec<_>>());
        let peak = mean(&effects.iter().map(|own| own.peak).collect::<Vec<_>>());
        let peak_us = mean(&effects.iter().map(|own| own.peak_us).collect::<Vec<_>>());
        let course = format!("{before:.0} ns before, {peak:.0} ns at {peak_us:.0} us");
        let back: Option<Vec<f64>> = effects.iter().map(|own| own.back_us).collect();
        let Some(back) = back else {
            return Ok(Finding::checked(false, format!("{course}, not back"))
                .number("before_ns", before)
                .number("peak_ns", peak));
        };
        let back = mean(&back);
        let words = format!("{course}, back at {back:.0} us");
        Ok(Finding::checked((50.0..=75.0).contains(&back), words)
            .number("before_ns", before)
            .number("peak_ns", peak)
            .number("back_us", back))
    };
    told(judge())
}

/// Returns a metric of the victims after the onset, by seed.
fn victims(
    results: &Results,
    series: &str,
    of: fn(&netloom_results::Summary) -> Option<f64>,
) -> Result<Vec<f64>, String> {
    let value = |outcome: &Outcome| {
        let mut classes = outcome.result.classes.iter();
        of(&classes.find(|own| own.class == VICTIM)?.summary)
    };
    let values: Option<Vec<f64>> = whole(results, series)?.into_iter().map(value).collect();
    values.ok_or_else(|| format!("no victims in {series}"))
}

/// C002-10: the slowest packet with a full stash, compared with a run without aggressors.
pub(super) fn slowest(results: &Results) -> Finding {
    let judge = || {
        let slowest = |series| victims(results, series, |own| own.latency_max_ns);
        let full = mean(&slowest(S002_4.series(Full))?);
        let alone = mean(&slowest(ALONE[0])?);
        let baseline = mean(&slowest(S002_4.series(Baseline))?);
        let ratio = full / alone;
        let words = format!(
            "{ratio:.1} times: {:.2} us against {:.2} us; baseline {:.2} us",
            full / 1000.0,
            alone / 1000.0,
            baseline / 1000.0
        );
        Ok(Finding::checked(ratio <= 4.0, words)
            .number("ratio", ratio)
            .number("baseline_ratio", baseline / alone))
    };
    told(judge())
}

/// C002-10: the 99.9 % quantile.
pub(super) fn tails(results: &Results) -> Finding {
    let scenario = Scenario::either(results, ONSET);
    told(
        of_each(|switch| victims(results, scenario.series(switch), |own| own.latency_p999_ns)).map(
            |all| {
                order(scenario, all, "p999_us", |ns| {
                    format!("{:.2} us", ns / 1000.0)
                })
            },
        ),
    )
}

/// The values of Figure 8, by seed.
struct Watched {
    /// Flits per cycle in the first 2 us: before any feedback.
    initial: f64,
    /// Time from the onset until it is below 3 for the first time.
    drop_us: Option<f64>,
    /// From 60 to 75 us.
    late: f64,
    /// Peak occupancy of the stashes.
    peak_flits: f64,
    /// Mean occupancy of the stashes from 60 to 75 us.
    late_flits: f64,
}

fn watched(results: &Results) -> Result<Vec<Watched>, String> {
    let (onset, end) = moments(&S002_4)?;
    let one = |bins: &Vec<Bin>| {
        let mut after = between(bins, onset, end);
        let drop = after.find(|bin| bin.watched < 3.0);
        let held = between(bins, onset, end).map(|bin| bin.held_flits);
        Ok(Watched {
            initial: mean_of(bins, (onset, onset + 2.0), |bin| bin.watched)?,
            drop_us: drop.map(|bin| bin.end_us - onset),
            late: mean_of(bins, (60.0, 75.0), |bin| bin.watched)?,
            peak_flits: held.fold(0.0, f64::max),
            late_flits: mean_of(bins, (60.0, 75.0), |bin| bin.held_flits)?,
        })
    };
    let courses = courses(results, &S002_4, S002_4.series(Full))?;
    courses.iter().map(one).collect()
}

fn over_seeds(all: &[Watched], of: fn(&Watched) -> f64) -> f64 {
    mean(&all.iter().map(of).collect::<Vec<_>>())
}

/// C002-11: four flits per cycle at first.
pub(super) fn watched_initially(results: &Results) -> Finding {
    told(watched(results).map(|all| {
        // A packet counts completely at its start; four links cannot send more than four flits per
        // cycle.
        let initial = over_seeds(&all, |own| own.initial.min(4.0));
        let holds = (3.8..=4.0).contains(&initial);
        Finding::checked(holds, format!("{initial:.2} flits per cycle")).number("initial", initial)
    }))
}

/// C002-11: the time at which feedback takes effect.
pub(super) fn watched_drops(results: &Results) -> Finding {
    told(watched(results).map(|all| {
        let drops: Option<Vec<f64>> = all.iter().map(|own| own.drop_us).collect();
        match drops.map(|drops| mean(&drops)) {
            Some(drop) => {
                let words = format!("below 3 after {drop:.0} us");
                Finding::checked((8.0..=20.0).contains(&drop), words).number("drop_us", drop)
            }
            None => Finding::checked(false, "never below 3"),
        }
    }))
}

/// C002-11: one flit per cycle in the end.
pub(super) fn watched_late(results: &Results) -> Finding {
    told(watched(results).map(|all| {
        let late = over_seeds(&all, |own| own.late);
        let words = format!("{late:.2} flits per cycle from 60 to 75 us");
        Finding::checked((0.8..=1.3).contains(&late), words).number("late", late)
    }))
}

/// C002-11: empty stashes in the end.
pub(super) fn watched_stash(results: &Results) -> Finding {
    told(watched(results).map(|all| {
        let peak = over_seeds(&all, |own| own.peak_flits);
        let late = over_seeds(&all, |own| own.late_flits);
        let words = format!("{peak:.0} flits at most, {late:.0} from 60 to 75 us");
        Finding::checked(peak > 0.0 && late < 0.1 * peak, words)
            .number("peak_flits", peak)
            .number("late_flits", late)
    }))
}

/// C002-14: without congestion control. Accepted load after the onset, and latency in the last 20
/// us.
pub(super) fn without_ecn(results: &Results) -> Finding {
    let scenario = Scenario::either(results, ONSET);
    let is_small = scenario.machine.n_nics != S002_4.machine.n_nics;
    let judge = || {
        let (onset, end) = moments(scenario)?;
        let courses = courses(results, scenario, WITHOUT_ECN[usize::from(is_small)])?;
        let of = |(from, until): (f64, f64), value: fn(&Bin) -> f64| {
            let each: Result<Vec<f64>, String> = courses
                .iter()
                .map(|bins| mean_of(bins, (from, until), value))
                .collect();
            each
        };
        let last = (end - 20.0, end);
        let accepted = of(last, |bin| bin.accepted)?;
        let latency = of(last, |bin| bin.latency_ns)?;
        let before = of((onset - 10.0, onset), |bin| bin.latency_ns)?;
        let floor = vec![0.38; accepted.len()];
        let holds = is_above(&floor, 1.0, &accepted) | is_above(&latency, 5.0, &before);
        let words = format!(
            "{:.3} accepted and {:.2} us, {:.1} times, in the last 20 us on {}",
            mean(&accepted),
            mean(&latency) / 1000.0,
            mean(&latency) / mean(&before),
            scenario.machine.network
        );
        Ok(ordered(accepted.len(), holds, words)
            .number("accepted", mean(&accepted))
            .number("latency_ratio", mean(&latency) / mean(&before)))
    };
    told(judge())
}

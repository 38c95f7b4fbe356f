//! C001-8 to C001-13: efficiency over time, with a hot spot and with storage traffic.

use super::scenarios::{
    Course, Moments, S001_3, S001_4, S001_5, S001_6, SERIES, SMALL_3, SMALL_5, STORAGE_BINS,
    Scenario,
};
use super::schemes::Scheme::{self, Dbbm, Obqa, OneQueue, VoqNet, VoqSw};
use crate::order::{TOO_FEW, is_at_least};
use crate::{Finding, Measured, Outcome, Results, Shown};

/// The end of a bin in microseconds, and the load delivered in it as a fraction of all links to
/// nodes.
pub(super) type Bin = (f64, f64);

/// Returns the course of a run.
pub(super) fn efficiency(outcome: &Outcome) -> Option<Vec<Bin>> {
    let table = outcome.table(SERIES)?;
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

/// Returns the courses of a scheme by seed, or why there are none.
fn courses(
    results: &Results,
    scenario: &Scenario,
    scheme: Scheme,
) -> Result<Vec<Vec<Bin>>, String> {
    let name = scenario.series(scheme).unwrap_or("of that scheme");
    let nothing = || format!("no results of {name}");
    if results.lacking.iter().any(|(series, _)| *series == name) {
        return Err(nothing());
    }
    let own = results.outcomes.iter().filter(|o| o.run.series == name);
    let found: Option<Vec<Vec<Bin>>> = own.map(efficiency).collect();
    found.filter(|all| !all.is_empty()).ok_or_else(nothing)
}

/// Returns the mean of the bins between two times.
fn mean_between(bins: &[Bin], from: u32, until: u32) -> Option<f64> {
    let (from, until) = (f64::from(from) + 1e-6, f64::from(until) + 1e-6);
    let inside = bins.iter().filter(|(end, _)| *end > from && *end <= until);
    let parts: Vec<f64> = inside.map(|(_, part)| *part).collect();
    (!parts.is_empty()).then(|| parts.iter().sum::<f64>() / parts.len() as f64)
}

/// The effect of a hot spot on a scheme, by seed.
struct Effect {
    /// In the 50 us before it.
    before: Vec<f64>,
    /// During the hot spot, except for its first 10 us.
    early: Vec<f64>,
    /// During the hot spot, except for its first 20 us.
    during: Vec<f64>,
    /// In the last 50 us of the run.
    last: Vec<f64>,
}

fn effect(results: &Results, scenario: &Scenario, scheme: Scheme) -> Result<Effect, String> {
    let Course::HotSpot(Moments { from, until, end }) = scenario.course else {
        return Err("no hot spot".to_owned());
    };
    let courses = courses(results, scenario, scheme)?;
    let means = |from: u32, until: u32| {
        let each = courses.iter().map(|bins| mean_between(bins, from, until));
        let means: Option<Vec<f64>> = each.collect();
        means.ok_or_else(|| format!("nothing between {from} and {until} us"))
    };
    Ok(Effect {
        before: means(from - 50, from)?,
        early: means(from + 10, until)?,
        during: means(from + 20, until)?,
        last: means(end - 50, end)?,
    })
}

impl Effect {
    /// Returns the lost fraction of the efficiency, by seed.
    fn drops(&self) -> Vec<f64> {
        let both = self.during.iter().zip(&self.before);
        both.map(|(during, before)| 1.0 - during / before).collect()
    }
}

/// Returns the efficiency before and during a hot spot, and the lost fraction.
pub(super) fn cost(
    results: &Results,
    scenario: &Scenario,
    scheme: Scheme,
) -> Option<[Vec<f64>; 3]> {
    let effect = effect(results, scenario, scheme).ok()?;
    let drops = effect.drops();
    Some([effect.before, effect.during, drops])
}

fn over(values: &[f64]) -> Result<Measured, String> {
    Measured::over(values).ok_or_else(|| "no seeds".to_owned())
}

/// Returns the interval of a difference, seed by seed: equal seeds offer the same traffic to all
/// schemes.
fn apart(one: &[f64], other: &[f64]) -> Result<Measured, String> {
    let differences: Vec<f64> = one.iter().zip(other).map(|(a, b)| a - b).collect();
    over(&differences)
}

fn told(finding: Result<Finding, String>) -> Finding {
    finding.unwrap_or_else(Finding::not_run)
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// C001-8: one queue collapses and does not recover.
pub(super) fn one_queue_collapses(results: &Results) -> Finding {
    let judge = || {
        let effect = effect(results, &S001_3, OneQueue)?;
        let (before, early) = (over(&effect.before)?, over(&effect.early)?);
        let last = over(&effect.last)?;
        let holds = early.mean <= 0.12 && last.mean < 0.9 * before.mean;
        let words = format!(
            "{} before, {} from 260 to 300 us, {} at the end",
            percent(before.mean),
            percent(early.mean),
            percent(last.mean)
        );
        Ok(Finding::checked(holds, words)
            .number("efficiency_before", before.mean)
            .number("efficiency_during", early.mean)
            .number("efficiency_at_the_end", last.mean))
    };
    told(judge())
}

/// C001-9: the loss of a scheme.
pub(super) fn drops_by(results: &Results, scheme: Scheme, (least, most): (f64, f64)) -> Finding {
    let judge = || {
        let effect = effect(results, &S001_3, scheme)?;
        let drop = over(&effect.drops())?;
        let (before, during) = (over(&effect.before)?, over(&effect.during)?);
        let words = format!(
            "{}: {} to {}",
            percent(drop.mean),
            percent(before.mean),
            percent(during.mean)
        );
        let holds = (least..=most).contains(&drop.mean);
        Ok(Finding::checked(holds, words).number("drop", drop.mean))
    };
    told(judge())
}

/// C001-9: DBBM-4 loses more than OBQA-4.
pub(super) fn dbbm_drops_more(results: &Results) -> Finding {
    let scenario = Scenario::either(results, [&S001_3, &SMALL_3]);
    let judge = || {
        let dbbm = effect(results, scenario, Dbbm(4))?.drops();
        let obqa = effect(results, scenario, Obqa(4))?.drops();
        let more = apart(&dbbm, &obqa)?;
        if more.half_width.is_none() {
            return Err(TOO_FEW.to_owned());
        }
        let (dbbm, obqa) = (over(&dbbm)?, over(&obqa)?);
        let words = format!(
            "{} against {} on the {}",
            percent(dbbm.mean),
            percent(obqa.mean),
            scenario.network
        );
        Ok(Finding::checked(more.exceeds(0.0), words)
            .number("dbbm_4_drop", dbbm.mean)
            .number("obqa_4_drop", obqa.mean))
    };
    told(judge())
}

/// C001-9: OBQA-4 loses as much as VOQsw.
pub(super) fn drops_alike(results: &Results) -> Finding {
    let judge = || {
        let obqa = effect(results, &S001_3, Obqa(4))?.drops();
        let voq = effect(results, &S001_3, VoqSw)?.drops();
        let more = apart(&obqa, &voq)?;
        let words = format!("{:+.1} points", 100.0 * more.mean);
        Ok(Finding::checked(more.mean.abs() <= 0.05, words).number("difference", more.mean))
    };
    told(judge())
}

/// Tolerance for equality in an order.
const EQUAL: f64 = 0.05;

/// C001-10: VOQnet >= VOQsw ~ OBQA > DBBM > 1Q during the hot spot.
fn order(results: &Results, scenario: &Scenario, obqa: Scheme, dbbm: Scheme) -> Finding {
    let judge = || {
        let during = |scheme| Ok::<_, String>(effect(results, scenario, scheme)?.during);
        let (net, switch) = (during(VoqNet)?, during(VoqSw)?);
        let (obqa, dbbm, one) = (during(obqa)?, during(dbbm)?, during(OneQueue)?);
        let gap = apart(&obqa, &dbbm)?;
        if gap.half_width.is_none() {
            return Err(TOO_FEW.to_owned());
        }
        let is_near = apart(&switch, &obqa)?.mean.abs() <= EQUAL;
        let holds = is_at_least(&net, &switch)
            & is_near.into()
            & gap.exceeds(0.0)
            & apart(&dbbm, &one)?.exceeds(0.0);
        let named = [
            ("VOQnet", net),
            ("VOQsw", switch),
            ("OBQA", obqa),
            ("DBBM", dbbm),
            ("1Q", one),
        ];
        let mut words = vec![];
        let mut finding = Finding::checked(holds, "");
        for (name, values) in named {
            let mean = over(&values)?.mean;
            words.push(format!("{name} {mean:.3}"));
            finding = finding.number(name, mean);
        }
        finding.measured = format!("{} on the {}", words.join(", "), scenario.network);
        Ok(finding)
    };
    told(judge())
}

/// C001-10 on configuration #2, or on the small network.
pub(super) fn order_on_8_ports(results: &Results) -> Finding {
    let scenario = Scenario::either(results, [&S001_3, &SMALL_3]);
    order(results, scenario, Obqa(4), Dbbm(4))
}

/// C001-10 on configuration #3.
pub(super) fn order_on_32_ports(results: &Results) -> Finding {
    order(results, &S001_4, Obqa(8), Dbbm(8))
}

/// C001-11: OBQA-8 has most of the efficiency of VOQnet.
pub(super) fn obqa_8_is_near_voqnet(results: &Results) -> Finding {
    let judge = || {
        let obqa = over(&effect(results, &S001_4, Obqa(8))?.during)?;
        let net = over(&effect(results, &S001_4, VoqNet)?.during)?;
        let part = obqa.mean / net.mean;
        let words = format!("{}: {:.3} of {:.3}", percent(part), obqa.mean, net.mean);
        Ok(Finding::checked(part >= 0.9, words).number("part", part))
    };
    told(judge())
}

/// C001-11: OBQA-4 above DBBM-8.
pub(super) fn obqa_4_is_above_dbbm_8(results: &Results) -> Finding {
    let judge = || {
        let obqa = effect(results, &S001_4, Obqa(4))?.during;
        let dbbm = effect(results, &S001_4, Dbbm(8))?.during;
        let more = apart(&obqa, &dbbm)?;
        if more.half_width.is_none() {
            return Err(TOO_FEW.to_owned());
        }
        let (obqa, dbbm) = (over(&obqa)?, over(&dbbm)?);
        let words = format!("{:.3} against {:.3}", obqa.mean, dbbm.mean);
        Ok(Finding::checked(more.exceeds(0.0), words)
            .number("obqa_4", obqa.mean)
            .number("dbbm_8", dbbm.mean))
    };
    told(judge())
}

/// Returns the area under the efficiency of a scheme, by seed, as a mean over time.
fn areas(results: &Results, scenario: &Scenario, scheme: Scheme) -> Result<Vec<f64>, String> {
    let area = |bins: Vec<Bin>| bins.iter().map(|(_, part)| part).sum::<f64>() / bins.len() as f64;
    let courses = courses(results, scenario, scheme)?;
    Ok(courses.into_iter().map(area).collect())
}

/// C001-12: OBQA-4 as VOQsw, and not below DBBM-4 and 1Q.
pub(super) fn areas_in_order(results: &Results) -> Finding {
    let scenario = Scenario::either(results, [&S001_5, &SMALL_5]);
    let judge = || {
        let area = |scheme| areas(results, scenario, scheme);
        let (obqa, switch) = (area(Obqa(4))?, area(VoqSw)?);
        let (dbbm, one) = (area(Dbbm(4))?, area(OneQueue)?);
        let equal = apart(&obqa, &switch)?.mean / over(&switch)?.mean;
        let (over_dbbm, over_one) = (apart(&obqa, &dbbm)?, apart(&obqa, &one)?);
        if over_one.half_width.is_none() {
            return Err(TOO_FEW.to_owned());
        }
        let is_near = equal.abs() <= 0.03;
        let holds = Shown::from(is_near) & over_dbbm.reaches(0.0) & over_one.reaches(0.0);
        let named = [
            ("OBQA-4", over(&obqa)?),
            ("VOQsw-8", over(&switch)?),
            ("DBBM-4", over(&dbbm)?),
            ("1Q", over(&one)?),
        ];
        let words = named.map(|(name, area)| format!("{name} {:.4}", area.mean));
        let mut finding = Finding::checked(holds, words.join(", "));
        for (name, area) in named {
            finding = finding.number(name, area.mean);
        }
        Ok(finding)
    };
    told(judge())
}

/// Bins of a window in which schemes are compared.
const WINDOW: usize = (STORAGE_BINS / 20) as usize;

/// Returns the ratio of two courses, window by window; windows with very little traffic are
/// skipped.
fn ratios(one: &[Bin], other: &[Bin]) -> Vec<f64> {
    let sum = |bins: &[Bin]| bins.iter().map(|(_, part)| part).sum::<f64>();
    let both = one.chunks_exact(WINDOW).zip(other.chunks_exact(WINDOW));
    let sums = both.map(|(one, other)| (sum(one), sum(other)));
    let least = 0.01 * WINDOW as f64;
    sums.filter(|(_, other)| *other > least)
        .map(|(one, other)| one / other)
        .collect()
}

/// Compares a scheme with OBQA-4 in S001-6, by seed: the maximum of `of` over all windows.
fn extreme(
    results: &Results,
    scheme: Scheme,
    of: fn(&[Bin], &[Bin]) -> Option<f64>,
) -> Result<Measured, String> {
    let obqa = courses(results, &S001_6, Obqa(4))?;
    let other = courses(results, &S001_6, scheme)?;
    let each: Option<Vec<f64>> = obqa.iter().zip(&other).map(|(a, b)| of(a, b)).collect();
    over(&each.ok_or("no window with traffic")?)
}

/// C001-13: OBQA-4 over DBBM-4 at best.
pub(super) fn storage_over_dbbm(results: &Results) -> Finding {
    let judge = || {
        let most = extreme(results, Dbbm(4), |obqa, dbbm| {
            ratios(obqa, dbbm).into_iter().reduce(f64::max)
        })?;
        let gain = most.mean - 1.0;
        let words = format!("{:+.1} %", 100.0 * gain);
        let holds = (0.15..=0.45).contains(&gain);
        Ok(Finding::checked(holds, words).number("most_gain", gain))
    };
    told(judge())
}

/// C001-13: 1Q against OBQA-4 at worst.
pub(super) fn storage_one_queue(results: &Results) -> Finding {
    let judge = || {
        let least = extreme(results, OneQueue, |obqa, one| {
            ratios(one, obqa).into_iter().reduce(f64::min)
        })?;
        let words = percent(least.mean);
        Ok(Finding::checked(least.mean <= 0.65, words).number("least_ratio", least.mean))
    };
    told(judge())
}

//! C000-1 to C000-11 and C000-14: message latency on both switches.

use super::scenarios::Switch::{self, Ib, Opa};
use super::scenarios::{FIRST, Fabric, HIGH, LAST, MIDDLE};
use crate::{Finding, Measured, Point, Results, Shown};

/// Classes with a guarantee.
pub(super) const QOS: [&str; 4] = ["NC", "VO", "VI", "CL"];
/// Fixed connections.
const POINT_TO_POINT: [&str; 3] = ["VO", "VI", "CL"];
pub(super) const BEST_EFFORT: [&str; 3] = ["EE", "BE", "BK"];

pub(super) const TOO_FEW: &str = "an order takes at least two seeds";

/// Returns the finding for a point that was not run.
pub(super) fn missing(fabric: &Fabric, switch: Switch, load: f64) -> Finding {
    let series = fabric.series(switch);
    Finding::not_run(format!("no result of {series} at load {load}"))
}

/// Returns a point of a switch.
pub(super) fn point<'a>(
    results: &'a Results,
    fabric: &Fabric,
    switch: Switch,
    load: f64,
) -> Option<Point<'a>> {
    results.series(fabric.series(switch)).at(load).cloned()
}

/// Returns NC latency by seed.
fn nc(results: &Results, fabric: &Fabric, switch: Switch, load: f64) -> Option<Vec<f64>> {
    point(results, fabric, switch, load)?.values("NC", |summary| summary.latency_mean_ns)
}

fn differences(one: &[f64], other: &[f64]) -> Option<Measured> {
    let both = one.iter().zip(other);
    Measured::over(&both.map(|(a, b)| a - b).collect::<Vec<_>>())
}

/// One value of each switch by seed. Equal seeds offer both the same traffic, so values are
/// compared seed by seed.
struct Both {
    ib: Vec<f64>,
    opa: Vec<f64>,
}

impl Both {
    /// Checks that the value of OPA is lower.
    fn lower(&self, fabric: &Fabric) -> Finding {
        let found = || {
            let (ib, opa) = (Measured::over(&self.ib)?, Measured::over(&self.opa)?);
            let more = differences(&self.ib, &self.opa)?;
            if more.half_width.is_none() {
                return Some(Finding::not_run(TOO_FEW));
            }
            let words = format!(
                "IB {}, OPA {} on the {}",
                ib.words(1, "ns"),
                opa.words(1, "ns"),
                fabric.name
            );
            Some(
                Finding::checked(more.exceeds(0.0), words)
                    .number("ib_ns", ib.mean)
                    .number("opa_ns", opa.mean),
            )
        };
        found().unwrap_or_else(|| Finding::not_run("no seeds"))
    }
}

/// Returns NC latency at 0.70 of both switches.
fn both_at_middle(results: &Results, fabric: &Fabric) -> Result<Both, Finding> {
    let of =
        |switch| nc(results, fabric, switch, MIDDLE).ok_or_else(|| missing(fabric, switch, MIDDLE));
    Ok(Both {
        ib: of(Ib)?,
        opa: of(Opa)?,
    })
}

/// C000-1 to C000-4: NC latency at 0.70 is near the printed value.
pub(super) fn is_near(results: &Results, fabric: &Fabric, switch: Switch, printed: f64) -> Finding {
    let values = nc(results, fabric, switch, MIDDLE);
    let Some(nc) = values.and_then(|values| Measured::over(&values)) else {
        return missing(fabric, switch, MIDDLE);
    };
    let is_near = (nc.mean - printed).abs() <= 0.35 * printed;
    Finding::checked(is_near, nc.words(1, "ns")).number("nc_latency_ns", nc.mean)
}

/// C000-1 to C000-4: lower in OPA.
pub(super) fn is_lower(results: &Results, fabric: &Fabric) -> Finding {
    match both_at_middle(results, fabric) {
        Ok(both) => both.lower(fabric),
        Err(missing) => missing,
    }
}

/// C000-1 to C000-4: OPA over IB.
pub(super) fn ratio(results: &Results, fabric: &Fabric, (least, most): (f64, f64)) -> Finding {
    let both = match both_at_middle(results, fabric) {
        Ok(both) => both,
        Err(missing) => return missing,
    };
    let ratios: Vec<f64> = both.opa.iter().zip(&both.ib).map(|(o, i)| o / i).collect();
    match Measured::over(&ratios) {
        Some(ratio) => {
            let holds = (least..=most).contains(&ratio.mean);
            Finding::checked(holds, ratio.words(3, "")).number("ratio", ratio.mean)
        }
        None => Finding::not_run("no seeds"),
    }
}

/// Returns the growth of NC latency from the first to the last load, by seed.
fn growths(results: &Results, fabric: &Fabric) -> Result<Both, Finding> {
    let of = |switch| {
        let nc = |load| nc(results, fabric, switch, load).ok_or(missing(fabric, switch, load));
        let (first, last) = (nc(FIRST)?, nc(LAST)?);
        Ok::<_, Finding>(last.iter().zip(&first).map(|(l, f)| l - f).collect())
    };
    Ok(Both {
        ib: of(Ib)?,
        opa: of(Opa)?,
    })
}

/// C000-5 to C000-8: OPA grows less.
pub(super) fn growth_is_less(results: &Results, fabric: &Fabric) -> Finding {
    match growths(results, fabric) {
        Ok(both) => both.lower(fabric),
        Err(missing) => missing,
    }
}

/// C000-6 to C000-8: by how much.
pub(super) fn growth_ratio(results: &Results, fabric: &Fabric, least: f64) -> Finding {
    let both = match growths(results, fabric) {
        Ok(both) => both,
        Err(missing) => return missing,
    };
    let (Some(ib), Some(opa)) = (Measured::over(&both.ib), Measured::over(&both.opa)) else {
        return Finding::not_run("no seeds");
    };
    // A value that does not grow is below any fraction of one that does.
    let holds = ib.mean > 0.0 && ib.mean >= least * opa.mean;
    let words = format!("{:.1} ns over {:.1} ns", ib.mean, opa.mean);
    Finding::checked(holds, words)
        .number("ib_growth_ns", ib.mean)
        .number("opa_growth_ns", opa.mean)
}

/// Returns the mean latency over classes, seed by seed.
fn mean_latencies(point: &Point<'_>, classes: &[&str]) -> Option<Vec<f64>> {
    let each: Option<Vec<Vec<f64>>> = classes
        .iter()
        .map(|class| point.values(class, |summary| summary.latency_mean_ns))
        .collect();
    let each = each?;
    let mean =
        |seed: usize| each.iter().map(|values| values[seed]).sum::<f64>() / each.len() as f64;
    Some((0..point.runs.len()).map(mean).collect())
}

/// C000-9: some load at which connections wait longer than best effort on InfiniBand.
pub(super) fn point_to_point_above_best_effort(results: &Results, fabric: &Fabric) -> Finding {
    let series = results.series(fabric.series(Ib));
    // The load at which the first exceeds the second most clearly.
    let mut best: Option<(f64, Measured, Measured)> = None;
    for point in series.all_from(0.85) {
        let least = BEST_EFFORT.iter().filter_map(|class| point.latency(class));
        let least = least.min_by(|a, b| a.mean.total_cmp(&b.mean));
        let fixed = mean_latencies(point, &POINT_TO_POINT).and_then(|v| Measured::over(&v));
        let (Some(fixed), Some(least)) = (fixed, least) else {
            continue;
        };
        let lead = |fixed: Measured, least: Measured| {
            (fixed.is_above(1.0, least), fixed.ends().0 / least.ends().1)
        };
        let is_better = |&(_, f, l): &(f64, Measured, Measured)| lead(fixed, least) > lead(f, l);
        if best.as_ref().is_none_or(is_better) {
            best = Some((point.load, fixed, least));
        }
    }
    let Some((load, fixed, least)) = best else {
        return missing(fabric, Ib, 0.85);
    };
    if fixed.half_width.is_none() {
        return Finding::not_run(TOO_FEW);
    }
    let words = format!(
        "{} against {} at {load} on the {}",
        fixed.words(0, "ns"),
        least.words(0, "ns"),
        fabric.name
    );
    Finding::checked(fixed.is_above(1.0, least), words)
        .number("load", load)
        .number("point_to_point_ns", fixed.mean)
        .number("best_effort_ns", least.mean)
}

/// C000-9: connections over all loads from 0.85, lower in OPA.
pub(super) fn point_to_point_is_lower(results: &Results, fabric: &Fabric) -> Finding {
    let of = |switch| {
        let series = results.series(fabric.series(switch));
        let points = series.all_from(0.85);
        let each: Option<Vec<Vec<f64>>> = points
            .iter()
            .map(|point| mean_latencies(point, &POINT_TO_POINT))
            .collect();
        let each = each.filter(|each| !each.is_empty());
        let each = each.ok_or_else(|| missing(fabric, switch, 0.85))?;
        let mean = |seed: usize| each.iter().map(|v| v[seed]).sum::<f64>() / each.len() as f64;
        Ok::<_, Finding>((0..each[0].len()).map(mean).collect())
    };
    let both = || {
        Ok::<_, Finding>(Both {
            ib: of(Ib)?,
            opa: of(Opa)?,
        })
    };
    match both() {
        Ok(both) => both.lower(fabric),
        Err(missing) => missing,
    }
}

/// C000-10.
pub(super) fn sharp_rise(results: &Results, fabric: &Fabric) -> Finding {
    let of = |load| point(results, fabric, Ib, load);
    let (Some(middle), Some(high)) = (of(MIDDLE), of(HIGH)) else {
        return missing(fabric, Ib, HIGH);
    };
    let mut shown = Shown::Yes;
    let mut numbers = vec![];
    let mut words = vec![];
    for class in ["VO", "VI"] {
        let (Some(before), Some(after)) = (middle.latency(class), high.latency(class)) else {
            return missing(fabric, Ib, HIGH);
        };
        if after.half_width.is_none() {
            return Finding::not_run(TOO_FEW);
        }
        shown = shown & after.is_above(2.0, before);
        words.push(format!(
            "{class} {:.0} to {:.0} ns",
            before.mean, after.mean
        ));
        let class = class.to_lowercase();
        numbers.push((format!("{class}_at_0.70_ns"), before.mean));
        numbers.push((format!("{class}_at_0.95_ns"), after.mean));
    }
    let words = format!("{} on the {}", words.join(", "), fabric.name);
    Finding {
        numbers,
        ..Finding::checked(shown, words)
    }
}

/// C000-11: the order of best effort at the last load.
pub(super) fn best_effort_order(results: &Results, fabric: &Fabric) -> Finding {
    let Some(point) = point(results, fabric, Ib, LAST) else {
        return missing(fabric, Ib, LAST);
    };
    let (Some(ee), Some(be), Some(bk)) = (
        point.latency("EE"),
        point.latency("BE"),
        point.latency("BK"),
    ) else {
        return missing(fabric, Ib, LAST);
    };
    if bk.half_width.is_none() {
        return Finding::not_run(TOO_FEW);
    }
    let holds = bk.is_above(1.0, be) & be.is_above(1.0, ee);
    let words = format!(
        "BK {}, BE {}, EE {} on the {}",
        bk.words(0, "ns"),
        be.words(0, "ns"),
        ee.words(0, "ns"),
        fabric.name
    );
    Finding::checked(holds, words)
        .number("bk_ns", bk.mean)
        .number("be_ns", be.mean)
        .number("ee_ns", ee.mean)
}

/// Returns the first load with BE above twice its minimum, if there is one.
fn first_rise(results: &Results, fabric: &Fabric, switch: Switch) -> Result<Option<f64>, Finding> {
    let series = results.series(fabric.series(switch));
    let latency = |point: &Point<'_>| Some((point.load, point.latency("BE")?.mean));
    let latencies: Option<Vec<(f64, f64)>> = series.all().iter().map(latency).collect();
    let latencies = latencies.filter(|all| !all.is_empty());
    let latencies = latencies.ok_or_else(|| missing(fabric, switch, FIRST))?;
    let least = latencies.iter().map(|&(_, ns)| ns).reduce(f64::min);
    let is_high = |&&(_, ns): &&(f64, f64)| least.is_some_and(|least| ns > 2.0 * least);
    Ok(latencies.iter().find(is_high).map(|&(load, _)| load))
}

/// C000-11: best effort rises earlier on InfiniBand.
pub(super) fn best_effort_rises_earlier(results: &Results, fabric: &Fabric) -> Finding {
    let both =
        first_rise(results, fabric, Ib).and_then(|ib| Ok((ib, first_rise(results, fabric, Opa)?)));
    let (ib, opa) = match both {
        Ok(both) => both,
        Err(missing) => return missing,
    };
    let words = |load: Option<f64>| load.map_or("never".to_owned(), |load| format!("from {load}"));
    // A load that is not reached counts as infinite.
    let above = |load: Option<f64>| load.unwrap_or(f64::INFINITY);
    let measured = format!(
        "IB {}, OPA {} on the {}",
        words(ib),
        words(opa),
        fabric.name
    );
    let mut finding = Finding::checked(above(ib) < above(opa), measured);
    for (name, load) in [("first_load_ib", ib), ("first_load_opa", opa)] {
        if let Some(load) = load {
            finding = finding.number(name, load);
        }
    }
    finding
}

/// The slots from one entry of a class to the next, in the table.
const DISTANCES: [(&str, f64); 7] = [
    ("NC", 2.0),
    ("VO", 4.0),
    ("VI", 8.0),
    ("CL", 16.0),
    ("EE", 32.0),
    ("BE", 64.0),
    ("BK", 64.0),
];

/// Returns ranks from 1; equal values share their mean rank.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|own| *own < value).count();
        let equal = values.iter().filter(|own| *own == value).count();
        below as f64 + (equal as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Returns Spearman's rank correlation; `None` if all values of one side are equal.
fn spearman(one: &[f64], other: &[f64]) -> Option<f64> {
    let (one, other) = (ranks(one), ranks(other));
    let mean = (one.len() as f64 + 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| -> f64 {
        let both = a.iter().zip(b);
        both.map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let width = (sum(&one, &one) * sum(&other, &other)).sqrt();
    (width > 0.0).then(|| sum(&one, &other) / width)
}

/// C000-14: in OPA latency follows the distance of slots.
pub(super) fn by_distance(results: &Results, fabric: &Fabric) -> Finding {
    let Some(point) = point(results, fabric, Opa, MIDDLE) else {
        return missing(fabric, Opa, MIDDLE);
    };
    let latency = |(class, _): &(&str, f64)| Some(point.latency(class)?.mean);
    let latencies: Option<Vec<f64>> = DISTANCES.iter().map(latency).collect();
    let distances = DISTANCES.map(|(_, distance)| distance);
    let Some(latencies) = latencies else {
        return missing(fabric, Opa, MIDDLE);
    };
    let Some(rho) = spearman(&latencies, &distances) else {
        return Finding::checked(false, "all equal");
    };
    let named = DISTANCES.iter().zip(&latencies);
    let words: Vec<String> = named
        .map(|((class, _), ns)| format!("{class} {ns:.0}"))
        .collect();
    let words = format!("{rho:.2}: {} ns on the {}", words.join(", "), fabric.name);
    Finding::checked(rho >= 0.8, words).number("spearman", rho)
}

/// Not in the paper: compares other internal links with both switches.
pub(super) fn internal_links(results: &Results, fabric: &Fabric, other: Switch) -> Finding {
    let both = match both_at_middle(results, fabric) {
        Ok(both) => both,
        Err(missing) => return missing,
    };
    let Some(slow) = nc(results, fabric, other, MIDDLE) else {
        return missing(fabric, other, MIDDLE);
    };
    let all = (
        Measured::over(&both.ib),
        Measured::over(&both.opa),
        Measured::over(&slow),
        differences(&slow, &both.opa),
    );
    let (Some(ib), Some(opa), Some(slow), Some(more)) = all else {
        return Finding::not_run("no seeds");
    };
    if more.half_width.is_none() {
        return Finding::not_run(TOO_FEW);
    }
    let words = format!(
        "IB {:.0}, OPA {:.0}, so built {:.0} ns on the {}",
        ib.mean, opa.mean, slow.mean, fabric.name
    );
    Finding::checked(more.exceeds(0.0), words)
        .number("ib_ns", ib.mean)
        .number("opa_ns", opa.mean)
        .number("so_built_ns", slow.mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_share_ties_and_correlate() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 21.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        // By hand: rank differences 1, 1, 0, so 1 - 6 x 2 / (3 x 8).
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[2.0, 1.0, 3.0]), Some(0.5));
        assert_eq!(spearman(&[1.0, 2.0], &[5.0, 5.0]), None);
    }
}

//! C002-12 and C002-13: victims next to an aggressor that sends in bursts (Figure 9).

use super::onset::VICTIM;
use super::scenarios::{BURSTS, S002_7, Scenario};
use super::series::told;
use super::switches::Switch::{self, Baseline, Full, Half};
use crate::order::{is_above, mean, ordered};
use crate::{Finding, Results, Shown};

/// Results for one message length, by seed.
pub(super) struct Point {
    pub(super) packets: f64,
    /// 90 % quantile of the latency of the victims' packets.
    pub(super) p90_ns: Vec<f64>,
    /// Load received by victims, as a fraction of their links.
    pub(super) accepted: Vec<f64>,
}

/// Returns the results of a switch for all message lengths, ascending.
pub(super) fn curve(
    results: &Results,
    scenario: &Scenario,
    switch: Switch,
) -> Result<Vec<Point>, String> {
    let name = scenario.series(switch);
    let series = results.series(name);
    let point = |point: &crate::Point<'_>| {
        let own = |load: f64| scenario.machine.of(scenario.victims, load);
        Some(Point {
            packets: point.load,
            p90_ns: point.values(VICTIM, |own| own.latency_p90_ns)?,
            accepted: point.values(VICTIM, |summary| Some(own(summary.delivered_load)))?,
        })
    };
    let points: Option<Vec<Point>> = series.all().iter().map(point).collect();
    points
        .filter(|points| !points.is_empty())
        .ok_or_else(|| format!("no results of {name}"))
}

const SWITCHES: [Switch; 3] = [Baseline, Full, Half];

/// C002-12: victims receive their full load.
pub(super) fn victims_keep_their_load(results: &Results) -> Finding {
    let judge = || {
        let mut worst = (Baseline, 0.0, 0.4);
        for switch in SWITCHES {
            for point in curve(results, &S002_7, switch)? {
                let accepted = mean(&point.accepted);
                if (accepted - 0.4).abs() > f64::abs(worst.2 - 0.4) {
                    worst = (switch, point.packets, accepted);
                }
            }
        }
        let (switch, packets, accepted) = worst;
        let words = format!(
            "{accepted:.3} at worst: {}, messages of {packets} packets",
            switch.word()
        );
        let holds = (accepted - 0.4).abs() <= 0.01 + 1e-9;
        Ok(Finding::checked(holds, words).number("accepted", accepted))
    };
    told(judge())
}

/// Returns the latencies at all message lengths, in microseconds.
fn words(points: &[Point]) -> String {
    let each = points
        .iter()
        .map(|point| format!("{:.2}", mean(&point.p90_ns) / 1000.0));
    each.collect::<Vec<_>>().join(" ")
}

/// C002-13: a stash is better at every length.
pub(super) fn stash_is_better(results: &Results, switch: Switch) -> Finding {
    let scenario = Scenario::either(results, BURSTS);
    let judge = || {
        let baseline = curve(results, scenario, Baseline)?;
        let own = curve(results, scenario, switch)?;
        let both = || baseline.iter().zip(&own);
        let is_same = both().all(|(a, b)| a.packets == b.packets);
        if !is_same || baseline.len() != own.len() {
            return Err("not the same lengths of messages".to_owned());
        }
        let is_better = |(a, b): (&Point, &Point)| is_above(&a.p90_ns, 1.0, &b.p90_ns);
        let lengths = baseline.iter().map(|point| format!("{}", point.packets));
        let words = format!(
            "{} against {} us for {} packets on {}",
            words(&own),
            words(&baseline),
            lengths.collect::<Vec<_>>().join(" "),
            scenario.machine.network
        );
        let n_seeds = baseline[0].p90_ns.len();
        let holds = Shown::all(both().map(is_better));
        let mut finding = ordered(n_seeds, holds, words);
        for (a, b) in both() {
            let ratio = mean(&b.p90_ns) / mean(&a.p90_ns);
            finding = finding.number(format!("ratio {}", a.packets), ratio);
        }
        Ok(finding)
    };
    told(judge())
}

/// C002-13: ECN is worst for messages of medium length.
pub(super) fn baseline_has_a_peak(results: &Results) -> Finding {
    let judge = || {
        let points = curve(results, &S002_7, Baseline)?;
        let p90 = |point: &&Point| mean(&point.p90_ns);
        let worst = points.iter().max_by(|a, b| p90(a).total_cmp(&p90(b)));
        let worst = worst.ok_or("no lengths")?;
        let words = format!("at {} packets: {} us", worst.packets, words(&points));
        let holds = [128.0, 256.0, 512.0].contains(&worst.packets);
        Ok(Finding::checked(holds, words).number("packets", worst.packets))
    };
    told(judge())
}

/// C002-13: with a stash, the length hardly matters.
pub(super) fn stash_varies_less(results: &Results, switch: Switch) -> Finding {
    let scenario = Scenario::either(results, BURSTS);
    let judge = || {
        let range = |switch| {
            let points = curve(results, scenario, switch)?;
            let p90 = || points.iter().map(|point| mean(&point.p90_ns));
            let range = p90().fold(0.0, f64::max) - p90().fold(f64::INFINITY, f64::min);
            Ok::<_, String>((range, points[0].p90_ns.len()))
        };
        let ((own, n_seeds), (baseline, _)) = (range(switch)?, range(Baseline)?);
        let words = format!(
            "{:.2} us against {:.2} us on {}",
            own / 1000.0,
            baseline / 1000.0,
            scenario.machine.network
        );
        let holds = own < baseline / 3.0;
        Ok(ordered(n_seeds, holds, words)
            .number("range_us", own / 1000.0)
            .number("baseline_range_us", baseline / 1000.0))
    };
    told(judge())
}

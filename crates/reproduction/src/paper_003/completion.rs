//! Execution time and flow completion times of the application (Figures 20 and 21, Tables 9 and
//! 10).

use super::search::{APPLICATION, TABLES, VARIANTS, Variant};
use crate::order::{TOO_FEW, descends, is_at_least, mean, ordered};
use crate::{Finding, Outcome, Results, Shown};

/// The table of all latencies.
pub(super) const HISTOGRAMS: &str = "histograms";

/// A metric of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Metric {
    /// From the start to the application's last delivery.
    Execution,
    /// Quantiles of flow completion time.
    Median,
    P75,
    P90,
    P99,
    /// The share of flows that complete in less than 1 ms.
    BelowMillisecond,
}

/// Returns the latencies of the application's messages: lower end, upper end, count.
fn buckets(outcome: &Outcome) -> Option<Vec<(f64, f64, f64)>> {
    let table = outcome.table(HISTOGRAMS)?;
    let column = |name: &str| table.column(name);
    let (class, latency) = (column("class")?, column("latency")?);
    let (from, to, count) = (column("from_ns")?, column("to_ns")?, column("count")?);
    let own = |&line: &usize| {
        class.text(line) == Some(APPLICATION) && latency.text(line) == Some("message")
    };
    let bucket = |line| Some((from.number(line)?, to.number(line)?, count.number(line)?));
    (0..table.len()).filter(own).map(bucket).collect()
}

/// Returns the share below a latency; a bucket counts as its middle.
fn share_below(buckets: &[(f64, f64, f64)], nanos: f64) -> Option<f64> {
    let n: f64 = buckets.iter().map(|bucket| bucket.2).sum();
    let is_below = |bucket: &&(f64, f64, f64)| (bucket.0 + bucket.1) / 2.0 < nanos;
    let below: f64 = buckets.iter().filter(is_below).map(|bucket| bucket.2).sum();
    (n > 0.0).then(|| below / n)
}

/// Returns the summary of the application, if all its messages arrived.
fn application(outcome: &Outcome) -> Option<&netloom_results::Summary> {
    let mut classes = outcome.result.classes.iter();
    let own = classes.find(|class| class.class == APPLICATION)?;
    let is_done = own.summary.delivered_messages == own.summary.offered_messages;
    is_done.then_some(&own.summary)
}

pub(super) fn value(outcome: &Outcome, metric: Metric) -> Option<f64> {
    let summary = application(outcome)?;
    match metric {
        Metric::Execution => summary.last_delivery_ns,
        Metric::Median => summary.latency_p50_ns,
        Metric::P75 => summary.latency_p75_ns,
        Metric::P90 => summary.latency_p90_ns,
        Metric::P99 => summary.latency_p99_ns,
        Metric::BelowMillisecond => share_below(&buckets(outcome)?, 1e6),
    }
}

/// Returns one value per seed of a variant.
pub(super) fn values(results: &Results, variant: &Variant, metric: Metric) -> Option<Vec<f64>> {
    let outcomes = variant.outcomes(results)?;
    outcomes.into_iter().map(|own| value(own, metric)).collect()
}

/// Returns the values of all variants, or the finding that explains why some are missing.
fn all(results: &Results, metric: Metric) -> Result<Vec<Vec<f64>>, Finding> {
    let of = |variant: &Variant| {
        let found = values(results, variant, metric);
        found.ok_or_else(|| match variant.outcomes(results) {
            None => Finding::not_run(format!("no result of {}", variant.series)),
            Some(_) => Finding::not_run(format!(
                "{}: the application was not done at the end of a run",
                variant.series
            )),
        })
    };
    VARIANTS.iter().map(of).collect()
}

/// Formats the values: round robin, then basic / deficits of each table, in milliseconds or
/// microseconds.
fn words(all: &[Vec<f64>]) -> String {
    let time = |values: &[f64]| match mean(values) {
        ns if ns >= 1e6 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} us", ns / 1e3),
    };
    let mut words = vec![format!("RR {}", time(&all[0]))];
    for (name, basic, deficits) in TABLES {
        words.push(format!(
            "{name} {} / {}",
            time(&all[basic]),
            time(&all[deficits])
        ));
    }
    words.join("; ")
}

fn with_numbers(mut finding: Finding, all: &[Vec<f64>], unit: &str) -> Finding {
    for (variant, values) in VARIANTS.iter().zip(all) {
        let name = variant.series.split_once(' ').map_or("", |(_, name)| name);
        let name = name.to_lowercase().replace(' ', "_");
        finding = finding.number(format!("{name}{unit}"), mean(values));
    }
    finding
}

/// Checks the order: round robin above fair above step above 2powers, without and with deficits,
/// and deficits at most basic.
fn is_in_order(all: &[Vec<f64>]) -> Shown {
    let chain = |of: fn(&(&str, usize, usize)) -> usize| {
        let mut chain = vec![all[0].as_slice()];
        chain.extend(TABLES.iter().map(|table| all[of(table)].as_slice()));
        descends(&chain)
    };
    let never_worse = TABLES
        .iter()
        .map(|&(_, basic, deficits)| is_at_least(&all[basic], &all[deficits]));
    chain(|table| table.1) & chain(|table| table.2) & Shown::all(never_worse)
}

/// Returns the reduction relative to round robin in percent, mean over seeds.
fn gain(all: &[Vec<f64>], variant: usize) -> f64 {
    let gains: Vec<f64> = all[0]
        .iter()
        .zip(&all[variant])
        .map(|(rr, own)| 100.0 * (1.0 - own / rr))
        .collect();
    mean(&gains)
}

/// C003-9 to C003-13, the order of a metric.
pub(super) fn order(results: &Results, metric: Metric) -> Finding {
    match all(results, metric) {
        Ok(all) => {
            let finding = ordered(all[0].len(), is_in_order(&all), words(&all));
            with_numbers(finding, &all, "_ns")
        }
        Err(finding) => finding,
    }
}

/// Checks that the gain of some variants over round robin is within a band, in percent.
fn gains(results: &Results, metric: Metric, variants: &[usize], least: f64, most: f64) -> Finding {
    match all(results, metric) {
        Ok(all) => {
            let gains: Vec<f64> = variants.iter().map(|&own| gain(&all, own)).collect();
            let holds = gains.iter().all(|gain| (least..=most).contains(gain));
            let each: Vec<String> = gains.iter().map(|gain| format!("{gain:.1}")).collect();
            let mut finding = Finding::checked(holds, format!("{} %", each.join(", ")));
            for (&variant, gain) in variants.iter().zip(gains) {
                let name = VARIANTS[variant].series.replace("S003-4 ", "");
                finding = finding.number(format!("{}_gain_percent", name.replace(' ', "_")), gain);
            }
            finding
        }
        Err(finding) => finding,
    }
}

const TABLE_VARIANTS: [usize; 6] = [1, 2, 3, 4, 5, 6];

/// C003-9, the gain of 2powers with deficits.
pub(super) fn execution_gain(results: &Results) -> Finding {
    gains(results, Metric::Execution, &[6], 25.0, 50.0)
}

/// C003-10, the gain of every table.
pub(super) fn median_gain(results: &Results) -> Finding {
    let above_80 = 80.0f64.next_up();
    gains(results, Metric::Median, &TABLE_VARIANTS, above_80, 100.0)
}

/// C003-13, the gain of every table.
pub(super) fn tail_gain(results: &Results) -> Finding {
    gains(results, Metric::P99, &TABLE_VARIANTS, 15.0, 50.0)
}

/// C003-14.
pub(super) fn below_a_millisecond(results: &Results) -> Finding {
    match all(results, Metric::BelowMillisecond) {
        Ok(all) => {
            let percent: Vec<f64> = all.iter().map(|values| 100.0 * mean(values)).collect();
            let holds =
                (35.0..=60.0).contains(&percent[0]) && percent[1..].iter().all(|&own| own >= 75.0);
            let each: Vec<String> = percent[1..].iter().map(|own| format!("{own:.1}")).collect();
            let words = format!("RR {:.1} %; QoS {} %", percent[0], each.join(", "));
            with_numbers(Finding::checked(holds, words), &all, "_share")
        }
        Err(finding) => finding,
    }
}

/// C003-15: the reduction by deficits relative to basic in percent, for every metric and table.
pub(super) fn deficits_over_basic(results: &Results) -> Finding {
    let metrics = [
        ("exec", Metric::Execution),
        ("p50", Metric::Median),
        ("p75", Metric::P75),
        ("p90", Metric::P90),
        ("p99", Metric::P99),
    ];
    let mut numbers = vec![];
    let mut words = vec![];
    for (name, metric) in metrics {
        let all = match all(results, metric) {
            Ok(all) => all,
            Err(finding) => return finding,
        };
        if all[0].len() < 2 {
            return Finding::not_run(TOO_FEW);
        }
        let gain = |&(table, basic, deficits): &(&str, usize, usize)| {
            let gain = 100.0 * (1.0 - mean(&all[deficits]) / mean(&all[basic]));
            (format!("{name}_{table}_gain_percent"), gain)
        };
        let gains: Vec<(String, f64)> = TABLES.iter().map(gain).collect();
        let each: Vec<String> = gains.iter().map(|(_, gain)| format!("{gain:.1}")).collect();
        words.push(format!("{name} {}", each.join("/")));
        numbers.extend(gains);
    }
    let holds = numbers.iter().all(|&(_, gain)| gain > 0.0);
    let finding = Finding::checked(holds, format!("{} %", words.join("; ")));
    let add = |finding: Finding, (name, gain)| finding.number(name, gain);
    numbers.into_iter().fold(finding, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_buckets() {
        let buckets = [(0.0, 2.0, 50.0), (2.0, 4.0, 25.0), (4.0, 8.0, 25.0)];
        assert_eq!(share_below(&buckets, 3.5), Some(0.75));
        assert_eq!(share_below(&buckets, 0.5), Some(0.0));
        assert_eq!(share_below(&[], 0.5), None);
    }
}

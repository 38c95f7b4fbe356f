//! Efficiency over time (Figures 1 and 22): the delivered load of the application, and its dips
//! during bursts.
//!
//! The depth of the dips of a run is the difference between the load that the application generates
//! and the smallest load delivered over a tenth of a burst period. It is measured while the
//! application generates load, after the first period, in which the fabric fills.

use super::search::{APPLICATION, TABLES, VARIANTS, Variant};
use crate::order::{descends, mean, ordered};
use crate::{Finding, Outcome, Results};

/// The table of epochs.
pub(super) const SERIES: &str = "series";

/// The loads of an epoch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Epoch {
    pub(super) end_ns: f64,
    pub(super) offered: f64,
    pub(super) delivered: f64,
}

/// Returns the epochs of a class.
pub(super) fn epochs(outcome: &Outcome, name: &str) -> Option<Vec<Epoch>> {
    let table = outcome.table(SERIES)?;
    let (class, time) = (table.column("class")?, table.column("time_ns")?);
    let (offered, delivered) = (
        table.column("offered_load")?,
        table.column("delivered_load")?,
    );
    let epoch = |line| {
        Some(Epoch {
            end_ns: time.number(line)?,
            offered: offered.number(line)?,
            delivered: delivered.number(line)?,
        })
    };
    let own = (0..table.len()).filter(|&line| class.text(line) == Some(name));
    own.map(epoch).collect()
}

/// The deepest dip: its depth as a fraction of the generated load, and its start.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Dip {
    depth: f64,
    /// Time since the previous burst, as a fraction of the period.
    after: f64,
}

fn deepest(epochs: &[Epoch], period_ns: f64) -> Option<Dip> {
    let epoch = epochs.first()?.end_ns;
    let generating = epochs.iter().rposition(|own| own.offered > 0.0)? + 1;
    let offered = epochs[..generating]
        .iter()
        .map(|own| own.offered)
        .sum::<f64>()
        / generating as f64;
    let width = ((period_ns / 10.0 / epoch).round() as usize).max(1);
    let first = (period_ns / epoch).round() as usize;
    let whole = epochs.get(first..generating)?;
    let dip = |(at, window): (usize, &[Epoch])| {
        let delivered = window.iter().map(|own| own.delivered).sum::<f64>() / width as f64;
        let begin = (first + at) as f64 * epoch;
        Dip {
            depth: 1.0 - delivered / offered,
            after: begin / period_ns % 1.0,
        }
    };
    let dips = whole.windows(width).enumerate().map(dip);
    dips.max_by(|a, b| a.depth.total_cmp(&b.depth))
}

/// Returns the period of bursts in a run, from the class that sends them.
fn period(outcome: &Outcome) -> Option<f64> {
    let epochs = epochs(outcome, "burst")?;
    let begins: Vec<f64> = epochs
        .iter()
        .filter(|own| own.offered > 0.0)
        .map(|own| own.end_ns)
        .collect();
    match begins[..] {
        [first, .., last] => Some((last - first) / (begins.len() - 1) as f64),
        _ => None,
    }
}

fn dips(results: &Results, variant: &Variant) -> Option<Vec<Dip>> {
    let outcomes = variant.outcomes(results)?;
    let dip = |outcome: &Outcome| deepest(&epochs(outcome, APPLICATION)?, period(outcome)?);
    outcomes.into_iter().map(dip).collect()
}

/// C003-17.
pub(super) fn dips_shrink(results: &Results) -> Finding {
    let mut depths: Vec<Vec<f64>> = vec![];
    let mut after: Vec<f64> = vec![];
    for variant in VARIANTS {
        let Some(dips) = dips(results, variant) else {
            return Finding::not_run(format!("no dips of {}", variant.series));
        };
        depths.push(dips.iter().map(|dip| dip.depth).collect());
        after.push(mean(&dips.iter().map(|dip| dip.after).collect::<Vec<_>>()));
    }
    let chain = |of: fn(&(&str, usize, usize)) -> usize| {
        let mut chain = vec![depths[0].as_slice()];
        chain.extend(TABLES.iter().map(|table| depths[of(table)].as_slice()));
        descends(&chain)
    };
    let holds = chain(|table| table.1) & chain(|table| table.2);
    let mut words = vec![format!("RR {:.0}", 100.0 * mean(&depths[0]))];
    for (name, basic, deficits) in TABLES {
        let [basic, deficits] = [basic, deficits].map(|own| 100.0 * mean(&depths[own]));
        words.push(format!("{name} {basic:.0} / {deficits:.0}"));
    }
    let mut finding = ordered(depths[0].len(), holds, format!("{} %", words.join("; ")));
    for (n, variant) in VARIANTS.iter().enumerate() {
        let name = variant.series.split_once(' ').map_or("", |(_, name)| name);
        let name = name.to_lowercase().replace(' ', "_");
        finding = finding
            .number(format!("{name}_depth"), mean(&depths[n]))
            .number(format!("{name}_after_burst_periods"), after[n]);
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_dip_after_the_first_period() {
        // Bursts every 100 ns, epochs of 10 ns; the application generates for 300 ns.
        let epochs: Vec<Epoch> = (0..40)
            .map(|n| Epoch {
                end_ns: f64::from(n + 1) * 10.0,
                offered: if n < 30 { 0.6 } else { 0.0 },
                delivered: match n {
                    0..10 => 0.1,
                    12 => 0.3,
                    22 => 0.45,
                    _ => 0.6,
                },
            })
            .collect();
        let dip = deepest(&epochs, 100.0).unwrap();
        assert!((dip.depth - 0.5).abs() < 1e-12, "{dip:?}");
        assert!((dip.after - 0.2).abs() < 1e-12, "{dip:?}");
        assert!(deepest(&epochs[..5], 100.0).is_none());
    }
}

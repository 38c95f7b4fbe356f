//! Dips of the delivered load of a class during the bursts of another class.
//!
//! The depth of a dip is the difference between the load that the class generates and the smallest
//! load delivered over a tenth of a burst period, as a fraction of the generated load. It is
//! measured while the class generates load, after the first period, in which the fabric fills.

use super::{Call, Quantity};
use crate::Outcome;
use crate::claims::value::{Missing, Value};

const PARAMETERS: &[&str] = &["series", "class", "bursts"];

/// `dip_depth(series, class, bursts)`: the depth of the deepest dip.
pub(super) const DEPTH: Quantity = Quantity {
    name: "dip_depth",
    parameters: PARAMETERS,
    by_seed: true,
    of: |call| Ok(Value::Number(dip(call)?.depth)),
};

/// `dip_after(series, class, bursts)`: the time of that dip since the previous burst, as a fraction
/// of the period.
pub(super) const AFTER: Quantity = Quantity {
    name: "dip_after",
    parameters: PARAMETERS,
    by_seed: true,
    of: |call| Ok(Value::Number(dip(call)?.after)),
};

/// The loads of an epoch.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Epoch {
    end_ns: f64,
    offered: f64,
    delivered: f64,
}

/// A dip.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Dip {
    depth: f64,
    after: f64,
}

fn dip(call: &Call<'_, '_>) -> Result<Dip, Missing> {
    let (series, class, bursts) = (call.text(0)?, call.text(1)?, call.text(2)?);
    let outcome = call.run(series, None)?;
    let of = || deepest(&epochs(outcome, class)?, period(&epochs(outcome, bursts)?)?);
    of().ok_or_else(|| Missing::because(format!("no dips of {series}")))
}

/// Returns the epochs of a class.
fn epochs(outcome: &Outcome, name: &str) -> Option<Vec<Epoch>> {
    let table = outcome.table("series")?;
    let (class, time) = (table.column("class")?, table.column("time_ns")?);
    let offered = table.column("offered_load")?;
    let delivered = table.column("delivered_load")?;
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

/// Returns the period of bursts, from the epochs of the class that sends them.
fn period(epochs: &[Epoch]) -> Option<f64> {
    let begins = epochs.iter().filter(|own| own.offered > 0.0);
    let begins: Vec<f64> = begins.map(|own| own.end_ns).collect();
    match begins[..] {
        [first, .., last] => Some((last - first) / (begins.len() - 1) as f64),
        _ => None,
    }
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

//! C000-13: the shares of demand that classes receive.

use netloom_results::LinksSummary;

use super::latency::{QOS, missing, point};
use super::scenarios::{Fabric, LAST, Switch};
use crate::{Finding, Measured, Point, Results, Series, Verdict};

/// Checks the smallest share of each class with a guarantee, over all loads.
pub(super) fn keeps_demand(results: &Results, fabric: &Fabric, switch: Switch) -> Finding {
    let series = results.series(fabric.series(switch));
    let mut words = vec![];
    let mut finding = Finding::checked(true, "");
    for class in QOS {
        let share = |point: &Point<'_>| Some((point.load, point.share(class)?.mean));
        let shares = series.all().iter().filter_map(share);
        let Some((load, share)) = shares.min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return missing(fabric, switch, LAST);
        };
        if share < 0.95 {
            finding.verdict = Verdict::Misses;
        }
        words.push(format!("{class} {:.1}", 100.0 * share));
        let class = class.to_lowercase();
        finding = finding
            .number(format!("{class}_least_share"), share)
            .number(format!("{class}_least_share_at_load"), load);
    }
    finding.measured = format!("{} %", words.join(", "));
    where_packets_wait(&series, finding)
}

/// Adds where packets wait at the last load. Tables apply at outputs only; packets at inputs are
/// served round robin.
fn where_packets_wait(series: &Series<'_>, mut finding: Finding) -> Finding {
    let Some(point) = series.at(LAST) else {
        return finding;
    };
    type Of = fn(&LinksSummary) -> Option<f64>;
    let places: [(&str, Of); 3] = [
        ("input_buffer_mean_flits", |l| {
            Some(l.input_buffer_mean_flits)
        }),
        ("output_buffer_mean_flits", |l| {
            Some(l.output_buffer_mean_flits)
        }),
        ("packets_chosen_by_tables", |l| l.choice_share),
    ];
    for (name, of) in places {
        let values: Option<Vec<f64>> = point.runs.iter().map(|run| of(&run.links)).collect();
        if let Some(mean) = values.and_then(|values| Measured::over(&values)) {
            finding = finding.number(format!("{name}_at_{LAST}"), mean.mean);
        }
    }
    finding
}

/// Checks that the class of lowest priority receives less than its demand at the last load.
pub(super) fn background_is_cut(results: &Results, fabric: &Fabric, switch: Switch) -> Finding {
    let found = point(results, fabric, switch, LAST);
    let Some(share) = found.and_then(|point| point.share("BK")) else {
        return missing(fabric, switch, LAST);
    };
    let words = format!("{:.1} % of demand", 100.0 * share.mean);
    Finding::checked(share.stays_below(1.0), words).number("bk_share", share.mean)
}

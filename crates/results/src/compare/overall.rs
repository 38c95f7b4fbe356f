//! The summary of a comparison of many points.

use netloom_metrics::holm;
use netloom_text::number::signed_percent;
use serde::Serialize;

use super::difference::Difference;
use super::lines::Line;
use super::points::{Pairing, Runs, label, saturations};
use super::text::value;
use crate::Setting;
use crate::view::Saturation;

/// Upper bound of the error rate of all differences together.
const LEVEL: f64 = 0.05;

/// The summary of a comparison.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Overall {
    /// Number of common points.
    pub points: usize,
    /// Number of differences with an interval.
    pub comparisons: usize,
    /// Number of intervals without zero.
    pub beyond_interval: usize,
    /// The correction for many comparisons.
    pub correction: &'static str,
    pub level: f64,
    pub beyond_correction: usize,
    pub saturation: Vec<SaturationChange>,
    /// The summary as text.
    pub sentences: Vec<String>,
}

/// The saturation of a series in A and in B.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SaturationChange {
    /// The values of the series on the other axes.
    pub series: String,
    pub axis: String,
    pub a: Saturation,
    pub b: Saturation,
    pub change: &'static str,
}

/// A line with its difference.
struct Tested<'a> {
    line: &'a Line,
    difference: &'a Difference,
    /// Whether the difference remains after the correction.
    is_real: bool,
}

impl Tested<'_> {
    /// Returns whether the interval lies above zero (1), below (-1), or neither (0).
    fn side(&self) -> i8 {
        self.difference.side()
    }

    fn change(&self) -> String {
        match self.difference.relative(self.difference.mean) {
            Some(part) => signed_percent(part),
            None => value(self.line.metric, self.difference.mean),
        }
    }
}

/// Summarizes all lines.
pub(super) fn overall(
    a: &Runs<'_>,
    b: &Runs<'_>,
    pairing: &Pairing,
    lines: &[Line],
    differences: &[Option<Difference>],
) -> Overall {
    let with_interval = lines
        .iter()
        .zip(differences)
        .filter_map(|(line, difference)| {
            let difference = difference.as_ref()?;
            Some((line, difference, difference.by_chance()?))
        });
    let with_interval: Vec<_> = with_interval.collect();
    let by_chance: Vec<f64> = with_interval.iter().map(|(_, _, chance)| *chance).collect();
    let tested: Vec<Tested<'_>> = with_interval
        .into_iter()
        .zip(holm(&by_chance, LEVEL))
        .map(|((line, difference, _), is_real)| Tested {
            line,
            difference,
            is_real,
        })
        .collect();
    let beyond = |tested: &&Tested<'_>| tested.side() != 0;
    let saturation = moved(a, b, &pairing.axes);
    let mut overall = Overall {
        points: pairing.pairs.len(),
        comparisons: tested.len(),
        beyond_interval: tested.iter().filter(beyond).count(),
        correction: "Holm",
        level: LEVEL,
        beyond_correction: tested.iter().filter(|tested| tested.is_real).count(),
        saturation,
        sentences: vec![],
    };
    overall.sentences = overall.sentences(pairing, lines, &tested);
    overall
}

impl Overall {
    fn sentences(&self, pairing: &Pairing, lines: &[Line], tested: &[Tested<'_>]) -> Vec<String> {
        let mut sentences = vec![];
        let more = match (self.beyond_interval, self.beyond_correction) {
            (1.., 0) => "; more seeds may show more",
            _ => "",
        };
        sentences.push(match self.comparisons {
            0 => "one common seed per point: differences may be due to chance".to_owned(),
            n => format!(
                "{} of {n} differences are significant (95 % intervals); {} remain significant \
                 together (Holm's correction){more}",
                self.beyond_interval, self.beyond_correction
            ),
        });
        sentences.extend(self.by_metric(lines, tested));
        sentences.extend(largest(pairing, tested));
        sentences.extend(self.saturation.iter().map(SaturationChange::sentence));
        sentences
    }

    /// Returns the number of points where a class is better or worse, for each metric with a
    /// significant difference.
    fn by_metric(&self, lines: &[Line], tested: &[Tested<'_>]) -> Vec<String> {
        let first = lines.iter().filter(|line| line.point == 0);
        first
            .filter_map(|about| {
                let own = tested.iter().filter(|tested| {
                    tested.line.metric == about.metric && tested.line.class == about.class
                });
                let own: Vec<&Tested<'_>> = own.collect();
                let count = |side: i8, is_real: bool| {
                    let meant = |tested: &&&Tested<'_>| {
                        tested.side() == side && (tested.is_real || !is_real)
                    };
                    own.iter().filter(meant).count()
                };
                let sides = [(1, 0), (-1, 1)].into_iter().filter_map(|(side, word)| {
                    let (n, real) = (count(side, false), count(side, true));
                    let word = about.metric.words()[word];
                    (n > 0).then(|| format!("{word} at {n} ({real} by Holm)"))
                });
                let sides: Vec<String> = sides.collect();
                (!sides.is_empty()).then(|| {
                    format!(
                        "{} of {}: {} of {} common points",
                        about.metric,
                        about.scope(),
                        sides.join(", "),
                        self.points
                    )
                })
            })
            .collect()
    }
}

/// Returns the largest change of those that remain after the correction, or else of all significant
/// ones.
fn largest(pairing: &Pairing, tested: &[Tested<'_>]) -> Option<String> {
    let part = |tested: &Tested<'_>| {
        let part = tested.difference.relative(tested.difference.mean);
        part.map_or(f64::INFINITY, f64::abs)
    };
    let largest = |is_meant: &dyn Fn(&Tested<'_>) -> bool| {
        let meant = tested.iter().filter(|tested| is_meant(tested));
        meant.max_by(|a, b| part(a).total_cmp(&part(b)))
    };
    let real = largest(&|tested| tested.is_real && tested.side() != 0);
    let (largest, among) = match real {
        Some(real) => (real, "after Holm's correction"),
        None => (
            largest(&|tested| tested.side() != 0)?,
            "before Holm's correction",
        ),
    };
    Some(format!(
        "largest change {among}: {} of {} by {} at {}",
        largest.line.metric,
        largest.line.scope(),
        largest.change(),
        label(&pairing.pairs[largest.line.point].settings)
    ))
}

/// Returns how the saturation of each series moved along the load.
fn moved(a: &Runs<'_>, b: &Runs<'_>, axes: &[String]) -> Vec<SaturationChange> {
    let Some(axis) = axes.iter().find(|axis| a.study.is_load(axis)) else {
        return vec![];
    };
    let of_b = saturations(b, axes, axis);
    let both = |(settings, edge_a): (Vec<Setting>, Saturation)| {
        let (_, edge_b) = of_b.iter().find(|(own, _)| *own == settings)?;
        Some(SaturationChange {
            series: label(&settings),
            axis: axis.clone(),
            a: edge_a,
            b: *edge_b,
            change: change(edge_a, *edge_b),
        })
    };
    saturations(a, axes, axis)
        .into_iter()
        .filter_map(both)
        .collect()
}

/// Compares the saturation of B with that of A. Only ranges that do not overlap are later or
/// earlier.
fn change(a: Saturation, b: Saturation) -> &'static str {
    let is_beyond =
        |one: Saturation, other: Saturation| match (one.last_steady, other.first_saturated) {
            (Some(last), Some(first)) => last >= first,
            _ => false,
        };
    match () {
        () if a.first_saturated.is_none() && b.first_saturated.is_none() => "saturated in neither",
        () if a == b => "no change visible at these points",
        () if is_beyond(b, a) => "later in B",
        () if is_beyond(a, b) => "earlier in B",
        () => "the ranges overlap",
    }
}

impl SaturationChange {
    fn sentence(&self) -> String {
        let series = match self.series.as_str() {
            "" => String::new(),
            series => format!(" ({series})"),
        };
        format!(
            "saturation along {}{series}: A {}, B {}; {}",
            self.axis,
            range(self.a),
            range(self.b),
            self.change
        )
    }
}

fn range(edge: Saturation) -> String {
    match (edge.last_steady, edge.first_saturated) {
        (Some(last), Some(first)) => format!("between {last} and {first}"),
        (None, Some(first)) => format!("at {first} or below"),
        (Some(last), None) => format!("steady up to {last}"),
        (None, None) => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ranges_apart_are_a_move() {
        let edge = |last_steady, first_saturated| Saturation {
            last_steady,
            first_saturated,
        };
        let a = edge(Some(0.5), Some(0.6));
        for (b, words) in [
            (a, "no change visible at these points"),
            (edge(Some(0.6), Some(0.7)), "later in B"),
            (edge(Some(0.55), Some(0.7)), "the ranges overlap"),
            (edge(Some(0.6), None), "later in B"),
            (edge(Some(0.5), None), "the ranges overlap"),
            (edge(Some(0.4), Some(0.5)), "earlier in B"),
            (edge(None, Some(0.5)), "earlier in B"),
        ] {
            assert_eq!(change(a, b), words, "{b:?}");
        }
        let never = edge(Some(0.9), None);
        assert_eq!(change(never, edge(Some(0.5), None)), "saturated in neither");
    }
}

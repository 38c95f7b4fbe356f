//! Statistics over the seeds of every point.

use std::collections::HashMap;

use crate::{Column, Datum, Frame, FrameColumn, Kind, Verdict, half_width_of, over_seeds};

/// The columns of `results` that identify what a line covers, and are kept.
const SCOPE: &[&str] = &["scope", "class", "sl"];

/// Computes the table `points`, with a line for every point and scope, from the table `results` of
/// all runs.
///
/// A mean covers the seeds that have a value; its interval needs at least two. `keys` are the
/// columns of the point, which come first and are equal in all its lines.
pub fn points(results: &Frame, keys: &[String]) -> Frame {
    let column = |name: &str| results.column(name).expect("a column of results");
    let named = keys.iter().map(String::as_str).chain(SCOPE.iter().copied());
    let group_columns: Vec<&FrameColumn> = named.map(column).collect();
    let mut groups: Vec<Vec<usize>> = vec![];
    let mut found: HashMap<Vec<String>, usize> = HashMap::new();
    for line in 0..results.len() {
        let key = group_columns
            .iter()
            .map(|column| column.values.datum(line).to_string());
        let at = *found.entry(key.collect()).or_insert_with(|| {
            groups.push(vec![]);
            groups.len() - 1
        });
        groups[at].push(line);
    }
    let keys: Vec<FrameColumn> = group_columns[..keys.len()]
        .iter()
        .map(|column| column.without_lines())
        .collect();
    let mut frame = empty_points(&keys, results);
    for lines in &groups {
        let first = lines[0];
        let mut data: Vec<Datum> = group_columns
            .iter()
            .map(|column| column.values.datum(first))
            .collect();
        let verdict = column("verdict");
        let seeds = lines.iter().filter_map(|&line| verdict.text(line));
        let seeds: Vec<Verdict> = seeds.filter_map(Verdict::of_word).collect();
        let count = |is_it: &dyn Fn(Verdict) -> bool| {
            Datum::Whole(seeds.iter().filter(|seed| is_it(**seed)).count() as u64)
        };
        data.push(Datum::Whole(lines.len() as u64));
        data.push(Datum::Text(
            Verdict::of_seeds(seeds.iter().copied()).word().to_owned(),
        ));
        data.push(count(&|seed| seed == Verdict::Saturated));
        data.push(count(&|seed| !seed.is_result()));
        for metric in over_seeds() {
            let column = column(metric.name);
            let values: Vec<f64> = lines
                .iter()
                .filter_map(|&line| column.number(line))
                .collect();
            let interval = netloom_metrics::over_seeds(&values);
            let mean = match (&interval, values.as_slice()) {
                (Some(interval), _) => Datum::Number(interval.mean),
                (None, [only]) => Datum::Number(*only),
                (None, _) => Datum::Nothing,
            };
            data.push(mean);
            data.push(interval.map_or(Datum::Nothing, |interval| {
                Datum::Number(interval.half_width)
            }));
        }
        frame.push(data);
    }
    frame
}

/// Returns the table without lines, for points with these columns.
pub(crate) fn empty_points(keys: &[FrameColumn], results: &Frame) -> Frame {
    let like = |name: &str| {
        let column = results.column(name).expect("a column of results");
        column.without_lines()
    };
    let mut columns = keys.to_vec();
    columns.extend(SCOPE.iter().map(|name| like(name)));
    for (name, kind, meaning) in [
        ("seeds", Kind::Whole, "Number of runs in this line."),
        (
            "verdict",
            Kind::Text,
            "`unfinished` if a seed is; otherwise the median of the verdicts of the seeds, the \
             later of two in the order of `results`.",
        ),
        (
            "saturated_seeds",
            Kind::Whole,
            "Number of seeds that are `saturated`.",
        ),
        (
            "unsure_seeds",
            Kind::Whole,
            "Number of seeds that are `unfinished`, `too-short`, `not-stationary` or \
             `not-converged`.",
        ),
    ] {
        columns.push(FrameColumn::new(&Column::new(name, "", meaning), kind));
    }
    for metric in over_seeds().map(|column| column.name) {
        let mut mean = like(metric);
        let interval = FrameColumn {
            name: half_width_of(metric),
            meaning: format!("Half width of the 95 % interval of `{metric}` over seeds."),
            ..mean.clone()
        };
        mean.meaning = format!("Mean over seeds. {}", mean.meaning);
        columns.extend([mean, interval]);
    }
    Frame::from_columns(columns)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{Key, Status, Summary, Table};

    use super::*;

    #[test]
    fn two_seeds_by_hand() {
        let mut results = Frame::of::<Key>().with_columns::<Summary>();
        for (seed, scope, mean) in [(1, "total", 10.0), (1, "sl", 3.0), (2, "total", 12.0)] {
            let key = Key {
                seed,
                scope: scope.to_owned(),
                ..Key::default()
            };
            let summary = Summary {
                latency_mean_ns: Some(mean),
                verdict: [Verdict::Ok, Verdict::Saturated][usize::from(seed == 2)],
                ..Summary::default()
            };
            results.push(key.data().into_iter().chain(summary.data()));
        }
        let points = points(&results, &[]);
        assert_eq!(points.len(), 2);
        let number = |name: &str, line| points.column(name).unwrap().number(line);
        assert_eq!(
            (number("seeds", 0), number("seeds", 1)),
            (Some(2.0), Some(1.0))
        );
        assert_eq!(number("saturated_seeds", 0), Some(1.0));
        // One of two.
        let verdict = |line| points.column("verdict").unwrap().text(line);
        assert_eq!((verdict(0), verdict(1)), (Some("saturated"), Some("ok")));
        // Standard error 1, t for one degree of freedom 12.706.
        assert_eq!(number("latency_mean_ns", 0), Some(11.0));
        assert!((number("latency_mean_half_width_ns", 0).unwrap() - 12.706).abs() < 0.001);
        assert_eq!(number("latency_mean_ns", 1), Some(3.0));
        assert_eq!(number("latency_mean_half_width_ns", 1), None);
        assert_eq!(number("latency_p99_ns", 0), None);
    }

    proptest! {
        /// The verdicts of a merged point, total and classes, equal those in the document of its
        /// runs.
        #[test]
        fn verdicts_of_points_are_those_of_their_runs(
            seeds in (1usize..4).prop_flat_map(|n| {
                let verdict = prop::sample::select(&Verdict::ALL[..]);
                prop::collection::vec(prop::collection::vec(verdict, n), 1..6)
            }),
        ) {
            let mut results = Frame::of::<Key>().with_columns::<Summary>();
            let mut runs = vec![];
            for (classes, seed) in seeds.iter().zip(1u64..) {
                let run = Verdict::of_run(classes.iter().copied());
                runs.push(Status::from(run));
                let total = std::iter::once(("total", 0, run));
                let classes = classes.iter().enumerate().map(|(n, verdict)| ("class", n, *verdict));
                for (scope, n, verdict) in total.chain(classes) {
                    let key = Key {
                        seed,
                        scope: scope.to_owned(),
                        class: n.to_string(),
                        ..Key::default()
                    };
                    let summary = Summary { verdict, ..Summary::default() };
                    results.push(key.data().into_iter().chain(summary.data()));
                }
            }
            let points = points(&results, &[]);
            let word = |line| points.column("verdict").unwrap().text(line).and_then(Verdict::of_word);
            let whole = Status::of_seeds(runs.iter().copied());
            prop_assert_eq!(word(0), whole.verdict());
            for line in 1..points.len() {
                prop_assert!(word(line) <= word(0));
            }
            let unsure = points.column("unsure_seeds").unwrap().number(0);
            let n = runs.iter().filter(|run| !run.verdict().unwrap().is_result()).count();
            prop_assert_eq!(unsure, Some(n as f64));
        }
    }
}

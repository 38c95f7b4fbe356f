//! The slowdown of jobs against the variant of a study in which they run alone.

use std::collections::{BTreeSet, HashMap};

use crate::{Frame, Values};

/// The column of variants, and the variant in which jobs run alone.
const VARIANT: &str = "variant";
const ALONE: &str = "alone";

const COMPLETION: &str = "completion_time_ns";
const SLOWDOWN: &str = "slowdown";

/// Fills the column `slowdown` of the results of all runs: the completion time of a class divided
/// by its time in the variant `alone`, with the same seed and equal other settings. A setting with
/// one value in the whole variant does not distinguish its runs.
///
/// `keys` are the columns of the settings of a point. Nothing changes without such a variant.
pub fn fill_slowdowns(results: &mut [Frame], keys: &[String]) {
    let is_alone = |frame: &Frame, line: usize| {
        let variant = frame.column(VARIANT);
        variant.and_then(|column| column.text(line)) == Some(ALONE)
    };
    let varies = |key: &&String| {
        let values = results.iter().flat_map(|frame| {
            let lines = (0..frame.len()).filter(|line| is_alone(frame, *line));
            let value = |line| Some(frame.column(key)?.values.datum(line).to_string());
            lines.filter_map(value)
        });
        **key != VARIANT && values.collect::<BTreeSet<String>>().len() > 1
    };
    let keys: Vec<&String> = keys.iter().filter(varies).collect();
    let time = |frame: &Frame, line| frame.column(COMPLETION)?.number(line);
    let mut alone: HashMap<Vec<String>, f64> = HashMap::new();
    for frame in &*results {
        for (line, key) in jobs(frame, &keys) {
            if let Some(time) = time(frame, line).filter(|time| *time > 0.0)
                && is_alone(frame, line)
            {
                alone.insert(key, time);
            }
        }
    }
    for frame in results {
        let slowdown =
            |(line, key): (usize, Vec<String>)| Some((line, time(frame, line)? / alone.get(&key)?));
        let found: Vec<(usize, f64)> = jobs(frame, &keys).filter_map(slowdown).collect();
        let mut columns = frame.columns.iter_mut();
        let column = columns.find(|column| column.name == SLOWDOWN);
        if let Some(Values::Number(values)) = column.map(|column| &mut column.values) {
            for (line, slowdown) in found {
                values.set(line, slowdown);
            }
        }
    }
}

/// Returns the lines of classes, each with its class, its seed and these settings.
fn jobs(frame: &Frame, keys: &[&String]) -> impl Iterator<Item = (usize, Vec<String>)> {
    let is_class = |line: &usize| {
        let scope = frame.column("scope").and_then(|column| column.text(*line));
        scope == Some("class")
    };
    let names = ["class", "seed"].into_iter();
    let names = names.chain(keys.iter().map(|key| key.as_str()));
    let columns: Vec<_> = names.filter_map(|name| frame.column(name)).collect();
    (0..frame.len()).filter(is_class).map(move |line| {
        let values = columns
            .iter()
            .map(|column| column.values.datum(line).to_string());
        (line, values.collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Datum, FrameColumn, Key, Kind, Summary, Table};

    /// Results of runs with a variant, a load, a seed, a class and a completion time.
    fn results(lines: &[(&str, f64, u64, &str, Option<f64>)]) -> Frame {
        let key = |name| FrameColumn::new(&Column::new(name, "", ""), Kind::Text);
        let mut load = FrameColumn::new(&Column::new("load", "", ""), Kind::Number);
        load.name = "traffic.load".to_owned();
        let columns = [vec![key(VARIANT), load], Frame::of::<Key>().columns].concat();
        let mut frame = Frame::from_columns(columns).with_columns::<Summary>();
        for &(variant, load, seed, class, completion_time_ns) in lines {
            let own = [Datum::Text(variant.to_owned()), Datum::Number(load)];
            let scope = if class.is_empty() { "total" } else { "class" };
            let key = Key {
                seed,
                scope: scope.to_owned(),
                class: class.to_owned(),
                ..Key::default()
            };
            let summary = Summary {
                completion_time_ns,
                ..Summary::default()
            };
            frame.push(own.into_iter().chain(key.data()).chain(summary.data()));
        }
        frame
    }

    #[test]
    fn a_job_is_compared_with_its_own_run_alone() {
        let mut parts = [
            results(&[
                ("one-lane", 0.1, 1, "ep", Some(300.0)),
                ("one-lane", 0.1, 1, "kv", Some(50.0)),
                ("one-lane", 0.1, 1, "", Some(300.0)),
                ("alone", 0.1, 1, "ep", Some(200.0)),
            ]),
            results(&[
                ("one-lane", 0.2, 1, "ep", Some(300.0)),
                ("alone", 0.2, 1, "ep", Some(100.0)),
                ("one-lane", 0.1, 2, "ep", Some(300.0)),
                ("alone", 0.1, 2, "ep", None),
            ]),
        ];
        let keys = [VARIANT, "traffic.load"].map(str::to_owned);
        fill_slowdowns(&mut parts, &keys);
        let slowdowns = |frame: &Frame| -> Vec<Option<f64>> {
            let column = frame.column(SLOWDOWN).unwrap();
            (0..frame.len()).map(|line| column.number(line)).collect()
        };
        assert_eq!(slowdowns(&parts[0]), [Some(1.5), None, None, Some(1.0)]);
        assert_eq!(slowdowns(&parts[1]), [Some(3.0), Some(1.0), None, None]);
    }

    #[test]
    fn a_variant_with_one_load_serves_for_all() {
        let mut parts = [results(&[
            ("one-lane", 0.1, 1, "ep", Some(300.0)),
            ("one-lane", 0.5, 1, "ep", Some(400.0)),
            ("alone", 0.1, 1, "ep", Some(200.0)),
            ("alone", 0.1, 2, "ep", Some(200.0)),
        ])];
        let keys = [VARIANT, "traffic.load"].map(str::to_owned);
        fill_slowdowns(&mut parts, &keys);
        let column = parts[0].column(SLOWDOWN).unwrap();
        let found: Vec<_> = (0..4).map(|line| column.number(line)).collect();
        assert_eq!(found, [Some(1.5), Some(2.0), Some(1.0), Some(1.0)]);
    }

    #[test]
    fn without_such_a_variant_nothing_changes() {
        let mut parts = [results(&[("plan", 0.1, 1, "ep", Some(300.0))])];
        let before = parts.clone();
        fill_slowdowns(&mut parts, &[VARIANT.to_owned()]);
        assert_eq!(parts, before);
        fill_slowdowns(&mut parts, &[]);
        assert_eq!(parts, before);
    }
}

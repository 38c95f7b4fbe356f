//! The sources of values: columns of results, documents of runs, and tables.

use std::rc::Rc;

use netloom_results::{Datum, Frame, PunctualityLine, Summary, Table as _};

use super::evaluation::{Evaluation, Runs};
use super::value::{Answer, Missing, Value};
use crate::{Outcome, Truth};

/// A source: name, number of values, options, and whether its value is by seed.
pub(super) struct Source {
    pub(super) name: &'static str,
    pub(super) values: std::ops::RangeInclusive<usize>,
    /// Its options; columns of a table too if it is `lines`.
    pub(super) options: &'static [&'static str],
    pub(super) by_seed: bool,
}

const fn source(
    name: &'static str,
    n: usize,
    options: &'static [&'static str],
    by_seed: bool,
) -> Source {
    Source {
        name,
        values: n..=n,
        options,
        by_seed,
    }
}

pub(super) const SOURCES: [Source; 6] = [
    source("result", 2, &["class", "sl", "load"], true),
    source("run", 2, &["load"], true),
    source("lines", 3, &["load", "empty", "by"], true),
    source("loads", 1, &["from"], false),
    source("is_run", 1, &[], false),
    source("either", 3, &[], false),
];

pub(super) fn is_source(name: &str) -> bool {
    SOURCES.iter().any(|own| own.name == name)
}

pub(super) fn is_by_seed(name: &str) -> bool {
    SOURCES.iter().any(|own| own.name == name && own.by_seed)
}

type Options<'v> = [(&'v str, Value)];

fn option<'v>(options: &'v Options<'_>, name: &str) -> Option<&'v Value> {
    let own = options.iter().find(|(key, _)| *key == name);
    own.map(|(_, value)| value)
}

fn number(options: &Options<'_>, name: &str) -> Result<Option<f64>, Missing> {
    option(options, name).map(Value::number).transpose()
}

/// Returns the value of a source.
pub(super) fn value(
    evaluation: &Evaluation<'_>,
    name: &str,
    values: &[Value],
    options: &Options<'_>,
    seed: Option<usize>,
) -> Answer {
    let [first, ..] = values else {
        return Err(Missing::mistake(format!("too few values for {name}()")));
    };
    match name {
        "is_run" => {
            let is_run = evaluation.series.contains_key(first.as_text()?);
            return Ok(Value::Truth(is_run.into()));
        }
        "loads" => {
            let from = number(options, "from")?;
            return loads(evaluation, first.as_text()?, from);
        }
        "either" => {
            let is_in = |name: &Value| is_in(evaluation, &first.at(name)?);
            return match !is_in(&values[1])? && is_in(&values[2])? {
                true => Ok(values[2].clone()),
                false => Ok(values[1].clone()),
            };
        }
        _ => {}
    }
    let (series, what) = (first.as_text()?, values[1].as_text()?);
    let outcome = evaluation.run(series, number(options, "load")?, seed)?;
    match name {
        "result" => result(outcome, series, what, options),
        "run" => in_document(evaluation, outcome, series, what),
        _ => lines(outcome, series, what, values[2].as_text()?, options),
    }
}

/// Whether one of some series was run, or is lacking.
fn is_in(evaluation: &Evaluation<'_>, series: &Value) -> Result<bool, Missing> {
    match series {
        Value::Text(name) => Ok(evaluation.series.contains_key(name.as_str())),
        _ => {
            for own in series.elements()? {
                if is_in(evaluation, own)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

fn nothing(series: &str, load: Option<f64>) -> Missing {
    let at = load.map_or(String::new(), |load| format!(" at load {load}"));
    Missing::because(format!("no results of {series}{at}"))
}

fn loads(evaluation: &Evaluation<'_>, series: &str, from: Option<f64>) -> Answer {
    let least = from.unwrap_or(f64::NEG_INFINITY);
    let none = || match from {
        Some(from) => Missing::because(format!("no results of {series} from load {from}")),
        None => nothing(series, None),
    };
    let own = evaluation.series.get(series).ok_or_else(none)?;
    let all = own.outcomes.iter().map(|outcome| outcome.run.load);
    let mut loads: Vec<f64> = all.filter(|load| *load >= least).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    match evaluation.lacks(series, |load| load >= least) || loads.is_empty() {
        true => Err(none()),
        false => Ok(Value::List(loads.into_iter().map(Value::Number).collect())),
    }
}

impl<'a> Evaluation<'a> {
    /// Returns the runs of a series, by seed: at a load, or all.
    pub(super) fn runs(
        &self,
        series: &str,
        load: Option<f64>,
        seed: Option<usize>,
    ) -> Result<Vec<&'a Outcome>, Missing> {
        let is_at = |own: f64| load.is_none_or(|load| load == own);
        let found = |own: &Runs<'a>| -> Vec<&'a Outcome> {
            let outcomes = own.outcomes.iter().copied();
            outcomes.filter(|one| is_at(one.run.load)).collect()
        };
        let own = self.series.get(series);
        let own = own.filter(|_| !self.lacks(series, is_at));
        let runs = own.map(found).unwrap_or_default();
        match (seed.unwrap_or(0), runs.is_empty()) {
            (0, true) => Err(nothing(series, load)),
            (seed, _) if seed >= runs.len() => Err(Missing::NoSeed),
            _ => Ok(runs),
        }
    }

    /// Returns the run of a series with a seed.
    pub(super) fn run(
        &self,
        series: &str,
        load: Option<f64>,
        seed: Option<usize>,
    ) -> Result<&'a Outcome, Missing> {
        let Some(at) = seed else {
            return Err(Missing::mistake(
                "expected one value, found a value for each seed",
            ));
        };
        Ok(self.runs(series, load, seed)?[at])
    }
}

fn of_datum(datum: &Datum) -> Option<Value> {
    match datum {
        Datum::Nothing => None,
        Datum::Text(text) => Some(Value::text(text)),
        Datum::Flag(is_so) => Some(Value::Truth(Truth::from(*is_so))),
        _ => datum.number().map(Value::Number),
    }
}

fn result(outcome: &Outcome, series: &str, column: &str, options: &Options<'_>) -> Answer {
    let run = &outcome.result;
    let class = option(options, "class").map(Value::as_text).transpose()?;
    let sl = number(options, "sl")?;
    let is_sl = |own: u8| sl == Some(f64::from(own));
    let of_row = |own: &&netloom_results::RowSummary| Some(own.class.as_str()) == class;
    let summary: Option<&Summary> = match (class, sl) {
        (None, None) => Some(&run.total),
        (Some(class), None) => {
            let own = run.classes.iter().find(|own| own.class == class);
            own.map(|own| &own.summary)
        }
        (None, Some(_)) => {
            let own = run.sls.iter().find(|own| is_sl(own.sl));
            own.map(|own| &own.summary)
        }
        (Some(_), Some(_)) => {
            let mut rows = run.rows.iter().filter(of_row);
            rows.find(|own| is_sl(own.sl)).map(|own| &own.summary)
        }
    };
    let of = class.map_or(String::new(), |class| format!(" of class {class}"));
    let of = sl.map_or(of.clone(), |sl| format!("{of} of SL{sl}"));
    let summary = summary.ok_or_else(|| Missing::because(format!("no results{of} in {series}")))?;
    let Some(at) = Summary::COLUMNS.iter().position(|own| own.name == column) else {
        return Err(Missing::mistake(format!("unknown column `{column}`")));
    };
    let value = of_datum(&summary.data()[at]);
    value.ok_or_else(|| Missing::because(format!("no {column}{of} in {series}")))
}

fn in_document(evaluation: &Evaluation<'_>, outcome: &Outcome, series: &str, path: &str) -> Answer {
    let key = std::ptr::from_ref(outcome) as usize;
    let mut documents = evaluation.documents.borrow_mut();
    let document = documents.entry(key).or_insert_with(|| {
        Rc::new(serde_json::to_value(&outcome.result).unwrap_or(serde_json::Value::Null))
    });
    let pointer = path.replace(['.', '['], "/").replace(']', "");
    match document.pointer(&format!("/{pointer}")) {
        Some(serde_json::Value::Number(number)) => number.as_f64().map(Value::Number),
        Some(serde_json::Value::String(text)) => Some(Value::text(text)),
        Some(serde_json::Value::Bool(is_so)) => Some(Value::Truth((*is_so).into())),
        _ => None,
    }
    .ok_or_else(|| Missing::because(format!("no {path} in {series}")))
}

fn lines(
    outcome: &Outcome,
    series: &str,
    table: &str,
    column: &str,
    options: &Options<'_>,
) -> Answer {
    let punctuality;
    let frame = match (table, &outcome.result.connections) {
        ("punctuality", Some(connections)) => {
            let mut lines = Frame::of::<PunctualityLine>();
            for line in &connections.punctuality {
                lines.push(line.data());
            }
            punctuality = lines;
            Some(&punctuality)
        }
        _ => outcome.table(table),
    };
    let none = || Missing::because(format!("no table {table} of {series}"));
    let frame = frame.ok_or_else(none)?;
    let column_of = |name: &str| {
        let unknown = || Missing::mistake(format!("table {table} has no column `{name}`"));
        frame.column(name).ok_or_else(unknown)
    };
    let own = column_of(column)?;
    let mut filters = vec![];
    for (name, value) in options {
        if !["load", "empty", "by"].contains(name) {
            filters.push((column_of(name)?, value));
        }
    }
    let by = option(options, "by").map(Value::as_text).transpose()?;
    let by = by.map(column_of).transpose()?;
    let mut list = vec![];
    let mut sums: Vec<(Value, f64)> = vec![];
    for line in 0..frame.len() {
        let is_own = |(column, value): &(&netloom_results::FrameColumn, &Value)| {
            of_datum(&column.values.datum(line)).as_ref() == Some(*value)
        };
        if !filters.iter().all(is_own) {
            continue;
        }
        let cell = of_datum(&own.values.datum(line));
        let cell = cell.or_else(|| option(options, "empty").cloned());
        let empty = || Missing::because(format!("an empty {column} in {table} of {series}"));
        let cell = cell.ok_or_else(empty)?;
        let Some(by) = by else {
            list.push(cell);
            continue;
        };
        let key = of_datum(&by.values.datum(line)).ok_or_else(empty)?;
        let cell = cell.number()?;
        // Lines of one time follow each other, so the last key is the likely one.
        match sums.iter_mut().rfind(|(own, _)| *own == key) {
            Some((_, sum)) => *sum += cell,
            None => sums.push((key, cell)),
        }
    }
    Ok(match by {
        None => Value::List(list),
        Some(_) => {
            let each = sums.into_iter().map(|(key, sum)| (key, sum.into()));
            Value::Map(each.collect())
        }
    })
}

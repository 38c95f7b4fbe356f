//! Combines several folders into one, so that every figure overlays them.
//!
//! Their names become another axis. Three or more single runs that differ only in one quantity have
//! that quantity as their axis, as in a study.

use netloom_results::{Collection, Datum, Frame, FrameColumn, Kind, Values};

use crate::differing::{Differing, differing};

/// The names of the axis that distinguishes folders: of studies, and of single runs.
pub(crate) const FOLDER: &str = "folder";
pub(crate) const RUN: &str = "run";

/// Maximum length of a label.
const LABEL: usize = 32;
/// Fewer runs are always compared side by side.
const FEWEST_RUNS: usize = 3;

/// Returns a name for each folder: that of its experiment if it is unique.
pub fn names(collections: &[Collection]) -> Vec<String> {
    let last = |collection: &Collection| {
        let folder = collection.folder.trim_end_matches(['/', '\\']);
        let part = folder.rsplit(['/', '\\']).next().unwrap_or(folder);
        part.trim_end_matches(".out").to_owned()
    };
    let is_distinct = |names: &[String]| {
        let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
        distinct.len() == names.len() && names.iter().all(|name| !name.is_empty())
    };
    let namings: [&dyn Fn(&Collection) -> String; 3] =
        [&|c| c.name.clone(), &last, &|c| c.folder.clone()];
    for naming in namings {
        let names: Vec<String> = collections.iter().map(naming).collect();
        if is_distinct(&names) {
            return names;
        }
    }
    let numbered = collections.iter().enumerate();
    numbered
        .map(|(at, collection)| format!("{} ({})", last(collection), at + 1))
        .collect()
}

/// Returns the names with the differences between folders, if these are short: `loaded (load 0.8)`.
pub fn labels(collections: &[Collection]) -> Vec<String> {
    let names = names(collections);
    let found = differing(collections);
    if found.is_empty() || found.len() > 2 {
        return names;
    }
    let with = |(at, name): (usize, &String)| {
        let values = found.iter().map(|one| match one.values[at].as_deref() {
            Some(text) if text.starts_with('"') => one.short(at).to_owned(),
            _ => format!("{} {}", one.word(), one.value(at)),
        });
        format!("{name} ({})", values.collect::<Vec<_>>().join(", "))
    };
    let long: Vec<String> = names.iter().enumerate().map(with).collect();
    match long.iter().all(|label| label.chars().count() <= LABEL) {
        true => long,
        false => names,
    }
}

/// Returns the only quantity in which single runs differ, if there are enough runs.
fn only_quantity(collections: &[Collection]) -> Option<(String, Vec<Datum>)> {
    let is_single = |collection: &Collection| collection.axes.is_empty();
    if collections.len() < FEWEST_RUNS || !collections.iter().all(is_single) {
        return None;
    }
    let found = differing(collections);
    let [one] = found.as_slice() else {
        return None;
    };
    // Seeds are not a quantity: their order has no meaning.
    if one.word().ends_with("seed") {
        return None;
    }
    let values = (0..collections.len()).map(|at| datum(one, at));
    let values: Vec<Datum> = values.collect::<Option<_>>()?;
    let texts: std::collections::BTreeSet<String> = values.iter().map(Datum::to_string).collect();
    (texts.len() == values.len()).then(|| (one.key.clone(), values))
}

/// Returns a number, or a quantity as text.
fn datum(one: &Differing, at: usize) -> Option<Datum> {
    let text = one.values[at].as_deref()?;
    match text.parse::<f64>() {
        Ok(number) => Some(Datum::Number(number)),
        Err(_) if text.starts_with('"') => {
            let is_quantity = one.value(at).starts_with(|c: char| c.is_ascii_digit());
            is_quantity.then(|| Datum::Text(one.value(at).to_owned()))
        }
        Err(_) => None,
    }
}

/// Returns the axis that distinguishes folders, and the value of each.
fn axis(collections: &[Collection]) -> (String, Vec<Datum>) {
    if let Some(axis) = only_quantity(collections) {
        return axis;
    }
    let is_single = |collection: &Collection| collection.axes.is_empty();
    let axis = match collections.iter().all(is_single) {
        true => RUN,
        false => FOLDER,
    };
    let labels = labels(collections).into_iter();
    (axis.to_owned(), labels.map(Datum::Text).collect())
}

/// Combines several collections into one; a single one is unchanged.
pub fn combine(collections: &[Collection]) -> Collection {
    if let [only] = collections {
        return only.clone();
    }
    let (axis, values) = axis(collections);
    let mut whole = Collection {
        name: names(collections).join(", "),
        about: String::new(),
        axes: vec![axis.clone()],
        ..Collection::default()
    };
    for axis in collections.iter().flat_map(|collection| &collection.axes) {
        if !whole.axes.contains(axis) {
            whole.axes.push(axis.clone());
        }
    }
    let mut names: Vec<&String> = collections.iter().flat_map(|c| c.tables.keys()).collect();
    names.sort();
    names.dedup();
    let offsets: Vec<u64> = collections
        .iter()
        .scan(0, |next, collection| {
            let offset = *next;
            *next += n_points(collection);
            Some(offset)
        })
        .collect();
    for name in names {
        let parts: Vec<Part<'_>> = collections
            .iter()
            .zip(&values)
            .zip(&offsets)
            .filter_map(|((collection, value), offset)| {
                Some(Part {
                    frame: collection.table(name)?,
                    value,
                    offset: *offset,
                })
            })
            .collect();
        whole.tables.insert(name.clone(), stacked(&axis, &parts));
    }
    let layouts: Vec<_> = collections.iter().map(|c| c.layout.as_ref()).collect();
    if layouts.windows(2).all(|pair| pair[0] == pair[1]) {
        whole.layout = layouts[0].cloned();
    }
    whole
}

fn n_points(collection: &Collection) -> u64 {
    let highest = |frame: &Frame| {
        let column = frame.column("point")?;
        (0..frame.len())
            .filter_map(|line| column.number(line))
            .map(|n| n as u64)
            .max()
    };
    let highest = collection.tables.values().filter_map(highest).max();
    highest.map_or(1, |n| n + 1)
}

struct Part<'a> {
    frame: &'a Frame,
    /// Its value on the axis that distinguishes folders.
    value: &'a Datum,
    /// Added to its point numbers to make them unique.
    offset: u64,
}

/// Concatenates tables, with the union of their columns.
fn stacked(axis: &str, parts: &[Part<'_>]) -> Frame {
    let empty = |name: &str, kind: Kind| FrameColumn {
        name: name.to_owned(),
        unit: String::new(),
        meaning: String::new(),
        values: Values::new(kind),
    };
    let is_number = parts
        .iter()
        .all(|part| matches!(part.value, Datum::Number(_)));
    let kind = if is_number { Kind::Number } else { Kind::Text };
    let mut columns: Vec<FrameColumn> = vec![empty("point", Kind::Whole), empty(axis, kind)];
    for part in parts {
        for column in &part.frame.columns {
            let kind = column.values.kind();
            match columns.iter_mut().find(|other| other.name == column.name) {
                None => columns.push(FrameColumn {
                    values: Values::new(kind),
                    ..column.clone()
                }),
                // Numbers in one and texts in the other: texts in both.
                Some(other) if other.values.kind() != kind => {
                    let numbers = [Kind::Whole, Kind::Number];
                    let is_number =
                        numbers.contains(&kind) && numbers.contains(&other.values.kind());
                    other.values = Values::new(if is_number { Kind::Number } else { Kind::Text });
                }
                Some(_) => {}
            }
        }
    }
    for part in parts {
        for line in 0..part.frame.len() {
            for column in &mut columns {
                let datum = match column.name.as_str() {
                    name if name == axis => part.value.clone(),
                    name => part
                        .frame
                        .column(name)
                        .map_or(Datum::Nothing, |c| c.values.datum(line)),
                };
                let datum = match (column.name.as_str(), datum) {
                    ("point", Datum::Whole(n)) => Datum::Whole(n + part.offset),
                    ("point", _) => Datum::Whole(part.offset),
                    (_, datum) => as_kind(datum, column.values.kind()),
                };
                column.values.push(datum);
            }
        }
    }
    Frame::from_columns(columns)
}

fn as_kind(datum: Datum, kind: Kind) -> Datum {
    match (datum, kind) {
        (Datum::Nothing, _) => Datum::Nothing,
        (Datum::Whole(n), Kind::Number) => Datum::Number(n as f64),
        (datum @ Datum::Text(_), Kind::Text) => datum,
        (datum, Kind::Text) => Datum::Text(datum.to_string()),
        (datum, _) => datum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collection(folder: &str, name: &str, axis: &str, values: Values) -> Collection {
        let n = values.len() as u64;
        let column = |name: &str, values: Values| FrameColumn {
            name: name.into(),
            unit: String::new(),
            meaning: String::new(),
            values,
        };
        let frame = Frame::from_columns(vec![
            column("point", Values::Whole((0..n).map(Some).collect())),
            column(axis, values),
        ]);
        Collection {
            folder: folder.into(),
            name: name.into(),
            axes: vec![axis.into()],
            tables: [("points".to_owned(), frame)].into(),
            ..Collection::default()
        }
    }

    #[test]
    fn folders_become_an_axis() {
        let one = collection(
            "a.out",
            "x",
            "load",
            Values::Number([Some(0.5), None].into_iter().collect()),
        );
        let two = collection(
            "b.out",
            "x",
            "load",
            Values::Whole([Some(1)].into_iter().collect()),
        );
        let both = combine(&[one, two]);
        assert_eq!(both.axes, ["folder", "load"]);
        insta::assert_snapshot!(both.tables["points"].to_csv(), @"
        point,folder,load
        0,a,0.5
        1,a,
        2,b,1
        ");
    }

    #[test]
    fn folders_are_named_as_shortly_as_they_differ() {
        let of = |folder: &str, name: &str| collection(folder, name, "x", Values::new(Kind::Whole));
        let cases = [
            ([("p/a.out", "x"), ("p/b.out", "y")], ["x", "y"]),
            ([("p/a.out", "x"), ("p/b.out", "x")], ["a", "b"]),
            ([("p/a.out", "x"), ("q/a.out", "x")], ["p/a.out", "q/a.out"]),
            ([("a", "x"), ("a", "x")], ["a (1)", "a (2)"]),
        ];
        for (folders, expected) in cases {
            let all: Vec<Collection> = folders.iter().map(|(f, n)| of(f, n)).collect();
            assert_eq!(labels(&all), expected);
        }
    }

    fn runs(loads: &[f64]) -> Vec<Collection> {
        let run = |(n, load): (usize, &f64)| {
            let point = collection(
                &format!("{n}.out"),
                "tree",
                "class",
                Values::Whole([Some(0)].into_iter().collect()),
            );
            Collection {
                axes: vec![],
                experiment: format!("[[traffic]]\nload = {load}\n"),
                ..point
            }
        };
        loads.iter().enumerate().map(run).collect()
    }

    #[test]
    fn what_tells_two_runs_apart_stands_in_their_labels() {
        let both = combine(&runs(&[0.5, 0.8]));
        assert_eq!(both.axes, ["run"]);
        insta::assert_snapshot!(both.tables["points"].to_csv(), @"
        point,run,class
        0,0 (load 0.5),0
        1,1 (load 0.8),0
        ");
    }

    #[test]
    fn runs_that_differ_in_one_quantity_are_a_study_of_it() {
        let whole = combine(&runs(&[0.5, 0.8, 0.6]));
        assert_eq!(whole.axes, ["traffic.load"]);
        insta::assert_snapshot!(whole.tables["points"].to_csv(), @"
        point,traffic.load,class
        0,0.5,0
        1,0.8,0
        2,0.6,0
        ");
        assert_eq!(combine(&runs(&[0.5, 0.8, 0.8])).axes, ["run"]);
    }
}

//! Several folders as one: a further axis, `folder`, tells them apart, so that every figure lays them over
//! each other.

use netloom_results::{Collection, Datum, Frame, FrameColumn, Kind, Values};

/// The axis that tells folders apart.
pub(crate) const FOLDER: &str = "folder";

/// What each folder is called: by the name of its experiment if that is enough.
pub(crate) fn labels(collections: &[Collection]) -> Vec<String> {
    let last = |collection: &Collection| {
        let folder = collection.folder.trim_end_matches(['/', '\\']);
        let part = folder.rsplit(['/', '\\']).next().unwrap_or(folder);
        part.trim_end_matches(".out").to_owned()
    };
    let is_distinct = |names: &[String]| {
        let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
        distinct.len() == names.len() && names.iter().all(|name| !name.is_empty())
    };
    let ways: [&dyn Fn(&Collection) -> String; 3] =
        [&|c| c.name.clone(), &last, &|c| c.folder.clone()];
    for way in ways {
        let names: Vec<String> = collections.iter().map(way).collect();
        if is_distinct(&names) {
            return names;
        }
    }
    let numbered = collections.iter().enumerate();
    numbered
        .map(|(at, collection)| format!("{} ({})", last(collection), at + 1))
        .collect()
}

/// One collection of several; a single one is itself.
pub(crate) fn combine(collections: &[Collection]) -> Collection {
    if let [only] = collections {
        return only.clone();
    }
    let labels = labels(collections);
    let mut whole = Collection {
        name: labels.join(", "),
        about: String::new(),
        axes: vec![FOLDER.to_owned()],
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
            .zip(&labels)
            .zip(&offsets)
            .filter_map(|((collection, label), offset)| {
                Some(Part {
                    frame: collection.table(name)?,
                    label,
                    offset: *offset,
                })
            })
            .collect();
        whole.tables.insert(name.clone(), stacked(&parts));
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
    label: &'a str,
    /// What is added to its points so that they differ from those of other folders.
    offset: u64,
}

/// Tables below each other, with every column that one of them has.
fn stacked(parts: &[Part<'_>]) -> Frame {
    let empty = |name: &str, kind: Kind| FrameColumn {
        name: name.to_owned(),
        unit: String::new(),
        meaning: String::new(),
        values: Values::new(kind),
    };
    let mut columns: Vec<FrameColumn> =
        vec![empty("point", Kind::Whole), empty(FOLDER, Kind::Text)];
    for part in parts {
        for column in &part.frame.columns {
            let kind = column.values.kind();
            match columns.iter_mut().find(|other| other.name == column.name) {
                None => columns.push(FrameColumn {
                    values: Values::new(kind),
                    ..column.clone()
                }),
                // Numbers here and words there: words in both.
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
                    FOLDER => Datum::Text(part.label.to_owned()),
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
        let one = collection("a.out", "x", "load", Values::Number(vec![Some(0.5), None]));
        let two = collection("b.out", "x", "load", Values::Whole(vec![Some(1)]));
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
        let of = |folder: &str, name: &str| collection(folder, name, "x", Values::Whole(vec![]));
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
}

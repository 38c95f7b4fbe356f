//! Printing of a tree as TOML that parses to the same tree.

use std::fmt::Write;

use crate::document::ValueShape;
use crate::{Document, Place, Value};

/// Depth down to which a table gets its own header; deeper tables are printed in braces. This keeps
/// the order of deeper entries, since TOML requires single values before tables with headers.
const HEADERS: usize = 2;

impl Document {
    /// Returns the tree as TOML, regardless of its sources.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        if let ValueShape::Table(entries) = &self.root.shape {
            table(&mut out, "", 0, entries);
        }
        out
    }
}

impl Value {
    /// Returns the value as TOML on one line.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        inline(&mut out, self);
        out
    }
}

fn table(out: &mut String, path: &str, depth: usize, entries: &[(String, Place, Value)]) {
    for (name, _, value) in entries {
        if header(value, depth).is_none() {
            let _ = writeln!(out, "{} = {}", key(name), value.to_toml());
        }
    }
    for (name, _, value) in entries {
        let Some(tables) = header(value, depth) else {
            continue;
        };
        let path = match path {
            "" => key(name),
            _ => format!("{path}.{}", key(name)),
        };
        for (brackets, entries) in tables {
            let has_only_tables = !entries.is_empty()
                && brackets == Brackets::One
                && entries
                    .iter()
                    .all(|(_, _, value)| header(value, depth + 1).is_some());
            match brackets {
                Brackets::One if has_only_tables => {}
                Brackets::One => {
                    let _ = write!(out, "\n[{path}]\n");
                }
                Brackets::Two => {
                    let _ = write!(out, "\n[[{path}]]\n");
                }
            }
            table(out, &path, depth + 1, entries);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    One,
    Two,
}

type Entries = [(String, Place, Value)];

/// Returns the tables of a value that is printed under headers; `None` if it is printed after its
/// key.
fn header(value: &Value, depth: usize) -> Option<Vec<(Brackets, &Entries)>> {
    if depth >= HEADERS {
        return None;
    }
    match &value.shape {
        ValueShape::Table(entries) => Some(vec![(Brackets::One, entries)]),
        ValueShape::List(items) if !items.is_empty() => items
            .iter()
            .map(|item| match &item.shape {
                ValueShape::Table(entries) => Some((Brackets::Two, &entries[..])),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

fn inline(out: &mut String, value: &Value) {
    let _ = match &value.shape {
        ValueShape::Integer(n) => write!(out, "{n}"),
        ValueShape::Float(x) if x.is_nan() => write!(out, "nan"),
        ValueShape::Float(x) => write!(out, "{x:?}"),
        ValueShape::Text(text) => write!(out, "{}", quoted(text)),
        ValueShape::Bool(b) => write!(out, "{b}"),
        ValueShape::Date(text) => write!(out, "{text}"),
        ValueShape::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                inline(out, item);
            }
            write!(out, "]")
        }
        ValueShape::Table(entries) if entries.is_empty() => write!(out, "{{}}"),
        ValueShape::Table(entries) => {
            out.push_str("{ ");
            for (at, (name, _, value)) in entries.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                out.push_str(&key(name));
                out.push_str(" = ");
                inline(out, value);
            }
            write!(out, " }}")
        }
    };
}

fn key(name: &str) -> String {
    let is_bare = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    match is_bare {
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// Returns a quoted string. Tabs are not escaped.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\t' => out.push(c),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Notes;
    use proptest::prelude::*;

    /// Removes the positions of a tree.
    fn bare(value: &Value) -> Value {
        let place = Place::default();
        let shape = match &value.shape {
            ValueShape::List(items) => ValueShape::List(items.iter().map(bare).collect()),
            // Printing moves single values before tables, which does not change the meaning.
            ValueShape::Table(entries) => {
                let mut entries: Vec<_> = entries
                    .iter()
                    .map(|(key, _, value)| (key.clone(), place, bare(value)))
                    .collect();
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                ValueShape::Table(entries)
            }
            ValueShape::Float(x) if *x == 0.0 => ValueShape::Float(*x),
            other => other.clone(),
        };
        Value { place, shape }
    }

    fn value() -> impl Strategy<Value = Value> {
        let shape = prop_oneof![
            any::<i64>().prop_map(ValueShape::Integer),
            any::<f64>()
                .prop_filter("equal to itself", |x| !x.is_nan())
                .prop_map(ValueShape::Float),
            any::<bool>().prop_map(ValueShape::Bool),
            any::<String>().prop_map(ValueShape::Text),
        ];
        let place = Place::default();
        let leaf = shape.prop_map(move |shape| Value { place, shape });
        leaf.prop_recursive(4, 40, 5, move |inner| {
            let table = prop::collection::btree_map(any::<String>(), inner.clone(), 0..5)
                .prop_map(move |map| table_of(map.into_iter().collect()));
            let list = prop::collection::vec(inner, 0..5).prop_map(move |items| Value {
                place,
                shape: ValueShape::List(items),
            });
            prop_oneof![table, list]
        })
    }

    fn table_of(entries: Vec<(String, Value)>) -> Value {
        let place = Place::default();
        let entries = entries.into_iter().map(|(k, v)| (k, place, v)).collect();
        Value {
            place,
            shape: ValueShape::Table(entries),
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_to_the_same_tree(
            entries in prop::collection::btree_map(any::<String>(), value(), 0..6)
        ) {
            let root = table_of(entries.into_iter().collect());
            let document = Document { sources: vec![], root };
            let text = document.to_toml();
            let mut notes = Notes::new();
            let again = Document::parse("again.toml", &text, &mut notes);
            prop_assert!(notes.is_empty(), "{:?}\n{}", notes, text);
            prop_assert_eq!(bare(&again.root), bare(&document.root), "{}", text);
            prop_assert_eq!(again.to_toml(), text, "printed again");
        }
    }
}

//! A file as a tree of values that carry their source positions.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Notes;

/// A range of bytes in one source: the file (source 0), a file that it extends, or a `--set`
/// argument (source 1, 2, …).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Place {
    /// Index into [`Document::sources`].
    pub source: u16,
    pub start: u32,
    /// End of the range, exclusive.
    pub end: u32,
}

/// A line and a column of a text, both counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    pub line: usize,
    /// In characters.
    pub column: usize,
}

impl Position {
    /// Returns the position of a byte; of the character around it, if it is inside one.
    pub fn of(text: &str, at: u32) -> Position {
        let before = &text[..text.floor_char_boundary(at as usize)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// A value with its position.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    pub place: Place,
    pub shape: ValueShape,
}

/// The content of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum ValueShape {
    Integer(i64),
    Float(f64),
    Text(String),
    Bool(bool),
    /// A date. No key of netloom takes one.
    Date(String),
    List(Vec<Value>),
    /// Keys with their positions, in order of appearance.
    Table(Vec<(String, Place, Value)>),
}

impl ValueShape {
    /// Returns the name of the type, with an article, for messages.
    pub fn word(&self) -> &'static str {
        match self {
            ValueShape::Integer(_) => "an integer",
            ValueShape::Float(_) => "a number",
            ValueShape::Text(_) => "a string",
            ValueShape::Bool(_) => "a boolean",
            ValueShape::Date(_) => "a date",
            ValueShape::List(_) => "a list",
            ValueShape::Table(_) => "a table",
        }
    }
}

impl Value {
    /// Returns the value of a key, if this is a table with that key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match &self.shape {
            ValueShape::Table(entries) => {
                entries.iter().find(|(k, _, _)| k == key).map(|(_, _, v)| v)
            }
            _ => None,
        }
    }

    /// Returns the name of the kind: `"uniform"` itself, or the `kind` of a table.
    pub fn kind_name(&self) -> Option<&str> {
        match self.as_text() {
            Some(name) => Some(name),
            None => self.get("kind")?.as_text(),
        }
    }

    /// Returns the content of a string.
    pub fn as_text(&self) -> Option<&str> {
        match &self.shape {
            ValueShape::Text(s) => Some(s),
            _ => None,
        }
    }
}

/// The sources of an experiment and the resulting tree.
#[derive(Clone, Debug)]
pub struct Document {
    /// Name and text of each source. The first is the file.
    pub sources: Vec<(String, String)>,
    pub root: Value,
}

impl Document {
    /// Parses a file and notes every syntax error. The tree contains whatever could be parsed.
    pub fn parse(name: &str, text: &str, notes: &mut Notes) -> Document {
        let mut document = Document {
            sources: vec![],
            root: Value {
                place: Place::default(),
                shape: ValueShape::Table(vec![]),
            },
        };
        document.root = document.parse_more(name, text, notes);
        document
    }

    /// Returns where a place begins in its source. `None` if the document has no such source.
    pub fn position(&self, place: Place) -> Option<Position> {
        let (_, text) = self.sources.get(usize::from(place.source))?;
        Some(Position::of(text, place.start))
    }

    /// Parses another source, so that messages can show its lines, and returns its root table.
    pub fn parse_more(&mut self, name: &str, text: &str, notes: &mut Notes) -> Value {
        let source = self.next_source();
        self.sources.push((name.to_owned(), text.to_owned()));
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            notes.error(
                "E0001",
                place(source, &span),
                format!("invalid TOML: {}", error.message().trim()),
            );
        }
        Value {
            place: place(source, &table.span()),
            shape: convert_table(source, table.get_ref()),
        }
    }

    fn next_source(&self) -> u16 {
        u16::try_from(self.sources.len()).expect("fewer than 65536 texts and --set arguments")
    }

    /// Puts a value under a path of keys, as `--set` does. `key_place` is the position of the path.
    pub fn put(&mut self, path: &str, key_place: Place, value: Value, notes: &mut Notes) {
        let keys = keys_of(path);
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        if let Err(message) = insert(&mut self.root, &keys, key_place, value) {
            notes.error("E0002", key_place, format!("{path}: {message}"));
        }
    }

    /// Applies `key.path = value`, as `--set` does. A value that is not valid TOML is taken as a
    /// string.
    pub fn set(&mut self, assignment: &str, notes: &mut Notes) {
        let source = self.next_source();
        let Some((path, text)) = split_assignment(assignment) else {
            let whole = Place {
                source,
                start: 0,
                end: length(assignment),
            };
            notes
                .error("E0002", whole, "expected KEY=VALUE after --set")
                .help("use, for example, --set traffic.load=0.5");
            self.sources
                .push((format!("--set {assignment}"), assignment.to_owned()));
            return;
        };
        let offset = path.len() + 1;
        let whole = Place {
            source,
            start: length(&assignment[..offset]),
            end: length(assignment),
        };
        let mut value = match DeValue::parse(text.trim()) {
            Ok(parsed) => convert(source, &parsed),
            Err(_) => Value {
                place: whole,
                shape: ValueShape::Text(text.trim().to_owned()),
            },
        };
        move_to(&mut value, whole);
        self.sources
            .push((format!("--set {assignment}"), assignment.to_owned()));
        let keys = keys_of(path);
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let key_place = Place {
            source,
            start: 0,
            end: length(path),
        };
        if let Err(message) = insert(&mut self.root, &keys, key_place, value) {
            notes.error("E0002", key_place, message);
        }
    }
}

/// Splits `key=value` into path and value. An equals sign in quotes belongs to the path.
pub fn split_assignment(assignment: &str) -> Option<(&str, &str)> {
    let mut is_quoted = false;
    let at = assignment.find(|c| {
        is_quoted ^= c == '"';
        c == '=' && !is_quoted
    })?;
    Some((&assignment[..at], &assignment[at + 1..]))
}

/// Splits a path into keys. A quoted key may contain dots: `study.axes."traffic.load"`.
pub fn keys_of(path: &str) -> Vec<String> {
    let mut is_quoted = false;
    path.trim()
        .split(|c| {
            is_quoted ^= c == '"';
            c == '.' && !is_quoted
        })
        .map(|key| key.trim().trim_matches('"').to_owned())
        .collect()
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).expect("a source below 4 GiB")
}

fn place(source: u16, span: &std::ops::Range<usize>) -> Place {
    let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Place {
        source,
        start: clip(span.start),
        end: clip(span.end),
    }
}

fn convert(source: u16, value: &Spanned<DeValue<'_>>) -> Value {
    let shape = match value.get_ref() {
        DeValue::String(s) => ValueShape::Text(s.to_string()),
        DeValue::Integer(i) => match i64::from_str_radix(&i.as_str().replace('_', ""), i.radix()) {
            Ok(n) => ValueShape::Integer(n),
            Err(_) => ValueShape::Float(f64::INFINITY),
        },
        DeValue::Float(f) => {
            ValueShape::Float(f.as_str().replace('_', "").parse().unwrap_or(f64::NAN))
        }
        DeValue::Boolean(b) => ValueShape::Bool(*b),
        DeValue::Datetime(d) => ValueShape::Date(d.to_string()),
        DeValue::Array(list) => ValueShape::List(list.iter().map(|v| convert(source, v)).collect()),
        DeValue::Table(table) => convert_table(source, table),
    };
    Value {
        place: place(source, &value.span()),
        shape,
    }
}

fn convert_table(source: u16, table: &DeTable<'_>) -> ValueShape {
    let mut entries: Vec<(String, Place, Value)> = table
        .iter()
        .map(|(key, value)| {
            (
                key.get_ref().to_string(),
                place(source, &key.span()),
                convert(source, value),
            )
        })
        .collect();
    // The parser sorts keys by name; readers expect the order of the file.
    entries.sort_by_key(|(_, place, _)| place.start);
    ValueShape::Table(entries)
}

/// A value from a `--set` argument is shown as the whole right-hand side.
fn move_to(value: &mut Value, whole: Place) {
    value.place = whole;
    match &mut value.shape {
        ValueShape::List(list) => list.iter_mut().for_each(|v| move_to(v, whole)),
        ValueShape::Table(entries) => entries.iter_mut().for_each(|(_, p, v)| {
            *p = whole;
            move_to(v, whole);
        }),
        _ => {}
    }
}

fn insert(into: &mut Value, keys: &[&str], key_place: Place, value: Value) -> Result<(), String> {
    let (key, rest) = keys.split_first().expect("a path has at least one key");
    match &mut into.shape {
        ValueShape::Table(entries) => {
            let at = match entries.iter().position(|(k, _, _)| k == key) {
                Some(at) => at,
                None => {
                    entries.push((
                        (*key).to_owned(),
                        key_place,
                        Value {
                            place: key_place,
                            shape: ValueShape::Table(vec![]),
                        },
                    ));
                    entries.len() - 1
                }
            };
            if rest.is_empty() {
                entries[at].2 = value;
                return Ok(());
            }
            // `pattern = "uniform"` is short for `pattern = { kind = "uniform" }`.
            if let ValueShape::Text(kind) = &entries[at].2.shape {
                let place = entries[at].2.place;
                let kind = Value {
                    place,
                    shape: ValueShape::Text(kind.clone()),
                };
                entries[at].2.shape = ValueShape::Table(vec![("kind".to_owned(), place, kind)]);
            }
            insert(&mut entries[at].2, rest, key_place, value)
        }
        ValueShape::List(list) => {
            // In a list of tables, a number selects one table; any other key is set in all of them.
            if let Ok(n) = key.parse::<usize>() {
                let count = list.len();
                let item = list
                    .get_mut(n)
                    .ok_or_else(|| format!("the list has {count} entries, counted from 0"))?;
                if rest.is_empty() {
                    *item = value;
                    return Ok(());
                }
                return insert(item, rest, key_place, value);
            }
            // The name of an item also selects it: `traffic.bulk.load`.
            let has_name = |item: &Value| item.get("name").and_then(Value::as_text) == Some(*key);
            if !rest.is_empty() && list.iter().any(has_name) {
                let named = list.iter_mut().filter(|item| has_name(item));
                for item in named {
                    insert(item, rest, key_place, value.clone())?;
                }
                return Ok(());
            }
            for item in list {
                insert(item, keys, key_place, value.clone())?;
            }
            Ok(())
        }
        other => Err(format!("cannot set `{key}` inside {}", other.word())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_syntax_errors_are_noted() {
        let mut notes = Notes::new();
        Document::parse("x.toml", "a = \nb = 3\nc = [1, \n d = = 4\n", &mut notes);
        assert!(notes.iter().count() >= 2, "{notes:?}");
    }

    #[test]
    fn a_hundred_thousand_unknown_keys_are_counted() {
        let mut notes = Notes::new();
        let keys: String = (0..100_000).map(|n| format!("lod{n} = 1\n")).collect();
        let document = Document::parse("x.toml", &keys, &mut notes);
        let mut section = crate::Section::open(&document.root, &mut notes).unwrap();
        let _: Option<f64> = section.or("load", 0.5);
        section.finish();
        assert_eq!(notes.count(), 100_000);
        assert_eq!(notes.iter().count(), crate::MOST_NOTES);
    }

    #[test]
    fn set_finds_items_by_their_names() {
        let mut notes = Notes::new();
        let text =
            "[[traffic]]\nname = \"bulk\"\nload = 0.1\n[[traffic]]\nname = \"rpc\"\nload = 0.2\n";
        let mut doc = Document::parse("x.toml", text, &mut notes);
        doc.set("traffic.bulk.load=0.5", &mut notes);
        doc.set("traffic.pattern.kind=tornado", &mut notes);
        assert!(notes.is_empty(), "{notes:?}");
        let ValueShape::List(classes) = &doc.root.get("traffic").unwrap().shape else {
            panic!("classes");
        };
        let loads: Vec<_> = classes
            .iter()
            .map(|class| &class.get("load").unwrap().shape)
            .collect();
        assert_eq!(loads, [&ValueShape::Float(0.5), &ValueShape::Float(0.2)]);
        let kinds = classes
            .iter()
            .map(|class| class.get("pattern").unwrap().kind_name());
        assert!(kinds.into_iter().all(|kind| kind == Some("tornado")));
    }

    #[test]
    fn set_replaces_adds_and_reaches_into_lists() {
        let mut notes = Notes::new();
        let mut doc = Document::parse(
            "x.toml",
            "[[traffic]]\nload = 0.1\n[[traffic]]\nload = 0.2\n",
            &mut notes,
        );
        doc.set("traffic.load=0.5", &mut notes);
        doc.set("traffic.1.pattern=tornado", &mut notes);
        doc.set("switch.clock=\"1 ns\"", &mut notes);
        doc.set("study.axes.\"traffic.load\"=[1]", &mut notes);
        let axes = doc.root.get("study").and_then(|study| study.get("axes"));
        assert!(axes.unwrap().get("traffic.load").is_some());
        assert!(notes.is_empty(), "{notes:?}");
        let ValueShape::List(classes) = &doc.root.get("traffic").unwrap().shape else {
            panic!()
        };
        assert_eq!(
            classes[0].get("load").unwrap().shape,
            ValueShape::Float(0.5)
        );
        assert_eq!(
            classes[1].get("load").unwrap().shape,
            ValueShape::Float(0.5)
        );
        assert_eq!(
            classes[1].get("pattern").unwrap().as_text(),
            Some("tornado")
        );
        assert_eq!(
            doc.root
                .get("switch")
                .unwrap()
                .get("clock")
                .unwrap()
                .as_text(),
            Some("1 ns")
        );
    }
}

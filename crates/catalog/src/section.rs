//! Reading of one table: each key once, with all mistakes and all resulting values recorded.

use crate::document::ValueShape;
use crate::{FromToml, Notes, Place, Value, nearest};

/// One line of a resolved file.
#[derive(Clone, PartialEq, Debug)]
pub enum ResolvedLine {
    /// `key = text`.
    Value {
        key: String,
        /// Value as TOML.
        text: String,
        /// Whether the value is the default.
        is_default: bool,
    },
    /// A table under a key.
    Table(String, Resolved),
    /// An item of a list of tables under a key.
    Item(String, Resolved),
}

/// A table with all values, defaults included.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Resolved {
    /// Lines in the order of reading.
    pub lines: Vec<ResolvedLine>,
}

impl Resolved {
    /// Returns the table as TOML. With `mark`, a comment marks each default.
    pub fn to_toml(&self, mark: bool) -> String {
        let mut out = String::new();
        self.print(&mut out, "", mark);
        out
    }

    fn print(&self, out: &mut String, path: &str, mark: bool) {
        for line in &self.lines {
            if let ResolvedLine::Value {
                key,
                text,
                is_default,
            } = line
            {
                let note = if *is_default && mark {
                    "  # default"
                } else {
                    ""
                };
                out.push_str(&format!("{key} = {text}{note}\n"));
            }
        }
        for line in &self.lines {
            let (key, table, brackets) = match line {
                ResolvedLine::Value { .. } => continue,
                ResolvedLine::Table(key, table) => (key, table, ("[", "]")),
                ResolvedLine::Item(key, table) => (key, table, ("[[", "]]")),
            };
            let path = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            out.push_str(&format!("\n{}{path}{}\n", brackets.0, brackets.1));
            table.print(out, &path, mark);
        }
    }
}

/// A table of a file that is being read.
pub struct Section<'a> {
    place: Place,
    entries: &'a [(String, Place, Value)],
    used: Vec<bool>,
    known: Vec<String>,
    /// Keys of other kinds of the same concept, with the names of those kinds.
    elsewhere: Vec<(String, &'static str)>,
    pub notes: &'a mut Notes,
    /// The values read so far.
    pub resolved: Resolved,
}

impl<'a> Section<'a> {
    /// Opens a table, or notes that the value is not one.
    pub fn open(value: &'a Value, notes: &'a mut Notes) -> Option<Section<'a>> {
        let ValueShape::Table(entries) = &value.shape else {
            notes.error(
                "E0101",
                value.place,
                format!("expected a table, found {}", value.shape.word()),
            );
            return None;
        };
        let used = vec![false; entries.len()];
        Some(Section {
            place: value.place,
            entries,
            used,
            known: vec![],
            elsewhere: vec![],
            notes,
            resolved: Resolved::default(),
        })
    }

    /// Sets the keys that tables of other kinds have.
    pub(crate) fn knows_elsewhere(&mut self, keys: Vec<(String, &'static str)>) {
        self.elsewhere = keys;
    }

    /// Creates an empty table at a position, so that every key is absent.
    pub fn empty(place: Place, notes: &'a mut Notes) -> Section<'a> {
        Section {
            place,
            entries: &[],
            used: vec![],
            known: vec![],
            elsewhere: vec![],
            notes,
            resolved: Resolved::default(),
        }
    }

    /// Returns the position of the table.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns the value of a key as in the file, and marks the key as used.
    pub fn raw(&mut self, key: &str) -> Option<&'a Value> {
        if !self.known.iter().any(|known| known == key) {
            self.known.push(key.to_owned());
        }
        let at = self.entries.iter().position(|(k, _, _)| k == key)?;
        self.used[at] = true;
        Some(&self.entries[at].2)
    }

    /// Returns the position of a key's value, or of the table if the key is absent.
    pub fn place_of(&self, key: &str) -> Place {
        self.entries
            .iter()
            .find(|(k, _, _)| k == key)
            .map_or(self.place, |(_, _, v)| v.place)
    }

    /// Reads a required key.
    pub fn required<T: FromToml>(&mut self, key: &str) -> Option<T> {
        let Some(value) = self.raw(key) else {
            self.notes
                .error("E0105", self.place, format!("`{key}` is missing"))
                .help(format!("add {key} = … ({})", T::shape().words()));
            return None;
        };
        let read = T::read(value, self.notes)?;
        self.line(key, read.write(), false);
        Some(read)
    }

    /// Reads an optional key.
    pub fn or<T: FromToml>(&mut self, key: &str, default: T) -> Option<T> {
        let (read, is_default) = match self.raw(key) {
            Some(value) => (T::read(value, self.notes)?, false),
            None => (default, true),
        };
        let text = read.write();
        // A parameter without a value has no line, since TOML has no null.
        if !text.is_empty() {
            self.line(key, text, is_default);
        }
        Some(read)
    }

    /// Notes a key of former versions, if the file sets it. Its former default, as TOML, changes
    /// nothing and is a warning.
    pub fn removed(&mut self, key: &str, former: &str, instead: &str) {
        let Some(at) = self.entries.iter().position(|(k, _, _)| k == key) else {
            return;
        };
        self.used[at] = true;
        let (_, place, value) = &self.entries[at];
        let message = format!("`{key}` was removed; {instead}");
        match value.to_toml() == former {
            true => self.notes.warning("W0111", *place, message),
            false => self.notes.error("E0110", *place, message),
        }
        .help("remove the key");
    }

    /// Adds a line to the resolved table.
    pub fn line(&mut self, key: &str, text: String, is_default: bool) {
        self.resolved.lines.push(ResolvedLine::Value {
            key: key.to_owned(),
            text,
            is_default,
        });
    }

    /// Ends the table and reports the unused keys as unknown. If an unknown key is a misspelt
    /// missing key, only one error is reported.
    pub fn finish(self) -> Resolved {
        for ((key, place, _), used) in self.entries.iter().zip(&self.used) {
            if *used {
                continue;
            }
            if self.notes.is_full() {
                self.notes.error("E0106", *place, "unknown key");
                continue;
            }
            let others = self.elsewhere.iter().filter(|(known, _)| known == key);
            let others: Vec<&str> = others.map(|(_, kind)| *kind).collect();
            let near = nearest(key, self.known.iter().map(String::as_str));
            if let Some(near) = near.filter(|_| others.is_empty()) {
                let missing = format!("`{near}` is missing");
                let here = self.place;
                self.notes.retract(|note| {
                    let is_here = note.places.first().is_some_and(|(place, _)| *place == here);
                    note.code == "E0105" && is_here && note.message == missing
                });
            }
            let note = self
                .notes
                .error("E0106", *place, format!("unknown key `{key}`"));
            match near {
                _ if !others.is_empty() => note.help(format!(
                    "remove it: it is a key of {}, not of this kind",
                    others.join(", ")
                )),
                Some(near) => note.help(format!("did you mean `{near}`?")),
                None => note.help(format!("use one of {}", self.known.join(", "))),
            };
        }
        self.resolved
    }
}

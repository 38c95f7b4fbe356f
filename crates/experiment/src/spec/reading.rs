//! Helpers for [`Section`]: nested tables, kinds with a default, places by path.

use netloom_catalog::{Kind, Place, Resolved, ResolvedLine, Section, Value, ValueShape, read_kind};

/// Reads the table under a key. A missing table reads like an empty one.
pub(crate) fn table<T>(
    section: &mut Section<'_>,
    key: &str,
    read: impl FnOnce(&mut Section<'_>) -> Option<T>,
) -> Option<T> {
    let place = section.place();
    let mut inner = match section.raw(key) {
        Some(value) => Section::open(value, section.notes)?,
        None => Section::empty(place, section.notes),
    };
    let result = read(&mut inner);
    let resolved = inner.finish();
    let line = ResolvedLine::Table(key.to_owned(), resolved);
    section.resolved.lines.push(line);
    result
}

/// Reads a table of a kind. `kind` is optional even if parameters are given.
pub(crate) fn kind_table<T: ?Sized>(
    section: &mut Section<'_>,
    key: &str,
    concept: &str,
    kinds: &[Kind<T>],
    default: &str,
) -> Option<Box<T>> {
    let has_no_kind =
        |value: &&Value| matches!(value.shape, ValueShape::Table(_)) && value.get("kind").is_none();
    if section.raw(key).filter(has_no_kind).is_none() {
        return read_kind(section, key, concept, kinds, Some(default));
    }
    let kind = kinds
        .iter()
        .find(|kind| kind.name == default)
        .expect("a default is a known kind");
    table(section, key, |inner| {
        inner.raw("kind");
        inner.line("kind", format!("\"{default}\""), true);
        (kind.read)(inner)
    })
}

/// Returns the table under a path of keys of a resolved file.
pub(crate) fn resolved_table<'a>(
    resolved: &'a mut Resolved,
    path: &[&str],
) -> Option<&'a mut Resolved> {
    path.iter().try_fold(resolved, |table, wanted| {
        table.lines.iter_mut().find_map(|line| match line {
            ResolvedLine::Table(key, inner) if key == wanted => Some(inner),
            _ => None,
        })
    })
}

/// Adds a default computed from other values, unless the file has the key. `at` is the index among
/// the lines of its table at which a file with the key would show it.
pub(crate) fn resolve_default(
    resolved: &mut Resolved,
    path: &[&str],
    at: usize,
    key: &str,
    text: String,
) {
    let Some(table) = resolved_table(resolved, path) else {
        return;
    };
    let is_there = table
        .lines
        .iter()
        .any(|line| matches!(line, ResolvedLine::Value { key: k, .. } if k == key));
    if !is_there {
        let line = ResolvedLine::Value {
            key: key.to_owned(),
            text,
            is_default: true,
        };
        table.lines.insert(at.min(table.lines.len()), line);
    }
}

/// Removes a key from a resolved file, if another value replaces it.
pub(crate) fn forget(resolved: &mut Resolved, path: &[&str], key: &str) {
    if let Some(table) = resolved_table(resolved, path) {
        table.lines.retain(|line| match line {
            ResolvedLine::Value { key: k, .. }
            | ResolvedLine::Table(k, _)
            | ResolvedLine::Item(k, _) => k != key,
        });
    }
}

/// The places of values by their path in the file (`qos.sl2vl.3`, `traffic.0.load`).
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) root: &'a Value,
}

impl Places<'_> {
    /// Returns the place of a value, or of the innermost table on its path if it is missing.
    pub(crate) fn of(&self, path: &str) -> Place {
        self.find(path).unwrap_or_else(|place| place)
    }

    /// Returns the place of a value, if the file has it.
    pub(crate) fn written(&self, path: &str) -> Option<Place> {
        self.find(path).ok()
    }

    /// Returns the first of these values that the file has, with its place.
    pub(crate) fn first_written<'k>(&self, paths: &[&'k str]) -> Option<(&'k str, Place)> {
        let mut written = paths
            .iter()
            .filter_map(|path| Some((*path, self.written(path)?)));
        written.next()
    }

    /// Returns the kind at a path, given as a string or as `kind` of a table.
    pub(crate) fn kind(&self, path: &str) -> Option<&str> {
        let value = self.value(path).ok()?;
        match &value.get("kind").unwrap_or(value).shape {
            ValueShape::Text(name) => Some(name),
            _ => None,
        }
    }

    fn find(&self, path: &str) -> Result<Place, Place> {
        self.value(path).map(|value| value.place)
    }

    fn value(&self, path: &str) -> Result<&Value, Place> {
        let mut value = self.root;
        for key in path.split('.') {
            let next = match &value.shape {
                ValueShape::List(items) => key.parse::<usize>().ok().and_then(|n| items.get(n)),
                _ => value.get(key),
            };
            value = next.ok_or(value.place)?;
        }
        Ok(value)
    }
}

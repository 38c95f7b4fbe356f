//! Kinds and their registries: a constant slice of kinds per concept.

use crate::document::ValueShape;
use crate::{Param, Params, Resolved, ResolvedLine, Section, Value, nearest};

/// What a parameter struct declares about its kind.
pub trait Described: Params {
    /// Name in files, in kebab case.
    const NAME: &'static str;
    /// One sentence.
    const SUMMARY: &'static str;
    /// Publication that the kind comes from.
    const PAPER: Option<&'static str> = None;
    /// Sound parameters, as lines of TOML (may be empty).
    const EXAMPLE: &'static str;
}

/// A kind of a concept; `T` is the trait of the concept.
pub struct Kind<T: ?Sized> {
    /// Name in files.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Publication that the kind comes from.
    pub paper: Option<&'static str>,
    /// Sound parameters, as lines of TOML.
    pub example: &'static str,
    pub params: fn() -> Vec<Param>,
    /// Reads the parameters from a table.
    pub read: fn(&mut Section<'_>) -> Option<Box<T>>,
}

impl<T: ?Sized> Clone for Kind<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Kind<T> {}

/// Describes a parameter struct as a kind of a concept, for example `kind!(Torus, dyn Blueprint)`.
#[macro_export]
macro_rules! kind {
    ($params:ty, $concept:ty) => {
        $crate::Kind::<$concept> {
            name: <$params as $crate::Described>::NAME,
            summary: <$params as $crate::Described>::SUMMARY,
            paper: <$params as $crate::Described>::PAPER,
            example: <$params as $crate::Described>::EXAMPLE,
            params: <$params as $crate::Params>::params,
            read: |section| {
                <$params as $crate::Params>::read(section).map(|p| Box::new(p) as Box<$concept>)
            },
        }
    };
}

/// A kind without the trait of its concept, for listings and manuals.
pub struct KindInfo {
    /// Name in files.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Publication that the kind comes from.
    pub paper: Option<&'static str>,
    /// Sound parameters, as lines of TOML.
    pub example: &'static str,
    pub params: Vec<Param>,
}

/// Returns the descriptions of a slice of kinds.
pub fn info<T: ?Sized>(kinds: &[Kind<T>]) -> Vec<KindInfo> {
    kinds
        .iter()
        .map(|k| KindInfo {
            name: k.name,
            summary: k.summary,
            paper: k.paper,
            example: k.example,
            params: (k.params)(),
        })
        .collect()
}

/// Reads `key = "name"` or `key = { kind = "name", … }` of a section as a kind of a concept.
///
/// `default` is the kind used if the key is absent. Without a default, the key is required.
pub fn read_kind<T: ?Sized>(
    section: &mut Section<'_>,
    key: &str,
    concept: &str,
    kinds: &[Kind<T>],
    default: Option<&str>,
) -> Option<Box<T>> {
    let known = || kinds.iter().map(|k| k.name);
    let Some(value) = section.raw(key) else {
        let Some(name) = default else {
            let names = known().collect::<Vec<_>>().join(", ");
            section
                .notes
                .error("E0105", section.place(), format!("`{key}` is missing"))
                .help(format!("add {key} = … (one of {names})"));
            return None;
        };
        let kind = kinds
            .iter()
            .find(|k| k.name == name)
            .expect("a default is a known kind");
        let place = section.place();
        let mut inner = Section::empty(place, section.notes);
        let read = (kind.read)(&mut inner);
        let table = with_kind(name, true, inner.finish());
        section
            .resolved
            .lines
            .push(ResolvedLine::Table(key.to_owned(), table));
        return read;
    };
    let (read, table) = read_kind_value(value, concept, kinds, section.notes)?;
    section
        .resolved
        .lines
        .push(ResolvedLine::Table(key.to_owned(), table));
    read
}

/// Reads one value as a kind. The resolved table is returned even if the parameters are wrong.
fn read_kind_value<T: ?Sized>(
    value: &Value,
    concept: &str,
    kinds: &[Kind<T>],
    notes: &mut crate::Notes,
) -> Option<(Option<Box<T>>, Resolved)> {
    let (name, place) = match &value.shape {
        ValueShape::Text(name) => (name.as_str(), value.place),
        ValueShape::Table(_) => match value.get("kind") {
            Some(kind) => match kind.as_text() {
                Some(name) => (name, kind.place),
                None => {
                    notes.error(
                        "E0101",
                        kind.place,
                        format!(
                            "expected the name of a kind of {concept}, found {}",
                            kind.shape.word()
                        ),
                    );
                    return None;
                }
            },
            None => {
                let names = kinds.iter().map(|k| k.name).collect::<Vec<_>>().join(", ");
                notes
                    .error("E0105", value.place, "`kind` is missing")
                    .help(format!("add kind = … (one of {names})"));
                return None;
            }
        },
        other => {
            notes.error(
                "E0101",
                value.place,
                format!("expected a kind of {concept}, found {}", other.word()),
            );
            return None;
        }
    };
    let Some(kind) = kinds.iter().find(|k| k.name == name) else {
        let note = notes.error("E0104", place, format!("unknown {concept} \"{name}\""));
        match nearest(name, kinds.iter().map(|k| k.name)) {
            Some(near) => note.help(format!("did you mean \"{near}\"?")),
            None => {
                let names = kinds.iter().map(|k| k.name).collect::<Vec<_>>().join(", ");
                note.help(format!("use one of {names}"))
            }
        };
        return None;
    };
    let mut inner = match &value.shape {
        ValueShape::Table(_) => Section::open(value, notes)?,
        _ => Section::empty(value.place, notes),
    };
    inner.raw("kind");
    let others = kinds.iter().filter(|other| other.name != name);
    let keys = others.flat_map(|other| {
        let params = (other.params)().into_iter();
        params.map(move |param| (param.name, other.name))
    });
    inner.knows_elsewhere(keys.collect());
    let read = (kind.read)(&mut inner);
    Some((read, with_kind(name, false, inner.finish())))
}

fn with_kind(name: &str, is_default: bool, mut table: Resolved) -> Resolved {
    let line = ResolvedLine::Value {
        key: "kind".into(),
        text: format!("\"{name}\""),
        is_default,
    };
    table.lines.insert(0, line);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Notes, Severity};

    trait Shape {
        fn area(&self) -> u32;
    }

    crate::params! {
        /// A rectangle.
        struct Rectangle {
            /// From left to right.
            width: u32,
            /// From top to
            /// bottom.
            line_height: u32 = 2,
        }
        removed { "corners" = "4": "a rectangle has four corners" }
        check |it, section| {
            if it.width == 0 {
                let place = section.place_of("width");
                section.notes.error("E0200", place, "no width");
            }
        }
    }
    impl Shape for Rectangle {
        fn area(&self) -> u32 {
            self.width * self.line_height
        }
    }
    impl Described for Rectangle {
        const NAME: &'static str = "rectangle";
        const SUMMARY: &'static str = "Four right angles.";
        const EXAMPLE: &'static str = "width = 3";
    }
    const SHAPES: &[Kind<dyn Shape>] = &[crate::kind!(Rectangle, dyn Shape)];

    fn read(text: &str) -> (Option<u32>, Vec<String>, String) {
        let mut notes = Notes::new();
        let doc = Document::parse("x.toml", text, &mut notes);
        let mut section = Section::open(&doc.root, &mut notes).unwrap();
        let shape = read_kind(&mut section, "shape", "shape", SHAPES, None);
        let resolved = section.finish().to_toml(true);
        let messages = notes
            .sorted()
            .into_iter()
            .map(|n| format!("{} ({})", n.message, n.help.unwrap_or_default()));
        (shape.map(|s| s.area()), messages.collect(), resolved)
    }

    #[test]
    fn a_kind_is_read_with_its_defaults_and_written_down() {
        let (area, messages, resolved) = read("shape = { kind = \"rectangle\", width = 3 }");
        assert_eq!((area, messages.len()), (Some(6), 0));
        assert_eq!(
            resolved,
            "\n[shape]\nkind = \"rectangle\"\nwidth = 3\nline-height = 2  # default\n"
        );
        assert_eq!(Rectangle::params()[1].about, "From top to bottom.");
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        let (area, messages, _) =
            read("shape = { kind = \"rectangle\", widht = 3, line-height = \"x\" }\nother = 1");
        assert_eq!(area, None);
        assert_eq!(
            messages,
            [
                "unknown key `widht` (did you mean `width`?)",
                "expected an integer, found a string ()",
                "unknown key `other` (use one of shape)",
            ]
        );
        assert_eq!(
            read("shape = \"rectangel\"").1,
            ["unknown shape \"rectangel\" (did you mean \"rectangle\"?)"]
        );
        assert_eq!(
            read("shape = { kind = \"rectangle\", width = 0 }").1,
            ["no width ()"]
        );
    }

    #[test]
    fn a_removed_key_is_reported_with_what_holds_now() {
        let read = |corners: u32| {
            let mut notes = Notes::new();
            let text =
                format!("shape = {{ kind = \"rectangle\", width = 3, corners = {corners} }}");
            let doc = Document::parse("x.toml", &text, &mut notes);
            let mut section = Section::open(&doc.root, &mut notes).unwrap();
            read_kind(&mut section, "shape", "shape", SHAPES, None).unwrap();
            let resolved = section.finish().to_toml(false);
            assert!(!resolved.contains("corners"), "{resolved}");
            let note = notes.sorted().remove(0);
            (note.severity, note.code, note.message)
        };
        let message = "`corners` was removed; a rectangle has four corners".to_owned();
        assert_eq!(read(4), (Severity::Warning, "W0111", message.clone()));
        assert_eq!(read(5), (Severity::Error, "E0110", message));
    }
}

//! Merging of a file with one that it `extends`.

use crate::document::ValueShape;
use crate::{Place, Value};

impl Value {
    /// Returns this value merged over one that it extends.
    ///
    /// Tables are merged key by key; lists and single values replace the old ones. If both tables
    /// have a `kind` and the kinds differ, the new table replaces the old one, because parameters
    /// of one kind mean nothing to another. `"uniform"` is short for `{ kind = "uniform" }`. A
    /// short form over a table of the same kind keeps the parameters of the table.
    pub fn over(self, parent: Value) -> Value {
        match (&self.shape, &parent.shape) {
            (ValueShape::Table(_), ValueShape::Table(_)) => match (kind(&self), kind(&parent)) {
                (Some(own), Some(other)) if own != other => self,
                _ => merged(self, parent),
            },
            (ValueShape::Table(_), ValueShape::Text(name)) if is_name(name) => match kind(&self) {
                Some(_) => self,
                None => merged(self, long_form(parent)),
            },
            (ValueShape::Text(name), ValueShape::Table(_)) if kind(&parent) == Some(name) => {
                merged(long_form(self), parent)
            }
            _ => self,
        }
    }
}

fn merged(child: Value, parent: Value) -> Value {
    let place = child.place;
    let (ValueShape::Table(own), ValueShape::Table(mut entries)) = (child.shape, parent.shape)
    else {
        unreachable!("only tables are merged");
    };
    for (key, key_place, value) in own {
        match entries.iter().position(|(known, _, _)| *known == key) {
            Some(at) => {
                let (_, _, other) = std::mem::replace(&mut entries[at], nothing(key_place));
                entries[at] = (key, key_place, value.over(other));
            }
            None => entries.push((key, key_place, value)),
        }
    }
    Value {
        place,
        shape: ValueShape::Table(entries),
    }
}

fn nothing(place: Place) -> (String, Place, Value) {
    let shape = ValueShape::Bool(false);
    (String::new(), place, Value { place, shape })
}

fn kind(value: &Value) -> Option<&str> {
    value.get("kind")?.as_text()
}

/// Whether a string can be the name of a kind. A quantity such as "16 KiB" cannot.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Expands `"uniform"` to `{ kind = "uniform" }`.
fn long_form(value: Value) -> Value {
    let place = value.place;
    Value {
        place,
        shape: ValueShape::Table(vec![("kind".to_owned(), place, value)]),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, Notes};

    /// Returns the second text merged over the first, as TOML.
    fn over(parent: &str, child: &str) -> String {
        let mut notes = Notes::new();
        let mut document = Document::parse("child.toml", child, &mut notes);
        let parent = document.parse_more("parent.toml", parent, &mut notes);
        document.root = document.root.clone().over(parent);
        assert!(notes.is_empty(), "{notes:?}");
        document.to_toml()
    }

    #[test]
    fn tables_merge_and_lists_replace() {
        let parent = "a = 1\n[link]\nrate = \"1 Gbps\"\nmtu = \"2 KiB\"\n[[traffic]]\nload = 1\n\
            [[traffic]]\nload = 2\n";
        let child = "[link]\nrate = \"2 Gbps\"\n[[traffic]]\nload = 3\n[new]\nx = true\n";
        insta::assert_snapshot!(over(parent, child), @r#"
        a = 1

        [link]
        rate = "2 Gbps"
        mtu = "2 KiB"

        [[traffic]]
        load = 3

        [new]
        x = true
        "#);
    }

    #[test]
    fn another_kind_replaces_the_whole_table_and_the_same_one_does_not() {
        let parent = "[qos.arbiter]\nkind = \"wfq\"\nweights = [1]\n";
        let same = "[qos.arbiter]\nkind = \"wfq\"\nlimit = 2\n";
        let other = "[qos.arbiter]\nkind = \"scfq\"\nlimit = 2\n";
        assert_eq!(
            over(parent, same),
            "\n[qos.arbiter]\nkind = \"wfq\"\nweights = [1]\nlimit = 2\n"
        );
        assert_eq!(
            over(parent, other),
            "\n[qos.arbiter]\nkind = \"scfq\"\nlimit = 2\n"
        );
        // The same in the short form.
        let merged = "\n[qos.arbiter]\nkind = \"wfq\"\nweights = [1]\n";
        assert_eq!(over(parent, "qos.arbiter = \"wfq\""), merged);
        assert_eq!(
            over(parent, "qos.arbiter = \"scfq\""),
            "\n[qos]\narbiter = \"scfq\"\n"
        );
        assert_eq!(over("qos.arbiter = \"scfq\"", parent), merged);
        // A table without a kind adds to the short form.
        assert_eq!(
            over("qos.arbiter = \"wfq\"", "[qos.arbiter]\nweights = [1]\n"),
            merged
        );
    }

    #[test]
    fn a_quantity_is_no_kind() {
        let pool = "[switch.input-buffer]\nsize = \"1 KiB\"\n";
        assert_eq!(
            over("switch.input-buffer = \"16 KiB\"", pool),
            "\n[switch.input-buffer]\nsize = \"1 KiB\"\n"
        );
    }

    #[test]
    fn values_remember_which_file_they_stand_in() {
        let mut notes = Notes::new();
        let mut document = Document::parse("child.toml", "b = 2", &mut notes);
        let parent = document.parse_more("parent.toml", "a = 1\nb = 1", &mut notes);
        let root = document.root.clone().over(parent);
        assert_eq!(root.get("a").unwrap().place.source, 1);
        assert_eq!(root.get("b").unwrap().place.source, 0);
        assert_eq!(document.sources[1].0, "parent.toml");
    }
}

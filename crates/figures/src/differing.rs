//! In which keys of their files folders of results differ.

use std::collections::{BTreeMap, BTreeSet};

use netloom_results::Collection;
use toml::{Table, Value};

/// A key that has not the same value in every file.
#[derive(Clone, PartialEq, Debug)]
pub struct Differing {
    /// Its path, as `--set` takes it.
    pub key: String,
    /// Its value in every folder as JSON; nothing where the key is missing.
    pub values: Vec<Option<String>>,
}

/// Keys that say what a run is called, not what it is.
const NAMES: [&str; 3] = ["netloom", "name", "about"];

/// The keys in which the resolved files of folders differ, in the order of their names.
pub fn differing(collections: &[Collection]) -> Vec<Differing> {
    let files: Vec<BTreeMap<String, String>> = collections
        .iter()
        .map(|collection| flat(&collection.experiment))
        .collect();
    let keys: BTreeSet<&String> = files.iter().flat_map(BTreeMap::keys).collect();
    let all = keys.into_iter().map(|key| Differing {
        key: key.clone(),
        values: files.iter().map(|file| file.get(key).cloned()).collect(),
    });
    let mut found: Vec<Differing> = all
        .filter(|one| !NAMES.contains(&one.key.as_str()))
        .filter(|one| one.values.windows(2).any(|pair| pair[0] != pair[1]))
        .collect();
    for list in files.iter().flat_map(lists).collect::<BTreeSet<_>>() {
        found = told_once(found, &list, &files);
    }
    found
}

impl Differing {
    /// Its value in a folder, for people: texts without quotes.
    pub fn value(&self, folder: usize) -> &str {
        match self.values.get(folder).and_then(Option::as_deref) {
            None => "–",
            Some(text) => {
                let bare = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
                bare.unwrap_or(text)
            }
        }
    }

    /// The last word of its path that says something.
    pub(crate) fn word(&self) -> &str {
        let mut words = self.key.rsplit('.').filter(|word| *word != "kind");
        words.next().unwrap_or(&self.key)
    }
}

/// Every value of a file by its path; a table of a list by its number.
fn flat(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    if let Ok(table) = text.parse::<Table>() {
        add_table(&mut found, "", &table);
    }
    found
}

fn add_table(found: &mut BTreeMap<String, String>, path: &str, table: &Table) {
    for (key, value) in table {
        let key = match key.contains('.') {
            true => format!("\"{key}\""),
            false => key.clone(),
        };
        let path = match path {
            "" => key,
            path => format!("{path}.{key}"),
        };
        match value {
            Value::Table(table) => add_table(found, &path, table),
            Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_table) => {
                for (n, table) in items.iter().filter_map(Value::as_table).enumerate() {
                    add_table(found, &format!("{path}.{n}"), table);
                }
            }
            value => {
                let text = serde_json::to_string(value).unwrap_or_default();
                found.insert(path, text);
            }
        }
    }
}

/// The paths of lists of tables in a flat file: `traffic`.
fn lists(file: &BTreeMap<String, String>) -> BTreeSet<String> {
    let firsts = file.keys().filter_map(|key| key.split_once(".0."));
    firsts.map(|(list, _)| list.to_owned()).collect()
}

/// What differs alike in every table of a list is told once, without its number, as `--set` takes it.
fn told_once(
    found: Vec<Differing>,
    list: &str,
    files: &[BTreeMap<String, String>],
) -> Vec<Differing> {
    let inside = |key: &str| -> Option<String> {
        let rest = key.strip_prefix(list)?.strip_prefix('.')?;
        let (number, rest) = rest.split_once('.')?;
        number.parse::<usize>().ok()?;
        Some(rest.to_owned())
    };
    let n_tables = |file: &BTreeMap<String, String>| {
        let numbers = file.keys().filter_map(|key| {
            let rest = key.strip_prefix(list)?.strip_prefix('.')?;
            rest.split_once('.')?.0.parse::<usize>().ok()
        });
        numbers.max().map_or(0, |last| last + 1)
    };
    let n = n_tables(&files[0]);
    if files.iter().any(|file| n_tables(file) != n) {
        return found;
    }
    let mut kept: Vec<Differing> = vec![];
    for one in &found {
        let Some(rest) = inside(&one.key) else {
            kept.push(one.clone());
            continue;
        };
        let alike = found
            .iter()
            .filter(|other| inside(&other.key).as_ref() == Some(&rest))
            .filter(|other| other.values == one.values);
        let key = match alike.count() == n {
            true => format!("{list}.{rest}"),
            false => one.key.clone(),
        };
        if !kept.iter().any(|other| other.key == key) {
            kept.push(Differing {
                key,
                values: one.values.clone(),
            });
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: &[&str]) -> Vec<(String, Vec<String>)> {
        let of = |text: &&str| Collection {
            experiment: (*text).to_owned(),
            ..Collection::default()
        };
        let all: Vec<Collection> = files.iter().map(of).collect();
        let value = |one: &Differing| {
            (0..files.len())
                .map(|at| one.value(at).to_owned())
                .collect()
        };
        let found = differing(&all);
        found
            .iter()
            .map(|one| (one.key.clone(), value(one)))
            .collect()
    }

    #[test]
    fn keys_are_told_as_set_takes_them() {
        let file = |load: f64, kind: &str, more: &str| {
            format!(
                "name = \"{kind}\"\n[qos.arbiter]\nkind = \"{kind}\"\n{more}\n\
                 [[traffic]]\nload = {load}\nsl = 0\n[[traffic]]\nload = {load}\nsl = 1\n"
            )
        };
        let (one, two) = (file(0.5, "wfq", ""), file(0.8, "dtable", "entries = 8"));
        let pair = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        assert_eq!(
            told(&[&one, &two]),
            [
                ("qos.arbiter.entries".to_owned(), pair("–", "8")),
                ("qos.arbiter.kind".to_owned(), pair("wfq", "dtable")),
                ("traffic.load".to_owned(), pair("0.5", "0.8")),
            ]
        );
        assert_eq!(told(&[&one, &one]), []);
    }

    #[test]
    fn one_class_of_several_keeps_its_number() {
        let file = |load: f64| format!("[[traffic]]\nload = 0.1\n[[traffic]]\nload = {load}\n");
        let found = told(&[&file(0.2), &file(0.3), &file(0.2)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "traffic.1.load");
        assert_eq!(found[0].1, ["0.2", "0.3", "0.2"]);
    }
}

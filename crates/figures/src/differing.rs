//! Finds the keys in which the files of folders of results differ.

use std::collections::{BTreeMap, BTreeSet};

use netloom_results::Collection;
use toml::{Table, Value};

/// A key whose value differs between files.
#[derive(Clone, PartialEq, Debug)]
pub struct Differing {
    /// Its path, as for `--set`.
    pub key: String,
    /// Its value in every folder as JSON; `None` if the key is missing.
    pub values: Vec<Option<String>>,
}

/// Keys that name a run and do not affect it.
const NAMES: [&str; 3] = ["netloom", "name", "about"];

/// Returns the keys in which the resolved files of folders differ, sorted by name.
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
        found = merged(found, &list, &files);
    }
    by_kind(found)
}

/// Merges the keys that belong to a different kind into one. Each kind has its own keys, so
/// replacing a fat tree by a dragonfly is one difference, not eight. Tables with the same values,
/// such as the arbiters of switches and NICs, are merged too.
fn by_kind(found: Vec<Differing>) -> Vec<Differing> {
    let table_of = |key: &str| key.strip_suffix(".kind").map(str::to_owned);
    let tables: Vec<String> = found.iter().filter_map(|one| table_of(&one.key)).collect();
    let has_all = |one: &Differing| one.values.iter().all(Option::is_some);
    // The innermost table with a different kind, unless all files have the key.
    let owner = |one: &Differing| {
        let inside = tables.iter().filter(|table| {
            let rest = one.key.strip_prefix(table.as_str());
            rest.is_some_and(|rest| rest == ".kind" || rest.starts_with('.') && !has_all(one))
        });
        inside.max_by_key(|table| table.len()).cloned()
    };
    let mut merged: Vec<Differing> = vec![];
    let mut done: BTreeSet<String> = BTreeSet::new();
    for one in &found {
        let Some(table) = owner(one) else {
            merged.push(one.clone());
            continue;
        };
        if !done.insert(table.clone()) {
            continue;
        }
        let kind_key = format!("{table}.kind");
        let kind = found.iter().find(|other| other.key == kind_key);
        let parts: Vec<&Differing> = found
            .iter()
            .filter(|other| other.key != kind_key && owner(other).as_ref() == Some(&table))
            .collect();
        let value = |at: usize| {
            let kind = kind.filter(|kind| kind.values[at].is_some())?.value(at);
            let own = parts.iter().filter(|part| part.values[at].is_some());
            let own: Vec<String> = own
                .map(|part| format!("{} {}", &part.key[table.len() + 1..], part.value(at)))
                .collect();
            let text = match own.is_empty() {
                true => kind.to_owned(),
                false => format!("{kind} ({})", own.join(", ")),
            };
            Some(format!("\"{text}\""))
        };
        let values: Vec<Option<String>> = (0..one.values.len()).map(value).collect();
        match merged.iter_mut().find(|other| other.values == values) {
            Some(other) if tables.contains(&other.key) => {
                other.key = format!("{}, {table}", other.key);
            }
            _ => merged.push(Differing { key: table, values }),
        }
    }
    merged
}

impl Differing {
    /// Returns its value in a folder; texts without quotes.
    pub fn value(&self, folder: usize) -> &str {
        match self.values.get(folder).and_then(Option::as_deref) {
            None => "–",
            Some(text) => {
                let bare = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
                bare.unwrap_or(text)
            }
        }
    }

    /// Returns the value without the keys of its kind: `dtable`.
    pub(crate) fn short(&self, folder: usize) -> &str {
        let value = self.value(folder);
        value.split_once(" (").map_or(value, |(kind, _)| kind)
    }

    /// Returns the last component of its path.
    pub(crate) fn word(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or(&self.key)
    }
}

/// Returns all values of a file by path; tables of a list by number.
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

/// Returns the paths of lists of tables in a flattened file: `traffic`.
fn lists(file: &BTreeMap<String, String>) -> BTreeSet<String> {
    let firsts = file.keys().filter_map(|key| key.split_once(".0."));
    firsts.map(|(list, _)| list.to_owned()).collect()
}

/// Merges differences that are the same in all tables of a list into one, without a number, as for
/// `--set`.
fn merged(found: Vec<Differing>, list: &str, files: &[BTreeMap<String, String>]) -> Vec<Differing> {
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
    let mut merged: Vec<Differing> = vec![];
    for one in &found {
        let Some(rest) = inside(&one.key) else {
            merged.push(one.clone());
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
        if !merged.iter().any(|other| other.key == key) {
            merged.push(Differing {
                key,
                values: one.values.clone(),
            });
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(files: &[&str]) -> Vec<(String, Vec<String>)> {
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
    fn keys_are_reported_as_set_takes_them() {
        let file = |load: f64, kind: &str, more: &str| {
            format!(
                "name = \"{kind}\"\n[qos.arbiter]\nkind = \"{kind}\"\n{more}\n\
                 [[traffic]]\nload = {load}\nsl = 0\n[[traffic]]\nload = {load}\nsl = 1\n"
            )
        };
        let (one, two) = (file(0.5, "wfq", ""), file(0.8, "dtable", "entries = 8"));
        let pair = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        assert_eq!(
            differences(&[&one, &two]),
            [
                ("qos.arbiter".to_owned(), pair("wfq", "dtable (entries 8)")),
                ("traffic.load".to_owned(), pair("0.5", "0.8")),
            ]
        );
        assert_eq!(differences(&[&one, &one]), []);
    }

    #[test]
    fn keys_that_follow_from_a_kind_are_one_difference() {
        let pair = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        let tree = "[topology]\nkind = \"fat-tree\"\narity = 4\nlevels = 3\n[qos.arbiter]\n\
            kind = \"wfq\"\n\
                    [qos.nic-arbiter]\nkind = \"wfq\"\n[switch]\nkind = \"crossbar\"\n\
                    speedup = 1\n";
        let torus = "[topology]\nkind = \"torus\"\nsize = [4, 4]\n[qos.arbiter]\n\
            kind = \"dtable\"\n\
                     [qos.nic-arbiter]\nkind = \"dtable\"\n[switch]\nkind = \"tiled\"\n\
                     speedup = 2\n";
        assert_eq!(
            differences(&[tree, torus]),
            [
                (
                    "qos.arbiter, qos.nic-arbiter".to_owned(),
                    pair("wfq", "dtable")
                ),
                ("switch".to_owned(), pair("crossbar", "tiled")),
                // Both switches have a speed-up.
                ("switch.speedup".to_owned(), pair("1", "2")),
                (
                    "topology".to_owned(),
                    pair("fat-tree (arity 4, levels 3)", "torus (size [4,4])")
                ),
            ]
        );
    }

    #[test]
    fn one_class_of_several_keeps_its_number() {
        let file = |load: f64| format!("[[traffic]]\nload = 0.1\n[[traffic]]\nload = {load}\n");
        let found = differences(&[&file(0.2), &file(0.3), &file(0.2)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "traffic.1.load");
        assert_eq!(found[0].1, ["0.2", "0.3", "0.2"]);
    }
}

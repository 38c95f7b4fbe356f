//! `[[traffic]]`: the classes.

use netloom_catalog::{ResolvedLine, Section, ValueShape};
use netloom_traffic::{Class, TrafficKinds};

/// A class and the table it comes from.
pub(crate) struct ClassSpec {
    pub(crate) class: Class,
    /// Index of its `[[traffic]]` table in the file.
    pub(crate) table: usize,
}

/// Reads all `[[traffic]]` tables. Returns `None` if any is invalid. A file with connections may
/// have none.
pub(crate) fn read(
    root: &mut Section<'_>,
    may_be_missing: bool,
    kinds: &TrafficKinds,
) -> Option<Vec<ClassSpec>> {
    const HELP: &str = "add a class of traffic: [[traffic]], and load = 0.5 below it";
    let Some(value) = root.raw("traffic") else {
        if may_be_missing {
            return Some(vec![]);
        }
        let place = root.place();
        root.notes
            .error("E0606", place, "there is no traffic")
            .help(HELP);
        return None;
    };
    let ValueShape::List(items) = &value.shape else {
        root.notes
            .error(
                "E0101",
                value.place,
                format!("expected a list of tables, found {}", value.shape.word()),
            )
            .help("use [[traffic]], with two brackets, for each class");
        return None;
    };
    if items.is_empty() {
        root.notes
            .error("E0606", value.place, "there is no traffic")
            .help(HELP);
        return None;
    }
    let mut classes = Some(vec![]);
    for (table, item) in items.iter().enumerate() {
        let Some(mut section) = Section::open(item, root.notes) else {
            classes = None;
            continue;
        };
        let read = Class::read(&mut section, kinds);
        let line = ResolvedLine::Item("traffic".into(), section.finish());
        root.resolved.lines.push(line);
        match (read, &mut classes) {
            (Some(read), Some(list)) => {
                list.extend(read.into_iter().map(|class| ClassSpec { class, table }));
            }
            _ => classes = None,
        }
    }
    classes
}

/// Gives distinct names to classes named after their service level.
pub(crate) fn tell_apart(classes: &mut [ClassSpec]) {
    for at in 0..classes.len() {
        let (before, rest) = classes.split_at_mut(at);
        let class = &mut rest[0].class;
        if class.name != format!("sl{}", class.sl.0) {
            continue;
        }
        let plain = class.name.clone();
        let mut number = 2;
        while before.iter().any(|other| other.class.name == class.name) {
            class.name = format!("{plain}-{number}");
            number += 1;
        }
    }
}

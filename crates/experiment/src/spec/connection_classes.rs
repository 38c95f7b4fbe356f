//! `[[connections.class]]`: which bandwidths are drawn for connections, and which belongs to which service level.

use netloom_catalog::{Notes, Params, ResolvedLine, Section, Value, ValueShape, params};
use netloom_design::infiniband::ConnectionClass;
use netloom_units::{Rate, Sl, Time};

/// More classes than there are turns worth taking.
const MOST_CLASSES: usize = 64;

/// Classes of connections, at least one.
pub(crate) type Classes = Vec<ConnectionClass>;

params! {
    /// Connections that are drawn alike; the classes take turns.
    pub(crate) struct ClassSpec {
        /// Service level, 0 to 3; packets of connections with a deadline have one of their own, 4 to 7.
        pub(crate) sl: u8,
        /// The least bandwidth that is drawn, in payload.
        pub(crate) least: Rate,
        /// The most. It is also the bound of the class where a list gives no service level: the first class that reaches so far.
        pub(crate) most: Rate,
        /// How long packets of those that are drawn may wait at all outputs of their path together; left out: no promise.
        pub(crate) deadline: Option<Time> = None,
    }
}

/// Reads the classes of `[connections]`, those of paper 004 where there are none.
pub(crate) fn read(section: &mut Section<'_>) -> Option<Classes> {
    let Some(value) = section.raw("class") else {
        return Some(ConnectionClass::of_paper());
    };
    let items = match &value.shape {
        ValueShape::List(items) if (1..=MOST_CLASSES).contains(&items.len()) => items,
        _ => {
            section
                .notes
                .error("E0801", value.place, "no list of classes of connections")
                .help(format!(
                    "write [[connections.class]], with two brackets, from 1 to {MOST_CLASSES} times, each with sl, least and most"
                ));
            return None;
        }
    };
    let mut classes = vec![];
    for item in items {
        let Some(mut inner) = Section::open(item, section.notes) else {
            classes.push(None);
            continue;
        };
        let read = ClassSpec::read(&mut inner);
        classes.push(read.and_then(|spec| class(&spec, &mut inner)));
        let line = ResolvedLine::Item("class".into(), inner.finish());
        section.resolved.lines.push(line);
    }
    classes.into_iter().collect()
}

fn class(spec: &ClassSpec, section: &mut Section<'_>) -> Option<ConnectionClass> {
    let class = ConnectionClass {
        sl: Sl(spec.sl),
        least: spec.least,
        most: spec.most,
        deadline: spec.deadline,
    };
    if spec.deadline.is_some_and(|deadline| deadline.is_zero()) {
        let place = section.place_of("deadline");
        section
            .notes
            .error("E0801", place, "no wait is as short as 0 ns")
            .help("write a time above zero, or leave `deadline` out");
        return None;
    }
    let Some(mistake) = class.mistake() else {
        return Some(class);
    };
    let (key, help) = match spec.sl {
        0..4 => (
            "most",
            "write a least bandwidth above 0 and a most that is not below it",
        ),
        _ => (
            "sl",
            "connections have SL0 to SL3; those with deadlines take SL4 to SL7 by themselves",
        ),
    };
    let place = section.place_of(key);
    section.notes.error("E0801", place, mistake).help(help);
    None
}

/// The classes of connections that a file has, for who draws connections without running it.
pub fn connection_classes(root: &Value, notes: &mut Notes) -> Option<Vec<ConnectionClass>> {
    match root.get("connections") {
        None => Some(ConnectionClass::of_paper()),
        Some(value) => read(&mut Section::open(value, notes)?),
    }
}

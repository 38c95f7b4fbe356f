//! `[[connections.class]]`: the bandwidths that are drawn for connections, by service level.

use netloom_catalog::{Notes, Params, ResolvedLine, Section, Value, ValueShape, params};
use netloom_design::infiniband::ConnectionClass;
use netloom_units::{Rate, Sl, Time};

/// Limit on the number of classes.
const MOST_CLASSES: usize = 64;

/// Classes of connections, at least one.
pub(crate) type Classes = Vec<ConnectionClass>;

params! {
    /// A class of drawn connections. The classes are drawn from in turn.
    pub(crate) struct ClassSpec {
        /// Service level, 0 to 3. Packets of connections with a deadline use levels 4 to 7 instead.
        pub(crate) sl: u8,
        /// The smallest bandwidth to draw, as payload.
        pub(crate) least: Rate,
        /// The largest bandwidth to draw. A listed connection without a service level belongs to
        /// the class with the smallest `most` that is not below its bandwidth.
        pub(crate) most: Rate,
        /// Limit on the total waiting time of a packet at all outputs of its path, for drawn
        /// connections. By default there is no guarantee.
        pub(crate) deadline: Option<Time> = None,
    }
}

/// Reads the classes of `[connections]`. The default is those of paper 004.
pub(crate) fn read(section: &mut Section<'_>) -> Option<Classes> {
    let Some(value) = section.raw("class") else {
        return Some(ConnectionClass::of_paper());
    };
    let items = match &value.shape {
        ValueShape::List(items) if (1..=MOST_CLASSES).contains(&items.len()) => items,
        _ => {
            section
                .notes
                .error(
                    "E0801",
                    value.place,
                    format!("expected a list of 1 to {MOST_CLASSES} classes of connections"),
                )
                .help("use [[connections.class]], with two brackets, with sl, least and most");
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
            .error("E0801", place, "expected a deadline above zero, found 0 ns")
            .help("use a time above zero, or remove `deadline`");
        return None;
    }
    let Some(mistake) = class.mistake() else {
        return Some(class);
    };
    let (key, help) = match spec.sl {
        0..4 => ("most", "set `least` above 0, and `most` to `least` or more"),
        _ => (
            "sl",
            "use SL0 to SL3; connections with deadlines use SL4 to SL7 automatically",
        ),
    };
    let place = section.place_of(key);
    section.notes.error("E0801", place, mistake).help(help);
    None
}

/// Reads the classes of connections of a file, to draw connections without running it.
pub fn connection_classes(root: &Value, notes: &mut Notes) -> Option<Vec<ConnectionClass>> {
    match root.get("connections") {
        None => Some(ConnectionClass::of_paper()),
        Some(value) => read(&mut Section::open(value, notes)?),
    }
}

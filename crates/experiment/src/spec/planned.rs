//! `[plan]`: tables that follow from what classes need.
//!
//! A file can state what its classes need instead of setting arbiters. The tables are then planned,
//! inserted into `[qos]` as if the file had them, and simulated. A file with both keeps its own
//! arbiter, and the plan is only read. A resolved file has both, so it runs the same.

use netloom_arbitration::{BxiDeficit, BxiTable, DTable, IbTwoTable};
use netloom_catalog::{Described, Document, Notes, Place, Section, Value, ValueShape};
use netloom_design::plan::{self, Plan, PlanError, Request, Surroundings, Tables};
use netloom_traffic::MANAGEMENT;
use netloom_units::{Bytes, Rate};

use super::LaneMap;
use super::diagnostics::Diagnostics;

/// The result of planning.
pub(super) type Outcome = Result<Plan, PlanError>;

/// The result of planning, with the surroundings that the plan was made for.
pub(super) struct Put {
    pub(super) outcome: Outcome,
    pub(super) surroundings: Surroundings,
}

/// `[plan]` as read, with the result of planning.
pub(crate) struct Planned {
    outcome: Outcome,
    slowest: Option<(Rate, String)>,
}

fn has_arbiter(document: &Document) -> bool {
    let qos = document.root.get("qos");
    qos.is_some_and(|qos| qos.get("arbiter").is_some())
}

/// Plans, and inserts the tables into the document, as `--set` would, unless it has its own
/// arbiter. Their place is that of `[plan]`. Errors of the section are noted when it is read.
pub(super) fn put(document: &mut Document, surroundings: Surroundings) -> Option<Put> {
    document.root.get("plan")?;
    let mut unheard = Notes::new();
    let request = Section::open(&document.root, &mut unheard)
        .and_then(|mut root| Request::read(&mut root, &surroundings))
        .filter(|_| !unheard.has_errors())?;
    let outcome = plan::plan(&request);
    if let Ok(plan) = &outcome
        && !has_arbiter(document)
    {
        set(plan, document);
    }
    Some(Put {
        outcome,
        surroundings,
    })
}

fn set(plan: &Plan, document: &mut Document) {
    let place = document.root.get("plan").map(|plan| plan.place);
    let place = place.unwrap_or_default();
    let at = |shape| Value { place, shape };
    let lanes = plan.sl2vl().into_iter().map(|vl| at(integer(vl)));
    let mut values = vec![
        ("vls", at(integer(plan.lanes.groups.len() as u32))),
        ("sl2vl", at(ValueShape::List(lanes.collect()))),
        ("arbiter", arbiter(plan, &plan.tables, place)),
    ];
    if *plan.host_tables() != plan.tables {
        values.push(("nic-arbiter", arbiter(plan, plan.host_tables(), place)));
    }
    for (key, value) in values {
        let qos = document.root.get("qos");
        if qos.is_none_or(|qos| qos.get(key).is_none()) {
            // A `qos` that is not a table is noted when it is read.
            document.put(&format!("qos.{key}"), place, value, &mut Notes::new());
        }
    }
}

fn integer(number: impl Into<i64>) -> ValueShape {
    ValueShape::Integer(number.into())
}

/// Returns the planned arbiter as a value of a file.
fn arbiter(plan: &Plan, tables: &Tables, place: Place) -> Value {
    let at = |shape| Value { place, shape };
    let pair = |&(key, weight): &(u8, u16)| {
        let pair = vec![at(integer(key)), at(integer(weight))];
        at(ValueShape::List(pair))
    };
    let kind = match tables {
        Tables::InfiniBand { .. } => IbTwoTable::NAME,
        Tables::Deficit(_) => DTable::NAME,
        Tables::Quantum {
            keeps_deficits: true,
            ..
        } => BxiDeficit::NAME,
        Tables::Quantum { .. } => BxiTable::NAME,
    };
    let mut keys = vec![("kind", ValueShape::Text(kind.to_owned()))];
    for (name, entries) in tables.lists() {
        keys.push((name, ValueShape::List(entries.iter().map(pair).collect())));
    }
    match tables {
        Tables::InfiniBand { limit, .. } => keys.push(("limit", integer(*limit))),
        Tables::Deficit(_) => {}
        Tables::Quantum { table, .. } => {
            let flit = plan.request.ports.flit.to_string();
            keys.extend([("k", integer(table.k)), ("flit", ValueShape::Text(flit))]);
        }
    }
    let keys = keys.into_iter();
    let entries = keys.map(|(key, shape)| (key.to_owned(), place, at(shape)));
    at(ValueShape::Table(entries.collect()))
}

/// Reads the section, if the file has it: notes its errors and adds it to the resolved file.
pub(super) fn read(root: &mut Section<'_>, put: Option<Put>) -> Option<Planned> {
    root.raw("plan")?;
    let unknown = Surroundings::default();
    let surroundings = put.as_ref().map_or(&unknown, |put| &put.surroundings);
    let slowest = surroundings.slowest.clone();
    Request::read(root, surroundings)?;
    let outcome = put?.outcome;
    Some(Planned { outcome, slowest })
}

/// Returns the plan, if the file's arbiter is the planned one.
pub(super) fn in_force(planned: Option<Planned>, root: &Value) -> Option<Plan> {
    let plan = planned?.outcome.ok()?;
    is_in_force(&plan, root).then_some(plan)
}

/// Returns the plan, if the file's arbiter is the planned one. Notes what cannot be met.
pub(super) fn judged(planned: Planned, diagnostics: &mut Diagnostics<'_>) -> Option<Plan> {
    let Planned { outcome, slowest } = planned;
    let place = diagnostics.places.of("plan");
    let plan = match outcome {
        Ok(plan) => plan,
        Err(refusal) => {
            // The file has its own tables.
            if diagnostics.places.written("qos.arbiter").is_some() {
                return None;
            }
            let conflict = refusal.conflict();
            let cannot = match refusal.is_proved {
                true => "classes cannot be met together",
                false => "found no tables for these classes, and no proof that there are none",
            };
            let message = format!("{cannot}: {}", conflict.names.join(", "));
            let note = diagnostics.notes.error("E0903", place, message);
            for class in &conflict.classes {
                note.also(diagnostics.places.of(&format!("plan.class.{class}")), "");
            }
            note.help(conflict.reasons.join("; "));
            return None;
        }
    };
    if !is_in_force(&plan, diagnostics.places.root) {
        let sentence = "not used: the file sets its own qos.arbiter";
        diagnostics.fact("plan", sentence.to_owned());
        return None;
    }
    for (class, words) in plan.shortfalls() {
        let place = diagnostics.places.of(&format!("plan.class.{class}"));
        diagnostics.notes.warning("W0904", place, words);
    }
    let is_followed = diagnostics.places.written("plan.rate").is_none();
    if let Some((rate, cable)) = slowest.filter(|_| is_followed) {
        diagnostics.fact("plan rate", format!("{rate}, the slowest cable: {cable}"));
    }
    let cautions = &plan.request.cautions;
    if let Some(why) = &cautions.bottleneck {
        let place = diagnostics.places.of("switch.speedup");
        diagnostics.notes.warning("W0907", place, why);
    }
    if let Some(slower) = &cautions.slower {
        diagnostics.notes.warning("W0908", place, slower);
    }
    if diagnostics.places.written("plan.hops").is_none() && plan.request.ports.hops > 1 {
        let hops = plan.request.ports.hops;
        diagnostics.fact(
            "plan hops",
            format!("{hops}, the outputs of switches on the longest path"),
        );
    }
    for fitted in &plan.fitted {
        diagnostics.fact("plan for", fitted.words());
    }
    let classes = plan.classes.iter().map(|class| {
        let wait = class
            .worst_wait
            .map_or("no bound".to_owned(), plan::rounded);
        let if_all_send = match plan.trusts() {
            true => format!(", {:.2} % if all send", class.share_if_all_send * 100.0),
            false => String::new(),
        };
        let given = class.share_given * 100.0;
        let slowdown = match (&class.slowdown, class.slowdown_wanted) {
            (Some(Ok(bound)), Some(_)) => {
                format!(", slowdown at most {}", plan::factor(bound.factor))
            }
            _ => String::new(),
        };
        format!(
            "{} {given:.2} %{if_all_send} ({wait}{slowdown})",
            class.name
        )
    });
    let classes: Vec<String> = classes.collect();
    diagnostics.fact("plan", classes.join(", "));
    Some(plan)
}

/// Warns of traffic with larger packets than planned for, which invalidate all bounds.
pub(super) fn packets(plan: &Plan, lanes: &LaneMap, diagnostics: &mut Diagnostics<'_>) {
    for (at, class) in plan.request.classes.iter().enumerate() {
        let planned = class.sizes.largest();
        let sent = lanes.largest_of_sl[class.sl.index() & 15].map(|bytes| Bytes(bytes.into()));
        if let Some(sent) = sent.filter(|sent| *sent > planned) {
            let place = diagnostics.places.of(&format!("plan.class.{at}"));
            let name = &class.name;
            let message = format!("{name} sends packets of {sent}, but is planned for {planned}");
            diagnostics
                .notes
                .warning("W0906", place, message)
                .help(format!(
                    "set packet = \"{sent}\", or remove it to use link.mtu and link.header"
                ));
        }
    }
}

/// Warns of service levels with traffic and without a class. The plan puts them on the least
/// harmful lane and guarantees nothing.
pub(super) fn levels(plan: &Plan, lanes: &LaneMap, diagnostics: &mut Diagnostics<'_>) {
    let is_planned = |sl: usize| plan.classes.iter().any(|class| class.sl.index() == sl);
    let is_management = |sl: usize| lanes.has_management() && sl == MANAGEMENT.index();
    let sent = lanes.largest_of_sl.iter().enumerate();
    let unplanned = sent.filter(|(sl, sent)| sent.is_some() && !is_planned(*sl));
    for (sl, _) in unplanned.filter(|(sl, _)| !is_management(*sl)) {
        let vl = lanes.channels.sc2vl[sl];
        let message = format!("SL{sl} has traffic but no class in the plan; it uses VL{vl}");
        let note = diagnostics
            .notes
            .warning("W0416", diagnostics.places.of("plan"), message);
        note.help(format!(
            "add a [[plan.class]] with sl = {sl} if it needs a share"
        ));
    }
}

/// Returns whether the arbiter of the file is the planned one: inserted by [`put`], or in a
/// resolved file.
fn is_in_force(plan: &Plan, root: &Value) -> bool {
    let qos = root.get("qos");
    let written = |key: &str| qos.and_then(|qos| qos.get(key));
    let is_written = |key: &str, tables: &Tables| {
        let planned = arbiter(plan, tables, Place::default());
        written(key).is_some_and(|written| says(&planned, written))
    };
    let hosts = plan.host_tables();
    let is_same_at_hosts = *hosts == plan.tables && written("nic-arbiter").is_none();
    is_written("arbiter", &plan.tables) && (is_same_at_hosts || is_written("nic-arbiter", hosts))
}

/// Returns whether a value contains everything that the wanted one does.
fn says(wanted: &Value, value: &Value) -> bool {
    match (&wanted.shape, &value.shape) {
        (ValueShape::Table(wanted), ValueShape::Table(_)) => wanted
            .iter()
            .all(|(key, _, wanted)| value.get(key).is_some_and(|value| says(wanted, value))),
        (ValueShape::List(wanted), ValueShape::List(values)) => {
            let pairs = || wanted.iter().zip(values);
            wanted.len() == values.len() && pairs().all(|(wanted, value)| says(wanted, value))
        }
        (wanted, value) => wanted == value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: &str = "[[plan.class]]\nname = \"a\"\nshare = 0.6\n\
                           [[plan.class]]\nname = \"b\"\nshare = 0.3\npacket = \"256 B\"\n";

    fn document(keys: &str) -> Document {
        let mut notes = Notes::new();
        let text = format!("{keys}\n{CLASSES}");
        let document = Document::parse("x.toml", &text, &mut notes);
        assert!(notes.is_empty(), "{notes:?}");
        document
    }

    #[test]
    fn a_planned_arbiter_is_the_value_of_its_text() {
        let deadline = "[plan]\nhigh-table = \"deadlines\"\n\
                        [[plan.class]]\nname = \"c\"\nshare = 0.1\ndeadline = \"20 us\"";
        let others = ["dtable", "bxi-table", "bxi-deficit"];
        let others = others.map(|kind| format!("[plan]\narbiter = \"{kind}\""));
        for keys in [&[deadline.to_owned()][..], &others].concat() {
            let mut document = document(&keys);
            let plan = put(&mut document, Surroundings::default()).expect("a sound section");
            let plan = plan
                .outcome
                .unwrap_or_else(|refusal| panic!("{keys}: {refusal:?}"));
            let qos = document.root.get("qos").expect("it is put there");
            let text = |key| qos.get(key).unwrap().to_toml();
            assert_eq!(
                text("arbiter"),
                plan.tables.to_toml(plan.request.ports.flit)
            );
            assert_eq!(text("vls"), plan.lanes.groups.len().to_string());
            let place = document.root.get("plan").unwrap().place;
            assert_eq!(qos.get("arbiter").unwrap().place, place);
            // What a file has is kept.
            let again = put(&mut document.clone(), Surroundings::default()).unwrap();
            let again = again.outcome.unwrap();
            let value = arbiter(&again, &again.tables, place);
            assert!(says(&value, qos.get("arbiter").unwrap()));
        }
    }

    #[test]
    fn a_qos_that_is_no_table_is_left_for_reading() {
        let mut document = document("qos = 3\n[plan]");
        let put = put(&mut document, Surroundings::default()).expect("a sound section");
        assert!(put.outcome.is_ok());
        let qos = document.root.get("qos").unwrap();
        assert_eq!(qos.shape, ValueShape::Integer(3));
    }
}

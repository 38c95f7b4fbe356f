//! `[plan]`: tables that follow from what classes need.
//!
//! A file may say what its classes need instead of how the arbiters are set: the tables are planned, written
//! into `[qos]` as if the file had them, and simulated. A file with both keeps its own arbiter, and the plan
//! is only read: so a resolved file, which has both, runs the same.

use netloom_catalog::{Document, FromToml, Notes, Section, Value, ValueShape};
use netloom_design::plan::{self, Plan, Refusal, Request};
use netloom_units::Bytes;

use super::LaneMap;
use super::plan::Desk;

/// What came of planning.
pub(super) type Outcome = Result<Plan, Refusal>;

/// What became of `[plan]`.
pub(crate) struct Planned {
    request: Request,
    outcome: Outcome,
}

fn has_arbiter(document: &Document) -> bool {
    let qos = document.root.get("qos");
    qos.is_some_and(|qos| qos.get("arbiter").is_some())
}

/// Plans, and puts the tables into the document, as `--set` would, unless it has an arbiter of its own. What is
/// wrong with the section is told when it is read with the others.
pub(super) fn put(document: &mut Document) -> Option<Outcome> {
    document.root.get("plan")?;
    let mut unheard = Notes::new();
    let request = Section::open(&document.root, &mut unheard)
        .and_then(|mut root| Request::read(&mut root))
        .filter(|_| !unheard.has_errors())?;
    let outcome = plan::plan(&request);
    if let Ok(plan) = &outcome
        && !has_arbiter(document)
    {
        set(plan, document);
    }
    Some(outcome)
}

fn set(plan: &Plan, document: &mut Document) {
    let values = [
        ("vls", plan.lanes.groups.len().to_string()),
        ("sl2vl", plan.sl2vl().write()),
        ("arbiter", plan.tables.to_toml(plan.request.ports.flit)),
    ];
    let written = |key: &str| {
        let qos = document.root.get("qos");
        qos.is_some_and(|qos| qos.get(key).is_some())
    };
    let missing = values.iter().filter(|(key, _)| !written(key));
    let sets: Vec<String> = missing
        .map(|(key, text)| format!("qos.{key}={text}"))
        .collect();
    let mut notes = Notes::new();
    sets.iter().for_each(|set| document.set(set, &mut notes));
    debug_assert!(notes.is_empty(), "planned tables are TOML");
}

/// Reads the section, if the file has it, for what is wrong with it and for the resolved file.
pub(super) fn read(root: &mut Section<'_>, outcome: Option<Outcome>) -> Option<Planned> {
    root.raw("plan")?;
    let request = Request::read(root)?;
    let outcome = outcome?;
    Some(Planned { request, outcome })
}

/// The plan, if the file's arbiter is the one that was planned; tells what cannot be met.
pub(super) fn judged(planned: Planned, desk: &mut Desk<'_>) -> Option<Plan> {
    let Planned { request, outcome } = planned;
    let place = desk.places.of("plan");
    let plan = match outcome {
        Ok(plan) => plan,
        Err(refusal) => {
            // Tables of the file's own were put in its place.
            if desk.places.written("qos.arbiter").is_some() {
                return None;
            }
            let name = |&class: &usize| request.classes[class].name.as_str();
            let names: Vec<&str> = refusal.conflict.classes.iter().map(name).collect();
            let note = desk.notes.error(
                "E0903",
                place,
                format!("cannot be met together: {}", names.join(", ")),
            );
            for class in &refusal.conflict.classes {
                note.also(desk.places.of(&format!("plan.class.{class}")), "");
            }
            note.help(refusal.conflict.reasons.join("; "));
            return None;
        }
    };
    if !is_in_force(&plan, desk) {
        let sentence = "not in force: qos.arbiter is the file's own";
        desk.fact("plan", sentence.to_owned());
        return None;
    }
    for unmet in &plan.unmet {
        let place = desk.places.of(&format!("plan.class.{}", unmet.class()));
        let words = unmet.words(&request.classes);
        desk.notes.warning("W0904", place, words);
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
        format!("{} {given:.2} %{if_all_send} ({wait})", class.name)
    });
    let classes: Vec<String> = classes.collect();
    desk.fact("plan", classes.join(", "));
    Some(plan)
}

/// Tells where traffic has larger packets than were planned for: no bound holds then.
pub(super) fn packets(plan: &Plan, lanes: &LaneMap, desk: &mut Desk<'_>) {
    for (at, class) in plan.request.classes.iter().enumerate() {
        let planned = class.sizes.largest();
        let sent = lanes.largest_of_sl[class.sl.index() & 15].map(|bytes| Bytes(bytes.into()));
        if let Some(sent) = sent.filter(|sent| *sent > planned) {
            let place = desk.places.of(&format!("plan.class.{at}"));
            let name = &class.name;
            let message = format!("{name} sends packets of {sent}, and is planned for {planned}");
            desk.notes.warning("W0906", place, message).help(format!(
                "write packet = \"{sent}\", or leave it out: link.mtu and link.header then say it"
            ));
        }
    }
}

/// Whether the arbiter of the file is the planned one: it was put there, or stands in a resolved file.
fn is_in_force(plan: &Plan, desk: &Desk<'_>) -> bool {
    let text = format!("arbiter = {}", plan.tables.to_toml(plan.request.ports.flit));
    let planned = Document::parse("plan", &text, &mut Notes::new());
    let qos = desk.places.root.get("qos");
    match (
        planned.root.get("arbiter"),
        qos.and_then(|qos| qos.get("arbiter")),
    ) {
        (Some(planned), Some(written)) => says(planned, written),
        _ => false,
    }
}

/// Whether a value says what another one does, and perhaps more.
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

//! `netloom plan FILE`: plans tables for the classes of a `[plan]` section.

use std::path::Path;

use netloom_design::plan::{self, PATH_ASSUMPTION, Plan, PlannedClass, Refusal, Request};
use netloom_design::qos::slowdown;
use netloom_design::qos::wait::{ASSUMPTION, Wait};
use netloom_experiment::Kinds;
use netloom_experiment::spec::{OpenedFile, read_plan};
use serde::Serialize;

use super::super::Exit;
use super::super::load::{Overrides, open};
use super::super::output::Output;
use super::super::table::{Columns, nanos, page, width, within, wrapped};
use super::PlanFormat;

/// Width of the words before facts.
const WORD: usize = 11;

pub(super) fn run(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    format: PlanFormat,
    output: &Output,
) -> anyhow::Result<Exit> {
    let OpenedFile {
        document,
        mut notes,
        ..
    } = open(kinds, file, overrides)?;
    let request = if notes.has_errors() {
        None
    } else {
        let directory = file.parent().unwrap_or(Path::new("."));
        read_plan(&document, directory, &mut notes)
    };
    if !notes.is_empty() {
        output.notes(&netloom_experiment::render(&document, &notes, output.color));
    }
    let Some(request) = request.filter(|_| !notes.has_errors()) else {
        return Ok(Exit::Invalid);
    };
    match plan::plan(&request) {
        Ok(plan) => {
            let shortfalls = plan.shortfalls();
            for (_, words) in &shortfalls {
                output.say(&format!("less exact than requested: {words}"));
            }
            output.data(&match format {
                PlanFormat::Human => within(&human(&plan), width()),
                PlanFormat::Json => json(&PlanDocument::of(&plan, None))?,
                PlanFormat::Toml => plan.to_toml(),
            })?;
            let bottleneck = &plan.request.cautions.bottleneck;
            if let Some(why) = bottleneck {
                output.insist(&format!("warning[W0907]: {why}\n"));
            }
            Ok(if shortfalls.is_empty() && bottleneck.is_none() {
                Exit::Done
            } else {
                Exit::NotConverged
            })
        }
        Err(refusal) => {
            refuse(&request, &refusal, format, output)?;
            Ok(Exit::Invalid)
        }
    }
}

fn refuse(
    request: &Request,
    refusal: &Refusal,
    format: PlanFormat,
    output: &Output,
) -> anyhow::Result<()> {
    let mut text = match refusal.is_proved {
        true => "no tables meet the requirements",
        false => "found no tables that meet the requirements (not proved: the search gave up)",
    }
    .to_owned();
    for reason in &refusal.reasons {
        text.push_str(&format!("\n  {reason}"));
    }
    output.error(&text);
    // The search for the classes takes longer than the refusal.
    let conflict = refusal.conflict();
    let name = |&class: &usize| request.classes[class].name.as_str();
    let names: Vec<&str> = conflict.classes.iter().map(name).collect();
    let how = match (conflict.is_smallest, conflict.is_minimal) {
        (true, _) => "no smaller set conflicts",
        (false, true) => "without any one of them, the others can be met",
        (false, false) => "a smaller set may conflict; the search gave up",
    };
    let mut text = match names.as_slice() {
        [one] => format!("{one} cannot be met even alone"),
        _ => format!("cannot be met together: {} ({how})", names.join(", ")),
    };
    for reason in &conflict.reasons {
        text.push_str(&format!("\n  {reason}"));
    }
    output.error(&text);
    match (format, &refusal.nearest) {
        (PlanFormat::Json, Some(nearest)) => {
            let conflict = Conflict::of(request, refusal, &conflict);
            output.data(&json(&PlanDocument::of(nearest, Some(conflict)))?)
        }
        (PlanFormat::Json, None) => output.data(&json(&Unmet {
            unmet: &refusal.reasons,
            conflict: Conflict::of(request, refusal, &conflict),
        })?),
        (PlanFormat::Human, Some(nearest)) => {
            let heading = "the nearest tables, which do not meet the requirements:\n";
            output.text(&format!("{heading}{}", human(nearest)))
        }
        // A section that does not meet the requirements is not written.
        _ => Ok(()),
    }
}

/// Formats a plan as text.
fn human(plan: &Plan) -> String {
    let ports = &plan.request.ports;
    let mut text = format!("{} at {}, ", ports.arbiter.name(), ports.rate);
    text.push_str(&match plan.fitted.first() {
        None => format!("{} entries per table\n", plan.request.capacity()),
        Some(fitted) => format!("for {}\n", fitted.words()),
    });
    let mut table = Columns::numbers();
    let mut heads = vec!["class", "SL", "VL", "table", "wanted", "given"];
    heads.extend(plan.trusts().then_some("if all send"));
    let has_range = plan.classes.iter().any(|class| class.share_least.is_some());
    if has_range {
        heads.extend(["least", "most"]);
    }
    heads.extend(["entries", "distance", "per turn", "wait"]);
    let is_long = ports.hops > 1;
    if is_long {
        heads.push("on its path");
    }
    heads.extend(["deadline", "slack"]);
    table.line(heads);
    for class in &plan.classes {
        let percent = |share: f64| format!("{:.2} %", share * 100.0);
        let mut line = vec![
            class.name.clone(),
            class.sl.0.to_string(),
            class.vl.0.to_string(),
            class.table.to_owned(),
            percent(class.share_wanted),
            percent(class.share_given),
        ];
        line.extend(plan.trusts().then(|| percent(class.share_if_all_send)));
        if has_range {
            let ends = [class.share_least, class.share_most];
            line.extend(ends.map(|share| share.map_or_else(|| "-".to_owned(), percent)));
        }
        line.extend([
            class.entries.to_string(),
            class.distance.to_string(),
            netloom_units::Bytes(class.bytes_per_turn).to_string(),
            maybe(class.worst_wait),
        ]);
        if is_long {
            line.push(maybe(class.path_wait));
        }
        line.extend([maybe(class.deadline), slack(class)]);
        table.line(line);
    }
    text.push_str(&table.print());
    text.push_str(&slowdowns(plan));
    text.push('\n');
    text.push_str(&tables(&plan.tables));
    for (word, fact) in &plan.facts {
        text.push_str(&indented(word, &wrapped(fact, page() - WORD - 3)));
    }
    for class in &plan.classes {
        if let Wait::Unbounded(why) = &class.wait {
            let note = format!("{}: no bound, because {why}", class.name);
            text.push_str(&indented("note", &wrapped(&note, page() - WORD - 3)));
        }
    }
    for note in &plan.notes {
        text.push_str(&indented("note", &wrapped(note, page() - WORD - 3)));
    }
    let covers = match ports.hops {
        1 => {
            "wait, deadline and slack are for one output, from the head of the queue to the first \
            flit"
                .to_owned()
        }
        n => format!(
            "wait is for one output, from the head of the queue to the first flit; \"on its path\" \
             is the sum over the outputs of the {n} switches of the longest path, to which the \
             deadline applies; the output of the NIC may add as much as another switch"
        ),
    };
    text.push_str(&indented("covers", &wrapped(&covers, page() - WORD - 3)));
    text.push_str(&indented("waits", &wrapped(ASSUMPTION, page() - WORD - 3)));
    if is_long {
        text.push_str(&indented("", &wrapped(PATH_ASSUMPTION, page() - WORD - 3)));
    }
    if plan.has_slowdowns() {
        let lines = wrapped(slowdown::ASSUMPTION, page() - WORD - 3);
        text.push_str(&indented("slowdown", &lines));
    }
    text + &by_device(plan)
}

/// Formats the slowdowns of all classes while all send: the price of those that are bounded.
fn slowdowns(plan: &Plan) -> String {
    if !plan.has_slowdowns() {
        return String::new();
    }
    let mut table = Columns::numbers();
    table.line([
        "while all send",
        "wanted",
        "share",
        "slowdown",
        "at most",
        "allowed",
        "slack",
        "startup",
    ]);
    let none = || "-".to_owned();
    for class in &plan.classes {
        let percent = |share: f64| format!("{:.2} %", share * 100.0);
        let bound = match (&class.slowdown, class.slowdown_wanted) {
            (Some(Ok(bound)), Some(_)) => Some(bound),
            _ => None,
        };
        let rate = plan.request.ports.rate;
        table.line([
            class.name.clone(),
            percent(class.share_wanted),
            percent(class.share_if_all_send),
            times(class.slowdown_if_all_send()),
            bound.map_or_else(none, |bound| plan::factor(bound.factor)),
            class.slowdown_wanted.map_or_else(none, |it| it.to_string()),
            match (class.slowdown_slack(), class.slowdown_wanted) {
                (Some(slack), _) => format!("{slack:.3}"),
                (None, Some(_)) => "missed".to_owned(),
                (None, None) => none(),
            },
            bound.map_or_else(none, |bound| nanos(bound.startup_time(rate).as_nanos())),
        ]);
    }
    format!("\n{}", table.print())
}

/// Formats an expected slowdown; a class that may get nothing has none.
fn times(slowdown: Option<f64>) -> String {
    match slowdown {
        Some(slowdown) if slowdown < 10.0 => format!("{slowdown:.2}"),
        Some(slowdown) => format!("{slowdown:.1}"),
        None => "unlimited".to_owned(),
    }
}

/// Formats the entries of tables, and the limit between them.
fn tables(tables: &plan::Tables) -> String {
    let mut text = String::new();
    let key = tables.key();
    for (name, entries) in tables.lists() {
        let entry = |(at, weight): &(u8, u16)| format!("{key}{at}:{weight}");
        let list: Vec<String> = entries.iter().map(entry).collect();
        if !list.is_empty() {
            let lines = wrapped(&list.join(" "), page() - WORD - 3);
            text.push_str(&indented(name, &lines));
        }
    }
    if let Some(limit) = tables.limit() {
        let limit = match limit {
            0 => "0 (one low packet after every high one)".to_owned(),
            255 => "255 (none)".to_owned(),
            n => format!("{n} (one low packet after {n} times 4096 bytes)"),
        };
        text.push_str(&indented("limit", &limit));
    }
    text
}

/// Formats what each class gets at each device of a fabric with several devices, and their tables.
fn by_device(plan: &Plan) -> String {
    let mut text = String::new();
    if plan.fitted.is_empty() {
        return text;
    }
    let mut table = Columns::words();
    let mut heads = vec!["ports".to_owned()];
    heads.extend(plan.classes.iter().map(|class| class.name.clone()));
    table.line(heads);
    for fitted in &plan.fitted {
        let mut line = vec![fitted.ports.name()];
        line.extend(fitted.plan.classes.iter().map(|class| {
            let wait = maybe(class.worst_wait);
            format!("{:.2} % ({wait})", class.share_given * 100.0)
        }));
        table.line(line);
    }
    text.push_str("\nshares and longest waits at an output, by device\n");
    text.push_str(&table.print());
    for fitted in plan.fitted.iter().skip(1) {
        text.push_str(&format!("\nfor {}\n", fitted.words()));
        text.push_str(&match fitted.plan.tables == plan.tables {
            true => indented("tables", "same as those of the switches"),
            false => tables(&fitted.plan.tables),
        });
    }
    text
}

fn maybe(time: Option<netloom_units::Time>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| nanos(time.as_nanos()))
}

fn slack(class: &PlannedClass) -> String {
    match (class.slack(), class.deadline) {
        (Some(slack), _) => nanos(slack.as_nanos()),
        (None, Some(_)) => "missed".to_owned(),
        (None, None) => "-".to_owned(),
    }
}

/// Formats lines after a word, indented.
fn indented(word: &str, lines: &str) -> String {
    let mut text = String::new();
    for (at, line) in lines.lines().enumerate() {
        let word = if at == 0 { word } else { "" };
        text.push_str(&format!("  {word:<WORD$} {line}\n"));
    }
    text
}

fn json<T: Serialize>(document: &T) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(document)?)
}

/// A plan as JSON. Keys with a unit end with it.
#[derive(Serialize)]
struct PlanDocument<'a> {
    arbiter: String,
    rate_bits_per_second: u64,
    entries: usize,
    /// Outputs of switches on the longest path, over which `path_wait_ns` adds up.
    hops: u32,
    classes: Vec<Class<'a>>,
    tables: Tables,
    /// What each kind of port holds and gives, in a fabric of several devices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devices: Vec<AtDevice<'a>>,
    sl2vl: Vec<u8>,
    /// The section for an experiment file.
    qos: String,
    unmet: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflict: Option<Conflict<'a>>,
    notes: &'a [String],
    facts: std::collections::BTreeMap<&'a str, &'a str>,
    assumptions: Vec<&'static str>,
}

#[derive(Serialize)]
struct Class<'a> {
    name: &'a str,
    sl: u8,
    vl: u8,
    table: &'static str,
    share_wanted: f64,
    share_given: f64,
    share_if_all_send: f64,
    /// Range of the share that its entries can have if its distance is given.
    share_least: Option<f64>,
    share_most: Option<f64>,
    entries: usize,
    distance: usize,
    bytes_per_turn: u64,
    /// At one output; null if there is no bound.
    worst_wait_ns: Option<f64>,
    /// The bytes that the link sends in that time.
    worst_wait_bytes: Option<u64>,
    unbounded_because: Option<&'a str>,
    /// Over all outputs of the longest path.
    path_wait_ns: Option<f64>,
    deadline_ns: Option<f64>,
    slack_ns: Option<f64>,
    #[serde(flatten)]
    slowdown: Option<ClassSlowdown<'a>>,
}

/// The slowdown of a class, in a plan with slowdowns.
#[derive(Serialize)]
struct ClassSlowdown<'a> {
    /// While all classes send packets of the planned sizes; null if the others leave nothing.
    slowdown_if_all_send: Option<f64>,
    /// The bound for any packets; null if there is none.
    slowdown_at_most: Option<f64>,
    /// The constant that the bound adds to the time of a backlog.
    slowdown_startup_ns: Option<f64>,
    slowdown_unbounded_because: Option<&'a str>,
    slowdown_wanted: Option<f64>,
    slowdown_slack: Option<f64>,
    /// Whether the shares of others assume that the class sends at most its own.
    is_trusted: bool,
}

impl<'a> ClassSlowdown<'a> {
    fn of(class: &'a PlannedClass, rate: netloom_units::Rate) -> Option<ClassSlowdown<'a>> {
        let bound = class.slowdown.as_ref()?;
        let reached = bound.as_ref().ok();
        Some(ClassSlowdown {
            slowdown_if_all_send: class.slowdown_if_all_send(),
            slowdown_at_most: reached.map(|bound| bound.factor),
            slowdown_startup_ns: reached.map(|bound| bound.startup_time(rate).as_nanos()),
            slowdown_unbounded_because: bound.as_ref().err().map(String::as_str),
            slowdown_wanted: class.slowdown_wanted,
            slowdown_slack: class.slowdown_slack(),
            is_trusted: class.is_trusted,
        })
    }
}

/// What the ports of some devices hold and give.
#[derive(Serialize)]
struct AtDevice<'a> {
    ports: String,
    devices: Vec<&'a str>,
    low_entries: u8,
    high_entries: u8,
    vls: u8,
    tables: Tables,
    classes: Vec<Reached<'a>>,
}

#[derive(Serialize)]
struct Reached<'a> {
    name: &'a str,
    table: &'static str,
    share_wanted: f64,
    share_given: f64,
    worst_wait_ns: Option<f64>,
}

impl<'a> AtDevice<'a> {
    fn of(fitted: &'a plan::Fitted) -> AtDevice<'a> {
        let reached = |class: &'a PlannedClass| Reached {
            name: &class.name,
            table: class.table,
            share_wanted: class.share_wanted,
            share_given: class.share_given,
            worst_wait_ns: class.worst_wait.map(|time| time.as_nanos()),
        };
        let devices = fitted.devices.iter();
        AtDevice {
            ports: fitted.ports.name(),
            devices: devices.map(|device| device.name.as_str()).collect(),
            low_entries: fitted.room.low,
            high_entries: fitted.room.high,
            vls: fitted.room.vls,
            tables: Tables::of(&fitted.plan.tables),
            classes: fitted.plan.classes.iter().map(reached).collect(),
        }
    }
}

#[derive(Serialize)]
struct Tables {
    #[serde(flatten)]
    lists: std::collections::BTreeMap<&'static str, Vec<(u8, u16)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u8>,
}

impl Tables {
    fn of(tables: &plan::Tables) -> Tables {
        Tables {
            lists: tables.lists().into_iter().collect(),
            limit: tables.limit(),
        }
    }
}

#[derive(Serialize)]
struct Conflict<'a> {
    classes: Vec<&'a str>,
    is_smallest: bool,
    /// Whether there is a proof that no tables meet the requirements.
    is_proved: bool,
    reasons: &'a [String],
}

impl<'a> Conflict<'a> {
    fn of(request: &'a Request, refusal: &Refusal, conflict: &'a plan::Conflict) -> Conflict<'a> {
        let name = |&class: &usize| request.classes[class].name.as_str();
        Conflict {
            classes: conflict.classes.iter().map(name).collect(),
            is_smallest: conflict.is_smallest,
            is_proved: refusal.is_proved,
            reasons: &conflict.reasons,
        }
    }
}

/// A request without any tables.
#[derive(Serialize)]
struct Unmet<'a> {
    unmet: &'a [String],
    conflict: Conflict<'a>,
}

impl<'a> PlanDocument<'a> {
    fn of(plan: &'a Plan, conflict: Option<Conflict<'a>>) -> PlanDocument<'a> {
        let class = |class: &'a PlannedClass| Class {
            name: &class.name,
            sl: class.sl.0,
            vl: class.vl.0,
            table: class.table,
            share_wanted: class.share_wanted,
            share_given: class.share_given,
            share_if_all_send: class.share_if_all_send,
            share_least: class.share_least,
            share_most: class.share_most,
            entries: class.entries,
            distance: class.distance,
            bytes_per_turn: class.bytes_per_turn,
            worst_wait_ns: class.worst_wait.map(|time| time.as_nanos()),
            worst_wait_bytes: class.wait.bytes().map(|bytes| bytes.0),
            unbounded_because: match &class.wait {
                Wait::Unbounded(why) => Some(why),
                Wait::AtMost(_) => None,
            },
            path_wait_ns: class.path_wait.map(|time| time.as_nanos()),
            deadline_ns: class.deadline.map(|time| time.as_nanos()),
            slack_ns: class.slack().map(|time| time.as_nanos()),
            slowdown: ClassSlowdown::of(class, plan.request.ports.rate),
        };
        let facts = plan
            .facts
            .iter()
            .map(|(word, fact)| (word.as_str(), fact.as_str()));
        let mut assumptions = vec![ASSUMPTION];
        if plan.request.ports.hops > 1 {
            assumptions.push(PATH_ASSUMPTION);
        }
        if plan.has_slowdowns() {
            assumptions.push(slowdown::ASSUMPTION);
        }
        PlanDocument {
            arbiter: plan.request.ports.arbiter.name(),
            rate_bits_per_second: plan.request.ports.rate.0,
            entries: plan.request.capacity(),
            hops: plan.request.ports.hops,
            classes: plan.classes.iter().map(class).collect(),
            tables: Tables::of(&plan.tables),
            devices: plan.fitted.iter().map(AtDevice::of).collect(),
            sl2vl: plan.sl2vl(),
            qos: plan.to_toml(),
            unmet: plan
                .shortfalls()
                .into_iter()
                .map(|(_, words)| words)
                .collect(),
            conflict,
            notes: &plan.notes,
            facts: facts.collect(),
            assumptions,
        }
    }
}

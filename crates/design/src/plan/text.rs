//! A plan, and a refused one with its conflict, as text.

use std::fmt;

use netloom_text::number::nanos;
use netloom_text::{Table, labelled, within};
use netloom_units::{Bytes, Time};

use super::{Conflict, PATH_ASSUMPTION, Plan, PlanError, PlannedClass, Tables, factor};
use crate::qos::slowdown;
use crate::qos::wait::{ASSUMPTION, Wait};

impl Plan {
    /// Formats the plan for people, with lines of at most this width.
    pub fn text(&self, width: Option<usize>) -> String {
        within(&text(self, width), width)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(None))
    }
}

impl Conflict {
    /// Returns the classes and the reasons, a line each.
    pub fn text(&self) -> String {
        let how = match (self.is_smallest, self.is_minimal) {
            (true, _) => "no smaller set conflicts",
            (false, true) => "without any one of them, the others can be met",
            (false, false) => "a smaller set may conflict; the search gave up",
        };
        let text = match self.names.as_slice() {
            [one] => format!("{one} cannot be met even alone"),
            names => format!("cannot be met together: {} ({how})", names.join(", ")),
        };
        text + &lines(&self.reasons)
    }
}

impl PlanError {
    /// Returns a line for the refusal and one for every reason.
    pub fn text(&self) -> String {
        let text = match self.is_proved {
            true => "no tables meet the requirements",
            false => "found no tables that meet the requirements (not proved: the search gave up)",
        };
        text.to_owned() + &lines(&self.reasons)
    }
}

fn lines(reasons: &[String]) -> String {
    reasons
        .iter()
        .map(|reason| format!("\n  {reason}"))
        .collect()
}

fn text(plan: &Plan, width: Option<usize>) -> String {
    let ports = &plan.request.ports;
    let mut text = format!("{} at {}, ", ports.arbiter.name(), ports.rate);
    text.push_str(&match plan.fitted.first() {
        None => format!("{} entries per table\n", plan.request.capacity()),
        Some(fitted) => format!("for {}\n", fitted.words()),
    });
    let mut table = Table::numbers();
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
            Bytes(class.bytes_per_turn).to_string(),
            maybe(class.worst_wait),
        ]);
        if is_long {
            line.push(maybe(class.path_wait));
        }
        line.extend([maybe(class.deadline), slack(class)]);
        table.line(line);
    }
    text.push_str(&table.text(width));
    text.push_str(&slowdowns(plan, width));
    text.push('\n');
    text.push_str(&tables(&plan.tables, width));
    for (word, sentence) in &plan.facts {
        text.push_str(&fact(word, sentence, width));
    }
    for class in &plan.classes {
        if let Wait::Unbounded(why) = &class.wait {
            let note = format!("{}: no bound, because {why}", class.name);
            text.push_str(&fact("note", &note, width));
        }
    }
    for note in &plan.notes {
        text.push_str(&fact("note", note, width));
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
    text.push_str(&fact("covers", &covers, width));
    text.push_str(&fact("waits", ASSUMPTION, width));
    if is_long {
        text.push_str(&fact("", PATH_ASSUMPTION, width));
    }
    if plan.has_slowdowns() {
        text.push_str(&fact("slowdown", slowdown::ASSUMPTION, width));
    }
    text + &by_device(plan, width)
}

/// Formats the slowdowns of all classes while all send: the price of those that are bounded.
fn slowdowns(plan: &Plan, width: Option<usize>) -> String {
    if !plan.has_slowdowns() {
        return String::new();
    }
    let mut table = Table::numbers();
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
            bound.map_or_else(none, |bound| factor(bound.factor)),
            class.slowdown_wanted.map_or_else(none, |it| it.to_string()),
            match (class.slowdown_slack(), class.slowdown_wanted) {
                (Some(slack), _) => format!("{slack:.3}"),
                (None, Some(_)) => "missed".to_owned(),
                (None, None) => none(),
            },
            bound.map_or_else(none, |bound| nanos(bound.startup_time(rate).as_nanos())),
        ]);
    }
    format!("\n{}", table.text(width))
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
fn tables(tables: &Tables, width: Option<usize>) -> String {
    let mut text = String::new();
    let key = tables.key();
    for (name, entries) in tables.lists() {
        let entry = |(at, weight): &(u8, u16)| format!("{key}{at}:{weight}");
        let list: Vec<String> = entries.iter().map(entry).collect();
        if !list.is_empty() {
            text.push_str(&fact(name, &list.join(" "), width));
        }
    }
    if let Some(limit) = tables.limit() {
        let limit = match limit {
            0 => "0 (one low packet after every high one)".to_owned(),
            255 => "255 (none)".to_owned(),
            n => format!("{n} (one low packet after {n} times 4096 bytes)"),
        };
        text.push_str(&fact("limit", &limit, width));
    }
    text
}

/// Formats what each class gets at each device of a fabric with several devices, and their tables.
fn by_device(plan: &Plan, width: Option<usize>) -> String {
    let mut text = String::new();
    if plan.fitted.is_empty() {
        return text;
    }
    let mut table = Table::words();
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
    text.push_str(&table.text(width));
    for fitted in plan.fitted.iter().skip(1) {
        text.push_str(&format!("\nfor {}\n", fitted.words()));
        text.push_str(&match fitted.plan.tables == plan.tables {
            true => fact("tables", "same as those of the switches", width),
            false => tables(&fitted.plan.tables, width),
        });
    }
    text
}

fn maybe(time: Option<Time>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| nanos(time.as_nanos()))
}

fn slack(class: &PlannedClass) -> String {
    match (class.slack(), class.deadline) {
        (Some(slack), _) => nanos(slack.as_nanos()),
        (None, Some(_)) => "missed".to_owned(),
        (None, None) => "-".to_owned(),
    }
}

/// Formats a sentence after a word.
fn fact(word: &str, sentence: &str, width: Option<usize>) -> String {
    labelled(word, 11, sentence, width)
}

//! Compares a run with its plan.

use netloom_design::plan::{Plan, PlannedClass, PortsOf, rounded};
use netloom_results::{Run, Verdict, WaitScope, WaitSummary};

use super::table::{Table, nanos, width};

/// A longest wait from fewer contested choices is not significant.
const FEW_CHOICES: u64 = 30;

/// A share is not kept if it is below the given one by more than this part of the link.
const TOLERANCE: f64 = 0.01;

/// Returns a table of wanted, given and delivered shares, and of bounds with the longest measured
/// waits.
///
/// Shares are guaranteed only while all classes have packets to send, so they differ on idle links.
/// A wait must never exceed its bound.
pub(super) fn table(plan: &Plan, run: &Run) -> String {
    let own = |class: &PlannedClass| {
        let number = class.sl.0;
        run.sls.iter().filter(move |sl| sl.sl == number)
    };
    let delivered = |class: &PlannedClass| -> f64 {
        own(class).map(|sl| sl.summary.delivered_load).sum::<f64>()
    };
    let all: f64 = plan.classes.iter().map(delivered).sum();
    let mut table = Table::numbers();
    let mut heads = vec!["plan", "wanted", "given"];
    heads.extend(plan.trusts().then_some("if all send"));
    heads.extend(["delivered", "bound", "longest wait", "contested"]);
    table.line(heads);
    let (mut not_kept, mut untested) = (vec![], vec![]);
    for (at, class) in plan.classes.iter().enumerate() {
        let percent = |share: f64| format!("{:.2} %", share * 100.0);
        let seen = longest(plan, at, run);
        let part = delivered(class) / all.max(f64::MIN_POSITIVE);
        // A class that offers more than is delivered has packets waiting.
        let is_waiting = own(class).any(|sl| sl.summary.verdict == Verdict::Saturated);
        let is_short = is_waiting && part < class.share_given - TOLERANCE;
        let mut line = vec![
            class.name.clone(),
            percent(class.share_wanted),
            percent(class.share_given),
        ];
        line.extend(plan.trusts().then(|| percent(class.share_if_all_send)));
        let bound = match &seen {
            Some((_, bounded)) => bounded.worst_wait,
            None => class.worst_wait,
        };
        line.extend([
            match is_short {
                true => format!("{} not kept", percent(part)),
                false => percent(part),
            },
            bound.map_or_else(|| "-".to_owned(), rounded),
        ]);
        line.extend(match seen {
            None => ["-".to_owned(), "-".to_owned()],
            Some((wait, bounded)) => {
                let bytes = bounded.wait.bytes();
                let is_broken = bytes.is_some_and(|bound| wait.wait_at_most_bytes > bound.0);
                let time = nanos(wait.wait_at_most_ns);
                if wait.contested_choices < FEW_CHOICES {
                    untested.push(class.name.as_str());
                }
                [
                    match is_broken {
                        true => format!("{time} broken"),
                        false => time,
                    },
                    wait.contested_choices.to_string(),
                ]
            }
        });
        table.line(line);
        if is_short {
            not_kept.push(class.name.as_str());
        }
    }
    let mut text = table.text(width());
    let mut say = |words: String| text.push_str(&format!("  {words}\n"));
    if run.waits.is_none() {
        say("to measure longest waits, run with --set measure.waits=true".to_owned());
    } else {
        say(
            "bound and longest wait are for one output, from the head of the queue to the first \
             flit"
                .to_owned(),
        );
    }
    if !not_kept.is_empty() {
        let names = not_kept.join(", ");
        say(format!(
            "not kept: {names} had packets waiting but got less than the given share"
        ));
    }
    if !untested.is_empty() {
        let names = untested.join(", ");
        say(format!(
            "hardly tested: {names} competed with another class in fewer than {FEW_CHOICES} \
             choices of an output"
        ));
    }
    text
}

/// Returns the longest measured wait of a class at any output, with the plan of that output. Of
/// switches and NICs, takes the wait that is closer to its bound.
fn longest<'a>(
    plan: &'a Plan,
    at: usize,
    run: &'a Run,
) -> Option<(&'a WaitSummary, &'a PlannedClass)> {
    let waits = run.waits.as_ref()?;
    let hosts = plan
        .fitted
        .iter()
        .find(|fitted| fitted.ports == PortsOf::Hosts);
    let at_hosts = hosts.map_or(plan, |hosts| &hosts.plan);
    let places = [(&waits.switches, plan), (&waits.nics, at_hosts)];
    let found = places.into_iter().flat_map(|(place, plan)| {
        let class = &plan.classes[at];
        let number = match place.by {
            WaitScope::Sl => class.sl.0,
            WaitScope::Vl => class.vl.0,
        };
        let own = place
            .classes
            .iter()
            .filter(move |wait| wait.number == number);
        own.map(move |wait| (&wait.summary, class))
    });
    let part = |(wait, class): &(&WaitSummary, &PlannedClass)| {
        let bound = class.wait.bytes().map_or(1.0, |bound| bound.0 as f64);
        wait.wait_at_most_bytes as f64 / bound
    };
    found.max_by(|a, b| part(a).total_cmp(&part(b)))
}

//! Whether a run kept what was planned for it.

use netloom_design::plan::{Plan, PlannedClass, rounded};
use netloom_results::{Run, WaitScope};

use super::table::{Columns, nanos};

/// Wanted, given and delivered shares, and bounds beside the longest waits that were seen.
///
/// Shares bind where all classes always have something to send, so those of a fabric with idle links differ;
/// a wait beyond its bound never may.
pub(super) fn table(plan: &Plan, run: &Run) -> String {
    let delivered = |class: &PlannedClass| {
        let own = run.sls.iter().filter(|sl| sl.sl == class.sl.0);
        own.map(|sl| sl.summary.delivered_load).sum::<f64>()
    };
    let all: f64 = plan.classes.iter().map(delivered).sum();
    let mut table = Columns::numbers();
    let mut heads = vec!["plan", "wanted", "given"];
    heads.extend(plan.trusts().then_some("if all send"));
    heads.extend(["delivered", "bound", "longest wait"]);
    table.line(heads);
    for class in &plan.classes {
        let percent = |share: f64| format!("{:.2} %", share * 100.0);
        let longest = longest(class, run);
        let bound = class.worst_wait.map(|bound| bound.as_nanos());
        let is_broken = longest
            .zip(bound)
            .is_some_and(|(wait, bound)| wait > bound * 1.000_001);
        let mut line = vec![
            class.name.clone(),
            percent(class.share_wanted),
            percent(class.share_given),
        ];
        line.extend(plan.trusts().then(|| percent(class.share_if_all_send)));
        line.extend([
            percent(delivered(class) / all.max(f64::MIN_POSITIVE)),
            class.worst_wait.map_or_else(|| "-".to_owned(), rounded),
            match longest {
                None => "-".to_owned(),
                Some(wait) if is_broken => format!("{} broken", nanos(wait)),
                Some(wait) => nanos(wait),
            },
        ]);
        table.line(line);
    }
    let mut text = table.print();
    if run.waits.is_none() {
        text.push_str("  longest waits: run with --set measure.waits=true\n");
    }
    text
}

/// The longest wait of a class at any output, if it was measured.
fn longest(class: &PlannedClass, run: &Run) -> Option<f64> {
    let places = run.waits.as_ref()?.places();
    let waits = places.into_iter().flat_map(|(_, place)| {
        let number = match place.by {
            WaitScope::Sl => class.sl.0,
            WaitScope::Vl => class.vl.0,
        };
        let own = place
            .classes
            .iter()
            .filter(move |wait| wait.number == number);
        own.map(|wait| wait.summary.wait_at_most_ns)
    });
    waits.max_by(f64::total_cmp)
}

//! Finds what OpenSM did instead, from its log.

use netloom_catalog::Place;

use super::{Report, Subject};

/// The message that OpenSM writes when routes are set.
const ROUTED: &str = " tables configured on all switches";

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let Some((log, source)) = subject.log else {
        return;
    };
    let mut start = 0;
    let mut engine = None;
    let mut refused = None;
    for line in log.split_inclusive('\n') {
        let text = line.trim_end();
        let place = Place {
            source,
            start: start as u32,
            end: (start + text.len()) as u32,
        };
        start += line.len();
        if let Some(before) = text.strip_suffix(ROUTED) {
            let name = before.rsplit(' ').next().unwrap_or_default();
            engine = Some((name, place));
        }
        if text.contains("ERR AC") && refused.is_none() {
            refused = Some((text, place));
        }
    }
    fallback(subject, engine, report);
    if let Some((text, place)) = refused {
        let what = text.split("-> ").last().unwrap_or(text);
        let message = format!("OpenSM rejected the policy and runs without one: {what}");
        report
            .findings
            .error("E1171", place, message)
            .help("fix the policy file and send SIGHUP to OpenSM");
    }
}

/// E1170: routes of an engine that was not the first choice.
fn fallback(subject: &Subject<'_>, used: Option<(&str, Place)>, report: &mut Report) {
    let Some(setting) = subject.conf.text("routing_engine") else {
        return;
    };
    let engines = subject.conf.routing_engines();
    let (Some(first), Some((used, place))) = (engines.first(), used) else {
        return;
    };
    if *first != used {
        let message = format!("{first} failed, and OpenSM silently used {used}");
        report
            .findings
            .error("E1170", place, message)
            .also(setting.place, "requested here")
            .help(format!(
                "set `routing_engine {first},no_fallback`, and check the log for why {first} failed"
            ));
    }
}

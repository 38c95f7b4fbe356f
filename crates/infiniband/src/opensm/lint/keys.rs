//! Checks whether QoS is on, and finds keys without the intended effect.

use netloom_catalog::{Place, nearest};

use crate::opensm::conf::LONGEST_LINE;
use crate::opensm::keys::{QosKey, QosSet, key_name, qos_keys};

use super::situations::has_own_keys;
use super::{Report, Subject};

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    off(subject, report);
    unknown(subject, report);
    twice(subject, report);
    max_vls(subject, report);
    max_op_vls(subject, report);
    long_lines(subject, report);
}

/// E1140: keys for tables that are never programmed.
fn off(subject: &Subject<'_>, report: &mut Report) {
    let conf = subject.conf;
    if conf.is_qos_on() {
        return;
    }
    let value = conf.last("qos");
    let is_misspelt = value.is_some_and(|setting| setting.value != "FALSE");
    let is_wanted = QosSet::ALL
        .into_iter()
        .any(|set| has_own_keys(subject, set));
    if !is_misspelt && !is_wanted && subject.policy.is_none() {
        return;
    }
    let nowhere = Place {
        source: conf.source,
        start: 0,
        end: 0,
    };
    let message = match value {
        Some(setting) if is_misspelt => format!(
            "`qos {}` is read as FALSE: OpenSM does not program any tables",
            setting.value
        ),
        Some(_) => "QoS is off: OpenSM does not program any tables".to_owned(),
        None => "`qos TRUE` is missing: OpenSM does not program any tables".to_owned(),
    };
    let first_key = conf.settings.iter().find(|s| s.key.starts_with("qos_"));
    let place = value
        .or(first_key)
        .map_or(nowhere, |setting| setting.key_place);
    report
        .findings
        .error("E1140", place, message)
        .help("add `qos TRUE`, or start OpenSM with -Q");
}

/// E1141: unknown keys that look like a QoS key.
fn unknown(subject: &Subject<'_>, report: &mut Report) {
    let known: Vec<String> = qos_keys().collect();
    for setting in &subject.conf.settings {
        let key = setting.key.as_str();
        let is_about_lanes = key.to_lowercase().starts_with("qos") || key.contains("op_vls");
        if known.iter().any(|name| name == key) || !is_about_lanes {
            continue;
        }
        let message = format!("unknown key `{key}`: OpenSM ignores the line");
        let note = report.findings.error("E1141", setting.key_place, message);
        if let Some(near) = nearest(key, known.iter().map(String::as_str)) {
            note.help(format!("did you mean `{near}`?"));
        }
    }
}

/// E1173: QoS keys that are set again with another value.
fn twice(subject: &Subject<'_>, report: &mut Report) {
    let known: Vec<String> = qos_keys().collect();
    let settings = &subject.conf.settings;
    for (n, setting) in settings.iter().enumerate() {
        let later = settings[n + 1..]
            .iter()
            .find(|later| later.key == setting.key);
        let Some(later) = later.filter(|later| later.value != setting.value) else {
            continue;
        };
        if known.contains(&setting.key) {
            let message = format!(
                "`{}` is set again below: this line has no effect",
                setting.key
            );
            report
                .findings
                .warning("E1173", setting.key_place, message)
                .also(later.key_place, "this value is used")
                .help("remove one of the two lines");
        }
    }
}

/// E1142: the key without effect.
fn max_vls(subject: &Subject<'_>, report: &mut Report) {
    let conf = subject.conf;
    for set in QosSet::ALL {
        let key = key_name(set, QosKey::MaxVls);
        let Some(setting) = conf.last(&key).filter(|setting| setting.number() > 0) else {
            continue;
        };
        let code = crate::opensm::programming::code_of_lanes(setting.number().min(15) as u8);
        let limit = conf.last("max_op_vls");
        let message = match limit {
            Some(limit) => format!(
                "`{key}` has no effect; `max_op_vls {}` sets the lanes",
                limit.value
            ),
            None => format!(
                "`{key}` has no effect, and `max_op_vls` is missing: links use all their lanes"
            ),
        };
        let note = report.findings.warning("E1142", setting.key_place, message);
        match limit {
            Some(_) => note.help("remove the line"),
            None => note.help(format!("add `max_op_vls {code}`")),
        };
    }
}

/// E1143: a number of lanes where a code should be.
fn max_op_vls(subject: &Subject<'_>, report: &mut Report) {
    let Some(setting) = subject.conf.last("max_op_vls") else {
        return;
    };
    let code = subject.conf.max_op_vls();
    let message = match code {
        1..=5 => return,
        0 => format!(
            "expected a code from 1 to 5, found `max_op_vls {}`",
            setting.value
        ),
        _ => format!(
            "`max_op_vls {}` has no effect: expected a code from 1 to 5",
            setting.value
        ),
    };
    report
        .findings
        .error("E1143", setting.place, message)
        .help("use 1 for VL0, 2 for VL0-1, 3 for VL0-3, 4 for VL0-7, 5 for VL0-14");
}

/// E1162: lines that OpenSM reads as two.
fn long_lines(subject: &Subject<'_>, report: &mut Report) {
    for line in &subject.conf.too_long {
        let message = format!(
            "the line has {} characters: OpenSM splits it after {LONGEST_LINE}, and reads the rest \
             as another line",
            line.length
        );
        report
            .findings
            .error("E1162", line.rest, message)
            .help("remove blanks; 64 entries take less than 500 characters");
    }
}

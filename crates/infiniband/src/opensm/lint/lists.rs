//! Finds lists that OpenSM reads differently than intended, and numbers out of range.

use crate::opensm::conf::Setting;
use crate::opensm::keys::{QosKey, QosSet, key_name};
use crate::opensm::lists::{Item, MOST_ENTRIES, N_LEVELS, entry, items, read_entries, read_lanes};
use crate::opensm::{Effective, Origin};

use super::{Report, Subject, words};

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    for set in QosSet::ALL {
        for key in [QosKey::VlarbHigh, QosKey::VlarbLow] {
            if let Some(setting) = subject.conf.text(&key_name(set, key)) {
                arbitration(setting, report);
            }
        }
        if let Some(setting) = subject.conf.text(&key_name(set, QosKey::Sl2Vl)) {
            map(setting, report);
        }
        limit(subject, set, report);
    }
}

/// Returns whether OpenSM reads a list as intended. If not, other checks skip the list, since the
/// misreading itself is reported.
pub(super) fn is_as_written(subject: &Subject<'_>, setting: &Setting) -> bool {
    let is_cut = subject.conf.too_long.iter().any(|line| {
        line.rest.start >= setting.place.start && line.rest.start <= setting.place.end + 1
    });
    let mut report = Report::default();
    match setting.key.ends_with(QosKey::Sl2Vl.suffix()) {
        true => map(setting, &mut report),
        false => arbitration(setting, &mut report),
    }
    !is_cut && !report.findings.has_errors()
}

/// Checks a list of `vl:weight`.
fn arbitration(setting: &Setting, report: &mut Report) {
    let items = items(&setting.value);
    let read = read_entries(&setting.value);
    let pairs: Option<Vec<(u32, u32)>> = items.iter().map(Item::pair).collect();
    let meant: Option<Vec<_>> = pairs.as_ref().map(|pairs| {
        pairs
            .iter()
            .map(|&(vl, weight)| entry(vl, weight))
            .collect()
    });
    if meant
        .as_ref()
        .map(|meant| &meant[..meant.len().min(MOST_ENTRIES)])
        != Some(&read[..])
    {
        let shown: Vec<String> = read
            .iter()
            .map(|entry| format!("{}:{}", entry.vl.0, entry.weight))
            .collect();
        misread(setting, &items, pairs.is_none(), &shown.join(","), report);
        return;
    }
    for (item, (vl, weight)) in items.iter().zip(pairs.unwrap_or_default()) {
        let made = entry(vl, weight);
        if vl > 14 || weight > 255 {
            let message = format!(
                "`{}`: `{}` becomes VL{} with weight {}",
                setting.key, item.text, made.vl.0, made.weight
            );
            report
                .findings
                .error("E1147", setting.part(item.span.clone()), message)
                .help("use lanes from 0 to 14 and weights from 0 to 255");
        }
    }
    if let Some(first_lost) = items.get(MOST_ENTRIES) {
        let message = format!(
            "`{}` has {}: OpenSM drops all after the 64th",
            setting.key,
            words::entries(items.len())
        );
        report
            .findings
            .error("E1149", setting.part(first_lost.span.clone()), message)
            .help("use at most 64 entries");
    }
}

/// Checks a list of lanes by service level.
fn map(setting: &Setting, report: &mut Report) {
    let items = items(&setting.value);
    let numbers: Option<Vec<u32>> = items.iter().map(Item::number).collect();
    let read = read_lanes(&setting.value).0.map(|vl| vl.0);
    let meant = numbers.as_ref().map(|numbers| -> [u8; N_LEVELS] {
        std::array::from_fn(|sl| numbers.get(sl).map_or(0, |vl| (vl & 15) as u8))
    });
    if meant != Some(read) {
        let shown = read.map(|vl| vl.to_string()).join(",");
        misread(setting, &items, numbers.is_none(), &shown, report);
        return;
    }
    for ((sl, item), vl) in items.iter().enumerate().zip(numbers.unwrap_or_default()) {
        if vl > 15 && sl < N_LEVELS {
            let message = format!(
                "`{}`: SL{sl} gets VL{} instead of {vl}",
                setting.key,
                vl & 15
            );
            report
                .findings
                .error("E1147", setting.part(item.span.clone()), message)
                .help("use lanes from 0 to 14; 15 drops packets");
        }
    }
    if items.len() < N_LEVELS {
        let rest: Vec<u8> = (items.len() as u8..N_LEVELS as u8).collect();
        let message = format!(
            "`{}` has {}: {} to VL0",
            setting.key,
            words::entries(items.len()),
            match rest.len() {
                1 => format!("{} goes", words::levels(&rest)),
                _ => format!("{} go", words::levels(&rest)),
            }
        );
        let lanes: Vec<String> = (0..N_LEVELS).map(|sl| read[sl].to_string()).collect();
        report
            .findings
            .warning("E1148", setting.place, message)
            .help(format!(
                "write all 16: `{} {}`",
                setting.key,
                lanes.join(",")
            ));
    } else if let Some(first_lost) = items.get(N_LEVELS) {
        let message = format!(
            "`{}` has {}: OpenSM drops all after the 16th",
            setting.key,
            words::entries(items.len())
        );
        report
            .findings
            .warning("E1148", setting.part(first_lost.span.clone()), message)
            .help("give one lane for each of the 16 service levels");
    }
}

/// Reports a list that OpenSM reads differently than intended.
fn misread(
    setting: &Setting,
    items: &[Item],
    is_malformed: bool,
    shown: &str,
    report: &mut Report,
) {
    let is_pair = !setting.key.ends_with("sl2vl");
    let is_well_formed = |item: &&Item| match is_pair {
        true => item.pair().is_some(),
        false => item.number().is_some(),
    };
    let blank = setting.value.find(" ,").or(setting.value.find("\t,"));
    let blank = blank.or(setting.value.find(" :"));
    let bad = items.iter().find(|item| !is_well_formed(item));
    let zero = items.iter().find(|item| {
        item.text.starts_with('0') && item.text.len() > 1 && !item.text.starts_with("0:")
    });
    let (span, help) = match (is_malformed, bad, blank, zero) {
        (true, Some(item), _, _) => (
            item.span.clone(),
            match is_pair {
                true => "write `vl:weight`, separated by commas",
                false => "write 16 lanes, separated by commas",
            },
        ),
        (_, _, Some(at), _) => (at..at + 2, "remove the blank before the comma"),
        (_, _, _, Some(item)) => (
            item.span.clone(),
            "remove the leading zero, which makes the number octal",
        ),
        _ => (
            0..setting.value.len(),
            "write only numbers, separated by commas",
        ),
    };
    let message = format!("OpenSM reads `{}` as {shown}", setting.key);
    report
        .findings
        .error("E1146", setting.part(span), message)
        .help(help);
}

/// Checks for a limit above 255.
fn limit(subject: &Subject<'_>, set: QosSet, report: &mut Report) {
    let Some(setting) = subject.conf.last(&key_name(set, QosKey::HighLimit)) else {
        return;
    };
    let number = setting.number() as i32;
    if number <= 255 {
        return;
    }
    let (used, origin) = Effective::of(subject.conf, set).high_limit;
    let whose = match origin {
        Origin::Line(line, _) => format!("from `{}`", line.key),
        Origin::OpenSm => "OpenSM's default".to_owned(),
    };
    let message = format!(
        "`{} {}` is ignored: the limit is {used}, {whose}",
        setting.key, setting.value
    );
    report
        .findings
        .error("E1147", setting.place, message)
        .help("use a limit from 0 to 254, in units of 4096 bytes, or 255 for no limit");
}

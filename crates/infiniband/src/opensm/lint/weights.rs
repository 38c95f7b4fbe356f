//! Finds weights and limits that do not give the intended shares.

use std::collections::BTreeMap;

use netloom_arbitration::{LIMIT_UNIT, NO_LIMIT, WEIGHT_UNIT, weight_units};
use netloom_units::Vl;

use crate::opensm::conf::Setting;
use crate::opensm::keys::{QosKey, QosSet, key_name};
use crate::opensm::lists::{items, read_entries};
use crate::opensm::{Effective, Origin};

use super::lists::is_as_written;
use super::situations::{Situation, place_of, qos_place, sets_in_use, situations};
use super::{Report, Subject, words};

/// Below this share of the low table, its lanes get next to nothing.
const NEXT_TO_NOTHING: f64 = 0.01;

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    for set in QosSet::ALL {
        for key in [QosKey::VlarbHigh, QosKey::VlarbLow] {
            if let Some(setting) = subject.conf.text(&key_name(set, key)) {
                if is_as_written(subject, setting) {
                    below_a_packet(subject, setting, report);
                }
                zero(setting, report);
            }
        }
    }
    defaults(subject, report);
    let mut seen = vec![];
    for situation in situations(subject) {
        let (_, origin) = situation.effective.high_limit;
        let place = place_of(subject, origin);
        if !seen.contains(&(place.start, situation.effective.low.0)) {
            seen.push((place.start, situation.effective.low.0));
            low_only(subject, &situation, report);
        }
    }
}

/// E1153: weights that count as one packet.
fn below_a_packet(subject: &Subject<'_>, setting: &Setting, report: &mut Report) {
    let packet = weight_units(subject.largest_packet);
    let entries = read_entries(&setting.value);
    let is_small = |weight: u8| weight > 0 && u32::from(weight) < packet;
    let Some(first) = entries.iter().position(|entry| is_small(entry.weight)) else {
        return;
    };
    let mut written: BTreeMap<Vl, u32> = BTreeMap::new();
    let mut sent: BTreeMap<Vl, u32> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.weight > 0) {
        *written.entry(entry.vl).or_default() += u32::from(entry.weight);
        *sent.entry(entry.vl).or_default() += u32::from(entry.weight).div_ceil(packet);
    }
    let small = entries.iter().filter(|entry| is_small(entry.weight));
    let share = |of: &BTreeMap<Vl, u32>| {
        let numbers: Vec<String> = of.values().map(u32::to_string).collect();
        numbers.join(":")
    };
    // The only lane of a table gets all of it, whatever its weight.
    if written.len() < 2 {
        return;
    }
    let is_in_proportion = written.keys().all(|vl| {
        written[vl] * sent.values().sum::<u32>() == sent[vl] * written.values().sum::<u32>()
    });
    let outcome = match is_in_proportion {
        true => "a lane with larger packets gets more than its share".to_owned(),
        false => format!(
            "{} send packets in the ratio {} instead of {}",
            words::lanes(written.keys().copied()),
            share(&sent),
            share(&written)
        ),
    };
    let message = format!(
        "`{}`: weights of {} are below {packet} (one packet of {} bytes); {outcome}",
        setting.key,
        words::lanes(small.map(|entry| entry.vl)),
        subject.largest_packet
    );
    let span = items(&setting.value)
        .get(first)
        .map_or(0..setting.value.len(), |item| item.span.clone());
    report
        .findings
        .warning("E1153", setting.part(span), message)
        .help(format!(
            "use multiples of {packet} (weights are in units of {WEIGHT_UNIT} bytes)"
        ));
}

/// E1159: entries of weight 0.
fn zero(setting: &Setting, report: &mut Report) {
    let list = items(&setting.value);
    let zeros: Vec<_> = list
        .iter()
        .filter_map(|item| Some((item, item.pair()?)))
        .filter(|(_, (_, weight))| *weight == 0)
        .collect();
    if let Some((first, _)) = zeros.first() {
        let vls = zeros.iter().map(|(_, (vl, _))| Vl((*vl).min(15) as u8));
        let message = format!(
            "`{}`: the weight of {} is 0",
            setting.key,
            words::lanes(vls)
        );
        report
            .findings
            .warning("E1159", setting.part(first.span.clone()), message)
            .help(
                "remove these entries; they send nothing, and some firmware misbehaves with them",
            );
    }
}

/// E1151: tables that the file does not set.
fn defaults(subject: &Subject<'_>, report: &mut Report) {
    if !subject.conf.is_qos_on() {
        return;
    }
    let mut without: [Vec<QosSet>; 3] = Default::default();
    for set in sets_in_use(subject) {
        let effective = Effective::of(subject.conf, set);
        let is_missing = |origin| origin == Origin::OpenSm;
        match (is_missing(effective.high.1), is_missing(effective.low.1)) {
            (true, true) => without[0].push(set),
            (true, false) => without[1].push(set),
            (false, true) => without[2].push(set),
            (false, false) => {}
        }
    }
    let [both, high, low] = &without;
    let whole_file = both.len() == sets_in_use(subject).len();
    // If only some kinds of ports lack tables, E1160 is reported instead.
    if !both.is_empty() && whole_file {
        let message = format!(
            "{} get OpenSM's default tables: only VL0 in the high table with weight 4 and limit 0, \
              VL1 to VL14 with weight 4 in the low table; 4 is {} bytes, so VL0 sends about every \
              second packet",
            words::kinds(both),
            4 * WEIGHT_UNIT
        );
        report
            .findings
            .warning("E1151", qos_place(subject), message)
            .help("set qos_vlarb_high and qos_vlarb_low");
    }
    for (sets, missing, says) in [
        (
            high,
            QosKey::VlarbHigh,
            "VL0 alone with weight 4, ahead of the low table",
        ),
        (
            low,
            QosKey::VlarbLow,
            "VL1 to VL14 with weight 4 each, without VL0",
        ),
    ] {
        let Some(set) = sets.first() else {
            continue;
        };
        let effective = Effective::of(subject.conf, *set);
        let given = match missing {
            QosKey::VlarbHigh => effective.low.1,
            _ => effective.high.1,
        };
        let message = format!(
            "{} have no {} list: OpenSM's default is {says}",
            words::kinds(sets),
            missing.suffix()
        );
        let example = match missing {
            QosKey::VlarbHigh => "set the list; `qos_vlarb_high \"\"` is an empty table",
            _ => "set the list",
        };
        report
            .findings
            .warning("E1151", place_of(subject, given), message)
            .help(example);
    }
}

/// E1154 and E1155: lanes in the low table alone that the limit leaves with little or nothing.
fn low_only(subject: &Subject<'_>, situation: &Situation<'_>, report: &mut Report) {
    let (high, low, map) = (situation.high(), situation.low(), situation.sl_to_vl());
    let is_high = |vl: Vl| high.iter().any(|entry| entry.vl == vl && entry.weight > 0);
    let is_used = |vl: Vl| map.0.contains(&vl);
    let mut low_weights: BTreeMap<Vl, u32> = BTreeMap::new();
    let mut turn = 0;
    for entry in low
        .iter()
        .filter(|entry| entry.weight > 0 && is_used(entry.vl))
    {
        turn += u32::from(entry.weight);
        if !is_high(entry.vl) {
            *low_weights.entry(entry.vl).or_default() += u32::from(entry.weight);
        }
    }
    let before: Vec<Vl> = (0..15)
        .map(Vl)
        .filter(|&vl| is_high(vl) && is_used(vl))
        .collect();
    let (limit, origin) = situation.effective.high_limit;
    if low_weights.is_empty() || before.is_empty() {
        return;
    }
    let place = match origin {
        Origin::Line(setting, _) => setting.place,
        Origin::OpenSm => return,
    };
    let (lanes, first) = (
        words::lanes(low_weights.keys().copied()),
        words::lanes(before.iter().copied()),
    );
    if limit == NO_LIMIT {
        let message = format!(
            "{}: a limit of 255 means no limit, so {lanes} cannot send while {first} {} packets \
             to send",
            situation.words(),
            if before.len() == 1 { "has" } else { "have" }
        );
        report
            .findings
            .warning("E1154", place, message)
            .help("use a limit below 255, or put all lanes into the high table with weights");
        return;
    }
    let bytes = u64::from(limit) * u64::from(LIMIT_UNIT);
    let packet = u64::from(subject.largest_packet);
    let share = packet as f64 / (bytes + packet) as f64;
    if share >= NEXT_TO_NOTHING {
        return;
    }
    let each = words::and(low_weights.iter().map(|(vl, weight)| {
        let part = f64::from(*weight) / f64::from(turn);
        format!("VL{} {}", vl.0, words::percent(share * part))
    }));
    let message = format!(
        "{}: a limit of {limit} sends {bytes} bytes of {first} per packet of the low table, which \
          leaves {each} if all lanes have packets of {packet} bytes to send",
        situation.words()
    );
    report
        .findings
        .warning("E1155", place, message)
        .help("use a smaller limit");
}

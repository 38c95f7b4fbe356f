//! Finds tables of hosts and switches that do not match.

use crate::opensm::keys::{QosKey, QosSet};
use crate::opensm::lists::{read_entries, read_lanes};
use crate::opensm::{Effective, Origin};

use super::situations::sets_in_use;
use super::{Report, Subject, words};

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    if !subject.conf.is_qos_on() {
        return;
    }
    left_out(subject, report);
    different(subject, report);
}

fn has_no_table(effective: &Effective<'_>) -> bool {
    effective.low.1 == Origin::OpenSm && effective.high.1 == Origin::OpenSm
}

/// E1160: one kind of port has tables, and another keeps OpenSM's default.
fn left_out(subject: &Subject<'_>, report: &mut Report) {
    let all: Vec<Effective<'_>> = sets_in_use(subject)
        .into_iter()
        .map(|set| Effective::of(subject.conf, set))
        .collect();
    let (without, with): (Vec<&Effective<'_>>, Vec<&Effective<'_>>) =
        all.iter().partition(|effective| has_no_table(effective));
    let given = with
        .iter()
        .flat_map(|effective| [effective.low.1, effective.high.1]);
    let given = given.into_iter().find_map(|origin| match origin {
        Origin::Line(setting, _) => Some(setting),
        Origin::OpenSm => None,
    });
    if let (Some(setting), false) = (given, without.is_empty()) {
        let sets: Vec<QosSet> = without.iter().map(|effective| effective.set).collect();
        let message = format!(
            "{} have tables, but {} keep OpenSM's default (only VL0 in the high table, \
             weights of 4)",
            words::kinds(
                &with
                    .iter()
                    .map(|effective| effective.set)
                    .collect::<Vec<_>>()
            ),
            words::kinds(&sets)
        );
        let keys = words::and(
            sets.iter()
                .map(|set| format!("{}_vlarb_high and _low", set.prefix())),
        );
        report
            .findings
            .warning("E1160", setting.key_place, message)
            .help(format!(
                "set {keys} too, or qos_vlarb_high and qos_vlarb_low for all"
            ));
    }
}

/// E1161: hosts and switches have different tables.
fn different(subject: &Subject<'_>, report: &mut Report) {
    let host = Effective::of(subject.conf, QosSet::ChannelAdapter);
    let switch = Effective::of(subject.conf, QosSet::SwitchExternal);
    let lists = [
        (
            QosKey::VlarbHigh,
            read_entries(host.high.0) != read_entries(switch.high.0),
            host.high.1,
            switch.high.1,
        ),
        (
            QosKey::VlarbLow,
            read_entries(host.low.0) != read_entries(switch.low.0),
            host.low.1,
            switch.low.1,
        ),
        (
            QosKey::Sl2Vl,
            read_lanes(host.sl2vl.0) != read_lanes(switch.sl2vl.0),
            host.sl2vl.1,
            switch.sl2vl.1,
        ),
    ];
    for (key, is_different, at_host, at_switch) in lists {
        let (Origin::Line(here, _), Origin::Line(there, _), true) =
            (at_host, at_switch, is_different)
        else {
            continue;
        };
        let message = format!("{} of hosts and switches differ", key.suffix());
        report
            .remarks
            .warning("E1161", here.key_place, message)
            .also(there.key_place, "of switches");
    }
}

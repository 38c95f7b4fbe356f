//! Finds rules of the policy that never match, or that OpenSM rejects.

use std::collections::BTreeSet;

use crate::opensm::policy::{Policy, UlpRule, ranges, without_spaces};

use super::{Fabric, Report, Subject};

/// Service IDs of the protocols of the simple form, as documented by OpenSM: first, last, and the
/// one for a rule without a port.
const SERVICES: [(&str, u64, u64, Option<u64>); 3] = [
    ("sdp", 0x1_0000, 0x1_ffff, None),
    ("rds", 0x106_0000, 0x106_ffff, Some(0x106_48ca)),
    ("iser", 0x106_0000, 0x106_ffff, Some(0x106_035c)),
];

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let Some(policy) = subject.policy else {
        return;
    };
    for refusal in &policy.refusals {
        let message = format!(
            "{}: OpenSM will run without any policy (ERR {})",
            refusal.why, refusal.code
        );
        report
            .findings
            .error("E1166", refusal.place, message)
            .help("see ERR AC03, AC04 and AC05 in the log of OpenSM");
    }
    if let Some(place) = policy.setup {
        let message = "`qos-setup` has no effect: OpenSM reads it but does not use it";
        report
            .findings
            .warning("E1165", place, message)
            .help("set the tables with the qos_* keys of opensm.conf");
    }
    order(policy, report);
    names(policy, subject.fabric.as_ref(), report);
    if let Some(fabric) = &subject.fabric {
        guids(policy, fabric, report);
    }
}

/// Returns the criterion of a rule of the simple form.
fn criterion(rule: &UlpRule) -> Option<(&str, Vec<(u64, u64)>)> {
    let service = SERVICES.iter().find(|(ulp, ..)| *ulp == rule.ulp);
    match (service, &rule.criterion) {
        (Some((_, _, _, Some(without_port))), None) => {
            Some(("service-id", vec![(*without_port, *without_port)]))
        }
        (Some((_, first, last, None)), None) => Some(("service-id", vec![(*first, *last)])),
        (Some((_, first, _, _)), Some((_, ports))) => {
            let moved = ports.iter().map(|(from, to)| (first + from, first + to));
            Some(("service-id", moved.collect()))
        }
        (None, Some((kind, ranges))) => Some((kind, ranges.clone())),
        (None, None) => None,
    }
}

/// A rule of the simple form with its criterion.
struct Asked<'a> {
    rule: &'a UlpRule,
    kind: &'a str,
    ranges: Vec<(u64, u64)>,
}

impl Asked<'_> {
    /// Returns whether this rule matches every path that a later rule matches.
    fn covers(&self, later: &Asked<'_>) -> bool {
        let is_inside = |(from, to): &(u64, u64)| {
            let mut ranges = self.ranges.iter();
            ranges.any(|(first, last)| first <= from && to <= last)
        };
        self.kind == later.kind && later.ranges.iter().all(is_inside)
    }
}

/// E1164: rules that come too late.
fn order(policy: &Policy, report: &mut Report) {
    let rules = policy.ulps.iter();
    let asked: Vec<Asked<'_>> = rules
        .filter_map(|rule| {
            let (kind, ranges) = criterion(rule)?;
            Some(Asked { rule, kind, ranges })
        })
        .collect();
    for (n, late) in asked.iter().enumerate() {
        let mut earlier = asked[..n].iter();
        if let Some(first) = earlier.clone().find(|earlier| earlier.covers(late)) {
            if first.rule.sl != late.rule.sl {
                let message = format!(
                    "this rule has no effect: an earlier rule gives the same paths SL{} instead of \
                     SL{}",
                    first.rule.sl, late.rule.sl
                );
                report
                    .findings
                    .warning("E1164", late.rule.place, message)
                    .also(first.rule.place, "the first matching rule counts")
                    .help("put the narrower rule first");
            }
            continue;
        }
        let by_target = earlier
            .find(|earlier| earlier.kind == "target-port-guid" && earlier.rule.sl != late.rule.sl);
        if let Some(first) = by_target.filter(|_| late.kind == "service-id") {
            let message = format!(
                "paths of this service to the target port above get SL{} instead of SL{}",
                first.rule.sl, late.rule.sl
            );
            report
                .findings
                .warning("E1164", late.rule.place, message)
                .also(
                    first.rule.place,
                    "a rule by target matches all traffic to it",
                )
                .help("put rules by service before rules by target port");
        }
    }
}

/// E1167 and E1168: names that match no port.
fn names(policy: &Policy, fabric: Option<&Fabric<'_>>, report: &mut Report) {
    let known: Option<BTreeSet<&str>> = fabric.map(|fabric| {
        fabric
            .subnet
            .nodes
            .iter()
            .map(|node| node.description.as_str())
            .collect()
    });
    let lines = policy.groups.iter().flat_map(|group| &group.lines);
    for line in lines.filter(|line| line.key == "port-name") {
        for name in line.value.split(',') {
            let read = without_spaces(name);
            let description = read
                .rsplit_once("/P")
                .map_or(read.as_str(), |(node, _)| node);
            let has_it = known.as_ref().map(|known| known.contains(description));
            let meant = name.trim().replace('"', "");
            if has_it != Some(true) && read != meant {
                let message = format!(
                    "OpenSM drops the spaces of `{meant}` and looks for `{read}`, which does not \
                     exist"
                );
                report
                    .findings
                    .error("E1167", line.place, message)
                    .help(format!("write `port-name: \"{meant}\"`, or use port-guid"));
            } else if has_it == Some(false) {
                let message = format!("no node of the fabric is described as `{description}`");
                report
                    .findings
                    .warning("E1168", line.place, message)
                    .help("use the names of ibnetdiscover, with the same capitalization");
            }
        }
    }
}

/// E1168: GUIDs that no port of the fabric has.
fn guids(policy: &Policy, fabric: &Fabric<'_>, report: &mut Report) {
    let ports = fabric.subnet.nodes.iter().flat_map(|node| &node.ports);
    let of_switches = fabric
        .subnet
        .nodes
        .iter()
        .filter(|node| node.kind.is_switch());
    let known: BTreeSet<u64> = ports
        .filter_map(|port| port.guid)
        .chain(of_switches.map(|node| node.guid))
        .map(|guid| guid.0)
        .collect();
    let lines = policy.groups.iter().flat_map(|group| &group.lines);
    for line in lines.filter(|line| line.key == "port-guid") {
        for (first, last) in ranges(&line.value).unwrap_or_default() {
            if known.range(first..=last.max(first)).next().is_none() {
                let what = match first == last {
                    true => format!("no port of the fabric has the GUID 0x{first:016x}"),
                    false => format!(
                        "no port of the fabric has a GUID from 0x{first:016x} to 0x{last:016x}"
                    ),
                };
                report
                    .findings
                    .warning("E1168", line.place, what)
                    .help("use port GUIDs, which ibnetdiscover prints in brackets, not node GUIDs");
            }
        }
    }
}

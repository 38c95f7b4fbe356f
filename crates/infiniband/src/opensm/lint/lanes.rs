//! Finds lanes that fold, starve, drop packets, or are not used.

use netloom_units::Vl;

use crate::DROPPED;
use crate::opensm::lists::{items, read_entries, read_lanes};
use crate::opensm::programming::{code_of_lanes, folded};
use crate::opensm::{Origin, Setting};

use super::lists::is_as_written;
use super::situations::{Situation, qos_place, situations, tables_of};
use super::{Report, Subject, words};

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let makes_its_own_map = super::torus::is_wanted(subject);
    for situation in situations(subject) {
        folded_tables(subject, &situation, report);
        if makes_its_own_map {
            continue;
        }
        folded_levels(subject, &situation, report);
        starved_levels(subject, &situation, report);
        dropped_levels(&situation, report);
        unused_lanes(subject, &situation, report);
        unplanned_levels(subject, &situation, report);
        shared_by_policy(subject, &situation, report);
    }
}

/// Returns the help for lanes that fold.
fn cure(situation: &Situation<'_>, highest: u8) -> String {
    let code = code_of_lanes(highest + 1);
    match situation.ports {
        Some(_) => format!(
            "use only {}, or `max_op_vls {code}` if both ends of the links have these lanes",
            words::range_of(situation.lanes)
        ),
        None => format!(
            "set `max_op_vls {code}`, or use only {}",
            words::range_of(situation.lanes)
        ),
    }
}

/// E1144: entries for lanes that the port does not use.
fn folded_tables(subject: &Subject<'_>, situation: &Situation<'_>, report: &mut Report) {
    for (_, list, origin) in tables_of(&situation.effective) {
        let Origin::Line(setting, _) = origin else {
            continue;
        };
        if !is_as_written(subject, setting) {
            continue;
        }
        let read = read_entries(list);
        let changed: Vec<(usize, Vl, Vl)> = read
            .iter()
            .enumerate()
            .map(|(n, entry)| (n, entry.vl, folded(entry.vl, situation.lanes)))
            .filter(|(_, from, to)| from != to)
            .collect();
        let Some((first, _, _)) = changed.first() else {
            continue;
        };
        let mut seen: Vec<(Vl, Vl)> = changed.iter().map(|(_, from, to)| (*from, *to)).collect();
        seen.sort();
        seen.dedup();
        let becomes = words::and(
            seen.iter()
                .map(|(from, to)| format!("VL{} becomes VL{}", from.0, to.0)),
        );
        let mut targets: Vec<Vl> = seen.iter().map(|(_, to)| *to).collect();
        targets.sort();
        targets.dedup();
        let sums = words::and(targets.iter().map(|vl| {
            let sum: u32 = read
                .iter()
                .filter(|entry| folded(entry.vl, situation.lanes) == *vl)
                .map(|entry| u32::from(entry.weight))
                .sum();
            format!("VL{} has weight {sum}", vl.0)
        }));
        let message = format!(
            "`{}` at {}: {becomes}, so {sums}; the ports use {}",
            setting.key,
            situation.words(),
            words::range_of(situation.lanes)
        );
        let span = items(list)
            .get(*first)
            .map_or(0..list.len(), |item| item.span.clone());
        let highest = seen.iter().map(|(from, _)| from.0).max().unwrap_or(0);
        let note = report.findings.error("E1144", setting.part(span), message);
        note.help(cure(situation, highest));
        if let Some(limit) = subject.conf.last("max_op_vls") {
            note.also(limit.key_place, "the limit is set here");
        }
    }
}

/// E1145: service levels that lose their own lane.
fn folded_levels(subject: &Subject<'_>, situation: &Situation<'_>, report: &mut Report) {
    let Origin::Line(setting, _) = situation.effective.sl2vl.1 else {
        return;
    };
    if !is_as_written(subject, setting) {
        return;
    }
    let (before, after) = (read_lanes(&setting.value), situation.sl_to_vl());
    let changed: Vec<usize> = (0..16).filter(|&sl| before.0[sl] != after.0[sl]).collect();
    let Some(&first) = changed.first() else {
        return;
    };
    let mut groups: Vec<String> = vec![];
    for lane in 0..15 {
        let there: Vec<u8> = (0..16u8)
            .filter(|&sl| after.0[usize::from(sl)] == Vl(lane))
            .collect();
        if there.iter().any(|sl| changed.contains(&usize::from(*sl))) {
            groups.push(format!("{} on VL{lane}", words::levels(&there)));
        }
    }
    let message = format!(
        "`{}` at {}: the ports use {}, which puts {}",
        setting.key,
        situation.words(),
        words::range_of(situation.lanes),
        words::and(groups)
    );
    let highest = changed.iter().map(|&sl| before.0[sl].0).max().unwrap_or(0);
    let list = items(&setting.value);
    let span = list
        .get(first)
        .map_or(0..setting.value.len(), |item| item.span.clone());
    let note = report.findings.error("E1145", setting.part(span), message);
    note.help(cure(situation, highest));
    if let Some(limit) = subject.conf.last("max_op_vls") {
        note.also(limit.key_place, "the limit is set here");
    }
}

/// Returns the service levels that go to a lane without weight.
fn without_weight(situation: &Situation<'_>) -> Vec<u8> {
    let tables = [situation.low(), situation.high()].concat();
    let map = situation.sl_to_vl();
    let is_served = |vl: Vl| {
        tables
            .iter()
            .any(|entry| entry.vl == vl && entry.weight > 0)
    };
    let is_starved = |sl: &u8| {
        let vl = map.0[usize::from(*sl)];
        vl != DROPPED && !is_served(vl)
    };
    (0..16u8).filter(is_starved).collect()
}

/// E1156: service levels whose lane has no weight.
fn starved_levels(subject: &Subject<'_>, situation: &Situation<'_>, report: &mut Report) {
    let starved = without_weight(situation);
    let effective = &situation.effective;
    let lines = [effective.sl2vl.1, effective.low.1, effective.high.1];
    let lines: Vec<&Setting> = lines.into_iter().filter_map(line).collect();
    if starved.is_empty() || !lines.iter().all(|line| is_as_written(subject, line)) {
        return;
    }
    // Few ports have 15 lanes. With 8 lanes, the higher lanes fold onto the lower ones.
    let fewer = Situation {
        lanes: 8,
        ..situation.clone()
    };
    let is_for_many_lanes =
        situation.ports.is_none() && situation.lanes == 15 && without_weight(&fewer).is_empty();
    let map = situation.sl_to_vl();
    let lanes = starved.iter().map(|&sl| map.0[usize::from(sl)]);
    let message = format!(
        "{}{}: {} {} sent on {}, without a weight in either table; {} packets wait forever",
        situation.words(),
        if is_for_many_lanes {
            " with 15 lanes"
        } else {
            ""
        },
        words::levels(&starved),
        if starved.len() == 1 { "is" } else { "are" },
        words::lanes(lanes),
        if starved.len() == 1 { "its" } else { "their" },
    );
    let (place, help) = match (line(effective.sl2vl.1), lines.first()) {
        (Some(setting), _) => {
            let list = items(&setting.value);
            let item = list.get(usize::from(starved[0]));
            let span = item.map_or(0..setting.value.len(), |item| item.span.clone());
            let help =
                "give these lanes a weight, or map the levels to other lanes (15 drops them)";
            (setting.part(span), help)
        }
        (None, first) => (
            first.map_or_else(|| qos_place(subject), |setting| setting.key_place),
            "add a qos_sl2vl line; by default OpenSM maps each service level to the lane of its \
             number",
        ),
    };
    match is_for_many_lanes {
        true => report.findings.warning("E1156", place, message),
        false => report.findings.error("E1156", place, message),
    }
    .help(help);
}

/// Returns the line that a value comes from.
fn line(origin: Origin<'_>) -> Option<&Setting> {
    match origin {
        Origin::Line(setting, _) => Some(setting),
        Origin::OpenSm => None,
    }
}

/// E1157: service levels that are dropped.
fn dropped_levels(situation: &Situation<'_>, report: &mut Report) {
    let Origin::Line(setting, _) = situation.effective.sl2vl.1 else {
        return;
    };
    let map = situation.sl_to_vl();
    let dropped: Vec<u8> = (0..16u8)
        .filter(|&sl| map.0[usize::from(sl)] == DROPPED)
        .collect();
    if let Some(&first) = dropped.first() {
        let list = items(&setting.value);
        let item = list.get(usize::from(first));
        let span = item.map_or(0..setting.value.len(), |item| item.span.clone());
        let message = format!(
            "`{}`: packets of {} are dropped at {}",
            setting.key,
            words::levels(&dropped),
            words::kinds(&situation.sets)
        );
        report.remarks.warning("E1157", setting.part(span), message);
    }
}

/// E1158: lanes with a weight that no service level uses.
fn unused_lanes(subject: &Subject<'_>, situation: &Situation<'_>, report: &mut Report) {
    let map = situation.sl_to_vl();
    for (_, list, origin) in tables_of(&situation.effective) {
        let Origin::Line(setting, _) = origin else {
            continue;
        };
        if !is_as_written(subject, setting) {
            continue;
        }
        let entries = read_entries(list);
        let is_unused = |vl: Vl| !map.0.contains(&folded(vl, situation.lanes));
        let unused = entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.weight > 0 && is_unused(entry.vl));
        let unused: Vec<(usize, Vl)> = unused.map(|(n, entry)| (n, entry.vl)).collect();
        let Some((first, _)) = unused.first() else {
            continue;
        };
        let span = items(list)
            .get(*first)
            .map_or(0..list.len(), |item| item.span.clone());
        let message = format!(
            "`{}` at {}: no service level uses {}",
            setting.key,
            words::kinds(&situation.sets),
            words::lanes(unused.iter().map(|(_, vl)| *vl))
        );
        report
            .findings
            .warning("E1158", setting.part(span), message)
            .help("remove the entries, or map a service level to these lanes");
    }
}

/// E1175: unplanned service levels on a lane of the high table.
///
/// The levels set by the policy are planned. Without a policy, the first level of each lane is.
fn unplanned_levels(subject: &Subject<'_>, situation: &Situation<'_>, report: &mut Report) {
    let Origin::Line(setting, _) = situation.effective.sl2vl.1 else {
        return;
    };
    // OpenSM's own high table, and levels that lose their lane, are reported elsewhere.
    let is_own = matches!(situation.effective.high.1, Origin::OpenSm);
    let map = situation.sl_to_vl().0;
    let is_folded = read_lanes(&setting.value).0 != map;
    if is_own || is_folded || !is_as_written(subject, setting) {
        return;
    }
    let (low, high) = (situation.low(), situation.high());
    let goes_first = |vl: Vl| high.iter().any(|entry| entry.vl == vl && entry.weight > 0);
    // Unplanned traffic does the least harm on the lane of the low table with the largest weight.
    let weight = |vl: Vl| -> u32 {
        let own = low.iter().filter(|entry| entry.vl == vl);
        own.map(|entry| u32::from(entry.weight)).sum()
    };
    let harmless = (0..15)
        .rev()
        .map(Vl)
        .filter(|vl| map.contains(vl) && !goes_first(*vl) && weight(*vl) > 0);
    let Some(harmless) = harmless.max_by_key(|vl| weight(*vl)) else {
        return;
    };
    let given = subject.policy.map_or(0, |policy| {
        let of_levels = policy.levels.iter().filter_map(|level| level.sl());
        let of_ulps = policy.ulps.iter().map(|rule| rule.sl);
        of_levels
            .chain(of_ulps)
            .fold(0u16, |mask, sl| mask | 1 << (sl & 15))
    });
    let levels = 0..16u8;
    let on = |vl: Vl| levels.clone().filter(move |sl| map[usize::from(*sl)] == vl);
    let is_planned = |sl: u8| {
        let vl = map[usize::from(sl)];
        match on(vl).any(|other| given >> other & 1 == 1) {
            true => given >> sl & 1 == 1,
            false => on(vl).next() == Some(sl),
        }
    };
    let is_wrong = |sl: &u8| goes_first(map[usize::from(*sl)]) && !is_planned(*sl);
    let wrong: Vec<u8> = levels.clone().filter(is_wrong).collect();
    let Some(first) = wrong.first() else {
        return;
    };
    let list = items(&setting.value);
    let span = list
        .get(usize::from(*first))
        .map_or(0..setting.value.len(), |item| item.span.clone());
    let message = format!(
        "`{}` at {}: {} {} to {} of the high table, ahead of all other traffic",
        setting.key,
        words::kinds(&situation.sets),
        words::levels(&wrong),
        if wrong.len() == 1 { "goes" } else { "go" },
        words::lanes(wrong.iter().map(|sl| map[usize::from(*sl)])),
    );
    let lane = |sl: u8| match wrong.contains(&sl) {
        true => harmless.0,
        false => map[usize::from(sl)].0,
    };
    let lanes: Vec<String> = levels.map(|sl| lane(sl).to_string()).collect();
    report
        .findings
        .warning("E1175", setting.part(span), message)
        .help(format!(
            "if no class uses them, set `{} {}`; otherwise set them in the policy",
            setting.key,
            lanes.join(",")
        ));
}

/// E1174: service levels that the policy separates and a port does not.
fn shared_by_policy(subject: &Subject<'_>, situation: &Situation<'_>, report: &mut Report) {
    let Some(policy) = subject.policy else {
        return;
    };
    let of_levels = policy
        .levels
        .iter()
        .filter_map(|level| Some((level.sl()?, level.place)));
    let of_ulps = policy.ulps.iter().map(|rule| (rule.sl, rule.place));
    let mut given: Vec<(u8, netloom_catalog::Place)> = of_levels.chain(of_ulps).collect();
    given.sort_by_key(|(sl, place)| (*sl, place.start));
    given.dedup_by_key(|(sl, _)| *sl);
    let map = situation.sl_to_vl();
    let lane = |sl: u8| map.0[usize::from(sl & 15)];
    for (n, (sl, place)) in given.iter().enumerate() {
        if lane(*sl) == DROPPED {
            let message = format!(
                "the policy sets SL{sl}, which {} drop",
                words::kinds(&situation.sets)
            );
            report
                .findings
                .error("E1174", *place, message)
                .help("map the service level to a lane from 0 to 14 in sl2vl");
        }
        let earlier = given[..n]
            .iter()
            .find(|(other, _)| lane(*other) == lane(*sl));
        if let Some((other, there)) = earlier.filter(|_| lane(*sl) != DROPPED) {
            let message = format!(
                "the policy separates SL{other} and SL{sl}, but {} send both on VL{}",
                words::kinds(&situation.sets),
                lane(*sl).0
            );
            report
                .findings
                .warning("E1174", *place, message)
                .also(*there, "the other one")
                .help("give them different lanes in sl2vl");
        }
    }
}

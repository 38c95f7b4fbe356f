//! Computes what tables guarantee to each class, and which needs of the request they do not meet.

use netloom_arbitration::N_SLS;
use netloom_units::Vl;

use super::attempt::{Case, Stream};
use super::{HIGH_ASSUMPTION, Plan, PlannedClass, RAISED_ASSUMPTION, Tables, Unmet, cost};
use crate::qos::wait::Wait;

/// Compares tables with the request.
pub(super) fn judge(case: &Case<'_>, tables: Tables, is_proved: bool) -> Plan {
    let request = case.request;
    let unrestrained = tables.shares(&case.laws(), request.ports.flit);
    let shares = stream_shares(case, &tables, &unrestrained);
    let mut classes = Vec::with_capacity(request.classes.len());
    for index in 0..request.classes.len() {
        let at = case
            .streams
            .iter()
            .position(|stream| stream.members.contains(&index))
            .expect("every class is in a stream");
        let share = (at, shares[at]);
        classes.push(planned(case, &tables, index, share, &unrestrained));
    }
    let unmet = unmet(case, &classes, is_proved);
    let notes = notes(case, &tables, &unrestrained);
    let facts = cost::facts(request, &case.lanes, &tables);
    Plan {
        request: request.clone(),
        lanes: case.lanes.clone(),
        tables,
        classes,
        unmet,
        notes,
        facts,
        fitted: vec![],
        is_proved,
    }
}

fn has_high(tables: &Tables, stream: &Stream) -> bool {
    match tables {
        Tables::InfiniBand { high, .. } => high.vls() >> stream.key & 1 == 1,
        _ => false,
    }
}

/// Returns whether a stream has a larger part of the low table, or of the only one, than its share.
/// It then keeps a slowdown, and the shares of others rely on its source. `unrestrained` are the
/// shares by key if all streams send as much as they can.
fn is_raised(
    case: &Case<'_>,
    tables: &Tables,
    stream: &Stream,
    unrestrained: &[f64; N_SLS],
) -> bool {
    if stream.slowdown.is_none() || has_high(tables, stream) {
        return false;
    }
    let most = stream.share * (1.0 + case.request.ports.tolerance * 1.001) + 1e-9;
    unrestrained[usize::from(stream.key)] > most
}

/// Returns whether the shares of others rely on a stream to send no more than its own.
fn is_trusted(
    case: &Case<'_>,
    tables: &Tables,
    stream: &Stream,
    unrestrained: &[f64; N_SLS],
) -> bool {
    has_high(tables, stream) || is_raised(case, tables, stream, unrestrained)
}

/// Returns the share of each stream when all others send as much as they can, and the high table
/// what it is assumed to send.
fn stream_shares(case: &Case<'_>, tables: &Tables, unrestrained: &[f64; N_SLS]) -> Vec<f64> {
    let is_trusted = |stream: &Stream| is_trusted(case, tables, stream, unrestrained);
    let mut laws = case.laws();
    let mut trusted = 0.0;
    for stream in case.streams.iter().filter(|stream| is_trusted(stream)) {
        laws[usize::from(stream.key)] = None;
        trusted += stream.share;
    }
    let shares = tables.shares(&laws, case.request.ports.flit);
    // A limit may give the high table less than it needs.
    let all = case.streams.iter().filter(|stream| is_trusted(stream));
    let taken: f64 = all.map(|s| unrestrained[usize::from(s.key)]).sum();
    let part = if taken < trusted {
        taken / trusted
    } else {
        1.0
    };
    let share = |stream: &Stream| {
        if is_trusted(stream) {
            stream.share * part
        } else {
            shares[usize::from(stream.key)] * (1.0 - trusted * part)
        }
    };
    case.streams.iter().map(share).collect()
}

fn planned(
    case: &Case<'_>,
    tables: &Tables,
    index: usize,
    (at, stream_share): (usize, f64),
    unrestrained: &[f64; N_SLS],
) -> PlannedClass {
    let (request, stream) = (case.request, &case.streams[at]);
    let if_all_send = unrestrained[usize::from(stream.key)];
    let class = &request.classes[index];
    let lists = tables.lists();
    let (table, entries) = lists
        .iter()
        .find(|(_, entries)| entries.iter().any(|&(key, _)| key == stream.key))
        .expect("every stream has an entry");
    let own: Vec<usize> = (0..entries.len())
        .filter(|&entry| entries[entry].0 == stream.key)
        .collect();
    let next = own.iter().skip(1).copied().chain([own[0] + entries.len()]);
    let distance = own.iter().zip(next).map(|(a, b)| b - a).max();
    let units: u64 = own.iter().map(|&entry| u64::from(entries[entry].1)).sum();
    let in_lane: f64 = stream
        .members
        .iter()
        .map(|&member| request.classes[member].share.as_f64())
        .sum();
    let mates: Vec<&str> = stream
        .members
        .iter()
        .filter(|&&member| member != index)
        .map(|&member| request.classes[member].name.as_str())
        .collect();
    let wait = if mates.is_empty() {
        tables.wait(&case.largest(), request.ports.flit, stream.key)
    } else {
        Wait::Unbounded(format!(
            "packets of {} may be queued before its own in {}",
            mates.join(" and "),
            Vl(at as u8)
        ))
    };
    let share_if_all_send = if_all_send * class.share.as_f64() / in_lane;
    let slowdown = match (&case.packets, mates.is_empty()) {
        (None, _) => None,
        (Some(packets), true) => Some(tables.slowdown(packets, stream.key)),
        (Some(_), false) => Some(Err(format!(
            "packets of {} may be queued before its own in {}",
            mates.join(" and "),
            Vl(at as u8)
        ))),
    };
    let worst_wait = wait.bytes().map(|bytes| request.ports.rate.time_for(bytes));
    PlannedClass {
        name: class.name.clone(),
        sl: class.sl,
        vl: Vl(at as u8),
        table,
        share_wanted: class.share.as_f64(),
        share_given: stream_share * class.share.as_f64() / in_lane,
        share_if_all_send,
        is_trusted: is_trusted(case, tables, stream, unrestrained),
        share_least: None,
        share_most: None,
        entries: own.len(),
        distance: distance.unwrap_or(entries.len()),
        bytes_per_turn: units * cost::unit(request).0,
        worst_wait,
        path_wait: worst_wait.map(|wait| wait * u64::from(request.ports.hops)),
        wait,
        deadline: class.deadline,
        slowdown,
        slowdown_wanted: class.slowdown,
    }
}

fn unmet(case: &Case<'_>, classes: &[PlannedClass], is_proved: bool) -> Vec<Unmet> {
    let request = case.request;
    let mut unmet = vec![];
    let scale: f64 = request.classes.iter().map(|c| c.share.as_f64()).sum();
    for (index, class) in classes.iter().enumerate() {
        let wanted = class.share_wanted / scale;
        // An error that rounds to the tolerance is within it.
        if (class.share_given / wanted - 1.0).abs() > request.ports.tolerance * 1.001 + 1e-9 {
            unmet.push(Unmet::Share {
                class: index,
                wanted,
                given: class.share_given,
                entries: is_proved.then(|| request.capacity()),
            });
        }
        if let (Some(wanted), Some(reached)) = (class.slowdown_wanted, &class.slowdown) {
            match reached {
                // A quotient of sums errs in its last digits.
                Ok(reached) if reached.factor <= wanted + 1e-9 => {}
                Ok(reached) => {
                    unmet.push(Unmet::Slowdown(index, Ok(reached.factor), wanted));
                }
                Err(why) => unmet.push(Unmet::Slowdown(index, Err(why.clone()), wanted)),
            }
        }
        let Some(deadline) = class.deadline else {
            continue;
        };
        match (&class.path_wait, &class.wait) {
            (Some(wait), _) if *wait <= deadline => {}
            (Some(wait), _) => unmet.push(Unmet::Deadline(index, Ok(*wait), deadline)),
            (None, Wait::Unbounded(why)) => {
                unmet.push(Unmet::Deadline(index, Err(why.clone()), deadline));
            }
            (None, Wait::AtMost(_)) => unreachable!("a bound has a time"),
        }
    }
    unmet
}

fn notes(case: &Case<'_>, tables: &Tables, unrestrained: &[f64; N_SLS]) -> Vec<String> {
    let request = case.request;
    let mut notes = vec![];
    notes.extend(request.cautions.bottleneck.clone());
    notes.extend(request.cautions.slower.clone());
    let name = |&class: &usize| request.classes[class].name.as_str();
    for (lane, group) in case.lanes.groups.iter().enumerate() {
        if group.len() > 1 {
            let names: Vec<&str> = group.iter().map(name).collect();
            notes.push(format!(
                "{} share {}, which is one queue. Their shares are not enforced against each \
                 other, and their waits have no bound",
                names.join(" and "),
                Vl(lane as u8)
            ));
        }
    }
    let sum: f64 = request.classes.iter().map(|c| c.share.as_f64()).sum();
    if sum < 1.0 - 1e-9 {
        notes.push(format!(
            "the shares sum to {:.2} %. A table has no idle rest, so all shares grow in proportion",
            sum * 100.0
        ));
    }
    let high = case
        .streams
        .iter()
        .filter(|stream| has_high(tables, stream));
    let high: Vec<u8> = high.map(|stream| stream.key).collect();
    if !high.is_empty() {
        let taken: f64 = high.iter().map(|&key| unrestrained[usize::from(key)]).sum();
        notes.push(format!(
            "{HIGH_ASSUMPTION}. Unrestrained, they would take {:.1} % of the link",
            taken * 100.0
        ));
    }
    let raised = case.streams.iter();
    let raised = raised.filter(|stream| is_raised(case, tables, stream, unrestrained));
    let raised: Vec<&Stream> = raised.collect();
    if !raised.is_empty() {
        let members = raised.iter().flat_map(|stream| &stream.members);
        let names: Vec<&str> = members.map(name).collect();
        let taken: f64 = raised
            .iter()
            .map(|stream| unrestrained[usize::from(stream.key)])
            .sum();
        notes.push(format!(
            "{RAISED_ASSUMPTION}: {}. Unrestrained, they would take {:.1} % of the link",
            names.join(", "),
            taken * 100.0
        ));
    }
    notes
}

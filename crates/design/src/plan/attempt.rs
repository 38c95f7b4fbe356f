//! One attempt to find tables for a request.

use std::cell::RefCell;
use std::collections::HashMap;

use netloom_arbitration::{
    LIMIT_UNIT, MAX_IB_DEFICIT_ENTRIES, N_SLS, NO_LIMIT, VlArbitrationTable, WEIGHT_UNIT,
};
use netloom_units::{Bytes, Ratio, Time};

use super::Plan;
use super::compose::{Composition, Effort, Part, Search, Slot, Supply};
use super::judgement::judge;
use super::lanes::{Grouping, group};
use super::request::{HighTable, Kind, Request};
use super::tables::{Tables, on_link, vl_table};
use crate::qos::dtable;
use crate::qos::placement::Spacing;
use crate::qos::predict::{BxiVisits, IbVisits, Laws, SizeLaw};
use crate::qos::slowdown::Packets;
use crate::qos::wait::PacketSizes;

/// Why an attempt failed.
pub(super) struct Failure {
    pub(super) reasons: Vec<String>,
    pub(super) nearest: Option<Box<Plan>>,
    /// Whether it is proved that no tables meet the request; otherwise the search found none.
    pub(super) is_proved: bool,
}

impl Failure {
    fn of(reason: String) -> Failure {
        Failure {
            reasons: vec![reason],
            nearest: None,
            is_proved: true,
        }
    }
}

/// A unit that the table of a port distinguishes: one class, or several in one lane.
pub(super) struct Stream {
    pub(super) members: Vec<usize>,
    /// Its lane in InfiniBand, its service level elsewhere.
    pub(super) key: u8,
    /// Its part of the sum of all shares. Shares that sum to less than 1 are scaled up, because a
    /// table has no idle rest.
    pub(super) share: f64,
    pub(super) sizes: SizeLaw,
    /// The longest wait of a packet at one output.
    pub(super) budget: Option<Time>,
    /// The longest time of a backlog at one output over its time alone.
    pub(super) slowdown: Option<f64>,
    /// The number of its entries, if it is fixed.
    pub(super) entries: Option<usize>,
}

impl Stream {
    fn is_urgent(&self) -> bool {
        self.budget.is_some() || self.slowdown.is_some()
    }
}

/// A request with its streams.
pub(super) struct Case<'a> {
    pub(super) request: &'a Request,
    pub(super) lanes: Grouping,
    pub(super) streams: Vec<Stream>,
    /// The packets on the link, if a class has a slowdown.
    pub(super) packets: Option<Packets>,
}

impl Case<'_> {
    fn keys(&self) -> Vec<u8> {
        self.streams.iter().map(|stream| stream.key).collect()
    }

    /// Returns the laws of all streams by key.
    pub(super) fn laws(&self) -> Laws {
        let mut laws: Laws = std::array::from_fn(|_| None);
        for stream in &self.streams {
            laws[usize::from(stream.key)] = Some(stream.sizes.clone());
        }
        laws
    }

    /// Returns the largest packets by key, as a link moves them, and the smallest if they are
    /// known.
    pub(super) fn largest(&self) -> PacketSizes {
        let (mut largest, mut smallest) = ([Bytes(0); N_SLS], [Bytes(0); N_SLS]);
        let flit = self.request.ports.flit;
        for stream in &self.streams {
            // A link moves whole flits.
            let flits = stream.sizes.largest().in_flits(flit);
            largest[usize::from(stream.key)] = Bytes(flits * flit.0);
            let mut members = stream.members.iter();
            if members.all(|&class| self.request.classes[class].has_only_these) {
                smallest[usize::from(stream.key)] = stream.sizes.smallest();
            }
        }
        PacketSizes {
            largest,
            smallest,
            management: self.request.ports.management,
        }
    }
}

/// Returns the bytes that the link may send while a stream waits; infinite without a bound.
fn wait_bytes(case: &Case<'_>, sizes: &PacketSizes, tables: &Tables, stream: usize) -> f64 {
    let wait = tables.wait(sizes, case.request.ports.flit, case.streams[stream].key);
    wait.bytes().map_or(f64::INFINITY, |bytes| bytes.0 as f64)
}

/// Returns the largest slowdown of some streams under tables as a part of the one allowed; infinite
/// without a bound, 0 if no stream has a slowdown.
fn strain(case: &Case<'_>, tables: &Tables, streams: &[usize]) -> f64 {
    let Some(packets) = &case.packets else {
        return 0.0;
    };
    let part = |&stream: &usize| {
        let stream = &case.streams[stream];
        let allowed = stream.slowdown?;
        let reached = tables.slowdown(packets, stream.key);
        // A quotient of sums errs in its last digits.
        Some(reached.map_or(f64::INFINITY, |it| it.factor / (allowed + 1e-9)))
    };
    streams.iter().filter_map(part).fold(0.0, f64::max)
}

/// Attempts to plan a request.
pub(super) fn attempt(request: &Request, effort: &Effort) -> Result<Plan, Failure> {
    let sum = request
        .classes
        .iter()
        .fold(Ratio::ZERO, |sum, c| sum + c.share);
    if sum > Ratio::whole(1) {
        let percent = sum.as_f64() * 100.0;
        return Err(Failure::of(format!(
            "the shares sum to {percent:.2} %; a link has 100 %"
        )));
    }
    // A backlog of a class with slowdown s gets 1 / s of the link, while all classes send.
    let needing = request.classes.iter();
    let needing = needing.filter_map(|class| Some((&class.name, 1.0 / class.slowdown?)));
    let least: Vec<(&String, f64)> = needing.collect();
    let sum_of_least: f64 = least.iter().map(|(_, part)| part).sum();
    if sum_of_least > 1.0 + 1e-9 {
        let part = |(name, part): &(&String, f64)| format!("{name} {:.2} %", part * 100.0);
        let parts: Vec<String> = least.iter().map(part).collect();
        return Err(Failure::of(format!(
            "the slowdowns need {:.2} % of the link when all classes send ({}); a link has 100 %",
            sum_of_least * 100.0,
            parts.join(", ")
        )));
    }
    let case = case(request, sum.as_f64())?;
    let plan = tables(&case, effort)?;
    if plan.is_late() {
        let late = plan.unmet.iter().filter(|u| u.is_refused());
        let reasons = late.map(|u| u.words(&request.classes));
        return Err(Failure {
            reasons: reasons.collect(),
            is_proved: plan.is_proved,
            nearest: Some(Box::new(plan)),
        });
    }
    Ok(plan)
}

fn tables(case: &Case<'_>, effort: &Effort) -> Result<Plan, Failure> {
    let ports = &case.request.ports;
    let has_distances = case.request.classes.iter().all(|c| c.distance.is_some());
    if ports.arbiter == Kind::DTable && has_distances {
        return by_distances(case);
    }
    let may_use_high = ports.arbiter == Kind::InfiniBand
        && ports.high_table != HighTable::Never
        && case.request.high_capacity() > 0
        && case.streams.iter().any(Stream::is_urgent);
    if may_use_high && ports.high_table == HighTable::Deadlines {
        let all = |stream: usize| case.streams[stream].is_urgent();
        let mut both = in_both_tables(case, &all, effort)?;
        if case.packets.is_some() {
            both.is_proved = both.is_late() && is_refused_anywhere(case, true);
        }
        return Ok(both);
    }
    let mut best = in_one_table(case, effort, None)?;
    // Deadlines come before shares: whether any is missed, then the number of other unmet needs.
    let missed = |plan: &Plan| (plan.is_late(), plan.unmet.len());
    let is_proved = best.is_proved;
    if may_use_high {
        for high in high_sets(case) {
            if best.unmet.is_empty() {
                break;
            }
            let is_high = |stream: usize| high.contains(&stream);
            let both = in_both_tables(case, &is_high, effort).ok();
            if let Some(both) = both.filter(|both| missed(both) < missed(&best) && !both.is_late())
            {
                best = both;
            }
        }
    }
    if case.packets.is_some() {
        best.is_proved = best.is_late() && is_refused_anywhere(case, may_use_high);
        for margin in MARGINS {
            if !best.is_late() || best.is_proved {
                break;
            }
            let raised = in_one_table(case, effort, Some(margin)).ok();
            if let Some(raised) = raised.filter(|raised| missed(raised) < missed(&best)) {
                best = raised;
                best.is_proved = false;
            }
        }
    } else if may_use_high && best.is_late() {
        // Not all pairs of tables are examined, but some waits are the same under any tables.
        best.is_proved = is_proved && is_late_anywhere(case);
    }
    Ok(best)
}

/// Parts by which a stream with a slowdown s gets more than 1 / s of a table. Whole packets and
/// packets of other sizes cost some of it.
const MARGINS: [f64; 8] = [0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5];

/// Returns whether no tables meet the request, as far as an inequality shows it. The search does
/// not examine all tables of a request with slowdowns.
///
/// - A deadline is shorter than a packet of another stream.
/// - A class has a slowdown, but not a lane of its own: the lanes lose as few such classes as
///   possible.
/// - One table has too few entries. A slowdown is smallest if all other streams have one entry of
///   the least weight, and the stream has all other entries, of the largest weight.
fn is_refused_anywhere(case: &Case<'_>, may_use_high: bool) -> bool {
    let is_in_own_lane = |at: usize| case.lanes.mates_of(at).is_empty();
    let mut classes = case.request.classes.iter().enumerate();
    if classes.any(|(at, class)| class.slowdown.is_some() && !is_in_own_lane(at)) {
        return true;
    }
    is_late_anywhere(case) || !may_use_high && has_too_few_entries(case)
}

/// Returns whether a stream exceeds its slowdown in the table that suits it best.
fn has_too_few_entries(case: &Case<'_>) -> bool {
    let Ok((_, parts)) = parts(case, &|_| true, None) else {
        return false;
    };
    let rest = (case.request.capacity() + 1).saturating_sub(parts.len());
    let is_exceeded = |own: usize| {
        let mut slots = vec![];
        for (stream, part) in parts.iter().enumerate() {
            let (n, weight) = match stream == own {
                true => (rest, part.supply.most),
                false => (1, part.supply.least),
            };
            slots.extend(std::iter::repeat_n(Slot { stream, weight }, n));
        }
        let (kind, turn) = (case.request.ports.arbiter, case.request.turn());
        let tables = Tables::from_slots(kind, &slots, &case.keys(), turn);
        tables.is_ok_and(|tables| strain(case, &tables, &[own]) > 1.0)
    };
    (0..parts.len()).any(is_exceeded)
}

/// Returns sets of streams with deadlines or slowdowns that the high table may serve, the smallest
/// first: all sets of a few streams, otherwise those with slowdowns and the tightest deadlines.
fn high_sets(case: &Case<'_>) -> Vec<Vec<usize>> {
    let budget = |stream: usize| case.streams[stream].budget;
    let mut urgent: Vec<usize> = (0..case.streams.len())
        .filter(|&stream| case.streams[stream].is_urgent())
        .collect();
    urgent.sort_by(|&a, &b| {
        budget(a)
            .partial_cmp(&budget(b))
            .expect("times are ordered")
    });
    let n = urgent.len();
    if n > FEW_DEADLINES {
        return (1..=n).map(|n| urgent[..n].to_vec()).collect();
    }
    let mut sets: Vec<Vec<usize>> = (1..1usize << n)
        .map(|set| {
            let members = (0..n).filter(|at| set >> at & 1 == 1);
            members.map(|at| urgent[at]).collect()
        })
        .collect();
    sets.sort_by_key(Vec::len);
    sets
}

/// Up to this number of deadlines and slowdowns, all sets are tried in the high table.
const FEW_DEADLINES: usize = 3;

/// Returns whether some stream is late under any tables: a largest packet of any stream may be in
/// flight when its own becomes ready, followed by a management packet.
fn is_late_anywhere(case: &Case<'_>) -> bool {
    let ports = &case.request.ports;
    let largest = case.streams.iter().map(|stream| stream.sizes.largest().0);
    let least = Bytes(largest.max().unwrap_or(0) + ports.management.0);
    let wait = ports.rate.time_for(least);
    let budgets = case.streams.iter().filter_map(|stream| stream.budget);
    budgets.into_iter().any(|budget| wait > budget)
}

fn case(request: &Request, sum: f64) -> Result<Case<'_>, Failure> {
    let ports = &request.ports;
    let n = request.classes.len();
    let n_lanes = ports.vls.map_or(n, usize::from);
    let by_lane = ports.arbiter == Kind::InfiniBand;
    if n > n_lanes && !by_lane {
        return Err(Failure::of(format!(
            "{n} classes share {n_lanes} lanes, but {} arbitrates by service level: two service \
             levels in one lane would block each other. Give each class a lane, or let classes \
             share a service level",
            ports.arbiter.name()
        )));
    }
    if n > 15 {
        return Err(Failure::of(format!(
            "expected at most 15 classes (the data lanes of a link), found {n}"
        )));
    }
    let lanes = group(&request.classes, n_lanes);
    let stream = |(lane, members): (usize, &Vec<usize>)| {
        let classes = || members.iter().map(|&class| &request.classes[class]);
        let first = &request.classes[members[0]];
        let alone = members.len() == 1;
        let hops = Ratio::whole(ports.hops.into());
        Stream {
            members: members.clone(),
            key: if by_lane { lane as u8 } else { first.sl.0 },
            share: classes().map(|class| class.share.as_f64()).sum::<f64>() / sum,
            sizes: mixed(
                classes().map(|class| (class.share.as_f64(), &class.sizes)),
                ports.flit,
            ),
            slowdown: first.slowdown.filter(|_| alone),
            budget: first
                .deadline
                .filter(|_| alone)
                .map(|deadline| Time::from_picos(deadline.picos() / hops)),
            entries: first
                .distance
                .filter(|_| alone)
                .map(|distance| (request.slots() / distance.max(1)).max(1)),
        }
    };
    let streams: Vec<Stream> = lanes.groups.iter().enumerate().map(stream).collect();
    let capacity = request.capacity();
    if streams.len() > capacity {
        return Err(Failure::of(format!(
            "{} lanes need one entry each, but the table holds {capacity}",
            streams.len()
        )));
    }
    let mut case = Case {
        request,
        lanes,
        streams,
        packets: None,
    };
    if request.classes.iter().any(|class| class.slowdown.is_some()) {
        case.packets = Some(Packets::new(&case.largest(), ports.flit));
    }
    Ok(case)
}

/// Returns the law of the packets of several classes in one queue: a class sends more packets the
/// smaller they are.
fn mixed<'a>(classes: impl Iterator<Item = (f64, &'a SizeLaw)>, flit: Bytes) -> SizeLaw {
    let mut all = vec![];
    for (share, sizes) in classes {
        let packets = share / on_link(sizes, flit);
        let part = |&(bytes, part): &(u32, f64)| (Bytes(bytes.into()), part * packets);
        all.extend(sizes.sizes().iter().map(part));
    }
    SizeLaw::new(all).expect("laws of packets mix to a law of packets")
}

/// Plans with given distances; the weights follow from them. This is the method of paper 000.
fn by_distances(case: &Case<'_>) -> Result<Plan, Failure> {
    let request = case.request;
    let credits = |bytes: Bytes| bytes.0.div_ceil(u64::from(WEIGHT_UNIT)) as u32;
    let class = |class: &super::Class| dtable::Class {
        name: class.name.clone(),
        sl: class.sl,
        spacing: Spacing::Distance(class.distance.unwrap_or(1)),
        mtu: credits(class.sizes.largest()),
        share: class.share,
    };
    let mut needs = dtable::Needs::new(request.classes.iter().map(class).collect());
    needs.n_slots = request.slots();
    needs.gmtu = needs.classes.iter().map(|c| c.mtu).max().unwrap_or(1);
    needs.tolerance = super::request::exact(request.ports.tolerance);
    needs.k = request.ports.k.map(super::request::exact);
    needs.w = request.ports.w.map(super::request::exact);
    needs.total = request.ports.total.map(u64::from);
    // A table that is too long for InfiniBand storage has registers of its own.
    if needs.n_slots > MAX_IB_DEFICIT_ENTRIES {
        needs.register_bits = 16;
    }
    let found = dtable::plan(&needs).map_err(|refusals| Failure {
        reasons: refusals.iter().map(ToString::to_string).collect(),
        nearest: None,
        is_proved: true,
    })?;
    // Only these distances are tried, so a refused slowdown is not proved.
    let is_proved = case.packets.is_none();
    let mut plan = judge(case, Tables::Deficit(found.table.clone()), is_proved);
    for (class, planned) in plan.classes.iter_mut().zip(&found.classes) {
        class.share_least = Some(planned.min_share.as_f64());
        class.share_most = Some(planned.max_share.as_f64());
    }
    let tenths = |ratio: Ratio| format!("{}", ratio.as_f64());
    let facts = [
        ("k", tenths(found.k)),
        ("w", tenths(found.w)),
        ("pool", format!("{} credits", found.pool.as_f64())),
        ("total", format!("{} credits", found.sum)),
        (
            "accumulator",
            format!("at most {}", found.largest_accumulator),
        ),
    ];
    let facts = facts.map(|(word, text)| (word.to_owned(), text));
    plan.facts.splice(0..0, facts);
    Ok(plan)
}

/// Plans all classes in one table. With a margin, streams with a slowdown get more than their share
/// where they need it.
fn in_one_table(case: &Case<'_>, effort: &Effort, margin: Option<f64>) -> Result<Plan, Failure> {
    let request = case.request;
    let (kind, keys) = (request.ports.arbiter, case.keys());
    let parts = parts(case, &|_| true, margin)?;
    let found = compose(case, request.capacity(), &parts, effort, &|slots| {
        Tables::from_slots(kind, slots, &keys, request.turn()).ok()
    })?;
    let tables = Tables::from_slots(kind, &found.slots, &keys, request.turn());
    let tables = tables.map_err(|error| Failure::of(error.to_string()))?;
    // The exact search of small tables does not examine all weights of slowdowns.
    Ok(judge(
        case,
        tables,
        found.is_proved && case.packets.is_none(),
    ))
}

/// Composes the entries of some streams so that waits under the resulting tables stay within their
/// budgets.
fn compose(
    case: &Case<'_>,
    capacity: usize,
    (streams, parts): &(Vec<usize>, Vec<Part>),
    effort: &Effort,
    tables: &dyn Fn(&[Slot]) -> Option<Tables>,
) -> Result<Composition, Failure> {
    let request = case.request;
    let sizes = case.largest();
    let named = |slots: &[Slot]| -> Vec<Slot> {
        let name = |slot: &Slot| Slot {
            stream: streams[slot.stream],
            ..*slot
        };
        slots.iter().map(name).collect()
    };
    let waits = |slots: &[Slot]| -> Vec<f64> {
        if parts.iter().all(|part| part.budget.is_none()) {
            return vec![0.0; parts.len()];
        }
        let tables = tables(&named(slots));
        let wait = |(&stream, part): (&usize, &Part)| match (&tables, part.budget) {
            (_, None) => 0.0,
            (None, _) => f64::INFINITY,
            (Some(tables), _) => wait_bytes(case, &sizes, tables, stream),
        };
        streams.iter().zip(parts).map(wait).collect()
    };
    let slow: Vec<usize> = streams
        .iter()
        .zip(parts)
        .filter(|(_, part)| part.has_slowdown)
        .map(|(&stream, _)| stream)
        .collect();
    let strain = |slots: &[Slot]| -> f64 {
        if slow.is_empty() {
            return 0.0;
        }
        let tables = tables(&named(slots));
        tables.map_or(f64::INFINITY, |tables| strain(case, &tables, &slow))
    };
    let search = Search {
        parts,
        capacity,
        tolerance: request.ports.tolerance,
        waits: &waits,
        strain: &strain,
        effort,
    };
    let found = search.run().ok_or_else(|| {
        Failure::of(format!(
            "the entries of {} classes do not fit in a table of {capacity}",
            request.classes.len(),
        ))
    })?;
    Ok(Composition {
        slots: named(&found.slots),
        ..found
    })
}

/// Returns the streams of a table, and their parts of what it sends. With a margin, a stream with
/// slowdown s has at least 1 / s and this part more. Without one, streams that need more than their
/// share are planned as if they had no slowdown.
fn parts(
    case: &Case<'_>,
    is_in: &dyn Fn(usize) -> bool,
    margin: Option<f64>,
) -> Result<(Vec<usize>, Vec<Part>), Failure> {
    let ports = &case.request.ports;
    let chosen: Vec<usize> = (0..case.streams.len())
        .filter(|&stream| is_in(stream))
        .collect();
    let whole: f64 = chosen.iter().map(|&s| case.streams[s].share).sum();
    let mut shares: Vec<f64> = chosen
        .iter()
        .map(|&stream| case.streams[stream].share / whole)
        .collect();
    if let Some(margin) = margin {
        let floor = |&stream: &usize| {
            let slowdown = case.streams[stream].slowdown;
            slowdown.map_or(0.0, |slowdown| (1.0 + margin) / slowdown)
        };
        let floors: Vec<f64> = chosen.iter().map(floor).collect();
        shares = raised(&shares, &floors).ok_or_else(|| {
            Failure::of("the slowdowns leave nothing of the table to other classes".into())
        })?;
    }
    let part = |(stream, share): (usize, f64)| {
        let it = &case.streams[stream];
        let bytes = |time: Time| time.as_nanos() * ports.rate.0 as f64 / 8e9;
        let is_reachable = |slowdown: f64| slowdown * share * (1.0 + ports.tolerance) >= 1.0;
        Part {
            share,
            has_slowdown: it.slowdown.is_some_and(is_reachable),
            mean: on_link(&it.sizes, ports.flit),
            budget: it.budget.map(bytes),
            entries: it.entries,
            supply: supply(case.request, &it.sizes),
        }
    };
    let parts = chosen.iter().copied().zip(shares).map(part).collect();
    Ok((chosen, parts))
}

/// Returns shares of which each is at least its floor; the others keep their proportions. Returns
/// `None` if nothing is left for them.
fn raised(shares: &[f64], floors: &[f64]) -> Option<Vec<f64>> {
    let mut is_raised = vec![false; shares.len()];
    loop {
        let sum = |values: &[f64], of: bool| -> f64 {
            let chosen = values.iter().zip(&is_raised);
            chosen.filter(|(_, is)| **is == of).map(|(v, _)| v).sum()
        };
        let (taken, rest) = (sum(floors, true), sum(shares, false));
        let scale = match rest > 0.0 {
            true => (1.0 - taken) / rest,
            false => 0.0,
        };
        let is_too_much = if rest > 0.0 {
            taken >= 1.0
        } else {
            taken > 1.0 + 1e-9
        };
        if is_too_much {
            return None;
        }
        let low = (0..shares.len()).find(|&at| !is_raised[at] && shares[at] * scale < floors[at]);
        match low {
            Some(at) => is_raised[at] = true,
            None => {
                let share = |at: usize| match is_raised[at] {
                    // If all are raised, they share the rest.
                    true if rest == 0.0 => floors[at] / taken,
                    true => floors[at],
                    false => shares[at] * scale,
                };
                return Some((0..shares.len()).map(share).collect());
            }
        }
    }
}

/// Returns what an entry sends per visit, in bytes of the link.
fn supply(request: &Request, sizes: &SizeLaw) -> Supply {
    let Supply {
        least,
        most,
        sent,
        grain,
    } = supply_of_bytes(request, sizes);
    let more = on_link(sizes, request.ports.flit) / sizes.mean();
    Supply {
        least,
        most,
        sent: Box::new(move |weight| sent(weight) * more),
        grain: grain.map(|grain| grain * more),
    }
}

/// Returns the same in bytes of packets.
fn supply_of_bytes(request: &Request, sizes: &SizeLaw) -> Supply {
    let (flit, turn) = (request.ports.flit, request.turn());
    let packet_size = (sizes.smallest() == sizes.largest()).then(|| sizes.mean());
    match request.ports.arbiter {
        Kind::InfiniBand => {
            let visits = IbVisits::new(sizes);
            let packet = units(sizes.largest(), Bytes(WEIGHT_UNIT.into()));
            Supply {
                // An entry that weighs less than a packet may send more than its weight.
                least: match request.ports.small_weights {
                    true => 1,
                    false => packet.clamp(1, u8::MAX.into()),
                },
                most: u8::MAX.into(),
                sent: Box::new(move |weight| visits.bytes(weight as u8)),
                grain: packet_size,
            }
        }
        Kind::DTable => {
            let unit = Bytes(WEIGHT_UNIT.into());
            let packet = units(sizes.largest(), unit);
            // The accumulator has 8 bits and holds a weight and a deficit smaller than one message.
            let most = u32::from(u8::MAX).saturating_sub(packet - 1).max(1);
            by_units(sizes, unit, packet.min(most), most)
        }
        Kind::BxiDeficit => {
            let least = units(sizes.largest(), flit).div_ceil(turn);
            let Supply { sent, grain, .. } = by_units(sizes, flit, least, u16::MAX.into());
            Supply {
                least,
                most: u16::MAX.into(),
                sent: Box::new(move |weight| sent(weight * turn)),
                grain: grain.map(|grain| grain * f64::from(turn)),
            }
        }
        Kind::BxiTable => {
            let most = u32::from(u16::MAX);
            let visits = BxiVisits::new(sizes, flit, most);
            // A binary search requests the same quanta repeatedly.
            let known = RefCell::new(HashMap::new());
            Supply {
                least: units(sizes.largest(), flit).div_ceil(turn),
                most: most / turn,
                sent: Box::new(move |weight| {
                    let quantum = weight * turn;
                    let sent = || visits.bytes_per_lap(&[quantum]);
                    *known.borrow_mut().entry(quantum).or_insert_with(sent)
                }),
                grain: packet_size,
            }
        }
    }
}

fn units(bytes: Bytes, unit: Bytes) -> u32 {
    bytes.0.div_ceil(unit.0) as u32
}

/// Returns the supply with deficits, which keep the amount per visit exact in units; packets are
/// charged rounded up.
fn by_units(sizes: &SizeLaw, unit: Bytes, least: u32, most: u32) -> Supply {
    let per_unit = sizes.mean() / sizes.mean_units(unit);
    Supply {
        least,
        most,
        sent: Box::new(move |weight| f64::from(weight) * per_unit),
        grain: Some(per_unit),
    }
}

/// Bounds of the high table's share under a limit, which decide most limits at no cost.
///
/// Between two packets of the low table, the high one sends at least the limit, and less than a
/// packet more.
struct HighShare {
    /// The largest packet of the high table.
    largest: f64,
    /// Bytes on the link per byte of a packet in the high table, at least and at most.
    grown: (f64, f64),
    /// The mean packet of the low table on the link, at least and at most.
    low: (f64, f64),
}

impl HighShare {
    fn new(case: &Case<'_>, high: &[usize], low: &[usize]) -> HighShare {
        let flit = case.request.ports.flit;
        let sizes = |stream: &usize| &case.streams[*stream].sizes;
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, 0.0f64), |(least, most), value| {
                (least.min(value), most.max(value))
            })
        };
        let largest = high.iter().map(|stream| sizes(stream).largest().0 as f64);
        let grown = |stream| on_link(sizes(stream), flit) / sizes(stream).mean();
        HighShare {
            largest: largest.fold(0.0, f64::max),
            grown: range(&mut high.iter().map(grown)),
            low: range(&mut low.iter().map(|stream| on_link(sizes(stream), flit))),
        }
    }

    /// Returns whether the share is at least `needed`, if the bounds decide it.
    fn is_enough(&self, limit: u8, needed: f64) -> Option<bool> {
        if limit == NO_LIMIT {
            return None;
        }
        let limit = (u64::from(limit) * u64::from(LIMIT_UNIT)).max(1) as f64;
        let share = |high: f64, low: f64| high / (high + low);
        let least = share(limit * self.grown.0, self.low.1);
        let most = share((limit + self.largest) * self.grown.1, self.low.0);
        match () {
            () if least > needed + 1e-9 => Some(true),
            () if most < needed - 1e-9 => Some(false),
            () => None,
        }
    }
}

/// The effort of computing shares under a limit, in entries of tables.
const SHARES: usize = 100_000;

/// Plans some classes with deadlines in the high table, and the others in the low one.
///
/// The high table has priority, so its classes take what they send: their shares rely on their
/// sources. The limit is the smallest one that keeps their deadlines and slowdowns and gives them
/// their share, so the others, which may have deadlines too, wait least.
///
/// The wait of a class depends on the other table only through its largest packet and the limit. So
/// each table is composed against one entry for each class of the other.
fn in_both_tables(
    case: &Case<'_>,
    is_high: &dyn Fn(usize) -> bool,
    effort: &Effort,
) -> Result<Plan, Failure> {
    let plan = in_both_tables_with(case, is_high, effort, None);
    if case.packets.is_none() || plan.as_ref().is_ok_and(|plan| !plan.is_late()) {
        return plan;
    }
    // Streams of the high table may need more than their part of it.
    let raised = MARGINS.iter().find_map(|&margin| {
        let plan = in_both_tables_with(case, is_high, effort, Some(margin)).ok()?;
        (!plan.is_late()).then_some(plan)
    });
    raised.map_or(plan, Ok)
}

fn in_both_tables_with(
    case: &Case<'_>,
    is_high: &dyn Fn(usize) -> bool,
    effort: &Effort,
    margin: Option<f64>,
) -> Result<Plan, Failure> {
    let keys = case.keys();
    let high_parts = parts(case, is_high, margin)?;
    let low_parts = parts(case, &|s| !is_high(s), None)?;
    let each = |(streams, parts): &(Vec<usize>, Vec<Part>)| -> Result<_, Failure> {
        let slot = |(&stream, part): (&usize, &Part)| Slot {
            stream,
            weight: part.supply.least,
        };
        let slots: Vec<Slot> = streams.iter().zip(parts).map(slot).collect();
        vl_table(&slots, &keys).map_err(|error| Failure::of(error.to_string()))
    };
    let (each_high, each_low) = (each(&high_parts)?, each(&low_parts)?);
    let with_high = |slots: &[Slot], limit: u8| {
        let high = vl_table(slots, &keys).ok()?;
        let low = each_low.clone();
        Some(Tables::InfiniBand { high, low, limit })
    };
    let needed: f64 = high_parts.0.iter().map(|&s| case.streams[s].share).sum();
    let (sizes, flit, laws) = (case.largest(), case.request.ports.flit, case.laws());
    let is_in_time = |high: &Composition, limit: u8| {
        let Some(tables) = with_high(&high.slots, limit) else {
            return false;
        };
        let mut both = high_parts.0.iter().zip(&high_parts.1);
        let is_in_time = both.all(|(&stream, part)| {
            let wait = wait_bytes(case, &sizes, &tables, stream);
            part.budget.is_none_or(|budget| wait <= budget)
        });
        is_in_time && strain(case, &tables, &high_parts.0) <= 1.0
    };
    let known = HighShare::new(case, &high_parts.0, &low_parts.0);
    let is_enough = |high: &Composition, limit: u8| {
        if let Some(is_so) = known.is_enough(limit, needed) {
            return is_so;
        }
        let Some(tables) = with_high(&high.slots, limit).filter(|_| effort.is_left()) else {
            return false;
        };
        effort.spend(SHARES);
        let shares = tables.shares(&laws, flit);
        let share = |&stream: &usize| shares[usize::from(case.streams[stream].key)];
        low_parts.0.is_empty() || high_parts.0.iter().map(share).sum::<f64>() >= needed
    };
    let composed = |limit: u8| {
        let capacity = case.request.high_capacity();
        compose(case, capacity, &high_parts, effort, &|slots| {
            with_high(slots, limit)
        })
    };
    // Without a limit the high table waits least: entries that are late then are late with any
    // limit.
    let mut high = composed(NO_LIMIT)?;
    let is_possible = is_in_time(&high, NO_LIMIT);
    if !is_possible && case.request.ports.high_table == HighTable::WhenNeeded {
        return Err(Failure::of(
            "the high table cannot keep these deadlines and slowdowns".into(),
        ));
    }
    let mut limit = NO_LIMIT;
    if is_possible {
        // Entries placed for a small limit often suffice, and others wait least for them.
        let has_late = low_parts.1.iter().any(|part| part.budget.is_some());
        let has_slowdown = high_parts.1.iter().any(|part| part.has_slowdown);
        let limits: &[u8] = match has_late {
            // A slowdown needs a large limit, whatever the order of the entries.
            _ if has_slowdown => &[],
            true => &[0, 1, 2, 4, 8, 16, 32, 64, 128],
            false => &[0],
        };
        for &limit in limits {
            let strict = composed(limit)?;
            if is_in_time(&strict, limit) {
                high = strict;
                break;
            }
        }
        // Waits and slowdowns shrink and the share grows with the limit.
        limit = smallest_limit(0, &|limit| is_in_time(&high, limit));
        limit = smallest_limit(limit, &|limit| is_enough(&high, limit));
    }
    let low = if low_parts.0.is_empty() {
        VlArbitrationTable::default()
    } else {
        let found = compose(
            case,
            case.request.capacity(),
            &low_parts,
            effort,
            &|slots| {
                let low = vl_table(slots, &keys).ok()?;
                let high = each_high.clone();
                Some(Tables::InfiniBand { high, low, limit })
            },
        )?;
        vl_table(&found.slots, &keys).map_err(|error| Failure::of(error.to_string()))?
    };
    let high = vl_table(&high.slots, &keys).map_err(|error| Failure::of(error.to_string()))?;
    let tables = Tables::InfiniBand { high, low, limit };
    Ok(judge(case, tables, is_late_anywhere(case)))
}

/// Returns the smallest limit from `from` up that satisfies `does`, or no limit. If a limit
/// satisfies it, every larger one does too.
fn smallest_limit(from: u8, does: &dyn Fn(u8) -> bool) -> u8 {
    let (mut least, mut most) = (from, NO_LIMIT);
    if does(least) {
        return least;
    }
    while least < most {
        let middle = least + (most - least) / 2;
        if does(middle) {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    most
}

//! Plans compared with every small table, and recomputed in whole numbers by another method.
//!
//! `NETLOOM_PLANS=2000` draws this number of needs for the search of all tables, and as many for
//! the others.

use netloom_design::plan::{self, Cautions, Class, HighTable, Kind, Plan, Ports, Request, Tables};
use netloom_design::qos::predict::SizeLaw;
use netloom_units::{Bytes, Ratio, Sl, Time};

/// A small generator, so a failure can be reproduced from its number.
struct Draws(u64);

impl Draws {
    fn of(case: u64) -> Draws {
        let mut draws = Draws(case.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
        draws.below(2);
        draws
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }
}

fn n_cases(usual: u64) -> u64 {
    let asked = std::env::var("NETLOOM_PLANS").ok();
    asked.map_or(usual, |n| n.parse().expect("a number of cases"))
}

const MANAGEMENT: u64 = 256;

/// The needs of a class with packets of one size; shares are parts of the sum of all.
#[derive(Clone, Copy, Debug)]
struct Need {
    part: u64,
    bytes: u64,
    deadline: Option<u64>,
}

fn request(needs: &[Need], entries: u16, high_table: HighTable) -> Request {
    let all: u64 = needs.iter().map(|need| need.part).sum();
    let class = |(at, need): (usize, &Need)| Class {
        name: format!("c{at}"),
        sl: Sl(at as u8),
        share: Ratio::new(need.part.into(), all.into()),
        sizes: SizeLaw::fixed(Bytes(need.bytes)).unwrap(),
        has_only_these: false,
        deadline: need.deadline.map(Time::from_nanos),
        slowdown: None,
        distance: None,
        dscps: vec![],
        carries: vec![],
    };
    Request {
        ports: Ports {
            entries: Some(entries),
            high_table,
            management: Bytes(MANAGEMENT),
            ..Ports::default()
        },
        classes: needs.iter().enumerate().map(class).collect(),
        devices: vec![],
        cautions: Cautions::default(),
    }
}

/// Searches every table of a limited number of entries: whether one keeps all deadlines, and
/// whether one also keeps the shares within 1 %. The rate is 100 Gbps.
struct Every<'a> {
    needs: &'a [Need],
    /// Maximum of packets per entry of each class.
    most: Vec<u64>,
    in_time: bool,
    exact: bool,
}

impl Every<'_> {
    fn of(needs: &[Need], entries: usize) -> (bool, bool) {
        let most = needs.iter().map(|need| 254 / (need.bytes / 64) + 1);
        let mut every = Every {
            needs,
            most: most.collect(),
            in_time: false,
            exact: false,
        };
        for length in needs.len()..=entries {
            every.add(&mut vec![], length);
        }
        (every.in_time, every.exact)
    }

    /// Returns the maximum that an entry of `packets` packets may send: at the smallest weight that
    /// sends them, with packets of any size, but no weight smaller than a packet.
    fn passes(&self, class: usize, packets: u64) -> u64 {
        let units = self.needs[class].bytes / 64;
        let weight = (units * (packets - 1) + 1).max(units);
        (weight - 1) * 64 + self.needs[class].bytes
    }

    fn is_in_time(&self, class: usize, gap: u64) -> bool {
        let Need {
            bytes, deadline, ..
        } = self.needs[class];
        deadline.is_none_or(|ns| (bytes + gap + MANAGEMENT) * 8 <= ns * 100)
    }

    fn add(&mut self, entries: &mut Vec<(usize, u64)>, length: usize) {
        if self.exact {
            return;
        }
        if entries.len() == length {
            self.judge(entries);
            return;
        }
        // A table can be rotated to begin with the first class.
        let last = if entries.is_empty() {
            1
        } else {
            self.needs.len()
        };
        for class in 0..last {
            for packets in 1..=self.most[class] {
                entries.push((class, packets));
                if self.may_be_in_time(entries) {
                    self.add(entries, length);
                }
                entries.pop();
            }
        }
    }

    /// Returns whether no open gap is too long already.
    fn may_be_in_time(&self, entries: &[(usize, u64)]) -> bool {
        (0..self.needs.len()).all(|class| {
            let since = entries
                .iter()
                .rev()
                .take_while(|(other, _)| *other != class);
            let gap: u64 = since.map(|&(other, n)| self.passes(other, n)).sum();
            self.is_in_time(class, gap)
        })
    }

    fn judge(&mut self, entries: &[(usize, u64)]) {
        let n = self.needs.len();
        let mut sent = vec![0; n];
        for &(class, packets) in entries {
            sent[class] += packets * self.needs[class].bytes;
        }
        if sent.contains(&0) {
            return;
        }
        for class in 0..n {
            let starts = (0..entries.len()).filter(|&at| entries[at].0 == class);
            for start in starts {
                let after = entries.iter().cycle().skip(start + 1).take(entries.len());
                let others = after.take_while(|(other, _)| *other != class);
                let gap = others.map(|&(other, n)| self.passes(other, n)).sum();
                if !self.is_in_time(class, gap) {
                    return;
                }
            }
        }
        self.in_time = true;
        let (all, parts): (u64, u64) = (
            sent.iter().sum(),
            self.needs.iter().map(|need| need.part).sum(),
        );
        self.exact |= (0..n).all(|class| {
            let wanted = self.needs[class].part * all;
            (sent[class] * parts).abs_diff(wanted) * 100 <= wanted
        });
    }
}

/// Needs from a fixed grid whose tables can all be examined.
fn small_needs(draws: &mut Draws) -> (Vec<Need>, u16) {
    loop {
        let n = 2 + draws.below(2);
        let needs: Vec<Need> = (0..n)
            .map(|_| {
                let bytes = draws.one_of(&[4096, 4096, 2048, 1024]);
                // Between a packet or two of others and everything that they can send.
                let room = 1024 * (2 + draws.below(24));
                let deadline = (bytes + MANAGEMENT + room) * 8 / 100;
                Need {
                    part: draws.one_of(&[1, 1, 2, 3, 4, 5, 7]),
                    bytes,
                    deadline: draws.one_of(&[None, Some(deadline)]),
                }
            })
            .collect();
        let entries = 3 + draws.below(4);
        let choices: u64 = needs.iter().map(|need| 254 / (need.bytes / 64) + 1).sum();
        if entries >= n && choices.pow(entries as u32 - 1) <= 1_000_000 {
            return (needs, entries as u16);
        }
    }
}

/// A table that keeps everything is found if there is one, and no request is refused if a table
/// keeps the deadlines.
#[test]
fn no_small_table_keeps_more_than_the_planned_one() {
    let (mut n_exact, mut n_in_time, mut n_refused, mut n_unproved) = (0, 0, 0, 0);
    let n = n_cases(150);
    for case in 0..n {
        let (needs, entries) = small_needs(&mut Draws::of(case));
        let (in_time, exact) = Every::of(&needs, entries.into());
        let what = || format!("case {case}: {entries} entries for {needs:?}");
        match plan::plan(&request(&needs, entries, HighTable::Never)) {
            Err(refusal) => {
                assert!(!in_time, "{} is refused: {refusal}", what());
                assert!(refusal.is_proved, "{}", what());
                n_refused += 1;
            }
            Ok(plan) => {
                assert!(in_time, "{} has {:?}", what(), plan.tables);
                match plan.unmet.is_empty() {
                    true => {
                        assert!(exact, "{} has {:?}", what(), plan.tables);
                        n_exact += 1;
                    }
                    false => {
                        assert!(!exact, "{}: {:?} of {:?}", what(), plan.unmet, plan.tables);
                        n_unproved += u64::from(!plan.is_proved);
                        n_in_time += 1;
                    }
                }
            }
        }
        // A second table is used only where it helps.
        match plan::plan(&request(&needs, entries, HighTable::WhenNeeded)) {
            Err(refusal) => assert!(!in_time, "{} with two tables: {refusal}", what()),
            Ok(plan) => assert!(
                plan.unmet.is_empty() || !exact,
                "{}: {:?}",
                what(),
                plan.unmet
            ),
        }
    }
    println!(
        "{n_exact} exact, {n_in_time} in time only ({n_unproved} not proved), {n_refused} refused"
    );
    assert!(n_exact * 10 > n && n_in_time > 0 && n_refused * 20 > n);
}

// ── recomputed ──

/// A fraction in lowest terms.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Fraction(i128, i128);

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

impl Fraction {
    fn new(n: i128, d: i128) -> Fraction {
        let by = gcd(n, d).max(1) * d.signum();
        Fraction(n / by, d / by)
    }

    fn whole(n: u64) -> Fraction {
        Fraction(n.into(), 1)
    }

    fn plus(self, o: Fraction) -> Fraction {
        Fraction::new(self.0 * o.1 + o.0 * self.1, self.1 * o.1)
    }

    fn times(self, o: Fraction) -> Fraction {
        let (a, b) = (Fraction::new(self.0, o.1), Fraction::new(o.0, self.1));
        Fraction(a.0 * b.0, a.1 * b.1)
    }

    fn over(self, o: Fraction) -> Fraction {
        self.times(Fraction::new(o.1, o.0))
    }

    fn real(self) -> f64 {
        self.0 as f64 / self.1 as f64
    }
}

/// A request of one of the kinds, with random needs.
fn drawn(draws: &mut Draws) -> Request {
    let kind = draws.one_of(&[
        Kind::InfiniBand,
        Kind::InfiniBand,
        Kind::DTable,
        Kind::BxiTable,
        Kind::BxiDeficit,
    ]);
    let n = 2 + draws.below(6);
    let parts: Vec<u64> = (0..n).map(|_| 1 + draws.below(20)).collect();
    let all: u64 = parts.iter().sum();
    // A part of the link may be left unassigned.
    let all = all + draws.one_of(&[0, 0, all / 10]);
    let shares_lanes = kind == Kind::InfiniBand && n > 3 && draws.below(4) == 0;
    let class = |(at, &part): (usize, &u64), draws: &mut Draws| {
        let size = draws.one_of(&[64, 100, 256, 1024, 2048, 4096, 4122]);
        let sizes = match shares_lanes {
            true => vec![(Bytes(4096), 1.0)],
            // Half of each, so every number has a power of two below it.
            false if kind == Kind::InfiniBand && draws.below(4) == 0 => {
                vec![(Bytes(1024), 1.0), (Bytes(4096), 1.0)]
            }
            false => vec![(Bytes(size), 1.0)],
        };
        Class {
            name: format!("c{at}"),
            sl: Sl(at as u8),
            share: Ratio::new(part.into(), all.into()),
            sizes: SizeLaw::new(sizes).unwrap(),
            has_only_these: draws.below(2) == 0,
            deadline: (draws.below(3) == 0).then(|| Time::from_nanos(700 + draws.below(30_000))),
            slowdown: None,
            distance: None,
            dscps: vec![],
            carries: vec![],
        }
    };
    let classes = parts.iter().enumerate().map(|one| class(one, draws));
    Request {
        classes: classes.collect(),
        ports: Ports {
            arbiter: kind,
            entries: Some(draws.one_of(&[8, 12, 16, 32])),
            vls: shares_lanes.then_some(n as u8 - 1),
            high_table: draws.one_of(&[
                HighTable::WhenNeeded,
                HighTable::WhenNeeded,
                HighTable::Deadlines,
                HighTable::Never,
            ]),
            management: Bytes(draws.one_of(&[0, 256])),
            hops: draws.one_of(&[1, 1, 2, 4]),
            ..Ports::default()
        },
        devices: vec![],
        cautions: Cautions::default(),
    }
}

fn units(bytes: u64) -> u64 {
    bytes.div_ceil(64)
}

/// Returns the sizes of the packets of a class, all equally often.
fn sizes(class: &Class) -> Vec<u64> {
    class.sizes.sizes().iter().map(|&(s, _)| s.into()).collect()
}

/// Returns the mean of a function of the packet size.
fn mean(sizes: &[u64], of: impl Fn(u64) -> u64) -> Fraction {
    let sum: u64 = sizes.iter().map(|&size| of(size)).sum();
    Fraction::new(sum.into(), sizes.len() as i128)
}

/// Returns the mean packets of an InfiniBand visit: packets are sent while units are left, and each
/// is drawn anew.
fn packets_of_visit(weight: u64, sizes: &[u64]) -> Fraction {
    let mut packets = vec![Fraction::whole(0)];
    for left in 1..=weight {
        let more = sizes.iter().filter(|&&size| units(size) < left);
        let more = more.map(|&size| packets[(left - units(size)) as usize]);
        let more = more.fold(Fraction::whole(0), Fraction::plus);
        let each = Fraction::new(1, sizes.len() as i128);
        packets.push(Fraction::whole(1).plus(more.times(each)));
    }
    packets[weight as usize]
}

/// The lists of a table: (key, weight) of each entry.
type List = Vec<(u8, u64)>;

fn lists(plan: &Plan) -> (List, List, u8) {
    let list = |pairs: &[(u8, u16)]| pairs.iter().map(|&(key, w)| (key, w.into())).collect();
    let lists = plan.tables.lists();
    match &plan.tables {
        Tables::InfiniBand { limit, .. } => (list(&lists[0].1), list(&lists[1].1), *limit),
        _ => (vec![], list(&lists[0].1), 255),
    }
}

/// Returns the number that identifies a class in tables.
fn key(plan: &Plan, class: usize) -> u8 {
    match plan.tables {
        Tables::InfiniBand { .. } => plan.classes[class].vl.0,
        _ => plan.classes[class].sl.0,
    }
}

/// Returns what an entry sends per visit, in bytes of the link.
fn sent(plan: &Plan, sizes: &[u64], weight: u64) -> Fraction {
    let on_link = mean(sizes, |size| units(size) * 64);
    match &plan.tables {
        Tables::InfiniBand { .. } => packets_of_visit(weight, sizes).times(on_link),
        // With deficits, entries send exactly their weight.
        Tables::Deficit(_) => Fraction::whole(weight * 64),
        Tables::Quantum {
            table,
            keeps_deficits,
        } => {
            let flits = weight * u64::from(table.k);
            match keeps_deficits {
                true => Fraction::whole(flits * 64),
                false => Fraction::whole(flits / units(sizes[0])).times(on_link),
            }
        }
    }
}

/// Returns the largest packet of each key, as the link moves it.
fn largest(plan: &Plan) -> [u64; 16] {
    let mut largest = [0; 16];
    for (at, class) in plan.request.classes.iter().enumerate() {
        let own = &mut largest[usize::from(key(plan, at))];
        *own = (*own).max(units(class.sizes.largest().0) * 64);
    }
    largest
}

/// Returns the units of the smallest packet of a key: one, unless its sizes are known.
fn least_units(plan: &Plan, own: u8) -> u64 {
    let classes = plan.request.classes.iter().enumerate();
    let own = classes.filter(|(at, _)| key(plan, *at) == own);
    let least = own.map(|(_, class)| match class.has_only_these {
        true => units(class.sizes.smallest().0),
        false => 1,
    });
    least.min().unwrap_or(1)
}

/// Returns bytes and, in InfiniBand, packets of others between each two entries of a key.
fn gaps(plan: &Plan, list: &List, own: u8, largest: &[u64; 16]) -> Vec<(u64, u64)> {
    let starts = (0..list.len()).filter(|&at| list[at].0 == own);
    let gap = |start: usize| {
        let after = (1..=list.len()).map(|by| list[(start + by) % list.len()]);
        let others: Vec<(u8, u64)> = after.take_while(|(key, _)| *key != own).collect();
        let (mut bytes, mut packets) = (0, 0);
        let mut met = vec![];
        for &(key, weight) in &others {
            let packet = largest[usize::from(key)];
            let at_most = (weight - 1) / least_units(plan, key) + 1;
            packets += at_most;
            bytes += match &plan.tables {
                Tables::InfiniBand { .. } => ((weight - 1) * 64 + packet).min(at_most * packet),
                Tables::Deficit(_) => {
                    // A class has one deficit, smaller than a packet.
                    let deficit = if met.contains(&key) { 0 } else { packet - 64 };
                    met.push(key);
                    weight * 64 + deficit
                }
                Tables::Quantum {
                    table,
                    keeps_deficits,
                } => {
                    let deficit = if *keeps_deficits { packet - 64 } else { 0 };
                    weight * u64::from(table.k) * 64 + deficit
                }
            };
        }
        (bytes, packets)
    };
    starts.map(gap).collect()
}

/// Returns the longest wait of a key, in bytes; none if the high table may send forever.
fn wait(plan: &Plan, own: u8) -> Option<u64> {
    let (high, low, limit) = lists(plan);
    let largest = largest(plan);
    let packet = largest[usize::from(own)];
    let management = plan.request.ports.management.0;
    let most = |list: &List| {
        let keys = list.iter().filter(|(key, _)| *key != own);
        keys.map(|(key, _)| largest[usize::from(*key)])
            .max()
            .unwrap_or(0)
    };
    let in_high = gaps(plan, &high, own, &largest)
        .into_iter()
        .map(|(bytes, packets)| {
            let of_low = most(&low);
            let burst = u64::from(limit) * 4096;
            match limit {
                255 => bytes + packet.max(of_low),
                0 => packet + bytes + (1 + packets) * of_low,
                _ => packet + bytes + (1 + packets.min(bytes / burst)) * of_low,
            }
        });
    let in_low = gaps(plan, &low, own, &largest)
        .into_iter()
        .map(|(bytes, packets)| {
            let burst = match most(&high) {
                0 => 0,
                high => (u64::from(limit) * 4096).max(1) - 1 + high,
            };
            packet + bytes + (packets + 1) * burst
        });
    let is_starved = limit == 255 && most(&high) > 0 && high.iter().all(|(key, _)| *key != own);
    let longest = in_high.chain(in_low).max().expect("it has an entry");
    (!is_starved).then_some(longest + management)
}

/// Returns the shares that classes are given.
fn given(plan: &Plan) -> Vec<Fraction> {
    let (high, low, limit) = lists(plan);
    let request = &plan.request;
    let n = request.classes.len();
    let share = |at: usize| {
        let share = request.classes[at].share;
        Fraction::new(share.num() as i128, share.den() as i128)
    };
    let sum = |of: &dyn Fn(usize) -> Option<Fraction>| {
        let parts = (0..n).filter_map(of);
        parts.fold(Fraction::whole(0), Fraction::plus)
    };
    let all = sum(&|at| Some(share(at)));
    let is_high = |at: usize| high.iter().any(|(own, _)| *own == key(plan, at));
    let of_key = |own: u8| {
        let at = (0..n).find(|&at| key(plan, at) == own);
        sizes(&request.classes[at.expect("every entry has a class")])
    };
    let lap = |list: &List, only: Option<u8>| {
        let own = list
            .iter()
            .filter(|(key, _)| only.is_none_or(|only| only == *key));
        own.map(|&(key, weight)| sent(plan, &of_key(key), weight))
            .fold(Fraction::whole(0), Fraction::plus)
    };
    // The assumed traffic of the high table, and its maximum with a limit of 0: one packet per low
    // packet.
    let trusted = sum(&|at| is_high(at).then(|| share(at).over(all)));
    let mut part = Fraction::whole(1);
    if !high.is_empty() && !low.is_empty() && limit == 0 {
        let packet = |list: &List| {
            let packets = list
                .iter()
                .map(|&(key, weight)| packets_of_visit(weight, &of_key(key)));
            lap(list, None).over(packets.fold(Fraction::whole(0), Fraction::plus))
        };
        let (of_high, of_low) = (packet(&high), packet(&low));
        let taken = of_high.over(of_high.plus(of_low));
        if taken.real() < trusted.real() {
            part = taken.over(trusted);
        }
    }
    let rest = Fraction::whole(1).plus(trusted.times(part).times(Fraction(-1, 1)));
    let given = |at: usize| {
        let own = key(plan, at);
        if is_high(at) {
            return share(at).over(all).times(part);
        }
        let lane = sum(&|other| (key(plan, other) == own).then(|| share(other)));
        let of_lane = lap(&low, Some(own)).over(lap(&low, None)).times(rest);
        of_lane.times(share(at)).over(lane)
    };
    (0..n).map(given).collect()
}

#[test]
fn plans_promise_what_their_tables_give() {
    let (mut n_plans, mut n_waits, mut n_high, mut n_refused) = (0, 0, 0, 0);
    for case in 0..n_cases(500) {
        let request = drawn(&mut Draws::of(case + 1_000_000));
        let what = format!("case {case}: {request:?}");
        let (plan, is_refused) = match plan::plan(&request) {
            Ok(plan) => (plan, false),
            Err(refusal) => match refusal.nearest {
                Some(nearest) => (*nearest, true),
                None => continue,
            },
        };
        n_plans += 1;
        n_refused += u64::from(is_refused);
        let (high, low, _) = lists(&plan);
        let most = request.capacity();
        assert!(high.len() <= most && low.len() <= most, "{what}");
        let is_ib = request.ports.arbiter == Kind::InfiniBand;
        let weights = || high.iter().chain(&low).map(|(_, weight)| *weight);
        assert!(
            weights().all(|weight| weight > 0 && (!is_ib || weight <= 255)),
            "{what}"
        );
        let lanes = plan.lanes.groups.len();
        assert!(
            request.ports.vls.is_none_or(|vls| lanes <= vls.into()),
            "{what}"
        );
        n_high += usize::from(!high.is_empty());
        let all: f64 = request
            .classes
            .iter()
            .map(|class| class.share.as_f64())
            .sum();
        let mut is_late = false;
        for (at, (class, given)) in plan.classes.iter().zip(given(&plan)).enumerate() {
            let given = given.real();
            assert!(
                (given - class.share_given).abs() < 1e-9,
                "{what}: {} of {:?}: {given}",
                class.name,
                plan.tables
            );
            let error = (given / (request.classes[at].share.as_f64() / all) - 1.0).abs();
            let is_reported = plan
                .unmet
                .iter()
                .any(|unmet| !unmet.is_refused() && unmet.class() == at);
            assert!(error > 0.01 - 1e-9 || !is_reported, "{what}: {error}");
            assert!(error < 0.01002 || is_reported, "{what}: {error}");
            let mates = plan.lanes.mates_of(at);
            let bytes = mates
                .is_empty()
                .then(|| wait(&plan, key(&plan, at)))
                .flatten();
            assert_eq!(
                class.wait.bytes().map(|bytes| bytes.0),
                bytes,
                "{what} {:?}",
                plan.tables
            );
            n_waits += 1;
            if let Some(deadline) = request.classes[at].deadline {
                let hops = u128::from(request.ports.hops);
                let picos = bytes.map(|bytes| u128::from(bytes) * 8 * hops * 1_000_000_000_000);
                let most = deadline.picos() * Ratio::whole(request.ports.rate.0);
                is_late |= picos.is_none_or(|picos| Ratio::new(picos, 1) > most);
            }
        }
        assert_eq!(is_late, is_refused, "{what}: {:?}", plan.unmet);
    }
    println!("{n_plans} plans, {n_waits} waits, {n_high} with a high table, {n_refused} refused");
    assert!(n_plans > 0 && n_high > 0 && n_refused > 0);
}

/// What tables of some length keep, longer ones keep too: nothing, deadlines only, or shares as
/// well.
#[test]
fn longer_tables_keep_no_less() {
    let met = |request: &Request, entries: u16| {
        let mut request = request.clone();
        request.ports.entries = Some(entries);
        match plan::plan(&request) {
            Err(_) => 0,
            Ok(plan) if !plan.unmet.is_empty() => 1,
            Ok(_) => 2,
        }
    };
    for case in 0..n_cases(100) / 2 {
        let (needs, few) = small_needs(&mut Draws::of(case + 2_000_000));
        let small = request(&needs, few, HighTable::WhenNeeded);
        let other = drawn(&mut Draws::of(case + 3_000_000));
        for (request, lengths) in [(small, [few, few + 1, few + 2, 8]), (other, [7, 8, 10, 16])] {
            let met: Vec<u32> = lengths.iter().map(|&n| met(&request, n)).collect();
            assert!(
                met.is_sorted(),
                "case {case}: {lengths:?} keep {met:?}: {request:?}"
            );
        }
    }
}

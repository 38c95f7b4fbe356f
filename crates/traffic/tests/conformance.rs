//! The rules for every registered pattern, arrival process and law of sizes, in every combination.

use std::sync::Arc;

use netloom_catalog::{Disk, Document, Kind, Notes, Section};
use netloom_packet::{Arrival, Cursor, Segmentation, Source};
use netloom_traffic::{
    ARRIVALS, Class, Law, NO_GROUPS, NicSet, PATTERNS, Ranks, SIZES, Script, Setting, WORKLOADS,
    Workload,
};
use netloom_units::{Bytes, NicId, Sl, Time};
use proptest::prelude::*;

const N_NICS: u32 = 64;
const CUTTING: Segmentation = Segmentation {
    flit: Bytes(64),
    mtu: Some(Bytes(1024)),
    header: Bytes(8),
};

/// Returns the example of a kind, read as from a file.
fn example<T: ?Sized>(kind: &Kind<T>) -> Arc<T> {
    let mut notes = Notes::new();
    let document = Document::parse(kind.name, kind.example, &mut notes);
    let mut section = Section::open(&document.root, &mut notes).expect("a document is a table");
    let read = (kind.read)(&mut section);
    section.finish();
    assert!(notes.is_empty(), "{}: {notes:?}", kind.name);
    Arc::from(read.expect("nothing was noted"))
}

fn setting(seed: u64, class: u8) -> Setting<'static> {
    Setting {
        segmentation: CUTTING.into(),
        n_nics: N_NICS,
        groups: &NO_GROUPS,
        seed,
        class,
        cycles: &|time: Time| time.as_nanos() as u64,
        files: Disk::HERE,
    }
}

/// Returns every pattern with every arrival process and every law of sizes, at a load.
fn all_laws(load: f64) -> impl Iterator<Item = (String, Law)> {
    PATTERNS.iter().flat_map(move |pattern| {
        ARRIVALS.iter().flat_map(move |arrival| {
            SIZES.iter().map(move |size| {
                let name = format!("{} x {} x {}", pattern.name, arrival.name, size.name);
                let law = Law {
                    load,
                    pattern: example(pattern),
                    arrival: example(arrival),
                    size: example(size),
                    sources: NicSet::All,
                    destinations: NicSet::All,
                    from: None,
                    until: None,
                };
                (name, law)
            })
        })
    })
}

/// Returns the requested load of a law: its load, or that of its own pace.
fn asked(law: &Law) -> f64 {
    let class = Class::new("test", Sl(0), Workload::Drawn(law.clone()));
    let settled = class.settle(&setting(1, 0), &mut Notes::new());
    settled
        .and_then(|class| class.load())
        .expect("a law has a load")
}

fn build(law: &Law, seed: u64, class: u8) -> Box<dyn Source> {
    let mut notes = Notes::new();
    let class_of_law = Class::new("test", Sl(0), Workload::Drawn(law.clone()));
    let source = class_of_law.build(&setting(seed, class), &mut notes);
    source.unwrap_or_else(|| panic!("{notes:?}"))
}

/// Returns the messages of a NIC before a cycle.
fn messages(source: &dyn Source, nic: u32, until: u64) -> Vec<Arrival> {
    let mut cursor = Cursor::default();
    std::iter::from_fn(|| source.next(NicId(nic), &mut cursor))
        .take_while(|arrival| arrival.cycle < until)
        .collect()
}

fn first_messages(source: &dyn Source, n: usize) -> Vec<Option<Arrival>> {
    let mut all = vec![];
    for nic in 0..N_NICS {
        let mut cursor = Cursor::default();
        all.extend((0..n).map(|_| source.next(NicId(nic), &mut cursor)));
    }
    all
}

#[test]
fn destinations_are_valid_and_time_never_runs_back() {
    for (name, law) in all_laws(0.6) {
        let source = build(&law, 1, 0);
        let largest = law.size.largest();
        let mut n_senders = 0;
        for nic in 0..N_NICS {
            let messages = messages(&*source, nic, 20_000);
            n_senders += u32::from(!messages.is_empty());
            for message in &messages {
                let to = message.destination;
                assert!(to.0 < N_NICS && to.0 != nic, "{name}: nic {nic} to {to}");
                assert!(message.bytes > 0 && message.bytes <= largest);
            }
            let in_order = messages.windows(2).all(|m| m[0].cycle <= m[1].cycle);
            assert!(in_order, "{name}: nic {nic}");
        }
        assert!(n_senders > 0, "{name}: no NIC sends");
    }
}

#[test]
fn the_same_seed_gives_the_same_messages_and_another_one_others() {
    for (name, law) in all_laws(0.3) {
        let first = first_messages(&*build(&law, 7, 2), 5);
        assert_eq!(first, first_messages(&*build(&law, 7, 2), 5), "{name}");
        assert_ne!(
            first,
            first_messages(&*build(&law, 8, 2), 5),
            "{name}: seed"
        );
        assert_ne!(
            first,
            first_messages(&*build(&law, 7, 3), 5),
            "{name}: class"
        );
    }
}

#[test]
fn offered_load_lies_in_its_confidence_band() {
    const CYCLES: u64 = 200_000;
    for load in [0.05, 0.7] {
        for (name, law) in all_laws(load) {
            let load = asked(&law);
            let at_once = if name.contains("bursts") { 4.0 } else { 1.0 };
            let source = build(&law, 3, 1);
            let (mut n_senders, mut flits): (u32, Vec<f64>) = (0, vec![]);
            for nic in 0..N_NICS {
                let messages = messages(&*source, nic, CYCLES);
                n_senders += u32::from(!messages.is_empty());
                let sizes = messages.iter().map(|m| CUTTING.flits_of(m.bytes) as f64);
                flits.extend(sizes);
            }
            let n = flits.len() as f64;
            let mean = flits.iter().sum::<f64>() / n;
            let variance = flits.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / n;
            // No process here varies more than independent bursts: the number of messages has at
            // most the variance at_once * n, and sizes add their own.
            let deviation = ((at_once + variance / (mean * mean)) / n).sqrt();
            let measured = flits.iter().sum::<f64>() / (CYCLES as f64 * f64::from(n_senders));
            let error = (measured / load - 1.0).abs();
            assert!(
                error < 4.5 * deviation,
                "{name}: {measured:.5} for {load}, which is {:.1} standard deviations",
                error / deviation
            );
        }
    }
}

#[test]
fn messages_of_a_burst_share_instant_and_destination() {
    for (name, law) in all_laws(0.3).filter(|(name, _)| name.contains("x bursts")) {
        let source = build(&law, 5, 0);
        for nic in 0..N_NICS {
            let messages = messages(&*source, nic, 20_000);
            for burst in messages.chunks_exact(4) {
                let shared = |m: &Arrival| (m.cycle, m.destination);
                assert!(
                    burst.iter().all(|m| shared(m) == shared(&burst[0])),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn fixed_patterns_keep_their_destination() {
    // The example of an incast draws for every message; that of a permutation has 4 connections.
    let random = ["uniform", "permutation", "hot-spot", "pairs", "incast"];
    for (name, law) in all_laws(0.5) {
        let is_fixed = !random
            .iter()
            .any(|kind| name.starts_with(&format!("{kind} ")));
        let source = build(&law, 4, 0);
        let mut several = 0;
        for nic in 0..N_NICS {
            let messages = messages(&*source, nic, 50_000);
            let is_fixed_here = messages
                .iter()
                .all(|m| m.destination == messages[0].destination);
            several += u32::from(!is_fixed_here);
        }
        assert_eq!(several == 0, is_fixed, "{name}: {several} NICs change");
    }
}

#[test]
fn what_a_nic_sends_does_not_depend_on_who_else_sends() {
    let (_, mut law) = all_laws(0.5).next().expect("there are laws");
    let all = build(&law, 9, 0);
    law.sources = NicSet::Range(NicId(8), NicId(15));
    let some = build(&law, 9, 0);
    for nic in 0..N_NICS {
        let expected = match nic {
            8..16 => messages(&*all, nic, 10_000),
            _ => vec![],
        };
        assert_eq!(messages(&*some, nic, 10_000), expected);
    }
}

#[test]
fn a_class_keeps_its_window() {
    for (name, mut law) in all_laws(0.5) {
        let whole = build(&law, 2, 0);
        law.from = Some(Time::from_nanos(5_000));
        law.until = Some(Time::from_nanos(9_000));
        let part = build(&law, 2, 0);
        for nic in 0..N_NICS {
            let mut shifted = messages(&*whole, nic, 4_000);
            shifted.iter_mut().for_each(|m| m.cycle += 5_000);
            assert_eq!(
                messages(&*part, nic, u64::MAX),
                shifted,
                "{name}: nic {nic}"
            );
        }
    }
}

#[test]
fn no_load_is_no_message() {
    for (_, law) in all_laws(0.0).filter(|(_, law)| law.arrival.pace().is_none()) {
        let source = build(&law, 1, 0);
        assert!(first_messages(&*source, 1).iter().all(Option::is_none));
    }
}

#[test]
fn workloads_depend_on_seed_and_class_only_and_their_messages_are_in_order() {
    for kind in WORKLOADS {
        let script = Script {
            generator: example(kind),
            from: None,
            until: None,
            ranks: Ranks::default(),
        };
        if script.generator.is_program() {
            continue;
        }
        let largest = script.generator.largest(&setting(7, 2));
        let class = Class::new("test", Sl(0), Workload::Generated(script));
        let all = |seed, number| -> Vec<Vec<Arrival>> {
            let mut notes = Notes::new();
            let source = class.build(&setting(seed, number), &mut notes);
            let source = source.unwrap_or_else(|| panic!("{}: {notes:?}", kind.name));
            (0..N_NICS)
                .map(|nic| messages(&*source, nic, u64::MAX))
                .collect()
        };
        let once = all(7, 2);
        assert_eq!(once, all(7, 2), "{}", kind.name);
        assert_ne!(once, all(8, 2), "{}: seed", kind.name);
        assert_ne!(once, all(7, 3), "{}: class", kind.name);
        for (nic, messages) in (0..).zip(&once) {
            assert!(messages.windows(2).all(|m| m[0].cycle <= m[1].cycle));
            for message in messages {
                let to = message.destination.0;
                assert!(to < N_NICS && to != nic, "{}: {nic} to {to}", kind.name);
                assert!(message.bytes > 0 && message.bytes <= largest);
            }
        }
    }
}

fn some_nics() -> impl Strategy<Value = NicSet> {
    let list = prop::collection::btree_set(0..N_NICS, 1..20)
        .prop_map(|nics| NicSet::List(nics.into_iter().map(NicId).collect()));
    let range =
        (0..N_NICS, 0..N_NICS).prop_map(|(a, b)| NicSet::Range(NicId(a.min(b)), NicId(a.max(b))));
    prop_oneof![Just(NicSet::All), list, range]
}

proptest! {
    #[test]
    fn only_sources_send_and_only_destinations_receive(
        sources in some_nics(),
        destinations in some_nics(),
        load in 0.01..1.0,
        seed: u64,
        arrival in 0..ARRIVALS.len(),
    ) {
        let (_, mut law) = all_laws(load).next().expect("there are laws");
        law.arrival = example(&ARRIVALS[arrival]);
        law.sources = sources.clone();
        law.destinations = destinations.clone();
        let class = Class::new("test", Sl(0), Workload::Drawn(law));
        let sources = sources.members(N_NICS, &NO_GROUPS).expect("within the fabric");
        let destinations = destinations.members(N_NICS, &NO_GROUPS).expect("within the fabric");
        let source = class.build(&setting(seed, 0), &mut Notes::new());
        if destinations == sources && sources.len() == 1 {
            prop_assert!(source.is_none());
            return Ok(());
        }
        let source = source.expect("two NICs to talk to each other");
        for nic in (0..N_NICS).map(NicId) {
            let others = destinations.iter().filter(|to| **to != nic).count();
            let mut cursor = Cursor::default();
            let mut last = 0;
            for number in 0..10 {
                let message = source.next(nic, &mut cursor);
                let sends = others > 0 && sources.contains(&nic);
                prop_assert_eq!(message.is_some(), sends);
                let Some(message) = message else { break };
                prop_assert!(message.destination != nic);
                prop_assert!(destinations.contains(&message.destination));
                prop_assert!(message.cycle >= last);
                prop_assert_eq!(cursor.number, number + 1);
                last = message.cycle;
            }
        }
    }
}

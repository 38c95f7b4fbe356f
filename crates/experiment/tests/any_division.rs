//! Every number of the results is the same for any number of partitions and threads, and for the reference: the heap
//! that scrambles the order of each tick, boxed arbiters, wide sets.
//!
//! `NETLOOM_DRAWS=2000 cargo nextest run -p netloom-experiment --test any_division` draws more than CI does.

mod drawn;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, RunResult, run};
use netloom_experiment::spec::{Request, load};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

/// Partitions, threads, reference.
const DIVISIONS: [(usize, usize, bool); 6] = [
    (1, 1, true),
    (2, 1, false),
    (5, 2, false),
    (7, 1, false),
    (7, 2, true),
    (2, 2, true),
];

fn request(text: &str) -> Request<'_> {
    Request {
        directory: Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/drawn")),
        ..Request::new("drawn.toml", text)
    }
}

fn results(
    text: &str,
    (partitions, threads, reference): (usize, usize, bool),
) -> Option<RunResult> {
    let loaded = load(&Request {
        partitions: Some(partitions),
        threads,
        ..request(text)
    });
    let experiment = loaded.experiment?;
    let options = RunOptions {
        threads,
        reference,
        ..RunOptions::default()
    };
    Some(run(&experiment, &options, &mut |_| Control::Continue))
}

/// What differs between two results, by name.
fn differences(one: &RunResult, other: &RunResult) -> Vec<String> {
    let mut all = Vec::new();
    let digest = |result: &RunResult| result.document.run.digest.clone();
    if digest(one) != digest(other) {
        all.push("digest".to_owned());
    }
    if one.document != other.document {
        let (a, b) = (
            format!("{:#?}", one.document),
            format!("{:#?}", other.document),
        );
        let lines = a.lines().zip(b.lines()).filter(|(a, b)| a != b).take(6);
        all.extend(lines.map(|(a, b)| format!("document: {} / {}", a.trim(), b.trim())));
    }
    let tables = one.all_tables();
    for ((name, a), (_, b)) in tables.iter().zip(other.all_tables()) {
        if *a != b {
            all.push(format!("table {name}"));
        }
    }
    all
}

/// Compares all divisions of an experiment with the usual one; how many packets it delivered.
fn compare(text: &str) -> Result<u64, String> {
    let usual = results(text, (1, 1, false)).ok_or("refused")?;
    for division in DIVISIONS {
        let other = results(text, division).ok_or("refused when divided")?;
        let differences = differences(&usual, &other);
        if !differences.is_empty() {
            let (partitions, threads, reference) = division;
            return Err(format!(
                "{partitions} partitions, {threads} threads, reference {reference}: {differences:#?}\n{text}"
            ));
        }
    }
    Ok(usual.document.run.counters.delivered_packets)
}

/// So many of the drawn experiments must be accepted and deliver something.
fn draws() -> u32 {
    let wanted = std::env::var("NETLOOM_DRAWS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(300)
}

#[test]
fn drawn_experiments_do_not_depend_on_how_they_are_divided() {
    let config = ProptestConfig {
        cases: draws(),
        max_global_rejects: draws() * 20,
        max_shrink_iters: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let kinds = RefCell::new(BTreeMap::<String, u32>::new());
    let refused = RefCell::new(BTreeMap::<String, u32>::new());
    let tapes = prop::collection::vec(any::<u32>(), 120);
    let outcome = TestRunner::new(config).run(&tapes, |numbers| {
        let text = drawn::experiment(&mut drawn::Tape::new(&numbers));
        let loaded = load(&request(&text));
        if loaded.experiment.is_none() {
            let told = render(&loaded.document, &loaded.notes, false);
            let first = told.lines().next().unwrap_or_default().to_owned();
            *refused.borrow_mut().entry(first).or_default() += 1;
            return Err(TestCaseError::reject("check refuses it"));
        }
        let is_kind = |line: &&str| !line.is_empty() && !line.contains("pattern = ");
        for line in text.lines().filter(is_kind) {
            *kinds.borrow_mut().entry(line.to_owned()).or_default() += 1;
        }
        compare(&text).map_err(TestCaseError::fail)?;
        Ok(())
    });
    for (what, n) in refused.borrow().iter() {
        println!("refused {n} times: {what}");
    }
    for (kind, n) in kinds.borrow().iter() {
        println!("{n} with {kind}");
    }
    if let Err(error) = outcome {
        panic!("{error}");
    }
    // A generator that never gets through to something tests nothing of it.
    for (wanted, one_in) in [
        ("kind = \"cioq\"", 20),
        ("kind = \"iq\"", 30),
        ("kind = \"hierarchical\"", 20),
        ("kind = \"tiled\"", 10),
        ("[connections]", 150),
        ("[[connections.class]]", 300),
        ("workload = ", 100),
        ("mapping = \"random\"", 300),
        ("compute = ", 300),
        ("flows = ", 100),
        ("faults = ", 100),
        ("congestion-control = ", 40),
        ("acknowledge = ", 60),
        ("buffer = ", 60),
        ("receive = { order = \"strict\" }", 60),
        ("choice = \"least", 100),
        ("kind = \"ugal\"", 60),
        ("flow-control = \"pfc\"", 40),
        ("flow-control = \"pause\"", 100),
        ("flow-control = \"queue-credits\"", 80),
    ] {
        let kinds = kinds.borrow();
        let lines = kinds.iter().filter(|(line, _)| line.starts_with(wanted));
        let n: u32 = lines.map(|(_, n)| n).sum();
        assert!(n >= draws() / one_in, "{n} draws with {wanted}");
    }
}

/// Two classes on one service level of every NIC.
fn same(text: &str) {
    let delivered = compare(text).unwrap_or_else(|told| panic!("{told}"));
    assert!(delivered > 200, "{delivered} packets are too few to tell");
}

#[test]
fn two_classes_on_one_level_of_a_dragonfly() {
    same(
        "netloom = 1\n[topology]\nkind = \"dragonfly\"\nhosts = 2\nswitches = 4\nglobals = 2\n\
         [[traffic]]\nload = 0.5\n[[traffic]]\nload = 0.1\n[measure]\nlength = \"20 us\"\n",
    );
}

/// A shipped experiment, shorter.
fn shipped(name: &str) {
    let path = format!("{}/../../experiments/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, after) = text.split_once("length = \"").unwrap();
    let (_, after) = after.split_once('"').unwrap();
    same(&format!("{before}length = \"10 us\"{after}"));
}

#[test]
fn an_input_queued_tree_with_a_hot_spot_on_the_level_of_the_others() {
    shipped("tree64_iq_obqa.toml");
}

#[test]
fn service_channels_and_classes_that_share_them() {
    shipped("tree16_dtable_service-channels.toml");
}

/// Ranks on drawn NICs that compute for drawn times, NICs with a bound, whole links that are stopped.
#[test]
fn programs_that_compute_on_drawn_nics_beside_pause() {
    same(
        "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 4\nlevels = 2\n[link]\nmtu = \"512 B\"\nflow-control = \"pause\"\n\
         [switch]\ninput-buffer = \"16 KiB\"\n[nic]\nbuffer = \"2 KiB\"\n[qos]\nvls = 2\n\
         [[traffic]]\nname = \"solver\"\nsl = 1\nmapping = \"random\"\ncompute = \"120 ns\"\ncompute-law = \"exponential\"\n\
         workload = { kind = \"minife\", grid = [3, 2, 2], rounds = 4, size-divisor = 4 }\n\
         [[traffic]]\nname = \"others\"\nsl = 0\nload = 0.5\nmessage = \"1300 B\"\n[measure]\nlength = \"10 us\"\n",
    );
}

/// Connections with deadlines in the high table, of classes of their own.
#[test]
fn connections_with_deadlines() {
    same(
        "netloom = 1\n[topology]\nkind = \"mesh\"\nsides = [3, 2]\nhosts = 2\n[link]\nmtu = \"512 B\"\n\
         [connections]\ntarget = 24\n\
         [[connections.class]]\nsl = 3\nleast = \"1 Gbps\"\nmost = \"9 Gbps\"\ndeadline = \"20 us\"\n\
         [[connections.class]]\nsl = 2\nleast = \"500 Mbps\"\nmost = \"5 Gbps\"\n\
         [[traffic]]\nname = \"best-effort\"\nsl = 8\nload = 0.4\nmessage = \"512 B\"\n[measure]\nlength = \"10 us\"\n",
    );
}

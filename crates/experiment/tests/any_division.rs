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

/// Whether nothing in an experiment goes by the number of a port, or by how many there are: a site counts ports from 1,
/// and its switches have a port 0 of their own. Tiles and groups of ports do, so do queues that belong to outputs, and
/// buffers that are so much for each queue.
fn is_blind_to_port_numbers(text: &str) -> bool {
    let is_by_number = ["tiled", "hierarchical", "obqa", "dbbm", "per-queue"];
    !is_by_number.iter().any(|word| text.contains(word))
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
        // The same on a real site, as far as one could be so.
        let site = loaded.experiment.as_ref();
        let site = site.and_then(|native| drawn::site::as_site(&text, native));
        let Some(site) = site.filter(|_| numbers[119].is_multiple_of(2)) else {
            compare(&text).map_err(TestCaseError::fail)?;
            return Ok(());
        };
        let on_site = load(&request(&site.text));
        let told = render(&on_site.document, &on_site.notes, false);
        if on_site.experiment.is_none() {
            let first = told.lines().next().unwrap_or_default().to_owned();
            *refused
                .borrow_mut()
                .entry(format!("on a site: {first}"))
                .or_default() += 1;
            compare(&text).map_err(TestCaseError::fail)?;
            return Ok(());
        }
        let count = |what: &str| *kinds.borrow_mut().entry(what.to_owned()).or_default() += 1;
        count("on a site");
        let delivered = compare(&site.text).map_err(TestCaseError::fail)?;
        if site.is_numbered_alike && is_blind_to_port_numbers(&text) {
            count("as on a site");
            let native =
                results(&text, (1, 1, false)).map(|r| r.document.run.counters.delivered_packets);
            if native != Some(delivered) {
                let text = &site.text;
                let told = format!("{native:?} packets, and {delivered} on a site\n{text}");
                return Err(TestCaseError::fail(told));
            }
        }
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
        ("workload = ", 100),
        ("flows = ", 100),
        ("faults = ", 100),
        ("congestion-control = ", 40),
        ("acknowledge = ", 60),
        ("receive = { order = \"strict\" }", 60),
        ("choice = \"least", 100),
        ("kind = \"ugal\"", 60),
        ("flow-control = \"pfc\"", 30),
        ("flow-control = \"queue-credits\"", 60),
        ("on a site", 10),
        ("as on a site", 150),
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

#[test]
fn a_fabric_delivers_the_same_as_a_site_with_the_same_routes() {
    let fabrics = [
        ("kind = \"fat-tree\"\narity = 2\nlevels = 3", "d-mod-k"),
        ("kind = \"torus\"\nsides = [3, 2]\nhosts = 2", "up-down"),
        (
            "kind = \"random-regular\"\nswitches = 8\ndegree = 3\nhosts = 2",
            "up-down",
        ),
    ];
    let switches = [
        "kind = \"cioq\"\nspeedup = 2",
        "kind = \"iq\"\nqueues = \"voq\"\nallocator = \"islip\"",
    ];
    let mut n_compared = 0;
    for ((topology, routing), switch) in fabrics.iter().flat_map(|f| switches.map(|s| (f, s))) {
        let text = format!(
            "netloom = 1\n[topology]\n{topology}\n[routing]\nkind = \"{routing}\"\n[switch]\n{switch}\n\
             [qos]\nvls = 2\n[[traffic]]\nload = 0.5\nsl = 0\nmessage = \"2 KiB\"\n\
             [[traffic]]\nload = 0.4\nsl = 1\nmessage = \"300 B\"\n[measure]\nlength = \"8 us\"\n"
        );
        let native = load(&request(&text)).experiment.expect("a sound file");
        let Some(site) = drawn::site::as_site(&text, &native) else {
            continue;
        };
        assert!(site.is_numbered_alike);
        n_compared += 1;
        let delivered = |text: &str| {
            let counters = results(text, (1, 1, false))
                .expect(text)
                .document
                .run
                .counters;
            counters.delivered_packets
        };
        assert!(delivered(&text) > 100);
        assert_eq!(delivered(&text), delivered(&site.text), "{}", site.text);
        compare(&site.text).unwrap_or_else(|told| panic!("{told}"));
    }
    assert!(
        n_compared >= 4,
        "{n_compared} fabrics with routes that a table holds"
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

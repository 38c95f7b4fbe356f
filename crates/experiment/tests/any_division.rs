//! Every number of the results is the same for any number of partitions, threads and ranks, and for the reference: the
//! heap that scrambles the order of each tick, boxed arbiters, wide sets.
//!
//! `NETLOOM_DRAWS=2000 cargo nextest run -p netloom-experiment --test any_division` draws more than CI does, and
//! `NETLOOM_DRAWN_TO=FOLDER` keeps what was drawn.

mod drawn;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, RunResult, run, run_over};
use netloom_experiment::spec::{Request, load};
use netloom_fabric::{SharedRanks, ThreadRank};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

/// A way to run the same.
#[derive(Clone, Copy, Debug)]
struct Division {
    partitions: usize,
    threads: usize,
    reference: bool,
    /// Processes that share the run, as threads that hand each other bytes.
    ranks: usize,
}

const USUAL: Division = Division {
    partitions: 1,
    threads: 1,
    reference: false,
    ranks: 1,
};

const fn division(partitions: usize, threads: usize, reference: bool, ranks: usize) -> Division {
    Division {
        partitions,
        threads,
        reference,
        ranks,
    }
}

const DIVISIONS: [Division; 8] = [
    division(1, 1, true, 1),
    division(2, 1, false, 1),
    division(5, 2, false, 1),
    division(7, 1, false, 1),
    division(7, 2, true, 1),
    division(2, 2, true, 1),
    division(7, 1, false, 3),
    division(5, 2, true, 2),
];

fn request(text: &str) -> Request<'_> {
    Request {
        directory: Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/drawn")),
        ..Request::new("drawn.toml", text)
    }
}

/// What every rank says.
fn results(text: &str, division: Division) -> Option<Vec<RunResult>> {
    let loaded = load(&Request {
        partitions: Some(division.partitions),
        threads: division.threads,
        ..request(text)
    });
    let experiment = loaded.experiment?;
    let options = RunOptions {
        threads: division.threads,
        reference: division.reference,
        ..RunOptions::default()
    };
    // A fabric of two switches has two partitions, and no more ranks.
    let size = division.ranks.min(experiment.fabric.n_partitions());
    if size == 1 {
        return Some(vec![run(&experiment, &options, &mut |_| Control::Continue)]);
    }
    let experiment = &experiment;
    std::thread::scope(|scope| {
        let ranks = ThreadRank::several(size).into_iter().map(|rank| {
            scope.spawn(move || {
                let ranks = SharedRanks::new(rank);
                run_over(experiment, &options, Some(&ranks), &mut |_| {
                    Control::Continue
                })
            })
        });
        let ranks: Vec<_> = ranks.collect();
        let joined = ranks.into_iter().map(|rank| rank.join().expect("a rank"));
        Some(joined.collect())
    })
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
    let usual = results(text, USUAL).ok_or("refused")?.remove(0);
    for division in DIVISIONS {
        for other in results(text, division).ok_or("refused when divided")? {
            let differences = differences(&usual, &other);
            if !differences.is_empty() {
                return Err(format!("{division:?}: {differences:#?}\n{text}"));
            }
        }
    }
    Ok(usual.document.run.counters.delivered_packets)
}

/// Writes an experiment to the folder that NETLOOM_DRAWN_TO names, for others that run it: `.ci/mpi`.
fn keep(text: &str) {
    let Some(folder) = std::env::var_os("NETLOOM_DRAWN_TO").map(PathBuf::from) else {
        return;
    };
    std::fs::create_dir_all(&folder).unwrap();
    // What some of them read.
    let flows = request("").directory.join("flows.csv");
    std::fs::copy(flows, folder.join("flows.csv")).unwrap();
    let n = std::fs::read_dir(&folder).unwrap().count();
    std::fs::write(folder.join(format!("{n:04}.toml")), text).unwrap();
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
        keep(&text);
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
                results(&text, USUAL).map(|all| all[0].document.run.counters.delivered_packets);
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
            let all = results(text, USUAL).expect(text);
            all[0].document.run.counters.delivered_packets
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

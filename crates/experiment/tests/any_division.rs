//! Every number of the results is the same for any number of partitions, threads and ranks, and for
//! the reference implementation: the order of each tick is scrambled, boxed arbiters,
//! wide sets. The same holds for a run that stops and resumes from its checkpoint with other
//! threads and ranks.
//!
//! `NETLOOM_DRAWS=2000 cargo nextest run -p netloom-experiment --test any_division` draws more than
//! CI does, and `NETLOOM_DRAWN_TO=FOLDER` keeps the drawn experiments.

mod drawn;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use drawn::shelf::{OnShelf, Shelf};
use netloom_experiment::runner::{
    Checkpoints, Control, NotContinued, Progress, RunOptions, RunResult, run_with_checkpoints,
};
use netloom_experiment::spec::{Request, load};
use netloom_experiment::{Experiment, render};
use netloom_fabric::{SharedRanks, ThreadRank};
use netloom_results::Status;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

/// One way to divide a run.
#[derive(Clone, Copy, Debug)]
struct Division {
    partitions: usize,
    threads: usize,
    reference: bool,
    /// Processes that share the run, as threads that exchange bytes.
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
        files: netloom_catalog::Disk::folder(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/drawn")),
        ..Request::new("drawn.toml", text)
    }
}

/// Returns the results of every rank.
fn results(text: &str, division: Division) -> Option<Vec<RunResult>> {
    let all = results_with_checkpoints(text, division, None, u32::MAX)?;
    Some(
        all.into_iter()
            .map(|one| one.expect("no checkpoint"))
            .collect(),
    )
}

/// Runs with checkpoints in memory, and resumes from the last one, if any. The run stops after this
/// number of calls of `control`.
fn results_with_checkpoints(
    text: &str,
    division: Division,
    shelf: Option<&Shelf>,
    stop_after: u32,
) -> Option<Vec<Result<RunResult, NotContinued>>> {
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
    // A fabric of two switches has at most two partitions and ranks.
    let size = division.ranks.min(experiment.fabric.n_partitions());
    let one = |ranks: Option<&SharedRanks>| {
        let leads = ranks.is_none_or(|ranks| ranks.lock().rank() == 0);
        let mut checkpoints = shelf.map(|shelf| OnShelf { shelf, leads });
        let checkpoints = checkpoints
            .as_mut()
            .map(|checkpoints| checkpoints as &mut dyn Checkpoints);
        let mut asked = 0;
        let mut control = |_: &Progress| {
            asked += 1;
            match asked > stop_after {
                true => Control::Stop,
                false => Control::Continue,
            }
        };
        run_with_checkpoints(&experiment, &options, ranks, checkpoints, &mut control)
    };
    if size == 1 {
        return Some(vec![one(None)]);
    }
    let one = &one;
    std::thread::scope(|scope| {
        let ranks = ThreadRank::several(size)
            .into_iter()
            .map(|rank| scope.spawn(move || one(Some(&SharedRanks::new(rank)))));
        let ranks: Vec<_> = ranks.collect();
        let joined = ranks.into_iter().map(|rank| rank.join().expect("a rank"));
        Some(joined.collect())
    })
}

/// Names the differences between two results.
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

/// Runs an experiment in pieces, each with its own division and from the checkpoint of the previous
/// one.
fn in_pieces(text: &str, reference: bool, stop_after: u32) -> Result<RunResult, String> {
    let shelf = Shelf::default();
    let divisions = [(1, 1), (2, 1), (1, 3), (2, 2)];
    for (threads, ranks) in divisions.into_iter().cycle() {
        let division = division(5, threads, reference, ranks);
        let all =
            results_with_checkpoints(text, division, Some(&shelf), stop_after).ok_or("refused")?;
        let all: Result<Vec<RunResult>, NotContinued> = all.into_iter().collect();
        let mut all = all.map_err(|why| format!("{division:?}: {why}\n{text}"))?;
        if all[0].document.status() != Status::Interrupted {
            return Ok(all.remove(0));
        }
        let n_partitions = shelf.n_partitions();
        if !(1..=5).contains(&n_partitions) {
            return Err(format!("{n_partitions} partitions in a checkpoint"));
        }
    }
    unreachable!("the divisions repeat forever")
}

/// Compares all divisions of an experiment with the usual one, and returns the delivered packets.
fn compare(text: &str) -> Result<u64, String> {
    let usual = results(text, USUAL).ok_or("refused")?.remove(0);
    for division in DIVISIONS {
        let all = results(text, division).ok_or("refused when divided")?;
        let differences = differences(&usual, &all[0]);
        if !differences.is_empty() {
            return Err(format!("{division:?}: {differences:#?}\n{text}"));
        }
        // The other ranks have the status of the run.
        let ended = |result: &RunResult| {
            let run = &result.document.run;
            let latency = run.total.latency_p99_ns;
            (run.status, run.digest.clone(), run.counters, latency)
        };
        if let Some(other) = all.iter().find(|other| ended(other) != ended(&usual)) {
            let (own, other) = (ended(&usual), ended(other));
            return Err(format!(
                "{division:?}: {own:?}, another rank {other:?}\n{text}"
            ));
        }
    }
    let experiment = load(&request(text)).experiment.ok_or("refused")?;
    let measure = &experiment.measure;
    let n_epochs = measure.length.0.div_ceil(measure.epoch) as u32;
    for (reference, stop_after) in [(false, n_epochs.div_ceil(3)), (true, n_epochs.div_ceil(2))] {
        let pieced = in_pieces(text, reference, stop_after.max(1))?;
        let differences = differences(&usual, &pieced);
        if !differences.is_empty() {
            let message = format!("stopped after {stop_after} epochs, reference {reference}");
            return Err(format!("{message}: {differences:#?}\n{text}"));
        }
    }
    Ok(usual.document.run.counters.delivered_packets)
}

/// Writes an experiment to the folder NETLOOM_DRAWN_TO, for `.ci/mpi` to run.
fn keep(text: &str) {
    let Some(folder) = std::env::var_os("NETLOOM_DRAWN_TO").map(PathBuf::from) else {
        return;
    };
    std::fs::create_dir_all(&folder).unwrap();
    // A file that some of them read.
    let flows = request("").files.shown(Path::new("flows.csv"));
    std::fs::copy(flows, folder.join("flows.csv")).unwrap();
    let n = std::fs::read_dir(&folder).unwrap().count();
    std::fs::write(folder.join(format!("{n:04}.toml")), text).unwrap();
}

/// Returns whether an experiment is independent of the number and count of ports: a site counts
/// ports from 1, and its switches have an own port 0. Tiles, groups of ports, queues per output,
/// buffer sizes per queue, and injection queues of NICs (those of a switch input) depend on ports.
fn is_blind_to_port_numbers(text: &str) -> bool {
    let is_by_number = [
        "tiled",
        "hierarchical",
        "obqa",
        "dbbm",
        "per-queue",
        "per-destination",
    ];
    !is_by_number.iter().any(|word| text.contains(word))
}

/// Number of drawn experiments that must be accepted and deliver packets.
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
            let messages = render(&loaded.document, &loaded.notes, false);
            let first = messages.lines().next().unwrap_or_default().to_owned();
            *refused.borrow_mut().entry(first).or_default() += 1;
            return Err(TestCaseError::reject("check refuses it"));
        }
        let is_kind = |line: &&str| !line.is_empty() && !line.contains("pattern = ");
        for line in text.lines().filter(is_kind) {
            *kinds.borrow_mut().entry(line.to_owned()).or_default() += 1;
        }
        let fabric = loaded.experiment.as_ref().map(|native| &native.fabric);
        if fabric.is_some_and(|plan| plan.has_plain_switches() && plan.has_plain_endpoints()) {
            *kinds.borrow_mut().entry("plain".to_owned()).or_default() += 1;
        }
        keep(&text);
        // The same experiment on a real site, if possible.
        let site = loaded.experiment.as_ref();
        let site = site.and_then(|native| drawn::site::as_site(&text, native));
        let Some(site) = site.filter(|_| numbers[119].is_multiple_of(2)) else {
            compare(&text).map_err(TestCaseError::fail)?;
            return Ok(());
        };
        let on_site = load(&request(&site.text));
        let messages = render(&on_site.document, &on_site.notes, false);
        if on_site.experiment.is_none() {
            let first = messages.lines().next().unwrap_or_default().to_owned();
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
                let message = format!("{native:?} packets, and {delivered} on a site\n{text}");
                return Err(TestCaseError::fail(message));
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
    // A feature that is never drawn is not tested.
    for (wanted, one_in) in [
        ("plain", 60),
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
        ("sc2sc", 60),
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
    let delivered = compare(text).unwrap_or_else(|message| panic!("{message}"));
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
        "kind = \"cioq\"\ninput-buffer = { pool = \"8 KiB\" }\n\
         output-buffer = { pool = \"6 KiB\" }",
        "kind = \"iq\"\nqueues = \"voq\"\nallocator = \"islip\"",
    ];
    // Two levels that share a lane, with and without management, and two lanes. The level of VL1
    // has the larger packets, for which the buffers of VL0 have no space.
    let management = "[[traffic]]\nmanagement = true\nload = 0.05\nmessage = \"256 B\"\n";
    let lanes = [(1, management), (2, management), (2, "")];
    let machines = switches.into_iter().zip(lanes);
    let mut n_compared = 0;
    for ((topology, routing), (switch, (vls, more))) in fabrics
        .iter()
        .flat_map(|f| machines.clone().map(move |m| (f, m)))
    {
        let text = format!(
            "netloom = 1\n[topology]\n{topology}\n[routing]\nkind = \"{routing}\"\n[switch]\n\
             {switch}\n\
             [qos]\nvls = {vls}\n[[traffic]]\nload = 0.4\nsl = 0\nmessage = \"300 B\"\n\
             [[traffic]]\nload = 0.5\nsl = 1\nmessage = \"2 KiB\"\n{more}[measure]\n\
             length = \"8 us\"\n"
        );
        let native = load(&request(&text)).experiment.expect("a sound file");
        let Some(site) = drawn::site::as_site(&text, &native) else {
            continue;
        };
        assert!(site.is_numbered_alike);
        n_compared += 1;
        let on_site = load(&request(&site.text)).experiment.expect("a sound site");
        let buffers = |experiment: &Experiment| {
            let switch = experiment.fabric.switch.crossbar();
            (switch.input_buffer.clone(), switch.output_buffer.clone())
        };
        assert_eq!(buffers(&native), buffers(&on_site), "{switch}");
        let delivered = |text: &str| {
            let all = results(text, USUAL).expect(text);
            all[0].document.run.counters.delivered_packets
        };
        assert!(delivered(&text) > 100);
        assert_eq!(delivered(&text), delivered(&site.text), "{}", site.text);
        compare(&site.text).unwrap_or_else(|message| panic!("{message}"));
    }
    assert!(
        n_compared >= 6,
        "{n_compared} fabrics with routes that a table holds"
    );
}

/// Returns a shipped experiment with a shorter length.
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

/// Ranks on drawn NICs with drawn compute times, bounded NICs, and PAUSE of whole links.
#[test]
fn programs_that_compute_on_drawn_nics_beside_pause() {
    same(
        "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 4\nlevels = 2\n[link]\n\
         mtu = \"512 B\"\nflow-control = \"pause\"\n\
         [switch]\ninput-buffer = \"16 KiB\"\n[nic]\nbuffer = \"2 KiB\"\n[qos]\nvls = 2\n\
         [[traffic]]\nname = \"solver\"\nsl = 1\nmapping = \"random\"\ncompute = \"120 ns\"\n\
         compute-law = \"exponential\"\n\
         workload = { kind = \"minife\", grid = [3, 2, 2], rounds = 4, size-divisor = 4 }\n\
         [[traffic]]\nname = \"others\"\nsl = 0\nload = 0.5\nmessage = \"1300 B\"\n[measure]\n\
         length = \"10 us\"\n",
    );
}

/// Interrupted jobs: the waits of ranks are results like all others.
#[test]
fn ranks_of_unfinished_jobs_wait_for_the_same_ranks() {
    let text = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 4\nlevels = 2\n[groups]\n\
        a = \"random 8\"\nb = \"rest\"\n\
         [[traffic]]\nname = \"ring\"\nworkload = \
         { kind = \"all-reduce\", bytes = \"96 KiB\", nics = \"a\" }\n\
         [[traffic]]\nname = \"solver\"\nsl = 1\nmapping = \"random\"\ncompute = \"900 ns\"\n\
         compute-law = \"exponential\"\n\
         workload = { kind = \"minife\", grid = [2, 2, 2], rounds = 9, nics = \"b\" }\n[measure]\n\
         length = \"9 us\"\n";
    same(text);
    let result = results(text, USUAL).expect("a sound file").remove(0);
    let jobs = &result.document.run.jobs;
    assert_eq!(result.document.status(), Status::Unfinished);
    assert!(jobs.iter().all(|job| job.ranks == Some(8)));
    assert!(jobs.iter().any(|job| job.waiting.len() > 1), "{jobs:?}");
}

/// Connections with deadlines in the high table, with their own classes.
#[test]
fn connections_with_deadlines() {
    same(
        "netloom = 1\n[topology]\nkind = \"mesh\"\nsides = [3, 2]\nhosts = 2\n[link]\n\
         mtu = \"512 B\"\n\
         [connections]\ntarget = 24\n\
         [[connections.class]]\nsl = 3\nleast = \"1 Gbps\"\nmost = \"9 Gbps\"\n\
         deadline = \"20 us\"\n\
         [[connections.class]]\nsl = 2\nleast = \"500 Mbps\"\nmost = \"5 Gbps\"\n\
         [[traffic]]\nname = \"best-effort\"\nsl = 8\nload = 0.4\nmessage = \"512 B\"\n[measure]\n\
         length = \"10 us\"\n",
    );
}

/// A checkpoint can be saved between any two ticks, not only at the end of an epoch.
#[test]
fn a_run_that_is_stopped_within_an_epoch_goes_on() {
    let text = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 4\nlevels = 2\n[[traffic]]\n\
        load = 0.7\n\
                [measure]\nlength = \"20 us\"\nepochs = 2\nrepeat = 2\nwaits = true\n";
    let usual = results(text, USUAL).unwrap().remove(0);
    let experiment = load(&request(text)).experiment.unwrap();
    let shelf = Shelf::default();
    let mut within = 0;
    let result = loop {
        let mut checkpoints = OnShelf {
            shelf: &shelf,
            leads: true,
        };
        let mut asked = 0;
        let done = run_with_checkpoints(
            &experiment,
            &RunOptions::default(),
            None,
            Some(&mut checkpoints),
            &mut |progress: &Progress| {
                asked += 1;
                // A slow run calls `control` again before its epoch ends.
                std::thread::sleep(std::time::Duration::from_millis(60));
                let is_within = progress.now_ns % 10_000.0 > 0.0;
                within += u32::from(is_within && asked > 2);
                match asked > 2 && within % 7 == 1 {
                    true => Control::Stop,
                    false => Control::Continue,
                }
            },
        );
        let done = done.unwrap();
        if done.document.status() != Status::Interrupted {
            break done;
        }
    };
    assert!(within > 3, "stopped within epochs {within} times");
    assert_eq!(differences(&usual, &result), Vec::<String>::new());
}

/// A checkpoint that is not the state of this run is refused, and nothing is simulated from it.
#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let text = |arity: u32| {
        format!(
            "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = {arity}\nlevels = 2\n\
             [[traffic]]\nload = 0.7\n\
             [measure]\nlength = \"20 us\"\n"
        )
    };
    let shelf = Shelf::default();
    let first = results_with_checkpoints(&text(4), USUAL, Some(&shelf), 3)
        .unwrap()
        .remove(0);
    assert_eq!(first.unwrap().document.status(), Status::Interrupted);
    let other = results_with_checkpoints(&text(3), USUAL, Some(&shelf), 3)
        .unwrap()
        .remove(0);
    assert!(matches!(other, Err(NotContinued::Invalid { .. })));
    // One rank's part is truncated: all ranks report it.
    let shelf = Shelf::default();
    let halves = division(2, 1, false, 2);
    let stopped = results_with_checkpoints(&text(4), halves, Some(&shelf), 3).unwrap();
    assert!(stopped.iter().all(|one| one.is_ok()));
    shelf.damage(|part| part.truncate(part.len() / 2));
    let resumed = results_with_checkpoints(&text(4), halves, Some(&shelf), 3).unwrap();
    assert!(matches!(resumed[0], Err(NotContinued::Invalid { .. })));
    assert!(matches!(resumed[1], Err(NotContinued::Elsewhere)));
}

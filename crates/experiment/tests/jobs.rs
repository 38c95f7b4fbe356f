//! Jobs on parts of a fabric: groups of NICs, their traffic, and programs of ranks.

use std::collections::{BTreeMap, BTreeSet};

use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_packet::{Cursor, Source};
use netloom_units::NicId;

fn read(text: &str) -> Loaded {
    load(&Request::new("test.toml", text))
}

fn messages(loaded: &Loaded) -> String {
    render(&loaded.document, &loaded.notes, false)
}

fn fact(loaded: &Loaded, word: &str) -> Vec<String> {
    let facts = loaded.facts.iter().filter(|(known, _)| known == word);
    facts.map(|(_, fact)| fact.clone()).collect()
}

/// The traffic of S002-4 on a fabric with as many hosts as in the paper.
const S002_4: &str = r#"
netloom = 1
[topology]
kind = "pgft"
children = [22, 14, 10]
parents = [1, 4, 4]
[link]
flit = "10 B"
mtu = "240 B"
[groups]
hot-spots = "random 12"
aggressors = "random 48"
victims = "rest"
[[traffic]]
name = "victim"
load = 0.4
message = "240 B"
sources = "victims"
destinations = "victims"
[[traffic]]
name = "aggressor"
load = 1.0
message = "240 B"
from = "20 us"
sources = "aggressors"
destinations = "hot-spots"
pattern = "incast"
[measure]
length = "100 us"
"#;

/// Returns senders and receivers of the first messages of every NIC, and the cycle of the first
/// message.
fn talk(source: &dyn Source, n_nics: u32) -> (BTreeMap<NicId, BTreeSet<NicId>>, u64) {
    let mut talk: BTreeMap<NicId, BTreeSet<NicId>> = BTreeMap::new();
    let mut first = u64::MAX;
    for nic in (0..n_nics).map(NicId) {
        let mut cursor = Cursor::default();
        for _ in 0..20 {
            let Some(message) = source.next(nic, &mut cursor) else {
                break;
            };
            talk.entry(nic).or_default().insert(message.destination);
            first = first.min(message.cycle);
        }
    }
    (talk, first)
}

#[test]
fn v002_10_48_aggressors_on_12_hot_spots_leave_3020_victims() {
    let loaded = read(S002_4);
    let words = messages(&loaded);
    let sizes = "NICs: hot-spots 12, aggressors 48, victims 3,020";
    assert_eq!(fact(&loaded, "groups"), [sizes], "{words}");
    let experiment = loaded.experiment.unwrap_or_else(|| panic!("{words}"));
    assert_eq!(experiment.fabric.topology.n_nics(), 3080);
    let mut placements = BTreeSet::new();
    for seed in [1, 2, 3] {
        let experiment = experiment.with_seed(seed).unwrap();
        let (victims, from) = talk(&*experiment.fabric.classes[0].source, 3080);
        let (aggressors, from_aggressors) = talk(&*experiment.fabric.classes[1].source, 3080);
        assert_eq!((victims.len(), aggressors.len()), (3020, 48));
        // Each aggressor is bound to one hot spot, with four per hot spot.
        let mut fan_in: BTreeMap<NicId, u32> = BTreeMap::new();
        for to in aggressors.values() {
            assert_eq!(to.len(), 1);
            *fan_in.entry(*to.first().unwrap()).or_default() += 1;
        }
        assert_eq!(fan_in.len(), 12);
        assert!(fan_in.values().all(|n| *n == 4), "48 / 12 = 4:1");
        // 3020 + 48 + 12 = 3080, and no NIC has two roles.
        let mut all: BTreeSet<NicId> = victims.keys().copied().collect();
        all.extend(aggressors.keys().chain(fan_in.keys()));
        assert_eq!(all.len(), 3080);
        // Victims send to other victims only.
        let to: BTreeSet<NicId> = victims.values().flatten().copied().collect();
        assert!(to.iter().all(|nic| victims.contains_key(nic)));
        assert!(to.len() > 3000, "to any of them");
        // 20 us at 100 Gbps are 25,000 flits of 10 bytes.
        assert!(from < 25_000);
        assert!(
            (25_000..25_100).contains(&from_aggressors),
            "{from_aggressors}"
        );
        placements.insert((aggressors.into_keys().collect::<Vec<_>>(), fan_in));
    }
    assert_eq!(placements.len(), 3, "every seed scatters them elsewhere");
}

const TREE: &str = include_str!("ui/jobs/base/tree.toml");

#[test]
fn s002_7_half_of_the_hosts_disturb_the_other_half() {
    let text = format!(
        "{TREE}[groups]\nvictims = \"random 8\"\naggressors = \"rest\"\n\
         [[traffic]]\nname = \"victim\"\nload = 0.3\nsources = \"victims\"\n\
         destinations = \"victims\"\n\
         [[traffic]]\nname = \"aggressor\"\nload = 0.5\nsources = \"aggressors\"\n\
         destinations = \"aggressors\"\n"
    );
    let loaded = read(&text);
    let words = messages(&loaded);
    let experiment = loaded.experiment.unwrap_or_else(|| panic!("{words}"));
    let result = run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    let loads: Vec<f64> = result
        .document
        .run
        .classes
        .iter()
        .map(|class| class.summary.delivered_load)
        .collect();
    // Of 16 NICs: half of them at 0.3 and half at 0.5 of their links.
    assert!((loads[0] - 0.15).abs() < 0.02, "{loads:?}");
    assert!((loads[1] - 0.25).abs() < 0.02, "{loads:?}");
    // The resolved file is the same experiment.
    let again = read(&experiment.resolved.to_toml(true)).experiment.unwrap();
    assert_eq!(
        again.resolved.to_toml(false),
        experiment.resolved.to_toml(false)
    );
    let set = ["groups.victims=\"random 4\"".to_owned()];
    let request = Request {
        sets: &set,
        ..Request::new("test.toml", &text)
    };
    assert_eq!(
        fact(&load(&request), "groups"),
        ["NICs: victims 4, aggressors 12"]
    );
}

#[test]
fn the_shown_experiment_is_sound() {
    let text = include_str!("../../../experiments/tree64_cioq_incast-victims.toml");
    let loaded = read(text);
    assert_eq!(messages(&loaded), "");
    assert_eq!(
        fact(&loaded, "groups"),
        ["NICs: hot-spots 3, aggressors 12, victims 49"]
    );
}

#[test]
fn a_program_ends_although_other_messages_leave_its_nics() {
    let text = "netloom = 1\n[topology]\nkind = \"dragonfly\"\nhosts = 2\nswitches = 3\n\
        globals = 1\nports = 6\n\
         [switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\n\
         [[traffic]]\nname = \"others\"\nload = 0.2\n\
         [[traffic]]\nname = \"solver\"\nworkload = \
         { kind = \"minife\", grid = [3, 2, 2], rounds = 3, size-divisor = 8 }\n\
         [measure]\nlength = \"60 us\"\nwarmup = \"0 ns\"\n";
    let loaded = read(text);
    let sent = fact(&loaded, "program").join(" ");
    let experiment = loaded.experiment.expect("a sound experiment");
    let result = run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    let solver = &result.document.run.classes[1];
    assert!(
        sent.contains(&format!(" {} messages", solver.summary.delivered_messages)),
        "{} of {sent}",
        solver.summary.delivered_messages
    );
}

/// Returns the time in which a ring of `n` NICs of one switch finishes an all-reduce, in ns.
fn ring(n: u32, chunk: u32, rounds: u32, keys: &str) -> f64 {
    let text = format!(
        "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 8\n\
         [switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\nclock = \"1 ns\"\n\
         [link]\nrate = \"80 Gbps\"\nflit = \"10 B\"\nmtu = \"240 B\"\nheader = \"0 B\"\n\
         [[traffic]]\nname = \"ring\"\n\
         workload = {{ kind = \"all-reduce\", nics = \"0-{}\", bytes = \"{} B\", rounds = {rounds} \
         }}\n{keys}\
         [measure]\nlength = \"200 us\"\nwarmup = \"0 ns\"\n",
        n - 1,
        n * chunk,
    );
    let loaded = read(&text);
    let words = messages(&loaded);
    let experiment = loaded.experiment.unwrap_or_else(|| panic!("{words}"));
    let result = run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    let class = &result.document.run.classes[0].summary;
    let messages = u64::from(2 * (n - 1) * n * rounds);
    assert_eq!(class.delivered_messages, messages, "{n} ranks, {chunk} B");
    class.last_delivery_ns.expect("messages arrived")
}

/// All steps of a ring take the same time for any number of NICs, because its messages never meet.
/// At 80 Gbps a flit of 10 bytes takes 1 ns. A rank continues at an edge of its clock, and the last
/// delivery is 1.76 ns before that.
#[test]
fn an_all_reduce_takes_the_time_of_its_steps() {
    for (chunk, step) in [(64, 39.0), (2048, 243.0), (20_000, 2113.0)] {
        for (n, rounds) in [(2, 1), (3, 1), (4, 1), (8, 1), (4, 3)] {
            let n_steps = f64::from(2 * (n - 1) * rounds);
            let end = ring(n, chunk, rounds, "");
            let is_so = (end - (n_steps * step - 1.76)).abs() < 1e-6;
            assert!(is_so, "{n} ranks, {chunk} B: {end} ns");
        }
    }
}

/// Between two steps of a ring a rank computes, but not before its first send or after its last
/// receive. Meanwhile its NIC acknowledges the last packet with a flit of 1 ns, which would
/// otherwise delay the next chunk.
#[test]
fn a_ring_that_computes_takes_that_much_longer_between_its_steps() {
    for (n, rounds) in [(2, 1), (4, 1), (4, 3)] {
        let between = f64::from(2 * (n - 1) * rounds - 1);
        let longer = ring(n, 64, rounds, "compute = \"250 ns\"\n") - ring(n, 64, rounds, "");
        assert!(
            (longer - between * 249.0).abs() < 1e-6,
            "{n} ranks: {longer}"
        );
    }
    // With the same mean, drawn times take longer, because all ranks wait for the slowest.
    let constant = ring(8, 64, 10, "compute = \"250 ns\"\n");
    for law in ["uniform", "exponential"] {
        let drawn = ring(
            8,
            64,
            10,
            &format!("compute = \"250 ns\"\ncompute-law = \"{law}\"\n"),
        );
        assert!(
            (1.1..3.0).contains(&(drawn / constant)),
            "{law}: {drawn} for {constant}"
        );
    }
}

/// Returns when a single job of 12 ranks on 16 NICs with these keys ends, in ns.
fn solver(keys: &str, seed: u64) -> f64 {
    let text = format!(
        "{TREE}warmup = \"0 ns\"\n[[traffic]]\nname = \"solver\"\n\
         workload = {{ kind = \"minife\", grid = [3, 2, 2], rounds = 2, size-divisor = 8 }}\n{keys}"
    );
    let loaded = read(&text);
    let words = messages(&loaded);
    let experiment = loaded.experiment.unwrap_or_else(|| panic!("{words}"));
    let again = read(&experiment.resolved.to_toml(true)).experiment.unwrap();
    assert_eq!(
        again.resolved.to_toml(false),
        experiment.resolved.to_toml(false)
    );
    let experiment = experiment.with_seed(seed).unwrap();
    let result = run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    let class = &result.document.run.classes[0].summary;
    class.last_delivery_ns.expect("messages arrived")
}

#[test]
fn a_random_mapping_goes_by_the_seed_and_in_order_does_not() {
    let random = "mapping = \"random\"\n";
    let ends: Vec<f64> = (1..6).map(|seed| solver(random, seed)).collect();
    assert_eq!(solver(random, 3), ends[2]);
    assert!(ends.windows(2).any(|two| two[0] != two[1]), "{ends:?}");
    let in_order = "mapping = \"in-order\"\n";
    assert_eq!(solver(in_order, 1), solver("", 2));
}

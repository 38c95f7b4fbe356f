//! Whole files: what is loaded, and what changes it. `ui/loading` has the notes about files.

use std::sync::Arc;
use std::time::{Duration, Instant};

use netloom_catalog::{Files, MemoryFiles};
use netloom_experiment::runner::Control;
use netloom_experiment::spec::{Loaded, Request, load, load_with_control};
use netloom_experiment::{WarmupRule, bench, render};
use netloom_units::{Sl, Tick, Time};
use proptest::prelude::*;

const MINIMAL: &str = include_str!("ui/loading/base/minimal.toml");

fn read(text: &str) -> Loaded {
    load(&Request::new("test.toml", text))
}

fn messages(loaded: &Loaded) -> String {
    render(&loaded.document, &loaded.notes, false)
}

/// Returns the codes of all notes of a text, errors first.
fn codes(text: &str) -> Vec<&'static str> {
    let notes = read(text).notes.sorted();
    notes.into_iter().map(|note| note.code).collect()
}

#[test]
fn a_minimal_file_loads() {
    let loaded = read(MINIMAL);
    assert_eq!(messages(&loaded), "");
    let experiment = loaded.experiment.expect("an experiment");
    let plan = &experiment.fabric;
    assert_eq!(experiment.name, "test");
    assert_eq!((plan.topology.n_nics(), plan.n_vls), (64, 1));
    // 2 KiB messages in flits of 64 B, one flit per tick.
    assert_eq!(plan.largest, [32]);
    assert_eq!(plan.links[0].flit, 1);
    assert_eq!(experiment.classes[0].load, Some(0.5));
    assert_eq!(experiment.measure.warmup, WarmupRule::Auto);
    // 200 us / 5.12 ns = 39062.5, rounded up; 200 epochs.
    assert_eq!(
        (experiment.measure.length, experiment.measure.epoch),
        (Tick(39_063), 196)
    );
}

#[test]
fn an_empty_file_says_what_is_missing() {
    insta::assert_snapshot!(messages(&read("")));
}

#[test]
fn values_of_the_command_line_are_shown_as_such() {
    let sets = ["link.delay=5".to_owned(), "traffic.laod=0.1".to_owned()];
    let loaded = load(&Request {
        sets: &sets,
        ..Request::new("test.toml", MINIMAL)
    });
    insta::assert_snapshot!(messages(&loaded));
}

#[test]
fn a_deadlock_can_be_run_on_purpose() {
    let text = "netloom = 1\n[topology]\nkind = \"torus\"\nsides = [4, 4]\n[routing]\n\
        deadlock = \"none\"\n\
                [[traffic]]\nload = 0.5\n";
    assert_eq!(codes(text), ["E0501"]);
    let forced = load(&Request {
        force: true,
        ..Request::new("test.toml", text)
    });
    assert!(forced.experiment.is_some() && !forced.notes.has_errors());
}

#[test]
fn every_routing_of_a_dragonfly_loads() {
    let dragonfly = MINIMAL.replace(
        "kind = \"fat-tree\"\narity = 4\nlevels = 3",
        "kind = \"dragonfly\"\nhosts = 2\nswitches = 4\nglobals = 2",
    );
    for routing in ["minimal", "valiant", "ugal", "par", "par-ugal"] {
        let text = format!("{dragonfly}[routing]\nkind = \"{routing}\"\n");
        assert_eq!(codes(&text), [""; 0], "{routing}");
    }
}

#[test]
fn a_table_of_sizes_is_part_of_what_is_run() {
    let folder = std::env::temp_dir().join(format!("netloom-sizes-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("inner/sizes.csv", "bytes,probability\n64,0.5\n4096,1\n");
    let size = "load = 0.5\nsize = { kind = \"cdf\", file = \"sizes.csv\" }";
    write("inner/base.toml", &MINIMAL.replace("load = 0.5", size));
    // File names are relative to the folder of the file that contains them.
    let experiment = || {
        let text = "extends = \"inner/base.toml\"\n";
        let loaded = load(&Request {
            files: netloom_catalog::Disk::folder(&folder),
            ..Request::new("x.toml", text)
        });
        let notes = netloom_experiment::render(&loaded.document, &loaded.notes, false);
        loaded.experiment.unwrap_or_else(|| panic!("{notes}"))
    };
    let id = || netloom_experiment::runner::run_id(&experiment());
    let before = id();
    assert_eq!(before, id());
    write("inner/sizes.csv", "bytes,probability\n64,0.6\n4096,1\n");
    assert_ne!(before, id());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn files_in_memory_are_those_of_a_folder() {
    let folder = std::env::temp_dir().join(format!("netloom-memory-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    let base = "netloom = 1\n[topology]\nkind = \"graph\"\nfile = \"ring.txt\"\n\
        [[traffic]]\nload = 0.5\nsize = { kind = \"cdf\", file = \"../sizes.csv\" }\n";
    let texts = [
        ("inner/base.toml", base),
        (
            "inner/ring.txt",
            "link a b\nlink b c\nlink c a\nnic x a\nnic y b\nnic z c\n",
        ),
        ("sizes.csv", "bytes,probability\n64,0.5\n4096,1\n"),
    ];
    for (name, text) in texts {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let id = |files: Arc<dyn Files>| {
        let text = "extends = \"inner/base.toml\"\n";
        let loaded = load(&Request {
            files,
            ..Request::new("x.toml", text)
        });
        let notes = messages(&loaded);
        netloom_experiment::runner::run_id(&loaded.experiment.unwrap_or_else(|| panic!("{notes}")))
    };
    let in_memory = || Arc::new(MemoryFiles::from_iter(texts));
    assert_eq!(id(in_memory()), id(netloom_catalog::Disk::folder(&folder)));
    std::fs::remove_dir_all(&folder).unwrap();
    // Nothing is read from the disk.
    let refused = load(&Request {
        files: in_memory(),
        ..Request::new("x.toml", "extends = \"/etc/passwd\"\n")
    });
    let notes = messages(&refused);
    assert!(notes.contains("no file in memory has this name"), "{notes}");
}

#[test]
fn a_fabric_that_does_not_fit_is_refused_unless_it_is_only_examined() {
    let with = |memory: u64, will_run: bool| {
        let loaded = load(&Request {
            memory: Some(memory),
            will_run,
            ..Request::new("test.toml", MINIMAL)
        });
        let codes = loaded.notes.iter().map(|note| note.code);
        (codes.collect::<Vec<_>>(), loaded.experiment.is_some())
    };
    assert!(Request::new("test.toml", MINIMAL).will_run);
    assert_eq!(with(1_000_000, true), (vec!["E0704"], false));
    assert_eq!(with(1_000_000, false), (vec!["W0705"], true));
    assert_eq!(with(1_000_000_000, true), (vec![], true));
}

#[test]
fn loading_stops_between_any_two_steps() {
    let stop_at = |nth: usize| {
        let mut asked = 0;
        let loaded = load_with_control(&Request::new("test.toml", MINIMAL), &mut || {
            asked += 1;
            match asked == nth {
                true => Control::Stop,
                false => Control::Continue,
            }
        });
        (
            loaded.is_ok_and(|loaded| loaded.experiment.is_some()),
            asked,
        )
    };
    let (is_loaded, n) = stop_at(0);
    assert!(is_loaded && n > 5, "asked {n} times");
    for nth in 1..=n {
        assert_eq!(stop_at(nth), (false, nth));
    }
}

#[test]
fn a_dateline_doubles_the_lanes() {
    let text = "netloom = 1\n[topology]\nkind = \"torus\"\nsides = [4, 4]\n[routing]\n\
        deadlock = \"dateline\"\n\
        [qos]\nvls = 3\n[[traffic]]\nload = 0.5\nsl = [0, 1]\n";
    let plan = read(text).experiment.unwrap().fabric;
    assert_eq!((plan.n_vls, plan.lanes_per_level()), (6, 3));
    // SL0 and SL1 on VL0 and VL1, and on VL3 and VL4 beyond the dateline.
    assert_eq!(plan.largest, [32, 32, 0, 32, 32, 0]);
}

#[test]
fn lists_of_messages_tell_their_levels_and_sizes() {
    let flows = "time,source,destination,bytes,sl\n1 us,0,5,3 KiB,2\n2 us,1,5,64,\n";
    let text = MINIMAL.replace("load = 0.5", "flows = \"flows.csv\"\nsl = 1");
    let loaded = load(&Request {
        files: Arc::new(MemoryFiles::from_iter([("flows.csv", flows)])),
        ..Request::new("test.toml", &text)
    });
    let plan = loaded
        .experiment
        .unwrap_or_else(|| panic!("a list of messages"))
        .fabric;
    assert_eq!(plan.classes[0].sls, [Sl(1), Sl(2)]);
    assert_eq!(plan.largest, [0, 1, 48]);
}

#[test]
fn the_command_line_goes_over_the_file() {
    let loaded = load(&Request {
        seed: Some(9),
        length: Some(Time::from_nanos(5120)),
        partitions: Some(4),
        ..Request::new("folder/test.toml", MINIMAL)
    });
    let experiment = loaded.experiment.unwrap();
    assert_eq!(
        (experiment.measure.seed, experiment.measure.length),
        (9, Tick(1000))
    );
    assert_eq!(experiment.fabric.n_partitions(), 4);
    assert!(experiment.resolved.to_toml(false).contains("seed = 9"));
}

#[test]
fn another_seed_draws_everything_random_anew() {
    let first_of = |experiment: &netloom_experiment::Experiment| {
        let mut cursor = netloom_packet::Cursor::default();
        experiment.fabric.classes[0]
            .source
            .next(netloom_units::NicId(3), &mut cursor)
    };
    let experiment = read(MINIMAL).experiment.unwrap();
    let other = experiment.with_seed(2).unwrap();
    assert_ne!(first_of(&experiment), first_of(&other));
    assert_eq!(
        first_of(&experiment),
        first_of(&other.with_seed(1).unwrap())
    );
    assert!(std::sync::Arc::ptr_eq(
        &experiment.fabric.topology,
        &other.fabric.topology
    ));

    let random = MINIMAL.replace(
        "kind = \"fat-tree\"\narity = 4\nlevels = 3",
        "kind = \"random-regular\"\nswitches = 16\ndegree = 4\nhosts = 2",
    );
    let experiment = read(&random).experiment.unwrap();
    let other = experiment.with_seed(2).unwrap();
    assert!(
        !experiment
            .fabric
            .topology
            .has_same_wiring(&other.fabric.topology)
    );
    let again = load(&Request {
        seed: Some(2),
        ..Request::new("test.toml", &random)
    });
    assert!(
        again
            .experiment
            .unwrap()
            .fabric
            .topology
            .has_same_wiring(&other.fabric.topology)
    );
}

#[test]
fn every_benchmark_fabric_loads_in_time() {
    for (name, text) in bench::FABRICS {
        let start = Instant::now();
        let loaded = load(&Request::new(&format!("{name}.toml"), text));
        let took = start.elapsed();
        let notes: Vec<_> = loaded.notes.iter().map(|note| note.code).collect();
        // The buffers of paper 002.
        let expected: &[&str] = if *name == "df72" { &["W0347"] } else { &[] };
        assert_eq!(notes, expected, "{name}");
        let experiment = loaded.experiment.expect(name);
        assert_eq!(experiment.name, *name);
        if *name == "df72" {
            assert_eq!(experiment.fabric.largest, [24; 6]);
        } else {
            assert_eq!(experiment.fabric.largest, [32; 8]);
            assert_eq!(experiment.timebase.tick().to_string(), "5.12 ns");
        }
        println!(
            "{name}: {took:?}, {} partitions",
            experiment.fabric.n_partitions()
        );
        for (word, fact) in &loaded.facts {
            println!("    {word:8} {fact}");
        }
        assert!(took < Duration::from_secs(15), "{name} took {took:?}");
    }
    assert!(bench::bench_fabric("ft1").is_none());
}

/// A file that covers most of the format, on a small fabric that stays small if a byte changes.
const FUZZED: &str = include_str!("ui/loading/most_of_the_format.toml");

/// The extreme values of every key that takes a number or a quantity.
#[test]
fn extreme_values_are_answered() {
    let keys = [
        "link.rate",
        "link.delay",
        "link.flit",
        "link.mtu",
        "link.header",
        "link.class.host.cable",
        "link.class.host.rate",
        "switch.clock",
        "switch.speedup",
        "switch.output-buffer",
        "switch.input-buffer.pool",
        "switch.input-buffer.min",
        "switch.pipeline.routing",
        "measure.length",
        "measure.warmup",
        "measure.patience",
        "measure.epochs",
        "measure.seed",
        "measure.interval",
        "traffic.0.load",
        "traffic.0.message",
        "traffic.0.from",
        "traffic.0.until",
        "traffic.1.size.sizes",
        "qos.vls",
        "qos.sl2vl",
        "qos.sl2sc",
        "qos.sc2vl",
        "qos.sc2sl",
        "qos.sl-mtu",
    ];
    let values = [
        "0",
        "-1",
        "255",
        "9223372036854775807",
        "1e300",
        "nan",
        "1e-300",
        "0.3333333333333333",
        "\"999999999999999 s\"",
        "\"999999999999999/999999999999998 ps\"",
        "\"0.000000000001 ps\"",
        "\"100/3 us\"",
        "\"99.999999999999 s\"",
        "\"0 ns\"",
        "\"0.000000000000000000001 ps\"",
        "\"50.000000000000000000001 ns\"",
        "\"123456789012345.123456789 us\"",
        "\"999999999999999 Tbps\"",
        "\"1 bps\"",
        "\"13.636363637 Gbps\"",
        "\"99.999999999999 Tbps\"",
        "\"1.000001 Mbps\"",
        "\"999999999999999 TiB\"",
        "\"4294967295 B\"",
        "\"1 B\"",
        "\"0 B\"",
        "\"16 KiB\"",
        "\"0.000001 MHz\"",
        "\"1000 km\"",
        "\"0.001 m\"",
        "[]",
        "[255]",
        "[[\"1 B\", 1e308], [\"4294967295 B\", 1e308]]",
    ];
    let try_all = |first: Option<&str>| {
        for key in keys {
            for value in values {
                let mut sets: Vec<String> = first.iter().map(|set| (*set).to_owned()).collect();
                sets.push(format!("{key}={value}"));
                let loaded = load(&Request {
                    sets: &sets,
                    ..Request::new("test.toml", FUZZED)
                });
                let _ = messages(&loaded);
                assert_eq!(
                    loaded.experiment.is_none(),
                    loaded.notes.has_errors(),
                    "{sets:?}"
                );
            }
        }
    };
    try_all(None);
    // Odd times multiply each other's denominators.
    try_all(Some("link.rate=\"13.636363637 Gbps\""));
    try_all(Some("link.delay=\"1234567/7654321 us\""));
    try_all(Some("link.mtu=\"message\""));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// Every file gives a result without a panic, and its notes can be printed.
    #[test]
    fn no_change_of_bytes_makes_it_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..6),
        set in proptest::option::of("[a-z.0-9]{0,12}=[ -~]{0,12}"),
    ) {
        let mut bytes = FUZZED.as_bytes().to_vec();
        for (at, byte, what) in changes {
            let at = at.index(bytes.len());
            match what {
                0 => { bytes.remove(at); }
                // Digits are changed but not added, so that no fabric becomes a million switches.
                1 if !byte.is_ascii_digit() => bytes.insert(at, byte),
                2 => bytes[at] = byte,
                _ => { let end = (at + usize::from(byte) % 24).min(bytes.len()); bytes.drain(at..end); }
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let sets: Vec<String> = set.into_iter().collect();
        let loaded = load(&Request { sets: &sets, ..Request::new("test.toml", &text) });
        let _ = messages(&loaded);
        prop_assert_eq!(loaded.experiment.is_none(), loaded.notes.has_errors());
    }
}

//! The commands through the binary: every test runs it in its own folder.

mod place;

use std::process::Stdio;
use std::time::{Duration, Instant};

use place::{Ended, Place};
use serde_json::Value;

/// Eight hosts in a short run.
const SMALL: &str = "netloom = 1\nname = \"small\"\n\
    [topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 3\n\
    [[traffic]]\nname = \"bulk\"\nload = 0.4\n\
    [measure]\nlength = \"300 us\"\n";

/// A ring that deadlocks.
const RING: &str = "netloom = 1\nname = \"ring\"\n\
    [topology]\nkind = \"torus\"\nsides = [5]\nhosts = 2\n\
    [link]\nmtu = \"2 KiB\"\n\
    [switch]\ninput-buffer = \"4 KiB\"\noutput-buffer = \"4 KiB\"\n\
    [routing]\nkind = \"dimension-order\"\ndeadlock = \"none\"\n\
    [[traffic]]\nload = 1.0\nsize = { kind = \"fixed\", bytes = \"2 KiB\" }\n\
    [measure]\nlength = \"1 s\"\npatience = \"20 us\"\n";

#[test]
fn every_template_is_written_checked_and_run() {
    let place = Place::new("templates");
    let listed = place.run(&["init", "--list"]).with(0).stdout;
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let expected = [
        "fat-tree",
        "torus",
        "qos",
        "omni-path",
        "bxi",
        "plan",
        "study",
        "moe",
        "single-switch",
    ];
    assert_eq!(names, expected);
    for name in names {
        let file = format!("demo/{name}.toml");
        let written = place.run(&["init", "--template", name, "demo"]).with(0);
        assert!(
            written.stderr.contains(&format!("netloom check {file}")),
            "{}",
            written.stderr
        );
        let checked = place.run(&["check", &file]).with(0);
        assert!(
            checked.stdout.starts_with(&format!("{file}: ok")),
            "{}",
            checked.stdout
        );
        // A slow machine shows progress.
        let mut notes = checked.stderr.lines();
        let is_progress = |line: &str| line.starts_with("  checked ");
        assert!(notes.all(is_progress), "{name}: {}", checked.stderr);
        if ["study", "moe"].contains(&name) {
            continue;
        }
        let run = place.run(&["run", &file, "--format", "json"]).with(0);
        let json = run.json();
        // The classes of the plan send at full load.
        let status = if name == "plan" { "saturated" } else { "ok" };
        assert_eq!(json["status"], status, "{name}");
        assert_eq!(json["name"], name);
        assert!(run.stderr.contains(&format!("results in {name}.out")));
        for file in [
            "results.csv",
            "series.csv",
            "links.csv",
            "results.json",
            "resolved.toml",
            "manifest.json",
        ] {
            assert!(!place.read(&format!("{name}.out/{file}")).is_empty());
        }
        // The resolved file is an experiment with the same results.
        let again = place.run(&[
            "run",
            &format!("{name}.out/resolved.toml"),
            "-o",
            "again",
            "--format",
            "json",
            "--overwrite",
        ]);
        assert_eq!(again.with(0).json()["digest"], json["digest"], "{name}");
    }
    place.run(&["init", "--template", "torus", "demo"]).with(1);
}

#[test]
fn check_tells_the_size_the_cost_and_the_mistakes_of_a_study() {
    let place = Place::new("study-check");
    place.file("base.toml", SMALL);
    let study = "extends = \"base.toml\"\nname = \"many\"\n[measure]\nrepeat = 5\n\
        [study.axes]\n\"traffic.load\" = { from = 0.1, to = 0.3, step = 0.1 }\n\
        \"qos.arbiter\" = [\"round-robin\", \"oldest-first\"]\n";
    place.file("many.toml", study);
    let checked = place.run(&["check", "many.toml"]).with(0);
    // With one class on one lane, an axis of arbiters has no effect.
    assert!(checked.stderr.contains("W0415"), "{}", checked.stderr);
    assert!(
        checked.stderr.ends_with("1 warning\n"),
        "{}",
        checked.stderr
    );
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = checked.stdout.lines().map(words).collect();
    assert_eq!(lines[0], "many.toml: ok");
    assert_eq!(
        lines[1],
        "study 6 points x 5 seeds = 30 runs (2 axes: traffic.load 3, qos.arbiter 2)"
    );
    let cost = lines.last().unwrap();
    assert!(cost.starts_with("cost about "), "{cost}");
    assert!(cost.contains(" packet-hops in all, about "), "{cost}");
    assert!(cost.ends_with(" of memory per run"), "{cost}");
    // An error at some points is reported once, with its place in the axis.
    place.file("wrong.toml", &study.replace("oldest-first", "oldst-first"));
    let wrong = place.run(&["check", "wrong.toml"]).with(3);
    assert!(wrong.stdout.starts_with("wrong.toml: has mistakes"));
    assert!(
        wrong.stderr.contains("(at 3 of 6 points: "),
        "{}",
        wrong.stderr
    );
    assert!(wrong.stderr.contains("did you mean \"oldest-first\"?"));
    assert!(wrong.stderr.contains("wrong.toml:7:33"), "{}", wrong.stderr);
    assert!(wrong.stderr.ends_with("1 error\n"), "{}", wrong.stderr);
    // An error in the section itself, and an error of the parent file in the lines of the parent.
    place.file(
        "section.toml",
        &study.replace("traffic.load", "trafic.load"),
    );
    let section = place.run(&["check", "section.toml"]).with(3).stderr;
    assert!(
        section.contains("E1001") && section.contains("\"traffic.load\""),
        "{section}"
    );
    place.file("base.toml", &SMALL.replace("arity", "aritty"));
    let parent = place.run(&["check", "many.toml"]).with(3).stderr;
    assert!(parent.contains("base.toml:5:1"), "{parent}");
    for word in [
        "study",
        "study.axes",
        "study.axes.x.refine",
        "study.variant",
        "E1001",
        "extends",
    ] {
        place.run(&["explain", word]).with(0);
    }
}

#[test]
fn the_json_document_has_its_promised_keys() {
    let place = Place::new("json");
    place.file("small.toml", SMALL);
    let json = place
        .run(&["run", "small.toml", "--format", "json"])
        .with(0)
        .json();
    for key in [
        "netloom",
        "results_version",
        "name",
        "run_id",
        "seed",
        "digest",
        "counters",
        "warmup_ns",
        "length_ns",
        "status",
        "total",
        "classes",
        "sls",
        "links",
        "deadlock",
        "timing",
    ] {
        assert!(json.get(key).is_some(), "{key} is missing");
    }
    for key in ["injected_packets", "packet_hops", "flit_hops"] {
        assert!(json["counters"][key].as_u64().unwrap() > 0, "{key}");
    }
    for key in [
        "latency_mean_ns",
        "latency_p999_ns",
        "jitter_mean_ns",
        "delivered_load",
    ] {
        assert!(json["classes"][0][key].as_f64().unwrap() > 0.0, "{key}");
    }
    assert!(json["timing"]["wall_seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(json["deadlock"], Value::Null);
    // The stored results are the same, except for what differs between runs.
    let stored: Value = serde_json::from_str(&place.read("small.out/results.json")).unwrap();
    assert_eq!(stored.get("timing"), None);
    assert_eq!(stored["total"], json["total"]);
    let manifest: Value = serde_json::from_str(&place.read("small.out/manifest.json")).unwrap();
    assert_eq!(manifest["run_id"], json["run_id"]);
    assert_eq!(manifest["command_line"][1], "run");
    // The table has the class and goes to stdout; the folder is named on stderr.
    let human = place.run(&["run", "small.toml"]).with(0);
    assert!(
        human.stdout.contains("bulk") && human.stdout.contains("delivered"),
        "{}",
        human.stdout
    );
    assert!(human.stderr.contains("small.out"));
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let place = Place::new("mistakes");
    place.file(
        "wrong.toml",
        "netloom = 1\n[topology]\nkind = \"fat-treee\"\n[link]\nrate = \"fast\"\n[[traffic]]\n\
         load = 0.5\nlaod = 1\n",
    );
    for command in ["check", "run"] {
        let ended = place.run(&[command, "wrong.toml"]).with(3);
        for part in [
            "E0104",
            "did you mean \"fat-tree\"",
            "E0103",
            "E0106",
            "`load`",
        ] {
            assert!(ended.stderr.contains(part), "{part} in:\n{}", ended.stderr);
        }
        assert!(
            !ended.stderr.contains('\u{1b}'),
            "no colours outside a terminal"
        );
    }
    let coloured = place
        .run(&["check", "wrong.toml", "--color", "always"])
        .with(3);
    assert!(coloured.stderr.contains('\u{1b}'));
    assert!(!place.0.join("wrong.out").exists());
}

#[test]
fn exit_codes_are_those_that_are_explained() {
    let place = Place::new("codes");
    place.file("small.toml", SMALL).file("ring.toml", RING);
    place.run(&["check", "small.toml"]).with(0);
    place.run(&["check", "nowhere.toml"]).with(1);
    place.run(&["run"]).with(2);
    place.run(&["chekc"]).with(2);
    place.run(&["run", "small.toml", "--until", "soon"]).with(2);
    place.run(&["check", "ring.toml"]).with(4);
    place.run(&["run", "ring.toml"]).with(4);
    // Less exact than asked.
    let rough = place
        .run(&["run", "small.toml", "--until", "5us", "--format", "json"])
        .with(5);
    assert_eq!(rough.json()["status"], "not-converged");
    // A saturated run is a result.
    let hot = "traffic.pattern={ kind = \"hot-spot\", destination = 0 }";
    let full = place.run(&[
        "run",
        "small.toml",
        "--set",
        "traffic.load=1.0",
        "--set",
        hot,
        "-o",
        "full",
        "--format",
        "json",
    ]);
    assert_eq!(full.with(0).json()["status"], "saturated");
    let explained = place.run(&["explain", "exit-codes"]).with(0).stdout;
    for code in ["0", "1", "2", "3", "4", "5", "6", "130"] {
        assert!(
            explained
                .lines()
                .any(|line| line.trim_start().starts_with(&format!("{code}  "))),
            "{code}"
        );
    }
}

#[test]
fn a_forced_ring_ends_in_a_deadlock_with_its_circle() {
    let place = Place::new("deadlock");
    place.file("ring.toml", RING);
    let began = Instant::now();
    let human = place.run(&["run", "ring.toml", "--force"]).with(4);
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "a deadlock ends the run early"
    );
    assert!(human.stdout.contains("a cycle of "), "{}", human.stdout);
    assert!(
        human.stdout.contains("output VL0 waits for"),
        "{}",
        human.stdout
    );
    let json = place
        .run(&["run", "ring.toml", "--force", "--format", "json"])
        .with(4)
        .json();
    assert_eq!(json["status"], "deadlock");
    let cycle = json["deadlock"]["cycle"].as_array().unwrap();
    assert!(
        cycle.len() >= 4 && cycle[0]["switch"].is_string(),
        "{cycle:?}"
    );
    assert!(json["deadlock"]["time_ns"].as_f64().unwrap() < 1e9);
    assert!(place.read("ring.out/results.json").contains("\"deadlock\""));
}

#[test]
fn another_run_is_not_overwritten() {
    let place = Place::new("folder");
    place.file("small.toml", SMALL);
    place.run(&["run", "small.toml"]).with(0);
    place.run(&["run", "small.toml"]).with(0);
    let before = place.read("small.out/results.json");
    let refused = place.run(&["run", "small.toml", "--seed", "2"]).with(1);
    assert!(
        refused.stderr.contains("-o DIR") && refused.stderr.contains("--overwrite"),
        "{}",
        refused.stderr
    );
    assert_eq!(place.read("small.out/results.json"), before);
    place
        .run(&["run", "small.toml", "--seed", "2", "-o", "two"])
        .with(0);
    place
        .run(&["run", "small.toml", "--seed", "2", "--overwrite"])
        .with(0);
    assert_eq!(
        place.read("small.out/results.json"),
        place.read("two/results.json")
    );
}

#[test]
fn set_seed_and_length_are_put_over_the_file() {
    let place = Place::new("set");
    place.file("small.toml", SMALL);
    let set = [
        "run",
        "small.toml",
        "--set",
        "traffic.load=0.2",
        "--seed",
        "5",
        "--until",
        "200us",
        "--format",
        "json",
    ];
    let json = place.run(&set).json();
    assert_eq!(json["seed"], 5);
    assert!(
        (json["length_ns"].as_f64().unwrap() - 200_000.0).abs() < 10.0,
        "to the tick"
    );
    assert!((json["total"]["offered_load"].as_f64().unwrap() - 0.2).abs() < 0.03);
    let wrong = place
        .run(&["run", "small.toml", "--set", "traffic.laod=0.2"])
        .with(3);
    assert!(
        wrong.stderr.contains("--set traffic.laod=0.2"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn partitions_threads_and_twins_change_no_byte() {
    let place = Place::new("same");
    place.file("small.toml", SMALL);
    let variants: &[&[&str]] = &[
        &["--partitions", "1"],
        &["--partitions", "2"],
        &["--partitions", "7"],
        &["--partitions", "7", "--threads", "2"],
        &["--reference"],
        &["--reference", "--partitions", "2", "--threads", "2"],
    ];
    let mut first: Option<Vec<String>> = None;
    for (number, variant) in variants.iter().enumerate() {
        let folder = format!("v{number}");
        let arguments = [&["run", "small.toml", "-o", &folder], *variant].concat();
        place.run(&arguments).with(0);
        let files = [
            "results.json",
            "results.csv",
            "series.csv",
            "links.csv",
            "resolved.toml",
        ];
        let bytes: Vec<String> = files
            .iter()
            .map(|file| place.read(&format!("{folder}/{file}")))
            .collect();
        assert_eq!(
            first.get_or_insert_with(|| bytes.clone()),
            &bytes,
            "{variant:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_stores_what_there_is() {
    let place = Place::new("interrupt");
    place.file("small.toml", SMALL);
    let running = place.begin(&["run", "small.toml", "--until", "100s", "--format", "json"]);
    // Time to deliver something.
    std::thread::sleep(Duration::from_millis(500));
    let began = Instant::now();
    let ended = running.stopped_by("-INT");
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "a stop within an epoch"
    );
    let json = ended.with(130).json();
    assert_eq!(json["status"], "interrupted");
    let length = json["length_ns"].as_f64().unwrap();
    assert!(length > 0.0 && length < 100e9);
    assert!(json["total"]["delivered_messages"].as_u64().unwrap() > 0);
    assert!(place.read("small.out/results.partial.csv").lines().count() > 1);
}

#[test]
fn what_needs_more_memory_than_there_is_is_refused_before_it_is_built() {
    let place = Place::new("memory");
    let tree = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 64\nlevels = 4\n\
        [[traffic]]\nload = 0.1\n";
    place.file("tree.toml", tree);
    let burst = "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 512\n[[traffic]]\n\
        arrival = { kind = \"periodic\", period = \"1 ms\", messages = 20000000 }\n";
    place.file("burst.toml", burst);
    place.file("seeds.toml", &format!("{SMALL}repeat = 4294967295\n"));
    let began = Instant::now();
    let refused = place.run(&["run", "tree.toml"]).with(3);
    assert!(refused.stderr.contains("E0704"), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("134,217,728 ports"),
        "{}",
        refused.stderr
    );
    let refused = place.run(&["run", "burst.toml"]).with(3);
    assert!(refused.stderr.contains("E0704"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    place.run(&["run", "seeds.toml"]).with(3);
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "nothing was built"
    );
    // `check` does not fail, since a larger machine may run it.
    let ended = place.run(&["check", "burst.toml"]).with(0);
    assert!(ended.stderr.contains("W0705"), "{}", ended.stderr);
    assert!(ended.stdout.contains("GB of memory"), "{}", ended.stdout);
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_that_check_states_is_within_a_factor_of_two_of_what_a_run_takes() {
    let place = Place::new("measured");
    let fabrics = [
        ("small", "kind = \"fat-tree\"\narity = 4\nlevels = 3", ""),
        ("tree", "kind = \"fat-tree\"\narity = 16\nlevels = 3", ""),
        (
            "torus",
            "kind = \"torus\"\nsides = [12, 12, 12]\nhosts = 4",
            "",
        ),
        (
            "lanes",
            "kind = \"fat-tree\"\narity = 12\nlevels = 3",
            "[qos]\nvls = 8\n",
        ),
        (
            "tiled",
            "kind = \"dragonfly\"\nhosts = 4\nswitches = 8\nglobals = 4",
            "[switch]\nkind = \"tiled\"\nports = 16\n",
        ),
        (
            "queues",
            "kind = \"fat-tree\"\narity = 8\nlevels = 3",
            "[switch]\nkind = \"iq\"\nqueues = \"voq-net\"\n",
        ),
    ];
    for (name, topology, more) in fabrics {
        let text = format!(
            "netloom = 1\nname = \"{name}\"\n[topology]\n{topology}\n{more}\
             [[traffic]]\nload = 0.3\n[measure]\nlength = \"2 us\"\n"
        );
        let file = format!("{name}.toml");
        place.file(&file, &text);
        let stated = place.run(&["check", &file]).with(0).stdout;
        let words = stated.split(" MB of memory").next().unwrap();
        let stated: f64 = words.rsplit(' ').next().unwrap().parse().unwrap();
        place.run(&["run", &file, "-q"]);
        let manifest: Value =
            serde_json::from_str(&place.read(&format!("{name}.out/manifest.json"))).unwrap();
        let taken = manifest["timing"]["peak_rss_bytes"].as_f64().unwrap() / 1e6;
        let ratio = taken / stated;
        assert!(
            (0.5..2.0).contains(&ratio),
            "{name}: {taken} MB, stated {stated} MB"
        );
    }
}

#[test]
fn a_run_that_sends_nothing_says_so() {
    let place = Place::new("silent");
    let rare = SMALL.replace("load = 0.4", "load = 1e-12");
    place.file("rare.toml", &rare);
    let run = place.run(&["run", "rare.toml"]);
    assert!(run.stderr.contains("nothing was sent"), "{}", run.stderr);
    let report = place.run(&["report", "small.out"]).with(0);
    assert!(
        report.stderr.contains("nothing was sent"),
        "{}",
        report.stderr
    );
}

#[cfg(unix)]
#[test]
fn what_never_ends_is_not_read() {
    let place = Place::new("endless");
    let text = |key: &str| format!("netloom = 1\n{key}\n[[traffic]]\nload = 0.1\n");
    let cases = [
        (
            "extends",
            "extends = \"/dev/zero\"\n[topology]\nkind = \"single-switch\"\nports = 2",
        ),
        (
            "graph",
            "[topology]\nkind = \"graph\"\nfile = \"/dev/zero\"",
        ),
    ];
    for (name, key) in cases {
        let file = format!("{name}.toml");
        place.file(&file, &text(key));
        let refused = place.run(&["check", &file]).with(3);
        assert!(
            refused.stderr.contains("not a regular file"),
            "{}",
            refused.stderr
        );
    }
    let refused = place.run(&["check", "/dev/zero"]).with(1);
    assert!(refused.stderr.contains("larger than"), "{}", refused.stderr);
}

#[test]
fn names_contain_no_commands_for_terminals_and_spreadsheets() {
    let place = Place::new("names");
    for name in ["\\u001b[31mred", "=HYPERLINK(1)", "a\\nb"] {
        let text = SMALL.replace("name = \"bulk\"", &format!("name = \"{name}\""));
        place.file("named.toml", &text);
        let refused = place.run(&["check", "named.toml"]).with(3);
        assert!(refused.stderr.contains("E0108"), "{}", refused.stderr);
        assert!(!refused.stderr.contains('\u{1b}'), "{}", refused.stderr);
    }
    // A folder may come from an untrusted source.
    place.file("small.toml", SMALL);
    place.run(&["run", "small.toml", "--until", "20us"]);
    let results = place.read("small.out/results.json");
    let hostile = results.replace("\"class\": \"bulk\"", "\"class\": \"\\u001b[31mbulk\"");
    place.file("small.out/results.json", &hostile);
    // An attacker who changes a folder can remove its checksums too.
    std::fs::remove_file(place.0.join("small.out/SHA256SUMS")).unwrap();
    let compared = place
        .run(&["compare", "small.out", "small.out", "--all"])
        .with(0);
    assert!(compared.stdout.contains("bulk"), "{}", compared.stdout);
    assert!(!compared.stdout.contains('\u{1b}'), "{}", compared.stdout);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let place = Place::new("pipe");
    for arguments in [
        &["explain"][..],
        &["schema"],
        &["completions", "bash"],
        &["explain", "exit-codes"],
    ] {
        let mut child = place
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = Ended::new(child.wait_with_output().unwrap()).with(0);
        assert_eq!(ended.stderr, "");
    }
}

#[test]
fn a_closed_pipe_does_not_change_how_a_run_ends() {
    let place = Place::new("pipe-run");
    place.file("small.toml", SMALL);
    let mut child = place
        .command(&["run", "small.toml", "--until", "5us", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    Ended::new(child.wait_with_output().unwrap()).with(5);
    assert!(place.read("small.out/results.csv").lines().count() > 1);
}

#[test]
fn seeds_are_summed_up() {
    let place = Place::new("seeds");
    place.file("small.toml", SMALL);
    let run = [
        "run",
        "small.toml",
        "--set",
        "measure.repeat=3",
        "--format",
        "json",
    ];
    let json = place.run(&run).json();
    assert_eq!(json["over_seeds"]["seeds"], serde_json::json!([1, 2, 3]));
    assert_eq!(json["repeats"].as_array().unwrap().len(), 2);
    assert!(
        json["over_seeds"]["total"]["latency_mean_ns"]["half_width"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    let totals = place
        .read("small.out/results.csv")
        .lines()
        .filter(|line| line.contains(",total,"))
        .count();
    assert_eq!(totals, 3);
}

#[test]
fn fabrics_paths_and_packets_can_be_looked_at() {
    let place = Place::new("look");
    place.file("small.toml", SMALL).file("ring.toml", RING);
    let stats = place.run(&["show", "stats", "small.toml"]).with(0).stdout;
    assert!(
        stats.contains("switches") && stats.contains("12"),
        "{stats}"
    );
    assert_eq!(
        place
            .run(&["show", "switches", "small.toml"])
            .with(0)
            .stdout
            .lines()
            .count(),
        13
    );
    // The exported fabric can be read again and has the same numbers.
    let graph = place.run(&["show", "graph", "small.toml"]).with(0).stdout;
    place.file("fabric.txt", &graph);
    let as_graph = SMALL.replace(
        "kind = \"fat-tree\"\narity = 2\nlevels = 3",
        "kind = \"graph\"\nfile = \"fabric.txt\"",
    );
    place.file("graph.toml", &as_graph);
    assert_eq!(
        place.run(&["show", "graph", "graph.toml"]).with(0).stdout,
        graph
    );

    let path = place
        .run(&["show", "path", "small.toml", "--from", "0", "--to", "n7"])
        .with(0)
        .stdout;
    assert!(path.starts_with("n0 to n7: 5 switches"), "{path}");
    place
        .run(&["show", "path", "small.toml", "--from", "0", "--to", "8"])
        .with(1);
    let free = place.run(&["show", "routing", "small.toml"]).with(0).stdout;
    assert!(free.contains("free of deadlock"), "{free}");
    let circle = place.run(&["show", "routing", "ring.toml"]).with(4).stdout;
    assert!(circle.contains("cycle of 5 channels"), "{circle}");

    let trace = place
        .run(&["trace", "small.toml", "--packet", "0:0"])
        .with(0)
        .stdout;
    let stages: Vec<&str> = trace
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        (stages[0], stages[1], stages[stages.len() - 1]),
        ("created", "injected", "delivered")
    );
    place.run(&["trace", "small.toml", "--packet", "0"]).with(2);
}

#[test]
fn everything_that_is_listed_is_explained() {
    let place = Place::new("explain");
    let listed = place.run(&["explain"]).with(0).stdout;
    let kinds = listed
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let mut n = 0;
    for kind in kinds {
        let text = place.run(&["explain", kind]).with(0).stdout;
        assert!(text.contains("Example:"), "{kind}: {text}");
        n += 1;
    }
    assert!(n > 30, "{n} kinds");
    for name in [
        "E0501",
        "e0104",
        "measure.warmup",
        "traffic.load",
        "latency_p99_ns",
        "topology",
        "[qos]",
    ] {
        place.run(&["explain", name]).with(0);
    }
    let unknown = place.run(&["explain", "d-mod-l"]).with(2);
    assert!(
        unknown.stderr.contains("did you mean \"d-mod-k\""),
        "{}",
        unknown.stderr
    );
    let schema: Value = place.run(&["schema"]).with(0).json();
    assert!(schema.is_object());
}

#[test]
fn channels_and_mtus_are_checked_run_and_explained() {
    let place = Place::new("channels");
    let text = SMALL.replace("load = 0.4", "sl = [0, 1]\nload = 0.4\nmessage = \"3 KiB\"");
    let qos = "[qos]\nsl2sc = [[0, 3], 1]\nsl-mtu = [\"192 B\", \"1 KiB\"]\n";
    place.file("small.toml", &format!("{text}{qos}"));
    let checked = place.run(&["check", "small.toml"]).with(0).stdout;
    for fact in [
        "SL0 on SC0 (VL0), SC3 (VL3); SL1 on SC1 (VL1)",
        "at most SL0 192 B, SL1 1 KiB",
    ] {
        assert!(checked.contains(fact), "{checked}");
    }
    let digest = |more: &[&str]| {
        let mut arguments = vec!["run", "small.toml", "--format", "json", "--overwrite"];
        arguments.extend(more);
        place.run(&arguments).with(0).json()["digest"].clone()
    };
    let one = digest(&[]);
    assert_eq!(one, digest(&["--partitions", "3", "--threads", "2"]));
    assert_ne!(one, digest(&["--set", "qos.sl-mtu=[]"]));
    let resolved = place.read("small.out/resolved.toml");
    assert!(resolved.contains("sc2sl = [0, 1, 0, 0,"), "{resolved}");
    for key in ["sl2sc", "sc2vl", "sc2sl", "sl-mtu"] {
        let path = format!("qos.{key}");
        let explained = place.run(&["explain", &path]).with(0).stdout;
        assert!(explained.contains(key), "{explained}");
        let schema = place.run(&["schema"]).with(0).json();
        assert!(
            schema.to_string().contains(&format!("\"{key}\"")),
            "{key} in the schema"
        );
    }
    place.file("both.toml", &format!("{text}{qos}sl2vl = [0, 1]\n"));
    let both = place.run(&["check", "both.toml"]).with(3).stderr;
    assert!(
        both.contains("error[E0407]: both `sl2vl` and `sl2sc`"),
        "{both}"
    );
}

#[test]
fn a_benchmark_prints_an_object() {
    let place = Place::new("bench");
    let bench = ["bench", "ft64", "--until", "10us", "--format", "json"];
    let json = place.run(&bench).with(0).json();
    assert_eq!(
        (&json["fabric"], &json["hosts"]),
        (&Value::from("ft64"), &Value::from(64))
    );
    for key in [
        "events",
        "packet_hops",
        "wall_seconds",
        "digest",
        "threads",
        "partitions",
        "setup_seconds",
    ] {
        assert!(!json[key].is_null(), "{key}");
    }
    let halves = place
        .run(&[&bench[..], &["--partitions", "2", "--threads", "2"]].concat())
        .with(0)
        .json();
    assert_eq!(halves["digest"], json["digest"]);
    assert_eq!(halves["partitions"], 2);
    assert_eq!(
        std::fs::read_dir(&place.0).unwrap().count(),
        0,
        "a benchmark leaves nothing behind"
    );
}

#[test]
fn a_changed_flow_list_is_another_run() {
    let folder = std::env::temp_dir().join(format!("netloom-flows-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("flows.toml");
    std::fs::write(
        &file,
        "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 4\n\
         [[traffic]]\nflows = \"flows.csv\"\n[measure]\nlength = \"20 us\"\nwarmup = \"0 ns\"\n",
    )
    .unwrap();
    let run = |list: &str, out: &str| -> serde_json::Value {
        std::fs::write(folder.join("flows.csv"), list).unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_netloom"))
            .args([
                "run",
                file.to_str().unwrap(),
                "--format",
                "json",
                "--progress",
                "none",
                "-o",
            ])
            .arg(folder.join(out))
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    };
    let head = "time,source,destination,bytes,sl\n";
    let one = run(&format!("{head}1 us,0,1,2048,0\n2 us,2,3,2048,0\n"), "one");
    let two = run(&format!("{head}1 us,0,1,2048,0\n2 us,2,1,4096,0\n"), "two");
    assert_eq!(one["counters"]["delivered_packets"], 2);
    assert_ne!(one["run_id"], two["run_id"]);
    assert_ne!(one["digest"], two["digest"]);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn connections_of_the_2001_paper_run_in_short_form() {
    let place = Place::new("connections");
    let papers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/papers/004");
    for name in ["irregular", "hypercube", "mesh"] {
        let file = format!("{papers}/{name}_256.toml");
        let short = ["--set", "connections.target=64"];
        let checked = place
            .run(&[&["check", file.as_str()], &short[..]].concat())
            .with(0);
        assert!(
            checked.stdout.contains("64, payload 0."),
            "{}",
            checked.stdout
        );
        let run = [
            "run",
            file.as_str(),
            "--until",
            "2 ms",
            "--progress",
            "none",
        ];
        let ended = place.run(&[&run, &short[..]].concat());
        // Two milliseconds are not enough for a narrow interval.
        assert!([Some(0), Some(5)].contains(&ended.code), "{}", ended.stderr);
        for word in [
            "very-low",
            "worst #",
            "by mean latency",
            "too short: the slowest",
        ] {
            assert!(ended.stdout.contains(word), "{word} in\n{}", ended.stdout);
        }
        let table = place.read(&format!("{name}_256.out/connections.csv"));
        assert_eq!(table.lines().count(), 65);
        let json: Value =
            serde_json::from_str(&place.read(&format!("{name}_256.out/results.json"))).unwrap();
        assert_eq!(json["connections"]["established"], 64);
        assert_eq!(json["latency_order"].as_array().unwrap().len(), 4);
    }
    let explained = place.run(&["explain", "connections.until-packets"]).with(0);
    assert!(explained.stdout.contains("warm-up"), "{}", explained.stdout);
    place.run(&["explain", "in_time_1_32"]).with(0);
}

#[test]
fn waits_are_shown_and_stored_when_asked_for() {
    let place = Place::new("waits");
    place.file(
        "two.toml",
        "netloom = 1\nname = \"two\"\n[topology]\nkind = \"single-switch\"\nports = 4\n\
         [qos.arbiter]\nkind = \"ib-two-table\"\nhigh = [[0, 4]]\nlow = [[1, 8]]\n\
         [[traffic]]\nload = 0.3\n[[traffic]]\nname = \"bulk\"\nload = 0.3\nsl = 1\n\
         [measure]\nlength = \"20 us\"\nwarmup = \"0 ns\"\ninterval = 0.9\nrepeat = 2\n",
    );
    let on = ["run", "two.toml", "--set", "measure.waits=true"];
    let shown = place.run(&on).with(0).stdout;
    for text in [
        "longest wait",
        "switches VL0",
        "nics VL1",
        "nics all",
        "contested",
    ] {
        assert!(shown.contains(text), "{text} is missing:\n{shown}");
    }
    let csv = place.read("two.out/waits.csv");
    assert!(
        csv.starts_with("seed,place,scope,number,choices,contested_choices,wait_at_least_bytes,")
    );
    // Two seeds, two places, a total and two lanes each.
    assert_eq!(csv.lines().count(), 1 + 2 * 2 * 3, "{csv}");
    let stored: Value = serde_json::from_str(&place.read("two.out/results.json")).unwrap();
    let lanes = &stored["waits"]["nics"]["classes"];
    assert_eq!(stored["waits"]["nics"]["by"], "vl");
    assert_eq!(lanes[1]["number"], 1);
    assert!(lanes[1]["wait_at_most_ns"].as_f64().unwrap() > 0.0);

    // Without it, there are no files of it, not even from an earlier run.
    let off = ["run", "two.toml", "--overwrite", "--format", "json"];
    let json = place.run(&off).with(0).json();
    assert!(json.get("waits").is_none());
    assert_eq!(json["digest"], stored["digest"]);
    assert!(!place.0.join("two.out/waits.csv").exists());
    let explained = place.run(&["explain", "measure.waits"]).with(0).stdout;
    assert!(explained.contains("longest wait"), "{explained}");
    let explained = place.run(&["explain", "wait_at_most_bytes"]).with(0).stdout;
    assert!(explained.contains("waits.csv"), "{explained}");
}

#[test]
fn tables_of_a_paper_are_reproduced_in_short_form() {
    let place = Place::new("reproduce-003");
    let tiny = ["reproduce", "003", "--size", "tiny", "--progress", "none"];
    let more = ["--seeds", "1", "-o", "out", "--format", "json"];
    let run = place.run(&[&tiny[..], &more].concat()).with(0);
    let claims = run.json();
    let claim = |id: &str, part: &str| {
        let mut all = claims.as_array().unwrap().iter();
        all.find(|claim| claim["id"] == id && claim["part"] == part)
            .unwrap()
            .clone()
    };
    assert_eq!(claim("C003-16", "")["verdict"], "holds");
    // Even in this short run, five levels of 20 % nearly fill a link.
    let shares = claim("C003-1", "")["numbers"].clone();
    let sum: f64 = (0..5)
        .map(|sl| shares[format!("sl{sl}_median_percent")].as_f64().unwrap())
        .sum();
    assert!((90.0..105.0).contains(&sum), "{shares}");
    // One seed is not enough for an order.
    assert_eq!(claim("C003-2", "")["verdict"], "not-judged");
    for (file, lines) in [
        ("throughput.csv", 1 + 3 * 5 * 5),
        ("latency.csv", 1 + 3 * 5 * 5 + 7 * 3),
        ("completion.csv", 1 + 7),
        ("efficiency.csv", 1 + 7 * 3 * 60),
    ] {
        let text = place.read(&format!("out/{file}"));
        assert_eq!(text.lines().count(), lines, "{file}");
    }
}

#[test]
fn connections_of_a_paper_are_reproduced_in_short_form() {
    let place = Place::new("reproduce-004");
    let tiny = ["reproduce", "004", "--size", "tiny", "--progress", "none"];
    let more = ["--vary", "no-header", "-o", "out", "--format", "json"];
    let run = place.run(&[&tiny[..], &more].concat()).with(0);
    assert!(
        run.stderr
            .contains("size tiny, 1 seed, until every connection of SL2 and SL3 has 1 packet"),
        "{}",
        run.stderr
    );
    let claims = run.json();
    let number = |id: &str, part: &str, varied: Option<&str>, name: &str| {
        let is_it = |claim: &&Value| claim["id"] == id && claim["part"] == part;
        let claim = claims.as_array().unwrap().iter().find(is_it).unwrap();
        let judged = match varied {
            Some(reading) => {
                let mut under = claim["under"].as_array().unwrap().iter();
                under.find(|own| own["reading"] == reading).unwrap()
            }
            None => claim,
        };
        judged["numbers"][name].as_f64().unwrap()
    };
    // Without headers the same connections deliver 256 bytes where 264 were.
    let ours = number("C004-6", "256 B", None, "delivered_mesh");
    let varied = number("C004-6", "256 B", Some("no-header"), "delivered_mesh");
    assert!(
        (ours / varied - 264.0 / 256.0).abs() < 0.01,
        "{ours} {varied}"
    );
    assert_eq!(
        number("C004-1", "", None, "established_mesh"),
        number("C004-1", "", Some("no-header"), "established_mesh")
    );
    // Far below the capacity, everything is delivered.
    assert!(number("C004-7", "4096 B", None, "r2_hypercube") > 0.99);
    for (file, lines) in [
        // Four kinds of admission at their last target.
        ("admission.csv", 1 + 6 * 4),
        ("throughput.csv", 1 + 6 * 3),
        ("ports.csv", 1 + 2 * (192 + 192 + 176)),
        ("punctuality.csv", 1 + 6 * 12),
        ("throughput-no-header.csv", 1 + 6),
    ] {
        let text = place.read(&format!("out/{file}"));
        assert_eq!(text.lines().count(), lines, "{file}");
    }
    assert_eq!(run.stdout, place.read("out/claims.json"));
    let text = place.read("out/claims.txt");
    assert!(
        text.contains("no-header, of X004-4: headers are within the 256 and 4096 bytes"),
        "{text}"
    );
}

#[test]
fn queue_schemes_of_a_paper_are_reproduced_in_short_form() {
    let place = Place::new("reproduce-001");
    let tiny = ["reproduce", "001", "--size", "tiny", "--progress", "none"];
    let more = ["-o", "out", "--format", "json"];
    let run = place.run(&[&tiny[..], &more].concat()).with(0);
    assert!(run.stderr.contains("21 runs in"), "{}", run.stderr);
    let claims = run.json();
    let find = |id: &str| {
        let is_it = |claim: &&Value| claim["id"] == id;
        claims
            .as_array()
            .unwrap()
            .iter()
            .find(is_it)
            .unwrap()
            .clone()
    };
    assert_eq!(find("C001-14")["verdict"], "holds");
    let why = find("C001-12")["measured"].as_str().unwrap().to_owned();
    assert!(why.contains("at least two seeds"), "{why}");
    // Six schemes; five around a hot spot in 40 bins, four with storage traffic in 200.
    let lines = |file: &str| place.read(&format!("out/{file}")).lines().count();
    assert_eq!(lines("saturation.csv"), 1 + 6);
    assert_eq!(lines("efficiency.csv"), 1 + 5 * 40 + 4 * 200);
    assert_eq!(lines("points.csv"), 1 + 6 * 2 + 5 + 4);
    // Too short for the cost of a hot spot.
    assert_eq!(lines("hot-spot.csv"), 1);
    for figure in ["accepted", "hot-spot", "storage"] {
        let svg = place.read(&format!("out/{figure}.svg"));
        assert!(svg.starts_with("<svg"), "{figure}");
    }
    // At a tenth of the load, every scheme delivers all traffic.
    let points = place.read("out/points.csv");
    let head: Vec<&str> = points.lines().next().unwrap().split(',').collect();
    let at = head.iter().position(|name| *name == "share").unwrap();
    for line in points.lines().filter(|line| line.contains(",0.1,uniform,")) {
        let share: f64 = line.split(',').nth(at).unwrap().parse().unwrap();
        assert!((0.9..1.1).contains(&share), "{line}");
    }
}

#[test]
fn stashes_of_a_paper_are_reproduced_in_short_form() {
    let place = Place::new("reproduce-002");
    let tiny = ["reproduce", "002", "--size", "tiny", "--progress", "none"];
    let more = ["-o", "out", "--format", "json"];
    let run = place.run(&[&tiny[..], &more].concat()).with(0);
    assert!(run.stderr.contains("43 runs in"), "{}", run.stderr);
    let claims = run.json();
    let verdicts = claims.as_array().unwrap().iter();
    let judged = verdicts.filter(|claim| claim["verdict"] != "not-judged");
    let judged: Vec<&str> = judged.filter_map(|claim| claim["part"].as_str()).collect();
    assert_eq!(judged, ["Little"], "an order takes two seeds");
    // Four switches at two loads; six applications; five runs around the onset in 80 bins; bursts
    // of two lengths.
    let lines = |file: &str| place.read(&format!("out/{file}")).lines().count() - 1;
    assert_eq!(lines("uniform.csv"), 4 * 2);
    assert_eq!(lines("applications.csv"), 6 * 4);
    assert_eq!(lines("onset.csv"), 5 * 80);
    assert_eq!(lines("bursts.csv"), 3 * 2);
    assert_eq!(lines("buffers.csv"), 4);
    // Every distribution ends with all packets, and the stash of the watched hot spot was used.
    let text = place.read("out/distribution.csv");
    let whole = text.lines().filter(|line| line.ends_with(",1"));
    assert_eq!(whole.count(), 5);
    let onset = place.read("out/onset.csv");
    let head: Vec<&str> = onset.lines().next().unwrap().split(',').collect();
    let at = head
        .iter()
        .position(|name| *name == "watched_stash_flits")
        .unwrap();
    let held = |series: &str| {
        let own = onset.lines().filter(|line| line.starts_with(series));
        let flits = own.map(|line| line.split(',').nth(at).unwrap().parse::<f64>().unwrap());
        flits.fold(0.0, f64::max)
    };
    assert!(held("S002-4 72 nodes 100 %") > 0.0);
    assert_eq!(held("S002-4 72 nodes baseline"), 0.0);
}

#[test]
fn a_paper_is_reproduced_in_short_form() {
    let place = Place::new("reproduce");
    let tiny = ["reproduce", "000", "--size", "tiny", "--progress", "none"];
    let people = place.run(&[&tiny[..], &["-o", "one", "--threads", "1"]].concat());
    let people = people.with(0);
    // Counts come first. With single blanks: the widths of columns depend on the measured values.
    let lines: Vec<String> = people
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert!(
        lines[0].starts_with("In the paper's own words: "),
        "{lines:?}"
    );
    let head = lines.iter().position(|line| line.starts_with("claim "));
    let head = &lines[head.unwrap()..];
    assert_eq!(head[0], "claim paper netloom error verdict");
    assert_eq!(head[1], "C000-1 NC latency at 0.70 on the 4-ary 3-tree");
    // Numbers are judged only on the fabrics of the paper, orders also on small ones.
    let number = "IB 780.41 ns no results of S000-1 IB at load 0.7 not judged";
    assert_eq!(head[2], number);
    assert!(
        head[4].starts_with("order OPA < IB ") && head[4].contains(", 4-ary 2-tree "),
        "{head:?}"
    );
    // The same in a page with links between claims and figures, and in short lines.
    let page = place.read("one/figures.html");
    for part in [
        "<dt>in the paper&#39;s own words hold</dt>",
        "href=\"#figure-latency-4-ary-3-tree\"",
        "id=\"figure-latency-4-ary-3-tree\"",
        "href=\"#c000-1-order\"",
        "<tr id=\"c000-1-order\">",
        "<span class=\"chip not-judged\">not judged</span>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let is_offline = !page.contains("href=\"http") && !page.contains(" src=");
    assert!(is_offline && !page.contains("<pre"), "a page of its own");
    let lines = place.read("one/claims.md");
    assert!(
        lines.contains("`netloom reproduce 000 --size tiny"),
        "{lines}"
    );
    assert!(
        lines.lines().all(|line| line.chars().count() <= 100),
        "{lines}"
    );
    assert!(people.stderr.contains("48 runs in"), "{}", people.stderr);

    let machine = place.run(
        &[
            &tiny[..],
            &["-o", "two", "--threads", "2", "--format", "json"],
        ]
        .concat(),
    );
    let machine = machine.with(0);
    let claims = machine.json();
    for claim in claims.as_array().unwrap() {
        for key in [
            "id",
            "tier",
            "paper",
            "measured",
            "band",
            "basis",
            "verdict",
            "readings",
            "under",
            "quote",
            "why",
            "calibrated",
            "figure",
        ] {
            assert!(!claim[key].is_null(), "{key} of {claim}");
        }
    }
    let of = |id: &str| {
        claims
            .as_array()
            .unwrap()
            .iter()
            .find(|c| c["id"] == id)
            .unwrap()
            .clone()
    };
    assert_eq!(of("C000-12")["verdict"], "holds");
    assert_eq!(of("C000-12")["numbers"]["largest_accumulator"], 125.0);
    let share = &of("QOS-S000-1-2x")["numbers"]["vi_least_share"];
    assert!((0.8..1.2).contains(&share.as_f64().unwrap()), "{share}");
    // With a crossbar twice as fast as the links, packets wait at the outputs.
    let chosen = &of("QOS-S000-1-2x")["numbers"]["packets_chosen_by_tables_at_0.9935"];
    assert!(chosen.as_f64().unwrap() > 0.3, "{chosen}");

    // Threads do not affect results.
    for file in ["claims.json", "claims.txt", "points.csv", "runs.csv"] {
        assert_eq!(
            place.read(&format!("one/{file}")),
            place.read(&format!("two/{file}")),
            "{file}"
        );
    }
    assert_eq!(machine.stdout, place.read("two/claims.json"));
    // Three switches at four loads and four at three, seven classes; and the header.
    let lines = place.read("one/points.csv").lines().count();
    assert_eq!(lines, (3 * 4 + 4 * 3) * 7 + 1);

    let unknown = place
        .run(&["reproduce", "000", "--vary", "nonsense"])
        .with(1);
    assert!(
        unknown.stderr.contains(
            "no reading `nonsense`; expected all, or one of long-pipeline, connections-1"
        ),
        "{}",
        unknown.stderr
    );
    place.file("mine.txt", "");
    let taken = place.run(&[&tiny[..], &["-o", "."]].concat()).with(1);
    assert!(
        taken.stderr.contains("is not the folder of a reproduction"),
        "{}",
        taken.stderr
    );
}

#[test]
fn lines_are_no_wider_than_the_terminal() {
    let place = Place::new("width");
    place.run(&["init", "--template", "study", "."]).with(0);
    place.run(&["init", "--template", "plan", "."]).with(0);
    for words in [
        &["explain"][..],
        &["explain", "ib-two-table"],
        &["explain", "exit-codes"],
        &["explain", "E0501"],
        &["explain", "measure.warmup"],
        &["check", "study.toml"],
        &["plan", "plan.toml"],
    ] {
        let lines = |columns: Option<&str>| {
            let mut command = place.command(words);
            columns.map(|columns| command.env("COLUMNS", columns));
            let ended = place::Ended::new(command.output().unwrap()).with(0);
            ended.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        for line in lines(Some("80")) {
            assert!(line.chars().count() <= 80, "{words:?}: {line}");
        }
        // No word is lost. A wide table repeats its first column.
        let printed_words = |lines: Vec<String>| {
            let mut words: Vec<String> = lines
                .iter()
                .flat_map(|line| line.split_whitespace())
                .map(str::to_owned)
                .collect();
            words.sort();
            words.dedup();
            words
        };
        assert_eq!(
            printed_words(lines(Some("80"))),
            printed_words(lines(None)),
            "{words:?}"
        );
    }
}

#[test]
fn quiet_says_only_what_is_wrong() {
    let place = Place::new("quiet");
    place.run(&["init", "--template", "fat-tree", "."]).with(0);
    let short = ["--until", "60us", "--set", "measure.warmup=4us"];
    for (words, says_at_all) in [
        (&["run", "fat-tree.toml", "-q", "-o", "a.out"][..], false),
        (&["run", "fat-tree.toml", "-o", "b.out"], true),
        (&["check", "fat-tree.toml", "-q"], false),
        (&["check", "fat-tree.toml"], true),
    ] {
        let short: &[&str] = if words[0] == "run" { &short } else { &[] };
        let ended = place.run(&[words, short].concat());
        let printed = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(!printed.is_empty(), says_at_all, "{words:?}: {printed}");
    }
    let wrong = place.run(&["run", "fat-tree.toml", "-q", "--set", "traffic.laod=1"]);
    assert!(wrong.with(3).stderr.contains("laod"));
    let json = place.run(
        &[
            &[
                "run",
                "fat-tree.toml",
                "-q",
                "--format",
                "json",
                "-o",
                "c.out",
            ][..],
            &short,
        ]
        .concat(),
    );
    assert!(
        json.stdout.starts_with('{'),
        "what was asked for is printed"
    );
}

#[test]
fn tips_for_other_words_say_what_does_it_here() {
    let place = Place::new("tips");
    place.file("small.toml", SMALL);
    let stderr = |arguments: &[&str]| place.run(arguments).with(2).stderr;
    let seeds = stderr(&["run", "small.toml", "--seeds", "5"]);
    assert!(seeds.contains("--set measure.repeat=5"), "{seeds}");
    assert!(!seeds.contains("--seed <N>"), "{seeds}");
    let load = stderr(&["run", "small.toml", "--load", "0.5"]);
    assert!(load.contains("--set traffic.load=0.5"), "{load}");
    assert!(!load.contains("as a value"), "{load}");
    let simulate = stderr(&["simulate", "small.toml"]);
    assert!(
        simulate.contains("'run'") && !simulate.contains("emulate"),
        "{simulate}"
    );
    for (former, now) in [
        ("topo", "show"),
        ("list", "explain"),
        ("import", "site import"),
        ("lint", "site lint"),
        ("merge", "study merge"),
        ("emit", "study emit"),
        ("resume", "run"),
    ] {
        let answer = stderr(&[former, "small.toml"]);
        assert!(answer.contains(&format!("'{now}'")), "{answer}");
    }
    // A misspelling still has a suggestion.
    let slip = stderr(&["run", "small.toml", "--sead", "5"]);
    assert!(slip.contains("'--seed'"), "{slip}");
    let until = place
        .run(&["run", "small.toml", "--until", "0us"])
        .with(3)
        .stderr;
    assert!(until.contains("--> --until 0 ps"), "{until}");
}

#[test]
fn a_check_that_finds_errors_prints_no_facts() {
    let place = Place::new("no-facts");
    place.file("small.toml", SMALL);
    let sound = place.run(&["check", "small.toml"]).with(0).stdout;
    assert!(
        sound.contains("not oversubscribed: 1:1 between levels 1 and 2"),
        "{sound}"
    );
    place.file("small.toml", &SMALL.replace("load = 0.4", "load = 4.0"));
    let ended = place.run(&["check", "small.toml"]).with(3);
    assert_eq!(ended.stdout, "small.toml: has mistakes\n");
    let routing = "[routing]\nkind = \"det\"\n";
    let pgft = "kind = \"pgft\"\nchildren = [4, 4, 4]\nparents = [1, 4, 4]\n";
    let tree = SMALL.replace("kind = \"fat-tree\"\narity = 2\nlevels = 3\n", pgft);
    place.file("small.toml", &format!("{tree}{routing}"));
    let sound = place.run(&["check", "small.toml"]).with(0).stdout;
    assert!(
        sound.contains("4-ary 3-tree, 64 hosts, 48 switches"),
        "{sound}"
    );
}

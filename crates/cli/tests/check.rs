//! `netloom check` and `explain` through the binary: their output is correct and helpful.

mod place;

use place::{Ended, Place};
use serde_json::Value;

/// The torus template, and one class on two switches.
fn torus(name: &str) -> Place {
    let place = Place::new(name);
    place.run(&["init", "--template", "torus", "."]).with(0);
    place
}

const SMALL: &str = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 2\n";

/// Checks the small fabric with these additional lines.
fn small(name: &str, more: &str) -> Ended {
    let place = Place::new(name);
    place.file("small.toml", &format!("{SMALL}{more}"));
    place.run(&["check", "small.toml"])
}

#[test]
fn the_routing_in_force_is_named_however_it_is_written() {
    let place = torus("check-routing");
    for set in ["routing=up-down", "routing={ kind = \"up-down\" }"] {
        let seen = place
            .run(&["check", "torus.toml", "--set", set])
            .with(0)
            .stdout;
        assert!(seen.contains("up-down: free of deadlock"), "{set}: {seen}");
    }
    let text = place.read("torus.toml");
    let (before, rest) = text.split_once("[routing]").unwrap();
    let after = rest.split_once("[[traffic]]").unwrap().1;
    let short = before.replacen("netloom = 1", "netloom = 1\nrouting = \"shortest\"", 1);
    place.file("short.toml", &format!("{short}[[traffic]]{after}"));
    let stderr = place.run(&["check", "short.toml"]).with(4).stderr;
    assert!(stderr.contains("routing shortest can deadlock"), "{stderr}");
    assert!(!stderr.contains("deadlock = \"bubble\""), "{stderr}");
    assert!(
        stderr.contains("routing.kind = \"dimension-order\""),
        "{stderr}"
    );
}

#[test]
fn a_run_over_ranks_is_described_before_it_runs() {
    let place = torus("check-ranks");
    let check = |arguments: &[&str]| place.run(&[&["check", "torus.toml"], arguments].concat());
    let plain = check(&["--format", "json"]).with(0).json();
    assert_eq!(plain["shared_run"], Value::Null);
    let run = |ranks: &str| {
        let ended = check(&["--ranks", ranks, "--format", "json"]).with(0);
        ended.json()["shared_run"].clone()
    };
    let (one, two, four) = (run("1"), run("2"), run("4"));
    assert_eq!(
        (&one["partitions"], &one["cut_cables"]),
        (&1.into(), &0.into())
    );
    assert_eq!(one["computed"]["efficiency"], 1.0);
    let number = |run: &Value, key: &str| run[key].as_f64().unwrap();
    // Every cable of the torus: as many per switch as it has dimensions.
    assert_eq!(one["cables"], two["cables"]);
    assert!(number(&two, "cut_cables") < number(&four, "cut_cables"));
    let memory = |run: &Value| number(run, "memory_bytes_of_the_largest_rank");
    let whole = |run: &Value| number(run, "memory_bytes_of_every_rank");
    assert_eq!(whole(&two), whole(&four));
    assert!(whole(&one) < whole(&two), "MPI needs some too");
    assert!(memory(&two) > memory(&four));
    assert!(memory(&four) > whole(&four));
    assert!(number(&two["computed"], "efficiency") > number(&four["computed"], "efficiency"));
    let stdout = check(&["--ranks", "4"]).with(0).stdout;
    for word in ["ranks", "cut", "look-ahead", "memory", "efficiency"] {
        let is_printed = |line: &str| line.trim_start().starts_with(word);
        assert!(stdout.lines().any(is_printed), "{word}: {stdout}");
    }
    assert!(stdout.contains("computed, not measured"), "{stdout}");
    let refused = check(&["--ranks", "1000"]).with(2).stderr;
    assert!(
        refused.contains("torus.toml: 1000 ranks, but the fabric has"),
        "{refused}"
    );
}

#[test]
fn a_study_is_described_by_its_first_point() {
    let place = Place::new("check-study-ranks");
    let study = "[[traffic]]\nload = 0.5\n[study.axes]\n\"traffic.load\" = [0.2, 0.4]\n";
    place.file("small.toml", &format!("{SMALL}{study}"));
    let line = ["check", "small.toml", "--ranks", "2", "--format", "json"];
    let run = place.run(&line).with(0).json()["shared_run"].clone();
    // Each rank has a root and a leaf, so one of the two cables of each leaf is cut.
    assert_eq!((&run["cables"], &run["cut_cables"]), (&4.into(), &2.into()));
    assert_eq!(run["nics_of_a_rank"], serde_json::json!([2, 2]));
    place.run(&["check", "small.toml", "--ranks", "9"]).with(2);
}

#[test]
fn a_key_of_another_kind_is_reported_with_its_kind() {
    let place = torus("check-other-kind");
    let stderr = place
        .run(&["check", "torus.toml", "--set", "routing.kind=shortest"])
        .with(3)
        .stderr;
    assert!(
        stderr.contains("it is a key of dimension-order"),
        "{stderr}"
    );
    assert!(!stderr.contains("use deadlock ="), "{stderr}");
}

#[test]
fn a_routing_that_does_not_fit_is_told_with_those_that_do() {
    let traffic = "[routing]\nkind = \"minimal\"\n[[traffic]]\nload = 0.5\n";
    let stderr = small("check-fit", traffic).with(3).stderr;
    assert!(stderr.contains("use one of: d-mod-k"), "{stderr}");
    assert!(stderr.contains("up-down, shortest"), "{stderr}");
}

#[test]
fn slips_are_reported_once_and_with_what_to_write() {
    let messages = |name: &str, class: &str| {
        let ended = small(name, &format!("[[traffic]]\n{class}\n"));
        ended.with(3).stderr
    };
    let misspelt = messages("check-slip", "laod = 0.5");
    assert!(misspelt.contains("did you mean `load`?"), "{misspelt}");
    assert!(
        misspelt.contains("1 error") && !misspelt.contains("is missing"),
        "{misspelt}"
    );
    let percent = messages("check-percent", "load = \"50 %\"");
    assert!(percent.contains("use 0.5, without quotes"), "{percent}");
    let size = messages("check-size", "load = 0.5\nsize = \"2 KiB\"");
    assert!(size.contains("use message = \"2 KiB\""), "{size}");
}

#[test]
fn what_lanes_leave_to_chance_is_warned_of() {
    let lonely = "[qos]\narbiter = \"oldest-first\"\n[[traffic]]\nload = 0.5\n";
    let stderr = small("check-lonely", lonely).with(0).stderr;
    assert!(stderr.contains("W0415"), "{stderr}");
    let two = "[qos]\narbiter = \"oldest-first\"\n[[traffic]]\nload = 0.3\n[[traffic]]\nsl = 1\n\
        load = 0.3\n";
    let stderr = small("check-two", two).with(0).stderr;
    assert_eq!(stderr, "");
    let left_out = "[qos]\nsl2vl = [0, 1]\n[[traffic]]\nsl = 3\nload = 0.3\n";
    let stderr = small("check-left-out", left_out).with(0).stderr;
    assert!(
        stderr.contains("W0416") && stderr.contains("it uses VL1"),
        "{stderr}"
    );
}

#[test]
fn oversubscription_and_bisection_are_reported_by_level() {
    let place = Place::new("check-levels");
    let text = "netloom = 1\n[topology]\nkind = \"pgft\"\nchildren = [8, 4]\nparents = [1, 4]\n\
        [[traffic]]\nload = 0.1\n";
    place.file("half.toml", text);
    for command in [&["check"][..], &["show", "stats"]] {
        let seen = place
            .run(&[command, &["half.toml"]].concat())
            .with(0)
            .stdout;
        assert!(
            seen.contains("2:1 between levels 1 and 2 (16 cables)"),
            "{seen}"
        );
        assert!(
            seen.contains("800 Gbps in each direction, 50.0 %"),
            "{seen}"
        );
    }
}

#[test]
fn a_machine_reads_mistakes_with_their_places() {
    let place = Place::new("check-json");
    place.file("good.toml", &format!("{SMALL}[[traffic]]\nload = 0.5\n"));
    place.file("bad.toml", &format!("{SMALL}[[traffic]]\nlaod = 0.5\n"));
    let ended = place
        .run(&["check", "--format", "json", "good.toml", "bad.toml"])
        .with(3);
    assert_eq!(ended.stderr, "");
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let verdicts: Vec<&str> = lines
        .iter()
        .map(|v| v["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["ok", "has mistakes"]);
    assert_eq!(lines[0]["facts"][0]["word"], "fabric");
    let note = &lines[1]["notes"][0];
    assert_eq!(
        (&note["code"], &note["severity"]),
        (&"E0106".into(), &"error".into())
    );
    let at = &note["places"][0];
    assert_eq!(
        (&at["file"], &at["line"], &at["column"]),
        (&"bad.toml".into(), &7.into(), &1.into())
    );
}

#[test]
fn a_class_is_set_by_its_name() {
    let place = Place::new("check-by-name");
    let classes =
        "[[traffic]]\nname = \"bulk\"\nload = 0.1\n[[traffic]]\nname = \"rpc\"\nload = 0.2\n";
    place.file("two.toml", &format!("{SMALL}{classes}"));
    let seen = place
        .run(&["check", "two.toml", "--set", "traffic.bulk.load=0.5"])
        .with(0)
        .stdout;
    assert!(seen.contains("2 classes, 0.700 of"), "{seen}");
}

#[test]
fn words_parts_and_ends_are_explained() {
    let place = Place::new("check-explain");
    let explained = |name: &str| place.run(&["explain", name]).with(0).stdout;
    assert!(explained("load").contains("traffic.load, a key of traffic"));
    assert!(explained("p99").contains("latency_p99_ns"));
    assert!(explained("digest").contains("a hash of all deliveries"));
    assert!(explained("link.class").contains("[link.class.*]"));
}

#[test]
fn a_plan_counts_the_headers_of_its_links() {
    let place = Place::new("check-headers");
    let planned = |link: &str, class: &str| {
        let plan =
            format!("[plan]\n[[plan.class]]\nshare = 0.5\n{class}[[plan.class]]\nshare = 0.5\n");
        let traffic = "[[traffic]]\nload = 0.5\nmessage = \"1 KiB\"\n";
        let switch = "[switch]\nspeedup = 2\n";
        place.file(
            "plan.toml",
            &format!("{SMALL}{switch}{link}{plan}{traffic}"),
        );
        place.run(&["plan", "plan.toml", "--format", "json"])
    };
    let wait = |link: &str| {
        let plan = planned(link, "").with(0).json();
        plan["classes"][1]["worst_wait_bytes"].as_u64().unwrap()
    };
    let (plain, long) = (wait(""), wait("[link]\nheader = \"512 B\"\n"));
    assert!(long >= plain + 512, "{plain} {long}");
    assert!(wait("[link]\nmtu = \"1 KiB\"\n") < plain);
    let of_level = wait("[qos]\nsl-mtu = [\"1 KiB\", \"1 KiB\"]\n");
    assert_eq!(of_level, wait("[link]\nmtu = \"1 KiB\"\n"));
    // The class plans 1 KiB, and sends another 512 bytes of header.
    planned("[link]\nheader = \"512 B\"\n", "packet = \"1 KiB\"\n").with(0);
    let stderr = place.run(&["check", "plan.toml"]).with(0).stderr;
    assert!(stderr.contains("W0906"), "{stderr}");
    assert!(stderr.contains("sends packets of 1536 B"), "{stderr}");
    let stderr = planned("[link]\nmtu = \"message\"\n", "").with(3).stderr;
    assert!(stderr.contains("E0905"), "{stderr}");
}

/// A random ascent over switches whose MPorts mix directions: no theorem applies, and one
/// destination alone takes more steps than a proof may.
const UNPROVED: &str = "netloom = 1\n\
    [topology]\nkind = \"pgft\"\nchildren = [256, 256, 8]\nparents = [1, 256, 32]\n\
    [switch]\nkind = \"hierarchical\"\nports-per-mport = 3\n\
    [routing]\nkind = \"random-up\"\n\
    [[traffic]]\nload = 0.1\n";

#[test]
fn a_proof_that_takes_too_long_is_not_made() {
    let place = Place::new("check-unproved");
    place.file("large.toml", UNPROVED);
    let seen = place.run(&["check", "large.toml"]).with(0).stdout;
    let not_proved = "random-up: not proved free of deadlock: a proof takes about ";
    assert!(seen.contains(not_proved), "{seen}");
    assert!(seen.contains("`netloom check --proof` proves it"), "{seen}");
    // What is asked for is proved, and the same as without asking on a small fabric.
    place.file("small.toml", &format!("{SMALL}[[traffic]]\nload = 0.1\n"));
    let asked = place
        .run(&["check", "--proof", "small.toml"])
        .with(0)
        .stdout;
    assert!(asked.contains("no cycle among"), "{asked}");
    assert_eq!(asked, place.run(&["check", "small.toml"]).with(0).stdout);
}

/// No round of a program is unrolled, and no table is filled.
#[test]
fn large_files_are_checked_at_once() {
    let place = Place::new("check-large");
    let check = |name: &str, text: &str| {
        place.file(name, text);
        place.run(&["check", name]).with(0).stdout
    };
    for workload in [
        "kind = \"all-reduce\", rounds = 10_000_000",
        "kind = \"bigfft\", grid = [2, 1], rounds = 1_000_000_000",
    ] {
        let class = format!("[[traffic]]\nworkload = {{ {workload} }}\n");
        let seen = check("program.toml", &format!("{SMALL}{class}"));
        assert!(seen.contains("000,000 messages"), "{seen}");
    }
    let fabric = |topology: &str| {
        let traffic = "[[traffic]]\nload = 0.1\n";
        check(
            "fabric.toml",
            &format!("netloom = 1\n[topology]\n{topology}\n{traffic}"),
        )
    };
    let seen = fabric("kind = \"torus\"\nsides = [300, 300]");
    let theorem = "dimension-order: free of deadlock (by theorem, without following destinations: \
        dimension order ranks channels by dimension; rings may close under the bubble rule";
    assert!(seen.contains(theorem), "{seen}");
    let seen = fabric("kind = \"random-regular\"\nswitches = 4000\ndegree = 32\nhosts = 1");
    let theorem = "up-down: free of deadlock (by theorem, without following destinations: up*/down* \
        ranks channels up in the order of the switches, then down";
    assert!(seen.contains(theorem), "{seen}");
}

/// `minimal` takes two lanes for each, and all missing ones are in one message.
#[test]
fn all_missing_lanes_of_a_routing_are_told_at_once() {
    let place = Place::new("check-lanes");
    let class = |sl: u8| format!("[[traffic]]\nname = \"c{sl}\"\nsl = {sl}\nload = 0.1\n");
    let text = format!(
        "netloom = 1\n[topology]\nkind = \"dragonfly\"\nhosts = 2\nswitches = 4\nglobals = 2\n\
         [routing]\nkind = \"minimal\"\n[qos]\nvls = 3\n{}{}{}",
        class(0),
        class(1),
        class(2)
    );
    place.file("plain.toml", &text);
    let lanes = "minimal takes 2 for each of `qos.vls`: SL0 on VL0, VL3; SL1 on VL1, VL4; SL2 on \
        VL2, VL5";
    let seen = place.run(&["check", "plain.toml"]).with(0).stdout;
    assert!(seen.contains(lanes), "{seen}");
    let quanta =
        "qos.arbiter={ kind = \"deficit-round-robin\", quanta = [[0, 64], [1, 64], [2, 64]] }";
    let stderr = place
        .run(&["check", "plain.toml", "--set", quanta])
        .with(3)
        .stderr;
    let message = "VL3, VL4 and VL5 carry traffic but are not in `quanta`: they would never send";
    assert!(
        stderr.contains(message) && stderr.contains(lanes),
        "{stderr}"
    );
    assert_eq!(stderr.matches("E0410").count(), 1, "{stderr}");
    // Two faults at the same place are two messages, also at the points of a study.
    let both = quanta.replace("[2, 64]", "[9, 64]");
    let study = "[study.axes]\n\"traffic.0.load\" = [0.1, 0.2]\n";
    place.file("study.toml", &format!("{text}{study}"));
    let stderr = place
        .run(&["check", "study.toml", "--set", &both])
        .with(3)
        .stderr;
    assert!(stderr.contains("VL2, VL3, VL4 and VL5 carry"), "{stderr}");
    assert!(
        stderr.contains("VL9 does not exist: the port has 6 data lanes"),
        "{stderr}"
    );
    let explained = place.run(&["explain", "minimal"]).with(0).stdout;
    assert!(
        explained.contains("Takes 2 lanes for each of `qos.vls`"),
        "{explained}"
    );
}

//! Verdicts are the same in every output.

mod place;

use place::Place;
use serde_json::Value;

/// 2048 hosts that send large messages: after 20 us, much of the traffic is still in flight.
const LARGE_MESSAGES: &str = "netloom = 1\nname = \"large\"\n\
    [topology]\nkind = \"pgft\"\nchildren = [32, 64]\nparents = [1, 32]\n\
    [link]\nrate = \"400 Gbps\"\n\
    [switch]\ninput-buffer = \"256 KiB\"\n\
    [[traffic]]\nload = 0.2\nmessage = \"64 KiB\"\n\
    [measure]\nwarmup = \"4 us\"\n";

#[test]
fn messages_under_way_at_the_end_of_a_short_run_do_not_saturate_it() {
    let place = Place::new("verdict-short");
    place.file("large.toml", LARGE_MESSAGES);
    let run = |until: &str| {
        let arguments = ["run", "large.toml", "--until", until, "-o", until];
        place.run(&[&arguments[..], &["--format", "json"]].concat())
    };
    // 2.5 % of the offered traffic is missing at the end, and nothing waits in the NICs.
    let short = run("20us").json();
    let load = |name: &str| short["total"][name].as_f64().unwrap();
    assert!(load("delivered_load") < 0.98 * load("offered_load"));
    assert_ne!(short["status"], "saturated");
    assert_eq!(run("100us").with(0).json()["status"], "ok");
}

/// Eight hosts around a switch.
const SMALL: &str = "netloom = 1\nname = \"small\"\n\
    [topology]\nkind = \"single-switch\"\nports = 8\n\
    [[traffic]]\nname = \"bulk\"\nload = 0.3\n\
    [measure]\nlength = \"400 us\"\nwarmup = \"20 us\"\n";

/// Returns the status and exit code of a run with some keys changed.
fn ended(place: &Place, sets: &[&str]) -> (Value, Option<i32>) {
    let mut arguments = vec!["run", "small.toml", "--overwrite", "--format", "json"];
    sets.iter().for_each(|set| arguments.extend(["--set", set]));
    let ended = place.run(&arguments);
    (ended.json()["status"].clone(), ended.code)
}

#[test]
fn what_grows_is_saturated_and_what_is_steady_is_not() {
    let place = Place::new("verdict-growth");
    place.file("small.toml", SMALL);
    assert_eq!(ended(&place, &[]), ("ok".into(), Some(0)));
    let hot = "traffic.pattern={ kind = \"hot-spot\", destination = 0, sources = \"all\" }";
    // Seven senders of 0.3 need more than two links; seven of 0.1 need less than one.
    assert_eq!(ended(&place, &[hot]), ("saturated".into(), Some(0)));
    let (calm, _) = ended(&place, &[hot, "traffic.load=0.1"]);
    assert_ne!(calm, "saturated");
}

#[test]
fn a_list_of_messages_that_ends_is_ok_whatever_its_load_does() {
    let place = Place::new("verdict-drift");
    // Every NIC sends 2 KiB to its neighbour at a rising rate: the gap shrinks from 4 us to 1 us.
    let mut list = String::from("time,source,destination,bytes\n");
    for nic in 0..8 {
        let mut now = 0.0;
        while now < 390.0 {
            let to = (nic + 1) % 8;
            list.push_str(&format!("{now:.3} us,{nic},{to},2 KiB\n"));
            now += 4.0 - 3.0 * now / 400.0;
        }
    }
    place.file("rising.csv", &list);
    let listed = SMALL.replace("load = 0.3", "flows = \"rising.csv\"");
    place.file("small.toml", &listed);
    // A list that ends is not saturated.
    assert_eq!(ended(&place, &[]), ("ok".into(), Some(0)));
}

#[test]
fn study_compare_report_and_plot_count_the_same_points_as_saturated() {
    let place = Place::new("verdict-agree");
    // Short runs near saturation, where seeds differ and one class saturates before the other.
    place.file(
        "study.toml",
        "netloom = 1\nname = \"study\"\n\
         [topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 3\n\
         [qos]\nvls = 2\narbiter = { kind = \"strict-priority\" }\n\
         [[traffic]]\nname = \"bulk\"\nload = 0.1\n\
         [[traffic]]\nname = \"control\"\nsl = 1\nload = 0.1\n\
         [measure]\nlength = \"100 us\"\nwarmup = \"10 us\"\ninterval = 0.5\nrepeat = 3\n\
         [study.axes]\n\"traffic.0.load\" = { from = 0.6, to = 0.8, step = 0.02 }\n",
    );
    let arguments = ["run", "study.toml", "--progress", "none"];
    let header = place.run(&arguments).stdout;
    let points = header.lines().next().unwrap().to_owned();
    let csv = place.read("study.out/points.csv");
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|own| *own == name).unwrap();
    let count = |verdict: &str| {
        let rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let is_it =
            |row: &Vec<&str>| row[column("scope")] == "total" && row[column("verdict")] == verdict;
        rows.filter(is_it).count()
    };
    let n = count("saturated");
    assert!((1..11).contains(&n), "some are, some are not: {csv}");
    assert!(points.contains(&format!("{n} saturated")), "{points}");
    let compared = place.run(&["compare", "study.out", "study.out"]).with(0);
    let words = format!("is saturated at {n} of 11 points: ");
    assert_eq!(
        compared.stderr.matches(&words).count(),
        2,
        "{}",
        compared.stderr
    );
    place.run(&["report", "study.out"]).with(0);
    let page = place.read("study.out/report.html");
    let tile = format!("▲ Saturated</dt><dd>{n}<small>");
    assert!(page.contains(&tile), "{tile}");
    place.run(&["plot", "study.out", "--format", "csv"]).with(0);
    let figure = place.read("study.out/figures/throughput.csv");
    assert_eq!(figure.matches(",saturated,").count(), n, "{figure}");
    for verdict in [
        "ok",
        "not-converged",
        "not-stationary",
        "too-short",
        "unfinished",
    ] {
        let n = count(verdict);
        assert_eq!(
            points.contains(&format!("{n} {verdict}")),
            n > 0,
            "{points}"
        );
    }
}

#[test]
fn verdicts_are_coloured_on_request_only() {
    let place = Place::new("verdict-colour");
    place.file("small.toml", SMALL);
    let hot = "traffic.pattern={ kind = \"hot-spot\", destination = 0, sources = \"all\" }";
    let arguments = ["run", "small.toml", "--overwrite", "--set", hot];
    let plain = place.run(&arguments).with(0).stdout;
    assert!(plain.contains("saturated") && !plain.contains('\u{1b}'));
    let colour = [&arguments[..], &["--color", "always"]].concat();
    let coloured = place.run(&colour).with(0).stdout;
    assert!(
        coloured.contains("\u{1b}[31msaturated\u{1b}[0m"),
        "{coloured}"
    );
}

/// Returns the cells of every line of a CSV table in these columns.
fn cells(csv: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let at: Vec<usize> = columns
        .iter()
        .map(|name| {
            head.iter()
                .position(|own| own == name)
                .unwrap_or_else(|| panic!("{name} in {head:?}"))
        })
        .collect();
    lines
        .map(|line| at.iter().map(|&at| line[at].to_owned()).collect())
        .collect()
}

#[test]
fn an_idle_class_does_not_decide_and_a_run_of_idle_ones_is_too_short() {
    let place = Place::new("verdict-idle");
    let two = SMALL.replace(
        "[measure]",
        "[[traffic]]\nname = \"quiet\"\nload = 0.0\nsl = 1\n[measure]",
    );
    place.file("small.toml", &two);
    let run = |sets: &[&str], code| {
        let arguments = ["run", "small.toml", "--overwrite"];
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let arguments: Vec<&str> = arguments.into_iter().chain(sets).collect();
        let text = place.run(&arguments).with(code).stdout;
        let json = [&arguments[..], &["--format", "json"]].concat();
        (text, place.run(&json).with(code).json())
    };
    let (text, json) = run(&[], 0);
    assert_eq!(json["status"], "ok");
    assert_eq!(json["classes"][0]["verdict"], "ok");
    assert_eq!(json["classes"][1]["verdict"], "idle");
    let quiet = text.lines().find(|line| line.starts_with("  quiet "));
    assert!(quiet.is_some_and(|line| line.ends_with("  idle")), "{text}");
    let (_, json) = run(&["traffic.0.load=0.0"], 5);
    assert_eq!(json["status"], "too-short");
    assert_eq!(json["total"]["verdict"], "too-short");
    assert_eq!(json["classes"][0]["verdict"], "idle");
}

/// An all-reduce of eight ranks at one switch, with default settings.
const RING: &str = "netloom = 1\nname = \"ring\"\n\
    [topology]\nkind = \"single-switch\"\nports = 8\n\
    [[traffic]]\nname = \"gradients\"\n\
    workload = { kind = \"all-reduce\", bytes = \"128 KiB\" }\n";

#[test]
fn a_job_that_ends_is_ok_and_its_completion_time_is_everywhere() {
    let place = Place::new("verdict-job");
    place.file("ring.toml", RING);
    let text = place.run(&["run", "ring.toml"]).with(0).stdout;
    assert!(text.starts_with("ring: ok  ("), "{text}");
    assert!(text.contains("simulated 200 us, no warm-up"), "{text}");
    let json = place
        .run(&["run", "ring.toml", "--overwrite", "--format", "json"])
        .with(0)
        .json();
    let job = &json["jobs"][0];
    assert_eq!((&job["finished"], &job["ranks"]), (&true.into(), &8.into()));
    // 14 steps of 8 chunks each.
    assert_eq!(job["messages"], 14 * 8);
    assert_eq!(job["delivered_messages"], 14 * 8);
    let gradients = &json["classes"][0];
    let took = gradients["completion_time_ns"].as_f64().unwrap();
    assert_eq!(gradients["last_delivery_ns"], took);
    assert_eq!(json["total"]["completion_time_ns"], took);
    // 14 chunks of 16 KiB at 100 Gbps take 18.4 us.
    assert!((18.4e3..25e3).contains(&took), "{took}");
    // Until it ends, each NIC sends nearly all the time.
    let load = gradients["delivered_load"].as_f64().unwrap();
    assert!((0.75..1.0).contains(&load), "{load}");
    let shown = format!("{:.1} us", took / 1e3);
    let line = text.lines().find(|line| line.starts_with("  gradients "));
    assert!(line.is_some_and(|line| line.ends_with(&shown)), "{text}");
    // A warm-up in the file excludes messages, but does not shorten the completion time.
    let warm = [
        "run",
        "ring.toml",
        "--set",
        "measure.warmup=\"10 us\"",
        "-o",
        "warm.out",
    ];
    let warm = place
        .run(&[&warm[..], &["--format", "json"]].concat())
        .with(0)
        .json();
    assert_eq!(warm["total"]["completion_time_ns"], took);
    assert!(warm["total"]["delivered_messages"].as_u64().unwrap() < 14 * 8);
    // Twice the bytes take longer. `compare`, reports and figures show it by default.
    let more = [
        "run",
        "ring.toml",
        "--set",
        "traffic.workload.bytes=\"256 KiB\"",
        "-o",
        "more.out",
    ];
    place.run(&more).with(0);
    let compared = place
        .run(&["compare", "ring.out", "more.out"])
        .with(0)
        .stdout;
    let line = compared
        .lines()
        .find(|line| line.contains("gradients  completion_time_ns"));
    assert!(
        line.is_some_and(|line| line.ends_with("  higher")),
        "{compared}"
    );
    place.run(&["report", "ring.out"]).with(0);
    assert!(place.read("ring.out/report.html").contains("Completion ("));
    place.file(
        "sizes.toml",
        &format!("{RING}[study.axes]\n\"traffic.workload.bytes\" = [\"64 KiB\", \"128 KiB\"]\n"),
    );
    let table = place
        .run(&["run", "sizes.toml", "--progress", "none", "-o", "sizes.out"])
        .with(0)
        .stdout;
    assert!(
        table.contains("completion") && table.contains(&shown),
        "{table}"
    );
    let plot = [
        "plot",
        "ring.out",
        "--y",
        "completion_time",
        "--format",
        "csv",
    ];
    place.run(&plot).with(0);
    let csv = place.run(&[
        "compare",
        "ring.out",
        "ring.out",
        "--metric",
        "latency_p99_ns",
        "--all",
    ]);
    assert!(!csv.with(0).stdout.contains("completion_time_ns"));
}

#[test]
fn a_job_that_ends_within_a_warm_up_that_the_file_sets_is_idle() {
    let place = Place::new("verdict-within");
    place.file("ring.toml", RING);
    let arguments = [
        "run",
        "ring.toml",
        "--set",
        "measure.warmup=\"100 us\"",
        "--format",
        "json",
    ];
    let ended = place.run(&arguments).with(5);
    let json = ended.json();
    assert_eq!(json["status"], "too-short");
    assert_eq!(json["classes"][0]["verdict"], "idle");
    assert!(json["classes"][0]["completion_time_ns"].is_number());
    let message = "nothing was sent or received after the warm-up of 100 us with seed 1";
    assert!(ended.stderr.contains(message), "{}", ended.stderr);
}

#[test]
fn a_list_of_one_message_is_ok() {
    let place = Place::new("verdict-list");
    place.file("one.csv", "time,source,destination,bytes\n5 us,0,1,4 KiB\n");
    let listed = RING.replace(
        "workload = { kind = \"all-reduce\", bytes = \"128 KiB\" }",
        "flows = \"one.csv\"",
    );
    place.file("one.toml", &listed);
    let json = place
        .run(&["run", "one.toml", "--format", "json"])
        .with(0)
        .json();
    assert_eq!(
        (&json["status"], &json["warmup_ns"]),
        (&"ok".into(), &0.0.into())
    );
    let class = &json["classes"][0];
    // Measured from its creation, not from the start of the run.
    assert_eq!(class["completion_time_ns"], class["latency_max_ns"]);
    // Messages after the end of the run are not sent.
    let short = ["run", "one.toml", "--until", "4 us", "-o", "short.out"];
    let short = place.run(&short).with(5);
    assert!(
        short
            .stdout
            .contains("gradients: 0 of 1 messages delivered\n"),
        "{}",
        short.stdout
    );
}

#[test]
fn a_job_that_does_not_finish_says_who_waits_for_whom() {
    let place = Place::new("verdict-unfinished");
    place.file("ring.toml", RING);
    let run = |more: &[&str]| {
        let arguments = ["run", "ring.toml", "--overwrite", "--until", "10 us"];
        place.run(&[&arguments[..], more].concat()).with(5)
    };
    let text = run(&[]).stdout;
    assert!(text.starts_with("ring: unfinished  ("), "{text}");
    let json = run(&["--format", "json"]).json();
    assert_eq!(json["status"], "unfinished");
    assert_eq!(json["total"]["completion_time_ns"], Value::Null);
    let job = &json["jobs"][0];
    assert_eq!(job["finished"], false);
    let waiting = job["waiting"].as_array().unwrap();
    // In a ring each rank waits for the one before it.
    assert!(waiting.len() > 5, "{waiting:?}");
    for wait in waiting {
        let rank = wait["rank"].as_u64().unwrap();
        assert_eq!(wait["waits_for"].as_u64(), Some((rank + 7) % 8));
    }
    let done = job["delivered_messages"].as_u64().unwrap();
    let (n, more) = (waiting.len(), waiting.len() - 5);
    let message = format!("  gradients: {done} of 112 messages delivered, {n} of 8 ranks wait\n");
    assert!(text.contains(&message), "{text}");
    assert_eq!(text.matches(" waits for rank ").count(), 5, "{text}");
    assert!(text.contains(&format!("    and {more} more ")), "{text}");
    let divided = run(&["--format", "json", "--partitions", "1", "--reference"]).json();
    assert_eq!(divided["jobs"], json["jobs"]);
}

#[test]
fn one_unfinished_seed_makes_the_point_unfinished() {
    let place = Place::new("verdict-seeds");
    let drawn = RING.replace(
        "[[traffic]]\n",
        "[[traffic]]\ncompute = \"1 us\"\ncompute-law = \"exponential\"\n",
    );
    place.file("ring.toml", &format!("{drawn}[measure]\nrepeat = 3\n"));
    place.run(&["run", "ring.toml"]).with(0);
    let lines = cells(
        &place.read("ring.out/results.csv"),
        &["scope", "completion_time_ns"],
    );
    let times = lines.iter().filter(|line| line[0] == "total");
    let mut times: Vec<f64> = times.map(|line| line[1].parse().unwrap()).collect();
    times.sort_by(f64::total_cmp);
    assert!(times[1] + 2.0 < times[2], "{times:?}");
    // Two of three are done by then.
    let until = format!("{} ns", times[1].ceil() + 1.0);
    let short = ["run", "ring.toml", "--until", &until, "-o", "short.out"];
    let ended = place
        .run(&[&short[..], &["--format", "json"]].concat())
        .with(5)
        .json();
    assert_eq!(ended["over_seeds"]["status"], "unfinished");
    let study = format!(
        "{drawn}[measure]\nrepeat = 3\nlength = \"{until}\"\n\
         [study.axes]\n\"measure.epochs\" = [200]\n"
    );
    place.file("study.toml", &study);
    let table = place
        .run(&["run", "study.toml", "--progress", "none", "-o", "s.out"])
        .with(5)
        .stdout;
    assert!(table.contains("1 points (1 unfinished), 3 runs"), "{table}");
    let points = cells(
        &place.read("s.out/points.csv"),
        &["scope", "verdict", "unsure_seeds"],
    );
    assert_eq!(points[0], ["total", "unfinished", "1"]);
}

/// A job next to open-loop traffic, on two switches.
const MIXED: &str = "netloom = 1\nname = \"mixed\"\n\
    [topology]\nkind = \"pgft\"\nchildren = [8, 2]\nparents = [1, 4]\n\
    [[traffic]]\nname = \"gradients\"\nsl = 0\n\
    workload = { kind = \"all-reduce\", bytes = \"64 KiB\", nics = \"0-11\" }\n\
    [[traffic]]\nname = \"checkpoint\"\nsl = 1\nload = 0.2\nmessage = \"4 KiB\"\n\
    sources = \"0-11\"\ndestinations = \"12-15\"\npattern = \"incast\"\n\
    [measure]\nlength = \"600 us\"\n";

#[test]
fn a_job_is_measured_whole_next_to_traffic_with_a_warm_up() {
    let place = Place::new("verdict-mixed");
    place.file("mixed.toml", MIXED);
    let run = |sets: &[&str]| {
        let arguments = ["run", "mixed.toml", "--overwrite", "--format", "json"];
        place.run(&[&arguments[..], sets].concat())
    };
    let json = run(&["--set", "measure.warmup=\"300 us\""]).json();
    let [job, open] = [0, 1].map(|at| &json["classes"][at]);
    assert!((300e3..304e3).contains(&json["warmup_ns"].as_f64().unwrap()));
    // The job ended before that, and all of it counts.
    assert!(job["last_delivery_ns"].as_f64().unwrap() < 300e3);
    assert_eq!(
        (&job["verdict"], &job["delivered_messages"]),
        (&"ok".into(), &(22 * 12).into())
    );
    assert_eq!(job["completion_time_ns"], job["last_delivery_ns"]);
    assert_eq!(json["total"]["completion_time_ns"], Value::Null);
    let row = &json["rows"][0];
    assert_eq!(row["delivered_messages"], job["delivered_messages"]);
    // The other class is counted only after the warm-up, for half of the time.
    let all = run(&["--set", "measure.warmup=\"0 us\""]).json();
    let messages = |json: &Value| json["classes"][1]["delivered_messages"].as_f64().unwrap();
    let part = messages(&json) / messages(&all);
    assert!((0.4..0.6).contains(&part), "{part}");
    assert_eq!(job, &all["classes"][0]);
    assert_eq!(open["completion_time_ns"], Value::Null);
}

#[test]
fn the_total_is_what_its_worst_class_is() {
    let place = Place::new("verdict-total");
    place.file("mixed.toml", MIXED);
    for until in ["5us", "20us", "40us", "80us"] {
        let arguments = [
            "run",
            "mixed.toml",
            "--overwrite",
            "--format",
            "json",
            "--until",
            until,
        ];
        let ended = place.run(&arguments);
        let json = ended.json();
        let order = [
            "ok",
            "not-converged",
            "not-stationary",
            "too-short",
            "saturated",
            "unfinished",
        ];
        let classes = json["classes"].as_array().unwrap().iter();
        let rank = |verdict: &Value| order.iter().position(|word| verdict == word).unwrap();
        let worst = classes.map(|class| rank(&class["verdict"])).max().unwrap();
        assert_eq!(json["total"]["verdict"], order[worst], "{until}");
        assert_eq!(json["status"], order[worst], "{until}");
        let is_good = ["ok", "saturated"].contains(&order[worst]);
        assert_eq!(ended.code, Some(if is_good { 0 } else { 5 }), "{until}");
        if until == "5us" {
            assert_eq!(json["status"], "unfinished");
        }
    }
}

#[test]
fn summaries_count_points_that_are_ok_and_shards_end_well_when_their_runs_are_stored() {
    let place = Place::new("verdict-summaries");
    // Three epochs at 0.2 and 0.4 are too few; 0.1 is measured completely.
    place.file(
        "study.toml",
        &format!(
            "{SMALL}interval = 0.5\n[study.axes]\n\"traffic.load\" = [0.1, 0.2, 0.4]\n\
             [[study.variant]]\nname = \"long\"\nset = {{}}\n\
             [[study.variant]]\nname = \"short\"\nset = {{ \"measure.epochs\" = 3 }}\n"
        ),
    );
    let whole = place
        .run(&["run", "study.toml", "--progress", "none", "-o", "study.out"])
        .with(5)
        .stdout;
    let head = whole
        .lines()
        .find(|line| line.contains("steady up to traffic.load"));
    assert!(head.is_some(), "{whole}");
    let line = |name: &str| {
        let after = whole.split("steady up to").nth(1).unwrap();
        let line = after
            .lines()
            .find(|line| line.trim_start().starts_with(name));
        line.unwrap_or_else(|| panic!("{name} in {whole}"))
            .split_whitespace()
            .nth(1)
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        (line("long").as_str(), line("short").as_str()),
        ("0.4", "-")
    );
    place.run(&["report", "study.out"]).with(0);
    let page = place.read("study.out/report.html");
    let shown = page.split("Steady up to").nth(1).unwrap();
    assert!(shown.contains("<td class=\"n\">none</td>"), "{shown}");
    for shard in ["1/2", "2/2"] {
        let arguments = [
            "run",
            "study.toml",
            "-o",
            "parts.out",
            "--progress",
            "none",
            "--shard",
            shard,
        ];
        place.run(&arguments).with(0);
    }
    let merged = place.run(&["study", "merge", "parts.out"]).with(5).stdout;
    assert_eq!(merged, whole);
    // With one bad seed of three, the point is still good.
    let resumed = ["run", "parts.out", "--progress", "none", "--shard", "1/2"];
    place.run(&resumed).with(0);
    place
        .run(&["run", "parts.out", "--progress", "none"])
        .with(5);
}

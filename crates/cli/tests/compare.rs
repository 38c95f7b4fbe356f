//! `netloom compare` through the binary.

mod place;

use place::{Ended, Place};
use serde_json::Value;

/// Eight hosts and two classes, three seeds.
const SMALL: &str = "netloom = 1\nname = \"small\"\n\
    [topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 3\n\
    [[traffic]]\nname = \"bulk\"\nload = 0.2\n\
    [[traffic]]\nname = \"probe\"\nload = 0.05\n\
    [measure]\nlength = \"300 us\"\nrepeat = 3\n";

/// Returns a place with the results `a` of a run.
fn with_a(name: &str) -> Place {
    let place = Place::new(name);
    place.file("small.toml", SMALL);
    run(&place, "a", &[]);
    place
}

/// Runs the experiment with some keys changed. The precision does not matter here.
fn run(place: &Place, folder: &str, sets: &[&str]) {
    let mut arguments = vec!["run", "small.toml", "-o", folder];
    sets.iter().for_each(|set| arguments.extend(["--set", set]));
    let ended = place.run(&arguments);
    assert!(matches!(ended.code, Some(0 | 5)), "{}", ended.stderr);
}

fn compare(place: &Place, arguments: &[&str]) -> Ended {
    place.run(&[&["compare"], arguments].concat())
}

/// Returns the line of a metric for a class, or for the total.
fn line<'a>(json: &'a Value, class: Option<&str>, metric: &str) -> &'a Value {
    let lines = json["lines"].as_array().unwrap();
    lines
        .iter()
        .find(|line| line["class"].as_str() == class && line["metric"] == metric)
        .unwrap_or_else(|| panic!("{class:?} {metric}: {json}"))
}

#[test]
fn more_load_is_seen_in_its_class_and_breaks_limits() {
    let place = with_a("compare-load");
    run(&place, "b", &["traffic.0.load=0.5"]);
    let json = compare(&place, &["a", "b", "--format", "json"])
        .with(0)
        .json();
    assert_eq!(json["seeds"], serde_json::json!([1, 2, 3]));
    let load = line(&json, Some("bulk"), "delivered_load");
    // From 0.2 to 0.5, by 150 %.
    let number = |key: &str| load[key].as_f64().unwrap();
    assert!((number("mean_a") - 0.2).abs() < 0.02, "{load}");
    assert!((number("difference") - 0.3).abs() < 0.03, "{load}");
    assert!((number("relative") - 1.5).abs() < 0.2, "{load}");
    assert!(number("relative_low") < number("relative"));
    assert!(number("relative") < number("relative_high"));
    let verdict = load["verdict"].as_str().unwrap();
    assert_eq!(verdict, "higher");
    // The other class has the same seeds, hence the same messages.
    let probe = line(&json, Some("probe"), "delivered_load");
    assert!(probe["relative"].as_f64().unwrap().abs() < 0.02, "{probe}");
    // The document has the values of the stored results.
    let stored: Value = serde_json::from_str(&place.read("a/results.json")).unwrap();
    let runs = std::iter::once(&stored).chain(stored["repeats"].as_array().unwrap());
    let p99s = runs.map(|run| run["total"]["latency_p99_ns"].as_f64().unwrap());
    let mean = p99s.sum::<f64>() / 3.0;
    let total = line(&json, None, "latency_p99_ns");
    assert!((total["mean_a"].as_f64().unwrap() - mean).abs() < 1e-6);

    // The exit code is the same if the reader closes stdout first.
    let limit = "bulk:latency_mean_ns > +5%";
    let mut child = place
        .command(&["compare", "a", "b", "--fail-if", limit])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    Ended::new(child.wait_with_output().unwrap()).with(6);

    let limit = |text: &str| compare(&place, &["a", "b", "--fail-if", text]);
    let broken = limit("bulk:latency_mean_ns > +5%").with(6);
    assert!(
        broken
            .stderr
            .contains("error: latency_mean_ns of bulk is beyond \"bulk:latency_mean_ns > +5%\""),
        "{}",
        broken.stderr
    );
    assert!(!broken.stderr.contains("of total"), "{}", broken.stderr);
    assert!(broken.stdout.contains("broken by bulk\n"));
    let everywhere = limit("latency_mean_ns > +5%").with(6);
    assert!(everywhere.stderr.contains("of total is beyond"));
    let satisfied = limit("latency_mean_ns > +100000%").with(0);
    assert!(
        satisfied.stdout.contains("> +100000%: kept"),
        "{}",
        satisfied.stdout
    );
    limit("delivered_load < -0.01").with(0);
    // In the other direction, less is delivered.
    compare(&place, &["b", "a", "--fail-if", "delivered_load < -0.01"]).with(6);
    // Short names are those of `plot --y`.
    let of = |name: &str| {
        compare(&place, &["a", "b", "--metric", name])
            .with(0)
            .stdout
    };
    assert_eq!(of("p99"), of("latency_p99_ns"));
    compare(&place, &["b", "a", "--fail-if", "delivered < -0.01"]).with(6);
    // A limit adds its metric.
    let other = limit("fairness_jain < -0.9").with(0);
    assert!(other.stdout.contains("fairness_jain"));
}

#[test]
fn a_folder_does_not_differ_from_itself() {
    let place = with_a("compare-same");
    let limit = [
        "--fail-if",
        "latency_p99_ns > 0",
        "--fail-if",
        "delivered_load < 0",
    ];
    let same = compare(&place, &[&["a", "a", "--all"][..], &limit].concat()).with(0);
    assert_eq!(
        same.stdout.matches("equal for all 3 seeds").count(),
        3 * 3,
        "{}",
        same.stdout
    );
    let table = compare(&place, &["a", "a", "--all", "--format", "markdown"]).with(0);
    let rows: Vec<&str> = table
        .stdout
        .lines()
        .filter(|l| l.starts_with('|'))
        .collect();
    assert_eq!(rows.len(), 2 + 3 * 3, "{}", table.stdout);
    let n_columns = |row: &str| row.matches('|').count();
    assert!(rows.iter().all(|row| n_columns(row) == n_columns(rows[0])));
}

#[test]
fn what_cannot_be_compared_is_said_at_once() {
    let place = with_a("compare-unlike");
    run(
        &place,
        "late",
        &[
            "measure.seed=3",
            "traffic.1.name=\"control\"",
            "traffic.0.load=0.3",
        ],
    );
    let one = compare(&place, &["a", "late"]).with(0);
    for part in ["one common seed, so no intervals", "  higher\n"] {
        assert!(one.stdout.contains(part), "{part}: {}", one.stdout);
    }
    assert!(!one.stdout.contains("probe") && !one.stdout.contains("control"));
    let json = compare(&place, &["a", "late", "--format", "json"]).json();
    let total = line(&json, None, "delivered_load");
    assert_eq!(
        (&total["seeds"], &total["half_width"]),
        (&1.into(), &Value::Null)
    );
    // Seed 3 is the last of A and the first of B.
    let stored = |file: &str| serde_json::from_str::<Value>(&place.read(file)).unwrap();
    let last = &stored("a/results.json")["repeats"][1];
    assert_eq!(
        (&last["seed"], &json["seeds"]),
        (&3.into(), &serde_json::json!([3]))
    );
    assert_eq!(total["mean_a"], last["total"]["delivered_load"]);
    let first = &stored("late/results.json");
    assert_eq!(total["mean_b"], first["total"]["delivered_load"]);
    for part in [
        "only A (a) has the class probe: not compared",
        "only B (late) has the class control: not compared",
        "only A (a) has the seeds 1, 2: skipped",
        "only B (late) has the seeds 4, 5: skipped",
    ] {
        assert!(one.stderr.contains(part), "{part}: {}", one.stderr);
    }
    let wrong_class = ["a", "late", "--fail-if", "probe:latency_p99_ns > 0"];
    let error = compare(&place, &wrong_class).with(2).stderr;
    assert!(
        error.contains("there is no common class \"probe\""),
        "{error}"
    );

    run(&place, "apart", &["measure.seed=7"]);
    let text = place.read("apart/results.json");
    let version = netloom_results::RESULTS_VERSION;
    let own = format!("\"results_version\": {version}");
    let older = text.replace(&own, "\"results_version\": 0");
    assert_ne!(text, older);
    place.file("apart/results.json", &older);
    std::fs::remove_file(place.0.join("apart/SHA256SUMS")).unwrap();
    let error = compare(&place, &["a", "apart"]).with(1).stderr;
    assert!(
        error.contains("no common seed: a has 1, 2, 3, apart has 7, 8, 9"),
        "{error}"
    );
    assert!(
        error.contains(&format!("of version {version}, apart of version 0")),
        "{error}"
    );
    let error = compare(&place, &["nowhere", "small.toml"]).with(1).stderr;
    assert!(error.contains("error: nowhere has no results"), "{error}");
    assert!(error.contains("error: small.toml is a file"), "{error}");
}

#[test]
fn saturated_and_rough_runs_are_marked() {
    let place = with_a("compare-marks");
    let hot = "traffic.0.pattern={ kind = \"hot-spot\", destination = 0 }";
    run(&place, "full", &["traffic.0.load=1.0", hot]);
    run(&place, "rough", &["measure.length=\"5 us\""]);
    let error = compare(&place, &["full", "rough"]).with(0).stderr;
    for part in [
        "warning: A (full) is saturated with seeds 1, 2, 3: ",
        "warning: B (rough) is not converged with seeds 1, 2, 3: ",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let markdown = compare(&place, &["full", "rough", "--format", "markdown"]);
    assert!(markdown.stdout.contains("- warning: A (full) is saturated"));
}

#[test]
fn a_limit_without_values_does_not_pass_for_kept() {
    let place = with_a("compare-silent");
    run(&place, "silent", &["traffic.1.load=0.0000001"]);
    let limit = [
        "a",
        "silent",
        "--all",
        "--fail-if",
        "probe:latency_p99_ns > +5%",
    ];
    let ended = compare(&place, &limit).with(1);
    assert!(
        ended.stderr.contains("cannot judge --fail-if"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("no seed with a value in both"));
    // Only lines with values are judged.
    let limit = ["a", "silent", "--fail-if", "latency_p99_ns > +500%"];
    let ended = compare(&place, &limit).with(0);
    assert!(
        ended.stdout.contains("kept; no values for probe"),
        "{}",
        ended.stdout
    );
}

#[test]
fn all_unknown_metrics_are_reported_with_the_nearest() {
    let place = Place::new("compare-names");
    let arguments = [
        "a",
        "b",
        "--metric",
        "latncy_p99_ns",
        "--fail-if",
        "deliverd_load < 0",
    ];
    let error = compare(&place, &arguments).with(2).stderr;
    assert!(
        error.contains("there is no metric \"latncy_p99_ns\"; did you mean \"latency_p99_ns\"?"),
        "{error}"
    );
    assert!(
        error.contains("there is no metric \"deliverd_load\"; did you mean \"delivered_load\"?"),
        "{error}"
    );
}

/// Two axes and six seeds, enough for differences that remain after a correction for many
/// comparisons.
const STUDY: &str = "netloom = 1\nname = \"study\"\n\
    [topology]\nkind = \"single-switch\"\nports = 8\n\
    [[traffic]]\nname = \"bulk\"\nload = 0.5\n\
    [[traffic]]\nname = \"control\"\nsl = 1\nload = 0.1\n\
    [qos]\nvls = 2\n\
    [measure]\nlength = \"100 us\"\nwarmup = \"4 us\"\ninterval = 0.9\nrepeat = 6\n\
    [study.axes]\n\"qos.arbiter\" = [\"round-robin\", \"oldest-first\"]\n\
    \"traffic.0.load\" = [0.2, 0.4]\n";

/// Runs the study with some keys changed.
fn study(place: &Place, folder: &str, sets: &[&str]) {
    place.file("study.toml", STUDY);
    let mut arguments = vec!["run", "study.toml", "-o", folder, "--progress", "none"];
    sets.iter().for_each(|set| arguments.extend(["--set", set]));
    let ended = place.run(&arguments);
    assert!(matches!(ended.code, Some(0 | 5)), "{}", ended.stderr);
}

const ONE_ARBITER: &str = "study.axes.\"qos.arbiter\"=[\"round-robin\"]";

#[test]
fn studies_are_compared_point_by_point() {
    let place = Place::new("compare-studies");
    study(&place, "a", &[]);
    study(&place, "b", &["traffic.1.load=0.2"]);
    let json = compare(&place, &["a", "b", "--format", "json"])
        .with(0)
        .json();
    assert_eq!(json["overall"]["points"], 4);
    assert_eq!(
        json["axes"],
        serde_json::json!(["qos.arbiter", "traffic.0.load"])
    );
    let lines = json["lines"].as_array().unwrap();
    // Points, two classes and the total, metrics.
    assert_eq!(lines.len(), 4 * 3 * 3);
    assert_eq!(json["overall"]["comparisons"], 36);
    let at = |arbiter: &str, load: f64, class: Option<&str>, metric: &str| {
        let is_it = |line: &&Value| {
            line["point"]["qos.arbiter"] == arbiter
                && line["point"]["traffic.0.load"] == load
                && line["class"].as_str() == class
                && line["metric"] == metric
        };
        lines.iter().find(is_it).unwrap().clone()
    };
    for arbiter in ["round-robin", "oldest-first"] {
        for load in [0.2, 0.4] {
            let control = at(arbiter, load, Some("control"), "delivered_load");
            assert!((control["relative"].as_f64().unwrap() - 1.0).abs() < 0.2);
            assert!(control["by_chance"].as_f64().unwrap() < 0.05, "{control}");
            let bulk = at(arbiter, load, Some("bulk"), "delivered_load");
            assert!((bulk["mean_a"].as_f64().unwrap() - load).abs() < 0.03);
        }
    }
    // The numbers are those of the merged table.
    let results = place.read("b/results.csv");
    let head: Vec<&str> = results.lines().next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|own| *own == name).unwrap();
    let rows = results
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let p99s: Vec<f64> = rows
        .filter(|row| row[column("point")] == "3" && row[column("scope")] == "total")
        .map(|row| row[column("latency_p99_ns")].parse().unwrap())
        .collect();
    assert_eq!(p99s.len(), 6);
    let total = at("oldest-first", 0.4, None, "latency_p99_ns");
    let mean = p99s.iter().sum::<f64>() / 6.0;
    assert!((total["mean_b"].as_f64().unwrap() - mean).abs() < 1e-6);

    let people = compare(&place, &["a", "b"]).with(0).stdout;
    for part in [
        "B = b against A = a: 4 common points, 6 common seeds, 95 % intervals",
        "(Holm's correction)",
        "delivered_load of control: better (higher) at 4 (",
        "of 4 common points\n",
        "largest change after Holm's correction: ",
        "saturation along traffic.0.load (qos.arbiter = round-robin): A steady up to 0.4, B steady \
         up to 0.4; \
         saturated in neither",
    ] {
        assert!(people.contains(part), "{part}:\n{people}");
    }
    // In a narrow terminal, points are headings and the table is not divided.
    let mut narrow = place.command(&["compare", "a", "b"]);
    let narrow = narrow.env("COLUMNS", "80").output().unwrap();
    let narrow = Ended::new(narrow).with(0).stdout;
    assert_eq!(narrow.matches("\n  class ").count(), 1, "{narrow}");
    for heading in [
        "\n  qos.arbiter = round-robin, traffic.0.load = 0.2\n",
        "\n  qos.arbiter = oldest-first, traffic.0.load = 0.4\n",
    ] {
        assert!(narrow.contains(heading), "{heading}:\n{narrow}");
    }
    assert!(narrow.lines().all(|line| line.chars().count() <= 80));
    let mut narrow = place.command(&["study", "merge", "a"]);
    let narrow = narrow.env("COLUMNS", "72").output().unwrap();
    let narrow = Ended::new(narrow).with(0).stdout;
    for arbiter in ["round-robin", "oldest-first"] {
        let heading = format!("\n  qos.arbiter = {arbiter}\n  0.2 ");
        assert!(narrow.contains(&heading), "{heading}:\n{narrow}");
    }
    let table = compare(&place, &["a", "b", "--all", "--format", "markdown"]).with(0);
    let rows: Vec<&str> = table
        .stdout
        .lines()
        .filter(|line| line.starts_with('|'))
        .collect();
    assert_eq!(rows.len(), 2 + 36, "{}", table.stdout);
    let n_columns = |row: &str| row.matches('|').count();
    assert!(rows.iter().all(|row| n_columns(row) == n_columns(rows[0])));

    let limit = ["a", "b", "--fail-if", "control:delivered_load > +5%"];
    let broken = compare(&place, &limit).with(6);
    assert_eq!(
        broken.stderr.matches("error: ").count(),
        4,
        "{}",
        broken.stderr
    );
    let first =
        "delivered_load of control at qos.arbiter = round-robin, traffic.0.load = 0.2 is beyond";
    assert!(broken.stderr.contains(first), "{}", broken.stderr);
    compare(
        &place,
        &["a", "b", "--fail-if", "bulk:delivered_load < -50%"],
    )
    .with(0);
    // A study does not differ from itself.
    let same = compare(&place, &["a", "a"]).with(0).stdout;
    assert!(
        same.contains("36 of 36 lines show no difference; --all shows them"),
        "{same}"
    );
    let same = compare(&place, &["a", "a", "--all"]).with(0).stdout;
    assert_eq!(same.matches("equal for all 6 seeds").count(), 36, "{same}");
    assert!(
        same.contains("0 of 36 differences are significant"),
        "{same}"
    );
}

#[test]
fn studies_with_other_axes_are_paired_where_that_is_unique() {
    let place = Place::new("compare-axes");
    study(&place, "a", &[]);
    study(
        &place,
        "one",
        &[ONE_ARBITER, "study.axes.\"traffic.0.load\"=[0.3, 0.4]"],
    );
    let without = STUDY.replace(
        "\"qos.arbiter\" = [\"round-robin\", \"oldest-first\"]\n",
        "",
    );
    place.file("loads.toml", &without);
    place.run(&["run", "loads.toml", "-o", "loads"]).with(0);
    // Two arbiters for each load of the other.
    let error = compare(&place, &["a", "loads"]).with(1).stderr;
    for part in [
        "matches exactly one of loads",
        "only A (a) has the axis qos.arbiter",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    // With one arbiter, only the loads matter.
    let ended = compare(&place, &["one", "loads", "--format", "json"]).with(0);
    let json = ended.json();
    assert_eq!(json["overall"]["points"], 1);
    assert_eq!(
        json["lines"][0]["point"],
        serde_json::json!({ "traffic.0.load": 0.4 })
    );
    for part in [
        "only A (one) has the axis qos.arbiter",
        "only A (one) has traffic.0.load = 0.3",
        "only B (loads) has traffic.0.load = 0.2",
    ] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    // `loads` has the same arbiter, and therefore the same numbers.
    let table = compare(&place, &["one", "loads", "--all"]).with(0).stdout;
    assert_eq!(table.matches("equal for all 6 seeds").count(), 9, "{table}");

    study(&place, "far", &["study.axes.\"traffic.0.load\"=[0.7]"]);
    let error = compare(&place, &["a", "far"]).with(1).stderr;
    assert!(
        error.contains("no common point: a has qos.arbiter = round-robin, "),
        "{error}"
    );
    study(&place, "late", &["measure.seed=9"]);
    let error = compare(&place, &["a", "late"]).with(1).stderr;
    assert!(
        error.contains("no common seed: a has 1, 2, 3, 4, 5, 6, late has 9, 10"),
        "{error}"
    );
}

#[test]
fn saturation_is_seen_to_move_along_the_load() {
    let place = Place::new("compare-saturation");
    let loads = "study.axes.\"traffic.0.load\"=[0.05, 0.1, 0.2, 0.4]";
    // Seven senders of 0.2 are more than a link.
    let hot = "traffic.0.pattern={ kind = \"hot-spot\", destination = 0, sources = \"all\" }";
    study(&place, "hot", &[ONE_ARBITER, loads, hot]);
    study(&place, "even", &[ONE_ARBITER, loads]);
    let ended = compare(&place, &["hot", "even", "--format", "json"]).with(0);
    let moved = &ended.json()["overall"]["saturation"][0];
    let edges = serde_json::json!([0.1, 0.2, 0.4, null]);
    let seen = serde_json::json!([
        moved["a"]["last_steady"],
        moved["a"]["first_saturated"],
        moved["b"]["last_steady"],
        moved["b"]["first_saturated"],
    ]);
    assert_eq!((seen, &moved["change"]), (edges, &"later in B".into()));
    assert!(
        ended
            .stderr
            .contains("A (hot) is saturated at 2 of 4 points: latencies grow"),
        "{}",
        ended.stderr
    );
    let back = compare(&place, &["even", "hot"]).with(0).stdout;
    assert!(
        back.contains("A steady up to 0.4, B between 0.1 and 0.2; earlier in B"),
        "{back}"
    );
}

#[test]
fn the_variants_of_one_study_are_compared() {
    let place = Place::new("compare-by");
    study(&place, "a", &[]);
    let by = |key: &str| compare(&place, &["a", "--by", key, "--format", "json"]);
    let list = by("qos.arbiter").with(0).json();
    let comparisons = list.as_array().unwrap();
    assert_eq!(comparisons.len(), 1, "two arbiters, one against the other");
    let only = &comparisons[0];
    assert_eq!(only["a"]["folder"], "qos.arbiter: round-robin");
    assert_eq!(only["b"]["folder"], "qos.arbiter: oldest-first");
    assert_eq!(only["axes"], serde_json::json!(["traffic.0.load"]));
    assert_eq!(only["overall"]["points"], 2);
    // The same as two studies with one arbiter each.
    let loads = by("load").with(0).json();
    assert_eq!(
        loads[0]["a"]["folder"], "traffic.0.load: 0.2",
        "by the end of its name"
    );
    place.file(
        "loads.toml",
        &STUDY.replace(
            "\"qos.arbiter\" = [\"round-robin\", \"oldest-first\"]\n",
            "",
        ),
    );
    for (folder, arbiter) in [("left", "round-robin"), ("right", "oldest-first")] {
        let set = format!("qos.arbiter=\"{arbiter}\"");
        let ended = place.run(&["run", "loads.toml", "-o", folder, "--set", &set]);
        assert!(matches!(ended.code, Some(0 | 5)), "{}", ended.stderr);
    }
    let apart = compare(&place, &["left", "right", "--format", "json"]).with(0);
    assert_eq!(only["lines"], apart.json()["lines"]);
    let error = by("arbitr").with(2).stderr;
    assert!(error.contains("a has no axis \"arbitr\""), "{error}");
    compare(&place, &["a"]).with(2);
    compare(&place, &["a", "left", "--by", "qos.arbiter"]).with(2);
    let people = compare(&place, &["a", "--by", "qos.arbiter"])
        .with(0)
        .stdout;
    assert!(
        people.contains("lines show no difference; --all shows them"),
        "{people}"
    );
}

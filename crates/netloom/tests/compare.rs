//! `netloom compare`, as a person uses it.

mod place;

use place::{Ended, Place};
use serde_json::Value;

/// Eight hosts and two classes, three seeds.
const SMALL: &str = "netloom = 1\nname = \"small\"\n\
    [topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 3\n\
    [[traffic]]\nname = \"bulk\"\nload = 0.2\n\
    [[traffic]]\nname = \"probe\"\nload = 0.05\n\
    [measure]\nlength = \"300 us\"\nrepeat = 3\n";

/// A folder `a`, and what else the test wants.
fn with_a(name: &str) -> Place {
    let place = Place::new(name);
    place.file("small.toml", SMALL);
    run(&place, "a", &[]);
    place
}

/// Runs the experiment with some keys changed. How exact it is does not matter here.
fn run(place: &Place, folder: &str, sets: &[&str]) {
    let mut arguments = vec!["run", "small.toml", "-o", folder];
    sets.iter().for_each(|set| arguments.extend(["--set", set]));
    let ended = place.run(&arguments);
    assert!(matches!(ended.code, Some(0 | 5)), "{}", ended.stderr);
}

fn compare(place: &Place, arguments: &[&str]) -> Ended {
    place.run(&[&["compare"], arguments].concat())
}

/// The line of a class, or of the total, and a metric.
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
    assert!(verdict.starts_with("B is higher by 1"), "{verdict}");
    // The other class has the same seeds, hence the same messages.
    let probe = line(&json, Some("probe"), "delivered_load");
    assert!(probe["relative"].as_f64().unwrap().abs() < 0.02, "{probe}");
    // The document is that of the stored results.
    let stored: Value = serde_json::from_str(&place.read("a/results.json")).unwrap();
    let runs = std::iter::once(&stored).chain(stored["repeats"].as_array().unwrap());
    let p99s = runs.map(|run| run["total"]["latency_p99_ns"].as_f64().unwrap());
    let mean = p99s.sum::<f64>() / 3.0;
    let total = line(&json, None, "latency_p99_ns");
    assert!((total["mean_a"].as_f64().unwrap() - mean).abs() < 1e-6);

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
    let kept = limit("latency_mean_ns > +100000%").with(0);
    assert!(kept.stdout.contains("> +100000%: kept"), "{}", kept.stdout);
    limit("delivered_load < -0.01").with(0);
    // The other way round, less is delivered.
    compare(&place, &["b", "a", "--fail-if", "delivered_load < -0.01"]).with(6);
    // A limit brings its metric with it.
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
    let same = compare(&place, &[&["a", "a"][..], &limit].concat()).with(0);
    assert_eq!(
        same.stdout.matches("the same with all 3 seeds").count(),
        3 * 3,
        "{}",
        same.stdout
    );
    let table = compare(&place, &["a", "a", "--format", "markdown"]).with(0);
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
    for part in [
        "one common seed, so no intervals",
        "B is higher by ",
        " (one seed, no interval)",
    ] {
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
        "only A (a) has the seeds 1, 2: left out",
        "only B (late) has the seeds 4, 5: left out",
    ] {
        assert!(one.stderr.contains(part), "{part}: {}", one.stderr);
    }
    let wrong_class = ["a", "late", "--fail-if", "probe:latency_p99_ns > 0"];
    let error = compare(&place, &wrong_class).with(2).stderr;
    assert!(
        error.contains("no class of both is called \"probe\""),
        "{error}"
    );

    run(&place, "apart", &["measure.seed=7"]);
    let text = place.read("apart/results.json");
    let older = text.replace("\"results_version\": 1", "\"results_version\": 0");
    assert_ne!(text, older);
    place.file("apart/results.json", &older);
    let error = compare(&place, &["a", "apart"]).with(1).stderr;
    assert!(
        error.contains("no common seed: a has 1, 2, 3, apart has 7, 8, 9"),
        "{error}"
    );
    assert!(
        error.contains("of version 1, apart of version 0"),
        "{error}"
    );
    let error = compare(&place, &["nowhere", "small.toml"]).with(1).stderr;
    assert_eq!(error.matches("error: cannot read").count(), 2, "{error}");
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
        "warning: B (rough) is not-converged with seeds 1, 2, 3: ",
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
    let limit = ["a", "silent", "--fail-if", "probe:latency_p99_ns > +5%"];
    let ended = compare(&place, &limit).with(1);
    assert!(
        ended.stderr.contains("cannot be judged"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("no seed with a value in both"));
    // Where others have values, those are judged.
    let limit = ["a", "silent", "--fail-if", "latency_p99_ns > +500%"];
    let ended = compare(&place, &limit).with(0);
    assert!(
        ended.stdout.contains("kept; no values for probe"),
        "{}",
        ended.stdout
    );
}

#[test]
fn all_unknown_metrics_are_told_with_the_nearest() {
    let place = Place::new("compare-names");
    let arguments = [
        "a",
        "b",
        "--metric",
        "latency_p99",
        "--fail-if",
        "deliverd_load < 0",
    ];
    let error = compare(&place, &arguments).with(2).stderr;
    assert!(
        error.contains("no metric is called \"latency_p99\"; did you mean \"latency_p99_ns\"?"),
        "{error}"
    );
    assert!(
        error.contains("no metric is called \"deliverd_load\"; did you mean \"delivered_load\"?"),
        "{error}"
    );
}

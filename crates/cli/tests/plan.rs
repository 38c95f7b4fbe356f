//! `netloom plan FILE` through the binary: what a person sees, and what a machine reads.

mod place;

use place::Place;
use serde_json::Value;

const HOST: &str = r#"
[plan]
entries = 8

[[plan.class]]
name = "compute"
share = 0.5
[[plan.class]]
name = "storage"
share = 0.3
[[plan.class]]
name = "bulk"
share = 0.15
[[plan.class]]
name = "control"
share = 0.05
packet = "256 B"
deadline = "5 us"
"#;

#[test]
fn a_person_sees_tables_shares_waits_and_cost() {
    let place = Place::new("plan-person");
    place.file("host.toml", HOST);
    let seen = place.run(&["plan", "host.toml"]).with(0).stdout;
    insta::assert_snapshot!(seen);
}

#[test]
fn a_contradiction_names_the_fewest_classes() {
    let place = Place::new("plan-contradiction");
    place.file("host.toml", HOST);
    let impossible = ["plan", "host.toml", "--set", "plan.class.3.deadline=100 ns"];
    let told = place.run(&impossible).with(3);
    insta::assert_snapshot!(told.stderr);
    assert!(told.stdout.contains("missed"), "{}", told.stdout);
    let greedy = [
        "plan",
        "host.toml",
        "--set",
        "plan.class.0.share=0.8",
        "--format",
        "json",
    ];
    let told = place.run(&greedy).with(3);
    let conflict = &told.json()["conflict"];
    assert_eq!(
        conflict["classes"],
        serde_json::json!(["compute", "storage"])
    );
    assert_eq!(conflict["is_smallest"], true);
    // Nothing that does not keep its promises is written as a section.
    let section = place
        .run(&[&impossible[..], &["--format", "toml"]].concat())
        .with(3);
    assert_eq!(section.stdout, "");
}

#[test]
fn a_machine_reads_classes_and_tables() {
    let place = Place::new("plan-machine");
    place.file("host.toml", HOST);
    let plan = place
        .run(&["plan", "host.toml", "--format", "json"])
        .with(0)
        .json();
    let classes = plan["classes"].as_array().unwrap();
    assert_eq!(classes.len(), 4);
    for class in classes {
        for key in ["name", "share_wanted", "share_given", "worst_wait_ns"] {
            assert!(!class[key].is_null(), "{key} of {class}");
        }
        let (wanted, given) = (&class["share_wanted"], &class["share_given"]);
        assert!((wanted.as_f64().unwrap() - given.as_f64().unwrap()).abs() < 0.01);
    }
    assert!(classes[3]["worst_wait_ns"].as_f64().unwrap() <= 5000.0);
    assert!(plan["tables"]["low"].as_array().unwrap().len() <= 8);
    let row = [0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(plan["sl2vl"], serde_json::json!(row));
}

/// What is planned is what is simulated: as a section of its own, and from `[plan]` in the experiment.
#[test]
fn the_section_loads_into_an_experiment_unchanged_and_the_run_keeps_it() {
    let place = Place::new("plan-experiment");
    place.run(&["init", "--template", "plan"]).with(0);
    let kinds = ["ib-two-table", "dtable", "bxi-table", "bxi-deficit"];
    for kind in kinds {
        let set = format!("plan.arbiter={kind}");
        let short = [
            "--set",
            set.as_str(),
            "--until",
            "200 us",
            "--set",
            "measure.interval=0.9",
        ];
        let out = format!("{kind}.out");
        let run = [
            &["run", "plan.toml", "--progress", "none", "-o", &out],
            &short[..],
        ]
        .concat();
        let seen = place.run(&run).with(0).stdout;
        assert!(
            seen.contains("longest wait") && !seen.contains("broken"),
            "{seen}"
        );
        // The table of a run that keeps its plan: wanted, given and delivered are near each other.
        let rows = seen
            .lines()
            .skip_while(|line| !line.contains("wanted"))
            .skip(1)
            .take(4);
        for row in rows {
            let percent: Vec<f64> = row
                .split_whitespace()
                .zip(row.split_whitespace().skip(1))
                .filter(|(_, unit)| *unit == "%")
                .map(|(number, _)| number.parse().unwrap())
                .collect();
            assert_eq!(percent.len(), 3, "{row}");
            let [wanted, given, delivered] = [percent[0], percent[1], percent[2]];
            assert!(
                (wanted - given).abs() < 1.0 && (given - delivered).abs() < 0.5,
                "{kind}: {row}"
            );
        }

        let section = place.run(&["plan", "plan.toml", "--set", &set, "--format", "toml"]);
        let section = section.with(0).stdout;
        let template = place.read("plan.toml");
        let (before, rest) = template.split_once("[plan]").unwrap();
        let after = rest.split_once("[[traffic]]").unwrap().1;
        let text = format!("{before}{section}\n[[traffic]]{after}");
        place.file("own.toml", &text);
        let own = [
            "run",
            "own.toml",
            "--progress",
            "none",
            "--overwrite",
            "--format",
            "json",
        ];
        let own = place.run(&[&own[..], &short[2..]].concat()).with(0).json();
        let stored = place.read(&format!("{out}/results.json"));
        let stored: Value = serde_json::from_str(&stored).unwrap();
        assert_eq!(own["digest"], stored["digest"], "{kind}");
    }
}

/// A file's own arbiter goes before the plan, which then promises nothing; a resolved file keeps both.
#[test]
fn a_plan_is_shown_only_where_it_is_in_force() {
    let place = Place::new("plan-force");
    place.run(&["init", "--template", "plan"]).with(0);
    let own = "qos.arbiter=round-robin";
    let facts = place
        .run(&["check", "plan.toml", "--set", own])
        .with(0)
        .stdout;
    assert!(facts.contains("not in force"), "{facts}");
    let short = [
        "--until",
        "60 us",
        "--progress",
        "none",
        "--set",
        "measure.interval=0.9",
    ];
    let run = |file: &str, more: &[&str]| {
        let run = [&["run", file, "--overwrite"], &short[..], more].concat();
        place.run(&run).with(0).stdout
    };
    assert!(!run("plan.toml", &["--set", own]).contains("wanted"));
    assert!(run("plan.toml", &[]).contains("wanted"));
    place.file("again.toml", &place.read("plan.out/resolved.toml"));
    assert!(run("again.toml", &["-o", "again.out"]).contains("wanted"));
}

#[test]
fn an_experiment_whose_plan_cannot_be_met_is_refused() {
    let place = Place::new("plan-refused");
    place.run(&["init", "--template", "plan"]).with(0);
    let tight = [
        "check",
        "plan.toml",
        "--set",
        "plan.class.3.deadline=100 ns",
    ];
    let told = place.run(&tight).with(3).stderr;
    assert!(told.contains("E0903") && told.contains("control"), "{told}");
    let facts = place.run(&["check", "plan.toml"]).with(0).stdout;
    assert!(facts.contains("control 5.00 %"), "{facts}");
    for name in ["plan", "plan.class.deadline", "E0903"] {
        place.run(&["explain", name]).with(0);
    }
}

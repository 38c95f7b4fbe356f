//! `netloom report` through the binary, about folders that `run` wrote.

mod place;

use place::Place;

/// Two arbiters, two loads, two seeds.
const STUDY: &str = "netloom = 1
name = \"small study\"
about = \"Which arbiter is <quicker>?\"
[topology]
kind = \"single-switch\"
ports = 8
[[traffic]]
name = \"bulk\"
load = 0.5
[[traffic]]
name = \"control\"
sl = 1
load = 0.1
[qos]
vls = 2
[measure]
length = \"40 us\"
warmup = \"4 us\"
interval = 0.9
repeat = 2
[study.axes]
\"qos.arbiter\" = [\"round-robin\", \"oldest-first\"]
\"traffic.0.load\" = [0.2, 0.5]
";

/// Runs an experiment. It is too short to be exact, which is not an error.
#[track_caller]
fn run(place: &Place, words: &[&str]) {
    let words = [&["run", "s.toml", "--progress", "none"], words].concat();
    let ended = place.run(&words);
    assert!(matches!(ended.code, Some(0 | 5)), "{}", ended.stderr);
}

#[test]
fn a_study_becomes_one_page() {
    let place = Place::new("report-study");
    place.file("s.toml", STUDY);
    run(&place, &["-o", "s.out"]);
    let ended = place.run(&["report", "s.out"]).with(0);
    assert!(
        ended.stderr.starts_with("wrote s.out/report.html ("),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.stdout, "");
    let page = place.read("s.out/report.html");
    for words in [
        "<h1><bdi class=\"brief\">small study</bdi></h1>",
        "Which arbiter is &lt;quicker&gt;?",
        "oldest-first, load 0.5",
        "id=\"figure-latency\"",
        "id=\"busiest-links\"",
        "[study.axes]",
        "2 loads from 0.2 to 0.5, 2 series that differ in <code>qos.arbiter</code>",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // A second report has the same bytes, and no temporary files remain.
    place.run(&["report", "s.out", "-o", "again.html"]).with(0);
    assert!(place.read("again.html") == page);
    let left = std::fs::read_dir(place.0.join("s.out")).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!left.into_iter().any(|name| name.ends_with(".tmp")));
}

#[test]
fn single_runs_are_laid_over_each_other() {
    let place = Place::new("report-pair");
    let single = STUDY.split("[study.axes]").next().unwrap();
    place.file("s.toml", single);
    for (folder, load) in [("low.out", "0.2"), ("high.out", "0.5")] {
        let set = format!("traffic.0.load={load}");
        run(&place, &["--set", &set, "-o", folder]);
    }
    place
        .run(&["report", "low.out", "high.out", "-o", "both.html"])
        .with(0);
    let page = place.read("both.html");
    assert!(page.contains("id=\"differences\""));
    assert!(page.contains("2 series that differ in <code>run</code>"));
    // Differences come first, in the form of --set. No figure has an axis that is not varied.
    let (differing, verdict) = (page.find("What differs</h2>"), page.find("Verdict</h2>"));
    assert!(differing.is_some() && differing < verdict);
    assert!(page.contains("<code>traffic.0.load</code>"));
    for words in ["Latency of each run", "low (load 0.2)", "high (load 0.5)"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("against load"));
    // Without -o, a comparison does not replace the report about its first folder alone.
    place.run(&["report", "low.out"]).with(0);
    let alone = place.read("low.out/report.html");
    place.run(&["report", "low.out", "high.out"]).with(0);
    assert!(place.read("low.out/report.html") == alone);
    assert!(place.read("low.out/comparison.html") == page);
    // One point of one class makes no curve.
    assert!(alone.contains("Latency and load"), "{alone}");
}

#[test]
fn what_is_no_folder_of_results_is_reported() {
    let place = Place::new("report-nothing");
    std::fs::create_dir(place.0.join("empty")).unwrap();
    let ended = place.run(&["report", "empty"]).with(1);
    assert!(ended.stderr.contains("empty"), "{}", ended.stderr);
    assert!(!place.0.join("empty/report.html").exists());
    place.file("s.toml", STUDY);
    let ended = place.run(&["report", "s.toml"]).with(1);
    assert!(
        ended
            .stderr
            .contains("s.toml is a file, not a folder of results"),
        "{}",
        ended.stderr
    );
    place.run(&["report"]).with(2);
}

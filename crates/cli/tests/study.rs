//! Studies through the binary: run, killed, resumed, divided and merged.

mod place;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use place::{Ended, Place};

/// Two axes, two seeds: eight runs of a few milliseconds.
const SMALL: &str = "netloom = 1
name = \"small\"
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
length = \"100 us\"
warmup = \"4 us\"
interval = 0.9
repeat = 2
[study.axes]
\"qos.arbiter\" = [\"round-robin\", \"oldest-first\"]
\"traffic.0.load\" = [0.2, 0.4]
";

/// The same study with runs that are long enough to be killed.
fn slower(text: &str) -> String {
    text.replace("100 us", "1500 us")
        .replace("[0.2, 0.4]", "{ from = 0.1, to = 0.6, step = 0.1 }")
}

/// Returns the merged tables by name. They must not depend on the division of the runs.
fn tables(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_table = |name: &String| name.ends_with(".csv") || name.ends_with(".parquet");
    names
        .filter(|name| is_table(name) || name == "warnings.json" || name == "study.json")
        .map(|name| {
            let bytes = std::fs::read(folder.join(&name)).unwrap();
            (name, bytes)
        })
        .collect()
}

#[track_caller]
fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (tables(one), tables(other));
    let names = |tables: &BTreeMap<String, Vec<u8>>| tables.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other));
    assert!(one.len() >= 9, "{:?}", names(&one));
    for (name, bytes) in &one {
        assert!(*bytes == other[name], "{name} differs");
    }
}

/// Returns how often each run was started, over all journals.
fn begun(folder: &Path) -> BTreeMap<String, usize> {
    let mut begun = BTreeMap::new();
    for file in std::fs::read_dir(folder.join("journal")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for line in text.lines() {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            if entry["event"] == "started" {
                *begun.entry(entry["run"].to_string()).or_default() += 1;
            }
        }
    }
    begun
}

#[test]
fn a_study_runs_and_says_what_came_out() {
    let place = Place::new("study-runs");
    place.file("small.toml", SMALL);
    let ended = place.run(&["run", "small.toml"]).with(0);
    assert!(
        ended.stdout.contains("4 points (4 ok), 8 runs"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stderr.contains("results in small.out"),
        "{}",
        ended.stderr
    );
    let points = place.read("small.out/points.csv");
    let head = points.lines().next().unwrap();
    assert!(
        head.starts_with("point,qos.arbiter,traffic.0.load,scope,class,sl,seeds,"),
        "{head}"
    );
    // Four points, each with the total, two classes, two levels and two rows.
    assert_eq!(points.lines().count(), 1 + 4 * 7);
    assert!(
        points.contains("\n3,oldest-first,0.4,total,,,2,ok,0,0,"),
        "{points}"
    );
    let results = place.read("small.out/results.csv");
    assert_eq!(results.lines().count(), 1 + 8 * 7);
    // A second start runs nothing, and the files are the same.
    let before = tables(&place.0.join("small.out"));
    let again = place.run(&["run", "small.toml"]).with(0);
    let ran_none = |line: &str| line.starts_with("0 runs in ") && line.ends_with("8 already done");
    assert!(again.stderr.lines().any(ran_none), "{}", again.stderr);
    assert_eq!(tables(&place.0.join("small.out")), before);
    let status = place
        .run(&["study", "status", "small.out", "--format", "json"])
        .with(0)
        .json();
    assert_eq!(
        (status["runs_done"].as_u64(), status["complete"].as_bool()),
        (Some(8), Some(true))
    );
    // After the loss of a run, all others are counted before it runs again.
    let runs = std::fs::read_dir(place.0.join("small.out/runs")).unwrap();
    let file = runs.map(|run| run.unwrap().path()).min().unwrap();
    std::fs::remove_file(file).unwrap();
    let again = place
        .run(&["run", "small.toml", "--progress", "json"])
        .with(0);
    let progress = &again.progress()[0];
    assert_eq!(progress["runs_found"], 7, "{progress}");
    assert_eq!(progress["runs"], 8, "{progress}");
    assert_eq!(tables(&place.0.join("small.out")), before);
    // In a pipe, `watch` prints a line; it ends with the study.
    let watched = place.run(&["study", "watch", "small.out"]).with(0);
    assert_eq!(watched.stdout, "8 of 8 runs, complete\n");
    let alone = ["run", "small.toml", "--set", "study.axes.x=1", "-o", "x"];
    assert_eq!(
        place.run(&alone).code,
        Some(3),
        "an unknown axis is an error"
    );
}

#[test]
fn shards_give_the_same_tables_as_one_process() {
    let place = Place::new("study-shards");
    place.file("small.toml", SMALL);
    place
        .run(&["run", "small.toml", "-o", "one", "--threads", "1"])
        .with(0);
    for shard in ["2/4", "4/4", "1/4"] {
        let ended = place
            .run(&["run", "small.toml", "-o", "four", "--shard", shard])
            .with(0);
        assert!(ended.stderr.contains("2 runs in"), "{}", ended.stderr);
    }
    // An incomplete study is refused with what is missing, or merged in part with a warning.
    let refused = place.run(&["study", "merge", "four"]).with(1);
    assert!(
        refused.stderr.contains("2 of 8 units are not complete")
            && refused.stderr.contains("netloom run four"),
        "{}",
        refused.stderr
    );
    let partial = place.run(&["study", "merge", "four", "--partial"]).with(0);
    assert!(
        partial.stderr.contains("warning: not run: qos.arbiter"),
        "{}",
        partial.stderr
    );
    let ended = place
        .command(&["run", "four", "--shard", "auto"])
        .env("SLURM_ARRAY_TASK_ID", "3")
        .env("SLURM_ARRAY_TASK_MIN", "1")
        .env("SLURM_ARRAY_TASK_STEP", "1")
        .env("SLURM_ARRAY_TASK_COUNT", "4")
        .output()
        .unwrap();
    Ended::new(ended).with(0);
    place.run(&["study", "merge", "four"]).with(0);
    assert_same(&place.0.join("one"), &place.0.join("four"));
    // With every table as CSV.
    place.run(&["study", "merge", "four", "--csv"]).with(0);
    assert!(place.read("four/links.csv").lines().count() > 8);
}

/// Returns pseudo-random times from remainders, the same in every test.
fn moments(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        state >> 33
    })
}

#[test]
fn killed_fifty_times_and_resumed_the_tables_are_the_same() {
    let place = Place::new("study-killed");
    place.file("small.toml", &slower(SMALL));
    let began = Instant::now();
    place.run(&["run", "small.toml", "-o", "whole"]).done();
    let whole = began.elapsed();
    // Kills are spaced so that a study needs about fifty of them.
    let most = (whole.as_millis() as u64 / 12).max(20);
    let mut kills = 0;
    let mut folder = 0;
    for moment in moments(7) {
        let name = format!("killed-{folder}");
        let mut child = place
            .command(&["run", "small.toml", "-o", &name, "--progress", "none"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(moment % most));
        // SIGKILL allows no cleanup.
        child.kill().unwrap();
        let status = child.wait().unwrap();
        if status.code().is_none() {
            kills += 1;
        }
        // A study that completed before the kill is compared, and another one started.
        let is_done = place.0.join(&name).join("points.parquet").exists();
        if kills == 50 || is_done {
            place
                .run(&["run", "small.toml", "-o", &name, "--progress", "none"])
                .done();
            assert_same(&place.0.join("whole"), &place.0.join(&name));
            let left = std::fs::read_dir(place.0.join(&name).join("runs")).unwrap();
            assert_eq!(left.count(), 24, "no temporary file stays");
            folder += 1;
        }
        if kills == 50 {
            break;
        }
    }
}

#[test]
fn processes_on_one_folder_share_the_work() {
    let place = Place::new("study-together");
    place.file("small.toml", &slower(SMALL));
    place.run(&["run", "small.toml", "-o", "alone"]).done();
    let start = || {
        place
            .command(&[
                "run",
                "small.toml",
                "-o",
                "shared",
                "--threads",
                "1",
                "--progress",
                "none",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let together: Vec<_> = (0..3).map(|_| start()).collect();
    for child in together {
        Ended::new(child.wait_with_output().unwrap()).done();
    }
    assert_same(&place.0.join("alone"), &place.0.join("shared"));
    let begun = begun(&place.0.join("shared"));
    assert_eq!(begun.len(), 24);
    assert!(begun.values().all(|&times| times == 1), "{begun:?}");
}

#[test]
fn a_damaged_run_is_run_again() {
    let place = Place::new("study-damaged");
    place.file("small.toml", SMALL);
    place.run(&["run", "small.toml", "-o", "whole"]).done();
    place.run(&["run", "small.toml", "-o", "damaged"]).with(0);
    let runs = std::fs::read_dir(place.0.join("damaged/runs")).unwrap();
    let file = runs.map(|run| run.unwrap().path()).min().unwrap();
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let status = place.run(&["study", "status", "damaged"]).with(0);
    assert!(status.stdout.contains("7 of 8 runs"), "{}", status.stdout);
    assert!(
        status.stdout.contains("invalid, to be run again"),
        "{}",
        status.stdout
    );
    let ended = place.run(&["run", "damaged"]).with(0);
    assert!(ended.stderr.contains("1 run in"), "{}", ended.stderr);
    assert_same(&place.0.join("whole"), &place.0.join("damaged"));
    // The values of a study are those that it was started with.
    let refused = place.run(&["run", "damaged", "--seed", "2"]).with(2).stderr;
    assert!(refused.contains("--seed cannot be used"), "{refused}");
}

#[test]
fn a_search_for_saturation_finds_the_edge_and_is_the_same_in_shards() {
    let text = SMALL
        .replace(
            "\"traffic.0.load\" = [0.2, 0.4]",
            "\"traffic.0.load\" = { from = 0.3, to = 0.9, step = 0.2, refine = 0.05 }",
        )
        .replace(
            "[study.axes]",
            "[study]\nstop-after-saturation = 1\n[study.axes]",
        )
        .replace("100 us", "400 us");
    let place = Place::new("study-search");
    place.file("search.toml", &text);
    place.run(&["run", "search.toml", "-o", "one"]).done();
    for shard in ["1/2", "2/2"] {
        place
            .run(&["run", "search.toml", "-o", "two", "--shard", shard])
            .done();
    }
    place.run(&["study", "merge", "two"]).done();
    assert_same(&place.0.join("one"), &place.0.join("two"));
    let points = place.read("one/points.csv");
    let column = |line: &str, at: usize| line.split(',').nth(at).unwrap().to_owned();
    let totals: Vec<&str> = points
        .lines()
        .filter(|line| line.contains(",total,"))
        .collect();
    for arbiter in ["round-robin", "oldest-first"] {
        let own: Vec<(f64, bool)> = totals
            .iter()
            .filter(|line| column(line, 1) == arbiter)
            .map(|line| {
                (
                    column(line, 2).parse().unwrap(),
                    column(line, 7) == "saturated",
                )
            })
            .collect();
        let first = own.iter().position(|(_, saturated)| *saturated).unwrap();
        let (low, high) = (own[first - 1].0, own[first].0);
        assert!(high - low < 0.051, "the edge is found to 0.05: {own:?}");
        // Only the first saturated value of the file and one more.
        let is_of_the_file = |load: f64| [0.3, 0.5, 0.7, 0.9].contains(&load);
        let beyond = own
            .iter()
            .filter(|(load, _)| *load > low && is_of_the_file(*load));
        assert!(beyond.count() <= 2, "one point beyond: {own:?}");
    }
}

#[test]
fn an_interrupted_study_goes_on() {
    let place = Place::new("study-interrupted");
    place.file("small.toml", &slower(SMALL).replace("1500 us", "6 ms"));
    let running = place.begin(&["run", "small.toml", "-o", "out"]);
    let ended = running.stopped_by("-INT").with(130);
    assert!(
        ended.stderr.contains("Resume with: netloom run out"),
        "{}",
        ended.stderr
    );
    let done = place
        .run(&["study", "status", "out", "--format", "json"])
        .with(0)
        .json();
    let done = done["runs_done"].as_u64().unwrap();
    assert!(done < 24, "{done}");
}

#[test]
fn a_folder_of_something_else_is_refused() {
    let place = Place::new("study-taken");
    place.file("small.toml", SMALL);
    // More seeds make the same study; another warm-up makes another one.
    let other = SMALL.replace("repeat = 2", "repeat = 1");
    place.file("other.toml", &other.replace("4 us", "5 us"));
    place.run(&["run", "small.toml"]).with(0);
    let refused = place.run(&["run", "other.toml"]).with(1);
    assert!(
        refused.stderr.contains("another study"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("--overwrite"), "{}", refused.stderr);
    place.run(&["run", "other.toml", "--overwrite"]).with(0);
    assert_eq!(
        place.read("small.out/results.csv").lines().count(),
        1 + 4 * 7
    );
    std::fs::create_dir(place.0.join("precious")).unwrap();
    place.file("precious/thesis.tex", "precious");
    let refused = place.run(&["run", "small.toml", "-o", "precious"]).with(1);
    assert!(refused.stderr.contains("thesis.tex"), "{}", refused.stderr);
    place.run(&["study", "status", "precious"]).with(1);
    // A modified text is another study.
    let text = place.read("small.out/study.toml");
    place.file("small.out/study.toml", &text.replace("100 us", "120 us"));
    let refused = place.run(&["run", "small.out"]).with(1);
    assert!(
        refused.stderr.contains("has changed since"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_study_that_can_deadlock_is_refused_and_leaves_nothing_to_resume() {
    let place = Place::new("study-deadlock");
    let text = "netloom = 1
name = \"ring\"
[topology]
kind = \"torus\"
sides = [4]
hosts = 2
[switch]
input-buffer = \"2 KiB\"
output-buffer = \"2 KiB\"
[routing]
kind = \"dimension-order\"
deadlock = \"none\"
[[traffic]]
load = 0.5
size = { kind = \"fixed\", bytes = \"2 KiB\" }
[measure]
length = \"1 ms\"
[study.axes]
\"traffic.load\" = [0.05, 1.0]
";
    place.file("ring.toml", text);
    let refused = place.run(&["run", "ring.toml"]).with(4);
    assert!(refused.stderr.contains("E0501"), "{}", refused.stderr);
    assert!(!place.0.join("ring.out").exists());
    // With --force, the deadlock is an ordinary result and is stored.
    place
        .run(&["run", "ring.toml", "--force", "--progress", "none"])
        .with(4);
    let results = place.read("ring.out/results.csv");
    assert!(results.lines().count() > 2, "{results}");
    let status = place.run(&["study", "status", "ring.out"]).with(0);
    assert!(status.stdout.contains("1 deadlock"), "{}", status.stdout);
}

#[test]
fn a_flow_list_goes_with_the_study() {
    let place = Place::new("study-inputs");
    let text = "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 4\n\
        [[traffic]]\nflows = \"lists/flows.csv\"\n[measure]\nlength = \"20 us\"\n\
        warmup = \"1 us\"\n\
        [study.axes]\n\"link.rate\" = [\"100 Gbps\", \"200 Gbps\"]\n";
    std::fs::create_dir(place.0.join("lists")).unwrap();
    place.file(
        "lists/flows.csv",
        "time,source,destination,bytes\n0 ns,0,1,2048\n100 ns,2,3,512\n",
    );
    place.file("listed.toml", text);
    let code = place.run(&["run", "listed.toml", "--shard", "1/2"]).code;
    assert!(matches!(code, Some(0 | 5)), "{code:?}");
    // The folder alone is sufficient.
    std::fs::rename(place.0.join("listed.out"), place.0.join("moved")).unwrap();
    std::fs::remove_dir_all(place.0.join("lists")).unwrap();
    let code = place.run(&["run", "moved"]).code;
    assert!(matches!(code, Some(0 | 5)), "{code:?}");
    assert!(place.read("moved/points.csv").contains("200 Gbps"));
}

//! `netloom reproduce` after kills, interrupts and damage.

mod place;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use place::{Ended, Place};

/// Sixteen runs, and eight under another reading.
const TINY: [&str; 8] = [
    "reproduce",
    "000",
    "--size",
    "tiny",
    "--threads",
    "1",
    "--scenario",
    "S000-1",
];
const RUNS: usize = 16;

/// Files that must not depend on the number of starts.
const FILES: [&str; 4] = ["claims.json", "claims.txt", "runs.csv", "points.csv"];

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TINY[..], more].concat()
}

/// Returns the folder of the scenario, which is that of a study.
fn scenario(place: &Place, folder: &str) -> PathBuf {
    place.0.join(folder).join("tiny/S000-1")
}

/// Returns the files of finished runs, and when each was written.
fn stored(folder: &Path) -> BTreeMap<String, SystemTime> {
    let Ok(entries) = std::fs::read_dir(folder.join("runs")) else {
        return BTreeMap::new();
    };
    let file = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        let time = entry.metadata().ok()?.modified().ok()?;
        name.ends_with(".json.zst").then_some((name, time))
    };
    entries.filter_map(file).collect()
}

/// Starts a reproduction and waits until some runs are stored.
fn begun(place: &Place, folder: &str, some: usize) -> Child {
    let child = place
        .command(&arguments(&["-o", folder, "--progress", "none"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while stored(&scenario(place, folder)).len() < some {
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

/// Resumes, and checks that stored runs are found and not written again.
#[track_caller]
fn goes_on(place: &Place, folder: &str) -> Ended {
    let before = stored(&scenario(place, folder));
    assert!((3..RUNS).contains(&before.len()), "{}", before.len());
    let ended = place.run(&arguments(&["-o", folder])).with(0);
    let (ran, found) = (RUNS - before.len(), before.len());
    assert!(
        ended.stderr.contains(&format!("{ran} runs in "))
            && ended.stderr.contains(&format!(" s, {found} already done")),
        "{}",
        ended.stderr
    );
    let after = stored(&scenario(place, folder));
    assert_eq!(after.len(), RUNS);
    for (name, time) in &before {
        assert_eq!(after[name], *time, "{name} was written again");
    }
    ended
}

#[track_caller]
fn assert_same(place: &Place, one: &str, other: &str) {
    for file in FILES {
        let (one, other) = (format!("{one}/{file}"), format!("{other}/{file}"));
        assert_eq!(place.read(&one), place.read(&other), "{file}");
    }
}

#[test]
fn what_was_killed_or_interrupted_goes_on_with_the_same_command() {
    let place = Place::new("reproduce-killed");
    place.run(&arguments(&["-o", "whole"])).with(0);
    assert_eq!(stored(&scenario(&place, "whole")).len(), RUNS);

    // SIGKILL allows no cleanup.
    let mut child = begun(&place, "killed", 3);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.0.join("killed/claims.json").exists());
    goes_on(&place, "killed");
    assert_same(&place, "whole", "killed");

    // After Ctrl-C, only claims with enough runs are judged.
    let child = begun(&place, "stopped", 6);
    let signal = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(signal.unwrap().success());
    let ended = Ended::new(child.wait_with_output().unwrap()).with(130);
    assert!(
        ended.stderr.contains("runs are missing")
            && ended.stderr.contains("run the same command to resume"),
        "{}",
        ended.stderr
    );
    let claims: serde_json::Value =
        serde_json::from_str(&place.read("stopped/claims.json")).unwrap();
    let verdict = |id: &str, part: &str| {
        let is_it = |claim: &&serde_json::Value| claim["id"] == id && claim["part"] == part;
        let claim = claims.as_array().unwrap().iter().find(is_it).unwrap();
        claim["verdict"].as_str().unwrap().to_owned()
    };
    // The first three loads are done, but not all of the last series.
    assert_ne!(verdict("C000-10", ""), "not-run");
    assert_eq!(verdict("QOS-S000-1-2x", "ours"), "not-run");
    // Every file shows it, tables by their names.
    let tables =
        || ["runs.partial.csv", "runs.csv"].map(|name| place.0.join("stopped").join(name).exists());
    assert_eq!(tables(), [true, false]);
    assert!(place.read("stopped/claims.txt").contains("interrupted: "));
    goes_on(&place, "stopped");
    assert_same(&place, "whole", "stopped");
    assert_eq!(tables(), [false, true]);

    // A second start runs nothing. Another reading shares the folder and has its own study.
    let again = place.run(&arguments(&["-o", "whole"])).with(0);
    let ran_none = |line: &str| line.starts_with("0 runs in ") && line.ends_with("16 already done");
    assert!(again.stderr.lines().any(ran_none), "{}", again.stderr);
    let varied = ["-o", "whole", "--vary", "fast-crossbar"];
    let varied = place.run(&arguments(&varied)).with(0);
    assert!(
        varied.stderr.contains("8 runs in ") && varied.stderr.contains("16 already done"),
        "{}",
        varied.stderr
    );
    // In a folder of its own, it does not run the other reading.
    let only = ["-o", "only", "--vary", "fast-crossbar", "--vary-only"];
    let only = place.run(&arguments(&only)).with(0);
    assert!(
        only.stderr.contains("8 runs in ") && !only.stderr.contains("already done"),
        "{}",
        only.stderr
    );
    assert!(!scenario(&place, "only").exists());
    let points = "points-fast-crossbar.csv";
    assert_eq!(
        place.read(&format!("only/{points}")),
        place.read(&format!("whole/{points}"))
    );
    let refused = place.run(&arguments(&["--vary-only"])).with(2);
    assert!(
        refused.stderr.contains("--vary <NAME>"),
        "{}",
        refused.stderr
    );
    // With more seeds, stored runs are kept.
    let more = place.run(&arguments(&["-o", "whole", "--seeds", "3"]));
    let more = more.with(0);
    assert!(
        more.stderr.contains("8 runs in ") && more.stderr.contains("16 already done"),
        "{}",
        more.stderr
    );
    // It is an ordinary study.
    let study = "whole/tiny/S000-1";
    let status = place.run(&["study", "status", study]).with(0);
    assert!(status.stdout.contains("24 of 24 runs"), "{}", status.stdout);
    place.run(&["report", study]).with(0);
    place.run(&["plot", study]).with(0);
    // A folder of a study has runs too.
    place.file("whole/study.json", "{}");
    std::fs::remove_file(place.0.join("whole/claims.json")).unwrap();
    let taken = place.run(&arguments(&["-o", "whole"])).with(1);
    assert!(
        taken.stderr.contains("is not the folder of a reproduction"),
        "{}",
        taken.stderr
    );
}

#[test]
fn without_a_folder_nothing_is_kept_and_progress_is_that_of_studies() {
    let place = Place::new("reproduce-progress");
    let ended = place.run(&arguments(&["--progress", "json"])).with(0);
    assert_eq!(std::fs::read_dir(&place.0).unwrap().count(), 0);
    let progress = ended.progress();
    let last = progress.last().unwrap();
    assert_eq!(last["runs"], RUNS);
    for key in [
        "runs_done",
        "runs_found",
        "packet_hops",
        "elapsed_seconds",
        "remaining_seconds",
        "worst",
    ] {
        assert!(last.get(key).is_some(), "{key}: {last}");
    }
}

#[test]
fn tables_of_links_are_kept_with_their_runs() {
    let place = Place::new("reproduce-links");
    let tiny = ["reproduce", "004", "--size", "tiny", "--progress", "none"];
    place.run(&[&tiny[..], &["-o", "whole"]].concat()).with(0);
    let folder = place.0.join("whole");
    let tables = || {
        let entries = std::fs::read_dir(&folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let names = names.filter(|name| name.ends_with(".csv") || name.starts_with("claims"));
        let read = |name: String| (name.clone(), place.read(&format!("whole/{name}")));
        names.map(read).collect::<BTreeMap<_, _>>()
    };
    let before = tables();
    assert!(before["ports.csv"].lines().count() > 1000);
    // Every second run is lost.
    let studies = std::fs::read_dir(folder.join("tiny")).unwrap();
    let studies = studies.map(|entry| entry.unwrap().path());
    let files = studies.flat_map(|study| {
        let names = stored(&study).into_keys();
        names.map(move |name| study.join("runs").join(name))
    });
    let runs: Vec<PathBuf> = files.collect();
    for file in runs.iter().step_by(2) {
        std::fs::remove_file(file).unwrap();
    }
    for name in before.keys() {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    let ended = place.run(&[&tiny[..], &["-o", "whole"]].concat()).with(0);
    let done = format!("{} already done", runs.len() / 2);
    assert!(ended.stderr.contains(&done), "{}", ended.stderr);
    assert!(tables() == before, "a table differs");
}

#[test]
fn a_paper_is_run_in_parts() {
    let place = Place::new("reproduce-parts");
    let tiny = ["reproduce", "000", "--size", "tiny", "--progress", "none"];
    let part = |ids: &str, folder: &str| {
        let more = ["--scenario", ids, "-o", folder];
        place.run(&[&tiny[..], &more].concat()).with(0)
    };
    let verdict = |folder: &str| {
        let claims = place.read(&format!("{folder}/claims.json"));
        let claims: serde_json::Value = serde_json::from_str(&claims).unwrap();
        let is_it =
            |claim: &&serde_json::Value| claim["id"] == "C000-1" && claim["part"] == "order";
        let claim = claims.as_array().unwrap().iter().find(is_it).unwrap();
        claim["verdict"].as_str().unwrap().to_owned()
    };
    part("S000-1", "parts");
    assert_eq!(verdict("parts"), "not-run");
    // Claims are judged with stored and new runs.
    let second = part("S000-2", "parts");
    assert!(second.stderr.contains("20 runs in "), "{}", second.stderr);
    assert!(
        second.stderr.contains("16 already done"),
        "{}",
        second.stderr
    );
    assert_ne!(verdict("parts"), "not-run");
    let once = part("S000-1,S000-2", "once");
    assert!(once.stderr.contains("36 runs in "), "{}", once.stderr);
    assert_same(&place, "parts", "once");
    // Parts may differ in seeds: stored runs keep theirs.
    let more = ["--scenario", "S000-1", "--seeds", "3", "-o", "seeds"];
    place.run(&[&tiny[..], &more].concat()).with(0);
    part("S000-2", "seeds");
    assert_ne!(verdict("seeds"), "not-run");
    let runs = place.read("seeds/runs.csv");
    let of = |scenario: &str| {
        runs.lines()
            .filter(|line| line.starts_with(scenario))
            .count()
    };
    assert_eq!((of("S000-1 "), of("S000-2 ")), (24, 20));
    // The first line of progress counts all parts: the second is stored, the first runs now.
    part("S000-2", "counted");
    let more = ["--scenario", "S000-1,S000-2", "-o", "counted"];
    let json = ["reproduce", "000", "--size", "tiny", "--progress", "json"];
    let counted = place.run(&[&json[..], &more].concat()).with(0);
    let first = &counted.progress()[0];
    assert_eq!(
        (&first["runs"], &first["runs_found"]),
        (&36.into(), &20.into())
    );
    assert_same(&place, "counted", "once");
    // Without a folder, there are only the runs of the part. Other claims are not printed.
    let alone = place.run(&[&tiny[..], &["--scenario", "S000-2"]].concat());
    let alone = alone.with(0);
    assert!(
        alone
            .stdout
            .contains("claims not printed, since these runs cannot decide them")
            && !alone.stdout.contains("not run"),
        "{}",
        alone.stdout
    );

    let unknown = place.run(&[&tiny[..], &["--scenario", "S000-9"]].concat());
    let unknown = unknown.with(1);
    let message = "paper 000 has no scenario `S000-9` at size tiny; expected one of S000-1, \
        S000-2, S000-5, S000-6";
    assert!(unknown.stderr.contains(message), "{}", unknown.stderr);
}

/// A study of a switch, and two claims about it.
fn own_paper(place: &Place) {
    std::fs::create_dir_all(place.0.join("mine/studies")).unwrap();
    place.file(
        "mine/studies/loads.toml",
        "netloom = 1\nname = \"loads\"\n[topology]\nkind = \"single-switch\"\nports = 4\n\
         [[traffic]]\nname = \"uniform\"\nload = 0.5\nsize = { kind = \"fixed\", bytes = \"2 KiB\" }\n\
         [measure]\nwarmup = \"5 us\"\nlength = \"30 us\"\nrepeat = 4\n\
         [[study.variant]]\nname = \"a\"\nset = { \"traffic.0.load\" = 0.5 }\n[[study.variant]]\nname = \"b\"\n\
         set = { \"traffic.0.load\" = 0.25 }\n",
    );
    place.file(
        "mine/paper.toml",
        "[tiny]\nwords = \"25 us\"\n[[tiny.study]]\nid = \"loads\"\nseries = \"loads {variant}\"\n\
         tables = [\"hosts\"]\n",
    );
    place.file(
        "mine/claims.toml",
        "title = \"A switch\"\n[define]\n\
         \"delivered(v)\" = 'result(\"loads {v}\", \"delivered_load\")'\n\
         [[claim]]\nid = \"M-1\"\ntier = \"O\"\nstatement = \"more\"\npaper = \"-\"\nband = \"a > b\"\n\
         ordered = true\nholds = 'above(delivered(\"a\"), delivered(\"b\"))'\n\
         measured = '{mean(delivered(\"a\")):.2} and {mean(delivered(\"b\")):.2}'\n\
         numbers = { '{v}' = 'mean(delivered(v)) for v in [\"a\", \"b\"]' }\n\
         [[claim]]\nid = \"M-2\"\ntier = \"Q\"\nstatement = \"all\"\npaper = \"1\"\nband = \"0.9\"\n\
         holds = 'mean(delivered(\"a\")) > 0.9'\nmeasured = '{mean(delivered(\"a\")):.1}'\n\
         [[table]]\nname = \"hosts\"\nfor = 'v in [\"a\", \"b\"]'\nruns = '\"loads {v}\"'\n\
         columns = { v = 'v', seed = 'run(\"loads {v}\", \"seed\")', \
         most = 'max(lines(\"loads {v}\", \"hosts\", \"injected_load\"))' }\n",
    );
}

#[test]
fn a_folder_is_judged_as_a_paper() {
    let place = Place::new("reproduce-folder");
    own_paper(&place);
    let ended = place
        .run(&["reproduce", "mine", "--progress", "none", "-o", "out"])
        .with(0);
    // The line after the statement.
    let verdict = |id: &str| {
        let mut lines = ended.stdout.lines();
        lines.find(|line| line.trim_start().starts_with(id));
        lines.next().unwrap_or_default().to_owned()
    };
    assert!(verdict("M-1").ends_with(" holds"), "{}", ended.stdout);
    assert!(verdict("M-2").ends_with(" misses"), "{}", ended.stdout);
    let counts = "  In the paper's own words: 1 of 2 hold, 0 undecided, 1 miss.\n";
    assert!(ended.stdout.starts_with(counts), "{}", ended.stdout);
    assert!(place.read("out/figures.html").contains("<b>M-1</b> more"));
    assert!(
        ended.stderr.contains("paper mine: A switch; size tiny"),
        "{}",
        ended.stderr
    );
    let hosts = place.read("out/hosts.csv");
    assert!(
        hosts.starts_with("v,seed,most\na,") && hosts.lines().count() == 9,
        "{hosts}"
    );
    assert!(place.read("out/points.csv").contains("loads a"));

    let listed = place.run(&["reproduce", "--list", "."]).with(0).stdout;
    assert!(
        listed.contains("./mine") && listed.contains("A switch"),
        "{listed}"
    );
    let listed = place.run(&["reproduce", "--list"]).with(0).stdout;
    assert!(
        ["000", "001", "002", "003", "004"]
            .iter()
            .all(|id| listed.contains(id)),
        "{listed}"
    );

    let refused = place.run(&["reproduce", "mine", "--size", "paper"]).with(1);
    assert!(
        refused
            .stderr
            .contains("has no size paper; expected one of tiny"),
        "{}",
        refused.stderr
    );
    let unknown = place.run(&["reproduce", "theirs"]).with(1);
    assert!(
        unknown.stderr.contains("or a folder, found `theirs`"),
        "{}",
        unknown.stderr
    );
    let claims = place
        .read("mine/claims.toml")
        .replace("mean(delivered(\"a\")) > 0.9", "0.9 <");
    place.file("mine/claims.toml", &claims);
    let wrong = place.run(&["reproduce", "mine"]).with(3);
    assert!(
        wrong
            .stderr
            .contains("expected a value, found the end (column 6"),
        "{}",
        wrong.stderr
    );
    place.file(
        "mine/paper.toml",
        "[tiny]\nwords = \"w\"\n[[tiny.study]]\nid = \"x\"\nserie = \"y\"\n",
    );
    place.file("mine/claims.toml", "title = \"t\"\n");
    let wrong = place.run(&["reproduce", "mine"]).with(3);
    for message in ["unknown key `serie`", "expected the file studies/x.toml"] {
        assert!(wrong.stderr.contains(message), "{}", wrong.stderr);
    }
}

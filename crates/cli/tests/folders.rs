//! Folders of results through the binary: complete or unchanged after kills, concurrent runs and
//! hostile files.

mod place;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use place::{Ended, Place, Running};

const SMALL: &str = "netloom = 1\nname = \"small\"\n\
    [topology]\nkind = \"single-switch\"\nports = 4\n\
    [[traffic]]\nname = \"bulk\"\nload = 0.4\n\
    [measure]\nlength = \"60 us\"\nwarmup = \"4 us\"\ninterval = 0.9\n";

/// Two points, one seed.
fn study() -> String {
    format!("{SMALL}[study.axes]\n\"traffic.0.load\" = [0.2, 0.4]\n").replace("\"small\"", "\"s\"")
}

/// Returns every file below a folder with its bytes, without what differs between two equal runs.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if std::fs::symlink_metadata(&path).unwrap().is_dir() {
                open.push(path);
            } else if !path.ends_with("manifest.json") {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

/// Starts a run that would take minutes.
fn long_run(place: &Place, folder: &str) -> Running {
    place.begin(&[
        "run",
        "small.toml",
        "--until",
        "100s",
        "-o",
        folder,
        "--overwrite",
    ])
}

#[test]
fn a_second_process_on_a_folder_learns_who_has_it() {
    let place = Place::new("folders-two");
    place.file("small.toml", SMALL);
    place.run(&["run", "small.toml", "-o", "out"]).with(0);
    let before = files(&place.0.join("out"));
    let running = long_run(&place, "out");
    for arguments in [
        &["run", "small.toml", "-o", "out"][..],
        &["run", "small.toml", "-o", "out", "--overwrite"],
        &["report", "out"],
        &["plot", "out"],
    ] {
        let refused = place.run(arguments).with(1);
        let holder = format!("out is in use by process {}", running.id());
        assert!(
            refused.stderr.contains(&holder) && refused.stderr.contains("--until 100s"),
            "{}",
            refused.stderr
        );
    }
    // Readers, and runs into another folder, are not blocked.
    place
        .run(&["report", "out", "-o", "elsewhere.html"])
        .with(0);
    place.run(&["compare", "out", "out"]).with(0);
    place.run(&["run", "small.toml", "-o", "other"]).with(0);
    assert_eq!(running.stopped_by("-KILL").code, None);
    assert_eq!(
        files(&place.0.join("out")),
        before,
        "a killed run changes nothing"
    );
    place.run(&["run", "small.toml", "-o", "out"]).with(0);
    assert_eq!(
        names(&place.0),
        ["elsewhere.html", "other", "out", "small.toml"],
        "its temporary files next to the folder are removed"
    );
}

#[test]
fn of_two_that_overwrite_at_once_one_wins_whole() {
    let place = Place::new("folders-race");
    place.file("small.toml", SMALL);
    let run = |seed: &str| {
        let arguments = [
            "run",
            "small.toml",
            "--seed",
            seed,
            "-o",
            "out",
            "--overwrite",
        ];
        let mut command = place.command(&arguments);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut alone = vec![];
    for seed in ["1", "2"] {
        place
            .run(&["run", "small.toml", "--seed", seed, "-o", seed])
            .with(0);
        alone.push(files(&place.0.join(seed)));
    }
    for _ in 0..6 {
        for child in [run("1"), run("2")] {
            let ended = child.wait_with_output().unwrap();
            assert!(ended.status.success() || ended.status.code() == Some(1));
        }
        assert!(alone.contains(&files(&place.0.join("out"))));
    }
    assert_eq!(names(&place.0), ["1", "2", "out", "small.toml"]);
}

#[test]
fn two_reproductions_at_once_do_not_forget_each_others_runs() {
    let place = Place::new("folders-reproduce");
    let arguments = [
        "reproduce",
        "000",
        "--size",
        "tiny",
        "--scenario",
        "S000-1",
        "-o",
        "out",
        "--progress",
        "none",
        "-q",
    ];
    let start = || {
        let mut command = place.command(&arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let all = [start(), start(), start()].map(|child| child.wait_with_output().unwrap());
    assert!(all.iter().any(|ended| ended.status.success()));
    for ended in all {
        let ended = Ended::new(ended);
        assert!(
            ended.code == Some(0) || ended.stderr.contains("out is in use by process"),
            "{}",
            ended.stderr
        );
    }
    place.run(&arguments).with(0);
    let runs = names(&place.0.join("out/tiny/S000-1/runs")).len();
    let manifest: serde_json::Value =
        serde_json::from_str(&place.read("out/manifest.json")).unwrap();
    assert_eq!(manifest["runs"].as_u64(), Some(runs as u64));
    assert_eq!(names(&place.0), ["out"]);
    // Reproductions and other results do not share a folder.
    place.file("small.toml", SMALL);
    place.run(&["run", "small.toml"]).with(0);
    let mixed = ["reproduce", "000", "-o", "small.out", "--overwrite"];
    assert!(place.run(&mixed).with(1).stderr.contains("results.json"));
    let mixed = ["run", "small.toml", "-o", "out", "--overwrite"];
    assert!(place.run(&mixed).with(1).stderr.contains("claims"));
}

#[test]
fn an_old_report_and_old_figures_are_not_beside_new_results() {
    let place = Place::new("folders-stale");
    place.file("small.toml", SMALL);
    place.run(&["run", "small.toml"]).with(0);
    place.run(&["report", "small.out"]).with(0);
    place.run(&["plot", "small.out"]).with(0);
    let drawn = |folder: &str| {
        ["report.html", "figures"].map(|name| place.0.join(folder).join(name).exists())
    };
    assert_eq!(drawn("small.out"), [true, true]);
    let loaded = [
        "run",
        "small.toml",
        "--set",
        "traffic.load=0.3",
        "--overwrite",
    ];
    place.run(&loaded).with(0);
    assert_eq!(drawn("small.out"), [false, false]);
    // In a study, they are kept while its tables are the same, and removed with them.
    place.file("s.toml", &study());
    place.run(&["run", "s.toml", "--shard", "1/2"]).with(0);
    place.run(&["study", "merge", "s.out", "--partial"]).with(0);
    place.run(&["report", "s.out"]).with(0);
    place.run(&["plot", "s.out"]).with(0);
    place.run(&["study", "merge", "s.out", "--partial"]).with(0);
    assert_eq!(drawn("s.out"), [true, true]);
    place.run(&["run", "s.out"]).with(0);
    assert_eq!(drawn("s.out"), [false, false]);
}

#[test]
fn a_run_and_a_study_replace_each_other_whole_or_not_at_all() {
    let place = Place::new("folders-kinds");
    place.file("small.toml", SMALL).file("s.toml", &study());
    let run = ["run", "small.toml", "-o", "run"];
    let study = ["run", "s.toml", "-o", "study"];
    place.run(&run).with(0);
    place.run(&study).with(0);
    let (of_run, of_study) = (files(&place.0.join("run")), names(&place.0.join("study")));
    let over_study = ["run", "small.toml", "-o", "study"];
    let refused = place.run(&over_study).with(1).stderr;
    assert!(
        refused.contains("study contains a study") && refused.contains("--overwrite"),
        "{refused}"
    );
    let over_run = ["run", "s.toml", "-o", "run"];
    let refused = place.run(&over_run).with(1).stderr;
    assert!(refused.contains("run contains a single run"), "{refused}");
    place
        .run(&[&over_study[..], &["--overwrite"]].concat())
        .with(0);
    place
        .run(&[&over_run[..], &["--overwrite"]].concat())
        .with(0);
    assert_eq!(files(&place.0.join("study")), of_run);
    assert_eq!(names(&place.0.join("run")), of_study);
    // Files from other sources are not lost.
    place
        .file("run/notes.txt", "mine")
        .file("study/notes.txt", "mine");
    for (file, folder) in [
        ("small.toml", "run"),
        ("small.toml", "study"),
        ("s.toml", "study"),
    ] {
        let over = ["run", file, "-o", folder, "--overwrite"];
        let refused = place.run(&over).with(1).stderr;
        assert!(refused.contains("notes.txt"), "{refused}");
    }
    assert_eq!(place.read("run/notes.txt"), "mine");
}

#[test]
fn a_folder_that_cannot_be_written_is_reported_before_anything_is_simulated() {
    let place = Place::new("folders-unwritable");
    place
        .file("small.toml", SMALL)
        .file("s.toml", &study())
        .file("plain", "");
    let long = "x".repeat(300);
    let began = Instant::now();
    for arguments in [
        &["-o", &long][..],
        &["-o", "plain"],
        &["-o", "plain/out"],
        #[cfg(target_os = "linux")]
        &["-o", "/proc/out"],
        #[cfg(target_os = "linux")]
        &["-o", "/proc"],
        &["-o", "."],
    ] {
        // Long enough to show that the command does not run it.
        let run = [&["run", "small.toml", "--until", "100s"], arguments].concat();
        let stderr = place.run(&run).with(1).stderr;
        assert!(
            stderr.contains("cannot write") || stderr.contains("contains"),
            "{stderr}"
        );
        let study = [
            &["run", "s.toml", "--set", "measure.length=\"100s\""],
            arguments,
        ]
        .concat();
        let stderr = place.run(&study).with(1).stderr;
        assert!(
            stderr.contains("cannot write") || stderr.contains("contains"),
            "{stderr}"
        );
        let paper = [&["reproduce", "000", "--size", "paper"], arguments].concat();
        place.run(&paper).with(1);
    }
    // A name of the experiment that cannot be a folder name is an error of the file.
    let named = format!("name=\"{long}\"");
    let run = ["run", "small.toml", "--until", "100s", "--set", &named];
    let stderr = place.run(&run).with(3).stderr;
    assert!(stderr.contains("E0108"), "{stderr}");
    assert!(began.elapsed() < Duration::from_secs(60));
    assert_eq!(names(&place.0), ["plain", "s.toml", "small.toml"]);
    // The longest name that the system allows is valid, although hidden names are longer.
    let longest = "y".repeat(255);
    place.run(&["run", "small.toml", "-o", &longest]).with(0);
    place
        .run(&["run", "small.toml", "-o", &longest, "--overwrite"])
        .with(0);
    place.run(&["report", &longest]).with(0);
    assert_eq!(names(&place.0).len(), 4);
}

#[cfg(unix)]
#[test]
fn symbolic_links_in_a_folder_are_not_followed() {
    use std::os::unix::fs::symlink;
    let place = Place::new("folders-links");
    place
        .file("small.toml", SMALL)
        .file("s.toml", &study())
        .file("victim", "precious");
    std::fs::create_dir(place.0.join("elsewhere")).unwrap();
    let link = |from: &str, to: &str| symlink(place.0.join(to), place.0.join(from)).unwrap();
    let unlink = |name: &str| std::fs::remove_file(place.0.join(name)).unwrap();
    let untouched = || {
        assert_eq!(place.read("victim"), "precious");
        assert!(names(&place.0.join("elsewhere")).is_empty());
    };
    // In a run: names that a temporary or final file could have.
    place.run(&["run", "small.toml"]).with(0);
    for name in [".resolved.toml.tmp", "report.html"] {
        link(&format!("small.out/{name}"), "victim");
        let refused = place.run(&["run", "small.toml"]).with(1).stderr;
        assert!(refused.contains(name), "{refused}");
        unlink(&format!("small.out/{name}"));
    }
    place.run(&["run", "small.toml"]).with(0);
    untouched();
    // A report and figures.
    for (name, to, command) in [
        ("small.out/report.html", "victim", "report"),
        ("small.out/figures", "elsewhere", "plot"),
    ] {
        link(name, to);
        let refused = place.run(&[command, "small.out"]).with(1).stderr;
        assert!(refused.contains("symbolic link"), "{refused}");
        unlink(name);
    }
    place.run(&["plot", "small.out"]).with(0);
    let figure = format!(
        "small.out/figures/{}",
        names(&place.0.join("small.out/figures"))[0]
    );
    unlink(&figure);
    link(&figure, "victim");
    let refused = place.run(&["plot", "small.out"]).with(1).stderr;
    assert!(refused.contains("symbolic link"), "{refused}");
    // The lock next to a folder.
    link(".other.lock", "victim");
    place.run(&["run", "small.toml", "-o", "other"]).with(1);
    unlink(".other.lock");
    untouched();
    // In a study: its runs, its journal, its locks, a table, the folder of incoming tables.
    place.run(&["run", "s.toml"]).with(0);
    for inner in ["runs", "journal", "locks"] {
        let _ = std::fs::rename(place.0.join("s.out").join(inner), place.0.join("aside"));
        link(&format!("s.out/{inner}"), "elsewhere");
        let refused = place.run(&["run", "s.out"]).with(1).stderr;
        assert!(refused.contains("symbolic link"), "{inner}: {refused}");
        unlink(&format!("s.out/{inner}"));
        let _ = std::fs::rename(place.0.join("aside"), place.0.join("s.out").join(inner));
    }
    unlink("s.out/results.csv");
    link("s.out/results.csv", "victim");
    let refused = place.run(&["study", "merge", "s.out"]).with(1).stderr;
    assert!(
        refused.contains("results.csv: it is a symbolic link"),
        "{refused}"
    );
    unlink("s.out/results.csv");
    place.run(&["study", "merge", "s.out"]).with(0);
    untouched();
    // A reproduction.
    let paper = [
        "reproduce",
        "000",
        "--size",
        "tiny",
        "--scenario",
        "S000-1",
        "-o",
        "paper",
        "-q",
    ];
    std::fs::create_dir_all(place.0.join("paper/tiny")).unwrap();
    link("paper/claims.txt", "victim");
    let refused = place.run(&paper).with(1).stderr;
    assert!(refused.contains("symbolic link"), "{refused}");
    untouched();
    // A link that the user gives as the folder of results is followed.
    link("mine.out", "elsewhere");
    place.run(&["run", "small.toml", "-o", "mine.out"]).with(0);
    assert!(place.0.join("elsewhere/results.json").exists());
    assert!(
        std::fs::symlink_metadata(place.0.join("mine.out"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn files_of_the_user_among_results_are_kept() {
    let place = Place::new("folders-kept");
    place.file("small.toml", SMALL).file("s.toml", &study());
    place.run(&["run", "small.toml"]).with(0);
    std::fs::create_dir(place.0.join("small.out/figures")).unwrap();
    place.file("small.out/figures/thesis.txt", "precious");
    let again = ["run", "small.toml", "--overwrite"];
    let refused = place.run(&again).with(1).stderr;
    assert!(refused.contains("figures/thesis.txt"), "{refused}");
    // Only the locks of a study are removed when it is complete.
    place.run(&["run", "s.toml", "--shard", "1/2"]).with(0);
    place.file("s.out/locks/notes", "precious");
    place.run(&["run", "s.out"]).with(0);
    assert_eq!(names(&place.0.join("s.out/locks")), ["notes"]);
    let refused = place
        .run(&["run", "s.toml", "--until", "30us", "--overwrite"])
        .with(1);
    assert!(refused.stderr.contains("locks/notes"), "{}", refused.stderr);
    for file in ["small.out/figures/thesis.txt", "s.out/locks/notes"] {
        assert_eq!(place.read(file), "precious");
    }
    // Files that appear there during a run are not removed at its end.
    std::fs::remove_file(place.0.join("small.out/figures/thesis.txt")).unwrap();
    let running = long_run(&place, "small.out");
    place.file("small.out/thesis.txt", "precious");
    let ended = running.stopped_by("-INT").with(1).stderr;
    assert!(
        ended.contains("thesis.txt") && ended.contains("the results are in "),
        "{ended}"
    );
    assert_eq!(place.read("small.out/thesis.txt"), "precious");
    // The lock next to a folder.
    place.file(".other.lock", "precious");
    let refused = place
        .run(&["run", "small.toml", "-o", "other"])
        .with(1)
        .stderr;
    assert!(
        refused.contains("is not a lock file of netloom"),
        "{refused}"
    );
    assert_eq!(place.read(".other.lock"), "precious");
}

#[test]
fn names_of_tables_in_run_files_are_not_paths() {
    let place = Place::new("folders-names");
    place.file("s.toml", &study());
    place.run(&["run", "s.toml"]).with(0);
    let runs = place.0.join("s.out/runs");
    let file = runs.join(&names(&runs)[0]);
    let whole = std::fs::read(&file).unwrap();
    let absolute = place.0.join("absolute").display().to_string();
    for evil in [
        "../evil",
        "../../evil",
        &absolute,
        "figures/evil",
        "evil",
        "",
    ] {
        let json = String::from_utf8(zstd::decode_all(&whole[..]).unwrap()).unwrap();
        let json = json.replace("[\"links\",", &format!("[{},", serde_json::json!(evil)));
        assert!(json.contains(evil) && !json.contains("[\"links\","));
        std::fs::write(&file, zstd::encode_all(json.as_bytes(), 3).unwrap()).unwrap();
        let before = names(&place.0.join("s.out"));
        for command in [&["study", "merge", "s.out"][..], &["run", "s.out"]] {
            let refused = place.run(command).with(1).stderr;
            assert!(
                refused.contains("runs/") && refused.contains("table"),
                "{refused}"
            );
        }
        assert_eq!(names(&place.0), ["s.out", "s.toml"]);
        let after = names(&place.0.join("s.out"));
        assert!(
            after
                .iter()
                .all(|name| before.contains(name) || name == "locks"),
            "{after:?}"
        );
    }
    std::fs::write(&file, whole).unwrap();
    place.run(&["study", "merge", "s.out"]).with(0);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_is_marked_in_every_file() {
    let place = Place::new("folders-interrupted");
    place.file("small.toml", SMALL);
    long_run(&place, "out").stopped_by("-INT").with(130);
    for name in names(&place.0.join("out")) {
        let is_marked = match name.as_str() {
            // The experiment and its layout, which do not depend on the outcome.
            "resolved.toml" | "layout.json" => true,
            "SHA256SUMS" => place.read("out/SHA256SUMS").contains(".partial."),
            "results.json" | "manifest.json" => place
                .read(&format!("out/{name}"))
                .contains("\"interrupted\""),
            name => name.ends_with(".partial.csv") || name.ends_with(".partial.parquet"),
        };
        assert!(is_marked, "{name}");
    }
    let report = place.run(&["report", "out"]).with(0);
    assert!(
        report.stderr.contains("interrupted with seed"),
        "{}",
        report.stderr
    );
    assert!(place.0.join("out/links.partial.parquet").exists());
    // A completed run has only whole tables.
    place
        .run(&["run", "small.toml", "-o", "out", "--overwrite"])
        .with(0);
    assert!(
        names(&place.0.join("out"))
            .iter()
            .all(|name| !name.contains("partial"))
    );
}

#[test]
fn a_table_of_many_lines_is_written_as_parquet_only() {
    let place = Place::new("folders-many-lines");
    let levels = "sl = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]\nload = 0.01\n";
    // 226 rows of about 200 epochs and 3 seeds.
    let classes = (0..15).map(|n| format!("[[traffic]]\nname = \"c{n}\"\n{levels}"));
    let text = SMALL.replace(
        "length = \"60 us\"\nwarmup = \"4 us\"",
        "length = \"2 us\"\nrepeat = 3",
    );
    place.file("many.toml", &(text + &classes.collect::<String>()));
    let run = |more: &[&str]| {
        let ended = place.run(&[&["run", "many.toml", "-o", "out"], more].concat());
        ended.stderr
    };
    let stderr = run(&[]);
    let line = "skipped CSV for tables of more than 100,000 lines: series (`--csv` writes them)\n";
    assert!(stderr.contains(line), "{stderr}");
    let has = |name: &str| place.0.join("out").join(name).exists();
    assert!(has("series.parquet") && has("hosts.csv") && !has("series.csv"));
    place.run(&["report", "out"]).with(0);
    let stderr = run(&["--csv"]);
    assert!(!stderr.contains("skipped CSV"), "{stderr}");
    assert!(place.read("out/series.csv").lines().count() > 100_000);
}

#[test]
fn tables_of_a_study_that_lacks_runs_are_called_partial() {
    let place = Place::new("folders-partial");
    place.file("s.toml", &study());
    place.run(&["run", "s.toml", "--shard", "1/2"]).with(0);
    place.run(&["study", "merge", "s.out", "--partial"]).with(0);
    let tables = || {
        let names = names(&place.0.join("s.out")).into_iter();
        let is_table = |name: &String| name.ends_with(".csv") || name.ends_with(".parquet");
        names.filter(is_table).collect::<Vec<_>>()
    };
    assert!(tables().len() >= 6 && tables().iter().all(|name| name.contains(".partial.")));
    place.run(&["report", "s.out"]).with(0);
    place.run(&["compare", "s.out", "s.out"]).with(0);
    place.run(&["run", "s.out"]).with(0);
    assert!(
        tables().iter().all(|name| !name.contains(".partial.")),
        "{:?}",
        tables()
    );
}

#[test]
fn a_merge_that_was_cut_off_is_reported_and_finished() {
    let place = Place::new("folders-cut-off");
    place.file("s.toml", &study());
    place.run(&["run", "s.toml"]).with(0);
    let whole = files(&place.0.join("s.out"));
    // As if killed after new tables were announced and before the second one was in place.
    let incoming = place.0.join("s.out/incoming");
    std::fs::create_dir(&incoming).unwrap();
    let moved = incoming.join("results.csv");
    std::fs::rename(place.0.join("s.out/results.csv"), &moved).unwrap();
    place.file("s.out/results.csv", "stale");
    place.file("s.out/links.csv", "stale");
    place.file("s.out/report.html", "stale");
    let list =
        "{\"arrives\":[\"points.csv\",\"results.csv\"],\"leaves\":[\"links.csv\",\"report.html\"]}";
    place.file("s.out/incoming/incoming.json", list);
    let arguments: [&[&str]; 2] = [&["compare", "s.out", "s.out"], &["plot", "s.out", "--list"]];
    for arguments in arguments {
        let ended = place.run(arguments);
        assert!(
            ended.code != Some(0) && ended.stderr.contains("netloom study merge s.out"),
            "{}",
            ended.stderr
        );
    }
    place.run(&["study", "status", "s.out"]).with(0);
    place.run(&["study", "merge", "s.out"]).with(0);
    assert_eq!(files(&place.0.join("s.out")), whole);
}

#[test]
fn a_journal_that_is_no_text_stops_nobody() {
    let place = Place::new("folders-journal");
    place.file("s.toml", &study());
    place.run(&["run", "s.toml"]).with(0);
    std::fs::write(
        place.0.join("s.out/journal/broken.jsonl"),
        b"\xff\xfe\n{\"event\"",
    )
    .unwrap();
    std::fs::create_dir(place.0.join("s.out/journal/folder")).unwrap();
    for command in ["status", "merge"] {
        place.run(&["study", command, "s.out"]).with(0);
    }
    place.run(&["run", "s.out"]).with(0);
}

/// Returns the number of complete checkpoints of a run so far.
fn checkpoints(place: &Place) -> u64 {
    let entries = std::fs::read_dir(place.0.join("out.checkpoint"));
    let numbers = entries.into_iter().flatten().flatten().filter_map(|entry| {
        let is_whole = entry.path().join("run").is_file();
        let name = entry.file_name().into_string().ok()?;
        name.parse().ok().filter(|_: &u64| is_whole)
    });
    numbers.max().unwrap_or(0)
}

/// A run of some seconds with checkpoints, in partitions that several threads may share.
const EXPERIMENT: &str = "netloom = 1\nname = \"kept\"\n\
    [topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 2\n\
    [[traffic]]\nload = 0.6\n\
    [measure]\nlength = \"40 ms\"\nrepeat = 2\n";
const RUN_WITH_CHECKPOINTS: [&str; 8] = [
    "run",
    "kept.toml",
    "-o",
    "out",
    "--partitions",
    "3",
    "--checkpoint-every",
    "0.05s",
];

#[test]
fn a_run_that_is_killed_goes_on_from_its_checkpoint() {
    let place = Place::new("folders-killed");
    place.file("kept.toml", EXPERIMENT);
    place.run(&["run", "kept.toml", "-o", "whole"]).with(0);
    let mut kills = 0;
    let stderr = loop {
        let seen = checkpoints(&place);
        let mut arguments = RUN_WITH_CHECKPOINTS.to_vec();
        if kills % 2 == 1 {
            arguments.extend(["--threads", "2"]);
        }
        let mut child = place
            .command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (began, mut has_ended) = (Instant::now(), false);
        // Killed after the next checkpoint, while it simulates or writes another one.
        while !has_ended && (checkpoints(&place) <= seen || kills >= 5) {
            // Partitions that wait for each other are slow on a busy machine.
            let is_patient = began.elapsed() < Duration::from_secs(300);
            assert!(is_patient, "neither another checkpoint nor the end");
            has_ended = child.try_wait().unwrap().is_some();
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(17 * kills));
        let _ = child.kill();
        let ended = child.wait_with_output().unwrap();
        if ended.status.success() {
            break String::from_utf8(ended.stderr).unwrap();
        }
        kills += 1;
    };
    assert!(kills >= 3, "{kills} kills");
    assert!(
        stderr.contains("resuming from checkpoint out.checkpoint at "),
        "{stderr}"
    );
    assert_eq!(
        files(&place.0.join("out")),
        files(&place.0.join("whole")),
        "the same as without kills"
    );
    assert_eq!(names(&place.0), ["kept.toml", "out", "whole"]);
}

#[cfg(unix)]
#[test]
fn a_checkpoint_is_made_at_an_interrupt_and_taken_by_its_own_run_only() {
    let place = Place::new("folders-checkpoint");
    place.file("kept.toml", EXPERIMENT);
    let mut arguments = RUN_WITH_CHECKPOINTS.to_vec();
    arguments[7] = "1h";
    let ended = place.begin(&arguments).stopped_by("-TERM").with(130);
    let stderr = ended.stderr;
    assert!(
        stderr.contains("Run the same command to resume from the checkpoint."),
        "{stderr}"
    );
    assert_eq!(checkpoints(&place), 1);

    // Another run does not use it, and a modified file is refused.
    std::fs::rename(place.0.join("out"), place.0.join("partial")).unwrap();
    let refused = place
        .run(&["run", "kept.toml", "-o", "out", "--seed", "9"])
        .with(1);
    std::fs::rename(place.0.join("partial"), place.0.join("out")).unwrap();
    assert!(refused.stderr.contains("another run"), "{}", refused.stderr);
    let file = place.0.join("out.checkpoint/1/partition-2");
    let good = std::fs::read(&file).unwrap();
    let mut bad = good.clone();
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    std::fs::write(&file, bad).unwrap();
    let refused = place.run(&RUN_WITH_CHECKPOINTS).with(1);
    assert!(
        refused
            .stderr
            .contains("partition-2 is damaged: its checksum does not match"),
        "{}",
        refused.stderr
    );
    // A pipe does not block.
    std::fs::remove_file(&file).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&file).status();
    assert!(made.unwrap().success());
    let refused = place.run(&RUN_WITH_CHECKPOINTS).with(1);
    let stderr = refused.stderr;
    assert!(
        stderr.contains("partition-2 is a pipe or a device: expected a regular file"),
        "{stderr}"
    );
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, good).unwrap();

    // Without --checkpoint-every it resumes too.
    place.run(&["run", "kept.toml", "-o", "whole"]).with(0);
    let last = place.run(&["run", "kept.toml", "-o", "out"]).with(0);
    assert!(last.stderr.contains("resuming from"), "{}", last.stderr);
    assert_eq!(files(&place.0.join("out")), files(&place.0.join("whole")));
    assert_eq!(names(&place.0), ["kept.toml", "out", "whole"]);
}

#[test]
fn a_folder_of_others_is_no_checkpoint() {
    let place = Place::new("folders-foreign");
    place.file("small.toml", SMALL);
    std::fs::create_dir_all(place.0.join("model.checkpoint/3")).unwrap();
    for foreign in ["model.checkpoint/weights.bin", "model.checkpoint/3/run"] {
        place.file(foreign, "precious");
        for more in [&["--overwrite"][..], &["--checkpoint-every", "1h"]] {
            let arguments = ["run", "small.toml", "-o", "model"];
            let refused = place.run(&[&arguments[..], more].concat()).with(1);
            let message = format!("{foreign} is not part of a checkpoint");
            let is_other = refused
                .stderr
                .contains("is not a checkpoint of this format");
            assert!(
                refused.stderr.contains(&message) || is_other,
                "{}",
                refused.stderr
            );
            assert_eq!(place.read(foreign), "precious");
        }
        std::fs::remove_file(place.0.join(foreign)).unwrap();
    }
    // A run without checkpoints ignores the folder.
    place.file("model.checkpoint/weights.bin", "precious");
    place.run(&["run", "small.toml", "-o", "model"]).with(0);
    assert_eq!(place.read("model.checkpoint/weights.bin"), "precious");
}

/// A checkpoint with modified bytes and a matching checksum.
#[cfg(unix)]
#[test]
fn a_forged_checkpoint_ends_no_process_by_a_signal() {
    let place = Place::new("folders-forged");
    place.file("kept.toml", &EXPERIMENT.replace("repeat = 2", "repeat = 1"));
    let mut arguments = RUN_WITH_CHECKPOINTS.to_vec();
    (arguments[5], arguments[7]) = ("1", "1h");
    place.begin(&arguments).stopped_by("-TERM").with(130);
    let folder = place.0.join("out.checkpoint");
    let whole: Vec<(PathBuf, Vec<u8>)> = files(&folder).into_iter().collect();
    let (part, good) = &whole[0];
    assert!(part.ends_with("partition-0"), "{part:?}");
    let mut n_refused = 0;
    for turn in 0..8 {
        let mut bad = good[..good.len() - 32].to_vec();
        let at = 200 + turn * (bad.len() - 204) / 8;
        bad[at..at + 4].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
        let hash = netloom_results::sha256(&bad);
        let byte = |at: usize| u8::from_str_radix(&hash[2 * at..2 * at + 2], 16).unwrap();
        bad.extend((0..32).map(byte));
        for (name, bytes) in &whole {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, if name == part { &bad } else { bytes }).unwrap();
        }
        let ended = place.run(&arguments);
        let stderr = &ended.stderr;
        assert!(
            matches!(ended.code, Some(0 | 1 | 4 | 5)),
            "{:?}: {stderr}",
            ended.code
        );
        assert!(!stderr.contains("panicked"), "{stderr}");
        if ended.code == Some(1) {
            n_refused += 1;
            assert!(stderr.contains("cannot use out.checkpoint"), "{stderr}");
            assert!(
                stderr.contains("delete out.checkpoint, or run with --overwrite"),
                "{stderr}"
            );
        }
    }
    assert!(n_refused >= 4, "{n_refused} of 8 are refused");
    place.run(&[&arguments[..], &["--overwrite", "--until", "60 us"]].concat());
    assert!(!folder.exists(), "removed with --overwrite");
}

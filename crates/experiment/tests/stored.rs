//! Results in memory are those that are read from the folder of the run.

use std::path::PathBuf;

use netloom_experiment::runner::{Control, MOST_CSV_LINES, RunOptions, RunResult, run, run_id};
use netloom_experiment::spec::{Request, load};
use netloom_experiment::{Experiment, render};
use netloom_results::store::{RunFolder, read, table_file};
use netloom_results::{Collection, Provenance, Status, Stopwatch};

/// Shortens an experiment of the repository to two seeds of some microseconds.
fn shortened(name: &str) -> Experiment {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let sets = [
        "measure.length=24 us",
        "measure.warmup=4 us",
        "measure.repeat=2",
        "measure.waits=true",
        "about=\"some \\u001B[2J text\"",
    ]
    .map(str::to_owned);
    let loaded = load(&Request {
        sets: &sets,
        force: true,
        ..Request::new(name, &text)
    });
    let notes = render(&loaded.document, &loaded.notes, false);
    loaded.experiment.unwrap_or_else(|| panic!("{notes}"))
}

/// Returns the collection of a stored run, of whose tables these have no CSV.
fn stored(
    name: &str,
    experiment: &Experiment,
    result: &RunResult,
    most_csv_lines: usize,
    without_csv: &[&str],
) -> Collection {
    let stopwatch = Stopwatch::start();
    let path = std::env::temp_dir().join(format!("netloom-stored-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    let folder = RunFolder::open(&path, &run_id(experiment), false).unwrap();
    let provenance = Provenance {
        timing: stopwatch.timing(),
        ..Provenance::of_this_process()
    };
    let skipped = result.store(folder, experiment, &provenance, most_csv_lines);
    assert_eq!(skipped.unwrap(), without_csv);
    for (name, _) in result.all_tables() {
        let file = |ending| path.join(table_file(name, ending, is_partial(result)));
        assert_eq!(file("csv").exists(), !without_csv.contains(&name), "{name}");
        assert!(file("parquet").exists(), "{name}");
    }
    let collection = read(&path).unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    assert_eq!(collection.folder, path.display().to_string());
    let manifest = &collection.manifest;
    assert_eq!(manifest["run_id"], run_id(experiment).to_string());
    assert_eq!(manifest["repeat"], 2);
    assert_eq!(manifest["threads"], 1);
    assert!(!manifest["command_line"][0].as_str().unwrap().is_empty());
    Collection {
        folder: collection.name.clone(),
        manifest: serde_json::Value::Null,
        ..collection
    }
}

fn is_partial(result: &RunResult) -> bool {
    result.document.status() == Status::Interrupted
}

#[track_caller]
fn same(name: &str, experiment: &Experiment, result: &RunResult) {
    let (read, own) = (
        stored(name, experiment, result, MOST_CSV_LINES, &[]),
        result.collection(experiment),
    );
    for (name, table) in &own.tables {
        assert_eq!(read.tables.get(name), Some(table), "{name}");
    }
    assert_eq!(read, own);
}

#[test]
fn a_collection_is_what_is_read_from_the_folder() {
    for (name, table) in [
        ("tree16_two-table_three-classes.toml", "waits"),
        ("tree64_pfc_all-reduce.toml", "hosts"),
        ("dragonfly72_tiled_stash.toml", "stashes"),
    ] {
        let experiment = shortened(name);
        let result = run(&experiment, &RunOptions::default(), &mut |_| {
            Control::Continue
        });
        assert!(
            result.collection(&experiment).table(table).is_some(),
            "{name}: {table}"
        );
        same(name, &experiment, &result);
    }
}

#[test]
fn so_is_that_of_an_interrupted_run_and_of_one_without_tables() {
    let experiment = shortened("tree16_two-table_three-classes.toml");
    let mut asked = 0;
    let stopped = run(&experiment, &RunOptions::default(), &mut |_| {
        asked += 1;
        match asked {
            0..4 => Control::Continue,
            _ => Control::Stop,
        }
    });
    assert_eq!(stopped.document.status(), Status::Interrupted);
    assert_eq!(stopped.collection(&experiment).warnings.len(), 1);
    same("stopped", &experiment, &stopped);
    let options = RunOptions {
        tables: false,
        ..RunOptions::default()
    };
    let bare = run(&experiment, &options, &mut |_| Control::Continue);
    assert_eq!(bare.collection(&experiment).table("links"), None);
    same("bare", &experiment, &bare);
}

#[test]
fn tables_without_csv_are_read_from_parquet() {
    let experiment = shortened("tree16_two-table_three-classes.toml");
    let result = run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    let lines = |name: &str| result.table(name).unwrap().len();
    let most = lines("links");
    assert!(lines("hosts") < most && lines("series") > most && lines("histograms") > most);
    let without = ["series", "histograms"];
    let read = stored("without-csv", &experiment, &result, most, &without);
    assert_eq!(read, result.collection(&experiment));
}

//! Studies in memory: the same runs as in a folder.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use netloom_experiment::runner::Control;
use netloom_experiment::spec::Request;
use netloom_results::store::{self, RunFile};
use netloom_results::{Collection, Provenance, RunId};
use netloom_study::Study;
use netloom_study::running::{
    Finished, MemoryStore, MergeError, MergeOptions, Options, Store, StudyFolder,
};
use proptest::prelude::*;

/// Two NICs send to a third, which saturates at a load of one half.
const BASE: &str = r#"netloom = 1
name = "small"
[topology]
kind = "single-switch"
ports = 3
[[traffic]]
load = 0.5
pattern = { kind = "pairs", pairs = [[1, 0], [2, 0]] }
[measure]
length = "20 us"
"#;

fn study(section: &str) -> Study {
    let text = format!("{BASE}{section}");
    let opened = Study::open(&Request::new("small.toml", &text));
    let messages = netloom_experiment::render(&opened.document, &opened.notes, false);
    opened.study.unwrap_or_else(|| panic!("{messages}\n{text}"))
}

/// A folder that is removed at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("netloom-stores-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(study: &Study, store: &dyn Store, threads: usize) -> Finished {
    let options = Options {
        threads: NonZeroUsize::new(threads).unwrap(),
        ..Options::default()
    };
    let finished = study.run(store, &options, &|_| Control::Continue).unwrap();
    assert!(!finished.interrupted && finished.failed.is_empty());
    assert_eq!(finished.progress.done, finished.progress.of);
    finished
}

/// Returns results that were read from a folder without what only a folder has.
fn as_in_memory(read: Collection) -> Collection {
    assert!(!read.manifest.is_null());
    Collection {
        folder: read.name.clone(),
        manifest: serde_json::Value::Null,
        ..read
    }
}

fn ids(store: &dyn Store) -> Vec<RunId> {
    let mut ids = store.ids().unwrap();
    ids.sort_unstable();
    ids
}

prop_compose! {
    /// The sections of a study with any rules.
    fn sections()(
        first in 1u32..4,
        n in 1u32..3,
        is_refined in any::<bool>(),
        stop_after in prop::option::of(0u32..2),
        repeat in 1u32..4,
        interval in prop::option::of(0.001f64..0.1),
        variants in any::<bool>(),
    ) -> String {
        let mut text = format!("repeat = {}\n[study]\n", repeat.max(2 * u32::from(interval.is_some())));
        if let Some(stop_after) = stop_after {
            text.push_str(&format!("stop-after-saturation = {stop_after}\n"));
        }
        if let Some(interval) = interval {
            text.push_str(&format!("interval = {interval}\nmost-seeds = 4\n"));
        }
        let (from, to) = (f64::from(first) / 5.0, f64::from(first + n) / 5.0);
        let refine = if is_refined { ", refine = 0.1" } else { "" };
        text.push_str(&format!(
            "[study.axes]\n\"traffic.load\" = {{ from = {from}, to = {to}, step = 0.2{refine} }}\n"
        ));
        if variants {
            text.push_str(
                "[[study.variant]]\nname = \"near\"\nset = {}\n[[study.variant]]\nname = \"far\"\n\
                 set = { \"link.cable\" = \"50 m\" }\n",
            );
        }
        text
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// All rules, on one thread in a folder and on several in memory.
    #[test]
    fn memory_and_folder_have_the_same_runs(sections in sections(), threads in 1usize..4) {
        let study = study(&sections);
        let place = Folder::new("same");
        let folder = StudyFolder::begin(&place.0, &study, false).unwrap();
        let memory = MemoryStore::new();
        let on_disk = run(&study, &folder, 1);
        let in_memory = run(&study, &memory, threads);
        prop_assert_eq!(in_memory.progress.done, on_disk.progress.done);
        prop_assert_eq!(in_memory.progress.packet_hops, on_disk.progress.packet_hops);
        prop_assert_eq!(ids(&memory), ids(&folder));
        let copy = Folder::new("copy");
        let copied = StudyFolder::begin(&copy.0, &study, false).unwrap();
        for run_id in ids(&memory) {
            let run = memory.get(&run_id).unwrap();
            prop_assert_eq!(&*run, &*folder.get(&run_id).unwrap());
            prop_assert_eq!(&run.summary, &folder.summary(&run_id).unwrap());
            copied.put((*run).clone()).unwrap();
            let name = RunFile::name(&run_id);
            let bytes = |folder: &StudyFolder| std::fs::read(folder.runs().join(&name)).unwrap();
            prop_assert!(bytes(&copied) == bytes(&folder));
        }
        // The same tables, in order, from either store and from the merged folder.
        let collection = study.collection(&memory, false).unwrap();
        prop_assert_eq!(&study.collection(&folder, false).unwrap(), &collection);
        folder.draw(&study).unwrap();
        let merged = study.merge(
            &folder,
            MergeOptions::default(),
            &Provenance::of_this_process(),
            &mut |_, _| Control::Continue,
        );
        merged.unwrap();
        prop_assert_eq!(as_in_memory(store::read(&place.0).unwrap()), collection);
        // All runs exist, in both.
        for store in [&memory as &dyn Store, &copied] {
            let again = run(&study, store, 1);
            prop_assert_eq!(again.progress.found, on_disk.progress.done);
            prop_assert_eq!(again.progress.packet_hops, 0);
        }
    }
}

#[test]
fn a_stopped_study_goes_on_in_memory() {
    let study = study("repeat = 2\n[study.axes]\n\"traffic.load\" = [0.2, 0.4, 0.6]\n");
    let memory = MemoryStore::new();
    let options = Options {
        threads: NonZeroUsize::MIN,
        ..Options::default()
    };
    let stopped = study.run(&memory, &options, &|progress| match progress.done {
        0..2 => Control::Continue,
        _ => Control::Stop,
    });
    let stopped = stopped.unwrap();
    assert!(stopped.interrupted);
    assert_eq!((stopped.progress.done, ids(&memory).len()), (2, 2));
    // Results of a part have a warning for every missing run.
    let incomplete = study.collection(&memory, false).unwrap_err();
    assert!(matches!(
        incomplete,
        MergeError::Incomplete { missing: 4, .. }
    ));
    let part = study.collection(&memory, true).unwrap();
    assert_eq!(part.warnings.len(), 4);
    assert!(
        part.warnings
            .iter()
            .all(|warning| warning.starts_with("not run: "))
    );
    let finished = run(&study, &memory, 2);
    assert_eq!((finished.progress.done, finished.progress.found), (6, 2));
}

#[test]
fn a_search_for_saturation_runs_in_memory() {
    let study = study(
        "[study]\nstop-after-saturation = 0\n[study.axes]\n\
         \"traffic.load\" = { from = 0.2, to = 1.0, step = 0.2, refine = 0.1 }\n",
    );
    let memory = MemoryStore::new();
    run(&study, &memory, 1);
    let points = &study.collection(&memory, false).unwrap().tables["points"];
    let column = |name| points.column(name).unwrap();
    let loads: Vec<(Option<f64>, bool)> = (0..points.len())
        .filter(|&line| column("scope").text(line) == Some("total"))
        .map(|line| {
            let verdict = column("verdict").text(line);
            (
                column("traffic.load").number(line),
                verdict == Some("saturated"),
            )
        })
        .collect();
    // No load above the first saturated one is run, and the interval before it is halved once.
    let expected = [
        (0.2, false),
        (0.4, false),
        (0.6, false),
        (0.7, false),
        (0.8, true),
    ];
    assert_eq!(loads, expected.map(|(load, verdict)| (Some(load), verdict)));
}

//! Studies whose runs are each shared by several processes, here threads that exchange bytes.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use netloom_experiment::runner::{Control, SharedRanks};
use netloom_experiment::spec::Request;
use netloom_fabric::ThreadRank;
use netloom_study::running::{Finished, Journal, Leader, Options, StudyFolder, follow};
use netloom_study::{Division, Study};

/// Three loads with two seeds each, on twelve switches.
const TEXT: &str = r#"netloom = 1
name = "small"
[topology]
kind = "fat-tree"
arity = 2
levels = 3
[[traffic]]
load = 0.4
[measure]
length = "20 us"
repeat = 2
[study.axes]
"traffic.load" = [0.2, 0.4, 0.6]
"#;

fn study(text: &str) -> Study {
    let opened = Study::open(&Request::new("small.toml", text));
    opened.study.expect("a study without mistakes")
}

/// A folder that is removed at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("netloom-over-ranks-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }

    /// Returns the run files by name.
    fn runs(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let Ok(files) = std::fs::read_dir(self.0.join("runs")) else {
            return BTreeMap::new();
        };
        let named = files.map(|file| {
            let path = file.unwrap().path();
            let name = Path::new(path.file_name().unwrap()).to_owned();
            (name, std::fs::read(path).unwrap())
        });
        named.collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn lead(folder: &Folder, division: Division, leader: Option<&Leader<'_>>) -> Finished {
    let study = study(TEXT);
    let begun = StudyFolder::begin(&folder.0, &study, false).unwrap();
    let journal = Journal::begin(begun.path(), "here", None, 1).unwrap();
    let options = Options {
        owns: &|_| true,
        threads: NonZeroUsize::MIN,
        division,
        leader,
        journal: Some(&journal),
    };
    study.run(&begun, &options, &|_| Control::Continue).unwrap()
}

/// Runs the study over ranks, each with its own text. All but the first call `control`.
fn over_ranks(folder: &Folder, texts: &[&str], control: fn() -> Control) -> Finished {
    let division = Division {
        ranks: texts.len(),
        threads: 2,
        ..Division::default()
    };
    std::thread::scope(|scope| {
        let mut ranks = ThreadRank::several(texts.len()).into_iter();
        let first = SharedRanks::new(ranks.next().unwrap());
        for (rank, text) in ranks.zip(&texts[1..]) {
            scope.spawn(move || {
                let ranks = SharedRanks::new(rank);
                follow(&study(text), &ranks, &division, &mut |_| control());
            });
        }
        let leader = Leader::new(&first);
        lead(folder, division, Some(&leader))
    })
}

#[test]
fn run_files_are_those_of_one_process() {
    let (one, several) = (Folder::new("one"), Folder::new("several"));
    lead(&one, Division::default(), None);
    let finished = over_ranks(&several, &[TEXT; 3], || Control::Continue);
    assert_eq!((finished.progress.done, finished.progress.found), (6, 0));
    assert_eq!(one.runs().len(), 6);
    assert_eq!(one.runs(), several.runs());
    // Existing runs are not repeated, and the other ranks are not called.
    let again = over_ranks(&several, &[TEXT; 3], || unreachable!("nothing is run"));
    assert_eq!((again.progress.done, again.progress.found), (6, 6));
}

#[test]
fn a_rank_that_read_another_file_stops_the_runs_that_differ() {
    let folder = Folder::new("another");
    let other = TEXT.replace("20 us", "30 us");
    let finished = over_ranks(&folder, &[TEXT, &other], || Control::Continue);
    assert_eq!(finished.failed.len(), 3, "every point");
    let why = &finished.failed[0].1;
    assert_eq!(why, "a rank cannot load it, or its file differs\n");
    assert!(folder.runs().is_empty());
}

#[test]
fn more_ranks_than_switches_are_refused_by_every_point() {
    let folder = Folder::new("many");
    let finished = over_ranks(&folder, &[TEXT; 13], || Control::Continue);
    assert_eq!(finished.failed.len(), 3);
    let why = &finished.failed[0].1;
    assert_eq!(
        why,
        "13 ranks, but the fabric has 12 switches: start at most 12\n"
    );
}

#[test]
fn what_any_rank_is_asked_to_stop_all_stop() {
    let folder = Folder::new("stopped");
    let finished = over_ranks(&folder, &[TEXT; 2], || Control::Stop);
    assert!(finished.interrupted && finished.failed.is_empty());
    assert_eq!(finished.progress.done, 0);
    assert!(folder.runs().is_empty());
}

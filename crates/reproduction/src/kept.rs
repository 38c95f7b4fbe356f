//! Runs that are stored: a folder of run files, by what was asked for.
//!
//! A run file is named by its run id, which is known once the experiment is read. Where a paper is about admission,
//! reading is most of the work, so the file also says what was asked for (text, values over it, seed), and a run
//! that was asked for in the same words is found without reading the experiment.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use netloom_results::store::{RunFile, RunSummary, make_folder};
use netloom_results::{Frame, Level, RESULTS_VERSION, RunId, Setting};

use crate::Run;

/// The column of a run file's settings that says what was asked for.
const REQUEST: &str = "request";

/// A folder of runs: each is stored as it ends, and a valid one is never run again.
#[derive(Debug)]
pub struct Kept {
    folder: PathBuf,
    /// What was there at the start, by request.
    known: HashMap<String, RunId>,
}

impl Kept {
    /// Opens a folder, which is made if it is not there; files that are no valid results count as absent.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn open(folder: &Path) -> io::Result<Kept> {
        make_folder(folder)?;
        let mut known = HashMap::new();
        for file in std::fs::read_dir(folder)? {
            let name = file?.file_name();
            let Some(run_id) = name.to_str().and_then(RunFile::id_of) else {
                continue;
            };
            let Ok(summary) = RunSummary::read(folder, &run_id) else {
                continue;
            };
            let is_request = |setting: &&Setting| setting.column == REQUEST;
            if let Some(request) = summary.settings.iter().find(is_request) {
                known.insert(request.value.to_string(), run_id);
            }
        }
        Ok(Kept {
            folder: folder.to_owned(),
            known,
        })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it holds what was asked for in the same words.
    pub fn knows(&self, run: &Run) -> bool {
        self.known.contains_key(&request(run))
    }

    /// The result of what was asked for in the same words, without reading the experiment.
    pub(crate) fn asked_before(&self, run: &Run) -> Option<RunFile> {
        self.get(self.known.get(&request(run))?, run)
    }

    /// The result of a run, if it has the tables that are asked for.
    pub(crate) fn get(&self, run_id: &RunId, run: &Run) -> Option<RunFile> {
        let file = RunFile::read(&self.folder, run_id).ok()?;
        let has = |name: &&str| file.tables.iter().any(|(own, _)| own == name);
        run.tables.iter().all(has).then_some(file)
    }

    /// Stores a run that has ended.
    pub(crate) fn store(&self, file: &RunFile) -> io::Result<()> {
        file.write(&self.folder)
    }
}

/// The file of a run with the tables that its paper looks into.
pub(crate) fn run_file(
    run: &Run,
    run_id: RunId,
    result: netloom_results::Run,
    tables: Vec<(String, Frame)>,
) -> RunFile {
    let setting = |column: &str, value| Setting {
        column: column.to_owned(),
        value,
    };
    RunFile {
        summary: RunSummary {
            results_version: RESULTS_VERSION,
            run_id,
            settings: vec![
                setting("series", Level::Text(run.series.to_owned())),
                setting("load", Level::Number(run.load)),
                setting(REQUEST, Level::Text(request(run))),
            ],
            run: result,
        },
        tables,
    }
}

/// Everything that a run's experiment is made of, and the version that makes it.
fn request(run: &Run) -> String {
    let mut text = format!("{}\u{0}{}", env!("CARGO_PKG_VERSION"), run.text);
    for set in &run.sets {
        text.push('\u{0}');
        text.push_str(set);
    }
    // The hash of a run id also has the version of results.
    RunId::new(&text, run.seed).to_string()
}

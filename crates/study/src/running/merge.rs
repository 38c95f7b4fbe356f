//! All runs of a study as one set of tables: the same bytes however and wherever they were run.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use netloom_results::{
    Column, Datum, Frame, FrameColumn, Kind, Level, RunId, StudyDocument, TABLES,
};
use netloom_store::{RunFile, TableWriter, points, to_parquet};

use crate::Study;

use super::folder::{StudyFolder, StudyFolderError};
use super::recorded::Recorded;
use super::walk::{Planned, PlannedRun, planned};

/// Tables that are written as CSV in any case: small ones, which people open first.
const ALWAYS_CSV: &[&str] = &["results", "points"];

/// What was put together.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Points.
    pub points: usize,
    /// Runs.
    pub runs: usize,
    /// How the runs ended.
    pub by_status: BTreeMap<&'static str, usize>,
    /// What is missing or damaged, as sentences.
    pub warnings: Vec<String>,
    /// The table of points, for people.
    pub table: Frame,
}

/// Why a study cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// Runs are missing.
    #[error(
        "{missing} of {units} units are not complete; `netloom resume {folder}` runs them, or take --partial to merge what is there\n  first of them: {first}"
    )]
    Incomplete {
        /// The folder.
        folder: String,
        /// Units with runs missing.
        missing: usize,
        /// Units in all.
        units: usize,
        /// A run that is missing.
        first: String,
    },
    /// There is nothing at all.
    #[error("{0} has no runs yet")]
    Empty(String),
    /// A run file was damaged after it was written.
    #[error("{file}: {error}; remove it and `netloom resume` the study")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong with it.
        error: String,
    },
    /// The folder is at fault.
    #[error(transparent)]
    Folder(#[from] StudyFolderError),
    /// The system refuses.
    #[error("cannot write {path}: {error}")]
    System {
        /// Where.
        path: String,
        /// What it says.
        error: io::Error,
    },
}

/// Puts the runs of a study together.
///
/// `progress` hears how many of how many runs were read.
///
/// # Errors
/// If runs are missing and `partial` is not set, if a run file is damaged, or if the system refuses.
pub fn merge(
    study: &Study,
    folder: &StudyFolder,
    partial: bool,
    csv: bool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Merged, MergeError> {
    let refused = |path: &Path| {
        let path = path.display().to_string();
        move |error| MergeError::System { path, error }
    };
    let shown = folder.path().display().to_string();
    let document = folder.document_of(study)?;
    // Two who merge at once would take each other's temporary files away.
    let guard = File::open(folder.path().join("study.json")).map_err(refused(folder.path()))?;
    let _guarded = guard.lock();
    let recorded = Recorded::read(folder).map_err(refused(folder.path()))?;
    let planned = planned(study, &recorded);
    if let (Some(first), false) = (planned.missing.first(), partial) {
        return Err(MergeError::Incomplete {
            folder: shown,
            missing: planned.missing.len(),
            units: document.units,
            first: words(study, &first.next),
        });
    }
    if planned.runs.is_empty() {
        return Err(MergeError::Empty(shown));
    }
    let warnings = warnings(study, &planned, &recorded);
    let mut tables = Tables::new(folder, csv);
    let mut results: Option<Frame> = None;
    let mut numbered = Numbered::default();
    let n = planned.runs.len();
    for (done, run) in planned.runs.iter().enumerate() {
        progress(done, n);
        let settings = study.settings(&run.point);
        let record = recorded.get(&settings, run.seed);
        let run_id: &RunId = &record.expect("a planned run is recorded").run_id;
        let damaged = |error: String| {
            let file = folder.runs().join(RunFile::name(run_id));
            let file = file.display().to_string();
            MergeError::Damaged { file, error }
        };
        let file = RunFile::read(&folder.runs(), run_id);
        let file = file.map_err(|error| damaged(error.to_string()))?;
        if !file.tables.iter().any(|(name, _)| name == "results") {
            return Err(damaged("it has no table of results".to_owned()));
        }
        let key = key_columns(&document, numbered.number(run), &settings);
        for (name, frame) in &file.tables {
            let frame = frame.behind(&key);
            tables.push(name, &frame).map_err(refused(folder.path()))?;
            if name == "results" {
                match &mut results {
                    Some(results) => results.append(&frame),
                    None => results = Some(frame),
                }
            }
        }
    }
    progress(n, n);
    let mut keys = vec!["point".to_owned()];
    keys.extend(document.columns.iter().map(|column| column.name.clone()));
    let table = points(&results.expect("every run has results"), &keys);
    tables
        .write_whole("points", &table)
        .map_err(refused(folder.path()))?;
    tables.finish().map_err(refused(folder.path()))?;
    let mut text = serde_json::to_string_pretty(&warnings).expect("plain data is JSON");
    text.push('\n');
    folder.write("warnings.json", text.as_bytes())?;
    if planned.missing.is_empty() {
        tidy(folder);
    }
    Ok(Merged {
        points: numbered.next,
        runs: n,
        by_status: planned.by_status,
        warnings,
        table,
    })
}

/// Points are numbered in the order of the study, from 0.
#[derive(Default)]
struct Numbered {
    last: Option<crate::Point>,
    next: usize,
}

impl Numbered {
    fn number(&mut self, run: &PlannedRun) -> usize {
        if self.last.as_ref() != Some(&run.point) {
            self.last = Some(run.point.clone());
            self.next += 1;
        }
        self.next - 1
    }
}

/// The columns that say which point a line is about.
fn key_columns(
    document: &StudyDocument,
    point: usize,
    settings: &[netloom_results::Setting],
) -> Vec<(FrameColumn, Datum)> {
    let number = Column {
        name: "point",
        unit: "",
        meaning: "Number of the point, in the order of the study.",
    };
    let mut key = vec![(
        FrameColumn::new(&number, Kind::Whole),
        Datum::Whole(point as u64),
    )];
    for (column, setting) in document.columns.iter().zip(settings) {
        let datum = match (&setting.value, column.kind) {
            (Level::Number(x), Kind::Number) => Datum::Number(*x),
            (level, _) => Datum::Text(level.to_string()),
        };
        let own = FrameColumn {
            name: column.name.clone(),
            unit: String::new(),
            meaning: match column.name.as_str() {
                "variant" => "The variant of the point.".to_owned(),
                path => format!("What the point sets for `{path}`."),
            },
            values: netloom_results::Values::new(column.kind),
        };
        key.push((own, datum));
    }
    key
}

fn words(study: &Study, run: &PlannedRun) -> String {
    match study.label(&run.point) {
        label if label.is_empty() => format!("seed {}", run.seed),
        label => format!("{label}, seed {}", run.seed),
    }
}

fn warnings(study: &Study, planned: &Planned, recorded: &Recorded) -> Vec<String> {
    let mut warnings: Vec<String> = planned
        .missing
        .iter()
        .map(|missing| {
            let (first, more) = (words(study, &missing.next), missing.at_most - 1);
            match more {
                0 => format!("not run: {first}"),
                _ => format!("not run: {first}, and at most {more} more that follow from it"),
            }
        })
        .collect();
    for (file, reason) in &recorded.invalid {
        warnings.push(format!("not valid and left out: runs/{file} ({reason})"));
    }
    warnings
}

/// The merged tables while they are written, each under a temporary name.
struct Tables<'a> {
    folder: &'a StudyFolder,
    csv: bool,
    open: BTreeMap<String, Open>,
}

struct Open {
    parquet: TableWriter<BufWriter<File>>,
    csv: Option<BufWriter<File>>,
    /// Where it is written, and what it will be called.
    files: Vec<(PathBuf, String)>,
    has_header: bool,
}

impl<'a> Tables<'a> {
    fn new(folder: &'a StudyFolder, csv: bool) -> Tables<'a> {
        Tables {
            folder,
            csv,
            open: BTreeMap::new(),
        }
    }

    fn temporary(&self, name: &str) -> PathBuf {
        netloom_store::temporary(&self.folder.path().join(name))
    }

    fn push(&mut self, name: &str, frame: &Frame) -> io::Result<()> {
        if !self.open.contains_key(name) {
            let parquet = format!("{name}.parquet");
            let path = self.temporary(&parquet);
            let file = BufWriter::new(File::create(&path)?);
            let mut open = Open {
                parquet: TableWriter::new(file, frame)?,
                csv: None,
                files: vec![(path, parquet)],
                has_header: false,
            };
            if self.csv || ALWAYS_CSV.contains(&name) {
                let csv = format!("{name}.csv");
                let path = self.temporary(&csv);
                open.csv = Some(BufWriter::new(File::create(&path)?));
                open.files.push((path, csv));
            }
            self.open.insert(name.to_owned(), open);
        }
        let open = self.open.get_mut(name).expect("it was just put there");
        open.parquet.push(frame)?;
        if let Some(csv) = &mut open.csv {
            let text = frame.to_csv();
            let lines = match open.has_header {
                true => text.split_once('\n').map_or("", |(_, lines)| lines),
                false => text.as_str(),
            };
            open.has_header = true;
            io::Write::write_all(csv, lines.as_bytes())?;
        }
        Ok(())
    }

    fn write_whole(&self, name: &str, frame: &Frame) -> io::Result<()> {
        let at = |ending: &str| self.folder.path().join(format!("{name}.{ending}"));
        netloom_store::write_atomically(&at("csv"), frame.to_csv().as_bytes())?;
        netloom_store::write_atomically(&at("parquet"), &to_parquet(frame))
    }

    /// Ends all tables and gives them their names; tables that this merge does not write are taken away.
    fn finish(self) -> io::Result<()> {
        let mut files: Vec<(PathBuf, String)> = vec![];
        for (_, open) in self.open {
            open.parquet.finish()?;
            if let Some(mut csv) = open.csv {
                io::Write::flush(&mut csv)?;
            }
            files.extend(open.files);
        }
        for (path, name) in &files {
            fs::rename(path, self.folder.path().join(name))?;
        }
        for (table, _) in TABLES {
            for name in ["csv", "parquet"].map(|ending| format!("{table}.{ending}")) {
                if !files.iter().any(|(_, written)| *written == name) {
                    match fs::remove_file(self.folder.path().join(name)) {
                        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }
}

/// Takes away what killed processes left; nobody works on a study that is complete.
fn tidy(folder: &StudyFolder) {
    let _ = fs::remove_dir_all(folder.path().join("locks"));
    for place in [folder.path().to_owned(), folder.runs()] {
        let entries = fs::read_dir(place).into_iter().flatten();
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') && name.ends_with(".tmp") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

//! Merges all runs of a study into one set of tables, whose bytes do not depend on how or where the
//! runs were made.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;

use netloom_results::store::{
    Incoming, RunFile, TableWriter, fill_slowdowns, finish_incoming, is_table, is_unit, points,
    remove_files, table_file, to_parquet,
};
use netloom_results::{
    AxisColumn, Collection, Column, Control, Datum, Frame, FrameColumn, Kind, Level, Provenance,
    RESULTS_VERSION, Setting, Stopped,
};

use crate::Study;

use super::folder::{StudyFolder, StudyFolderError, columns};
use super::manifest::manifest;
use super::recorded::Recorded;
use super::store::Store;
use super::walk::{Planned, PlannedRun, planned};

/// Tables that are always written as CSV: small ones that users open first.
const ALWAYS_CSV: &[&str] = &["results", "points"];

/// Files that are made from tables, and are outdated once the tables change.
const DRAWN: [&str; 3] = ["report.html", "comparison.html", "figures"];

/// The result of a merge.
#[derive(Clone, Debug)]
pub struct Merged {
    pub points: usize,
    pub runs: usize,
    /// Number of runs by status.
    pub by_status: BTreeMap<&'static str, usize>,
    /// Missing or damaged runs, as sentences.
    pub warnings: Vec<String>,
    /// The table of points, to print.
    pub table: Frame,
}

/// Why a study cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// Runs are missing.
    #[error("{missing} of {units} units are not complete\n  first missing run: {first}")]
    Incomplete {
        folder: String,
        /// Number of units with missing runs.
        missing: usize,
        /// Total number of units.
        units: usize,
        first: String,
    },
    /// There are no runs.
    #[error("{0} has no runs yet")]
    Empty(String),
    /// A run file was damaged after it was written.
    #[error("{file}: {error}; remove it and run the study again")]
    Damaged { file: String, error: String },
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] StudyFolderError),
    /// It was stopped; nothing is replaced.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The system reports an error.
    #[error("cannot write {path}: {error}")]
    System { path: String, error: io::Error },
}

/// Options of a merge.
#[derive(Clone, Copy, Default, Debug)]
pub struct MergeOptions {
    /// Merge even if runs are missing; the tables then have `partial` in their names.
    pub partial: bool,
    /// Write all tables as CSV too.
    pub csv: bool,
}

impl Study {
    /// Merges the runs of a study in its folder. All tables are replaced together, and outdated
    /// reports and figures are removed.
    ///
    /// `progress` is called with the number of runs read and the total; if it stops the merge,
    /// nothing is replaced.
    ///
    /// # Errors
    /// If runs are missing and `partial` is not set, if a run file is damaged, if it is stopped, or
    /// if the system reports an error.
    pub fn merge(
        &self,
        folder: &StudyFolder,
        options: MergeOptions,
        provenance: &Provenance,
        progress: &mut dyn FnMut(usize, usize) -> Control,
    ) -> Result<Merged, MergeError> {
        let refused = || {
            let path = folder.path().display().to_string();
            move |error| MergeError::System { path, error }
        };
        folder.document_of(self)?;
        // Only one process may move tables to their places.
        let guard = File::open(folder.path().join("study.json")).map_err(refused())?;
        let _guarded = guard.lock();
        finish_incoming(folder.path()).map_err(refused())?;
        let stored = Stored::of(self, folder, options.partial)?;
        let is_partial = !stored.planned.missing.is_empty();
        let mut tables = Tables {
            incoming: Incoming::begin(folder.path()).map_err(refused())?,
            csv: options.csv,
            is_partial,
            open: BTreeMap::new(),
        };
        let merged = stored.merge(progress, &mut |name, frame| tables.push(name, frame))?;
        (|| {
            tables.write_whole("points", &merged.table)?;
            let mut text =
                serde_json::to_string_pretty(&merged.warnings).expect("plain data is JSON");
            text.push('\n');
            tables.incoming.write("warnings.json", text.as_bytes())?;
            tables.finish(folder, &manifest(self, folder, &merged, provenance)?)
        })()
        .map_err(refused())?;
        if !is_partial {
            // The study is complete, so no process needs the locks.
            let _ = remove_files(&folder.path().join("locks"), is_unit);
        }
        Ok(merged)
    }
}

impl Study {
    /// Collects the runs of a store into tables, as reports, figures and comparisons read them.
    /// They are those of a merged folder with the same runs, without a manifest.
    ///
    /// # Errors
    /// If there are no runs, if runs are missing and `partial` is not set, or if a run is damaged.
    pub fn collection(&self, store: &dyn Store, partial: bool) -> Result<Collection, MergeError> {
        let mut tables: BTreeMap<String, Frame> = BTreeMap::new();
        let mut push = |name: &str, frame: &Frame| {
            let table = tables.entry(name.to_owned());
            let table = table.or_insert_with(|| frame.without_lines());
            table.append(frame);
            Ok(())
        };
        let merged =
            Stored::of(self, store, partial)?.merge(&mut |_, _| Control::Continue, &mut push)?;
        tables.insert("points".to_owned(), merged.table);
        let columns = columns(self).into_iter();
        let collection = Collection {
            results_version: Some(RESULTS_VERSION),
            folder: self.name.clone(),
            name: self.name.clone(),
            about: self.about.clone(),
            axes: columns.map(|column| column.name).collect(),
            tables,
            experiment: self.to_toml(),
            manifest: serde_json::Value::Null,
            layout: self.layout(),
            warnings: merged.warnings,
        };
        Ok(collection.visible())
    }
}

/// The runs of a study in a store.
struct Stored<'a> {
    study: &'a Study,
    store: &'a dyn Store,
    recorded: Recorded,
    planned: Planned,
}

impl Stored<'_> {
    fn of<'a>(
        study: &'a Study,
        store: &'a dyn Store,
        partial: bool,
    ) -> Result<Stored<'a>, MergeError> {
        let refused = |error| MergeError::System {
            path: store.place(),
            error,
        };
        let recorded = Recorded::read(store).map_err(refused)?;
        let planned = planned(study, &recorded);
        if let (Some(first), false) = (planned.missing.first(), partial) {
            return Err(MergeError::Incomplete {
                folder: store.place(),
                missing: planned.missing.len(),
                units: study.units().len(),
                first: words(study, &first.next),
            });
        }
        if planned.runs.is_empty() {
            return Err(MergeError::Empty(store.place()));
        }
        Ok(Stored {
            study,
            store,
            recorded,
            planned,
        })
    }

    /// Passes the tables of all runs to `push`, in the order of the study and with the columns of
    /// their points in front.
    fn merge(
        self,
        progress: &mut dyn FnMut(usize, usize) -> Control,
        push: &mut dyn FnMut(&str, &Frame) -> io::Result<()>,
    ) -> Result<Merged, MergeError> {
        let refused = |error| MergeError::System {
            path: self.store.place(),
            error,
        };
        let columns = columns(self.study);
        // Slowdowns need all runs.
        let mut results: Vec<Frame> = vec![];
        let mut numbered = Numbered::default();
        let n = self.planned.runs.len();
        for (done, run) in self.planned.runs.iter().enumerate() {
            progress(done, n).check()?;
            let settings = self.study.settings(&run.point);
            let file = self.read(&settings, run.seed)?;
            let key = key_columns(&columns, numbered.number(run), &settings);
            for (name, frame) in &file.tables {
                let frame = frame.with_keys(&key);
                match name.as_str() {
                    "results" => results.push(frame),
                    _ => push(name, &frame).map_err(refused)?,
                }
            }
        }
        progress(n, n).check()?;
        let settings: Vec<String> = columns.into_iter().map(|column| column.name).collect();
        fill_slowdowns(&mut results, &settings);
        for frame in &results {
            push("results", frame).map_err(refused)?;
        }
        let joined = results.into_iter().reduce(|mut joined, frame| {
            joined.append(&frame);
            joined
        });
        let keys: Vec<String> = std::iter::once("point".to_owned())
            .chain(settings)
            .collect();
        Ok(Merged {
            points: numbered.next,
            runs: n,
            warnings: warnings(self.study, &self.planned, &self.recorded),
            by_status: self.planned.by_status,
            table: points(&joined.expect("every run has results"), &keys),
        })
    }

    fn read(&self, settings: &[Setting], seed: u64) -> Result<Arc<RunFile>, MergeError> {
        let record = self.recorded.get(settings, seed);
        let run_id = &record.expect("a planned run is recorded").run_id;
        let damaged = |error: String| {
            let file = Path::new(&self.store.place())
                .join("runs")
                .join(RunFile::name(run_id));
            let file = file.display().to_string();
            MergeError::Damaged { file, error }
        };
        let file = self.store.get(run_id);
        let file = file.map_err(|error| damaged(error.to_string()))?;
        match file.tables.iter().any(|(name, _)| name == "results") {
            true => Ok(file),
            false => Err(damaged("it has no table of results".to_owned())),
        }
    }
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

/// Returns the columns that identify the point of a line.
fn key_columns(
    columns: &[AxisColumn],
    point: usize,
    settings: &[Setting],
) -> Vec<(FrameColumn, Datum)> {
    let meaning = "Number of the point, in the order of the study.";
    let number = Column::new("point", "", meaning);
    let mut key = vec![(
        FrameColumn::new(&number, Kind::Whole),
        Datum::Whole(point as u64),
    )];
    for (column, setting) in columns.iter().zip(settings) {
        let datum = match (&setting.value, column.kind) {
            (Level::Number(x), Kind::Number) => Datum::Number(*x),
            (level, _) => Datum::Text(level.to_string()),
        };
        let own = FrameColumn {
            name: column.name.clone(),
            unit: String::new(),
            meaning: match column.name.as_str() {
                "variant" => "Variant of the point.".to_owned(),
                path => format!("Value of `{path}` at the point."),
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
                _ => format!("not run: {first}, and up to {more} more that depend on it"),
            }
        })
        .collect();
    for (file, reason) in &recorded.invalid {
        warnings.push(format!(
            "skipped, because it is invalid: runs/{file} ({reason})"
        ));
    }
    warnings
}

/// The merged tables, being written.
struct Tables {
    incoming: Incoming,
    csv: bool,
    is_partial: bool,
    open: BTreeMap<String, Open>,
}

struct Open {
    parquet: TableWriter<BufWriter<File>>,
    csv: Option<BufWriter<File>>,
    has_header: bool,
}

impl Tables {
    fn push(&mut self, name: &str, frame: &Frame) -> io::Result<()> {
        let is_partial = self.is_partial;
        if !self.open.contains_key(name) {
            let mut create = |ending: &str| {
                let file = self
                    .incoming
                    .create(&table_file(name, ending, is_partial))?;
                io::Result::Ok(BufWriter::new(file))
            };
            let open = Open {
                parquet: TableWriter::new(create("parquet")?, frame)?,
                csv: match self.csv || ALWAYS_CSV.contains(&name) {
                    true => Some(create("csv")?),
                    false => None,
                },
                has_header: false,
            };
            self.open.insert(name.to_owned(), open);
        }
        let open = self.open.get_mut(name).expect("it was just inserted");
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

    fn write_whole(&mut self, name: &str, frame: &Frame) -> io::Result<()> {
        let file = |ending| table_file(name, ending, self.is_partial);
        let (csv, parquet) = (file("csv"), file("parquet"));
        self.incoming.write(&csv, frame.to_csv().as_bytes())?;
        self.incoming.write(&parquet, &to_parquet(frame))
    }

    /// Finishes all tables and moves them to their places. Removes tables that this merge does not
    /// write, and the report and figures unless they were made from the same tables.
    fn finish(mut self, folder: &StudyFolder, manifest: &str) -> io::Result<()> {
        for open in std::mem::take(&mut self.open).into_values() {
            open.parquet.finish()?;
            if let Some(mut csv) = open.csv {
                io::Write::flush(&mut csv)?;
            }
        }
        let mut leaves = vec![];
        for entry in fs::read_dir(folder.path())?.filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_table(&name) && !self.incoming.has(&name) {
                leaves.push(name);
            }
        }
        if !leaves.is_empty() || !self.incoming.is_unchanged()? {
            leaves.extend(DRAWN.map(str::to_owned));
        }
        self.incoming.write_sums()?;
        self.incoming.write("manifest.json", manifest.as_bytes())?;
        self.incoming.finish(leaves)
    }
}

//! Results of a run outside the runner: the files of its folder, or a collection for reports.

use std::time::{SystemTime, UNIX_EPOCH};

use netloom_results::store::{FolderError, RunFolder, table_file, to_parquet};
use netloom_results::view::layout::Layout;
use netloom_results::{Collection, Manifest, Provenance, Status, sha256};

use super::RunResult;
use crate::Experiment;

/// Maximum lines of a table that `netloom run` writes as CSV without `--csv`. CSV takes most of
/// the time and space of large tables, and no command reads it.
pub const MOST_CSV_LINES: usize = 100_000;

impl RunResult {
    /// Writes all files of the run of this experiment to its folder, which
    /// [`netloom_results::store::read`] reads. Tables of an interrupted run have `partial` in their
    /// names.
    ///
    /// Every table is written as Parquet, and as CSV too if it has at most `most_csv_lines` lines.
    /// Returns the names of the tables without CSV.
    ///
    /// # Errors
    /// If the folder cannot be written, or if an interrupted run would replace a complete one.
    pub fn store(
        &self,
        folder: RunFolder,
        experiment: &Experiment,
        provenance: &Provenance,
        most_csv_lines: usize,
    ) -> Result<Vec<&'static str>, FolderError> {
        let resolved = experiment.resolved.to_toml(true);
        let manifest = self.manifest(experiment, &resolved, provenance);
        let mut files: Vec<(String, Vec<u8>)> = [
            ("resolved.toml", resolved),
            ("manifest.json", manifest.to_json()),
            ("layout.json", layout(experiment).to_json()),
        ]
        .map(|(name, text)| (name.to_owned(), text.into_bytes()))
        .into();
        let is_partial = self.document.status() == Status::Interrupted;
        let mut without_csv = vec![];
        for (name, frame) in self.all_tables() {
            let file = |ending| table_file(name, ending, is_partial);
            match frame.len() <= most_csv_lines {
                true => files.push((file("csv"), frame.to_csv().into_bytes())),
                false => without_csv.push(name),
            }
            files.push((file("parquet"), to_parquet(&frame)));
        }
        folder.write(&self.document, &files)?;
        Ok(without_csv)
    }

    fn manifest(
        &self,
        experiment: &Experiment,
        resolved: &str,
        provenance: &Provenance,
    ) -> Manifest {
        let document = &self.document;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Manifest {
            netloom: document.netloom.clone(),
            git: provenance.git.clone(),
            results_version: document.results_version,
            name: document.name.clone(),
            run_id: document.run_id.clone(),
            status: document.status(),
            command_line: provenance.command_line.clone(),
            config_sha256: sha256(resolved),
            seed: experiment.measure.seed,
            repeat: experiment.measure.repeat,
            digests: document.runs().map(|run| run.digest.clone()).collect(),
            host: provenance.host.clone(),
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            threads: provenance.threads,
            partitions: experiment.fabric.n_partitions(),
            finished_unix_seconds: now.map_or(0, |since| since.as_secs()),
            timing: provenance.timing,
        }
    }

    /// Returns the results of the run of this experiment as reports, figures and comparisons read
    /// them. They are those of the folder that [`RunResult::store`] writes, without a manifest.
    pub fn collection(&self, experiment: &Experiment) -> Collection {
        let tables = self.all_tables().into_iter();
        let tables = tables.map(|(name, frame)| (name.to_owned(), frame));
        let collection = Collection {
            experiment: experiment.resolved.to_toml(true),
            layout: Some(layout(experiment)),
            ..Collection::of_run(&self.document, tables)
        };
        collection.visible()
    }
}

/// Returns the positions of switches and NICs in the drawing of the fabric.
pub fn layout(experiment: &Experiment) -> Layout {
    netloom_drawing::layout(&experiment.fabric.topology)
}

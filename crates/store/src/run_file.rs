//! One run of a study as one file: written beside and renamed, valid or absent.
//!
//! It is two lines of JSON (`zstdcat runs/ID.json.zst | head -1 | jq`), each in a zstd frame with a checksum:
//! the summary with its verdicts, then every table. Times and hosts are no part of it, so whoever runs a run
//! writes the same bytes.

use std::io::{self, Write};
use std::path::Path;

use netloom_results::{Frame, RESULTS_VERSION, Run, RunId, Setting};
use serde::{Deserialize, Serialize};

use crate::write::write_atomically;

/// One run with one seed at one point of a study.
#[derive(Clone, PartialEq, Debug)]
pub struct RunFile {
    /// What the first line holds.
    pub summary: RunSummary,
    /// Every table by its name, without the columns of the point.
    pub tables: Vec<(String, Frame)>,
}

/// What is known of a run without its tables.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunSummary {
    /// Version of the results.
    pub results_version: u32,
    /// Hash of the resolved experiment of this point, its seed and the version of results.
    pub run_id: RunId,
    /// What the point sets, in the order of the axes.
    pub settings: Vec<Setting>,
    /// Summary and verdict.
    pub run: Run,
}

/// Why a file is no result.
#[derive(Debug, thiserror::Error)]
pub enum Invalid {
    /// There is none.
    #[error("there is no such file")]
    Missing,
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// It is the result of something else.
    #[error("it holds {0}")]
    Other(String),
}

/// The ending of run files.
const ENDING: &str = ".json.zst";

impl RunFile {
    /// The name of the file of a run.
    pub fn name(run_id: &RunId) -> String {
        format!("{run_id}{ENDING}")
    }

    /// The run that a file of this name would hold.
    pub fn id_of(name: &str) -> Option<RunId> {
        name.strip_suffix(ENDING).and_then(RunId::parse)
    }

    /// Writes it into a folder.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let mut bytes = compressed(&self.summary)?;
        bytes.extend(compressed(&self.tables)?);
        write_atomically(&folder.join(Self::name(&self.summary.run_id)), &bytes)
    }

    /// Reads the file of a run from a folder.
    ///
    /// # Errors
    /// If there is none, if it is damaged, or if it belongs to another run or version.
    pub fn read(folder: &Path, run_id: &RunId) -> Result<RunFile, Invalid> {
        let (summary, tables) = lines(folder, run_id)?;
        let tables = serde_json::from_slice(&tables).map_err(damaged)?;
        Ok(RunFile { summary, tables })
    }
}

impl RunSummary {
    /// Reads the summary of a run; the tables are only seen to be whole.
    ///
    /// # Errors
    /// If there is none, if it is damaged, or if it belongs to another run or version.
    pub fn read(folder: &Path, run_id: &RunId) -> Result<RunSummary, Invalid> {
        lines(folder, run_id).map(|(summary, _)| summary)
    }
}

fn compressed(part: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut json = serde_json::to_vec(part).expect("plain data is JSON");
    json.push(b'\n');
    let mut encoder = zstd::Encoder::new(Vec::new(), 3)?;
    encoder.include_checksum(true)?;
    encoder.write_all(&json)?;
    encoder.finish()
}

/// The two lines of a file, the first one read and checked.
fn lines(folder: &Path, run_id: &RunId) -> Result<(RunSummary, Vec<u8>), Invalid> {
    let bytes = match std::fs::read(folder.join(RunFile::name(run_id))) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Invalid::Missing),
        Err(error) => return Err(damaged(error)),
    };
    let mut json = zstd::decode_all(bytes.as_slice()).map_err(damaged)?;
    let end = json.iter().position(|&byte| byte == b'\n');
    let end = end.ok_or_else(|| damaged("its first line has no end"))?;
    let tables = json.split_off(end + 1);
    let summary: RunSummary = serde_json::from_slice(&json).map_err(damaged)?;
    if tables.last() != Some(&b'\n') {
        return Err(damaged("its tables have no end"));
    }
    if summary.results_version != RESULTS_VERSION {
        let version = summary.results_version;
        return Err(Invalid::Other(format!("results of version {version}")));
    }
    if summary.run_id != *run_id {
        return Err(Invalid::Other(format!("run {}", summary.run_id)));
    }
    Ok((summary, tables))
}

fn damaged(error: impl ToString) -> Invalid {
    Invalid::Unreadable(error.to_string())
}

#[cfg(test)]
mod tests {
    use netloom_results::{
        CountersSummary, Level, LinkGroup, LinksSummary, Status, Summary, Window,
    };

    use super::*;

    fn run_file() -> RunFile {
        let links = LinksSummary {
            window: Window::WholeRun,
            injection: LinkGroup::default(),
            fabric: LinkGroup::default(),
            delivery: LinkGroup::default(),
            input_buffer_mean_flits: 0.1 + 0.2,
            input_buffer_fullest_mean_flits: 1.0 / 3.0,
            output_buffer_mean_flits: 1e-300,
            output_buffer_peak_flits: u64::MAX,
            choice_share: None,
        };
        let summary = RunSummary {
            results_version: RESULTS_VERSION,
            run_id: RunId::new("text", 1),
            settings: vec![Setting {
                column: "traffic.load".to_owned(),
                value: Level::Number(0.1),
            }],
            run: Run {
                seed: 1,
                status: Status::Ok,
                digest: "0".repeat(16),
                counters: CountersSummary::default(),
                warmup_ns: 0.5,
                warmup_found: true,
                length_ns: 10.0,
                total: Summary::default(),
                classes: vec![],
                latency_order: vec![],
                sls: vec![],
                rows: vec![],
                fairness_window: Window::WholeRun,
                links,
                connections: None,
                waits: None,
                protocol: None,
                deadlock: None,
            },
        };
        RunFile {
            summary,
            tables: vec![("links".to_owned(), Frame::default())],
        }
    }

    fn fresh(name: &str) -> std::path::PathBuf {
        let path =
            std::env::temp_dir().join(format!("netloom-run-file-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn a_run_file_reads_back_to_the_same_bits() {
        let folder = fresh("back");
        let file = run_file();
        file.write(&folder).unwrap();
        assert_eq!(RunFile::read(&folder, &file.summary.run_id).unwrap(), file);
        let summary = RunSummary::read(&folder, &file.summary.run_id).unwrap();
        assert_eq!(summary, file.summary);
        let names: Vec<_> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names.len(), 1, "no temporary file stays: {names:?}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn whatever_is_damaged_or_of_another_run_is_invalid() {
        let folder = fresh("damaged");
        let file = run_file();
        let other = RunId::new("text", 2);
        assert!(matches!(
            RunFile::read(&folder, &other),
            Err(Invalid::Missing)
        ));
        file.write(&folder).unwrap();
        let path = folder.join(RunFile::name(&file.summary.run_id));
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(folder.join(RunFile::name(&other)), &whole).unwrap();
        assert!(matches!(
            RunFile::read(&folder, &other),
            Err(Invalid::Other(_))
        ));
        // Cut anywhere, or with any one byte changed, it is refused or it is the same.
        for at in 0..whole.len() {
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(
                RunFile::read(&folder, &file.summary.run_id).is_err(),
                "cut at {at}"
            );
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            std::fs::write(&path, &changed).unwrap();
            if let Ok(read) = RunFile::read(&folder, &file.summary.run_id) {
                assert_eq!(read, file, "byte {at} changed");
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

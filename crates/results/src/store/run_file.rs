//! One run of a study as one file, written under a temporary name and renamed, so that it is valid
//! or absent.
//!
//! The file has two lines of JSON (`zstdcat runs/ID.json.zst | head -1 | jq`), each in a zstd frame
//! with a checksum: the summary with its verdicts, then all tables. It does not contain times or
//! hosts, so every machine writes the same bytes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use netloom_catalog::file::read_bytes;
use serde::{Deserialize, Serialize};

use super::writing::write_file;
use crate::{Frame, RESULTS_VERSION, Run, RunId, Setting, empty_table};

/// One run: a point of a study with one seed.
#[derive(Clone, PartialEq, Debug)]
pub struct RunFile {
    /// The first line.
    pub summary: RunSummary,
    /// The tables by name, without the columns of the point.
    pub tables: Vec<(String, Frame)>,
}

/// A run without its tables.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunSummary {
    /// Version of the results.
    pub results_version: u32,
    /// Hash of the resolved experiment of this point, its seed and the version of results.
    pub run_id: RunId,
    /// The settings of the point, in the order of the axes.
    pub settings: Vec<Setting>,
    /// Summary and verdict.
    pub run: Run,
}

/// Why a file is not a valid result.
#[derive(Debug, thiserror::Error)]
pub enum Invalid {
    /// The file does not exist.
    #[error("there is no such file")]
    Missing,
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The file has another result.
    #[error("it contains {0}")]
    Other(String),
}

/// The extension of run files.
const ENDING: &str = ".json.zst";

/// Maximum size of a run file. The tables of a run on 262,144 hosts need a tenth of it.
const MOST_STORED: u64 = 256 << 20;
/// Maximum size of the first line, and of the second.
const MOST_SUMMARY: u64 = 64 << 20;
const MOST_TABLES: u64 = 512 << 20;

impl RunFile {
    /// Returns the file name of a run.
    pub fn name(run_id: &RunId) -> String {
        format!("{run_id}{ENDING}")
    }

    /// Returns the id of the run in a file of this name.
    pub fn id_of(name: &str) -> Option<RunId> {
        name.strip_suffix(ENDING).and_then(RunId::parse)
    }

    /// Writes the file to a folder.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let mut bytes = compressed(&self.summary)?;
        bytes.extend(compressed(&self.tables)?);
        write_file(&folder.join(Self::name(&self.summary.run_id)), &bytes)
    }

    /// Reads the file of a run from a folder.
    ///
    /// # Errors
    /// If the file is missing or damaged, or belongs to another run or version.
    pub fn read(folder: &Path, run_id: &RunId) -> Result<RunFile, Invalid> {
        let mut json = vec![];
        let summary = lines(folder, run_id, &mut |part| json.extend_from_slice(part))?;
        let tables: Vec<(String, Frame)> = serde_json::from_slice(&json).map_err(damaged)?;
        for (at, (name, frame)) in tables.iter().enumerate() {
            let Some(like) = empty_table(name) else {
                return Err(damaged(format!("unknown table {name:?}")));
            };
            if tables[..at].iter().any(|(other, _)| other == name) {
                return Err(damaged(format!("duplicate table {name:?}")));
            }
            let fits = frame.has_columns_of(&like);
            fits.map_err(|error| damaged(format!("table {name:?}: {error}")))?;
        }
        Ok(RunFile { summary, tables })
    }
}

impl RunSummary {
    /// Reads the summary of a run; of the tables only the checksum is verified.
    ///
    /// # Errors
    /// If the file is missing or damaged, or belongs to another run or version.
    pub fn read(folder: &Path, run_id: &RunId) -> Result<RunSummary, Invalid> {
        lines(folder, run_id, &mut |_| {})
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

/// Reads and checks the first line of a file, and passes the second to `tables` in parts.
fn lines(
    folder: &Path,
    run_id: &RunId,
    tables: &mut dyn FnMut(&[u8]),
) -> Result<RunSummary, Invalid> {
    let bytes = match read_bytes(&folder.join(RunFile::name(run_id)), MOST_STORED) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Invalid::Missing),
        Err(error) => return Err(damaged(error)),
    };
    // A few bytes of zstd may decompress to any amount.
    let mut json = BufReader::new(zstd::Decoder::new(bytes.as_slice()).map_err(damaged)?);
    let mut first = vec![];
    let read = (&mut json).take(MOST_SUMMARY).read_until(b'\n', &mut first);
    read.map_err(damaged)?;
    if first.last() != Some(&b'\n') {
        return Err(damaged("its first line is incomplete"));
    }
    let summary: RunSummary = serde_json::from_slice(&first).map_err(damaged)?;
    let (mut last, mut n) = (0, 0);
    loop {
        let part = json.fill_buf().map_err(damaged)?;
        let Some(&byte) = part.last() else { break };
        (last, n) = (byte, n + part.len() as u64);
        if n > MOST_TABLES {
            return Err(damaged(format!(
                "its tables have more than {MOST_TABLES} bytes"
            )));
        }
        tables(part);
        let length = part.len();
        json.consume(length);
    }
    if last != b'\n' {
        return Err(damaged("its tables are incomplete"));
    }
    if summary.results_version != RESULTS_VERSION {
        let version = summary.results_version;
        return Err(Invalid::Other(format!("results of version {version}")));
    }
    if summary.run_id != *run_id {
        return Err(Invalid::Other(format!("run {}", summary.run_id)));
    }
    Ok(summary)
}

fn damaged(error: impl ToString) -> Invalid {
    Invalid::Unreadable(error.to_string())
}

#[cfg(test)]
mod tests {
    use crate::{CountersSummary, Level, LinkGroup, LinksSummary, Status, Summary, Window};

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
                jobs: vec![],
                connections: None,
                waits: None,
                protocol: None,
                deadlock: None,
            },
        };
        RunFile {
            summary,
            tables: ["results", "links"]
                .map(|name| (name.to_owned(), empty_table(name).unwrap()))
                .to_vec(),
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
        assert_eq!(names.len(), 1, "temporary files are removed: {names:?}");
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
        // Truncated anywhere, or with any one byte changed, the file is rejected or reads the same.
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

    /// Writes a file with these lines, and reads it.
    fn read_with(name: &str, tables: &str) -> Result<RunFile, Invalid> {
        let folder = fresh(name);
        let summary = run_file().summary;
        let mut bytes = compressed(&summary).unwrap();
        bytes.extend(zstd::encode_all(tables.as_bytes(), 3).unwrap());
        std::fs::write(folder.join(RunFile::name(&summary.run_id)), bytes).unwrap();
        let read = RunFile::read(&folder, &summary.run_id);
        std::fs::remove_dir_all(&folder).unwrap();
        read
    }

    #[test]
    fn tables_that_no_run_has_are_refused() {
        let table = |name: &str, frame: &Frame| {
            let frame = serde_json::to_string(frame).unwrap();
            format!("[{name:?},{frame}]")
        };
        let results = empty_table("results").unwrap();
        let says = |name: &str, tables: &[String]| {
            let text = format!("[{}]\n", tables.join(","));
            read_with(name, &text).map_err(|error| error.to_string())
        };
        assert!(says("sound", &[table("results", &results)]).is_ok());
        let outside = says("outside", &[table("../../evil", &results)]);
        assert_eq!(outside.unwrap_err(), "unknown table \"../../evil\"");
        let twice = says(
            "twice",
            &[table("results", &results), table("results", &results)],
        );
        assert_eq!(twice.unwrap_err(), "duplicate table \"results\"");
        let other = says("other", &[table("links", &results)]);
        assert!(
            other
                .unwrap_err()
                .contains("expected column \"seed\", found \"run_id\"")
        );
    }

    #[test]
    fn a_few_bytes_that_stand_for_gigabytes_are_refused() {
        // Repeated megabytes of the same letter, which zstd compresses to some hundred bytes each.
        let part = zstd::encode_all(&vec![b' '; 1 << 20][..], 3).unwrap();
        let folder = fresh("bomb");
        let summary = run_file().summary;
        let mut bytes = compressed(&summary).unwrap();
        for _ in 0..=(MOST_TABLES >> 20) {
            bytes.extend(&part);
        }
        std::fs::write(folder.join(RunFile::name(&summary.run_id)), bytes).unwrap();
        let read = RunSummary::read(&folder, &summary.run_id);
        assert!(read.unwrap_err().to_string().contains("more than"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

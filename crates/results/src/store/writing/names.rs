//! Names of the files that netloom writes to its folders.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::incoming::INCOMING;
use super::sums::SUMS;
use crate::store::run_file::RunFile;
use crate::{TABLES, sha256};

/// Files of runs and studies that are not tables.
const FILES: &[&str] = &[
    "results.json",
    "resolved.toml",
    "manifest.json",
    "layout.json",
    SUMS,
    "study.json",
    "study.toml",
    "warnings.json",
    "report.html",
    "comparison.html",
];

/// The name of a folder, and a predicate for the names of files that netloom writes to it.
type Known = (&'static str, fn(&str) -> bool);

/// Folders inside, each with the names of the files that netloom writes to it.
const FOLDERS: &[Known] = &[
    ("runs", |name| RunFile::id_of(name).is_some()),
    ("locks", is_unit),
    ("journal", |name| name.ends_with(".jsonl")),
    ("figures", is_figure),
    // Copies of files that a study refers to; they may have any name and are in folders of their
    // own.
    ("inputs", |_| true),
    (INCOMING, |_| true),
];

/// Longer names are shortened in hidden names, to stay within the limits of file systems.
const LONGEST_SHOWN: usize = 80;

/// Whether this is the name of a lock of a unit of a study.
pub fn is_unit(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether this is the name of a file of a figure.
pub(super) fn is_figure(name: &str) -> bool {
    let endings = [".svg", ".pdf", ".png", ".tex", ".dat", ".csv"];
    endings.iter().any(|ending| name.ends_with(ending))
}

/// Returns the relative path of the first entry in a folder of a run or study that netloom did not
/// write and that would be lost if the folder were replaced.
///
/// # Errors
/// If the system reports an error.
pub fn foreign(folder: &Path) -> io::Result<Option<String>> {
    let is_ours = |name: &str| FILES.contains(&name) || is_table(name);
    for (name, kind) in listed(folder)? {
        let inner = FOLDERS.iter().find(|(own, _)| *own == name);
        match inner {
            _ if kind.is_symlink() => return Ok(Some(name)),
            _ if is_temporary(&name, None, "tmp") => {}
            Some((_, is_ours)) if kind.is_dir() => {
                let is_ours = |(inner, kind): &(String, fs::FileType)| {
                    let is_free = matches!(name.as_str(), "inputs" | INCOMING);
                    is_temporary(inner, None, "tmp") || is_free || kind.is_file() && is_ours(inner)
                };
                let listed = listed(&folder.join(&name))?;
                if let Some((other, _)) = listed.iter().find(|entry| !is_ours(entry)) {
                    return Ok(Some(format!("{name}/{other}")));
                }
            }
            _ if kind.is_file() && is_ours(&name) => {}
            _ => return Ok(Some(name)),
        }
    }
    Ok(None)
}

/// Returns the entries of a folder sorted by name; empty if the folder does not exist.
fn listed(folder: &Path) -> io::Result<Vec<(String, fs::FileType)>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        entries => entries?,
    };
    let named = entries.map(|entry| {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        Ok((name, entry.file_type()?))
    });
    let mut named = named.collect::<io::Result<Vec<_>>>()?;
    named.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(named)
}

/// Whether a file of this name is a table of a run or study, complete or partial.
pub fn is_table(name: &str) -> bool {
    let stem = name.strip_suffix(".csv").or(name.strip_suffix(".parquet"));
    let stem = stem.map(|stem| stem.strip_suffix(".partial").unwrap_or(stem));
    let tables = TABLES.iter().map(|(table, _)| *table);
    stem.is_some_and(|stem| tables.chain(["points"]).any(|table| table == stem))
}

/// Returns the file name of a table. For an interrupted run or a study with missing runs it
/// contains `partial`, so that no script mistakes it for a complete table.
pub fn table_file(table: &str, ending: &str, is_partial: bool) -> String {
    match is_partial {
        true => format!("{table}.partial.{ending}"),
        false => format!("{table}.{ending}"),
    }
}

/// Returns a path in a folder. The name must be one plain component, so that it cannot leave the
/// folder.
pub(super) fn inside(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let mut parts = Path::new(name).components();
    let is_plain = matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(part)), None) if part == name
    );
    match is_plain && !name.contains(['/', '\\', '\0']) {
        true => Ok(folder.join(name)),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{name:?} is not a file name"),
        )),
    }
}

/// Returns a hidden name next to a path, the same in every process.
pub(super) fn hidden(path: &Path, ending: &str) -> PathBuf {
    path.with_file_name(format!(".{}.{ending}", stem(path.file_name())))
}

/// Returns a hidden name next to a path for a temporary file. It is unique across processes and
/// machines.
pub(super) fn temporary(path: &Path, ending: &str) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let unique = format!("{}-{nanos:016x}{count:04x}", std::process::id());
    path.with_file_name(format!(".{}.{unique}.{ending}", stem(path.file_name())))
}

/// Whether a name is such a hidden name, for a given path or for any.
pub(super) fn is_temporary(name: &str, path: Option<&Path>, ending: &str) -> bool {
    let unique = (|| {
        let rest = name.strip_prefix('.')?.strip_suffix(ending)?;
        let (stem_of, unique) = rest.strip_suffix('.')?.rsplit_once('.')?;
        path.is_none_or(|path| stem(path.file_name()) == stem_of)
            .then_some(unique)
    })();
    unique
        .and_then(|unique| unique.split_once('-'))
        .is_some_and(|(pid, rest)| {
            pid.parse::<u32>().is_ok()
                && rest.len() >= 20
                && rest.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
}

/// Returns a file name as part of another; a name that is long or not valid text is replaced by its
/// hash.
fn stem(name: Option<&OsStr>) -> String {
    let name = name.unwrap_or_default();
    match name.to_str() {
        Some(text) if text.len() <= LONGEST_SHOWN => text.to_owned(),
        _ => {
            let text = name.to_string_lossy();
            let start: String = text.chars().take(LONGEST_SHOWN / 4).collect();
            let hash = sha256(format!("{name:?}"));
            format!("{start}-{}", &hash[..16])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_a_file_never_leads_elsewhere() {
        let folder = Path::new("results");
        for name in [
            "../evil",
            "/etc/evil",
            "a/b",
            "..",
            ".",
            "",
            "a\\b",
            "./a",
            "a/",
            "a\0",
        ] {
            assert!(inside(folder, name).is_err(), "{name:?}");
        }
        assert_eq!(
            inside(folder, "links.csv").unwrap(),
            folder.join("links.csv")
        );
    }

    #[test]
    fn temporary_names_are_known_again_and_short() {
        let long = "x".repeat(255);
        for name in ["demo.out", "demo.out.x", "1-a", &long, "ü"] {
            let path = Path::new("place").join(name);
            let hidden = temporary(&path, "tmp");
            let hidden = hidden.file_name().unwrap().to_str().unwrap();
            assert!(hidden.len() < 200, "{hidden}");
            assert!(is_temporary(hidden, Some(&path), "tmp"), "{hidden}");
            assert!(is_temporary(hidden, None, "tmp"), "{hidden}");
            assert!(!is_temporary(hidden, Some(Path::new("demo")), "tmp"));
        }
        for other in [
            ".vimrc.tmp",
            ".a.1-2.tmp",
            ".a.tmp",
            "a.csv",
            ".demo.out.lock",
        ] {
            assert!(!is_temporary(other, None, "tmp"), "{other}");
        }
        // Next to a folder whose name has the same prefix.
        let other = temporary(Path::new("demo.out.x"), "tmp");
        let other = other.to_str().unwrap();
        assert!(!is_temporary(other, Some(Path::new("demo.out")), "tmp"));
    }

    #[test]
    fn partial_tables_are_ours_and_other_tables_are_not() {
        for name in ["results.csv", "points.partial.parquet", "links.parquet"] {
            assert!(is_table(name), "{name}");
        }
        for name in ["evil.csv", "results.txt", "results.partial", "thesis.tex"] {
            assert!(!is_table(name), "{name}");
        }
    }

    #[test]
    fn what_netloom_did_not_write_is_found_wherever_it_stands() {
        let place = std::env::temp_dir().join(format!("netloom-names-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        assert_eq!(foreign(&place).unwrap(), None);
        let hidden = temporary(&place.join("results.csv"), "tmp");
        let run = format!("runs/{}.json.zst", "0".repeat(16));
        let ours = [
            "results.json",
            "links.partial.csv",
            SUMS,
            &run,
            "locks/17",
            "journal/host-1-2.jsonl",
            "figures/latency.svg",
            "inputs/a/b.csv",
        ];
        for name in ours {
            let path = place.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(&hidden, "").unwrap();
        assert_eq!(foreign(&place).unwrap(), None);
        for name in [
            "thesis.tex",
            "runs/thesis.tex",
            "locks/a",
            "locks/1/2",
            "journal/notes.txt",
            "figures/notes.md",
            "figures/more/a.svg",
            "results.csv/a",
            ".vimrc.tmp",
            "emit",
        ] {
            let path = place.join(name);
            let made = path.parent().unwrap().to_owned();
            fs::create_dir_all(&made).unwrap();
            fs::write(&path, "precious").unwrap();
            let found = foreign(&place).unwrap();
            assert!(
                found.as_ref().is_some_and(|found| name.starts_with(found)),
                "{name}: {found:?}"
            );
            fs::remove_file(&path).unwrap();
            let _ = fs::remove_dir(&made);
        }
        #[cfg(unix)]
        for name in ["runs", "links.csv", "figures/a.svg"] {
            let path = place.join(name);
            let _ = fs::remove_dir_all(&path);
            std::os::unix::fs::symlink("elsewhere", &path).unwrap();
            assert_eq!(foreign(&place).unwrap().as_deref(), Some(name));
            fs::remove_file(&path).unwrap();
        }
        fs::remove_dir_all(&place).unwrap();
    }
}

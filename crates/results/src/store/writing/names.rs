//! What netloom puts into its folders, by name.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::incoming::INCOMING;
use crate::{TABLES, sha256};

/// Files and folders of runs and studies that are no tables; anything else is somebody's.
const OURS: &[&str] = &[
    "results.json",
    "resolved.toml",
    "manifest.json",
    "layout.json",
    "study.json",
    "study.toml",
    "warnings.json",
    "inputs",
    "runs",
    "locks",
    "journal",
    "report.html",
    "comparison.html",
    "figures",
    "emit",
    INCOMING,
];

/// Names longer than this are cut in hidden names, which must not exceed what a file system takes.
const SHOWN: usize = 80;

/// Whether a file of this name in a folder of a run or study is one that netloom puts there.
pub fn is_ours(name: &str) -> bool {
    OURS.contains(&name) || is_table(name) || (name.starts_with('.') && name.ends_with(".tmp"))
}

/// Whether a file of this name is a table of a run or study, whole or partial.
pub fn is_table(name: &str) -> bool {
    let stem = name.strip_suffix(".csv").or(name.strip_suffix(".parquet"));
    let stem = stem.map(|stem| stem.strip_suffix(".partial").unwrap_or(stem));
    let tables = TABLES.iter().map(|(table, _)| *table);
    stem.is_some_and(|stem| tables.chain(["points"]).any(|table| table == stem))
}

/// The file of a table. That of a run that was interrupted, or of a study that lacks runs, is called `partial`: no
/// script takes it for the whole.
pub fn table_file(table: &str, ending: &str, is_partial: bool) -> String {
    match is_partial {
        true => format!("{table}.partial.{ending}"),
        false => format!("{table}.{ending}"),
    }
}

/// A name inside a folder: one plain component, so that it cannot lead elsewhere.
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
            format!("{name:?} is no name of a file"),
        )),
    }
}

/// A hidden name beside a path, the same for every process.
pub(super) fn hidden(path: &Path, ending: &str) -> PathBuf {
    path.with_file_name(format!(".{}.{ending}", stem(path.file_name())))
}

/// A hidden name beside a path under which something is written; no other process, on whatever machine, takes the
/// same.
pub(super) fn temporary(path: &Path, ending: &str) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let unique = format!("{}-{nanos:016x}{count:04x}", std::process::id());
    path.with_file_name(format!(".{}.{unique}.{ending}", stem(path.file_name())))
}

/// Whether a name is such a hidden one, of a given path or of any.
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

/// A file name as part of another; a long one, or one that is no text, by its hash.
fn stem(name: Option<&OsStr>) -> String {
    let name = name.unwrap_or_default();
    match name.to_str() {
        Some(text) if text.len() <= SHOWN => text.to_owned(),
        _ => {
            let text = name.to_string_lossy();
            let start: String = text.chars().take(SHOWN / 4).collect();
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
        // Beside a folder whose name begins alike.
        let other = temporary(Path::new("demo.out.x"), "tmp");
        let other = other.to_str().unwrap();
        assert!(!is_temporary(other, Some(Path::new("demo.out")), "tmp"));
    }

    #[test]
    fn partial_tables_are_ours_and_other_tables_are_not() {
        for name in ["results.csv", "points.partial.parquet", "links.parquet"] {
            assert!(is_table(name) && is_ours(name), "{name}");
        }
        for name in ["evil.csv", "results.txt", "results.partial", "thesis.tex"] {
            assert!(!is_ours(name), "{name}");
        }
    }
}

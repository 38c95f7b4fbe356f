//! The text of the project: plain phrases, one line width, imperative commit titles.
//!
//! `tidy/phrases.txt` lists phrases to avoid with what to write instead, and how to allow a good
//! use.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

/// Columns of comments and prose. rustfmt keeps code at the same width.
const WIDTH: usize = 100;
/// Columns of a commit's title.
const TITLE: usize = 72;
/// The first line of a comment or its next one allows a phrase.
const ALLOW: &str = "tidy: allow";

/// Text that waits for a change of its content, or belongs to others.
const EXEMPT: [&str; 9] = [
    "book/src/explanation/paper-00",
    "book/src/explanation/readings.md",
    "book/src/how-to/size-an-ai-fabric.md",
    "crates/cli/tests/infiniband/",
    "crates/infiniband/tests/",
    "crates/netloom/tests/tidy",
    "crates/report/assets/",
    "crates/reproduction/src/paper_",
    "experiments/papers/",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all files with text of the project, as paths from its root.
fn files() -> Vec<String> {
    let mut found = vec![];
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let name = entry.file_name().into_string().unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && !["target", ".git"].contains(&name.as_str()) {
                folders.push(path);
                continue;
            }
            let is_text = ["rs", "md", "toml", "snap", "yml", "yaml"]
                .iter()
                .any(|end| name.ends_with(&format!(".{end}")));
            let is_script = folder.ends_with(".ci");
            if kind.is_file() && (is_text || is_script) {
                let path = path.strip_prefix(root()).unwrap().to_str().unwrap();
                found.push(path.to_owned());
            }
        }
    }
    found.retain(|path| !EXEMPT.iter().any(|exempt| path.starts_with(exempt)));
    found.sort();
    assert!(found.len() > 500, "{} files", found.len());
    found
}

/// A phrase to avoid, and what to write.
struct Phrase {
    is_in: Regex,
    instead: String,
    /// Good uses, which overlap a match.
    unless: Option<Regex>,
}

fn phrases() -> Vec<Phrase> {
    let lines = include_str!("tidy/phrases.txt").lines();
    let rules = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let phrase = |line: &str| {
        let (pattern, instead) = line.split_once(" => ").expect("a replacement");
        let (instead, unless) = match instead.split_once(" unless ") {
            Some((instead, unless)) => (instead, Some(unless)),
            None => (instead, None),
        };
        let regex = |pattern: &str| Regex::new(&format!("(?i){pattern}")).unwrap();
        Phrase {
            is_in: regex(pattern),
            instead: instead.to_owned(),
            unless: unless.map(regex),
        }
    };
    rules.map(phrase).collect()
}

/// Stands for code, which is not text.
const CODE: char = '\u{1}';

/// Returns Rust source with all code but spaces masked: comments and string literals are left.
fn masked(source: &str) -> String {
    enum At {
        Code,
        Comment,
        Text,
        Raw(String),
    }
    let mut at = At::Code;
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(next) = rest.chars().next() {
        let mut taken = next.len_utf8();
        let mut is_text = true;
        match &at {
            At::Code => {
                let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
                let is_raw = next == 'r' && rest[1 + hashes..].starts_with('"');
                is_text = false;
                if rest.starts_with("//") {
                    (at, is_text) = (At::Comment, true);
                } else if is_raw {
                    taken = hashes + 2;
                    at = At::Raw(format!("\"{}", "#".repeat(hashes)));
                } else if next == '"' {
                    at = At::Text;
                } else if let Some(end) = character(rest) {
                    taken = end;
                }
            }
            At::Comment if next == '\n' => at = At::Code,
            At::Text if next == '\\' && rest[1..].starts_with('n') => (taken, is_text) = (2, false),
            At::Text if next == '\\' && !rest[1..].starts_with('\n') => taken = 2,
            At::Text if next == '"' => (at, is_text) = (At::Code, false),
            At::Raw(end) if rest.starts_with(end.as_str()) => {
                (taken, is_text) = (end.len(), false);
                at = At::Code;
            }
            At::Comment | At::Text | At::Raw(_) => {}
        }
        let (these, after) = rest.split_at(taken);
        let mask = |c: char| {
            if is_text || c.is_whitespace() {
                c
            } else {
                CODE
            }
        };
        out.extend(these.chars().map(mask));
        rest = after;
    }
    out
}

/// The length of a character literal at the start, if there is one; a lifetime is not.
fn character(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    let end = match inner.strip_prefix('\\') {
        Some(escaped) => 2 + escaped.find('\'')?.max(1),
        None => 1 + inner.chars().next()?.len_utf8(),
    };
    rest[end..].starts_with('\'').then_some(end + 1)
}

/// Joins the lines of a text without comment signs, and returns where each begins in the result.
fn joined(text: &str) -> (String, Vec<usize>) {
    let (mut whole, mut begins) = (String::new(), vec![]);
    for line in text.lines() {
        begins.push(whole.len());
        let is_code = line.ends_with(CODE);
        let line = line.trim_start_matches([' ', CODE]);
        let line = line.trim_start_matches(['/', '!', '#', '*', '>']).trim();
        let line = line.strip_suffix('\\').unwrap_or(line).trim_end();
        whole.push_str(line);
        whole.push(if is_code { '\n' } else { ' ' });
    }
    (whole, begins)
}

/// Returns the uses of phrases in a text: line, phrase, replacement.
fn uses(text: &str, is_code: bool, phrases: &[Phrase]) -> Vec<(usize, String, String)> {
    let (whole, begins) = match is_code {
        true => joined(&masked(text)),
        false => joined(text),
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut found = vec![];
    for phrase in phrases {
        let good: Vec<_> = phrase
            .unless
            .iter()
            .flat_map(|unless| unless.find_iter(&whole))
            .map(|good| good.range())
            .collect();
        for use_ in phrase.is_in.find_iter(&whole) {
            if good
                .iter()
                .any(|good| good.start < use_.end() && use_.start() < good.end)
            {
                continue;
            }
            let line = begins.partition_point(|begin| *begin <= use_.start()) - 1;
            let is_allowed = |line: usize| lines[line].contains(ALLOW);
            if is_allowed(line) || line > 0 && is_allowed(line - 1) {
                continue;
            }
            found.push((line + 1, use_.as_str().to_owned(), phrase.instead.clone()));
        }
    }
    found.sort();
    found
}

#[test]
fn text_has_no_listed_phrase() {
    let phrases = phrases();
    let mut found = vec![];
    for path in files() {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        for (line, phrase, instead) in uses(&text, path.ends_with(".rs"), &phrases) {
            found.push(format!("{path}:{line}: \"{phrase}\"; write: {instead}"));
        }
    }
    assert!(
        found.is_empty(),
        "{} uses:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn phrases_are_found_across_lines_and_can_be_allowed() {
    let lines = |text: &str| -> Vec<usize> {
        let uses = uses(text, true, &phrases());
        uses.into_iter().map(|(line, ..)| line).collect()
    };
    assert_eq!(lines("/// All errors are\n/// told at once.\n"), [1, 2]);
    assert_eq!(lines("// There is no link.\n// A port is no link.\n"), [2]);
    assert_eq!(lines("// tidy: allow a quotation\n// Nobody knows.\n"), []);
    // Names are not text.
    assert_eq!(lines("let beside = 'x'; // fine\n"), []);
    assert_eq!(
        lines("let a = \"set beside\";\nlet b = r#\"set \"beside\"#;\n"),
        [1, 2]
    );
    assert_eq!(lines("let a = (\"all are\", \"told\");\n"), []);
    assert_eq!(lines("let a = \"all are \\\n    told\";\n"), [1]);
}

/// Whether a line keeps its form: tables, drawings, addresses and text without a space to break at.
fn is_exempt(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches(['/', '!', '-', ' ']);
    text.starts_with(['|', '<', '['])
        || text.contains("://")
        || text.contains("   ")
        || text.contains(['─', '│', '►', '┐', '└'])
        || !text[..text.len().min(WIDTH)].contains(' ')
}

#[test]
fn comments_and_prose_are_at_most_100_columns_wide() {
    let mut found = vec![];
    for path in files() {
        let is_code = path.ends_with(".rs");
        if !(is_code || path.ends_with(".md")) || path.starts_with("book/src/reference/") {
            continue;
        }
        let text = fs::read_to_string(root().join(&path)).unwrap();
        let mut is_block = false;
        for (number, line) in text.lines().enumerate() {
            is_block ^= !is_code && line.trim_start().starts_with("```");
            let is_prose = match is_code {
                true => line.trim_start().starts_with("//"),
                false => !is_block,
            };
            if is_prose && line.chars().count() > WIDTH && !is_exempt(line) {
                found.push(format!("{path}:{}", number + 1));
            }
        }
    }
    assert!(
        found.is_empty(),
        "{} lines:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// What is wrong with the title of a commit, if anything.
fn fault(title: &str) -> Option<&'static str> {
    let first = title.split(' ').next().unwrap_or_default();
    let is_form = |end: &str| first.len() > end.len() + 2 && first.ends_with(end);
    match () {
        () if title.chars().count() > TITLE => Some("is longer than 72 characters"),
        () if !first.starts_with(char::is_uppercase) => {
            Some("does not begin with a capital letter")
        }
        () if title.ends_with('.') => Some("ends with a full stop"),
        () if first.contains(':') => Some("begins with a label"),
        () if is_form("ing") && first != "Bring" => Some("is not imperative"),
        () if is_form("ed") && !["Embed", "Feed", "Need", "Seed", "Speed"].contains(&first) => {
            Some("is not imperative")
        }
        () => None,
    }
}

/// Commits since this test exists. Without Git or its history there is nothing to check.
#[test]
fn titles_of_commits_are_short_and_imperative() {
    let git = |arguments: &[&str]| {
        let ended = Command::new("git")
            .args(arguments)
            .current_dir(root())
            .output();
        let ended = ended.ok().filter(|ended| ended.status.success())?;
        String::from_utf8(ended.stdout).ok()
    };
    let file = "crates/netloom/tests/tidy.rs";
    let first = git(&["log", "--diff-filter=A", "--format=%H", "--", file]).unwrap_or_default();
    let Some(first) = first.lines().last() else {
        return;
    };
    let since = format!("{first}^..HEAD");
    let titles = git(&["log", "--no-merges", "--format=%h %s", &since]).unwrap_or_default();
    let wrong = titles.lines().filter_map(|line| {
        let (_, title) = line.split_once(' ')?;
        Some(format!("{line}: {}", fault(title)?))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn titles_are_judged() {
    assert_eq!(fault("Validate checkpoints before use"), None);
    assert!(fault(&"Long ".repeat(15)).is_some());
    for wrong in [
        "validate checkpoints",
        "Fixed a bug",
        "Fixing a bug",
        "Fix a bug.",
        "fix: bug",
    ] {
        assert!(fault(wrong).is_some(), "{wrong}");
    }
}

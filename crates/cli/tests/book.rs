//! The commands in the book and the README print what the pages show, and their links have targets.
//!
//! Every fenced block of the language `console` in a page runs line by line, in a folder for the
//! page:
//!
//! ```text
//! $ netloom check ring.toml        # exit 4        the exit code, 0 by default
//! error[E0501]: ... can deadlock the output, if shown; `...` stands for any text, ... and on its
//! own line for any lines
//! ```
//!
//! A line "File `ring.toml`:" before a block writes its text to that file. Any other block of TOML
//! that starts with `netloom = 1` is checked. External programs are listed in `NOT_RUN`.
//!
//! A page that shows `pictures/NAME` draws it with one of its commands, and the committed picture
//! must be equal. The README shows pictures that pages of the book draw. `NETLOOM_WRITE_PICTURES=1
//! cargo test -p netloom-cli --test book` writes them again.

mod place;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use place::Place;

/// Programs that a page may run.
const RUN: &[&str] = &[
    "cmp", "grep", "netloom", "cd", "cat", "head", "ls", "cp", "cut", "diff",
];
/// Programs that a page may show but the test does not run: external programs and builds.
const NOT_RUN: &[&str] = &[
    "cargo", "pip", "python", "python3", "duckdb", "git", "jq", "mdbook", "sbatch",
];

const REDRAW: &str = "NETLOOM_WRITE_PICTURES=1 cargo test -p netloom-cli --test book";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Returns the hand-written pages; `manual.rs` tests those of the reference.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    pages.extend(
        below(&root().join("book/src"))
            .into_iter()
            .filter(|p| !p.components().any(|c| c.as_os_str() == "reference")),
    );
    pages
}

/// Returns every page in a folder and its subfolders, in the order of names.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    let mut pages = vec![];
    for path in entries {
        if path.is_dir() {
            pages.extend(below(&path));
        } else if path.extension().is_some_and(|e| e == "md") {
            pages.push(path);
        }
    }
    pages
}

/// A fenced block: its language, its file, its lines, and its first line.
struct Block {
    language: String,
    file: Option<String>,
    lines: Vec<String>,
    at: usize,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = vec![];
    let (mut open, mut file) = (None, None);
    for (number, line) in text.lines().enumerate() {
        let fence = line.trim_start().strip_prefix("```");
        match (&mut open, fence) {
            (None, Some(language)) => {
                open = Some(Block {
                    language: language.to_owned(),
                    file: file.take(),
                    lines: vec![],
                    at: number + 1,
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.lines.push(line.to_owned()),
            (None, None) => {
                let name = line
                    .strip_prefix("File `")
                    .and_then(|l| l.strip_suffix("`:"));
                if !line.is_empty() {
                    file = name.map(str::to_owned);
                }
            }
        }
    }
    assert!(open.is_none(), "a block without an end");
    blocks
}

/// A command of a block, with the output that the page shows.
struct Step {
    command: String,
    exit: i32,
    shown: Vec<String>,
}

fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = vec![];
    for line in &block.lines {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => {
                let exit = command
                    .rsplit_once("# exit ")
                    .map_or(0, |(_, n)| n.trim().parse().unwrap());
                steps.push(Step {
                    command: command.to_owned(),
                    exit,
                    shown: vec![],
                });
            }
            (None, Some(step)) => step.shown.push(line.clone()),
            (None, None) => panic!("line {}: output before the first command", block.at),
        }
    }
    // Empty lines between commands are ignored.
    for step in &mut steps {
        while step.shown.last().is_some_and(|line| line.is_empty()) {
            step.shown.pop();
        }
    }
    steps
}

/// Returns the programs of a line: the first word of each part of a pipe.
fn programs(command: &str) -> Vec<&str> {
    let parts = command.split(" | ").flat_map(|part| part.split(" && "));
    parts
        .filter_map(|part| part.split_whitespace().next())
        .collect()
}

/// Returns whether lines match those of the page.
fn is_shown(shown: &[&str], lines: &[&str]) -> bool {
    match (shown.split_first(), lines.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((&"...", shown)), rest) => {
            is_shown(shown, lines)
                || rest.is_some_and(|(_, lines)| {
                    let all: Vec<&str> = std::iter::once("...")
                        .chain(shown.iter().copied())
                        .collect();
                    is_shown(&all, lines)
                })
        }
        (Some((first, shown)), Some((line, lines))) => fits(first, line) && is_shown(shown, lines),
        (Some(_), None) => false,
    }
}

/// Returns whether a line matches that of the page, where `...` stands for any text and blanks
/// count once.
fn fits(shown: &str, line: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (shown, line) = (words(shown), words(line));
    let mut parts = shown.split("...");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Runs a page, and returns its errors.
fn run(page: &Path, number: usize) -> String {
    let text = std::fs::read_to_string(page).unwrap();
    let place = Place::new(&format!("book-{number}"));
    #[cfg(unix)]
    std::os::unix::fs::symlink(root().join("experiments"), place.0.join("experiments")).unwrap();
    let mut folder = place.0.clone();
    let mut wrong = String::new();
    for block in blocks(&text) {
        let content = format!("{}\n", block.lines.join("\n"));
        if let Some(file) = &block.file {
            let file = folder.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, content).unwrap();
        } else if block.language == "toml" && content.starts_with("netloom = 1\n") {
            std::fs::write(folder.join("shown.toml"), content).unwrap();
            let checked = execute(&folder, "netloom check shown.toml");
            if checked.0 != Some(0) {
                let _ = writeln!(
                    wrong,
                    "line {}: the experiment is wrong:\n{}",
                    block.at, checked.1
                );
            }
        }
        if block.language != "console" {
            continue;
        }
        for step in steps(&block) {
            let at = block.at;
            let named = programs(&step.command);
            if let Some(stranger) = named
                .iter()
                .find(|p| !RUN.contains(p) && !NOT_RUN.contains(p))
            {
                let _ = writeln!(
                    wrong,
                    "line {at}: `{stranger}` is neither in RUN nor in NOT_RUN"
                );
                continue;
            }
            if named.iter().any(|program| NOT_RUN.contains(program)) {
                continue;
            }
            if let Some(to) = step.command.strip_prefix("cd ") {
                folder.push(to.split_whitespace().next().unwrap());
                continue;
            }
            let (exit, output) = execute(&folder, &step.command);
            if exit != Some(step.exit) {
                let _ = writeln!(
                    wrong,
                    "line {at}: `{}` ended with {exit:?}, not {}:\n{output}",
                    step.command, step.exit
                );
            }
            let shown: Vec<&str> = step.shown.iter().map(|line| line.trim_end()).collect();
            let lines: Vec<&str> = output.trim_end().lines().map(str::trim_end).collect();
            if !shown.is_empty() && !is_shown(&shown, &lines) {
                let shown = shown.join("\n");
                let _ = writeln!(
                    wrong,
                    "line {at}: `{}` shows\n{shown}\n-- and prints\n{output}",
                    step.command
                );
            }
        }
    }
    for link in pictures(&text) {
        if page.file_name().is_some_and(|name| name == "README.md") {
            continue; // see `the_book_draws_what_the_readme_shows`
        }
        let committed = page.parent().unwrap().join(&link);
        // A figure of a paper or of measured hardware takes minutes. Its page names the command,
        // and the stage `papers` of CI draws those of papers.
        let name = committed.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with("paper-") || name.starts_with("measured-")) {
            assert!(committed.exists(), "{link}");
            continue;
        }
        let drawn = folder.join(committed.file_name().unwrap());
        let Ok(drawn) = std::fs::read_to_string(drawn) else {
            let _ = writeln!(wrong, "no command draws {link}");
            continue;
        };
        wrong.push_str(&stale(&committed, &drawn));
    }
    wrong
}

/// Returns an error if a committed picture differs; with NETLOOM_WRITE_PICTURES, writes it again.
fn stale(committed: &Path, drawn: &str) -> String {
    if std::env::var_os("NETLOOM_WRITE_PICTURES").is_some() {
        std::fs::write(committed, drawn).unwrap();
    }
    match std::fs::read_to_string(committed).unwrap_or_default() == drawn {
        true => String::new(),
        false => format!(
            "{} is stale; refresh it with `{REDRAW}`\n",
            committed.display()
        ),
    }
}

/// Removes the lines that a slow machine adds: what `check` is busy with, and for how long.
fn without_progress(printed: &str) -> String {
    let is_progress = |line: &str| line.starts_with("  checked ") && line.ends_with(" s");
    let lines = printed.split_inclusive('\n');
    lines.filter(|line| !is_progress(line.trim_end())).collect()
}

/// Runs a line in a shell, with stdout and stderr together.
fn execute(folder: &Path, command: &str) -> (Option<i32>, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_netloom"));
    let path = std::env::join_paths(std::iter::once(binary.parent().unwrap().to_owned()).chain(
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()),
    ));
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder)
        .env("PATH", path.unwrap())
        .env_remove("COLUMNS")
        .env_remove("CLICOLOR_FORCE");
    // Help has the width of a page; tables have their full width.
    if command.contains("--help") {
        shell.env("COLUMNS", "96");
    }
    let ended = shell.output().unwrap();
    (
        ended.status.code(),
        without_progress(&String::from_utf8_lossy(&ended.stdout)),
    )
}

#[test]
fn every_command_of_the_book_does_what_its_page_says() {
    let pages = pages();
    // Two pages at a time: pages are independent of each other.
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(String::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(page) = pages.get(number) else {
                        break;
                    };
                    let found = run(page, number);
                    if !found.is_empty() {
                        let name = page.strip_prefix(root()).unwrap().display().to_string();
                        let _ = writeln!(wrong.lock().unwrap(), "== {name}\n{found}");
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{wrong}");
}

/// Returns the targets of the links of a page: `[words](target)`, outside of blocks and code.
fn links(text: &str) -> Vec<String> {
    let mut links = vec![];
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("_");
        for part in plain.split("](").skip(1) {
            links.extend(part.split(')').next().map(str::to_owned));
        }
    }
    links
}

/// Returns the pictures that a page shows.
fn pictures(text: &str) -> Vec<String> {
    let mut links = links(text);
    links.retain(|link| link.contains("pictures/"));
    links
}

/// Returns the anchors of a page, as mdBook derives them from its headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        if let (false, true) = (is_code, line.starts_with('#')) {
            let words = line.trim_start_matches('#').trim().to_lowercase();
            let letters = words
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            anchors.insert(letters.collect::<String>().replace(' ', "-"));
        }
    }
    anchors
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = vec![];
    let names = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
    ];
    let pages = below(&root().join("book/src")).into_iter();
    for page in pages.chain(names.map(|name| root().join(name))) {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            if link.starts_with("http") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let is_there = match (target.exists(), anchor) {
                (false, _) => false,
                (true, "") => true,
                (true, anchor) => {
                    anchors(&std::fs::read_to_string(&target).unwrap()).contains(anchor)
                }
            };
            if !is_there {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_kinds_of_the_book_are_those_of_the_examples() {
    shows_example("own-arbiter", &["main.rs", "lottery.rs"], 20);
    shows_example(
        "own-kinds",
        &["main.rs", "detour.rs", "delay_window.rs"],
        15,
    );
}

/// Checks that the code of a how-to is that of the example with its name.
fn shows_example(name: &str, files: &[&str], least_lines: usize) {
    let folder = root().join("examples").join(name).join("src");
    let read = |file: &&str| std::fs::read_to_string(folder.join(file)).unwrap();
    let example: Vec<String> = files.iter().map(read).collect();
    let page = root().join(format!("book/src/how-to/{name}.md"));
    let page = std::fs::read_to_string(page).unwrap();
    let code = blocks(&page)
        .into_iter()
        .filter(|b| b.language.starts_with("rust"));
    let lines: Vec<String> = code.flat_map(|block| block.lines).collect();
    assert!(lines.len() > least_lines);
    for line in lines {
        // The page omits bodies, and has comments in their place.
        let shown = line.split(" {").next().unwrap_or_default();
        let shown = shown.split(" /*").next().unwrap_or_default().trim();
        assert!(example.iter().any(|text| text.contains(shown)), "{line}");
    }
}

#[test]
fn the_summary_names_every_page_once() {
    let source = root().join("book/src");
    let summary = std::fs::read_to_string(source.join("SUMMARY.md")).unwrap();
    // A planned page has no file.
    let mut listed: Vec<String> = links(&summary)
        .into_iter()
        .filter(|l| !l.is_empty())
        .collect();
    listed.sort();
    let mut pages: Vec<String> = below(&source)
        .iter()
        .map(|page| page.strip_prefix(&source).unwrap().display().to_string())
        .filter(|page| page != "SUMMARY.md")
        .collect();
    pages.sort();
    assert_eq!(listed, pages);
}

#[test]
fn the_book_draws_what_the_readme_shows() {
    let name = |link: &String| link.rsplit('/').next().unwrap_or_default().to_owned();
    let drawn: BTreeSet<String> = below(&root().join("book/src"))
        .iter()
        .flat_map(|page| pictures(&std::fs::read_to_string(page).unwrap()))
        .map(|link| name(&link))
        .collect();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let shown = pictures(&readme);
    assert!(!shown.is_empty());
    for link in shown {
        assert!(drawn.contains(&name(&link)), "no page draws {link}");
    }
}

#[test]
fn the_verdicts_of_what_there_is_are_those_of_the_papers() {
    let page = root().join("book/src/explanation/what-there-is.md");
    let page = std::fs::read_to_string(page).unwrap();
    for paper in netloom_reproduction::papers() {
        let claims = root().join(format!("experiments/papers/{}/claims.md", paper.id));
        let claims = std::fs::read_to_string(claims).unwrap();
        let verdicts = claims.lines().find(|line| line.contains(" hold, "));
        let verdicts = verdicts.unwrap().trim().trim_end_matches(", 0 not run");
        // Tables before and after claims in the paper's own words were counted apart.
        let verdicts = verdicts.trim_start_matches("- In the paper's own words: ");
        let verdicts = verdicts.trim_end_matches('.');
        let line = format!("| [{}](paper-{}.md) |", paper.id, paper.id);
        let line = page.lines().find(|l| l.starts_with(&line));
        let line = line.unwrap_or_else(|| panic!("no line for paper {}", paper.id));
        assert!(line.ends_with(&format!(" {verdicts} |")), "{line}");
    }
}

#[test]
fn output_is_compared_line_by_line_and_word_by_word() {
    let is = |shown: &str, printed: &str| {
        let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
        let (shown, printed) = (
            shown.to_owned().leak() as &str,
            printed.to_owned().leak() as &str,
        );
        is_shown(&lines(shown), &lines(printed))
    };
    assert!(is("one\ntwo", "one\ntwo"));
    assert!(is("a   b", "a b"), "repeated blanks are ignored");
    assert!(!is("one\ntwo", "one\n2"));
    assert!(!is("one", "one\ntwo") && !is("one\ntwo", "one"));
    assert!(is("one\n...", "one\ntwo\nthree") && is("...\nthree", "one\ntwo\nthree"));
    assert!(is("...", "") && is("one\n...", "one"));
    assert!(!is("...\ntwo", "one\ntwo\nthree"));
    assert!(is("seed ..., run ...", "seed 1, run 8f04") && !is("seed ..., run ...", "seed 1"));
    assert!(is("mean ... us", "mean 3 us") && !is("mean ... us", "mean 3 ns"));
}

#[test]
fn blocks_and_steps_are_found() {
    let text = "File `a.toml`:\n\n```toml\nx = 1\n```\n\n```console\n\
        $ netloom check a.toml # exit 3\nwrong\n\n$ netloom explain | head -1\n```\n";
    let found = blocks(text);
    assert_eq!(found[0].file.as_deref(), Some("a.toml"));
    assert_eq!(
        (
            found[1].language.as_str(),
            found[1].file.as_deref(),
            found[1].at
        ),
        ("console", None, 7)
    );
    let steps = steps(&found[1]);
    assert_eq!(
        (steps[0].exit, steps[0].shown.len(), steps[1].exit),
        (3, 1, 0)
    );
    assert_eq!(programs(&steps[1].command), ["netloom", "head"]);
}

/// Returns the instances of the fabric in the program, by the names of the types of their switches.
fn instances_in_program() -> BTreeSet<String> {
    const CROSSBARS: &[u8] =
        b"netloom_fabric::switch::crossbar::Crossbars<netloom_fabric::switch::crossbar::shape::";
    const TILES: &[u8] = b"netloom_fabric::switch::tiled::Tiles";
    let program = std::fs::read(env!("CARGO_BIN_EXE_netloom")).unwrap();
    let mut found = BTreeSet::new();
    for at in 0..program.len() {
        if let Some(rest) = program[at..].strip_prefix(CROSSBARS) {
            let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric());
            found.insert(name.map(|&byte| char::from(byte)).collect());
        }
        // Another text may follow without a separator.
        if program[at..].starts_with(TILES) {
            found.insert("Tiles".to_owned());
        }
    }
    found
}

#[test]
fn the_book_lists_the_instances_in_the_program() {
    let page = "book/src/explanation/decisions/one-fabric.md";
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let listed: Vec<String> = netloom_fabric::instances()
        .map(|(name, fabrics)| format!("| `{name}` | {fabrics} |"))
        .collect();
    let rows = text
        .lines()
        .skip_while(|line| *line != "| instance | fabrics |");
    let rows: Vec<&str> = rows
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert_eq!(rows, listed, "{page}");
    assert!(
        listed.len() <= 28,
        "an instance more takes seconds of every build"
    );
    let names = netloom_fabric::instances().map(|(name, _)| name.to_owned());
    assert_eq!(instances_in_program(), names.collect::<BTreeSet<_>>());
}

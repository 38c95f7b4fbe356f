//! The reference pages of the book are generated from the binary and its tables; this test checks
//! that they are current.
//!
//! `NETLOOM_WRITE_MANUAL=1 cargo test -p netloom-cli --test manual` writes them again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use netloom_catalog::{KindInfo, Param};
use netloom_experiment::codes;
use netloom_experiment::spec::{self, Concept, SectionInfo};
use netloom_results::{Better, Frame, Key, Summary, TABLES};

const REFRESH: &str = "NETLOOM_WRITE_MANUAL=1 cargo test -p netloom-cli --test manual";

/// Tells the editor of a page to change the source instead.
const HEAD: &str =
    "<!-- Written by crates/cli/tests/manual.rs; change the source, not this page. -->\n\n";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/reference")
}

#[test]
fn the_reference_pages_are_what_the_binary_says() {
    let folder = folder();
    let pages = pages();
    if std::env::var_os("NETLOOM_WRITE_MANUAL").is_some() {
        for (name, text) in &pages {
            let file = folder.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
    }
    let mut stale: Vec<String> = vec![];
    for (name, text) in &pages {
        let written = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        if written != *text {
            let line = written.lines().zip(text.lines()).position(|(a, b)| a != b);
            stale.push(format!("{name}, line {}", line.map_or(0, |line| line + 1)));
        }
    }
    for file in written(&folder) {
        let name = file.strip_prefix(&folder).unwrap().display().to_string();
        if !pages.contains_key(&name) {
            stale.push(format!("{name}, which is not generated any more"));
        }
    }
    assert!(
        stale.is_empty(),
        "stale pages of book/src/reference: {stale:?}; refresh them with `{REFRESH}`"
    );
}

/// The page of a paper contains what was measured, between two comments.
#[test]
fn pages_of_papers_show_their_claims() {
    const BEGIN: &str = "<!-- Claims: written by crates/cli/tests/manual.rs from claims.md. -->\n";
    const END: &str = "<!-- End of claims. -->\n";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut shown = 0;
    for paper in netloom_reproduction::papers() {
        let claims = root.join(format!("experiments/papers/{}/claims.md", paper.id));
        let claims = std::fs::read_to_string(claims).unwrap();
        // Tables of former readings and checks have no such line.
        let Some(counts) = claims.find("- In the paper's own words: ") else {
            continue;
        };
        let table = counts + claims[counts..].find("\n## ").unwrap();
        let page = root.join(format!("book/src/explanation/paper-{}.md", paper.id));
        let text = std::fs::read_to_string(&page).unwrap();
        let (before, rest) = text
            .split_once(BEGIN)
            .expect("the comment before the claims");
        let (_, after) = rest.split_once(END).expect("the comment after the claims");
        let current = format!("{before}{BEGIN}{}\n{END}{after}", &claims[counts..table]);
        if std::env::var_os("NETLOOM_WRITE_MANUAL").is_some() {
            std::fs::write(&page, &current).unwrap();
        } else {
            let page = page.display();
            assert!(
                text == current,
                "{page} is stale; refresh it with `{REFRESH}`"
            );
        }
        shown += 1;
    }
    assert!(shown > 0);
}

/// Returns every page in the folder.
fn written(folder: &Path) -> Vec<PathBuf> {
    let mut files = vec![];
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(written(&path)),
            false => files.push(path),
        }
    }
    files
}

fn pages() -> BTreeMap<String, String> {
    let (concepts, sections) = (
        spec::concepts(netloom_experiment::Kinds::built_in()),
        spec::sections(),
    );
    let mut pages = BTreeMap::new();
    let mut page = |name: String, text: String| {
        pages.insert(name, format!("{HEAD}{}\n", text.trim_end()));
    };
    page("keys.md".to_owned(), keys(&sections, &concepts));
    page("kinds.md".to_owned(), all_kinds(&concepts));
    for concept in &concepts {
        page(format!("kinds/{}", file_of(concept)), kinds(concept));
    }
    page("results.md".to_owned(), results());
    page("error-codes.md".to_owned(), error_codes());
    page("exit-codes.md".to_owned(), exit_codes());
    page("command-line.md".to_owned(), command_line());
    page("devices.md".to_owned(), devices());
    pages
}

fn devices() -> String {
    let mut text = "# Links and devices\n\n\
        Parameters of real links, and of the devices at their ends, by name. `netloom explain \
        devices` lists the names, `netloom explain edr` prints one. With `device = \"edr\"`, `[link]` \
        has the values whose first column is a key, unless it sets the key itself. `site import` \
        names the device of most cables, and sets the delay of its switch.\n\n\
        The basis of a value: `standard` is computed from a published standard; `measured` is read \
        from a public measurement; `vendor` is a vendor's figure, or quoted as such; `assumed` is a \
        guess, because the value is not public or was not found. The date is the day on which the \
        source was read.\n\n\
        A delay of a switch is set in cycles of the switch, which is one flit of the fastest link: \
        130 ns at 200 Gb/s with flits of 64 B are 51 cycles, so `pipeline = { input = 1, routing = \
        47, allocation = 1, crossbar = 1, output = 1, credit = 1 }`. [Measured \
        hardware](../explanation/measured.md) uses these values.\n"
        .to_owned();
    for device in netloom_settings::devices::devices() {
        let (name, title) = (&device.name, cell(&device.title));
        text.push_str(&format!(
            "\n## {name}\n\n{title}.\n\n| parameter | value | basis | source | date |\n|---|---|---|---|---|\n"
        ));
        for own in &device.values {
            let key = match own.key.contains('.') {
                true => format!("`{}`", own.key),
                false => cell(&own.key),
            };
            let (value, source) = (cell(&own.value), cell(&own.source));
            let (basis, date) = (own.basis.word(), &own.date);
            text.push_str(&format!(
                "| {key} | {value} | {basis} | {source} | {date} |\n"
            ));
        }
        for note in &device.notes {
            text.push_str(&format!("\n{}\n", cell(note)));
        }
    }
    text
}

fn file_of(concept: &Concept) -> String {
    format!("{}.md", concept.name.to_lowercase().replace(' ', "-"))
}

/// Formats a text as a cell of a table.
fn cell(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('\n', " ");
    // Outside of code, angle brackets would be tags.
    text.split('`')
        .enumerate()
        .map(|(i, part)| match i % 2 {
            0 => part.replace('<', "&lt;").replace('>', "&gt;"),
            _ => part.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("`")
}

fn params(params: &[Param]) -> String {
    let mut text = "| key | takes | default | meaning |\n|---|---|---|---|\n".to_owned();
    for param in params {
        let default = match param.default.as_deref() {
            None => "required".to_owned(),
            Some("") => "none".to_owned(),
            Some(default) => format!("`{}`", default.replace('|', "\\|")),
        };
        let (name, takes) = (&param.name, cell(&param.shape.words()));
        let about = cell(&param.about);
        text.push_str(&format!("| `{name}` | {takes} | {default} | {about} |\n"));
    }
    text
}

fn keys(sections: &[SectionInfo], concepts: &[Concept]) -> String {
    let mut text = "# Keys of an experiment\n\n\
        Every section of an experiment file, with its keys. A key is named by its path, such as \
        `measure.warmup`: so `netloom explain` and `--set` take it. Quantities are texts with a \
        unit: \
        `\"100 Gbps\"`, `\"20 ns\"`, `\"4 KiB\"`, `\"5 m\"`.\n"
        .to_owned();
    for section in sections {
        let title = match (section.path, section.is_list) {
            ("", _) => "The file itself".to_owned(),
            (path, true) => format!("`[[{path}]]`"),
            (path, false) => format!("`[{path}]`"),
        };
        text.push_str(&format!("\n## {title}\n\n{}\n", cell(section.about)));
        if !section.params.is_empty() {
            text.push_str(&format!("\n{}", params(&section.params)));
        }
        let concept = concepts.iter().find(|c| Some(c.name) == section.concept);
        if let Some(concept) = concept {
            let names: Vec<String> = concept
                .kinds
                .iter()
                .map(|k| format!("`{}`", k.name))
                .collect();
            text.push_str(&format!(
                "\n`kind` is one of {}; each has keys of its own: see [{}](kinds/{}).\n",
                names.join(", "),
                concept.name,
                file_of(concept)
            ));
        }
    }
    text
}

fn all_kinds(concepts: &[Concept]) -> String {
    let mut text = "# All kinds\n\n\
        Everything that comes in kinds. `netloom explain` prints the same, `netloom explain NAME` \
        tells about one of them.\n\n\
        | concept | in a file | kinds |\n|---|---|---|\n"
        .to_owned();
    for concept in concepts {
        let (name, path, file) = (concept.name, concept.path, file_of(concept));
        let link = |kind: &KindInfo| format!("[`{0}`](kinds/{file}#{0})", kind.name);
        let kinds: Vec<String> = concept.kinds.iter().map(link).collect();
        let kinds = kinds.join(", ");
        text.push_str(&format!(
            "| [{name}](kinds/{file}) | `{path}` | {kinds} |\n"
        ));
    }
    text
}

fn kinds(concept: &Concept) -> String {
    let mut title = concept.name.to_owned();
    title[..1].make_ascii_uppercase();
    let mut text = format!(
        "# {title}\n\n{} In a file: `{}`.\n\n| kind | in one sentence |\n|---|---|\n",
        concept.about, concept.path
    );
    for kind in &concept.kinds {
        let (name, summary) = (kind.name, cell(kind.summary));
        text.push_str(&format!("| [`{name}`](#{name}) | {summary} |\n"));
    }
    for kind in &concept.kinds {
        text.push_str(&about(concept, kind));
    }
    text
}

fn about(concept: &Concept, kind: &KindInfo) -> String {
    let name = kind.name;
    let mut text = format!("\n## {name}\n\n{}\n", cell(kind.summary));
    if let Some(paper) = kind.paper {
        text.push_str(&format!("\nFrom: {}\n", cell(paper)));
    }
    if !kind.params.is_empty() {
        text.push_str(&format!("\n{}", params(&kind.params)));
    }
    let lines: Vec<&str> = kind.example.lines().collect();
    let example = match concept.path.split_once('.') {
        Some(("traffic", key)) => {
            let inner = [
                vec![format!("kind = \"{name}\"")],
                lines.iter().map(|l| l.to_string()).collect(),
            ]
            .concat()
            .join(", ");
            format!("[[traffic]]\n{key} = {{ {inner} }}\n")
        }
        _ => format!("[{}]\nkind = \"{name}\"\n{}", concept.path, kind.example),
    };
    text.push_str(&format!("\n```toml\n{}\n```\n", example.trim_end()));
    text
}

fn results() -> String {
    let mut text = "# Tables of results\n\n\
        The tables that a run or a study leaves in its folder, as `.parquet`, and as `.csv` up to \
        100,000 lines. Units are part of the \
        names of columns. A cell is empty where there is no value. `netloom explain COLUMN` says \
        the same about \
        one of them. The merged tables of a study begin with the column `point`, then `variant` \
        where there are \
        variants, and one column for each axis, named by its path.\n\n\
        The tables of a run that was interrupted are called `results.partial.csv`, \
        `results.partial.parquet` and so \
        on; so are those of a study that was merged with runs missing. Nothing takes them for the \
        whole by mistake.\n"
        .to_owned();
    for (file, parts) in TABLES {
        let columns = || parts.iter().copied().flatten();
        let has_better = columns().any(|column| column.better.is_some());
        let (head, rule) = match has_better {
            true => (" better |", "---|"),
            false => ("", ""),
        };
        text.push_str(&format!(
            "\n## {file}\n\n| column | unit |{head} meaning |\n|---|---|{rule}---|\n"
        ));
        for column in columns() {
            let (name, unit, meaning) = (column.name, cell(column.unit), cell(column.meaning));
            let word = column.better.map_or("", Better::word);
            let better = match has_better {
                true => format!(" {word} |"),
                false => String::new(),
            };
            text.push_str(&format!("| `{name}` | {unit} |{better} {meaning} |\n"));
        }
    }
    text.push_str(
        "\n## points\n\nOf a study: what the seeds of every point say together.\n\n\
        | column | unit | meaning |\n|---|---|---|\n",
    );
    let results = Frame::of::<Key>().with_columns::<Summary>();
    for column in &netloom_results::store::points(&results, &[]).columns {
        let (name, unit, meaning) = (&column.name, cell(&column.unit), cell(&column.meaning));
        text.push_str(&format!("| `{name}` | {unit} | {meaning} |\n"));
    }
    text
}

fn error_codes() -> String {
    let mut text = "# Error codes\n\n\
        A message about an experiment has a code. Codes are never given a new meaning. `E` is an \
        error, which \
        stops a command; `W` a warning, which does not. `netloom explain CODE` prints the text of \
        one.\n"
        .to_owned();
    for code in codes() {
        text.push_str(&format!("\n## {}\n\n*{}*\n", code.name, cell(code.title)));
        for paragraph in code.text.split("\n\n") {
            match paragraph.starts_with("    ") {
                true => text.push_str(&format!("\n{paragraph}\n")),
                false => text.push_str(&format!("\n{}\n", angles(paragraph))),
            }
        }
    }
    text
}

/// Escapes angle brackets outside of code.
fn angles(text: &str) -> String {
    text.lines()
        .map(cell)
        .collect::<Vec<_>>()
        .join("\n")
        .replace("\\|", "|")
}

fn exit_codes() -> String {
    let printed = netloom(&["explain", "exit-codes"]);
    format!(
        "# Exit codes\n\n`netloom explain exit-codes` says:\n\n```text\n{}\n```\n",
        printed.trim_end()
    )
}

fn command_line() -> String {
    let mut text =
        "# Command line\n\nWhat `netloom help COMMAND` prints, for every command.\n".to_owned();
    let mut waiting: Vec<Vec<String>> = vec![vec![]];
    while !waiting.is_empty() {
        let command = waiting.remove(0);
        let arguments: Vec<&str> = command
            .iter()
            .map(String::as_str)
            .chain(["--help"])
            .collect();
        let help = netloom(&arguments);
        let title = [vec!["netloom".to_owned()], command.clone()]
            .concat()
            .join(" ");
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        text.push_str(&format!(
            "\n## {title}\n\n```text\n{}\n```\n",
            lines.join("\n").trim_end()
        ));
        let inner = subcommands(&help)
            .into_iter()
            .map(|name| [command.clone(), vec![name]].concat());
        // In the order of the help, the commands of a command behind it.
        waiting.splice(0..0, inner);
    }
    text
}

/// Returns the names in the part `Commands:` of a help text.
fn subcommands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    listed
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

fn netloom(arguments: &[&str]) -> String {
    let ended = Command::new(env!("CARGO_BIN_EXE_netloom"))
        .args(arguments)
        .env_remove("CLICOLOR_FORCE")
        .env("COLUMNS", "96")
        .output()
        .unwrap();
    assert!(ended.status.success(), "netloom {arguments:?}");
    String::from_utf8(ended.stdout).unwrap()
}

#[test]
fn commands_are_found_in_a_help() {
    let help = "Usage: x\n\nCommands:\n  one    First, which takes\n         two \
        lines\n  two  Second\n  help  Print\n\nOptions:\n  -q\n";
    assert_eq!(subcommands(help), ["one", "two"]);
}

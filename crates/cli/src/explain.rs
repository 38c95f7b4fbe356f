//! `netloom explain`: what a name means; without one, the list of all kinds.

use clap::Args;
use netloom_catalog::{KindInfo, Param, nearest};
use netloom_experiment::spec::{self, Concept, SectionInfo};
use netloom_experiment::{Kinds, codes};
use netloom_results::{Better, Column, TABLES};

use super::Exit;
use super::explained_device;
use super::explained_setting::explained;
use super::output::Output;
use super::table::{Table, page, width, wrapped};

/// The exit codes and their meaning.
const EXIT_CODES: [(u8, &str); 8] = [
    (
        0,
        "Done. Saturation is a result: it is marked in tables, CSV and JSON, and the exit code is \
         0.",
    ),
    (
        1,
        "A file, folder or program failed, or netloom itself did.",
    ),
    (2, "The command line is wrong."),
    (
        3,
        "The experiment, or a list that it names, has mistakes; stderr has all of them.",
    ),
    (
        4,
        "A deadlock was proved by `check` (E0501) or met in `run`; a connection was refused by \
         `plan --admit --strict` (without `--strict` a refusal is a result: 0); or an invariant of \
         the simulator was broken, which is a bug in netloom.",
    ),
    (
        5,
        "Results are stored but not reliable: a job or a list of messages is unfinished, or the \
         run is too short, not stationary, or less exact than requested (no steady state, or an \
         interval wider than `measure.interval`). Simulate longer. For a study: at least one point \
         is like this, as judged by `run` and `study merge`. A shard that has stored its runs \
         exits with 0.",
    ),
    (
        6,
        "`compare --fail-if` found a limit exceeded, or `site lint` or `site verify` found a \
         difference; the output names it.",
    ),
    (
        130,
        "Interrupted by Ctrl-C or SIGTERM at the end of an epoch. Results up to there are stored.",
    ),
];

#[derive(Args)]
#[command(after_help = "Examples:
  netloom explain                 # list all kinds
  netloom explain arbiters        # list the kinds of arbiters
  netloom explain d-mod-k         # a kind
  netloom explain measure.warmup  # a key of experiments
  netloom explain latency_p99_ns  # a column of results
  netloom explain E0501           # an error code
  netloom explain NCCL_IB_SL      # a setting of a communication library
  netloom explain exit-codes")]
pub(crate) struct Explain {
    /// Kind, concept, key, column, word, setting of a library or error code, or `exit-codes`.
    name: Option<String>,
}

/// What people call a concept or a kind, and its name here.
const ALIASES: [(&str, &str); 13] = [
    ("queues", "queue scheme"),
    ("queue-schemes", "queue scheme"),
    ("nic-queues", "NIC queueing"),
    ("arrivals", "arrival process"),
    ("sizes", "message size"),
    ("switches", "switch"),
    ("stashes", "stash"),
    ("topologies", "topology"),
    ("drr", "deficit-round-robin"),
    ("dwrr", "deficit-round-robin"),
    ("wrr", "weighted-round-robin"),
    ("rr", "round-robin"),
    ("ecn", "ecn-window"),
];

impl Explain {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let (concepts, sections) = (spec::concepts(kinds), spec::sections());
        let Some(name) = &self.name else {
            let listed: Vec<String> = concepts.iter().map(listed).collect();
            output.text(&listed.join("\n"))?;
            return Ok(Exit::Done);
        };
        let name = name.trim().trim_start_matches('[').trim_end_matches(']');
        if let Some(concept) = concept(name, &concepts) {
            output.text(&listed(concept))?;
            return Ok(Exit::Done);
        }
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        let name = alias.map_or(name, |(_, name)| name);
        let mut found = Vec::new();
        if name == "exit-codes" {
            found.push(exit_codes(page()));
        }
        let mut codes = codes().into_iter();
        if let Some(code) = codes.find(|code| code.name.eq_ignore_ascii_case(name)) {
            let text = wrapped(&code.text, width().unwrap_or(90).min(90));
            found.push(format!("{}: {}\n\n{text}", code.name, code.title));
        }
        for concept in &concepts {
            let kinds = concept.kinds.iter().filter(|kind| kind.name == name);
            found.extend(kinds.map(|kind| about_kind(concept, kind)));
        }
        found.extend(keys(name, &sections, &concepts));
        found.extend(columns(name));
        found.extend(words(name));
        found.extend(explained(name));
        found.extend(explained_device::explained(name));
        // A name without its path, or a part of one.
        let ends: Vec<String> = paths(&sections, &concepts)
            .into_iter()
            .filter(|path| path != name && path.rsplit('.').next() == Some(name))
            .collect();
        found.extend(
            ends.iter()
                .flat_map(|path| keys(path, &sections, &concepts)),
        );
        found.extend(columns_with(name));
        if found.is_empty() {
            let mut message = format!("nothing is named \"{name}\"");
            let known = names(&sections, &concepts);
            message.push_str(&match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => format!("; did you mean \"{near}\"?"),
                None => "; `netloom explain` lists all kinds, `netloom schema` prints all keys"
                    .to_owned(),
            });
            output.error(&message);
            return Ok(Exit::Usage);
        }
        output.text(&found.join("\n"))?;
        Ok(Exit::Done)
    }
}

/// Lists the exit codes, with lines of at most `width` columns.
fn exit_codes(width: usize) -> String {
    let mut text = "Exit codes of every command:\n\n".to_owned();
    for (code, meaning) in EXIT_CODES {
        let meaning = wrapped(meaning, width.saturating_sub(7).max(20));
        let meaning = meaning.trim_end().replace('\n', "\n       ");
        text.push_str(&format!("{code:>5}  {meaning}\n"));
    }
    text
}

/// Finds a concept by its name or plural: `arbiters`, `flow-controls`, `sizes`.
fn concept<'a>(name: &str, concepts: &'a [Concept]) -> Option<&'a Concept> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let singular = alias.map_or_else(
        || name.strip_suffix('s').map(|name| name.replace('-', " ")),
        |(_, name)| Some((*name).to_owned()),
    )?;
    concepts.iter().find(|concept| concept.name == singular)
}

/// Lists the kinds of a concept.
fn listed(concept: &Concept) -> String {
    let mut table = Table::words();
    concept
        .kinds
        .iter()
        .for_each(|kind| table.line([kind.name, kind.summary]));
    let (name, path, about) = (concept.name, concept.path, concept.about);
    format!("{name} ({path}): {about}\n{}", table.text(width()))
}

fn about_kind(concept: &Concept, kind: &KindInfo) -> String {
    let mut text = format!(
        "{}, a kind of {} ({})\n\n  {}\n",
        kind.name, concept.name, concept.path, kind.summary
    );
    if let Some(paper) = kind.paper {
        text.push_str(&format!("  From: {paper}\n"));
    }
    if !kind.params.is_empty() {
        text.push_str(&format!("\n{}", params(&kind.params)));
    }
    let (path, name) = (concept.path, kind.name);
    text.push_str("\n  Example:\n");
    if let Some(("traffic", key)) = path.split_once('.') {
        let inline = kind.example.lines().collect::<Vec<_>>().join(", ");
        let inline = if inline.is_empty() {
            inline
        } else {
            format!(", {inline}")
        };
        text.push_str(&format!(
            "    [[traffic]]\n    {key} = {{ kind = \"{name}\"{inline} }}\n"
        ));
    } else {
        text.push_str(&format!("    [{path}]\n    kind = \"{name}\"\n"));
        kind.example
            .lines()
            .for_each(|line| text.push_str(&format!("    {line}\n")));
    }
    text
}

fn params(params: &[Param]) -> String {
    let mut table = Table::words();
    for param in params {
        let default = match param.default.as_deref() {
            None => "required".to_owned(),
            Some("") => "optional".to_owned(),
            Some(default) => format!("default {default}"),
        };
        table.line([
            param.name.clone(),
            param.shape.words(),
            default,
            param.about.clone(),
        ]);
    }
    table.text(width())
}

/// What is known about a section or key path. A path may name a list's item or a class of links.
fn keys(path: &str, sections: &[SectionInfo], concepts: &[Concept]) -> Vec<String> {
    let mut found = Vec::new();
    for section in sections {
        let kinds = concepts
            .iter()
            .find(|concept| Some(concept.name) == section.concept);
        let shown = if section.path.is_empty() {
            "the file"
        } else {
            section.path
        };
        // [link.class] is where the tables of [link.class.*] stand.
        let is_parent = section.path.strip_suffix(".*") == Some(path);
        if (matches(section.path, path) || is_parent) && !path.is_empty() {
            let mut text = format!("[{shown}]\n\n  {}\n", section.about);
            if !section.params.is_empty() {
                text.push_str(&format!("\n{}", params(&section.params)));
            }
            if let Some(concept) = kinds {
                text.push_str("\n  Its kinds:\n");
                let mut table = Table::words();
                concept
                    .kinds
                    .iter()
                    .for_each(|kind| table.line([kind.name, kind.summary]));
                text.push_str(&table.text(width()));
            }
            found.push(text);
        }
        let (parent, key) = path.rsplit_once('.').unwrap_or(("", path));
        if !matches(section.path, parent) {
            continue;
        }
        for param in section.params.iter().filter(|param| param.name == key) {
            found.push(format!(
                "{path}, a key of {shown}\n\n{}",
                params(std::slice::from_ref(param))
            ));
        }
        if let Some(concept) = kinds {
            for kind in &concept.kinds {
                for param in kind.params.iter().filter(|param| param.name == key) {
                    let table = params(std::slice::from_ref(param));
                    found.push(format!(
                        "{path}, a key of {shown} of kind {}\n\n{table}",
                        kind.name
                    ));
                }
            }
        }
    }
    // A key of a kind that stands in no section of its own (`traffic.pattern.skip`).
    let has_section = |concept: &&Concept| sections.iter().any(|s| s.path == concept.path);
    let (parent, key) = path.rsplit_once('.').unwrap_or(("", path));
    for concept in concepts
        .iter()
        .filter(|concept| !has_section(concept) && concept.path == parent)
    {
        for kind in &concept.kinds {
            for param in kind.params.iter().filter(|param| param.name == key) {
                let table = params(std::slice::from_ref(param));
                found.push(format!(
                    "{path}, a key of {parent} of kind {}\n\n{table}",
                    kind.name
                ));
            }
        }
    }
    // A key that takes a kind; a section that is of one has told its kinds above.
    let is_section = sections.iter().any(|section| section.path == path);
    for concept in concepts
        .iter()
        .filter(|concept| concept.path == path && !is_section)
    {
        let mut table = Table::words();
        concept
            .kinds
            .iter()
            .for_each(|kind| table.line([kind.name, kind.summary]));
        found.push(format!(
            "{path}: {}\n\n{}",
            concept.about,
            table.text(width())
        ));
    }
    found
}

/// Whether a path fits that of a section, where `*` stands for any name.
fn matches(section: &str, path: &str) -> bool {
    let (section, path): (Vec<&str>, Vec<&str>) =
        (section.split('.').collect(), path.split('.').collect());
    section.len() == path.len()
        && section
            .iter()
            .zip(&path)
            .all(|(known, given)| *known == "*" || known == given)
}

fn columns(name: &str) -> Vec<String> {
    let explained = |file: &str, column: &Column| {
        let unit = match column.unit {
            "" => String::new(),
            unit => format!(" [{unit}]"),
        };
        let better = match column.better {
            Some(Better::Lower) => " Lower is better.",
            Some(Better::Higher) => " Higher is better.",
            None => "",
        };
        let mean = match column.has_mean {
            true => " The table points has its mean over seeds.",
            false => "",
        };
        format!(
            "{name}{unit}, a column of {file}.csv\n\n  {}{better}{mean}\n",
            column.meaning
        )
    };
    let mut found: Vec<String> = Vec::new();
    for (file, parts) in TABLES {
        let columns = parts.iter().copied().flatten();
        let own = columns.filter(|column| column.name == name);
        found.extend(own.map(|column| explained(file, column)));
    }
    found
}

/// Columns of which the name is a part, as `p99` is of `latency_p99_ns`; in the first table that
/// has each.
fn columns_with(part: &str) -> Option<String> {
    let mut table = Table::words();
    let mut seen: Vec<&str> = vec![];
    for (file, parts) in TABLES {
        for column in parts.iter().copied().flatten() {
            let is_part = column.name != part && column.name.split('_').any(|word| word == part);
            if is_part && !seen.contains(&column.name) {
                seen.push(column.name);
                table.line([column.name, column.unit, file, column.meaning]);
            }
        }
    }
    (!seen.is_empty()).then(|| {
        format!(
            "columns of results with \"{part}\":\n\n{}",
            table.text(width())
        )
    })
}

/// The page of the book that defines words.
const WORDS: &str = include_str!("../words.md");

/// Returns the definition of a word; one line defines `lane`, `VL` and `virtual lane`.
fn words(name: &str) -> Vec<String> {
    let rows = WORDS.lines().filter_map(|line| {
        let (word, meaning) = line
            .strip_prefix("| ")?
            .strip_suffix(" |")?
            .split_once(" | ")?;
        let mut names = word.split([',', '(', ')']).map(str::trim);
        let is_it = names.any(|known| known.eq_ignore_ascii_case(name));
        is_it.then(|| format!("{word}\n\n  {}", wrapped(&without_links(meaning), 90)))
    });
    rows.collect()
}

/// Removes Markdown links in parentheses, such as `([verdicts](statistics.md))`.
fn without_links(text: &str) -> String {
    match text.split_once(" ([") {
        Some((before, link)) => {
            let after = link.split_once("))").map_or("", |(_, after)| after);
            format!("{before}{after}")
        }
        None => text.to_owned(),
    }
}

/// The paths of all keys.
fn paths(sections: &[SectionInfo], concepts: &[Concept]) -> Vec<String> {
    let join = |path: &str, key: &str| match path {
        "" => key.to_owned(),
        _ => format!("{path}.{key}"),
    };
    let mut paths: Vec<String> = vec![];
    for section in sections {
        paths.extend(
            section
                .params
                .iter()
                .map(|param| join(section.path, &param.name)),
        );
    }
    for concept in concepts {
        paths.push(concept.path.to_owned());
        let keys = concept.kinds.iter().flat_map(|kind| &kind.params);
        paths.extend(keys.map(|param| join(concept.path, &param.name)));
    }
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// Everything that can be explained.
fn names(sections: &[SectionInfo], concepts: &[Concept]) -> Vec<String> {
    let mut names = vec!["exit-codes".to_owned()];
    names.extend(codes().iter().map(|code| code.name.to_owned()));
    names.extend(
        concepts
            .iter()
            .flat_map(|c| c.kinds.iter().map(|kind| kind.name.to_owned())),
    );
    for section in sections {
        let path = section.path;
        names.push(path.strip_suffix(".*").unwrap_or(path).to_owned());
        names.extend(section.params.iter().map(|param| match path {
            "" => param.name.clone(),
            _ => format!("{path}.{}", param.name),
        }));
    }
    let columns = TABLES
        .iter()
        .flat_map(|(_, parts)| parts.iter().copied().flatten());
    names.extend(columns.map(|column| column.name.to_owned()));
    names.extend(netloom_settings::explain::names().map(str::to_owned));
    names.push("devices".to_owned());
    names.extend(
        netloom_settings::devices::devices()
            .iter()
            .map(|own| own.name.clone()),
    );
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_and_kind_has_an_explanation() {
        let (concepts, sections) = (spec::concepts(Kinds::built_in()), spec::sections());
        for section in sections.iter().filter(|section| !section.path.is_empty()) {
            assert!(
                !keys(section.path, &sections, &concepts).is_empty(),
                "{}",
                section.path
            );
        }
        assert!(!keys("measure.warmup", &sections, &concepts).is_empty());
        assert!(!keys("link.class.host.rate", &sections, &concepts).is_empty());
        assert!(!keys("traffic.pattern", &sections, &concepts).is_empty());
        assert!(!keys("topology.arity", &sections, &concepts).is_empty());
        assert!(keys("measure.wramup", &sections, &concepts).is_empty());
        assert!(!columns("latency_p99_ns").is_empty());
    }

    #[test]
    fn exit_codes_are_indented_below_their_meaning() {
        for width in [60, 80, 100] {
            let text = exit_codes(width);
            assert!(
                text.lines().all(|line| line.chars().count() <= width),
                "{text}"
            );
            let mut lines = text.lines().skip(2);
            let is_indented =
                |line: &str| line.starts_with("       ") || line.as_bytes()[4] != b' ';
            assert!(lines.all(is_indented), "{text}");
        }
    }

    #[test]
    fn every_concept_can_be_listed() {
        let concepts = spec::concepts(Kinds::built_in());
        for (alias, name) in ALIASES {
            let kinds = || concepts.iter().flat_map(|concept| &concept.kinds);
            let is_known = concept(alias, &concepts).is_some()
                || kinds().any(|kind| kind.name == name && kinds().all(|kind| kind.name != alias));
            assert!(is_known, "{alias}");
        }
        let plurals = [
            "arbiters",
            "routings",
            "flow-controls",
            "congestion-controls",
        ];
        for plural in plurals
            .iter()
            .chain(&["allocators", "patterns", "workloads"])
        {
            assert!(concept(plural, &concepts).is_some(), "{plural}");
        }
    }

    #[test]
    fn what_people_call_things_is_found() {
        let (concepts, sections) = (spec::concepts(Kinds::built_in()), spec::sections());
        assert!(!keys("link.class", &sections, &concepts).is_empty());
        let paths = paths(&sections, &concepts);
        for path in ["traffic.load", "topology.arity", "routing.deadlock"] {
            assert!(paths.iter().any(|known| known == path), "{path}");
        }
        assert!(columns_with("p99").unwrap().contains("latency_p99_ns"));
        for word in [
            "digest",
            "VL",
            "virtual lane",
            "mtu",
            "saturation",
            "all-to-all",
        ] {
            assert_eq!(words(word).len(), 1, "{word}");
        }
        for path in &paths {
            assert!(!keys(path, &sections, &concepts).is_empty(), "{path}");
        }
    }
}

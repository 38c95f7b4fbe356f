//! `netloom explain`: at length, about one thing.

use clap::Args;
use netloom_catalog::{KindInfo, Param, nearest};
use netloom_experiment::spec::{self, Concept, SectionInfo};
use netloom_experiment::{Kinds, codes, explain_code};
use netloom_results::TABLES;

use super::Exit;
use super::output::Output;
use super::table::{Columns, width, wrapped};

const EXIT_CODES: &str = "\
How every netloom command ends:

    0  Done. A saturated fabric is a result: marked in table, CSV and JSON, and still 0.
    1  Something outside the experiment failed: a file, a folder that holds other results, netloom itself.
    2  The command line makes no sense.
    3  The experiment, or a list that goes with it, has mistakes; all of them are on stderr.
    4  The fabric is at fault: a deadlock proved by `check` (E0501) or met in `run`, a connection
       refused by `plan --admit --strict` (without `--strict` a refusal is a result: 0), or a law
       of the simulation broken, which is a fault of netloom.
    5  Stored, but not good enough: a job or a list of messages is unfinished, the run is too short
       to tell whether queues grow, not stationary, or less exact than asked (no steady state was
       found, or an interval is wider than `measure.interval`). Of a study: at some point, as `run`
       and `merge` judge it. A shard that has stored its runs ends with 0. Run longer.
    6  Compared, and B is beyond a limit of `compare --fail-if`; which one is on stderr.
  130  Stopped by Ctrl-C or SIGTERM at the end of an epoch; what there is has been stored.
";

#[derive(Args)]
pub(crate) struct Explain {
    /// A kind (`d-mod-k`), a key (`measure.warmup` or `warmup`), a column of results (`latency_p99_ns` or `p99`),
    /// a word (`digest`), an error code (`E0501`), or `exit-codes`.
    name: String,
}

impl Explain {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let name = self
            .name
            .trim()
            .trim_start_matches('[')
            .trim_end_matches(']');
        let (concepts, sections) = (spec::concepts(kinds), spec::sections());
        let mut found = Vec::new();
        if name == "exit-codes" {
            found.push(EXIT_CODES.to_owned());
        }
        if let Some(text) = explain_code(name) {
            let mut codes = codes();
            let title = codes.find(|(code, _, _)| code.eq_ignore_ascii_case(name));
            let title = title.map_or("", |(_, title, _)| title);
            let text = wrapped(text, width().unwrap_or(90).min(90));
            found.push(format!("{}: {title}\n\n{text}", name.to_uppercase()));
        }
        for concept in &concepts {
            let kinds = concept.kinds.iter().filter(|kind| kind.name == name);
            found.extend(kinds.map(|kind| about_kind(concept, kind)));
        }
        found.extend(keys(name, &sections, &concepts));
        found.extend(columns(name));
        found.extend(words(name));
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
            let mut message = format!("nothing is called \"{name}\"");
            let known = names(&sections, &concepts);
            message.push_str(&match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => format!("; did you mean \"{near}\"?"),
                None => "; `netloom list` shows all kinds, `netloom schema` all keys".to_owned(),
            });
            output.error(&message);
            return Ok(Exit::Usage);
        }
        output.text(&found.join("\n"))?;
        Ok(Exit::Done)
    }
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
    let mut table = Columns::words();
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
    table.print()
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
                let mut table = Columns::words();
                concept
                    .kinds
                    .iter()
                    .for_each(|kind| table.line([kind.name, kind.summary]));
                text.push_str(&table.print());
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
        let mut table = Columns::words();
        concept
            .kinds
            .iter()
            .for_each(|kind| table.line([kind.name, kind.summary]));
        found.push(format!("{path}: {}\n\n{}", concept.about, table.print()));
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
    let mut found: Vec<String> = Vec::new();
    for (file, parts) in TABLES {
        for column in parts
            .iter()
            .copied()
            .flatten()
            .filter(|column| column.name == name)
        {
            let unit = if column.unit.is_empty() {
                String::new()
            } else {
                format!(" [{}]", column.unit)
            };
            found.push(format!(
                "{name}{unit}, a column of {file}.csv\n\n  {}\n",
                column.meaning
            ));
        }
    }
    found
}

/// Columns of which the name is a part, as `p99` is of `latency_p99_ns`; in the first table that has each.
fn columns_with(part: &str) -> Option<String> {
    let mut table = Columns::words();
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
    (!seen.is_empty()).then(|| format!("columns of results with \"{part}\":\n\n{}", table.print()))
}

/// The page of the book that says what words mean.
const WORDS: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../book/src/explanation/words.md"
));

/// What the book says about a word: `lane`, `VL` and `virtual lane` are in one line of it.
fn words(name: &str) -> Vec<String> {
    let rows = WORDS.lines().filter_map(|line| {
        let (word, meaning) = line
            .strip_prefix("| ")?
            .strip_suffix(" |")?
            .split_once(" | ")?;
        let mut names = word.split([',', '(', ')']).map(str::trim);
        let is_it = names.any(|known| known.eq_ignore_ascii_case(name));
        is_it.then(|| format!("{word}\n\n{}", wrapped(&format!("  {meaning}"), 90)))
    });
    rows.collect()
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
    names.extend(codes().map(|(code, _, _)| code.to_owned()));
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
    fn what_people_call_things_is_found() {
        let (concepts, sections) = (spec::concepts(Kinds::built_in()), spec::sections());
        assert!(!keys("link.class", &sections, &concepts).is_empty());
        let paths = paths(&sections, &concepts);
        for path in ["traffic.load", "topology.arity", "routing.deadlock"] {
            assert!(paths.iter().any(|known| known == path), "{path}");
        }
        assert!(columns_with("p99").unwrap().contains("latency_p99_ns"));
        for word in ["digest", "VL", "virtual lane", "mtu"] {
            assert_eq!(words(word).len(), 1, "{word}");
        }
        for path in &paths {
            assert!(!keys(path, &sections, &concepts).is_empty(), "{path}");
        }
    }
}

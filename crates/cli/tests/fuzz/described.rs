//! Experiments generated from the description of the format: every section, key and kind.

use netloom_catalog::{Param, Shape};
use netloom_experiment::Kinds;
use netloom_experiment::spec::{Concept, SectionInfo, concepts, sections};

use crate::mutate::EDGES;
use crate::random::Random;

/// The description of the format.
pub(crate) struct Format {
    sections: Vec<SectionInfo>,
    concepts: Vec<Concept>,
}

impl Format {
    /// Returns the format of this version.
    pub(crate) fn new() -> Format {
        Format {
            sections: sections(),
            concepts: concepts(Kinds::built_in()),
        }
    }

    /// Returns every key with its default and every kind with its example: lines that are valid in
    /// some section.
    pub(crate) fn dictionary(&self) -> Vec<String> {
        let mut lines: Vec<String> = vec![];
        let mut key = |param: &Param| {
            let value = param.default.clone().filter(|text| !text.is_empty());
            lines.push(format!(
                "{} = {}",
                param.name,
                value.unwrap_or("1".to_owned())
            ));
        };
        for section in &self.sections {
            section.params.iter().for_each(&mut key);
        }
        for concept in &self.concepts {
            concept
                .kinds
                .iter()
                .flat_map(|kind| &kind.params)
                .for_each(&mut key);
        }
        for section in &self.sections {
            let path = section.path.replace('*', "host");
            lines.push(match section.is_list {
                true => format!("[[{path}]]"),
                false => format!("[{path}]"),
            });
        }
        for concept in &self.concepts {
            for kind in &concept.kinds {
                lines.push(format!("kind = \"{}\"\n{}", kind.name, kind.example));
                let key = concept.path.rsplit('.').next().unwrap_or(concept.path);
                lines.push(format!("{key} = {}", self.kind(concept.name, kind.name)));
            }
        }
        lines
    }

    /// Returns a kind with its example as an inline table.
    fn kind(&self, concept: &str, name: &str) -> String {
        let concept = self.concepts.iter().find(|own| own.name == concept);
        let kind = concept.and_then(|own| own.kinds.iter().find(|kind| kind.name == name));
        let example = kind.map_or("", |kind| kind.example);
        let mut parts = vec![format!("kind = \"{name}\"")];
        parts.extend(example.lines().map(str::to_owned));
        format!("{{ {} }}", parts.join(", "))
    }

    /// Returns a whole experiment; most are valid in most parts.
    pub(crate) fn experiment(&self, random: &mut Random) -> String {
        let mut text = "netloom = 1\n".to_owned();
        for section in &self.sections {
            let is_needed = matches!(section.path, "topology" | "traffic");
            // Studies, plans and connections are generated separately.
            let rarity = match section.path {
                "" => continue,
                path if path.starts_with("study") => 40,
                path if path.starts_with("plan") => 20,
                "connections"
                | "qos.sl2vl-exception"
                | "qos.sc2vl-exception"
                | "qos.sc2sc-exception"
                | "link.class.*"
                | "groups.*" => 12,
                _ => 3,
            };
            if !is_needed && !random.one_in(rarity) {
                continue;
            }
            let n = match section.is_list {
                true => 1 + random.below(3),
                false => 1,
            };
            for _ in 0..n {
                text.push_str(&self.section(section, random));
            }
        }
        text
    }

    fn section(&self, section: &SectionInfo, random: &mut Random) -> String {
        let path = section.path.replace(
            '*',
            random.of::<&str>(&["host", "switch", "local", "up", "a"]),
        );
        let mut text = match section.is_list {
            true => format!("[[{path}]]\n"),
            false => format!("[{path}]\n"),
        };
        if let Some(name) = section.concept {
            let concept = self.concepts.iter().find(|concept| concept.name == name);
            let kind = random.of(&concept.expect("a known concept").kinds);
            text.push_str(&format!("kind = \"{}\"\n", kind.name));
            let mut written: Vec<&str> = vec![];
            if !random.one_in(8) {
                let keys = kind.example.lines();
                written = keys
                    .filter_map(|line| Some(line.split_once('=')?.0.trim()))
                    .collect();
                text.push_str(&format!("{}\n", kind.example));
            }
            for param in &kind.params {
                if random.one_in(6) && !written.contains(&param.name.as_str()) {
                    text.push_str(&self.key(param, random));
                }
            }
        }
        if section.path == "traffic" {
            text.push_str(&format!(
                "load = {}\n",
                random.of(&["0.1", "0.5", "0.9", "1e-3"])
            ));
        }
        for param in &section.params {
            let is_written = section.path == "traffic" && param.name == "load";
            if !is_written && (param.default.is_none() || random.one_in(6)) {
                text.push_str(&self.key(param, random));
            }
        }
        text
    }

    fn key(&self, param: &Param, random: &mut Random) -> String {
        let default = param.default.as_ref().filter(|text| !text.is_empty());
        let value = match default {
            Some(default) if random.one_in(3) => default.clone(),
            _ => self.value(&param.shape, random, 3),
        };
        format!("{} = {value}\n", param.name)
    }

    fn value(&self, shape: &Shape, random: &mut Random, depth: usize) -> String {
        if random.one_in(25) || depth == 0 {
            return (*random.of(EDGES)).to_owned();
        }
        let several = |random: &mut Random, shape: &Shape| {
            let n = random.below(4);
            let items = (0..n).map(|_| self.value(shape, random, depth - 1));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        };
        match shape {
            Shape::Integer(least, most) => {
                let small = [0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 64];
                let value = match random.one_in(10) {
                    true => *random.of(&[*least, *most, most / 2]),
                    false => *random.of(&small),
                };
                value
                    .clamp(*least, *most)
                    .min(i128::from(i64::MAX))
                    .to_string()
            }
            Shape::Number => {
                (*random.of(&["0.1", "0.25", "0.5", "1.0", "1.3", "2.0", "0.0", "1e-9"])).to_owned()
            }
            Shape::Bool => random.one_in(2).to_string(),
            Shape::Text => {
                let words = [
                    "a", "b", "all", "0-3", "0", "1,2", "host", "n0", "x.csv", "even", "odd",
                ];
                format!("\"{}\"", random.of(&words))
            }
            Shape::OneOf(words) => format!("\"{}\"", random.of(words)),
            Shape::Quantity(what) => {
                let choices: &[&str] = match *what {
                    "time" => &["0 ns", "1 ns", "5.12 ns", "100 ns", "1 us", "7 us", "1 ms"],
                    "data rate" => &["1 Gbps", "25 Gbps", "100 Gbps", "400 Gbps", "7 Mbps"],
                    "data amount" => &["1 B", "64 B", "100 B", "256 B", "2 KiB", "4 KiB", "64 KiB"],
                    "length" => &["1 m", "30 cm", "5 m"],
                    "number of packets" => &["10 packets", "0 packets"],
                    _ => &["1", "1 GHz", "2 m", "1 us", "64 B"],
                };
                format!("\"{}\"", random.of(choices))
            }
            Shape::List(item) => several(random, item),
            Shape::Tuple(items) => {
                let items = items.iter().map(|item| self.value(item, random, depth - 1));
                format!("[{}]", items.collect::<Vec<_>>().join(", "))
            }
            Shape::Either(shapes) => {
                let shape = random.of(shapes);
                self.value(shape, random, depth)
            }
            Shape::Table => "{ a = 1 }".to_owned(),
            Shape::Kind(name) => {
                let concept = self.concepts.iter().find(|concept| concept.name == *name);
                match concept {
                    Some(concept) => {
                        let kind = random.of(&concept.kinds).name;
                        self.kind(name, kind)
                    }
                    None => "\"none\"".to_owned(),
                }
            }
        }
    }
}

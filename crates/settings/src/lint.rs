//! Finds settings that collide, do nothing, or do not fit a plan.

use netloom_catalog::{Note, Notes, Place, visible_name};

use crate::plan::{Class, Classes, Link, dscp};
use crate::reading::{Assignment, Environment, Process};
use crate::table::{Effect, Ends, Kind, Library, Setting, table};
use crate::version::Answer;
use crate::wire::{Given, Meaning, Value, Wire};

/// What is checked.
#[derive(Debug)]
pub struct Subject<'a> {
    pub environment: &'a Environment,
    /// The place of findings without a line.
    pub file: Place,
    pub link: Link,
    pub given: &'a [Given],
    pub classes: Option<&'a Classes>,
    /// Priorities with PFC, if known. Priorities are then those of the usual map: DSCP / 8.
    pub lossless: Option<&'a [u8]>,
}

/// The result.
#[derive(Debug, Default)]
pub struct Report {
    pub rows: Vec<Row>,
    pub findings: Notes,
    pub remarks: Notes,
}

/// What a library puts on the wire.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub process: String,
    pub library: &'static str,
    /// The setting that decides, or `default`.
    pub by: &'static str,
    pub wire: String,
    pub lane: Option<u8>,
    pub class: Option<String>,
    pub share: Option<String>,
    pub wait: Option<String>,
}

/// Checks an environment.
pub fn lint(subject: &Subject<'_>) -> Report {
    let mut report = Report::default();
    let none = Process::default();
    let mut processes: Vec<&Process> = subject.environment.processes.iter().collect();
    let has_libraries = processes
        .iter()
        .any(|process| !process.libraries(subject.given).is_empty());
    if !has_libraries && subject.given.is_empty() {
        report
            .findings
            .error(
                "E1200",
                subject.file,
                "expected settings of communication libraries, found none",
            )
            .help("check the file, or name libraries that variables do not show with --library");
        return report;
    }
    if processes.is_empty() {
        processes.push(&none);
    }
    for process in processes {
        let mut lint = ProcessLint {
            subject,
            process,
            wires: process.wires(subject.given, subject.link),
            report: &mut report,
        };
        lint.values();
        lint.versions();
        lint.overridden();
        lint.effects();
        lint.automatic();
        lint.classes();
        lint.ends();
        lint.rows();
    }
    if subject.environment.further > 0 {
        let message = format!(
            "{} processes or variables beyond the limit were not checked",
            subject.environment.further
        );
        report.findings.error("E1200", subject.file, message);
    }
    report
}

struct ProcessLint<'a, 'b> {
    subject: &'a Subject<'a>,
    process: &'a Process,
    wires: Vec<Wire<'a>>,
    report: &'b mut Report,
}

impl<'a> ProcessLint<'a, '_> {
    /// Adds a finding; the name of the process stands in its label.
    fn find(&mut self, code: &'static str, own: Option<&Assignment>, message: String) -> &mut Note {
        let place = own.map_or(self.subject.file, |own| own.place);
        let note = self.report.findings.error(code, place, message);
        if !self.process.name.is_empty() {
            note.label(format!("in {}", self.process.name));
        }
        note
    }

    /// Returns the assignments with their settings.
    fn own(&self) -> impl Iterator<Item = (&'static Setting, &'a Assignment)> + use<'a> {
        let settings = self.process.settings.iter();
        settings.filter_map(|own| Some((table().setting(&own.name)?, own)))
    }

    fn values(&mut self) {
        for (setting, own) in self.own() {
            if setting.is_switch || own.meaning(setting) != Meaning::Wrong {
                continue;
            }
            let value = own.value.as_deref().unwrap_or_default();
            let expected = match setting.range {
                Some([least, most]) => format!("a number from {least} to {most}"),
                None => "a number".to_owned(),
            };
            let message = format!(
                "expected {expected} for {}, found `{}`",
                own.name,
                visible_name(value)
            );
            let or = setting.word.as_ref().map(|word| format!(" or {word}"));
            let help = format!("use {expected}{}, or unset it", or.unwrap_or_default());
            self.find("E1209", Some(own), message).help(help);
        }
    }

    fn versions(&mut self) {
        let given = self.subject.given.iter();
        let stated = given.filter_map(|given| {
            Some((table().library(&given.library)?, given.version.as_deref()?))
        });
        for (library, version) in stated.collect::<Vec<_>>() {
            let shown = visible_name(version).into_owned();
            let mut not_known: Vec<&str> = vec![];
            for (setting, own) in self.own().filter(|(s, _)| s.library == library.name) {
                match setting.is_in(library, version) {
                    Answer::Yes => {}
                    Answer::No => {
                        let since = setting.since.as_deref().unwrap_or_default();
                        let message = format!(
                            "{} {shown} ignores {}, which is in {since} and later",
                            library.title, own.name
                        );
                        let help = format!("update {}, or unset {}", library.title, own.name);
                        self.find("E1212", Some(own), message).help(help);
                    }
                    Answer::NotKnown => not_known.push(&setting.key),
                }
            }
            if !not_known.is_empty() {
                let message = format!(
                    "not known what {} {shown} does with {}",
                    library.title,
                    not_known.join(", ")
                );
                let help = format!("the table was checked in {}", library.version);
                let remarks = &mut self.report.remarks;
                remarks
                    .warning("E1213", self.subject.file, message)
                    .help(help);
            }
        }
    }

    /// Settings that decide nothing because another one wins.
    fn overridden(&mut self) {
        let link = self.subject.link;
        let deciding: Vec<&str> = self
            .wires
            .iter()
            .filter_map(|wire| wire.by.map(|(setting, _)| setting.key.as_str()))
            .collect();
        let mut found = vec![];
        for wire in &self.wires {
            let (Some((winner, winning)), Some(source)) =
                (wire.by, wire.library.fields(link).deciding(link))
            else {
                continue;
            };
            let asked = asked_for(wire.library, source.default, self.process);
            for (setting, own) in self.own() {
                let is_beaten = source.from.contains(&setting.key)
                    && setting.key != winner.key
                    && !deciding.contains(&setting.key.as_str())
                    && !is_same(own, setting, winning, winner)
                    && own.meaning(setting) != Meaning::Unset;
                if is_beaten && link_effect(setting, link) {
                    found.push((wire.library, Some((setting, own)), winner, winning, asked));
                }
            }
            // DeepEP V2 asks for a level of its own even if nothing is set.
            let has_own = self
                .own()
                .any(|(setting, _)| setting.library == wire.library.name);
            let is_asked = wire.library.name == "deepep-v2" && winner.library != "deepep-v2";
            if link == Link::InfiniBand && is_asked && !has_own && wire.value != asked_value(asked)
            {
                found.push((wire.library, None, winner, winning, asked));
            }
        }
        for (library, beaten, winner, winning, asked) in found {
            let becomes_level = self.subject.link == Link::InfiniBand
                && matches!(winner.roce, Effect::TrafficClass);
            let asks = match (beaten, asked) {
                (Some((setting, _)), _) => format!("{} of {}", setting.key, library.title),
                (None, Some(level)) => format!("service level {level} of {}", library.title),
                (None, None) => library.title.clone(),
            };
            let first = beaten.map_or(winning, |(_, own)| own);
            let (code, message) = match becomes_level {
                true => (
                    "E1202",
                    format!(
                        "{} is the service level of GPU-initiated puts on InfiniBand and overrides \
                         {asks}",
                        winner.key
                    ),
                ),
                false => ("E1201", format!("{} overrides {asks}", winner.key)),
            };
            let place = winning.place;
            let help = format!("unset {} in this process", winner.key);
            let note = self.find(code, Some(first), message);
            note.help(help);
            if beaten.is_some() {
                note.also(place, "this one wins");
            }
        }
    }

    /// Settings that fail or do nothing on this kind of link.
    fn effects(&mut self) {
        let link = self.subject.link;
        for (setting, own) in self.own() {
            let meaning = own.meaning(setting);
            if meaning == Meaning::Unset || meaning == Meaning::Number(0) || setting.is_switch {
                continue;
            }
            let level = self.level_setting(setting);
            match setting.effect(link) {
                Effect::Fails => {
                    let message = format!("{} makes initialisation fail on {link}", own.name);
                    let help = match level {
                        Some(level) => format!("unset it; {} selects the lane", level.key),
                        None => "unset it".to_owned(),
                    };
                    self.find("E1203", Some(own), message).help(help);
                }
                Effect::Nothing => {
                    let message = format!("{} has no effect on {link}", own.name);
                    self.find("E1204", Some(own), message).help("unset it");
                }
                Effect::NoLane if link == Link::InfiniBand => self.no_lane(setting, own, level),
                _ => {}
            }
        }
    }

    /// A traffic class on InfiniBand: harmful for GIN, useless without a level.
    fn no_lane(&mut self, setting: &Setting, own: &Assignment, level: Option<&Setting>) {
        let for_gin = self.wires.iter().any(|wire| {
            let is_it = wire.by.is_some_and(|(by, _)| by.key == setting.key);
            is_it && wire.library.name != setting.library
        });
        if for_gin {
            // Reported as E1202 where it overrides something; otherwise here.
            let is_reported = self.report.findings.iter().any(|note| {
                note.code == "E1202" && note.places.iter().any(|(place, _)| *place == own.place)
            });
            if !is_reported {
                let message = format!(
                    "{} is the service level of GPU-initiated puts on InfiniBand",
                    own.name
                );
                let help = "unset it on InfiniBand";
                self.find("E1202", Some(own), message).help(help);
            }
            return;
        }
        let Some(level) = level else {
            return;
        };
        let is_set = |own: &Assignment| own.meaning(level) != Meaning::Unset;
        if !self.process.get(&level.key).is_some_and(is_set) {
            let message = format!(
                "{} selects no lane on InfiniBand, and {} is not set",
                own.name, level.key
            );
            let help = format!("set {} to the service level of the class", level.key);
            self.find("E1205", Some(own), message).help(help);
        }
    }

    /// Returns the variable for the service level of the same library.
    fn level_setting(&self, setting: &Setting) -> Option<&'static Setting> {
        let library = table().library(&setting.library)?;
        let keys = &library.infiniband.service_level.as_ref()?.from;
        let mut found = keys.iter().filter_map(|key| table().setting(key));
        found.find(|level| {
            level.library == library.name
                && level.kind == Kind::Environment
                && level.infiniband == Effect::ServiceLevel
        })
    }

    fn automatic(&mut self) {
        let link = self.subject.link;
        let mut seen: Vec<&str> = vec![];
        for wire in &self.wires {
            let source = wire.library.fields(link).deciding(link);
            let switch = source.filter(|_| wire.by.is_none());
            let switch = switch.and_then(|source| self.process.switched(source, link));
            seen.extend(switch.filter(|switch| !seen.contains(switch)));
        }
        for switch in seen {
            let own = self.process.get(switch);
            let level = own.and_then(|own| self.level_setting(table().setting(&own.name)?));
            let level = level.map_or("the service level", |level| level.key.as_str());
            let message = format!("{switch} selects the service level, since {level} is not set");
            let help = format!("set {level} to the level of the class");
            self.find("E1211", own, message).help(help);
        }
    }

    /// Levels and code points against the classes.
    fn classes(&mut self) {
        let (subject, link) = (self.subject, self.subject.link);
        let mut reported: Vec<(u16, Option<Place>)> = vec![];
        for wire in self.wires.clone() {
            let Value::Number(number) = wire.value else {
                continue;
            };
            let own = wire.by.map(|(_, own)| own);
            let title = &wire.library.title;
            let by = match wire.by {
                Some((setting, _)) => format!("by {}", setting.key),
                None => "by default".to_owned(),
            };
            let class = subject.classes.and_then(|classes| classes.of(link, number));
            // Two parts of a library that one variable decides are one finding.
            let is_new = !reported.contains(&(number, own.map(|own| own.place)));
            if let (Some(classes), None, true) = (subject.classes, class, is_new) {
                reported.push((number, own.map(|own| own.place)));
                let known = known(classes, link);
                match link {
                    Link::InfiniBand => {
                        let lane = classes.lanes[usize::from(number & 15)];
                        let message = format!(
                            "{title} uses SL {number} {by}, which no class has; it shares VL {lane}"
                        );
                        let help = format!("use the level of a class: {known}");
                        self.find("E1206", own, message).help(help);
                    }
                    Link::Roce => {
                        let point = dscp(number);
                        let message = format!("{title} uses DSCP {point} {by}, which no class has");
                        let help = format!("use the DSCP of a class: {known}");
                        self.find("E1208", own, message).help(help);
                    }
                }
            }
            if link == Link::Roce {
                self.lossless(number, class, own, title, &by, is_new);
            }
            let carrying = self.carrying(wire.library);
            if let Some(class) = class
                && !carrying.is_empty()
                && carrying.iter().all(|own| own.name != class.name)
            {
                let names: Vec<&str> = carrying.iter().map(|class| class.name.as_str()).collect();
                let message = format!(
                    "{title} is in class {} {by}; the plan carries it in {}",
                    visible_name(&class.name),
                    visible_name(&names.join(", "))
                );
                let help = "run `netloom site export env` for the lines of the plan";
                self.find("E1214", own, message).help(help);
            }
        }
    }

    /// Returns the classes that carry a library in this process. A process whose name the plan
    /// does not have is that of libraries without one.
    fn carrying(&self, library: &Library) -> Vec<&'a Class> {
        let classes = self
            .subject
            .classes
            .iter()
            .flat_map(|classes| &classes.classes);
        let classes: Vec<&Class> = classes.collect();
        let own = Some(&self.process.name);
        let carried = || classes.iter().flat_map(|class| &class.carries);
        let is_named = carried().any(|carried| carried.process.as_ref() == own);
        let is_it = |class: &&Class| {
            class.carries.iter().any(|carried| {
                let is_here = match &carried.process {
                    Some(name) => *name == self.process.name,
                    None => !is_named,
                };
                is_here && carried.library == library.name
            })
        };
        classes.into_iter().filter(is_it).collect()
    }

    fn lossless(
        &mut self,
        number: u16,
        class: Option<&Class>,
        own: Option<&Assignment>,
        title: &str,
        by: &str,
        is_new: bool,
    ) {
        let point = dscp(number);
        let lossy = match (class, self.subject.lossless) {
            (Some(class), _) if !class.is_lossless => Some(format!("class {}", class.name)),
            (None, Some(lossless)) if !lossless.contains(&(point / 8)) => {
                Some(format!("priority {}", point / 8))
            }
            _ => None,
        };
        if let (Some(lossy), true) = (lossy, is_new) {
            let message = format!(
                "{title} uses DSCP {point} {by}; {} has no PFC",
                visible_name(&lossy)
            );
            let help = "set the traffic class of a lossless class: 4 times its DSCP, plus 2";
            self.find("E1207", own, message).help(help);
        }
    }

    /// Settings that the other end must have too.
    fn ends(&mut self) {
        let link = self.subject.link;
        let own = self.own().filter(|(setting, own)| {
            let selects = match link {
                Link::InfiniBand => setting.infiniband == Effect::ServiceLevel,
                Link::Roce => setting.roce == Effect::TrafficClass,
            };
            selects
                && setting.ends == Ends::Own
                && !setting.is_switch
                && matches!(own.meaning(setting), Meaning::Number(_))
        });
        let names: Vec<&str> = own.map(|(setting, _)| setting.key.as_str()).collect();
        if !names.is_empty() {
            let message = format!("set {} on both ends", names.join(", "));
            let place = self
                .process
                .get(names[0])
                .map_or(self.subject.file, |own| own.place);
            let help = "each end sets what it sends, and READ data leave with the responder's";
            self.report
                .remarks
                .warning("E1210", place, message)
                .help(help);
        }
    }

    fn rows(&mut self) {
        let link = self.subject.link;
        for wire in &self.wires {
            let number = match wire.value {
                Value::Number(number) => Some(number),
                _ => None,
            };
            let words = match &wire.value {
                Value::Number(number) => match link {
                    Link::InfiniBand => format!("SL {number}"),
                    Link::Roce => format!("DSCP {}", dscp(*number)),
                },
                Value::PathRecord if link == Link::InfiniBand => "SL of the path record".to_owned(),
                Value::PathRecord => "DSCP of rdma_cm".to_owned(),
                Value::LeftToDevice => "left to the device".to_owned(),
                Value::NotKnown(why) => format!("not known: {why}"),
                Value::NotOnLink => format!("not on {link}"),
            };
            let classes = self.subject.classes;
            let class = number.and_then(|number| classes?.of(link, number));
            let lane = match (link, number, classes, class) {
                (Link::InfiniBand, Some(number), Some(classes), _) => {
                    classes.lanes.get(usize::from(number)).copied()
                }
                (Link::Roce, _, _, Some(class)) => Some(class.level),
                _ => None,
            };
            self.report.rows.push(Row {
                process: self.process.name.clone(),
                library: &wire.library.title,
                by: wire
                    .by
                    .map_or("default", |(setting, _)| setting.key.as_str()),
                wire: words,
                lane,
                class: class.map(|class| visible_name(&class.name).into_owned()),
                share: class.map(|class| class.share.clone()),
                wait: class.map(|class| class.wait.clone()),
            });
        }
    }
}

/// Returns the level that a library asks for by itself: its own variable, or its default.
fn asked_for(library: &Library, default: Option<u16>, process: &Process) -> Option<u16> {
    let settings = process.settings.iter();
    let own = settings.filter_map(|own| Some((table().setting(&own.name)?, own)));
    let numbers = own.filter(|(setting, _)| setting.library == library.name);
    let mut numbers = numbers.filter_map(|(setting, own)| match own.meaning(setting) {
        Meaning::Number(number) => Some(number),
        _ => None,
    });
    numbers.next_back().or(default)
}

fn asked_value(asked: Option<u16>) -> Value {
    asked.map_or(Value::LeftToDevice, Value::Number)
}

/// Returns whether a setting is meant to select lanes on this kind of link.
fn link_effect(setting: &Setting, link: Link) -> bool {
    let effect = setting.effect(link);
    matches!(effect, Effect::ServiceLevel | Effect::TrafficClass)
}

/// Returns whether two variables say the same number.
fn is_same(a: &Assignment, of_a: &Setting, b: &Assignment, of_b: &Setting) -> bool {
    matches!((a.meaning(of_a), b.meaning(of_b)), (Meaning::Number(a), Meaning::Number(b)) if a == b)
}

/// Lists what the classes have: `ep SL 1, kv SL 2`.
fn known(classes: &Classes, link: Link) -> String {
    let words = classes.classes.iter().filter_map(|class| {
        let name = visible_name(&class.name);
        match link {
            Link::InfiniBand => Some(format!("{name} SL {}", class.level)),
            Link::Roce => {
                let points: Vec<String> = class.dscps.iter().map(u8::to_string).collect();
                (!points.is_empty()).then(|| format!("{name} DSCP {}", points.join(" or ")))
            }
        }
    });
    let words: Vec<String> = words.collect();
    match words.is_empty() {
        true => "none has one".to_owned(),
        false => words.join(", "),
    }
}

//! Environments from a plan: for each process the variables that put each library into its class.
//!
//! A library reads several settings in an order, and several libraries of a process share some.
//! So the values of a process are found together: of all assignments that give every library its
//! class, the one with the fewest settings, and rather a library's own than another's.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use netloom_catalog::visible_name;
use serde_json::json;

use crate::plan::{Class, Link, dscp, traffic_class};
use crate::table::{Effect, Ends, Kind, Library, Setting, Source, table};

/// The lines for all processes.
#[derive(Clone, Debug)]
pub struct Export {
    pub link: Link,
    pub blocks: Vec<Block>,
    /// The levels or code points in use, ascending.
    pub used: Vec<u16>,
    pub problems: Vec<Problem>,
}

/// The lines for one process.
#[derive(Clone, Debug)]
pub struct Block {
    /// `None` for libraries without a process.
    pub process: Option<String>,
    pub parts: Vec<Part>,
    /// Variables that must stay unset, and why.
    pub unset: Vec<(&'static Setting, String)>,
}

/// A library of a process.
#[derive(Clone, Debug)]
pub struct Part {
    pub class: Class,
    pub library: &'static Library,
    pub outcome: Outcome,
}

/// How a library gets into its class.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// By these settings. Empty if the default is right, or another line sets it.
    Set(Vec<(&'static Setting, u16)>),
    /// The subnet manager or rdma_cm decides.
    PathRecord,
    /// Why it cannot.
    NotPossible(String),
}

/// What is wrong with a plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    pub code: &'static str,
    pub is_error: bool,
    pub message: String,
    pub help: String,
    /// The classes, by their position.
    pub classes: Vec<usize>,
}

/// A library that must get a value.
#[derive(Clone, Copy)]
struct Demand {
    class: usize,
    library: &'static Library,
    source: &'static Source,
    target: u16,
    /// Whether it is a part of a library that has a demand of its own.
    is_implied: bool,
}

/// Computes the lines for the classes of a plan.
pub fn export(classes: &[Class], link: Link) -> Export {
    let mut export = Export {
        link,
        blocks: vec![],
        used: vec![],
        problems: vec![],
    };
    level_zero(classes, link, &mut export.problems);
    let mut processes: BTreeMap<Option<&str>, Vec<(usize, &'static Library)>> = BTreeMap::new();
    for (at, class) in classes.iter().enumerate() {
        if !class.carries.is_empty() && target(class, link).is_none() {
            let name = visible_name(&class.name);
            export.problems.push(Problem {
                code: "E1221",
                is_error: true,
                message: format!("class {name} carries libraries and has no `dscp`"),
                help: "set `dscp` of the class; 8 times the priority is usual".to_owned(),
                classes: vec![at],
            });
            continue;
        }
        for carried in &class.carries {
            if let Some(library) = table().library(&carried.library) {
                let own = processes.entry(carried.process.as_deref()).or_default();
                own.push((at, library));
            }
        }
    }
    for (process, carried) in processes {
        let block = block(process, &carried, classes, link, &mut export.problems);
        let targets = block
            .parts
            .iter()
            .filter_map(|part| target(&part.class, link));
        export.used.extend(targets);
        export.blocks.push(block);
    }
    export.used.sort_unstable();
    export.used.dedup();
    export
}

/// Returns the value that selects a class.
fn target(class: &Class, link: Link) -> Option<u16> {
    match link {
        Link::InfiniBand => Some(u16::from(class.level)),
        Link::Roce => class.dscps.first().map(|dscp| traffic_class(*dscp)),
    }
}

/// The name of the class for programs that set nothing.
const UNCONFIGURED: &str = "other";

fn level_zero(classes: &[Class], link: Link, problems: &mut Vec<Problem>) {
    for (at, class) in classes.iter().enumerate() {
        let is_it = class.level == 0 && !class.carries.is_empty() && class.name != UNCONFIGURED;
        if is_it && link == Link::InfiniBand {
            let name = visible_name(&class.name);
            problems.push(Problem {
                code: "W1222",
                is_error: false,
                message: format!(
                    "class {name} has service level 0, which all programs without a setting use"
                ),
                help: format!(
                    "give it another `sl`, and leave 0 to a class named \"{UNCONFIGURED}\""
                ),
                classes: vec![at],
            });
        }
    }
}

fn block(
    process: Option<&str>,
    carried: &[(usize, &'static Library)],
    classes: &[Class],
    link: Link,
    problems: &mut Vec<Problem>,
) -> Block {
    let mut parts: Vec<Part> = vec![];
    // The demands, and the part of each.
    let mut demands: Vec<(Demand, usize)> = vec![];
    for &(at, library) in carried {
        let class = &classes[at];
        let mut part = |outcome| {
            parts.push(Part {
                class: class.clone(),
                library,
                outcome,
            });
            parts.len() - 1
        };
        let fields = library.fields(link);
        let Some(source) = fields.deciding(link).filter(|_| !fields.path_record) else {
            part(match fields.path_record {
                true => Outcome::PathRecord,
                false => Outcome::NotPossible(format!("does not run on {link}")),
            });
            continue;
        };
        let Some(target) = target(class, link) else {
            continue;
        };
        let demand = Demand {
            class: at,
            library,
            source,
            target,
            is_implied: false,
        };
        if let Some(why) = impossible(&demand, carried, link) {
            part(Outcome::NotPossible(why));
            continue;
        }
        let own = part(Outcome::Set(vec![]));
        demands.push((demand, own));
        // Parts that no class carries follow the whole.
        for inner in &table().libraries {
            let is_part = inner.part_of.as_ref() == Some(&library.name);
            let is_carried = carried.iter().any(|(_, other)| other.name == inner.name);
            if let (true, false, Some(source)) =
                (is_part, is_carried, inner.fields(link).deciding(link))
            {
                let implied = Demand {
                    library: inner,
                    source,
                    is_implied: true,
                    ..demand
                };
                demands.push((implied, own));
            }
        }
    }
    let mut unset: Vec<(&'static Setting, String)> = vec![];
    for group in groups(&demands) {
        let own: Vec<Demand> = group.iter().map(|&at| demands[at].0).collect();
        let Some(solution) = solve(&own, link) else {
            problems.push(shared(process, &own, classes, link));
            continue;
        };
        for (&at, finer) in group.iter().zip(&solution.finer) {
            let (demand, part) = demands[at];
            let Outcome::Set(lines) = &mut parts[part].outcome else {
                continue;
            };
            for key in &demand.source.from {
                let set = solution.shared.iter().find(|(own, _)| own.key == *key);
                let is_new = |lines: &Vec<(&Setting, u16)>, key: &str| {
                    lines.iter().all(|(setting, _)| setting.key != key)
                };
                if let Some((setting, Some(value))) = set {
                    if is_new(lines, key) {
                        lines.push((setting, *value));
                    }
                    break;
                }
                if let Some(setting) = finer.filter(|setting| setting.key == *key) {
                    if is_new(lines, key) {
                        lines.push((setting, demand.target));
                    }
                    break;
                }
            }
        }
        for (setting, value) in &solution.shared {
            let is_variable = setting.kind == Kind::Environment && setting.is_verified();
            if value.is_none() && is_variable {
                let readers = own
                    .iter()
                    .filter(|demand| demand.source.from.contains(&setting.key));
                let mut titles: Vec<&str> = readers.map(|d| d.library.title.as_str()).collect();
                titles.dedup();
                let why = format!("would move {} to another class", titles.join(" and "));
                push(&mut unset, setting, why);
            }
        }
    }
    for part in &parts {
        harmful(part, link, &mut unset);
    }
    Block {
        process: process.map(str::to_owned),
        parts,
        unset,
    }
}

fn push(unset: &mut Vec<(&'static Setting, String)>, setting: &'static Setting, why: String) {
    if unset.iter().all(|(own, _)| own.key != setting.key) {
        unset.push((setting, why));
    }
}

/// Adds variables of a library that fail on this kind of link, or select a level by themselves.
fn harmful(part: &Part, link: Link, unset: &mut Vec<(&'static Setting, String)>) {
    let Some(source) = part.library.fields(link).deciding(link) else {
        return;
    };
    // The libraries whose variables this one reads: UCX for NIXL.
    let mut owners: Vec<&str> = vec![&part.library.name];
    let settings = source.from.iter().filter_map(|key| table().setting(key));
    owners.extend(settings.map(|setting| setting.library.as_str()));
    let is_default = matches!(&part.outcome, Outcome::Set(lines) if lines.is_empty());
    for setting in &table().settings {
        let is_variable = setting.kind == Kind::Environment && setting.is_verified();
        if !is_variable || !owners.contains(&setting.library.as_str()) {
            continue;
        }
        let effect = setting.effect(link);
        if effect == Effect::Fails {
            push(
                unset,
                setting,
                format!("{} does not start with it", part.library.title),
            );
        } else if setting.is_switch && effect == Effect::ServiceLevel && is_default {
            push(
                unset,
                setting,
                "selects a service level by itself".to_owned(),
            );
        }
    }
}

/// Returns why no setting gives a library its class, whatever other libraries need.
fn impossible(
    demand: &Demand,
    carried: &[(usize, &'static Library)],
    link: Link,
) -> Option<String> {
    let library = demand.library;
    if let Some(whole) = &library.part_of {
        let keys = demand
            .source
            .from
            .iter()
            .filter_map(|key| table().setting(key));
        let has_own = keys.filter(|key| key.library == library.name).count() > 0;
        let mut wholes = carried.iter().filter(|(_, other)| other.name == *whole);
        if !has_own && wholes.any(|(class, _)| *class != demand.class) {
            return Some(format!("no setting splits it from {whole} on {link}"));
        }
    }
    if solve(&[*demand], link).is_some() {
        return None;
    }
    let keys = demand
        .source
        .from
        .iter()
        .filter_map(|key| table().setting(key));
    let unverified: Vec<&str> = keys
        .filter(|setting| !setting.is_verified())
        .map(|setting| setting.key.as_str())
        .collect();
    Some(match (unverified.is_empty(), demand.source.default) {
        (false, _) => format!(
            "{} is not verified, so no line is written",
            unverified.join(", ")
        ),
        (true, Some(default)) => {
            format!(
                "always uses {}, and no setting exists",
                words(link, default)
            )
        }
        (true, None) => "no setting exists".to_owned(),
    })
}

/// Returns a value of the deciding field as words.
pub fn words(link: Link, value: u16) -> String {
    match link {
        Link::InfiniBand => format!("SL {value}"),
        Link::Roce => format!("DSCP {} (traffic class {value})", dscp(value)),
    }
}

/// Groups the demands that read a common setting.
fn groups(demands: &[(Demand, usize)]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = vec![];
    for at in 0..demands.len() {
        let reads = |other: usize| {
            let keys = &demands[other].0.source.from;
            keys.iter()
                .any(|key| demands[at].0.source.from.contains(key))
        };
        let (with, without) = groups
            .into_iter()
            .partition(|group: &Vec<usize>| group.iter().any(|&other| reads(other)));
        let with: Vec<Vec<usize>> = with;
        groups = without;
        let mut joined = with.concat();
        joined.push(at);
        joined.sort_unstable();
        groups.push(joined);
    }
    groups.sort();
    groups
}

/// Values that give every demand its target.
struct Solution {
    /// The settings with one value per process.
    shared: Vec<(&'static Setting, Option<u16>)>,
    /// For each demand the setting with a value of its own, if it needs one.
    finer: Vec<Option<&'static Setting>>,
}

/// Costs: a library's own variable, one of another library, and a setting in the program.
const OWN: u32 = 4;
const FOREIGN: u32 = 5;
const FINER: u32 = 40;

/// Returns whether a setting selects the lane on this kind of link, and may be written.
fn is_usable(setting: &Setting, link: Link) -> bool {
    let selects = match link {
        Link::InfiniBand => setting.infiniband == Effect::ServiceLevel,
        Link::Roce => setting.roce == Effect::TrafficClass,
    };
    selects && setting.is_verified() && !setting.is_switch
}

/// Returns the cheapest solution.
fn solve(demands: &[Demand], link: Link) -> Option<Solution> {
    let mut keys: Vec<&'static Setting> = vec![];
    for key in demands.iter().flat_map(|demand| &demand.source.from) {
        let setting = table()
            .setting(key)
            .filter(|setting| !setting.kind.is_finer());
        keys.extend(setting.filter(|new| keys.iter().all(|own| own.key != new.key)));
    }
    let values = |setting: &&'static Setting| {
        let readers = demands
            .iter()
            .filter(|d| d.source.from.contains(&setting.key));
        let mut values: Vec<u16> = readers.map(|demand| demand.target).collect();
        values.sort_unstable();
        values.dedup();
        let fits = |value: &u16| setting.range.is_none_or(|[a, b]| (a..=b).contains(value));
        values.retain(|value| is_usable(setting, link) && fits(value));
        values
    };
    let choices: Vec<Vec<u16>> = keys.iter().map(values).collect();
    let price = |setting: &Setting| {
        let is_own = demands
            .iter()
            .any(|demand| demand.library.name == setting.library);
        if is_own { OWN } else { FOREIGN }
    };
    let mut best: Option<(u32, Solution)> = None;
    // All combinations, as digits of a number: 0 is unset.
    let mut digits = vec![0usize; keys.len()];
    loop {
        let chosen = digits.iter().zip(&choices);
        let chosen = chosen.map(|(&digit, values)| digit.checked_sub(1).map(|at| values[at]));
        let shared: Vec<_> = keys.iter().copied().zip(chosen).collect();
        let set = shared.iter().filter(|(_, value)| value.is_some());
        let mut cost: u32 = set.map(|(setting, _)| price(setting)).sum();
        let finer: Option<Vec<_>> = demands
            .iter()
            .map(|demand| {
                let finer = satisfied(demand, &shared, link)?;
                let is_new = finer.is_some() && !demand.is_implied;
                cost += if is_new { FINER } else { 0 };
                Some(finer)
            })
            .collect();
        if let Some(finer) = finer
            && best.as_ref().is_none_or(|(least, _)| cost < *least)
        {
            best = Some((cost, Solution { shared, finer }));
        }
        // The next combination.
        let next = digits
            .iter()
            .zip(&choices)
            .position(|(d, values)| *d < values.len());
        let Some(next) = next else {
            return best.map(|(_, solution)| solution);
        };
        digits[next] += 1;
        digits[..next].fill(0);
    }
}

/// Returns whether a demand gets its target, and the setting of its own that it needs for that.
fn satisfied(
    demand: &Demand,
    shared: &[(&'static Setting, Option<u16>)],
    link: Link,
) -> Option<Option<&'static Setting>> {
    let mut own = None;
    for key in &demand.source.from {
        let set = shared.iter().find(|(setting, _)| setting.key == *key);
        if let Some((_, Some(value))) = set {
            return match (*value == demand.target, own) {
                (true, _) => Some(None),
                (false, Some(own)) => Some(Some(own)),
                (false, None) => None,
            };
        }
        let finer = table()
            .setting(key)
            .filter(|setting| setting.kind.is_finer());
        own = own.or(finer.filter(|setting| is_usable(setting, link)));
    }
    match !demand.source.is_assumed && demand.source.default == Some(demand.target) {
        true => Some(None),
        false => own.map(Some),
    }
}

/// Describes demands without a solution.
fn shared(process: Option<&str>, own: &[Demand], classes: &[Class], link: Link) -> Problem {
    let own: Vec<&Demand> = own.iter().filter(|demand| !demand.is_implied).collect();
    let mut at: Vec<usize> = own.iter().map(|demand| demand.class).collect();
    at.sort_unstable();
    at.dedup();
    let carried = at.iter().map(|&class| {
        let mut titles: Vec<&str> = own
            .iter()
            .filter(|demand| demand.class == class)
            .map(|demand| demand.library.title.as_str())
            .collect();
        titles.dedup();
        format!(
            "{} ({})",
            visible_name(&classes[class].name),
            titles.join(", ")
        )
    });
    let carried: Vec<String> = carried.collect();
    let read = |key: &&String| own.iter().filter(|d| d.source.from.contains(key)).count() > 1;
    let keys = own.iter().flat_map(|demand| &demand.source.from);
    let key = keys
        .filter(|key| {
            table()
                .setting(key)
                .is_some_and(|setting| is_usable(setting, link))
        })
        .find(read);
    let key = key.map_or("one setting", |key| key.as_str());
    let library = own
        .last()
        .map_or("ucx", |demand| demand.library.name.as_str());
    let place = match process {
        Some(process) => format!("process {process}"),
        None => "one process".to_owned(),
    };
    Problem {
        code: "E1220",
        is_error: true,
        message: format!(
            "{} need different values of {key} in {place}",
            carried.join(" and ")
        ),
        help: format!("run them as separate processes, as in carries = [\"{library}@NAME\"]"),
        classes: at,
    }
}

impl Block {
    /// Returns the name of the process.
    pub fn name(&self) -> &str {
        self.process.as_deref().unwrap_or("all")
    }

    /// Returns the variables with their values, classes and libraries, each variable once.
    pub fn variables(&self) -> Vec<(&'static Setting, u16, &Part)> {
        let mut found: Vec<(&'static Setting, u16, &Part)> = vec![];
        for (setting, value, part) in self.lines() {
            let is_new = found.iter().all(|(own, _, _)| own.key != setting.key);
            if setting.kind == Kind::Environment && is_new {
                found.push((setting, value, part));
            }
        }
        found
    }

    /// Returns the lines that are not variables.
    pub fn elsewhere(&self) -> Vec<(&'static Setting, u16, &Part)> {
        self.lines()
            .filter(|(setting, _, _)| setting.kind != Kind::Environment)
            .collect()
    }

    fn lines(&self) -> impl Iterator<Item = (&'static Setting, u16, &Part)> {
        self.parts.iter().flat_map(|part| {
            let lines = match &part.outcome {
                Outcome::Set(lines) => lines.as_slice(),
                _ => &[],
            };
            lines
                .iter()
                .map(move |(setting, value)| (*setting, *value, part))
        })
    }

    /// Returns what cannot be set, and the limits of the libraries.
    pub fn limits(&self) -> Vec<String> {
        let mut limits: Vec<String> = vec![];
        for part in &self.parts {
            let title = &part.library.title;
            if let Outcome::NotPossible(why) = &part.outcome {
                let name = visible_name(&part.class.name);
                limits.push(format!("{title} in class {name}: {why}"));
            }
            let own = part.library.limits.iter();
            limits.extend(own.map(|limit| format!("{title}: {limit}")));
        }
        limits.dedup();
        limits
    }

    /// Returns the variables that the other end must have too.
    pub fn both_ends(&self) -> Vec<&'static str> {
        let variables = self.variables().into_iter();
        let own = variables.filter(|(setting, _, _)| setting.ends == Ends::Own);
        own.map(|(setting, _, _)| setting.key.as_str()).collect()
    }
}

impl Part {
    /// Describes the class on the link: `class ep: SL 1, VL 1, 60.00 %, high table, …`.
    fn words(&self, link: Link) -> String {
        let class = &self.class;
        let name = visible_name(&class.name);
        let (share, wait) = (&class.share, &class.wait);
        let level = match (link, class.dscps.first()) {
            (Link::InfiniBand, _) => format!("SL {}, VL {}", class.level, class.lane),
            (Link::Roce, Some(dscp)) => format!("DSCP {dscp}, priority {}", class.level),
            (Link::Roce, None) => format!("priority {}", class.level),
        };
        let high = if class.is_high { ", high table" } else { "" };
        let title = &self.library.title;
        format!("class {name}: {level}, {share}{high}, wait {wait}: {title}")
    }

    /// Describes where a setting that is not a variable is written.
    fn place(&self, setting: &Setting) -> &'static str {
        match setting.kind {
            Kind::Environment => "in the environment",
            Kind::Communicator => "in the program, for the communicators or buffers of this class",
            Kind::Pool => "in the JSON configuration, for the pool of this class",
            Kind::Module => "in the options of the kernel module",
            Kind::Configuration => "in the configuration file",
        }
    }
}

impl Export {
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.is_error)
    }

    /// Returns how to check that the settings work.
    pub fn checks(&self) -> Vec<String> {
        let list = |numbers: Vec<String>| numbers.join(", ");
        let mut checks = match self.link {
            Link::InfiniBand => {
                let levels = list(self.used.iter().map(u16::to_string).collect());
                let above = self.used.iter().filter(|level| **level > 0);
                let above = list(above.map(u16::to_string).collect());
                let mut checks = vec![format!(
                    "the mask of service levels with adaptive routing must contain {levels}, \
                     otherwise that traffic is routed statically"
                )];
                if !above.is_empty() {
                    checks.push(format!(
                        "`perfquery -X LID PORT` on a host: PortXmitDataSL must grow for level \
                         {above}"
                    ));
                }
                checks
            }
            Link::Roce => {
                let points = list(self.used.iter().map(|tc| dscp(*tc).to_string()).collect());
                vec![
                    format!(
                        "`mlnx_qos -i DEVICE` on a host: trust state dscp, and a priority with PFC \
                         for DSCP {points}"
                    ),
                    "`cat /sys/class/infiniband/*/tc/1/traffic_class`: a global class there \
                     overrides verbs queue pairs, but not DevX ones"
                        .to_owned(),
                    "`ethtool -S DEVICE | grep prio`: the counters of these priorities must grow"
                        .to_owned(),
                ]
            }
        };
        let has_path_record = self.blocks.iter().flat_map(|block| &block.parts);
        if self.link == Link::InfiniBand
            && has_path_record
                .into_iter()
                .any(|p| matches!(p.outcome, Outcome::PathRecord))
        {
            checks.push("`saquery PR --src-to-dst A:B`: the service level of a path".to_owned());
        }
        checks
    }

    /// Returns shell commands, a block per process. `file` is the name of the plan.
    pub fn text(&self, file: &str) -> String {
        let mut out = format!("# {} of {}, by netloom\n", self.link, visible_name(file));
        for block in &self.blocks {
            out.push('\n');
            out.push_str(&header(block));
            for part in &block.parts {
                let _ = writeln!(out, "# {}", part.words(self.link));
                self.part(part, file, &mut out);
            }
            for (setting, value, _) in block.variables() {
                let _ = writeln!(out, "export {}={value}", setting.key);
            }
            for (setting, why) in &block.unset {
                let _ = writeln!(out, "unset {}   # {why}", setting.key);
            }
            self.notes(block, "", &mut out);
        }
        self.footer(&mut out);
        out
    }

    /// Returns lists for the `env:` of containers.
    pub fn k8s(&self, file: &str) -> String {
        let mut out = format!("# {} of {}, by netloom\n", self.link, visible_name(file));
        for (at, block) in self.blocks.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { "---\n" });
            out.push_str(&header(block));
            let variables = block.variables();
            out.push_str(if variables.is_empty() {
                "env: []\n"
            } else {
                "env:\n"
            });
            for (setting, value, part) in variables {
                let _ = writeln!(out, "  # {}", part.words(self.link));
                let _ = writeln!(out, "  - name: {}\n    value: \"{value}\"", setting.key);
            }
            for part in &block.parts {
                self.part(part, file, &mut out);
            }
            for (setting, why) in &block.unset {
                let _ = writeln!(out, "# must stay unset, {}: {why}", setting.key);
            }
            self.notes(block, "", &mut out);
        }
        self.footer(&mut out);
        out
    }

    /// Returns the same as a document.
    pub fn json(&self, file: &str) -> serde_json::Value {
        let blocks = self.blocks.iter().map(|block| {
            let line = |(setting, value, part): &(&'static Setting, u16, &Part)| {
                json!({
                    "name": setting.key,
                    "value": value.to_string(),
                    "class": part.class.name,
                    "library": part.library.name,
                    "where": part.place(setting),
                })
            };
            let carried = |is_it: fn(&Outcome) -> bool| -> Vec<serde_json::Value> {
                let parts = block.parts.iter().filter(|part| is_it(&part.outcome));
                let words = parts
                    .map(|part| json!({ "library": part.library.name, "class": part.class.name }));
                words.collect()
            };
            let unset = block.unset.iter();
            json!({
                "name": block.name(),
                "env": block.variables().iter().map(line).collect::<Vec<_>>(),
                "elsewhere": block.elsewhere().iter().map(line).collect::<Vec<_>>(),
                "unset": unset
                    .map(|(setting, why)| json!({ "name": setting.key, "why": why }))
                    .collect::<Vec<_>>(),
                "path_record": carried(|outcome| matches!(outcome, Outcome::PathRecord)),
                "not_possible": carried(|outcome| matches!(outcome, Outcome::NotPossible(_))),
                "limits": block.limits(),
                "both_ends": block.both_ends(),
            })
        });
        let link = match self.link {
            Link::InfiniBand => "infiniband",
            Link::Roce => "roce",
        };
        json!({
            "plan": file,
            "link": link,
            "processes": blocks.collect::<Vec<_>>(),
            "checks": self.checks(),
        })
    }

    /// Writes how a library gets into its class, if not by a variable.
    fn part(&self, part: &Part, file: &str, out: &mut String) {
        match &part.outcome {
            Outcome::Set(lines) if lines.is_empty() => {
                let _ = writeln!(out, "# {}: the default is right", part.library.title);
            }
            Outcome::Set(lines) => {
                for (setting, value) in lines {
                    if setting.kind != Kind::Environment {
                        let place = part.place(setting);
                        let _ = writeln!(out, "# {place}: {} = {value}", setting.key);
                    }
                }
            }
            Outcome::PathRecord => {
                let words = match self.link {
                    Link::InfiniBand => format!(
                        "the subnet manager decides: netloom site export policy {} --group \
                         '{}=HOSTS'",
                        visible_name(file),
                        visible_name(&part.class.name)
                    ),
                    Link::Roce => {
                        let value = target(&part.class, self.link).unwrap_or_default();
                        format!("rdma_cm decides: set its default_roce_tos to {value} (configfs)")
                    }
                };
                let _ = writeln!(out, "# {}: {words}", part.library.title);
            }
            Outcome::NotPossible(_) => {}
        }
    }

    fn notes(&self, block: &Block, indent: &str, out: &mut String) {
        let both = block.both_ends();
        if !both.is_empty() {
            let _ = writeln!(out, "{indent}# set on both ends: {}", both.join(", "));
        }
        for limit in block.limits() {
            let _ = writeln!(out, "{indent}# not possible: {limit}");
        }
    }

    fn footer(&self, out: &mut String) {
        for check in self.checks() {
            let _ = writeln!(out, "# check: {check}");
        }
    }
}

fn header(block: &Block) -> String {
    match &block.process {
        Some(process) => format!("# process {process}\n"),
        None => "# process all: libraries of `carries` without @PROCESS\n".to_owned(),
    }
}

//! `[[failure]]`: cables and switches that are missing from the fabric.
//!
//! The complete fabric is built first. Then cables are removed: those named, those of a switch, and
//! those drawn. A fat tree keeps its structure and so its routings. Any other fabric loses its
//! regular structure.

use std::sync::Arc;

use netloom_catalog::{
    FromToml, Param, Params, ResolvedLine, Section, Shape, ValueShape, nearest, params,
};
use netloom_infiniband::Site;
use netloom_topology::{Blueprint, Peer, Pgft, Structure, Topology};
use netloom_units::{NicId, Port, SwitchId};

use super::diagnostics::{Diagnostics, grouped};

/// A missing part of the fabric.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The cable at a port, `SWITCH:PORT`.
    Link(String),
    /// A switch with all its cables.
    Switch(String),
    /// Cables that are drawn.
    Links(DrawnLinks),
}

params! {
    /// Cables of a level that are drawn.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub(crate) struct DrawnLinks {
        /// The level of a fat tree whose upward cables are drawn from: 1 for the cables between
        /// leaves and the switches above them.
        pub(crate) level: u32,
        /// The missing share of the upward cables of the level, from 0 to 1, rounded to a whole
        /// number of cables. With the same seed, a larger share includes the cables of a smaller
        /// one.
        pub(crate) share: f64,
    }
    check |it, section| {
        if !(0.0..=1.0).contains(&it.share) {
            let place = section.place_of("share");
            let message = format!("expected a share from 0 to 1, found {}", it.share);
            section
                .notes
                .error("E0102", place, message)
                .help("use share = 0.02 for 2 % of the cables");
        }
    }
}

/// Returns the keys of `[[failure]]`.
pub(crate) fn params() -> Vec<Param> {
    let optional = |name: &str, about: &str, shape| Param {
        name: name.to_owned(),
        about: about.to_owned(),
        shape,
        default: Some(String::new()),
    };
    vec![
        optional(
            "link",
            "A missing cable, by a switch and its port as printed by `netloom show switches`: \
             \"s3:7\".",
            String::shape(),
        ),
        optional(
            "switch",
            "A missing switch with all its cables, by name: \"s70\".",
            String::shape(),
        ),
        optional(
            "links",
            "Missing cables drawn with the seed of the run: { level = 1, share = 0.02 }.",
            Shape::Table,
        ),
    ]
}

/// The forms of a failure.
const FORMS: &str = "add link = \"s3:7\", switch = \"s70\" or links = { level = 1, share = 0.02 }";

/// A failure with the index of its `[[failure]]` table in the file.
pub(crate) type Numbered = (usize, Failure);

/// Reads all `[[failure]]` tables. Invalid ones are noted and skipped.
pub(crate) fn read(root: &mut Section<'_>) -> Vec<Numbered> {
    let Some(value) = root.raw("failure") else {
        return vec![];
    };
    let ValueShape::List(items) = &value.shape else {
        let message = format!("expected a list of tables, found {}", value.shape.word());
        let note = root.notes.error("E0101", value.place, message);
        note.help("use [[failure]], with two brackets, for each failure");
        return vec![];
    };
    let mut failures = vec![];
    for (table, item) in items.iter().enumerate() {
        let Some(mut section) = Section::open(item, root.notes) else {
            continue;
        };
        let read = read_one(&mut section);
        let line = ResolvedLine::Item("failure".into(), section.finish());
        root.resolved.lines.push(line);
        failures.extend(read.map(|failure| (table, failure)));
    }
    failures
}

fn read_one(section: &mut Section<'_>) -> Option<Failure> {
    let link = section.or::<Option<String>>("link", None)?;
    let switch = section.or::<Option<String>>("switch", None)?;
    let links = match section.raw("links") {
        Some(value) => {
            let mut inner = Section::open(value, section.notes)?;
            let links = DrawnLinks::read(&mut inner);
            let line = ResolvedLine::Table("links".into(), inner.finish());
            section.resolved.lines.push(line);
            Some(links?)
        }
        None => None,
    };
    let place = section.place();
    match (link, switch, links) {
        (Some(link), None, None) => Some(Failure::Link(link)),
        (None, Some(switch), None) => Some(Failure::Switch(switch)),
        (None, None, Some(links)) => Some(Failure::Links(links)),
        (None, None, None) => {
            let message = "expected `link`, `switch` or `links`, found none of them";
            section.notes.error("E0105", place, message).help(FORMS);
            None
        }
        _ => {
            let message = "expected one of `link`, `switch` and `links`, found several";
            let note = section.notes.error("E0107", place, message);
            note.help("use one [[failure]] for each");
            None
        }
    }
}

/// A failure that is not possible in this fabric.
pub(crate) struct Mistake {
    /// Path of the value.
    path: String,
    message: String,
    help: String,
}

/// Returns the missing cables, each by one of its ends, and the failures that are not possible.
fn missing(
    failures: &[Numbered],
    whole: &Topology,
    seed: u64,
) -> (Vec<(SwitchId, Port)>, Vec<Mistake>) {
    let (mut cables, mut mistakes) = (vec![], vec![]);
    for (table, failure) in failures {
        let (key, found) = match failure {
            Failure::Link(text) => ("link", cable(text, whole).map(|cable| vec![cable])),
            Failure::Switch(name) => ("switch", cables_of(name, whole)),
            Failure::Links(links) => ("links.level", drawn(links, *table as u32, whole, seed)),
        };
        match found {
            Ok(found) => cables.extend(found),
            Err((message, help)) => mistakes.push(Mistake {
                path: format!("failure.{table}.{key}"),
                message,
                help,
            }),
        }
    }
    (cables, mistakes)
}

/// A message and its help.
type Refused = (String, String);

fn switch_named(name: &str, whole: &Topology) -> Result<SwitchId, Refused> {
    let names: Vec<String> = whole.switches().map(|s| whole.switch_name(s)).collect();
    if let Some(found) = names.iter().position(|own| own == name) {
        return Ok(SwitchId(found as u32));
    }
    let help = match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "use {} to {}; `netloom show switches` lists the switches",
            names[0],
            names[names.len() - 1]
        ),
    };
    Err((
        format!("expected the name of a switch, found `{name}`"),
        help,
    ))
}

fn cable(text: &str, whole: &Topology) -> Result<(SwitchId, Port), Refused> {
    let parts = text.rsplit_once(':');
    let Some((name, port)) = parts.and_then(|(name, port)| Some((name, port.parse().ok()?))) else {
        return Err((
            format!("expected a switch and its port, found `{text}`"),
            "use \"s3:7\" for port 7 of switch s3".into(),
        ));
    };
    let switch = switch_named(name, whole)?;
    let port = Port(port);
    let peer = match port.0 < whole.n_ports(switch) {
        true => whole.peer(switch, port),
        false => Peer::Unused,
    };
    match peer {
        Peer::Switch(..) => Ok((switch, port)),
        Peer::Nic(nic) => Err((
            format!(
                "expected a cable between switches, found that of {} at {text}",
                whole.nic_name(nic)
            ),
            "name another cable: a host without its cable cannot reach any other host".into(),
        )),
        Peer::Unused => {
            let ports: Vec<u16> = whole.neighbours(switch).map(|(port, ..)| port.0).collect();
            Err((
                format!("expected a port with a cable, found {text} without one"),
                match (ports.first(), ports.last()) {
                    (Some(first), Some(last)) => {
                        format!(
                            "use one of ports {first} to {last} of {name}, which lead to switches"
                        )
                    }
                    _ => format!("{name} has no cable to a switch"),
                },
            ))
        }
    }
}

fn cables_of(name: &str, whole: &Topology) -> Result<Vec<(SwitchId, Port)>, Refused> {
    let switch = switch_named(name, whole)?;
    let peers = whole.ports(switch).map(|port| whole.peer(switch, port));
    let hosts: Vec<NicId> = peers
        .filter_map(|peer| match peer {
            Peer::Nic(nic) => Some(nic),
            _ => None,
        })
        .collect();
    if let (Some(first), Some(last)) = (hosts.first(), hosts.last()) {
        let [first, last] = [first, last].map(|nic| whole.nic_name(*nic));
        let hosts = match first == last {
            true => format!("host {first}"),
            false => format!("hosts {first} to {last}"),
        };
        return Err((
            format!("expected a switch without hosts, found {name} with {hosts}"),
            "name a switch above it: hosts without their switch cannot reach any other host".into(),
        ));
    }
    let cables = whole.neighbours(switch);
    Ok(cables.map(|(port, ..)| (switch, port)).collect())
}

/// Draws the missing cables of a failure, keyed by its index.
fn drawn(
    links: &DrawnLinks,
    nth: u32,
    whole: &Topology,
    seed: u64,
) -> Result<Vec<(SwitchId, Port)>, Refused> {
    let Structure::Tree(tree) = whole.structure() else {
        return Err((
            format!(
                "expected a fat tree, found {}, which has no levels",
                whole.structure().fabric()
            ),
            "use link = \"s3:7\" for each cable".into(),
        ));
    };
    let level = links.level as usize;
    if !(1..tree.levels()).contains(&level) {
        let help = match tree.levels() {
            1 => "remove the failure: a single switch has no cables to other switches".to_owned(),
            2 => "use level = 1 for the cables between leaves and roots".to_owned(),
            n => format!("use a level from 1 (leaves) to {}", n - 1),
        };
        let message = format!("expected a level with switches above it, found level {level}");
        return Err((message, help));
    }
    Ok(tree.draw_cables_up(level, links.share, nth, seed))
}

/// Returns two hosts without a path between them, if any.
fn separated(topology: &Topology) -> Option<(NicId, NicId)> {
    let reached = topology.distances(topology.attachment(NicId(0)).0);
    let is_apart = |nic: &NicId| reached[topology.attachment(*nic).0.index()].is_none();
    let apart = topology.nics().find(is_apart)?;
    Some((NicId(0), apart))
}

fn separation(topology: &Topology) -> Option<String> {
    let (a, b) = separated(topology)?;
    let name = |nic| {
        let switch = topology.switch_name(topology.attachment(nic).0);
        format!("{} ({switch})", topology.nic_name(nic))
    };
    Some(format!(
        "no path remains between {} and {}",
        name(a),
        name(b)
    ))
}

/// Returns the fabric with its failures, and a description of the lost capacity. Notes invalid
/// failures.
pub(crate) fn apply(
    failures: &[Numbered],
    whole: Topology,
    seed: u64,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<(Topology, Option<String>)> {
    if failures.is_empty() {
        return Some((whole, None));
    }
    let place = diagnostics.places.of("failure");
    if Site::of(&whole).is_some() {
        let message = "failures cannot be added to a real site";
        let note = diagnostics.notes.error("E0204", place, message);
        note.help("remove the cable from the files of the site");
        return None;
    }
    let (cables, mistakes) = missing(failures, &whole, seed);
    for mistake in mistakes {
        let place = diagnostics.places.of(&mistake.path);
        let note = diagnostics.notes.error("E0204", place, mistake.message);
        note.help(mistake.help);
    }
    let left = whole.without(&cables);
    if let Some(message) = separation(&left) {
        let note = diagnostics.notes.error("E0205", place, message);
        note.help(match has_draws(failures) {
            true => "remove some failures, or set another measure.seed",
            false => "remove some failures",
        });
        return None;
    }
    let lost = lost(&whole, &left);
    Some((left, Some(lost)))
}

/// Returns whether the seed determines which cables fail.
fn has_draws(failures: &[Numbered]) -> bool {
    let is_drawn = |(_, failure): &Numbered| matches!(failure, Failure::Links(_));
    failures.iter().any(is_drawn)
}

/// Describes the loss of each level or class of cables.
fn lost(whole: &Topology, left: &Topology) -> String {
    let count = |topology: &Topology| {
        let mut cables = vec![0u64; topology.link_classes().len()];
        for switch in topology.switches() {
            for (port, other, _) in topology.neighbours(switch) {
                let is_first_end = switch < other;
                let class = topology.link_class(switch, port);
                cables[usize::from(class)] += u64::from(is_first_end);
            }
        }
        cables
    };
    let levels = count(whole)
        .into_iter()
        .zip(count(left))
        .zip(whole.link_classes());
    let words = levels
        .filter(|((all, _), _)| *all > 0)
        .map(|((all, left), class)| {
            let name = match class
                .strip_prefix("level-")
                .and_then(|n| n.parse::<u32>().ok())
            {
                Some(level) => format!("between levels {level} and {}", level + 1),
                None => format!("of class {class}"),
            };
            lost_at(&name, all - left, all)
        });
    words.collect::<Vec<_>>().join(", ")
}

fn lost_at(name: &str, missing: u64, all: u64) -> String {
    let share = missing as f64 / all as f64 * 100.0;
    let (missing, all) = (grouped(missing), grouped(all));
    format!("{missing} of {all} cables {name} missing ({share:.1} % of their capacity)")
}

/// Returns what each level of a fat tree lacks, if its listing has fewer cables than the whole
/// tree.
pub(crate) fn lost_of_tree(topology: &Topology) -> Option<String> {
    let tree = match topology.structure() {
        Structure::Tree(tree) => tree.clone(),
        Structure::Plain => Pgft::recognise(topology).ok()?,
        _ => return None,
    };
    let is_missing = |&(switch, port): &(SwitchId, Port)| {
        port.0 >= topology.n_ports(switch) || topology.peer(switch, port) == Peer::Unused
    };
    let mut lost = vec![];
    for level in 1..tree.levels() {
        let all = tree.cables_up(level).count() as u64;
        let missing = tree.cables_up(level).filter(is_missing).count() as u64;
        if missing > 0 {
            let name = format!("between levels {level} and {}", level + 1);
            lost.push(lost_at(&name, missing, all));
        }
    }
    (!lost.is_empty()).then(|| lost.join(", "))
}

/// A fabric with failures that can be built for other seeds.
pub(crate) struct WithFailures {
    pub(crate) blueprint: Arc<dyn Blueprint>,
    pub(crate) failures: Vec<Numbered>,
}

impl Blueprint for WithFailures {
    fn build(&self, seed: u64) -> Result<Topology, String> {
        let whole = self.blueprint.build(seed)?;
        let (cables, mistakes) = missing(&self.failures, &whole, seed);
        if let Some(Mistake { message, .. }) = mistakes.into_iter().next() {
            return Err(message);
        }
        let left = whole.without(&cables);
        match separation(&left) {
            Some(message) => Err(message),
            None => Ok(left),
        }
    }

    fn n_nics(&self) -> Option<u64> {
        self.blueprint.n_nics()
    }

    fn n_ports(&self) -> Option<u64> {
        self.blueprint.n_ports()
    }

    fn is_random(&self) -> bool {
        self.blueprint.is_random() || has_draws(&self.failures)
    }
}

//! `[[failure]]`: cables and switches that are missing from the fabric.
//!
//! The fabric is built whole, and then cables are taken away: those named, those of a switch, and those drawn. A fat tree
//! keeps its structure and so its routings; any other fabric is then of no regular structure.

use std::sync::Arc;

use netloom_catalog::{
    FromToml, Param, Params, ResolvedLine, Section, Shape, ValueShape, nearest, params,
};
use netloom_topology::{Blueprint, Peer, Structure, Topology};
use netloom_units::{NicId, Port, SwitchId};

use super::plan::{Desk, grouped};

/// What is missing.
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
        /// The level of a fat tree whose cables upwards are meant: 1 for those between leaves and the switches above them.
        pub(crate) level: u32,
        /// The share of these cables that is missing, from 0 to 1, rounded to a whole number of cables. Of one seed, the
        /// cables of a smaller share are among those of a larger one.
        pub(crate) share: f64,
    }
    check |it, section| {
        if !(0.0..=1.0).contains(&it.share) {
            let place = section.place_of("share");
            let message = format!("expected a share from 0 to 1, found {}", it.share);
            section.notes.error("E0102", place, message).help("write share = 0.02 for 2 % of the cables");
        }
    }
}

/// The keys of `[[failure]]`.
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
            "A missing cable, by a switch and its port as `netloom topo show` prints them: \"s3:7\".",
            String::shape(),
        ),
        optional(
            "switch",
            "A missing switch with all its cables, by its name: \"s70\".",
            String::shape(),
        ),
        optional(
            "links",
            "Missing cables drawn by the seed of the run: { level = 1, share = 0.02 }.",
            Shape::Table,
        ),
    ]
}

/// The forms of a failure.
const FORMS: &str =
    "write link = \"s3:7\", switch = \"s70\" or links = { level = 1, share = 0.02 }";

/// A failure with the number of its `[[failure]]` table in the file.
pub(crate) type Numbered = (usize, Failure);

/// Reads all `[[failure]]` tables; those that are wrong are noted and left out.
pub(crate) fn read(root: &mut Section<'_>) -> Vec<Numbered> {
    let Some(value) = root.raw("failure") else {
        return vec![];
    };
    let ValueShape::List(items) = &value.shape else {
        let message = format!("expected a list of tables, found {}", value.shape.word());
        let note = root.notes.error("E0101", value.place, message);
        note.help("write [[failure]], with two brackets, for each failure");
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
            note.help("write a [[failure]] for each");
            None
        }
    }
}

/// A failure that this fabric cannot have.
pub(crate) struct Mistake {
    /// The value it is about.
    path: String,
    message: String,
    help: String,
}

/// The cables that are missing, each by one of its ends, and the failures that are not possible.
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
            "switches are {} to {}; `netloom topo show` lists them",
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
            "write \"s3:7\" for port 7 of switch s3".into(),
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
            "a host without its cable reaches no other one".into(),
        )),
        Peer::Unused => {
            let ports: Vec<u16> = whole.neighbours(switch).map(|(port, ..)| port.0).collect();
            Err((
                format!("expected a port with a cable, found {text} without one"),
                match (ports.first(), ports.last()) {
                    (Some(first), Some(last)) => {
                        format!("cables to switches are at ports {first} to {last} of {name}")
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
            "hosts without their switch reach no other ones; let a switch above them fail".into(),
        ));
    }
    let cables = whole.neighbours(switch);
    Ok(cables.map(|(port, ..)| (switch, port)).collect())
}

/// The cables that are drawn, keyed by the number of the failure.
fn drawn(
    links: &DrawnLinks,
    nth: u32,
    whole: &Topology,
    seed: u64,
) -> Result<Vec<(SwitchId, Port)>, Refused> {
    let Structure::Tree(tree) = whole.structure() else {
        return Err((
            format!(
                "expected a fat tree, found {}: other fabrics have no levels",
                whole.structure().fabric()
            ),
            "write link = \"s3:7\" for each cable".into(),
        ));
    };
    let level = links.level as usize;
    if !(1..tree.levels()).contains(&level) {
        let help = match tree.levels() {
            1 => "a single switch has no cables to other switches".to_owned(),
            2 => "write level = 1 for the cables between leaves and roots".to_owned(),
            n => format!("write a level from 1 (leaves) to {}", n - 1),
        };
        let message = format!("expected a level with switches above it, found level {level}");
        return Err((message, help));
    }
    Ok(tree.draw_cables_up(level, links.share, nth, seed))
}

/// Two hosts without a path between them, if there are such.
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
        "no path is left between {} and {}",
        name(a),
        name(b)
    ))
}

/// The fabric with its failures, and what they take away; what is wrong with them is noted.
pub(crate) fn apply(
    failures: &[Numbered],
    whole: Topology,
    seed: u64,
    desk: &mut Desk<'_>,
) -> Option<(Topology, Option<String>)> {
    if failures.is_empty() {
        return Some((whole, None));
    }
    let place = desk.places.of("failure");
    if whole.site().is_some() {
        let message = "expected a fabric that is not read from a real site";
        let note = desk.notes.error("E0204", place, message);
        note.help("take the cable out of the files of the site");
        return None;
    }
    let (cables, mistakes) = missing(failures, &whole, seed);
    for mistake in mistakes {
        let place = desk.places.of(&mistake.path);
        let note = desk.notes.error("E0204", place, mistake.message);
        note.help(mistake.help);
    }
    let left = whole.without(&cables);
    if let Some(message) = separation(&left) {
        let note = desk.notes.error("E0205", place, message);
        note.help(match has_draws(failures) {
            true => "let fewer cables fail, or write another measure.seed",
            false => "let fewer cables fail",
        });
        return None;
    }
    let lost = lost(&whole, &left);
    Some((left, Some(lost)))
}

/// Whether the seed decides which cables fail.
fn has_draws(failures: &[Numbered]) -> bool {
    let is_drawn = |(_, failure): &Numbered| matches!(failure, Failure::Links(_));
    failures.iter().any(is_drawn)
}

/// What each level, or class of cables, has lost.
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
                Some(level) => format!("level {level} to {}", level + 1),
                None => format!("class {class}"),
            };
            let share = (all - left) as f64 / all as f64 * 100.0;
            let (missing, all) = (grouped(all - left), grouped(all));
            format!("{name} without {missing} of {all} cables ({share:.1} % of its capacity)")
        });
    words.collect::<Vec<_>>().join(", ")
}

/// A fabric with failures, to be built for other seeds.
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

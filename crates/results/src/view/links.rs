//! Use of links at every point.

use std::collections::BTreeMap;

use super::columns::{Numbers, words};
use super::lines::Lines;
use crate::collection::Collection;
use crate::frame::Words;

/// One direction of one link; names are indices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Link {
    from: u32,
    /// Port of the sender; `None` at a NIC.
    pub from_port: Option<u16>,
    to: u32,
    /// Port of the receiver; `None` at a NIC.
    pub to_port: Option<u16>,
    kind: Option<u32>,
    class: Option<u32>,
}

/// Use of a link at a point.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Use {
    /// Number of runs summed here.
    n: u32,
    utilisation: f64,
    busiest: f64,
    packets: f64,
    choices: f64,
    buffer: f64,
}

impl Use {
    /// Returns the share of the time in which flits were sent, mean over seeds.
    pub fn utilisation(&self) -> f64 {
        self.utilisation / f64::from(self.n)
    }

    /// Returns that share for the seed with the highest use.
    pub fn busiest(&self) -> f64 {
        self.busiest
    }

    /// Returns the share of packets sent with more than one lane to choose from; `None` without
    /// packets of a switch.
    pub fn contested(&self) -> Option<f64> {
        (self.packets > 0.0).then(|| self.choices / self.packets)
    }

    /// Returns the mean occupancy of the output buffer in flits.
    pub fn output_buffer(&self) -> f64 {
        self.buffer / f64::from(self.n)
    }
}

/// Use of links, mean over seeds.
pub struct Links<'a> {
    from: &'a Words,
    to: &'a Words,
    kind: Option<&'a Words>,
    class: Option<&'a Words>,
    uses: BTreeMap<u64, BTreeMap<Link, Use>>,
}

impl<'a> Links<'a> {
    /// Reads the links at the selected points; `None` if the folder has no table of links.
    pub fn of(collection: &'a Collection, is_asked: impl Fn(u64) -> bool) -> Option<Links<'a>> {
        let lines = Lines::of(collection.table("links")?);
        let table = lines.table;
        let numbers = |name: &str| {
            let column = Numbers::of(table, name);
            move |line: usize| column.and_then(|column| column.get(line))
        };
        let (from_port, to_port) = (numbers("from_port"), numbers("to_port"));
        let (packets, choices) = (numbers("packets"), numbers("choices"));
        let buffer = numbers("output_buffer_mean_flits");
        let utilisation = Numbers::of(table, "utilisation")?;
        let mut links = Links {
            from: words(table, "from")?,
            to: words(table, "to")?,
            kind: words(table, "kind"),
            class: words(table, "link_class"),
            uses: BTreeMap::new(),
        };
        for line in 0..table.len() {
            let point = lines.point(line);
            if !is_asked(point) {
                continue;
            }
            let read = (
                links.from.lines.get(line),
                links.to.lines.get(line),
                utilisation.get(line),
            );
            let (Some(from), Some(to), Some(utilisation)) = read else {
                continue;
            };
            let link = Link {
                from,
                from_port: from_port(line).map(|port| port as u16),
                to,
                to_port: to_port(line).map(|port| port as u16),
                kind: links.kind.and_then(|column| column.lines.get(line)),
                class: links.class.and_then(|column| column.lines.get(line)),
            };
            let seen = links
                .uses
                .entry(point)
                .or_default()
                .entry(link)
                .or_default();
            seen.n += 1;
            seen.utilisation += utilisation;
            seen.busiest = seen.busiest.max(utilisation);
            seen.packets += packets(line).unwrap_or(0.0);
            seen.choices += choices(line).unwrap_or(0.0);
            seen.buffer += buffer(line).unwrap_or(0.0);
        }
        Some(links)
    }

    /// Whether there is no link at any point.
    pub fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Whether there are links at a point.
    pub fn has(&self, point: u64) -> bool {
        self.uses.contains_key(&point)
    }

    /// Returns the use of a link at a point.
    pub fn get(&self, point: u64, link: &Link) -> Option<&Use> {
        self.uses.get(&point)?.get(link)
    }

    /// Returns all links at a point with their use.
    pub fn at(&self, point: u64) -> impl Iterator<Item = (&Link, &Use)> {
        self.uses.get(&point).into_iter().flatten()
    }

    /// Returns the use of the busiest cable and direction between two nodes, the smaller name
    /// first.
    pub fn between(&self, point: u64) -> BTreeMap<(&'a str, &'a str), f64> {
        let mut uses: BTreeMap<(&str, &str), f64> = BTreeMap::new();
        for (link, seen) in self.at(point) {
            let most = uses
                .entry(ordered(self.from(link), self.to(link)))
                .or_default();
            *most = most.max(seen.utilisation());
        }
        uses
    }

    /// Returns the name of the sender.
    pub fn from(&self, link: &Link) -> &'a str {
        &self.from.words[link.from as usize]
    }

    /// Returns the name of the receiver.
    pub fn to(&self, link: &Link) -> &'a str {
        &self.to.words[link.to as usize]
    }

    /// Returns `injection`, `fabric` or `delivery`.
    pub fn kind(&self, link: &Link) -> &'a str {
        word(self.kind, link.kind)
    }

    /// Returns the link class of the cable.
    pub fn class(&self, link: &Link) -> &'a str {
        word(self.class, link.class)
    }
}

fn word(column: Option<&Words>, number: Option<u32>) -> &str {
    let word = column
        .zip(number)
        .map(|(column, at)| &column.words[at as usize]);
    word.map_or("", String::as_str)
}

/// Sorts two names.
pub fn ordered<'n>(a: &'n str, b: &'n str) -> (&'n str, &'n str) {
    if a < b { (a, b) } else { (b, a) }
}

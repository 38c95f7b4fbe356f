//! How much links were used: by kind and level, the busiest, and on the drawing of the fabric.

use std::collections::{BTreeMap, BTreeSet};

use netloom_results::{Frame, Words};

use crate::axis::{Quantity, fitted};
use crate::columns::{Numbers, PointOf, words};
use crate::detail::Details;
use crate::map;
use crate::model::{Axis, Cell, Chart, Figure, Gauge, Panel};
use crate::spread::box_plot;
use crate::study::{Study, StudyPoint, category_axis, ordered_bits};
use crate::style::Style;

/// How many of the busiest links are named.
const BUSIEST: usize = 12;
/// The largest fabric, in switches and in ports, whose links are shown as a matrix.
const MATRIX: usize = 48;
/// Kinds of links in the order of a packet's way.
const KINDS: [&str; 3] = ["injection", "fabric", "delivery"];

/// One direction of one link.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    /// Number of its kind and class.
    group: usize,
    from: u32,
    from_port: Option<u64>,
    to: u32,
    to_port: Option<u64>,
}

/// The use of links, mean over seeds.
pub(crate) struct Links<'a> {
    names: (&'a Words, &'a Words),
    groups: Vec<String>,
    /// Kind of each group, a place in [`KINDS`].
    kinds: Vec<usize>,
    /// By chosen point.
    uses: BTreeMap<u64, BTreeMap<Link, (f64, u64)>>,
    /// Sum and number by point and group, for every point.
    means: BTreeMap<(u64, usize), (f64, u64)>,
}

pub(crate) fn link_use(details: &Details<'_, '_>) -> Vec<Figure> {
    let Some(links) = Links::read(details) else {
        return vec![];
    };
    let study = details.study;
    let figures = [
        links.spreads(details),
        links.by_load(study),
        links.busiest(details),
        links.on_layout(details).or_else(|| links.matrix(details)),
    ];
    figures.into_iter().flatten().collect()
}

impl<'a> Links<'a> {
    fn read(details: &Details<'_, 'a>) -> Option<Links<'a>> {
        let table: &'a Frame = details.study.collection.table("links")?;
        let kind = words(table, "kind")?;
        let class = words(table, "link_class");
        let (from, to) = (words(table, "from")?, words(table, "to")?);
        let (from_port, to_port) = (
            Numbers::of(table, "from_port"),
            Numbers::of(table, "to_port"),
        );
        let used = Numbers::of(table, "utilisation")?;
        let point_of = PointOf::new(table);
        let (groups, kinds, group_of) = groups(table, kind, class);
        let mut links = Links {
            names: (from, to),
            groups,
            kinds,
            uses: BTreeMap::new(),
            means: BTreeMap::new(),
        };
        for line in 0..table.len() {
            let read = (
                kind.lines[line],
                from.lines[line],
                to.lines[line],
                used.get(line),
            );
            let (Some(kind), Some(from), Some(to), Some(used)) = read else {
                continue;
            };
            let class = class.and_then(|class| class.lines[line]);
            let Some(&group) = group_of.get(&(kind, class)) else {
                continue;
            };
            let number = point_of.get(line);
            let mean = links.means.entry((number, group)).or_default();
            *mean = (mean.0 + used, mean.1 + 1);
            if details.is_chosen(number) {
                let port =
                    |ports: Option<Numbers<'_>>| ports.and_then(|p| p.get(line)).map(|p| p as u64);
                let link = Link {
                    group,
                    from,
                    from_port: port(from_port),
                    to,
                    to_port: port(to_port),
                };
                let sum = links
                    .uses
                    .entry(number)
                    .or_default()
                    .entry(link)
                    .or_default();
                *sum = (sum.0 + used, sum.1 + 1);
            }
        }
        (!links.uses.is_empty()).then_some(links)
    }

    /// The use of every link of a point.
    fn of(&self, number: u64) -> impl Iterator<Item = (&Link, f64)> {
        let uses = self.uses.get(&number).into_iter().flatten();
        uses.map(|(link, (sum, n))| (link, sum / *n as f64))
    }

    fn from(&self, link: &Link) -> &str {
        &self.names.0.words[link.from as usize]
    }

    fn to(&self, link: &Link) -> &str {
        &self.names.1.words[link.to as usize]
    }

    fn name(&self, link: &Link) -> String {
        let port = link
            .from_port
            .map(|port| format!(":{port}"))
            .unwrap_or_default();
        format!("{}{port} → {}", self.from(link), self.to(link))
    }

    /// Boxes over kinds and levels, one panel per chosen point.
    fn spreads(&self, details: &Details<'_, '_>) -> Option<Figure> {
        let panel = |point: &StudyPoint| {
            let mut by_group = vec![vec![]; self.groups.len()];
            for (link, used) in self.of(point.number) {
                by_group[link.group].push(used);
            }
            let boxes = by_group.into_iter().enumerate();
            let boxes: Vec<_> = boxes
                .filter_map(|(g, used)| box_plot(used, g, "links", Style::nth(0)))
                .collect();
            Panel {
                title: details.study.point_text(point),
                chart: Chart::Boxes(boxes),
                references: vec![],
            }
        };
        let panels = details
            .points
            .iter()
            .filter(|point| self.uses.contains_key(&point.number));
        let panels: Vec<Panel> = panels.map(panel).collect();
        let y = fitted("Link use", Quantity::Index, [1.0].into_iter());
        (!panels.is_empty()).then(|| Figure {
            id: "link-use".to_owned(),
            title: "Use of links by kind".to_owned(),
            caption: format!(
                "Share of the time in which links sent, mean over seeds: smallest, quartiles and largest over all links of a kind.{}",
                details.sentence()
            ),
            x: category_axis("", self.groups.clone()),
            y: y.axis,
            series: String::new(),
            heat: None,
            panels,
            columns: details.columns(),
        })
    }

    /// Mean use by kind along the x axis, one panel per series.
    fn by_load(&self, study: &Study<'_>) -> Option<Figure> {
        if !study.is_sweep() {
            return None;
        }
        let mut places: BTreeMap<u64, f64> = BTreeMap::new();
        for point in study.points.values() {
            places.insert(ordered_bits(point.x), point.x);
        }
        let column = |x: f64| places.keys().position(|bits| *bits == ordered_bits(x));
        let mut panels: BTreeMap<(usize, usize), Vec<Cell>> = BTreeMap::new();
        for (&(number, row), (sum, n)) in &self.means {
            let Some((point, column)) = study
                .points
                .get(&number)
                .and_then(|p| Some((p, column(p.x)?)))
            else {
                continue;
            };
            let cells = panels.entry((point.facet, point.series)).or_default();
            cells.push(Cell {
                column,
                row,
                value: sum / *n as f64,
            });
        }
        let names = places.values().map(|x| study.x_value(*x));
        let mut x = category_axis(&study.x.label, names.collect());
        if study.is_numeric {
            x.unit.clone_from(&study.x.unit);
        }
        let panels = panels.into_iter().map(|((facet, series), cells)| Panel {
            title: study.series_text(facet, series),
            chart: Chart::Heat(cells),
            references: vec![],
        });
        Some(heat(
            ("link-use-by-load", &study.titled("Use of links")),
            "Mean share of the time in which links of a kind sent, over links and seeds."
                .to_owned(),
            x,
            category_axis("", self.groups.clone()),
            panels.collect(),
        ))
    }

    /// The busiest links between switches, or of all where there are none.
    fn busiest(&self, details: &Details<'_, '_>) -> Option<Figure> {
        let points: Vec<&StudyPoint> = details
            .points
            .iter()
            .filter(|point| self.uses.contains_key(&point.number))
            .collect();
        let has_fabric = self.kinds.contains(&1);
        let mut most: BTreeMap<&Link, f64> = BTreeMap::new();
        for point in &points {
            for (link, used) in self.of(point.number) {
                if !has_fabric || self.kinds[link.group] == 1 {
                    let known = most.entry(link).or_default();
                    *known = known.max(used);
                }
            }
        }
        let mut ranked: Vec<(&Link, f64)> = most.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        ranked.truncate(BUSIEST);
        let mut cells = vec![];
        for (column, point) in points.iter().enumerate() {
            let uses = self.uses.get(&point.number)?;
            for (row, (link, _)) in ranked.iter().enumerate() {
                if let Some((sum, n)) = uses.get(link) {
                    cells.push(Cell {
                        column,
                        row,
                        value: sum / *n as f64,
                    });
                }
            }
        }
        let name = |point: &&StudyPoint| match details.study.point_text(point) {
            text if text.is_empty() => "use".to_owned(),
            text => text,
        };
        let among = if has_fabric {
            "links between switches"
        } else {
            "links"
        };
        (!cells.is_empty()).then(|| {
            heat(
                ("busiest-links", "The busiest links"),
                format!("The {} busiest {among}, by their highest use at the points shown, mean over seeds.", ranked.len()),
                category_axis("", points.iter().map(name).collect()),
                category_axis("", ranked.iter().map(|(link, _)| self.name(link)).collect()),
                vec![Panel { title: String::new(), chart: Chart::Heat(cells), references: vec![] }],
            )
        })
    }

    /// The busiest chosen point of every series: the details of one load are enough for a picture.
    fn shown<'p>(&self, details: &'p Details<'_, '_>) -> Vec<&'p StudyPoint> {
        let mut last: BTreeMap<(usize, usize, u64), &StudyPoint> = BTreeMap::new();
        for point in &details.points {
            // Points side by side are no series: each counts.
            let own = if details.study.is_numeric {
                0
            } else {
                point.number
            };
            last.insert((point.facet, point.series, own), point);
        }
        let found = last
            .into_values()
            .filter(|point| self.uses.contains_key(&point.number));
        found.take(6).collect()
    }

    /// The use of every cable on the drawing of the fabric.
    fn on_layout(&self, details: &Details<'_, '_>) -> Option<Figure> {
        let layout = map::Layout::read(details.study.collection.layout.as_ref()?)?;
        let mut panels = vec![];
        for point in self.shown(details) {
            let mut uses: BTreeMap<(&str, &str), f64> = BTreeMap::new();
            for (link, used) in self.of(point.number) {
                let (a, b) = (self.from(link), self.to(link));
                let known = uses.entry(if a < b { (a, b) } else { (b, a) }).or_default();
                *known = known.max(used);
            }
            let chart = Chart::Map(layout.map(&uses)?);
            panels.push(Panel {
                title: details.study.point_text(point),
                chart,
                references: vec![],
            });
        }
        let none = || category_axis("", vec![]);
        (!panels.is_empty()).then(|| {
            heat(
                ("link-map", "Use of links in the fabric"),
                "Share of the time in which the busier direction of the cables between two places sent, mean over seeds.".to_owned(),
                none(),
                none(),
                panels,
            )
        })
    }

    /// The use of links between switches, by sender and port.
    fn matrix(&self, details: &Details<'_, '_>) -> Option<Figure> {
        let points = self.shown(details);
        let is_fabric = |link: &&Link| self.kinds[link.group] == 1 && link.from_port.is_some();
        let links: BTreeSet<&Link> = points
            .iter()
            .flat_map(|point| self.of(point.number).map(|(link, _)| link))
            .filter(is_fabric)
            .collect();
        let mut senders: Vec<u32> = links.iter().map(|link| link.from).collect();
        senders.sort_unstable();
        senders.dedup();
        let ports: BTreeSet<u64> = links.iter().filter_map(|link| link.from_port).collect();
        let ports: Vec<u64> = ports.into_iter().collect();
        if senders.len() < 2 || senders.len() > MATRIX || ports.len() > MATRIX {
            return None;
        }
        let panel = |point: &&StudyPoint| {
            let cell = |(link, value): (&Link, f64)| {
                let column = ports
                    .iter()
                    .position(|port| Some(*port) == link.from_port)?;
                let row = senders.binary_search(&link.from).ok()?;
                Some(Cell { column, row, value })
            };
            let cells = self
                .of(point.number)
                .filter(|(link, _)| is_fabric(link))
                .filter_map(cell);
            let chart = Chart::Heat(cells.collect());
            Panel {
                title: details.study.point_text(point),
                chart,
                references: vec![],
            }
        };
        let sender = |from: &u32| self.names.0.words[*from as usize].clone();
        Some(heat(
            ("link-matrix", "Use of links between switches"),
            "Share of the time in which a port of a switch sent to another switch, mean over seeds.".to_owned(),
            category_axis("Port", ports.iter().map(u64::to_string).collect()),
            category_axis("Switch", senders.iter().map(sender).collect()),
            points.iter().map(panel).collect(),
        ))
    }
}

fn heat(
    (id, title): (&str, &str),
    caption: String,
    x: Axis,
    y: Axis,
    panels: Vec<Panel>,
) -> Figure {
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption,
        x,
        y,
        series: String::new(),
        heat: Some(Gauge {
            label: "Link use".to_owned(),
            unit: String::new(),
            low: 0.0,
            high: 1.0,
        }),
        panels,
        columns: None,
    }
}

/// Names of groups, their kinds, and the group of a kind and class.
type Grouped = (Vec<String>, Vec<usize>, BTreeMap<(u32, Option<u32>), usize>);

fn groups(table: &Frame, kind: &Words, class: Option<&Words>) -> Grouped {
    let mut pairs: BTreeSet<(u32, Option<u32>)> = BTreeSet::new();
    for line in 0..table.len() {
        if let Some(kind) = kind.lines[line] {
            pairs.insert((kind, class.and_then(|class| class.lines[line])));
        }
    }
    let order = |pair: &(u32, Option<u32>)| {
        let word = kind.words[pair.0 as usize].as_str();
        let place = KINDS.iter().position(|known| *known == word);
        let class = pair
            .1
            .zip(class)
            .map(|(at, class)| class.words[at as usize].clone());
        (
            place.unwrap_or(KINDS.len()),
            word,
            class.unwrap_or_default(),
        )
    };
    let mut sorted: Vec<(u32, Option<u32>)> = pairs.into_iter().collect();
    sorted.sort_by(|a, b| order(a).cmp(&order(b)));
    let several = |kind: u32| sorted.iter().filter(|pair| pair.0 == kind).count() > 1;
    let name = |pair: &(u32, Option<u32>)| {
        let (_, word, class) = order(pair);
        if several(pair.0) {
            format!("{word} {class}")
        } else {
            word.to_owned()
        }
    };
    let names = sorted.iter().map(name).collect();
    let kinds = sorted.iter().map(|pair| order(pair).0).collect();
    let of = sorted.iter().copied().zip(0..).collect();
    (names, kinds, of)
}

//! Use of links: by kind and level, the busiest links, and on the drawing of the fabric.

use std::collections::{BTreeMap, BTreeSet};

use netloom_results::axis_label;
use netloom_results::view::layout::{Edge, Layout, Node, NodeKind};
use netloom_results::view::{self, Lines, Link, Numbers, ordered, words};

use crate::axis::fitted_to;
use crate::detail::Details;
use crate::model::{
    Axis, Cell, Chart, Figure, Gauge, Line, Map, MapLink, Mark, Panel, Place, Point, Scale,
};
use crate::spread::box_plot;
use crate::study::{Study, StudyPoint, category_axis, ordered_bits};
use crate::style::Style;

/// Number of busiest links to name.
const BUSIEST: usize = 12;
/// Maximum number of points of a sorted line; of more links, every `n`-th is drawn.
const SORTED: usize = 200;
/// Maximum number of switches and of ports for a matrix of links.
const MATRIX: usize = 48;
/// Kinds of links in the order of a packet's path.
const KINDS: [&str; 3] = ["injection", "fabric", "delivery"];

/// Use of links, mean over seeds.
struct Links<'a> {
    /// At the selected points.
    links: view::Links<'a>,
    groups: Groups<'a>,
    /// Sum and count by point and group, for every point.
    means: BTreeMap<(u64, usize), (f64, u64)>,
}

/// Links of one kind and class.
struct Groups<'a> {
    names: Vec<String>,
    /// Kind of each group, an index into [`KINDS`].
    kinds: Vec<usize>,
    /// The group of a kind and class.
    of: BTreeMap<(&'a str, &'a str), usize>,
}

pub(crate) fn link_use(details: &Details<'_, '_>) -> Vec<Figure> {
    let Some(links) = Links::read(details) else {
        return vec![];
    };
    let study = details.study;
    let figures = [
        links.spreads(details),
        links.sorted(details),
        links.by_load(study),
        links.busiest(details),
        links.on_layout(details).or_else(|| links.matrix(details)),
    ];
    figures.into_iter().flatten().collect()
}

impl<'a> Links<'a> {
    fn read(details: &Details<'_, 'a>) -> Option<Links<'a>> {
        let collection = details.study.collection;
        let lines = Lines::of(collection.table("links")?);
        let kind = words(lines.table, "kind")?;
        let class = words(lines.table, "link_class");
        let used = Numbers::of(lines.table, "utilisation")?;
        let group = |line: usize| {
            let class = class.and_then(|class| class.get(line));
            Some((kind.get(line)?, class.unwrap_or_default()))
        };
        let groups = Groups::new((0..lines.table.len()).filter_map(group).collect());
        let mut means: BTreeMap<(u64, usize), (f64, u64)> = BTreeMap::new();
        for line in 0..lines.table.len() {
            let Some((group, used)) = group(line).zip(used.get(line)) else {
                continue;
            };
            let mean = means
                .entry((lines.point(line), groups.of[&group]))
                .or_default();
            *mean = (mean.0 + used, mean.1 + 1);
        }
        let links = view::Links::of(collection, |point| details.is_chosen(point))?;
        (!links.is_empty()).then_some(Links {
            links,
            groups,
            means,
        })
    }

    fn group(&self, link: &Link) -> usize {
        let group = (self.links.kind(link), self.links.class(link));
        self.groups.of.get(&group).copied().unwrap_or(0)
    }

    fn is_fabric(&self, link: &Link) -> bool {
        self.links.kind(link) == KINDS[1]
    }

    /// Returns the use of every link of a point, group by group.
    fn of(&self, number: u64) -> Vec<(&Link, f64)> {
        let uses = self.links.at(number);
        let mut uses: Vec<(&Link, f64)> = uses
            .map(|(link, used)| (link, used.utilisation()))
            .collect();
        uses.sort_by_cached_key(|(link, _)| self.group(link));
        uses
    }

    fn name(&self, link: &Link) -> String {
        let port = link
            .from_port
            .map(|port| format!(":{port}"))
            .unwrap_or_default();
        format!("{}{port} → {}", self.links.from(link), self.links.to(link))
    }

    /// Draws boxes over kinds and levels, one panel per selected point.
    fn spreads(&self, details: &Details<'_, '_>) -> Option<Figure> {
        let panel = |point: &StudyPoint| {
            let mut by_group = vec![vec![]; self.groups.names.len()];
            for (link, used) in self.of(point.number) {
                by_group[self.group(link)].push(used);
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
            .filter(|point| self.links.has(point.number));
        let panels: Vec<Panel> = panels.map(panel).collect();
        let y = fitted_to("utilisation", [1.0].into_iter());
        (!panels.is_empty()).then(|| Figure {
            id: "link-use".to_owned(),
            title: "Use of links by kind".to_owned(),
            caption: format!(
                "Share of time in which links were sending, mean over seeds: minimum, quartiles \
                 and maximum over all links of a kind.{}",
                details.sentence()
            ),
            x: category_axis("", self.groups.names.clone()),
            y: y.axis,
            series: String::new(),
            heat: None,
            panels,
            columns: details.columns(),
        })
    }

    /// Draws the use of every link, the busiest first, one line per kind and level and one panel
    /// per selected point.
    fn sorted(&self, details: &Details<'_, '_>) -> Option<Figure> {
        let panel = |point: &StudyPoint| {
            let mut by_group = vec![vec![]; self.groups.names.len()];
            for (link, used) in self.of(point.number) {
                by_group[self.group(link)].push(used);
            }
            let line = |(group, mut used): (usize, Vec<f64>)| {
                used.sort_by(|a, b| b.total_cmp(a));
                let (n, step) = (used.len(), used.len().div_ceil(SORTED).max(1));
                // Fractions of the number of links, so that groups of different sizes share an
                // axis.
                let points = (0..n).filter(|at| at % step == 0 || at + 1 == n);
                Line {
                    name: self.groups.names[group].clone(),
                    style: Style::nth(group),
                    joined: true,
                    marked: false,
                    points: points
                        .map(|at| Point {
                            x: 100.0 * (at + 1) as f64 / n as f64,
                            y: used[at],
                            low: None,
                            high: None,
                            mark: Mark::Ok,
                        })
                        .collect(),
                }
            };
            let groups = by_group.into_iter().enumerate();
            let groups = groups.filter(|(_, used)| used.len() > 1);
            Panel {
                title: details.study.point_text(point),
                chart: Chart::Lines(groups.map(line).collect()),
                references: vec![],
            }
        };
        let chosen = details.points.iter();
        let chosen = chosen.filter(|point| self.links.has(point.number));
        let panels: Vec<Panel> = chosen.map(panel).collect();
        let has_any = panels
            .iter()
            .any(|panel| matches!(&panel.chart, Chart::Lines(lines) if !lines.is_empty()));
        let y = fitted_to("utilisation", [1.0].into_iter());
        has_any.then(|| Figure {
            id: "links-sorted".to_owned(),
            title: "Use of links, sorted".to_owned(),
            caption: format!(
                "Share of time in which each link was sending, mean over seeds, the busiest \
                 first.{}",
                details.sentence()
            ),
            x: Axis {
                label: "Links".to_owned(),
                unit: "%".to_owned(),
                scale: Scale::Linear,
                low: 0.0,
                high: 100.0,
            },
            y: y.axis,
            series: "kind".to_owned(),
            heat: None,
            panels,
            columns: details.columns(),
        })
    }

    /// Draws the mean use by kind along the x axis, one panel per series.
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
            "Share of time in which links of a kind were sending, mean over links and seeds."
                .to_owned(),
            x,
            category_axis("", self.groups.names.clone()),
            panels.collect(),
        ))
    }

    /// Draws the busiest links between switches, or of all links if there are none between
    /// switches.
    fn busiest(&self, details: &Details<'_, '_>) -> Option<Figure> {
        let points: Vec<&StudyPoint> = details
            .points
            .iter()
            .filter(|point| self.links.has(point.number))
            .collect();
        let has_fabric = self.groups.kinds.contains(&1);
        let mut most: BTreeMap<&Link, f64> = BTreeMap::new();
        for point in &points {
            for (link, used) in self.of(point.number) {
                if !has_fabric || self.is_fabric(link) {
                    let known = most.entry(link).or_default();
                    *known = known.max(used);
                }
            }
        }
        let mut ranked: Vec<(&Link, f64)> = most.into_iter().collect();
        let place = |link: &Link| (self.group(link), *link);
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(place(a.0).cmp(&place(b.0))));
        ranked.truncate(BUSIEST);
        let mut cells = vec![];
        for (column, point) in points.iter().enumerate() {
            for (row, (link, _)) in ranked.iter().enumerate() {
                if let Some(used) = self.links.get(point.number, link) {
                    cells.push(Cell {
                        column,
                        row,
                        value: used.utilisation(),
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
                format!(
                    "The {} busiest {among}, by their highest use at the points shown; means \
                     over seeds.",
                    ranked.len()
                ),
                category_axis("", points.iter().map(name).collect()),
                category_axis("", ranked.iter().map(|(link, _)| self.name(link)).collect()),
                vec![Panel {
                    title: String::new(),
                    chart: Chart::Heat(cells),
                    references: vec![],
                }],
            )
        })
    }

    /// Returns the busiest selected point of every series, since a picture shows one load.
    fn shown<'p>(&self, details: &'p Details<'_, '_>) -> Vec<&'p StudyPoint> {
        let mut last: BTreeMap<(usize, usize, u64), &StudyPoint> = BTreeMap::new();
        for point in &details.points {
            // Points side by side do not form a series: each is shown.
            let own = if details.study.is_numeric {
                0
            } else {
                point.number
            };
            last.insert((point.facet, point.series, own), point);
        }
        let found = last
            .into_values()
            .filter(|point| self.links.has(point.number));
        found.take(6).collect()
    }

    /// Draws the use of every cable on the drawing of the fabric.
    fn on_layout(&self, details: &Details<'_, '_>) -> Option<Figure> {
        let layout = details.study.collection.layout.as_ref()?;
        if layout.is_overview {
            // Groups of switches have no links of their own.
            return None;
        }
        let mut panels = vec![];
        for point in self.shown(details) {
            let chart = Chart::Map(map(layout, &self.links.between(point.number))?);
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
                "Share of time in which the busier direction of the cables between two nodes was \
                 sending, mean over seeds."
                    .to_owned(),
                none(),
                none(),
                panels,
            )
        })
    }

    /// Draws the use of links between switches, by sender and port.
    fn matrix(&self, details: &Details<'_, '_>) -> Option<Figure> {
        let points = self.shown(details);
        let is_fabric = |link: &&Link| self.is_fabric(link) && link.from_port.is_some();
        let links: BTreeSet<&Link> = points
            .iter()
            .flat_map(|point| self.links.at(point.number).map(|(link, _)| link))
            .filter(is_fabric)
            .collect();
        // In the order of the table.
        let mut senders: Vec<&str> = links.iter().map(|link| self.links.from(link)).collect();
        senders.dedup();
        let ports: BTreeSet<u16> = links.iter().filter_map(|link| link.from_port).collect();
        let ports: Vec<u16> = ports.into_iter().collect();
        if senders.len() < 2 || senders.len() > MATRIX || ports.len() > MATRIX {
            return None;
        }
        let panel = |point: &&StudyPoint| {
            let cell = |(link, value): (&Link, f64)| {
                let column = ports
                    .iter()
                    .position(|port| Some(*port) == link.from_port)?;
                let from = self.links.from(link);
                let row = senders.iter().position(|sender| *sender == from)?;
                Some(Cell { column, row, value })
            };
            let cells = self
                .of(point.number)
                .into_iter()
                .filter(|(link, _)| is_fabric(link))
                .filter_map(cell);
            let chart = Chart::Heat(cells.collect());
            Panel {
                title: details.study.point_text(point),
                chart,
                references: vec![],
            }
        };
        Some(heat(
            ("link-matrix", "Use of links between switches"),
            "Share of time in which a port of a switch was sending to another switch, mean over \
             seeds."
                .to_owned(),
            category_axis("Port", ports.iter().map(u16::to_string).collect()),
            category_axis(
                "Switch",
                senders.iter().map(|name| (*name).to_owned()).collect(),
            ),
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
            label: axis_label("utilisation"),
            unit: String::new(),
            low: 0.0,
            high: 1.0,
        }),
        panels,
        columns: None,
    }
}

impl<'a> Groups<'a> {
    fn new(pairs: BTreeSet<(&'a str, &'a str)>) -> Groups<'a> {
        let place = |kind: &str| KINDS.iter().position(|known| *known == kind);
        let place = |kind: &str| place(kind).unwrap_or(KINDS.len());
        let mut sorted: Vec<(&str, &str)> = pairs.into_iter().collect();
        sorted.sort_by_key(|(kind, class)| (place(kind), *kind, *class));
        let name = |&(kind, class): &(&str, &str)| {
            let of_kind = sorted.iter().filter(|pair| pair.0 == kind);
            match of_kind.count() {
                1 => kind.to_owned(),
                _ => format!("{kind} {class}"),
            }
        };
        Groups {
            names: sorted.iter().map(name).collect(),
            kinds: sorted.iter().map(|(kind, _)| place(kind)).collect(),
            of: sorted.iter().copied().zip(0..).collect(),
        }
    }
}

/// Returns the drawing with a value for each pair of names; `None` if no cable has a value.
fn map(layout: &Layout, values: &BTreeMap<(&str, &str), f64>) -> Option<Map> {
    let place = |node: &Node| Place {
        name: node.name.clone(),
        is_switch: matches!(node.kind, NodeKind::Switch | NodeKind::SwitchGroup),
        x: node.x_px,
        y: node.y_px,
        width: node.width_px,
        height: node.height_px,
    };
    let line = |line: &Vec<[f64; 2]>| line.iter().map(|&[x, y]| (x, y)).collect();
    let link = |edge: &Edge| {
        Some(MapLink {
            value: *values.get(&ordered(&edge.from, &edge.to))?,
            from: edge.from.clone(),
            to: edge.to.clone(),
            lines: edge.lines_px.iter().map(line).collect(),
        })
    };
    let links: Vec<MapLink> = layout.edges.iter().filter_map(link).collect();
    (!links.is_empty()).then(|| Map {
        width: layout.width_px,
        height: layout.height_px,
        places: layout.nodes.iter().map(place).collect(),
        links,
    })
}

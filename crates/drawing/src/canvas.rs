//! Collects nodes and edges during placement, in unbounded coordinates.

use std::collections::BTreeMap;

use netloom_topology::{Peer, Structure, Topology};
use netloom_units::{NicId, SwitchId};

use crate::layout::{Anchor, Cable, Edge, EdgeKind, Hosts, Label, Layout, Node, NodeKind};

/// Preferred maximum width of a picture: that of a page.
pub(crate) const PAGE: f64 = 960.0;
/// Free space around the picture.
const MARGIN: f64 = 16.0;
/// Preferred font size of a switch's name.
pub(crate) const LETTERS: f64 = 11.0;
/// Minimum font size.
pub(crate) const SMALL_LETTERS: f64 = 8.0;
/// Width of a letter divided by its height, an upper estimate for sans-serif fonts.
const LETTER_WIDTH: f64 = 0.62;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl Point {
    pub(crate) fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    /// Returns the point at a distance in a direction; 0 is right, a quarter turn is down.
    pub(crate) fn towards(self, angle: f64, distance: f64) -> Point {
        Point {
            x: self.x + distance * libm::cos(angle),
            y: self.y + distance * libm::sin(angle),
        }
    }

    pub(crate) fn angle_to(self, other: Point) -> f64 {
        libm::atan2(other.y - self.y, other.x - self.x)
    }
}

/// Returns the estimated width of a text.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * LETTER_WIDTH
}

/// Distance between lines that would otherwise coincide.
const ASIDE: f64 = 4.0;

/// Returns a line shifted sideways.
fn aside(line: &[Point], by: f64) -> Vec<Point> {
    let (Some(first), Some(last)) = (line.first(), line.last()) else {
        return vec![];
    };
    let (dx, dy) = (last.x - first.x, last.y - first.y);
    let length = (dx * dx + dy * dy).sqrt().max(1e-9);
    let moved = |p: &Point| Point::new(p.x - by * dy / length, p.y + by * dx / length);
    line.iter().map(moved).collect()
}

/// Returns a label centred at a point.
pub(crate) fn centred(text: impl Into<String>, at: Point, size: f64) -> Label {
    Label {
        text: text.into(),
        x_px: at.x,
        y_px: at.y,
        size_px: size,
        anchor: Anchor::Middle,
        is_vertical: false,
    }
}

/// Returns the label to the left of a row.
pub(crate) fn row_label(text: String, y: f64) -> Label {
    Label {
        text,
        x_px: -14.0,
        y_px: y,
        size_px: 11.0,
        anchor: Anchor::End,
        is_vertical: false,
    }
}

/// Formats a number with commas between thousands.
pub(crate) fn counted(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun: `1 switch`, `1,024 switches`.
pub(crate) fn number_of(n: u32, one: &str, many: &str) -> String {
    let word = if n == 1 { one } else { many };
    format!("{} {word}", counted(n.into()))
}

pub(crate) struct Canvas<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) hosts: Hosts,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) labels: Vec<Label>,
    pub(crate) remarks: Vec<String>,
}

impl<'a> Canvas<'a> {
    pub(crate) fn new(topology: &'a Topology, hosts: Hosts) -> Self {
        Canvas {
            topology,
            hosts,
            nodes: vec![],
            edges: vec![],
            labels: vec![],
            remarks: vec![],
        }
    }

    pub(crate) fn has_hosts(&self) -> bool {
        self.hosts == Hosts::Drawn
    }

    /// Returns the NICs of each switch, in order of their numbers.
    pub(crate) fn nics_by_switch(&self) -> Vec<Vec<NicId>> {
        let mut nics = vec![vec![]; self.topology.n_switches() as usize];
        for nic in self.topology.nics() {
            nics[self.topology.attachment(nic).0.index()].push(nic);
        }
        nics
    }

    /// Draws a switch as a box of this size, with its name along the longer side if that fits.
    pub(crate) fn switch(&mut self, switch: SwitchId, at: Point, size: (f64, f64)) {
        let name = self.topology.switch_name(switch);
        let (along, across) = (size.0.max(size.1), size.0.min(size.1));
        let fitting = (along - 4.0) / text_width(&name, 1.0);
        let letters = fitting.min(across - 4.0).min(LETTERS);
        let label = (letters >= SMALL_LETTERS).then(|| Label {
            is_vertical: size.1 > size.0,
            ..centred(name.clone(), at, letters)
        });
        self.nodes.push(Node {
            kind: NodeKind::Switch,
            name,
            count: 1,
            x_px: at.x,
            y_px: at.y,
            width_px: size.0,
            height_px: size.1,
            label,
        });
    }

    /// Draws a NIC and its cable. The caller places the label, since it knows the free space.
    pub(crate) fn nic(
        &mut self,
        nic: NicId,
        at: Point,
        size: f64,
        from: Point,
        label: Option<Label>,
    ) {
        let (switch, port) = self.topology.attachment(nic);
        let class = usize::from(self.topology.link_class(switch, port));
        let name = self.topology.nic_name(nic);
        self.edges.push(Edge {
            kind: EdgeKind::Host,
            from: name.clone(),
            to: self.topology.switch_name(switch),
            link_class: self.topology.link_classes()[class].clone(),
            n_cables: 1,
            cables: vec![Cable {
                from_port: None,
                to_port: Some(port.0),
            }],
            lines_px: vec![vec![[at.x, at.y], [from.x, from.y]]],
            label: None,
        });
        self.nodes.push(Node {
            kind: NodeKind::Nic,
            name,
            count: 1,
            x_px: at.x,
            y_px: at.y,
            width_px: size,
            height_px: size,
            label,
        });
    }

    /// Draws the NICs of a switch as one box with their number.
    pub(crate) fn nic_group(&mut self, nics: &[NicId], at: Point, size: (f64, f64), from: Point) {
        let (Some(&first), Some(&last)) = (nics.first(), nics.last()) else {
            return;
        };
        let (first, last) = (self.topology.nic_name(first), self.topology.nic_name(last));
        let name = match nics.len() {
            1 => first,
            _ => format!("{first} to {last}"),
        };
        let mut by_class: BTreeMap<u8, (SwitchId, Vec<Cable>)> = BTreeMap::new();
        for &nic in nics {
            let (switch, port) = self.topology.attachment(nic);
            let class = self.topology.link_class(switch, port);
            let (_, cables) = by_class.entry(class).or_insert((switch, vec![]));
            cables.push(Cable {
                from_port: None,
                to_port: Some(port.0),
            });
        }
        for (class, (switch, cables)) in by_class {
            self.edges.push(Edge {
                kind: EdgeKind::Host,
                from: name.clone(),
                to: self.topology.switch_name(switch),
                link_class: self.topology.link_classes()[usize::from(class)].clone(),
                n_cables: cables.len() as u32,
                cables,
                lines_px: vec![vec![[at.x, at.y], [from.x, from.y]]],
                label: None,
            });
        }
        let text = counted(nics.len() as u64);
        let letters = ((size.0 - 3.0) / text_width(&text, 1.0))
            .min(size.1 - 3.0)
            .min(9.0);
        self.nodes.push(Node {
            kind: NodeKind::NicGroup,
            name,
            count: nics.len() as u32,
            x_px: at.x,
            y_px: at.y,
            width_px: size.0,
            height_px: size.1,
            label: (letters >= 7.0).then(|| centred(text, at, letters)),
        });
    }

    /// Draws the cables between switches. The cables of one pair and class form one edge along the
    /// lines that `lines` returns.
    pub(crate) fn cables(&mut self, lines: impl Fn(SwitchId, SwitchId) -> Vec<Vec<Point>>) {
        let bundles = bundles(self.topology);
        let (least, most) = bundles
            .values()
            .fold((usize::MAX, 0), |(least, most), cables| {
                (least.min(cables.len()), most.max(cables.len()))
            });
        if most > 1 {
            self.remarks.push(match least == most {
                true => format!("Each line between switches is a trunk of {most} cables."),
                false => format!(
                    "Lines between switches are trunks of {least} to {most} cables; wider lines \
                     have more."
                ),
            });
        }
        let mut pair = None;
        let mut shift = 0.0;
        for ((a, b, class), cables) in bundles {
            // Trunks of several classes between two switches run side by side.
            shift = if pair == Some((a, b)) {
                shift + ASIDE
            } else {
                0.0
            };
            pair = Some((a, b));
            let lines: Vec<_> = lines(a, b).iter().map(|line| aside(line, shift)).collect();
            let points = |line: &Vec<Point>| line.iter().map(|p| [p.x, p.y]).collect();
            self.edges.push(Edge {
                kind: EdgeKind::Fabric,
                from: self.topology.switch_name(a),
                to: self.topology.switch_name(b),
                link_class: self.topology.link_classes()[usize::from(class)].clone(),
                n_cables: cables.len() as u32,
                cables,
                lines_px: lines.iter().map(points).collect(),
                label: None,
            });
        }
    }

    /// Moves the drawing to its margins and rounds lengths, which keeps files short.
    pub(crate) fn finish(mut self, is_overview: bool) -> Layout {
        let (mut low, mut high) = (
            Point::new(f64::MAX, f64::MAX),
            Point::new(f64::MIN, f64::MIN),
        );
        let mut reach = |x: f64, y: f64| {
            low = Point::new(low.x.min(x), low.y.min(y));
            high = Point::new(high.x.max(x), high.y.max(y));
        };
        let mut labels = vec![];
        for node in &self.nodes {
            let (w, h) = (node.width_px / 2.0, node.height_px / 2.0);
            reach(node.x_px - w, node.y_px - h);
            reach(node.x_px + w, node.y_px + h);
            labels.extend(&node.label);
        }
        for edge in &self.edges {
            for point in edge.lines_px.iter().flatten() {
                reach(point[0], point[1]);
            }
            labels.extend(&edge.label);
        }
        labels.extend(&self.labels);
        for label in labels {
            for (x, y) in corners(label) {
                reach(x, y);
            }
        }
        let (dx, dy) = (MARGIN - low.x, MARGIN - low.y);
        let round = |x: f64| (x * 10.0).round() / 10.0;
        let move_label = |label: &mut Label| {
            label.x_px = round(label.x_px + dx);
            label.y_px = round(label.y_px + dy);
            label.size_px = round(label.size_px);
        };
        for node in &mut self.nodes {
            (node.x_px, node.y_px) = (round(node.x_px + dx), round(node.y_px + dy));
            (node.width_px, node.height_px) = (round(node.width_px), round(node.height_px));
            node.label.iter_mut().for_each(move_label);
        }
        for edge in &mut self.edges {
            for point in edge.lines_px.iter_mut().flatten() {
                *point = [round(point[0] + dx), round(point[1] + dy)];
            }
            edge.label.iter_mut().for_each(move_label);
        }
        self.labels.iter_mut().for_each(move_label);
        Layout {
            structure: words(self.topology),
            is_overview,
            width_px: round(high.x - low.x + 2.0 * MARGIN),
            height_px: round(high.y - low.y + 2.0 * MARGIN),
            switches: self.topology.n_switches(),
            nics: self.topology.n_nics(),
            cables: self.topology.n_cables(),
            link_classes: self.topology.link_classes().to_vec(),
            remarks: self.remarks,
            nodes: self.nodes,
            edges: self.edges,
            labels: self.labels,
        }
    }
}

/// Returns a phrase for the fabric.
fn words(topology: &Topology) -> String {
    match topology.structure() {
        _ if topology.n_switches() == 1 => "single switch".to_owned(),
        Structure::Tree(tree) if tree.is_k_ary_n_tree() => {
            format!("{}-ary {}-tree", tree.m[0], tree.levels())
        }
        Structure::Grid(grid) if grid.sides.len() > 2 && grid.sides.iter().all(|&s| s == 2) => {
            format!("hypercube of {} dimensions", grid.sides.len())
        }
        Structure::Grid(grid) if grid.sides.len() == 1 => match grid.wraps {
            true => "ring".to_owned(),
            false => "line".to_owned(),
        },
        structure => structure.words(),
    }
}

/// Returns the corners of the box around a label.
fn corners(label: &Label) -> [(f64, f64); 2] {
    let (length, half) = (text_width(&label.text, label.size_px), label.size_px / 2.0);
    let (before, after) = match label.anchor {
        Anchor::Start => (0.0, length),
        Anchor::Middle => (length / 2.0, length / 2.0),
        Anchor::End => (length, 0.0),
    };
    let (x, y) = (label.x_px, label.y_px);
    match label.is_vertical {
        false => [(x - before, y - half), (x + after, y + half)],
        true => [(x - half, y - before), (x + half, y + after)],
    }
}

/// Returns the cables between switches by (switch, other switch, class), with the ports of each.
pub(crate) fn bundles(topology: &Topology) -> BTreeMap<(SwitchId, SwitchId, u8), Vec<Cable>> {
    let mut bundles: BTreeMap<_, Vec<Cable>> = BTreeMap::new();
    for switch in topology.switches() {
        for port in topology.ports(switch) {
            let Peer::Switch(other, there) = topology.peer(switch, port) else {
                continue;
            };
            // Each cable appears at both ends and is taken once.
            if (switch, port) < (other, there) {
                let class = topology.link_class(switch, port);
                bundles
                    .entry((switch, other, class))
                    .or_default()
                    .push(Cable {
                        from_port: Some(port.0),
                        to_port: Some(there.0),
                    });
            }
        }
    }
    bundles
}

//! Large fabrics: groups of switches as boxes and bundles of cables as lines, labelled with counts.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use netloom_topology::{Grid, Peer, Pgft, Structure};

use crate::canvas::{Canvas, PAGE, Point, centred, counted, number_of, row_label};
use crate::layout::{Edge, EdgeKind, Node, NodeKind};
use crate::place::{WRAPS, stubs};

/// Maximum number of subtrees drawn individually; with more, the middle ones are drawn together.
const SUBTREES: u32 = 8;
/// Subtrees before and after those drawn together.
const FIRST: u32 = 3;
const LAST: u32 = 1;
/// Blocks along each side of a grid.
const BLOCKS: u16 = 6;
/// Blocks of a fabric without structure.
const PARTS: usize = 12;

/// A box of the overview before anything is counted.
struct Group {
    name: String,
    at: Point,
    size: (f64, f64),
    /// Position of the NICs of its switches; if `None`, the box shows their number.
    nics_at: Option<Point>,
}

pub(crate) fn tree(canvas: &mut Canvas, tree: &Pgft) {
    let top = tree.levels();
    let subtrees = tree.m[top - 1];
    // Each column is one subtree, or several of them together.
    let columns: Vec<(u32, u32)> = match subtrees {
        0..=SUBTREES => (0..subtrees).map(|s| (s, s + 1)).collect(),
        n => (0..FIRST)
            .map(|s| (s, s + 1))
            .chain([(FIRST, n - LAST)])
            .chain((n - LAST..n).map(|s| (s, s + 1)))
            .collect(),
    };
    let pitch = (PAGE / columns.len() as f64).min(170.0);
    let (width, between) = (pitch * columns.len() as f64, 120.0);
    let y_of = |level: usize| (top - level) as f64 * between;
    let mut groups = vec![Group {
        name: format!("level {top}"),
        at: Point::new(width / 2.0, 0.0),
        size: (width * 0.96, 40.0),
        nics_at: None,
    }];
    let mut group_at = BTreeMap::new();
    for (c, &(from, to)) in columns.iter().enumerate() {
        let x = (c as f64 + 0.5) * pitch;
        let words = match to - from {
            1 => format!("subtree {from}"),
            _ => format!("subtrees {from} to {}", to - 1),
        };
        for level in 1..top {
            group_at.insert((level, c), groups.len());
            groups.push(Group {
                name: format!("level {level}, {words}"),
                at: Point::new(x, y_of(level)),
                size: (pitch * 0.8, 40.0),
                nics_at: (level == 1).then(|| Point::new(x, y_of(0))),
            });
        }
        let at = Point::new(x, y_of(0) + 36.0);
        canvas.labels.push(centred(words, at, 11.0));
    }
    for level in 1..=top {
        canvas
            .labels
            // tidy: allow a function name
            .push(row_label(format!("level {level}"), y_of(level)));
    }
    if canvas.has_hosts() {
        // tidy: allow a function name
        canvas.labels.push(row_label("NICs".to_owned(), y_of(0)));
    }
    let below = |level: usize| tree.nics_below(level);
    let group_of: Vec<usize> = canvas
        .topology
        .switches()
        .map(|switch| {
            let (level, nic) = tree.level_and_first_nic(switch);
            if level == top {
                return 0;
            }
            let subtree = (u64::from(nic.0) / below(top - 1)) as u32;
            let column = columns
                .iter()
                .position(|&(from, to)| (from..to).contains(&subtree));
            group_at[&(level, column.expect("columns cover the subtrees"))]
        })
        .collect();
    draw(canvas, &groups, &group_of, |_, _| None);
}

pub(crate) fn grid(canvas: &mut Canvas, grid: &Grid) {
    // The two longest dimensions span the picture; the others are inside the blocks.
    let mut longest: Vec<usize> = (0..grid.sides.len()).collect();
    longest.sort_by_key(|&d| (std::cmp::Reverse(grid.sides[d]), d));
    let mut plane = [longest[0], *longest.get(1).unwrap_or(&longest[0])];
    plane.sort_unstable();
    let [x, y] = plane;
    // Equal blocks if the side allows some of them.
    let blocks = |d: usize| {
        let side = grid.sides[d];
        let even = (3..=BLOCKS).rfind(|&n| side.is_multiple_of(n));
        even.unwrap_or(side.min(BLOCKS))
    };
    let (columns, rows) = (blocks(x), if x == y { 1 } else { blocks(y) });
    let pitch = (PAGE / f64::from(columns), 110.0);
    let block =
        |c: u16, d: usize| (u32::from(c) * u32::from(blocks(d)) / u32::from(grid.sides[d])) as u16;
    // The coordinates of a dimension that belong to a block, as text.
    let range = |d: usize, b: u16| {
        let within: Vec<u16> = (0..grid.sides[d]).filter(|&c| block(c, d) == b).collect();
        match (within.first(), within.last()) {
            (Some(a), Some(z)) if a != z => format!("{a} to {z}"),
            (Some(a), _) => a.to_string(),
            _ => String::new(),
        }
    };
    let mut groups = vec![];
    for row in 0..rows {
        for column in 0..columns {
            let name = match x == y {
                true => format!("dimension {}: {}", x + 1, range(x, column)),
                false => {
                    let (a, b) = (range(x, column), range(y, row));
                    format!("dimension {}: {a}; dimension {}: {b}", x + 1, y + 1)
                }
            };
            groups.push(Group {
                name,
                at: Point::new(f64::from(column) * pitch.0, f64::from(row) * pitch.1),
                size: (pitch.0 * 0.62, 48.0),
                nics_at: None,
            });
        }
    }
    let group_of: Vec<usize> = canvas
        .topology
        .switches()
        .map(|switch| {
            let at = grid.coordinates(switch);
            let row = if x == y { 0 } else { block(at[y], y) };
            usize::from(row) * usize::from(columns) + usize::from(block(at[x], x))
        })
        .collect();
    if grid.wraps {
        canvas.remarks.push(WRAPS.to_owned());
    }
    let place = |group: usize| (group % usize::from(columns), group / usize::from(columns));
    draw(canvas, &groups, &group_of, |a, b| {
        let ((ax, ay), (bx, by)) = (place(a), place(b));
        // Two blocks are neighbours in both directions; more are joined across the border only at
        // the ends.
        let is_across = ay == by;
        (ax.abs_diff(bx) > 1 || ay.abs_diff(by) > 1).then_some(is_across)
    });
}

pub(crate) fn plain(canvas: &mut Canvas) {
    let names: Vec<String> = (0..PARTS).map(|part| format!("block {part}")).collect();
    canvas
        .remarks
        .push("Blocks are parts of equal size with few cables between them.".to_owned());
    on_circle(canvas, &names);
}

/// Draws the groups of a dragonfly, several per box if there are many.
pub(crate) fn groups(canvas: &mut Canvas, groups: u32) {
    let n = (groups as usize).min(PARTS);
    // Whole groups, as in the partitioning of the fabric: group g of all is in part g * n / all.
    let first = |part: usize| (part as u64 * u64::from(groups)).div_ceil(n as u64);
    let name = |part| match (first(part), first(part + 1) - 1) {
        (from, to) if from == to => format!("group {from}"),
        (from, to) => format!("groups {from} to {to}"),
    };
    let names: Vec<String> = (0..n).map(name).collect();
    on_circle(canvas, &names);
}

/// Draws the parts of the fabric, from the top clockwise.
fn on_circle(canvas: &mut Canvas, names: &[String]) {
    let n = names.len();
    let parts = canvas.topology.partitions(n);
    let radius = PAGE / 2.0 - 80.0;
    let block = |(part, name): (usize, &String)| {
        let angle = TAU * (part as f64 / n as f64 - 0.25);
        let at = Point::new(0.0, 0.0).towards(angle, radius);
        Group {
            name: name.clone(),
            at: Point::new(at.x, at.y * 0.75),
            size: (120.0, 48.0),
            nics_at: None,
        }
    };
    let groups: Vec<Group> = names.iter().enumerate().map(block).collect();
    let group_of: Vec<usize> = parts.iter().map(|&p| usize::from(p)).collect();
    draw(canvas, &groups, &group_of, |_, _| None);
}

/// Counts and draws. `around` tells which pairs of groups are joined around the border, and whether
/// across.
fn draw(
    canvas: &mut Canvas,
    groups: &[Group],
    group_of: &[usize],
    around: impl Fn(usize, usize) -> Option<bool>,
) {
    let topology = canvas.topology;
    let classes = topology.link_classes();
    let mut switches = vec![0u32; groups.len()];
    let mut nics: Vec<BTreeMap<u8, u32>> = vec![BTreeMap::new(); groups.len()];
    let mut inner = vec![0u32; groups.len()];
    let mut bundles: BTreeMap<(usize, usize, u8), u32> = BTreeMap::new();
    for switch in topology.switches() {
        let here = group_of[switch.index()];
        switches[here] += 1;
        for port in topology.ports(switch) {
            let class = topology.link_class(switch, port);
            match topology.peer(switch, port) {
                Peer::Nic(_) => *nics[here].entry(class).or_default() += 1,
                Peer::Switch(other, there) if (switch, port) < (other, there) => {
                    let there = group_of[other.index()];
                    let bundle = (here.min(there), here.max(there), class);
                    *match here == there {
                        true => &mut inner[here],
                        false => bundles.entry(bundle).or_default(),
                    } += 1;
                }
                _ => {}
            }
        }
    }
    for ((a, b, class), n) in bundles {
        let (from, to) = (groups[a].at, groups[b].at);
        let lines = match around(a, b) {
            Some(is_across) => stubs(from, to, is_across, groups[a].size.0.min(100.0)),
            // From a wide box straight down, from the narrow one to the narrow one.
            None if matches!(topology.structure(), Structure::Tree(_)) => {
                let reach = groups[a].size.0 / 2.0 - 10.0;
                let x = to.x.clamp(from.x - reach.max(0.0), from.x + reach.max(0.0));
                vec![vec![Point::new(x, from.y), to]]
            }
            None => vec![vec![from, to]],
        };
        let label = match lines.len() {
            1 => {
                let (p, q) = (lines[0][0], lines[0][1]);
                Point::new((p.x + q.x) / 2.0, (p.y + q.y) / 2.0)
            }
            _ => lines[0][1],
        };
        canvas.edges.push(Edge {
            kind: EdgeKind::Fabric,
            from: groups[a].name.clone(),
            to: groups[b].name.clone(),
            link_class: classes[usize::from(class)].clone(),
            n_cables: n,
            cables: vec![],
            lines_px: lines
                .iter()
                .map(|l| l.iter().map(|p| [p.x, p.y]).collect())
                .collect(),
            label: Some(centred(counted(n.into()), label, 10.0)),
        });
    }
    for (g, group) in groups.iter().enumerate() {
        let n_nics: u32 = nics[g].values().sum();
        if let (Some(place), true) = (group.nics_at, canvas.has_hosts()) {
            let name = format!("NICs of {}", group.name);
            for (&class, &n) in &nics[g] {
                let (from, to) = (name.clone(), group.name.clone());
                let line = vec![[place.x, place.y], [group.at.x, group.at.y]];
                let middle = Point::new(place.x, (place.y + group.at.y) / 2.0);
                canvas.edges.push(Edge {
                    kind: EdgeKind::Host,
                    from,
                    to,
                    link_class: classes[usize::from(class)].clone(),
                    n_cables: n,
                    cables: vec![],
                    lines_px: vec![line],
                    label: Some(centred(counted(n.into()), middle, 10.0)),
                });
            }
            canvas.nodes.push(Node {
                kind: NodeKind::NicGroup,
                name,
                count: n_nics,
                x_px: place.x,
                y_px: place.y,
                width_px: group.size.0,
                height_px: 26.0,
                label: Some(centred(number_of(n_nics, "NIC", "NICs"), place, 11.0)),
            });
        }
        let text = number_of(switches[g], "switch", "switches");
        let mut more = vec![];
        if group.nics_at.is_none() && n_nics > 0 && canvas.has_hosts() {
            more.push(number_of(n_nics, "NIC", "NICs"));
        }
        if inner[g] > 0 {
            more.push(number_of(inner[g], "cable inside", "cables inside"));
        }
        let lines = 1 + more.len();
        let line_at = |i: usize| {
            let offset = (i as f64 - (lines - 1) as f64 / 2.0) * 14.0;
            Point::new(group.at.x, group.at.y + offset)
        };
        for (i, words) in more.into_iter().enumerate() {
            canvas.labels.push(centred(words, line_at(i + 1), 9.5));
        }
        canvas.nodes.push(Node {
            kind: NodeKind::SwitchGroup,
            name: group.name.clone(),
            count: switches[g],
            x_px: group.at.x,
            y_px: group.at.y,
            width_px: group.size.0,
            height_px: group.size.1,
            label: Some(centred(text, line_at(0), 11.0)),
        });
    }
}

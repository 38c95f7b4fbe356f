//! Properties that every drawing must have, over fabrics of all shapes.

use std::collections::{BTreeMap, BTreeSet};

use netloom_catalog::{Document, Notes, Section};
use netloom_drawing::{
    EdgeKind, Hosts, Layout, NodeKind, SWITCHES_DRAWN, Scheme, Style, layout, layout_with, svg,
};
use netloom_topology::{
    Arrangement, Blueprint, Dragonfly, FatTree, Hypercube, KINDS, Megafly, Mesh, ParallelFatTree,
    Peer, Placement, RandomRegular, SingleSwitch, Topology, Torus, graph,
};

fn built(blueprint: &dyn Blueprint) -> Topology {
    blueprint.build(7).unwrap()
}

/// A real subnet, whose switches have the long names of their vendors.
fn site() -> Topology {
    let listing = include_str!("../../infiniband/tests/samples/ft8/ibnetdiscover.txt");
    let text = format!("text = '''{listing}'''");
    let mut notes = Notes::new();
    let document = Document::parse("site", &text, &mut notes);
    let mut section = Section::open(&document.root, &mut notes).unwrap();
    built(&*(netloom_infiniband::TOPOLOGY.read)(&mut section).unwrap())
}

/// Returns fabrics of every kind, and of every shape with its own drawing.
fn fabrics() -> Vec<(String, Topology)> {
    let mut fabrics: Vec<(String, Topology)> = vec![];
    for kind in KINDS.iter().chain([&netloom_infiniband::TOPOLOGY]) {
        let mut notes = Notes::new();
        let document = Document::parse(kind.name, kind.example, &mut notes);
        let mut section = Section::open(&document.root, &mut notes).unwrap();
        let blueprint = (kind.read)(&mut section).unwrap();
        fabrics.push((format!("example of {}", kind.name), built(&*blueprint)));
    }
    fabrics.push(("site with long names".to_owned(), site()));
    let torus = |sides: &[u16], hosts, trunk| {
        built(&Torus {
            sides: sides.to_vec(),
            hosts,
            trunk,
        })
    };
    let mesh = |sides: &[u16], hosts| {
        built(&Mesh {
            sides: sides.to_vec(),
            hosts,
            trunk: 1,
        })
    };
    let cube = |dimensions| {
        built(&Hypercube {
            dimensions,
            hosts: 2,
        })
    };
    let random = |switches, degree, hosts| {
        built(&RandomRegular {
            switches,
            degree,
            hosts,
        })
    };
    let dragonfly = |switches, globals, groups| {
        built(&Dragonfly {
            hosts: 3,
            switches,
            globals,
            groups,
            arrangement: Arrangement::PalmTree,
            ports: None,
            placement: Placement::InOrder,
        })
    };
    let megafly = |leaves, spines, globals| {
        built(&Megafly {
            hosts: 2,
            leaves,
            spines,
            globals,
            groups: None,
            arrangement: Arrangement::PalmTree,
        })
    };
    let tree = |arity, levels| built(&FatTree { arity, levels });
    let pgft = |children: &[u32], parents: &[u32], links: &[u32]| {
        built(&ParallelFatTree {
            children: children.to_vec(),
            parents: parents.to_vec(),
            links: links.to_vec(),
        })
    };
    let spine = "link spine-a leaf-1\nlink spine-a leaf-2\nlink spine-b leaf-1 class long\n\
        link spine-b leaf-1 class short\nlink spine-b leaf-2\nnic h1 leaf-1\nnic h2 leaf-2\n\
        nic h3 leaf-2";
    for (name, topology) in [
        ("4-ary 3-tree", tree(4, 3)),
        ("8-ary 3-tree", tree(8, 3)),
        ("two levels with trunks", pgft(&[18, 12], &[1, 6], &[1, 3])),
        ("one switch of 32", built(&SingleSwitch { ports: 32 })),
        ("one switch of 4000", built(&SingleSwitch { ports: 4000 })),
        ("8x8 torus", torus(&[8, 8], 8, 10)),
        ("5x3 torus, many hosts", torus(&[5, 3], 40, 1)),
        ("4x4x4 torus", torus(&[4, 4, 4], 2, 1)),
        ("3x2x4 torus, many hosts", torus(&[3, 2, 4], 9, 2)),
        ("four dimensions", torus(&[3, 3, 2, 3], 1, 1)),
        ("ring", torus(&[12], 3, 1)),
        ("flat", torus(&[1, 6, 1], 1, 1)),
        ("line", mesh(&[20], 2)),
        ("20x20 mesh", mesh(&[20, 20], 1)),
        ("cube 3", cube(3)),
        ("cube 4", cube(4)),
        ("cube 7", cube(7)),
        ("dragonfly of 9", dragonfly(4, 2, None)),
        ("dragonfly of 22 groups", dragonfly(7, 3, None)),
        ("dragonfly of one group", dragonfly(6, 2, Some(1))),
        ("dragonfly of switches", dragonfly(1, 6, None)),
        ("megafly of 9", megafly(4, 4, 2)),
        ("megafly of 17 groups", megafly(4, 4, 4)),
        ("random", random(16, 4, 4)),
        ("random 100", random(100, 4, 4)),
        ("random dense", random(30, 12, 30)),
        ("spines", graph::parse(spine).unwrap()),
    ] {
        fabrics.push((name.to_owned(), topology));
    }
    fabrics
}

/// Every cable as (end, port, end, port, class), the smaller end first.
type CableEnds = ((String, Option<u16>), (String, Option<u16>), String);

fn ends(a: (String, Option<u16>), b: (String, Option<u16>), class: &str) -> CableEnds {
    match a <= b {
        true => (a, b, class.to_owned()),
        false => (b, a, class.to_owned()),
    }
}

fn cables_of(topology: &Topology) -> Vec<CableEnds> {
    let mut cables = vec![];
    for switch in topology.switches() {
        for port in topology.ports(switch) {
            let here = (topology.switch_name(switch), Some(port.0));
            let class = &topology.link_classes()[usize::from(topology.link_class(switch, port))];
            match topology.peer(switch, port) {
                Peer::Switch(other, there) if (switch, port) < (other, there) => {
                    let there = (topology.switch_name(other), Some(there.0));
                    cables.push(ends(here, there, class));
                }
                Peer::Nic(nic) => cables.push(ends(here, (topology.nic_name(nic), None), class)),
                _ => {}
            }
        }
    }
    cables.sort();
    cables
}

fn cables_drawn(layout: &Layout) -> Vec<CableEnds> {
    let mut cables = vec![];
    for edge in &layout.edges {
        assert_eq!(edge.n_cables as usize, edge.cables.len());
        for cable in &edge.cables {
            let (from, to) = (edge.from.clone(), edge.to.clone());
            cables.push(ends(
                (from, cable.from_port),
                (to, cable.to_port),
                &edge.link_class,
            ));
        }
    }
    cables.sort();
    cables
}

#[test]
fn every_cable_is_drawn_once_with_its_names_and_ports() {
    for (name, topology) in fabrics() {
        let layout = layout(&topology);
        assert!(!layout.is_overview, "{name}");
        let has_groups = layout.nodes.iter().any(|n| n.kind == NodeKind::NicGroup);
        let is_fabric = |(a, b, _): &&CableEnds| a.1.is_some() && b.1.is_some();
        let (mut drawn, mut wired) = (cables_drawn(&layout), cables_of(&topology));
        if has_groups {
            // NICs drawn together have no individual names.
            assert_eq!(drawn.len(), wired.len(), "{name}");
            drawn = drawn.iter().filter(is_fabric).cloned().collect();
            wired = wired.iter().filter(is_fabric).cloned().collect();
        }
        assert_eq!(drawn, wired, "{name}");
        // Without hosts, the cables between switches are the same.
        let bare = layout_with(&topology, Hosts::LeftOut);
        let wired: Vec<_> = wired.iter().filter(is_fabric).cloned().collect();
        assert_eq!(cables_drawn(&bare), wired, "{name}");
        assert!(
            bare.nodes.iter().all(|n| n.kind == NodeKind::Switch),
            "{name}"
        );
    }
}

#[test]
fn every_switch_and_nic_has_one_place() {
    for (name, topology) in fabrics() {
        let layout = layout(&topology);
        let count = |kinds: &[NodeKind]| -> u32 {
            let these = layout.nodes.iter().filter(|n| kinds.contains(&n.kind));
            these.map(|n| n.count).sum()
        };
        assert_eq!(count(&[NodeKind::Switch]), topology.n_switches(), "{name}");
        assert_eq!(
            count(&[NodeKind::Nic, NodeKind::NicGroup]),
            topology.n_nics(),
            "{name}"
        );
        let names: BTreeSet<&str> = layout.nodes.iter().map(|n| n.name.as_str()).collect();
        assert_eq!(names.len(), layout.nodes.len(), "{name}: names are unique");
        for edge in &layout.edges {
            assert!(names.contains(edge.from.as_str()), "{name}: {}", edge.from);
            assert!(names.contains(edge.to.as_str()), "{name}: {}", edge.to);
        }
    }
}

#[test]
fn nothing_lies_on_a_switch_or_outside_the_picture() {
    for (name, topology) in fabrics() {
        let layout = layout(&topology);
        for node in &layout.nodes {
            let (w, h) = (node.width_px / 2.0, node.height_px / 2.0);
            assert!(
                node.x_px - w >= 0.0 && node.x_px + w <= layout.width_px,
                "{name}: {node:?}"
            );
            assert!(
                node.y_px - h >= 0.0 && node.y_px + h <= layout.height_px,
                "{name}: {node:?}"
            );
        }
        // Some fabrics are too large for a clean drawing.
        if ["random 100", "four dimensions"].contains(&name.as_str()) {
            continue;
        }
        let switches = layout.nodes.iter().filter(|n| n.kind == NodeKind::Switch);
        for switch in switches {
            for other in layout.nodes.iter().filter(|n| n.name != switch.name) {
                let apart = |a: f64, b: f64, x: f64, y: f64| (a - b).abs() >= (x + y) / 2.0;
                let is_apart = apart(switch.x_px, other.x_px, switch.width_px, other.width_px)
                    || apart(switch.y_px, other.y_px, switch.height_px, other.height_px);
                assert!(is_apart, "{name}: {} on {}", other.name, switch.name);
            }
        }
    }
}

/// Returns the distance between a point and the line between two others.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let length = (dx * dx + dy * dy).max(1e-9);
    let along = (((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length).clamp(0.0, 1.0);
    let near = [a[0] + along * dx, a[1] + along * dy];
    ((p[0] - near[0]).powi(2) + (p[1] - near[1]).powi(2)).sqrt()
}

#[test]
fn a_cable_passes_no_switch_that_it_does_not_end_at() {
    let shown = [
        "4-ary 3-tree",
        "8x8 torus",
        "cube 3",
        "cube 4",
        "random",
        "ring",
        "line",
        "spines",
    ];
    let mut seen = 0;
    for (name, topology) in fabrics() {
        if !shown.contains(&name.as_str()) {
            continue;
        }
        seen += 1;
        let layout = layout(&topology);
        for edge in layout.edges.iter().filter(|e| e.kind == EdgeKind::Fabric) {
            for node in layout.nodes.iter().filter(|n| n.kind == NodeKind::Switch) {
                if node.name == edge.from || node.name == edge.to {
                    continue;
                }
                for line in edge.lines_px.iter().flat_map(|l| l.windows(2)) {
                    let clear = distance([node.x_px, node.y_px], line[0], line[1]);
                    assert!(
                        clear > 6.0,
                        "{name}: {} to {} over {}",
                        edge.from,
                        edge.to,
                        node.name
                    );
                }
            }
        }
    }
    assert_eq!(seen, shown.len());
}

#[test]
fn large_fabrics_are_counted_in_groups() {
    let trees = [
        built(&ParallelFatTree {
            children: vec![32, 32, 64],
            parents: vec![1, 32, 32],
            links: vec![],
        }),
        built(&ParallelFatTree {
            children: vec![10, 10, 8],
            parents: vec![1, 10, 30],
            links: vec![1, 2, 1],
        }),
    ];
    for tree in trees {
        let layout = layout(&tree);
        assert!(layout.is_overview && tree.n_switches() > SWITCHES_DRAWN);
        // Levels have no cables within, so all of them are in bundles.
        let mut drawn: BTreeMap<&str, u32> = BTreeMap::new();
        for edge in &layout.edges {
            *drawn.entry(&edge.link_class).or_default() += edge.n_cables;
        }
        assert_eq!(drawn.values().sum::<u32>(), tree.n_cables());
        let count = |kind| -> u32 {
            let these = layout.nodes.iter().filter(|n| n.kind == kind);
            these.map(|n| n.count).sum()
        };
        assert_eq!(count(NodeKind::SwitchGroup), tree.n_switches());
        assert_eq!(count(NodeKind::NicGroup), tree.n_nics());
        assert!(layout.nodes.len() < 40);
    }
    let torus = built(&Torus {
        sides: vec![32, 32],
        hosts: 1,
        trunk: 1,
    });
    let layout = layout(&torus);
    // Four by four blocks: each border is 32 cables long, and there are four in each direction.
    let between: u32 = layout.edges.iter().map(|e| e.n_cables).sum();
    assert_eq!((layout.nodes.len(), between), (16, 2 * 4 * 32));
}

/// The dragonfly of paper 002 in twelve boxes of whole groups: two boxes are joined by the cables
/// between their groups.
#[test]
fn large_dragonflies_are_drawn_by_whole_groups() {
    let dragonfly = built(&Dragonfly {
        hosts: 5,
        switches: 11,
        globals: 5,
        groups: None,
        arrangement: Arrangement::PalmTree,
        ports: None,
        placement: Placement::Random,
    });
    let layout = layout(&dragonfly);
    assert!(layout.is_overview);
    let names: Vec<&str> = layout
        .nodes
        .iter()
        .map(|n| n.name.as_str())
        .take(3)
        .collect();
    assert_eq!(names, ["groups 0 to 4", "groups 5 to 9", "groups 10 to 13"]);
    let size = |name: &str| match name.split_once(" to ") {
        Some((from, to)) => {
            let number = |text: &str| text.trim_start_matches("groups ").parse::<u32>().unwrap();
            number(to) - number(from) + 1
        }
        None => 1,
    };
    assert_eq!(layout.nodes.iter().map(|n| size(&n.name)).sum::<u32>(), 56);
    for node in &layout.nodes {
        assert_eq!(node.count, 11 * size(&node.name), "{}", node.name);
    }
    for edge in layout
        .edges
        .iter()
        .filter(|edge| edge.link_class == "global")
    {
        assert_eq!(edge.n_cables, size(&edge.from) * size(&edge.to));
    }
    assert!(layout.edges.iter().all(|edge| edge.link_class != "local"));
}

#[test]
fn a_layout_is_the_same_twice_and_after_a_file() {
    for (name, topology) in fabrics() {
        let first = layout(&topology);
        assert_eq!(first, layout(&topology), "{name}");
        let text = serde_json::to_string(&first).unwrap();
        let read: Layout = serde_json::from_str(&text).unwrap();
        assert_eq!(first, read, "{name}");
    }
}

/// Checks that tags are closed in order, and counts them by name.
fn tags(svg: &str) -> BTreeMap<String, usize> {
    let mut open: Vec<&str> = vec![];
    let mut counts = BTreeMap::new();
    for part in svg.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("every tag ends");
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "{tag}");
        let name = tag
            .trim_start_matches('/')
            .split([' ', '/'])
            .next()
            .unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        *counts.entry(name.to_owned()).or_default() += 1;
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    counts
}

#[test]
fn a_picture_is_well_formed_and_everything_in_it_has_a_title() {
    for (name, topology) in fabrics() {
        let layout = layout(&topology);
        let tags = tags(&svg(&layout, &Style::default()));
        assert_eq!(
            tags["title"],
            layout.nodes.len() + layout.edges.len(),
            "{name}"
        );
        assert_eq!(tags["svg"], 1, "{name}");
    }
}

#[test]
fn names_cannot_break_out_of_a_picture() {
    let topology = graph::parse("link a<b> c&d\nnic \"x\" a<b>\nnic y c&d").unwrap();
    let text = svg(
        &layout(&topology),
        &Style {
            title: "<script>".to_owned(),
            ..Style::default()
        },
    );
    tags(&text);
    assert!(
        !text.contains("<script>") && !text.contains("a<b>"),
        "{text}"
    );
    assert!(
        text.contains("a&lt;b&gt;") && text.contains("&quot;x&quot;"),
        "{text}"
    );
}

#[test]
fn light_and_dark_are_chosen_by_the_reader_or_by_the_style() {
    let layout = layout(&built(&SingleSwitch { ports: 2 }));
    let with = |scheme| {
        let style = Style {
            scheme,
            ..Style::default()
        };
        svg(&layout, &style)
    };
    assert!(with(Scheme::Auto).contains("prefers-color-scheme:dark"));
    let (light, dark) = (with(Scheme::Light), with(Scheme::Dark));
    let (white, black) = (r##"fill="#ffffff""##, r##"fill="#0d1117""##);
    assert!(light.contains(white) && !light.contains("#0d1117"));
    assert!(dark.contains(black) && !dark.contains("#ffffff"));
}

/// Converters and office programs support no custom properties, and some no style sheets at all.
#[test]
fn colours_are_there_without_a_style_sheet() {
    for (name, topology) in fabrics() {
        let text = svg(&layout(&topology), &Style::default());
        assert!(!text.contains("var("), "{name}");
        let (before, after) = text.split_once("<style>").unwrap();
        let (_, after) = after.split_once("</style>").unwrap();
        let bare = format!("{before}{after}");
        for (class, look) in [
            ("ground", r##"fill="#ffffff""##),
            ("switch", r##"fill="#eef2f6" stroke="#1f2328""##),
            ("edge class-0", r##"stroke="#8a8f98""##),
        ] {
            let class = format!("class=\"{class}\"");
            let tags = bare.split('<').filter(|tag| tag.contains(&class));
            let tags: Vec<&str> = tags.collect();
            assert!(!tags.is_empty(), "{name}: {class}");
            for tag in tags {
                assert!(tag.contains(look), "{name}: {tag}");
            }
        }
    }
}

#[test]
fn a_small_picture() {
    let topology = built(&Mesh {
        sides: vec![2],
        hosts: 1,
        trunk: 2,
    });
    let style = Style {
        title: "two".to_owned(),
        ..Style::default()
    };
    let text = svg(&layout(&topology), &style);
    let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with("<style>")).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

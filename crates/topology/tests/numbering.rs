//! Numbers of switches, NICs and ports, checked by hand or against the formulas of the papers.

use netloom_topology::{
    Arrangement, Blueprint, Certainty, Dragonfly, FatTree, Hypercube, Megafly, Mesh,
    ParallelFatTree, Peer, Placement, RandomRegular, SingleSwitch, Structure, Topology, Torus,
    measures,
};
use netloom_units::{NicId, Port, SwitchId};

fn counts(topology: &Topology) -> (u32, u32, u16) {
    (topology.n_nics(), topology.n_switches(), topology.radix())
}

#[test]
fn v001_1_size_of_the_2_ary_3_tree() {
    let tree = FatTree {
        arity: 2,
        levels: 3,
    }
    .build(0)
    .unwrap();
    assert_eq!(counts(&tree), (8, 12, 4));
    let names: Vec<&str> = tree.link_classes().iter().map(String::as_str).collect();
    assert_eq!(names, ["host", "level-1", "level-2"]);
}

/// Up port k+u of (s, w) leads to (s+1, w with digit s replaced by u), port dig(w, s).
#[test]
fn k_ary_n_trees_are_wired_as_the_specification_says() {
    for (k, n) in [(2u32, 3u32), (4, 3), (4, 4), (16, 2), (3, 1)] {
        let tree = FatTree {
            arity: k,
            levels: n,
        }
        .build(0)
        .unwrap();
        let per_stage = k.pow(n - 1);
        assert_eq!(tree.n_switches(), n * per_stage);
        let digit = |x: u32, i: u32| x / k.pow(i) % k;
        for s in 0..n {
            for w in 0..per_stage {
                let switch = SwitchId(s * per_stage + w);
                assert_eq!(
                    u32::from(tree.n_ports(switch)),
                    if s + 1 < n { 2 * k } else { k }
                );
                for u in 0..if s + 1 < n { k } else { 0 } {
                    let above = w - digit(w, s) * k.pow(s) + u * k.pow(s);
                    let there = SwitchId((s + 1) * per_stage + above);
                    let expected = Peer::Switch(there, Port(digit(w, s) as u16));
                    assert_eq!(tree.peer(switch, Port((k + u) as u16)), expected);
                }
            }
        }
        for d in 0..k.pow(n) {
            assert_eq!(
                tree.attachment(NicId(d)),
                (SwitchId(d / k), Port((d % k) as u16))
            );
        }
    }
}

#[test]
fn a_fat_tree_is_a_special_pgft() {
    let fat = FatTree {
        arity: 4,
        levels: 3,
    }
    .build(0)
    .unwrap();
    let generalised = ParallelFatTree {
        children: vec![4, 4, 4],
        parents: vec![1, 4, 4],
        links: vec![],
    };
    assert_eq!(generalised.build(0).unwrap(), fat);
}

/// The fabric of paper 003: 16 leaves with 32 hosts each, 16 roots, two cables between each pair.
#[test]
fn pgft_of_paper_003() {
    let pgft = ParallelFatTree {
        children: vec![32, 16],
        parents: vec![1, 16],
        links: vec![1, 2],
    };
    let tree = pgft.build(0).unwrap();
    assert_eq!(counts(&tree), (512, 32, 64));
    assert_eq!(tree.n_cables(), 512 + 16 * 32);
    for u in 0..32 {
        let root = SwitchId(16 + u % 16);
        let cable = (u / 16) as u16;
        let expected = Peer::Switch(root, Port(5 + 16 * cable));
        assert_eq!(tree.peer(SwitchId(5), Port(32 + u as u16)), expected);
    }
}

#[test]
fn sizes_of_the_papers() {
    let torus = |sides: &[u16], hosts, trunk| {
        let blueprint = Torus {
            sides: sides.to_vec(),
            hosts,
            trunk,
        };
        counts(&blueprint.build(0).unwrap())
    };
    let tree = |arity, levels| counts(&FatTree { arity, levels }.build(0).unwrap());
    assert_eq!(tree(4, 3), (64, 48, 8));
    assert_eq!(tree(24, 2), (576, 48, 48));
    assert_eq!(torus(&[8, 8], 8, 10), (512, 64, 48));
    assert_eq!(torus(&[8, 8, 8], 4, 4), (2048, 512, 28));
    let mesh = Mesh {
        sides: vec![4, 4],
        hosts: 4,
        trunk: 1,
    };
    assert_eq!(counts(&mesh.build(0).unwrap()), (64, 16, 8));
    let cube = Hypercube {
        dimensions: 4,
        hosts: 4,
    }
    .build(0)
    .unwrap();
    assert_eq!((counts(&cube), cube.n_cables()), ((64, 16, 8), 64 + 32));
    let random = RandomRegular {
        switches: 16,
        degree: 4,
        hosts: 4,
    };
    assert_eq!(counts(&random.build(3).unwrap()), (64, 16, 8));
    assert_ne!(random.build(3).unwrap(), random.build(4).unwrap());
    assert_eq!(
        counts(&SingleSwitch { ports: 5 }.build(0).unwrap()),
        (5, 1, 5)
    );
}

/// A 3 x 2 torus with trunks of 2: hosts first, then x up, x down, and one slot for the side of 2.
#[test]
fn ports_of_a_torus() {
    let blueprint = Torus {
        sides: vec![3, 2],
        hosts: 1,
        trunk: 2,
    };
    let torus = blueprint.build(0).unwrap();
    assert_eq!(counts(&torus), (6, 6, 7));
    let at = |switch, port| torus.peer(SwitchId(switch), Port(port));
    assert_eq!(at(0, 0), Peer::Nic(NicId(0)));
    assert_eq!(at(0, 1), Peer::Switch(SwitchId(1), Port(3)));
    assert_eq!(at(0, 2), Peer::Switch(SwitchId(1), Port(4)));
    assert_eq!(at(0, 3), Peer::Switch(SwitchId(2), Port(1)));
    assert_eq!(at(0, 5), Peer::Switch(SwitchId(3), Port(5)));
    assert_eq!(at(0, 6), Peer::Switch(SwitchId(3), Port(6)));
    let class = |port| torus.link_class(SwitchId(0), Port(port));
    assert_eq!((class(0), class(1), class(4), class(6)), (0, 1, 1, 2));
}

#[test]
fn the_border_of_a_mesh_is_unused() {
    let blueprint = Mesh {
        sides: vec![3],
        hosts: 1,
        trunk: 1,
    };
    let mesh = blueprint.build(0).unwrap();
    assert_eq!(mesh.peer(SwitchId(0), Port(2)), Peer::Unused);
    assert_eq!(mesh.peer(SwitchId(2), Port(1)), Peer::Unused);
    assert_eq!(
        mesh.peer(SwitchId(0), Port(1)),
        Peer::Switch(SwitchId(1), Port(2))
    );
    let m = measures(&mesh);
    assert_eq!((m.diameter, m.unused_ports, m.cables), (4, 2, 5));
}

#[test]
fn diameters() {
    let tree = measures(
        &FatTree {
            arity: 4,
            levels: 3,
        }
        .build(0)
        .unwrap(),
    );
    assert_eq!((tree.diameter, tree.diameter_by), (6, Certainty::Formula));
    let one = measures(&SingleSwitch { ports: 4 }.build(0).unwrap());
    assert_eq!(one.diameter, 2);
    let cube = measures(
        &Hypercube {
            dimensions: 4,
            hosts: 1,
        }
        .build(0)
        .unwrap(),
    );
    assert_eq!(cube.diameter, 6);
}

/// Counts the cables between switches of different parts.
fn cut(topology: &Topology, parts: &[u16]) -> usize {
    let ends = topology.switches().flat_map(|a| {
        topology
            .neighbours(a)
            .filter(move |(_, b, _)| parts[a.index()] != parts[b.index()])
    });
    ends.count() / 2
}

/// Returns the used ports of each part.
fn loads(topology: &Topology, parts: &[u16], n: usize) -> Vec<usize> {
    let mut loads = vec![0; n];
    for s in topology.switches() {
        let used = topology
            .ports(s)
            .filter(|&p| topology.peer(s, p) != Peer::Unused);
        loads[usize::from(parts[s.index()])] += used.count();
    }
    loads
}

#[test]
fn trees_are_split_by_subtree_with_the_roots_spread() {
    let tree = FatTree {
        arity: 4,
        levels: 3,
    }
    .build(0)
    .unwrap();
    for n in [2, 4] {
        let parts = tree.partitions(n);
        assert_eq!(loads(&tree, &parts, n), vec![320 / n; n]);
        // Every middle switch has 4 cables up, of which 1 in n leads to a root of its own part.
        assert_eq!(cut(&tree, &parts), 64 - 64 / n);
        for leaf in 0..16 {
            let (level, first) = match tree.structure() {
                Structure::Tree(shape) => shape.level_and_first_nic(SwitchId(leaf)),
                _ => panic!(),
            };
            assert_eq!(level, 1);
            assert_eq!(
                usize::from(parts[leaf as usize]),
                first.index() / 16 * n / 4
            );
        }
    }
}

#[test]
fn parts_are_balanced() {
    let fabrics = [
        FatTree {
            arity: 4,
            levels: 4,
        }
        .build(0)
        .unwrap(),
        Torus {
            sides: vec![8, 8],
            hosts: 8,
            trunk: 10,
        }
        .build(0)
        .unwrap(),
        Mesh {
            sides: vec![9, 7],
            hosts: 2,
            trunk: 1,
        }
        .build(0)
        .unwrap(),
        RandomRegular {
            switches: 100,
            degree: 6,
            hosts: 3,
        }
        .build(1)
        .unwrap(),
    ];
    for topology in &fabrics {
        for n in [2, 3, 4, 7] {
            let loads = loads(topology, &topology.partitions(n), n);
            let (least, most) = (loads.iter().min().unwrap(), loads.iter().max().unwrap());
            let slack = 2 * usize::from(topology.radix());
            assert!(
                most - least <= slack,
                "{:?} in {n}: {loads:?}",
                topology.structure()
            );
        }
    }
}

#[test]
fn tori_are_split_into_slabs() {
    let torus = Torus {
        sides: vec![4, 8],
        hosts: 1,
        trunk: 1,
    }
    .build(0)
    .unwrap();
    let parts = torus.partitions(2);
    assert_eq!(cut(&torus, &parts), 8);
}

fn paper_002() -> Dragonfly {
    Dragonfly {
        hosts: 5,
        switches: 11,
        globals: 5,
        groups: None,
        arrangement: Arrangement::PalmTree,
        ports: None,
        placement: Placement::InOrder,
    }
}

/// 5 * 11 * 56 = 3080; 11 * 5 + 1 = 56 groups; 5 + 10 + 5 = 20 ports.
#[test]
fn v002_9_size_of_the_dragonfly() {
    for placement in [Placement::InOrder, Placement::Random] {
        let fabric = Dragonfly {
            placement,
            ..paper_002()
        };
        let topology = fabric.build(1).unwrap();
        assert_eq!(counts(&topology), (3080, 616, 20));
        assert_eq!(topology.link_classes(), ["host", "local", "global"]);
        let Structure::Dragonfly(shape) = topology.structure() else {
            panic!()
        };
        assert_eq!(shape.groups, 56);
        let found = measures(&topology);
        assert_eq!((found.unused_ports, found.diameter), (0, 5));
        assert_eq!(found.cables, 3080 + 56 * 55 + 56 * 55 / 2);
        assert_eq!(shape.to_string(), "dragonfly of 56 groups of 11 switches");
    }
}

/// Global port j of group G, counted through its switches: palm tree to G - 1 - j, consecutive to j
/// or j + 1, circulant to G + 1, G - 1, G + 2 and so on.
#[test]
fn dragonflies_are_arranged_as_the_literature_says() {
    let (switches, globals, groups) = (4u32, 2u32, 9u32);
    let far = |arrangement, group: u32, nth: u32| {
        let fabric = Dragonfly {
            hosts: 2,
            switches: 4,
            globals: 2,
            arrangement,
            ..paper_002()
        };
        let topology = fabric.build(0).unwrap();
        let at = SwitchId(group * switches + nth / globals);
        let port = Port((2 + 3 + nth % globals) as u16);
        let Peer::Switch(other, there) = topology.peer(at, port) else {
            panic!("a global port")
        };
        let back = other.0 % switches * globals + u32::from(there.0) - 5;
        (other.0 / switches, back)
    };
    for group in 0..groups {
        for nth in 0..8 {
            let palm = (group + groups - 1 - nth) % groups;
            assert_eq!(far(Arrangement::PalmTree, group, nth), (palm, 7 - nth));
            let absolute = nth + u32::from(nth >= group);
            let back = group - u32::from(group > absolute);
            assert_eq!(far(Arrangement::Consecutive, group, nth), (absolute, back));
            let distance = nth / 2 + 1;
            let other = match nth % 2 {
                0 => group + distance,
                _ => group + groups - distance,
            };
            let expected = (other % groups, nth ^ 1);
            assert_eq!(far(Arrangement::Circulant, group, nth), expected);
        }
    }
    let random = |seed| {
        let fabric = Dragonfly {
            arrangement: Arrangement::Random,
            ..paper_002()
        };
        fabric.build(seed).unwrap()
    };
    assert_eq!(random(1), random(1));
    assert!(!random(1).has_same_wiring(&random(2)));
    assert!(!paper_002().is_random());
}

/// Paper 002 draws the roles of ports for each switch. One of the eight ports is unused here.
#[test]
fn ports_of_a_dragonfly_are_placed_at_random() {
    let fabric = Dragonfly {
        hosts: 2,
        switches: 4,
        globals: 2,
        ports: Some(8),
        placement: Placement::Random,
        ..paper_002()
    };
    let topology = fabric.build(1).unwrap();
    assert_eq!(counts(&topology), (72, 36, 8));
    let classes = |topology: &Topology, s| -> Vec<Option<u8>> {
        let class = |port| match topology.peer(s, port) {
            Peer::Unused => None,
            _ => Some(topology.link_class(s, port)),
        };
        topology.ports(s).map(class).collect()
    };
    let mut seen = std::collections::BTreeSet::new();
    for s in topology.switches() {
        let mut all = classes(&topology, s);
        seen.insert(all.clone());
        all.sort_unstable();
        assert_eq!(
            all,
            [
                None,
                Some(0),
                Some(0),
                Some(1),
                Some(1),
                Some(1),
                Some(2),
                Some(2)
            ]
        );
    }
    assert!(seen.len() > 30, "{} orders of 36", seen.len());
    assert!(fabric.is_random());
    assert!(!fabric.build(2).unwrap().has_same_wiring(&topology));
}

/// 8 ports lead to 5 other groups: one cable to each, a second one to the nearest three.
#[test]
fn fewer_groups_have_trunks() {
    let fabric = Dragonfly {
        hosts: 1,
        switches: 4,
        globals: 2,
        groups: Some(6),
        ..paper_002()
    };
    let topology = fabric.build(0).unwrap();
    let Structure::Dragonfly(shape) = topology.structure() else {
        panic!()
    };
    let cables: Vec<usize> = (0..6).map(|to| shape.links.between(2, to).len()).collect();
    assert_eq!(cables, [1, 2, 0, 2, 1, 2]);
    assert_eq!(measures(&topology).unused_ports, 0);
}

#[test]
fn megaflies_have_hosts_below_and_groups_above() {
    let fabric = Megafly {
        hosts: 3,
        leaves: 4,
        spines: 2,
        globals: 2,
        groups: None,
        arrangement: Arrangement::PalmTree,
    };
    let topology = fabric.build(0).unwrap();
    assert_eq!(counts(&topology), (60, 30, 6));
    // Leaf 1 of group 2 is switch 13; its spines are switches 16 and 17.
    assert_eq!(topology.attachment(NicId(27)), (SwitchId(13), Port(0)));
    assert_eq!(
        topology.peer(SwitchId(13), Port(4)),
        Peer::Switch(SwitchId(17), Port(1))
    );
    // Global port 0 of group 2 leads to group 1, by the last global port there.
    assert_eq!(
        topology.peer(SwitchId(16), Port(4)),
        Peer::Switch(SwitchId(11), Port(5))
    );
    assert_eq!(measures(&topology).diameter, 5);
}

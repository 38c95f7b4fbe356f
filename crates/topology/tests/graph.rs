//! The plain-text description of fabrics.

use netloom_topology::graph::{GraphFile, parse, write};
use netloom_topology::{Blueprint, Graph, Peer, Structure, Torus};
use netloom_units::{NicId, Port, SwitchId};

#[test]
fn a_small_fabric() {
    let text = "
        # Two switches, three NICs.
        switch left ports 4
        link left:3 right:0 class long   # stated ports
        link left right                  # the next free ones
        nic a left:0
        nic b right
        nic c left
    ";
    let topology = parse(text).unwrap();
    assert_eq!(
        (
            topology.n_switches(),
            topology.n_nics(),
            topology.n_cables()
        ),
        (2, 3, 5)
    );
    let (left, right) = (SwitchId(0), SwitchId(1));
    assert_eq!((topology.n_ports(left), topology.n_ports(right)), (4, 3));
    assert_eq!(topology.peer(left, Port(3)), Peer::Switch(right, Port(0)));
    assert_eq!(topology.peer(left, Port(1)), Peer::Switch(right, Port(1)));
    assert_eq!(topology.peer(left, Port(0)), Peer::Nic(NicId(0)));
    assert_eq!(topology.attachment(NicId(1)), (right, Port(2)));
    assert_eq!(topology.attachment(NicId(2)), (left, Port(2)));
    assert_eq!(topology.link_classes(), ["host", "long", "switch"]);
    assert_eq!(topology.link_class(left, Port(3)), 1);
    assert_eq!(
        (topology.switch_name(right), topology.nic_name(NicId(2))),
        ("right".into(), "c".into())
    );
    assert_eq!(parse(&write(&topology)).unwrap(), topology);
}

#[test]
fn all_mistakes_are_reported_with_their_lines() {
    let text = "\
switch a ports 2
swich b
link a:0 b:0
link a:0 c
link a b:x
link a a
nic n a:5
nic m b
nic m c
link a b
link a b
nic q a
link a";
    let mistakes = parse(text).unwrap_err();
    let lines: Vec<(usize, &str)> = mistakes.iter().map(|(l, m)| (*l, m.as_str())).collect();
    assert_eq!(
        lines,
        [
            (2, "unknown statement `swich`; did you mean `switch`?"),
            (4, "port 0 of `a` already has a cable"),
            (5, "expected a port number, found `x`"),
            (6, "`a` is linked to itself"),
            (7, "`a` has 2 ports, counted from 0; there is no port 5"),
            (
                9,
                "NIC `m` already has a cable, in line 8; a NIC has one port"
            ),
            (11, "`a` has no free port: all 2 have a cable"),
            (12, "`a` has no free port: all 2 have a cable"),
            (13, "expected `link A[:port] B[:port] [class NAME]`"),
        ]
    );
}

#[test]
fn separate_parts_are_a_mistake() {
    let mistakes = parse("link a b\nlink c d\nnic n c").unwrap_err();
    assert_eq!(
        mistakes,
        [
            (2, "no path between `a` and `c`".to_owned()),
            (2, "no path between `a` and `d`".to_owned()),
        ]
    );
    let only = |text: &str| parse(text).unwrap_err()[0].1.clone();
    assert_eq!(only(""), "there is no switch");
    assert_eq!(only("link a b"), "there is no NIC");
}

#[test]
fn a_generated_fabric_comes_back_without_its_structure() {
    let torus = Torus {
        sides: vec![3, 4, 1],
        hosts: 2,
        trunk: 2,
    }
    .build(0)
    .unwrap();
    let back = parse(&write(&torus)).unwrap();
    assert!(back.has_same_wiring(&torus));
    assert_eq!(back.link_classes(), ["host", "x", "y", "z"]);
    assert_eq!(back.structure(), &Structure::Plain);
}

#[test]
fn a_file_that_is_not_there() {
    let graph = Graph {
        file: Some(GraphFile::new("no/such/file".into())),
        text: None,
    };
    assert!(
        graph
            .build(0)
            .unwrap_err()
            .starts_with("cannot read the graph file no/such/file")
    );
}

//! Properties that every kind of topology must have. Tests of other crates with kinds of topologies
//! include this file.

use netloom_catalog::{Document, Kind, Notes, Section};
use netloom_topology::{Blueprint, Peer, Topology};
use netloom_units::SwitchId;

pub(crate) fn read(kind: &Kind<dyn Blueprint>, text: &str) -> Box<dyn Blueprint> {
    let mut notes = Notes::new();
    let document = Document::parse(kind.name, text, &mut notes);
    let mut section = Section::open(&document.root, &mut notes).expect("a file is a table");
    let blueprint = (kind.read)(&mut section);
    section.finish();
    assert!(notes.is_empty(), "{}: {notes:?}", kind.name);
    blueprint.expect("no notes, hence a value")
}

/// Checks the invariants of [`Topology`].
pub(crate) fn check(name: &str, topology: &Topology) {
    let mut attached = vec![0; topology.n_nics() as usize];
    let mut ends = 0;
    for switch in topology.switches() {
        assert!(
            topology.n_ports(switch) <= topology.radix(),
            "{name}: radix"
        );
        for port in topology.ports(switch) {
            let class = usize::from(topology.link_class(switch, port));
            assert!(
                class < topology.link_classes().len(),
                "{name}: class in range"
            );
            match topology.peer(switch, port) {
                Peer::Switch(other, there) => {
                    assert!(other.0 < topology.n_switches(), "{name}: switch in range");
                    assert!(there.0 < topology.n_ports(other), "{name}: port in range");
                    assert_ne!(other, switch, "{name}: no cable from a switch to itself");
                    let back = topology.peer(other, there);
                    assert_eq!(
                        back,
                        Peer::Switch(switch, port),
                        "{name}: cables are symmetric"
                    );
                    let classes = (class, usize::from(topology.link_class(other, there)));
                    assert_eq!(classes.0, classes.1, "{name}: one class at both ends");
                    ends += 1;
                }
                Peer::Nic(nic) => {
                    attached[nic.index()] += 1;
                    assert_eq!(topology.attachment(nic), (switch, port), "{name}: {nic}");
                    assert_eq!(class, 0, "{name}: host cables are of the first class");
                    ends += 2;
                }
                Peer::Unused => {}
            }
        }
    }
    assert!(
        attached.iter().all(|&n| n == 1),
        "{name}: every NIC is attached once"
    );
    assert_eq!(
        ends,
        2 * topology.n_cables(),
        "{name}: every cable is counted"
    );
    assert_eq!(topology.link_classes()[0], "host");
    let reach = topology.breadth_first(SwitchId(0)).len();
    assert_eq!(reach, topology.n_switches() as usize, "{name}: connected");
    check_partitions(name, topology);
    let text = netloom_topology::graph::write(topology);
    let back = netloom_topology::graph::parse(&text).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    assert!(
        back.has_same_wiring(topology),
        "{name}: written and read back\n{text}"
    );
}

fn check_partitions(name: &str, topology: &Topology) {
    let n_switches = topology.n_switches() as usize;
    for n in [1, 2, 3, 5, 7, 8, n_switches] {
        let parts = topology.partitions(n);
        assert_eq!(parts.len(), n_switches);
        let mut sizes = vec![0; n];
        parts.iter().for_each(|&p| sizes[usize::from(p)] += 1);
        let filled = sizes.iter().filter(|&&s| s > 0).count();
        assert_eq!(filled, n.min(n_switches), "{name} in {n}: {sizes:?}");
    }
}

/// Builds the example of a kind and checks it.
pub(crate) fn keeps_promises(kind: &Kind<dyn Blueprint>) {
    let blueprint = read(kind, kind.example);
    let topology = blueprint
        .build(7)
        .unwrap_or_else(|e| panic!("{}: {e}", kind.name));
    assert_eq!(
        blueprint.n_nics(),
        Some(u64::from(topology.n_nics())),
        "{}",
        kind.name
    );
    check(kind.name, &topology);
    assert_eq!(
        blueprint.build(7).unwrap(),
        topology,
        "{}: the same again",
        kind.name
    );
    let is_drawn = !blueprint.build(8).unwrap().has_same_wiring(&topology);
    assert_eq!(
        blueprint.is_random(),
        is_drawn,
        "{}: drawn or not",
        kind.name
    );
}

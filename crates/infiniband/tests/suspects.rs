//! Exactly the faults that are injected into a sound fabric are found.

#[path = "emulate/subnets.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod subnets;

use netloom_infiniband::routes::Names;
use netloom_infiniband::suspects::suspects;
use netloom_infiniband::{NodeId, Speed, Subnet, Width};
use subnets::{k_ary_n_tree, one_switch_per_speed, two_level};

fn found(subnet: &Subnet) -> Vec<String> {
    let names = Names::of(subnet);
    let found = suspects(subnet);
    found
        .iter()
        .map(|suspect| suspect.words(subnet, &names))
        .collect()
}

fn node(subnet: &Subnet, name: &str) -> usize {
    let mut nodes = subnet.nodes.iter();
    nodes.position(|node| node.description == name).unwrap()
}

/// Returns both ends of the cable at a port.
fn ends(subnet: &Subnet, name: &str, port: usize) -> [(usize, usize); 2] {
    let here = node(subnet, name);
    let cable = subnet.nodes[here].ports[port].cable.unwrap();
    [(here, port), (cable.node.index(), cable.port.into())]
}

fn pull(subnet: &mut Subnet, name: &str, port: usize) {
    for (node, port) in ends(subnet, name, port) {
        subnet.nodes[node].ports[port].cable = None;
    }
}

fn slow(subnet: &mut Subnet, name: &str, port: usize, speed: Speed, width: Width) {
    for (node, port) in ends(subnet, name, port) {
        let cable = subnet.nodes[node].ports[port].cable.as_mut().unwrap();
        (cable.speed, cable.width) = (Some(speed), Some(width));
    }
}

#[test]
fn sound_fabrics_have_no_suspects() {
    for subnet in [
        two_level(4, 3, 4),
        two_level(2, 2, 4),
        k_ary_n_tree(4, 3),
        one_switch_per_speed(),
    ] {
        assert_eq!(found(&subnet), [""; 0]);
    }
}

#[test]
fn every_pulled_cable_is_named_with_both_ends() {
    let mut subnet = two_level(8, 6, 4);
    pull(&mut subnet, "leaf3", 5);
    pull(&mut subnet, "leaf3", 6);
    pull(&mut subnet, "leaf7", 10);
    let expected = [
        "missing cable: leaf3:5 to spine0:4",
        "missing cable: leaf3:6 to spine1:4",
        "missing cable: leaf7:10 to spine5:8",
    ];
    assert_eq!(found(&subnet), expected);
}

/// In a tree of three levels, a switch has peers only in its own part, so cables of other parts are
/// not expected.
#[test]
fn every_cable_of_a_deep_tree_is_the_only_suspect_when_it_is_pulled() {
    let sound = k_ary_n_tree(4, 3);
    let switches = sound.nodes.iter().filter(|node| node.kind.is_switch());
    let mut n_pulled = 0;
    for switch in switches {
        for port in 5..=8 {
            if switch.ports[port].cable.is_none() {
                continue;
            }
            let mut subnet = sound.clone();
            let [_, (upper, at)] = ends(&subnet, &switch.description, port);
            let (lower, upper) = (&switch.description, &sound.nodes[upper].description);
            pull(&mut subnet, lower, port);
            assert_eq!(
                found(&subnet),
                [format!("missing cable: {lower}:{port} to {upper}:{at}")]
            );
            n_pulled += 1;
        }
    }
    assert_eq!(n_pulled, 128);
}

#[test]
fn a_switch_that_lacks_a_cable_which_no_other_lacks_is_named_alone() {
    let mut subnet = two_level(12, 6, 4);
    // The cable of leaf 0 ends at leaf 1, at a port that is free at its peers.
    let [(leaf, at), (spine, port)] = ends(&subnet, "leaf0", 5);
    let other = node(&subnet, "leaf1");
    let mut cable = subnet.nodes[leaf].ports[at].cable.take().unwrap();
    subnet.nodes[other].ports[11].cable = Some(cable);
    (cable.node, cable.port) = (NodeId(other as u32), 11);
    subnet.nodes[spine].ports[port].cable = Some(cable);
    let expected = "missing cables: leaf0 has 5 away from the hosts, most of its peers have 6";
    assert_eq!(found(&subnet), [expected]);
}

#[test]
fn narrow_and_slow_cables_are_named() {
    let mut subnet = two_level(8, 6, 4);
    let [one, _, four, ..] = Width::ALL;
    slow(&mut subnet, "leaf2", 7, Speed::Edr, four);
    slow(&mut subnet, "leaf5", 9, Speed::Hdr, one);
    slow(&mut subnet, "h9 mlx5_0", 1, Speed::Edr, four);
    // A host that is faster than others is not a fault.
    slow(&mut subnet, "h10 mlx5_0", 1, Speed::Ndr, four);
    let expected = [
        "narrow cable: leaf5:9 to spine4:6 is HDR x1, most are HDR x4",
        "slow cable: leaf2:2 to h9 mlx5_0:1 is EDR x4, most are HDR x4",
        "slow cable: leaf2:7 to spine2:3 is EDR x4, most are HDR x4",
    ];
    assert_eq!(found(&subnet), expected);
}

#[test]
fn hosts_of_one_name_and_of_none_are_named_with_their_switches() {
    let mut subnet = two_level(2, 2, 4);
    for (host, name) in [
        ("h1 mlx5_0", "localhost"),
        ("h2 mlx5_0", "localhost"),
        ("h5 mlx5_0", ""),
    ] {
        let at = node(&subnet, host);
        subnet.nodes[at].description = name.to_owned();
    }
    let expected = [
        "host without a name: 0x0002c90300100050 at leaf1:2",
        "2 hosts named \"localhost\": 0x0002c90300100010 at leaf0:2, 0x0002c90300100020 at leaf0:3",
    ];
    assert_eq!(found(&subnet), expected);
}

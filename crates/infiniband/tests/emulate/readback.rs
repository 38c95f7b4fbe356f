//! smpquery and the emulator return what OpenSM programmed.

use std::collections::BTreeSet;

use netloom_infiniband::emulate::{Attribute, Lanes, Method, Profile, Profiles};
use netloom_infiniband::{Lid, PortName, Subnet};

use crate::subnets::{k_ary_n_tree, two_level, with_enhanced_port_0};
use crate::tools::{Session, are_installed, check_port};

/// Different tables for hosts, switches and ports 0 of switches, with 15 lanes.
pub(crate) const CONF: &str = "\
qos TRUE
max_op_vls 5
qos_ca_high_limit 4
qos_ca_vlarb_high 3:64
qos_ca_vlarb_low 0:32,1:16,2:8,14:1
qos_ca_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
qos_swe_high_limit 200
qos_swe_vlarb_high 14:192,6:96,5:48,14:192
qos_swe_vlarb_low 0:255,1:128,2:64,3:32,4:16,5:8,6:4,7:2,8:1,9:3,10:5
qos_swe_sl2vl 14,13,12,11,10,9,8,7,6,5,4,3,2,1,0,15
qos_sw0_high_limit 2
qos_sw0_vlarb_high 1:5
qos_sw0_vlarb_low 0:9,1:10
qos_sw0_sl2vl 0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1
";

/// Returns the ports of the first and last host, and the ports with a cable of the first and last
/// switch.
fn some_ports(subnet: &Subnet) -> Vec<(Lid, PortName, Vec<u8>)> {
    let hosts = || subnet.nodes.iter().filter(|n| !n.kind.is_switch());
    let switches = || subnet.nodes.iter().filter(|n| n.kind.is_switch());
    let ends = [
        hosts().next(),
        hosts().next_back(),
        switches().next(),
        switches().next_back(),
    ];
    let mut ports = Vec::new();
    for node in ends.into_iter().flatten() {
        let own = if node.kind.is_switch() { 0 } else { 1 };
        let lid = node.ports[own].lid.expect("a manager was here");
        let inputs: Vec<u8> = match node.kind.is_switch() {
            true => (0..node.ports.len() as u8).collect(),
            false => vec![0],
        };
        for (number, port) in (0..).zip(&node.ports) {
            if port.cable.is_some() {
                let name = PortName {
                    node: node.guid,
                    port: number,
                };
                ports.push((lid, name, inputs.clone()));
            }
        }
    }
    ports
}

/// Configures a subnet and checks the tables of some ports.
fn check(subnet: &Subnet, profiles: &Profiles) -> Option<Session> {
    if !are_installed() {
        return None;
    }
    let session = Session::start(subnet, profiles);
    session.configure(CONF, &[]);
    let addressed = session.emulator.subnet();
    for (Lid(lid), name, inputs) in some_ports(&addressed) {
        check_port(&session, lid, name, &inputs);
    }
    Some(session)
}

#[test]
fn eight_hosts_read_back() {
    let subnet = two_level(2, 2, 4);
    let Some(session) = check(&subnet, &Profiles::default()) else {
        return;
    };
    let programmed = session.emulator.programmed();
    let leaf = subnet.nodes.iter().find(|n| n.kind.is_switch()).unwrap();
    let output = PortName {
        node: leaf.guid,
        port: 5,
    };
    let lanes = programmed.lanes[&output];
    assert_eq!(
        (lanes.cap, lanes.operational, lanes.high_limit),
        (Some(15), Some(15), Some(200))
    );
    let low: Vec<u8> = programmed.arbitration[&output]
        .low
        .iter()
        .map(|e| e.weight)
        .collect();
    assert_eq!(low[..11], [255, 128, 64, 32, 16, 8, 4, 2, 1, 3, 5]);
    let counters = session.emulator.counters();
    assert!(counters.n_answered_of(Attribute::VlArbitration, Method::Set) > 0);
    assert_eq!((counters.malformed, counters.lost), (0, 0));
}

#[test]
fn sixty_four_hosts_read_back() {
    check(&k_ary_n_tree(4, 3), &Profiles::default());
}

#[test]
fn small_tables_and_few_lanes_read_back() {
    let profile = Profile {
        lanes: Lanes::Eight,
        lanes_at_start: Lanes::Eight,
        high_cap: 8,
        low_cap: 16,
        ..Profile::default()
    };
    check(&two_level(2, 2, 4), &Profiles::all(profile));
}

#[test]
fn enhanced_ports_0_have_tables() {
    let subnet = with_enhanced_port_0(two_level(2, 2, 4));
    let Some(session) = check(&subnet, &Profiles::default()) else {
        return;
    };
    let programmed = session.emulator.programmed();
    let switch = subnet.nodes.iter().find(|n| n.kind.is_switch()).unwrap();
    let own = PortName {
        node: switch.guid,
        port: 0,
    };
    let low: Vec<u8> = programmed.arbitration[&own]
        .low
        .iter()
        .map(|e| e.weight)
        .collect();
    assert_eq!(low[..3], [9, 10, 0]);
}

#[test]
fn a_manager_gives_every_port_an_address_and_every_switch_a_way_to_it() {
    if !are_installed() {
        return;
    }
    let session = Session::start(&k_ary_n_tree(4, 3), &Profiles::default());
    session.configure("", &["--lmc", "1"]);
    let subnet = session.emulator.subnet();
    let programmed = session.emulator.programmed();
    let mut lids = BTreeSet::new();
    for node in subnet.nodes.iter().filter(|n| !n.kind.is_switch()) {
        let port = node.ports[1];
        assert_eq!(port.lmc, 1);
        let Lid(first) = port.lid.expect("an address");
        assert!(lids.insert(first) && lids.insert(first + 1));
    }
    assert_eq!(programmed.forwarding.len(), 48);
    for table in programmed.forwarding.values() {
        let reached: BTreeSet<u16> = table.entries().map(|(Lid(lid), _)| lid).collect();
        assert!(lids.is_subset(&reached));
    }
}

#[test]
fn a_manager_keeps_the_addresses_that_it_finds() {
    if !are_installed() {
        return;
    }
    let mut subnet = two_level(2, 2, 4);
    for (lid, node) in (100..).zip(&mut subnet.nodes) {
        let own = if node.kind.is_switch() { 0 } else { 1 };
        node.ports[own].lid = Some(Lid(lid));
    }
    let session = Session::start(&subnet, &Profiles::default());
    session.configure("", &[]);
    assert_eq!(session.emulator.subnet(), subnet);
}

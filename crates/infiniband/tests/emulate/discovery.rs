//! ibnetdiscover lists the emulated subnet.

use std::collections::BTreeSet;

use netloom_infiniband::emulate::{Attribute, Method, Profiles};
use netloom_infiniband::{Device, Guid, Speed, Subnet};

use crate::subnets::{k_ary_n_tree, one_switch_per_speed, two_level};
use crate::tools::{Session, are_installed};

/// Both ends of a cable, and the name of its speed in ibnetdiscover.
type HalfLink = ((Guid, u8), (Guid, u8), String);

/// Returns the name of a speed in the tool. FDR10 is a vendor attribute, and the tool is older than
/// XDR.
fn word_of(speed: Speed) -> String {
    let shown = match speed {
        Speed::Fdr10 => Speed::Qdr,
        Speed::Xdr => Speed::Ndr,
        other => other,
    };
    format!("4x{shown}")
}

fn half_links(subnet: &Subnet) -> BTreeSet<HalfLink> {
    let mut links = BTreeSet::new();
    for node in &subnet.nodes {
        for (number, port) in (0..).zip(&node.ports) {
            if let Some(cable) = port.cable {
                let there = (subnet.nodes[cable.node.index()].guid, cable.port);
                let speed = word_of(cable.speed.expect("built with one"));
                links.insert(((node.guid, number), there, speed));
            }
        }
    }
    links
}

/// Parses the links of a listing.
fn listed(text: &str) -> (BTreeSet<Guid>, BTreeSet<HalfLink>) {
    let guid = |id: &str| Guid(u64::from_str_radix(id, 16).expect("16 digits"));
    let (mut nodes, mut links) = (BTreeSet::new(), BTreeSet::new());
    let mut here = Guid(0);
    for line in text.lines() {
        if let Some((_, rest)) = line
            .split_once(" \"")
            .filter(|_| line.starts_with("Switch") || line.starts_with("Ca"))
        {
            here = guid(&rest[2..18]);
            nodes.insert(here);
        } else if let Some(rest) = line.strip_prefix('[') {
            let (number, rest) = rest.split_once(']').expect("a port");
            let (_, rest) = rest.split_once('"').expect("an id");
            let (port, _) = rest[20..].split_once(']').expect("a port");
            let speed = rest.split_whitespace().last().expect("a speed");
            let there = (guid(&rest[2..18]), port.parse().expect("a number"));
            links.insert((
                (here, number.parse().expect("a number")),
                there,
                speed.to_owned(),
            ));
        }
    }
    (nodes, links)
}

fn check(subnet: &Subnet) {
    if !are_installed() {
        return;
    }
    let session = Session::start(subnet, &Profiles::default());
    session.configure("", &[]);
    let (nodes, links) = listed(&session.run("ibnetdiscover", &[]));
    assert_eq!(nodes, subnet.nodes.iter().map(|n| n.guid).collect());
    assert_eq!(links, half_links(subnet));
}

#[test]
fn eight_hosts_are_discovered() {
    check(&two_level(2, 2, 4));
}

#[test]
fn sixty_four_hosts_are_discovered() {
    check(&k_ary_n_tree(4, 3));
}

#[test]
fn every_speed_is_discovered() {
    check(&one_switch_per_speed());
}

/// Tools query devices of this vendor for their own PortInfo, which distinguishes FDR10 from QDR.
#[test]
fn fdr10_is_discovered_at_devices_of_its_vendor() {
    if !are_installed() {
        return;
    }
    let mut subnet = one_switch_per_speed();
    for node in &mut subnet.nodes {
        let device = if node.kind.is_switch() {
            0xc738
        } else {
            0x1003
        };
        let vendor = 0x2c9;
        node.device = Some(Device { vendor, device });
    }
    let session = Session::start(&subnet, &Profiles::default());
    // The log must not have errors.
    session.configure("", &[]);
    let asked = session.emulator.counters();
    assert!(asked.n_answered_of(Attribute::ExtendedPortInfo, Method::Get) > 0);
    let (_, links) = listed(&session.run("ibnetdiscover", &[]));
    let with = |word: &str| links.iter().filter(|(.., speed)| speed == word).count();
    // Two hosts and the cable to the switch before, at both ends.
    assert_eq!((with("4xFDR10"), with("4xQDR")), (6, 6));
}

#[test]
fn a_link_that_is_turned_off_is_gone_until_it_is_turned_on() {
    if !are_installed() {
        return;
    }
    let subnet = two_level(2, 2, 4);
    let session = Session::start(&subnet, &Profiles::default());
    session.configure("", &[]);
    let addressed = session.emulator.subnet();
    let spine = addressed.nodes.iter().find(|n| n.description == "spine1");
    let lid = spine.unwrap().ports[0].lid.unwrap().0.to_string();
    let links = || listed(&session.run("ibnetdiscover", &[])).1.len();
    let before = links();
    session.run("ibportstate", &[&lid, "2", "disable"]);
    assert_eq!(links(), before - 2);
    session.run("ibportstate", &[&lid, "2", "enable"]);
    assert_eq!(links(), before);
}

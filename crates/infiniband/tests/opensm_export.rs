//! A real OpenSM loads the exported files and programs what was planned.

#![cfg(target_os = "linux")]

mod simulated_fabric;

use std::collections::BTreeMap;
use std::fs;

use netloom_arbitration::Entry;
use netloom_infiniband::opensm::export::{
    PathEnd, PolicyGroup, TorusDimension, TorusSeed, guid_list, ibsim_net, opensm_conf, qos_policy,
    torus_2qos_conf,
};
use netloom_infiniband::opensm::verify::{Part, Rules, verify};
use netloom_infiniband::opensm::{Conf, Fabric, Policy, PortTables, Subject, Tables, lint};
use netloom_infiniband::{
    Cable, Device, ForwardingTable, Guid, Lid, Node, NodeId, NodeKind, PortLanes, PortName,
    Programmed, SlToVl, Speed, Subnet, SubnetPort, VlArbitration, Width, writing,
};
use netloom_units::Vl;
use simulated_fabric::{SimulatedFabric, read_sl2vl, read_vlarb, without_tools};

const WIDTH: Width = Width::ALL[2];

fn node(kind: NodeKind, guid: u64, description: String, n_ports: usize) -> Node {
    let mut ports = vec![SubnetPort::default(); n_ports + 1];
    match kind.is_switch() {
        true => ports[0].guid = Some(Guid(guid)),
        false => ports[1].guid = Some(Guid(guid + 1)),
    }
    Node {
        kind,
        guid: Guid(guid),
        system_guid: None,
        device: Some(Device {
            vendor: 0x2c9,
            device: 0xd2f0,
        }),
        description,
        ports,
    }
}

fn connect(subnet: &mut Subnet, one: (usize, u8), other: (usize, u8), speed: Speed) {
    for ((node, port), (there, their_port)) in [(one, other), (other, one)] {
        subnet.nodes[node].ports[usize::from(port)].cable = Some(Cable {
            node: NodeId(there as u32),
            port: their_port,
            width: Some(WIDTH),
            speed: Some(speed),
        });
    }
}

/// Hosts with spaces in their names, and switches.
fn hosts(n: usize) -> Vec<Node> {
    (0..n)
        .map(|n| {
            let name = format!("node{n:03} mlx5_0");
            node(
                NodeKind::ChannelAdapter,
                0x9803_9b03_0010_0000 + n as u64 * 16,
                name,
                1,
            )
        })
        .collect()
}

fn switch(n: u64, enhanced_port_0: bool, n_ports: usize) -> Node {
    let kind = NodeKind::Switch { enhanced_port_0 };
    node(
        kind,
        0xb859_9f03_0020_0000 + n * 64,
        format!("MF0;switch{n}:MQM8700/U1"),
        n_ports,
    )
}

/// Four hosts at two leaves under one spine. Port 0 of the spine is enhanced.
fn tree() -> Subnet {
    let mut nodes = hosts(4);
    nodes.extend([switch(0, false, 4), switch(1, false, 4), switch(2, true, 3)]);
    let mut subnet = Subnet { nodes };
    for host in 0..4 {
        let at = (4 + host / 2, (host % 2) as u8 + 1);
        connect(&mut subnet, (host, 1), at, Speed::Ndr);
    }
    connect(&mut subnet, (4, 3), (6, 1), Speed::Ndr);
    connect(&mut subnet, (5, 3), (6, 2), Speed::Hdr);
    subnet
}

/// Switches in a ring of rings, with a host each: ports 1 and 2 along x, 3 and 4 along y, 5 to the
/// host.
fn torus(width: usize, height: usize) -> Subnet {
    let n = width * height;
    let mut nodes = hosts(n);
    nodes.extend((0..n as u64).map(|n| switch(n, false, 5)));
    let mut subnet = Subnet { nodes };
    for y in 0..height {
        for x in 0..width {
            let at = |x: usize, y: usize| n + (y % height) * width + x % width;
            if width > 1 {
                connect(&mut subnet, (at(x, y), 1), (at(x + 1, y), 2), Speed::Edr);
            }
            if height > 1 {
                connect(&mut subnet, (at(x, y), 3), (at(x, y + 1), 4), Speed::Edr);
            }
            connect(&mut subnet, (at(x, y), 5), (y * width + x, 1), Speed::Edr);
        }
    }
    subnet
}

fn entries(list: &[(u8, u8)]) -> Vec<Entry> {
    let made = list
        .iter()
        .map(|&(vl, weight)| Entry { vl: Vl(vl), weight });
    made.collect()
}

/// Different tables for each kind of port.
fn tables() -> Tables {
    let tables = |low: &[(u8, u8)], high: &[(u8, u8)], n_lanes: u8| PortTables {
        low: entries(low),
        high: entries(high),
        high_limit: 8,
        sl_to_vl: SlToVl(std::array::from_fn(|sl| {
            Vl(if sl < n_lanes.into() { sl as u8 } else { 0 })
        })),
    };
    let switches = [(0, 128), (1, 64), (2, 192), (0, 128), (3, 255)];
    Tables {
        channel_adapter: Some(tables(&[(0, 64), (1, 64)], &[(1, 64)], 2)),
        switch_port_0: Some(tables(&[(0, 64), (1, 64), (2, 64), (3, 64)], &[], 4)),
        ..Tables::everywhere(4, tables(&switches, &[(3, 64)], 4))
    }
}

/// Returns everything that is programmed in the ports of a subnet.
fn read_back(fabric: &SimulatedFabric, subnet: &Subnet) -> Programmed {
    let lids = fabric.lids();
    let mut programmed = Programmed::default();
    for node in &subnet.nodes {
        let (first, guid) = match node.kind.is_switch() {
            true => (0, node.guid.0),
            false => (1, node.guid.0 + 1),
        };
        for number in first..node.ports.len() as u8 {
            let port = PortName {
                node: node.guid,
                port: number,
            };
            let (lid, number) = (lids[&guid].to_string(), number.to_string());
            let Some([low, high]) = read_vlarb(&fabric.ask("smpquery", &["vlarb", &lid, &number]))
            else {
                continue;
            };
            let arbitration = VlArbitration {
                low_cap: 8,
                high_cap: 8,
                low: entries(&low),
                high: entries(&high),
            };
            programmed.arbitration.insert(port, arbitration);
            for (input, row) in read_sl2vl(&fabric.ask("smpquery", &["sl2vl", &lid, &number])) {
                programmed
                    .sl_to_vl
                    .insert((port, input), SlToVl(row.map(Vl)));
            }
            let lanes = PortLanes {
                high_limit: Some(0),
                ..PortLanes::default()
            };
            programmed.lanes.insert(port, lanes);
        }
    }
    programmed
}

#[test]
fn exported_tables_are_programmed_as_planned() {
    if without_tools() {
        return;
    }
    let (subnet, tables) = (tree(), tables());
    let conf = opensm_conf(&tables).unwrap();
    let report = lint(&Subject::of(&Conf::read(&conf, 0)));
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    let mut fabric = SimulatedFabric::start(&ibsim_net(&subnet));
    let log = fabric.configure(&conf, &[]);
    for word in ["Warning", "Invalid", "Unrecognized"] {
        assert!(!log.contains(word), "{log}");
    }
    let programmed = read_back(&fabric, &subnet);
    let of_ibsim = Rules {
        limits_read_as_zero: true,
    };
    let verified = verify(&tables, &subnet, &programmed, of_ibsim);
    assert_eq!(verified.differences, []);
    assert_eq!(
        (verified.ports_compared, verified.ports_identical),
        (13, 13)
    );
    assert_eq!(
        (verified.ports_without_tables, verified.ports_without_cable),
        (2, 3)
    );
    let verified = verify(&tables, &subnet, &programmed, Rules::default());
    assert_eq!(verified.differences.len(), 13);
    assert!(
        verified
            .differences
            .iter()
            .all(|found| found.part == Part::HighLimit)
    );
    let other = Tables {
        channel_adapter: None,
        ..tables
    };
    let verified = verify(&other, &subnet, &programmed, of_ibsim);
    assert_eq!(
        verified.differences.len(),
        4 * 3,
        "low, high and lanes of each host"
    );
}

/// Reads the forwarding tables of opensm-lfts.dump.
fn read_lfts(text: &str) -> BTreeMap<Guid, ForwardingTable> {
    let mut tables: BTreeMap<Guid, ForwardingTable> = BTreeMap::new();
    let mut guid = Guid(0);
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once(" guid 0x") {
            guid = Guid(u64::from_str_radix(&rest[..16], 16).unwrap());
        } else if let Some(row) = line.strip_prefix("0x") {
            let lid = Lid(u16::from_str_radix(&row[..4], 16).unwrap());
            let output = row[5..8].parse().unwrap();
            tables.entry(guid).or_default().set(lid, Some(output));
        }
    }
    tables
}

#[test]
fn exported_routes_are_loaded_as_they_are() {
    if without_tools() {
        return;
    }
    let mut subnet = tree();
    let mut first = SimulatedFabric::start(&ibsim_net(&subnet));
    first.configure("qos FALSE\n", &["-R", "minhop"]);
    let dump = |fabric: &SimulatedFabric| {
        fs::read_to_string(fabric.folder.join("opensm-lfts.dump")).unwrap()
    };
    let mut tables = read_lfts(&dump(&first));
    assert_eq!(tables.len(), 3);
    for node in &mut subnet.nodes {
        let at = usize::from(!node.kind.is_switch());
        let port = &mut node.ports[at];
        port.lid = port.guid.map(|guid| Lid(first.lids()[&guid.0]));
    }
    // No engine makes this route: the spine sends the packets of one host to the wrong leaf.
    let host = subnet.nodes[0].ports[1].lid.unwrap();
    let spine = subnet.nodes[6].guid;
    tables.get_mut(&spine).unwrap().set(host, Some(2));
    let programmed = Programmed {
        forwarding: tables.clone(),
        ..Programmed::default()
    };
    let text = writing::forwarding(&subnet, &programmed);
    assert_eq!(read_lfts(&text), tables);
    let unchanged = text
        .lines()
        .filter(|line| dump(&first).contains(*line))
        .count();
    assert!(
        unchanged + 1 >= text.lines().count(),
        "the form is OpenSM's own:\n{text}"
    );

    let mut second = SimulatedFabric::start(&ibsim_net(&subnet));
    fs::write(second.folder.join("our.lfts"), &text).unwrap();
    let path = second.folder.join("our.lfts");
    second.configure("qos FALSE\n", &["-R", "file", "-U", path.to_str().unwrap()]);
    assert_eq!(read_lfts(&dump(&second)), tables);
}

#[test]
fn an_exported_policy_gives_paths_their_level() {
    if without_tools() {
        return;
    }
    let subnet = tree();
    let port = |n: usize| subnet.nodes[n].ports[1].guid.unwrap();
    let group = PolicyGroup {
        name: "storage".to_owned(),
        ports: vec![port(3)],
        sl: 5,
        end: PathEnd::Either,
    };
    let mut fabric = SimulatedFabric::start(&ibsim_net(&subnet));
    let path = fabric.folder.join("qos-policy.conf");
    fs::write(&path, qos_policy(&[group], 2)).unwrap();
    let conf = format!("qos TRUE\nqos_policy_file {}\n", path.display());
    fabric.configure_and_stay(&conf, &[]);
    assert!(!fabric.log().contains("ERR AC"), "{}", fabric.log());
    assert_eq!(level(&fabric, port(0), port(1)), "0x2");
    assert_eq!(level(&fabric, port(0), port(3)), "0x5");
    assert_eq!(level(&fabric, port(3), port(0)), "0x5");
}

/// Returns the service level that OpenSM gives to a path.
fn level(fabric: &SimulatedFabric, from: Guid, to: Guid) -> String {
    let lids = fabric.lids();
    let pair = format!("{}:{}", lids[&from.0], lids[&to.0]);
    let answer = fabric.ask("saquery", &["PR", "--src-to-dst", &pair]);
    let mut lines = answer.lines();
    let line = lines.find_map(|line| line.trim().strip_prefix("sl."));
    line.expect("a level").trim_matches('.').to_owned()
}

#[test]
fn a_port_name_with_a_space_matches_only_in_quotes() {
    if without_tools() {
        return;
    }
    let subnet = tree();
    let port = |n: usize| subnet.nodes[n].ports[1].guid.unwrap();
    let group = PolicyGroup {
        name: "one".to_owned(),
        ports: vec![port(0)],
        sl: 5,
        end: PathEnd::Source,
    };
    let by_guid = qos_policy(&[group], 2);
    let guid = format!("port-guid: {}", port(0));
    for (line, expected, findings) in [
        ("port-name: node000 mlx5_0/P1", "0x2", vec!["E1167"]),
        ("port-name: \"node000 mlx5_0/P1\"", "0x5", vec![]),
    ] {
        let text = by_guid.replace(&guid, line);
        let mut fabric = SimulatedFabric::start(&ibsim_net(&subnet));
        let path = fabric.folder.join("qos-policy.conf");
        fs::write(&path, &text).unwrap();
        let conf = format!("qos TRUE\nqos_policy_file {}\n", path.display());
        fabric.configure_and_stay(&conf, &[]);
        assert!(
            !fabric.log().contains("ERR AC"),
            "OpenSM says nothing of it"
        );
        assert_eq!(level(&fabric, port(0), port(1)), expected, "{line}");
        let policy = Policy::read(&text, 1);
        let conf = Conf::read(include_str!("opensm/lint/clean_low_only.conf"), 0);
        let report = lint(&Subject {
            policy: Some(&policy),
            fabric: Some(Fabric {
                subnet: &subnet,
                lanes: &BTreeMap::new(),
            }),
            ..Subject::of(&conf)
        });
        let codes: Vec<&str> = report.findings.iter().map(|note| note.code).collect();
        assert_eq!(codes, findings, "{line}");
    }
}

#[test]
fn an_exported_torus_is_routed_by_torus_2qos() {
    if without_tools() {
        return;
    }
    let subnet = torus(3, 3);
    let guid = |n: usize| subnet.nodes[9 + n].guid;
    let seed = TorusSeed {
        switch: guid(0),
        next: [Some(guid(1)), Some(guid(3)), None],
        previous: [None, None, None],
    };
    let ring = |radix| TorusDimension {
        radix,
        is_ring: radix > 1,
    };
    let text = torus_2qos_conf([ring(3), ring(3), ring(1)], &[seed]);
    let mut fabric = SimulatedFabric::start(&ibsim_net(&subnet));
    let path = fabric.folder.join("torus.conf");
    fs::write(&path, text).unwrap();
    let tables = include_str!("opensm/lint/clean_torus.conf");
    fabric.configure(tables, &["--torus_config", path.to_str().unwrap()]);
    assert!(
        fabric.log().contains("torus-2QoS tables configured"),
        "{}",
        fabric.log()
    );
    let conf = Conf::read(tables, 0);
    let log = fabric.log();
    let report = lint(&Subject {
        log: Some((&log, 2)),
        ..Subject::of(&conf)
    });
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
}

#[test]
fn exported_roots_are_taken_by_updn() {
    if without_tools() {
        return;
    }
    let subnet = tree();
    let mut fabric = SimulatedFabric::start(&ibsim_net(&subnet));
    let path = fabric.folder.join("roots");
    fs::write(&path, guid_list([subnet.nodes[6].guid])).unwrap();
    fabric.configure("qos FALSE\n", &["-R", "updn", "-a", path.to_str().unwrap()]);
    assert!(
        fabric.log().contains("updn tables configured"),
        "{}",
        fabric.log()
    );
}

#[test]
fn a_silent_fallback_and_a_refused_policy_are_found_in_a_real_log() {
    if without_tools() {
        return;
    }
    let mut fabric = SimulatedFabric::start(&ibsim_net(&torus(5, 1)));
    let path = fabric.folder.join("policy");
    fs::write(&path, "qos-ulps\nany, pkey 0x1 : 1\nend-qos-ulps\n").unwrap();
    let text = format!(
        "routing_engine ftree\n{}qos_policy_file {}\n",
        include_str!("opensm/lint/clean_two_lanes.conf"),
        path.display()
    );
    fabric.configure(&text, &[]);
    let (conf, log) = (Conf::read(&text, 0), fabric.log());
    let report = lint(&Subject {
        log: Some((&log, 2)),
        ..Subject::of(&conf)
    });
    let codes: Vec<&str> = report.findings.iter().map(|note| note.code).collect();
    assert_eq!(codes, ["E1170", "E1171"], "{log}");
}

#[test]
fn nets_say_what_ibsim_cannot_carry() {
    let mut subnet = tree();
    subnet.nodes[4].description = "x".repeat(500);
    let net = ibsim_net(&subnet);
    assert!(
        net.starts_with("# 10 ends of links are faster than HDR"),
        "{net}"
    );
    assert!(!net.contains("NDR"));
    assert!(net.lines().all(|line| line.len() < 256));
}

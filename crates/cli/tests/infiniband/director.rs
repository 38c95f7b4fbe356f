//! A realistic director switch: leaves, spines, an aggregation node (SHARP) at each, and some
//! faults.

use std::fmt::Write as _;

use super::place::Place;
use super::{configure, import_from, readback, without_tools};

/// Six leaves with four hosts each under four spines.
const LEAVES: usize = 6;
const SPINES: usize = 4;
const HOSTS: usize = 4;
/// The port of the aggregation node at each switch.
const LAST: usize = HOSTS + SPINES + 1;

struct Node {
    kind: char,
    guid: u64,
    name: String,
    ports: Vec<Option<(usize, usize, &'static str)>>,
}

fn node(kind: char, guid: u64, name: String, n_ports: usize) -> Node {
    Node {
        kind,
        guid,
        name,
        ports: vec![None; n_ports + 1],
    }
}

fn connect(nodes: &mut [Node], a: (usize, usize), b: (usize, usize), rate: &'static str) {
    nodes[a.0].ports[a.1] = Some((b.0, b.1, rate));
    nodes[b.0].ports[b.1] = Some((a.0, a.1, rate));
}

/// The output of ibnetdiscover before a subnet manager runs. Two cables are missing, one runs on
/// one lane, and two hosts share a name.
fn listing() -> String {
    let switch = |letter: &str, n: usize, guid: u64| {
        node(
            'S',
            guid + n as u64 * 0x40,
            format!("dir1/{letter}{n}"),
            LAST,
        )
    };
    let leaves = (0..LEAVES).map(|n| switch("L", n, 0xb859_9f03_00a0_0000));
    let spines = (0..SPINES).map(|n| switch("S", n, 0xb859_9f03_00b0_0000));
    let mut nodes: Vec<Node> = leaves.chain(spines).collect();
    for leaf in 0..LEAVES {
        for spine in 0..SPINES {
            let rate = if (leaf, spine) == (5, 3) {
                "1xHDR"
            } else {
                "4xHDR"
            };
            if !matches!((leaf, spine), (1, 2) | (4, 0)) {
                let (at_leaf, at_spine) = ((leaf, HOSTS + spine + 1), (LEAVES + spine, leaf + 1));
                connect(&mut nodes, at_leaf, at_spine, rate);
            }
        }
        for port in 1..=HOSTS {
            let n = nodes.len() - LEAVES - SPINES;
            let name = match n {
                5 | 6 => "localhost.localdomain mlx5_0".to_owned(),
                n => format!("node{n:04} mlx5_0"),
            };
            let guid = 0x9803_9b03_0010_0000 + n as u64 * 0x10;
            nodes.push(node('H', guid, name, 1));
            let host = nodes.len() - 1;
            connect(&mut nodes, (leaf, port), (host, 1), "4xHDR");
        }
    }
    for switch in 0..LEAVES + SPINES {
        let name = "Mellanox Technologies Aggregation Node".to_owned();
        let guid = nodes[switch].guid + 8;
        nodes.push(node('H', guid, name, 1));
        let own = nodes.len() - 1;
        connect(&mut nodes, (switch, LAST), (own, 1), "4xHDR");
    }
    written(&nodes)
}

/// The spines, which OpenSM takes for leaves because of their aggregation nodes.
fn roots() -> String {
    let guids = (0..SPINES).map(|n| 0xb859_9f03_00b0_0000 + n as u64 * 0x40);
    guids.map(|guid| format!("0x{guid:x}\n")).collect()
}

fn written(nodes: &[Node]) -> String {
    let mut text = String::new();
    // Programs attach at the first channel adapter: hosts precede aggregation nodes and switches.
    let mut order: Vec<&Node> = nodes.iter().collect();
    order.sort_by_key(|node| node.kind);
    for node in order {
        let Node {
            kind,
            guid,
            name,
            ports,
        } = node;
        let n_ports = ports.len() - 1;
        let _ = match kind {
            'S' => write!(
                text,
                "vendid=0x2c9\ndevid=0xd2f0\nswitchguid=0x{guid:x}({guid:x})\n\
                 Switch\t{n_ports} \"S-{guid:016x}\"\t\t# \"{name}\" base port 0 lid 0 lmc 0\n"
            ),
            _ => write!(
                text,
                "vendid=0x2c9\ndevid=0x101b\ncaguid=0x{guid:x}\n\
                 Ca\t{n_ports} \"H-{guid:016x}\"\t\t# \"{name}\"\n"
            ),
        };
        for (number, cable) in ports.iter().enumerate() {
            let Some((there, port, rate)) = cable else {
                continue;
            };
            let there = &nodes[*there];
            let (own, lid) = match kind {
                'S' => (String::new(), ""),
                _ => (format!("({:x}) ", guid + 1), "lid 0 lmc 0 "),
            };
            let peer = match there.kind {
                'S' => String::new(),
                _ => format!("({:x}) ", there.guid + 1),
            };
            let _ = writeln!(
                text,
                "[{number}]{own}\t\"{}-{:016x}\"[{port}]{peer}\t\t# {lid}\"{}\" lid 0 {rate}",
                there.kind, there.guid, there.name
            );
        }
        text.push('\n');
    }
    text
}

#[test]
fn a_director_is_imported_with_its_faults_and_its_hosts_routes_are_judged_alone() {
    if without_tools() {
        return;
    }
    let place = Place::new("infiniband-director");
    place
        .file("fabric.net", &listing())
        .file("before.conf", "qos FALSE\n")
        .file("roots.conf", &roots());
    configure(
        &place,
        "fabric.net",
        "before.conf",
        "before",
        &[],
        &["-R", "updn", "-a", "roots.conf"],
    );
    // OpenSM queries the vendor-specific PortInfo of these devices.
    let log = place.read("osm.log");
    let errors: Vec<&str> = log.lines().filter(|line| line.contains(" ERR ")).collect();
    assert_eq!(errors, [""; 0]);

    let mut import = vec!["site".to_owned(), "import".to_owned()];
    import.extend(readback("before"));
    import.extend(["-o".to_owned(), "site".to_owned()]);
    let import: Vec<&str> = import.iter().map(String::as_str).collect();
    let stdout = place.run(&import).with(0).stdout;
    for expected in [
        "left out                 10 aggregation nodes (SHARP)\n",
        "suspected faults\n",
        "missing cable: dir1/L1:7 to dir1/S2:2\n",
        "missing cable: dir1/L4:5 to dir1/S0:5\n",
        "narrow cable: dir1/L5:8 to dir1/S3:6 is HDR x1, most are HDR x4\n",
        "2 hosts named \"localhost.localdomain mlx5_0\": 0x98039b0300100050 at dir1/L1:2, ",
    ] {
        assert!(stdout.contains(expected), "{expected}\n{stdout}");
    }
    assert_eq!(stdout.matches("missing cable").count(), 2, "{stdout}");
    assert_eq!(stdout.matches("Aggregation Node").count(), 0, "{stdout}");

    // All hosts are reachable. No up-down path leads from the aggregation node of a spine to that
    // of another (12 routes), nor to a leaf without a cable to the spine (4 hosts and a node, 2
    // cables, both directions).
    let sound = place
        .run(&["show", "routing", "site/site.toml"])
        .with(0)
        .stdout;
    for expected in [
        "552 routes between 24 ports with 24 addresses: 552 arrive, 0 do not\n",
        "with 10 aggregation nodes (SHARP):\n1122 routes between 34 ports with 34 addresses: 1090 \
         arrive, 32 do not\n",
    ] {
        assert!(sound.contains(expected), "{expected}\n{sound}");
    }
    place.run(&["check", "site/site.toml"]).with(0);
    // A missing route between hosts is an error.
    let tables = place.read("before/opensm-lfts.dump");
    let host = tables
        .lines()
        .find(|line| line.contains("node0000"))
        .unwrap();
    let row = &host[..7];
    let remaining = tables.lines().filter(|line| !line.starts_with(row));
    let remaining: String = remaining.map(|line| format!("{line}\n")).collect();
    place.file("before/opensm-lfts.dump", &remaining);
    std::fs::remove_dir_all(place.0.join("site")).unwrap();
    import_from(&place, "before");
    let broken = place
        .run(&["show", "routing", "site/site.toml"])
        .with(4)
        .stdout;
    assert!(broken.contains("529 arrive, 23 do not\n"), "{broken}");
}

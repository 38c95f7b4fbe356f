//! A real OpenSM programs the ports of a simulated fabric as `program` predicts.

#![cfg(target_os = "linux")]

mod simulated_fabric;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use netloom_infiniband::opensm::{Conf, PortCapabilities, PortKind, Program, Sweep, program};
use simulated_fabric::{SimulatedFabric, field, lanes, read_sl2vl, read_vlarb, without_tools};

/// Eight hosts at two leaves, two spines; the last port of every switch has no cable.
struct Tree {
    has_enhanced_port_0: bool,
}

#[derive(Clone, Copy)]
struct TreePort {
    /// The GUID that has its LID.
    guid: u64,
    port: u8,
    kind: PortKind,
    has_cable: bool,
}

const HOSTS: u64 = 8;
const N_LEAF_PORTS: u8 = 7;
const N_SPINE_PORTS: u8 = 3;
const FIRST_HOST_PORT: u64 = 0x10_0001;
const FIRST_SWITCH: u64 = 0x20_0000;

impl Tree {
    fn net(&self) -> String {
        let port_0 = match self.has_enhanced_port_0 {
            true => "enhanced",
            false => "base",
        };
        let mut net = String::new();
        for host in 0..HOSTS {
            let (leaf, port) = (host / 4, host % 4 + 1);
            let _ = writeln!(net, "caguid=0x{:x}", FIRST_HOST_PORT - 1 + host * 16);
            let _ = writeln!(net, "Hca\t1 \"h{host}\"\n[1]\t\"leaf{leaf}\"[{port}]\n");
        }
        for leaf in 0..2u64 {
            let _ = writeln!(net, "switchguid=0x{:x}", FIRST_SWITCH + leaf);
            let _ = writeln!(
                net,
                "Switch\t{N_LEAF_PORTS} \"leaf{leaf}\"\t\t# \"leaf{leaf}\" {port_0} port 0 lid 0 \
                 lmc 0"
            );
            for port in 1..=4 {
                let _ = writeln!(net, "[{port}]\t\"h{}\"[1]", leaf * 4 + port - 1);
            }
            for spine in 0..2 {
                let _ = writeln!(net, "[{}]\t\"spine{spine}\"[{}]", 5 + spine, leaf + 1);
            }
            net.push('\n');
        }
        for spine in 0..2u64 {
            let _ = writeln!(net, "switchguid=0x{:x}", FIRST_SWITCH + 2 + spine);
            let _ = writeln!(
                net,
                "Switch\t{N_SPINE_PORTS} \"spine{spine}\"\t\t# \"spine{spine}\" {port_0} port 0 \
                 lid 0 lmc 0"
            );
            for leaf in 0..2 {
                let _ = writeln!(net, "[{}]\t\"leaf{leaf}\"[{}]", leaf + 1, 5 + spine);
            }
            net.push('\n');
        }
        net
    }

    /// Returns every port.
    fn ports(&self) -> Vec<TreePort> {
        let host = |n| TreePort {
            guid: FIRST_HOST_PORT + n * 16,
            port: 1,
            kind: PortKind::ChannelAdapter,
            has_cable: true,
        };
        let mut ports: Vec<_> = (0..HOSTS).map(host).collect();
        let port_0 = match self.has_enhanced_port_0 {
            true => PortKind::EnhancedPort0,
            false => PortKind::BasePort0,
        };
        for (n, last) in [N_LEAF_PORTS, N_LEAF_PORTS, N_SPINE_PORTS, N_SPINE_PORTS]
            .into_iter()
            .enumerate()
        {
            let guid = FIRST_SWITCH + n as u64;
            ports.extend((0..=last).map(|port| TreePort {
                guid,
                port,
                kind: match port {
                    0 => port_0,
                    _ => PortKind::SwitchExternal,
                },
                has_cable: port > 0 && port < last,
            }));
        }
        ports
    }

    /// Returns a host, the ports of a spine, and one port of each kind of a leaf. Each table takes
    /// a process.
    fn some_ports(&self) -> Vec<TreePort> {
        let mut ports = self.ports();
        ports.retain(|port| match port.guid {
            FIRST_HOST_PORT => true,
            FIRST_SWITCH => matches!(port.port, 0 | 1 | 7),
            guid => guid == FIRST_SWITCH + 3,
        });
        ports
    }
}

/// Ports of ibsim: 8 lanes, all in use from the start, and 8 entries.
fn capabilities(has_cable: bool) -> PortCapabilities {
    PortCapabilities {
        lanes: 8,
        neighbor_lanes: has_cable.then_some(8),
        operational_before: 8,
        low_cap: 8,
        high_cap: 8,
    }
}

/// The initial state of ports in ibsim.
fn untouched() -> [Vec<(u8, u8)>; 2] {
    let weights = |first, others| {
        (0..8)
            .map(|vl| (vl, if vl == 0 { first } else { others }))
            .collect()
    };
    [weights(0, 4), weights(4, 0)]
}

/// Compares every port, and returns the number of compared tables.
fn compare(ports: &[TreePort], fabric: &SimulatedFabric, conf: &Conf, sweep: Sweep) -> usize {
    let lids = fabric.lids();
    let mut n_compared = 0;
    for &TreePort {
        guid,
        port,
        kind,
        has_cable,
    } in ports
    {
        let expected = program(conf, kind, &capabilities(has_cable), sweep);
        let (lid, number) = (lids[&guid].to_string(), port.to_string());
        let at = format!("port {port} of {guid:#x} after the {sweep:?} sweep");
        let vlarb = read_vlarb(&fabric.ask("smpquery", &["vlarb", &lid, &number]));
        let Some(Program {
            operational,
            arbitration,
            sl_to_vl,
            sl_to_vl_from_outside,
            ..
        }) = expected
        else {
            match kind {
                PortKind::BasePort0 => assert_eq!(vlarb, None, "{at}"),
                _ => assert_eq!(vlarb, Some(untouched()), "{at}"),
            }
            continue;
        };
        let pairs = |entries: &[netloom_arbitration::Entry]| -> Vec<(u8, u8)> {
            entries.iter().map(|e| (e.vl.0, e.weight)).collect()
        };
        let [low, high] = vlarb.expect("tables");
        assert_eq!(low, pairs(&arbitration.low), "low table, {at}");
        assert_eq!(high, pairs(&arbitration.high), "high table, {at}");
        let rows = read_sl2vl(&fabric.ask("smpquery", &["sl2vl", &lid, &number]));
        assert!(!rows.is_empty(), "{at}");
        for (input, row) in rows {
            let expected = match (input, sl_to_vl_from_outside) {
                (1.., Some(outside)) => outside,
                _ => sl_to_vl,
            };
            assert_eq!(row, expected.0.map(|vl| vl.0), "lanes from {input}, {at}");
            n_compared += 1;
        }
        let info = fabric.ask("smpquery", &["portinfo", &lid, &number]);
        assert_eq!(lanes(field(&info, "OperVLs")), operational, "OperVLs, {at}");
        n_compared += 3;
    }
    n_compared
}

const SAMPLE: &str = include_str!("opensm/five_sets.conf");

/// Lists with every kind of error, including unlikely ones.
const ODD: [(&str, &str); 16] = [
    ("defaults", "qos TRUE\n"),
    (
        "max_op_vls 3",
        "qos TRUE\nmax_op_vls 3\nqos_vlarb_high 4:100,5:50\n\
         qos_vlarb_low 0:1,1:2,2:3,3:4,4:5,5:6,6:7,7:8\n\
         qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n",
    ),
    (
        "max_op_vls 1",
        "qos TRUE\nmax_op_vls 1\nqos_vlarb_low 0:1,1:2,2:3\nqos_sl2vl 0,1,2,3,15,5\n",
    ),
    (
        "max_op_vls 9",
        "qos TRUE\nmax_op_vls 9\nqos_vlarb_low 0:1,14:2,2:3\nqos_sl2vl 0,1,2,3,15,5\n",
    ),
    (
        "20 entries",
        "qos TRUE\nqos_vlarb_low 0:1,1:2,2:3,3:4,4:5,5:6,6:7,7:8,0:9,1:10,2:11,3:12,4:13,5:14,6:15,7:16,0:17,1:18,2:19,3:20\nqos_vlarb_high 0:1\n",
    ),
    (
        "out of range",
        "qos TRUE\nqos_vlarb_low 0:10,21:11,15:300,1:256,-1:-1\nqos_sl2vl 0,1,2,3,16,31,-1\n\
         qos_high_limit 300\n",
    ),
    (
        "spaces before commas",
        "qos TRUE\nqos_vlarb_low 0:1 ,1:2 ,2:3\nqos_sl2vl 0 ,1 ,2\n",
    ),
    (
        "spaces after commas",
        "qos TRUE\nqos_vlarb_low 0:1, 1:2, 2: 3\nqos_sl2vl 0, 1, 2\n",
    ),
    (
        "octal and hexadecimal",
        "qos TRUE\nqos_vlarb_low 08:5,010:7,0x3:0x40\nqos_sl2vl 0x1,07,08,1\n",
    ),
    (
        "nonsense",
        "qos TRUE\nqos_vlarb_low low,1;2,3\nqos_vlarb_high 1,2,3\nqos_sl2vl a,b,c\n",
    ),
    (
        "empty lists",
        "qos TRUE\nqos_vlarb_low\nqos_vlarb_high \"\"\nqos_sl2vl ''\n",
    ),
    (
        "null",
        "qos TRUE\nqos_vlarb_low 0:9\nqos_ca_vlarb_low 1:9\nqos_ca_vlarb_low (null)\n\
         qos_swe_sl2vl (null)\n",
    ),
    (
        "quotes and comments",
        "# first\nqos TRUE # yes\nqos_vlarb_low \"0:9,1:8\"\nqos_vlarb_high '2:7' # '3:6'\n\
         qos_sl2vl 0,1 # ,2,3\n",
    ),
    (
        "again",
        "qos TRUE\nqos_vlarb_low 0:1\nqos_vlarb_low 0:2,3:4\nqos FALSE\nqos TRUE\n",
    ),
    ("lower case", "qos true\nqos_vlarb_low 0:9\n"),
    ("off", "qos FALSE\nqos_vlarb_low 0:9\n"),
];

fn check(name: &str, text: &str, tree: &Tree, ports: &[TreePort]) -> usize {
    let mut fabric = SimulatedFabric::start(&tree.net());
    fabric.configure(text, &[]);
    let n = compare(ports, &fabric, &Conf::read(text, 0), Sweep::First);
    eprintln!("{name}: {n} tables are as computed");
    n
}

const BASE: Tree = Tree {
    has_enhanced_port_0: false,
};

const ENHANCED: Tree = Tree {
    has_enhanced_port_0: true,
};

#[test]
fn a_file_with_five_sets_is_programmed_as_computed() {
    if !without_tools() {
        assert_eq!(check("five sets", SAMPLE, &BASE, &BASE.ports()), 192);
        let n = check("five sets, enhanced", SAMPLE, &ENHANCED, &ENHANCED.ports());
        assert_eq!(n, 228);
    }
}

#[test]
fn odd_files_are_programmed_as_computed() {
    if without_tools() {
        return;
    }
    let (first, second) = ODD.split_at(ODD.len() / 2);
    let run = |cases: &[(&str, &str)]| {
        for (name, text) in cases {
            let n = check(name, text, &BASE, &BASE.some_ports());
            assert_eq!(n == 0, !Conf::read(text, 0).is_qos_on(), "{name}");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| run(first));
        run(second);
    });
}

#[test]
fn enhanced_ports_0_of_odd_files_are_programmed_as_computed() {
    if !without_tools() {
        for (name, text) in &ODD[..3] {
            check(name, text, &ENHANCED, &ENHANCED.some_ports());
        }
    }
}

#[test]
fn a_later_sweep_mends_what_the_first_wrote_with_old_lanes() {
    if without_tools() {
        return;
    }
    let (_, text) = ODD[1];
    let conf = Conf::read(text, 0);
    let ports = ENHANCED.some_ports();
    let mut fabric = SimulatedFabric::start(&ENHANCED.net());
    fabric.configure_and_stay(text, &[]);
    compare(&ports, &fabric, &conf, Sweep::First);
    fabric.hang_up();
    compare(&ports, &fabric, &conf, Sweep::Later);
}

#[test]
fn a_line_too_long_loses_its_end() {
    if !without_tools() {
        // The 1,022nd character is in the middle of an entry.
        let filling = " ".repeat(985);
        let text = format!("qos TRUE\nqos_vlarb_low {filling}0:1,1:2,2:3,3:44,4:5,5:6\n");
        let conf = Conf::read(&text, 0);
        assert_eq!(conf.too_long.len(), 1);
        check("a long line", &text, &BASE, &BASE.some_ports());
    }
}

#[test]
fn the_capabilities_of_ibsim_are_those_assumed() {
    if without_tools() {
        return;
    }
    let mut fabric = SimulatedFabric::start(&ENHANCED.net());
    fabric.configure("qos FALSE\n", &[]);
    let lids: BTreeMap<u64, u16> = fabric.lids();
    for (guid, port) in [
        (FIRST_HOST_PORT, 1),
        (FIRST_SWITCH, 0),
        (FIRST_SWITCH, 1),
        (FIRST_SWITCH, 7),
    ] {
        let info = fabric.ask(
            "smpquery",
            &["portinfo", &lids[&guid].to_string(), &port.to_string()],
        );
        assert_eq!(lanes(field(&info, "VLCap")), 8);
        assert_eq!(lanes(field(&info, "OperVLs")), 8);
        assert_eq!(field(&info, "VLArbLowCap"), "8");
        assert_eq!(field(&info, "VLArbHighCap"), "8");
    }
}

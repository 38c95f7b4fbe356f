//! Routes of small fabrics with numbers that can be counted by hand, and of fabrics from real
//! tools.

mod sample_files;

use netloom_infiniband::routes::{Channel, RouteCheck, Why, check_routes};
use netloom_infiniband::{Guid, Lid, PortName, Programmed, SlToVl, Subnet};
use netloom_units::{Sl, Vl};
use sample_files::{programmed, subnet};

/// The fat tree of 8 hosts, and what OpenSM's `ftree` programmed.
fn ft8() -> (Subnet, Programmed) {
    let subnet = subnet("ft8/ibnetdiscover.txt");
    let programmed = programmed(&subnet, &["ft8/opensm-lfts.dump"]);
    (subnet, programmed)
}

const LEAF_0: Guid = Guid(0xb859_9f03_0020_0000);
const LEAF_1: Guid = Guid(0xb859_9f03_0020_0040);
const SPINE_0: Guid = Guid(0xb859_9f03_0020_0080);
const NODE_0: Guid = Guid(0x9803_9b03_0010_0000);

fn port(node: Guid, port: u8) -> PortName {
    PortName { node, port }
}

#[test]
fn a_fat_tree_is_sound_and_even() {
    let (subnet, programmed) = ft8();
    let check = check_routes(&subnet, &programmed);
    assert!(check.is_sound(), "{check:#?}");
    assert_eq!((check.n_ports, check.n_addresses), (8, 8));
    assert_eq!((check.routes, check.arriving), (56, 56));
    // Four hosts at each leaf: 2 * 4 * 3 routes within a leaf, all others over a spine.
    assert_eq!(check.hops, [0, 24, 0, 32]);
    assert_eq!(check.longer.routes, 0);
    assert_eq!((check.levels, check.lanes), (1, 1));
    // Four links up from each leaf, one for each host of the other; all four senders of a leaf use
    // it.
    assert_eq!(check.links.len(), 16);
    for link in &check.links {
        assert_eq!((link.addresses, link.routes), (1, 4), "{link:?}");
    }
    let levels: Vec<_> = check
        .balance
        .iter()
        .map(|b| (b.from_level, b.to_level, b.n_links))
        .collect();
    assert_eq!(levels, [(0, 1, 8), (1, 0, 8)]);
    assert_eq!(check.balance[0].routes.mean, 4.0);
}

#[test]
fn every_address_of_a_port_counts() {
    let subnet = subnet("ft8_lmc1/ibnetdiscover.txt");
    let programmed = programmed(&subnet, &["ft8_lmc1/opensm-lfts.dump"]);
    let check = check_routes(&subnet, &programmed);
    assert!(check.is_sound(), "{check:#?}");
    assert_eq!((check.n_ports, check.n_addresses), (8, 16));
    assert_eq!(check.hops, [0, 48, 0, 64]);
}

/// Changes one table, and checks which routes fail and why.
fn with(change: impl FnOnce(&mut Programmed)) -> RouteCheck {
    let (subnet, mut programmed) = ft8();
    change(&mut programmed);
    let check = check_routes(&subnet, &programmed);
    let failing = check.failures.routes;
    assert_eq!(check.arriving + failing, check.routes);
    check
}

fn set(programmed: &mut Programmed, switch: Guid, lid: u16, output: Option<u8>) {
    let table = programmed.forwarding.get_mut(&switch).expect("a switch");
    table.set(Lid(lid), output);
}

#[test]
fn routes_that_end_say_where_and_why() {
    let missing = with(|programmed| set(programmed, LEAF_0, 7, None));
    assert_eq!(missing.failures.routes, 4);
    let mut failures = missing.failures.first.iter();
    let of_node_0 = failures.find(|f| f.from == port(NODE_0, 1));
    let of_node_0 = of_node_0.expect("node000 does not reach LID 7");
    assert_eq!(of_node_0.to, Lid(7));
    assert_eq!((of_node_0.at, of_node_0.why), (LEAF_0, Why::NoOutput));
    assert_eq!(missing.hops, [0, 24, 0, 28]);

    let wrong = with(|programmed| set(programmed, LEAF_0, 3, Some(3)));
    assert_eq!(wrong.failures.routes, 7);
    let found = Why::WrongPort(port(Guid(0x9803_9b03_0010_0020), 1));
    assert!(
        wrong
            .failures
            .first
            .iter()
            .all(|f| f.why == found && f.at == LEAF_0)
    );

    let dead = with(|programmed| set(programmed, SPINE_0, 7, Some(8)));
    assert_eq!(dead.failures.routes, 4);
    assert!(dead.failures.first.iter().all(|f| f.at == SPINE_0));
    assert!(
        dead.failures
            .first
            .iter()
            .all(|f| f.why == Why::DeadPort(8))
    );

    let own = with(|programmed| set(programmed, LEAF_1, 7, Some(0)));
    assert_eq!(own.failures.routes, 7);
    assert!(own.failures.first.iter().all(|f| f.why == Why::OwnPort));

    let circle = with(|programmed| set(programmed, SPINE_0, 7, Some(1)));
    assert_eq!(circle.failures.routes, 4);
    assert!(circle.failures.first.iter().all(|f| f.why == Why::Circles));

    let unknown = with(|programmed| {
        programmed.forwarding.remove(&LEAF_1);
    });
    assert!(unknown.failures.first.iter().all(|f| f.why == Why::NoTable));
    // The four hosts at the leaf neither reach other hosts nor are reached.
    assert_eq!(unknown.failures.routes, 4 * 7 + 4 * 4);
}

#[test]
fn a_service_level_with_lane_15_is_dropped() {
    let drops = |level: u8| {
        let mut lanes = [Vl(0); 16];
        lanes[usize::from(level)] = Vl(15);
        SlToVl(lanes)
    };
    // From input 1 of a spine to its output 3: node000 and its neighbours each reach one host this
    // way.
    let spine = with(|programmed| {
        programmed.sl_to_vl.insert((port(SPINE_0, 3), 1), drops(0));
    });
    assert!(spine.failures.routes > 0 && spine.unknown_lanes > 0);
    for failure in &spine.failures.first {
        assert_eq!(failure.at, SPINE_0);
        let why = Why::Dropped {
            input: 1,
            output: 3,
            level: 0,
        };
        assert_eq!(failure.why, why);
    }
    // At the sender: all its routes.
    let host = with(|programmed| {
        programmed.sl_to_vl.insert((port(NODE_0, 1), 0), drops(0));
    });
    assert_eq!(host.failures.routes, 7);
    // Only paths of that service level.
    let one = with(|programmed| {
        programmed.sl_to_vl.insert((port(NODE_0, 1), 0), drops(5));
        programmed.path_levels.set(NODE_0, Lid(9), Sl(5));
    });
    assert_eq!(one.failures.routes, 1);
    assert_eq!(one.failures.first[0].to, Lid(9));
    assert_eq!(one.levels, 0b10_0001);
}

#[test]
fn ways_around_are_counted() {
    let subnet = subnet("ring8/opensm-subnet.lst");
    let mut programmed = programmed(&subnet, &["ring8/opensm.fdbs"]);
    let straight = check_routes(&subnet, &programmed);
    assert_eq!(straight.longer.routes, 0);
    assert_eq!(straight.failures.routes, 0);
    clockwise(&subnet, &mut programmed);
    let check = check_routes(&subnet, &programmed);
    assert_eq!(check.failures.routes, 0);
    // Two hosts at each of 8 switches. Distances 5, 6 and 7 are longer than 3, 2 and 1: 8 * 3 pairs
    // of switches.
    assert_eq!(check.longer.routes, 8 * 3 * 4);
    let worst = check.longer.worst.expect("one is the worst");
    assert_eq!((worst.hops, worst.shortest), (8, 2));
    assert_eq!(check.hops, [0, 16, 32, 32, 32, 32, 32, 32, 32]);
    // The loop passes every switch once.
    assert_eq!(check.loops.n_knots, 1);
    assert_eq!(check.loops.found[0].dependencies.len(), 8);
}

/// Routes all packets around a ring in one direction, by the first cable that does not lead back.
fn clockwise(subnet: &Subnet, programmed: &mut Programmed) {
    let switches: Vec<usize> = (0..subnet.nodes.len())
        .filter(|at| subnet.nodes[*at].kind.is_switch())
        .collect();
    let mut at = switches[0];
    let mut before = None;
    for _ in 0..switches.len() {
        let node = &subnet.nodes[at];
        let cables = node.ports.iter().enumerate();
        let cables = cables.filter_map(|(number, port)| Some((number as u8, port.cable?)));
        let around = cables.clone().find(|(_, cable)| {
            let peer = cable.node.index();
            subnet.nodes[peer].kind.is_switch() && Some(peer) != before
        });
        let (output, cable) = around.expect("a ring");
        let own: Vec<Lid> = cables
            .filter(|(_, cable)| !subnet.nodes[cable.node.index()].kind.is_switch())
            .flat_map(|(_, cable)| {
                subnet.nodes[cable.node.index()].ports[usize::from(cable.port)].lids()
            })
            .collect();
        let table = programmed.forwarding.get_mut(&node.guid).expect("a table");
        let lids: Vec<Lid> = table.entries().map(|(lid, _)| lid).collect();
        for lid in lids.into_iter().filter(|lid| !own.contains(lid)) {
            table.set(lid, Some(output));
        }
        before = Some(at);
        at = cable.node.index();
    }
}

#[test]
fn a_loop_over_the_last_ports_of_large_switches_is_found() {
    // Four switches in a ring, from port 200 to port 199, each with a host at port 1. All packets
    // go around.
    let n = 4;
    let mut listing = String::new();
    for at in 0..n {
        let (next, before) = ((at + 1) % n, (at + n - 1) % n);
        let (lid, host) = (10 + at, 1 + at);
        listing += &format!(
            "Switch 200 \"s{at}\" # \"s{at}\" base port 0 lid {lid} lmc 0\n\
             [1] \"h{at}\"[1] # \"h{at}\" lid {host} 4xHDR\n\
             [199] \"s{before}\"[200] # \"s{before}\" lid {} 4xHDR\n\
             [200] \"s{next}\"[199] # \"s{next}\" lid {} 4xHDR\n\n\
             Ca 1 \"h{at}\" # \"h{at}\"\n[1] \"s{at}\"[1] # lid {host} lmc 0 \"s{at}\" lid {lid} \
             4xHDR\n\n",
            10 + before,
            10 + next,
        );
    }
    let mut notes = netloom_catalog::Notes::new();
    let subnet = netloom_infiniband::reading::read_subnet(&listing, 0, &mut notes);
    assert!(notes.is_empty(), "{notes:?}");
    let mut programmed = Programmed::default();
    let switches = subnet.nodes.iter().filter(|node| node.kind.is_switch());
    for (at, switch) in switches.enumerate() {
        let table = programmed.forwarding.entry(switch.guid).or_default();
        for host in 0..n {
            let output = match host == at {
                true => 1,
                false => 200,
            };
            table.set(Lid(1 + host as u16), Some(output));
        }
    }
    let check = check_routes(&subnet, &programmed);
    assert_eq!(check.failures.routes, 0, "{check:#?}");
    assert_eq!(check.loops.n_knots, 1);
    assert_eq!(check.loops.found[0].dependencies.len(), n);
    assert_eq!(check.loops.found[0].dependencies[0].from.port.port, 200);
}

#[test]
fn a_loop_comes_with_routes_that_make_it() {
    for (list, tables) in [
        ("ring8/opensm-subnet.lst", "ring8/opensm.fdbs"),
        ("t55/opensm-subnet.lst", "t55/dor.fdbs"),
        ("t444/opensm-subnet.lst", "t444/opensm.fdbs"),
    ] {
        let subnet = subnet(list);
        let programmed = programmed(&subnet, &[tables]);
        let check = check_routes(&subnet, &programmed);
        assert!(check.loops.n_knots > 0, "{list}");
        for found in &check.loops.found {
            for (at, step) in found.dependencies.iter().enumerate() {
                let next = found.dependencies[(at + 1) % found.dependencies.len()];
                assert_eq!(step.to, next.from);
                let route = walk(&subnet, &programmed, step.source, step.destination);
                let passes = |channels: &[Channel]| channels == [step.from, step.to];
                assert!(route.windows(2).any(passes), "{step:?} is not on {route:?}");
            }
        }
    }
}

/// Returns the links of a route, as a reference for the check. All are on VL 0.
fn walk(subnet: &Subnet, programmed: &Programmed, from: PortName, to: Lid) -> Vec<Channel> {
    let mut route = vec![];
    let mut at = from;
    loop {
        let node = subnet
            .nodes
            .iter()
            .find(|node| node.guid == at.node)
            .unwrap();
        let cable = node.ports[usize::from(at.port)].cable.unwrap();
        route.push(Channel {
            port: at,
            vl: Vl(0),
        });
        let peer = &subnet.nodes[cable.node.index()];
        if !peer.kind.is_switch() {
            return route;
        }
        let output = programmed.forwarding[&peer.guid].output(to).unwrap();
        at = port(peer.guid, output);
    }
}

#[test]
fn loads_are_those_of_walking_every_route() {
    let subnet = subnet("t55/opensm-subnet.lst");
    let programmed = programmed(&subnet, &["t55/minhop.fdbs"]);
    let check = check_routes(&subnet, &programmed);
    let mut loads =
        std::collections::BTreeMap::<PortName, (u64, std::collections::BTreeSet<Lid>)>::new();
    let hosts = || subnet.nodes.iter().filter(|node| !node.kind.is_switch());
    for from in hosts() {
        for to in hosts().filter(|to| to.guid != from.guid) {
            let lid = to.ports[1].lid.unwrap();
            for channel in walk(&subnet, &programmed, port(from.guid, 1), lid) {
                let load = loads.entry(channel.port).or_default();
                load.0 += 1;
                load.1.insert(lid);
            }
        }
    }
    assert_eq!(check.links.len(), 100);
    for link in &check.links {
        let (routes, lids) = loads.get(&link.from).cloned().unwrap_or_default();
        assert_eq!(
            (link.routes, link.addresses as usize),
            (routes, lids.len()),
            "{link:?}"
        );
    }
    let most = check.most_loaded(3);
    assert!(most[0].routes >= most[1].routes && most[1].routes >= most[2].routes);
    assert_eq!(
        most[0].routes,
        check.links.iter().map(|link| link.routes).max().unwrap()
    );
}

#[test]
fn hosts_without_a_switch_reach_each_other_only() {
    let listing = "Hca 1 \"a\"\n[1] \"b\"[1] # lid 1 lmc 0 \"b\" lid 2 4xHDR\n\nHca 1 \"b\"\n\
        [1] \"a\"[1] # lid 2 lmc 0 \"a\" lid 1 4xHDR\n\n\
                   Hca 2 \"c\"\n[1] \"d\"[1] # lid 3 lmc 0 \"d\" lid 4 4xHDR\n\nHca 1 \"d\"\n\
                   [1] \"c\"[1] # lid 4 lmc 0 \"c\" lid 3 4xHDR\n";
    let mut notes = netloom_catalog::Notes::new();
    let subnet = netloom_infiniband::reading::read_subnet(listing, 0, &mut notes);
    assert!(notes.is_empty(), "{notes:?}");
    let check = check_routes(&subnet, &Programmed::default());
    assert_eq!((check.routes, check.arriving), (12, 4));
    assert_eq!(check.hops, [4]);
    let empty = check_routes(&Subnet::default(), &Programmed::default());
    assert!(empty.is_sound());
}

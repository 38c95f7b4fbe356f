//! Compares the route check with a reference implementation that follows each pair of hosts
//! separately.

mod drawn;
mod sample_files;

use std::collections::{BTreeMap, BTreeSet};

use drawn::{Draw, draws};
use netloom_infiniband::routes::{Channel, Why, check_routes};
use netloom_infiniband::{Lid, PortName, Programmed, SlToVl, Subnet, SubnetIndex};
use netloom_units::{Sl, Vl};
use sample_files::{programmed, subnet};

/// Dependencies between lanes of links.
type Dependencies = BTreeSet<((PortName, u8), (PortName, u8))>;

/// The result of the reference implementation.
#[derive(Default, PartialEq, Debug)]
struct Walked {
    arriving: u64,
    /// Routes and addresses of each link between switches.
    loads: BTreeMap<PortName, (u64, BTreeSet<Lid>)>,
    dependencies: Dependencies,
    dropped: u64,
    circles: u64,
}

fn lane(programmed: &Programmed, output: PortName, input: u8, level: Sl) -> u8 {
    let lanes = programmed.sl_to_vl.get(&(output, input));
    lanes.map_or(0, |lanes| lanes.0[level.index()].0)
}

fn walk_all(subnet: &Subnet, programmed: &Programmed) -> Walked {
    let mut walked = Walked::default();
    let index = SubnetIndex::of(subnet);
    let hosts: Vec<(PortName, Vec<Lid>)> = subnet
        .nodes
        .iter()
        .filter(|node| !node.kind.is_switch())
        .map(|node| {
            let name = PortName {
                node: node.guid,
                port: 1,
            };
            (name, node.ports[1].lids().collect())
        })
        .collect();
    for (from, _) in &hosts {
        for (to, lids) in hosts.iter().filter(|(to, _)| to != from) {
            for lid in lids {
                walk(subnet, &index, programmed, *from, (*to, *lid), &mut walked);
            }
        }
    }
    walked
}

fn walk(
    subnet: &Subnet,
    index: &SubnetIndex,
    programmed: &Programmed,
    from: PortName,
    (to, lid): (PortName, Lid),
    walked: &mut Walked,
) {
    // A route that loops by the tables alone is not counted, whatever the lanes.
    if runs_in_circles(subnet, index, programmed, from, lid) {
        walked.circles += 1;
        return;
    }
    let level = programmed
        .path_levels
        .level(from.node, lid)
        .unwrap_or(Sl(0));
    if lane(programmed, from, 0, level) == 15 {
        walked.dropped += 1;
        return;
    }
    let mut passed = vec![];
    let mut at = (from, 0u8);
    let end = loop {
        let node = &subnet.nodes[index.node(at.0.node).unwrap().index()];
        let Some(cable) = node.ports[usize::from(at.0.port)].cable else {
            break None;
        };
        let peer = &subnet.nodes[cable.node.index()];
        if node.kind.is_switch() && peer.kind.is_switch() {
            passed.push(at);
        }
        if !peer.kind.is_switch() {
            break (subnet.port_name(cable.node, cable.port) == to).then_some(());
        }
        let output = programmed
            .forwarding
            .get(&peer.guid)
            .and_then(|table| table.output(lid));
        let Some(output) = output.filter(|output| *output != 0) else {
            break None;
        };
        let out = PortName {
            node: peer.guid,
            port: output,
        };
        // Packets are not dropped if there is no output.
        if peer.ports[usize::from(output)].cable.is_none() {
            break None;
        }
        let vl = lane(programmed, out, cable.port, level);
        if vl == 15 {
            walked.dropped += 1;
            break None;
        }
        at = (out, vl);
    };
    walked.arriving += u64::from(end.is_some());
    for channel in &passed {
        let load = walked.loads.entry(channel.0).or_default();
        load.0 += 1;
        load.1.insert(lid);
    }
    for pair in passed.windows(2) {
        walked.dependencies.insert((pair[0], pair[1]));
    }
}

fn runs_in_circles(
    subnet: &Subnet,
    index: &SubnetIndex,
    programmed: &Programmed,
    from: PortName,
    lid: Lid,
) -> bool {
    let mut at = from;
    for _ in 0..=subnet.nodes.len() {
        let node = &subnet.nodes[index.node(at.node).unwrap().index()];
        let Some(cable) = node.ports[usize::from(at.port)].cable else {
            return false;
        };
        let peer = &subnet.nodes[cable.node.index()];
        let table = programmed.forwarding.get(&peer.guid);
        match table.and_then(|table| table.output(lid)) {
            Some(port) if port != 0 => {
                at = PortName {
                    node: peer.guid,
                    port,
                }
            }
            _ => return false,
        }
    }
    true
}

/// Returns whether there is a cycle. Removes lanes without dependents until none is left.
fn has_loop(dependencies: &Dependencies) -> bool {
    let mut left = dependencies.clone();
    loop {
        let awaited: BTreeSet<_> = left.iter().map(|(_, to)| *to).collect();
        let n = left.len();
        left.retain(|(from, _)| awaited.contains(from));
        if left.len() == n {
            return n > 0;
        }
    }
}

/// Changes some tables, lanes and levels.
fn disturb(subnet: &Subnet, programmed: &mut Programmed, draw: &mut Draw) {
    let switches: Vec<_> = subnet
        .nodes
        .iter()
        .filter(|node| node.kind.is_switch())
        .collect();
    let hosts: Vec<_> = subnet
        .nodes
        .iter()
        .filter(|node| !node.kind.is_switch())
        .collect();
    let lids: Vec<Lid> = hosts.iter().flat_map(|host| host.ports[1].lids()).collect();
    for _ in 0..draw.below(6) {
        let switch = draw.one_of(&switches);
        let output = match draw.below(8) {
            0 => None,
            _ => Some(draw.below(switch.ports.len()) as u8),
        };
        let lid = *draw.one_of(&lids);
        if let Some(table) = programmed.forwarding.get_mut(&switch.guid) {
            table.set(lid, output);
        }
    }
    if draw.below(20) == 0 {
        programmed.forwarding.remove(&draw.one_of(&switches).guid);
    }
    let n_lanes = 1 + draw.below(15);
    for _ in 0..draw.below(40) {
        let is_host = draw.below(10) == 0;
        let node = match is_host {
            true => draw.one_of(&hosts),
            false => draw.one_of(&switches),
        };
        let output = PortName {
            node: node.guid,
            port: match is_host {
                true => 1,
                false => 1 + draw.below(node.ports.len() - 1) as u8,
            },
        };
        let input = match is_host {
            true => 0,
            false => draw.below(node.ports.len()) as u8,
        };
        let lanes = std::array::from_fn(|_| match draw.below(30) {
            0 => Vl(15),
            _ => Vl(draw.below(n_lanes) as u8),
        });
        programmed.sl_to_vl.insert((output, input), SlToVl(lanes));
    }
    for _ in 0..draw.below(60) {
        let from = draw.one_of(&hosts).guid;
        let to = *draw.one_of(&lids);
        programmed
            .path_levels
            .set(from, to, Sl(draw.below(16) as u8));
    }
}

#[test]
fn disturbed_fabrics_have_the_routes_of_their_slow_twin() {
    let engines = ["dfsssp", "lash", "nue", "torus-2QoS"];
    let torus = subnet("t55h1/opensm-subnet.lst");
    let mut fabrics: Vec<(Subnet, Programmed)> = engines
        .iter()
        .map(|engine| {
            let names = [
                &format!("t55h1/{engine}.fdbs"),
                &format!("t55h1/{engine}.psl"),
                "t55h1/torus-2QoS.slvl",
            ];
            (torus.clone(), programmed(&torus, &names))
        })
        .collect();
    for (listing, tables) in [
        ("ft8/ibnetdiscover.txt", "ft8/opensm-lfts.dump"),
        ("ft8_lmc1/ibnetdiscover.txt", "ft8_lmc1/opensm-lfts.dump"),
        ("ring8/opensm-subnet.lst", "ring8/opensm.fdbs"),
    ] {
        let subnet = subnet(listing);
        let programmed = programmed(&subnet, &[tables]);
        fabrics.push((subnet, programmed));
    }
    let mut n_loops = [0, 0];
    for number in 0..draws(150) {
        let mut draw = Draw(number);
        let (subnet, programmed) = draw.one_of(&fabrics);
        let mut programmed = programmed.clone();
        disturb(subnet, &mut programmed, &mut draw);
        let check = check_routes(subnet, &programmed);
        let walked = walk_all(subnet, &programmed);
        assert_eq!(check.arriving, walked.arriving, "draw {number}");
        assert_eq!(check.arriving + check.failures.routes, check.routes);
        let is_listed =
            |wanted: fn(&Why) -> bool| check.failures.first.iter().any(|f| wanted(&f.why));
        let are_all_listed = check.failures.routes == check.failures.first.len() as u64;
        if are_all_listed {
            let dropped = |why: &Why| matches!(why, Why::Dropped { .. });
            assert!(!is_listed(dropped) || walked.dropped > 0, "draw {number}");
            assert!(
                !is_listed(|why| *why == Why::Circles) || walked.circles > 0,
                "draw {number}"
            );
        }
        for link in &check.links {
            let (routes, lids) = walked.loads.get(&link.from).cloned().unwrap_or_default();
            let found = (link.routes, link.addresses as usize);
            assert_eq!(found, (routes, lids.len()), "draw {number}: {link:?}");
        }
        let is_looped = has_loop(&walked.dependencies);
        assert_eq!(check.loops.n_knots > 0, is_looped, "draw {number}");
        n_loops[usize::from(is_looped)] += 1;
        let key = |channel: Channel| (channel.port, channel.vl.0);
        for step in check
            .loops
            .found
            .iter()
            .flat_map(|found| &found.dependencies)
        {
            let pair = (key(step.from), key(step.to));
            assert!(
                walked.dependencies.contains(&pair),
                "draw {number}: {step:?}"
            );
        }
    }
    assert!(n_loops[0] > 10 && n_loops[1] > 10, "{n_loops:?}");
}

//! Partitioning of a fabric into parts of similar size with few cables between them.

use netloom_units::SwitchId;

use crate::{Grid, Peer, Pgft, Structure, Topology};

/// Returns the partition of each switch.
pub(crate) fn partitions(topology: &Topology, n: usize) -> Vec<u16> {
    let n_switches = topology.n_switches() as usize;
    let n = n.clamp(1, n_switches.clamp(1, usize::from(u16::MAX)));
    let weights: Vec<u64> = topology.switches().map(|s| weight(topology, s)).collect();
    let mut parts = vec![0; n_switches];
    if n == 1 {
        return parts;
    }
    match topology.structure() {
        Structure::Tree(tree) => split_tree(tree, n, &weights, &mut parts),
        Structure::Grid(grid) => blocks(&slabs(grid), n, &weights, &mut parts),
        Structure::Dragonfly(dragonfly) => {
            split_groups(dragonfly.groups, n, &weights, &mut parts);
        }
        Structure::Megafly(megafly) => {
            split_groups(megafly.groups, n, &weights, &mut parts);
        }
        Structure::Plain => blocks(&breadth_first(topology), n, &weights, &mut parts),
    }
    parts
}

/// Returns the number of ports with a cable, plus one for the switch itself.
fn weight(topology: &Topology, switch: SwitchId) -> u64 {
    let ports = topology.ports(switch);
    1 + ports
        .filter(|&p| topology.peer(switch, p) != Peer::Unused)
        .count() as u64
}

/// Cuts an order of switches into `n` nonempty blocks of similar weight.
fn blocks(order: &[u32], n: usize, weights: &[u64], parts: &mut [u16]) {
    let total: u64 = order.iter().map(|&s| weights[s as usize]).sum();
    let (mut part, mut before, mut in_part) = (0usize, 0u64, 0usize);
    for (i, &switch) in order.iter().enumerate() {
        let weight = weights[switch as usize];
        // The middle of a switch decides its block, unless a block would stay empty.
        let middle = ((2 * before + weight) * n as u64 / (2 * total)) as usize;
        let left = order.len() - i;
        if in_part > 0 && part + 1 < n && (middle > part || left < n - part) {
            part += 1;
            in_part = 0;
        }
        parts[switch as usize] = part as u16;
        before += weight;
        in_part += 1;
    }
}

/// Assigns the lower levels by top-level subtree, and roots to the parts with the least weight.
fn split_tree(tree: &Pgft, n: usize, weights: &[u64], parts: &mut [u16]) {
    let first = tree.first_switches();
    let levels = tree.levels();
    let (first_root, end) = (first[levels - 1], first[levels]);
    // Order leaves and middle switches by the NICs below them, so that subtrees stay together.
    let mut order: Vec<(u64, u32)> = Vec::with_capacity(first_root as usize);
    for level in 1..levels {
        let (siblings, below) = (tree.siblings(level), tree.nics_below(level));
        for switch in first[level - 1]..first[level] {
            let index = u64::from(switch - first[level - 1]);
            order.push((index / siblings * below, switch));
        }
    }
    order.sort_unstable();
    if n > order.len() {
        let all: Vec<u32> = order
            .iter()
            .map(|&(_, s)| s)
            .chain(first_root..end)
            .collect();
        return blocks(&all, n, weights, parts);
    }
    // Use whole subtrees if the roots can balance them, otherwise cuts between leaves.
    let subtrees = tree.m[levels - 1] as usize;
    let total: u64 = weights.iter().sum();
    let lower: u64 = order.iter().map(|&(_, s)| weights[s as usize]).sum();
    let heaviest = lower * subtrees.div_ceil(n) as u64 / subtrees as u64;
    if subtrees.is_multiple_of(n) || (n < subtrees && heaviest * n as u64 * 20 <= total * 21) {
        let nics_of_subtree = tree.nics_below(levels - 1);
        for &(nic, switch) in &order {
            let subtree = (nic / nics_of_subtree) as usize;
            parts[switch as usize] = (subtree * n / subtrees) as u16;
        }
    } else {
        let lower: Vec<u32> = order.iter().map(|&(_, s)| s).collect();
        blocks(&lower, n, weights, parts);
    }
    let mut load = vec![0u64; n];
    for &(_, switch) in &order {
        load[usize::from(parts[switch as usize])] += weights[switch as usize];
    }
    for root in first_root..end {
        let lightest = (0..n)
            .min_by_key(|&part| load[part])
            .expect("at least one part");
        parts[root as usize] = lightest as u16;
        load[lightest] += weights[root as usize];
    }
}

/// Assigns whole groups, which have equal weight and consecutive numbers. Groups are cut only if
/// there are more parts than groups.
fn split_groups(groups: u32, n: usize, weights: &[u64], parts: &mut [u16]) {
    let (groups, n_switches) = (groups as usize, parts.len());
    if n > groups {
        let order: Vec<u32> = (0..n_switches as u32).collect();
        return blocks(&order, n, weights, parts);
    }
    let switches_of_group = n_switches / groups;
    for (switch, part) in parts.iter_mut().enumerate() {
        *part = (switch / switches_of_group * n / groups) as u16;
    }
}

/// Returns the switches slab by slab along the longest dimension.
fn slabs(grid: &Grid) -> Vec<u32> {
    let longest = (0..grid.sides.len())
        .max_by_key(|&d| grid.sides[d])
        .unwrap_or(0);
    let mut order: Vec<u32> = (0..grid.n_switches() as u32).collect();
    let stride: u32 = grid.sides[..longest]
        .iter()
        .map(|&s| u32::from(s))
        .product();
    let side = u32::from(grid.sides[longest]);
    order.sort_by_key(|&switch| (switch / stride % side, switch));
    order
}

/// Returns every switch in breadth-first order, starting far from the centre.
fn breadth_first(topology: &Topology) -> Vec<u32> {
    let far = topology
        .breadth_first(SwitchId(0))
        .last()
        .expect("at least one switch")
        .0;
    let mut order: Vec<u32> = topology
        .breadth_first(far)
        .iter()
        .map(|(s, _)| s.0)
        .collect();
    if order.len() < topology.n_switches() as usize {
        let mut seen = vec![false; topology.n_switches() as usize];
        order.iter().for_each(|&s| seen[s as usize] = true);
        order.extend((0..topology.n_switches()).filter(|&s| !seen[s as usize]));
    }
    order
}

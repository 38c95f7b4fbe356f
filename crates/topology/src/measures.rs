//! Measures of a fabric: counts and diameter.

use std::fmt;

use netloom_units::SwitchId;

use crate::{Peer, Structure, Topology};

/// How a number was determined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Certainty {
    /// By looking at every pair.
    Exhaustive,
    /// By a formula for fabrics of this structure.
    Formula,
    /// The maximum over a sample of this many switches; the true value may be larger.
    Sampled(u32),
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Certainty::Exhaustive => write!(f, "exact"),
            Certainty::Formula => write!(f, "by formula"),
            Certainty::Sampled(n) => write!(f, "lower bound from {n} switches"),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Measures {
    pub switches: u32,
    pub nics: u32,
    /// Cables, including those of NICs.
    pub cables: u32,
    /// Ports of the largest switch.
    pub radix: u16,
    /// Ports without a cable.
    pub unused_ports: u64,
    /// Cables on the shortest path between the two NICs farthest apart, including their own cables.
    pub diameter: u32,
    pub diameter_by: Certainty,
}

/// Steps of breadth-first search for a diameter; larger fabrics are sampled.
const EFFORT: u64 = 200_000_000;

/// Number of switches in the sample of a large fabric.
const SAMPLE: u32 = 64;

/// Measures a fabric.
pub fn measures(topology: &Topology) -> Measures {
    let used = topology
        .switches()
        .flat_map(|s| topology.ports(s).map(move |p| (s, p)));
    let unused = used
        .filter(|&(s, p)| topology.peer(s, p) == Peer::Unused)
        .count();
    let (diameter, diameter_by) = diameter(topology);
    Measures {
        switches: topology.n_switches(),
        nics: topology.n_nics(),
        cables: topology.n_cables(),
        radix: topology.radix(),
        unused_ports: unused as u64,
        diameter,
        diameter_by,
    }
}

fn diameter(topology: &Topology) -> (u32, Certainty) {
    if topology.n_nics() < 2 {
        return (0, Certainty::Exhaustive);
    }
    match topology.structure() {
        Structure::Tree(tree) => {
            // Up to the highest level that joins different subtrees, and down again.
            let top = (1..=tree.levels())
                .rfind(|&l| tree.m[l - 1] > 1)
                .unwrap_or(1);
            (2 * top as u32, Certainty::Formula)
        }
        Structure::Grid(grid) => {
            let along = |(d, &side): (usize, &u16)| match grid.is_ring(d) {
                true => u32::from(side / 2),
                false => u32::from(side - 1),
            };
            let between: u32 = grid.sides.iter().enumerate().map(along).sum();
            (between + 2, Certainty::Formula)
        }
        Structure::Dragonfly(_) | Structure::Megafly(_) | Structure::Plain => by_search(topology),
    }
}

fn by_search(topology: &Topology) -> (u32, Certainty) {
    let mut has_nic = vec![false; topology.n_switches() as usize];
    for nic in topology.nics() {
        has_nic[topology.attachment(nic).0.index()] = true;
    }
    let ends: Vec<SwitchId> = topology.switches().filter(|s| has_nic[s.index()]).collect();
    let farthest = |from: SwitchId| {
        let reach = topology.breadth_first(from);
        let last = reach.iter().rfind(|(s, _)| has_nic[s.index()]);
        *last.expect("the switch itself has a NIC")
    };
    let effort = ends.len() as u64 * topology.n_ports_in_all() as u64;
    if effort <= EFFORT {
        let most = ends.iter().map(|&s| farthest(s).1).max().unwrap_or(0);
        return (most + 2, Certainty::Exhaustive);
    }
    // The switch farthest from the last one is a good next start.
    let (mut most, mut from) = (0, ends[0]);
    for i in 1..=SAMPLE {
        let (far, distance) = farthest(from);
        let is_new = distance > most;
        most = most.max(distance);
        from = match is_new {
            true => far,
            false => ends[ends.len() * i as usize / (SAMPLE as usize + 1)],
        };
    }
    (most + 2, Certainty::Sampled(SAMPLE))
}

//! Positions by stress majorisation: distances in the picture follow distances in the fabric.
//!
//! Gansner, Koren and North, "Graph drawing by stress majorization", 2004. The start is a circle in
//! breadth-first order, so nothing is random. Sums are in order of the switch numbers, so the
//! result has the same bits everywhere.

use netloom_topology::Topology;

use crate::canvas::Point;

const ROUNDS: usize = 150;

/// Returns a position for every switch; neighbours are about one apart. Disconnected parts are kept
/// apart.
pub(crate) fn places(topology: &Topology) -> Vec<Point> {
    let n = topology.n_switches() as usize;
    let distances: Vec<Vec<f64>> = topology
        .switches()
        .map(|s| {
            let hops = topology.distances(s);
            let far = (n as f64).sqrt() + 2.0;
            hops.iter().map(|h| h.map_or(far, f64::from)).collect()
        })
        .collect();
    let mut places = start(topology);
    for _ in 0..ROUNDS {
        let mut next = Vec::with_capacity(n);
        for i in 0..n {
            let (mut x, mut y, mut weights) = (0.0, 0.0, 0.0);
            for j in (0..n).filter(|&j| j != i) {
                let wanted = distances[i][j];
                let weight = 1.0 / (wanted * wanted);
                let (dx, dy) = (places[i].x - places[j].x, places[i].y - places[j].y);
                let apart = (dx * dx + dy * dy).sqrt().max(1e-9);
                x += weight * (places[j].x + wanted * dx / apart);
                y += weight * (places[j].y + wanted * dy / apart);
                weights += weight;
            }
            next.push(match n {
                1 => places[i],
                _ => Point::new(x / weights, y / weights),
            });
        }
        places = next;
    }
    places
}

/// Places the switches on a circle in breadth-first order, part by part.
fn start(topology: &Topology) -> Vec<Point> {
    let n = topology.n_switches() as usize;
    let mut order = vec![];
    let mut seen = vec![false; n];
    for switch in topology.switches() {
        if seen[switch.index()] {
            continue;
        }
        for (found, _) in topology.breadth_first(switch) {
            seen[found.index()] = true;
            order.push(found);
        }
    }
    let mut places = vec![Point::new(0.0, 0.0); n];
    let radius = (n as f64).sqrt();
    for (i, switch) in order.into_iter().enumerate() {
        let angle = std::f64::consts::TAU * i as f64 / n as f64;
        places[switch.index()] = Point::new(0.0, 0.0).towards(angle, radius);
    }
    places
}

//! Fabrics without a known structure.

use std::f64::consts::TAU;

use netloom_topology::Topology;
use netloom_units::SwitchId;

use super::circle::circle;
use super::fan::fan;
use super::levels::levels;
use crate::canvas::{Canvas, PAGE, Point, bundles};
use crate::stress;

/// Preferred distance from a switch to the nearest other one.
const APART: f64 = 62.0;
/// Maximum width of a picture.
const WIDEST: f64 = 1400.0;
/// Maximum number of switches on a circle.
const CIRCLE: usize = 64;
/// Sweeps that move the switches of a level below those they are cabled to.
const SWEEPS: usize = 8;

pub(crate) fn plain(canvas: &mut Canvas) {
    match by_levels(canvas.topology) {
        Some(rows) => levels(canvas, &rows),
        None => by_distance(canvas),
    }
}

/// Returns the levels of a fabric whose NICs are at its bottom, by hops to the nearest switch with
/// NICs. `None` if it has no such levels, or if more than a few cables stay within one.
fn by_levels(topology: &Topology) -> Option<Vec<(String, Vec<SwitchId>)>> {
    let n = topology.n_switches() as usize;
    let mut level: Vec<Option<usize>> = vec![None; n];
    let mut queue = vec![];
    for nic in topology.nics() {
        let leaf = topology.attachment(nic).0;
        if level[leaf.index()].replace(0).is_none() {
            queue.push(leaf);
        }
    }
    if queue.len() == n {
        return None;
    }
    let mut next = 0;
    while let Some(&switch) = queue.get(next) {
        next += 1;
        for (_, other, _) in topology.neighbours(switch) {
            if level[other.index()].is_none() {
                level[other.index()] = level[switch.index()].map(|l| l + 1);
                queue.push(other);
            }
        }
    }
    let level: Vec<usize> = level.into_iter().collect::<Option<_>>()?;
    let pairs = bundles(topology);
    let within = |(a, b, _): &&(SwitchId, SwitchId, u8)| level[a.index()] == level[b.index()];
    if pairs.keys().filter(within).count() * 4 > pairs.len() {
        return None;
    }
    let top = *level.iter().max()?;
    let mut rows: Vec<Vec<SwitchId>> = vec![vec![]; top + 1];
    for switch in topology.switches() {
        rows[level[switch.index()]].push(switch);
    }
    untangle(topology, &mut rows);
    let named = rows.into_iter().enumerate().rev();
    Some(
        named
            .map(|(l, row)| (format!("level {}", l + 1), row))
            .collect(),
    )
}

/// Orders each row by the mean position of its neighbours in the row below; the lowest keeps its
/// order.
fn untangle(topology: &Topology, rows: &mut [Vec<SwitchId>]) {
    let mut place = vec![0.0; topology.n_switches() as usize];
    let spread = |row: &[SwitchId], place: &mut [f64]| {
        for (i, switch) in row.iter().enumerate() {
            place[switch.index()] = (i as f64 + 0.5) / row.len() as f64;
        }
    };
    for row in rows.iter() {
        spread(row, &mut place);
    }
    for _ in 0..SWEEPS {
        for row in rows.iter_mut().skip(1) {
            let mean = |switch: SwitchId| {
                let places: Vec<f64> = topology
                    .neighbours(switch)
                    .map(|(_, other, _)| place[other.index()])
                    .collect();
                places.iter().sum::<f64>() / places.len().max(1) as f64
            };
            let mut keyed: Vec<(f64, SwitchId)> = row.iter().map(|&s| (mean(s), s)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            *row = keyed.into_iter().map(|(_, s)| s).collect();
            spread(row, &mut place);
        }
    }
}

fn by_distance(canvas: &mut Canvas) {
    let topology = canvas.topology;
    let mut places = stress::places(topology);
    let scale = scale(&places);
    for place in &mut places {
        *place = Point::new(place.x * scale, place.y * scale);
    }
    // On a circle, no cable passes a switch that it does not end at. With too many switches that is
    // no longer visible.
    if places.len() <= CIRCLE && has_cable_over_switch(topology, &places) {
        let order: Vec<SwitchId> = topology.switches().collect();
        circle(canvas, &order);
        return;
    }
    let room = match places.len() {
        0..=60 => 44.0,
        61..=150 => 36.0,
        _ => 32.0,
    };
    push_apart(&mut places, room);
    let size = (room * 0.77, room * 0.42);
    canvas.cables(|a, b| vec![vec![places[a.index()], places[b.index()]]]);
    let by_switch = canvas.nics_by_switch();
    for switch in topology.switches() {
        let at = places[switch.index()];
        let (direction, room) = widest_gap(topology, &places, switch);
        fan(
            canvas,
            &by_switch[switch.index()],
            at,
            direction,
            room * 0.8,
        );
    }
    for switch in topology.switches() {
        canvas.switch(switch, places[switch.index()], size);
    }
}

/// Moves positions apart that are too close, until none are or the rounds are used up.
fn push_apart(places: &mut [Point], room: f64) {
    const ROUNDS: usize = 60;
    for _ in 0..ROUNDS {
        let mut is_done = true;
        for i in 1..places.len() {
            for j in 0..i {
                let (dx, dy) = (places[i].x - places[j].x, places[i].y - places[j].y);
                let apart = (dx * dx + dy * dy).sqrt();
                if apart >= room {
                    continue;
                }
                is_done = false;
                // Two switches at the same position move apart sideways.
                let (ux, uy) = match apart > 1e-6 {
                    true => (dx / apart, dy / apart),
                    false => (1.0, 0.0),
                };
                let push = (room - apart) / 2.0 + 0.1;
                places[i] = Point::new(places[i].x + ux * push, places[i].y + uy * push);
                places[j] = Point::new(places[j].x - ux * push, places[j].y - uy * push);
            }
        }
        if is_done {
            break;
        }
    }
}

/// Whether a line between two switches passes close to a third.
fn has_cable_over_switch(topology: &Topology, places: &[Point]) -> bool {
    const CLOSE: f64 = 15.0;
    bundles(topology).keys().any(|&(a, b, _)| {
        let (p, q) = (places[a.index()], places[b.index()]);
        let (dx, dy) = (q.x - p.x, q.y - p.y);
        let length = (dx * dx + dy * dy).max(1e-9);
        topology.switches().filter(|&s| s != a && s != b).any(|s| {
            let at = places[s.index()];
            let along = ((at.x - p.x) * dx + (at.y - p.y) * dy) / length;
            let across = ((at.x - p.x) * dy - (at.y - p.y) * dx).abs() / length.sqrt();
            (0.0..=1.0).contains(&along) && across < CLOSE
        })
    })
}

/// Returns the pixels per hop that keep switches apart, if the page allows it.
fn scale(places: &[Point]) -> f64 {
    let span = |coordinate: fn(&Point) -> f64| {
        let low = places.iter().map(coordinate).fold(f64::MAX, f64::min);
        let high = places.iter().map(coordinate).fold(f64::MIN, f64::max);
        high - low
    };
    let span = span(|p| p.x).max(span(|p| p.y)).max(1e-6);
    let wanted = APART / nearest(places).max(1e-6);
    let roomy = 100.0;
    wanted
        .max(roomy)
        .min((PAGE - 80.0).max((WIDEST).min(places.len() as f64 * 12.0)) / span)
}

/// Returns the smallest distance between two positions.
fn nearest(places: &[Point]) -> f64 {
    let mut least = f64::MAX;
    for (i, a) in places.iter().enumerate() {
        for b in &places[..i] {
            least = least.min((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
        }
    }
    least.sqrt()
}

/// Returns the centre and size of the largest angle at a switch without a cable.
fn widest_gap(topology: &Topology, places: &[Point], switch: SwitchId) -> (f64, f64) {
    let at = places[switch.index()];
    let mut angles: Vec<f64> = topology
        .neighbours(switch)
        .map(|(_, other, _)| at.angle_to(places[other.index()]))
        .collect();
    angles.sort_by(f64::total_cmp);
    let Some(&first) = angles.first() else {
        return (0.0, TAU * 0.6);
    };
    angles.push(first + TAU);
    let gaps = angles
        .windows(2)
        .map(|w| (w[0] + (w[1] - w[0]) / 2.0, w[1] - w[0]));
    gaps.reduce(|best, gap| if gap.1 > best.1 + 1e-9 { gap } else { best })
        .unwrap_or((0.0, TAU))
}

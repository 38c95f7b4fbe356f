//! Meshes and tori.

use std::f64::consts::TAU;

use netloom_topology::Grid;
use netloom_units::SwitchId;

use super::circle::circle;
use super::cube::cube;
use super::fan::{between_arms, fan};
use super::plain::plain;
use crate::canvas::{Canvas, PAGE, Point};

/// The caption of tori about cables that wrap around.
pub(crate) const WRAPS: &str = "A dashed cable wraps around to the opposite side.";

/// Switches of one row, if a fabric is a single line.
const LINE: u32 = 16;

pub(crate) fn grid(canvas: &mut Canvas, grid: &Grid) {
    let used: Vec<usize> = (0..grid.sides.len())
        .filter(|&d| grid.sides[d] > 1)
        .collect();
    match used[..] {
        [d] if grid.is_ring(d) => {
            let order: Vec<_> = canvas.topology.switches().collect();
            circle(canvas, &order);
        }
        [_] => line(canvas),
        [x, y] => plane(canvas, grid, x, y),
        _ if used.iter().all(|&d| grid.sides[d] == 2) => cube(canvas, used.len()),
        [x, y, z] => solid(canvas, grid, [x, y, z]),
        _ => plain(canvas),
    }
}

/// Draws a line of switches that turns at the end of each row.
fn line(canvas: &mut Canvas) {
    let by_switch = canvas.nics_by_switch();
    let place = |switch: SwitchId| {
        let (row, turn) = (switch.0 / LINE, switch.0 % LINE);
        let column = if row % 2 == 0 { turn } else { LINE - 1 - turn };
        Point::new(f64::from(column) * 64.0, f64::from(row) * 90.0)
    };
    canvas.cables(|a, b| vec![vec![place(a), place(b)]]);
    for switch in canvas.topology.switches() {
        let at = place(switch);
        fan(canvas, &by_switch[switch.index()], at, TAU / 4.0, TAU * 0.2);
    }
    for switch in canvas.topology.switches() {
        canvas.switch(switch, place(switch), (38.0, 20.0));
    }
}

fn plane(canvas: &mut Canvas, grid: &Grid, x: usize, y: usize) {
    let by_switch = canvas.nics_by_switch();
    let columns = f64::from(grid.sides[x]);
    let most = by_switch.iter().map(Vec::len).max().unwrap_or(0);
    let wanted = match canvas.has_hosts() {
        true if most > 8 => 118.0,
        true => 92.0,
        false => 70.0,
    };
    let pitch = (PAGE / columns).clamp(40.0, wanted);
    let size = ((pitch * 0.42).min(34.0), (pitch * 0.24).min(18.0));
    let place = |switch: SwitchId| {
        let at = grid.coordinates(switch);
        Point::new(f64::from(at[x]) * pitch, f64::from(at[y]) * pitch)
    };
    canvas.cables(|a, b| {
        let (from, to) = (place(a), place(b));
        let (a, b) = (grid.coordinates(a), grid.coordinates(b));
        match [x, y].into_iter().find(|&d| a[d].abs_diff(b[d]) > 1) {
            Some(d) => stubs(from, to, d == x, pitch * 0.55),
            None => vec![vec![from, to]],
        }
    });
    if grid.is_ring(x) || grid.is_ring(y) {
        canvas.remarks.push(WRAPS.to_owned());
    }
    for switch in canvas.topology.switches() {
        between_arms(
            canvas,
            &by_switch[switch.index()],
            place(switch),
            pitch * 0.36,
        );
    }
    for switch in canvas.topology.switches() {
        canvas.switch(switch, place(switch), size);
    }
}

/// Draws three dimensions: the third goes up and to the right within each cell of the first two.
fn solid(canvas: &mut Canvas, grid: &Grid, [x, y, z]: [usize; 3]) {
    const STEP: f64 = 27.0;
    let by_switch = canvas.nics_by_switch();
    let pitch = f64::from(grid.sides[z]) * STEP + 30.0;
    let place = |switch: SwitchId| {
        let at = grid.coordinates(switch);
        let depth = f64::from(at[z]) * STEP;
        Point::new(
            f64::from(at[x]) * pitch + depth,
            f64::from(at[y]) * pitch - depth,
        )
    };
    canvas.cables(|a, b| {
        let (from, to) = (place(a), place(b));
        let (a, b) = (grid.coordinates(a), grid.coordinates(b));
        match [x, y, z].into_iter().find(|&d| a[d].abs_diff(b[d]) > 1) {
            Some(d) if d == z => vec![arc(from, to, 0.16)],
            Some(d) => stubs(from, to, d == x, 30.0),
            None => vec![vec![from, to]],
        }
    });
    if [x, y].into_iter().any(|d| grid.is_ring(d)) {
        canvas.remarks.push(WRAPS.to_owned());
    }
    for switch in canvas.topology.switches() {
        // Nothing else is drawn down and to the right of a switch.
        let nics = &by_switch[switch.index()];
        if nics.len() > 3 && canvas.has_hosts() {
            let at = place(switch);
            canvas.nic_group(nics, at.towards(TAU / 8.0, 19.0), (14.0, 10.0), at);
        } else if canvas.has_hosts() {
            for (i, &nic) in nics.iter().enumerate() {
                let turn = 0.42 * (i as f64 - (nics.len() - 1) as f64 / 2.0);
                let at = place(switch);
                canvas.nic(nic, at.towards(TAU / 8.0 + turn, 19.0), 5.0, at, None);
            }
        }
    }
    for switch in canvas.topology.switches() {
        canvas.switch(switch, place(switch), (24.0, 13.0));
    }
}

/// Returns the two ends of a cable that wraps around, leaving the picture on either side.
pub(crate) fn stubs(from: Point, to: Point, is_across: bool, length: f64) -> Vec<Vec<Point>> {
    let out = |end: Point, other: Point| {
        let away = |a: f64, b: f64| length * (a - b).signum();
        match is_across {
            true => Point::new(end.x + away(end.x, other.x), end.y),
            false => Point::new(end.x, end.y + away(end.y, other.y)),
        }
    };
    vec![vec![from, out(from, to)], vec![to, out(to, from)]]
}

/// Returns an arc that bows to the left of its direction by a fraction of its length.
pub(crate) fn arc(from: Point, to: Point, bow: f64) -> Vec<Point> {
    const STEPS: u32 = 12;
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let top = Point::new(
        (from.x + to.x) / 2.0 + 2.0 * bow * dy,
        (from.y + to.y) / 2.0 - 2.0 * bow * dx,
    );
    let point = |i: u32| {
        let t = f64::from(i) / f64::from(STEPS);
        let (a, b, c) = ((1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t);
        Point::new(
            a * from.x + b * top.x + c * to.x,
            a * from.y + b * top.y + c * to.y,
        )
    };
    (0..=STEPS).map(point).collect()
}

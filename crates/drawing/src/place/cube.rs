//! Hypercubes: three and four dimensions as nested cubes, more on a circle in Gray code order.

use std::f64::consts::TAU;

use netloom_units::SwitchId;

use super::circle::circle;
use super::fan::fan;
use crate::canvas::{Canvas, Point};

/// Side of the outer cube, in pixels.
const SIDE: f64 = 520.0;
/// Offset of the back of a cube, right and up. It is flatter than the direction to the centre, so
/// that edges into the depth and edges to the inner cube do not run side by side.
const DEPTH: (f64, f64) = (0.36, -0.14);
/// Size of the inner cube of four dimensions.
const INNER: f64 = 0.38;

pub(super) fn cube(canvas: &mut Canvas, dimensions: usize) {
    if dimensions > 4 {
        // Neighbours in a Gray code differ in one bit, so the circle itself consists of cables.
        let order: Vec<_> = (0..1u32 << dimensions)
            .map(|i| SwitchId(i ^ (i >> 1)))
            .collect();
        circle(canvas, &order);
        return;
    }
    let by_switch = canvas.nics_by_switch();
    let place = |switch: SwitchId| {
        let bit = |d: u32| f64::from(switch.0 >> d & 1) - 0.5;
        // Around the centre of the cube, so that the inner cube is in the middle of the outer one.
        let scale = match switch.0 >> 3 & 1 {
            1 => SIDE * INNER,
            _ => SIDE,
        };
        let x = bit(0) + DEPTH.0 * bit(2);
        let y = bit(1) + DEPTH.1 * bit(2);
        Point::new(x * scale, y * scale * 0.8)
    };
    canvas.cables(|a, b| vec![vec![place(a), place(b)]]);
    for switch in canvas.topology.switches() {
        let at = place(switch);
        let left = if at.x < 0.0 { TAU / 2.0 } else { 0.0 };
        // Next to the switch, away from the centre, where there are the fewest cables.
        let tilt = match (at.x < 0.0) == (at.y < 0.0) {
            true => 0.35,
            false => -0.35,
        };
        fan(
            canvas,
            &by_switch[switch.index()],
            at,
            left + tilt,
            TAU * 0.22,
        );
    }
    for switch in canvas.topology.switches() {
        canvas.switch(switch, place(switch), (34.0, 18.0));
    }
}

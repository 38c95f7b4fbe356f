//! Switches on a circle, with their NICs outside.

use std::f64::consts::TAU;

use netloom_units::SwitchId;

use super::fan::fan;
use crate::canvas::{Canvas, Point};

/// Draws switches on a circle in this order, from the top clockwise.
pub(super) fn circle(canvas: &mut Canvas, order: &[SwitchId]) {
    let middle = Point::new(0.0, 0.0);
    let n = order.len() as f64;
    let by_switch = canvas.nics_by_switch();
    // With many switches, their boxes shrink; a circle of ten thousand pixels would show nothing.
    let pitch = (2600.0 / n).clamp(11.0, 58.0);
    let radius = (n * pitch / TAU).max(90.0);
    let size = match pitch {
        p if p >= 30.0 => (34.0, 18.0),
        p => (p * 0.8, p * 0.6),
    };
    let mut places = vec![middle; canvas.topology.n_switches() as usize];
    let angle = |i: usize| TAU * (i as f64 / n - 0.25);
    for (i, &switch) in order.iter().enumerate() {
        places[switch.index()] = middle.towards(angle(i), radius);
    }
    canvas.cables(|a, b| vec![vec![places[a.index()], places[b.index()]]]);
    for (i, &switch) in order.iter().enumerate() {
        // The space that the next circle outside has between two switches.
        let room = (TAU / n * (radius + 27.0) / 27.0 * 0.85).min(TAU * 0.6);
        fan(
            canvas,
            &by_switch[switch.index()],
            places[switch.index()],
            angle(i),
            room,
        );
    }
    for switch in canvas.topology.switches() {
        canvas.switch(switch, places[switch.index()], size);
    }
}

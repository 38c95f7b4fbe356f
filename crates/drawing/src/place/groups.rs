//! Groups of switches on a circle: dragonflies and megaflies.

use std::f64::consts::TAU;

use netloom_units::SwitchId;

use super::fan::fan;
use crate::canvas::{Canvas, Point, centred};

/// Space around a switch for its NICs.
const OUTSIDE: f64 = 40.0;

/// Draws groups of `switches` consecutive switches, from the top clockwise. The switches of a group
/// are on a circle of their own, or in two rows with the leaves outside if it has leaves.
pub(crate) fn groups(canvas: &mut Canvas, switches: u16, leaves: Option<u16>) {
    let n_switches = canvas.topology.n_switches();
    let n_groups = n_switches / u32::from(switches);
    let pitch = if n_switches > 100 { 26.0 } else { 40.0 };
    let size = (pitch * 0.75, pitch * 0.42);
    let row = |n: u16| f64::from(n.saturating_sub(1)) * pitch / 2.0;
    // From the centre of a group to its outermost switch.
    let reach = match leaves {
        Some(leaves) => row(leaves.max(switches - leaves)).max(pitch * 0.8),
        None => (f64::from(switches) * pitch / TAU).max(pitch * 0.6),
    };
    let room = 2.0 * (reach + OUTSIDE);
    let radius = match n_groups {
        1 => 0.0,
        n => (f64::from(n) * room / TAU).max(room),
    };
    let middle = Point::new(0.0, 0.0);
    let mut places = Vec::with_capacity(n_switches as usize);
    for group in 0..n_groups {
        let outwards = TAU * (f64::from(group) / f64::from(n_groups) - 0.25);
        let at = middle.towards(outwards, radius);
        for index in 0..switches {
            places.push(match leaves {
                Some(leaves) => {
                    let (nth, n, side) = match index < leaves {
                        true => (index, leaves, 1.0),
                        false => (index - leaves, switches - leaves, -1.0),
                    };
                    let along = f64::from(nth) * pitch - row(n);
                    let place = at.towards(outwards, side * pitch * 0.8);
                    (place.towards(outwards + TAU / 4.0, along), outwards)
                }
                None if switches == 1 => (at, outwards),
                None => {
                    let angle = outwards + TAU * f64::from(index) / f64::from(switches);
                    (at.towards(angle, reach), angle)
                }
            });
        }
        if leaves.is_none() && switches > 5 {
            canvas.labels.push(centred(group.to_string(), at, 11.0));
        }
    }
    canvas.cables(|a, b| vec![vec![places[a.index()].0, places[b.index()].0]]);
    let by_switch = canvas.nics_by_switch();
    let width = match leaves {
        Some(_) => TAU * 0.25,
        None => (TAU / f64::from(switches)).clamp(TAU * 0.15, TAU * 0.4),
    };
    for switch in (0..n_switches).map(SwitchId) {
        let (at, direction) = places[switch.index()];
        fan(canvas, &by_switch[switch.index()], at, direction, width);
    }
    for switch in (0..n_switches).map(SwitchId) {
        canvas.switch(switch, places[switch.index()].0, size);
    }
}

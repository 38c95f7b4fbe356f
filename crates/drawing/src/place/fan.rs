//! The NICs of a switch, spread next to it.

use std::f64::consts::TAU;

use netloom_units::NicId;

use crate::canvas::{Canvas, Point};

/// Size of a NIC in a fan.
const NIC: f64 = 6.0;
/// Distance between the centres of adjacent NICs.
const PITCH: f64 = 9.0;
/// Longest cables of a fan; if they would be longer, the NICs are one box.
const LONGEST: f64 = 44.0;

/// Draws NICs on an arc around their switch, centred in the free space, or as one box if the space
/// is too small.
pub(super) fn fan(canvas: &mut Canvas, nics: &[NicId], at: Point, direction: f64, room: f64) {
    if nics.is_empty() || !canvas.has_hosts() {
        return;
    }
    let gaps = (nics.len() - 1) as f64;
    let nearest = 27.0f64;
    let radius = nearest.max(gaps * PITCH / room.max(0.1));
    if radius > LONGEST {
        let place = at.towards(direction, 30.0);
        canvas.nic_group(nics, place, (22.0, 12.0), at);
        return;
    }
    let step = PITCH / radius;
    let first = direction - step * gaps / 2.0;
    for (i, &nic) in nics.iter().enumerate() {
        let place = at.towards(first + step * i as f64, radius);
        canvas.nic(nic, place, NIC, at, None);
    }
}

/// Draws NICs between the four arms of a grid, or together in one corner if there are many.
pub(super) fn between_arms(canvas: &mut Canvas, nics: &[NicId], at: Point, radius: f64) {
    if nics.is_empty() || !canvas.has_hosts() {
        return;
    }
    let per_corner = nics.len().div_ceil(4);
    // The angle that an arm leaves free on both of its sides.
    let room = TAU / 4.0 - 0.5;
    let step = (PITCH / radius).min(room / per_corner as f64);
    if step * radius < NIC + 0.5 {
        let place = at.towards(TAU / 8.0, radius);
        canvas.nic_group(nics, place, (20.0, 11.0), at);
        return;
    }
    for (i, &nic) in nics.iter().enumerate() {
        let (corner, turn) = (i / per_corner, i % per_corner);
        let in_corner = per_corner.min(nics.len() - corner * per_corner);
        let middle = TAU / 8.0 + TAU / 4.0 * corner as f64;
        let offset = turn as f64 - (in_corner - 1) as f64 / 2.0;
        let place = at.towards(middle + step * offset, radius);
        canvas.nic(nic, place, NIC, at, None);
    }
}

//! A single switch with its NICs around it.

use std::f64::consts::TAU;

use netloom_units::SwitchId;

use crate::canvas::{Canvas, Point, SMALL_LETTERS};
use crate::layout::{Anchor, Label};

/// Preferred distance of NICs along the circle, which leaves space for names.
const PITCH: f64 = 22.0;
/// Maximum radius.
const LARGEST: f64 = 330.0;
/// Maximum number of NICs drawn individually.
const NICS_DRAWN: usize = 300;

pub(crate) fn star(canvas: &mut Canvas) {
    let middle = Point::new(0.0, 0.0);
    let nics: Vec<_> = canvas.topology.nics().collect();
    if nics.len() > NICS_DRAWN {
        if canvas.has_hosts() {
            canvas.nic_group(&nics, Point::new(0.0, 70.0), (60.0, 22.0), middle);
        }
    } else if canvas.has_hosts() {
        let radius = (nics.len() as f64 * PITCH / TAU).clamp(70.0, LARGEST);
        let pitch = TAU * radius / nics.len() as f64;
        for (i, &nic) in nics.iter().enumerate() {
            // From the top, clockwise.
            let angle = TAU * (i as f64 / nics.len() as f64 - 0.25);
            let place = middle.towards(angle, radius);
            let label_place = middle.towards(angle, radius + 10.0);
            let (anchor, side) = match libm::cos(angle) {
                c if c > 0.3 => (Anchor::Start, 0.0),
                c if c < -0.3 => (Anchor::End, 0.0),
                _ => (Anchor::Middle, 3.0 * libm::sin(angle)),
            };
            let label = (pitch >= 16.0).then(|| Label {
                text: canvas.topology.nic_name(nic),
                x_px: label_place.x,
                y_px: label_place.y + side,
                size_px: SMALL_LETTERS + 1.0,
                anchor,
                is_vertical: false,
            });
            canvas.nic(nic, place, 8.0f64.min(pitch * 0.7), middle, label);
        }
    }
    canvas.switch(SwitchId(0), middle, (64.0, 34.0));
}

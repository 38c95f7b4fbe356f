//! Levels of switches, one row each, with the NICs in the lowest row.

use netloom_units::{NicId, SwitchId};

use crate::canvas::{Canvas, PAGE, Point, SMALL_LETTERS, row_label, text_width};
use crate::layout::{Anchor, Label};

/// Maximum width of a picture that does not fit on a page.
const WIDEST: f64 = 1500.0;
/// Preferred distance between switches in a row.
const PITCH: f64 = 60.0;
/// Minimum distance between NICs that are drawn individually.
const NIC_PITCH: f64 = 4.0;
/// Height of a switch with a horizontal name.
const SWITCH_HEIGHT: f64 = 22.0;
/// Maximum height of a switch that leaves enough of the cables between rows visible; higher ones
/// move the rows apart.
const USUAL_HEIGHT: f64 = 40.0;

/// Draws switches row by row, the last row above the NICs; the rows have names.
pub(super) fn levels(canvas: &mut Canvas, rows: &[(String, Vec<SwitchId>)]) {
    let topology = canvas.topology;
    let by_switch = canvas.nics_by_switch();
    let widest = rows.iter().map(|(_, row)| row.len()).max().unwrap_or(1);
    let n_nics = topology.n_nics() as usize;
    let longest = topology
        .switches()
        .map(|s| text_width(&topology.switch_name(s), SMALL_LETTERS));
    let longest = longest.fold(0.0, f64::max) + 5.0;
    // Switches of real sites have long names: horizontal if a page is wide enough.
    let named = widest as f64 * (longest / 0.8 + 1.0);
    let pitched = match named <= PAGE {
        true => named.max(widest as f64 * PITCH),
        false => widest as f64 * PITCH,
    };
    let desired = pitched.max(n_nics as f64 * 15.0);
    // Narrow boxes first, then a picture wider than a page.
    let least = (widest as f64 * 9.0).max(n_nics as f64 * NIC_PITCH);
    let width = desired.clamp(240.0, PAGE).max(least.min(WIDEST));

    // If the longest name does not fit horizontally, all names are vertical.
    let height = match longest > width / widest as f64 * 0.8 {
        true => longest.max(SWITCH_HEIGHT),
        false => SWITCH_HEIGHT,
    };
    let higher = (height - USUAL_HEIGHT).max(0.0);
    let mut places = vec![Point::new(0.0, 0.0); topology.n_switches() as usize];
    let mut sizes = vec![(0.0, 0.0); places.len()];
    for (_, row) in rows {
        let pitch = width / row.len() as f64;
        for (i, &switch) in row.iter().enumerate() {
            places[switch.index()] = Point::new((i as f64 + 0.5) * pitch, 0.0);
            let wanted = (text_width(&topology.switch_name(switch), 11.0) + 14.0).max(36.0);
            sizes[switch.index()] = (wanted.min(pitch * 0.8), height);
        }
    }
    let mut y = 0.0;
    for (r, (name, row)) in rows.iter().enumerate() {
        if r > 0 {
            // If cables go far to the side, rows are far apart, since flat lines are hard to
            // distinguish.
            let reach = |&switch: &SwitchId| {
                let up = topology
                    .neighbours(switch)
                    .filter(|(_, other, _)| rows[r - 1].1.contains(other));
                up.map(|(_, other, _)| (places[other.index()].x - places[switch.index()].x).abs())
                    .fold(0.0, f64::max)
            };
            let farthest = row.iter().map(reach).fold(0.0, f64::max);
            y += (80.0 + farthest * 0.2).min(250.0) + higher;
        }
        for &switch in row {
            places[switch.index()].y = y;
        }
        // tidy: allow a function name
        canvas.labels.push(row_label(name.clone(), y));
    }
    let bow = |a: Point, b: Point| {
        // Cables within a level bow upwards, so that they miss the switches between.
        let top = Point::new((a.x + b.x) / 2.0, a.y - 20.0 - (b.x - a.x).abs() / 8.0);
        vec![vec![a, top, b]]
    };
    canvas.cables(|a, b| {
        let (a, b) = (places[a.index()], places[b.index()]);
        match a.y == b.y {
            true => bow(a, b),
            // From the upper side of one box to the lower side of the other.
            false => {
                let half = height / 2.0 * (b.y - a.y).signum();
                vec![vec![
                    Point::new(a.x, a.y + half),
                    Point::new(b.x, b.y - half),
                ]]
            }
        }
    });
    if canvas.has_hosts() {
        nics(canvas, rows, &by_switch, &places, (width, higher / 2.0));
    }
    for switch in topology.switches() {
        canvas.switch(switch, places[switch.index()], sizes[switch.index()]);
    }
}

/// Draws the NICs, each below its switch, in rows below the lowest level. NICs of higher levels go
/// there too.
fn nics(
    canvas: &mut Canvas,
    rows: &[(String, Vec<SwitchId>)],
    by_switch: &[Vec<NicId>],
    places: &[Point],
    (width, lower): (f64, f64),
) {
    let lowest = places.iter().map(|p| p.y).fold(0.0, f64::max);
    let y = lowest + 70.0 + lower;
    let mut owners: Vec<SwitchId> = rows
        .iter()
        .flat_map(|(_, row)| row.iter().copied())
        .collect();
    owners.retain(|s| !by_switch[s.index()].is_empty());
    owners.sort_by(|a, b| places[a.index()].x.total_cmp(&places[b.index()].x));
    let pitch = width / f64::from(canvas.topology.n_nics());
    // tidy: allow a function name
    canvas.labels.push(row_label("NICs".to_owned(), y));
    let mut before = 0.0;
    for switch in owners {
        let (nics, from) = (&by_switch[switch.index()], places[switch.index()]);
        if pitch < NIC_PITCH {
            // Rows of switches with NICs are even, or nearly.
            let box_width = (width / by_switch.len() as f64)
                .max(9.0 * 0.8)
                .max(pitch * nics.len() as f64 * 0.8);
            let middle = from.x;
            canvas.nic_group(
                nics,
                Point::new(middle, y),
                (box_width.min(44.0), 14.0),
                from,
            );
        } else {
            // Space between the NICs of one switch and those of the next.
            let air = 0.25;
            let step = pitch * nics.len() as f64 / (nics.len() as f64 + air * 2.0);
            for (i, &nic) in nics.iter().enumerate() {
                let x = before * pitch + (i as f64 + 0.5 + air) * step;
                let label = (step >= 11.0).then(|| Label {
                    text: canvas.topology.nic_name(nic),
                    x_px: x,
                    y_px: y + 9.0,
                    size_px: SMALL_LETTERS + 1.0,
                    anchor: Anchor::Start,
                    is_vertical: true,
                });
                canvas.nic(
                    nic,
                    Point::new(x, y),
                    (step * 0.6).clamp(2.0, 8.0),
                    from,
                    label,
                );
            }
        }
        before += nics.len() as f64;
    }
}

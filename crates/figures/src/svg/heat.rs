//! Coloured cells and cables, and the colour bar.

use netloom_results::view::number::rounded;

use super::canvas::{Anchor, Canvas, num, text_width};
use super::frame::Frame;
use crate::gradient::hex as color;
use crate::model::{Cell, Gauge, Map, MapLink};
use crate::ticks::tick_text;

fn share(gauge: Option<&Gauge>, value: f64) -> f64 {
    gauge.map_or(value, |gauge| gauge.share(value))
}

pub(super) fn cells(
    canvas: &mut Canvas,
    cells: &[Cell],
    gauge: Option<&Gauge>,
    frame: &Frame<'_>,
    small: f64,
) {
    let width = frame.px(1.0) - frame.px(0.0);
    let height = frame.py(1.0) - frame.py(0.0);
    let letters = small * 0.9;
    for cell in cells {
        let (x, y) = (frame.px(cell.column as f64), frame.py(cell.row as f64));
        let share = share(gauge, cell.value);
        let fill = format!(
            r##"fill="{}" stroke="#fff" stroke-width="0.4""##,
            color(share)
        );
        canvas.rect(x - width / 2.0, y - height / 2.0, width, height, &fill);
        let text = rounded((cell.value * 100.0).round() / 100.0);
        if text_width("0.00", letters) + 2.0 <= width && letters + 1.0 <= height {
            let ink = if share > 0.65 { "#fff" } else { "" };
            canvas.colored_text((x, y + letters * 0.35), Anchor::Middle, letters, ink, &text);
        }
    }
}

pub(super) fn map(canvas: &mut Canvas, map: &Map, gauge: Option<&Gauge>, frame: &Frame<'_>) {
    let scale = (frame.width / map.width).min(frame.height / map.height);
    let left = frame.left + (frame.width - map.width * scale) / 2.0;
    let at = |(x, y): (f64, f64)| (left + x * scale, frame.top + y * scale);
    // Draw the busiest on top.
    let mut links: Vec<&MapLink> = map.links.iter().collect();
    links.sort_by(|a, b| a.value.total_cmp(&b.value));
    for link in links {
        let share = share(gauge, link.value);
        // The palest colour of cells would be invisible as a line.
        let ink = color(0.15 + 0.85 * share);
        let width = 0.4 + 1.0 * share.clamp(0.0, 1.0);
        for line in &link.lines {
            let points: Vec<(f64, f64)> = line.iter().copied().map(at).collect();
            canvas.path(
                &points,
                &format!(
                    r#"fill="none" stroke="{ink}" stroke-width="{}""#,
                    num(width)
                ),
            );
        }
    }
    for place in &map.places {
        let (x, y) = at((place.x, place.y));
        let (width, height) = (place.width * scale, place.height * scale);
        let look = match place.is_switch {
            true => r##"fill="#fff" stroke="#333" stroke-width="0.5""##,
            false => r##"fill="#999""##,
        };
        canvas.rect(x - width / 2.0, y - height / 2.0, width, height, look);
    }
}

/// Returns width and height of the bar with its label.
pub(super) fn bar_size(gauge: &Gauge, font: f64) -> (f64, f64) {
    (
        text_width(&gauge.title(), font) + 6.0 + BAR + font,
        font * 2.6,
    )
}

const BAR: f64 = 80.0;

/// Draws the bar from its left end.
pub(super) fn bar(canvas: &mut Canvas, gauge: &Gauge, left: f64, top: f64, font: f64) {
    let small = font * 0.875;
    let title = gauge.title();
    canvas.text(left, top + font * 0.9, Anchor::Start, font, &title);
    let start = left + text_width(&title, font) + 6.0;
    let steps = 20;
    for step in 0..steps {
        let width = BAR / f64::from(steps);
        let middle = (f64::from(step) + 0.5) / f64::from(steps);
        let fill = format!(r#"fill="{}""#, color(middle));
        canvas.rect(
            start + f64::from(step) * width,
            top + 1.0,
            width + 0.2,
            font * 0.9,
            &fill,
        );
    }
    canvas.rect(
        start,
        top + 1.0,
        BAR,
        font * 0.9,
        r##"fill="none" stroke="#444" stroke-width="0.5""##,
    );
    for part in [0.0, 0.5, 1.0] {
        let text = tick_text(gauge.low + (gauge.high - gauge.low) * part);
        canvas.text(
            start + BAR * part,
            top + font * 0.9 + 2.0 + small,
            Anchor::Middle,
            small,
            &text,
        );
    }
}

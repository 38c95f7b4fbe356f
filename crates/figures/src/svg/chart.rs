//! Lines with bands, steps, and boxes.

use super::canvas::{Canvas, Fill, num, stroke};
use super::frame::Frame;
use crate::model::{BoxPlot, Chart, Line, Mark, Panel, Point};

/// Radius of a marker and width of a line, in points.
const RADIUS: f64 = 1.9;
/// Radius of the marker of a printed point: it is visible around that of a measured point.
pub(super) const PRINTED: f64 = 2.9;
const WIDTH: f64 = 1.0;

pub(super) fn draw(canvas: &mut Canvas, nth: usize, panel: &Panel, frame: &Frame<'_>) {
    // Lines are clipped at the frame; markers are not, since they may be on the border.
    let (x, y, width, height) = (frame.left, frame.top, frame.width, frame.height);
    canvas.add(&format!(r#"<clipPath id="panel-{nth}">"#));
    canvas.rect(x, y, width, height, "");
    canvas.add("</clipPath>");
    canvas.add(&format!(r#"<g clip-path="url(#panel-{nth})">"#));
    for reference in &panel.references {
        let points: Vec<(f64, f64)> = reference
            .points
            .iter()
            .map(|(x, y)| (frame.px(*x), frame.py(*y)))
            .collect();
        canvas.path(&points, REFERENCE);
    }
    match &panel.chart {
        Chart::Lines(lines) => {
            for line in lines.iter().filter(|line| line.joined) {
                band(canvas, line, frame);
            }
            for line in lines.iter().filter(|line| line.joined) {
                let points: Vec<(f64, f64)> =
                    line.measured().map(|point| place(frame, point)).collect();
                let width = if line.marked { WIDTH } else { 0.8 };
                canvas.path(&points, &stroke(line.style, width));
            }
        }
        Chart::Steps(lines) => {
            for line in lines {
                canvas.path(&stairs(line, frame), &stroke(line.style, WIDTH));
            }
        }
        _ => {}
    }
    canvas.add("</g>");
    match &panel.chart {
        Chart::Lines(lines) => {
            markers(canvas, lines, frame, |line, point| {
                line.marked && point.mark != Mark::Printed
            });
            markers(canvas, lines, frame, is_printed);
        }
        Chart::Steps(lines) => markers(canvas, lines, frame, is_printed),
        Chart::Boxes(boxes) => boxes_of(canvas, boxes, frame),
        _ => {}
    }
}

/// The attributes of reference lines.
pub(super) const REFERENCE: &str =
    r##"fill="none" stroke="#888" stroke-width="0.7" stroke-dasharray="2 1.5""##;

fn place(frame: &Frame<'_>, point: &Point) -> (f64, f64) {
    (frame.px(point.x), frame.py(point.y))
}

fn band(canvas: &mut Canvas, line: &Line, frame: &Frame<'_>) {
    // The interval of a saturated point is meaningless.
    let sure = line
        .measured()
        .filter(|point| point.mark != Mark::Saturated);
    let with: Vec<(f64, f64, f64)> = sure.filter_map(|p| Some((p.x, p.low?, p.high?))).collect();
    if with.len() < 2 {
        return;
    }
    let upper = with
        .iter()
        .map(|(x, _, high)| (frame.px(*x), frame.py(*high)));
    let lower = with
        .iter()
        .rev()
        .map(|(x, low, _)| (frame.px(*x), frame.py(*low)));
    let points: Vec<(f64, f64)> = upper.chain(lower).collect();
    canvas.path(
        &points,
        &format!(
            r#"fill="{}" fill-opacity="0.18" stroke="none""#,
            line.style.color.hex()
        ),
    );
}

fn stairs(line: &Line, frame: &Frame<'_>) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = vec![];
    for point in line.measured() {
        let (x, y) = place(frame, point);
        if let Some(before) = points.last().copied().filter(|before| before.1 != y) {
            points.push((x, before.1));
        }
        points.push((x, y));
    }
    points
}

/// Whether a point is printed in a paper; those are drawn on top of measured points.
fn is_printed(_: &Line, point: &Point) -> bool {
    point.mark == Mark::Printed
}

fn markers(
    canvas: &mut Canvas,
    lines: &[Line],
    frame: &Frame<'_>,
    is_marked: impl Fn(&Line, &Point) -> bool,
) {
    let n = lines.iter().filter(|line| !line.joined).count();
    for (nth, line) in lines.iter().enumerate() {
        // Points over a category are drawn side by side.
        let aside = if line.joined {
            0.0
        } else {
            ((nth as f64 + 0.5) / n as f64 - 0.5) * 0.6
        };
        let slot = frame.px(aside) - frame.px(0.0);
        for point in line.points.iter().filter(|point| is_marked(line, point)) {
            let (x, y) = place(frame, point);
            let x = if line.joined { x } else { x + slot };
            // A line that leaves the frame at saturation has its mark on the border.
            let y = match point.mark {
                Mark::Saturated => y.max(frame.top),
                _ => y,
            };
            if !frame.holds((x, y)) {
                continue;
            }
            if let (false, Some(low), Some(high)) = (line.joined, point.low, point.high) {
                canvas.stroke_line(
                    (x, frame.py(low)),
                    (x, frame.py(high)),
                    line.style.color.hex(),
                    0.7,
                );
            }
            let (fill, radius) = match point.mark {
                Mark::Ok => (Fill::Full, RADIUS),
                Mark::Saturated => (Fill::Hollow, RADIUS),
                Mark::Unsure => (Fill::Pale, RADIUS),
                Mark::Printed => (Fill::None, PRINTED),
            };
            canvas.marker((x, y), line.style, fill, radius);
        }
    }
}

fn boxes_of(canvas: &mut Canvas, boxes: &[BoxPlot], frame: &Frame<'_>) {
    let n_in_category = |category: usize| boxes.iter().filter(|b| b.category == category).count();
    let mut seen = std::collections::BTreeMap::new();
    let slot = frame.px(1.0) - frame.px(0.0);
    for b in boxes {
        let nth: &mut usize = seen.entry(b.category).or_default();
        let n = n_in_category(b.category) as f64;
        let width = (slot * 0.6 / n).min(16.0);
        let x = frame.px(b.category as f64) + (*nth as f64 + 0.5 - n / 2.0) * (slot * 0.8 / n);
        *nth += 1;
        let color = b.style.color.hex();
        let (low, high) = (frame.py(b.min), frame.py(b.max));
        let (q1, q3) = (frame.py(b.q1), frame.py(b.q3));
        canvas.stroke_line((x, low), (x, q1), color, 0.7);
        canvas.stroke_line((x, q3), (x, high), color, 0.7);
        for end in [low, high] {
            canvas.stroke_line((x - width / 4.0, end), (x + width / 4.0, end), color, 0.7);
        }
        let fill = format!(
            r##"fill="#fff" stroke="{color}" stroke-width="{}""##,
            num(0.8)
        );
        canvas.rect(x - width / 2.0, q3, width, (q1 - q3).max(0.2), &fill);
        let pale = format!(r#"fill="{color}" fill-opacity="0.25""#);
        canvas.rect(x - width / 2.0, q3, width, (q1 - q3).max(0.2), &pale);
        let median = frame.py(b.median);
        canvas.stroke_line(
            (x - width / 2.0, median),
            (x + width / 2.0, median),
            color,
            1.5,
        );
    }
}

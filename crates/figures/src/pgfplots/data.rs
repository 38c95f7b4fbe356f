//! The data files of panels.

use crate::model::{Line, Mark};

use super::tex::number;

/// The columns of the `n`-th line: x, the line itself, its band, and its points by status.
const COLUMNS: [&str; 7] = ["x", "y", "low", "high", "ok", "saturated", "unsure"];

/// Returns a table with seven columns for every line; shorter lines are filled with `nan`, which is
/// not drawn.
///
/// The mark of a saturated point beyond the axis is drawn at its upper end; the point itself is not
/// moved.
pub(super) fn of_lines(lines: &[Line], highest: f64) -> String {
    let header = (0..lines.len()).flat_map(|n| COLUMNS.map(|name| format!("{name}{n}")));
    let mut text = header.collect::<Vec<_>>().join(" ");
    text.push('\n');
    let longest = lines
        .iter()
        .map(|line| line.points.len())
        .max()
        .unwrap_or(0);
    for at in 0..longest {
        let cells = lines.iter().flat_map(|line| match line.points.get(at) {
            None => COLUMNS.map(|_| "nan".to_owned()),
            Some(point) => {
                let marked = |mark: Mark| {
                    if point.mark == mark {
                        point.y
                    } else {
                        f64::NAN
                    }
                };
                let saturated = match point.mark {
                    Mark::Saturated => point.y.min(highest),
                    Mark::Printed => point.y,
                    _ => f64::NAN,
                };
                let bound = |end: Option<f64>| match point.mark {
                    Mark::Saturated => f64::NAN,
                    _ => end.unwrap_or(f64::NAN),
                };
                // Printed points are not joined.
                let joined = match point.mark {
                    Mark::Printed => f64::NAN,
                    _ => point.y,
                };
                [
                    point.x,
                    joined,
                    bound(point.low),
                    bound(point.high),
                    marked(Mark::Ok),
                    saturated,
                    marked(Mark::Unsure),
                ]
                .map(number)
            }
        });
        text += &cells.collect::<Vec<_>>().join(" ");
        text.push('\n');
    }
    text
}

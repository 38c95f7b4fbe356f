//! The data of a figure.

use netloom_results::Csv;

use crate::model::{Chart, Figure, Line, Mark};

const COLUMNS: [&str; 10] = [
    "panel", "series", "x", "y", "low", "high", "mark", "q1", "median", "q3",
];

/// Returns the data of a figure as CSV: one line per point, box, cell or link, in the units of its
/// axes.
///
/// For a box, `low` and `high` are minimum and maximum. For a cell, `x` and `series` are its column
/// and row; for a cable, they are its ends; `y` is the value.
pub fn csv(figure: &Figure) -> String {
    let mut csv = Csv::named(COLUMNS.iter().map(|name| (*name).to_owned()));
    let number = |x: f64| x.to_string();
    let maybe = |x: Option<f64>| x.map(number).unwrap_or_default();
    let none = String::new;
    let category = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
    for panel in &figure.panels {
        let title = || panel.title.clone();
        match &panel.chart {
            Chart::Lines(lines) | Chart::Steps(lines) => {
                for Line { name, points, .. } in lines {
                    for point in points {
                        let x = match figure.x.categories() {
                            [] => number(point.x),
                            names => category(names, point.x as usize),
                        };
                        let mark = match point.mark {
                            Mark::Ok => "ok",
                            Mark::Saturated => "saturated",
                            Mark::Unsure => "unsure",
                            Mark::Printed => "printed",
                        };
                        let cells = [title(), name.clone(), x, number(point.y)];
                        let interval = [maybe(point.low), maybe(point.high), mark.to_owned()];
                        let rest = [none(), none(), none()];
                        csv.line(cells.into_iter().chain(interval).chain(rest));
                    }
                }
            }
            Chart::Boxes(boxes) => {
                for b in boxes {
                    let x = category(figure.x.categories(), b.category);
                    let numbers = [number(b.min), number(b.max), none()];
                    let quartiles = [number(b.q1), number(b.median), number(b.q3)];
                    let cells = [title(), b.name.clone(), x, none()];
                    csv.line(cells.into_iter().chain(numbers).chain(quartiles));
                }
            }
            Chart::Heat(cells) => {
                for cell in cells {
                    let row = category(figure.y.categories(), cell.row);
                    let column = category(figure.x.categories(), cell.column);
                    let cells = [title(), row, column, number(cell.value)];
                    csv.line(
                        cells
                            .into_iter()
                            .chain(std::array::from_fn::<_, 6, _>(|_| none())),
                    );
                }
            }
            Chart::Map(map) => {
                for link in &map.links {
                    let cells = [
                        title(),
                        link.to.clone(),
                        link.from.clone(),
                        number(link.value),
                    ];
                    csv.line(
                        cells
                            .into_iter()
                            .chain(std::array::from_fn::<_, 6, _>(|_| none())),
                    );
                }
            }
        }
    }
    csv.finish()
}

//! Figures drawn from one table with a column of series: those of papers.

use crate::model::{Axis, Chart, Figure, Line, Mark, Panel, Point, Scale};
use crate::style::Style;

/// A figure, and the columns of a table that it is drawn from.
#[derive(Clone, Copy, Debug)]
pub struct Drawing {
    /// Its name: lower case, digits and hyphens.
    pub id: &'static str,
    /// What it is.
    pub title: &'static str,
    /// What is seen and how to read it: sentences.
    pub caption: &'static str,
    /// The table, by its name.
    pub table: &'static str,
    /// Series that have this in their name are left out; none if it is empty.
    pub without: &'static str,
    /// What runs to the right.
    pub x: Quantity,
    /// What runs upwards.
    pub y: Quantity,
    /// Whether it is a distribution, drawn as stairs.
    pub is_distribution: bool,
}

/// A column and how it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Its name in the table.
    pub column: &'static str,
    /// What it is, without its unit.
    pub label: &'static str,
    /// The unit it is shown in; empty for counts and fractions.
    pub unit: &'static str,
    /// Values of the table are multiplied by this.
    pub factor: f64,
    /// Whether 1 minus the value is shown: the share that is above.
    pub is_complement: bool,
    /// Whether it is placed by its logarithm.
    pub is_log: bool,
}

impl Quantity {
    /// A column shown as it is, evenly placed.
    pub const fn new(column: &'static str, label: &'static str, unit: &'static str) -> Quantity {
        Quantity {
            column,
            label,
            unit,
            factor: 1.0,
            is_complement: false,
            is_log: false,
        }
    }

    /// The same in another unit.
    pub const fn times(self, factor: f64) -> Quantity {
        Quantity { factor, ..self }
    }

    /// The same placed by its logarithm.
    pub const fn log(self) -> Quantity {
        Quantity {
            is_log: true,
            ..self
        }
    }

    /// What is missing to one.
    pub const fn complement(self) -> Quantity {
        Quantity {
            is_complement: true,
            ..self
        }
    }

    /// A value as it is drawn; `None` where it has no place.
    fn value(&self, text: &str) -> Option<f64> {
        let value: f64 = text.parse().ok()?;
        let value = if self.is_complement {
            1.0 - value
        } else {
            value
        };
        let value = value * self.factor;
        (value.is_finite() && (!self.is_log || value > 0.0)).then_some(value)
    }

    fn axis(&self, values: impl Iterator<Item = f64>) -> Axis {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        let (scale, low) = match self.is_log {
            true => (Scale::Log, low),
            false => (Scale::Linear, low.min(0.0)),
        };
        Axis {
            label: self.label.to_owned(),
            unit: self.unit.to_owned(),
            scale,
            low,
            high: if high > low { high } else { low + 1.0 },
        }
    }
}

/// The figure, if the table has its columns and a point. The first column of the table names the series.
pub fn of_csv(drawing: &Drawing, csv: &str) -> Option<Figure> {
    let mut rows = csv.lines().map(cells);
    let names = rows.next()?;
    let column = |name: &str| names.iter().position(|own| own == name);
    let (x, y) = (column(drawing.x.column)?, column(drawing.y.column)?);
    let mut lines: Vec<Line> = vec![];
    for row in rows {
        let (Some(name), Some(x), Some(y)) = (row.first(), row.get(x), row.get(y)) else {
            continue;
        };
        if !drawing.without.is_empty() && name.contains(drawing.without) {
            continue;
        }
        let (Some(x), Some(y)) = (drawing.x.value(x), drawing.y.value(y)) else {
            continue;
        };
        let at = match lines.iter().position(|line| line.name == *name) {
            Some(at) => at,
            None => {
                lines.push(Line {
                    name: name.clone(),
                    style: Style::nth(lines.len()),
                    joined: true,
                    marked: true,
                    points: vec![],
                });
                lines.len() - 1
            }
        };
        lines[at].points.push(Point {
            x,
            y,
            low: None,
            high: None,
            mark: Mark::Ok,
        });
    }
    for line in &mut lines {
        // Time series and distributions have too many points to mark.
        line.marked = line.points.len() <= 20;
    }
    let points = || lines.iter().flat_map(|line| &line.points);
    points().next()?;
    let (x, y) = (
        drawing.x.axis(points().map(|point| point.x)),
        drawing.y.axis(points().map(|point| point.y)),
    );
    Some(Figure {
        id: drawing.id.to_owned(),
        title: drawing.title.to_owned(),
        caption: drawing.caption.to_owned(),
        x,
        y,
        series: if lines.len() > 1 { "series" } else { "" }.to_owned(),
        heat: None,
        panels: vec![Panel {
            title: String::new(),
            chart: match drawing.is_distribution {
                true => Chart::Steps(lines),
                false => Chart::Lines(lines),
            },
            references: vec![],
        }],
        columns: None,
    })
}

/// The cells of a line; one that has a comma is between quotes.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            letter => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(letter);
                }
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWING: Drawing = Drawing {
        id: "figure-7a",
        title: "Latency over time",
        caption: "",
        table: "onset",
        without: "S9",
        x: Quantity::new("time_us", "time", "us"),
        y: Quantity::new("latency_ns", "latency", "us").times(1e-3),
        is_distribution: false,
    };

    #[test]
    fn series_points_and_axes_come_from_the_columns() {
        let csv = "series,time_us,latency_ns\nS002-4 a,1,500\nS002-4 a,2,750\n\"S002-4 b, c\",1,1000\nS9 x,1,1\nS002-4 a,3,\n";
        let figure = of_csv(&DRAWING, csv).unwrap();
        let Chart::Lines(lines) = &figure.panels[0].chart else {
            panic!("lines");
        };
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["S002-4 a", "S002-4 b, c"]);
        let points: Vec<(f64, f64)> = lines[0].points.iter().map(|p| (p.x, p.y)).collect();
        assert_eq!(points, [(1.0, 0.5), (2.0, 0.75)]);
        assert_eq!((figure.y.low, figure.y.high), (0.0, 1.0));
    }

    #[test]
    fn what_has_no_column_or_point_is_no_figure() {
        assert!(of_csv(&DRAWING, "series,time_us\nS002-4 a,1\n").is_none());
        assert!(of_csv(&DRAWING, "series,time_us,latency_ns\n").is_none());
    }

    #[test]
    fn a_share_above_on_a_logarithmic_axis_leaves_out_zero() {
        let share = Quantity::new("share", "share above", "").complement().log();
        assert_eq!(share.value("0.75"), Some(0.25));
        assert_eq!(share.value("1"), None);
    }
}

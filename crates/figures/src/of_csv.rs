//! Figures drawn from one table with a column of series: those of papers.

use crate::model::Figure;
use crate::plot::Plot;

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
}

/// The figure, if the table has its columns and a point. The first column of the table names the series.
pub fn of_csv(drawing: &Drawing, csv: &str) -> Option<Figure> {
    Plot::from(drawing).figure(csv, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Chart;
    use crate::plot::Shown;

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
        // With some room above the highest point.
        assert_eq!((figure.y.low, figure.y.high), (0.0, 1.03));
    }

    #[test]
    fn what_has_no_column_or_point_is_no_figure() {
        assert!(of_csv(&DRAWING, "series,time_us\nS002-4 a,1\n").is_none());
        assert!(of_csv(&DRAWING, "series,time_us,latency_ns\n").is_none());
    }

    #[test]
    fn a_share_above_on_a_logarithmic_axis_leaves_out_zero() {
        let share = Shown::from(&Quantity::new("share", "share above", "").complement().log());
        assert_eq!(share.value("0.75"), Some(0.25));
        assert_eq!(share.value("1"), None);
    }
}

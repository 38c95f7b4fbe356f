//! The contents of a figure, independent of its format.
//!
//! A figure has one or several panels over the same axes. Values have the unit of their axis (a
//! latency axis in µs has points in µs), so that no format needs to scale them. The caption
//! explains marks and clipping.

use netloom_results::Verdict;
use netloom_results::view::Estimate;
use serde::{Deserialize, Serialize};

use crate::style::Style;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// Identifier and name of its files: lower case letters, digits and hyphens.
    pub id: String,
    pub title: String,
    /// What it shows and how to read it: sentences.
    pub caption: String,
    /// The x axis of every panel.
    pub x: Axis,
    /// The y axis of every panel; it runs downwards if it has categories.
    pub y: Axis,
    /// What distinguishes series: `class`, or the path of an axis. Empty if there is one series.
    pub series: String,
    /// The colour scale of heat maps.
    pub heat: Option<Gauge>,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Number of panels in a row, if their order forms columns (such as one per variant); otherwise
    /// any.
    pub columns: Option<usize>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Axis {
    /// Label, without the unit.
    pub label: String,
    /// Unit; empty for counts, fractions and categories.
    pub unit: String,
    /// Scale.
    pub scale: Scale,
    /// Lower end. Smaller values are clipped.
    pub low: f64,
    /// Upper end. Larger values are clipped.
    pub high: f64,
}

/// The scale of an axis.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    Linear,
    Log,
    /// One position per name; a value is the index of its name, from 0.
    Category(Vec<String>),
}

/// The colour scale of a heat map, from pale to dark.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Gauge {
    /// Label.
    pub label: String,
    /// Unit; empty for fractions.
    pub unit: String,
    /// Value of the palest colour.
    pub low: f64,
    /// Value of the darkest colour.
    pub high: f64,
}

/// One chart of a figure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Panel {
    /// What distinguishes it from other panels; empty if there is one panel.
    pub title: String,
    pub chart: Chart,
    /// Reference lines, grey and thin.
    pub references: Vec<Reference>,
}

/// A reference line: `delivered = offered`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reference {
    pub label: String,
    /// Its vertices: x, y.
    pub points: Vec<(f64, f64)>,
}

/// The chart of a panel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chart {
    /// Measured points, each series joined by a line with a band around it.
    Lines(Vec<Line>),
    /// Shares of a distribution as a step function: constant to the right of a point.
    Steps(Vec<Line>),
    /// Boxes over the categories of the x axis.
    Boxes(Vec<BoxPlot>),
    /// Coloured cells: categories of the x axis by categories of the y axis.
    Heat(Vec<Cell>),
    /// Coloured links between switches and NICs.
    Map(Map),
}

/// A series of points.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// Style, the same in every figure.
    pub style: Style,
    /// Whether points are joined by a line; points over categories are not.
    pub joined: bool,
    /// Whether points have markers; time series and distributions have too many points.
    pub marked: bool,
    /// Points, from left to right.
    pub points: Vec<Point>,
}

impl Line {
    /// Returns the measured points.
    pub fn measured(&self) -> impl Iterator<Item = &Point> + Clone {
        self.points
            .iter()
            .filter(|point| point.mark != Mark::Printed)
    }

    /// Returns the points printed in a paper.
    pub fn printed(&self) -> impl Iterator<Item = &Point> + Clone {
        self.points
            .iter()
            .filter(|point| point.mark == Mark::Printed)
    }
}

/// A point of a series.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Point {
    pub x: f64,
    /// The measured value.
    pub y: f64,
    /// Lower end of the interval over seeds, if any.
    pub low: Option<f64>,
    /// Upper end of that interval.
    pub high: Option<f64>,
    /// Its status.
    pub mark: Mark,
}

impl Point {
    /// Returns a point for an estimate over seeds; its interval is clipped at zero.
    pub(crate) fn measured(x: f64, estimate: Estimate, verdict: Verdict) -> Point {
        let Estimate { mean, half_width } = estimate;
        Point {
            x,
            y: mean,
            low: half_width.map(|half| (mean - half).max(0.0)),
            high: half_width.map(|half| mean + half),
            mark: verdict.into(),
        }
    }
}

/// The status of a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Valid: a filled marker.
    Ok,
    /// Saturated, so that latencies grow with the length of the run: a hollow marker.
    Saturated,
    /// Too short to tell, not stationary or not converged: a paler marker.
    Unsure,
    /// Printed in a paper, for comparison: a larger hollow marker, not joined by a line. Such
    /// points come last in their series.
    Printed,
}

impl From<Verdict> for Mark {
    fn from(verdict: Verdict) -> Mark {
        match verdict {
            Verdict::Idle | Verdict::Ok => Mark::Ok,
            Verdict::Saturated => Mark::Saturated,
            Verdict::Unfinished
            | Verdict::TooShort
            | Verdict::NotStationary
            | Verdict::NotConverged => Mark::Unsure,
        }
    }
}

/// A five-number summary.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BoxPlot {
    /// Index of its category on the x axis.
    pub category: usize,
    /// Name in the legend; boxes of one category are drawn side by side.
    pub name: String,
    pub style: Style,
    pub min: f64,
    /// First quartile.
    pub q1: f64,
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    pub max: f64,
    /// Number of values.
    pub count: usize,
}

/// A cell of a heat map.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// Index of its category on the x axis.
    pub column: usize,
    /// Index of its category on the y axis.
    pub row: usize,
    /// Value, in the unit of [`Figure::heat`].
    pub value: f64,
}

/// Values on the links of a drawn fabric. The axes of the figure are not drawn.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Map {
    /// Width of the picture, the scale of all lengths.
    pub width: f64,
    pub height: f64,
    pub places: Vec<Place>,
    pub links: Vec<MapLink>,
}

/// Position of a switch or a NIC; y grows downwards.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Place {
    pub name: String,
    pub is_switch: bool,
    /// Centre, from the left.
    pub x: f64,
    /// Centre, from the top.
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// The cables between two nodes of a drawn fabric.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MapLink {
    /// Name of the node at one end.
    pub from: String,
    /// Name of the node at the other end.
    pub to: String,
    /// Polylines to draw, as points (x, y).
    pub lines: Vec<Vec<(f64, f64)>>,
    /// Value of its busiest direction, in the unit of [`Figure::heat`].
    pub value: f64,
}

/// An entry of a legend.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LegendEntry {
    pub name: String,
    pub style: Style,
}

impl Figure {
    /// Returns every series once, in order of appearance.
    pub fn legend(&self) -> Vec<LegendEntry> {
        let mut entries: Vec<LegendEntry> = vec![];
        for panel in &self.panels {
            for (name, style) in panel.chart.series() {
                if !entries.iter().any(|entry| entry.name == name) {
                    entries.push(LegendEntry {
                        name: name.to_owned(),
                        style,
                    });
                }
            }
        }
        entries
    }

    /// Renames everything with a given name: axes, series, panels, categories.
    pub fn rename(&mut self, old: &str, new: &str) {
        let change = |text: &mut String| {
            if text == old {
                new.clone_into(text);
            }
        };
        change(&mut self.series);
        for axis in [&mut self.x, &mut self.y] {
            change(&mut axis.label);
            if let Scale::Category(names) = &mut axis.scale {
                names.iter_mut().for_each(change);
            }
        }
        for panel in &mut self.panels {
            change(&mut panel.title);
            match &mut panel.chart {
                Chart::Lines(lines) | Chart::Steps(lines) => {
                    lines.iter_mut().for_each(|line| change(&mut line.name));
                }
                Chart::Boxes(boxes) => boxes.iter_mut().for_each(|own| change(&mut own.name)),
                Chart::Heat(_) | Chart::Map(_) => {}
            }
        }
    }

    /// Whether a point has this mark.
    pub fn has_mark(&self, mark: Mark) -> bool {
        let charts = self.panels.iter().map(|panel| &panel.chart);
        let mut lines = charts.flat_map(|chart| match chart {
            Chart::Lines(lines) | Chart::Steps(lines) => lines.as_slice(),
            _ => &[],
        });
        lines.any(|line| line.points.iter().any(|point| point.mark == mark))
    }
}

impl Chart {
    /// Returns the series with their styles; some may appear twice.
    pub fn series(&self) -> Vec<(&str, Style)> {
        match self {
            Chart::Lines(lines) | Chart::Steps(lines) => {
                lines.iter().map(|l| (l.name.as_str(), l.style)).collect()
            }
            Chart::Boxes(boxes) => boxes.iter().map(|b| (b.name.as_str(), b.style)).collect(),
            Chart::Heat(_) | Chart::Map(_) => vec![],
        }
    }
}

impl Axis {
    /// Returns the label with its unit.
    pub fn title(&self) -> String {
        titled(&self.label, &self.unit)
    }

    /// Returns the names, if it has any.
    pub fn categories(&self) -> &[String] {
        match &self.scale {
            Scale::Category(names) => names,
            Scale::Linear | Scale::Log => &[],
        }
    }
}

impl Gauge {
    /// Returns the label with its unit.
    pub fn title(&self) -> String {
        titled(&self.label, &self.unit)
    }
}

fn titled(label: &str, unit: &str) -> String {
    if unit.is_empty() {
        label.to_owned()
    } else {
        format!("{label} ({unit})")
    }
}

//! What a figure shows, before anyone draws it.
//!
//! A figure is one or several panels over the same axes. Values stand in the unit of the axis they belong to
//! (a latency axis in µs has points in µs), so that whoever draws has nothing left to scale. Everything a
//! reader needs to know about marks and clipping stands in the caption.

use netloom_results::Verdict;
use netloom_results::view::Estimate;
use serde::{Deserialize, Serialize};

use crate::style::Style;

/// A figure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// Its name: lower case, digits and hyphens. The name of its files.
    pub id: String,
    /// What it is.
    pub title: String,
    /// What is seen and how to read it: sentences.
    pub caption: String,
    /// What runs to the right, in every panel.
    pub x: Axis,
    /// What runs upwards, in every panel; downwards if it has categories.
    pub y: Axis,
    /// What the series of the legend are: `class`, or the path of an axis. Empty if there is one series.
    pub series: String,
    /// What the colours of heat maps mean.
    pub heat: Option<Gauge>,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// How many panels stand side by side where the order has columns (one per variant, say); any number else.
    pub columns: Option<usize>,
}

/// An axis.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Axis {
    /// What it shows, without its unit.
    pub label: String,
    /// Its unit; empty for counts, fractions and categories.
    pub unit: String,
    /// How values are placed.
    pub scale: Scale,
    /// The lowest value seen. What lies below is clipped.
    pub low: f64,
    /// The highest value seen. What lies above is clipped.
    pub high: f64,
}

/// How the values of an axis are placed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm.
    Log,
    /// One place per name; a value is the number of its name, from 0.
    Category(Vec<String>),
}

/// What the colours of a heat map mean, from pale to dark.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Gauge {
    /// What they show.
    pub label: String,
    /// Its unit; empty for fractions.
    pub unit: String,
    /// The value of the palest.
    pub low: f64,
    /// The value of the darkest.
    pub high: f64,
}

/// One of the small charts of a figure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Panel {
    /// What tells it from the other panels; empty if it is alone.
    pub title: String,
    /// What it shows.
    pub chart: Chart,
    /// Lines to compare with, grey and thin.
    pub references: Vec<Reference>,
}

/// A line to compare with: `delivered = offered`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reference {
    /// What it means.
    pub label: String,
    /// Its corners: x, y.
    pub points: Vec<(f64, f64)>,
}

/// What a panel shows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chart {
    /// Measured points, each series joined by a line with a band around it.
    Lines(Vec<Line>),
    /// Shares of a distribution as stairs: a step is level to the right of its point.
    Steps(Vec<Line>),
    /// Boxes over the categories of the x axis.
    Boxes(Vec<BoxPlot>),
    /// Coloured cells: categories of the x axis by categories of the y axis.
    Heat(Vec<Cell>),
    /// Links between the places of switches and NICs, coloured.
    Map(Map),
}

/// A series of points.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its look, the same in every figure.
    pub style: Style,
    /// Whether neighbours are joined; points over categories are not.
    pub joined: bool,
    /// Whether its points are marked; those of time series and distributions are too many.
    pub marked: bool,
    /// Its points, from left to right.
    pub points: Vec<Point>,
}

impl Line {
    /// What was measured of it.
    pub fn measured(&self) -> impl Iterator<Item = &Point> + Clone {
        self.points
            .iter()
            .filter(|point| point.mark != Mark::Printed)
    }

    /// What a paper prints of it.
    pub fn printed(&self) -> impl Iterator<Item = &Point> + Clone {
        self.points
            .iter()
            .filter(|point| point.mark == Mark::Printed)
    }
}

/// A point of a series.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Point {
    /// Where it is.
    pub x: f64,
    /// How much was measured there.
    pub y: f64,
    /// Lower end of the interval over seeds, if there is one.
    pub low: Option<f64>,
    /// Upper end of that interval.
    pub high: Option<f64>,
    /// What must be known about it.
    pub mark: Mark,
}

impl Point {
    /// What seeds say together; no quantity is below zero.
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

/// What must be known about a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Nothing: a filled marker.
    Ok,
    /// It is saturated, so latencies grow with the length of the run: a hollow marker.
    Saturated,
    /// Too short to tell, not stationary or not converged: a paler marker.
    Unsure,
    /// Not measured but printed in a paper, to compare with: a larger hollow marker that no line joins. Such points
    /// are the last of their series.
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

/// Five numbers of many.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BoxPlot {
    /// The number of its category on the x axis.
    pub category: usize,
    /// Its name in the legend; boxes of one category stand side by side.
    pub name: String,
    /// Its look.
    pub style: Style,
    /// The smallest.
    pub min: f64,
    /// A quarter is smaller.
    pub q1: f64,
    /// Half are smaller.
    pub median: f64,
    /// Three quarters are smaller.
    pub q3: f64,
    /// The largest.
    pub max: f64,
    /// How many there are.
    pub count: usize,
}

/// A cell of a heat map.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// The number of its category on the x axis.
    pub column: usize,
    /// The number of its category on the y axis.
    pub row: usize,
    /// Its value, in the unit of [`Figure::heat`].
    pub value: f64,
}

/// Values on the links of a drawn fabric. Neither axis of the figure is drawn.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Map {
    /// Width of the picture; lengths are relative to it.
    pub width: f64,
    /// Height of the picture.
    pub height: f64,
    /// Switches and NICs.
    pub places: Vec<Place>,
    /// Links between them.
    pub links: Vec<MapLink>,
}

/// Where a switch or a NIC is drawn; y grows downwards.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// Whether it is a switch.
    pub is_switch: bool,
    /// Its middle, to the right.
    pub x: f64,
    /// Its middle, downwards.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// The cables between two places of a drawn fabric.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MapLink {
    /// The name of the place at one end.
    pub from: String,
    /// The name of the place at the other end.
    pub to: String,
    /// The lines to draw, each through its points (x, y).
    pub lines: Vec<Vec<(f64, f64)>>,
    /// The value of its busiest direction, in the unit of [`Figure::heat`].
    pub value: f64,
}

/// An entry of a legend.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LegendEntry {
    /// The name of the series.
    pub name: String,
    /// Its look.
    pub style: Style,
}

impl Figure {
    /// Every series once, in the order of appearance.
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

    /// Another name for whatever is called so: an axis, a series, a panel, a category.
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

    /// Whether some point is marked so.
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
    /// Its series with their looks; some may appear twice.
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
    /// What it shows, with its unit.
    pub fn title(&self) -> String {
        titled(&self.label, &self.unit)
    }

    /// Its names, if it has any.
    pub fn categories(&self) -> &[String] {
        match &self.scale {
            Scale::Category(names) => names,
            Scale::Linear | Scale::Log => &[],
        }
    }
}

impl Gauge {
    /// What the colours show, with the unit.
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

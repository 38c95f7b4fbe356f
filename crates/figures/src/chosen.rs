//! A custom figure: the column to draw, its x axis, and what distinguishes series.

use std::collections::BTreeMap;

use netloom_results::view::{Numbers, spelled_out};
use netloom_results::{Collection, Frame, axis_label};

use crate::axis::{Quantity, fitted};
use crate::model::{Chart, Figure, Line, Mark, Panel, Point, Scale};
use crate::places::Places;
use crate::study::{Study, category_axis, numbered, text, word_of, x_axis};
use crate::style::Style;

/// The choice of a user.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Choice {
    /// An axis of the study, or a column of `points`; by default the axis with most values. A
    /// measured load is that of all traffic; `own.offered_load` is that of the class itself.
    pub x: Option<String>,
    /// A column of `points`; `p99` is short for `latency_p99_ns`.
    pub y: String,
    /// The axis that distinguishes series, or `class`; by default all remaining axes.
    pub by: Option<String>,
    /// The traffic class; by default all traffic.
    pub class: Option<String>,
}

/// An unknown name in a choice.
#[derive(Clone, PartialEq, Debug)]
pub struct NoSuch {
    /// The kind of name: axis, column or class.
    pub what: &'static str,
    pub name: String,
    /// Known names.
    pub known: Vec<String>,
}

/// Prefix of a column of the class itself instead of all traffic.
const OWN: &str = "own.";
/// The name for traffic classes.
const CLASS: &str = "class";
/// Maximum number of panels.
const PANELS: usize = 24;

/// Draws a custom figure.
///
/// # Errors
/// If an axis, column or class does not exist.
pub fn chosen(collection: &Collection, choice: &Choice) -> Result<Figure, NoSuch> {
    let nothing = || no_such("table", "points", vec![]);
    let study = Study::new(collection).ok_or_else(nothing)?;
    let table = study.lines.table;
    let mut axes: Vec<&str> = collection
        .axes
        .iter()
        .map(String::as_str)
        .filter(|axis| table.column(axis).is_some())
        .collect();
    let y = metric(table, &choice.y)?;
    let measured = |name: &str| {
        metric(table, name).map_err(|mut error| {
            error.what = "axis or column";
            error
                .known
                .splice(0..0, axes.iter().map(|a| (*a).to_owned()));
            error
        })
    };
    let (x, is_of_all) = match choice.x.as_deref() {
        None => (study.x_name.as_str(), false),
        Some(name) if axes.contains(&name) => (name, false),
        Some(name) => match name.strip_prefix(OWN) {
            Some(own) => (measured(own)?, false),
            None => {
                let name = measured(name)?;
                (name, name.ends_with("_load"))
            }
        },
    };
    // If x is a measured value, points are joined in the order of the axis with most values.
    if !axes.contains(&x) && choice.by.as_ref() != Some(&study.x_name) {
        axes.retain(|axis| *axis != study.x_name);
    }
    let by: Vec<&str> = match choice.by.as_deref() {
        None => axes.iter().copied().filter(|axis| *axis != x).collect(),
        Some(CLASS) => vec![CLASS],
        Some(name) if axes.contains(&name) => vec![name],
        Some(name) => {
            let known = axes.iter().copied().chain([CLASS]).map(str::to_owned);
            return Err(no_such("axis", name, known.collect()));
        }
    };
    let lines = wanted(&study, choice, &by)?;
    let varied = |axis: &&&str| {
        let values = lines.iter().map(|&line| value(table, axis, line));
        values.collect::<std::collections::BTreeSet<_>>().len() > 1
    };
    let rest: Vec<&str> = axes
        .iter()
        .filter(|axis| **axis != x && !by.contains(axis))
        .filter(varied)
        .copied()
        .collect();
    let by: Vec<&str> = by.iter().filter(varied).copied().collect();
    let drawing = Drawing {
        study: &study,
        x,
        is_of_all,
        y,
        by,
        rest,
    };
    Ok(drawing.figure(&lines, choice))
}

fn no_such(what: &'static str, name: &str, known: Vec<String>) -> NoSuch {
    NoSuch {
        what,
        name: name.to_owned(),
        known,
    }
}

/// Returns the column that a name abbreviates.
fn metric<'t>(table: &'t Frame, name: &str) -> Result<&'t str, NoSuch> {
    let long = spelled_out(name);
    let columns = || {
        let columns = table.columns.iter();
        columns.filter(|column| Numbers::from(column).is_some())
    };
    let found = long
        .iter()
        .find_map(|name| columns().find(|column| column.name == *name));
    found.map(|column| column.name.as_str()).ok_or_else(|| {
        let known = columns().map(|column| column.name.clone());
        no_such(
            "column",
            name,
            known.filter(|name| !name.contains("half_width")).collect(),
        )
    })
}

/// Returns the lines of `points` to draw.
fn wanted(study: &Study<'_>, choice: &Choice, by: &[&str]) -> Result<Vec<usize>, NoSuch> {
    let table = study.lines.table;
    let classes: Vec<usize> = study.lines.about(CLASS).collect();
    match choice.class.as_deref() {
        None if by == [CLASS] => Ok(classes),
        None | Some("total") => Ok(study.lines.about("total").collect()),
        Some(name) => {
            let lines = classes.iter().copied();
            let lines: Vec<usize> = lines
                .filter(|&line| value(table, CLASS, line) == name)
                .collect();
            if lines.is_empty() {
                let mut known: Vec<String> = vec!["total".to_owned()];
                for line in classes {
                    let class = value(table, CLASS, line);
                    if !known.contains(&class) {
                        known.push(class);
                    }
                }
                return Err(no_such("class", name, known));
            }
            Ok(lines)
        }
    }
}

fn value(table: &Frame, column: &str, line: usize) -> String {
    let column = table.column(column);
    column.map_or_else(String::new, |column| text(column, line))
}

struct Drawing<'s, 'c> {
    study: &'s Study<'c>,
    x: &'s str,
    /// Whether x is a measured value of all traffic, even for lines about classes.
    is_of_all: bool,
    y: &'s str,
    by: Vec<&'s str>,
    /// Axes that distinguish panels.
    rest: Vec<&'s str>,
}

impl Drawing<'_, '_> {
    fn joined(&self, axes: &[&str], line: usize) -> String {
        let table = self.study.lines.table;
        let values = axes.iter().map(|axis| value(table, axis, line));
        values.collect::<Vec<_>>().join(", ")
    }

    fn figure(&self, lines: &[usize], choice: &Choice) -> Figure {
        let table = self.study.lines.table;
        let unit = table.column(self.y).map_or("", |column| &column.unit);
        let quantity = Quantity::of(self.y, unit);
        let places = Places::of(table, self.x);
        let totals: BTreeMap<u64, usize> = self
            .study
            .lines
            .about("total")
            .map(|line| (self.study.lines.point(line), line))
            .collect();
        let place_of = |line: usize| match self.is_of_all {
            true => totals.get(&self.study.lines.point(line)).copied(),
            false => Some(line),
        };
        let mut categories: Vec<String> = vec![];
        let mut panels: Vec<(String, Vec<Line>)> = vec![];
        let mut names: Vec<String> = vec![];
        let measured = self.study.lines.metric(self.y);
        let mut xs = vec![];
        for &line in lines {
            let Some(measured) = measured.and_then(|column| column.get(line)) else {
                continue;
            };
            let x = match &places {
                Some(places) => place_of(line).and_then(|line| places.values[line]),
                None => Some(numbered(&mut categories, value(table, self.x, line)) as f64),
            };
            let Some(x) = x else {
                continue;
            };
            xs.push(x);
            let title = self.joined(&self.rest, line);
            let name = self.joined(&self.by, line);
            let nth = numbered(&mut names, name.clone());
            let panel = match panels.iter().position(|(own, _)| *own == title) {
                Some(at) => at,
                None => {
                    panels.push((title, vec![]));
                    panels.len() - 1
                }
            };
            let known = &mut panels[panel].1;
            let at = match known.iter().position(|own| own.name == name) {
                Some(at) => at,
                None => {
                    known.push(Line {
                        name,
                        style: Style::nth(nth),
                        joined: places.is_some(),
                        marked: true,
                        points: vec![],
                    });
                    known.len() - 1
                }
            };
            let verdict = self.study.lines.verdict(line);
            known[at].points.push(Point::measured(x, measured, verdict));
        }
        panels.truncate(PANELS);
        let is_load = self.x.ends_with("load") && places.is_some();
        let ends = is_load && quantity == Quantity::Time;
        for line in panels.iter_mut().flat_map(|(_, lines)| lines) {
            line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
            if ends {
                let saturated = |point: &Point| point.mark == Mark::Saturated;
                let first = line.points.iter().position(saturated);
                line.points
                    .truncate(first.map_or(line.points.len(), |first| first + 1));
            }
        }
        let all = || panels.iter().flat_map(|(_, lines)| lines);
        let points = || all().flat_map(|line| &line.points);
        let reach = |p: &Point| [p.y, p.high.unwrap_or(p.y)];
        let calm = points().filter(|p| !ends || p.mark != Mark::Saturated);
        let mut shown: Vec<f64> = calm.flat_map(reach).collect();
        if shown.is_empty() {
            shown = points().flat_map(reach).collect();
        }
        let meaning = axis_label(self.y);
        let y = fitted(&meaning, quantity, shown.into_iter());
        for point in panels
            .iter_mut()
            .flat_map(|(_, lines)| lines)
            .flat_map(|line| &mut line.points)
        {
            point.y /= y.divisor;
            point.low = point.low.map(|low| low / y.divisor);
            point.high = point.high.map(|high| high / y.divisor);
        }
        let x = match &places {
            Some(places) => x_axis(self.study.lines, self.x, &xs, &places.unit),
            None => category_axis(self.x, categories),
        };
        let against = match places {
            Some(_) => "against",
            None => "by",
        };
        let mut caption = match choice.class.as_deref() {
            Some(class) => format!("{meaning}, {class}."),
            None => format!("{meaning}."),
        };
        let figure = Figure {
            id: format!("{}-by-{}", self.y, self.x).replace(['_', '.', ' '], "-"),
            title: format!("{meaning} {against} {}", word_of(self.x)),
            caption: String::new(),
            x,
            y: y.axis,
            series: self.by.join(", "),
            heat: None,
            panels: panels
                .into_iter()
                .map(|(title, lines)| Panel {
                    title,
                    chart: Chart::Lines(lines),
                    references: vec![],
                })
                .collect(),
            columns: None,
        };
        if figure.has_mark(Mark::Saturated) {
            caption += match ends {
                true => " Lines end at the first saturated load (hollow).",
                false => " Hollow points are saturated.",
            };
        }
        if figure.y.scale == Scale::Log {
            caption += " The vertical axis is logarithmic.";
        }
        Figure { caption, ..figure }
    }
}

//! The figures of a paper as data: columns of tables, panels, and the numbers printed in the paper.
//!
//! ```text
//!  figures.toml ─► Plot ──┐
//!  tables of results ─────┼─► Figure: measured points, joined; printed points, hollow
//!  printed.csv ─► Printed ┘
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model::{Axis, Chart, Figure, Line, Mark, Panel, Point, Scale};
use crate::style::Style;

/// A figure, with the columns of its table.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Plot {
    /// Identifier: lower case letters, digits and hyphens.
    pub id: String,
    pub title: String,
    /// What it shows and how to read it: sentences.
    pub caption: String,
    /// The name of the table. Its first column contains the series.
    pub table: String,
    /// The x axis.
    pub x: PlottedColumn,
    /// The y axis.
    pub y: PlottedColumn,
    /// Columns drawn side by side, each with a position on the x axis, instead of one column per
    /// axis.
    #[serde(default)]
    pub across: Vec<Across>,
    /// The column that distinguishes the lines of a panel; one line if it is empty.
    #[serde(default = "of_series")]
    pub line: String,
    /// The name of a line; `{}` is replaced by its cell.
    #[serde(default = "as_it_is")]
    pub line_name: String,
    /// The title of the legend.
    #[serde(default)]
    pub legend: String,
    /// Required cells of a row, by column.
    #[serde(default)]
    pub only: BTreeMap<String, String>,
    /// Series whose names contain this are omitted; none if it is empty.
    #[serde(default)]
    pub without: String,
    /// Whether it is a distribution, drawn as a step function.
    #[serde(default)]
    pub is_distribution: bool,
    /// Whether points over names are joined, because the names are ordered.
    #[serde(default)]
    pub is_ordered: bool,
    /// The panels; if empty, one panel with all series.
    #[serde(default)]
    pub panels: Vec<Part>,
}

/// A column and its presentation.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlottedColumn {
    /// Its name in the table; empty for several columns side by side.
    #[serde(default)]
    pub column: String,
    /// Label, without the unit.
    pub label: String,
    /// Unit on the axis; empty for counts and fractions.
    #[serde(default)]
    pub unit: String,
    /// Factor for values of the table.
    #[serde(default = "one")]
    pub factor: f64,
    /// Whether 1 minus the value is shown.
    #[serde(default)]
    pub is_complement: bool,
    /// Whether the scale is logarithmic.
    #[serde(default)]
    pub is_log: bool,
    /// Whether its cells are names.
    #[serde(default)]
    pub is_name: bool,
    /// Start of the axis, if not zero or the smallest value.
    pub from: Option<f64>,
    /// The column of the half width of its interval.
    pub half_width: Option<String>,
}

/// One of several columns drawn side by side.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Across {
    /// Name in the table.
    pub column: String,
    /// Name on the axis.
    pub name: String,
}

/// A panel of a figure.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Part {
    pub title: String,
    /// Its series. A name with `*` matches all series with that prefix and suffix; they are named
    /// by the part in between. A series belongs to the panel with the longest match.
    pub of: Vec<String>,
    /// Origin of the x axis, in its unit.
    #[serde(default)]
    pub zero: f64,
    /// Name of the panel in the printed numbers; by default its title.
    pub printed: Option<String>,
}

/// A number printed in the text or a table of a paper.
#[derive(Clone, PartialEq, Debug)]
pub struct Printed {
    /// The id of its figure.
    pub figure: String,
    /// The panel; empty if there is only one.
    pub panel: String,
    pub series: String,
    /// Its position: a number in the unit of the table's column, or a name.
    pub x: String,
    pub y: f64,
    /// Unit as printed.
    pub unit: String,
    /// Its location in the paper.
    pub place: String,
}

/// Margin of an axis beyond the outermost values, as a fraction of its length.
const ROOM: f64 = 0.03;

fn of_series() -> String {
    "series".to_owned()
}

fn as_it_is() -> String {
    "{}".to_owned()
}

fn one() -> f64 {
    1.0
}

/// Parses the figures in a file.
pub fn plots(toml: &str) -> Result<Vec<Plot>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        figure: Vec<Plot>,
    }
    let file: File = toml::from_str(toml).map_err(|mistake| mistake.to_string())?;
    Ok(file.figure)
}

/// Parses a file of printed numbers.
pub fn printed(csv: &str) -> Result<Vec<Printed>, String> {
    const NAMES: &str = "figure,panel,series,x,y,unit,place";
    let mut lines = csv.lines();
    if lines.next() != Some(NAMES) {
        return Err(format!("expected the first line `{NAMES}`"));
    }
    let read = |line: &str| {
        let cells: [String; 7] = cells(line)
            .try_into()
            .map_err(|_| format!("expected seven cells, found: {line}"))?;
        let [figure, panel, series, x, y, unit, place] = cells;
        let y = y
            .parse()
            .map_err(|_| format!("expected a number, found: {line}"))?;
        Ok(Printed {
            figure,
            panel,
            series,
            x,
            y,
            unit,
            place,
        })
    };
    lines.map(read).collect()
}

/// Returns the factor between two units of the same kind.
fn in_unit(unit: &str, other: &str) -> Option<f64> {
    const KINDS: [&[(&str, f64)]; 3] = [
        &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)],
        &[("%", 0.01), ("", 1.0)],
        &[("", 1.0), ("thousands", 1e3)],
    ];
    if unit == other {
        return Some(1.0);
    }
    let of = |kind: &[(&str, f64)], unit: &str| {
        let found = kind.iter().find(|(own, _)| *own == unit);
        found.map(|(_, size)| *size)
    };
    KINDS
        .iter()
        .find_map(|kind| Some(of(kind, unit)? / of(kind, other)?))
}

impl PlottedColumn {
    /// Converts a cell to the value that is drawn; `None` if it cannot be drawn.
    pub(crate) fn value(&self, text: &str) -> Option<f64> {
        let value: f64 = text.parse().ok()?;
        let value = if self.is_complement {
            1.0 - value
        } else {
            value
        };
        self.placed(value * self.factor)
    }

    fn placed(&self, value: f64) -> Option<f64> {
        (value.is_finite() && (!self.is_log || value > 0.0)).then_some(value)
    }

    fn axis(&self, values: impl Iterator<Item = f64>) -> Axis {
        let placed = values.filter_map(|value| self.placed(value));
        let (low, high) = placed.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        let (scale, low) = match self.is_log {
            true => (Scale::Log, low),
            false => (Scale::Linear, low.min(0.0)),
        };
        let high = if high > low { high } else { low + 1.0 };
        // Leave a margin for markers of the outermost points, but not at zero.
        let (below, high) = match self.is_log {
            true => {
                let room = (high / low).powf(ROOM);
                (low / room, high * room)
            }
            false => {
                let room = (high - low) * ROOM;
                (if low < 0.0 { low - room } else { low }, high + room)
            }
        };
        let low = self.from.unwrap_or(below);
        Axis {
            label: self.label.clone(),
            unit: self.unit.clone(),
            scale,
            low,
            high,
        }
    }
}

impl Part {
    /// Returns the short name of a series that matches one of `of`, and the length of the match.
    fn named<'a>(&self, series: &'a str) -> Option<(&'a str, usize)> {
        self.of.iter().find_map(|own| match own.split_once('*') {
            Some((begin, end)) => {
                let short = series.strip_prefix(begin)?.strip_suffix(end)?;
                Some((short, begin.len() + end.len()))
            }
            None => (series == own).then_some((series, own.len())),
        })
    }

    /// Returns the name of the panel in the printed numbers.
    pub fn printed(&self) -> &str {
        self.printed.as_deref().unwrap_or(&self.title)
    }
}

/// A table by rows.
struct Rows {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Rows {
    fn read(csv: &str) -> Option<Rows> {
        let mut rows = csv.lines().map(cells);
        let names = rows.next()?;
        Some(Rows {
            names,
            rows: rows.collect(),
        })
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }
}

/// The values at a position of a line, one for each row.
#[derive(Default)]
struct Place {
    values: Vec<f64>,
    half_width: Option<f64>,
}

/// The lines of a panel with their positions, from left to right.
#[derive(Default)]
struct Drawn {
    lines: Vec<(String, Vec<(f64, Place)>)>,
}

impl Drawn {
    fn add(&mut self, line: &str, x: f64, y: f64, half_width: Option<f64>, is_mean: bool) {
        let at = match self.lines.iter().position(|(own, _)| own == line) {
            Some(at) => at,
            None => {
                self.lines.push((line.to_owned(), vec![]));
                self.lines.len() - 1
            }
        };
        let places = &mut self.lines[at].1;
        let at = places.iter().position(|(own, _)| is_mean && *own == x);
        let at = match at {
            Some(at) => at,
            None => {
                places.push((x, Place::default()));
                places.len() - 1
            }
        };
        places[at].1.values.push(y);
        places[at].1.half_width = half_width;
    }
}

impl Plot {
    /// Draws the figure if the table has its columns and at least one point. Rows with the same
    /// position are seeds: their mean is drawn.
    pub fn figure(&self, csv: &str, printed: &[Printed]) -> Option<Figure> {
        let rows = Rows::read(csv)?;
        let mut names: Vec<String> = self.across.iter().map(|own| own.name.clone()).collect();
        let whole = [Part {
            title: String::new(),
            of: vec!["*".to_owned()],
            zero: 0.0,
            printed: None,
        }];
        let parts = match self.panels.as_slice() {
            [] => &whole,
            parts => parts,
        };
        let mut panels = vec![];
        for part in parts {
            let drawn = self.drawn(&rows, part, &mut names)?;
            if !drawn.lines.is_empty() {
                panels.push((part, drawn));
            }
        }
        let mut looks: Vec<String> = vec![];
        let mut style = |name: &str| {
            let at = looks.iter().position(|own| own == name);
            Style::nth(at.unwrap_or_else(|| {
                looks.push(name.to_owned());
                looks.len() - 1
            }))
        };
        let mut made = vec![];
        for (part, mut drawn) in panels {
            let mut lines = vec![];
            let is_here = |one: &&Printed| one.figure == self.id && one.panel == part.printed();
            let here = || printed.iter().filter(is_here);
            // Printed numbers without a measured line, such as the target of a paper.
            for one in here() {
                if drawn.lines.iter().all(|(name, _)| *name != one.series) {
                    drawn.lines.push((one.series.clone(), vec![]));
                }
            }
            for (name, places) in drawn.lines {
                let own = here().filter(|one| one.series == name);
                let own = own.filter_map(|one| self.printed_point(one, &names));
                // Time series and distributions have too many points to mark.
                let marked = places.len() <= 20;
                let points: Vec<Point> = places.iter().map(measured).chain(own).collect();
                if !points.is_empty() {
                    lines.push(Line {
                        style: style(&name),
                        joined: names.is_empty() || self.is_ordered,
                        marked,
                        points,
                        name,
                    });
                }
            }
            made.push(Panel {
                title: part.title.clone(),
                chart: match self.is_distribution {
                    true => Chart::Steps(lines),
                    false => Chart::Lines(lines),
                },
                references: vec![],
            });
        }
        self.finished(made, names, looks.len())
    }

    fn finished(&self, panels: Vec<Panel>, names: Vec<String>, n_lines: usize) -> Option<Figure> {
        let lines = panels.iter().flat_map(|panel| match &panel.chart {
            Chart::Lines(lines) | Chart::Steps(lines) => lines.as_slice(),
            _ => &[],
        });
        let points: Vec<Point> = lines.flat_map(|line| &line.points).copied().collect();
        if points.is_empty() {
            return None;
        }
        let x = match names.is_empty() {
            true => self.x.axis(points.iter().map(|point| point.x)),
            false => Axis {
                label: self.x.label.clone(),
                unit: String::new(),
                low: -0.5,
                high: names.len() as f64 - 0.5,
                scale: Scale::Category(names),
            },
        };
        let reach = points
            .iter()
            .flat_map(|p| [p.low.unwrap_or(p.y), p.y, p.high.unwrap_or(p.y)]);
        let mut figure = Figure {
            id: self.id.clone(),
            title: self.title.clone(),
            caption: self.caption.clone(),
            y: self.y.axis(reach),
            x,
            series: if n_lines > 1 {
                self.legend.as_str()
            } else {
                ""
            }
            .to_owned(),
            heat: None,
            panels,
            columns: None,
        };
        if figure.has_mark(Mark::Printed) {
            let remark = " Hollow markers are the numbers that the paper prints.";
            figure.caption.push_str(remark);
        }
        Some(figure)
    }

    /// Returns the lines of a panel; `None` if a column is missing. Adds new names of the x axis to
    /// `names`.
    fn drawn(&self, rows: &Rows, part: &Part, names: &mut Vec<String>) -> Option<Drawn> {
        let line = match self.line.as_str() {
            "" => None,
            name => Some(rows.column(name)?),
        };
        let only: Option<Vec<(usize, &str)>> = self
            .only
            .iter()
            .map(|(name, cell)| Some((rows.column(name)?, cell.as_str())))
            .collect();
        let only = only?;
        let half_width = match &self.y.half_width {
            Some(name) => Some(rows.column(name)?),
            None => None,
        };
        let axes = match self.across.as_slice() {
            [] => Some((rows.column(&self.x.column)?, rows.column(&self.y.column)?)),
            _ => None,
        };
        let across: Option<Vec<usize>> = self
            .across
            .iter()
            .map(|own| rows.column(&own.column))
            .collect();
        let across = across?;
        let mut drawn = Drawn::default();
        for row in &rows.rows {
            let series = row.first().map_or("", String::as_str);
            let Some((short, written)) = part.named(series) else {
                continue;
            };
            let mut others = self.panels.iter().filter_map(|other| other.named(series));
            if others.any(|(_, longer)| longer > written) {
                continue;
            }
            let is_out = !self.without.is_empty() && series.contains(&self.without);
            let cell = |at: usize| row.get(at).map_or("", String::as_str);
            if is_out || only.iter().any(|(at, wanted)| cell(*at) != *wanted) {
                continue;
            }
            let of = |at: usize| if at == 0 { short } else { cell(at) };
            let name = line.map_or(String::new(), |at| self.line_name.replace("{}", of(at)));
            let half_width = half_width.and_then(|at| self.y.value(cell(at)));
            for (n, &at) in across.iter().enumerate() {
                if let Some(y) = self.y.value(cell(at)) {
                    drawn.add(&name, n as f64, y, half_width, true);
                }
            }
            let Some((x, y)) = axes else { continue };
            let Some(y) = self.y.value(cell(y)) else {
                continue;
            };
            let x = match self.x.is_name {
                true => Some(place_of(of(x), names)),
                false => self.x.value(cell(x)).map(|x| x - part.zero),
            };
            if let Some(x) = x {
                // A distribution may have several shares at one value.
                drawn.add(&name, x, y, half_width, !self.is_distribution);
            }
        }
        Some(drawn)
    }

    /// Converts a printed number to the units of the axes; `None` if it cannot be drawn.
    pub fn printed_point(&self, one: &Printed, names: &[String]) -> Option<Point> {
        let x = match names {
            [] => self.x.value(&one.x)?,
            names => names.iter().position(|name| *name == one.x)? as f64,
        };
        Some(Point {
            x,
            y: self.y.placed(one.y * in_unit(&one.unit, &self.y.unit)?)?,
            low: None,
            high: None,
            mark: Mark::Printed,
        })
    }
}

/// Returns the index of a name, which is added if it is new.
fn place_of(name: &str, names: &mut Vec<String>) -> f64 {
    let at = names.iter().position(|own| own == name);
    let at = at.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    at as f64
}

fn measured((x, place): &(f64, Place)) -> Point {
    let mean = place.values.iter().sum::<f64>() / place.values.len() as f64;
    let half_width = place.half_width.filter(|_| place.values.len() == 1);
    Point {
        x: *x,
        y: mean,
        low: half_width.map(|half| (mean - half).max(0.0)),
        high: half_width.map(|half| mean + half),
        mark: Mark::Ok,
    }
}

/// Splits a line into cells; a cell with a comma is quoted.
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

    const FIGURE: &str = r#"
[[figure]]
id = "shares"
title = "Shares"
caption = "What each level gets."
table = "throughput"
line = "class"
line-name = "level {}"
x = { column = "series", label = "arbiter", is-name = true }
y = { column = "share", label = "share", unit = "%", factor = 100.0 }
panels = [{ title = "small", of = ["S1 *"], printed = "large" }]
"#;

    #[test]
    fn seeds_are_averaged_and_what_is_printed_stands_beside_them() {
        let plot = &plots(FIGURE).unwrap()[0];
        let csv = "series,class,share\nS1 RR,0,0.2\nS1 RR,0,0.4\nS1 WFQ,0,0.5\nS2 RR,0,0.9\n";
        let printed = printed(
            "figure,panel,series,x,y,unit,place\nshares,large,level 0,WFQ,0.25,,Table 1\n\
             shares,large,level 0,FIFO,1,%,Table 1\n",
        );
        let figure = plot.figure(csv, &printed.unwrap()).unwrap();
        assert_eq!(figure.x.categories(), ["RR", "WFQ"]);
        let Chart::Lines(lines) = &figure.panels[0].chart else {
            panic!("lines");
        };
        assert_eq!((lines.len(), lines[0].name.as_str()), (1, "level 0"));
        let points = lines[0].points.iter().map(|p| (p.x, p.y.round(), p.mark));
        assert_eq!(
            points.collect::<Vec<_>>(),
            [
                (0.0, 30.0, Mark::Ok),
                (1.0, 50.0, Mark::Ok),
                (1.0, 25.0, Mark::Printed)
            ]
        );
        assert!(figure.caption.ends_with("the paper prints."));
    }

    #[test]
    fn columns_beside_each_other_are_places() {
        let toml = FIGURE.replace(
            "x = {",
            "across = [{ column = \"p50\", name = \"50 %\" }, \
             { column = \"p99\", name = \"99 %\" }]\nx = {",
        );
        let plot = &plots(&toml).unwrap()[0];
        let figure = plot.figure("series,class,p50,p99\nS1 RR,0,0.1,0.2\n", &[]);
        assert_eq!(figure.unwrap().x.categories(), ["50 %", "99 %"]);
    }

    #[test]
    fn units_of_one_kind_are_converted() {
        let is = |unit, other, factor: f64| {
            in_unit(unit, other).is_some_and(|own| (own / factor - 1.0).abs() < 1e-12)
        };
        assert!(is("us", "ms", 1e-3) && is("%", "", 0.01) && is("flits", "flits", 1.0));
        assert_eq!(in_unit("ns", "%"), None);
    }

    #[test]
    fn unknown_keys_and_lines_that_lack_cells_are_refused() {
        assert!(plots(&FIGURE.replace("caption", "text")).is_err());
        assert!(printed("figure,x\n").is_err());
        assert!(printed("figure,panel,series,x,y,unit,place\na,b\n").is_err());
    }
}

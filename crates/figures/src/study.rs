//! Chooses x axis, series and panels from the differences between points.
//!
//! The x axis is the load, otherwise the quantity with most values, otherwise the names with most
//! values, side by side. An axis with one value is ignored. The other axes and the variants become
//! series, or panels if there would be too many series.

use std::collections::BTreeMap;

use netloom_results::view::{self, Lines, Numbers, words};
use netloom_results::{
    Collection, Column, Datum, Frame, FrameColumn, Words, axis_label, described,
};

use crate::combine::{FOLDER, RUN};
use crate::model::{Axis, Mark, Scale};
use crate::places::Places;
use crate::style::Style;
use crate::ticks::{round_ends, round_log_ends, tick_text};

/// Maximum number of series in a panel that are easy to distinguish.
const SERIES_IN_A_PANEL: usize = 7;

pub(crate) struct Study<'a> {
    pub(crate) collection: &'a Collection,
    /// The table `points`.
    pub(crate) lines: Lines<'a>,
    /// Whether intervals are over seeds.
    pub(crate) has_several_seeds: bool,
    /// The x axis of figures over all points.
    pub(crate) x: Axis,
    /// The axis of the study that it shows.
    pub(crate) x_name: String,
    /// Its name in a title: `load`, `input buffer`, `arbiter`.
    x_word: String,
    /// Whether it is a quantity, so that points may be joined.
    pub(crate) is_numeric: bool,
    /// Whether it is the load, so that all points beyond saturation are saturated.
    pub(crate) is_load: bool,
    /// Values of the axes that distinguish panels; one empty text if there are none.
    pub(crate) facets: Vec<String>,
    /// Values of the axes that distinguish series; one empty text if there are none.
    pub(crate) series: Vec<String>,
    /// What distinguishes series.
    pub(crate) series_title: String,
    /// Traffic classes, or service levels if there is only one class.
    pub(crate) groups: Groups,
    pub(crate) points: BTreeMap<u64, StudyPoint>,
}

/// A point of the study and its position in figures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct StudyPoint {
    pub(crate) number: u64,
    pub(crate) x: f64,
    pub(crate) facet: usize,
    pub(crate) series: usize,
    /// Its status as a whole.
    pub(crate) mark: Mark,
}

/// Groups of traffic: classes or service levels.
pub(crate) struct Groups {
    pub(crate) names: Vec<String>,
    /// Whether they are service levels.
    pub(crate) by_sl: bool,
}

impl Groups {
    fn new(lines: Lines<'_>) -> Groups {
        let distinct = |scope: &str, column: &str| -> Vec<String> {
            let mut found: Vec<String> = vec![];
            let Some(column) = lines.table.column(column) else {
                return found;
            };
            for line in lines.about(scope) {
                let name = text(column, line);
                if !name.is_empty() && !found.contains(&name) {
                    found.push(name);
                }
            }
            found
        };
        let classes = distinct("class", "class");
        let mut sls = distinct("sl", "sl");
        if classes.len() > 1 || sls.len() < 2 {
            return Groups {
                names: classes,
                by_sl: false,
            };
        }
        sls.sort_by_key(|sl| sl.parse().unwrap_or(u64::MAX));
        let names = sls.iter().map(|sl| format!("SL {sl}")).collect();
        Groups { names, by_sl: true }
    }

    /// Returns what the groups are, for legends.
    pub(crate) fn title(&self) -> &'static str {
        if self.by_sl { "service level" } else { "class" }
    }

    /// Returns the scope of their lines in tables of points and results.
    pub(crate) fn scope(&self) -> &'static str {
        if self.by_sl { "sl" } else { "class" }
    }

    pub(crate) fn style(&self, group: usize) -> Style {
        Style::nth(group)
    }

    /// Returns a reader of the group of a line, for tables with the columns `class` and `sl`.
    pub(crate) fn reader<'t>(&self, table: &'t Frame) -> GroupOf<'t> {
        if self.by_sl {
            let sls = Numbers::of(table, "sl");
            let number = |name: &String| name.trim_start_matches("SL ").parse().ok();
            return GroupOf::Sl(sls, self.names.iter().filter_map(number).collect());
        }
        let classes = words(table, "class");
        let names = classes.map_or(&[][..], |classes| &classes.words);
        let group = |word: &String| self.names.iter().position(|name| name == word);
        GroupOf::Class(classes, names.iter().map(group).collect())
    }
}

/// Finds the group of a line.
pub(crate) enum GroupOf<'t> {
    Class(Option<&'t Words>, Vec<Option<usize>>),
    Sl(Option<Numbers<'t>>, Vec<u64>),
}

impl GroupOf<'_> {
    pub(crate) fn get(&self, line: usize) -> Option<usize> {
        match self {
            GroupOf::Class(classes, groups) => {
                let word = classes.as_ref()?.lines.get(line)?;
                groups.get(word as usize).copied().flatten()
            }
            GroupOf::Sl(column, numbers) => {
                let sl = column.and_then(|column| column.get(line))?;
                numbers.iter().position(|number| *number == sl as u64)
            }
        }
    }
}

/// Formats a value for display.
pub(crate) fn text(column: &FrameColumn, line: usize) -> String {
    column.values.datum(line).to_string()
}

impl<'a> Study<'a> {
    /// Reads the points of a folder; `None` if there are none.
    pub(crate) fn new(collection: &'a Collection) -> Option<Study<'a>> {
        let table = collection.table("points")?;
        let measured = view::Study::of(collection)?;
        measured.points.first()?;
        let x_name = x_name(table, &measured);
        let axes = independent(&measured, x_name);
        let (facet_axes, series_axes) = arranged(&measured, &axes);
        let places = x_name.and_then(|name| Places::of(table, name));
        let mut facets = vec![];
        let mut series = vec![];
        let mut categories = vec![];
        let mut xs = vec![];
        let mut points = BTreeMap::new();
        for own in &measured.points {
            let x = match (&places, x_name) {
                (Some(places), _) => places.values[own.line]?,
                (None, Some(name)) => {
                    numbered(&mut categories, joined(&measured, own, &[name])) as f64
                }
                (None, None) => 0.0,
            };
            let point = StudyPoint {
                number: own.number,
                x,
                facet: numbered(&mut facets, joined(&measured, own, &facet_axes)),
                series: numbered(&mut series, joined(&measured, own, &series_axes)),
                mark: own.verdict.into(),
            };
            xs.push(x);
            points.insert(own.number, point);
        }
        let name = x_name.unwrap_or_default();
        let x = match &places {
            Some(places) => x_axis(Lines::of(table), name, &xs, &places.unit),
            // Names of folders need no label.
            None if [FOLDER, RUN].contains(&name) => category_axis("", categories),
            None => category_axis(name, categories),
        };
        Some(Study {
            collection,
            lines: Lines::of(table),
            has_several_seeds: measured.points.iter().any(|point| point.seeds > 1),
            x,
            x_name: name.to_owned(),
            x_word: word_of(name),
            is_numeric: places.is_some(),
            is_load: places.is_some() && name.ends_with("load"),
            facets,
            series,
            series_title: series_axes.join(", "),
            groups: Groups::new(Lines::of(table)),
            points,
        })
    }

    /// Whether there are several positions along the x axis.
    pub(crate) fn is_sweep(&self) -> bool {
        let first = self.points.values().next().map(|point| point.x);
        self.points.values().any(|point| Some(point.x) != first)
    }

    /// Returns the style of a series.
    pub(crate) fn series_style(&self, series: usize) -> Style {
        Style::nth(series)
    }

    /// Returns the name of a position along the x axis: `load 0.5`.
    pub(crate) fn x_text(&self, x: f64) -> String {
        let value = self.x_value(x);
        match &self.x.scale {
            Scale::Category(_) => value,
            _ if self.is_load || self.x.unit.is_empty() => format!("{} {value}", self.x_word),
            _ => format!("{} {value} {}", self.x_word, self.x.unit),
        }
    }

    /// Returns the value of a position along the x axis, without its name and unit: `0.5`.
    pub(crate) fn x_value(&self, x: f64) -> String {
        match &self.x.scale {
            Scale::Category(names) => names.get(x as usize).cloned().unwrap_or_default(),
            _ => tick_text((x * 1e9).round() / 1e9),
        }
    }

    /// Returns a title that includes the x axis.
    pub(crate) fn titled(&self, what: &str) -> String {
        match (self.is_numeric, self.x_word.as_str()) {
            (true, word) => format!("{what} against {word}"),
            (false, word) if [FOLDER, RUN].contains(&word) => format!("{what} of each {word}"),
            (false, word) => format!("{what} by {word}"),
        }
    }

    /// Whether there are few points with names only, so that they are compared one by one.
    pub(crate) fn is_side_by_side(&self) -> bool {
        let is_plain = self.series.len() == 1 && self.facets.len() == 1;
        let n = self.points.len();
        !self.is_numeric && is_plain && n > 1 && n <= SERIES_IN_A_PANEL
    }

    /// Returns the name of a series with its panel, without a position along the x axis.
    pub(crate) fn series_text(&self, facet: usize, series: usize) -> String {
        let parts = [&self.facets[facet], &self.series[series]];
        let parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
        parts
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Returns the name of a point.
    pub(crate) fn point_text(&self, point: &StudyPoint) -> String {
        let series = self.series_text(point.facet, point.series);
        let place = if self.is_sweep() {
            self.x_text(point.x)
        } else {
            String::new()
        };
        match (series.is_empty(), place.is_empty()) {
            (true, _) => place,
            (_, true) => series,
            _ => format!("{series}, {place}"),
        }
    }

    /// Selects the points for detail figures: at the lowest, a middle and the highest position
    /// along the x axis at which no series is saturated, so that series can be compared. If there
    /// is none, selects the lowest of each series.
    pub(crate) fn chosen(&self, at_most: usize) -> Vec<StudyPoint> {
        if !self.is_numeric {
            return self.points.values().take(at_most).copied().collect();
        }
        let mut by_x: BTreeMap<u64, Vec<&StudyPoint>> = BTreeMap::new();
        for point in self.points.values() {
            by_x.entry(ordered_bits(point.x)).or_default().push(point);
        }
        let n_series = self
            .points
            .values()
            .map(|point| (point.facet, point.series));
        let n_series = n_series.collect::<std::collections::BTreeSet<_>>().len();
        let complete = |points: &&Vec<&StudyPoint>| points.len() >= n_series;
        let calm = |points: &&Vec<&StudyPoint>| points.iter().all(|p| p.mark != Mark::Saturated);
        let mut places: Vec<&Vec<&StudyPoint>> =
            by_x.values().filter(complete).filter(calm).collect();
        if places.is_empty() {
            places = by_x.values().filter(complete).take(1).collect();
        }
        if places.is_empty() {
            places = by_x.values().take(1).collect();
        }
        let last = places.len().saturating_sub(1);
        let mut picked = match at_most / n_series.max(1) {
            0 | 1 => vec![last],
            2 => vec![0, last],
            _ => vec![0, last / 2, last],
        };
        picked.dedup();
        let mut chosen: Vec<StudyPoint> = picked
            .iter()
            .flat_map(|at| places[*at].iter().map(|p| **p))
            .collect();
        chosen.sort_by(|a, b| {
            (a.facet, a.series)
                .cmp(&(b.facet, b.series))
                .then(a.x.total_cmp(&b.x))
        });
        chosen.truncate(at_most.max(1));
        chosen
    }
}

/// Chooses the x axis among those with several values: the load, otherwise a quantity, otherwise
/// names.
fn x_name<'n>(table: &Frame, study: &'n view::Study) -> Option<&'n str> {
    let is_quantity = |name: &str| {
        let places = Places::of(table, name);
        let mut points = study.points.iter();
        places.is_some_and(|places| points.all(|point| places.values[point.line].is_some()))
    };
    // The one with most values, then the first. Folders come last, since they distinguish series.
    let rank = |name: &str| {
        let kind = match is_quantity(name) {
            true if name.ends_with("load") => 2,
            true => 1,
            false => 0,
        };
        (kind, distinct(study, &[name]), name != FOLDER)
    };
    let names = study.axes.iter().map(String::as_str);
    let varied = names.filter(|name| distinct(study, &[name]) > 1);
    varied.rev().max_by_key(|name| rank(name))
}

/// Returns the name of an axis in a title: the label of a measured column, or the last component of
/// a path that is not a common ending.
pub(crate) fn word_of(axis: &str) -> String {
    if let Some(column) = described(axis) {
        return column.axis_label().to_lowercase();
    }
    let mut words = axis.rsplit('.').filter(|word| *word != "kind");
    words.next().unwrap_or(axis).replace('-', " ")
}

/// Returns the other axes, without redundant ones: axes that step together with another, or have
/// one value.
fn independent<'n>(study: &'n view::Study, x: Option<&'n str>) -> Vec<&'n str> {
    let adds = |chosen: &[&str], name: &str| {
        let with: Vec<&str> = chosen.iter().copied().chain([name]).collect();
        distinct(study, &with) > distinct(study, chosen)
    };
    let mut axes: Vec<&str> = vec![];
    let names = study.axes.iter().map(String::as_str);
    for name in names.filter(|name| Some(*name) != x) {
        if adds(&axes, name) && x.is_none_or(|x| adds(&[x], name)) {
            axes.push(name);
        }
    }
    axes
}

/// Splits axes into those that distinguish panels and those that distinguish series.
fn arranged<'n>(study: &view::Study, axes: &[&'n str]) -> (Vec<&'n str>, Vec<&'n str>) {
    if axes.len() < 2 || distinct(study, axes) <= SERIES_IN_A_PANEL {
        return (vec![], axes.to_vec());
    }
    let fits = |axis: &&&str| distinct(study, &[axis]) <= SERIES_IN_A_PANEL;
    let most = axes.iter().filter(fits);
    let most = most.max_by_key(|axis| distinct(study, &[axis]));
    let series = *most.unwrap_or(&axes[0]);
    let facets = axes.iter().copied().filter(|axis| *axis != series);
    (facets.collect(), vec![series])
}

/// Returns the number of distinct combinations of values.
fn distinct(study: &view::Study, axes: &[&str]) -> usize {
    let all = study.points.iter().map(|point| joined(study, point, axes));
    all.collect::<std::collections::BTreeSet<_>>().len()
}

/// Returns the values of a point on some axes, as one text.
fn joined(study: &view::Study, point: &view::Point, axes: &[&str]) -> String {
    let values = axes.iter().filter_map(|axis| study.value(point, axis));
    values.map(Datum::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns the index of a text in a list, to which it is added if it is new.
pub(crate) fn numbered(list: &mut Vec<String>, text: String) -> usize {
    list.iter()
        .position(|known| *known == text)
        .unwrap_or_else(|| {
            list.push(text);
            list.len() - 1
        })
}

/// Whether the values of an axis are the offered load of the whole fabric, not that of a class.
fn is_offered(lines: Lines<'_>, name: &str) -> bool {
    let number = |name: &str| Numbers::of(lines.table, name);
    let (Some(set), Some(seen)) = (number(name), number("offered_load")) else {
        return false;
    };
    let both = lines.about("total");
    let both = both.filter_map(|line| Some((set.get(line)?, seen.get(line)?)));
    let agree: Vec<bool> = both
        .map(|(set, seen)| (seen - set).abs() <= 0.1 * set)
        .collect();
    2 * agree.iter().filter(|agrees| **agrees).count() > agree.len()
}

/// Returns an axis that fits all these positions along a quantity: an axis of the study or a
/// measured column. Its label is the same in every figure.
pub(crate) fn x_axis(lines: Lines<'_>, name: &str, xs: &[f64], unit: &str) -> Axis {
    let is_load = name.ends_with("load");
    // Paths of keys contain dots.
    let label = match name.contains('.') {
        true if is_load && is_offered(lines, name) => axis_label("offered_load"),
        true => name.to_owned(),
        false => described(name).map_or_else(|| name.to_owned(), Column::axis_label),
    };
    let unit = if is_load && unit.is_empty() {
        "fraction"
    } else {
        unit
    };
    let unit = if unit == "fraction" {
        "fraction of link rate"
    } else {
        unit
    };
    let min = xs.iter().copied().fold(f64::INFINITY, f64::min);
    let max = xs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_log = !is_load && min > 0.0 && max / min >= 30.0;
    let from_zero = min >= 0.0 && min < 0.5 * max;
    let (scale, (low, high)) = match is_log {
        true => (Scale::Log, round_log_ends(min, max)),
        false => (
            Scale::Linear,
            round_ends(if from_zero { 0.0 } else { min }, max),
        ),
    };
    Axis {
        label,
        unit: unit.to_owned(),
        scale,
        low,
        high,
    }
}

/// Returns an axis with a position for every name.
pub(crate) fn category_axis(label: &str, names: Vec<String>) -> Axis {
    Axis {
        label: label.to_owned(),
        unit: String::new(),
        low: -0.5,
        high: names.len() as f64 - 0.5,
        scale: Scale::Category(names),
    }
}

/// Returns bits in the same order as the values.
pub(crate) fn ordered_bits(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 0 {
        bits | (1 << 63)
    } else {
        !bits
    }
}

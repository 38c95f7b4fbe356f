//! Converts a figure to Vega-Lite: one specification per kind of panel, and separate data.
//!
//! The script of the page adds what depends on the reader: size, colours of the theme, hidden
//! series. A scale with the range `"series"` gets colours, dashes and markers from the legend.
//! Names from files occur in data only, never in expressions.

use netloom_figures::{Axis, Chart, Figure, Line, Mark, Marker, Panel, Reference, Scale, ticks};
use netloom_results::view::number;
use serde_json::{Map, Value, json};

use crate::dataset::{Dataset, Item};

/// Maximum number of points of a panel that react to the pointer.
const MOST_SENSITIVE: usize = 900;

/// A figure for the page.
pub(crate) struct Drawn {
    /// The data for the script of the page.
    pub(crate) entry: Value,
    /// The tables of its panels, by name.
    pub(crate) datasets: Vec<(String, Dataset)>,
}

/// Converts a figure; `None` if Vega-Lite draws none of its charts.
pub(crate) fn drawn(figure: &Figure) -> Option<Drawn> {
    let mut specs: Vec<Value> = vec![];
    let mut panels: Vec<Value> = vec![];
    let mut datasets = vec![];
    for panel in &figure.panels {
        let (spec, data) = panel_spec(figure, panel)?;
        let known = specs.iter().position(|other| *other == spec);
        let at = known.unwrap_or_else(|| {
            specs.push(spec);
            specs.len() - 1
        });
        let name = format!("{}-{}", figure.id, panels.len());
        panels.push(json!({
            "title": panel.title,
            "spec": at,
            "data": name,
            "summary": summary(figure, panel),
        }));
        datasets.push((name, data));
    }
    let entry = json!({
        "id": figure.id,
        "columns": figure.columns,
        "height": height(figure),
        "x": figure.x.title(),
        "y": figure.y.title(),
        "leastWidth": least_width(figure),
        "legend": legend(figure),
        "specs": specs,
        "panels": panels,
    });
    Some(Drawn { entry, datasets })
}

fn panel_spec(figure: &Figure, panel: &Panel) -> Option<(Value, Dataset)> {
    match &panel.chart {
        Chart::Lines(lines) => Some(lines_spec(figure, panel, lines, "linear")),
        Chart::Steps(lines) => Some(lines_spec(figure, panel, lines, "step-after")),
        Chart::Boxes(_) => Some(boxes_spec(figure, panel)),
        Chart::Heat(_) => Some(heat_spec(figure, panel)),
        Chart::Map(_) => None,
    }
}

fn legend(figure: &Figure) -> Value {
    let charts = || figure.panels.iter().map(|panel| &panel.chart);
    let lines = || {
        charts().flat_map(|chart| match chart {
            Chart::Lines(lines) | Chart::Steps(lines) => lines.as_slice(),
            _ => &[],
        })
    };
    let is_boxes = charts().any(|chart| matches!(chart, Chart::Boxes(_)));
    let entries = figure.legend().into_iter().map(|entry| {
        let is = |test: fn(&Line) -> bool| lines().any(|l| l.name == entry.name && test(l));
        let dash: Vec<f64> = entry.style.dash.pattern().iter().map(|n| n * 1.6).collect();
        json!({
            "name": entry.name,
            "color": entry.style.color.hex(),
            "dash": dash,
            "marker": is(|l| l.marked).then(|| marker(entry.style.marker)),
            "line": is(|l| l.joined),
            "box": is_boxes,
        })
    });
    entries.collect()
}

fn marker(marker: Marker) -> &'static str {
    match marker {
        Marker::Circle => "circle",
        Marker::Square => "square",
        Marker::TriangleUp => "triangle-up",
        Marker::Diamond => "diamond",
        Marker::TriangleDown => "triangle-down",
        Marker::Cross => "cross",
    }
}

/// Returns the height that a figure needs at any width, so that rows of a heat map are readable.
fn height(figure: &Figure) -> Option<usize> {
    let is_heat = figure
        .panels
        .iter()
        .any(|panel| matches!(panel.chart, Chart::Heat(_)));
    is_heat.then(|| (figure.y.categories().len() * 18 + 70).clamp(130, 620))
}

/// Returns the minimum width of a panel.
fn least_width(figure: &Figure) -> usize {
    let per_category = if has_neighbours(figure) {
        10 * figure.legend().len()
    } else {
        14
    };
    let is_heat = height(figure).is_some();
    let names = figure.y.categories();
    let names = names_width(names).min(label_limit(names));
    let least = if is_heat { 250 } else { 215 };
    (60 + names + figure.x.categories().len() * per_category).clamp(least, 620)
}

// ---- Channels
// ---------------------------------------------------------------------------------------------

/// Returns a position channel.
fn position(axis: &Axis, field: &str) -> Value {
    match &axis.scale {
        Scale::Linear => json!({
            "field": field, "type": "quantitative", "title": axis.title(),
            "scale": { "domain": [axis.low, axis.high], "zero": false, "nice": false },
            "axis": { "values": rounded(ticks(axis, 6)), "format": "~r" },
        }),
        Scale::Log => json!({
            "field": field, "type": "quantitative", "title": axis.title(),
            "scale": { "type": "log", "domain": [axis.low, axis.high], "nice": false },
            "axis": { "values": rounded(ticks(axis, 6)), "format": "~r" },
        }),
        Scale::Category(names) => json!({
            "field": field, "type": "nominal", "title": axis.title(), "sort": null,
            "scale": { "domain": names },
            "axis": { "labelAngle": 0, "labelLimit": label_limit(names), "grid": false },
        }),
    }
}

/// Returns the maximum width of a name next to an axis. It is larger if truncated names would be
/// equal.
fn label_limit(names: &[String]) -> usize {
    const USUAL: usize = 190;
    let letters = USUAL / LETTER;
    let cut = names
        .iter()
        .map(|name| name.chars().take(letters).collect());
    let cut: std::collections::BTreeSet<String> = cut.collect();
    match cut.len() == names.len() {
        true => USUAL,
        false => names_width(names).clamp(USUAL, 380),
    }
}

/// Approximate width of a letter on an axis.
const LETTER: usize = 6;

fn names_width(names: &[String]) -> usize {
    let longest = names.iter().map(|name| name.chars().count()).max();
    longest.unwrap_or(0) * LETTER
}

/// Returns a position channel for an x axis, where long names are rotated.
fn across(figure: &Figure, field: &str) -> Value {
    let axis = &figure.x;
    let mut channel = position(axis, field);
    let longest = names_width(axis.categories());
    // A single panel is as wide as the page; several share the width.
    let room = if figure.panels.len() > 1 { 180 } else { 540 };
    if longest > 6 * LETTER && longest * axis.categories().len() > room {
        channel["axis"]["labelAngle"] = (-55).into();
        channel["axis"]["labelLimit"] = 130.into();
        channel["axis"]["labelOverlap"] = (axis.categories().len() > 14).into();
    }
    channel
}

fn rounded(ticks: Vec<f64>) -> Vec<f64> {
    ticks
        .into_iter()
        .map(|tick| number::significant(tick, 6))
        .collect()
}

/// Returns a channel whose values come from the legend.
fn from_legend(what: &str) -> Value {
    let mut channel = json!({
        "field": "series", "type": "nominal", "scale": { "range": "series", "of": what },
    });
    if what == "offset" {
        channel["bandPosition"] = 0.5.into();
    } else {
        channel["legend"] = Value::Null;
    }
    channel
}

/// Returns the same position channel without axis and title, for further layers.
fn again(channel: &Value, field: &str) -> Value {
    let mut channel = channel.clone();
    channel["field"] = field.into();
    channel
}

fn tooltip(fields: &[(&str, &str)]) -> Value {
    fields
        .iter()
        .map(|(field, title)| json!({ "field": field, "title": title, "type": "nominal" }))
        .collect()
}

/// Returns an expression for a number in a tooltip, with four significant digits.
fn number_text(field: &str) -> String {
    format!("isValid(datum.{field}) ? format(datum.{field}, ',.4~r') : ''")
}

const NOT_HIDDEN: &str = "indexof(hidden, datum.series) < 0";

// ---- Lines and steps
// --------------------------------------------------------------------------------------

fn lines_spec(
    figure: &Figure,
    panel: &Panel,
    lines: &[Line],
    interpolate: &str,
) -> (Value, Dataset) {
    let mut data = Dataset::new(&["series", "x", "y", "low", "high", "state"]);
    let categories = figure.x.categories();
    for line in lines {
        for point in &line.points {
            let x = match categories.get(point.x as usize) {
                Some(name) if !categories.is_empty() => Item::from(name.as_str()),
                _ => Item::from(point.x),
            };
            let state = match point.mark {
                Mark::Ok => Item::Nothing,
                Mark::Saturated => "saturated".into(),
                Mark::Unsure => "unsure".into(),
                Mark::Printed => "printed".into(),
            };
            data.push([
                line.name.as_str().into(),
                x,
                point.y.into(),
                point.low.into(),
                point.high.into(),
                state,
            ]);
        }
    }
    let is_joined = lines.iter().any(|line| line.joined);
    let is_marked = lines.iter().any(|line| line.marked);
    let has_band = lines
        .iter()
        .any(|line| line.points.iter().any(|point| point.low.is_some()));
    let x = across(figure, "x");
    let y = position(&figure.y, "y");
    let mut layers = references(&panel.references, &x, &y);
    let offset = (!is_joined && figure.legend().len() > 1).then(|| from_legend("offset"));
    let encoding = |more: Value| {
        let mut encoding = json!({ "x": x, "y": y, "color": from_legend("color") });
        extend(&mut encoding, more);
        if let Some(offset) = &offset {
            encoding["xOffset"] = offset.clone();
        }
        encoding
    };
    if has_band && is_joined {
        layers.push(json!({
            "mark": { "type": "area", "opacity": 0.16, "clip": true, "interpolate": interpolate },
            "encoding": encoding(json!({ "y": again(&y, "shown_low"), "y2": { "field": "high" } })),
        }));
    } else if has_band {
        layers.push(json!({
            "mark": { "type": "rule", "clip": true, "strokeWidth": 1.4 },
            "encoding": encoding(json!({ "y": again(&y, "shown_low"), "y2": { "field": "high" } })),
        }));
    }
    let has_printed = lines.iter().any(|line| line.printed().next().is_some());
    if is_joined {
        layers.push(json!({
            "mark": { "type": "line", "clip": true, "strokeWidth": 1.7, "interpolate": interpolate },
            "encoding": encoding(json!({ "strokeDash": from_legend("dash") })),
        }));
        if let (true, Some(line)) = (has_printed, layers.last_mut()) {
            line["transform"] = json!([{ "filter": "datum.state !== 'printed'" }]);
        }
    }
    if is_marked {
        let mut fill = from_legend("color");
        fill["condition"] =
            json!({ "test": "datum.state === 'saturated'", "value": { "expr": "paper" } });
        if has_printed {
            let is_hollow = "datum.state === 'saturated' || datum.state === 'printed'";
            fill["condition"]["test"] = json!(is_hollow);
        }
        layers.push(json!({
            "transform": [{ "filter": within(figure) }],
            "mark": { "type": "point", "size": 34, "strokeWidth": 1.3, "opacity": 1 },
            "encoding": encoding(json!({
                "y": again(&y, "shown_y"),
                "shape": from_legend("shape"),
                "fill": fill,
                "opacity": { "condition": { "test": "datum.state === 'unsure'", "value": 0.45 }, "value": 1 },
            })),
        }));
    }
    if is_marked && categories.is_empty() {
        // Markers may extend beyond the upper right corner: reserve the same space in every panel.
        layers.push(json!({
            "data": { "values": [{}] },
            "mark": { "type": "point", "size": 34, "opacity": 0 },
            "encoding": { "x": { "datum": figure.x.high }, "y": { "datum": figure.y.high } },
        }));
    }
    let every = data.len().div_ceil(MOST_SENSITIVE).max(1);
    let mut sensitive = json!({
        "mark": { "type": "point", "filled": true, "size": 200, "opacity": 0, "clip": true },
        "encoding": encoding(json!({ "y": again(&y, "shown_y"), "tooltip": tooltip(&[
            ("series", series_word(figure)),
            ("x_said", &figure.x.title()),
            ("y_said", &figure.y.title()),
            ("interval", "95 % interval"),
            ("state_said", "state"),
        ]) })),
    });
    if every > 1 {
        sensitive["transform"] = json!([
            { "window": [{ "op": "row_number", "as": "n" }] },
            { "filter": format!("datum.n % {every} === 0") },
        ]);
    }
    layers.push(sensitive);
    // An interval may extend below zero, which a logarithmic axis cannot show.
    let shown_low = match figure.y.scale {
        Scale::Log => format!("max(datum.low, {})", figure.y.low * 0.5),
        _ => "datum.low".to_owned(),
    };
    // The marker of a saturated point beyond the axis is drawn at its upper end.
    let high = figure.y.high;
    let shown_y = format!("datum.state === 'saturated' ? min(datum.y, {high}) : datum.y");
    let x_text = if categories.is_empty() {
        number_text("x")
    } else {
        "datum.x".to_owned()
    };
    let spec = json!({
        "transform": [
            { "filter": NOT_HIDDEN },
            { "calculate": format!("isValid(datum.low) ? {shown_low} : null"), "as": "shown_low" },
            { "calculate": shown_y, "as": "shown_y" },
            { "calculate": "isValid(datum.state) ? datum.state : ''", "as": "state_said" },
            { "calculate": x_text, "as": "x_said" },
            { "calculate": number_text("y"), "as": "y_said" },
            { "calculate": "isValid(datum.low) ? format(datum.low, ',.4~r') + ' – ' + \
                format(datum.high, ',.4~r') : ''", "as": "interval" },
        ],
        "layer": layers,
    });
    (spec, data)
}

/// Returns an expression for points within the axes: a marker on the edge is drawn completely, one
/// beyond it is not drawn.
fn within(figure: &Figure) -> String {
    let mut tests = vec![];
    for (field, axis) in [("x", &figure.x), ("shown_y", &figure.y)] {
        if axis.categories().is_empty() {
            let (low, high) = (axis.low, axis.high);
            tests.push(format!("datum.{field} >= {low} && datum.{field} <= {high}"));
        }
    }
    if tests.is_empty() {
        "true".into()
    } else {
        tests.join(" && ")
    }
}

fn references(references: &[Reference], x: &Value, y: &Value) -> Vec<Value> {
    let layer = |reference: &Reference| {
        let values: Vec<Value> = reference
            .points
            .iter()
            .map(|(x, y)| json!({ "x": x, "y": y, "label": reference.label }))
            .collect();
        json!({
            "data": { "values": values },
            "mark": { "type": "line", "clip": true, "strokeWidth": 1, "color": "#8d96a1", "strokeDash": [2, 3] },
            "encoding": { "x": x, "y": y, "tooltip": tooltip(&[("label", "reference")]) },
        })
    };
    references.iter().map(layer).collect()
}

fn series_word(figure: &Figure) -> &str {
    if figure.series.is_empty() {
        "series"
    } else {
        &figure.series
    }
}

fn extend(object: &mut Value, more: Value) {
    let Value::Object(more) = more else { return };
    let object: &mut Map<String, Value> = object.as_object_mut().expect("an object");
    object.extend(more);
}

// ---- Boxes
// ------------------------------------------------------------------------------------------------

fn boxes_spec(figure: &Figure, panel: &Panel) -> (Value, Dataset) {
    let mut data = Dataset::new(&["series", "x", "min", "q1", "median", "q3", "max", "count"]);
    let Chart::Boxes(boxes) = &panel.chart else {
        unreachable!("called for boxes only")
    };
    let categories = figure.x.categories();
    for one in boxes {
        let category = categories.get(one.category).map_or("", String::as_str);
        data.push([
            one.name.as_str().into(),
            category.into(),
            one.min.into(),
            one.q1.into(),
            one.median.into(),
            one.q3.into(),
            one.max.into(),
            (one.count as f64).into(),
        ]);
    }
    let x = across(figure, "x");
    let y = position(&figure.y, "median");
    let is_many = has_neighbours(figure);
    let encoding = |more: Value| {
        let mut encoding = json!({ "x": x, "color": from_legend("color") });
        if is_many {
            encoding["xOffset"] = from_legend("offset");
        }
        extend(&mut encoding, more);
        encoding
    };
    let words = [
        ("x", figure.x.label.as_str()),
        ("series", series_word(figure)),
        ("max_said", "largest"),
        ("q3_said", "third quartile"),
        ("median_said", "median"),
        ("q1_said", "first quartile"),
        ("min_said", "smallest"),
        ("count_said", "count"),
    ];
    let mut layers = references(&panel.references, &x, &y);
    layers.extend([
        json!({
            "mark": { "type": "rule", "clip": true, "strokeWidth": 1.2 },
            "encoding": encoding(json!({ "y": again(&y, "min"), "y2": { "field": "max" }, "tooltip": tooltip(&words) })),
        }),
        json!({
            "mark": { "type": "bar", "clip": true, "fillOpacity": 0.45, "strokeWidth": 1, "width": { "band": 0.72 } },
            "encoding": encoding(json!({ "y": again(&y, "q1"), "y2": { "field": "q3" }, "stroke": from_legend("color"), "tooltip": tooltip(&words) })),
        }),
        json!({
            "mark": { "type": "tick", "clip": true, "thickness": 2, "width": { "band": 0.72 } },
            "encoding": encoding(json!({ "y": y, "tooltip": tooltip(&words) })),
        }),
    ]);
    let mut transform = vec![json!({ "filter": NOT_HIDDEN })];
    for field in ["min", "q1", "median", "q3", "max", "count"] {
        transform.push(json!({ "calculate": number_text(field), "as": format!("{field}_said") }));
    }
    (json!({ "transform": transform, "layer": layers }), data)
}

/// Whether boxes of one category are drawn side by side.
fn has_neighbours(figure: &Figure) -> bool {
    figure.panels.iter().any(|panel| {
        let Chart::Boxes(boxes) = &panel.chart else {
            return false;
        };
        let mut categories: Vec<usize> = boxes.iter().map(|one| one.category).collect();
        categories.sort_unstable();
        categories.windows(2).any(|pair| pair[0] == pair[1])
    })
}

// ---- Heat maps
// --------------------------------------------------------------------------------------------

fn heat_spec(figure: &Figure, panel: &Panel) -> (Value, Dataset) {
    let mut data = Dataset::new(&["column", "row", "value"]);
    let Chart::Heat(cells) = &panel.chart else {
        unreachable!("called for heat maps only")
    };
    let named = |axis: &Axis, at: usize| {
        let name = axis.categories().get(at).map_or("", String::as_str);
        Item::from(name)
    };
    for cell in cells {
        data.push([
            named(&figure.x, cell.column),
            named(&figure.y, cell.row),
            cell.value.into(),
        ]);
    }
    let (title, low, high) = match &figure.heat {
        Some(gauge) => (gauge.title(), gauge.low, gauge.high),
        None => ("value".to_owned(), 0.0, 1.0),
    };
    let spec = json!({
        "transform": [{ "calculate": number_text("value"), "as": "value_said" }],
        "mark": { "type": "rect", "strokeWidth": 0.75, "stroke": { "expr": "paper" } },
        "encoding": {
            "x": across(figure, "column"),
            "y": position(&figure.y, "row"),
            "color": {
                "field": "value", "type": "quantitative", "title": title,
                "scale": { "domain": [low, high], "clamp": true },
            },
            "tooltip": tooltip(&[
                ("column", &figure.x.label),
                ("row", &figure.y.label),
                ("value_said", &title),
            ]),
        },
    });
    (spec, data)
}

// ---- In words
// ---------------------------------------------------------------------------------------------

/// Describes a panel for screen readers.
fn summary(figure: &Figure, panel: &Panel) -> String {
    const MOST: usize = 8;
    let mut text = if panel.title.is_empty() {
        figure.title.clone()
    } else {
        format!("{}, {}", figure.title, panel.title)
    };
    let (x, y) = (figure.x.title(), figure.y.title());
    match &panel.chart {
        Chart::Lines(lines) | Chart::Steps(lines) => {
            text.push_str(&format!(": {y} over {x}."));
            for line in lines.iter().take(MOST) {
                let (Some(first), Some(last)) = (line.points.first(), line.points.last()) else {
                    continue;
                };
                text.push_str(&format!(
                    " {}: from {} to {}.",
                    line.name,
                    number::short(first.y),
                    number::short(last.y),
                ));
            }
            if lines.len() > MOST {
                text.push_str(&format!(" {} more series.", lines.len() - MOST));
            }
        }
        Chart::Boxes(boxes) => {
            text.push_str(&format!(": {y} by {x}, {} boxes.", boxes.len()));
            for one in boxes.iter().take(MOST) {
                let category = figure.x.categories().get(one.category);
                text.push_str(&format!(
                    " {} {}: median {}.",
                    category.map_or("", String::as_str),
                    one.name,
                    number::short(one.median),
                ));
            }
        }
        Chart::Heat(cells) => {
            let highest = cells.iter().max_by(|a, b| a.value.total_cmp(&b.value));
            if let Some(cell) = highest {
                let name = |axis: &Axis, at: usize| axis.categories().get(at).cloned();
                text.push_str(&format!(
                    ": {} cells; the highest is {} at {}, {}.",
                    cells.len(),
                    number::short(cell.value),
                    name(&figure.x, cell.column).unwrap_or_default(),
                    name(&figure.y, cell.row).unwrap_or_default(),
                ));
            }
        }
        Chart::Map(map) => text.push_str(&format!(": {} links.", map.links.len())),
    }
    text
}

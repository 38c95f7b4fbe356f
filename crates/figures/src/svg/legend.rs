//! Names of series above the panels, in as many rows as they need.

use super::canvas::{Anchor, Canvas, Fill, stroke, text_width};
use super::{chart, has, heat};
use crate::model::{Chart, Figure, Gauge, LegendEntry, Mark};
use crate::style::Style;

/// Length of the line next to a name, and spaces.
const SAMPLE: f64 = 17.0;
const AFTER_SAMPLE: f64 = 3.0;
const BETWEEN: f64 = 9.0;

pub(super) struct Legend<'f> {
    rows: Vec<Vec<Entry>>,
    gauge: Option<&'f Gauge>,
    font: f64,
    /// Height with the space below it; zero if the legend is empty.
    pub(super) height: f64,
}

enum Entry {
    /// What distinguishes series.
    Title(String),
    Series {
        entry: LegendEntry,
        has_line: bool,
        has_marker: bool,
        /// Whether it is only printed in a paper, not measured.
        is_printed: bool,
    },
    /// The meaning of hollow or pale markers.
    Mark(Fill, &'static str),
    Reference(String),
}

impl Entry {
    fn text(&self) -> &str {
        match self {
            Entry::Title(text) | Entry::Reference(text) => text,
            Entry::Series { entry, .. } => &entry.name,
            Entry::Mark(_, text) => text,
        }
    }

    fn sample(&self) -> f64 {
        match self {
            Entry::Title(_) => 0.0,
            Entry::Mark(..)
            | Entry::Series {
                has_line: false, ..
            } => 7.0,
            Entry::Series { .. } | Entry::Reference(_) => SAMPLE,
        }
    }

    fn width(&self, font: f64) -> f64 {
        let after = if self.sample() > 0.0 {
            AFTER_SAMPLE
        } else {
            0.0
        };
        self.sample() + after + text_width(self.text(), font)
    }
}

impl<'f> Legend<'f> {
    pub(super) fn new(figure: &'f Figure, font: f64, room: f64) -> Legend<'f> {
        let entries = entries(figure);
        let mut rows: Vec<Vec<Entry>> = vec![];
        let mut used = f64::INFINITY;
        for entry in entries {
            let width = entry.width(font);
            if used + BETWEEN + width > room {
                rows.push(vec![]);
                used = -BETWEEN;
            }
            used += BETWEEN + width;
            if let Some(row) = rows.last_mut() {
                row.push(entry);
            }
        }
        let gauge = figure.heat.as_ref();
        let bar = gauge.map_or(0.0, |gauge| heat::bar_size(gauge, font).1 + 2.0);
        let height = if rows.is_empty() {
            bar
        } else {
            rows.len() as f64 * font * 1.25 + 3.0 + bar
        };
        Legend {
            rows,
            gauge,
            font,
            height,
        }
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, middle: f64, top: f64) {
        let font = self.font;
        for (nth, row) in self.rows.iter().enumerate() {
            let widths = row.iter().map(|entry| entry.width(font)).sum::<f64>();
            let width = widths + BETWEEN * (row.len() - 1) as f64;
            let mut x = middle - width / 2.0;
            let base = top + font * (0.9 + 1.25 * nth as f64);
            for entry in row {
                sample(canvas, entry, x, base - font * 0.32);
                let after = if entry.sample() > 0.0 {
                    AFTER_SAMPLE
                } else {
                    0.0
                };
                let ink = if matches!(entry, Entry::Title(_)) {
                    "#666"
                } else {
                    ""
                };
                canvas.colored_text(
                    (x + entry.sample() + after, base),
                    Anchor::Start,
                    font,
                    ink,
                    entry.text(),
                );
                x += entry.width(font) + BETWEEN;
            }
        }
        if let Some(gauge) = self.gauge {
            let (width, _) = heat::bar_size(gauge, font);
            let below = top + self.rows.len() as f64 * font * 1.25;
            heat::bar(canvas, gauge, middle - width / 2.0, below, font);
        }
    }
}

fn sample(canvas: &mut Canvas, entry: &Entry, x: f64, y: f64) {
    let middle = (x + entry.sample() / 2.0, y);
    match entry {
        Entry::Title(_) => {}
        Entry::Series {
            entry,
            has_line,
            has_marker,
            is_printed,
        } => {
            if *has_line {
                canvas.path(&[(x, y), (x + SAMPLE, y)], &stroke(entry.style, 1.0));
            }
            if *is_printed {
                canvas.marker(middle, entry.style, Fill::None, chart::PRINTED);
            } else if *has_marker {
                canvas.marker(middle, entry.style, Fill::Full, 1.9);
            }
        }
        Entry::Mark(fill, _) => {
            let style = Style {
                color: crate::Color::Black,
                ..Style::nth(0)
            };
            let radius = match fill {
                Fill::None => chart::PRINTED,
                _ => 1.9,
            };
            canvas.marker(middle, style, *fill, radius);
        }
        Entry::Reference(_) => canvas.path(&[(x, y), (x + SAMPLE, y)], chart::REFERENCE),
    }
}

fn entries(figure: &Figure) -> Vec<Entry> {
    let charts = || figure.panels.iter().map(|panel| &panel.chart);
    let of_boxes = charts().all(|chart| matches!(chart, Chart::Boxes(_)));
    let lines = || {
        charts().flat_map(|chart| match chart {
            Chart::Lines(lines) | Chart::Steps(lines) => lines.as_slice(),
            _ => &[],
        })
    };
    let has_line = lines().any(|line| line.joined);
    let has_marker = lines().any(|line| line.marked);
    let series = figure.legend();
    let mut entries = vec![];
    // One series needs no name, and boxes have theirs below them.
    if series.len() > 1 && !of_boxes {
        if !figure.series.is_empty() && !matches!(figure.series.as_str(), "class" | "statistic") {
            entries.push(Entry::Title(format!("{}:", figure.series)));
        }
        entries.extend(series.into_iter().map(|entry| {
            let is_printed = lines()
                .filter(|line| line.name == entry.name)
                .all(|line| line.measured().next().is_none());
            Entry::Series {
                is_printed: is_printed && lines().next().is_some(),
                has_line: has_line && !is_printed,
                has_marker,
                entry,
            }
        }));
    }
    // With printed points, the only series needs a name too.
    let series = figure.legend();
    if let ([only], true) = (series.as_slice(), has(figure, Mark::Printed)) {
        entries.push(Entry::Series {
            entry: LegendEntry {
                name: "netloom".to_owned(),
                style: only.style,
            },
            has_line,
            has_marker: true,
            is_printed: false,
        });
    }
    let references = figure.panels.iter().flat_map(|panel| &panel.references);
    let mut labels: Vec<&str> = references
        .map(|reference| reference.label.as_str())
        .collect();
    labels.dedup();
    entries.extend(
        labels
            .into_iter()
            .map(|label| Entry::Reference(label.to_owned())),
    );
    let marks = [
        (Mark::Saturated, Fill::Hollow, "saturated"),
        (Mark::Unsure, Fill::Pale, "unsure"),
        (Mark::Printed, Fill::None, "printed"),
    ];
    for (mark, fill, text) in marks {
        if has(figure, mark) {
            entries.push(Entry::Mark(fill, text));
        }
    }
    entries
}

//! Figures as SVG, ready for print: vector graphics, no scripts, letters of the size of a caption.
//!
//! Panels are arranged in rows and columns over shared axes; numbers are at the outer sides only.
//! The legend is above the panels, so that it covers nothing. Lengths are in points (72 to the
//! inch). Widths of texts are estimates, since the viewer of the picture chooses the fonts.

mod canvas;
mod chart;
mod frame;
mod heat;
mod legend;
#[cfg(test)]
mod tests;

use crate::model::{Axis, Chart, Figure, Mark, Panel, Scale};
use canvas::{Anchor, Canvas, cut_text, text_width, wrapped};
use frame::Frame;
use legend::Legend;

/// Width and fonts of a figure.
#[derive(Clone, PartialEq, Debug)]
pub struct SvgStyle {
    /// Width of the picture in inches.
    pub width_in: f64,
    /// Font size in points; that of ticks and panels is an eighth smaller.
    pub font_pt: f64,
    /// Font families in order of preference.
    pub font_family: String,
}

impl Default for SvgStyle {
    /// Returns the style for one column of a paper.
    fn default() -> SvgStyle {
        SvgStyle {
            width_in: 3.5,
            font_pt: 8.0,
            font_family: "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
                .to_owned(),
        }
    }
}

impl SvgStyle {
    /// Returns the style for both columns of a paper.
    pub fn two_columns() -> SvgStyle {
        SvgStyle {
            width_in: 7.16,
            ..SvgStyle::default()
        }
    }
}

/// Gap between panels, and around the figure.
const GAP: f64 = 8.0;
const MARGIN: f64 = 3.0;
/// Minimum width of a panel in points: in general, and if the figure sets its columns.
const NARROW: f64 = 88.0;
const NARROWEST: f64 = 56.0;
/// Maximum width of a cell of a heat map.
const WIDEST_CELL: f64 = 60.0;
/// Maximum lengths of names next to an axis, in letters. A longer limit is used only if truncated
/// names would be equal.
const NAME: [usize; 4] = [22, 30, 40, 60];

/// Returns the number of letters to keep of the names of an axis.
fn shown_letters(axis: &Axis) -> usize {
    let names = axis.categories();
    let are_distinct = |letters: &&usize| {
        let cut = names.iter().map(|name| cut_text(name, **letters));
        cut.collect::<std::collections::BTreeSet<_>>().len() == names.len()
    };
    *NAME.iter().find(are_distinct).unwrap_or(&NAME[0])
}

/// Draws a figure as SVG.
pub fn svg(figure: &Figure, style: &SvgStyle) -> String {
    let sheet = Sheet::new(figure, style);
    let mut canvas = Canvas::new();
    sheet.legend.draw(&mut canvas, sheet.width / 2.0, MARGIN);
    for (n, panel) in figure.panels.iter().enumerate() {
        let frame = sheet.frame(n);
        sheet.panel(&mut canvas, n, panel, &frame);
    }
    sheet.axis_titles(&mut canvas);
    canvas.finish(figure, style, sheet.width, sheet.height)
}

/// The layout of a figure.
struct Sheet<'f> {
    figure: &'f Figure,
    legend: Legend<'f>,
    font: f64,
    small: f64,
    columns: usize,
    rows: usize,
    width: f64,
    height: f64,
    left: f64,
    top: f64,
    panel: (f64, f64),
    title_lines: usize,
    /// Numbers or names below a panel.
    x_names: Names,
}

/// The layout of names below an axis.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Names {
    height: f64,
    turned: bool,
    /// Distance between labelled names.
    every: usize,
}

impl<'f> Sheet<'f> {
    fn new(figure: &'f Figure, style: &SvgStyle) -> Sheet<'f> {
        let (font, small) = (style.font_pt, style.font_pt * 0.875);
        let width = style.width_in * 72.0;
        let legend = Legend::new(figure, font, width - 2.0 * MARGIN);
        let n = figure.panels.len().max(1);
        let is_map = figure
            .panels
            .iter()
            .any(|panel| matches!(panel.chart, Chart::Map(_)));
        let left = if is_map {
            MARGIN
        } else {
            left_margin(&figure.y, font, small)
        };
        let room = width - left - MARGIN - small * 0.6;
        let fit = |narrow: f64| (((room + GAP) / (narrow + GAP)).floor() as usize).max(1);
        let columns = match figure.columns {
            Some(columns) if columns <= fit(NARROWEST) => columns,
            _ => {
                let most = fit(NARROW).min(n);
                // Prefer fewer columns if the number of rows stays the same, since panels are wider
                // then.
                n.div_ceil(n.div_ceil(most))
            }
        };
        let rows = n.div_ceil(columns);
        let mut panel_width = (room - GAP * (columns - 1) as f64) / columns as f64;
        // Cells need not be wider than their numbers.
        if figure.heat.is_some() && !is_map {
            panel_width = panel_width.min(WIDEST_CELL * figure.x.categories().len().max(1) as f64);
        }
        let used = panel_width * columns as f64 + GAP * (columns - 1) as f64;
        let left = left + (room - used) / 2.0;
        let titles = figure
            .panels
            .iter()
            .map(|panel| wrapped(&panel.title, small, panel_width).len());
        let title_lines = if figure.panels.iter().all(|panel| panel.title.is_empty()) {
            0
        } else {
            titles.max().unwrap_or(0)
        };
        let panel_height = panel_height(figure, panel_width, columns);
        let x_names = if is_map {
            Names {
                height: 0.0,
                turned: false,
                every: 1,
            }
        } else {
            x_names(&figure.x, small, panel_width)
        };
        let top = MARGIN + legend.height + if title_lines == 0 { small * 0.5 } else { 0.0 };
        let titles_height =
            title_lines as f64 * small * 1.15 + if title_lines > 0 { 3.0 } else { 0.0 };
        let x_title = if figure.x.label.is_empty() {
            0.0
        } else {
            font * 1.25
        };
        let mut sheet = Sheet {
            figure,
            legend,
            font,
            small,
            columns,
            rows,
            width,
            height: 0.0,
            left,
            top,
            panel: (panel_width, panel_height),
            title_lines,
            x_names,
        };
        sheet.top += titles_height;
        let step = sheet.row_step();
        sheet.height =
            sheet.top + step * (rows - 1) as f64 + panel_height + x_names.height + x_title + MARGIN;
        sheet
    }

    fn row_step(&self) -> f64 {
        let titles = self.title_lines as f64 * self.small * 1.15
            + if self.title_lines > 0 { 3.0 } else { 0.0 };
        self.panel.1 + titles + GAP * 0.8
    }

    fn frame(&self, n: usize) -> Frame<'f> {
        let (row, column) = (n / self.columns, n % self.columns);
        Frame {
            x: &self.figure.x,
            y: &self.figure.y,
            left: self.left + column as f64 * (self.panel.0 + GAP),
            top: self.top + row as f64 * self.row_step(),
            width: self.panel.0,
            height: self.panel.1,
        }
    }

    fn panel(&self, canvas: &mut Canvas, n: usize, panel: &Panel, frame: &Frame<'_>) {
        let title = wrapped(&panel.title, self.small, self.panel.0);
        for (line, text) in title.iter().rev().enumerate() {
            let y = frame.top - 3.0 - line as f64 * self.small * 1.15;
            canvas.text(
                frame.left + frame.width / 2.0,
                y,
                Anchor::Middle,
                self.small,
                text,
            );
        }
        let gauge = self.figure.heat.as_ref();
        match &panel.chart {
            Chart::Map(map) => {
                heat::map(canvas, map, gauge, frame);
                return;
            }
            Chart::Heat(cells) => heat::cells(canvas, cells, gauge, frame, self.small),
            Chart::Lines(_) | Chart::Steps(_) | Chart::Boxes(_) => {
                frame.grid(canvas, self.small);
                chart::draw(canvas, n, panel, frame);
            }
        }
        frame.border(canvas);
        if n.is_multiple_of(self.columns) {
            self.y_names(canvas, frame);
        }
        if n + self.columns >= self.figure.panels.len() {
            self.x_names(canvas, frame);
        }
    }

    fn x_names(&self, canvas: &mut Canvas, frame: &Frame<'_>) {
        let below = frame.top + frame.height;
        for (at, text) in frame.x_ticks(self.small) {
            let is_name = matches!(self.figure.x.scale, Scale::Category(_));
            if is_name && !(at.round() as usize).is_multiple_of(self.x_names.every) {
                continue;
            }
            let x = frame.px(at);
            if self.figure.heat.is_none() {
                canvas.stroke_line((x, below), (x, below + 2.5), "#444", 0.5);
            }
            let text = match is_name {
                true => cut_text(&text, shown_letters(&self.figure.x)),
                false => text,
            };
            if self.x_names.turned {
                canvas.turned(
                    x + self.small * 0.35,
                    below + 3.5 + self.small * 0.3,
                    -40.0,
                    Anchor::End,
                    self.small,
                    &text,
                );
            } else {
                // Otherwise numbers at the sides of neighbouring panels would touch.
                let anchor = match (is_name || self.columns == 1, x - frame.left) {
                    (false, at) if at < 1.0 => Anchor::Start,
                    (false, at) if at > frame.width - 1.0 => Anchor::End,
                    _ => Anchor::Middle,
                };
                canvas.text(x, below + 3.5 + self.small * 0.8, anchor, self.small, &text);
            }
        }
    }

    fn y_names(&self, canvas: &mut Canvas, frame: &Frame<'_>) {
        let names = self.figure.y.categories();
        let every = match names.len() {
            0 => 1,
            n => (self.small * n as f64 / frame.height).ceil().max(1.0) as usize,
        };
        for (at, text) in frame.y_ticks(self.small) {
            if !names.is_empty() && !(at.round() as usize).is_multiple_of(every) {
                continue;
            }
            let y = frame.py(at);
            if names.is_empty() {
                canvas.stroke_line((frame.left - 2.5, y), (frame.left, y), "#444", 0.5);
            }
            let text = if names.is_empty() {
                text
            } else {
                cut_text(&text, shown_letters(&self.figure.y))
            };
            canvas.text(
                frame.left - 4.0,
                y + self.small * 0.35,
                Anchor::End,
                self.small,
                &text,
            );
        }
    }

    /// Draws one title per side for all panels, centred.
    fn axis_titles(&self, canvas: &mut Canvas) {
        let bottom = self.top + self.row_step() * (self.rows - 1) as f64 + self.panel.1;
        let middle = self.left
            + (self.panel.0 * self.columns as f64 + GAP * (self.columns - 1) as f64) / 2.0;
        if !self.figure.x.label.is_empty() {
            let y = self.height - MARGIN - self.font * 0.25;
            canvas.text(middle, y, Anchor::Middle, self.font, &self.figure.x.title());
        }
        if !self.figure.y.label.is_empty() {
            let middle = (self.top + bottom) / 2.0;
            let title = self.figure.y.title();
            let title = if text_width(&title, self.font) > self.height - 2.0 * MARGIN {
                &self.figure.y.label
            } else {
                &title
            };
            canvas.turned(
                MARGIN + self.font * 0.8,
                middle,
                -90.0,
                Anchor::Middle,
                self.font,
                title,
            );
        }
    }
}

/// Returns the width of the numbers or names and the title of the y axis.
fn left_margin(y: &Axis, font: f64, small: f64) -> f64 {
    let title = if y.label.is_empty() { 0.0 } else { font * 1.35 };
    let widest = match &y.scale {
        Scale::Category(names) => names
            .iter()
            .map(|name| text_width(&cut_text(name, shown_letters(y)), small))
            .fold(0.0, f64::max),
        _ => {
            // The widest of all ticks that may be drawn.
            let ticks = [3, 4, 5, 6, 8].into_iter().flat_map(|n| crate::ticks(y, n));
            ticks
                .map(|tick| text_width(&crate::tick_text(tick), small))
                .fold(0.0, f64::max)
        }
    };
    MARGIN + title + widest + 5.0
}

fn panel_height(figure: &Figure, width: f64, columns: usize) -> f64 {
    let of = |panel: &Panel| match &panel.chart {
        Chart::Map(map) => width * (map.height / map.width.max(1e-9)).clamp(0.2, 2.0),
        Chart::Heat(_) => {
            let rows = figure.y.categories().len().max(1) as f64;
            rows * (170.0 / rows).clamp(6.0, 13.0)
        }
        _ if columns == 1 => (width * 0.62).min(260.0),
        _ => (width * 0.72).clamp(60.0, 130.0),
    };
    figure.panels.iter().map(of).fold(0.0, f64::max)
}

fn x_names(x: &Axis, small: f64, panel_width: f64) -> Names {
    let plain = Names {
        height: 3.5 + small * 1.1,
        turned: false,
        every: 1,
    };
    let Scale::Category(names) = &x.scale else {
        return plain;
    };
    let slot = panel_width / names.len().max(1) as f64;
    let widest = names
        .iter()
        .map(|name| text_width(&cut_text(name, shown_letters(x)), small))
        .fold(0.0, f64::max);
    if widest <= slot - 2.0 {
        return plain;
    }
    // Omit numbers rather than rotate them.
    let are_numbers = names.iter().all(|name| name.parse::<f64>().is_ok());
    if are_numbers {
        return Names {
            every: ((widest + 3.0) / slot).ceil() as usize,
            ..plain
        };
    }
    let height = 3.5 + small * 0.9 + widest * 40f64.to_radians().sin();
    Names {
        height,
        turned: true,
        every: ((small * 1.1) / slot).ceil().max(1.0) as usize,
    }
}

/// Whether the figure has points with this mark, which then needs an entry in the legend.
fn has(figure: &Figure, mark: Mark) -> bool {
    if mark == Mark::Printed {
        return figure.has_mark(mark);
    }
    let is_marked = |panel: &Panel| match &panel.chart {
        Chart::Lines(lines) => lines.iter().any(|line| line.marked),
        _ => false,
    };
    figure.has_mark(mark) && figure.panels.iter().any(is_marked)
}

//! Figures for LaTeX, drawn by PGFPlots in the fonts of the paper.
//!
//! A figure is one `.tex` file, to be read with `\input`, and a `.dat` file per panel with the data
//! of its lines, so that an author can restyle, drop or relabel a series by hand. The preamble of a
//! paper must contain
//!
//! ```tex
//! \usepackage{pgfplots}
//! \pgfplotsset{compat=1.17}
//! \usepgfplotslibrary{groupplots,fillbetween,statistics}
//! \usetikzlibrary{calc}
//! ```

mod data;
mod heat;
mod plot;
mod tex;

use std::fmt::Write;

use crate::model::{Axis, Chart, Figure, Scale};
use crate::style::COLORS;
use crate::ticks;
use tex::{escaped, length, number};

/// A figure for LaTeX.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pgfplots {
    /// The text of `ID.tex`.
    pub tex: String,
    /// Names and contents of the data files.
    pub data: Vec<(String, String)>,
}

/// Returns a figure for LaTeX with the given width.
pub fn pgfplots(figure: &Figure, width_in: f64) -> Pgfplots {
    let sheet = Sheet::new(figure, width_in);
    let mut tex = header(figure);
    let mut files = vec![];
    if figure
        .panels
        .iter()
        .any(|panel| matches!(panel.chart, Chart::Map(_)))
    {
        heat::maps(&mut tex, figure, width_in);
        return Pgfplots { tex, data: files };
    }
    sheet.begin(&mut tex);
    for (n, panel) in figure.panels.iter().enumerate() {
        sheet.next(&mut tex, n);
        for reference in &panel.references {
            let points: Vec<String> = reference
                .points
                .iter()
                .map(|(x, y)| format!("({},{})", number(*x), number(*y)))
                .collect();
            let _ = writeln!(
                tex,
                "\\addplot[gray, thin, densely dashed, forget plot] coordinates {{{}}};",
                points.join(" ")
            );
        }
        match &panel.chart {
            Chart::Lines(lines) | Chart::Steps(lines) => {
                let name = format!("{}-{}.dat", figure.id, n + 1);
                let is_steps = matches!(panel.chart, Chart::Steps(_));
                plot::lines(&mut tex, lines, &name, is_steps, n);
                files.push((name, data::of_lines(lines, figure.y.high)));
            }
            Chart::Boxes(boxes) => plot::boxes(&mut tex, boxes),
            Chart::Heat(cells) => heat::cells(&mut tex, cells, figure, sheet.cell_in()),
            Chart::Map(_) => {}
        }
        if n == 0 {
            plot::legend(&mut tex, figure);
        }
    }
    sheet.end(&mut tex);
    Pgfplots { tex, data: files }
}

fn header(figure: &Figure) -> String {
    let mut tex = format!("% {}\n", figure.title);
    let _ = writeln!(tex, "% {}", figure.caption);
    tex += "% Needs in the preamble: \\usepackage{pgfplots} \\pgfplotsset{compat=1.17}\n";
    tex += "%   \\usepgfplotslibrary{groupplots,fillbetween,statistics} \\usetikzlibrary{calc}\n";
    tex += "% A legend appears when LaTeX has run twice.\n";
    for color in COLORS {
        let hex = color.hex().trim_start_matches('#').to_uppercase();
        let _ = writeln!(
            tex,
            "\\definecolor{{{}}}{{HTML}}{{{hex}}}",
            tex::color(color)
        );
    }
    tex
}

/// The layout of panels.
struct Sheet<'f> {
    figure: &'f Figure,
    columns: usize,
    rows: usize,
    panel_in: (f64, f64),
}

impl<'f> Sheet<'f> {
    fn new(figure: &'f Figure, width_in: f64) -> Sheet<'f> {
        let n = figure.panels.len().max(1);
        let names = figure.y.categories();
        // Letters of names at the left, at half their size of 8 pt.
        let longest = names
            .iter()
            .map(|name| name.chars().count())
            .max()
            .unwrap_or(0);
        let left = 0.62 + 0.055 * longest as f64;
        let room = (width_in - left).max(1.0);
        let fit = |narrow: f64| ((room / narrow).floor() as usize).max(1);
        let columns = match figure.columns {
            Some(columns) if columns <= fit(0.85) => columns,
            _ => {
                let most = fit(1.3).min(n);
                n.div_ceil(n.div_ceil(most))
            }
        };
        let mut width = (room - 0.12 * (columns - 1) as f64) / columns as f64;
        let height = match names.len() {
            0 if columns == 1 => (width * 0.62).min(3.6),
            0 => (width * 0.75).clamp(0.85, 1.8),
            rows => rows as f64 * (2.4 / rows as f64).clamp(0.09, 0.18),
        };
        if figure.heat.is_some() {
            width = width.min(0.8 * figure.x.categories().len().max(1) as f64);
        }
        Sheet {
            figure,
            columns,
            rows: n.div_ceil(columns),
            panel_in: (width, height),
        }
    }

    /// Returns width and height of a cell of a heat map.
    fn cell_in(&self) -> (f64, f64) {
        let share = |whole: f64, axis: &Axis| whole / axis.categories().len().max(1) as f64;
        (
            share(self.panel_in.0, &self.figure.x),
            share(self.panel_in.1, &self.figure.y),
        )
    }

    /// Returns the number of lines of the longest title; letters of 7 pt are 0.055 in wide.
    fn title_lines(&self) -> usize {
        let letters = self
            .figure
            .panels
            .iter()
            .map(|panel| panel.title.chars().count());
        let longest = letters.max().unwrap_or(0) as f64;
        (longest * 0.055 / self.panel_in.0).ceil().max(1.0) as usize
    }

    fn begin(&self, tex: &mut String) {
        let figure = self.figure;
        let has_titles = figure.panels.iter().any(|panel| !panel.title.is_empty());
        let vertical = match has_titles {
            true => 0.14 + 0.11 * self.title_lines() as f64,
            false => 0.12,
        };
        let _ = writeln!(tex, "\\begin{{tikzpicture}}[font=\\footnotesize]");
        let _ = writeln!(tex, "\\begin{{groupplot}}[");
        let _ = writeln!(
            tex,
            "  group style={{group size={} by {}, horizontal sep=0.12in, vertical \
             sep={vertical}in}},",
            self.columns, self.rows
        );
        let _ = writeln!(
            tex,
            "  scale only axis, width={}, height={},",
            length(self.panel_in.0),
            length(self.panel_in.1)
        );
        axis(tex, "x", &figure.x, self.panel_in.0, 0.32);
        axis(tex, "y", &figure.y, self.panel_in.1, 0.22);
        if !figure.y.categories().is_empty() {
            *tex += "  y dir=reverse,\n";
        } else if figure.y.scale == Scale::Linear {
            // TeX does not support lengths beyond 5.7 m: values far above the frame are clamped.
            let (low, high) = (figure.y.low, figure.y.high);
            let far = |by: f64| number(low + by * (high - low));
            let _ = writeln!(tex, "  restrict y to domain*={}:{},", far(-40.0), far(40.0));
        }
        if figure.heat.is_none() {
            *tex += "  grid=major, grid style={gray!25},\n";
        }
        *tex += "  tick label style={font=\\scriptsize},\n";
        let _ = writeln!(
            tex,
            "  title style={{font=\\scriptsize, yshift=-5pt, align=center, text width={}}},",
            length(self.panel_in.0)
        );
        *tex += "  tick align=outside, tick pos=left, tick style={black!70}, unbounded \
            coords=discard,\n";
        *tex += "  every axis plot/.append style={line join=round},\n]\n";
    }

    /// Writes the options of a panel; numbers and titles are at the outer sides only.
    fn next(&self, tex: &mut String, n: usize) {
        let (row, column) = (n / self.columns, n % self.columns);
        let is_lowest = n + self.columns >= self.figure.panels.len();
        let mut options = vec![];
        let title = &self.figure.panels[n].title;
        if !title.is_empty() {
            options.push(format!("title={{{}}}", escaped(title)));
        }
        if !is_lowest {
            options.push("xticklabels={}".to_owned());
        }
        if column > 0 {
            options.push("yticklabels={}".to_owned());
        }
        if column == 0 && row == self.rows / 2 && !self.figure.y.label.is_empty() {
            options.push(format!("ylabel={{{}}}", escaped(&self.figure.y.title())));
        }
        if n == 0 {
            options.push("legend columns=3".to_owned());
            options.push("legend style={draw=none, font=\\scriptsize, /tikz/every even column/.append style={column sep=4pt}}".to_owned());
            options.push(format!("legend to name={{netloom:{}}}", self.figure.id));
        }
        let _ = writeln!(tex, "\\nextgroupplot[{}]", options.join(", "));
    }

    fn end(&self, tex: &mut String) {
        *tex += "\\end{groupplot}\n";
        let (right, below) = (self.columns.min(self.figure.panels.len()), self.rows);
        if !self.figure.x.label.is_empty() {
            let _ = writeln!(
                tex,
                "\\node[anchor=north, yshift=-13pt] at ($(group c1r{below}.south west)!0.5!(group \
                 c1r{below}.south west -| group c{right}r1.south east)$) {{{}}};",
                escaped(&self.figure.x.title())
            );
        }
        if let Some(gauge) = &self.figure.heat {
            let has_titles = self
                .figure
                .panels
                .iter()
                .any(|panel| !panel.title.is_empty());
            let titles = if has_titles { self.title_lines() } else { 0 };
            let above = 0.08 + 0.11 * titles as f64;
            let _ = writeln!(
                tex,
                "\\begin{{scope}}[shift={{($(group c1r1.north west)+(0,{above:.2}in)$)}}, x=1in, \
                 y=1in]"
            );
            heat::bar(tex, gauge);
            *tex += "\\end{scope}\n";
        }
        if plot::has_legend(self.figure) {
            let last = self.columns.min(self.figure.panels.len());
            let _ = writeln!(
                tex,
                "\\node[anchor=south, yshift=12pt] at ($(group c1r1.north west)!0.5!(group \
                 c{last}r1.north east)$) {{\\pgfplotslegendfromname{{netloom:{}}}}};",
                self.figure.id
            );
        }
        *tex += "\\end{tikzpicture}\n";
    }
}

/// Writes scale, ends and ticks of an axis.
fn axis(tex: &mut String, letter: &str, axis: &Axis, length_in: f64, tick_in: f64) {
    let at_most = (length_in / tick_in) as usize;
    if axis.scale == Scale::Log {
        let _ = writeln!(tex, "  {letter}mode=log, log basis {letter}=10,");
    }
    let (low, high) = (number(axis.low), number(axis.high));
    let _ = writeln!(tex, "  {letter}min={low}, {letter}max={high},");
    let values = ticks(axis, at_most.max(2));
    let places: Vec<String> = values.iter().map(|value| number(*value)).collect();
    let texts: Vec<String> = match &axis.scale {
        Scale::Category(names) => {
            let every = every(names, length_in);
            let written = |(n, name): (usize, &String)| match n.is_multiple_of(every) {
                true => format!("{{{}}}", escaped(name)),
                false => "{}".to_owned(),
            };
            names.iter().enumerate().map(written).collect()
        }
        _ => values
            .iter()
            .map(|value| format!("{{{}}}", tex::tick(*value)))
            .collect(),
    };
    let _ = writeln!(
        tex,
        "  {letter}tick={{{}}}, {letter}ticklabels={{{}}},",
        places.join(","),
        texts.join(",")
    );
    if axis.scale == Scale::Linear {
        let _ = writeln!(tex, "  minor {letter} tick num=1,");
    }
    let is_long = axis
        .categories()
        .iter()
        .any(|name| name.chars().count() > 6);
    if letter == "x" && is_long {
        *tex += "  xticklabel style={rotate=40, anchor=north east, inner sep=1pt},\n";
    }
}

/// Returns the distance between labelled names: 1, unless the names are numbers that would touch.
fn every(names: &[String], length_in: f64) -> usize {
    if !names.iter().all(|name| name.parse::<f64>().is_ok()) {
        return 1;
    }
    let longest = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    let slot = length_in / names.len() as f64;
    ((longest as f64 * 0.06 + 0.03) / slot).ceil().max(1.0) as usize
}

//! Lines, steps and boxes of a panel, and the legend of the figure.

use std::fmt::Write;

use crate::model::{BoxPlot, Chart, Figure, Line, Mark};
use crate::style::Style;

use super::tex::{color, escaped, marker, number, stroke};

pub(super) fn lines(tex: &mut String, lines: &[Line], file: &str, is_steps: bool, panel: usize) {
    let n_aside = lines.iter().filter(|line| !line.joined).count();
    for (n, line) in lines.iter().enumerate() {
        let ink = color(line.style.color);
        let sure = line
            .points
            .iter()
            .filter(|point| point.mark != Mark::Saturated && point.low.is_some());
        if line.joined && sure.count() > 1 {
            for end in ["low", "high"] {
                let _ = writeln!(
                    tex,
                    "\\addplot[name path={end}-{panel}-{n}, draw=none, forget plot] table[x=x{n}, \
                     y={end}{n}] {{{file}}};"
                );
            }
            let _ = writeln!(
                tex,
                "\\addplot[{ink}, fill opacity=0.18, draw=none, forget plot] fill \
                 between[of=low-{panel}-{n} and high-{panel}-{n}];"
            );
        }
        if line.joined {
            let steps = if is_steps { ", const plot" } else { "" };
            let _ = writeln!(
                tex,
                "\\addplot[{}{steps}, mark=none, forget plot] table[x=x{n}, y=y{n}] {{{file}}};",
                stroke(line.style)
            );
        }
        // Points over a category are drawn side by side.
        let aside = if line.joined {
            0.0
        } else {
            ((n as f64 + 0.5) / n_aside as f64 - 0.5) * 0.6
        };
        let x = match line.joined {
            true => format!("x=x{n}"),
            false => format!("x expr=\\thisrow{{x{n}}}+({})", number(aside)),
        };
        let bars = line.points.iter().any(|point| point.low.is_some()) && !line.joined;
        let bars = match bars {
            true => format!(
                ", y error plus expr=\\thisrow{{high{n}}}-\\thisrow{{y{n}}}, y error minus \
                 expr=\\thisrow{{y{n}}}-\\thisrow{{low{n}}}"
            ),
            false => String::new(),
        };
        let error = if bars.is_empty() {
            ""
        } else {
            ", error bars/.cd, y dir=both, y explicit"
        };
        let kinds = [
            (Mark::Ok, "ok", ink.to_owned()),
            (Mark::Unsure, "unsure", format!("{ink}!35!white")),
            (Mark::Saturated, "saturated", "white".to_owned()),
        ];
        for (mark, column, fill) in kinds {
            // Both are hollow and share a column.
            let is_hollow = mark == Mark::Saturated && line.printed().next().is_some();
            let is_there = line.marked && line.points.iter().any(|point| point.mark == mark);
            if is_there || is_hollow {
                let bars = if mark == Mark::Saturated {
                    ""
                } else {
                    bars.as_str()
                };
                let error = if mark == Mark::Saturated { "" } else { error };
                let _ = writeln!(
                    tex,
                    "\\addplot[only marks, {ink}, {}, forget plot{error}] table[{x}, \
                     y={column}{n}{bars}] {{{file}}};",
                    marker(line.style, &fill)
                );
            }
        }
    }
}

pub(super) fn boxes(tex: &mut String, boxes: &[BoxPlot]) {
    for b in boxes {
        let ink = color(b.style.color);
        let _ = writeln!(
            tex,
            "\\addplot[{ink}, fill={ink}!25!white, boxplot/draw direction=y, boxplot \
             prepared={{lower whisker={}, lower quartile={}, median={}, upper quartile={}, upper \
             whisker={}, draw position={}, box extend=0.5}}, forget plot] coordinates {{}};",
            number(b.min),
            number(b.q1),
            number(b.median),
            number(b.q3),
            number(b.max),
            b.category
        );
    }
}

/// Whether the figure needs a legend.
pub(super) fn has_legend(figure: &Figure) -> bool {
    !entries(figure).is_empty()
}

pub(super) fn legend(tex: &mut String, figure: &Figure) {
    for (look, name) in entries(figure) {
        let _ = writeln!(
            tex,
            "\\addlegendimage{{{look}}}\\addlegendentry{{{}}}",
            escaped(&name)
        );
    }
}

/// Returns styles and names.
fn entries(figure: &Figure) -> Vec<(String, String)> {
    let lines = || {
        figure.panels.iter().flat_map(|panel| match &panel.chart {
            Chart::Lines(lines) | Chart::Steps(lines) => lines.as_slice(),
            _ => &[],
        })
    };
    let is_marked = lines().any(|line| line.marked);
    let is_joined = lines().any(|line| line.joined);
    let series = figure.legend();
    let mut entries = vec![];
    if series.len() > 1 && lines().next().is_some() {
        for entry in series {
            let ink = color(entry.style.color);
            let mut look = if is_joined {
                stroke(entry.style)
            } else {
                format!("only marks, {ink}")
            };
            look += ", ";
            look += &if is_marked {
                marker(entry.style, ink)
            } else {
                "mark=none".to_owned()
            };
            entries.push((look, entry.name));
        }
    }
    let references = figure.panels.iter().flat_map(|panel| &panel.references);
    if let Some(reference) = references.into_iter().next() {
        entries.push((
            "gray, thin, densely dashed".to_owned(),
            reference.label.clone(),
        ));
    }
    let black = Style {
        color: crate::Color::Black,
        ..Style::nth(0)
    };
    for (mark, fill, name) in [
        (Mark::Saturated, "white", "saturated"),
        (Mark::Unsure, "black!35!white", "unsure"),
        (Mark::Printed, "white", "printed"),
    ] {
        if (is_marked || mark == Mark::Printed) && figure.has_mark(mark) {
            entries.push((
                format!("only marks, {}", marker(black, fill)),
                name.to_owned(),
            ));
        }
    }
    entries
}

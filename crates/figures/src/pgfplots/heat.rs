//! Coloured cells and cables.

use std::fmt::Write;

use netloom_results::view::number::rounded;

use crate::gradient::rgb;
use crate::model::{Cell, Chart, Figure, Gauge, MapLink};

use super::tex::escaped;

fn ink(share: f64) -> String {
    let [red, green, blue] = rgb(share);
    format!("{{rgb,255:red,{red};green,{green};blue,{blue}}}")
}

pub(super) fn cells(
    tex: &mut String,
    cells: &[Cell],
    figure: &Figure,
    (width, height): (f64, f64),
) {
    for cell in cells {
        let share = figure
            .heat
            .as_ref()
            .map_or(cell.value, |gauge| gauge.share(cell.value));
        let (x, y) = (cell.column as f64, cell.row as f64);
        let _ = writeln!(
            tex,
            "\\fill[fill={}] (axis cs:{},{}) rectangle (axis cs:{},{});",
            ink(share),
            x - 0.5,
            y - 0.5,
            x + 0.5,
            y + 0.5
        );
        if width >= 0.26 && height >= 0.11 {
            let text = if share > 0.65 { "white" } else { "black" };
            let value = rounded((cell.value * 100.0).round() / 100.0);
            let _ = writeln!(
                tex,
                "\\node[{text}, font=\\tiny, inner sep=0pt] at (axis cs:{x},{y}) {{{value}}};"
            );
        }
    }
}

/// Draws the colour bar, upwards and to the right of the origin, in inches.
pub(super) fn bar(tex: &mut String, gauge: &Gauge) {
    let steps = 20;
    for step in 0..steps {
        let from = f64::from(step) / f64::from(steps);
        let fill = ink(from + 0.5 / f64::from(steps));
        let _ = writeln!(
            tex,
            "\\fill[fill={fill}] ({from:.3},0) rectangle ({:.3},0.08);",
            from + 0.051
        );
    }
    let (low, high) = (rounded(gauge.low), rounded(gauge.high));
    let _ = writeln!(
        tex,
        "\\node[anchor=west, font=\\scriptsize] at (1.05,0.04) {{{} from {low} to {high}}};",
        escaped(&gauge.title())
    );
}

/// Draws fabrics, one below another.
pub(super) fn maps(tex: &mut String, figure: &Figure, width_in: f64) {
    for panel in &figure.panels {
        let Chart::Map(map) = &panel.chart else {
            continue;
        };
        let scale = width_in / map.width.max(1e-9);
        let at = |x: f64, y: f64| format!("({:.4},{:.4})", x * scale, (map.height - y) * scale);
        let _ = writeln!(
            tex,
            "\\begin{{tikzpicture}}[x=1in, y=1in, font=\\scriptsize]"
        );
        let mut links: Vec<&MapLink> = map.links.iter().collect();
        links.sort_by(|a, b| a.value.total_cmp(&b.value));
        for link in links {
            let share = figure
                .heat
                .as_ref()
                .map_or(link.value, |gauge| gauge.share(link.value));
            for line in &link.lines {
                let points: Vec<String> = line.iter().map(|(x, y)| at(*x, *y)).collect();
                let _ = writeln!(
                    tex,
                    "\\draw[draw={}, line width={:.2}pt] {};",
                    ink(0.15 + 0.85 * share),
                    0.4 + share.clamp(0.0, 1.0),
                    points.join(" -- ")
                );
            }
        }
        for place in &map.places {
            let look = if place.is_switch {
                "draw=black!80, fill=white, line width=0.4pt"
            } else {
                "fill=black!40"
            };
            let (x, y) = (place.width / 2.0, place.height / 2.0);
            let from = at(place.x - x, place.y - y);
            let to = at(place.x + x, place.y + y);
            let _ = writeln!(tex, "\\path[{look}] {from} rectangle {to};");
        }
        if !panel.title.is_empty() {
            let _ = writeln!(
                tex,
                "\\node[anchor=south] at {} {{{}}};",
                at(map.width / 2.0, 0.0),
                escaped(&panel.title)
            );
        }
        if let Some(gauge) = &figure.heat {
            *tex += "\\begin{scope}[yshift=-0.12in]\n";
            bar(tex, gauge);
            *tex += "\\end{scope}\n";
        }
        *tex += "\\end{tikzpicture}\n";
    }
}

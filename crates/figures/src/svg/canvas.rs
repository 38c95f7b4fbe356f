//! Draws strokes, fills and texts.

use std::fmt::Write;

use netloom_results::view::escaped;
use netloom_results::view::number::decimals;

use super::SvgStyle;
use crate::model::Figure;
use crate::style::{Marker, Style};

/// The part of a text at its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// The elements drawn so far.
pub(super) struct Canvas {
    body: String,
}

/// The fill of a marker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fill {
    Full,
    Hollow,
    Pale,
    /// Transparent.
    None,
}

impl Canvas {
    pub(super) fn new() -> Canvas {
        Canvas {
            body: String::new(),
        }
    }

    /// Adds an element.
    pub(super) fn add(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    pub(super) fn stroke_line(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
        color: &str,
        width: f64,
    ) {
        let (x1, y1, x2, y2) = (num(from.0), num(from.1), num(to.0), num(to.1));
        self.add(&format!(
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{color}" stroke-width="{}"/>"#,
            num(width)
        ));
    }

    /// Draws a line through points; `more` are further attributes.
    pub(super) fn path(&mut self, points: &[(f64, f64)], more: &str) {
        let mut d = String::new();
        let mut before: Option<(String, String)> = None;
        for (x, y) in points.iter().map(|(x, y)| (num(*x), num(*y))) {
            let _ = match &before {
                None => write!(d, "M{x} {y}"),
                Some((_, before)) if *before == y => write!(d, "H{x}"),
                Some((before, _)) if *before == x => write!(d, "V{y}"),
                Some(_) => write!(d, "L{x} {y}"),
            };
            before = Some((x, y));
        }
        self.add(&format!(r#"<path d="{d}" {more}/>"#));
    }

    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, more: &str) {
        self.add(&format!(
            r#"<rect x="{}" y="{}" width="{}" height="{}" {more}/>"#,
            num(x),
            num(y),
            num(width),
            num(height)
        ));
    }

    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, size: f64, text: &str) {
        self.colored_text((x, y), anchor, size, "", text);
    }

    /// Draws a text in another colour than black.
    pub(super) fn colored_text(
        &mut self,
        at: (f64, f64),
        anchor: Anchor,
        size: f64,
        color: &str,
        text: &str,
    ) {
        let fill = if color.is_empty() {
            String::new()
        } else {
            format!(r#" fill="{color}""#)
        };
        self.add(&format!(
            r#"<text x="{}" y="{}" font-size="{}" text-anchor="{}"{fill}>{}</text>"#,
            num(at.0),
            num(at.1),
            num(size),
            anchor.word(),
            escaped(text)
        ));
    }

    /// Draws a text rotated around its position, in degrees clockwise.
    pub(super) fn turned(
        &mut self,
        x: f64,
        y: f64,
        degrees: f64,
        anchor: Anchor,
        size: f64,
        text: &str,
    ) {
        self.add(&format!(
            r#"<text transform="translate({} {}) rotate({})" font-size="{}" text-anchor="{}">{}</text>"#,
            num(x),
            num(y),
            num(degrees),
            num(size),
            anchor.word(),
            escaped(text)
        ));
    }

    /// Draws the marker of a point.
    pub(super) fn marker(&mut self, (x, y): (f64, f64), style: Style, fill: Fill, radius: f64) {
        let color = style.color.hex();
        let look = match fill {
            Fill::Full => format!(r#"fill="{color}" stroke="{color}" stroke-width="0.5""#),
            Fill::Hollow => format!(r##"fill="#fff" stroke="{color}" stroke-width="0.9""##),
            Fill::None => format!(r#"fill="none" stroke="{color}" stroke-width="0.9""#),
            Fill::Pale => {
                format!(r#"fill="{color}" fill-opacity="0.35" stroke="{color}" stroke-width="0.6""#)
            }
        };
        let r = radius;
        let corners: &[(f64, f64)] = match style.marker {
            Marker::Circle => {
                self.add(&format!(
                    r#"<circle cx="{}" cy="{}" r="{}" {look}/>"#,
                    num(x),
                    num(y),
                    num(r)
                ));
                return;
            }
            Marker::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Marker::TriangleUp => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
            Marker::TriangleDown => &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
            Marker::Diamond => &[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)],
            Marker::Cross => &[
                (-0.4, -1.2),
                (0.4, -1.2),
                (0.4, -0.4),
                (1.2, -0.4),
                (1.2, 0.4),
                (0.4, 0.4),
                (0.4, 1.2),
                (-0.4, 1.2),
                (-0.4, 0.4),
                (-1.2, 0.4),
                (-1.2, -0.4),
                (-0.4, -0.4),
            ],
        };
        let corners: Vec<String> = corners
            .iter()
            .map(|(dx, dy)| format!("{},{}", num(x + dx * r), num(y + dy * r)))
            .collect();
        self.add(&format!(
            r#"<polygon points="{}" {look}/>"#,
            corners.join(" ")
        ));
    }

    pub(super) fn finish(
        self,
        figure: &Figure,
        style: &SvgStyle,
        width: f64,
        height: f64,
    ) -> String {
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{}pt" height="{}pt" viewBox="0 0 {} {}" font-family="{}" fill="#111">
<title>{}</title>
<desc>{}</desc>
<rect width="100%" height="100%" fill="#fff"/>
{}</svg>
"##,
            num(width),
            num(height),
            num(width),
            num(height),
            escaped(&style.font_family),
            escaped(&figure.title),
            escaped(&figure.caption),
            self.body
        )
    }
}

/// Returns the attributes of the line of a series.
pub(super) fn stroke(style: Style, width: f64) -> String {
    let dashes: Vec<String> = style
        .dash
        .pattern()
        .iter()
        .map(|d| num(d * width))
        .collect();
    let dashes = match dashes.is_empty() {
        true => String::new(),
        false => format!(r#" stroke-dasharray="{}""#, dashes.join(" ")),
    };
    format!(
        r#"fill="none" stroke="{}" stroke-width="{}" stroke-linejoin="round"{dashes}"#,
        style.color.hex(),
        num(width)
    )
}

/// Formats a number with at most two decimal places.
pub(super) fn num(x: f64) -> String {
    decimals(x, 2)
}

/// Returns the approximate width of a text in Helvetica.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' | '·' => 0.27,
        'f' | 't' | 'r' | ' ' | '-' | '(' | ')' | '/' => 0.33,
        'm' | 'w' | 'M' | 'W' | '%' | '→' | '…' => 0.9,
        'A'..='Z' => 0.69,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' => 0.35,
        _ => 0.556,
    };
    text.chars().map(width).sum::<f64>() * size
}

/// Truncates a text to at most `at_most` letters.
pub(super) fn cut_text(text: &str, at_most: usize) -> String {
    if text.chars().count() <= at_most {
        return text.to_owned();
    }
    let shortened: String = text.chars().take(at_most - 1).collect();
    format!("{}…", shortened.trim_end())
}

/// Wraps a text to a width, after commas if possible, otherwise at spaces; a longer word is
/// truncated.
pub(super) fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
    let fits = |line: &String| text_width(line, size) <= width;
    if text.is_empty() {
        return vec![];
    }
    let at_commas = joined_to_fit(text.split_inclusive(", "), size, width);
    if at_commas.iter().all(fits) {
        return at_commas;
    }
    let lines = joined_to_fit(text.split_inclusive(' '), size, width);
    let letters = (width / (0.556 * size)).floor().max(4.0) as usize;
    let cut = |line: &String| {
        if fits(line) {
            line.clone()
        } else {
            cut_text(line, letters)
        }
    };
    lines.iter().map(cut).collect()
}

/// Joins parts as long as they fit.
fn joined_to_fit<'t>(parts: impl Iterator<Item = &'t str>, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for part in parts {
        match lines.last_mut() {
            Some(line) if text_width(format!("{line}{part}").trim_end(), size) <= width => {
                line.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines
        .iter()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_and_cut() {
        assert_eq!(
            wrapped("round-robin, load 0.8", 7.0, 60.0),
            ["round-robin,", "load 0.8"]
        );
        assert_eq!(wrapped("", 7.0, 60.0), Vec::<String>::new());
        assert_eq!(cut_text("a_very_long_name", 8), "a_very_…");
    }
}

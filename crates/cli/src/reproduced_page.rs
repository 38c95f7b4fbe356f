//! The HTML page of a reproduction: the claims, and the figures of the paper drawn from the
//! measurements.

use netloom_figures::{Figure, SvgStyle, svg};
use netloom_reproduction::Paper;
use netloom_results::view::escaped;

/// Returns a self-contained HTML page.
pub(super) fn page(paper: &Paper, claims: &str, figures: &[Figure]) -> String {
    let style = style();
    let mut drawn = String::new();
    for figure in figures {
        drawn.push_str(&format!(
            "<figure>\n<h2>{}</h2>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
            escaped(&figure.title),
            svg(figure, &style),
            escaped(&figure.caption)
        ));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Paper {id}: {title}</title>\n<style>\n{STYLE}</style>\n\
         <h1>Paper {id}: {title}</h1>\n\
         <pre>{claims}</pre>\n{drawn}</html>\n",
        id = paper.id,
        title = escaped(&paper.title),
        claims = escaped(claims),
    )
}

/// Returns the file name and the SVG of each figure.
pub(super) fn pictures(figures: &[Figure]) -> impl Iterator<Item = (String, String)> {
    let drawn = |figure: &Figure| (format!("{}.svg", figure.id), svg(figure, &style()));
    figures.iter().map(drawn)
}

fn style() -> SvgStyle {
    SvgStyle {
        font_pt: 9.0,
        ..SvgStyle::two_columns()
    }
}

const STYLE: &str = "body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #222; background: #fff }\n\
    pre { font-size: 12px; line-height: 1.4; overflow-x: auto; background: #f6f6f6; padding: 1rem }\n\
    figure { margin: 2rem 0; break-inside: avoid }\n\
    figure svg { width: 100%; height: auto; max-width: 52rem }\n\
    figcaption { color: #555; max-width: 45rem }\n";

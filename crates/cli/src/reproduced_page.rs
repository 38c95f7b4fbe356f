//! The HTML page of a reproduction: counts, claims, and the figures of the paper drawn from the
//! measurements. It works without network and without scripts.

use netloom_figures::{Figure, SvgStyle, svg};
use netloom_reproduction::{Judged, Row, Table, Verdict};
use netloom_results::view::escaped;

/// Returns a self-contained HTML page; `facts` describe the runs.
pub(super) fn page(table: &Table<'_>, facts: &[String], figures: &[Figure]) -> String {
    let facts: String = facts
        .iter()
        .map(|fact| match fact.strip_prefix('`') {
            Some(code) => format!(
                "<p><code>{}</code></p>\n",
                escaped(code.trim_end_matches('`'))
            ),
            None => format!("<p>{}</p>\n", escaped(fact)),
        })
        .collect();
    let drawn: String = figures
        .iter()
        .map(|figure| drawn(figure, &table.rows))
        .collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Paper {id}: {title}</title>\n<style>\n{STYLE}</style>\n\
         <main>\n<h1>Paper {id}: {title}</h1>\n{counts}\
         <div class=\"facts\">\n{facts}</div>\n\
         <h2 id=\"claims\">Claims</h2>\n{claims}{under}\
         {drawn}{readings}</main>\n</html>\n",
        id = escaped(&table.paper.id),
        title = escaped(&table.paper.title),
        counts = counts(table),
        claims = claims(table, figures),
        under = under(table),
        readings = readings(table),
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

/// Returns the counts: those of the paper's own words in tiles, the others as sentences.
fn counts(table: &Table<'_>) -> String {
    let counted = table.counted();
    let own = counted.paper;
    let tile = |class: &str, number: String, words: &str| {
        format!("<div class=\"tile {class}\"><dt>{words}</dt><dd>{number}</dd></div>\n")
    };
    let hold = format!("{} of {}", own.holds, own.judged());
    let mut text = "<dl class=\"tiles\">\n".to_owned();
    text.push_str(&tile("holds", hold, "in the paper&#39;s own words hold"));
    text.push_str(&tile("undecided", own.undecided.to_string(), "undecided"));
    text.push_str(&tile("misses", own.misses.to_string(), "miss"));
    text.push_str("</dl>\n");
    for line in counted.lines().iter().skip(1) {
        text.push_str(&format!("<p>{}</p>\n", escaped(line)));
    }
    text
}

/// Returns the table of claims, in groups with a common statement.
fn claims(table: &Table<'_>, figures: &[Figure]) -> String {
    let mut text = "<table class=\"claims\">\n<thead><tr><th>part</th><th>paper</th>\
                    <th>accepted</th><th>netloom</th><th>error</th><th>verdict</th>\
                    <th>reason for a miss</th></tr></thead>\n"
        .to_owned();
    let mut before: Option<&Row> = None;
    for row in &table.rows {
        let is_same =
            before.is_some_and(|own| (&own.id, &own.statement) == (&row.id, &row.statement));
        if !is_same {
            if before.is_some() {
                text.push_str("</tbody>\n");
            }
            text.push_str(&group(row, figures));
        }
        text.push_str(&line(row));
        before = Some(row);
    }
    if before.is_some() {
        text.push_str("</tbody>\n");
    }
    text.push_str("</table>\n");
    text
}

/// Returns the head of a group: the statement and the quote.
fn group(row: &Row, figures: &[Figure]) -> String {
    let quote = match row.quote.as_str() {
        "" => format!("<em>{}</em>", row.basis.word()),
        quote => format!("<q>{}</q>", escaped(quote)),
    };
    let figure = figures.iter().find(|figure| figure.id == row.figure);
    let figure = figure.map_or(String::new(), |figure| {
        format!(" <a href=\"#figure-{}\">figure</a>", escaped(&figure.id))
    });
    format!(
        "<tbody>\n<tr class=\"group\"><th colspan=\"7\"><b>{}</b> {}{figure}<br>{quote}</th>\
         </tr>\n",
        escaped(&row.id),
        escaped(&row.statement)
    )
}

fn line(row: &Row) -> String {
    let Judged {
        verdict, measured, ..
    } = &row.ours;
    let cell =
        |label: &str, text: &str| format!("<td data-label=\"{label}\">{}</td>", escaped(text));
    let was = row
        .was
        .as_ref()
        .map(|band| format!("{} (was: {band})", row.band));
    let accepted = was.unwrap_or_else(|| row.band.clone());
    let reason = match verdict {
        Verdict::Misses => row.why.as_str(),
        Verdict::Calibrated => row.calibrated.as_str(),
        _ => "",
    };
    let old = row.ours.was_verdict.map_or(String::new(), |own| {
        format!("<br><small>was: {}</small>", own.word())
    });
    format!(
        "<tr id=\"{id}\"><td class=\"part\">{part}</td>{paper}{band}{ours}{error}\
         <td data-label=\"verdict\">{chip}{old}</td>{reason}</tr>\n",
        id = anchor(row),
        part = escaped(&row.part),
        paper = cell("paper", &row.paper),
        band = cell("accepted", &accepted),
        ours = cell("netloom", measured),
        error = cell("error", row.ours.error.as_deref().unwrap_or("")),
        chip = chip(*verdict),
        reason = cell("reason", reason),
    )
}

fn chip(verdict: Verdict) -> String {
    let word = verdict.word();
    let class = word.replace(' ', "-");
    format!("<span class=\"chip {class}\">{word}</span>")
}

/// Returns the id of a row in the page.
fn anchor(row: &Row) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let name = row.name().to_lowercase();
    name.replace(|c: char| !is_plain(c), "-")
}

/// Returns the verdicts under all readings.
fn under(table: &Table<'_>) -> String {
    if table.under.is_empty() {
        return String::new();
    }
    let mut text = "<h2 id=\"under\">Every claim under every reading</h2>\n\
                    <div class=\"wide\"><table>\n<thead><tr><th>claim</th><th>ours</th>"
        .to_owned();
    for own in &table.under {
        let mark = if own.is_fitted { " (fitted)" } else { "" };
        text.push_str(&format!("<th>{}{mark}</th>", escaped(&own.name)));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        let (id, name) = (anchor(row), escaped(&row.name()));
        text.push_str(&format!("<tr><td><a href=\"#{id}\">{name}</a></td>"));
        let under = row.under.iter().map(|own| own.judged.verdict);
        for verdict in std::iter::once(row.ours.verdict).chain(under) {
            text.push_str(&format!("<td>{}</td>", chip(verdict)));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table></div>\n<ul>\n");
    for own in &table.under {
        let (name, words) = (escaped(&own.name), escaped(&own.words));
        text.push_str(&format!(
            "<li><b>{name}</b>, of {}: {words}</li>\n",
            own.reading
        ));
    }
    text.push_str("</ul>\n");
    text
}

/// Returns a figure with links to the claims that it shows.
fn drawn(figure: &Figure, rows: &[Row]) -> String {
    let own = rows.iter().filter(|row| row.figure == figure.id);
    let links: Vec<String> = own
        .map(|row| format!("<a href=\"#{}\">{}</a>", anchor(row), escaped(&row.name())))
        .collect();
    let links = match links.is_empty() {
        true => String::new(),
        false => format!("<br>Claims: {}", links.join(", ")),
    };
    format!(
        "<figure id=\"figure-{}\">\n<h2>{}</h2>\n<div class=\"wide\">{}</div>\n\
         <figcaption>{}{links}</figcaption>\n</figure>\n",
        escaped(&figure.id),
        escaped(&figure.title),
        svg(figure, &style()),
        escaped(&figure.caption)
    )
}

fn readings(table: &Table<'_>) -> String {
    if table.paper.readings.is_empty() {
        return String::new();
    }
    let mut text = "<h2 id=\"readings\">Readings</h2>\n<dl class=\"readings\">\n".to_owned();
    for own in &table.paper.readings {
        let (id, words) = (escaped(&own.id), escaped(&own.words));
        text.push_str(&format!("<dt>{id}</dt><dd>{words}</dd>\n"));
    }
    text.push_str("</dl>\n");
    text
}

const STYLE: &str = include_str!("reproduced_page.css");

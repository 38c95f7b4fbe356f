//! The page: its sections in order.

use netloom_figures::{Figure, combine, labels, names};
use netloom_results::view::{Links, Study};
use netloom_results::{Collection, Control, Stopped};
use serde_json::{Map, Value};

use crate::{
    assets, class_table, differences, differing, escape, fabric_map, links, provenance, vega,
    verdict,
};

/// Forbids all network access: scripts and styles are inline. Vega compiles its expressions, which
/// needs `eval`.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src \
    'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";

/// Returns a report on some folders, with figures.
pub(crate) fn html(
    collections: &[Collection],
    made_by: &str,
    control: &mut dyn FnMut() -> Control,
) -> Result<String, Stopped> {
    let whole = combine(collections);
    control().check()?;
    let figures = netloom_figures::figures(&whole);
    control().check()?;
    let of = |folder: &Collection| Study::of(folder).unwrap_or_default();
    let study = of(&whole);
    let studies: Vec<Study> = collections.iter().map(of).collect();
    let links = Links::of(&whole, |_| true).filter(|links| !links.is_empty());
    let mut data = Map::new();
    let mut datasets = Map::new();
    let mut entries: Vec<Value> = vec![];
    let mut drawn: Vec<&Figure> = vec![];
    for figure in &figures {
        control().check()?;
        let Some(ready) = vega::drawn(figure) else {
            continue;
        };
        entries.push(ready.entry);
        drawn.push(figure);
        for (name, dataset) in ready.datasets {
            datasets.insert(name, dataset.to_json());
        }
    }
    data.insert("figures".into(), Value::Array(entries));
    data.insert("datasets".into(), Value::Object(datasets));
    control().check()?;
    let drawing = whole.layout.as_ref().zip(links.as_ref());
    let fabric = drawing.and_then(|(layout, links)| fabric_map::draw(layout, links, &study));

    let mut sections: Vec<Section> = vec![];
    sections.push(Section::new(
        "differing",
        "What differs",
        differing::html(collections),
    ));
    sections.push(Section::new(
        "verdict",
        "Verdict",
        verdict::html(&study, collections),
    ));
    if !drawn.is_empty() {
        let mut section = Section::new("figures", "Figures", figures_html(&drawn));
        let sub = |figure: &&Figure| (format!("figure-{}", figure.id), figure.title.clone());
        section.parts = drawn.iter().map(sub).collect();
        sections.push(section);
    }
    if let Some(fabric) = fabric {
        sections.push(Section::new(
            "fabric",
            "Link use in the fabric",
            fabric.html,
        ));
        data.insert("fabric".into(), fabric.data);
    }
    control().check()?;
    let labels = labels(collections);
    if collections.len() > 1
        && let Some(table) = differences::table(&labels, &studies)
    {
        let html = format!(
            "<section id=\"changes\"><h2>Changes</h2>\n{}</section>\n",
            table.html()
        );
        sections.push(Section::new("changes", "Changes", html));
    }
    sections.push(tables(&study, links.as_ref()));
    control().check()?;
    sections.push(Section::new(
        "experiment",
        "Experiment",
        provenance::experiments(collections),
    ));
    sections.push(Section::new(
        "reproduce",
        "How to reproduce",
        provenance::reproduce(collections, &studies),
    ));
    sections.retain(|section| !section.html.is_empty());
    let title = if whole.name.is_empty() {
        "Results".to_owned()
    } else {
        whole.name.clone()
    };
    Ok(shell(
        &title,
        collections,
        &sections,
        &Value::Object(data),
        made_by,
    ))
}

/// A section of the page, with its entry in the contents.
struct Section {
    id: &'static str,
    title: &'static str,
    html: String,
    /// Subsections in the contents: ids and titles.
    parts: Vec<(String, String)>,
}

impl Section {
    fn new(id: &'static str, title: &'static str, html: String) -> Section {
        Section {
            id,
            title,
            html,
            parts: vec![],
        }
    }
}

fn tables(study: &Study, links: Option<&Links<'_>>) -> Section {
    let mut html = String::from("<section id=\"tables\"><h2>Tables</h2>\n");
    let mut parts = vec![];
    let mut add = |id: &str, title: &str, table: String| {
        html.push_str(&format!("<h3 id=\"{id}\">{title}</h3>\n{table}"));
        parts.push((id.to_owned(), title.to_owned()));
    };
    if !study.points.is_empty() {
        let table = class_table::table(study).html();
        add("table-classes", "Points and classes", table);
    }
    if let Some(links) = links {
        let table = links::table(links, study).html();
        add("table-links", "Busiest links", table);
    }
    html.push_str("</section>\n");
    if parts.is_empty() {
        html.clear();
    }
    Section {
        parts,
        ..Section::new("tables", "Tables", html)
    }
}

fn figures_html(figures: &[&Figure]) -> String {
    let mut html = String::from(
        "<section id=\"figures\"><h2>Figures</h2>\n<noscript><p>The figures need JavaScript, which \
         is disabled. The tables below have the numbers.</p></noscript>\n<div class=\"group\">",
    );
    for (at, figure) in figures.iter().enumerate() {
        html.push_str(&figure_html(at, figure));
    }
    html.push_str("</div></section>\n");
    html
}

fn figure_html(at: usize, figure: &Figure) -> String {
    let id = escape::id(&figure.id);
    let mut html = format!(
        "<figure id=\"figure-{id}\" data-figure=\"{at}\" aria-labelledby=\"title-{id}\">\n\
         <h3 id=\"title-{id}\">{}</h3>\n",
        escape::text(&figure.title)
    );
    let legend = figure.legend();
    if legend.len() > 1 {
        html.push_str("<ul class=\"legend\" aria-label=\"Series; press one to hide or show it\">");
        for (number, entry) in legend.iter().enumerate() {
            let name = escape::text(&entry.name);
            html.push_str(&format!(
                "<li><button type=\"button\" data-series=\"{number}\" aria-pressed=\"true\" \
                 title=\"{name}&#10;Press to hide or show, with Shift to show only \
                 this\"><span>{}</span></button></li>",
                escape::name(&entry.name)
            ));
        }
        html.push_str("<li><button type=\"button\" data-all hidden>Show all</button></li></ul>\n");
    }
    // Shared axis titles are written once: that of y above the panels, that of x below them.
    let is_shared = figure.panels.len() > 1;
    if is_shared && !figure.y.label.is_empty() {
        let words = escape::text(&figure.y.title());
        let arrow = if figure.y.categories().is_empty() {
            "↑"
        } else {
            "↓"
        };
        html.push_str(&format!("<div class=\"axis\">{arrow} {words}</div>\n"));
    }
    html.push_str("<div class=\"panels\">");
    html.push_str(&"<div class=\"panel\"></div>".repeat(figure.panels.len()));
    html.push_str("</div>\n");
    if is_shared && !figure.x.label.is_empty() {
        let words = escape::text(&figure.x.title());
        html.push_str(&format!("<div class=\"axis right\">{words} →</div>\n"));
    }
    html.push_str(&format!(
        "<figcaption>{}</figcaption>\n<div class=\"tools\">",
        escape::text(&figure.caption)
    ));
    for (what, title, words) in [
        ("svg", "SVG", "this figure as SVG"),
        ("csv", "CSV", "the data of this figure as CSV"),
        (
            "vega",
            "Vega-Lite",
            "this figure as Vega-Lite, to restyle it",
        ),
    ] {
        html.push_str(&format!(
            "<button type=\"button\" data-take=\"{what}\" aria-label=\"Save \
             {words}\">{title}</button>"
        ));
    }
    html.push_str("</div>\n</figure>\n");
    html
}

fn shell(
    title: &str,
    collections: &[Collection],
    sections: &[Section],
    data: &Value,
    made_by: &str,
) -> String {
    let shown = escape::text(title);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"{}\">\n<title>{shown}</title>\n<style>\n{}</style>\n\
         </head>\n<body>\n",
        escape::text(made_by),
        assets::STYLE
    );
    html.push_str("<a class=\"skip\" href=\"#main\">Skip to the results</a>\n");
    html.push_str(&format!(
        "<header class=\"bar\"><div class=\"brand\">netloom <span>report · {shown}</span></div>\
         <button type=\"button\" id=\"theme\" aria-label=\"Change between light and \
         dark\">Dark</button>\
         <button type=\"button\" id=\"print\">Print</button></header>\n<div class=\"frame\">\n"
    ));
    html.push_str("<nav class=\"contents\" aria-label=\"Contents\"><ol>");
    for section in sections {
        html.push_str(&format!(
            "<li><a href=\"#{}\">{}</a>",
            section.id, section.title
        ));
        if !section.parts.is_empty() {
            html.push_str("<ol>");
            for (id, title) in &section.parts {
                html.push_str(&format!(
                    "<li><a href=\"#{}\">{}</a></li>",
                    escape::id(id),
                    escape::text(title)
                ));
            }
            html.push_str("</ol>");
        }
        html.push_str("</li>");
    }
    html.push_str("</ol></nav>\n<main id=\"main\" tabindex=\"-1\">\n");
    html.push_str(&title_html(title, collections));
    for section in sections {
        html.push_str(&section.html);
    }
    html.push_str("</main>\n</div>\n");
    html.push_str(&format!(
        "<footer>Created by {} from {}. Charts are drawn by Vega and Vega-Lite (University of \
         Washington Interactive Data Lab, BSD-3-Clause). This file works without a \
         network.</footer>\n",
        escape::text(made_by),
        escape::text(&folders(collections))
    ));
    html.push_str("<div id=\"tip\" aria-hidden=\"true\" hidden></div>\n");
    html.push_str(&format!(
        "<script type=\"application/json\" id=\"report-data\">{}</script>\n",
        escape::json(data)
    ));
    for script in assets::scripts() {
        html.push_str(&format!("<script>{script}</script>\n"));
    }
    html.push_str("</body>\n</html>\n");
    html
}

fn folders(collections: &[Collection]) -> String {
    let folders: Vec<&str> = collections.iter().map(|c| c.folder.as_str()).collect();
    folders.join(", ")
}

fn title_html(title: &str, collections: &[Collection]) -> String {
    let mut html = format!("<section><h1>{}</h1>\n", escape::name(title));
    // Folders of one experiment have the same description.
    let is_same = collections
        .windows(2)
        .all(|pair| pair[0].about == pair[1].about);
    let n_described = if is_same { 1 } else { collections.len() };
    for (collection, name) in collections.iter().zip(names(collections)).take(n_described) {
        if collection.about.trim().is_empty() {
            continue;
        }
        let name = if is_same {
            String::new()
        } else {
            format!("<strong>{}</strong>: ", escape::name(&name))
        };
        for paragraph in collection.about.trim().split("\n\n") {
            html.push_str(&format!("<p>{name}{}</p>\n", escape::text(paragraph)));
        }
    }
    let mut facts: Vec<(&str, String)> = vec![("Folder", folders(collections))];
    if let [collection] = collections {
        let manifest = &collection.manifest;
        let text = |key: &str| manifest[key].as_str().map(str::to_owned);
        facts.extend(text("netloom").map(|version| ("netloom", version)));
        facts.extend(text("git").map(|commit| ("Commit", commit.chars().take(12).collect())));
        let finished = manifest["finished_unix_seconds"].as_u64();
        facts.extend(finished.map(|at| ("Finished", provenance::day(at))));
    }
    html.push_str("<dl class=\"facts\">");
    for (name, words) in facts {
        html.push_str(&format!(
            "<div><dt>{name}</dt><dd>{}</dd></div>",
            escape::text(&words)
        ));
    }
    html.push_str("</dl></section>\n");
    html
}

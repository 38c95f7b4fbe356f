//! The drawing of the fabric, with links coloured by use.

use netloom_results::view::layout::{Anchor, Label, Layout, NodeKind};
use netloom_results::view::{Links, Point, Study, number, ordered};
use serde_json::{Value, json};

use crate::escape;

/// Maximum number of embedded values; if there are more, only the points of detail figures can be
/// selected.
const MOST_NUMBERS: usize = 80_000;

/// The section of the page, and the data for its script.
pub(crate) struct FabricMap {
    pub(crate) html: String,
    pub(crate) data: Value,
}

/// Draws the fabric with coloured links; `None` if the drawing does not have single switches.
pub(crate) fn draw(layout: &Layout, links: &Links<'_>, study: &Study) -> Option<FabricMap> {
    let chosen = study.chosen();
    let is_large = layout.edges.len() * study.points.len() > MOST_NUMBERS;
    let points: Vec<&Point> = if is_large {
        chosen.clone()
    } else {
        study.in_order().collect()
    };
    let first = chosen.first()?;
    let first = points
        .iter()
        .position(|point| point.number == first.number)?;
    let mut high: Option<f64> = None;
    let mut entries = vec![];
    for point in &points {
        let between = links.between(point.number);
        let uses = layout.edges.iter();
        let uses = uses.map(|edge| between.get(&ordered(&edge.from, &edge.to)).copied());
        let uses: Vec<Option<f64>> = uses.collect();
        high = uses.iter().flatten().copied().chain(high).reduce(f64::max);
        let words = words(study, point, &uses);
        let uses: Vec<Value> = uses
            .into_iter()
            .map(|u| u.map_or(Value::Null, |u| json!((u * 1e4).round() / 1e4)))
            .collect();
        entries.push(json!({ "use": uses, "words": words }));
    }
    let high = high?;
    // The scale ends at full use, unless all values are much lower.
    let high = [0.1, 0.25, 0.5, 1.0].into_iter().find(|top| high <= *top);
    let high = high.unwrap_or(1.0);
    let names: Vec<String> = layout
        .edges
        .iter()
        .map(|edge| format!("{} – {}", edge.from, edge.to))
        .collect();
    let html = section(layout, study, &points, first, high);
    let data = json!({ "first": first, "high": high, "edges": names, "points": entries });
    Some(FabricMap { html, data })
}

fn words(study: &Study, point: &Point, uses: &[Option<f64>]) -> String {
    let known: Vec<f64> = uses.iter().flatten().copied().collect();
    let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let most = known.iter().copied().fold(0.0, f64::max);
    format!(
        "{}: mean {} % over all cables, maximum {} %, in the busier direction.",
        study.name(point),
        number::short(100.0 * mean),
        number::short(100.0 * most)
    )
}

fn section(layout: &Layout, study: &Study, points: &[&Point], first: usize, high: f64) -> String {
    let mut html = String::from("<section id=\"fabric\"><h2>Link use in the fabric</h2>\n");
    html.push_str("<figure class=\"fabric\">\n<div class=\"filter\">");
    if points.len() > 1 {
        html.push_str(
            "<label class=\"small screen\">Point <select id=\"fabric-point\" autocomplete=\"off\">",
        );
        for (at, point) in points.iter().enumerate() {
            let selected = if at == first { " selected" } else { "" };
            html.push_str(&format!(
                "<option value=\"{at}\"{selected}>{}</option>",
                escape::text(&study.name(point))
            ));
        }
        html.push_str("</select></label>");
    }
    html.push_str(&format!(
        "<span class=\"scale\">0 <i id=\"fabric-scale\"></i> {} % of the time</span></div>\n",
        high * 100.0
    ));
    html.push_str(&svg(layout));
    let structure = if layout.structure.is_empty() {
        String::new()
    } else {
        format!("{}. ", escape::text(&layout.structure))
    };
    html.push_str(&format!(
        "<figcaption>{structure}A line represents all cables between two nodes, coloured by the \
         busiest cable and direction; mean over seeds. <span \
         id=\"fabric-words\"></span></figcaption>\n\
         <div class=\"tools\"><button type=\"button\" \
         data-take=\"fabric\">SVG</button></div></figure></section>\n"
    ));
    html
}

fn svg(layout: &Layout) -> String {
    let mut svg = format!(
        "<svg viewBox=\"0 0 {:.0} {:.0}\" width=\"{:.0}\" role=\"img\" aria-label=\"The fabric \
         with its links coloured by use; the table of busiest links has the numbers.\">\n",
        layout.width_px, layout.height_px, layout.width_px
    );
    svg.push_str("<g>\n");
    for (at, edge) in layout.edges.iter().enumerate() {
        let mut path = String::new();
        for line in &edge.lines_px {
            for (corner, [x, y]) in line.iter().enumerate() {
                let letter = if corner == 0 { 'M' } else { 'L' };
                path.push_str(&format!("{letter}{x:.1} {y:.1}"));
            }
        }
        svg.push_str(&format!(
            "<path class=\"edge\" data-edge=\"{at}\" fill=\"none\" stroke=\"#9aa3ad\" \
             d=\"{path}\"/>\n"
        ));
    }
    svg.push_str("</g>\n");
    for node in &layout.nodes {
        let class = match node.kind {
            NodeKind::Nic | NodeKind::NicGroup => "node nic",
            NodeKind::Switch | NodeKind::SwitchGroup => "node",
        };
        svg.push_str(&format!(
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             rx=\"2\"><title>{}</title></rect>\n",
            node.x_px - node.width_px / 2.0,
            node.y_px - node.height_px / 2.0,
            node.width_px,
            node.height_px,
            escape::text(&node.name)
        ));
    }
    for label in layout.nodes.iter().filter_map(|node| node.label.as_ref()) {
        svg.push_str(&written(label, ""));
    }
    for label in &layout.labels {
        svg.push_str(&written(label, "words"));
    }
    svg.push_str("</svg>\n");
    svg
}

fn written(label: &Label, class: &str) -> String {
    let anchor = match label.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let (x, y) = (label.x_px, label.y_px);
    let turned = if label.is_vertical {
        format!(" transform=\"rotate(90 {x:.1} {y:.1})\"")
    } else {
        String::new()
    };
    format!(
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" dy=\"0.35em\" font-size=\"{:.1}\" \
         text-anchor=\"{anchor}\"{turned}>{}</text>\n",
        label.size_px,
        escape::text(&label.text)
    )
}

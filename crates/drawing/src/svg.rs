//! A layout as SVG, for use as a file or inside a page.
//!
//! Colours are attributes, so that programs without full CSS support (converters, office programs)
//! draw the same picture. The style sheet holds only what a browser may add: dark colours if the
//! reader prefers them, and hover effects.

use std::fmt::Write;

use netloom_results::view::escaped;

use crate::canvas::{counted, number_of, text_width};
use crate::layout::{Anchor, Edge, EdgeKind, Label, Layout, Node, NodeKind};
use crate::palette;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scheme {
    /// Follows the setting of the reader's system.
    #[default]
    Auto,
    /// Light, for example for print.
    Light,
    Dark,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Style {
    /// First words of the caption; may be empty.
    pub title: String,
    pub scheme: Scheme,
}

/// Minimum width, so that the caption fits.
const NARROWEST: f64 = 440.0;
const LINE: f64 = 16.0;
const CAPTION: f64 = 12.0;
const MARGIN: f64 = 16.0;

/// Draws a layout.
///
/// Every node and edge is a group with a `title`, which browsers show on hover. Edges carry
/// `data-from`, `data-to`, `data-from-ports` and `data-to-ports`, so that a page can colour them.
pub fn svg(layout: &Layout, style: &Style) -> String {
    let width = layout.width_px.max(NARROWEST);
    let shift = (width - layout.width_px) / 2.0;
    let tones = Tones::of(style.scheme);
    let mut foot = String::new();
    let legend_height = legend(&mut foot, layout, width, &tones);
    let mut y = layout.height_px + legend_height;
    let words = caption(layout, style);
    for line in words.iter().flat_map(|w| wrapped(w, width - 2.0 * MARGIN)) {
        y += LINE;
        let line = escaped(&line);
        let _ = writeln!(
            foot,
            r#"<text class="caption" x="{MARGIN}" y="{y}" font-size="{CAPTION}">{line}</text>"#
        );
    }
    let height = y + MARGIN;

    let mut text = String::new();
    let about = escaped(&words.join(" "));
    let _ = writeln!(
        text,
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="netloom-fabric" role="img" aria-label="{about}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" style="max-width:100%;height:auto" font-family="{FAMILY}" fill="{}">"#,
        tones.ink
    );
    let _ = writeln!(text, "<style>{}</style>", sheet(layout, style));
    let _ = writeln!(
        text,
        r#"<rect class="ground" width="{width}" height="{height}" fill="{}"/>"#,
        tones.ground
    );
    let _ = writeln!(text, r#"<g transform="translate({shift},0)">"#);
    let pen = pen(layout);
    text.push_str("<g fill=\"none\" stroke-linecap=\"round\">\n");
    for kind in [EdgeKind::Host, EdgeKind::Fabric] {
        for edge in layout.edges.iter().filter(|e| e.kind == kind) {
            draw_edge(&mut text, layout, edge, pen, &tones);
        }
    }
    text.push_str("</g>\n");
    for node in &layout.nodes {
        draw_node(&mut text, node, &tones);
    }
    for label in layout.edges.iter().filter_map(|e| e.label.as_ref()) {
        draw_label(&mut text, label, "count", &tones);
    }
    for label in &layout.labels {
        // tidy: allow a class of the style sheet
        draw_label(&mut text, label, "beside", &tones);
    }
    text.push_str("</g>\n");
    text.push_str(&foot);
    text.push_str("</svg>\n");
    text
}

/// Returns the line width of a single cable, which is thin if there are many.
fn pen(layout: &Layout) -> f64 {
    let lines = layout.edges.iter().filter(|e| e.kind == EdgeKind::Fabric);
    match lines.count() {
        0..=300 => 1.5,
        301..=1000 => 1.0,
        _ => 0.6,
    }
}

fn class_of(layout: &Layout, edge: &Edge) -> usize {
    let same = |class: &String| *class == edge.link_class;
    layout.link_classes.iter().position(same).unwrap_or(0)
}

fn draw_edge(text: &mut String, layout: &Layout, edge: &Edge, pen: f64, tones: &Tones) {
    let ports = |port: fn(&crate::Cable) -> Option<u16>| {
        let ports: Vec<String> = edge
            .cables
            .iter()
            .filter_map(port)
            .map(|p| p.to_string())
            .collect();
        ports.join(" ")
    };
    let (from, to) = (escaped(&edge.from), escaped(&edge.to));
    let (out, back) = (ports(|c| c.from_port), ports(|c| c.to_port));
    let class = class_of(layout, edge);
    let _ = write!(
        text,
        r#"<g class="edge class-{class}"{} data-from="{from}" data-to="{to}" data-from-ports="{out}" data-to-ports="{back}"><title>{}</title>"#,
        tones.line(class),
        escaped(&edge_words(edge))
    );
    let width = match edge.kind {
        EdgeKind::Host => 0.8,
        // Twice the cables are slightly wider, so that even a trunk of a thousand cables is a line.
        EdgeKind::Fabric => pen + 0.5 * f64::from(edge.n_cables.ilog2()).min(8.0),
    };
    let mut path = String::new();
    for line in &edge.lines_px {
        for (i, [x, y]) in line.iter().enumerate() {
            let _ = write!(path, "{}{x} {y}", if i == 0 { "M" } else { "L" });
        }
    }
    let around = if edge.lines_px.len() > 1 {
        r#" stroke-dasharray="5 4""#
    } else {
        ""
    };
    let _ = writeln!(
        text,
        r#"<path class="line" stroke-width="{width}"{around} d="{path}"/></g>"#
    );
}

/// Returns the tooltip of an edge.
fn edge_words(edge: &Edge) -> String {
    let end = |name: &str, port: Option<u16>| match port {
        Some(port) => format!("{name} port {port}"),
        None => name.to_owned(),
    };
    let ends = match edge.cables.as_slice() {
        [cable] => format!(
            "{} to {}",
            end(&edge.from, cable.from_port),
            end(&edge.to, cable.to_port)
        ),
        _ => format!("{} to {}", edge.from, edge.to),
    };
    let n = number_of(edge.n_cables, "cable", "cables");
    format!("{ends}: {n}, {}", edge.link_class)
}

fn draw_node(text: &mut String, node: &Node, tones: &Tones) {
    let (class, words) = match node.kind {
        NodeKind::Switch => ("switch", node.name.clone()),
        NodeKind::Nic => ("nic", node.name.clone()),
        NodeKind::SwitchGroup => {
            let n = number_of(node.count, "switch", "switches");
            ("switch", format!("{}: {n}", node.name))
        }
        NodeKind::NicGroup => {
            let n = number_of(node.count, "NIC", "NICs");
            ("nics", format!("{}: {n}", node.name))
        }
    };
    let (w, h) = (node.width_px, node.height_px);
    let name = escaped(&node.name);
    let words = escaped(&words);
    let look = match class {
        "switch" => format!(r#"fill="{}" stroke="{}""#, tones.switch, tones.ink),
        "nics" => format!(r#"fill="{}" stroke="{}""#, tones.ground, tones.nic),
        _ => format!(r#"fill="{}""#, tones.nic),
    };
    let _ = write!(
        text,
        r#"<g class="{class}" {look} data-name="{name}"><title>{words}</title>"#
    );
    let _ = match node.kind {
        NodeKind::Nic => writeln!(
            text,
            r#"<circle cx="{}" cy="{}" r="{}"/></g>"#,
            node.x_px,
            node.y_px,
            w / 2.0
        ),
        _ => writeln!(
            text,
            r#"<rect x="{:.1}" y="{:.1}" width="{w}" height="{h}" rx="{:.1}"/></g>"#,
            node.x_px - w / 2.0,
            node.y_px - h / 2.0,
            (h / 5.0).min(4.0)
        ),
    };
    if let Some(label) = &node.label {
        draw_label(text, label, "name", tones);
    }
}

fn draw_label(text: &mut String, label: &Label, class: &str, tones: &Tones) {
    let anchor = match label.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let (x, y, size) = (label.x_px, label.y_px, label.size_px);
    let turn = match label.is_vertical {
        true => format!(r#" transform="rotate(90 {x} {y})""#),
        false => String::new(),
    };
    let look = match class {
        // tidy: allow a class of the style sheet
        "beside" => format!(r#" fill="{}""#, tones.quiet),
        "count" => format!(
            r#" stroke="{}" stroke-width="3" paint-order="stroke""#,
            tones.ground
        ),
        _ => String::new(),
    };
    // Centred manually, since not every program knows `dominant-baseline`.
    let base = y + 0.35 * size;
    let words = escaped(&label.text);
    let _ = writeln!(
        text,
        r#"<text class="{class}"{look} x="{x}" y="{base:.1}" font-size="{size}" text-anchor="{anchor}"{turn}>{words}</text>"#
    );
}

/// Returns the caption, in sentences.
fn caption(layout: &Layout, style: &Style) -> Vec<String> {
    let mut parts = vec![layout.structure.clone()];
    if layout.switches > 1 {
        parts.push(number_of(layout.switches, "switch", "switches"));
    }
    parts.push(number_of(layout.nics, "NIC", "NICs"));
    parts.push(number_of(layout.cables, "cable", "cables"));
    let counts = parts.join(", ");
    let mut words = vec![match style.title.as_str() {
        "" => format!("{counts}."),
        title => format!("{title}: {counts}."),
    }];
    if layout.is_overview {
        let text = "Boxes are groups of switches; lines are bundles with their number of cables.";
        words.push(text.to_owned());
    }
    words.extend(layout.remarks.iter().cloned());
    vec![words.join(" ")]
}

/// Draws the legend of cable classes with their numbers; returns its height.
fn legend(text: &mut String, layout: &Layout, width: f64, tones: &Tones) -> f64 {
    let top = layout.height_px;
    let mut counts = vec![0u32; layout.link_classes.len()];
    for edge in &layout.edges {
        counts[class_of(layout, edge)] += edge.n_cables;
    }
    let (mut x, mut y) = (MARGIN, top + LINE / 2.0);
    for (class, name) in layout.link_classes.iter().enumerate() {
        let n = counts[class];
        if n == 0 {
            continue;
        }
        let cables = match (layout.is_overview, n) {
            (true, _) => "between groups",
            (false, 1) => "cable",
            (false, _) => "cables",
        };
        let words = format!("{name}: {} {cables}", counted(n.into()));
        let room = 30.0 + text_width(&words, CAPTION) + 18.0;
        if x > MARGIN && x + room > width {
            (x, y) = (MARGIN, y + LINE);
        }
        let _ = writeln!(
            text,
            r#"<g class="edge class-{class}"{}><path class="line" stroke-width="2.5" d="M{x:.1} {y:.1}h22"/></g><text class="caption" x="{:.1}" y="{:.1}" font-size="{CAPTION}">{}</text>"#,
            tones.line(class),
            x + 28.0,
            y + 4.0,
            escaped(&words)
        );
        x += room;
    }
    y + LINE - top
}

/// Wraps a text into lines that fit.
fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines = vec![];
    let mut line = String::new();
    for word in text.split(' ') {
        let longer = format!("{line}{}{word}", if line.is_empty() { "" } else { " " });
        if text_width(&longer, CAPTION) > width && !line.is_empty() {
            lines.push(std::mem::replace(&mut line, word.to_owned()));
        } else {
            line = longer;
        }
    }
    lines.push(line);
    lines
}

struct Tones {
    is_dark: bool,
    ground: &'static str,
    ink: &'static str,
    quiet: &'static str,
    switch: &'static str,
    nic: &'static str,
}

const LIGHT: Tones = Tones {
    is_dark: false,
    ground: "#ffffff",
    ink: "#1f2328",
    quiet: "#57606a",
    switch: "#eef2f6",
    nic: "#57606a",
};
const DARK: Tones = Tones {
    is_dark: true,
    ground: "#0d1117",
    ink: "#e6edf3",
    quiet: "#9da7b3",
    switch: "#21262d",
    nic: "#9da7b3",
};

impl Tones {
    /// Returns the colours of the attributes.
    fn of(scheme: Scheme) -> Tones {
        match scheme {
            Scheme::Auto | Scheme::Light => LIGHT,
            Scheme::Dark => DARK,
        }
    }

    fn class(&self, class: usize) -> &'static str {
        let (ink, _) = palette::of_class(class);
        if self.is_dark { ink.dark } else { ink.light }
    }

    /// Returns the attributes of the cables of a class.
    fn line(&self, class: usize) -> String {
        let dashes = match palette::of_class(class).1 {
            "" => String::new(),
            dashes => format!(r#" stroke-dasharray="{dashes}""#),
        };
        format!(r#" stroke="{}"{dashes}"#, self.class(class))
    }
}

/// Font families in order of preference.
const FAMILY: &str =
    "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// Returns the style sheet. All selectors are below the picture's own class, so that they do not
/// affect a page.
fn sheet(layout: &Layout, style: &Style) -> String {
    let mut text = String::from(
        ".netloom-fabric text{pointer-events:none}.netloom-fabric .edge:hover \
         .line{stroke-width:4}",
    );
    if style.scheme != Scheme::Auto {
        return text;
    }
    let Tones {
        ground,
        ink,
        quiet,
        switch,
        nic,
        ..
    } = DARK;
    let mut rules = vec![
        ("", format!("fill:{ink}")),
        (".ground", format!("fill:{ground}")),
        // tidy: allow a class of the style sheet
        (".beside", format!("fill:{quiet}")),
        (".count", format!("stroke:{ground}")),
        (".switch", format!("fill:{switch};stroke:{ink}")),
        (".nics", format!("fill:{ground};stroke:{nic}")),
        (".nic", format!("fill:{nic}")),
    ];
    let classes: Vec<String> = (0..layout.link_classes.len())
        .map(|class| format!(".class-{class}"))
        .collect();
    for (class, name) in classes.iter().enumerate() {
        rules.push((name, format!("stroke:{}", DARK.class(class))));
    }
    text.push_str("@media(prefers-color-scheme:dark){");
    for (name, rule) in rules {
        let _ = write!(text, ".netloom-fabric {name}{{{rule}}}");
    }
    text.push('}');
    text
}

//! A layout as SVG that stands alone or inside a page.

use std::fmt::Write;

use crate::canvas::{counted, number_of, text_width};
use crate::layout::{Anchor, Edge, EdgeKind, Label, Layout, Node, NodeKind};
use crate::palette;

/// Light or dark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scheme {
    /// As the reader's system says.
    #[default]
    Auto,
    /// Light, such as for print.
    Light,
    /// Dark.
    Dark,
}

/// How a layout is drawn.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Style {
    /// What the picture shows: the first words of its caption; may be empty.
    pub title: String,
    /// Light or dark.
    pub scheme: Scheme,
}

/// The narrowest picture: a caption needs room.
const NARROWEST: f64 = 440.0;
const LINE: f64 = 16.0;
const CAPTION: f64 = 12.0;
const MARGIN: f64 = 16.0;

/// Draws a layout.
///
/// Every node and edge is a group with a `title`, which browsers show on hover. Edges carry `data-from`,
/// `data-to`, `data-from-ports` and `data-to-ports`, so that a page can colour them.
pub fn svg(layout: &Layout, style: &Style) -> String {
    let width = layout.width_px.max(NARROWEST);
    let shift = (width - layout.width_px) / 2.0;
    let mut foot = String::new();
    let legend_height = legend(&mut foot, layout, width, layout.height_px);
    let mut y = layout.height_px + legend_height;
    let words = caption(layout, style);
    for line in words.iter().flat_map(|w| wrapped(w, width - 2.0 * MARGIN)) {
        y += LINE;
        let line = escaped(&line);
        let _ = writeln!(
            foot,
            r#"<text class="caption" x="{MARGIN}" y="{y}">{line}</text>"#
        );
    }
    let height = y + MARGIN;

    let mut text = String::new();
    let about = escaped(&words.join(" "));
    let _ = writeln!(
        text,
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="netloom-fabric" role="img" aria-label="{about}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" style="max-width:100%;height:auto">"#
    );
    let _ = writeln!(text, "<style>{}</style>", sheet(layout, style));
    let _ = writeln!(
        text,
        r#"<rect class="ground" width="{width}" height="{height}"/>"#
    );
    let _ = writeln!(text, r#"<g transform="translate({shift},0)">"#);
    let pen = pen(layout);
    for kind in [EdgeKind::Host, EdgeKind::Fabric] {
        for edge in layout.edges.iter().filter(|e| e.kind == kind) {
            draw_edge(&mut text, layout, edge, pen);
        }
    }
    for node in &layout.nodes {
        draw_node(&mut text, node);
    }
    for label in layout.edges.iter().filter_map(|e| e.label.as_ref()) {
        draw_label(&mut text, label, "count");
    }
    for label in &layout.labels {
        draw_label(&mut text, label, "beside");
    }
    text.push_str("</g>\n");
    text.push_str(&foot);
    text.push_str("</svg>\n");
    text
}

/// Width of a line that stands for one cable: thin where there are many.
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

fn draw_edge(text: &mut String, layout: &Layout, edge: &Edge, pen: f64) {
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
        r#"<g class="edge class-{class}" data-from="{from}" data-to="{to}" data-from-ports="{out}" data-to-ports="{back}"><title>{}</title>"#,
        escaped(&edge_words(edge))
    );
    let width = match edge.kind {
        EdgeKind::Host => 0.8,
        // Twice the cables are a little wider, so that a trunk of a thousand still is a line.
        EdgeKind::Fabric => pen + 0.5 * f64::from(edge.n_cables.ilog2()).min(8.0),
    };
    let mut path = String::new();
    for line in &edge.lines_px {
        for (i, [x, y]) in line.iter().enumerate() {
            let _ = write!(path, "{}{x} {y}", if i == 0 { "M" } else { "L" });
        }
    }
    let around = if edge.lines_px.len() > 1 {
        " around"
    } else {
        ""
    };
    let _ = writeln!(
        text,
        r#"<path class="line{around}" stroke-width="{width}" d="{path}"/></g>"#
    );
}

/// What a person reads when pointing at an edge.
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

fn draw_node(text: &mut String, node: &Node) {
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
    let _ = write!(
        text,
        r#"<g class="{class}" data-name="{name}"><title>{words}</title>"#
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
        draw_label(text, label, "name");
    }
}

fn draw_label(text: &mut String, label: &Label, class: &str) {
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
    let words = escaped(&label.text);
    let _ = writeln!(
        text,
        r#"<text class="{class}" x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" dominant-baseline="central"{turn}>{words}</text>"#
    );
}

/// What the picture shows, in sentences.
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

/// The classes of cables that are drawn, with their numbers; returns its height.
fn legend(text: &mut String, layout: &Layout, width: f64, top: f64) -> f64 {
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
            r#"<g class="edge class-{class}"><path class="line" stroke-width="2.5" d="M{x:.1} {y:.1}h22"/></g><text class="caption" x="{:.1}" y="{:.1}">{}</text>"#,
            x + 28.0,
            y + 4.0,
            escaped(&words)
        );
        x += room;
    }
    y + LINE - top
}

/// A text cut into lines that fit.
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

/// The style sheet; all its names are below the picture's own class, so that a page is not touched.
fn sheet(layout: &Layout, style: &Style) -> String {
    struct Tones {
        ground: &'static str,
        ink: &'static str,
        quiet: &'static str,
        switch: &'static str,
        nic: &'static str,
    }
    const LIGHT: Tones = Tones {
        ground: "#ffffff",
        ink: "#1f2328",
        quiet: "#57606a",
        switch: "#eef2f6",
        nic: "#57606a",
    };
    const DARK: Tones = Tones {
        ground: "#0d1117",
        ink: "#e6edf3",
        quiet: "#9da7b3",
        switch: "#21262d",
        nic: "#9da7b3",
    };
    let variables = |tones: &Tones, is_dark: bool| {
        let mut text = format!(
            "--ground:{};--ink:{};--quiet:{};--switch:{};--nic:{};",
            tones.ground, tones.ink, tones.quiet, tones.switch, tones.nic
        );
        for class in 0..layout.link_classes.len() {
            let (ink, _) = palette::of_class(class);
            let colour = if is_dark { ink.dark } else { ink.light };
            let _ = write!(text, "--class-{class}:{colour};");
        }
        text
    };
    let (light, dark) = (variables(&LIGHT, false), variables(&DARK, true));
    let mut text = match style.scheme {
        Scheme::Auto => format!(
            ".netloom-fabric{{{light}}}@media(prefers-color-scheme:dark){{.netloom-fabric{{{dark}}}}}"
        ),
        Scheme::Light => format!(".netloom-fabric{{{light}}}"),
        Scheme::Dark => format!(".netloom-fabric{{{dark}}}"),
    };
    text.push_str(
        ".netloom-fabric{font-family:system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\
         .netloom-fabric .ground{fill:var(--ground)}\
         .netloom-fabric text{fill:var(--ink);pointer-events:none}\
         .netloom-fabric .caption{font-size:12px}\
         .netloom-fabric .beside{fill:var(--quiet)}\
         .netloom-fabric .count{stroke:var(--ground);stroke-width:3px;paint-order:stroke}\
         .netloom-fabric .switch rect{fill:var(--switch);stroke:var(--ink);stroke-width:1}\
         .netloom-fabric .nics rect{fill:var(--ground);stroke:var(--nic);stroke-width:1}\
         .netloom-fabric .nic circle{fill:var(--nic)}\
         .netloom-fabric .line{fill:none;stroke-linecap:round}\
         .netloom-fabric .around{stroke-dasharray:5 4}\
         .netloom-fabric .edge:hover .line{stroke-width:4}",
    );
    for class in 0..layout.link_classes.len() {
        let (_, dashes) = palette::of_class(class);
        let dashes = match dashes {
            "" => String::new(),
            dashes => format!(";stroke-dasharray:{dashes}"),
        };
        let _ = write!(
            text,
            ".netloom-fabric .class-{class} .line{{stroke:var(--class-{class}){dashes}}}"
        );
    }
    text
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML has no control characters, not even written as numbers.
            letter if letter.is_control() => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

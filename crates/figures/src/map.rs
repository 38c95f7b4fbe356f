//! The drawing of a fabric as `layout.json` has it, with a value on every cable.
//!
//! Only what is needed is read, so that a layout of a newer version still serves.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::model::{Map, MapLink, Place};

/// Where switches and NICs are drawn.
#[derive(Deserialize)]
pub(crate) struct Layout {
    #[serde(default)]
    is_overview: bool,
    width_px: f64,
    height_px: f64,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

#[derive(Deserialize)]
struct Node {
    kind: String,
    name: String,
    x_px: f64,
    y_px: f64,
    width_px: f64,
    height_px: f64,
}

#[derive(Deserialize)]
struct Edge {
    from: String,
    to: String,
    lines_px: Vec<Vec<(f64, f64)>>,
}

impl Layout {
    /// Nothing if it draws groups of switches, which have no links of their own, or cannot be read.
    pub(crate) fn read(json: &Value) -> Option<Layout> {
        let layout = Layout::deserialize(json).ok()?;
        (!layout.is_overview).then_some(layout)
    }

    /// The drawing with the value of each pair of names (the lesser first); nothing if no cable has one.
    pub(crate) fn map(&self, values: &BTreeMap<(&str, &str), f64>) -> Option<Map> {
        let place = |node: &Node| Place {
            name: node.name.clone(),
            is_switch: node.kind.starts_with("switch"),
            x: node.x_px,
            y: node.y_px,
            width: node.width_px,
            height: node.height_px,
        };
        let link = |edge: &Edge| {
            let (a, b) = (edge.from.as_str(), edge.to.as_str());
            let pair = if a < b { (a, b) } else { (b, a) };
            let value = *values.get(&pair)?;
            Some(MapLink {
                from: edge.from.clone(),
                to: edge.to.clone(),
                lines: edge.lines_px.clone(),
                value,
            })
        };
        let links: Vec<MapLink> = self.edges.iter().filter_map(link).collect();
        (!links.is_empty()).then(|| Map {
            width: self.width_px,
            height: self.height_px,
            places: self.nodes.iter().map(place).collect(),
            links,
        })
    }
}

//! The drawing of a fabric: `layout.json`, which `netloom show picture` writes and all pictures of
//! link use are based on.
//!
//! Optional parts may be missing, and unknown keys are ignored, so that a layout of another version
//! can be read.

use serde::{Deserialize, Serialize};

/// The drawing of a fabric. Lengths are in pixels of the unscaled picture, from its top left
/// corner.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Layout {
    /// The regular structure of the fabric, in words.
    #[serde(default)]
    pub structure: String,
    /// Whether groups of switches are drawn instead of switches.
    #[serde(default)]
    pub is_overview: bool,
    pub width_px: f64,
    pub height_px: f64,
    #[serde(default)]
    pub switches: u32,
    /// Number of NICs, drawn or not.
    #[serde(default)]
    pub nics: u32,
    /// Number of cables, including those of NICs.
    #[serde(default)]
    pub cables: u32,
    /// Link classes; every edge has one of them.
    #[serde(default)]
    pub link_classes: Vec<String>,
    /// Notes for the reader of the picture.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Switches, NICs or groups, in order of their numbers.
    pub nodes: Vec<Node>,
    /// Cables or bundles of cables.
    pub edges: Vec<Edge>,
    /// Texts next to the nodes, such as the names of levels.
    #[serde(default)]
    pub labels: Vec<Label>,
}

impl Layout {
    /// Returns the drawing as JSON, as in `layout.json`.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string(self).expect("plain data is JSON");
        text.push('\n');
        text
    }
}

/// What a node represents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    Switch,
    Nic,
    SwitchGroup,
    NicGroup,
}

/// A switch, a NIC or a group of them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Node {
    /// What it represents.
    pub kind: NodeKind,
    /// Name of the switch or NIC, as in `links.csv`; for a group, a name used only in the drawing.
    pub name: String,
    /// Number of switches or NICs it represents.
    #[serde(default)]
    pub count: u32,
    /// Centre, from the left.
    pub x_px: f64,
    /// Centre, from the top.
    pub y_px: f64,
    pub width_px: f64,
    pub height_px: f64,
    /// Its name; `None` if there is no space for it.
    pub label: Option<Label>,
}

/// A text and its position.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Label {
    pub text: String,
    /// Anchor, from the left.
    pub x_px: f64,
    /// Middle of the text height, from the top.
    pub y_px: f64,
    /// Font size.
    pub size_px: f64,
    /// The part of the text at the anchor.
    pub anchor: Anchor,
    /// Whether the text runs from top to bottom.
    #[serde(default)]
    pub is_vertical: bool,
}

/// The part of a text at its anchor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// What an edge represents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeKind {
    /// The cable of a NIC, or those of all NICs of a switch.
    Host,
    /// Cables between two switches, or between groups of them.
    #[default]
    Fabric,
}

/// All cables of one class between two nodes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// What it represents.
    #[serde(default)]
    pub kind: EdgeKind,
    /// Name of the node at one end. Every cable carries both directions.
    pub from: String,
    /// Name of the node at the other end.
    pub to: String,
    /// Link class of the cables.
    #[serde(default)]
    pub link_class: String,
    /// Number of cables it represents.
    #[serde(default)]
    pub n_cables: u32,
    /// The ports of each cable; empty for groups.
    #[serde(default)]
    pub cables: Vec<Cable>,
    /// Polylines to draw, as points (x, y). A cable that leaves the picture at one side and enters
    /// at the other has two.
    pub lines_px: Vec<Vec<[f64; 2]>>,
    /// The number of cables, if there is space for it.
    pub label: Option<Label>,
}

/// The ports of one cable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cable {
    /// Port at `from`; `None` at a NIC.
    pub from_port: Option<u16>,
    /// Port at `to`; `None` at a NIC.
    pub to_port: Option<u16>,
}

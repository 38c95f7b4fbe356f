//! Where a fabric is drawn: `layout.json`, which `netloom topo draw` writes and every picture of use is made from.
//!
//! What a picture can do without may be missing, and what is unknown is passed over, so that a layout of another
//! version still serves.

use serde::{Deserialize, Serialize};

/// A fabric as it is drawn. Lengths are in pixels of the unscaled picture, from its top left corner.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Layout {
    /// What is regular about the fabric, in words.
    #[serde(default)]
    pub structure: String,
    /// Whether groups of switches are drawn in place of switches.
    #[serde(default)]
    pub is_overview: bool,
    /// Width of the picture.
    pub width_px: f64,
    /// Height of the picture.
    pub height_px: f64,
    /// Switches of the fabric.
    #[serde(default)]
    pub switches: u32,
    /// NICs of the fabric, drawn or not.
    #[serde(default)]
    pub nics: u32,
    /// Cables of the fabric, those of NICs included.
    #[serde(default)]
    pub cables: u32,
    /// The classes of cables; an edge names one.
    #[serde(default)]
    pub link_classes: Vec<String>,
    /// What a reader must know to read the picture.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Switches, NICs or groups, in order of their numbers.
    pub nodes: Vec<Node>,
    /// Cables or bundles of cables.
    pub edges: Vec<Edge>,
    /// Words beside the nodes, such as the names of levels.
    #[serde(default)]
    pub labels: Vec<Label>,
}

/// What a node stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// One switch.
    Switch,
    /// One NIC.
    Nic,
    /// Several switches.
    SwitchGroup,
    /// Several NICs.
    NicGroup,
}

/// Something with a name and a place.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Node {
    /// What it stands for.
    pub kind: NodeKind,
    /// The fabric's name of the switch or NIC, as in `links.csv`; a name of the drawing's own for a group.
    pub name: String,
    /// How many switches or NICs it stands for.
    #[serde(default)]
    pub count: u32,
    /// Its middle, from the left.
    pub x_px: f64,
    /// Its middle, from the top.
    pub y_px: f64,
    /// Its width.
    pub width_px: f64,
    /// Its height.
    pub height_px: f64,
    /// Where its name is written; nothing where there is no room.
    pub label: Option<Label>,
}

/// A text and its place.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Label {
    /// The words.
    pub text: String,
    /// Where they are anchored, from the left.
    pub x_px: f64,
    /// The middle of their height, from the top.
    pub y_px: f64,
    /// Size of the letters.
    pub size_px: f64,
    /// Which part of the text is at the anchor.
    pub anchor: Anchor,
    /// Whether the text runs from top to bottom.
    #[serde(default)]
    pub is_vertical: bool,
}

/// Which part of a text is at its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// What an edge stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeKind {
    /// The cable of a NIC, or of the NICs of a switch together.
    Host,
    /// Cables between two switches, or between groups of them.
    #[default]
    Fabric,
}

/// All cables of one class between two nodes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// What it stands for.
    #[serde(default)]
    pub kind: EdgeKind,
    /// The node at one end, by its name. Every cable carries both directions.
    pub from: String,
    /// The node at the other end.
    pub to: String,
    /// The class of the cables.
    #[serde(default)]
    pub link_class: String,
    /// How many cables it stands for.
    #[serde(default)]
    pub n_cables: u32,
    /// The ports of each cable; empty where groups are drawn.
    #[serde(default)]
    pub cables: Vec<Cable>,
    /// Lines to draw, each through its points (x, y). A cable that leaves the picture at one side and comes
    /// back at the other has two.
    pub lines_px: Vec<Vec<[f64; 2]>>,
    /// How many cables, written where lines have room for it.
    pub label: Option<Label>,
}

/// The ports of one cable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cable {
    /// The port at `from`; a NIC has one port without a number.
    pub from_port: Option<u16>,
    /// The port at `to`.
    pub to_port: Option<u16>,
}

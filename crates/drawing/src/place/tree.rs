//! Fat trees: one row per level, the roots on top.

use netloom_topology::Pgft;
use netloom_units::SwitchId;

use super::levels::levels;
use crate::canvas::Canvas;

pub(crate) fn tree(canvas: &mut Canvas, tree: &Pgft) {
    let first = tree.first_switches();
    let row = |level: usize| {
        let switches = (first[level - 1]..first[level]).map(SwitchId).collect();
        (format!("level {level}"), switches)
    };
    let rows: Vec<_> = (1..=tree.levels()).rev().map(row).collect();
    levels(canvas, &rows);
}

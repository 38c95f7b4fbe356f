//! Figures of a study: what they show, and how they are drawn.
//!
//! A [`Figure`] is plain data, made from the tables of a folder; SVG, PGFPlots and CSV are written from it, and
//! so is whatever else draws it. This crate knows no simulator.

mod model;
mod style;

pub use model::{
    Axis, BoxPlot, Cell, Chart, Figure, Gauge, LegendEntry, Line, Map, MapLink, Mark, Panel, Place,
    Point, Reference, Scale,
};
pub use style::{Color, Dash, Marker, Style};

use netloom_results::Collection;

/// The figures that a folder of results deserves.
pub fn figures(_collection: &Collection) -> Vec<Figure> {
    vec![]
}

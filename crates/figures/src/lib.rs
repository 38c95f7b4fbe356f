//! Figures of a study: their contents, and how they are drawn.
//!
//! A [`Figure`] is plain data, created by [`figures`] from the tables of a folder. [`svg`],
//! [`pgfplots`] and [`csv`] write it in different formats. This crate does not depend on the
//! simulator.

mod axis;
mod chosen;
mod combine;
mod csv;
mod curves;
mod detail;
mod differing;
mod distribution;
mod gradient;
mod hosts;
mod links;
#[cfg(test)]
mod look;
mod model;
mod over_time;
mod pgfplots;
mod places;
mod plot;
mod punctuality;
mod spread;
mod statistics;
mod study;
mod style;
mod svg;
#[cfg(test)]
mod synthetic;
#[cfg(test)]
mod tests;
mod ticks;

pub use chosen::{Choice, NoSuch, chosen};
pub use combine::{combine, labels, names};
pub use csv::csv;
pub use differing::{Differing, differing};
pub use model::{
    Axis, BoxPlot, Cell, Chart, Figure, Gauge, LegendEntry, Line, Map, MapLink, Mark, Panel, Place,
    Point, Reference, Scale,
};
pub use pgfplots::{Pgfplots, pgfplots};
pub use plot::{Across, Part, Plot, PlottedColumn, Printed, plots, printed};
pub use style::{Color, Dash, Marker, Style};
pub use svg::{SvgStyle, svg};
pub use ticks::{minor_ticks, tick_text, ticks};

use netloom_results::Collection;

/// Returns the figures for a folder of results, the most informative first.
///
/// Figures whose tables or columns are missing are omitted.
pub fn figures(collection: &Collection) -> Vec<Figure> {
    let Some(study) = study::Study::new(collection) else {
        return vec![];
    };
    let details = detail::Details::new(&study);
    let mut figures = curves::curves(&study);
    figures.extend(distribution::distributions(&details));
    figures.extend(over_time::over_time(&details));
    figures.extend(punctuality::punctuality(&details));
    figures.extend(hosts::hosts(&details));
    figures.extend(links::link_use(&details));
    figures
}

//! A report: one HTML file that tells what a study found, works without a network and prints well.
//!
//! [`html`] reads what a folder of results holds ([`Collection`]), takes the figures it deserves from
//! [`netloom_figures`], and writes a page: a verdict first, then figures (drawn in the browser by Vega-Lite,
//! which is inlined), the fabric coloured by the use of its links, tables, and how to get the same again.
//! Several folders are laid over each other, with a table of what differs. The same input gives the same
//! bytes. This crate knows no simulator.

mod assets;
mod class_table;
mod dataset;
mod differences;
mod differing;
mod escape;
mod fabric_map;
mod links;
mod page;
mod points;
mod provenance;
mod table;
mod vega;
mod verdict;

use netloom_figures::Figure;
use netloom_results::Collection;

/// The report about one or several folders. `made_by` names the program and its version.
///
/// # Panics
/// If there is no folder.
pub fn html(collections: &[Collection], made_by: &str) -> String {
    let figures = netloom_figures::figures(&netloom_figures::combine(collections));
    html_with_figures(collections, &figures, made_by)
}

/// The same with figures of one's own choice.
///
/// # Panics
/// If there is no folder.
pub fn html_with_figures(collections: &[Collection], figures: &[Figure], made_by: &str) -> String {
    assert!(!collections.is_empty(), "a report is about something");
    page::html(collections, figures, made_by)
}

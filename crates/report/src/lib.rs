//! Reports on studies: one HTML file that works without a network and can be printed.
//!
//! [`html`] takes the contents of a folder of results ([`Collection`]), gets its figures from
//! [`netloom_figures`], and writes a page: the verdict, then figures (drawn in the browser by
//! Vega-Lite, which is inlined), the fabric coloured by link use, tables, and how to reproduce the
//! results. Several folders are overlaid, with a table of differences. The same input gives the
//! same bytes. This crate does not depend on the simulator.

mod assets;
mod class_table;
mod dataset;
mod differences;
mod differing;
mod escape;
mod fabric_map;
mod links;
mod page;
mod provenance;
mod signs;
mod table;
mod vega;
mod verdict;

use netloom_results::{Collection, Control, Stopped};

/// Returns the report on one or several folders. `made_by` is the name and version of the program.
///
/// # Panics
/// If there are no folders.
pub fn html(collections: &[Collection], made_by: &str) -> String {
    let html = html_with_control(collections, made_by, &mut || Control::Continue);
    html.expect("nothing stops it")
}

/// Returns the report, and asks between its parts whether to continue.
///
/// # Errors
/// If `control` stops it.
///
/// # Panics
/// If there are no folders.
pub fn html_with_control(
    collections: &[Collection],
    made_by: &str,
    control: &mut dyn FnMut() -> Control,
) -> Result<String, Stopped> {
    assert!(!collections.is_empty(), "a report needs a folder");
    page::html(collections, made_by, control)
}

//! Numbers, paragraphs and tables as plain text.
//!
//! A width is the most characters of a line; `None` means that lines may be of any length, as for a
//! program that reads them from a pipe. The terminal is not asked here.

pub mod number;
mod paragraph;
mod table;

pub use paragraph::{filled, labelled, page, visible_width, within, without_colours, wrapped};
pub use table::Table;

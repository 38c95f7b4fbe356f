//! The figures of the papers: measured results, overlaid with the numbers that a paper prints in
//! its text and tables.
//!
//! ```text
//!  experiments/papers/000/   figures.toml   the table and columns of each figure
//!                            printed.csv    the numbers printed in the paper, and where
//! ```
//!
//! The files are part of the program. No number in `printed.csv` is read from a curve.

use netloom_figures::{Figure, Plot, Printed, plots, printed};

use crate::Paper;

/// The files of a paper.
struct Files {
    paper: &'static str,
    figures: &'static str,
    printed: &'static str,
}

macro_rules! files {
    ($($paper:literal),+) => {
        &[$(Files {
            paper: $paper,
            figures: include_str!(concat!("../papers/", $paper, "/figures.toml")),
            printed: include_str!(concat!("../papers/", $paper, "/printed.csv")),
        }),+]
    };
}

const FILES: &[Files] = files!["000", "001", "002", "003", "004"];

/// Returns the figures of a paper for which its tables have points.
pub fn figures(paper: &Paper, tables: &[(&'static str, String)]) -> Vec<Figure> {
    let printed = printed_of(paper);
    let draw = |plot: &Plot| {
        let (_, csv) = tables.iter().find(|(name, _)| *name == plot.table)?;
        plot.figure(csv, &printed)
    };
    plots_of(paper).iter().filter_map(draw).collect()
}

fn files_of(paper: &Paper) -> Option<&'static Files> {
    FILES.iter().find(|files| files.paper == paper.id)
}

fn plots_of(paper: &Paper) -> Vec<Plot> {
    let read = files_of(paper).map_or(Ok(vec![]), |files| plots(files.figures));
    read.unwrap_or_else(|why| panic!("figures of paper {}: {why}", paper.id))
}

fn printed_of(paper: &Paper) -> Vec<Printed> {
    let read = files_of(paper).map_or(Ok(vec![]), |files| printed(files.printed));
    read.unwrap_or_else(|why| panic!("printed numbers of paper {}: {why}", paper.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PAPERS, Results};

    #[test]
    fn every_printed_number_has_its_place_in_a_figure() {
        for paper in PAPERS {
            let plots = plots_of(paper);
            for one in printed_of(paper) {
                let plot = plots.iter().find(|plot| plot.id == one.figure);
                let plot = plot.unwrap_or_else(|| panic!("{}: no figure for {one:?}", paper.id));
                let is_panel = match plot.panels.as_slice() {
                    [] => one.panel.is_empty(),
                    panels => panels.iter().any(|panel| panel.printed() == one.panel),
                };
                assert!(is_panel, "{}: no panel for {one:?}", paper.id);
                assert!(!one.place.is_empty(), "{}: where is {one:?}", paper.id);
                let has_names = plot.x.is_name || !plot.across.is_empty();
                let names = if has_names {
                    vec![one.x.clone()]
                } else {
                    vec![]
                };
                let is_placed = plot.printed_point(&one, &names).is_some();
                assert!(is_placed, "{}: no place for {one:?}", paper.id);
            }
        }
    }

    #[test]
    fn figures_are_drawn_from_columns_that_tables_have() {
        for paper in PAPERS {
            let tables = (paper.tables)(&Results::default());
            for plot in plots_of(paper) {
                let table = tables.iter().find(|(name, _)| *name == plot.table);
                let (_, csv) =
                    table.unwrap_or_else(|| panic!("{} {}: no table", paper.id, plot.id));
                let columns: Vec<&str> = csv.lines().next().unwrap_or("").split(',').collect();
                let mut wanted: Vec<&str> =
                    plot.across.iter().map(|own| own.column.as_str()).collect();
                wanted.extend(plot.only.keys().map(String::as_str));
                wanted.extend(plot.y.half_width.as_deref());
                wanted.extend([plot.x.column.as_str(), &plot.y.column, &plot.line]);
                for column in wanted.into_iter().filter(|column| !column.is_empty()) {
                    let place = format!("{} {}: {column}", paper.id, plot.id);
                    assert!(columns.contains(&column), "{place}");
                }
            }
        }
    }
}

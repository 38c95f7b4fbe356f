//! The figures of the papers: measured results, overlaid with the numbers that a paper prints in
//! its text and tables.
//!
//! ```text
//!  experiments/papers/000/   figures.toml   the table and columns of each figure
//!                            printed.csv    the numbers printed in the paper, and where
//! ```
//!
//! No number in `printed.csv` is read from a curve.

use netloom_figures::{Figure, Plot, Printed, plots, printed};

use crate::{Paper, Size};

/// Returns the figures of a paper for which its tables have points. Printed numbers are those of
/// the paper's machines, so figures of other sizes do not show them.
pub fn figures(paper: &Paper, tables: &[(String, String)], size: Size) -> Vec<Figure> {
    let printed = match size {
        Size::Paper => &paper.printed[..],
        _ => &[],
    };
    let draw = |plot: &Plot| {
        let (_, csv) = tables.iter().find(|(name, _)| *name == plot.table)?;
        plot.figure(csv, printed)
    };
    paper.figures.iter().filter_map(draw).collect()
}

/// Reads `figures.toml` and `printed.csv`, if there are any.
///
/// # Errors
/// If one has mistakes.
pub(crate) fn read(
    figures: Option<&str>,
    numbers: Option<&str>,
) -> Result<(Vec<Plot>, Vec<Printed>), String> {
    let figures = figures.map_or(Ok(vec![]), plots);
    let figures = figures.map_err(|why| format!("figures.toml: {why}"))?;
    let numbers = numbers.map_or(Ok(vec![]), printed);
    let numbers = numbers.map_err(|why| format!("printed.csv: {why}"))?;
    Ok((figures, numbers))
}

#[cfg(test)]
mod tests {
    use crate::{Results, papers};

    #[test]
    fn every_printed_number_has_its_place_in_a_figure() {
        for paper in papers() {
            let plots = &paper.figures;
            for one in &paper.printed {
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
                let is_placed = plot.printed_point(one, &names).is_some();
                assert!(is_placed, "{}: no place for {one:?}", paper.id);
            }
        }
    }

    #[test]
    fn claims_name_figures_that_there_are() {
        for paper in papers() {
            for claim in paper.claims.iter().filter(|claim| !claim.figure.is_empty()) {
                let figure = paper.figures.iter().find(|plot| plot.id == claim.figure);
                assert!(figure.is_some(), "{}: no figure {}", claim.id, claim.figure);
            }
        }
    }

    #[test]
    fn figures_are_drawn_from_columns_that_tables_have() {
        for paper in papers() {
            let tables = paper.tables(&Results::default());
            for plot in &paper.figures {
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

//! Rows of sixteen lanes, one for each service level.

use netloom_units::Vl;

use super::mistakes::Mistakes;
use super::scanner::{Line, decimal};
use crate::SlToVl;

/// The lanes of a row: what of it are numbers up to 15, and how many cells it has.
pub(super) struct Lanes {
    lanes: [Vl; 16],
    n_cells: usize,
    /// A cell that is no lane.
    wrong: Option<usize>,
}

/// Reads cells in decimal digits.
pub(super) fn lanes<'a>(cells: impl Iterator<Item = &'a str>) -> Lanes {
    let mut read = Lanes {
        lanes: [Vl(0); 16],
        n_cells: 0,
        wrong: None,
    };
    for cell in cells {
        let at = read.n_cells;
        read.n_cells += 1;
        let lane = decimal(cell).filter(|lane| *lane <= 15);
        match (lane, read.lanes.get_mut(at)) {
            (Some(lane), Some(cell)) => *cell = Vl(lane as u8),
            (None, _) => read.wrong = read.wrong.or(Some(at)),
            (Some(_), None) => {}
        }
    }
    read
}

/// The table, if it is one; what is wrong with it is told.
pub(super) fn sixteen(row: Lanes, line: Line<'_>, mistakes: &mut Mistakes<'_>) -> Option<SlToVl> {
    if let Some(at) = row.wrong {
        let message = format!("the lane of SL{at} is none of 0 to 15");
        let note = mistakes.error("E1103", line.span(), message);
        note.map(|note| note.help("lanes are numbers; 15 drops what it is given"));
        return None;
    }
    if row.n_cells != 16 {
        let (code, help) = match line.is_open {
            true => ("E1102", "the file is cut off: read the tables again"),
            false => (
                "E1133",
                "a row has one lane for each of the 16 service levels",
            ),
        };
        let message = format!("{} lanes instead of 16", row.n_cells);
        let note = mistakes.error(code, line.span(), message);
        note.map(|note| note.help(help));
        return None;
    }
    Some(SlToVl(row.lanes))
}

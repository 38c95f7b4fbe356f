//! Rows of 16 lanes, one per service level.

use netloom_units::Vl;

use super::mistakes::Mistakes;
use super::scanner::{Line, decimal};
use crate::SlToVl;

/// The cells of a row.
pub(super) struct Lanes {
    lanes: [Vl; 16],
    n_cells: usize,
    /// The first cell that is not a lane.
    wrong: Option<usize>,
}

/// Reads decimal cells.
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

/// Returns the table of a row of 16 lanes. Reports the error otherwise.
pub(super) fn sixteen(row: Lanes, line: Line<'_>, mistakes: &mut Mistakes<'_>) -> Option<SlToVl> {
    if let Some(at) = row.wrong {
        let message = format!("the lane of SL{at} is out of range");
        let note = mistakes.error("E1103", line.span(), message);
        note.map(|note| note.help("use lanes from 0 to 15; lane 15 drops its packets"));
        return None;
    }
    if row.n_cells != 16 {
        let (code, help) = match line.is_open {
            true => ("E1102", "read the tables again; the file is truncated"),
            false => ("E1133", "give one lane for each of the 16 service levels"),
        };
        let message = format!("expected 16 lanes, found {}", row.n_cells);
        let note = mistakes.error(code, line.span(), message);
        note.map(|note| note.help(help));
        return None;
    }
    Some(SlToVl(row.lanes))
}

//! Service levels of paths, as `ibdmchk -c` reads them: `0x0000000000100018 39 0`.
//!
//! The GUID is that of the sending node, the LID that of the receiving port. No tool of OpenSM
//! writes this file; path records (`saquery PR`) hold its numbers.

use netloom_catalog::Notes;
use netloom_units::Sl;

use super::mistakes::Mistakes;
use super::scanner::{Line, decimal, hex, lines};
use crate::{Guid, Lid, Programmed, Subnet, SubnetIndex};

/// Reads service levels. Those of unknown senders are reported and ignored.
pub fn read_path_levels(
    text: &str,
    source: u16,
    subnet: &Subnet,
    programmed: &mut Programmed,
    notes: &mut Notes,
) {
    let mut mistakes = Mistakes::of(source, notes);
    let index = SubnetIndex::of(subnet);
    for line in lines(text).map(|line| line.trimmed()) {
        if line.text.is_empty() || line.text.starts_with('#') {
            continue;
        }
        match row(line) {
            Some((from, to, level)) => {
                if let Err((code, message)) = check(&index, from, to, level) {
                    let note = mistakes.error(code, line.span(), message);
                    note.map(|note| note.help("give a node GUID, a LID and an SL from 0 to 15"));
                    continue;
                }
                programmed
                    .path_levels
                    .set(from, Lid(to as u16), Sl(level as u8));
            }
            None => {
                let (code, help) = match line.is_open {
                    true => ("E1102", "write the file again; it is truncated"),
                    false => (
                        "E1101",
                        "give a node GUID, a LID and an SL, such as 0x100018 39 0",
                    ),
                };
                let message = "expected a GUID, a LID and a service level";
                let note = mistakes.error(code, line.span(), message);
                note.map(|note| note.help(help));
            }
        }
    }
    mistakes.finish();
}

fn row(line: Line<'_>) -> Option<(Guid, u64, u64)> {
    let mut words = line.text.split_whitespace();
    let from = words.next().and_then(hex)?;
    let to = words.next().and_then(decimal)?;
    let level = words.next().and_then(decimal)?;
    words.next().is_none().then_some((Guid(from), to, level))
}

fn check(
    index: &SubnetIndex,
    from: Guid,
    to: u64,
    level: u64,
) -> Result<(), (&'static str, String)> {
    if index.node(from).is_none() {
        return Err(("E1131", format!("no node of the subnet has GUID {from}")));
    }
    if to == 0 || to > u64::from(Lid::LAST_UNICAST.0) {
        return Err(("E1103", format!("{to} is not a unicast LID")));
    }
    match level > 15 {
        true => Err(("E1103", format!("{level} is not a service level"))),
        false => Ok(()),
    }
}

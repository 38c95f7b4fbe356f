//! `opensm.fdbs`: forwarding tables with hop counts of OpenSM.
//!
//! ```text
//! dump_ucast_routes: Switch 0xb8599f0300200000
//! LID    : Port : Hops : Optimal
//! 0x0001 : 001  : 01   : yes
//! 0x0002 : UNREACHABLE
//! ```
//!
//! Hop counts are not read, since a route check computes its own.

use netloom_catalog::Notes;

use super::mistakes::Mistakes;
use super::scanner::{Line, lines};
use super::tables::Tables;
use crate::{Guid, Programmed, Subnet};

/// Reads forwarding tables. Tables of unknown switches are reported and ignored. A table replaces
/// one that was read earlier from another text.
pub fn read_fdbs(
    text: &str,
    source: u16,
    subnet: &Subnet,
    programmed: &mut Programmed,
    notes: &mut Notes,
) {
    let mut mistakes = Mistakes::of(source, notes);
    let mut tables = Tables::of(subnet);
    let mut has_switch = false;
    for line in lines(text).map(|line| line.trimmed()) {
        if line.text.is_empty() || line.text.starts_with("LID ") {
            continue;
        }
        let mut cursor = line.cursor();
        if cursor.eat("dump_ucast_routes: Switch ") {
            match cursor.hex() {
                Some(guid) => {
                    tables.switch(Guid(guid), line.span(), &mut mistakes);
                    has_switch = true;
                }
                None => misunderstood(line, "the GUID of a switch", &mut mistakes),
            }
            continue;
        }
        match row(line) {
            Some((lid, output)) if has_switch => tables.entry(lid, output, line, &mut mistakes),
            Some(_) => misunderstood(line, "`dump_ucast_routes: Switch` first", &mut mistakes),
            None => misunderstood(line, "an address, `:` and a port", &mut mistakes),
        }
    }
    let hint = "add the missing tables, if any; otherwise these addresses are unreachable";
    tables.finish(programmed, hint, text, &mut mistakes);
    mistakes.finish();
}

/// Parses the address and the output.
fn row(line: Line<'_>) -> Option<(u64, Option<u64>)> {
    let mut cursor = line.cursor();
    let lid = cursor.hex()?;
    cursor.blanks().eat(":").then_some(())?;
    if cursor.blanks().eat("UNREACHABLE") {
        return Some((lid, None));
    }
    let output = cursor.decimal()?;
    // The hops follow: a line that ends here is truncated within the number.
    cursor.blanks().eat(":").then_some(())?;
    Some((lid, Some(output).filter(|output| *output != 255)))
}

fn misunderstood(line: Line<'_>, what: &str, mistakes: &mut Mistakes<'_>) {
    let (code, help) = match line.is_open {
        true => ("E1102", "let OpenSM write the file again; it is truncated"),
        false => (
            "E1101",
            "remove the line, or let OpenSM write opensm.fdbs again",
        ),
    };
    let note = mistakes.error(code, line.span(), format!("expected {what}"));
    note.map(|note| note.help(help));
}

//! The input of `ibdmchk`, except for OpenSM's dumps.

use std::fmt::Write as _;

use super::TO_TEXT;
use crate::Programmed;

/// Writes service levels of paths, for `ibdmchk -c`.
pub fn path_levels(programmed: &Programmed) -> String {
    let mut text = String::new();
    for (from, to, level) in programmed.path_levels.iter() {
        writeln!(text, "{from} {} {}", to.0, level.0).expect(TO_TEXT);
    }
    text
}

/// Writes the lanes of all ports, for `ibdmchk -d`, by output and then by input.
pub fn slvl(programmed: &Programmed) -> String {
    let mut text = String::new();
    for ((output, input), table) in &programmed.sl_to_vl {
        write!(text, "{} {input} {}", output.node, output.port).expect(TO_TEXT);
        for pair in table.0.chunks_exact(2) {
            let byte = pair[0].0 << 4 | (pair[1].0 & 15);
            write!(text, " 0x{byte:02x}").expect(TO_TEXT);
        }
        text.push('\n');
    }
    text
}

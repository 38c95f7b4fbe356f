//! Bits of tables and registers (Tables 3 and 4, Figures 8 and 9).

use netloom_design::cost::registers::Device;

use crate::{Finding, Results};

/// Ports and entries, with the bits of the basic solution and of that with deficits.
const PRINTED: [(u64, u64, u64, u64); 8] = [
    (1, 32, 664, 1176),
    (48, 32, 1792, 26_368),
    (64, 32, 2176, 34_944),
    (1, 8, 184, 312),
    (1, 16, 344, 600),
    (1, 64, 1304, 2328),
    (1, 128, 2584, 4632),
    (1, 256, 5144, 9240),
];

/// C003-16.
pub(super) fn space(_: &Results) -> Finding {
    let nic = |has_deficits| Device::new(1, 32, has_deficits);
    let bits =
        |n_ports, n_entries, has_deficits| Device::new(n_ports, n_entries, has_deficits).bits();
    let mut devices = PRINTED.iter();
    let is_printed = |&(ports, entries, basic, deficits): &(u64, u64, u64, u64)| {
        (bits(ports, entries, false), bits(ports, entries, true)) == (basic, deficits)
    };
    // The parts printed in the paper.
    let parts = (
        nic(false).table_bits(),
        nic(false).port_bits(),
        nic(true).port_bits(),
    );
    let holds = parts == (640, 24, 536) && devices.all(is_printed);
    let words = format!(
        "NIC {} / {}, switch of 48 ports {} / {} bits",
        bits(1, 32, false),
        bits(1, 32, true),
        bits(48, 32, false),
        bits(48, 32, true)
    );
    Finding::checked(holds, words)
        .number("nic_basic_bits", bits(1, 32, false) as f64)
        .number("nic_deficits_bits", bits(1, 32, true) as f64)
        .number("switch_48_basic_bits", bits(48, 32, false) as f64)
        .number("switch_48_deficits_bits", bits(48, 32, true) as f64)
}

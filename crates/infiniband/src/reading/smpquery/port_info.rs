//! PortInfo: `VLCap:...........................VL0-7`.

use super::super::mistakes::Mistakes;
use super::super::scanner::{Line, decimal};
use crate::PortLanes;

/// The field that a value is stored in.
enum Field {
    Byte(fn(&mut PortLanes) -> &mut Option<u8>),
    Lanes(fn(&mut PortLanes) -> &mut Option<u8>),
    Bytes(fn(&mut PortLanes) -> &mut Option<u16>),
}

/// The fields that are read. All others are ignored.
const FIELDS: [(&str, Field); 6] = [
    ("VLCap", Field::Lanes(|port| &mut port.cap)),
    ("OperVLs", Field::Lanes(|port| &mut port.operational)),
    ("VLHighLimit", Field::Byte(|port| &mut port.high_limit)),
    ("VLArbHighCap", Field::Byte(|port| &mut port.high_cap)),
    ("VLArbLowCap", Field::Byte(|port| &mut port.low_cap)),
    ("NeighborMTU", Field::Bytes(|port| &mut port.neighbor_mtu)),
];

/// Numbers of data lanes by name.
const LANES: [(&str, u8); 5] = [
    ("VL0", 1),
    ("VL0-1", 2),
    ("VL0-3", 4),
    ("VL0-7", 8),
    ("VL0-14", 15),
];

/// Reads one line of the answer.
pub(super) fn line(port: &mut PortLanes, line: Line<'_>, mistakes: &mut Mistakes<'_>) {
    let Some((name, value)) = line.text.split_once(':') else {
        return;
    };
    let Some((_, field)) = FIELDS.iter().find(|(known, _)| *known == name) else {
        return;
    };
    let value = value.trim_start_matches('.').trim();
    // The standard's code 0: the lanes of the port stay unchanged.
    if value == "No change" {
        return;
    }
    let number = decimal(value);
    let is_read = match field {
        Field::Lanes(of) => {
            let lanes = LANES.iter().find(|(known, _)| *known == value);
            *of(port) = lanes.map(|(_, n)| *n);
            lanes.is_some()
        }
        Field::Byte(of) => {
            *of(port) = number.and_then(|number| u8::try_from(number).ok());
            of(port).is_some()
        }
        Field::Bytes(of) => {
            *of(port) = number.and_then(|number| u16::try_from(number).ok());
            of(port).is_some()
        }
    };
    if !is_read {
        let (code, help) = match line.is_open {
            true => ("E1102", "repeat the query; the file is truncated"),
            false => ("E1136", "check the value; it counts as unknown"),
        };
        let message = format!("`{value}` is not a value of {name}");
        let note = mistakes.warning(code, line.span(), message);
        note.map(|note| note.help(help));
    }
}

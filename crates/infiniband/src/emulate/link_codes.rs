//! PortInfo codes for the speeds and widths of links.

use crate::{Speed, Width};

/// The PortInfo code of a link width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WidthCode {
    /// The width in use: one bit.
    pub(super) active: u64,
    /// The supported widths of a port that can use this width.
    pub(super) supported: u64,
}

/// Lanes, active code, supported codes.
const WIDTHS: [(u8, u64, u64); 5] = [
    (1, 0x01, 0x01),
    (2, 0x10, 0x11),
    (4, 0x02, 0x03),
    (8, 0x04, 0x07),
    (12, 0x08, 0x0f),
];

impl WidthCode {
    /// Returns the code of a width. An unknown width counts as 4x, the most common one.
    pub(super) fn of(width: Option<Width>) -> WidthCode {
        let lanes = width.map_or(4, Width::lanes);
        let found = WIDTHS.iter().find(|(n, _, _)| *n == lanes);
        let (_, active, supported) = *found.expect("a code for every width of the standard");
        WidthCode { active, supported }
    }
}

/// The PortInfo code of a link speed: two fields, the second for FDR and faster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SpeedCode {
    /// The speed in use, up to QDR: one bit.
    pub(super) active: u64,
    /// The supported speeds of a port that can use this speed, up to QDR.
    pub(super) supported: u64,
    /// The extended speed in use: one bit, or 0.
    pub(super) extended: u64,
    /// The supported extended speeds of the port.
    pub(super) extended_supported: u64,
}

/// Codes by speed. FDR10 is in a vendor attribute and has the code of QDR here. XDR uses a field
/// that tools of 2024 do not support, and has the code of NDR, the highest one that all tools
/// support.
const SPEEDS: [(Speed, u64, u64, u64, u64); 9] = [
    (Speed::Sdr, 1, 1, 0, 0),
    (Speed::Ddr, 2, 3, 0, 0),
    (Speed::Qdr, 4, 7, 0, 0),
    (Speed::Fdr10, 4, 7, 0, 0),
    (Speed::Fdr, 4, 7, 1, 1),
    (Speed::Edr, 4, 7, 2, 3),
    (Speed::Hdr, 4, 7, 4, 7),
    (Speed::Ndr, 4, 7, 8, 15),
    (Speed::Xdr, 4, 7, 8, 15),
];

impl SpeedCode {
    /// Returns the code of a speed. An unknown speed counts as QDR, the fastest without extended
    /// speeds.
    pub(super) fn of(speed: Option<Speed>) -> SpeedCode {
        let speed = speed.unwrap_or(Speed::Qdr);
        let found = SPEEDS.iter().find(|row| row.0 == speed);
        let (_, active, supported, extended, extended_supported) =
            *found.expect("a code for every speed of the standard");
        SpeedCode {
            active,
            supported,
            extended,
            extended_supported,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_use_is_among_what_is_supported() {
        for width in Width::ALL.into_iter().map(Some).chain([None]) {
            let code = WidthCode::of(width);
            assert_eq!(code.active & code.supported, code.active);
        }
        for speed in Speed::all().map(Some).chain([None]) {
            let code = SpeedCode::of(speed);
            assert_eq!(code.active & code.supported, code.active);
            assert_eq!(code.extended & code.extended_supported, code.extended);
        }
    }
}

//! Speeds and widths of links.

use std::fmt;
use std::str::FromStr;

use netloom_units::{Rate, lane_rate};

/// The number of physical lanes of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Width(u8);

impl Width {
    /// Every width of the standard.
    pub const ALL: [Width; 5] = [Width(1), Width(2), Width(4), Width(8), Width(12)];

    /// Returns the number of lanes.
    pub fn lanes(self) -> u8 {
        self.0
    }
}

impl FromStr for Width {
    type Err = ();

    /// Parses `4x`, the form of listings.
    fn from_str(text: &str) -> Result<Width, ()> {
        let lanes: u8 = text
            .strip_suffix('x')
            .and_then(|n| n.parse().ok())
            .ok_or(())?;
        Width::ALL.into_iter().find(|w| w.0 == lanes).ok_or(())
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x", self.0)
    }
}

/// The speed of each lane of a link, under the standard's names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the standard's")]
pub enum Speed {
    Sdr,
    Ddr,
    Qdr,
    Fdr10,
    Fdr,
    Edr,
    Hdr,
    Ndr,
    Xdr,
}

/// The names that listings use.
const SPEEDS: [(Speed, &str); 9] = [
    (Speed::Sdr, "SDR"),
    (Speed::Ddr, "DDR"),
    (Speed::Qdr, "QDR"),
    (Speed::Fdr10, "FDR10"),
    (Speed::Fdr, "FDR"),
    (Speed::Edr, "EDR"),
    (Speed::Hdr, "HDR"),
    (Speed::Ndr, "NDR"),
    (Speed::Xdr, "XDR"),
];

impl Speed {
    /// Returns every speed, slowest first.
    pub fn all() -> impl Iterator<Item = Speed> {
        SPEEDS.iter().map(|(speed, _)| *speed)
    }

    /// Returns the data rate of a link of this speed and width, after line coding.
    pub fn rate(self, width: Width) -> Rate {
        let lane = lane_rate(&self.to_string()).expect("units know every speed of the standard");
        Rate(lane.0 * u64::from(width.lanes()))
    }
}

impl FromStr for Speed {
    type Err = ();

    fn from_str(text: &str) -> Result<Speed, ()> {
        let found = SPEEDS.iter().find(|(_, name)| *name == text);
        found.map(|(speed, _)| *speed).ok_or(())
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = SPEEDS.iter().find(|(speed, _)| speed == self);
        f.write_str(found.expect("every speed has a name").1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_speed_and_width_reads_as_it_writes() {
        for speed in Speed::all() {
            assert_eq!(speed.to_string().parse(), Ok(speed));
        }
        for width in Width::ALL {
            assert_eq!(width.to_string().parse(), Ok(width));
        }
        assert_eq!("3x".parse::<Width>(), Err(()));
    }

    #[test]
    fn four_lanes_of_hdr_carry_200_gbps() {
        let rate = Speed::Hdr.rate("4x".parse().unwrap());
        assert_eq!(rate, Rate(200_000_000_000));
    }
}

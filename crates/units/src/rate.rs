//! Data rates, in bits per second.

use std::fmt;

use crate::{Bytes, Ratio, Time};

/// Bits per second, exact: every data rate in use is a whole number of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rate(pub u64);

impl Rate {
    /// Returns the exact time that `bytes` take at this rate.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn time_for(self, bytes: Bytes) -> Time {
        Time::from_picos(Ratio::new(
            u128::from(bytes.0) * 8 * 1_000_000_000_000,
            u128::from(self.0),
        ))
    }

    /// Returns the rate in Gbps, for printing and statistics only.
    pub fn as_gbps(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

/// Data rates of one InfiniBand lane after line coding, by name.
const LANE_RATES: &[(&str, u64)] = &[
    ("SDR", 2_000_000_000),
    ("DDR", 4_000_000_000),
    ("QDR", 8_000_000_000),
    ("FDR10", 10_000_000_000),
    ("FDR", 13_636_363_636),
    ("EDR", 25_000_000_000),
    ("HDR", 50_000_000_000),
    ("NDR", 100_000_000_000),
    ("XDR", 200_000_000_000),
];

/// Returns the data rate of one InfiniBand lane after line coding, by its name, such as `HDR`.
pub fn lane_rate(name: &str) -> Option<Rate> {
    let found = LANE_RATES.iter().find(|(known, _)| *known == name);
    found.map(|(_, rate)| Rate(*rate))
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            (1_000_000_000_000u64, "Tbps"),
            (1_000_000_000, "Gbps"),
            (1_000_000, "Mbps"),
            (1_000, "kbps"),
        ];
        for (size, name) in units {
            if self.0 >= size {
                return write!(
                    f,
                    "{} {name}",
                    crate::parse::decimal(u128::from(self.0), u128::from(size))
                );
            }
        }
        write!(f, "{} bps", self.0)
    }
}

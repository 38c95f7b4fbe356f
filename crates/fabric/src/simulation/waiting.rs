//! Waits between buffers, for the report of a deadlock.

use std::fmt;

use netloom_units::{Port, SwitchId, Vl};

/// One end of a wait: a buffer of a port with its lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Waiting {
    pub switch: SwitchId,
    pub port: Port,
    pub is_output: bool,
    pub vl: Vl,
    /// At an input with a queue per output: the output.
    pub towards: u16,
}

impl Waiting {
    /// Returns a number for the search of cycles.
    pub fn key(self) -> u64 {
        u64::from(self.switch.0) << 34
            | u64::from(self.port.0 & 0x1FFF) << 21
            | u64::from(self.is_output) << 20
            | u64::from(self.vl.0 & 31) << 13
            | u64::from(self.towards & 0x1FFF)
    }

    /// Converts a number back. Inverse of [`Waiting::key`].
    pub(crate) fn from_key(key: u64) -> Self {
        Waiting {
            switch: SwitchId((key >> 34) as u32),
            port: Port((key >> 21) as u16 & 0x1FFF),
            is_output: key >> 20 & 1 == 1,
            vl: Vl((key >> 13) as u8 & 31),
            towards: key as u16 & 0x1FFF,
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.is_output { "output" } else { "input" };
        write!(f, "{} {side} {} {}", self.switch, self.port.0, self.vl)
    }
}

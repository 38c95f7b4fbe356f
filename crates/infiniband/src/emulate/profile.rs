//! The capabilities of emulated devices.

use std::collections::BTreeMap;

use crate::{Guid, NodeKind};

/// The number of data lanes of a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Lanes {
    /// VL0.
    One,
    /// VL0 and VL1.
    Two,
    /// VL0 to VL3.
    Four,
    /// VL0 to VL7.
    Eight,
    /// VL0 to VL14.
    Fifteen,
}

/// Value, code in PortInfo, number of lanes.
const LANES: [(Lanes, u8, u8); 5] = [
    (Lanes::One, 1, 1),
    (Lanes::Two, 2, 2),
    (Lanes::Four, 3, 4),
    (Lanes::Eight, 4, 8),
    (Lanes::Fifteen, 5, 15),
];

impl Lanes {
    /// Returns the code in VLCap, OperationalVLs and OpenSM's `max_op_vls`.
    pub fn code(self) -> u8 {
        LANES[self as usize].1
    }

    /// Returns the number of lanes.
    pub fn count(self) -> u8 {
        LANES[self as usize].2
    }

    /// Returns the value with this code.
    pub(crate) fn from_code(code: u8) -> Option<Lanes> {
        let found = LANES.iter().find(|(_, c, _)| *c == code);
        found.map(|(lanes, _, _)| *lanes)
    }

    /// Returns the value with this number of lanes.
    pub fn from_count(count: u8) -> Option<Lanes> {
        let found = LANES.iter().find(|(_, _, c)| *c == count);
        found.map(|(lanes, _, _)| *lanes)
    }
}

/// The MTU of a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mtu(u8);

impl Mtu {
    /// The largest MTU of the standard: 4096 bytes.
    pub const LARGEST: Mtu = Mtu(5);

    /// Returns the MTU of 256, 512, 1024, 2048 or 4096 bytes.
    pub fn from_bytes(bytes: u16) -> Option<Mtu> {
        let code = (1..=5).find(|code| 128 << code == bytes)?;
        Some(Mtu(code))
    }

    /// Returns the MTU with this code in PortInfo.
    pub(crate) fn from_code(code: u8) -> Option<Mtu> {
        (1..=5).contains(&code).then_some(Mtu(code))
    }

    /// Returns the code in PortInfo.
    pub fn code(self) -> u8 {
        self.0
    }

    /// Returns the number of bytes.
    pub fn bytes(self) -> u16 {
        128 << self.0
    }
}

/// The capabilities of the ports of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Number of data lanes of a port.
    pub lanes: Lanes,
    /// Number of data lanes in use before a manager sets it. At most `lanes`.
    pub lanes_at_start: Lanes,
    /// Capacity of the high table, 0 to 64 entries.
    pub high_cap: u8,
    /// Capacity of the low table, 0 to 64 entries.
    pub low_cap: u8,
    pub mtu: Mtu,
}

impl Default for Profile {
    /// Returns the maximum of the standard: 15 lanes, 64 entries, 4096 bytes.
    fn default() -> Profile {
        Profile {
            lanes: Lanes::Fifteen,
            lanes_at_start: Lanes::Fifteen,
            high_cap: 64,
            low_cap: 64,
            mtu: Mtu::LARGEST,
        }
    }
}

/// The capabilities of each device of a subnet. [`NodeKind`] tells whether port 0 of a switch is
/// enhanced.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Profiles {
    pub switch: Profile,
    pub channel_adapter: Profile,
    pub router: Profile,
    /// Nodes that differ from the profile of their kind.
    pub nodes: BTreeMap<Guid, Profile>,
}

impl Profiles {
    /// Creates the same profile for every device.
    pub fn all(profile: Profile) -> Profiles {
        Profiles {
            switch: profile,
            channel_adapter: profile,
            router: profile,
            nodes: BTreeMap::new(),
        }
    }

    /// Returns the profile of a node.
    pub fn of(&self, guid: Guid, kind: NodeKind) -> Profile {
        let by_kind = match kind {
            NodeKind::Switch { .. } => self.switch,
            NodeKind::ChannelAdapter => self.channel_adapter,
            NodeKind::Router => self.router,
        };
        self.nodes.get(&guid).copied().unwrap_or(by_kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_numbers_of_lanes_agree() {
        for (lanes, code, count) in LANES {
            assert_eq!((lanes.code(), lanes.count()), (code, count));
            assert_eq!(Lanes::from_code(code), Some(lanes));
            assert_eq!(Lanes::from_count(count), Some(lanes));
        }
        assert_eq!(Lanes::from_code(0), None);
        assert_eq!(Lanes::from_count(16), None);
    }

    #[test]
    fn packets_are_256_to_4096_bytes() {
        let sizes: Vec<u16> = (1..=5)
            .map(|c| Mtu::from_code(c).unwrap().bytes())
            .collect();
        assert_eq!(sizes, [256, 512, 1024, 2048, 4096]);
        for bytes in sizes {
            assert_eq!(Mtu::from_bytes(bytes).unwrap().bytes(), bytes);
        }
        assert_eq!(Mtu::from_bytes(1500), None);
    }
}

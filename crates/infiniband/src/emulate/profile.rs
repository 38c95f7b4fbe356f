//! What the emulated devices can do.

use std::collections::BTreeMap;

use crate::{Guid, NodeKind};

/// How many data lanes a port has.
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

/// Each with its code in PortInfo and its number.
const LANES: [(Lanes, u8, u8); 5] = [
    (Lanes::One, 1, 1),
    (Lanes::Two, 2, 2),
    (Lanes::Four, 3, 4),
    (Lanes::Eight, 4, 8),
    (Lanes::Fifteen, 5, 15),
];

impl Lanes {
    /// The code that VLCap, OperationalVLs and OpenSM's `max_op_vls` have for it.
    pub fn code(self) -> u8 {
        LANES[self as usize].1
    }

    /// How many lanes.
    pub fn count(self) -> u8 {
        LANES[self as usize].2
    }

    /// The one with this code.
    pub fn from_code(code: u8) -> Option<Lanes> {
        let found = LANES.iter().find(|(_, c, _)| *c == code);
        found.map(|(lanes, _, _)| *lanes)
    }

    /// The one with this many lanes.
    pub fn from_count(count: u8) -> Option<Lanes> {
        let found = LANES.iter().find(|(_, _, c)| *c == count);
        found.map(|(lanes, _, _)| *lanes)
    }
}

/// The largest packet of a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mtu(u8);

impl Mtu {
    /// The largest of the standard: 4096 bytes.
    pub const LARGEST: Mtu = Mtu(5);

    /// The one of this many bytes: 256, 512, 1024, 2048 or 4096.
    pub fn from_bytes(bytes: u16) -> Option<Mtu> {
        let code = (1..=5).find(|code| 128 << code == bytes)?;
        Some(Mtu(code))
    }

    /// The one with this code in PortInfo.
    pub fn from_code(code: u8) -> Option<Mtu> {
        (1..=5).contains(&code).then_some(Mtu(code))
    }

    /// Its code in PortInfo.
    pub fn code(self) -> u8 {
        self.0
    }

    /// How many bytes.
    pub fn bytes(self) -> u16 {
        128 << self.0
    }
}

/// What the ports of a device can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Data lanes that a port has.
    pub lanes: Lanes,
    /// Data lanes that it uses before a manager says how many. Never more than it has.
    pub lanes_at_start: Lanes,
    /// Entries that the high table has room for: 0 to 64.
    pub high_cap: u8,
    /// Entries that the low table has room for: 0 to 64.
    pub low_cap: u8,
    /// The largest packet.
    pub mtu: Mtu,
}

impl Default for Profile {
    /// Everything that the standard allows: 15 lanes, 64 entries, 4096 bytes.
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

/// What each device of a subnet can do. Whether port 0 of a switch is an enhanced one is said by its [`NodeKind`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Profiles {
    /// Switches.
    pub switch: Profile,
    /// Channel adapters.
    pub channel_adapter: Profile,
    /// Routers.
    pub router: Profile,
    /// Nodes that differ from their kind.
    pub nodes: BTreeMap<Guid, Profile>,
}

impl Profiles {
    /// The same for every device.
    pub fn all(profile: Profile) -> Profiles {
        Profiles {
            switch: profile,
            channel_adapter: profile,
            router: profile,
            nodes: BTreeMap::new(),
        }
    }

    /// That of one node.
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

//! GUIDs, LIDs and node numbers.

use std::fmt;

/// The permanent number that a vendor gives to a device or a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Guid(pub u64);

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016x}", self.0)
    }
}

/// The address of a port in its subnet, given by the subnet manager.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Lid(pub u16);

impl Lid {
    /// The last unicast address; the addresses above it are multicast groups.
    pub const LAST_UNICAST: Lid = Lid(0xbfff);

    /// Returns whether a port can have this address. 0 is not an address.
    pub fn is_unicast(self) -> bool {
        self.0 != 0 && self <= Lid::LAST_UNICAST
    }
}

impl fmt::Display for Lid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LID {}", self.0)
    }
}

/// A node of a subnet, counted from zero in the order of its file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Returns the index into [`crate::Subnet::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

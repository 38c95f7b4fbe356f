//! The names that InfiniBand gives to things.

use std::fmt;

/// The number that a device or a port has from its maker, for life.
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
    /// The last address of a single port; those above are multicast groups.
    pub const LAST_UNICAST: Lid = Lid(0xbfff);

    /// Whether a single port can have it. 0 is none.
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
    /// As an index into [`crate::Subnet::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

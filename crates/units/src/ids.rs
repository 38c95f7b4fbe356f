//! Typed ids of switches, NICs, ports, lanes, levels and channels.

use std::fmt;

use netloom_encoding::Encoded;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($repr:ty), $word:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Encoded)]
        #[repr(transparent)]
        pub struct $name(pub $repr);

        impl $name {
            /// Returns the id as an array index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($word, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A switch of the fabric, counted from 0.
    SwitchId(u32), "switch "
);
id!(
    /// A network interface of a host (an endpoint), counted from 0 over the fabric.
    NicId(u32), "nic "
);
id!(
    /// A port of a switch, counted from 0 on that switch.
    Port(u16), "port "
);
id!(
    /// A virtual lane: a queue class with its own flow control on a link.
    Vl(u8), "VL"
);
id!(
    /// A service level: the label a packet keeps from end to end.
    Sl(u8), "SL"
);
id!(
    /// A service channel (Omni-Path): one of a service level's channels through the fabric. The
    /// packet carries it, and every link maps it to a lane.
    Sc(u8), "SC"
);

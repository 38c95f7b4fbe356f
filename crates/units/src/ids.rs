//! Names of things: an id is not an integer.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($repr:ty), $word:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        #[repr(transparent)]
        pub struct $name(pub $repr);

        netloom_encoding::encoded!($name(_));

        impl $name {
            /// The id as an index into an array of such things.
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
    /// A switch, counted from zero over the fabric.
    SwitchId(u32), "switch "
);
id!(
    /// A network interface of a host (an endpoint), counted from zero over the fabric.
    NicId(u32), "nic "
);
id!(
    /// A port of one switch, counted from zero on that switch.
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
    /// A service channel: one of the ways of a service level through the fabric (Omni-Path). It stands in
    /// the packet and maps to a lane on every link.
    Sc(u8), "SC"
);

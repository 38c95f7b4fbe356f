//! The kinds of stashes: the use of idle port buffers of a tiled switch.

use netloom_catalog::{Described, Kind, Section, kind, params};
use netloom_units::Time;

/// A stash as given in the file.
#[derive(Clone, Copy, Debug)]
pub struct StashSpec {
    /// Use of the stash.
    pub usage: StashKind,
    /// Shares of the port buffers: of ports to hosts, to switches of the own group, and of all
    /// others.
    pub shares: [f64; 3],
    /// Fraction of these shares that exists.
    pub capacity: f64,
}

/// The use of a stash.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StashKind {
    /// No stash.
    None,
    /// Copies of packets until they are acknowledged.
    Reliability {
        /// Time without an acknowledgement after which a packet is resent.
        timeout: Time,
    },
    /// Packets delayed by congestion.
    Congestion,
    /// Reserved but never used.
    Unused,
}

/// A kind of stash.
#[warn(missing_docs)]
pub trait Stashing: Send + Sync {
    /// Returns its parameters.
    fn spec(&self) -> StashSpec;
}

/// All kinds of stashes.
pub const STASHES: &[Kind<dyn Stashing>] = &[
    kind!(NoStash, dyn Stashing),
    kind!(Reliability, dyn Stashing),
    kind!(Congestion, dyn Stashing),
    kind!(Unused, dyn Stashing),
];

params! {
    /// No stash: port buffers serve their links only.
    #[derive(Clone, Debug)]
    pub struct NoStash {}
}

impl Described for NoStash {
    const NAME: &'static str = "none";
    const SUMMARY: &'static str = "Port buffers serve their links only.";
    const EXAMPLE: &'static str = "";
}

impl Stashing for NoStash {
    fn spec(&self) -> StashSpec {
        StashSpec {
            usage: StashKind::None,
            shares: [0.0; 3],
            capacity: 0.0,
        }
    }
}

/// Notes shares that are out of range.
fn sane<const N: usize>(section: &mut Section<'_>, values: [(&str, f64); N]) {
    for (key, value) in values {
        if !(0.0..=1.0).contains(&value) {
            let place = section.place_of(key);
            section
                .notes
                .error(
                    "E0102",
                    place,
                    format!("expected a share from 0 to 1, found {value}"),
                )
                .help("use 0 to 1");
        }
    }
}

params! {
    /// The first switch keeps a copy of every data packet until it has been acknowledged.
    #[derive(Clone, Debug)]
    pub struct Reliability {
        /// Share of the input and output buffers of ports to hosts that forms the stash.
        pub host_share: f64 = 0.875,
        /// Share of the buffers of `local` links, to switches of the own group, that forms the
        /// stash.
        pub local_share: f64 = 0.75,
        /// Share of the buffers of all other links that forms the stash.
        pub other_share: f64 = 0.0,
        /// Fraction of the stash that exists, to study smaller stashes.
        pub capacity: f64 = 1.0,
        /// Time without an acknowledgement after which a packet is resent. Applies only with
        /// faults.
        pub timeout: Time = Time::from_nanos(50_000),
    }
    removed { "select" = "\"room\"": "a packet goes where stashes have the most space" }
    check |it, section| {
        sane(section, [("host-share", it.host_share), ("local-share", it.local_share), ("other-share", it.other_share), ("capacity", it.capacity)]);
    }
}

impl Described for Reliability {
    const NAME: &'static str = "reliability";
    const SUMMARY: &'static str = "End-to-end reliability in the first switch. It keeps a copy of \
                                   every data packet until the acknowledgement passes. It resends \
                                   the packet if the acknowledgement is negative or missing.";
    const EXAMPLE: &'static str = "capacity = 0.5";
}

impl Stashing for Reliability {
    fn spec(&self) -> StashSpec {
        StashSpec {
            usage: StashKind::Reliability {
                timeout: self.timeout,
            },
            shares: [self.host_share, self.local_share, self.other_share],
            capacity: self.capacity,
        }
    }
}

params! {
    /// Congested inputs stash packets for hosts of their switch.
    #[derive(Clone, Debug)]
    pub struct Congestion {
        /// Share of the input and output buffers of ports to hosts that forms the stash.
        pub host_share: f64 = 0.875,
        /// Share of the buffers of `local` links, to switches of the own group, that forms the
        /// stash.
        pub local_share: f64 = 0.75,
        /// Share of the buffers of all other links that forms the stash.
        pub other_share: f64 = 0.0,
        /// Fraction of the stash that exists, to study smaller stashes.
        pub capacity: f64 = 1.0,
    }
    removed { "select" = "\"room\"": "a packet goes where stashes have the most space" }
    check |it, section| {
        sane(section, [("host-share", it.host_share), ("local-share", it.local_share), ("other-share", it.other_share), ("capacity", it.capacity)]);
    }
}

impl Described for Congestion {
    const NAME: &'static str = "congestion";
    const SUMMARY: &'static str = "Congested inputs stash packets that a host of their switch \
                                   cannot accept yet, until congestion control has slowed down the \
                                   senders.";
    const EXAMPLE: &'static str = "capacity = 0.5";
}

impl Stashing for Congestion {
    fn spec(&self) -> StashSpec {
        StashSpec {
            usage: StashKind::Congestion,
            shares: [self.host_share, self.local_share, self.other_share],
            capacity: self.capacity,
        }
    }
}

params! {
    /// Parts of the port buffers are reserved but never used. This shows the cost of the buffer
    /// space that a stash takes from links, without its benefit.
    #[derive(Clone, Debug)]
    pub struct Unused {
        /// Share of the input and output buffers of ports to hosts that forms the stash.
        pub host_share: f64 = 0.875,
        /// Share of the buffers of `local` links, to switches of the own group, that forms the
        /// stash.
        pub local_share: f64 = 0.75,
        /// Share of the buffers of all other links that forms the stash.
        pub other_share: f64 = 0.0,
    }
    check |it, section| {
        sane(section, [("host-share", it.host_share), ("local-share", it.local_share), ("other-share", it.other_share)]);
    }
}

impl Described for Unused {
    const NAME: &'static str = "unused";
    const SUMMARY: &'static str = "Parts of the port buffers are reserved but never used, to \
                                   separate the cost of smaller buffers from the benefit of a \
                                   stash.";
    const EXAMPLE: &'static str = "host-share = 0.875";
}

impl Stashing for Unused {
    fn spec(&self) -> StashSpec {
        StashSpec {
            usage: StashKind::Unused,
            shares: [self.host_share, self.local_share, self.other_share],
            capacity: 1.0,
        }
    }
}

//! What unused port buffers of a tiled switch are used for, in kinds.

use netloom_catalog::{Described, Kind, Section, kind, params};
use netloom_fabric::StashSelect;
use netloom_units::Time;

/// A stash, as the file gives it.
#[derive(Clone, Copy, Debug)]
pub struct StashSpec {
    /// What for.
    pub usage: StashKind,
    /// Shares of the port buffers: of ports to hosts, of those to the own group, of all others.
    pub shares: [f64; 3],
    /// How much of that is there.
    pub capacity: f64,
    /// By what a packet finds its stash.
    pub select: StashSelect,
}

/// What a stash is used for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StashKind {
    /// Nothing.
    None,
    /// Copies until a packet has been acknowledged.
    Reliability {
        /// Sent again if nothing comes back for so long.
        timeout: Time,
    },
    /// Packets that congestion would hold up.
    Congestion,
    /// Nothing, but its parts are set aside.
    Unused,
}

/// A use of unused port buffers.
pub trait Stashing: Send + Sync {
    /// As the planner of the switch knows it.
    fn spec(&self) -> StashSpec;
}

/// All uses of unused port buffers.
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
            select: StashSelect::Room,
        }
    }
}

/// Notes shares that are none.
fn sane<const N: usize>(section: &mut Section<'_>, values: [(&str, f64); N]) {
    for (key, value) in values {
        if !(0.0..=1.0).contains(&value) {
            let place = section.place_of(key);
            section
                .notes
                .error("E0102", place, format!("a share of {value}"))
                .help("write 0 to 1");
        }
    }
}

params! {
    /// The first switch keeps a copy of every data packet until it has been acknowledged.
    #[derive(Clone, Debug)]
    pub struct Reliability {
        /// Share of the input and output buffers of ports to hosts.
        pub host_share: f64 = 0.875,
        /// Share of those of `local` links, to switches of the own group.
        pub local_share: f64 = 0.75,
        /// Share of those of all other links.
        pub other_share: f64 = 0.0,
        /// How much of these parts is there, to see what less would do.
        pub capacity: f64 = 1.0,
        /// By what a packet finds the column and the port of its stash.
        pub select: StashSelect = StashSelect::Room,
        /// A packet is sent again if nothing has come back for so long; only where there are faults.
        pub timeout: Time = Time::from_nanos(50_000),
    }
    check |it, section| {
        sane(section, [("host-share", it.host_share), ("local-share", it.local_share), ("other-share", it.other_share), ("capacity", it.capacity)]);
    }
}

impl Described for Reliability {
    const NAME: &'static str = "reliability";
    const SUMMARY: &'static str = "End-to-end reliability in the first switch: a copy of every data packet is kept until its acknowledgement comes by, and sent again if it says so or does not come.";
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
            select: self.select,
        }
    }
}

params! {
    /// Congested inputs put packets for hosts of their switch aside.
    #[derive(Clone, Debug)]
    pub struct Congestion {
        /// Share of the input and output buffers of ports to hosts.
        pub host_share: f64 = 0.875,
        /// Share of those of `local` links, to switches of the own group.
        pub local_share: f64 = 0.75,
        /// Share of those of all other links.
        pub other_share: f64 = 0.0,
        /// How much of these parts is there, to see what less would do.
        pub capacity: f64 = 1.0,
        /// By what a packet finds the column and the port of its stash.
        pub select: StashSelect = StashSelect::Room,
    }
    check |it, section| {
        sane(section, [("host-share", it.host_share), ("local-share", it.local_share), ("other-share", it.other_share), ("capacity", it.capacity)]);
    }
}

impl Described for Congestion {
    const NAME: &'static str = "congestion";
    const SUMMARY: &'static str = "Congested inputs put packets aside that a host of their switch cannot take yet, until congestion control has slowed down who sends them.";
    const EXAMPLE: &'static str = "capacity = 0.5";
}

impl Stashing for Congestion {
    fn spec(&self) -> StashSpec {
        StashSpec {
            usage: StashKind::Congestion,
            shares: [self.host_share, self.local_share, self.other_share],
            capacity: self.capacity,
            select: self.select,
        }
    }
}

params! {
    /// Parts of the port buffers are set aside, and nothing is ever put there: what a stash costs by the room that it takes
    /// from links is then seen without what it does.
    #[derive(Clone, Debug)]
    pub struct Unused {
        /// Share of the input and output buffers of ports to hosts.
        pub host_share: f64 = 0.875,
        /// Share of those of `local` links, to switches of the own group.
        pub local_share: f64 = 0.75,
        /// Share of those of all other links.
        pub other_share: f64 = 0.0,
    }
    check |it, section| {
        sane(section, [("host-share", it.host_share), ("local-share", it.local_share), ("other-share", it.other_share)]);
    }
}

impl Described for Unused {
    const NAME: &'static str = "unused";
    const SUMMARY: &'static str = "Parts of the port buffers are set aside and never used, to tell what smaller buffers cost from what a stash does.";
    const EXAMPLE: &'static str = "host-share = 0.875";
}

impl Stashing for Unused {
    fn spec(&self) -> StashSpec {
        StashSpec {
            usage: StashKind::Unused,
            shares: [self.host_share, self.local_share, self.other_share],
            capacity: 1.0,
            select: StashSelect::Room,
        }
    }
}

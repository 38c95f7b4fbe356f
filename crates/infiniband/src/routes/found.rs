//! What a check of routes finds. Plain data: nothing here is computed.

use netloom_units::Vl;

use crate::{Guid, Lid, PortName};

/// Routes that do not arrive and are told one by one.
pub const MOST_FAILURES: usize = 100;

/// Credit loops that are told one by one.
pub const MOST_LOOPS: usize = 16;

/// All that was found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RouteCheck {
    /// Ports that routes begin and end at.
    pub n_ports: usize,
    /// Their addresses: more than ports if an LMC is above 0.
    pub n_addresses: usize,
    /// Routes that were followed: from each port to each address of every other.
    pub routes: u64,
    /// Those that arrive.
    pub arriving: u64,
    /// Those that do not.
    pub failures: Failures,
    /// Service levels that routes have, a bit for each.
    pub levels: u16,
    /// Lanes that routes use on switches, a bit for each.
    pub lanes: u16,
    /// Pairs of ports of a switch, both with a cable, whose lanes are not known while some are. They count as VL 0.
    pub unknown_lanes: usize,
    /// Credit loops.
    pub loops: CreditLoops,
    /// Every link from switch to switch, in order of the file.
    pub links: Vec<LinkLoad>,
    /// How evenly links are used, for each pair of levels.
    pub balance: Vec<Balance>,
    /// Routes that pass so many switches: `hops[3]` routes pass three. By forwarding alone, whatever the lanes.
    pub hops: Vec<u64>,
    /// Routes that pass more switches than they must.
    pub longer: Longer,
}

/// Routes that do not arrive.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Failures {
    /// How many.
    pub routes: u64,
    /// The first of them. Routes that end alike may stand for each other: of those that a lane drops together, one is
    /// told.
    pub first: Vec<Failure>,
}

/// A route that does not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The port that sends.
    pub from: PortName,
    /// The address that it sends to.
    pub to: Lid,
    /// The node at which the route ends, or one that it passes again and again.
    pub at: Guid,
    /// Why.
    pub why: Why,
}

/// Why a route does not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Why {
    /// The sender has no cable.
    NoCable,
    /// The forwarding table of the switch is not known.
    NoTable,
    /// The table has no output for the address.
    NoOutput,
    /// The table keeps it for the switch itself.
    OwnPort,
    /// The output has no cable.
    DeadPort(u8),
    /// The output leads to a port that has another address.
    WrongPort(PortName),
    /// The way comes back to where it was.
    Circles,
    /// The service level has lane 15 here, from this input to this output.
    Dropped {
        /// Where packets come in; 0 at the sender.
        input: u8,
        /// Where they would go out.
        output: u8,
        /// The service level.
        level: u8,
    },
}

/// Credit loops: lanes of links that can all be full, each waiting for room in the next.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreditLoops {
    /// Groups of lanes that wait for each other. 0 is freedom from deadlock.
    pub n_knots: usize,
    /// One short loop of each of the first groups.
    pub found: Vec<CreditLoop>,
}

/// One credit loop.
#[derive(Clone, PartialEq, Debug)]
pub struct CreditLoop {
    /// Its steps: each begins where the one before ends, and the last ends where the first begins.
    pub dependencies: Vec<Dependency>,
}

/// Packets that hold room of one lane while they wait for room of the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dependency {
    /// The lane of the link that they come by.
    pub from: Channel,
    /// The lane of the link that they go by.
    pub to: Channel,
    /// A port whose packets do so.
    pub source: PortName,
    /// The address that it sends them to.
    pub destination: Lid,
}

/// A lane of a link.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Channel {
    /// The port that sends on the link.
    pub port: PortName,
    /// The lane.
    pub vl: Vl,
}

/// The load of one link from switch to switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkLoad {
    /// The port that sends.
    pub from: PortName,
    /// The port at the other end.
    pub to: PortName,
    /// Addresses that somebody reaches by it.
    pub addresses: u32,
    /// Routes that pass it.
    pub routes: u64,
}

/// The loads of all links from one level to another. Level 0 are the switches with hosts, level n those that are n
/// cables away from the nearest such.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Balance {
    /// The level of the switches that send.
    pub from_level: u16,
    /// The level of those at the other end.
    pub to_level: u16,
    /// How many links.
    pub n_links: usize,
    /// Addresses per link.
    pub addresses: Spread,
    /// Routes per link.
    pub routes: Spread,
}

/// The spread of some numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// The smallest.
    pub min: u64,
    /// Their mean.
    pub mean: f64,
    /// The largest.
    pub max: u64,
}

/// Routes that pass more switches than they must.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Longer {
    /// How many.
    pub routes: u64,
    /// The one with the longest way around; the first of several.
    pub worst: Option<Worst>,
}

/// A way around.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Worst {
    /// The port that sends.
    pub from: PortName,
    /// The address that it sends to.
    pub to: Lid,
    /// Switches that the route passes.
    pub hops: u16,
    /// Switches of the shortest way.
    pub shortest: u16,
}

impl RouteCheck {
    /// Whether every route arrives and no credit loop is possible.
    pub fn is_sound(&self) -> bool {
        self.failures.routes == 0 && self.loops.n_knots == 0
    }

    /// The links that most routes pass, most loaded first.
    pub fn most_loaded(&self, n: usize) -> Vec<LinkLoad> {
        let mut links = self.links.clone();
        links.sort_by_key(|link| (std::cmp::Reverse(link.routes), link.from));
        links.truncate(n);
        links
    }

    /// So many routes arrive after so many switches; `name` is of the first of them.
    pub(super) fn count_arriving(
        &mut self,
        routes: u64,
        hops: u16,
        shortest: Option<u16>,
        name: impl FnOnce() -> (PortName, Lid),
    ) {
        self.arriving += routes;
        let at = usize::from(hops);
        if at >= self.hops.len() {
            self.hops.resize(at + 1, 0);
        }
        self.hops[at] += routes;
        if let Some(shortest) = shortest.filter(|shortest| *shortest < hops) {
            self.longer.add(routes, hops, shortest, name);
        }
    }
}

impl Failures {
    pub(super) fn add(&mut self, routes: u64, failure: impl FnOnce() -> Failure) {
        self.routes += routes;
        if self.first.len() < MOST_FAILURES {
            self.first.push(failure());
        }
    }
}

impl Longer {
    pub(super) fn add(
        &mut self,
        routes: u64,
        hops: u16,
        shortest: u16,
        name: impl FnOnce() -> (PortName, Lid),
    ) {
        self.routes += routes;
        let worst = self.worst.map_or(0, |worst| worst.hops - worst.shortest);
        if hops - shortest > worst {
            let (from, to) = name();
            self.worst = Some(Worst {
                from,
                to,
                hops,
                shortest,
            });
        }
    }
}

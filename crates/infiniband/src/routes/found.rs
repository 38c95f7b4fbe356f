//! The results of a route check.

use netloom_units::Vl;

use crate::{Guid, Lid, PortName};

/// Maximum number of failed routes in a result.
pub const MOST_FAILURES: usize = 100;

/// Maximum number of credit loops in a result.
pub const MOST_LOOPS: usize = 16;

/// The result of a route check.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RouteCheck {
    /// Number of ports at which routes begin and end.
    pub n_ports: usize,
    /// Number of their addresses: more than the ports if an LMC is above 0.
    pub n_addresses: usize,
    /// Number of routes: from each port to each address of every other port.
    pub routes: u64,
    /// Number of routes that arrive.
    pub arriving: u64,
    /// Routes that do not arrive.
    pub failures: Failures,
    /// Bit mask of the service levels of routes.
    pub levels: u16,
    /// Bit mask of the lanes that routes use at switches.
    pub lanes: u16,
    /// Pairs of connected switch ports without known lanes, if some lanes are known. They count as
    /// VL 0.
    pub unknown_lanes: usize,
    pub loops: CreditLoops,
    /// Every link between switches, in order of the file.
    pub links: Vec<LinkLoad>,
    /// The balance of links, for each pair of levels.
    pub balance: Vec<Balance>,
    /// Number of routes by number of switches: `hops[3]` routes pass three switches. Lanes are
    /// ignored.
    pub hops: Vec<u64>,
    /// Routes that pass more switches than necessary.
    pub longer: Longer,
}

/// Routes that do not arrive.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Failures {
    /// Number of routes.
    pub routes: u64,
    /// The first failures. Of the routes that a lane drops at the same place, only one is listed.
    pub first: Vec<Failure>,
}

/// A route that does not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The sending port.
    pub from: PortName,
    /// The address that it sends to.
    pub to: Lid,
    /// The node at which the route ends, or a node of the forwarding loop.
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
    /// The output is port 0 of the switch itself.
    OwnPort,
    /// The output has no cable.
    DeadPort(u8),
    /// The output leads to a port that has another address.
    WrongPort(PortName),
    /// The route is a forwarding loop.
    Circles,
    /// The service level is mapped to lane 15, from this input to this output.
    Dropped {
        /// The input port; 0 at the sender.
        input: u8,
        /// The output port.
        output: u8,
        /// The service level.
        level: u8,
    },
}

/// Credit loops: cycles of lanes of links where each waits for buffers of the next.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreditLoops {
    /// Number of groups of lanes that wait for each other. 0 means deadlock-free.
    pub n_knots: usize,
    /// One short loop for each of the first groups.
    pub found: Vec<CreditLoop>,
}

/// One credit loop.
#[derive(Clone, PartialEq, Debug)]
pub struct CreditLoop {
    /// The steps of the loop. Each starts where the previous one ends.
    pub dependencies: Vec<Dependency>,
}

/// Packets that occupy buffers of one lane while they wait for buffers of the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dependency {
    /// The lane of the link that the packets occupy.
    pub from: Channel,
    /// The lane of the link that the packets wait for.
    pub to: Channel,
    /// A port that sends such packets.
    pub source: PortName,
    /// The destination of the packets.
    pub destination: Lid,
}

/// A lane of a link.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Channel {
    /// The port that sends on the link.
    pub port: PortName,
    pub vl: Vl,
}

/// The load of one link between switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkLoad {
    /// The sending port.
    pub from: PortName,
    /// The port at the other end.
    pub to: PortName,
    /// Number of addresses with routes over the link.
    pub addresses: u32,
    /// Number of routes over the link.
    pub routes: u64,
}

/// The loads of all links from one level to another. Level 0 is the switches with hosts. Level n is
/// the switches that are n cables away from the nearest of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Balance {
    /// The level of the sending switches.
    pub from_level: u16,
    /// The level of the switches at the other end.
    pub to_level: u16,
    /// Number of links.
    pub n_links: usize,
    /// Addresses per link.
    pub addresses: Spread,
    /// Routes per link.
    pub routes: Spread,
}

/// Minimum, mean and maximum of some numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    pub min: u64,
    pub mean: f64,
    pub max: u64,
}

/// Routes that pass more switches than necessary.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Longer {
    /// Number of routes.
    pub routes: u64,
    /// The route with the longest detour; the first of several.
    pub worst: Option<Worst>,
}

/// A route that is longer than necessary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Worst {
    /// The sending port.
    pub from: PortName,
    /// The address that it sends to.
    pub to: Lid,
    /// Number of switches on the route.
    pub hops: u16,
    /// Number of switches on the shortest route.
    pub shortest: u16,
}

impl RouteCheck {
    /// Returns whether every route arrives and there is no credit loop.
    pub fn is_sound(&self) -> bool {
        self.failures.routes == 0 && self.loops.n_knots == 0
    }

    /// Returns the `n` links with the most routes, most loaded first.
    pub fn most_loaded(&self, n: usize) -> Vec<LinkLoad> {
        let mut links = self.links.clone();
        links.sort_by_key(|link| (std::cmp::Reverse(link.routes), link.from));
        links.truncate(n);
        links
    }

    /// Counts routes that arrive after `hops` switches. `name` returns the first of them.
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

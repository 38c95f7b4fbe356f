//! Dimension-order routing on meshes, tori and hypercubes, lowest dimension first (XY, e-cube).
//!
//! On rings a packet takes the shorter direction. It keeps its direction and trunk member as long
//! as it stays in a dimension. Both follow from its input port, so only the entry into a dimension
//! decides. Every (dimension, direction, member) is thus one ring, as the bubble rule requires.
//!
//! The member is drawn at the entry, by packet or by flow. Round robin per switch would make a
//! packet's path depend on the order of the events of a tick. A keyed draw spreads packets as
//! evenly on average and does not depend on the partitioning.

use std::sync::Arc;

use netloom_catalog::{Described, choice, params};
use netloom_random::{Purpose, Stream};
use netloom_topology::{Grid, Peer, Structure, Topology};
use netloom_units::{NicId, Port, SwitchId};

use crate::deadlock::{Channel, Network, Verdict};
use crate::divisor::Divisor;
use crate::forwarding::{Plan, one_per_switch};
use crate::route::RouteSeeing;
use crate::{Facts, Forwarding, Hop, Lookup, Occasion, QueueView, Route, Routing};

choice! {
    /// How the rings of a torus are kept free of deadlock. Meshes and hypercubes have no rings.
    pub enum Deadlock {
        /// The bubble rule: a packet enters a ring only if space for another one is left.
        Bubble = "bubble",
        /// Two lanes: lane 1 from the wrap-around link on, lane 0 again in the next dimension.
        Dateline = "dateline",
        /// Two lanes: packets that will cross the wrap-around link of a ring take lane 1 from their
        /// entry on, the others lane 0.
        DatelineEntry = "dateline-entry",
        /// No measure: deadlock is possible.
        Nothing = "none",
    }
}

choice! {
    /// The direction if both are equally long.
    pub enum Tie {
        /// Either direction, drawn for each packet.
        Random = "random",
        Positive = "positive",
    }
}

choice! {
    /// The packets that share a trunk member.
    pub enum Trunk {
        Flow = "flow",
        /// Each packet draws its own member.
        Packet = "packet",
    }
}

params! {
    /// Dimension order on grids: X, then Y, and so on; e-cube on hypercubes.
    #[derive(Clone, Debug)]
    pub struct DimensionOrder {
        /// How the rings of a torus are kept free of deadlock.
        pub deadlock: Deadlock = Deadlock::Bubble,
        /// The direction on a ring if both are equally long.
        pub tie: Tie = Tie::Random,
        /// The packets that share a trunk member.
        pub trunk: Trunk = Trunk::Flow,
    }
}

impl Described for DimensionOrder {
    const NAME: &'static str = "dimension-order";
    const SUMMARY: &'static str =
        "Dimension by dimension on meshes, tori and hypercubes, in the shorter direction.";
    const PAPER: Option<&'static str> = Some(
        "W. Dally, C. Seitz, \"Deadlock-free message routing in multiprocessor interconnection \
         networks\", \
         IEEE Trans. Computers 36, 1987; bubble: C. Carrion et al., HiPC 1997",
    );
    const EXAMPLE: &'static str = "deadlock = \"bubble\"\ntie = \"random\"\ntrunk = \"flow\"";
}

/// Purpose of a draw: the last word of its key (0 belongs to random ascents).
const DRAW_TIE: u32 = 1;
const DRAW_MEMBER_OF_FLOW: u32 = 2;
const DRAW_MEMBER_OF_PACKET: u32 = 3;

#[derive(Clone, Copy, Debug)]
struct Dimension {
    /// Position and bits of its coordinate in packed coordinates.
    shift: u32,
    mask: u64,
    side: u32,
    first_port: u16,
    is_ring: bool,
}

/// The role of a port, the same on every switch.
#[derive(Clone, Copy, Debug)]
struct Direction {
    dimension: Option<u8>,
    positive: bool,
    member: u16,
}

#[derive(Clone, Debug)]
pub(crate) struct GridPlan {
    hosts: u32,
    by_hosts: Divisor,
    /// The coordinates of each switch, packed with the first dimension in the lowest bits.
    places: Vec<u64>,
    /// The dimension of each bit of packed coordinates.
    dimension_of_bit: [u8; 64],
    dimensions: Vec<Dimension>,
    ports: Vec<Direction>,
    trunk: u16,
    deadlock: Deadlock,
    tie: Tie,
    sharing: Trunk,
    stream: Stream,
}

impl Routing for DimensionOrder {
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        let grid = match topology.structure() {
            Structure::Grid(grid) => grid,
            other => {
                let what = other.fabric();
                return Err(format!(
                    "routing dimension-order requires a grid, found {what}"
                ));
            }
        };
        let n_dimensions = grid.sides.len();
        let is_ring = |d: &usize| grid.is_ring(*d);
        let has_rings = (0..n_dimensions).any(|d| is_ring(&d));
        let has_ties = (0..n_dimensions)
            .filter(is_ring)
            .any(|d| grid.sides[d] % 2 == 0);
        let is_random_tie = has_ties && self.tie == Tie::Random;
        let has_members = grid.trunk > 1 && grid.sides.iter().any(|&s| s > 1);
        let is_random_member = has_members && self.trunk == Trunk::Packet;
        let bubble = has_rings && self.deadlock == Deadlock::Bubble;
        if bubble && 2 * n_dimensions * usize::from(grid.trunk) > 255 {
            return Err(format!(
                "the bubble rule supports at most 255 rings per switch; this torus has \
                 {n_dimensions} dimensions with two directions and trunks of {}",
                grid.trunk
            ));
        }
        let facts = Facts {
            keeps_order: !is_random_tie && !is_random_member,
            needs_occasion: is_random_tie || has_members,
            lanes: match self.deadlock {
                Deadlock::Dateline | Deadlock::DatelineEntry if has_rings => 2,
                _ => 1,
            },
            claims_no_deadlock: !has_rings || self.deadlock != Deadlock::Nothing,
            adaptive: false,
        };
        let plan = GridPlan::new(self, grid, Stream::new(seed, Purpose::Routing));
        let rings = if bubble { rings(grid) } else { vec![] };
        Ok(Forwarding::new(Plan::Grid(plan), facts).with_rings(rings))
    }
}

impl GridPlan {
    fn new(routing: &DimensionOrder, grid: &Grid, stream: Stream) -> GridPlan {
        let mut dimensions = vec![];
        let mut dimension_of_bit = [0; 64];
        let mut shift = 0;
        for (d, &side) in grid.sides.iter().enumerate() {
            let bits = u32::from(side).next_power_of_two().trailing_zeros();
            for bit in shift..shift + bits {
                dimension_of_bit[bit as usize] = d as u8;
            }
            dimensions.push(Dimension {
                shift,
                mask: (1 << bits) - 1,
                side: u32::from(side),
                first_port: grid.first_port(d),
                is_ring: grid.is_ring(d),
            });
            shift += bits;
        }
        let pack = |switch| {
            let places = grid.coordinates(SwitchId(switch));
            let along = places.iter().zip(&dimensions);
            along.fold(0, |packed, (&x, d)| packed | u64::from(x) << d.shift)
        };
        let places = (0..grid.n_switches() as u32).map(pack).collect();
        let host = Direction {
            dimension: None,
            positive: true,
            member: 0,
        };
        let mut ports = vec![host; usize::from(grid.n_ports())];
        for (d, &side) in grid.sides.iter().enumerate().filter(|(_, side)| **side > 1) {
            let directions: &[bool] = if side == 2 { &[true] } else { &[true, false] };
            for &positive in directions {
                for member in 0..grid.trunk {
                    ports[grid.port(d, positive, member).index()] = Direction {
                        dimension: Some(d as u8),
                        positive,
                        member,
                    };
                }
            }
        }
        GridPlan {
            hosts: u32::from(grid.hosts),
            by_hosts: Divisor::new(u32::from(grid.hosts)),
            places,
            dimension_of_bit,
            dimensions,
            ports,
            trunk: grid.trunk,
            deadlock: routing.deadlock,
            tie: routing.tie,
            sharing: routing.trunk,
            stream,
        }
    }

    /// Returns the first dimension in which a packet has not reached its destination, with its
    /// coordinate and that of the destination, or else the host port.
    #[inline]
    fn next(&self, at: SwitchId, destination: NicId) -> Result<(u8, u32, u32), Port> {
        let target = self.by_hosts.of(destination.0);
        let (here, there) = (self.places[at.index()], self.places[target as usize]);
        let difference = here ^ there;
        if difference == 0 {
            return Err(Port((destination.0 - target * self.hosts) as u16));
        }
        let d = self.dimension_of_bit[difference.trailing_zeros() as usize];
        let dimension = &self.dimensions[usize::from(d)];
        let along = |place: u64| ((place >> dimension.shift) & dimension.mask) as u32;
        Ok((d, along(here), along(there)))
    }

    /// Whether the positive direction is shorter; `None` if both are equal.
    #[inline]
    fn way(&self, d: u8, here: u32, there: u32) -> Option<bool> {
        let dimension = &self.dimensions[usize::from(d)];
        if !dimension.is_ring {
            return Some(there > here);
        }
        let ahead = if there > here {
            there - here
        } else {
            there + dimension.side - here
        };
        match (2 * ahead).cmp(&dimension.side) {
            std::cmp::Ordering::Less => Some(true),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(false),
        }
    }

    /// Returns a random word for a packet and dimension, independent of the switch. Not inlined,
    /// since most hops stay in their dimension and draw nothing.
    #[inline(never)]
    fn draw(&self, d: u8, occasion: Occasion, what: u32) -> u32 {
        let key = [occasion.source.0, occasion.sequence, u32::from(d / 4), what];
        self.stream.draw(key).0[usize::from(d % 4)]
    }

    #[inline]
    fn member(&self, d: u8, destination: NicId, occasion: Occasion) -> u16 {
        if self.trunk == 1 {
            return 0;
        }
        let word = match self.sharing {
            Trunk::Packet => self.draw(d, occasion, DRAW_MEMBER_OF_PACKET),
            Trunk::Flow => {
                let flow = Occasion {
                    sequence: destination.0,
                    ..occasion
                };
                self.draw(d, flow, DRAW_MEMBER_OF_FLOW)
            }
        };
        ((u64::from(word) * u64::from(self.trunk)) >> 32) as u16
    }

    /// Returns the hop in a dimension. `lane` is the packet's lane in the dimension, or `None` at
    /// the entry.
    #[inline]
    fn hop(
        &self,
        d: u8,
        (here, there): (u32, u32),
        positive: bool,
        member: u16,
        lane: Option<u8>,
    ) -> Hop {
        let dimension = &self.dimensions[usize::from(d)];
        let slot = u16::from(!positive && dimension.side > 2);
        let border = if positive { dimension.side - 1 } else { 0 };
        let lane = match (self.deadlock, lane) {
            (Deadlock::Dateline, _) if dimension.is_ring && here == border => 1,
            // Ahead only across the border. No packet goes more than half-way round. So packets
            // that cross the border never use the link opposite it, and the others never use the
            // border link: neither lane has a cycle.
            (Deadlock::DatelineEntry, None) if dimension.is_ring => {
                u8::from((there < here) == positive)
            }
            (Deadlock::Dateline | Deadlock::DatelineEntry, Some(lane)) => lane,
            _ => 0,
        };
        Hop {
            port: Port(dimension.first_port + slot * self.trunk + member),
            lane,
        }
    }

    /// Returns whether the cables between switches are those of the grid.
    fn is_wired(&self, topology: &Topology) -> bool {
        if topology.n_switches() as usize != self.places.len() {
            return false;
        }
        let is_there = |at: SwitchId, port: usize| {
            let expected = self.cable(at, port);
            match (topology.peer(at, Port(port as u16)), expected) {
                (Peer::Switch(other, there), Some(end)) => (other, there) == end,
                (Peer::Switch(..), None) => false,
                (_, expected) => expected.is_none(),
            }
        };
        topology.switches().all(|at| {
            let n_ports = usize::from(topology.n_ports(at));
            n_ports == self.ports.len() && (0..n_ports).all(|port| is_there(at, port))
        })
    }

    /// Returns the switch and port to which the grid cables a port.
    fn cable(&self, at: SwitchId, port: usize) -> Option<(SwitchId, Port)> {
        let Direction {
            dimension,
            positive,
            member,
        } = self.ports[port];
        let d = usize::from(dimension?);
        let own = &self.dimensions[d];
        let here = (self.places[at.index()] >> own.shift & own.mask) as u32;
        // The one trunk of a side of 2 leads up from one switch and down from the other.
        let goes_up = positive && (own.side > 2 || here == 0);
        let there = match (goes_up, here) {
            (true, _) if here + 1 < own.side => here + 1,
            (true, _) if own.is_ring => 0,
            (false, 1..) => here - 1,
            (false, _) if own.is_ring => own.side - 1,
            _ => return None,
        };
        let stride: u32 = self.dimensions[..d].iter().map(|d| d.side).product();
        let other = SwitchId(at.0 - here * stride + there * stride);
        let slot = u16::from(goes_up && own.side > 2);
        Some((other, Port(own.first_port + slot * self.trunk + member)))
    }

    /// Returns the channels of the ring through the first switch along a dimension.
    fn ring_of(&self, dimension: &Dimension) -> Vec<Channel> {
        let port = Port(dimension.first_port);
        let channel = |at: SwitchId| {
            let (to, _) = self.cable(at, port.index())?;
            Some(Channel {
                switch: at,
                port,
                lane: 0,
                to,
                through: None,
            })
        };
        let first = channel(SwitchId(0));
        let next = |last: &Channel| channel(last.to).filter(|_| last.to != SwitchId(0));
        std::iter::successors(first, next).collect()
    }

    /// Not inlined, so that [`Forwarding::route`] stays small.
    #[inline(never)]
    fn next_hop(&self, lookup: &Lookup) -> Hop {
        let (d, here, there) = match self.next(lookup.at, lookup.destination) {
            Ok(next) => next,
            Err(port) => return Hop { port, lane: 0 },
        };
        let came = self.ports[lookup.from.index()];
        let goes_on = came.dimension == Some(d);
        let (positive, member) = if goes_on {
            (!came.positive, came.member)
        } else {
            let positive = match self.way(d, here, there) {
                Some(positive) => positive,
                None => {
                    self.tie == Tie::Positive || self.draw(d, lookup.occasion, DRAW_TIE) & 1 == 0
                }
            };
            (
                positive,
                self.member(d, lookup.destination, lookup.occasion),
            )
        };
        let lane = goes_on.then_some(lookup.lane);
        self.hop(d, (here, there), positive, member, lane)
    }
}

impl Route for GridPlan {
    #[inline(always)]
    fn route(&self, lookup: &Lookup, _: &mut u8, _: &dyn QueueView) -> Hop {
        self.next_hop(lookup)
    }

    fn choices(&self, lookup: &Lookup, hops: &mut Vec<Hop>) {
        let (d, here, there) = match self.next(lookup.at, lookup.destination) {
            Ok(next) => next,
            Err(port) => return hops.push(Hop { port, lane: 0 }),
        };
        if self.ports[lookup.from.index()].dimension == Some(d) {
            return hops.push(self.next_hop(lookup));
        }
        let ways: &[bool] = match (self.way(d, here, there), self.tie) {
            (Some(true), _) | (None, Tie::Positive) => &[true],
            (Some(false), _) => &[false],
            (None, Tie::Random) => &[true, false],
        };
        for &positive in ways {
            let members = 0..self.trunk;
            hops.extend(members.map(|member| self.hop(d, (here, there), positive, member, None)));
        }
    }

    /// A tie or a trunk adds few choices.
    fn has_choices(&self, _: Facts) -> bool {
        false
    }

    fn representatives(&self, topology: &Topology) -> Vec<NicId> {
        one_per_switch(topology)
    }

    /// Proves that no cycle is possible, or returns one; `None` if a cable is not where the
    /// arithmetic expects it, or a rule lacks its lanes.
    fn theorem(&self, network: Network<'_>) -> Option<Verdict> {
        if !self.is_wired(network.topology) {
            return None;
        }
        // On a ring of three switches, every packet leaves the ring after one link.
        let is_long = |dimension: &&Dimension| dimension.is_ring && dimension.side > 3;
        let Some(ring) = self
            .dimensions
            .iter()
            .filter(is_long)
            .min_by_key(|d| d.side)
        else {
            let why = "dimension order ranks channels by dimension, then by position along it, and \
                       every cable is where the routing expects it";
            return Some(network.by_theorem(why));
        };
        let rule = match self.deadlock {
            Deadlock::Bubble => {
                "dimension order ranks channels by dimension; rings may close under the bubble \
                 rule, which guards every entry into a ring"
            }
            Deadlock::Dateline | Deadlock::DatelineEntry if network.forwarding.lanes() < 2 => {
                return None;
            }
            Deadlock::Dateline => {
                "dimension order ranks channels by dimension, lane and position; packets change \
                 to lane 1 at the wrap-around link and go at most half-way round"
            }
            Deadlock::DatelineEntry => {
                "dimension order ranks channels by dimension, lane and position; packets that \
                 cross the wrap-around link have their own lane and go at most half-way round"
            }
            Deadlock::Nothing => return Some(Verdict::Cycle(self.ring_of(ring))),
        };
        Some(network.by_theorem(rule))
    }
}

impl RouteSeeing for GridPlan {}

/// Returns the rings of each port, for packets that come in and packets that leave.
fn rings(grid: &Grid) -> Vec<(u8, u8)> {
    let mut rings = vec![(0, 0); usize::from(grid.n_ports())];
    for d in (0..grid.sides.len()).filter(|d| grid.is_ring(*d)) {
        for member in 0..grid.trunk {
            let ring = |positive: bool| {
                let slot = 2 * d + usize::from(!positive);
                (1 + slot * usize::from(grid.trunk) + usize::from(member)) as u8
            };
            for positive in [true, false] {
                // A packet from the positive neighbour moves in negative direction.
                let port = grid.port(d, positive, member);
                rings[port.index()] = (ring(!positive), ring(positive));
            }
        }
    }
    rings
}

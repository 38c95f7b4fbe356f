//! The compiled form of a routing over groups of switches.
//!
//! Where a packet stands on its way is read off the port and lane it came in by: lanes are a ladder by place,
//! so that (link class, lane) tells how many global links it has taken and how many local ones in this group.
//! The m-th global link has lane m. A local link has lane m as well, where a group is crossed by one local
//! link; under PAR a packet may take two in its first group, so the k-th local link after m global ones has
//! lane 2m + k. Ranks (m, k, global last) rise along every way, so there is no cycle of channels. Counting
//! local links over the whole way instead (as G002-2 words it) would give lane 1 to the local link in the
//! destination's group after a minimal way l-g-l as well as to the one before the global link of l-l-g: a
//! cycle, which a test shows.
//!
//! A packet's intermediate group is a function of the packet, so all switches of its source group agree. The
//! packet itself only carries whether it takes it.

use std::sync::Arc;

use netloom_random::{Draw, Purpose, Stream};
use netloom_topology::{GroupLink, GroupLinks, Structure, Topology};
use netloom_units::{NicId, Port, SwitchId};

use crate::divisor::Divisor;
use crate::forwarding::{Facts, Plan};
use crate::{Forwarding, Hop, Occasion, QueueView};

/// Which packets go through a third group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Detours {
    Never,
    Always,
    /// Those for which it looks shorter.
    Adaptive(Adaptive),
}

/// How it is found out whether a way looks shorter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Adaptive {
    /// Flits.
    pub(crate) threshold: u32,
    pub(crate) asks: Asks,
}

/// Where a packet on its minimal way is asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asks {
    /// At its first switch.
    Once,
    /// At every switch of its first group.
    InSourceGroup,
}

/// What a draw is for, the last word of its key (0 to 3 belong to trees and grids).
const DRAW_OF_PACKET: u32 = 4;
const DRAW_OF_FLOW: u32 = 5;

/// Words of a draw.
const GROUP: usize = 0;
const LINK: usize = 1;

/// Lanes of a link that the ladder tells apart, a power of two.
const LANES: usize = 8;

/// Where a packet stands, and its lanes from here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rung {
    /// Global links taken.
    pub(crate) globals: u8,
    /// Local links taken in this group.
    pub(crate) locals: u8,
    /// Lane of the next local link.
    pub(crate) local: u8,
    /// Lane of the next global link.
    pub(crate) global: u8,
}

/// The place of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    group: u32,
    /// Number in the group.
    index: u16,
}

/// A compiled routing over groups.
#[derive(Clone, Debug)]
pub(crate) struct GroupPlan {
    detours: Detours,
    by_hosts: Divisor,
    groups: u32,
    places: Vec<Place>,
    /// Ports of every switch.
    n_ports: usize,
    /// Kind of link of each port, switch by switch: its class (host, local, global).
    roles: Vec<u8>,
    /// Port of each NIC.
    host_ports: Vec<Port>,
    /// Port of a switch to each other one of its group, in a row of `switches` per switch.
    local_ports: Vec<Port>,
    switches: usize,
    links: GroupLinks,
    /// Whether some groups are joined by several cables.
    has_trunks: bool,
    /// By kind of link and lane a packet came in by.
    ladder: [[Rung; LANES]; 3],
    stream: Stream,
}

/// The next link of a way and what follows it.
#[derive(Clone, Copy, Debug)]
struct Exit {
    /// The link to the other group.
    link: GroupLink,
    /// Links to it, itself included.
    hops: u32,
}

impl GroupPlan {
    pub(crate) fn compile(
        name: &str,
        detours: Detours,
        topology: &Arc<Topology>,
        seed: u64,
    ) -> Result<Forwarding, String> {
        let shape = match topology.structure() {
            Structure::Dragonfly(shape) => shape,
            other => {
                let what = other.words();
                return Err(format!("routing {name} is for dragonflies, not for {what}"));
            }
        };
        // Between two groups there is no third.
        let detours = match shape.groups > 2 {
            true => detours,
            false => Detours::Never,
        };
        let place = |switch| Place {
            group: shape.group(switch),
            index: shape.index(switch),
        };
        let ports = topology
            .switches()
            .flat_map(|s| topology.ports(s).map(move |p| (s, p)));
        let roles = ports.map(|(switch, port)| topology.link_class(switch, port));
        let local_port = |(switch, other): (SwitchId, u16)| match shape.index(switch) == other {
            true => Port(u16::MAX),
            false => shape.local_port(switch, other),
        };
        let to_others = topology
            .switches()
            .flat_map(|s| (0..shape.switches).map(move |o| (s, o)));
        let pairs = (0..shape.groups).flat_map(|a| (0..shape.groups).map(move |b| (a, b)));
        let has_trunks = pairs
            .clone()
            .any(|(a, b)| shape.links.between(a, b).len() > 1);
        let is_progressive =
            matches!(detours, Detours::Adaptive(adaptive) if adaptive.asks == Asks::InSourceGroup);
        let plan = GroupPlan {
            detours,
            by_hosts: Divisor::new(u32::from(shape.hosts)),
            groups: shape.groups,
            places: topology.switches().map(place).collect(),
            n_ports: usize::from(topology.radix()),
            roles: roles.collect(),
            host_ports: topology
                .nics()
                .map(|nic| topology.attachment(nic).1)
                .collect(),
            local_ports: to_others.map(local_port).collect(),
            switches: usize::from(shape.switches),
            links: shape.links.clone(),
            has_trunks,
            ladder: ladder(if is_progressive { 2 } else { 1 }),
            stream: Stream::new(seed, Purpose::Routing),
        };
        let facts = Facts {
            keeps_order: detours == Detours::Never,
            needs_occasion: detours != Detours::Never || has_trunks,
            lanes: match detours {
                Detours::Never if shape.groups < 2 => 1,
                Detours::Never => 2,
                // Six, of which a packet through a group uses at most five.
                Detours::Adaptive(_) if is_progressive => 6,
                Detours::Always | Detours::Adaptive(_) => 3,
            },
            bubble: false,
            claims_no_deadlock: true,
            adaptive: matches!(detours, Detours::Adaptive(_)),
        };
        Ok(Forwarding::new(Plan::Groups(plan), facts))
    }

    #[inline]
    fn rung(&self, at: SwitchId, from: Port, lane: u8) -> Rung {
        let role = self.roles[at.index() * self.n_ports + from.index()];
        self.ladder[usize::from(role)][usize::from(lane) % LANES]
    }

    /// Kept out of line, so that [`Forwarding::route`] stays small enough to be inlined.
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn route_seeing<V: QueueView>(
        &self,
        at: SwitchId,
        from: Port,
        lane: u8,
        destination: NicId,
        occasion: Occasion,
        detour: &mut bool,
        view: &V,
    ) -> Hop {
        let target = self.by_hosts.of(destination.0) as usize;
        let (here, there) = (self.places[at.index()], self.places[target]);
        if here.group == there.group {
            if at.index() == target {
                let port = self.host_ports[destination.index()];
                return Hop { port, lane: 0 };
            }
            let rung = self.rung(at, from, lane);
            return self.local(at, there.index, rung);
        }
        let rung = self.rung(at, from, lane);
        let is_source = rung.globals == 0;
        let needs_draw = self.has_trunks || (is_source && self.detours != Detours::Never);
        let draw = match needs_draw {
            true => self.draw(destination, occasion),
            false => Draw([0; 4]),
        };
        let straight = self.exit(here, there.group, draw);
        if !is_source || self.detours == Detours::Never {
            return self.leave(at, here, straight, rung);
        }
        let middle = self.intermediate(here.group, there.group, draw);
        let exit = match self.detours {
            Detours::Adaptive(adaptive) if !*detour => {
                let is_asked =
                    rung.locals == 0 || (adaptive.asks == Asks::InSourceGroup && rung.locals == 1);
                if !is_asked {
                    straight
                } else {
                    let aside = self.exit(here, middle, draw);
                    let minimal = straight.hops + self.local_links(straight.link.to, there.index);
                    let arrival = Place {
                        group: middle,
                        index: aside.link.to,
                    };
                    let second = self.exit(arrival, there.group, draw);
                    let non_minimal =
                        aside.hops + second.hops + self.local_links(second.link.to, there.index);
                    let cost = |exit: Exit, hops: u32| {
                        let port = self.leave(at, here, exit, rung).port;
                        u64::from(view.queued(port)) * u64::from(hops)
                    };
                    *detour = cost(straight, minimal)
                        > cost(aside, non_minimal) + u64::from(adaptive.threshold);
                    if *detour { aside } else { straight }
                }
            }
            _ => self.exit(here, middle, draw),
        };
        self.leave(at, here, exit, rung)
    }

    /// Random words for a packet, whatever the switch; for a flow where nothing else may tell packets apart.
    /// Kept out of line: most hops draw nothing.
    #[inline(never)]
    fn draw(&self, destination: NicId, occasion: Occasion) -> Draw {
        let (number, what) = match self.detours {
            Detours::Never => (destination.0, DRAW_OF_FLOW),
            _ => (occasion.sequence, DRAW_OF_PACKET),
        };
        self.stream.draw([occasion.source.0, number, 0, what])
    }

    /// A group that is neither of two.
    #[inline]
    fn intermediate(&self, a: u32, b: u32, draw: Draw) -> u32 {
        let mut group = draw.below(GROUP, self.groups - 2);
        group += u32::from(group >= a.min(b));
        group + u32::from(group >= a.max(b))
    }

    /// The link by which a packet leaves a group for another one: one of the switch it is at, if there are any,
    /// otherwise one of another switch of the group.
    #[inline]
    fn exit(&self, here: Place, to: u32, draw: Draw) -> Exit {
        let links = self.links.between(here.group, to);
        let link = match links.len() {
            1 => links[0],
            _ => {
                let own = own(links, here.index);
                match own.is_empty() {
                    true => {
                        // The switch with the link drawn then draws among its own.
                        let drawn = links[draw.below(LINK, links.len() as u32) as usize];
                        let own = self::own(links, drawn.switch);
                        own[draw.below(LINK, own.len() as u32) as usize]
                    }
                    false => own[draw.below(LINK, own.len() as u32) as usize],
                }
            }
        };
        let hops = 1 + self.local_links(here.index, link.switch);
        Exit { link, hops }
    }

    /// Links between two switches of a group.
    #[inline]
    fn local_links(&self, a: u16, b: u16) -> u32 {
        u32::from(a != b)
    }

    /// The hop towards another switch of the group.
    #[inline]
    fn local(&self, at: SwitchId, other: u16, rung: Rung) -> Hop {
        Hop {
            port: self.local_ports[at.index() * self.switches + usize::from(other)],
            lane: rung.local,
        }
    }

    /// The hop towards the link by which a packet leaves its group.
    #[inline]
    fn leave(&self, at: SwitchId, here: Place, exit: Exit, rung: Rung) -> Hop {
        match exit.link.switch == here.index {
            true => Hop {
                port: exit.link.port,
                lane: rung.global,
            },
            false => self.local(at, exit.link.switch, rung),
        }
    }

    pub(crate) fn choices(
        &self,
        at: SwitchId,
        from: Port,
        lane: u8,
        destination: NicId,
        hops: &mut Vec<Hop>,
    ) {
        let target = self.by_hosts.of(destination.0) as usize;
        let (here, there) = (self.places[at.index()], self.places[target]);
        let rung = self.rung(at, from, lane);
        if here.group == there.group {
            hops.push(match at.index() == target {
                true => Hop {
                    port: self.host_ports[destination.index()],
                    lane: 0,
                },
                false => self.local(at, there.index, rung),
            });
            return;
        }
        if rung.globals > 0 || self.detours == Detours::Never {
            return self.exits(at, here, there.group, rung, true, hops);
        }
        // A packet that has come by a local link was sent here for a link of this switch, unless its way is
        // minimal, it may be asked about again, and its minimal way leads on from here.
        let is_straight = !own(self.links.between(here.group, there.group), here.index).is_empty();
        let is_asked_again = matches!(
            self.detours,
            Detours::Adaptive(Adaptive { asks: Asks::InSourceGroup, .. }) if rung.locals == 1 && is_straight
        );
        let may_turn = rung.locals == 0 || is_asked_again;
        let first = hops.len();
        for group in (0..self.groups).filter(|&group| group != here.group) {
            let is_minimal = group == there.group;
            if is_minimal && (self.detours == Detours::Always || rung.locals > 1) {
                continue;
            }
            self.exits(at, here, group, rung, may_turn, hops);
        }
        hops[first..].sort_unstable();
        let mut kept = first;
        for i in first..hops.len() {
            if i == first || hops[i] != hops[kept - 1] {
                hops[kept] = hops[i];
                kept += 1;
            }
        }
        hops.truncate(kept);
    }

    /// All hops by which a packet may leave for a group; by way of another switch only if it may turn.
    fn exits(
        &self,
        at: SwitchId,
        here: Place,
        to: u32,
        rung: Rung,
        may_turn: bool,
        hops: &mut Vec<Hop>,
    ) {
        let links = self.links.between(here.group, to);
        let own = own(links, here.index);
        let usable = match own.is_empty() {
            true if may_turn => links,
            _ => own,
        };
        let exit = |&link| Exit { link, hops: 0 };
        hops.extend(
            usable
                .iter()
                .map(|link| self.leave(at, here, exit(link), rung)),
        );
    }
}

/// Those of a list of links that a switch has.
#[inline]
fn own(links: &[GroupLink], switch: u16) -> &[GroupLink] {
    let first = links.partition_point(|link| link.switch < switch);
    let end = first + links[first..].partition_point(|link| link.switch == switch);
    &links[first..end]
}

/// The lanes of a routing with so many local links in a group at most.
pub(crate) fn ladder(locals_in_group: u8) -> [[Rung; LANES]; 3] {
    let rung = |globals: u8, locals: u8| Rung {
        globals,
        locals,
        local: globals * locals_in_group + locals.min(locals_in_group - 1),
        global: globals,
    };
    let lanes = |rung: &dyn Fn(u8) -> Rung| std::array::from_fn(|lane| rung(lane as u8));
    [
        lanes(&|_| rung(0, 0)),
        lanes(&|lane| rung(lane / locals_in_group, lane % locals_in_group + 1)),
        lanes(&|lane| rung(lane + 1, 0)),
    ]
}

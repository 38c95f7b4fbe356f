//! Compiled routings over groups of switches: dragonflies and megaflies.
//!
//! A packet's progress follows from its input port and lane. Lanes form a ladder, so (link class,
//! lane) gives the number of global links it has taken and of local ones in this group. The m-th
//! global link has lane m. So has a local link after m global ones, if a path crosses a group by
//! one local link or if links up and down are separate channels. Under `par-ugal` a packet may take
//! two local links in its first group. The lane is then the position on the longest path,
//! l-l-g-l-g-l: 0, 1, 2 (global), 3, 4 (global), 5. Under `valiant` through a drawn switch it may
//! take two in the middle group. Local lanes are then 0, 1 and 2, and 3.
//!
//! Lanes rise along every path, so there is no cycle, even if packets of one lane for different
//! outputs share a buffer inside a switch. Two other ladders have a cycle. If local and global
//! links are counted over the whole path, lane 1 goes to the local link in the destination's group
//! after a minimal path l-g-l and also to the second one of l-l-g; a test shows the cycle of
//! channels. Numbering by position but local and global links apart (0, 1 | 0 | 2 | 1 | 4) has no
//! cycle between channels but one in a tiled switch, whose row buffers are shared by the outputs of
//! a tile. Packets for local lane 1 then block those for global lane 1, so the middle of a path
//! waits for its beginning.
//!
//! A packet's intermediate group is a function of the packet, so all switches of its source group
//! agree. Its routing word only tells whether the packet takes that group.

use std::num::NonZero;
use std::sync::Arc;

use netloom_random::{Draw, Purpose, Stream};
use netloom_topology::{GroupLink, GroupLinks, Peer, Structure, Topology};
use netloom_units::{NicId, Port, SwitchId};

use crate::deadlock::{Network, Verdict, of_large_groups};
use crate::divisor::Divisor;
use crate::dragonfly::Intermediate;
use crate::forwarding::{Plan, one_per_switch};
use crate::in_transit::InTransit;
use crate::ladder::{Climb, Entry, Ladder, Rung, Ways};
use crate::route::RouteSeeing;
use crate::{Announcements, Facts, Forwarding, Hop, Lookup, Occasion, QueueView, Route};

/// The packets that go through a third group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Detours {
    Never,
    /// All, as far as what is drawn is in a third group.
    Always(Intermediate),
    /// Those for which that path looks shorter.
    Adaptive(Adaptive),
    /// Those whose path is blocked, anywhere.
    InTransit(InTransit),
}

/// How the lengths of paths are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Adaptive {
    /// In flits.
    pub(crate) threshold: u32,
    pub(crate) asks: Asks,
    /// Core cycles between two announcements, if the switches of a group announce their global
    /// links to each other.
    pub(crate) announced_every: Option<NonZero<u32>>,
}

/// Where the decision about a packet on its minimal path is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asks {
    Once,
    InSourceGroup,
}

/// Purpose of a draw: the last word of its key (0 to 3 belong to trees and grids).
const DRAW_OF_PACKET: u32 = 4;
const DRAW_OF_FLOW: u32 = 5;

/// The routing word of a packet that has left its minimal path for good; otherwise it is 0.
const ON_DETOUR: u8 = 1;

/// Words of a draw.
const GROUP: usize = 0;
const LINK: usize = 1;
const THROUGH: usize = 2;

/// The position of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) group: u32,
    /// Index in the group.
    pub(crate) index: u16,
}

/// Marks switches of a group without a cable between them.
const NO_CABLE: Port = Port(u16::MAX);

#[derive(Clone, Copy, Debug)]
struct Fabric<'a> {
    /// Switches of a group, numbered consecutively.
    switches: u16,
    /// The number of leaves, which come first, if there are leaves and spines.
    leaves: Option<u16>,
    links: &'a GroupLinks,
}

impl<'a> Fabric<'a> {
    fn of(topology: &'a Topology) -> Option<Self> {
        match topology.structure() {
            Structure::Dragonfly(shape) => Some(Fabric {
                switches: shape.switches,
                leaves: None,
                links: &shape.links,
            }),
            Structure::Megafly(shape) => Some(Fabric {
                switches: shape.switches(),
                leaves: Some(shape.leaves),
                links: &shape.links,
            }),
            _ => None,
        }
    }
}

/// A compiled routing over groups.
#[derive(Clone, Debug)]
pub(crate) struct GroupPlan {
    detours: Detours,
    /// What is drawn for each detour.
    intermediate: Intermediate,
    /// Divides by the NICs of a switch that has any.
    by_hosts: Divisor,
    /// Switches with NICs.
    targets: Vec<u32>,
    groups: u32,
    places: Vec<Place>,
    /// First port of each switch, by port index of the fabric.
    first_ports: Vec<u32>,
    /// The [`Entry`] of a packet that comes in by a port, by port index.
    entries: Vec<u8>,
    /// Port of each NIC.
    host_ports: Vec<Port>,
    /// Port of a switch to each switch of its group, in a row of `switches` per switch;
    /// [`NO_CABLE`] if there is none.
    local_ports: Vec<Port>,
    switches: usize,
    /// Leaves of a group, if it has two levels.
    leaves: Option<u16>,
    links: GroupLinks,
    /// Whether some groups are joined by several cables.
    has_trunks: bool,
    /// Ports of each switch to other groups, if a packet may take any of them.
    global_ports: Box<[Box<[Port]>]>,
    ladder: Ladder,
    stream: Stream,
}

/// The next link of a path and what follows it.
#[derive(Clone, Copy, Debug)]
struct Exit {
    /// The link to the other group.
    link: GroupLink,
    /// Links up to and including it.
    hops: u32,
}

impl GroupPlan {
    pub(crate) fn compile(
        name: &str,
        detours: Detours,
        topology: &Arc<Topology>,
        seed: u64,
    ) -> Result<Forwarding, String> {
        let fabric = Fabric::of(topology).ok_or_else(|| {
            let what = topology.structure().fabric();
            format!("routing {name} requires a dragonfly or megafly, found {what}")
        })?;
        let groups = fabric.links.groups();
        // With two groups there is no third, and a leaf with one spine has no two queues to
        // compare.
        let has_one_spine = fabric.leaves == Some(fabric.switches - 1);
        let detours = match detours {
            _ if groups <= 2 => Detours::Never,
            Detours::Adaptive(_) if has_one_spine => Detours::Never,
            detours => detours,
        };
        let is_turning = match detours {
            Detours::Adaptive(adaptive) => adaptive.asks == Asks::InSourceGroup,
            Detours::InTransit(_) => true,
            Detours::Never | Detours::Always(_) => false,
        };
        let visits_switch = detours == Detours::Always(Intermediate::Switch);
        let ways = match fabric.leaves {
            Some(_) if is_turning => {
                let what = topology.structure().words();
                return Err(format!(
                    "routing {name} requires a dragonfly, found {what}: a packet cannot turn at a \
                     spine; use ugal, which decides at the leaf"
                ));
            }
            Some(_) if visits_switch => {
                let what = topology.structure().words();
                return Err(format!(
                    "routing {name} with intermediate = \"switch\" requires a dragonfly, found \
                     {what}; use \"any-group\""
                ));
            }
            Some(_) => Ways::TwoLevel,
            None if visits_switch => Ways::Through,
            None if matches!(detours, Detours::InTransit(_)) => Ways::InTransit,
            None if is_turning => Ways::Turning,
            None => Ways::Direct,
        };
        let has_trunks = (0..groups)
            .flat_map(|a| (0..groups).map(move |b| (a, b)))
            .any(|(a, b)| fabric.links.between(a, b).len() > 1);
        // Between leaves of a group, and between its spines, there is a choice.
        let draws_within = fabric
            .leaves
            .is_some_and(|leaves| leaves > 1 || fabric.switches > leaves + 1);
        let plan = GroupPlan::new(
            detours,
            fabric,
            Ladder::new(ways),
            has_trunks,
            topology,
            seed,
        );
        let facts = Facts {
            keeps_order: detours == Detours::Never,
            needs_occasion: detours != Detours::Never || has_trunks || draws_within,
            lanes: match detours {
                Detours::Never if groups < 2 => 1,
                Detours::Never => 2,
                _ if is_turning => 6,
                _ if visits_switch => 4,
                _ => 3,
            },
            claims_no_deadlock: true,
            adaptive: matches!(detours, Detours::Adaptive(_) | Detours::InTransit(_)),
        };
        Ok(Forwarding::new(Plan::Groups(plan), facts))
    }

    fn new(
        detours: Detours,
        fabric: Fabric<'_>,
        ladder: Ladder,
        has_trunks: bool,
        topology: &Topology,
        seed: u64,
    ) -> Self {
        let switches = u32::from(fabric.switches);
        let place = |switch: SwitchId| Place {
            group: switch.0 / switches,
            index: (switch.0 % switches) as u16,
        };
        let first = topology
            .switches()
            .map(|s| topology.port_index(s, Port(0)) as u32);
        let is_leaf = |s| fabric.leaves.is_some_and(|leaves| place(s).index < leaves);
        let entry = |(switch, port)| match topology.link_class(switch, port) {
            class if class == Entry::Local as u8 && is_leaf(switch) => Entry::Down as u8,
            class => class,
        };
        let ports = topology
            .switches()
            .flat_map(|s| topology.ports(s).map(move |p| (s, p)));
        let mut local_ports = vec![NO_CABLE; topology.n_switches() as usize * switches as usize];
        for switch in topology.switches() {
            for (port, other, _) in topology.neighbours(switch) {
                if place(other).group == place(switch).group {
                    let row = switch.index() * switches as usize;
                    local_ports[row + usize::from(place(other).index)] = port;
                }
            }
        }
        let leads_away = |s: SwitchId| {
            let leaves_group =
                move |&(_, other, _): &(Port, SwitchId, Port)| place(other).group != place(s).group;
            let away = topology.neighbours(s).filter(leaves_group);
            away.map(|(port, ..)| port).collect()
        };
        let global_ports = match detours {
            Detours::InTransit(_) => topology.switches().map(leads_away).collect(),
            _ => Box::default(),
        };
        let mut targets: Vec<u32> = topology
            .nics()
            .map(|nic| topology.attachment(nic).0.0)
            .collect();
        targets.dedup();
        GroupPlan {
            detours,
            intermediate: match detours {
                Detours::Always(intermediate) => intermediate,
                _ => Intermediate::Group,
            },
            by_hosts: Divisor::new(topology.n_nics() / targets.len() as u32),
            targets,
            groups: fabric.links.groups(),
            places: topology.switches().map(place).collect(),
            first_ports: first.collect(),
            entries: ports.map(entry).collect(),
            host_ports: topology
                .nics()
                .map(|nic| topology.attachment(nic).1)
                .collect(),
            local_ports,
            switches: usize::from(fabric.switches),
            leaves: fabric.leaves,
            links: fabric.links.clone(),
            has_trunks,
            global_ports,
            ladder,
            stream: Stream::new(seed, Purpose::Routing),
        }
    }

    #[inline]
    fn rung(&self, lookup: &Lookup) -> Rung {
        let first = self.first_ports[lookup.at.index()] as usize;
        let entry = self.entries[first + lookup.from.index()];
        self.ladder.rung(entry, lookup.lane)
    }

    /// Returns random words for a packet, independent of the switch, or for a flow if packets must
    /// not be distinguished. Not inlined, since most hops draw nothing.
    #[inline(never)]
    pub(crate) fn draw(&self, destination: NicId, occasion: Occasion) -> Draw {
        let (number, what) = match self.detours {
            Detours::Never => (destination.0, DRAW_OF_FLOW),
            _ => (occasion.sequence, DRAW_OF_PACKET),
        };
        self.stream.draw([occasion.source.0, number, 0, what])
    }

    /// Returns the group to which a packet leaves its first one, if not on its minimal path: a
    /// group other than these two, or the destination's if the first group is drawn.
    #[inline]
    fn intermediate(&self, first: u32, last: u32, draw: Draw) -> u32 {
        if self.intermediate != Intermediate::Group {
            return self.intermediate_of_all(first, last, draw);
        }
        let mut group = draw.below(GROUP, self.groups - 2);
        group += u32::from(group >= first.min(last));
        group + u32::from(group >= first.max(last))
    }

    #[cold]
    fn intermediate_of_all(&self, first: u32, last: u32, draw: Draw) -> u32 {
        let drawn = match self.intermediate {
            Intermediate::Switch => self.drawn_switch(draw).group,
            _ => draw.below(GROUP, self.groups),
        };
        if drawn == first { last } else { drawn }
    }

    fn drawn_switch(&self, draw: Draw) -> Place {
        self.places[draw.below(GROUP, self.places.len() as u32) as usize]
    }

    /// Returns the hop of a packet that has come to the group of its drawn switch, unless it is at
    /// that switch or has been there.
    #[cold]
    fn to_drawn_switch(
        &self,
        at: SwitchId,
        here: Place,
        rung: Rung,
        destination: NicId,
        occasion: Occasion,
    ) -> Option<Hop> {
        if (rung.globals, rung.locals) != (1, 0) {
            return None;
        }
        let draw = self.draw(destination, occasion);
        let drawn = self.drawn_switch(draw);
        let is_near = drawn.group == here.group && drawn.index != here.index;
        is_near.then(|| self.local(at, here, drawn.index, rung, draw))
    }

    /// Returns the link by which a packet leaves a group for another one: one of the current
    /// switch, if it has any, otherwise one of another switch of the group.
    #[inline]
    fn exit(&self, here: Place, to: u32, draw: Draw) -> Exit {
        let links = self.links.between(here.group, to);
        let link = match links.len() {
            1 => links[0],
            _ => {
                let own = own(links, here.index);
                match own.is_empty() {
                    true => {
                        // The switch with the link drawn then draws among its own links.
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

    /// Returns the number of links between two switches of a group.
    #[inline]
    fn local_links(&self, a: u16, b: u16) -> u32 {
        match self.leaves {
            _ if a == b => 0,
            Some(leaves) if (a < leaves) == (b < leaves) => 2,
            _ => 1,
        }
    }

    /// Returns the hop towards another switch of the group: directly, or from leaf to leaf through
    /// a spine, or from spine to spine through a leaf.
    #[inline]
    fn local(&self, at: SwitchId, here: Place, other: u16, rung: Rung, draw: Draw) -> Hop {
        let row = &self.local_ports[at.index() * self.switches..][..self.switches];
        let port = match row[usize::from(other)] {
            NO_CABLE => {
                let (first, end) = self.other_level(here);
                row[first + draw.below(THROUGH, (end - first) as u32) as usize]
            }
            port => port,
        };
        Hop {
            port,
            lane: rung.local,
        }
    }

    /// Returns the switches of the group on the other level: the first, and one past the last.
    #[inline]
    fn other_level(&self, here: Place) -> (usize, usize) {
        let leaves = self.leaves.map_or(self.switches, usize::from);
        match usize::from(here.index) < leaves {
            true => (leaves, self.switches),
            false => (0, leaves),
        }
    }

    /// Returns the hop of the shortest path to another switch.
    #[inline]
    pub(crate) fn minimal(
        &self,
        at: SwitchId,
        here: Place,
        there: Place,
        rung: Rung,
        draw: Draw,
    ) -> Hop {
        match here.group == there.group {
            true => self.local(at, here, there.index, rung, draw),
            false => self.leave(at, here, self.exit(here, there.group, draw), rung, draw),
        }
    }

    pub(crate) fn place(&self, at: SwitchId) -> Place {
        self.places[at.index()]
    }

    /// Returns the ports of a switch to each switch of its group; it has none to itself.
    pub(crate) fn cabled(&self, at: SwitchId) -> &[Port] {
        &self.local_ports[at.index() * self.switches..][..self.switches]
    }

    /// Returns the ports of a switch to other groups, if a packet may take any of them.
    pub(crate) fn global_ports(&self, at: SwitchId) -> &[Port] {
        &self.global_ports[at.index()]
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Returns the hop towards the link by which a packet leaves its group.
    #[inline]
    fn leave(&self, at: SwitchId, here: Place, exit: Exit, rung: Rung, draw: Draw) -> Hop {
        match exit.link.switch == here.index {
            true => Hop {
                port: exit.link.port,
                lane: rung.global,
            },
            false => self.local(at, here, exit.link.switch, rung, draw),
        }
    }

    /// Adds all hops by which a packet may leave for a group; through another switch only if it may
    /// turn.
    pub(crate) fn exits(
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
        for link in usable {
            match link.switch == here.index {
                true => hops.push(Hop {
                    port: link.port,
                    lane: rung.global,
                }),
                false => self.locals(at, here, link.switch, rung, hops),
            }
        }
    }

    /// Adds all hops by which a packet may go to another switch of the group.
    pub(crate) fn locals(
        &self,
        at: SwitchId,
        here: Place,
        other: u16,
        rung: Rung,
        hops: &mut Vec<Hop>,
    ) {
        let row = &self.local_ports[at.index() * self.switches..][..self.switches];
        let lane = rung.local;
        match row[usize::from(other)] {
            NO_CABLE => {
                let (first, end) = self.other_level(here);
                hops.extend(row[first..end].iter().map(|&port| Hop { port, lane }));
            }
            port => hops.push(Hop { port, lane }),
        }
    }

    /// Proves by the ladder; `None` if the fabric is not wired as the plan assumes.
    ///
    /// A packet leaves a group by a link of the current switch, or goes to a switch with such a
    /// link. So it takes no more local links than the ladder has, if every link is where the plan
    /// expects it.
    pub(crate) fn by_ladder(&self, topology: &Topology, lanes: u8) -> Option<u64> {
        let leads = |at: SwitchId, port: Port| match topology.peer(at, port) {
            Peer::Switch(other, _) => Some(self.places[other.index()]),
            _ => None,
        };
        let mut channels = 0;
        for at in topology.switches() {
            let here = self.places[at.index()];
            for (port, _, _) in topology.neighbours(at) {
                channels += 1;
                let is_global = leads(at, port).is_some_and(|there| there.group != here.group);
                let entry = self.entries[self.first_ports[at.index()] as usize + port.index()];
                let is_leaf = self.leaves.is_some_and(|leaves| here.index < leaves);
                let expected = match (is_global, is_leaf) {
                    (true, _) => Entry::Global,
                    (false, true) => Entry::Down,
                    (false, false) => Entry::Local,
                };
                if entry != expected as u8 {
                    return None;
                }
            }
            let row = &self.local_ports[at.index() * self.switches..][..self.switches];
            for (index, &port) in row.iter().enumerate() {
                let index = index as u16;
                let is_cabled = self.local_links(here.index, index) == 1;
                let there = (port != NO_CABLE).then(|| leads(at, port)).flatten();
                let expected = is_cabled.then_some(Place { index, ..here });
                if there != expected {
                    return None;
                }
            }
        }
        let first_of_group = |group: u32| group * self.switches as u32;
        for from in 0..self.groups {
            for to in (0..self.groups).filter(|&to| to != from) {
                let links = self.links.between(from, to);
                let is_sound = |link: &GroupLink| {
                    let at = SwitchId(first_of_group(from) + u32::from(link.switch));
                    let expected = Place {
                        group: to,
                        index: link.to,
                    };
                    leads(at, link.port) == Some(expected)
                };
                if links.is_empty() || !links.iter().all(is_sound) {
                    return None;
                }
            }
        }
        self.climb(lanes).map(|_| channels)
    }

    /// Climbs all paths of this routing; see [`Ladder::climb`].
    pub(crate) fn climb(&self, lanes: u8) -> Option<Climb> {
        let most_globals = match self.detours {
            _ if self.groups < 2 => 0,
            Detours::Never => 1,
            _ => 2,
        };
        self.ladder.climb(most_globals, lanes)
    }
}

impl Route for GroupPlan {
    fn route(&self, lookup: &Lookup, word: &mut u8, view: &dyn QueueView) -> Hop {
        self.route_seeing(lookup, word, &view)
    }

    fn choices(&self, lookup: &Lookup, hops: &mut Vec<Hop>) {
        let (at, destination) = (lookup.at, lookup.destination);
        let target = self.targets[self.by_hosts.of(destination.0) as usize];
        let (here, there) = (self.places[at.index()], self.places[target as usize]);
        let rung = self.rung(lookup);
        if at.0 == target {
            let port = self.host_ports[destination.index()];
            return hops.push(Hop { port, lane: 0 });
        }
        if let Detours::InTransit(rules) = &self.detours {
            return self.choices_in_transit(rules, at, there, rung, hops);
        }
        let first = hops.len();
        let visits_switch = self.intermediate == Intermediate::Switch;
        if visits_switch && (rung.globals, rung.locals) == (1, 0) {
            for index in (0..self.switches as u16).filter(|&index| index != here.index) {
                self.locals(at, here, index, rung, hops);
            }
            if here.group != there.group {
                self.exits(at, here, there.group, rung, true, hops);
            }
            return once_each(hops, first);
        }
        if here.group == there.group {
            return self.locals(at, here, there.index, rung, hops);
        }
        if rung.globals > 0 || self.detours == Detours::Never {
            return self.exits(at, here, there.group, rung, true, hops);
        }
        // A packet that came by a local link was sent here for a link of this switch. The exception
        // is a minimal path with a second decision that continues from here.
        let is_straight = !own(self.links.between(here.group, there.group), here.index).is_empty();
        let is_asked_again = matches!(
            self.detours,
            Detours::Adaptive(Adaptive { asks: Asks::InSourceGroup, .. }) if rung.locals == 1 && is_straight
        );
        let may_turn = rung.locals == 0 || is_asked_again;
        for group in (0..self.groups).filter(|&group| group != here.group) {
            let is_minimal = group == there.group;
            let always = Detours::Always(Intermediate::Group);
            if is_minimal && (self.detours == always || rung.locals > 1) {
                continue;
            }
            self.exits(at, here, group, rung, may_turn, hops);
        }
        once_each(hops, first);
    }

    fn has_choices(&self, _: Facts) -> bool {
        true
    }

    fn representatives(&self, topology: &Topology) -> Vec<NicId> {
        one_per_switch(topology)
    }

    fn by_structure(&self, network: Network<'_>, n_targets: u64, _: u64) -> Option<Verdict> {
        of_large_groups(network, self, n_targets)
    }

    fn announced_every(&self) -> Option<NonZero<u32>> {
        match self.detours {
            Detours::Adaptive(adaptive) => adaptive.announced_every,
            Detours::Never | Detours::Always(_) | Detours::InTransit(_) => None,
        }
    }

    /// A switch announces its global links, to the switches of its group that it is cabled to.
    fn announcements(&self, at: SwitchId) -> Option<Announcements> {
        self.announced_every()?;
        let first = self.first_ports[at.index()] as usize;
        let end = self.first_ports.get(at.index() + 1);
        let entries = &self.entries[first..end.map_or(self.entries.len(), |&end| end as usize)];
        let ports = |wanted: &[Entry]| -> Vec<Port> {
            let all = entries.iter().enumerate();
            let are = all.filter(|&(_, &entry)| wanted.iter().any(|&w| w as u8 == entry));
            are.map(|(port, _)| Port(port as u16)).collect()
        };
        let outputs = ports(&[Entry::Global]);
        let cables = ports(&[Entry::Local, Entry::Down]);
        let is_telling = !outputs.is_empty() && !cables.is_empty();
        is_telling.then_some(Announcements { outputs, cables })
    }

    fn lanes_on(&self, class: &str, lanes: u8) -> Option<u32> {
        let climb = self.climb(lanes)?;
        match class {
            "local" => Some(climb.local),
            "global" => Some(climb.global),
            _ => None,
        }
    }

    /// Uses a lane per position of a path.
    fn for_shared_buffers(&self, facts: Facts) -> Option<Forwarding> {
        let plan = GroupPlan {
            ladder: self.ladder.apart()?,
            ..self.clone()
        };
        let climb = plan.climb(8)?;
        let lanes = u32::BITS - (climb.local | climb.global).leading_zeros();
        let lanes = lanes.max(1) as u8;
        Some(Forwarding::new(
            Plan::Groups(plan),
            Facts { lanes, ..facts },
        ))
    }
}

impl RouteSeeing for GroupPlan {
    /// Not inlined, so that [`Forwarding::route_seeing`] stays small.
    #[inline(never)]
    fn route_seeing<V: QueueView>(&self, lookup: &Lookup, word: &mut u8, view: &V) -> Hop {
        let (at, destination, occasion) = (lookup.at, lookup.destination, lookup.occasion);
        let target = self.targets[self.by_hosts.of(destination.0) as usize];
        let (here, there) = (self.places[at.index()], self.places[target as usize]);
        if at.0 == target {
            let port = self.host_ports[destination.index()];
            return Hop { port, lane: 0 };
        }
        if let Detours::InTransit(rules) = &self.detours {
            let rung = self.rung(lookup);
            return self.route_in_transit(rules, lookup, there, rung, view);
        }
        if self.intermediate == Intermediate::Switch {
            let rung = self.rung(lookup);
            if let Some(hop) = self.to_drawn_switch(at, here, rung, destination, occasion) {
                return hop;
            }
        }
        if here.group == there.group {
            let rung = self.rung(lookup);
            let draw = match self.leaves {
                Some(leaves) if here.index < leaves => self.draw(destination, occasion),
                _ => Draw([0; 4]),
            };
            return self.local(at, here, there.index, rung, draw);
        }
        let rung = self.rung(lookup);
        let is_source = rung.globals == 0;
        let needs_draw = self.has_trunks
            || self.leaves.is_some()
            || (is_source && self.detours != Detours::Never);
        let draw = match needs_draw {
            true => self.draw(destination, occasion),
            false => Draw([0; 4]),
        };
        let straight = || self.exit(here, there.group, draw);
        if !is_source || self.detours == Detours::Never {
            return self.leave(at, here, straight(), rung, draw);
        }
        let middle = self.intermediate(here.group, there.group, draw);
        let aside = || self.exit(here, middle, draw);
        let Detours::Adaptive(adaptive) = self.detours else {
            return self.leave(at, here, aside(), rung, draw);
        };
        if *word == ON_DETOUR {
            return self.leave(at, here, aside(), rung, draw);
        }
        let straight = straight();
        let minimal = self.leave(at, here, straight, rung, draw);
        let is_asked =
            rung.locals == 0 || (adaptive.asks == Asks::InSourceGroup && rung.locals == 1);
        if !is_asked {
            return minimal;
        }
        let aside = aside();
        let other = self.leave(at, here, aside, rung, draw);
        let links = straight.hops + self.local_links(straight.link.to, there.index);
        let arrival = Place {
            group: middle,
            index: aside.link.to,
        };
        let second = self.exit(arrival, there.group, draw);
        let other_links = aside.hops + second.hops + self.local_links(second.link.to, there.index);
        let is_told = adaptive.announced_every.is_some();
        let cost = |hop: Hop, exit: Exit, links: u32| {
            let mut waiting = view.queued(hop.port);
            if is_told && exit.link.switch != here.index {
                waiting += view.announced(hop.port, exit.link.port);
            }
            u64::from(waiting) * u64::from(links)
        };
        let is_longer = cost(minimal, straight, links)
            > cost(other, aside, other_links) + u64::from(adaptive.threshold);
        *word = if is_longer { ON_DETOUR } else { 0 };
        if is_longer { other } else { minimal }
    }
}

/// Sorts and deduplicates the hops of a list from index `first` on.
pub(crate) fn once_each(hops: &mut Vec<Hop>, first: usize) {
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

/// Returns the links of a list that belong to a switch.
#[inline]
fn own(links: &[GroupLink], switch: u16) -> &[GroupLink] {
    let first = links.partition_point(|link| link.switch < switch);
    let end = first + links[first..].partition_point(|link| link.switch == switch);
    &links[first..end]
}

#[cfg(test)]
mod tests {
    use netloom_topology::{Arrangement, Blueprint, Dragonfly, Megafly, Placement};

    use super::*;
    use crate::{Minimal, ParUgal, Routing, Valiant};

    fn fabrics() -> Vec<Arc<Topology>> {
        let mut all = vec![];
        for groups in [None, Some(1), Some(2), Some(4)] {
            let dragonfly = Dragonfly {
                hosts: 2,
                switches: 4,
                globals: 2,
                groups,
                arrangement: Arrangement::Circulant,
                ports: Some(9),
                placement: Placement::Random,
            };
            let megafly = Megafly {
                hosts: 2,
                leaves: 3,
                spines: 2,
                globals: 2,
                groups,
                arrangement: Arrangement::Random,
            };
            all.push(Arc::new(dragonfly.build(3).unwrap()));
            all.push(Arc::new(megafly.build(3).unwrap()));
        }
        all
    }

    fn plan(forwarding: &Forwarding) -> &GroupPlan {
        match &forwarding.plan {
            Plan::Groups(plan) => plan,
            _ => panic!("a plan over groups"),
        }
    }

    /// Fabrics small enough to be enumerated are also proved by their ladder.
    #[test]
    fn the_ladder_proves_what_enumeration_proves() {
        let mut proved = 0;
        for topology in fabrics() {
            let valiant = [
                Intermediate::Group,
                Intermediate::AnyGroup,
                Intermediate::Switch,
            ]
            .map(|intermediate| Valiant { intermediate });
            let par_ugal = ParUgal { threshold: 24 };
            let mut routings: Vec<&dyn Routing> = vec![&Minimal {}, &par_ugal];
            routings.extend(valiant.iter().map(|it| it as &dyn Routing));
            for routing in routings {
                let Ok(forwarding) = routing.compile(&topology, 1) else {
                    assert!(matches!(topology.structure(), Structure::Megafly(_)));
                    continue;
                };
                let lanes = forwarding.lanes();
                let links: usize = topology
                    .switches()
                    .map(|s| topology.neighbours(s).count())
                    .sum();
                let by_ladder = plan(&forwarding).by_ladder(&topology, lanes);
                assert_eq!(
                    by_ladder,
                    Some(links as u64),
                    "{}",
                    topology.structure().words()
                );
                let most = if plan(&forwarding).detours == Detours::Never {
                    lanes
                } else {
                    5.min(lanes)
                };
                assert_eq!(plan(&forwarding).by_ladder(&topology, most - 1), None);
                proved += 1;
            }
        }
        assert!(proved > 20);
    }

    #[test]
    fn a_plan_that_is_not_wired_so_is_not_proved() {
        for topology in fabrics().into_iter().take(2) {
            let valiant = Valiant {
                intermediate: Intermediate::Group,
            };
            let forwarding = valiant.compile(&topology, 1).unwrap();
            let sound = plan(&forwarding);
            let breakages: [fn(&mut GroupPlan); 4] = [
                |plan| {
                    let first = plan
                        .local_ports
                        .iter()
                        .position(|&p| p != NO_CABLE)
                        .unwrap();
                    plan.local_ports[first] = plan.host_ports[0];
                },
                |plan| {
                    let local = plan
                        .entries
                        .iter()
                        .position(|&e| e == Entry::Local as u8)
                        .unwrap();
                    plan.entries[local] = Entry::Global as u8;
                },
                |plan| plan.places.swap(0, 1),
                |plan| plan.ladder = Ladder::new(Ways::Turning),
            ];
            for (i, breakage) in breakages.into_iter().enumerate() {
                let mut broken = sound.clone();
                breakage(&mut broken);
                assert_eq!(broken.by_ladder(&topology, 3), None, "breakage {i}");
            }
        }
    }
}

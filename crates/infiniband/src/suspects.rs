//! Suspected faults of a subnet: missing or slow cables, and hosts with the same name.
//!
//! These are guesses, since a subnet does not describe its intended shape. What most switches of a
//! level or most cables of a kind have counts as intended. If fewer than half agree, nothing is
//! reported.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::routes::Names;
use crate::{Cable, Node, NodeId, Speed, Subnet, Width};

/// One suspected fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Suspect {
    /// A cable between two switches that their peers have.
    MissingCable {
        /// The switch nearer to the hosts, and its port if the peers show which one it is.
        lower: (NodeId, Option<u8>),
        upper: (NodeId, Option<u8>),
    },
    /// A switch with fewer cables to the next level than its peers, where no switch of that level
    /// lacks one too.
    FewCables {
        switch: NodeId,
        /// Whether the cables lead away from the hosts.
        is_up: bool,
        /// Number of cables.
        found: usize,
        /// Number of cables of most peers.
        usual: usize,
    },
    /// A cable that is slower than most of its kind.
    SlowCable {
        /// Both ends of the cable.
        ends: [(NodeId, u8); 2],
        found: (Speed, Width),
        /// Speed and width of most cables of this kind.
        usual: (Speed, Width),
    },
    /// Hosts with the same description, which may be empty.
    OneName(Vec<NodeId>),
}

/// Ports of a switch to each neighbour one level away.
type Cables = BTreeMap<(NodeId, NodeId), Vec<u8>>;

/// Returns the most common value (the larger one of a tie), and how its count compares with half of
/// all values.
fn most_common<T: Copy + Ord>(values: impl IntoIterator<Item = T>) -> Option<(T, Ordering)> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    let mut n = 0;
    for value in values {
        *counts.entry(value).or_default() += 1;
        n += 1;
    }
    let (value, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    Some((value, (2 * count).cmp(&n)))
}

/// Returns the value of more than half, if there is one.
fn usual<T: Copy + Ord>(values: impl IntoIterator<Item = T>) -> Option<T> {
    let (value, half) = most_common(values)?;
    (half == Ordering::Greater).then_some(value)
}

/// Returns all suspected faults, ordered by kind and node.
pub fn suspects(subnet: &Subnet) -> Vec<Suspect> {
    let levels = levels(subnet);
    let mut found = missing_cables(subnet, &levels);
    found.extend(slow_cables(subnet, &levels));
    found.extend(shared_names(subnet));
    found
}

fn node(subnet: &Subnet, id: NodeId) -> &Node {
    &subnet.nodes[id.index()]
}

fn ids(subnet: &Subnet) -> impl Iterator<Item = NodeId> + use<> {
    (0..subnet.nodes.len() as u32).map(NodeId)
}

/// Returns the cables of a node with their port numbers.
fn cables(subnet: &Subnet, id: NodeId) -> impl Iterator<Item = (u8, Cable)> + '_ {
    let ports = (0..).zip(&node(subnet, id).ports);
    ports.filter_map(|(number, port)| Some((number, port.cable?)))
}

/// Returns the distance of each switch from the nearest switch with hosts, in cables.
fn levels(subnet: &Subnet) -> Vec<Option<u16>> {
    let mut levels = vec![None; subnet.nodes.len()];
    let has_hosts = |id: &NodeId| {
        let mut cables = cables(subnet, *id);
        node(subnet, *id).kind.is_switch()
            && cables.any(|(_, cable)| node(subnet, cable.node).is_host())
    };
    let mut edge: Vec<NodeId> = ids(subnet).filter(has_hosts).collect();
    let mut level = 0;
    while !edge.is_empty() {
        let mut next = vec![];
        for id in edge.drain(..) {
            if levels[id.index()].replace(level).is_some() {
                continue;
            }
            let around = cables(subnet, id).map(|(_, cable)| cable.node);
            next.extend(around.filter(|there| {
                node(subnet, *there).kind.is_switch() && levels[there.index()].is_none()
            }));
        }
        edge = next;
        edge.retain(|id| levels[id.index()].is_none());
        level += 1;
    }
    levels
}

/// Returns the cables that switches of a tree lack, level by level.
fn missing_cables(subnet: &Subnet, levels: &[Option<u16>]) -> Vec<Suspect> {
    let top = levels.iter().flatten().max().copied().unwrap_or(0);
    let of_level = |level: u16| -> Vec<NodeId> {
        ids(subnet)
            .filter(|id| levels[id.index()] == Some(level))
            .collect()
    };
    let mut found = vec![];
    for level in 0..top {
        let (lower, upper) = (of_level(level), of_level(level + 1));
        let between = |from: &[NodeId], to: u16| -> Cables {
            let mut ports = Cables::new();
            for id in from {
                for (number, cable) in cables(subnet, *id) {
                    if levels[cable.node.index()] == Some(to) {
                        ports.entry((*id, cable.node)).or_default().push(number);
                    }
                }
            }
            ports
        };
        let up = Side::of(&lower, between(&lower, level + 1));
        let down = Side::of(&upper, between(&upper, level));
        if let (Some(up), Some(down)) = (up, down) {
            found.extend(between_levels(subnet, up, down));
        }
    }
    found
}

/// The switches of one level and their cables to the next.
struct Side {
    ports: Cables,
    /// Number of cables of most switches.
    usual: usize,
    /// Switches with fewer cables, and how many they lack.
    lacking: BTreeMap<NodeId, usize>,
}

impl Side {
    /// Returns `None` if the switches of the level have no usual number of cables.
    fn of(switches: &[NodeId], ports: Cables) -> Option<Side> {
        let mut counts: BTreeMap<NodeId, usize> = switches.iter().map(|id| (*id, 0)).collect();
        for ((from, _), own) in &ports {
            *counts.entry(*from).or_default() += own.len();
        }
        // Cables get lost but are not added, so the larger number wins a tie.
        let (usual, half) = most_common(counts.values().copied())?;
        if half == Ordering::Less {
            return None;
        }
        let lacking = counts.iter().filter(|(_, n)| **n < usual);
        let lacking = lacking.map(|(id, n)| (*id, usual - n)).collect();
        Some(Side {
            ports,
            usual,
            lacking,
        })
    }

    fn neighbours(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let all = (from, NodeId(0))..=(from, NodeId(u32::MAX));
        self.ports.range(all).map(|((_, to), _)| *to)
    }

    /// Returns the free port at which the peers have their cable to a switch.
    fn port(&self, subnet: &Subnet, from: NodeId, to: NodeId, peers: &[NodeId]) -> Option<u8> {
        let of_peers = peers.iter().filter_map(|peer| self.ports.get(&(*peer, to)));
        let port = usual(of_peers.flatten().copied())?;
        let own = node(subnet, from).ports.get(usize::from(port))?;
        own.cable.is_none().then_some(port)
    }
}

fn between_levels(subnet: &Subnet, mut up: Side, mut down: Side) -> Vec<Suspect> {
    let mut found = vec![];
    let Some(per_pair) = usual(up.ports.values().map(Vec::len)) else {
        return found;
    };
    for lower in up.lacking.keys().copied().collect::<Vec<_>>() {
        // Peers share a neighbour with `lower`; expected are the switches that peers connect to.
        let through = up.neighbours(lower).collect::<Vec<_>>();
        let peers: BTreeSet<NodeId> = through.iter().flat_map(|id| down.neighbours(*id)).collect();
        let peers: Vec<NodeId> = peers.into_iter().filter(|peer| *peer != lower).collect();
        let expected: BTreeSet<NodeId> = peers.iter().flat_map(|id| up.neighbours(*id)).collect();
        for upper in expected {
            let has = up.ports.get(&(lower, upper)).map_or(0, Vec::len);
            let lacks = |side: &Side, id: NodeId| side.lacking.get(&id).copied().unwrap_or(0);
            let n = per_pair.saturating_sub(has);
            let n = n.min(lacks(&up, lower)).min(lacks(&down, upper));
            for _ in 0..n {
                let one = n == 1 && per_pair == 1;
                let at_lower = one.then(|| up.port(subnet, lower, upper, &peers)).flatten();
                let at_upper = one
                    .then(|| down.port(subnet, upper, lower, &through))
                    .flatten();
                found.push(Suspect::MissingCable {
                    lower: (lower, at_lower),
                    upper: (upper, at_upper),
                });
            }
            for (side, id) in [(&mut up, lower), (&mut down, upper)] {
                if let Some(lacking) = side.lacking.get_mut(&id) {
                    *lacking -= n;
                }
            }
        }
    }
    for (side, is_up) in [(&up, true), (&down, false)] {
        for (switch, _) in side.lacking.iter().filter(|(_, lacking)| **lacking > 0) {
            let of_switch = side.ports.iter().filter(|((from, _), _)| from == switch);
            found.push(Suspect::FewCables {
                switch: *switch,
                is_up,
                found: of_switch.map(|(_, ports)| ports.len()).sum(),
                usual: side.usual,
            });
        }
    }
    found
}

/// Cables are compared within a kind: those of hosts, and those between the same two levels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Hosts,
    Levels(Option<u16>, Option<u16>),
}

fn slow_cables(subnet: &Subnet, levels: &[Option<u16>]) -> Vec<Suspect> {
    /// Both ends of a cable, its speed and its width.
    type Rated = ([(NodeId, u8); 2], (Speed, Width));
    let mut kinds: BTreeMap<Kind, Vec<Rated>> = BTreeMap::new();
    for id in ids(subnet) {
        for (number, cable) in cables(subnet, id) {
            let (here, there) = (node(subnet, id), node(subnet, cable.node));
            let kind = match (here.kind.is_switch(), there.kind.is_switch()) {
                (true, true) => {
                    let (a, b) = (levels[id.index()], levels[cable.node.index()]);
                    Kind::Levels(a.min(b), a.max(b))
                }
                _ if here.is_host() || there.is_host() => Kind::Hosts,
                _ => continue,
            };
            let ends = [(id, number), (cable.node, cable.port)];
            // Counts each cable once, from its switch to its host.
            let is_first = match kind {
                Kind::Hosts => here.kind.is_switch(),
                Kind::Levels(..) => ends[0] < ends[1],
            };
            if let Some(rate) = cable.speed.zip(cable.width).filter(|_| is_first) {
                kinds.entry(kind).or_default().push((ends, rate));
            }
        }
    }
    let rate = |(speed, width): (Speed, Width)| speed.rate(width);
    let mut found = vec![];
    for cables in kinds.into_values() {
        let Some(usual) = usual(cables.iter().map(|(_, rate)| *rate)) else {
            continue;
        };
        let slow = cables
            .into_iter()
            .filter(|(_, own)| rate(*own) < rate(usual));
        found.extend(slow.map(|(ends, found)| Suspect::SlowCable { ends, found, usual }));
    }
    // Narrow cables come first: lost width points to damage, lost speed to old parts.
    found.sort_by_key(|suspect| match suspect {
        Suspect::SlowCable { found, usual, .. } => found.1 >= usual.1,
        _ => false,
    });
    found
}

fn shared_names(subnet: &Subnet) -> Vec<Suspect> {
    let mut names: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
    for id in ids(subnet).filter(|id| node(subnet, *id).is_host()) {
        names
            .entry(node(subnet, id).description.as_str())
            .or_default()
            .push(id);
    }
    let shared = names.into_iter();
    let shared = shared.filter(|(name, hosts)| hosts.len() > 1 || name.is_empty());
    shared.map(|(_, hosts)| Suspect::OneName(hosts)).collect()
}

/// Maximum number of hosts printed per name.
const HOSTS_SHOWN: usize = 8;

impl Suspect {
    /// Returns the message, with the names of both ends.
    pub fn words(&self, subnet: &Subnet, names: &Names<'_>) -> String {
        let port = |(id, port): (NodeId, u8)| names.port(subnet.port_name(id, port));
        let end = |(id, number): (NodeId, Option<u8>)| match number {
            Some(number) => port((id, number)),
            None => node_name(subnet, id),
        };
        match self {
            Suspect::MissingCable { lower, upper } => {
                format!("missing cable: {} to {}", end(*lower), end(*upper))
            }
            Suspect::FewCables {
                switch,
                is_up,
                found,
                usual,
            } => {
                let away = if *is_up { "away from" } else { "towards" };
                format!(
                    "missing cables: {} has {found} {away} the hosts, most of its peers have \
                     {usual}",
                    node_name(subnet, *switch)
                )
            }
            Suspect::SlowCable { ends, found, usual } => {
                let rate = |(speed, width): &(Speed, Width)| format!("{speed} x{}", width.lanes());
                let [from, to] = ends.map(port);
                let what = if found.1 < usual.1 { "narrow" } else { "slow" };
                format!(
                    "{what} cable: {from} to {to} is {}, most are {}",
                    rate(found),
                    rate(usual)
                )
            }
            Suspect::OneName(hosts) => {
                let place = |id: &NodeId| {
                    let guid = node(subnet, *id).guid;
                    match cables(subnet, *id).next() {
                        Some((_, cable)) => format!("{guid} at {}", port((cable.node, cable.port))),
                        None => guid.to_string(),
                    }
                };
                let mut places: Vec<String> = hosts.iter().take(HOSTS_SHOWN).map(place).collect();
                if let Some(more @ 1..) = hosts.len().checked_sub(HOSTS_SHOWN) {
                    places.push(format!("and {more} more"));
                }
                let name = &node(subnet, hosts[0]).description;
                let what = match (name.is_empty(), hosts.len()) {
                    (true, 1) => "host without a name".to_owned(),
                    (true, n) => format!("{n} hosts without a name"),
                    (false, n) => format!("{n} hosts named \"{name}\""),
                };
                format!("{what}: {}", places.join(", "))
            }
        }
    }
}

fn node_name(subnet: &Subnet, id: NodeId) -> String {
    let node = node(subnet, id);
    match node.description.is_empty() {
        true => node.guid.to_string(),
        false => node.description.clone(),
    }
}

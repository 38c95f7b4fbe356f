//! Fat trees: up to a common ancestor, then down, by arithmetic.
//!
//! The NICs below a switch are a contiguous range (see [`Pgft`]), so one subtraction and one
//! comparison decide whether a destination is below. Downwards, the child is the offset in the
//! range divided by the NICs of a child. Upwards, the destination determines the port (DET,
//! D-Mod-K), or it is drawn (random-up); `ecmp.rs` chooses among all. If cables are missing,
//! exceptions list the live ports (`damaged.rs`).

use std::borrow::Cow;
use std::hint::select_unpredictable;
use std::sync::Arc;

use netloom_catalog::{Described, params};
use netloom_random::{Purpose, Stream};
use netloom_topology::{Pgft, Structure, Topology};
use netloom_units::{NicId, Port, SwitchId};

use crate::damaged::DamagedPlan;
use crate::deadlock::{Network, Verdict, of_large_tree};
use crate::divisor::Divisor;
use crate::forwarding::Plan;
use crate::route::RouteSeeing;
use crate::{Facts, Forwarding, Hop, Lookup, Occasion, QueueView, Route, Routing};

params! {
    /// DET on k-ary n-trees: up by the digit of the destination that belongs to the stage.
    #[derive(Clone, Debug)]
    pub struct Det {}
}

params! {
    /// D-Mod-K on generalised fat trees: up by the destination's number divided by the switches of
    /// the level that share their NICs, modulo the up ports. Parallel cables, up and down, are
    /// chosen by the same number.
    #[derive(Clone, Debug)]
    pub struct DModK {}
}

params! {
    /// A random up port at every hop up to the nearest common ancestor, then down.
    #[derive(Clone, Debug)]
    pub struct RandomUp {
        /// Climb to a root even if a common ancestor comes earlier.
        pub to_root: bool = false,
    }
}

impl Routing for Det {
    fn compile(&self, topology: &Arc<Topology>, _seed: u64) -> Result<Forwarding, String> {
        let tree = tree_of("det", topology)?;
        if !tree.is_k_ary_n_tree() {
            return Err(format!(
                "routing det requires a k-ary n-tree, found {tree}; use d-mod-k on other fat trees"
            ));
        }
        // D-Mod-K on a k-ary n-tree is DET: floor(d / k^s) mod k is digit s of d.
        TreePlan::compile(&tree, topology, Ascent::ByDestination, false)
    }
}

impl Routing for DModK {
    fn compile(&self, topology: &Arc<Topology>, _seed: u64) -> Result<Forwarding, String> {
        let tree = tree_of("d-mod-k", topology)?;
        TreePlan::compile(&tree, topology, Ascent::ByDestination, false)
    }
}

impl Routing for RandomUp {
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        let tree = tree_of("random-up", topology)?;
        let stream = Stream::new(seed, Purpose::Routing);
        TreePlan::compile(&tree, topology, Ascent::Random(stream), self.to_root)
    }
}

/// Returns the shape of a fat tree, also if the fabric was read as a graph.
pub(crate) fn tree_of<'a>(name: &str, topology: &'a Topology) -> Result<Cow<'a, Pgft>, String> {
    match topology.structure() {
        Structure::Tree(tree) => Ok(Cow::Borrowed(tree)),
        Structure::Plain => Pgft::recognise(topology).map(Cow::Owned).map_err(|why| {
            format!("routing {name} requires a fat tree, and this fabric is not one: {why}")
        }),
        other => Err(format!(
            "routing {name} requires a fat tree, found {}",
            other.fabric()
        )),
    }
}

impl Described for Det {
    const NAME: &'static str = "det";
    const SUMMARY: &'static str =
        "Deterministic and balanced on k-ary n-trees: every down link carries one destination.";
    const PAPER: Option<&'static str> = Some(
        "C. Gomez et al., \"Deterministic versus adaptive routing in fat-trees\", CAC (IPDPS) 2007",
    );
    const EXAMPLE: &'static str = "";
}

impl Described for DModK {
    const NAME: &'static str = "d-mod-k";
    const SUMMARY: &'static str =
        "Deterministic on fat trees: the destination modulo the up ports, level by level.";
    const PAPER: Option<&'static str> = Some(
        "E. Zahavi, \"D-Mod-K routing providing non-blocking traffic for shift permutations on \
         real life \
         fat trees\", 2010",
    );
    const EXAMPLE: &'static str = "";
}

impl Described for RandomUp {
    const NAME: &'static str = "random-up";
    const SUMMARY: &'static str = "A random up port at every hop up, then down (Valiant on trees).";
    const PAPER: Option<&'static str> = Some(
        "L. Valiant, \"A scheme for fast parallel communication\", SIAM J. Computing 11, 1982",
    );
    const EXAMPLE: &'static str = "to-root = false";
}

#[derive(Clone, Copy, Debug)]
enum Ascent {
    ByDestination,
    Random(Stream),
}

/// The constants of a level.
#[derive(Clone, Debug)]
struct Level {
    /// NICs below a switch.
    nics: u32,
    /// Divides by the NICs below a child.
    child: Divisor,
    /// Number of down ports; also the first up port.
    n_down: u32,
    n_up: u32,
    /// Divides by the number of up ports.
    up: Divisor,
    /// Divides by the switches of this level that share their NICs.
    siblings: Divisor,
    /// The choice among parallel cables downwards.
    parallel: Parallel,
}

/// The choice among the parallel cables to a child: the one that the child would use upwards.
#[derive(Clone, Copy, Debug)]
struct Parallel {
    siblings_of_child: Divisor,
    up_of_child: (Divisor, u32),
    parents_of_child: Divisor,
    children: u32,
    /// Cables to a child.
    cables: u32,
}

#[derive(Clone, Copy, Debug)]
struct Switch {
    first_nic: u32,
    level: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct TreePlan {
    levels: Vec<Level>,
    switches: Vec<Switch>,
    ascent: Ascent,
    to_root: bool,
    /// Whether any level has parallel cables.
    has_parallel: bool,
}

/// The ports that lead on from a switch: one, all up ports, or all cables to a child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways {
    first: u32,
    /// Number of ports, at least one.
    pub(crate) n: u32,
    /// Distance from one port to the next.
    step: u32,
}

impl Ways {
    #[inline]
    pub(crate) fn hop(self, i: u32) -> Hop {
        Hop {
            port: Port((self.first + i * self.step) as u16),
            lane: 0,
        }
    }
}

impl TreePlan {
    fn compile(
        tree: &Pgft,
        topology: &Topology,
        ascent: Ascent,
        to_root: bool,
    ) -> Result<Forwarding, String> {
        let plan = TreePlan::new(tree, ascent, to_root);
        let is_random =
            matches!(ascent, Ascent::Random(_)) && plan.levels.iter().any(|l| l.n_up > 1);
        let facts = Facts {
            keeps_order: !is_random,
            needs_occasion: is_random,
            lanes: 1,
            claims_no_deadlock: true,
            adaptive: false,
        };
        let plan = match DamagedPlan::of(tree, topology, &plan, None)? {
            Some(damaged) => Plan::Damaged(damaged),
            None => Plan::Tree(plan),
        };
        Ok(Forwarding::new(plan, facts))
    }

    /// Creates the plan of D-Mod-K.
    pub(crate) fn by_destination(tree: &Pgft) -> Self {
        TreePlan::new(tree, Ascent::ByDestination, false)
    }

    fn new(tree: &Pgft, ascent: Ascent, to_root: bool) -> Self {
        let first = tree.first_switches();
        let mut levels = vec![];
        let mut switches = vec![];
        for level in 1..=tree.levels() {
            let siblings = tree.siblings(level) as u32;
            let below = level - 1;
            let n_up = tree.n_up(level);
            levels.push(Level {
                nics: tree.nics_below(level) as u32,
                child: Divisor::new(tree.nics_below(below) as u32),
                n_down: tree.n_down(level),
                n_up,
                up: Divisor::new(n_up.max(1)),
                siblings: Divisor::new(siblings),
                parallel: Parallel {
                    siblings_of_child: Divisor::new(tree.siblings(below) as u32),
                    up_of_child: {
                        let n_up = tree.w[below] * tree.p[below];
                        (Divisor::new(n_up), n_up)
                    },
                    parents_of_child: Divisor::new(tree.w[below]),
                    children: tree.m[below],
                    cables: tree.p[below],
                },
            });
            for index in 0..first[level] - first[below] {
                switches.push(Switch {
                    first_nic: index / siblings * tree.nics_below(level) as u32,
                    level: below as u32,
                });
            }
        }
        TreePlan {
            levels,
            switches,
            ascent,
            to_root,
            has_parallel: tree.p.iter().any(|&p| p > 1),
        }
    }

    /// Returns the hop if it depends only on the destination and a child has one cable.
    #[inline(always)]
    pub(crate) fn route_by_destination(&self, lookup: &Lookup) -> Option<Hop> {
        let (at, destination) = (lookup.at, lookup.destination);
        if self.has_parallel || !matches!(self.ascent, Ascent::ByDestination) {
            return None;
        }
        let switch = self.switches[at.index()];
        let level = &self.levels[switch.level as usize];
        let offset = destination.0.wrapping_sub(switch.first_nic);
        // Up and down are equally likely, so computing both costs less than a mispredicted branch.
        let up = digit(destination.0, level.siblings, level.up, level.n_up);
        let down = level.child.of(offset);
        let port = select_unpredictable(offset < level.nics, down, level.n_down.wrapping_add(up));
        Some(Hop {
            port: Port(port as u16),
            lane: 0,
        })
    }

    /// Returns the down port; meaningless if the destination is not below.
    #[inline]
    fn down(&self, level: &Level, offset: u32, destination: NicId) -> u32 {
        let child = level.child.of(offset);
        if !self.has_parallel {
            return child;
        }
        let parallel = &level.parallel;
        let (by_up, n_up) = parallel.up_of_child;
        let up = digit(destination.0, parallel.siblings_of_child, by_up, n_up);
        child.wrapping_add(parallel.parents_of_child.of(up) * parallel.children)
    }

    /// Whether a packet whose destination is below still climbs, to a root.
    #[inline]
    pub(crate) fn climbs_on(&self, at: SwitchId, from: Port, destination: NicId) -> bool {
        if !self.to_root {
            return false;
        }
        let switch = self.switches[at.index()];
        let level = &self.levels[switch.level as usize];
        destination.0.wrapping_sub(switch.first_nic) < level.nics && climbs(level, from)
    }

    /// Returns the port down to a destination that is below.
    pub(crate) fn descent(&self, at: SwitchId, destination: NicId) -> Port {
        let switch = self.switches[at.index()];
        let level = &self.levels[switch.level as usize];
        let offset = destination.0.wrapping_sub(switch.first_nic);
        Port(self.down(level, offset, destination) as u16)
    }

    /// Whether a port is one of those that packets take at random.
    pub(crate) fn draws_at(&self, at: SwitchId, port: Port) -> bool {
        matches!(self.ascent, Ascent::Random(_)) && port >= self.first_up(at)
    }

    /// Returns one of `n` at random, if the ascent is random.
    pub(crate) fn draw(&self, occasion: Occasion, n: u32) -> u32 {
        match &self.ascent {
            Ascent::Random(stream) => draw(stream, occasion, n),
            Ascent::ByDestination => 0,
        }
    }

    /// Returns the port by destination if only some of all ports up, or of all cables down to the
    /// child, are live. It is the usual port if that is live. The destinations of dead ports are
    /// distributed over the live ones.
    pub(crate) fn among(&self, at: SwitchId, destination: NicId, live: &[Port]) -> Port {
        let switch = self.switches[at.index()];
        let level = &self.levels[switch.level as usize];
        let offset = destination.0.wrapping_sub(switch.first_nic);
        let (first, step, port, turn) = match offset < level.nics {
            true => {
                let (by_up, _) = level.parallel.up_of_child;
                let turn = by_up.of(level.parallel.siblings_of_child.of(destination.0));
                let port = self.down(level, offset, destination);
                (level.child.of(offset), level.parallel.children, port, turn)
            }
            false => {
                let up = digit(destination.0, level.siblings, level.up, level.n_up);
                let turn = level.up.of(level.siblings.of(destination.0));
                (level.n_down, 1, level.n_down + up, turn)
            }
        };
        let lower = live.partition_point(|own| u32::from(own.0) < port);
        match live.get(lower) {
            Some(own) if u32::from(own.0) == port => *own,
            _ => {
                let nth_dead = (port - first) / step - lower as u32;
                live[(turn + nth_dead) as usize % live.len()]
            }
        }
    }

    /// Returns all ports that lead on by a shortest path, regardless of the ascent of this plan.
    #[inline]
    pub(crate) fn ways(&self, at: SwitchId, destination: NicId) -> Ways {
        let switch = self.switches[at.index()];
        let level = &self.levels[switch.level as usize];
        let offset = destination.0.wrapping_sub(switch.first_nic);
        match offset < level.nics {
            true => Ways {
                first: level.child.of(offset),
                n: level.parallel.cables,
                step: level.parallel.children,
            },
            false => Ways {
                first: level.n_down,
                n: level.n_up,
                step: 1,
            },
        }
    }

    /// Returns the first NIC of every leaf.
    pub(crate) fn one_per_leaf(&self) -> Vec<NicId> {
        self.each(self.levels[0].nics)
    }

    fn each(&self, step: u32) -> Vec<NicId> {
        let roots = self.levels.last().expect("at least one level");
        (0..roots.nics).step_by(step as usize).map(NicId).collect()
    }

    /// Returns the level of a switch, counted from 0, and the range of NICs below it.
    pub(crate) fn range(&self, at: SwitchId) -> (u32, std::ops::Range<u32>) {
        let Switch { first_nic, level } = self.switches[at.index()];
        (
            level,
            first_nic..first_nic + self.levels[level as usize].nics,
        )
    }

    pub(crate) fn first_up(&self, at: SwitchId) -> Port {
        let level = &self.levels[self.switches[at.index()].level as usize];
        Port(level.n_down as u16)
    }

    #[inline]
    pub(crate) fn next_hop(&self, lookup: &Lookup) -> Hop {
        let (from, destination) = (lookup.from, lookup.destination);
        let switch = self.switches[lookup.at.index()];
        let level = &self.levels[switch.level as usize];
        let offset = destination.0.wrapping_sub(switch.first_nic);
        let port = match &self.ascent {
            Ascent::ByDestination => {
                let up = digit(destination.0, level.siblings, level.up, level.n_up);
                let down = self.down(level, offset, destination);
                select_unpredictable(offset < level.nics, down, level.n_down.wrapping_add(up))
            }
            Ascent::Random(stream) => {
                if offset < level.nics && !(self.to_root && climbs(level, from)) {
                    self.down(level, offset, destination)
                } else {
                    level.n_down + draw(stream, lookup.occasion, level.n_up)
                }
            }
        };
        Hop {
            port: Port(port as u16),
            lane: 0,
        }
    }
}

impl Route for TreePlan {
    #[inline(always)]
    fn route(&self, lookup: &Lookup, _: &mut u8, _: &dyn QueueView) -> Hop {
        self.next_hop(lookup)
    }

    fn choices(&self, lookup: &Lookup, hops: &mut Vec<Hop>) {
        let level = &self.levels[self.switches[lookup.at.index()].level as usize];
        let hop = self.next_hop(lookup);
        if matches!(self.ascent, Ascent::ByDestination) || u32::from(hop.port.0) < level.n_down {
            hops.push(hop);
            return;
        }
        let up = (level.n_down..level.n_down + level.n_up).map(|port| Hop {
            port: Port(port as u16),
            lane: 0,
        });
        hops.extend(up);
    }

    fn representatives(&self, _: &Topology) -> Vec<NicId> {
        // With a random ascent, NICs of one leaf differ at most in the parallel cables downwards.
        let is_alike = matches!(self.ascent, Ascent::Random(_)) && !self.has_parallel;
        self.each(if is_alike { self.levels[0].nics } else { 1 })
    }

    fn by_structure(&self, network: Network<'_>, n_targets: u64, _: u64) -> Option<Verdict> {
        of_large_tree(network, self, n_targets)
    }
}

impl RouteSeeing for TreePlan {
    #[inline(always)]
    fn route_seeing<V: QueueView>(&self, lookup: &Lookup, word: &mut u8, view: &V) -> Hop {
        let hop = self.route_by_destination(lookup);
        hop.unwrap_or_else(|| self.route(lookup, word, view))
    }

    /// [`Forwarding::route`] has already tried to route by destination.
    #[inline(always)]
    fn route_unseeing(&self, lookup: &Lookup, _: Facts) -> Hop {
        self.next_hop(lookup)
    }
}

/// Whether a packet on its way to a root keeps climbing.
#[inline]
fn climbs(level: &Level, from: Port) -> bool {
    level.n_up > 0 && u32::from(from.0) < level.n_down
}

/// Returns a random up port. Not inlined, so that the rest of `route` stays small.
#[inline(never)]
fn draw(stream: &Stream, occasion: Occasion, n_up: u32) -> u32 {
    let Occasion {
        source,
        sequence,
        hop,
    } = occasion;
    stream
        .draw([source.0, sequence, u32::from(hop), 0])
        .below(0, n_up)
}

/// Returns `(n / divisor) mod modulus`.
#[inline]
fn digit(n: u32, divisor: Divisor, by_modulus: Divisor, modulus: u32) -> u32 {
    let quotient = divisor.of(n);
    quotient.wrapping_sub(by_modulus.of(quotient).wrapping_mul(modulus))
}

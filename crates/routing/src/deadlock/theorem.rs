//! Theorems that replace the proof of a large fabric. Each one names its premises, and its function
//! checks them: `None` means that a premise does not hold, and then nothing is known.
//!
//! | routing | premises | why there is no cycle |
//! |---|---|---|
//! | fat tree, up/down | wiring of a tree; nothing goes up after it came down | rank: level |
//! | dragonfly, megafly | wiring of groups; lanes give the links so far | rank: links so far |
//! | dimension order | wiring of a grid; no rings, or a rule for them | rank: dimension, position |
//! | up*/down* by tables | one direction per cable; no table leads up after down | rank: order |
//! | direct | every entry leads to the destination switch | no packet waits between switches |

use netloom_topology::{Peer, Topology};
use netloom_units::{NicId, Port};

use super::{Centre, MAX_STEPS, MAX_TURNS, Network, Verdict};
use crate::group_plan::GroupPlan;
use crate::tree::TreePlan;
use crate::{Hop, Lookup};

/// Above this many (switch, destination) pairs, trees are proved by their structure.
const MAX_PAIRS: u64 = 20_000_000;

/// Routings of dragonflies and megaflies have no cycle, because the lane of a link counts the links
/// before it. `None` if the fabric is not wired as the routing expects it, or has too few lanes.
///
/// It is used where all destinations together have many turns.
pub(crate) fn of_large_groups(
    network: Network<'_>,
    plan: &GroupPlan,
    n_targets: u64,
) -> Option<Verdict> {
    let Network {
        topology, centre, ..
    } = network;
    let turns = u64::from(topology.radix()).pow(2) * u64::from(topology.n_switches());
    if turns.saturating_mul(n_targets) <= MAX_TURNS {
        return None;
    }
    let lanes = network.forwarding.lanes();
    // If lanes rise from link to link, sharing a buffer within a lane adds no cycle.
    let stays_apart = || plan.climb(lanes).is_some_and(|climb| climb.lanes_rise);
    if centre.is_some() && !stays_apart() {
        return None;
    }
    Some(Verdict::Free {
        how: format!(
            "{} switches in groups, proved by structure without enumerating destinations: the \
             lane of every link counts the links before it, and every link is where the routing \
             expects it",
            topology.n_switches()
        ),
        channels: plan.by_ladder(topology, lanes)? * u64::from(lanes),
        dependencies: 0,
    })
}

/// Whether no group of ports mixes ports to a higher level with others. Descending packets then
/// never share a central queue with ascending ones, and the ranks of a tree hold through the
/// centre.
fn keeps_directions_apart(topology: &Topology, tree: &TreePlan, centre: Centre) -> bool {
    topology.switches().all(|at| {
        let first_up = tree.first_up(at);
        let n_ports = topology.n_ports(at);
        first_up.0 == 0
            || first_up.0 >= n_ports
            || centre.mport(first_up) != centre.mport(Port(first_up.0 - 1))
    })
}

/// Up/down routing of trees has no cycle, because channels rank up by level, then down by level,
/// and no switch sends a packet up again after it came down. `None` if the fabric is not wired as
/// the arithmetic assumes.
///
/// It is used where following all destinations takes many steps.
pub(crate) fn of_large_tree(
    network: Network<'_>,
    tree: &TreePlan,
    n_targets: u64,
) -> Option<Verdict> {
    let Network {
        topology,
        forwarding,
        centre,
    } = network;
    let pairs = u64::from(topology.n_switches()).saturating_mul(n_targets);
    let fan = match forwarding.needs_occasion() {
        true => u64::from(topology.radix()),
        false => 1,
    };
    let steps = pairs.saturating_mul(u64::from(topology.radix()) * fan);
    if pairs <= MAX_PAIRS && steps <= MAX_STEPS {
        return None;
    }
    if centre.is_some_and(|centre| !keeps_directions_apart(topology, tree, centre)) {
        return None;
    }
    let n_nics = topology.n_nics();
    let mut channels = 0;
    let mut hops = vec![];
    let mut all_choices = |at, from, nic, holds: &dyn Fn(Hop) -> bool| {
        hops.clear();
        forwarding.choices(&Lookup::any(at, from, 0, nic), &mut hops);
        hops.iter().all(|&hop| holds(hop))
    };
    for at in topology.switches() {
        let (level, nics) = tree.range(at);
        let first_up = tree.first_up(at);
        for (port, other, _) in topology.neighbours(at) {
            channels += 1;
            let (level_there, nics_there) = tree.range(other);
            let is_sound = match port < first_up {
                // Down: everything the arithmetic sends there has its destination below and thus
                // continues down.
                true => {
                    let ends = [nics_there.start, nics_there.end - 1].map(NicId);
                    let comes_from_above = first_up.max(Port(topology.n_ports(at) - 1));
                    level_there + 1 == level
                        && nics.start <= nics_there.start
                        && nics_there.end <= nics.end
                        && ends.into_iter().all(|nic| {
                            let leads_there = |hop: Hop| {
                                let leads_to = topology.peer(at, hop.port);
                                matches!(leads_to, Peer::Switch(s, _) if tree.range(s).1 == nics_there)
                            };
                            all_choices(at, comes_from_above, nic, &leads_there)
                        })
                }
                // Up: one level higher, over a range that contains ours.
                false => {
                    level_there == level + 1
                        && nics_there.start <= nics.start
                        && nics.end <= nics_there.end
                }
            };
            if !is_sound {
                return None;
            }
        }
        // A packet goes up only if its destination is not below, or if it came from below.
        let outside = [nics.start.wrapping_sub(1), nics.end];
        let outside = outside.into_iter().filter(|&nic| nic < n_nics).map(NicId);
        for nic in outside {
            if !all_choices(at, Port(0), nic, &|hop| hop.port >= first_up) {
                return None;
            }
        }
    }
    Some(Verdict::Free {
        how: format!(
            "tree of {} switches, proved by structure without enumerating destinations: channels \
             rank up by level, then down by level, and no switch sends a packet up again after it \
             came down",
            topology.n_switches()
        ),
        channels,
        dependencies: 0,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use netloom_topology::{
        Blueprint, Dragonfly, Graph as Listed, Mesh, ParallelFatTree, RandomRegular, Torus,
    };
    use netloom_units::SwitchId;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::*;
    use crate::{
        Choice, DModK, Deadlock, DimensionOrder, Ecmp, Entry, Facts, Forwarding, Minimal, Paths,
        RandomUp, Routing, Shortest, TableBuilder, Tie, Trunk, UpDown, Valiant,
    };

    /// The proof that follows every destination.
    fn explicit(network: Network<'_>) -> Verdict {
        let targets: Vec<NicId> = network.topology.nics().collect();
        network.follow(&targets)
    }

    /// The verdict by structure, as on a large fabric.
    fn by_structure(network: Network<'_>) -> Option<Verdict> {
        network.by_structure(usize::MAX, u64::MAX)
    }

    fn is_free(verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Free { .. })
    }

    /// Every link of a cycle has a packet that holds it and waits for the next.
    fn is_possible(topology: &Topology, forwarding: &Forwarding, verdict: &Verdict) -> bool {
        let Verdict::Cycle(cycle) = verdict else {
            return false;
        };
        let next = cycle.iter().skip(1).chain(&cycle[..1]);
        cycle.iter().zip(next).all(|(held, wanted)| {
            let Peer::Switch(at, from) = topology.peer(held.switch, held.port) else {
                return false;
            };
            let mut hops = vec![];
            for nic in topology.nics() {
                forwarding.choices(&Lookup::any(at, from, held.lane, nic), &mut hops);
            }
            let is_wanted = |hop: &Hop| (hop.port, hop.lane) == (wanted.port, wanted.lane);
            at == wanted.switch && hops.iter().any(is_wanted)
        })
    }

    /// Removes the cables at some ports that lead to switches.
    fn without(topology: &Topology, failed: &[Index]) -> Topology {
        let ports = |at| topology.neighbours(at).map(move |(port, ..)| (at, port));
        let cables: Vec<(SwitchId, Port)> = topology.switches().flat_map(ports).collect();
        match cables.is_empty() {
            true => topology.clone(),
            false => {
                let failed: Vec<_> = failed.iter().map(|i| *i.get(&cables)).collect();
                topology.without(&failed)
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn grids(
            sides in proptest::collection::vec(1u16..7, 1..4), hosts in 1u16..3, trunk in 1u16..3,
            wraps: bool, is_random: bool, failed in proptest::collection::vec(any::<Index>(), 1..3),
            deadlock in select(&[
                Deadlock::Bubble, Deadlock::Dateline, Deadlock::DatelineEntry, Deadlock::Nothing,
            ][..]),
        ) {
            prop_assume!(sides.iter().product::<u16>() <= 60);
            let whole = match wraps {
                true => Torus { sides, hosts, trunk }.build(1).unwrap(),
                false => Mesh { sides, hosts, trunk }.build(1).unwrap(),
            };
            let whole = Arc::new(whole);
            let tie = if is_random { Tie::Random } else { Tie::Positive };
            let order = DimensionOrder { deadlock, tie, trunk: Trunk::Packet };
            let forwarding = order.compile(&whole, 1).unwrap();
            let found = Network::new(&whole, &forwarding, None).theorem().expect("every premise holds");
            let proof = explicit(Network::new(&whole, &forwarding, None));
            prop_assert_eq!(is_free(&found), is_free(&proof), "{} {}", found, proof);
            if let Verdict::Free { channels, .. } = &found {
                let links: usize = whole.switches().map(|at| whole.neighbours(at).count()).sum();
                prop_assert_eq!(*channels, links as u64 * u64::from(forwarding.lanes()));
            } else {
                prop_assert!(is_possible(&whole, &forwarding, &found), "{found}");
            }
            // Neither shared queues nor missing cables nor missing lanes.
            let centre = Some(Centre::of_mports(2, 1));
            prop_assert_eq!(Network::new(&whole, &forwarding, centre).theorem(), None);
            let left = without(&whole, &failed);
            if left != *whole {
                prop_assert_eq!(Network::new(&left, &forwarding, None).theorem(), None);
            }
            if forwarding.lanes() == 2 && is_free(&found) {
                let facts = Facts { lanes: 1, ..forwarding.facts() };
                let narrow = Forwarding::new(forwarding.plan.clone(), facts);
                let has_long_rings = explicit_needs_lanes(&whole);
                prop_assert_eq!(Network::new(&whole, &narrow, None).theorem().is_none(), has_long_rings);
            }
        }

        /// The theorem about tables holds for up*/down* on every fabric, and for none of random
        /// entries that have a cycle.
        #[test]
        fn tables(
            switches in 4u32..10, degree in 2u32..4, hosts in 1u16..3, seed: u64,
            failed in proptest::collection::vec(any::<Index>(), 0..3),
            picks in proptest::collection::vec(any::<Index>(), 64),
        ) {
            prop_assume!(degree < switches && switches * degree % 2 == 0);
            let whole = RandomRegular { switches, degree, hosts }.build(seed).unwrap();
            let topology = Arc::new(without(&whole, &failed));
            let routings: [&dyn Routing; 4] = [
                &UpDown { root: 0, paths: Paths::All },
                &UpDown { root: switches - 1, paths: Paths::One },
                &Shortest { paths: Paths::All },
                &Shortest { paths: Paths::One },
            ];
            for (at, routing) in routings.into_iter().enumerate() {
                let Ok(forwarding) = routing.compile(&topology, 1) else { continue };
                let found = Network::new(&topology, &forwarding, None).theorem();
                let proof = explicit(Network::new(&topology, &forwarding, None));
                prop_assert!(found.is_some() || at >= 2);
                prop_assert!(found.is_none_or(|_| is_free(&proof)), "{proof}");
                // With few steps the verdict is the same, or none.
                for most_steps in [0, 100, 1_000, 100_000] {
                    match Network::new(&topology, &forwarding, None).check_within(most_steps) {
                        Verdict::Unknown { followed, .. } => {
                            prop_assert!(followed < topology.n_nics() as usize);
                        }
                        bounded => prop_assert_eq!(is_free(&bounded), is_free(&proof)),
                    }
                }
            }
            // Two tables of random ports, with the inputs of up*/down*, or others.
            let mut tables = TableBuilder::new(&topology, 2).unwrap();
            let mut picks = picks.iter().cycle();
            for (column, target) in tables.targets().into_iter().enumerate() {
                for (table, at) in (0..2).flat_map(|t| topology.switches().map(move |at| (t, at))) {
                    let is_low = |other: SwitchId| table == 0 || other > at;
                    let ports = topology.neighbours(at).filter(|(_, other, _)| is_low(*other));
                    let ports: Vec<Port> = ports.map(|(port, ..)| port).collect();
                    let entry = match ports.is_empty() || at == target {
                        true => Entry::Deliver,
                        false => Entry::Port(*picks.next().unwrap().get(&ports)),
                    };
                    tables.set(table, at, column, entry);
                }
            }
            let inputs = topology.switches().flat_map(|at| {
                topology.ports(at).map({
                    let topology = topology.clone();
                    move |port| (at, topology.peer(at, port))
                })
            });
            let comes_down = |(at, peer)| matches!(peer, Peer::Switch(other, _) if other < at);
            let mut by_port: Vec<bool> = inputs.map(comes_down).collect();
            let is_broken = picks.next().unwrap().index(2) == 1;
            if is_broken {
                let input = picks.next().unwrap().index(by_port.len());
                by_port[input] = !by_port[input];
            }
            let forwarding = tables.finish(Some(by_port), false);
            let found = Network::new(&topology, &forwarding, None).theorem();
            prop_assert!(is_broken || found.is_some());
            let proof = explicit(Network::new(&topology, &forwarding, None));
            prop_assert!(found.is_none() || is_free(&proof), "{proof}");
        }

        #[test]
        fn trees(
            children in proptest::collection::vec(1u32..4, 2..4),
            parents in proptest::collection::vec(1u32..4, 3), links in 1u32..3,
            failed in proptest::collection::vec(any::<Index>(), 0..4), mport in 1u16..4,
        ) {
            let n = children.len();
            let list = |first: u32, of: &[u32]| [&[first], of].concat()[..n].to_vec();
            let tree = ParallelFatTree {
                parents: list(1, &parents),
                links: list(1, &vec![links; n]),
                children,
            };
            let whole = Arc::new(tree.build(1).unwrap());
            let topology = Arc::new(without(&whole, &failed));
            let routings: [&dyn Routing; 4] = [
                &DModK {},
                &RandomUp { to_root: false },
                &RandomUp { to_root: true },
                &Ecmp { choice: Choice::Hash, granularity: 1 },
            ];
            for routing in routings {
                let Ok(forwarding) = routing.compile(&topology, 1) else { continue };
                for centre in [None, Some(Centre::of_mports(mport, 1))] {
                    let found = by_structure(Network::new(&topology, &forwarding, centre));
                    prop_assert!(found.is_some() || centre.is_some());
                    let proof = explicit(Network::new(&topology, &forwarding, centre));
                    prop_assert!(found.is_none() || is_free(&proof), "{proof}");
                }
                // The routing of the whole tree does not fit what is left of it.
                let unaware = routing.compile(&whole, 1).unwrap();
                if let Some(found) = by_structure(Network::new(&topology, &unaware, None)) {
                    prop_assert!(is_free(&explicit(Network::new(&topology, &unaware, None))), "{found}");
                }
            }
        }

        #[test]
        fn groups(
            hosts in 1u16..3, switches in 2u16..5, globals in 1u16..3, lanes in 1u8..7,
            failed in proptest::collection::vec(any::<Index>(), 1..3), mport in 1u16..4,
        ) {
            let text = format!("hosts = {hosts}\nswitches = {switches}\nglobals = {globals}");
            let whole = Arc::new(read::<Dragonfly>(&text).build(1).unwrap());
            let routings: [&dyn Routing; 2] = [&read::<Minimal>(""), &read::<Valiant>("")];
            for routing in routings {
                let Ok(forwarding) = routing.compile(&whole, 1) else { continue };
                for centre in [None, Some(Centre::of_mports(mport, 1))] {
                    let found = by_structure(Network::new(&whole, &forwarding, centre));
                    let proof = explicit(Network::new(&whole, &forwarding, centre));
                    prop_assert!(found.is_some() || centre.is_some());
                    prop_assert!(found.is_none() || is_free(&proof), "{proof}");
                    let left = without(&whole, &failed);
                    if left != *whole {
                        prop_assert_eq!(by_structure(Network::new(&left, &forwarding, centre)), None);
                    }
                    let facts = Facts { lanes, ..forwarding.facts() };
                    let narrow = Forwarding::new(forwarding.plan.clone(), facts);
                    let found = by_structure(Network::new(&whole, &narrow, centre));
                    prop_assert!(found.is_none() || lanes >= forwarding.lanes());
                }
            }
        }
    }

    /// Whether a torus has a ring on which packets take two links.
    fn explicit_needs_lanes(topology: &Topology) -> bool {
        match topology.structure() {
            netloom_topology::Structure::Grid(grid) => {
                (0..grid.sides.len()).any(|d| grid.is_ring(d) && grid.sides[d] > 3)
            }
            _ => false,
        }
    }

    /// Reads a kind from its keys.
    fn read<T: netloom_catalog::Params>(text: &str) -> T {
        let mut notes = netloom_catalog::Notes::new();
        let document = netloom_catalog::Document::parse("test", text, &mut notes);
        let mut section = netloom_catalog::Section::open(&document.root, &mut notes).unwrap();
        T::read(&mut section).unwrap()
    }

    /// Tables of a graph in which every pair of switches has a cable lead directly.
    #[test]
    fn fully_connected_switches_need_no_other_link() {
        let complete = |missing: bool| {
            let mut text = String::new();
            for at in 0..5 {
                text.push_str(&format!("nic n{at} s{at}\n"));
            }
            for (a, b) in (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b))) {
                if !(missing && (a, b) == (1, 3)) {
                    text.push_str(&format!("link s{a} s{b}\n"));
                }
            }
            let listed = Listed {
                file: None,
                text: Some(text),
            };
            Arc::new(listed.build(1).unwrap())
        };
        let theorem = |topology: Arc<Topology>| {
            let shortest = Shortest { paths: Paths::All };
            let forwarding = shortest.compile(&topology, 1).unwrap();
            Network::new(&topology, &forwarding, None).theorem()
        };
        let found = theorem(complete(false)).unwrap();
        assert!(found.to_string().contains("at most one link"), "{found}");
        assert_eq!(theorem(complete(true)), None);
    }

    /// The routes of columns filled on demand are those of full tables.
    #[test]
    fn columns_on_demand_are_those_of_the_tables() {
        use crate::columns::on_demand_for_tests;

        let fabric = RandomRegular {
            switches: 12,
            degree: 3,
            hosts: 2,
        };
        let topology = Arc::new(fabric.build(3).unwrap());
        for (full, lazy) in on_demand_for_tests(&topology) {
            let (mut expected, mut found) = (vec![], vec![]);
            for to in topology.nics().rev().chain(topology.nics()) {
                for at in topology.switches() {
                    for from in topology.ports(at) {
                        expected.clear();
                        found.clear();
                        full.choices(&Lookup::any(at, from, 0, to), &mut expected);
                        lazy.choices(&Lookup::any(at, from, 0, to), &mut found);
                        assert_eq!(found, expected);
                    }
                }
            }
            assert_eq!(full.claims_no_deadlock(), lazy.claims_no_deadlock());
            assert_eq!(
                Network::new(&topology, &full, None).theorem(),
                Network::new(&topology, &lazy, None).theorem()
            );
        }
    }
}

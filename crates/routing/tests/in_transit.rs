//! Detours in transit: the possible paths, their lanes, and that they form no cycle.

use std::sync::Arc;

use netloom_random::{Purpose, Stream};
use netloom_routing::deadlock::{Centre, Verdict, check, check_with};
use netloom_routing::{
    Forwarding, Hop, Lookup, Occasion, Occupancy, Par, Policy, QueueView, Routing,
};
use netloom_topology::{Arrangement, Blueprint, Dragonfly, Peer, Placement, Topology};
use netloom_units::{NicId, Port, SwitchId};

fn dragonfly(hosts: u16, switches: u16, globals: u16, groups: Option<u32>) -> Arc<Topology> {
    let blueprint = Dragonfly {
        hosts,
        switches,
        globals,
        groups,
        arrangement: Arrangement::Circulant,
        ports: None,
        placement: Placement::Random,
    };
    Arc::new(blueprint.build(3).unwrap())
}

fn par(policy: Policy) -> Par {
    Par {
        threshold_min: 20,
        threshold_local: 50,
        threshold_global: 80,
        relative: false,
        policy,
    }
}

const POLICIES: [Policy; 2] = [Policy::Mixed, Policy::CurrentRouter];

/// Outputs of a switch that are blocked or full at random; `blocked` of ten are blocked.
struct ByChance {
    at: SwitchId,
    blocked: u32,
    draw: u32,
}

impl ByChance {
    fn below(&self, output: Port, what: u32, n: u32) -> u32 {
        let stream = Stream::new(9, Purpose::Routing);
        let key = [self.at.0, u32::from(output.0), self.draw, 100 + what];
        stream.draw(key).below(0, n)
    }
}

impl QueueView for ByChance {
    fn queued(&self, _: Port) -> u32 {
        0
    }

    fn announced(&self, _: Port, _: Port) -> u32 {
        0
    }

    fn is_blocked(&self, output: Port, _: u8) -> bool {
        self.below(output, 0, 10) < self.blocked
    }

    fn occupancy(&self, output: Port, _: u8) -> Occupancy {
        Occupancy {
            used: self.below(output, 1, 101),
            most: 100,
        }
    }
}

/// Returns the links of a packet between switches: whether each is global, and its lane.
fn follow(
    topology: &Topology,
    forwarding: &Forwarding,
    (from, to): (NicId, NicId),
    sequence: u32,
    blocked: u32,
) -> Vec<(bool, u8)> {
    let (mut at, mut port) = topology.attachment(from);
    let (mut lane, mut word, mut links) = (0, 0, vec![]);
    for hop in 0..10 {
        let occasion = Occasion {
            source: from,
            sequence,
            hop,
        };
        let lookup = Lookup::any(at, port, lane, to).with(occasion);
        let view = ByChance {
            at,
            blocked,
            draw: sequence,
        };
        let next = forwarding.route_seeing(&lookup, &mut word, &view);
        assert_eq!(word, 0, "it carries nothing");
        let mut choices = vec![];
        forwarding.choices(&lookup, &mut choices);
        assert!(choices.contains(&next), "{next:?} of {choices:?} at {at}");
        match topology.peer(at, next.port) {
            Peer::Nic(nic) => {
                assert_eq!(nic, to);
                return links;
            }
            Peer::Switch(other, there) => {
                links.push((topology.link_class(at, next.port) == 2, next.lane));
                (at, port, lane) = (other, there, next.lane);
            }
            Peer::Unused => panic!("a hop over a cable"),
        }
    }
    panic!("{from} to {to} goes round and round");
}

/// Returns the lanes of a path by the position of each link, with local and global links counted
/// separately or together.
fn lanes(links: &[(bool, u8)], is_apart: bool) -> Vec<u8> {
    let (mut globals, mut locals) = (0, 0);
    let lane = |&(is_global, _): &(bool, u8)| match (is_global, is_apart) {
        (true, _) => {
            (globals, locals) = (globals + 1, 0);
            if is_apart {
                3 * globals - 1
            } else {
                globals - 1
            }
        }
        (false, _) => {
            locals += 1;
            let of_group = if is_apart { 3 } else { 2 };
            of_group * globals + locals - 1
        }
    };
    links.iter().map(lane).collect()
}

#[test]
fn ways_have_at_most_two_local_links_in_a_group_and_two_global_ones() {
    let topology = dragonfly(2, 4, 2, None);
    for policy in POLICIES {
        let plain = par(policy).compile(&topology, 1).unwrap();
        assert_eq!(
            (
                plain.lanes(),
                plain.lanes_on("local"),
                plain.lanes_on("global")
            ),
            (6, 0b11_1111, 0b11)
        );
        let shared = plain.clone().for_shared_buffers();
        assert_eq!((shared.lanes(), shared.lanes_on("local")), (8, 0b1101_1011));
        assert_eq!(
            shared.lanes_on("global"),
            0b10_0100,
            "six lanes on local links, two on global ones"
        );
        for (forwarding, is_apart) in [(&plain, false), (&shared, true)] {
            let (mut longest, mut detours) = (0, 0);
            for n in 0..20_000u32 {
                let (from, to) = (NicId(n % 72), NicId((n / 72 * 7 + 1) % 72));
                if from == to {
                    continue;
                }
                let links = follow(&topology, forwarding, (from, to), n, 1 + n % 9);
                let shape: String = links
                    .iter()
                    .map(|link| if link.0 { 'g' } else { 'l' })
                    .collect();
                assert!(
                    !shape.contains("lll") && shape.matches('g').count() <= 2,
                    "{shape}"
                );
                let taken: Vec<u8> = links.iter().map(|link| link.1).collect();
                assert_eq!(taken, lanes(&links, is_apart), "{shape}");
                longest = longest.max(links.len());
                detours += u32::from(follow(&topology, forwarding, (from, to), n, 0) != links);
            }
            let most = if policy == Policy::Mixed { 8 } else { 7 };
            assert!(
                longest == most && detours > 2_000,
                "{longest} links, {detours} detours"
            );
        }
    }
}

/// If nothing is blocked, nothing else is free, or little is in use, a packet stays on its minimal
/// path.
#[test]
fn a_packet_stays_on_its_way_without_need() {
    struct Case(bool, u32, bool, u32);
    struct Seen(Hop, Case);
    impl QueueView for Seen {
        fn queued(&self, _: Port) -> u32 {
            0
        }
        fn announced(&self, _: Port, _: Port) -> u32 {
            0
        }
        fn is_blocked(&self, output: Port, _: u8) -> bool {
            if output == self.0.port {
                self.1.0
            } else {
                self.1.2
            }
        }
        fn occupancy(&self, output: Port, _: u8) -> Occupancy {
            let used = if output == self.0.port {
                self.1.1
            } else {
                self.1.3
            };
            Occupancy { used, most: 100 }
        }
    }
    let topology = dragonfly(2, 4, 2, None);
    let forwarding = par(Policy::Mixed).compile(&topology, 1).unwrap();
    let (from, to) = (NicId(0), NicId(40));
    let (at, port) = topology.attachment(from);
    let occasion = Occasion {
        source: from,
        sequence: 5,
        hop: 0,
    };
    let lookup = Lookup::any(at, port, 0, to).with(occasion);
    let minimal = forwarding.route(&lookup);
    let route = |case: Case| {
        let view = Seen(minimal, case);
        forwarding.route_seeing(&lookup, &mut 0, &view)
    };
    // The minimal output: blocked, in use; the others: blocked, in use.
    assert_eq!(route(Case(false, 100, false, 0)), minimal);
    assert_eq!(route(Case(true, 19, false, 0)), minimal);
    assert_ne!(route(Case(true, 20, false, 0)), minimal);
    assert_eq!(route(Case(true, 100, true, 0)), minimal);
    assert_ne!(route(Case(true, 100, false, 80)), minimal);
    assert_eq!(route(Case(true, 100, false, 81)), minimal);
}

/// Six lanes suffice in switches that share nothing, eight positions in tiled ones; with few cables
/// and with several.
#[test]
fn it_is_free_of_deadlock() {
    for groups in [None, Some(4), Some(3)] {
        let topology = dragonfly(1, 4, 2, groups);
        for policy in POLICIES {
            let forwarding = par(policy).compile(&topology, 1).unwrap();
            let verdict = check(&topology, &forwarding);
            assert!(matches!(verdict, Verdict::Free { .. }), "{verdict}");
            let shared = forwarding.clone().for_shared_buffers();
            for (columns, outputs) in [(2, 4), (4, 2), (1, 8)] {
                let centre = Some(Centre::of_tiles(columns, outputs));
                let verdict = check_with(&topology, &shared, centre);
                assert!(matches!(verdict, Verdict::Free { .. }), "{verdict}");
            }
            // With the lanes of links inside the switch too, row buffers join the middle of a path
            // to its beginning.
            if groups.is_some() {
                continue;
            }
            let verdict = check_with(&topology, &forwarding, Some(Centre::of_tiles(1, 8)));
            assert!(matches!(verdict, Verdict::Cycle(_)), "{verdict}");
        }
    }
}

#[test]
fn the_fabric_of_paper_002_is_proved_by_its_ladder() {
    let topology = dragonfly(5, 11, 5, None);
    let forwarding = par(Policy::Mixed).compile(&topology, 1).unwrap();
    let shared = forwarding.clone().for_shared_buffers();
    let tiles = Some(Centre::of_tiles(4, 5));
    for (forwarding, centre) in [(&forwarding, None), (&shared, tiles)] {
        let verdict = check_with(&topology, forwarding, centre);
        let Verdict::Free { how, .. } = verdict else {
            panic!("{verdict}")
        };
        assert!(how.contains("by structure"), "{how}");
    }
}

/// Between two groups there is no third, so minimal routing remains.
#[test]
fn two_groups_leave_nothing_to_choose() {
    let topology = dragonfly(2, 4, 2, Some(2));
    let forwarding = par(Policy::Mixed).compile(&topology, 1).unwrap();
    assert!(!forwarding.is_adaptive() && forwarding.lanes() == 2);
}

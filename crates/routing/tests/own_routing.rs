//! Routings defined outside of the crate: read from a file, compiled, proved and followed like any
//! other.

mod common;

use std::sync::Arc;

use common::{build, read};
use netloom_catalog::{Described, Kind, kind, params};
use netloom_random::{Purpose, Stream};
use netloom_routing::deadlock::{Verdict, check};
use netloom_routing::paths::{path, path_seeing};
use netloom_routing::{
    EmptyQueues, Entry, Facts, Forwarding, Hop, Lookup, QueueView, Route, Routing, TableBuilder,
};
use netloom_topology::{Graph, Peer, Topology, Torus};
use netloom_units::{NicId, Port, SwitchId};

params! {
    /// A full mesh: directly, or through a random switch if the direct cable is longer by a
    /// threshold.
    #[derive(Clone, Debug)]
    pub struct Around {
        /// Flits by which the direct cable may be worse.
        pub threshold: u32 = 8,
        /// Lanes; 2 are needed.
        pub lanes: u32 = 2,
    }
}

impl Described for Around {
    const NAME: &'static str = "around";
    const SUMMARY: &'static str = "Directly or through another switch on full meshes.";
    const EXAMPLE: &'static str = "threshold = 8";
}

impl Routing for Around {
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        let others = topology.n_switches() as usize - 1;
        if topology
            .switches()
            .any(|s| topology.neighbours(s).count() != others)
        {
            return Err("routing around requires a full mesh".into());
        }
        let mesh = Mesh {
            topology: topology.clone(),
            threshold: self.threshold,
            second_lane: self.lanes as u8 - 1,
            stream: Stream::new(seed, Purpose::Routing),
        };
        let facts = Facts {
            keeps_order: false,
            needs_occasion: true,
            adaptive: true,
            ..Facts::new(self.lanes as u8)
        };
        Ok(Forwarding::own(Arc::new(mesh), facts))
    }
}

/// The compiled form. The routing word marks a packet on a detour.
#[derive(Debug)]
struct Mesh {
    topology: Arc<Topology>,
    threshold: u32,
    second_lane: u8,
    stream: Stream,
}

impl Mesh {
    fn to(&self, at: SwitchId, other: SwitchId, lane: u8) -> Hop {
        let mut neighbours = self.topology.neighbours(at);
        let (port, _, _) = neighbours
            .find(|&(_, s, _)| s == other)
            .expect("a full mesh");
        Hop { port, lane }
    }

    fn is_first(&self, lookup: &Lookup) -> bool {
        matches!(self.topology.peer(lookup.at, lookup.from), Peer::Nic(_))
    }
}

impl Route for Mesh {
    fn route(&self, lookup: &Lookup, word: &mut u8, view: &dyn QueueView) -> Hop {
        let (at, occasion) = (lookup.at, lookup.occasion);
        let (target, port) = self.topology.attachment(lookup.destination);
        if at == target {
            return Hop { port, lane: 0 };
        }
        if !self.is_first(lookup) {
            assert_eq!(*word, 1, "only detours come by a switch that is not theirs");
            return self.to(at, target, self.second_lane);
        }
        let straight = self.to(at, target, 0);
        let draw = self
            .stream
            .draw([occasion.source.0, occasion.sequence, 0, 100]);
        let other = |s: &SwitchId| *s != at && *s != target;
        let others: Vec<SwitchId> = self.topology.switches().filter(other).collect();
        let aside = self.to(at, others[draw.below(0, others.len() as u32) as usize], 0);
        let is_longer = view.queued(straight.port) > view.queued(aside.port) + self.threshold;
        if is_longer || view.is_stopped(straight.port, 0) {
            *word = 1;
            return aside;
        }
        straight
    }

    fn choices(&self, lookup: &Lookup, hops: &mut Vec<Hop>) {
        let at = lookup.at;
        let (target, port) = self.topology.attachment(lookup.destination);
        if at == target {
            hops.push(Hop { port, lane: 0 });
        } else if self.is_first(lookup) {
            let neighbours = self.topology.neighbours(at);
            hops.extend(neighbours.map(|(port, _, _)| Hop { port, lane: 0 }));
        } else {
            hops.push(self.to(at, target, self.second_lane));
        }
    }
}

const AROUND: Kind<dyn Routing> = kind!(Around, dyn Routing);

/// Five fully connected switches with two NICs each.
fn full_mesh() -> Arc<Topology> {
    let mut lines = vec![];
    for a in 0..5 {
        lines.extend((0..a).map(|b| format!("link s{b} s{a}")));
    }
    lines.extend((0..10).map(|nic| format!("nic n{nic} s{}", nic / 2)));
    build(&Graph {
        file: None,
        text: Some(lines.join("\n")),
    })
}

#[test]
fn a_routing_of_ones_own_is_read_compiled_and_followed() {
    let topology = full_mesh();
    let forwarding = read(&AROUND, AROUND.example).compile(&topology, 1).unwrap();
    assert!(forwarding.is_adaptive() && !forwarding.keeps_order() && forwarding.needs_occasion());
    assert_eq!((forwarding.lanes(), forwarding.bubble()), (2, false));
    assert_eq!(forwarding.representatives(&topology).len(), 10);
    let (from, to) = (NicId(0), NicId(9));
    let straight = path(&topology, &forwarding, from, to, 0).unwrap();
    assert_eq!(straight.len(), 2);
    let first = straight[0].output;
    let mut through = [0; 5];
    for sequence in 0..300 {
        let full = |s: SwitchId, p: Port| u32::from(s.0 == 0 && p == first) * 9;
        let steps = path_seeing(&topology, &forwarding, from, to, sequence, full).unwrap();
        let lanes: Vec<u8> = steps.iter().map(|step| step.lane).collect();
        assert_eq!(lanes, [0, 1, 0]);
        through[steps[1].switch.index()] += 1;
        let mut hops = vec![];
        let lookup = Lookup::any(SwitchId(0), steps[0].input, 0, to);
        forwarding.choices(&lookup, &mut hops);
        assert!(hops.iter().any(|hop| hop.port == steps[0].output));
        let nearly = |s: SwitchId, p: Port| u32::from(s.0 == 0 && p == first) * 8;
        let steps = path_seeing(&topology, &forwarding, from, to, sequence, nearly).unwrap();
        assert_eq!(steps, straight, "not longer by more than the threshold");
    }
    assert_eq!((through[0], through[4]), (0, 0));
    assert!(
        through[1..4].iter().all(|n| (70..130).contains(n)),
        "{through:?}"
    );
}

#[test]
fn a_routing_of_ones_own_is_proved_or_shown_to_deadlock() {
    let topology = full_mesh();
    let two_lanes = read(&AROUND, "").compile(&topology, 1).unwrap();
    let verdict = check(&topology, &two_lanes);
    // A packet on lane 0 of any of 20 links may continue on lane 1 to the 3 switches where it has
    // not been.
    let counts = (40, 60);
    assert!(
        matches!(verdict, Verdict::Free { channels, dependencies, .. } if (channels, dependencies) == counts),
        "{verdict:?}"
    );
    let one_lane = read(&AROUND, "lanes = 1").compile(&topology, 1).unwrap();
    assert!(matches!(check(&topology, &one_lane), Verdict::Cycle(_)));
}

/// A complete view reaches an external routing, and the word is passed on.
#[test]
fn a_stopped_output_is_seen_through_the_trait_object() {
    struct Stopped(Port);

    impl QueueView for Stopped {
        fn queued(&self, _: Port) -> u32 {
            0
        }

        fn announced(&self, _: Port, _: Port) -> u32 {
            0
        }

        fn is_stopped(&self, output: Port, _lane: u8) -> bool {
            output == self.0
        }
    }

    let topology = full_mesh();
    let forwarding = read(&AROUND, "").compile(&topology, 1).unwrap();
    let ask = |view: &dyn QueueView, word: &mut u8| {
        let (at, from) = topology.attachment(NicId(0));
        forwarding.route_seeing(&Lookup::any(at, from, 0, NicId(9)), word, &view)
    };
    let mut word = 0;
    let straight = ask(&EmptyQueues, &mut word);
    assert_eq!(word, 0);
    assert_ne!(ask(&Stopped(straight.port), &mut word), straight);
    assert_eq!(word, 1);
}

/// Writes this word into packets without declaring it.
#[derive(Debug)]
struct Wordy(u8);

impl Route for Wordy {
    fn route(&self, lookup: &Lookup, word: &mut u8, _: &dyn QueueView) -> Hop {
        *word += self.0;
        Hop {
            port: Port(0),
            lane: lookup.lane,
        }
    }

    fn choices(&self, _: &Lookup, _: &mut Vec<Hop>) {}
}

fn ask(wordy: Wordy) {
    let forwarding = Forwarding::own(Arc::new(wordy), Facts::new(1));
    forwarding.route(&Lookup::any(SwitchId(0), Port(0), 0, NicId(0)));
}

#[test]
#[should_panic(expected = "expected a routing word of 2 bits at switch 0, found 4")]
fn a_word_that_no_packet_can_carry_is_a_mistake() {
    ask(Wordy(4));
}

/// If no routing looks at queues, packets carry no word: it would be lost.
#[test]
#[should_panic(expected = "expected Facts::adaptive for a routing that writes words")]
fn a_word_that_nobody_was_told_of_is_a_mistake() {
    ask(Wordy(1));
}

params! {
    /// A ring in one direction, by a table.
    #[derive(Clone, Debug)]
    pub struct Clockwise {
        /// Whether the cable between the last switch and the first is left unused.
        pub gap: bool = false,
    }
}

impl Described for Clockwise {
    const NAME: &'static str = "clockwise";
    const SUMMARY: &'static str = "In one direction around a ring.";
    const EXAMPLE: &'static str = "gap = false";
}

impl Routing for Clockwise {
    fn compile(&self, topology: &Arc<Topology>, _seed: u64) -> Result<Forwarding, String> {
        let mut tables = TableBuilder::new(topology, 1)?;
        let n = topology.n_switches();
        for (column, target) in tables.targets().into_iter().enumerate() {
            for at in topology.switches() {
                let next = match self.gap && at > target {
                    true => at.0 - 1,
                    false => (at.0 + 1) % n,
                };
                let mut neighbours = topology.neighbours(at);
                let cable = neighbours.find(|&(_, other, _)| other.0 == next);
                let entry = match cable {
                    _ if at == target => Entry::Deliver,
                    Some((port, _, _)) => Entry::Port(port),
                    None => return Err("routing clockwise requires a ring".into()),
                };
                tables.set(0, at, column, entry);
            }
        }
        Ok(tables.finish(None, self.gap))
    }
}

#[test]
fn tables_of_ones_own() {
    let ring = build(&Torus {
        sides: vec![6],
        hosts: 2,
        trunk: 1,
    });
    let kind: Kind<dyn Routing> = kind!(Clockwise, dyn Routing);
    let round = read(&kind, kind.example).compile(&ring, 1).unwrap();
    let steps = path(&ring, &round, NicId(8), NicId(3), 0).unwrap();
    let switches: Vec<u32> = steps.iter().map(|step| step.switch.0).collect();
    assert_eq!(switches, [4, 5, 0, 1]);
    assert!(!round.claims_no_deadlock() && round.keeps_order());
    assert!(matches!(check(&ring, &round), Verdict::Cycle(cycle) if cycle.len() == 6));
    let line = read(&kind, "gap = true").compile(&ring, 1).unwrap();
    assert!(matches!(check(&ring, &line), Verdict::Free { .. }));
}

#[test]
#[should_panic(expected = "switch 0 has 3 ports, no port 3")]
fn tables_have_no_ports_that_are_not_there() {
    let ring = build(&Torus {
        sides: vec![4],
        hosts: 1,
        trunk: 1,
    });
    let mut tables = TableBuilder::new(&ring, 1).unwrap();
    tables.set(0, SwitchId(0), 1, Entry::Port(Port(3)));
}

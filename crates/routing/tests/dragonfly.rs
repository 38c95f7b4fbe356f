//! Routings on dragonflies and megaflies.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{build, compile};
use netloom_random::{Purpose, Stream};
use netloom_routing::deadlock::{Verdict, check};
use netloom_routing::paths::{Step, mean_switches, path, path_seeing};
use netloom_routing::{
    EmptyQueues, Forwarding, Intermediate, Knowledge, Lookup, Minimal, Occasion, ParUgal,
    QueueView, Routing, Ugal, Valiant,
};
use netloom_topology::{Arrangement, Dragonfly, Megafly, Placement, Structure, Topology};
use netloom_units::{NicId, Port, SwitchId};
use proptest::prelude::*;

fn dragonfly(hosts: u16, switches: u16, globals: u16, groups: Option<u32>) -> Dragonfly {
    Dragonfly {
        hosts,
        switches,
        globals,
        groups,
        arrangement: Arrangement::PalmTree,
        ports: None,
        placement: Placement::Random,
    }
}

fn megafly(hosts: u16, leaves: u16, spines: u16, globals: u16, groups: Option<u32>) -> Megafly {
    Megafly {
        hosts,
        leaves,
        spines,
        globals,
        groups,
        arrangement: Arrangement::PalmTree,
    }
}

const VALIANT: Valiant = Valiant {
    intermediate: Intermediate::Group,
};
const PAR_UGAL: ParUgal = ParUgal { threshold: 24 };
const UGAL: Ugal = Ugal {
    threshold: 24,
    knowledge: Knowledge::Local,
    every: 32,
};
const UGAL_G: Ugal = Ugal {
    knowledge: Knowledge::Global,
    ..UGAL
};

fn group(topology: &Topology, switch: SwitchId) -> u32 {
    match topology.structure() {
        Structure::Dragonfly(shape) => shape.group(switch),
        Structure::Megafly(shape) => shape.group(switch),
        _ => panic!("no groups"),
    }
}

/// Returns the links of a path between switches, as `l` or `g`.
fn letters(topology: &Topology, steps: &[Step]) -> String {
    let links = &steps[..steps.len() - 1];
    let class = |step: &Step| topology.link_class(step.switch, step.output);
    let letter = |step| ["h", "l", "g"][usize::from(class(step))];
    links.iter().map(letter).collect()
}

fn lanes(steps: &[Step]) -> Vec<u8> {
    steps[..steps.len() - 1].iter().map(|s| s.lane).collect()
}

/// Returns the groups of a path, each once.
fn groups(topology: &Topology, steps: &[Step]) -> Vec<u32> {
    let mut groups: Vec<u32> = steps.iter().map(|s| group(topology, s.switch)).collect();
    groups.dedup();
    groups
}

/// Arbitrary queues, the same for the same salt.
fn noise(salt: u32) -> impl Fn(SwitchId, Port) -> u32 {
    let stream = Stream::new(1, Purpose::Placement);
    move |switch, port| {
        let draw = stream.draw([switch.0, u32::from(port.0), salt, 0]);
        draw.below(0, 200) * draw.below(1, 2)
    }
}

/// Lanes as the ladder assigns them, from the links alone. With two local links in the first group,
/// the lane is the position on l-l-g-l-g-l.
fn by_place(letters: &str, locals_of_group: u8) -> Vec<u8> {
    let (mut globals, mut locals) = (0, 0);
    let lane = |letter| match letter {
        'g' => {
            (globals, locals) = (globals + 1, 0);
            if locals_of_group == 1 {
                globals - 1
            } else {
                2 * globals
            }
        }
        _ => {
            locals += 1;
            match (locals_of_group, globals) {
                (1, _) => globals,
                (_, 0) => locals - 1,
                (_, _) => 2 * globals + 1,
            }
        }
    };
    letters.chars().map(lane).collect()
}

#[test]
fn paper_002_is_proved_in_no_time() {
    let topology = build(&dragonfly(5, 11, 5, None));
    let routings: [&dyn Routing; 5] = [&Minimal {}, &VALIANT, &UGAL, &UGAL_G, &PAR_UGAL];
    for (routing, lanes) in routings.into_iter().zip([2, 3, 3, 3, 6]) {
        let start = Instant::now();
        let forwarding = compile(routing, &topology);
        let verdict = check(&topology, &forwarding);
        let Verdict::Free { how, .. } = verdict else {
            panic!("{verdict}")
        };
        assert!(how.contains("by structure"), "{how}");
        assert_eq!(forwarding.lanes(), lanes);
        assert!(start.elapsed() < Duration::from_secs(5));
        let mean = mean_switches(&topology, &forwarding).unwrap();
        let expected = if lanes == 3 && !forwarding.is_adaptive() {
            5.0..5.7
        } else {
            3.5..3.9
        };
        assert!(expected.contains(&mean.switches), "{}", mean.switches);
    }
}

/// 5 + 40 + 500 + 40 + 5 ns of cable on the longest minimal path.
#[test]
fn v002_14_wire_time_between_groups() {
    let topology = build(&dragonfly(5, 11, 5, None));
    let forwarding = compile(&Minimal {}, &topology);
    let delays = [5, 40, 500];
    let mut longest = 0;
    for to in (55..3080).step_by(7) {
        let steps = path(&topology, &forwarding, NicId(0), NicId(to), 0).unwrap();
        let links = steps
            .iter()
            .map(|s| topology.link_class(s.switch, s.output));
        let wires: u32 = links.map(|class| delays[usize::from(class)]).sum();
        let expected = match letters(&topology, &steps).as_str() {
            "g" => 510,
            "lg" | "gl" => 550,
            "lgl" => 590,
            other => panic!("{other}"),
        };
        assert_eq!(wires + delays[0], expected);
        longest = longest.max(wires + delays[0]);
    }
    assert_eq!(longest, 590);
}

/// The queues of a switch's outputs, as set by a test.
struct Script(Vec<(Port, u32)>);

impl QueueView for Script {
    fn queued(&self, output: Port) -> u32 {
        let listed = self.0.iter().find(|(port, _)| *port == output);
        listed.map_or(0, |&(_, flits)| flits)
    }

    fn announced(&self, cable: Port, output: Port) -> u32 {
        panic!("no announcement of {output} over {cable}")
    }
}

/// Returns the two paths of a packet from its first switch: the hop and the links to the
/// destination's switch.
fn two_ways(
    topology: &Topology,
    forwarding: &Forwarding,
    from: NicId,
    to: NicId,
    sequence: u32,
) -> [Vec<Step>; 2] {
    let straight = path(topology, forwarding, from, to, sequence).unwrap();
    let (at, first) = (straight[0].switch, straight[0].output);
    let full = |switch, port| match (switch, port) == (at, first) {
        true => 1_000_000,
        false => 0,
    };
    let aside = path_seeing(topology, forwarding, from, to, sequence, full).unwrap();
    [straight, aside]
}

#[test]
fn a_packet_is_diverted_exactly_when_the_other_way_looks_shorter() {
    let topology = build(&dragonfly(2, 4, 2, None));
    for (routing, threshold) in [
        (&PAR_UGAL as &dyn Routing, 24),
        (&UGAL, 24),
        (&ParUgal { threshold: 0 }, 0),
    ] {
        let forwarding = compile(routing, &topology);
        assert!(forwarding.is_adaptive() && !forwarding.keeps_order());
        let (mut kept, mut diverted) = (0, 0);
        for (from, to) in [(0, 71), (3, 20), (17, 40), (64, 9)].map(|(a, b)| (NicId(a), NicId(b))) {
            for sequence in 0..40 {
                let [straight, aside] = two_ways(&topology, &forwarding, from, to, sequence);
                let ports = [straight[0].output, aside[0].output];
                if ports[0] == ports[1] {
                    // Both paths begin equally, so the one with fewer links never looks longer.
                    assert_eq!(straight, aside);
                    continue;
                }
                let links = [straight.len() as u32 - 1, aside.len() as u32 - 1];
                for (q_min, q_non) in [
                    (0, 0),
                    (8, 0),
                    (9, 0),
                    (24, 0),
                    (25, 0),
                    (30, 7),
                    (100, 47),
                    (500, 499),
                ] {
                    let view = Script(vec![(ports[0], q_min), (ports[1], q_non)]);
                    let mut word = 0;
                    let occasion = Occasion {
                        source: from,
                        sequence,
                        hop: 0,
                    };
                    let (at, input) = topology.attachment(from);
                    let lookup = Lookup::any(at, input, 0, to).with(occasion);
                    let hop = forwarding.route_seeing(&lookup, &mut word, &view);
                    let is_longer = q_min * links[0] > q_non * links[1] + threshold;
                    assert_eq!(word, u8::from(is_longer), "{q_min} x {links:?} x {q_non}");
                    assert_eq!(hop.port, ports[usize::from(is_longer)]);
                    *if is_longer { &mut diverted } else { &mut kept } += 1;
                    // The view is not called where nothing is to be decided.
                    let empty = forwarding.route(&lookup);
                    assert_eq!(empty.port, ports[0]);
                    let mut on_detour = 1;
                    let hop = forwarding.route_seeing(&lookup, &mut on_detour, &EmptyQueues);
                    assert_eq!((hop.port, on_detour), (ports[1], 1));
                }
            }
        }
        assert!(kept > 100 && diverted > 100, "{kept} {diverted}");
    }
}

/// PAR decides again at the second switch of the first group, UGAL does not, and the group is the
/// same.
#[test]
fn par_asks_again_at_the_second_switch() {
    let topology = build(&dragonfly(2, 4, 2, None));
    let (par, ugal) = (compile(&PAR_UGAL, &topology), compile(&UGAL, &topology));
    let mut longest = 0;
    for sequence in 0..60 {
        for (from, to) in [(0, 71), (3, 20), (17, 40), (64, 9)].map(|(a, b)| (NicId(a), NicId(b))) {
            let [straight, aside] = two_ways(&topology, &par, from, to, sequence);
            if !letters(&topology, &straight).starts_with("lg") {
                continue;
            }
            let second = &straight[1];
            let full = |switch, port| match (switch, port) == (second.switch, second.output) {
                true => 1_000_000,
                false => 0,
            };
            let turned = path_seeing(&topology, &par, from, to, sequence, full).unwrap();
            assert_eq!(turned[0], straight[0]);
            assert_ne!(turned[1].output, second.output);
            if groups(&topology, &aside).len() == 3 {
                assert_eq!(groups(&topology, &turned), groups(&topology, &aside));
            }
            let shape = letters(&topology, &turned);
            assert!(
                ["llg", "lg"].iter().any(|head| shape.starts_with(head))
                    && shape.matches('g').count() == 2,
                "{shape}"
            );
            if shape == "llglgl" {
                assert_eq!(lanes(&turned), [0, 1, 2, 3, 4, 5]);
                longest += 1;
            }
            let stays = path_seeing(&topology, &ugal, from, to, sequence, full).unwrap();
            assert_eq!(groups(&topology, &stays).len(), 2, "UGAL decides once");
        }
    }
    assert!(longest > 10);
}

/// UGAL-G adds what the switch with the global link has announced; UGAL-L does not know it.
#[test]
fn announced_queues_count_as_well() {
    for topology in [
        build(&dragonfly(2, 4, 2, None)),
        build(&megafly(2, 3, 3, 2, None)),
    ] {
        let [local, global] = [UGAL, UGAL_G].map(|routing| compile(&routing, &topology));
        let (mut kept, mut diverted) = (0, 0);
        for sequence in 0..60 {
            for (from, to) in [(0, 40), (3, 20), (17, 38), (30, 9)] {
                let (from, to) = (NicId(from), NicId(to));
                let [straight, aside] = two_ways(&topology, &local, from, to, sequence);
                let begins = |way: &[Step]| letters(&topology, way).starts_with("lg");
                let is_apart = straight[0].output != aside[0].output;
                if !(begins(&straight) && begins(&aside) && is_apart) {
                    continue;
                }
                let links = [straight.len() as u32 - 1, aside.len() as u32 - 1];
                for [here, beyond, other_here, other_beyond] in [
                    [0, 100, 0, 0],
                    [0, 100, 0, 100],
                    [5, 4, 0, 0],
                    [0, 9, 1, 0],
                    [40, 60, 10, 50],
                    [0, 0, 0, 9],
                ] {
                    let queued = |switch, port| {
                        let is = |step: &Step| (step.switch, step.output) == (switch, port);
                        match () {
                            () if is(&straight[0]) => here,
                            () if is(&straight[1]) => beyond,
                            () if is(&aside[0]) => other_here,
                            () if is(&aside[1]) => other_beyond,
                            () => 0,
                        }
                    };
                    let way = |forwarding| {
                        path_seeing(&topology, forwarding, from, to, sequence, queued).unwrap()
                    };
                    let longer = |q: u32, other: u32| q * links[0] > other * links[1] + 24;
                    let expected = |is_longer| if is_longer { &aside } else { &straight };
                    let is_longer = longer(here + beyond, other_here + other_beyond);
                    assert_eq!(&way(&global), expected(is_longer));
                    assert_eq!(&way(&local), expected(longer(here, other_here)));
                    *if is_longer { &mut diverted } else { &mut kept } += 1;
                }
            }
        }
        assert!(kept > 100 && diverted > 100, "{kept} {diverted}");
    }
}

/// A switch with global links announces them to all of its group that it is cabled to; under UGAL-L
/// no switch does.
#[test]
fn switches_with_global_links_announce_them() {
    for topology in [
        build(&dragonfly(2, 4, 2, None)),
        build(&megafly(2, 3, 3, 2, None)),
    ] {
        let forwarding = compile(&UGAL_G, &topology);
        let local = compile(&UGAL, &topology);
        assert_eq!(forwarding.announced_every().map(|n| n.get()), Some(32));
        assert_eq!(local.announced_every(), None);
        for at in topology.switches() {
            assert_eq!(local.announcements(at), None);
            let ports = |class| -> Vec<Port> {
                let all = topology.neighbours(at).map(|(port, ..)| port);
                all.filter(|&port| topology.link_class(at, port) == class)
                    .collect()
            };
            let (cables, outputs) = (ports(1), ports(2));
            let told = forwarding.announcements(at);
            assert_eq!(told.is_some(), !outputs.is_empty());
            if let Some(told) = told {
                assert_eq!((told.outputs, told.cables), (outputs, cables));
            }
        }
    }
}

#[test]
fn nothing_inside_a_group_is_diverted() {
    let topology = build(&dragonfly(2, 4, 2, None));
    for routing in [&PAR_UGAL as &dyn Routing, &UGAL, &UGAL_G, &VALIANT] {
        let forwarding = compile(routing, &topology);
        for from in 0..8 {
            for to in 0..8 {
                for sequence in 0..10 {
                    let full = |_, _| 1_000_000 - sequence;
                    let (from, to) = (NicId(from), NicId(to));
                    let steps = path_seeing(&topology, &forwarding, from, to, sequence, full);
                    assert!(steps.unwrap().len() <= 2);
                }
            }
        }
    }
}

#[test]
fn intermediate_groups_are_any_third_group_alike() {
    let topology = build(&dragonfly(1, 3, 2, None));
    let forwarding = compile(&VALIANT, &topology);
    for (from, to) in [(0, 20), (20, 0), (9, 12)] {
        let mut taken = [0; 7];
        for sequence in 0..5000 {
            let steps = path(&topology, &forwarding, NicId(from), NicId(to), sequence).unwrap();
            let groups = groups(&topology, &steps);
            assert_eq!((groups.len(), groups[0], groups[2]), (3, from / 3, to / 3));
            taken[groups[1] as usize] += 1;
        }
        assert_eq!((taken[from as usize / 3], taken[to as usize / 3]), (0, 0));
        assert_eq!(
            taken.iter().filter(|n| (900..1100).contains(*n)).count(),
            5,
            "{taken:?}"
        );
    }
}

/// Returns how many of 9,000 packets have each number of global links, and how many pass each group
/// in the middle.
fn middles(intermediate: Intermediate) -> ([u32; 3], Vec<u32>) {
    let topology = build(&dragonfly(1, 3, 2, None));
    let forwarding = compile(&Valiant { intermediate }, &topology);
    let (mut globals, mut middles) = ([0; 3], vec![0; 7]);
    for sequence in 0..9000 {
        let steps = path(&topology, &forwarding, NicId(0), NicId(20), sequence).unwrap();
        let groups = groups(&topology, &steps);
        globals[groups.len() - 1] += 1;
        if groups.len() == 3 {
            middles[groups[1] as usize] += 1;
        }
    }
    (globals, middles)
}

#[test]
fn any_group_may_be_the_intermediate_one() {
    for intermediate in [Intermediate::AnyGroup, Intermediate::Switch] {
        let (globals, middles) = middles(intermediate);
        // Two of seven groups are the first and the last one.
        assert!((2300..2850).contains(&globals[1]), "{globals:?}");
        assert_eq!((globals[0], middles[0], middles[6]), (0, 0, 0));
        let is_even = |n: &u32| (1130..1450).contains(n);
        assert!(middles[1..6].iter().all(is_even), "{middles:?}");
    }
}

/// In the middle group, packets visit each switch equally often; of three, two may be away from
/// where they come in.
#[test]
fn a_drawn_switch_is_visited() {
    let topology = build(&dragonfly(1, 3, 2, None));
    let valiant = Valiant {
        intermediate: Intermediate::Switch,
    };
    let forwarding = compile(&valiant, &topology);
    let mut visits = [0; 21];
    for sequence in 0..9000 {
        let steps = path(&topology, &forwarding, NicId(0), NicId(20), sequence).unwrap();
        let shape = letters(&topology, &steps);
        assert!(
            ["g", "lg", "gl", "lgl"].contains(&shape.as_str())
                || shape.matches('g').count() == 2
                || shape.ends_with("ll"),
            "{shape}"
        );
        for step in steps {
            visits[step.switch.index()] += 1;
        }
    }
    assert!(visits.iter().all(|&n| n > 300), "{visits:?}");
    assert_eq!(forwarding.lanes(), 4);
    assert!(matches!(
        check(&topology, &forwarding),
        Verdict::Free { .. }
    ));
    let leaves = build(&megafly(1, 2, 2, 1, None));
    let problem = valiant.compile(&leaves, 1).unwrap_err();
    assert!(problem.contains("requires a dragonfly"), "{problem}");
}

/// If two groups are joined by several cables, a switch takes its own, otherwise any.
#[test]
fn trunks_between_groups_are_shared() {
    let topology = build(&dragonfly(2, 4, 3, Some(4)));
    let minimal = compile(&Minimal {}, &topology);
    let mut used = BTreeSet::new();
    for from in topology.nics() {
        for to in topology.nics() {
            let steps = path(&topology, &minimal, from, to, 0).unwrap();
            let ends = [steps[0].switch, steps[steps.len() - 1].switch];
            if group(&topology, ends[0]) == group(&topology, ends[1]) {
                continue;
            }
            let is_joined = topology
                .neighbours(ends[0])
                .any(|(_, other, _)| group(&topology, other) == group(&topology, ends[1]));
            let shape = letters(&topology, &steps);
            assert_eq!(shape.starts_with('g'), is_joined, "{shape}");
            let global = steps
                .iter()
                .find(|s| topology.link_class(s.switch, s.output) == 2)
                .unwrap();
            used.insert((global.switch, global.output));
        }
    }
    assert_eq!(used.len(), 4 * 12, "every global cable is used");
}

/// Two groups have no third, so all paths are minimal.
#[test]
fn two_groups_have_no_detour() {
    let topology = build(&dragonfly(2, 3, 2, Some(2)));
    for routing in [&PAR_UGAL as &dyn Routing, &UGAL, &UGAL_G, &VALIANT] {
        let forwarding = compile(routing, &topology);
        assert!(!forwarding.is_adaptive() && forwarding.keeps_order());
        assert_eq!(forwarding.lanes(), 2);
    }
}

#[test]
fn what_cannot_be_had_is_refused() {
    let topology = build(&dragonfly(2, 4, 2, None));
    let never = Ugal { every: 0, ..UGAL_G };
    assert_eq!(
        never.compile(&topology, 0).unwrap_err(),
        "expected every = 1 or more, found every = 0"
    );
    assert!(Ugal { every: 0, ..UGAL }.compile(&topology, 0).is_ok());
    let megafly = build(&megafly(2, 2, 2, 2, None));
    let reason = PAR_UGAL.compile(&megafly, 0).unwrap_err();
    assert_eq!(
        reason,
        "routing par-ugal requires a dragonfly, found megafly of 5 groups of 2 leaves and 2 \
         spines: a packet cannot turn at a spine; use ugal, which decides at the leaf"
    );
}

/// Whether the dependencies of paths whose links have these lanes form a cycle.
fn has_cycle(ways: &[(Vec<Step>, Vec<u8>)]) -> bool {
    let mut left = BTreeSet::new();
    for (steps, lanes) in ways {
        let links = steps.iter().zip(lanes);
        let channels: Vec<_> = links.map(|(s, &lane)| (s.switch, s.output, lane)).collect();
        left.extend(channels.windows(2).map(|w| (w[0], w[1])));
    }
    loop {
        let waited: BTreeSet<_> = left.iter().map(|&(_, next)| next).collect();
        let before = left.len();
        left.retain(|(first, _)| waited.contains(first));
        if left.len() == before {
            return !left.is_empty();
        }
    }
}

/// Another ladder raises the lane with each local and each global link. Then a minimal path l0 g0
/// l1 waits for a local lane 1 after a global lane 0, and a path that turned, l0 l1 g0, the other
/// way round.
#[test]
fn counting_links_closes_a_circle_where_places_do_not() {
    let topology = build(&dragonfly(1, 3, 1, None));
    let forwarding = compile(&PAR_UGAL, &topology);
    let mut ways = vec![];
    for from in topology.nics() {
        for to in topology.nics() {
            for sequence in 0..60 {
                let queued = noise(sequence);
                ways.push(path_seeing(&topology, &forwarding, from, to, sequence, queued).unwrap());
            }
        }
    }
    let label = |lanes: &dyn Fn(&str) -> Vec<u8>| -> Vec<(Vec<Step>, Vec<u8>)> {
        let lanes_of = |steps: &Vec<Step>| lanes(&letters(&topology, steps));
        ways.iter()
            .map(|steps| (steps.clone(), lanes_of(steps)))
            .collect()
    };
    let by_count = |letters: &str| -> Vec<u8> {
        let mut counts = [0; 2];
        let lane = |letter| {
            let count = &mut counts[usize::from(letter == 'g')];
            *count += 1;
            *count - 1
        };
        letters.chars().map(lane).collect()
    };
    assert!(has_cycle(&label(&by_count)));
    assert!(!has_cycle(&label(&|letters| by_place(letters, 2))));
    assert!(
        has_cycle(&label(&|letters| by_place(letters, 1))),
        "one lane for two local links"
    );
}

fn all_ways(topology: &Arc<Topology>, routing: &dyn Routing, shapes: &[&str], locals_of_group: u8) {
    let Ok(forwarding) = routing.compile(topology, 3) else {
        panic!("it fits");
    };
    let step = (topology.n_nics() / 40).max(1) as usize;
    for from in topology.nics().step_by(step) {
        for to in topology.nics().step_by(step) {
            for sequence in 0..3 {
                let queued = noise(sequence);
                let steps = path_seeing(topology, &forwarding, from, to, sequence, queued).unwrap();
                let shape = letters(topology, &steps);
                assert!(shapes.contains(&shape.as_str()), "{shape} of {shapes:?}");
                assert_eq!(lanes(&steps), by_place(&shape, locals_of_group), "{shape}");
            }
        }
    }
    let verdict = check(topology, &forwarding);
    assert!(matches!(verdict, Verdict::Free { .. }), "{verdict}");
}

/// Checks the paths of a routing, whose lanes follow from more than the place of a link, and that
/// they are free of deadlock.
fn free_ways(topology: &Arc<Topology>, routing: &dyn Routing, shapes: &[&str]) {
    let forwarding = compile(routing, topology);
    let step = (topology.n_nics() / 40).max(1) as usize;
    for from in topology.nics().step_by(step) {
        for to in topology.nics().step_by(step) {
            for sequence in 0..3 {
                let steps = path(topology, &forwarding, from, to, sequence).unwrap();
                let shape = letters(topology, &steps);
                assert!(shapes.contains(&shape.as_str()), "{shape} of {shapes:?}");
            }
        }
    }
    let verdict = check(topology, &forwarding);
    assert!(matches!(verdict, Verdict::Free { .. }), "{verdict}");
}

const STRAIGHT: [&str; 6] = ["", "l", "g", "lg", "gl", "lgl"];
const ASIDE: [&str; 8] = ["gg", "lgg", "glg", "lglg", "ggl", "lggl", "glgl", "lglgl"];
const VISITING: [&str; 6] = ["gll", "lgll", "gllg", "lgllg", "gllgl", "lgllgl"];
const TURNED: [&str; 4] = ["llgg", "llglg", "llggl", "llglgl"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn dragonflies_of_any_shape(
        hosts in 1u16..4, switches in 1u16..6, globals in 1u16..4, fewer in 0u32..12, extra in 0u16..3,
        arrangement in 0usize..4, random: bool,
    ) {
        let most = u32::from(switches) * u32::from(globals) + 1;
        let fabric = Dragonfly {
            groups: Some(most.saturating_sub(fewer).max(1)),
            arrangement: [
                Arrangement::PalmTree,
                Arrangement::Consecutive,
                Arrangement::Circulant,
                Arrangement::Random,
            ][arrangement],
            ports: Some(hosts + switches - 1 + globals + extra),
            placement: if random { Placement::Random } else { Placement::InOrder },
            ..dragonfly(hosts, switches, globals, None)
        };
        let topology = build(&fabric);
        let aside: Vec<&str> = [&STRAIGHT[..], &ASIDE].concat();
        let turned: Vec<&str> = [&aside[..], &TURNED].concat();
        all_ways(&topology, &Minimal {}, &STRAIGHT, 1);
        all_ways(&topology, &VALIANT, &aside, 1);
        let through = |intermediate| Valiant { intermediate };
        all_ways(&topology, &through(Intermediate::AnyGroup), &aside, 1);
        let visiting: Vec<&str> = [&aside[..], &VISITING].concat();
        free_ways(&topology, &through(Intermediate::Switch), &visiting);
        all_ways(&topology, &UGAL, &aside, 1);
        // Between two groups nothing turns, and one local lane suffices.
        let n = if fabric.groups > Some(2) { 2 } else { 1 };
        all_ways(&topology, &PAR_UGAL, &turned, n);
    }

    #[test]
    fn megaflies_of_any_shape(
        hosts in 1u16..3, leaves in 1u16..4, spines in 1u16..4, globals in 1u16..4, fewer in 0u32..9,
    ) {
        let most = u32::from(spines) * u32::from(globals) + 1;
        let groups = Some(most.saturating_sub(fewer).max(1));
        let topology = build(&megafly(hosts, leaves, spines, globals, groups));
        let straight = ["", "ll", "lgl"];
        let aside = ["", "ll", "lgl", "lggl", "lgllgl"];
        all_ways(&topology, &Minimal {}, &straight, 1);
        all_ways(&topology, &VALIANT, &aside, 1);
        all_ways(&topology, &UGAL, &aside, 1);
    }
}

//! Choices on fat trees, tested through the public interface.

mod common;

use common::{build, compile};
use netloom_routing::paths::{path, path_seeing};
use netloom_routing::{Choice, DModK, Ecmp, Hop, Lookup, QueueView, Routing};
use netloom_topology::{FatTree, ParallelFatTree};
use netloom_units::{NicId, Port, SwitchId};

const ALL: [Choice; 4] = [Choice::Hash, Choice::Spray, Choice::Least, Choice::LeastOf2];

fn ecmp(choice: Choice) -> Ecmp {
    Ecmp {
        choice,
        granularity: 1,
    }
}

/// Two leaves with two NICs, two roots, and three cables between each leaf and root: down ports 0
/// to 1 at a leaf and 0 to 5 at a root, up ports 2 to 7.
fn parallel() -> ParallelFatTree {
    ParallelFatTree {
        children: vec![2, 2],
        parents: vec![1, 2],
        links: vec![1, 3],
    }
}

#[test]
fn what_holds_for_each_choice() {
    let tree = build(&FatTree {
        arity: 4,
        levels: 2,
    });
    for (choice, keeps_order, is_adaptive) in [
        (Choice::Hash, true, false),
        (Choice::Spray, false, false),
        (Choice::Least, false, true),
        (Choice::LeastOf2, false, true),
    ] {
        let forwarding = compile(&ecmp(choice), &tree);
        let found = (forwarding.keeps_order(), forwarding.is_adaptive());
        assert_eq!(found, (keeps_order, is_adaptive), "{choice:?}");
        assert!(forwarding.needs_occasion() && forwarding.lanes() == 1);
    }
}

/// With a single path, every choice takes it.
#[test]
fn without_a_choice_all_are_d_mod_k() {
    let slim = build(&ParallelFatTree {
        children: vec![3, 4, 2],
        parents: vec![1, 1, 1],
        links: vec![],
    });
    let d_mod_k = compile(&DModK {}, &slim);
    for choice in ALL {
        let forwarding = compile(&ecmp(choice), &slim);
        assert!(forwarding.keeps_order() && !forwarding.is_adaptive());
        for to in slim.nics() {
            let [a, b] = [&d_mod_k, &forwarding].map(|f| path(&slim, f, NicId(5), to, 3).unwrap());
            assert_eq!(a, b, "{choice:?}");
        }
    }
}

/// With one free cable up and one free down to each child, `least` takes them.
#[test]
fn least_finds_the_free_cables_up_and_down() {
    let tree = build(&parallel());
    let forwarding = compile(&ecmp(Choice::Least), &tree);
    // At a root cable k to child c is port c + 2k, so ports 4 and 5 are the last cables.
    let queued = |s: SwitchId, p: Port| match (s.0 < 2, p.0) {
        (true, 3) | (false, 4 | 5) => 0,
        _ => 7,
    };
    for sequence in 0..50 {
        for (from, to, down) in [(0, 3, 5), (2, 1, 4)] {
            let (from, to) = (NicId(from), NicId(to));
            let steps = path_seeing(&tree, &forwarding, from, to, sequence, queued).unwrap();
            let outputs: Vec<u16> = steps.iter().map(|step| step.output.0).collect();
            assert_eq!(outputs, [3, down, (to.0 % 2) as u16]);
        }
    }
}

/// A stopped output is avoided even if nothing waits there.
#[test]
fn least_avoids_what_is_stopped() {
    struct AllButOne(Port);

    impl QueueView for AllButOne {
        fn queued(&self, output: Port) -> u32 {
            if output == self.0 { 1000 } else { 0 }
        }

        fn announced(&self, _: Port, _: Port) -> u32 {
            0
        }

        fn is_stopped(&self, output: Port, lane: u8) -> bool {
            assert_eq!(lane, 0);
            output != self.0
        }
    }

    let tree = build(&parallel());
    let forwarding = compile(&ecmp(Choice::Least), &tree);
    for port in (2..8).map(Port) {
        let lookup = Lookup::any(SwitchId(0), Port(0), 0, NicId(3));
        let mut word = 0;
        let hop = forwarding.route_seeing(&lookup, &mut word, &AllButOne(port));
        assert_eq!((hop, word), (Hop { port, lane: 0 }, 0));
    }
}

/// Another seed gives other salts, hence other paths; the same seed gives the same.
#[test]
fn salts_come_from_the_seed() {
    let tree = build(&FatTree {
        arity: 4,
        levels: 3,
    });
    let ways = |seed| {
        let forwarding = ecmp(Choice::Hash).compile(&tree, seed).unwrap();
        let way = |to| path(&tree, &forwarding, NicId(0), to, 0).unwrap();
        tree.nics().map(way).collect::<Vec<_>>()
    };
    assert_eq!(ways(1), ways(1));
    assert_ne!(ways(1), ways(2));
}

#[test]
fn a_granularity_of_nothing_is_refused() {
    let routing = Ecmp {
        choice: Choice::Least,
        granularity: 0,
    };
    let refused = routing.compile(&build(&parallel()), 1).unwrap_err();
    assert_eq!(
        refused,
        "expected granularity = 1 or more, found granularity = 0"
    );
}

//! The largest benchmark fabric: 262,144 NICs.

mod common;

use std::time::{Duration, Instant};

use common::{build, compile};
use netloom_random::{Purpose, Stream};
use netloom_routing::deadlock::{Verdict, check};
use netloom_routing::paths::path;
use netloom_routing::{DModK, RandomUp, Routing};
use netloom_topology::{ParallelFatTree, measures};
use netloom_units::NicId;

#[test]
fn ft262144_builds_and_routes_in_seconds() {
    let start = Instant::now();
    let topology = build(&ParallelFatTree {
        children: vec![64, 64, 64],
        parents: vec![1, 64, 64],
        links: vec![],
    });
    let built = start.elapsed();
    assert_eq!(
        (topology.n_nics(), topology.n_switches(), topology.radix()),
        (262_144, 12_288, 128)
    );
    assert_eq!(topology.n_ports_in_all(), 4096 * (128 + 128 + 64));
    assert!(built < Duration::from_secs(2), "built in {built:?}");
    let stream = Stream::new(1, Purpose::Placement);
    let routings: [&dyn Routing; 2] = [&DModK {}, &RandomUp { to_root: false }];
    for routing in routings {
        let forwarding = compile(routing, &topology);
        for i in 0..10_000 {
            let draw = stream.draw([i, 0, 0, 0]);
            let (from, to) = (NicId(draw.below(0, 262_144)), NicId(draw.below(1, 262_144)));
            let steps = path(&topology, &forwarding, from, to, i).unwrap();
            let common = (0..3)
                .find(|&l| from.0 >> (6 * (l + 1)) == to.0 >> (6 * (l + 1)))
                .unwrap();
            assert_eq!(steps.len(), 2 * common + 1);
        }
        let verdict = check(&topology, &forwarding);
        assert!(matches!(verdict, Verdict::Free { .. }), "{verdict}");
    }
    for n in [2, 3, 64] {
        let parts = topology.partitions(n);
        assert_eq!(usize::from(*parts.iter().max().unwrap()), n - 1);
    }
    assert_eq!(measures(&topology).diameter, 6);
    let all = start.elapsed();
    println!("built in {built:?}, everything in {all:?}");
    assert!(all < Duration::from_secs(10), "{all:?}");
}

#[test]
fn a_forwarding_is_shared_by_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<netloom_routing::Forwarding>();
    is_shared::<netloom_topology::Topology>();
}

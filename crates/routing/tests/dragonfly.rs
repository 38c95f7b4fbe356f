//! Routings on dragonflies.

mod common;

use std::time::Instant;

use common::{build, compile};
use netloom_routing::deadlock::{Verdict, check};
use netloom_routing::{Knowledge, Minimal, Par, Routing, Ugal, Valiant};
use netloom_topology::{Arrangement, Dragonfly, Placement};

#[test]
fn paper_002_is_proved() {
    let topology = build(&Dragonfly {
        hosts: 5,
        switches: 11,
        globals: 5,
        groups: None,
        arrangement: Arrangement::PalmTree,
        ports: None,
        placement: Placement::Random,
    });
    let routings: [&dyn Routing; 4] = [
        &Minimal {},
        &Valiant {},
        &Ugal {
            threshold: 24,
            knowledge: Knowledge::Local,
        },
        &Par { threshold: 24 },
    ];
    for routing in routings {
        let start = Instant::now();
        let forwarding = compile(routing, &topology);
        let verdict = check(&topology, &forwarding);
        println!("{:?} {verdict}", start.elapsed());
        assert!(matches!(verdict, Verdict::Free { .. }));
    }
}

//! Instruction counts of the model alone: the benchmark fabric ft64 for a given number of ticks.
//!
//! `valgrind --tool=callgrind` over two lengths gives the cost of a packet-hop by their difference.

#[path = "../tests/support/mod.rs"]
mod support;

use netloom_fabric::{LinkTiming, Options};
use support::{Case, pipeline, two_tables};

fn main() {
    let until = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(200_000);
    let case = Case {
        links: vec![LinkTiming { flit: 1, delay: 20 }],
        pipeline: pipeline(0, 3, 0, 2, 0, 0),
        vls: 8,
        policy: two_tables(8, 255),
        flits: vec![32],
        input: 128,
        output: 64,
        load: 0.5,
        until,
        ..Case::tree(4, 3)
    };
    let start = std::time::Instant::now();
    let mut simulation = case.simulate(Options::default());
    let seconds = start.elapsed().as_secs_f64();
    let events = simulation.events();
    let counters = simulation.counters();
    let hops = counters.packet_hops;
    println!(
        "hops {hops} events/hop {:.3} ns/hop {:.1} fused {:.3} delivered {} digest {}",
        events as f64 / hops as f64,
        seconds * 1e9 / hops as f64,
        counters.fused as f64 / hops as f64,
        counters.delivered,
        counters.digest
    );
}

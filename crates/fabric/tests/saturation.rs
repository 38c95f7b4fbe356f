//! A switch with saturated inputs, compared with the theory of head-of-line blocking.

mod support;

use netloom_fabric::{Allocation, Options, QueueScheme};
use netloom_units::Tick;
use support::{Case, pipeline};

/// Returns the delivered load of saturated single-flit uniform traffic over one switch.
fn throughput(ports: u32, queues: QueueScheme, allocation: Allocation, input: u32) -> f64 {
    let case = Case {
        vls: 1,
        flits: vec![1],
        load: 1.0,
        queues,
        allocation,
        // The output buffer only holds what the link sends at once: an input-queued switch.
        input,
        output: 4,
        pipeline: pipeline(0, 0, 0, 1, 0, 0),
        until: 0,
        ..Case::single(ports)
    };
    let mut run = case.simulate(Options::default());
    run.run_until(Tick(2_000));
    let before = run.counters().delivered;
    run.run_until(Tick(42_000));
    (run.counters().delivered - before) as f64 / 40_000.0 / f64::from(ports)
}

/// Textbooks have 0.618 for 8 ports and 0.593 for 32, where an input may send to its own output.
/// Here no NIC sends to itself.
#[test]
fn v001_14_a_single_fifo_saturates_at_0_6255_with_8_ports() {
    let load = throughput(8, QueueScheme::PerVl, Allocation::Separable, 64);
    assert!((load - 0.6255).abs() < 0.003, "{load}");
}

#[test]
fn v001_14_a_single_fifo_saturates_at_0_594_with_32_ports() {
    let load = throughput(32, QueueScheme::PerVl, Allocation::Separable, 64);
    assert!((load - 0.594).abs() < 0.003, "{load}");
}

#[test]
fn virtual_output_queues_with_islip_carry_above_0_9() {
    // All queues of an input share its buffer, which must be large enough that no output runs dry.
    let voq = |ports, iterations| {
        throughput(
            ports,
            QueueScheme::VoqSwitch,
            Allocation::Islip { iterations },
            2048,
        )
    };
    for (ports, iterations) in [(8, 2), (8, 4), (32, 1), (32, 4)] {
        let load = voq(ports, iterations);
        assert!(load > 0.9, "{ports} ports, {iterations} rounds: {load}");
    }
    // No NIC sends to itself, so with a single round the rotating pointers waste the turn in which
    // an input would meet its own output: 7/8.
    assert!((voq(8, 1) - 0.875).abs() < 0.01);
}

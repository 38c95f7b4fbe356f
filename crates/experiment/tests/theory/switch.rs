//! One input-queued switch, against theory and against slots.

use crate::measured::{assert_near, latency, runs, unloaded};
use crate::slots::{fifo_saturation, islip_wait};

fn switch(ports: u32, load: f64, more: &str) -> String {
    format!(
        "[topology]\nkind = \"single-switch\"\nports = {ports}\n[switch]\nkind = \"iq\"\n{more}\
         [[traffic]]\nload = {load}\nmessage = \"64 B\"\narrival = \"bernoulli\"\n"
    )
}

/// Head-of-line blocking. With infinitely many ports a FIFO per input carries 2 - sqrt 2 = 0.586
/// (Karol); with 8 and 32 that may all be anyone's destination 0.618 and 0.593. Here no NIC sends
/// to itself, so heads collide less: 0.6255 and 0.594, which the slots of this test give as well.
/// Tolerance 0.003.
#[test]
fn v001_14_a_fifo_per_input_saturates_at_0_6255_and_0_594() {
    for (ports, theory, length) in [(8, 0.6255, "400 us"), (32, 0.594, "150 us")] {
        let slots = fifo_saturation(ports as usize, 200_000, 1);
        assert!((slots - theory).abs() < 0.0015, "{ports} ports: {slots}");
        let runs = runs(&switch(ports, 1.0, "input-buffer = \"4 KiB\"\n"), 3, length);
        let loads: Vec<f64> = runs.iter().map(|run| run.total.delivered_load).collect();
        assert_near("saturated load", &loads, theory, 0.003);
    }
}

/// iSLIP with one and two iterations has the waits of its slots. A wait is the time beyond the
/// unloaded time. Tolerance 3 % of the wait.
#[test]
fn islip_waits_as_in_slots() {
    for (ports, iterations, load) in [(8, 2, 0.9), (8, 4, 0.9), (16, 1, 0.8)] {
        let slots: Vec<f64> = (1..=5)
            .map(|seed| islip_wait(ports as usize, iterations, load, 120_000, seed))
            .collect();
        let theory = slots.iter().sum::<f64>() / slots.len() as f64;
        let more = format!(
            "queues = \"voq\"\nallocator = {{ kind = \"islip\", iterations = {iterations} }}\n\
             input-buffer = \"128 KiB\"\n"
        );
        let runs = runs(&switch(ports, load, &more), 5, "600 us");
        let waits: Vec<f64> = runs.iter().map(|r| latency(r) - unloaded(1.0, 1)).collect();
        assert_near(
            &format!("wait, {ports} ports, {iterations} iterations"),
            &waits,
            theory,
            0.03 * theory,
        );
    }
}

/// No NIC sends to itself, so with a single iteration the rotating pointers of a full switch waste
/// the turn in which an input would meet its own output: 7/8 of 8 ports.
#[test]
fn saturated_islip_of_one_iteration_carries_seven_eighths() {
    let more = "queues = \"voq\"\nallocator = \"islip\"\ninput-buffer = \"128 KiB\"\n";
    let runs = runs(&switch(8, 1.0, more), 3, "200 us");
    let loads: Vec<f64> = runs.iter().map(|run| run.total.delivered_load).collect();
    assert_near("saturated load", &loads, 0.875, 0.002);
}

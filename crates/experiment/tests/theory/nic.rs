//! The queue of a NIC is a queue with one server of constant time.
//!
//! Every NIC sends to the next one, so messages never meet after the NICs. The switch receives each
//! link's flits in the order and at the distance in which its output sends them. All waits are at
//! the NICs.

use crate::measured::{assert_near, class_latency, latency, runs, unloaded};

const PAIRED: &str = "\
[topology]
kind = \"single-switch\"
ports = 16
[[traffic]]
load = 0.8
pattern = \"neighbour\"
";

/// Geo/D/1. In each cycle a message arrives with probability p, and takes S cycles. It finds the
/// rest of the message being sent, p S (S - 1) / 2 on average, because arrivals of a Bernoulli
/// process see averages, and p W waiting messages of S cycles each (Little). From W = p S (S - 1) /
/// 2 + p S W follows W = p S (S - 1) / (2 (1 - rho)). With S = 2 and rho = 0.8: 0.4 * 2 / 0.4 = 2.
/// Tolerance 1 %.
#[test]
fn bernoulli_messages_of_two_flits_wait_two_cycles() {
    let more = format!("{PAIRED}message = \"128 B\"\narrival = \"bernoulli\"\n");
    let runs = runs(&more, 8, "800 us");
    let waits: Vec<f64> = runs.iter().map(|r| latency(r) - unloaded(1.0, 2)).collect();
    assert_near("wait at a NIC", &waits, 2.0, 0.02);
}

/// M/D/1 (Pollaczek and Khinchine): W = rho S / (2 (1 - rho)). Arrivals on whole cycles do not
/// change this: the queue before a cycle's messages is S (rho - lambda + lambda rho) / (2 (1 -
/// rho)) on average, and those of one cycle wait for each other, lambda S / 2, which together is
/// the same. With S = 16 and rho = 0.8: 32. Tolerance 2 %.
#[test]
fn poisson_messages_of_sixteen_flits_wait_32_cycles() {
    let more = format!("{PAIRED}message = \"1 KiB\"\narrival = \"poisson\"\n");
    let runs = runs(&more, 8, "2 ms");
    let waits: Vec<f64> = runs
        .iter()
        .map(|r| latency(r) - unloaded(1.0, 16))
        .collect();
    assert_near("wait at a NIC", &waits, 32.0, 0.64);
}

/// Two priorities without preemption (Cobham), on the grid of cycles. Both classes are Bernoulli
/// with messages of S = 16 flits, rho is 0.3 above and 0.4 below. Every arrival finds R = (rho_h +
/// rho_l) (S - 1) / 2 = 5.25 of the message being sent. Above, W_h = R + rho_h W_h, hence 5.25 /
/// 0.7 = 7.5. Below, W_l = R + rho_h W_h + rho_l W_l, and arrivals above in each cycle up to its
/// start go first: + rho_h (1 + W_l). Hence W_l = (W_h + rho_h) / (1 - rho_h - rho_l) = (7.5 + 0.3)
/// / 0.3 = 26; without the grid it would be 25. Tolerance 2 %.
#[test]
fn two_priorities_wait_as_cobham_says() {
    let class = |name: &str, sl: u32, load: f64| {
        format!(
            "[[traffic]]\nname = \"{name}\"\nsl = {sl}\nload = {load}\nmessage = \"1 KiB\"\n\
             pattern = \"neighbour\"\narrival = \"bernoulli\"\n"
        )
    };
    let more = format!(
        "[topology]\nkind = \"single-switch\"\nports = 16\n\
         [qos]\nvls = 2\narbiter = {{ kind = \"strict-priority\", order = [0, 1] }}\n{}{}",
        class("high", 0, 0.3),
        class("low", 1, 0.4),
    );
    let runs = runs(&more, 8, "2 ms");
    for (class, theory) in [(0, 7.5), (1, 26.0)] {
        let waits: Vec<f64> = runs
            .iter()
            .map(|r| class_latency(r, class) - unloaded(1.0, 16))
            .collect();
        assert_near("wait at a NIC", &waits, theory, 0.02 * theory);
    }
}

//! Queues after the crossbar of a switch.

use crate::measured::{CYCLE, assert_near, latency, runs};

/// Output queueing (Karol, Hluchyj, Morgan 1987). In each cycle each of N inputs has a flit with
/// probability p, uniformly for N outputs. The switch moves all of them at once, here because its
/// clock is four times that of the links. So A flits arrive at an output, binomial with E A (A - 1)
/// = p p (N - 1) / N. The queue that a cycle's flits find is E A (A - 1) / (2 (1 - p)), and among
/// themselves they wait E A (A - 1) / (2 p). Together W = (N - 1) / N * p / (2 (1 - p)): with N = 4
/// and p = 0.8, 1.5 cycles. NICs do not send to themselves, so four NICs send and four others
/// receive. Tolerance 1 %.
#[test]
fn flits_of_four_inputs_wait_one_and_a_half_cycles_at_an_output() {
    let more = "[topology]\nkind = \"single-switch\"\nports = 8\n[switch]\nclock = \"1.28 ns\"\n\
                input-buffer = \"8 KiB\"\noutput-buffer = \"8 KiB\"\n\
                [[traffic]]\nload = 0.8\nmessage = \"64 B\"\nsources = \"0-3\"\n\
                destinations = \"4-7\"\n";
    // Two links, and two cycles of the fast clock between them.
    let unloaded = 2.0 + 2.0 * 1.28 / CYCLE;
    let runs = runs(more, 5, "1 ms");
    let waits: Vec<f64> = runs.iter().map(|run| latency(run) - unloaded).collect();
    assert_near("wait at an output", &waits, 1.5, 0.015);
}

/// A table of weights 4, 2, 1 with backlogged lanes shares a link 4 : 2 : 1. The crossbar is twice
/// as fast as the link: at the same rate, inputs would be served in turn before the table decides.
/// Packets fit the weights, so only the ends of the measured time can be uneven: 0.2 % of the link.
#[test]
fn a_table_shares_four_to_two_to_one() {
    let class = |sl: u32| {
        format!(
            "[[traffic]]\nname = \"c{sl}\"\nsl = {sl}\nload = 1.0\nmessage = \"1 KiB\"\n\
             sources = [{sl}]\n\
             pattern = {{ kind = \"pairs\", pairs = [[{sl}, 3]] }}\n"
        )
    };
    let more = format!(
        "[topology]\nkind = \"single-switch\"\nports = 4\n[switch]\nspeedup = 2\n\
         [qos]\nvls = 3\narbiter = {{ kind = \"ib-two-table\", low = [[0, 64], [1, 32], [2, 16]] \
         }}\n{}{}{}",
        class(0),
        class(1),
        class(2),
    );
    let runs = runs(&more, 3, "400 us");
    for (class, weight) in [(0, 4.0), (1, 2.0), (2, 1.0)] {
        // Four NICs, one of which receives: loads are fractions of all their links.
        let of_the_link =
            |run: &netloom_results::Run| 4.0 * run.classes[class].summary.delivered_load;
        let shares: Vec<f64> = runs.iter().map(of_the_link).collect();
        assert_near("share of a link", &shares, weight / 7.0, 0.002);
    }
}

//! Whole fabrics: the time of a packet without other traffic, and Little's law with it.

use crate::measured::{CYCLE, runs, unloaded};

/// Alone, a packet of S flits takes exactly 3 H + 1 + (S - 1) cycles over H switches, for all
/// messages of a pair.
#[test]
fn a_packet_alone_takes_the_sum_of_its_parts() {
    let grid = |kind: &str| format!("kind = \"{kind}\"\nsides = [8, 8]\nhosts = 1");
    let cases = [
        // From one corner to the other: 7 + 7 links between 15 switches; round the torus 4 + 4.
        (grid("mesh"), [0, 63], 15),
        (grid("torus"), [0, 36], 9),
        (
            "kind = \"fat-tree\"\narity = 4\nlevels = 3".into(),
            [0, 63],
            5,
        ),
        ("kind = \"hypercube\"\ndimensions = 6".into(), [0, 63], 7),
    ];
    for (topology, [from, to], switches) in cases {
        for flits in [1, 16] {
            let more = format!(
                "[topology]\n{topology}\n[[traffic]]\nmessage = \"{} B\"\nsources = [{from}]\n\
                 pattern = {{ kind = \"pairs\", pairs = [[{from}, {to}]] }}\n\
                 arrival = {{ kind = \"periodic\", period = \"2 us\" }}\n",
                64 * flits
            );
            let total = &runs(&more, 1, "60 us")[0].total;
            let expected = unloaded(f64::from(switches), flits) * CYCLE;
            for latency in [total.latency_mean_ns, total.latency_max_ns] {
                let latency = latency.expect("messages");
                assert!(
                    (latency - expected).abs() < 1e-6,
                    "{flits} flits over {switches} switches: {latency} ns, not {expected} ns"
                );
            }
        }
    }
}

/// Little's law: the mean contents of the fabric are the arrival rate times the mean time. A flit
/// is on each of the H + 1 links of its path for a cycle, and in an input buffer for the rest of
/// its time. So all input buffers together hold X (T - (H + 1)) flits. The left side is summed by
/// the buffers over time, the right one by receivers over packets. They differ by the packets in
/// flight at the two ends of the measured time: 0.5 %.
#[test]
fn buffers_of_a_torus_hold_what_little_says() {
    for load in [0.1, 0.3, 0.5] {
        let more = format!(
            "[topology]\nkind = \"torus\"\nsides = [8, 8]\nhosts = 1\n\
             [routing]\nkind = \"dimension-order\"\ndeadlock = \"dateline\"\n\
             [switch]\nkind = \"iq\"\ninput-buffer = \"1 KiB\"\n\
             [[traffic]]\nload = {load}\nmessage = \"64 B\"\n"
        );
        let run = &runs(&more, 1, "150 us")[0];
        let per_cycle = 64.0 * run.total.delivered_load;
        let stay = run.total.network_latency_mean_ns.expect("packets") / CYCLE;
        let switches = run.total.switches_mean.expect("packets");
        let little = per_cycle * (stay - (switches + 1.0));
        // Four neighbours and a NIC.
        let held = 64.0 * 5.0 * run.links.input_buffer_mean_flits;
        assert!(
            (held / little - 1.0).abs() < 0.005,
            "load {load}: {held:.2} flits in buffers, Little says {little:.2}"
        );
    }
}

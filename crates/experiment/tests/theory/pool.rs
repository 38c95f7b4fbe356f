//! The share of a lane when another lane has filled a shared buffer.

use crate::measured::runs;

/// A lane whose neighbour has taken all that is shared has its reserve, and each place of that is
/// used once in a credit's round trip: so it carries reserve / round trip. The round trip here is a
/// flit (1), the cable (20), routing (1), the crossbar (1), the credit (1) and the cable (20): 44
/// cycles. In addition there is the shared part, whose free places go to the lanes in turn, so the
/// lane gets at least the share of its neighbour. The neighbour waits for an output that three
/// other inputs share, a quarter of a link. Tolerance 0.2 % of the link, for the ends of the run.
#[test]
fn a_lane_keeps_its_reserve_over_the_round_trip() {
    for (reserve, expected) in [
        (1, 0.25),
        (8, 0.25),
        (12, 12.0 / 44.0),
        (16, 16.0 / 44.0),
        (24, 24.0 / 44.0),
    ] {
        let more = format!(
            "[topology]\nkind = \"mesh\"\nsides = [2]\nhosts = 5\n[link.class.x]\n\
             delay = \"102.4 ns\"\n\
             [switch]\ninput-buffer = {{ pool = \"8 KiB\", min = \"{} B\" }}\n\
             output-buffer = \"1 KiB\"\n\
             allocator = {{ kind = \"islip\", iterations = 2 }}\n[qos]\nvls = 2\n\
             [[traffic]]\nname = \"blocked\"\nsl = 0\nload = 1.0\nmessage = \"64 B\"\n\
             sources = [0, 6, 7, 8]\n\
             pattern = {{ kind = \"pairs\", pairs = [[0, 5], [6, 5], [7, 5], [8, 5]] }}\n\
             [[traffic]]\nname = \"passing\"\nsl = 1\nload = 1.0\nmessage = \"64 B\"\n\
             sources = [1]\n\
             pattern = {{ kind = \"pairs\", pairs = [[1, 9]] }}\n",
            64 * reserve
        );
        // Ten NICs: loads are fractions of all their links.
        let passing = 10.0
            * runs(&more, 1, "300 us")[0].classes[1]
                .summary
                .delivered_load;
        assert!(
            (passing - expected).abs() < 0.002,
            "{reserve} flits of reserve: {passing:.4}, and {expected:.4} expected"
        );
    }
}

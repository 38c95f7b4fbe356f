//! The credit round trip computed by `check`, compared with the simulator: with this buffer a lane
//! fills the link, with one flit less it does not.

use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Request, load};

/// Returns the packets that one saturated flow delivers between two switches, and the notes of
/// `check`.
fn delivered(more: &str, input_flits: u64) -> (u64, Vec<&'static str>) {
    let text = format!(
        "netloom = 1\n[topology]\nkind = \"graph\"\ntext = \"link a b\\nnic n0 a\\nnic n1 b\"\n\
         [[traffic]]\nload = 1.0\narrival = \"constant\"\n\
         pattern = {{ kind = \"pairs\", pairs = [[0, 1]] }}\n\
         sources = [0]\n[measure]\nlength = \"400 us\"\nwarmup = \"100 us\"\n\
         [link]\ndelay = \"102.4 ns\"\n[link.class.host]\ndelay = \"5.12 ns\"\n{more}"
    );
    let sets = [format!("switch.input-buffer=\"{} B\"", input_flits * 64)];
    let loaded = load(&Request {
        sets: &sets,
        ..Request::new("test.toml", &text)
    });
    let codes = loaded.notes.iter().map(|note| note.code).collect();
    let experiment = loaded.experiment.expect("an experiment");
    let result = run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    (result.document.run.counters.delivered_packets, codes)
}

fn check(more: &str, need: u64) {
    let (most, _) = delivered(more, 4 * need);
    let (with, quiet) = delivered(more, need);
    let (without, warned) = delivered(more, need - 1);
    assert_eq!((with, &quiet[..]), (most, &[][..]), "{more}");
    assert!(without < most, "{more}: {without} of {most}");
    assert_eq!(warned, ["W0312"], "{more}");
}

#[test]
fn the_round_trip_is_what_the_simulator_needs() {
    // A flit, two wires of 20, input and routing 2, allocation, its flit, credit and output 4: 47
    // cycles, in which 46 flits are sent before the credit of the first counts. A packet has 32.
    check("", 46 + 32);
    check(
        "[switch.pipeline]\nrouting = 5\ncredit = 3\noutput = 0\n",
        51 + 32,
    );
    // In a fast crossbar the header waits for 3 cycles, and the flits then catch up: flit k passes
    // k cycles after the header arrived. Of the packet that began 64 cycles ago, 17 + 3 credits
    // more than the first have returned.
    check("[switch]\nspeedup = 2\n", 32 + 11 + 32);
    // A crossbar that does not start at once waits for half of a packet (15 cycles more than the
    // allocation). Its first credit returns after 60 cycles, then two per cycle. The packet that
    // began 64 cycles ago has 10 of them.
    check(
        "[switch]\nspeedup = 2\ncrossbar-start = \"stored\"\n",
        32 + 22 + 32,
    );
}

//! What a real OpenSM programmed into ports that ibsim does not support: 64 entries, 15 lanes, one
//! lane at the start, and readable limits. The output of `smpquery` was recorded with an emulator
//! of such ports.

mod simulated_fabric;

use netloom_infiniband::opensm::{Conf, PortCapabilities, PortKind, Sweep, program};
use simulated_fabric::{field, lanes, read_sl2vl, read_vlarb};

/// A host, a switch port and an enhanced port 0, in the order of the recordings.
const KINDS: [PortKind; 3] = [
    PortKind::ChannelAdapter,
    PortKind::SwitchExternal,
    PortKind::EnhancedPort0,
];

fn check(recorded: &str, cap: u8, operational_before: u8, sweep: Sweep) {
    let conf = Conf::read(include_str!("opensm/recorded/long_lists.conf"), 0);
    let blocks: Vec<&str> = recorded.split("# VLArbitration").skip(1).collect();
    assert_eq!(blocks.len(), KINDS.len());
    for (kind, block) in KINDS.into_iter().zip(blocks) {
        let port = PortCapabilities {
            lanes: 15,
            neighbor_lanes: (kind != PortKind::EnhancedPort0).then_some(15),
            operational_before,
            low_cap: cap,
            high_cap: cap,
        };
        let expected = program(&conf, kind, &port, sweep).expect("QoS is on");
        let [low, high] = read_vlarb(block).expect("tables");
        let pairs = |entries: &[netloom_arbitration::Entry]| -> Vec<(u8, u8)> {
            entries.iter().map(|e| (e.vl.0, e.weight)).collect()
        };
        // smpquery shows whole blocks of 32, whatever the cap.
        let shown = |mut table: Vec<(u8, u8)>| {
            assert!(
                table[usize::from(cap).min(table.len())..]
                    .iter()
                    .all(|e| *e == (0, 0))
            );
            table.truncate(usize::from(cap));
            table
        };
        assert_eq!(
            shown(low),
            pairs(&expected.arbitration.low),
            "low table of {kind:?}, cap {cap}"
        );
        assert_eq!(
            shown(high),
            pairs(&expected.arbitration.high),
            "high table of {kind:?}, cap {cap}"
        );
        for (input, row) in read_sl2vl(block) {
            let map = match (input, expected.sl_to_vl_from_outside) {
                (1.., Some(outside)) => outside,
                _ => expected.sl_to_vl,
            };
            assert_eq!(row, map.0.map(|vl| vl.0), "lanes of {kind:?} from {input}");
        }
        assert_eq!(field(block, "VLHighLimit"), expected.high_limit.to_string());
        assert_eq!(
            lanes(field(block, "OperVLs")),
            expected.operational,
            "OperVLs of {kind:?}"
        );
    }
}

#[test]
fn tables_of_64_lose_their_second_half() {
    check(
        include_str!("opensm/recorded/cap64.txt"),
        64,
        15,
        Sweep::First,
    );
    check(
        include_str!("opensm/recorded/cap63.txt"),
        63,
        15,
        Sweep::First,
    );
    check(
        include_str!("opensm/recorded/cap32.txt"),
        32,
        15,
        Sweep::First,
    );
}

#[test]
fn ports_that_start_with_one_lane_are_folded_to_it_until_the_second_sweep() {
    check(
        include_str!("opensm/recorded/opvls1_first.txt"),
        16,
        1,
        Sweep::First,
    );
    check(
        include_str!("opensm/recorded/opvls1_later.txt"),
        16,
        1,
        Sweep::Later,
    );
}

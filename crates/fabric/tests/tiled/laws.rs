//! Invariants that hold despite errors.

use std::sync::Arc;

use netloom_fabric::build;
use netloom_fabric::{Options, Row, rows};
use netloom_routing::ParUgal;
use netloom_units::Tick;

use crate::support::Case;

/// Faults of all kinds at 1e-3 per packet and switch, over a million packets: every message arrives
/// exactly once and complete, and the stashes drain.
#[test]
fn a_million_packets_survive_faults() {
    // Messages of one and of three packets, two on average.
    let messages = 7_200;
    let case = Case {
        flits: vec![vec![24, 72]],
        load: 0.5,
        messages: Some(messages),
        ..Case::dragonfly72(Arc::new(ParUgal { threshold: 24 }))
    }
    .reliable(&[1750, 1500, 0], Some(650_000))
    .faulty(1e-3, 1e-3, 1e-3);
    let plan = case.plan();
    let mut fabric = build(&plan, Options::default());
    let mut now = Tick(0);
    while fabric.next_event().is_some() {
        now = Tick(now.0 + 1_000_000);
        fabric.run_until(now);
        fabric.check_laws();
        assert!(now.0 < 400_000_000, "it ends");
    }
    let mut recorded = vec![Row::default(); rows(&plan).len()];
    fabric.take_rows(&mut recorded);
    let row = &recorded[0];
    assert_eq!(row.offered_messages, 72 * u64::from(messages));
    assert_eq!(
        row.delivered_messages, row.offered_messages,
        "every message"
    );
    assert_eq!(row.delivered_packets, row.injected_packets, "exactly once");
    assert_eq!(row.delivered_flits, row.offered_flits, "in one piece");
    assert!(
        row.delivered_packets > 1_000_000,
        "{}",
        row.delivered_packets
    );
    let protocol = fabric.protocol().unwrap();
    // About 10 hops of data and acknowledgement together: some thousand of each.
    assert!(protocol.corrupted > 2_000 && protocol.lost > 2_000 && protocol.link_repeats > 2_000);
    assert!(protocol.retransmitted > protocol.lost / 2 && protocol.duplicates > 100);
    assert_eq!(
        protocol.stashed, row.injected_packets,
        "a copy of each packet"
    );
    assert_eq!(protocol.deleted, protocol.stashed, "each copy leaves once");
    assert!(fabric.stash_flits().iter().all(|&flits| flits == 0));
    assert!(fabric.is_idle(), "all buffers are empty again");
}

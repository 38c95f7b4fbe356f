//! Tests of the reference implementation alone: it must be right before it is compared. Clocks are
//! those of the paper: the core has an edge every 10 ticks, a flit takes 13 on a link, and links to
//! NICs have a delay of 65.

use crate::support::cases::{WINDOW, cases};
use crate::support::random::{any_case, so_many};
use crate::support::{Case, STAGES, Scripted, scripted};
use crate::twin::{Counts, Flow, Twin};
use netloom_fabric::{CrossbarStart, Cuts, FabricPlan, StashUse, TileStages, Window};
use proptest::prelude::*;

/// Eight flits from one NIC to another, unless a test sets something else.
fn sending(script: &[Scripted]) -> Case {
    Case::single(8).scripted(script)
}

/// Returns when the tail of each data packet arrived, in order: (source, tick).
fn arrivals(case: &Case) -> Vec<(u32, u64)> {
    let plan = case.plan();
    let twin = drained(&plan, "a script");
    let data = twin.deliveries.iter().filter(|(_, is_data)| *is_data);
    data.map(|(d, _)| (d.source, d.tail)).collect()
}

fn drained<'a>(plan: &'a FabricPlan, name: &str) -> Twin<'a> {
    let mut twin = Twin::new(plan);
    while twin.now() == 0 || !twin.is_idle() {
        assert!(twin.now() < 600_000, "{name} drains: {:?}", twin.counts);
        twin.run_until(twin.now() + 2_000);
    }
    let counts = &twin.counts;
    assert_eq!(counts.injected_data, counts.delivered, "{name}: once each");
    twin
}

/// One packet through one switch: the sum of its parts.
#[test]
fn a_packet_alone_takes_the_sum_of_its_parts() {
    let one = |flits| arrivals(&sending(&[scripted(0, 0, 5, flits)]));
    // Received at 13 + 65; the next edge is 80. Two cycles before the bus, one on it, three for the
    // tile, one for the multiplexer, one for the output: on the link from 160 on.
    let on_link = 80 + (2 + 1 + 3 + 1 + 1) * 10;
    assert_eq!(one(1), [(0, on_link + 13 + 65)]);
    // The bus does not wait for the other flits, nor does any later stage.
    assert_eq!(one(24), [(0, on_link + 24 * 13 + 65)]);
    // To avoid running dry: the last flit of 24 comes 23 times 3 ticks later than the bus could
    // take it. That is 147, so it waits for the edge at 150 instead of 100.
    let stored = Case {
        start: CrossbarStart::Stored,
        ..sending(&[scripted(0, 0, 5, 24)])
    };
    assert_eq!(arrivals(&stored), [(0, on_link + 50 + 24 * 13 + 65)]);
}

/// A faster core costs a single packet nothing. With stored starts, the cost grows with the speed
/// of the core.
#[test]
fn a_faster_core_is_never_slower() {
    let latencies = |start| {
        [13, 12, 10, 9, 7, 5, 3, 1].map(|period| {
            let case = Case {
                period,
                start,
                ..sending(&[scripted(0, 0, 5, 24)])
            };
            arrivals(&case)[0].1
        })
    };
    let at_once = latencies(CrossbarStart::AtOnce);
    assert!(
        at_once.is_sorted_by(|slow, fast| slow >= fast),
        "{at_once:?}"
    );
    let stored = latencies(CrossbarStart::Stored);
    assert_eq!(stored[0], at_once[0], "equal if it is not faster");
    assert!(stored[7] > stored[0], "{stored:?}");
}

/// Inputs 0 and 1 are of one row: the tile gives its output to the first and then to the second.
#[test]
fn two_packets_contend_for_a_tile_output() {
    let script = [scripted(0, 0, 5, 8), scripted(1, 0, 5, 8)];
    // Bus at 100, tile at 110 and 190. The first is on the link from 160 to 264. The second is in
    // the column buffer at 220, in the output buffer at 230, and follows the first on the link.
    assert_eq!(
        arrivals(&sending(&script)),
        [(0, 264 + 65), (1, 264 + 104 + 65)]
    );
    // With a link as fast as the core there is still one cycle of the link per flit: 80 ticks for
    // the first.
    let fast = Case {
        links: vec![netloom_fabric::LinkTiming {
            flit: 10,
            delay: 65,
        }],
        ..sending(&script)
    };
    // Received at 75, bus at 100, tile at 110 and 190, links from 160 and 240.
    assert_eq!(arrivals(&fast), [(0, 240 + 65), (1, 320 + 65)]);
}

/// Inputs 0 and 4 are of different rows and meet at the multiplexer.
#[test]
fn two_packets_contend_for_a_multiplexer() {
    let script = [scripted(4, 0, 5, 8), scripted(0, 0, 5, 8)];
    let fast = Case {
        links: vec![netloom_fabric::LinkTiming {
            flit: 10,
            delay: 65,
        }],
        ..sending(&script)
    };
    // Both in column buffers at 140; row 0 goes first, row 1 at 220. On the link from 160 and from
    // 240.
    assert_eq!(arrivals(&fast), [(0, 240 + 65), (4, 320 + 65)]);
}

/// The pointer of the multiplexer has moved past row 0: the next round starts with row 1.
#[test]
fn rows_take_turns_at_a_multiplexer() {
    let script = [0, 4].map(|from| [scripted(from, 0, 5, 8), scripted(from, 0, 5, 8)]);
    let order: Vec<u32> = arrivals(&sending(&script.concat()))
        .iter()
        .map(|(source, _)| *source)
        .collect();
    assert_eq!(order, [0, 4, 0, 4]);
}

/// Packets of four inputs follow each other on a link without a gap.
#[test]
fn a_link_is_never_idle_while_packets_wait() {
    let script = [0, 1, 4, 6].map(|from| scripted(from, 0, 5, 8));
    let tails: Vec<u64> = arrivals(&sending(&script))
        .iter()
        .map(|(_, tail)| *tail)
        .collect();
    let first = 160 + 104 + 65;
    assert_eq!(tails, [first, first + 104, first + 208, first + 312]);
}

/// An input buffer of one packet: the second packet waits for the credit of the first.
#[test]
fn a_nic_waits_for_its_credit() {
    let script = [scripted(0, 0, 5, 8), scripted(0, 0, 6, 8)];
    let tight = Case {
        input: vec![0],
        ..sending(&script)
    };
    // The bus is granted at 100, the credit is back at 100 + 10 + 65; the NIC's next edge is 182.
    // Received at 260, the bus at 280, on the link 60 later.
    assert_eq!(arrivals(&tight), [(0, 264 + 65), (0, 280 + 60 + 104 + 65)]);
}

/// An output buffer of one packet holds it until the other end of the link has acknowledged it.
#[test]
fn an_output_buffer_is_held_for_a_round_trip() {
    let script = [scripted(0, 0, 5, 8), scripted(1, 0, 5, 8)];
    let tight = Case {
        output: vec![0],
        ..sending(&script)
    };
    // Sent from 160 to 264, free at 264 + 130 = 394; multiplexer at 400, link from 420.
    assert_eq!(arrivals(&tight), [(0, 264 + 65), (1, 420 + 104 + 65)]);
}

/// A row buffer of one packet: a packet after one that waits for its output waits at the input,
/// although its own output is free.
#[test]
fn a_row_buffer_holds_back_an_input() {
    let script = [
        scripted(1, 0, 5, 24),
        scripted(0, 6, 5, 8),
        scripted(0, 6, 6, 24),
    ];
    let with = |row_buffer| {
        arrivals(&Case {
            row_buffer,
            ..sending(&script)
        })
    };
    // NIC 1 has the bus at 100, the tile output from 110 to 400 and the link from 160 to 472. Its
    // last flit is received at 377, crosses the bus on the edge at 380 and the tile at 390. The
    // first packet of NIC 0, sent at 78, has the bus at 180 and waits for that output. The second,
    // sent at 182, has the bus at 280, the tile from 290 to 580 and its link from 340 on. Then the
    // first has the tile, and its link from 630 on.
    assert_eq!(
        with(2),
        [(1, 537), (0, 340 + 312 + 65), (0, 630 + 104 + 65)]
    );
    // With less space the first has the tile from 400 to 480 and the link from 472 on. The second
    // has the bus at 410, the edge after the first has left the row buffer, the tile at 480 and the
    // link from 530 on.
    assert_eq!(
        with(1),
        [(1, 537), (0, 472 + 104 + 65), (0, 530 + 312 + 65)]
    );
}

/// The window after one, two, ... marks.
#[test]
fn v002_12_windows_after_marks() {
    let limit = Window {
        most: 4096,
        least: 24,
        cut: (4, 5),
        cuts: Cuts::EveryMark,
        step: 1_000_000,
    };
    let mut flow = Flow::new(Some(limit));
    let expected = [3277, 2621, 2097, 1678, 1342, 1074, 859, 687, 550, 440, 352];
    for flits in expected {
        flow.cut(limit, 7);
        let rounded = (flow.window(limit, 8) + 32_768) / 65_536;
        assert_eq!(rounded, flits);
    }
    for _ in 0..40 {
        flow.cut(limit, 9);
    }
    assert_eq!(flow.window(limit, 9), 24 * 65_536, "never less than this");
}

/// One flit at every multiple of the step, regardless of when the window was cut, and never above
/// the maximum.
#[test]
fn a_window_grows_with_simulated_time() {
    let limit = Window {
        most: 100,
        least: 10,
        cut: (1, 2),
        cuts: Cuts::EveryMark,
        step: 30,
    };
    let mut flow = Flow::new(Some(limit));
    flow.cut(limit, 29);
    let at = |t| flow.window(limit, t) / 65_536;
    assert_eq!((at(29), at(30), at(59), at(60)), (50, 51, 51, 52));
    assert_eq!((at(30 * 49), at(30 * 50), at(3_000)), (99, 100, 100));
}

/// Returns the stash space in use just before and just after a tick.
fn around(case: &Case, tick: u64) -> (u32, u32) {
    let plan = case.plan();
    let mut twin = Twin::new(&plan);
    let mut used = |end| {
        twin.run_until(end);
        twin.stashed()[0].iter().sum()
    };
    (used(tick), used(tick + 1))
}

#[test]
fn a_copy_is_kept_until_the_packet_is_acknowledged() {
    let case = sending(&[scripted(0, 0, 5, 7)]).reliable(&[48], None);
    // Bus at 100, tile at 110, multiplexer at 140: seven flits take eight.
    assert_eq!(around(&case, 140), (0, 8));
    // Delivered at 160 + 91 + 65 = 316. The acknowledgement leaves at 325, is received at 403, has
    // the bus at 430 and is granted the link at 480; ten cycles later the copy is gone.
    assert_eq!(around(&case, 580), (8, 0));
}

#[test]
fn an_acknowledgement_may_come_before_the_place_of_the_copy() {
    let slow = Case {
        stages: TileStages {
            side_band: 40,
            ..STAGES
        },
        ..sending(&[scripted(0, 0, 5, 7)]).reliable(&[48], None)
    };
    // Stored at 140 + 10 + 60, known at 610, deleted at 1010.
    assert_eq!(around(&slow, 1_010), (8, 0));
    let plan = slow.plan();
    let twin = drained(&plan, "a slow side band");
    assert_eq!((twin.counts.early_verdicts, twin.counts.deletions), (1, 1));
}

/// Returns the case with the first seed of faults whose counts satisfy a condition.
fn seeded(case: &Case, is_wanted: impl Fn(&Counts) -> bool) -> Case {
    let with_seed = |seed| {
        let mut case = case.clone();
        case.faults.seed = seed;
        case
    };
    let found = (0..500).map(with_seed).find(|case| {
        let plan = case.plan();
        is_wanted(&drained(&plan, "a seed").counts)
    });
    found.expect("a seed")
}

/// Whether one data packet was corrupted and no other error occurred.
fn is_rejected_once(counts: &Counts) -> bool {
    (counts.rejected, counts.retransmissions) == (1, 1) && counts.timeouts == 0
}

#[test]
fn a_negative_acknowledgement_leads_to_a_retransmission() {
    let case = sending(&[scripted(0, 0, 5, 8)])
        .reliable(&[48], Some(100_000))
        .faulty(0.3, 0.0, 0.0);
    let case = seeded(&case, is_rejected_once);
    // Arrived at 329, answered at 338. The answer is received at 416, has the bus at 440 and the
    // link at 490. The message reaches the copy at 590, which has the bus of its port at once, and
    // the link 60 later.
    assert_eq!(arrivals(&case), [(0, 590 + 60 + 104 + 65)]);
}

/// The copy that is sent again and the next packet of the NIC use the same bus: port 0 keeps its
/// own copy.
#[test]
fn two_packets_contend_for_a_row_bus() {
    let case = sending(&[scripted(0, 0, 5, 8), scripted(0, 38, 6, 8)])
        .reliable(&[48], Some(100_000))
        .faulty(0.3, 0.0, 0.0);
    let is_first_rejected = |case: &Case| arrivals(case)[0].1 == 819;
    let mut seeds = case.clone();
    let found = (0..500).find(|&seed| {
        seeds.faults.seed = seed;
        let plan = seeds.plan();
        let counts = drained(&plan, "a seed").counts.clone();
        is_rejected_once(&counts) && is_first_rejected(&seeds)
    });
    seeds.faults.seed = found.expect("a seed");
    // The copy has the bus from 590 to 670. The packet of the NIC, sent at 494, received at 572 and
    // ready at 600, has it from 670 on.
    assert_eq!(
        arrivals(&seeds),
        [(0, 590 + 60 + 104 + 65), (0, 670 + 60 + 104 + 65)]
    );
}

#[test]
fn a_timeout_leads_to_a_retransmission() {
    let case = sending(&[scripted(0, 0, 5, 8)])
        .reliable(&[48], Some(1_995))
        .faulty(0.3, 0.0, 0.0);
    // The answer is damaged, and the packet is sent and answered again.
    let case = seeded(&case, |counts| {
        (counts.discarded, counts.duplicates, counts.rejected) == (1, 1, 0) && counts.timeouts == 1
    });
    let plan = case.plan();
    let mut twin = Twin::new(&plan);
    // The bus was granted at 100; 2,095 is not an edge, 2,100 is. Ten cycles later the message
    // reaches the copy.
    for (end, retransmissions) in [(2_200, 0), (2_201, 1)] {
        twin.run_until(end);
        assert_eq!(twin.counts.retransmissions, retransmissions);
    }
    let again = drained(&plan, "a timeout");
    assert_eq!((again.counts.delivered, again.counts.deletions), (1, 1));
}

#[test]
fn a_link_sends_a_damaged_packet_again() {
    let case = sending(&[scripted(0, 0, 5, 8)])
        .reliable(&[48], Some(100_000))
        .faulty(0.0, 0.0, 0.4);
    let later = (0..500).find_map(|seed| {
        let mut case = case.clone();
        case.faults.seed = seed;
        let tail = arrivals(&case)[0].1;
        (tail != 329).then_some(tail)
    });
    // One length and one round trip later, or several of them.
    let later = later.expect("a seed") - 329;
    assert_eq!(later % (104 + 130), 0);
}

/// A finite workload arrives complete and leaves nothing behind.
#[test]
fn every_case_drains() {
    for (name, case) in cases() {
        let case = Case {
            messages: Some(12),
            ..case
        };
        let plan = case.plan();
        let twin = drained(&plan, name);
        let counts = &twin.counts;
        let is_reliable = name.contains("copies") || name.contains("stashes");
        if is_reliable {
            assert_eq!(counts.deletions, counts.stashed, "{name}: exactly once");
        }
        if name.contains("set aside") {
            assert!(counts.stashed > 0, "{name}");
            assert_eq!(counts.retrieved, counts.stashed, "{name}");
        }
        if case.acknowledgement.is_some() && case.faults.are_off() {
            let arrived = counts.delivered + counts.duplicates;
            assert_eq!(counts.acknowledgements, arrived, "{name}");
            // Only a timeout causes a retransmission.
            let may_time_out = name.contains("timeouts");
            assert!(may_time_out || counts.duplicates == 0, "{name}");
        }
    }
}

/// Every named case shows the behaviour that it is named after.
#[test]
fn cases_are_about_what_they_say() {
    type Subject = fn(&Counts) -> u64;
    let about: [(&str, Subject); 10] = [
        ("windows", |c| c.cuts),
        ("narrow windows", |c| c.parked),
        ("set aside in a tree", |c| c.retrieved),
        ("scarce stashes", |c| c.early_verdicts),
        ("acknowledged before located", |c| c.early_verdicts),
        ("corruption", |c| c.rejected),
        ("losses", |c| c.lost),
        ("timeouts too short", |c| c.duplicates),
        ("timeouts without faults", |c| c.duplicates),
        ("faults and a slow side band", |c| c.retransmissions),
    ];
    let all = cases();
    for (name, count) in about {
        let (_, case) = all
            .iter()
            .find(|(known, _)| *known == name)
            .expect("a case");
        let plan = case.plan();
        let mut twin = Twin::new(&plan);
        twin.run_until(case.until);
        assert!(count(&twin.counts) >= 5, "{name}: {:?}", twin.counts);
    }
}

/// A window of paper 002 makes sources of a hot spot wait at their NICs, and every cut has a mark.
#[test]
fn marks_come_before_cuts() {
    let case = Case::single(8).marking(&[16], WINDOW).hot(3);
    let plan = Case { load: 1.0, ..case }.plan();
    let mut twin = Twin::new(&plan);
    twin.run_until(20_000);
    let counts = &twin.counts;
    assert!(counts.cuts > 0 && counts.cuts <= counts.marks);
    assert!(counts.parked > 0);
    let most = u64::from(WINDOW.most) * 65_536;
    assert!((0..8).any(|nic| twin.window(nic, 3).is_some_and(|window| window < most)));
}

/// If stashes are full, a data packet at the head of an end port waits for an acknowledgement. It
/// arrives, since acknowledgements pass such packets on a separate channel. In the queue of data,
/// they would wait for each other in a cycle, and nothing would move any more.
#[test]
fn full_stashes_do_not_hold_acknowledgements() {
    let case = Case {
        messages: Some(60),
        ..Case::tree(4, 2).reliable(&[26, 0], None)
    };
    drained(&case.plan(), "room for one packet in each stash");
}

proptest! {
    #![proptest_config(so_many(24))]

    #[test]
    fn any_case_drains(mut case in any_case()) {
        case.messages = Some(4);
        // Below the round trip every packet is sent again and again; such a storm may outlast any
        // bound.
        let longest = case.links.iter().map(|link| link.delay).max().unwrap_or(0);
        if let Some(StashUse::Reliability { timeout: Some(timeout) }) = &mut case.stash_use {
            *timeout = (*timeout).max(8 * longest);
        }
        let plan = case.plan();
        drained(&plan, "any case");
    }
}

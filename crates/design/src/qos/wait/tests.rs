//! Bounds checked by hand. `tests/waits` checks that no class waits longer.

use netloom_arbitration::{DeficitTable, QuantumTable, VlArbitrationTable};
use netloom_units::{Sl, Vl};

use super::*;
use crate::qos::dtable::{self, Needs};

/// Table 4 of paper 000 and the message sizes of its classes.
fn table_4() -> (DeficitTable, PacketSizes) {
    let needs = Needs::table_4_as_printed();
    let largest: Vec<u64> = needs
        .classes
        .iter()
        .map(|c| u64::from(c.mtu) * 64)
        .collect();
    (dtable::plan(&needs).unwrap().table, sizes(&largest, 0))
}

fn sizes(largest: &[u64], management: u64) -> PacketSizes {
    let mut all = [Bytes(0); N_SLS];
    for (slot, &bytes) in all.iter_mut().zip(largest) {
        *slot = Bytes(bytes);
    }
    PacketSizes {
        largest: all,
        smallest: [Bytes(0); N_SLS],
        management: Bytes(management),
    }
}

#[test]
fn a_bound_is_the_sum_of_its_parts() {
    let (table, mut sizes) = table_4();
    sizes.management = Bytes(290);
    let Wait::AtMost(bound) = dtable_wait(&table, &sizes, Sl(0)) else {
        panic!("NC has entries");
    };
    assert_eq!(bound.total(), Bytes(192 + 125 * 64 + 290));
    let nanos = bound.time(Rate(100_000_000_000)).as_nanos();
    assert_eq!(format!("{nanos:.2}"), "678.56");
    assert!(matches!(
        dtable_wait(&table, &sizes, Sl(9)),
        Wait::Unbounded(_)
    ));
}

#[test]
fn a_weight_below_a_message_waits_for_several_turns() {
    let table = DeficitTable::from_pairs(&[(0, 1), (1, 4)]).unwrap();
    // Three turns for three credits: 3 times 4, and a deficit of up to one credit.
    assert_eq!(dtable_gap(&table, &sizes(&[192, 128], 0), Sl(0)), Some(13));
    assert_eq!(dtable_gap(&table, &sizes(&[64, 128], 0), Sl(0)), Some(5));
    assert_eq!(dtable_gap(&table, &sizes(&[64, 0], 0), Sl(0)), Some(0));
}

fn ib(high: &[(u8, u8)], low: &[(u8, u8)], limit: u8, vl: u8) -> Wait {
    let [high, low] = [high, low].map(|pairs| VlArbitrationTable::from_pairs(pairs).unwrap());
    let tables = IbTables {
        high: &high,
        low: &low,
        limit,
    };
    ib_wait(tables, &sizes(&[64, 2048, 4096], 290), Vl(vl))
}

fn total(wait: Wait) -> Option<u64> {
    match wait {
        Wait::AtMost(bound) => Some(bound.total().0),
        Wait::Unbounded(_) => None,
    }
}

#[test]
fn infiniband_by_hand() {
    // VL1 may begin with 63 of 64 units sent: 63 * 64 + 2048 bytes, then an own and a management
    // packet.
    assert_eq!(
        total(ib(&[(0, 1), (1, 64)], &[], 0, 0)),
        Some(64 + 6080 + 290)
    );
    // A low packet can be in flight, and no more without a limit.
    assert_eq!(total(ib(&[(0, 1)], &[(2, 9)], 255, 0)), Some(4096 + 290));
    // Limit 0: one low packet after each high one, at most one before every own turn.
    assert_eq!(total(ib(&[(0, 1)], &[(2, 9)], 0, 0)), Some(64 + 4096 + 290));
    // The low table waits for a burst before its packet: 4095 bytes and a packet that begins then.
    assert_eq!(
        total(ib(&[(1, 64)], &[(0, 1)], 1, 0)),
        Some(64 + 4095 + 2048 + 290)
    );
    assert_eq!(total(ib(&[(1, 64)], &[(0, 1)], 255, 0)), None);
    assert_eq!(total(ib(&[(1, 64)], &[], 0, 0)), None);
    // In both tables: a turn of each, although four high packets could give way four times, and
    // each low one to a high one.
    assert_eq!(
        total(ib(&[(1, 4), (0, 1)], &[(0, 1), (2, 1)], 0, 0)),
        Some(64 + (192 + 2048) + 4096 + 290)
    );
    // In both tables, the earlier one counts.
    assert_eq!(
        total(ib(&[(1, 64), (0, 1)], &[(0, 1)], 255, 0)),
        Some(64 + 6080 + 290)
    );
}

/// 64 units let 64 packets of one unit begin, or one of 64: known sizes make the bound tighter.
#[test]
fn packets_of_one_size_fill_entries_exactly() {
    let high = VlArbitrationTable::from_pairs(&[(0, 4)]).unwrap();
    let low = VlArbitrationTable::from_pairs(&[(1, 192), (2, 64)]).unwrap();
    let tables = IbTables {
        high: &high,
        low: &low,
        limit: 0,
    };
    let mut sizes = sizes(&[256, 4096, 4096], 0);
    let wait = |sizes: &PacketSizes| total(ib_wait(tables, sizes, Vl(2)));
    // 191 units and a packet, and 256 bytes of high priority before each of 192 packets and the own
    // one.
    assert_eq!(wait(&sizes), Some(4096 + (191 * 64 + 4096) + 193 * 256));
    sizes.smallest[1] = Bytes(4096);
    assert_eq!(wait(&sizes), Some(4096 + 3 * 4096 + 4 * 256));
    // 33 units at least: six packets begin within 192, of at most 191 units and a largest packet.
    sizes.smallest[1] = Bytes(33 * 64);
    assert_eq!(wait(&sizes), Some(4096 + (191 * 64 + 4096) + 7 * 256));
}

#[test]
fn packets_below_a_unit_do_not_fill_what_they_are_charged() {
    let short = sizes(&[64, 40], 0);
    let table = DeficitTable::from_pairs(&[(0, 1), (1, 4)]).unwrap();
    assert_eq!(total(dtable_wait(&table, &short, Sl(0))), Some(64 + 4 * 40));
    let high = VlArbitrationTable::from_pairs(&[(0, 1), (1, 4)]).unwrap();
    let tables = IbTables {
        high: &high,
        low: &VlArbitrationTable::default(),
        limit: 255,
    };
    assert_eq!(total(ib_wait(tables, &short, Vl(0))), Some(64 + 4 * 40));
    let table = QuantumTable::from_pairs(&[(0, 1), (1, 4)], 1).unwrap();
    for keeps_deficits in [false, true] {
        let wait = bxi_wait(&table, keeps_deficits, Bytes(64), &short, Sl(0));
        assert_eq!(total(wait), Some(64 + 4 * 40));
    }
}

/// Flits of 64 bytes, packets of 3, 2 and 5 flits; the result is in flits, without the own packet.
fn bxi(pairs: &[(u8, u16)], keeps_deficits: bool, sl: u8) -> Option<u64> {
    let table = QuantumTable::from_pairs(pairs, 1).unwrap();
    let sizes = sizes(&[192, 128, 320], 290);
    match bxi_wait(&table, keeps_deficits, Bytes(64), &sizes, Sl(sl)) {
        Wait::AtMost(bound) => {
            assert_eq!(bound.own, sizes.largest[usize::from(sl)]);
            assert_eq!(bound.management, Bytes(290));
            Some(bound.table.0 / 64)
        }
        Wait::Unbounded(_) => None,
    }
}

#[test]
fn bxi_without_deficits_by_hand() {
    assert_eq!(bxi(&[(0, 3), (1, 4), (2, 5)], false, 0), Some(9));
    // Of two own entries, the longer gap counts.
    assert_eq!(bxi(&[(0, 3), (1, 4), (0, 3), (2, 5)], false, 0), Some(5));
    // An own entry that is too short for the packet does not help.
    assert_eq!(bxi(&[(0, 3), (1, 4), (0, 2), (2, 5)], false, 0), Some(9));
    assert_eq!(bxi(&[(0, 2), (1, 4)], false, 0), None);
    assert_eq!(bxi(&[(1, 4), (0, 0)], false, 0), None);
    // There is no other entry, or it sends nothing.
    assert_eq!(bxi(&[(0, 3), (7, 9)], false, 0), Some(0));
}

#[test]
fn bxi_with_deficits_by_hand() {
    // A quantum each, and a flit less than a packet from before.
    assert_eq!(bxi(&[(0, 3), (1, 4), (2, 5)], true, 0), Some(4 + 1 + 5 + 4));
    // Two visits for three flits: the quanta twice, the saved deficit once.
    assert_eq!(bxi(&[(0, 2), (1, 4)], true, 0), Some(8 + 1));
    // Own entries do not add up: each of them needs two visits. Foreign ones have each saved a
    // flit.
    let table = [(0, 2), (1, 4), (0, 2), (1, 3)];
    assert_eq!(bxi(&table, true, 0), Some(4 + 3 + 4 + 2));
    // The longer entry is reached first in the second lap, or in the first.
    let table = [(0, 3), (1, 4), (0, 1), (1, 3)];
    assert_eq!(bxi(&table, true, 0), Some(4 + 3 + 2));
    assert_eq!(bxi(&[(1, 4)], true, 0), None);
}

#[test]
fn why_there_is_no_bound() {
    let reason = |pairs: &[(u8, u16)]| {
        let table = QuantumTable::from_pairs(pairs, 4).unwrap();
        match bxi_wait(&table, false, Bytes(64), &sizes(&[640, 64], 0), Sl(0)) {
            Wait::Unbounded(reason) => reason,
            Wait::AtMost(bound) => panic!("{bound:?}"),
        }
    };
    assert_eq!(
        reason(&[(0, 1), (1, 1), (0, 2)]),
        "a packet of SL0 has up to 10 flits, but its entries send at most 8, so it would never \
         leave without deficits"
    );
    assert_eq!(reason(&[(1, 1)]), "no entry of SL0 has a weight");
}

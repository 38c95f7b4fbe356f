//! Arbiters for tests, over four service levels.

use std::sync::Arc;

use netloom_arbitration::{
    BxiDeficit, BxiTable, DTable, DeficitRoundRobin, DeficitTable, Policy, Scfq, SlEntry, Wfq,
};
use netloom_units::{Bytes, Sl};

/// Entries for four service levels, the first of them twice.
pub(crate) fn entries() -> Vec<SlEntry> {
    [(0, 12), (1, 40), (0, 12), (2, 20), (3, 5)]
        .map(|(sl, weight)| SlEntry { sl: Sl(sl), weight })
        .to_vec()
}

pub(crate) fn deficit_table() -> Arc<dyn Policy> {
    Arc::new(DTable {
        table: DeficitTable::new(entries()).expect("a table"),
    })
}

pub(crate) fn bxi_table() -> Arc<dyn Policy> {
    Arc::new(BxiTable {
        table: entries(),
        k: 2,
        flit: Bytes(64),
    })
}

pub(crate) fn bxi_deficit() -> Arc<dyn Policy> {
    Arc::new(BxiDeficit {
        table: entries(),
        k: 2,
        flit: Bytes(64),
    })
}

pub(crate) fn deficit_round_robin() -> Arc<dyn Policy> {
    Arc::new(DeficitRoundRobin {
        quanta: vec![(0, 512), (1, 2048), (2, 256), (3, 1024)],
    })
}

fn weights() -> Vec<SlEntry> {
    [(0, 1), (1, 5), (2, 2), (3, 9)]
        .map(|(sl, weight)| SlEntry { sl: Sl(sl), weight })
        .to_vec()
}

pub(crate) fn scfq() -> Arc<dyn Policy> {
    Arc::new(Scfq { weights: weights() })
}

pub(crate) fn wfq() -> Arc<dyn Policy> {
    Arc::new(Wfq { weights: weights() })
}

/// SL0 and SL1 on two lanes each, SL2 on its own lane, SL3 on one lane of SL0 and one of SL1.
pub(crate) fn several_lanes_per_level() -> Vec<Vec<(u8, u8)>> {
    vec![
        vec![(0, 0), (7, 1)],
        vec![(1, 2), (31, 3)],
        vec![(2, 4)],
        vec![(3, 0), (9, 2)],
    ]
}

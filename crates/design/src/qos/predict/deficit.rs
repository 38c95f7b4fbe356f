//! Shares of tables with deficits: DTable (one per service level) and BXI (one per entry).
//!
//! A deficit is smaller than a packet, so over many laps a class sends exactly its weights. Weights
//! count units, and each packet is rounded up to whole units. So a class whose packets do not fill
//! their last unit sends fewer bytes for its weight.

use netloom_arbitration::{DeficitTable, N_SLS, QuantumTable, WEIGHT_UNIT};
use netloom_units::Bytes;

use super::{Laws, parts};

/// Returns the share of each class in bytes, from its weight per lap in units of `unit` bytes.
pub fn deficit_shares(weights: &[u64; N_SLS], unit: Bytes, laws: &Laws) -> [f64; N_SLS] {
    let bytes = std::array::from_fn(|class| {
        let per_unit = |law: &super::SizeLaw| law.mean() / law.mean_units(unit);
        weights[class] as f64 * laws[class].as_ref().map_or(0.0, per_unit)
    });
    parts(bytes)
}

/// Returns the shares under a DTable, whose units are credits of 64 bytes.
pub fn dtable_shares(table: &DeficitTable, laws: &Laws) -> [f64; N_SLS] {
    deficit_shares(&table.totals(), Bytes(WEIGHT_UNIT.into()), laws)
}

/// Returns the shares under a BXI table with deficits, whose units are flits.
pub fn bxi_deficit_shares(table: &QuantumTable, flit: Bytes, laws: &Laws) -> [f64; N_SLS] {
    let mut quanta = [0; N_SLS];
    for entry in table.entries() {
        quanta[entry.sl.index()] += u64::from(table.quantum(entry));
    }
    deficit_shares(&quanta, flit, laws)
}

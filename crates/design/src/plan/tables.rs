//! The tables of a port, of every kind.

use netloom_arbitration::{
    DeficitTable, N_SLS, QuantumTable, SlEntry, TableError, VlArbitrationTable,
};
use netloom_catalog::FromToml;
use netloom_units::{Bytes, Sl, Vl};

use crate::qos::predict::{self, Laws, SizeLaw};
use crate::qos::slowdown::{Packets, Slowdown};
use crate::qos::wait::{IbTables, PacketSizes, Wait, bxi_wait, dtable_wait, ib_wait};

use super::compose::Slot;
use super::request::Kind;

/// The tables of a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tables {
    InfiniBand {
        /// The high-priority table.
        high: VlArbitrationTable,
        /// The low-priority table.
        low: VlArbitrationTable,
        limit: u8,
    },
    Deficit(DeficitTable),
    Quantum {
        table: QuantumTable,
        /// Whether every entry has a deficit.
        keeps_deficits: bool,
    },
}

impl Tables {
    /// Returns tables with these entries. The streams are lanes in InfiniBand (all in the low
    /// table) and service levels elsewhere, given by `keys`. A unit of weight of BXI is `turn`
    /// flits.
    pub(super) fn from_slots(
        kind: Kind,
        slots: &[Slot],
        keys: &[u8],
        turn: u32,
    ) -> Result<Tables, TableError> {
        let by_sl = || {
            let entry = |slot: &Slot| SlEntry {
                sl: Sl(keys[slot.stream]),
                weight: slot.weight as u16,
            };
            slots.iter().map(entry).collect::<Vec<_>>()
        };
        Ok(match kind {
            Kind::InfiniBand => Tables::InfiniBand {
                high: VlArbitrationTable::default(),
                low: vl_table(slots, keys)?,
                limit: netloom_arbitration::NO_LIMIT,
            },
            Kind::DTable => Tables::Deficit(DeficitTable::new(by_sl())?),
            Kind::BxiTable | Kind::BxiDeficit => Tables::Quantum {
                table: QuantumTable::new(by_sl(), turn)?,
                keeps_deficits: kind == Kind::BxiDeficit,
            },
        })
    }

    /// Returns the share of the link of each lane or service level when all always have something
    /// to send. The link moves whole flits, so packets are rounded up to them.
    pub fn shares(&self, laws: &Laws, flit: Bytes) -> [f64; N_SLS] {
        let mut shares = self.byte_shares(laws, flit);
        for (share, law) in shares.iter_mut().zip(laws) {
            *share *= law
                .as_ref()
                .map_or(0.0, |law| on_link(law, flit) / law.mean());
        }
        let whole: f64 = shares.iter().sum();
        shares.map(|share| if whole > 0.0 { share / whole } else { 0.0 })
    }

    /// Returns the same shares in bytes sent.
    fn byte_shares(&self, laws: &Laws, flit: Bytes) -> [f64; N_SLS] {
        match self {
            Tables::InfiniBand { high, low, limit } => {
                let limit = *limit;
                predict::ib_shares(IbTables { high, low, limit }, laws)
            }
            Tables::Deficit(table) => predict::dtable_shares(table, laws),
            Tables::Quantum {
                table,
                keeps_deficits: true,
            } => predict::bxi_deficit_shares(table, flit, laws),
            Tables::Quantum { table, .. } => predict::bxi_shares(table, flit, laws),
        }
    }

    /// Returns the longest wait of a lane or service level at an output.
    pub fn wait(&self, sizes: &PacketSizes, flit: Bytes, key: u8) -> Wait {
        match self {
            Tables::InfiniBand { high, low, limit } => {
                let limit = *limit;
                ib_wait(IbTables { high, low, limit }, sizes, Vl(key))
            }
            Tables::Deficit(table) => dtable_wait(table, sizes, Sl(key)),
            Tables::Quantum {
                table,
                keeps_deficits,
            } => bxi_wait(table, *keeps_deficits, flit, sizes, Sl(key)),
        }
    }

    /// Returns the slowdown of a lane or service level at an output, or why there is none.
    pub fn slowdown(&self, packets: &Packets, key: u8) -> Result<Slowdown, String> {
        match self {
            Tables::InfiniBand { high, low, limit } => {
                let limit = *limit;
                packets.ib(IbTables { high, low, limit }, Vl(key))
            }
            Tables::Deficit(table) => packets.dtable(table, Sl(key)),
            Tables::Quantum {
                table,
                keeps_deficits,
            } => packets.bxi(table, *keeps_deficits, Sl(key)),
        }
    }

    /// Returns every table with its name and its entries of (lane or service level, weight).
    pub fn lists(&self) -> Vec<(&'static str, Vec<(u8, u16)>)> {
        let by_vl = |table: &VlArbitrationTable| {
            let entries = table.entries().iter();
            entries.map(|e| (e.vl.0, u16::from(e.weight))).collect()
        };
        let by_sl = |entries: &[SlEntry]| entries.iter().map(|e| (e.sl.0, e.weight)).collect();
        match self {
            Tables::InfiniBand { high, low, .. } => {
                vec![("high", by_vl(high)), ("low", by_vl(low))]
            }
            Tables::Deficit(table) => vec![("table", by_sl(table.entries()))],
            Tables::Quantum { table, .. } => vec![("table", by_sl(table.entries()))],
        }
    }

    /// Returns what the entries name: lanes or service levels.
    pub fn key(&self) -> &'static str {
        match self {
            Tables::InfiniBand { .. } => "VL",
            _ => "SL",
        }
    }

    /// Returns LimitOfHighPriority, if there is a high table.
    pub fn limit(&self) -> Option<u8> {
        match self {
            Tables::InfiniBand { high, limit, .. } if !high.entries().is_empty() => Some(*limit),
            _ => None,
        }
    }

    /// Returns the arbiter as written in an experiment file.
    pub fn to_toml(&self, flit: Bytes) -> String {
        match self {
            Tables::InfiniBand { high, low, limit } => format!(
                "{{ kind = \"ib-two-table\", high = {}, low = {}, limit = {limit} }}",
                high.write(),
                low.write()
            ),
            Tables::Deficit(table) => format!("{{ kind = \"dtable\", table = {} }}", table.write()),
            Tables::Quantum {
                table,
                keeps_deficits,
            } => {
                let kind = if *keeps_deficits {
                    "bxi-deficit"
                } else {
                    "bxi-table"
                };
                let k = table.k;
                format!(
                    "{{ kind = \"{kind}\", table = {table}, k = {k}, flit = {} }}",
                    flit.write()
                )
            }
        }
    }
}

/// Returns the mean packet of a law as a link moves it, in bytes.
pub(super) fn on_link(law: &SizeLaw, flit: Bytes) -> f64 {
    law.mean_units(flit) * flit.0 as f64
}

/// Returns a table of lanes.
pub(super) fn vl_table(slots: &[Slot], keys: &[u8]) -> Result<VlArbitrationTable, TableError> {
    let pair = |slot: &Slot| (keys[slot.stream], slot.weight as u8);
    let pairs: Vec<(u8, u8)> = slots.iter().map(pair).collect();
    VlArbitrationTable::from_pairs(&pairs)
}

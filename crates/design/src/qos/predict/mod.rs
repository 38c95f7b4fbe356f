//! The share of the link that each class gets when all have something to send, in closed form: no arbiter
//! is run.
//!
//! ```text
//! size law ── ib       bytes per visit: charged rounded up, the last packet overshoots     (5.2.4)
//!          ── bxi      bytes per visit: a head that does not fit waits for the next visit  (4.2.1)
//!          ── deficit  units per lap are the weights; only bytes per unit differ    (1.2.1, 4.2.2)
//! ```
//!
//! Every entry is visited once per lap of its table, so the share of a class is what its entries send per
//! lap over what all entries do. The sizes of a class are independent draws from its [`SizeLaw`]. A class
//! without a law sends nothing.

mod bxi;
mod deficit;
mod ib;
mod size_law;

use netloom_arbitration::N_SLS;

pub use bxi::{BxiVisits, bxi_shares};
pub use deficit::{bxi_deficit_shares, deficit_shares, dtable_shares};
pub use ib::{IbVisits, ib_shares, ib_visit_bytes};
pub use size_law::{LawError, SizeLaw};

/// The sizes of the packets of each class (service level or lane, as the table speaks); `None` sends nothing.
pub type Laws = [Option<SizeLaw>; N_SLS];

/// Parts of the whole; all 0 if nothing is sent.
fn parts(amounts: [f64; N_SLS]) -> [f64; N_SLS] {
    let whole: f64 = amounts.iter().sum();
    amounts.map(|amount| if whole > 0.0 { amount / whole } else { 0.0 })
}

#[cfg(test)]
mod tests;

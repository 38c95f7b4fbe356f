//! Computes the share of the link of each class when all have something to send, in closed form. No
//! arbiter is run.
//!
//! ```text
//! size law ── ib       bytes per visit: charged rounded up, the last packet overshoots
//!          ── bxi      bytes per visit: a head that does not fit waits for the next visit
//!          ── deficit  units per lap are the weights; only bytes per unit differ
//! ```
//!
//! Every entry is visited once per lap of its table, so the share of a class is what its entries
//! send per lap over what all entries send. The sizes of a class are independent draws from its
//! [`SizeLaw`]. A class without a law sends nothing.

mod bxi;
mod deficit;
mod ib;
mod size_law;

use netloom_arbitration::N_SLS;

pub use bxi::{BxiVisits, bxi_shares};
pub use deficit::{bxi_deficit_shares, deficit_shares, dtable_shares};
pub use ib::{IbVisits, ib_shares, ib_visit_bytes};
pub use size_law::{LawError, SizeLaw};

/// The packet sizes of each class (service level or lane, as in the table); `None` sends nothing.
pub type Laws = [Option<SizeLaw>; N_SLS];

/// Returns the parts of the whole; all 0 if nothing is sent.
fn parts(amounts: [f64; N_SLS]) -> [f64; N_SLS] {
    let whole: f64 = amounts.iter().sum();
    amounts.map(|amount| if whole > 0.0 { amount / whole } else { 0.0 })
}

/// Returns the greatest common divisor.
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;

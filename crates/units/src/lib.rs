//! Physical quantities and ids.
//!
//! Files hold exact quantities with units ([`Time`], [`Rate`], [`Bytes`]). Before a run they are
//! converted to whole [`Tick`]s, whose length is chosen for that run ([`Timebase`]); the engine
//! knows
//! only ticks. No quantity is a float, so a file gives the same ticks on every machine.
//!
//! This crate depends only on `netloom-encoding`. Start with [`Time`] and [`Timebase`]. The
//! parser of quantities, with its error messages, is in `parse.rs`.

mod data;
mod ids;
mod parse;
mod rate;
mod ratio;
mod tick;
mod time;

pub use data::Bytes;
pub use ids::{NicId, Port, Sc, Sl, SwitchId, Vl};
pub use parse::UnitError;
pub use rate::{Rate, lane_rate};
pub use ratio::Ratio;
pub use tick::{Clock, Tick};
pub use time::{Time, Timebase, short_time};

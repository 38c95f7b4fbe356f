//! Quantities and ids: what the numbers of netloom mean.
//!
//! A file holds exact quantities with their units ([`Time`], [`Rate`], [`Bytes`]). Before a run they
//! become whole [`Tick`]s of a length chosen for that run ([`Timebase`]); the engine knows only ticks.
//! Nothing here is a float: the same file gives the same ticks on every machine.

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

//! What is wrong with values of several sections together.
//!
//! Each check names all values involved with their places, says the numbers, and says how to go on.

pub(crate) mod buffers;
pub(crate) mod channels;
pub(crate) mod connections;
pub(crate) mod deadlock;
pub(crate) mod lanes;
pub(crate) mod time;
pub(crate) mod traffic;
pub(crate) mod transfer_unit;

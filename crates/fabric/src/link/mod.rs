//! Links: a sender's view of the buffer at the other end, and its changes over time.

pub(crate) mod flow;
pub(crate) mod lane_room;
pub(crate) mod pause;
pub(crate) mod pool;
pub(crate) mod ramp;
pub(crate) mod room;

//! Tiled high-radix switches with stashing, and endpoints that acknowledge, as one model of the event kernel.
//!
//! A tiled switch is a large crossbar made of small ones in rows and columns (M. Blumrich, N. Jiang, L.
//! Dennison, "Exploiting idle resources in a high-radix switch for supplemental storage", SC 2018). Buses and
//! channels inside it have more bandwidth than its links, and buffers of short links are larger than they need:
//! a stash uses both to keep packets of any port, either copies until a packet has been acknowledged
//! (end-to-end reliability in the first switch) or packets that congestion would hold up.
//!
//! What a switch and its endpoints are made of is said by `netloom_fabric::Tiled`; how a packet goes through them
//! is in `switch/` and `nic/`. A packet once granted a bus, crossbar, channel, multiplexer or link is served at a
//! known pace to its tail, so the cost is per packet; a flit-by-flit twin in `tests/twin` delivers every packet
//! at the same tick.
//!
//! What it leaves out: service levels share all channels; memory banks; the bookkeeping of stashes.

mod build;
mod event;
mod faults;
mod geometry;
mod model;
mod nic;
mod pool;
mod record;
mod simulation;
mod stall;
mod switch;
mod window;
mod wire;

pub use simulation::build;

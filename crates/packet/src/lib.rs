//! What travels.
//!
//! - A *message* is what a workload hands to its NIC: so many bytes for one destination. Latency is
//!   measured on it.
//! - A *packet* is what is routed, buffered and scheduled as one: a message is cut into packets of at
//!   most the MTU ([`Segmentation`]), or is one packet where a study treats the whole message as the
//!   transfer unit. A service level may have an MTU of its own ([`SlSegmentation`]).
//! - A *flit* is what a link moves at a time and what buffers are counted in. A packet occupies whole
//!   flits.
//! - A *credit* is room for one flit in the buffer at the other end of a link.
//!
//! The identity of a packet is (source NIC, sequence): the same for any split of the fabric.

mod packet;
mod segmentation;
mod source;

pub use packet::{Label, N_SCS, Packet};
pub use segmentation::{Cut, MOST_FLITS, Segmentation, SlSegmentation};
pub use source::{Arrival, Cursor, Op, Program, Source};

//! The units of traffic and the interface between workloads and NICs.
//!
//! - A *message* is what a workload hands to its NIC: a number of bytes for one destination.
//!   Latency is measured per message.
//! - A *packet* is the unit of routing, buffering and scheduling. A message is cut into packets of
//!   at most the MTU ([`Segmentation`]), or is one packet if a study treats the whole message as
//!   the transfer unit. A service level may have its own MTU ([`SlSegmentation`]).
//! - A *flit* is the unit of transfer on a link and of buffer space. A packet occupies whole flits.
//! - A *credit* is space for one flit in the buffer at the other end of a link.
//!
//! A packet is identified by (source NIC, sequence number), independent of how the fabric is
//! partitioned.
//!
//! This crate depends only on `netloom-units` and `netloom-encoding`. Start with [`Packet`], then
//! [`Source`] and [`Program`], which traffic implements and NICs call.

mod packet;
mod segmentation;
mod source;

pub use packet::{Label, N_SCS, Packet};
pub use segmentation::{Cut, MOST_FLITS, Segmentation, SlSegmentation};
pub use source::{Arrival, Cursor, Op, Program, Source, Volume};

//! Switches: blocks between input buffers and links.
//!
//! ```text
//!  CIOQ          link ─► input buffer ─► queues ─► allocation ─► crossbar ─► output buffer ─► scheduler ─► link
//!                           IB      RT              VA-SA           X                            OB
//!  input-queued  link ─► input buffer ─► queues ─► allocation with the scheduler ─► crossbar ─► link
//!  hierarchical  link ─► input buffer ─► MPort crossbar ─► central buffer ─► central crossbar ─► output buffer ─► …
//!                                          └───────────────── own MPort ─────────────────────────┘
//! ```
//!
//! - `input.rs`: a header has been buffered and routed; it joins its queue.
//! - `allocate.rs`, `islip.rs`: which inputs may cross to which outputs, once per clock edge.
//! - `input_queued.rs`: the same where a packet crosses straight onto its link.
//! - `hierarchy.rs`: where a transfer goes when ports are grouped around a central crossbar.
//! - `ahead.rs`: which queue a packet will join one hop further on.
//! - `transfer.rs`: a grant holds both crossbar ports, returns credits and fills the output buffer.
//! - `output.rs`: the output scheduler chooses a lane and the packet leaves on the link.
//!
//! A switch decides only on its clock edges, from its own state. It sleeps while nothing can be granted;
//! every reason why a packet waits registers its own wake-up.

mod ahead;
mod allocate;
mod hierarchy;
mod input;
mod input_queued;
mod islip;
mod output;
mod transfer;

use netloom_arbitration::Grant;
use netloom_units::SwitchId;

use crate::mask::Mask;

pub(crate) use ahead::Beyond;
pub(crate) use hierarchy::n_records;

/// State of a switch beyond its ports.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Switch<const W: usize> {
    pub(crate) id: SwitchId,
    /// Index of its first port.
    pub(crate) base: u32,
    /// Its ports; other records of a hierarchical switch follow them.
    pub(crate) n_ports: u16,
    /// Its central links.
    pub(crate) n_central: u16,
    /// It decides in this tick.
    pub(crate) is_marked: bool,
    /// Losers are to return on the next edge.
    pub(crate) again: bool,
    /// Inputs to be looked at.
    pub(crate) woken: Mask<W>,
    /// Outputs to be looked at.
    pub(crate) sending: Mask<W>,
    /// Inputs that lost an allocation.
    pub(crate) losers: Mask<W>,
}

/// Scratch of one allocation, reused by all switches.
#[derive(Clone, Debug)]
pub(crate) struct Requests<const W: usize> {
    /// Inputs that want each output.
    pub(crate) by_output: Vec<Mask<W>>,
    /// The queue with which an input asks.
    pub(crate) queue: Vec<u16>,
    /// Outputs that each input wants (iSLIP).
    pub(crate) by_input: Vec<Mask<W>>,
    /// The output matched to each input (iSLIP).
    pub(crate) matched: Vec<Option<u16>>,
    /// What the arbiter of each output proposes (input-queued).
    pub(crate) grants: Vec<Option<Grant>>,
    /// Whether it had a choice (input-queued).
    pub(crate) had_choice: Vec<bool>,
    /// By input and output: lanes with a packet that could cross (iSLIP).
    pub(crate) lanes: Vec<u32>,
    /// By input, output and lane: the queue that is next (iSLIP).
    pub(crate) candidates: Vec<u16>,
    /// Lanes that are told apart.
    pub(crate) n_lanes: usize,
    /// Records of the largest switch.
    pub(crate) radix: usize,
}

impl<const W: usize> Requests<W> {
    /// Scratch for switches of so many records, of which iSLIP tells so many lanes apart; none without it.
    pub(crate) fn new(radix: usize, n_lanes: usize) -> Self {
        let pairs = if n_lanes == 0 { 0 } else { radix * radix };
        Requests {
            by_output: vec![Mask::default(); radix],
            queue: vec![0; radix],
            by_input: vec![Mask::default(); radix],
            matched: vec![None; radix],
            grants: vec![None; radix],
            had_choice: vec![false; radix],
            lanes: vec![0; pairs],
            candidates: vec![0; pairs * n_lanes],
            n_lanes,
            radix,
        }
    }
}

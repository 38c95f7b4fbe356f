//! A switch with buffers at inputs and outputs around a crossbar (CIOQ).
//!
//! ```text
//!  link ─► input buffer ─► queues ─► allocation ─► crossbar ─► output buffer ─► scheduler ─► link
//!             IB      RT              VA-SA           X                            OB
//! ```
//!
//! - `input.rs`: a header has been buffered and routed; it joins its queue.
//! - `allocate.rs`, `islip.rs`: which inputs may cross to which outputs, once per clock edge.
//! - `transfer.rs`: a grant holds both crossbar ports, returns credits and fills the output buffer.
//! - `output.rs`: the output scheduler chooses a lane and the packet leaves on the link.
//!
//! A switch decides only on its clock edges, from its own state. It sleeps while nothing can be granted;
//! every reason why a packet waits registers its own wake-up.

mod allocate;
mod input;
mod islip;
mod output;
mod transfer;

use netloom_units::SwitchId;

use crate::mask::Mask;

/// State of a switch beyond its ports.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Switch<const W: usize> {
    pub(crate) id: SwitchId,
    /// Index of its first port.
    pub(crate) base: u32,
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
}

impl<const W: usize> Requests<W> {
    pub(crate) fn new(radix: usize) -> Self {
        Requests {
            by_output: vec![Mask::default(); radix],
            queue: vec![0; radix],
            by_input: vec![Mask::default(); radix],
            matched: vec![None; radix],
        }
    }
}

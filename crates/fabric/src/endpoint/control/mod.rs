//! Congestion control per flow: the packets from one endpoint to another on one channel.
//!
//! The interface is small. A flow queries whether it may send, and reports what it sent and what
//! was acknowledged. A control keeps no state of its own: what it has to remember about a flow is a
//! [`FlowState`] of plain words. The endpoint keeps and saves that state while the flow has packets
//! in flight or is held back. There are no timers; changes over time are computed from the state at
//! the last update and the current time.

mod ecn_window;

use std::fmt;
use std::sync::Arc;

use netloom_catalog::{Described, Kind, kind, params};
use netloom_encoding::Encoded;
use netloom_units::Tick;

pub use ecn_window::{Cuts, EcnWindow, Window};

/// The state of a flow: four words that only the control interprets. A control has no other state,
/// so saving the flows of an endpoint saves its control.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Encoded)]
pub struct FlowState(pub [u64; 4]);

/// A congestion control at endpoints. It is shared by all of them and immutable; everything it
/// knows about a flow is in the [`FlowState`] passed to it.
pub trait Control: fmt::Debug + Send + Sync {
    /// Returns the state of a flow that has sent nothing.
    fn start(&self, now: Tick) -> FlowState;

    /// Whether `flits` may be sent in addition to `in_flight`. Otherwise returns when, if nothing
    /// is acknowledged before ([`Tick::NEVER`] if only an acknowledgement can help).
    fn admits(&self, flow: &FlowState, in_flight: u32, flits: u16, now: Tick) -> Result<(), Tick>;

    /// Records that a packet was sent.
    fn sent(&self, flow: &mut FlowState, flits: u16, now: Tick) {
        let _ = (flow, flits, now);
    }

    /// Records that a packet was acknowledged. Returns whether that slows the flow down.
    fn acknowledged(&self, flow: &mut FlowState, echo: Echo, now: Tick) -> bool;

    /// Whether the state equals the initial one, so that it may be dropped.
    fn is_fresh(&self, flow: &FlowState, now: Tick) -> bool;

    /// Returns the built-in window, if this is one, so that it need not be called through a
    /// pointer.
    fn window(&self) -> Option<Window> {
        None
    }
}

/// The information in an acknowledgement for its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Echo {
    /// Whether a switch has marked the packet.
    pub is_marked: bool,
    /// Length of the packet.
    pub flits: u16,
    /// Ticks since its first flit left its NIC.
    pub round_trip: u64,
    /// The packet's sequence number at its NIC.
    pub sequence: u32,
    /// The sequence number of the next packet of the NIC.
    pub next: u32,
}

/// The link of an endpoint that a control is built for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// Duration of one flit, in ticks.
    pub flit: u64,
    /// Flits of the largest packet.
    pub largest: u32,
}

/// A description of a congestion control, as a file gives it.
#[warn(missing_docs)]
pub trait CongestionControl: fmt::Debug + Send + Sync {
    /// Builds the control for endpoints; `None` if it holds nothing back.
    fn control(&self, link: Link) -> Option<Arc<dyn Control>>;

    /// Whether there is no control at all.
    fn is_absent(&self) -> bool {
        false
    }

    /// Returns the fraction of its buffer, without a stash, above which an input of a switch marks
    /// packets; `None` if none does.
    fn marks_above(&self) -> Option<f64> {
        None
    }

    /// Returns what is wrong with it on such a link and how to fix it; `None` if it fits.
    fn fault(&self, link: Link) -> Option<String> {
        let _ = link;
        None
    }
}

/// All kinds of congestion control.
pub const CONGESTION_CONTROLS: &[Kind<dyn CongestionControl>] = &[
    kind!(Uncontrolled, dyn CongestionControl),
    kind!(EcnWindow, dyn CongestionControl),
];

params! {
    /// No congestion control.
    #[derive(Clone, Debug)]
    pub struct Uncontrolled {}
}

impl Described for Uncontrolled {
    const NAME: &'static str = "none";
    const SUMMARY: &'static str = "No control: endpoints send whenever the first switch has space.";
    const EXAMPLE: &'static str = "";
}

impl CongestionControl for Uncontrolled {
    fn control(&self, _: Link) -> Option<Arc<dyn Control>> {
        None
    }

    fn is_absent(&self) -> bool {
        true
    }
}

//! Congestion control of one flow, the packets from one endpoint to another on one channel.
//!
//! This is the seam: a flow asks whether it may send, tells what it sent and what was acknowledged, and nothing
//! else. A control keeps no state of its own: what it must remember of a flow is a [`FlowState`] of plain words, kept
//! (and saved) by the endpoint for as long as the flow has something under way or is held back. There are no timers: what changes
//! with time is computed from the state at the last touch and the time now.

mod ecn_window;

use std::fmt;
use std::sync::Arc;

use netloom_catalog::{Described, Kind, choice, kind, params};
use netloom_units::Tick;

pub use ecn_window::{Cuts, EcnWindow, Window};

/// What a control remembers of a flow: four words whose meaning is its own. There is no other place for state: whoever
/// saves the flows of an endpoint has saved its control.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowState(pub [u64; 4]);

netloom_encoding::encoded!(FlowState(_));

/// A congestion control at endpoints. It is shared by all of them and never changes: what it knows of a flow is in the
/// [`FlowState`] that it is handed.
pub trait Control: fmt::Debug + Send + Sync {
    /// A flow that has sent nothing.
    fn start(&self, now: Tick) -> FlowState;

    /// Whether `flits` may be sent on top of `in_flight`; otherwise when, if nothing is acknowledged before
    /// ([`Tick::NEVER`] if only an acknowledgement can help).
    fn admits(&self, flow: &FlowState, in_flight: u32, flits: u16, now: Tick) -> Result<(), Tick>;

    /// A packet was sent.
    fn sent(&self, flow: &mut FlowState, flits: u16, now: Tick) {
        let _ = (flow, flits, now);
    }

    /// A packet was acknowledged; whether that slows the flow down.
    fn acknowledged(&self, flow: &mut FlowState, echo: Echo, now: Tick) -> bool;

    /// Whether the flow is as at its start, so that it may be forgotten.
    fn is_fresh(&self, flow: &FlowState, now: Tick) -> bool;

    /// The window that this control is, where it is the built-in one: then it is not called through a pointer.
    fn window(&self) -> Option<Window> {
        None
    }
}

/// What an acknowledgement says to its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Echo {
    /// A switch has marked the packet.
    pub is_marked: bool,
    /// The packet's length.
    pub flits: u16,
    /// Ticks since its first flit left its NIC.
    pub round_trip: u64,
    /// The packet's number among those of its NIC.
    pub sequence: u32,
    /// The number of the next one that the NIC sends.
    pub next: u32,
}

/// What a control is built for: the link of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// One flit on it, in ticks.
    pub flit: u64,
    /// Flits of the largest packet.
    pub largest: u32,
}

choice! {
    /// The buffer of which an input marks packets above a share.
    pub enum MarkBase {
        /// The part of it that serves the link (X002-5).
        Normal = "normal",
        /// All of it, stash included.
        Full = "full",
    }
}

/// When the inputs of switches mark packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Marking {
    /// Above this share of a buffer.
    pub above: f64,
    /// Of which.
    pub of: MarkBase,
}

/// A description of a congestion control, as a file gives it.
pub trait CongestionControl: fmt::Debug + Send + Sync {
    /// Makes it ready for endpoints; `None` if it holds nothing back.
    fn control(&self, link: Link) -> Option<Arc<dyn Control>>;

    /// Whether there is none at all.
    fn is_absent(&self) -> bool {
        false
    }

    /// When switches mark packets for it; never if `None`.
    fn marking(&self) -> Option<Marking> {
        None
    }

    /// What is wrong with it on such a link, and what to write instead; `None` if it fits.
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
    const SUMMARY: &'static str = "Endpoints send as long as the first switch takes it.";
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

//! A window of flits in flight, controlled by the round-trip time. It grows with every timely
//! acknowledgement. A late one shrinks it, at most once per window of packets.
//!
//! Unlike Swift, it has no pacing below one packet, and its target does not depend on the number of
//! flows and hops.

use std::sync::Arc;

use netloom::catalog::{Described, params};
use netloom::fabric::{CongestionControl, Control, Echo, FlowState, Link};
use netloom::units::Tick;

params! {
    /// When windows shrink and grow, and by how much.
    #[derive(Clone, Debug)]
    pub struct DelayWindow {
        /// Flits in flight to one destination, at the start and at most.
        pub window: u32 = 1024,
        /// Round-trip time above which an acknowledgement is late, in flit times of the NIC's link.
        pub target: u64 = 1000,
        /// Flits by which a window grows per window of timely acknowledged flits.
        pub rise: u32 = 32,
        /// Share of the window that remains after a late acknowledgement.
        pub keep: f64 = 0.7,
    }
    check |it, section| {
        if !(0.1..=0.99).contains(&it.keep) {
            let place = section.place_of("keep");
            section.notes.error("E0102", place, format!("expected a share, found {}", it.keep)).help("use 0.1 to 0.99");
        }
        if it.window > 1 << 20 || it.rise > 1 << 10 {
            let place = section.place_of("window");
            section.notes.error("E0102", place, "the window is too large")
                .help("use at most 1048576 for `window`, and 1024 for `rise`");
        }
    }
}

impl Described for DelayWindow {
    const NAME: &'static str = "delay-window";
    const SUMMARY: &'static str = "A window per destination that grows with timely \
        acknowledgements and shrinks with late ones.";
    const PAPER: Option<&'static str> = Some(
        "after G. Kumar et al., \"Swift: delay is simple and effective for congestion control in \
         the datacenter\", SIGCOMM 2020",
    );
    const EXAMPLE: &'static str = "window = 1024\ntarget = 1000";
}

impl CongestionControl for DelayWindow {
    fn control(&self, link: Link) -> Option<Arc<dyn Control>> {
        Some(Arc::new(Window {
            most: u64::from(self.window) * FLIT,
            least: u64::from(link.largest) * FLIT,
            target: self.target * link.flit,
            rise: u64::from(self.rise) * FLIT,
            // In thousandths, which represent usual values exactly.
            keep: (self.keep * 1000.0).round() as u64,
        }))
    }

    fn fault(&self, link: Link) -> Option<String> {
        let is_too_small = self.window < link.largest;
        is_too_small.then(|| {
            let (window, largest) = (self.window, link.largest);
            format!(
                "expected a window of at least {largest} flits, the largest packet, found {window}"
            )
        })
    }
}

/// One flit in the fixed point of windows.
const FLIT: u64 = 1 << 16;

/// The words of a flow: its window in 1/65536 of a flit, and the first packet of the NIC after the
/// last decrease. The endpoint stores, saves and restores them; there is no other state.
const SIZE: usize = 0;
const AFTER: usize = 1;

#[derive(Debug)]
struct Window {
    most: u64,
    least: u64,
    /// In ticks.
    target: u64,
    rise: u64,
    /// In thousandths.
    keep: u64,
}

impl Control for Window {
    fn start(&self, _now: Tick) -> FlowState {
        FlowState([self.most, 0, 0, 0])
    }

    fn admits(&self, flow: &FlowState, in_flight: u32, flits: u16, _now: Tick) -> Result<(), Tick> {
        let need = (u64::from(in_flight) + u64::from(flits)) * FLIT;
        // Only an acknowledgement can free the window.
        if need <= flow.0[SIZE] {
            Ok(())
        } else {
            Err(Tick::NEVER)
        }
    }

    fn acknowledged(&self, flow: &mut FlowState, echo: Echo, _now: Tick) -> bool {
        let size = flow.0[SIZE];
        if echo.round_trip <= self.target {
            let share = u64::from(echo.flits) * FLIT;
            flow.0[SIZE] = (size + self.rise * share / size).min(self.most);
            return false;
        }
        if u64::from(echo.sequence) < flow.0[AFTER] {
            return false;
        }
        flow.0[SIZE] = (size * self.keep / 1000).max(self.least);
        flow.0[AFTER] = u64::from(echo.next);
        true
    }

    fn is_fresh(&self, flow: &FlowState, _now: Tick) -> bool {
        flow.0[SIZE] == self.most
    }
}

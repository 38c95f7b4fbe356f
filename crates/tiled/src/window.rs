//! Congestion control of one flow, the packets from one endpoint to another.
//!
//! This is the seam: a flow asks whether it may send, tells what it sent and what was acknowledged, and nothing
//! else. What a control needs to remember fits a [`Control::Flow`], kept by the endpoint for as long as the
//! flow has something under way or is held back.

use netloom_fabric::{Cuts, Window};
use netloom_units::Tick;

/// A congestion control at endpoints.
pub(crate) trait Control {
    /// What is remembered of a flow.
    type Flow: Copy;

    /// A flow that has sent nothing.
    fn start(&self, now: Tick) -> Self::Flow;
    /// Whether `flits` may be sent on top of `in_flight`; otherwise when, if nothing is acknowledged before.
    fn admits(&self, flow: &Self::Flow, in_flight: u32, flits: u16, now: Tick) -> Result<(), Tick>;
    /// A packet was acknowledged; whether that slows the flow down.
    fn acknowledged(&self, flow: &mut Self::Flow, echo: Echo, now: Tick) -> bool;
    /// Whether the flow is as at its start, so that it may be forgotten.
    fn is_fresh(&self, flow: &Self::Flow, now: Tick) -> bool;
}

/// What an acknowledgement says to its flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Echo {
    /// A switch has marked the packet.
    pub(crate) is_marked: bool,
    /// The packet's number among those of its NIC.
    pub(crate) sequence: u32,
    /// The number of the next one that the NIC sends.
    pub(crate) next: u32,
}

/// One flit in the fixed point of windows.
const FLIT: u64 = 1 << 16;

/// The window of one flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EcnFlow {
    /// In 1/65536 of a flit, when it was last changed.
    size: u64,
    /// When that was.
    since: Tick,
    /// The first packet of the NIC sent after the last cut.
    after: u32,
}

impl EcnFlow {
    /// Of endpoints without windows.
    pub(crate) const NONE: EcnFlow = EcnFlow {
        size: 0,
        since: Tick::ZERO,
        after: 0,
    };
}

/// The window of the paper: a mark leaves 80 % of it, time gives a flit every 30 cycles (X002-6: of the channel).
/// Its timer runs freely: growth is at multiples of the step.
impl Control for Window {
    type Flow = EcnFlow;

    fn start(&self, now: Tick) -> EcnFlow {
        EcnFlow {
            size: u64::from(self.most) * FLIT,
            since: now,
            after: 0,
        }
    }

    fn admits(&self, flow: &EcnFlow, in_flight: u32, flits: u16, now: Tick) -> Result<(), Tick> {
        let need = (u64::from(in_flight) + u64::from(flits)) * FLIT;
        let size = self.size(flow, now);
        if need <= size {
            return Ok(());
        }
        if need > u64::from(self.most) * FLIT {
            return Err(Tick::NEVER);
        }
        let steps = (need - size).div_ceil(FLIT);
        Err(Tick((now.0 / self.step + steps) * self.step))
    }

    fn acknowledged(&self, flow: &mut EcnFlow, echo: Echo, now: Tick) -> bool {
        let cuts = match self.cuts {
            Cuts::EveryMark => echo.is_marked,
            Cuts::OncePerWindow => echo.is_marked && echo.sequence >= flow.after,
        };
        if cuts {
            let (num, den) = (u64::from(self.cut.0), u64::from(self.cut.1));
            let size = self.size(flow, now) * num / den;
            flow.size = size.max(u64::from(self.least) * FLIT);
            flow.since = now;
            flow.after = echo.next;
        }
        cuts
    }

    fn is_fresh(&self, flow: &EcnFlow, now: Tick) -> bool {
        self.size(flow, now) == u64::from(self.most) * FLIT
    }
}

/// What [`Window`] alone can say.
trait Size {
    fn size(&self, flow: &EcnFlow, now: Tick) -> u64;
}

impl Size for Window {
    /// The window now, growth included.
    fn size(&self, flow: &EcnFlow, now: Tick) -> u64 {
        let most = u64::from(self.most) * FLIT;
        if flow.size == most {
            return most;
        }
        let steps = now.0 / self.step - flow.since.0 / self.step;
        (flow.size + steps * FLIT).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: Echo = Echo {
        is_marked: true,
        sequence: 0,
        next: 1,
    };

    fn window() -> Window {
        Window {
            most: 4096,
            least: 24,
            cut: (4, 5),
            cuts: Cuts::EveryMark,
            step: 390,
        }
    }

    /// V002-12: the window after n marks at one instant, rounded to flits.
    #[test]
    fn v002_12_each_mark_leaves_80_percent() {
        let mut flow = window().start(Tick(0));
        let after = (0..11).map(|_| {
            window().acknowledged(&mut flow, MARK, Tick(5));
            (flow.size + FLIT / 2) / FLIT
        });
        let expected = [3277, 2621, 2097, 1678, 1342, 1074, 859, 687, 550, 440, 352];
        assert_eq!(after.collect::<Vec<u64>>(), expected);
    }

    /// RFC 3168, 6.1.2: a sender reacts once to the marks of a window of packets.
    #[test]
    fn a_window_of_marked_packets_can_cut_it_once() {
        let once = Window {
            cuts: Cuts::OncePerWindow,
            ..window()
        };
        let mut flow = once.start(Tick(0));
        let mut hear = |sequence, next| {
            let echo = Echo {
                is_marked: true,
                sequence,
                next,
            };
            once.acknowledged(&mut flow, echo, Tick(5))
        };
        assert!(hear(3, 10), "the first mark");
        assert!(!hear(4, 11) && !hear(9, 12), "sent before the cut");
        assert!(hear(10, 13) && !hear(12, 14), "sent after it");
        assert_eq!(flow.size, 4096 * FLIT * 4 / 5 * 4 / 5);
    }

    /// 3.1.3: from (almost) zero a window is whole again after 4096 steps of 30 cycles: 122.9 us.
    #[test]
    fn a_window_recovers_by_a_flit_every_30_cycles() {
        let mut flow = window().start(Tick(0));
        for _ in 0..60 {
            window().acknowledged(&mut flow, MARK, Tick(0));
        }
        assert_eq!(flow.size, 24 * FLIT, "G002-14: never less than a packet");
        let whole = (4096 - 24) * 390;
        assert!(!window().is_fresh(&flow, Tick(whole - 1)));
        assert!(window().is_fresh(&flow, Tick(whole)));
    }

    #[test]
    fn who_may_not_send_learns_when() {
        let mut flow = window().start(Tick(0));
        for _ in 0..60 {
            window().acknowledged(&mut flow, MARK, Tick(100));
        }
        assert_eq!(window().admits(&flow, 0, 24, Tick(100)), Ok(()));
        assert_eq!(window().admits(&flow, 2, 24, Tick(100)), Err(Tick(780)));
        assert_eq!(window().admits(&flow, 2, 24, Tick(779)), Err(Tick(780)));
        assert_eq!(window().admits(&flow, 2, 24, Tick(780)), Ok(()));
        assert_eq!(
            window().admits(&flow, 4096, 24, Tick(780)),
            Err(Tick::NEVER)
        );
    }

    /// V002-13: a window that is whole does not hold back a flow at full rate, whose round trip is 1600 flits.
    #[test]
    fn v002_13_a_whole_window_covers_the_round_trip() {
        let flow = window().start(Tick(0));
        assert_eq!(window().admits(&flow, 1600, 24, Tick(0)), Ok(()));
    }
}

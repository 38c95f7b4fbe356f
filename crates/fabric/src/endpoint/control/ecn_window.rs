//! Windows that shrink with marks and grow with time.

use std::sync::Arc;

use netloom_catalog::{Described, choice, params};
use netloom_units::Tick;

use super::{CongestionControl, Control, Echo, FlowState, Link};

choice! {
    /// Which marked acknowledgements cut a window.
    pub enum Cuts {
        /// Every one.
        EveryMark = "every-mark",
        /// At most one per window of packets, as in TCP (RFC 3168). Marks of packets sent before
        /// the last cut are ignored.
        OncePerWindow = "once-per-window",
    }
}

params! {
    /// Switches mark packets, acknowledgements carry the marks back, and windows shrink and grow.
    #[derive(Clone, Debug)]
    pub struct EcnWindow {
        /// Flits in flight to one destination, initially and at most.
        pub window: u32 = 4096,
        /// The minimum window; by default the largest packet.
        pub least: Option<u32> = None,
        /// The fraction of its window that a marked acknowledgement leaves.
        pub keep: f64 = 0.8,
        /// Whether every marked acknowledgement cuts its window, or at most one per window of
        /// packets (RFC 3168).
        pub cuts: Cuts = Cuts::EveryMark,
        /// Flit times of the NIC's link after which a window grows by one flit.
        pub step: u64 = 30,
        /// The fraction of its buffer, without a stash, above which an input is congested and marks
        /// packets.
        pub mark_above: f64 = 0.5,
    }
    removed { "mark-base" = "\"normal\"": "the buffer does not include a stash" }
    check |it, section| {
        let ranges = [
            ("keep", it.keep, (0.01..=0.99).contains(&it.keep), "use 0.01 to 0.99"),
            ("mark-above", it.mark_above, (0.0..=1.0).contains(&it.mark_above), "use 0 to 1"),
            ("window", f64::from(it.window), (1..=1 << 20).contains(&it.window), "use 1 to 1048576 \
                flits"),
            ("step", it.step as f64, (1..=1 << 20).contains(&it.step), "use 1 to 1048576 flit \
                times"),
        ];
        for (key, value, is_good, help) in ranges {
            if !is_good {
                let place = section.place_of(key);
                section.notes.error("E0102", place, format!("`{key}` of {value} is out of range")).help(help);
            }
        }
    }
}

impl Described for EcnWindow {
    const NAME: &'static str = "ecn-window";
    const SUMMARY: &'static str = "Congested inputs mark packets, and acknowledgements carry the \
         marks back; a window per destination shrinks with every mark and grows with time.";
    const PAPER: Option<&'static str> = Some(
        "M. Blumrich, N. Jiang, L. Dennison, \"Exploiting idle resources in a high-radix switch \
         for supplemental \
         storage\", SC 2018",
    );
    const EXAMPLE: &'static str = "window = 4096\nkeep = 0.8";
}

impl CongestionControl for EcnWindow {
    fn control(&self, link: Link) -> Option<Arc<dyn Control>> {
        Some(Arc::new(Window {
            most: self.window,
            least: self.least.unwrap_or(link.largest),
            // Thousandths: exact for values written by hand.
            cut: ((self.keep * 1000.0).round() as u32, 1000),
            cuts: self.cuts,
            step: self.step * link.flit,
        }))
    }

    fn marks_above(&self) -> Option<f64> {
        Some(self.mark_above)
    }

    /// The minimum window lets the largest packet pass.
    fn fault(&self, link: Link) -> Option<String> {
        let least = self.least.unwrap_or(link.largest);
        if least >= link.largest && self.window >= least {
            return None;
        }
        Some(format!(
            "the window has {least} to {} flits, but the largest packet has {}: set `least` and \
             `window` to at least that",
            self.window, link.largest
        ))
    }
}

/// The window of flits in flight to one destination: cut by marks, growing with time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Initial and maximum window, in flits.
    pub most: u32,
    /// Minimum window, in flits.
    pub least: u32,
    /// The fraction that a cut leaves: (numerator, denominator).
    pub cut: (u32, u32),
    /// Which marked acknowledgements cut it.
    pub cuts: Cuts,
    /// Ticks after which it grows by one flit.
    pub step: u64,
}

/// One flit in the fixed-point format of windows.
const FLIT: u64 = 1 << 16;

/// Words of the state of a window: its size in 1/65536 of a flit at the last change, the time of
/// that change, and the first packet that the NIC sent after the last cut.
const SIZE: usize = 0;
const SINCE: usize = 1;
const AFTER: usize = 2;

impl Window {
    /// Whether a flow can have this state: a window not larger than the initial one and not changed
    /// in the future.
    pub(crate) fn is_sound(&self, flow: &FlowState, now: Tick) -> bool {
        flow.0[SIZE] <= u64::from(self.most) * FLIT
            && flow.0[SINCE] <= now.0
            && flow.0[AFTER] <= u64::from(u32::MAX)
    }

    /// Returns the current window, growth included.
    fn size(&self, flow: &FlowState, now: Tick) -> u64 {
        let most = u64::from(self.most) * FLIT;
        if flow.0[SIZE] == most {
            return most;
        }
        let steps = now.0 / self.step - flow.0[SINCE] / self.step;
        (flow.0[SIZE] + steps * FLIT).min(most)
    }
}

/// The window of the paper: a mark leaves 80 % of it, and it gains a flit every 30 cycles of the
/// link. Its timer runs freely, so growth is at multiples of the step.
impl Control for Window {
    fn start(&self, now: Tick) -> FlowState {
        FlowState([u64::from(self.most) * FLIT, now.0, 0, 0])
    }

    #[inline]
    fn admits(&self, flow: &FlowState, in_flight: u32, flits: u16, now: Tick) -> Result<(), Tick> {
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

    fn acknowledged(&self, flow: &mut FlowState, echo: Echo, now: Tick) -> bool {
        let cuts = match self.cuts {
            Cuts::EveryMark => echo.is_marked,
            Cuts::OncePerWindow => echo.is_marked && u64::from(echo.sequence) >= flow.0[AFTER],
        };
        if cuts {
            let (num, den) = (u64::from(self.cut.0), u64::from(self.cut.1));
            let size = self.size(flow, now) * num / den;
            flow.0[SIZE] = size.max(u64::from(self.least) * FLIT);
            flow.0[SINCE] = now.0;
            flow.0[AFTER] = u64::from(echo.next);
        }
        cuts
    }

    fn is_fresh(&self, flow: &FlowState, now: Tick) -> bool {
        self.size(flow, now) == u64::from(self.most) * FLIT
    }

    fn window(&self) -> Option<Window> {
        Some(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: Echo = Echo {
        is_marked: true,
        flits: 24,
        round_trip: 100,
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

    /// The window after n marks at one instant, rounded to flits.
    #[test]
    fn v002_12_each_mark_leaves_80_percent() {
        let mut flow = window().start(Tick(0));
        let after = (0..11).map(|_| {
            window().acknowledged(&mut flow, MARK, Tick(5));
            (flow.0[SIZE] + FLIT / 2) / FLIT
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
                sequence,
                next,
                ..MARK
            };
            once.acknowledged(&mut flow, echo, Tick(5))
        };
        assert!(hear(3, 10), "the first mark");
        assert!(!hear(4, 11) && !hear(9, 12), "sent before the cut");
        assert!(hear(10, 13) && !hear(12, 14), "sent after it");
        assert_eq!(flow.0[SIZE], 4096 * FLIT * 4 / 5 * 4 / 5);
    }

    /// Paper 002, section 3.1.3: from (almost) zero a window recovers after 4096 steps of 30
    /// cycles: 122.9 us.
    #[test]
    fn a_window_recovers_by_a_flit_every_30_cycles() {
        let mut flow = window().start(Tick(0));
        for _ in 0..60 {
            window().acknowledged(&mut flow, MARK, Tick(0));
        }
        assert_eq!(flow.0[SIZE], 24 * FLIT, "never less than a packet");
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

    /// A full window does not limit a flow at full rate with a round trip of 1600 flits.
    #[test]
    fn v002_13_a_whole_window_covers_the_round_trip() {
        let flow = window().start(Tick(0));
        assert_eq!(window().admits(&flow, 1600, 24, Tick(0)), Ok(()));
    }
}

//! `nic.congestion-control`: how endpoints slow down, in kinds.

use netloom_catalog::{Described, Kind, choice, kind, params};

/// A congestion control, as the file gives it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EcnSpec {
    /// Flits of a window at most, and at the start.
    pub most: u32,
    /// Flits of a window at least; `None` for the largest packet.
    pub least: Option<u32>,
    /// What a mark leaves of a window.
    pub keep: f64,
    /// Which marks cut it.
    pub cuts: CutBy,
    /// Cycles of the NIC for one more flit.
    pub step: u64,
    /// An input is congested above this share of its buffer.
    pub mark_above: f64,
    /// Of which buffer.
    pub mark_base: MarkBase,
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

choice! {
    /// Which marks cut a window.
    pub enum CutBy {
        /// Every marked acknowledgement.
        EveryMark = "every-mark",
        /// At most one for each window of packets, as TCP does (RFC 3168): marks of packets that were sent before the
        /// last cut are not news.
        OncePerWindow = "once-per-window",
    }
}

/// A way of congestion control.
pub trait CongestionControl: Send + Sync {
    /// As the planner of the machines knows it; `None` for none.
    fn spec(&self) -> Option<EcnSpec>;
}

/// All ways of congestion control.
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
    fn spec(&self) -> Option<EcnSpec> {
        None
    }
}

params! {
    /// Switches mark, acknowledgements tell, windows shrink and grow.
    #[derive(Clone, Debug)]
    pub struct EcnWindow {
        /// Flits under way to one destination at the start, and at most.
        pub window: u32 = 4096,
        /// The least that marks leave; left out, the largest packet (G002-14).
        pub least: Option<u32> = None,
        /// The share of its window that a marked acknowledgement leaves.
        pub keep: f64 = 0.8,
        /// Whether every marked acknowledgement cuts its window, or at most one for each window of packets (RFC 3168).
        pub cuts: CutBy = CutBy::EveryMark,
        /// A window grows by one flit every so many flit times of the NIC's link.
        pub step: u64 = 30,
        /// An input is congested, and marks what passes, above this share of its buffer.
        pub mark_above: f64 = 0.5,
        /// Of which buffer: the part of it that serves the link, or all of it, a stash included.
        pub mark_base: MarkBase = MarkBase::Normal,
    }
    check |it, section| {
        let ranges = [
            ("keep", it.keep, (0.01..=0.99).contains(&it.keep), "write 0.01 to 0.99"),
            ("mark-above", it.mark_above, (0.0..=1.0).contains(&it.mark_above), "write 0 to 1"),
            ("window", f64::from(it.window), (1..=1 << 20).contains(&it.window), "write 1 to 1048576 flits"),
            ("step", it.step as f64, (1..=1 << 20).contains(&it.step), "write 1 to 1048576 flit times"),
        ];
        for (key, value, is_good, help) in ranges {
            if !is_good {
                let place = section.place_of(key);
                section.notes.error("E0102", place, format!("`{key}` of {value}")).help(help);
            }
        }
    }
}

impl Described for EcnWindow {
    const NAME: &'static str = "ecn-window";
    const SUMMARY: &'static str = "Congested inputs mark packets, acknowledgements carry the mark back, and a window per destination shrinks with every mark and grows with time.";
    const PAPER: Option<&'static str> = Some(
        "M. Blumrich, N. Jiang, L. Dennison, \"Exploiting idle resources in a high-radix switch for supplemental \
         storage\", SC 2018",
    );
    const EXAMPLE: &'static str = "window = 4096\nkeep = 0.8";
}

impl CongestionControl for EcnWindow {
    fn spec(&self) -> Option<EcnSpec> {
        Some(EcnSpec {
            most: self.window,
            least: self.least,
            keep: self.keep,
            cuts: self.cuts,
            step: self.step,
            mark_above: self.mark_above,
            mark_base: self.mark_base,
        })
    }
}

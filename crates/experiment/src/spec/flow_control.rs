//! `link.flow-control`: the kinds of flow control.

use netloom_catalog::{Described, Kind, kind, params};
use netloom_units::Bytes;

/// Flow control as given in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowControlSpec {
    /// Credits for each lane.
    Credits,
    /// Credits for each queue.
    QueueCredits,
    /// Priority flow control.
    Pfc {
        /// Above this a lane is stopped.
        xoff: Option<Bytes>,
        /// At or below this it resumes.
        xon: Option<Bytes>,
    },
    /// PAUSE of whole links.
    Pause {
        /// Above this a link is stopped.
        xoff: Option<Bytes>,
        /// At or below this it resumes.
        xon: Option<Bytes>,
    },
}

/// A kind of flow control.
#[warn(missing_docs)]
pub trait FlowControlling: Send + Sync {
    /// Returns its parameters.
    fn spec(&self) -> FlowControlSpec;
}

/// All kinds of flow control.
pub const FLOW_CONTROLS: &[Kind<dyn FlowControlling>] = &[
    kind!(Credits, dyn FlowControlling),
    kind!(QueueCredits, dyn FlowControlling),
    kind!(Pfc, dyn FlowControlling),
    kind!(Pause, dyn FlowControlling),
];

params! {
    /// Credits for each lane.
    #[derive(Clone, Debug)]
    pub struct Credits {}
}

impl Described for Credits {
    const NAME: &'static str = "credits";
    const SUMMARY: &'static str = "A packet starts only with credits for all of its flits in its \
                                   lane's part of the next input buffer.";
    const EXAMPLE: &'static str = "";
}

impl FlowControlling for Credits {
    fn spec(&self) -> FlowControlSpec {
        FlowControlSpec::Credits
    }
}

params! {
    /// Credits for each queue.
    #[derive(Clone, Debug)]
    pub struct QueueCredits {}
}

impl Described for QueueCredits {
    const NAME: &'static str = "queue-credits";
    const SUMMARY: &'static str = "Credits per queue of the next input buffer. The sender routes \
                                   one hop ahead to find the queue, so a full queue blocks no \
                                   other.";
    const PAPER: Option<&'static str> = Some(
        "J. Escudero-Sahuquillo, P. Garcia, F. Quiles, J. Flich, J. Duato, \"OBQA: smart and \
         cost-efficient queue scheme for head-of-line blocking elimination in fat-trees\", J. \
         Parallel and Distributed Computing 71, 2011",
    );
    const EXAMPLE: &'static str = "";
}

impl FlowControlling for QueueCredits {
    fn spec(&self) -> FlowControlSpec {
        FlowControlSpec::QueueCredits
    }
}

params! {
    /// Priority flow control.
    #[derive(Clone, Debug)]
    pub struct Pfc {
        /// A lane stops when its part of the input buffer holds more than this. The default is the
        /// size of that part less the headroom.
        pub xoff: Option<Bytes> = None,
        /// A lane resumes at this or less. The default is `xoff` less one largest packet.
        pub xon: Option<Bytes> = None,
    }
}

impl Described for Pfc {
    const NAME: &'static str = "pfc";
    const SUMMARY: &'static str = "The receiver stops a lane (PAUSE) above one threshold and \
                                   resumes it below another. The rest of the buffer holds the data \
                                   in flight (IEEE 802.1Qbb).";
    const PAPER: Option<&'static str> =
        Some("IEEE Std 802.1Qbb-2011, \"Priority-based flow control\"");
    const EXAMPLE: &'static str = "xoff = \"8 KiB\"";
}

impl FlowControlling for Pfc {
    fn spec(&self) -> FlowControlSpec {
        FlowControlSpec::Pfc {
            xoff: self.xoff,
            xon: self.xon,
        }
    }
}

params! {
    /// PAUSE of whole links.
    #[derive(Clone, Debug)]
    pub struct Pause {
        /// A link stops when the input buffer at its end holds more than this, all lanes together.
        /// The default is the size of that buffer less the headroom.
        pub xoff: Option<Bytes> = None,
        /// A link resumes at this or less. The default is `xoff` less one largest packet.
        pub xon: Option<Bytes> = None,
    }
}

impl Described for Pause {
    const NAME: &'static str = "pause";
    const SUMMARY: &'static str = "The receiver stops a whole link (PAUSE) when its input buffer, \
                                   shared by all lanes, is above a threshold. A congested lane \
                                   then stops the others too (IEEE 802.3x).";
    const PAPER: Option<&'static str> =
        Some("IEEE Std 802.3, Annex 31B, \"MAC Control PAUSE operation\"");
    const EXAMPLE: &'static str = "xoff = \"8 KiB\"";
}

impl FlowControlling for Pause {
    fn spec(&self) -> FlowControlSpec {
        FlowControlSpec::Pause {
            xoff: self.xoff,
            xon: self.xon,
        }
    }
}

//! What endpoints and switches of a partition both use.

use std::sync::Arc;

use netloom_packet::{Packet, SlSegmentation};
use netloom_routing::Forwarding;
use netloom_units::Tick;

use crate::channels::Channels;
use crate::plan::FabricPlan;
use crate::recorder::{Counters, Protocol, Row};
use crate::simulation::rows;
use crate::trace::{Stage, Step, Watch};

/// The routing, the records of what happened, and the packets that are followed.
pub(crate) struct Shared {
    pub(crate) forwarding: Arc<Forwarding>,
    pub(crate) channels: Channels,
    pub(crate) segmentation: SlSegmentation,
    pub(crate) rows: Vec<Row>,
    pub(crate) counters: Counters,
    pub(crate) protocol: Protocol,
    pub(crate) watch: Option<Watch>,
    pub(crate) steps: Vec<Step>,
}

netloom_encoding::state!(Shared {
    changes: [counters, protocol, steps],
    records: [rows],
    stays: [forwarding, channels, segmentation, watch]
});

impl Shared {
    pub(crate) fn new(plan: &FabricPlan, watch: Option<Watch>) -> Self {
        let n_rows = rows(plan).len();
        assert!(
            n_rows <= 256,
            "a row of (class, service level) has a number of 8 bits"
        );
        Shared {
            forwarding: plan.forwarding.clone(),
            channels: plan.channels.clone(),
            segmentation: plan.segmentation,
            rows: vec![Row::default(); n_rows],
            counters: Counters::default(),
            protocol: Protocol::default(),
            watch,
            steps: Vec::new(),
        }
    }

    /// Writes down a step of a packet, if it is followed.
    #[cold]
    pub(crate) fn note(&mut self, packet: &Packet, at: Tick, stage: Stage) {
        if let Some(watch) = self.watch {
            watch.note(&mut self.steps, packet, at, stage);
        }
    }
}

//! State that endpoints and switches of a partition share.

use std::sync::Arc;

use netloom_encoding::{Invalid, State, Validity, ensure};
use netloom_packet::{Packet, SlSegmentation};
use netloom_routing::Forwarding;
use netloom_units::Tick;

use crate::channels::Channels;
use crate::plan::FabricPlan;
use crate::recorder::{Counters, Protocol, Row};
use crate::simulation::{Options, rows};
use crate::trace::{Stage, Step, Watch};
use crate::validation::Bounds;

/// The routing, the recorded measurements, and the packets that are followed.
#[derive(State)]
pub(crate) struct Shared {
    #[state(constant)]
    pub(crate) forwarding: Arc<Forwarding>,
    #[state(constant)]
    pub(crate) channels: Channels,
    #[state(constant)]
    pub(crate) segmentation: SlSegmentation,
    #[state(records)]
    pub(crate) rows: Vec<Row>,
    pub(crate) counters: Counters,
    pub(crate) protocol: Protocol,
    /// Ticks within which most events take place after their cause.
    #[state(constant)]
    pub(crate) usual_delay: u64,
    /// Whether each tick runs in scrambled order.
    #[state(constant)]
    pub(crate) is_reference: bool,
    #[state(constant)]
    pub(crate) watch: Option<Watch>,
    pub(crate) steps: Vec<Step>,
}

impl Shared {
    pub(crate) fn new(plan: &FabricPlan, options: Options) -> Self {
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
            usual_delay: plan.usual_delay(),
            is_reference: options.reference,
            watch: options.watch,
            steps: Vec::new(),
        }
    }

    /// Validates that counters are far from their limits.
    pub(crate) fn validate(&self, bounds: &Bounds<'_>) -> Validity {
        let Counters {
            packet_hops,
            flit_hops,
            injected,
            delivered,
            emigrated,
            immigrated,
            choices,
            fused,
            digest: _,
        } = self.counters;
        let protocol = &self.protocol;
        let counters = [
            packet_hops,
            flit_hops,
            injected,
            delivered,
            emigrated,
            immigrated,
            choices,
            fused,
        ];
        for counter in counters.into_iter().chain(protocol.counts()) {
            bounds.count("counter of a run", counter)?;
        }
        let left = protocol.deleted + protocol.retrieved;
        ensure(left <= protocol.stashed, || {
            let expected = format!("at most {} packets that left stashes", protocol.stashed);
            Invalid::new("stashes", expected, left)
        })?;
        for row in &self.rows {
            for counter in row.counts() {
                bounds.count("counter of a row", counter)?;
            }
            if let Some(at) = row.last_delivery {
                bounds.past("last delivery", at)?;
            }
        }
        Ok(())
    }

    /// Records a step of a packet, if it is followed.
    #[cold]
    pub(crate) fn note(&mut self, packet: &Packet, at: Tick, stage: Stage) {
        if let Some(watch) = self.watch {
            watch.note(&mut self.steps, packet, at, stage);
        }
    }
}

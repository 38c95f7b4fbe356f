//! The tables of all runs during a run.

use netloom_results::{
    ConnectionLine, Frame, HistogramLine, HostLine, LinkLine, PunctualityLine, SeriesLine,
    StashLine,
};

use serde::{Deserialize, Serialize};

use crate::Experiment;

/// The tables that do not follow from the document.
#[derive(Serialize, Deserialize)]
pub(super) struct Tables {
    pub(super) series: Frame,
    pub(super) links: Frame,
    pub(super) histograms: Frame,
    pub(super) hosts: Frame,
    pub(super) connections: Frame,
    pub(super) punctuality: Frame,
    pub(super) stashes: Frame,
}

impl Tables {
    pub(super) fn new() -> Tables {
        Tables {
            series: Frame::of::<SeriesLine>(),
            links: Frame::of::<LinkLine>(),
            histograms: Frame::of::<HistogramLine>(),
            hosts: Frame::of::<HostLine>(),
            connections: Frame::of::<ConnectionLine>(),
            punctuality: Frame::of::<PunctualityLine>(),
            stashes: Frame::of::<StashLine>(),
        }
    }

    /// Returns all tables with their names.
    pub(super) fn finish(self, experiment: &Experiment) -> Vec<(&'static str, Frame)> {
        let mut all = vec![
            ("series", self.series),
            ("links", self.links),
            ("histograms", self.histograms),
            ("hosts", self.hosts),
        ];
        if experiment.connections.is_some() {
            all.push(("connections", self.connections));
            all.push(("punctuality", self.punctuality));
        }
        if let Some(tiled) = experiment.fabric.switch.tiled()
            && tiled.stash.is_some()
        {
            all.push(("stashes", self.stashes));
        }
        all
    }
}

//! Waiting times of packets at outputs, for runs that measure them.

use serde::{Deserialize, Serialize};

use crate::Document;
use crate::frame::Frame;
use crate::lines::{WaitKey, WaitSummary};
use crate::table::Table;

/// The longest waits of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Waits {
    pub switches: PlaceWaits,
    pub nics: PlaceWaits,
}

/// The longest waits at the outputs of switches, or at NICs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlaceWaits {
    /// What the arbiter distinguishes.
    pub by: WaitScope,
    /// All classes together.
    pub total: WaitSummary,
    /// Per service level or lane, for those that sent or waited.
    pub classes: Vec<ClassWait>,
}

/// What an arbiter distinguishes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitScope {
    /// Service levels.
    Sl,
    /// Virtual lanes.
    Vl,
}

impl WaitScope {
    /// Returns the word used in files.
    pub fn word(self) -> &'static str {
        match self {
            WaitScope::Sl => "sl",
            WaitScope::Vl => "vl",
        }
    }
}

/// The longest wait of a service level or lane.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClassWait {
    /// Number of the service level or lane.
    pub number: u8,
    #[serde(flatten)]
    pub summary: WaitSummary,
}

impl Waits {
    /// Returns both places with their names.
    pub fn places(&self) -> [(&'static str, &PlaceWaits); 2] {
        [("switches", &self.switches), ("nics", &self.nics)]
    }
}

impl Document {
    /// Returns the table of waits, if they were measured.
    pub fn waits(&self) -> Option<Frame> {
        let measured = |run: &crate::Run| run.waits.is_some();
        self.runs().any(measured).then(|| {
            let mut frame = Frame::of::<WaitKey>().with_columns::<WaitSummary>();
            let runs = self
                .runs()
                .filter_map(|run| Some((run.seed, run.waits.as_ref()?)));
            for (seed, waits) in runs {
                for (place, waits) in waits.places() {
                    let mut line = |scope: &str, number: Option<u8>, summary: &WaitSummary| {
                        let key = WaitKey {
                            seed,
                            place: place.to_owned(),
                            scope: scope.to_owned(),
                            number,
                        };
                        frame.push(key.data().into_iter().chain(summary.data()));
                    };
                    line("total", None, &waits.total);
                    for class in &waits.classes {
                        line(waits.by.word(), Some(class.number), &class.summary);
                    }
                }
            }
            frame
        })
    }
}

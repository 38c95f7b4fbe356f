//! The runs of a study one after the other, each over several processes.
//!
//! ```text
//!  first process:  walks the study ─► "run this point with this seed" ─► all run it together ─► writes the run file
//!  others:         wait for that ──────────────────────────────────────► the same             ─► wait again
//! ```
//!
//! Only the first looks at the folder: what a file system or a lock answers is never the same for two processes, and those
//! that do not agree about what comes next would wait for each other for ever.

use netloom_experiment::runner::{self, Control, RunOptions, SharedRanks};
use netloom_results::RunId;
use serde::{Deserialize, Serialize};

use crate::{Division, Point, Study};

use super::kept::Kept;

/// What all processes do next.
#[derive(Serialize, Deserialize)]
pub(super) struct Order {
    /// The run as the first process knows it; one that read another file would know another.
    pub(super) run: RunId,
    pub(super) point: Point,
    pub(super) seed: u64,
}

/// The first of several processes. The others follow until it is dropped.
pub struct Leader<'a> {
    ranks: &'a SharedRanks,
}

impl<'a> Leader<'a> {
    /// Leads these.
    pub fn new(ranks: &'a SharedRanks) -> Leader<'a> {
        Leader { ranks }
    }

    /// The processes that share each run.
    pub(super) fn ranks(&self) -> &SharedRanks {
        self.ranks
    }

    /// Tells the others what to run; whether all of them can.
    pub(super) fn orders(&self, order: &Order) -> bool {
        self.tell(Some(order));
        self.ranks.lock().least(1) == 1
    }

    fn tell(&self, order: Option<&Order>) {
        let bytes = serde_json::to_vec(&order).expect("plain data is JSON");
        self.ranks.lock().gather(&bytes);
    }
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        self.tell(None);
    }
}

/// Does what the first process says, until it says that there is nothing more. `control` is asked as in a single run.
///
/// # Panics
/// If the first process is of another version.
pub fn follow(
    study: &Study,
    ranks: &SharedRanks,
    division: &Division,
    control: &mut dyn FnMut(&runner::Progress) -> Control,
) {
    let kept = Kept::default();
    let next = || -> Option<Order> {
        let all = ranks.lock().gather(&[]);
        serde_json::from_slice(&all[0]).expect("ranks of one version")
    };
    while let Some(order) = next() {
        let loaded = kept.load(study, &order.point, division).ok();
        let experiment = loaded
            .and_then(|experiment| experiment.alone(order.seed).ok())
            .filter(|experiment| runner::run_id(experiment) == order.run);
        let are_all_ready = ranks.lock().least(u64::from(experiment.is_some())) == 1;
        if let Some(experiment) = experiment.filter(|_| are_all_ready) {
            let options = RunOptions {
                threads: division.threads,
                ..RunOptions::default()
            };
            runner::run_over(&experiment, &options, Some(ranks), control);
        }
    }
}

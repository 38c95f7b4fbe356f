//! Runs a study one run after another, each over several processes.
//!
//! ```text
//!  first process:  walks the study ─► "run this point with this seed" ─► all run it together ─► writes the run file
//!  others:         wait for an order ──────────────────────────────────► the same             ─► wait again
//! ```
//!
//! Only the first process reads the folder: the state of a file system or a lock can differ between
//! two processes, and processes that disagree about the next run would wait for each other forever.

use netloom_experiment::runner::{self, Control, RunOptions, SharedRanks};
use netloom_results::RunId;
use serde::{Deserialize, Serialize};

use crate::{Division, Point, Study};

use super::cache::ExperimentCache;

/// The next run of all processes.
#[derive(Serialize, Deserialize)]
pub(super) struct Order {
    /// Id of the run in the first process. It differs in a process that has read another file.
    pub(super) run: RunId,
    pub(super) point: Point,
    pub(super) seed: u64,
}

/// The first of several processes. The others call [`follow`] until it is dropped.
pub struct Leader<'a> {
    ranks: &'a SharedRanks,
}

impl<'a> Leader<'a> {
    /// Creates the leader of these ranks.
    pub fn new(ranks: &'a SharedRanks) -> Leader<'a> {
        Leader { ranks }
    }

    /// Returns the processes that share each run.
    pub(super) fn ranks(&self) -> &SharedRanks {
        self.ranks
    }

    /// Sends the next run to the others, and returns whether all of them can run it.
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

/// Runs what the first process orders, until there are no more runs. `control` is called as in a
/// single run.
///
/// # Panics
/// If the first process has another version.
pub fn follow(
    study: &Study,
    ranks: &SharedRanks,
    division: &Division,
    control: &mut dyn FnMut(&runner::Progress) -> Control,
) {
    let cache = ExperimentCache::default();
    let next = || -> Option<Order> {
        let all = ranks.lock().gather(&[]);
        serde_json::from_slice(&all[0]).expect("ranks of one version")
    };
    while let Some(order) = next() {
        let loaded = cache.load(study, &order.point, division, &mut || Control::Continue);
        let loaded = loaded.ok();
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

//! A cache of recently loaded experiments.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use netloom_experiment::{Experiment, render};
use netloom_results::{Control, Stopped};

use crate::{Division, Point, Study};

/// Size of the cache, for further seeds of the same points.
const MOST: usize = 8;

/// Experiments by point, the most recent one last.
#[derive(Default)]
pub(super) struct ExperimentCache(Mutex<VecDeque<(Point, Arc<Experiment>)>>);

/// Why there is no experiment.
pub(super) enum NotLoaded {
    /// The error messages.
    Mistakes(String),
    Stopped,
}

impl From<Stopped> for NotLoaded {
    fn from(_: Stopped) -> Self {
        NotLoaded::Stopped
    }
}

impl ExperimentCache {
    /// Returns the experiment of a point with the first seed, or why there is none.
    pub(super) fn load(
        &self,
        study: &Study,
        point: &Point,
        division: &Division,
        control: &mut dyn FnMut() -> Control,
    ) -> Result<Arc<Experiment>, NotLoaded> {
        let cache = || self.0.lock().expect("the lock is not poisoned");
        if let Some((_, experiment)) = cache().iter().find(|(own, _)| own == point) {
            return Ok(Arc::clone(experiment));
        }
        let loaded = study.load_with_control(point, study.seeds.first, division, control)?;
        let Some(experiment) = loaded.experiment else {
            let messages = render(&loaded.document, &loaded.notes, false);
            return Err(NotLoaded::Mistakes(messages));
        };
        experiment
            .has_work_for(division.ranks)
            .map_err(|why| NotLoaded::Mistakes(format!("{why}\n")))?;
        let experiment = Arc::new(experiment);
        let mut cache = cache();
        cache.push_back((point.clone(), Arc::clone(&experiment)));
        if cache.len() > MOST {
            cache.pop_front();
        }
        Ok(experiment)
    }
}

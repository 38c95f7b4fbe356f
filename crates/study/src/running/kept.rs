//! A cache of recently loaded experiments.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use netloom_experiment::{Experiment, render};

use crate::{Division, Point, Study};

/// Size of the cache, for further seeds of the same points.
const MOST: usize = 8;

/// Experiments by point, the most recent one last.
#[derive(Default)]
pub(super) struct Kept(Mutex<VecDeque<(Point, Arc<Experiment>)>>);

impl Kept {
    /// Returns the experiment of a point with the first seed, or its error messages.
    pub(super) fn load(
        &self,
        study: &Study,
        point: &Point,
        division: &Division,
    ) -> Result<Arc<Experiment>, String> {
        let kept = || self.0.lock().expect("the lock is not poisoned");
        if let Some((_, experiment)) = kept().iter().find(|(own, _)| own == point) {
            return Ok(Arc::clone(experiment));
        }
        let loaded = study.load_divided(point, study.seeds.first, division);
        let Some(experiment) = loaded.experiment else {
            return Err(render(&loaded.document, &loaded.notes, false));
        };
        experiment
            .has_work_for(division.ranks)
            .map_err(|why| format!("{why}\n"))?;
        let experiment = Arc::new(experiment);
        let mut kept = kept();
        kept.push_back((point.clone(), Arc::clone(&experiment)));
        if kept.len() > MOST {
            kept.pop_front();
        }
        Ok(experiment)
    }
}

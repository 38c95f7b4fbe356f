//! Checks a study without running it: errors at its points, and its estimated cost.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use netloom_catalog::{Document, Note, Notes, Place};
use netloom_experiment::spec::Loaded;
use netloom_results::Control;

use crate::{Division, Point, Study};

/// Additional time so that every value is checked at least once.
const MORE: Duration = Duration::from_secs(60);

/// The result of a check.
pub struct Checked {
    /// The sources that the places of notes refer to.
    pub document: Document,
    /// All notes about the points, each error once.
    pub notes: Notes,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Number of points that were loaded.
    pub n_checked: u64,
    /// Whether they include every value of every axis.
    pub has_every_value: bool,
    /// Number of points of the study, without those added by rules.
    pub n_points: u64,
    /// Facts that hold at every loaded point: a word and a sentence each.
    pub facts: Vec<(String, String)>,
    /// Estimated cost of the study, if known.
    pub cost: Option<StudyCost>,
}

/// Estimated cost of a study. If rules add or omit runs, this is an upper bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StudyCost {
    pub runs: u64,
    /// Packet-hops of all runs together.
    pub packet_hops: f64,
    /// Processor time of all runs together.
    pub cpu_seconds: f64,
    /// Memory of the largest run.
    pub largest_memory_bytes: u64,
}

/// Identifies equal notes at different points: code, places, and which of those of a point.
type Key = (&'static str, Vec<Place>, usize);

impl Study {
    /// Loads points until `budget` is used up: first a set that covers every value of every axis,
    /// for which it allows one more minute, then the others. Calls `progress` with the number of
    /// loaded points and the total, also while it loads a point. If that stops it, the result
    /// covers the points so far.
    pub fn check(
        &self,
        budget: Duration,
        progress: &mut dyn FnMut(u64, u64) -> Control,
    ) -> Checked {
        let began = Instant::now();
        let n_points = self.n_points();
        let first = self.every_value_once();
        let n_first = first.len() as u64;
        let done: HashSet<&Point> = first.iter().collect();
        let others = self.points().filter(|point| !done.contains(point));
        let mut seen = Seen::default();
        let (mut n_checked, division) = (0, Division::default());
        let mut interrupted = progress(0, n_points) == Control::Stop;
        for point in first.iter().cloned().chain(others) {
            let more = if n_checked < n_first {
                MORE
            } else {
                Duration::ZERO
            };
            if interrupted || n_checked > 0 && began.elapsed() >= budget + more {
                break;
            }
            let control = &mut || progress(n_checked, n_points);
            let Ok(loaded) = self.load_with_control(&point, self.seeds.first, &division, control)
            else {
                interrupted = true;
                break;
            };
            seen.add(&point, loaded);
            n_checked += 1;
            interrupted = progress(n_checked, n_points) == Control::Stop;
        }
        Checked {
            interrupted,
            ..seen.summed_up(self, n_checked, n_checked >= n_first)
        }
    }

    /// Returns a small set of points that covers every value of every axis.
    fn every_value_once(&self) -> Vec<Point> {
        let lengths = self.axes.iter().map(|axis| axis.values.len() as u64);
        let longest = lengths.max().unwrap_or(1);
        let point = |turn: u64| {
            let number = |axis: &crate::Axis| turn % axis.values.len() as u64 * axis.fineness();
            Point(self.axes.iter().map(number).collect())
        };
        (0..longest).map(point).collect()
    }
}

/// Intermediate results of a check.
#[derive(Default)]
struct Seen {
    document: Option<Document>,
    /// In order of discovery.
    notes: Vec<(Note, Point, u64)>,
    by_key: HashMap<Key, usize>,
    facts: Option<Vec<(String, String)>>,
    /// Number of points with a known cost; the following fields are sums over them.
    n_known: u64,
    packet_hops: f64,
    cpu_seconds: f64,
    largest_memory_bytes: u64,
}

impl Seen {
    fn add(&mut self, point: &Point, loaded: Loaded) {
        let mut own: HashMap<(&'static str, Vec<Place>), usize> = HashMap::new();
        for note in loaded.notes.iter() {
            let places: Vec<Place> = note.places.iter().map(|(place, _)| *place).collect();
            let nth = own.entry((note.code, places.clone())).or_default();
            *nth += 1;
            let key = (note.code, places, *nth);
            match self.by_key.get(&key) {
                Some(&at) => self.notes[at].2 += 1,
                None => {
                    self.by_key.insert(key, self.notes.len());
                    self.notes.push((note.clone(), point.clone(), 1));
                }
            }
        }
        match &mut self.facts {
            None => self.facts = Some(loaded.facts),
            Some(facts) => facts.retain(|fact| loaded.facts.contains(fact)),
        }
        if let Some(cost) = loaded.cost {
            self.n_known += 1;
            self.packet_hops += cost.packet_hops;
            self.cpu_seconds += cost.cpu_seconds();
            self.largest_memory_bytes = self.largest_memory_bytes.max(cost.memory_bytes);
        }
        self.document.get_or_insert(loaded.document);
    }

    fn summed_up(self, study: &Study, n_checked: u64, has_every_value: bool) -> Checked {
        let mut notes = Notes::new();
        for (mut note, point, n) in self.notes {
            // An error at some points only comes from the values of the axes.
            if n < n_checked {
                let label = study.label(&point);
                note.message = match n {
                    1 => format!("{} (at {label})", note.message),
                    n => format!("{} (at {n} of {n_checked} points: {label})", note.message),
                };
            }
            notes.push(note);
        }
        let (runs, known) = (study.most_runs(), self.n_known as f64);
        let cost = (self.n_known > 0).then(|| StudyCost {
            runs,
            packet_hops: self.packet_hops / known * runs as f64,
            cpu_seconds: self.cpu_seconds / known * runs as f64,
            largest_memory_bytes: self.largest_memory_bytes,
        });
        let mut facts = self.facts.unwrap_or_default();
        // Reported for the whole study instead.
        facts.retain(|(word, _)| word != "cost");
        Checked {
            document: self.document.unwrap_or_else(|| study.document().clone()),
            notes,
            interrupted: false,
            n_checked,
            has_every_value,
            n_points: study.n_points(),
            facts,
            cost,
        }
    }
}

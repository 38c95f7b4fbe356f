//! A traffic class: pattern times arrivals times sizes, or a list of messages.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use netloom_catalog::{Notes, Place};
use netloom_packet::{Segmentation, SlSegmentation, Source};
use netloom_random::{Purpose, Stream};
use netloom_units::{Bytes, Sl, Time};

use crate::composed::{Composed, Silent, Windows};
use crate::{ArrivalProcess, Context, FlowList, NicSet, Pattern, Sizes};

/// The largest service level that any fabric of ours has (Omni-Path: 32 of them).
pub(crate) const LARGEST_SL: u8 = 31;

/// A flit counter of a packet has 16 bits.
const MOST_FLITS: u64 = 65_535;

/// More mistakes of one list of messages than anybody wants to read.
const MOST_MISTAKES: usize = 100;

/// One traffic class of an experiment.
#[derive(Clone)]
pub struct Class {
    /// What results call it.
    pub name: String,
    /// Its service level.
    pub sl: Sl,
    /// Its messages.
    pub workload: Workload,
    pub(crate) places: Places,
}

/// Where the messages of a class come from.
#[derive(Clone)]
pub enum Workload {
    /// Drawn from a law.
    Drawn(Law),
    /// Listed in a file (see [`FlowList`]).
    Listed(PathBuf),
}

/// The law of a class whose messages are drawn.
#[derive(Clone)]
pub struct Law {
    /// Fraction of its link that each source fills, in flits on the wire.
    pub load: f64,
    /// To whom.
    pub pattern: Arc<dyn Pattern>,
    /// When.
    pub arrival: Arc<dyn ArrivalProcess>,
    /// How much.
    pub size: Arc<dyn Sizes>,
    /// Who sends.
    pub sources: NicSet,
    /// Who may receive, where the pattern leaves that open.
    pub destinations: NicSet,
    /// When the class begins to send; `None` for at once.
    pub from: Option<Time>,
    /// When it stops; `None` for never.
    pub until: Option<Time>,
}

/// The run that a class is built for.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// How messages of each service level become packets and flits.
    pub segmentation: SlSegmentation,
    /// NICs of the fabric.
    pub n_nics: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Index of the class in the experiment.
    pub class: u8,
    /// Turns a time of the experiment file into cycles of a NIC.
    pub cycles: &'a dyn Fn(Time) -> u64,
    /// Where relative file names start: the folder of the experiment file.
    pub directory: &'a Path,
}

/// Where the values of a class stand in the file.
#[derive(Clone, Copy, Default)]
pub(crate) struct Places {
    pub(crate) pattern: Place,
    pub(crate) size: Place,
    pub(crate) sources: Place,
    pub(crate) destinations: Place,
    pub(crate) flows: Place,
}

impl Class {
    /// A class made by a program rather than read from a file.
    pub fn new(name: impl Into<String>, sl: Sl, workload: Workload) -> Class {
        Class {
            name: name.into(),
            sl,
            workload,
            places: Places::default(),
        }
    }

    /// Fraction of its link that each source fills; `None` where a file lists the messages.
    pub fn load(&self) -> Option<f64> {
        match &self.workload {
            Workload::Drawn(law) => Some(law.load),
            Workload::Listed(_) => None,
        }
    }

    /// Bytes of the largest message; `None` where a file lists them.
    pub fn largest_message(&self) -> Option<u32> {
        match &self.workload {
            Workload::Drawn(law) => Some(law.size.largest()),
            Workload::Listed(_) => None,
        }
    }

    /// Builds the class for a run, or notes everything that is wrong with it there.
    pub fn build(&self, setting: &Setting<'_>, notes: &mut Notes) -> Option<Box<dyn Source>> {
        match &self.workload {
            Workload::Drawn(law) => self.build_law(law, setting, notes),
            Workload::Listed(path) => self.build_list(path, setting, notes),
        }
    }

    fn build_law(
        &self,
        law: &Law,
        setting: &Setting<'_>,
        notes: &mut Notes,
    ) -> Option<Box<dyn Source>> {
        let mut members = |set: &NicSet, key: &str, place: Place| {
            set.members(setting.n_nics)
                .map_err(|problem| {
                    notes.error("E0601", place, format!("`{key}`: {problem}"));
                })
                .ok()
        };
        let sources = members(&law.sources, "sources", self.places.sources);
        let destinations = match law.destinations.is_all() {
            true => Some(None),
            false => members(&law.destinations, "destinations", self.places.destinations).map(Some),
        };
        let fits = self.fits(
            self.sl,
            law.size.largest(),
            setting,
            self.places.size,
            notes,
        );
        let (sources, destinations) = (sources?, destinations?);
        if !fits {
            return None;
        }
        let mean_flits = law.size.mean_flits(&setting.segmentation.of(self.sl));
        let context = Context {
            n_nics: setting.n_nics,
            seed: setting.seed,
            class: setting.class,
            sources: &sources,
            destinations: destinations.as_deref(),
            mean_flits,
            cycles: setting.cycles,
        };
        let destinations = match law.pattern.prepare(&context) {
            Ok(destinations) => destinations,
            Err(problem) => {
                notes.error("E0602", self.places.pattern, problem);
                return None;
            }
        };
        if law.load <= 0.0 {
            return Some(Box::new(Silent));
        }
        let gaps = law.arrival.prepare(mean_flits / law.load, &context);
        let window = context.window(law.from, law.until);
        Some(Box::new(Composed {
            stream: Stream::new(setting.seed, Purpose::Arrival),
            class: setting.class,
            at_once: gaps.messages_at_once(),
            windows: Windows::new(window, &context, &*destinations),
            destinations,
            gaps,
            sizes: law.size.clone(),
        }))
    }

    fn build_list(
        &self,
        path: &Path,
        setting: &Setting<'_>,
        notes: &mut Notes,
    ) -> Option<Box<dyn Source>> {
        let place = self.places.flows;
        let text = match std::fs::read_to_string(setting.directory.join(path)) {
            Ok(text) => text,
            Err(error) => {
                notes.error("E0605", place, format!("{}: {error}", path.display()));
                return None;
            }
        };
        match FlowList::parse(&text, setting.n_nics, setting.cycles) {
            Ok(list) => list
                .largest(self.sl)
                .into_iter()
                .all(|(sl, bytes)| self.fits(sl, bytes, setting, place, notes))
                .then(|| Box::new(list) as Box<dyn Source>),
            Err(mistakes) => {
                for mistake in mistakes.iter().take(MOST_MISTAKES) {
                    let message =
                        format!("{}:{}: {}", path.display(), mistake.line, mistake.message);
                    notes.error("E0605", place, message);
                }
                if let Some(more) = mistakes.len().checked_sub(MOST_MISTAKES + 1) {
                    notes.error("E0605", place, format!("and {} more mistakes", more + 1));
                }
                None
            }
        }
    }

    /// Whether the packets of a message are small enough, with a note if not.
    fn fits(
        &self,
        sl: Sl,
        largest: u32,
        setting: &Setting<'_>,
        place: Place,
        notes: &mut Notes,
    ) -> bool {
        let Segmentation { flit, mtu, header } = setting.segmentation.of(sl);
        let payload = mtu.map_or(u64::from(largest), |mtu| mtu.0.min(u64::from(largest)));
        let flits = Bytes(payload + header.0).in_flits(flit);
        if flits > MOST_FLITS {
            notes
                .error("E0603", place, format!("a packet of {flits} flits"))
                .help(format!(
                    "a packet has at most {MOST_FLITS} flits: give an MTU, larger flits or smaller messages"
                ));
        }
        flits <= MOST_FLITS
    }
}

//! A traffic class: pattern times arrivals times sizes, or a list of messages.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use netloom_catalog::{Notes, Place, file};
use netloom_packet::{MOST_FLITS, SlSegmentation, Source};
use netloom_random::{Purpose, Stream};
use netloom_units::{Sl, Time};

use crate::composed::{Composed, Silent, Windows};
use crate::context::NEVER;
use crate::{
    ArrivalProcess, Context, FlowList, Generated, Generator, GroupMembers, Mistake, NicSet,
    Pattern, Ranks, Sizes,
};

/// The largest service level that any fabric of ours has (Omni-Path: 32 of them).
pub(crate) const LARGEST_SL: u8 = 31;

/// The service level of subnet management, whose lane has the same number.
pub const MANAGEMENT: Sl = Sl(15);

/// More mistakes of one file than anybody wants to read.
const MOST_MISTAKES: usize = 100;

/// One traffic class of an experiment.
#[derive(Clone)]
pub struct Class {
    /// What results call it.
    pub name: String,
    /// Its service level.
    pub sl: Sl,
    /// Whether it is subnet management, which has a lane of its own.
    pub is_management: bool,
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
    /// Made by a workload that says everything about them.
    Generated(Script),
}

/// A workload that makes its messages, and when.
#[derive(Clone)]
pub struct Script {
    /// The workload.
    pub generator: Arc<dyn Generator>,
    /// When it begins; `None` for at once.
    pub from: Option<Time>,
    /// When it is cut off; `None` for never.
    pub until: Option<Time>,
    /// Where the ranks of a program run, and what they do beside sending.
    pub ranks: Ranks,
}

/// The law of a class whose messages are drawn.
#[derive(Clone)]
pub struct Law {
    /// Fraction of its link that each source fills, in flits on the wire. Where the arrival process has a
    /// pace of its own ([`ArrivalProcess::pace`]), it follows from that, and [`Class::settle`] puts it here.
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
    /// The groups that sets of NICs may name; [`NO_GROUPS`](crate::NO_GROUPS) if there are none.
    pub groups: &'a GroupMembers,
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
    pub(crate) workload: Place,
}

impl Class {
    /// A class made by a program rather than read from a file.
    pub fn new(name: impl Into<String>, sl: Sl, workload: Workload) -> Class {
        Class {
            name: name.into(),
            sl,
            is_management: false,
            workload,
            places: Places::default(),
        }
    }

    /// Fraction of its link that each source fills; `None` where the messages are listed.
    pub fn load(&self) -> Option<f64> {
        match &self.workload {
            Workload::Drawn(law) => Some(law.load),
            Workload::Listed(_) | Workload::Generated(_) => None,
        }
    }

    /// Whether its messages wait for each other: only some NICs can run such programs.
    pub fn is_program(&self) -> bool {
        matches!(&self.workload, Workload::Generated(script) if script.generator.is_program())
    }

    /// All sets of NICs that it names, those of its pattern or workload included.
    pub fn sets(&self) -> Vec<NicSet> {
        match &self.workload {
            Workload::Drawn(law) => {
                let mut sets = law.pattern.sets();
                sets.extend([law.sources.clone(), law.destinations.clone()]);
                sets
            }
            Workload::Generated(script) => script.generator.sets(),
            Workload::Listed(_) => vec![],
        }
    }

    /// Bytes of the largest message of a settled class; `None` where a file lists them.
    pub fn largest_message(&self, setting: &Setting<'_>) -> Option<u32> {
        match &self.workload {
            Workload::Drawn(law) => Some(law.size.largest()),
            Workload::Generated(script) => Some(script.generator.largest(setting)),
            Workload::Listed(_) => None,
        }
    }

    /// The class with what a run alone can tell: sizes read from the file that names them, and the load where
    /// the arrival process has a pace of its own. Building does this too; who asks a class for its load or
    /// its sizes before does it first.
    pub fn settle(&self, setting: &Setting<'_>, notes: &mut Notes) -> Option<Class> {
        let mut settled = self.clone();
        if let Workload::Drawn(law) = &mut settled.workload {
            match law.size.open(setting.directory) {
                Ok(opened) => law.size = opened.unwrap_or_else(|| law.size.clone()),
                Err(mistakes) => {
                    tell(mistakes, "E0610", self.places.size, notes);
                    return None;
                }
            }
            // Sources that do not exist are told when the class is built.
            let sources = law.sources.members(setting.n_nics, setting.groups);
            if let (Some(pace), Ok(sources)) = (law.arrival.pace(), sources) {
                let mean_flits = law.size.mean_flits(&setting.segmentation.of(self.sl));
                law.load = pace.load(mean_flits, sources.len(), setting.cycles);
            }
        }
        Some(settled)
    }

    /// What files say about the messages that the text of an experiment only names; of a settled class.
    pub fn content(&self) -> Option<String> {
        match &self.workload {
            Workload::Drawn(law) => law.size.content(),
            Workload::Listed(_) | Workload::Generated(_) => None,
        }
    }

    /// Builds the class for a run, or notes everything that is wrong with it there.
    pub fn build(&self, setting: &Setting<'_>, notes: &mut Notes) -> Option<Box<dyn Source>> {
        let settled = self.settle(setting, notes)?;
        match &settled.workload {
            Workload::Drawn(law) => self.build_law(law, setting, notes),
            Workload::Listed(path) => self.build_list(path, setting, notes),
            Workload::Generated(script) => self.build_script(script, setting, notes),
        }
    }

    fn build_law(
        &self,
        law: &Law,
        setting: &Setting<'_>,
        notes: &mut Notes,
    ) -> Option<Box<dyn Source>> {
        let mut members = |set: &NicSet, key: &str, place: Place| {
            set.members(setting.n_nics, setting.groups)
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
            groups: setting.groups,
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

    fn build_script(
        &self,
        script: &Script,
        setting: &Setting<'_>,
        notes: &mut Notes,
    ) -> Option<Box<dyn Source>> {
        let place = self.places.workload;
        let largest = script.generator.largest(setting);
        let fits = self.fits(self.sl, largest, setting, place, notes);
        let mut messages = match script.generator.generate(setting) {
            Ok(Generated::Messages(messages)) => messages,
            Ok(Generated::Programs(programs)) => {
                let programs = script.ranks.settle(programs, setting);
                return fits.then(|| Box::new(programs) as Box<dyn Source>);
            }
            Err(problem) => {
                notes.error("E0611", place, problem);
                return None;
            }
        };
        let from = script.from.map_or(0, setting.cycles);
        let until = script.until.map_or(NEVER, setting.cycles);
        messages.retain_mut(|(_, message)| {
            message.cycle += from;
            message.cycle < until
        });
        fits.then(|| Box::new(FlowList::new(messages, setting.n_nics)) as Box<dyn Source>)
    }

    fn build_list(
        &self,
        path: &Path,
        setting: &Setting<'_>,
        notes: &mut Notes,
    ) -> Option<Box<dyn Source>> {
        let place = self.places.flows;
        let text = match file::read_text(&setting.directory.join(path), file::MOST_LIST) {
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
                let say = |mistake: Mistake| {
                    format!("{}:{}: {}", path.display(), mistake.line, mistake.message)
                };
                tell(
                    mistakes.into_iter().map(say).collect(),
                    "E0605",
                    place,
                    notes,
                );
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
        let flits = setting.segmentation.of(sl).largest_packet(largest);
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

/// Notes the mistakes of a file, as many as anybody wants to read.
fn tell(mistakes: Vec<String>, code: &'static str, place: Place, notes: &mut Notes) {
    let more = mistakes.len().saturating_sub(MOST_MISTAKES);
    for message in mistakes.into_iter().take(MOST_MISTAKES) {
        notes.error(code, place, message);
    }
    if more > 0 {
        notes.error(code, place, format!("and {more} more mistakes"));
    }
}

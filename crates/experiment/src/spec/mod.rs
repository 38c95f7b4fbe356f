//! An experiment file, section by section.
//!
//! ```text
//!  [topology] topology.rs   [[failure]] failures.rs   [link] link.rs, flow_control.rs   [switch] switch/   [nic] nic.rs
//!  [routing] routing.rs   [qos] qos.rs   [connections] connections.rs
//!  [groups] in the crate of traffic   [[traffic]] traffic.rs   [measure] measure.rs
//!        └── typed values ──► plan.rs, machine.rs ──► Experiment, in ticks, with the checks of check/
//! ```
//!
//! A section reads its own keys and notes what is wrong with them alone; what is wrong with values of
//! several sections together is found in `check`. Every default is written into the resolved file. A file that
//! extends another one is put over it first (extends.rs); `[study]` is passed over here (study.rs).

pub(crate) mod admitted;
pub(crate) mod buffers;
mod connection_classes;
pub(crate) mod connections;
mod cost;
mod extends;
mod failures;
pub mod flow_control;
mod lanes;
pub mod link;
pub(crate) mod machine;
mod mapping;
pub mod measure;
pub(crate) mod memory;
pub mod nic;
mod plan;
mod planned;
mod qos;
mod reading;
pub(crate) mod remake;
mod routing;
mod sections;
mod site;
pub mod study;
pub mod switch;
mod tiled;
mod topology;
mod traffic;
mod wiring;

use std::path::Path;

use netloom_catalog::{Document, FromToml, Notes, Params, Place, Resolved, Section, no_name};
use netloom_units::Time;

use crate::{Experiment, Kinds};

pub use crate::codes::{codes, explain_code};
pub use crate::schema::schema;
pub use connection_classes::connection_classes;
pub use cost::{Cost, bytes_in_words, seconds_in_words};
pub use extends::FILES;
pub(crate) use lanes::LaneMap;
pub(crate) use plan::{Desk, Timing, grouped};
pub(crate) use qos::{OwnRow, QosSpec};
pub(crate) use remake::Workloads;
pub use sections::{Concept, SectionInfo, concepts, sections};
pub use site::read_plan;
pub(crate) use traffic::ClassSpec;
pub use wiring::{LoadedWiring, Wiring, load_wiring};

/// The format that this version reads: `netloom = 1`.
pub const FORMAT: u32 = 1;

/// What is to be loaded, and what the command line says about it.
pub struct Request<'a> {
    /// Name of the file, for messages.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Where relative file names in it start.
    pub directory: &'a Path,
    /// Arguments of `--set`, each `key=value`.
    pub sets: &'a [String],
    /// A seed over that of the file.
    pub seed: Option<u64>,
    /// Number of partitions; otherwise one is chosen that fits the size of the fabric.
    pub partitions: Option<usize>,
    /// A length over that of the file.
    pub length: Option<Time>,
    /// Run what can deadlock: such errors become warnings.
    pub force: bool,
    /// Threads that will share the partitions.
    pub threads: usize,
    /// Processes that will share the run: each has a partition at least, if there are switches enough.
    pub ranks: usize,
    /// Bytes of memory that there are, where that is known: what needs more is told.
    pub memory: Option<u64>,
    /// Whether the experiment is going to be run, and not only looked at: more memory than there is then is an error.
    pub will_run: bool,
    /// The kinds that the file may name: how a program adds its own.
    pub kinds: &'a Kinds,
}

impl<'a> Request<'a> {
    /// A text as it stands, on one thread.
    pub fn new(name: &'a str, text: &'a str) -> Self {
        Request {
            name,
            text,
            directory: Path::new("."),
            sets: &[],
            seed: None,
            partitions: None,
            length: None,
            force: false,
            threads: 1,
            ranks: 1,
            memory: None,
            will_run: false,
            kinds: Kinds::built_in(),
        }
    }
}

/// What became of a file.
pub struct Loaded {
    /// The texts and the tree they give.
    pub document: Document,
    /// Everything noted about it.
    pub notes: Notes,
    /// The experiment, if there were no errors.
    pub experiment: Option<Experiment>,
    /// What `check` prints: a word and a sentence each.
    pub facts: Vec<(String, String)>,
    /// What one run will cost, if that much is known.
    pub cost: Option<Cost>,
}

/// The sections as they were read; a section that could not be read is missing.
pub(crate) struct Sections {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) topology: Option<topology::TopologySpec>,
    pub(crate) failures: Vec<failures::Numbered>,
    pub(crate) link: Option<link::LinkSpec>,
    pub(crate) switch: Option<switch::SwitchSpec>,
    pub(crate) nic: Option<nic::NicSpec>,
    pub(crate) routing: Option<routing::RoutingSpec>,
    pub(crate) qos: Option<qos::QosSpec>,
    /// `None` if the section is there and wrong.
    pub(crate) groups: Option<netloom_traffic::Groups>,
    pub(crate) traffic: Option<Vec<traffic::ClassSpec>>,
    /// `Some(None)` if the section is there and wrong.
    pub(crate) connections:
        Option<Option<(connections::ConnectionsSpec, connection_classes::Classes)>>,
    pub(crate) planned: Option<planned::Planned>,
    pub(crate) measure: Option<measure::MeasureSpec>,
}

/// Loads a file: reads it, checks it, and plans the experiment.
pub fn load(request: &Request<'_>) -> Loaded {
    let OpenedFile {
        document,
        notes,
        is_toml,
    } = open(request);
    match is_toml {
        true => load_document(document, notes, request),
        false => Loaded {
            document,
            notes,
            experiment: None,
            facts: vec![],
            cost: None,
        },
    }
}

/// Loads what [`open`] has opened, perhaps with further values put over it. Of the request only what is no value
/// of a file counts: its name, the directory, partitions, threads, `force` and the kinds.
pub fn load_document(mut document: Document, mut notes: Notes, request: &Request<'_>) -> Loaded {
    let site = site::Known::of(&document, request);
    let surroundings = site.surroundings(&document, request);
    let planned = planned::put(&mut document, surroundings);
    let (mut facts, mut cost) = (vec![], None);
    let sections = read(
        &document,
        request,
        (planned, site),
        Traffic::Needed,
        &mut notes,
    );
    let experiment = sections.and_then(|(sections, resolved)| {
        let built = plan::build(
            sections, resolved, &document, request, &mut notes, &mut facts,
        );
        built.map(|(experiment, costs)| {
            cost = Some(costs);
            experiment
        })
    });
    let experiment = experiment.filter(|_| !notes.has_errors());
    Loaded {
        document,
        notes,
        experiment,
        facts,
        cost,
    }
}

/// A file over those that it extends, with what the command line says about it.
pub struct OpenedFile {
    /// The texts and the tree they give.
    pub document: Document,
    /// What was noted so far.
    pub notes: Notes,
    /// Whether all texts are TOML: one that is not has holes, and every message about a hole would be wrong.
    pub is_toml: bool,
}

/// Opens a file without looking at what its values mean.
pub fn open(request: &Request<'_>) -> OpenedFile {
    let mut notes = Notes::new();
    let mut document = Document::parse(request.name, request.text, &mut notes);
    if let Err(twice) = request.kinds.check() {
        notes
            .error("E0109", Place::default(), twice.to_string())
            .help("give the kind that was added another name");
    }
    if !notes.has_errors() {
        extends::resolve(&mut document, request.name, request.directory, &mut notes);
    }
    if notes.has_errors() {
        return OpenedFile {
            document,
            notes,
            is_toml: false,
        };
    }
    for set in request.sets {
        document.set(set, &mut notes);
    }
    let seed = request.seed;
    let seed = seed.map(|seed| (format!("measure.seed={seed}"), format!("--seed {seed}")));
    let length = request.length.map(|length| {
        (
            format!("measure.length=\"{length}\""),
            format!("--until {length}"),
        )
    });
    for (assignment, argument) in seed.into_iter().chain(length) {
        document.set(&assignment, &mut notes);
        // Messages name what the user wrote.
        if let Some((name, _)) = document.sources.last_mut() {
            *name = argument;
        }
    }
    OpenedFile {
        document,
        notes,
        is_toml: true,
    }
}

/// Whether a file without traffic is a mistake.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Traffic {
    Needed,
    MayBeMissing,
}

/// Reads every section.
fn read(
    document: &Document,
    request: &Request<'_>,
    (planned, site): (Option<planned::Put>, site::Known),
    need: Traffic,
    notes: &mut Notes,
) -> Option<(Sections, Resolved)> {
    let mut root = Section::open(&document.root, notes)?;
    let kinds = request.kinds;
    read_format(&mut root);
    let name = root.or("name", stem(request.name));
    if let Some(why) = name.as_deref().and_then(no_name) {
        let place = root.place_of("name");
        let message = format!("the experiment cannot have this name: {why}");
        root.notes
            .error("E0108", place, message)
            .help("begin it with a letter or digit, and write what can be seen");
    }
    let about = root.or("about", Some(String::new()).filter(|text| !text.is_empty()));
    // Resolved before, and meant for many runs: no part of this one.
    root.raw("extends");
    root.raw("study");
    let topology = topology::read(
        &mut root,
        &document.root,
        request.directory,
        &kinds.topologies,
    );
    let topology = topology.map(|topology| site.in_place_of(topology));
    let failures = failures::read(&mut root);
    let link = reading::table(&mut root, "link", link::read);
    let switch = reading::kind_table(&mut root, "switch", "switch", switch::SWITCHES, "cioq");
    let nic = reading::table(&mut root, "nic", |nic| {
        nic::read(nic, &kinds.congestion_controls)
    });
    let routing = routing::read(&mut root, &document.root, &kinds.routings);
    let qos = qos::read_from(&mut root, &kinds.arbiters);
    let planned = planned::read(&mut root, planned);
    let connections = connections::read(&mut root);
    let groups = netloom_traffic::Groups::read(&mut root);
    let may_be_missing = need == Traffic::MayBeMissing || connections.is_some();
    let mut traffic = traffic::read(&mut root, may_be_missing, &kinds.traffic);
    if let Some(classes) = &mut traffic {
        traffic::tell_apart(classes);
    }
    let measure = reading::table(&mut root, "measure", measure::MeasureSpec::read);
    let resolved = root.finish();
    let sections = Sections {
        name: name.unwrap_or_default(),
        about: about.flatten().unwrap_or_default(),
        topology,
        failures,
        link,
        switch: switch.map(|switch| switch.spec()),
        nic,
        routing,
        qos,
        groups,
        traffic,
        connections,
        planned,
        measure,
    };
    Some((sections, resolved))
}

/// The first line of every file: which format it is written in.
fn read_format(root: &mut Section<'_>) {
    let place = root.place_of("netloom");
    let Some(value) = root.raw("netloom") else {
        root.notes
            .error("E0003", place, "the file does not say its format")
            .help("begin it with netloom = 1");
        return;
    };
    match u32::read(value, root.notes) {
        Some(FORMAT) => root.line("netloom", FORMAT.write(), false),
        Some(other) => {
            let message = format!("format {other} is unknown");
            let help = "this netloom reads format 1: write netloom = 1, or take the version that wrote the file";
            root.notes.error("E0003", value.place, message).help(help);
        }
        None => {}
    }
}

/// The name of a file without its folder and ending.
pub fn stem(name: &str) -> String {
    let path = Path::new(name);
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or("experiment").to_owned()
}

//! An experiment file, section by section.
//!
//! ```text
//!  [topology] topology.rs   [[failure]] failures.rs   [link] link.rs, flow_control.rs   [switch] switch/   [nic] nic.rs
//!  [routing] routing.rs   [qos] qos.rs   [connections] connections.rs
//!  [groups] in the crate of traffic   [[traffic]] traffic.rs   [measure] measure.rs
//!        └── typed values ──► stages of plan.rs ──► Experiment, in ticks, with the checks of check/
//! ```
//!
//! A section reads its own keys and notes errors in them. `check` finds errors across sections.
//! Every default is written into the resolved file. A file that extends another one is merged with
//! it first (extends.rs). `[study]` is skipped here (study.rs).

pub(crate) mod admitted;
pub(crate) mod buffers;
mod classes;
mod connection_classes;
pub(crate) mod connections;
mod cost;
mod device;
mod diagnostics;
mod effort;
mod estimate;
mod extends;
mod fabric;
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
pub(crate) mod reseed;
mod routing;
mod sections;
mod site;
pub mod study;
pub mod switch;
mod tiled;
mod timing;
mod topology;
mod traffic;
mod wiring;

use std::path::Path;
use std::sync::Arc;

use netloom_catalog::{
    Disk, Document, Files, FromToml, Notes, Params, Place, Resolved, Section, no_name,
};
use netloom_results::{Control, Stopped};
use netloom_units::Time;

use crate::{Experiment, Kinds};

pub use crate::schema::schema;
pub use connection_classes::connection_classes;
pub use cost::{Cost, bytes_in_words, seconds_in_words};
pub(crate) use diagnostics::{Diagnostics, grouped};
pub use effort::{Effort, Progress};
pub use extends::FILES;
pub(crate) use lanes::LaneMap;
pub(crate) use qos::{OwnRow, QosSpec};
pub(crate) use reseed::Workloads;
pub(crate) use routing::default_for;
pub use sections::{Concept, SectionInfo, concepts, sections};
pub use site::read_plan;
pub(crate) use timing::Timing;
pub(crate) use traffic::ClassSpec;
pub use wiring::{LoadedWiring, Wiring, load_wiring};

/// The file format that this version reads: `netloom = 1`.
pub const FORMAT: u32 = 1;

/// A file to load, with the values of the command line.
pub struct Request<'a> {
    /// Name of the file, for messages.
    pub name: &'a str,
    /// Text of the file.
    pub text: &'a str,
    /// The files that it names.
    pub files: Arc<dyn Files>,
    /// Arguments of `--set`, each `key=value`.
    pub sets: &'a [String],
    /// Overrides the seed of the file.
    pub seed: Option<u64>,
    /// Number of partitions. The default depends on the size of the fabric.
    pub partitions: Option<usize>,
    /// Overrides the length in the file.
    pub length: Option<Time>,
    /// Turns errors about possible deadlocks into warnings.
    pub force: bool,
    /// Threads that share the partitions.
    pub threads: usize,
    /// Processes that share the run. Each has at least one partition, if there are enough switches.
    pub ranks: usize,
    /// Bytes of memory that the run may use; `None` for what the system has available.
    pub memory: Option<u64>,
    /// Whether the experiment is going to run here. Insufficient memory is then an error, otherwise
    /// a warning.
    pub will_run: bool,
    /// How much is computed.
    pub effort: Effort,
    /// Receives the name of each step that may take long.
    pub progress: Option<Progress<'a>>,
    /// The kinds that the file may name, including those that a program adds.
    pub kinds: &'a Kinds,
}

impl<'a> Request<'a> {
    /// Returns a request for a text without changes, on one thread.
    pub fn new(name: &'a str, text: &'a str) -> Self {
        Request {
            name,
            text,
            files: Arc::new(Disk::HERE.clone()),
            sets: &[],
            seed: None,
            partitions: None,
            length: None,
            force: false,
            threads: 1,
            ranks: 1,
            memory: None,
            will_run: true,
            effort: Effort::Run,
            progress: None,
            kinds: Kinds::built_in(),
        }
    }
}

/// The result of loading a file.
pub struct Loaded {
    /// The source texts and the parsed tree.
    pub document: Document,
    /// All notes about it.
    pub notes: Notes,
    /// The experiment, if there were no errors.
    pub experiment: Option<Experiment>,
    /// The facts that `check` prints: a word and a sentence each.
    pub facts: Vec<(String, String)>,
    /// The estimated cost of one run, if known.
    pub cost: Option<Cost>,
}

/// The sections as read. An invalid section is missing.
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
    /// `None` if the section is invalid.
    pub(crate) groups: Option<netloom_traffic::Groups>,
    pub(crate) traffic: Option<Vec<traffic::ClassSpec>>,
    /// `Some(None)` if the section is invalid.
    pub(crate) connections:
        Option<Option<(connections::ConnectionsSpec, connection_classes::Classes)>>,
    pub(crate) planned: Option<planned::Planned>,
    pub(crate) measure: Option<measure::MeasureSpec>,
}

/// Loads a file: reads it, checks it, and plans the experiment.
pub fn load(request: &Request<'_>) -> Loaded {
    let loaded = load_with_control(request, &mut || Control::Continue);
    loaded.expect("nothing stops it")
}

/// Loads a file, and asks between its steps whether to continue. A step takes seconds on a fabric
/// of a hundred thousand hosts.
///
/// # Errors
/// If `control` stops it.
pub fn load_with_control(
    request: &Request<'_>,
    control: &mut dyn FnMut() -> Control,
) -> Result<Loaded, Stopped> {
    let OpenedFile {
        document,
        notes,
        is_toml,
    } = open(request);
    match is_toml {
        true => load_document(document, notes, request, control),
        false => Ok(Loaded {
            document,
            notes,
            experiment: None,
            facts: vec![],
            cost: None,
        }),
    }
}

/// Loads a document from [`open`], possibly with further values set. Of the request, only fields
/// that are not values of a file apply: name, files, partitions, threads, `force` and kinds.
///
/// # Errors
/// If `control` stops it.
pub fn load_document(
    mut document: Document,
    mut notes: Notes,
    request: &Request<'_>,
    control: &mut dyn FnMut() -> Control,
) -> Result<Loaded, Stopped> {
    let mut going_on = Control::Continue;
    let control = &mut || {
        if going_on == Control::Continue {
            going_on = control();
        }
        going_on
    };
    control().check()?;
    device::put(&mut document);
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
            (sections, resolved),
            &document,
            request,
            &mut notes,
            &mut facts,
            control,
        );
        built.map(|(experiment, costs)| {
            cost = Some(costs);
            experiment
        })
    });
    control().check()?;
    let experiment = experiment.filter(|_| !notes.has_errors());
    Ok(Loaded {
        document,
        notes,
        experiment,
        facts,
        cost,
    })
}

/// A file merged with those that it extends, and with the values of the command line.
pub struct OpenedFile {
    /// The source texts and the parsed tree.
    pub document: Document,
    /// The notes so far.
    pub notes: Notes,
    /// Whether all texts are valid TOML. Checks of an incomplete tree would report false errors.
    pub is_toml: bool,
}

/// Opens a file without interpreting its values.
pub fn open(request: &Request<'_>) -> OpenedFile {
    let mut notes = Notes::new();
    let mut document = Document::parse(request.name, request.text, &mut notes);
    if let Err(twice) = request.kinds.check() {
        notes
            .error("E0109", Place::default(), twice.to_string())
            .help("give the added kind another name");
    }
    if !notes.has_errors() {
        extends::resolve(&mut document, request.name, &*request.files, &mut notes);
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
        // Messages name the argument of the user.
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

/// Whether a file without traffic is an error.
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
            .help("use visible characters only, beginning with a letter or digit");
    }
    let about = root.or("about", Some(String::new()).filter(|text| !text.is_empty()));
    // `extends` is already resolved, and `study` is not part of a single run.
    root.raw("extends");
    root.raw("study");
    let topology = topology::read(&mut root, &document.root, &request.files, &kinds.topologies);
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

/// Reads the first line of every file: the version of its format.
fn read_format(root: &mut Section<'_>) {
    let place = root.place_of("netloom");
    let Some(value) = root.raw("netloom") else {
        root.notes
            .error("E0003", place, "the file has no format version")
            .help("add netloom = 1 as the first line");
        return;
    };
    match u32::read(value, root.notes) {
        Some(FORMAT) => root.line("netloom", FORMAT.write(), false),
        Some(other) => {
            let message = format!("expected format version 1, found {other}");
            let help = "set netloom = 1, or use the version of netloom that wrote the file";
            root.notes.error("E0003", value.place, message).help(help);
        }
        None => {}
    }
}

/// Returns the name of a file without its folder and extension.
pub fn stem(name: &str) -> String {
    let path = Path::new(name);
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or("experiment").to_owned()
}

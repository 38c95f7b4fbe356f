//! Reads `[[traffic]]` tables.

use std::path::PathBuf;
use std::sync::Arc;

use netloom_catalog::{
    FromToml, Kind, Notes, Param, Params, ResolvedLine, Section, Shape, Value, ValueShape, params,
    read_kind,
};
use netloom_units::{Bytes, Sl, Time};

use crate::class::{LARGEST_SL, MANAGEMENT, Places};
use crate::ranks::refuse_ranks;
use crate::{Class, Fixed, Law, NicSet, Ranks, Script, Sizes, TrafficKinds, Workload};

impl Class {
    /// Returns the keys of a `[[traffic]]` table.
    pub fn params() -> Vec<Param> {
        let kinds = KINDS_OF_A_LAW
            .iter()
            .map(|(name, concept, about, default)| Param {
                name: (*name).to_owned(),
                about: (*about).to_owned(),
                shape: Shape::Kind(concept),
                default: Some(default.unwrap_or_default().to_owned()),
            });
        let mut params = Common::params();
        params.extend(Drawing::params());
        params.extend(Times::params());
        params.extend(kinds);
        params.extend(Ranks::params());
        params.push(Param {
            name: "workload".to_owned(),
            about: "A workload that defines all messages, instead of a law.".to_owned(),
            shape: Shape::Kind("workload"),
            default: Some(String::new()),
        });
        params
    }

    /// Reads one `[[traffic]]` table: one class, or one for each service level of a list.
    pub fn read(section: &mut Section<'_>, kinds: &TrafficKinds) -> Option<Vec<Class>> {
        let common = Common::read(section);
        let places = Places {
            pattern: section.place_of("pattern"),
            size: match section.place_of("message") {
                place if place != section.place() => place,
                _ => section.place_of("size"),
            },
            sources: section.place_of("sources"),
            destinations: section.place_of("destinations"),
            flows: section.place_of("flows"),
            workload: section.place_of("workload"),
        };
        let lister = LISTERS.into_iter().find(|key| section.raw(key).is_some());
        let workload = match lister {
            Some("flows") => {
                let common = common.as_ref();
                refuse_others("flows", section);
                common
                    .and_then(|common| common.flows.clone())
                    .map(|flows| Workload::Listed(PathBuf::from(flows)))
            }
            Some(lister) => {
                refuse_others(lister, section);
                read_script(section, kinds).map(Workload::Generated)
            }
            None => read_law(section, kinds).map(Workload::Drawn),
        };
        let (mut common, mut workload) = (common?, workload?);
        if common.management {
            if let Some(refused) = section.raw("sl").map(|_| "sl").or(lister) {
                refuse_with_management(refused, section);
                return None;
            }
            let lines = &mut section.resolved.lines;
            lines.retain(|line| !is_value(line, "sl"));
            common.sl = ServiceLevels(vec![MANAGEMENT.0]);
            common.name.get_or_insert_with(|| "management".to_owned());
        }
        let n = common.sl.0.len();
        if n > 1 && !share(&mut workload, n) {
            let place = section.place_of("sl");
            let (message, help) = match lister {
                Some("flows") => (
                    "a list of messages cannot have several service levels",
                    "add a column `sl` to the list, and set `sl` to the level of other messages",
                ),
                Some(_) => (
                    "a workload cannot have several service levels",
                    "use one service level, or a class for each",
                ),
                None => (
                    "several service levels share a load, but an arrival process with a period has \
                     none",
                    "use one service level, or a class for each",
                ),
            };
            section.notes.error("E0604", place, message).help(help);
            return None;
        }
        let class = |sl: &u8| Class {
            name: match &common.name {
                None => format!("sl{sl}"),
                Some(name) if n == 1 => name.clone(),
                Some(name) => format!("{name}-sl{sl}"),
            },
            sl: Sl(*sl),
            is_management: common.management,
            workload: workload.clone(),
            places,
        };
        Some(common.sl.0.iter().map(class).collect())
    }
}

/// Keys that define all messages of a class.
const LISTERS: [&str; 2] = ["flows", "workload"];

/// Notes a key that conflicts with `management`: a service level, or a list that gives one to each
/// message.
fn refuse_with_management(refused: &str, section: &mut Section<'_>) {
    let place = section.place_of("management");
    let other = section.place_of(refused);
    section
        .notes
        .error(
            "E0604",
            other,
            format!("`{refused}` cannot be used with `management`"),
        )
        .also(place, "its messages use VL15 and SL15")
        .help(match refused {
            "sl" => "remove `sl`, or set management = false",
            _ => "use load, message and pattern instead",
        });
}

/// Divides the load of a class evenly over `n` service levels, if it has a load.
fn share(workload: &mut Workload, n: usize) -> bool {
    match workload {
        Workload::Drawn(law) if law.arrival.pace().is_none() => {
            law.load /= n as f64;
            true
        }
        _ => false,
    }
}

/// Reads a workload that generates its messages.
fn read_script(section: &mut Section<'_>, kinds: &TrafficKinds) -> Option<Script> {
    let times = Times::read(section);
    let generator = read_kind(section, "workload", "workload", &kinds.workloads, None);
    let (times, generator) = (times?, generator?);
    if generator.is_program() && (times.from.is_some() || times.until.is_some()) {
        refuse_times(section);
        return None;
    }
    let ranks = match generator.is_program() {
        true => Ranks::read(section)?,
        false => {
            refuse_ranks(section);
            Ranks::default()
        }
    };
    Some(Script {
        generator: Arc::from(generator),
        from: times.from,
        until: times.until,
        ranks,
    })
}

/// Notes times with programs: a rank begins at once and runs until it is done.
fn refuse_times(section: &mut Section<'_>) {
    let workload = section.place_of("workload");
    for key in ["from", "until"] {
        if let Some(value) = section.raw(key) {
            let message = format!("`{key}` cannot be used with a program of ranks");
            section
                .notes
                .error("E0604", value.place, message)
                .also(workload, "begins at once and runs until every rank is done");
        }
    }
}

/// Reads the law of a class.
fn read_law(section: &mut Section<'_>, kinds: &TrafficKinds) -> Option<Law> {
    let drawing = Drawing::read(section);
    let times = Times::read(section);
    refuse_ranks(section);
    let pattern = read_kind(
        section,
        "pattern",
        "pattern",
        &kinds.patterns,
        Some("uniform"),
    );
    let arrival = read_kind(
        section,
        "arrival",
        "arrival process",
        &kinds.arrivals,
        Some("bernoulli"),
    );
    let message = drawing.as_ref().and_then(|d| d.message.clone());
    let size = read_size(section, message, &kinds.sizes);
    // Unknown if the arrival process is wrong.
    let has_pace = arrival.as_ref().map(|arrival| arrival.pace().is_some());
    let load = match (section.raw("load"), has_pace) {
        (Some(load), Some(true)) => {
            let arrival = section.place_of("arrival");
            section
                .notes
                .error(
                    "E0604",
                    load.place,
                    "`load` cannot be used with an arrival process that has a period",
                )
                .also(arrival, "sets the rate of messages")
                .help("remove `load`; it follows from the period and the messages");
            None
        }
        (None, Some(false)) => {
            let place = section.place();
            section
                .notes
                .error("E0105", place, "`load` is missing")
                .help("add load = … (number)");
            None
        }
        // Unknown until the class is settled.
        (None, _) => Some(0.0),
        (Some(_), _) => drawing.as_ref().and_then(|d| Some(d.load.as_ref()?.0)),
    };
    let (drawing, size, times) = (drawing?, size?, times?);
    Some(Law {
        load: load?,
        pattern: Arc::from(pattern?),
        arrival: Arc::from(arrival?),
        size,
        sources: drawing.sources,
        destinations: drawing.destinations,
        from: times.from,
        until: times.until,
    })
}

/// The default size of every message.
const DEFAULT_MESSAGE: Bytes = Bytes(2048);

/// Reads `size`, or `message`: a fixed size, or a law as in `size`.
fn read_size(
    section: &mut Section<'_>,
    message: Option<Message>,
    kinds: &[Kind<dyn Sizes>],
) -> Option<Arc<dyn Sizes>> {
    let has_message = section.raw("message").is_some();
    let has_size = section.raw("size").is_some();
    match (has_message, has_size) {
        (true, true) => {
            let (message, size) = (section.place_of("message"), section.place_of("size"));
            section
                .notes
                .error("E0604", size, "the class has both `message` and `size`")
                .also(message, "the other key")
                .help("remove one of them; `message` is short for a fixed size");
            None
        }
        (true, false) => match message? {
            Message::Fixed(bytes) => Some(Arc::new(Fixed { bytes }) as Arc<dyn Sizes>),
            Message::Law => read_kind(section, "message", "message size", kinds, None)
                .map(Arc::<dyn Sizes>::from),
        },
        (false, true) => {
            let size = section.raw("size").filter(|size| size.as_text().is_some());
            if let Some((size, Ok(bytes))) = size.map(|size| {
                let text = size.as_text().unwrap_or_default();
                (size, text.parse::<Bytes>())
            }) {
                section
                    .notes
                    .error(
                        "E0604",
                        size.place,
                        "expected a law for `size`, found one size",
                    )
                    .help(format!("use message = {}", bytes.write()));
                return None;
            }
            read_kind(section, "size", "message size", kinds, None).map(Arc::<dyn Sizes>::from)
        }
        (false, false) => {
            resolve_default_message(section);
            Some(Arc::new(Fixed {
                bytes: DEFAULT_MESSAGE,
            }))
        }
    }
}

/// Returns whether a resolved line is the value of a key.
fn is_value(line: &ResolvedLine, name: &str) -> bool {
    matches!(line, ResolvedLine::Value { key, .. } if key == name)
}

/// Adds the default to the resolved lines, after the load.
fn resolve_default_message(section: &mut Section<'_>) {
    let lines = &mut section.resolved.lines;
    let load = lines.iter().position(|line| is_value(line, "load"));
    let at = load.map_or(0, |load| load + 1);
    let line = ResolvedLine::Value {
        key: "message".to_owned(),
        text: DEFAULT_MESSAGE.write(),
        is_default: true,
    };
    lines.insert(at, line);
}

/// Notes every key that conflicts with one that lists the messages.
fn refuse_others(lister: &str, section: &mut Section<'_>) {
    let of_a_law = Drawing::params().into_iter().map(|param| param.name);
    let times = Times::params().into_iter().map(|param| param.name);
    let times = times.filter(|_| lister == "flows");
    let kinds = KINDS_OF_A_LAW.iter().map(|kind| kind.0.to_owned());
    let ranks = Ranks::params().into_iter().map(|param| param.name);
    let ranks = ranks.filter(|_| lister == "flows");
    let others = LISTERS.iter().filter(|other| **other != lister);
    let others = others.map(|other| (*other).to_owned());
    for key in of_a_law
        .chain(times)
        .chain(kinds)
        .chain(ranks)
        .chain(others)
    {
        if let Some(value) = section.raw(&key) {
            let place = section.place_of(lister);
            section
                .notes
                .error(
                    "E0604",
                    value.place,
                    format!("`{key}` cannot be used with `{lister}`"),
                )
                .also(place, "defines all messages");
        }
    }
}

params! {
    /// The keys of every class.
    struct Common {
        /// Name of the class in results. Default: a name from its service level.
        name: Option<String> = None,
        /// Service level. A list makes one class per level, which share the load equally.
        sl: ServiceLevels = ServiceLevels(vec![0]),
        /// Whether the class is subnet management, which travels on VL15 with SL15, before all data
        /// whatever the arbiter. A datagram has 256 bytes.
        management: bool = false,
        /// CSV file of messages (time or time_ns, source, destination, bytes, sl) instead of a law.
        flows: Option<String> = None,
    }
}

params! {
    /// The keys of every class whose messages are drawn.
    struct Drawing {
        /// Fraction of its link that each source fills, in flits on the wire, headers included.
        /// Required unless the arrival process has a period.
        load: Option<Load> = None,
        /// Size of every message, short for `size = { kind = "fixed", bytes = … }`, or a law as in
        /// `size`. Default: 2 KiB.
        message: Option<Message> = None,
        /// NICs that send: "all", a range like "0-63", a list of NICs, the name of one of [groups],
        /// or terms like "3 mod 4, not 123, 122".
        sources: NicSet = NicSet::All,
        /// NICs that may receive, if the pattern allows a choice.
        destinations: NicSet = NicSet::All,
    }
}

params! {
    /// The time of a class.
    struct Times {
        /// When the class begins to send. Default: at once.
        from: Option<Time> = None,
        /// When it stops. Default: never.
        until: Option<Time> = None,
    }
    check |it, section| {
        if it.until.is_some_and(|until| until <= it.from.unwrap_or(Time::ZERO)) {
            let place = section.place_of("until");
            section.notes.error("E0603", place, "`until` is not after `from`");
        }
    }
}

/// Keys next to the parameters of [`Drawing`], which conflict with a list of messages.
const KINDS_OF_A_LAW: [(&str, &str, &str, Option<&str>); 3] = [
    (
        "pattern",
        "pattern",
        "Law of destinations.",
        Some("\"uniform\""),
    ),
    (
        "arrival",
        "arrival process",
        "Law of arrival times.",
        Some("\"bernoulli\""),
    ),
    (
        "size",
        "message size",
        "Law of message sizes, or use `message`.",
        None,
    ),
];

/// One service level or a list of them.
#[derive(Clone, PartialEq, Debug)]
struct ServiceLevels(Vec<u8>);

impl FromToml for ServiceLevels {
    fn shape() -> Shape {
        let one = Shape::Integer(0, i128::from(LARGEST_SL));
        Shape::Either(vec![one.clone(), Shape::List(Box::new(one))])
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let levels = match value.shape {
            ValueShape::List(_) => Vec::read(value, notes)?,
            _ => vec![u8::read(value, notes)?],
        };
        let mut wrong = |message: String| {
            notes
                .error("E0603", value.place, message)
                .help(format!("service levels go from 0 to {LARGEST_SL}"));
        };
        if levels.is_empty() {
            wrong("the list of service levels is empty".to_owned());
            return None;
        }
        for (at, sl) in levels.iter().enumerate() {
            if *sl > LARGEST_SL {
                wrong(format!("{sl} is not a service level"));
                return None;
            }
            if levels[..at].contains(sl) {
                wrong(format!("service level {sl} is in the list twice"));
                return None;
            }
        }
        Some(ServiceLevels(levels))
    }

    fn write(&self) -> String {
        match &self.0[..] {
            [one] => one.write(),
            several => several.to_vec().write(),
        }
    }
}

/// A fraction of a link.
#[derive(Clone, PartialEq, Debug)]
struct Load(f64);

impl FromToml for Load {
    fn shape() -> Shape {
        Shape::Number
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let load = f64::read(value, notes)?;
        if !(0.0..=1.0).contains(&load) {
            notes
                .error(
                    "E0603",
                    value.place,
                    format!("load {load} is not a fraction of a link"),
                )
                .help("use a number from 0 to 1");
            return None;
        }
        Some(Load(load))
    }

    fn write(&self) -> String {
        self.0.write()
    }
}

/// The payload of a message.
#[derive(Clone, PartialEq, Debug)]
enum Message {
    /// A fixed size.
    Fixed(Bytes),
    /// A table, which is read as a kind of size.
    Law,
}

impl FromToml for Message {
    fn shape() -> Shape {
        Shape::Either(vec![Bytes::shape(), Shape::Kind("message size")])
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        if let ValueShape::Table(_) = value.shape {
            return Some(Message::Law);
        }
        let bytes = Bytes::read(value, notes)?;
        if bytes.0 == 0 || bytes.0 > u64::from(u32::MAX) {
            notes
                .error(
                    "E0603",
                    value.place,
                    format!("a message cannot have {bytes}"),
                )
                .help("use at least 1 byte and less than 4 GiB");
            return None;
        }
        Some(Message::Fixed(bytes))
    }

    fn write(&self) -> String {
        match self {
            Message::Fixed(bytes) => bytes.write(),
            // The resolved table of the kind represents it.
            Message::Law => String::new(),
        }
    }
}

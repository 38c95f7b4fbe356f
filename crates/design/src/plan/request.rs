//! The `[plan]` section of a file: the ports, and what each class needs.
//!
//! ```toml
//! [plan]
//! arbiter = "ib-two-table"
//! rate = "100 Gbps"
//! entries = 8
//!
//! [[plan.class]]
//! name = "control"
//! share = 0.05
//! packet = "256 B"
//! deadline = "3 us"
//! ```

use std::collections::BTreeMap;

use netloom_arbitration::{MAX_DEFICIT_ENTRIES, MAX_ENTRIES, MAX_QUANTUM_ENTRIES, N_SLS};
use netloom_catalog::{
    FromToml, Notes, Params, Place, ResolvedLine, Section, Shape, Value, ValueShape, choice, params,
};
use netloom_settings::Carried;
use netloom_units::{Bytes, Rate, Ratio, Sl, Time};

use super::devices::{self, Cautions, Device, Surroundings};
use crate::qos::predict::SizeLaw;

choice! {
    /// The arbiter of the ports.
    pub enum Kind {
        /// InfiniBand: two tables of lanes; each turn is rounded up to whole packets.
        InfiniBand = "ib-two-table",
        /// DTable: one table of service levels, with a deficit counter for each level.
        DTable = "dtable",
        /// BXI: one table of service levels; what a packet does not fill is lost.
        BxiTable = "bxi-table",
        /// BXI with a deficit counter for each entry.
        BxiDeficit = "bxi-deficit",
    }
}

impl Default for Ports {
    /// Returns the default of every key.
    fn default() -> Ports {
        let mut notes = netloom_catalog::Notes::new();
        let mut section = Section::empty(netloom_catalog::Place::default(), &mut notes);
        Ports::read(&mut section).expect("every key has a default")
    }
}

impl Kind {
    /// Returns the name of the kind in files.
    pub fn name(self) -> String {
        self.write().trim_matches('"').to_owned()
    }

    /// Returns the default length of a table: 64 in InfiniBand, 32 in the published BXI devices.
    fn usual_entries(self) -> usize {
        match self {
            Kind::InfiniBand | Kind::DTable => 64,
            Kind::BxiTable | Kind::BxiDeficit => 32,
        }
    }

    fn most_entries(self) -> usize {
        match self {
            Kind::InfiniBand => MAX_ENTRIES,
            Kind::DTable => MAX_DEFICIT_ENTRIES,
            Kind::BxiTable | Kind::BxiDeficit => MAX_QUANTUM_ENTRIES,
        }
    }
}

choice! {
    /// When the high-priority table of InfiniBand is used.
    pub enum HighTable {
        /// For deadlines and slowdowns that the low table cannot keep, alone or together with the
        /// shares. Guarantees of the low table hold whatever other classes send. The high table
        /// assumes that its classes send at most their share.
        WhenNeeded = "when-needed",
        /// For every class with a deadline or a slowdown.
        Deadlines = "deadlines",
        /// Never, as some firmware notes recommend.
        Never = "never",
    }
}

params! {
    /// The ports that the plan is for.
    #[derive(Clone, Debug)]
    pub struct Ports {
        /// The arbiter of the ports: "ib-two-table", "dtable", "bxi-table" or "bxi-deficit".
        pub arbiter: Kind = Kind::InfiniBand,
        /// Rate of the links. Default: that of the slowest cable of a real site, otherwise
        /// `link.rate` of the file. Waits are longest on the slowest link, so a deadline that holds
        /// there holds everywhere.
        pub rate: Rate = Rate(100_000_000_000),
        /// Entries per table of the port (in InfiniBand VLArbHighCap and VLArbLowCap). Default: 64,
        /// or 32 for BXI. On a real site, and with `[[plan.device]]`, no table exceeds the capacity
        /// of its port.
        pub entries: Option<u16> = None,
        /// Entries of the high-priority table of InfiniBand, if fewer; 0 disables it.
        pub high_entries: Option<u16> = None,
        /// Whether an entry may weigh less than the largest packet of its class. Classes with
        /// packets of several sizes then reach their shares with fewer entries, but an entry may
        /// send more than its weight.
        pub small_weights: bool = false,
        /// Value of one unit of weight. In a BXI table: a number of flits (the size of a turn);
        /// default: 1. In a DTable with distances: the pool, in largest packets per slot; default:
        /// the smallest multiple of 0.1 that suffices.
        pub k: Option<f64> = None,
        /// In a DTable with distances: the largest weight of an entry, in largest packets. Default:
        /// the smallest multiple of 0.1 that suffices.
        pub w: Option<f64> = None,
        /// In a DTable with distances: the sum of all weights, in credits of 64 bytes. Default: the
        /// first total within `tolerance`.
        pub total: Option<u32> = None,
        /// Number of data lanes of the port. Default: one per class.
        pub vls: Option<u8> = None,
        /// Whether classes with deadlines or slowdowns use the high-priority table of InfiniBand:
        /// "when-needed", "deadlines" (all of them) or "never".
        pub high_table: HighTable = HighTable::WhenNeeded,
        /// Largest packet of classes that set neither `packet` nor `packets`, in bytes on the wire.
        /// Default: the MTU of the links (`qos.sl-mtu` of the class's service level, otherwise
        /// `link.mtu`) plus `link.header`.
        pub packet: Bytes = Bytes(4096),
        /// Largest management packet (VL15), which may precede any other packet; "0 B" for none.
        pub management: Bytes = Bytes(256),
        /// Number of switch outputs on the longest path; a deadline is divided among them. Default:
        /// the number of switches on the longest path of the file's topology, otherwise 1. The
        /// output of the NIC is not counted.
        pub hops: u32 = 1,
        /// Largest error of a share, relative to the share wanted.
        pub tolerance: f64 = 0.01,
        /// Bytes per flit. Links move whole flits, so shares of a link count packets rounded up to
        /// flits. BXI weights are in flits. Default: `link.flit` of the file.
        pub flit: Bytes = Bytes(64),
        /// One-way delay of the longest cable (5 ns per metre), for the buffers of the lanes.
        pub delay: Time = Time::from_nanos(25),
        /// Ports per device, for its cost.
        pub ports: u32 = 64,
    }
    check |it, section| {
        let most = it.arbiter.most_entries();
        let mut outside = |key: &str, message: String, help: String| {
            let place = section.place_of(key);
            section.notes.error("E0102", place, message).help(help);
        };
        if let Some(entries) = it.entries && !(1..=most).contains(&usize::from(entries)) {
            let message = format!("a table cannot have {entries} entries");
            outside("entries", message, format!("use 1 to {most}"));
        }
        if let Some(entries) = it.high_entries {
            if it.arbiter != Kind::InfiniBand {
                let message = "only InfiniBand has a high table";
                outside("high-entries", message.into(), "remove it".into());
            } else if usize::from(entries) > most {
                let message = format!("a table cannot have {entries} entries");
                outside("high-entries", message, format!("use 0 to {most}"));
            }
        }
        let is_bxi = matches!(it.arbiter, Kind::BxiTable | Kind::BxiDeficit);
        if let Some(k) = it.k {
            match it.arbiter {
                Kind::InfiniBand => {
                    let message = "weights of InfiniBand are in units of 64 bytes";
                    let help = "remove it, or use the arbiter dtable, bxi-table or bxi-deficit";
                    outside("k", message.into(), help.into());
                }
                _ if is_bxi && !(k.fract() == 0.0 && (1.0..=LARGEST_TURN).contains(&k)) => {
                    let help = format!("use a whole number from 1 to {LARGEST_TURN}");
                    outside("k", format!("a unit of weight cannot be {k} flits"), help);
                }
                _ if !(k > 0.0 && k <= 64.0) => {
                    let help = "use a number above 0 and at most 64, such as 0.5";
                    outside("k", format!("the pool cannot be {k} packets per slot"), help.into());
                }
                _ => {}
            }
        }
        if it.w.is_some_and(|w| !(w > 0.0 && w <= 64.0)) {
            let help = "use a number above 0 and at most 64, such as 2.8";
            outside("w", "the weight of an entry is out of range".into(), help.into());
        }
        if it.arbiter != Kind::DTable {
            for (key, is_there) in [("w", it.w.is_some()), ("total", it.total.is_some())] {
                if is_there {
                    let help = "remove it, or set arbiter = \"dtable\"";
                    outside(key, format!("only dtable has `{key}`"), help.into());
                }
            }
        }
        if it.vls.is_some_and(|vls| !(1..=15).contains(&vls)) {
            let help = "use 1 to 15; VL15 carries management and is not counted";
            outside("vls", "a link has 1 to 15 data lanes".into(), help.into());
        }
        if !(1..=64).contains(&it.hops) {
            let help = "use 1 to 64; 1 is the output itself";
            outside("hops", format!("a path cannot have {} outputs", it.hops), help.into());
        }
        if !(it.tolerance > 0.0 && it.tolerance < 1.0) {
            let message = format!("{} is not a relative error", it.tolerance);
            let help = "use a number above 0 and below 1; 0.01 is 1 %";
            outside("tolerance", message, help.into());
        }
        if it.flit.0 == 0 || it.flit.0 > 4096 {
            outside("flit", format!("a flit cannot be {}", it.flit), "use 1 B to 4 KiB".into());
        }
        if it.rate.0 == 0 {
            outside("rate", "the rate is zero".into(), "use a rate like \"100 Gbps\"".into());
        }
        if it.ports == 0 {
            outside("ports", "a device needs at least one port".into(), "use 1 or more".into());
        }
        for (key, packet, least) in [("packet", it.packet, 1), ("management", it.management, 0)] {
            if !(least..=LARGEST_PACKET).contains(&packet.0) {
                let help = format!("use {least} B to {} KiB", LARGEST_PACKET / 1024);
                outside(key, format!("packets of {packet} are out of range"), help);
            }
        }
    }
}

/// Maximum of flits per unit of weight of BXI.
const LARGEST_TURN: f64 = 4096.0;

/// The largest packet that a plan allows, in bytes.
pub const LARGEST_PACKET: u64 = 65_536;

params! {
    /// What one class needs.
    #[derive(Clone, Debug)]
    struct ClassKeys {
        /// Name of the class in reports.
        name: Option<String> = None,
        /// Service level. Default: the position of the class in the list, from 0.
        sl: Option<u8> = None,
        /// Share of the link that the class needs when all others send as much as they can: above 0
        /// and at most 1.
        share: f64,
        /// Largest packet on the wire, headers included. Default: from the links, or `plan.packet`.
        /// Shares are computed as if all packets had this size. Waits allow for any size up to it.
        packet: Option<Bytes> = None,
        /// All sizes of the packets of the class, and how often each occurs, as in [["64 B", 3],
        /// ["4 KiB", 1]]. No other sizes are assumed, so the waits of other classes have tighter
        /// bounds than with `packet`.
        packets: Option<Vec<(Bytes, f64)>> = None,
        /// Longest time that a packet at the head of its queue may wait at all outputs of its path
        /// together.
        deadline: Option<Time> = None,
        /// Longest time of a backlog of the class at one output while all other classes send,
        /// divided by its time alone: 1 or more. 1.1 is 10 % longer. A constant startup, which the
        /// plan prints, is added once per backlog.
        slowdown: Option<f64> = None,
        /// Slots from one entry of the class to the next (a power of two): the method of DTable,
        /// for known distances. Set it for all classes or for none.
        distance: Option<u16> = None,
        /// Code points (DSCP, 0 to 63) of the IP packets of the class: one, or a list. Ethernet
        /// switches and hosts classify packets by them. InfiniBand does not use them.
        dscp: Option<CodePoints> = None,
        /// Libraries whose packets belong to the class, such as ["nccl", "ucx@prefill"], for
        /// `netloom site export env`. A name after @ is that of a process; libraries without one
        /// run in the same process. `netloom explain nccl` describes a library.
        carries: Option<Vec<Carries>> = None,
    }
    check |it, section| {
        if !(it.share > 0.0 && it.share <= 1.0) {
            let place = section.place_of("share");
            let message = format!("{} is not a share of a link", it.share);
            let help = "use a number above 0 and at most 1; 0.3 is 30 %";
            section.notes.error("E0102", place, message).help(help);
        }
        if it.sl.is_some_and(|sl| usize::from(sl) >= N_SLS) {
            let place = section.place_of("sl");
            let help = "use 0 to 15, or remove `sl`; it defaults to the position of the class";
            section.notes.error("E0102", place, "service levels go from 0 to 15").help(help);
        }
        if it.packet.is_some() && it.packets.is_some() {
            let place = section.place_of("packet");
            let message = "the class has both `packet` and `packets`";
            let help = "remove `packet`; `packets` lists all sizes";
            section.notes.error("E0901", place, message).help(help);
        }
        if it.deadline.is_some_and(Time::is_zero) {
            let place = section.place_of("deadline");
            let help = "use a deadline like \"3 us\", or remove it";
            section.notes.error("E0102", place, "the deadline is zero").help(help);
        }
        if let Some(slowdown) = it.slowdown && !(slowdown.is_finite() && slowdown >= 1.0) {
            let place = section.place_of("slowdown");
            let message = format!("expected a slowdown of 1 or more, found {slowdown}");
            let help = "use a number such as 1.1: a backlog then takes at most 10 % longer";
            section.notes.error("E0102", place, message).help(help);
        }
        let sizes = it.packets.iter().flatten().map(|&(bytes, _)| bytes).chain(it.packet);
        for bytes in sizes.filter(|bytes| !(1..=LARGEST_PACKET).contains(&bytes.0)) {
            let place = section.place_of(if it.packets.is_some() { "packets" } else { "packet" });
            let message = format!("packets of {bytes} are out of range");
            let help = format!("use 1 B to {} KiB", LARGEST_PACKET / 1024);
            section.notes.error("E0102", place, message).help(help);
        }
    }
}

/// Code points of IP packets: one or a list.
#[derive(Clone, PartialEq, Debug)]
struct CodePoints(Vec<u8>);

/// The largest code point.
const LARGEST_DSCP: u8 = 63;

impl FromToml for CodePoints {
    fn shape() -> Shape {
        let one = Shape::Integer(0, i128::from(LARGEST_DSCP));
        Shape::Either(vec![one.clone(), Shape::List(Box::new(one))])
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let items = match &value.shape {
            ValueShape::List(items) => items.as_slice(),
            _ => std::slice::from_ref(value),
        };
        if items.is_empty() {
            let note = notes.error("E0102", value.place, "the list of code points is empty");
            note.help("add a DSCP like 26, or remove `dscp`");
            return None;
        }
        let mut points: Vec<u8> = vec![];
        let mut is_sound = true;
        for item in items {
            let found = match item.shape {
                ValueShape::Integer(n) => u8::try_from(n).ok().filter(|n| *n <= LARGEST_DSCP),
                _ => {
                    let found = item.shape.word();
                    let message = format!("expected a DSCP, found {found}");
                    notes.error("E0101", item.place, message);
                    is_sound = false;
                    continue;
                }
            };
            let mut wrong = |message: String, help: String| {
                notes.error("E0102", item.place, message).help(help);
                is_sound = false;
            };
            let outside = format!("use a whole number from 0 to {LARGEST_DSCP}");
            match found {
                None => wrong(format!("{} is out of range", item.to_toml()), outside),
                Some(point) if points.contains(&point) => {
                    let message = format!("DSCP {point} is in the list twice");
                    wrong(message, "list it once".to_owned());
                }
                Some(point) => points.push(point),
            }
        }
        is_sound.then_some(CodePoints(points))
    }

    fn write(&self) -> String {
        match &self.0[..] {
            [one] => one.write(),
            several => several.to_vec().write(),
        }
    }
}

/// A library that a class carries, as files name it.
#[derive(Clone, PartialEq, Debug)]
struct Carries(Carried);

impl FromToml for Carries {
    fn shape() -> Shape {
        Shape::Text
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let Some(text) = value.as_text() else {
            let found = value.shape.word();
            let message = format!("expected the name of a library, found {found}");
            notes.error("E0101", value.place, message);
            return None;
        };
        match Carried::parse(text) {
            Ok(carried) => Some(Carries(carried)),
            Err((message, help)) => {
                notes.error("E0102", value.place, message).help(help);
                None
            }
        }
    }

    fn write(&self) -> String {
        self.0.to_string().write()
    }
}

/// The needs of one class.
#[derive(Clone, PartialEq, Debug)]
pub struct Class {
    /// The name in reports.
    pub name: String,
    pub sl: Sl,
    /// The share of the link, above 0 and at most 1.
    pub share: Ratio,
    /// The sizes on the wire.
    pub sizes: SizeLaw,
    /// Whether packets have only these sizes; otherwise waits allow for any size up to the largest.
    pub has_only_these: bool,
    /// The longest wait at all outputs of the path together.
    pub deadline: Option<Time>,
    /// The longest time of a backlog at one output over its time alone; 1 or more.
    pub slowdown: Option<f64>,
    /// Slots from one entry to the next.
    pub distance: Option<usize>,
    /// The code points of its IP packets.
    pub dscps: Vec<u8>,
    /// The libraries whose packets belong to it.
    pub carries: Vec<Carried>,
}

impl Class {
    /// Returns whether the class needs a lane of its own: a shared queue keeps neither deadlines
    /// nor slowdowns.
    pub(super) fn is_urgent(&self) -> bool {
        self.deadline.is_some() || self.slowdown.is_some()
    }
}

/// A request: ports, and the classes that share them.
#[derive(Clone, Debug)]
pub struct Request {
    pub ports: Ports,
    pub classes: Vec<Class>,
    /// The devices that all must hold the plan; empty if every port is the same.
    pub devices: Vec<Device>,
    /// What limits the plan's guarantees there.
    pub cautions: Cautions,
}

impl Request {
    /// Returns the number of entries of a table.
    pub fn capacity(&self) -> usize {
        let usual = self.ports.arbiter.usual_entries();
        self.ports.entries.map_or(usual, usize::from)
    }

    /// Returns the number of entries of the high table.
    pub fn high_capacity(&self) -> usize {
        let both = self.capacity();
        self.ports.high_entries.map_or(both, usize::from)
    }

    /// Returns the flits per unit of weight, where weights are counted in flits.
    pub(super) fn turn(&self) -> u32 {
        self.ports.k.map_or(1, |k| k as u32).max(1)
    }

    /// Returns the number of slots of a table with distances: the largest power of two that fits.
    /// Distances are powers of two, so a port with more entries leaves the rest empty.
    pub(super) fn slots(&self) -> usize {
        1 << self.capacity().max(1).ilog2()
    }

    /// Returns the same ports with only these classes.
    pub fn with_only(&self, classes: &[usize]) -> Request {
        let keep = |&class: &usize| self.classes[class].clone();
        Request {
            ports: self.ports.clone(),
            classes: classes.iter().map(keep).collect(),
            devices: self.devices.clone(),
            cautions: self.cautions.clone(),
        }
    }

    /// Reads `[plan]` from the root of a file. Returns `None` if it is missing or wrong, and notes
    /// the errors.
    pub fn read(root: &mut Section<'_>, surroundings: &Surroundings) -> Option<Request> {
        let place = root.place();
        let Some(value) = root.raw("plan") else {
            root.notes
                .error("E0902", place, "the file has no [plan] section")
                .help("add [plan] and [[plan.class]]; see `netloom explain plan`");
            return None;
        };
        let links = Links::of(root);
        let mut section = Section::open(value, root.notes)?;
        let mut ports = Ports::read(&mut section);
        if let Some(ports) = &mut ports {
            let slowest = surroundings.slowest.as_ref().map(|(rate, _)| *rate);
            if let (None, Some(rate)) = (value.get("rate"), slowest.or(links.rate)) {
                ports.rate = rate;
                resolve(&mut section, "rate", rate.write());
            }
            if let (None, Some(packet)) = (value.get("packet"), links.packet) {
                ports.packet = packet;
                resolve(&mut section, "packet", packet.write());
            }
            if let (None, Some(flit)) = (value.get("flit"), links.flit) {
                ports.flit = flit;
                resolve(&mut section, "flit", flit.write());
            }
            if let (None, Some(hops)) = (value.get("hops"), surroundings.hops) {
                ports.hops = hops.clamp(1, 64);
                resolve(&mut section, "hops", ports.hops.to_string());
            }
        }
        let is_given = value.get("packet").is_some() || !links.is_message;
        let packets = Packets {
            usual: ports.as_ref().map(|p| p.packet).filter(|_| is_given),
            of_levels: links.levels,
        };
        let classes = read_classes(&mut section, &packets);
        if let (Some(ports), Some(classes)) = (&ports, &classes)
            && ports.arbiter == Kind::DTable
            && classes.iter().all(|class| class.distance.is_none())
        {
            let pinned = [
                ("k", ports.k.is_some()),
                ("w", ports.w.is_some()),
                ("total", ports.total.is_some()),
            ];
            for (key, _) in pinned.into_iter().filter(|(_, is_there)| *is_there) {
                let place = section.place_of(key);
                let message = format!("`{key}` needs distances");
                section
                    .notes
                    .error("E0901", place, message)
                    .help("set the `distance` of every class, or remove it");
            }
        }
        let devices = devices::read(&mut section);
        let is_infiniband = ports
            .as_ref()
            .is_none_or(|ports| ports.arbiter == Kind::InfiniBand);
        if !is_infiniband && devices.as_ref().is_some_and(|devices| !devices.is_empty()) {
            let place = section.place_of("device");
            section
                .notes
                .error("E0901", place, "only ib-two-table supports `device`")
                .help("remove `device`, or set arbiter = \"ib-two-table\"");
        }
        let resolved = section.finish();
        root.resolved
            .lines
            .push(ResolvedLine::Table("plan".into(), resolved));
        let mut cautions = surroundings.cautions.clone();
        if value.get("rate").is_some() {
            cautions.slower = None;
        }
        let mut devices = devices?;
        if is_infiniband {
            devices.splice(0..0, surroundings.devices.iter().cloned());
        }
        Some(Request {
            ports: ports?,
            classes: classes?,
            devices,
            cautions,
        })
    }

    /// Returns the keys of `[plan]`, of `[[plan.class]]` and of `[[plan.device]]`.
    pub fn params() -> [Vec<netloom_catalog::Param>; 3] {
        [Ports::params(), ClassKeys::params(), devices::keys()]
    }
}

/// Sets the resolved value of a key that the file does not set.
fn resolve(section: &mut Section<'_>, wanted: &str, holds: String) {
    for line in &mut section.resolved.lines {
        if let ResolvedLine::Value { key, text, .. } = line
            && key == wanted
        {
            *text = holds.clone();
        }
    }
}

/// The links as `[link]` and `[qos]` of the same file describe them. Errors in these sections are
/// reported where the sections are read.
struct Links {
    rate: Option<Rate>,
    flit: Option<Bytes>,
    /// The largest packet of the links, header included.
    packet: Option<Bytes>,
    /// Whether each message is one packet, so packets have no largest size.
    is_message: bool,
    /// The largest packet of each service level that has its own MTU.
    levels: Vec<Bytes>,
}

impl Links {
    fn of(root: &mut Section<'_>) -> Links {
        let notes = &mut netloom_catalog::Notes::new();
        let (link, qos) = (root.raw("link"), root.raw("qos"));
        let value = |key: &str| link.and_then(|link| link.get(key));
        let mut bytes = |value: &Value| Bytes::read(value, notes);
        let header = value("header").and_then(&mut bytes);
        let flit = value("flit").and_then(&mut bytes);
        let mtu = value("mtu");
        let is_message = mtu.is_some_and(|mtu| mtu.as_text() == Some("message"));
        let mtu = mtu.and_then(&mut bytes);
        let header_or_none = header.unwrap_or(Bytes(0));
        let on_wire = |mtu: Bytes| Bytes(mtu.0.saturating_add(header_or_none.0));
        let is_given = mtu.is_some() || header.is_some();
        let levels = match qos.and_then(|qos| qos.get("sl-mtu")).map(|v| &v.shape) {
            Some(ValueShape::List(mtus)) => {
                mtus.iter().map_while(&mut bytes).map(on_wire).collect()
            }
            _ => vec![],
        };
        Links {
            rate: value("rate").and_then(|rate| Rate::read(rate, notes)),
            flit: flit.filter(|flit| (1..=4096).contains(&flit.0)),
            packet: (is_given && !is_message).then(|| on_wire(mtu.unwrap_or(USUAL_MTU))),
            is_message,
            levels,
        }
    }
}

/// The MTU of links without `link.mtu`.
const USUAL_MTU: Bytes = Bytes(4096);

/// The packet sizes of classes that set neither `packet` nor `packets`.
struct Packets {
    /// `None` if packets are as large as their messages.
    usual: Option<Bytes>,
    /// Sizes of the first service levels, if they have their own MTU.
    of_levels: Vec<Bytes>,
}

impl Packets {
    fn of(&self, sl: u8) -> Option<Bytes> {
        self.of_levels.get(usize::from(sl)).copied().or(self.usual)
    }
}

fn read_classes(section: &mut Section<'_>, packets: &Packets) -> Option<Vec<Class>> {
    let place = section.place();
    let items = match section.raw("class").map(|value| &value.shape) {
        Some(ValueShape::List(items)) if !items.is_empty() => items,
        _ => {
            section
                .notes
                .error("E0902", place, "the plan has no class")
                .help("add [[plan.class]] (two brackets) with a line such as share = 0.3");
            return None;
        }
    };
    let mut classes = vec![];
    for (at, item) in items.iter().enumerate() {
        let Some(mut inner) = Section::open(item, section.notes) else {
            classes.push(None);
            continue;
        };
        let keys = ClassKeys::read(&mut inner);
        classes.push(keys.and_then(|keys| class(keys, at, packets, &mut inner)));
        let line = ResolvedLine::Item("class".into(), inner.finish());
        section.resolved.lines.push(line);
    }
    let have_own_dscps = have_own_dscps(items, section);
    let classes: Option<Vec<Class>> = classes.into_iter().collect();
    let classes = classes.filter(|_| have_own_dscps)?;
    together(&classes, items, section).then_some(classes)
}

fn class(
    keys: ClassKeys,
    at: usize,
    packets: &Packets,
    section: &mut Section<'_>,
) -> Option<Class> {
    let sl = match keys.sl {
        Some(sl) => sl,
        None if at < N_SLS => at as u8,
        None => {
            let place = section.place();
            section
                .notes
                .error(
                    "E0102",
                    place,
                    "there are more classes than the 16 service levels",
                )
                .help("merge classes with similar needs");
            return None;
        }
    };
    let has_only_these = keys.packets.is_some();
    let sizes = match (keys.packets, keys.packet.or_else(|| packets.of(sl))) {
        (Some(sizes), _) => SizeLaw::new(sizes),
        (None, Some(packet)) if packet.0 > LARGEST_PACKET => {
            let place = section.place();
            let message = format!("the MTU of the links gives packets of {packet}");
            let help = format!(
                "set the `packet` of the class to at most {} KiB",
                LARGEST_PACKET / 1024
            );
            section.notes.error("E0102", place, message).help(help);
            return None;
        }
        (None, Some(packet)) => SizeLaw::fixed(packet),
        (None, None) => {
            let place = section.place();
            let message = "packets have no largest size with link.mtu = \"message\"";
            let help = "set `packet` of the class or of [plan], or set link.mtu to a size";
            section.notes.error("E0905", place, message).help(help);
            return None;
        }
    };
    let sizes = match sizes {
        Ok(sizes) => sizes,
        Err(mistakes) => {
            let place = section.place_of("packets");
            for mistake in mistakes {
                section.notes.error("E0102", place, mistake.to_string());
            }
            return None;
        }
    };
    Some(Class {
        name: keys.name.unwrap_or_else(|| format!("sl{sl}")),
        sl: Sl(sl),
        share: exact(keys.share),
        sizes,
        has_only_these,
        deadline: keys.deadline,
        slowdown: keys.slowdown,
        distance: keys.distance.map(usize::from),
        dscps: keys.dscp.map_or(vec![], |points| points.0),
        carries: keys
            .carries
            .into_iter()
            .flatten()
            .map(|own| own.0)
            .collect(),
    })
}

/// Converts a share to an exact fraction, rounded to nine decimal digits.
pub fn exact(share: f64) -> Ratio {
    Ratio::new((share * 1e9).round() as u128, 1_000_000_000)
}

/// Checks that no two classes share a code point, independently of other errors in the classes.
fn have_own_dscps(items: &[Value], section: &mut Section<'_>) -> bool {
    let mut seen: BTreeMap<i64, (usize, Place)> = BTreeMap::new();
    let mut is_sound = true;
    for (at, item) in items.iter().enumerate() {
        let value = item.get("dscp");
        let points = value.map_or(&[][..], |value| match &value.shape {
            ValueShape::List(points) => points,
            _ => std::slice::from_ref(value),
        });
        for point in points {
            let ValueShape::Integer(number) = point.shape else {
                continue;
            };
            let (owner, first) = *seen.entry(number).or_insert((at, point.place));
            if owner == at {
                continue;
            }
            section
                .notes
                .error(
                    "E0901",
                    point.place,
                    format!("two classes have DSCP {number}"),
                )
                .also(first, "the other class")
                .help("a DSCP identifies one class; remove it from the other");
            is_sound = false;
        }
    }
    is_sound
}

/// Checks the classes against each other.
fn together(classes: &[Class], items: &[Value], section: &mut Section<'_>) -> bool {
    let mut is_sound = true;
    for (at, class) in classes.iter().enumerate() {
        let place = items[at].place;
        let before = || classes[..at].iter().zip(items);
        if let Some((_, first)) = before().find(|(other, _)| other.sl == class.sl) {
            section
                .notes
                .error("E0901", place, format!("two classes use {}", class.sl))
                .also(first.place, "the other class")
                .help("set a different `sl` for each; a table identifies classes by service level");
            is_sound = false;
        }
        if let Some((_, first)) = before().find(|(other, _)| other.name == class.name) {
            section
                .notes
                .error(
                    "E0901",
                    place,
                    format!("two classes are named \"{}\"", class.name),
                )
                .also(first.place, "the other class")
                .help("use a different name for each");
            is_sound = false;
        }
    }
    let has_distance = |class: &Class| class.distance.is_some();
    if classes.iter().any(has_distance) && !classes.iter().all(has_distance) {
        let place = section.place_of("class");
        section
            .notes
            .error("E0901", place, "only some classes have a distance")
            .help("set `distance` for all classes, or for none to place entries by deadlines");
        is_sound = false;
    }
    is_sound
}

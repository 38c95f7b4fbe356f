//! What is asked of a port: the `[plan]` section of a file.
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
use netloom_units::{Bytes, Rate, Ratio, Sl, Time};

use super::devices::{self, Cautions, Device, Surroundings};
use crate::qos::predict::SizeLaw;

choice! {
    /// By what the ports arbitrate.
    pub enum Kind {
        /// InfiniBand: two tables of lanes, rounded up to packets.
        InfiniBand = "ib-two-table",
        /// DTable: one table of service levels, a deficit for each.
        DTable = "dtable",
        /// BXI: one table of service levels; what a packet does not fill is lost.
        BxiTable = "bxi-table",
        /// BXI with a deficit for each entry.
        BxiDeficit = "bxi-deficit",
    }
}

impl Default for Ports {
    /// What a file that says nothing gets.
    fn default() -> Ports {
        let mut notes = netloom_catalog::Notes::new();
        let mut section = Section::empty(netloom_catalog::Place::default(), &mut notes);
        Ports::read(&mut section).expect("every key has a default")
    }
}

impl Kind {
    /// The name of the kind in a file.
    pub fn name(self) -> String {
        self.write().trim_matches('"').to_owned()
    }

    /// Entries of a table, unless the port has fewer: 64 in InfiniBand, 32 in the printed BXI devices.
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
    /// Whether the high-priority table of InfiniBand is used.
    pub enum HighTable {
        /// For deadlines that the low table cannot keep, or not beside the shares. What the low table can do holds against everybody;
        /// the high one relies on its classes not to send more than their share.
        WhenNeeded = "when-needed",
        /// For every class with a deadline.
        Deadlines = "deadlines",
        /// Not at all, as some firmware advises.
        Never = "never",
    }
}

params! {
    /// The ports to plan for.
    #[derive(Clone, Debug)]
    pub struct Ports {
        /// By what the ports arbitrate: "ib-two-table", "dtable", "bxi-table" or "bxi-deficit".
        pub arbiter: Kind = Kind::InfiniBand,
        /// The rate of the links; left out, that of the slowest cable of a real site, otherwise `link.rate` where the file
        /// has it. Waits are longest where a link is slowest, so a deadline that holds there holds everywhere.
        pub rate: Rate = Rate(100_000_000_000),
        /// Entries that a table of the port holds (in InfiniBand VLArbHighCap and VLArbLowCap); left out, 64,
        /// or 32 for BXI. On a real site, and with `[[plan.device]]`, no table has more than its port has room for.
        pub entries: Option<u16> = None,
        /// Entries of the high-priority table of InfiniBand, where there are fewer: 0 if it is not to be used.
        pub high_entries: Option<u16> = None,
        /// Whether an entry may weigh less than the largest packet of its class. Shares of classes with packets of several
        /// sizes can then be had with fewer entries, but an entry may let pass more than it weighs.
        pub small_weights: bool = false,
        /// What one unit of weight is worth. Of a BXI table, so many flits (the size of a turn); left out, 1. Of a DTable
        /// with distances, the pool is so many largest packets per slot; left out, the first tenth that suffices.
        pub k: Option<f64> = None,
        /// Of a DTable with distances: no entry is above so many largest packets; left out, the first tenth that suffices.
        pub w: Option<f64> = None,
        /// Of a DTable with distances: what all weights sum to, in credits of 64 bytes; left out, the first total within
        /// `tolerance`.
        pub total: Option<u32> = None,
        /// Data lanes of the port; left out, one for each class.
        pub vls: Option<u8> = None,
        /// Whether classes with deadlines may use the high-priority table of InfiniBand: "when-needed",
        /// "deadlines" (all of them do) or "never".
        pub high_table: HighTable = HighTable::WhenNeeded,
        /// The largest packet of classes that do not say theirs, in bytes on the wire; left out, the MTU of the
        /// links (`qos.sl-mtu` of the class's service level, otherwise `link.mtu`) and `link.header`.
        pub packet: Bytes = Bytes(4096),
        /// The largest management packet (VL15), which may come before any other; "0 B" for none.
        pub management: Bytes = Bytes(256),
        /// Outputs of switches on the longest path: a deadline is divided among them. Left out, the switches on the longest
        /// path of the topology where the file has one, otherwise 1, the output alone. That of the NIC is not counted.
        pub hops: u32 = 1,
        /// The largest error of a share, relative to what was wanted.
        pub tolerance: f64 = 0.01,
        /// Bytes of a flit: links move whole flits, so shares of a link count packets rounded up to them, and BXI counts by
        /// them. Left out, `link.flit` where the file has it.
        pub flit: Bytes = Bytes(64),
        /// One way over the longest cable (5 ns a metre), for the buffers that lanes need.
        pub delay: Time = Time::from_nanos(25),
        /// Ports of a device, for its cost.
        pub ports: u32 = 64,
    }
    check |it, section| {
        let most = it.arbiter.most_entries();
        let mut outside = |key: &str, message: String, help: String| {
            let place = section.place_of(key);
            section.notes.error("E0102", place, message).help(help);
        };
        if let Some(entries) = it.entries && !(1..=most).contains(&usize::from(entries)) {
            outside("entries", format!("a table of {entries} entries"), format!("write 1 to {most}"));
        }
        if let Some(entries) = it.high_entries {
            if it.arbiter != Kind::InfiniBand {
                outside("high-entries", "only InfiniBand has a high table".into(), "leave it out".into());
            } else if usize::from(entries) > most {
                outside("high-entries", format!("a table of {entries} entries"), format!("write 0 to {most}"));
            }
        }
        let is_bxi = matches!(it.arbiter, Kind::BxiTable | Kind::BxiDeficit);
        if let Some(k) = it.k {
            match it.arbiter {
                Kind::InfiniBand => outside("k", "weights of InfiniBand are in units of 64 bytes".into(), "leave it out, or plan for dtable or BXI".into()),
                _ if is_bxi && !(k.fract() == 0.0 && (1.0..=LARGEST_TURN).contains(&k)) => outside("k", format!("{k} flits for a unit of weight"), format!("write a whole number, 1 to {LARGEST_TURN}")),
                _ if !(k > 0.0 && k <= 64.0) => outside("k", format!("{k} packets per slot"), "write a number above 0 and at most 64, such as 0.5".into()),
                _ => {}
            }
        }
        if it.w.is_some_and(|w| !(w > 0.0 && w <= 64.0)) {
            outside("w", "an entry without weight, or with too much".into(), "write a number above 0 and at most 64, such as 2.8".into());
        }
        if it.arbiter != Kind::DTable {
            for (key, is_there) in [("w", it.w.is_some()), ("total", it.total.is_some())] {
                if is_there {
                    outside(key, format!("`{key}` is for dtable"), "leave it out, or write arbiter = \"dtable\"".into());
                }
            }
        }
        if it.vls.is_some_and(|vls| !(1..=15).contains(&vls)) {
            outside("vls", "a link has 1 to 15 data lanes".into(), "VL15 is for management and not counted".into());
        }
        if !(1..=64).contains(&it.hops) {
            outside("hops", format!("a way over {} outputs", it.hops), "write 1 to 64; 1 is the output itself".into());
        }
        if !(it.tolerance > 0.0 && it.tolerance < 1.0) {
            outside("tolerance", format!("{} is no relative error", it.tolerance), "write a number above 0 and below 1; 0.01 is one per cent".into());
        }
        if it.flit.0 == 0 || it.flit.0 > 4096 {
            outside("flit", format!("flits of {}", it.flit), "write 1 B to 4 KiB".into());
        }
        if it.rate.0 == 0 {
            outside("rate", "a link that sends nothing".into(), "write a rate like \"100 Gbps\"".into());
        }
        if it.ports == 0 {
            outside("ports", "a device without ports".into(), "write 1 or more".into());
        }
        for (key, packet, least) in [("packet", it.packet, 1), ("management", it.management, 0)] {
            if !(least..=LARGEST_PACKET).contains(&packet.0) {
                outside(key, format!("packets of {packet}"), format!("write {least} B to {} KiB", LARGEST_PACKET / 1024));
            }
        }
    }
}

/// Flits of a unit of weight of BXI, at most.
const LARGEST_TURN: f64 = 4096.0;

/// Bytes of the largest packet that can be planned for.
pub const LARGEST_PACKET: u64 = 65_536;

params! {
    /// What one class needs.
    #[derive(Clone, Debug)]
    struct ClassKeys {
        /// What reports call it.
        name: Option<String> = None,
        /// Its service level; left out, its place in the list.
        sl: Option<u8> = None,
        /// The part of the link that it needs when all others send what they can, above 0 and at most 1.
        share: f64,
        /// Its largest packet on the wire, headers included; left out, what the links say, or `plan.packet`. For shares
        /// all of its packets are that large; waits allow for any up to it.
        packet: Option<Bytes> = None,
        /// The only sizes of its packets and how often each comes, as in [["64 B", 3], ["4 KiB", 1]]. Waits of others allow for
        /// no other sizes, so bounds are tighter than with `packet`.
        packets: Option<Vec<(Bytes, f64)>> = None,
        /// The longest that a packet at the head of its queue may wait at the outputs of its way, all
        /// together.
        deadline: Option<Time> = None,
        /// An entry at every so many slots of the table (a power of two): the method of DTable, where the
        /// distances are known. All classes have one, or none.
        distance: Option<u16> = None,
        /// The code points (DSCP, 0 to 63) of its IP packets, one or a list: for switches and hosts of Ethernet, which sort
        /// packets by them. Of no use to InfiniBand.
        dscp: Option<CodePoints> = None,
    }
    check |it, section| {
        if !(it.share > 0.0 && it.share <= 1.0) {
            let place = section.place_of("share");
            section.notes.error("E0102", place, format!("{} is no part of a link", it.share)).help("write a number above 0 and at most 1; 0.3 is thirty per cent");
        }
        if it.sl.is_some_and(|sl| usize::from(sl) >= N_SLS) {
            let place = section.place_of("sl");
            section.notes.error("E0102", place, "service levels are 0 to 15").help("left out, it is the place of the class in the list");
        }
        if it.packet.is_some() && it.packets.is_some() {
            let place = section.place_of("packet");
            section.notes.error("E0901", place, "the class has both `packet` and `packets`").help("`packets` lists all sizes; leave `packet` out");
        }
        if it.deadline.is_some_and(Time::is_zero) {
            let place = section.place_of("deadline");
            section.notes.error("E0102", place, "nothing is sent in no time").help("write a deadline like \"3 us\", or leave it out");
        }
        let sizes = it.packets.iter().flatten().map(|&(bytes, _)| bytes).chain(it.packet);
        for bytes in sizes.filter(|bytes| !(1..=LARGEST_PACKET).contains(&bytes.0)) {
            let place = section.place_of(if it.packets.is_some() { "packets" } else { "packet" });
            section.notes.error("E0102", place, format!("packets of {bytes}")).help(format!("write 1 B to {} KiB", LARGEST_PACKET / 1024));
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
            let note = notes.error("E0102", value.place, "an empty list of code points");
            note.help("write a DSCP like 26, or leave `dscp` out");
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
            let outside = format!("write a whole number from 0 to {LARGEST_DSCP}");
            match found {
                None => wrong(format!("{} is out of range", item.to_toml()), outside),
                Some(point) if points.contains(&point) => {
                    let message = format!("DSCP {point} is in the list twice");
                    wrong(message, "write it once".to_owned());
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

/// What one class needs.
#[derive(Clone, PartialEq, Debug)]
pub struct Class {
    /// What reports call it.
    pub name: String,
    /// Its service level.
    pub sl: Sl,
    /// The part of the link that it needs, above 0 and at most 1.
    pub share: Ratio,
    /// The sizes of its packets on the wire.
    pub sizes: SizeLaw,
    /// Whether packets have these sizes only; otherwise waits allow for any up to the largest.
    pub has_only_these: bool,
    /// The longest that its packets may wait at all outputs of their way together.
    pub deadline: Option<Time>,
    /// An entry at every so many slots.
    pub distance: Option<usize>,
    /// The code points of its IP packets.
    pub dscps: Vec<u8>,
}

/// What is asked: ports, and classes that share them.
#[derive(Clone, Debug)]
pub struct Request {
    /// The ports.
    pub ports: Ports,
    /// The classes.
    pub classes: Vec<Class>,
    /// The devices that all must hold the plan; none where every port is alike.
    pub devices: Vec<Device>,
    /// What limits what a plan is worth there.
    pub cautions: Cautions,
}

impl Request {
    /// Entries that a table of the port holds.
    pub fn capacity(&self) -> usize {
        let usual = self.ports.arbiter.usual_entries();
        self.ports.entries.map_or(usual, usize::from)
    }

    /// Entries that the high table of the port holds.
    pub fn high_capacity(&self) -> usize {
        let both = self.capacity();
        self.ports.high_entries.map_or(both, usize::from)
    }

    /// Flits of a unit of weight, where weights are counted in flits.
    pub(super) fn turn(&self) -> u32 {
        self.ports.k.map_or(1, |k| k as u32).max(1)
    }

    /// Slots of a table in which entries stand at distances: distances are powers of two and divide only tables
    /// that are so too, so a port that holds more leaves the rest empty.
    pub(super) fn slots(&self) -> usize {
        1 << self.capacity().max(1).ilog2()
    }

    /// The same ports with some of the classes.
    pub fn with_only(&self, classes: &[usize]) -> Request {
        let keep = |&class: &usize| self.classes[class].clone();
        Request {
            ports: self.ports.clone(),
            classes: classes.iter().map(keep).collect(),
            devices: self.devices.clone(),
            cautions: self.cautions.clone(),
        }
    }

    /// Reads `[plan]` from the root of a file; `None` if it is missing or wrong (which is noted).
    pub fn read(root: &mut Section<'_>, surroundings: &Surroundings) -> Option<Request> {
        let place = root.place();
        let Some(value) = root.raw("plan") else {
            root.notes
                .error("E0902", place, "the file does not say what to plan")
                .help("add [plan] and for each class [[plan.class]] with its share; netloom explain plan");
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
        let is_told = value.get("packet").is_some() || !links.is_message;
        let packets = Packets {
            usual: ports.as_ref().map(|p| p.packet).filter(|_| is_told),
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
                let message = format!("`{key}` without distances");
                section
                    .notes
                    .error("E0901", place, message)
                    .help("it belongs to the method of DTable: give every class its `distance`, or leave it out");
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
                .error("E0901", place, "devices are for tables of InfiniBand")
                .help("leave `device` out, or write arbiter = \"ib-two-table\"");
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

    /// The keys of `[plan]`, of `[[plan.class]]` and of `[[plan.device]]`, for manuals.
    pub fn params() -> [Vec<netloom_catalog::Param>; 3] {
        [Ports::params(), ClassKeys::params(), devices::keys()]
    }
}

/// Writes what holds into the resolved section, where the file leaves a key out.
fn resolve(section: &mut Section<'_>, wanted: &str, holds: String) {
    for line in &mut section.resolved.lines {
        if let ResolvedLine::Value { key, text, .. } = line
            && key == wanted
        {
            *text = holds.clone();
        }
    }
}

/// What `[link]` and `[qos]` of the same file say about the links that are planned for. What is wrong with them
/// is told where they are read.
struct Links {
    rate: Option<Rate>,
    /// What they move at once.
    flit: Option<Bytes>,
    /// The largest packet of the links, header included.
    packet: Option<Bytes>,
    /// Whether a whole message is one packet, so that none is the largest.
    is_message: bool,
    /// The largest packet of each service level that has an MTU of its own.
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
        let is_told = mtu.is_some() || header.is_some();
        let levels = match qos.and_then(|qos| qos.get("sl-mtu")).map(|v| &v.shape) {
            Some(ValueShape::List(mtus)) => {
                mtus.iter().map_while(&mut bytes).map(on_wire).collect()
            }
            _ => vec![],
        };
        Links {
            rate: value("rate").and_then(|rate| Rate::read(rate, notes)),
            flit: flit.filter(|flit| (1..=4096).contains(&flit.0)),
            packet: (is_told && !is_message).then(|| on_wire(mtu.unwrap_or(USUAL_MTU))),
            is_message,
            levels,
        }
    }
}

/// The MTU of links that do not say theirs.
const USUAL_MTU: Bytes = Bytes(4096);

/// How large packets are of classes that do not say it.
struct Packets {
    /// `None` where they are as large as their messages, whatever these are.
    usual: Option<Bytes>,
    /// Of the first service levels, where these differ.
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
                .error("E0902", place, "there is no class to plan for")
                .help("write [[plan.class]], with two brackets, and below it share = 0.3");
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
                .error("E0102", place, "more classes than the 16 service levels")
                .help("let classes with like needs be one class");
            return None;
        }
    };
    let has_only_these = keys.packets.is_some();
    let sizes = match (keys.packets, keys.packet.or_else(|| packets.of(sl))) {
        (Some(sizes), _) => SizeLaw::new(sizes),
        (None, Some(packet)) if packet.0 > LARGEST_PACKET => {
            let place = section.place();
            let message = format!("by the MTU of the links, packets of {packet}");
            let help = format!(
                "write its `packet`, of at most {} KiB",
                LARGEST_PACKET / 1024
            );
            section.notes.error("E0102", place, message).help(help);
            return None;
        }
        (None, Some(packet)) => SizeLaw::fixed(packet),
        (None, None) => {
            let place = section.place();
            let message = "with link.mtu = \"message\" packets have no largest size";
            let help = "write the `packet` of the class or of [plan], or give link.mtu a size";
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
        distance: keys.distance.map(usize::from),
        dscps: keys.dscp.map_or(vec![], |points| points.0),
    })
}

/// The decimal fraction that a person wrote: nine digits are more than anybody does.
pub fn exact(share: f64) -> Ratio {
    Ratio::new((share * 1e9).round() as u128, 1_000_000_000)
}

/// Whether no code point is that of two classes, whatever else is wrong with them.
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
                .also(first, "the other one")
                .help("a packet's DSCP must tell its class; keep it in one of them");
            is_sound = false;
        }
    }
    is_sound
}

/// What is wrong with classes together.
fn together(classes: &[Class], items: &[Value], section: &mut Section<'_>) -> bool {
    let mut is_sound = true;
    for (at, class) in classes.iter().enumerate() {
        let place = items[at].place;
        let before = || classes[..at].iter().zip(items);
        if let Some((_, first)) = before().find(|(other, _)| other.sl == class.sl) {
            section
                .notes
                .error("E0901", place, format!("two classes use {}", class.sl))
                .also(first.place, "the other one")
                .help("a table tells classes apart by their service levels; give each its own");
            is_sound = false;
        }
        if let Some((_, first)) = before().find(|(other, _)| other.name == class.name) {
            section
                .notes
                .error(
                    "E0901",
                    place,
                    format!("two classes are called \"{}\"", class.name),
                )
                .also(first.place, "the other one")
                .help("give each its own name");
            is_sound = false;
        }
    }
    let has_distance = |class: &Class| class.distance.is_some();
    if classes.iter().any(has_distance) && !classes.iter().all(has_distance) {
        let place = section.place_of("class");
        section
            .notes
            .error(
                "E0901",
                place,
                "some classes have a distance and some have none",
            )
            .help("give all classes a distance, or none and let deadlines decide");
        is_sound = false;
    }
    is_sound
}

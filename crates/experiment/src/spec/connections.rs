//! `[connections]`: constant-rate connections that ask for bandwidth before they send (paper 004).

use std::path::Path;
use std::sync::Arc;

use netloom_arbitration::NO_LIMIT;
use netloom_catalog::{Params, Section, choice, file, params};
use netloom_design::infiniband::establish::DRAWS;
use netloom_design::infiniband::slots::Slots;
use netloom_design::infiniband::waits::MANAGEMENT_DATAGRAM;
use netloom_design::infiniband::{ConnectionClass, Mode, Packets, Placement, csv};
use netloom_fabric::DelayFrom;
use netloom_packet::SlSegmentation;
use netloom_routing::Forwarding;
use netloom_topology::Topology;
use netloom_units::{Bytes, Sl};

use super::admitted::{Admission, Admitted, Requests};
use super::connection_classes::{self, Classes};
use super::link::LinkSpec;
use super::reading::table;
use super::{Desk, LaneMap};
use crate::check;
use crate::experiment::UntilPackets;

/// More mistakes of one list than anybody wants to read.
const MOST_MISTAKES: usize = 100;

/// More connections than any fabric of ours holds.
const MOST_WANTED: u32 = 4_000_000;
/// In bytes: times the fastest link it has 62 bits, as exact gaps need.
const LARGEST_PACKET: u64 = 32 << 10;

choice! {
    /// What limits admission at a port.
    pub(crate) enum Limit {
        /// Slots only; a table may then need more than the 64 entries there are.
        Paper = "paper",
        /// Slots and the 64 entries of a real table.
        StrictEntries = "strict-entries",
    }
}

impl Limit {
    pub(crate) fn mode(self) -> Mode {
        match self {
            Limit::Paper => Mode::Paper,
            Limit::StrictEntries => Mode::StrictEntries,
        }
    }
}

choice! {
    /// Which free index of a table becomes a new entry (G004-13).
    pub(crate) enum NewEntry {
        /// The first.
        FirstFree = "first-free",
        /// Far from other entries of the lane.
        Spread = "spread",
    }
}

impl NewEntry {
    fn placement(self) -> Placement {
        match self {
            NewEntry::FirstFree => Placement::FirstFree,
            NewEntry::Spread => Placement::Spread,
        }
    }
}

choice! {
    /// When the delay of a packet begins (G004-11).
    pub(crate) enum Clock {
        /// When it is created.
        Creation = "creation",
        /// When its first flit leaves the NIC.
        Injection = "injection",
    }
}

impl Clock {
    fn delay_from(self) -> DelayFrom {
        match self {
            Clock::Creation => DelayFrom::Creation,
            Clock::Injection => DelayFrom::Injection,
        }
    }
}

choice! {
    /// By which inter-arrival time punctuality is measured.
    pub(crate) enum Measure {
        /// That of the connection.
        Connection = "connection",
        /// The mean over all connections of its service level.
        Level = "level",
    }
}

choice! {
    /// What becomes of a listed connection that is refused.
    pub(crate) enum Refused {
        /// The file is wrong.
        Error = "error",
        /// The others run without it.
        Skip = "skip",
    }
}

choice! {
    /// Whose packets end a run.
    pub(crate) enum Levels {
        /// Connections of SL2 and SL3 (G004-5).
        High = "high",
        /// All connections, as the paper has it; the slowest take their time (X004-10).
        Full = "full",
    }
}

params! {
    /// Connections of a constant rate that are admitted before they send.
    #[derive(Clone, Debug)]
    pub(crate) struct ConnectionsSpec {
        /// A CSV file that lists them: source, destination, bandwidth and, where the bandwidth does not
        /// decide, sl.
        pub(crate) list: Option<String> = None,
        /// How many to draw, instead of a list: the service levels in turn, ends and bandwidth at random.
        pub(crate) target: Option<u32> = None,
        /// Draws for each of them before establishment ends.
        pub(crate) retries: u32 = DRAWS,
        /// What limits admission: "paper" (the slots of a port that `reserve` leaves) or "strict-entries" (and the
        /// 64 entries of its table).
        pub(crate) mode: Limit = Limit::Paper,
        /// Which free index of a table becomes a new entry: "first-free" or "spread" (far from other entries of
        /// the lane).
        pub(crate) placement: NewEntry = NewEntry::FirstFree,
        /// Payload of every packet.
        pub(crate) packet: Bytes = Bytes(256),
        /// When the delay of a packet begins: "creation" (the wait in its NIC counts) or "injection" (when its
        /// first flit leaves the NIC).
        pub(crate) delay_from: Clock = Clock::Creation,
        /// The inter-arrival time that deadlines and intervals of jitter are parts of: that of each "connection", or the
        /// mean over connections of its service "level".
        pub(crate) iat: Measure = Measure::Connection,
        /// What becomes of a listed connection that is refused: "error" or "skip".
        pub(crate) refused: Refused = Refused::Error,
        /// Part of every link that connections cannot have: the lane of best effort keeps it.
        pub(crate) reserve: f64 = 0.2,
        /// The lane of best effort in the tables of all ports, which keeps `reserve`.
        pub(crate) best_effort: u8 = 8,
        /// The lane of challenged traffic in these tables, which comes last.
        pub(crate) challenged: u8 = 9,
        /// End the run once every connection has received so many packets after the warm-up; left out,
        /// `measure.length` ends it.
        pub(crate) until_packets: Option<u32> = None,
        /// Which connections must have received them: "high" (SL2 and SL3) or "full" (all).
        pub(crate) until_levels: Levels = Levels::High,
    }
    check |it, section| {
        match (&it.list, it.target) {
            (None, None) => {
                let place = section.place();
                section.notes.error("E0801", place, "no connections: neither `list` nor `target`")
                    .help("write list = \"connections.csv\", or target = 2048 to draw them");
            }
            (Some(_), Some(_)) => {
                let (list, target) = (section.place_of("list"), section.place_of("target"));
                section.notes.error("E0107", target, "both `list` and `target`")
                    .also(list, "the other one")
                    .help("connections are listed or drawn; keep one of them");
            }
            _ => {}
        }
        if !(0.0 < it.reserve && it.reserve < 1.0) {
            let place = section.place_of("reserve");
            section.notes.error("E0801", place, format!("`reserve` of {}", it.reserve))
                .help("write a part of a link above 0 and below 1; paper 004 has 0.2");
        }
        let target = u64::from(it.target.unwrap_or(1));
        let until = u64::from(it.until_packets.unwrap_or(1));
        for (key, value, most) in [
            ("target", target, u64::from(MOST_WANTED)),
            ("retries", u64::from(it.retries), u64::from(u32::MAX)),
            ("packet", it.packet.0, LARGEST_PACKET),
            ("until-packets", until, u64::from(u32::MAX)),
        ] {
            if !(1..=most).contains(&value) {
                let place = section.place_of(key);
                section.notes.error("E0801", place, format!("`{key}` of {value}"))
                    .help(format!("write 1 to {most}"));
            }
        }
    }
}

impl ConnectionsSpec {
    /// When connections end the run.
    pub(crate) fn until(&self) -> Option<UntilPackets> {
        let least_sl = match self.until_levels {
            Levels::High => Sl(2),
            Levels::Full => Sl(0),
        };
        self.until_packets
            .map(|packets| UntilPackets { packets, least_sl })
    }
}

/// Reads `[connections]`, if the file has it: `Some(None)` if it is wrong.
pub(crate) fn read(root: &mut Section<'_>) -> Option<Option<(ConnectionsSpec, Classes)>> {
    root.raw("connections")?;
    let both = |section: &mut Section<'_>| {
        let spec = ConnectionsSpec::read(section);
        let classes = connection_classes::read(section);
        Some((spec?, classes?))
    };
    Some(table(root, "connections", both))
}

/// Who asks, and the hash of the list where there is one.
pub(crate) fn requests(
    (spec, classes): (&ConnectionsSpec, &[ConnectionClass]),
    topology: &Topology,
    directory: &Path,
    desk: &mut Desk<'_>,
) -> Option<(Requests, Option<String>)> {
    let Some(list) = &spec.list else {
        let (target, draws) = (spec.target?, spec.retries);
        let classes = classes.to_vec();
        let drawn = Requests::Drawn {
            target,
            draws,
            classes,
        };
        return Some((drawn, None));
    };
    let place = desk.places.of("connections.list");
    let text = match file::read_text(&directory.join(list), file::MOST_LIST) {
        Ok(text) => text,
        Err(error) => {
            desk.notes.error("E0802", place, format!("{list}: {error}"));
            return None;
        }
    };
    match csv::parse_by(&text, topology, classes) {
        Ok(listed) if listed.is_empty() => {
            desk.notes
                .error("E0802", place, format!("{list} lists no connection"))
                .help("below the header stand lines like 0,7,64 Mbps,");
            None
        }
        Ok(listed) => {
            let hash = netloom_results::sha256(&text);
            Some((Requests::Listed(listed), Some(hash)))
        }
        Err(mistakes) => {
            for mistake in mistakes.iter().take(MOST_MISTAKES) {
                let (line, message) = (mistake.line, &mistake.message);
                desk.notes
                    .error("E0802", place, format!("{list}:{line}: {message}"));
            }
            if let Some(more) = mistakes.len().checked_sub(MOST_MISTAKES + 1) {
                let message = format!("{list}: and {} more mistakes", more + 1);
                desk.notes.error("E0802", place, message);
            }
            None
        }
    }
}

/// What admission needs to know besides the section itself.
pub(crate) struct Surroundings<'a> {
    pub(crate) topology: &'a Arc<Topology>,
    pub(crate) way: &'a Forwarding,
    pub(crate) link: &'a LinkSpec,
    pub(crate) lanes: &'a LaneMap,
    pub(crate) cutting: &'a SlSegmentation,
    /// Ticks of a cycle of a NIC.
    pub(crate) cycle: u64,
    /// Number of the first class of connections.
    pub(crate) first_class: usize,
    /// Whether the tables arbitrate at switches, and whether at NICs.
    pub(crate) at: (bool, bool),
    pub(crate) seed: u64,
}

/// How large packets are that connections with a deadline may have to wait for: as `plan --admit` takes them, and never
/// smaller than those that travel.
fn packets(around: &Surroundings<'_>) -> Packets {
    let (cutting, flit) = (around.cutting, around.link.segmentation.flit);
    let mtu = around.link.segmentation.mtu;
    let by_file = mtu.map_or(0, |mtu| mtu.0 + cutting.header.0);
    let flits = around.lanes.largest.iter().max().copied().unwrap_or(0);
    Packets {
        largest: Bytes(by_file.max(u64::from(flits) * flit.0)),
        management: Bytes(MANAGEMENT_DATAGRAM.0 + cutting.header.0),
        limit: NO_LIMIT,
    }
}

/// Admits the connections for the first seed, and tells what came of it.
pub(crate) fn admit(
    spec: &ConnectionsSpec,
    requests: Requests,
    around: &Surroundings<'_>,
    desk: &mut Desk<'_>,
) -> Option<(Admission, Admitted)> {
    let sls = requests.sls();
    let fits = check::connections::packet(spec, around.cutting, &sls, desk);
    let has_one_rate = check::connections::rates(around.link, around.topology, desk);
    let lanes = check::connections::lanes(spec, around.lanes, &sls, desk)?;
    let (at_switches, at_nics) = around.at;
    if at_switches {
        check::connections::served(&lanes, &sls, around.lanes, desk);
    }
    if !(fits && has_one_rate) {
        return None;
    }
    let admission = Admission {
        requests,
        mode: spec.mode.mode(),
        placement: spec.placement.placement(),
        delay_from: spec.delay_from.delay_from(),
        is_measured_by_level: spec.iat == Measure::Level,
        lanes,
        best_effort: Slots::of_frame(spec.reserve),
        packets: packets(around),
        payload: spec.packet,
        link: around.link.rate,
        flit: around.link.segmentation.flit,
        cycle: around.cycle,
        sls,
        first_class: around.first_class,
        at_switches,
        at_nics,
    };
    match admission.make(around.topology, around.way, around.seed) {
        Ok(admitted) => {
            check::connections::refusals(spec, &admitted, desk);
            check::connections::facts(&admission.requests, &admitted, desk);
            Some((admission, admitted))
        }
        Err(obstacle) => {
            check::connections::obstacle(obstacle, desk);
            None
        }
    }
}

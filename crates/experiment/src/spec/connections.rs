//! `[connections]`: constant-rate connections that request bandwidth before they send (paper 004).

use std::path::Path;
use std::sync::Arc;

use netloom_arbitration::NO_LIMIT;
use netloom_catalog::{Files, Params, Section, choice, file, params};
use netloom_design::infiniband::establish::DRAWS;
use netloom_design::infiniband::slots::Slots;
use netloom_design::infiniband::waits::MANAGEMENT_DATAGRAM;
use netloom_design::infiniband::{ConnectionClass, Mode, Packets, Placement, csv};
use netloom_packet::SlSegmentation;
use netloom_routing::Forwarding;
use netloom_topology::Topology;
use netloom_units::{Bytes, Sl};

use super::admitted::{Admission, Admitted, Requests};
use super::connection_classes::{self, Classes};
use super::link::LinkSpec;
use super::reading::table;
use super::{Diagnostics, LaneMap};
use crate::check;
use crate::experiment::UntilPackets;

/// Limit on the errors reported for one list.
const MOST_MISTAKES: usize = 100;

/// Limit on the number of connections.
const MOST_WANTED: u32 = 4_000_000;
/// In bytes. Exact gaps need the product with the fastest rate to fit into 62 bits.
const LARGEST_PACKET: u64 = 32 << 10;

choice! {
    /// What limits admission at a port.
    pub(crate) enum Limit {
        /// Slots only; a table may then need more than its 64 entries.
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
    /// The free index of a table that becomes a new entry.
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
    /// The inter-arrival time that punctuality is measured by.
    pub(crate) enum Measure {
        /// That of the connection.
        Connection = "connection",
        /// The mean over all connections of its service level.
        Level = "level",
    }
}

choice! {
    /// What happens if a listed connection is refused.
    pub(crate) enum Refused {
        /// The file has an error.
        Error = "error",
        /// The others run without it.
        Skip = "skip",
    }
}

choice! {
    /// Whose packets end a run.
    pub(crate) enum Levels {
        /// Connections of SL2 and SL3.
        High = "high",
        /// All connections, as in the paper; the slowest ones make runs long.
        Full = "full",
    }
}

params! {
    /// Constant-rate connections that are admitted before they send.
    #[derive(Clone, Debug)]
    pub(crate) struct ConnectionsSpec {
        /// A CSV file of connections: source, destination, bandwidth and, optionally, sl. By
        /// default the service level follows from the bandwidth.
        pub(crate) list: Option<String> = None,
        /// Number of connections to draw, in place of a list: service levels in turn, endpoints and
        /// bandwidth at random.
        pub(crate) target: Option<u32> = None,
        /// Draws per connection before establishment ends.
        pub(crate) retries: u32 = DRAWS,
        /// What limits admission: "paper" (the slots of a port that `reserve` leaves) or
        /// "strict-entries" (also the 64 entries of its table).
        pub(crate) mode: Limit = Limit::Paper,
        /// The free index of a table for a new entry: "first-free" or "spread" (far from other
        /// entries of the lane).
        pub(crate) placement: NewEntry = NewEntry::FirstFree,
        /// Payload of every packet.
        pub(crate) packet: Bytes = Bytes(256),
        /// The inter-arrival time that deadlines and jitter intervals are fractions of: that of
        /// each "connection", or the mean over the connections of its service "level".
        pub(crate) iat: Measure = Measure::Connection,
        /// What happens if a listed connection is refused: "error", or "skip" to run without it.
        pub(crate) refused: Refused = Refused::Error,
        /// Share of every link that connections cannot reserve. It is kept for best-effort traffic.
        pub(crate) reserve: f64 = 0.2,
        /// The lane of best-effort traffic in the tables of all ports, with the share `reserve`.
        pub(crate) best_effort: u8 = 8,
        /// The lane of challenged traffic, which is served last, in the tables of all ports.
        pub(crate) challenged: u8 = 9,
        /// Ends the run once every connection has received this number of packets after the
        /// warm-up. By default `measure.length` ends it.
        pub(crate) until_packets: Option<u32> = None,
        /// The connections that `until-packets` applies to: "high" (SL2 and SL3) or "full" (all).
        pub(crate) until_levels: Levels = Levels::High,
    }
    removed { "delay-from" = "\"creation\"": "the delay of a packet begins when it is created" }
    check |it, section| {
        match (&it.list, it.target) {
            (None, None) => {
                let place = section.place();
                section.notes.error("E0801", place, "expected `list` or `target`, found neither")
                    .help("add list = \"connections.csv\", or target = 2048 to draw connections");
            }
            (Some(_), Some(_)) => {
                let (list, target) = (section.place_of("list"), section.place_of("target"));
                section.notes.error("E0107", target, "both `list` and `target` are set")
                    .also(list, "the other one")
                    .help("remove one of them: connections are either listed or drawn");
            }
            _ => {}
        }
        if !(0.0 < it.reserve && it.reserve < 1.0) {
            let place = section.place_of("reserve");
            let message = format!("expected a share between 0 and 1, found {}", it.reserve);
            section.notes.error("E0801", place, message)
                .help("set `reserve` above 0 and below 1; paper 004 has 0.2");
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
                section.notes.error("E0801", place, format!("`{key}` of {value} is out of range"))
                    .help(format!("use 1 to {most}"));
            }
        }
    }
}

impl ConnectionsSpec {
    /// Returns the packets after which connections end the run.
    pub(crate) fn until(&self) -> Option<UntilPackets> {
        let least_sl = match self.until_levels {
            Levels::High => Sl(2),
            Levels::Full => Sl(0),
        };
        self.until_packets
            .map(|packets| UntilPackets { packets, least_sl })
    }
}

/// Reads `[connections]`, if the file has it. Returns `Some(None)` if it is invalid.
pub(crate) fn read(root: &mut Section<'_>) -> Option<Option<(ConnectionsSpec, Classes)>> {
    root.raw("connections")?;
    let both = |section: &mut Section<'_>| {
        let spec = ConnectionsSpec::read(section);
        let classes = connection_classes::read(section);
        Some((spec?, classes?))
    };
    Some(table(root, "connections", both))
}

/// Returns the requests for connections, and the hash of the list if there is one.
pub(crate) fn requests(
    (spec, classes): (&ConnectionsSpec, &[ConnectionClass]),
    topology: &Topology,
    files: &dyn Files,
    diagnostics: &mut Diagnostics<'_>,
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
    let place = diagnostics.places.of("connections.list");
    let text = match files.read_text(Path::new(list), file::MOST_LIST) {
        Ok(text) => text,
        Err(error) => {
            diagnostics
                .notes
                .error("E0802", place, format!("{list}: {error}"));
            return None;
        }
    };
    match csv::parse_by(&text, topology, classes) {
        Ok(listed) if listed.is_empty() => {
            diagnostics
                .notes
                .error("E0802", place, format!("{list} lists no connection"))
                .help("add lines such as 0,7,64 Mbps, below the header");
            None
        }
        Ok(listed) => {
            let hash = netloom_results::sha256(&text);
            Some((Requests::Listed(listed), Some(hash)))
        }
        Err(mistakes) => {
            for mistake in mistakes.iter().take(MOST_MISTAKES) {
                let (line, message) = (mistake.line, &mistake.message);
                diagnostics
                    .notes
                    .error("E0802", place, format!("{list}:{line}: {message}"));
            }
            if let Some(more) = mistakes.len().checked_sub(MOST_MISTAKES + 1) {
                let message = format!("{list}: and {} more errors", more + 1);
                diagnostics.notes.error("E0802", place, message);
            }
            None
        }
    }
}

/// The input of admission in addition to the section itself.
pub(crate) struct Surroundings<'a> {
    pub(crate) topology: &'a Arc<Topology>,
    pub(crate) forwarding: &'a Forwarding,
    pub(crate) link: &'a LinkSpec,
    pub(crate) lanes: &'a LaneMap,
    pub(crate) cutting: &'a SlSegmentation,
    /// Ticks of a cycle of a NIC.
    pub(crate) cycle: u64,
    /// Index of the first class of connections.
    pub(crate) first_class: usize,
    /// Whether the tables arbitrate at switches, and whether at NICs.
    pub(crate) at: (bool, bool),
    pub(crate) seed: u64,
}

/// Returns the size of packets that connections with a deadline may wait for: as in `plan --admit`,
/// and never smaller than the packets in the traffic.
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

/// Admits the connections for the first seed, and notes the outcome.
pub(crate) fn admit(
    spec: &ConnectionsSpec,
    requests: Requests,
    around: &Surroundings<'_>,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<(Admission, Admitted)> {
    let sls = requests.sls();
    let fits = check::connections::packet(spec, around.cutting, &sls, diagnostics);
    let has_one_rate = check::connections::rates(around.link, around.topology, diagnostics);
    let lanes = check::connections::lanes(spec, around.lanes, &sls, diagnostics)?;
    let (at_switches, at_nics) = around.at;
    if at_switches {
        check::connections::served(&lanes, &sls, around.lanes, diagnostics);
    }
    if !(fits && has_one_rate) {
        return None;
    }
    let admission = Admission {
        requests,
        mode: spec.mode.mode(),
        placement: spec.placement.placement(),
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
    match admission.make(around.topology, around.forwarding, around.seed) {
        Ok(admitted) => {
            check::connections::refusals(spec, &admitted, diagnostics);
            check::connections::facts(&admission.requests, &admitted, diagnostics);
            Some((admission, admitted))
        }
        Err(obstacle) => {
            check::connections::obstacle(obstacle, diagnostics);
            None
        }
    }
}

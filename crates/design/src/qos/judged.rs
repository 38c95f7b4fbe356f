//! The shares and waits of existing InfiniBand tables at one port.
//!
//! Every service level is assumed to send all the time. The levels of one lane share the bandwidth
//! of the lane.

use std::collections::BTreeMap;
use std::fmt;

use netloom_arbitration::{NO_LIMIT, VlArbitrationTable};
use netloom_text::Table;
use netloom_units::{Bytes, Rate, Vl, short_time};
use serde::Serialize;

use super::predict::{Laws, SizeLaw, ib_shares};
use super::slowdown::Packets;
use super::wait::{IbTables, PacketSizes, Wait, ib_wait};
use crate::plan::factor;

/// The lane that drops the packets of its service levels.
const DROPPED: Vl = Vl(15);

/// The largest management packet, which may precede any other packet.
const MANAGEMENT: Bytes = Bytes(256);

/// The flit of the link, of which packets take whole ones.
const FLIT: Bytes = Bytes(64);

/// What the tables of a port give.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct JudgedPort {
    pub rate_bits_per_second: u64,
    pub packet_bytes: u64,
    /// LimitOfHighPriority.
    pub limit: u8,
    pub lanes: Vec<JudgedLane>,
    /// Service levels whose packets are dropped.
    pub dropped: Vec<u8>,
}

/// What the tables give to one lane.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct JudgedLane {
    pub vl: u8,
    pub service_levels: Vec<u8>,
    /// The sum of the weights of its entries in the high-priority table.
    pub high_weight: u32,
    pub low_weight: u32,
    pub share_if_all_send: f64,
    /// `None` if there is no bound.
    pub worst_wait_ns: Option<f64>,
    pub unbounded_because: Option<String>,
    /// While all send; `None` if the others leave nothing.
    pub slowdown_if_all_send: Option<f64>,
    /// The bound for any packets; `None` if there is none.
    pub slowdown_at_most: Option<f64>,
}

/// Computes what tables give to the lanes of a port: `sl_to_vl` has the lane of each service level.
///
/// # Errors
/// If a packet cannot have this size.
pub fn judge(
    tables: IbTables<'_>,
    sl_to_vl: &[Vl],
    rate: Rate,
    packet: Bytes,
) -> Result<JudgedPort, String> {
    let mut levels: BTreeMap<Vl, Vec<u8>> = BTreeMap::new();
    for (sl, vl) in (0..).zip(sl_to_vl) {
        levels.entry(*vl).or_default().push(sl);
    }
    let dropped = levels.remove(&DROPPED).unwrap_or_default();
    let law = SizeLaw::fixed(packet);
    let law = law.map_err(|_| format!("expected a packet size, found {packet}"))?;
    let mut laws: Laws = Default::default();
    let mut largest = [Bytes(0); 16];
    for vl in levels.keys() {
        laws[vl.index()] = Some(law.clone());
        largest[vl.index()] = packet;
    }
    let sizes = PacketSizes {
        largest,
        smallest: [Bytes(0); 16],
        management: MANAGEMENT,
    };
    let shares = ib_shares(tables, &laws);
    let packets = Packets::new(&sizes, FLIT);
    let lane = |(vl, service_levels): (Vl, Vec<u8>)| {
        let weight = |table: &VlArbitrationTable| {
            let own = table.entries().iter().filter(|entry| entry.vl == vl);
            own.map(|entry| u32::from(entry.weight)).sum()
        };
        let (worst_wait_ns, unbounded_because) = match ib_wait(tables, &sizes, vl) {
            Wait::AtMost(bound) => (Some(bound.time(rate).as_nanos()), None),
            Wait::Unbounded(why) => (None, Some(why)),
        };
        let share = shares[vl.index()];
        JudgedLane {
            vl: vl.0,
            service_levels,
            high_weight: weight(tables.high),
            low_weight: weight(tables.low),
            share_if_all_send: share,
            worst_wait_ns,
            unbounded_because,
            slowdown_if_all_send: (share > 0.0).then(|| 1.0 / share),
            slowdown_at_most: packets.ib(tables, vl).ok().map(|bound| bound.factor),
        }
    };
    Ok(JudgedPort {
        rate_bits_per_second: rate.0,
        packet_bytes: packet.0,
        limit: tables.limit,
        lanes: levels.into_iter().map(lane).collect(),
        dropped,
    })
}

impl JudgedPort {
    /// Formats the port for people, with a table of at most this width.
    pub fn text(&self, width: Option<usize>) -> String {
        let mut table = Table::words();
        table.line([
            "VL",
            "service levels",
            "high",
            "low",
            "share if all send",
            "longest wait",
            "slowdown",
            "at most",
        ]);
        let or = |text: Option<String>, none: &str| text.unwrap_or_else(|| none.to_owned());
        for lane in &self.lanes {
            table.line([
                Vl(lane.vl).to_string(),
                numbers(&lane.service_levels),
                lane.high_weight.to_string(),
                lane.low_weight.to_string(),
                format!("{:.3} %", 100.0 * lane.share_if_all_send),
                or(lane.worst_wait_ns.map(short_time), "unbounded"),
                or(
                    lane.slowdown_if_all_send.map(|x| format!("{x:.2}")),
                    "unlimited",
                ),
                or(lane.slowdown_at_most.map(factor), "unlimited"),
            ]);
        }
        let limit = match self.limit {
            NO_LIMIT => "none".to_owned(),
            limit => limit.to_string(),
        };
        let mut text = format!(
            "a port of {}, packets of {}, limit {limit}\n{}\n",
            Rate(self.rate_bits_per_second),
            Bytes(self.packet_bytes),
            table.text(width).trim_end()
        );
        if !self.dropped.is_empty() {
            text.push_str(&format!(
                "dropped: service levels {}\n",
                numbers(&self.dropped)
            ));
        }
        for lane in &self.lanes {
            if let Some(why) = &lane.unbounded_because {
                text.push_str(&format!("{}: {why}\n", Vl(lane.vl)));
            }
        }
        text
    }
}

impl fmt::Display for JudgedPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(None))
    }
}

fn numbers(numbers: &[u8]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u8::to_string).collect();
    numbers.join(" ")
}

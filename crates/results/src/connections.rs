//! The tables of connections: how punctual their packets are.
//!
//! Delay counts from the creation of a packet to its last byte received (G004-11). The jitter of a packet
//! is the gap to the one before it at the receiver, less the inter-arrival time (G004-4); a gap is never
//! negative, so jitter never falls below -1 inter-arrival time. With `connections.iat = "level"` deadlines and intervals of
//! jitter are parts of the mean inter-arrival time of the service level instead; a slow connection can then be below -1.

use serde::{Deserialize, Serialize};

use crate::Window;
use crate::table::table;

table! {
    /// One connection: `connections.csv`.
    pub struct ConnectionLine {
        /// The seed of the run.
        seed: u64 => "",
        /// Its number, in the order of acceptance.
        connection: u32 => "",
        /// Its traffic class.
        class: String => "",
        /// Its service level.
        sl: u8 => "",
        /// Who sends.
        source: String => "",
        /// Who receives.
        destination: String => "",
        /// What it asked for, in payload.
        bandwidth_bps: u64 => "bps",
        /// Slots of 64 bytes, of a frame of 16,320, that it has at every output on its way.
        slots: u64 => "",
        /// The time between two of its packets.
        inter_arrival_ns: f64 => "ns",
        /// How long its packets may wait at all outputs of the path together, where that was promised.
        deadline_ns: Option<f64> => "ns",
        /// Packets received in the measured part of the run.
        packets: u64 => "",
        /// Mean delay of a packet.
        delay_mean_ns: Option<f64> => "ns",
        /// The longest delay.
        delay_max_ns: Option<f64> => "ns",
        /// Packets with a delay of at most 1/32 of the inter-arrival time.
        in_time_1_32: u64 => "",
        /// Packets with a delay of at most 1/16 of the inter-arrival time.
        in_time_1_16: u64 => "",
        /// Packets with a delay of at most 1/8 of the inter-arrival time.
        in_time_1_8: u64 => "",
        /// Packets with a delay of at most 1/4 of the inter-arrival time.
        in_time_1_4: u64 => "",
        /// Packets with a delay of at most 1/2 of the inter-arrival time.
        in_time_1_2: u64 => "",
        /// Packets with a delay of at most 3/4 of the inter-arrival time.
        in_time_3_4: u64 => "",
        /// Packets with a delay of at most the whole of the inter-arrival time.
        in_time_1: u64 => "",
        /// Packets with a longer delay than that.
        late: u64 => "",
        /// Mean jitter.
        jitter_mean_ns: Option<f64> => "ns",
        /// Gaps whose jitter is from -8/8 to -7/8 of the inter-arrival time.
        jitter_m8: u64 => "",
        /// Gaps whose jitter is from -7/8 to -6/8 of the inter-arrival time.
        jitter_m7: u64 => "",
        /// Gaps whose jitter is from -6/8 to -5/8 of the inter-arrival time.
        jitter_m6: u64 => "",
        /// Gaps whose jitter is from -5/8 to -4/8 of the inter-arrival time.
        jitter_m5: u64 => "",
        /// Gaps whose jitter is from -4/8 to -3/8 of the inter-arrival time.
        jitter_m4: u64 => "",
        /// Gaps whose jitter is from -3/8 to -2/8 of the inter-arrival time.
        jitter_m3: u64 => "",
        /// Gaps whose jitter is from -2/8 to -1/8 of the inter-arrival time.
        jitter_m2: u64 => "",
        /// Gaps whose jitter is from -1/8 to 0/8 of the inter-arrival time.
        jitter_m1: u64 => "",
        /// Gaps whose jitter is from 0/8 to 1/8 of the inter-arrival time.
        jitter_p0: u64 => "",
        /// Gaps whose jitter is from 1/8 to 2/8 of the inter-arrival time.
        jitter_p1: u64 => "",
        /// Gaps whose jitter is from 2/8 to 3/8 of the inter-arrival time.
        jitter_p2: u64 => "",
        /// Gaps whose jitter is from 3/8 to 4/8 of the inter-arrival time.
        jitter_p3: u64 => "",
        /// Gaps whose jitter is from 4/8 to 5/8 of the inter-arrival time.
        jitter_p4: u64 => "",
        /// Gaps whose jitter is from 5/8 to 6/8 of the inter-arrival time.
        jitter_p5: u64 => "",
        /// Gaps whose jitter is from 6/8 to 7/8 of the inter-arrival time.
        jitter_p6: u64 => "",
        /// Gaps whose jitter is from 7/8 to 8/8 of the inter-arrival time.
        jitter_p7: u64 => "",
        /// Gaps whose jitter is below minus the inter-arrival time, or above it.
        jitter_outside: u64 => "",
    }
}

/// The columns of a line that belong together, in order.
macro_rules! columns_of {
    (in_time, $line:expr) => {
        [
            &mut $line.in_time_1_32,
            &mut $line.in_time_1_16,
            &mut $line.in_time_1_8,
            &mut $line.in_time_1_4,
            &mut $line.in_time_1_2,
            &mut $line.in_time_3_4,
            &mut $line.in_time_1,
        ]
    };
    (jitter, $line:expr) => {
        [
            &mut $line.jitter_m8,
            &mut $line.jitter_m7,
            &mut $line.jitter_m6,
            &mut $line.jitter_m5,
            &mut $line.jitter_m4,
            &mut $line.jitter_m3,
            &mut $line.jitter_m2,
            &mut $line.jitter_m1,
            &mut $line.jitter_p0,
            &mut $line.jitter_p1,
            &mut $line.jitter_p2,
            &mut $line.jitter_p3,
            &mut $line.jitter_p4,
            &mut $line.jitter_p5,
            &mut $line.jitter_p6,
            &mut $line.jitter_p7,
            &mut $line.jitter_outside,
        ]
    };
}

impl ConnectionLine {
    /// The columns of delays in order: up to each deadline.
    pub fn in_time_mut(&mut self) -> [&mut u64; 7] {
        columns_of!(in_time, self)
    }

    /// The columns of jitter in order; the last is what is outside.
    pub fn jitter_mut(&mut self) -> [&mut u64; 17] {
        columns_of!(jitter, self)
    }
}

table! {
    /// The connections of one service level, or its best or worst one: `punctuality.csv`.
    pub struct PunctualityLine {
        /// The seed of the run.
        seed: u64 => "",
        /// Their traffic class.
        class: String => "",
        /// Their service level.
        sl: u8 => "",
        /// `all`, or `best` or `worst` for the connection with the largest or smallest share of packets in time
        /// at half its inter-arrival time.
        scope: String => "",
        /// The number of that connection; empty for all.
        connection: Option<u32> => "",
        /// How many connections the line is about.
        connections: u64 => "",
        /// Their packets received in the measured part of the run.
        packets: u64 => "",
        /// Share of packets with a delay of at most 1/32 of the inter-arrival time.
        in_time_1_32: Option<f64> => "fraction",
        /// Share of packets with a delay of at most 1/16 of the inter-arrival time.
        in_time_1_16: Option<f64> => "fraction",
        /// Share of packets with a delay of at most 1/8 of the inter-arrival time.
        in_time_1_8: Option<f64> => "fraction",
        /// Share of packets with a delay of at most 1/4 of the inter-arrival time.
        in_time_1_4: Option<f64> => "fraction",
        /// Share of packets with a delay of at most 1/2 of the inter-arrival time.
        in_time_1_2: Option<f64> => "fraction",
        /// Share of packets with a delay of at most 3/4 of the inter-arrival time.
        in_time_3_4: Option<f64> => "fraction",
        /// Share of packets with a delay of at most the whole of the inter-arrival time.
        in_time_1: Option<f64> => "fraction",
        /// Share of packets with a longer delay than that.
        late: Option<f64> => "fraction",
        /// The longest delay, in inter-arrival times (of its connection, or as `connections.iat` has it).
        delay_max: Option<f64> => "inter-arrival times",
        /// Mean jitter, in the same inter-arrival times.
        jitter_mean: Option<f64> => "inter-arrival times",
        /// Share of gaps whose jitter is from -8/8 to -7/8 of the inter-arrival time.
        jitter_m8: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from -7/8 to -6/8 of the inter-arrival time.
        jitter_m7: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from -6/8 to -5/8 of the inter-arrival time.
        jitter_m6: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from -5/8 to -4/8 of the inter-arrival time.
        jitter_m5: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from -4/8 to -3/8 of the inter-arrival time.
        jitter_m4: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from -3/8 to -2/8 of the inter-arrival time.
        jitter_m3: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from -2/8 to -1/8 of the inter-arrival time.
        jitter_m2: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from -1/8 to 0/8 of the inter-arrival time.
        jitter_m1: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from 0/8 to 1/8 of the inter-arrival time.
        jitter_p0: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from 1/8 to 2/8 of the inter-arrival time.
        jitter_p1: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from 2/8 to 3/8 of the inter-arrival time.
        jitter_p2: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from 3/8 to 4/8 of the inter-arrival time.
        jitter_p3: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from 4/8 to 5/8 of the inter-arrival time.
        jitter_p4: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from 5/8 to 6/8 of the inter-arrival time.
        jitter_p5: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from 6/8 to 7/8 of the inter-arrival time.
        jitter_p6: Option<f64> => "fraction",
        /// Share of gaps whose jitter is from 7/8 to 8/8 of the inter-arrival time.
        jitter_p7: Option<f64> => "fraction",
        /// Share of gaps whose jitter is below minus the inter-arrival time, or above it.
        jitter_outside: Option<f64> => "fraction",
    }
}

impl PunctualityLine {
    /// The columns of delays in order: up to each deadline.
    pub fn in_time_mut(&mut self) -> [&mut Option<f64>; 7] {
        columns_of!(in_time, self)
    }

    /// The columns of jitter in order; the last is what is outside.
    pub fn jitter_mut(&mut self) -> [&mut Option<f64>; 17] {
        columns_of!(jitter, self)
    }
}

/// What became of the connections of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ConnectionsSummary {
    /// Which part of the run these numbers cover.
    pub window: Window,
    /// Connections established.
    pub established: u64,
    /// Fewest packets that any connection has received in that part.
    pub packets_least: u64,
    /// Whether the connections that `until-packets` waits for have received so many; `None` without it.
    pub enough_packets: Option<bool>,
    /// Every service level, and its best and worst connection.
    pub punctuality: Vec<PunctualityLine>,
}

//! The tables of connections: how punctual their packets are.
//!
//! Delay counts from the creation of a packet to the reception of its last byte. The jitter of a
//! packet is the gap between it and the previous packet at the receiver, minus the inter-arrival
//! time. A gap is never negative, so jitter is at least -1 inter-arrival time. With
//! `connections.iat = "level"`, deadlines and intervals of jitter are fractions of the mean
//! inter-arrival time of the service level; the jitter of a slow connection can then be below -1.

use serde::{Deserialize, Serialize};

use crate::Window;
use crate::table::table;

table! {
    /// One connection: `connections.csv`.
    pub struct ConnectionLine {
        /// Seed of the run.
        seed: u64 => "",
        /// Number of the connection, in order of admission.
        connection: u32 => "",
        /// Traffic class.
        class: String => "",
        /// Service level.
        sl: u8 => "",
        /// Sending NIC.
        source: String => "",
        /// Receiving NIC.
        destination: String => "",
        /// Requested bandwidth (payload).
        bandwidth_bps: u64 => "bps",
        /// Slots of 64 bytes reserved at every output on its path, out of 16,320 in a frame.
        slots: u64 => "",
        /// Time between two packets of the connection.
        inter_arrival_ns: f64 => "ns",
        /// Guaranteed limit on the waiting time of a packet, summed over the outputs of the path;
        /// empty without a guarantee.
        deadline_ns: Option<f64> => "ns",
        /// Packets received in the measured part of the run.
        packets: u64 => "",
        /// Mean delay of a packet.
        delay_mean_ns: Option<f64> => "ns",
        /// Longest delay.
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
        /// Packets with a delay of at most the inter-arrival time.
        in_time_1: u64 => "",
        /// Packets with a delay longer than the inter-arrival time.
        late: u64 => "",
        /// Mean jitter.
        jitter_mean_ns: Option<f64> => "ns".label("Mean jitter"),
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
        /// Gaps whose jitter is outside the interval from minus to plus the inter-arrival time.
        jitter_outside: u64 => "",
    }
}

/// Implements access to related columns of a line, in order.
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
    /// Returns the columns that count delays up to each deadline, in order.
    pub fn in_time_mut(&mut self) -> [&mut u64; 7] {
        columns_of!(in_time, self)
    }

    /// Returns the columns of jitter in order; the last counts gaps outside the intervals.
    pub fn jitter_mut(&mut self) -> [&mut u64; 17] {
        columns_of!(jitter, self)
    }
}

table! {
    /// All connections of a service level, or the best or the worst: `punctuality.csv`.
    pub struct PunctualityLine {
        /// Seed of the run.
        seed: u64 => "",
        /// Traffic class of the connections.
        class: String => "",
        /// Service level of the connections.
        sl: u8 => "",
        /// `all`; or `best` or `worst`: the connection with the largest or smallest share of
        /// packets that arrive within half the inter-arrival time.
        scope: String => "",
        /// Number of the connection; empty for all.
        connection: Option<u32> => "",
        /// Number of connections in this line.
        connections: u64 => "",
        /// Packets received in the measured part of the run.
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
        /// Share of packets with a delay of at most the inter-arrival time.
        in_time_1: Option<f64> => "fraction",
        /// Share of packets with a delay longer than the inter-arrival time.
        late: Option<f64> => "fraction",
        /// Longest delay, in inter-arrival times of the connection (or as set by
        /// `connections.iat`).
        delay_max: Option<f64> => "inter-arrival times",
        /// Mean jitter, in inter-arrival times.
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
        /// Share of gaps whose jitter is outside the interval from minus to plus the inter-arrival
        /// time.
        jitter_outside: Option<f64> => "fraction",
    }
}

impl PunctualityLine {
    /// Returns the columns that count delays up to each deadline, in order.
    pub fn in_time_mut(&mut self) -> [&mut Option<f64>; 7] {
        columns_of!(in_time, self)
    }

    /// Returns the columns of jitter in order; the last counts gaps outside the intervals.
    pub fn jitter_mut(&mut self) -> [&mut Option<f64>; 17] {
        columns_of!(jitter, self)
    }
}

/// Summary of the connections of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ConnectionsSummary {
    /// The part of the run that these numbers cover.
    pub window: Window,
    pub established: u64,
    /// The fewest packets that a connection received in that part.
    pub packets_least: u64,
    /// Whether the connections of `until-packets` have received the packets it sets; `None` without
    /// it.
    pub enough_packets: Option<bool>,
    /// Every service level, with its best and its worst connection.
    pub punctuality: Vec<PunctualityLine>,
}

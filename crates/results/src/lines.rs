//! The tables: names, units, meanings.
//!
//! Loads are fractions of what all NIC links of the fabric can carry: the mean over NICs of the fraction
//! of a NIC's link. Latencies end with the last flit of the message or packet, wholly received.

use netloom_metrics::{RESOLUTION, Verdict};

use crate::connections::{ConnectionLine, PunctualityLine};
use crate::frame::Frame;
use crate::protocol::StashLine;
use crate::table::{Column, Table, table};

table! {
    /// What a line of `results.csv` is about.
    pub struct Key {
        /// Hash of the resolved experiment, its seed and the version of results.
        run_id: String => "",
        /// The seed of the run.
        seed: u64 => "",
        /// `total`, `class`, `sl`, or `row` for one service level of one class.
        scope: String => "",
        /// The traffic class; empty if the line is about several.
        class: String => "",
        /// The service level; empty if the line is about several.
        sl: Option<u8> => "",
    }
}

table! {
    /// What was measured after the warm-up, for one scope.
    pub struct Summary {
        /// What the workloads created, as a fraction of the NIC links.
        offered_load: f64 => "fraction",
        /// What began to leave the NICs.
        injected_load: f64 => "fraction",
        /// What was received.
        delivered_load: f64 => "fraction",
        /// Messages created.
        offered_messages: u64 => "",
        /// Messages wholly received.
        delivered_messages: u64 => "",
        /// Packets wholly received.
        delivered_packets: u64 => "",
        /// Packets that arrived after a later one of their flow, where that is counted.
        reordered_packets: u64 => "",
        /// By how many later packets of their flow those were overtaken, in the mean; 8 stands for 8 and more unless
        /// receivers are strict about order.
        reorder_distance_mean: Option<f64> => "packets",
        /// The same, the most.
        reorder_distance_max: Option<f64> => "packets",
        /// Mean time from the creation of a message to its last flit: its completion time (FCT).
        latency_mean_ns: Option<f64> => "ns",
        /// Half width of the 95 % interval of that mean, from batch means; widened where batches are correlated.
        latency_half_width_ns: Option<f64> => "ns",
        /// Correlation of neighbouring batches; far above zero, the run is too short.
        latency_lag1: Option<f64> => "",
        /// Median of message latency.
        latency_p50_ns: Option<f64> => "ns",
        /// Three of four messages took at most this long.
        latency_p75_ns: Option<f64> => "ns",
        /// Nine of ten messages took at most this long.
        latency_p90_ns: Option<f64> => "ns",
        /// 99 % of messages took at most this long.
        latency_p99_ns: Option<f64> => "ns",
        /// 99.9 % of messages took at most this long.
        latency_p999_ns: Option<f64> => "ns",
        /// The slowest message.
        latency_max_ns: Option<f64> => "ns",
        /// Mean time from the creation of a message to the last flit of each of its packets.
        packet_latency_mean_ns: Option<f64> => "ns",
        /// Median of packet latency.
        packet_latency_p50_ns: Option<f64> => "ns",
        /// 90 % quantile of packet latency.
        packet_latency_p90_ns: Option<f64> => "ns",
        /// 99 % quantile of packet latency.
        packet_latency_p99_ns: Option<f64> => "ns",
        /// 99.9 % quantile of packet latency.
        packet_latency_p999_ns: Option<f64> => "ns",
        /// The slowest packet.
        packet_latency_max_ns: Option<f64> => "ns",
        /// Mean time from a packet's first flit leaving its NIC to its last flit received.
        network_latency_mean_ns: Option<f64> => "ns",
        /// Median of network latency.
        network_latency_p50_ns: Option<f64> => "ns",
        /// 90 % quantile of network latency.
        network_latency_p90_ns: Option<f64> => "ns",
        /// 99 % quantile of network latency.
        network_latency_p99_ns: Option<f64> => "ns",
        /// 99.9 % quantile of network latency.
        network_latency_p999_ns: Option<f64> => "ns",
        /// The slowest packet between NICs.
        network_latency_max_ns: Option<f64> => "ns",
        /// Mean time from the creation of a message to the first flit of each of its packets leaving the NIC: what packet
        /// latency is more than network latency.
        injection_latency_mean_ns: Option<f64> => "ns",
        /// Of that, the mean time of a packet in its application, where `nic.buffer` is bounded: until the NIC had room for it.
        application_wait_mean_ns: Option<f64> => "ns",
        /// The longest such wait.
        application_wait_max_ns: Option<f64> => "ns",
        /// When the last message was wholly received, since the start of the run.
        last_delivery_ns: Option<f64> => "ns",
        /// Of a job or a list that ended: from the creation of its first message to the last flit of its last one, whatever the warm-up.
        completion_time_ns: Option<f64> => "ns",
        /// Mean change of message latency between consecutive messages at a receiver.
        jitter_mean_ns: Option<f64> => "ns",
        /// Largest such change.
        jitter_max_ns: Option<f64> => "ns",
        /// Mean number of switches on the way of a packet.
        switches_mean: Option<f64> => "",
        /// Jain's index of flits injected per NIC, over the NICs that injected any: 1 is fair.
        fairness_jain: Option<f64> => "",
        /// `idle`, `ok`, `not-converged`, `not-stationary`, `too-short`, `saturated` or `unfinished`; that of the total is the last of its classes'.
        verdict: Verdict => "",
    }
}

table! {
    /// One epoch of one row: `series.csv`.
    pub struct SeriesLine {
        /// The seed of the run.
        seed: u64 => "",
        /// End of the epoch.
        time_ns: f64 => "ns",
        /// The traffic class.
        class: String => "",
        /// The service level.
        sl: u8 => "",
        /// What the workloads created in this epoch.
        offered_load: f64 => "fraction",
        /// What began to leave the NICs.
        injected_load: f64 => "fraction",
        /// What was received.
        delivered_load: f64 => "fraction",
        /// Mean latency of the messages received in this epoch.
        latency_mean_ns: Option<f64> => "ns",
    }
}

table! {
    /// One direction of one link: `links.csv`.
    pub struct LinkLine {
        /// The seed of the run.
        seed: u64 => "",
        /// `injection` (NIC to switch), `fabric` (switch to switch) or `delivery` (switch to NIC).
        kind: String => "",
        /// Who sends.
        from: String => "",
        /// The port by which it leaves; empty at a NIC.
        from_port: Option<u16> => "",
        /// Who receives.
        to: String => "",
        /// The port by which it arrives; empty at a NIC.
        to_port: Option<u16> => "",
        /// The class of the cable.
        link_class: String => "",
        /// Share of the time in which flits were sent; a packet counts when it starts.
        utilisation: f64 => "fraction",
        /// Flits sent.
        flits: u64 => "",
        /// Packets sent by a switch.
        packets: Option<u64> => "",
        /// Of those, packets sent when more than one lane could have been.
        choices: Option<u64> => "",
        /// Mean content of the sender's output buffer.
        output_buffer_mean_flits: Option<f64> => "flits",
        /// Largest content of that buffer since the start, reservations included (slots on a ring).
        output_buffer_peak_flits: Option<u64> => "flits",
        /// Mean content of the receiver's input buffer.
        input_buffer_mean_flits: Option<f64> => "flits",
    }
}

table! {
    /// One bucket of a latency histogram of one row: `histograms.csv`. A bucket is at most 1/64 wide.
    pub struct HistogramLine {
        /// The seed of the run.
        seed: u64 => "",
        /// The traffic class.
        class: String => "",
        /// The service level.
        sl: u8 => "",
        /// Which latency: of a `message`, of a `packet` since the creation of its message, or of a packet in the `network`.
        latency: String => "",
        /// The shortest latency that the bucket takes.
        from_ns: f64 => "ns",
        /// The longest latency that the bucket takes.
        to_ns: f64 => "ns",
        /// How many fell into it.
        count: u64 => "",
    }
}

table! {
    /// One NIC and one row: `hosts.csv`.
    pub struct HostLine {
        /// The seed of the run.
        seed: u64 => "",
        /// The NIC.
        host: String => "",
        /// The traffic class.
        class: String => "",
        /// The service level.
        sl: u8 => "",
        /// What the NIC injected, as a fraction of its own link.
        injected_load: f64 => "fraction",
    }
}

table! {
    /// What a line of `waits.csv` is about.
    pub struct WaitKey {
        /// The seed of the run.
        seed: u64 => "",
        /// Whose outputs: `switches` or `nics`.
        place: String => "",
        /// `total`, or what the arbiter tells apart: `sl` or `vl`.
        scope: String => "",
        /// The service level or lane; empty for the total.
        number: Option<u8> => "",
    }
}

table! {
    /// The longest wait at an output, over all outputs and since the start of the run: from "the packet
    /// is at the head of its queue and all credits are held" to its first flit, as what the link sends
    /// meanwhile.
    pub struct WaitSummary {
        /// Packets sent, each by a choice of an arbiter.
        choices: u64 => "",
        /// Of those, choices with more than one eligible queue.
        contested_choices: u64 => "",
        /// The longest wait at an output took at least this: what was sent from the first choice that the packet lost.
        wait_at_least_bytes: u64 => "bytes",
        /// The longest wait at an output took at most this: with the whole packet that may have been in flight before.
        wait_at_most_bytes: u64 => "bytes",
        /// How long the slowest link of the place needs for `wait_at_least_bytes`.
        wait_at_least_ns: f64 => "ns",
        /// How long the slowest link of the place needs for `wait_at_most_bytes`.
        wait_at_most_ns: f64 => "ns",
    }
}

/// Every table by its name, which is that of its files without ending; `results` has the columns of
/// [`Key`], then of [`Summary`], and `waits` those of [`WaitKey`], then of [`WaitSummary`].
pub const TABLES: &[(&str, &[&[Column]])] = &[
    ("results", &[Key::COLUMNS, Summary::COLUMNS]),
    ("series", &[SeriesLine::COLUMNS]),
    ("links", &[LinkLine::COLUMNS]),
    ("histograms", &[HistogramLine::COLUMNS]),
    ("hosts", &[HostLine::COLUMNS]),
    ("connections", &[ConnectionLine::COLUMNS]),
    ("punctuality", &[PunctualityLine::COLUMNS]),
    ("stashes", &[StashLine::COLUMNS]),
    ("waits", &[WaitKey::COLUMNS, WaitSummary::COLUMNS]),
];

/// The table of a name without lines, as every file of it is.
pub fn empty_table(name: &str) -> Option<Frame> {
    Some(match name {
        "results" => Frame::of::<Key>().beside::<Summary>(),
        "series" => Frame::of::<SeriesLine>(),
        "links" => Frame::of::<LinkLine>(),
        "histograms" => Frame::of::<HistogramLine>(),
        "hosts" => Frame::of::<HostLine>(),
        "connections" => Frame::of::<ConnectionLine>(),
        "punctuality" => Frame::of::<PunctualityLine>(),
        "stashes" => Frame::of::<StashLine>(),
        "waits" => Frame::of::<WaitKey>().beside::<WaitSummary>(),
        _ => return None,
    })
}

/// Whether two values of a column differ by more than the column can tell: percentiles come from histograms, of which
/// neighbouring buckets may hold the same.
pub fn differ(column: &str, a: f64, b: f64) -> bool {
    let last_word = column.trim_end_matches("_ns").rsplit('_').next();
    let digits = last_word.and_then(|word| word.strip_prefix('p'));
    let is_percentile = digits.is_some_and(|digits| digits.parse::<u32>().is_ok());
    let resolution = if is_percentile { RESOLUTION } else { 0.0 };
    (a - b).abs() > resolution * a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = &'static Column> {
        TABLES
            .iter()
            .flat_map(|(_, parts)| parts.iter().copied().flatten())
    }

    #[test]
    fn every_column_has_a_meaning_and_carries_its_unit() {
        for column in all() {
            assert!(column.meaning.ends_with('.'), "{column:?}");
            for unit in ["ns", "flits"] {
                let suffixed = column.name.ends_with(&format!("_{unit}"));
                assert_eq!(suffixed, column.unit == unit, "{column:?}");
            }
        }
    }

    #[test]
    fn every_table_has_its_columns_without_lines() {
        for (name, parts) in TABLES {
            let empty = empty_table(name).unwrap_or_else(|| panic!("no empty table {name}"));
            let columns = parts.iter().copied().flatten().map(|column| column.name);
            let own = empty.columns.iter().map(|column| column.name.as_str());
            assert!(own.eq(columns), "{name}");
        }
        assert_eq!(empty_table("../../evil"), None);
    }

    #[test]
    fn a_bucket_of_a_histogram_is_no_difference() {
        // 1.3 %: three seeds whose percentile moved by the same bucket.
        for percentile in ["latency_p99_ns", "network_latency_p999_ns"] {
            assert!(!differ(percentile, 1000.0, 1013.0), "{percentile}");
            assert!(differ(percentile, 1000.0, 1017.0), "{percentile}");
        }
        for exact in ["latency_mean_ns", "latency_max_ns", "delivered_load"] {
            assert!(differ(exact, 1000.0, 1001.0), "{exact}");
            assert!(!differ(exact, 7.0, 7.0), "{exact}");
        }
        let is_known = |name: &str| Summary::COLUMNS.iter().any(|column| column.name == name);
        assert!(is_known("latency_p99_ns") && is_known("latency_max_ns"));
    }

    #[test]
    fn json_and_csv_agree_on_names() {
        let json = serde_json::to_value(Summary::default()).unwrap();
        let names: Vec<&String> = json.as_object().unwrap().keys().collect();
        let mut columns: Vec<&str> = Summary::COLUMNS.iter().map(|c| c.name).collect();
        columns.sort_unstable();
        assert_eq!(names, columns);
        assert_eq!(Summary::default().cells().len(), Summary::COLUMNS.len());
    }
}

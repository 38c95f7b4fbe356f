//! The columns of all tables: names, units, meanings.
//!
//! Loads are fractions of the capacity of all NIC links of the fabric: the mean over NICs of the
//! fraction of a NIC's link. Latencies end when the last flit of the message or packet has been
//! received.

use netloom_metrics::{RESOLUTION, Verdict};

use crate::connections::{ConnectionLine, PunctualityLine};
use crate::frame::Frame;
use crate::protocol::StashLine;
use crate::recorded::{Recorded, mean_difference};
use crate::table::{Column, Table, in_words, table};

table! {
    /// What a line of `results.csv` covers.
    pub struct Key {
        /// Hash of the resolved experiment, its seed and the version of results.
        run_id: String => "",
        /// Seed of the run.
        seed: u64 => "",
        /// `total`, `class`, `sl`, or `row` for one service level of one class.
        scope: String => "",
        /// Traffic class; empty if the line covers several.
        class: String => "",
        /// Service level; empty if the line covers several.
        sl: Option<u8> => "",
    }
}

table! {
    /// Results measured after the warm-up, for one scope.
    pub struct Summary from Recorded {
        /// Load created by the workloads, as a fraction of the NIC links.
        offered_load: f64 => "fraction".mean().head("Offered")
            = |run| run.load(run.offered_flits),
        /// Load injected by the NICs.
        injected_load: f64 => "fraction"
            = |run| run.load(run.injected_flits),
        /// Load received by the NICs.
        delivered_load: f64 => "fraction".higher().mean().head("Delivered")
            = |run| run.load(run.delivered_flits),
        /// Messages created.
        offered_messages: u64 => ""
            = |run| run.offered_messages,
        /// Messages completely received.
        delivered_messages: u64 => "".higher()
            = |run| run.delivered_messages,
        /// Packets completely received.
        delivered_packets: u64 => "".higher()
            = |run| run.delivered_packets,
        /// Packets that arrived after a later packet of their flow; 0 if order is not counted.
        reordered_packets: u64 => "".lower()
            = |run| run.reordered_packets,
        /// Mean number of later packets of the flow that overtook a reordered packet; 8 means 8 or
        /// more unless receivers are strict about order.
        reorder_distance_mean: Option<f64> => "packets".lower().label("Mean reordering distance")
            = |run| run.reorder_distance.mean(),
        /// Largest number of later packets of the flow that overtook a reordered packet.
        reorder_distance_max: Option<f64> => "packets".lower().label("Maximum reordering distance")
            = |run| run.reorder_distance.max().map(|packets| packets as f64),
        /// Mean time from the creation of a message to its last flit: flow completion time (FCT).
        latency_mean_ns: Option<f64> => "ns".lower().mean().label("Mean latency").head("Mean")
            = |run| run.time(run.message.mean()),
        /// Half width of the 95 % interval of the mean latency, from batch means; wider if batches
        /// are correlated.
        latency_half_width_ns: Option<f64> => "ns".lower()
            = |run| run.time(run.interval.map(|interval| interval.widened())),
        /// Correlation of neighbouring batches; a value far above zero means that the run is too
        /// short.
        latency_lag1: Option<f64> => "".lower()
            = |run| run.interval.map(|interval| interval.lag1),
        /// Median of message latency.
        latency_p50_ns: Option<f64> => "ns".lower().mean().label("Median latency").head("p50")
            = |run| run.quantile(run.message, 0.5),
        /// 75 % quantile of message latency.
        latency_p75_ns: Option<f64> => "ns".lower().label("75 % latency").head("p75")
            = |run| run.quantile(run.message, 0.75),
        /// 90 % quantile of message latency.
        latency_p90_ns: Option<f64> => "ns".lower().mean().label("90 % latency").head("p90")
            = |run| run.quantile(run.message, 0.9),
        /// 95 % quantile of message latency.
        latency_p95_ns: Option<f64> => "ns".lower().mean().label("95 % latency").head("p95")
            = |run| run.quantile(run.message, 0.95),
        /// 99 % quantile of message latency.
        latency_p99_ns: Option<f64> => "ns".lower().mean().label("99 % latency").head("p99")
            = |run| run.quantile(run.message, 0.99),
        /// 99.9 % quantile of message latency.
        latency_p999_ns: Option<f64> => "ns".lower().mean().label("99.9 % latency").head("p99.9")
            = |run| run.quantile(run.message, 0.999),
        /// Largest message latency.
        latency_max_ns: Option<f64> => "ns".lower().label("Maximum latency").head("Max")
            = |run| run.whole_time(run.message.max()),
        /// Mean time from the creation of a message to the last flit of each of its packets.
        packet_latency_mean_ns: Option<f64> => "ns".lower().mean().label("Mean packet latency")
            = |run| run.time(run.packet.mean()),
        /// Median of packet latency.
        packet_latency_p50_ns: Option<f64> => "ns".lower().label("Median packet latency")
            = |run| run.quantile(run.packet, 0.5),
        /// 90 % quantile of packet latency.
        packet_latency_p90_ns: Option<f64> => "ns".lower().label("90 % packet latency")
            = |run| run.quantile(run.packet, 0.9),
        /// 99 % quantile of packet latency.
        packet_latency_p99_ns: Option<f64> => "ns".lower().mean().label("99 % packet latency")
            = |run| run.quantile(run.packet, 0.99),
        /// 99.9 % quantile of packet latency.
        packet_latency_p999_ns: Option<f64> => "ns".lower().label("99.9 % packet latency")
            = |run| run.quantile(run.packet, 0.999),
        /// Largest packet latency.
        packet_latency_max_ns: Option<f64> => "ns".lower().label("Maximum packet latency")
            = |run| run.whole_time(run.packet.max()),
        /// Mean time from a packet's first flit leaving its NIC to the reception of its last flit.
        network_latency_mean_ns: Option<f64> => "ns".lower().mean().label("Mean network latency")
            = |run| run.time(run.network.mean()),
        /// Median of network latency.
        network_latency_p50_ns: Option<f64> => "ns".lower().label("Median network latency")
            = |run| run.quantile(run.network, 0.5),
        /// 90 % quantile of network latency.
        network_latency_p90_ns: Option<f64> => "ns".lower().label("90 % network latency")
            = |run| run.quantile(run.network, 0.9),
        /// 99 % quantile of network latency.
        network_latency_p99_ns: Option<f64> => "ns".lower().mean().label("99 % network latency")
            = |run| run.quantile(run.network, 0.99),
        /// 99.9 % quantile of network latency.
        network_latency_p999_ns: Option<f64> => "ns".lower().label("99.9 % network latency")
            = |run| run.quantile(run.network, 0.999),
        /// Largest network latency.
        network_latency_max_ns: Option<f64> => "ns".lower().label("Maximum network latency")
            = |run| run.whole_time(run.network.max()),
        /// Mean time from the creation of a message to the first flit of each of its packets
        /// leaving the NIC: packet latency minus network latency.
        injection_latency_mean_ns: Option<f64> => "ns".lower().mean().label("Mean injection latency")
            = |run| run.time(mean_difference(run.packet, run.network)),
        /// Part of the injection latency: mean time of a packet in its application until the NIC
        /// has buffer space, if `nic.buffer` is bounded.
        application_wait_mean_ns: Option<f64> => "ns".lower().label("Mean application wait")
            = |run| run.time(run.application_wait.mean()),
        /// Longest time of a packet in its application, if `nic.buffer` is bounded.
        application_wait_max_ns: Option<f64> => "ns".lower().label("Maximum application wait")
            = |run| run.whole_time(run.application_wait.max()),
        /// Time since the start of the run at which the last message was completely received.
        last_delivery_ns: Option<f64> => "ns"
            = |run| run.whole_time(run.last_delivery),
        /// Time from the first message to the last flit of the last, of a job or list that
        /// finished; independent of the warm-up.
        completion_time_ns: Option<f64> => "ns".lower().mean().head("Completion")
            = |run| run.whole_time(run.completion),
        /// Mean change of message latency between consecutive messages at a receiver.
        jitter_mean_ns: Option<f64> => "ns".lower().mean().label("Mean jitter").head("Jitter")
            = |run| run.time(run.jitter.mean()),
        /// Largest change of message latency between consecutive messages at a receiver.
        jitter_max_ns: Option<f64> => "ns".lower().label("Maximum jitter")
            = |run| run.whole_time(run.jitter.max()),
        /// Mean number of switches on the path of a packet.
        switches_mean: Option<f64> => "".mean().label("Mean number of switches")
            = |run| run.switches_mean(),
        /// Jain's index of the flits injected per NIC, over the NICs that injected any; 1 is fair.
        fairness_jain: Option<f64> => "".higher().mean().index().label("Jain's index").head("Fairness")
            = |run| run.fairness,
        /// `idle`, `ok`, `not-converged`, `not-stationary`, `too-short`, `saturated` or
        /// `unfinished`; the total has the last of these that applies to a class.
        verdict: Verdict => ""
            = |run| run.verdict,
        /// Data of a rank divided by the time of an operation, of collective operations that
        /// finished; counted as by nccl-tests (`algbw`).
        algorithm_bandwidth: Option<f64> => "GB/s".higher().mean()
            = |run| run.bandwidths.map(|[algorithm, _]| algorithm),
        /// Algorithm bandwidth times a factor that makes it comparable with the rate of a NIC
        /// (`busbw`): 2 (p - 1) / p for an all-reduce of p ranks, 1 for a broadcast, and
        /// (p - 1) / p for the others.
        bus_bandwidth: Option<f64> => "GB/s".higher().mean()
            = |run| run.bandwidths.map(|[_, bus]| bus),
        /// Rank of a program that ended last; the first of several.
        slowest_rank: Option<u32> => ""
            = |run| run.slowest_rank,
        /// Time of the slowest rank of a program that finished, divided by the mean over its ranks.
        rank_imbalance: Option<f64> => "".lower().mean().head("Slowest rank / mean")
            = |run| run.rank_imbalance,
        /// Completion time divided by that of the same class in the variant `alone` of a study,
        /// with the same seed and equal other settings.
        slowdown: Option<f64> => "".lower().mean()
            = |_| None,
    }
}

table! {
    /// One epoch of one row: `series.csv`.
    pub struct SeriesLine {
        /// Seed of the run.
        seed: u64 => "",
        /// End of the epoch.
        time_ns: f64 => "ns".label("Time"),
        /// Traffic class.
        class: String => "",
        /// Service level.
        sl: u8 => "",
        /// Load created by the workloads in this epoch.
        offered_load: f64 => "fraction",
        /// Load injected by the NICs.
        injected_load: f64 => "fraction",
        /// Load received by the NICs.
        delivered_load: f64 => "fraction",
        /// Mean latency of the messages received in this epoch.
        latency_mean_ns: Option<f64> => "ns".label("Mean latency"),
        /// Mean network latency of the packets received in this epoch.
        network_latency_mean_ns: Option<f64> => "ns".label("Mean network latency"),
    }
}

table! {
    /// One direction of one link: `links.csv`.
    pub struct LinkLine {
        /// Seed of the run.
        seed: u64 => "",
        /// `injection` (NIC to switch), `fabric` (switch to switch) or `delivery` (switch to NIC).
        kind: String => "",
        /// Sending switch or NIC.
        from: String => "",
        /// Port of the sender; empty at a NIC.
        from_port: Option<u16> => "",
        /// Receiving switch or NIC.
        to: String => "",
        /// Port of the receiver; empty at a NIC.
        to_port: Option<u16> => "",
        /// Link class of the cable.
        link_class: String => "",
        /// Share of the time in which flits were sent; a packet counts completely at its start.
        utilisation: f64 => "fraction".index().label("Link use"),
        /// Flits sent.
        flits: u64 => "",
        /// Packets sent, if the sender is a switch.
        packets: Option<u64> => "",
        /// Packets sent for which the switch had more than one lane to choose from.
        choices: Option<u64> => "",
        /// Mean occupancy of the sender's output buffer.
        output_buffer_mean_flits: Option<f64> => "flits",
        /// Peak occupancy of that buffer since the start, including reservations (slots on a ring).
        output_buffer_peak_flits: Option<u64> => "flits",
        /// Mean occupancy of the receiver's input buffer.
        input_buffer_mean_flits: Option<f64> => "flits",
    }
}

table! {
    /// One bucket of a latency histogram of one row: `histograms.csv`. The width of a bucket is at
    /// most 1/64 of its latency.
    pub struct HistogramLine {
        /// Seed of the run.
        seed: u64 => "",
        /// Traffic class.
        class: String => "",
        /// Service level.
        sl: u8 => "",
        /// Kind of latency: of a `message`, of a `packet` since the creation of its message, or of
        /// a packet in the `network`.
        latency: String => "",
        /// Shortest latency in the bucket.
        from_ns: f64 => "ns",
        /// Longest latency in the bucket.
        to_ns: f64 => "ns",
        /// Number of messages or packets in the bucket.
        count: u64 => "",
    }
}

table! {
    /// One NIC and one row: `hosts.csv`.
    pub struct HostLine {
        /// Seed of the run.
        seed: u64 => "",
        /// The NIC.
        host: String => "",
        /// Traffic class.
        class: String => "",
        /// Service level.
        sl: u8 => "",
        /// Load injected by the NIC, as a fraction of its link.
        injected_load: f64 => "fraction",
    }
}

table! {
    /// What a line of `waits.csv` covers.
    pub struct WaitKey {
        /// Seed of the run.
        seed: u64 => "",
        /// Kind of outputs: `switches` or `nics`.
        place: String => "",
        /// `total`, or what the arbiter distinguishes: `sl` or `vl`.
        scope: String => "",
        /// The service level or lane; empty for the total.
        number: Option<u8> => "",
    }
}

table! {
    /// The longest wait at an output, over all outputs and since the start of the run. A wait
    /// begins when the packet is at the head of its queue and all its credits are held, and ends
    /// with its first flit. It is measured by the bytes that the link sends in that time.
    pub struct WaitSummary {
        /// Packets sent; the arbiter chooses each.
        choices: u64 => "",
        /// Choices between several eligible queues.
        contested_choices: u64 => "",
        /// Lower bound on the longest wait at an output: bytes sent since the first choice that the
        /// packet lost.
        wait_at_least_bytes: u64 => "bytes",
        /// Upper bound on the longest wait at an output: includes a complete packet that may have
        /// been in flight before.
        wait_at_most_bytes: u64 => "bytes",
        /// Time that the slowest link of the place takes for `wait_at_least_bytes`.
        wait_at_least_ns: f64 => "ns",
        /// Time that the slowest link of the place takes for `wait_at_most_bytes`.
        wait_at_most_ns: f64 => "ns",
    }
}

/// All tables by name, which is the name of their files without extension. `results` has the
/// columns of [`Key`], then of [`Summary`]; `waits` has those of [`WaitKey`], then of
/// [`WaitSummary`].
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

/// Returns the description of a column, in the first table that has it. Columns of the same name
/// have the same unit and label in all tables.
pub fn described(name: &str) -> Option<&'static Column> {
    let mut columns = TABLES
        .iter()
        .flat_map(|(_, parts)| parts.iter().copied().flatten());
    columns.find(|column| column.name == name)
}

/// Returns the label of an axis for a column of any table: `99 % latency`.
pub fn axis_label(name: &str) -> String {
    described(name).map_or_else(|| in_words(name), Column::axis_label)
}

/// Returns the columns of which `points` has means over seeds, each with the half width of its
/// 95 % interval.
pub fn over_seeds() -> impl Iterator<Item = &'static Column> + Clone {
    Summary::COLUMNS.iter().filter(|column| column.has_mean)
}

/// Returns the table with this name, without lines.
pub fn empty_table(name: &str) -> Option<Frame> {
    Some(match name {
        "results" => Frame::of::<Key>().with_columns::<Summary>(),
        "series" => Frame::of::<SeriesLine>(),
        "links" => Frame::of::<LinkLine>(),
        "histograms" => Frame::of::<HistogramLine>(),
        "hosts" => Frame::of::<HostLine>(),
        "connections" => Frame::of::<ConnectionLine>(),
        "punctuality" => Frame::of::<PunctualityLine>(),
        "stashes" => Frame::of::<StashLine>(),
        "waits" => Frame::of::<WaitKey>().with_columns::<WaitSummary>(),
        _ => return None,
    })
}

/// Whether two values differ by more than the precision of the column. Percentiles come from
/// histograms, and equal values may fall into neighbouring buckets.
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
            // Tables may count what others state as a fraction; otherwise a name has one label.
            for other in all().filter(|own| own.name == column.name && own.unit == column.unit) {
                assert_eq!(other.axis_label(), column.axis_label(), "{column:?}");
            }
        }
    }

    #[test]
    fn columns_are_described_for_figures_and_tables() {
        let label = |name: &str| axis_label(name);
        assert_eq!(label("latency_p99_ns"), "99 % latency");
        assert_eq!(label("bus_bandwidth"), "Bus bandwidth");
        assert_eq!(label("latency_p99_half_width_ns"), "Latency p99 half width");
        let title = |name: &str| described(name).map(Column::title);
        assert_eq!(title("latency_p99_ns").unwrap(), "p99");
        assert_eq!(title("slowdown").unwrap(), "Slowdown");
        assert_eq!(described("latency"), described("latency"));
        assert_eq!(described("point"), None);
        let labels: Vec<String> = Summary::COLUMNS.iter().map(Column::axis_label).collect();
        for (at, label) in labels.iter().enumerate() {
            assert!(!labels[..at].contains(label), "{label}");
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

//! Protocol events at endpoints and switches: acknowledgements, congestion control, stashes,
//! errors.

use serde::{Deserialize, Serialize};

use crate::table::table;

/// Counts since the start of the run.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ProtocolSummary {
    /// Acknowledgements received by endpoints, except void ones.
    pub acknowledgements: u64,
    /// Packets marked by congested inputs, counted once per input.
    pub marked_packets: u64,
    /// Number of times a marked acknowledgement cut a window.
    pub window_cuts: u64,
    /// Packets, or copies of packets, sent to a stash.
    pub stashed_packets: u64,
    /// Packets retrieved from a stash.
    pub retrieved_packets: u64,
    /// Copies deleted because they were no longer needed.
    pub deleted_copies: u64,
    /// Acknowledgements that arrived before the location of the copy was known.
    pub early_acknowledgements: u64,
    /// Packets retransmitted from a stash.
    pub retransmitted_packets: u64,
    /// Timeouts of packets without acknowledgement.
    pub timeouts: u64,
    /// Packets corrupted by switches, counted once per switch.
    pub corrupted_packets: u64,
    /// Packets dropped by switches.
    pub lost_packets: u64,
    /// Transmissions repeated by a link.
    pub link_repeats: u64,
    /// Packets discarded by their receiver: corrupted or duplicate.
    pub discarded_packets: u64,
    /// Discarded packets that were duplicates.
    pub duplicate_packets: u64,
    /// Mean lifetime of a copy, from leaving its first input to the acknowledgement.
    pub copy_time_mean_ns: Option<f64>,
    /// Longest lifetime of a copy.
    pub copy_time_max_ns: Option<f64>,
    /// Peak occupancy of the stashes of one switch, over the ends of epochs.
    pub stash_peak_flits: u64,
}

table! {
    /// Occupancy of the stashes of a switch at the end of an epoch: `stashes.csv`. Empty stashes
    /// have no line.
    pub struct StashLine {
        /// Seed of the run.
        seed: u64 => "",
        /// End of the epoch.
        time_ns: f64 => "ns",
        /// Name of the switch.
        switch: String => "",
        /// Occupancy of the stashes.
        held_flits: u64 => "flits",
    }
}

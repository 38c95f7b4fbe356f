//! What endpoints and switches did beyond carrying packets: acknowledgements, congestion control, stashes, errors.

use serde::{Deserialize, Serialize};

use crate::table::table;

/// Counts since the start of a run.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ProtocolSummary {
    /// Acknowledgements that reached their endpoint and told it something.
    pub acknowledgements: u64,
    /// Packets marked by congested inputs, once for each input.
    pub marked_packets: u64,
    /// Marked acknowledgements: so often a window was cut.
    pub window_cuts: u64,
    /// Packets, or copies of packets, sent to a stash.
    pub stashed_packets: u64,
    /// Packets that went on from a stash.
    pub retrieved_packets: u64,
    /// Copies that were not needed any more.
    pub deleted_copies: u64,
    /// Acknowledgements that came before the place of the copy was known.
    pub early_acknowledgements: u64,
    /// Packets sent again from a stash.
    pub retransmitted_packets: u64,
    /// Times at which nothing had come back for too long.
    pub timeouts: u64,
    /// Packets damaged by a switch, once for each switch.
    pub corrupted_packets: u64,
    /// Packets lost by a switch.
    pub lost_packets: u64,
    /// Transmissions that a link had to repeat.
    pub link_repeats: u64,
    /// Packets that their receiver threw away: damaged, or there already.
    pub discarded_packets: u64,
    /// Those of them that were there already.
    pub duplicate_packets: u64,
    /// How long a copy was kept on average, from leaving its first input to the acknowledgement.
    pub copy_time_mean_ns: Option<f64>,
    /// The longest that a copy was kept.
    pub copy_time_max_ns: Option<f64>,
    /// The most flits that the stashes of one switch held at the end of an epoch.
    pub stash_peak_flits: u64,
}

table! {
    /// One line of `stashes.csv`: what the stashes of a switch hold at the end of an epoch; none where they are empty.
    pub struct StashLine {
        /// The seed of the run.
        seed: u64 => "",
        /// The end of the epoch.
        time_ns: f64 => "ns",
        /// The switch.
        switch: String => "",
        /// What its stashes hold.
        held_flits: u64 => "flits",
    }
}

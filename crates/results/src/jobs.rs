//! What became of work that ends: jobs, whose ranks wait for each other, and lists of messages.

use serde::{Deserialize, Serialize};

/// A class whose messages end.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobSummary {
    /// The class.
    pub class: String,
    /// How many ranks it has; `None` for a list of messages.
    pub ranks: Option<u64>,
    /// How many messages it has in all.
    pub messages: u64,
    /// Those that were wholly received before the end of the run.
    pub delivered_messages: u64,
    /// Whether that is all of them.
    pub finished: bool,
    /// When the first message is created, since the start of the run.
    pub first_send_ns: Option<f64>,
    /// From then to the end of the last message, if it has finished. No warm-up changes it.
    pub completion_time_ns: Option<f64>,
    /// The ranks that wait for a message at the end of the run, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<RankWait>,
}

/// A rank that waits for a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct RankWait {
    /// Which rank.
    pub rank: u32,
    /// The rank that sends the message.
    pub waits_for: u32,
}

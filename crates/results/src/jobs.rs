//! Results of finite work: jobs, whose ranks wait for each other, and lists of messages.

use serde::{Deserialize, Serialize};

/// A class with a finite number of messages.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobSummary {
    pub class: String,
    /// Number of ranks; `None` for a list of messages.
    pub ranks: Option<u64>,
    /// Total number of messages.
    pub messages: u64,
    /// Messages completely received before the end of the run.
    pub delivered_messages: u64,
    /// Whether all messages were received.
    pub finished: bool,
    /// Creation time of the first message, since the start of the run.
    pub first_send_ns: Option<f64>,
    /// Time from there to the end of the last message, if the job finished. Independent of the
    /// warm-up.
    pub completion_time_ns: Option<f64>,
    /// The ranks that wait for a message at the end of the run, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<RankWait>,
}

/// A rank that waits for a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct RankWait {
    pub rank: u32,
    /// The rank that sends the message.
    pub waits_for: u32,
}

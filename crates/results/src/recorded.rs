//! What a run recorded about one scope, from which the columns of results are computed.

use netloom_metrics::{Histogram, Interval, Tally, Verdict};

/// Records of one scope: all traffic, a class, a service level or both. Times are in ticks.
#[derive(Clone, Copy)]
pub struct Recorded<'a> {
    /// Converts ticks to nanoseconds.
    pub nanos: &'a dyn Fn(f64) -> f64,
    /// Flits that all NIC links can carry in the measured time.
    pub capacity_flits: f64,
    pub offered_flits: u64,
    pub injected_flits: u64,
    pub delivered_flits: u64,
    pub offered_messages: u64,
    pub delivered_messages: u64,
    pub delivered_packets: u64,
    pub reordered_packets: u64,
    /// Number of later packets that overtook each reordered packet.
    pub reorder_distance: &'a Tally,
    /// Latency of messages.
    pub message: &'a Histogram,
    /// Latency of packets, since the creation of their message.
    pub packet: &'a Histogram,
    /// Latency of packets, since their first flit left the NIC.
    pub network: &'a Histogram,
    /// Interval of the mean message latency, from batch means.
    pub interval: Option<Interval>,
    pub application_wait: &'a Tally,
    pub jitter: &'a Tally,
    /// Switches on the paths of delivered packets.
    pub switches: u64,
    pub last_delivery: Option<u64>,
    /// Completion time of work that finished.
    pub completion: Option<u64>,
    /// Jain's index of the flits injected per NIC.
    pub fairness: Option<f64>,
    pub verdict: Verdict,
    /// Algorithm and bus bandwidth of the only job.
    pub bandwidths: Option<[f64; 2]>,
    pub slowest_rank: Option<u32>,
    pub rank_imbalance: Option<f64>,
}

impl Recorded<'_> {
    /// Returns flits as a fraction of the capacity; 0 for an empty part of a run.
    pub(crate) fn load(&self, flits: u64) -> f64 {
        match self.capacity_flits > 0.0 {
            true => flits as f64 / self.capacity_flits,
            false => 0.0,
        }
    }

    pub(crate) fn time(&self, ticks: Option<f64>) -> Option<f64> {
        ticks.map(self.nanos)
    }

    pub(crate) fn whole_time(&self, ticks: Option<u64>) -> Option<f64> {
        self.time(ticks.map(|ticks| ticks as f64))
    }

    pub(crate) fn quantile(&self, latencies: &Histogram, share: f64) -> Option<f64> {
        self.whole_time(latencies.quantile(share))
    }

    pub(crate) fn switches_mean(&self) -> Option<f64> {
        let packets = self.delivered_packets;
        (packets > 0).then(|| self.switches as f64 / packets as f64)
    }
}

/// Returns the difference of means, if both histograms count the same things.
pub(crate) fn mean_difference(larger: &Histogram, smaller: &Histogram) -> Option<f64> {
    let n = larger.count();
    let difference = larger.sum().checked_sub(smaller.sum())?;
    (n > 0 && n == smaller.count()).then(|| difference as f64 / n as f64)
}

//! The document of a run, as `results.json` stores it and `run --format json` prints it.

use netloom_metrics::Verdict;
use serde::{Deserialize, Serialize};

use crate::connections::ConnectionsSummary;
use crate::frame::Frame;
use crate::jobs::JobSummary;
use crate::lines::{Key, Summary};
use crate::protocol::ProtocolSummary;
use crate::table::Table;
use crate::waits::Waits;
use crate::{RESULTS_VERSION, RunId};

/// How a run ended: the verdict on its numbers, or why it stopped early. In the order of
/// [`Verdict`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Ok,
    NotConverged,
    NotStationary,
    TooShort,
    Saturated,
    Unfinished,
    /// Stopped by the user; the results end at that time.
    Interrupted,
    /// Packets wait for each other in a cycle; the results end at that time.
    Deadlock,
}

/// A run is never idle: one in which nothing happens is too short.
impl From<Verdict> for Status {
    fn from(verdict: Verdict) -> Status {
        match verdict {
            Verdict::Ok => Status::Ok,
            Verdict::NotConverged => Status::NotConverged,
            Verdict::NotStationary => Status::NotStationary,
            Verdict::Idle | Verdict::TooShort => Status::TooShort,
            Verdict::Saturated => Status::Saturated,
            Verdict::Unfinished => Status::Unfinished,
        }
    }
}

impl Status {
    /// Returns the verdict of a run that completed.
    pub fn verdict(self) -> Option<Verdict> {
        match self {
            Status::Ok => Some(Verdict::Ok),
            Status::NotConverged => Some(Verdict::NotConverged),
            Status::NotStationary => Some(Verdict::NotStationary),
            Status::TooShort => Some(Verdict::TooShort),
            Status::Saturated => Some(Verdict::Saturated),
            Status::Unfinished => Some(Verdict::Unfinished),
            Status::Interrupted | Status::Deadlock => None,
        }
    }

    /// Returns the word used in files.
    pub fn word(self) -> &'static str {
        match (self, self.verdict()) {
            (_, Some(verdict)) => verdict.word(),
            (Status::Interrupted, _) => "interrupted",
            _ => "deadlock",
        }
    }

    /// Returns the status of a point: that of a run that did not complete, otherwise the verdict
    /// over all seeds.
    pub fn of_seeds(seeds: impl Iterator<Item = Status> + Clone) -> Status {
        let verdicts: Option<Vec<Verdict>> = seeds.clone().map(Status::verdict).collect();
        match (verdicts, seeds.max()) {
            (Some(verdicts), _) => Verdict::of_seeds(verdicts).into(),
            (None, worst) => worst.unwrap_or(Status::Ok),
        }
    }
}

/// The part of a run that a number covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// From the end of the warm-up.
    AfterWarmup,
    /// The whole run, because the end of the warm-up was detected only afterwards.
    WholeRun,
}

/// The results of an experiment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Document {
    pub netloom: String,
    /// Version of the results, [`RESULTS_VERSION`].
    pub results_version: u32,
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Hash of the resolved experiment, its seed and the version of results.
    pub run_id: RunId,
    /// The run with the first seed.
    #[serde(flatten)]
    pub run: Run,
    /// Intervals over seeds, if there is more than one.
    pub over_seeds: Option<OverSeeds>,
    /// The runs with the further seeds.
    pub repeats: Vec<Run>,
    /// Cost of the run; not stored in `results.json`, since it differs between runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
}

/// One run with one seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    pub seed: u64,
    pub status: Status,
    /// Digest of all deliveries; does not depend on partitions or threads.
    pub digest: String,
    pub counters: CountersSummary,
    /// End of the warm-up.
    pub warmup_ns: f64,
    /// Whether the warm-up was given or detected; otherwise the first half of the run was dropped.
    pub warmup_found: bool,
    /// Simulated time, including the warm-up.
    pub length_ns: f64,
    /// All classes together.
    pub total: Summary,
    /// By traffic class.
    pub classes: Vec<ClassSummary>,
    /// The classes by mean message latency, the fastest first; classes without messages are
    /// omitted.
    #[serde(default)]
    pub latency_order: Vec<String>,
    /// By service level.
    pub sls: Vec<SlSummary>,
    /// By class and service level.
    pub rows: Vec<RowSummary>,
    /// The part of the run that the fairness covers.
    pub fairness_window: Window,
    /// Use of links and buffers.
    pub links: LinksSummary,
    /// Jobs and lists of messages, if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobSummary>,
    /// Admitted connections, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<ConnectionsSummary>,
    /// The longest waits at outputs, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// Acknowledgements, congestion control, stashes and errors, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<ProtocolSummary>,
    /// The evidence, if packets wait for each other in a cycle.
    pub deadlock: Option<Deadlock>,
}

/// Totals since the start of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CountersSummary {
    /// Packets forwarded by switches, counted once per switch.
    pub packet_hops: u64,
    /// Flits forwarded by switches, counted once per switch.
    pub flit_hops: u64,
    /// Packets whose first flit left a NIC.
    pub injected_packets: u64,
    /// Packets completely received.
    pub delivered_packets: u64,
    /// Packets between injection and delivery at the end.
    pub in_flight_packets: u64,
    /// Messages that had not completely left their NIC at the end.
    pub waiting_messages: u64,
    /// Packets for which a switch had more than one lane to choose from.
    pub choices: u64,
}

/// A traffic class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClassSummary {
    pub class: String,
    /// Its service level, unless its messages set their own.
    pub sl: u8,
    /// The load set in the file, if any.
    pub asked_load: Option<f64>,
    #[serde(flatten)]
    pub summary: Summary,
}

/// A service level.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SlSummary {
    pub sl: u8,
    #[serde(flatten)]
    pub summary: Summary,
}

/// One service level of one class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RowSummary {
    pub class: String,
    pub sl: u8,
    #[serde(flatten)]
    pub summary: Summary,
}

/// Use of links and buffers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LinksSummary {
    /// The part of the run that these numbers cover.
    pub window: Window,
    /// Links from NICs to switches.
    pub injection: LinkGroup,
    /// Links between switches.
    pub fabric: LinkGroup,
    /// Links from switches to NICs.
    pub delivery: LinkGroup,
    /// Mean content of an input buffer over all ports.
    pub input_buffer_mean_flits: f64,
    /// Mean content of the fullest input buffer.
    pub input_buffer_fullest_mean_flits: f64,
    /// Mean content of an output buffer over all ports.
    pub output_buffer_mean_flits: f64,
    /// Largest content of any output buffer since the start, reservations included.
    pub output_buffer_peak_flits: u64,
    /// Share of packets for which a switch had more than one lane to choose from.
    pub choice_share: Option<f64>,
}

/// Utilisation over a group of links.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct LinkGroup {
    /// Number of links.
    pub links: u64,
    /// Mean utilisation.
    pub utilisation_mean: f64,
    /// Largest utilisation.
    pub utilisation_max: f64,
    /// The link with the largest utilisation.
    pub busiest: Option<String>,
}

/// Packets that wait for each other in a cycle.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Deadlock {
    /// When the deadlock was detected.
    pub time_ns: f64,
    /// Packets in the fabric at that time.
    pub in_flight_packets: u64,
    /// Each waits for the next, and the last for the first; empty if nothing moves and no cycle was
    /// found.
    pub cycle: Vec<Wait>,
}

/// A buffer in a cycle of waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Wait {
    pub switch: String,
    pub port: u16,
    /// `input` or `output` buffer.
    pub side: String,
    pub vl: u8,
}

impl std::fmt::Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}:{} {} VL{}",
            self.switch, self.port, self.side, self.vl
        )
    }
}

/// A mean over seeds with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Estimate {
    /// Mean of the seeds' values.
    pub mean: f64,
    /// Half width of the 95 % interval.
    pub half_width: f64,
}

/// Results over several seeds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OverSeeds {
    /// The seeds of the runs that finished.
    pub seeds: Vec<u64>,
    /// Status over all seeds: [`Status::of_seeds`].
    pub status: Status,
    /// All classes together.
    pub total: SeedsEstimate,
    /// By traffic class.
    pub classes: Vec<SeedsEstimate>,
}

/// Intervals over seeds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SeedsEstimate {
    /// The class; empty for the total.
    pub class: String,
    /// Of delivered load.
    pub delivered_load: Option<Estimate>,
    /// Of mean message latency.
    pub latency_mean_ns: Option<Estimate>,
    /// Of the 99 % quantile of message latency.
    pub latency_p99_ns: Option<Estimate>,
}

/// Cost of a run on this machine.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Timing {
    /// Elapsed time.
    pub wall_seconds: f64,
    /// Processor time of all threads, if the system reports it.
    pub cpu_seconds: Option<f64>,
    /// Peak memory use, if the system reports it.
    pub peak_rss_bytes: Option<u64>,
}

impl Document {
    /// Returns all runs, the first seed first.
    pub fn runs(&self) -> impl Iterator<Item = &Run> + Clone {
        std::iter::once(&self.run).chain(&self.repeats)
    }

    /// Returns the status over all runs: [`Status::of_seeds`].
    pub fn status(&self) -> Status {
        Status::of_seeds(self.runs().map(|run| run.status))
    }

    /// Returns the document as the JSON of `results.json`, without values that differ between
    /// machines.
    pub fn to_json(&self) -> String {
        let stored = Document {
            timing: None,
            ..self.clone()
        };
        let mut text = serde_json::to_string_pretty(&stored).expect("plain data is JSON");
        text.push('\n');
        text
    }

    /// Reads what [`Document::to_json`] wrote.
    ///
    /// # Errors
    /// If the text is not such a document, or is of a later version.
    pub fn from_json(text: &str) -> Result<Document, String> {
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match document.results_version {
            ..=RESULTS_VERSION => Ok(document),
            later => Err(format!(
                "expected results of version {RESULTS_VERSION} or earlier, found version {later}"
            )),
        }
    }

    /// Returns the table of summaries: a line per seed and scope.
    pub fn results(&self) -> Frame {
        let mut frame = Frame::of::<Key>().with_columns::<Summary>();
        for run in self.runs() {
            let mut line = |scope: &str, class: &str, sl: Option<u8>, summary: &Summary| {
                let key = Key {
                    run_id: self.run_id.to_string(),
                    seed: run.seed,
                    scope: scope.to_owned(),
                    class: class.to_owned(),
                    sl,
                };
                frame.push(key.data().into_iter().chain(summary.data()));
            };
            line("total", "", None, &run.total);
            run.classes
                .iter()
                .for_each(|c| line("class", &c.class, None, &c.summary));
            run.sls
                .iter()
                .for_each(|s| line("sl", "", Some(s.sl), &s.summary));
            run.rows
                .iter()
                .for_each(|r| line("row", &r.class, Some(r.sl), &r.summary));
        }
        frame
    }
}

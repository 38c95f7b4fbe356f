//! The document of a run: what `results.json` holds and `run --format json` prints.

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

/// How a run ended: what may be said of its numbers, or why there are no more of them. In the order of
/// [`Verdict`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// [`Verdict::Ok`].
    Ok,
    /// [`Verdict::NotConverged`].
    NotConverged,
    /// [`Verdict::NotStationary`].
    NotStationary,
    /// [`Verdict::TooShort`].
    TooShort,
    /// [`Verdict::Saturated`].
    Saturated,
    /// [`Verdict::Unfinished`].
    Unfinished,
    /// Stopped by the user; the results are those up to then.
    Interrupted,
    /// Packets wait for each other in a circle; the results are those up to then.
    Deadlock,
}

/// Of a run, which is never idle: one in which nothing happens is too short.
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
    /// The verdict of a run that came to its end.
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

    /// The word for it in files.
    pub fn word(self) -> &'static str {
        match (self, self.verdict()) {
            (_, Some(verdict)) => verdict.word(),
            (Status::Interrupted, _) => "interrupted",
            _ => "deadlock",
        }
    }

    /// How all seeds of a point ended: a run that did not come to its end stands for all, otherwise the verdict of
    /// the point.
    pub fn of_seeds(seeds: impl Iterator<Item = Status> + Clone) -> Status {
        let verdicts: Option<Vec<Verdict>> = seeds.clone().map(Status::verdict).collect();
        match (verdicts, seeds.max()) {
            (Some(verdicts), _) => Verdict::of_seeds(verdicts).into(),
            (None, worst) => worst.unwrap_or(Status::Ok),
        }
    }
}

/// Which part of a run a number covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// What follows the warm-up.
    AfterWarmup,
    /// All of it, because the warm-up was found only afterwards.
    WholeRun,
}

/// The results of an experiment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Document {
    /// Version of netloom.
    pub netloom: String,
    /// Version of the results, [`RESULTS_VERSION`].
    pub results_version: u32,
    /// Name of the experiment.
    pub name: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Hash of the resolved experiment, its seed and the version of results.
    pub run_id: RunId,
    /// The run with the first seed.
    #[serde(flatten)]
    pub run: Run,
    /// What all seeds say together, where there is more than one.
    pub over_seeds: Option<OverSeeds>,
    /// The runs with the further seeds.
    pub repeats: Vec<Run>,
    /// What it cost; not stored in `results.json`, since it differs from time to time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
}

/// One run with one seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Its seed.
    pub seed: u64,
    /// How it ended.
    pub status: Status,
    /// Digest of all deliveries: the same for any number of partitions and threads.
    pub digest: String,
    /// Totals since the start.
    pub counters: CountersSummary,
    /// Where the warm-up ended.
    pub warmup_ns: f64,
    /// Whether the warm-up was given or found; if not, the first half was dropped.
    pub warmup_found: bool,
    /// Simulated time, the warm-up included.
    pub length_ns: f64,
    /// Everything together.
    pub total: Summary,
    /// By traffic class.
    pub classes: Vec<ClassSummary>,
    /// The classes by their mean message latency, the fastest first; those without messages are left out.
    #[serde(default)]
    pub latency_order: Vec<String>,
    /// By service level.
    pub sls: Vec<SlSummary>,
    /// By class and service level.
    pub rows: Vec<RowSummary>,
    /// Which part of the run the fairness covers.
    pub fairness_window: Window,
    /// How busy links and buffers were.
    pub links: LinksSummary,
    /// What became of jobs and lists of messages, where there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobSummary>,
    /// What became of admitted connections, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<ConnectionsSummary>,
    /// The longest waits at outputs, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// Acknowledgements, congestion control, stashes and errors, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<ProtocolSummary>,
    /// The evidence, if packets wait for each other in a circle.
    pub deadlock: Option<Deadlock>,
}

/// Totals since the start of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CountersSummary {
    /// Packets that crossed a switch, once for each switch.
    pub packet_hops: u64,
    /// The same in flits.
    pub flit_hops: u64,
    /// Packets that began to leave a NIC.
    pub injected_packets: u64,
    /// Packets wholly received.
    pub delivered_packets: u64,
    /// Packets between injection and delivery at the end.
    pub in_flight_packets: u64,
    /// Messages that had not wholly left their NIC at the end.
    pub waiting_messages: u64,
    /// Packets sent by switches when more than one lane could have been.
    pub choices: u64,
}

/// A traffic class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClassSummary {
    /// Its name.
    pub class: String,
    /// Its service level, unless its messages name their own.
    pub sl: u8,
    /// The load that the file asks for, where it does.
    pub asked_load: Option<f64>,
    /// Its numbers.
    #[serde(flatten)]
    pub summary: Summary,
}

/// A service level.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SlSummary {
    /// The level.
    pub sl: u8,
    /// Its numbers.
    #[serde(flatten)]
    pub summary: Summary,
}

/// One service level of one class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RowSummary {
    /// The class.
    pub class: String,
    /// The level.
    pub sl: u8,
    /// Its numbers.
    #[serde(flatten)]
    pub summary: Summary,
}

/// How busy links and buffers were.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LinksSummary {
    /// Which part of the run these numbers cover.
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
    /// Share of packets sent by switches when more than one lane could have been.
    pub choice_share: Option<f64>,
}

/// Utilisation over a group of links.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct LinkGroup {
    /// How many there are.
    pub links: u64,
    /// Mean utilisation.
    pub utilisation_mean: f64,
    /// Largest utilisation.
    pub utilisation_max: f64,
    /// Where that is.
    pub busiest: Option<String>,
}

/// Packets that wait for each other in a circle.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Deadlock {
    /// When it was found.
    pub time_ns: f64,
    /// Packets in the fabric then.
    pub in_flight_packets: u64,
    /// Each waits for the next, and the last for the first; empty if nothing moves and no circle shows.
    pub cycle: Vec<Wait>,
}

/// A buffer in a circle of waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Wait {
    /// The switch.
    pub switch: String,
    /// Its port.
    pub port: u16,
    /// `input` or `output` buffer.
    pub side: String,
    /// The lane.
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

/// What several seeds say together.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OverSeeds {
    /// The seeds of the runs that finished.
    pub seeds: Vec<u64>,
    /// How all of them together ended: [`Status::of_seeds`].
    pub status: Status,
    /// Everything together.
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

/// What a run cost on this machine.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Timing {
    /// Elapsed time.
    pub wall_seconds: f64,
    /// Processor time of all threads, where the system tells.
    pub cpu_seconds: Option<f64>,
    /// The most memory ever used, where the system tells.
    pub peak_rss_bytes: Option<u64>,
}

impl Document {
    /// All runs, the first seed first.
    pub fn runs(&self) -> impl Iterator<Item = &Run> + Clone {
        std::iter::once(&self.run).chain(&self.repeats)
    }

    /// How all runs together ended: [`Status::of_seeds`].
    pub fn status(&self) -> Status {
        Status::of_seeds(self.runs().map(|run| run.status))
    }

    /// The document as JSON, as `results.json` stores it: without what differs between machines.
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
    /// If the text is none of it, or of a later version.
    pub fn from_json(text: &str) -> Result<Document, String> {
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match document.results_version {
            ..=RESULTS_VERSION => Ok(document),
            later => Err(format!(
                "results of version {later}, known is {RESULTS_VERSION}"
            )),
        }
    }

    /// The table of summaries: a line per seed and scope.
    pub fn results(&self) -> Frame {
        let mut frame = Frame::of::<Key>().beside::<Summary>();
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

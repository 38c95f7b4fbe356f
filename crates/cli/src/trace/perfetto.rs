//! Traces as Chrome trace events for <https://ui.perfetto.dev>, one track for each packet.
//!
//! A step is an instant, but a trace should show the time between two steps. So each event lasts
//! from one step to the next, and is named after what the packet does or waits for.

use netloom_experiment::Experiment;
use netloom_fabric::{Stage, Step};
use serde::Serialize;

use super::{title, words};

/// A document in Chrome's format; times are in microseconds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    trace_events: Vec<Event>,
    display_time_unit: &'static str,
}

#[derive(Serialize)]
struct Event {
    name: String,
    cat: &'static str,
    /// `X` for an event with a duration, `M` for the name of a track.
    ph: &'static str,
    pid: u32,
    tid: usize,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    args: Arguments,
}

#[derive(Serialize, Default)]
struct Arguments {
    /// The name of a track.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lane: Option<String>,
}

pub(super) fn document(experiment: &Experiment, traces: &[Vec<Step>]) -> anyhow::Result<String> {
    let mut events = vec![name("process_name", 0, experiment.name.clone())];
    for (at, trace) in traces.iter().enumerate() {
        let track = at + 1;
        events.push(name("thread_name", track, title(experiment, trace)));
        let pairs = trace.iter().zip(trace.iter().skip(1));
        events.extend(pairs.map(|(step, next)| lasting(experiment, track, step, next)));
    }
    Ok(serde_json::to_string(&Document {
        trace_events: events,
        display_time_unit: "ns",
    })?)
}

/// Returns the event that names the process or a track.
fn name(what: &'static str, tid: usize, name: String) -> Event {
    Event {
        name: what.to_owned(),
        cat: "packet",
        ph: "M",
        pid: 1,
        tid,
        ts: 0.0,
        dur: None,
        args: Arguments {
            name: Some(name),
            ..Arguments::default()
        },
    }
}

fn lasting(experiment: &Experiment, tid: usize, step: &Step, next: &Step) -> Event {
    let micros = |ticks: u64| experiment.timebase.nanos(ticks as f64) / 1e3;
    let (_, from, lane) = words(experiment, step.stage);
    let (_, to, _) = words(experiment, next.stage);
    Event {
        name: format!("{} {from}", doing(step.stage)),
        cat: "packet",
        ph: "X",
        pid: 1,
        tid,
        ts: micros(step.at.0),
        dur: Some(micros(next.at.saturating_since(step.at))),
        args: Arguments {
            from: Some(from),
            to: Some(to),
            lane: Some(lane).filter(|lane| !lane.is_empty()),
            ..Arguments::default()
        },
    }
}

/// Returns what a packet does after a step.
fn doing(stage: Stage) -> &'static str {
    match stage {
        Stage::Created { .. } => "waits in",
        Stage::Injected { .. } | Stage::Sent { .. } => "on the link of",
        Stage::Received { .. } => "routed at",
        Stage::Routed { .. } => "waits for the crossbar to",
        Stage::Granted { .. } => "crosses to",
        Stage::Buffered { .. } => "waits for the link of",
        Stage::Delivered { .. } => "delivered to",
    }
}

//! `netloom trace`: follows packets, stage by stage.

mod perfetto;

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use netloom_experiment::{Experiment, Kinds};
use netloom_fabric::{Followed, MOST_FOLLOWED, Options, Stage, Step, Watch};
use netloom_units::Tick;

use super::load::{self, Overrides, Purpose};
use super::output::Output;
use super::table::{Table, nanos, width};
use super::{Exit, interrupt, show};

#[derive(Args)]
#[command(after_help = "Examples:
  netloom trace fat-tree.toml --packet 3:0     # the first packet of NIC 3
  netloom trace fat-tree.toml --slowest 3      # the three slowest packets
  netloom trace fat-tree.toml --slowest 16 --format perfetto > slow.json

Open the last file in ui.perfetto.dev.")]
pub(crate) struct Trace {
    /// Experiment file.
    file: PathBuf,
    /// Packet to follow: its NIC (name or number) and its number there, from 0; may be repeated.
    #[arg(
        long = "packet",
        value_name = "SRC:SEQ",
        value_parser = packet,
        required_unless_present = "slowest"
    )]
    packets: Vec<Named>,
    /// Follow the N packets with the longest time from the creation of their message to delivery,
    /// including the warm-up. Runs the experiment twice: to find them, and to follow them.
    #[arg(long, value_name = "N", conflicts_with = "packets", value_parser = clap::value_parser!(u16).range(1..=MOST_FOLLOWED as i64))]
    slowest: Option<u16>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = TraceFormat::Human)]
    format: TraceFormat,
    #[command(flatten)]
    overrides: Overrides,
}

/// A packet, with its NIC by name or number.
#[derive(Clone)]
struct Named {
    source: String,
    sequence: u32,
}

fn packet(text: &str) -> Result<Named, String> {
    let (source, sequence) = text
        .rsplit_once(':')
        .ok_or("expected SRC:SEQ, such as 3:0")?;
    let wrong = |_| format!("expected the number of a packet after the colon, found {sequence:?}");
    Ok(Named {
        source: source.to_owned(),
        sequence: sequence.parse().map_err(wrong)?,
    })
}

/// Formats of traces.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TraceFormat {
    /// A table for people.
    #[value(alias = "text")]
    Human,
    /// Chrome trace events as JSON, for ui.perfetto.dev and chrome://tracing.
    Perfetto,
}

impl Trace {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let experiment =
            match load::experiment(kinds, &self.file, &self.overrides, Purpose::Run, output)? {
                Ok(experiment) => experiment,
                Err(exit) => return Ok(exit),
            };
        let threads = self.overrides.threads_of_a_run();
        let wanted = match self.slowest {
            Some(n) => slowest(&experiment, usize::from(n), threads),
            None => self.named(&experiment)?,
        };
        let length = experiment.timebase.time(experiment.measure.length.0);
        if wanted.is_empty() {
            bail!("no packet is delivered within {length}");
        }
        let steps = follow(&experiment, &wanted, threads);
        let of = |packet: &Followed| -> Vec<Step> {
            let own = steps.iter().filter(|step| step.packet == *packet);
            own.copied().collect()
        };
        let traces: Vec<Vec<Step>> = wanted.iter().map(of).collect();
        for (packet, trace) in wanted.iter().zip(&traces) {
            let (source, sequence) = (packet.source, packet.sequence);
            if trace.is_empty() {
                bail!("packet {sequence} of {source} is not created within {length}");
            }
            if !is_delivered(trace) {
                let which = match wanted.len() {
                    1 => "the packet".to_owned(),
                    _ => format!("packet {sequence} of {source}"),
                };
                output.say(&format!("{which} is not delivered by the end of the run"));
            }
        }
        output.data(&match self.format {
            TraceFormat::Perfetto => perfetto::document(&experiment, &traces)?,
            TraceFormat::Human => {
                let tables = traces.iter().map(|trace| match traces.len() {
                    1 => self::stage_table(&experiment, trace),
                    _ => format!(
                        "{}\n{}",
                        title(&experiment, trace),
                        self::stage_table(&experiment, trace)
                    ),
                });
                tables.collect::<Vec<_>>().join("\n")
            }
        })?;
        Ok(Exit::Done)
    }

    /// Returns the packets that the command line names.
    fn named(&self, experiment: &Experiment) -> anyhow::Result<Vec<Followed>> {
        if self.packets.len() > MOST_FOLLOWED {
            bail!("at most {MOST_FOLLOWED} packets can be followed at a time");
        }
        let named = |packet: &Named| {
            let source = show::nic(&experiment.fabric.topology, &packet.source)?;
            let sequence = packet.sequence;
            Ok(Followed { source, sequence })
        };
        self.packets.iter().map(named).collect()
    }
}

fn is_delivered(steps: &[Step]) -> bool {
    steps
        .iter()
        .any(|step| matches!(step.stage, Stage::Delivered { .. }))
}

/// Runs epoch by epoch, until the end or until `is_enough`.
fn run(
    experiment: &Experiment,
    watch: Watch,
    threads: usize,
    is_enough: impl Fn(&[Step]) -> bool,
) -> Vec<Step> {
    let options = Options {
        threads,
        watch: Some(watch),
        ..Options::default()
    };
    interrupt::fabric_runs();
    let mut simulation = netloom_fabric::build(&experiment.fabric, options);
    let measure = &experiment.measure;
    let mut now = Tick::ZERO;
    while now < measure.length {
        now = Tick((now.0 + measure.epoch).min(measure.length.0));
        simulation.run_until(now);
        let steps = simulation.steps();
        if is_enough(&steps) {
            return steps;
        }
    }
    simulation.steps()
}

/// Returns the slowest packets, the slowest first.
fn slowest(experiment: &Experiment, n: usize, threads: usize) -> Vec<Followed> {
    let mut steps = run(experiment, Watch::Slowest(n), threads, |_| false);
    steps.sort_by_key(|step| std::cmp::Reverse(step.slowness()));
    steps.iter().take(n).map(|step| step.packet).collect()
}

/// Follows packets until all are delivered.
fn follow(experiment: &Experiment, packets: &[Followed], threads: usize) -> Vec<Step> {
    let watch = Watch::packets(packets.iter().copied());
    run(experiment, watch, threads, |steps| {
        let delivered = steps
            .iter()
            .filter(|step| matches!(step.stage, Stage::Delivered { .. }));
        delivered.count() >= packets.len()
    })
}

/// Formats a packet and its latency.
fn title(experiment: &Experiment, steps: &[Step]) -> String {
    let topology = &experiment.fabric.topology;
    let (first, last) = (&steps[0], &steps[steps.len() - 1]);
    let took = last.at.saturating_since(first.created);
    let took = nanos(experiment.timebase.nanos(took as f64));
    let source = topology.nic_name(first.packet.source);
    let sequence = first.packet.sequence;
    match last.stage {
        Stage::Delivered { nic } => {
            format!("{source}:{sequence} to {}, {took}", topology.nic_name(nic))
        }
        _ => format!("{source}:{sequence}, not delivered after {took}"),
    }
}

fn stage_table(experiment: &Experiment, steps: &[Step]) -> String {
    let nanos = |ticks: u64| format!("{:.3}", experiment.timebase.nanos(ticks as f64));
    let mut table = Table::numbers();
    table.line(["stage", "at (ns)", "after (ns)", "where", ""]);
    let mut before = steps[0].at;
    for step in steps {
        let (stage, place, more) = words(experiment, step.stage);
        table.line([
            stage.to_owned(),
            nanos(step.at.0),
            format!("+{}", nanos(step.at.saturating_since(before))),
            place,
            more,
        ]);
        before = step.at;
    }
    table.text(width())
}

/// Returns the name of a stage, its place, and its lane.
fn words(experiment: &Experiment, stage: Stage) -> (&'static str, String, String) {
    let topology = &experiment.fabric.topology;
    let switch = |id| topology.switch_name(id);
    match stage {
        Stage::Created { nic } => ("created", topology.nic_name(nic), String::new()),
        Stage::Injected { nic, vl } => ("injected", topology.nic_name(nic), vl.to_string()),
        Stage::Received { switch: at, input } => (
            "received",
            format!("{} input {}", switch(at), input.0),
            String::new(),
        ),
        Stage::Routed {
            switch: at,
            output,
            vl,
        } => (
            "routed",
            format!("{} output {}", switch(at), output.0),
            vl.to_string(),
        ),
        Stage::Granted { switch: at, output } => (
            "granted",
            format!("{} output {}", switch(at), output.0),
            String::new(),
        ),
        Stage::Buffered { switch: at, output } => (
            "buffered",
            format!("{} output {}", switch(at), output.0),
            String::new(),
        ),
        Stage::Sent {
            switch: at,
            output,
            vl,
        } => (
            "sent",
            format!("{} output {}", switch(at), output.0),
            vl.to_string(),
        ),
        Stage::Delivered { nic } => ("delivered", topology.nic_name(nic), String::new()),
    }
}

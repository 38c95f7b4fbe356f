//! `netloom trace`: one packet's way, stage by stage.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use netloom_experiment::Experiment;
use netloom_fabric::{Options, Stage, Step, Watch};
use netloom_units::Tick;

use super::load::{self, Overrides, Purpose};
use super::output::Output;
use super::table::Columns;
use super::{Exit, interrupt, route};

#[derive(Args)]
#[command(after_help = "Example:
  netloom trace fat-tree.toml --packet 3:0      the first packet of NIC 3")]
pub(crate) struct Trace {
    /// The experiment.
    file: PathBuf,
    /// Which packet: its NIC (name or number) and its number there, from 0.
    #[arg(long, value_name = "SRC:SEQ")]
    packet: String,
    #[command(flatten)]
    overrides: Overrides,
}

impl Trace {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        let experiment = match load::experiment(&self.file, &self.overrides, Purpose::Run, output)?
        {
            Ok(experiment) => experiment,
            Err(exit) => return Ok(exit),
        };
        let (source, sequence) = self
            .packet
            .rsplit_once(':')
            .context("--packet needs SRC:SEQ, such as 3:0")?;
        let source = route::nic(&experiment.fabric.topology, source)?;
        let sequence = sequence
            .parse()
            .context("the number of a packet counts from 0")?;
        let steps = follow(
            &experiment,
            Watch { source, sequence },
            self.overrides.threads_of_a_run(),
        );
        if steps.is_empty() {
            let length = experiment.timebase.time(experiment.measure.length.0);
            bail!("packet {sequence} of {source} does not appear in {length}");
        }
        let is_delivered = steps
            .iter()
            .any(|step| matches!(step.stage, Stage::Delivered { .. }));
        output.data(&way(&experiment, &steps))?;
        if !is_delivered {
            output.say("the packet is still on its way at the end of the run");
        }
        Ok(Exit::Done)
    }
}

/// Runs until the packet arrives, or to the end.
fn follow(experiment: &Experiment, watch: Watch, threads: usize) -> Vec<Step> {
    let options = Options {
        threads,
        watch: Some(watch),
        ..Options::default()
    };
    interrupt::fabric_runs();
    let mut simulation = netloom_experiment::runner::build(&experiment.fabric, options);
    let measure = &experiment.measure;
    let mut now = Tick::ZERO;
    while now < measure.length {
        now = Tick((now.0 + measure.epoch).min(measure.length.0));
        simulation.run_until(now);
        let steps = simulation.steps();
        if steps
            .iter()
            .any(|step| matches!(step.stage, Stage::Delivered { .. }))
        {
            return steps;
        }
    }
    simulation.steps()
}

fn way(experiment: &Experiment, steps: &[Step]) -> String {
    let topology = &experiment.fabric.topology;
    let nanos = |ticks: u64| format!("{:.3}", experiment.timebase.nanos(ticks as f64));
    let mut table = Columns::numbers();
    table.line(["stage", "at (ns)", "after (ns)", "where", ""]);
    let mut before = steps[0].at;
    for step in steps {
        let switch = |id| topology.switch_name(id);
        let (stage, place, more) = match step.stage {
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
        };
        table.line([
            stage.to_owned(),
            nanos(step.at.0),
            format!("+{}", nanos(step.at.saturating_since(before))),
            place,
            more,
        ]);
        before = step.at;
    }
    table.print()
}

//! `netloom bench`: measures the speed of this machine on fixed fabrics.

use std::time::{Duration, Instant};

use clap::Args;
use netloom_catalog::Disk;
use netloom_experiment::Kinds;
use netloom_experiment::bench::{FABRICS, bench_fabric};
use netloom_experiment::runner::{self, Control, RunOptions};
use netloom_units::Time;
use serde::Serialize;

use super::job::Job;
use super::load::{self, Overrides, Purpose, at_least_one};
use super::output::Output;
use super::progress::{ProgressDisplay, Style};
use super::table::prefixed;
use super::{Exit, Format, interrupt, machine};

/// Fabrics to simulate if none is named.
const DEFAULT: &[&str] = &["ft64", "ft2000", "torus512"];

#[derive(Args)]
pub(crate) struct Bench {
    /// Fabric to simulate [default: ft64, ft2000 and torus512]
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(FABRICS.iter().map(|f| f.0)))]
    fabric: Option<String>,
    /// Simulated time, instead of that of the fabric.
    #[arg(long, value_name = "TIME")]
    until: Option<Time>,
    /// Number of threads that share the partitions.
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least_one)]
    threads: usize,
    /// Number of partitions of the fabric.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    partitions: Option<usize>,
    /// Output format; `json` prints one object per fabric and line.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// How to show progress on stderr.
    #[arg(long, value_enum, default_value_t = Style::Auto)]
    progress: Style,
    /// Share each run among all processes of this MPI job; does not affect results.
    #[arg(long)]
    mpi: bool,
}

/// One measurement.
#[derive(Serialize)]
struct Measured {
    fabric: String,
    hosts: u32,
    events: u64,
    packet_hops: u64,
    /// Over all threads, without set-up.
    cpu_seconds: Option<f64>,
    wall_seconds: f64,
    setup_seconds: f64,
    ns_per_packet_hop: Option<f64>,
    peak_rss_bytes: Option<u64>,
    digest: String,
    threads: usize,
    partitions: usize,
    /// Processes that shared the run. Processor time and memory are sums over them.
    ranks: usize,
}

impl Bench {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        let job = match Job::join(self.mpi, output) {
            Ok(job) => job,
            Err(exit) => return Ok(exit),
        };
        let silent = Output::silent();
        let output = if job.leads() { output } else { &silent };
        let named = self.fabric.as_deref();
        let fabrics = named.map_or(DEFAULT.to_vec(), |fabric| vec![fabric]);
        for fabric in fabrics {
            let text = bench_fabric(fabric).expect("clap knows the fabrics");
            let measured = match self.measure(fabric, text, &job, output) {
                Ok(measured) => measured,
                Err(exit) => return Ok(exit),
            };
            output.piece(&match self.format {
                Format::Json => serde_json::to_string(&measured)?,
                Format::Human => for_people(&measured),
            })?;
        }
        Ok(Exit::Done)
    }

    fn measure(
        &self,
        fabric: &str,
        text: &str,
        job: &Job,
        output: &Output,
    ) -> Result<Measured, Exit> {
        let overrides = Overrides {
            sets: vec![],
            seed: None,
            length: self.until,
            partitions: self.partitions,
            threads: Some(self.threads),
            force: false,
            ranks: job.size(),
            ranks_here: job.size_here(),
        };
        machine::forget_peak_memory();
        let began = Instant::now();
        let loaded = load::load(
            Kinds::built_in(),
            fabric,
            Disk::folder("."),
            text,
            &overrides,
            Purpose::Run,
            output,
        );
        let exit = load::exit_of(&loaded);
        if !job.all(loaded.experiment.is_some()) {
            return Err(exit);
        }
        let experiment = loaded.experiment.ok_or(exit)?;
        job.has_work_for_all(&experiment, output)?;
        let options = RunOptions {
            threads: self.threads,
            tables: false,
            ..RunOptions::default()
        };
        // The clocks start when the fabric is built and stop with its last epoch.
        let mut clocks: Option<[(Instant, Option<Duration>); 2]> = None;
        interrupt::fabric_runs();
        let (mut peak_memory, mut events) = (None, 0);
        let mut display = ProgressDisplay::new(self.progress, output.quiet);
        let result = runner::run_over(&experiment, &options, job.ranks(), &mut |progress| {
            display.update(progress);
            let now = (Instant::now(), netloom_results::cpu_time());
            clocks.get_or_insert([now; 2])[1] = now;
            events = progress.events;
            // The evaluation of the results is not part of the simulation.
            if progress.share() >= 1.0 {
                peak_memory = netloom_results::peak_memory();
            }
            Control::Continue
        });
        display.finish();
        let [start, end] = clocks.expect("called before the first epoch");
        let cpu = end.1.zip(start.1).map(|(end, start)| end - start);
        // If one rank lacks a value, so does the sum.
        let is_known = job.all(cpu.is_some() && peak_memory.is_some());
        let nanos = cpu.unwrap_or_default().as_nanos() as u64;
        let [nanos, peak_of_all] = job.sums([nanos, peak_memory.unwrap_or(0)]);
        let cpu = is_known.then_some(nanos as f64 / 1e9);
        let run = &result.document.run;
        let hops = run.counters.packet_hops;
        Ok(Measured {
            fabric: fabric.to_owned(),
            hosts: experiment.fabric.topology.n_nics(),
            events,
            packet_hops: hops,
            cpu_seconds: cpu,
            wall_seconds: (end.0 - start.0).as_secs_f64(),
            setup_seconds: (start.0 - began).as_secs_f64(),
            ns_per_packet_hop: cpu.filter(|_| hops > 0).map(|cpu| cpu * 1e9 / hops as f64),
            peak_rss_bytes: is_known.then_some(peak_of_all),
            ranks: job.size(),
            digest: run.digest.clone(),
            threads: self.threads,
            partitions: experiment.fabric.n_partitions(),
        })
    }
}

fn for_people(measured: &Measured) -> String {
    let known = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| "?".to_owned(), |value| format!("{value:.digits$}"))
    };
    let memory = measured
        .peak_rss_bytes
        .map(|bytes| bytes as f64 / f64::from(1 << 20));
    format!(
        "  {:<9} {:>6} hosts  {:>7} packet-hops  {:>6} s cpu  {:>6.2} s wall  {:>6.2} s set-up  \
         {:>5} ns/packet-hop  {:>5} MiB  {}",
        measured.fabric,
        measured.hosts,
        prefixed(measured.packet_hops as f64),
        known(measured.cpu_seconds, 2),
        measured.wall_seconds,
        measured.setup_seconds,
        known(measured.ns_per_packet_hop, 1),
        known(memory, 0),
        measured.digest
    )
}

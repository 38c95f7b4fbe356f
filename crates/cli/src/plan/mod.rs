//! `netloom plan`: plans quality of service without simulating.

mod admit;
mod classes;
mod judge;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use netloom_design::infiniband;
use netloom_experiment::Kinds;
use netloom_units::{Bytes, Rate};

use super::Exit;
use super::load::Values;
use super::output::Output;

#[derive(Args)]
#[command(
    after_help = "Plan tables for classes, from the section [plan] of a file (netloom explain plan):
  [plan]
  entries = 8
  [[plan.class]]
  name = \"storage\"
  share = 0.3

Admit a list of connections (source, destination, bandwidth; sl and deadline are optional):
  source,destination,bandwidth,sl,deadline
  n0,n7,64 Mbps,,
  n1,n7,300 Mbps,3,200 us

Examples:
  netloom plan port.toml
  netloom plan port.toml --format toml >> experiment.toml
  netloom plan fabric.toml --admit list.csv
  netloom plan fabric.toml --admit list.csv --mode strict-entries --port s3:2
  netloom plan fabric.toml --admit drawn --reserve 0.3 --seed 7
  netloom plan fabric.toml --admit list.csv --format json | jq .refused"
)]
pub(crate) struct Plan {
    /// File with a section [plan]; with --admit, an experiment with topology, links and routing.
    file: PathBuf,
    /// Reserve bandwidth for the connections of this CSV file, in order, over the paths of the
    /// routing. With `drawn`, draw random connections, in turn for each service level, until no
    /// more fit.
    #[arg(long, value_name = "CSV|drawn")]
    admit: Option<PathBuf>,
    /// Maximum number of drawn connections.
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "admit")]
    target: u32,
    /// Limit of admission at a port.
    #[arg(long, value_enum, default_value_t = Mode::Paper, requires = "admit")]
    mode: Mode,
    /// Placement of new table entries.
    #[arg(long, value_enum, default_value_t = Placement::FirstFree, requires = "admit")]
    placement: Placement,
    /// Share of every link that is reserved for best effort.
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, value_parser = reserve, requires = "admit")]
    reserve: f64,
    /// Judge existing tables: those of an experiment, or those that OpenSM programs into a switch
    /// port for an opensm.conf.
    #[arg(long, conflicts_with = "admit")]
    judge: bool,
    /// With --judge: rate of the link.
    #[arg(
        long,
        value_name = "RATE",
        default_value = "HDR x4",
        requires = "judge"
    )]
    rate: Rate,
    /// With --judge: entries per table of the port.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u8).range(1..=64), requires = "judge")]
    entries: u8,
    /// Largest packet including its header, for waits [default: MTU and header of the file; 4 KiB
    /// with --judge].
    #[arg(long, value_name = "BYTES")]
    packet: Option<Bytes>,
    /// LimitOfHighPriority of all ports, in units of 4096 bytes, 255 for none [default: that of the
    /// file].
    #[arg(long, value_name = "N", requires = "admit")]
    limit: Option<u8>,
    /// Also print the tables of this port, named as in `netloom show switches`: s3:2, or n0 for the
    /// output of a NIC; may be repeated.
    #[arg(long = "port", value_name = "PORT", requires = "admit")]
    ports: Vec<String>,
    /// Exit with code 4 if a connection is refused.
    #[arg(long, requires = "admit")]
    strict: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = PlanFormat::Human)]
    format: PlanFormat,
    #[command(flatten)]
    values: Values,
    /// Plan even if the routing can deadlock.
    #[arg(long)]
    force: bool,
}

fn reserve(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if 0.0 < share && share < 1.0 => Ok(share),
        _ => Err("expected a share above 0 and below 1, such as 0.2".into()),
    }
}

/// Formats of plans.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// A table for people.
    #[value(alias = "text")]
    Human,
    /// JSON for machines.
    Json,
    /// The `[qos]` section of an experiment.
    Toml,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Slots only, as in the paper; a table may then need more than 64 entries.
    Paper,
    /// Slots and the 64 entries of a hardware table.
    StrictEntries,
}

impl From<Mode> for infiniband::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Paper => infiniband::Mode::Paper,
            Mode::StrictEntries => infiniband::Mode::StrictEntries,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Placement {
    /// The first free index.
    FirstFree,
    /// Far from the other entries of the lane, for shorter waits.
    Spread,
}

impl From<Placement> for infiniband::Placement {
    fn from(placement: Placement) -> Self {
        match placement {
            Placement::FirstFree => infiniband::Placement::FirstFree,
            Placement::Spread => infiniband::Placement::Spread,
        }
    }
}

impl Plan {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        if self.judge {
            let port = judge::Port {
                rate: self.rate,
                packet: self.packet.unwrap_or(Bytes(4096)),
                entries: self.entries,
            };
            return judge::run(
                kinds,
                &self.file,
                &self.values.overrides(self.force),
                &port,
                self.format,
                output,
            );
        }
        match &self.admit {
            None if self.packet.is_some() => {
                output.error("--packet requires --admit or --judge");
                Ok(Exit::Usage)
            }
            Some(list) if self.format != PlanFormat::Toml => admit::run(kinds, self, list, output),
            Some(_) => {
                output.error(
                    "--admit supports the formats human and json; a [qos] section holds one table \
                     for all ports",
                );
                Ok(Exit::Usage)
            }
            None => classes::run(
                kinds,
                &self.file,
                &self.values.overrides(self.force),
                self.format,
                output,
            ),
        }
    }
}

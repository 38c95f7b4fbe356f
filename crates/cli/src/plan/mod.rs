//! `netloom plan`: quality of service without simulating.

mod admit;
mod classes;
mod judge;
mod report;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use netloom_design::infiniband;
use netloom_experiment::Kinds;
use netloom_units::{Bytes, Rate};

use super::Exit;
use super::load::Overrides;
use super::output::Output;

#[derive(Args)]
#[command(
    after_help = "Tables for what classes need, from the section [plan] of a file (netloom explain plan):
  [plan]
  entries = 8
  [[plan.class]]
  name = \"storage\"
  share = 0.3

A list of connections (source, destination and bandwidth; sl and deadline if wanted):
  source,destination,bandwidth,sl,deadline
  n0,n7,64 Mbps,,
  n1,n7,300 Mbps,3,200 us

Examples:
  netloom plan port.toml
  netloom plan port.toml --format toml >> experiment.toml
  netloom plan fabric.toml --admit connections.csv
  netloom plan fabric.toml --admit connections.csv --mode strict-entries --port s3:2
  netloom plan fabric.toml --admit drawn --reserve 0.3 --seed 7
  netloom plan fabric.toml --admit connections.csv --format json | jq .refused"
)]
pub(crate) struct Plan {
    /// A file with the section [plan]; with --admit an experiment, of which topology, links and routing are
    /// needed.
    file: PathBuf,
    /// Reserve bandwidth for the connections of this CSV file instead, in order, over the paths of the
    /// routing; or for `drawn` ones: the service levels in turn, ends and bandwidth at random, until one never fits.
    #[arg(long, value_name = "CSV|drawn")]
    admit: Option<PathBuf>,
    /// Draw so many connections at most.
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "admit")]
    target: u32,
    /// What limits admission at a port.
    #[arg(long, value_enum, default_value_t = Mode::Paper, requires = "admit")]
    mode: Mode,
    /// Where new entries of a table go.
    #[arg(long, value_enum, default_value_t = Placement::FirstFree, requires = "admit")]
    placement: Placement,
    /// Part of every link that connections cannot have: best effort keeps it.
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, value_parser = reserve, requires = "admit")]
    reserve: f64,
    /// Judge tables that exist instead: those of an experiment, or what OpenSM makes of an opensm.conf in a switch port.
    #[arg(long, conflicts_with = "admit")]
    judge: bool,
    /// With --judge: the rate of the link.
    #[arg(
        long,
        value_name = "RATE",
        default_value = "HDR x4",
        requires = "judge"
    )]
    rate: Rate,
    /// With --judge: entries that a table of the port holds.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u8).range(1..=64), requires = "judge")]
    entries: u8,
    /// The largest packet, header included, for waits; without it the file's MTU and header, with --judge 4 KiB.
    #[arg(long, value_name = "BYTES")]
    packet: Option<Bytes>,
    /// LimitOfHighPriority of all ports, times 4096 bytes, 255 for none; without it that of the file.
    #[arg(long, value_name = "N", requires = "admit")]
    limit: Option<u8>,
    /// Print the tables of this port as well, named as in `netloom topo show`: s3:2, or n0 for a NIC's
    /// output; may be repeated.
    #[arg(long = "port", value_name = "PORT", requires = "admit")]
    ports: Vec<String>,
    /// End with exit code 4 if a connection is refused.
    #[arg(long, requires = "admit")]
    strict: bool,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = PlanFormat::Human)]
    format: PlanFormat,
    #[command(flatten)]
    overrides: Overrides,
}

fn reserve(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if 0.0 < share && share < 1.0 => Ok(share),
        _ => Err("write a part of a link above 0 and below 1, such as 0.2".into()),
    }
}

/// How a plan is printed.
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
    /// Slots only, as in the paper; a table may then need more entries than there are.
    Paper,
    /// Slots and the 64 entries of a real table.
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
    /// Far from other entries of the lane, for shorter waits.
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
            return judge::run(kinds, &self.file, &self.overrides, &port, output);
        }
        match &self.admit {
            None if self.packet.is_some() => {
                output.error("--packet goes with --admit or --judge");
                Ok(Exit::Usage)
            }
            Some(list) if self.format != PlanFormat::Toml => admit::run(kinds, self, list, output),
            Some(_) => {
                output.error(
                    "--admit prints human or json; a [qos] section holds one table for all ports",
                );
                Ok(Exit::Usage)
            }
            None => classes::run(kinds, &self.file, &self.overrides, self.format, output),
        }
    }
}

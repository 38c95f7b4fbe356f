//! `netloom site emulate`: a real OpenSM on an emulated subnet. The command exists on all systems,
//! but libumad2sim only on Linux.

#[cfg(target_os = "linux")]
mod linux;

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
#[command(after_help = "Examples:
  netloom site emulate nd.txt -o after -- opensm -o -F opensm.conf
  netloom site emulate nd.txt --lanes 8 --entries 8 -- opensm -o -R ftree
  netloom site emulate nd.txt -o after --device hosts:lanes=4,entries=8 \\
      --device leaf0:high=0 -- opensm -o
  netloom site emulate nd.txt -- sh -c 'opensm -o; smpquery vlarb 2 1'

Every node of the file gets a subnet management agent. The program is the real one, with \
libumad2sim preloaded (Debian: packages opensm, libumad2sim0, infiniband-diags). When it exits, \
the folder holds what it programmed: the listing with addresses, opensm-lfts.dump, and SL2VL maps, \
arbitration tables and limits in the format of smpquery. `site verify`, `site lint`, `site import` \
and topology.files read them.")]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(crate) struct Emulate {
    /// Nodes and cables: output of ibnetdiscover, opensm-subnet.lst, or a net file of ibsim.
    file: PathBuf,
    /// Write what was programmed to DIR.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write into an existing folder.
    #[arg(long)]
    overwrite: bool,
    /// Data lanes of each port (VLCap): 1, 2, 4, 8 or 15.
    #[arg(long, default_value_t = 15, value_name = "N")]
    lanes: u8,
    /// Data lanes that ports use before a subnet manager sets OperVLs [default: all].
    #[arg(long, value_name = "N")]
    lanes_at_start: Option<u8>,
    /// Entries of each arbitration table (VLArbHighCap, VLArbLowCap), 1 to 64.
    ///
    /// OpenSM 3.3.23 writes only the first 32 of tables with exactly 64.
    #[arg(long, default_value_t = 32, value_name = "N")]
    entries: u8,
    /// Set `lanes`, `entries` (both tables), `low` or `high` of some devices: `hosts`, `switches`,
    /// `routers`, or a node by name or GUID; may be repeated.
    #[arg(long, value_name = "NODE:KEY=N,…")]
    device: Vec<Exception>,
    /// MTU of each port in bytes: 256, 512, 1024, 2048 or 4096.
    #[arg(long, default_value_t = 4096, value_name = "BYTES")]
    mtu: u16,
    /// Node where the program runs, by name or GUID [default: the first channel adapter].
    #[arg(long, value_name = "NODE")]
    at: Option<String>,
    /// Stop the program after this time. OpenSM can hang instead of exiting on a mistake in its
    /// files.
    #[arg(long = "patience", default_value_t = 600, value_name = "SECONDS")]
    time_limit: u64,
    /// Program that configures the subnet, with its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// A `--device` argument: devices and how they differ from the others.
#[derive(Clone, Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
struct Exception {
    who: String,
    /// 1, 2, 4, 8 or 15.
    lanes: Option<u8>,
    low: Option<u8>,
    high: Option<u8>,
}

impl std::str::FromStr for Exception {
    type Err = String;

    fn from_str(text: &str) -> Result<Exception, String> {
        // Names of switches have colons of their own.
        let (who, keys) = text
            .rsplit_once(':')
            .ok_or("expected a device, a colon and settings, such as hosts:lanes=4,entries=8")?;
        let mut exception = Exception {
            who: who.to_owned(),
            lanes: None,
            low: None,
            high: None,
        };
        for pair in keys.split(',') {
            let (key, number) = pair
                .split_once('=')
                .and_then(|(key, number)| Some((key.trim(), number.trim().parse::<u8>().ok()?)))
                .ok_or_else(|| {
                    format!("expected a key and a number such as lanes=4, found `{pair}`")
                })?;
            let entries = || match number {
                0..=64 => Ok(Some(number)),
                _ => Err(format!("expected at most 64 entries, found {number}")),
            };
            match key {
                "lanes" => {
                    let lanes = Some(number).filter(|n| [1, 2, 4, 8, 15].contains(n));
                    let why = || format!("expected 1, 2, 4, 8 or 15 data lanes, found {number}");
                    exception.lanes = Some(lanes.ok_or_else(why)?);
                }
                "entries" => (exception.low, exception.high) = (entries()?, entries()?),
                "low" => exception.low = entries()?,
                "high" => exception.high = entries()?,
                other => {
                    return Err(format!(
                        "expected lanes, entries, low or high, found `{other}`"
                    ));
                }
            }
        }
        Ok(exception)
    }
}

#[cfg(not(target_os = "linux"))]
impl Emulate {
    pub(super) fn run(&self, _: &crate::output::Output) -> anyhow::Result<crate::Exit> {
        anyhow::bail!("site emulate works on Linux only")
    }
}

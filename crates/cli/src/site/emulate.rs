//! `netloom site emulate`: a real OpenSM on an emulated subnet.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use netloom_infiniband::Site;
use netloom_infiniband::emulate::{Emulator, Lanes, Mtu, Profile, Profiles, library, program};

use super::files::{read_all, understood, write_folder};
use crate::Exit;
use crate::load::tell;
use crate::output::Output;

/// Interval at which the program is polled.
const LOOK_EVERY: Duration = Duration::from_millis(5);

#[derive(Args)]
#[command(after_help = "Examples:
  netloom site emulate nd.txt -o after -- opensm -o -F opensm.conf
  netloom site emulate nd.txt -o after --lanes 8 --entries 8 -- opensm -o -F opensm.conf -R ftree
  netloom site emulate nd.txt -o after --device hosts:lanes=4,entries=8 --device leaf0:high=0 -- \
  opensm -o
  netloom site emulate nd.txt -o after -- sh -c 'opensm -o -F opensm.conf; smpquery vlarb 2 1'

Every node of the file gets a subnet management agent. The program is the real one, with \
libumad2sim preloaded (Debian: packages opensm, libumad2sim0, infiniband-diags). When it exits, \
the folder holds what it programmed: the listing with addresses, opensm-lfts.dump, and SL2VL maps, \
arbitration tables and limits in the format of smpquery. `site verify`, `site lint`, `site import` \
and topology.files read them.")]
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
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    patience: u64,
    /// Program that configures the subnet, with its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// A `--device` argument: devices and how they differ from the others.
#[derive(Clone, Debug)]
struct Exception {
    who: String,
    lanes: Option<Lanes>,
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
                    let lanes = Lanes::from_count(number);
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

impl Exception {
    fn put(&self, profiles: &mut Profiles, site: &Site, starts_low: bool) -> anyhow::Result<()> {
        let change = |profile: &mut Profile| {
            if let Some(lanes) = self.lanes {
                profile.lanes = lanes;
                profile.lanes_at_start = match starts_low {
                    true => profile.lanes_at_start.min(lanes),
                    false => lanes,
                };
            }
            profile.low_cap = self.low.unwrap_or(profile.low_cap);
            profile.high_cap = self.high.unwrap_or(profile.high_cap);
        };
        match self.who.as_str() {
            "hosts" => change(&mut profiles.channel_adapter),
            "switches" => change(&mut profiles.switch),
            "routers" => change(&mut profiles.router),
            name => {
                let is_it = |node: &&netloom_infiniband::Node| {
                    node.description == name || node.guid.to_string() == name
                };
                let found = site.subnet.nodes.iter().find(is_it);
                let node = found.ok_or_else(|| anyhow!("there is no node named `{name}`"))?;
                let mut profile = profiles.of(node.guid, node.kind);
                change(&mut profile);
                profiles.nodes.insert(node.guid, profile);
            }
        }
        Ok(())
    }
}

impl Emulate {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        let (document, notes, site) = understood(read_all(std::slice::from_ref(&self.file))?);
        tell(&document, &notes, output);
        if notes.has_errors() {
            return Ok(Exit::Invalid);
        }
        if let Some(folder) = self
            .output
            .as_ref()
            .filter(|folder| folder.exists() && !self.overwrite)
        {
            bail!(
                "{} already exists; add --overwrite to write into it",
                folder.display()
            );
        }
        let library = library().ok_or_else(|| {
            anyhow!(
                "cannot find libumad2sim, which connects programs to the subnet (Debian: \
                package libumad2sim0)"
            )
        })?;
        let name = format!("netloom{}", std::process::id());
        let emulator = Emulator::start(&site.subnet, &self.profiles(&site)?, &name)?;
        let status = self.configure(&emulator, library)?;
        let (subnet, programmed) = (emulator.subnet(), emulator.programmed());
        let n_answered = emulator.counters().n_answered();
        emulator.stop();
        let site = Site::new(subnet, programmed);
        output.say(&format!(
            "the emulated subnet answered {n_answered} packets of {} for {} switches and {} NICs",
            self.command[0],
            site.switches.len(),
            site.nics.len(),
        ));
        if let Some(folder) = &self.output {
            let written = write_folder(folder, &site)?;
            output.say(&format!(
                "wrote {}: {}",
                folder.display(),
                written.join(", ")
            ));
        }
        if !status.success() {
            bail!("{} exited with {status}", self.command[0]);
        }
        Ok(Exit::Done)
    }

    /// Runs the program until it exits.
    fn configure(&self, emulator: &Emulator, library: &Path) -> anyhow::Result<ExitStatus> {
        let name = &self.command[0];
        let found = program(name).ok_or_else(|| {
            anyhow!("cannot find {name} (Debian: packages opensm and infiniband-diags)")
        })?;
        let mut command = Command::new(found);
        command.args(&self.command[1..]);
        // stdout is for data of netloom.
        command.stdout(std::io::stderr());
        // Without these variables, OpenSM would overwrite the dumps of the system's OpenSM.
        let scratch = std::env::temp_dir().join(format!("{}-files", emulator.name()));
        let unset = ["OSM_TMP_DIR", "OSM_CACHE_DIR"]
            .into_iter()
            .filter(|variable| std::env::var_os(variable).is_none());
        let unset: Vec<&str> = unset.collect();
        if !unset.is_empty() {
            // It must be new, because it is removed at the end.
            std::fs::create_dir(&scratch)
                .with_context(|| format!("cannot create {}", scratch.display()))?;
        }
        for variable in &unset {
            command.env(variable, &scratch);
        }
        match &self.at {
            Some(node) => emulator.attach_at(node, library, &mut command),
            None => emulator.attach(library, &mut command),
        }
        let running = command
            .spawn()
            .with_context(|| format!("cannot run {name}"));
        let status = running.and_then(|running| self.wait(running));
        if !unset.is_empty() {
            let _ = std::fs::remove_dir_all(&scratch);
        }
        status
    }

    /// Waits for the program, and stops it after the time limit.
    fn wait(&self, mut running: Child) -> anyhow::Result<ExitStatus> {
        let until = Instant::now() + Duration::from_secs(self.patience);
        loop {
            if let Some(status) = running.try_wait()? {
                return Ok(status);
            }
            if Instant::now() >= until {
                running.kill()?;
                running.wait()?;
                bail!(
                    "{} did not exit within {} s and was stopped",
                    self.command[0],
                    self.patience
                );
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn profiles(&self, site: &Site) -> anyhow::Result<Profiles> {
        let lanes = |n: u8| {
            Lanes::from_count(n)
                .ok_or_else(|| anyhow!("expected 1, 2, 4, 8 or 15 data lanes, found {n}"))
        };
        if !(1..=64).contains(&self.entries) {
            bail!("expected 1 to 64 entries, found {}", self.entries);
        }
        let mtu = Mtu::from_bytes(self.mtu);
        let usual = Profile {
            lanes: lanes(self.lanes)?,
            lanes_at_start: lanes(self.lanes_at_start.unwrap_or(self.lanes))?,
            high_cap: self.entries,
            low_cap: self.entries,
            mtu: mtu.ok_or_else(|| {
                anyhow!(
                    "expected an MTU of 256, 512, 1024, 2048 or 4096 bytes, found {}",
                    self.mtu
                )
            })?,
        };
        let mut profiles = Profiles::all(usual);
        for exception in &self.device {
            exception.put(&mut profiles, site, self.lanes_at_start.is_some())?;
        }
        Ok(profiles)
    }
}

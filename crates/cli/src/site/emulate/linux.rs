//! Runs a program on an emulated subnet, through libumad2sim.

use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use netloom_experiment::huge_pages;
use netloom_infiniband::Site;
use netloom_infiniband::emulate::{Emulator, Lanes, Mtu, Profile, Profiles, library, program};

use super::super::files::{read_all, understood, write_folder};
use super::{Emulate, Exception};
use crate::Exit;
use crate::load::tell;
use crate::output::Output;

/// Interval at which the program is polled.
const LOOK_EVERY: Duration = Duration::from_millis(5);

impl Exception {
    fn put(&self, profiles: &mut Profiles, site: &Site, starts_low: bool) -> anyhow::Result<()> {
        let change = |profile: &mut Profile| {
            if let Some(lanes) = self.lanes.and_then(Lanes::from_count) {
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
    pub(in crate::site) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
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
        huge_pages::switch_on();
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
        let until = Instant::now() + Duration::from_secs(self.time_limit);
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
                    self.time_limit
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

//! An emulated subnet that real programs attach to: OpenSM, smpquery, ibnetdiscover.
//!
//! ```text
//!  opensm ─ libumad2sim ─┐ datagrams                          ┌─ Device: NodeInfo, PortInfo, tables of ports
//!  smpquery ─────────────┼──────────► server ─► exchange ─► agent
//!  ibnetdiscover ────────┘  (threads)   (bytes, no sockets)   └─ Device: …, SwitchInfo, forwarding
//! ```
//!
//! Every node of a [`Subnet`] gets a subnet management agent. The programs are the distribution's own, with the library
//! libumad2sim (of ibsim) loaded before them, which carries their packets over sockets instead of a device. So what
//! a manager would program into a machine is known before there is one, with all lanes and entries that the standard
//! allows, where ibsim has eight of each and forgets VLHighLimit.
//!
//! | emulated | left out |
//! |---|---|
//! | NodeDescription, NodeInfo, SwitchInfo, GUIDInfo, PortInfo, MLNXExtendedPortInfo, P_Key, SLtoVL, VLArb, LFT, MFT | other attributes: status 0x0c |
//! | directed packets, packets by address through the LFTs, both in one | multicast, traps, M_Keys, performance counters |
//! | managers answer SMInfo and SA, several at once | SA answers longer than one datagram: libumad2sim has none |
//! | links go down and up as a manager asks | time: nothing takes any |
//! | speeds to NDR, and FDR10 | XDR reads as NDR |
//!
//! Learned from the behaviour of libumad2sim 0.10; layouts are those of the InfiniBand Architecture Specification, volume 1,
//! chapter 14. Linux only, as the library is.

mod agent;
mod counters;
mod datagram;
mod device;
mod exchange;
mod extended_port_info;
mod fabric;
mod field;
mod forwarding;
mod link_codes;
mod mad;
mod node_info;
mod port_info;
mod port_tables;
mod profile;
mod programmed;
mod server;
mod switch_info;

#[cfg(test)]
mod nonsense;

use std::fmt;
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::{Programmed, Subnet};

pub use agent::Attribute;
pub use counters::{Counters, Method};
pub use profile::{Lanes, Mtu, Profile, Profiles};

use exchange::Exchange;
use fabric::Fabric;
use server::Server;

/// Where distributions put the library that programs attach by: Debian (package libumad2sim0) and Fedora (libumad2sim).
const LIBRARIES: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so",
    "/usr/lib/aarch64-linux-gnu/umad2sim/libumad2sim.so",
    "/usr/lib64/umad2sim/libumad2sim.so",
    "/usr/lib/umad2sim/libumad2sim.so",
];

/// The library that programs attach by, if it is installed.
pub fn library() -> Option<&'static Path> {
    let mut paths = LIBRARIES.iter().map(Path::new);
    paths.find(|path| path.exists())
}

/// Why an emulator does not start.
#[derive(Debug)]
pub enum StartError {
    /// The subnet or a profile cannot be emulated, and why.
    Subnet(String),
    /// The sockets cannot be had. `AddrInUse`: another server has the name.
    Socket(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Subnet(why) => f.write_str(why),
            StartError::Socket(error) => write!(f, "the sockets of the emulator: {error}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::Subnet(_) => None,
            StartError::Socket(error) => Some(error),
        }
    }
}

/// A subnet at work, in threads of its own, until [`Emulator::stop`] or until it is dropped.
pub struct Emulator {
    name: String,
    subnet: Subnet,
    server: Arc<Server>,
}

impl Emulator {
    /// Starts an agent for every node. Ports have the addresses of the subnet, if it gives any, and nothing else that
    /// a manager writes. Programs find the emulator by `name`, which no other on the machine may have.
    pub fn start(subnet: &Subnet, profiles: &Profiles, name: &str) -> Result<Emulator, StartError> {
        let fabric = Fabric::new(subnet, profiles).map_err(StartError::Subnet)?;
        let server = Server::start(name, Exchange::new(fabric)).map_err(StartError::Socket)?;
        Ok(Emulator {
            name: name.to_owned(),
            subnet: subnet.clone(),
            server,
        })
    }

    /// The name that programs find it by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lets a program attach: sets its environment. `library` is that of [`library`]. A program writes `sys-<process>`
    /// into its current directory and removes it when it ends in peace.
    pub fn attach(&self, library: &Path, command: &mut Command) {
        command
            .env("LD_PRELOAD", library)
            .env("IBSIM_SOCKNAME", &self.name)
            .env_remove("IBSIM_SERVER_NAME")
            .env_remove("IBSIM_SERVER_PORT");
    }

    /// Lets a program attach at a node: by its description, or its GUID as `0x` and digits. Otherwise it is at the
    /// first channel adapter.
    pub fn attach_at(&self, node: &str, library: &Path, command: &mut Command) {
        self.attach(library, command);
        command.env("SIM_HOST", node);
    }

    /// What the ports and switches hold now.
    pub fn programmed(&self) -> Programmed {
        programmed::programmed(&self.server.exchange().fabric)
    }

    /// The subnet with the addresses that its ports have now.
    pub fn subnet(&self) -> Subnet {
        programmed::addressed(&self.server.exchange().fabric, &self.subnet)
    }

    /// What has passed until now.
    pub fn counters(&self) -> Counters {
        self.server.exchange().counters.clone()
    }

    /// How many programs are attached.
    pub fn n_clients(&self) -> usize {
        self.server.exchange().n_clients()
    }

    /// Loses every n-th packet to an agent from now on, or none. The program that sent it is told that nobody answered,
    /// as after all retries of a real device.
    pub fn lose_every(&self, n: Option<NonZeroU64>) {
        self.server.exchange().lose_every = n;
    }

    /// Stops it. Programs that are still attached wait for ever.
    pub fn stop(self) {}
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.server.stop();
    }
}

impl fmt::Debug for Emulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.subnet.nodes.len();
        write!(f, "Emulator({}, {nodes} nodes)", self.name)
    }
}

/// Where a program of the InfiniBand tools is, which distributions put where not every user looks.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/bin".into()]);
    let mut files = folders.map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

//! An emulated subnet that real programs attach to: OpenSM, smpquery, ibnetdiscover.
//!
//! ```text
//!  opensm ─ libumad2sim ─┐ datagrams                          ┌─ Device: NodeInfo, PortInfo, tables of ports
//!  smpquery ─────────────┼──────────► server ─► exchange ─► agent
//!  ibnetdiscover ────────┘  (threads)   (bytes, no sockets)   └─ Device: …, SwitchInfo, forwarding
//! ```
//!
//! Every node of a [`Subnet`] gets a subnet management agent. The programs are those of the
//! distribution. The preloaded library libumad2sim (of ibsim) sends their packets over sockets
//! instead of a device. This shows what a manager would program before the hardware exists. Devices
//! can have all lanes and entries of the standard, while ibsim has eight of each and does not store
//! VLHighLimit.
//!
//! | emulated | not emulated |
//! |---|---|
//! | NodeDescription, NodeInfo, SwitchInfo, GUIDInfo, PortInfo, MLNXExtendedPortInfo, P_Key, SLtoVL, VLArb, LFT, MFT | other attributes: status 0x0c |
//! | packets by directed route, by LID, or both | multicast, traps, M_Keys, performance counters |
//! | several managers at once, answering SMInfo and SA | SA answers longer than one datagram |
//! | links that a manager takes down and up | time: every operation is instant |
//! | speeds up to NDR, and FDR10 | XDR, which reads as NDR |
//!
//! The protocol follows the behaviour of libumad2sim 0.10. Layouts are those of the InfiniBand
//! Architecture Specification, volume 1, chapter 14. The library, and so this module, is Linux
//! only.

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

/// Paths of the preloaded library on Debian (package libumad2sim0) and Fedora (libumad2sim).
const LIBRARIES: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so",
    "/usr/lib/aarch64-linux-gnu/umad2sim/libumad2sim.so",
    "/usr/lib64/umad2sim/libumad2sim.so",
    "/usr/lib/umad2sim/libumad2sim.so",
];

/// Returns the path of libumad2sim, if it is installed.
pub fn library() -> Option<&'static Path> {
    let mut paths = LIBRARIES.iter().map(Path::new);
    paths.find(|path| path.exists())
}

/// The reason why an emulator does not start.
#[derive(Debug)]
pub enum StartError {
    /// The subnet or a profile cannot be emulated, with the reason.
    Subnet(String),
    /// The sockets cannot be opened. `AddrInUse` means that another server has this name.
    Socket(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Subnet(why) => f.write_str(why),
            StartError::Socket(error) => write!(f, "cannot open the emulator's sockets: {error}"),
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

/// An emulated subnet that runs in its own threads until [`Emulator::stop`] or drop.
pub struct Emulator {
    name: String,
    subnet: Subnet,
    server: Arc<Server>,
}

impl Emulator {
    /// Starts an agent for every node. Ports have the addresses of the subnet, if any, but nothing
    /// else that a manager writes. Programs find the emulator by `name`, which must be unique on
    /// the machine.
    pub fn start(subnet: &Subnet, profiles: &Profiles, name: &str) -> Result<Emulator, StartError> {
        let fabric = Fabric::new(subnet, profiles).map_err(StartError::Subnet)?;
        let server = Server::start(name, Exchange::new(fabric)).map_err(StartError::Socket)?;
        Ok(Emulator {
            name: name.to_owned(),
            subnet: subnet.clone(),
            server,
        })
    }

    /// Returns the name by which programs find the emulator.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the environment of a program so that it attaches. `library` is the result of
    /// [`library`]. A program writes `sys-<process>` to its current directory, and removes it on a
    /// regular exit.
    pub fn attach(&self, library: &Path, command: &mut Command) {
        command
            .env("LD_PRELOAD", library)
            .env("IBSIM_SOCKNAME", &self.name)
            .env_remove("IBSIM_SERVER_NAME")
            .env_remove("IBSIM_SERVER_PORT");
    }

    /// Sets the environment of a program so that it attaches at a node, given by its description or
    /// GUID (`0x` and digits). The default is the first channel adapter.
    pub fn attach_at(&self, node: &str, library: &Path, command: &mut Command) {
        self.attach(library, command);
        command.env("SIM_HOST", node);
    }

    /// Returns what is programmed in the ports and switches now.
    pub fn programmed(&self) -> Programmed {
        programmed::programmed(&self.server.exchange().fabric)
    }

    /// Returns the subnet with the current addresses of its ports.
    pub fn subnet(&self) -> Subnet {
        programmed::addressed(&self.server.exchange().fabric, &self.subnet)
    }

    /// Returns the packet counters.
    pub fn counters(&self) -> Counters {
        self.server.exchange().counters.clone()
    }

    /// Returns the number of attached programs.
    pub fn n_clients(&self) -> usize {
        self.server.exchange().n_clients()
    }

    /// Drops every n-th packet to an agent from now on, or no packets. The sender gets a timeout,
    /// as after all retries of a real device.
    pub fn lose_every(&self, n: Option<NonZeroU64>) {
        self.server.exchange().lose_every = n;
    }

    /// Stops the emulator. Programs that are still attached wait forever.
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

/// Returns the path of an InfiniBand tool, from `PATH` and from the system directories.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/bin".into()]);
    let mut files = folders.map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

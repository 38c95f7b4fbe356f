//! `[switch]`: the kinds of switch, and the kinds of their parts.
//!
//! ```text
//!  crossbar.rs (cioq, iq)   hierarchical.rs   tiled.rs (stash.rs)
//!     │  queues.rs   allocators.rs   pipeline.rs   buffer.rs   speedup.rs
//!     └──────► SwitchSpec ──► machine.rs ──► netloom_fabric::SwitchPlan
//! ```

mod allocators;
mod buffer;
mod crossbar;
mod hierarchical;
mod pipeline;
mod queues;
mod speedup;
mod stash;
mod tiled;

use netloom_catalog::{Kind, kind};
use netloom_fabric::{Allocation, CrossbarStart, InputPorts, Pipeline, QueueScheme};
use netloom_routing::deadlock::Centre;
use netloom_units::Time;

pub use allocators::{ALLOCATORS, Allocating};
pub use buffer::{Buffer, Pool};
pub(crate) use crossbar::NOT_INPUT_QUEUED;
pub use crossbar::{Cioq, InputQueued};
pub use hierarchical::{Hierarchical, HierarchySpec};
pub use pipeline::Stages;
pub use queues::{QUEUES, Queueing};
pub use stash::{STASHES, StashKind, StashSpec, Stashing};
pub(crate) use tiled::LEAST_BUFFER;
pub use tiled::{Cycles, Errors, TiledSpec, TiledSwitch};

/// A switch as given in the file.
#[derive(Clone, Debug)]
pub struct SwitchSpec {
    /// Blocks between inputs and outputs.
    pub architecture: ArchitectureSpec,
    /// Period of its clock; `None` for the flit time of the links.
    pub clock: Option<Time>,
    /// Flits per cycle over each crossbar port, as a fraction.
    pub speedup: (u32, u32),
    /// When a crossbar that is faster than the arriving flits starts a packet.
    pub start: CrossbarStart,
    /// Crossbar ports of an input.
    pub input_ports: InputPorts,
    /// How an input is divided into queues.
    pub queues: QueueScheme,
    /// Which packets cross next.
    pub allocation: Allocation,
    /// Latencies of its stages.
    pub pipeline: Pipeline,
    /// The input buffer of a port.
    pub input_buffer: Buffer,
    /// The output buffer of a port.
    pub output_buffer: Buffer,
}

/// The blocks between inputs and outputs as given in the file.
#[derive(Clone, Debug)]
pub enum ArchitectureSpec {
    /// Buffers at inputs and outputs.
    Cioq,
    /// Buffers at inputs only.
    InputQueued,
    /// Groups of ports around a central crossbar.
    Hierarchical(HierarchySpec),
    /// Rows and columns of small crossbars.
    Tiled(Box<TiledSpec>),
}

impl SwitchSpec {
    /// Returns whether packets wait in output buffers for an arbiter.
    pub(crate) fn has_output_buffers(&self) -> bool {
        matches!(
            self.architecture,
            ArchitectureSpec::Cioq | ArchitectureSpec::Hierarchical(_)
        )
    }

    /// Returns the central part that inputs share, if any.
    pub(crate) fn centre(&self, radix: u16) -> Option<Centre> {
        match &self.architecture {
            ArchitectureSpec::Hierarchical(hierarchy) => Some(hierarchy.centre),
            ArchitectureSpec::Tiled(tiled) => {
                // If the ports do not divide evenly, which is noted later, the last column has
                // fewer.
                let ports = tiled.ports.unwrap_or(radix).max(radix);
                let outputs = ports.div_ceil(tiled.columns).max(1);
                Some(Centre::of_tiles(tiled.columns, outputs))
            }
            _ => None,
        }
    }

    /// Returns whether the switch is input-queued, without output buffers.
    pub(crate) fn is_input_queued(&self) -> bool {
        matches!(self.architecture, ArchitectureSpec::InputQueued)
    }
}

/// A kind of switch.
#[warn(missing_docs)]
pub trait SwitchModel: Send + Sync {
    /// Returns its parts.
    fn spec(&self) -> SwitchSpec;
}

/// All kinds of switch.
pub const SWITCHES: &[Kind<dyn SwitchModel>] = &[
    kind!(Cioq, dyn SwitchModel),
    kind!(InputQueued, dyn SwitchModel),
    kind!(Hierarchical, dyn SwitchModel),
    kind!(TiledSwitch, dyn SwitchModel),
];

//! Compares the memory that a run needs with the available memory, before anything large is built.

use netloom_topology::Blueprint;

use super::Request;
use super::cost::bytes_in_words;
use super::diagnostics::{Diagnostics, grouped};
use crate::available_memory;

/// Bytes of a process that simulates almost nothing.
const BASE: f64 = 12e6;
/// Measured memory divided by counted state: packets, events and spare capacity of vectors.
const BEYOND_STATE: f64 = 1.5;
/// Bytes per port that every process of a run has: cables, paths, gathered results. Measured on
/// trees of 8,000 and 65,536 hosts with 1, 2 and 4 ranks.
const WHOLE_PORT: f64 = 50.0;
/// Additional bytes of a process in a run of several: OpenMPI 4.1.4 with shared memory.
const MPI: u64 = 12_000_000;
/// Bytes of a message that waits at a NIC.
const MESSAGE: f64 = 48.0;

/// Bytes per port to check a fabric: cable, paths, part of the deadlock proof.
const LOOKED_AT: u64 = 16;
/// Bytes per port to simulate a fabric: a lower bound over all kinds of switch.
const SIMULATED: u64 = 400;

/// The available memory and its use.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    available: Option<u64>,
    will_run: bool,
    ranks: usize,
}

impl Memory {
    pub(crate) fn of(request: &Request<'_>) -> Memory {
        Memory {
            available: request.memory.or_else(available_memory),
            will_run: request.will_run,
            ranks: request.ranks,
        }
    }

    /// The same for a fabric that is only examined.
    pub(crate) fn without_run(request: &Request<'_>) -> Memory {
        Memory {
            will_run: false,
            ..Memory::of(request)
        }
    }
}

/// What a run holds in memory at its peak.
#[derive(Clone, Copy)]
pub(crate) struct Holdings {
    /// Bytes of switches and NICs.
    pub(crate) state: u64,
    /// Messages that wait at NICs.
    pub(crate) waiting: f64,
    /// Bytes of tables.
    pub(crate) tables: f64,
    /// Ports of all switches.
    pub(crate) ports: u64,
}

impl Holdings {
    pub(crate) fn bytes(&self) -> u64 {
        let state = self.state as f64 * BEYOND_STATE;
        (BASE + state + self.waiting * MESSAGE + self.tables) as u64
    }

    /// Returns the bytes that the processes of a run divide among them. Each process has all of the
    /// rest. Only the first process has tables; on its machine, the others leave space for them.
    pub(crate) fn divided_bytes(&self) -> u64 {
        let state = self.state as f64 * BEYOND_STATE - self.ports as f64 * WHOLE_PORT;
        (state.max(0.0) + self.waiting * MESSAGE + self.tables) as u64
    }

    /// Returns the bytes of one of `ranks` processes.
    fn bytes_of_a_rank(&self, ranks: usize) -> u64 {
        let divided = self.divided_bytes();
        whole_bytes(self.bytes(), divided, ranks) + divided / ranks.max(1) as u64
    }

    /// Returns the key whose value needs the most memory.
    fn path(&self) -> &'static str {
        let parts = [
            (self.state as f64 * BEYOND_STATE, "topology.kind"),
            (self.waiting * MESSAGE, "traffic"),
            (self.tables, "measure.repeat"),
        ];
        let most = parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        most.map_or("topology.kind", |(_, path)| path)
    }
}

/// Returns the bytes that each of `ranks` processes has undivided.
pub(super) fn whole_bytes(all: u64, divided: u64, ranks: usize) -> u64 {
    let mpi = if ranks > 1 { MPI } else { 0 };
    all - divided + mpi
}

impl Diagnostics<'_> {
    /// Returns whether a fabric fits into memory, judged by its number of ports alone.
    pub(crate) fn memory_for_ports(&mut self, blueprint: &dyn Blueprint) -> bool {
        let Some(n_ports) = blueprint.n_ports() else {
            return true;
        };
        let per_port = match self.memory.will_run {
            true => (SIMULATED / self.memory.ranks.max(1) as u64).max(LOOKED_AT),
            false => LOOKED_AT,
        };
        let what = format!("a fabric of {} ports", grouped(n_ports));
        let needed = n_ports.saturating_mul(per_port);
        self.fits(needed, &what, "at least", "topology.kind", true)
    }

    /// Returns whether a run fits. Notes an error if it is going to run, and a warning otherwise.
    pub(crate) fn memory_for_run(&mut self, holdings: &Holdings) -> bool {
        let ranks = self.memory.ranks;
        let (needed, path) = (holdings.bytes_of_a_rank(ranks), holdings.path());
        let is_error = self.memory.will_run;
        let what = match ranks {
            1 => "the experiment",
            _ => "a rank of the experiment",
        };
        self.fits(needed, what, "about", path, is_error)
    }

    fn fits(&mut self, needed: u64, what: &str, how: &str, path: &str, is_error: bool) -> bool {
        let Some(available) = self.memory.available.filter(|there| needed > *there) else {
            return true;
        };
        let message = format!("{what} needs {how} {} of memory", bytes_in_words(needed));
        let place = self.places.of(path);
        let is_refused = is_error && !self.is_forced;
        let note = match is_refused {
            true => self.notes.error("E0704", place, message),
            false => self.notes.warning("W0705", place, message),
        };
        note.label(format!("{} available", bytes_in_words(available)));
        note.help(match is_refused {
            true => "use a smaller fabric or a machine with more memory; --force runs it anyway",
            false => "use a machine with more memory: `netloom run` refuses it on this one",
        });
        !is_refused
    }
}

//! The concept: a description from which a fabric is built.

use std::sync::Arc;

use netloom_catalog::{Files, Kind, Section, kind};

use crate::{
    Dragonfly, FatTree, Graph, Hypercube, Megafly, Mesh, ParallelFatTree, RandomRegular,
    SingleSwitch, Topology, Torus,
};

/// A description of a fabric, as a file gives it.
#[warn(missing_docs)]
pub trait Blueprint: Send + Sync {
    /// Builds the fabric. Random fabrics are drawn from the seed; others ignore it.
    fn build(&self, seed: u64) -> Result<Topology, String>;
    /// Returns the number of NICs without building, if the description is sound.
    fn n_nics(&self) -> Option<u64>;
    /// Returns the number of switch ports, unused ones included, without building. `None` if the
    /// description is not sound or does not determine it.
    fn n_ports(&self) -> Option<u64>;
    /// Whether cables or their ports are drawn from the seed.
    fn is_random(&self) -> bool {
        false
    }
    /// Says where the files are that it names; until then, names are relative to the current
    /// directory.
    fn read_from(&mut self, _files: &Arc<dyn Files>) {}
}

/// All kinds of topology of this crate.
pub const KINDS: &[Kind<dyn Blueprint>] = &[
    kind!(FatTree, dyn Blueprint),
    kind!(ParallelFatTree, dyn Blueprint),
    kind!(Mesh, dyn Blueprint),
    kind!(Torus, dyn Blueprint),
    kind!(Hypercube, dyn Blueprint),
    kind!(Dragonfly, dyn Blueprint),
    kind!(Megafly, dyn Blueprint),
    kind!(SingleSwitch, dyn Blueprint),
    kind!(Graph, dyn Blueprint),
    kind!(RandomRegular, dyn Blueprint),
];

/// Mistakes in the parameters of a kind: a key and a message each.
pub(crate) type Problems = Vec<(&'static str, String)>;

/// Notes mistakes at the values they concern.
pub(crate) fn note(problems: Problems, section: &mut Section<'_>) {
    for (key, message) in problems {
        let place = section.place_of(key);
        section.notes.error("E0200", place, message);
    }
}

/// Combines mistakes into one error, for descriptions that do not come from a file.
pub(crate) fn refuse(problems: Problems) -> Result<(), String> {
    if problems.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = problems
        .into_iter()
        .map(|(k, m)| format!("`{k}`: {m}"))
        .collect();
    Err(lines.join("; "))
}

/// Maximum number of ports of a fabric; 2^27 ports take a gigabyte.
pub(crate) const MAX_PORTS: u64 = 1 << 27;

/// Returns a mistake if the fabric has too many ports.
pub(crate) fn too_large(key: &'static str, n_switches: Option<u64>, n_ports: u64) -> Problems {
    if n_ports > u64::from(u16::MAX) {
        return vec![(
            key,
            format!("expected at most 65535 ports per switch, found {n_ports}"),
        )];
    }
    match n_switches.and_then(|n| n.checked_mul(n_ports)) {
        Some(n) if n <= MAX_PORTS => vec![],
        _ => vec![(
            key,
            format!("expected at most {MAX_PORTS} switch ports in total"),
        )],
    }
}

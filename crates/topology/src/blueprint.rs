//! The concept: a description of a fabric that can be built.

use netloom_catalog::{Kind, Section, kind};

use crate::{
    Dragonfly, FatTree, Graph, Hypercube, InfiniBand, Megafly, Mesh, ParallelFatTree,
    RandomRegular, SingleSwitch, Topology, Torus,
};

/// A description of a fabric, as a file gives it.
pub trait Blueprint: Send + Sync {
    /// Builds the fabric. Random ones are drawn from the seed; the others ignore it.
    fn build(&self, seed: u64) -> Result<Topology, String>;
    /// Number of NICs without building, if the description is sound.
    fn n_nics(&self) -> Option<u64>;
    /// Ports of all switches without building, unused ones included, if the description is sound and tells.
    fn n_ports(&self) -> Option<u64>;
    /// Whether cables or their ports are drawn from the seed.
    fn is_random(&self) -> bool {
        false
    }
}

/// All kinds of topology.
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
    kind!(InfiniBand, dyn Blueprint),
    kind!(RandomRegular, dyn Blueprint),
];

/// What is wrong with the parameters of a kind: a key and a sentence each.
pub(crate) type Problems = Vec<(&'static str, String)>;

/// Notes problems at the values they are about.
pub(crate) fn note(problems: Problems, section: &mut Section<'_>) {
    for (key, message) in problems {
        let place = section.place_of(key);
        section.notes.error("E0200", place, message);
    }
}

/// The same problems as one error, for descriptions that did not come from a file.
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

/// The largest fabric built: 2^27 ports take a gigabyte.
pub(crate) const MAX_PORTS: u64 = 1 << 27;

/// Refuses fabrics too large to hold.
pub(crate) fn too_large(key: &'static str, n_switches: Option<u64>, n_ports: u64) -> Problems {
    if n_ports > u64::from(u16::MAX) {
        return vec![(
            key,
            format!("a switch of {n_ports} ports; 65535 is the most"),
        )];
    }
    match n_switches.and_then(|n| n.checked_mul(n_ports)) {
        Some(n) if n <= MAX_PORTS => vec![],
        _ => vec![(key, format!("more than {MAX_PORTS} switch ports in all"))],
    }
}

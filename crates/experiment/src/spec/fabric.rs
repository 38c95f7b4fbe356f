//! The stage that builds the fabric.

use std::sync::Arc;

use netloom_fabric::LARGEST_RADIX;
use netloom_topology::{Structure, Topology, measures};
use netloom_units::Rate;

use super::diagnostics::{Diagnostics, counted};
use super::failures::{self, Numbered};
use super::link::LinkSpec;
use super::topology::TopologySpec;

/// Builds the topology.
pub(super) fn build(
    spec: &TopologySpec,
    failures: &[Numbered],
    seed: u64,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Arc<Topology>> {
    if !diagnostics.memory_for_ports(&*spec.blueprint) {
        return None;
    }
    diagnostics.work.begins("building the fabric");
    let place = diagnostics.places.of("topology.kind");
    let topology = match spec.blueprint.build(seed) {
        Ok(topology) => topology,
        Err(problem) => {
            diagnostics.notes.error("E0201", place, problem);
            return None;
        }
    };
    diagnostics.goes_on()?;
    let radix = topology.radix();
    if radix > LARGEST_RADIX {
        diagnostics
            .notes
            .error("E0202", place, format!("the switches have {radix} ports"))
            .help(format!("use at most {LARGEST_RADIX} ports per switch"));
        return None;
    }
    if topology.n_nics() < 2 {
        diagnostics
            .notes
            .error(
                "E0203",
                place,
                format!("expected at least two NICs, found {}", topology.n_nics()),
            )
            .help("add hosts: traffic goes from one NIC to another");
        return None;
    }
    let (topology, lost) = failures::apply(failures, topology, seed, diagnostics)?;
    let lost = lost.or_else(|| failures::lost_of_tree(&topology));
    diagnostics.goes_on()?;
    diagnostics.work.begins("measuring the fabric");
    let measures = measures(&topology);
    let structure = match topology.structure() {
        tree @ Structure::Tree(own) if own.is_k_ary_n_tree() && own.levels() > 1 => tree.words(),
        Structure::Plain | Structure::Tree(_) if spec.kind != "pgft" => spec.kind.clone(),
        regular => regular.words(),
    };
    diagnostics.fact(
        "fabric",
        format!(
            "{structure}, {}, {} of up to {}, {}, diameter {}",
            counted(measures.nics, "host", "hosts"),
            counted(measures.switches, "switch", "switches"),
            counted(measures.radix, "port", "ports"),
            counted(measures.cables, "cable", "cables"),
            counted(measures.diameter, "link", "links"),
        ),
    );
    if let Some(lost) = lost {
        diagnostics.fact("failures", lost);
    }
    Some(Arc::new(topology))
}

/// States the capacity of the cables, by level and between halves.
pub(super) fn carries(link: &LinkSpec, topology: &Topology, diagnostics: &mut Diagnostics<'_>) {
    let rates = link.of_classes(topology).into_iter();
    let rates: Vec<Rate> = rates.map(|(rate, _)| rate).collect();
    let capacity = netloom_topology::capacity(topology, &rates);
    for (word, sentence) in capacity.iter().flat_map(|capacity| capacity.facts()) {
        diagnostics.fact(word, sentence);
    }
}

//! Checks that NICs can run the programs of ranks, and states what they send.

use std::sync::Arc;

use netloom_packet::{Program, Source};
use netloom_units::NicId;

use crate::spec::{ClassSpec, Diagnostics, Workloads, grouped};

/// Returns the classes that are programs.
fn programs<'a>(
    classes: &'a [ClassSpec],
    sources: &'a [Arc<dyn Source>],
) -> impl Iterator<Item = (&'a ClassSpec, &'a dyn Program)> {
    let both = classes.iter().zip(sources);
    both.filter_map(|(spec, source)| source.program().map(|program| (spec, program)))
}

fn place_of(spec: &ClassSpec, diagnostics: &Diagnostics<'_>) -> netloom_catalog::Place {
    diagnostics
        .places
        .of(&format!("traffic.{}.workload", spec.table))
}

/// Checks that no NIC has two programs.
pub(crate) fn one_per_nic(
    classes: &[ClassSpec],
    sources: &[Arc<dyn Source>],
    workloads: &Workloads,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let mut owners: Vec<Option<&ClassSpec>> = vec![None; workloads.n_nics as usize];
    let mut is_good = true;
    let exclusive = |(_, program): &(&ClassSpec, &dyn Program)| !program.shares_nics();
    for (spec, program) in programs(classes, sources).filter(exclusive) {
        let mut shared: Vec<(NicId, &ClassSpec)> = vec![];
        let nics = (0..workloads.n_nics).map(NicId);
        for nic in nics.filter(|nic| program.may_run_on(*nic)) {
            match owners[nic.index()] {
                None => owners[nic.index()] = Some(spec),
                Some(other) => shared.push((nic, other)),
            }
        }
        if let Some(&(nic, other)) = shared.first() {
            let (here, there) = (place_of(spec, diagnostics), place_of(other, diagnostics));
            let message = match shared.len() {
                1 => format!("{nic} runs two programs"),
                n => format!("{nic} and {} others run two programs", n - 1),
            };
            // If NICs are drawn, another seed may give a NIC two programs although this one does
            // not.
            diagnostics
                .notes
                .error("E0614", here, message)
                .also(there, "the other one")
                .help("give each job its own group in [groups], and name it in `nics`");
            is_good = false;
        }
    }
    is_good
}

/// States what every program sends, and returns the packets of all of them.
pub(crate) fn facts(
    classes: &[ClassSpec],
    sources: &[Arc<dyn Source>],
    workloads: &Workloads,
    diagnostics: &mut Diagnostics<'_>,
) -> u64 {
    let mut in_all: u64 = 0;
    for (spec, program) in programs(classes, sources) {
        let mtu = workloads.segmentation.of(spec.class.sl).mtu;
        let nics = (0..workloads.n_nics).map(NicId);
        let ranks = nics.filter(|nic| program.op(*nic, 0).is_some()).count() as u64;
        let messages = program.sum(&|_| 1);
        let sum = program.sum(&u64::from);
        let packets =
            program.sum(&|bytes| mtu.map_or(1, |mtu| u64::from(bytes).div_ceil(mtu.0).max(1)));
        in_all = packets.saturating_add(in_all);
        diagnostics.fact(
            "program",
            format!(
                "{}: {} ranks, {} messages in {} packets, {:.3} MB",
                spec.class.name,
                grouped(ranks),
                grouped(messages),
                grouped(packets),
                sum as f64 / 1e6,
            ),
        );
    }
    in_all
}

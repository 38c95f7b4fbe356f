//! The ranks of a class's program: their NICs, and their computing times.

use netloom_catalog::{Section, params};
use netloom_units::Time;

use crate::Setting;
use crate::programs::{ComputeLaw, Computing, Mapping, Placed};

params! {
    /// The ranks of a class whose workload is a program.
    #[derive(Clone, Debug, Default)]
    pub struct Ranks {
        /// For programs: assignment of ranks to NICs. Default: "in-order".
        pub mapping: Option<Mapping> = None,
        /// For programs: mean time that a rank computes between a receive and its next send.
        /// Default: none.
        pub compute: Option<Time> = None,
        /// Variation of computing around `compute`. Default: "constant".
        pub compute_law: Option<ComputeLaw> = None,
    }
    check |it, section| {
        if it.compute.is_none() && let Some(law) = section.raw("compute-law") {
            section
                .notes
                .error("E0604", law.place, "`compute-law` needs `compute`")
                .help("add compute = … (time), the mean computing time of a rank");
        }
    }
}

impl Ranks {
    /// Applies these settings to the programs of a run.
    pub(crate) fn settle(&self, placed: Placed, setting: &Setting<'_>) -> Placed {
        let mapping = self.mapping.unwrap_or(Mapping::InOrder);
        let placed = placed.mapped(mapping, setting.seed, setting.class);
        match self.compute {
            None => placed,
            Some(mean) => {
                let law = self.compute_law.unwrap_or(ComputeLaw::Constant);
                let mean = (setting.cycles)(mean);
                placed.computing(Computing::new(mean, law, setting.seed, setting.class))
            }
        }
    }
}

/// Notes keys about ranks with a workload that has no ranks.
pub(crate) fn refuse_ranks(section: &mut Section<'_>) {
    let workload = section.raw("workload").map(|workload| workload.place);
    for key in ["mapping", "compute", "compute-law"] {
        if let Some(value) = section.raw(key) {
            let message = format!("`{key}` applies only to programs of ranks");
            let note = section.notes.error("E0604", value.place, message);
            if let Some(workload) = workload {
                note.also(workload, "lists its messages before the run");
            }
            note.help("remove it, or use a program such as \"minife\" or \"all-reduce\"");
        }
    }
}

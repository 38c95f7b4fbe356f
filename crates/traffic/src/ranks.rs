//! What a class says about the ranks of its program: where they run, and how long they compute.

use netloom_catalog::{Section, params};
use netloom_units::Time;

use crate::Setting;
use crate::programs::{ComputeLaw, Computing, Mapping, Placed};

params! {
    /// What a class of a program says about its ranks.
    #[derive(Clone, Debug, Default)]
    pub struct Ranks {
        /// Of a program: how its ranks are put on its NICs; left out: "in-order".
        pub mapping: Option<Mapping> = None,
        /// Of a program: how long a rank computes between what it waited for and what it sends next, on average; left out: not at all.
        pub compute: Option<Time> = None,
        /// How computing varies around `compute`; left out: "constant".
        pub compute_law: Option<ComputeLaw> = None,
    }
    check |it, section| {
        if it.compute.is_none() && let Some(law) = section.raw("compute-law") {
            section
                .notes
                .error("E0604", law.place, "`compute-law` without `compute`")
                .help("add compute = … (time), the mean of what a rank computes");
        }
    }
}

impl Ranks {
    /// The programs of a run with what is said here.
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

/// Notes what is said about ranks beside a workload that has none.
pub(crate) fn refuse_ranks(section: &mut Section<'_>) {
    let workload = section.raw("workload").map(|workload| workload.place);
    for key in ["mapping", "compute", "compute-law"] {
        if let Some(value) = section.raw(key) {
            let message = format!("`{key}` is for programs of ranks");
            let note = section.notes.error("E0604", value.place, message);
            if let Some(workload) = workload {
                note.also(workload, "lists its messages before the run");
            }
            note.help("programs are workloads such as \"minife\" or \"all-reduce\"");
        }
    }
}

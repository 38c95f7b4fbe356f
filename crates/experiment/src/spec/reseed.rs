//! Builds an experiment for another seed.

use std::sync::Arc;

use netloom_catalog::{Files, Notes};
use netloom_fabric::SwitchPlan;
use netloom_packet::{SlSegmentation, Source};
use netloom_routing::Routing;
use netloom_topology::Blueprint;
use netloom_traffic::{Class, GroupMembers, Groups, Setting, Workload};
use netloom_units::{Time, Timebase};

use super::admitted::Admission;
use crate::Experiment;

/// The data needed to build an experiment for another seed.
pub(crate) struct Reseed {
    pub(crate) blueprint: Arc<dyn Blueprint>,
    /// Whether cables are drawn at random.
    pub(crate) is_random_wiring: bool,
    pub(crate) routing: Arc<dyn Routing>,
    pub(crate) workloads: Workloads,
    /// Admission of connections, if there are any.
    pub(crate) admission: Option<Admission>,
}

/// The classes, with the context needed to build them.
#[derive(Clone)]
pub(crate) struct Workloads {
    pub(crate) classes: Vec<Class>,
    pub(crate) segmentation: SlSegmentation,
    pub(crate) timebase: Timebase,
    /// Ticks of a cycle of a NIC.
    pub(crate) cycle: u64,
    pub(crate) n_nics: u32,
    pub(crate) groups: Groups,
    pub(crate) files: Arc<dyn Files>,
}

/// The latest time of a workload, in seconds.
const LATEST: u64 = 100;

impl Workloads {
    /// Draws the members of all groups for a seed.
    ///
    /// # Panics
    /// Panics if they cannot be drawn, which does not depend on the seed and is checked earlier
    /// (`check::groups`).
    pub(crate) fn drawn(&self, seed: u64) -> GroupMembers {
        let drawn = self.groups.draw(self.n_nics, seed);
        drawn.expect("groups fit the fabric for every seed")
    }

    /// Builds one class for a seed.
    pub(crate) fn build(
        &self,
        class: usize,
        seed: u64,
        notes: &mut Notes,
    ) -> Option<Arc<dyn Source>> {
        self.with_setting(class, seed, |own, setting| own.build(setting, notes))
            .map(Arc::from)
    }

    /// Returns the class with its files read and its load known (see [`Class::settle`]).
    pub(crate) fn settle(&self, class: usize, seed: u64, notes: &mut Notes) -> Option<Class> {
        self.with_setting(class, seed, |own, setting| own.settle(setting, notes))
    }

    /// Returns the bytes of the largest message of a settled class; `None` if a file lists
    /// messages.
    pub(crate) fn largest(&self, class: usize, seed: u64) -> Option<u32> {
        self.with_setting(class, seed, Class::largest_message)
    }

    fn with_setting<T>(
        &self,
        class: usize,
        seed: u64,
        act: impl FnOnce(&Class, &Setting<'_>) -> T,
    ) -> T {
        let latest = Time::from_nanos(1_000_000_000) * LATEST;
        let cycles = |time: Time| {
            let ticks = self
                .timebase
                .tick_at(super::timing::tame(time.min(latest)))
                .0;
            ticks.div_ceil(self.cycle)
        };
        let groups = self.drawn(seed);
        let setting = Setting {
            segmentation: self.segmentation,
            n_nics: self.n_nics,
            groups: &groups,
            seed,
            class: u8::try_from(class).expect("fewer than 256 classes"),
            cycles: &cycles,
            files: &*self.files,
        };
        act(&self.classes[class], &setting)
    }
}

impl Reseed {
    /// Repeats all random draws for a seed. The error states why this seed cannot be built.
    pub(crate) fn apply(&self, seed: u64, experiment: &mut Experiment) -> Result<(), String> {
        let plan = &mut experiment.fabric;
        if self.is_random_wiring {
            let n_partitions = plan.n_partitions();
            plan.topology = Arc::new(self.blueprint.build(seed)?);
            plan.partitions = plan.topology.partitions(n_partitions);
        }
        if self.is_random_wiring || plan.forwarding.needs_occasion() {
            let forwarding = self.routing.compile(&plan.topology, seed)?;
            let forwarding = match plan.switch.centre() {
                Some(_) => forwarding.for_shared_buffers(),
                None => forwarding,
            };
            plan.forwarding = Arc::new(forwarding);
        }
        if let SwitchPlan::Tiled(tiled) = &mut plan.switch {
            tiled.faults.seed = seed;
        }
        plan.channels.reseed(seed);
        let n_drawn = self.workloads.classes.len();
        for (at, class) in plan.classes[..n_drawn].iter_mut().enumerate() {
            // A list of messages is the same for every seed.
            if !matches!(self.workloads.classes[at].workload, Workload::Listed(_)) {
                let mut notes = Notes::new();
                let source = self.workloads.build(at, seed, &mut notes);
                class.source = source.ok_or_else(|| {
                    let messages = notes.iter().map(|note| note.message.as_str());
                    messages.collect::<Vec<_>>().join("; ")
                })?;
            }
        }
        if let (Some(admission), Some(set)) = (&self.admission, &mut experiment.connections) {
            let admitted = admission.make(&plan.topology, &plan.forwarding, seed);
            let admitted = admitted.map_err(|obstacle| obstacle.to_string())?;
            let classes = &mut plan.classes[admission.first_class..];
            for (class, source) in classes.iter_mut().zip(admitted.sources) {
                class.source = source;
            }
            plan.connections = admitted.plans.into();
            plan.own_policies = admitted.policies;
            set.connections = admitted.infos.into();
        }
        Ok(())
    }
}

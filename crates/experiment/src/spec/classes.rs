//! The stage that builds the classes of traffic.

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_fabric::ClassPlan;
use netloom_packet::{Cursor, SlSegmentation, Source};
use netloom_traffic::Class;
use netloom_units::{NicId, Sl};

use super::admitted::{CLASS_NAMES, Requests};
use super::connections::ConnectionsSpec;
use super::cost;
use super::diagnostics::Diagnostics;
use super::link::LinkSpec;
use super::qos::QosSpec;
use super::reseed::Workloads;
use super::traffic::ClassSpec;
use crate::check;
use crate::experiment::ClassInfo;

/// Classes ready to run, with their sources.
pub(crate) struct Classes {
    pub(crate) workloads: Workloads,
    sources: Vec<Arc<dyn Source>>,
    /// By class: service levels with the largest message in bytes.
    pub(crate) levels: Vec<BTreeMap<u8, u32>>,
    /// SHA-256 of the messages of every class that lists them.
    pub(super) inputs: Vec<String>,
    /// Packets of all programs.
    pub(super) program_packets: u64,
}

impl Classes {
    /// Returns the levels of data with their largest messages, by class, including connections.
    pub(crate) fn of_data(&self) -> impl Iterator<Item = (&u8, &u32)> {
        let management = self
            .workloads
            .classes
            .iter()
            .map(|class| class.is_management);
        let management = management.chain(std::iter::repeat(false));
        let levels = self.levels.iter().zip(management);
        levels.filter(|(_, is)| !is).flat_map(|(levels, _)| levels)
    }

    /// Returns the largest message of subnet management, if there is any.
    pub(crate) fn largest_of_management(&self) -> Option<u32> {
        let classes = self.workloads.classes.iter().zip(&self.levels);
        let management = classes.filter(|(class, _)| class.is_management);
        management
            .flat_map(|(_, levels)| levels.values().copied())
            .max()
    }

    /// Appends the requested classes of connections to those of the file.
    pub(super) fn add_connections(
        &mut self,
        spec: &ConnectionsSpec,
        asked: &Requests,
        input: Option<String>,
        listed: &[ClassSpec],
        diagnostics: &mut Diagnostics<'_>,
    ) {
        check::connections::names(listed, &asked.sls(), diagnostics);
        let payload = u32::try_from(spec.packet.0).unwrap_or(u32::MAX);
        let levels = asked.sls().into_iter();
        self.levels
            .extend(levels.map(|sl| BTreeMap::from([(sl, payload)])));
        self.inputs.extend(input);
        check::traffic::rows(&self.levels, diagnostics);
    }

    /// Returns the classes of the file, for results and for the fabric.
    pub(super) fn described(&self, n_nics: u32, seed: u64) -> (Vec<ClassInfo>, Vec<ClassPlan>) {
        let drawn = self.workloads.drawn(seed);
        let info = |class: &Class| ClassInfo {
            name: class.name.clone(),
            sl: class.sl,
            load: cost::load_over_all(class, n_nics, &drawn),
        };
        let classes = &self.workloads.classes;
        let mut plans = Vec::with_capacity(classes.len());
        for ((source, class), levels) in self.sources.iter().zip(classes).zip(&self.levels) {
            plans.push(ClassPlan {
                name: class.name.clone(),
                sl: class.sl,
                sls: levels.keys().map(|&sl| Sl(sl)).collect(),
                source: source.clone(),
            });
        }
        (classes.iter().map(info).collect(), plans)
    }
}

/// Returns how messages are cut into packets, by service level.
pub(super) fn segmentation(
    link: &LinkSpec,
    qos: Option<&QosSpec>,
    diagnostics: &mut Diagnostics<'_>,
) -> SlSegmentation {
    let values = qos.and_then(|qos| qos.values.as_ref());
    let own = values.and_then(|values| values.sl_mtu.as_ref());
    let own = own.map_or(&[][..], |mtus| &mtus.0[..]);
    check::transfer_unit::by_level(link.segmentation, own, diagnostics)
}

/// Returns the service levels that carry data, one bit each.
pub(super) fn used_levels(classes: Option<&Classes>) -> u32 {
    let levels = classes.into_iter().flat_map(Classes::of_data);
    levels.fold(0, |mask, (&sl, _)| mask | 1 << (sl & 31))
}

/// Returns the class of connections of one service level.
pub(super) fn of_connections(sl: u8, source: Arc<dyn Source>, load: f64) -> (ClassInfo, ClassPlan) {
    let (name, sl) = (CLASS_NAMES[usize::from(sl)].to_owned(), Sl(sl));
    let info = ClassInfo {
        name: name.clone(),
        sl,
        load: Some(load),
    };
    let plan = ClassPlan {
        name,
        sl,
        sls: vec![sl],
        source,
    };
    (info, plan)
}

/// Builds the classes for the first seed.
pub(super) fn build(
    specs: &[ClassSpec],
    mut workloads: Workloads,
    seed: u64,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Classes> {
    if !check::traffic::count(specs, diagnostics) {
        return None;
    }
    let holds = check::groups::hold_for_every_seed(specs, &workloads.groups, diagnostics);
    let settled: Vec<_> = (0..specs.len())
        .map(|at| workloads.settle(at, seed, diagnostics.notes))
        .collect();
    diagnostics.goes_on()?;
    let built: Vec<_> = settled
        .iter()
        .enumerate()
        .map(|(at, settled)| {
            workloads.classes[at] = settled.clone()?;
            diagnostics.goes_on()?;
            workloads.build(at, seed, diagnostics.notes)
        })
        .collect();
    let sources: Vec<Arc<dyn Source>> = built.into_iter().collect::<Option<_>>()?;
    let contents = workloads.classes.iter().filter_map(|class| class.content());
    let mut inputs: Vec<String> = contents
        .map(|content| netloom_results::sha256(&content))
        .collect();
    let levels: Vec<BTreeMap<u8, u32>> = workloads
        .classes
        .iter()
        .zip(&sources)
        .enumerate()
        .map(|(at, (class, source))| match workloads.largest(at, seed) {
            Some(largest) => BTreeMap::from([(class.sl.0, largest)]),
            None => {
                let (levels, messages) = listed(&**source, class.sl, workloads.n_nics);
                inputs.push(netloom_results::sha256(&messages));
                levels
            }
        })
        .collect();
    let is_good = check::traffic::levels(specs, &levels, diagnostics)
        & check::programs::one_per_nic(specs, &sources, &workloads, diagnostics);
    let program_packets = check::programs::facts(specs, &sources, &workloads, diagnostics);
    (is_good && holds).then_some(Classes {
        workloads,
        sources,
        levels,
        inputs,
        program_packets,
    })
}

/// Returns the service levels of a list of messages, each with its largest message, and the
/// messages as text.
fn listed(source: &dyn Source, own: Sl, n_nics: u32) -> (BTreeMap<u8, u32>, String) {
    let mut levels = BTreeMap::new();
    let mut messages = String::new();
    for nic in (0..n_nics).map(NicId) {
        let mut cursor = Cursor::default();
        while let Some(message) = source.next(nic, &mut cursor) {
            let sl = message.sl.unwrap_or(own.0);
            let largest = levels.entry(sl).or_insert(0);
            *largest = message.bytes.max(*largest);
            let (cycle, to, bytes) = (message.cycle, message.destination, message.bytes);
            messages.push_str(&format!("{cycle} {nic} {to} {bytes} {sl}\n"));
        }
    }
    if levels.is_empty() {
        levels.insert(own.0, 0);
    }
    (levels, messages)
}

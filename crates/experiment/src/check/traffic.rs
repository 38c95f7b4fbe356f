//! Checks of traffic: names, service levels, and loads beyond the rate of a link.

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_catalog::{Notes, no_name};
use netloom_packet::{Cursor, Source};
use netloom_traffic::Workload;
use netloom_units::NicId;

use crate::spec::{ClassSpec, Diagnostics, Workloads};

/// Limit on the rows of results, which are counted in a byte.
const MOST_ROWS: usize = 255;

/// Any seed: the load of NICs does not depend on which of them are drawn.
const SEED: u64 = 1;

/// Checks that classes have distinct names that results can use.
pub(crate) fn names(classes: &[ClassSpec], diagnostics: &mut Diagnostics<'_>) {
    for (at, spec) in classes.iter().enumerate() {
        let name = &spec.class.name;
        if let Some(why) = no_name(name) {
            let place = diagnostics
                .places
                .of(&format!("traffic.{}.name", spec.table));
            let message = format!("a class of traffic cannot have the name {name:?}: {why}");
            diagnostics
                .notes
                .error("E0108", place, message)
                .help("use visible characters only, beginning with a letter or digit");
        }
        let Some(first) = classes[..at].iter().find(|other| other.class.name == *name) else {
            continue;
        };
        let place = |spec: &ClassSpec| {
            diagnostics
                .places
                .of(&format!("traffic.{}.name", spec.table))
        };
        let (here, there) = (place(spec), place(first));
        diagnostics
            .notes
            .error(
                "E0608",
                here,
                format!("two classes of traffic have the name `{name}`"),
            )
            .also(there, "the other one")
            .help("use different names: results identify classes by name");
    }
}

/// Checks the number of classes.
pub(crate) fn count(classes: &[ClassSpec], diagnostics: &mut Diagnostics<'_>) -> bool {
    if classes.len() <= MOST_ROWS {
        return true;
    }
    let place = diagnostics.places.of("traffic");
    diagnostics
        .notes
        .error(
            "E0607",
            place,
            format!(
                "expected at most {MOST_ROWS} classes of traffic, found {}",
                classes.len()
            ),
        )
        .help(format!(
            "use at most {MOST_ROWS} pairs of a class and a service level"
        ));
    false
}

/// Checks that service levels exist, and the number of their rows.
pub(crate) fn levels(
    classes: &[ClassSpec],
    levels: &[BTreeMap<u8, u32>],
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let mut is_good = true;
    for (spec, levels) in classes.iter().zip(levels) {
        if let Some(&sl) = levels.keys().find(|sl| **sl > 15) {
            let key = match spec.class.workload {
                Workload::Drawn(_) | Workload::Generated(_) => "sl",
                Workload::Listed(_) => "flows",
            };
            let place = diagnostics
                .places
                .of(&format!("traffic.{}.{key}", spec.table));
            diagnostics
                .notes
                .error(
                    "E0406",
                    place,
                    format!("SL{sl} exceeds the 16 service levels of a switch"),
                )
                .help("use SL0 to SL15");
            is_good = false;
        }
    }
    rows(levels, diagnostics) && is_good
}

/// Checks the number of pairs of a class and a service level.
pub(crate) fn rows(levels: &[BTreeMap<u8, u32>], diagnostics: &mut Diagnostics<'_>) -> bool {
    let rows: usize = levels.iter().map(BTreeMap::len).sum();
    if rows <= MOST_ROWS {
        return true;
    }
    let place = diagnostics.places.of("traffic");
    diagnostics
        .notes
        .error(
            "E0607",
            place,
            format!(
                "expected at most {MOST_ROWS} pairs of a class and a service level, found {rows}"
            ),
        )
        .help("use fewer classes, or fewer service levels per class");
    false
}

/// Returns the load of all classes at each NIC, as a fraction of its link.
fn loads_by_nic(workloads: &Workloads, sends: impl Fn(usize, NicId) -> bool) -> Vec<f64> {
    let mut loads = vec![0.0f64; workloads.n_nics as usize];
    let groups = workloads.drawn(SEED);
    for (class, own) in workloads.classes.iter().enumerate() {
        if let Workload::Drawn(law) = &own.workload
            && let Ok(sources) = law.sources.members(workloads.n_nics, &groups)
        {
            let senders = sources.iter().filter(|nic| sends(class, **nic));
            senders.for_each(|nic| loads[nic.index()] += law.load);
        }
    }
    loads
}

/// Warns of a source with more load than its link carries.
pub(crate) fn loads(
    classes: &[ClassSpec],
    workloads: &Workloads,
    diagnostics: &mut Diagnostics<'_>,
) {
    let largest = |loads: &[f64]| loads.iter().copied().fold(0.0, f64::max);
    // Shares of a load may not add up to it exactly.
    let is_too_much = |load: f64| load > 1.0 + 1e-9;
    let asked = loads_by_nic(workloads, |_, _| true);
    if !is_too_much(largest(&asked)) {
        return;
    }
    // A pattern may skip sources (listed pairs do): only those that ever send count.
    let sources: Vec<_> = (0..classes.len())
        .map(|class| workloads.build(class, SEED, &mut Notes::new()))
        .collect();
    let sends = |class: usize, nic: NicId| {
        let source: Option<&Arc<dyn Source>> = sources[class].as_ref();
        source.is_none_or(|source| source.next(nic, &mut Cursor::default()).is_some())
    };
    let loads = loads_by_nic(workloads, sends);
    let most = largest(&loads);
    if !is_too_much(most) {
        return;
    }
    let busiest = loads.iter().position(|load| *load == most).unwrap_or(0);
    let mut tables: Vec<usize> = classes.iter().map(|spec| spec.table).collect();
    tables.dedup();
    let mut places = tables
        .iter()
        .filter_map(|table| diagnostics.places.written(&format!("traffic.{table}.load")));
    let first = places.next().unwrap_or(diagnostics.places.of("traffic"));
    let others: Vec<_> = places.collect();
    let note = diagnostics.notes.warning(
        "W0609",
        first,
        format!("the classes of NIC {busiest} have a total load of {most:.2} of its link"),
    );
    others.into_iter().for_each(|place| {
        note.also(place, "");
    });
    note.help(
        "lower the loads to 1 in total: otherwise the queues at the source, and latency, grow \
         without bound",
    );
}

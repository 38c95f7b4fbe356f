//! Traffic: names, service levels, and more load than a link carries.

use std::collections::BTreeMap;

use netloom_traffic::Workload;

use crate::spec::{ClassSpec, Desk, Workloads};

/// Rows of results are counted in a byte.
const MOST_ROWS: usize = 255;

/// Whether no two classes have the same name.
pub(crate) fn names(classes: &[ClassSpec], desk: &mut Desk<'_>) {
    for (at, spec) in classes.iter().enumerate() {
        let name = &spec.class.name;
        let Some(first) = classes[..at].iter().find(|other| other.class.name == *name) else {
            continue;
        };
        let place = |spec: &ClassSpec| desk.places.of(&format!("traffic.{}.name", spec.table));
        let (here, there) = (place(spec), place(first));
        desk.notes
            .error(
                "E0608",
                here,
                format!("two classes of traffic are called `{name}`"),
            )
            .also(there, "the other one")
            .help("results go by these names: give them different ones");
    }
}

/// Whether classes can be counted.
pub(crate) fn count(classes: &[ClassSpec], desk: &mut Desk<'_>) -> bool {
    if classes.len() <= MOST_ROWS {
        return true;
    }
    let place = desk.places.of("traffic");
    desk.notes
        .error(
            "E0607",
            place,
            format!("{} classes of traffic", classes.len()),
        )
        .help(format!(
            "there are at most {MOST_ROWS}, each service level of a class counted"
        ));
    false
}

/// Whether service levels exist, and their rows can be counted.
pub(crate) fn levels(
    classes: &[ClassSpec],
    levels: &[BTreeMap<u8, u32>],
    desk: &mut Desk<'_>,
) -> bool {
    let mut is_good = true;
    for (spec, levels) in classes.iter().zip(levels) {
        if let Some(&sl) = levels.keys().find(|sl| **sl > 15) {
            let key = match spec.class.workload {
                Workload::Drawn(_) => "sl",
                Workload::Listed(_) => "flows",
            };
            let place = desk.places.of(&format!("traffic.{}.{key}", spec.table));
            desk.notes
                .error(
                    "E0406",
                    place,
                    format!("SL{sl} is beyond the 16 service levels of a switch"),
                )
                .help("use SL0 to SL15");
            is_good = false;
        }
    }
    let rows: usize = levels.iter().map(BTreeMap::len).sum();
    if rows > MOST_ROWS {
        let place = desk.places.of("traffic");
        desk.notes
            .error(
                "E0607",
                place,
                format!("{rows} pairs of a class and a service level"),
            )
            .help(format!("there are at most {MOST_ROWS}"));
        is_good = false;
    }
    is_good
}

/// Whether a source is asked for more than its link carries.
pub(crate) fn loads(classes: &[ClassSpec], workloads: &Workloads, desk: &mut Desk<'_>) {
    let mut loads = vec![0.0f64; workloads.n_nics as usize];
    for spec in classes {
        if let Workload::Drawn(law) = &spec.class.workload
            && let Ok(sources) = law.sources.members(workloads.n_nics)
        {
            sources
                .iter()
                .for_each(|nic| loads[nic.index()] += law.load);
        }
    }
    let most = loads.iter().copied().fold(0.0, f64::max);
    // Shares of a load need not add up to it exactly.
    if most <= 1.0 + 1e-9 {
        return;
    }
    let busiest = loads.iter().position(|load| *load == most).unwrap_or(0);
    let mut tables: Vec<usize> = classes.iter().map(|spec| spec.table).collect();
    tables.dedup();
    let mut places = tables
        .iter()
        .filter_map(|table| desk.places.written(&format!("traffic.{table}.load")));
    let first = places.next().unwrap_or(desk.places.of("traffic"));
    let others: Vec<_> = places.collect();
    let note = desk.notes.warning(
        "W0609",
        first,
        format!("the classes of NIC {busiest} ask for {most:.2} of its link"),
    );
    others.into_iter().for_each(|place| {
        note.also(place, "");
    });
    note.help(
        "queues at the source grow without end, and so does latency; lower the loads to 1 in all",
    );
}

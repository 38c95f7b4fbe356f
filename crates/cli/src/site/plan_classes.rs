//! The classes that environments are compared with: those of `[plan]`, or the lanes of a real site.

use std::path::Path;

use anyhow::{anyhow, bail};
use netloom_arbitration::VlArbitrationTable;
use netloom_catalog::{Document, Place, ValueShape};
use netloom_design::plan::{self, Plan};
use netloom_experiment::Kinds;
use netloom_experiment::spec::Wiring;
use netloom_settings::{Class, Classes};

use crate::load::{self, Overrides};
use crate::output::Output;

/// The classes of a file, and its text for messages.
pub(super) struct Planned {
    pub(super) classes: Classes,
    pub(super) document: Document,
}

impl Planned {
    /// Returns the place of a class in the file.
    pub(super) fn place(&self, class: usize) -> Place {
        let plan = self.document.root.get("plan");
        let classes = plan.and_then(|plan| plan.get("class"));
        match classes.map(|classes| &classes.shape) {
            Some(ValueShape::List(items)) => items.get(class).map(|item| item.place),
            _ => None,
        }
        .unwrap_or_default()
    }
}

/// Plans the classes of a file, with its text. Prints the errors of the file and returns `None` if
/// it has any. Every class of `lossy` must be in the plan.
pub(super) fn plan_of(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    lossy: &[String],
    output: &Output,
) -> anyhow::Result<Option<(Plan, Document)>> {
    let mut opened = load::open(kinds, file, overrides)?;
    let request = netloom_experiment::spec::read_plan(
        &opened.document,
        &load::named_by(file),
        &mut opened.notes,
    );
    load::tell(&opened.document, &opened.notes, output);
    let Some(request) = request.filter(|_| !opened.notes.has_errors()) else {
        return Ok(None);
    };
    let planned = plan::plan(&request).map_err(|_| {
        anyhow!(
            "the plan cannot be met; run `netloom plan {}` for the reasons",
            file.display()
        )
    })?;
    if let Some(unknown) = lossy
        .iter()
        .find(|name| request.classes.iter().all(|class| class.name != **name))
    {
        bail!("there is no class named `{unknown}` in the plan");
    }
    Ok(Some((planned, opened.document)))
}

/// Reads the classes of a file with `[plan]`. Prints its errors and returns `None` if it has any.
pub(super) fn of_plan(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    lossy: &[String],
    output: &Output,
) -> anyhow::Result<Option<Planned>> {
    let Some((planned, document)) = plan_of(kinds, file, overrides, lossy, output)? else {
        return Ok(None);
    };
    let class = |(own, class): (&plan::PlannedClass, &plan::Class)| Class {
        name: class.name.clone(),
        level: own.sl.0,
        lane: own.vl.0,
        share: format!("{:.2} %", own.share_given * 100.0),
        wait: match own.worst_wait {
            Some(wait) => format!("at most {}", plan::rounded(wait)),
            None => "without bound".to_owned(),
        },
        is_high: own.table == "high",
        has_deadline: own.deadline.is_some(),
        dscps: class.dscps.clone(),
        is_lossless: !lossy.contains(&class.name),
        carries: class.carries.clone(),
    };
    let classes = planned.classes.iter().zip(&planned.request.classes);
    let classes = classes.map(class);
    let row = planned.sl2vl();
    Ok(Some(Planned {
        classes: Classes {
            classes: classes.collect(),
            lanes: std::array::from_fn(|sl| row.get(sl).copied().unwrap_or(0)),
        },
        document,
    }))
}

/// Reads the classes of a file with `[plan]`, or the lanes that a real site has.
pub(super) fn of_plan_or_site(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    lossy: &[String],
    output: &Output,
) -> anyhow::Result<Option<Classes>> {
    let opened = load::open(kinds, file, overrides)?;
    if opened.document.root.get("plan").is_some() || opened.notes.has_errors() {
        let planned = of_plan(kinds, file, overrides, lossy, output)?;
        return Ok(planned.map(|planned| planned.classes));
    }
    let Some(wiring) = load::load_wiring(kinds, file, overrides, output)?.wiring else {
        return Ok(None);
    };
    let Some(classes) = lanes(&wiring) else {
        bail!(
            "{} has no InfiniBand tables; add [plan], or import a site with its VLArb tables",
            file.display()
        );
    };
    Ok(Some(classes))
}

/// Returns a class for each service level of a fabric with tables: the lane that serves it.
fn lanes(wiring: &Wiring) -> Option<Classes> {
    let (tables, _) = wiring.tables.as_ref()?;
    let weight = |table: &VlArbitrationTable, lane: u8| -> u64 {
        let entries = table.entries().iter().filter(|entry| entry.vl.0 == lane);
        entries.map(|entry| u64::from(entry.weight)).sum()
    };
    let total: u64 = (0..16).map(|lane| weight(&tables.low, lane)).sum();
    let map = wiring.sl2vl.clone().unwrap_or_default();
    let vls = wiring.vls.unwrap_or(1).max(1);
    let row: [u8; 16] = std::array::from_fn(|sl| map.get(sl).copied().unwrap_or(sl as u8 % vls));
    let class = |(level, lane): (usize, u8)| Class {
        name: format!("VL{lane}"),
        level: level as u8,
        lane,
        share: match total {
            0 => "not known".to_owned(),
            _ => {
                let share = weight(&tables.low, lane) as f64 / total as f64;
                format!("{:.2} % of the low table", share * 100.0)
            }
        },
        wait: "not planned".to_owned(),
        is_high: weight(&tables.high, lane) > 0,
        has_deadline: false,
        dscps: vec![],
        is_lossless: true,
        carries: vec![],
    };
    Some(Classes {
        classes: row.into_iter().enumerate().map(class).collect(),
        lanes: row,
    })
}

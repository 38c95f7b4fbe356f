//! Checks of the traffic of an experiment against the tables of a real site.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use netloom_arbitration::Policy;
use netloom_fabric::{DROPPED, PassedRows};
use netloom_infiniband::Site;
use netloom_infiniband::routes::{Names, check_host_routes};
use netloom_topology::{Egress, Topology};
use netloom_units::{Sc, Sl, Vl};

use super::deadlock::error_unless_forced;
use super::lanes::OWN_ROWS;
use crate::spec::Diagnostics;

/// Limit on the outputs that are named.
const MOST_SHOWN: usize = 5;

/// Checks that no class sets a service level if paths have their own.
pub(crate) fn path_levels<'a>(
    levels: impl IntoIterator<Item = &'a Sl>,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let own: Vec<String> = levels
        .into_iter()
        .filter(|sl| sl.0 != 0)
        .map(|sl| sl.to_string())
        .collect();
    if own.is_empty() {
        return true;
    }
    let place = diagnostics.places.of("traffic");
    let message = format!(
        "classes set {}, but the files of the site give each path its service level",
        own.join(", ")
    );
    diagnostics
        .notes
        .error("E0417", place, message)
        .help("remove `sl`, or remove the file of path levels (psl) from `topology.files`");
    false
}

/// Notes that the site maps levels to more lanes than the file allows.
pub(crate) fn too_few_lanes(vls: u8, highest: u8, diagnostics: &mut Diagnostics<'_>) {
    let place = diagnostics.places.of("qos.vls");
    let message =
        format!("the SL2VL maps of the site use VL{highest}, but links have {vls} data lanes");
    diagnostics
        .notes
        .error("E0405", place, message)
        .help(format!("set qos.vls = {}, or remove it", highest + 1));
}

/// Returns whether the tables of a site determine the lanes of packets: its own forwarding and
/// lanes, and no other map in the file.
pub(crate) fn decides_lanes(topology: &Topology, diagnostics: &Diagnostics<'_>) -> bool {
    let keys = ["qos.sl2vl", "qos.sl2sc", "qos.sc2vl"];
    let keys = [&keys[..], &OWN_ROWS].concat();
    let is_written = diagnostics.places.first_written(&keys).is_some();
    let kind = diagnostics.places.kind("routing");
    let is_own = kind.is_none_or(|kind| kind == "forwarding-tables");
    Site::of(topology).is_some_and(|site| {
        let programmed = &site.programmed;
        let has_lanes = !programmed.sl_to_vl.is_empty() || !programmed.path_levels.is_empty();
        has_lanes && is_own && !is_written
    })
}

/// Checks that packets of the levels with traffic arrive, and cannot wait for each other in a
/// cycle, on the lanes of the site.
pub(crate) fn routes(site: &Site, used: u32, diagnostics: &mut Diagnostics<'_>) {
    let found = check_host_routes(&site.subnet, &site.programmed, used as u16);
    if let Some(failure) = found.failures.first.first() {
        let message = format!(
            "{} routes do not reach their destination on the lanes of the site; the first is from \
             {}",
            found.failures.routes,
            Names::of(&site.subnet).failure(failure)
        );
        let place = diagnostics.places.of("topology.files");
        diagnostics
            .notes
            .error("E0419", place, message)
            .help("run `netloom show routing` to list them; VL15 in an SL2VL map drops packets");
    }
    match found.loops.n_knots {
        0 => {
            let (levels, lanes) = (found.levels.count_ones(), found.lanes.count_ones());
            let words = format!(
                "free of deadlock on the lanes of the site ({levels} levels, {lanes} lanes)"
            );
            diagnostics.fact("routing", words);
        }
        n => {
            let message = format!(
                "the routes of the site can deadlock on its lanes: {n} groups of links can wait \
                 for each other"
            );
            error_unless_forced(diagnostics, "E0501", "topology.files", message)
                .help("run `netloom show routing` to print the cycles; --force runs it anyway");
        }
    }
}

/// States the lanes of the levels with traffic, over all ports that packets pass.
pub(crate) fn fact(rows: &PassedRows, used: &BTreeMap<Sc, Sl>, diagnostics: &mut Diagnostics<'_>) {
    let words = used.keys().map(|sc| {
        let lanes: BTreeSet<u8> = rows.all().map(|row| row[sc.index()]).collect();
        let word = |vl: &u8| match *vl {
            DROPPED => "dropped".to_owned(),
            vl => Vl(vl).to_string(),
        };
        let lanes: Vec<String> = lanes.iter().map(word).collect();
        format!("SL{} on {}", sc.0, lanes.join(" or "))
    });
    let words: Vec<String> = words.collect();
    let text = format!("as the site maps them: {}", words.join("; "));
    diagnostics.fact("lanes", text);
}

/// Checks that the tables of the site serve the lanes with traffic.
pub(crate) fn arbiters(
    policies: &BTreeMap<Egress, Arc<dyn Policy>>,
    topology: &Topology,
    used: u32,
    diagnostics: &mut Diagnostics<'_>,
) {
    if policies.is_empty() {
        return;
    }
    let n = policies.len();
    diagnostics.fact("tables", format!("as the site has them, for {n} outputs"));
    let mut unserved: BTreeMap<u32, Vec<Egress>> = BTreeMap::new();
    for (egress, policy) in policies {
        let lacking = used & !policy.sendable_vls();
        if lacking != 0 {
            unserved.entry(lacking).or_default().push(*egress);
        }
    }
    for (lacking, outputs) in unserved {
        let lanes = (0..15).filter(|vl| lacking >> vl & 1 == 1);
        let lanes: Vec<String> = lanes.map(|vl| Vl(vl).to_string()).collect();
        let names = outputs
            .iter()
            .take(MOST_SHOWN)
            .map(|output| output.name(topology));
        let names: Vec<String> = names.collect();
        let more = outputs.len().saturating_sub(MOST_SHOWN);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let message = format!(
            "the tables of {}{more} have no weight for lanes with traffic ({}): packets on them \
             would wait forever",
            names.join(", "),
            lanes.join(", ")
        );
        let place = diagnostics.places.of("topology.files");
        diagnostics
            .notes
            .warning("W0418", place, message)
            .help("run `netloom site lint opensm` on opensm.conf, or add an entry for the lanes");
    }
}

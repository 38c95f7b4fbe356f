//! Checks for deadlock: of the routing itself, and of the bubble rule with the given buffers.

use netloom_catalog::Note;
use netloom_fabric::CrossbarPlan;
use netloom_routing::Forwarding;
use netloom_routing::deadlock::{Centre, PROOF_STEPS, Verdict, check_bounded, check_with};
use netloom_topology::{Structure, Topology};
use netloom_units::Vl;

use super::buffers::words;
use super::lanes::OWN_ROWS;
use crate::spec::{Diagnostics, Effort, LaneMap, grouped};

/// Limit on the channels of a cycle that are printed.
const MOST_SHOWN: usize = 8;

/// Adds an error, or a warning with `--force`.
pub(super) fn error_unless_forced<'a>(
    diagnostics: &'a mut Diagnostics<'_>,
    code: &'static str,
    path: &str,
    message: String,
) -> &'a mut Note {
    let place = diagnostics.places.of(path);
    match diagnostics.is_forced {
        true => diagnostics.notes.warning(code, place, message),
        false => diagnostics.notes.error(code, place, message),
    }
}

/// Checks whether packets can wait for each other in a cycle.
pub(crate) fn routing(
    kind: &str,
    topology: &Topology,
    forwarding: &Forwarding,
    centre: Option<Centre>,
    diagnostics: &mut Diagnostics<'_>,
) {
    let verdict = match diagnostics.work.effort {
        Effort::Proof => check_with(topology, forwarding, centre),
        Effort::Run | Effort::Check => check_bounded(topology, forwarding, centre),
    };
    // The lanes of a real site may prevent a cycle that one lane has. They are checked later.
    if matches!(verdict, Verdict::Cycle(_)) && super::site::decides_lanes(topology, diagnostics) {
        return;
    }
    let cycle = match &verdict {
        Verdict::Free { how, .. } => {
            diagnostics.fact("routing", format!("{kind}: free of deadlock ({how})"));
            return;
        }
        Verdict::Unknown {
            steps,
            followed,
            destinations,
        } => {
            let sentence = format!(
                "{kind}: not proved free of deadlock: a proof takes about {} steps, more than {}; \
                 no cycle over {} of {} destinations; `netloom check --proof` proves it",
                grouped(*steps),
                grouped(PROOF_STEPS),
                grouped(*followed as u64),
                grouped(*destinations as u64),
            );
            diagnostics.fact("routing", sentence);
            return;
        }
        Verdict::Cycle(cycle) => cycle,
    };
    let is_grid = matches!(topology.structure(), Structure::Grid(_));
    let has_rule = kind == "dimension-order";
    let path = match diagnostics.places.written("routing.deadlock") {
        Some(_) if has_rule => "routing.deadlock",
        _ if diagnostics.places.written("routing.kind").is_some() => "routing.kind",
        _ => "routing",
    };
    let mut channels: Vec<String> = cycle
        .iter()
        .take(MOST_SHOWN)
        .map(|channel| {
            let (from, to) = (
                topology.switch_name(channel.switch),
                topology.switch_name(channel.to),
            );
            let lane = if forwarding.lanes() > 1 {
                format!(" lane {}", channel.lane)
            } else {
                String::new()
            };
            let through = channel.through.map_or_else(String::new, |queue| {
                format!(" (its MPort {}, central link {})", queue.mport, queue.link)
            });
            format!("{from}->{to}{lane}{through}")
        })
        .collect();
    if cycle.len() > MOST_SHOWN {
        channels.push("…".into());
    }
    let is_forced = diagnostics.is_forced;
    let passes_centre = cycle.iter().any(|channel| channel.through.is_some());
    let place = diagnostics.places.written("switch.kind");
    let note = error_unless_forced(
        diagnostics,
        "E0501",
        path,
        format!("routing {kind} can deadlock on this fabric"),
    );
    if let Some(place) = place.filter(|_| passes_centre) {
        note.also(place, "inputs of an MPort share its central queues");
    }
    note.label(format!(
        "cycle of {} channels: {}",
        cycle.len(),
        channels.join(", ")
    ));
    let mut help = match is_grid {
        _ if passes_centre => {
            "set `ports-per-mport` so that an MPort does not join inputs of different directions, \
             or use switch.kind = \"cioq\"; on a torus, use dimension-order with deadlock = \
             \"bubble\""
                .to_owned()
        }
        true if has_rule => {
            "use deadlock = \"bubble\", or deadlock = \"dateline\" with twice the lanes".to_owned()
        }
        true => "use routing.kind = \"dimension-order\" with a `deadlock` rule, or \"up-down\", \
                 which works on any fabric"
            .to_owned(),
        false => "use routing.kind = \"up-down\", which works on any fabric".to_owned(),
    };
    if !is_forced {
        help.push_str("; --force runs it anyway");
    }
    note.help(help);
    diagnostics.fact(
        "routing",
        format!("{kind}: can deadlock (a cycle of {} channels)", cycle.len()),
    );
}

/// Checks that the buffers have the slots that the bubble rule requires.
pub(crate) fn bubble(
    forwarding: &Forwarding,
    switch: &CrossbarPlan,
    lanes: &LaneMap,
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) {
    if !forwarding.bubble() {
        return;
    }
    let buffers = [
        ("switch.output-buffer", &switch.output_buffer, 2),
        ("switch.input-buffer", &switch.input_buffer, 1),
    ];
    for (path, sizes, need) in buffers {
        let slots = sizes.slots(&lanes.largest);
        let short = (0..lanes.largest.len())
            .filter(|&vl| lanes.largest[vl] > 0 && slots.most(vl) < need)
            .min_by_key(|&vl| std::cmp::Reverse(lanes.largest[vl]));
        let Some(vl) = short else { continue };
        let key = path.rsplit('.').next().unwrap_or(path);
        let slot = u64::from(lanes.largest[vl]) * flit;
        let have = slots.most(vl);
        let place = diagnostics.places.of(path);
        let lane = Vl(vl as u8);
        let note = diagnostics.notes.error(
            "E0502",
            place,
            format!(
                "the bubble rule needs {need} slots of {lane} in `{key}`, but {}",
                are(have)
            ),
        );
        note.label(format!(
            "a slot of {lane} is its largest packet, {}",
            words(slot)
        ));
        if let Some(rule) = diagnostics.places.written("routing.deadlock") {
            note.also(rule, "requires the bubble rule");
        }
        note.help(format!(
            "use at least {} per lane, or routing.deadlock = \"dateline\"",
            words(slot * u64::from(need))
        ));
    }
}

fn are(n: u32) -> String {
    match n {
        0 => "there is none".into(),
        1 => "there is one".into(),
        n => format!("there are {n}"),
    }
}

/// Checks that packets do not change their lane inside a ring.
pub(crate) fn own_rows(forwarding: &Forwarding, diagnostics: &mut Diagnostics<'_>) {
    if let Some((key, _)) = diagnostics.places.first_written(&OWN_ROWS)
        && forwarding.bubble()
    {
        let name = key.trim_start_matches("qos.");
        let message = format!("`{name}` can move packets to another lane inside a ring");
        error_unless_forced(diagnostics, "E0503", key, message).help(
            "use routing.deadlock = \"dateline\": the bubble rule protects each lane of a ring \
             separately",
        );
    }
}

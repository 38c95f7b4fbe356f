//! Checks of service channels: one map, each channel with one level, each level with a channel.

use std::collections::{BTreeMap, BTreeSet};

use netloom_fabric::Channels;
use netloom_units::{Sc, Sl};

use crate::spec::Diagnostics;

/// Keys that map service levels to lanes through channels, and keys that map them directly.
const BY_CHANNEL: [&str; 6] = [
    "qos.sl2sc",
    "qos.sc2vl",
    "qos.sc2sl",
    "qos.sc2sc",
    "qos.sc2vl-exception",
    "qos.sc2sc-exception",
];
const DIRECTLY: [&str; 2] = ["qos.sl2vl", "qos.sl2vl-exception"];

/// Checks that a file with channels does not also map service levels directly.
pub(crate) fn one_map(diagnostics: &mut Diagnostics<'_>) -> bool {
    let first_of = |keys: &[&'static str]| diagnostics.places.first_written(keys);
    let (Some((direct, here)), Some((channel, there))) =
        (first_of(&DIRECTLY), first_of(&BY_CHANNEL))
    else {
        return true;
    };
    let name = |path: &'static str| path.trim_start_matches("qos.");
    diagnostics
        .notes
        .error(
            "E0407",
            here,
            format!("both `{}` and `{}` are set", name(direct), name(channel)),
        )
        .also(there, "the other one")
        .help("use either `sl2vl` (InfiniBand), or `sl2sc` and `sc2vl` (Omni-Path)");
    false
}

/// Returns the channels of each level as sets, if each channel belongs to one level.
pub(crate) fn sets(rows: &[Vec<u8>], diagnostics: &mut Diagnostics<'_>) -> Option<[u32; 16]> {
    let mut sets = [0u32; 16];
    let mut is_good = true;
    for (sl, row) in rows.iter().enumerate() {
        for (at, &sc) in row.iter().enumerate() {
            let Some(owner) = sets.iter().position(|set| set >> sc & 1 == 1) else {
                sets[sl] |= 1 << sc;
                continue;
            };
            is_good = false;
            let entry = format!("qos.sl2sc.{sl}");
            let place = diagnostics.places.written(&format!("{entry}.{at}"));
            let place = place.unwrap_or(diagnostics.places.of(&entry));
            let message = match owner == sl {
                true => format!("SL{sl} names SC{sc} twice"),
                false => format!("SC{sc} belongs to both SL{owner} and SL{sl}"),
            };
            diagnostics
                .notes
                .error("E0408", place, message)
                .label("here again")
                .help(
                    "use another channel: switches find the service level of a packet by its \
                     channel",
                );
        }
    }
    is_good.then_some(sets)
}

/// Checks that every level with traffic has a channel.
pub(crate) fn all_levels<'a>(
    channels: &Channels,
    used: impl IntoIterator<Item = &'a Sl>,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let has_none = |sl: &&Sl| channels.sl2sc[sl.index() & 15] == 0;
    let lacking: Vec<Sl> = used.into_iter().filter(has_none).copied().collect();
    for sl in &lacking {
        let place = diagnostics.places.of("qos.sl2sc");
        let free =
            (0..32).find(|sc| *sc != 15 && channels.sl2sc.iter().all(|set| set >> sc & 1 == 0));
        let note = diagnostics.notes.error(
            "E0413",
            place,
            format!("{sl} has traffic but no service channel"),
        );
        match free {
            Some(sc) => note.help(format!(
                "add an entry for it to `sl2sc`, at index {}; SC{sc} is free",
                sl.0
            )),
            None => note.help("give the other levels fewer channels: all are in use"),
        };
    }
    lacking.is_empty()
}

/// Returns the channels of packets along their paths, each with its level: those they begin with,
/// and those that rows of SC2SC (each with its path in the file) change them to. A change to a
/// channel of another level is noted and skipped.
pub(crate) fn onward(
    began: &BTreeMap<Sc, Sl>,
    changes: &[(String, &[u8])],
    diagnostics: &mut Diagnostics<'_>,
) -> BTreeMap<Sc, Sl> {
    let mut used = began.clone();
    let mut waiting: Vec<(Sc, Sl)> = began.iter().map(|(sc, sl)| (*sc, *sl)).collect();
    while let Some((sc, sl)) = waiting.pop() {
        for (path, row) in changes {
            let Some(to) = row.get(sc.index()).map(|to| Sc(*to)) else {
                continue;
            };
            match used.get(&to) {
                None => {
                    used.insert(to, sl);
                    waiting.push((to, sl));
                }
                Some(owner) if *owner != sl => {
                    let place = diagnostics.places.of(&format!("{path}.{}", sc.0));
                    let message = format!("{sc} of {sl} becomes {to}, which belongs to {owner}");
                    diagnostics.notes.error("E0408", place, message).help(
                        "use another channel: switches find the service level of a packet by its \
                         channel",
                    );
                }
                Some(_) => {}
            }
        }
    }
    used
}

/// Checks that SC2SL maps each channel to its level. A channel without a level may have any entry.
pub(crate) fn inverse(sc2sl: &[u8], levels: &BTreeMap<Sc, Sl>, diagnostics: &mut Diagnostics<'_>) {
    for (sc, &stated) in sc2sl.iter().enumerate() {
        let Some(&sl) = levels.get(&Sc(sc as u8)).filter(|sl| sl.0 != stated) else {
            continue;
        };
        let place = diagnostics.places.of(&format!("qos.sc2sl.{sc}"));
        let note = diagnostics.notes.error(
            "E0409",
            place,
            format!("SC{sc} maps back to SL{stated}, but belongs to {sl}"),
        );
        if let Some(place) = diagnostics.places.written(&format!("qos.sl2sc.{}", sl.0)) {
            note.also(place, format!("{sl} has SC{sc}"));
        }
        note.help(format!(
            "set it to {}, or remove `sc2sl`: it follows from `sl2sc`",
            sl.0
        ));
    }
}

/// States the channels and lanes of the levels with traffic: those that packets begin with, then
/// those that they change to.
pub(crate) fn fact(
    began: &BTreeMap<Sc, Sl>,
    used: &BTreeMap<Sc, Sl>,
    channels: &Channels,
    diagnostics: &mut Diagnostics<'_>,
) {
    let mut later = used.clone();
    later.retain(|sc, _| !began.contains_key(sc));
    let of_level = |all: &BTreeMap<Sc, Sl>, level: Sl| {
        let own = all.iter().filter(|(_, sl)| **sl == level);
        let words = own.map(|(sc, _)| format!("{sc} (VL{})", channels.sc2vl[sc.index()]));
        words.collect::<Vec<_>>().join(", ")
    };
    let levels: BTreeSet<Sl> = began.values().copied().collect();
    let words = levels.into_iter().map(|sl| {
        let first = of_level(began, sl);
        match of_level(&later, sl).as_str() {
            "" => format!("{sl} on {first}"),
            then => format!("{sl} on {first}, after switches {then}"),
        }
    });
    diagnostics.fact("lanes", words.collect::<Vec<_>>().join("; "));
}

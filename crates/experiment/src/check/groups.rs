//! Checks that groups of NICs fit the fabric for every seed.

use netloom_traffic::Groups;

use crate::spec::{ClassSpec, Diagnostics, grouped};

/// Checks that all groups can be formed, and states their numbers of members.
pub(crate) fn fit(
    groups: &Groups,
    n_nics: u32,
    seed: u64,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let drawn = match groups.draw(n_nics, seed) {
        Ok(drawn) => drawn,
        Err(bad) => {
            for group in bad {
                let place = |name: &str| diagnostics.places.of(&format!("groups.{name}"));
                let (here, there) = (place(&group.name), group.other.as_deref().map(place));
                let message = format!("group `{}`: {}", group.name, group.problem);
                let note = diagnostics.notes.error("E0612", here, message);
                if let Some(there) = there {
                    note.also(there, "the other one");
                }
                note.help(format!(
                    "the fabric has {n_nics} NICs, and each can be in one group only"
                ));
            }
            return false;
        }
    };
    let sizes: Vec<String> = drawn
        .iter()
        .map(|(name, members)| format!("{name} {}", grouped(members.len() as u64)))
        .collect();
    if !sizes.is_empty() {
        diagnostics.fact("groups", format!("NICs: {}", sizes.join(", ")));
    }
    true
}

/// Checks that classes can be built for every seed. The drawn NICs change with the seed, so a class
/// that names drawn groups cannot name NICs by number.
pub(crate) fn hold_for_every_seed(
    classes: &[ClassSpec],
    groups: &Groups,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let mut is_good = true;
    for spec in classes {
        let sets = spec.class.sets();
        let drawn = sets
            .iter()
            .flat_map(|set| set.groups())
            .find(|name| groups.is_drawn(name));
        let Some(name) = drawn.filter(|_| sets.iter().any(|set| set.has_numbers())) else {
            continue;
        };
        let place = diagnostics.places.of(&format!("traffic.{}", spec.table));
        let message = format!(
            "class `{}` names NICs by number in addition to `{name}`",
            spec.class.name
        );
        diagnostics
            .notes
            .error("E0612", place, message)
            .also(
                diagnostics.places.of(&format!("groups.{name}")),
                "is drawn again for each seed",
            )
            .help("give these NICs a name in [groups], so that no other group contains them");
        is_good = false;
    }
    is_good
}

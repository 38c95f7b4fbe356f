//! Formats lists for messages.

use netloom_units::Vl;

use crate::opensm::QosSet;

/// Formats `a, b and c`.
pub(super) fn and<T: ToString>(things: impl IntoIterator<Item = T>) -> String {
    let mut words: Vec<String> = things.into_iter().map(|thing| thing.to_string()).collect();
    match (words.pop(), words.is_empty()) {
        (None, _) => String::new(),
        (Some(last), true) => last,
        (Some(last), false) => format!("{} and {last}", words.join(", ")),
    }
}

/// Formats `SL0, SL2 to SL7 and SL9`, for sorted numbers.
fn ranged(name: &str, numbers: &[u8]) -> String {
    let mut runs: Vec<(u8, u8)> = vec![];
    for &n in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => runs.push((n, n)),
        }
    }
    and(runs
        .into_iter()
        .flat_map(|(first, last)| match last - first {
            0 => vec![format!("{name}{first}")],
            1 => vec![format!("{name}{first}"), format!("{name}{last}")],
            _ => vec![format!("{name}{first} to {name}{last}")],
        }))
}

/// Formats service levels.
pub(super) fn levels(numbers: &[u8]) -> String {
    ranged("SL", numbers)
}

/// Formats lanes, sorted and without duplicates.
pub(super) fn lanes(vls: impl IntoIterator<Item = Vl>) -> String {
    let mut numbers: Vec<u8> = vls.into_iter().map(|vl| vl.0).collect();
    numbers.sort_unstable();
    numbers.dedup();
    ranged("VL", &numbers)
}

/// Formats a number of lanes as their range: `VL0-7`.
pub(super) fn range_of(n_lanes: u8) -> String {
    match n_lanes {
        0 | 1 => "VL0".to_owned(),
        n => format!("VL0-{}", n - 1),
    }
}

/// Formats kinds of ports.
pub(super) fn kinds(sets: &[QosSet]) -> String {
    and(sets)
}

/// Formats `1 entry` or `20 entries`.
pub(super) fn entries(n: usize) -> String {
    match n {
        1 => "1 entry".to_owned(),
        n => format!("{n} entries"),
    }
}

/// Formats a share in percent, with two decimals if it is below 1 %.
pub(super) fn percent(share: f64) -> String {
    match share {
        s if s >= 0.01 => format!("{:.1} %", s * 100.0),
        s => format!("{:.2} %", s * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_numbers_are_ranges() {
        assert_eq!(levels(&[0, 2, 3, 4, 9]), "SL0, SL2 to SL4 and SL9");
        assert_eq!(levels(&[2, 3]), "SL2 and SL3");
        assert_eq!(levels(&[0, 1, 3]), "SL0, SL1 and SL3");
        assert_eq!(lanes([Vl(3), Vl(3)]), "VL3");
        assert_eq!(range_of(8), "VL0-7");
    }
}

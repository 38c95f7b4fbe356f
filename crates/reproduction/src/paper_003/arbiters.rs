//! The five arbiters, and the tables they go by.

use netloom_design::qos::bxi::tuned_ranks;

/// Who is next on a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arbiter {
    RoundRobin,
    /// Algorithm 1, one entry per service level.
    Basic,
    /// The same tuned for latency.
    BasicTuned,
    /// Algorithm 2 (X003-3), one entry per service level.
    Deficits,
    /// The same tuned for latency.
    DeficitsTuned,
}

/// A weight of a file is worth so many of the paper's, so that it can be divided among 16 entries (X003-1).
const PARTS: u16 = 16;

/// The paper's k (G003-7).
const K: u16 = 1024;

impl Arbiter {
    /// The order of the paper's figures.
    pub(super) const ALL: [Arbiter; 5] = [
        Arbiter::RoundRobin,
        Arbiter::Basic,
        Arbiter::BasicTuned,
        Arbiter::Deficits,
        Arbiter::DeficitsTuned,
    ];

    fn is_tuned(self) -> bool {
        matches!(self, Arbiter::BasicTuned | Arbiter::DeficitsTuned)
    }

    fn has_deficits(self) -> bool {
        matches!(self, Arbiter::Deficits | Arbiter::DeficitsTuned)
    }

    /// What is set over a file for it.
    pub(super) fn set(self, weights: &[u16]) -> String {
        if self == Arbiter::RoundRobin {
            return "qos.arbiter=\"round-robin\"".to_owned();
        }
        let kind = match self.has_deficits() {
            true => "bxi-deficit",
            false => "bxi-table",
        };
        let entries: Vec<String> = entries(weights, self.is_tuned())
            .iter()
            .map(|(sl, weight)| format!("[{sl}, {weight}]"))
            .collect();
        format!(
            "qos.arbiter={{ kind = \"{kind}\", k = {}, flit = \"64 B\", table = [{}] }}",
            K / PARTS,
            entries.join(", ")
        )
    }

    /// Whether a value of another reading means something to it.
    pub(super) fn knows(self, set: &str) -> bool {
        let is_of_tables = set.starts_with("qos.arbiter.");
        let is_of_deficits = set.starts_with("qos.arbiter.literal");
        !(is_of_tables && self == Arbiter::RoundRobin || is_of_deficits && !self.has_deficits())
    }
}

/// The entries of a table: service levels with weights in units of k / 16. With latency tuning the most urgent
/// of n levels has every second entry, the next every fourth (spec 4.2.3), and shares its weight among them.
pub(super) fn entries(weights: &[u16], is_tuned: bool) -> Vec<(u8, u16)> {
    let ranks: Vec<usize> = match is_tuned {
        true => tuned_ranks(weights.len()),
        false => (0..weights.len()).collect(),
    };
    let entry = |&rank: &usize| {
        let n = ranks.iter().filter(|&&other| other == rank).count() as u16;
        (rank as u8, PARTS * weights[rank] / n)
    };
    ranks.iter().map(entry).collect()
}

//! A paper as data: its runs, its claims and their readings.

use std::sync::LazyLock;

use crate::{Claim, Plan, Results, paper_000, paper_001, paper_002, paper_003, paper_004};

/// A published study that can be reproduced.
#[derive(Clone, Copy)]
pub struct Paper {
    pub id: &'static str,
    pub title: &'static str,
    pub plan: &'static LazyLock<Plan>,
    pub claims: &'static [Claim],
    /// Interpretations of points that it leaves open or contradicts.
    pub readings: &'static [Reading],
    /// The data of its figures: CSV tables by file name without extension.
    pub tables: fn(&Results) -> Vec<(&'static str, String)>,
}

impl Paper {
    /// Returns alternative readings.
    pub fn variations(&self) -> &'static [Variation] {
        &self.plan.variations
    }

    /// Returns the ids of the scenarios of a size.
    pub fn scenarios(&self, size: Size) -> Vec<String> {
        let scenarios = self.plan.scenarios(size, Some(1), None);
        let mut ids: Vec<String> = scenarios.iter().map(|own| own.name().to_owned()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

/// All papers.
pub const PAPERS: &[&Paper] = &[
    &paper_000::PAPER,
    &paper_001::PAPER,
    &paper_002::PAPER,
    &paper_003::PAPER,
    &paper_004::PAPER,
];

/// Returns the paper with this number.
pub fn paper(id: &str) -> Option<&'static Paper> {
    PAPERS.iter().copied().find(|paper| paper.id == id)
}

/// The size of a reproduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// Checks only that everything runs; too short to judge claims.
    Tiny,
    /// Short runs that preserve orders: at most minutes.
    Ci,
    /// The runs of the paper.
    Paper,
}

impl Size {
    /// All sizes.
    pub const ALL: [Size; 3] = [Size::Tiny, Size::Ci, Size::Paper];

    /// Returns its name.
    pub fn word(self) -> &'static str {
        match self {
            Size::Tiny => "tiny",
            Size::Ci => "ci",
            Size::Paper => "paper",
        }
    }
}

/// The number of seeds and the run length of a size, for messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Default number of seeds of each point.
    pub seeds: u32,
    /// Length of a run.
    pub length: String,
}

/// An interpretation of a paper where it leaves a point open (G) or contradicts itself (X), or a
/// part of its model (with a section number).
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub id: &'static str,
    /// The interpretation.
    pub words: &'static str,
}

/// An alternative reading, to see which claims depend on it.
#[derive(Debug)]
pub struct Variation {
    /// Name on the command line.
    pub name: String,
    pub reading: String,
    /// What it changes.
    pub words: String,
    /// Whether it was chosen because it fits the printed values, not because the text supports it.
    pub is_fitted: bool,
}

/// One run: its position in the results, and its seed.
#[derive(Clone, Debug)]
pub struct Run {
    /// Scenario and variant, such as `S000-1 1x`.
    pub series: String,
    /// Position in its series: total offered load as a fraction of a NIC's link, number of
    /// requested connections, or packets per message.
    pub load: f64,
    pub seed: u64,
}

impl Run {
    /// Returns its scenario: the first word of its series.
    pub fn scenario(&self) -> &str {
        self.series.split(' ').next().unwrap_or(&self.series)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Table, Verdict};

    #[test]
    fn readings_are_explained() {
        for paper in PAPERS {
            let known: Vec<&str> = paper.readings.iter().map(|reading| reading.id).collect();
            let used = paper
                .claims
                .iter()
                .flat_map(|claim| claim.readings.iter().copied());
            let varied = paper
                .variations()
                .iter()
                .map(|variation| variation.reading.as_str());
            for reading in used.chain(varied) {
                assert!(known.contains(&reading), "{} {reading}", paper.id);
            }
        }
    }

    #[test]
    fn every_claim_has_a_line_with_a_verdict_or_the_reason_for_none() {
        for (id, last) in [
            ("000", 14),
            ("001", 15),
            ("002", 14),
            ("003", 17),
            ("004", 16),
        ] {
            let table = Table::new(paper(id).unwrap(), &Results::default());
            for number in 1..=last {
                let claim = format!("C{id}-{number}");
                assert!(table.rows.iter().any(|row| row.id == claim), "{claim}");
            }
            for row in &table.rows {
                let is_arithmetic = ["C000-12", "C001-14", "C003-16"].contains(&row.id);
                assert_eq!(
                    row.ours.verdict == Verdict::NotRun,
                    !is_arithmetic,
                    "{}",
                    row.id
                );
                assert!(!row.ours.measured.is_empty(), "{} says why", row.id);
            }
        }
    }
}

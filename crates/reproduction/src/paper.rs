//! A paper as data: its runs, its claims, the readings behind them.

use std::sync::LazyLock;

use crate::{Claim, Plan, Results, paper_000, paper_001, paper_002, paper_003, paper_004};

/// A published study that can be run again.
#[derive(Clone, Copy)]
pub struct Paper {
    /// Its number.
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// What is run of it.
    pub plan: &'static LazyLock<Plan>,
    /// What it claims.
    pub claims: &'static [Claim],
    /// How we read it where it is silent or contradicts itself.
    pub readings: &'static [Reading],
    /// What its figures are drawn from: CSV tables by the names of their files, without ending.
    pub tables: fn(&Results) -> Vec<(&'static str, String)>,
}

impl Paper {
    /// Other readings that can be tried.
    pub fn variations(&self) -> &'static [Variation] {
        &self.plan.variations
    }

    /// The ids of the scenarios of a size.
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

/// The paper with that number.
pub fn paper(id: &str) -> Option<&'static Paper> {
    PAPERS.iter().copied().find(|paper| paper.id == id)
}

/// How much is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// Only that everything runs; too short to say anything about a claim.
    Tiny,
    /// Short runs that keep the orders: minutes at most.
    Ci,
    /// What the paper ran.
    Paper,
}

impl Size {
    /// All of them.
    pub const ALL: [Size; 3] = [Size::Tiny, Size::Ci, Size::Paper];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Size::Tiny => "tiny",
            Size::Ci => "ci",
            Size::Paper => "paper",
        }
    }
}

/// How long and how often a size runs, as a person is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Seeds of each point unless asked otherwise.
    pub seeds: u32,
    /// How long a run is.
    pub length: String,
}

/// How we read a paper where it is silent (G) or contradicts itself (X), or a part of its model (a section
/// number of the specification).
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Its id.
    pub id: &'static str,
    /// What we do.
    pub words: &'static str,
}

/// Another reading, tried to see what depends on it.
#[derive(Debug)]
pub struct Variation {
    /// What to type for it.
    pub name: String,
    /// The reading it varies.
    pub reading: String,
    /// What it does instead.
    pub words: String,
    /// Whether it was chosen because it fits what is printed, not because the text supports it.
    pub is_fitted: bool,
}

/// One run: where its results belong, and its seed.
#[derive(Clone, Debug)]
pub struct Run {
    /// Scenario and variant, such as `S000-1 1x`.
    pub series: String,
    /// Where it stands in its series: offered load in all, as a fraction of a NIC's link, the number of
    /// connections wanted, or the packets of a message.
    pub load: f64,
    /// Its seed.
    pub seed: u64,
}

impl Run {
    /// The scenario it belongs to: the first word of its series.
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

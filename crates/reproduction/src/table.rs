//! The claim table, for people and for machines.

use serde::Serialize;

use crate::{Paper, Results, Tier, Variation, Verdict};

/// One line: a claim, or a part of one, and what was found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// Id of the claim.
    pub id: &'static str,
    /// Which part of it; empty for all.
    pub part: &'static str,
    /// The other reading it was measured under; `None` for our readings.
    pub variation: Option<&'static str>,
    /// How exactly it can be checked.
    pub tier: Tier,
    /// What is claimed.
    pub statement: &'static str,
    /// The paper's own value.
    pub paper: &'static str,
    /// What was measured.
    pub measured: String,
    /// The same as numbers.
    pub numbers: serde_json::Map<String, serde_json::Value>,
    /// What is accepted.
    pub band: &'static str,
    /// Whether it was met.
    pub verdict: Verdict,
    /// The readings it depends on.
    pub readings: &'static [&'static str],
}

/// All lines of a paper.
#[derive(Clone)]
pub struct Table {
    /// The paper they are about.
    paper: &'static Paper,
    /// The lines, claims under our readings first.
    pub rows: Vec<Row>,
}

impl Table {
    /// Judges every claim under our readings.
    pub fn new(paper: &'static Paper, results: &Results) -> Table {
        let rows = rows(paper, results, None);
        Table { paper, rows }
    }

    /// The claims with a verdict, by id and part.
    #[cfg(test)]
    pub(crate) fn claims_with(&self, verdict: crate::Verdict) -> Vec<String> {
        let rows = self.rows.iter().filter(|row| row.verdict == verdict);
        rows.map(|row| format!("{} {}", row.id, row.part).trim_end().to_owned())
            .collect()
    }

    /// Judges the claims again under another reading; those without a measured number, and arithmetic, are not
    /// repeated.
    pub fn vary(&mut self, variation: &'static Variation, results: &Results) {
        let rows = rows(self.paper, results, Some(variation.name));
        let is_measured = |row: &Row| !row.numbers.is_empty() && row.tier != Tier::E;
        self.rows.extend(rows.into_iter().filter(is_measured));
    }

    /// The lines as JSON: a list of objects.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.rows).expect("plain data is JSON");
        text.push('\n');
        text
    }

    /// How many lines under our readings have that verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let ours = self.rows.iter().filter(|row| row.variation.is_none());
        ours.filter(|row| row.verdict == verdict).count()
    }

    /// The lines for people, with the readings that misses depend on.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let ours = self.rows.iter().filter(|row| row.variation.is_none());
        let lines = ours.map(|row| cells(row, name(row)));
        text.push_str(&columns(HEAD.map(str::to_owned), lines));
        text.push_str(&format!(
            "\n  {} hold, {} miss, {} not run\n",
            self.count(Verdict::Holds),
            self.count(Verdict::Misses),
            self.count(Verdict::NotRun)
        ));
        text.push_str(&self.misses());
        for variation in self.paper.variations {
            text.push_str(&self.varied(variation));
        }
        text
    }

    /// What the claims that miss depend on.
    fn misses(&self) -> String {
        let is_miss = |row: &&Row| row.variation.is_none() && row.verdict == Verdict::Misses;
        let mut text = String::new();
        let mut ids: Vec<&str> = vec![];
        for row in self.rows.iter().filter(is_miss) {
            let readings = row.readings.join(", ");
            text.push_str(&format!(
                "\n  {} misses; it depends on {readings}",
                name(row)
            ));
            ids.extend(row.readings);
        }
        if text.is_empty() {
            return text;
        }
        text.push_str("\n\n");
        for reading in self.paper.readings.iter().filter(|r| ids.contains(&r.id)) {
            text.push_str(&format!("    {:<8} {}\n", reading.id, reading.words));
        }
        text
    }

    fn varied(&self, variation: &Variation) -> String {
        let belongs = |row: &&Row| row.variation == Some(variation.name);
        let lines: Vec<_> = self.rows.iter().filter(belongs).collect();
        if lines.is_empty() {
            return String::new();
        }
        let lines = lines.into_iter().map(|row| cells(row, name(row)));
        format!(
            "\n  under another reading of {}: {}\n\n{}",
            variation.reading,
            variation.words,
            columns(HEAD.map(str::to_owned), lines)
        )
    }
}

fn rows(paper: &'static Paper, results: &Results, variation: Option<&'static str>) -> Vec<Row> {
    let row = |claim: &crate::Claim| {
        let finding = (claim.judge)(results);
        let number = |(name, value): (String, f64)| (name, value.into());
        Row {
            id: claim.id,
            part: claim.part,
            variation,
            tier: claim.tier,
            statement: claim.statement,
            paper: claim.paper,
            measured: finding.measured,
            numbers: finding.numbers.into_iter().map(number).collect(),
            band: claim.band,
            verdict: finding.verdict,
            readings: claim.readings,
        }
    };
    paper.claims.iter().map(row).collect()
}

const HEAD: [&str; 6] = ["claim", "tier", "verdict", "paper", "measured", "accepted"];

fn name(row: &Row) -> String {
    format!("{} {}", row.id, row.part).trim_end().to_owned()
}

fn cells(row: &Row, name: String) -> [String; 6] {
    [
        name,
        row.tier.word().to_owned(),
        row.verdict.word().to_owned(),
        row.paper.to_owned(),
        row.measured.clone(),
        row.band.to_owned(),
    ]
}

/// Lines set in columns, indented by two blanks.
fn columns(head: [String; 6], lines: impl Iterator<Item = [String; 6]>) -> String {
    let lines: Vec<[String; 6]> = std::iter::once(head).chain(lines).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let widths: Vec<usize> = (0..6).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in &lines {
        let mut written = String::new();
        for (cell, width) in line.iter().zip(&widths) {
            written.push_str(&format!("  {cell:<width$}"));
        }
        text.push_str(written.trim_end());
        text.push('\n');
    }
    text
}

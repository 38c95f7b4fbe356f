//! The table of claims, as text, Markdown and JSON: a row for each claim, a column for each
//! reading.

use serde::Serialize;

use crate::claims::Claim;
use crate::{Basis, Finding, Paper, Results, Tier, Variation, Verdict};

/// A line: a claim or a part of it, and its findings.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// Id of the claim.
    pub id: String,
    /// Part of the claim; empty for the whole claim.
    pub part: String,
    /// How precisely it can be checked.
    pub tier: Tier,
    pub statement: String,
    /// The paper's value.
    pub paper: String,
    /// The accepted values.
    pub band: String,
    pub basis: Basis,
    /// The readings it depends on.
    pub readings: Vec<String>,
    /// The finding under the main readings.
    #[serde(flatten)]
    pub ours: Judged,
    /// The findings under alternative readings, in the order of [`Table::under`].
    pub under: Vec<Under>,
}

/// The finding about a claim.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Judged {
    /// Whether the claim holds.
    pub verdict: Verdict,
    /// What was measured, or why nothing was measured.
    pub measured: String,
    /// The measured numbers.
    pub numbers: serde_json::Map<String, serde_json::Value>,
}

/// The finding about a claim under an alternative reading.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Under {
    pub reading: String,
    /// Whether the reading was chosen because it fits.
    pub is_fitted: bool,
    #[serde(flatten)]
    pub judged: Judged,
}

/// All lines of a paper.
#[derive(Clone)]
pub struct Table<'p> {
    paper: &'p Paper,
    pub rows: Vec<Row>,
    /// The alternative readings under which claims were judged.
    pub under: Vec<&'p Variation>,
}

impl<'p> Table<'p> {
    /// Judges all claims under the main readings.
    pub fn new(paper: impl Into<&'p Paper>, results: &Results) -> Table<'p> {
        let paper = paper.into();
        let row = |claim: &Claim| Row {
            id: claim.id.clone(),
            part: claim.part.clone(),
            tier: claim.tier,
            statement: claim.statement.clone(),
            paper: claim.paper.clone(),
            band: claim.band.clone(),
            basis: claim.basis,
            readings: claim.readings.clone(),
            ours: judged(claim.judge(results)),
            under: vec![],
        };
        Table {
            paper,
            rows: paper.claims.iter().map(row).collect(),
            under: vec![],
        }
    }

    /// Returns the claims with a verdict, by id and part.
    #[cfg(test)]
    pub(crate) fn claims_with(&self, verdict: crate::Verdict) -> Vec<String> {
        let rows = self.rows.iter().filter(|row| row.ours.verdict == verdict);
        rows.map(name).collect()
    }

    /// Judges all claims again under an alternative reading.
    pub fn vary(&mut self, variation: &'p Variation, results: &Results) {
        self.under.push(variation);
        for (row, claim) in self.rows.iter_mut().zip(&self.paper.claims) {
            row.under.push(Under {
                reading: variation.name.clone(),
                is_fitted: variation.is_fitted,
                judged: judged(claim.judge(results)),
            });
        }
    }

    /// Returns the lines as JSON: a list of objects.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.rows).expect("plain data is JSON");
        text.push('\n');
        text
    }

    /// Counts the lines with a verdict under the main readings.
    pub fn count(&self, verdict: Verdict) -> usize {
        let is_it = |row: &&Row| row.ours.verdict == verdict;
        self.rows.iter().filter(is_it).count()
    }

    /// Returns the number of lines per verdict, as text.
    fn counts(&self) -> String {
        format!(
            "{} hold, {} undecided, {} miss, {} not run",
            self.count(Verdict::Holds),
            self.count(Verdict::Undecided),
            self.count(Verdict::Misses),
            self.count(Verdict::NotRun)
        )
    }

    /// Returns the lines as text, with the readings that missed claims depend on.
    pub fn to_text(&self) -> String {
        self.to_text_with(&set_in_columns)
    }

    /// Returns the same text, with tables that a function formats.
    pub fn to_text_with(&self, set_in_columns: &dyn Fn(&[Vec<String>]) -> String) -> String {
        let mut text = set_in_columns(&self.measured(|row| Some(&row.ours)));
        text.push_str(&format!("\n  {}\n", self.counts()));
        text.push_str(&self.misses());
        if !self.under.is_empty() {
            text.push_str("\n  every claim under every reading\n\n");
            text.push_str(&set_in_columns(&self.by_reading()));
        }
        for (at, variation) in self.under.iter().enumerate() {
            let lines = self.measured(|row| Some(&row.under[at].judged).filter(is_measured));
            let what = heading(variation);
            let (reading, words) = (&variation.reading, &variation.words);
            text.push_str(&format!("\n  {what}, of {reading}: {words}\n\n"));
            text.push_str(&set_in_columns(&lines));
        }
        text
    }

    /// Returns the lines as Markdown, as stored with a paper.
    pub fn to_markdown(&self) -> String {
        let mut text = set_in_markdown(&self.measured(|row| Some(&row.ours)));
        text.push_str(&format!("\n{}.\n", self.counts()));
        if !self.under.is_empty() {
            text.push_str("\nEvery claim under every reading:\n\n");
            text.push_str(&set_in_markdown(&self.by_reading()));
            text.push('\n');
            for variation in &self.under {
                let what = heading(variation);
                let (reading, words) = (&variation.reading, &variation.words);
                text.push_str(&format!("- **{what}**, of {reading}: {words}\n"));
            }
        }
        text
    }

    /// Returns the lines with a finding, one finding each.
    fn measured<'a>(&'a self, of: impl Fn(&'a Row) -> Option<&'a Judged>) -> Vec<Vec<String>> {
        let head = [
            "claim", "tier", "verdict", "paper", "netloom", "accepted", "word of",
        ];
        let mut lines = vec![head.map(str::to_owned).to_vec()];
        for row in &self.rows {
            let Some(judged) = of(row) else { continue };
            lines.push(vec![
                name(row),
                row.tier.word().to_owned(),
                judged.verdict.word().to_owned(),
                row.paper.clone(),
                judged.measured.clone(),
                row.band.clone(),
                row.basis.word().to_owned(),
            ]);
        }
        lines
    }

    /// Returns the verdicts of all claims: under the main readings, then a column for each
    /// alternative.
    fn by_reading(&self) -> Vec<Vec<String>> {
        let mut head = vec!["claim".to_owned(), "ours".to_owned()];
        head.extend(self.under.iter().map(|own| heading(own)));
        let mut lines = vec![head];
        for row in &self.rows {
            let mut line = vec![name(row), row.ours.verdict.word().to_owned()];
            let word = |under: &Under| under.judged.verdict.word().to_owned();
            line.extend(row.under.iter().map(word));
            lines.push(line);
        }
        lines
    }

    /// Returns the readings that missed claims depend on.
    fn misses(&self) -> String {
        let is_miss = |row: &&Row| row.ours.verdict == Verdict::Misses;
        let mut text = String::new();
        let mut ids: Vec<&String> = vec![];
        for row in self.rows.iter().filter(is_miss) {
            let readings = row.readings.join(", ");
            text.push_str(&format!(
                "\n  {} misses; it depends on {readings}",
                name(row)
            ));
            ids.extend(&row.readings);
        }
        if text.is_empty() {
            return text;
        }
        text.push_str("\n\n");
        for reading in self.paper.readings.iter().filter(|r| ids.contains(&&r.id)) {
            text.push_str(&format!("    {:<8} {}\n", reading.id, reading.words));
        }
        text
    }
}

fn judged(finding: Finding) -> Judged {
    let number = |(name, value): (String, f64)| (name, value.into());
    Judged {
        verdict: finding.verdict,
        measured: finding.measured,
        numbers: finding.numbers.into_iter().map(number).collect(),
    }
}

/// Whether a reading changes the finding about a claim.
fn is_measured(judged: &&Judged) -> bool {
    judged.verdict != Verdict::NotRun && !judged.numbers.is_empty()
}

fn name(row: &Row) -> String {
    format!("{} {}", row.id, row.part).trim_end().to_owned()
}

/// Returns the name of a reading, with a mark if it was fitted.
fn heading(variation: &Variation) -> String {
    let mark = if variation.is_fitted { " (fitted)" } else { "" };
    format!("{}{mark}", variation.name)
}

/// Aligns lines in columns, indented by two spaces; the first is the head.
fn set_in_columns(lines: &[Vec<String>]) -> String {
    let n = lines.first().map_or(0, Vec::len);
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let widths: Vec<usize> = (0..n).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in lines {
        let mut written = String::new();
        for (cell, width) in line.iter().zip(&widths) {
            written.push_str(&format!("  {cell:<width$}"));
        }
        text.push_str(written.trim_end());
        text.push('\n');
    }
    text
}

/// Formats lines as a Markdown table; the first is the head.
fn set_in_markdown(lines: &[Vec<String>]) -> String {
    let written = |line: &[String]| {
        let cells: Vec<String> = line.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        text.push_str(&written(line));
        if at == 0 {
            text.push_str(&format!("|{}\n", "---|".repeat(line.len())));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper;

    #[test]
    fn every_claim_stands_under_every_reading() {
        let paper = paper("000").unwrap();
        let mut table = Table::new(paper, &Results::default());
        for variation in &paper.variations()[..2] {
            table.vary(variation, &Results::default());
        }
        assert!(table.rows.iter().all(|row| row.under.len() == 2));
        let text = table.to_text();
        let [one, other] = [&paper.variations()[0], &paper.variations()[1]].map(|own| &own.name);
        let is_head =
            |line: &&str| line.trim_start().starts_with("claim") && line.contains(" ours");
        let head = text.lines().find(is_head).unwrap();
        assert!(head.contains(one) && head.contains(other), "{head}");
        assert!(text.contains("undecided, "), "{text}");
        let lines = table.to_markdown();
        let head = format!("| claim | ours | {one} | {other} |");
        assert!(lines.contains(&head), "{lines}");
        let rows: Vec<serde_json::Value> = serde_json::from_str(&table.to_json()).unwrap();
        assert_eq!(rows[0]["under"][1]["reading"], *other);
        assert_eq!(rows[0]["under"][1]["is_fitted"], false);
        assert_eq!(rows[0]["verdict"], "not-run");
    }
}

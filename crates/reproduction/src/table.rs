//! The table of claims, as text, Markdown and JSON: a row for each claim, a column for each
//! reading.

use netloom_text::filled;
use serde::Serialize;

use crate::claims::Claim;
use crate::counts::Counted;
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
    /// The sentence of the paper; empty for our own claims.
    pub quote: String,
    /// The paper's value.
    pub paper: String,
    /// The accepted values.
    pub band: String,
    /// The accepted values before the claim was restated.
    pub was: Option<String>,
    pub basis: Basis,
    /// The sentence about the baseline and the parameter chosen by it; otherwise empty.
    pub calibrated: String,
    /// The cause of a miss.
    pub why: String,
    /// The id of the figure that shows it; empty if there is none.
    pub figure: String,
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
    /// The verdict of the check before the claim was restated.
    pub was_verdict: Option<Verdict>,
    /// Of a calibrated claim: the verdict of its check.
    pub check: Option<Verdict>,
    /// What was measured, or why nothing was measured.
    pub measured: String,
    /// The distance from the printed numbers.
    pub error: Option<String>,
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
    pub paper: &'p Paper,
    pub rows: Vec<Row>,
    /// The alternative readings under which claims were judged.
    pub under: Vec<&'p Variation>,
}

/// The width of tables in files.
const PAGE: usize = 100;

impl<'p> Table<'p> {
    /// Judges all claims under the main readings.
    pub fn new(paper: impl Into<&'p Paper>, results: &Results) -> Table<'p> {
        let paper = paper.into();
        let row = |claim: &Claim| Row {
            id: claim.id.clone(),
            part: claim.part.clone(),
            tier: claim.tier,
            statement: claim.statement.clone(),
            quote: claim.quote.clone(),
            paper: claim.paper.clone(),
            band: claim.band.clone(),
            was: claim.was.clone(),
            basis: claim.basis,
            calibrated: claim.calibrated.clone(),
            why: claim.why.clone(),
            figure: claim.figure.clone(),
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
        rows.map(Row::name).collect()
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

    /// Counts the lines by source and verdict.
    pub fn counted(&self) -> Counted {
        Counted::of(&self.rows)
    }

    /// Returns counts and lines as text, with lines of at most a width.
    pub fn to_text(&self, width: Option<usize>) -> String {
        let mut text = String::new();
        for line in self.counted().lines() {
            text.push_str(&paragraph(&line, 2, width));
        }
        text.push('\n');
        text.push_str(&self.measured(|row| Some(&row.ours), width));
        text.push_str(&self.calibrated(width));
        if !self.under.is_empty() {
            text.push_str("\n  every claim under every reading\n\n");
            text.push_str(&self.by_reading(width));
        }
        for (at, variation) in self.under.iter().enumerate() {
            let (reading, words) = (&variation.reading, &variation.words);
            let line = format!("{}, of {reading}: {words}", heading(variation));
            text.push_str(&format!("\n{}\n", paragraph(&line, 2, width)));
            let of = |row: &'_ Row| row.under.get(at).map(|own| own.judged.clone());
            let is_changed = |own: &Judged| own.verdict.is_measured() && !own.numbers.is_empty();
            let of: Vec<Option<Judged>> = self
                .rows
                .iter()
                .map(|row| of(row).filter(is_changed))
                .collect();
            text.push_str(&self.lines(of.iter().map(Option::as_ref), width));
        }
        text
    }

    /// Returns the same as Markdown, with quotes, accepted values and readings, as stored with a
    /// paper.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        for line in self.counted().lines() {
            text.push_str(&format!("- {line}\n"));
        }
        let table = self.measured(|row| Some(&row.ours), Some(PAGE));
        text.push_str(&format!("\n```text\n{table}```\n"));
        text.push_str(&self.calibrated(Some(PAGE)));
        if !self.under.is_empty() {
            let table = self.by_reading(Some(PAGE));
            text.push_str("\n## Every claim under every reading\n\n");
            text.push_str(&format!("```text\n{table}```\n\n"));
            for variation in &self.under {
                let (reading, words) = (&variation.reading, &variation.words);
                let line = format!("- **{}**, of {reading}: {words}", heading(variation));
                text.push_str(&paragraph(&line, 0, Some(PAGE)));
            }
        }
        text.push_str("\n## What the paper says, and what is accepted\n\n");
        text.push_str(&self.accepted());
        if !self.paper.readings.is_empty() {
            text.push_str("\n## Readings\n\n");
        }
        for reading in &self.paper.readings {
            let line = format!("- **{}**: {}", reading.id, reading.words);
            text.push_str(&paragraph(&line, 0, Some(PAGE)));
        }
        text
    }

    /// Returns the quotes, and the accepted values of each part.
    fn accepted(&self) -> String {
        let mut text = String::new();
        let mut before = None;
        for row in &self.rows {
            if before != Some((&row.id, &row.quote)) {
                let quote = match row.quote.as_str() {
                    "" => format!("{}.", row.basis.word()),
                    quote => format!("\u{201c}{quote}\u{201d}"),
                };
                let line = format!("- **{}** {quote}", row.id);
                text.push_str(&paragraph(&line, 0, Some(PAGE)));
            }
            before = Some((&row.id, &row.quote));
            let part = match row.part.as_str() {
                "" => "accepted",
                part => part,
            };
            let was = row.was.as_ref().map(|band| format!(" (was: {band})"));
            let line = format!("- {part}: {}{}", row.band, was.unwrap_or_default());
            text.push_str(&paragraph(&line, 2, Some(PAGE)));
        }
        text
    }

    /// Returns the sentences by which parameters were chosen.
    fn calibrated(&self, width: Option<usize>) -> String {
        let own = |row: &&Row| !row.calibrated.is_empty();
        let mut text = String::new();
        for row in self.rows.iter().filter(own) {
            let check = row.ours.check.map_or(row.ours.verdict, |own| own);
            let (name, sentence) = (row.name(), &row.calibrated);
            let line = format!(
                "{name} is calibrated (its check: {}): {sentence}",
                check.word()
            );
            text.push_str(&format!("\n{}", paragraph(&line, 2, width)));
        }
        text
    }

    fn measured(&self, of: impl Fn(&Row) -> Option<&Judged>, width: Option<usize>) -> String {
        self.lines(self.rows.iter().map(of), width)
    }

    /// Returns the rows that have a finding: the statement above, the reason for a miss below.
    fn lines<'a>(
        &self,
        found: impl Iterator<Item = Option<&'a Judged>>,
        width: Option<usize>,
    ) -> String {
        let mut table = netloom_text::Table::words();
        table.line(["  claim", "paper", "netloom", "error", "verdict"]);
        let mut before = None;
        for (row, judged) in self.rows.iter().zip(found) {
            let Some(judged) = judged else { continue };
            if before != Some((&row.id, &row.statement)) {
                let line = format!("{} {}", row.id, row.statement);
                table.heading(paragraph(&line, 2, width).trim().to_owned());
            }
            before = Some((&row.id, &row.statement));
            table.line([
                format!("  {}", row.part),
                row.paper.clone(),
                judged.measured.clone(),
                judged.error.clone().unwrap_or_default(),
                judged.words(),
            ]);
            if judged.verdict == Verdict::Misses && !row.why.is_empty() {
                let line = format!("because {}", row.why);
                let line = paragraph(&line, 8, width);
                table.note(line.trim_end()[2..].to_owned());
            }
        }
        table.text(width)
    }

    /// Returns the verdicts of all claims: under the main readings, then a column for each
    /// alternative.
    fn by_reading(&self, width: Option<usize>) -> String {
        let mut table = netloom_text::Table::words();
        let mut head = vec!["claim".to_owned(), "ours".to_owned()];
        head.extend(self.under.iter().map(|own| heading(own)));
        table.line(head);
        for row in &self.rows {
            let mut line = vec![row.name(), row.ours.verdict.word().to_owned()];
            let word = |under: &Under| under.judged.verdict.word().to_owned();
            line.extend(row.under.iter().map(word));
            table.line(line);
        }
        table.text(width)
    }
}

impl Row {
    /// Returns its id and part.
    pub fn name(&self) -> String {
        format!("{} {}", self.id, self.part).trim_end().to_owned()
    }
}

impl Judged {
    /// Returns the verdict, with that of the check before the claim was restated.
    pub fn words(&self) -> String {
        match self.was_verdict {
            Some(was) => format!("{} (was: {})", self.verdict.word(), was.word()),
            None => self.verdict.word().to_owned(),
        }
    }
}

fn judged(finding: Finding) -> Judged {
    let number = |(name, value): (String, f64)| (name, value.into());
    Judged {
        verdict: finding.verdict,
        was_verdict: finding.was,
        check: finding.check,
        measured: finding.measured,
        error: finding.error,
        numbers: finding.numbers.into_iter().map(number).collect(),
    }
}

/// Returns the name of a reading, with a mark if it was fitted.
fn heading(variation: &Variation) -> String {
    let mark = if variation.is_fitted { " (fitted)" } else { "" };
    format!("{}{mark}", variation.name)
}

/// Returns an indented paragraph. Its further lines are indented by two more blanks.
fn paragraph(text: &str, indent: usize, width: Option<usize>) -> String {
    let blanks = " ".repeat(indent);
    let most = |indent: usize| width.unwrap_or(usize::MAX).saturating_sub(indent).max(20);
    let lines = filled(text, most(indent), most(indent + 2));
    format!("{blanks}{}\n", lines.join(&format!("\n{blanks}  ")))
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
        let text = table.to_text(None);
        let [one, other] = [&paper.variations()[0], &paper.variations()[1]].map(|own| &own.name);
        let is_head =
            |line: &&str| line.trim_start().starts_with("claim") && line.contains(" ours");
        let head = text.lines().find(is_head).unwrap();
        assert!(head.contains(one) && head.contains(other), "{head}");
        let lines = table.to_markdown();
        assert!(
            lines.lines().all(|line| line.chars().count() <= PAGE),
            "{lines}"
        );
        let rows: Vec<serde_json::Value> = serde_json::from_str(&table.to_json()).unwrap();
        assert_eq!(rows[0]["under"][1]["reading"], *other);
        assert_eq!(rows[0]["under"][1]["is_fitted"], false);
        assert_eq!(rows[0]["verdict"], "not-judged");
    }
}

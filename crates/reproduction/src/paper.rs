//! A paper as data: its runs, its claims and their readings.

use std::path::Path;
use std::sync::{LazyLock, OnceLock};

use netloom_catalog::Disk;
use netloom_figures::{Plot, Printed};

use crate::claims::{Claim, ClaimsFile, LineTable};
use crate::{Plan, Results, figures, points_csv};
use crate::{paper_000, paper_001, paper_002, paper_003, paper_004};

/// A published study that can be reproduced.
pub struct Paper {
    /// Its number, or the name of its folder.
    pub id: String,
    pub title: String,
    pub plan: Plan,
    pub claims: Vec<Claim>,
    /// Interpretations of points that it leaves open or contradicts.
    pub readings: Vec<Reading>,
    /// Tables of its figures that Rust writes, and those of `claims.toml`.
    written: Tables,
    tables: Vec<LineTable>,
    pub(crate) figures: Vec<Plot>,
    pub(crate) printed: Vec<Printed>,
}

/// Returns CSV tables by file name without extension.
pub(crate) type Tables = fn(&Results) -> Vec<(&'static str, String)>;

/// The largest file of a paper that is read, in bytes.
const LARGEST: u64 = 1 << 26;

impl Paper {
    /// Reads the folder of a paper: `paper.toml`, `claims.toml`, `studies`, the experiments that
    /// these extend, and `figures.toml` and `printed.csv`, if there are any.
    ///
    /// # Errors
    /// If a file cannot be read or has mistakes: all mistakes of that file as text.
    pub fn read(folder: &Path) -> Result<Paper, String> {
        let mut files = vec![];
        for (sub, prefix) in [
            (folder.to_owned(), ""),
            (folder.join("studies"), "studies/"),
        ] {
            let refused = |error| format!("cannot read {}: {error}", sub.display());
            let mut entries = vec![];
            for entry in std::fs::read_dir(&sub).map_err(refused)? {
                entries.push(entry.map_err(refused)?.path());
            }
            entries.sort();
            for path in entries {
                let name = path.file_name().and_then(|name| name.to_str());
                let Some(name) = name.filter(|name| has_text(name)) else {
                    continue;
                };
                let text = netloom_catalog::file::read_text(&path, LARGEST);
                let text =
                    text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
                files.push((format!("{prefix}{name}"), text));
            }
        }
        let take = |name: &str| {
            let own = files.iter().find(|(own, _)| own == name);
            own.map(|(_, text)| text.clone())
        };
        let shown = |name: &str| folder.join(name).display().to_string();
        let in_folder = |why: String| format!("{}: {why}", folder.display());
        let claims = take("claims.toml").ok_or_else(|| in_folder("no claims.toml".to_owned()))?;
        let claims = ClaimsFile::read(&shown("claims.toml"), &claims)?;
        let (figures, numbers) = (take("figures.toml"), take("printed.csv"));
        let read = figures::read(figures.as_deref(), numbers.as_deref());
        let (figures, printed) = read.map_err(in_folder)?;
        for claim in claims
            .claims
            .iter()
            .filter(|claim| !claim.figure.is_empty())
        {
            if !figures.iter().any(|plot| plot.id == claim.figure) {
                let (id, figure) = (&claim.id, &claim.figure);
                let why = format!("{id}: expected a figure of figures.toml, found `{figure}`");
                return Err(in_folder(why));
            }
        }
        let disk = Disk::folder(folder.join("studies"));
        let plan = Plan::of_files(files, disk).map_err(in_folder)?;
        plan.check().map_err(in_folder)?;
        let name = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = name
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        Ok(Paper {
            id: name.unwrap_or_default(),
            title: claims.title,
            plan,
            claims: claims.claims,
            readings: claims.readings,
            written: |results| vec![("points", points_csv(results))],
            tables: claims.tables,
            figures,
            printed,
        })
    }

    /// Returns the data of its figures: CSV tables by file name without extension.
    pub fn tables(&self, results: &Results) -> Vec<(String, String)> {
        let written = (self.written)(results).into_iter();
        let written = written.map(|(name, text)| (name.to_owned(), text));
        let own = self.tables.iter();
        let own = own.map(|own| (own.name.clone(), own.csv(results)));
        written.chain(own).collect()
    }

    /// Returns alternative readings.
    pub fn variations(&self) -> &[Variation] {
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

fn has_text(name: &str) -> bool {
    name == "printed.csv" || name.ends_with(".toml")
}

/// A paper that is part of the program.
#[derive(Clone, Copy)]
pub(crate) struct BuiltIn {
    pub(crate) id: &'static str,
    pub(crate) plan: &'static LazyLock<Plan>,
    /// The text of `claims.toml`.
    pub(crate) claims: &'static str,
    pub(crate) tables: Tables,
}

impl From<&BuiltIn> for Paper {
    /// # Panics
    /// If a file has mistakes. The files are part of the program, and a test reads them.
    fn from(own: &BuiltIn) -> Paper {
        let name = format!("papers/{}/claims.toml", own.id);
        let file = ClaimsFile::read(&name, own.claims).unwrap_or_else(|why| panic!("{why}"));
        let text = |name: &str| Some(own.plan.text(name));
        let read = figures::read(text("figures.toml"), text("printed.csv"));
        let (figures, printed) = read.unwrap_or_else(|why| panic!("paper {}: {why}", own.id));
        Paper {
            id: own.id.to_owned(),
            title: file.title,
            plan: (**own.plan).clone(),
            claims: file.claims,
            readings: file.readings,
            written: own.tables,
            tables: file.tables,
            figures,
            printed,
        }
    }
}

#[cfg(test)]
impl From<&BuiltIn> for &'static Paper {
    fn from(own: &BuiltIn) -> &'static Paper {
        paper(own.id).expect("a paper of the program")
    }
}

/// The papers of the program.
const BUILT_IN: [BuiltIn; 5] = [
    paper_000::PAPER,
    paper_001::PAPER,
    paper_002::PAPER,
    paper_003::PAPER,
    paper_004::PAPER,
];

/// The papers of the program that were read; each is read when it is used.
static READ: [OnceLock<Paper>; BUILT_IN.len()] = [const { OnceLock::new() }; BUILT_IN.len()];

/// Returns the numbers of the papers of the program.
pub fn paper_ids() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|own| own.id)
}

/// Returns the papers of the program.
pub fn papers() -> impl Iterator<Item = &'static Paper> {
    let each = READ.iter().zip(&BUILT_IN);
    each.map(|(read, own)| read.get_or_init(|| Paper::from(own)))
}

/// Returns the paper of the program with this number.
pub fn paper(id: &str) -> Option<&'static Paper> {
    let at = BUILT_IN.iter().position(|own| own.id == id)?;
    Some(READ[at].get_or_init(|| Paper::from(&BUILT_IN[at])))
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading {
    pub id: String,
    /// The interpretation.
    pub words: String,
}

/// An alternative reading, to see which claims depend on it.
#[derive(Clone, Debug)]
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
        for paper in papers() {
            let known = paper.readings.iter().map(|reading| reading.id.as_str());
            let known: Vec<&str> = known.collect();
            let claims = paper.claims.iter();
            let used = claims.flat_map(|claim| claim.readings.iter().map(String::as_str));
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
                let expected = match row.id.as_str() {
                    "C000-12" | "C001-14" | "C003-16" => Verdict::Holds,
                    "C001-15" | "C004-15" | "C004-16" => Verdict::Law,
                    _ => Verdict::NotJudged,
                };
                assert_eq!(row.ours.verdict, expected, "{}", row.id);
                assert!(!row.ours.measured.is_empty(), "{} says why", row.id);
            }
        }
    }
}

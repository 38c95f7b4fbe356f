//! Counts of claims: those in the paper's own words, and apart from them all others.

use crate::{Basis, Row, Verdict};

/// Numbers of judged claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    pub holds: usize,
    pub undecided: usize,
    pub misses: usize,
}

impl Counts {
    fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Holds => self.holds += 1,
            Verdict::Undecided => self.undecided += 1,
            Verdict::Misses => self.misses += 1,
            _ => {}
        }
    }

    /// Returns the number of judged claims.
    pub fn judged(&self) -> usize {
        self.holds + self.undecided + self.misses
    }

    /// Returns `30 of 45 hold, 1 undecided, 14 miss`.
    pub fn words(&self) -> String {
        let (holds, of) = (self.holds, self.judged());
        let (undecided, misses) = (self.undecided, self.misses);
        format!("{holds} of {of} hold, {undecided} undecided, {misses} miss")
    }
}

/// The claims of a paper by source and verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counted {
    /// In the paper's own words.
    pub paper: Counts,
    /// The same with the old checks of restated claims.
    pub before: Counts,
    /// Number of restated claims in the paper's own words.
    pub restated: usize,
    /// Claims of other sources, in the order of [`Basis`].
    pub others: Vec<(Basis, Counts)>,
    /// Claims that are not judged, by verdict.
    pub not_counted: Vec<(Verdict, usize)>,
}

impl Counted {
    pub(crate) fn of(rows: &[Row]) -> Counted {
        let mut counted = Counted::default();
        for basis in [Basis::Arithmetic, Basis::MadeUp, Basis::Ours] {
            let mut counts = Counts::default();
            let own = rows.iter().filter(|row| row.basis == basis);
            own.for_each(|row| counts.add(row.ours.verdict));
            if counts.judged() > 0 {
                counted.others.push((basis, counts));
            }
        }
        for row in rows.iter().filter(|row| row.basis == Basis::Paper) {
            counted.paper.add(row.ours.verdict);
            let was = row.ours.was_verdict;
            if row.ours.verdict.is_judged() {
                counted.before.add(was.unwrap_or(row.ours.verdict));
                counted.restated += usize::from(was.is_some());
            }
        }
        for verdict in Verdict::ALL {
            let n = rows.iter().filter(|row| row.ours.verdict == verdict);
            let n = n.count();
            if n > 0 && !verdict.is_judged() {
                counted.not_counted.push((verdict, n));
            }
        }
        counted
    }

    /// Returns the counts as sentences.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("In the paper's own words: {}.", self.paper.words())];
        if self.restated > 0 {
            let (n, before) = (self.restated, self.before.words());
            let claims = if n == 1 { "claim" } else { "claims" };
            lines.push(format!(
                "By the old checks of {n} restated {claims}: {before}."
            ));
        }
        if !self.others.is_empty() {
            let each = self.others.iter();
            let each = each.map(|(basis, counts)| {
                let (word, holds) = (basis.word(), counts.holds);
                format!("{word} {holds} of {} hold", counts.judged())
            });
            let each: Vec<String> = each.collect();
            lines.push(format!("Counted apart: {}.", each.join(", ")));
        }
        if !self.not_counted.is_empty() {
            let each = self.not_counted.iter();
            let each = each.map(|(verdict, n)| match verdict {
                Verdict::Law if *n == 1 => "1 law that tests check".to_owned(),
                Verdict::Law => format!("{n} laws that tests check"),
                Verdict::NotJudged => format!("{n} not judged at this size"),
                verdict => format!("{n} {}", verdict.word()),
            });
            let each: Vec<String> = each.collect();
            lines.push(format!("Not counted: {}.", each.join(", ")));
        }
        lines
    }
}

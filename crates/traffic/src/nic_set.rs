//! A set of NICs in a file: `"all"`, `"0-63"`, `[3, 7, 11]`, the name of a group, or a sequence of
//! terms: `"3 mod 4, not 123, 122"`.

use std::collections::BTreeSet;
use std::fmt;

use netloom_catalog::{FromToml, Notes, Shape, Value, ValueShape};
use netloom_units::NicId;

use crate::GroupMembers;

/// Some NICs of a fabric whose size is not known yet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum NicSet {
    /// Every NIC.
    #[default]
    All,
    /// All from the first to the last, both included.
    Range(NicId, NicId),
    /// These, in the order written.
    List(Vec<NicId>),
    /// The result of all terms, each of which adds or removes NICs, in the order written.
    Terms(Vec<Term>),
}

/// One term of [`NicSet::Terms`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Term {
    /// Whether its NICs are removed.
    pub is_out: bool,
    pub of: Part,
}

/// The NICs of a [`Term`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// Every NIC.
    All,
    /// All from the first to the last, both included.
    Range(NicId, NicId),
    /// Those whose number has this remainder when divided by this modulus.
    Residue {
        /// The remainder.
        rest: u32,
        /// The modulus, larger than the remainder.
        modulus: u32,
    },
    /// Those of a group of the file (see [`Groups`](crate::Groups)).
    Group(String),
}

impl Part {
    /// Returns the largest number that it names.
    fn last(&self) -> Option<NicId> {
        match self {
            Part::Range(_, last) => Some(*last),
            Part::All | Part::Residue { .. } | Part::Group(_) => None,
        }
    }

    fn members(&self, n_nics: u32, groups: &GroupMembers) -> Result<Vec<NicId>, String> {
        let (first, end, step) = match self {
            Part::All => (0, n_nics, 1),
            Part::Range(first, last) => (first.0, n_nics.min(last.0.saturating_add(1)), 1),
            Part::Residue { rest, modulus } => (*rest, n_nics, *modulus as usize),
            Part::Group(name) => return groups.members(name).map(<[NicId]>::to_vec),
        };
        Ok((first..end).step_by(step).map(NicId).collect())
    }

    fn parse(text: &str) -> Result<Part, String> {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let unknown = || format!("\"{text}\" is not a set of NICs");
        if text == "all" {
            return Ok(Part::All);
        }
        if let Some((rest, modulus)) = text.split_once(" mod ") {
            let (rest, modulus) = number(rest).zip(number(modulus)).ok_or_else(unknown)?;
            return match rest < modulus {
                true => Ok(Part::Residue { rest, modulus }),
                false => Err(format!("no number leaves {rest} when divided by {modulus}")),
            };
        }
        if is_name(text) && !WORDS.contains(&text) {
            return Ok(Part::Group(text.to_owned()));
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = number(first).zip(number(last)).ok_or_else(unknown)?;
        match first <= last {
            true => Ok(Part::Range(NicId(first), NicId(last))),
            false => Err(format!("the range \"{text}\" ends before it starts")),
        }
    }
}

/// Keywords of sets and groups, which cannot name a group.
pub(crate) const WORDS: [&str; 6] = ["all", "not", "mod", "rest", "random", "next"];

/// Returns whether a text can name a group, unless it is one of [`WORDS`].
pub(crate) fn is_name(text: &str) -> bool {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_inside)
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_out { "not " } else { "" })?;
        match &self.of {
            Part::All => f.write_str("all"),
            Part::Range(first, last) if first == last => write!(f, "{}", first.0),
            Part::Range(first, last) => write!(f, "{}-{}", first.0, last.0),
            Part::Residue { rest, modulus } => write!(f, "{rest} mod {modulus}"),
            Part::Group(name) => f.write_str(name),
        }
    }
}

impl NicSet {
    /// Returns the members in ascending order, each once, or an error in a fabric of `n_nics` with
    /// these groups.
    pub fn members(&self, n_nics: u32, groups: &GroupMembers) -> Result<Vec<NicId>, String> {
        let mut members: Vec<NicId> = match self {
            NicSet::All => (0..n_nics).map(NicId).collect(),
            // One wrong member beyond the fabric is enough for an error.
            NicSet::Range(first, last) => (first.0..=last.0.min(n_nics)).map(NicId).collect(),
            NicSet::List(list) => list.clone(),
            NicSet::Terms(terms) => {
                let mut left = BTreeSet::new();
                for term in terms {
                    let of = term.of.members(n_nics, groups)?;
                    match term.is_out {
                        true => left.retain(|nic| of.binary_search(nic).is_err()),
                        false => left.extend(of),
                    }
                }
                left.into_iter().collect()
            }
        };
        members.sort_unstable();
        members.dedup();
        let last = match self {
            NicSet::Range(_, last) => Some(*last),
            // A number beyond the fabric is an error even if it is removed.
            NicSet::Terms(terms) => {
                let named = terms.iter().filter_map(|term| term.of.last()).max();
                named
                    .max(members.last().copied())
                    .filter(|last| last.0 >= n_nics || !members.is_empty())
            }
            _ => members.last().copied(),
        };
        match last {
            Some(last) if last.0 >= n_nics => Err(match n_nics {
                0 => "the fabric has no NICs".to_owned(),
                _ => format!(
                    "{last} does not exist: the fabric has NICs 0 to {}",
                    n_nics - 1
                ),
            }),
            Some(_) => Ok(members),
            None => Err("the set has no NICs".to_owned()),
        }
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        let terms = match self {
            NicSet::Terms(terms) => &terms[..],
            _ => &[],
        };
        terms.iter().map(|term| &term.of)
    }

    /// Returns the groups that it names.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.parts().filter_map(|part| match part {
            Part::Group(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Returns whether it names NICs by their numbers.
    pub fn has_numbers(&self) -> bool {
        let is_number = |part: &Part| matches!(part, Part::Range(..) | Part::Residue { .. });
        matches!(self, NicSet::Range(..) | NicSet::List(_)) || self.parts().any(is_number)
    }

    /// Returns whether it contains all NICs.
    pub fn is_all(&self) -> bool {
        *self == NicSet::All
    }
}

const HELP: &str = "use \"all\", a range like \"0-63\", a list like [3, 7, 11], the name of one of \
                    [groups], or terms like \"3 mod 4, not 123, 122\"";

/// Parses a set from text: one or several terms.
fn parse(text: &str) -> Result<NicSet, String> {
    let mut terms = vec![];
    for term in text.split(',').map(str::trim) {
        let (is_out, of) = match term.strip_prefix("not ") {
            Some(of) => (true, of.trim()),
            None => (false, term),
        };
        terms.push(Term {
            is_out,
            of: Part::parse(of)?,
        });
    }
    match &terms[..] {
        [term] if term.is_out => Err(format!("\"{text}\" removes NICs from an empty set")),
        [Term { of: Part::All, .. }] => Ok(NicSet::All),
        [
            Term {
                of: Part::Range(first, last),
                ..
            },
        ] if text.contains('-') => Ok(NicSet::Range(*first, *last)),
        [first, ..] if first.is_out => Err(format!(
            "\"{text}\" begins with a removal; terms apply from left to right"
        )),
        _ => Ok(NicSet::Terms(terms)),
    }
}

impl FromToml for NicSet {
    fn shape() -> Shape {
        Shape::Either(vec![
            Shape::OneOf(vec!["all"]),
            Shape::Text,
            Shape::List(Box::new(u32::shape())),
        ])
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let mut wrong = |message: String| {
            notes.error("E0601", value.place, message).help(HELP);
        };
        match &value.shape {
            ValueShape::Text(text) => parse(text).map_err(&mut wrong).ok(),
            ValueShape::List(list) if list.is_empty() => {
                wrong("the set has no NICs".to_owned());
                None
            }
            ValueShape::List(_) => {
                let ids = Vec::<u32>::read(value, notes)?;
                let mut sorted = ids.clone();
                sorted.sort_unstable();
                if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                    notes.error(
                        "E0601",
                        value.place,
                        format!("NIC {} is in the list twice", twice[0]),
                    );
                    return None;
                }
                Some(NicSet::List(ids.into_iter().map(NicId).collect()))
            }
            other => {
                wrong(format!("expected a set of NICs, found {}", other.word()));
                None
            }
        }
    }

    fn write(&self) -> String {
        match self {
            NicSet::All => "\"all\"".to_owned(),
            NicSet::Range(first, last) => format!("\"{}-{}\"", first.0, last.0),
            NicSet::List(list) => list.iter().map(|nic| nic.0).collect::<Vec<_>>().write(),
            NicSet::Terms(terms) => {
                let terms: Vec<String> = terms.iter().map(Term::to_string).collect();
                format!("\"{}\"", terms.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_catalog::Document;

    use super::*;
    use crate::NO_GROUPS;

    fn read(text: &str) -> Result<NicSet, String> {
        let mut notes = Notes::new();
        let document = Document::parse("x.toml", &format!("set = {text}"), &mut notes);
        let set = NicSet::read(document.root.get("set").unwrap(), &mut notes);
        set.ok_or_else(|| notes.iter().next().unwrap().message.clone())
    }

    #[test]
    fn sets_are_read_and_written_back() {
        for text in [
            "\"all\"",
            "\"0-63\"",
            "[3, 7, 11]",
            "\"5\"",
            "\"3 mod 4, not 123, 122\"",
            "\"all, not 3 mod 4, not 8-15\"",
            "\"victims\"",
            "\"all, not hot-spots\"",
        ] {
            assert_eq!(read(text).unwrap().write(), text);
        }
        assert_eq!(
            read("\"3-1\"").unwrap_err(),
            "the range \"3-1\" ends before it starts"
        );
        assert_eq!(
            read("\"half of all\"").unwrap_err(),
            "\"half of all\" is not a set of NICs"
        );
        assert_eq!(
            read("\"rest\"").unwrap_err(),
            "\"rest\" is not a set of NICs"
        );
        assert_eq!(
            read("\"0-7, not 9 mod 4\"").unwrap_err(),
            "no number leaves 9 when divided by 4"
        );
        assert_eq!(
            read("\"not 3, 4\"").unwrap_err(),
            "\"not 3, 4\" begins with a removal; terms apply from left to right"
        );
        assert_eq!(
            read("\"not 3\"").unwrap_err(),
            "\"not 3\" removes NICs from an empty set"
        );
        assert_eq!(read("[1, 2, 1]").unwrap_err(), "NIC 1 is in the list twice");
        assert_eq!(read("[]").unwrap_err(), "the set has no NICs");
        assert_eq!(
            read("3").unwrap_err(),
            "expected a set of NICs, found an integer"
        );
    }

    #[test]
    fn members_are_sorted_and_within_the_fabric() {
        let list = NicSet::List(vec![NicId(5), NicId(2)]);
        assert_eq!(list.members(6, &NO_GROUPS).unwrap(), [NicId(2), NicId(5)]);
        assert_eq!(
            list.members(5, &NO_GROUPS).unwrap_err(),
            "nic 5 does not exist: the fabric has NICs 0 to 4"
        );
        assert_eq!(NicSet::All.members(3, &NO_GROUPS).unwrap().len(), 3);
        let range = NicSet::Range(NicId(2), NicId(u32::MAX));
        assert!(range.members(4, &NO_GROUPS).is_err());
    }

    #[test]
    fn g001_5_the_hot_sources_and_the_others_share_the_fabric() {
        let members = |text: &str, n| read(text).and_then(|set| set.members(n, &NO_GROUPS));
        let hot = members("\"3 mod 4, not 123, 122\"", 256).unwrap();
        assert_eq!(hot.len(), 64);
        assert!(!hot.contains(&NicId(123)) && hot.contains(&NicId(122)));
        let others = members("\"all, not 3 mod 4, 123, not 122\"", 256).unwrap();
        assert_eq!(others.len(), 192);
        assert!(others.iter().all(|nic| !hot.contains(nic)));
    }

    #[test]
    fn terms_name_nics_of_the_fabric_and_leave_some() {
        let members = |text: &str, n| read(text).and_then(|set| set.members(n, &NO_GROUPS));
        assert_eq!(
            members("\"0-3, not 9\"", 8).unwrap_err(),
            "nic 9 does not exist: the fabric has NICs 0 to 7"
        );
        assert_eq!(
            members("\"0-3, not all\"", 8).unwrap_err(),
            "the set has no NICs"
        );
        assert_eq!(
            members("\"5 mod 6\"", 4).unwrap_err(),
            "the set has no NICs"
        );
    }
}

//! A set of NICs as a file writes it: `"all"`, `"0-63"` or `[3, 7, 11]`.

use netloom_catalog::{FromToml, Notes, Shape, Value, ValueShape};
use netloom_units::NicId;

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
}

impl NicSet {
    /// The members in ascending order, each once, or what is wrong with them in a fabric of `n_nics`.
    pub fn members(&self, n_nics: u32) -> Result<Vec<NicId>, String> {
        let mut members: Vec<NicId> = match self {
            NicSet::All => (0..n_nics).map(NicId).collect(),
            // Beyond the fabric one wrong member is enough to be told of.
            NicSet::Range(first, last) => (first.0..=last.0.min(n_nics)).map(NicId).collect(),
            NicSet::List(list) => list.clone(),
        };
        members.sort_unstable();
        members.dedup();
        let last = match self {
            NicSet::Range(_, last) => Some(*last),
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
            None => Err("no NIC at all".to_owned()),
        }
    }

    /// Whether the file leaves the choice open.
    pub fn is_all(&self) -> bool {
        *self == NicSet::All
    }
}

const HELP: &str = "write \"all\", a range like \"0-63\", or a list like [3, 7, 11]";

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
            None
        };
        match &value.shape {
            ValueShape::Text(text) if text == "all" => Some(NicSet::All),
            ValueShape::Text(text) => {
                let ends = text.split_once('-').and_then(|(first, last)| {
                    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
                });
                match ends {
                    Some((first, last)) if first <= last => {
                        Some(NicSet::Range(NicId(first), NicId(last)))
                    }
                    Some(_) => wrong(format!("the range \"{text}\" ends before it starts")),
                    None => wrong(format!("\"{text}\" is no set of NICs")),
                }
            }
            ValueShape::List(list) if list.is_empty() => wrong("a set without NICs".to_owned()),
            ValueShape::List(_) => {
                let ids = Vec::<u32>::read(value, notes)?;
                let mut sorted = ids.clone();
                sorted.sort_unstable();
                if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                    notes.error(
                        "E0601",
                        value.place,
                        format!("NIC {} stands in the list twice", twice[0]),
                    );
                    return None;
                }
                Some(NicSet::List(ids.into_iter().map(NicId).collect()))
            }
            other => wrong(format!("expected a set of NICs, found {}", other.word())),
        }
    }

    fn write(&self) -> String {
        match self {
            NicSet::All => "\"all\"".to_owned(),
            NicSet::Range(first, last) => format!("\"{}-{}\"", first.0, last.0),
            NicSet::List(list) => list.iter().map(|nic| nic.0).collect::<Vec<_>>().write(),
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_catalog::Document;

    use super::*;

    fn read(text: &str) -> Result<NicSet, String> {
        let mut notes = Notes::new();
        let document = Document::parse("x.toml", &format!("set = {text}"), &mut notes);
        let set = NicSet::read(document.root.get("set").unwrap(), &mut notes);
        set.ok_or_else(|| notes.iter().next().unwrap().message.clone())
    }

    #[test]
    fn sets_are_read_and_written_back() {
        for text in ["\"all\"", "\"0-63\"", "[3, 7, 11]"] {
            assert_eq!(read(text).unwrap().write(), text);
        }
        assert_eq!(
            read("\"3-1\"").unwrap_err(),
            "the range \"3-1\" ends before it starts"
        );
        assert_eq!(read("\"half\"").unwrap_err(), "\"half\" is no set of NICs");
        assert_eq!(
            read("[1, 2, 1]").unwrap_err(),
            "NIC 1 stands in the list twice"
        );
        assert_eq!(read("[]").unwrap_err(), "a set without NICs");
        assert_eq!(
            read("3").unwrap_err(),
            "expected a set of NICs, found a whole number"
        );
    }

    #[test]
    fn members_are_sorted_and_within_the_fabric() {
        let list = NicSet::List(vec![NicId(5), NicId(2)]);
        assert_eq!(list.members(6).unwrap(), [NicId(2), NicId(5)]);
        assert_eq!(
            list.members(5).unwrap_err(),
            "nic 5 does not exist: the fabric has NICs 0 to 4"
        );
        assert_eq!(NicSet::All.members(3).unwrap().len(), 3);
        let range = NicSet::Range(NicId(2), NicId(u32::MAX));
        assert!(range.members(4).is_err());
    }
}

//! Groups of NICs that a file names: disjoint parts of a machine on which jobs run.
//!
//! ```text
//!   [groups]
//!   hot-spots = "random 12"      12 NICs, drawn
//!   aggressors = "random 48"     48 of those left
//!   aggressors = "random 48"     48 of the others
//! ```
//!
//! A set of NICs may use the name of a group in place of a number: `sources = "victims"`.

use netloom_catalog::{FromToml, Notes, Resolved, ResolvedLine, Section, Value, ValueShape};
use netloom_random::{Purpose, Stream, permutation};
use netloom_units::NicId;

use crate::NicSet;
use crate::nic_set::{WORDS, is_name};

/// The NICs of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Members {
    /// This set.
    Set(NicSet),
    /// The first remaining NICs, this many.
    Next(u32),
    /// This many of the remaining NICs, drawn without replacement.
    Random(u32),
    /// All remaining NICs.
    Rest,
}

impl FromToml for Members {
    fn shape() -> netloom_catalog::Shape {
        NicSet::shape()
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let ValueShape::Text(text) = &value.shape else {
            return NicSet::read(value, notes).map(Members::Set);
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let of = match words[..] {
            ["rest"] => return Some(Members::Rest),
            ["random", _] => Members::Random,
            ["next", _] => Members::Next,
            _ => {
                let set = NicSet::read(value, notes)?;
                if let Some(other) = set.groups().next() {
                    let message = format!("\"{other}\" is not a set of NICs");
                    let help = "use \"random 48\" (drawn), \"next 48\" (the first remaining), \
                                \"rest\", or a set of NICs like \"0-63\"; a group cannot contain \
                                other groups";
                    notes.error("E0612", value.place, message).help(help);
                    return None;
                }
                return Some(Members::Set(set));
            }
        };
        match words[1].parse() {
            Ok(n) if n > 0 => Some(of(n)),
            _ => {
                let message = format!("\"{}\" is not a number of NICs", words[1]);
                let help = format!("use \"{} 48\" for 48 of the remaining NICs", words[0]);
                notes.error("E0612", value.place, message).help(help);
                None
            }
        }
    }

    fn write(&self) -> String {
        match self {
            Members::Set(set) => set.write(),
            Members::Next(n) => format!("\"next {n}\""),
            Members::Random(n) => format!("\"random {n}\""),
            Members::Rest => "\"rest\"".to_owned(),
        }
    }
}

/// The groups of a file, in the order written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Groups(pub Vec<(String, Members)>);

/// The members of every group in one run, in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GroupMembers {
    groups: Vec<(String, Vec<NicId>)>,
}

/// A run without groups.
pub static NO_GROUPS: GroupMembers = GroupMembers { groups: vec![] };

impl GroupMembers {
    /// Returns the members of a group, or an error about its name.
    pub fn members(&self, name: &str) -> Result<&[NicId], String> {
        let found = self.groups.iter().find(|(known, _)| known == name);
        found.map(|(_, members)| &members[..]).ok_or_else(|| {
            let names: Vec<&str> = self.names().collect();
            match names[..] {
                [] => format!("there is no group \"{name}\": the file has no [groups]"),
                _ => format!(
                    "there is no group \"{name}\"; [groups] has {}",
                    names.join(", ")
                ),
            }
        })
    }

    /// Returns the names of all groups.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|(name, _)| name.as_str())
    }

    /// Returns all groups.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[NicId])> {
        self.groups
            .iter()
            .map(|(name, members)| (name.as_str(), &members[..]))
    }
}

/// An error of one group in a fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadGroup {
    pub name: String,
    /// Another group that is involved.
    pub other: Option<String>,
    pub problem: String,
}

/// The occasion of the order in which NICs are drawn; permutations of patterns have smaller ones.
const DRAWING: u32 = u32::MAX;

impl Groups {
    /// Reads `[groups]` from the root of a file.
    pub fn read(root: &mut Section<'_>) -> Option<Groups> {
        let Some(value) = root.raw("groups") else {
            return Some(Groups::default());
        };
        let ValueShape::Table(entries) = &value.shape else {
            let message = format!("expected a table, found {}", value.shape.word());
            let help = "use [groups] with a line per group, like victims = \"random 100\"";
            root.notes.error("E0101", value.place, message).help(help);
            return None;
        };
        let mut groups = Some(vec![]);
        let mut resolved = Resolved::default();
        for (name, place, value) in entries {
            let is_good = is_name(name) && !WORDS.contains(&name.as_str());
            if !is_good {
                let message = format!("\"{name}\" cannot name a group");
                let help = format!(
                    "use a letter, then letters, digits, - and _; do not use the words {}",
                    WORDS.join(", ")
                );
                root.notes.error("E0612", *place, message).help(help);
            }
            match (Members::read(value, root.notes), &mut groups) {
                (Some(members), Some(groups)) if is_good => {
                    resolved.lines.push(ResolvedLine::Value {
                        key: name.clone(),
                        text: members.write(),
                        is_default: false,
                    });
                    groups.push((name.clone(), members));
                }
                _ => groups = None,
            }
        }
        let line = ResolvedLine::Table("groups".into(), resolved);
        root.resolved.lines.push(line);
        groups.map(Groups)
    }

    /// Returns whether other seeds give other members.
    pub(crate) fn are_random(&self) -> bool {
        let is_random = |(_, members): &(String, Members)| matches!(members, Members::Random(_));
        self.0.iter().any(is_random)
    }

    /// Returns whether another seed can give a group other members: it draws, or takes the rest of
    /// draws.
    pub fn is_drawn(&self, name: &str) -> bool {
        let group = self.0.iter().find(|(known, _)| known == name);
        self.are_random() && group.is_some_and(|(_, members)| !matches!(members, Members::Set(_)))
    }

    /// Returns the members of every group for a seed, or every error.
    ///
    /// Sets are assigned first. Then every group takes from the remaining NICs, in the order
    /// written; "rest" is last. Random groups use one random order of all NICs, so a further group
    /// does not change those before it. The number of members of a group does not depend on the
    /// seed.
    pub fn draw(&self, n_nics: u32, seed: u64) -> Result<GroupMembers, Vec<BadGroup>> {
        let mut owners: Vec<Option<usize>> = vec![None; n_nics as usize];
        let mut bad = vec![];
        let mut wrong = |at: usize, other: Option<usize>, problem: String| {
            bad.push(BadGroup {
                name: self.0[at].0.clone(),
                other: other.map(|at: usize| self.0[at].0.clone()),
                problem,
            });
        };
        for (at, (_, members)) in self.0.iter().enumerate() {
            let Members::Set(set) = members else {
                continue;
            };
            match set.members(n_nics, &NO_GROUPS) {
                Err(problem) => wrong(at, None, problem),
                Ok(nics) => {
                    let taken = nics.iter().find(|nic| owners[nic.index()].is_some());
                    if let Some(nic) = taken {
                        let other = owners[nic.index()];
                        let name = other.map_or("", |at| &self.0[at].0);
                        wrong(at, other, format!("{nic} is also in `{name}`"));
                    }
                    nics.iter().for_each(|nic| owners[nic.index()] = Some(at));
                }
            }
        }
        let order = match self.are_random() {
            true => permutation(&Stream::new(seed, Purpose::Placement), DRAWING, n_nics),
            false => vec![],
        };
        for (at, (_, members)) in self.0.iter().enumerate() {
            let (n, order): (u32, &mut dyn Iterator<Item = u32>) = match members {
                Members::Next(n) => (*n, &mut (0..n_nics)),
                Members::Random(n) => (*n, &mut order.iter().copied()),
                Members::Set(_) | Members::Rest => continue,
            };
            let free: Vec<u32> = order
                .filter(|nic| owners[*nic as usize].is_none())
                .take(n as usize)
                .collect();
            if free.len() < n as usize {
                let problem = format!("cannot take {n} NICs: {} are left", free.len());
                wrong(at, None, problem);
            }
            free.iter().for_each(|nic| owners[*nic as usize] = Some(at));
        }
        let mut rest = self.positions(&Members::Rest);
        if let Some(at) = rest.next() {
            let mut free = owners.iter_mut().filter(|owner| owner.is_none()).peekable();
            if free.peek().is_none() {
                wrong(at, None, "no NIC is left".to_owned());
            }
            free.for_each(|owner| *owner = Some(at));
            for second in rest {
                wrong(second, Some(at), "two groups take the rest".to_owned());
            }
        }
        if !bad.is_empty() {
            return Err(bad);
        }
        let mut groups: Vec<(String, Vec<NicId>)> = self
            .0
            .iter()
            .map(|(name, _)| (name.clone(), vec![]))
            .collect();
        for (nic, owner) in (0..).map(NicId).zip(owners) {
            if let Some(owner) = owner {
                groups[owner].1.push(nic);
            }
        }
        Ok(GroupMembers { groups })
    }

    fn positions(&self, of: &Members) -> impl Iterator<Item = usize> {
        let groups = self.0.iter().enumerate();
        groups.filter_map(move |(at, (_, members))| (members == of).then_some(at))
    }
}

#[cfg(test)]
mod tests {
    use netloom_catalog::Document;
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Groups, Vec<String>> {
        let mut notes = Notes::new();
        let document = Document::parse("x.toml", text, &mut notes);
        let mut root = Section::open(&document.root, &mut notes).expect("a table");
        let groups = Groups::read(&mut root);
        let resolved = root.finish().to_toml(false);
        if groups.is_some() && !text.is_empty() {
            assert_eq!(resolved.trim(), text.trim(), "written back");
        }
        let messages = || notes.sorted().into_iter().map(|note| note.message);
        groups.ok_or_else(|| messages().collect())
    }

    fn problems(text: &str, n_nics: u32) -> Vec<String> {
        let bad = read(text).unwrap().draw(n_nics, 1).unwrap_err();
        bad.into_iter()
            .map(|bad| format!("{}: {}", bad.name, bad.problem))
            .collect()
    }

    #[test]
    fn v002_10_victims_aggressors_and_hot_spots_share_the_machine() {
        let groups = read(
            "[groups]\nhot-spots = \"random 12\"\naggressors = \"random 48\"\nvictims = \"rest\"",
        );
        let drawn = groups.unwrap().draw(3080, 1).unwrap();
        let n = |name| drawn.members(name).unwrap().len();
        assert_eq!(
            (n("victims"), n("aggressors"), n("hot-spots")),
            (3020, 48, 12)
        );
        let mut all: Vec<NicId> = drawn.iter().flat_map(|(_, nics)| nics).copied().collect();
        all.sort_unstable();
        assert!(all.into_iter().eq((0..3080).map(NicId)), "each NIC in one");
        // Scattered: of 31 intervals of a hundred NICs, 48 fall into most that chance would reach.
        let mut stretches: Vec<u32> = drawn
            .members("aggressors")
            .unwrap()
            .iter()
            .map(|nic| nic.0 / 100)
            .collect();
        stretches.dedup();
        assert!(stretches.len() > 15, "{stretches:?}");
    }

    #[test]
    fn sets_come_first_then_the_order_of_the_file() {
        let groups = read("[groups]\nfirst = \"next 3\"\nrest-of-it = \"rest\"\nlisted = [1, 6]");
        let drawn = groups.unwrap().draw(8, 1).unwrap();
        let members = |name| -> Vec<u32> {
            drawn
                .members(name)
                .unwrap()
                .iter()
                .map(|nic| nic.0)
                .collect()
        };
        assert_eq!(members("listed"), [1, 6]);
        assert_eq!(members("first"), [0, 2, 3]);
        assert_eq!(members("rest-of-it"), [4, 5, 7]);
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        let text = "[groups]\nall = \"0-3\"\n7up = \"4\"\nmore = \"random many\"\n\
            none = \"next 0\"\nof = \"more\"\nwrong = 3";
        assert_eq!(
            read(text).unwrap_err(),
            [
                "\"all\" cannot name a group",
                "\"7up\" cannot name a group",
                "\"many\" is not a number of NICs",
                "\"0\" is not a number of NICs",
                "\"more\" is not a set of NICs",
                "expected a set of NICs, found an integer",
            ]
        );
        assert_eq!(
            read("groups = 3").unwrap_err(),
            ["expected a table, found an integer"]
        );
        let text = "[groups]\na = \"0-3\"\nb = \"3-4\"\nc = \"9\"\nd = \"random 4\"\n\
            e = \"rest\"\nf = \"rest\"";
        assert_eq!(
            problems(text, 8),
            [
                "b: nic 3 is also in `a`",
                "c: nic 9 does not exist: the fabric has NICs 0 to 7",
                "d: cannot take 4 NICs: 3 are left",
                "e: no NIC is left",
                "f: two groups take the rest",
            ]
        );
        assert_eq!(
            NO_GROUPS.members("victims").unwrap_err(),
            "there is no group \"victims\": the file has no [groups]"
        );
        let drawn = read("[groups]\na = \"0\"\nb = \"1\"")
            .unwrap()
            .draw(2, 1)
            .unwrap();
        assert_eq!(
            drawn.members("c").unwrap_err(),
            "there is no group \"c\"; [groups] has a, b"
        );
    }

    proptest! {
        #[test]
        fn a_further_group_changes_none_before_it(a in 1u32..30, b in 1u32..30, seed: u64) {
            let group = |name: &str, n| (name.to_owned(), Members::Random(n));
            let two = Groups(vec![group("a", a), group("b", b)]);
            let three = Groups(vec![group("a", a), group("b", b), group("c", 4)]);
            let (two, three) = (two.draw(64, seed).unwrap(), three.draw(64, seed).unwrap());
            for name in ["a", "b"] {
                prop_assert_eq!(two.members(name), three.members(name));
            }
            let mut all: Vec<NicId> = three.iter().flat_map(|(_, nics)| nics).copied().collect();
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!(all.len() as u32, a + b + 4);
        }
    }

    #[test]
    fn every_nic_is_as_likely_and_seeds_differ() {
        let groups = Groups(vec![("some".to_owned(), Members::Random(4))]);
        let mut counts = [0; 16];
        for seed in 0..4000 {
            for nic in groups.draw(16, seed).unwrap().members("some").unwrap() {
                counts[nic.index()] += 1;
            }
        }
        assert!(counts.iter().all(|n| (850..1150).contains(n)), "{counts:?}");
    }
}

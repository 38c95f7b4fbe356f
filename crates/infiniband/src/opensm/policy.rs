//! qos-policy.conf: the service levels of paths.
//!
//! The file has the sections `port-groups`, `qos-levels`, `qos-match-rules`, and `qos-ulps` for the
//! simple form. OpenSM also reads `qos-setup` but does not use it. If OpenSM rejects anything, it
//! runs without the policy; every such error is a [`Refusal`].

use netloom_catalog::Place;

/// A `key: value` line of a group, a level or a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyLine {
    pub key: String,
    /// The value, without surrounding white space.
    pub value: String,
    /// The place of the value.
    pub place: Place,
}

/// A group of ports.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PortGroup {
    /// The place of its first line.
    pub place: Place,
    /// Its lines.
    pub lines: Vec<PolicyLine>,
}

/// A QoS level.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QosLevel {
    /// The place of its first line.
    pub place: Place,
    /// Its lines.
    pub lines: Vec<PolicyLine>,
}

/// A rule that sets the level of paths.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MatchRule {
    /// The place of its first line.
    pub place: Place,
    /// Its lines.
    pub lines: Vec<PolicyLine>,
}

/// A rule of the simple form: `any, target-port-guid 0x1-0x9 : 3`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UlpRule {
    /// The place of the line.
    pub place: Place,
    /// `any`, `sdp`, `srp`, `rds`, `iser`, `ipoib` or `default`.
    pub ulp: String,
    /// `service-id`, `pkey`, `target-port-guid`, `source-port-guid` or `port-num`, with its ranges.
    pub criterion: Option<(String, Vec<(u64, u64)>)>,
    /// The service level.
    pub sl: u8,
}

/// A reason why OpenSM rejects the policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The place of the error.
    pub place: Place,
    /// The message.
    pub why: String,
    /// The error code that OpenSM logs.
    pub code: &'static str,
}

/// A policy file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Policy {
    /// Index of the text in the report.
    pub source: u16,
    pub groups: Vec<PortGroup>,
    pub levels: Vec<QosLevel>,
    /// Rules; the first that matches a path sets the level.
    pub rules: Vec<MatchRule>,
    /// Rules of the simple form, applied after `rules`; the first that matches counts.
    pub ulps: Vec<UlpRule>,
    /// The place of `qos-setup`, which has no effect.
    pub setup: Option<Place>,
    /// The errors that make OpenSM reject the file.
    pub refusals: Vec<Refusal>,
}

const SYNTAX: &str = "AC05";

/// Sections, their elements, and the keys of an element.
const SECTIONS: [(&str, &str, &[&str]); 3] = [
    (
        "port-groups",
        "port-group",
        &[
            "name",
            "use",
            "port-guid",
            "port-name",
            "pkey",
            "partition",
            "node-type",
        ],
    ),
    (
        "qos-levels",
        "qos-level",
        &[
            "name",
            "use",
            "sl",
            "mtu-limit",
            "rate-limit",
            "packet-life",
            "path-bits",
            "pkey",
        ],
    ),
    (
        "qos-match-rules",
        "qos-match-rule",
        &[
            "use",
            "qos-class",
            "qos-level-name",
            "source",
            "destination",
            "service-id",
            "pkey",
        ],
    ),
];

/// The words of the simple form, and the criteria that may follow them.
const ULPS: [(&str, &[&str]); 7] = [
    ("default", &[]),
    (
        "any",
        &["service-id", "pkey", "target-port-guid", "source-port-guid"],
    ),
    ("sdp", &["", "port-num"]),
    ("rds", &["", "port-num"]),
    ("iser", &["", "port-num"]),
    ("srp", &["target-port-guid"]),
    ("ipoib", &["", "pkey"]),
];

/// Returns the line of a key.
fn get<'a>(lines: &'a [PolicyLine], key: &str) -> Option<&'a PolicyLine> {
    lines.iter().find(|line| line.key == key)
}

impl PortGroup {
    /// Returns the name.
    pub fn name(&self) -> Option<&str> {
        get(&self.lines, "name").map(|line| line.value.as_str())
    }
}

impl QosLevel {
    /// Returns the name.
    pub fn name(&self) -> Option<&str> {
        get(&self.lines, "name").map(|line| line.value.as_str())
    }

    /// Returns the service level.
    pub fn sl(&self) -> Option<u8> {
        get(&self.lines, "sl")?.value.parse().ok()
    }
}

impl MatchRule {
    /// Returns the line with the name of the level.
    pub fn level(&self) -> Option<&PolicyLine> {
        get(&self.lines, "qos-level-name")
    }

    /// Returns the groups of the `source` and `destination` lines.
    pub fn groups(&self) -> impl Iterator<Item = (&str, &PolicyLine)> {
        let lines = self.lines.iter();
        lines
            .filter(|line| matches!(line.key.as_str(), "source" | "destination"))
            .flat_map(|line| line.value.split(',').map(move |name| (name.trim(), line)))
    }
}

/// Removes quotes, and spaces outside quotes, from a name, as OpenSM does.
pub(super) fn without_spaces(name: &str) -> String {
    let mut is_quoted = false;
    let mut stripped = String::new();
    for letter in name.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' | '\t' if !is_quoted => {}
            letter => stripped.push(letter),
        }
    }
    stripped
}

/// Parses the numbers and ranges of a list such as `0x10-0x20,7`.
pub(super) fn ranges(list: &str) -> Option<Vec<(u64, u64)>> {
    let number = |text: &str| match text.trim().strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.trim().parse().ok(),
    };
    list.split(',')
        .map(|item| match item.split_once('-') {
            Some((first, last)) => Some((number(first)?, number(last)?)),
            None => Some((number(item)?, number(item)?)),
        })
        .collect()
}

/// A line of the file without its comment, and its place.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    place: Place,
}

/// The state of the parser.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Nothing,
    /// A section of [`SECTIONS`].
    Section(usize),
    /// An element of that section.
    Thing(usize),
    Ulps,
    Setup,
}

impl Policy {
    /// Reads a file. The errors that make OpenSM reject it are in [`Policy::refusals`].
    pub fn read(text: &str, source: u16) -> Policy {
        let mut policy = Policy {
            source,
            ..Policy::default()
        };
        let mut inside = Inside::Nothing;
        let mut start = 0;
        let mut end = Place::default();
        for whole in text.split_inclusive('\n') {
            let content = whole.split('#').next().unwrap_or_default();
            let from = start + (content.len() - content.trim_start().len());
            let line = Line {
                text: content.trim(),
                place: place(source, from, from + content.trim().len()),
            };
            start += whole.len();
            end = line.place;
            if whole.contains('#') && !whole.ends_with('\n') {
                let why = "the comment on the last line has no line end".to_owned();
                policy.refuse(line.place, why, SYNTAX);
            }
            if !line.text.is_empty() {
                inside = policy.read_line(line, inside);
            }
        }
        if inside != Inside::Nothing {
            policy.refuse(end, "the file ends within a section".to_owned(), SYNTAX);
        }
        policy.check_names();
        policy
    }

    fn refuse(&mut self, place: Place, why: String, code: &'static str) {
        self.refusals.push(Refusal { place, why, code });
    }

    fn read_line(&mut self, line: Line<'_>, inside: Inside) -> Inside {
        let word = line.text;
        match inside {
            Inside::Nothing => match word {
                "qos-ulps" => Inside::Ulps,
                "qos-setup" => {
                    self.setup.get_or_insert(line.place);
                    Inside::Setup
                }
                _ => match SECTIONS.iter().position(|(name, _, _)| *name == word) {
                    Some(section) => Inside::Section(section),
                    None => self.syntax(line, inside, "expected the start of a section"),
                },
            },
            Inside::Setup => match word {
                "end-qos-setup" => Inside::Nothing,
                _ => inside,
            },
            Inside::Ulps if word == "end-qos-ulps" => Inside::Nothing,
            Inside::Ulps => {
                self.read_ulp(line);
                inside
            }
            Inside::Section(section) => {
                let (name, thing, _) = SECTIONS[section];
                if word == thing {
                    self.begin(section, line.place);
                    Inside::Thing(section)
                } else if word.strip_prefix("end-") == Some(name) {
                    Inside::Nothing
                } else {
                    self.syntax(line, inside, &format!("expected `{thing}`"))
                }
            }
            Inside::Thing(section) => {
                let (_, thing, keys) = SECTIONS[section];
                if word.strip_prefix("end-") == Some(thing) {
                    self.check_thing(section, line.place);
                    return Inside::Section(section);
                }
                let Some((key, value)) = word.split_once(':') else {
                    return self.syntax(
                        line,
                        inside,
                        &format!("expected `key: value` in a {thing}"),
                    );
                };
                if !keys.contains(&key.trim()) {
                    let why = format!("unknown key `{}` in a {thing}", key.trim());
                    return self.syntax(line, inside, &why);
                }
                let value_start = key.len() + 1 + (value.len() - value.trim_start().len());
                let read = PolicyLine {
                    key: key.trim().to_owned(),
                    value: value.trim().to_owned(),
                    place: Place {
                        start: line.place.start + value_start as u32,
                        ..line.place
                    },
                };
                self.lines_of(section).push(read);
                inside
            }
        }
    }

    fn syntax(&mut self, line: Line<'_>, inside: Inside, why: &str) -> Inside {
        self.refuse(line.place, why.to_owned(), SYNTAX);
        inside
    }

    fn begin(&mut self, section: usize, place: Place) {
        let lines = vec![];
        match section {
            0 => self.groups.push(PortGroup { place, lines }),
            1 => self.levels.push(QosLevel { place, lines }),
            _ => self.rules.push(MatchRule { place, lines }),
        }
    }

    fn lines_of(&mut self, section: usize) -> &mut Vec<PolicyLine> {
        let lines = match section {
            0 => self.groups.last_mut().map(|group| &mut group.lines),
            1 => self.levels.last_mut().map(|level| &mut level.lines),
            _ => self.rules.last_mut().map(|rule| &mut rule.lines),
        };
        lines.expect("lines come after the thing has begun")
    }

    /// Checks that a group, a level or a rule has all its required keys.
    fn check_thing(&mut self, section: usize, place: Place) {
        let (_, thing, _) = SECTIONS[section];
        let needed: &[&str] = match section {
            0 => &["name"],
            1 => &["name", "sl"],
            _ => &["qos-level-name"],
        };
        let lines = self.lines_of(section).clone();
        for key in needed.iter().filter(|key| get(&lines, key).is_none()) {
            self.refuse(place, format!("the {thing} has no `{key}`"), SYNTAX);
        }
        if let Some(sl) = get(&lines, "sl").filter(|_| section == 1)
            && !matches!(sl.value.parse::<u8>(), Ok(0..=15))
        {
            self.refuse(
                sl.place,
                format!("`{}` is not a service level", sl.value),
                SYNTAX,
            );
        }
    }

    fn read_ulp(&mut self, line: Line<'_>) {
        let Some((head, sl)) = line.text.rsplit_once(':') else {
            self.syntax(
                line,
                Inside::Ulps,
                "expected `: SL` at the end of a rule of qos-ulps",
            );
            return;
        };
        let Ok(sl @ 0..=15) = sl.trim().parse::<u8>() else {
            let why = format!("`{}` is not a service level", sl.trim());
            self.syntax(line, Inside::Ulps, &why);
            return;
        };
        let (ulp, criterion) = match head.split_once(',') {
            Some((ulp, criterion)) => (ulp.trim(), criterion.trim()),
            None => (head.trim(), ""),
        };
        let ulp = ulp.to_lowercase();
        let (kind, list) = match criterion.split_once(char::is_whitespace) {
            Some((kind, list)) => (kind, list),
            None => (criterion, ""),
        };
        let Some((_, kinds)) = ULPS.iter().find(|(name, _)| *name == ulp) else {
            let why = format!("unknown protocol `{ulp}` in qos-ulps");
            self.syntax(line, Inside::Ulps, &why);
            return;
        };
        let criterion = match (kind, ranges(list)) {
            ("", _) if kinds.is_empty() || kinds.contains(&"") => None,
            (kind, Some(ranges)) if !kind.is_empty() && kinds.contains(&kind) => {
                Some((kind.to_owned(), ranges))
            }
            _ => {
                self.syntax(
                    line,
                    Inside::Ulps,
                    &format!("`{ulp}` cannot have `{criterion}`"),
                );
                return;
            }
        };
        self.ulps.push(UlpRule {
            place: line.place,
            ulp,
            criterion,
            sl,
        });
    }

    /// Checks for unknown names, and for the default level that every policy needs.
    fn check_names(&mut self) {
        if !self.refusals.is_empty() {
            return;
        }
        let mut refusals = vec![];
        let mut refuse = |place, why, code| refusals.push(Refusal { place, why, code });
        let levels: Vec<String> = self
            .levels
            .iter()
            .filter_map(|level| Some(without_spaces(level.name()?)))
            .collect();
        let has_default = levels
            .iter()
            .any(|name| name.eq_ignore_ascii_case("default"))
            || self.ulps.iter().any(|rule| rule.ulp == "default");
        if !has_default {
            let why = "the policy has no default level".to_owned();
            refuse(place(self.source, 0, 0), why, "AC10");
        }
        for rule in &self.rules {
            let level = rule.level();
            if let Some(line) = level.filter(|line| !levels.contains(&without_spaces(&line.value)))
            {
                let why = format!("there is no qos-level `{}`", line.value);
                refuse(line.place, why, "AC11");
            }
            for (name, line) in rule.groups() {
                let groups = self.groups.iter().filter_map(PortGroup::name);
                if !groups
                    .into_iter()
                    .any(|group| without_spaces(group) == without_spaces(name))
                {
                    let why = format!("there is no port-group `{name}`");
                    refuse(line.place, why, "AC12");
                }
            }
        }
        self.refusals = refusals;
    }
}

fn place(source: u16, start: usize, end: usize) -> Place {
    let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Place {
        source,
        start: clip(start),
        end: clip(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: &str =
        "qos-levels\n qos-level\n  name: DEFAULT\n  sl: 2\n end-qos-level\nend-qos-levels\n";

    fn refusals(text: &str) -> Vec<(&'static str, String)> {
        let policy = Policy::read(text, 1);
        let refusals = policy.refusals.into_iter();
        refusals
            .map(|refusal| (refusal.code, refusal.why))
            .collect()
    }

    #[test]
    fn both_forms_are_read() {
        let text = format!(
            "port-groups\n port-group # ours\n  name: storage\n  port-guid: 0x1-0x2,0x5\n \
             end-port-group\nend-port-groups\n{LEVELS}\
             qos-match-rules\n qos-match-rule\n  source: storage\n  qos-level-name: DEFAULT\n \
             end-qos-match-rule\nend-qos-match-rules\n\
             qos-ulps\n default : 0\n any, service-id 0x10-0x1f,7 : 3\nend-qos-ulps\n"
        );
        let policy = Policy::read(&text, 1);
        assert_eq!(policy.refusals, []);
        assert_eq!(policy.groups[0].name(), Some("storage"));
        assert_eq!(policy.levels[0].sl(), Some(2));
        assert_eq!(policy.rules[0].groups().next().unwrap().0, "storage");
        let rule = &policy.ulps[1];
        assert_eq!(
            (rule.sl, &text[rule.place.start as usize..][..3]),
            (3, "any")
        );
        let expected = ("service-id".to_owned(), vec![(0x10, 0x1f), (7, 7)]);
        assert_eq!(rule.criterion, Some(expected));
    }

    #[test]
    fn what_opensm_refuses_is_reported() {
        let rule = |lines: &str| {
            format!(
                "{LEVELS}qos-match-rules\nqos-match-rule\n{lines}end-qos-match-rule\n\
                 end-qos-match-rules\n"
            )
        };
        let cases = [
            (String::new(), "AC10", "the policy has no default level"),
            (
                "qos-ulps\ndefault : 16\nend-qos-ulps\n".to_owned(),
                "AC05",
                "`16` is not a service level",
            ),
            (
                "qos-ulps\ndefault : 1\nnfs : 2\nend-qos-ulps\n".to_owned(),
                "AC05",
                "unknown protocol `nfs` in qos-ulps",
            ),
            (
                rule("service-id: 1\nqos-level-name: Y\n"),
                "AC11",
                "there is no qos-level `Y`",
            ),
            (
                rule("source: nope\nqos-level-name: DEFAULT\n"),
                "AC12",
                "there is no port-group `nope`",
            ),
            (
                rule("service-id: 1\n"),
                "AC05",
                "the qos-match-rule has no `qos-level-name`",
            ),
            (
                format!("{LEVELS}# the end"),
                "AC05",
                "the comment on the last line has no line end",
            ),
            (
                "port-groups\nport-group\nport-nam: x\nend-port-group\nend-port-groups\n"
                    .to_owned(),
                "AC05",
                "unknown key `port-nam` in a port-group",
            ),
        ];
        for (text, code, why) in cases {
            let found = refusals(&text);
            assert_eq!(found.first(), Some(&(code, why.to_owned())), "{text}");
        }
    }

    #[test]
    fn setup_is_seen_and_skipped() {
        let text = format!(
            "{LEVELS}qos-setup\n vlarb-tables\n whatever\n end-vlarb-tables\nend-qos-setup\n"
        );
        let policy = Policy::read(&text, 1);
        assert_eq!(policy.refusals, []);
        assert!(policy.setup.is_some());
    }

    #[test]
    fn spaces_outside_of_quotes_are_lost() {
        assert_eq!(without_spaces("node000 mlx5_0/P1"), "node000mlx5_0/P1");
        assert_eq!(without_spaces("\"node000 mlx5_0\"/P1"), "node000 mlx5_0/P1");
    }
}

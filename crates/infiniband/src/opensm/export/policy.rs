//! Writes groups of ports and their service levels as qos-policy.conf.
//!
//! Ports are listed by GUID, since unquoted names with spaces match nothing, and several nodes may
//! share a name.

use std::fmt::Write as _;

use crate::Guid;

/// GUIDs per line of the file.
const GUIDS_PER_LINE: usize = 8;

/// The end of a path that must be in a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathEnd {
    /// Paths that start in the group.
    Source,
    /// Paths that end in the group.
    Destination,
    /// Paths that start or end in the group.
    Either,
}

/// Ports whose paths get a service level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyGroup {
    /// The name of the group. Only letters, digits, `_` and `-` are kept.
    pub name: String,
    pub ports: Vec<Guid>,
    pub sl: u8,
    /// The end of a path that must be one of the ports.
    pub end: PathEnd,
}

/// Writes a policy file. The first group that matches a path sets the level; all other paths get
/// `default_sl`.
pub fn qos_policy(groups: &[PolicyGroup], default_sl: u8) -> String {
    let mut text = String::from("port-groups\n");
    for (n, group) in groups.iter().enumerate() {
        let _ = writeln!(text, "    port-group\n        name: {}", name(n, group));
        for guids in group.ports.chunks(GUIDS_PER_LINE) {
            let list: Vec<String> = guids.iter().map(Guid::to_string).collect();
            let _ = writeln!(text, "        port-guid: {}", list.join(","));
        }
        text.push_str("    end-port-group\n");
    }
    text.push_str("end-port-groups\n\nqos-levels\n");
    write_level(&mut text, "DEFAULT", default_sl);
    for (n, group) in groups.iter().enumerate() {
        write_level(&mut text, &name(n, group), group.sl);
    }
    text.push_str("end-qos-levels\n");
    if groups.is_empty() {
        return text.replace("port-groups\nend-port-groups\n\n", "");
    }
    text.push_str("\nqos-match-rules\n");
    for (n, group) in groups.iter().enumerate() {
        let ends: &[&str] = match group.end {
            PathEnd::Source => &["source"],
            PathEnd::Destination => &["destination"],
            PathEnd::Either => &["source", "destination"],
        };
        let name = name(n, group);
        for end in ends {
            let _ = writeln!(
                text,
                "    qos-match-rule\n        {end}: {name}\n        qos-level-name: \
                 {name}\n    end-qos-match-rule"
            );
        }
    }
    text.push_str("end-qos-match-rules\n");
    text
}

fn write_level(text: &mut String, name: &str, sl: u8) {
    let _ = writeln!(
        text,
        "    qos-level\n        name: {name}\n        sl: {sl}\n    end-qos-level"
    );
}

/// Returns a unique name without spaces.
fn name(n: usize, group: &PolicyGroup) -> String {
    let is_allowed = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let allowed: String = group.name.chars().filter(is_allowed).collect();
    format!("g{n}_{allowed}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opensm::Policy;

    #[test]
    fn what_is_written_is_not_refused() {
        let groups = [
            PolicyGroup {
                name: "storage targets".to_owned(),
                ports: (1..20).map(Guid).collect(),
                sl: 3,
                end: PathEnd::Either,
            },
            PolicyGroup {
                name: "default".to_owned(),
                ports: vec![Guid(0x98039b0300100001)],
                sl: 5,
                end: PathEnd::Source,
            },
        ];
        let policy = Policy::read(&qos_policy(&groups, 1), 0);
        assert_eq!(policy.refusals, []);
        assert_eq!(policy.groups[0].name(), Some("g0_storagetargets"));
        assert_eq!(policy.groups[0].lines.len(), 4);
        assert_eq!(policy.rules.len(), 3);
        let levels: Vec<Option<u8>> = policy.levels.iter().map(|level| level.sl()).collect();
        assert_eq!(levels, [Some(1), Some(3), Some(5)]);
        assert_eq!(Policy::read(&qos_policy(&[], 0), 0).refusals, []);
    }
}

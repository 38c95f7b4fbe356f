//! What environments are compared with: the classes of a plan, and the lane of each level.

use std::fmt;

use crate::table::table;

/// A kind of link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    InfiniBand,
    Roce,
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Link::InfiniBand => "InfiniBand",
            Link::Roce => "RoCE",
        })
    }
}

/// A library that a class carries: `nccl`, or `ucx@prefill` in the process `prefill` only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Carried {
    pub library: String,
    /// The process; `None` is the process of all libraries without one.
    pub process: Option<String>,
}

/// The most characters of a process name.
const LONGEST: usize = 40;

impl Carried {
    /// Parses `LIBRARY` or `LIBRARY@PROCESS`.
    ///
    /// # Errors
    /// If the library is not in the table, or the process has other characters than letters,
    /// digits, `-`, `_` and `.`. Returns the message, and the nearest name or a hint.
    pub fn parse(text: &str) -> Result<Carried, (String, String)> {
        let (library, process) = match text.split_once('@') {
            Some((library, process)) => (library, Some(process)),
            None => (text, None),
        };
        if table().library(library).is_none() {
            let shown = netloom_catalog::visible_name(library).into_owned();
            let near = netloom_catalog::nearest(library, table().names());
            let help = match near {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => {
                    let names: Vec<&str> = table().names().collect();
                    format!("use one of {}", names.join(", "))
                }
            };
            return Err((format!("expected a library, found \"{shown}\""), help));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if let Some(process) = process
            && (process.is_empty() || process.len() > LONGEST || !process.chars().all(is_plain))
        {
            let help = format!("use 1 to {LONGEST} letters, digits, -, _ and . after @");
            return Err(("the name of the process cannot be used".to_owned(), help));
        }
        Ok(Carried {
            library: library.to_owned(),
            process: process.map(str::to_owned),
        })
    }
}

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.process {
            Some(process) => write!(f, "{}@{process}", self.library),
            None => f.write_str(&self.library),
        }
    }
}

/// A class of a plan, or a lane of a real site.
#[derive(Clone, PartialEq, Debug)]
pub struct Class {
    pub name: String,
    /// The service level; on RoCE the priority.
    pub level: u8,
    pub lane: u8,
    /// The share of the link, as text.
    pub share: String,
    /// The longest wait at an output, as text.
    pub wait: String,
    /// Whether the class is in the high-priority table.
    pub is_high: bool,
    pub has_deadline: bool,
    pub dscps: Vec<u8>,
    /// Whether PFC protects the class.
    pub is_lossless: bool,
    pub carries: Vec<Carried>,
}

/// The classes that packets can belong to.
#[derive(Clone, Default, Debug)]
pub struct Classes {
    pub classes: Vec<Class>,
    /// The lane of each service level.
    pub lanes: [u8; 16],
}

impl Classes {
    /// Returns the class of a service level.
    pub fn of_level(&self, level: u16) -> Option<&Class> {
        self.classes
            .iter()
            .find(|class| u16::from(class.level) == level)
    }

    /// Returns the class of a code point.
    pub fn of_dscp(&self, dscp: u8) -> Option<&Class> {
        self.classes
            .iter()
            .find(|class| class.dscps.contains(&dscp))
    }

    /// Returns the class of a value: a service level on InfiniBand, a traffic class on RoCE.
    pub fn of(&self, link: Link, value: u16) -> Option<&Class> {
        match link {
            Link::InfiniBand => self.of_level(value),
            Link::Roce => self.of_dscp(dscp(value)),
        }
    }
}

/// Returns the code point of a traffic class.
pub fn dscp(traffic_class: u16) -> u8 {
    (traffic_class >> 2) as u8 & 63
}

/// Returns the traffic class of a code point, with the bits of a sender that reacts to ECN marks.
pub fn traffic_class(dscp: u8) -> u16 {
    u16::from(dscp & 63) * 4 + 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_may_name_its_process() {
        let carried = Carried::parse("ucx@prefill").unwrap();
        assert_eq!(carried.process.as_deref(), Some("prefill"));
        assert_eq!(carried.to_string(), "ucx@prefill");
        assert_eq!(Carried::parse("nccl").unwrap().process, None);
        let (message, help) = Carried::parse("ncl").unwrap_err();
        assert_eq!(message, "expected a library, found \"ncl\"");
        assert_eq!(help, "did you mean \"nccl\"?");
        for wrong in ["ucx@", "ucx@a b", "ucx@\u{1b}[31m", "", "@a"] {
            assert!(Carried::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_traffic_class_is_four_times_the_dscp() {
        assert_eq!((traffic_class(26), dscp(106), dscp(3)), (106, 26, 0));
    }
}

//! Recognises the format of a text.

use super::scanner::{decimal, hex, lines};

/// The supported formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A listing of `ibnetdiscover`, or a net file of `ibsim`.
    Ibnetdiscover,
    /// `opensm-subnet.lst`.
    SubnetList,
    /// `opensm-lfts.dump`, `dump_fts`, `dump_lfts` or `ibroute`.
    Forwarding,
    /// `opensm.fdbs`.
    Fdbs,
    /// `opensm-sl2vl.dump`.
    SlToVlDump,
    /// Output of `smpquery sl2vl`, `vlarb` or `portinfo`.
    Smpquery,
    /// Service levels of paths, as `ibdmchk -c` reads them.
    PathLevels,
    /// Lanes of switches, as `ibdmchk -d` reads them.
    Slvl,
}

/// The names of the formats in messages.
const NAMES: [(Format, &str); 8] = [
    (Format::Ibnetdiscover, "a listing of ibnetdiscover"),
    (Format::SubnetList, "opensm-subnet.lst"),
    (
        Format::Forwarding,
        "forwarding tables (opensm-lfts.dump, dump_fts)",
    ),
    (Format::Fdbs, "opensm.fdbs"),
    (Format::SlToVlDump, "opensm-sl2vl.dump"),
    (Format::Smpquery, "output of smpquery"),
    (Format::PathLevels, "service levels of paths (psl)"),
    (Format::Slvl, "lanes of switches (slvl)"),
];

impl Format {
    /// Returns every format, those of whole subnets first.
    pub fn all() -> impl Iterator<Item = Format> {
        NAMES.iter().map(|(format, _)| *format)
    }

    /// Returns the name of the format in messages.
    pub fn name(self) -> &'static str {
        let found = NAMES.iter().find(|(format, _)| *format == self);
        found.expect("every format has a name").1
    }

    /// Returns whether the format lists a subnet. The others list what is programmed in one.
    pub(crate) fn is_subnet(self) -> bool {
        matches!(self, Format::Ibnetdiscover | Format::SubnetList)
    }
}

/// Beginnings of lines that identify a format.
const BEGINNINGS: [(&str, Format); 17] = [
    ("vendid=", Format::Ibnetdiscover),
    ("switchguid=", Format::Ibnetdiscover),
    ("caguid=", Format::Ibnetdiscover),
    ("# Topology file: generated", Format::Ibnetdiscover),
    ("Hca\t", Format::Ibnetdiscover),
    ("Ca\t", Format::Ibnetdiscover),
    ("Switch\t", Format::Ibnetdiscover),
    ("{ ", Format::SubnetList),
    ("Unicast lids ", Format::Forwarding),
    ("Multicast mlids ", Format::Forwarding),
    ("dump_ucast_routes:", Format::Fdbs),
    ("Switch 0x", Format::SlToVlDump),
    ("Channel Adapter 0x", Format::SlToVlDump),
    ("# SL2VL table:", Format::Smpquery),
    ("# VLArbitration tables:", Format::Smpquery),
    ("# No VLArbitration tables", Format::Smpquery),
    ("# Port info:", Format::Smpquery),
];

/// Number of lines of a text that are examined.
const MOST_LINES: usize = 1000;

/// Returns the format of a text, by the first line that identifies one.
pub fn recognise(text: &str) -> Option<Format> {
    lines(text).take(MOST_LINES).find_map(|line| {
        let line = line.trimmed().text;
        let mut beginnings = BEGINNINGS.iter();
        let known = beginnings.find(|(beginning, _)| line.starts_with(beginning));
        match known {
            // `ibnetdiscover -l` also begins lines with a kind of node.
            Some((_, Format::Ibnetdiscover)) if line.contains(" : 0x") => None,
            Some((_, Format::SubnetList)) if !line.contains("NodeGUID:") => None,
            Some((_, format)) => Some(*format),
            None => numbers(line).or_else(|| node(line)),
        }
    })
}

/// Recognises rows of bare numbers.
fn numbers(line: &str) -> Option<Format> {
    if !line.starts_with("0x") {
        return None;
    }
    let mut words = line.split_whitespace();
    hex(words.next()?)?;
    decimal(words.next()?)?;
    decimal(words.next()?)?;
    match words.count() {
        0 => Some(Format::PathLevels),
        8 => Some(Format::Slvl),
        _ => None,
    }
}

/// Recognises a node of a net file, with blanks instead of the tab.
fn node(line: &str) -> Option<Format> {
    let mut words = line.split_whitespace();
    let kinds = ["Switch", "Ca", "Hca", "Rt"];
    kinds.contains(&words.next()?).then_some(())?;
    decimal(words.next()?)?;
    words
        .next()?
        .starts_with('"')
        .then_some(Format::Ibnetdiscover)
}

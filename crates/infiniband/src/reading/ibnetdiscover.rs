//! Listings of `ibnetdiscover`, in all versions, and net files of `ibsim`, which are a subset.
//!
//! ```text
//! switchguid=0xb8599f0300200040(b8599f0300200040)                      keys before a node
//! Switch 8 "S-b8599f0300200040"   # "leaf1" enhanced port 0 lid 6 lmc 0
//! [1]   "H-98039b0300100040"[1](98039b0300100041)   # "node004 mlx5_0" lid 7 2xHDR
//! ```
//!
//! Not read: chassis and slots, external port numbers, and the lanes of `-f` (`v=4`).

use super::assembly::{Assembly, Description, End, narrow};
use super::forwarding::COMPLAINTS;
use super::mistakes::Mistakes;
use super::scanner::{Cursor, Line, decimal, first_line, hex, lines};
use crate::{Device, Guid, NodeId, NodeKind, Speed, Subnet, Width};

/// Reads a listing. Reports every error, and returns the nodes and cables that could be read.
pub fn read_ibnetdiscover(text: &str, source: u16, notes: &mut netloom_catalog::Notes) -> Subnet {
    let mut mistakes = Mistakes::of(source, notes);
    let mut reader = Reader::default();
    for line in lines(text) {
        reader.line(line.trimmed(), &mut mistakes);
    }
    if let Some(span) = reader.before.first {
        let message = "expected a node after these lines, found the end of the file";
        let note = mistakes.error("E1102", span, message);
        note.map(|note| note.help(CUT_OFF));
    }
    let subnet = reader.assembly.finish(&mut mistakes);
    if subnet.nodes.is_empty() && !mistakes.any() {
        let note = mistakes.error("E1113", first_line(text), "no node in this file");
        note.map(|note| note.help("run `ibnetdiscover` without arguments to list the subnet"));
    }
    mistakes.finish();
    subnet
}

/// Returns the node at which a listing began. Routes of `DR path` that were queried on the same
/// host begin there.
pub fn initiated_from(text: &str) -> Option<Guid> {
    let heading = lines(text).take_while(|line| line.text.is_empty() || line.text.starts_with('#'));
    heading.into_iter().find_map(|line| {
        let mut cursor = line.cursor();
        cursor.eat("# Initiated from node ").then_some(())?;
        cursor.hex().map(Guid)
    })
}

const CUT_OFF: &str = "list the whole subnet again; the file is truncated";

/// Keys that precede a node and belong to it.
#[derive(Default)]
struct Before {
    vendor: Option<u32>,
    device: Option<u32>,
    system: Option<Guid>,
    node: Option<Guid>,
    port_0: Option<Guid>,
    /// The first line with such a key.
    first: Option<std::ops::Range<usize>>,
}

/// The masks of speeds and widths that a net file sets for all ports that follow.
#[derive(Clone, Copy, Default)]
struct Masks {
    width: Option<u64>,
    speed: Option<u64>,
    extended: Option<u64>,
}

#[derive(Default)]
struct Reader<'a> {
    assembly: Assembly<'a>,
    before: Before,
    masks: Masks,
    /// The node whose ports are being read; `None` if it was rejected.
    current: Option<NodeId>,
    /// Whether a node was named at all, so that ports may follow.
    has_current: bool,
    /// Whether the reader assigned the GUID of the node.
    is_numbered: bool,
    /// Numbers of assigned GUIDs per kind of node, counted as `ibsim` does.
    numbered: [u64; 3],
}

/// First GUIDs that `ibsim` assigns to channel adapters, switches and routers.
const NUMBERS_OF_IBSIM: [u64; 3] = [0x10_0000, 0x20_0000, 0x30_0000];

/// Keys of net files that do not describe the cabling.
const OTHER_KEYS: [&str; 3] = ["module", "partition", "mtu"];

impl<'a> Reader<'a> {
    fn line(&mut self, line: Line<'a>, mistakes: &mut Mistakes<'_>) {
        if COMPLAINTS.iter().any(|word| line.text.starts_with(word)) {
            let message = "a node did not answer when the subnet was listed";
            let note = mistakes.warning("E1135", line.span(), message);
            note.map(|note| {
                note.help("list the subnet again; nodes reached through it may be missing")
            });
            return;
        }
        let understood = match line.text.as_bytes().first() {
            None | Some(b'#') => Ok(()),
            Some(b'[') => self.port(line, mistakes),
            Some(_) => self.heading(line, mistakes),
        };
        if let Err(expected) = understood {
            let (code, help) = match line.is_open {
                true => ("E1102", CUT_OFF),
                false => (
                    "E1101",
                    "remove the line; ibnetdiscover prints no such line",
                ),
            };
            let span = line.span_at(&expected.at);
            let note = mistakes.error(code, span, format!("expected {}", expected.what));
            note.map(|note| note.help(help));
        }
    }

    fn heading(&mut self, line: Line<'a>, mistakes: &mut Mistakes<'_>) -> Result<(), Expected<'a>> {
        let mut cursor = line.cursor();
        let end = line.text.find(|c: char| !c.is_ascii_alphabetic());
        let word = &line.text[..end.unwrap_or(line.text.len())];
        cursor.eat(word);
        if cursor.rest.starts_with('=') {
            cursor.eat("=");
            return self.key(word, cursor, line, mistakes);
        }
        let kind = match word {
            "Switch" => NodeKind::Switch {
                enhanced_port_0: false,
            },
            "Ca" | "Hca" => NodeKind::ChannelAdapter,
            "Rt" | "Router" => NodeKind::Router,
            // Headings of `-g`.
            "Chassis" | "Non" | "Spine" | "Line" => return Ok(()),
            _ => {
                return Err(expected(
                    line.cursor(),
                    "Switch, Ca, Rt, a port or a key of a node",
                ));
            }
        };
        self.node(kind, cursor, line, mistakes)
    }

    /// Parses a key such as `switchguid=0x…(…)`.
    fn key(
        &mut self,
        key: &str,
        mut cursor: Cursor<'a>,
        line: Line<'a>,
        mistakes: &mut Mistakes<'_>,
    ) -> Result<(), Expected<'a>> {
        if OTHER_KEYS.contains(&key) {
            return Ok(());
        }
        let at = cursor;
        let number = match key {
            "width" | "speed" | "extspeed" => cursor.decimal(),
            _ => cursor.hex(),
        };
        let number = number.ok_or(expected(at, "a number of at most 16 digits"))?;
        match key {
            "vendid" => self.before.vendor = u32::try_from(number).ok(),
            "devid" => self.before.device = u32::try_from(number).ok(),
            "sysimgguid" => self.before.system = Some(Guid(number)),
            "switchguid" | "caguid" | "rtguid" => {
                self.before.node = Some(Guid(number));
                if cursor.eat("(") {
                    let at = cursor;
                    let guid = cursor.hex().filter(|_| cursor.eat(")"));
                    let guid = guid.ok_or(expected(at, "the GUID of port 0 and `)`"))?;
                    self.before.port_0 = Some(Guid(guid));
                }
            }
            "width" => self.masks.width = Some(number),
            "speed" => self.masks.speed = Some(number),
            "extspeed" => self.masks.extended = Some(number),
            _ => {
                let message = format!("unknown key `{key}`");
                let note = mistakes.warning("E1101", line.span(), message);
                note.map(|note| note.help("remove the key; it is ignored"));
                return Ok(());
            }
        }
        if !matches!(key, "width" | "speed" | "extspeed") {
            self.before.first.get_or_insert(line.span());
        }
        Ok(())
    }

    /// Parses `Switch 8 "S-…"  # "description" enhanced port 0 lid 6 lmc 0`.
    fn node(
        &mut self,
        kind: NodeKind,
        mut cursor: Cursor<'a>,
        line: Line<'a>,
        mistakes: &mut Mistakes<'_>,
    ) -> Result<(), Expected<'a>> {
        let before = std::mem::take(&mut self.before);
        (self.current, self.has_current) = (None, true);
        let n_ports = cursor.blanks().decimal();
        let n_ports = n_ports.ok_or(expected(cursor, "the number of ports"))?;
        cursor.blanks();
        let at = cursor;
        let name = cursor.eat("\"").then(|| cursor.until("\"")).flatten();
        let name = name.ok_or(expected(at, "the node's name in quotes"))?;
        let comment = Comment::of(cursor.rest);
        let kind = match kind {
            NodeKind::Switch { .. } => NodeKind::Switch {
                enhanced_port_0: comment.after.contains("enhanced port 0"),
            },
            other => other,
        };
        let guid = before.node.or_else(|| guid_in(name));
        self.is_numbered = guid.is_none();
        let guid = match guid {
            Some(guid) => guid,
            None => self.number(kind, n_ports),
        };
        let node = Description {
            name,
            kind,
            guid,
            n_ports,
            description: comment.description.unwrap_or(name),
            span: line.span(),
        };
        let Some(id) = self.assembly.describe(node, mistakes) else {
            return Ok(());
        };
        self.current = Some(id);
        let node = self.assembly.node_mut(id);
        node.system_guid = before.system;
        node.device = match (before.vendor, before.device) {
            (Some(vendor), Some(device)) => Some(Device { vendor, device }),
            _ => None,
        };
        if kind.is_switch() {
            node.ports[0].guid = before.port_0.or(Some(guid));
            let (lid, lmc) = lid_and_lmc(comment.after);
            self.assembly.claim(
                (id, 0),
                lid.unwrap_or(0),
                lmc.unwrap_or(0),
                line.span(),
                mistakes,
            );
        }
        Ok(())
    }

    /// Returns the next GUID for a node that has only a name.
    fn number(&mut self, kind: NodeKind, n_ports: u64) -> Guid {
        let (class, step) = match kind {
            NodeKind::ChannelAdapter => (0, n_ports.min(255) + 1),
            NodeKind::Switch { .. } => (1, 1),
            NodeKind::Router => (2, n_ports.min(255) + 1),
        };
        let number = NUMBERS_OF_IBSIM[class] + self.numbered[class];
        self.numbered[class] += step;
        Guid(number)
    }

    /// Parses `[1](guid)  "S-…"[4](guid)  # lid 10 lmc 0 "description" lid 6 2xHDR`.
    fn port(&mut self, line: Line<'a>, mistakes: &mut Mistakes<'_>) -> Result<(), Expected<'a>> {
        let mut cursor = line.cursor();
        let port = bracketed(&mut cursor)?;
        let own_guid = in_parentheses(&mut cursor)?;
        cursor.blanks();
        let at = cursor;
        let peer = cursor.eat("\"").then(|| cursor.until("\"")).flatten();
        let peer = peer.ok_or(expected(
            at,
            "the name of the node at the other end, in quotes",
        ))?;
        let peer_at = line.span_of(peer);
        let peer_port = bracketed(&mut cursor)?;
        let peer_guid = in_parentheses(cursor.blanks())?;
        if !self.has_current {
            return Err(expected(line.cursor(), "a node before its ports"));
        }
        let Some(node) = self.current else {
            return Ok(());
        };
        let Some(port) = self.assembly.has_port(node, port, line.span(), mistakes) else {
            return Ok(());
        };

        let comment = Comment::of(cursor.rest);
        let (width, speed) = self.rates(&comment, line, mistakes);
        let is_numbered = self.is_numbered;
        let owner = self.assembly.node_mut(node);
        if !owner.kind.is_switch() {
            // Nodes that have only a name number the GUIDs of their ports from their own, as in
            // `ibsim`.
            let counted = Guid(owner.guid.0.wrapping_add(u64::from(port)));
            let guid = own_guid.or(is_numbered.then_some(counted));
            let of_port = &mut owner.ports[usize::from(port)];
            of_port.guid = of_port.guid.or(guid);
            if let (Some(lid), lmc) = lid_and_lmc(comment.before) {
                let lmc = lmc.unwrap_or(0);
                self.assembly
                    .claim((node, port), lid, lmc, line.span(), mistakes);
            }
        }
        self.assembly.end(End {
            node,
            port,
            peer,
            peer_port,
            peer_lid: lid_and_lmc(comment.after).0,
            peer_guid,
            width,
            speed,
            line: narrow(&line.span()),
            peer_at: narrow(&peer_at),
        });
        Ok(())
    }

    /// Returns width and speed, from `4xHDR` of a listing or from the masks of a net file.
    fn rates(
        &self,
        comment: &Comment<'a>,
        line: Line<'a>,
        mistakes: &mut Mistakes<'_>,
    ) -> (Option<Width>, Option<Speed>) {
        if let Some(rate) = rate_word(comment.after) {
            let (width, speed) = split_rate(rate);
            for (is_known, what, text) in [
                (
                    width.parse::<Width>().is_ok() || width == "??",
                    "width",
                    width,
                ),
                (
                    speed.parse::<Speed>().is_ok() || speed == "???",
                    "speed",
                    speed,
                ),
            ] {
                if !is_known {
                    let message = format!("unknown {what} `{text}`");
                    let note = mistakes.warning("E1112", line.span_of(rate), message);
                    note.map(|note| {
                        note.help("check the width and speed; the cable is kept without a rate")
                    });
                }
            }
            return (width.parse().ok(), speed.parse().ok());
        }
        let masks = Masks {
            width: mask(comment.outside, "w=").or(self.masks.width),
            speed: mask(comment.outside, "s=").or(self.masks.speed),
            extended: mask(comment.outside, "e=").or(self.masks.extended),
        };
        (masks.widest(), masks.fastest())
    }
}

/// Bits of LinkWidth and their widths.
const WIDTH_BITS: [(u64, &str); 5] = [(1, "1x"), (2, "4x"), (4, "8x"), (8, "12x"), (16, "2x")];

/// Bits of LinkSpeed and of LinkSpeedExt, slowest first.
const SPEED_BITS: [(u64, Speed); 3] = [(1, Speed::Sdr), (2, Speed::Ddr), (4, Speed::Qdr)];
const EXTENDED_BITS: [(u64, Speed); 4] = [
    (1, Speed::Fdr),
    (2, Speed::Edr),
    (4, Speed::Hdr),
    (8, Speed::Ndr),
];

impl Masks {
    fn widest(&self) -> Option<Width> {
        let mask = self.width?;
        let set = WIDTH_BITS.iter().filter(|(bit, _)| mask & bit != 0);
        set.filter_map(|(_, text)| text.parse().ok())
            .max_by_key(|width: &Width| width.lanes())
    }

    fn fastest(&self) -> Option<Speed> {
        let of = |mask: Option<u64>, bits: &[(u64, Speed)]| {
            let set = bits.iter().filter(|(bit, _)| mask.unwrap_or(0) & bit != 0);
            set.map(|(_, speed)| *speed).next_back()
        };
        of(self.extended, &EXTENDED_BITS).or_else(|| of(self.speed, &SPEED_BITS))
    }
}

/// What was expected at a position in a line.
struct Expected<'a> {
    at: Cursor<'a>,
    what: &'static str,
}

fn expected<'a>(at: Cursor<'a>, what: &'static str) -> Expected<'a> {
    Expected { at, what }
}

/// Parses `[4]`, optionally followed by `[ext 7]`.
fn bracketed<'a>(cursor: &mut Cursor<'a>) -> Result<u64, Expected<'a>> {
    let at = *cursor;
    let wrong = expected(at, "a port number in brackets");
    let number = cursor.eat("[").then(|| cursor.decimal()).flatten();
    let Some(number) = number.filter(|_| cursor.eat("]")) else {
        return Err(wrong);
    };
    if cursor.eat("[ext ") {
        let at = *cursor;
        let ext = cursor.until("]");
        ext.ok_or(expected(at, "`]` after an external port number"))?;
    }
    Ok(number)
}

/// Parses `(98039b0300100041)` if it is next.
fn in_parentheses<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Guid>, Expected<'a>> {
    if !cursor.eat("(") {
        return Ok(None);
    }
    let at = *cursor;
    let guid = cursor.hex().filter(|_| cursor.eat(")"));
    let guid = guid.ok_or(expected(at, "the GUID of a port and `)`"))?;
    Ok(Some(Guid(guid)))
}

/// Returns the GUID in a name such as `S-b8599f0300200040`.
fn guid_in(name: &str) -> Option<Guid> {
    let digits = ["S-", "H-", "R-"]
        .iter()
        .find_map(|kind| name.strip_prefix(kind))?;
    (digits.len() == 16)
        .then(|| hex(digits))
        .flatten()
        .map(Guid)
}

/// The text after a node or a cable: `# lid 10 lmc 0 "description" lid 6 2xHDR`.
struct Comment<'a> {
    /// The text before the comment.
    outside: &'a str,
    /// The text before the description, about the port itself.
    before: &'a str,
    description: Option<&'a str>,
    /// The text after the description, about the other end or the node.
    after: &'a str,
}

impl<'a> Comment<'a> {
    /// Splits the rest of a line. A description may contain quotes: it ends at the last quote of
    /// the line.
    fn of(rest: &'a str) -> Comment<'a> {
        let Some((outside, comment)) = rest.split_once('#') else {
            return Comment {
                outside: rest,
                before: "",
                description: None,
                after: "",
            };
        };
        let quotes = comment.find('"').zip(comment.rfind('"'));
        match quotes.filter(|(first, last)| first < last) {
            Some((first, last)) => Comment {
                outside,
                before: &comment[..first],
                description: Some(&comment[first + 1..last]),
                after: &comment[last + 1..],
            },
            None => Comment {
                outside,
                before: comment,
                description: None,
                after: comment,
            },
        }
    }
}

/// Returns the numbers after `lid` and `lmc`.
fn lid_and_lmc(text: &str) -> (Option<u64>, Option<u64>) {
    let mut found = (None, None);
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "lid" => found.0 = words.next().and_then(decimal),
            "lmc" => found.1 = words.next().and_then(decimal),
            _ => {}
        }
    }
    found
}

/// Returns the word after `lid N`: `4xHDR`.
fn rate_word(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace().skip_while(|word| *word != "lid");
    let word = words.nth(2)?;
    let is_mask = word.contains('=');
    (!is_mask && word != "lmc").then_some(word)
}

/// Splits `4xHDR` into `4x` and `HDR`. Either may be question marks.
fn split_rate(word: &str) -> (&str, &str) {
    match word.strip_prefix("??") {
        Some(speed) => ("??", speed),
        None => match word.find('x') {
            Some(at) => word.split_at(at + 1),
            None => ("", word),
        },
    }
}

/// Returns the number after a key such as `w=`.
fn mask(text: &str, key: &str) -> Option<u64> {
    let mut words = text.split_whitespace();
    words.find_map(|word| decimal(word.strip_prefix(key)?))
}

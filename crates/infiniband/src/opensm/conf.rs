//! opensm.conf as OpenSM reads it.
//!
//! A line is a key, white space and a value. A `#` ends the line wherever it stands, in quotes too. A value loses
//! the white space around it and one pair of quotes. Nothing continues on the next line; but OpenSM reads at most
//! 1,022 characters at a time, so the rest of a longer line is taken for a line of its own. A key that comes again
//! replaces the one before. `(null)` is a list that was not given.

use netloom_catalog::Place;

use super::strtoul::{is_c_space, strtoul};

/// Characters that OpenSM reads at a time, the end of the line among them.
pub(super) const LONGEST_LINE: usize = 1022;

/// How OpenSM writes a list that is not there.
const NULL: &str = "(null)";

/// The code that OpenSM takes where `max_op_vls` is not given: all lanes.
const DEFAULT_MAX_OP_VLS: u8 = 5;

/// One key with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The key.
    pub key: String,
    /// Where it stands.
    pub key_place: Place,
    /// The value, without quotes and the white space around it.
    pub value: String,
    /// Where it stands.
    pub place: Place,
}

impl Setting {
    /// The place of a stretch of the value.
    pub fn part(&self, span: std::ops::Range<usize>) -> Place {
        let at = |offset: usize| self.place.start + length(offset.min(self.value.len()));
        Place {
            source: self.place.source,
            start: at(span.start),
            end: at(span.end),
        }
    }

    /// The value as a number, as OpenSM reads it: 0 where there is none.
    pub fn number(&self) -> u32 {
        strtoul(self.value.as_bytes()).0
    }
}

/// A line that OpenSM reads as two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineTooLong {
    /// The part that OpenSM takes for a line of its own.
    pub rest: Place,
    /// How long the line is.
    pub length: usize,
}

/// A file of keys and values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Conf {
    /// Which text of a report it is.
    pub source: u16,
    /// What it sets, in its order.
    pub settings: Vec<Setting>,
    /// Lines that OpenSM reads as two.
    pub too_long: Vec<LineTooLong>,
}

impl Conf {
    /// Reads a file. Nothing is refused: OpenSM refuses nothing.
    pub fn read(text: &str, source: u16) -> Conf {
        let mut conf = Conf {
            source,
            ..Conf::default()
        };
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            conf.read_line(line.as_bytes(), start);
            start += line.len();
        }
        conf
    }

    fn read_line(&mut self, line: &[u8], start: usize) {
        for (n, piece) in line.chunks(LONGEST_LINE).enumerate() {
            let at = start + n * LONGEST_LINE;
            if n == 1 && piece != b"\n" && before_comment(line).len() > LONGEST_LINE {
                self.too_long.push(LineTooLong {
                    rest: self.place(at, start + line.trim_ascii_end().len()),
                    length: line.trim_ascii_end().len(),
                });
            }
            let setting = self.read_piece(piece, at);
            self.settings.extend(setting);
        }
    }

    fn read_piece(&self, piece: &[u8], start: usize) -> Option<Setting> {
        let is_delimiter = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
        let piece = before_comment(piece);
        let key_start = piece.iter().position(|byte| !is_delimiter(byte))?;
        let key_end = piece[key_start..]
            .iter()
            .position(is_delimiter)
            .map_or(piece.len(), |n| key_start + n);
        let value = without_quotes(trimmed(piece, key_end..piece.len()), piece);
        let text =
            |range: std::ops::Range<usize>| String::from_utf8_lossy(&piece[range]).into_owned();
        Some(Setting {
            key: text(key_start..key_end),
            key_place: self.place(start + key_start, start + key_end),
            place: self.place(start + value.start, start + value.end),
            value: text(value),
        })
    }

    fn place(&self, start: usize, end: usize) -> Place {
        Place {
            source: self.source,
            start: length(start),
            end: length(end),
        }
    }

    /// The setting of a key that counts: the last.
    pub fn last(&self, key: &str) -> Option<&Setting> {
        self.settings
            .iter()
            .rev()
            .find(|setting| setting.key == key)
    }

    /// The text of a key that counts, unless that is `(null)`.
    pub fn text(&self, key: &str) -> Option<&Setting> {
        self.last(key).filter(|setting| setting.value != NULL)
    }

    /// Whether tables are programmed at all: only the word `TRUE` says so.
    pub fn is_qos_on(&self) -> bool {
        self.last("qos")
            .is_some_and(|setting| setting.value == "TRUE")
    }

    /// The code of the most lanes that links may use: 1 is VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14.
    pub fn max_op_vls(&self) -> u8 {
        match self.last("max_op_vls") {
            Some(setting) => setting.number() as u8,
            None => DEFAULT_MAX_OP_VLS,
        }
    }

    /// The routing engines that are asked for, in order of preference.
    pub fn routing_engines(&self) -> Vec<&str> {
        let setting = self.text("routing_engine");
        let names = setting.map_or("", |setting| setting.value.as_str());
        names
            .split([',', ' ', '\t'])
            .filter(|name| !name.is_empty())
            .collect()
    }
}

fn before_comment(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|&byte| byte == b'#');
    &line[..end.unwrap_or(line.len())]
}

fn trimmed(piece: &[u8], mut range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    while range.start < range.end && is_c_space(piece[range.start]) {
        range.start += 1;
    }
    while range.start < range.end && is_c_space(piece[range.end - 1]) {
        range.end -= 1;
    }
    range
}

fn without_quotes(range: std::ops::Range<usize>, piece: &[u8]) -> std::ops::Range<usize> {
    let (Some(first), Some(last)) = (piece[range.clone()].first(), piece[range.clone()].last())
    else {
        return range;
    };
    match first == last && matches!(first, b'"' | b'\'') {
        true => range.start + 1..(range.end - 1).max(range.start + 1),
        false => range,
    }
}

fn length(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value<'a>(conf: &'a Conf, key: &str) -> Option<&'a str> {
        conf.last(key).map(|setting| setting.value.as_str())
    }

    #[test]
    fn a_line_is_a_key_and_a_value() {
        let text = "# all of it\nqos\tTRUE   # on\n  max_op_vls 3\nqos_sl2vl \"0,1\"\nqos_vlarb_low 'x'\nlmc\n";
        let conf = Conf::read(text, 0);
        assert!(conf.is_qos_on());
        assert_eq!(conf.max_op_vls(), 3);
        assert_eq!(value(&conf, "qos_sl2vl"), Some("0,1"));
        assert_eq!(value(&conf, "qos_vlarb_low"), Some("x"));
        assert_eq!(value(&conf, "lmc"), Some(""));
        let list = conf.last("qos_sl2vl").unwrap().part(2..3);
        assert_eq!(&text[list.start as usize..list.end as usize], "1");
    }

    #[test]
    fn only_the_word_true_turns_qos_on() {
        for (text, is_on) in [
            ("qos TRUE\r\n", true),
            ("qos true", false),
            ("qos 1", false),
            ("", false),
        ] {
            assert_eq!(Conf::read(text, 0).is_qos_on(), is_on, "{text:?}");
        }
    }

    #[test]
    fn the_last_of_a_key_counts_and_null_is_none() {
        let conf = Conf::read(
            "qos_sl2vl 1,1\nqos_sl2vl (null)\nmax_op_vls 2\nmax_op_vls 4\n",
            0,
        );
        assert_eq!(conf.text("qos_sl2vl"), None);
        assert_eq!(conf.max_op_vls(), 4);
    }

    #[test]
    fn the_rest_of_a_long_line_is_a_line_of_its_own() {
        let text = format!("qos_vlarb_low {}\nqos TRUE\n", "1:10,".repeat(210));
        let conf = Conf::read(&text, 0);
        assert_eq!(conf.settings.len(), 3);
        assert_eq!(conf.too_long.len(), 1);
        assert_eq!(conf.too_long[0].length, 14 + 5 * 210);
        assert_eq!(value(&conf, "qos_vlarb_low").unwrap().len(), 1022 - 14);
        let comment = format!("qos TRUE # {}\n", "long ".repeat(300));
        assert!(Conf::read(&comment, 0).too_long.is_empty());
    }

    #[test]
    fn engines_are_a_list() {
        let conf = Conf::read("routing_engine ftree, updn\n", 0);
        assert_eq!(conf.routing_engines(), ["ftree", "updn"]);
        assert!(
            Conf::read("routing_engine (null)\n", 0)
                .routing_engines()
                .is_empty()
        );
    }
}

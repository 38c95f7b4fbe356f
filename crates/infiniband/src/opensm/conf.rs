//! Reads opensm.conf as OpenSM does.
//!
//! A line is a key, white space and a value. A `#` ends the line, even within quotes. OpenSM strips
//! the white space around a value and one pair of quotes. Values do not continue on the next line.
//! OpenSM reads at most 1,022 characters at a time and treats the rest of a longer line as a line
//! of its own. The last occurrence of a key counts. `(null)` is a list that is not set.

use netloom_catalog::Place;

use super::strtoul::{is_c_space, strtoul};

/// Number of characters that OpenSM reads at a time, including the end of the line.
pub(super) const LONGEST_LINE: usize = 1022;

/// The value of a list that is not set.
const NULL: &str = "(null)";

/// The default of `max_op_vls` in OpenSM: all lanes.
const DEFAULT_MAX_OP_VLS: u8 = 5;

/// A key with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    pub key: String,
    /// The place of the key.
    pub key_place: Place,
    /// The value, without quotes and surrounding white space.
    pub value: String,
    /// The place of the value.
    pub place: Place,
}

impl Setting {
    /// Returns the place of a span of the value.
    pub fn part(&self, span: std::ops::Range<usize>) -> Place {
        let at = |offset: usize| self.place.start + length(offset.min(self.value.len()));
        Place {
            source: self.place.source,
            start: at(span.start),
            end: at(span.end),
        }
    }

    /// Returns the value as a number, as OpenSM reads it: 0 if it is not a number.
    pub fn number(&self) -> u32 {
        strtoul(self.value.as_bytes()).0
    }
}

/// A line that OpenSM reads as two lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineTooLong {
    /// The part that OpenSM treats as a line of its own.
    pub rest: Place,
    /// Length of the line in characters.
    pub length: usize,
}

/// A file of keys and values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Conf {
    /// Index of the text in the report.
    pub source: u16,
    /// The settings, in the order of the file.
    pub settings: Vec<Setting>,
    /// Lines that OpenSM reads as two lines.
    pub too_long: Vec<LineTooLong>,
}

impl Conf {
    /// Reads a file. This never fails, as OpenSM accepts any text.
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

    /// Returns the last setting of a key, which is the one that counts.
    pub fn last(&self, key: &str) -> Option<&Setting> {
        self.settings
            .iter()
            .rev()
            .find(|setting| setting.key == key)
    }

    /// Returns the last setting of a key, unless its value is `(null)`.
    pub fn text(&self, key: &str) -> Option<&Setting> {
        self.last(key).filter(|setting| setting.value != NULL)
    }

    /// Returns whether OpenSM programs tables. Only the word `TRUE` turns this on.
    pub fn is_qos_on(&self) -> bool {
        self.last("qos")
            .is_some_and(|setting| setting.value == "TRUE")
    }

    /// Returns the code of the lanes that links may use: 1 is VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5
    /// VL0-14.
    pub fn max_op_vls(&self) -> u8 {
        match self.last("max_op_vls") {
            Some(setting) => setting.number() as u8,
            None => DEFAULT_MAX_OP_VLS,
        }
    }

    /// Returns the requested routing engines, in order of preference.
    pub(crate) fn routing_engines(&self) -> Vec<&str> {
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
        let text = "# all of it\nqos\tTRUE   # on\n  max_op_vls 3\nqos_sl2vl \"0,1\"\n\
            qos_vlarb_low 'x'\nlmc\n";
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

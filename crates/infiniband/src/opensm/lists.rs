//! Reads lists in two ways: as OpenSM does, and as intended by the author.
//!
//! OpenSM reads a number, skips one character, and reads the next number. It does not check that
//! character, so an extra blank shifts everything after it.

use std::ops::Range;

use netloom_arbitration::Entry;
use netloom_units::Vl;

use crate::SlToVl;

use super::strtoul::strtoul;

/// Maximum number of entries that OpenSM keeps of a list.
pub(super) const MOST_ENTRIES: usize = 64;

/// Number of service levels in a list.
pub(super) const N_LEVELS: usize = 16;

/// Returns the arbitration entries that OpenSM reads, up to the end of the text or the 64th.
pub(super) fn read_entries(text: &str) -> Vec<Entry> {
    let mut rest = text.as_bytes();
    let mut entries = vec![];
    while !rest.is_empty() && entries.len() < MOST_ENTRIES {
        let vl = next_number(&mut rest);
        let weight = next_number(&mut rest);
        entries.push(entry(vl, weight));
    }
    entries
}

/// Returns the entry that OpenSM makes from two numbers.
pub(super) fn entry(vl: u32, weight: u32) -> Entry {
    Entry {
        vl: Vl((vl % 15) as u8),
        weight: weight as u8,
    }
}

/// Returns the lanes that OpenSM reads. Service levels without a number go to VL0.
pub(super) fn read_lanes(text: &str) -> SlToVl {
    let mut rest = text.as_bytes();
    SlToVl(std::array::from_fn(|_| {
        Vl((next_number(&mut rest) & 15) as u8)
    }))
}

fn next_number(rest: &mut &[u8]) -> u32 {
    let (number, length) = strtoul(rest);
    let skipped = usize::from(length < rest.len());
    *rest = &rest[length + skipped..];
    number
}

/// One item between commas, as intended by the author.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Item {
    /// The position in the list.
    pub(super) span: Range<usize>,
    /// The text of the item.
    pub(super) text: String,
}

/// Splits a list at commas and trims white space. A trailing comma does not start an item.
pub(super) fn items(list: &str) -> Vec<Item> {
    let mut start = 0;
    let mut items = vec![];
    for piece in list.split(',') {
        let text = piece.trim();
        let from = start + (piece.len() - piece.trim_start().len());
        items.push(Item {
            span: from..from + text.len(),
            text: text.to_owned(),
        });
        start += piece.len() + 1;
    }
    if items.last().is_some_and(|item| item.text.is_empty()) {
        items.pop();
    }
    items
}

impl Item {
    /// Returns the number, if the item is a single number.
    pub(super) fn number(&self) -> Option<u32> {
        plain_number(&self.text)
    }

    /// Returns lane and weight, if the item has the form `2:64`.
    pub(super) fn pair(&self) -> Option<(u32, u32)> {
        let (vl, weight) = self.text.split_once(':')?;
        Some((plain_number(vl.trim())?, plain_number(weight.trim())?))
    }
}

/// Parses a number where `08` is 8, not octal.
fn plain_number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(u8, u8)> {
        read_entries(text)
            .iter()
            .map(|e| (e.vl.0, e.weight))
            .collect()
    }

    #[test]
    fn a_blank_before_a_comma_shifts_the_list() {
        assert_eq!(pairs("0:1,1:2"), [(0, 1), (1, 2)]);
        assert_eq!(pairs("0:1, 1:2"), [(0, 1), (1, 2)]);
        assert_eq!(pairs("0:1 ,1:2"), [(0, 1), (0, 1), (2, 0)]);
    }

    #[test]
    fn numbers_out_of_range_wrap_around() {
        assert_eq!(
            pairs("15:300,1:256,08:5"),
            [(0, 44), (1, 0), (0, 0), (5, 0)]
        );
    }

    #[test]
    fn levels_without_a_number_go_to_lane_0() {
        let lanes = read_lanes("0,1,15,20").0.map(|vl| vl.0);
        assert_eq!(lanes, [0, 1, 15, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn items_know_where_they_stand() {
        let list = "0:1 , 15:300,";
        let found: Vec<(&str, Option<(u32, u32)>)> = items(list)
            .iter()
            .map(|item| (&list[item.span.clone()], item.pair()))
            .collect();
        assert_eq!(found, [("0:1", Some((0, 1))), ("15:300", Some((15, 300)))]);
    }
}

//! Converts the values of an axis to positions: numbers, or quantities with a unit (`16 KiB`).

use netloom_results::view::Numbers;
use netloom_results::{Frame, Values};
use netloom_units::{Bytes, Rate, Time};

/// Positions of the lines of a table along an axis.
pub(crate) struct Places {
    /// By line; `None` if the axis has no value.
    pub(crate) values: Vec<Option<f64>>,
    /// Empty for plain numbers.
    pub(crate) unit: String,
}

impl Places {
    /// Returns `None` if a value is only a name.
    pub(crate) fn of(table: &Frame, name: &str) -> Option<Places> {
        let column = table.column(name)?;
        if let Some(numbers) = Numbers::from(column) {
            return Some(Places {
                values: (0..table.len()).map(|line| numbers.get(line)).collect(),
                unit: column.unit.clone(),
            });
        }
        let Values::Text(words) = &column.values else {
            return None;
        };
        let quantities: Option<Vec<Quantity<'_>>> = words
            .words
            .iter()
            .map(|word| Quantity::read(word))
            .collect();
        let quantities = quantities?;
        let largest = quantities.iter().max_by(|a, b| a.size.total_cmp(&b.size))?;
        if quantities.iter().any(|other| other.kind != largest.kind) {
            return None;
        }
        // Use the unit of the largest value.
        let one = Quantity::read(&format!("1 {}", largest.unit))?.size;
        let value = |at: u32| quantities[at as usize].size / one;
        Some(Places {
            values: words.lines.iter().map(|at| at.map(value)).collect(),
            unit: largest.unit.to_owned(),
        })
    }
}

/// The quantity in a text with a unit.
struct Quantity<'t> {
    kind: Kind,
    /// In the smallest unit of its kind.
    size: f64,
    unit: &'t str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Size,
    Duration,
    Rate,
}

impl<'t> Quantity<'t> {
    fn read(text: &'t str) -> Option<Quantity<'t>> {
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || "._/ ".contains(c));
        let (kind, size) = if let Ok(Bytes(bytes)) = text.parse() {
            (Kind::Size, bytes as f64)
        } else if let Ok(time) = text.parse::<Time>() {
            (Kind::Duration, time.as_nanos())
        } else if let Ok(rate) = text.parse::<Rate>() {
            (Kind::Rate, rate.as_gbps())
        } else {
            return None;
        };
        Some(Quantity { kind, size, unit })
    }
}

#[cfg(test)]
mod tests {
    use netloom_results::{FrameColumn, Kind, Values};

    use super::*;

    fn places(words: &[&str]) -> Option<(Vec<f64>, String)> {
        let mut values = Values::new(Kind::Text);
        for word in words {
            values.push(netloom_results::Datum::Text((*word).to_owned()));
        }
        let column = FrameColumn {
            name: "axis".to_owned(),
            unit: String::new(),
            meaning: String::new(),
            values,
        };
        let places = Places::of(&Frame::from_columns(vec![column]), "axis")?;
        Some((places.values.into_iter().flatten().collect(), places.unit))
    }

    #[test]
    fn quantities_stand_in_the_unit_of_the_largest() {
        let of = |words: &[&str]| places(words).unwrap();
        assert_eq!(of(&["16 KiB", "64 KiB"]), (vec![16.0, 64.0], "KiB".into()));
        assert_eq!(of(&["512 B", "2 KiB"]), (vec![0.5, 2.0], "KiB".into()));
        assert_eq!(of(&["500 ns", "1.5us"]), (vec![0.5, 1.5], "us".into()));
        assert_eq!(of(&["100 Gbps"]), (vec![100.0], "Gbps".into()));
    }

    #[test]
    fn names_and_mixtures_are_no_quantities() {
        assert!(places(&["round-robin", "wfq"]).is_none());
        assert!(places(&["16 KiB", "5 us"]).is_none());
    }
}

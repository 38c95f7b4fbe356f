//! Declares the lines of result tables: struct, columns, units and meanings.

use std::fmt;

use netloom_metrics::Verdict;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// Name, in files of every format.
    pub name: &'static str,
    /// Unit; empty for text and plain counts.
    pub unit: &'static str,
    pub meaning: &'static str,
}

impl Column {
    pub const fn new(name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        Column {
            name,
            unit,
            meaning,
        }
    }
}

/// The kind of the values of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Text.
    Text,
    /// Unsigned whole numbers: counts, seeds, ports.
    Whole,
    /// Floating-point numbers.
    Number,
    /// Booleans.
    Flag,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Datum {
    /// No value.
    Nothing,
    Text(String),
    Whole(u64),
    Number(f64),
    /// Booleans.
    Flag(bool),
}

impl Datum {
    /// Returns the value as a number, also if it is a whole number.
    pub fn number(&self) -> Option<f64> {
        match self {
            Datum::Whole(n) => Some(*n as f64),
            Datum::Number(x) => Some(*x),
            _ => None,
        }
    }
}

/// Formats a value as in CSV: a number as the shortest text that parses to the same bits.
impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datum::Nothing => Ok(()),
            Datum::Text(text) => f.write_str(text),
            Datum::Whole(n) => n.fmt(f),
            Datum::Number(x) => x.fmt(f),
            Datum::Flag(is_so) => is_so.fmt(f),
        }
    }
}

/// A line of a table.
pub trait Table {
    /// The columns, in order.
    const COLUMNS: &'static [Column];
    /// The kinds of the columns.
    const KINDS: &'static [Kind];
    /// Returns the values, in the order of the columns.
    fn data(&self) -> Vec<Datum>;
    /// Returns the values as text; empty if there is no value.
    fn cells(&self) -> Vec<String> {
        self.data().iter().map(Datum::to_string).collect()
    }
}

/// A type that can be a value of a table.
pub trait Cell {
    /// The kind of the value.
    const KIND: Kind;
    /// Returns the value.
    fn datum(&self) -> Datum;
    /// Returns the value as text.
    fn cell(&self) -> String {
        self.datum().to_string()
    }
}

macro_rules! cells {
    ($($type:ty => $kind:ident $from:expr),* $(,)?) => {
        $(impl Cell for $type {
            const KIND: Kind = Kind::$kind;
            fn datum(&self) -> Datum {
                let from: fn(&$type) -> _ = $from;
                Datum::$kind(from(self))
            }
        })*
    };
}

cells! {
    u8 => Whole |n| u64::from(*n),
    u16 => Whole |n| u64::from(*n),
    u32 => Whole |n| u64::from(*n),
    u64 => Whole |n| *n,
    f64 => Number |x| *x,
    bool => Flag |is_so| *is_so,
    String => Text |text| text.clone(),
    Verdict => Text |verdict| verdict.word().to_owned(),
}

impl<T: Cell> Cell for Option<T> {
    const KIND: Kind = T::KIND;
    fn datum(&self) -> Datum {
        self.as_ref().map_or(Datum::Nothing, T::datum)
    }
}

/// Declares a line: `/// Meaning.` then `name: Type => "unit"`.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[doc = $meaning:literal])+ $field:ident : $type:ty => $unit:literal),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
        pub struct $name { $($(#[doc = $meaning])+ pub $field: $type),* }

        impl $crate::Table for $name {
            const COLUMNS: &'static [$crate::Column] = &[
                $($crate::Column {
                    name: stringify!($field),
                    unit: $unit,
                    meaning: concat!($($meaning),+).trim_ascii(),
                }),*
            ];
            const KINDS: &'static [$crate::Kind] = &[$(<$type as $crate::Cell>::KIND),*];
            fn data(&self) -> Vec<$crate::Datum> {
                vec![$($crate::Cell::datum(&self.$field)),*]
            }
        }
    };
}

pub(crate) use table;

//! A line of a result table, declared once: struct, columns, units and meanings.

use std::fmt;

use netloom_metrics::Verdict;
use serde::{Deserialize, Serialize};

/// One column of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// Its name, in files of every format.
    pub name: &'static str,
    /// Its unit; empty for text and plain counts.
    pub unit: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

impl Column {
    /// A column by its name, unit and meaning.
    pub const fn new(name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        Column {
            name,
            unit,
            meaning,
        }
    }
}

/// What the values of a column are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Names.
    Text,
    /// Whole numbers from zero: counts, seeds, ports.
    Whole,
    /// Numbers with a point.
    Number,
    /// Yes or no.
    Flag,
}

/// One value of a table.
#[derive(Clone, PartialEq, Debug)]
pub enum Datum {
    /// None.
    Nothing,
    /// A name.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// A number with a point.
    Number(f64),
    /// Yes or no.
    Flag(bool),
}

impl Datum {
    /// The value as a number; a whole one too.
    pub fn number(&self) -> Option<f64> {
        match self {
            Datum::Whole(n) => Some(*n as f64),
            Datum::Number(x) => Some(*x),
            _ => None,
        }
    }
}

/// As CSV has it: a number is the shortest text that reads back to the same bits.
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
    /// Its columns, in order.
    const COLUMNS: &'static [Column];
    /// What their values are.
    const KINDS: &'static [Kind];
    /// Its values, in the order of the columns.
    fn data(&self) -> Vec<Datum>;
    /// The same as text; empty where there is no value.
    fn cells(&self) -> Vec<String> {
        self.data().iter().map(Datum::to_string).collect()
    }
}

/// A value as it stands in a table.
pub trait Cell {
    /// What it is.
    const KIND: Kind;
    /// The value.
    fn datum(&self) -> Datum;
    /// Its text.
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

//! Declares the lines of result tables: struct, columns, units and meanings.

use std::fmt;

use netloom_metrics::Verdict;
use serde::{Deserialize, Serialize};

/// The description of a column, which tables, files, pages, comparisons and figures read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// Name, in files of every format.
    pub name: &'static str,
    /// Unit; empty for text and plain counts.
    pub unit: &'static str,
    pub meaning: &'static str,
    /// Label of an axis; `None` if it follows from the name.
    label: Option<&'static str>,
    /// Title in tables; `None` if it is the label.
    head: Option<&'static str>,
    /// The better direction, if there is one.
    pub better: Option<Better>,
    /// Whether `points` has its mean over seeds, with the half width of the 95 % interval.
    pub has_mean: bool,
    /// Whether it is an index from 0 to 1.
    pub is_index: bool,
}

/// The better direction of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    Lower,
    Higher,
}

impl Better {
    pub fn word(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
        }
    }
}

impl Column {
    pub const fn new(name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        Column {
            name,
            unit,
            meaning,
            label: None,
            head: None,
            better: None,
            has_mean: false,
            is_index: false,
        }
    }

    /// Sets the label of an axis.
    pub const fn label(self, label: &'static str) -> Self {
        let label = Some(label);
        Column { label, ..self }
    }

    /// Sets the title in tables.
    pub const fn head(self, head: &'static str) -> Self {
        let head = Some(head);
        Column { head, ..self }
    }

    /// States that lower values are better.
    pub const fn lower(self) -> Self {
        let better = Some(Better::Lower);
        Column { better, ..self }
    }

    /// States that higher values are better.
    pub const fn higher(self) -> Self {
        let better = Some(Better::Higher);
        Column { better, ..self }
    }

    /// Adds the mean over seeds to `points`.
    pub const fn mean(self) -> Self {
        let has_mean = true;
        Column { has_mean, ..self }
    }

    /// States that values are from 0 to 1.
    pub const fn index(self) -> Self {
        let is_index = true;
        Column { is_index, ..self }
    }

    /// Returns the label of an axis, without the unit: `99 % latency`.
    pub fn axis_label(&self) -> String {
        self.label
            .map_or_else(|| in_words(self.name), str::to_owned)
    }

    /// Returns the title in tables, without the unit: `p99`.
    pub fn title(&self) -> String {
        self.head.map_or_else(|| self.axis_label(), str::to_owned)
    }
}

/// Returns the name of a column in words: `Bus bandwidth`.
pub(crate) fn in_words(name: &str) -> String {
    let words = name.trim_end_matches("_ns").replace('_', " ");
    let mut letters = words.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
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

/// Declares a line: `/// Meaning.` then `name: Type => "unit"`, with methods of [`Column`] for the
/// rest of the description. With `from Source`, each column ends with `= |source| value`.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $name:ident from $source:ident {
            $($(#[doc = $meaning:literal])+ $field:ident : $type:ty
            => $unit:literal $(. $property:ident ($($text:literal)?))* = $value:expr),* $(,)?
        }
    ) => {
        $crate::table::table! {
            $(#[$meta])*
            pub struct $name {
                $($(#[doc = $meaning])+ $field : $type
                => $unit $(. $property ($($text)?))*),*
            }
        }

        impl $name {
            /// Computes every column.
            pub fn of(source: &$source<'_>) -> $name {
                $(let $field: fn(&$source<'_>) -> $type = $value;)*
                $name { $($field: $field(source)),* }
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[doc = $meaning:literal])+ $field:ident : $type:ty
            => $unit:literal $(. $property:ident ($($text:literal)?))*),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
        pub struct $name { $($(#[doc = $meaning])+ pub $field: $type),* }

        impl $crate::Table for $name {
            const COLUMNS: &'static [$crate::Column] = &[
                $($crate::Column::new(
                    stringify!($field),
                    $unit,
                    concat!($($meaning),+).trim_ascii(),
                )$(.$property($($text)?))*),*
            ];
            const KINDS: &'static [$crate::Kind] = &[$(<$type as $crate::Cell>::KIND),*];
            fn data(&self) -> Vec<$crate::Datum> {
                vec![$($crate::Cell::datum(&self.$field)),*]
            }
        }
    };
}

pub(crate) use table;

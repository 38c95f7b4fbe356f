//! A line of a result table, declared once: struct, columns, units and meanings.

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

/// A line of a table.
pub trait Table {
    /// Its columns, in order.
    const COLUMNS: &'static [Column];
    /// Its values as text, in the order of the columns; empty where there is none.
    fn cells(&self) -> Vec<String>;
}

/// A value as it stands in a table.
pub trait Cell {
    /// The text; a number is the shortest that reads back to the same bits.
    fn cell(&self) -> String;
}

macro_rules! displayed {
    ($($type:ty),*) => {
        $(impl Cell for $type {
            fn cell(&self) -> String {
                self.to_string()
            }
        })*
    };
}

displayed!(u8, u16, u32, u64, f64, bool, String);

impl<T: Cell> Cell for Option<T> {
    fn cell(&self) -> String {
        self.as_ref().map(T::cell).unwrap_or_default()
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
            fn cells(&self) -> Vec<String> {
                vec![$($crate::Cell::cell(&self.$field)),*]
            }
        }
    };
}

pub(crate) use table;

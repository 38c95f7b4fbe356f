//! How one value becomes a typed parameter, and back to text.

use netloom_units::{Bytes, Rate, Time, UnitError};

use crate::document::Shape as Raw;
use crate::{Notes, Value};

/// The form of a parameter, for the manual and the schema.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// A whole number within bounds.
    Integer(i128, i128),
    /// Any number.
    Number,
    /// True or false.
    Bool,
    /// Any text.
    Text,
    /// One of these words.
    OneOf(Vec<&'static str>),
    /// A text with a unit; the field says of what (`time`, `data rate`, `amount of data`).
    Quantity(&'static str),
    /// A list of such values.
    List(Box<Shape>),
    /// A list with exactly these values in this order.
    Tuple(Vec<Shape>),
    /// One of several forms.
    Either(Vec<Shape>),
    /// A table with keys of any name.
    Table,
    /// A kind of a concept: a name, or a table with `kind` and that kind's parameters.
    Kind(&'static str),
}

impl Shape {
    /// What a person calls it.
    pub fn words(&self) -> String {
        match self {
            Shape::Integer(..) => "whole number".into(),
            Shape::Number => "number".into(),
            Shape::Bool => "true or false".into(),
            Shape::Text => "text".into(),
            Shape::OneOf(words) => words
                .iter()
                .map(|w| format!("\"{w}\""))
                .collect::<Vec<_>>()
                .join(" | "),
            Shape::Quantity(what) => format!("{what} with its unit"),
            Shape::List(item) => format!("list of {}", item.words()),
            Shape::Tuple(items) => {
                format!(
                    "[{}]",
                    items
                        .iter()
                        .map(Shape::words)
                        .collect::<Vec<_>>()
                        .join(", ")
                )
            }
            Shape::Either(forms) => forms
                .iter()
                .map(Shape::words)
                .collect::<Vec<_>>()
                .join(", or "),
            Shape::Table => "table".into(),
            Shape::Kind(concept) => format!("{concept} kind"),
        }
    }
}

/// A typed value that can stand in a file.
pub trait FromToml: Sized {
    /// Its form.
    fn shape() -> Shape;
    /// Reads it, or notes what is wrong with it and gives `None`.
    fn read(value: &Value, notes: &mut Notes) -> Option<Self>;
    /// Writes it as TOML that reads to the same value.
    fn write(&self) -> String;
}

fn wrong(value: &Value, notes: &mut Notes, expected: &str) {
    notes.error(
        "E0101",
        value.place,
        format!("expected {expected}, found {}", value.shape.word()),
    );
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        impl FromToml for $int {
            fn shape() -> Shape {
                Shape::Integer(i128::from(<$int>::MIN), i128::from(<$int>::MAX))
            }
            fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
                let Raw::Integer(n) = value.shape else {
                    wrong(value, notes, "a whole number");
                    return None;
                };
                let result = <$int>::try_from(n);
                if result.is_err() {
                    notes.error("E0102", value.place, format!("{n} is out of range"))
                        .help(format!("write a whole number from {} to {}", <$int>::MIN, <$int>::MAX));
                }
                result.ok()
            }
            fn write(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, i64);

impl FromToml for f64 {
    fn shape() -> Shape {
        Shape::Number
    }
    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        match value.shape {
            Raw::Integer(n) => Some(n as f64),
            Raw::Float(x) if x.is_finite() => Some(x),
            Raw::Float(_) => {
                notes.error("E0102", value.place, "not a finite number");
                None
            }
            _ => {
                wrong(value, notes, "a number");
                if let (Some(number), Some(note)) = (meant(value), notes.last()) {
                    note.help(format!("write {number}, without quotes"));
                }
                None
            }
        }
    }
    fn write(&self) -> String {
        format!("{self:?}")
    }
}

/// The number that a text stands for: `"0.5"`, or `"50 %"`, which is 0.5.
fn meant(value: &Value) -> Option<f64> {
    let text = value.as_text()?.trim();
    let (number, per) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let number: f64 = number.parse().ok()?;
    number.is_finite().then_some(number / per)
}

impl FromToml for bool {
    fn shape() -> Shape {
        Shape::Bool
    }
    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let Raw::Bool(b) = value.shape else {
            wrong(value, notes, "true or false");
            return None;
        };
        Some(b)
    }
    fn write(&self) -> String {
        self.to_string()
    }
}

impl FromToml for String {
    fn shape() -> Shape {
        Shape::Text
    }
    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let Raw::Text(s) = &value.shape else {
            wrong(value, notes, "a text");
            return None;
        };
        Some(s.clone())
    }
    fn write(&self) -> String {
        crate::print::quoted(self)
    }
}

macro_rules! quantities {
    ($($type:ty: $what:literal, $example:literal),*) => {$(
        impl FromToml for $type {
            fn shape() -> Shape {
                Shape::Quantity($what)
            }
            fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
                match &value.shape {
                    Raw::Text(text) => match text.parse() {
                        Ok(quantity) => Some(quantity),
                        Err(UnitError { message, help }) => {
                            notes.error("E0103", value.place, message).help(help);
                            None
                        }
                    },
                    other => {
                        notes
                            .error("E0103", value.place, format!("expected {} with its unit, found {}", concat!("a ", $what), other.word()))
                            .help(concat!("write it as a text, like \"", $example, "\""));
                        None
                    }
                }
            }
            fn write(&self) -> String {
                format!("\"{self}\"")
            }
        }
    )*};
}
quantities!(Time: "time", "5 ns", Rate: "data rate", "100 Gbps", Bytes: "data amount", "64 B");

impl<T: FromToml> FromToml for Vec<T> {
    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }
    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let Raw::List(list) = &value.shape else {
            wrong(value, notes, "a list");
            return None;
        };
        // Every wrong item is noted, not just the first.
        let items: Vec<Option<T>> = list.iter().map(|item| T::read(item, notes)).collect();
        items.into_iter().collect()
    }
    fn write(&self) -> String {
        format!(
            "[{}]",
            self.iter().map(T::write).collect::<Vec<_>>().join(", ")
        )
    }
}

impl<A: FromToml, B: FromToml> FromToml for (A, B) {
    fn shape() -> Shape {
        Shape::Tuple(vec![A::shape(), B::shape()])
    }
    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        match &value.shape {
            Raw::List(list) if list.len() == 2 => {
                let (a, b) = (A::read(&list[0], notes), B::read(&list[1], notes));
                Some((a?, b?))
            }
            Raw::List(list) => {
                notes.error(
                    "E0101",
                    value.place,
                    format!("expected a pair, found {} values", list.len()),
                );
                None
            }
            _ => {
                wrong(value, notes, "a pair like [0, 4]");
                None
            }
        }
    }
    fn write(&self) -> String {
        format!("[{}, {}]", self.0.write(), self.1.write())
    }
}

/// A parameter that may be left out and then has no value at all.
impl<T: FromToml> FromToml for Option<T> {
    fn shape() -> Shape {
        T::shape()
    }
    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        T::read(value, notes).map(Some)
    }
    fn write(&self) -> String {
        self.as_ref().map(T::write).unwrap_or_default()
    }
}

/// Declares an enum whose variants are words in a file.
///
/// ```
/// netloom_catalog::choice! {
///     /// Where a packet may go.
///     pub enum Direction {
///         /// Towards the roots.
///         Up = "up",
///         /// Towards the hosts.
///         Down = "down",
///     }
/// }
/// ```
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name { $($(#[$vmeta])* $variant),* }

        impl $crate::FromToml for $name {
            fn shape() -> $crate::Shape {
                $crate::Shape::OneOf(vec![$($word),*])
            }
            fn read(value: &$crate::Value, notes: &mut $crate::Notes) -> Option<Self> {
                match value.as_text() {
                    $(Some($word) => Some($name::$variant),)*
                    other => {
                        let known = [$($word),*];
                        let found = other.map_or_else(|| value.shape.word().to_owned(), |t| format!("\"{t}\""));
                        let note = notes.error("E0104", value.place, format!("{found} is none of {}", known.join(", ")));
                        if let Some(near) = other.and_then(|t| $crate::nearest(t, known)) {
                            note.help(format!("did you mean \"{near}\"?"));
                        }
                        None
                    }
                }
            }
            fn write(&self) -> String {
                match self { $($name::$variant => concat!("\"", $word, "\"").to_owned()),* }
            }
        }
    };
}

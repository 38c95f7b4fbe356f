//! Conversion of values to typed parameters, and back to text.

use netloom_units::{Bytes, Rate, Time, UnitError};

use crate::document::ValueShape;
use crate::{Notes, Value};

/// The type of a parameter, for the manual and the schema.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// An integer within these bounds, inclusive.
    Integer(i128, i128),
    Number,
    Bool,
    Text,
    /// One of these words.
    OneOf(Vec<&'static str>),
    /// A string with a unit. The field names the quantity: `time`, `data rate`, `data amount`.
    Quantity(&'static str),
    List(Box<Shape>),
    /// A list with exactly these types in this order.
    Tuple(Vec<Shape>),
    Either(Vec<Shape>),
    /// A table with arbitrary keys.
    Table,
    /// A kind of a concept: a name, or a table with `kind` and the parameters of that kind.
    Kind(&'static str),
}

impl Shape {
    /// Returns a phrase for messages and manuals.
    pub fn words(&self) -> String {
        match self {
            Shape::Integer(..) => "integer".into(),
            Shape::Number => "number".into(),
            Shape::Bool => "true or false".into(),
            Shape::Text => "text".into(),
            Shape::OneOf(words) => words
                .iter()
                .map(|w| format!("\"{w}\""))
                .collect::<Vec<_>>()
                .join(" | "),
            Shape::Quantity(what) => format!("{what} with a unit"),
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

/// A type that a value in a file can be read as.
pub trait FromToml: Sized {
    fn shape() -> Shape;
    /// Reads a value, or notes the mistake and returns `None`.
    fn read(value: &Value, notes: &mut Notes) -> Option<Self>;
    /// Writes the value as TOML that reads to the same value.
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
                let ValueShape::Integer(n) = value.shape else {
                    wrong(value, notes, "an integer");
                    return None;
                };
                let result = <$int>::try_from(n);
                if result.is_err() {
                    notes.error("E0102", value.place, format!("{n} is out of range"))
                        .help(format!("use an integer from {} to {}", <$int>::MIN, <$int>::MAX));
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
            ValueShape::Integer(n) => Some(n as f64),
            ValueShape::Float(x) if x.is_finite() => Some(x),
            ValueShape::Float(_) => {
                notes.error("E0102", value.place, "expected a finite number");
                None
            }
            _ => {
                wrong(value, notes, "a number");
                if let (Some(number), Some(note)) = (meant(value), notes.last()) {
                    note.help(format!("use {number}, without quotes"));
                }
                None
            }
        }
    }
    fn write(&self) -> String {
        format!("{self:?}")
    }
}

/// Returns the number that a string represents: `"0.5"`, or `"50 %"`, which is 0.5.
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
        let ValueShape::Bool(b) = value.shape else {
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
        let ValueShape::Text(s) = &value.shape else {
            wrong(value, notes, "a string");
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
                    ValueShape::Text(text) => match text.parse() {
                        Ok(quantity) => Some(quantity),
                        Err(UnitError { message, help }) => {
                            notes.error("E0103", value.place, message).help(help);
                            None
                        }
                    },
                    other => {
                        notes
                            .error("E0103", value.place, format!("expected {} with a unit, found \
                                {}", concat!("a ", $what), other.word()))
                            .help(concat!("use a string such as \"", $example, "\""));
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
        let ValueShape::List(list) = &value.shape else {
            wrong(value, notes, "a list");
            return None;
        };
        // Notes every wrong item, not only the first.
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
            ValueShape::List(list) if list.len() == 2 => {
                let (a, b) = (A::read(&list[0], notes), B::read(&list[1], notes));
                Some((a?, b?))
            }
            ValueShape::List(list) => {
                notes.error(
                    "E0101",
                    value.place,
                    format!("expected a pair, found {} values", list.len()),
                );
                None
            }
            _ => {
                wrong(value, notes, "a pair such as [0, 4]");
                None
            }
        }
    }
    fn write(&self) -> String {
        format!("[{}, {}]", self.0.write(), self.1.write())
    }
}

/// An optional parameter without a default.
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

/// Reads one of several words, or notes which are expected.
pub fn one_of<'a>(value: &Value, notes: &mut Notes, words: &[&'a str]) -> Option<&'a str> {
    let text = value.as_text();
    let found = words.iter().find(|&&word| text == Some(word));
    if found.is_none() {
        let found = text.map_or_else(|| value.shape.word().to_owned(), |t| format!("\"{t}\""));
        let message = format!("expected one of {}, found {found}", words.join(", "));
        let note = notes.error("E0104", value.place, message);
        if let Some(near) = text.and_then(|text| crate::nearest(text, words.iter().copied())) {
            note.help(format!("did you mean \"{near}\"?"));
        }
    }
    found.copied()
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
                match $crate::one_of(value, notes, &[$($word),*])? {
                    $($word => Some($name::$variant),)*
                    _ => None,
                }
            }
            fn write(&self) -> String {
                match self { $($name::$variant => concat!("\"", $word, "\"").to_owned()),* }
            }
        }
    };
}

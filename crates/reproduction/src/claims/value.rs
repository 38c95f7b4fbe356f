//! The values of formulas.

use crate::Truth;

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Number(f64),
    Text(String),
    Truth(Truth),
    List(Vec<Value>),
    /// Values by key, in order.
    Map(Vec<(Value, Value)>),
}

/// Why there is no value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Missing {
    /// Results are missing, for this reason.
    Because(String),
    /// There are fewer seeds. Ends a loop over seeds.
    NoSeed,
    /// The formula is wrong. Not replaced by `default`.
    Mistake(String),
}

pub(crate) type Answer = Result<Value, Missing>;

impl Missing {
    pub(crate) fn because(reason: impl Into<String>) -> Missing {
        Missing::Because(reason.into())
    }

    pub(crate) fn mistake(message: impl Into<String>) -> Missing {
        Missing::Mistake(message.into())
    }

    /// Returns the reason as text.
    pub(crate) fn words(&self) -> String {
        match self {
            Missing::Because(reason) => reason.clone(),
            Missing::NoSeed => "no seeds".to_owned(),
            Missing::Mistake(message) => format!("mistake in a formula: {message}"),
        }
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Number(number)
    }
}

impl From<Truth> for Value {
    fn from(truth: Truth) -> Value {
        Value::Truth(truth)
    }
}

impl Value {
    pub(crate) fn text(text: impl Into<String>) -> Value {
        Value::Text(text.into())
    }

    /// Returns the kind, with an article.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::Truth(_) => "yes, unsure or no",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    fn wrong(&self, expected: &str) -> Missing {
        Missing::mistake(format!("expected {expected}, found {}", self.word()))
    }

    pub(crate) fn number(&self) -> Result<f64, Missing> {
        match self {
            Value::Number(number) => Ok(*number),
            _ => Err(self.wrong("a number")),
        }
    }

    pub(crate) fn as_text(&self) -> Result<&str, Missing> {
        match self {
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong("a text")),
        }
    }

    pub(crate) fn truth(&self) -> Result<Truth, Missing> {
        match self {
            Value::Truth(truth) => Ok(*truth),
            _ => Err(self.wrong("yes, unsure or no")),
        }
    }

    /// Returns the elements of a list, or the values of a map.
    pub(crate) fn elements(&self) -> Result<Vec<&Value>, Missing> {
        match self {
            Value::List(list) => Ok(list.iter().collect()),
            Value::Map(map) => Ok(map.iter().map(|(_, value)| value).collect()),
            _ => Err(self.wrong("a list")),
        }
    }

    /// Returns the numbers of a list or a map.
    pub(crate) fn numbers(&self) -> Result<Vec<f64>, Missing> {
        self.elements()?.into_iter().map(Value::number).collect()
    }

    /// Returns what a loop runs over: the elements of a list, or the keys of a map.
    pub(crate) fn items(&self) -> Result<Vec<Value>, Missing> {
        match self {
            Value::Map(map) => Ok(map.iter().map(|(key, _)| key.clone()).collect()),
            _ => Ok(self.elements()?.into_iter().cloned().collect()),
        }
    }

    /// Returns the value under a key of a map, or the element of a list; negative numbers count
    /// from the end.
    pub(crate) fn at(&self, key: &Value) -> Answer {
        match self {
            Value::Map(map) => {
                let found = map.iter().find(|(own, _)| own == key);
                let found = found.map(|(_, value)| value.clone());
                found.ok_or_else(|| Missing::because(format!("nothing under {}", key.words())))
            }
            _ => {
                let (list, at) = (self.elements()?, key.number()?);
                let place = if at < 0.0 { at + list.len() as f64 } else { at };
                let found = (place >= 0.0).then(|| list.get(place as usize)).flatten();
                let found = found.map(|&value| value.clone());
                found.ok_or_else(|| Missing::because(format!("no element {at}")))
            }
        }
    }

    /// Returns the value as text.
    pub(crate) fn words(&self) -> String {
        self.formatted(Format::default())
    }

    /// Returns the value as text, with numbers in a format; lists with commas.
    pub(crate) fn formatted(&self, format: Format) -> String {
        match self {
            Value::Number(number) => match (format.decimals, format.has_sign) {
                (Some(decimals), true) => format!("{number:+.decimals$}"),
                (Some(decimals), false) => format!("{number:.decimals$}"),
                (None, true) => format!("{number:+}"),
                (None, false) => number.to_string(),
            },
            Value::Text(text) => text.clone(),
            Value::Truth(Truth::Yes) => "yes".to_owned(),
            Value::Truth(Truth::Unsure) => "unsure".to_owned(),
            Value::Truth(Truth::No) => "no".to_owned(),
            Value::List(list) => {
                let each: Vec<String> = list.iter().map(|own| own.formatted(format)).collect();
                each.join(", ")
            }
            Value::Map(map) => {
                let each = map
                    .iter()
                    .map(|(key, own)| format!("{} {}", key.words(), own.formatted(format)));
                each.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// How numbers are written in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Format {
    pub(crate) decimals: Option<usize>,
    pub(crate) has_sign: bool,
}

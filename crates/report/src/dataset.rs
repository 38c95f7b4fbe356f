//! Tables embedded in the page: stored by columns, each text once, numbers with six digits.

use std::collections::BTreeMap;

use netloom_results::view::number;
use serde_json::{Value, json};

/// A value of a dataset.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Item {
    Text(String),
    Number(f64),
    Nothing,
}

impl From<f64> for Item {
    fn from(x: f64) -> Item {
        Item::Number(x)
    }
}

impl From<Option<f64>> for Item {
    fn from(x: Option<f64>) -> Item {
        x.map_or(Item::Nothing, Item::Number)
    }
}

impl From<&str> for Item {
    fn from(text: &str) -> Item {
        Item::Text(text.to_owned())
    }
}

/// A table with named columns.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Dataset {
    pub(crate) names: Vec<&'static str>,
    rows: Vec<Vec<Item>>,
}

impl Dataset {
    pub(crate) fn new(names: &[&'static str]) -> Dataset {
        Dataset {
            names: names.to_vec(),
            rows: vec![],
        }
    }

    pub(crate) fn push<const N: usize>(&mut self, row: [Item; N]) {
        assert_eq!(N, self.names.len(), "an item for every column");
        self.rows.push(row.into());
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the dataset in the format of the page's script.
    pub(crate) fn to_json(&self) -> Value {
        let columns = 0..self.names.len();
        let columns: Vec<Value> = columns.map(|column| self.column(column)).collect();
        json!({ "names": self.names, "columns": columns })
    }

    fn column(&self, at: usize) -> Value {
        let items = || self.rows.iter().map(move |row| &row[at]);
        if !items().any(|item| matches!(item, Item::Text(_))) {
            return items().map(number).collect();
        }
        let mut words: Vec<&str> = vec![];
        let mut index: BTreeMap<&str, usize> = BTreeMap::new();
        let lines: Vec<Value> = items()
            .map(|item| match item {
                Item::Text(text) => {
                    let next = words.len();
                    let at = *index.entry(text).or_insert(next);
                    if at == next {
                        words.push(text);
                    }
                    Value::from(at)
                }
                _ => Value::Null,
            })
            .collect();
        json!({ "words": words, "lines": lines })
    }
}

/// Converts a number to JSON: six digits, whole numbers without a decimal point, null if it is not
/// finite.
fn number(item: &Item) -> Value {
    let Item::Number(x) = item else {
        return Value::Null;
    };
    let x = number::significant(*x, 6);
    if x.fract() == 0.0 && x.abs() < 1e15 {
        Value::from(x as i64)
    } else {
        Value::from(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_compact() {
        let mut data = Dataset::new(&["series", "x"]);
        data.push(["a".into(), 1.0.into()]);
        data.push(["b".into(), 0.123_456_789.into()]);
        data.push(["a".into(), f64::NAN.into()]);
        data.push([Item::Nothing, None.into()]);
        insta::assert_snapshot!(data.to_json(), @r#"{"columns":[{"lines":[0,1,0,null],"words":["a","b"]},[1,0.123457,null,null]],"names":["series","x"]}"#);
    }
}

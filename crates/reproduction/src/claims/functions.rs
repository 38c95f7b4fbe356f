//! The built-in functions, but sources.

use super::formula::{MOST_DECIMALS, Order};
use super::value::{Answer, Missing, Value};
use crate::order::{descends, is_above, is_at_least, mean};
use crate::{Measured, Truth};

/// A function of values.
pub(super) struct Plain {
    pub(super) name: &'static str,
    pub(super) n: std::ops::RangeInclusive<usize>,
    pub(super) of: fn(&[Value]) -> Answer,
}

/// Functions over seeds, with their numbers of arguments.
pub(super) const OVER_SEEDS: [(&str, std::ops::RangeInclusive<usize>); 13] = [
    ("mean", 1..=1),
    ("half_width", 1..=1),
    ("low", 1..=1),
    ("high", 1..=1),
    ("seeds", 1..=1),
    ("interval", 3..=3),
    ("above", 2..=2),
    ("at_least", 2..=2),
    ("descending", 1..=99),
    ("exceeds", 2..=2),
    ("reaches", 2..=2),
    ("stays_below", 2..=2),
    ("intervals_above", 2..=2),
];

/// Functions that do not evaluate all their arguments.
pub(super) const SPECIAL: [(&str, std::ops::RangeInclusive<usize>); 4] = [
    ("choose", 3..=3),
    ("default", 2..=2),
    ("exists", 1..=1),
    ("missing", 1..=1),
];

pub(super) fn is_over_seeds(name: &str) -> bool {
    OVER_SEEDS.iter().any(|(own, _)| *own == name)
}

pub(super) fn plain(name: &str) -> Option<&'static Plain> {
    PLAIN.iter().find(|own| own.name == name)
}

const fn one(name: &'static str, of: fn(&[Value]) -> Answer) -> Plain {
    Plain { name, n: 1..=1, of }
}

const fn two(name: &'static str, of: fn(&[Value]) -> Answer) -> Plain {
    Plain { name, n: 2..=2, of }
}

const fn several(name: &'static str, of: fn(&[Value]) -> Answer) -> Plain {
    Plain {
        name,
        n: 1..=99,
        of,
    }
}

pub(super) const PLAIN: &[Plain] = &[
    one("sum", |v| Ok(v[0].numbers()?.iter().sum::<f64>().into())),
    one("average", |v| {
        let numbers = v[0].numbers()?;
        some((!numbers.is_empty()).then(|| mean(&numbers)), "average")
    }),
    several("min", |v| {
        some(numbers(v)?.into_iter().reduce(f64::min), "min")
    }),
    several("max", |v| {
        some(numbers(v)?.into_iter().reduce(f64::max), "max")
    }),
    one("median", |v| quantile(v[0].numbers()?, 0.5)),
    two("quantile", |v| quantile(v[0].numbers()?, v[1].number()?)),
    one("len", |v| Ok((v[0].elements()?.len() as f64).into())),
    one("first", |v| element(v[0].elements()?.first(), "first")),
    one("last", |v| element(v[0].elements()?.last(), "last")),
    one("all", |v| Ok(Truth::all(truths(&v[0])?).into())),
    one("any", |v| {
        let any = truths(&v[0])?.into_iter().max();
        Ok(any.unwrap_or(Truth::No).into())
    }),
    one("count", |v| {
        let truths = truths(&v[0])?;
        let n = truths.iter().filter(|own| **own == Truth::Yes).count();
        Ok((n as f64).into())
    }),
    several("argmin", |v| extreme(v, -1.0)),
    several("argmax", |v| extreme(v, 1.0)),
    one("keys", |v| match &v[0] {
        Value::Map(_) => v[0].items().map(Value::List),
        other => Err(expected("a map", other)),
    }),
    one("values", |v| {
        Ok(Value::List(v[0].elements()?.into_iter().cloned().collect()))
    }),
    Plain {
        name: "between",
        n: 3..=3,
        of: between,
    },
    two("join", |v| {
        let each = v[0].elements()?.into_iter().map(Value::words);
        Ok(Value::Text(each.collect::<Vec<_>>().join(v[1].as_text()?)))
    }),
    two("chunks", |v| {
        let list: Vec<Value> = v[0].elements()?.into_iter().cloned().collect();
        let n = (v[1].number()?.max(1.0)) as usize;
        let chunks = list.chunks_exact(n).map(|own| Value::List(own.to_vec()));
        Ok(Value::List(chunks.collect()))
    }),
    one("unimodal", |v| {
        Ok(Truth::from(is_unimodal(&v[0].numbers()?)).into())
    }),
    two("spearman", |v| {
        let found = spearman(&v[0].numbers()?, &v[1].numbers()?);
        found
            .map(Value::Number)
            .ok_or_else(|| Missing::because("all equal"))
    }),
    two("r_squared", |v| {
        let found = r_squared(&v[0].numbers()?, &v[1].numbers()?);
        found
            .map(Value::Number)
            .ok_or_else(|| Missing::because("too few points for a line"))
    }),
    one("abs", |v| Ok(v[0].number()?.abs().into())),
    one("round", |v| Ok(v[0].number()?.round().into())),
    one("floor", |v| Ok(v[0].number()?.floor().into())),
    one("sqrt", |v| Ok(v[0].number()?.sqrt().into())),
    one("log10", |v| Ok(v[0].number()?.log10().into())),
    one("lower", |v| Ok(Value::text(v[0].as_text()?.to_lowercase()))),
    Plain {
        name: "replace",
        n: 3..=3,
        of: |v| {
            let (old, new) = (v[1].as_text()?, v[2].as_text()?);
            Ok(Value::text(v[0].as_text()?.replace(old, new)))
        },
    },
    one("number", |v| {
        let text = v[0].as_text()?;
        let number = text.parse::<f64>().ok().map(Value::Number);
        number.ok_or_else(|| Missing::because(format!("{text} is not a number")))
    }),
];

fn expected(what: &str, found: &Value) -> Missing {
    Missing::mistake(format!("expected {what}, found {}", found.word()))
}

fn some(number: Option<f64>, name: &str) -> Answer {
    let number = number.map(Value::Number);
    number.ok_or_else(|| Missing::because(format!("{name} of an empty list")))
}

fn element(value: Option<&&Value>, name: &str) -> Answer {
    let value = value.map(|&own| own.clone());
    value.ok_or_else(|| Missing::because(format!("{name} of an empty list")))
}

/// Returns the numbers of one list, or several numbers.
fn numbers(values: &[Value]) -> Result<Vec<f64>, Missing> {
    match values {
        [Value::Number(one)] => Ok(vec![*one]),
        [list] => list.numbers(),
        _ => values.iter().map(Value::number).collect(),
    }
}

fn truths(list: &Value) -> Result<Vec<Truth>, Missing> {
    list.elements()?.into_iter().map(Value::truth).collect()
}

/// Applies a function to two values; to a list, element by element.
pub(super) fn pairwise(
    one: &Value,
    other: &Value,
    of: &dyn Fn(&Value, &Value) -> Answer,
) -> Answer {
    let is_list = |value: &Value| matches!(value, Value::List(_) | Value::Map(_));
    let (left, right) = match (is_list(one), is_list(other)) {
        (false, false) => return of(one, other),
        (true, true) => (one.elements()?, other.elements()?),
        (true, false) => {
            let left = one.elements()?;
            let n = left.len();
            (left, vec![other; n])
        }
        (false, true) => {
            let right = other.elements()?;
            (vec![one; right.len()], right)
        }
    };
    let (n, m) = (left.len(), right.len());
    if n != m {
        return Err(Missing::because(format!("lists of {n} and {m} elements")));
    }
    let each = left.into_iter().zip(right);
    let list: Vec<Value> = each
        .map(|(a, b)| pairwise(a, b, of))
        .collect::<Result<_, _>>()?;
    let keyed = if let Value::Map(_) = one { one } else { other };
    Ok(match keyed {
        Value::Map(map) => {
            let keys = map.iter().map(|(key, _)| key.clone());
            Value::Map(keys.zip(list).collect())
        }
        _ => Value::List(list),
    })
}

/// Whether two values are in an order.
pub(super) fn ordered(order: Order, one: &Value, other: &Value) -> Result<bool, Missing> {
    if let Order::Equal | Order::Unequal = order {
        return Ok((one == other) == (order == Order::Equal));
    }
    let (one, other) = (one.number()?, other.number()?);
    Ok(match order {
        Order::Less => one < other,
        Order::AtMost => one <= other,
        Order::More => one > other,
        _ => one >= other,
    })
}

/// Returns a quantile with linear interpolation.
fn quantile(mut samples: Vec<f64>, share: f64) -> Answer {
    samples.sort_by(f64::total_cmp);
    let Some(last) = samples.len().checked_sub(1) else {
        return Err(Missing::because("quantile of an empty list"));
    };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = samples[(below + 1).min(last)];
    Ok((samples[below] + (place - below as f64) * (above - samples[below])).into())
}

/// Returns the index of the first extreme of a list; further lists break ties.
fn extreme(lists: &[Value], sign: f64) -> Answer {
    let ranks = |list: &Value| -> Result<Vec<f64>, Missing> {
        let rank = |value: &Value| match value {
            Value::Truth(truth) => Ok(sign * f64::from(*truth as u8)),
            _ => value.number().map(|number| sign * number),
        };
        list.elements()?.into_iter().map(rank).collect()
    };
    let lists: Vec<Vec<f64>> = lists.iter().map(ranks).collect::<Result<_, _>>()?;
    let n = lists.iter().map(Vec::len).min().unwrap_or(0);
    let mut best = None;
    for at in 0..n {
        let order = |&best: &usize| {
            let mut orders = lists.iter().map(|own| own[at].total_cmp(&own[best]));
            orders
                .find(|order| order.is_ne())
                .is_some_and(|own| own.is_gt())
        };
        if best.as_ref().is_none_or(order) {
            best = Some(at);
        }
    }
    some(best.map(|at| at as f64), "the extreme")
}

/// Returns the entries of a map with keys above one number and at most another, with half a unit of
/// tolerance: times are multiples of a clock.
fn between(values: &[Value]) -> Answer {
    let Value::Map(map) = &values[0] else {
        return Err(expected("a map", &values[0]));
    };
    let (from, until) = (values[1].number()? + 0.5, values[2].number()? + 0.5);
    let mut inside = vec![];
    for (key, value) in map {
        let at = key.number()?;
        if at > from && at <= until {
            inside.push((key.clone(), value.clone()));
        }
    }
    Ok(Value::Map(inside))
}

/// Whether numbers rise to one peak and then fall.
fn is_unimodal(bins: &[f64]) -> bool {
    let falls = bins.windows(2).position(|pair| pair[1] < pair[0]);
    let after = falls.unwrap_or(bins.len());
    let rest = bins.get(after..).unwrap_or(&[]);
    rest.windows(2).all(|pair| pair[1] <= pair[0])
}

/// Returns ranks from 1; equal values share their mean rank.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|own| *own < value).count();
        let equal = values.iter().filter(|own| *own == value).count();
        below as f64 + (equal as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Returns Spearman's rank correlation; `None` if all values of one side are equal.
fn spearman(one: &[f64], other: &[f64]) -> Option<f64> {
    let (one, other) = (ranks(one), ranks(other));
    let mean = (one.len() as f64 + 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| -> f64 {
        let both = a.iter().zip(b);
        both.map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let width = (sum(&one, &one) * sum(&other, &other)).sqrt();
    (width > 0.0).then(|| sum(&one, &other) / width)
}

/// Returns the fraction of the variance of `y` that a straight line over `x` explains; `None` below
/// three points.
fn r_squared(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() < 3 || x.len() != y.len() {
        return None;
    }
    let (x_mean, y_mean) = (mean(x), mean(y));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        let both = x.iter().zip(y);
        both.map(|(x, y)| of(x - x_mean, y - y_mean)).sum()
    };
    let (xx, yy) = (sum(&|x, _| x * x), sum(&|_, y| y * y));
    let xy = sum(&|x, y| x * y);
    (xx > 0.0 && yy > 0.0).then(|| xy * xy / (xx * yy))
}

/// Combines the arguments of a function over seeds: one row for each seed.
pub(super) fn over_seeds(name: &str, rows: &[Vec<Value>]) -> Answer {
    let column = |at: usize| -> Result<Vec<f64>, Missing> {
        rows.iter().map(|row| row[at].number()).collect()
    };
    let measured = |at: usize| {
        let found = Measured::over(&column(at)?);
        found.ok_or_else(|| Missing::because("no seeds"))
    };
    let bound = || rows[0][1].number();
    let truth = match name {
        "seeds" => {
            let each = rows.iter().map(|row| row[0].clone());
            return Ok(Value::List(each.collect()));
        }
        "mean" => return Ok(measured(0)?.mean.into()),
        "low" => return Ok(measured(0)?.ends().0.into()),
        "high" => return Ok(measured(0)?.ends().1.into()),
        "half_width" => {
            let width = measured(0)?.half_width.map(Value::Number);
            return width.ok_or_else(|| Missing::because("one seed has no interval"));
        }
        "interval" => {
            let (decimals, unit) = (rows[0][1].number()?, rows[0][2].as_text()?);
            if !(0.0..=MOST_DECIMALS as f64).contains(&decimals) {
                let expected = format!("expected at most {MOST_DECIMALS} decimals");
                return Err(Missing::mistake(format!("{expected}, found {decimals}")));
            }
            return Ok(Value::Text(measured(0)?.words(decimals as usize, unit)));
        }
        "above" => is_above(&column(0)?, 1.0, &column(1)?),
        "at_least" => is_at_least(&column(0)?, &column(1)?),
        "descending" => descending(rows)?,
        "exceeds" => measured(0)?.exceeds(bound()?),
        "reaches" => measured(0)?.reaches(bound()?),
        "stays_below" => measured(0)?.stays_below(bound()?),
        _ => measured(0)?.is_above(1.0, measured(1)?),
    };
    Ok(truth.into())
}

fn descending(rows: &[Vec<Value>]) -> Result<Truth, Missing> {
    let row = |row: &Vec<Value>| -> Result<Vec<f64>, Missing> {
        match row.as_slice() {
            [list] => list.numbers(),
            several => several.iter().map(Value::number).collect(),
        }
    };
    let rows: Vec<Vec<f64>> = rows.iter().map(row).collect::<Result<_, _>>()?;
    let n = rows.iter().map(Vec::len).min().unwrap_or(0);
    let column = |at: usize| -> Vec<f64> { rows.iter().map(|row| row[at]).collect() };
    let columns: Vec<Vec<f64>> = (0..n).map(column).collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    Ok(descends(&columns))
}

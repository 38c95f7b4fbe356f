//! Changes to texts, trees and bytes, such as typing errors, disk errors and attacks.

use serde_json::{Map, Value, json};

use crate::random::Random;

/// Boundary values and nonsense values, as TOML.
pub(crate) const EDGES: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "3",
    "7",
    "16",
    "17",
    "64",
    "255",
    "256",
    "257",
    "65535",
    "65536",
    "1000000",
    "2147483647",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "0.0",
    "-0.0",
    "0.5",
    "1.0",
    "1.5",
    "1e-12",
    "1e-300",
    "1e300",
    "nan",
    "inf",
    "-inf",
    "true",
    "false",
    "[]",
    "{}",
    "[0]",
    "[[]]",
    "\"\"",
    "\"0\"",
    "\"all\"",
    "\"0 B\"",
    "\"1 B\"",
    "\"64 B\"",
    "\"2 KiB\"",
    "\"1 GiB\"",
    "\"4 GiB\"",
    "\"16 EiB\"",
    "\"0 ns\"",
    "\"1 fs\"",
    "\"1 ps\"",
    "\"3 ns\"",
    "\"1 us\"",
    "\"100 s\"",
    "\"99999999 s\"",
    "\"0 Gbps\"",
    "\"1 bps\"",
    "\"1 Mbps\"",
    "\"100 Gbps\"",
    "\"333.333333333 Gbps\"",
    "\"100 Tbps\"",
    "\"0-3\"",
    "\"0,0,0\"",
    "\"5-2\"",
    "\"random 3\"",
    "\"rest\"",
    "\"next 1\"",
    "\"message\"",
    "\"auto\"",
    "\"0 packets\"",
    "\"18446744073709551615 packets\"",
    "\"\\u001b[31m\"",
    "\"=1+1\"",
    "\"../..\"",
    "1979-05-27T07:32:00Z",
];

/// Changes a text; `dictionary` has valid words and lines.
pub(crate) fn text(
    original: &str,
    others: &[String],
    dictionary: &[String],
    random: &mut Random,
) -> String {
    let mut lines: Vec<String> = original.lines().map(str::to_owned).collect();
    for _ in 0..=random.below(4) {
        if lines.is_empty() {
            lines.push(String::new());
        }
        let at = random.below(lines.len());
        match random.below(12) {
            0 => {
                lines.remove(at);
            }
            1 => lines.insert(at, lines[random.below(lines.len())].clone()),
            2 => {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            3 | 4 if !dictionary.is_empty() => lines.insert(at, random.of(dictionary).clone()),
            5 if !others.is_empty() => {
                let other: Vec<&str> = random.of(others).lines().collect();
                if !other.is_empty() {
                    let from = random.below(other.len());
                    let n = 1 + random.below(6);
                    let part = other[from..].iter().take(n).map(|line| (*line).to_owned());
                    lines.splice(at..at, part.collect::<Vec<_>>());
                }
            }
            6 => {
                let mut bytes = lines[at].clone().into_bytes();
                some_bytes(&mut bytes, random);
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
            _ => lines[at] = with_value(&lines[at], random),
        }
    }
    lines.join("\n") + "\n"
}

/// Changes the value after `=` of a line, or one of its numbers or words.
fn with_value(line: &str, random: &mut Random) -> String {
    if let Some((key, value)) = line.split_once('=')
        && random.one_in(2)
    {
        let edge = random.of(EDGES);
        return match value.trim_start().starts_with(['{', '[']) && random.one_in(2) {
            true => format!("{key}={}", with_token(value, random)),
            false => format!("{key}= {edge}"),
        };
    }
    with_token(line, random)
}

/// Changes a number or word of a line.
fn with_token(line: &str, random: &mut Random) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let mut tokens = vec![];
    let mut start = None;
    for (at, c) in line.char_indices().chain([(line.len(), ' ')]) {
        match (is_word(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                tokens.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    if tokens.is_empty() {
        return line.to_owned();
    }
    let &(from, to) = random.of(&tokens);
    let edge = random.of(EDGES).trim_matches('"');
    format!("{}{edge}{}", &line[..from], &line[to..])
}

/// Changes, removes, inserts or truncates some bytes.
pub(crate) fn some_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            bytes.push(random.next() as u8);
            continue;
        }
        let at = random.below(bytes.len());
        match random.below(7) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 => {
                let n = (1 + random.below(8)).min(bytes.len() - at);
                bytes.drain(at..at + n);
            }
            3 => bytes.insert(at, *random.of(&[0, 0x7f, 0x80, 0xff, b'\n', b'"', b'{'])),
            4 => bytes.truncate(at),
            5 => {
                let word = *random.of(&[0, u32::MAX, i32::MAX as u32, 1 << 31, 1 << 16]);
                for (byte, new) in bytes[at..].iter_mut().zip(word.to_le_bytes()) {
                    *byte = new;
                }
            }
            _ => {
                let n = (1 + random.below(32)).min(bytes.len() - at);
                let part = bytes[at..at + n].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, part);
            }
        }
    }
}

/// Changes one value of a tree.
pub(crate) fn json(tree: &mut Value, random: &mut Random) {
    let n = count(tree);
    for _ in 0..=random.below(3) {
        let mut left = random.below(n);
        change(tree, &mut left, random);
    }
}

fn count(tree: &Value) -> usize {
    1 + match tree {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(entries) => entries.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

fn change(tree: &mut Value, left: &mut usize, random: &mut Random) -> bool {
    if *left == 0 {
        *tree = changed(tree, random);
        return true;
    }
    *left -= 1;
    match tree {
        Value::Array(items) => items.iter_mut().any(|item| change(item, left, random)),
        Value::Object(entries) => entries.values_mut().any(|item| change(item, left, random)),
        _ => false,
    }
}

fn changed(tree: &Value, random: &mut Random) -> Value {
    let edges = [
        json!(0),
        json!(-1),
        json!(1),
        json!(1e300),
        json!(-1e300),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1_000_000_000_000_000_000u64),
        json!(4_294_967_296u64),
        json!(null),
        json!(true),
        json!(""),
        json!("total"),
        json!("\u{1b}[31m</script><b>"),
        json!("=1+1"),
        json!([]),
        json!({}),
        json!("x".repeat(3000)),
    ];
    match tree {
        Value::Object(entries) if random.one_in(2) && !entries.is_empty() => {
            let mut other: Map<String, Value> = entries.clone();
            let key = other
                .keys()
                .nth(random.below(other.len()))
                .expect("a key")
                .clone();
            let value = other.remove(&key).expect("it is there");
            if random.one_in(2) {
                other.insert(format!("{key}x"), value);
            }
            Value::Object(other)
        }
        Value::Array(items) if random.one_in(2) && !items.is_empty() => {
            let mut other = items.clone();
            let at = random.below(other.len());
            match random.below(3) {
                0 => {
                    other.remove(at);
                }
                1 => other.push(items[at].clone()),
                _ => other.truncate(at),
            }
            Value::Array(other)
        }
        _ => random.of(&edges).clone(),
    }
}

//! Lists of hosts as Slurm writes them: `io1,node[00-03,7]`.

use anyhow::{Context, bail};

/// Most hosts that a list may name.
const MOST_HOSTS: usize = 65_536;

/// The names and patterns of a list, with all numbers in brackets written out. A range keeps the
/// zeros of its first number: `[08-10]` is 08, 09 and 10.
pub(super) fn expanded(list: &str) -> anyhow::Result<Vec<String>> {
    let mut hosts = vec![];
    for pattern in split(list) {
        hosts.extend(numbered(pattern.trim())?);
        if hosts.len() > MOST_HOSTS {
            bail!("`{list}`: expected at most {MOST_HOSTS} hosts, found more");
        }
    }
    Ok(hosts)
}

/// The parts between commas that are not in brackets.
fn split(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let at_commas = list.split(|letter: char| {
        match letter {
            '[' => depth += 1,
            ']' => depth = 0,
            _ => {}
        }
        letter == ',' && depth == 0
    });
    at_commas.collect()
}

/// A pattern with each number of its brackets.
fn numbered(pattern: &str) -> anyhow::Result<Vec<String>> {
    let mut hosts = vec![String::new()];
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('[') {
        let (inside, tail) = after
            .split_once(']')
            .with_context(|| format!("`{pattern}`: expected `]` after `[{after}`"))?;
        let numbers = numbers(inside).with_context(|| format!("in `{pattern}`"))?;
        if hosts.len().saturating_mul(numbers.len()) > MOST_HOSTS {
            bail!("`{pattern}`: expected at most {MOST_HOSTS} hosts, found more");
        }
        let with = |host: &String| {
            let host = format!("{host}{before}");
            let numbers = numbers.iter();
            numbers
                .map(move |number| format!("{host}{number}"))
                .collect::<Vec<_>>()
        };
        hosts = hosts.iter().flat_map(with).collect();
        rest = tail;
    }
    hosts.iter_mut().for_each(|host| host.push_str(rest));
    Ok(hosts)
}

/// The numbers of one pair of brackets: `00-03,7`.
fn numbers(inside: &str) -> anyhow::Result<Vec<String>> {
    let mut all = vec![];
    for part in inside.split(',') {
        let part = part.trim();
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse::<u64>().ok().filter(|_| is_number);
            number.with_context(|| {
                format!("expected numbers and ranges like [0-3,7] in brackets, found `{part}`")
            })
        };
        let (from, to) = (number(first)?, number(last)?);
        if from > to {
            bail!("expected the smaller number of a range first, found `{part}`");
        }
        if to - from >= MOST_HOSTS as u64 {
            bail!("expected at most {MOST_HOSTS} numbers, found `{part}`");
        }
        let width = first.len();
        all.extend((from..=to).map(|number| format!("{number:0width$}")));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::expanded;

    #[test]
    fn brackets_are_written_out() {
        let of = |list: &str| expanded(list).unwrap().join(" ");
        assert_eq!(of("io1, io2*"), "io1 io2*");
        assert_eq!(of("node00[0-3]*"), "node000* node001* node002* node003*");
        assert_eq!(of("n[08-10,7],io1"), "n08 n09 n10 n7 io1");
        assert_eq!(of("r[1-2]n[1,3]-ib"), "r1n1-ib r1n3-ib r2n1-ib r2n3-ib");
        assert_eq!(of("n[9-11]"), "n9 n10 n11");
    }

    #[test]
    fn mistakes_say_what_to_write() {
        let of = |list: &str| format!("{:#}", expanded(list).unwrap_err());
        assert_eq!(of("n[0-3"), "`n[0-3`: expected `]` after `[0-3`");
        let numbers = "expected numbers and ranges like [0-3,7] in brackets, found";
        assert_eq!(of("n[a-c]"), format!("in `n[a-c]`: {numbers} `a-c`"));
        assert_eq!(of("n[]"), format!("in `n[]`: {numbers} ``"));
        assert_eq!(of("n[1-]"), format!("in `n[1-]`: {numbers} `1-`"));
        assert_eq!(
            of("n[3-1]"),
            "in `n[3-1]`: expected the smaller number of a range first, found `3-1`"
        );
        assert!(of("n[0-99999999]").contains("expected at most 65536"));
        assert!(of("n[0-999]m[0-999]").contains("expected at most 65536"));
    }
}

//! The known name nearest to an unknown one, for "did you mean".

/// Names longer than this, in bytes, are not compared.
const LONGEST: usize = 200;

/// Returns the name in `known` nearest to `wrong`, if it is near enough to be a typing error.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // No name is this long, and the edit distance takes time proportional to the product of both
    // lengths.
    if wrong.len() > LONGEST {
        return None;
    }
    let fold = |s: &str| s.to_lowercase().replace('_', "-");
    let wrong = fold(wrong);
    known
        .into_iter()
        .map(|name| (strsim::osa_distance(&wrong, &fold(name)), name))
        .filter(|(distance, name)| {
            *distance <= (name.len().max(wrong.len())) / 3 || fold(name).starts_with(&wrong)
        })
        .min_by_key(|(distance, name)| (*distance, *name))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let known = ["ib-two-table", "round-robin", "oldest-first"];
        assert_eq!(nearest("ib_two_tabel", known), Some("ib-two-table"));
        assert_eq!(nearest("roundrobin", known), Some("round-robin"));
        assert_eq!(nearest("oldest", known), Some("oldest-first"));
        assert_eq!(nearest("dragonfly", known), None);
        let long = "round-robin".repeat(2_000_000);
        assert_eq!(nearest(&long, [long.as_str()]), None);
    }
}

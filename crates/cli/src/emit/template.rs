//! Templates of scripts: files with `@name@` in place of values.

/// Replaces each `@name@` by the value of that name. Other `@` stay as they are.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('@') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let name = from[1..].split_once('@').map_or("", |(name, _)| name);
        if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
            out.push_str(value);
            rest = &from[name.len() + 2..];
        } else {
            out.push('@');
            rest = &from[1..];
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_replace_their_names_once() {
        let values = [("a", "@b@"), ("b", "2")];
        assert_eq!(
            fill("@a@ @b@@b@ ${x[@]@Q} @c@ @", &values),
            "@b@ 22 ${x[@]@Q} @c@ @"
        );
    }
}

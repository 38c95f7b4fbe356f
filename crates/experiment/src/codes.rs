//! The codes of notes, which `netloom explain E0501` prints. The meaning of a code never changes.

pub use netloom_catalog::Code;

/// Returns every code of experiments, of files of real sites, and of settings of libraries.
pub fn codes() -> Vec<Code> {
    let mut codes = netloom_catalog::codes(include_str!("codes.md"));
    codes.extend(netloom_infiniband::codes());
    codes.extend(netloom_infiniband::opensm::codes());
    codes.extend(netloom_settings::codes());
    codes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Collects every code in the sources of all crates: a quote, a letter, four digits, a quote.
    fn codes_in(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                codes_in(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                for quoted in text.split('"') {
                    let is_code = quoted.len() == 5
                        && quoted.starts_with(['E', 'W'])
                        && quoted[1..].bytes().all(|b| b.is_ascii_digit());
                    if is_code {
                        found.insert(quoted.to_owned());
                    }
                }
            }
        }
    }

    #[test]
    fn every_code_of_every_crate_is_explained_and_none_is_invented() {
        let mut used = BTreeSet::new();
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for entry in std::fs::read_dir(crates).unwrap().flatten() {
            let folder = entry.path().join("src");
            if folder.is_dir() {
                codes_in(&folder, &mut used);
            }
        }
        let codes = codes();
        let explained: BTreeSet<String> = codes.iter().map(|code| code.name.to_owned()).collect();
        assert_eq!(explained, used);
        assert!(codes.is_sorted_by_key(|code| &code.name[1..]));
    }
}

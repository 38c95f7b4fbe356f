//! The scripts and the style that every report carries, inlined: nothing is fetched, ever.

/// Vega: draws.
const VEGA: &str = include_str!("../assets/vega.min.js");
/// Vega-Lite: turns a specification of a chart into one of Vega.
const VEGA_LITE: &str = include_str!("../assets/vega-lite.min.js");
/// What the page does: draws figures when they come into view, sorts tables, changes the theme.
const PAGE_SCRIPT: &str = include_str!("../assets/page.js");
/// What the page looks like, on a screen and on paper.
pub(crate) const STYLE: &str = include_str!("../assets/page.css");

/// The scripts in the order in which they must run.
pub(crate) fn scripts() -> impl Iterator<Item = String> {
    [VEGA, VEGA_LITE, PAGE_SCRIPT].into_iter().map(inline)
}

/// A script as it may stand between `<script>` and `</script>`.
///
/// Inside strings and regular expressions `<\/script` means the same; outside of them it does not occur. A
/// reference to a source map would be fetched by developer tools, and is dropped.
fn inline(script: &str) -> String {
    let lines = script
        .lines()
        .filter(|line| !line.starts_with("//# sourceMappingURL="));
    let mut text = String::with_capacity(script.len());
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text.replace("</script", "<\\/script")
        .replace("<!--", "<\\!--")
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_results::sha256;

    #[test]
    fn the_libraries_are_those_of_the_readme() {
        let readme = include_str!("../assets/README.md");
        for (name, script) in [("vega.min.js", VEGA), ("vega-lite.min.js", VEGA_LITE)] {
            let line = readme
                .lines()
                .find(|line| line.starts_with(&format!("| `{name}`")))
                .expect("a line in the table");
            let hash = sha256(script);
            assert!(line.contains(&format!("`{hash}`")), "{name} has {hash}");
        }
        let licences = [
            include_str!("../assets/LICENSE-vega"),
            include_str!("../assets/LICENSE-vega-lite"),
        ];
        assert!(licences.iter().all(|text| text.contains("Redistribution")));
    }

    #[test]
    fn a_script_cannot_end_its_element() {
        assert_eq!(inline("a='</script>'"), "a='<\\/script>'\n");
        assert_eq!(inline("x\n//# sourceMappingURL=x.map"), "x\n");
        for script in scripts() {
            assert!(!script.contains("</script"));
            assert!(!script.contains("sourceMappingURL="));
        }
    }
}

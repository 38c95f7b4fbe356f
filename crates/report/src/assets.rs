//! The scripts and the style sheet of a report. They are inlined, so that a report never fetches
//! anything.

/// Vega, which draws the charts.
const VEGA: &str = include_str!("../assets/vega.min.js");
/// Vega-Lite, which compiles a chart to a Vega specification.
const VEGA_LITE: &str = include_str!("../assets/vega-lite.min.js");
/// The script of the page: draws figures when they come into view, sorts tables, changes the theme.
const PAGE_SCRIPT: &str = include_str!("../assets/page.js");
/// The style sheet of the page, for screen and print.
pub(crate) const STYLE: &str = include_str!("../assets/page.css");

/// Returns the scripts in the order in which they must run.
pub(crate) fn scripts() -> impl Iterator<Item = String> {
    [VEGA, VEGA_LITE, PAGE_SCRIPT].into_iter().map(inline)
}

/// Escapes a script for use between `<script>` and `</script>`.
///
/// Inside strings and regular expressions, `<\/script` has the same meaning; elsewhere it does not
/// occur. References to source maps are removed, since developer tools would fetch them.
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

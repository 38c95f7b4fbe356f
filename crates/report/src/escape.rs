//! Escapes names for a page, so that they never become markup or a script.

use netloom_results::view::escaped;
use serde_json::Value;

/// Escapes a text for use between tags or in an attribute with quotes of either kind.
pub(crate) fn text(words: &str) -> String {
    escaped(words).replace('\'', "&#39;")
}

/// Returns a name as an isolated element, so that right-to-left text does not affect its
/// neighbours.
pub(crate) fn name(words: &str) -> String {
    // A short name is not wrapped; a long one is wrapped anywhere, to keep the width of the page.
    let class = if words.chars().count() <= 26 {
        " class=\"brief\""
    } else {
        ""
    };
    format!("<bdi{class}>{}</bdi>", text(words))
}

/// Escapes JSON for a `<script>` element, so that it cannot end the element or begin a comment.
pub(crate) fn json(value: &Value) -> String {
    let text = serde_json::to_string(value).expect("plain data is JSON");
    text.replace('<', "\\u003c").replace('>', "\\u003e")
}

/// Returns a valid `id`: letters, digits and hyphens.
pub(crate) fn id(words: &str) -> String {
    words
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(
            text("<b a='1' b=\"2\">&\u{0}"),
            "&lt;b a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;\u{fffd}"
        );
        assert_eq!(
            json(&Value::from("</script><!--")),
            "\"\\u003c/script\\u003e\\u003c!--\""
        );
    }

    proptest! {
        #[test]
        fn no_text_becomes_markup(words in any::<String>()) {
            let escaped = text(&words);
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
            let embedded = json(&Value::from(words.clone()));
            prop_assert!(!embedded.contains('<'));
            prop_assert_eq!(serde_json::from_str::<String>(&embedded).unwrap(), words);
        }
    }
}

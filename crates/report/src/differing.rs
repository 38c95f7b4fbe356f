//! The keys in which the files of the folders of a report differ. It comes before all figures.

use netloom_results::Collection;

use crate::escape;

/// Maximum number of keys to show; longer lists are folded.
const MOST: usize = 12;

/// Returns the section; empty for a single folder.
pub(crate) fn html(collections: &[Collection]) -> String {
    if collections.len() < 2 {
        return String::new();
    }
    let mut html =
        String::from("<section id=\"differing\" class=\"differing\"><h2>What differs</h2>\n");
    let found = netloom_figures::differing(collections);
    let is_known = collections.iter().all(|c| !c.experiment.trim().is_empty());
    if found.is_empty() {
        html.push_str(match is_known {
            true => "<p>Nothing: all keys of these files have the same values.</p>\n",
            false => "<p>Unknown: a folder does not contain its experiment.</p>\n",
        });
        return html + "</section>\n";
    }
    let mut table = String::from(
        "<div class=\"scroll\"><table class=\"data\"><thead><tr><th scope=\"col\">Key</th>",
    );
    for name in netloom_figures::names(collections) {
        table.push_str(&format!("<th scope=\"col\">{}</th>", escape::name(&name)));
    }
    table.push_str("</tr></thead><tbody>");
    for one in &found {
        table.push_str(&format!(
            "<tr><th scope=\"row\"><code>{}</code></th>",
            escape::text(&one.key)
        ));
        for at in 0..collections.len() {
            let value = escape::text(one.value(at));
            table.push_str(&format!("<td class=\"name\">{value}</td>"));
        }
        table.push_str("</tr>");
    }
    table.push_str("</tbody></table></div>\n");
    html.push_str(&match found.len() {
        n if n > MOST => {
            format!(
                "<details><summary>{n} keys</summary><div \
                class=\"inside\">{table}</div></details>\n"
            )
        }
        _ => table,
    });
    html.push_str(
        "<p class=\"small quiet\">All other keys of the files are equal.</p></section>\n",
    );
    html
}

//! Tables of the page, which can be sorted, filtered by words, and saved as CSV.

use netloom_results::view::{Estimate, number};
use netloom_results::{Column, described};

use crate::escape;

/// A column of a table.
pub(crate) struct Head {
    /// Title, as HTML.
    title: String,
    /// Name in the CSV file.
    csv: String,
    is_number: bool,
}

impl Head {
    pub(crate) fn text(title: &str) -> Head {
        Head {
            title: escape::text(title),
            csv: title.to_lowercase().replace(' ', "_"),
            is_number: false,
        }
    }

    /// Creates a column of numbers; `csv` is its name with the unit of the stored values.
    pub(crate) fn number(title: &str, csv: &str) -> Head {
        Head {
            title: escape::text(title),
            csv: csv.to_owned(),
            is_number: true,
        }
    }

    /// Creates a column of results, with its title and the unit in which it is shown.
    pub(crate) fn column(name: &str, unit: &str) -> Head {
        let title = described(name).map_or_else(|| name.to_owned(), Column::title);
        match unit {
            "" => Head::number(&title, name),
            unit => Head::number(&format!("{title} ({unit})"), name),
        }
    }
}

/// A cell of a table.
pub(crate) enum Cell {
    /// A name from a file, to be escaped.
    Name(String),
    /// A text of the report, as HTML.
    Html(String),
    /// A number: the measured value and its text.
    Number(Option<f64>, String),
    /// A highlighted number.
    Strong(f64, String),
    /// A mean with its interval, and the unit to show it in.
    Estimate(Option<Estimate>, f64),
    /// A mean with its interval, shown as a fraction of load.
    Load(Option<Estimate>),
}

impl Cell {
    pub(crate) fn whole(n: u64) -> Cell {
        Cell::Number(Some(n as f64), n.to_string())
    }

    fn html(&self) -> String {
        let numeric = |value: Option<f64>, width: Option<f64>, shown: String| {
            let value = value.map(|x| x.to_string()).unwrap_or_default();
            let width = width
                .map(|w| format!(" data-w=\"{w}\""))
                .unwrap_or_default();
            format!("<td class=\"n\" data-v=\"{value}\"{width}>{shown}</td>")
        };
        match self {
            Cell::Name(name) => format!("<td class=\"name\">{}</td>", escape::name(name)),
            Cell::Html(html) => format!("<td>{html}</td>"),
            Cell::Number(value, shown) => numeric(*value, None, escape::text(shown)),
            Cell::Strong(value, shown) => {
                let shown = format!("<strong>{}</strong>", escape::text(shown));
                numeric(Some(*value), None, shown)
            }
            Cell::Estimate(estimate, unit) => {
                let shown = estimate.map_or("–".into(), |e| shown(e, *unit, number::short));
                numeric(
                    estimate.map(|e| e.mean),
                    estimate.and_then(|e| e.half_width),
                    shown,
                )
            }
            Cell::Load(estimate) => {
                let shown = estimate.map_or("–".into(), |e| shown(e, 1.0, number::load));
                numeric(
                    estimate.map(|e| e.mean),
                    estimate.and_then(|e| e.half_width),
                    shown,
                )
            }
        }
    }
}

/// Formats a mean and the half width of its interval with the same digits; an interval that rounds
/// to zero is omitted.
fn shown(estimate: Estimate, unit: f64, format_number: fn(f64) -> String) -> String {
    let mean = format_number(estimate.mean / unit);
    let Some(half) = estimate.half_width else {
        return mean;
    };
    let digits = mean.split_once('.').map_or(0, |(_, after)| after.len());
    let half = format!("{:.digits$}", half / unit);
    if half.chars().all(|c| "0.".contains(c)) {
        return mean;
    }
    format!("{mean} <span class=\"within\">±{half}</span>")
}

/// A table with its lines.
pub(crate) struct Table {
    pub(crate) id: &'static str,
    /// Describes the contents and how to read them.
    pub(crate) caption: String,
    pub(crate) heads: Vec<Head>,
    pub(crate) lines: Vec<Vec<Cell>>,
}

/// Longer tables have a filter field.
const LONG: usize = 16;

impl Table {
    pub(crate) fn html(&self) -> String {
        let id = self.id;
        let is_long = self.lines.len() > LONG;
        let mut html = String::new();
        if is_long {
            html.push_str(&format!(
                "<div class=\"filter screen\"><label class=\"small\"><span class=\"unseen\">Show \
                 only lines with these words</span>\
                 <input type=\"search\" data-table=\"{id}\" placeholder=\"Filter by \
                 words\"></label>\
                 <span class=\"quiet small\" id=\"{id}-count\" aria-live=\"polite\">{} \
                 lines</span></div>\n",
                self.lines.len()
            ));
        }
        let short = if is_long { "" } else { " short" };
        html.push_str(&format!(
            "<div class=\"scroll{short}\" tabindex=\"0\" role=\"region\" \
             aria-labelledby=\"{id}-caption\">\
             <table class=\"data\" id=\"{id}\"><caption id=\"{id}-caption\">{}</caption>\n\
             <thead><tr>",
            escape::text(&self.caption)
        ));
        for head in &self.heads {
            let class = if head.is_number { " class=\"n\"" } else { "" };
            html.push_str(&format!(
                "<th scope=\"col\"{class} data-csv=\"{}\"><button type=\"button\">{}</button></th>",
                escape::text(&head.csv),
                head.title
            ));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for line in &self.lines {
            assert_eq!(line.len(), self.heads.len(), "a cell for every column");
            html.push_str("<tr>");
            html.extend(line.iter().map(Cell::html));
            html.push_str("</tr>\n");
        }
        html.push_str(&format!(
            "</tbody></table></div>\n<div class=\"tools\"><button type=\"button\" \
             data-take-table=\"{id}\">CSV</button></div>\n"
        ));
        html
    }
}

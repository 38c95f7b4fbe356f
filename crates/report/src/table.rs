//! Tables of the page: sorted by their headers, filtered by words, taken away as CSV.

use netloom_results::view::{Estimate, number};

use crate::escape;

/// A column of a table.
pub(crate) struct Head {
    /// What it says, as HTML.
    title: String,
    /// Its name in the CSV that a reader takes away.
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

    /// A column of numbers; `csv` is its name with the unit in which values are kept.
    pub(crate) fn number(title: &str, csv: &str) -> Head {
        Head {
            title: escape::text(title),
            csv: csv.to_owned(),
            is_number: true,
        }
    }
}

/// A cell of a table.
pub(crate) enum Cell {
    /// A name somebody chose.
    Name(String),
    /// Words of ours, as HTML.
    Html(String),
    /// A number: as it was measured, and as it is shown.
    Number(Option<f64>, String),
    /// A number that stands out.
    Strong(f64, String),
    /// A mean with its interval, shown in a unit.
    Estimate(Option<Estimate>, f64),
    /// The same as a fraction of load.
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

/// A mean and half of its interval with as many digits; an interval that rounds to nothing is not shown.
fn shown(estimate: Estimate, unit: f64, told: fn(f64) -> String) -> String {
    let mean = told(estimate.mean / unit);
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
    /// What it holds and how to read it.
    pub(crate) caption: String,
    pub(crate) heads: Vec<Head>,
    pub(crate) lines: Vec<Vec<Cell>>,
}

/// Longer tables get a field to filter them.
const LONG: usize = 16;

impl Table {
    pub(crate) fn html(&self) -> String {
        let id = self.id;
        let is_long = self.lines.len() > LONG;
        let mut html = String::new();
        if is_long {
            html.push_str(&format!(
                "<div class=\"filter screen\"><label class=\"small\"><span class=\"unseen\">Show only lines with these words</span>\
                 <input type=\"search\" data-table=\"{id}\" placeholder=\"Filter by words\"></label>\
                 <span class=\"quiet small\" id=\"{id}-count\" aria-live=\"polite\">{} lines</span></div>\n",
                self.lines.len()
            ));
        }
        let short = if is_long { "" } else { " short" };
        html.push_str(&format!(
            "<div class=\"scroll{short}\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{id}-caption\">\
             <table class=\"data\" id=\"{id}\"><caption id=\"{id}-caption\">{}</caption>\n<thead><tr>",
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
            "</tbody></table></div>\n<div class=\"tools\"><button type=\"button\" data-take-table=\"{id}\">CSV</button></div>\n"
        ));
        html
    }
}

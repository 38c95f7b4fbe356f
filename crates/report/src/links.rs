//! The table of the busiest links.

use netloom_results::view::{Link, Links, Study, Use, number};

use crate::table::{Cell, Head, Table};

/// Creates the table of the busiest links at the selected points.
pub(crate) fn table(links: &Links<'_>, study: &Study) -> Table {
    const MOST: usize = 10;
    let mut table = Table {
        id: "busiest-links",
        caption: format!(
            "The {MOST} busiest links{}; means over seeds. Contested: share of packets for which \
             the switch had more than one lane to choose from.",
            study.chosen_load().map_or(String::new(), |load| {
                let series = if study.series.len() > 1 {
                    " of each series"
                } else {
                    ""
                };
                format!("{series} at load {}", number::plain(load))
            })
        ),
        heads: vec![
            Head::text("Series"),
            Head::text("From"),
            Head::text("To"),
            Head::text("Kind"),
            Head::text("Cable"),
            Head::number("Utilisation", "utilisation"),
            Head::number("Busiest seed", "utilisation_busiest_seed"),
            Head::number("Contested", "contested"),
            Head::number("Output buffer (flits)", "output_buffer_mean_flits"),
        ],
        lines: vec![],
    };
    for point in study.chosen() {
        let mut all: Vec<(&Link, &Use)> = links.at(point.number).collect();
        let names = |link: &Link| {
            let ports = (link.from_port, link.to_port);
            (links.from(link), ports.0, links.to(link), ports.1)
        };
        all.sort_by(|a, b| {
            let by_use = b.1.utilisation().total_cmp(&a.1.utilisation());
            by_use.then_with(|| names(a.0).cmp(&names(b.0)))
        });
        for (link, seen) in all.into_iter().take(MOST) {
            let end = |name: &str, port: Option<u16>| match port {
                Some(port) => format!("{name} port {port}"),
                None => name.to_owned(),
            };
            let percent = |x: f64| Cell::Number(Some(x), format!("{} %", number::short(100.0 * x)));
            let buffer = seen.output_buffer();
            table.lines.push(vec![
                Cell::Name(study.series[point.series].clone()),
                Cell::Name(end(links.from(link), link.from_port)),
                Cell::Name(end(links.to(link), link.to_port)),
                Cell::Name(links.kind(link).to_owned()),
                Cell::Name(links.class(link).to_owned()),
                percent(seen.utilisation()),
                percent(seen.busiest()),
                seen.contested()
                    .map_or(Cell::Number(None, "–".into()), percent),
                Cell::Number(Some(buffer), number::short(buffer)),
            ]);
        }
    }
    table
}

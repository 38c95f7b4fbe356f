//! How busy links were: means over seeds, for every point.

use std::collections::BTreeMap;

use netloom_results::{Collection, Frame};

use crate::number;
use crate::points::Study;
use crate::table::{Cell, Head, Table};

/// One direction of one link.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Link {
    pub(crate) from: String,
    pub(crate) from_port: Option<u16>,
    pub(crate) to: String,
    pub(crate) to_port: Option<u16>,
    kind: String,
    class: String,
}

/// What was seen of a link at a point.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Use {
    /// Runs that are summed here, in the order of the table.
    n: u32,
    utilisation: f64,
    busiest: f64,
    packets: f64,
    choices: f64,
    buffer: f64,
}

impl Use {
    /// Share of the time in which flits were sent, over seeds.
    pub(crate) fn utilisation(&self) -> f64 {
        self.utilisation / f64::from(self.n.max(1))
    }
}

/// Every link at every point.
#[derive(Default)]
pub(crate) struct Links {
    names: Vec<Link>,
    uses: BTreeMap<(u64, usize), Use>,
}

impl Links {
    pub(crate) fn of(collection: &Collection) -> Links {
        let mut links = Links::default();
        let Some(table) = collection.table("links") else {
            return links;
        };
        let mut known: BTreeMap<Link, usize> = BTreeMap::new();
        for line in 0..table.len() {
            let Some(link) = link(table, line) else {
                continue;
            };
            let number = |name: &str| table.column(name).and_then(|c| c.number(line));
            let at = *known.entry(link.clone()).or_insert_with(|| {
                links.names.push(link);
                links.names.len() - 1
            });
            let point = number("point").unwrap_or(0.0) as u64;
            let seen = links.uses.entry((point, at)).or_default();
            let utilisation = number("utilisation").unwrap_or(0.0);
            seen.n += 1;
            seen.utilisation += utilisation;
            seen.busiest = seen.busiest.max(utilisation);
            seen.packets += number("packets").unwrap_or(0.0);
            seen.choices += number("choices").unwrap_or(0.0);
            seen.buffer += number("output_buffer_mean_flits").unwrap_or(0.0);
        }
        links
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Every link at a point with what was seen of it.
    pub(crate) fn at(&self, point: u64) -> impl Iterator<Item = (&Link, &Use)> {
        self.uses
            .range((point, 0)..=(point, usize::MAX))
            .map(|((_, at), seen)| (&self.names[*at], seen))
    }

    /// The busiest links at the points that are told about.
    pub(crate) fn table(&self, study: &Study) -> Table {
        const MOST: usize = 10;
        let mut table = Table {
            id: "busiest-links",
            caption: format!(
                "The {MOST} busiest links{}: means over seeds. Contested: packets sent when more than one lane could have been.",
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
            let mut all: Vec<(&Link, &Use)> = self.at(point.number).collect();
            all.sort_by(|a, b| {
                (b.1.utilisation().total_cmp(&a.1.utilisation())).then(a.0.cmp(b.0))
            });
            for (link, seen) in all.into_iter().take(MOST) {
                let end = |name: &str, port: Option<u16>| match port {
                    Some(port) => format!("{name} port {port}"),
                    None => name.to_owned(),
                };
                let percent =
                    |x: f64| Cell::Number(Some(x), format!("{} %", number::short(100.0 * x)));
                let n = f64::from(seen.n.max(1));
                table.lines.push(vec![
                    Cell::Name(study.series[point.series].clone()),
                    Cell::Name(end(&link.from, link.from_port)),
                    Cell::Name(end(&link.to, link.to_port)),
                    Cell::Name(link.kind.clone()),
                    Cell::Name(link.class.clone()),
                    percent(seen.utilisation()),
                    percent(seen.busiest),
                    if seen.packets > 0.0 {
                        percent(seen.choices / seen.packets)
                    } else {
                        Cell::Number(None, "–".into())
                    },
                    Cell::Number(Some(seen.buffer / n), number::short(seen.buffer / n)),
                ]);
            }
        }
        table
    }
}

fn link(table: &Frame, line: usize) -> Option<Link> {
    let text = |name: &str| table.column(name).and_then(|c| c.text(line));
    let port = |name: &str| {
        let number = table.column(name).and_then(|c| c.number(line));
        number.map(|n| n as u16)
    };
    Some(Link {
        from: text("from")?.to_owned(),
        from_port: port("from_port"),
        to: text("to")?.to_owned(),
        to_port: port("to_port"),
        kind: text("kind").unwrap_or("").to_owned(),
        class: text("link_class").unwrap_or("").to_owned(),
    })
}

//! The data of the figures as CSV.

use netloom_results::{Cell, Column, Csv, Frame, PunctualityLine, Table};

use crate::{Measured, Point, Results};

/// The number of requested connections that exceeds the capacity.
const MOST: f64 = 3072.0;

/// Returns the simulated series, in the order of the paper's tables.
pub(super) fn simulated() -> impl Iterator<Item = String> {
    let of = |packet| {
        let fabrics = ["irregular", "hypercube", "mesh"].into_iter();
        fabrics.map(move |fabric| format!("S004-3 {fabric} {packet} B"))
    };
    [256, 4096].into_iter().flat_map(of)
}

/// Returns the number of established connections, by seed.
fn established(point: &Point<'_>) -> Option<Vec<f64>> {
    let of = |run: &&netloom_results::Run| Some(run.connections.as_ref()?.established as f64);
    point.runs.iter().map(of).collect()
}

/// Returns the mean of one value per seed.
fn mean(values: &[f64]) -> Option<f64> {
    Measured::over(values).map(|measured| measured.mean)
}

/// Returns all tables by name.
pub(super) fn tables(results: &Results) -> Vec<(&'static str, String)> {
    vec![
        ("admission", admission(results)),
        ("throughput", throughput(results)),
        ("ports", ports(results)),
        ("punctuality", punctuality(results)),
    ]
}

const SERIES: &[Column] = &[
    Column::new("series", "", "Scenario, fabric and packet size."),
    Column::new("target", "", "Requested connections."),
];

/// The columns of `admission.csv`.
const ADMISSION: &[Column] = &[
    Column::new("seeds", "", "Number of admissions."),
    Column::new(
        "established_mean",
        "",
        "Established connections, mean over seeds.",
    ),
    Column::new("established_least", "", "Minimum over seeds."),
    Column::new("established_most", "", "Maximum over seeds."),
    Column::new(
        "asked_load",
        "fraction",
        "Load of the connections on the wire, including headers, as a fraction of a host's link.",
    ),
];

fn is_admission(name: &str) -> bool {
    let mut words = name.split(' ');
    let study = words.next().unwrap_or_default();
    ["S004-2", "S004-8", "S004-9"].contains(&study) && words.next() != Some("delivered")
}

/// S004-2 and the admission of S004-8 and S004-9.
fn admission(results: &Results) -> String {
    let mut csv = Csv::new(&[SERIES, ADMISSION]);
    for name in results
        .names()
        .into_iter()
        .filter(|name| is_admission(name))
    {
        for point in results.series(name).points {
            let Some(established) = established(&point) else {
                continue;
            };
            let asked = |run: &&netloom_results::Run| {
                run.classes
                    .iter()
                    .filter_map(|class| class.asked_load)
                    .sum()
            };
            let asked: Vec<f64> = point.runs.iter().map(asked).collect();
            let fold = |of: fn(f64, f64) -> f64| established.iter().copied().reduce(of);
            csv.line([
                name.to_owned(),
                point.load.cell(),
                point.runs.len().to_string(),
                mean(&established).cell(),
                fold(f64::min).cell(),
                fold(f64::max).cell(),
                mean(&asked).cell(),
            ]);
        }
    }
    csv.finish()
}

/// The columns of `throughput.csv`.
const THROUGHPUT: &[Column] = &[
    Column::new("seeds", "", "Number of runs in the means."),
    Column::new("established", "", "Established connections."),
    Column::new(
        "delivered",
        "bytes/cycle/host",
        "Load received, including headers.",
    ),
    Column::new(
        "delivered_half_width",
        "bytes/cycle/host",
        "Half width of the 95 % interval over seeds.",
    ),
    Column::new(
        "sl2_in_time_3_4",
        "fraction",
        "Share of packets of SL2 within 3/4 of the inter-arrival time.",
    ),
    Column::new(
        "sl3_in_time_3_4",
        "fraction",
        "Share of packets of SL3 within 3/4 of the inter-arrival time.",
    ),
];

/// S004-3.
fn throughput(results: &Results) -> String {
    let mut csv = Csv::new(&[SERIES, THROUGHPUT]);
    for name in simulated() {
        for point in results.series(&name).points {
            let delivered = point.runs.iter().map(|run| run.total.delivered_load);
            let load = Measured::over(&delivered.collect::<Vec<_>>());
            csv.line([
                name.clone(),
                point.load.cell(),
                point.runs.len().to_string(),
                established(&point).and_then(|all| mean(&all)).cell(),
                load.map(|load| load.mean).cell(),
                load.and_then(|load| load.half_width).cell(),
                in_time(&point, 2).cell(),
                in_time(&point, 3).cell(),
            ]);
        }
    }
    csv.finish()
}

fn in_time(point: &Point<'_>, sl: u8) -> Option<f64> {
    let of = |run: &&netloom_results::Run| {
        let mut lines = run.connections.as_ref()?.punctuality.iter();
        lines
            .find(|line| line.sl == sl && line.scope == "all")?
            .in_time_3_4
    };
    let shares: Option<Vec<f64>> = point.runs.iter().map(of).collect();
    mean(&shares?)
}

/// The columns of `ports.csv`.
const PORTS: &[Column] = &[
    Column::new("seed", "", "Seed of the run."),
    Column::new(
        "kind",
        "",
        "`injection` (a host interface), `fabric` or `delivery` (switch ports).",
    ),
    Column::new("from", "", "Sending switch or host."),
    Column::new("from_port", "", "Port of the sender; empty at a host."),
    Column::new(
        "rank",
        "",
        "Rank among the host interfaces or the switch ports of the run, the least used first.",
    ),
    Column::new(
        "utilisation",
        "fraction",
        "Share of time in which flits were sent.",
    ),
];

/// The relevant part of a line.
struct Port<'a> {
    kind: &'a str,
    from: &'a str,
    from_port: String,
    utilisation: f64,
}

/// Reads the table of links.
fn read(links: &Frame) -> Option<Vec<Port<'_>>> {
    let (kind, from) = (links.column("kind")?, links.column("from")?);
    let (port, utilisation) = (links.column("from_port")?, links.column("utilisation")?);
    let read = |line: usize| {
        Some(Port {
            kind: kind.text(line)?,
            from: from.text(line)?,
            from_port: port.values.datum(line).to_string(),
            utilisation: utilisation.number(line)?,
        })
    };
    (0..links.len()).map(read).collect()
}

/// S004-4: all ports with the maximum number of connections, in the order of hosts and switches.
fn ports(results: &Results) -> String {
    let mut csv = Csv::new(&[SERIES, PORTS]);
    for outcome in &results.outcomes {
        let run = &outcome.run;
        if run.load != MOST || !simulated().any(|name| name == run.series) {
            continue;
        }
        let Some(ports) = outcome.table("links").and_then(read) else {
            continue;
        };
        let is_host = |port: &Port<'_>| port.kind == "injection";
        for (n, port) in ports.iter().enumerate() {
            let is_before = |(m, other): &(usize, &Port<'_>)| {
                let order = other.utilisation.total_cmp(&port.utilisation);
                is_host(other) == is_host(port) && order.then(m.cmp(&n)).is_lt()
            };
            csv.line([
                run.series.to_owned(),
                run.load.cell(),
                run.seed.cell(),
                port.kind.to_owned(),
                port.from.to_owned(),
                port.from_port.clone(),
                (ports.iter().enumerate().filter(is_before).count() + 1).to_string(),
                port.utilisation.cell(),
            ]);
        }
    }
    csv.finish()
}

/// S004-5 to S004-7: delay and jitter of every service level, and of its best and worst connection.
fn punctuality(results: &Results) -> String {
    let mut csv = Csv::new(&[SERIES, PunctualityLine::COLUMNS]);
    for name in simulated() {
        let series = results.series(&name);
        let Some(point) = series.at(MOST) else {
            continue;
        };
        let summaries = point.runs.iter().filter_map(|run| run.connections.as_ref());
        for line in summaries.flat_map(|summary| &summary.punctuality) {
            let own = [name.clone(), point.load.cell()];
            csv.line(own.into_iter().chain(line.cells()));
        }
    }
    csv.finish()
}

//! A synthetic study: queueing formulas with noise, in the tables of a real study.

use std::collections::BTreeMap;

use netloom_results::{
    Collection, Column, Datum, Frame, FrameColumn, HistogramLine, HostLine, Key, Kind, LinkLine,
    SeriesLine, Summary, Table, Verdict,
};
use serde_json::{Value, json};

/// Size of the study.
#[derive(Clone)]
pub(crate) struct Size {
    pub(crate) classes: Vec<String>,
    pub(crate) arbiters: Vec<String>,
    pub(crate) loads: Vec<f64>,
    pub(crate) seeds: u64,
    /// Epochs of a run in the table of series.
    pub(crate) epochs: u32,
    /// Added to the weight of every arbiter, so that two studies differ.
    pub(crate) shift: f64,
}

impl Size {
    /// Seven classes, three arbiters, thirteen loads, five seeds.
    pub(crate) fn large() -> Size {
        let names = [
            "control",
            "storage",
            "mpi-small",
            "mpi-large",
            "allreduce",
            "checkpoint",
            "best-effort",
        ];
        Size {
            classes: names.map(str::to_owned).into(),
            arbiters: ["dtable", "ib-two-table", "wfq"].map(str::to_owned).into(),
            loads: (0..13).map(|n| f64::from(40 + 5 * n) / 100.0).collect(),
            seeds: 5,
            epochs: 60,
            shift: 0.0,
        }
    }

    /// One run: no axes.
    pub(crate) fn single() -> Size {
        let large = Size::large();
        Size {
            classes: large.classes[..2].into(),
            arbiters: vec!["dtable".into()],
            loads: vec![0.6],
            seeds: 1,
            ..large
        }
    }
}

/// Returns noise between -1 and 1, equal for equal numbers.
fn noise(numbers: &[u64]) -> f64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for n in numbers {
        state = (state ^ n).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 29;
        state = state.wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 32;
    }
    (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Returns the load at which an arbiter saturates.
fn capacity(arbiter: usize) -> f64 {
    [0.91, 0.86, 0.97][arbiter % 3]
}

/// Returns the mean latency of a class, without noise.
fn mean_ns(size: &Size, class: usize, arbiter: usize, load: f64) -> f64 {
    let share = (class as f64 + 1.0 + size.shift) / size.classes.len() as f64;
    let use_ = (load / capacity(arbiter)).min(0.995);
    let favoured = [1.0, 1.6, 0.8][arbiter % 3];
    800.0 + 900.0 * share * favoured * use_ / (1.0 - use_)
}

fn summary(size: &Size, class: Option<usize>, arbiter: usize, load: f64, seed: u64) -> Summary {
    let n = size.classes.len() as f64;
    let part = if class.is_some() { 1.0 / n } else { 1.0 };
    let key = [
        class.map_or(99, |c| c as u64),
        arbiter as u64,
        (load * 1000.0) as u64,
        seed,
    ];
    let wobble = 1.0 + 0.03 * noise(&key);
    let mean = wobble
        * match class {
            Some(class) => mean_ns(size, class, arbiter, load),
            None => {
                (0..size.classes.len())
                    .map(|c| mean_ns(size, c, arbiter, load))
                    .sum::<f64>()
                    / n
            }
        };
    let delivered = load.min(capacity(arbiter) * (1.0 + 0.002 * noise(&key)));
    let saturated = delivered < 0.98 * load;
    let is_unlucky = load > 0.8 && noise(&key) > 0.9;
    Summary {
        offered_load: load * part,
        injected_load: delivered * part,
        delivered_load: delivered * part,
        offered_messages: 100_000,
        delivered_messages: 98_000,
        delivered_packets: 98_000,
        latency_mean_ns: Some(mean),
        latency_half_width_ns: Some(mean * 0.01),
        latency_p50_ns: Some(mean * 0.8),
        latency_p75_ns: Some(mean * 1.3),
        latency_p90_ns: Some(mean * 1.9),
        latency_p99_ns: Some(mean * 3.6),
        latency_p999_ns: Some(mean * 6.1),
        latency_max_ns: Some(mean * 9.0),
        packet_latency_mean_ns: Some(mean * 0.9),
        network_latency_mean_ns: Some(mean * 0.6),
        jitter_mean_ns: Some(mean * 0.3),
        jitter_max_ns: Some(mean * 4.0),
        switches_mean: Some(4.2),
        fairness_jain: Some(0.99 - 0.1 * (load - 0.4).max(0.0) * (1.0 + noise(&key)) / 2.0),
        verdict: match () {
            () if saturated => Verdict::Saturated,
            () if is_unlucky => Verdict::NotConverged,
            () => Verdict::Ok,
        },
        ..Summary::default()
    }
}

fn column(name: &str, kind: Kind) -> FrameColumn {
    let column = Column::new("", "", "An axis.");
    FrameColumn {
        name: name.to_owned(),
        ..FrameColumn::new(&column, kind)
    }
}

/// Returns the study with all tables.
pub(crate) fn collection(name: &str, size: &Size) -> Collection {
    let mut tables: BTreeMap<String, Frame> = BTreeMap::new();
    let mut points: Option<Frame> = None;
    let mut point = 0;
    for (a, arbiter) in size.arbiters.iter().enumerate() {
        for &load in &size.loads {
            let keys = [
                (column("point", Kind::Whole), Datum::Whole(point)),
                (
                    column("qos.arbiter.kind", Kind::Text),
                    Datum::Text(arbiter.clone()),
                ),
                (column("traffic.load", Kind::Number), Datum::Number(load)),
            ];
            for (table, frame) in run_tables(size, a, load) {
                let frame = frame.with_keys(&keys);
                match tables.get_mut(table) {
                    Some(whole) => whole.append(&frame),
                    None => {
                        tables.insert(table.to_owned(), frame);
                    }
                }
            }
            let frame = over_seeds(size, a, load).with_keys(&keys);
            match &mut points {
                Some(whole) => whole.append(&frame),
                None => points = Some(frame),
            }
            point += 1;
        }
    }
    tables.insert("points".into(), points.expect("some point"));
    let is_study = point > 1;
    Collection {
        results_version: None,
        folder: format!("{name}.out"),
        name: name.to_owned(),
        about: "Three arbiters on a 4-ary 3-tree with seven classes of traffic: which of them \
            keeps the latency of \
                control traffic low while bulk transfers fill the fabric?"
            .into(),
        axes: if is_study {
            vec!["qos.arbiter.kind".into(), "traffic.load".into()]
        } else {
            vec![]
        },
        tables,
        experiment: EXPERIMENT.to_owned(),
        manifest: json!({
            "netloom": "0.1.0", "git": "7738735aa0c0ffee7738735aa0c0ffee77387350", "results_version": 1,
            "name": name, "study_id": "5f1d0b7c92ab4e66", "status": "ok",
            "command_line": ["netloom", "run", "qos.toml", "--set", "measure.until=\"2 ms\""],
            "config_sha256": "63727832aaf62004a2b249c933e327f3c90caf49e41a72f4bf436edf632cbda8",
            "seed": 1, "repeat": size.seeds, "digests": ["9f3a5c11d2e0b7a4"],
            "host": "login1", "os": "linux", "arch": "x86_64", "threads": 8,
            "finished_unix_seconds": 1_794_731_400u64,
            "timing": { "wall_seconds": 812.4, "events": 48_211_344_120u64 },
        }),
        layout: serde_json::from_value(layout()).ok(),
        warnings: vec![],
    }
}

const EXPERIMENT: &str = r#"netloom = 1
name = "qos"

[topology]
kind = "fat-tree"
arity = 4
levels = 3

[[traffic]]
name = "control"
load = 0.5

[measure]
seed = 1
repeat = 5

[study.axes]
"traffic.load" = { from = 0.4, to = 1.0, step = 0.05 }
"qos.arbiter.kind" = ["dtable", "ib-two-table", "wfq"]
"#;

fn over_seeds(size: &Size, arbiter: usize, load: f64) -> Frame {
    let metrics = [
        "offered_load",
        "delivered_load",
        "latency_mean_ns",
        "latency_p50_ns",
        "latency_p99_ns",
        "latency_p999_ns",
        "jitter_mean_ns",
        "fairness_jain",
        "switches_mean",
    ];
    let mut columns = vec![
        column("scope", Kind::Text),
        column("class", Kind::Text),
        column("sl", Kind::Whole),
    ];
    columns.push(column("verdict", Kind::Text));
    for name in ["seeds", "saturated_seeds", "unsure_seeds"] {
        columns.push(column(name, Kind::Whole));
    }
    for metric in metrics {
        columns.push(column(metric, Kind::Number));
        let half = match metric.strip_suffix("_ns") {
            Some(stem) => format!("{stem}_half_width_ns"),
            None => format!("{metric}_half_width"),
        };
        columns.push(column(&half, Kind::Number));
    }
    let mut frame = Frame::from_columns(columns);
    let classes = std::iter::once(None).chain((0..size.classes.len()).map(Some));
    for class in classes {
        let seeds: Vec<Summary> = (1..=size.seeds)
            .map(|seed| summary(size, class, arbiter, load, seed))
            .collect();
        let count = |test: fn(&Summary) -> bool| {
            Datum::Whole(seeds.iter().filter(|s| test(s)).count() as u64)
        };
        let verdict = Verdict::of_seeds(seeds.iter().map(|seed| seed.verdict));
        let mut line = vec![
            Datum::Text(if class.is_some() { "class" } else { "total" }.into()),
            Datum::Text(class.map_or(String::new(), |class| size.classes[class].clone())),
            Datum::Nothing,
            Datum::Text(verdict.word().to_owned()),
            Datum::Whole(size.seeds),
            count(|s| s.verdict == Verdict::Saturated),
            count(|s| !s.verdict.is_result()),
        ];
        for metric in metrics {
            let value = |summary: &Summary| {
                let at = Summary::COLUMNS
                    .iter()
                    .position(|c| c.name == metric)
                    .expect("a column");
                match summary.data()[at] {
                    Datum::Number(x) => x,
                    _ => 0.0,
                }
            };
            let n = seeds.len() as f64;
            let mean = seeds.iter().map(value).sum::<f64>() / n;
            line.push(Datum::Number(mean));
            let spread = seeds.iter().map(|s| (value(s) - mean).powi(2)).sum::<f64>();
            line.push(if seeds.len() > 1 {
                Datum::Number(2.776 * (spread / (n - 1.0) / n).sqrt())
            } else {
                Datum::Nothing
            });
        }
        frame.push(line);
    }
    frame
}

fn run_tables(size: &Size, arbiter: usize, load: f64) -> Vec<(&'static str, Frame)> {
    let mut results = Frame::of::<Key>().with_columns::<Summary>();
    let mut series = Frame::of::<SeriesLine>();
    let mut links = Frame::of::<LinkLine>();
    let mut histograms = Frame::of::<HistogramLine>();
    let mut hosts = Frame::of::<HostLine>();
    for seed in 1..=size.seeds {
        let classes = std::iter::once(None).chain((0..size.classes.len()).map(Some));
        for class in classes {
            let summary = summary(size, class, arbiter, load, seed);
            let key = Key {
                run_id: netloom_results::sha256(format!("{arbiter} {load} {seed}"))[..32]
                    .to_owned(),
                seed,
                scope: if class.is_some() { "class" } else { "total" }.into(),
                class: class.map_or(String::new(), |class| size.classes[class].clone()),
                sl: None,
            };
            let Some(class) = class else {
                results.push(key.data().into_iter().chain(summary.data()));
                continue;
            };
            let mean = summary.latency_mean_ns.unwrap_or(0.0);
            rows(
                size,
                class,
                seed,
                mean,
                &summary,
                &mut series,
                &mut histograms,
                &mut hosts,
            );
            results.push(key.data().into_iter().chain(summary.data()));
        }
        for line in link_lines(arbiter, load, seed) {
            links.push(line.data());
        }
    }
    vec![
        ("results", results),
        ("series", series),
        ("links", links),
        ("histograms", histograms),
        ("hosts", hosts),
    ]
}

#[allow(clippy::too_many_arguments)]
fn rows(
    size: &Size,
    class: usize,
    seed: u64,
    mean: f64,
    summary: &Summary,
    series: &mut Frame,
    histograms: &mut Frame,
    hosts: &mut Frame,
) {
    let name = size.classes[class].clone();
    let sl = class as u8;
    for epoch in 1..=size.epochs {
        let wobble = noise(&[seed, class as u64, u64::from(epoch), mean as u64]);
        let settled = 1.0 - (-f64::from(epoch) / 6.0).exp();
        let line = SeriesLine {
            seed,
            time_ns: f64::from(epoch) * 20_000.0,
            class: name.clone(),
            sl,
            offered_load: summary.offered_load,
            injected_load: summary.injected_load * settled,
            delivered_load: summary.delivered_load * settled * (1.0 + 0.03 * wobble),
            latency_mean_ns: Some(mean * settled * (1.0 + 0.08 * wobble)),
            ..SeriesLine::default()
        };
        series.push(line.data());
    }
    for (kind, factor) in [("message", 1.0), ("packet", 0.9), ("network", 0.6)] {
        let mut from = 400.0 * factor;
        while from < mean * 8.0 {
            let to = from * 1.06;
            let x = (from / (mean * factor)).ln();
            let count = (9000.0 * (-x * x * 1.4).exp()) as u64;
            if count > 0 {
                let line = HistogramLine {
                    seed,
                    class: name.clone(),
                    sl,
                    latency: kind.into(),
                    from_ns: from,
                    to_ns: to,
                    count,
                };
                histograms.push(line.data());
            }
            from = to;
        }
    }
    for host in 0..64u64 {
        let line = HostLine {
            seed,
            host: format!("nic{host}"),
            class: name.clone(),
            sl,
            injected_load: summary.injected_load
                * (1.0 + 0.05 * noise(&[host, seed, class as u64])),
        };
        hosts.push(line.data());
    }
}

/// Returns the cables of a 4-ary 3-tree with 64 NICs: both ends, with ports.
fn cables() -> Vec<(String, Option<u16>, String, Option<u16>)> {
    let mut cables = vec![];
    for nic in 0..64u16 {
        cables.push((
            format!("nic{nic}"),
            None,
            format!("s0.{}", nic / 4),
            Some(nic % 4),
        ));
    }
    for level in 0..2u16 {
        let step = if level == 0 { 1 } else { 4 };
        for switch in 0..16u16 {
            for up in 0..4u16 {
                let digit = switch / step % 4;
                let above = switch - digit * step + up * step;
                let names = (
                    format!("s{level}.{switch}"),
                    format!("s{}.{above}", level + 1),
                );
                cables.push((names.0, Some(4 + up), names.1, Some(digit)));
            }
        }
    }
    cables
}

fn link_lines(arbiter: usize, load: f64, seed: u64) -> Vec<LinkLine> {
    let delivered = load.min(capacity(arbiter));
    let mut lines = vec![];
    for (n, (from, from_port, to, to_port)) in cables().into_iter().enumerate() {
        let ends = [
            (from.clone(), from_port, to.clone(), to_port),
            (to, to_port, from, from_port),
        ];
        for (direction, (from, from_port, to, to_port)) in ends.into_iter().enumerate() {
            let is_nic = |name: &str| name.starts_with("nic");
            let kind = match (is_nic(&from), is_nic(&to)) {
                (true, _) => "injection",
                (_, true) => "delivery",
                _ => "fabric",
            };
            let skew = 1.0
                + 0.35
                    * noise(&[n as u64, direction as u64])
                    * if kind == "fabric" { 1.0 } else { 0.2 };
            let utilisation = (delivered * skew * (1.0 + 0.01 * noise(&[seed, n as u64]))).min(1.0);
            lines.push(LinkLine {
                seed,
                kind: kind.into(),
                from,
                from_port,
                to,
                to_port,
                link_class: if kind == "fabric" {
                    "optical"
                } else {
                    "copper"
                }
                .into(),
                utilisation,
                flits: (utilisation * 1e6) as u64,
                packets: (kind != "injection").then_some((utilisation * 3e4) as u64),
                choices: (kind != "injection").then_some((utilisation * utilisation * 2e4) as u64),
                output_buffer_mean_flits: (kind != "injection").then_some(utilisation * 30.0),
                output_buffer_peak_flits: None,
                input_buffer_mean_flits: Some(utilisation * 12.0),
            });
        }
    }
    lines
}

/// Returns a drawing as written by `netloom show picture`.
fn layout() -> Value {
    let mut nodes: Vec<Value> = vec![];
    let mut places: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    let mut add = |kind: &str, name: String, x: f64, y: f64, w: f64, h: f64, is_named: bool| {
        places.insert(name.clone(), (x, y));
        let label = json!({ "text": name, "x_px": x, "y_px": y, "size_px": 9.0, "anchor": "middle", "is_vertical": false });
        nodes.push(json!({
            "kind": kind, "name": name, "count": 1, "x_px": x, "y_px": y, "width_px": w, "height_px": h,
            "label": if is_named { label } else { Value::Null },
        }));
    };
    for level in 0..3 {
        for switch in 0..16 {
            let (x, y) = (
                40.0 + 60.0 * f64::from(switch),
                40.0 + 110.0 * f64::from(2 - level),
            );
            add(
                "switch",
                format!("s{level}.{switch}"),
                x,
                y,
                38.0,
                18.0,
                true,
            );
        }
    }
    for nic in 0..64 {
        add(
            "nic",
            format!("nic{nic}"),
            17.5 + 15.0 * f64::from(nic),
            350.0,
            9.0,
            9.0,
            false,
        );
    }
    let edges: Vec<Value> = cables()
        .into_iter()
        .map(|(from, from_port, to, to_port)| {
            let (a, b) = (places[&from], places[&to]);
            json!({
                "kind": if from.starts_with("nic") { "host" } else { "fabric" }, "from": from, "to": to,
                "link_class": "optical", "n_cables": 1,
                "cables": [{ "from_port": from_port, "to_port": to_port }],
                "lines_px": [[[a.0, a.1], [b.0, b.1]]], "label": null,
            })
        })
        .collect();
    json!({
        "structure": "4-ary 3-tree", "is_overview": false, "width_px": 980.0, "height_px": 372.0, "switches": 48,
        "nics": 64, "cables": 192, "link_classes": ["optical", "copper"], "remarks": [], "nodes": nodes,
        "edges": edges, "labels": [],
    })
}

//! Synthetic folders of results for tests: a queue in front of a link, in closed form.

use std::collections::BTreeMap;

use netloom_results::{
    Collection, Column, Datum, Frame, FrameColumn, HistogramLine, HostLine, Key, Kind, LinkLine,
    SeriesLine, Summary, Table, Verdict,
};

/// The axes of a synthetic study.
pub(crate) struct Synthetic {
    pub(crate) classes: Vec<&'static str>,
    pub(crate) loads: Vec<f64>,
    pub(crate) arbiters: Vec<&'static str>,
    pub(crate) seeds: u64,
}

impl Synthetic {
    /// Seven classes, thirteen loads, three arbiters, five seeds.
    pub(crate) fn large() -> Synthetic {
        Synthetic {
            classes: vec![
                "control",
                "video",
                "voice",
                "bulk 1",
                "bulk 2",
                "bulk 3",
                "best effort",
            ],
            loads: vec![
                0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0,
            ],
            arbiters: vec!["dtable", "wfq", "round-robin"],
            seeds: 5,
        }
    }

    /// One class and one series.
    pub(crate) fn small() -> Synthetic {
        Synthetic {
            classes: vec!["bulk"],
            loads: vec![0.2, 0.4, 0.6, 0.8, 1.0],
            arbiters: vec![],
            seeds: 1,
        }
    }

    /// One run of two classes.
    pub(crate) fn single() -> Synthetic {
        Synthetic {
            classes: vec!["control", "bulk"],
            loads: vec![],
            arbiters: vec![],
            seeds: 1,
        }
    }

    /// Where an arbiter saturates.
    fn capacity(arbiter: usize) -> f64 {
        0.97 - 0.07 * arbiter as f64
    }

    /// Mean latency: service and waiting, the first classes first.
    fn latency(load: f64, class: usize, arbiter: usize, seed: u64) -> f64 {
        let capacity = Synthetic::capacity(arbiter);
        let noise = 1.0 + 0.02 * ((seed * 37 + class as u64 * 11) % 7) as f64 / 7.0;
        if load >= capacity {
            return 4e5 * load * noise;
        }
        (600.0 + 250.0 * (1.0 + class as f64) * load / (capacity - load)) * noise
    }

    /// The folder.
    pub(crate) fn collection(&self) -> Collection {
        let axes = self.axes();
        let mut tables: BTreeMap<String, Frame> = BTreeMap::new();
        let mut add = |name: &str, keys: &[(FrameColumn, Datum)], frame: Frame| {
            let frame = frame.with_keys(keys);
            match tables.get_mut(name) {
                Some(table) => table.append(&frame),
                None => {
                    tables.insert(name.to_owned(), frame);
                }
            }
        };
        let mut number = 0;
        let loads = if self.loads.is_empty() {
            &[0.5][..]
        } else {
            &self.loads
        };
        for arbiter in 0..self.arbiters.len().max(1) {
            for &load in loads {
                let mut keys = vec![(column("point", Kind::Whole), Datum::Whole(number))];
                if !self.arbiters.is_empty() {
                    let name = self.arbiters[arbiter].to_owned();
                    keys.push((column("qos.arbiter.kind", Kind::Text), Datum::Text(name)));
                }
                if !self.loads.is_empty() {
                    keys.push((column("traffic.load", Kind::Number), Datum::Number(load)));
                }
                number += 1;
                add("points", &keys, self.points(load, arbiter));
                let mut frames = [
                    ("results", Frame::of::<Key>().with_columns::<Summary>()),
                    ("series", Frame::of::<SeriesLine>()),
                    ("links", Frame::of::<LinkLine>()),
                    ("histograms", Frame::of::<HistogramLine>()),
                    ("hosts", Frame::of::<HostLine>()),
                ];
                for seed in 1..=self.seeds {
                    self.results(load, arbiter, seed, &mut frames[0].1);
                    self.series(load, arbiter, seed, &mut frames[1].1);
                    links(load, seed, &mut frames[2].1);
                    self.histograms(load, arbiter, seed, &mut frames[3].1);
                    self.hosts(load, seed, &mut frames[4].1);
                }
                for (name, frame) in frames {
                    add(name, &keys, frame);
                }
            }
        }
        Collection {
            name: "made up".to_owned(),
            axes,
            tables,
            ..Collection::default()
        }
    }

    fn axes(&self) -> Vec<String> {
        let mut axes = vec![];
        if !self.arbiters.is_empty() {
            axes.push("qos.arbiter.kind".to_owned());
        }
        if !self.loads.is_empty() {
            axes.push("traffic.load".to_owned());
        }
        axes
    }

    fn points(&self, load: f64, arbiter: usize) -> Frame {
        let text = ["scope", "class", "verdict"].map(|name| column(name, Kind::Text));
        let whole = ["sl", "seeds"].map(|name| column(name, Kind::Whole));
        let metrics = [
            "offered_load",
            "offered_load_half_width",
            "delivered_load",
            "delivered_load_half_width",
            "latency_mean_ns",
            "latency_mean_half_width_ns",
            "latency_p50_ns",
            "latency_p99_ns",
            "latency_p99_half_width_ns",
            "latency_p999_ns",
            "jitter_mean_ns",
            "fairness_jain",
        ];
        let columns = text.into_iter().chain(whole);
        let columns = columns
            .chain(metrics.map(|name| column(name, Kind::Number)))
            .collect();
        let mut frame = Frame::from_columns(columns);
        let is_saturated = load >= Synthetic::capacity(arbiter);
        let verdict = match () {
            () if is_saturated => Verdict::Saturated,
            () if load == 0.3 => Verdict::NotConverged,
            () => Verdict::Ok,
        };
        let n = self.classes.len() as f64;
        let mut line = |scope: &str, class: Option<usize>| {
            let share = if class.is_some() { 1.0 / n } else { 1.0 };
            let nth = class.unwrap_or(0);
            let values = (1..=self.seeds).map(|seed| Synthetic::latency(load, nth, arbiter, seed));
            let mean = values.sum::<f64>() / self.seeds as f64;
            let delivered = load.min(Synthetic::capacity(arbiter));
            let half = |x: f64| {
                if self.seeds > 1 {
                    Datum::Number(x)
                } else {
                    Datum::Nothing
                }
            };
            let name = class.map_or("", |class| self.classes[class]).to_owned();
            frame.push([
                Datum::Text(scope.to_owned()),
                Datum::Text(name),
                Datum::Text(verdict.word().to_owned()),
                class.map_or(Datum::Nothing, |class| Datum::Whole(class as u64)),
                Datum::Whole(self.seeds),
                Datum::Number(load * share),
                half(0.001),
                Datum::Number(delivered * share),
                half(0.002),
                Datum::Number(mean),
                half(0.05 * mean),
                Datum::Number(0.8 * mean),
                Datum::Number(3.0 * mean),
                half(0.15 * mean),
                Datum::Number(4.5 * mean),
                Datum::Number(0.4 * mean),
                Datum::Number(if is_saturated { 0.9 } else { 0.999 }),
            ]);
        };
        line("total", None);
        for class in 0..self.classes.len() {
            line("class", Some(class));
        }
        frame
    }

    fn results(&self, load: f64, arbiter: usize, seed: u64, frame: &mut Frame) {
        for (nth, class) in self.classes.iter().enumerate() {
            let key = Key {
                run_id: "0".to_owned(),
                seed,
                scope: "class".to_owned(),
                class: (*class).to_owned(),
                sl: Some(nth as u8),
            };
            let mean = Synthetic::latency(load, nth, arbiter, seed);
            let summary = Summary {
                latency_mean_ns: Some(mean),
                latency_half_width_ns: Some(0.1 * mean),
                ..Summary::default()
            };
            frame.push(key.data().into_iter().chain(summary.data()));
        }
    }

    fn series(&self, load: f64, arbiter: usize, seed: u64, frame: &mut Frame) {
        for epoch in 1..=40u32 {
            for (nth, class) in self.classes.iter().enumerate() {
                let swing = 1.0 + 0.1 * (f64::from(epoch) * 0.9 + nth as f64).sin();
                let line = SeriesLine {
                    seed,
                    time_ns: f64::from(epoch) * 25_000.0,
                    class: (*class).to_owned(),
                    sl: nth as u8,
                    delivered_load: load / self.classes.len() as f64 * swing,
                    latency_mean_ns: Some(Synthetic::latency(load, nth, arbiter, seed) * swing),
                    ..SeriesLine::default()
                };
                frame.push(line.data());
            }
        }
    }

    fn histograms(&self, load: f64, arbiter: usize, seed: u64, frame: &mut Frame) {
        for (nth, class) in self.classes.iter().enumerate() {
            let mean = Synthetic::latency(load, nth, arbiter, seed);
            // Exponential above the service time, in buckets of a 32nd of the mean.
            for bucket in 0..320u32 {
                let count = (20_000.0 * (-f64::from(bucket) / 32.0).exp()) as u64;
                let from_ns = 500.0 + mean * f64::from(bucket) / 32.0;
                let line = HistogramLine {
                    seed,
                    class: (*class).to_owned(),
                    sl: nth as u8,
                    latency: "message".to_owned(),
                    from_ns,
                    to_ns: from_ns + mean / 32.0,
                    count,
                };
                frame.push(line.data());
            }
        }
    }

    fn hosts(&self, load: f64, seed: u64, frame: &mut Frame) {
        for host in 0..16u32 {
            for (nth, class) in self.classes.iter().enumerate() {
                let unlike = 1.0 + 0.02 * f64::from(host % 5) * (nth as f64 + 1.0);
                let line = HostLine {
                    seed,
                    host: format!("n{host}"),
                    class: (*class).to_owned(),
                    sl: nth as u8,
                    injected_load: load / self.classes.len() as f64 * unlike,
                };
                frame.push(line.data());
            }
        }
    }
}

/// Sixteen NICs, eight switches in two levels.
fn links(load: f64, seed: u64, frame: &mut Frame) {
    let mut line = |kind: &str,
                    from: (String, Option<u16>),
                    to: (String, Option<u16>),
                    class: &str,
                    unlike: f64| {
        let line = LinkLine {
            seed,
            kind: kind.to_owned(),
            from: from.0,
            from_port: from.1,
            to: to.0,
            to_port: to.1,
            link_class: class.to_owned(),
            utilisation: (load * unlike).min(1.0),
            ..LinkLine::default()
        };
        frame.push(line.data());
    };
    for nic in 0..16u16 {
        let nic_name = format!("n{nic}");
        let leaf = format!("s{}", nic / 4);
        line(
            "injection",
            (nic_name.clone(), None),
            (leaf.clone(), Some(nic % 4)),
            "host",
            1.0,
        );
        line(
            "delivery",
            (leaf, Some(nic % 4)),
            (nic_name, None),
            "host",
            0.9 + 0.01 * f64::from(nic),
        );
    }
    for leaf in 0..4u16 {
        for root in 0..4u16 {
            let (down, up) = (format!("s{leaf}"), format!("s{}", 4 + root));
            let unlike = 0.7 + 0.05 * f64::from((leaf + 2 * root) % 5);
            line(
                "fabric",
                (down.clone(), Some(4 + root)),
                (up.clone(), Some(leaf)),
                "level-1",
                unlike,
            );
            line(
                "fabric",
                (up, Some(leaf)),
                (down, Some(4 + root)),
                "level-1",
                1.0 - unlike / 2.0,
            );
        }
    }
}

fn column(name: &'static str, kind: Kind) -> FrameColumn {
    FrameColumn::new(&Column::new(name, "", "Made up."), kind)
}

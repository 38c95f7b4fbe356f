//! The figures for a folder, and their contents.

use netloom_results::{Collection, Datum, Frame, FrameColumn, Values};
use serde_json::json;

use crate::synthetic::Synthetic;
use crate::{Chart, Choice, Figure, Line, Mark, Scale, chosen, combine, figures};

fn ids(figures: &[Figure]) -> Vec<&str> {
    figures.iter().map(|figure| figure.id.as_str()).collect()
}

fn find<'f>(figures: &'f [Figure], id: &str) -> &'f Figure {
    figures
        .iter()
        .find(|figure| figure.id == id)
        .unwrap_or_else(|| panic!("{id} in {:?}", ids(figures)))
}

fn lines(figure: &Figure, panel: usize) -> &[Line] {
    match &figure.panels[panel].chart {
        Chart::Lines(lines) | Chart::Steps(lines) => lines,
        chart => panic!("lines, not {chart:?}"),
    }
}

fn names(lines: &[Line]) -> Vec<&str> {
    lines.iter().map(|line| line.name.as_str()).collect()
}

fn titles(figure: &Figure) -> Vec<&str> {
    figure
        .panels
        .iter()
        .map(|panel| panel.title.as_str())
        .collect()
}

#[test]
fn a_study_of_classes_loads_and_arbiters() {
    let study = Synthetic::large();
    let figures = figures(&study.collection());
    assert_eq!(
        ids(&figures),
        [
            "latency",
            "latency-p99",
            "throughput",
            "throughput-by-class",
            "jitter",
            "fairness",
            "latency-cdf",
            "latency-ccdf",
            "offered-over-time",
            "delivered-over-time",
            "latency-over-time",
            "injected-by-host",
            "link-use",
            "links-sorted",
            "link-use-by-load",
            "busiest-links",
            "link-matrix",
        ]
    );
    let latency = find(&figures, "latency");
    assert_eq!(titles(latency), study.classes);
    assert_eq!(latency.series, "qos.arbiter.kind");
    assert_eq!(latency.x.title(), "Offered load (fraction of link rate)");
    assert_eq!(latency.y.unit, "µs");
    for panel in 0..7 {
        assert_eq!(names(lines(latency, panel)), study.arbiters);
    }
    // Saturated at 0.97, 0.9 and 0.83: of thirteen loads, 12, 10 and 9 below, and the first that is
    // saturated.
    let points: Vec<usize> = lines(latency, 0)
        .iter()
        .map(|line| line.points.len())
        .collect();
    assert_eq!(points, [13, 11, 10]);
    let last = lines(latency, 0)[2].points.last().unwrap();
    assert_eq!((last.x, last.mark), (0.85, Mark::Saturated));
    // A saturated latency of 0.3 ms does not determine the scale.
    let calm = latency.panels.iter().flat_map(|panel| match &panel.chart {
        Chart::Lines(lines) => lines.iter(),
        _ => panic!("lines"),
    });
    let calm = calm
        .flat_map(|line| &line.points)
        .filter(|point| point.mark != Mark::Saturated);
    let highest = calm.map(|point| point.high.unwrap()).fold(0.0, f64::max);
    assert!(
        highest <= latency.y.high && latency.y.high < 3.0 * highest,
        "{highest} {:?}",
        latency.y
    );
    assert!(last.y > latency.y.high, "{last:?}");
    assert!(
        latency.caption.contains("95 % intervals over seeds"),
        "{}",
        latency.caption
    );
    assert!(
        latency.caption.contains("first saturated load"),
        "{}",
        latency.caption
    );
    assert!(
        latency.caption.contains("Pale points"),
        "{}",
        latency.caption
    );
}

#[test]
fn delivered_load_goes_on_beyond_saturation() {
    let figures = figures(&Synthetic::large().collection());
    let throughput = find(&figures, "throughput");
    assert_eq!(lines(throughput, 0).len(), 3);
    let wfq = &lines(throughput, 0)[1];
    assert_eq!(wfq.points.len(), 13);
    assert_eq!(wfq.points[12].mark, Mark::Saturated);
    assert_eq!((wfq.points[12].x, wfq.points[12].y), (1.0, 0.97 - 0.07));
    assert_eq!(
        throughput.panels[0].references[0].points,
        [(0.0, 0.0), (1.0, 1.0)]
    );
    let by_class = find(&figures, "throughput-by-class");
    assert_eq!(by_class.panels.len(), 7);
    assert!((lines(by_class, 6)[0].points[12].x - 1.0 / 7.0).abs() < 1e-12);
}

#[test]
fn a_series_looks_the_same_in_every_figure() {
    let figures = figures(&Synthetic::large().collection());
    let mut known: Vec<crate::LegendEntry> = vec![];
    for figure in figures {
        for entry in figure.legend() {
            match known.iter().find(|other| other.name == entry.name) {
                Some(other) => assert_eq!(*other, entry, "in {}", figure.id),
                None => known.push(entry),
            }
        }
    }
    // Three arbiters, seven classes, links, and three kinds of links.
    assert_eq!(known.len(), 14);
}

#[test]
fn details_are_of_loads_that_no_series_saturates() {
    let figures = figures(&Synthetic::large().collection());
    let cdf = find(&figures, "latency-cdf");
    let loads = ["load 0.1", "load 0.5", "load 0.8"];
    let arbiters = ["dtable", "wfq", "round-robin"];
    let expected: Vec<String> = arbiters
        .iter()
        .flat_map(|arbiter| loads.map(|load| format!("{arbiter}, {load}")))
        .collect();
    assert_eq!(titles(cdf), expected);
    assert_eq!(cdf.columns, Some(3));
    assert_eq!(lines(cdf, 0).len(), 7);
    assert_eq!(titles(find(&figures, "latency-over-time")), expected);
}

#[test]
fn stairs_rise_to_one_and_tails_fall_to_the_last_message() {
    let figures = figures(&Synthetic::large().collection());
    let (cdf, ccdf) = (
        find(&figures, "latency-cdf"),
        find(&figures, "latency-ccdf"),
    );
    for panel in 0..9 {
        for (up, down) in lines(cdf, panel).iter().zip(lines(ccdf, panel)) {
            assert!(up.points.len() < 500 && down.points.len() < 500, "thinned");
            assert!(
                up.points.is_sorted_by(|a, b| a.x <= b.x && a.y <= b.y),
                "{}",
                up.name
            );
            assert!(
                down.points.is_sorted_by(|a, b| a.x <= b.x && a.y >= b.y),
                "{}",
                down.name
            );
            assert_eq!(up.points.last().unwrap().y, 1.0);
            assert_eq!((up.points[0].y, down.points[0].y), (0.0, 1.0));
            assert!(
                down.points.last().unwrap().y > 0.0,
                "a logarithm has no zero"
            );
            // Where one is at hand in both, they add up to one.
            let shared = up.points.iter().filter_map(|a| {
                let b = down.points.iter().find(|b| b.x == a.x && a.y < 1.0)?;
                Some(a.y + b.y)
            });
            let shared: Vec<f64> = shared.collect();
            assert!(shared.len() > 5, "{}", shared.len());
            assert!(
                shared.iter().all(|sum| (sum - 1.0).abs() < 1e-12),
                "{shared:?}"
            );
        }
    }
    assert_eq!((&ccdf.x.scale, &ccdf.y.scale), (&Scale::Log, &Scale::Log));
    // 5 seeds x about 20,000 / (1 - exp(-1/32)) messages: the tail shows single messages.
    assert!(ccdf.y.low < 1e-5, "{:?}", ccdf.y);
}

#[test]
fn one_class_and_one_series_compare_loads() {
    let figures = figures(&Synthetic::small().collection());
    let latency = find(&figures, "latency");
    assert_eq!((latency.panels.len(), latency.series.as_str()), (1, ""));
    assert_eq!(names(lines(latency, 0)), ["bulk"]);
    // One seed: the interval is that of the run.
    let point = lines(latency, 0)[0].points[0];
    assert!(
        (point.high.unwrap() / point.y - 1.1).abs() < 1e-12,
        "{point:?}"
    );
    assert!(
        latency.caption.contains("batch means"),
        "{}",
        latency.caption
    );
    let cdf = find(&figures, "latency-cdf");
    assert_eq!(names(lines(cdf, 0)), ["load 0.2", "load 0.4", "load 0.8"]);
    assert!(!ids(&figures).contains(&"throughput-by-class"));
    assert!(
        matches!(&find(&figures, "injected-by-host").panels[0].chart, Chart::Boxes(boxes) if boxes.len() == 3)
    );
}

#[test]
fn a_single_run_has_figures_of_its_own() {
    let figures = figures(&Synthetic::single().collection());
    assert_eq!(
        ids(&figures),
        [
            "latency-by-class",
            "load-by-class",
            "latency-cdf",
            "latency-ccdf",
            "offered-over-time",
            "delivered-over-time",
            "latency-over-time",
            "injected-by-host",
            "link-use",
            "links-sorted",
            "busiest-links",
            "link-matrix",
        ]
    );
    let latency = find(&figures, "latency-by-class");
    assert_eq!(latency.x.categories(), ["control", "bulk"]);
    assert_eq!(
        names(lines(latency, 0)),
        ["mean", "median", "99 %", "99.9 %"]
    );
    assert_eq!(titles(find(&figures, "latency-cdf")), [""]);
}

#[test]
fn a_folder_without_tables_has_no_figures() {
    assert_eq!(figures(&Collection::default()), []);
    let mut collection = Synthetic::small().collection();
    collection.tables.retain(|name, _| name == "points");
    assert_eq!(
        ids(&figures(&collection)),
        ["latency", "latency-p99", "throughput", "jitter", "fairness"]
    );
}

/// Adds a column to every table, computed from the line.
fn with_axis(
    mut collection: Collection,
    name: &str,
    value: impl Fn(&Frame, usize) -> Datum,
) -> Collection {
    for frame in collection.tables.values_mut() {
        let mut values: Option<Values> = None;
        for line in 0..frame.len() {
            let datum = value(frame, line);
            let kind = match datum {
                Datum::Text(_) => netloom_results::Kind::Text,
                _ => netloom_results::Kind::Number,
            };
            values.get_or_insert_with(|| Values::new(kind)).push(datum);
        }
        let values = values.expect("lines");
        let column = FrameColumn {
            name: name.to_owned(),
            unit: String::new(),
            meaning: String::new(),
            values,
        };
        frame.columns.insert(1, column);
    }
    collection.axes.push(name.to_owned());
    collection
}

fn load(frame: &Frame, line: usize) -> f64 {
    frame.column("traffic.load").unwrap().number(line).unwrap()
}

#[test]
fn axes_that_step_together_are_one() {
    let collection = with_axis(
        Synthetic::large().collection(),
        "traffic.burst",
        |frame, line| Datum::Number(10.0 * load(frame, line)),
    );
    let figures = figures(&collection);
    let latency = find(&figures, "latency");
    assert_eq!(
        (latency.x.label.as_str(), latency.series.as_str()),
        ("Offered load", "qos.arbiter.kind")
    );
    assert_eq!(lines(latency, 0)[0].points.len(), 13);
}

#[test]
fn text_axes_alone_stand_side_by_side() {
    let mut study = Synthetic::large();
    study.loads.clear();
    let figures = figures(&study.collection());
    let latency = find(&figures, "latency");
    assert_eq!(latency.title, "Latency by arbiter");
    assert_eq!(latency.x.categories(), study.arbiters);
    assert_eq!(titles(latency), study.classes);
    assert_eq!(
        names(lines(latency, 0)),
        ["mean", "median", "99 %", "99.9 %"]
    );
    assert!(
        lines(latency, 0)
            .iter()
            .all(|line| !line.joined && line.points.len() == 3)
    );
    assert!(find(&figures, "throughput").panels[0].references.is_empty());
    let cdf = find(&figures, "latency-cdf");
    assert_eq!(titles(cdf), study.classes);
    assert_eq!(names(lines(cdf, 0)), study.arbiters);
}

/// The results of `netloom run x.toml` and `netloom run x.toml --set traffic.load=0.99 -o
/// loaded.out`.
fn two_runs() -> Vec<Collection> {
    let run = |folder: &str, load: f64| {
        let study = Synthetic {
            classes: vec!["bulk"],
            loads: vec![load],
            arbiters: vec![],
            seeds: 1,
        };
        Collection {
            folder: format!("{folder}.out"),
            axes: vec![],
            experiment: format!("[[traffic]]\nname = \"bulk\"\nload = {load}\n"),
            ..study.collection()
        }
    };
    vec![run("calm", 0.5), run("loaded", 0.99)]
}

#[test]
fn two_runs_are_drawn_side_by_side_and_the_saturated_one_too() {
    let both = ["calm (load 0.5)", "loaded (load 0.99)"];
    let figures = figures(&combine(&two_runs()));
    let titles = figures.iter().map(|figure| (&figure.id, &figure.title));
    for (id, title) in titles {
        assert!(!title.contains("against"), "{id}: {title}");
    }
    let latency = find(&figures, "latency");
    assert_eq!(latency.title, "Latency of each run");
    assert_eq!(latency.x.categories(), both);
    for line in lines(latency, 0) {
        let marks: Vec<Mark> = line.points.iter().map(|point| point.mark).collect();
        assert_eq!(marks, [Mark::Ok, Mark::Saturated], "{}", line.name);
        for point in &line.points {
            assert!(
                point.y <= latency.y.high,
                "{} is seen: {point:?}",
                line.name
            );
        }
    }
    assert!(latency.caption.contains("Hollow"), "{}", latency.caption);
    for id in ["latency-cdf", "latency-ccdf", "delivered-over-time"] {
        assert_eq!(names(lines(find(&figures, id), 0)), both, "{id}");
    }
}

#[test]
fn a_quantity_with_a_unit_is_an_axis() {
    let mut study = Synthetic::large();
    (study.loads, study.seeds) = (vec![0.5], 1);
    // Three arbiters, each with four buffers.
    let mut whole: Option<Collection> = None;
    for buffer in [16, 32, 64, 128] {
        let text = move |_: &Frame, _: usize| Datum::Text(format!("{buffer} KiB"));
        let one = with_axis(study.collection(), "switch.input-buffer", text);
        let one = renumbered(one, buffer);
        match &mut whole {
            None => whole = Some(one),
            Some(whole) => {
                for (name, frame) in &mut whole.tables {
                    frame.append(&one.tables[name]);
                }
            }
        }
    }
    let figures = figures(&whole.unwrap());
    let latency = find(&figures, "latency");
    assert_eq!(latency.title, "Mean latency against input buffer");
    assert_eq!(latency.x.title(), "switch.input-buffer (KiB)");
    assert_eq!(names(lines(latency, 0)), study.arbiters);
    let xs: Vec<f64> = lines(latency, 0)[0].points.iter().map(|p| p.x).collect();
    assert_eq!(xs, [16.0, 32.0, 64.0, 128.0]);
    let throughput = find(&figures, "throughput");
    assert_eq!(throughput.title, "Delivered load against input buffer");
    assert!(throughput.panels[0].references.is_empty());
}

#[test]
fn a_figure_of_ones_own_choice() {
    let study = Synthetic::large();
    let collection = study.collection();
    let choice = |x: &str, y: &str, by: &str, class: &str| {
        let some = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let choice = Choice {
            x: some(x),
            y: y.to_owned(),
            by: some(by),
            class: some(class),
        };
        chosen(&collection, &choice)
    };
    // The usual axis, arbiters as series, one class.
    let figure = choice("", "p99", "", "bulk 1").unwrap();
    assert_eq!(figure.id, "latency-p99-ns-by-traffic-load");
    assert_eq!(figure.title, "99 % latency against load");
    assert_eq!(names(lines(&figure, 0)), study.arbiters);
    assert_eq!((figure.panels.len(), figure.y.unit.as_str()), (1, "µs"));
    // Classes as series, arbiters as panels.
    let figure = choice("traffic.load", "latency_mean_ns", "class", "").unwrap();
    assert_eq!(titles(&figure), study.arbiters);
    assert_eq!(names(lines(&figure, 0)), study.classes);
    // A measured value against another measured value.
    let figure = choice("delivered_load", "mean", "qos.arbiter.kind", "").unwrap();
    assert!(
        figure.x.title().starts_with("Delivered load"),
        "{}",
        figure.x.title()
    );
    assert_eq!((figure.panels.len(), lines(&figure, 0).len()), (1, 3));
    // Classes along the load of all traffic together, or along their own.
    let figure = choice("offered_load", "mean", "class", "").unwrap();
    assert_eq!(titles(&figure), study.arbiters);
    assert_eq!(names(lines(&figure, 0)), study.classes);
    let reach = |figure: &Figure| {
        let points = lines(figure, 0)[0].points.iter();
        points.map(|point| point.x).fold(0.0, f64::max)
    };
    let own = choice("own.offered_load", "mean", "class", "").unwrap();
    let n = study.classes.len() as f64;
    assert!((reach(&figure) - n * reach(&own)).abs() < 1e-9);
    // Names side by side.
    let figure = choice("qos.arbiter.kind", "delivered", "traffic.load", "").unwrap();
    assert_eq!(figure.x.categories(), study.arbiters);
    assert_eq!(lines(&figure, 0).len(), 13);
    let error = choice("", "latncy", "", "").unwrap_err();
    assert!(
        error.known.contains(&"latency_p99_ns".to_owned()),
        "{error:?}"
    );
    assert_eq!(choice("speed", "p99", "", "").unwrap_err().name, "speed");
    assert_eq!(choice("", "p99", "speed", "").unwrap_err().what, "axis");
    let error = choice("", "p99", "", "unknown").unwrap_err();
    assert_eq!((error.what, error.known[1].as_str()), ("class", "control"));
}

/// Returns the folder with its point numbers increased.
fn renumbered(mut collection: Collection, by: u64) -> Collection {
    for frame in collection.tables.values_mut() {
        if let Values::Whole(values) = &mut frame.columns[0].values {
            *values = values.iter().map(|n| Some(n? + 100 * by)).collect();
        }
    }
    collection
}

#[test]
fn many_series_become_panels() {
    let mut study = Synthetic::large();
    study.classes.truncate(1);
    // Half of the loads with each buffer: six combinations, of which one axis distinguishes panels
    // when they are nine.
    let buffer = |frame: &Frame, line: usize| {
        let point = frame.column("point").unwrap().number(line).unwrap() as u64;
        Datum::Text(format!("{} KiB", 16 << (point % 3)))
    };
    let figures = figures(&with_axis(
        study.collection(),
        "switch.input-buffer",
        buffer,
    ));
    let latency = find(&figures, "latency");
    assert_eq!(latency.panels.len(), 3);
    assert_eq!(lines(latency, 0).len(), 3);
}

#[test]
fn a_layout_turns_the_matrix_into_a_map() {
    let mut collection = Synthetic::single().collection();
    let node = |name: &str, kind: &str, x: f64| json!({ "kind": kind, "name": name, "count": 1, "x_px": x, "y_px": 0.0, "width_px": 2.0, "height_px": 1.0 });
    let layout = json!({
        "is_overview": false, "width_px": 10.0, "height_px": 5.0,
        "nodes": [node("s0", "switch", 1.0), node("s4", "switch", 2.0), node("n0", "nic", 3.0)],
        "edges": [
            { "from": "s4", "to": "s0", "lines_px": [[[1.0, 0.0], [2.0, 0.0]]] },
            { "from": "n0", "to": "s0", "lines_px": [[[1.0, 0.0], [3.0, 0.0]]] },
        ],
    });
    collection.layout = serde_json::from_value(layout).ok();
    let figures = figures(&collection);
    assert!(!ids(&figures).contains(&"link-matrix"));
    let Chart::Map(map) = &find(&figures, "link-map").panels[0].chart else {
        panic!("a map");
    };
    // Load 0.5; up 0.7 of it, down 1 - 0.35: the busier direction counts.
    let values: Vec<f64> = map.links.iter().map(|link| link.value).collect();
    assert_eq!(values, [0.5 * 0.7, 0.5]);
    assert_eq!(map.places.iter().filter(|place| place.is_switch).count(), 2);
}

#[test]
fn links_are_sorted_by_their_use() {
    let figures = figures(&Synthetic::single().collection());
    let sorted = find(&figures, "links-sorted");
    for line in lines(sorted, 0) {
        let falls = line.points.windows(2).all(|pair| pair[0].y >= pair[1].y);
        assert!(falls && line.points.last().unwrap().x == 100.0, "{line:?}");
    }
}

/// There is a panel for all connections, the best and the worst of every level.
#[test]
fn connections_have_figures_of_their_punctuality() {
    let mut collection = Synthetic::single().collection();
    let mut frame = netloom_results::Frame::of::<netloom_results::PunctualityLine>();
    for (scope, share) in [("all", 0.9), ("best", 1.0), ("worst", 0.5)] {
        for (sl, class) in [(2u8, "high"), (3, "very-high")] {
            let mut line = netloom_results::PunctualityLine {
                seed: 1,
                class: class.to_owned(),
                sl,
                scope: scope.to_owned(),
                ..Default::default()
            };
            line.in_time_mut()
                .into_iter()
                .for_each(|cell| *cell = Some(share));
            line.jitter_mut()
                .into_iter()
                .for_each(|cell| *cell = Some(1.0 / 17.0));
            frame.push(netloom_results::Table::data(&line));
        }
    }
    collection.tables.insert("punctuality".to_owned(), frame);
    let figures = figures(&collection);
    let figure = find(&figures, "punctuality");
    let panels = ["all connections", "best connection", "worst connection"];
    assert_eq!(titles(figure), panels);
    assert_eq!(names(lines(figure, 2)), ["high", "very-high"]);
    assert_eq!(lines(figure, 2)[0].points[6].y, 0.5);
    assert_eq!(
        lines(find(&figures, "connection-jitter"), 0)[0]
            .points
            .len(),
        16
    );
}

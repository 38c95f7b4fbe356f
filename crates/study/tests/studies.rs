//! Studies as a file gives them: points, units, run ids, and messages about mistakes.

use std::path::{Path, PathBuf};

use netloom_experiment::render;
use netloom_experiment::runner::run_id;
use netloom_experiment::spec::{self, Request};
use netloom_study::{Level, OpenedStudy, Point, Series, Study, Unit};

/// Eight hosts, two classes.
const BASE: &str = r#"netloom = 1
name = "small"
[topology]
kind = "fat-tree"
arity = 2
levels = 3
[qos]
vls = 2
[[traffic]]
name = "bulk"
load = 0.4
[[traffic]]
name = "control"
sl = 1
load = 0.1
[measure]
length = "20 us"
repeat = 3
"#;

fn study(text: &str) -> Study {
    let opened = Study::open(&Request::new("small.toml", text));
    let told = render(&opened.document, &opened.notes, false);
    assert!(opened.has_study);
    opened.study.unwrap_or_else(|| panic!("{told}"))
}

fn with(section: &str) -> String {
    format!("{BASE}{section}")
}

fn mistakes(section: &str) -> String {
    let OpenedStudy {
        document,
        notes,
        study,
        has_study,
    } = Study::open(&Request::new("small.toml", &with(section)));
    assert!(study.is_none() && has_study);
    render(&document, &notes, false)
}

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("netloom-study-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("common")).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const WHOLE: &str = r#"
[study.axes]
"traffic.load" = { from = 0.1, to = 0.3, step = 0.1 }
"qos.arbiter" = ["round-robin", { kind = "wfq", weights = [[0, 3], [1, 1]] }]
[[study.zip]]
"link.rate" = ["100 Gbps", "200 Gbps"]
"switch.input-buffer" = ["16 KiB", "32 KiB"]
[[study.variant]]
name = "as it is"
set = {}
[[study.variant]]
name = "long \"cables\""
set = { "link.cable" = "50 m" }
"#;

#[test]
fn axes_are_in_order_with_exact_decimals() {
    let study = study(&with(WHOLE));
    let columns: Vec<&str> = study.columns().collect();
    assert_eq!(
        columns,
        [
            "variant",
            "traffic.load",
            "qos.arbiter",
            "link.rate",
            "switch.input-buffer"
        ]
    );
    let loads: Vec<&Level> = study.axes[1].values.iter().map(|v| &v.levels[0]).collect();
    assert_eq!(
        loads,
        [
            &Level::Number(0.1),
            &Level::Number(0.2),
            &Level::Number(0.3)
        ]
    );
    assert_eq!(study.axes[2].values[1].label, "wfq");
    assert_eq!(study.axes[3].values[1].label, "200 Gbps, 32 KiB");
    assert_eq!(study.n_points(), 2 * 3 * 2 * 2);
    let points: Vec<Point> = study.points().collect();
    assert!(points.is_sorted() && points.len() == 24);
    assert_eq!(
        study.label(&points[23]),
        "variant = long \"cables\", traffic.load = 0.3, qos.arbiter = wfq, link.rate = 200 Gbps, \
         switch.input-buffer = 32 KiB"
    );
    let units = study.units();
    assert_eq!(units.len(), 24 * 3);
    assert_eq!(units[0], Unit::Run(points[0].clone(), 1));
    assert_eq!(units[71], Unit::Run(points[23].clone(), 3));
    assert_eq!(study.most_runs(), 72);
    assert!(!study.is_adaptive());
}

#[test]
fn a_run_is_the_run_of_the_same_values_on_the_command_line() {
    let study = study(&with(WHOLE));
    let point = study.points().last().unwrap();
    let loaded = study.load(&point, 7, None, 1);
    let experiment = loaded
        .experiment
        .unwrap_or_else(|| panic!("{}", render(&loaded.document, &loaded.notes, false)));
    let sets = [
        "link.cable=50 m",
        "traffic.load=0.3",
        "qos.arbiter={ kind = \"wfq\", weights = [[0, 3], [1, 1]] }",
        "link.rate=200 Gbps",
        "switch.input-buffer=32 KiB",
        "measure.repeat=1",
    ]
    .map(str::to_owned);
    let text = with(WHOLE);
    let by_hand = spec::load(&Request {
        sets: &sets,
        seed: Some(7),
        ..Request::new("small.toml", &text)
    });
    let by_hand = by_hand.experiment.unwrap();
    assert_eq!(run_id(&experiment), run_id(&by_hand));
    assert_eq!(experiment.measure.repeat, 1);
    // Other seeds follow without loading.
    let other = study.load(&point, 9, None, 1).experiment.unwrap();
    assert_ne!(run_id(&experiment), run_id(&other));
    assert_eq!(run_id(&experiment.alone(9)), run_id(&other));
    assert_eq!(
        experiment.alone(9).resolved.to_toml(false),
        other.resolved.to_toml(false)
    );
}

#[test]
fn every_run_has_an_id_of_its_own() {
    let study = study(&with(WHOLE));
    let mut ids: Vec<String> = vec![];
    for unit in study.units() {
        let Unit::Run(point, seed) = unit else {
            panic!()
        };
        let loaded = study.load(&point, seed, None, 1);
        ids.push(run_id(&loaded.experiment.unwrap()).to_string());
    }
    let n = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), n);
}

#[test]
fn the_printed_text_is_the_same_study() {
    let sets = ["traffic.1.sl=0".to_owned(), "about=some\ttext".to_owned()];
    let text = with(WHOLE).replace("name = \"small\"\n", "");
    let first = Study::open(&Request {
        sets: &sets,
        seed: Some(5),
        ..Request::new("folder/own-name.toml", &text)
    });
    let first = first.study.unwrap();
    assert_eq!(first.name, "own-name");
    let printed = first.to_toml();
    let again = Study::open(&Request::new("study.toml", &printed));
    let again = again.study.unwrap();
    assert_eq!(again.to_toml(), printed);
    assert_eq!(again.id(), first.id());
    assert_eq!(
        (again.name.as_str(), again.seeds),
        ("own-name", first.seeds)
    );
    assert_eq!(again.units(), first.units());
    for point in first.points() {
        let id = |study: &Study| run_id(&study.load(&point, 6, None, 1).experiment.unwrap());
        assert_eq!(id(&first), id(&again));
        assert_eq!(first.label(&point), again.label(&point));
    }
    let other = study(&with(WHOLE).replace("0.3,", "0.2,"));
    assert_ne!(other.id(), first.id());
}

#[test]
fn a_series_is_refined_in_exact_decimals() {
    let text = with(
        "[study]\nstop-after-saturation = 1\ninterval = 0.02\nmost-seeds = 10\n[study.axes]\n\
         \"qos.arbiter.kind\" = [\"round-robin\", \"oldest-first\"]\n\
         \"traffic.load\" = { from = 0.1, to = 0.9, step = 0.2, refine = 0.05 }\n",
    );
    let study = study(&text);
    let units = study.units();
    assert_eq!(units.len(), 2);
    let Unit::Series(series) = &units[1] else {
        panic!()
    };
    let expected = Series {
        first: Point(vec![1, 0]),
        axis: 1,
    };
    assert_eq!(*series, expected);
    let rising = study.rising().unwrap();
    assert_eq!((rising.n_values, rising.fineness), (5, 4));
    // 0.1 + 0.05 · 7
    let point = series.point(7);
    assert_eq!(study.values(&point)[1].levels, [Level::Number(0.45)]);
    assert_eq!(
        study.label(&point),
        "qos.arbiter.kind = oldest-first, traffic.load = 0.45"
    );
    let sets = [
        "qos.arbiter.kind=oldest-first",
        "traffic.load=0.45",
        "measure.repeat=1",
    ];
    let sets = sets.map(str::to_owned);
    let by_hand = spec::load(&Request {
        sets: &sets,
        ..Request::new("small.toml", &text)
    });
    let own = study.load(&point, 1, None, 1).experiment.unwrap();
    assert_eq!(run_id(&own), run_id(&by_hand.experiment.unwrap()));
    // Five values and two halvings, ten seeds each.
    assert_eq!(study.most_runs(), 2 * 7 * 10);
    assert!(study.is_adaptive());
}

#[test]
fn whole_numbers_stay_whole() {
    let study = study(&with(
        "[study.axes]\n\"topology.arity\" = { from = 4, to = 2, step = -1 }\n",
    ));
    let n_hosts = study.points().map(|point| {
        let loaded = study.load(&point, 1, None, 1);
        loaded.experiment.unwrap().fabric.topology.n_nics()
    });
    assert_eq!(n_hosts.collect::<Vec<_>>(), [64, 27, 8]);
}

#[test]
fn a_plain_experiment_is_no_study_and_a_study_loads_as_its_base() {
    let opened = Study::open(&Request::new("small.toml", BASE));
    assert!(!opened.has_study && opened.study.is_none() && opened.notes.is_empty());
    let text = with(WHOLE);
    let base = spec::load(&Request::new("small.toml", BASE))
        .experiment
        .unwrap();
    let with_study = spec::load(&Request::new("small.toml", &text))
        .experiment
        .unwrap();
    assert_eq!(run_id(&base), run_id(&with_study));
    assert!(!with_study.resolved.to_toml(true).contains("study"));
    // Without axes it is one point with seeds.
    let one = study(&with("[study]\n"));
    assert_eq!((one.n_points(), one.units().len()), (1, 3));
    assert_eq!(one.label(&one.points().next().unwrap()), "");
}

fn open_in(folder: &Path, name: &str) -> spec::OpenedFile {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    spec::open(&Request {
        directory: folder,
        ..Request::new(&folder.join(name).display().to_string(), &text)
    })
}

#[test]
fn a_file_over_another_runs_like_the_whole() {
    let folder = Folder::new("extends");
    folder.write("common/base.toml", BASE);
    folder.write(
        "middle.toml",
        "extends = \"common/base.toml\"\n[measure]\nlength = \"10 us\"\n",
    );
    folder.write(
        "top.toml",
        "extends = \"middle.toml\"\n[link]\nrate = \"200 Gbps\"\n",
    );
    let opened = open_in(&folder.0, "top.toml");
    assert!(opened.notes.is_empty());
    assert!(opened.document.root.get("extends").is_none());
    assert_eq!(opened.document.sources.len(), 3);
    let loaded = spec::load_document(opened.document, opened.notes, &Request::new("top", ""));
    let whole = BASE.replace("20 us", "10 us") + "[link]\nrate = \"200 Gbps\"\n";
    let whole = spec::load(&Request::new("whole.toml", &whole));
    assert_eq!(
        run_id(&loaded.experiment.unwrap()),
        run_id(&whole.experiment.unwrap())
    );
}

#[test]
fn files_of_a_parent_are_found_in_its_folder() {
    let folder = Folder::new("files");
    folder.write(
        "common/base.toml",
        "[topology]\nkind = \"graph\"\nfile = \"fabric.graph\"\n",
    );
    folder.write("top.toml", "extends = \"common/base.toml\"\n");
    let root = open_in(&folder.0, "top.toml").document.root;
    let file = root.get("topology").unwrap().get("file").unwrap();
    assert_eq!(file.as_text(), Some("common/fabric.graph"));
}

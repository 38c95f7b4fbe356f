//! Studies read from files: points, units and run ids. `ui` has the errors in files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use netloom_catalog::MemoryFiles;
use netloom_experiment::render;
use netloom_experiment::runner::{Control, run_id};
use netloom_experiment::spec::{self, Request};
use netloom_results::Level;
use netloom_study::running::StudyFolder;
use netloom_study::{Point, Series, Study, Unit};

/// Eight hosts, two classes.
const BASE: &str = include_str!("ui/base/small.toml");

fn study(text: &str) -> Study {
    let opened = Study::open(&Request::new("small.toml", text));
    let messages = render(&opened.document, &opened.notes, false);
    assert!(opened.has_study);
    opened.study.unwrap_or_else(|| panic!("{messages}"))
}

fn with(section: &str) -> String {
    format!("{BASE}{section}")
}

/// Returns the notes about a case and, if it is valid, its points.
fn described(case: &Path) -> String {
    let text = std::fs::read_to_string(case).unwrap();
    assert!(text.starts_with("# "), "{case:?} states what it shows");
    let opened = Study::open(&Request {
        files: Arc::new(MemoryFiles::from_iter([("base/small.toml", BASE)])),
        ..Request::new(&case.file_name().unwrap().to_string_lossy(), &text)
    });
    assert!(opened.has_study);
    assert_eq!(opened.study.is_none(), opened.notes.has_errors());
    let mut described = render(&opened.document, &opened.notes, false);
    if let Some(study) = opened.study {
        let points: Vec<String> = study.points().map(|point| study.label(&point)).collect();
        described.push_str(&points.join("\n"));
    }
    described
}

/// `ui/CASE.toml` is a study, and `CASE.snap` has its notes. `INSTA_UPDATE=always` writes them.
#[test]
fn every_case_has_the_notes_of_its_snapshot() {
    insta::glob!("ui/*.toml", |case| {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(case.parent().unwrap());
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.remove_snapshot_suffix();
        let name = case.file_stem().unwrap().to_string_lossy();
        settings.bind(|| insta::assert_snapshot!(name.as_ref(), described(case)));
    });
}

/// A folder that is removed at the end of the test.
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
name = "unchanged"
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
    let loaded = study.load(&point, 7);
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
    // Other seeds are derived without loading.
    let other = study.load(&point, 9).experiment.unwrap();
    assert_ne!(run_id(&experiment), run_id(&other));
    assert_eq!(run_id(&experiment.alone(9).unwrap()), run_id(&other));
    assert_eq!(
        experiment.alone(9).unwrap().resolved.to_toml(false),
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
        let loaded = study.load(&point, seed);
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
        let id = |study: &Study| run_id(&study.load(&point, 6).experiment.unwrap());
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
    let own = study.load(&point, 1).experiment.unwrap();
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
        let loaded = study.load(&point, 1);
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
        files: netloom_catalog::Disk::folder(folder),
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
    let loaded = spec::load_document(
        opened.document,
        opened.notes,
        &Request::new("top", ""),
        &mut || Control::Continue,
    );
    let whole = BASE
        .replace("\"small\"", "\"top\"")
        .replace("20 us", "10 us")
        + "[link]\nrate = \"200 Gbps\"\n";
    let whole = spec::load(&Request::new("whole.toml", &whole));
    assert_eq!(
        run_id(&loaded.unwrap().experiment.unwrap()),
        run_id(&whole.experiment.unwrap())
    );
}

#[test]
fn a_file_over_another_has_a_name_of_its_own() {
    let folder = Folder::new("own-name");
    folder.write("base.toml", BASE);
    folder.write("top.toml", "extends = \"base.toml\"\n");
    folder.write("named.toml", "extends = \"top.toml\"\nname = \"mine\"\n");
    let name = |file: &str| {
        let opened = open_in(&folder.0, file);
        assert!(opened.notes.is_empty());
        let request = Request::new(file, "");
        let control = &mut || Control::Continue;
        let loaded = spec::load_document(opened.document, opened.notes, &request, control);
        loaded.unwrap().experiment.unwrap().name.clone()
    };
    assert_eq!(
        ["base.toml", "top.toml", "named.toml"].map(name),
        ["small", "top", "mine"]
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

#[test]
fn what_the_command_line_sets_is_not_lost_silently() {
    let text = with(WHOLE);
    let codes = |set: &str| {
        let opened = Study::open(&Request {
            sets: &[set.to_owned()],
            ..Request::new("small.toml", &text)
        });
        let codes: Vec<&str> = opened.notes.iter().map(|note| note.code).collect();
        assert_eq!(codes.is_empty(), opened.study.is_some());
        (codes, opened.study)
    };
    assert_eq!(codes("traffic.load=0.5").0, ["E1009"]);
    assert_eq!(codes("traffic.0.load=0.5").0, ["E1009"]);
    assert_eq!(codes("link.cable=5 m").0, ["E1009"]);
    assert!(codes("measure.length=10 us").1.is_some());
    let fewer = codes("study.axes.\"traffic.load\"=[0.5]").1.unwrap();
    assert_eq!(fewer.n_points(), 8);
}

#[test]
fn check_looks_at_every_value_and_tells_a_mistake_once() {
    let study = study(&with(
        "[study.axes]\n\"traffic.load\" = [0.1, 0.2, 0.3, 0.4]\n\
         \"qos.arbiter\" = [\"round-robin\", \"wqf\"]\n\"link.delay\" = [\"10 ns\", \"20 ns\"]\n",
    ));
    let mut heard = vec![];
    let checked = study.check(std::time::Duration::ZERO, &mut |done, of| {
        if heard.last() != Some(&(done, of)) {
            heard.push((done, of));
        }
        Control::Continue
    });
    assert!(!checked.interrupted);
    // The longest axis has four values.
    assert_eq!((checked.n_checked, checked.n_points), (4, 16));
    assert!(checked.has_every_value);
    assert_eq!(heard, [(0, 16), (1, 16), (2, 16), (3, 16), (4, 16)]);
    let notes: Vec<_> = checked.notes.iter().collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(
        notes[0].message,
        "unknown arbiter \"wqf\" (at 2 of 4 points: traffic.load = 0.2, qos.arbiter = wqf, \
         link.delay = 20 ns)"
    );
    // The place is that in the axis.
    let messages = render(&checked.document, &checked.notes, false);
    assert!(messages.contains("small.toml:21:33"), "{messages}");
    let all = study.check(std::time::Duration::from_secs(600), &mut |_, _| {
        Control::Continue
    });
    assert_eq!(all.n_checked, 16);
    assert!(
        all.notes
            .iter()
            .next()
            .unwrap()
            .message
            .contains("at 8 of 16 points")
    );
    let stopped = study.check(std::time::Duration::ZERO, &mut |done, _| match done {
        2 => Control::Stop,
        _ => Control::Continue,
    });
    assert!(stopped.interrupted && !stopped.has_every_value);
    assert_eq!(stopped.n_checked, 2);
}

#[test]
fn the_cost_is_that_of_all_runs() {
    let study = study(&with("[study.axes]\n\"traffic.load\" = [0.1, 0.2]\n"));
    let checked = study.check(std::time::Duration::from_secs(600), &mut |_, _| {
        Control::Continue
    });
    assert!(checked.notes.is_empty());
    let cost = checked.cost.unwrap();
    let single = |point: &Point| study.load(point, 1).cost.unwrap();
    let sum: f64 = study
        .points()
        .map(|point| single(&point).packet_hops * 3.0)
        .sum();
    assert_eq!(cost.runs, 6);
    assert!((cost.packet_hops - sum).abs() < 1e-6 * sum);
    assert!(cost.largest_memory_bytes > 1000 && cost.cpu_seconds > 0.0);
    let words: Vec<&str> = checked
        .facts
        .iter()
        .map(|(word, _)| word.as_str())
        .collect();
    assert!(
        words.contains(&"fabric") && !words.contains(&"traffic"),
        "{words:?}"
    );
}

/// Two axes of variants, one of them with a restricted value, and lists under one name.
const NAMED: &str = r#"
[[study.variant]]
name = "short"
set = {}
[[study.variant]]
name = "long"
set = { "link.cable" = "50 m" }
only = { load = [0.3] }
[[study.variant]]
axis = "arbiter"
name = "turns"
set = { "qos.arbiter" = "round-robin" }
[[study.variant]]
axis = "arbiter"
name = "age"
set = { "qos.arbiter" = "oldest-first" }
[[study.zip]]
name = "load"
values = [0.2, 0.3]
"traffic.0.load, traffic.1.load" = [0.1, 0.15]
"#;

#[test]
fn axes_have_names_and_not_everything_is_combined() {
    let study = study(&with(NAMED));
    let columns: Vec<&str> = study.columns().collect();
    assert_eq!(columns, ["variant", "arbiter", "load"]);
    let labels: Vec<String> = study.points().map(|point| study.label(&point)).collect();
    assert_eq!(
        labels,
        [
            "variant = short, arbiter = turns, load = 0.2",
            "variant = short, arbiter = turns, load = 0.3",
            "variant = short, arbiter = age, load = 0.2",
            "variant = short, arbiter = age, load = 0.3",
            "variant = long, arbiter = turns, load = 0.3",
            "variant = long, arbiter = age, load = 0.3",
        ]
    );
    assert_eq!((study.n_points(), study.units().len()), (6, 18));
    assert_eq!(study.most_runs(), 18);
    let last = study.points().last().unwrap();
    let experiment = study.load(&last, 1).experiment.unwrap();
    let loads: Vec<f64> = experiment.classes.iter().filter_map(|c| c.load).collect();
    assert_eq!(loads, [0.15, 0.15]);
    // Its resolved text is the same study.
    let again = self::study(&study.to_toml());
    assert_eq!(again.points().count(), 6);
}

#[test]
fn more_seeds_go_on_in_the_same_folder() {
    let place = Folder::new("more-seeds");
    let path = place.0.join("out");
    let of = |seeds: u32| study(&with(NAMED).replace("repeat = 3", &format!("repeat = {seeds}")));
    let begin = |study: &Study| StudyFolder::begin(&path, study, false);
    begin(&of(2)).unwrap();
    std::fs::write(path.join("runs/kept"), "").unwrap();
    let folder = begin(&of(5)).unwrap();
    assert!(path.join("runs/kept").exists());
    let document = folder.document().unwrap();
    assert_eq!((document.units, document.study_id), (30, of(5).id()));
    assert!(folder.study_text().unwrap().0.contains("repeat = 5"));
    // It is recognised with any number of seeds.
    let own_of = |study: &Study| {
        let folder = StudyFolder::open(&path).unwrap();
        folder.own_of(study).map(|own| own.seeds.repeat)
    };
    assert_eq!([2, 5, 9].map(|n| own_of(&of(n))), [Some(5); 3]);
    // While another process uses the folder, the number of seeds does not change.
    assert!(begin(&of(6)).is_err());
    drop(folder);
    // Another study is another study.
    let other = study(&with(NAMED).replace("50 m", "60 m"));
    assert!(begin(&other).is_err());
    assert_eq!(own_of(&other), None);
    // Nor is one whose text was changed.
    std::fs::write(path.join("study.toml"), of(7).to_toml()).unwrap();
    assert_eq!([5, 2].map(|n| own_of(&of(n))), [Some(5), None]);
}

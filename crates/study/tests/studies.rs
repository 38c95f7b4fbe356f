//! Studies read from files: points, units, run ids and error messages.

use std::path::{Path, PathBuf};

use netloom_experiment::render;
use netloom_experiment::runner::{Control, run_id};
use netloom_experiment::spec::{self, Request};
use netloom_results::Level;
use netloom_study::running::StudyFolder;
use netloom_study::{OpenedStudy, Point, Series, Study, Unit};

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

/// Returns code, message and help of every error, in order of place.
fn told(section: &str) -> Vec<String> {
    let opened = Study::open(&Request::new("small.toml", &with(section)));
    assert!(opened.has_study && opened.study.is_none(), "it is taken");
    let notes = opened.notes.sorted().into_iter();
    let line = |note: netloom_catalog::Note| {
        let help = note.help.unwrap_or_default();
        format!("{} {} | {help}", note.code, note.message)
    };
    notes.map(line).collect()
}

#[track_caller]
fn tells(section: &str, expected: &[&str]) {
    assert_eq!(told(section), expected);
}

#[test]
fn paths_that_are_none() {
    tells(
        "[study.axes]\n\"trafic.load\" = [1]\n\"measure.seed\" = [1]\n\"measure.repeat\" = \
         [1]\n\"study.interval\" = [1]\nload = [1]\n",
        &[
            "E1001 no key has the path `trafic.load` | did you mean \"traffic.load\"?",
            "E1008 `measure.seed` cannot be an axis | every point has consecutive seeds from \
             measure.seed",
            "E1008 `measure.repeat` cannot be an axis | every point has measure.repeat seeds",
            "E1008 `study.interval` cannot be an axis | a study cannot contain another study",
            "E1001 no key has the path `load` | use a path as for --set, such as \"traffic.load\" \
             or \"switch.input-buffer\"; `netloom schema` lists all keys",
        ],
    );
    tells(
        "[study.axes]\ntraffic.load = [1]\n",
        &["E1002 `traffic` is not an axis | quote the path: \"traffic.load\" = …"],
    );
}

#[test]
fn values_that_are_none() {
    tells(
        "[study.axes]\n\"traffic.load\" = []\n\"link.rate\" = \"1 Gbps\"\n\
         \"traffic.0.load\" = { from = 0.1, to = 0.5, step = -0.1 }\n\
         \"traffic.1.load\" = { from = 0.5, to = 0.1, step = 0.1 }\n\
         \"topology.arity\" = { from = 1, to = 5, step = 0 }\n\
         \"topology.levels\" = { from = 1, too = 5, step = 1 }\n\
         \"measure.epochs\" = { from = 1, to = 1000000, step = 1 }\n\
         \"measure.interval\" = { from = 1e-20, to = 1, step = 0.5 }\n",
        &[
            "E1002 the axis `traffic.load` has no values | add a value, or remove the axis",
            "E1002 the axis `link.rate` has no list of values | use \"link.rate\" = [\"1 Gbps\"] \
             or { from = …, to = …, step = … }; set a value common to all points in its own \
             section",
            "E1002 a step of -0.1 does not lead from 0.1 to 0.5 | use a positive step, or swap \
             `from` and `to`",
            "E1002 a step of 0.1 does not lead from 0.5 to 0.1 | use a negative step, or swap \
             `from` and `to`",
            "E1002 a step of 0 does not lead from 1 to 5 | set the difference between consecutive \
             values",
            "E0106 unknown key `too` | did you mean `to`?",
            "E1002 the axis has 1000000 values | use a larger step: an axis has at most 100000 \
             values",
            "E1002 `from` of 0.00000000000000000001 is too large or has too many digits | use at \
             most 15 digits before and after the decimal point",
        ],
    );
    tells(
        "[study.axes]\n\"measure.epochs\" = { from = 1, to = 2000, step = 1 }\n\
         \"measure.interval\" = { from = 1, to = 2000, step = 1 }\n",
        &[
            "E1002 the study has more than 1000000 points | use fewer values, or combine axes with \
             [[study.zip]]",
        ],
    );
}

#[test]
fn zips_and_variants_that_do_not_fit() {
    tells(
        "[[study.zip]]\n\"link.rate\" = [\"1 Gbps\", \"2 Gbps\"]\n\"link.delay\" = [\"1 ns\"]\n\
         [[study.zip]]\n\"link.mtu\" = { from = 1, to = 2, step = 1 }\n[[study.zip]]\n\
         [[study.variant]]\nname = \"a\"\nset = {}\n[[study.variant]]\nname = \"a\"\n\
         set = { \"link.flit\" = \"64 B\" }\n\
         [[study.variant]]\nname = \"b\"\n[[study.variant]]\nset = { \"lnk.flit\" = 1 }\n\
         set-too = 1\n",
        &[
            "E1003 `link.delay` and `link.rate` have lists of different lengths | use lists of \
             equal length: these axes step together",
            "E1002 expected a list of values, found a table | use a list: axes that step together \
             cannot have from, to and step",
            "E1002 expected lists of values, found none | add two or more lists, or remove the \
             table",
            "E1004 two variants are named \"a\" | use a unique name for each",
            "E0105 `set` is missing | add set = { \"switch.input-buffer\" = \"64 KiB\" }, or set = \
             {} to leave the file unchanged",
            "E0105 `name` is missing | add name = … (text)",
            "E1001 no key has the path `lnk.flit` | did you mean \"link.flit\"?",
            "E0106 unknown key `set-too` | use one of name, axis, set, only",
        ],
    );
    tells(
        "[study]\nzip = 1\nvariant = {}\naxes = 3\n",
        &[
            "E0101 `study.zip` must be a list of tables | use [[study.zip]] with two brackets, and \
             below it \"link.rate\" = [\"100 Gbps\", \"200 Gbps\"]",
            "E0101 `study.variant` must be a list of tables | use [[study.variant]] with two \
             brackets, and below it name = \"deep buffers\" and set = { … }",
            "E0101 expected a table of axes, found an integer | add [study.axes] and below \
             it \"traffic.load\" = [0.1, 0.2]",
        ],
    );
}

#[test]
fn values_that_cannot_be_told_apart_or_are_lost() {
    let wfq = "{ kind = \"wfq\", weights = [[0, 1], [1, 1]] }";
    tells(
        &format!(
            "[study.axes]\n\"traffic.load\" = [0.1, 0.2, 0.1]\n\"qos.arbiter\" = [{wfq}, {wfq}]\n"
        ),
        &[
            "E1004 two values of `traffic.load` are named \"0.1\" | remove the duplicate; set \
             measure.repeat to run a point several times",
            "E1004 two values of `qos.arbiter` are named \"wfq\" | name them with \
             [[study.variant]]: name = … and set = { … }",
        ],
    );
    let lost = "remove it from one axis, or combine the axes in one [[study.zip]] or \
                [[study.variant]]";
    tells(
        "[study.axes]\n\"traffic.0.load\" = [0.1]\n\"traffic.load\" = [0.2]\n\
         [[study.variant]]\nname = \"a\"\nset = { \"traffic.load\" = 1 }\n",
        &[
            &format!("E1005 `traffic.load` is set by two axes | {lost}"),
            &format!("E1005 `traffic.load` is set by two axes | {lost}"),
        ],
    );
    // In the other order both have an effect.
    study(&with(
        "[study.axes]\n\"traffic.load\" = [0.2]\n\"traffic.0.load\" = [0.1]\n",
    ));
}

#[test]
fn rules_without_what_they_need() {
    let help = "set exactly one load under [study.axes], such as \"traffic.load\" = { from = 0.1, \
                to = 1.0, step = 0.1 }";
    tells(
        "[study]\nstop-after-saturation = 2\n[study.axes]\n\"link.rate\" = [\"1 Gbps\"]\n",
        &[&format!(
            "E1006 `stop-after-saturation` needs one axis of loads, found none | {help}"
        )],
    );
    tells(
        "[study]\nstop-after-saturation = 2\n[study.axes]\n\"traffic.0.load\" = \
         [0.1]\n\"traffic.1.load\" = [0.1]\n",
        &[&format!(
            "E1006 `stop-after-saturation` needs one axis of loads, found 2 | {help}"
        )],
    );
    // An invalid axis is reported once, without errors about the rule that needs it.
    tells(
        "[study]\nstop-after-saturation = 2\n[study.axes]\n\"traffic.load\" = []\n",
        &["E1002 the axis `traffic.load` has no values | add a value, or remove the axis"],
    );
    let rising = "use ascending numbers, or remove the rule that searches for saturation";
    tells(
        "[study]\nstop-after-saturation = 2\n[study.axes]\n\"traffic.load\" = [0.2, 0.1]\n",
        &[&format!(
            "E1006 the values of `traffic.load` are not ascending | {rising}"
        )],
    );
    tells(
        "[study.axes]\n\"traffic.load\" = { from = 0.3, to = 0.1, step = -0.1, refine = 0.01 }\n",
        &[&format!(
            "E1006 the values of `traffic.load` are not ascending | {rising}"
        )],
    );
    tells(
        "[study.axes]\n\"traffic.load\" = { from = 0.1, to = 0.3, step = 0.1, refine = 0.03 }\n",
        &[
            "E1002 `refine` does not divide the step evenly | use the step divided by 2, 4, 5, 10, \
             …",
        ],
    );
    tells(
        "[study.axes]\n\"traffic.0.load\" = { from = 0.1, to = 0.3, step = 0.1, refine = 0.01 }\n\
         \"traffic.1.load\" = { from = 0.1, to = 0.3, step = 0.1, refine = 0.01 }\n",
        &[
            "E1006 two axes have `refine` | remove one `refine`: a study searches for saturation \
             along one axis only",
        ],
    );
    tells(
        "[study]\nmost-seeds = 3\nintervall = 2\n",
        &[
            "E1007 `most-seeds` needs `interval` | add interval = 0.02, or set measure.repeat for \
             a fixed number of seeds",
            "E0106 unknown key `intervall` | did you mean `interval`?",
        ],
    );
    tells(
        "[study]\ninterval = 0.02\nmost-seeds = 2\n",
        &["E1007 expected at least 3 seeds, found 2 | set most-seeds = 3 or more"],
    );
    let one = with("[study]\ninterval = 0.02\n").replace("repeat = 3", "repeat = 1");
    let opened = Study::open(&Request::new("small.toml", &one));
    assert_eq!(opened.notes.iter().next().unwrap().code, "E1007");
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
fn a_message_shows_the_line() {
    insta::assert_snapshot!(mistakes("[[study.zip]]\n\"link.rate\" = [\"1 Gbps\", \"2 \
        Gbps\"]\n\"link.delay\" = [\"1 ns\"]\n"), @r#"
    error[E1003]: `link.delay` and `link.rate` have lists of different lengths
      --> small.toml:21:1
       |
    20 | "link.rate" = ["1 Gbps", "2 Gbps"]
       | ----------- 2 here
    21 | "link.delay" = ["1 ns"]
       | ^^^^^^^^^^^^ 1 here
       |
       = help: use lists of equal length: these axes step together

    1 error
    "#);
}

#[test]
fn a_parent_that_is_missing_wrong_or_a_circle_is_told_with_its_line() {
    let folder = Folder::new("circle");
    folder.write("a.toml", "extends = \"common/b.toml\"\n");
    folder.write("common/b.toml", "extends = \"../a.toml\"\n");
    folder.write("c.toml", "extends = \"nowhere.toml\"\n");
    folder.write("d.toml", "extends = 3\n");
    folder.write("e.toml", "extends = \"f.toml\"\n");
    folder.write("f.toml", "x = = 3\n");
    folder.write("g.toml", "extends = \"h.toml\"\n");
    folder.write("h.toml", "netloom = 1\n[link]\nrat = 3\n");
    let first = |name: &str| {
        let opened = open_in(&folder.0, name);
        assert!(!opened.is_toml, "{name}");
        let note = opened.notes.iter().next().unwrap().clone();
        (note.code, note.places[0].0.source, note.help)
    };
    let circle = first("a.toml");
    assert_eq!((circle.0, circle.1), ("E0004", 1));
    assert!(
        circle
            .2
            .unwrap()
            .contains("remove `extends` from one of them")
    );
    let missing = first("c.toml");
    assert_eq!((missing.0, missing.1), ("E0004", 0));
    assert_eq!(first("d.toml").0, "E0101");
    // An error in the parent file is shown there.
    let parent = first("e.toml");
    assert_eq!((parent.0, parent.1), ("E0001", 1));
    let text = std::fs::read_to_string(folder.0.join("g.toml")).unwrap();
    let name = folder.0.join("g.toml").display().to_string();
    let loaded = spec::load(&Request {
        files: netloom_catalog::Disk::folder(&folder.0),
        ..Request::new(&name, &text)
    });
    let told = render(&loaded.document, &loaded.notes, false);
    assert!(
        told.contains("h.toml:3:1") && told.contains("did you mean `rate`?"),
        "{told}"
    );
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
    let told = render(&checked.document, &checked.notes, false);
    assert!(told.contains("small.toml:21:33"), "{told}");
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
fn names_and_combinations_that_cannot_be() {
    let changed = |from: &str, to: &str| {
        assert!(NAMED.contains(from), "{from}");
        told(&NAMED.replace(from, to))
    };
    assert_eq!(
        changed("only = { load = [0.3] }", "only = { lod = [0.3] }"),
        ["E1010 no other axis is named `lod` | use one of variant, arbiter, load"]
    );
    assert_eq!(
        changed("only = { load = [0.3] }", "only = { load = [0.4] }"),
        ["E1010 `load` does not have the value 0.4 | use values of the axis"]
    );
    assert_eq!(
        changed("values = [0.2, 0.3]", "values = [0.2]"),
        ["E1003 expected 2 values, found 1 | set one name in `values` for each step"]
    );
    assert_eq!(
        changed("name = \"load\"", "name = \"seed\"")[0],
        "E1004 `seed` cannot be the name of an axis | use another name: tables of results have a \
         column of this name"
    );
    assert_eq!(
        changed("name = \"load\"", "name = \"arbiter\"")[0],
        "E1004 two axes are named `arbiter` | use a unique name for each"
    );
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

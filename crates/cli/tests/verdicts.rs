//! Whether numbers can be used is said once, and everywhere alike.

mod place;

use place::Place;
use serde_json::Value;

/// 2048 hosts that send large messages: of a run of 20 us, a good part is still under way at its end.
const LARGE_MESSAGES: &str = "netloom = 1\nname = \"large\"\n\
    [topology]\nkind = \"pgft\"\nchildren = [32, 64]\nparents = [1, 32]\n\
    [link]\nrate = \"400 Gbps\"\n\
    [switch]\ninput-buffer = \"256 KiB\"\n\
    [[traffic]]\nload = 0.2\nmessage = \"64 KiB\"\n\
    [measure]\nwarmup = \"4 us\"\n";

#[test]
fn messages_under_way_at_the_end_of_a_short_run_do_not_saturate_it() {
    let place = Place::new("verdict-short");
    place.file("large.toml", LARGE_MESSAGES);
    let run = |until: &str| {
        let arguments = ["run", "large.toml", "--until", until, "-o", until];
        place.run(&[&arguments[..], &["--format", "json"]].concat())
    };
    // 2.5 % of what was offered is missing at the end, and nothing waits in the NICs.
    let short = run("20us").json();
    let load = |name: &str| short["total"][name].as_f64().unwrap();
    assert!(load("delivered_load") < 0.98 * load("offered_load"));
    assert_ne!(short["status"], "saturated");
    assert_eq!(run("100us").with(0).json()["status"], "ok");
}

/// Eight hosts around a switch.
const SMALL: &str = "netloom = 1\nname = \"small\"\n\
    [topology]\nkind = \"single-switch\"\nports = 8\n\
    [[traffic]]\nname = \"bulk\"\nload = 0.3\n\
    [measure]\nlength = \"400 us\"\nwarmup = \"20 us\"\n";

/// Status and exit code of a run with some keys changed.
fn ended(place: &Place, sets: &[&str]) -> (Value, Option<i32>) {
    let mut arguments = vec!["run", "small.toml", "--overwrite", "--format", "json"];
    sets.iter().for_each(|set| arguments.extend(["--set", set]));
    let ended = place.run(&arguments);
    (ended.json()["status"].clone(), ended.code)
}

#[test]
fn what_grows_is_saturated_and_what_is_steady_is_not() {
    let place = Place::new("verdict-growth");
    place.file("small.toml", SMALL);
    assert_eq!(ended(&place, &[]), ("ok".into(), Some(0)));
    let hot = "traffic.pattern={ kind = \"hot-spot\", destination = 0, sources = \"all\" }";
    // Seven senders of 0.3 are more than twice a link; of 0.1, less than one.
    assert_eq!(ended(&place, &[hot]), ("saturated".into(), Some(0)));
    let (calm, _) = ended(&place, &[hot, "traffic.load=0.1"]);
    assert_ne!(calm, "saturated");
}

#[test]
fn a_run_whose_load_rises_is_not_stationary() {
    let place = Place::new("verdict-drift");
    // Every NIC sends 2 KiB to its neighbour, ever more often: the gap shrinks from 4 us to 1 us.
    let mut list = String::from("time,source,destination,bytes\n");
    for nic in 0..8 {
        let mut now = 0.0;
        while now < 390.0 {
            let to = (nic + 1) % 8;
            list.push_str(&format!("{now:.3} us,{nic},{to},2 KiB\n"));
            now += 4.0 - 3.0 * now / 400.0;
        }
    }
    place.file("rising.csv", &list);
    let listed = SMALL.replace("load = 0.3", "flows = \"rising.csv\"");
    place.file("small.toml", &listed);
    assert_eq!(ended(&place, &[]), ("not-stationary".into(), Some(5)));
}

#[test]
fn study_compare_report_and_plot_count_the_same_points_as_saturated() {
    let place = Place::new("verdict-agree");
    // Short runs around the edge, where seeds disagree and one class saturates before the other.
    place.file(
        "study.toml",
        "netloom = 1\nname = \"study\"\n\
         [topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 3\n\
         [qos]\nvls = 2\narbiter = { kind = \"strict-priority\" }\n\
         [[traffic]]\nname = \"bulk\"\nload = 0.1\n\
         [[traffic]]\nname = \"control\"\nsl = 1\nload = 0.1\n\
         [measure]\nlength = \"100 us\"\nwarmup = \"10 us\"\ninterval = 0.5\nrepeat = 3\n\
         [study.axes]\n\"traffic.0.load\" = { from = 0.6, to = 0.8, step = 0.02 }\n",
    );
    let arguments = ["run", "study.toml", "--progress", "none"];
    let header = place.run(&arguments).stdout;
    let points = header.lines().next().unwrap().to_owned();
    let csv = place.read("study.out/points.csv");
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|own| *own == name).unwrap();
    let count = |verdict: &str| {
        let rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let is_it =
            |row: &Vec<&str>| row[column("scope")] == "total" && row[column("verdict")] == verdict;
        rows.filter(is_it).count()
    };
    let n = count("saturated");
    assert!((1..11).contains(&n), "some are, some are not: {csv}");
    assert!(points.contains(&format!("{n} saturated")), "{points}");
    let compared = place.run(&["compare", "study.out", "study.out"]).with(0);
    let words = format!("is saturated at {n} of 11 points: ");
    assert_eq!(
        compared.stderr.matches(&words).count(),
        2,
        "{}",
        compared.stderr
    );
    place.run(&["report", "study.out"]).with(0);
    let page = place.read("study.out/report.html");
    let tile = format!("▲ Saturated</dt><dd>{n}<small>");
    assert!(page.contains(&tile), "{tile}");
    place.run(&["plot", "study.out", "--format", "csv"]).with(0);
    let figure = place.read("study.out/figures/throughput.csv");
    assert_eq!(figure.matches(",saturated,").count(), n, "{figure}");
    for verdict in ["ok", "not-converged", "not-stationary", "too-short"] {
        let n = count(verdict);
        assert_eq!(
            points.contains(&format!("{n} {verdict}")),
            n > 0,
            "{points}"
        );
    }
}

#[test]
fn verdicts_are_coloured_on_request_only() {
    let place = Place::new("verdict-colour");
    place.file("small.toml", SMALL);
    let hot = "traffic.pattern={ kind = \"hot-spot\", destination = 0, sources = \"all\" }";
    let arguments = ["run", "small.toml", "--overwrite", "--set", hot];
    let plain = place.run(&arguments).with(0).stdout;
    assert!(plain.contains("saturated") && !plain.contains('\u{1b}'));
    let colour = [&arguments[..], &["--color", "always"]].concat();
    let coloured = place.run(&colour).with(0).stdout;
    assert!(
        coloured.contains("\u{1b}[31msaturated\u{1b}[0m"),
        "{coloured}"
    );
}

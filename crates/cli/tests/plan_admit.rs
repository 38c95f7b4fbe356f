//! `netloom plan --admit`: every test runs the binary in its own folder.

mod place;

use place::Place;
use serde_json::{Value, json};

/// Two switches with two NICs each and 2.5 Gbit/s everywhere; no traffic.
const FABRIC: &str = "netloom = 1\n\
    [topology]\nkind = \"graph\"\nfile = \"fabric.txt\"\n\
    [link]\nrate = \"2.5 Gbps\"\nmtu = \"4 KiB\"\n";
const CABLES: &str = "link a b\nnic n0 a\nnic n1 a\nnic n2 b\nnic n3 b\n";

/// Seven times 300 Mbit/s over the one cable, of which six fit.
const SEVEN: &str = "source,destination,bandwidth,sl\n\
    # Both hosts of the left side to both of the right.\n\
    n0,n2,300 Mbps,\nn1,n3,300 Mbps,\nn0,n3,300 Mbps,\nn1,n2,300 Mbps,\n0,2,300 Mbps,3\n\
    1,3,300 Mbps,3\n\
    n0,n2,300 Mbps,\nn2,n0,64 kbps,\n";

/// A folder with a fabric.
struct Folder(Place);

impl Folder {
    fn new(name: &str) -> Folder {
        let place = Place::new(&format!("admit-{name}"));
        place.file("fabric.toml", FABRIC).file("fabric.txt", CABLES);
        Folder(place)
    }

    fn file(&self, name: &str, text: &str) {
        self.0.file(name, text);
    }

    /// Returns the exit code, data and messages of `netloom plan fabric.toml --admit list.csv` with
    /// more arguments.
    fn plan(&self, list: &str, more: &[&str]) -> (i32, String, String) {
        self.file("list.csv", list);
        let admit = ["plan", "fabric.toml", "--admit", "list.csv"];
        let ended = self.0.run(&[&admit[..], more].concat());
        (ended.code.unwrap(), ended.stdout, ended.stderr)
    }

    fn json(&self, list: &str, more: &[&str]) -> Value {
        let more = [more, &["--format", "json"]].concat();
        let (code, data, stderr) = self.plan(list, &more);
        assert_eq!((code, stderr.as_str()), (0, ""), "{data}");
        serde_json::from_str(&data).unwrap()
    }
}

#[test]
fn the_refused_are_reported_with_the_port_that_had_no_room() {
    let folder = Folder::new("refused");
    let (code, data, stderr) = folder.plan(SEVEN, &["--port", "a:0", "--port", "N3"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    insta::assert_snapshot!(data, @"
    7 of 8 connections accepted (1.8 Gbit/s), 1 refused

    refused
      line  from  to  bandwidth  sl  port  needed  free  why
      9     n0    n2  300 Mbps   3   a:0   1959    1302  connections may use at most 80 % of a link

    8 of 10 ports in use:
      port      link  connections  slots   share  low entries
      a:0   2.5 Gbps            6  11754  72.0 %           61
      n0    2.5 Gbps            3   5877  36.0 %           38
      n1    2.5 Gbps            3   5877  36.0 %           38
      b:1   2.5 Gbps            3   5877  36.0 %           38
      b:2   2.5 Gbps            3   5877  36.0 %           38
      n2    2.5 Gbps            1      1   0.0 %           15
      a:1   2.5 Gbps            1      1   0.0 %           15
      b:0   2.5 Gbps            1      1   0.0 %           15

    SL2VL  SL0 on VL0 (connections), SL3 on VL3 (connections), SL8 on VL8 (best effort), SL9 on VL9 (challenged)

    tables of a:0, high-priority limit 255
      high  empty
      low   VL8 255 x12, VL8 204, VL9 1, VL3 255 x46, VL3 24

    tables of n3, high-priority limit 255
      high  empty
      low   VL8 255 x12, VL8 204, VL9 1
    ");
}

#[test]
fn refusals_are_results_unless_strict() {
    let folder = Folder::new("strict");
    assert_eq!(folder.plan(SEVEN, &[]).0, 0);
    assert_eq!(folder.plan(SEVEN, &["--strict"]).0, 4);
    let fits = "source,destination,bandwidth\nn0,n2,300 Mbps\n";
    assert_eq!(folder.plan(fits, &["--strict"]).0, 0);
}

#[test]
fn json_has_connections_and_the_tables_of_every_port() {
    let folder = Folder::new("json");
    let plan = folder.json(SEVEN, &[]);
    assert_eq!(plan["accepted"].as_array().unwrap().len(), 7);
    assert_eq!(
        plan["accepted"][0],
        json!({
            "line": 3, "source": "n0", "destination": "n2", "bandwidth": 300_000_000, "sl": 3, "vl": 3,
            "slots": [1959, 1959, 1959], "path": ["n0", "a:0", "b:1"],
        })
    );
    assert_eq!(
        plan["refused"],
        json!([{
            "line": 9, "source": "n0", "destination": "n2", "bandwidth": 300_000_000, "sl": 3, "vl": 3,
            "port": "a:0", "needed": 1959, "free": 1302, "limit": "slots",
        }])
    );
    // Four NICs and three ports of each switch.
    let ports = plan["ports"].as_array().unwrap();
    assert_eq!(ports.len(), 10);
    let cable = ports.iter().find(|port| port["port"] == "a:0").unwrap();
    assert_eq!(
        (&cable["reserved"], &cable["connections"], &cable["limit"]),
        (&json!(6 * 1959), &json!(6), &json!(255))
    );
    assert_eq!(cable["share"].as_f64().unwrap(), 6.0 * 1959.0 / 16_320.0);
    // 13 entries of best effort, one of challenged, 46 full ones and one of 24 for the connections.
    let low = cable["low"].as_array().unwrap();
    assert_eq!((low.len(), &cable["entries"]), (61, &json!(61)));
    assert_eq!((&low[12], &low[60]), (&json!([8, 204]), &json!([3, 24])));
    assert_eq!(cable["high"], json!([]));
    let back = ports.iter().find(|port| port["port"] == "b:0").unwrap();
    assert_eq!(back["low"].as_array().unwrap()[14], json!([0, 1]));
}

#[test]
fn every_link_has_slots_of_its_own_rate() {
    let folder = Folder::new("rates");
    let slow = FABRIC.replace(
        "[link]\n",
        "[link.class.switch]\nrate = \"10 Gbps\"\n[link]\n",
    );
    folder.file("fabric.toml", &slow);
    let plan = folder.json("source,destination,bandwidth\nn0,n2,300 Mbps\n", &[]);
    assert_eq!(plan["accepted"][0]["slots"], json!([1959, 490, 1959]));
}

#[test]
fn entries_limit_only_if_asked_to() {
    let folder = Folder::new("entries");
    let all = "source,destination,bandwidth\nn0,n1,2 Gbps\n";
    let (code, data, _) = folder.plan(all, &[]);
    assert_eq!(code, 0);
    assert!(
        data.contains("warning: the low tables of 2 ports need more than the 64 entries"),
        "{data}"
    );
    let words: Vec<&str> = data.split_whitespace().collect();
    assert!(words.join(" ").contains("n0 (66), a:2 (66)"), "{data}");
    let plan = folder.json(all, &["--mode", "strict-entries"]);
    let refused = &plan["refused"][0];
    assert_eq!(
        (
            &refused["limit"],
            &refused["needed"],
            &refused["free"],
            &refused["port"]
        ),
        (
            &json!("entries"),
            &json!(13_056),
            &json!(12_750),
            &json!("n0")
        )
    );
}

#[test]
fn deadlines_are_kept_or_refused_with_bound_and_budget() {
    let folder = Folder::new("deadlines");
    // A packet of 4096 bytes ahead and 256 of management take 13.9264 us at each of three outputs.
    let list = "source,destination,bandwidth,deadline\nn0,n2,100 Mbps,41 us\nn0,n2,100 Mbps,42 us\n\
        n1,n3,1 Mbps,1 s\nn1,n3,1 Gbps,\n";
    let (code, data, stderr) = folder.plan(list, &["--port", "a:0"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    insta::assert_snapshot!(data, @"
    2 of 4 connections accepted (1.1 Gbit/s), 2 refused

    refused
      line  from  to  bandwidth  sl  deadline  port  needed  free   why
      2     n0    n2  100 Mbps   7   41 us     n0    653     13056  VL7 would wait up to 13.9 us; the part of the deadline is 13.7 us
      4     n1    n3  1 Mbps     5   1 s       a:0   7       12403  VL7 would wait up to 28.3 us; the part of the deadline of an earlier connection is 14 us

    5 of 10 ports in use:
      port      link  connections  slots   share  low entries  high entries  longest wait
      a:0   2.5 Gbps            2   7181  44.0 %           40             3       13.9 us
      n1    2.5 Gbps            1   6528  40.0 %           40             0             -
      b:2   2.5 Gbps            1   6528  40.0 %           40             0             -
      n0    2.5 Gbps            1    653   4.0 %           14             3       13.9 us
      b:1   2.5 Gbps            1    653   4.0 %           14             3       13.9 us

    Deadlines are divided evenly over the outputs of a path. Each part bounds the wait of the lane at
    its output, with packets of up to 4 KiB and no high-priority limit. Bounds assume one queue per
    class at each output, with credits held for the whole packet at its head. All other classes may
    always send, and at most one management packet is sent meanwhile. Tables do not guarantee credits
    downstream, so there is no bound along a path. Transmission, cables and switches add to the wait.

    SL2VL  SL3 on VL3 (connections), SL5 on VL5 (with deadlines), SL7 on VL7 (with deadlines), SL8 on VL8 (best effort), SL9 on VL9 (challenged)

    tables of a:0, high-priority limit 255
      high  VL7 255 x2, VL7 143
      low   VL8 255 x12, VL8 204, VL9 1, VL3 255 x25, VL3 153
    ");
    let plan = folder.json(list, &[]);
    let late = &plan["refused"][0]["late"];
    assert_eq!(
        (&late["vl"], &late["wait_ns"], &plan["refused"][0]["port"]),
        (&json!(7), &json!(13_926.4), &json!("n0"))
    );
    // Smaller packets wait less.
    let plan = folder.json(list, &["--packet", "256 B"]);
    assert_eq!(plan["refused"], json!([]));
    assert_eq!(plan["accepted"][0]["deadline_ns"], json!(41_000.0));
}

#[test]
fn a_slow_crossbar_is_named() {
    let folder = Folder::new("bottleneck");
    let list = "source,destination,bandwidth\nn0,n1,100 Mbps\n";
    let (code, _, stderr) = folder.plan(list, &["--set", "switch.speedup=1"]);
    assert!(code == 0 && stderr.contains("W0907"), "{stderr}");
    let (_, _, stderr) = folder.plan(list, &["--set", "switch.speedup=2"]);
    assert_eq!(stderr, "");
}

#[test]
fn waits_know_the_limit_of_the_file_and_of_the_command() {
    let folder = Folder::new("limit");
    let tables = "[qos]\nvls = 10\n[qos.arbiter]\nkind = \"ib-two-table\"\nhigh = [[4, 1]]\n\
        low = [[0, 1]]\nlimit = 7\n";
    folder.file("fabric.toml", &format!("{FABRIC}{tables}"));
    let list = "source,destination,bandwidth,deadline\nn0,n1,100 Mbps,1 ms\n";
    assert_eq!(folder.json(list, &[])["ports"][0]["limit"], 7);
    assert_eq!(folder.json(list, &["--limit", "0"])["ports"][0]["limit"], 0);
    assert_eq!(
        folder.json(list, &["--set", "qos.arbiter.limit=9"])["ports"][0]["limit"],
        9
    );
}

#[test]
fn a_limit_that_takes_reserved_bandwidth_is_warned_of() {
    let folder = Folder::new("surely");
    // 1.5 Gbit/s are 60 % of the link; with a limit of 1 x 4096 bytes the low table may take half.
    let list = "source,destination,bandwidth,deadline\nn0,n1,1.5 Gbps,1 s\n";
    let (_, data, _) = folder.plan(list, &["--limit", "1"]);
    let words = data.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("2 ports reserve more for deadlines: n0 (9792), a:2 (9792)"),
        "{data}"
    );
    assert!(!folder.plan(list, &[]).1.contains("warning"));
}

#[test]
fn packets_without_a_largest_size_have_no_bound() {
    let folder = Folder::new("message");
    folder.file("fabric.toml", &FABRIC.replace("4 KiB", "message"));
    let list = "source,destination,bandwidth,deadline\nn0,n1,100 Mbps,1 ms\n";
    let (code, data, stderr) = folder.plan(list, &[]);
    assert_eq!((code, data.as_str()), (3, ""));
    assert!(
        stderr.contains("E0808") && stderr.contains("--packet"),
        "{stderr}"
    );
    assert_eq!(folder.plan(list, &["--packet", "2 KiB"]).0, 0);
    assert_eq!(
        folder
            .plan("source,destination,bandwidth\nn0,n1,1 Mbps\n", &[])
            .0,
        0
    );
}

#[test]
fn all_mistakes_of_a_list_are_reported_at_once() {
    let folder = Folder::new("mistakes");
    let list =
        "source,destination,bandwidth\nn0,n9,64 Mbps\nn0,n1,64\nn0,n1,\"1 Mbps\nn0,n1,1 Mbps\n";
    let (code, data, stderr) = folder.plan(list, &[]);
    assert_eq!((code, data.as_str()), (3, ""));
    insta::assert_snapshot!(stderr, @r#"
    error[E0802]: destination: unknown NIC `n9`; use a name or a number from 0 to 3
     --> list.csv:2:1
      |
    2 | n0,n9,64 Mbps
      | ^^^^^^^^^^^^^

    error[E0802]: bandwidth: `64` has no unit; use a value such as "100 Gbps", "12.5 GB/s" or "NDR x4"
     --> list.csv:3:1
      |
    3 | n0,n1,64
      | ^^^^^^^^

    error[E0802]: a quotation mark is not closed
     --> list.csv:4:1
      |
    4 | n0,n1,"1 Mbps
      | ^^^^^^^^^^^^^

    3 errors
    "#);
}

#[test]
fn the_end_of_a_long_list_of_mistakes_is_counted() {
    let folder = Folder::new("many");
    let list = format!(
        "source,destination,bandwidth\n{}",
        "n0,n1,64\n".repeat(20_000)
    );
    let (code, _, stderr) = folder.plan(&list, &[]);
    assert_eq!((code, stderr.matches("has no unit").count()), (3, 100));
    assert!(stderr.contains("and 19900 more errors"), "{stderr}");
}

#[test]
fn mistakes_of_the_experiment_come_first() {
    let folder = Folder::new("experiment");
    folder.file("fabric.toml", &FABRIC.replace("rate", "rat"));
    let (code, _, stderr) = folder.plan(SEVEN, &[]);
    assert!(
        code == 3 && stderr.contains("did you mean `rate`"),
        "{stderr}"
    );
    // Traffic may be missing, but not invalid.
    folder.file(
        "fabric.toml",
        &format!("{FABRIC}[[traffic]]\nload = \"much\"\n"),
    );
    let (code, _, stderr) = folder.plan(SEVEN, &[]);
    assert!(code == 3 && stderr.contains("load"), "{stderr}");
}

#[test]
fn random_paths_guarantee_nothing() {
    let folder = Folder::new("random");
    let tree = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 2\n[routing]\n\
        kind = \"random-up\"\n";
    folder.file("fabric.toml", tree);
    let (code, data, stderr) = folder.plan(SEVEN, &[]);
    assert_eq!((code, data.as_str()), (3, ""));
    assert!(
        stderr.contains("E0804") && stderr.contains("several paths"),
        "{stderr}"
    );
}

#[test]
fn ports_are_named_as_in_topo() {
    let folder = Folder::new("ports");
    for (name, problem) in [
        ("a:7", "a has ports 0 to 2"),
        ("c:0", "there is no switch c"),
        ("n7", "there is no such NIC"),
    ] {
        let (code, data, stderr) = folder.plan(SEVEN, &["--port", name]);
        assert_eq!((code, data.as_str()), (1, ""));
        assert!(stderr.contains(problem), "{stderr}");
    }
    let (_, with_colon, _) = folder.plan(SEVEN, &["--port", "b:1"]);
    let (_, in_words, _) = folder.plan(SEVEN, &["--port", "B P1"]);
    assert!(with_colon.contains("\ntables of b:1, high-priority limit 255\n"));
    assert_eq!(with_colon, in_words);
}

#[test]
fn a_plan_needs_something_to_plan() {
    let folder = Folder::new("nothing");
    let stderr = folder.0.run(&["plan", "fabric.toml"]).with(3).stderr;
    assert!(
        stderr.contains("E0902") && stderr.contains("[[plan.class]]"),
        "{stderr}"
    );
    let toml = [
        "plan",
        "fabric.toml",
        "--admit",
        "list.csv",
        "--format",
        "toml",
    ];
    folder.0.run(&toml).with(2);
    folder.0.run(&["plan", "fabric.toml", "--strict"]).with(2);
}

/// A port of three lanes, and connections of one service level with and without a deadline.
#[test]
fn a_port_is_given_the_lanes_that_it_has_and_a_level_one_of_them() {
    let folder = Folder::new("lanes");
    folder.file("fabric.toml", &format!("{FABRIC}[qos]\nvls = 3\n"));
    let list =
        "source,destination,bandwidth,sl,deadline\nn0,n2,100 Mbps,3,\nn1,n3,100 Mbps,3,1 s\n";
    let plan = folder.json(list, &[]);
    assert_eq!(plan["sl2vl"], json!([2, 2, 2, 0, 2, 2, 2, 1, 2, 2]));
    let (plain, timely) = (&plan["accepted"][0], &plan["accepted"][1]);
    assert_eq!((&plain["sl"], &plain["vl"]), (&json!(3), &json!(0)));
    assert_eq!((&timely["sl"], &timely["vl"]), (&json!(7), &json!(1)));
    for port in plan["ports"].as_array().unwrap() {
        for table in ["high", "low"] {
            let lanes = port[table].as_array().unwrap().iter();
            assert!(
                lanes
                    .into_iter()
                    .all(|entry| entry[0].as_u64().unwrap() < 3),
                "{port}"
            );
        }
    }
    folder.file("fabric.toml", &format!("{FABRIC}[qos]\nvls = 2\n"));
    let (code, _, stderr) = folder.plan(list, &[]);
    assert_eq!(code, 3);
    assert!(
        stderr.contains("SL3, SL7, SL8 need one lane each, but there are 2 lanes"),
        "{stderr}"
    );
}

/// Without a list, connections are drawn until no more fit: the same for equal seeds, and fewer
/// with a larger reserve.
#[test]
fn connections_are_drawn_without_a_list() {
    let folder = Folder::new("drawn");
    let admitted = |more: &[&str]| -> (usize, Value) {
        let drawn = [
            "plan",
            "fabric.toml",
            "--admit",
            "drawn",
            "--format",
            "json",
        ];
        let ended = folder.0.run(&[&drawn[..], more].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let document: Value = serde_json::from_str(&ended.stdout).unwrap();
        let accepted = document["accepted"].as_array().expect("a list").len();
        (accepted, document)
    };
    let (usual, first) = admitted(&[]);
    assert!(usual > 20, "{usual}");
    assert_eq!(admitted(&["--seed", "1"]).1, first);
    assert_ne!(admitted(&["--seed", "2"]).1, first);
    assert!(admitted(&["--reserve", "0.6"]).0 < usual);
    assert_eq!(admitted(&["--target", "5"]).0, 5);
    let (code, _, stderr) = folder.plan(SEVEN, &["--reserve", "1.5"]);
    assert_eq!(code, 2, "{stderr}");
}

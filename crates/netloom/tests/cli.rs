//! The command, as a person uses it: every test runs the binary in a folder of its own.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A folder that goes away with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("netloom-cli-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    fn file(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.0.join(name), text).unwrap();
        self
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_netloom"));
        command
            .current_dir(&self.0)
            .args(arguments)
            .env_remove("CLICOLOR_FORCE");
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        Ended::new(self.command(arguments).output().unwrap())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ended {
    fn new(output: Output) -> Ended {
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Checks the exit code and gives everything back.
    #[track_caller]
    fn with(self, code: i32) -> Ended {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}:\n{}", self.stdout))
    }
}

/// Eight hosts, a moment long.
const SMALL: &str = "netloom = 1\nname = \"small\"\n\
    [topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 3\n\
    [[traffic]]\nname = \"bulk\"\nload = 0.4\n\
    [measure]\nlength = \"300 us\"\n";

/// A ring that is bound to jam.
const RING: &str = "netloom = 1\nname = \"ring\"\n\
    [topology]\nkind = \"torus\"\nsides = [5]\nhosts = 2\n\
    [link]\nmtu = \"2 KiB\"\n\
    [switch]\ninput-buffer = \"4 KiB\"\noutput-buffer = \"4 KiB\"\n\
    [routing]\nkind = \"dimension-order\"\ndeadlock = \"none\"\n\
    [[traffic]]\nload = 1.0\nsize = { kind = \"fixed\", bytes = \"2 KiB\" }\n\
    [measure]\nlength = \"1 s\"\npatience = \"20 us\"\n";

#[test]
fn every_template_is_written_checked_and_run() {
    let place = Place::new("templates");
    let listed = place.run(&["init", "--list"]).with(0).stdout;
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(names, ["fat-tree", "torus", "qos", "single-switch"]);
    for name in names {
        let file = format!("demo/{name}.toml");
        let written = place.run(&["init", "--template", name, "demo"]).with(0);
        assert!(
            written.stderr.contains(&format!("netloom check {file}")),
            "{}",
            written.stderr
        );
        let checked = place.run(&["check", &file]).with(0);
        assert!(
            checked.stdout.starts_with(&format!("{file}: ok")),
            "{}",
            checked.stdout
        );
        assert_eq!(checked.stderr, "", "a template has no warnings");
        let run = place.run(&["run", &file, "--format", "json"]).with(0);
        let json = run.json();
        assert_eq!(json["status"], "ok", "{name}");
        assert_eq!(json["name"], name);
        assert!(run.stderr.contains(&format!("results in {name}.out")));
        for file in [
            "results.csv",
            "series.csv",
            "links.csv",
            "results.json",
            "resolved.toml",
            "manifest.json",
        ] {
            assert!(!place.read(&format!("{name}.out/{file}")).is_empty());
        }
        // What was resolved is an experiment that gives the same.
        let again = place.run(&[
            "run",
            &format!("{name}.out/resolved.toml"),
            "-o",
            "again",
            "--format",
            "json",
            "--overwrite",
        ]);
        assert_eq!(again.with(0).json()["digest"], json["digest"], "{name}");
    }
    place.run(&["init", "--template", "torus", "demo"]).with(1);
}

#[test]
fn the_json_document_has_its_promised_keys() {
    let place = Place::new("json");
    place.file("small.toml", SMALL);
    let json = place
        .run(&["run", "small.toml", "--format", "json"])
        .with(0)
        .json();
    for key in [
        "netloom",
        "results_version",
        "name",
        "run_id",
        "seed",
        "digest",
        "counters",
        "warmup_ns",
        "length_ns",
        "status",
        "total",
        "classes",
        "sls",
        "links",
        "deadlock",
        "timing",
    ] {
        assert!(json.get(key).is_some(), "{key} is missing");
    }
    for key in ["events", "packet_hops", "flit_hops"] {
        assert!(json["counters"][key].as_u64().unwrap() > 0, "{key}");
    }
    for key in [
        "latency_mean_ns",
        "latency_p999_ns",
        "jitter_mean_ns",
        "delivered_load",
    ] {
        assert!(json["classes"][0][key].as_f64().unwrap() > 0.0, "{key}");
    }
    assert!(json["timing"]["wall_seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(json["deadlock"], Value::Null);
    // What is stored is the same without what differs from time to time.
    let stored: Value = serde_json::from_str(&place.read("small.out/results.json")).unwrap();
    assert_eq!(stored.get("timing"), None);
    assert_eq!(stored["total"], json["total"]);
    let manifest: Value = serde_json::from_str(&place.read("small.out/manifest.json")).unwrap();
    assert_eq!(manifest["run_id"], json["run_id"]);
    assert_eq!(manifest["command_line"][1], "run");
    // The table for people has the class and goes to stdout; the folder is named on stderr.
    let human = place.run(&["run", "small.toml"]).with(0);
    assert!(
        human.stdout.contains("bulk") && human.stdout.contains("delivered"),
        "{}",
        human.stdout
    );
    assert!(human.stderr.contains("small.out"));
}

#[test]
fn all_mistakes_are_told_at_once() {
    let place = Place::new("mistakes");
    place.file(
        "wrong.toml",
        "netloom = 1\n[topology]\nkind = \"fat-treee\"\n[link]\nrate = \"fast\"\n[[traffic]]\nload = 0.5\nlaod = 1\n",
    );
    for command in ["check", "run"] {
        let ended = place.run(&[command, "wrong.toml"]).with(3);
        for part in [
            "E0104",
            "did you mean \"fat-tree\"",
            "E0103",
            "E0106",
            "`load`",
        ] {
            assert!(ended.stderr.contains(part), "{part} in:\n{}", ended.stderr);
        }
        assert!(
            !ended.stderr.contains('\u{1b}'),
            "no colours outside a terminal"
        );
    }
    let coloured = place
        .run(&["check", "wrong.toml", "--color", "always"])
        .with(3);
    assert!(coloured.stderr.contains('\u{1b}'));
    assert!(!place.0.join("wrong.out").exists());
}

#[test]
fn exit_codes_are_those_that_are_explained() {
    let place = Place::new("codes");
    place.file("small.toml", SMALL).file("ring.toml", RING);
    place.run(&["check", "small.toml"]).with(0);
    place.run(&["check", "nowhere.toml"]).with(1);
    place.run(&["run"]).with(2);
    place.run(&["chekc"]).with(2);
    place.run(&["run", "small.toml", "--until", "soon"]).with(2);
    place.run(&["check", "ring.toml"]).with(4);
    place.run(&["run", "ring.toml"]).with(4);
    // Less exact than asked.
    let rough = place
        .run(&["run", "small.toml", "--until", "5us", "--format", "json"])
        .with(5);
    assert_eq!(rough.json()["status"], "not-converged");
    // Saturated is a result.
    let hot = "traffic.pattern={ kind = \"hot-spot\", destination = 0 }";
    let full = place.run(&[
        "run",
        "small.toml",
        "--set",
        "traffic.load=1.0",
        "--set",
        hot,
        "-o",
        "full",
        "--format",
        "json",
    ]);
    assert_eq!(full.with(0).json()["status"], "saturated");
    let explained = place.run(&["explain", "exit-codes"]).with(0).stdout;
    for code in ["0", "1", "2", "3", "4", "5", "130"] {
        assert!(
            explained
                .lines()
                .any(|line| line.trim_start().starts_with(&format!("{code}  "))),
            "{code}"
        );
    }
}

#[test]
fn a_forced_ring_ends_in_a_deadlock_with_its_circle() {
    let place = Place::new("deadlock");
    place.file("ring.toml", RING);
    let began = Instant::now();
    let human = place.run(&["run", "ring.toml", "--force"]).with(4);
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "a deadlock is no reason to wait"
    );
    assert!(
        human.stdout.contains("wait in a circle"),
        "{}",
        human.stdout
    );
    assert!(
        human.stdout.contains("output VL0 waits for"),
        "{}",
        human.stdout
    );
    let json = place
        .run(&["run", "ring.toml", "--force", "--format", "json"])
        .with(4)
        .json();
    assert_eq!(json["status"], "deadlock");
    let cycle = json["deadlock"]["cycle"].as_array().unwrap();
    assert!(
        cycle.len() >= 4 && cycle[0]["switch"].is_string(),
        "{cycle:?}"
    );
    assert!(json["deadlock"]["time_ns"].as_f64().unwrap() < 1e9);
    assert!(place.read("ring.out/results.json").contains("\"deadlock\""));
}

#[test]
fn another_run_is_not_overwritten() {
    let place = Place::new("folder");
    place.file("small.toml", SMALL);
    place.run(&["run", "small.toml"]).with(0);
    place.run(&["run", "small.toml"]).with(0);
    let before = place.read("small.out/results.json");
    let refused = place.run(&["run", "small.toml", "--seed", "2"]).with(1);
    assert!(
        refused.stderr.contains("-o DIR") && refused.stderr.contains("--overwrite"),
        "{}",
        refused.stderr
    );
    assert_eq!(place.read("small.out/results.json"), before);
    place
        .run(&["run", "small.toml", "--seed", "2", "-o", "two"])
        .with(0);
    place
        .run(&["run", "small.toml", "--seed", "2", "--overwrite"])
        .with(0);
    assert_eq!(
        place.read("small.out/results.json"),
        place.read("two/results.json")
    );
}

#[test]
fn set_seed_and_length_are_put_over_the_file() {
    let place = Place::new("set");
    place.file("small.toml", SMALL);
    let set = [
        "run",
        "small.toml",
        "--set",
        "traffic.load=0.2",
        "--seed",
        "5",
        "--until",
        "200us",
        "--format",
        "json",
    ];
    let json = place.run(&set).json();
    assert_eq!(json["seed"], 5);
    assert!(
        (json["length_ns"].as_f64().unwrap() - 200_000.0).abs() < 10.0,
        "to the tick"
    );
    assert!((json["total"]["offered_load"].as_f64().unwrap() - 0.2).abs() < 0.03);
    let wrong = place
        .run(&["run", "small.toml", "--set", "traffic.laod=0.2"])
        .with(3);
    assert!(
        wrong.stderr.contains("--set traffic.laod=0.2"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn partitions_threads_and_twins_change_no_byte() {
    let place = Place::new("same");
    place.file("small.toml", SMALL);
    let variants: &[&[&str]] = &[
        &["--partitions", "1"],
        &["--partitions", "2"],
        &["--partitions", "7"],
        &["--partitions", "7", "--threads", "2"],
        &["--reference"],
        &["--reference", "--partitions", "2", "--threads", "2"],
    ];
    let mut first: Option<Vec<String>> = None;
    for (number, variant) in variants.iter().enumerate() {
        let folder = format!("v{number}");
        let arguments = [&["run", "small.toml", "-o", &folder], *variant].concat();
        place.run(&arguments).with(0);
        let files = [
            "results.json",
            "results.csv",
            "series.csv",
            "links.csv",
            "resolved.toml",
        ];
        let bytes: Vec<String> = files
            .iter()
            .map(|file| place.read(&format!("{folder}/{file}")))
            .collect();
        assert_eq!(
            first.get_or_insert_with(|| bytes.clone()),
            &bytes,
            "{variant:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_stores_what_there_is() {
    let place = Place::new("interrupt");
    place.file("small.toml", SMALL);
    let arguments = [
        "run",
        "small.toml",
        "--until",
        "100s",
        "--format",
        "json",
        "--progress",
        "json",
    ];
    let mut command = place.command(&arguments);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Its first line of progress says that it runs.
    let mut progress = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut progress, &mut line).unwrap();
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["event"], "progress");
    std::thread::sleep(Duration::from_millis(500));
    let began = Instant::now();
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    // Somebody must read what it says meanwhile.
    let reader = std::thread::spawn(move || {
        std::io::Read::read_to_string(&mut progress, &mut String::new())
    });
    let ended = Ended::new(child.wait_with_output().unwrap());
    reader.join().unwrap().unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "a stop within an epoch"
    );
    let json = ended.with(130).json();
    assert_eq!(json["status"], "interrupted");
    let length = json["length_ns"].as_f64().unwrap();
    assert!(length > 0.0 && length < 100e9);
    assert!(json["total"]["delivered_messages"].as_u64().unwrap() > 0);
    assert!(place.read("small.out/results.csv").lines().count() > 1);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let place = Place::new("pipe");
    for arguments in [
        &["list"][..],
        &["schema"],
        &["completions", "bash"],
        &["explain", "exit-codes"],
    ] {
        let mut child = place
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = Ended::new(child.wait_with_output().unwrap()).with(0);
        assert_eq!(ended.stderr, "");
    }
}

#[test]
fn seeds_are_summed_up() {
    let place = Place::new("seeds");
    place.file("small.toml", SMALL);
    let run = [
        "run",
        "small.toml",
        "--set",
        "measure.repeat=3",
        "--format",
        "json",
    ];
    let json = place.run(&run).json();
    assert_eq!(json["over_seeds"]["seeds"], serde_json::json!([1, 2, 3]));
    assert_eq!(json["repeats"].as_array().unwrap().len(), 2);
    assert!(
        json["over_seeds"]["total"]["latency_mean_ns"]["half_width"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    let totals = place
        .read("small.out/results.csv")
        .lines()
        .filter(|line| line.contains(",total,"))
        .count();
    assert_eq!(totals, 3);
}

#[test]
fn fabrics_paths_and_packets_can_be_looked_at() {
    let place = Place::new("look");
    place.file("small.toml", SMALL).file("ring.toml", RING);
    let stats = place.run(&["topo", "stats", "small.toml"]).with(0).stdout;
    assert!(
        stats.contains("switches") && stats.contains("12"),
        "{stats}"
    );
    assert_eq!(
        place
            .run(&["topo", "show", "small.toml"])
            .with(0)
            .stdout
            .lines()
            .count(),
        13
    );
    // What is exported reads back to a fabric with the same numbers.
    let graph = place.run(&["topo", "export", "small.toml"]).with(0).stdout;
    place.file("fabric.txt", &graph);
    let as_graph = SMALL.replace(
        "kind = \"fat-tree\"\narity = 2\nlevels = 3",
        "kind = \"graph\"\nfile = \"fabric.txt\"",
    );
    place.file("graph.toml", &as_graph);
    assert_eq!(
        place.run(&["topo", "export", "graph.toml"]).with(0).stdout,
        graph
    );

    let path = place
        .run(&["route", "show", "small.toml", "--from", "0", "--to", "n7"])
        .with(0)
        .stdout;
    assert!(path.starts_with("n0 to n7: 5 switches"), "{path}");
    place
        .run(&["route", "show", "small.toml", "--from", "0", "--to", "8"])
        .with(1);
    let free = place.run(&["route", "check", "small.toml"]).with(0).stdout;
    assert!(free.contains("free of deadlock"), "{free}");
    let circle = place.run(&["route", "check", "ring.toml"]).with(4).stdout;
    assert!(circle.contains("circle of 5 channels"), "{circle}");

    let way = place
        .run(&["trace", "small.toml", "--packet", "0:0"])
        .with(0)
        .stdout;
    let stages: Vec<&str> = way
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        (stages[0], stages[1], stages[stages.len() - 1]),
        ("created", "injected", "delivered")
    );
    place.run(&["trace", "small.toml", "--packet", "0"]).with(1);
}

#[test]
fn everything_that_is_listed_is_explained() {
    let place = Place::new("explain");
    let listed = place.run(&["list"]).with(0).stdout;
    let kinds = listed
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let mut n = 0;
    for kind in kinds {
        let text = place.run(&["explain", kind]).with(0).stdout;
        assert!(text.contains("Example:"), "{kind}: {text}");
        n += 1;
    }
    assert!(n > 30, "{n} kinds");
    for name in [
        "E0501",
        "e0104",
        "measure.warmup",
        "traffic.load",
        "latency_p99_ns",
        "topology",
        "[qos]",
    ] {
        place.run(&["explain", name]).with(0);
    }
    let unknown = place.run(&["explain", "d-mod-l"]).with(2);
    assert!(
        unknown.stderr.contains("did you mean \"d-mod-k\""),
        "{}",
        unknown.stderr
    );
    let schema: Value = place.run(&["schema"]).with(0).json();
    assert!(schema.is_object());
}

#[test]
fn a_benchmark_prints_an_object() {
    let place = Place::new("bench");
    let bench = ["bench", "ft64", "--until", "10us", "--format", "json"];
    let json = place.run(&bench).with(0).json();
    assert_eq!(
        (&json["fabric"], &json["hosts"]),
        (&Value::from("ft64"), &Value::from(64))
    );
    for key in [
        "events",
        "packet_hops",
        "wall_seconds",
        "digest",
        "threads",
        "partitions",
        "setup_seconds",
    ] {
        assert!(!json[key].is_null(), "{key}");
    }
    let halves = place
        .run(&[&bench[..], &["--partitions", "2", "--threads", "2"]].concat())
        .with(0)
        .json();
    assert_eq!(halves["digest"], json["digest"]);
    assert_eq!(halves["partitions"], 2);
    assert_eq!(
        std::fs::read_dir(&place.0).unwrap().count(),
        0,
        "a benchmark leaves nothing behind"
    );
}

#[test]
fn a_changed_flow_list_is_another_run() {
    let folder = std::env::temp_dir().join(format!("netloom-flows-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("flows.toml");
    std::fs::write(
        &file,
        "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 4\n\
         [[traffic]]\nflows = \"flows.csv\"\n[measure]\nlength = \"20 us\"\nwarmup = \"0 ns\"\n",
    )
    .unwrap();
    let run = |list: &str, out: &str| -> serde_json::Value {
        std::fs::write(folder.join("flows.csv"), list).unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_netloom"))
            .args([
                "run",
                file.to_str().unwrap(),
                "--format",
                "json",
                "--progress",
                "none",
                "-o",
            ])
            .arg(folder.join(out))
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    };
    let head = "time,source,destination,bytes,sl\n";
    let one = run(&format!("{head}1 us,0,1,2048,0\n2 us,2,3,2048,0\n"), "one");
    let two = run(&format!("{head}1 us,0,1,2048,0\n2 us,2,1,4096,0\n"), "two");
    assert_eq!(one["counters"]["delivered_packets"], 2);
    assert_ne!(one["run_id"], two["run_id"]);
    assert_ne!(one["digest"], two["digest"]);
    std::fs::remove_dir_all(&folder).unwrap();
}

//! `netloom trace` through the binary: the packets that it finds, and the format for other
//! programs.

mod place;

use place::Place;
use serde_json::Value;

fn demo(name: &str) -> Place {
    let place = Place::new(name);
    place.run(&["init", "--template", "fat-tree", "."]).with(0);
    place
}

const SHORT: [&str; 4] = ["--until", "20us", "--set", "measure.warmup=2us"];

#[test]
fn the_slowest_packets_are_the_same_however_the_fabric_is_cut() {
    let place = demo("trace-slowest");
    let trace = |more: &[&str]| {
        let arguments = [
            &["trace", "fat-tree.toml", "--slowest", "3"],
            &SHORT[..],
            more,
        ]
        .concat();
        place.run(&arguments).with(0).stdout
    };
    let whole = trace(&[]);
    assert_eq!(whole.matches("delivered").count(), 3, "{whole}");
    assert_eq!(whole, trace(&["--partitions", "4"]));
    // No packet of the run takes longer than the first.
    let run = [
        "run",
        "fat-tree.toml",
        "--format",
        "json",
        "--progress",
        "none",
    ];
    let run = place.run(
        &[
            &run[..],
            &["--until", "20us", "--set", "measure.warmup=0us"],
        ]
        .concat(),
    );
    let longest = &run.json()["classes"][0]["latency_max_ns"];
    let title = whole.lines().next().unwrap();
    assert!(
        title.contains(" to ") && title.ends_with("us"),
        "{title} {longest}"
    );
}

#[test]
fn perfetto_has_a_track_for_each_packet_without_gaps() {
    let place = demo("trace-perfetto");
    let arguments = [
        &[
            "trace",
            "fat-tree.toml",
            "--packet",
            "0:0",
            "--packet",
            "3:1",
            "--format",
            "perfetto",
        ],
        &SHORT[..],
    ]
    .concat();
    let document = place.run(&arguments).with(0).json();
    let events = document["traceEvents"].as_array().unwrap();
    let tracks: Vec<&Value> = events.iter().filter(|event| event["ph"] == "M").collect();
    assert_eq!(tracks.len(), 3, "a process and two packets");
    for track in 1..=2 {
        let own: Vec<&Value> = events
            .iter()
            .filter(|event| event["ph"] == "X" && event["tid"] == track)
            .collect();
        assert!(own.len() > 4);
        for pair in own.windows(2) {
            let [ts, dur] = ["ts", "dur"].map(|key| pair[0][key].as_f64().unwrap());
            let next = pair[1]["ts"].as_f64().unwrap();
            assert!((ts + dur - next).abs() < 1e-6, "{pair:?}");
        }
    }
    place
        .run(&["trace", "fat-tree.toml", "--slowest", "17"])
        .with(2);
    place.run(&["trace", "fat-tree.toml"]).with(2);
    for packet in ["5", "3:x", "3:"] {
        let wrong = place.run(&["trace", "fat-tree.toml", "--packet", packet]);
        assert!(wrong.with(2).stderr.contains("expected "), "{packet}");
    }
}

//! The same plan for Ethernet: SONiC, dcb, tc.

use super::place::Place;

const NEEDS: &str = r#"
netloom = 1
[topology]
kind = "single-switch"
ports = 4

[[plan.class]]
name = "storage"
share = 0.5
dscp = 26
[[plan.class]]
name = "cnp"
share = 0.05
dscp = 48
deadline = "50 us"
[[plan.class]]
name = "tcp"
share = 0.45
"#;

#[test]
fn sonic_sorts_by_dscp_and_puts_the_rest_into_a_lossy_queue() {
    let place = Place::new("ethernet-sonic");
    place.file("plan.toml", NEEDS);
    let sonic = [
        "site",
        "export",
        "sonic",
        "plan.toml",
        "--port",
        "Ethernet0",
    ];
    let lossy = [&sonic[..], &["--lossy", "tcp"]].concat();
    let ended = place.run(&lossy).with(0);
    assert!(
        ended
            .stderr
            .contains("unclassified packets: queue 2, shared with tcp"),
        "{}",
        ended.stderr
    );
    let database: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let maps = &database["PORT_QOS_MAP"]["Ethernet0"];
    assert_eq!(maps["pfc_enable"], "0,1");
    let classes = &database["DSCP_TO_TC_MAP"][maps["dscp_to_tc_map"].as_str().unwrap()];
    let queues = &database["TC_TO_QUEUE_MAP"][maps["tc_to_queue_map"].as_str().unwrap()];
    for dscp in 0..64 {
        let class = classes[dscp.to_string()].as_str().unwrap();
        let expected = match dscp {
            26 => "0",
            48 => "1",
            _ => "2",
        };
        assert_eq!(queues[class], expected, "DSCP {dscp}");
    }
    // Without a lossy class, packets without a class get their own queue, and tcp needs a code
    // point.
    let stderr = place.run(&sonic).with(1).stderr;
    assert!(stderr.contains("no DSCP for tcp"), "{stderr}");
    place.file("plan.toml", &format!("{NEEDS}dscp = [0, 8]\n"));
    let ended = place.run(&sonic).with(0);
    assert!(
        ended
            .stderr
            .contains("unclassified packets: queue 3, a lossy queue with 1 % of the link"),
        "{}",
        ended.stderr
    );
}

#[test]
fn dcb_gives_every_code_point_a_priority() {
    let place = Place::new("ethernet-dcb");
    place.file("plan.toml", NEEDS);
    let dcb = [
        "site",
        "export",
        "dcb",
        "plan.toml",
        "--port",
        "eth0",
        "--lossy",
        "tcp",
    ];
    let ended = place.run(&dcb).with(0);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ended.stdout);
    assert!(
        lines[0].ends_with("prio-tc 0:0 1:1 2:2 3:2 4:2 5:2 6:2 7:2"),
        "{}",
        lines[0]
    );
    assert_eq!(lines[1], "dcb pfc set dev eth0 prio-pfc all:off 0:on 1:on");
    let (head, map) = lines[2].split_once(" dscp-prio ").unwrap();
    assert_eq!(head, "dcb app replace dev eth0 default-prio 2");
    let expected: Vec<String> = (0..64)
        .map(|dscp| match dscp {
            26 => "26:0".to_owned(),
            48 => "48:1".to_owned(),
            dscp => format!("{dscp}:2"),
        })
        .collect();
    assert_eq!(map, expected.join(" "));
}

#[test]
fn mistakes_of_code_points_are_reported_together_with_their_lines() {
    let place = Place::new("ethernet-dscp");
    let wrong = NEEDS.replace("dscp = 48", "dscp = [26, 64]");
    place.file("plan.toml", &wrong);
    let stderr = place.run(&["plan", "plan.toml"]).with(3).stderr;
    for expected in [
        "64 is out of range",
        "two classes have DSCP 26",
        "plan.toml:14",
    ] {
        assert!(stderr.contains(expected), "{expected}\n{stderr}");
    }
}

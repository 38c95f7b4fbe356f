//! The example `in_memory` reads and writes no file of its own.

#![cfg(unix)]

use std::process::Command;

#[allow(unreachable_pub)]
#[path = "../examples/in_memory.rs"]
mod example;

#[test]
#[ignore = "run by the other test in a process that cannot write"]
fn the_example() {
    example::main();
}

#[test]
fn it_writes_nothing() {
    let place = std::env::temp_dir().join(format!("netloom-in-memory-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    // With this limit, a process that writes to a file is killed. Standard output is a pipe.
    let output = Command::new("sh")
        .args(["-c", "ulimit -f 0 && exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["the_example", "--exact", "--ignored", "--nocapture"])
        .env("HOME", &place)
        .env("TMPDIR", &place)
        .current_dir(&place)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    // An empty folder can be removed.
    std::fs::remove_dir(&place).unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let own = printed.lines().filter(|line| line.ends_with(" ns"));
    let shown: Vec<Vec<&str>> = own.map(|line| line.split_whitespace().collect()).collect();
    let words: Vec<_> = shown
        .iter()
        .map(|line| line[..line.len() - 2].join(" "))
        .collect();
    let expected = [
        "control",
        "bulk",
        "turns control",
        "turns bulk",
        "weights control",
        "weights bulk",
    ];
    assert_eq!(words, expected, "{printed}");
    // With weights, control traffic has what it offers.
    let p99 = |line: usize| -> f64 { shown[line][shown[line].len() - 2].parse().unwrap() };
    assert!(p99(4) < p99(2), "{printed}");
    for part in [
        "turns",
        "control  latency_p99_ns",
        "ib-two-table at 100 Gbps, 8 entries per table",
    ] {
        let after = printed
            .split_once("weights  bulk")
            .map_or("", |(_, after)| after);
        assert!(after.contains(part), "{part}: {printed}");
    }
}

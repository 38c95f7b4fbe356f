//! Runs the program: the shares of lanes follow their tickets.

use std::process::Command;

#[test]
fn the_rich_lane_gets_three_quarters() {
    let output = Command::new(env!("CARGO_BIN_EXE_own-arbiter"))
        .output()
        .expect("the program starts");
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(
        output.status.success(),
        "{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let share = printed
        .split("share of the rich lane: ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let share: f64 = share
        .and_then(|share| share.parse().ok())
        .unwrap_or_else(|| panic!("no share in: {printed}"));
    assert!((share - 0.75).abs() < 0.02, "{share}");
}

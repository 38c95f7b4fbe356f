//! Runs an experiment with an arbiter from outside of netloom.

mod lottery;

use lottery::Lottery;
use netloom::arbitration::Policy;
use netloom::catalog::kind;
use netloom::{Control, Kinds, Request, RunOptions, load, render, run};

/// Two lanes offer more than a link can carry. Lane 0 has three tickets, lane 1 has one.
const EXPERIMENT: &str = r#"
netloom = 1
name = "lottery"

[topology]
kind = "single-switch"
ports = 8

[switch]
speedup = 2

[qos]
vls = 2
arbiter = { kind = "lottery", tickets = [3, 1] }

[[traffic]]
name = "rich"
sl = 0
load = 0.8
sources = [1, 2]
pattern = { kind = "pairs", pairs = [[1, 0], [2, 0]] }

[[traffic]]
name = "poor"
sl = 1
load = 0.8
sources = [3, 4]
pattern = { kind = "pairs", pairs = [[3, 0], [4, 0]] }

[measure]
length = "2 ms"
"#;

fn main() {
    // This is the only registration.
    let kinds = Kinds::default().with_arbiter(kind!(Lottery, dyn Policy));
    let loaded = load(&Request {
        kinds: &kinds,
        ..Request::new("lottery.toml", EXPERIMENT)
    });
    let experiment = loaded
        .experiment
        .unwrap_or_else(|| panic!("{}", render(&loaded.document, &loaded.notes, false)));
    let result = run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    let classes = &result.document.run.classes;
    let delivered: Vec<f64> = classes
        .iter()
        .map(|class| class.summary.delivered_load)
        .collect();
    let share = delivered[0] / (delivered[0] + delivered[1]);
    for (class, load) in ["rich", "poor"].iter().zip(&delivered) {
        println!("{class}: {:.3} of a link delivered per host", load);
    }
    println!("share of the rich lane: {share:.3} (tickets: 0.750)");
    assert!((share - 0.75).abs() < 0.02, "the share follows the tickets");
}

//! Runs a benchmark fabric for so many microseconds and prints its packet-hops: what `.ci/instructions` counts
//! under callgrind. The command line does the same with clocks, and takes minutes longer to compile.
//!
//! ```text
//! cargo run --release -p netloom-experiment --example bench_hops -- ft64 100
//! ```

use netloom_experiment::bench::bench_fabric;
use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Request, load};
use netloom_units::Time;

fn main() {
    let mut words = std::env::args().skip(1);
    let fabric = words.next().expect("the name of a fabric");
    let micros: u64 = words
        .next()
        .and_then(|word| word.parse().ok())
        .expect("a number of microseconds");
    let text = bench_fabric(&fabric).expect("a benchmark fabric");
    let loaded = load(&Request {
        length: Some(Time::from_nanos(1000 * micros)),
        ..Request::new(&fabric, text)
    });
    let experiment = loaded.experiment.expect("a fabric without mistakes");
    let options = RunOptions {
        tables: false,
        ..RunOptions::default()
    };
    let result = run(&experiment, &options, &mut |_| Control::Continue);
    println!("{}", result.document.run.counters.packet_hops);
}

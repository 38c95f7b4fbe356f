//! Compares the switches of paper 000 with a second model, written from the text of the paper.
//!
//! `model.rs` and netloom get the same loads, and each draws its own traffic. What the paper leaves
//! open is the same in both: latencies of stages, Valiant up to the common ancestor, four
//! connections per class and NIC, and rates inside the hierarchical switch.
//!
//! By default there is one seed and the windows are short. `NETLOOM_PEERS=all` runs five seeds of
//! 400 us after 100 us, as in the paper's scenarios.

mod model;

use model::{CLASSES, CYCLE_NS, Model, Switch};
use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Request, load};

const FLAT: (&str, &str) = ("s000_1.toml", include_str!("../../papers/000/s000_1.toml"));
const HIERARCHICAL: (&str, &str) = ("s000_2.toml", include_str!("../../papers/000/s000_2.toml"));

const NAMES: [&str; CLASSES] = ["NC", "VO", "VI", "CL", "EE", "BE", "BK"];

/// Loads of NC, VO, VI, CL, EE, BE and BK: 0.70 in all.
const AT_70: [f64; CLASSES] = [
    0.01,
    0.016,
    0.23,
    0.28,
    0.164 / 3.0,
    0.164 / 3.0,
    0.164 / 3.0,
];

/// What is run, in the model and in netloom.
struct Case {
    switch: Switch,
    keys: &'static [&'static str],
    loads: [f64; CLASSES],
    /// End of the run in microseconds, unless everything is run.
    end_us: u32,
    /// Largest relative difference of the latency of a class, and the one of long runs.
    tolerance: f64,
    long_tolerance: f64,
}

struct Windows {
    seeds: u64,
    warmup_us: u32,
    end_us: u32,
}

fn is_all() -> bool {
    std::env::var("NETLOOM_PEERS").is_ok_and(|which| which == "all")
}

impl Case {
    fn windows(&self) -> Windows {
        let (seeds, warmup_us, end_us) = if is_all() {
            (5, 100, 500)
        } else {
            (1, 20, self.end_us)
        };
        Windows {
            seeds,
            warmup_us,
            end_us,
        }
    }
}

/// Mean latencies of the classes in nanoseconds, over the seeds.
fn of_the_model(case: &Case) -> [f64; CLASSES] {
    let windows = case.windows();
    let cycles = |us: u32| (f64::from(us) * 1000.0 / CYCLE_NS) as usize;
    let mut means = [0.0; CLASSES];
    for seed in 1..=windows.seeds {
        let model = Model::new(case.switch, seed);
        let (warmup, end) = (cycles(windows.warmup_us), cycles(windows.end_us));
        let latencies = model.run(case.loads, warmup, end);
        for (mean, latency) in means.iter_mut().zip(latencies) {
            *mean += latency / windows.seeds as f64;
        }
    }
    means
}

/// The same from netloom.
fn of_netloom(case: &Case) -> [f64; CLASSES] {
    let (windows, file) = (case.windows(), case.switch.file());
    let mut sets: Vec<String> = case.keys.iter().map(|key| (*key).to_owned()).collect();
    sets.push(format!("measure.warmup={} us", windows.warmup_us));
    sets.push(format!("measure.length={} us", windows.end_us));
    let of_class = |(class, load)| format!("traffic.{class}.load={load}");
    sets.extend(case.loads.iter().enumerate().map(of_class));
    let mut means = [0.0; CLASSES];
    for seed in 1..=windows.seeds {
        let loaded = load(&Request {
            sets: &sets,
            seed: Some(seed),
            ..Request::new(file.0, file.1)
        });
        let said = render(&loaded.document, &loaded.notes, false);
        let experiment = loaded.experiment.unwrap_or_else(|| panic!("{said}"));
        let options = RunOptions {
            tables: false,
            ..RunOptions::default()
        };
        let run = run(&experiment, &options, &mut |_| Control::Continue)
            .document
            .run;
        for (class, name) in NAMES.iter().enumerate() {
            let summary = &run.classes[class];
            assert_eq!(summary.class, *name);
            let latency = summary.summary.latency_mean_ns.expect("messages");
            means[class] += latency / windows.seeds as f64;
        }
    }
    means
}

impl Switch {
    /// The experiment of netloom with this switch.
    fn file(self) -> (&'static str, &'static str) {
        match self {
            Switch::OneInput | Switch::PerLane => FLAT,
            Switch::Hierarchical => HIERARCHICAL,
        }
    }
}

fn compare(case: &Case) {
    let (model, netloom) = (of_the_model(case), of_netloom(case));
    let tolerance = if is_all() {
        case.long_tolerance
    } else {
        case.tolerance
    };
    let mut wrong = vec![];
    for (class, name) in NAMES.iter().enumerate() {
        let (there, here) = (model[class], netloom[class]);
        let off = 100.0 * (here / there - 1.0);
        let line = format!("{name}: {there:.1} ns there, {here:.1} ns here, {off:+.1} %");
        println!("{line}");
        if off.abs() > 100.0 * tolerance {
            wrong.push(line);
        }
    }
    let band = 100.0 * tolerance;
    assert!(wrong.is_empty(), "expected {band} %\n{}", wrong.join("\n"));
}

#[test]
fn flat_switch_at_load_70() {
    compare(&Case {
        switch: Switch::PerLane,
        keys: &[],
        loads: AT_70,
        end_us: 80,
        tolerance: 0.1,
        long_tolerance: 0.05,
    });
}

#[test]
fn flat_switch_at_load_7() {
    compare(&Case {
        switch: Switch::PerLane,
        keys: &[],
        loads: AT_70.map(|load| load / 10.0),
        end_us: 320,
        tolerance: 0.05,
        long_tolerance: 0.02,
    });
}

#[test]
fn hierarchical_switch_at_load_70() {
    compare(&Case {
        switch: Switch::Hierarchical,
        keys: &[],
        loads: AT_70,
        end_us: 80,
        tolerance: 0.1,
        long_tolerance: 0.05,
    });
}

#[test]
fn hierarchical_switch_at_load_7() {
    compare(&Case {
        switch: Switch::Hierarchical,
        keys: &[],
        loads: AT_70.map(|load| load / 10.0),
        end_us: 320,
        tolerance: 0.05,
        long_tolerance: 0.02,
    });
}

/// The former reading of the flat switch: a message that crosses holds its input.
#[test]
fn flat_switch_with_held_inputs_at_load_70() {
    compare(&Case {
        switch: Switch::OneInput,
        keys: &["switch.input-ports=one"],
        loads: AT_70,
        end_us: 60,
        tolerance: 0.1,
        long_tolerance: 0.1,
    });
}

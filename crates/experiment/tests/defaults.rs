//! No default collapses: fabrics, switches and routings with default keys over uniform, tornado,
//! permutation and adversarial traffic, with short and long cables.
//!
//! The test lists every switch that delivers less than half of what a crossbar switch delivers with
//! the same routing, and every default routing that delivers less than half of the best one on that
//! fabric and traffic. Cases of [`KNOWN`] are allowed, each with its cause.
//!
//! `NETLOOM_DEFAULTS=all` runs all cases (minutes) and also lists the entries of [`KNOWN`] that no
//! case needs. Otherwise a sample runs.

use std::collections::BTreeSet;
use std::fmt::Write;

use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Request, load};

struct Fabric {
    name: &'static str,
    topology: &'static str,
    /// Ports of a tiled switch, as keys of the topology or of the switch.
    tiled: [&'static str; 2],
    /// The first one is the default.
    routings: &'static [&'static str],
    adversarial: &'static str,
    tornado: &'static str,
    /// The class of the long cables, or nothing if all are long.
    long: &'static str,
}

const TREE: &[&str] = &[
    "\"d-mod-k\"",
    "\"random-up\"",
    "\"ecmp\"",
    "{ kind = \"ecmp\", choice = \"spray\" }",
    "{ kind = \"ecmp\", choice = \"least\" }",
    "\"up-down\"",
    "\"shortest\"",
];
const GRID: &[&str] = &["\"dimension-order\"", "\"up-down\""];
const GROUPS: &[&str] = &[
    "\"minimal\"",
    "\"valiant\"",
    "\"ugal\"",
    "{ kind = \"ugal\", knowledge = \"global\" }",
    "\"par-ugal\"",
    "\"par\"",
];
const LEVELS: &[&str] = GROUPS.split_at(4).0;

const FABRICS: [Fabric; 7] = [
    Fabric {
        name: "fat tree of 16",
        topology: "kind = \"fat-tree\"\narity = 4\nlevels = 2",
        tiled: ["", ""],
        routings: TREE,
        adversarial: "{ kind = \"neighbour\", offset = 4 }",
        tornado: "{ kind = \"tornado\", hosts = 4, dimensions = [4] }",
        long: "",
    },
    Fabric {
        name: "fat tree of 64",
        topology: "kind = \"fat-tree\"\narity = 4\nlevels = 3",
        tiled: ["", ""],
        routings: TREE,
        adversarial: "{ kind = \"neighbour\", offset = 16 }",
        tornado: "{ kind = \"tornado\", hosts = 4, dimensions = [16] }",
        long: "",
    },
    Fabric {
        name: "torus of 32",
        topology: "kind = \"torus\"\nsides = [8, 4]\nhosts = 1",
        tiled: ["", "ports = 6"],
        routings: GRID,
        adversarial: "\"bit-complement\"",
        tornado: "{ kind = \"tornado\", dimensions = [8, 4] }",
        long: "",
    },
    Fabric {
        name: "mesh of 32",
        topology: "kind = \"mesh\"\nsides = [8, 4]\nhosts = 1",
        tiled: ["", "ports = 6"],
        routings: GRID,
        adversarial: "\"bit-complement\"",
        tornado: "{ kind = \"tornado\", dimensions = [8, 4] }",
        long: "",
    },
    Fabric {
        name: "hypercube of 32",
        topology: "kind = \"hypercube\"\ndimensions = 5\nhosts = 1",
        tiled: ["", "ports = 6"],
        routings: GRID,
        adversarial: "\"bit-complement\"",
        tornado: "\"tornado\"",
        long: "",
    },
    Fabric {
        name: "dragonfly of 72",
        topology: "kind = \"dragonfly\"\nhosts = 2\nswitches = 4\nglobals = 2",
        tiled: ["ports = 8", ""],
        routings: GROUPS,
        adversarial: "{ kind = \"neighbour\", offset = 8 }",
        tornado: "{ kind = \"tornado\", hosts = 2 }",
        long: "class.global.",
    },
    Fabric {
        name: "megafly of 20",
        topology: "kind = \"megafly\"\nhosts = 2\nleaves = 2\nspines = 2\nglobals = 2",
        tiled: ["", ""],
        routings: LEVELS,
        adversarial: "{ kind = \"neighbour\", offset = 4 }",
        tornado: "{ kind = \"tornado\", hosts = 4, dimensions = [5] }",
        long: "class.global.",
    },
];

const SWITCHES: [(&str, &str); 6] = [
    (CROSSBAR, ""),
    ("cioq, speed-up 2", "speedup = 2"),
    ("voq", "speedup = 2\nqueues = \"voq\""),
    ("iq", "kind = \"iq\""),
    ("hierarchical", "kind = \"hierarchical\""),
    ("tiled", "kind = \"tiled\"\nrows = 2\ncolumns = 2"),
];
const CROSSBAR: &str = "cioq";

const TRAFFIC: [&str; 4] = ["uniform", "permutation", "tornado", "adversarial"];

/// The round trip of a long cable exceeds the least buffer of a tiled port.
const CABLES: [(&str, &str); 2] = [("short", ""), ("long", "500 ns")];

/// Cases below half, with their cause. An empty field stands for all values.
struct Known {
    fabric: &'static str,
    routing: &'static str,
    traffic: &'static str,
    cables: &'static str,
    switch: &'static str,
    cause: &'static str,
}

const KNOWN: &[Known] = &[
    Known {
        fabric: "dragonfly of 72",
        routing: "\"minimal\"",
        traffic: "adversarial",
        cables: "",
        switch: CROSSBAR,
        cause: "The minimal paths of a group share one global link, and the default keeps the \
                order of packets.",
    },
    Known {
        fabric: "megafly of 20",
        routing: "\"minimal\"",
        traffic: "adversarial",
        cables: "",
        switch: CROSSBAR,
        cause: "As on the dragonfly.",
    },
];

impl Known {
    fn is(&self, unit: &Unit, routing: &str, switch: &str) -> bool {
        [
            (self.fabric, unit.fabric.name),
            (self.routing, routing),
            (self.traffic, unit.traffic),
            (self.cables, unit.cables.0),
            (self.switch, switch),
        ]
        .iter()
        .all(|(wanted, is)| wanted.is_empty() || wanted == is)
    }
}

/// A fabric with its traffic and cables.
struct Unit {
    fabric: &'static Fabric,
    traffic: &'static str,
    cables: (&'static str, &'static str),
}

impl Unit {
    fn text(&self, routing: &str, (switch, keys): (&str, &str)) -> String {
        let fabric = self.fabric;
        let is_tiled = switch == "tiled";
        let [of_topology, of_switch] = if is_tiled { fabric.tiled } else { ["", ""] };
        let pattern = match self.traffic {
            "tornado" => fabric.tornado.to_owned(),
            "adversarial" => fabric.adversarial.to_owned(),
            name => format!("\"{name}\""),
        };
        let mut text = format!(
            "netloom = 1\n[topology]\n{}\n{of_topology}\n[switch]\n{keys}\n{of_switch}\n",
            fabric.topology
        );
        if !self.cables.1.is_empty() {
            let (class, delay) = (fabric.long, self.cables.1);
            writeln!(text, "[link]\n{class}delay = \"{delay}\"").unwrap();
        }
        write!(
            text,
            "[routing]\n{}\n[[traffic]]\nload = 0.6\npattern = {pattern}\n\
             [measure]\nwarmup = \"20 us\"\nlength = \"60 us\"\n",
            match routing.strip_prefix("{ ") {
                Some(table) => table.trim_end_matches(" }").replace(", ", "\n"),
                None => format!("kind = {routing}"),
            }
        )
        .unwrap();
        text
    }

    /// Returns the delivered load; `None` if the file is not valid, as with a routing that the
    /// switch does not support. A crossbar supports the default.
    fn delivered(&self, routing: &str, switch: (&str, &str)) -> Option<f64> {
        let text = self.text(routing, switch);
        let loaded = load(&Request::new("test.toml", &text));
        let Some(experiment) = loaded.experiment else {
            let is_default = routing == self.fabric.routings[0];
            let words = render(&loaded.document, &loaded.notes, false);
            assert!(!is_default || switch.0 != CROSSBAR, "{text}{words}");
            return None;
        };
        let options = RunOptions {
            tables: false,
            ..RunOptions::default()
        };
        let result = run(&experiment, &options, &mut |_| Control::Continue);
        Some(result.document.run.total.delivered_load)
    }
}

/// The cases below half that are not known, and the entries of [`KNOWN`] that were needed.
#[derive(Default)]
struct Findings {
    list: Vec<String>,
    needed: BTreeSet<usize>,
    n_cases: usize,
}

impl Findings {
    fn judge(&mut self, unit: &Unit, routing: &str, switch: &str, (has, best): (f64, f64)) {
        self.n_cases += 1;
        if has >= best / 2.0 {
            return;
        }
        let known = KNOWN
            .iter()
            .position(|known| known.is(unit, routing, switch));
        match known {
            Some(entry) => drop(self.needed.insert(entry)),
            None => self.list.push(format!(
                "{}, {}, {} cables, routing {routing}, switch {switch}: {has:.3} of {best:.3}",
                unit.fabric.name, unit.traffic, unit.cables.0
            )),
        }
    }

    /// Runs all routings of a unit on crossbars, and on other switches: all, or one per routing.
    fn measure(&mut self, unit: &Unit, other: Option<usize>) {
        let crossbar = SWITCHES[0];
        let with = |&routing: &&'static str| Some((routing, unit.delivered(routing, crossbar)?));
        let delivered: Vec<(&str, f64)> = unit.fabric.routings.iter().filter_map(with).collect();
        let best = delivered.iter().map(|it| it.1).fold(0.0, f64::max);
        let (default, has) = delivered[0];
        self.judge(unit, default, CROSSBAR, (has, best));
        for (index, &(routing, reference)) in delivered.iter().enumerate() {
            for (at, &switch) in SWITCHES.iter().enumerate().skip(1) {
                let is_chosen = other.is_none_or(|other| 1 + (other + index) % 5 == at);
                let has = is_chosen.then(|| unit.delivered(routing, switch)).flatten();
                if let Some(has) = has {
                    self.judge(unit, routing, switch.0, (has, reference));
                }
            }
        }
    }
}

#[test]
fn no_default_collapses() {
    let is_all = std::env::var("NETLOOM_DEFAULTS").is_ok_and(|which| which == "all");
    let mut findings = Findings::default();
    let units = FABRICS.iter().flat_map(|fabric| {
        let traffic = TRAFFIC.iter().map(move |traffic| (fabric, *traffic));
        traffic.flat_map(|(fabric, traffic)| {
            CABLES.map(|cables| Unit {
                fabric,
                traffic,
                cables,
            })
        })
    });
    for (index, unit) in units.enumerate() {
        // Coprime to the number of fabrics, of traffics and of cables in a row.
        if is_all {
            findings.measure(&unit, None);
        } else if index % 9 == 2 {
            findings.measure(&unit, Some(index));
        }
    }
    println!("{} cases", findings.n_cases);
    if is_all {
        let needless = (0..KNOWN.len()).filter(|entry| !findings.needed.contains(entry));
        let needless = needless.map(|entry| format!("not needed: {}", KNOWN[entry].cause));
        findings.list.extend(needless);
    }
    assert!(findings.list.is_empty(), "\n{}", findings.list.join("\n"));
}

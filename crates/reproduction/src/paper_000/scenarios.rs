//! The runs: which fabrics, switches and loads, and for how long.

use std::borrow::Cow;

use crate::{Results, Run, Size, Span, Variation};

/// A switch, or another build of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Switch {
    /// InfiniBand, one flit per cycle over each crossbar port.
    Ib,
    /// The same with two.
    Ib2x,
    /// Omni-Path, internal links of three flits per cycle.
    Opa,
    /// The same with one.
    OpaX1,
    /// Six internal links of one flit per cycle instead of two of three (the option of G000-16).
    Opa6X1,
}

impl Switch {
    /// Whether it has a level of crossbars more.
    pub(super) fn is_hierarchical(self) -> bool {
        !matches!(self, Switch::Ib | Switch::Ib2x)
    }

    /// What is set over the file of its kind.
    fn sets(self) -> &'static [&'static str] {
        match self {
            Switch::Ib | Switch::Opa => &[],
            Switch::Ib2x => &["switch.speedup=2"],
            Switch::OpaX1 => &["switch.mport-speedup=1", "switch.central-speedup=1"],
            Switch::Opa6X1 => &[
                "switch.central-links=6",
                "switch.mport-speedup=1",
                "switch.central-speedup=1",
            ],
        }
    }

    /// Where only one question is asked of it, a few loads answer it.
    fn has_few_loads(self) -> bool {
        matches!(self, Switch::OpaX1 | Switch::Opa6X1)
    }
}

/// A fabric and the switches that are run on it.
pub(super) struct Fabric {
    /// Its name.
    pub(super) name: &'static str,
    /// A torus, or a tree.
    is_torus: bool,
    /// What is set over the file of its kind.
    sets: &'static [&'static str],
    /// The names of its series.
    series: &'static [(Switch, &'static str)],
}

pub(super) const TREE_3: Fabric = Fabric {
    name: "4-ary 3-tree",
    is_torus: false,
    sets: &[],
    series: &[
        (Switch::Ib, "S000-1 IB"),
        (Switch::Ib2x, "S000-1 IB 2x"),
        (Switch::Opa, "S000-2 OPA"),
        (Switch::OpaX1, "S000-2 OPA x1"),
        (Switch::Opa6X1, "S000-2 OPA 6 x1"),
    ],
};
pub(super) const TREE_2: Fabric = Fabric {
    name: "24-ary 2-tree",
    is_torus: false,
    sets: &["topology.arity=24", "topology.levels=2"],
    series: &[
        (Switch::Ib, "S000-3 IB"),
        (Switch::Opa, "S000-4 OPA"),
        (Switch::OpaX1, "S000-4 OPA x1"),
        (Switch::Opa6X1, "S000-4 OPA 6 x1"),
    ],
};
pub(super) const TORUS_2: Fabric = Fabric {
    name: "2D torus",
    is_torus: true,
    sets: &[],
    series: &[(Switch::Ib, "S000-5 IB"), (Switch::Opa, "S000-6 OPA")],
};
pub(super) const TORUS_3: Fabric = Fabric {
    name: "3D torus",
    is_torus: true,
    sets: &[
        "topology.sides=[8, 8, 8]",
        "topology.hosts=4",
        "topology.trunk=4",
    ],
    series: &[(Switch::Ib, "S000-7 IB"), (Switch::Opa, "S000-8 OPA")],
};
/// Stands for the trees at CI size.
pub(super) const SMALL_TREE: Fabric = Fabric {
    name: "4-ary 2-tree",
    is_torus: false,
    sets: &["topology.levels=2"],
    series: &[
        (Switch::Ib, "S000-1 16 NICs IB"),
        (Switch::Ib2x, "S000-1 16 NICs IB 2x"),
        (Switch::Opa, "S000-2 16 NICs OPA"),
        (Switch::OpaX1, "S000-2 16 NICs OPA x1"),
        (Switch::Opa6X1, "S000-2 16 NICs OPA 6 x1"),
    ],
};
/// Stands for the tori at CI size: 4 trunks of 3 cables and 4 hosts are 16 ports.
pub(super) const SMALL_TORUS: Fabric = Fabric {
    name: "4x4 torus",
    is_torus: true,
    sets: &[
        "topology.sides=[4, 4]",
        "topology.hosts=4",
        "topology.trunk=3",
    ],
    series: &[
        (Switch::Ib, "S000-5 64 NICs IB"),
        (Switch::Opa, "S000-6 64 NICs OPA"),
    ],
};

impl Fabric {
    /// Between two loads, in ten-thousandths.
    fn step(&self) -> usize {
        match self.name {
            name if name == TORUS_3.name => 1400,
            name if name == TORUS_2.name => 700,
            _ => 350,
        }
    }

    /// The series of a switch.
    pub(super) fn series(&self, switch: Switch) -> &'static str {
        let own = self.series.iter().find(|(own, _)| *own == switch);
        own.map_or("", |(_, name)| name)
    }

    /// Whether any of it was run or should have been.
    fn is_in(&self, results: &Results) -> bool {
        let is_own = |series: &str| self.series.iter().any(|(_, own)| *own == series);
        results.outcomes.iter().any(|o| is_own(o.run.series))
            || results.lacking.iter().any(|(series, _)| is_own(series))
    }

    /// The fabric that orders are read off: the paper's, or the small one where only that was run.
    pub(super) fn or<'a>(&'a self, small: &'a Fabric, results: &Results) -> &'a Fabric {
        if !self.is_in(results) && small.is_in(results) {
            small
        } else {
            self
        }
    }

    /// The experiment of a switch, with the name of its file.
    fn experiment(&self, switch: Switch) -> (&'static str, &'static str) {
        match (self.is_torus, switch.is_hierarchical()) {
            (false, false) => ("s000_1.toml", S000_1),
            (false, true) => ("s000_2.toml", S000_2),
            (true, false) => ("s000_5.toml", S000_5),
            (true, true) => ("s000_6.toml", S000_6),
        }
    }
}

/// The scenarios, as a person can run them.
pub(super) const S000_1: &str = include_str!("../../../../experiments/papers/000/s000_1.toml");
pub(super) const S000_2: &str = include_str!("../../../../experiments/papers/000/s000_2.toml");
pub(super) const S000_5: &str = include_str!("../../../../experiments/papers/000/s000_5.toml");
pub(super) const S000_6: &str = include_str!("../../../../experiments/papers/000/s000_6.toml");

/// What the first four classes offer together, in ten-thousandths of a link.
const QOS_LOAD: u32 = 5360;
pub(super) const FIRST: f64 = 0.5735;
pub(super) const LAST: f64 = 0.9935;
pub(super) const MIDDLE: f64 = 0.7;
pub(super) const HIGH: f64 = 0.95;

/// The loads in ten-thousandths: 13 steps of 0.035 (7 of 0.07 at CI size), 0.70 where the paper prints numbers, and
/// 0.95 where C000-10 looks.
/// On tori, whose runs are the longest, every second or fourth.
pub(super) fn loads(size: Size, fabric: &Fabric, switch: Switch) -> Vec<u32> {
    let (first, last) = (5735, 9935);
    if switch.has_few_loads() {
        return vec![first, 7000, last];
    }
    let mut loads: Vec<u32> = match size {
        Size::Tiny => vec![first, last],
        Size::Ci => (first..=last).step_by(700).collect(),
        Size::Paper => (first..=last).step_by(fabric.step()).collect(),
    };
    loads.push(7000);
    if !fabric.is_torus {
        loads.push(9500);
    }
    loads.sort_unstable();
    loads
}

pub(super) fn span(size: Size) -> Span {
    match size {
        Size::Tiny => Span {
            warmup_us: 10,
            measured_us: 20,
            seeds: 2,
        },
        Size::Ci => Span {
            warmup_us: 50,
            measured_us: 100,
            seeds: 5,
        },
        // The paper gives no duration (G000-14); it averages 30 seeds.
        Size::Paper => Span {
            warmup_us: 100,
            measured_us: 400,
            seeds: 2,
        },
    }
}

/// Where another reading is tried.
struct Scope {
    on_torus: bool,
    switches: &'static [Switch],
}

fn scope(variation: &Variation) -> Scope {
    let of = |on_torus, switches| Scope { on_torus, switches };
    match variation.name {
        // About the flat crossbar.
        "voq" | "fast-crossbar" => of(false, &[Switch::Ib]),
        // About the hierarchy.
        "fast-local" => of(false, &[Switch::Opa]),
        // About rings. Inputs of an MPort share its central queues, so a dateline does not suffice there.
        "dateline" => of(true, &[Switch::Ib]),
        "two-slots" | "trunk-flow" => of(true, &[Switch::Ib, Switch::Opa]),
        _ => of(false, &[Switch::Ib, Switch::Opa]),
    }
}

/// All runs of a size; under another reading those on the first fabric that it concerns.
pub(super) fn runs(size: Size, seeds: u32, variation: Option<&'static Variation>) -> Vec<Run> {
    let fabrics: &[&Fabric] = match size {
        Size::Paper => &[&TREE_3, &TREE_2, &TORUS_2, &TORUS_3],
        Size::Ci | Size::Tiny => &[&SMALL_TREE, &SMALL_TORUS],
    };
    let scope = variation.map(scope);
    let is_wanted = |fabric: &&&Fabric| {
        let scope = scope.as_ref();
        scope.is_none_or(|scope| fabric.is_torus == scope.on_torus)
    };
    let most = if scope.is_some() { 1 } else { fabrics.len() };
    let mut runs = vec![];
    for fabric in fabrics.iter().filter(is_wanted).take(most) {
        for &(switch, series) in fabric.series {
            let is_tried = |scope: &Scope| scope.switches.contains(&switch);
            if scope.as_ref().is_none_or(is_tried) {
                runs.extend(of_series(size, seeds, variation, fabric, switch, series));
            }
        }
    }
    runs
}

/// A switch on a fabric at all its loads.
fn of_series(
    size: Size,
    seeds: u32,
    variation: Option<&'static Variation>,
    fabric: &Fabric,
    switch: Switch,
    series: &'static str,
) -> Vec<Run> {
    let (file, text) = fabric.experiment(switch);
    let mut runs = vec![];
    // Runs on the small tree are short and differ most between seeds.
    let is_small = fabric.name == TREE_3.name && variation.is_none();
    let seeds = if is_small { 5 * seeds } else { seeds };
    for load in loads(size, fabric, switch) {
        let each = f64::from(load - QOS_LOAD) / (3.0 * 10_000.0);
        let varied = variation.iter().flat_map(|variation| variation.sets);
        let own = fabric.sets.iter().chain(switch.sets());
        let mut sets: Vec<String> = own.map(|&set| set.to_owned()).collect();
        sets.extend((4..7).map(|class| format!("traffic.{class}.load={each}")));
        sets.extend(span(size).sets());
        sets.extend(varied.map(|&set| set.to_owned()));
        runs.extend((1..=u64::from(seeds)).map(|seed| Run {
            series,
            load: f64::from(load) / 10_000.0,
            seed,
            file,
            text: Cow::Borrowed(text),
            sets: sets.clone(),
            tables: &[],
        }));
    }
    runs
}

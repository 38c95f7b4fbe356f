//! External kinds through the facade: read, named, described, simulated and varied like the
//! built-in ones.

use std::sync::Arc;

use netloom::arbitration::{Arbiter, Fault, Grant, Policy, PortContext, Speaks, View, take_word};
use netloom::catalog::{Described, kind, params};
use netloom::experiment::spec::{concepts, schema};
use netloom::fabric::{CongestionControl, Control as Pace, Echo, FlowState, Link};
use netloom::random::Draw;
use netloom::routing::{Forwarding, Paths, Routing, UpDown};
use netloom::study::Study;
use netloom::topology::{Blueprint, SingleSwitch, Topology};
use netloom::traffic::{Context, Destinations, Pattern};
use netloom::units::{NicId, Tick};
use netloom::{Control, Kinds, Loaded, Request, RunOptions, load, render, run};

params! {
    /// One switch.
    pub struct Lone {
        /// NICs at it.
        pub nics: u32 = 4,
    }
}

impl Described for Lone {
    const NAME: &'static str = "lone";
    const SUMMARY: &'static str = "One switch.";
    const EXAMPLE: &'static str = "nics = 4";
}

impl Blueprint for Lone {
    fn build(&self, seed: u64) -> Result<Topology, String> {
        SingleSwitch { ports: self.nics }.build(seed)
    }
    fn n_nics(&self) -> Option<u64> {
        Some(self.nics.into())
    }
    fn n_ports(&self) -> Option<u64> {
        Some(self.nics.into())
    }
}

params! {
    /// As up-down.
    pub struct Mine {}
}

impl Described for Mine {
    const NAME: &'static str = "mine";
    const SUMMARY: &'static str = "As up-down.";
    const EXAMPLE: &'static str = "";
}

impl Routing for Mine {
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        UpDown {
            root: 0,
            paths: Paths::All,
        }
        .compile(topology, seed)
    }
}

params! {
    /// The highest queue.
    pub struct Highest {}
}

impl Described for Highest {
    const NAME: &'static str = "highest";
    const SUMMARY: &'static str = "The highest queue.";
    const EXAMPLE: &'static str = "";
}

impl Policy for Highest {
    fn build(&self) -> Box<dyn Arbiter> {
        Box::new(Counting { sent: 0 })
    }
    fn faults(&self, _context: &PortContext) -> Vec<Fault> {
        vec![]
    }
    fn speaks(&self) -> Speaks {
        Speaks::Queues
    }
    fn serves_everyone(&self) -> bool {
        false
    }
}

struct Counting {
    sent: u32,
}

impl Arbiter for Counting {
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        let queue = view.eligible.checked_ilog2()? as u8;
        let registers = [0; 6];
        Some(Grant { queue, registers })
    }
    fn commit(&mut self, _grant: Grant) {
        self.sent += 1;
    }
    fn save(&self, out: &mut Vec<u64>) {
        out.push(self.sent.into());
    }
    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        self.sent = take_word(from)?;
        Some(())
    }
}

params! {
    /// A pause after every packet.
    #[derive(Clone, Debug)]
    pub struct Paced {
        /// A flow sends this share of the link.
        pub share: f64 = 0.5,
    }
}

impl Described for Paced {
    const NAME: &'static str = "paced";
    const SUMMARY: &'static str = "A pause after every packet.";
    const EXAMPLE: &'static str = "share = 0.5";
}

impl CongestionControl for Paced {
    fn control(&self, link: Link) -> Option<Arc<dyn Pace>> {
        let ticks = (link.flit as f64 / self.share) as u64;
        Some(Arc::new(Pacer { ticks }))
    }
}

/// The first word is when the next packet may be sent.
#[derive(Debug)]
struct Pacer {
    ticks: u64,
}

impl Pace for Pacer {
    fn start(&self, now: Tick) -> FlowState {
        FlowState([now.0, 0, 0, 0])
    }
    fn admits(&self, flow: &FlowState, _: u32, _: u16, now: Tick) -> Result<(), Tick> {
        match now.0 >= flow.0[0] {
            true => Ok(()),
            false => Err(Tick(flow.0[0])),
        }
    }
    fn sent(&self, flow: &mut FlowState, flits: u16, now: Tick) {
        flow.0[0] = now.0 + u64::from(flits) * self.ticks;
    }
    fn acknowledged(&self, _: &mut FlowState, _: Echo, _: Tick) -> bool {
        false
    }
    fn is_fresh(&self, flow: &FlowState, now: Tick) -> bool {
        now.0 >= flow.0[0]
    }
}

params! {
    /// To the NIC opposite.
    pub struct Opposite {}
}

impl Described for Opposite {
    const NAME: &'static str = "opposite";
    const SUMMARY: &'static str = "To the NIC opposite.";
    const EXAMPLE: &'static str = "";
}

impl Pattern for Opposite {
    fn prepare(&self, context: &Context<'_>) -> Result<Box<dyn Destinations>, String> {
        Ok(Box::new(Across(context.n_nics)))
    }
}

struct Across(u32);

impl Destinations for Across {
    fn destination(&self, nic: NicId, _: u32, _: u64, _: Draw) -> Option<NicId> {
        Some(NicId((nic.0 + self.0 / 2) % self.0))
    }
    fn is_fixed(&self) -> bool {
        true
    }
}

fn kinds() -> Kinds {
    Kinds::default()
        .with_topology(kind!(Lone, dyn Blueprint))
        .with_routing(kind!(Mine, dyn Routing))
        .with_arbiter(kind!(Highest, dyn Policy))
        .with_congestion_control(kind!(Paced, dyn CongestionControl))
        .with_pattern(kind!(Opposite, dyn Pattern))
}

const TEXT: &str = r#"
netloom = 1
topology = "lone"
routing = "mine"
qos = { arbiter = "highest" }
nic = { congestion-control = { kind = "paced", share = 0.25 } }
traffic = [{ load = 0.9, pattern = "opposite" }]
measure = { length = "50 us", warmup = "10 us" }
"#;

fn loaded(kinds: &Kinds, sets: &[String]) -> Loaded {
    load(&Request {
        kinds,
        sets,
        ..Request::new("own.toml", TEXT)
    })
}

#[test]
fn an_experiment_of_own_kinds_runs_and_its_resolved_file_names_them() {
    let kinds = kinds();
    let loaded = loaded(&kinds, &[]);
    let experiment = loaded
        .experiment
        .unwrap_or_else(|| panic!("{}", render(&loaded.document, &loaded.notes, false)));
    let result = run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    // The pacer admits a quarter of the link, minus the time until its next call.
    let delivered = result.document.run.total.delivered_load;
    assert!((0.2..=0.26).contains(&delivered), "{delivered}");
    let resolved = experiment.resolved.to_toml(false);
    for name in ["lone", "mine", "highest", "paced", "opposite"] {
        let line = format!("kind = \"{name}\"");
        assert!(resolved.contains(&line), "{name} in\n{resolved}");
    }
    let again = load(&Request {
        kinds: &kinds,
        ..Request::new("own.toml", &resolved)
    });
    let again = again.experiment.expect("a resolved file is a file");
    assert_eq!(again.resolved.to_toml(false), resolved);
}

#[test]
fn own_kinds_are_described_and_others_do_not_know_them() {
    let kinds = kinds();
    let schema = schema(&kinds);
    for (concept, name) in [
        ("topology", "lone"),
        ("routing", "mine"),
        ("arbiter", "highest"),
        ("congestion control", "paced"),
        ("pattern", "opposite"),
    ] {
        let all = concepts(&kinds);
        let known = all.iter().find(|known| known.name == concept).unwrap();
        assert_eq!(known.kinds.last().map(|kind| kind.name), Some(name));
        assert!(schema.contains(&format!("\"const\": \"{name}\"")), "{name}");
    }
    let loaded = loaded(Kinds::built_in(), &[]);
    assert!(loaded.experiment.is_none());
    let unknown = loaded.notes.iter().filter(|note| note.code == "E0104");
    assert_eq!(unknown.count(), 5);
    // A misspelt key is reported with a suggestion.
    let sets = ["nic.congestion-control.shaer=0.5".to_owned()];
    let notes = self::loaded(&kinds, &sets).notes;
    let helps: Vec<_> = notes.iter().filter_map(|note| note.help.clone()).collect();
    assert_eq!(helps, ["did you mean `share`?"]);
}

#[test]
fn a_study_varies_a_key_of_an_own_kind() {
    let kinds = kinds();
    let text = format!("{TEXT}\n[study.axes]\n\"nic.congestion-control.share\" = [0.25, 0.5]\n");
    let open = |kinds| {
        Study::open(&Request {
            kinds,
            ..Request::new("own.toml", &text)
        })
    };
    let study = open(&kinds).study.expect("a study without mistakes");
    let loads = study.points().map(|point| {
        let loaded = study.load(&point, 1);
        let experiment = loaded.experiment.expect("a point without mistakes");
        let mut go_on = |_: &_| Control::Continue;
        let result = run(&experiment, &RunOptions::default(), &mut go_on);
        result.document.run.total.delivered_load
    });
    let loads: Vec<f64> = loads.collect();
    assert!(loads[1] > 1.8 * loads[0], "{loads:?}");
    assert!(open(Kinds::built_in()).study.is_none(), "no such path");
}

//! PFC: a headroom that `check` accepts never overflows, and one flit less is refused.
//!
//! Each draw gives a lane exactly the headroom that `check` requires. A formula that is one flit
//! short would cause an overflow, which the fabric asserts, in one of the many draws.

use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_experiment::{Experiment, render};
use netloom_fabric::{FlowControl, Thresholds};
use proptest::prelude::*;

/// One fabric: four NICs at one switch send to one NIC behind another as fast as they can.
#[derive(Clone, Debug)]
struct Draw {
    kind: &'static str,
    gbps: u32,
    /// Cables of NICs and between switches.
    metres: (u32, u32),
    packet: u32,
    /// Clock of the switches, in picoseconds.
    clock: Option<u32>,
    stages: [u8; 6],
    speedup: u8,
    /// Flits of `xoff` and of `xon` below it.
    xoff: u32,
    below: u32,
    is_written: bool,
    /// Whether all packets have the largest size.
    is_fixed: bool,
    seed: u8,
}

fn draws() -> impl Strategy<Value = Draw> {
    let kinds = prop::sample::select(vec!["cioq", "cioq", "iq"]);
    let rates = prop::sample::select(vec![25, 50, 100, 200, 400, 800]);
    let metres = prop_oneof![Just(0u32), 0..8u32, 0..120u32];
    let packets = prop_oneof![1..4u32, 1..40u32];
    let clocks = prop_oneof![
        Just(None),
        prop::sample::select(vec![500u32, 640, 1000, 1280, 2560, 5000, 12_800]).prop_map(Some)
    ];
    let stages = [1..4u8, 0..4, 0..4, 1..3, 0..4, 0..6];
    let thresholds = (
        0..60u32,
        0..60u32,
        any::<bool>(),
        any::<bool>(),
        any::<u8>(),
    );
    (
        (kinds, rates, (metres.clone(), metres), packets),
        (clocks, stages, 1..4u8),
        thresholds,
    )
        .prop_map(
            |((kind, gbps, metres, packet), (clock, stages, speedup), last)| Draw {
                kind,
                gbps,
                metres,
                packet,
                clock,
                stages,
                speedup,
                xoff: last.0,
                below: last.1.min(last.0),
                is_written: last.2,
                is_fixed: last.3,
                seed: last.4,
            },
        )
}

impl Draw {
    /// Returns the file, with `size` flits per lane.
    fn file(&self, size: u32) -> String {
        let Draw {
            kind, gbps, packet, ..
        } = self;
        let (host, between) = self.metres;
        let clock = self
            .clock
            .map_or_else(String::new, |ps| format!("clock = \"{ps} ps\"\n"));
        let speedup = match *kind {
            "cioq" => format!(
                "speedup = {}\noutput-buffer = \"{} B\"\n",
                self.speedup,
                packet * 128
            ),
            _ => String::new(),
        };
        let control = match self.is_written {
            true => format!(
                "{{ kind = \"pfc\", xoff = \"{} B\", xon = \"{} B\" }}",
                self.xoff * 64,
                (self.xoff - self.below) * 64
            ),
            false => "\"pfc\"".to_owned(),
        };
        let [input, routing, allocation, crossbar, output, credit] = self.stages;
        // Long enough for the buffers to fill several times.
        let flits = u64::from(size) * 6 + u64::from(*packet) * 60 + 400;
        let nanos = flits * 512 / u64::from(*gbps) + u64::from(host + between) * 60;
        let mtu = packet * 64;
        let size_law = match self.is_fixed {
            true => format!("message = \"{mtu} B\""),
            false => format!(
                "size = {{ kind = \"uniform\", min = \"64 B\", max = \"{mtu} B\", step = \"64 B\" \
                 }}"
            ),
        };
        format!(
            "netloom = 1\n[topology]\nkind = \"graph\"\n\
             text = \"link a b\\nnic n0 a\\nnic n1 a\\nnic n2 a\\nnic n3 a\\nnic n4 b\\nnic n5 \
             b\"\n\
             [link]\nrate = \"{gbps} Gbps\"\nmtu = \"{mtu} B\"\ncable = \"{between} m\"\n\
             flow-control = {control}\n\
             [link.class.host]\ncable = \"{host} m\"\n\
             [switch]\nkind = \"{kind}\"\n{clock}{speedup}input-buffer = \"{buffer} B\"\n\
             [switch.pipeline]\ninput = {input}\nrouting = {routing}\nallocation = {allocation}\n\
             crossbar = {crossbar}\noutput = {output}\ncredit = {credit}\n\
             [[traffic]]\nload = 1.0\narrival = \"constant\"\nsources = \"0-3\"\n\
             pattern = {{ kind = \"pairs\", pairs = [[0, 4], [1, 4], [2, 4], [3, 4]] }}\n\
             {size_law}\n\
             [measure]\nseed = {seed}\nwarmup = \"0 ns\"\nepochs = 2\nlength = \"{nanos} ns\"\n",
            buffer = size * 64,
            seed = self.seed,
        )
    }

    fn load(&self, size: u32) -> Loaded {
        load(&Request::new("test.toml", &self.file(size)))
    }

    /// Returns the headroom of a lane for these cables, as printed by `check`.
    fn headroom(&self) -> u32 {
        let roomy = Draw {
            is_written: false,
            ..self.clone()
        }
        .load(20_000);
        let of_fact = |fact: &str| {
            let flits = fact.split_once('(')?.1.split_once(" flits)")?.0;
            flits.parse::<u32>().ok()
        };
        let facts = roomy.facts.iter().filter(|(word, _)| word == "pfc");
        facts
            .filter_map(|(_, fact)| of_fact(fact))
            .max()
            .unwrap_or_else(|| panic!("{}", render(&roomy.document, &roomy.notes, false)))
    }
}

fn finish(experiment: &Experiment) -> u64 {
    let options = RunOptions {
        tables: false,
        ..RunOptions::default()
    };
    let result = run(experiment, &options, &mut |_| Control::Continue);
    result.document.run.counters.delivered_packets
}

fn thresholds(experiment: &Experiment) -> Vec<Thresholds> {
    match &experiment.fabric.flow_control {
        FlowControl::Pfc(thresholds) => thresholds.concat(),
        other => panic!("{other:?}"),
    }
}

/// Runs a draw with exactly the required headroom, and checks that one flit less is refused.
fn fits_to_the_flit(draw: &Draw) -> Result<(), TestCaseError> {
    let size = draw.xoff + draw.headroom();
    let loaded = draw.load(size);
    let words = render(&loaded.document, &loaded.notes, false);
    let experiment = loaded
        .experiment
        .unwrap_or_else(|| panic!("{words}\n{}", draw.file(size)));
    let lowest = thresholds(&experiment).iter().map(|t| t.xoff).min();
    prop_assert_eq!(lowest, Some(draw.xoff));
    prop_assert!(finish(&experiment) > 0);
    // Written thresholds are refused. Others adapt until nothing is left.
    let short = draw.load(size - 1);
    let refuses = draw.is_written || draw.xoff == 0;
    let is_refused = short.notes.iter().any(|note| note.code == "E0320");
    prop_assert_eq!(is_refused, refuses);
    prop_assert_eq!(short.experiment.is_none(), refuses);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_check_accepts_never_overflows(draw in draws()) {
        fits_to_the_flit(&draw)?;
    }
}

/// The draws would detect a short headroom: with the thresholds of a buffer that is larger by one
/// packet, this one overflows.
#[test]
#[should_panic(expected = "a lossless input never overflows")]
fn too_little_headroom_overflows() {
    let draw = Draw {
        kind: "cioq",
        gbps: 100,
        metres: (20, 40),
        packet: 32,
        clock: None,
        stages: [1; 6],
        speedup: 1,
        xoff: 40,
        below: 32,
        is_written: false,
        is_fixed: true,
        seed: 1,
    };
    let mut experiment = draw
        .load(draw.xoff + draw.headroom())
        .experiment
        .expect("an experiment");
    let FlowControl::Pfc(thresholds) = &mut experiment.fabric.flow_control else {
        panic!("PFC was asked for");
    };
    for threshold in thresholds.iter_mut().flatten() {
        threshold.xoff += 2 * draw.packet;
    }
    finish(&experiment);
}

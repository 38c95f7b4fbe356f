//! `[qos]`: the maps from service levels to channels and lanes, and the packets of each level.

use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_units::{Bytes, NicId, Port, Sc, Sl, SwitchId};

const TREE: &str = include_str!("ui/mapping/base/tree.toml");

fn read(text: &str) -> Loaded {
    load(&Request::new("test.toml", text))
}

fn messages(loaded: &Loaded) -> String {
    render(&loaded.document, &loaded.notes, false)
}

fn with(qos: &str) -> Loaded {
    read(&format!("{TREE}[qos]\n{qos}\n"))
}

fn digest(loaded: &Loaded) -> String {
    let Some(experiment) = &loaded.experiment else {
        panic!("{}", messages(loaded));
    };
    let result = run(experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    result.document.run.digest.clone()
}

fn fact(loaded: &Loaded, word: &str) -> String {
    let found = loaded.facts.iter().find(|(known, _)| known == word);
    found
        .map(|(_, sentence)| sentence.clone())
        .unwrap_or_default()
}

#[test]
fn sl2vl_is_one_channel_per_level() {
    let arbiter = "arbiter = { kind = \"dtable\", table = [[0, 40], [1, 20], [2, 20]] }";
    let direct = with(&format!("sl2vl = [1, 0, 1]\n{arbiter}"));
    // Other numbers of channels in the same order, so that NICs have their queues in the same
    // order.
    let channels = with(&format!(
        "sl2sc = [3, 4, 20]\nsc2vl = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
         1]\n{arbiter}"
    ));
    let lanes = with(&format!("sc2vl = [1, 0, 1]\n{arbiter}"));
    assert_eq!(digest(&direct), digest(&channels));
    assert_eq!(digest(&direct), digest(&lanes));
    assert_eq!(fact(&direct, "lanes"), "");
    assert_eq!(
        fact(&channels, "lanes"),
        "SL0 on SC3 (VL1); SL1 on SC4 (VL0); SL2 on SC20 (VL1)"
    );
}

#[test]
fn a_level_with_several_channels_uses_all_their_lanes() {
    let loaded = with("sl2sc = [[0, 8], 1, [2, 9]]\nsc2vl = [0, 1, 2, 0, 0, 0, 0, 0, 3, 1]");
    let plan = &loaded.experiment.as_ref().expect("an experiment").fabric;
    assert_eq!((plan.n_vls, &plan.largest[..]), (4, &[32, 32, 32, 32][..]));
    assert_eq!(
        fact(&loaded, "lanes"),
        "SL0 on SC0 (VL0), SC8 (VL3); SL1 on SC1 (VL1); SL2 on SC2 (VL2), SC9 (VL1)"
    );
    assert_ne!(digest(&loaded), digest(&with("vls = 4")));
    // By default there are as many lanes as channels need.
    let plan = with("sl2sc = [[0, 3], 1, 2]").experiment.unwrap().fabric;
    assert_eq!(
        (plan.n_vls, &plan.channels.sc2vl[..5]),
        (4, &[0, 1, 2, 3, 0][..])
    );
}

#[test]
fn another_seed_spreads_flows_anew() {
    let experiment = with("sl2sc = [[0, 3], 1, 2]").experiment.unwrap();
    let first = |experiment: &netloom_experiment::Experiment| {
        let channels = &experiment.fabric.channels;
        let nics = (0..16).map(netloom_units::NicId);
        nics.map(|nic| channels.choose(Sl(0), nic, netloom_units::NicId(3)).0)
            .collect::<Vec<u8>>()
    };
    let other = experiment.with_seed(2).unwrap();
    assert_ne!(first(&experiment), first(&other));
    assert_eq!(first(&experiment), first(&other.with_seed(1).unwrap()));
}

#[test]
fn a_level_is_cut_at_its_own_mtu() {
    let loaded = with("sl-mtu = [\"192 B\", \"2 KiB\", \"1 KiB\"]");
    let plan = &loaded.experiment.as_ref().expect("an experiment").fabric;
    assert_eq!(plan.largest, [3, 32, 16]);
    assert_eq!(plan.segmentation.of(Sl(0)).mtu, Some(Bytes(192)));
    assert_eq!(plan.segmentation.of(Sl(7)).mtu, Some(Bytes(2048)));
    assert_eq!(
        fact(&loaded, "packets"),
        "at most SL0 192 B, SL1 2 KiB, SL2 1 KiB"
    );
    assert_ne!(digest(&loaded), digest(&with("")));
    // The MTU of the links has no effect.
    let same = with("sl-mtu = [\"2 KiB\", \"2 KiB\"]");
    assert_eq!(digest(&same), digest(&with("")));

    let whole = TREE.replace("mtu = \"2 KiB\"", "mtu = \"message\"");
    let loaded = read(&format!(
        "{whole}[qos]\nsl-mtu = [\"message\", \"128 B\"]\n"
    ));
    let plan = loaded.experiment.expect("an experiment").fabric;
    assert_eq!(plan.largest, [48, 2, 48]);
}

#[test]
fn what_is_resolved_loads_to_itself() {
    for qos in [
        "sl2sc = [[0, 8], 1, [2, 9]]\nsl-mtu = [\"192 B\", \"1 KiB\"]",
        "sl2sc = [[0, 8], 1, [2, 9]]\nsc2vl = [0, 1, 2]\nsc2sl = [0, 1, 2, 0, 0, 0, 0, 0, 0, 2]",
        "sc2vl = [2, 1, 0]",
        "sc2sl = [0, 1, 2]",
    ] {
        let first = with(qos);
        let experiment = first
            .experiment
            .as_ref()
            .unwrap_or_else(|| panic!("{}", messages(&first)));
        let text = experiment.resolved.to_toml(true);
        let second = read(&text);
        let again = second
            .experiment
            .as_ref()
            .unwrap_or_else(|| panic!("{}", messages(&second)));
        assert_eq!(
            again.resolved.to_toml(false),
            experiment.resolved.to_toml(false)
        );
        assert_eq!(digest(&first), digest(&second));
    }
}

/// A switch, or one of its outputs, has its own lanes for channels. Missing entries are those of
/// `sc2vl`.
#[test]
fn single_switches_and_outputs_have_rows_of_their_own() {
    let loaded = with(
        "sc2vl = [0, 1, 2]\n[[qos.sc2vl-exception]]\nswitch = 0\nrow = [2, 2]\n\
         [[qos.sc2vl-exception]]\nswitch = 0\noutput = 1\nrow = [1]\n",
    );
    let experiment = loaded.experiment.expect("a sound file");
    let channels = &experiment.fabric.channels;
    let lanes = |switch, output| {
        let at = |sc| channels.at_switch(SwitchId(switch), Port(0), Port(output), Sc(sc));
        [at(0).1, at(1).1, at(2).1]
    };
    assert_eq!(lanes(0, 2), [2, 2, 2]);
    assert_eq!(lanes(0, 1), [1, 1, 2]);
    assert_eq!(lanes(1, 1), [0, 1, 2]);
    let result = run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    let counters = &result.document.run.counters;
    assert!(counters.delivered_packets > 100, "{counters:?}");
}

/// SC2SC is applied before SC2VL at every switch. Single switches and ports have their own rows.
#[test]
fn channels_change_on_the_way() {
    let loaded = with(
        "vls = 3\nsc2sc = [8]\nsc2vl = [0, 1, 2, 0, 0, 0, 0, 0, 1, 2]\n\
         [[qos.sc2sc-exception]]\nswitch = 1\nrow = [8, 16]\n\
         [[qos.sc2sc-exception]]\nswitch = 1\ninput = 2\noutput = 1\nrow = [9]\n\
         [[qos.sc2vl-exception]]\nswitch = 2\nrow = [0, 1, 2, 0, 0, 0, 0, 0, 2]\n",
    );
    let experiment = loaded.experiment.as_ref().expect("a sound file");
    let channels = &experiment.fabric.channels;
    let at = |switch, input, output| {
        let at = |sc| channels.at_switch(SwitchId(switch), Port(input), Port(output), Sc(sc));
        [at(0), at(1), at(8)].map(|(sc, vl)| (sc.0, vl))
    };
    assert_eq!(at(0, 0, 1), [(8, 1), (1, 1), (8, 1)]);
    assert_eq!(at(1, 0, 1), [(8, 1), (16, 1), (8, 1)]);
    assert_eq!(at(1, 2, 1), [(9, 2), (1, 1), (8, 1)]);
    assert_eq!(at(2, 0, 1), [(8, 2), (1, 1), (8, 2)]);
    // A NIC does not change channels.
    assert_eq!(channels.at_nic(NicId(0), Sc(0)), 0);
    assert_eq!(
        fact(&loaded, "lanes"),
        "SL0 on SC0 (VL0), after switches SC8 (VL1), SC9 (VL2); \
         SL1 on SC1 (VL1), after switches SC16 (VL1); SL2 on SC2 (VL2)"
    );
    let result = run(experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    let counters = &result.document.run.counters;
    assert!(counters.delivered_packets > 100, "{counters:?}");
}

//! `[qos]`: the maps from service levels to channels and lanes, and the packets of each level.

use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_units::{Bytes, NicId, Port, Sc, Sl, SwitchId};

const TREE: &str = "\
netloom = 1
[topology]
kind = \"fat-tree\"
arity = 4
levels = 2
[link]
mtu = \"2 KiB\"
[measure]
length = \"30 us\"
[[traffic]]
sl = [0, 1, 2]
load = 0.8
message = \"3 KiB\"
";

fn read(text: &str) -> Loaded {
    load(&Request::new("test.toml", text))
}

fn said(loaded: &Loaded) -> String {
    render(&loaded.document, &loaded.notes, false)
}

fn with(qos: &str) -> Loaded {
    read(&format!("{TREE}[qos]\n{qos}\n"))
}

fn codes(qos: &str) -> Vec<&'static str> {
    let notes = with(qos).notes.sorted();
    notes.into_iter().map(|note| note.code).collect()
}

fn digest(loaded: &Loaded) -> String {
    let Some(experiment) = &loaded.experiment else {
        panic!("{}", said(loaded));
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
fn arbiters_and_buffers_see_the_packets_of_each_level() {
    // SL0 may send 4 flits per turn: enough for 192 bytes, not for 2 KiB.
    let table = "arbiter = { kind = \"bxi-table\", k = 1, table = [[0, 4], [1, 32], [2, 32]] }";
    assert_eq!(codes(table), ["E0410"]);
    assert_eq!(codes(&format!("sl-mtu = [\"192 B\"]\n{table}")), [""; 0]);
    // A buffer of 512 bytes holds the packets of all levels only if each is small.
    let small = "[switch]\ninput-buffer = \"512 B\"\n";
    let all = "sl-mtu = [\"192 B\", \"128 B\", \"512 B\"]\n";
    assert_eq!(codes(small), ["E0311"]);
    assert_eq!(codes(&format!("{all}{small}")), ["W0312"]);
    assert_eq!(
        codes(&format!("sl-mtu = [\"192 B\", \"128 B\"]\n{small}")),
        ["E0311"]
    );
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
            .unwrap_or_else(|| panic!("{}", said(&first)));
        let text = experiment.resolved.to_toml(true);
        let second = read(&text);
        let again = second
            .experiment
            .as_ref()
            .unwrap_or_else(|| panic!("{}", said(&second)));
        assert_eq!(
            again.resolved.to_toml(false),
            experiment.resolved.to_toml(false)
        );
        assert_eq!(digest(&first), digest(&second));
    }
    let text = with("sl2sc = [[0, 8], 1, 2]\nvls = 3")
        .experiment
        .unwrap()
        .resolved;
    let text = text.to_toml(true);
    let start = text.find("[qos]").unwrap();
    let end = text.find("[qos.arbiter]").unwrap();
    insta::assert_snapshot!(&text[start..end], @r#"
    [qos]
    vls = 3
    sl2sc = [[0, 8], 1, 2]
    sc2vl = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]  # default
    sc2sl = [0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]  # default
    "#);
}

#[test]
fn mistakes_have_their_codes() {
    let cases = [
        ("sl2vl = [0, 1, 2]\nsl2sc = [0, 1, 2]", &["E0407"][..]),
        ("sl2vl = [0, 1, 2]\nsc2vl = [0, 1, 2]", &["E0407"]),
        (
            "sc2vl = [0]\n[[qos.sl2vl-exception]]\nswitch = 0\ninput = 0\noutput = 1\nrow = [0]",
            &["E0407"],
        ),
        (
            "sl2vl = [0, 1, 2]\n[[qos.sc2vl-exception]]\nswitch = 0\nrow = [0]",
            &["E0407"],
        ),
        (
            "[[qos.sc2vl-exception]]\nswitch = 999\nrow = [0]",
            &["E0404"],
        ),
        (
            "[[qos.sc2vl-exception]]\nswitch = 0\noutput = 99\nrow = [0]",
            &["E0404"],
        ),
        (
            "vls = 2\n[[qos.sc2vl-exception]]\nswitch = 0\nrow = [2]",
            &["E0405"],
        ),
        ("[qos.sc2vl-exception]\nswitch = 0\nrow = [2]", &["E0101"]),
        ("sl2vl = [0, 1, 2]\nsc2sc = [3]", &["E0407"]),
        ("sc2sc = [32]", &["E0102"]),
        ("sc2sc = [15]", &["E0102"]),
        (
            "sc2sc = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 3]",
            &["E0102"],
        ),
        // Through SC8 and SC9 to the channel of another level.
        ("sc2sc = [8, 1, 2, 3, 4, 5, 6, 7, 9, 2]", &["E0408"]),
        ("[[qos.sc2sc-exception]]\nswitch = 0\nrow = [1]", &["E0408"]),
        (
            "sc2sc = [8]\nsc2sl = [0, 1, 2, 3, 4, 5, 6, 7, 1]",
            &["E0409"],
        ),
        (
            "[[qos.sc2sc-exception]]\nswitch = 0\ninput = 99\noutput = 98\nrow = [8]",
            &["E0404", "E0404"],
        ),
        // The errors of all rows together: an invalid one, one that leads to another level, one
        // without a switch.
        (
            "[[qos.sc2sc-exception]]\nswitch = 0\nrow = [32]\n\
             [[qos.sc2sc-exception]]\nswitch = 0\nrow = [1]\n\
             [[qos.sc2vl-exception]]\nswitch = 999\nrow = [0]",
            &["E0102", "E0408", "E0404"],
        ),
        ("sl2sc = [[0, 1], [2, 1], 3]", &["E0408"]),
        ("sl2sc = [[0, 0], 1, 2]", &["E0408"]),
        ("sl2sc = [0, 1, 2]\nsc2sl = [0, 2, 2]", &["E0409"]),
        ("sl2sc = [0, 1]", &["E0413"]),
        ("sl2sc = [0, 15, 2]", &["E0102"]),
        ("sl2sc = [0, 32, 2]", &["E0102"]),
        ("sl2sc = [0, [], 2]", &["E0102"]),
        ("sl2sc = [0, \"x\", [true]]", &["E0101", "E0101"]),
        ("sc2vl = [0, 1, 15]\nvls = 2", &["E0405"]),
        (
            "sc2vl = [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]",
            &["E0402"],
        ),
        ("sl-mtu = [\"4 KiB\"]", &["E0414"]),
        ("sl-mtu = [\"message\"]", &["E0414"]),
        ("sl-mtu = [\"0 B\"]", &["E0102"]),
        ("sl-mtu = \"1 KiB\"", &["E0101"]),
    ];
    for (qos, expected) in cases {
        assert_eq!(codes(qos), expected, "{qos}\n{}", said(&with(qos)));
    }
    let sl15 = TREE.replace("sl = [0, 1, 2]", "sl = 15");
    let codes: Vec<&str> = read(&format!("{sl15}[qos]\nsc2vl = [0]\n"))
        .notes
        .iter()
        .map(|note| note.code)
        .collect();
    assert_eq!(codes, ["E0413"]);
}

#[test]
fn messages_name_the_entry_and_what_to_write() {
    let said = |qos: &str| said(&with(qos));
    insta::assert_snapshot!(said("sl2vl = [0, 1, 2]\nsc2vl = [0, 1, 2]"), @r#"
    error[E0407]: both `sl2vl` and `sc2vl` are set
      --> test.toml:15:9
       |
    15 | sl2vl = [0, 1, 2]
       |         ^^^^^^^^^
    16 | sc2vl = [0, 1, 2]
       |         --------- the other one
       |
       = help: use either `sl2vl` (InfiniBand), or `sl2sc` and `sc2vl` (Omni-Path)

    1 error
    "#);
    insta::assert_snapshot!(said("sl2sc = [[0, 8], 1, [2, 8]]"), @r#"
    error[E0408]: SC8 belongs to both SL0 and SL2
      --> test.toml:15:25
       |
    15 | sl2sc = [[0, 8], 1, [2, 8]]
       |                         ^ here again
       |
       = help: use another channel: switches find the service level of a packet by its channel

    1 error
    "#);
    insta::assert_snapshot!(said("sl2sc = [[0, 8], 1, 2]\nsc2sl = [0, 1, 2, 0, 0, 0, 0, 0, 2]"), @r#"
    error[E0409]: SC8 maps back to SL2, but belongs to SL0
      --> test.toml:16:34
       |
    15 | sl2sc = [[0, 8], 1, 2]
       |          ------ SL0 has SC8
    16 | sc2sl = [0, 1, 2, 0, 0, 0, 0, 0, 2]
       |                                  ^
       |
       = help: set it to 0, or remove `sc2sl`: it follows from `sl2sc`

    1 error
    "#);
    insta::assert_snapshot!(said("sl2sc = [0, 1]"), @r#"
    error[E0413]: SL2 has traffic but no service channel
      --> test.toml:15:9
       |
    15 | sl2sc = [0, 1]
       |         ^^^^^^
       |
       = help: add an entry for it to `sl2sc`, at index 2; SC2 is free

    1 error
    "#);
    insta::assert_snapshot!(said("sl-mtu = [\"192 B\", \"4 KiB\"]"), @r#"
    error[E0414]: the MTU of SL1 is 4 KiB, but that of the links is 2 KiB
      --> test.toml:15:20
       |
     7 | mtu = "2 KiB"
       |       ------- on every link
    ...
    15 | sl-mtu = ["192 B", "4 KiB"]
       |                    ^^^^^^^
       |
       = help: use at most "2 KiB", or a larger `link.mtu`

    1 error
    "#);
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

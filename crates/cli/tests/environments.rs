//! `site lint env`, `site export env`, and `explain` of settings, as a user runs them.

mod place;

use place::Place;

const PLAN: &str = r#"
netloom = 1
[topology]
kind = "single-switch"
ports = 8

[plan]
high-table = "deadlines"
[[plan.class]]
name = "other"
share = 0.2
dscp = 0
carries = ["nccl"]
[[plan.class]]
name = "ep"
share = 0.5
dscp = 26
deadline = "20 us"
carries = ["deepep-v2"]
[[plan.class]]
name = "kv"
share = 0.2
dscp = 34
carries = ["mooncake", "nixl", "ucx@prefill"]
[[plan.class]]
name = "storage"
share = 0.1
dscp = 10
carries = ["lustre"]
"#;

#[test]
fn an_exported_environment_has_no_findings() {
    let place = Place::new("environment");
    place.file("moe.toml", PLAN);
    for link in ["infiniband", "roce"] {
        for format in ["text", "k8s", "json"] {
            let export = ["site", "export", "env", "moe.toml", "--link", link];
            let export = [&export[..], &["--format", format, "-o", "out"]].concat();
            place.run(&export).with(0);
            let lint = [
                "site", "lint", "env", "out", "--link", link, "--plan", "moe.toml",
            ];
            let stdout = place.run(&lint).with(0).stdout;
            assert!(stdout.contains("nothing found"), "{stdout}");
            assert!(stdout.contains("prefill"), "{stdout}");
        }
    }
    let text = place.run(&["site", "export", "env", "moe.toml", "--link", "infiniband"]);
    let text = text.with(0).stdout;
    for line in [
        "export EP_OVERRIDE_RDMA_SL=1\n",
        "export MC_IB_SL=2\n",
        "unset NCCL_IB_SL ",
        "site export policy moe.toml --group 'storage=HOSTS'",
        "# check: `perfquery -X LID PORT`",
        "# class ep: SL 1, VL 1, 50.",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let one = [
        "site",
        "export",
        "env",
        "moe.toml",
        "--link",
        "roce",
        "--process",
        "prefill",
    ];
    let one = place.run(&one).with(0).stdout;
    assert!(one.contains("export UCX_IB_TRAFFIC_CLASS=138\n"), "{one}");
    assert!(!one.contains("MC_IB_TC"), "{one}");
}

#[test]
fn collisions_have_lines_and_exit_codes() {
    let place = Place::new("collisions");
    place.file("moe.toml", PLAN);
    let text = "export NCCL_IB_SL=1\nexport EP_OVERRIDE_RDMA_SL=2\nexport MC_IB_TC=96\n";
    place.file("job.sh", text);
    let lint = ["site", "lint", "env", "job.sh", "--link", "infiniband"];
    let found = place.run(&lint).with(6).stdout;
    assert!(found.contains("error[E1201]"), "{found}");
    assert!(found.contains("job.sh:2"), "{found}");
    assert!(found.contains("error[E1205]"), "{found}");
    let with_plan = [&lint[..], &["--plan", "moe.toml", "--format", "json"]].concat();
    let found = place.run(&with_plan).with(6).stdout;
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let first = &found["libraries"][0];
    assert_eq!(
        (first["wire"].as_str(), first["class"].as_str()),
        (Some("SL 1"), Some("ep"))
    );
    let codes: Vec<&str> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["E1201", "E1205", "E1214", "E1214"]);
    place.file("empty", "PATH=/bin\n");
    let empty = ["site", "lint", "env", "empty", "--link", "roce"];
    let found = place.run(&empty).with(6).stdout;
    assert!(found.contains("error[E1200]"), "{found}");
    let unknown = [&lint[..], &["--library", "deepep"]].concat();
    let stderr = place.run(&unknown).with(1).stderr;
    assert!(stderr.contains("did you mean `deepep-v"), "{stderr}");
}

#[test]
fn a_class_without_pfc_is_named_by_a_flag() {
    let place = Place::new("environment-lossy");
    place.file("moe.toml", PLAN);
    place.file("kv.env", "MC_IB_TC=138\n");
    let lint = ["site", "lint", "env", "kv.env", "--link", "roce"];
    let lint = [&lint[..], &["--plan", "moe.toml", "--library", "mooncake"]].concat();
    let lossless = place.run(&lint);
    let text = lossless.stdout + &lossless.stderr;
    assert!(!text.contains("E1207"), "{text}");
    let found = place.run(&[&lint[..], &["--lossy", "kv"]].concat()).with(6);
    let text = found.stdout + &found.stderr;
    assert!(
        text.contains("E1207") && text.contains("class kv has no PFC"),
        "{text}"
    );
    let unknown = place.run(&[&lint[..], &["--lossy", "vk"]].concat()).with(1);
    assert!(
        unknown.stderr.contains("there is no class named `vk`"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn plans_that_no_environment_can_serve_are_refused() {
    let place = Place::new("unserved");
    let two = PLAN
        .replace("\"ucx@prefill\"", "\"ucx\"")
        .replace("[\"lustre\"]", "[\"openmpi\"]");
    place.file("two.toml", &two);
    let export = |file, link| place.run(&["site", "export", "env", file, "--link", link]);
    let stderr = export("two.toml", "infiniband").with(3).stderr;
    assert!(stderr.contains("error[E1220]"), "{stderr}");
    assert!(
        stderr.contains("need different values of UCX_IB_SL in one process"),
        "{stderr}"
    );
    place.file("bare.toml", &PLAN.replace("dscp = 34\n", ""));
    let stderr = export("bare.toml", "roce").with(3).stderr;
    assert!(stderr.contains("error[E1221]"), "{stderr}");
    place.file("zero.toml", &PLAN.replace("\"other\"", "\"all\""));
    let stderr = export("zero.toml", "infiniband").with(0).stderr;
    assert!(stderr.contains("warning[W1222]"), "{stderr}");
    place.file("wrong.toml", &PLAN.replace("\"nccl\"", "\"ncl\""));
    let stderr = export("wrong.toml", "roce").with(3).stderr;
    assert!(stderr.contains("did you mean \"nccl\"?"), "{stderr}");
}

#[test]
fn settings_and_libraries_are_explained() {
    let place = Place::new("explained-settings");
    let text = place.run(&["explain", "nccl_ib_sl"]).with(0).stdout;
    for words in [
        "NCCL_IB_SL, a variable of the environment",
        "the service level",
        "src/transport/net_ib/connect.cc",
        "2.1.4",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let text = place.run(&["explain", "deepep-v2"]).with(0).stdout;
    assert!(text.contains("EP_OVERRIDE_RDMA_SL"), "{text}");
    let stderr = place.run(&["explain", "NCCL_IB_SLL"]).with(2).stderr;
    assert!(stderr.contains("did you mean \"NCCL_IB_SL\"?"), "{stderr}");
}

//! Exported environments put every library where the plan says, so `lint` finds nothing in them.

use netloom_catalog::Place;
use netloom_settings::export::{Export, Outcome, export};
use netloom_settings::lint::{Subject, lint};
use netloom_settings::reading::read;
use netloom_settings::{Carried, Class, Classes, Link, table};
use proptest::prelude::*;

/// A class of its level, with DSCP 8 times the level plus 2.
fn class(name: &str, level: u8, carries: &[&str]) -> Class {
    Class {
        name: name.to_owned(),
        level,
        lane: level,
        share: "25.00 %".to_owned(),
        wait: "at most 1.2 us".to_owned(),
        is_high: name == "ep",
        has_deadline: false,
        dscps: vec![8 * (level & 7) + 2],
        is_lossless: true,
        carries: carries
            .iter()
            .map(|text| Carried::parse(text).unwrap())
            .collect(),
    }
}

fn moe() -> Vec<Class> {
    vec![
        class("other", 0, &["nccl"]),
        class("ep", 1, &["deepep-v2"]),
        class("kv", 2, &["mooncake", "nixl"]),
        class("storage", 3, &["lustre", "nvme-of"]),
    ]
}

/// All three formats of an export, which `lint` reads.
fn formats(export: &Export) -> [String; 3] {
    let json = export.json("plan.toml");
    [
        export.text("plan.toml"),
        export.k8s("plan.toml"),
        serde_json::to_string_pretty(&json).unwrap(),
    ]
}

fn found_in(text: &str, classes: &[Class], link: Link) -> Vec<String> {
    let all = Classes {
        classes: classes.to_vec(),
        lanes: std::array::from_fn(|sl| sl as u8),
    };
    let environment = read(text, 0, table());
    let report = lint(&Subject {
        environment: &environment,
        file: Place::default(),
        link,
        given: &[],
        classes: Some(&all),
        lossless: None,
    });
    // A process without variables has nothing to check.
    let notes = report.findings.iter().filter(|note| note.code != "E1200");
    notes
        .map(|note| format!("{}: {}", note.code, note.message))
        .collect()
}

#[test]
fn the_lines_of_a_serving_site() {
    let export = export(&moe(), Link::InfiniBand);
    assert_eq!(export.problems, []);
    let text = export.text("moe.toml");
    let wanted = "\
# InfiniBand of moe.toml, by netloom

# process all: libraries of `carries` without @PROCESS
# class other: SL 0, VL 0, 25.00 %, wait at most 1.2 us: NCCL
# NCCL: the default is right
# class ep: SL 1, VL 1, 25.00 %, high table, wait at most 1.2 us: DeepEP V2
# class kv: SL 2, VL 2, 25.00 %, wait at most 1.2 us: Mooncake Transfer Engine
# class kv: SL 2, VL 2, 25.00 %, wait at most 1.2 us: NIXL with UCX
# class storage: SL 3, VL 3, 25.00 %, wait at most 1.2 us: Lustre (ko2iblnd)
# Lustre (ko2iblnd): the subnet manager decides: netloom site export policy moe.toml --group \
'storage=HOSTS'
# class storage: SL 3, VL 3, 25.00 %, wait at most 1.2 us: NVMe over RDMA
# NVMe over RDMA: the subnet manager decides: netloom site export policy moe.toml --group \
'storage=HOSTS'
export EP_OVERRIDE_RDMA_SL=1
export MC_IB_SL=2
export UCX_IB_SL=2
unset NCCL_IB_SL   # would move NCCL and NCCL clear-to-send and DeepEP V2 to another class
unset NCCL_GIN_IB_TC   # would move DeepEP V2 to another class
unset NCCL_IB_TC   # would move DeepEP V2 to another class
";
    assert!(text.starts_with(wanted), "{text}");
    assert!(
        text.contains("# set on both ends: EP_OVERRIDE_RDMA_SL, MC_IB_SL, UCX_IB_SL\n"),
        "{text}"
    );
    assert!(
        text.contains("# not possible: NCCL: clear-to-send messages"),
        "{text}"
    );
    assert!(text.contains("must contain 0, 1, 2, 3,"), "{text}");
    assert!(text.contains("perfquery -X"), "{text}");
    for text in formats(&export) {
        assert_eq!(found_in(&text, &moe(), Link::InfiniBand), [""; 0], "{text}");
    }
}

#[test]
fn roce_gets_traffic_classes() {
    let export = export(&moe(), Link::Roce);
    assert_eq!(export.problems, []);
    let text = export.text("moe.toml");
    // DSCP 2, 10 and 18: traffic classes 10, 42 and 74.
    for line in [
        "export NCCL_IB_TC=10\n",
        "export NCCL_GIN_IB_TC=42\n",
        "export MC_IB_TC=74\n",
        "export UCX_IB_TRAFFIC_CLASS=74\n",
        "tos = 106\n",
        "default_roce_tos to 106",
        "/tc/1/traffic_class",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(text.contains("unset NCCL_IB_FIFO_TC "), "{text}");
    for text in formats(&export) {
        assert_eq!(found_in(&text, &moe(), Link::Roce), [""; 0], "{text}");
    }
}

/// The default of UCX is 106 unless the host has a global class, so the line is written.
#[test]
fn a_default_of_the_host_is_not_relied_on() {
    let mut ucx = class("ucx", 3, &["ucx"]);
    ucx.dscps = vec![26];
    let text = export(&[ucx], Link::Roce).text("x.toml");
    assert!(text.contains("export UCX_IB_TRAFFIC_CLASS=106\n"), "{text}");
}

#[test]
fn two_classes_of_one_process_need_a_finer_key() {
    let classes = [class("a", 1, &["ucx"]), class("b", 2, &["nixl"])];
    let problems = export(&classes, Link::InfiniBand).problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    let message = "a (UCX) and b (NIXL with UCX) need different values of UCX_IB_SL in one process";
    assert_eq!(problems[0].message, message);
    assert_eq!((problems[0].code, problems[0].is_error), ("E1220", true));
    assert!(problems[0].help.contains("carries = [\"nixl@NAME\"]"));
    let apart = [class("a", 1, &["ucx@one"]), class("b", 2, &["nixl@two"])];
    let export_of = export(&apart, Link::InfiniBand);
    assert_eq!(export_of.problems, []);
    assert_eq!(export_of.blocks.len(), 2);
    let same = [class("a", 1, &["deepep-v1"]), class("b", 2, &["deepep-v1"])];
    assert_eq!(export(&same, Link::InfiniBand).problems[0].code, "E1220");
}

#[test]
fn communicators_and_pools_have_finer_keys() {
    let classes = [
        class("a", 1, &["nccl", "mooncake-tent"]),
        class("b", 2, &["nccl", "mooncake-tent"]),
    ];
    let export = export(&classes, Link::InfiniBand);
    assert_eq!(export.problems, []);
    let text = export.text("x.toml");
    for line in [
        "# in the program, for the communicators or buffers of this class: \
         config.trafficClass = 2\n",
        "qp_pools[].service_level = 2\n",
        "unset NCCL_IB_SL ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(found_in(&text, &classes, Link::InfiniBand), [""; 0]);
}

#[test]
fn what_cannot_be_done_is_stated() {
    let classes = [
        class("other", 0, &["nccl"]),
        class("ep", 1, &["mooncake-ep", "nccl-control", "gpfs", "nvshmem"]),
    ];
    let export = export(&classes, Link::InfiniBand);
    assert_eq!(export.problems, []);
    let text = export.text("x.toml");
    for line in [
        "# not possible: Mooncake EP in class ep: always uses SL 0, and no setting exists\n",
        "NCCL clear-to-send in class ep: no setting splits it from nccl on InfiniBand\n",
        "class ep: verbsRdmaQpRtrSl is not verified, so no line is written\n",
        "unset NVSHMEM_IB_TRAFFIC_CLASS   # NVSHMEM does not start with it\n",
        "export NVSHMEM_IB_SL=1\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains("verbsRdmaQpRtrSl ="), "{text}");
    assert_eq!(
        found_in(&text, &classes, Link::InfiniBand),
        [""; 0],
        "{text}"
    );
}

#[test]
fn level_zero_and_missing_code_points_are_reported() {
    let classes = [
        class("ep", 0, &["deepep-v2"]),
        class("kv", 1, &["mooncake"]),
    ];
    let problems = export(&classes, Link::InfiniBand).problems;
    assert_eq!((problems[0].code, problems[0].is_error), ("W1222", false));
    assert_eq!(problems[0].classes, [0]);
    let mut bare = class("kv", 1, &["mooncake"]);
    bare.dscps.clear();
    let problems = export(&[bare], Link::Roce).problems;
    assert_eq!((problems[0].code, problems[0].is_error), ("E1221", true));
}

#[test]
fn names_of_classes_cannot_end_a_comment() {
    let mut classes = moe();
    classes[1].name = "ep\nexport NCCL_IB_SL=9\u{1b}[31m".to_owned();
    let export = export(&classes, Link::InfiniBand);
    for text in [export.text("a\nb"), export.k8s("a\nb")] {
        assert!(!text.contains("\nexport NCCL_IB_SL"), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains("\nb"), "{text}");
    }
}

fn drawn() -> impl Strategy<Value = Vec<Class>> {
    let names: Vec<&str> = table().names().collect();
    let process = prop::sample::select(vec!["", "", "@prefill", "@decode"]);
    let carried = (prop::sample::select(names), process);
    let carries = prop::collection::vec(carried.prop_map(|(a, b)| format!("{a}{b}")), 0..4);
    prop::collection::vec(carries, 1..8).prop_map(|all| {
        let class = |(at, carries): (usize, Vec<String>)| {
            let carries: Vec<&str> = carries.iter().map(String::as_str).collect();
            let name = if at == 0 {
                "other".to_owned()
            } else {
                format!("c{at}")
            };
            class(&name, at as u8, &carries)
        };
        all.into_iter().enumerate().map(class).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever is carried, `lint` agrees with the lines, and only verified settings are written.
    #[test]
    fn lint_finds_nothing_in_any_export(classes in drawn(), is_roce: bool) {
        let link = if is_roce { Link::Roce } else { Link::InfiniBand };
        let export = export(&classes, link);
        for block in &export.blocks {
            for part in &block.parts {
                if let Outcome::Set(lines) = &part.outcome {
                    prop_assert!(lines.iter().all(|(setting, _)| setting.is_verified()));
                }
            }
        }
        if !export.has_errors() {
            for text in formats(&export) {
                prop_assert_eq!(found_in(&text, &classes, link), [""; 0], "{}", text);
            }
        }
    }
}

//! Each rule finds the settings of the public issue that it comes from.

use netloom_catalog::{Notes, Place};
use netloom_settings::lint::{Report, Subject, lint};
use netloom_settings::reading::read;
use netloom_settings::wire::Given;
use netloom_settings::{Carried, Class, Classes, Link, table};

fn class(name: &str, level: u8, dscps: &[u8], carries: &[&str]) -> Class {
    Class {
        name: name.to_owned(),
        level,
        lane: level,
        share: "25.00 %".to_owned(),
        wait: "1.2 us".to_owned(),
        is_high: false,
        has_deadline: false,
        dscps: dscps.to_vec(),
        is_lossless: level != 0,
        carries: carries
            .iter()
            .map(|text| Carried::parse(text).unwrap())
            .collect(),
    }
}

/// Three classes: lanes 0 to 2, and the lane of level 0 for all others.
fn three() -> Classes {
    Classes {
        classes: vec![
            class("other", 0, &[], &["nccl"]),
            class("ep", 1, &[26], &["deepep-v2"]),
            class("kv", 2, &[34], &["mooncake", "nixl"]),
        ],
        lanes: std::array::from_fn(|sl| if sl < 3 { sl as u8 } else { 0 }),
    }
}

struct Case<'a> {
    text: &'a str,
    link: Link,
    given: &'a [&'a str],
    classes: Option<Classes>,
    lossless: Option<&'a [u8]>,
}

impl Case<'_> {
    fn report(&self) -> Report {
        let given = self.given.iter().map(|text| {
            let (library, version) = text.split_once('=').unwrap_or((text, ""));
            Given {
                library: library.to_owned(),
                version: Some(version.to_owned()).filter(|version| !version.is_empty()),
            }
        });
        lint(&Subject {
            environment: &read(self.text, 0, table()),
            file: Place::default(),
            link: self.link,
            given: &given.collect::<Vec<_>>(),
            classes: self.classes.as_ref(),
            lossless: self.lossless,
        })
    }
}

fn on<'a>(link: Link, text: &'a str) -> Case<'a> {
    Case {
        text,
        link,
        given: &[],
        classes: None,
        lossless: None,
    }
}

/// The findings as `code: message (text at the place)`.
fn words(text: &str, notes: &Notes) -> Vec<String> {
    let words = notes.iter().map(|note| {
        let place = note.places[0].0;
        let at = &text[place.start as usize..place.end as usize];
        assert!(note.help.is_some(), "{note:?}");
        format!("{}: {} ({at})", note.code, note.message)
    });
    words.collect()
}

fn findings(case: &Case<'_>) -> Vec<String> {
    words(case.text, &case.report().findings)
}

#[test]
fn nccl_sl_overrides_deepep() {
    let text = include_str!("issues/nccl-2138.env");
    let case = on(Link::InfiniBand, text);
    let message = "E1201: NCCL_IB_SL overrides EP_OVERRIDE_RDMA_SL of DeepEP V2 \
                   (EP_OVERRIDE_RDMA_SL=3)";
    assert_eq!(findings(&case), [message]);
    // Without a variable of DeepEP, its default is overridden.
    let text = "NCCL_IB_SL=1\n";
    let given = Case {
        given: &["deepep-v2"],
        ..on(Link::InfiniBand, text)
    };
    let message = "E1201: NCCL_IB_SL overrides service level 3 of DeepEP V2 (NCCL_IB_SL=1)";
    assert_eq!(findings(&given), [message]);
    let same = "NCCL_IB_SL=1\nEP_OVERRIDE_RDMA_SL=1\n";
    assert!(findings(&on(Link::InfiniBand, same)).is_empty());
}

#[test]
fn a_traffic_class_becomes_a_level() {
    let text = include_str!("issues/nccl-2138-traffic-class.env");
    let message = "E1202: NCCL_IB_TC is the service level of GPU-initiated puts on InfiniBand and \
                   overrides EP_OVERRIDE_RDMA_SL of DeepEP V2 (EP_OVERRIDE_RDMA_SL=3)";
    assert_eq!(findings(&on(Link::InfiniBand, text)), [message]);
    let text = "NCCL_IB_TC=106\nNCCL_GIN_ENABLE=1\n";
    let message = "E1202: NCCL_IB_TC is the service level of GPU-initiated puts on InfiniBand \
                   (NCCL_IB_TC=106)";
    assert_eq!(findings(&on(Link::InfiniBand, text)), [message]);
    assert!(findings(&on(Link::Roce, text)).is_empty());
}

#[test]
fn nvshmem_does_not_start() {
    let text = include_str!("issues/nvshmem-45.env");
    let message = "E1203: NVSHMEM_IB_TRAFFIC_CLASS makes initialisation fail on InfiniBand \
                   (NVSHMEM_IB_TRAFFIC_CLASS=105)";
    assert_eq!(findings(&on(Link::InfiniBand, text)), [message]);
    assert!(findings(&on(Link::Roce, text)).is_empty());
}

#[test]
fn clear_to_send_has_no_class_of_its_own_on_infiniband() {
    let text = include_str!("issues/nccl-1194.env");
    let message = "E1204: NCCL_IB_FIFO_TC has no effect on InfiniBand (NCCL_IB_FIFO_TC=192)";
    assert_eq!(findings(&on(Link::InfiniBand, text)), [message]);
    assert!(findings(&on(Link::Roce, text)).is_empty());
}

#[test]
fn a_traffic_class_alone_selects_no_lane() {
    let text = include_str!("issues/mooncake-2515.env");
    let message = "E1205: MC_IB_TC selects no lane on InfiniBand, and MC_IB_SL is not set \
                   (MC_IB_TC=96)";
    assert_eq!(findings(&on(Link::InfiniBand, text)), [message]);
    assert!(findings(&on(Link::Roce, text)).is_empty());
    let both = format!("{text}MC_IB_SL=2\n");
    assert!(findings(&on(Link::InfiniBand, &both)).is_empty());
}

#[test]
fn the_default_of_deepep_is_no_class_of_three() {
    let text = include_str!("issues/deepep-default.yaml");
    let case = Case {
        classes: Some(three()),
        ..on(Link::InfiniBand, text)
    };
    let report = case.report();
    let found = words(text, &report.findings);
    let message = "E1206: DeepEP V2 uses SL 3 by default, which no class has; it shares VL 0 ()";
    assert_eq!(found, [message]);
    let rows: Vec<_> = report
        .rows
        .iter()
        .map(|row| (row.library, row.wire.as_str()))
        .collect();
    let all = [("DeepEP V2", "SL 3"), ("Mooncake Transfer Engine", "SL 2")];
    assert_eq!(rows, all);
    let kv = &report.rows[1];
    assert_eq!(kv.process, "engine");
    assert_eq!((kv.lane, kv.class.as_deref()), (Some(2), Some("kv")));
    assert_eq!(kv.share.as_deref(), Some("25.00 %"));
}

#[test]
fn puts_without_a_traffic_class_are_lossy() {
    let text = include_str!("issues/nccl-2383.env");
    let case = Case {
        lossless: Some(&[5]),
        ..on(Link::Roce, text)
    };
    let message = "E1207: DeepEP V2 uses DSCP 0 by EP_OVERRIDE_RDMA_SL; priority 0 has no PFC \
                   (EP_OVERRIDE_RDMA_SL=0)";
    assert_eq!(findings(&case), [message]);
    // The plan of that site: DSCP 59 has priority 5.
    let site = Classes {
        classes: vec![
            class("rest", 0, &[0], &[]),
            class("rdma", 5, &[59], &["deepep-v2"]),
        ],
        lanes: [0; 16],
    };
    let case = Case {
        classes: Some(site.clone()),
        ..on(Link::Roce, text)
    };
    let own = "(EP_OVERRIDE_RDMA_SL=0)";
    let found = [
        format!("E1207: DeepEP V2 uses DSCP 0 by EP_OVERRIDE_RDMA_SL; class rest has no PFC {own}"),
        format!(
            "E1214: DeepEP V2 is in class rest by EP_OVERRIDE_RDMA_SL; the plan carries it in rdma \
             {own}"
        ),
    ];
    assert_eq!(findings(&case), found);
    let fixed = "NCCL_GIN_IB_TC=236\nEP_DISABLE_GIN=0\n";
    let case = Case {
        classes: Some(site),
        ..on(Link::Roce, fixed)
    };
    assert!(findings(&case).is_empty());
}

#[test]
fn a_code_point_of_no_class_is_found() {
    let text = "UCX_IB_TRAFFIC_CLASS=192\n";
    let case = Case {
        classes: Some(three()),
        ..on(Link::Roce, text)
    };
    let message = "E1208: UCX uses DSCP 48 by UCX_IB_TRAFFIC_CLASS, which no class has \
                   (UCX_IB_TRAFFIC_CLASS=192)";
    assert_eq!(findings(&case), [message]);
}

#[test]
fn ucx_on_one_end_is_a_remark() {
    let text = include_str!("issues/ucx-10325.env");
    let report = on(Link::Roce, text).report();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let remarks = words(text, &report.remarks);
    let remark = "E1210: set UCX_IB_TRAFFIC_CLASS on both ends (UCX_IB_TRAFFIC_CLASS=106)";
    assert_eq!(remarks, [remark]);
}

#[test]
fn adaptive_routing_selects_a_level() {
    let text = include_str!("issues/ucx-ar.sh");
    let message = "E1211: UCX_IB_AR_ENABLE selects the service level, since UCX_IB_SL is not set \
                   (UCX_IB_AR_ENABLE=yes)";
    assert_eq!(findings(&on(Link::InfiniBand, text)), [message]);
    assert!(findings(&on(Link::Roce, text)).is_empty());
}

#[test]
fn values_and_versions_are_checked() {
    let text = "NCCL_IB_SL=f5\nMC_IB_SL=16\nNCCL_IB_TC=-1\nUCX_IB_SL=auto\n";
    let found = [
        "E1209: expected a number from 0 to 15 for NCCL_IB_SL, found `f5` (NCCL_IB_SL=f5)",
        "E1209: expected a number from 0 to 15 for MC_IB_SL, found `16` (MC_IB_SL=16)",
    ];
    assert_eq!(findings(&on(Link::InfiniBand, text)), found);
    let text = "MC_IB_SL=2\nNCCL_GIN_IB_TC=1\nUCX_IB_SL=1\n";
    let case = Case {
        given: &["mooncake=0.3.11", "nccl-gin=2.31.0", "ucx=1.7"],
        ..on(Link::InfiniBand, text)
    };
    let report = case.report();
    let old = "E1212: Mooncake Transfer Engine 0.3.11 ignores MC_IB_SL, which is in 0.3.12 and \
               later (MC_IB_SL=2)";
    assert_eq!(words(text, &report.findings), [old]);
    let remarks = words(text, &report.remarks);
    let unknown = [
        "E1213: not known what NCCL GIN 2.31.0 does with NCCL_GIN_IB_TC ()",
        "E1213: not known what UCX 1.7 does with UCX_IB_SL ()",
    ];
    assert_eq!(remarks[..2], unknown);
}

#[test]
fn a_file_without_settings_is_a_finding() {
    for text in ["", "PATH=/bin\n", "kind: Pod\n"] {
        let found = findings(&on(Link::InfiniBand, text));
        assert_eq!(found.len(), 1, "{text}");
        assert!(found[0].starts_with("E1200: "), "{found:?}");
    }
}

/// Names and values of a file do not reach a terminal unchanged.
#[test]
fn values_are_made_visible() {
    let text = "NCCL_IB_SL=\u{1b}[31mred\n";
    let found = findings(&on(Link::InfiniBand, text));
    assert!(found[0].contains("found `\u{fffd}[31mred`"), "{found:?}");
}

//! The Omni-Path fabric manager accepts the exported groups.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use netloom_infiniband::other_targets::{TrafficClass, opafm_qos_groups};

const CHECKER: &str = "/usr/lib/opa-fm/bin/config_check";
const TEMPLATE: &str = "/usr/share/opa-fm/opafm.xml";

/// Returns the configuration of the package, with exported groups instead of the QoS of its virtual
/// fabrics.
fn with_groups(groups: &str) -> String {
    let mut template = fs::read_to_string(TEMPLATE).expect("the package brings a configuration");
    while let Some(start) = template.find("<!--") {
        let end = template[start..].find("-->").expect("comments end") + start + 3;
        template.replace_range(start..end, "");
    }
    let start = template.find("<QOSGroups>").expect("a place for groups");
    let end = template.find("</QOSGroups>").expect("its end") + "</QOSGroups>".len();
    template.replace_range(start..end, groups.trim());
    let start = template.find("<VirtualFabrics>").expect("virtual fabrics");
    let end = template.find("</VirtualFabrics>").expect("their end");
    let of_fabrics: Vec<&str> = template[start..end]
        .lines()
        .filter(|line| {
            let own = [
                "<QOS>",
                "<Bandwidth>",
                "<HighPriority>",
                "<BaseSL>",
                "<FlowControlDisable>",
                "<PreemptRank>",
            ];
            !own.iter().any(|tag| line.contains(tag))
        })
        .collect();
    let of_fabrics = of_fabrics.join("\n").replace(
        "</VirtualFabric>",
        "<QOSGroup>bulk</QOSGroup></VirtualFabric>",
    );
    template.replace_range(start..end, &of_fabrics);
    template
}

fn check(text: &str, name: &str) -> (bool, String) {
    let file =
        std::env::temp_dir().join(format!("netloom-opafm-{}-{name}.xml", std::process::id()));
    fs::write(&file, text).expect("the configuration");
    let output = Command::new(CHECKER)
        .args(["-s", "-v", "-c"])
        .arg(&file)
        .output()
        .expect("the checker starts");
    let _ = fs::remove_file(&file);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), printed)
}

#[test]
fn the_checker_of_omni_path_accepts_exported_groups() {
    if std::env::var_os("NETLOOM_WITHOUT_INFINIBAND_TOOLS").is_some() {
        return;
    }
    assert!(
        Path::new(CHECKER).exists(),
        "config_check is not installed: install the package opa-fm, or set \
         NETLOOM_WITHOUT_INFINIBAND_TOOLS"
    );
    let class = |name: &str, share, number, is_lossless| TrafficClass {
        name: name.to_owned(),
        share,
        is_lossless,
        has_deadline: false,
        number,
        dscps: vec![],
    };
    let classes = [
        class("bulk", Some(0.6), 0, true),
        class("storage & more", Some(0.3), 1, true),
        class("best effort", Some(0.1), 2, false),
        class("control", None, 3, true),
    ];
    let groups = opafm_qos_groups(&classes).unwrap();
    let (is_accepted, printed) = check(&with_groups(&groups), "good");
    assert!(is_accepted, "{printed}\n{groups}");
    let (is_accepted, printed) = check(&with_groups(&groups.replace("60%", "300%")), "bad");
    assert!(!is_accepted, "the checker looks at the groups: {printed}");
}

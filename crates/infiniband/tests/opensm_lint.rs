//! Files with one error each, and their expected notes.
//!
//! `NAME.notes` has the expected notes of `NAME.conf`: code, line and message of each note, with
//! remarks after `remark:`. A file whose name begins with `clean` has no findings.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use netloom_catalog::{Note, Place};
use netloom_infiniband::opensm::{Conf, Fabric, Policy, Report, Subject, codes, lint};
use netloom_infiniband::{
    Cable, Device, Guid, Node, NodeId, NodeKind, PortLanes, PortName, Subnet, SubnetPort,
};

/// Two hosts at one switch, with tables of `cap` entries.
fn fabric(cap: u8, device: Option<Device>) -> (Subnet, BTreeMap<PortName, PortLanes>) {
    let cable = |node, port| Cable {
        node: NodeId(node),
        port,
        width: None,
        speed: None,
    };
    let port = |guid, cable| SubnetPort {
        guid,
        cable,
        ..SubnetPort::default()
    };
    let node = |kind, guid, description: &str, ports| Node {
        kind,
        guid: Guid(guid),
        system_guid: None,
        device,
        description: description.to_owned(),
        ports,
    };
    let host = |n: u32| {
        let ports = vec![
            SubnetPort::default(),
            port(Some(Guid(u64::from(n) * 16 + 1)), Some(cable(0, n as u8))),
        ];
        node(
            NodeKind::ChannelAdapter,
            u64::from(n) * 16,
            &format!("node {}", n - 1),
            ports,
        )
    };
    let switch = NodeKind::Switch {
        enhanced_port_0: false,
    };
    let ports = vec![
        SubnetPort::default(),
        port(None, Some(cable(1, 1))),
        port(None, Some(cable(2, 1))),
    ];
    let subnet = Subnet {
        nodes: vec![node(switch, 0x100, "switch", ports), host(1), host(2)],
    };
    let lanes = PortLanes {
        cap: Some(8),
        operational: Some(8),
        low_cap: Some(cap),
        high_cap: Some(cap),
        ..PortLanes::default()
    };
    let names = [(0x100, 1), (0x100, 2), (0x10, 1), (0x20, 1)];
    let known = names.map(|(node, port)| {
        let name = PortName {
            node: Guid(node),
            port,
        };
        (name, lanes)
    });
    (subnet, known.into())
}

fn line_of(place: Place, texts: &[&str]) -> String {
    let text = texts[usize::from(place.source)];
    let line = text[..place.start as usize].matches('\n').count() + 1;
    match place.source {
        0 => line.to_string(),
        1 => format!("policy {line}"),
        _ => format!("log {line}"),
    }
}

fn shown(report: &Report, texts: &[&str]) -> String {
    let mut text = String::new();
    let mut add = |before: &str, notes: Vec<Note>| {
        for note in notes {
            let (place, _) = note.places[0];
            let line = line_of(place, texts);
            let _ = writeln!(text, "{before}{} {line}: {}", note.code, note.message);
            if let Some(help) = note.help {
                let _ = writeln!(text, "    {help}");
            }
        }
    };
    add("", report.findings.clone().sorted());
    add("remark: ", report.remarks.clone().sorted());
    text
}

fn run(name: &str) -> (Report, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opensm/lint");
    let read =
        |name: &str, end: &str| fs::read_to_string(folder.join(format!("{name}.{end}"))).ok();
    let conf_text = read(name, "conf")
        .or_else(|| read("clean_two_lanes", "conf"))
        .expect("a file");
    let (policy_text, log) = (read(name, "policy"), read(name, "log"));
    let conf = Conf::read(&conf_text, 0);
    let policy = policy_text.as_ref().map(|text| Policy::read(text, 1));
    let cap = match name {
        "fault_01_cap_64" => Some(64),
        "fault_05_more_than_cap" | "fault_11_base_port_0" => Some(8),
        "fault_10_port_name" | "clean_policy" | "clean_quantum_2" => Some(16),
        _ => None,
    };
    let device = (name == "clean_quantum_2").then_some(Device {
        vendor: 0x2c9,
        device: 0xd2f2,
    });
    let known = cap.map(|cap| fabric(cap, device));
    let fabric = known
        .as_ref()
        .map(|(subnet, lanes)| Fabric { subnet, lanes });
    let report = lint(&Subject {
        policy: policy.as_ref(),
        fabric,
        log: log.as_deref().map(|log| (log, 2)),
        ..Subject::of(&conf)
    });
    let texts = [
        conf_text.as_str(),
        policy_text.as_deref().unwrap_or_default(),
        log.as_deref().unwrap_or_default(),
    ];
    let text = shown(&report, &texts);
    (report, text)
}

#[test]
fn every_file_gives_the_notes_beside_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opensm/lint");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("the folder")
        .filter_map(|entry| {
            let path = entry.expect("an entry").path();
            let is_input = path
                .extension()
                .is_some_and(|end| end == "conf" || end == "policy");
            is_input.then(|| {
                path.file_stem()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned()
            })
        })
        .collect();
    names.sort();
    names.dedup();
    assert!(names.len() > 30, "{names:?}");
    let mut found_codes = vec![];
    let mut wrong = vec![];
    for name in &names {
        let (report, text) = run(name);
        let expected = folder.join(format!("{name}.notes"));
        if std::env::var_os("NETLOOM_WRITE_NOTES").is_some() {
            fs::write(&expected, &text).expect("the notes");
        }
        if fs::read_to_string(&expected).unwrap_or_default() != text {
            wrong.push(format!("{name}:\n{text}"));
        }
        if name.starts_with("clean") {
            assert!(report.findings.is_empty(), "{name}:\n{text}");
        } else {
            assert!(!report.findings.is_empty(), "{name} has no findings");
        }
        let notes = report.findings.iter().chain(report.remarks.iter());
        found_codes.extend(notes.map(|note| note.code));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for code in found_codes {
        assert!(
            codes().iter().any(|known| known.name == code),
            "{code} is not explained"
        );
    }
}

#[test]
fn every_code_is_shown_by_a_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opensm/lint");
    let all: String = fs::read_dir(&folder)
        .expect("the folder")
        .filter_map(|entry| {
            let path = entry.expect("an entry").path();
            let is_expected = path.extension().is_some_and(|end| end == "notes");
            is_expected.then(|| fs::read_to_string(path).expect("the notes"))
        })
        .collect();
    let missing: Vec<&str> = codes()
        .iter()
        .map(|code| code.name)
        .filter(|code| !all.contains(code))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

//! Checks the rules of torus-2QoS.

use netloom_units::Vl;

use crate::opensm::keys::{QosKey, QosSet, key_name};
use crate::opensm::lists::read_entries;
use crate::opensm::programming::lanes_of_code;
use crate::opensm::{Effective, Origin};

use super::{Report, Subject, words};

/// Lanes of the two classes of torus-2QoS between switches.
const CLASSES: [std::ops::Range<u8>; 2] = [0..4, 4..8];

/// Returns whether torus-2QoS is requested.
pub(super) fn is_wanted(subject: &Subject<'_>) -> bool {
    subject.conf.routing_engines().contains(&"torus-2QoS")
}

/// E1163: violated rules of torus-2QoS.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let conf = subject.conf;
    let Some(engine) = conf.text("routing_engine").filter(|_| is_wanted(subject)) else {
        return;
    };
    let mut found = vec![];
    if !conf.is_qos_on() {
        let message = "torus-2QoS needs QoS, which is off: its paths can deadlock".to_owned();
        found.push((engine.place, message, "add `qos TRUE`"));
    }
    if let Some(limit) = conf
        .last("max_op_vls")
        .filter(|_| lanes_of_code(conf.max_op_vls()) < 8)
    {
        let message = format!(
            "torus-2QoS needs VL0-7 between switches, but `max_op_vls {}` has fewer lanes",
            limit.value
        );
        found.push((limit.place, message, "set `max_op_vls 4`"));
    }
    for set in QosSet::ALL {
        if let Some(setting) = conf.text(&key_name(set, QosKey::Sl2Vl)) {
            let message = format!(
                "torus-2QoS makes its own map of service levels: `{}` is ignored",
                setting.key
            );
            found.push((setting.key_place, message, "remove the line"));
        }
    }
    for key in [QosKey::VlarbHigh, QosKey::VlarbLow] {
        if let Some(setting) = conf.text(&key_name(QosSet::Default, key)) {
            let message = format!(
                "`{}` gives hosts and switches the same table, which torus-2QoS cannot use",
                setting.key
            );
            found.push((
                setting.key_place,
                message,
                "use qos_ca_vlarb_* and qos_swe_vlarb_*",
            ));
        }
    }
    let switch = Effective::of(conf, QosSet::SwitchExternal);
    let host = Effective::of(conf, QosSet::ChannelAdapter);
    for (list, origin) in [switch.high, switch.low] {
        let Origin::Line(setting, QosSet::SwitchExternal) = origin else {
            continue;
        };
        let weight = |vl: u8| -> u32 {
            let entries = read_entries(list).into_iter();
            let of_lane = entries.filter(|entry| entry.vl == Vl(vl));
            of_lane.map(|entry| u32::from(entry.weight)).sum()
        };
        for class in CLASSES {
            let weights: Vec<u32> = class.clone().map(weight).collect();
            if weights.iter().any(|weight| *weight != weights[0]) {
                let message = format!(
                    "`{}`: torus-2QoS needs equal weights for {}, found {}",
                    setting.key,
                    words::lanes(class.map(Vl)),
                    words::and(weights)
                );
                found.push((
                    setting.place,
                    message,
                    "give each lane of the class the same weight",
                ));
            }
        }
    }
    for (list, origin) in [host.high, host.low] {
        let Origin::Line(setting, QosSet::ChannelAdapter) = origin else {
            continue;
        };
        let beyond: Vec<Vl> = read_entries(list)
            .into_iter()
            .filter(|entry| entry.weight > 0 && entry.vl.0 > 1)
            .map(|entry| entry.vl)
            .collect();
        if !beyond.is_empty() {
            let message = format!(
                "`{}`: with torus-2QoS hosts use only VL0 and VL1, never {}",
                setting.key,
                words::lanes(beyond)
            );
            found.push((setting.place, message, "remove the entries"));
        }
    }
    for (place, message, help) in found {
        report.findings.warning("E1163", place, message).help(help);
    }
}

//! Checks that the tables fit the ports of the fabric.

use netloom_catalog::Place;

use crate::opensm::keys::{QosKey, QosSet, key_name};
use crate::opensm::lists::{items, read_entries};
use crate::opensm::programming::entries_written;
use crate::opensm::{Origin, PortKind, operational_lanes};

use super::situations::{
    capabilities, has_own_keys, ports, qos_place, sets_in_use, situations, tables_of,
};
use super::{Fabric, Report, Subject, words};

/// Devices with known firmware issues with the high table and with weights of 0: name and device
/// number.
const KNOWN_ISSUES: [(&str, u32); 2] = [("Switch-IB 2", 0xcf08), ("Quantum-2", 0xd2f2)];

/// The vendor of those devices.
const MELLANOX: u32 = 0x2c9;

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    first_sweep(subject, report);
    room(subject, report);
    port_0(subject, report);
    firmware(subject, report);
}

/// E1152: applies to every file that programs tables.
fn first_sweep(subject: &Subject<'_>, report: &mut Report) {
    if !subject.conf.is_qos_on() {
        return;
    }
    let mut message =
        "the first sweep folds tables of switches by the earlier OperVLs of their ports".to_owned();
    let changing = subject
        .fabric
        .as_ref()
        .map(|fabric| changing_ports(subject, fabric));
    if let Some((n, before, after)) = changing.flatten() {
        message.push_str(&format!(
            "; {n} switch ports of the fabric change, for example from {} to {}",
            words::range_of(before),
            words::range_of(after)
        ));
    }
    report
        .remarks
        .warning("E1152", qos_place(subject), message)
        .help("send SIGHUP to OpenSM once it is up, and read the tables back");
}

/// Returns how many switch ports will change their number of lanes, and the old and new numbers of
/// the first of them.
fn changing_ports(subject: &Subject<'_>, fabric: &Fabric<'_>) -> Option<(usize, u8, u8)> {
    let code = subject.conf.max_op_vls();
    let changes: Vec<(u8, u8)> = ports(fabric)
        .filter(|(_, _, kind)| *kind == PortKind::SwitchExternal)
        .filter_map(|(name, node, kind)| {
            let port = capabilities(fabric, node, name)?;
            Some((
                port.operational_before,
                operational_lanes(code, kind, &port),
            ))
        })
        .filter(|(before, after)| before != after)
        .collect();
    let (before, after) = *changes.first()?;
    Some((changes.len(), before, after))
}

/// E1149 and E1150: entries beyond the table size of a port, or that OpenSM does not write.
fn room(subject: &Subject<'_>, report: &mut Report) {
    for situation in situations(subject) {
        let Some(ports) = &situation.ports else {
            continue;
        };
        for (key, list, origin) in tables_of(&situation.effective) {
            let cap = match key {
                QosKey::VlarbHigh => ports.high_cap,
                _ => ports.low_cap,
            };
            let (n, written) = (read_entries(list).len(), usize::from(entries_written(cap)));
            let Origin::Line(setting, _) = origin else {
                continue;
            };
            if n <= written {
                continue;
            }
            let span = items(list)
                .get(written)
                .map_or(0..list.len(), |item| item.span.clone());
            let place: Place = setting.part(span);
            if usize::from(cap) > written {
                let message = format!(
                    "`{}`: {} can hold {cap} entries, but OpenSM writes only the first {written} \
                      and zeros for the other {} of the list",
                    setting.key,
                    situation.words(),
                    n - written
                );
                report
                    .findings
                    .error("E1150", place, message)
                    .help(format!("use at most {written} entries"));
            } else {
                let message = format!(
                    "`{}`: {} can hold only {cap} of the {}; OpenSM silently drops the other {}",
                    setting.key,
                    situation.words(),
                    words::entries(n),
                    n - written
                );
                report
                    .findings
                    .error("E1149", place, message)
                    .help(format!("use at most {cap} entries for these ports"));
            }
        }
    }
}

/// E1169: keys for a kind of port that the fabric does not have.
fn port_0(subject: &Subject<'_>, report: &mut Report) {
    let is_there = sets_in_use(subject).contains(&QosSet::SwitchPort0);
    if subject.fabric.is_none() || is_there || !has_own_keys(subject, QosSet::SwitchPort0) {
        return;
    }
    let keys = QosKey::ALL.map(|key| key_name(QosSet::SwitchPort0, key));
    let first = subject
        .conf
        .settings
        .iter()
        .find(|setting| keys.contains(&setting.key));
    if let Some(setting) = first {
        let message =
            "no switch of the fabric has an enhanced port 0: the qos_sw0_ keys have no effect";
        report
            .findings
            .warning("E1169", setting.key_place, message)
            .help("remove these keys");
    }
}

/// E1172: firmware with known issues.
fn firmware(subject: &Subject<'_>, report: &mut Report) {
    let Some(fabric) = subject.fabric.filter(|_| subject.conf.is_qos_on()) else {
        return;
    };
    for (name, device) in KNOWN_ISSUES {
        let nodes = fabric.subnet.nodes.iter().filter(|node| {
            let of_node = node.device.map(|device| (device.vendor, device.device));
            node.kind.is_switch() && of_node == Some((MELLANOX, device))
        });
        let n = nodes.count();
        if n > 0 {
            let message = format!(
                "the firmware of {name} has known issues with the limit of the high table and with \
                 weights of 0 (switches in the fabric: {n})"
            );
            report
                .remarks
                .warning("E1172", qos_place(subject), message)
                .help("use only the low table, without weights of 0, or measure");
        }
    }
}

//! `[qos]`: lanes, the maps from service levels to them, packet sizes, and who is next on a link.

use std::sync::Arc;

use netloom_arbitration::Policy;
use netloom_catalog::{
    Kind, Param, Params, Resolved, ResolvedLine, Section, Shape, ValueShape, params, read_kind,
};

use super::mapping::{ChannelLanes, ChannelLevels, ChannelSets, LaneRow, LevelMtus};
use super::reading::{resolved_table, table};

/// Quality of service, as the file gives it.
pub(crate) struct QosSpec {
    pub(crate) values: Option<QosValues>,
    pub(crate) exceptions: Option<Vec<Sl2VlException>>,
    pub(crate) arbiter: Option<Arc<dyn Policy>>,
    /// `None` inside where it is the same as at the switches.
    pub(crate) nic_arbiter: Option<Option<Arc<dyn Policy>>>,
}

params! {
    /// Lanes, which service level takes which, and how large its packets are.
    #[derive(Clone, Debug)]
    pub(crate) struct QosValues {
        /// Data lanes that service levels map to; left out, as many as they need.
        pub(crate) vls: Option<u8> = None,
        /// The lane of service level 0, 1, 2, …, at most 16; left out, SL n takes VL n modulo `vls`.
        pub(crate) sl2vl: Option<LaneRow> = None,
        /// Instead of `sl2vl`, the service channel of service level 0, 1, 2, …, or a list of its channels, of
        /// which each flow takes one. A channel is of one level; left out, SL n has SC n.
        pub(crate) sl2sc: Option<ChannelSets> = None,
        /// The lane of service channel 0, 1, 2, …, at most 32; left out, SC n takes VL n modulo `vls`.
        pub(crate) sc2vl: Option<ChannelLanes> = None,
        /// The service level of service channel 0, 1, 2, …: the inverse of `sl2sc`, from which it follows.
        pub(crate) sc2sl: Option<ChannelLevels> = None,
        /// Largest payload of a packet of service level 0, 1, 2, …, at most that of `link.mtu`; left out, that.
        pub(crate) sl_mtu: Option<LevelMtus> = None,
    }
    check |it, section| {
        if it.vls.is_some_and(|vls| !(1..=15).contains(&vls)) {
            let place = section.place_of("vls");
            section.notes.error("E0401", place, "a link has 1 to 15 data lanes").help("VL15 is for management and not counted");
        }
    }
}

params! {
    /// A row of the SL2VL table that holds for one (switch, input, output) only.
    #[derive(Clone, Debug)]
    pub(crate) struct Sl2VlException {
        /// The switch.
        pub(crate) switch: u32,
        /// The port a packet comes in by.
        pub(crate) input: u16,
        /// The port it leaves by.
        pub(crate) output: u16,
        /// The lane of service level 0, 1, 2, …; what is left out is as everywhere.
        pub(crate) row: LaneRow,
    }
}

/// Reads `[qos]`.
pub(crate) fn read(section: &mut Section<'_>, arbiters: &[Kind<dyn Policy>]) -> QosSpec {
    let values = QosValues::read(section);
    let arbiter = read_kind(section, "arbiter", "arbiter", arbiters, Some("round-robin"));
    let arbiter = arbiter.map(Arc::<dyn Policy>::from);
    let nic_arbiter = match section.raw("nic-arbiter") {
        Some(_) => {
            read_kind(section, "nic-arbiter", "arbiter", arbiters, None).map(|p| Some(Arc::from(p)))
        }
        None => {
            if let Some(same) = resolved_table(&mut section.resolved, &["arbiter"]).cloned() {
                let line = ResolvedLine::Table("nic-arbiter".into(), as_default(same));
                section.resolved.lines.push(line);
            }
            Some(None)
        }
    };
    let exceptions = read_exceptions(section);
    QosSpec {
        values,
        exceptions,
        arbiter,
        nic_arbiter,
    }
}

fn as_default(mut table: Resolved) -> Resolved {
    for line in &mut table.lines {
        if let ResolvedLine::Value { is_default, .. } = line {
            *is_default = true;
        }
    }
    table
}

fn read_exceptions(section: &mut Section<'_>) -> Option<Vec<Sl2VlException>> {
    let Some(value) = section.raw("sl2vl-exception") else {
        return Some(vec![]);
    };
    let ValueShape::List(items) = &value.shape else {
        section
            .notes
            .error(
                "E0101",
                value.place,
                format!("expected a list of tables, found {}", value.shape.word()),
            )
            .help("write [[qos.sl2vl-exception]] and below it switch, input, output and row");
        return None;
    };
    let mut exceptions = Some(vec![]);
    for item in items {
        let Some(mut inner) = Section::open(item, section.notes) else {
            exceptions = None;
            continue;
        };
        let read = Sl2VlException::read(&mut inner);
        let line = ResolvedLine::Item("sl2vl-exception".into(), inner.finish());
        section.resolved.lines.push(line);
        match (read, &mut exceptions) {
            (Some(exception), Some(list)) => list.push(exception),
            _ => exceptions = None,
        }
    }
    exceptions
}

/// Reads `[qos]` from the root.
pub(crate) fn read_from(root: &mut Section<'_>, arbiters: &[Kind<dyn Policy>]) -> Option<QosSpec> {
    table(root, "qos", |section| Some(read(section, arbiters)))
}

/// The keys of `[qos]`.
pub(crate) fn params() -> Vec<Param> {
    let arbiter = |name: &str, about: &str, default: &str| Param {
        name: name.to_owned(),
        about: about.to_owned(),
        shape: Shape::Kind("arbiter"),
        default: Some(default.to_owned()),
    };
    let mut params = QosValues::params();
    params.push(arbiter(
        "arbiter",
        "Who is next on a link behind a switch.",
        "\"round-robin\"",
    ));
    params.push(arbiter(
        "nic-arbiter",
        "Who is next on a link behind a NIC; left out, the same as at switches.",
        "",
    ));
    params
}

//! `[qos]`: lanes, the maps from service levels to lanes, packet sizes, and arbiters.

use std::sync::Arc;

use netloom_arbitration::Policy;
use netloom_catalog::{
    Kind, Param, Params, Resolved, ResolvedLine, Section, Shape, ValueShape, params, read_kind,
};

use super::mapping::{
    ChannelChanges, ChannelLanes, ChannelLevels, ChannelSets, LaneRow, LevelMtus,
};
use super::reading::{resolved_table, table};

/// Quality of service as given in the file.
pub(crate) struct QosSpec {
    pub(crate) values: Option<QosValues>,
    pub(crate) exceptions: OwnRows,
    pub(crate) arbiter: Option<Arc<dyn Policy>>,
    /// The inner `None` means the arbiter of the switches.
    pub(crate) nic_arbiter: Option<Option<Arc<dyn Policy>>>,
}

params! {
    /// Lanes, the maps from service levels to lanes, and packet sizes.
    #[derive(Clone, Debug)]
    pub(crate) struct QosValues {
        /// Number of data lanes for service levels. The default is as many as they need.
        pub(crate) vls: Option<u8> = None,
        /// The lanes of service levels 0, 1, 2, …, at most 16. By default SL n uses VL n modulo
        /// `vls`.
        pub(crate) sl2vl: Option<LaneRow> = None,
        /// Instead of `sl2vl`: the service channels of service levels 0, 1, 2, …. An entry is a
        /// channel, or a list of channels of which each flow uses one. A channel belongs to one
        /// level. By default SL n has SC n.
        pub(crate) sl2sc: Option<ChannelSets> = None,
        /// The lanes of service channels 0, 1, 2, …, at most 32. By default SC n uses VL n modulo
        /// `vls`.
        pub(crate) sc2vl: Option<ChannelLanes> = None,
        /// The service channels that packets of service channels 0, 1, 2, … have after a switch, at
        /// most 32. A channel beyond the end of the list does not change.
        pub(crate) sc2sc: Option<ChannelChanges> = None,
        /// The service levels of service channels 0, 1, 2, …: the inverse of `sl2sc`, from which it
        /// follows.
        pub(crate) sc2sl: Option<ChannelLevels> = None,
        /// Largest payloads of packets of service levels 0, 1, 2, …, at most `link.mtu`. The
        /// default is `link.mtu`.
        pub(crate) sl_mtu: Option<LevelMtus> = None,
    }
    check |it, section| {
        if it.vls.is_some_and(|vls| !(1..=15).contains(&vls)) {
            let place = section.place_of("vls");
            section
                .notes
                .error("E0401", place, "a link has 1 to 15 data lanes")
                .help("use 1 to 15; VL15 is reserved for management and not counted");
        }
    }
}

params! {
    /// A row of the SL2VL table for one (switch, input, output) only.
    #[derive(Clone, Debug)]
    pub(crate) struct Sl2VlException {
        /// The switch.
        pub(crate) switch: u32,
        /// The input port of the packet.
        pub(crate) input: u16,
        /// The output port of the packet.
        pub(crate) output: u16,
        /// The lanes of service levels 0, 1, 2, …. Missing entries are those of `sl2vl`.
        pub(crate) row: LaneRow,
    }
}

params! {
    /// A row of the SC2VL table for one switch, or for one of its outputs.
    #[derive(Clone, Debug)]
    pub(crate) struct Sc2VlException {
        /// The switch.
        pub(crate) switch: u32,
        /// The output port of the packet. The default is every port of the switch.
        pub(crate) output: Option<u16> = None,
        /// The lanes of service channels 0, 1, 2, …. Missing entries are those of `sc2vl`.
        pub(crate) row: ChannelLanes,
    }
}

params! {
    /// A row of the SC2SC table for one switch, one of its inputs or outputs, or a pair of them.
    #[derive(Clone, Debug)]
    pub(crate) struct Sc2ScException {
        /// The switch.
        pub(crate) switch: u32,
        /// The input port of the packet. The default is every port of the switch.
        pub(crate) input: Option<u16> = None,
        /// The output port of the packet. The default is every port of the switch.
        pub(crate) output: Option<u16> = None,
        /// The new channels of service channels 0, 1, 2, …. Missing entries are those of `sc2sc`.
        pub(crate) row: ChannelChanges,
    }
}

/// A map that single ports can override with their own rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OwnMap {
    /// The key of the rows is `NAME-exception`.
    pub(crate) name: &'static str,
    /// What the map takes, "SL" or "SC".
    pub(crate) from: &'static str,
    /// Keys of each row.
    parts: &'static str,
}

pub(crate) const BY_LEVEL: OwnMap = OwnMap {
    name: "sl2vl",
    from: "SL",
    parts: "switch, input, output and row",
};
pub(crate) const BY_CHANNEL: OwnMap = OwnMap {
    name: "sc2vl",
    from: "SC",
    parts: "switch, output and row",
};

pub(crate) const CHANGES: OwnMap = OwnMap {
    name: "sc2sc",
    from: "SC",
    parts: "switch, input, output and row",
};

/// A row for single ports of a switch.
pub(crate) struct OwnRow {
    pub(crate) map: OwnMap,
    /// Index in the list of its map.
    at: usize,
    pub(crate) switch: u32,
    /// `None` for every port.
    pub(crate) input: Option<u16>,
    pub(crate) output: Option<u16>,
    pub(crate) row: Vec<u8>,
}

/// The rows of single ports that could be read.
#[derive(Default)]
pub(crate) struct OwnRows {
    pub(crate) rows: Vec<OwnRow>,
    /// Whether other rows were invalid, with their errors noted.
    pub(crate) are_some_missing: bool,
}

impl OwnRow {
    /// Returns its path in the file.
    pub(crate) fn path(&self) -> String {
        format!("qos.{}-exception.{}", self.map.name, self.at)
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
    let mut exceptions = OwnRows::default();
    read_exceptions(section, BY_LEVEL, &mut exceptions, |section, at| {
        let own = Sl2VlException::read(section)?;
        Some(OwnRow {
            map: BY_LEVEL,
            at,
            switch: own.switch,
            input: Some(own.input),
            output: Some(own.output),
            row: own.row.0,
        })
    });
    read_exceptions(section, BY_CHANNEL, &mut exceptions, |section, at| {
        let own = Sc2VlException::read(section)?;
        Some(OwnRow {
            map: BY_CHANNEL,
            at,
            switch: own.switch,
            input: None,
            output: own.output,
            row: own.row.0,
        })
    });
    read_exceptions(section, CHANGES, &mut exceptions, |section, at| {
        let own = Sc2ScException::read(section)?;
        Some(OwnRow {
            map: CHANGES,
            at,
            switch: own.switch,
            input: own.input,
            output: own.output,
            row: own.row.0,
        })
    });
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

fn read_exceptions(
    section: &mut Section<'_>,
    map: OwnMap,
    exceptions: &mut OwnRows,
    read: impl Fn(&mut Section<'_>, usize) -> Option<OwnRow>,
) {
    let key = format!("{}-exception", map.name);
    let Some(value) = section.raw(&key) else {
        return;
    };
    let ValueShape::List(items) = &value.shape else {
        section
            .notes
            .error(
                "E0101",
                value.place,
                format!("expected a list of tables, found {}", value.shape.word()),
            )
            .help(format!("use [[qos.{key}]], and below it {}", map.parts));
        exceptions.are_some_missing = true;
        return;
    };
    for (at, item) in items.iter().enumerate() {
        let own = Section::open(item, section.notes).and_then(|mut inner| {
            let own = read(&mut inner, at);
            let line = ResolvedLine::Item(key.clone(), inner.finish());
            section.resolved.lines.push(line);
            own
        });
        exceptions.are_some_missing |= own.is_none();
        exceptions.rows.extend(own);
    }
}

/// Reads `[qos]` from the root.
pub(crate) fn read_from(root: &mut Section<'_>, arbiters: &[Kind<dyn Policy>]) -> Option<QosSpec> {
    table(root, "qos", |section| Some(read(section, arbiters)))
}

/// Returns the keys of `[qos]`.
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
        "Which packet a switch sends next on a link.",
        "\"round-robin\"",
    ));
    params.push(arbiter(
        "nic-arbiter",
        "Which packet a NIC sends next on its link. The default is the arbiter of the switches.",
        "",
    ));
    params
}

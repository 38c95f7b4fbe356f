//! `[qos]`: lanes, the maps from service levels to them, packet sizes, and who is next on a link.

use std::sync::Arc;

use netloom_arbitration::Policy;
use netloom_catalog::{
    Kind, Param, Params, Resolved, ResolvedLine, Section, Shape, ValueShape, params, read_kind,
};

use super::mapping::{
    ChannelChanges, ChannelLanes, ChannelLevels, ChannelSets, LaneRow, LevelMtus,
};
use super::reading::{resolved_table, table};

/// Quality of service, as the file gives it.
pub(crate) struct QosSpec {
    pub(crate) values: Option<QosValues>,
    pub(crate) exceptions: OwnRows,
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
        /// The service channel with which a packet of service channel 0, 1, 2, … goes on behind a switch, at most 32; what is
        /// left out stays as it is.
        pub(crate) sc2sc: Option<ChannelChanges> = None,
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

params! {
    /// A row of the SC2VL table that holds for one switch, or for one of its outputs.
    #[derive(Clone, Debug)]
    pub(crate) struct Sc2VlException {
        /// The switch.
        pub(crate) switch: u32,
        /// The port a packet leaves by; left out, every port of the switch.
        pub(crate) output: Option<u16> = None,
        /// The lane of service channel 0, 1, 2, …; what is left out is as everywhere.
        pub(crate) row: ChannelLanes,
    }
}

params! {
    /// A row of the SC2SC table that holds for one switch, or for one of its inputs or outputs, or for a pair of them.
    #[derive(Clone, Debug)]
    pub(crate) struct Sc2ScException {
        /// The switch.
        pub(crate) switch: u32,
        /// The port a packet comes in by; left out, every port of the switch.
        pub(crate) input: Option<u16> = None,
        /// The port it leaves by; left out, every port of the switch.
        pub(crate) output: Option<u16> = None,
        /// What service channel 0, 1, 2, … becomes; what is left out is as everywhere.
        pub(crate) row: ChannelChanges,
    }
}

/// A map of which single ports may have rows of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OwnMap {
    /// The key of the rows is `NAME-exception`.
    pub(crate) name: &'static str,
    /// What it maps, "SL" or "SC".
    pub(crate) from: &'static str,
    /// What each row has.
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

/// A row that holds for single ports of a switch.
pub(crate) struct OwnRow {
    pub(crate) map: OwnMap,
    /// Its place in the list of its map.
    at: usize,
    pub(crate) switch: u32,
    /// Every port where there is none.
    pub(crate) input: Option<u16>,
    pub(crate) output: Option<u16>,
    pub(crate) row: Vec<u8>,
}

/// The rows of single ports that could be read.
#[derive(Default)]
pub(crate) struct OwnRows {
    pub(crate) rows: Vec<OwnRow>,
    /// There are others, whose mistakes are noted.
    pub(crate) are_some_missing: bool,
}

impl OwnRow {
    /// Where the file has it.
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
            .help(format!("write [[qos.{key}]] and below it {}", map.parts));
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

//! The keys of opensm.conf.

use std::fmt;

/// The five sets of QoS keys: one for each kind of port, and the one that the others fall back to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum QosSet {
    /// `qos_*`: for every kind that has no key of its own.
    Default,
    /// `qos_ca_*`.
    ChannelAdapter,
    /// `qos_swe_*`.
    SwitchExternal,
    /// `qos_sw0_*`.
    SwitchPort0,
    /// `qos_rtr_*`.
    Router,
}

impl QosSet {
    /// All sets, the default one first.
    pub const ALL: [QosSet; 5] = [
        QosSet::Default,
        QosSet::ChannelAdapter,
        QosSet::SwitchExternal,
        QosSet::SwitchPort0,
        QosSet::Router,
    ];

    /// The sets of real ports.
    pub const OF_PORTS: [QosSet; 4] = [
        QosSet::ChannelAdapter,
        QosSet::SwitchExternal,
        QosSet::SwitchPort0,
        QosSet::Router,
    ];

    /// What its keys begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            QosSet::Default => "qos",
            QosSet::ChannelAdapter => "qos_ca",
            QosSet::SwitchExternal => "qos_swe",
            QosSet::SwitchPort0 => "qos_sw0",
            QosSet::Router => "qos_rtr",
        }
    }
}

impl fmt::Display for QosSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QosSet::Default => "ports without keys of their own",
            QosSet::ChannelAdapter => "channel adapters",
            QosSet::SwitchExternal => "switch ports",
            QosSet::SwitchPort0 => "ports 0 of switches",
            QosSet::Router => "router ports",
        })
    }
}

/// What a key of a set says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum QosKey {
    /// `max_vls`, which does nothing.
    MaxVls,
    /// `high_limit`.
    HighLimit,
    /// `vlarb_high`.
    VlarbHigh,
    /// `vlarb_low`.
    VlarbLow,
    /// `sl2vl`.
    Sl2Vl,
}

impl QosKey {
    /// All keys of a set.
    pub const ALL: [QosKey; 5] = [
        QosKey::MaxVls,
        QosKey::HighLimit,
        QosKey::VlarbHigh,
        QosKey::VlarbLow,
        QosKey::Sl2Vl,
    ];

    /// What it ends with.
    pub fn suffix(self) -> &'static str {
        match self {
            QosKey::MaxVls => "max_vls",
            QosKey::HighLimit => "high_limit",
            QosKey::VlarbHigh => "vlarb_high",
            QosKey::VlarbLow => "vlarb_low",
            QosKey::Sl2Vl => "sl2vl",
        }
    }
}

/// The name of a key of a set: `qos_swe_vlarb_low`.
pub fn key_name(set: QosSet, key: QosKey) -> String {
    format!("{}_{}", set.prefix(), key.suffix())
}

/// The other keys that are about lanes or service levels: those that a slip of the fingers may have meant.
const OTHER_QOS_KEYS: [&str; 4] = [
    "qos",
    "qos_policy_file",
    "max_op_vls",
    "suppress_sl2vl_mad_status_errors",
];

/// Every key that is about lanes or service levels.
pub(super) fn qos_keys() -> impl Iterator<Item = String> {
    let of_sets = QosSet::ALL
        .into_iter()
        .flat_map(|set| QosKey::ALL.map(|key| key_name(set, key)));
    OTHER_QOS_KEYS.into_iter().map(str::to_owned).chain(of_sets)
}

//! The keys of opensm.conf.

use std::fmt;

/// The five sets of QoS keys: one for each kind of port, and the default set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum QosSet {
    /// `qos_*`: for every kind without its own key.
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
    /// All sets, the default set first.
    pub const ALL: [QosSet; 5] = [
        QosSet::Default,
        QosSet::ChannelAdapter,
        QosSet::SwitchExternal,
        QosSet::SwitchPort0,
        QosSet::Router,
    ];

    /// The sets for kinds of ports.
    pub const OF_PORTS: [QosSet; 4] = [
        QosSet::ChannelAdapter,
        QosSet::SwitchExternal,
        QosSet::SwitchPort0,
        QosSet::Router,
    ];

    /// Returns the prefix of its keys.
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
            QosSet::Default => "ports without their own keys",
            QosSet::ChannelAdapter => "channel adapters",
            QosSet::SwitchExternal => "switch ports",
            QosSet::SwitchPort0 => "ports 0 of switches",
            QosSet::Router => "router ports",
        })
    }
}

/// The part of a key after the prefix of its set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum QosKey {
    /// `max_vls`, which has no effect.
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

    /// Returns the end of the key.
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

/// Returns the name of a key of a set, such as `qos_swe_vlarb_low`.
pub fn key_name(set: QosSet, key: QosKey) -> String {
    format!("{}_{}", set.prefix(), key.suffix())
}

/// Other keys about lanes or service levels, as suggestions for misspelt keys.
const OTHER_QOS_KEYS: [&str; 4] = [
    "qos",
    "qos_policy_file",
    "max_op_vls",
    "suppress_sl2vl_mad_status_errors",
];

/// Returns every key about lanes or service levels.
pub(super) fn qos_keys() -> impl Iterator<Item = String> {
    let of_sets = QosSet::ALL
        .into_iter()
        .flat_map(|set| QosKey::ALL.map(|key| key_name(set, key)));
    OTHER_QOS_KEYS.into_iter().map(str::to_owned).chain(of_sets)
}

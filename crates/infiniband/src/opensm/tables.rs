//! The planned tables of a fabric, one set for each kind of port.

use netloom_arbitration::Entry;

use crate::SlToVl;

use super::keys::QosSet;

/// The planned tables of one kind of port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortTables {
    /// The low table, without trailing entries of weight 0.
    pub low: Vec<Entry>,
    pub high: Vec<Entry>,
    /// LimitOfHighPriority, in units of 4 KiB; 255 means unlimited.
    pub high_limit: u8,
    /// The lane of each service level.
    pub sl_to_vl: SlToVl,
}

/// The planned tables of all ports of a fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tables {
    /// The code of the lanes that links may use: 1 is VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14.
    pub max_op_vls: u8,
    /// For kinds of ports without their own tables.
    pub common: PortTables,
    /// For channel adapters, if they differ.
    pub channel_adapter: Option<PortTables>,
    /// For external ports of switches, if they differ.
    pub switch_external: Option<PortTables>,
    /// For enhanced ports 0 of switches, if they differ.
    pub switch_port_0: Option<PortTables>,
    /// For ports of routers, if they differ.
    pub router: Option<PortTables>,
}

impl Tables {
    /// Creates the same tables for all kinds of ports.
    pub fn everywhere(max_op_vls: u8, tables: PortTables) -> Tables {
        Tables {
            max_op_vls,
            common: tables,
            channel_adapter: None,
            switch_external: None,
            switch_port_0: None,
            router: None,
        }
    }

    /// Returns the tables of a kind of port.
    pub fn of(&self, set: QosSet) -> &PortTables {
        self.own(set).unwrap_or(&self.common)
    }

    /// Returns the own tables of a kind of port, if it has any.
    pub fn own(&self, set: QosSet) -> Option<&PortTables> {
        match set {
            QosSet::Default => Some(&self.common),
            QosSet::ChannelAdapter => self.channel_adapter.as_ref(),
            QosSet::SwitchExternal => self.switch_external.as_ref(),
            QosSet::SwitchPort0 => self.switch_port_0.as_ref(),
            QosSet::Router => self.router.as_ref(),
        }
    }
}

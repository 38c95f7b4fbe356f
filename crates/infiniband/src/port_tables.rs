//! What a subnet manager programs into ports and switches.

use std::collections::BTreeMap;

use netloom_arbitration::Entry;
use netloom_units::{Sl, Vl};

use crate::{Guid, Lid};

/// The lane of each service level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SlToVl(pub [Vl; 16]);

/// The lane that drops packets: a service level mapped to it never leaves by this port.
pub const DROPPED: Vl = Vl(15);

/// The arbitration of one output as read back from a device, including trailing entries of weight
/// 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VlArbitration {
    /// Capacity of the low table, in entries.
    pub low_cap: u8,
    /// Capacity of the high table, in entries.
    pub high_cap: u8,
    pub low: Vec<Entry>,
    pub high: Vec<Entry>,
}

/// The fields of PortInfo about lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortLanes {
    /// Data lanes that the port has: 1, 2, 4, 8 or 15.
    pub cap: Option<u8>,
    /// Data lanes that the port uses.
    pub operational: Option<u8>,
    /// LimitOfHighPriority, in units of 4 KiB; 255 means unlimited.
    pub high_limit: Option<u8>,
    /// Capacity of the low table, in entries.
    pub low_cap: Option<u8>,
    /// Capacity of the high table, in entries.
    pub high_cap: Option<u8>,
    /// The largest packet to the neighbour, in bytes.
    pub neighbor_mtu: Option<u16>,
}

/// A port, named by its node and its port number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PortName {
    pub node: Guid,
    /// The port number; 0 is the management port of a switch.
    pub port: u8,
}

/// The output of each address at one switch. An address without an output is unreachable from
/// there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ForwardingTable {
    /// Indexed by LID, with [`NO_OUTPUT`] for an address without an output. The last element is
    /// never [`NO_OUTPUT`], so equal tables compare equal.
    outputs: Vec<u8>,
}

/// The entry of a switch for an address that it cannot reach.
const NO_OUTPUT: u8 = 255;

impl ForwardingTable {
    /// Returns the output for an address; 0 is the switch itself.
    pub fn output(&self, lid: Lid) -> Option<u8> {
        let output = self.outputs.get(usize::from(lid.0)).copied();
        output.filter(|output| *output != NO_OUTPUT)
    }

    /// Sets the output for an address; 255 means no output.
    pub fn set(&mut self, lid: Lid, output: Option<u8>) {
        let at = usize::from(lid.0);
        let output = output.unwrap_or(NO_OUTPUT);
        if at >= self.outputs.len() {
            if output == NO_OUTPUT {
                return;
            }
            self.outputs.resize(at + 1, NO_OUTPUT);
        }
        self.outputs[at] = output;
        while self.outputs.last() == Some(&NO_OUTPUT) {
            self.outputs.pop();
        }
    }

    /// Returns the outputs of all addresses up to the last that has one, as a switch stores them.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.outputs
    }

    /// Returns the addresses with an output, in order.
    pub fn entries(&self) -> impl Iterator<Item = (Lid, u8)> + '_ {
        let numbered = self.outputs.iter().enumerate();
        let reached = numbered.filter(|(_, output)| **output != NO_OUTPUT);
        reached.map(|(lid, output)| (Lid(lid as u16), *output))
    }
}

/// What is programmed in a subnet, as far as known.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Programmed {
    /// Forwarding table of each switch.
    pub forwarding: BTreeMap<Guid, ForwardingTable>,
    /// Lanes by output port and input number. Channel adapters have input 0 only.
    pub sl_to_vl: BTreeMap<(PortName, u8), SlToVl>,
    /// Arbitration of each output.
    pub arbitration: BTreeMap<PortName, VlArbitration>,
    /// The fields of PortInfo about lanes.
    pub lanes: BTreeMap<PortName, PortLanes>,
    /// Service level of the path from a channel adapter to an address.
    pub path_levels: PathLevels,
}

/// The known service levels of paths from a channel adapter to an address.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathLevels {
    /// By source, then by address. One byte each, since a large subnet has many millions of pairs.
    levels: BTreeMap<Guid, Vec<Option<Level>>>,
}

/// A service level plus one, so that an `Option` of it fits in a byte.
pub(crate) type Level = std::num::NonZeroU8;

impl PathLevels {
    /// Returns whether no level is known.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Returns the service level of the path from a channel adapter to an address.
    pub fn level(&self, from: Guid, to: Lid) -> Option<Sl> {
        let levels = self.levels.get(&from)?;
        let level = levels.get(usize::from(to.0)).copied().flatten()?;
        Some(Sl(level.get() - 1))
    }

    /// Returns the service levels of one source by address, each plus one.
    pub(crate) fn of_source(&self, from: Guid) -> Option<&[Option<Level>]> {
        self.levels.get(&from).map(Vec::as_slice)
    }

    /// Sets the service level of a path.
    pub fn set(&mut self, from: Guid, to: Lid, level: Sl) {
        let levels = self.levels.entry(from).or_default();
        let at = usize::from(to.0);
        if at >= levels.len() {
            levels.resize(at + 1, None);
        }
        levels[at] = Level::new(level.0.saturating_add(1));
    }

    /// Returns all paths with a known service level, in order of source and address.
    pub fn iter(&self) -> impl Iterator<Item = (Guid, Lid, Sl)> + '_ {
        self.levels.iter().flat_map(|(from, levels)| {
            let numbered = levels.iter().enumerate();
            numbered
                .filter_map(|(to, level)| Some((*from, Lid(to as u16), Sl((*level)?.get() - 1))))
        })
    }
}

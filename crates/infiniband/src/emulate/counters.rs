//! Packet counters of an emulator.

use std::collections::BTreeMap;

use super::agent::Attribute;

/// The method of a request to an agent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Method {
    /// Read an attribute.
    Get,
    /// Change an attribute.
    Set,
}

/// Numbers of packets by outcome.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Subnet management packets answered by an agent, by attribute and method.
    pub answered: BTreeMap<(Attribute, Method), u64>,
    /// Packets answered with a status other than good.
    pub refused: u64,
    /// Packets forwarded between clients: requests to a manager, and its answers.
    pub forwarded: u64,
    /// Packets for a port that is unreachable or has no client.
    pub unreachable: u64,
    /// Packets dropped on purpose ([`super::Emulator::lose_every`]).
    pub lost: u64,
    /// Invalid datagrams: wrong size, magic or type, unknown client, or unknown node.
    pub malformed: u64,
    /// Clients that exited without disconnecting.
    pub died: u64,
}

impl Counters {
    /// Returns the number of packets answered by agents.
    pub fn n_answered(&self) -> u64 {
        self.answered.values().sum()
    }

    /// Returns the number of packets answered for one attribute and method.
    pub fn n_answered_of(&self, attribute: Attribute, method: Method) -> u64 {
        let found = self.answered.get(&(attribute, method));
        found.copied().unwrap_or(0)
    }
}

//! What passed through an emulator.

use std::collections::BTreeMap;

use super::agent::Attribute;

/// What a packet asks of an agent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Method {
    /// To say an attribute.
    Get,
    /// To change it.
    Set,
}

/// How many packets came, and what became of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Subnet management packets that an agent answered, by what they asked.
    pub answered: BTreeMap<(Attribute, Method), u64>,
    /// Of those, answered with a status other than good.
    pub refused: u64,
    /// Packets handed from one client to another: to a manager, and answers back.
    pub forwarded: u64,
    /// Packets for a port that cannot be reached, or where nobody listens.
    pub unreachable: u64,
    /// Packets lost on purpose ([`super::Emulator::lose_every`]).
    pub lost: u64,
    /// Datagrams that nobody can be helped with: of a wrong size, magic or type, from an unknown client, for an unknown node.
    pub malformed: u64,
    /// Clients that went without a word.
    pub died: u64,
}

impl Counters {
    /// All packets that agents answered.
    pub fn n_answered(&self) -> u64 {
        self.answered.values().sum()
    }

    /// Those that asked one attribute by one method.
    pub fn n_answered_of(&self, attribute: Attribute, method: Method) -> u64 {
        let found = self.answered.get(&(attribute, method));
        found.copied().unwrap_or(0)
    }
}

//! Processes datagrams without sockets: takes bytes, and returns bytes and their recipient.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use super::agent::{self, Asked};
use super::counters::{Counters, Method};
use super::datagram::{
    CONTROL_BYTES, CONTROL_DATA, Control, DATA_BYTES, MAGIC, NO_ANSWER, REFUSED, connection,
    control, data, lid_of, set_word, word, word_of,
};
use super::device::At;
use super::fabric::Fabric;
use super::mad::{self, Attribute64, Status};
use super::{node_info, port_info, port_tables};

/// The number that the server gave to an attached program.
pub(super) type ClientId = u16;

/// The permissive LID, which matches any port at the end of the path.
const PERMISSIVE_LID: u16 = 0xffff;

/// An attached client.
#[derive(Clone, Copy, Debug)]
struct Client {
    /// The process id, which is part of its socket names.
    process: u32,
    /// The port by which its packets leave.
    at: At,
    /// Whether it is a subnet manager.
    is_manager: bool,
}

/// The action of the server after a control datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Controlled {
    /// Sends the datagram back.
    Answer,
    /// Creates a socket for a new client of a process, then sends the datagram back.
    Attached(ClientId, u32),
    /// Closes the socket of a client that disconnected, then sends the datagram back.
    Detached(ClientId),
    /// Does nothing.
    Ignore,
}

/// The emulated nodes and their attached clients.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub(super) fabric: Fabric,
    clients: BTreeMap<ClientId, Client>,
    next_client: ClientId,
    pub(super) counters: Counters,
    /// Drops every n-th packet to an agent.
    pub(super) lose_every: Option<NonZeroU64>,
    n_to_agents: u64,
}

impl Exchange {
    /// Creates an exchange without clients.
    pub(super) fn new(fabric: Fabric) -> Exchange {
        Exchange {
            fabric,
            clients: BTreeMap::new(),
            next_client: 0,
            counters: Counters::default(),
            lose_every: None,
            n_to_agents: 0,
        }
    }

    /// Returns the number of attached clients.
    pub(super) fn n_clients(&self) -> usize {
        self.clients.len()
    }

    /// Returns whether a client is attached.
    #[cfg(test)]
    pub(super) fn is_attached(&self, id: ClientId) -> bool {
        self.clients.contains_key(&id)
    }

    /// Maps any number to an attached client, or returns the number if there is no client.
    #[cfg(test)]
    pub(super) fn known_client(&self, number: u16) -> ClientId {
        let nth = usize::from(number) % self.clients.len().max(1);
        let found = self.clients.keys().nth(nth);
        found.copied().unwrap_or(number)
    }

    /// Returns an earlier client of the same process. A process has only one set of sockets.
    pub(super) fn twin_of(&self, id: ClientId) -> Option<ClientId> {
        let process = self.clients.get(&id)?.process;
        let mut clients = self.clients.iter();
        let found = clients.find(|(other, c)| c.process == process && **other != id);
        found.map(|(twin, _)| *twin)
    }

    /// Removes a client. Its port is no longer marked as a manager's port.
    pub(super) fn detach(&mut self, id: ClientId) {
        self.set_manager(id, false);
        self.clients.remove(&id);
    }

    /// Processes a control datagram, and overwrites it with the answer.
    pub(super) fn control(&mut self, datagram: &mut [u8]) -> Controlled {
        if datagram.len() != CONTROL_BYTES || word(datagram, control::MAGIC) != MAGIC {
            self.counters.malformed += 1;
            return Controlled::Ignore;
        }
        let done = self.controlled(datagram);
        if done.is_none() {
            self.counters.malformed += 1;
            set_word(datagram, control::TYPE, REFUSED);
        }
        done.unwrap_or(Controlled::Answer)
    }

    fn controlled(&mut self, datagram: &mut [u8]) -> Option<Controlled> {
        let control = Control::from_type(word(datagram, control::TYPE))?;
        let asking = word(datagram, control::CLIENT);
        let bytes = &mut datagram[CONTROL_DATA];
        if control == Control::Connect {
            return self.attach(bytes);
        }
        let id = ClientId::try_from(asking).ok()?;
        let at = self.clients.get(&id)?.at;
        let device = &self.fabric.devices[at.device as usize];
        let port = &device.ports[usize::from(at.port)];
        match control {
            Control::Connect | Control::Disconnect => {
                self.detach(id);
                return Some(Controlled::Detached(id));
            }
            Control::Vendor => {
                bytes.fill(0);
                let vendor = node_info::VENDOR_ID.get(&device.node_info);
                let device = node_info::DEVICE_ID.get(&device.node_info);
                set_word(bytes, 0, vendor as u32);
                set_word(bytes, 4, device as u32);
            }
            Control::NodeInfo => {
                bytes.copy_from_slice(&device.node_info);
                node_info::LOCAL_PORT.set(bytes, u64::from(at.port));
                node_info::PORT_GUID.set(bytes, port.guid);
                // The library ignores PortGUID and adds the port number to the node GUID. A manager
                // finds its own port by that sum, so a matching node GUID is returned.
                let fitting = port.guid.wrapping_sub(u64::from(at.port));
                node_info::NODE_GUID.set(bytes, fitting);
            }
            Control::PortInfo => bytes.copy_from_slice(&port.info),
            Control::SetManager => {
                let is_manager = word(bytes, 0) != 0;
                self.set_manager(id, is_manager);
            }
            Control::PartitionKeys => bytes.copy_from_slice(&port.partition_keys[..64]),
        }
        Some(Controlled::Answer)
    }

    /// Attaches a client to the port of the node that it names, or to the first port.
    fn attach(&mut self, bytes: &mut [u8]) -> Option<Controlled> {
        let process = word(bytes, connection::ID);
        let name = &mut bytes[connection::NODE];
        let length = name.iter().position(|b| *b == 0)?;
        let at = match length {
            0 => self.fabric.first_port()?,
            _ => self.fabric.port_of_name(&name[..length])?,
        };
        if length == 0 {
            let description = &self.fabric.device(at).description;
            let copied = name.len() - 1;
            name[..copied].copy_from_slice(&description[..copied]);
        }
        let id = self.free_id()?;
        let client = Client {
            process,
            at,
            is_manager: false,
        };
        self.clients.insert(id, client);
        self.set_manager(id, word(bytes, connection::IS_MANAGER) != 0);
        set_word(bytes, connection::ID, u32::from(id));
        Some(Controlled::Attached(id, process))
    }

    /// Returns a free client number. Numbers are reused late, so that late packets do not reach a
    /// new client.
    fn free_id(&mut self) -> Option<ClientId> {
        for _ in 0..=ClientId::MAX {
            let id = self.next_client;
            self.next_client = id.wrapping_add(1);
            if !self.clients.contains_key(&id) {
                return Some(id);
            }
        }
        None
    }

    /// Sets whether a client is a manager, and marks its port if any manager is there.
    fn set_manager(&mut self, id: ClientId, is_manager: bool) {
        let Some(client) = self.clients.get_mut(&id) else {
            return;
        };
        client.is_manager = is_manager;
        let at = client.at;
        let is_any = self.manager_at(at).is_some();
        let device = &mut self.fabric.devices[at.device as usize];
        let info = &mut device.ports[usize::from(at.port)].info;
        let others = port_info::CAPABILITIES.get(info) & !port_info::capability::IS_MANAGER;
        let own = if is_any {
            port_info::capability::IS_MANAGER
        } else {
            0
        };
        port_info::CAPABILITIES.set(info, others | own);
    }

    /// Returns the manager at a port, or at any port of a switch.
    fn manager_at(&self, at: At) -> Option<ClientId> {
        let is_switch = self.fabric.device(at).switch.is_some();
        let is_there = |client: &Client| {
            client.at.device == at.device && (is_switch || client.at.port == at.port)
        };
        let mut clients = self.clients.iter();
        let found = clients.find(|(_, client)| client.is_manager && is_there(client));
        found.map(|(id, _)| *id)
    }

    /// Delivers a data datagram to its agent or client. Overwrites it with the datagram to send,
    /// and returns the recipient.
    pub(super) fn data(&mut self, from: ClientId, datagram: &mut [u8]) -> Option<ClientId> {
        let (Some(client), DATA_BYTES) = (self.clients.get(&from), datagram.len()) else {
            self.counters.malformed += 1;
            return None;
        };
        let at = client.at;
        let (head, packet) = datagram.split_at_mut(data::MAD);
        let method = mad::METHOD.get(packet);
        if method == mad::TRAP_REPRESS {
            return None;
        }
        if method & mad::IS_RESPONSE != 0 {
            let to = mad::ASKING_CLIENT.get(packet) as ClientId;
            if !self.clients.contains_key(&to) {
                self.counters.unreachable += 1;
                return None;
            }
            self.counters.forwarded += 1;
            set_word(head, data::FROM_LID, word_of(self.lid_at(at)));
            set_word(head, data::STATUS, 0);
            return Some(to);
        }
        mad::ASKING_CLIENT.set(packet, u64::from(from));
        let to = self.request(from, at, head, packet);
        if to.is_none() {
            set_word(head, data::STATUS, NO_ANSWER.to_be());
        }
        // The library has no timeout, so the timeout status is sent at once.
        Some(to.unwrap_or(from))
    }

    /// Answers a request, or forwards it to a manager. Returns `None` if it is not deliverable.
    fn request(
        &mut self,
        from: ClientId,
        start: At,
        head: &mut [u8],
        packet: &mut [u8],
    ) -> Option<ClientId> {
        let class = mad::CLASS.get(packet);
        let method = mad::METHOD.get(packet);
        let attribute = mad::ATTRIBUTE.get(packet);
        let is_directed = class == mad::CLASS_DIRECTED;
        let is_for_agent = (is_directed || class == mad::CLASS_BY_LID)
            && [mad::GET, mad::SET].contains(&method)
            && attribute != mad::SM_INFO;
        if is_for_agent && self.is_lost() {
            self.counters.lost += 1;
            return None;
        }
        let Some(at) = self.destination(start, head, packet, is_directed) else {
            self.counters.unreachable += 1;
            return None;
        };
        if !is_for_agent {
            let Some(manager) = self.manager_at(at) else {
                self.counters.unreachable += 1;
                return None;
            };
            self.counters.forwarded += 1;
            set_word(head, data::FROM_LID, word_of(self.lid_at(start)));
            set_word(head, data::STATUS, 0);
            return Some(manager);
        }
        self.answer(at, packet);
        if is_directed {
            let status = mad::STATUS.get(packet);
            mad::STATUS.set(packet, status | mad::RETURNING);
        }
        swap_words(head, data::TO_LID, data::FROM_LID);
        swap_words(head, data::TO_QUEUE_PAIR, data::FROM_QUEUE_PAIR);
        set_word(head, data::STATUS, 0);
        Some(from)
    }

    /// Returns the destination of a request. The first part of a directed route may be by address.
    fn destination(
        &self,
        start: At,
        head: &[u8],
        packet: &mut [u8],
        is_directed: bool,
    ) -> Option<At> {
        let lid = lid_of(word(head, data::TO_LID));
        if !is_directed {
            return self.fabric.by_lid(start, lid);
        }
        let start = match lid {
            0 | PERMISSIVE_LID => start,
            _ => self.fabric.by_lid(start, lid)?,
        };
        let n_hops = mad::HOP_COUNT.get(packet) as usize;
        let (before, return_path) = packet.split_at_mut(mad::RETURN_PATH.start);
        let path = before[mad::INITIAL_PATH].get(..=n_hops)?;
        self.fabric.by_path(start, path, return_path)
    }

    /// Lets the agent at a port answer a packet.
    fn answer(&mut self, at: At, packet: &mut [u8]) {
        let versions = (
            mad::BASE_VERSION.get(packet),
            mad::CLASS_VERSION.get(packet),
        );
        let asked = Asked {
            is_set: mad::METHOD.get(packet) == mad::SET,
            arrival: at.port,
            modifier: mad::MODIFIER.get(packet) as u32,
        };
        let number = mad::ATTRIBUTE.get(packet);
        let bytes: &mut Attribute64 = (&mut packet[mad::ATTRIBUTE_DATA])
            .try_into()
            .expect("an attribute has 64 bytes");
        let device = &mut self.fabric.devices[at.device as usize];
        let (attribute, status) = match versions {
            (1, 1) => agent::answer(device, number, &asked, bytes),
            _ => (agent::Attribute::Other, Status::BadVersion),
        };
        self.fabric.settle(at.device);
        mad::METHOD.set(packet, mad::GET_RESPONSE);
        mad::STATUS.set(packet, status as u64);
        let method = if asked.is_set {
            Method::Set
        } else {
            Method::Get
        };
        *self
            .counters
            .answered
            .entry((attribute, method))
            .or_default() += 1;
        self.counters.refused += u64::from(status != Status::Good);
    }

    /// Returns the first address of a client's port.
    fn lid_at(&self, at: At) -> u16 {
        let info = &self.fabric.device(at).ports[usize::from(at.port)].info;
        port_info::LID.get(info) as u16
    }

    /// Returns whether the next packet is dropped on purpose.
    fn is_lost(&mut self) -> bool {
        self.n_to_agents += 1;
        let n = self.n_to_agents;
        self.lose_every
            .is_some_and(|every| n.is_multiple_of(every.get()))
    }
}

fn swap_words(bytes: &mut [u8], a: usize, b: usize) {
    let (of_a, of_b) = (word(bytes, a), word(bytes, b));
    set_word(bytes, a, of_b);
    set_word(bytes, b, of_a);
}

/// A port has at least the 32 partition keys of a datagram.
const _: () = assert!(port_tables::N_PARTITION_KEYS >= 32);

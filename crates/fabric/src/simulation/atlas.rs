//! The partition and index of every part of a fabric.

use netloom_topology::{Peer, Topology};
use netloom_units::{NicId, Port, SwitchId};

use crate::plan::FabricPlan;
use crate::switch::PeerRecord;

/// Partition and index of switches, ports and NICs.
pub(crate) struct Atlas {
    /// Partition and index of the first port of each switch.
    first_port: Vec<(u16, u32)>,
    /// Switches of each partition, in order.
    switches: Vec<Vec<SwitchId>>,
    /// NICs of each partition, in order.
    nics: Vec<Vec<NicId>>,
    /// Index of each NIC in its partition.
    nic_index: Vec<u32>,
}

impl Atlas {
    /// Creates the atlas. `n_records` returns the number of port records of a switch.
    pub(crate) fn new(plan: &FabricPlan, n_records: impl Fn(SwitchId) -> u32) -> Self {
        let n = plan.n_partitions();
        let topology = &plan.topology;
        let mut next_port = vec![0u32; n];
        let mut switches = vec![Vec::new(); n];
        let first_port = topology.switches().map(|switch| {
            let partition = plan.partitions[switch.index()];
            let at = usize::from(partition);
            switches[at].push(switch);
            let first = next_port[at];
            next_port[at] += n_records(switch);
            (partition, first)
        });
        let first_port = first_port.collect();
        let mut nics: Vec<Vec<NicId>> = vec![Vec::new(); n];
        let nic_index = topology.nics().map(|nic| {
            let (switch, _) = topology.attachment(nic);
            let here = &mut nics[usize::from(plan.partitions[switch.index()])];
            here.push(nic);
            here.len() as u32 - 1
        });
        Atlas {
            first_port,
            switches,
            nic_index: nic_index.collect(),
            nics,
        }
    }

    /// Returns the partition and index of a port.
    pub(crate) fn port(&self, switch: SwitchId, port: Port) -> (u16, u32) {
        let (partition, first) = self.first_port[switch.index()];
        (partition, first + u32::from(port.0))
    }

    pub(crate) fn switches(&self, partition: u16) -> &[SwitchId] {
        &self.switches[usize::from(partition)]
    }

    pub(crate) fn nics(&self, partition: u16) -> &[NicId] {
        &self.nics[usize::from(partition)]
    }

    /// Returns the other end of a port's link, as seen from its partition.
    pub(crate) fn peer(
        &self,
        topology: &Topology,
        partition: u16,
        switch: SwitchId,
        port: Port,
    ) -> PeerRecord {
        match topology.peer(switch, port) {
            Peer::Unused => PeerRecord::Nobody,
            Peer::Nic(nic) => PeerRecord::Nic(self.nic_index[nic.index()]),
            Peer::Switch(other, there) => match self.port(other, there) {
                (at, port) if at == partition => PeerRecord::Port(port),
                (at, port) => PeerRecord::Remote(at, port),
            },
        }
    }

    /// Returns the switch and port number of a port of a partition.
    pub(crate) fn name_of_port(&self, partition: u16, port: u32) -> (SwitchId, Port) {
        let here = self.switches(partition);
        let at = here.partition_point(|s| self.first_port[s.index()].1 <= port) - 1;
        let first = self.first_port[here[at].index()].1;
        (here[at], Port((port - first) as u16))
    }
}

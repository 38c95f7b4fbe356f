//! Connections: flows of constant rate whose punctuality is measured individually, at their
//! destination.
//!
//! A packet identifies its connection by (source NIC, class, flow). Each partition keeps the meters
//! of the connections that end in it, so that recording touches no other state and merging is a
//! copy.

use netloom_encoding::{Invalid, State, Validity, ensure};
use netloom_metrics::{InterArrival, Punctuality, PunctualityMeter};
use netloom_packet::Packet;
use netloom_units::{NicId, Tick};

use crate::plan::FabricPlan;
use crate::simulation::rows;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionPlan {
    pub source: NicId,
    pub destination: NicId,
    /// Traffic class: an index into the classes of the plan. It has one service level.
    pub class: u8,
    /// Number among the connections of its source and class, as carried by its packets.
    pub flow: u8,
    /// Time between two packets, in ticks.
    pub inter_arrival: InterArrival,
    /// The time in ticks by which punctuality is measured, if it is not the time between packets.
    pub measured_by: Option<u64>,
}

impl ConnectionPlan {
    /// Returns the unit of its punctuality, in ticks; for printing and statistics only.
    pub fn measure(&self) -> f64 {
        let own = || self.inter_arrival.as_f64();
        self.measured_by.map_or_else(own, |ticks| ticks as f64)
    }
}

/// Marks a flow without a meter in this partition.
const NOWHERE: u32 = u32::MAX;

/// The meters of the connections that end in one partition.
pub(crate) struct Meters {
    n_rows: usize,
    /// First flow in `meter_of` of each (source NIC, row).
    first_flow: Vec<u32>,
    /// The meter of each flow, or [`NOWHERE`] if it ends in another partition.
    meter_of: Vec<u32>,
    /// With the number of the connection in the plan.
    meters: Vec<(u32, PunctualityMeter)>,
}

impl State for Meters {
    fn save(&self, out: &mut Vec<u8>) {
        let meters = self.meters.iter();
        meters.for_each(|(_, meter)| meter.save(out));
    }

    fn restore(&mut self, from: &mut &[u8]) -> Option<()> {
        let mut meters = self.meters.iter_mut();
        meters.try_for_each(|(_, meter)| meter.restore(from))
    }
}

impl Meters {
    /// Creates the meters of a partition; `None` if the plan has no connections.
    pub(crate) fn new(plan: &FabricPlan, partition: u16) -> Option<Meters> {
        if plan.connections.is_empty() {
            return None;
        }
        let rows = rows(plan);
        let n_rows = rows.len();
        let place = |connection: &ConnectionPlan| {
            let class = usize::from(connection.class);
            let row = rows.iter().position(|&(at, _)| at == class);
            connection.source.index() * n_rows + row.expect("the class of a connection has a row")
        };
        let mut first_flow = vec![0u32; plan.topology.n_nics() as usize * n_rows + 1];
        for connection in plan.connections.iter() {
            let n_flows = &mut first_flow[place(connection) + 1];
            *n_flows = (*n_flows).max(u32::from(connection.flow) + 1);
        }
        for at in 1..first_flow.len() {
            first_flow[at] += first_flow[at - 1];
        }
        let n_flows = first_flow.last().copied().unwrap_or(0);
        let mut meter_of = vec![NOWHERE; n_flows as usize];
        let mut meters = vec![];
        for (number, connection) in plan.connections.iter().enumerate() {
            let (switch, _) = plan.topology.attachment(connection.destination);
            if plan.partitions[switch.index()] == partition {
                let flow = first_flow[place(connection)] + u32::from(connection.flow);
                meter_of[flow as usize] = meters.len() as u32;
                meters.push((
                    number as u32,
                    PunctualityMeter::new(connection.inter_arrival, connection.measured_by),
                ));
            }
        }
        Some(Meters {
            n_rows,
            first_flow,
            meter_of,
            meters,
        })
    }

    /// Validates that meters have counted no future packet.
    pub(crate) fn validate(&self, now: Tick) -> Validity {
        for (number, meter) in &self.meters {
            ensure(meter.is_sound(now.0), || {
                let place = format!("connection {number}");
                Invalid::new(place, "counts of past packets", "counts of future ones")
            })?;
        }
        Ok(())
    }

    /// Counts a packet that has arrived, if it belongs to a connection.
    pub(crate) fn record(&mut self, packet: &Packet, now: Tick) {
        // The class of a packet in transit is its row.
        let at = packet.source.index() * self.n_rows + usize::from(packet.class);
        let flow = self.first_flow[at] + u32::from(packet.flow);
        if flow >= self.first_flow[at + 1] {
            return;
        }
        let meter = self.meter_of[flow as usize];
        let (_, meter) = &mut self.meters[meter as usize];
        // The delay includes the wait in the source's NIC.
        meter.record(now.0, now - packet.generation);
    }

    /// Adds the counts since the last call, by the number of the connection.
    pub(crate) fn take(&mut self, into: &mut [Punctuality]) {
        for (number, meter) in &mut self.meters {
            into[*number as usize].merge(&meter.take());
        }
    }
}

//! Turns requests for bandwidth into sources, tables and recorded connections.
//!
//! ```text
//!  list or draws ─► admission over the routing's paths ─┬─► one source per service level
//!                   (crate design)                      ├─► the table of every output
//!                                                       └─► the connections whose punctuality is counted
//! ```
//!
//! All of this is repeated for every seed: draws, phases, and paths if these are drawn.

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_arbitration::{IbTwoTable, NO_LIMIT, Policy};
use netloom_design::infiniband::csv::Listed;
use netloom_design::infiniband::slots::{Slots, slots_for};
use netloom_design::infiniband::{
    Class, Connection, ConnectionClass, Egress, Establishment, Lanes, Mode, Network, Packets,
    Placement, PortTable, Refusal, Settings, Tables, establish_of,
};
use netloom_fabric::ConnectionPlan;
use netloom_metrics::{InterArrival, LONGEST_SHARED};
use netloom_packet::{SlSegmentation, Source};
use netloom_routing::Forwarding;
use netloom_topology::Topology;
use netloom_traffic::{Connections, Flow, FlowSetting, MOST_FLOWS};
use netloom_units::{Bytes, NicId, Rate, Ratio, Sl};

use crate::experiment::ConnectionInfo;

/// Requests for connections.
#[derive(Clone)]
pub(crate) enum Requests {
    /// Listed in a file.
    Listed(Vec<Listed>),
    /// Drawn at random.
    Drawn {
        /// Number of connections.
        target: u32,
        /// Draws per connection.
        draws: u32,
        /// Classes, drawn from in turn.
        classes: Vec<ConnectionClass>,
    },
}

impl Requests {
    /// Returns the service levels that packets can have with any seed.
    pub(crate) fn sls(&self) -> Vec<u8> {
        let level = |class: Class| class.service_level().0;
        let mut sls: Vec<u8> = match self {
            Requests::Listed(list) => list.iter().map(|l| level(l.connection.class())).collect(),
            Requests::Drawn {
                target, classes, ..
            } => {
                let drawn = classes.iter().take(*target as usize);
                drawn.map(|class| level(class.class())).collect()
            }
        };
        sls.sort_unstable();
        sls.dedup();
        sls
    }
}

/// Names of the classes of connections by the service level of their packets: without a deadline,
/// then with one.
pub(crate) const CLASS_NAMES: [&str; 8] = [
    "very-low",
    "low",
    "high",
    "very-high",
    "very-low-deadline",
    "low-deadline",
    "high-deadline",
    "very-high-deadline",
];

/// The part of admission that does not depend on the seed.
#[derive(Clone)]
pub(crate) struct Admission {
    pub(crate) requests: Requests,
    pub(crate) mode: Mode,
    pub(crate) placement: Placement,
    /// Whether punctuality is measured by the mean inter-arrival time of a service level.
    pub(crate) is_measured_by_level: bool,
    pub(crate) lanes: Lanes,
    /// Slots of every port kept for best-effort traffic.
    pub(crate) best_effort: Slots,
    /// Packet sizes that the waits of connections with a deadline depend on.
    pub(crate) packets: Packets,
    pub(crate) payload: Bytes,
    /// Rate of all links.
    pub(crate) link: Rate,
    pub(crate) flit: Bytes,
    /// Ticks of a cycle of a NIC.
    pub(crate) cycle: u64,
    /// The service level of each class of connections; the first of them has number `first_class`.
    pub(crate) sls: Vec<u8>,
    pub(crate) first_class: usize,
    /// Whether the tables arbitrate at switches, and whether at NICs.
    pub(crate) at_switches: bool,
    pub(crate) at_nics: bool,
}

/// Why connections cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Obstacle {
    /// Admission does not support this fabric.
    #[error("{0}")]
    Unsuited(String),
    /// A NIC has more connections of one service level than a packet can distinguish.
    #[error("{0} sends {2} connections of {1}, but a packet can distinguish only 256")]
    TooMany(NicId, Sl, usize),
}

/// The result of admission.
pub(crate) struct Admitted {
    pub(crate) network: Network,
    pub(crate) refused: Vec<(u32, Connection, Refusal)>,
    pub(crate) infos: Vec<ConnectionInfo>,
    pub(crate) plans: Vec<ConnectionPlan>,
    /// One for each class.
    pub(crate) sources: Vec<Arc<dyn Source>>,
    pub(crate) policies: BTreeMap<Egress, Arc<dyn Policy>>,
}

impl Admission {
    /// Returns the table of an output without connections.
    pub(crate) fn usual_policy(&self) -> Arc<dyn Policy> {
        policy(&PortTable::with_reserve(
            self.lanes,
            self.placement,
            self.best_effort,
        ))
    }

    /// Admits all requests that fit, and builds the sources and tables of the run.
    pub(crate) fn make(
        &self,
        topology: &Arc<Topology>,
        forwarding: &Forwarding,
        seed: u64,
    ) -> Result<Admitted, Obstacle> {
        let (topology, forwarding) = (topology.clone(), forwarding.clone());
        let rates = vec![self.link; topology.link_classes().len()];
        let settings = Settings {
            mode: self.mode,
            lanes: self.lanes,
            placement: self.placement,
            best_effort: self.best_effort,
            packets: self.packets,
        };
        let mut network = Network::with_rates(topology, forwarding, rates, settings)
            .map_err(Obstacle::Unsuited)?;
        let mut refused = vec![];
        let accepted: Vec<Connection> = match &self.requests {
            Requests::Listed(list) => {
                let mut admit = |listed: &Listed| match network.admit(listed.connection) {
                    Ok(_) => Some(listed.connection),
                    Err(refusal) => {
                        refused.push((listed.line, listed.connection, refusal));
                        None
                    }
                };
                list.iter().filter_map(&mut admit).collect()
            }
            Requests::Drawn {
                target,
                draws,
                classes,
            } => {
                let wanted = Establishment {
                    target: *target,
                    draws: *draws,
                    seed,
                };
                let made = establish_of(&mut network, &wanted, classes);
                made.accepted.into_iter().map(|(_, made)| made).collect()
            }
        };
        let (infos, plans) = self.numbered(&accepted)?;
        let sources = self.sls.iter().map(|&sl| {
            let setting = self.setting(network.topology().n_nics(), seed, Sl(sl));
            let is_own = |connection: &&Connection| connection.class().service_level().0 == sl;
            let own = accepted.iter().filter(is_own);
            let flows: Vec<Flow> = own
                .map(|connection| Flow {
                    source: connection.source,
                    destination: connection.destination,
                    bandwidth: connection.bandwidth,
                })
                .collect();
            Arc::new(Connections::new(&flows, &setting)) as Arc<dyn Source>
        });
        Ok(Admitted {
            sources: sources.collect(),
            policies: self.policies(&network),
            network,
            refused,
            infos,
            plans,
        })
    }

    /// Returns the load of each class on the wire, as a fraction of a NIC's link over all NICs.
    pub(crate) fn loads(&self, admitted: &Admitted, cutting: &SlSegmentation) -> Vec<f64> {
        let payload = u32::try_from(self.payload.0).expect("a payload of 32 bits");
        let n_nics = f64::from(admitted.network.topology().n_nics());
        let load = |&sl: &u8| {
            let flits = u64::from(cutting.of(Sl(sl)).cut(payload).flits);
            let own = admitted.infos.iter().filter(|info| info.sl.0 == sl);
            let bits: u64 = own.map(|info| info.bandwidth.0).sum();
            let overhead = (flits * self.flit.0) as f64 / self.payload.0 as f64;
            bits as f64 * overhead / (n_nics * self.link.0 as f64)
        };
        self.sls.iter().map(load).collect()
    }

    /// Returns the packets of all connections per cycle of a NIC.
    pub(crate) fn packets_per_cycle(&self, admitted: &Admitted) -> f64 {
        let bits: u64 = admitted.infos.iter().map(|info| info.bandwidth.0).sum();
        bits as f64 * self.flit.0 as f64 / (self.link.0 as f64 * self.payload.0 as f64)
    }

    fn setting(&self, n_nics: u32, seed: u64, sl: Sl) -> FlowSetting {
        FlowSetting {
            payload: self.payload,
            link: self.link,
            flit: self.flit,
            n_nics,
            seed,
            sl,
        }
    }

    /// Numbers the connections among those of the same source and service level.
    fn numbered(
        &self,
        accepted: &[Connection],
    ) -> Result<(Vec<ConnectionInfo>, Vec<ConnectionPlan>), Obstacle> {
        let mut n_flows: BTreeMap<(NicId, Sl), usize> = BTreeMap::new();
        let (mut infos, mut plans) = (vec![], vec![]);
        for connection in accepted {
            let level = connection.class().service_level();
            let flow = n_flows.entry((connection.source, level)).or_default();
            let class = self.sls.iter().position(|&sl| sl == level.0);
            let class = self.first_class + class.expect("every level asked for has a class");
            // In cycles of the NICs, like the sources, so that rounded ticks have no effect.
            let setting = self.setting(0, 0, level);
            let ticks = setting.gap(connection.bandwidth) * Ratio::whole(self.cycle);
            plans.push(ConnectionPlan {
                source: connection.source,
                destination: connection.destination,
                class: u8::try_from(class).expect("fewer than 256 classes"),
                flow: (*flow % MOST_FLOWS) as u8,
                inter_arrival: inter_arrival(ticks),
                measured_by: None,
            });
            infos.push(ConnectionInfo {
                source: connection.source,
                destination: connection.destination,
                sl: level,
                deadline: connection.deadline,
                bandwidth: connection.bandwidth,
                slots: slots_for(connection.bandwidth, self.link).0,
                inter_arrival: connection.bandwidth.time_for(self.payload),
            });
            *flow += 1;
        }
        if self.is_measured_by_level {
            measure_by_level(&mut plans);
        }
        let most = n_flows.into_iter().max_by_key(|&(_, n)| n);
        match most {
            Some(((nic, sl), n)) if n > MOST_FLOWS => Err(Obstacle::TooMany(nic, sl, n)),
            _ => Ok((infos, plans)),
        }
    }

    /// Returns the tables of the outputs with connections, where the tables arbitrate.
    fn policies(&self, network: &Network) -> BTreeMap<Egress, Arc<dyn Policy>> {
        let is_ours = |port: &Egress| match port {
            Egress::Nic(_) => self.at_nics,
            Egress::Switch(..) => self.at_switches,
        };
        let own = network
            .ports()
            .filter(|&port| network.report(port).n_connections > 0);
        own.filter(is_ours)
            .map(|port| (port, policy(network.table(port))))
            .collect()
    }
}

/// Sets punctuality to use the mean inter-arrival time of each class, which is a service level, in
/// whole ticks.
fn measure_by_level(plans: &mut [ConnectionPlan]) {
    let mut sums: BTreeMap<u8, (u128, u128)> = BTreeMap::new();
    for plan in &*plans {
        let (ticks, n) = sums.entry(plan.class).or_default();
        *ticks += u128::from(plan.inter_arrival.whole_ticks());
        *n += 1;
    }
    for plan in plans {
        let (ticks, n) = sums[&plan.class];
        let mean = u64::try_from(ticks / n).expect("a mean of 64-bit numbers");
        plan.measured_by = Some(mean.clamp(1, LONGEST_SHARED));
    }
}

/// Returns a gap in ticks with a numerator and denominator of 64 bits. Longer ones lose their last
/// bits, an error below 2^-50 that affects recorded values only.
fn inter_arrival(ticks: Ratio) -> InterArrival {
    let bits = |n: u128| u128::BITS - n.leading_zeros();
    let excess = bits(ticks.num()).saturating_sub(u64::BITS);
    let excess = excess.max(bits(ticks.den()).saturating_sub(60));
    let narrow = |n: u128| u64::try_from(n >> excess).unwrap_or(u64::MAX).max(1);
    InterArrival::new(narrow(ticks.num()), narrow(ticks.den()))
}

fn policy(table: &PortTable) -> Arc<dyn Policy> {
    let Tables { high, low } = table.simulated_tables();
    Arc::new(IbTwoTable {
        high,
        low,
        limit: NO_LIMIT,
    })
}

#[cfg(test)]
mod tests {
    use netloom_metrics::PunctualityMeter;

    use super::*;

    #[test]
    fn levels_share_a_mean_that_can_be_measured_by() {
        let plan = |class, num| ConnectionPlan {
            source: NicId(0),
            destination: NicId(1),
            class,
            flow: 0,
            inter_arrival: InterArrival::new(num, 2),
            measured_by: None,
        };
        let ticks = [(0, 20), (1, u64::MAX), (0, 61), (2, 1)];
        let mut plans = ticks.map(|(class, num)| plan(class, num));
        measure_by_level(&mut plans);
        // 10 and 30 whole ticks; longer than the limit; less than a tick.
        let expected = [20, LONGEST_SHARED, 20, 1].map(Some);
        assert_eq!(plans.map(|plan| plan.measured_by), expected);
        for plan in plans {
            let mut meter = PunctualityMeter::new(plan.inter_arrival, plan.measured_by);
            meter.record(0, 0);
            meter.record(u64::MAX, u64::MAX);
            assert_eq!(meter.take().gaps(), 1);
        }
    }
}

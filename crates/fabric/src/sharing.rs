//! Distribution of a fabric over several processes: the share of each, the cut cables, and the
//! lookahead.

use netloom_engine::placement;
use netloom_topology::Peer;

use crate::plan::FabricPlan;

/// The share of one process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    pub partitions: usize,
    pub switches: u64,
    pub nics: u64,
    /// Ports of its switches that have a cable, which determine the work.
    pub ports: u64,
}

/// A fabric over several processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sharing {
    /// The share of each process.
    pub shares: Vec<Share>,
    /// Cables between switches.
    pub cables: u64,
    /// Cables between switches of different processes.
    pub cut: u64,
    /// Ticks that partitions run between two exchanges; `None` for one partition.
    pub lookahead: Option<u64>,
}

impl Sharing {
    /// Computes the distribution of a plan over `ranks` processes, as in [`crate::build_over`].
    pub fn new(plan: &FabricPlan, ranks: usize) -> Sharing {
        let (topology, n_partitions) = (&plan.topology, plan.n_partitions());
        let mut rank_of = vec![0; n_partitions];
        let mut shares = vec![Share::default(); ranks];
        for (rank, share) in shares.iter_mut().enumerate() {
            let here = placement(rank, ranks, n_partitions).here;
            share.partitions = here.len();
            rank_of[here].fill(rank);
        }
        let rank_of = |switch: usize| rank_of[usize::from(plan.partitions[switch])];
        let (mut ends, mut cut_ends) = (0, 0);
        for switch in topology.switches() {
            let rank = rank_of(switch.index());
            let share = &mut shares[rank];
            share.switches += 1;
            for port in topology.ports(switch) {
                match topology.peer(switch, port) {
                    Peer::Unused => continue,
                    Peer::Nic(_) => share.nics += 1,
                    Peer::Switch(other, _) => {
                        ends += 1;
                        cut_ends += u64::from(rank_of(other.index()) != rank);
                    }
                }
                share.ports += 1;
            }
        }
        Sharing {
            shares,
            cables: ends / 2,
            cut: cut_ends / 2,
            lookahead: (n_partitions > 1).then(|| lookahead(plan)),
        }
    }

    /// Returns the largest share of the work of any process, with work measured by ports.
    pub fn largest_part(&self) -> f64 {
        let ports = |share: &Share| share.ports as f64;
        let all: f64 = self.shares.iter().map(ports).sum();
        let most = self.shares.iter().map(ports).fold(0.0, f64::max);
        most / all.max(1.0)
    }
}

/// Returns the minimum number of ticks between a cause in one partition and its effect in another.
/// A header takes a flit and the delay of its link; a credit takes the credit latency of the switch
/// and that delay.
pub(crate) fn lookahead(plan: &FabricPlan) -> u64 {
    let topology = &plan.topology;
    let credit = plan.switch.least_credit_delay();
    let mut least = u64::MAX;
    for switch in topology.switches() {
        for (port, other, _) in topology.neighbours(switch) {
            if plan.partitions[switch.index()] != plan.partitions[other.index()] {
                let link = plan.links[usize::from(topology.link_class(switch, port))];
                least = least.min(link.delay + link.flit.min(credit));
            }
        }
    }
    least
}

//! How a fabric is shared by several processes: what each has of it, which cables are cut, how far they may run alone.

use netloom_engine::placement;
use netloom_topology::Peer;

use crate::plan::FabricPlan;

/// What one process has of a fabric.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    /// Partitions.
    pub partitions: usize,
    /// Switches.
    pub switches: u64,
    /// NICs.
    pub nics: u64,
    /// Ports of its switches that have a cable: what packets are worked on at.
    pub ports: u64,
}

/// A fabric over several processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sharing {
    /// What each process has.
    pub shares: Vec<Share>,
    /// Cables between switches.
    pub cables: u64,
    /// Those of them between switches of different processes.
    pub cut: u64,
    /// Ticks that partitions run before they hear from each other; `None` for one partition.
    pub lookahead: Option<u64>,
}

impl Sharing {
    /// The plan over so many processes, as [`crate::build_over`] shares it.
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

    /// The part of all work that the process with most of it has, if work goes by ports.
    pub fn largest_part(&self) -> f64 {
        let ports = |share: &Share| share.ports as f64;
        let all: f64 = self.shares.iter().map(ports).sum();
        let most = self.shares.iter().map(ports).fold(0.0, f64::max);
        most / all.max(1.0)
    }
}

/// The least number of ticks between a cause in one partition and its effect in another: a header takes a flit and the
/// delay of its link, a credit what the switch needs for it and that delay.
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

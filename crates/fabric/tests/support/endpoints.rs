//! Shorthands for adaptive routings, and for endpoints that do more than send and receive.

use std::sync::Arc;

use netloom_fabric::{Cuts, LinkTiming, NicQueues, Window};
use netloom_routing::{Choice, Ecmp, Knowledge, Par, ParUgal, Policy, Routing, Ugal};
use netloom_topology::{Arrangement, Dragonfly, Placement};
use netloom_traffic::programs::{Builder, Computing, Rank};
use netloom_traffic::{HotSources, HotSpot, Idle};
use netloom_units::NicId;

use super::Case;

/// A window that is effective in a fabric of this size.
pub(crate) const WINDOW: Window = Window {
    most: 40,
    least: 16,
    cut: (4, 5),
    cuts: Cuts::EveryMark,
    step: 30,
};

pub(crate) fn ugal(threshold: u32) -> Arc<dyn Routing + Send + Sync> {
    Arc::new(Ugal {
        threshold,
        knowledge: Knowledge::Local,
        every: 32,
    })
}

/// Neighbours announce their queues every `every` cycles.
pub(crate) fn ugal_global(threshold: u32, every: u32) -> Arc<dyn Routing + Send + Sync> {
    Arc::new(Ugal {
        threshold,
        knowledge: Knowledge::Global,
        every,
    })
}

pub(crate) fn par_ugal(threshold: u32) -> Arc<dyn Routing + Send + Sync> {
    Arc::new(ParUgal { threshold })
}

/// In transit: away from outputs above `least` per cent, to outputs with at most `most` per cent.
pub(crate) fn par(least: u8, most: u8, policy: Policy) -> Arc<dyn Routing + Send + Sync> {
    Arc::new(Par {
        threshold_min: least,
        threshold_local: most,
        threshold_global: most,
        relative: least > 0,
        policy,
    })
}

pub(crate) fn ecmp(choice: Choice) -> Arc<dyn Routing + Send + Sync> {
    Arc::new(Ecmp {
        choice,
        granularity: 1,
    })
}

impl Case {
    /// A dragonfly with these hosts per switch, switches per group, and global cables per switch.
    pub(crate) fn dragonfly(
        (hosts, switches, globals): (u16, u16, u16),
        routing: Arc<dyn Routing + Send + Sync>,
    ) -> Case {
        let link = |delay| LinkTiming { flit: 1, delay };
        Case {
            topology: Arc::new(Dragonfly {
                hosts,
                switches,
                globals,
                groups: None,
                arrangement: Arrangement::PalmTree,
                ports: None,
                placement: Placement::Random,
            }),
            routing,
            links: vec![link(3), link(7), link(25)],
            flits: vec![1, 4, 8],
            vls: 1,
            load: 0.8,
            until: 2_500,
            ..Case::tree(2, 2)
        }
    }

    /// Lets this fraction of the NICs send to one of them, and the others to any.
    pub(crate) fn hot(self, destination: u32, share: f64) -> Case {
        Case {
            pattern: Arc::new(HotSpot {
                destination,
                sources: HotSources::Share(share),
                from: None,
                until: None,
                outside: Idle::Idle,
                others: Idle::Uniform,
            }),
            ..self
        }
    }

    /// Answers every data packet with one of `flits` flits.
    pub(crate) fn acknowledging(self, flits: u16) -> Case {
        Case {
            acknowledgement: Some(flits),
            ..self
        }
    }

    /// Uses acknowledgements of one flit, marks above these numbers of flits by link class, and
    /// windows.
    pub(crate) fn controlled(self, above: &[u32], window: Window) -> Case {
        Case {
            acknowledgement: Some(self.acknowledgement.unwrap_or(1)),
            marks_above: above.to_vec(),
            window: Some(window),
            ..self
        }
    }

    /// Uses one ring of flows at each NIC, regardless of the channel.
    pub(crate) fn send_queues(self) -> Case {
        Case {
            nic_queues: NicQueues::SendQueues,
            ..self
        }
    }

    /// Makes the first class a program of this many ranks, placed on the NICs in steps of `stride`.
    /// Each rank sends two messages of `flits` flits, to the next rank and to the opposite one, and
    /// waits for those that it gets.
    pub(crate) fn exchanging(self, ranks: u32, stride: u32, flits: u32, rounds: u32) -> Case {
        self.exchanging_and(ranks, stride, flits, rounds, None)
    }

    /// Does the same, and a rank computes before each of its rounds except the first.
    pub(crate) fn exchanging_and(
        self,
        ranks: u32,
        stride: u32,
        flits: u32,
        rounds: u32,
        computing: Option<Computing>,
    ) -> Case {
        let n_nics = self.plan().topology.n_nics();
        let mut builder = Builder::new(ranks);
        for rank in 0..ranks {
            builder.send(Rank(rank), Rank((rank + 1) % ranks), flits * 64);
            builder.send(Rank(rank), Rank((rank + ranks / 2) % ranks), flits * 32);
        }
        for rank in 0..ranks {
            builder.receive(Rank(rank), Rank((rank + ranks - 1) % ranks));
            builder.receive(Rank(rank), Rank((rank + ranks - ranks / 2) % ranks));
        }
        let programs = builder.repeat(rounds).expect("every message is received");
        let nics: Vec<NicId> = (0..ranks).map(|r| NicId(r * stride % n_nics)).collect();
        let placed = programs.place(&nics, n_nics);
        let placed = match computing {
            None => placed,
            Some(computing) => placed.computing(computing),
        };
        Case {
            program: Some(Arc::new(placed)),
            ..self
        }
    }
}

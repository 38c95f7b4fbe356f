//! Construction of the endpoints of a partition from a plan.

use std::collections::VecDeque;

use netloom_encoding::State;
use netloom_packet::{Cursor, N_SCS};
use netloom_topology::Egress;
use netloom_units::{NicId, Sc, Sl, Tick};
use rustc_hash::FxHashMap;

use crate::endpoint::connections::Meters;
use crate::endpoint::{Buffers, Endpoints, Flows, Nic, NicQueue, Programs, Receiver, Voqs};
use crate::plan::tiles::Tiled;
use crate::plan::{FabricPlan, FlowControl, NicQueues, ReceiveOrder};
use crate::port_arbiter::PortArbiter;
use crate::rows::Rows;
use crate::simulation::{Atlas, rows};
use crate::slab::Slab;
use crate::switch::NIL;

/// Returns the service channels that classes use, with their levels. A NIC has a queue for each.
fn channels_in_use(plan: &FabricPlan) -> Vec<(Sc, Sl)> {
    let sls = plan.classes.iter().flat_map(|class| &class.sls).copied();
    plan.channels.of_levels(sls).into_iter().collect()
}

/// Returns the recorder's row of each (class, service level).
fn row_of(plan: &FabricPlan) -> Vec<[u8; 16]> {
    let mut row_of = vec![[0u8; 16]; plan.classes.len()];
    for (row, (class, sl)) in rows(plan).into_iter().enumerate() {
        row_of[class][usize::from(sl.0 & 15)] = row as u8;
    }
    row_of
}

impl<C: Send + State> Endpoints<C> {
    /// Builds the endpoints of a partition. A NIC's arbiter and its view of the first switch are
    /// created separately.
    pub(crate) fn new(
        plan: &FabricPlan,
        atlas: &Atlas,
        partition: u16,
        arbiter: &dyn Fn(Egress) -> PortArbiter,
        credit: &dyn Fn(u8) -> C,
    ) -> Self {
        let topology = &plan.topology;
        let nic = |&id: &NicId| {
            let (switch, port) = topology.attachment(id);
            let wire = topology.link_class(switch, port);
            Nic {
                id,
                port: atlas.port(switch, port).1,
                present: 0,
                link_until: Tick::ZERO,
                credit: credit(wire),
                arbiter: arbiter(Egress::Nic(id)),
                link_wake: Tick::NEVER,
                last_header: Tick::ZERO,
                sequence: 0,
                messages: 0,
                wire,
                is_marked: false,
                credits_coming: 0,
            }
        };
        let nics: Vec<_> = atlas.nics(partition).iter().map(nic).collect();
        let (n_nics, n_rows) = (nics.len(), rows(plan).len());
        let mut used = channels_in_use(plan);
        if plan.endpoints.queues == NicQueues::SendQueues {
            used.truncate(1);
        }
        let n_slots = used.len().max(1);
        let mut slot_of = [0u8; N_SCS];
        for (slot, (sc, _)) in used.iter().enumerate() {
            slot_of[sc.index()] = slot as u8;
        }
        let queue = |at: usize| {
            let nic = nics[at / n_slots].id;
            let (sc, sl) = used.get(at % n_slots).copied().unwrap_or_default();
            NicQueue {
                head: NIL,
                tail: NIL,
                payload: 0,
                bytes: 0,
                flits: 0,
                vl: plan.channels.at_nic(nic, sc),
                sl: sl.0,
                sc: sc.0,
            }
        };
        let queues: Rows<NicQueue> = (0..n_nics * n_slots).map(queue).collect::<Vec<_>>().into();
        let is_strict = plan.endpoints.order == ReceiveOrder::Strict;
        let keeps_order = plan.keeps_order() || is_strict;
        // A strict receiver counts overtaken packets itself.
        let looks_at_order =
            !is_strict && (plan.count_reordering || (keeps_order && cfg!(debug_assertions)));
        let voqs = (plan.endpoints.queues == NicQueues::PerDestination).then(|| {
            Voqs::new(
                n_nics * n_slots,
                topology.n_nics(),
                plan.queue_map(),
                plan.flow_control == FlowControl::QueueCredits,
                &plan.switch.crossbar().queue_flits,
            )
        });
        let has_flows = plan.endpoints.has_flows();
        let control = plan.endpoints.control.as_ref();
        let flows = has_flows.then(|| Box::new(Flows::new(control, n_nics, n_slots)));
        let programs = Programs::new(plan, n_nics).map(Box::new);
        let buffers = Buffers::new(plan, &queues, n_slots).map(Box::new);
        // Packets enter a bounded buffer only after all messages of a tick are known.
        let in_order = has_flows || plan.classes_share_a_level() || buffers.is_some();
        let acknowledgement = plan.endpoints.acknowledgement;
        let acknowledges = acknowledgement.is_some();
        Endpoints {
            nics: nics.into(),
            queues,
            n_slots,
            slot_of,
            classes: plan.classes.clone(),
            row_of: row_of(plan),
            cursors: vec![Cursor::default(); n_nics * plan.classes.len()],
            messages: Slab::default(),
            nic_flits: vec![0; n_nics * n_rows],
            heads: Box::default(),
            head_classes: Box::default(),
            has_arbiter: plan.endpoints.queues != NicQueues::SendQueues,
            receiver: Receiver::new(
                n_nics,
                n_rows,
                keeps_order,
                looks_at_order,
                plan.switch.tiled().is_some_and(Tiled::may_repeat),
                is_strict,
            ),
            follows_packets: is_strict || buffers.is_some(),
            buffers,
            sent: is_strict.then(FxHashMap::default),
            meters: Meters::new(plan, partition),
            voqs,
            has_duties: in_order || programs.is_some() || acknowledges,
            created: in_order.then(|| vec![Vec::new(); n_nics].into()),
            flows,
            numbers: programs.is_some().then(|| vec![0; n_nics * n_rows]),
            programs,
            answers: match acknowledges {
                true => vec![VecDeque::new(); n_nics].into(),
                false => Rows::default(),
            },
            acknowledgement,
        }
    }
}

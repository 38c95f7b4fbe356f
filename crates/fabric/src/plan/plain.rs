//! Plans without rare features, which run in instances that do not check for them.

use std::collections::BTreeSet;

use crate::plan::{Architecture, FabricPlan, NicQueues, QueueScheme, ReceiveOrder, SwitchPlan};
use crate::simulation::rows;

/// What is known of the time that a flit takes on links, over crossbars, and in the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FlitTime {
    /// It differs.
    Any,
    /// It is the same everywhere.
    Equal,
    /// It is one tick everywhere.
    OneTick,
}

impl FabricPlan {
    /// Whether switches have no rare feature. They are crossbars, with a queue for each lane if
    /// outputs have buffers. Routing is by destination, on one lane of each level, with the same
    /// lanes at all ports.
    pub fn has_plain_switches(&self) -> bool {
        let SwitchPlan::Crossbar(switch) = &self.switch else {
            return false;
        };
        let is_queue_a_lane =
            switch.architecture == Architecture::InputQueued || switch.queues == QueueScheme::PerVl;
        let routing = &self.forwarding;
        is_queue_a_lane
            && !routing.is_adaptive()
            && !routing.bubble()
            && routing.lanes() <= 1
            && self.channels.own.is_none()
    }

    /// Whether endpoints have no rare feature. They only send and receive, each class has its own
    /// levels, and nothing is counted per flow. Packets of a flow arrive in order, and no switch
    /// marks them.
    pub fn has_plain_endpoints(&self) -> bool {
        let endpoints = &self.endpoints;
        endpoints.queues == NicQueues::PerChannel
            && endpoints.buffer.is_none()
            && endpoints.acknowledgement.is_none()
            && endpoints.control.is_none()
            && endpoints.order == ReceiveOrder::Message
            && self.forwarding.keeps_order()
            && self.marks_above.iter().all(Option::is_none)
            && self.connections.is_empty()
            && !self.count_reordering
            && !self.classes_share_a_level()
            && (self.classes.iter()).all(|class| class.source.program().is_none())
    }

    /// Whether two classes have a service level in common, and thus a queue at every NIC that has
    /// both.
    pub(crate) fn classes_share_a_level(&self) -> bool {
        let mut seen = BTreeSet::new();
        !rows(self).iter().all(|&(_, sl)| seen.insert(sl))
    }

    /// Returns what is known of the time that a flit takes.
    pub(crate) fn flit_time(&self) -> FlitTime {
        let switch = self.switch.crossbar();
        let is_even = |(num, den): (u32, u32)| num == den;
        let is_equal = is_even(switch.speedup)
            && self.links.iter().all(|link| link.flit == switch.period)
            && !matches!(switch.architecture, Architecture::Hierarchical(_));
        match (is_equal, switch.period) {
            (true, 1) => FlitTime::OneTick,
            (true, _) => FlitTime::Equal,
            (false, _) => FlitTime::Any,
        }
    }
}

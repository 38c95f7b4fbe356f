//! What endpoints are built from.

use std::sync::Arc;

use netloom_catalog::choice;

use crate::endpoint::control::Control;

/// Where messages wait at a NIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NicQueues {
    /// One unbounded queue per service channel.
    PerChannel,
    /// One unbounded admittance queue per service channel and destination, then injection queues as at
    /// the input of a switch.
    PerDestination,
    /// One unbounded send queue per destination, whatever the channel; they take turns packet by packet.
    SendQueues,
}

choice! {
    /// In which order a receiver hands packets to its host.
    pub enum ReceiveOrder {
        /// As they come; a message is complete when all of it is there.
        Message = "message",
        /// In the order in which they were sent: packets that come early are held until those before them have come.
        Strict = "strict",
    }
}

/// What endpoints do.
#[derive(Clone, Debug)]
pub struct EndpointPlan {
    /// Where messages wait.
    pub queues: NicQueues,
    /// Flits that fit into a NIC, where that is bounded; what does not fit waits in the application. Only beside queues per
    /// channel without a control.
    pub buffer: Option<u32>,
    /// Flits of the acknowledgement of every data packet; none is sent if `None`.
    pub acknowledgement: Option<u16>,
    /// What holds flows back; nothing if `None`. It hears of acknowledgements only.
    pub control: Option<Arc<dyn Control>>,
    /// In which order packets are handed over.
    pub order: ReceiveOrder,
}

impl EndpointPlan {
    /// Endpoints that send and receive, and nothing else.
    pub fn plain(queues: NicQueues) -> Self {
        EndpointPlan {
            queues,
            buffer: None,
            acknowledgement: None,
            control: None,
            order: ReceiveOrder::Message,
        }
    }

    /// Whether NICs keep a flow for each destination.
    pub fn has_flows(&self) -> bool {
        self.control.is_some() || self.queues == NicQueues::SendQueues
    }
}

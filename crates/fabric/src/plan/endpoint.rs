//! The plan of endpoints.

use std::sync::Arc;

use netloom_catalog::choice;

use crate::endpoint::control::Control;

/// Where messages wait at a NIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NicQueues {
    /// One unbounded queue per service channel.
    PerChannel,
    /// One unbounded VOQ per service channel and destination, followed by injection
    /// queues like those of a switch input.
    PerDestination,
    /// One unbounded send queue per destination, regardless of the channel. They take turns packet
    /// by packet.
    SendQueues,
}

choice! {
    /// The order in which a receiver delivers packets to its host.
    pub enum ReceiveOrder {
        /// In order of arrival; a message is complete when all of its packets have arrived.
        Message = "message",
        /// In the order of sending: early packets are held until those before them have arrived.
        Strict = "strict",
    }
}

#[derive(Clone, Debug)]
pub struct EndpointPlan {
    /// Where messages wait.
    pub queues: NicQueues,
    /// Buffer of a NIC in flits, if bounded. Packets that do not fit wait in the application.
    /// Requires queues per channel without a control.
    pub buffer: Option<u32>,
    /// Flits of an acknowledgement; `None` if data packets are not acknowledged.
    pub acknowledgement: Option<u16>,
    /// The control that holds flows back, if any. It requires acknowledgements.
    pub control: Option<Arc<dyn Control>>,
    /// The order in which packets are delivered.
    pub order: ReceiveOrder,
}

impl EndpointPlan {
    /// Creates endpoints that only send and receive.
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

//! The queue schemes of an input port.

/// A scheme with its number of queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scheme {
    /// One queue for everything.
    OneQueue,
    /// By destination, modulo.
    Dbbm(u16),
    /// By output port, modulo.
    Obqa(u16),
    /// By output port: as many queues as ports.
    VoqSw,
    /// By destination: as many queues as nodes.
    VoqNet,
}

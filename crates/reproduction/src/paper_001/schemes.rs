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

impl Scheme {
    /// What is set over a file for it. Memories are of 4 KiB, except for VOQnet with 512 bytes a queue (X001-3).
    pub(super) fn sets(self) -> Vec<String> {
        let queues = match self {
            Scheme::OneQueue => "\"1q\"".to_owned(),
            Scheme::Dbbm(queues) => format!("{{ kind = \"dbbm\", queues = {queues} }}"),
            Scheme::Obqa(queues) => format!("{{ kind = \"obqa\", queues = {queues} }}"),
            Scheme::VoqSw => "\"voq\"".to_owned(),
            Scheme::VoqNet => "\"voq-net\"".to_owned(),
        };
        let memory = match self {
            Scheme::VoqNet => "{ per-queue = \"512 B\" }",
            _ => "\"4096 B\"",
        };
        vec![
            format!("switch.queues={queues}"),
            format!("switch.input-buffer={memory}"),
        ]
    }
}
